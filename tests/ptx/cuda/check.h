// check.h - for the CUDA programs of this folder: arrays on the device, and comparison with what the host computes.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static int failures;
static void must(cudaError_t r)
{
    if (r)
        printf("CUDA: %s\n", cudaGetErrorString(r)), exit(1);
}

// An array of n elements with its copy on the device; the device's begins with what `init` says.
template <class T> struct Array {
    std::vector<T> host;
    T *device = nullptr;
    template <class F> Array(size_t n, F init) : host(n)
    {
        for (size_t i = 0; i < n; i++)
            host[i] = init((int)i);
        must(cudaMalloc((void **)&device, n * sizeof(T)));
        must(cudaMemcpy(device, host.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    }
    explicit Array(size_t n) : Array(n, [](int) { return T(); }) {}
    ~Array() { cudaFree(device); }
    operator T *() { return device; }
    T *fetch()
    {
        must(cudaDeviceSynchronize());
        must(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
        return host.data();
    }
};

static bool same(double a, double b, double relative)
{
    return a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= relative * std::fmax(std::fabs(a), std::fabs(b));
}
// Every element is what `wanted(i)` says, up to a relative error.
template <class T, class F> void expect(const char *name, Array<T> &a, F wanted, double relative = 0)
{
    a.fetch();
    for (size_t i = 0; i < a.host.size(); i++) {
        double w = (double)wanted((int)i), h = (double)a.host[i];
        if (!same(h, w, relative) || (relative == 0 && (T)wanted((int)i) != a.host[i])) {
            printf("FAILED %s: [%zu] is %.17g, not %.17g\n", name, i, h, w);
            failures++;
            return;
        }
    }
}
static int result()
{
    if (!failures)
        puts("OK");
    return failures != 0;
}
