// control.cu - divergence, switches, recursion, calls through pointers, virtual functions, local arrays, dynamic shared memory, barriers with values,
// named barriers, printf, the device's heap.
#include "check.h"

__global__ void collatz(int *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, n = 0;
    for (long long v = t + 1; v != 1; n++)        // as many iterations as the thread needs
        if (v % 2)
            v = 3 * v + 1;
        else
            v /= 2;
    out[t] = n;
}

__device__ __noinline__ int choose(int k, int x)
{
    switch (k) {
    case 0: return x + 1;
    case 1: return x * 3;
    case 2: return x - 7;
    case 3: return x ^ 0x55;
    case 4: x += 9; /* falls through */
    case 5: return x * x;
    case 6: return -x;
    case 8: return x % 7;
    case 9: return x << 3;
    default: return 1000;
    }
}
static int choose_host(int k, int x)
{
    int w[] = { x + 1, x * 3, x - 7, x ^ 0x55, (x + 9) * (x + 9), x * x, -x, 1000, x % 7, x << 3, 1000 };
    return w[k];
}
__global__ void switches(int *out) { out[threadIdx.x] = choose(threadIdx.x % 11, threadIdx.x); }

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int ackermann(int m, int n) { return !m ? n + 1 : !n ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
__global__ void recursion(int *out)
{
    int t = threadIdx.x;
    out[t] = t < 16 ? fibonacci(t % 12) : ackermann(2, t % 5);
}

struct Pair {
    double a;
    char c[5];
    int b;
};
__device__ __noinline__ Pair swapped(Pair p)
{
    Pair q = p;
    q.a = p.b, q.b = (int)p.a, q.c[0] = p.c[4], q.c[4] = p.c[0];
    return q;
}
typedef int (*operation)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ int times(int a, int b) { return a * b; }
__device__ operation table[] = { plus, minus, times };
struct Shape {
    __device__ virtual int area() const { return 0; }
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    int side;
    __device__ explicit Square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
};
struct Strip : Square {
    __device__ explicit Strip(int s) : Square(s) {}
    __device__ int area() const override { return Square::area() + side; }
};
__global__ void pointers(int *out)
{
    int t = threadIdx.x;
    Pair p = { t + 0.5, { (char)t, 1, 2, 3, 4 }, t * 2 };
    p = swapped(p);
    Shape *s = t % 2 ? new Square(t) : new Strip(t);
    out[t * 3] = table[t % 3](t, 5);
    out[t * 3 + 1] = (int)p.a + p.b * 1000 + p.c[4] - p.c[0];
    out[t * 3 + 2] = s->area();
    delete s;
}

// A local array that registers cannot hold, sorted by each thread.
__global__ void local_arrays(unsigned *out)
{
    unsigned a[32], seed = threadIdx.x + 1;
    for (int i = 0; i < 32; i++)
        a[i] = (seed = seed * 1664525 + 1013904223) >> 8;
    for (int i = 1; i < 32; i++)
        for (int k = i; k > 0 && a[k - 1] > a[k]; k--) {
            unsigned x = a[k];
            a[k] = a[k - 1], a[k - 1] = x;
        }
    bool sorted = true;
    for (int i = 1; i < 32; i++)
        sorted &= a[i - 1] <= a[i];
    out[threadIdx.x] = sorted ? a[threadIdx.x % 32] : 0;
}
static unsigned sorted_host(int t)
{
    unsigned a[32], seed = t + 1;
    for (int i = 0; i < 32; i++)
        a[i] = (seed = seed * 1664525 + 1013904223) >> 8;
    for (int i = 1; i < 32; i++)
        for (int k = i; k > 0 && a[k - 1] > a[k]; k--)
            std::swap(a[k], a[k - 1]);
    return a[t % 32];
}

extern __shared__ double dynamic[];
__global__ void reverse(double *p, int n)
{
    __shared__ int fixed[7];
    int *after = (int *)(dynamic + n), t = threadIdx.x;
    if (t < 7)
        fixed[t] = t;
    dynamic[t] = p[t], after[t] = t;
    __syncthreads();
    p[t] = dynamic[n - 1 - t] + after[(t + 1) % n] + fixed[t % 7];
}

__global__ void barriers(int *out)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    out[t * 4] = __syncthreads_count(t % 3 == 0);
    out[t * 4 + 1] = __syncthreads_and(t < 128) + 2 * __syncthreads_or(t == 200);
    if (t < 64) {                     // warps 0 and 1 hand over to warps 2 and 3: barrier 1, then 2
        box[t] = t * t;
        asm volatile("bar.arrive 1, 128;" ::: "memory");
        asm volatile("bar.sync 2, 128;" ::: "memory");
        out[t * 4 + 2] = box[t];
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        int v = box[t - 64];
        asm volatile("bar.sync 3, 64;" ::: "memory");
        box[t - 64] = v + 1;
        asm volatile("bar.arrive 2, 128;" ::: "memory");
        out[t * 4 + 2] = v;
    }
    if (t % 2)
        out[t * 4 + 3] = t;
    else
        out[t * 4 + 3] = -t;
}

