/* a wavefront inside one region: parallel for in a sequential loop, the way the nw sample is not written */
#include "check.h"

int main(void)
{
    enum { N = 60 };
    static int s[N + 1][N + 1], h[N + 1][N + 1];
    int on = 0;

    for (int i = 0; i <= N; i++)
        s[i][0] = s[0][i] = h[i][0] = h[0][i] = -i;
#pragma omp target map(tofrom: s, on)
    for (int d = 2; d <= 2 * N; d++) {
        int lo = d > N ? d - N : 1, hi = d > N ? N : d - 1;
#pragma omp parallel for
        for (int i = lo; i <= hi; i++) {
            int j = d - i, best = s[i - 1][j - 1] + (i * 7 % 4 == j * 5 % 4 ? 2 : -1);
            best = s[i - 1][j] - 1 > best ? s[i - 1][j] - 1 : best;
            s[i][j] = s[i][j - 1] - 1 > best ? s[i][j - 1] - 1 : best;
        }
        on = ON_DEVICE;
    }
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++) {
            int best = h[i - 1][j - 1] + (i * 7 % 4 == j * 5 % 4 ? 2 : -1);
            best = h[i - 1][j] - 1 > best ? h[i - 1][j] - 1 : best;
            h[i][j] = h[i][j - 1] - 1 > best ? h[i][j - 1] - 1 : best;
        }
    CHECK(on);
    CHECK(!memcmp(s, h, sizeof s));
    return RESULT;
}
