#!/bin/sh
# The samples of several nodes: one that uses MPI itself, each rank with its own device; work spread over devices of other ranks.
. tests/lib.sh
. "$ROOT/tests/mpi/lib.sh"
unset OMPGPU_NODES
hybrid() {
    case $1 in openmpi) set -- mpirun.openmpi --quiet ;; *) set -- mpirun.mpich ;; esac
    OMPGPU_RANK_DEVICE=auto timeout -k 5 100 "$@" -n 4 ./jacobi 100 20 >out 2>err; cat out err
    has out "^jacobi: 2 x 2 processes, .*: OK"
}
check "spread compiles" "$CC" -O2 $ARCH "$SAMPLES/spread.c" -o spread -lm
for mpi in $MPIS; do
    # shellcheck disable=SC2046
    check "$mpi: jacobi compiles" "$CC" -O2 -Wall -Werror $ARCH "$SAMPLES/mpi/jacobi.c" $(flags "$mpi") -lm -o jacobi && check "$mpi: jacobi" hybrid "$mpi"
    # shellcheck disable=SC2046
    check "$mpi: jacobi with device pointers for MPI" "$CC" -O2 -Wall -Werror -DCUDA_AWARE $ARCH -c "$SAMPLES/mpi/jacobi.c" $(flags "$mpi") -o aware.o
    OMPGPU_NODES=mpi OMPGPU_PROFILE=1; export OMPGPU_NODES OMPGPU_PROFILE
    check "$mpi: spread over other ranks" ranks "$mpi" 3 ./spread
    unset OMPGPU_NODES OMPGPU_PROFILE
    check "$mpi: … is right" has out 'OK$'
    # A row to each neighbour in each of ten steps, as by hand; 1040 bytes each.
    check "$mpi: … and its halos go between devices" [ "$(grep -c "  30 .* 30[.]5 KiB .*between devices" err)" = 2 ]
done
finish
