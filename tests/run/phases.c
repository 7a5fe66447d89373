/* regions that are a sequence of kernels where their loops are long, and one kernel where they are short */ /* also: -O0 -g, -O2 -fno-ompgpu-spread */
#include "check.h"
enum { LONG = 30000 };
static int a[LONG], b[LONG];
static double sums[LONG];
#pragma omp declare target
static int twice(int x) { return 2 * x; }
#pragma omp end declare target

/* Values that kernels hand on in memory: an array, a scalar, what a pointer leads to. */
static void sequence(int n, int shift)
{
    int cells[2] = { 0, 0 }, count = 0, most = -1, on = 0, *p = a, wrong = 0;
#pragma omp target map(from: a) map(tofrom: b, cells, count, most, on) map(p[:LONG]) firstprivate(shift)
    {
        for (int k = 0; k < 3; k++)
            cells[0] += twice(k);
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            a[i] = i + cells[0] + shift;
        cells[1] = n ? p[n / 2] : 0;
        cells[0]++;
        ;
#pragma omp parallel for simd reduction(+: count) reduction(max: most)
        for (int i = n - 1; i >= 0; i--) {
            b[i] = p[i] + cells[0];
            count += b[i] & 1;
            most = b[i] > most ? b[i] : most;
        }
#pragma omp parallel for collapse(2)
        for (int i = 0; i < n / 10; i++)
            for (int j = 0; j < 10; j++) {
                b[i * 10 + j] *= 2;
#pragma omp atomic
                cells[1]++;
            }
        on = ON_DEVICE;
    }
    int odd = 0;
    for (int i = 0; i < n; i++) {
        int expected = i + 6 + shift + 7;
        odd += expected & 1;
        wrong += a[i] != i + 6 + shift || b[i] != (i < n / 10 * 10 ? 2 : 1) * expected;
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(count, odd);
    CHECK_EQ(most, n ? n - 1 + 13 + shift : -1);
    CHECK_EQ(cells[1], (n ? n / 2 + 6 + shift : 0) + n / 10 * 10);
    CHECK(on);
}

static void scanned(int n)
{
    int last = 0, wrong = 0;
    double s = 0, total = 0;
#pragma omp target map(tofrom: sums, s, last)
    {
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            sums[i] = i % 7;
#pragma omp parallel for reduction(inscan, +: s)
        for (int i = 0; i < n; i++) {
            s += sums[i];
#pragma omp scan inclusive(s)
            sums[i] = s;
        }
#pragma omp parallel for lastprivate(last)
        for (int i = 0; i < n; i++)
            last = (int)sums[i];
    }
    for (int i = 0; i < n; i++)
        wrong += sums[i] != (total += i % 7);
    CHECK(!wrong && s == total && last == (int)total);
}

int main(void)
{
    int sizes[] = { 0, 1, 100, LONG };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        sequence(sizes[i], (int)i), scanned(sizes[i]);
    return RESULT;
}
