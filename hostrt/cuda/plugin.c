/* plugin.c - NVIDIA GPUs through the CUDA driver, which is opened at run time: no driver or no GPU
 * is no error, just no device.
 *
 * Each host thread has one stream per device, made on first use, and the device whose context is
 * current is remembered, so that in steady state a region costs cuLaunchKernel and
 * cuStreamQuery, or cuStreamSynchronize, and no other call.  The streams of a host thread that ends
 * are handed on to the next new one.
 *
 * After an error that destroys the context (a kernel that faulted), the driver refuses everything;
 * so do we, with the first error. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hostrt/cuda/cuda.h"

#define MOST_HEAP                                                                                  \
    ((size_t)4 << 30) /* bytes for device malloc; an eighth of the device where that is less */
struct cuda_calls ompgpu_cuda;
static struct cuda_device devices[CUDA_MAX_DEVICES];
static unsigned opened; /* bit per device; the core opens and closes one device at a time */
static bool forked;     /* this process is a child whose parent has used the driver */

struct cuda_thread { /* of one host thread at a time */
    char apart[OMPGPU_APART];
    struct cuda_thread *next;
    bool used;       /* threads_lock */
    bool recursive;  /* the last kernel may need more stack than it got */
    unsigned prints; /* bit per device: a kernel that it has not waited for does */
    int current;     /* device whose context is current, or -1 */
    CUstream stream[CUDA_MAX_DEVICES];
    CUevent sleep[CUDA_MAX_DEVICES]; /* for what takes long (OMPGPU_WAIT=auto); NULL: none yet */
    struct cuda_cache *cache[CUDA_MAX_DEVICES]; /* NULL: none yet */
    struct cuda_small *results[CUDA_MAX_DEVICES], *early[CUDA_MAX_DEVICES];
    char apart_too[OMPGPU_APART];
};
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuda_thread *threads; /* threads_lock */
static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static _Thread_local struct cuda_thread *self __attribute__((tls_model("initial-exec")));

/* ------------------------------------------------------------------ errors */
/* Errors after which a context can only be destroyed. */
static const CUresult fatal[] = {
    CUDA_ERROR_ECC_UNCORRECTABLE,
    CUDA_ERROR_ILLEGAL_ADDRESS,
    CUDA_ERROR_LAUNCH_TIMEOUT,
    CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUDA_ERROR_ASSERT,
    CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUDA_ERROR_MISALIGNED_ADDRESS,
    CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUDA_ERROR_INVALID_PC,
    CUDA_ERROR_LAUNCH_FAILED,
};

/* "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (out of memory)" */
static void describe_error(char *text, size_t size, const char *call, CUresult err)
{
    const char *name = NULL, *meaning = NULL;
    if (err == CUDA_ERROR_DEINITIALIZED) { /* of which the driver does not tell the name any more */
        snprintf(text, size, "%s failed: the program is exiting, and the CUDA driver has shut down",
                 call);
        return;
    }
    if (ompgpu_cuda.cuGetErrorName(err, &name) || !name)
        name = "unknown error";
    if (ompgpu_cuda.cuGetErrorString(err, &meaning) || !meaning)
        snprintf(text, size, "%s failed: %s (%d)", call, name, (int)err);
    else
        snprintf(text, size, "%s failed: %s (%s)", call, name, meaning);
}

int ompgpu_cuda_check(int ordinal, CUresult err, const char *call, const char *more, ...)
{
    char text[256], tail[256];
    va_list ap;
    if (err == CUDA_SUCCESS)
        return 0;
    for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (err == fatal[i] && !devices[ordinal].lost) {
            devices[ordinal].lost_call = call;
            devices[ordinal].lost = (int)err;
        }
    describe_error(text, sizeof text, call, err);
    va_start(ap, more);
    vsnprintf(tail, sizeof tail, more, ap);
    va_end(ap);
    ompgpu_plugin_error("%s%s", text, tail);
    return 1;
}

/* ------------------------------------------------------------------ host threads */
static void thread_ends(void *p)
{
    pthread_mutex_lock(&threads_lock);
    ((struct cuda_thread *)p)->used = false;
    self = NULL; /* a destructor of the program's may come later */
    pthread_mutex_unlock(&threads_lock);
}

