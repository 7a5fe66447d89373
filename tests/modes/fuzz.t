#!/bin/sh
# Random generic regions (tests/fuzz/gen_regions.c): generic, auto and spmd mode against the same program without OpenMP.
# 30 programs; 1000 with OMPGPU_LONG.  OMPGPU_FUZZ_SEED starts elsewhere.
# shellcheck disable=SC1091
. tests/lib.sh
first=${OMPGPU_FUZZ_SEED:-1} count=30
[ -z "${OMPGPU_LONG:-}" ] || count=1000
OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
case $ARCH in *emu*) OMPGPU_DEVICE=emu; export OMPGPU_DEVICE ;; esac

check "the generator" "$CLANG" -std=gnu11 -Wall -Wextra -Werror -O1 "$ROOT/tests/fuzz/gen_regions.c" -o gen || { finish; exit; }

# one SEED FLAGS…: prints what is wrong
one() {
    one_seed=$1; shift
    # shellcheck disable=SC2086
    timeout 120 "$CC" $ARCH -Rompgpu "$@" f.c -o f 2>log || { echo "seed $one_seed $*: does not compile"; sed 20q log; return 1; }
    for one_s in "random:$one_seed" "random:$((one_seed + 1))"; do
        got=$(OMPGPU_EMU_SCHEDULE=$one_s timeout 60 ./f 2>&1)
        [ "$got" = "$want" ] || { echo "seed $one_seed $* with OMPGPU_EMU_SCHEDULE=$one_s: $got, not $want"; return 1; }
    done
}
several() {
    several_bad=0
    while [ "$seed" -lt "$until" ]; do
        ./gen "$seed" >f.c
        "$CLANG" -w -O1 f.c -o plain && want=$(./plain)
        one "$seed" -O2 || several_bad=1
        if grep -q 'by the late pass' log; then late=$((late + 1)); fi
        case $((seed % 4)) in
        0) one "$seed" -O2 -fompgpu-mode=generic || several_bad=1 ;;
        1) one "$seed" -O0 -g -fompgpu-mode=spmd || several_bad=1 ;;
        2) one "$seed" -O1 -fompgpu-mode=spmd || several_bad=1 ;;
        *) one "$seed" -O3 -g -fompgpu-mode=spmd || several_bad=1 ;;
        esac
        if have_ptxas && [ $((seed % 8)) = 0 ]; then "$CC" --gpu-arch=sm_75 -O2 -c f.c -o gpu.o || several_bad=1; fi
        seed=$((seed + 1))
    done
    return $several_bad
}
seed=$first end=$((first + count)) late=0
while [ "$seed" -lt "$end" ]; do
    until=$((seed + 10))
    check "seeds $seed to $((until - 1))" several
done
check "most are converted in auto mode" test $((late * 2)) -gt "$count"
finish
