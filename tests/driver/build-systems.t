#!/bin/sh
# As the compiler of make, CMake and configure scripts.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
offload_function f.c f; calling_main main.c f
unset MAKEFLAGS MAKELEVEL CFLAGS LDFLAGS
printf 'prog: main.o f.o\n\t$(CC) $(CFLAGS) $^ -o $@\n' >Makefile
check "make CC=" make -s CC="$CC" CFLAGS="-O2 -Wall $ARCH" && check "... runs" test "$(./prog)" = OK

if command -v cmake >/dev/null 2>&1; then
    cat >CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.16)
project(demo C)
find_package(OpenMP REQUIRED)
find_package(Threads REQUIRED)
add_library(f STATIC f.c)
target_link_libraries(f PUBLIC OpenMP::OpenMP_C)
add_executable(demo main.c)
target_link_libraries(demo f Threads::Threads)
message(STATUS "id ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
C
    check "cmake configures" sh -c "cmake -DCMAKE_C_COMPILER='$CC' -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS='$ARCH' -S . -B build >cmake.log 2>&1 || { cat cmake.log; exit 1; }"
    check "... knows the compiler" has cmake.log 'id Clang 22' 'Found OpenMP_C'
    check "... builds" cmake --build build && check "... runs" test "$(./build/demo)" = OK
else skip "CMake" "no cmake"; fi

# What configure scripts ask.
conf() { "$CC" $ARCH "$@" >conftest.log 2>&1; }
echo 'int main(void) { return 0; }' >conftest.c
check "C compiler works" conf conftest.c && check "... a.out" ./a.out
check "conftest.o" conf -c conftest.c && check "... is there" test -f conftest.o
check "-V, -v, -qversion do not hang" sh -c "for f in -V -v -qversion; do '$CC' \$f </dev/null >/dev/null 2>&1; done; true"
echo 'choke me' >conftest.c
check "rejects bad C" test_must_fail 1 conf -c conftest.c
printf '#ifndef _OPENMP\nchoke me\n#endif\n#include <omp.h>\nint main(void) { return omp_get_num_threads() - 1; }\n' >conftest.c
check "OpenMP" conf -fopenmp conftest.c && check "... runs" ./a.out
check "preprocessor" sh -c "'$CC' -E conftest.c | grep -q omp_get_num_threads"
printf 'int main(void) { return 0; }\n' >conftest.c
check "-M for depcomp" conf -MT conftest.o -MD -MP -MF conftest.Tpo -c -o conftest.o conftest.c && check "... written" has conftest.Tpo '^conftest.o:'
finish