static void make_key(void) { pthread_key_create(&thread_key, thread_ends); }

static struct cuda_thread *thread_new(void)
{
    pthread_once(&thread_once, make_key);
    pthread_mutex_lock(&threads_lock);
    struct cuda_thread *t = threads;
    while (t && t->used)
        t = t->next;
    if (!t && (t = ompgpu_xalloc(sizeof *t))) {
        t->next = threads;
        threads = t;
    }
    if (t) {
        t->used = true;
        t->current = -1;
    }
    pthread_mutex_unlock(&threads_lock);
    if (t)
        pthread_setspecific(thread_key, t);
    return self = t;
}

/* The driver does not work in a child of the process that initialised it. */
static int check_fork(void)
{
    if (forked)
        ompgpu_plugin_error(
            "a child of fork() cannot use the GPU, which its parent has used before: "
            "fork before the first region, or exec");
    return forked;
}

static __attribute__((noinline)) int make_current(int ordinal)
{
    struct cuda_device *d = &devices[ordinal];
    struct cuda_thread *t = self ? self : thread_new();
    if (!t || check_fork())
        return 1;
    if (d->lost) {
        char text[256];
        describe_error(text, sizeof text, d->lost_call, (CUresult)d->lost);
        ompgpu_plugin_error("the device can no longer be used since an earlier error: %s", text);
        return 1;
    }
    if (t->current != ordinal && CUDA_TRY(ordinal, cuCtxSetCurrent, d->context))
        return 1;
    t->current = ordinal;
    return 0;
}

int ompgpu_cuda_use(int ordinal)
{
    struct cuda_thread *t = self;
    return t && t->current == ordinal && !devices[ordinal].lost ? 0 : make_current(ordinal);
}

static __attribute__((noinline)) int enter_slow(int ordinal, CUstream *stream)
{
    if (make_current(ordinal))
        return 1;
    struct cuda_thread *t = self;
    if (!t->stream[ordinal] && CUDA_TRY(ordinal, cuStreamCreate, &t->stream[ordinal], 0)) {
        t->stream[ordinal] = NULL;
        return 1;
    }
    *stream = t->stream[ordinal];
    return 0;
}

static inline int enter_device(int ordinal, CUstream *stream)
{
    struct cuda_thread *t = self;
    if (t && t->current == ordinal && t->stream[ordinal] && !devices[ordinal].lost) {
        *stream = t->stream[ordinal];
        return 0;
    }
    return enter_slow(ordinal, stream);
}

CUcontext ompgpu_cuda_context(int ordinal) { return devices[ordinal].context; }

/* ------------------------------------------------------------------ the driver and its devices */
static const struct {
    const char *name;
    size_t offset;
} calls[] = {
#define CUDA_CALL(f, version) { #f #version, offsetof(struct cuda_calls, f) },
#include "hostrt/cuda/calls.def"
#undef CUDA_CALL
};

static pthread_mutex_t found_lock = PTHREAD_MUTEX_INITIALIZER;
static bool found;        /* guarded by found_lock, until then with ompgpu_cuda */
static char missing[512]; /* the same; "": it is there */

static bool open_driver(struct cuda_calls *driver)
{
    char machine[4096];
    const char *path = secure_getenv("OMPGPU_CUDA_DRIVER");
    if (ompgpu_settings.device_kind == OMPGPU_KIND_PTX)
        path = ompgpu_library_path("libompgpu-ptx.so", machine, sizeof machine);
    else if (!path || !*path)
        path = "libcuda.so.1";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        ompgpu_plugin_error("no CUDA driver: %s", dlerror());
        return false;
    }
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *f = dlsym(library, calls[i].name);
        if (!f) {
            ompgpu_plugin_error("the CUDA driver %s is too old: it lacks %s", path, calls[i].name);
            dlclose(library);
            return false;
        }
        memcpy((char *)driver + calls[i].offset, &f, sizeof f);
    }
    return true; /* never closed: the driver does not like it */
}

static void cuda_find(void)
{
    struct cuda_calls driver;
    bool is = open_driver(&driver);
    pthread_mutex_lock(&found_lock);
    if (!found && is)
        ompgpu_cuda = driver;
    else if (!found)
        snprintf(missing, sizeof missing, "%s", ompgpu_plugin_message());
    found = true;
    pthread_mutex_unlock(&found_lock);
}

