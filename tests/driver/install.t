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
check "manual" test -s "moved tree/share/man/man1/ompgpu-cc.1"
mkdir -p stage/opt && mv "moved tree" stage/opt/ompgpu
check "make uninstall" make -s -C "$ROOT" uninstall DESTDIR="$T/stage" PREFIX=/opt/ompgpu
check "... leaves no file" test -z "$(find stage -type f)"
mkdir -p half/bin && cp "$ROOT/bin/ompgpu-cc" half/bin/
check "half an installation" test_must_fail 1 half/bin/ompgpu-cc $ARCH -c app.c
finish
