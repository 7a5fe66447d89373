/* complex functions and operators beside arrays of variable length: their results are passed in another way there */ /* also: -O0, -O2 -g */
#include <complex.h>
#include <math.h>
#include "check.h"
enum { N = 12 };
static void work(int n, double complex z, double complex *r, float complex *f)
{
    double complex all[n];
    float complex w = (float complex)z, few[n];
    for (int i = 0; i < n; i++)
        all[i] = z * (i + 1), few[i] = w / (i + 2 * I);
    r[0] = cexp(all[0]), r[1] = clog(all[1]), r[2] = csqrt(all[2]), r[3] = cpow(all[0], z);
    r[4] = csin(z), r[5] = ccosh(z), r[6] = conj(all[n - 1]), r[7] = cproj(z) + cabs(all[3]) + carg(z);
    r[8] = all[1] * (INFINITY + 0 * I), r[9] = all[1] / all[2], r[10] = catan(z), r[11] = creal(z) + cimag(z) * I;
    f[0] = cexpf(w), f[1] = clogf(few[2]), f[2] = csqrtf(w), f[3] = ctanhf(w), f[4] = few[n - 1] * w, f[5] = cacosf(w);
    for (int i = 6; i < N; i++)
        f[i] = few[i % n];
}

int main(void)
{
    double complex z = 0.5 + 0.25 * I, on[N], off[N];
    float complex fon[N] = { 0 }, foff[N];
    int n = 5, is_on = 0;
    work(n, z, off, foff);
#pragma omp target map(tofrom: is_on) map(from: on) map(tofrom: fon)
    {
        is_on = ON_DEVICE;
        work(n, z, on, fon);
    }
    CHECK(is_on);
    for (int i = 0; i < N; i++) {
        if (i != 8) {
            CHECK_NEAR(creal(on[i]), creal(off[i]), 1e-12);
            CHECK_NEAR(cimag(on[i]), cimag(off[i]), 1e-12);
        }
        CHECK_NEAR(crealf(fon[i]), crealf(foff[i]), 1e-5);
        CHECK_NEAR(cimagf(fon[i]), cimagf(foff[i]), 1e-5);
    }
    CHECK(cabs(on[8]) == cabs(off[8]));
    return RESULT;
}
