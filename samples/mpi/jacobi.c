/* jacobi.c - a hybrid program: MPI between the processes, OpenMP for each one's GPU.
 *
 *     OMPGPU_RANK_DEVICE=auto mpirun -n 4 ./jacobi [size [iterations]]
 *
 * The grid is divided into blocks, 2 x 2 for four processes.  A block stays on its device; in each
 * iteration only its border goes to the neighbours.  With -DCUDA_AWARE MPI is given device pointers
 * (use_device_addr), which an MPI that was built for CUDA can send from and receive into; without,
 * borders go through the host (target update). */
#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct block {
    int rows, columns; /* with one more on each side, which the neighbours compute */
    int first_row, first_column;
    double *u, *next;
    double *out, *in; /* borders: up, down, left, right */
    int longest;      /* room for each */
    int neighbour[4];
};

/* Row or column number `at` of the block, as a border. */
#define CELL(b, side, at, i)                                                                       \
    ((side) < 2 ? (size_t)(at) * (size_t)((b).columns + 2) + (size_t)(i)                           \
                : (size_t)(i) * (size_t)((b).columns + 2) + (size_t)(at))

static double boundary(int row, int column, int n)
{
    return row == 0 ? 1 : column == 0 ? (double)row / (n + 1) : 0;
}

static int length(const struct block *b, int side) { return (side < 2 ? b->columns : b->rows) + 2; }
static int edge(const struct block *b, int side, int outside)
{
    static const int low[] = { 1, 0, 1, 0 };
    int last = side < 2 ? b->rows : b->columns;
    return low[side] ? 1 - outside : last + outside;
}

static void pack(const struct block *b, int side)
{
    struct block s = *b;
    int n = length(b, side), at = edge(b, side, 0);
    const double *u = b->u;
    double *out = b->out + side * b->longest;
#pragma omp target teams distribute parallel for map(to: u[0:0], out[0:0])
    for (int i = 0; i < n; i++)
        out[i] = u[CELL(s, side, at, i)];
}

static void unpack(const struct block *b, int side)
{
    struct block s = *b;
    int n = length(b, side), at = edge(b, side, 1);
    double *u = b->u;
    const double *in = b->in + side * b->longest;
#pragma omp target teams distribute parallel for map(to: u[0:0], in[0:0])
    for (int i = 1; i < n - 1; i++)
        u[CELL(s, side, at, i)] = in[i];
}

