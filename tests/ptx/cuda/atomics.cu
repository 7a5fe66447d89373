// atomics.cu - atomic updates of all types, operations and scopes, in global and shared memory; locks and the last block built on them.
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <type_traits>

enum { THREADS = 96, TEAMS = 3, ALL_THREADS = THREADS * TEAMS };

// Slots 0 … 9 of each type: a result that does not depend on the order of the threads.
template <class T> __device__ void update(T *s, int t)
{
    atomicAdd(&s[0], (T)t);
    atomicMax(&s[2], (T)(t * 7 % 100));
    atomicMin(&s[3], (T)(t * 7 % 100));
    atomicAnd(&s[4], (T) ~(1 << t % 8));
    atomicOr(&s[5], (T)(1 << t % 8));
    atomicXor(&s[6], (T)t);
    if (t == 5)
        atomicExch(&s[7], (T)12345);
    for (T old = s[8], seen;; old = seen)         // addition by compare and swap
        if ((seen = atomicCAS(&s[8], old, old + (T)1)) == old)
            break;
}
__device__ void update_32(unsigned *s, int t)
{
    update(s, t);
    atomicSub(&s[1], (unsigned)t);
    atomicInc(&s[9], 9);
    atomicDec(&s[10], 9);
}
template <class T> __global__ void integers(T *out)
{
    __shared__ T s[16];
    if (threadIdx.x < 16)
        s[threadIdx.x] = threadIdx.x == 3 || threadIdx.x == 4 ? 127 : 0;
    __syncthreads();
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if constexpr (std::is_same<T, unsigned>::value)
        update_32(out, t), update_32(s, t);
    else
        update(out, t), update(s, t);
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x < 16)
        out[16 + threadIdx.x] = s[threadIdx.x];
}
template <class T> void test_integers(const char *name)
{
    auto start = [](int k) { return (T)(k == 3 || k == 4 ? 127 : 0); };
    Array<T> out(32, [&](int i) { return start(i % 16); });
    integers<<<TEAMS, THREADS>>>(out.device);
    expect(name, out, [&](int i) {
        int first = i < 16 ? 0 : THREADS, end = i < 16 ? ALL_THREADS : 2 * THREADS, k = i % 16, n = end - first;
        T s = start(k), sum = 0, most = 0, least = 100, x = 0;
        for (int t = first; t < end; t++) {
            sum += (T)t, x ^= (T)t;
            most = std::max(most, (T)(t * 7 % 100)), least = std::min(least, (T)(t * 7 % 100));
        }
        bool is32 = std::is_same<T, unsigned>::value;
        switch (k) {
        case 0: return sum;
        case 1: return is32 ? (T)(0 - sum) : s;
        case 2: return most;
        case 3: return least;
        case 4: return (T)0;
        case 5: return (T)255;
        case 6: return x;
        case 7: return first <= 5 && 5 < end ? (T)12345 : (T)0;
        case 8: return (T)n;
        case 9: return is32 ? (T)(n % 10) : (T)0;
        case 10: return is32 ? (T)((10 - n % 10) % 10) : (T)0;
        }
        return s;
    });
}

__global__ void floats(float *f, double *d, __half *h, __half2 *h2, __nv_bfloat16 *b, unsigned short *us, float2 *f2)
{
    int t = threadIdx.x;
    atomicAdd(f, 0.5f), atomicAdd(d, 0.25), atomicAdd(h, __float2half(1)), atomicAdd(b, __float2bfloat16(1));
    atomicAdd(h2, __floats2half2_rn(1, 2));
    atomicExch(f + 1, 7.f);
    atomicAdd_block(f + 2, 1.f), atomicAdd_system(d + 1, 1.);
    for (unsigned short old = *us, seen;; old = seen)
        if ((seen = atomicCAS(us, old, (unsigned short)(old + t))) == old)
            break;
#if __CUDA_ARCH__ >= 900
    atomicAdd(f2, make_float2(1, 2));
#else
    atomicAdd(&f2->x, 1), atomicAdd(&f2->y, 2);
#endif
}
void test_floats()
{
    Array<float> f(3), f2(2);
    Array<double> d(2);
    Array<__half> h(1);
    Array<float> halves(1);
    Array<__half2> h2(1);
    Array<__nv_bfloat16> b(1);
    Array<unsigned short> us(1);
    floats<<<1, 64>>>(f.device, d.device, h.device, h2.device, b.device, us.device, (float2 *)f2.device);
    expect("atomic float", f, [](int i) { return i == 0 ? 32.f : i == 1 ? 7.f : 64.f; });
    expect("atomic float2", f2, [](int i) { return i ? 128.f : 64.f; });
    expect("atomic double", d, [](int i) { return i ? 64. : 16.; });
    expect("atomic unsigned short", us, [](int) { return 2016; });
    h.fetch(), h2.fetch(), b.fetch();
    float got[] = { __half2float(h.host[0]), __low2float(h2.host[0]), __high2float(h2.host[0]), __bfloat162float(b.host[0]) };
    if (got[0] != 64 || got[1] != 64 || got[2] != 128 || got[3] != 64)
        printf("FAILED half %g %g %g %g\n", got[0], got[1], got[2], got[3]), failures++;
}

// Scopes.
__global__ void scopes(int *out)
{
    __shared__ int s;
    if (threadIdx.x == 0)
        s = 0;
    __syncthreads();
    atomicAdd_block(&out[0], 1), atomicAdd_system(&out[0], 1), atomicMax_system(&out[1], (int)threadIdx.x);
    atomicOr_block(&out[2], 1 << threadIdx.x % 30), atomicCAS_system(&out[3], 0, 9), atomicAdd_block(&s, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        out[4] = s;
}

// A lock, and the pattern in which the last block adds up what the others left.
__device__ unsigned arrived, lock_word;
__device__ volatile int guarded;
__global__ void lock_and_last(int *slot, int *sum)
{
    __shared__ bool last;
    for (bool done = false; !done;)
        if (atomicCAS(&lock_word, 0, 1) == 0) {
            __threadfence();
            guarded = guarded + 1;
            __threadfence();
            atomicExch(&lock_word, 0);
            done = true;
        }
    __syncthreads(); // the block has arrived when all of its threads have
    if (threadIdx.x == 0) {
        slot[blockIdx.x] = blockIdx.x * blockIdx.x;
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        for (unsigned k = 0; k < gridDim.x; k++)
            *sum += ((volatile int *)slot)[k];
        sum[1] = guarded;
    }
}

int main()
{
    test_integers<int>("atomic int");
    test_integers<unsigned>("atomic unsigned");
    test_integers<unsigned long long>("atomic unsigned long long");
    test_floats();
    Array<int> s(5);
    scopes<<<1, 64>>>(s.device);
    expect("scopes", s, [](int i) {
        int w[] = { 128, 63, 0x3fffffff, 9, 64 };
        return w[i];
    });
    Array<int> slot(5), sum(2);
    lock_and_last<<<5, 40>>>(slot.device, sum.device);
    expect("lock, last block", sum, [](int i) { return i ? 200 : 30; });
    return result();
}
