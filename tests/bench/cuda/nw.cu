// The anti-diagonal of samples/nw.c: a thread a cell.
enum { MATCH = 3, MISMATCH = -2, GAP = -4 };
__global__ void wave(int n, int d, int first, int last, int *__restrict__ score, const char *__restrict__ s, const char *__restrict__ t)
{
    for (int i = first + blockIdx.x * blockDim.x + threadIdx.x; i <= last; i += gridDim.x * blockDim.x) {
        int *here = &score[i * (n + 1) + d - i], *above = here - (n + 1);
        *here = max(max(above[-1] + (s[i - 1] == t[d - i - 1] ? MATCH : MISMATCH), above[0] + GAP), here[-1] + GAP);
    }
}

#ifdef MAIN
#include "time.h"
int main(int argc, char **argv)
{
    int n = (atoi(argc > 1 ? argv[1] : "500") + 15) / 16 * 16;
    int *score = on_device<int>((size_t)(n + 1) * (n + 1));
    char *s = on_device<char>(n), *t = on_device<char>(n, 1);
    for (int d = 2; d <= 2 * n; d++) {
        int first = d > n ? d - n : 1, last = d > n ? n : d - 1, teams = (last - first + 128) / 128;
        timed("wave", teams, 128, [&] { wave<<<teams, 128>>>(n, d, first, last, score, s, t); });
    }
}
#endif
