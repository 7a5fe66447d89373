# lib.sh - sourced first by every test: `. tests/lib.sh`.  How tests are written and run: tests/README.md.
#
# A test is a POSIX shell script that prints TAP.  It starts in the root of the tree and continues in a scratch directory of its own ($T), which
# is removed at the end and kept when something failed.  Set here:
#   $ROOT     the tree               $CC       bin/ompgpu-cc (or $OMPGPU_CC)      $CLANG    clang-22 (or $OMPGPU_CLANG)
#   $SAMPLES  samples/               $OBJ      obj/ (or $OMPGPU_OBJ)
#   $ARCH     --gpu-arch= for programs that the test runs: emu, or native where there is a GPU, or $OMPGPU_TEST_ARCH
#   $GPUS     the GPU generations for which ptxas is to assemble programs, as in --gpu-arch=; empty without ptxas
#   $MACHINE  the generation for which programs are compiled in the long form, to run on the PTX machine; empty in the short one
#   $SLOWER   how many times slower than usual programs may be: 1, with sanitizers 10
#
# Results
#   ok NAME | not_ok NAME | skip NAME REASON | skip_all REASON | todo NAME REASON COMMAND…
#   check NAME COMMAND…              ok when the command exits with 0; its output is shown when it does not, and is in .log
#   finish                           last line of each test: the plan
# Commands for `check`
#   test_must_fail [CODE] COMMAND…   succeeds when the command fails in an orderly way: not by a signal, not "not found"; with CODE, by that exit code
#   same FILE FILE                   diff -u
#   has FILE PATTERN…                every basic regular expression occurs in the file
#   lacks FILE PATTERN…              none does, and the file is not empty
#   silent FILE PATTERN…             none does; for messages: the file may be empty
#   mentions TEXT WORDS              each of the words, which are separated by | and taken literally, occurs in the text
#   error_at FILE PLACE WORDS        the first error in the file is at PLACE (file:line:column), is said once, and mentions the words
#   in_time COMMAND…                 ends what hangs; the limit is far above what a slow machine needs
#   on_device COMMAND…               runs a program so that no region may fall back to the host; on the emulated device if that is what $ARCH names
# Programs (tests/run/program.sh shows how to use them)
#   program FILE.c [FLAGS…]          the file to compile, and flags for all of its forms; sets $src and $name
#   compile GPUS FLAGS…              ./prog from it for $ARCH and GPUS (may be empty); there must be no message but remarks, which are in ./remarks,
#                                    and what the program announces
#   run_ways [FILE]                  runs ./prog, on the emulated device under four schedules; FILE: the output wanted
#   form GPUS FLAGS…                 compile, run_ways and, where there is code for GPUS (in the long form always), on_machine
#   on_machine COMMAND…              runs a program on the PTX machine; in the long form under several schedules
#   compile_run NAME FILE.c [FLAGS…] compiles it with -O2 and runs it once
# Conditions: have_gpu, have_ptxas, have_libdevice
# shellcheck shell=sh disable=SC2034
ROOT=$(pwd)
if [ ! -e "$ROOT/tests/lib.sh" ]; then echo "Bail out! start tests in the root of the tree"; exit 1; fi
CC=${OMPGPU_CC:-$ROOT/bin/ompgpu-cc}
OBJ=${OMPGPU_OBJ:-$ROOT/obj}
CLANG=${OMPGPU_CLANG:-clang-22}
SAMPLES=$ROOT/samples
LC_ALL=C; export LC_ALL
# The user's environment must not change what is tested.
unset OMPGPU_CACHE OMPGPU_INFO OMPGPU_CHECK OMPGPU_ON_ERROR OMPGPU_INFO_FILE OMPGPU_HANG_SECONDS OMPGPU_PROFILE OMPGPU_PTX_PROFILE OMPGPU_PTX_SCHEDULE OMPGPU_PTX_MEMORY OMP_TARGET_OFFLOAD OMP_DEFAULT_DEVICE OMP_NUM_THREADS CPATH C_INCLUDE_PATH CUDA_PATH CUDA_HOME

tap_n=0
tap_failed=0
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-test-XXXXXX") || exit 1
cd "$T" || exit 1
tap_cleanup() {
    cd /
    if [ "$tap_failed" = 0 ]; then rm -rf "$T"; else echo "# kept: $T"; fi
}
trap tap_cleanup EXIT
trap 'exit 130' INT TERM HUP

