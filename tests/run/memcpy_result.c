/* flags: -fno-builtin */
/* a local that the result of memcpy leads to, where memcpy is a function as any other */
#include "check.h"

int main(void)
{
    int out[64], src[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
#pragma omp target map(from: out) map(to: src)
    {
        int buf[8], *q = memcpy(buf, src, sizeof buf);
#pragma omp parallel for
        for (int i = 0; i < 64; i++) out[i] = q[i % 8];
    }
    for (int i = 0; i < 64; i++) CHECK_EQ(out[i], i % 8 + 1);
    return RESULT;
}
