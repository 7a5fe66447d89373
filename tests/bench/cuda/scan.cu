// The scan of tests/bench/scan.c by CUB: scan [N].
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_scan.cuh>
#include <vector>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1 << 24, wrong = 0, s = 0;
    std::vector<int> x(n);
    for (int i = 0; i < n; i++)
        x[i] = i % 5 - 1;
    int *dx, *dy;
    size_t bytes = 0;
    void *memory = nullptr;
    cudaMalloc((void **)&dx, n * sizeof(int)), cudaMalloc((void **)&dy, n * sizeof(int));
    cudaMemcpy(dx, x.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cub::DeviceScan::InclusiveSum(nullptr, bytes, dx, dy, n);
    cudaMalloc(&memory, bytes);
    cub::DeviceScan::InclusiveSum(memory, bytes, dx, dy, n);
    cudaMemcpy(x.data(), dy, n * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        wrong += x[i] != (s += i % 5 - 1);
    return wrong != 0;
}
