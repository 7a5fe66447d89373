// The loop of samples/axpy.c as a CUDA programmer writes it.
__global__ void axpy(int n, float a, const float *__restrict__ x, float *__restrict__ y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

#ifdef MAIN
#include "time.h"
int main(int argc, char **argv)
{
    int n = atoi(argc > 1 ? argv[1] : "1000000"), teams = (n + 127) / 128;
    float *x = on_device<float>(n, 1), *y = on_device<float>(n, 1);
    timed("axpy", teams, 128, [&] { axpy<<<teams, 128>>>(n, 2, x, y); });
}
#endif
