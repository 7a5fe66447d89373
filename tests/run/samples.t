#!/bin/sh
# The samples: default size, other sizes, small optimisation; under 2 s each on the emulated device.
. tests/lib.sh
. "$ROOT/tests/run/run.sh"
OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
case $ARCH in *emu*) OMPGPU_DEVICE=emu; export OMPGPU_DEVICE ;; esac
# shellcheck disable=SC2317
limit=2
[ -z "${OMPGPU_SANITIZE:-}" ] || limit=20
prints_ok() { "$@" >"$T/out" 2>&1 || { cat "$T/out"; return 1; }; has "$T/out" '^[a-z_]*: .* OK$' && [ "$(wc -l <"$T/out")" = 1 ]; }
for src in "$SAMPLES"/*.c; do
    name=$(basename "$src" .c)
    for level in -O2 -O0; do
        # shellcheck disable=SC2086
        check "$name $level: compiles" timeout 120 "$CC" $ARCH $level "$src" -o "$T/prog" -lm || continue
        check "$name $level: OK, under $limit s" prints_ok timeout $limit "$T/prog"
        for n in 1 3 33 100; do
            case $name:$n in jacobi:1) continue ;; esac
            check "$name $level: n=$n" prints_ok timeout 10 "$T/prog" $n
        done
    done
done
finish
