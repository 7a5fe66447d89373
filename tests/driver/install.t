#!/bin/sh
# make install, and a tree that is moved.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
[ "$CC" = "$ROOT/bin/ompgpu-cc" ] || skip_all "not the build tree's compiler"
offload_program app.c
unset MAKEFLAGS MAKELEVEL
check "make install DESTDIR= PREFIX=" make -s -C "$ROOT" install DESTDIR="$T/stage" PREFIX=/opt/ompgpu
mv stage/opt/ompgpu "moved tree"
cc="$T/moved tree/bin/ompgpu-cc"
check "compiles from the moved tree" "$cc" $ARCH -O2 app.c -o prog
check "... runs" test "$(./prog)" = OK
check "... with the library of the tree" sh -c "readelf -d prog | grep -q 'moved tree/lib'"
ln -s "$cc" link-to-cc
check "through a symbolic link" ./link-to-cc $ARCH -O2 app.c -o prog
check "manual" test -s "moved tree/share/man/man1/ompgpu-cc.1" -a -s "moved tree/share/man/man7/ompgpu-troubleshooting.7"
if command -v groff >/dev/null 2>&1; then check "... fits on a screen" sh -c "groff -t -man -Tutf8 -rLL=78n 'moved tree/share/man/man7/ompgpu-cc-openmp.7' 2>err >page && ! grep 'wider than' err"; else skip "the manual on a screen" "no groff"; fi
check "... by its numbered name" sh -c "readelf -d prog | grep -q 'NEEDED.*libompgpu[.]so[.][0-9]'"
# What other build systems look for, in the moved tree.
offload_function f.c f; calling_main main.c f
"$cc" $ARCH -c main.c f.c
if command -v pkg-config >/dev/null 2>&1; then
    flags() { PKG_CONFIG_PATH="$T/moved tree/lib/pkgconfig" pkg-config "$@" ompgpu; }
    # shellcheck disable=SC2046
    check "pkg-config" sh -c "eval cc main.o f.o $(flags --libs | sed 's/\\/\\\\/g') -o by-pkg" && check "... runs" test "$(./by-pkg)" = OK
    check "... version" test "$(flags --modversion)" = "$("$cc" --version | sed -n 's/^ompgpu-cc version //p')"
else skip "pkg-config" "not installed"; fi
if command -v cmake >/dev/null 2>&1; then
    cat >CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.16)
project(p C)
find_package(ompgpu 0.1 REQUIRED)
add_executable(p main.c f.c)
target_link_libraries(p ompgpu::ompgpu)
C
    check "CMake's toolchain file and package" sh -c "cmake -DCMAKE_TOOLCHAIN_FILE='$T/moved tree/lib/cmake/ompgpu/toolchain.cmake' -DCMAKE_C_FLAGS='$ARCH' -S . -B b >log 2>&1 || { cat log; exit 1; }"
    check "... builds" cmake --build b && check "... runs" test "$(./b/p)" = OK
else skip "CMake" "not installed"; fi
if command -v bash >/dev/null 2>&1; then
    completes() { bash -c '. "$1"; COMP_WORDS=(ompgpu-cc "$2"); COMP_CWORD=1; compopt() { :; }; _ompgpu_cc; echo "${COMPREPLY[@]}"' - "moved tree/share/bash-completion/completions/ompgpu-cc" "$1"; }
    check "bash completes --gp" test "$(completes --gp)" = "--gpu-arch=" && check "... -fompgpu" test "$(completes -fompgpu-m)" = "-fompgpu-mode="
else skip "completion" "no bash"; fi
mkdir -p stage/opt && mv "moved tree" stage/opt/ompgpu
check "make uninstall" make -s -C "$ROOT" uninstall DESTDIR="$T/stage" PREFIX=/opt/ompgpu
check "... leaves no file" test -z "$(find stage -type f)"
if command -v dpkg-deb >/dev/null 2>&1; then
    # Its compression takes half a minute.
    quick=-Znone
    [ -z "${OMPGPU_LONG:-}" ] || quick=
    check "make deb" sh -c "make -s -C '$ROOT' install DESTDIR='$T/deb' PREFIX=/usr/lib/ompgpu-cc && sh '$ROOT/driver/package/deb.sh' deb 0.1.0 22 \$(ls deb/usr/lib/ompgpu-cc/lib | sed -n 's/^libompgpu[.]so[.]//p') p.deb $quick && dpkg-deb -x p.deb x"
    check "... compiles" x/usr/bin/ompgpu-cc $ARCH app.c -o prog && check "... for Debian's library path" sh -c "! readelf -d prog | grep -q RUNPATH || readelf -d prog | grep RUNPATH | grep -q '$T'"
    check "... runs" test "$(LD_LIBRARY_PATH=x/usr/lib/x86_64-linux-gnu ./prog)" = OK
    if command -v lintian >/dev/null 2>&1; then check "... lintian finds nothing" sh -c "lintian --allow-root --fail-on error,warning p.deb"; else skip "lintian" "not installed"; fi
    check "... its fields" sh -c "dpkg-deb -f p.deb Package Depends | grep -q 'clang-22.*libomp-22-dev'"
else skip "make deb" "no dpkg-deb"; fi
check "make dist" sh -c "cd '$ROOT' && git archive --prefix=d/ HEAD | tar -C '$T' -xf - d/Makefile d/driver/flags.def d/driver/package"
mkdir -p half/bin && cp "$ROOT/bin/ompgpu-cc" half/bin/
check "half an installation" test_must_fail 1 half/bin/ompgpu-cc $ARCH -c app.c
finish
