/* a wavefront with sequential team code between its waves: each notes its best cell, read by the next */
#include "check.h"
enum { N = 60 };
static int s[N + 1][N + 1], h[N + 1][N + 1], best[2 * N + 1];
int main(void)
{
    int on = 0;
    for (int i = 0; i <= N; i++)
        s[i][0] = s[0][i] = h[i][0] = h[0][i] = -i;
#pragma omp target map(tofrom: s, on, best)
    {
        for (int d = 2; d <= 2 * N; d++) {
            int lo = d > N ? d - N : 1, hi = d > N ? N : d - 1, most = best[d - 1];
#pragma omp parallel for reduction(max: most)
            for (int i = lo; i <= hi; i++) {
                int j = d - i, v = s[i - 1][j - 1] + (i * 7 % 4 == j * 5 % 4 ? 2 : -1);
                v = s[i - 1][j] - 1 > v ? s[i - 1][j] - 1 : v;
                s[i][j] = v = s[i][j - 1] - 1 > v ? s[i][j - 1] - 1 : v;
                most = v > most ? v : most;
            }
            best[d] = most;
        }
        on = ON_DEVICE;
    }
    int most = 0;
    for (int d = 2; d <= 2 * N; d++) {
        for (int i = d > N ? d - N : 1; i <= (d > N ? N : d - 1); i++) {
            int j = d - i, v = h[i - 1][j - 1] + (i * 7 % 4 == j * 5 % 4 ? 2 : -1);
            v = h[i - 1][j] - 1 > v ? h[i - 1][j] - 1 : v;
            h[i][j] = v = h[i][j - 1] - 1 > v ? h[i][j - 1] - 1 : v;
            most = v > most ? v : most;
        }
        CHECK_EQ(best[d], most);
    }
    CHECK(on);
    CHECK(!memcmp(s, h, sizeof s));
    return RESULT;
}
