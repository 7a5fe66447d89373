/* VLAs: captured whole, as sections, multi-dimensional, as parameters, sizeof inside, pointers to VLAs; typedefs with run-time bounds */
#include "check.h"

static void scale(int n, int m, double a[n][m], double f)
{
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: a[0:n][0:m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] *= f;
}

static int sizes(int n)
{
    int v[n + 1][2 * n], bytes = 0, row = 0;

    memset(v, 0, sizeof v);
#pragma omp target map(from: bytes, row)
    {
        bytes = sizeof v;
        row = sizeof v[0];
        v[n][2 * n - 1] = n;
    }
    CHECK_EQ(row, 2 * n * (int)sizeof(int));
    CHECK_EQ(v[n][2 * n - 1], n);
    return bytes;
}

/* The text of such a file is compiled for another target, which has no type of 16 bits. */
static void halves(int n)
{
    _Float16 h[n], sum = 0;
    for (int i = 0; i < n; i++)
        h[i] = (_Float16)(i + 0.5);
#pragma omp target map(tofrom: h, sum)
    for (int i = 0; i < n; i++) {
        h[i] = h[i] * 2 + (_Float16)1;
        sum += h[i];
    }
    CHECK(h[n - 1] == 2 * n && sum == n * (n + 1));
}

/* Optimisation removes the private array, but not what saves and restores the stack around it, where threads wait. */
static void unused(int n)
{
    int sums[2] = { 5, 5 }, last = -1;
    short own[n];
    own[0] = 1;
#pragma omp target teams distribute parallel for reduction(+: sums[0:n + 1]) private(own) map(tofrom: sums, last) schedule(dynamic, 2)
    for (int i = 0; i < 13; i++) {
        own[0] = (short)(4 * i);
        sums[i % 2] += own[0];
        if (i == 12)
            last = own[0];
    }
    CHECK(sums[0] == 5 + 4 * 42 && sums[1] == 5 + 4 * 36 && last == 48);
}

/* The same on two paths, that of thread 0 and that of the others, which meet after the array's life. */
static unsigned squares[6][8];
#pragma omp declare target(squares)
static void fill(unsigned *p, int n, unsigned v)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        p[i] ^= v + (unsigned)i;
}
static void unused_on_paths(unsigned n)
{
    unsigned c[6] = { 0 };
#pragma omp target teams distribute num_teams(3) map(tofrom: c)
    for (int t = 0; t < 6; t++) {
        unsigned all[8] = { 1, 2, 3 }, own[n + (unsigned)t];
        for (int j = 0; j < 8; j++)
            squares[t][j] = (unsigned)(j * t);
        fill(all, 8, c[t]);
        c[t] = all[3] + squares[t][7];
    }
    for (unsigned t = 0; t < 6; t++)
        CHECK(c[t] == 3 + 7 * t);
}

/* Typedefs keep the bounds that they were declared with; in regions, inner constructs, device functions and regions on the host. */
static int sum_of_sizes(int n)
{
    typedef int row[n];
    int s = 0;
#pragma omp parallel num_threads(4) reduction(+: s)
    {
        row b, (*p)[2];
        for (int i = 0; i < n; i++)
            b[i] = i;
        s = b[n - 1] + (int)(sizeof *p / sizeof(int));
#pragma omp critical
        s += sizeof(row);
    }
    return s;
}

static int typedefs(int n, int m, int on_device)
{
    typedef double row[n], (*rows)[n];
    typedef row grid[m];
    grid a;
    rows rest = &a[1];
    int size[4], called = 0, inner = 0;
    memset(a, 0, sizeof a);
    n = m = 1000;
#pragma omp target map(from: size) map(tofrom: a, called, inner) if(on_device)
    {
        rows r = *(grid *)a;
        size[0] = sizeof(row), size[1] = sizeof(grid), size[2] = sizeof(*(rows)0), size[3] = sizeof *r;
        r[1][2] = 3;
        called = sum_of_sizes(7);
        typedef char name[size[0]];
#pragma omp parallel num_threads(2) reduction(+: inner)
        {
            name text;
            typedef row pair[2];
            text[1] = 5;
            inner += text[1] + sizeof(name) + sizeof(pair);
        }
    }
#pragma omp target teams distribute parallel for default(none) map(tofrom: a) if(on_device)
    for (int i = 0; i < 3; i++) {
        row own;
        const rows p = (rows)a + i;
        own[0] = i;
        p[0][4] = own[0] + 1;
    }
    CHECK(rest[0][2] == 3 && a[0][4] == 1 && a[2][4] == 3);
    CHECK(size[0] == 40 && size[1] == 120 && size[2] == 40 && size[3] == 40);
    CHECK(called && called % (6 + 14 + 28) == 0 && inner && inner % 125 == 0);
    return sum_of_sizes(3) % (2 + 6 + 12);
}

int main(void)
{
    int n = 11, on = 0, k = n + 2;
    double a[n][n + 3], (*p)[k] = malloc(5 * sizeof *p);
    float v[3 * n];

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n + 3; j++)
            a[i][j] = i + 0.5 * j;
    scale(n, n + 3, a, 2);
    halves(9);
    unused(1);
    unused_on_paths(4);
    n = 5;                           /* the arrays keep their bounds */
#pragma omp target teams distribute parallel for map(tofrom: on)
    for (int i = 0; i < 33; i++) {
        v[i] = (float)i;
        on = ON_DEVICE;
    }
    CHECK(on);
    for (int i = 0; i < 33; i++)
        CHECK_EQ(v[i], i);
    for (int i = 0; i < 11; i++)
        for (int j = 0; j < 14; j++)
            CHECK_EQ(a[i][j], 2 * i + j);
#pragma omp target map(from: p[0:5])
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < k; j++)
            p[i][j] = i * k + j;
    for (int i = 0; i < 5 * 13; i++)
        CHECK_EQ(p[i / 13][i % 13], i);
#pragma omp target parallel for firstprivate(v)
    for (int i = 0; i < 33; i++)
        v[i] += 1, a[i / 11][i % 11] = v[i];
    CHECK_EQ(v[3], 3);
    CHECK_EQ(sizes(6), 7 * 12 * (int)sizeof(int));
    free(p);
    CHECK(typedefs(5, 3, 1) == 0 && typedefs(5, 3, 0) == 0);
    return RESULT;
}
