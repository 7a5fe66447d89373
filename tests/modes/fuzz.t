#!/bin/sh
# Random target regions (tests/fuzz/gen_regions.c), twenty to a program: generic, auto and spmd mode, at -O0 and -O2, under random schedules
# and team sizes, against the same text without OpenMP.  The emulated device fails a launch in which not all threads reach a barrier.
# 200 regions; 5000 with OMPGPU_LONG.  A region depends on its seed alone; what fails is printed with the command that tries it alone:
#   OMPGPU_FUZZ_SEED=N OMPGPU_FUZZ_COUNT=1 OMPGPU_FUZZ_SCHEDULE=S sh tests/modes/fuzz.t
# shellcheck disable=SC1091,SC2015,SC2016,SC2086
. tests/lib.sh
first=${OMPGPU_FUZZ_SEED:-1} count=200 size=20 OMPGPU_LONG=${OMPGPU_LONG:-0}
[ "$OMPGPU_LONG" = 0 ] || count=5000
count=${OMPGPU_FUZZ_COUNT:-$count}
OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
case $ARCH in *emu*) OMPGPU_DEVICE=emu; export OMPGPU_DEVICE ;; esac
GEN=$T/gen
# The host's half of the program is not what is tested here.
printf '#!/bin/sh\nexec "%s" "$@" -O0\n' "$CLANG" >quick; chmod +x quick

check "the generator" "$CLANG" -std=gnu11 -Wall -Wextra -Werror -O1 "$ROOT/tests/fuzz/gen_regions.c" -o gen || { finish; exit; }

# failed SEED FLAGS…: what failed, and how to see it again
failed() {
    f_seed=$1; shift
    echo "seed $f_seed with $*"
    echo "  OMPGPU_FUZZ_SEED=$f_seed OMPGPU_FUZZ_COUNT=1 OMPGPU_FUZZ_SCHEDULE=$schedule sh tests/modes/fuzz.t"
    return 1
}
build() { timeout 300 "$CC" $ARCH -w --host-cc="$T/quick" -Rompgpu "$@" -o f 2>log; }
# The seeds that spmd mode refuses leave the program.
without_refused() {
    refused=$(sed -n "s/.*error: region 'region_\([0-9]*\)_.*cannot run in SPMD mode.*/\1/p" log | sort -u)
    [ -n "$refused" ] || return 1
    kept=
    for s in $seeds; do
        case " $(echo "$refused" | tr '\n' ' ') " in *" $s "*) ;; *) kept="$kept $s" ;; esac
    done
    # shellcheck disable=SC2086
    "$GEN" $kept >kept.c && build kept.c "$@"
}
# Which seed does the compiler fail on?
blame_compiler() {
    cp log first
    for s in $seeds; do
        "$GEN" "$s" >one.c
        build one.c "$@" || grep -q 'cannot run in SPMD mode' log || { sed 5q log; failed "$s" "$*: does not compile"; return; }
    done
    sed 5q first
    echo "$seeds $*: does not compile"
}
# one FLAGS…: compile, run with two schedules
one() {
    build f.c "$@" || without_refused "$@" || { [ -n "$refused" ] && [ -z "$kept" ] || { blame_compiler "$@"; return 1; }; return 0; }
    grep -c 'SPMD mode by the late pass' log >>late
    for s in $schedule $((schedule + 1)); do
        OMPGPU_EMU_SCHEDULE=random:$s OMP_TEAMS_THREAD_LIMIT=$((s % 3 * 32 + 33 + s % 5)) timeout 300 ./f >got 2>error
        sed 3q error
        bad=$(awk 'NR == FNR { want[$1] = $2; next }
                   FILENAME == "got" { have[$1] = $2; next }
                   { for (i = 1; i <= NF; i++) if (have[$i] != want[$i]) { print $i; exit } }' want got - <<S
${kept:-$seeds}
S
)
        [ -z "$bad" ] || { failed "$bad" "$*, OMPGPU_EMU_SCHEDULE=random:$s: other results than without OpenMP"; return 1; }
    done
}
# batch FIRST LAST, in a directory of its own: says what is wrong, on standard output
batch() {
    seeds=$(seq "$1" "$2") kept='' batch_bad=0
    schedule=${OMPGPU_FUZZ_SCHEDULE:-$1}
    mkdir "$T/$1" && cd "$T/$1" || return 1
    # shellcheck disable=SC2086
    "$GEN" $seeds >f.c
    "$CLANG" -w -O1 f.c -o plain && ./plain >want
    set -- "-O2 -fompgpu-mode=spmd" "-O2 -fompgpu-mode=generic" "-O0 -g -fompgpu-mode=spmd"
    if [ "$count" = 1 ]; then set -- "$@" "-O2" "-O0" "-O3 -g" "-O0 -fompgpu-mode=generic" "-O1"
    else
        case $((schedule / size % (OMPGPU_LONG ? 5 : 3))) in
        0) set -- "$@" "-O0 -fompgpu-mode=generic" ;;
        1) set -- "$@" "-O2" ;;
        2) set -- "$@" "-O0" ;;
        3) set -- "$@" "-O3 -g" ;;
        4) set -- "$@" "-O1" ;;
        esac
    fi
    # shellcheck disable=SC2086
    for flags; do kept=''; one $flags || batch_bad=1; done
    return $batch_bad
}
seed=$first end=$((first + count))
while [ "$seed" -lt "$end" ]; do
    n=0 pids=
    while [ "$n" -lt 2 ] && [ "$seed" -lt "$end" ]; do
        last=$((seed + size - 1))
        [ "$last" -lt "$end" ] || last=$((end - 1))
        (batch "$seed" "$last") >"log.$seed" 2>&1 &
        pids="$pids $seed-$last:$!" seed=$((last + 1)) n=$((n + 1))
    done
    for p in $pids; do
        range=${p%:*}
        wait "${p#*:}"; rc=$?
        cp "log.${range%-*}" shown
        check "seeds $range" sh -c 'cat shown; exit "$1"' sh "$rc" && rm -rf "${range%-*}/f" "${range%-*}"/*.c
    done
done
cat ./*/late >late
check "most are converted in spmd mode" awk -v n="$count" '{ s += $1 } END { exit s < n }' late
if [ "$count" -ge 6 ] && have_ptxas; then
    # shellcheck disable=SC2046
    ./gen $(seq "$first" $((first + 5))) >gpu.c
    check "a program for a GPU" "$CC" --gpu-arch=sm_75 -w --host-cc="$T/quick" -O2 -c gpu.c -o gpu.o
fi
finish