ok() { tap_n=$((tap_n + 1)); echo "ok $tap_n - $*"; }
not_ok() { tap_n=$((tap_n + 1)); tap_failed=$((tap_failed + 1)); echo "not ok $tap_n - $*"; }
skip() { tap_n=$((tap_n + 1)); echo "ok $tap_n # SKIP $1: $2"; }
skip_all() { echo "1..0 # SKIP $*"; exit 0; }
show() { sed -e 's/^/#   /' -e 60q "$1"; }
check() {
    tap_name=$1; shift
    if "$@" >"$T/.log" 2>&1; then ok "$tap_name"
    else
        tap_rc=$?
        not_ok "$tap_name"
        { echo "# not ok $tap_n - $tap_name: exit code $tap_rc of: $*"; show "$T/.log"; } >&2 # prove shows no other
        return 1
    fi
}
todo() {
    tap_name=$1 tap_reason=$2; shift 2
    tap_n=$((tap_n + 1))
    if "$@" >"$T/.log" 2>&1; then echo "ok $tap_n - $tap_name # TODO $tap_reason"; else echo "not ok $tap_n - $tap_name # TODO $tap_reason"; fi
}
test_must_fail() {
    tap_want=any
    case $1 in [0-9]*) tap_want=$1; shift ;; esac
    "$@"; tap_rc=$?
    if [ "$tap_rc" = 0 ]; then echo "succeeded, but should fail: $*"; return 1; fi
    if [ "$tap_rc" -ge 126 ]; then echo "crashed or not found ($tap_rc): $*"; return 1; fi
    if [ "$tap_want" != any ] && [ "$tap_rc" != "$tap_want" ]; then echo "exit code $tap_rc, not $tap_want: $*"; return 1; fi
    return 0
}
same() { diff -u "$1" "$2"; }
has() {
    tap_file=$1; shift
    for tap_p do grep -q -e "$tap_p" "$tap_file" || { echo "no '$tap_p' in $tap_file:"; sed 60q "$tap_file"; return 1; }; done
}
lacks() {
    if [ ! -s "$1" ]; then echo "$1 is missing or empty: it lacks everything"; return 1; fi
    silent "$@"
}
silent() {
    tap_file=$1; shift
    if [ ! -e "$tap_file" ]; then echo "no $tap_file"; return 1; fi
    for tap_p do if grep -e "$tap_p" "$tap_file"; then echo "'$tap_p' is in $tap_file"; return 1; fi; done
}
mentions() {
    tap_text=$1
    IFS='|'; set -f
    # shellcheck disable=SC2086
    set -- $2
    unset IFS; set +f
    for tap_p do case $tap_text in *"$tap_p"*) ;; *) echo "no '$tap_p' in: $tap_text"; return 1 ;; esac; done
}
error_at() {
    tap_text=$(grep -m1 'error: ' "$1") tap_place=$2
    case $tap_text in
    "$tap_place: error: "* | "$tap_place: fatal error: "*) ;;
    *) echo "the first error is not at $tap_place:"; cat "$1"; return 1 ;;
    esac
    if [ "$(grep -c -F -x -e "$tap_text" "$1")" != 1 ]; then echo "it is said more than once:"; cat "$1"; return 1; fi
    mentions "$tap_text" "$3"
}
have_gpu() { [ -e /dev/nvidia0 ] && [ -e /dev/nvidiactl ]; }
have_ptxas() { command -v ptxas >/dev/null 2>&1 || [ -x /usr/local/cuda/bin/ptxas ] || [ -x /usr/lib/nvidia-cuda-toolkit/bin/ptxas ]; }
# libdevice, where the toolkit is that the driver finds
have_libdevice() { "$CC" --doctor 2>/dev/null | grep -q "^ok .*libdevice"; }

# ------------------------------------------------------------------ where programs run
if [ -n "${OMPGPU_TEST_ARCH:-}" ]; then ARCH=--gpu-arch=$OMPGPU_TEST_ARCH
elif have_gpu; then ARCH=--gpu-arch=native
else ARCH=--gpu-arch=emu
fi
# The PTX of a program has two forms: without and with what sm_80 brought (redux.sync).  The oldest and the newest generation have one each; those
# between assemble the same text and are left to the long form.  In the short one `program` takes both for a program that says `gpus: all` and one of
# them, by the length of its name, for the others.
if ! have_ptxas || [ "${OMPGPU_SANITIZE:-}" = thread ]; then GPUS= # the PTX machine lets device code race
elif [ -n "${OMPGPU_LONG:-}" ]; then GPUS=sm_75,sm_80,sm_90,sm_100
else GPUS=sm_75,sm_100
fi
# The emulated device must be asked for, or its use is announced.
unset OMPGPU_DEVICE
case $ARCH in *emu*) OMPGPU_DEVICE=emu; export OMPGPU_DEVICE ;; esac
MACHINE=
[ -z "$GPUS" ] || [ -z "${OMPGPU_LONG:-}" ] || MACHINE=sm_75
SLOWER=1
[ -z "${OMPGPU_SANITIZE:-}" ] || SLOWER=10

in_time() { timeout 900 "$@"; }
on_device() { OMP_TARGET_OFFLOAD=MANDATORY "$@"; }