static bool has_driver(void)
{
    pthread_mutex_lock(&found_lock);
    bool has = found && !*missing;
    ompgpu_plugin_error("%s", missing);
    pthread_mutex_unlock(&found_lock);
    return has;
}

static int cuda_num_devices(void)
{
    int n = 0;
    if (!has_driver() || CUDA_TRY(0, cuInit, 0) || CUDA_TRY(0, cuDeviceGetCount, &n))
        return 0;
    return n < CUDA_MAX_DEVICES ? n : CUDA_MAX_DEVICES;
}

static const struct {
    CUdevice_attribute attribute;
    size_t offset;
} attributes[] = {
    { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
      offsetof(struct ompgpu_device_info, multiprocessors) },
    { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
      offsetof(struct ompgpu_device_info, max_threads_per_team) },
    { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
      offsetof(struct ompgpu_device_info, max_threads_per_mp) },
    { CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
      offsetof(struct ompgpu_device_info, registers_per_mp) },
    { CU_DEVICE_ATTRIBUTE_WARP_SIZE, offsetof(struct ompgpu_device_info, warp_size) },
};

static int describe_device(int ordinal, CUdevice handle, struct ompgpu_device_info *info)
{
    int major, minor, shared;
    *info = (struct ompgpu_device_info){ 0 };
    for (unsigned i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (CUDA_TRY(ordinal, cuDeviceGetAttribute, (int *)((char *)info + attributes[i].offset),
                     attributes[i].attribute, handle))
            return 1;
    if (CUDA_TRY(ordinal, cuDeviceGetName, info->name, sizeof info->name, handle) ||
        CUDA_TRY(ordinal, cuDeviceTotalMem, &info->total_memory, handle) ||
        CUDA_TRY(ordinal, cuDeviceGetAttribute, &major,
                 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle) ||
        CUDA_TRY(ordinal, cuDeviceGetAttribute, &minor,
                 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle) ||
        CUDA_TRY(ordinal, cuDeviceGetAttribute, &shared,
                 CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, handle))
        return 1;
    info->arch = (unsigned)(major * 10 + minor);
    info->shared_per_team = (size_t)shared;
    return 0;
}

/* As nvidia-smi writes it: GPU-8b4a2c1e-1f7d-… */
static void write_uuid(const CUuuid *uuid, char text[OMPGPU_UID])
{
    int at = snprintf(text, OMPGPU_UID, "GPU");
    for (unsigned i = 0; i < sizeof uuid->bytes; i++) {
        bool begins = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        at += snprintf(text + at, OMPGPU_UID - (size_t)at, begins ? "-%02x" : "%02x",
                       (unsigned char)uuid->bytes[i]);
    }
}

/* It needs no context. */
static int cuda_identify(int ordinal, struct ompgpu_identity *d)
{
    CUdevice handle;
    CUuuid uuid;
    int major, minor;
    *d = (struct ompgpu_identity){ 0 };
    if (CUDA_TRY(ordinal, cuDeviceGet, &handle, ordinal) ||
        CUDA_TRY(ordinal, cuDeviceGetUuid, &uuid, handle) ||
        CUDA_TRY(ordinal, cuDeviceGetAttribute, &major,
                 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle) ||
        CUDA_TRY(ordinal, cuDeviceGetAttribute, &minor,
                 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle))
        return 1;
    snprintf(d->isa, sizeof d->isa, "sm_%d%d", major, minor);
    write_uuid(&uuid, d->uid);
    return 0;
}

/* How the driver waits for the device, where it is not left to it. */
static void choose_wait(int ordinal, CUdevice handle)
{
    unsigned flags =
        ompgpu_settings.wait == OMPGPU_WAIT_SPIN ? CU_CTX_SCHED_SPIN : CU_CTX_SCHED_BLOCKING_SYNC;
    if (ompgpu_settings.wait != OMPGPU_WAIT_AUTO &&
        CUDA_TRY(ordinal, cuDevicePrimaryCtxSetFlags, handle, flags))
        ompgpu_say(NULL, "warning", "OMPGPU_WAIT has no effect: %s", ompgpu_plugin_message());
}

static int cuda_open(int ordinal, struct ompgpu_device_info *info)
{
    struct cuda_device *d = &devices[ordinal];
    int pageable = 0;
    size_t stack = 0;
    CUstream stream;
    *d = (struct cuda_device){ 0 };
    if (check_fork() || CUDA_TRY(ordinal, cuDeviceGet, &d->handle, ordinal) ||
        describe_device(ordinal, d->handle, info) ||
        CUDA_TRY(ordinal, cuDeviceGetAttribute, &pageable,
                 CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, d->handle))
        return 1;
    choose_wait(ordinal, d->handle);
    if (CUDA_TRY(ordinal, cuDevicePrimaryCtxRetain, &d->context, d->handle))
        return 1;
    d->arch = info->arch;
    pthread_mutex_init(&d->stack_lock, NULL);
    info->unified = pageable != 0;
    info->packs =
        ompgpu_settings.device_kind != OMPGPU_KIND_PTX; /* which watches each for itself */
    ompgpu_cuda_memory_init(&d->memory, info->total_memory);
    d->heap = info->total_memory / 8 < MOST_HEAP ? info->total_memory / 8 : MOST_HEAP;
    if (enter_device(ordinal, &stream) ||
        CUDA_TRY(ordinal, cuCtxGetLimit, &stack, CU_LIMIT_STACK_SIZE)) {
        ompgpu_cuda_memory_fini(&d->memory, false);
        ompgpu_cuda.cuDevicePrimaryCtxRelease(d->handle);
        return 1;
    }
    atomic_store(&d->stack, stack);
    opened |= 1u << ordinal;
    return 0;
}

/* Host threads that still run may come back to hand their struct on, so the structs stay until no
 * device is open, and then go only when no thread uses them. */
static void free_threads(void)
{
    struct cuda_thread **p = &threads;
    while (*p) {
        struct cuda_thread *t = *p;
        if (t->used && t != self) {
            p = &t->next;
            continue;
        }
        *p = t->next;
        if (t == self) {
            pthread_setspecific(thread_key, NULL);
            self = NULL;
        }
        ompgpu_xfree(t);
    }
}

/* At exit the driver may have been shut down before us; then nothing is left to be given back. */
static void cuda_close(int ordinal)
{
    struct cuda_device *d = &devices[ordinal];
    ompgpu_cuda_completer_end(ordinal);
    bool alive = !forked && !ompgpu_cuda.cuCtxSetCurrent(d->context);
    pthread_mutex_lock(&threads_lock);
    for (struct cuda_thread *t = threads; t; t = t->next) {
        if (alive && t->stream[ordinal])
            ompgpu_cuda.cuStreamDestroy(t->stream[ordinal]);
        if (alive && t->sleep[ordinal])
            ompgpu_cuda.cuEventDestroy(t->sleep[ordinal]);
        ompgpu_cuda_small_free(t->results[ordinal], alive);
        ompgpu_cuda_small_free(t->early[ordinal], alive);
        t->stream[ordinal] = NULL, t->sleep[ordinal] = NULL, t->cache[ordinal] = NULL;
        t->results[ordinal] = t->early[ordinal] = NULL;
        t->current = -1;
    }
    opened &= ~(1u << ordinal);
    if (!opened)
        free_threads();
    pthread_mutex_unlock(&threads_lock);
    ompgpu_cuda_stage_close(ordinal, alive);
    if (!opened)
        ompgpu_cuda_helpers_end();
    ompgpu_cuda_memory_fini(&d->memory, alive);
    if (alive)
        ompgpu_cuda.cuDevicePrimaryCtxRelease(d->handle);
}

/* ------------------------------------------------------------------ modules */
/* Machine code runs on devices of the same major and no lower minor version, PTX on any later
 * device. */
static int cuda_pick(int ordinal, const struct ompgpu_image_header *h)
{
    const struct ompgpu_image_entry *e = (const void *)((const char *)h + h->images);
    unsigned arch = devices[ordinal].arch;
    int best = -1;
    for (unsigned i = 0; i < h->nimages; i++) {
        bool cubin = e[i].kind == OMPGPU_IMAGE_CUBIN && e[i].arch / 10 == arch / 10;
        if ((!cubin && e[i].kind != OMPGPU_IMAGE_PTX) || e[i].arch > arch)
            continue;
        bool best_is_cubin = best >= 0 && e[best].kind == OMPGPU_IMAGE_CUBIN;
        if (best < 0 || cubin > best_is_cubin ||
            (cubin == best_is_cubin && e[i].arch > e[best].arch))
            best = (int)i;
    }
    return best;
}

static bool calls_malloc(const struct ompgpu_image_header *h)
{
    const struct ompgpu_kernel_entry *k = (const void *)((const char *)h + h->kernels);
    for (uint32_t i = 0; i < h->nkernels; i++)
        if (k[i].flags & OMPGPU_KERNEL_MALLOC)
            return true;
    return false;
}

/* The heap has its size before the first module is loaded that uses it.  A driver that refuses
 * leaves its default of 8 MB: a kernel that runs out of it says so. */
static void provide_heap(int ordinal)
{
    struct cuda_device *d = &devices[ordinal];
    pthread_mutex_lock(&d->stack_lock);
    if (d->heap)
        ompgpu_cuda.cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, d->heap);
    d->heap = 0;
    pthread_mutex_unlock(&d->stack_lock);
}

