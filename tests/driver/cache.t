#!/bin/sh
# OMPGPU_CACHE=DIR: device code is compiled once; what it was made from decides, and a damaged entry is none.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
offload_program app.c
cc() { OMPGPU_CACHE=$T/cache "$CC" --time -O0 --gpu-arch=emu "$@" 2>log; }
hit() { cc "$@" && silent log '^device-' '^lower-' '^ptxas' '^link-emu'; }
miss() { cc "$@" && has log '^device-emu' '^lower-emu'; }
entries() { [ "$(find cache -type f | wc -l)" = "$1" ] || { find cache -type f; return 1; }; }
runs() { [ "$(on_device ./prog)" = OK ]; }

"$CC" -O0 --gpu-arch=emu -c app.c -o plain.o
check "without the variable there is none" test ! -e cache
check "a first compile" miss -c app.c -o a.o && check "... leaves one entry" entries 1
check "... and the object that it is without" cmp a.o plain.o
check "the same again is a hit" hit -c app.c -o b.o && check "... with the same object" cmp a.o b.o
check "a program from it" hit app.c -o prog && check "... runs" runs
check "a change that device code does not see is a hit" sed -i s/FAILED/WRONG/ app.c && check "..." hit -c app.c
for flags in -O1 --gpu-arch=sm_75 --no-offload-compress; do
    check "$flags is a miss" miss $flags -c app.c && check "... once" hit $flags -c app.c
done
sed -i 's/a\[i\] \*= 2/a[i] += a[i]/' app.c
check "another region is a miss" miss -c app.c
cp app.c other.c
check "another file is a miss" miss -c other.c
check "-Rompgpu=all has its remarks" sh -c "OMPGPU_CACHE='$T/cache' '$CC' $ARCH -O0 -Rompgpu=all -c app.c 2>&1 | grep -q 'remark: region'"
check "-save-temps has its files" cc -save-temps=temps -c app.c -o a.o && check "..." test -s temps/app.emu.so
# A device compile that says something says it again.
sed 's/a\[i\] += a\[i\]/a[i] += 2 * omp_get_num_threads(); {} _Pragma("omp barrier")/' app.c >bad.c
for i in 1 2; do check "a compile that fails, $i" test_must_fail 1 cc -c bad.c; done

rm -r cache
for i in 1 2 3; do OMPGPU_CACHE=$T/cache "$CC" -O0 --gpu-arch=emu -c app.c -o p$i.o & done
wait
check "three at once: one entry" entries 1 && check "... the same objects" sh -c 'cmp p1.o p2.o && cmp p1.o p3.o'
entry=$(find cache -type f) && cp "$entry" good
for damage in 's/^OMP/omp/' '$s/.$/X/' d; do
    sed -i "$damage" "$entry"
    check "a damaged entry ($damage) is none" miss -c app.c && check "... and is written anew" cmp good "$entry"
done
check "a directory that cannot be made" sh -c "OMPGPU_CACHE=/dev/null/x '$CC' $ARCH -O0 -c app.c -o n.o 2>err" && check "... a warning" mentions "$(cat err)" 'ompgpu-cc: warning: |OMPGPU_CACHE'
finish
