/* What the x86 backend calls (_Float16, 128-bit division) is in the emulated image wherever the kernel that needs it is: kernels of different
 * needs have functions of their own (codegen/ir/passes/sets.c). */
#include <stdio.h>
static int other(int n)
{
    int r = 0;
    #pragma omp target map(tofrom: r)
    for (int i = 0; i < n; i++) {
        #pragma omp parallel for reduction(+: r) num_threads(n)
        for (int k = 0; k < 9; k++) r += k;
    }
    return r;
}
static unsigned __int128 quotient(unsigned __int128 a, unsigned __int128 b)
{
    #pragma omp target teams distribute parallel for map(tofrom: a)
    for (int i = 0; i < 1; i++) a /= b;
    return a;
}
int main(void)
{
    _Float16 h = 1;
    #pragma omp target teams distribute parallel for map(tofrom: h) reduction(+: h)
    for (int i = 0; i < 9; i++) h += (_Float16)i;
    unsigned __int128 big = (unsigned __int128)1 << 100;
    if (h != 37 || other(3) != 108 || quotient(big + 5, 3) != (big + 5) / 3) return puts("FAILED"), 1;
    return 0;
}
