// memory.cu - the spaces and how they are accessed: vectors of all widths, cache hints, asynchronous copies to shared memory, tiles, constants,
// initialised globals with pointers in them, packed structures, predicates on addresses, volatile and byte-wise copies.
#include "check.h"
#include <cuda_pipeline.h>

template <class V, class E, int N> __global__ void vectors(V *out, const V *in)
{
    int t = threadIdx.x;
    V v = in[t];
    E *e = (E *)&v;
    for (int k = 0; k < N; k++)
        e[k] = (E)(e[k] * 2 + k);
    out[t] = v;
}
template <class V, class E, int N> void test_vectors(const char *name)
{
    Array<E> in(64 * N, [](int i) { return (E)(i % 50); }), out(64 * N);
    vectors<V, E, N><<<1, 64>>>((V *)out.device, (const V *)in.device);
    expect(name, out, [](int i) { return (E)(i % 50 * 2 + i % N); });
}

__global__ void hints(int *out, const int *in, float4 *f)
{
    int t = threadIdx.x;
    out[t] = __ldg(in + t) + __ldcg(in + t) + __ldca(in + t) + __ldcs(in + t) + __ldlu(in + t) + __ldcv(in + t);
    float4 v = __ldg(f + t);
    v.x += 1;
    __stcs(f + t, v);
    __stwt(out + 64 + t, t), __stcg(out + 128 + t, t), __stwb(out + 192 + t, t);
}

// Four threads' worth of 4, 8 and 16 bytes each go to shared memory without a register.
__global__ void asynchronous(int *out, const int *in)
{
    __shared__ alignas(16) int stage[2][512];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&stage[0][t], in + t, 4);
    __pipeline_memcpy_async(&stage[0][128 + 2 * t], in + 128 + 2 * t, 8);
    __pipeline_commit();
    __pipeline_memcpy_async(&stage[1][4 * t], in + 4 * t, 16);
    __pipeline_memcpy_async(&stage[0][384 + t], in + t, 4, 2); // two bytes are zero
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    int early = stage[0][(t + 1) % 128] + stage[0][128 + (2 * t + 5) % 256];
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = early;
    for (int k = 0; k < 4; k++)
        out[128 + 4 * t + k] = stage[1][(4 * t + k + 9) % 512];
    out[640 + t] = stage[0][384 + t];
}

enum { TILE = 16 };
__global__ void transpose(float *out, const float *in, int n)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < n && y < n)
        tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    if (x < n && y < n)
        out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

__constant__ int coefficients[8] = { 1, 2, 3 };
__constant__ double filled_by_host[4];
__device__ int numbers[5] = { 10, 20, 30, 40, 50 };
__device__ int *pointer = numbers + 2;
__device__ const char *const words[] = { "zero", "one", "two" };
__device__ struct Inner {
    short s;
    int *p;
    float f[3];
} structure = { -3, &numbers[4], { 1.5f, 2.5f } };
__device__ int counter;
__global__ void globals(double *out)
{
    int t = threadIdx.x;
    out[t * 4] = coefficients[t % 8] + filled_by_host[t % 4];
    out[t * 4 + 1] = pointer[t % 3] + *structure.p + structure.s;
    out[t * 4 + 2] = words[t % 3][1] + structure.f[t % 3];
    out[t * 4 + 3] = atomicAdd(&counter, 1) >= 0;
}

struct __attribute__((packed)) Packed {
    char c;
    int i;
    double d;
    short s;
};
struct Bits {
    unsigned a : 3, b : 11;
    long long c : 40;
    bool d : 1;
};
__global__ void layouts(Packed *p, Bits *b, char *copy, const char *from, int n)
{
    int t = threadIdx.x;
    p[t].i += t, p[t].d *= 2, p[t].s = (short)(p[t].c - 1);
    b[t].a += 1, b[t].b = t * 3, b[t].c = -(1ll << 38) - t, b[t].d = t & 1;
    if (t == 0) {
        memcpy(copy, from, n);
        memset(copy + n, 0x5a, 7);
    }
}

__global__ void spaces(int *out, int *global)
{
    __shared__ int shared;
    int local = threadIdx.x, *p[] = { &shared, global, &local, (int *)coefficients };
    unsigned r = 0;
    for (int k = 0; k < 4; k++)
        r = r << 4 | (__isShared(p[k]) * 8 + __isGlobal(p[k]) * 4 + __isLocal(p[k]) * 2);
    volatile int *v = p[threadIdx.x % 2 ? 2 : 1];
    int before = *v;
    out[threadIdx.x] = (int)r + (before & 0);
    out[32 + threadIdx.x] = (int)(__cvta_generic_to_shared(&shared) < 1 << 20) + (*(int *)__cvta_shared_to_generic(__cvta_generic_to_shared(&shared)) = 1);
}

