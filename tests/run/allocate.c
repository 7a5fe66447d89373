/* allocate for automatic variables in device code: shared by a team, of each thread, in functions; align */ /* also: -O0 -fompgpu-mode=generic */
#include "check.h"
#include <stdint.h>

enum { B = 8, N = 32 };

static int own(int i)
{
    int a[4];
#pragma omp allocate(a) allocator(omp_thread_mem_alloc)
    for (int k = 0; k < 4; k++)
        a[k] = i + k;
    return a[0] + a[3];
}

/* blocks of two matrices in the team's memory */
static void multiply(const double *x, const double *y, double *z)
{
#pragma omp target teams map(to: x[0:N * N], y[0:N * N]) map(tofrom: z[0:N * N]) thread_limit(B * B)
    {
        double xs[B * B], ys[B * B];
#pragma omp allocate(xs, ys) allocator(omp_pteam_mem_alloc)
#pragma omp distribute collapse(2)
        for (int ib = 0; ib < N / B; ib++)
            for (int jb = 0; jb < N / B; jb++) {
#pragma omp parallel num_threads(B * B)
                for (int kb = 0; kb < N / B; kb++) {
#pragma omp for collapse(2)
                    for (int i = 0; i < B; i++)
                        for (int k = 0; k < B; k++) {
                            xs[i * B + k] = x[(ib * B + i) * N + kb * B + k];
                            ys[i * B + k] = y[(kb * B + i) * N + jb * B + k];
                        }
#pragma omp for collapse(2)
                    for (int i = 0; i < B; i++)
                        for (int j = 0; j < B; j++)
                            for (int k = 0; k < B; k++)
                                z[(ib * B + i) * N + jb * B + j] += xs[i * B + k] * ys[k * B + j];
                }
            }
    }
}

static int misaligned(const void *p, unsigned n)
{
    const void *volatile any = p;
    return (uintptr_t)any % n != 0;
}

/* The alignment of the allocator, and of the clause: the larger one counts. */
static void by_allocator(void)
{
    static const omp_alloctrait_t t[] = { { omp_atk_pool_size, 9000 }, { omp_atk_alignment, 256 } };
    static const omp_alloctrait_t u[2] = { { .key = omp_atk_fallback, omp_atv_abort_fb }, { omp_atk_alignment, 32 } };
    omp_allocator_handle_t a = omp_null_allocator, b = a;
    int bad = -1;
#pragma omp target map(from: bad) uses_allocators(traits(t): a) uses_allocators(traits(u): b)
    {
        char pad = 1, x[3], y = 2, z = 3, p = 4;
#pragma omp allocate(x) allocator(a)
#pragma omp allocate(y) allocator(a) align(64)
#pragma omp allocate(z) allocator(b) align(128)
#pragma omp allocate(p) allocator(b)
        bad = misaligned(x, 256) + misaligned(&y, 256) + misaligned(&z, 128) + misaligned(&p, 32) + pad - 1;
    }
    CHECK_EQ(bad, 0);
}

static void aligned(void)
{
    enum { LARGE = 256 };
    int bad = 0, x = 3, y = 4, s = 0, l = 0;
    char c = 5;
    double a3[3] = { 1, 2, 3 };
#pragma omp target map(tofrom: bad)
    {
        char pad = 1, a = 2, b[3] = { 1, 2, 3 }, *q = b, e = 7;
#pragma omp allocate(a, q) align(64) allocator(omp_thread_mem_alloc)
#pragma omp allocate(b) align(LARGE)
        bad += misaligned(&a, 64) + misaligned(&q, 64) + (pad != 1 || a != 2 || q[1] != 2 || e != 7);
#pragma omp parallel num_threads(40) reduction(+: bad)
        bad += misaligned(&a, 64) + misaligned(b, LARGE);
    }
    CHECK_EQ(bad, 0);
#pragma omp target teams num_teams(3) map(tofrom: bad) reduction(+: bad)
    {
        char pad = 1, big[1001];
#pragma omp allocate(big) align(512)
#pragma omp parallel num_threads(40) reduction(+: bad)
        {
            big[omp_get_thread_num()] = pad;
            bad += misaligned(big, 512);
        }
    }
    CHECK_EQ(bad, 0);
#pragma omp target parallel for num_threads(40) map(tofrom: bad) private(x) firstprivate(y, c, a3) lastprivate(l) \
    reduction(+: s, bad) allocate(align(128): x, y, s, a3) allocate(align(64): c, l)
    for (int i = 0; i < 80; i++) {
        s += x = l = i;
        bad += misaligned(&x, 128) + misaligned(&y, 128) + misaligned(&s, 128) + misaligned(a3, 128);
        bad += misaligned(&c, 64) + misaligned(&l, 64) + (y != 4 || c != 5 || a3[2] != 3);
    }
    CHECK(bad == 0 && s == 79 * 40 && l == 79);
#pragma omp target teams num_teams(2) reduction(+: bad) firstprivate(y, c, a3) allocate(align(128): y, a3, c)
    {
        c++;
#pragma omp parallel num_threads(33) reduction(+: bad) firstprivate(c) \
    allocate(allocator(omp_thread_mem_alloc), align(256): c)
        bad += misaligned(&c, 256) + misaligned(a3, 128) + (c != 6);
        bad += misaligned(&c, 128) + misaligned(&y, 128);
    }
    CHECK_EQ(bad, 0);
}

/* The allocator is a variable of the device, declared in the function. */
static void device_allocator(void)
{
    static omp_allocator_handle_t own;
#pragma omp declare target enter(own)
    const omp_alloctrait_t traits[] = { { omp_atk_alignment, 64 } };
    int x[8] = { 0 }, y = 1;
#pragma omp target
    own = omp_init_allocator(omp_default_mem_space, 1, (omp_alloctrait_t *)traits);
#pragma omp target map(tofrom: x, y)
#pragma omp teams num_teams(2) reduction(+: x) allocate(own: x)
#pragma omp parallel num_threads(4) reduction(+: x) allocate(allocator(own): x)
    x[3] += y;
#pragma omp target
    omp_destroy_allocator(own);
    CHECK(x[3] > 0 && x[3] <= 8 && x[2] == 0);
}

int main(void)
{
    static double x[N * N], y[N * N], z[N * N];
    int sum = 0, on = 0;
    aligned();
    by_allocator();
    device_allocator();
    for (int i = 0; i < N * N; i++)
        x[i] = i % 7, y[i] = i % 5;
    multiply(x, y, z);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double want = 0;
            for (int k = 0; k < N; k++)
                want += x[i * N + k] * y[k * N + j];
            CHECK_EQ(z[i * N + j], want);
        }
#pragma omp target teams distribute parallel for reduction(+: sum) map(from: on)
    for (int i = 0; i < 100; i++) {
        sum += own(i);
        if (i == 0)
            on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(sum, 2 * 4950 + 300);
    return RESULT;
}
