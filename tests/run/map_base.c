/* mapped storage reached by its base address: sections without their begin, pointers on the way, pointers to VLAs, device addresses of sections */
#include "check.h"

enum { N = 300 };
struct box { int n; double *v; int *w; };

/* 5.2, 5.8.6: what no clause maps is found by the extended address range of what is mapped */
static void sections(int n)
{
    int *a = malloc(N * sizeof *a), b[N], (*rows)[n] = malloc(10 * sizeof *rows), *end;
    for (int i = 0; i < N; i++)
        a[i] = b[i] = 1;
    end = a + N;
#pragma omp target enter data map(to: a[64:128], b[100:50], rows[3:4][0:n], end[-20:10])
#pragma omp target
    for (int i = 64; i < 192; i++)
        a[i] = 2;
#pragma omp target
    for (int i = 100; i < 150; i++)
        b[i] = 3;
#pragma omp target
    for (int i = 0; i < 4 * n; i++)
        rows[3 + i / n][i % n] = i;
#pragma omp target
    end[-15] = 4;
    int *inside = a + 20;
#pragma omp target
    inside[100] = 5;
#pragma omp target exit data map(from: a[64:128], b[100:50], rows[3:4][0:n], end[-20:10])
    CHECK(a[63] == 1 && a[64] == 2 && a[120] == 5 && a[191] == 2 && a[192] == 1 && end[-15] == 4);
    CHECK(b[99] == 1 && b[100] == 3 && b[149] == 3 && b[150] == 1);
    for (int i = 0; i < 4 * n; i++)
        CHECK_EQ(rows[3 + i / n][i % n], i);
    free(a), free(rows);
}

static void device_addresses(void)
{
    int *a = malloc(N * sizeof *a), b[N] = { 0 };
    for (int i = 0; i < N; i++)
        a[i] = 1;
#pragma omp target data map(tofrom: a[64:128], b[10:10])
    {
#pragma omp target data use_device_ptr(a)
#pragma omp target is_device_ptr(a)
        a[70] = 7;
#pragma omp target data use_device_addr(a[80:2], b[12:3])
#pragma omp target has_device_addr(a[80:2], b[12:3])
        a[81] = 8, b[14] = 9;
    }
    CHECK(a[70] == 7 && a[81] == 8 && b[14] == 9 && a[64] == 1);
    free(a);
}

/* Pointers that are followed on the way are mapped and attached. */
static void pointers(void)
{
    int r0[3] = { 4, 5, 6 }, r1[8] = { 0 }, *row[16] = { r0 }, **m = row, on = 0;
    double v[20];
    int w[20];
    struct box box = { 20, v, w }, *list[2] = { &box, &box }, **pp = list;
    row[7] = r1;
#pragma omp target map(tofrom: m[0][0:3], on)
    for (int j = 0; j < 3; j++) {
        m[0][j] += j + 1;
        on = ON_DEVICE;
    }
    CHECK(on && r0[0] == 5 && r0[2] == 9 && row[0] == r0);
#pragma omp target map(tofrom: row[7][0:8])
    for (int j = 0; j < 8; j++)
        row[7][j] += 2;
    CHECK(r1[0] == 2 && r1[7] == 2 && row[7] == r1);
#pragma omp target map(from: pp[1]->v[0:20], pp[1]->w[5:10])
    for (int i = 0; i < 10; i++)
        pp[1]->v[2 * i] = i, pp[1]->v[2 * i + 1] = -i, pp[1]->w[5 + i] = i * i;
    for (int i = 0; i < 10; i++)
        CHECK(v[2 * i] == i && v[2 * i + 1] == -i && w[5 + i] == i * i);
#pragma omp target map(tofrom: (*pp)->w[5:2], (*list[1]).v[3:1])
    (*pp)->w[6] = 99, (*list[1]).v[3] = 0.5;
    CHECK(w[6] == 99 && w[5] == 0 && v[3] == 0.5);
#pragma omp target enter data map(to: m[0][0:3])
#pragma omp target
    m[0][1] = 70;
#pragma omp target update from(m[0][1:1])
    CHECK_EQ(r0[1], 70);
#pragma omp target exit data map(release: m[0][0:3])
#ifndef HOST_ONLY
    CHECK(!PRESENT(r0) && !PRESENT(row));
#endif
    /* a null pointer stays one where nothing is mapped for it */
    box.v = NULL, on = -1;
#pragma omp target map(tofrom: box.v[0:0], box.w[0:4]) map(from: on)
    on = box.v ? 1 : box.w[0];
    CHECK_EQ(on, w[0]);
}

int main(void)
{
    sections(7);
    device_addresses();
    pointers();
    return RESULT;
}
