# Each bench/*_bench.cc is a program of its own; the other files there are what they share.
file(GLOB benches CONFIGURE_DEPENDS bench/*_bench.cc)
file(GLOB bench_common CONFIGURE_DEPENDS bench/*.cc)
list(FILTER bench_common EXCLUDE REGEX "_bench\\.cc$")

function(weir_bench_target name)
  weir_target(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(${name} SYSTEM PRIVATE ${XXHASH_INCLUDE_DIR})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endfunction()

# Load for servers: what is asked, and a program that asks it.
file(GLOB load CONFIGURE_DEPENDS bench/load/*.cc)
list(FILTER load EXCLUDE REGEX "/main\\.cc$")
add_library(weir_bench_load STATIC ${load})
weir_bench_target(weir_bench_load)
target_link_libraries(weir_bench_load PUBLIC weir_services)
add_executable(weir_load bench/load/main.cc)
weir_bench_target(weir_load)
target_link_libraries(weir_load PRIVATE weir_bench_load CLI11::CLI11)

if(benches)
  find_package(TBB REQUIRED)
endif()
foreach(source ${benches})
  cmake_path(GET source STEM name)
  add_executable(${name} ${source} ${bench_common})
  weir_bench_target(${name})
  target_link_libraries(${name} PRIVATE
    weir_services weir_bench_load absl::flat_hash_map absl::hash TBB::tbb Threads::Threads)
endforeach()
if(TARGET cluster_bench)
  target_sources(cluster_bench PRIVATE tests/redis_server.cc)  # a Redis of its own
endif()

# What Weir is compared with, where it has to be built.
add_executable(bare_peer bench/peers/bare_peer.cc)
weir_bench_target(bare_peer)
pkg_check_modules(GRPC QUIET IMPORTED_TARGET grpc++)
if(GRPC_FOUND)
  add_executable(grpc_peer bench/peers/grpc_peer.cc)
  weir_bench_target(grpc_peer)
  target_link_libraries(grpc_peer PRIVATE weir_services PkgConfig::GRPC)
endif()
