// groups.cu - what CUDA's own headers make of warps, blocks and memory: cooperative groups, cuda::atomic_ref with its orders and scopes.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;

// Tiles, and the groups of lanes that a branch left together.
__global__ void groups(int *out, int *counter)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int t = block.thread_rank();
    out[t * 6] = cg::reduce(tile, t, cg::plus<int>());
    out[t * 6 + 1] = cg::reduce(tile, t, cg::greater<int>());
    out[t * 6 + 2] = cg::inclusive_scan(tile, t);
    auto warp = cg::tiled_partition<32>(block);
    auto part = cg::labeled_partition(warp, t % 3);
    out[t * 6 + 3] = cg::reduce(part, 1, cg::plus<int>());
    out[t * 6 + 4] = cg::binary_partition(warp, t % 32 < 10).size();
    out[t * 6 + 5] = 0;
    if (t % 2) {                      // one atomic update for all lanes that came
        cg::coalesced_group g = cg::coalesced_threads();
        int first = 0;
        if (g.thread_rank() == 0)
            first = atomicAdd(counter, (int)g.size());
        first = g.shfl(first, 0);
        out[t * 6 + 5] = g.any(first >= 0) + g.all(t % 2);
        atomicAdd(counter + 1, first + (int)g.thread_rank());
    }
    block.sync();
}
void test_groups()
{
    Array<int> out(64 * 6), counter(2);
    groups<<<1, 64>>>(out.device, counter.device);
    expect("groups", out, [](int i) {
        int t = i / 6, tile = t / 8 * 8, sum = 0, n = 0;
        for (int k = tile; k <= t; k++)
            sum += k;
        for (int k = t / 32 * 32; k < t / 32 * 32 + 32; k++)
            n += k % 3 == t % 3;
        int w[] = { tile * 8 + 28, tile + 7, sum, n, t % 32 < 10 ? 10 : 22, t % 2 ? 2 : 0 };
        return w[i % 6];
    });
    expect("coalesced", counter, [](int i) { return i ? 31 * 32 / 2 : 32; });
}

__global__ void group_copy(int *out, const int *in, int n)
{
    extern __shared__ int buffer[];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, buffer, in, n * sizeof(int));
    cg::wait(block);
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        out[k] = buffer[n - 1 - k];
}

__global__ void orders(int *out)
{
    __shared__ int s;
    if (threadIdx.x == 0)
        s = 0;
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_device> device(out[0]);
    cuda::atomic_ref<int, cuda::thread_scope_block> block(s);
    cuda::atomic_ref<int, cuda::thread_scope_system> system(out[1]);
    device.fetch_add(1, cuda::memory_order_relaxed), device.fetch_add(1, cuda::memory_order_seq_cst);
    block.fetch_add(1, cuda::memory_order_acq_rel), system.fetch_sub(1, cuda::memory_order_release);
    int old = device.load(cuda::memory_order_acquire);
    while (!device.compare_exchange_weak(old, old + 1, cuda::memory_order_acquire, cuda::memory_order_relaxed))
        ;
    __syncthreads();
    if (threadIdx.x == 0)
        out[2] = block.load(cuda::memory_order_seq_cst), system.store(system.load() * 2, cuda::memory_order_release);
}

// One block hands values to another: release and acquire.
__global__ void hand_over(int *data, int *flag, int *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x * 3;
        __syncthreads();
        if (threadIdx.x == 0)
            f.store(1, cuda::memory_order_release);
    } else {
        if (threadIdx.x == 0)
            while (!f.load(cuda::memory_order_acquire))
                __nanosleep(100);
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x] + 1;
    }
}

int main()
{
    test_groups();
    Array<int> in(512, [](int i) { return i * 7; }), o(3);
    Array<int> reversed(300);
    group_copy<<<1, 64, 300 * sizeof(int)>>>(reversed.device, in.device, 300);
    expect("memcpy_async of a group", reversed, [](int i) { return (299 - i) * 7; });
    orders<<<1, 64>>>(o.device);
    expect("orders", o, [](int i) {
        int w[] = { 64 * 3, -128, 64 };
        return w[i];
    });
    Array<int> data(32), flag(1), out(32);
    hand_over<<<2, 32>>>(data.device, flag.device, out.device);
    expect("release and acquire", out, [](int i) { return i * 3 + 1; });
    return result();
}
