/* ping.c - one round trip of MPI with messages as large as those of a region: as nodes.c. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>
static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}
int main(int argc, char **argv)
{
    enum { RUN = 20, N = 20000, OUT = 224, BACK = 64 };
    char bytes[OUT] = { 0 };
    int rank;
    double fastest = 1e9, begin = 0, used = 0, both = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = -RUN; k < N; k += RUN) {
        double start = 1e6 * MPI_Wtime();
        if (!k) begin = start, used = cpu_now();
        for (int i = 0; i < RUN; i++) {
            if (rank == 0) MPI_Send(bytes, OUT, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(bytes, rank ? OUT : BACK, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1) MPI_Send(bytes, BACK, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        double time = 1e6 * MPI_Wtime() - start;
        if (time < fastest) fastest = time;
    }
    double time = 1e6 * MPI_Wtime() - begin;
    used = cpu_now() - used;
    MPI_Reduce(&used, &both, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.2f %.2f %.2f\n", fastest / RUN, time / N, both / N);
    MPI_Finalize();
    return 0;
}