static void send_and_receive(double *out, double *in, const struct block *b, MPI_Comm comm)
{
    static const int opposite[] = { 1, 0, 3, 2 };
    MPI_Request requests[8];
    int n = 0;
    for (int side = 0; side < 4; side++) {
        if (b->neighbour[side] == MPI_PROC_NULL)
            continue;
        MPI_Irecv(in + side * b->longest, length(b, side), MPI_DOUBLE, b->neighbour[side],
                  opposite[side], comm, &requests[n++]);
        MPI_Isend(out + side * b->longest, length(b, side), MPI_DOUBLE, b->neighbour[side], side,
                  comm, &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void exchange(const struct block *b, MPI_Comm comm)
{
    double *out = b->out, *in = b->in;
    size_t size = 4 * (size_t)b->longest;
    for (int side = 0; side < 4; side++)
        if (b->neighbour[side] != MPI_PROC_NULL)
            pack(b, side);
#ifdef CUDA_AWARE
#pragma omp target data use_device_addr(out[0:size], in[0:size])
    send_and_receive(out, in, b, comm);
#else
#pragma omp target update from(out[0:size])
    send_and_receive(out, in, b, comm);
#pragma omp target update to(in[0:size])
#endif
    for (int side = 0; side < 4; side++)
        if (b->neighbour[side] != MPI_PROC_NULL)
            unpack(b, side);
}

static double sweep(const struct block *b)
{
    int rows = b->rows, columns = b->columns, width = columns + 2;
    const double *u = b->u;
    double *next = b->next, change = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(max: change)                \
    map(to: u[0:0], next[0:0])
    for (int i = 1; i <= rows; i++)
        for (int k = 1; k <= columns; k++) {
            const double *c = u + (size_t)i * (size_t)width + k;
            double v = 0.25 * (c[-width] + c[width] + c[-1] + c[1]);
            next[(size_t)i * (size_t)width + (size_t)k] = v;
            change = fmax(change, fabs(v - *c));
        }
    return change;
}

static void fill(struct block *b, int n)
{
    for (int i = 0; i < b->rows + 2; i++)
        for (int k = 0; k < b->columns + 2; k++) {
            size_t at = (size_t)i * (size_t)(b->columns + 2) + (size_t)k;
            b->u[at] = b->next[at] = boundary(b->first_row + i, b->first_column + k, n);
        }
}

static struct block make_block(int n, MPI_Comm comm)
{
    struct block b = { 0 };
    int dims[2], periods[2], at[2];
    MPI_Cart_get(comm, 2, dims, periods, at);
    b.first_row = n * at[0] / dims[0], b.rows = n * (at[0] + 1) / dims[0] - b.first_row;
    b.first_column = n * at[1] / dims[1], b.columns = n * (at[1] + 1) / dims[1] - b.first_column;
    MPI_Cart_shift(comm, 0, 1, &b.neighbour[0], &b.neighbour[1]);
    MPI_Cart_shift(comm, 1, 1, &b.neighbour[2], &b.neighbour[3]);
    size_t cells = (size_t)(b.rows + 2) * (size_t)(b.columns + 2);
    b.longest = (b.rows > b.columns ? b.rows : b.columns) + 2;
    b.u = malloc(cells * sizeof *b.u), b.next = malloc(cells * sizeof *b.u);
    b.out = calloc(4 * (size_t)b.longest, sizeof *b.out);
    b.in = calloc(4 * (size_t)b.longest, sizeof *b.in);
    if (!b.u || !b.next || !b.out || !b.in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fill(&b, n);
    return b;
}

/* The sum of all cells afterwards. */
static double solve(struct block *b, int iterations, MPI_Comm comm, double *change)
{
    size_t cells = (size_t)(b->rows + 2) * (size_t)(b->columns + 2), border = 4 * (size_t)b->longest;
    double *u = b->u, *next = b->next, *out = b->out, *in = b->in, sum = 0, all = 0;
#pragma omp target data map(tofrom: u[0:cells], next[0:cells]) map(alloc: out[0:border], in[0:border])
    for (int t = 0; t < iterations; t++) {
        double mine = 0;
        exchange(b, comm);
        mine = sweep(b);
        MPI_Allreduce(&mine, change, 1, MPI_DOUBLE, MPI_MAX, comm);
        double *other = b->u;
        b->u = b->next, b->next = other;
    }
    for (int i = 1; i <= b->rows; i++)
        for (int k = 1; k <= b->columns; k++)
            sum += b->u[(size_t)i * (size_t)(b->columns + 2) + (size_t)k];
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
    return all;
}

int main(int argc, char **argv)
{
    int size, rank, dims[2] = { 0, 0 }, none[2] = { 0, 0 };
    int n = argc > 1 ? atoi(argv[1]) : 256, iterations = argc > 2 ? atoi(argv[2]) : 50;
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, none, 0, &grid);
    MPI_Comm_rank(grid, &rank);

    struct block b = make_block(n, grid);
    double change = 0, sum = solve(&b, iterations, grid, &change), alone_change = 0, alone = 0;
    if (rank == 0) { /* the same in one process */
        int one[2] = { 1, 1 };
        MPI_Comm self;
        MPI_Cart_create(MPI_COMM_SELF, 2, one, none, 0, &self);
        struct block whole = make_block(n, self);
        alone = solve(&whole, iterations, self, &alone_change);
        free(whole.u), free(whole.next), free(whole.out), free(whole.in);
        MPI_Comm_free(&self);
        int right = change == alone_change && fabs(sum - alone) < 1e-9 * fabs(alone);
        printf("jacobi: %d x %d processes, %d x %d cells, %d iterations, last change %g: %s\n",
               dims[0], dims[1], n, n, iterations, change, right ? "OK" : "WRONG");
        change = right ? 0 : -1;
    }
    free(b.u), free(b.next), free(b.out), free(b.in);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return rank == 0 && change < 0;
}
