/* ping.c - one round trip of MPI with messages as large as those of a region: microseconds of the fastest of many runs. */
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    enum { RUN = 20, OUT = 350, BACK = 72 };
    char bytes[OUT] = { 0 };
    int rank;
    double best = 1e9;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 500; k++) {
        double start = MPI_Wtime();
        for (int i = 0; i < RUN; i++) {
            if (rank == 0) MPI_Send(bytes, OUT, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(bytes, rank ? OUT : BACK, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1) MPI_Send(bytes, BACK, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        double time = MPI_Wtime() - start;
        if (time < best) best = time;
    }
    if (rank == 0) printf("%.2f\n", 1e6 * best / RUN);
    MPI_Finalize();
    return 0;
}
