/* addresses that are kept from one iteration to the next: products of a counter, several in an iteration, narrow and wide, up and down */
#include "check.h"
enum { WINDOW = 11, ROWS = 13, COLUMNS = 37, SIZE = ROWS * COLUMNS + 8 };
static int a[SIZE], b[SIZE], to[COLUMNS * 8];

/* The window around each number: its indices begin below 0 and end behind the last one. */
static int smooth(int n, int r, int from, const int *p, const int *w, int *q)
{
    int on = 0;
#pragma omp target teams distribute parallel for map(to: p[0:n], w[0:r]) map(from: q[0:n]) map(tofrom: on)
    for (int i = 0; i < n; i++) {
        int s = 0;
        for (int k = 0; k < r; k++)
            if (i - from + k >= 0 && i - from + k < n)
                s += p[i - from + k] * w[k];
        for (int k = -from; k < r - from; k += 2)
            if (i + k >= 0 && i + k < n)
                s -= p[i + k];
        q[i] = s;
        if (i == 0)
            on = ON_DEVICE;
    }
    return on;
}
static void check_smooth(int n, int r, int from)
{
    static int q[SIZE];
    CHECK(smooth(n, r, from, a, b, q));
    for (int i = 0; i < n; i++) {
        int s = 0;
        for (int k = 0; k < r; k++) {
            int at = i - from + k, inside = at >= 0 && at < n;
            s += inside ? a[at] * b[k] - (k % 2 == 0) * a[at] : 0;
        }
        CHECK_EQ(q[i], s);
    }
}

int main(void)
{
    int n = COLUMNS, rows = ROWS, on = 0, wanted[COLUMNS * 8] = { 0 };
    unsigned un = COLUMNS;
    long ln = COLUMNS;
    short sn = COLUMNS;
    for (int i = 0; i < SIZE; i++) {
        a[i] = i * 7 % 31;
        b[i] = i * 5 % 17;
    }
    for (int r = 0; r < WINDOW; r++)
        check_smooth(1 + r * r, r, r * 2 % 7);
    for (int m = 0; m <= rows; m++) {
#pragma omp target teams distribute parallel for map(to: a, b) map(from: to) map(tofrom: on)
        for (int j = 0; j < n; j++) {
            int s = 0, t = 0, u = 0, v = 0, w = 0, x = 0, y = 0;
            for (int k = 0; k < m; k++)
                s += a[k * n + j];
            for (int k = 0; k < m; k++)
                t += a[k * n + j] * b[k * n + j] + b[(k * n + j) / 2]; /* the index is needed otherwise, too */
            for (int k = m - 1; k >= 0; k--)
                u = u * 3 + a[k * n + j];
            for (unsigned k = 0; k < (unsigned)m; k++)
                v += a[k * un + (unsigned)j] - b[k * un];
            for (long k = 0; k < m; k += 2)
                w += a[k * ln + j] ^ b[k * ln + j + 1];
            for (int k = 0; k < m; k++)
                x += a[k * sn + j] + a[(m - 1 - k) * n + j] * k + a[k * n + k];
            for (int k = 1; k < m; k += 3) {
                int *p = &a[(k - 1) * n];
                y += p[j] - p[n + j] * b[k * n + j] + b[(k / 2) * n];
            }
            to[j * 8] = s, to[j * 8 + 1] = t, to[j * 8 + 2] = u, to[j * 8 + 3] = v, to[j * 8 + 4] = w;
            to[j * 8 + 5] = x, to[j * 8 + 6] = y, to[j * 8 + 7] = m;
            if (j == 0)
                on = ON_DEVICE;
        }
        CHECK(on);
        for (int j = 0; j < n; j++) {
            int *z = &wanted[j * 8];
            for (int i = 0; i < 8; i++)
                z[i] = 0;
            for (int k = 0; k < m; k++) {
                z[0] += a[k * n + j];
                z[1] += a[k * n + j] * b[k * n + j] + b[(k * n + j) / 2];
                z[3] += a[k * n + j] - b[k * n];
                z[5] += a[k * n + j] + a[(m - 1 - k) * n + j] * k + a[k * n + k];
            }
            for (int k = m - 1; k >= 0; k--)
                z[2] = z[2] * 3 + a[k * n + j];
            for (int k = 0; k < m; k += 2)
                z[4] += a[k * n + j] ^ b[k * n + j + 1];
            for (int k = 1; k < m; k += 3)
                z[6] += a[(k - 1) * n + j] - a[k * n + j] * b[k * n + j] + b[k / 2 * n];
            z[7] = m;
            for (int i = 0; i < 8; i++)
                CHECK_EQ(to[j * 8 + i], z[i]);
        }
    }
    return RESULT;
}
