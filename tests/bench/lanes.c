/* lanes.c - rows with a short loop inside, which several lanes of a warp share: the same kernels as in cuda/lanes.cu, beside which executed.sh
 * runs them on the PTX machine.  Prints a checksum for each, which must be that of the other program. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
enum { ROWS = 2048, MEAN = 64, MOST = 2 * MEAN, SIDE = 16, BATCH = 512, BODIES = 2048, NEAR = 64 };
int start[ROWS + 1], column[ROWS * MOST], count[BODIES], list[BODIES * NEAR];
double value[ROWS * MOST], x[ROWS], y[ROWS], matrix[BATCH * SIDE * SIDE], in[BATCH * SIDE], out[BATCH * SIDE];
float px[BODIES], py[BODIES], pz[BODIES], force[BODIES * 3];

/* sparse matrix times vector: a warp a row */
static void rows(int n, int all)
{
#pragma omp target teams distribute parallel for map(to: start[0:n + 1], column[0:all], value[0:all], x) map(from: y)
    for (int i = 0; i < n; i++) {
        double s = 0;
#pragma omp simd reduction(+: s) simdlen(32)
        for (int k = start[i]; k < start[i + 1]; k++)
            s += value[k] * x[column[k]];
        y[i] = s;
    }
}
/* the same, with as many lanes as the host chooses */
static void chosen(int n, int all)
{
#pragma omp target teams distribute parallel for map(to: start[0:n + 1], column[0:all], value[0:all], x) map(from: y)
    for (int i = 0; i < n; i++) {
        double s = 0;
#pragma omp simd reduction(+: s)
        for (int k = start[i]; k < start[i + 1]; k++)
            s += value[k] * x[column[k]];
        y[i] = s;
    }
}
/* many small matrices, times a vector each */
static void matrices(int n)
{
#pragma omp target teams distribute parallel for map(to: matrix, in) map(from: out) collapse(2)
    for (int b = 0; b < n; b++)
        for (int i = 0; i < SIDE; i++) {
            double s = 0;
#pragma omp simd reduction(+: s) simdlen(16)
            for (int k = 0; k < SIDE; k++)
                s += matrix[(b * SIDE + i) * SIDE + k] * in[b * SIDE + k];
            out[b * SIDE + i] = s;
        }
}
/* a block of rows for each team: its 128 threads have four lanes for each of 32 rows */
static void levels(int n)
{
#pragma omp target teams distribute map(to: value, x) map(from: y) thread_limit(128)
    for (int b = 0; b < n; b++) {
#pragma omp parallel for
        for (int i = 0; i < 32; i++) {
            double s = 0;
#pragma omp simd reduction(+: s)
            for (int k = 0; k < MOST; k++)
                s += value[(b * 32 + i) * MOST + k] * x[k];
            y[b * 32 + i] = s;
        }
    }
}
/* forces of the particles in a list of neighbours */
static void particles(int n)
{
#pragma omp target teams distribute parallel for map(to: px, py, pz, count, list) map(from: force)
    for (int i = 0; i < n; i++) {
        float fx = 0, fy = 0, fz = 0;
#pragma omp simd reduction(+: fx, fy, fz) simdlen(32)
        for (int k = 0; k < count[i]; k++) {
            int j = list[i * NEAR + k];
            float dx = px[j] - px[i], dy = py[j] - py[i], dz = pz[j] - pz[i];
            float r = dx * dx + dy * dy + dz * dz + 0.01f, f = 1 / (r * sqrtf(r));
            fx += dx * f;
            fy += dy * f;
            fz += dz * f;
        }
        force[3 * i] = fx;
        force[3 * i + 1] = fy;
        force[3 * i + 2] = fz;
    }
}

static void report(const char *name, int n, const double *d, const float *f)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (d ? d[i] : f[i]) * (i % 13 + 1);
    printf("%s %.4g\n", name, sum);
}

int main(void)
{
    for (int i = 0; i < ROWS; i++) {
        start[i + 1] = start[i] + MEAN / 2 + i * 37 % MEAN;
        x[i] = i % 97 * 0.5;
    }
    for (int k = 0; k < start[ROWS]; k++) {
        column[k] = (int)(k * 2654435761u >> 8) % ROWS;
        value[k] = k % 31;
    }
    for (int i = 0; i < BATCH * SIDE * SIDE; i++)
        matrix[i] = i % 29;
    for (int i = 0; i < BATCH * SIDE; i++)
        in[i] = i % 23;
    for (int i = 0; i < BODIES; i++) {
        px[i] = i % 97 * 0.5f, py[i] = i % 31, pz[i] = i % 7;
        count[i] = NEAR / 2 + i * 5 % (NEAR / 2);
        for (int k = 0; k < NEAR; k++)
            list[i * NEAR + k] = (i + k * 3) % BODIES;
    }
    rows(ROWS, start[ROWS]), report("rows", ROWS, y, NULL);
    chosen(ROWS, start[ROWS]), report("chosen", ROWS, y, NULL);
    matrices(BATCH), report("matrices", BATCH * SIDE, out, NULL);
    levels(ROWS / 32), report("levels", ROWS, y, NULL);
    particles(BODIES), report("particles", BODIES * 3, NULL, force);
    return 0;
}