static int cuda_load(int ordinal, const struct ompgpu_image_header *h, int image, const void *data,
                     size_t size, void **module)
{
    const struct ompgpu_image_entry *e = (const void *)((const char *)h + h->images);
    char log[4096] = "";
    CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { log, (void *)(sizeof log - 1) };
    CUstream stream;
    if (enter_device(ordinal, &stream))
        return 1;
    if (e[image].kind == OMPGPU_IMAGE_PTX && (!size || ((const char *)data)[size - 1])) {
        ompgpu_plugin_error("the PTX image is not terminated by a NUL");
        return 1;
    }
    if (calls_malloc(h))
        provide_heap(ordinal);
    CUresult err = ompgpu_cuda.cuModuleLoadDataEx((CUmodule *)module, data, 2, options, values);
    log[strcspn(log, "\r\n")] = '\0'; /* the first line names the reason */
    return ompgpu_cuda_check(ordinal, err, "cuModuleLoadDataEx", "%s%.200s", *log ? ": " : "", log);
}

static void cuda_unload(int ordinal, void *module)
{
    CUstream stream;
    if (!enter_device(ordinal, &stream))
        ompgpu_cuda.cuModuleUnload(module);
}

static int cuda_function(int ordinal, void *module, const char *name, struct ompgpu_function *out)
{
    CUstream stream;
    CUfunction f;
    int registers, threads, shared, local;
    if (enter_device(ordinal, &stream) ||
        ompgpu_cuda_check(ordinal, ompgpu_cuda.cuModuleGetFunction(&f, module, name),
                          "cuModuleGetFunction", ": kernel %s", name) ||
        CUDA_TRY(ordinal, cuFuncGetAttribute, &registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f) ||
        CUDA_TRY(ordinal, cuFuncGetAttribute, &threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                 f) ||
        CUDA_TRY(ordinal, cuFuncGetAttribute, &shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f) ||
        CUDA_TRY(ordinal, cuFuncGetAttribute, &local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f))
        return 1;
    out->handle = f;
    out->stack_bytes = (size_t)local;
    if (out->entry && out->entry->stack_bytes > out->stack_bytes)
        out->stack_bytes = out->entry->stack_bytes;
    out->registers = (unsigned)registers;
    out->max_threads = (unsigned)threads;
    out->static_shared = (unsigned)shared;
    return 0;
}

