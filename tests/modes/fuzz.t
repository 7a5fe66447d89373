#!/bin/sh
# Random target regions (tests/fuzz/gen_regions.c), eight to a program: each region in auto, generic and spmd mode at -O0 and at -O2, under random
# schedules and team sizes, against the same text without OpenMP.  The emulated device fails a launch in which not all threads reach a barrier.
# 24 regions; 240 with OMPGPU_LONG=1, N times as many with OMPGPU_LONG=N, twelve to a program.  A region depends on its seed alone; what fails is printed with the command that tries it alone:
#   OMPGPU_FUZZ_SEED=N OMPGPU_FUZZ_COUNT=1 OMPGPU_FUZZ_SCHEDULE=S sh tests/modes/fuzz.t
#
# Spmd mode differs from auto mode in two ways: it converts what auto mode leaves generic for its cost, and it converts with -O0 -g.  So auto's
# program is spmd's, too, for the regions that it converted (a check of its own below); spmd mode compiles the others at -O2, and all with -O0 -g.
# A batch is compiled in auto mode at -O2 and -O0, and in one of the other three forms in turn: generic at -O2, generic at -O0, spmd at -O0 -g.  These are half of
# the test's time, and each still sees a third of the regions; of 5000 regions that
# is so for spmd alone.  With OMPGPU_FUZZ_COUNT=N each batch gets all forms.
# The long form executes the PTX of every tenth batch, too: in random orders, once with stores that others see late.
# What auto mode refuses, spmd mode would, too (tests/modes/refuse.t).
# shellcheck disable=SC1091,SC2015,SC2016,SC2086
. tests/lib.sh
first=${OMPGPU_FUZZ_SEED:-1} count=24 size=8 jobs=${OMPGPU_FUZZ_JOBS:-2}
every="" costly='barrier in each'          # refuse.t has this wording, too
if [ -n "${OMPGPU_LONG:-}" ]; then count=$((240 * OMPGPU_LONG)) size=12 every="0 1"; fi
[ -z "${OMPGPU_FUZZ_COUNT:-}" ] || every="0 1 2"
count=${OMPGPU_FUZZ_COUNT:-$count} end=$((first + count))
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
build() { in_time "$CC" $ARCH -w --host-cc="$T/quick" -Rompgpu=all "$@" -o f 2>log; }
# The seeds of the regions with a remark that matches; each region has one that names its mode.
seeds_with() { grep -E "$1" log | sed -n "s/.*remark: region 'region_\([0-9]*\)_.*/\1/p"; }
# Which seed does the compiler fail on?
blame_compiler() {
    cp log first
    for s in $seeds; do
        "$GEN" "$s" >one.c
        build one.c "$@" || { sed 5q log; failed "$s" "$*: does not compile"; return; }
    done
    sed 5q first
    echo "$seeds $*: does not compile"
}
# one FLAGS…: compile f.c, which holds $seeds, run with two schedules
one() {
    build f.c "$@" || { blame_compiler "$@"; return 1; }
    for s in $schedule $((schedule + 1)); do
        OMPGPU_EMU_SCHEDULE=random:$s OMP_TEAMS_THREAD_LIMIT=$((s % 3 * 32 + 33 + s % 5)) in_time ./f >got 2>error || echo "exit code $?" >>error
        sed 3q error
        bad=$(awk 'NR == FNR { want[$1] = $2; next }
                   FILENAME == "got" { have[$1] = $2; next }
                   { for (i = 1; i <= NF; i++) if (have[$i] != want[$i]) { print $i; exit } }' want got - <<S
$seeds
S
)
        [ -z "$bad" ] || { failed "$bad" "$*, OMPGPU_EMU_SCHEDULE=random:$s: other results than without OpenMP"; return 1; }
    done
}
# only SEEDS: f.c with these, false when there are none
only() {
    seeds=$(printf "%s\n" $1 | sort -nu | tr "\n" " ")
    [ -n "$(echo $seeds)" ] && "$GEN" $seeds >f.c
}
# has_form SEED N: the batch that begins with this seed gets form N of those that cost most
has_form() { case $every in *$2*) return 0 ;; esac; [ $(($1 / size % 3)) = "$2" ]; }
# executed FLAGS…: as PTX
executed() {
    in_time "$CC" --gpu-arch=sm_75 -w --host-cc="$T/quick" "$@" f.c -o f 2>log || { sed 5q log; return 1; }
    for memory in strong weak; do
        OMPGPU_DEVICE=ptx OMPGPU_PTX_SCHEDULE=$schedule OMPGPU_PTX_MEMORY=$memory OMP_TEAMS_THREAD_LIMIT=$((schedule % 3 * 32 + 33)) in_time ./f >got 2>error ||
            { echo "exit code $?"; sed 5q error; }
        same want got || { echo "seeds $seeds with $*: as PTX, OMPGPU_PTX_SCHEDULE=$schedule, $memory memory"; return 1; }
    done
}
# batch FIRST LAST, in a directory of its own: says what is wrong, on standard output
batch() {
    all=$(seq -s ' ' "$1" "$2") batch_bad=0 schedule=${OMPGPU_FUZZ_SCHEDULE:-$1}
    mkdir "$T/$1" && cd "$T/$1" && only "$all" && "$CLANG" -w -O1 f.c -o plain && ./plain >want || return 1
    if [ -n "$MACHINE" ] && [ $(($1 / size % 10)) = 0 ]; then
        for flags in -O2 "-O2 -fompgpu-mode=generic" "-O0 -g"; do executed $flags || batch_bad=1; done
    fi
    one -O2 || batch_bad=1
    seeds_with "$costly" >costly
    seeds_with 'OMP120' >late
    one -O0 || batch_bad=1
    accepted=$(seeds_with "OMP120|$costly")
    if has_form "$1" 0; then one -O2 -fompgpu-mode=generic || batch_bad=1; fi
    if has_form "$1" 1; then one -O0 -fompgpu-mode=generic || batch_bad=1; fi
    if has_form "$1" 2 && only "$accepted"; then one -O0 -g -fompgpu-mode=spmd || batch_bad=1; fi
    only "$(cat costly)" && { one -O2 -fompgpu-mode=spmd || batch_bad=1; }
    return $batch_bad
}
# worker N: every jobs-th batch, beginning with number N
worker() {
    w_seed=$((first + $1 * size))
    while [ "$w_seed" -lt "$end" ]; do
        last=$((w_seed + size - 1))
        [ "$last" -lt "$end" ] || last=$((end - 1))
        (batch "$w_seed" "$last") >"$T/log.$w_seed" 2>&1 && rm -f "$w_seed"/*.c "$w_seed"/f "$w_seed"/plain && echo fine >"$T/fine.$w_seed"
        w_seed=$((w_seed + jobs * size))
    done
}
n=0 pids=
while [ $n -lt "$jobs" ]; do worker $n & pids="$pids $!"; n=$((n + 1)); done
wait $pids
seed=$first
while [ "$seed" -lt "$end" ]; do
    check "seeds from $seed on" sh -c 'cat "log.$1"; [ -e "fine.$1" ]' sh "$seed"
    seed=$((seed + size))
done
cat ./*/late >late
check "most are converted" [ "$(wc -l <late)" -ge $((count / 2)) ]
if [ "$count" -ge 6 ]; then
    only "$(sed 6q late)"
    check "auto mode" "$CC" --gpu-arch=sm_75 -w -O2 -Rompgpu=all --emit=ptx f.c -o auto.ptx
    check "spmd mode" "$CC" --gpu-arch=sm_75 -w -O2 -Rompgpu=all --emit=ptx -fompgpu-mode=spmd f.c -o spmd.ptx
    check "both make the same of what auto mode converts" cmp auto.ptx spmd.ptx
    if have_ptxas; then check "a program for a GPU" "$CC" --gpu-arch=sm_75 -w --host-cc="$T/quick" -O2 -c f.c -o gpu.o; fi
fi
finish
