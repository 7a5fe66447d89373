#!/bin/sh
# Each call of the driver fails, once (`once`) or with all after it (`lost`), at each policy of OMPGPU_ON_FAILURE: the program ends with the right
# results, or with one error and all that a construct changes as before it or as after it; it never hangs.  The program runs on the PTX machine.
# Short form: the last of each kind of call; with OMPGPU_LONG=1 every one.
. tests/lib.sh
unset OMPGPU_ON_FAILURE FAILING_AT FAILING_LOST FAILING_LOG
machine=$(dirname "$(dirname "$CC")")/lib/libompgpu-ptx.so
check "driver that fails" "$CLANG" -O1 -Wall -Wextra -Werror -fPIC -shared -I"$ROOT" "$ROOT/tests/failure/driver.c" -o driver.so
FAILING_DRIVER=$machine OMPGPU_CUDA_DRIVER=./driver.so OMPGPU_DEVICE=cuda
export FAILING_DRIVER OMPGPU_CUDA_DRIVER OMPGPU_DEVICE OMPGPU_ON_FAILURE
cp "$ROOT/tests/failure/every.c" .
build() { check "$1 compiles" "$CC" --gpu-arch=sm_75 -O1 every.c -o "$@"; }
build small -DBIG=3000
build large
build variables -DBIG=3000 -DVARIABLES
build huge -DSTEP=10
# Numbers of the calls to fail.
places() {
    if [ -n "${OMPGPU_LONG:-}" ]; then seq "$(wc -l <"$1")"
    else awk '{ last[$1] = NR } END { for (i in last) print last[i] }' "$1"; fi
}
state=whole
one_error='^ompgpu: \([^ ]*: \)\{0,1\}error: '
ends_well() {
    [ -s err ] || [ "$rc" = 0 ] || return 1
    case $rc in
    0) grep -qx good out && grep -qx whole out && ! grep -q "$one_error" err ;;
    1) grep -qx "$state" out && [ "$(grep -c "$one_error" err)" = 1 ] ;;
    *) false ;;
    esac
}
# sweep PROGRAM POLICY once|lost [N]: at least N of 100 runs end with the right results
sweep() {
    OMPGPU_ON_FAILURE=$2
    FAILING_LOG=calls timeout 60 "./$1" >out 2>&1 || { cat out; return 1; }
    [ "$3" = once ] || { FAILING_LOST=1; export FAILING_LOST; }
    bad=0 good=0 runs=0
    for at in $(places calls); do
        FAILING_AT=$at timeout 60 "./$1" >out 2>err; rc=$?
        runs=$((runs + 1))
        [ $rc != 0 ] || good=$((good + 1))
        ends_well || { bad=$((bad + 1)); echo "call $at, $(sed -n "${at}p" calls): exit code $rc"; cat out err; }
    done
    unset FAILING_LOST
    echo "$good of $runs ran to their end"
    [ $bad = 0 ] && [ $runs -gt 10 ] && [ $((100 * good)) -ge $((${4:-0} * runs)) ]
}
check "variables, stop, once" sweep variables stop once
check "small, stop, lost" sweep small stop lost
check "large, host, once" sweep large host once 70
check "variables, retry, lost" sweep variables retry lost
# What three threads copy, of which some may have come back when the program ends; not where it need not end.
OMPGPU_COPY_THREADS=3; export OMPGPU_COPY_THREADS
state='whole\|between'
check "huge, stop, once" sweep huge stop once
[ -z "${OMPGPU_LONG:-}" ] || check "huge, stop, lost" sweep huge stop lost
state=whole
[ -z "${OMPGPU_LONG:-}" ] || check "huge, host, once" sweep huge host once
check "huge, retry, lost" sweep huge retry lost
unset OMPGPU_COPY_THREADS
[ -z "${OMPGPU_LONG:-}" ] || for policy in host retry; do
    for program in large variables; do
        for how in once lost; do check "$program, $policy, $how" sweep $program $policy $how; done
    done
done
finish
