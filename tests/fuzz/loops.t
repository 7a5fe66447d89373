#!/bin/sh
# Random programs of target regions, which compare themselves with plain C: loop nests (gen_loops.c), and sequential and parallel
# code on variables of every origin (gen_sharing.c).  OMPGPU_LONG=1: many more; OMPGPU_FUZZ_SEED=N: beginning with another seed.
. tests/lib.sh
FIRST=${OMPGPU_FUZZ_SEED:-1}
run_seed() {                                    # SEED
    OMPGPU_EMU_SCHEDULE=random:$1 in_time ./prog
}
random_programs() {                             # GENERATOR PROGRAMS KERNELS
    "$CLANG" -O1 -o gen "$ROOT/tests/fuzz/$1.c" || { echo "Bail out! $1.c does not compile"; exit 1; }
    last=$((FIRST + $2)) seed=$FIRST
    [ -z "${OMPGPU_LONG:-}" ] || last=$((FIRST + 80))
    while [ $seed -lt $last ]; do
        ./gen $seed "$3" >"$1_$seed.c"
        case $((seed % 3)) in 0) level=-O0 ;; 1) level=-O1 ;; *) level=-O2 ;; esac
        # shellcheck disable=SC2086
        if check "$1 $seed $level: compiles" in_time "$CC" $ARCH${MACHINE:+,$MACHINE} -w $level "$1_$seed.c" -o prog; then
            check "$1 $seed $level: computes what plain C does" run_seed $seed
            [ -z "$MACHINE" ] || check "$1 $seed $level: on the PTX machine" on_machine in_time ./prog
        fi
        if [ $seed = $((FIRST + 1)) ] && have_ptxas; then
            check "$1 $seed: compiles for a GPU" in_time "$CC" --gpu-arch=sm_90 -w -O2 -c "$1_$seed.c" -o gpu.o
        fi
        rm -f prog
        seed=$((seed + 1))
    done
}
random_programs gen_loops 3 8
random_programs gen_sharing 2 5
finish