static int cuda_variable(int ordinal, void *module, const char *name, void **address, size_t *size)
{
    char symbol[1024];
    CUstream stream;
    CUdeviceptr p = 0;
    ompgpu_gpu_name(symbol, sizeof symbol, name);
    if (enter_device(ordinal, &stream) ||
        ompgpu_cuda_check(ordinal, ompgpu_cuda.cuModuleGetGlobal(&p, size, module, symbol),
                          "cuModuleGetGlobal", ": variable %s", name))
        return 1;
    *address = (void *)p;
    return 0;
}

/* ------------------------------------------------------------------ waiting */
static __attribute__((noinline)) int say_wait_failed(int ordinal, CUresult err, const char *call)
{
    return ompgpu_cuda_check(ordinal, err, call, "%s",
                             self->recursive ? "; if recursion needs more stack than there is: set "
                                               "OMPGPU_STACK_SIZE to more bytes a thread"
                                             : "");
}

/* With `spin` and `block` the driver waits as the context says (choose_wait). */
static inline int wait_for_stream(int ordinal, CUstream stream)
{
    const char *call;
    CUresult err = ompgpu_cuda_await_stream(stream, &self->sleep[ordinal], &call);
    return __builtin_expect(err != CUDA_SUCCESS, 0) && say_wait_failed(ordinal, err, call);
}

