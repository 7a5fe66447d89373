# run.sh - sourced by the run*.t: builds and runs the programs of this folder, each in several ways.
# "todo: REASON" there: known not to work yet.
#   run_programs PART OF FLAGS…   every OF-th program, beginning with number PART; FLAGS: the optimisation level and such
# A program's first lines may say "flags: …" for the compiler, and "with: FILE…" for the program's other files; NAME.out, where it exists, is the output wanted.
# On the emulated device a program runs under four schedules of its fibers.
# shellcheck shell=sh
program_todo() { sed -n '1,3s|.*todo: \(.*\) \*/.*|\1|p' "$1"; }
program_flags() { sed -n '1,3s|.*flags: \(.*\) \*/.*|\1|p' "$1"; }
program_parts() { for part in $(sed -n '1,3s|.*with: \(.*\) \*/.*|\1|p' "$1"); do echo "$(dirname "$1")/$part"; done; }

run_once() {
    timeout 60 "$T/prog" >"$T/out" 2>&1 || { rc=$?; echo "exit code $rc:"; sed 30q "$T/out"; return 1; }
    if [ -e "$1" ]; then diff -u "$1" "$T/out" || return 1; fi
    if grep -q 'runtime error:' "$T/out"; then sed 30q "$T/out"; return 1; fi
}

run_ways() {
    OMP_TARGET_OFFLOAD=MANDATORY; export OMP_TARGET_OFFLOAD
    case $ARCH in
    *emu*)
        OMPGPU_DEVICE=emu; export OMPGPU_DEVICE
        run_once "$1" || return 1
        for seed in 1 2 3; do
            OMPGPU_EMU_SCHEDULE=random:$seed run_once "$1" || { echo "with OMPGPU_EMU_SCHEDULE=random:$seed"; return 1; }
        done ;;
    *) run_once "$1" ;;
    esac
}

run_programs() {
    run_part=$1 run_of=$2 run_i=0
    shift 2
    for src in "$ROOT"/tests/run/*.c; do
        run_i=$((run_i + 1))
        [ $((run_i % run_of)) = "$run_part" ] || continue
        name=$(basename "$src" .c) why=$(program_todo "$src")
        if [ -n "$why" ]; then
            # shellcheck disable=SC2046,SC2086
            todo "$name" "$why" timeout 120 "$CC" $ARCH "$@" $(program_flags "$src") "$src" -o "$T/prog" -lm
            continue
        fi
        # shellcheck disable=SC2046,SC2086
        check "$name $*: compiles" timeout 120 "$CC" $ARCH "$@" $(program_flags "$src") "$src" $(program_parts "$src") -o "$T/prog" -lm || continue
        if [ -s "$T/.log" ]; then not_ok "$name: compiles without a word"; show "$T/.log"; fi
        check "$name $*: runs" run_ways "${src%.c}.out"
    done
}

# ptxas_programs PART OF: every OF-th program and sample for four generations of GPUs
ptxas_programs() {
    have_ptxas || skip_all "no ptxas"
    run_part=$1 run_of=$2 run_i=0
    for src in "$SAMPLES"/*.c "$ROOT"/tests/run/*.c; do
        run_i=$((run_i + 1))
        if [ $((run_i % run_of)) != "$run_part" ] || [ -n "$(program_todo "$src")" ]; then continue; fi
        parts=$(program_parts "$src")
        # shellcheck disable=SC2046,SC2086
        check "$(basename "$src")" timeout 300 "$CC" --gpu-arch=sm_75,sm_80,sm_90,sm_100 -O2 $(program_flags "$src") ${parts:--c} "$src" -o "$T/a.o" -lm
    done
}