// A vector of 8 bytes is written and read at once, as CUB's scans over all blocks need it: number and value belong together.
__global__ void pairs(uint2 *cell, int *torn)
{
    const unsigned last = 300000;
    uint2 v = { 0, 0 };
    if (blockIdx.x == 0)
        for (unsigned k = 1; k <= last; k++)
            asm volatile("st.relaxed.gpu.v2.u32 [%0], {%1, %2};" ::"l"(cell), "r"(k * 7), "r"(k) : "memory");
    else
        while (v.y < last) {
            asm volatile("ld.relaxed.gpu.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(cell) : "memory");
            if (v.x != v.y * 7)
                atomicAdd(torn, 1);
        }
}

int main()
{
    test_vectors<char2, signed char, 2>("char2");
    test_vectors<uchar4, unsigned char, 4>("uchar4");
    test_vectors<short2, short, 2>("short2");
    test_vectors<ushort4, unsigned short, 4>("ushort4");
    test_vectors<int2, int, 2>("int2");
    test_vectors<int3, int, 3>("int3");
    test_vectors<uint4, unsigned, 4>("uint4");
    test_vectors<float2, float, 2>("float2");
    test_vectors<float4, float, 4>("float4");
    test_vectors<double2, double, 2>("double2");
    test_vectors<longlong2, long long, 2>("longlong2");

    Array<int> in(512, [](int i) { return i * 7; }), out(256), copied(768);
    Array<float> f(256, [](int i) { return i; });
    hints<<<1, 64>>>(out.device, in.device, (float4 *)f.device);
    expect("cache hints", out, [](int i) { return i < 64 ? i * 42 : i % 64; });
    expect("streamed vectors", f, [](int i) { return i % 4 ? i : i + 1; });
    asynchronous<<<1, 128>>>(copied.device, in.device);
    expect("cp.async", copied, [](int i) {
        return i < 128 ? (i + 1) % 128 * 7 + (128 + (2 * i + 5) % 256) * 7 : i < 640 ? (i - 128 + 9) % 512 * 7 : (i - 640) * 7 & 0xffff;
    });

    int n = 50;
    Array<float> a(n * n, [](int i) { return i; }), b(n * n);
    transpose<<<dim3(4, 4), dim3(TILE, TILE)>>>(b.device, a.device, n);
    expect("transpose", b, [&](int i) { return i % n * n + i / n; });

    double host[4] = { 0.5, 1.5, 2.5, 3.5 };
    int count = 100;
    must(cudaMemcpyToSymbol(filled_by_host, host, sizeof host));
    must(cudaMemcpyToSymbol(counter, &count, sizeof count));
    Array<double> g(128);
    globals<<<1, 32>>>(g.device);
    expect("globals", g, [](int i) {
        int t = i / 4;
        const char *word[] = { "zero", "one", "two" };
        double w[] = { (t % 8 < 3 ? t % 8 + 1 : 0) + t % 4 + 0.5, 30. + t % 3 * 10 + 50 - 3, word[t % 3][1] + (t % 3 < 2 ? t % 3 + 1.5 : 0), 1 };
        return w[i % 4];
    });
    must(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    if (count != 132)
        printf("FAILED symbol: %d\n", count), failures++;

    // packed structures need byte-wise access; nvcc must not assume more
    Array<Packed> p(32, [](int i) { return Packed{ (char)i, i * 10, i * 0.5, 0 }; });
    Array<Bits> bits(32, [](int i) { return Bits{ (unsigned)i, 0, 0, false }; });
    Array<char> from(40, [](int i) { return (char)(i + 1); }), copy(47);
    layouts<<<1, 32>>>(p.device, bits.device, copy.device, from.device, 40);
    p.fetch(), bits.fetch();
    for (int i = 0; i < 32; i++)
        if (p.host[i].i != i * 11 || p.host[i].d != i || p.host[i].s != i - 1 || bits.host[i].a != ((i + 1) & 7) || bits.host[i].b != i * 3u ||
            bits.host[i].c != -(1ll << 38) - i || bits.host[i].d != (i & 1))
            printf("FAILED layouts %d\n", i), failures++, i = 32;
    expect("memcpy, memset", copy, [](int i) { return i >= 40 ? 0x5a : i + 1; });
    Array<uint2> cell(1);
    Array<int> torn(1);
    pairs<<<2, 1>>>(cell.device, torn.device);
    expect("pairs", torn, [](int) { return 0; });
    Array<int> s(64);
    spaces<<<1, 32>>>(s.device, in.device);
    expect("spaces", s, [](int i) { return i < 32 ? 0x8420 : 2; });
    return result();
}
