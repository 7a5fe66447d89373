// The three regions of samples/lud.c.
enum { BLOCK = 16 };
__device__ void load(float tile[BLOCK][BLOCK], const float *a, int n)
{
    for (int k = threadIdx.x; k < BLOCK * BLOCK; k += blockDim.x)
        tile[k / BLOCK][k % BLOCK] = a[k / BLOCK * n + k % BLOCK];
}

__global__ void __launch_bounds__(BLOCK * BLOCK) diagonal(float *__restrict__ a, int n, int k)
{
    __shared__ float tile[BLOCK][BLOCK];
    float *block = &a[k * n + k];
    load(tile, block, n);
    __syncthreads();
    for (int p = 0; p < BLOCK - 1; p++) {
        float pivot = 1 / tile[p][p];
        for (int i = p + 1 + threadIdx.x; i < BLOCK; i += blockDim.x)
            tile[i][p] *= pivot;
        __syncthreads();
        for (int id = threadIdx.x; id < (BLOCK - 1) * (BLOCK - 1); id += blockDim.x) {
            int i = id / (BLOCK - 1) + 1, j = id % (BLOCK - 1) + 1;
            if (i > p && j > p)
                tile[i][j] -= tile[i][p] * tile[p][j];
        }
        __syncthreads();
    }
    for (int id = threadIdx.x; id < BLOCK * BLOCK; id += blockDim.x)
        block[id / BLOCK * n + id % BLOCK] = tile[id / BLOCK][id % BLOCK];
}

__global__ void __launch_bounds__(BLOCK) perimeter(float *__restrict__ a, int n, int k)
{
    __shared__ float tile[BLOCK][BLOCK];
    int rest = (n - k) / BLOCK - 1;
    for (int b = blockIdx.x; b < 2 * rest; b += gridDim.x) {
        int at = k + (b / 2 + 1) * BLOCK;
        load(tile, &a[k * n + k], n);
        __syncthreads();
        if (b % 2 == 0) {
            for (int j = at + threadIdx.x; j < at + BLOCK; j += blockDim.x)
                for (int i = 1; i < BLOCK; i++) {
                    float x = a[(k + i) * n + j];
                    for (int l = 0; l < i; l++)
                        x -= tile[i][l] * a[(k + l) * n + j];
                    a[(k + i) * n + j] = x;
                }
        } else {
            for (int i = at + threadIdx.x; i < at + BLOCK; i += blockDim.x)
                for (int j = 0; j < BLOCK; j++) {
                    float x = a[i * n + k + j];
                    for (int l = 0; l < j; l++)
                        x -= a[i * n + k + l] * tile[l][j];
                    a[i * n + k + j] = x / tile[j][j];
                }
        }
        __syncthreads();
    }
}

__global__ void __launch_bounds__(BLOCK * BLOCK) interior(float *__restrict__ a, int n, int k)
{
    __shared__ float left[BLOCK][BLOCK], upper[BLOCK][BLOCK];
    int rest = (n - k) / BLOCK - 1;
    for (int b = blockIdx.x; b < rest * rest; b += gridDim.x) {
        int top = k + BLOCK + b / rest * BLOCK, side = k + BLOCK + b % rest * BLOCK;
        load(left, &a[top * n + k], n);
        load(upper, &a[k * n + side], n);
        __syncthreads();
        for (int id = threadIdx.x; id < BLOCK * BLOCK; id += blockDim.x) {
            int i = id / BLOCK, j = id % BLOCK;
            float sum = 0;
            for (int l = 0; l < BLOCK; l++)
                sum += left[i][l] * upper[l][j];
            a[(top + i) * n + side + j] -= sum;
        }
        __syncthreads();
    }
}

#ifdef MAIN
#include "time.h"
int main(int argc, char **argv)
{
    int n = (atoi(argc > 1 ? argv[1] : "128") + BLOCK - 1) / BLOCK * BLOCK;
    float *a = on_device<float>((size_t)n * n, 1);
    for (int k = 0; k < n; k += BLOCK) {
        int rest = (n - k) / BLOCK - 1;
        timed("diagonal", 1, BLOCK * BLOCK, [&] { diagonal<<<1, BLOCK * BLOCK>>>(a, n, k); });
        if (!rest)
            break;
        timed("perimeter", 2 * rest, BLOCK, [&] { perimeter<<<2 * rest, BLOCK>>>(a, n, k); });
        timed("interior", rest * rest, BLOCK * BLOCK, [&] { interior<<<rest * rest, BLOCK * BLOCK>>>(a, n, k); });
    }
}
#endif
