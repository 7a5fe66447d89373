#!/bin/sh
# Workers that die or hang, messages that no process of ours sends, programs that use MPI themselves, a library that is not there.
# shellcheck disable=SC2034
. tests/lib.sh
. "$ROOT/tests/mpi/lib.sh"
OMPGPU_NODES_TIMEOUT=3; export OMPGPU_NODES_TIMEOUT
cat >lost.c <<'C'
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* lost SIGNAL WORKER: the last worker gets it between two regions */
int main(int argc, char **argv)
{
    int n = omp_get_num_devices(), a[100], b[100], pid = 0;
    char command[5000];
    (void)argc;
    for (int i = 0; i < 100; i++) a[i] = b[i] = i;
    for (int d = 1; d < n; d++) {
#pragma omp target teams distribute parallel for map(tofrom: a) device(d)
        for (int i = 0; i < 100; i++) a[i] += 1;
    }
    snprintf(command, sizeof command, "pgrep -n -f '^%s'", argv[2]);
    FILE *f = popen(command, "r");
    if (!f || fscanf(f, "%d", &pid) != 1 || kill(pid, atoi(argv[1]))) return 9;
    pclose(f);
    for (int d = 1; d < n; d++) {
#pragma omp target teams distribute parallel for map(tofrom: b) device(d)
        for (int i = 0; i < 100; i++) b[i] += 1;
    }
    for (int i = 0; i < 100; i++) if (a[i] != i + n - 1 || b[i] != i + n - 1) return 7;
    puts("all there");
    return 0;
}
C
lost() { OMPGPU_ON_FAILURE=$2; export OMPGPU_ON_FAILURE; ranks "$1" 3 ./lost "$3" "$WORKER"; cat err; unset OMPGPU_ON_FAILURE; }
stops() { lost "$1" stop "$2"; mentions "$(cat err)" "lost.c:22: error: region main_22|rank 3 on node $(uname -n) is lost" && lacks err "all there"; }
goes_on() { lost "$1" host "$2"; mentions "$(cat err)" "lost.c:22: warning: region main_22: runs on the host|rank 3" && has out "all there"; }
check "compiles" "$CC" -O2 $ARCH lost.c -o lost
for mpi in $MPIS; do
    # A launcher ends the job when a process dies; Open MPI's can be told not to.
    RECOVERY=
    check "$mpi: a stopped worker is said" stops "$mpi" 19
    check "$mpi: … none is left" no_worker_left
    check "$mpi: … and the host takes its regions" goes_on "$mpi" 19
    check "$mpi: … none is left" no_worker_left
    [ "$mpi" = openmpi ] || continue
    RECOVERY=1
    check "$mpi: a killed worker is said" stops "$mpi" 9
    check "$mpi: … and the host takes its regions" goes_on "$mpi" 9
    check "$mpi: … none is left" no_worker_left
    RECOVERY=
done