static __attribute__((noinline)) int print_text(int ordinal, CUstream stream)
{
    self->prints &= ~(1u << ordinal);
    CUresult err = ompgpu_cuda.cuStreamSynchronize(stream);
    return err && say_wait_failed(ordinal, err, "cuStreamSynchronize");
}

static int cuda_sync(int ordinal)
{
    CUstream stream;
    int bad = enter_device(ordinal, &stream) || wait_for_stream(ordinal, stream) ||
              (__builtin_expect(self->prints >> ordinal & 1, 0) && print_text(ordinal, stream));
    struct cuda_small *r = self ? self->results[ordinal] : NULL;
    if (r)
        ompgpu_cuda_small_end(r, !bad);
    return bad;
}

/* ------------------------------------------------------------------ memory */
/* What this host thread keeps; NULL: nothing. */
static struct cuda_cache *cache_of(int ordinal)
{
    struct cuda_cache **c = &self->cache[ordinal];
    return *c ? *c : (*c = ompgpu_cuda_memory_cache(&devices[ordinal].memory));
}

static int cuda_alloc(int ordinal, size_t size, void **address)
{
    CUstream stream;
    CUdeviceptr p = 0;
    if (enter_device(ordinal, &stream) ||
        ompgpu_cuda_check(
            ordinal,
            ompgpu_cuda_memory_alloc(&devices[ordinal].memory, cache_of(ordinal), size, &p),
            "cuMemAlloc", ": %zu bytes wanted", size))
        return 1;
    *address = (void *)p;
    return 0;
}

static int cuda_free(int ordinal, void *address)
{
    CUstream stream;
    if (!address)
        return 0;
    return enter_device(ordinal, &stream) ||
           ompgpu_cuda_check(ordinal,
                             ompgpu_cuda_memory_free(&devices[ordinal].memory, cache_of(ordinal),
                                                     (CUdeviceptr)address),
                             "cuMemFree", ": %p", address);
}

/* Pinned; with unified virtual addressing, which all 64-bit drivers have, the device uses the same
 * address. */
static int cuda_alloc_shared(int ordinal, size_t size, void **address)
{
    enum { PORTABLE = 1, DEVICE_MAP = 2 };
    CUstream stream;
    return enter_device(ordinal, &stream) ||
           CUDA_TRY(ordinal, cuMemHostAlloc, address, size, PORTABLE | DEVICE_MAP);
}

static int cuda_free_shared(int ordinal, void *address)
{
    CUstream stream;
    return enter_device(ordinal, &stream) || CUDA_TRY(ordinal, cuMemFreeHost, address);
}

/* ------------------------------------------------------------------ copies */
/* By several threads, where that is possible; -1: it is not. */
static int copy_staged(int ordinal, CUstream stream, bool in, void *device, void *host, size_t size)
{
    if (!ompgpu_cuda_is_staged(host, size))
        return -1;
    return wait_for_stream(ordinal, stream)
               ? 1
               : ompgpu_cuda_stage(ordinal, stream, in, device, host, size);
}

/* A copy from pageable memory takes its source into a staging buffer before it returns.  It does
 * not from memory that the program has registered with CUDA, and not from large pageable blocks
 * where the device can read those itself. */
static int cuda_to_device(int ordinal, void *dst, const void *src, size_t size)
{
    CUstream stream;
    if (!size)
        return 0;
    if (enter_device(ordinal, &stream))
        return 1;
    int staged = copy_staged(ordinal, stream, true, dst, (void *)src, size);
    return staged >= 0 ? staged
                       : CUDA_TRY(ordinal, cuMemcpyHtoDAsync, (CUdeviceptr)dst, src, size, stream);
}