__global__ void early_exit(int *out, int n)
{
    if (threadIdx.x >= n)
        return;
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncwarp((1u << n) - 1);
    atomicAdd(&sum, 1);
    __syncwarp((1u << n) - 1);
    out[threadIdx.x] = sum;
}

__global__ void heap(int *out)
{
    int n = threadIdx.x + 1, *p = (int *)malloc(n * sizeof *p), sum = 0;
    for (int i = 0; i < n; i++)
        p[i] = i;
    for (int i = 0; i < n; i++)
        sum += p[i];
    out[threadIdx.x] = sum;
    free(p);
}

__global__ void prints(const char *word, int n)
{
    if (threadIdx.x == 3)
        printf("thread %d of %u: %s %5.2f %lld %c %x %% %p\n", threadIdx.x, blockDim.x, word, n * 0.5, 1ll << 40, 'x', 255, (void *)0x1234);
}
__device__ const char device_word[] = "word";
__global__ void prints_constant() { printf("%s %-6d|%06d|%+d|%e|%llu\n", device_word, 42, 42, 42, 1e10, ~0ull); }

int main()
{
    Array<int> c(256), s(64), r(32), p(96), b(512), e(32), h(64);
    collatz<<<4, 64>>>(c.device);
    expect("divergent loops", c, [](int i) {
        int n = 0;
        for (long long v = i + 1; v != 1; n++)
            v = v % 2 ? 3 * v + 1 : v / 2;
        return n;
    });
    switches<<<1, 64>>>(s.device);
    expect("switch", s, [](int i) { return choose_host(i % 11, i); });
    recursion<<<1, 32>>>(r.device);
    expect("recursion", r, [](int i) {
        int f[] = { 0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89 };
        return i < 16 ? f[i % 12] : 2 * (i % 5) + 3;
    });
    pointers<<<1, 32>>>(p.device);
    expect("calls through pointers", p, [](int i) {
        int t = i / 3, w[] = { t % 3 == 0 ? t + 5 : t % 3 == 1 ? t - 5 : t * 5, t * 2 + t * 1000 + t - 4, t % 2 ? t * t : t * t + t };
        return w[i % 3];
    });
    Array<unsigned> l(64);
    local_arrays<<<1, 64>>>(l.device);
    expect("local arrays", l, sorted_host);
    Array<double> d(100, [](int i) { return i * 0.25; });
    reverse<<<1, 100, 100 * (sizeof(double) + sizeof(int))>>>(d.device, 100);
    expect("dynamic shared memory", d, [](int i) { return (99 - i) * 0.25 + (i + 1) % 100 + i % 7; });
    barriers<<<1, 128>>>(b.device);
    expect("barriers", b, [](int i) {
        int t = i / 4, w[] = { 43, 1, t < 64 ? t * t + 1 : (t - 64) * (t - 64), t % 2 ? t : -t };
        return w[i % 4];
    });
    early_exit<<<1, 32>>>(e.device, 13);
    expect("early exit", e, [](int i) { return i < 13 ? 13 : 0; });
    heap<<<1, 64>>>(h.device);
    expect("heap", h, [](int i) { return i * (i + 1) / 2; });
    Array<char> word(6, [](int i) { return "hello"[i]; });
    prints<<<1, 32>>>(word.device, 7);
    prints_constant<<<1, 1>>>();
    must(cudaDeviceSynchronize());
    return result();
}
