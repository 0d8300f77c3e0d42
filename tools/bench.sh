#!/bin/sh
# Runs every benchmark of a directory, except the two that take long: they have targets of their own.
#   tools/bench.sh build/bench
set -eu

found=no
for program in "$1"/*_bench; do
  [ -x "$program" ] || continue
  case $(basename "$program") in billion_bench | flood_bench) continue ;; esac
  found=yes
  echo "== $program"
  "$program"
done
[ $found = yes ] || { echo "bench: no benchmarks in $1; they come from bench/*_bench.cc" >&2; exit 1; }
