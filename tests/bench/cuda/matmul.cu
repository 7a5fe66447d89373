// The loops of samples/matmul.c: a thread an element, i * n + j taken apart in the thread.
__global__ void matmul(int n, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n * n; k += gridDim.x * blockDim.x) {
        int i = k / n, j = k % n;
        float sum = 0;
        for (int l = 0; l < n; l++)
            sum += a[i * n + l] * b[l * n + j];
        c[i * n + j] = sum;
    }
}

#ifdef MAIN
#include "time.h"
int main(int argc, char **argv)
{
    int n = atoi(argc > 1 ? argv[1] : "200"), teams = (n * n + 127) / 128;
    float *a = on_device<float>((size_t)n * n, 1), *b = on_device<float>((size_t)n * n, 1), *c = on_device<float>((size_t)n * n);
    timed("matmul", teams, 128, [&] { matmul<<<teams, 128>>>(n, a, b, c); });
}
#endif
