/* generic mode: locals of the sequential part reach the team by reference: scalars, arrays, structs, pointers to them, VLAs */ /* also: -O0 -g -fompgpu-mode=generic, -O2 -g */
#include "check.h"

struct state { int sum; double w[5]; struct { short x; } in; };

static void fill(int *p, int n, int v)       /* called in the sequential part, holds its own parallel region */
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        p[i] = v + i;
}

int main(void)
{
    int out[64], on = 0, n = 20;
    double total = 0;

#pragma omp target teams distribute num_teams(3) map(from: out) map(tofrom: on, total)
    for (int t = 0; t < 4; t++) {
        int scalar = t, arr[16], *p = arr;
        struct state s = { t, { 1, 2, 3, 4, 5 }, { 7 } };
        double d = 0.5;
        fill(arr, 16, 100 * t);
#pragma omp parallel num_threads(16)
        {
            int me = omp_get_thread_num();
#pragma omp atomic
            scalar += 1;
#pragma omp atomic
            s.sum += 2;
            if (me < 5)
                s.w[me] += d;
            p[me] += 1;
            if (me == 0)
                s.in.x = 9;
#pragma omp for
            for (int i = 0; i < 16; i++)
                out[16 * t + i] = arr[i];
        }
        if (scalar - t != 16 || s.sum - t != 32 || s.in.x != 9)
            out[16 * t] = -scalar;
        double w = s.w[0] + s.w[4];
#pragma omp atomic
        total += w;
        on = ON_DEVICE;
    }
    CHECK(on);
#ifndef HOST_ONLY
    for (int i = 0; i < 64; i++)
        CHECK_EQ(out[i], i / 16 * 100 + i % 16 + 1);
    CHECK_EQ(total, 4 * 7);
#endif
#pragma omp target map(tofrom: out) map(to: n)
    {
        int v[n], m[3][n];
        fill(v, n, 5);
#pragma omp parallel for collapse(2)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < n; j++)
                m[i][j] = v[j] * i;
        for (int j = 0; j < n; j++)
            out[j] = m[2][j] + (int)(sizeof m / sizeof m[0]);
    }
    for (int j = 0; j < n; j++)
        CHECK_EQ(out[j], 2 * (5 + j) + 3);
    return RESULT;
}
