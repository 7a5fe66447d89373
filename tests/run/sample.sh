#!/bin/sh
# sample.sh FILE.c - one sample as a test: default size and other sizes, optimised and not; every region is SPMD on all
# targets; ptxas assembles it for GPUs; at its default size it needs less than 2 s of CPU time
# on the emulated device, at -O0, where it is checked, 4.
# shellcheck disable=SC1091,SC2154
. tests/lib.sh
program "$1"

prints_ok() { on_device "$@" >"$T/out" 2>&1 || { cat "$T/out"; return 1; }; has "$T/out" '^[a-z_]*: .* OK$' && [ "$(wc -l <"$T/out")" = 1 ]; }
sizes() {                             # FLAGS: of the program as it was just compiled
    case $1 in -O0) limit=$((4 * SLOWER)) ;; *) limit=$((2 * SLOWER)) ;; esac
    check "$name $1: OK, under $limit s" prints_ok sh -c "ulimit -t $limit; exec ./prog"
    for n in 1 3 33 100; do
        case $name:$n in jacobi:1) continue ;; esac      # its grid has a border
        check "$name $1: n=$n" prints_ok in_time ./prog $n
    done
}
compile "$GPUS" -O2 -Rompgpu=all && {
    check "every region is SPMD" lacks remarks 'remark: .*generic mode'
    sizes -O2
}
compile "" -O0 && sizes -O0
finish
