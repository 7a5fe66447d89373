#!/bin/sh
# nodes.sh - a region, and a copy, on the device of another rank (tests/bench/nodes.c): time beside a round trip of MPI, messages and bytes.
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
ROOT=$(pwd)
cc=${OMPGPU_CC:-bin/ompgpu-cc}
OMPGPU_DEVICE=emu OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPGPU_DEVICE OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
"$cc" -O2 --gpu-arch=emu tests/bench/nodes.c -o "$T/nodes" || exit 1
# job MPI ARG…: "microseconds CPU-microseconds messages bytes", sent
job() {
    mpi=$1; shift
    OMPGPU_NODES=mpi OMPGPU_INFO=1 timeout 100 "mpirun.$mpi" -n 1 "$T/nodes" "$@" : -n 1 "$ROOT/bin/ompgpu-worker" >"$T/out" 2>"$T/err" || exit 1
    echo "$(cat "$T/out") $(sed -n 's/.*other nodes: \([0-9]*\) messages with \([0-9]*\) bytes sent.*/\1 \2/p' "$T/err")"
}
# What N more of it cost: of two jobs.
each() {
    few=$(job "$@" 20) many=$(job "$@" 2020)
    echo "$few $many" | awk '{ printf "%6.1f us, %5.1f us CPU of rank 0, %.1f messages with %.0f bytes sent\n", $5, $6, ($7 - $3) / 2000, ($8 - $4) / 2000 }'
}
echo "devices of other ranks: rank 0 and one worker on this machine, emulated device"
for mpi in openmpi mpich; do
    command -v "mpirun.$mpi" >/dev/null && [ -e "lib/libompgpu-$mpi.so" ] || { echo "  $mpi: not here"; continue; }
    "mpicc.$mpi" -O2 tests/bench/ping.c -o "$T/ping" && echo "  $mpi: round trip of MPI     $("mpirun.$mpi" -n 2 "$T/ping") us"
    echo "  $mpi: empty region          $(each "$mpi" empty)"
    echo "  $mpi: update to, 4 KiB      $(each "$mpi" copy 4096)"
    echo "  $mpi: update to, 1 MiB      $(each "$mpi" copy 1048576)"
done
