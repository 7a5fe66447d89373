/* cudart.c - as much of the CUDA runtime as the programs of tests/ptx/cuda and tests/bench/cuda call, over the CUDA driver's calls: it takes the
 * place of libcudart, so that a program that nvcc compiled runs on the PTX machine as it is.  The PTX is in the file PROGRAM.ptx (cuda.sh puts it
 * there).  nvcc's part of the program registers its kernels and variables before main, then calls what is here. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/beyond.h"

enum { MOST = 512 };
static struct symbol { /* of the host, with its name in the PTX */
    const void *host;
    const char *name;
    CUfunction function;
} symbols[MOST];
static unsigned nsymbols;
static CUmodule module;
static CUstream stream;
static struct {
    dim3 grid, block;
    size_t shared;
    struct CUstream_st *stream;
} pending;
static cudaError_t last;

#define result(r) failed(__func__, r)
static cudaError_t failed(const char *call, CUresult r)
{
    const char *text = "";
    if (r && !last) {
        cuGetErrorString(r, &text);
        fprintf(stderr, "cudart: %s: error %d: %s\n", call, (int)r, text);
        last = (cudaError_t)r; /* the numbers are the driver's */
    }
    return (cudaError_t)r;
}
static _Noreturn void die(const char *what, const char *more)
{
    fprintf(stderr, "cudart: %s %s\n", what, more);
    exit(3);
}

static char *ptx_of_program(void)
{
    char path[4096];
    FILE *f = fopen("/proc/self/cmdline", "r"); /* argv[0]: also under a link */
    size_t n = f ? fread(path, 1, sizeof path - 5, f) : 0;
    if (f)
        fclose(f);
    path[n] = 0;
    strcat(path, ".ptx");
    char *text = NULL;
    if (!(f = fopen(path, "r")))
        die("cannot open", path);
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    if (!(text = calloc(1, (size_t)size + 1)) || fread(text, 1, (size_t)size, f) != (size_t)size)
        die("cannot read", path);
    fclose(f);
    return text;
}

static void open_device(void)
{
    static char log[1000];
    CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log, (void *)sizeof log };
    CUcontext context;
    if (module)
        return;
    char *text = ptx_of_program();
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || cuStreamCreate(&stream, 1))
        die("no device", "");
    if (cuModuleLoadDataEx(&module, text, 2, options, values))
        die("the PTX is refused:", log);
    free(text);
}

/* ------------------------------------------------------------------ what nvcc's part of the program calls */
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
char __cudaInitModule(void **);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, struct CUstream_st *);
cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);

void **__cudaRegisterFatBinary(void *image)
{
    static void *handle;
    handle = image;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }
char __cudaInitModule(void **handle) { return handle != NULL; }
static void add_symbol(const void *host, const char *name)
{
    if (nsymbols == MOST)
        die("too many symbols:", name);
    symbols[nsymbols++] = (struct symbol){ .host = host, .name = name };
}
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size, int constant, int global)
{
    (void)handle, (void)device, (void)external, (void)size, (void)constant, (void)global;
    add_symbol(host, name);
}
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, uint3 *tid, uint3 *bid, dim3 *block,
                            dim3 *grid, int *warp)
{
    (void)handle, (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    add_symbol(host, name);
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *s)
{
    pending.grid = grid, pending.block = block, pending.shared = shared, pending.stream = s;
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *s)
{
    *grid = pending.grid, *block = pending.block, *shared = pending.shared;
    *(struct CUstream_st **)s = pending.stream;
    return cudaSuccess;
}

/* ------------------------------------------------------------------ launches */
static struct symbol *symbol_of(const void *host)
{
    for (unsigned i = 0; i < nsymbols; i++)
        if (symbols[i].host == host)
            return &symbols[i];
    die("a symbol that was not registered", "");
}
static CUfunction function_of(const void *host)
{
    struct symbol *s = symbol_of(host);
    open_device();
    if (!s->function && cuModuleGetFunction(&s->function, module, s->name))
        die("no such kernel in the PTX:", s->name);
    return s->function;
}
/* Stream 0 is one of ours, which waits for no other. */
static CUstream stream_of(cudaStream_t s) { return s ? s : stream; }
cudaError_t cudaLaunchKernel(const void *host, dim3 g, dim3 b, void **args, size_t shared, cudaStream_t s)
{
    CUfunction f = function_of(host);
    return result(cuLaunchKernel(f, g.x, g.y, g.z, b.x, b.y, b.z, (unsigned)shared, stream_of(s), args, NULL));
}
cudaError_t cudaLaunchCooperativeKernel(const void *host, dim3 g, dim3 b, void **args, size_t shared, cudaStream_t s)
{
    CUfunction f = function_of(host);
    return result(cuLaunchCooperativeKernel(f, g.x, g.y, g.z, b.x, b.y, b.z, (unsigned)shared, stream_of(s), args));
}
cudaError_t __cudaGetKernel(cudaKernel_t *, const void *);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __cudaGetKernel(cudaKernel_t *k, const void *host)
{
    *k = (cudaKernel_t)(void *)host;
    return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t k, dim3 g, dim3 b, void **args, size_t shared, cudaStream_t s)
{
    return cudaLaunchKernel(k, g, b, args, shared, s);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *host, void **args)
{
    return cudaLaunchKernel(host, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, c->stream);
}
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *host)
{
    CUfunction f = function_of(host);
    int shared = 0, local = 0, regs = 0;
    memset(a, 0, sizeof *a);
    if (cuFuncGetAttribute(&a->maxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f) ||
        cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f) ||
        cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f) || cuFuncGetAttribute(&regs, CU_FUNC_ATTRIBUTE_NUM_REGS, f))
        return result(CUDA_ERROR_UNKNOWN);
    a->sharedSizeBytes = (size_t)shared, a->localSizeBytes = (size_t)local, a->numRegs = regs;
    a->ptxVersion = a->binaryVersion = CUDART_PTX; /* as compiled: it names the templates that CUB uses */
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *host, int block, size_t shared, unsigned flags)
{
    (void)flags;
    return result(cuOccupancyMaxActiveBlocksPerMultiprocessor(n, function_of(host), block, shared));
}

