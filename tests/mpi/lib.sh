# lib.sh - sourced by the tests of devices of other nodes, after tests/lib.sh: 1 + 3 ranks on this machine.
#
#   $MPIS                            those of openmpi and mpich for which there are launcher and library
#   ranks MPI N PROGRAM ARG…         PROGRAM as rank 0 of MPI and N workers, in a limited time; output in ./out, errors in ./err
#   flags MPI                        what mpicc adds, for our compiler
#   no_worker_left                   none of this test's is left behind, or comes to its end within some seconds
# shellcheck shell=sh disable=SC2086
TREE=$(dirname "$(dirname "$CC")")
MPIS=
for mpi_name in openmpi mpich; do
    if command -v "mpirun.$mpi_name" >/dev/null && [ -e "$TREE/lib/libompgpu-$mpi_name.so" ]; then MPIS="$MPIS $mpi_name"; fi
done
[ -n "$MPIS" ] || skip_all "neither Open MPI nor MPICH is here (mpirun.openmpi, mpirun.mpich, and their -dev packages when it was built)"
# MPI's own libraries leak; UCX writes hooks into functions that the sanitizer has replaced.
[ -z "${OMPGPU_SANITIZE:-}" ] || export ASAN_OPTIONS=detect_leaks=0 UCX_MEM_MMAP_HOOK_MODE=none UCX_MEM_EVENTS=no
# A worker of this test alone, so that it can be found.
cp "$TREE/bin/ompgpu-worker" "$T/" || exit 1
WORKER=$T/ompgpu-worker
LD_LIBRARY_PATH=$TREE/lib OMPGPU_NODES=mpi OMPGPU_DEVICE=emu OMPGPU_EMU_THREADS=1
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader HWLOC_COMPONENTS=-gl
export LD_LIBRARY_PATH OMPGPU_NODES OMPGPU_DEVICE OMPGPU_EMU_THREADS OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_btl HWLOC_COMPONENTS
flags() { case $1 in openmpi) mpicc.openmpi --showme ;; *) mpicc.mpich -show ;; esac | cut -d' ' -f2-; }
ranks() {
    mpi=$1 n=$2; shift 2
    case $mpi in
    openmpi) timeout -k 5 $((400 * SLOWER)) mpirun.openmpi --quiet ${RECOVERY:+--enable-recovery} -n 1 "$@" : -n "$n" "$WORKER" >out 2>err ;;
    *) timeout -k 5 $((400 * SLOWER)) mpirun.mpich ${RECOVERY:+-disable-auto-cleanup} -n 1 "$@" : -n "$n" "$WORKER" >out 2>err ;;
    esac
}
no_worker_left() {
    for second in 1 2 3 4 5 6 7 8 9 10; do
        pgrep -f "^$WORKER" >left || return 0
        sleep 1
    done
    echo "left behind after $second seconds:"; cat left; return 1
}