/* Where a failure need not end the program, one call brings all of it or nothing. */
static int cuda_from_device(int ordinal, void *dst, const void *src, size_t size)
{
    CUstream stream;
    if (!size)
        return 0;
    if (enter_device(ordinal, &stream))
        return 1;
    struct cuda_small **r = &self->results[ordinal];
    int staged =
        ompgpu_may_recover() ? -1 : copy_staged(ordinal, stream, false, (void *)src, dst, size);
    if (staged > 0 && *r)
        ompgpu_cuda_small_end(*r, false);
    return staged >= 0
               ? staged
               : ompgpu_cuda_check(ordinal,
                                   ompgpu_cuda_fetch(r, stream, dst, (CUdeviceptr)src, size),
                                   "cuMemcpyDtoHAsync", "%s", "");
}

static void cuda_prefetch(int ordinal, const void *src, size_t size, const void **host)
{
    CUstream stream;
    *host = enter_device(ordinal, &stream)
                ? NULL
                : ompgpu_cuda_prefetch(&self->early[ordinal], stream, (CUdeviceptr)src, size);
}

static int cuda_device_copy(int ordinal, void *dst, const void *src, size_t size)
{
    CUstream stream;
    if (!size)
        return 0;
    return enter_device(ordinal, &stream) ||
           CUDA_TRY(ordinal, cuMemcpyDtoDAsync, (CUdeviceptr)dst, (CUdeviceptr)src, size, stream);
}

/* Where the driver refuses it, it copies by way of the host itself. */
static void reach_peer(int ordinal, int peer)
{
    struct cuda_device *d = &devices[ordinal];
    pthread_mutex_lock(&d->stack_lock);
    if (!(d->peers >> peer & 1))
        ompgpu_cuda.cuCtxEnablePeerAccess(devices[peer].context, 0);
    d->peers |= 1u << peer;
    pthread_mutex_unlock(&d->stack_lock);
}

static int cuda_peer_copy(int ordinal, void *dst, int from, const void *src, size_t size)
{
    CUstream stream;
    if (enter_device(ordinal, &stream))
        return 1;
    reach_peer(ordinal, from);
    return CUDA_TRY(ordinal, cuMemcpyPeerAsync, (CUdeviceptr)dst, devices[ordinal].context,
                    (CUdeviceptr)src, devices[from].context, size, stream);
}

/* ------------------------------------------------------------------ launch */
static unsigned cuda_occupancy(int ordinal, struct ompgpu_function *f, unsigned threads)
{
    CUstream stream;
    int teams = 0;
    if (enter_device(ordinal, &stream) ||
        CUDA_TRY(ordinal, cuOccupancyMaxActiveBlocksPerMultiprocessor, &teams, f->handle,
                 (int)threads, 0))
        return 0;
    return (unsigned)teams;
}

/* The stack of each thread that a context can run is reserved when the limit is set, and the
 * context synchronises: only when a kernel needs more than any before. */
static __attribute__((noinline)) int grow_stack(int ordinal, size_t bytes)
{
    struct cuda_device *d = &devices[ordinal];
    size_t size = (bytes + 1023) & ~(size_t)1023;
    int bad = 0;
    pthread_mutex_lock(&d->stack_lock);
    if (size > atomic_load(&d->stack)) {
        bad = ompgpu_cuda_check(ordinal, ompgpu_cuda.cuCtxSetLimit(CU_LIMIT_STACK_SIZE, size),
                                "cuCtxSetLimit", ": %zu bytes of stack a thread", size);
        if (!bad)
            atomic_store(&d->stack, size);
    }
    pthread_mutex_unlock(&d->stack_lock);
    return bad;
}

/* More than 48 KB of shared memory a team a kernel gets where it has been asked for. */
static int grow_shared(int ordinal, struct ompgpu_function *f, unsigned bytes)
{
    enum { USUAL = 48 << 10 };
    if (f->static_shared + bytes <= USUAL ||
        bytes <= __atomic_load_n(&f->dynamic_shared, __ATOMIC_RELAXED))
        return 0;
    if (CUDA_TRY(ordinal, cuFuncSetAttribute, f->handle,
                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes))
        return 1;
    __atomic_store_n(&f->dynamic_shared, bytes, __ATOMIC_RELAXED);
    return 0;
}

