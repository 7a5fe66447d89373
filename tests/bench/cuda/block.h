/* block.h - the sum of a block of threads, by shuffles and shared memory; thread 0 gets it. */
template <class T> __device__ T block(T s)
{
    __shared__ T ws[32];
    int lane = threadIdx.x % 32, w = threadIdx.x / 32, nwarps = (blockDim.x + 31) / 32;
    for (int d = 16; d; d /= 2)
        s += __shfl_down_sync(~0u, s, d);
    if (lane == 0)
        ws[w] = s;
    __syncthreads();
    if (w == 0) {
        s = lane < nwarps ? ws[lane] : 0;
        for (int d = 16; d; d /= 2)
            s += __shfl_down_sync(~0u, s, d);
    }
    return s;
}
