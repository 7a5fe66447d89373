#!/bin/sh
# checks.sh - what -fompgpu-check costs on the emulated device: CPU time of one OS thread, by what OMPGPU_CHECK looks for (samples, with the sizes
# given here), and memory.
CC=${OMPGPU_CC:-bin/ompgpu-cc}
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
OMPGPU_DEVICE=emu OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_EMU_THREADS=1
export OMPGPU_DEVICE OMP_TARGET_OFFLOAD OMPGPU_EMU_THREADS
# seconds PROGRAM ARGUMENTS: the least of three
seconds() {
    for s_run in 1 2 3; do
        (: "$s_run"; "$@" >/dev/null && times) | sed -n '2s/m/ /; 2s/s.*//; 2p'
    done | awk '{ t = $1 * 60 + $2; if (NR == 1 || t < least) least = t } END { print least }'
}
row() { # LEVEL SAMPLE ARGUMENTS
    level=$1 src=samples/$2.c; shift
    "$CC" -w "$level" -fno-ompgpu-check --gpu-arch=emu "$src" -o "$T/plain" -lm && "$CC" -w "$level" -fompgpu-check --gpu-arch=emu "$src" -o "$T/checked" -lm || exit 1
    name=$1; shift
    plain=$(seconds "$T/plain" "$@")
    memory=$(OMPGPU_CHECK=address,uninit seconds "$T/checked" "$@")
    echo "$name $level $plain $memory $(seconds "$T/checked" "$@")" |
        awk '{ printf "  %-10s %s  %6.3f s   address, uninit %5.1f   race too %5.1f   at most 6   %s\n", $1, $2, $3, $4 / $3, $5 / $3, $5 / $3 <= 6 ? "met" : "NOT MET" }'
}
# megabytes PROGRAM: the most memory that it had
megabytes() { "$@" | tail -n 1; }
memory() { # MiB that are mapped, MAP-TYPE
    sed "s/SIZE/($1 << 18)/; s/TYPE/$2/" >"$T/memory.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    size_t n = SIZE;
    char line[256];
    float *a = calloc(n, sizeof *a);
#pragma omp target teams distribute parallel for map(TYPE: a[0:n])
    for (size_t i = 0; i < n; i++)
        a[i] = i;
    FILE *f = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            printf("%d\n", atoi(line + 6) / 1024);
    return 0;
}
C
    "$CC" -w -O2 -fompgpu-check --gpu-arch=emu "$T/memory.c" -o "$T/memory" && "$CC" -w -O2 --gpu-arch=emu "$T/memory.c" -o "$T/unchecked" || exit 1
    plain=$(megabytes "$T/unchecked")
    echo "$1 $2 $plain $(OMPGPU_CHECK=address,uninit megabytes "$T/memory") $(megabytes "$T/memory")" |
        awk '{ printf "  memory for %d MiB mapped %s: address, uninit %.2f of it   race too %.2f   at most 3   %s\n", $1, $2, ($4 - $3) / $1, ($5 - $3) / $1, ($5 - $3) / $1 <= 3 ? "met" : "NOT MET" }'
}
echo "checked / unchecked, emulated device, one OS thread"
row -O2 jacobi 400 200
row -O2 lud 768
row -O2 matmul 600
row -O2 transpose 4096
row -O2 sum 32000000
row -O2 axpy 16000000
row -O0 jacobi 200 100
row -O0 lud 256
row -O0 matmul 200
row -O0 transpose 2048
row -O0 sum 8000000
row -O0 axpy 8000000
memory 48 tofrom
memory 48 from