# A region that was quick before and now is not: its worker does it with the thread that receives, until another one does that.
cat >long.c <<'C'
#include <omp.h>
#include <stdio.h>
static void busy(double seconds)
{
#pragma omp target device(1)
    for (double end = omp_get_wtime() + seconds; seconds > 0 && omp_get_wtime() < end;) ;
}
int main(void)
{
    busy(0), busy(0), busy(2.5);
    puts("all there");
    return 0;
}
C
long() { OMPGPU_NODES_TIMEOUT=2 ranks "$1" 1 ./long || { cat err; return 1; }; has out "all there"; }
check "compiles" "$CC" -O2 $ARCH long.c -o long
check "a worker answers while it is busy" long ${MPIS##* }

# Rank 0 is stopped, by a debugger or a shell, and what comes from the worker meanwhile is read afterwards.
cat >stopped.c <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    char command[100];
    double seconds = 2;
#pragma omp target device(1)
    ;
    snprintf(command, sizeof command, "(sleep 1; kill -STOP %d; sleep 3; kill -CONT %d) &", getpid(), getpid());
    if (system(command)) return 9;
#pragma omp target device(1) map(to: seconds)
    for (double end = omp_get_wtime() + seconds; omp_get_wtime() < end;) ;
    puts("all there");
    return 0;
}
C
stopped() { OMPGPU_NODES_TIMEOUT=2 ranks "$1" 1 ./stopped || { cat err; return 1; }; has out "all there"; }
check "compiles" "$CC" -O2 $ARCH stopped.c -o stopped
check "a worker is not lost while rank 0 is stopped" stopped ${MPIS##* }

# Mistakes are found at the rank where they are made, also where it has not been told to look for them.
cat >mistake.c <<'C'
int main(void)
{
    int a[100], s = 0;
    for (int i = 0; i < 100; i++) a[i] = i;
#pragma omp target teams distribute parallel for map(to: a[0:50]) map(tofrom: s) device(1)
    for (int i = 0; i < 60; i++) a[i] = a[i] + 1;
    return s;
}
C
mistake() { ranks "$1" 1 ./mistake && return 1; cat err; has err 'mistake.c:6:[0-9]*: error: region main_5: read of 4 bytes.*longer section in map'; }
check "a mistake compiles" "$CC" -O2 -g -w -fompgpu-check $ARCH mistake.c -o mistake
for mpi in $MPIS; do check "$mpi: a mistake is found, and the exit code says so" mistake "$mpi"; done

# A program that uses MPI: two ranks of its own, two workers.
cat >own.c <<'C'
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int given, rank, size, sum = 0, total = 0;
    MPI_Comm mine;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &mine);
    MPI_Comm_size(mine, &size);
    int n = omp_get_num_devices();
    for (int d = 0; d < n; d++) {
#pragma omp target map(tofrom: sum) device(d)
        sum += 1 + d;
    }
    MPI_Reduce(&sum, &total, 1, MPI_INT, MPI_SUM, 0, mine);
    if (!rank) printf("%d ranks, %d devices, %d\n", size, n, total);
    MPI_Finalize();
    return 0;
}
C
# What comes to a worker from a process that is not the runtime.
cat >stranger.c <<'C'
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/mpi/messages.h"
int main(int argc, char **argv)
{
    int worker, ranks[2] = { 0 }, size = 0;
    MPI_Comm mine, comm;
    MPI_Group all, these;
    MPI_Status status;
    char *answer;
    struct mpi_header h = { .magic = MPI_MAGIC };
    MPI_Init(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &mine);
    MPI_Recv(&worker, 1, MPI_INT, MPI_ANY_SOURCE, 0x4F4D, MPI_COMM_WORLD, &status);
    ranks[1] = worker;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, ranks, &these);
    MPI_Comm_create_group(MPI_COMM_WORLD, these, 0x4F4E, &comm);
    int bytes = (int)sizeof h;
    switch (atoi(argv[1])) {
    case 0: bytes = 5; break;
    case 1: h.kind = 4711; break;
    case 2: h.kind = MPI_SYNC, h.size = 100; break;
    case 3: h.kind = MPI_SYNC, h.device = 1000; break;
    case 4: h.kind = MPI_GET, h.b = 1ull << 60; break;
    case 5: h.magic = 1, h.kind = MPI_SYNC; break;
    }
    MPI_Send(&h, bytes, MPI_BYTE, 1, 0x4F4D, comm);
    for (h.kind = 0; h.kind != MPI_BYE; free(answer)) {
        MPI_Probe(1, 0x4F4D, comm, &status);
        MPI_Get_count(&status, MPI_BYTE, &size);
        answer = malloc((size_t)size);
        MPI_Recv(answer, size, MPI_BYTE, 1, 0x4F4D, comm, &status);
        memcpy(&h, answer, sizeof h);
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
C
own() {
    case $1 in openmpi) set -- mpirun.openmpi --quiet ;; *) set -- mpirun.mpich ;; esac
    timeout -k 5 100 "$@" -n 2 ./own : -n 2 "$WORKER" >out 2>err || return; cat out err; has out "^2 ranks, 3 devices, 7"
}
for mpi in $MPIS; do
    # shellcheck disable=SC2046
    check "$mpi: a program with MPI compiles" "$CC" -O2 $ARCH own.c $(flags "$mpi") -o own && check "$mpi: … and keeps its ranks" own "$mpi"
    # shellcheck disable=SC2046
    check "$mpi: a stranger" "$CLANG" -I"$ROOT" stranger.c $(flags "$mpi") -o stranger || continue
    unset OMPGPU_NODES
    for k in 0 1 2 3 4 5; do
        check "$mpi: message $k ends the worker" ranks "$mpi" 1 ./stranger $k
        check "$mpi: … with a reason" mentions "$(cat err)" "error: rank 1 ends: |message"
    done
    OMPGPU_NODES=mpi; export OMPGPU_NODES
    check "$mpi: none is left" no_worker_left
done
mkdir alone && cp "$TREE"/lib/libompgpu.so.* alone/
# With sanitizers dlopen is called by the program's own copy of them, and finds it by the program's path.
[ -n "${OMPGPU_SANITIZE:-}" ] || check "without the library" sh -c 'LD_LIBRARY_PATH=$PWD/alone ./lost 0 x 2>err; grep -q "warning: no devices of other nodes: OMPGPU_NODES=mpi: libompgpu-mpi.so.*cannot open" err'
# As under a launcher that sets none of the variables of Open MPI and MPICH.
case $MPIS in *openmpi*) check "with the library that is the installation's" sh -c 'mkdir own-mpi && cp "$0"/libompgpu.so.* own-mpi/ && cp "$0/libompgpu-openmpi.so" own-mpi/libompgpu-mpi.so
    LD_LIBRARY_PATH=$PWD/own-mpi timeout 60 ./lost 0 x 2>err; grep -q "the MPI job has no worker" err' "$TREE/lib" ;; esac
check "a worker that nobody has started" sh -c 'timeout 60 "$0" 2>err; grep -q "error: " err' "$WORKER"
finish
