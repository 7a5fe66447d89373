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
project(demo C CXX)
find_package(OpenMP REQUIRED COMPONENTS C)
find_package(Threads REQUIRED)
add_library(f STATIC f.c)
target_link_libraries(f PUBLIC OpenMP::OpenMP_C)
add_executable(demo main.c)
target_link_libraries(demo f Threads::Threads)
message(STATUS "id ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
C
    echo 'int other() { return 1; }' >other.cpp
    mixed=1
    if [ -n "${OMPGPU_SANITIZE:-}" ]; then mixed=; skip "linked by the C++ compiler" "which brings no run-time of the sanitizers"
    else echo 'add_executable(mixed main.c f.c other.cpp)' >>CMakeLists.txt; fi
    check "cmake configures" sh -c "cmake -DCMAKE_C_COMPILER='$CC' -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS='$ARCH' -S . -B build >cmake.log 2>&1 || { cat cmake.log; exit 1; }"
    check "... knows the compiler" has cmake.log 'id Clang 22' 'Found OpenMP_C'
    check "... builds" cmake --build build && check "... runs" test "$(./build/demo)" = OK
    [ -z "$mixed" ] || check "linked by the C++ compiler, runs" test "$(./build/mixed)" = OK
    mkdir ipo && cat >ipo/CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.16)
project(demo C)
include(CheckIPOSupported)
check_ipo_supported()
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
add_library(f STATIC ../f.c)
add_executable(demo ../main.c)
target_link_libraries(demo f)
file(WRITE ${CMAKE_BINARY_DIR}/p.h "#include <stdio.h>\n")
target_precompile_headers(demo PRIVATE ${CMAKE_BINARY_DIR}/p.h)
target_precompile_headers(f PRIVATE ${CMAKE_BINARY_DIR}/p.h)
C
    generator=
    if command -v ninja >/dev/null 2>&1; then generator="-G Ninja"; fi
    check "LTO and precompiled headers with CMake $generator" sh -c "cmake $generator -DCMAKE_C_COMPILER='$CC' -DCMAKE_C_FLAGS='$ARCH -O2' -S ipo -B ipo/b >ipo.log 2>&1 || { cat ipo.log; exit 1; }"
    check "... builds" cmake --build ipo/b && check "... runs" test "$(./ipo/b/demo)" = OK
else skip "CMake" "no cmake"; fi

if command -v meson >/dev/null 2>&1 && command -v ninja >/dev/null 2>&1; then
    printf "project('p', 'c', default_options: ['c_std=gnu17'])\nexecutable('m', 'main.c', 'f.c')\n" >meson.build
    check "meson configures" env CC="$CC" CFLAGS="$ARCH" meson setup m
    check "... builds" ninja -C m && check "... runs" test "$(./m/m)" = OK
    printf "project('p', 'c')\nexecutable('m', 'main.c', 'f.c', dependencies: dependency('openmp'))\n" >meson.build
    check "meson: dependency('openmp') of a version that it knows" env CC="$CC" CFLAGS="$ARCH -fopenmp-version=50" meson setup m50
    check "... builds" ninja -C m50 && check "... runs" test "$(./m50/m)" = OK
else skip "meson" "no meson or ninja"; fi

if command -v ccache >/dev/null 2>&1; then
    cached() { CCACHE_DIR=$T/cache ccache "$CC" $ARCH -O2 -c f.c -o cached.o; }
    check "ccache" cached && mv cached.o first.o && check "... again" cached && check "... is the same object" cmp first.o cached.o
    check "... from the cache" sh -c "CCACHE_DIR='$T/cache' ccache --print-stats | grep -q 'cache_hit[[:space:]]*1'"
else skip "ccache" "not installed"; fi

if command -v clangd-22 >/dev/null 2>&1; then
    mkdir edit && (cd edit && "$CC" --emit=clangd >.clangd && "$CC" $ARCH --ptxas=-v -fompgpu-mode=auto -Wompgpu-generic -MJ db -c ../f.c && { echo '['; sed '$s/,$//' db; echo ']'; } >compile_commands.json)
    check "clangd" sh -c "cd edit && clangd-22 --check=../f.c 2>&1 | tee said | grep -q 'checks completed, 0 errors' || { cat said; exit 1; }"
else skip "clangd" "not installed"; fi

# Precompiled headers.
printf '#include <stdio.h>\n#define HELLO "OK"\n' >p.h
cat >pch.c <<'C'
int main(void)
{
    int s = 0;
#pragma omp target map(tofrom: s)
    s = 1;
    return s != 1 || puts(HELLO) < 0;
}
C
check "a header" "$CC" p.h && check "... -o p.h.gch" "$CC" p.h -o p.h.gch
check "... -x c-header -c" "$CC" -x c-header -c p.h -o p.h.pch
check "used by -include" "$CC" $ARCH -include p.h pch.c -o pch && check "... runs" test "$(./pch)" = OK
rm -f p.h.pch p.h.gch
check "-include-pch" "$CC" -x c-header p.h -o r.pch && check "... used" "$CC" $ARCH -include-pch r.pch pch.c -o pch && check "... runs" test "$(./pch)" = OK
printf '#pragma omp declare target\nint declared(void);\n#pragma omp end declare target\n' >d.h
check "a header with declare target, no warning" sh -c "'$CC' d.h 2>&1 | cmp - /dev/null"
check "-Xclang -emit-pch" "$CC" -Xclang -emit-pch -Xclang -include -Xclang p.h -x c-header -o q.pch -c /dev/null
check "-Xclang -include-pch" "$CC" $ARCH -Winvalid-pch -Xclang -include-pch -Xclang q.pch -Xclang -include -Xclang p.h pch.c -o pch && check "... runs" test "$(./pch)" = OK

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
