#!/bin/sh
# What regions print is there when they end, in its order with what the program prints to the same file: the CUDA driver keeps text until it is
# asked in a certain way (hostrt/ptx/print.c), and knows nothing of stdio's buffer.
# shellcheck disable=SC1091
. tests/lib.sh

prints() { on_device in_time ./t >out && same "$ROOT/tests/run/print_order.out" out; }
check "a program whose regions print" "$CC" -O2 --gpu-arch=sm_75 "$ROOT/tests/run/print_order.c" -o t
export OMPGPU_DEVICE=ptx
check "all is there, in order" prints
for seed in 1 2 3 4 5 6; do
    export OMPGPU_PTX_SCHEDULE=$seed
    check "... with streams that run when they like, $seed" prints
done
unset OMPGPU_PTX_SCHEDULE
for wait in auto spin block; do
    export OMPGPU_WAIT=$wait
    check "... when the program waits with $wait" prints
done
unset OMPGPU_WAIT

# What CUDA prints as C does costs what it costs in CUDA: a call.
cat >plain.c <<'C'
#include <stdio.h>
int main(int argc, char **argv)
{
    #pragma omp target
    printf("%d %s\n", argc, "text"), printf("%zu %hhd\n", sizeof argc * (size_t)argc, argc), fprintf(stderr, "%s %g\n", "text", 1.5 * argc);
    return argv == 0;
}
C
check "formats that the compiler knows" "$CC" -O2 --gpu-arch=sm_75 --emit=ptx plain.c -o plain.ptx
occurs() { test "$(grep -c "$2" "$1")" = "$3" || { grep -n "$2" "$1"; return 1; }; }
check "... are three calls of vprintf" occurs plain.ptx 'call.uni.* vprintf,' 3
check "... and nothing of the runtime" lacks plain.ptx __ompgpu_vprintf __ompgpu_print
finish
