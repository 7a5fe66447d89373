// cub.cu - CUB's reductions, scans and sorts, of the device, of a block and of a warp.
#include "check.h"
#include <algorithm>
#include <cub/cub.cuh>

enum { N = 10007, THREADS = 128 };
static const int count = N;
template <class T> T value(int i) { return (T)((i * 2654435761u >> 20) % 1000) - (T)500; }

template <class F> void with_storage(F call)
{
    size_t bytes = 0;
    void *storage = nullptr;
    must(call(storage, bytes));
    must(cudaMalloc(&storage, bytes));
    must(call(storage, bytes));
    must(cudaFree(storage));
}

template <class T> void reductions(const char *name, double relative)
{
    Array<T> in(N, value<T>), out(3);
    Array<cub::KeyValuePair<int, T>> arg(1);
    with_storage([&](void *s, size_t &b) { return cub::DeviceReduce::Sum(s, b, in.device, out.device, count); });
    with_storage([&](void *s, size_t &b) { return cub::DeviceReduce::Min(s, b, in.device, out.device + 1, count); });
    with_storage([&](void *s, size_t &b) { return cub::DeviceReduce::Max(s, b, in.device, out.device + 2, count); });
    T sum = 0, least = in.host[0], most = in.host[0];
    for (int i = 0; i < N; i++)
        sum += in.host[i], least = std::min(least, in.host[i]), most = std::max(most, in.host[i]);
    expect(name, out, [&](int i) { return i == 0 ? sum : i == 1 ? least : most; }, relative);
}

__global__ void blocks(int *scan, int *sum, const int *in)
{
    typedef cub::BlockScan<int, THREADS> Scan;
    typedef cub::BlockReduce<int, THREADS> Reduce;
    __shared__ union {
        typename Scan::TempStorage scan;
        typename Reduce::TempStorage reduce;
    } s;
    int t = threadIdx.x, v = in[t], prefix;
    Scan(s.scan).InclusiveSum(v, prefix);
    scan[t] = prefix;
    __syncthreads();
    int total = Reduce(s.reduce).Sum(v);
    if (t == 0)
        *sum = total;
}
__global__ void warps(int *out, const int *in)
{
    typedef cub::WarpReduce<int> Reduce;
    typedef cub::WarpScan<int, 16> Scan;
    __shared__ typename Reduce::TempStorage reduce[THREADS / 32];
    __shared__ typename Scan::TempStorage scan[THREADS / 16];
    int t = threadIdx.x, prefix, v = in[t], most = Reduce(reduce[t / 32]).Reduce(v, cuda::maximum<>{});
    Scan(scan[t / 16]).ExclusiveSum(v, prefix);
    out[t * 2] = t % 32 ? 0 : most;
    out[t * 2 + 1] = prefix;
}

static void sorts()
{
    Array<unsigned> keys(N, [](int i) { return i * 2654435761u; }), sorted(N);
    Array<int> values(N, [](int i) { return i; }), moved(N);
    with_storage([&](void *s, size_t &b) { return cub::DeviceRadixSort::SortPairs(s, b, keys.device, sorted.device, values.device, moved.device, count); });
    std::vector<unsigned> w(keys.host);
    std::sort(w.begin(), w.end());
    expect("DeviceRadixSort keys", sorted, [&](int i) { return w[i]; });
    expect("DeviceRadixSort values", moved, [&](int i) { return (int)(w[i] * 244002641u); });
}

int main()
{
    reductions<int>("DeviceReduce int", 0);
    reductions<double>("DeviceReduce double", 0);
    Array<int> in(N, value<int>), scan(N), block(THREADS), sum(1), warp(2 * THREADS);
    with_storage([&](void *s, size_t &b) { return cub::DeviceScan::InclusiveSum(s, b, in.device, scan.device, count); });
    std::vector<int> prefix(in.host);
    for (int i = 1; i < N; i++)
        prefix[i] += prefix[i - 1];
    expect("DeviceScan", scan, [&](int i) { return prefix[i]; });
    blocks<<<1, THREADS>>>(block.device, sum.device, in.device);
    auto sum_of = [&](int from, int end) {
        int s = 0;
        for (int k = from; k < end; k++)
            s += in.host[k];
        return s;
    };
    expect("BlockScan", block, [&](int i) { return sum_of(0, i + 1); });
    expect("BlockReduce", sum, [&](int) { return sum_of(0, THREADS); });
    warps<<<1, THREADS>>>(warp.device, in.device);
    expect("WarpReduce, WarpScan", warp, [&](int i) {
        int t = i / 2, most = in.host[t];
        for (int k = t; k < t + 32; k++)
            most = std::max(most, in.host[k]);
        return i % 2 ? sum_of(t / 16 * 16, t) : t % 32 ? 0 : most;
    });
    sorts();
    return result();
}
