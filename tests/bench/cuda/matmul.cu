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
