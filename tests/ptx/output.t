#!/bin/sh
# fwrite in a region writes bytes: zero bytes, as many as it says, and nothing of what is behind an array without one.
# shellcheck disable=SC1091
. tests/lib.sh

cat >t.c <<'C'
#include <stdio.h>
#include <string.h>
enum { N = 700 };
int main(int argc, char **argv)
{
    char a[N], zeros[8] = "ab\0c\0\0d\n";
    size_t n = 0, none = 1, at_once = 0;
    for (int i = 0; i < N; i++) a[i] = 'a' + i % 26;
    if (argc > 1) {
        fwrite(zeros, 2, 4, stdout), fwrite(a, 1, N, stdout);
        return 0;
    }
    #pragma omp target map(to: a, zeros) map(tofrom: n, none, at_once)
    {
        n = fwrite(zeros, 2, 4, stdout);
        none = fwrite(a, 0, 5, stdout);
        at_once = fwrite(a, 1, N, stdout);
    }
    return !(n == 4 && none == 0 && at_once == N);
}
C
writes() { OMPGPU_DEVICE=$1 on_device ./t >out && cmp out wanted; }
check "a program that writes bytes" "$CC" --gpu-arch=emu,sm_75 t.c -o t
./t host >wanted
check "as the host does" writes emu
check "... on the PTX machine" writes ptx
finish
