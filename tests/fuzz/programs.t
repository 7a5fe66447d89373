#!/bin/sh
# Random whole programs (tests/fuzz/programs: mapping, data-sharing, loops, scopes and statements, several files), 12 cases to a program of two
# files, against the same program without OpenMP.  As compilers of the host err, too, gcc is asked where clang and ompgpu-cc differ: the right hash
# is the one that two of three have.  96 cases, each batch of 12 in another form: modes, -O0 and -O2; schedules of the emulated device and sizes
# of teams differ, too; ten cases are executed as PTX.  500 cases with OMPGPU_LONG=1, N times as many with OMPGPU_LONG=N, fifty to a program, each in all forms.
#   OMPGPU_FUZZ_SEED=N OMPGPU_FUZZ_COUNT=1 sh tests/fuzz/programs.t           one case in all forms
#   sh tests/fuzz/shrink.sh N --gpu-arch=emu -O2 …                            the smallest one that fails as this one does
# shellcheck disable=SC1091,SC2086
. tests/lib.sh
first=${OMPGPU_FUZZ_SEED:-1} count=96 size=12 all_forms=
if [ -n "${OMPGPU_LONG:-}" ]; then count=$((500 * OMPGPU_LONG)) size=50 all_forms=1; fi
[ -z "${OMPGPU_FUZZ_COUNT:-}" ] || all_forms=1
count=${OMPGPU_FUZZ_COUNT:-$count} end=$((first + count))
OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0; export ASAN_OPTIONS # the programs free nothing
case $ARCH in *emu*) OMPGPU_DEVICE=emu; export OMPGPU_DEVICE ;; esac
# The host's half of the program is not what is tested here.
printf '#!/bin/sh\nexec "%s" "$@" -O0\n' "$CLANG" >quick; chmod +x quick

check "the generator" "$CLANG" -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE "$ROOT"/tests/fuzz/programs/*.c -o gen || { finish; exit; }

write() { ./gen main $1 >main.c && ./gen other $1 >other.c; }
# without_openmp COMPILER: the hashes without OpenMP: lines "SEED HASH"
without_openmp() { "$1" -w -O0 main.c other.c -o plain && in_time ./plain; }
expect() { without_openmp "$CLANG" >want; }
build() { in_time "$CC" -w --host-cc="$T/quick" "$@" main.c other.c -o prog; }
# The seed on which the compiler or the program fails, one by one.
blame() {
    for s in $seeds; do
        write $s
        build "$@" >log 2>&1 || { echo "seed $s with $*: does not compile"; sed 5q log; return; }
        in_time ./prog >got 2>log || { echo "seed $s with $*: exit code $?"; sed 5q log; return; }
    done
    echo "$seeds with $*: together, not one by one"
}
# differ FILE: the seeds that have another hash in `got` than in FILE, or none
differ() {
    awk 'NR == FNR { want[$1] = $2; next } { have[$1] = $2 } END { for (s in want) if (have[s] != want[s]) print s }' "$1" got | sort
}
# A hash is right if one without OpenMP is the same.  The seeds of the others are in `bad`.
compare() {
    differ want >bad
    if [ ! -s bad ] || ! command -v gcc >/dev/null || ! without_openmp gcc >want_gcc; then return; fi
    differ want_gcc | comm -12 bad - >bad_twice
    mv bad_twice bad
}
run_one() {
    in_time ./prog >got 2>error || { echo "exit code $?"; sed 3q error; return 1; }
    compare
    [ ! -s bad ] || { echo "other results than without OpenMP: seeds $(sort -n bad | tr '\n' ' ')"; return 1; }
}
# Spmd mode refuses regions that it cannot convert (tests/modes/refuse.t): the program without their cases.
without_refused() {
    case $* in *=spmd*) ;; *) return 1 ;; esac
    grep 'error: ' log | grep -q -v "cannot run in SPMD mode" && return 1
    refused=$(sed -n "s/.*error: region '[a-z0-9]*_\([0-9]*\)_.*/\1/p" log | sort -nu | tr '\n' '|')
    seeds=$(echo $seeds | tr ' ' '\n' | grep -v -x -E "(${refused%|})" | tr '\n' ' ')
    [ -n "$(echo $seeds)" ] || return 0
    write "$seeds" && grep -v -E "^(${refused%|}) " want >want_now && mv want_now want
}
# form FLAGS…: with these, under two schedules
form() {
    build $ARCH "$@" >log 2>&1 || { without_refused "$@" && { [ -z "$(echo $seeds)" ] || build $ARCH "$@" >log 2>&1; }; } || { sed 5q log; blame $ARCH "$@"; return 1; }
    [ -n "$(echo $seeds)" ] || return 0
    for s in $batch $((batch + 1)); do
        OMPGPU_EMU_SCHEDULE=random:$s OMP_TEAMS_THREAD_LIMIT=$((s % 3 * 32 + 33 + s % 5)) run_one || { echo "with $* OMPGPU_EMU_SCHEDULE=random:$s"; blame $ARCH "$@"; return 1; }
    done
}
ptx_form() {
    build --gpu-arch=sm_80 "$@" >log 2>&1 || { sed 5q log; blame --gpu-arch=sm_80 "$@"; return 1; }
    OMPGPU_DEVICE=ptx run_one && OMPGPU_DEVICE=ptx OMPGPU_PTX_SCHEDULE=$batch run_one
}
# The forms of the batch that begins with this seed: one of them in turn, or all.
forms() {
    k=0
    for f in "-O2 -fompgpu-mode=auto" "-O0 -fompgpu-mode=generic" "-O2 -fompgpu-mode=spmd" "-O0 -fompgpu-mode=auto" "-O2 -fompgpu-mode=generic" "-O0 -g -fompgpu-mode=spmd"; do
        if [ -n "$all_forms" ] || [ $((batch / size % 6)) = $k ]; then echo "$f"; fi
        k=$((k + 1))
    done
}
batch=$first
while [ $batch -lt $end ]; do
    last=$((batch + size - 1))
    [ $last -lt $end ] || last=$((end - 1))
    seeds=$(seq -s ' ' $batch $last)
    write "$seeds" && check "seeds $batch to $last: without OpenMP" expect || { batch=$((last + 1)); continue; }
    forms >forms_now
    cp want all_want
    while read -r f; do
        write "$seeds"
        cp all_want want
        check "seeds $batch to $last: $f" form $f
        seeds=$(seq -s ' ' $batch $last)
    done <forms_now
    if have_ptxas && [ $(((batch - first) / size % 10)) = 0 ]; then
        seeds=$(seq -s ' ' $batch $((batch + 9 < last ? batch + 9 : last)))
        write "$seeds" && expect && check "as PTX" ptx_form -O2
    fi
    batch=$((last + 1))
done
finish
