// The anti-diagonal of samples/nw.c: a thread a cell.
enum { MATCH = 3, MISMATCH = -2, GAP = -4 };
__global__ void wave(int n, int d, int first, int last, int *__restrict__ score, const char *__restrict__ s, const char *__restrict__ t)
{
    for (int i = first + blockIdx.x * blockDim.x + threadIdx.x; i <= last; i += gridDim.x * blockDim.x) {
        int *here = &score[i * (n + 1) + d - i], *above = here - (n + 1);
        *here = max(max(above[-1] + (s[i - 1] == t[d - i - 1] ? MATCH : MISMATCH), above[0] + GAP), here[-1] + GAP);
    }
}
