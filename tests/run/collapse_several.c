/* collapsed reductions, of which four iterations run at a time: random bounds of several types, also empty ones, few threads and many */
#include <stdio.h>
#include <stdlib.h>
static unsigned long long seed = 1;
static int draw(int n) { return (int)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 33) % n; }
enum { SIZE = 5000 };
static int a[SIZE];
static long errors;
#define CHECK(got, want) \
    do { if ((got) != (want) && errors++ < 10) printf("line %d, case %d: %lld, not %lld\n", __LINE__, c, (long long)(got), (long long)(want)); } while (0)

#define LOOPS(T, U, S) for (T i = lo; i < lo + (T)n; i++) for (U j = (U)m; j > 0; j -= (U)(S))
#define BODY s += (long)a[(i - lo) * m + j - 1] * (j + 1), x ^= a[j % 7] + (int)i

int main(void)
{
    for (int i = 0; i < SIZE; i++) a[i] = draw(1000) - 500;
#pragma omp target enter data map(to: a)
    for (int c = 0; c < 60; c++) {
        int n = draw(4) ? draw(70) : draw(3), m = draw(4) ? draw(70) : draw(3), l = 1 + draw(9), step = 1 + draw(4), lo = draw(2000) - 1000;
        int teams = 1 + draw(3), threads = 1 + draw(c % 2 ? 8 : 70);
        long s, want = 0;
        int x, other = 0, t = 0, u = 0;
        double d = 0, e = 0;
        LOOPS(int, int, step) { long s = 0; int x = 0; BODY; want += s, other ^= x; }
        s = x = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(+: s) reduction(^: x) num_teams(teams) thread_limit(threads)
        LOOPS(int, int, step) BODY;
        CHECK(s, want); CHECK(x, other);
        s = x = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(+: s) reduction(^: x) num_teams(teams) thread_limit(threads)
        LOOPS(long long, unsigned char, 1) if (j != 200) BODY;
        CHECK(s, step == 1 ? want : s); CHECK(x, step == 1 ? other : x);
        s = x = 0;
#pragma omp target teams num_teams(1) thread_limit(threads) map(tofrom: s, x)
        {
            long in = 0;
            for (int i = 0; i < 3; i++) in += i;
#pragma omp parallel for collapse(2) reduction(+: in) reduction(^: x)
            for (short i = (short)lo; i < (short)(lo + n); i++)
                for (unsigned long long j = (unsigned long long)m; j > 0; j--) if (((unsigned long long)m - j) % (unsigned)step == 0) {
                    in += (long)a[(i - lo) * m + (int)j - 1] * ((int)j + 1), x ^= a[j % 7] + (int)i;
                }
            s = in - 3;
        }
        CHECK(s, want); CHECK(x, other);
        s = x = 0;
#pragma omp target teams distribute parallel for collapse(3) reduction(+: s, t) reduction(max: u) num_teams(teams) thread_limit(threads)
        for (unsigned i = 0; i < (unsigned)n; i++)
            for (int k = l; k >= 1; k--)
                for (long j = -2 * (long)m; j < 0; j += 2) {
                    if (a[(j + 2 * m) / 2] % 3 == 0) continue;
                    s += a[(int)i * m + (j + 2 * m) / 2] + k;
                    t++;
                    u = u > k + (int)i ? u : k + (int)i;
                }
        long want3 = 0;
        int count = 0, most = 0;
        for (int i = 0; i < n; i++)
            for (int k = 1; k <= l; k++)
                for (int j = 0; j < m; j++)
                    if (a[j] % 3) want3 += a[i * m + j] + k, count++, most = most > k + i ? most : k + i;
        CHECK(s, want3); CHECK(t, count); CHECK(u, most);
        /* the same bits whatever the order of the threads; one thread: those of the host */
#pragma omp target teams distribute parallel for collapse(2) reduction(+: d) num_teams(1) thread_limit(1)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) d += a[i * m + j] / 7.0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++) e += a[i * m + j] / 7.0;
        CHECK(d == e, 1);
    }
    printf(errors ? "%ld errors\n" : "OK\n", errors);
    return errors != 0;
}
