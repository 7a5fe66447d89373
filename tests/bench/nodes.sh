#!/bin/sh
# nodes.sh - a region, and a copy, on the device of another rank (tests/bench/nodes.c): time, CPU time, messages and bytes, beside a round trip of MPI
# and the same on a device of this process.  What a remote empty region costs beyond these two is to be at most 5 us of CPU time, of both processes.
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
cc=${OMPGPU_CC:-bin/ompgpu-cc}
OMPGPU_DEVICE=emu OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPGPU_DEVICE OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
"$cc" -O2 --gpu-arch=emu tests/bench/nodes.c -o "$T/nodes" || exit 1
cp bin/ompgpu-worker "$T/" || exit 1
LD_LIBRARY_PATH=$(pwd)/lib; export LD_LIBRARY_PATH
# job MPI ARG…: "fastest mean CPU messages bytes", sent
job() {
    mpi=$1; shift
    OMPGPU_NODES=mpi OMPGPU_INFO=1 timeout 100 "mpirun.$mpi" -n 1 "$T/nodes" "$@" "$T/ompgpu-worker" : -n 1 "$T/ompgpu-worker" >"$T/out" 2>"$T/err" || exit 1
    echo "$(cat "$T/out") $(sed -n 's/.*other nodes: \([0-9]*\) messages with \([0-9]*\) bytes sent.*/\1 \2/p' "$T/err")"
}
# show NAME FASTEST MEAN CPU [MESSAGES BYTES]
show() { printf '  %s: %-18s %7.2f us, mean %7.2f us with CPU time of both of %7.2f us' "$mpi" "$@"; }
# What N more of it cost in messages: of two jobs.
each() {
    name=$1 n=$2; shift 2
    few=$(job "$@" 20) many=$(job "$@" $((20 + n)))
    # shellcheck disable=SC2046
    show "$name" $(echo "$many" | cut -d' ' -f1-3)
    echo "$few $many" | awk -v n="$n" '{ printf "; %.1f messages with %.0f bytes sent\n", ($9 - $4) / n, ($10 - $5) / n }'
}
echo "devices of other ranks: rank 0 and one worker on this machine, emulated device; the fastest of runs of 20"
here=$("$T/nodes" empty 20000 "") || exit 1
for mpi in openmpi mpich; do
    command -v "mpirun.$mpi" >/dev/null && [ -e "lib/libompgpu-$mpi.so" ] || { echo "  $mpi: not here"; continue; }
    "mpicc.$mpi" -O2 tests/bench/ping.c -o "$T/ping" && ping=$("mpirun.$mpi" -n 2 "$T/ping") || exit 1
    # shellcheck disable=SC2086
    show "round trip of MPI" $ping; echo
    region=$(each "empty region" 20000 "$mpi" empty)
    echo "$region"
    # Two processes that poll use twice the time it takes of CPU time, where there are two processors for them.
    echo "$(echo "$region" | sed 's/.*region *\([0-9.]*\) .*/\1/') ${ping%% *} ${here%% *}" |
        awk -v mpi="$mpi" '{ own = 2 * ($1 - $2 - $3); printf "  %s: … CPU time of both beyond that, and beyond the region with %.2f us: %.2f us, %s\n", mpi, $3, own, own <= 5 ? "within 5" : "MORE THAN 5" }'
    each "update to, 4 KiB" 2000 "$mpi" copy 4096
    each "update to, 1 MiB" 2000 "$mpi" copy 1048576
done
