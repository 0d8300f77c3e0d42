# Each bench/*_bench.cc is a program of its own; the other files there are what they share.
file(GLOB benches CONFIGURE_DEPENDS bench/*_bench.cc)
file(GLOB bench_common CONFIGURE_DEPENDS bench/*.cc)
list(FILTER bench_common EXCLUDE REGEX "_bench\\.cc$")

if(benches)
  find_package(TBB REQUIRED)
endif()
foreach(source ${benches})
  cmake_path(GET source STEM name)
  add_executable(${name} ${source} ${bench_common})
  weir_target(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(${name} SYSTEM PRIVATE ${XXHASH_INCLUDE_DIR})
  target_link_libraries(${name} PRIVATE
    weir_services absl::flat_hash_map absl::hash TBB::tbb Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endforeach()
