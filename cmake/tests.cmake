# One binary with all tests of the library and the program, and one test of what gets installed.
find_package(Boost REQUIRED)
find_package(GTest REQUIRED)
find_package(rapidcheck REQUIRED)

set(WEIR_TESTS "" CACHE STRING "Only files of tests that hold this text; empty: all")
file(GLOB tests CONFIGURE_DEPENDS src/*/*_test.cc tests/*.cc)
if(WEIR_TESTS)
  set(all_tests ${tests})
  list(FILTER tests EXCLUDE REGEX "_test\\.cc$")  # what tests share
  foreach(test IN LISTS all_tests)
    file(STRINGS ${test} found REGEX ${WEIR_TESTS} LIMIT_COUNT 1)
    if(test MATCHES "_test\\.cc$" AND found)
      list(APPEND tests ${test})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${test})
    endif()
  endforeach()
endif()
if(tests)
  include(GoogleTest)
  add_executable(weir_tests ${tests})
  weir_target(weir_tests)
  target_include_directories(weir_tests PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(weir_tests SYSTEM PRIVATE ${XXHASH_INCLUDE_DIR})
  target_compile_definitions(weir_tests PRIVATE WEIR_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(weir_tests PRIVATE
    weir_commands weir_messages absl::time Boost::headers PostgreSQL::PostgreSQL
    GTest::gmock GTest::gtest_main rapidcheck Threads::Threads)
  # What is tested is optimized; the tests themselves need not be, and compile in half the time.
  target_compile_options(weir_tests PRIVATE $<$<CONFIG:Release>:-O1>
    # GCC 12 sees them in std::string and in rule::Values, where there is nothing wrong.
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-maybe-uninitialized>")
  weir_precompile(weir_tests <gmock/gmock.h> <gtest/gtest.h>)

  # Those that look into the database: as for weir_services.
  set_source_files_properties(
    src/catalog/database_error_test.cc src/catalog/rule_store_test.cc
    tests/rule_database.cc tests/rule_store_failures_test.cc
    PROPERTIES COMPILE_OPTIONS -fno-sanitize=vptr)

  # Those that look into JSON: as for weir_services; and clang 14 has a doubt about the iterators.
  set_source_files_properties(
    tests/admin_routes_test.cc tests/admin_test.cc tests/openapi_test.cc
    PROPERTIES COMPILE_OPTIONS "-fno-sanitize=pointer-overflow;-Wno-ambiguous-reversed-operator")

  gtest_discover_tests(weir_tests
    TEST_FILTER "-*Concurrent*.*:*Postgres*"
    DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 180)
  gtest_discover_tests(weir_tests
    TEST_FILTER "*Concurrent*.*:-*Postgres*"
    DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 300 LABELS concurrent)

  # These start a server: one for all of them is enough.
  add_test(NAME Postgres COMMAND weir_tests --gtest_filter=*Postgres*:-*Concurrent*)
  set_tests_properties(Postgres PROPERTIES TIMEOUT 300)
  add_test(NAME PostgresConcurrent COMMAND weir_tests --gtest_filter=*Postgres*Concurrent*)
  set_tests_properties(PostgresConcurrent PROPERTIES TIMEOUT 300 LABELS concurrent)
endif()

# Installs this build and uses it as a stranger would: find_package, and pkg-config by hand.
add_test(NAME InstalledLibrary.ServesAProjectOutsideTheTree
  COMMAND ${CMAKE_COMMAND}
    -D BUILD_DIR=${PROJECT_BINARY_DIR}
    -D CXX=${CMAKE_CXX_COMPILER}
    -D CXX_FLAGS=${CMAKE_CXX_FLAGS}
    -D LIBDIR=${CMAKE_INSTALL_LIBDIR}
    -P ${PROJECT_SOURCE_DIR}/tests/consumer/run.cmake)
set_tests_properties(InstalledLibrary.ServesAProjectOutsideTheTree PROPERTIES TIMEOUT 180)

# Sanitizers and debug information may name paths; what is shipped may not.
if(TARGET weir-cli AND CMAKE_BUILD_TYPE STREQUAL "Release")
  add_test(NAME Program.HoldsNoPathOfTheMachineThatBuiltIt
    COMMAND sh -c "! grep -qF -- \"$1\" \"$2\"" sh ${PROJECT_SOURCE_DIR}/ $<TARGET_FILE:weir-cli>)
endif()
