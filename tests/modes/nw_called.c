/* the wavefront of nw with the parallel region in a function that sequential code calls */
#include "check.h"
enum { N = 60 };
static int similar(int i, int j) { return i * 7 % 4 == j * 5 % 4 ? 2 : -1; }
static int most(int a, int b) { return a > b ? a : b; }
static int cell(int (*s)[N + 1], int i, int j)
{
    return most(s[i - 1][j - 1] + similar(i, j), most(s[i - 1][j], s[i][j - 1]) - 1);
}
static void wave(int (*s)[N + 1], int d)
{
    int lo = d > N ? d - N : 1, hi = d > N ? N : d - 1;
#pragma omp parallel for
    for (int i = lo; i <= hi; i++)
        s[i][d - i] = cell(s, i, d - i);
}
static int s[N + 1][N + 1], h[N + 1][N + 1];
int main(void)
{
    int on = 0;
    for (int i = 0; i <= N; i++)
        s[i][0] = s[0][i] = h[i][0] = h[0][i] = -i;
#pragma omp target map(tofrom: s, on)
    {
        for (int d = 2; d <= 2 * N; d++)
            wave(s, d);
        on = ON_DEVICE;
    }
    for (int i = 1; i <= N; i++)
        for (int j = 1; j <= N; j++)
            h[i][j] = cell(h, i, j);
    CHECK(on);
    CHECK(!memcmp(s, h, sizeof s));
    return RESULT;
}