int ompgpu_cuda_provide(int ordinal, struct ompgpu_function *f, unsigned dynamic_bytes)
{
    if (f->stack_bytes > atomic_load_explicit(&devices[ordinal].stack, memory_order_relaxed) &&
        grow_stack(ordinal, f->stack_bytes))
        return 1;
    return dynamic_bytes && grow_shared(ordinal, f, dynamic_bytes);
}

static int cuda_launch(int ordinal, struct ompgpu_function *f, unsigned teams, unsigned threads,
                       void **params)
{
    const struct ompgpu_env *env = params[0];
    CUstream stream;
    if (enter_device(ordinal, &stream))
        return 1;
    if (ompgpu_cuda_provide(ordinal, f, env->dynamic_bytes))
        return 1;
    self->recursive = f->entry && (f->entry->flags & OMPGPU_KERNEL_RECURSIVE);
    if (ompgpu_cuda_prints(f)) {
        fflush(stdout); /* what the program has printed before comes before */
        self->prints |= 1u << ordinal;
    }
    const struct cuda_grid g = ompgpu_cuda_grid(f, teams, env);
    CUresult err = ompgpu_cuda.cuLaunchKernel(f->handle, g.x, g.y, g.z, threads, 1, 1,
                                              env->dynamic_bytes, stream, params, NULL);
    return __builtin_expect(err != CUDA_SUCCESS, 0) &&
           ompgpu_cuda_check(ordinal, err, "cuLaunchKernel",
                             ": %u teams of %u threads, %u registers a thread", teams, threads,
                             f->registers);
}

/* ------------------------------------------------------------------ fork */
static void cuda_fork(enum ompgpu_fork when)
{
    ompgpu_cuda_completer_fork(when);
    ompgpu_cuda_stage_fork(when);
    ompgpu_cuda_queue_fork(when);
    if (when == OMPGPU_FORK_BEFORE) {
        pthread_mutex_lock(&threads_lock);
        return;
    }
    if (when == OMPGPU_FORK_CHILD) {
        forked = true;
        if (self)
            self->current = -1; /* leads to check_fork() */
    }
    pthread_mutex_unlock(&threads_lock);
}

const struct ompgpu_plugin ompgpu_cuda_plugin = {
    .name = "cuda",
    .image_kinds = 1u << OMPGPU_IMAGE_PTX | 1u << OMPGPU_IMAGE_CUBIN,
    .find = cuda_find,
    .num_devices = cuda_num_devices,
    .identify = cuda_identify,
    .open = cuda_open,
    .close = cuda_close,
    .pick = cuda_pick,
    .load = cuda_load,
    .unload = cuda_unload,
    .function = cuda_function,
    .variable = cuda_variable,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .alloc_shared = cuda_alloc_shared,
    .free_shared = cuda_free_shared,
    .to_device = cuda_to_device,
    .from_device = cuda_from_device,
    .prefetch = cuda_prefetch,
    .device_copy = cuda_device_copy,
    .peer_copy = cuda_peer_copy,
    .occupancy = cuda_occupancy,
    .launch = cuda_launch,
    .sync = cuda_sync,
    .foreign = ompgpu_cuda_foreign,
    .queue_create = ompgpu_cuda_queue_create,
    .queue_destroy = ompgpu_cuda_queue_destroy,
    .queue_to_device = ompgpu_cuda_queue_to_device,
    .queue_from_device = ompgpu_cuda_queue_from_device,
    .queue_copy = ompgpu_cuda_queue_copy,
    .queue_launch = ompgpu_cuda_queue_launch,
    .queue_call = ompgpu_cuda_queue_call,
    .queue_notify = ompgpu_cuda_queue_notify,
    .queue_wait = ompgpu_cuda_queue_wait,
    .event_create = ompgpu_cuda_event_create,
    .event_destroy = ompgpu_cuda_event_destroy,
    .event_record = ompgpu_cuda_event_record,
    .event_wait = ompgpu_cuda_event_wait,
    .fork = cuda_fork,
};
