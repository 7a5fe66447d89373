#!/bin/sh
# Device images are compressed, for the program and for a device link, unless --no-offload-compress asks for them as they are.
. tests/lib.sh
cat >lib.c <<'C'
#pragma omp begin declare target
int next(int i) { return i + 1; }
#pragma omp end declare target
C
cat >main.c <<'C'
#include <stdio.h>
int next(int);
#pragma omp declare target to(next)
int main(void)
{
    static int a[100], b[100];
    int sum = 0;
#pragma omp target teams distribute parallel for map(from: a)
    for (int i = 0; i < 100; i++) a[i] = next(i);
#pragma omp target teams distribute parallel for map(to: a) map(from: b)
    for (int i = 0; i < 100; i++) b[i] = a[i] + 1;
#pragma omp target teams distribute parallel for map(to: b) reduction(+: sum)
    for (int i = 0; i < 100; i++) sum += b[i];
    return printf("%d\n", sum) != 5;
}
C
cc() { "$CC" -O2 --gpu-arch=emu"${GPUS:+,sm_90}" "$@"; }
bytes() { size -A "$1" | awk '$1 == ".ompgpu.image" { print $2 }'; }
smaller() { echo "$(bytes "$1"), $(bytes "$2") bytes"; [ "$(bytes "$1")" -lt $(($(bytes "$2") * $3 / 100)) ]; }
prints_5150() { OMPGPU_DEVICE=emu "$1" >out && [ "$(cat out)" = 5150 ]; }
cc -c main.c -o main.o; cc -c lib.c -o lib.o; cc -c --no-offload-compress lib.c -o plain.o
cc main.o lib.o -o prog; cc main.o plain.o -o mixed; cc --no-offload-compress main.o lib.o -o plain
check "an object is smaller" smaller lib.o plain.o 95
check "a program is smaller" smaller prog plain 65
for p in prog mixed plain; do check "$p runs" prints_5150 "./$p"; done
check "the last flag counts" cc -c --no-offload-compress --offload-compress lib.c -o last.o && check "... as the default" smaller last.o plain.o 95
# A library of this name that is none.
mkdir none; : >none/libzstd.so.1
LD_LIBRARY_PATH=$T/none prints_5150 ./prog 2>err
check "without libzstd: a message" [ $? = 1 ] && check "... that says what helps" mentions "$(cat err)" "ompgpu: |libzstd.so.1|--no-offload-compress"
check "uncompressed images need none" env LD_LIBRARY_PATH="$T/none" OMPGPU_DEVICE=emu ./plain
finish
