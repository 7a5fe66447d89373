/* is_device_ptr, use_device_ptr, use_device_addr, has_device_addr; omp_target_alloc, memcpy, associate */ /* also: -O0 -g */
#include "check.h"

int main(void)
{
    enum { N = 64 };
    int a[N], b[N], on = 0;

    for (int i = 0; i < N; i++)
        a[i] = i;
#ifndef HOST_ONLY
    int dev = omp_get_default_device(), host = omp_get_initial_device();
    int *d = omp_target_alloc(N * sizeof *d, dev);
    CHECK(d != NULL);
    CHECK_EQ(omp_target_memcpy(d, a, sizeof a, 0, 0, dev, host), 0);
#pragma omp target teams distribute parallel for is_device_ptr(d) map(tofrom: on) device(dev)
    for (int i = 0; i < N; i++) {
        d[i] *= 2;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(omp_target_memcpy(b, d, (N - 2) * sizeof *b, 2 * sizeof *b, sizeof *b, host, dev), 0);
    for (int i = 2; i < N; i++)
        CHECK_EQ(b[i], 2 * (i - 1));
    omp_target_free(d, dev);

    int *p = a;
#pragma omp target data map(tofrom: a)
    {
#pragma omp target data use_device_ptr(p)
        {
            CHECK(p != a);
#pragma omp target is_device_ptr(p)
            for (int i = 0; i < N; i++)
                p[i] += 100;
        }
        CHECK(p == a);
#pragma omp target data use_device_addr(a)
#pragma omp target has_device_addr(a)
        a[0] = 7;
    }
    CHECK_EQ(a[0], 7);
    for (int i = 1; i < N; i++)
        CHECK_EQ(a[i], i + 100);

    int m[6][5], out[6][5];          /* omp_target_memcpy_rect: a 2 x 3 block */
    memset(out, 0, sizeof out);
    for (int i = 0; i < 30; i++)
        m[i / 5][i % 5] = i;
    int *e = omp_target_alloc(sizeof m + sizeof b, dev);
    omp_target_memcpy(e, m, sizeof m, 0, 0, dev, host);
    size_t volume[2] = { 2, 3 }, to[2] = { 1, 0 }, from[2] = { 3, 2 }, dims[2] = { 6, 5 };
    CHECK_EQ(omp_target_memcpy_rect(out, e, sizeof(int), 2, volume, to, from, dims, dims, host, dev), 0);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 5; j++)
            CHECK_EQ(out[i][j], i >= 1 && i < 3 && j < 3 ? (i + 2) * 5 + j + 2 : 0);
    /* associate: the program's own device memory becomes the device copy */
    CHECK_EQ(omp_target_associate_ptr(b, e, sizeof b, 0, dev), 0);
    CHECK(PRESENT(b));
#pragma omp target map(always, to: b)
    b[1] = 55;
    CHECK_EQ(omp_target_memcpy(&on, e, sizeof on, 0, sizeof on, host, dev), 0);
    CHECK_EQ(on, 55);
    CHECK_EQ(omp_target_disassociate_ptr(b, dev), 0);
    CHECK(!PRESENT(b));
    omp_target_free(e, dev);
#else
    (void)a, (void)b, (void)on;
#endif
    return RESULT;
}