/* ------------------------------------------------------------------ devices */
cudaError_t cudaGetDevice(int *d) { return *d = 0, cudaSuccess; }
cudaError_t cudaGetDeviceCount(int *n) { return *n = 1, cudaSuccess; }
cudaError_t cudaSetDevice(int d) { return d ? cudaErrorInvalidDevice : cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr a, int d)
{
    open_device();
    switch (a) { /* what libompgpu does not ask the machine for */
    case cudaDevAttrMaxGridDimX: return *value = 0x7fffffff, cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: a = cudaDevAttrMaxSharedMemoryPerBlock; break;
    case cudaDevAttrCooperativeLaunch: return *value = 1, cudaSuccess;
    case cudaDevAttrReservedSharedMemoryPerBlock: return *value = 0, cudaSuccess;
    default: break;
    }
    return result(cuDeviceGetAttribute(value, (CUdevice_attribute)a, d));
}
/* ------------------------------------------------------------------ streams and events */
static CUstream others[16];
static unsigned nothers;
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags)
{
    open_device();
    if (nothers == sizeof others / sizeof *others)
        die("too many streams", "");
    CUresult r = cuStreamCreate(s, flags);
    if (!r)
        others[nothers++] = *s;
    return result(r);
}
cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    for (unsigned k = 0; k < nothers; k++)
        if (others[k] == s)
            others[k--] = others[--nothers];
    return result(cuStreamDestroy_v2(s));
}
cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    open_device();
    return result(cuStreamSynchronize(stream_of(s)));
}
cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t r = cudaStreamSynchronize(0);
    for (unsigned k = 0; k < nothers && !r; k++)
        r = cudaStreamSynchronize(others[k]);
    return r;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags)
{
    return result(cuStreamWaitEvent(stream_of(s), e, flags));
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags)
{
    open_device();
    return result(cuEventCreate(e, flags));
}
cudaError_t cudaEventCreate(cudaEvent_t *e) { return cudaEventCreateWithFlags(e, 0); }
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) { return result(cuEventRecord(e, stream_of(s))); }
cudaError_t cudaEventSynchronize(cudaEvent_t e) { return result(cuEventSynchronize(e)); }
cudaError_t cudaEventDestroy(cudaEvent_t e) { return result(cuEventDestroy_v2(e)); }
cudaError_t cudaEventQuery(cudaEvent_t e)
{
    CUresult r = cuEventQuery(e);
    return r == CUDA_ERROR_NOT_READY ? cudaErrorNotReady : result(r);
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) { return result(cuEventElapsedTime_v2(ms, from, to)); }

/* ------------------------------------------------------------------ errors */
cudaError_t cudaPeekAtLastError(void) { return last; }
cudaError_t cudaGetLastError(void)
{
    cudaError_t r = last;
    last = cudaSuccess;
    return r;
}
const char *cudaGetErrorString(cudaError_t r)
{
    const char *text = "unknown";
    cuGetErrorString((CUresult)r, &text);
    return text;
}

/* ------------------------------------------------------------------ memory */
cudaError_t cudaMalloc(void **p, size_t size)
{
    CUdeviceptr d = 0;
    open_device();
    CUresult r = cuMemAlloc_v2(&d, size ? size : 1);
    *p = (void *)(size_t)d;
    return result(r);
}
cudaError_t cudaFree(void *p) { return result(cuMemFree_v2((CUdeviceptr)(size_t)p)); }
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t s)
{
    CUdeviceptr dto = (CUdeviceptr)(size_t)to, dfrom = (CUdeviceptr)(size_t)from;
    open_device();
    return result(kind == cudaMemcpyHostToDevice   ? cuMemcpyHtoDAsync_v2(dto, from, size, stream_of(s))
                  : kind == cudaMemcpyDeviceToHost ? cuMemcpyDtoHAsync_v2(to, dfrom, size, stream_of(s))
                                                   : cuMemcpyDtoDAsync_v2(dto, dfrom, size, stream_of(s)));
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
    cudaError_t r = cudaMemcpyAsync(to, from, size, kind, 0);
    return r ? r : cudaStreamSynchronize(0);
}
cudaError_t cudaMemsetAsync(void *to, int byte, size_t size, cudaStream_t s)
{
    void *bytes = malloc(size + 1);
    if (!bytes)
        return result(CUDA_ERROR_OUT_OF_MEMORY);
    memset(bytes, byte, size);
    cudaError_t r = cudaMemcpyAsync(to, bytes, size, cudaMemcpyHostToDevice, s);
    free(bytes);
    return r;
}
cudaError_t cudaMemset(void *to, int byte, size_t size) { return cudaMemsetAsync(to, byte, size, 0); }
static char *address_of(const void *host)
{
    CUdeviceptr d = 0;
    const struct symbol *s = symbol_of(host);
    open_device();
    if (cuModuleGetGlobal_v2(&d, NULL, module, s->name))
        die("no such variable in the PTX:", s->name);
    return (char *)(size_t)d;
}
cudaError_t cudaMemcpyToSymbol(const void *host, const void *from, size_t size, size_t offset, enum cudaMemcpyKind kind)
{
    return cudaMemcpy(address_of(host) + offset, from, size, kind);
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *host, size_t size, size_t offset, enum cudaMemcpyKind kind)
{
    return cudaMemcpy(to, address_of(host) + offset, size, kind);
}
