# Installs a build of weir into an empty prefix, then builds and runs the consumer against it.
#   cmake -D BUILD_DIR=... -D CXX=... -D CXX_FLAGS=... -D LIBDIR=... -P run.cmake
cmake_minimum_required(VERSION 3.25)

set(work ${BUILD_DIR}/consumer)
set(prefix ${work}/prefix)
set(source ${CMAKE_CURRENT_LIST_DIR})
separate_arguments(cxx_flags UNIX_COMMAND "${CXX_FLAGS}")

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})

run(${CMAKE_COMMAND} -S ${source} -B ${work}/cmake -G Ninja
  -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${CXX} -D "CMAKE_CXX_FLAGS=${CXX_FLAGS}")
run(${CMAKE_COMMAND} --build ${work}/cmake)
run(${work}/cmake/consumer)

set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
execute_process(COMMAND pkg-config --static --cflags --libs weir
  OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${CXX} -std=c++20 ${cxx_flags} ${source}/main.cc -o ${work}/by-hand ${flags}
  -Wl,-rpath,${prefix}/${LIBDIR})
run(${work}/by-hand)