# ------------------------------------------------------------------ programs
# program_says KEY: what follows `KEY:` in a comment in the first three lines of $src
program_says() { sed -n "1,3s|.*[*; ] $1: \([^*]*\) \*/.*|\1|p" "$src"; }
program() {
    src=$(cd "$ROOT" && realpath "$1") name=$(basename "$1" .c)
    shift
    program_flags="$* $(program_says flags)" program_parts=
    [ "${OMPGPU_SANITIZE:-}" != thread ] || program_flags="$program_flags -fno-ompgpu-check" # whose addresses are TSan's
    for tap_p in $(program_says with); do program_parts="$program_parts $(dirname "$src")/$tap_p"; done
    [ -n "$GPUS" ] || skip "$name: ptxas" "not installed"
    case $GPUS:$(program_says gpus) in
    sm_75,sm_100:all) ;;
    sm_75,sm_100:*) GPUS=sm_75; [ $((${#name} % 2)) = 0 ] || GPUS=sm_100 ;;
    esac
}
says_nothing_else() {
    in_time "$@" >remarks 2>&1 || { tap_rc=$?; cat remarks; return $tap_rc; }
    tap_says=$(program_says says)
    awk '/ remark: / { of = 1; next } !/^ / { of = 0 } !of' remarks >others
    if grep -v -e '^$' ${tap_says:+-e "$tap_says"} others; then echo "is what the compiler says"; return 1; fi
}
compile() {
    tap_gpus=$1; shift
    # shellcheck disable=SC2086
    check "$name $*: compiles${tap_gpus:+ also for $tap_gpus}" says_nothing_else "$CC" $ARCH${tap_gpus:+,$tap_gpus} "$@" $program_flags "$src" $program_parts -o prog -lm
}
run_once() {
    on_device in_time ./prog >out 2>&1 || { tap_rc=$?; echo "exit code $tap_rc:"; sed 30q out; return 1; }
    if [ -e "${1:-none}" ]; then diff -u "$1" out || return 1; fi
    if grep 'runtime error:' out; then return 1; fi
}
run_ways() {
    run_once "$@" || return 1
    case $ARCH in *emu*) ;; *) return ;; esac
    for tap_seed in 1 2 3; do
        OMPGPU_EMU_SCHEDULE=random:$tap_seed; export OMPGPU_EMU_SCHEDULE
        run_once "$@" || { echo "with OMPGPU_EMU_SCHEDULE=random:$tap_seed"; unset OMPGPU_EMU_SCHEDULE; return 1; }
    done
    unset OMPGPU_EMU_SCHEDULE
}
form() {
    tap_machine=${1:-$MACHINE}; shift
    compile "$tap_machine" "$@" || return
    check "$name $*: runs" run_ways "${src%.c}.out"
    [ -z "$tap_machine" ] || check "$name $*: runs on the PTX machine" on_machine run_once "${src%.c}.out"
}
# Where the PTX is executed.  The long form has the race check, too, which the short one has for a program that says `race: checked`, random schedules,
# and stores that others see late; and the machine as a driver whose device is taken for a GPU, for which the runtime copies and waits in other ways.
on_machine() {
    OMPGPU_DEVICE=ptx "$@" || return 1
    [ -z "$MACHINE$(program_says race)" ] || OMPGPU_DEVICE=ptx OMPGPU_CHECK=race "$@" || { echo "with OMPGPU_CHECK=race"; return 1; }
    [ -n "$MACHINE" ] || return 0
    for tap_seed in 1 2 3 4; do
        OMPGPU_DEVICE=ptx OMPGPU_PTX_SCHEDULE=$tap_seed "$@" || { echo "with OMPGPU_PTX_SCHEDULE=$tap_seed"; return 1; }
    done
    for tap_seed in 5 6; do
        OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER=${CC%/bin/*}/lib/libompgpu-ptx.so OMPGPU_PTX_SCHEDULE=$tap_seed "$@" ||
            { echo "with OMPGPU_DEVICE=cuda, the PTX machine as its driver, OMPGPU_PTX_SCHEDULE=$tap_seed"; return 1; }
    done
    OMPGPU_DEVICE=ptx OMPGPU_PTX_SCHEDULE=5 OMPGPU_PTX_MEMORY=weak "$@" || { echo "with OMPGPU_PTX_SCHEDULE=5 OMPGPU_PTX_MEMORY=weak"; return 1; }
}
compile_run() {
    tap_name=$1 tap_src=$2; shift 2
    # shellcheck disable=SC2086
    check "$tap_name: compiles" "$CC" $ARCH -O2 "$@" "$tap_src" -o "$T/prog" && check "$tap_name: runs" "$T/prog"
}
finish() { echo "1..$tap_n"; [ "$tap_failed" = 0 ]; exit $?; }
