/* inner.c - parallel loops inside `distribute`: a matrix product whose sums are reductions of a team.  The same kernel is in cuda/inner.cu. */
#include <stdio.h>
enum { SIDE = 16, DEPTH = 4096 };
float x[SIDE * DEPTH], y[DEPTH * SIDE], z[SIDE * SIDE];

static void product(int n, int m)
{
#pragma omp target teams distribute collapse(2) map(to: x, y) map(from: z)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 0;
#pragma omp parallel for reduction(+: s)
            for (int k = 0; k < m; k++)
                s += x[i * m + k] * y[k * n + j];
            z[i * n + j] = s;
        }
}

int main(void)
{
    int wrong = 0;
    for (int i = 0; i < SIDE * DEPTH; i++)
        x[i] = i % 5, y[i] = i % 3;
    product(SIDE, DEPTH);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            float s = 0;
            for (int k = 0; k < DEPTH; k++)
                s += x[i * DEPTH + k] * y[k * SIDE + j];
            wrong += s != z[i * SIDE + j];
        }
    printf("inner: %s\n", wrong ? "FAILED" : "OK");
    return wrong != 0;
}
