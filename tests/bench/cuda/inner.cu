// inner.c: a block of threads for an element of the product.
#include "block.h"
enum { SIDE = 16, DEPTH = 4096 };

__global__ void product(int n, int m, const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ z)
{
    int i = blockIdx.x / n, j = blockIdx.x % n;
    float s = 0;
#pragma unroll 4
    for (int k = threadIdx.x; k < m; k += blockDim.x)
        s += x[i * m + k] * y[k * n + j];
    s = block(s);
    if (threadIdx.x == 0)
        z[i * n + j] = s;
}

#ifdef MAIN
#include "time.h"
int main()
{
    float *x = on_device<float>(SIDE * DEPTH, 1), *y = on_device<float>(SIDE * DEPTH, 2), *z = on_device<float>(SIDE * SIDE);
    timed("product", SIDE * SIDE, 128, [&] { product<<<SIDE * SIDE, 128>>>(SIDE, DEPTH, x, y, z); });
}
#endif
