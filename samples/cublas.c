/* cublas - y = a*x + y by a library, between regions, without a copy to the host.
 *
 * `interop init(targetsync: …)` gives the program a queue of the device.  On a GPU that is a stream of CUDA, which
 * cuBLAS takes; `use_device_addr` gives the addresses that the arrays have there; and `interop destroy` waits for what
 * the library has put into the stream.  cuBLAS is opened when the program runs, so that it needs none to be built.
 * On the emulated device, and where there is no cuBLAS, a library of ten lines takes its place.
 *
 * usage: cublas [n]                                                                                        */
#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <ompgpu/ompgpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ cuBLAS */
static int cublas_axpy(void *stream, int n, float a, const float *x, float *y)
{
    int (*create)(void **), (*set_stream)(void *, void *), (*destroy)(void *);
    int (*saxpy)(void *, int, const float *, const float *, int, float *, int);
    void *library = dlopen("libcublas.so", RTLD_NOW), *handle;

    if (!library)
        library = dlopen("/usr/local/cuda/lib64/libcublas.so", RTLD_NOW);
    if (!library)
        return 1;
    *(void **)&create = dlsym(library, "cublasCreate_v2");
    *(void **)&set_stream = dlsym(library, "cublasSetStream_v2");
    *(void **)&saxpy = dlsym(library, "cublasSaxpy_v2");
    *(void **)&destroy = dlsym(library, "cublasDestroy_v2");
    if (create(&handle))
        return 1;
    int bad = set_stream(handle, stream) || saxpy(handle, n, &a, x, 1, y, 1);
    return destroy(handle) || bad;
}

/* ------------------------------------------------------------------ a library for the emulated device */
struct job {
    int n;
    float a;
    const float *x;
    float *y;
};

static void our_axpy(void *argument)
{
    const struct job *j = argument;
    for (int i = 0; i < j->n; i++)   /* the emulated device's memory is in the host's reach */
        j->y[i] += j->a * j->x[i];
}

/* ------------------------------------------------------------------ the program */
static void axpy(int n, float a, float *x, float *y)
{
    omp_interop_t object = omp_interop_none;
    struct job job = { n, a, x, y };
    int done = 0;

#pragma omp interop init(targetsync: object)
#pragma omp target data map(to: x[0:n]) map(tofrom: y[0:n]) use_device_ptr(x, y)
    {
        const char *runtime = omp_get_interop_str(object, omp_ipr_fr_name, NULL);
        void *stream = omp_get_interop_ptr(object, omp_ipr_targetsync, NULL);
        job.x = x, job.y = y;
        if (runtime && !strcmp(runtime, "cuda"))
            done = !cublas_axpy(stream, n, a, x, y);
        else if (runtime)
            done = !ompgpu_interop_call(object, our_axpy, &job);
#pragma omp interop destroy(object)
        if (!done) {                 /* no library: the device does it */
#pragma omp target teams distribute parallel for is_device_ptr(x, y)
            for (int i = 0; i < n; i++)
                y[i] += a * x[i];
        }
#pragma omp target teams distribute parallel for is_device_ptr(y)
        for (int i = 0; i < n; i++)
            y[i] *= 2;
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000000;
    float a = 2.5f, *x = malloc((n + 1) * sizeof *x), *y = malloc((n + 1) * sizeof *y);

    if (n < 0 || !x || !y)
        return fprintf(stderr, "cublas: bad size\n"), 1;
    for (int i = 0; i < n; i++) {
        x[i] = (float)(i % 1000) * 0.5f;
        y[i] = (float)(i % 7);
    }
    axpy(n, a, x, y);

    float error = 0;
    for (int i = 0; i < n; i++)      /* x and y are small multiples of 1/4: the sum is exact */
        error = fmaxf(error, fabsf(y[i] - 2 * (a * (float)(i % 1000) * 0.5f + (float)(i % 7))));
    printf("cublas: n=%d max error %g %s\n", n, (double)error, error == 0 ? "OK" : "FAILED");
    free(x), free(y);
    return error != 0;
}
