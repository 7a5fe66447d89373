# lib.sh - sourced by every tests/*/*.t: `. tests/lib.sh` (prove starts tests in the root of the tree).
#
# A test is a POSIX shell script that prints TAP.  It runs in a scratch directory of its own ($T, the current directory), which is
# removed at the end and kept when something failed.  Set here:
#   $ROOT  the tree            $CC    bin/ompgpu-cc (or $OMPGPU_CC)        $CLANG  clang-22
#   $ARCH  the --gpu-arch= flag for programs that the test runs: emu, or native where there is a GPU (or $OMPGPU_TEST_ARCH)
#   $SAMPLES, $OBJ
# Functions:
#   ok NAME | not_ok NAME | skip NAME REASON | skip_all REASON | todo NAME REASON COMMAND…
#   check NAME COMMAND…          ok when the command exits with 0; its output is shown when it does not
#   test_must_fail [CODE] COMMAND…   succeeds when the command fails in an orderly way: not by a signal, not "not found";
#                                with CODE, with exactly that exit code.  Use it under check.
#   same FILE FILE               diff -u
#   has FILE PATTERN… / lacks FILE PATTERN…   every / no basic regular expression occurs in the file, which is not empty
#   silent FILE PATTERN…         as lacks, of messages: the file may be empty
#   compile_run NAME FILE.c [FLAGS…]   compiles with $CC $ARCH -O2, runs it, wants exit 0
#   have_gpu, have_ptxas         conditions
#   finish                       last line of each test: the plan
# shellcheck shell=sh disable=SC2034
ROOT=$(pwd)
if [ ! -e "$ROOT/tests/lib.sh" ]; then echo "Bail out! start tests in the root of the tree"; exit 1; fi
CC=${OMPGPU_CC:-$ROOT/bin/ompgpu-cc}
OBJ=${OMPGPU_OBJ:-$ROOT/obj}
CLANG=${OMPGPU_CLANG:-clang-22}
SAMPLES=$ROOT/samples
LC_ALL=C; export LC_ALL
# The user's environment must not change what is tested.
unset OMPGPU_DEVICE OMPGPU_INFO OMP_TARGET_OFFLOAD OMP_DEFAULT_DEVICE OMP_NUM_THREADS CPATH C_INCLUDE_PATH CUDA_PATH CUDA_HOME

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
        not_ok "$tap_name"; echo "# exit code $tap_rc of: $*"; show "$T/.log"
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
compile_run() {
    tap_name=$1 tap_src=$2; shift 2
    # shellcheck disable=SC2086
    check "$tap_name: compiles" "$CC" $ARCH -O2 "$@" "$tap_src" -o "$T/prog" && check "$tap_name: runs" "$T/prog"
}
have_gpu() { [ -e /dev/nvidia0 ] && [ -e /dev/nvidiactl ]; }
have_ptxas() { command -v ptxas >/dev/null 2>&1 || [ -x /usr/local/cuda/bin/ptxas ] || [ -x /usr/lib/nvidia-cuda-toolkit/bin/ptxas ]; }
if [ -n "${OMPGPU_TEST_ARCH:-}" ]; then ARCH=--gpu-arch=$OMPGPU_TEST_ARCH
elif have_gpu; then ARCH=--gpu-arch=native
else ARCH=--gpu-arch=emu
fi
finish() { echo "1..$tap_n"; [ "$tap_failed" = 0 ]; exit $?; }
