#!/bin/sh
# Random programs of loop nests in target regions (gen_loops.c), which compare themselves with plain C loops; OMPGPU_LONG=1: many.
. tests/lib.sh
N=10 KERNELS=8
[ -z "${OMPGPU_LONG:-}" ] || N=150
FIRST=${OMPGPU_FUZZ_SEED:-1}
"$CLANG" -O1 -o gen "$ROOT/tests/fuzz/gen_loops.c" || { echo "Bail out! gen_loops.c does not compile"; exit 1; }
run_seed() {                                    # SEED
    OMPGPU_EMU_SCHEDULE=random:$1 timeout 60 ./prog
}
seed=$FIRST
while [ $seed -lt $((FIRST + N)) ]; do
    ./gen $seed $KERNELS >loops_$seed.c
    case $((seed % 3)) in 0) level=-O0 ;; 1) level=-O1 ;; *) level=-O2 ;; esac
    # shellcheck disable=SC2086
    if check "seed $seed $level: compiles" timeout 60 "$CC" $ARCH $level loops_$seed.c -o prog; then
        check "seed $seed $level: runs as plain loops do" run_seed $seed
    fi
    rm -f prog
    seed=$((seed + 1))
done
finish
