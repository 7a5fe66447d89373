/* arrays that every thread of a kernel has a copy of in memory, combined column by column: constant and run-time length, on the stack or
 * not, fewer and more elements than threads, elements of odd sizes, several at once beside scalars and small arrays, one team and many */
#include "check.h"

enum { N = 3000, BIG = 1024 };
struct odd { short n[3]; };           /* 6 bytes */
struct wide { long sum, count, part[9]; };
#pragma omp declare reduction(+ : struct odd : omp_out.n[0] += omp_in.n[0], omp_out.n[1] += omp_in.n[1], omp_out.n[2] ^= omp_in.n[2]) \
    initializer(omp_priv = { { 0, 0, 0 } })
static void join(struct wide *a, const struct wide *b)
{
    a->sum += b->sum, a->count += b->count;
    for (int i = 0; i < 9; i++)
        a->part[i] += b->part[i];
}
#pragma omp declare reduction(join : struct wide : join(&omp_out, &omp_in)) initializer(omp_priv = { 0 })

static double big[BIG], few[5];
static unsigned char bytes[70];
static struct odd odd[13];
static struct wide wide[3];

static void clear(void)
{
    for (int i = 0; i < BIG; i++)
        big[i] = i;
    memset(few, 0, sizeof few), memset(bytes, 0, sizeof bytes), memset(odd, 0, sizeof odd), memset(wide, 0, sizeof wide);
}

static void check(long total, int n)
{
    double sum = 0;
    long counts = 0, parts = 0, odds = 0;
    for (int i = 0; i < BIG; i++) {
        long want = i;
        for (int k = i; k < n; k += BIG)
            want += k;
        CHECK_EQ(big[i], want);
    }
    for (int i = 0; i < 5; i++)
        sum += few[i];
    for (int i = 0; i < 70; i++)
        CHECK_EQ(bytes[i], (unsigned char)(n / 70 + (i < n % 70)));
    for (int i = 0; i < 13; i++)
        odds += odd[i].n[0] + odd[i].n[1];
    for (int i = 0; i < 3; i++) {
        counts += wide[i].count;
        for (int k = 0; k < 9; k++)
            parts += wide[i].part[k];
    }
    CHECK_EQ(sum, (long)n * (n - 1) / 2);
    CHECK_EQ(odds, 3 * n);
    CHECK(counts == n && parts == 2 * n && wide[0].sum + wide[1].sum + wide[2].sum == (long)n * (n - 1) / 2);
    CHECK_EQ(total, n);
}

#define BODY                                                                                                               \
    {                                                                                                                      \
        big[i % BIG] += i, f[i % 5] += i, b[i % 70]++, total++;                                                            \
        o[i % 13].n[0] += 1, o[i % 13].n[1] += 2, o[i % 13].n[2] ^= (short)i;                                             \
        w[i % 3].sum += i, w[i % 3].count++, w[i % 3].part[i % 9] += 2;                                                    \
    }

int main(void)
{
    static const int shapes[][2] = { { 1, 1 }, { 1, 33 }, { 7, 100 }, { 3, 256 }, { 70, 32 }, { 150, 8 } };
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int n = 0; n <= N; n += 1500) {
            int teams = shapes[s][0], threads = shapes[s][1], five = 5, seventy = 70, thirteen = 13, three = 3;
            double *f = few;
            unsigned char *b = bytes;
            struct odd *o = odd;
            struct wide *w = wide;
            long total = 0;
            clear();
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) map(tofrom: f[0:five], b[0:seventy], o[0:thirteen], w[0:three]) \
    reduction(+: big, f[0:five], total) reduction(+: b[0:seventy], o[0:thirteen]) reduction(join: w[0:three])
            for (int i = 0; i < n; i++)
                BODY
            check(total, n);
            clear();
            total = 0;
#pragma omp target parallel for num_threads(threads) map(tofrom: f[0:five], b[0:seventy], o[0:thirteen], w[0:three]) \
    reduction(+: big, f[0:five], total) reduction(+: b[0:seventy], o[0:thirteen]) reduction(join: w[0:three])
            for (int i = 0; i < n; i++)
                BODY
            check(total, n);
        }
    return RESULT;
}
