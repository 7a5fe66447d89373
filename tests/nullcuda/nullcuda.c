/* nullcuda.c - a libcuda.so.1 that needs no GPU: the driver functions that libompgpu calls, over host memory.
 *
 * Kernels do not run.  All else is checked as the driver would check it, or harder: the context must be current, handles must be
 * live, device ranges must lie in an allocation or a module variable.  Modules are PTX (kernels, parameters and variables are found
 * in the text) or ELF files (found in the symbol table).  Every call is counted, and may be told to fail; see nullcuda.h. */
#include <elf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/cuda/driver.h"
#include "nullcuda.h"
#include "timed.h"

enum { MAX_DEVICES = 8, MAX_FAILURES = 16, POISON = 0xCC };

/* ------------------------------------------------------------------ the calls */
enum call {
#define CUDA_CALL(f, version) CALL_##f##version,
#include "hostrt/cuda/calls.def"
#undef CUDA_CALL
    NCALLS
};
static const char *const call_names[] = {
#define CUDA_CALL(f, version) #f #version,
#include "hostrt/cuda/calls.def"
#undef CUDA_CALL
};

struct CUctx_st { int device; unsigned long retained; };
struct range { struct range *next; char *base; size_t size; int device; bool variable; };
struct symbol { struct symbol *next; char *name; bool kernel; char *address; size_t size; int params; };
struct CUmod_st { struct CUmod_st *next; struct symbol *symbols; int device; };
struct CUstream_st { struct CUstream_st *next; int device; struct timed_stream *timed; };
struct pinned { struct pinned *next; char *base; size_t size; };
struct failure { int call; unsigned long at; CUresult code; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;          /* guards all below */
static bool configured, initialised;
static int arch = 90, ndevices = 1, registers = 32; /* a thread */
static size_t memory = 1 << 30, used[MAX_DEVICES], stack_limit[MAX_DEVICES];
static struct CUctx_st contexts[MAX_DEVICES];
static struct range *ranges;
static struct CUmod_st *modules;
static struct CUstream_st *streams;
static struct pinned *pinned;
static unsigned long waits;                                       /* copies that a driver waits for */
static unsigned long counts[NCALLS], since[NCALLS], launches;     /* since: calls since failures were set */
static struct failure failures[MAX_FAILURES];
static unsigned nfailures;
static unsigned long fault_at;                                    /* launch that faults; 0: none */
static CUresult fault_code, pending[MAX_DEVICES], sticky[MAX_DEVICES];      /* pending: will show at the next synchronise */
static _Thread_local struct CUctx_st *current;
static FILE *log_file;

/* ------------------------------------------------------------------ failures on demand */
static int call_number(const char *name, size_t length)
{
    for (int i = 0; i < NCALLS; i++)
        if (strlen(call_names[i]) == length && !memcmp(call_names[i], name, length))
            return i;
    fprintf(stderr, "nullcuda: no call %.*s\n", (int)length, name);
    exit(2);
}

static void add_failures(const char *spec)
{
    while (spec && *spec && nfailures < MAX_FAILURES) {
        size_t length = strcspn(spec, ":");
        struct failure f = { call_number(spec, length), 1, CUDA_ERROR_UNKNOWN };
        char *end = (char *)spec + length;
        if (f.call == CALL_cuMemAlloc_v2)
            f.code = CUDA_ERROR_OUT_OF_MEMORY;
        if (*end == ':')
            f.at = strtoul(end + 1, &end, 10);
        if (*end == ':')
            f.code = (CUresult)strtoul(end + 1, &end, 10);
        failures[nfailures++] = f;
        spec = *end == ',' ? end + 1 : NULL;
    }
}

static void set_fault(const char *spec)
{
    char *end;
    fault_code = CUDA_ERROR_LAUNCH_FAILED;
    fault_at = spec ? strtoul(spec, &end, 10) : 0;
    if (spec && *end == ':')
        fault_code = (CUresult)strtoul(end + 1, NULL, 10);
}

static void write_counts(void)
{
    FILE *f = fopen(getenv("NULLCUDA_COUNTS"), "w");
    for (int i = 0; f && i < NCALLS; i++)
        if (counts[i])
            fprintf(f, "%s %lu\n", call_names[i], counts[i]);
    if (f)
        fclose(f);
}

static size_t number(const char *name, size_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void configure(void)
{
    configured = true;
    arch = (int)number("NULLCUDA_ARCH", 90);
    ndevices = (int)number("NULLCUDA_DEVICES", 1);
    if (ndevices > MAX_DEVICES)
        ndevices = MAX_DEVICES;
    memory = number("NULLCUDA_MEMORY", 1 << 30);
    registers = (int)number("NULLCUDA_REGISTERS", 32);
    for (int i = 0; i < MAX_DEVICES; i++)
        contexts[i].device = i;
    add_failures(getenv("NULLCUDA_FAIL"));
    set_fault(getenv("NULLCUDA_FAIL_AT_SYNC"));
    if (getenv("NULLCUDA_LOG"))
        log_file = fopen(getenv("NULLCUDA_LOG"), "w");
    if (getenv("NULLCUDA_COUNTS"))
        atexit(write_counts);
}

/* First thing in every call; the lock is held until leave(). */
static CUresult enter(enum call c, bool needs_context)
{
    pthread_mutex_lock(&lock);
    if (!configured)
        configure();
    counts[c]++;
    since[c]++;
    for (unsigned i = 0; i < nfailures; i++)
        if (failures[i].call == (int)c && failures[i].at == since[c])
            return failures[i].code;
    if (c == CALL_cuGetErrorName || c == CALL_cuGetErrorString)
        return CUDA_SUCCESS;
    if (c != CALL_cuInit && !initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!needs_context)
        return CUDA_SUCCESS;
    return current && current->retained ? sticky[current->device] : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult leave(CUresult err)
{
    pthread_mutex_unlock(&lock);
    return err;
}

#define ENTER(f, needs_context)                                                                                           \
    CUresult err = enter(CALL_##f, needs_context);                                                                        \
    if (err)                                                                                                              \
        return leave(err)
#define WANT(condition, code)                                                                                             \
    if (!(condition))                                                                                                     \
        return leave(code)

unsigned long nullcuda_count(const char *call)
{
    unsigned long n = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < NCALLS; i++)
        n += call ? (call_number(call, strlen(call)) == i) * counts[i] : counts[i];
    pthread_mutex_unlock(&lock);
    return n;
}

void nullcuda_reset(void)
{
    pthread_mutex_lock(&lock);
    memset(counts, 0, sizeof counts);
    waits = 0;
    nfailures = 0;
    fault_at = launches = 0;
    memset(pending, 0, sizeof pending);
    memset(sticky, 0, sizeof sticky);
    pthread_mutex_unlock(&lock);
}

void nullcuda_fail(const char *spec)
{
    pthread_mutex_lock(&lock);
    memset(since, 0, sizeof since);
    nfailures = 0;
    add_failures(spec);
    pthread_mutex_unlock(&lock);
}

void nullcuda_fail_at_sync(const char *spec)
{
    pthread_mutex_lock(&lock);
    launches = 0;
    set_fault(spec);
    pthread_mutex_unlock(&lock);
}

unsigned long nullcuda_waits(void)
{
    pthread_mutex_lock(&lock);
    unsigned long n = waits;
    pthread_mutex_unlock(&lock);
    return n;
}

unsigned long nullcuda_bytes(void)
{
    unsigned long n = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_DEVICES; i++)
        n += used[i];
    pthread_mutex_unlock(&lock);
    return n;
}

/* ------------------------------------------------------------------ errors */
static const struct { CUresult code; const char *name, *text; } errors[] = {
    { CUDA_SUCCESS, "CUDA_SUCCESS", "no error" },
    { CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
    { CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
    { CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error" },
    { CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down" },
    { CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
    { CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
    { CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid" },
    { CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
    { CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device" },
    { CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed" },
    { CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle" },
    { CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
    { CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered" },
    { CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch" },
    { CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure" },
    { CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error" },
};

static CUresult error_text(CUresult code, const char **text, bool name)
{
    *text = NULL;
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code)
            *text = name ? errors[i].name : errors[i].text;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult code, const char **text)
{
    ENTER(cuGetErrorName, false);
    return leave(error_text(code, text, true));
}

CUresult cuGetErrorString(CUresult code, const char **text)
{
    ENTER(cuGetErrorString, false);
    return leave(error_text(code, text, false));
}

/* ------------------------------------------------------------------ devices and contexts */
CUresult cuInit(unsigned flags)
{
    ENTER(cuInit, false);
    WANT(flags == 0, CUDA_ERROR_INVALID_VALUE);
    WANT(ndevices > 0, CUDA_ERROR_NO_DEVICE);
    initialised = true;
    return leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetCount(int *n)
{
    ENTER(cuDeviceGetCount, false);
    *n = ndevices;
    return leave(CUDA_SUCCESS);
}

static bool is_device(int d)
{
    return d >= 0 && d < ndevices;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    ENTER(cuDeviceGet, false);
    WANT(is_device(ordinal), CUDA_ERROR_INVALID_DEVICE);
    *device = ordinal;
    return leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetName(char *name, int size, CUdevice d)
{
    ENTER(cuDeviceGetName, false);
    WANT(is_device(d), CUDA_ERROR_INVALID_DEVICE);
    snprintf(name, (size_t)size, "nullcuda sm_%d", arch);
    return leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice d)
{
    ENTER(cuDeviceGetUuid, false);
    WANT(is_device(d), CUDA_ERROR_INVALID_DEVICE);
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(16 * i + d);
    return leave(CUDA_SUCCESS);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice d)
{
    ENTER(cuDeviceTotalMem_v2, false);
    WANT(is_device(d), CUDA_ERROR_INVALID_DEVICE);
    *bytes = memory;
    return leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute a, CUdevice d)
{
    static const struct { CUdevice_attribute a; int value; } table[] = {
        { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 }, { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152 },
        { CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32 }, { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132 },
        { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048 }, { CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536 },
        { CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0 },
    };
    ENTER(cuDeviceGetAttribute, false);
    WANT(is_device(d), CUDA_ERROR_INVALID_DEVICE);
    if (a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR || a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) {
        *value = a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? arch / 10 : arch % 10;
        return leave(CUDA_SUCCESS);
    }
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].a == a) {
            *value = table[i].value;
            return leave(CUDA_SUCCESS);
        }
    return leave(CUDA_ERROR_INVALID_VALUE);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice d, unsigned flags)
{
    ENTER(cuDevicePrimaryCtxSetFlags_v2, false);
    WANT(is_device(d), CUDA_ERROR_INVALID_DEVICE);
    WANT(flags == CU_CTX_SCHED_SPIN || flags == CU_CTX_SCHED_BLOCKING_SYNC, CUDA_ERROR_INVALID_VALUE);
    if (log_file)
        fprintf(log_file, "wait %s\n", flags == CU_CTX_SCHED_SPIN ? "spin" : "block");
    return leave(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice d)
{
    ENTER(cuDevicePrimaryCtxRetain, false);
    WANT(is_device(d), CUDA_ERROR_INVALID_DEVICE);
    contexts[d].retained++;
    *context = &contexts[d];
    return leave(CUDA_SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    ENTER(cuCtxSetCurrent, false);
    WANT(!context || context->retained, CUDA_ERROR_INVALID_CONTEXT);
    current = context;
    return leave(CUDA_SUCCESS);
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    ENTER(cuCtxGetLimit, true);
    WANT(limit == CU_LIMIT_STACK_SIZE, CUDA_ERROR_INVALID_VALUE);
    *value = stack_limit[current->device] ? stack_limit[current->device] : 1024;
    return leave(CUDA_SUCCESS);
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    ENTER(cuCtxSetLimit, true);
    bool heap = limit == CU_LIMIT_MALLOC_HEAP_SIZE;
    WANT(heap || (limit == CU_LIMIT_STACK_SIZE && value <= 512 << 10), CUDA_ERROR_INVALID_VALUE);
    if (!heap)
        stack_limit[current->device] = value;
    if (log_file)
        fprintf(log_file, "limit %s %zu\n", heap ? "heap" : "stack", value);
    return leave(CUDA_SUCCESS);
}

/* ------------------------------------------------------------------ streams */
static bool is_stream(CUstream s)
{
    for (struct CUstream_st *t = streams; t; t = t->next)
        if (t == s)
            return s->device == current->device;
    return s == NULL;
}

CUresult cuStreamCreate(CUstream *s, unsigned flags)
{
    ENTER(cuStreamCreate, true);
    WANT(flags <= 1, CUDA_ERROR_INVALID_VALUE);
    struct CUstream_st *t = calloc(1, sizeof *t);
    WANT(t, CUDA_ERROR_OUT_OF_MEMORY);
    t->device = current->device;
    t->timed = timed_on() ? timed_stream_new() : NULL;
    t->next = streams;
    *s = streams = t;
    return leave(CUDA_SUCCESS);
}

/* Without the lock: it waits for what is in the stream. */
static void finish_stream(CUstream s)
{
    if (!s || !s->timed)
        return;
    pthread_mutex_unlock(&lock);
    timed_await_stream(s->timed);
    pthread_mutex_lock(&lock);
}

static CUresult show_fault(int device)
{
    if (pending[device]) {
        sticky[device] = pending[device];
        pending[device] = CUDA_SUCCESS;
    }
    return sticky[device];
}

CUresult cuStreamQuery(CUstream s)
{
    ENTER(cuStreamQuery, true);
    WANT(is_stream(s), CUDA_ERROR_INVALID_HANDLE);
    WANT(!s || !s->timed || timed_stream_is_done(s->timed), CUDA_ERROR_NOT_READY);
    return leave(show_fault(current->device));
}

CUresult cuStreamSynchronize(CUstream s)
{
    ENTER(cuStreamSynchronize, true);
    WANT(is_stream(s), CUDA_ERROR_INVALID_HANDLE);
    finish_stream(s);
    return leave(show_fault(current->device));
}

/* ------------------------------------------------------------------ events */
struct CUevent_st { int device; struct timed_event *timed; };

CUresult cuEventCreate(CUevent *e, unsigned flags)
{
    ENTER(cuEventCreate, true);
    WANT(flags < 4, CUDA_ERROR_INVALID_VALUE);
    *e = calloc(1, sizeof **e);
    WANT(*e, CUDA_ERROR_OUT_OF_MEMORY);
    (*e)->device = current->device;
    (*e)->timed = timed_on() ? timed_event_new() : NULL;
    return leave(CUDA_SUCCESS);
}

CUresult cuEventRecord(CUevent e, CUstream s)
{
    ENTER(cuEventRecord, true);
    WANT(is_stream(s) && e->device == s->device, CUDA_ERROR_INVALID_HANDLE);
    if (s->timed)
        timed_add(s->timed, (struct timed_work){ .kind = TIMED_RECORD, .event = e->timed });
    return leave(CUDA_SUCCESS);
}

/* Work is done when it is asked for: what an event stands for has happened. */
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags)
{
    ENTER(cuStreamWaitEvent, true);
    WANT(is_stream(s) && e && !flags, CUDA_ERROR_INVALID_HANDLE);
    if (s->timed)
        timed_add(s->timed, (struct timed_work){ .kind = TIMED_WAIT, .event = e->timed });
    return leave(CUDA_SUCCESS);
}

CUresult cuEventQuery(CUevent e)
{
    ENTER(cuEventQuery, true);
    WANT(!e->timed || timed_event_is_done(e->timed), CUDA_ERROR_NOT_READY);
    return leave(show_fault(e->device));
}

CUresult cuEventSynchronize(CUevent e)
{
    ENTER(cuEventSynchronize, true);
    if (e->timed) {
        pthread_mutex_unlock(&lock);
        timed_await_event(e->timed);
        pthread_mutex_lock(&lock);
    }
    return leave(show_fault(e->device));
}

CUresult cuEventDestroy_v2(CUevent e)
{
    ENTER(cuEventDestroy_v2, true);
    free(e->timed);
    free(e);
    return leave(CUDA_SUCCESS);
}

/* After a fault, host functions are not called. */
CUresult cuLaunchHostFunc(CUstream s, CUhostFn call, void *argument)
{
    ENTER(cuLaunchHostFunc, true);
    WANT(is_stream(s), CUDA_ERROR_INVALID_HANDLE);
    bool lost = pending[s->device];
    if (s->timed)
        timed_add(s->timed, (struct timed_work){ .kind = TIMED_CALL, .call = call, .argument = argument });
    leave(CUDA_SUCCESS);
    if (s->timed)
        return CUDA_SUCCESS;
    if (!lost)
        call(argument);
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream s)
{
    ENTER(cuStreamDestroy_v2, true);
    WANT(is_stream(s), CUDA_ERROR_INVALID_HANDLE);
    finish_stream(s);
    for (struct CUstream_st **p = &streams; *p; p = &(*p)->next)
        if (*p == s) {
            *p = s->next;
            if (s->timed)
                timed_stream_end(s->timed);
            free(s);
            return leave(CUDA_SUCCESS);
        }
    return leave(CUDA_ERROR_INVALID_HANDLE);
}

/* ------------------------------------------------------------------ memory */
static struct range *range_add(size_t size, bool variable)
{
    struct range *r = calloc(1, sizeof *r);
    size_t rounded = (size + 255) & ~(size_t)255;
    if (!r)
        return NULL;
    r->base = aligned_alloc(256, rounded ? rounded : 256);
    if (!r->base) {
        free(r);
        return NULL;
    }
    memset(r->base, variable ? 0 : POISON, rounded);
    r->size = size;
    r->device = current->device;
    r->variable = variable;
    r->next = ranges;
    return ranges = r;
}

static void range_remove(struct range **p)
{
    struct range *r = *p;
    *p = r->next;
    free(r->base);
    free(r);
}

static bool on_device(CUdeviceptr p, size_t size)
{
    for (struct range *r = ranges; r; r = r->next)
        if (r->device == current->device && (char *)p >= r->base && (size_t)((char *)p - r->base) <= r->size &&
            size <= r->size - (size_t)((char *)p - r->base))
            return true;
    return false;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t size)
{
    ENTER(cuMemAlloc_v2, true);
    WANT(size, CUDA_ERROR_INVALID_VALUE);
    WANT(size <= memory - used[current->device], CUDA_ERROR_OUT_OF_MEMORY);
    struct range *r = range_add(size, false);
    WANT(r, CUDA_ERROR_OUT_OF_MEMORY);
    used[current->device] += size;
    *p = (CUdeviceptr)r->base;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemFree_v2(CUdeviceptr p)
{
    ENTER(cuMemFree_v2, true);
    for (struct range **r = &ranges; *r; r = &(*r)->next)
        if ((CUdeviceptr)(*r)->base == p && !(*r)->variable) {
            used[(*r)->device] -= (*r)->size;
            range_remove(r);
            return leave(CUDA_SUCCESS);
        }
    return leave(CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemHostAlloc(void **p, size_t size, unsigned flags)
{
    ENTER(cuMemHostAlloc, true);
    WANT(size && flags < 8, CUDA_ERROR_INVALID_VALUE);
    struct pinned *block = calloc(1, sizeof *block);
    *p = calloc(1, size);
    if (!block || !*p) {
        free(block);
        free(*p);
        return leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    *block = (struct pinned){ pinned, *p, size };
    pinned = block;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemFreeHost(void *p)
{
    ENTER(cuMemFreeHost, true);
    struct pinned **at = &pinned, *block;
    while (*at && (*at)->base != p)
        at = &(*at)->next;
    WANT((block = *at), CUDA_ERROR_INVALID_VALUE);
    *at = block->next;
    free(block);
    free(p);
    return leave(CUDA_SUCCESS);
}

/* With the last user go the context's memory and its fault. */
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d)
{
    ENTER(cuDevicePrimaryCtxRelease_v2, false);
    WANT(is_device(d) && contexts[d].retained, CUDA_ERROR_INVALID_DEVICE);
    if (--contexts[d].retained)
        return leave(CUDA_SUCCESS);
    for (struct range **r = &ranges; *r;)
        if ((*r)->device == d && !(*r)->variable)
            range_remove(r);
        else
            r = &(*r)->next;
    used[d] = 0;
    pending[d] = sticky[d] = CUDA_SUCCESS;
    return leave(CUDA_SUCCESS);
}

static bool is_pinned(const void *p)
{
    for (const struct pinned *b = pinned; b; b = b->next)
        if ((const char *)p >= b->base && (const char *)p < b->base + b->size)
            return true;
    return false;
}

/* Ordinary memory is none of the driver's. */
CUresult cuPointerGetAttributes(unsigned n, CUpointer_attribute *a, void **values, CUdeviceptr p)
{
    ENTER(cuPointerGetAttributes, true);
    WANT(n == 1 && *a == CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CUDA_ERROR_INVALID_VALUE);
    *(unsigned *)*values = is_pinned((const void *)p) ? CU_MEMORYTYPE_HOST : on_device(p, 1) ? CU_MEMORYTYPE_DEVICE : 0;
    return leave(CUDA_SUCCESS);
}

/* What the host has in ordinary memory is waited for. */
static CUresult copy(CUstream s, int kind, void *dst, const void *src, size_t size, const void *host)
{
    waits += kind == TIMED_OUT && !is_pinned(host);
    if (!s || !s->timed) {
        memmove(dst, src, size);
        return leave(CUDA_SUCCESS);
    }
    timed_add(s->timed, (struct timed_work){ .kind = kind, .dst = dst, .src = src, .size = size });
    if (host && !is_pinned(host))
        finish_stream(s);
    return leave(CUDA_SUCCESS);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t size, CUstream s)
{
    ENTER(cuMemcpyHtoDAsync_v2, true);
    WANT(is_stream(s), CUDA_ERROR_INVALID_HANDLE);
    WANT(on_device(dst, size), CUDA_ERROR_INVALID_VALUE);
    return copy(s, TIMED_IN, (void *)dst, src, size, src);
}

CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t size, CUstream s)
{
    ENTER(cuMemcpyDtoHAsync_v2, true);
    WANT(is_stream(s), CUDA_ERROR_INVALID_HANDLE);
    WANT(on_device(src, size), CUDA_ERROR_INVALID_VALUE);
    return copy(s, TIMED_OUT, dst, (void *)src, size, dst);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream s)
{
    ENTER(cuMemcpyDtoDAsync_v2, true);
    WANT(is_stream(s), CUDA_ERROR_INVALID_HANDLE);
    WANT(on_device(dst, size) && on_device(src, size), CUDA_ERROR_INVALID_VALUE);
    return copy(s, TIMED_WITHIN, (void *)dst, (void *)src, size, NULL);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext its, CUdeviceptr src, CUcontext others, size_t size, CUstream s)
{
    ENTER(cuMemcpyPeerAsync, true);
    WANT(its && its->retained && others && others->retained, CUDA_ERROR_INVALID_CONTEXT);
    WANT(is_stream(s), CUDA_ERROR_INVALID_HANDLE);
    CUcontext before = current;
    current = its;
    bool good = on_device(dst, size);
    current = others;
    good = good && on_device(src, size);
    current = before;
    WANT(good, CUDA_ERROR_INVALID_VALUE);
    return copy(s, TIMED_WITHIN, (void *)dst, (void *)src, size, NULL);
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    ENTER(cuCtxEnablePeerAccess, true);
    WANT(!flags && peer && peer->retained && peer != current, CUDA_ERROR_INVALID_VALUE);
    return leave(CUDA_SUCCESS);
}

/* ------------------------------------------------------------------ modules */
static struct symbol *symbol_add(struct CUmod_st *m, const char *name, size_t length, bool kernel)
{
    struct symbol *s = calloc(1, sizeof *s);
    if (s && !(s->name = strndup(name, length))) {
        free(s);
        s = NULL;
    }
    if (s) {
        s->kernel = kernel;
        s->next = m->symbols;
        m->symbols = s;
    }
    return s;
}

static void variable_add(struct CUmod_st *m, const char *name, size_t length, size_t size)
{
    struct symbol *s = symbol_add(m, name, length, false);
    struct range *r = s ? range_add(size, true) : NULL;
    if (r) {
        s->address = r->base;
        s->size = size;
    }
}

static size_t ptx_name(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.");
}

/* `.entry name(.param …, .param …)` */
static const char *ptx_entry(struct CUmod_st *m, const char *text)
{
    text += strspn(text, " \t\n");
    struct symbol *s = symbol_add(m, text, ptx_name(text), true);
    const char *end = text + strcspn(text, "{;");
    for (const char *p = text; s && (p = strstr(p, ".param")) && p < end; p++)
        s->params++;
    return end;
}

/* `.global .align 4 .u32 name;`, `.global .align 16 .b8 name[400] = {…};` */
static const char *ptx_global(struct CUmod_st *m, const char *text)
{
    const char *end = text + strcspn(text, ";={"), *type = NULL, *name = NULL;
    for (const char *p = text; p < end;) {
        p += strspn(p, " \t\n");
        size_t n = ptx_name(p);
        if (n && *p == '.' && strchr("usfb", p[1]) && p[2] >= '0' && p[2] <= '9')
            type = p;
        else if (n && *p != '.' && (*p < '0' || *p > '9'))
            name = p;
        p += n + !n;
    }
    if (type && name) {
        const char *bracket = name + ptx_name(name);
        size_t count = *bracket == '[' ? strtoul(bracket + 1, NULL, 10) : 1;
        variable_add(m, name, ptx_name(name), (size_t)atoi(type + 2) / 8 * count);
    }
    return end;
}

static CUresult load_ptx(struct CUmod_st *m, const char *text, char *log, size_t log_size)
{
    const char *target = strstr(text, ".target sm_");
    if (!strstr(text, ".version") || !target || atoi(target + 11) > arch) {
        snprintf(log, log_size, "ptxas application ptx input, line 1; fatal   : %s",
                 target ? "SM version is higher than that of the device" : "Missing .version or .target directive");
        return CUDA_ERROR_INVALID_PTX;
    }
    for (const char *p = text; (p = strpbrk(p, "./"));) {
        if (!strncmp(p, "//", 2))
            p += strcspn(p, "\n");
        else if (!strncmp(p, ".entry", 6))
            p = ptx_entry(m, p + 6);
        else if (!strncmp(p, ".global", 7) && (p == text || strchr(" \t\n", p[-1])))
            p = ptx_global(m, p + 7);
        else
            p++;
    }
    return CUDA_SUCCESS;
}

static CUresult load_elf(struct CUmod_st *m, const char *image)
{
    const Elf64_Ehdr *e = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + e->e_shoff);
    for (unsigned i = 0; i < e->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB)
            continue;
        const Elf64_Sym *symbols = (const void *)(image + sections[i].sh_offset);
        const char *names = image + sections[sections[i].sh_link].sh_offset;
        for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++) {
            const char *name = names + symbols[k].st_name;
            if (symbols[k].st_shndx == SHN_UNDEF)
                continue;             /* variables are local: ptxas sees the whole program */
            if (ELF64_ST_TYPE(symbols[k].st_info) == STT_OBJECT)
                variable_add(m, name, strlen(name), symbols[k].st_size);
            else if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC) {
                struct symbol *s = symbol_add(m, name, strlen(name), true);
                if (s)
                    s->params = -1;   /* not known */
            }
        }
    }
    return CUDA_SUCCESS;
}

static void module_free(struct CUmod_st *m)
{
    while (m->symbols) {
        struct symbol *s = m->symbols;
        m->symbols = s->next;
        for (struct range **r = &ranges; s->address && *r; r = &(*r)->next)
            if ((*r)->base == s->address) {
                range_remove(r);
                break;
            }
        free(s->name);
        free(s);
    }
    free(m);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n, CUjit_option *options, void **values)
{
    char *log = NULL, none[1];
    size_t log_size = 1;
    ENTER(cuModuleLoadDataEx, true);
    for (unsigned i = 0; i < n; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            log = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            log_size = (size_t)values[i];
    }
    struct CUmod_st *m = calloc(1, sizeof *m);
    WANT(m, CUDA_ERROR_OUT_OF_MEMORY);
    m->device = current->device;
    err = memcmp(image, ELFMAG, SELFMAG) ? load_ptx(m, image, log ? log : none, log ? log_size : 1) : load_elf(m, image);
    if (err) {
        module_free(m);
        return leave(err);
    }
    m->next = modules;
    *module = modules = m;
    return leave(CUDA_SUCCESS);
}

CUresult cuModuleUnload(CUmodule module)
{
    ENTER(cuModuleUnload, true);
    for (struct CUmod_st **p = &modules; *p; p = &(*p)->next)
        if (*p == module) {
            *p = module->next;
            module_free(module);
            return leave(CUDA_SUCCESS);
        }
    return leave(CUDA_ERROR_INVALID_HANDLE);
}

static struct symbol *symbol_of(CUmodule module, const char *name, bool kernel)
{
    for (struct CUmod_st *m = modules; m; m = m->next)
        for (struct symbol *s = m == module ? m->symbols : NULL; s; s = s->next)
            if (s->kernel == kernel && !strcmp(s->name, name))
                return s;
    return NULL;
}

static struct symbol *kernel_of(CUfunction f)
{
    for (struct CUmod_st *m = modules; m; m = m->next)
        for (struct symbol *s = m->symbols; s; s = s->next)
            if ((CUfunction)s == f)
                return s;
    return NULL;
}

CUresult cuModuleGetFunction(CUfunction *f, CUmodule module, const char *name)
{
    ENTER(cuModuleGetFunction, true);
    struct symbol *s = symbol_of(module, name, true);
    *f = (CUfunction)s;
    return leave(s ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *p, size_t *size, CUmodule module, const char *name)
{
    ENTER(cuModuleGetGlobal_v2, true);
    struct symbol *s = symbol_of(module, name, false);
    WANT(s && s->address, CUDA_ERROR_NOT_FOUND);
    *p = (CUdeviceptr)s->address;
    *size = s->size;
    return leave(CUDA_SUCCESS);
}

/* ------------------------------------------------------------------ kernels */
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute a, CUfunction f)
{
    ENTER(cuFuncGetAttribute, true);
    WANT(kernel_of(f), CUDA_ERROR_INVALID_HANDLE);
    *value = a == CU_FUNC_ATTRIBUTE_NUM_REGS ? registers : a == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
    return leave(CUDA_SUCCESS);
}

CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int value)
{
    ENTER(cuFuncSetAttribute, true);
    WANT(kernel_of(f), CUDA_ERROR_INVALID_HANDLE);
    WANT(a == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value >= 0 && value <= 227 << 10, CUDA_ERROR_INVALID_VALUE);
    return leave(CUDA_SUCCESS);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int threads, size_t shared)
{
    ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor, true);
    WANT(kernel_of(f), CUDA_ERROR_INVALID_HANDLE);
    WANT(threads > 0 && threads <= 1024 && shared <= 49152, CUDA_ERROR_INVALID_VALUE);
    int warps = (threads + 31) / 32;
    *blocks = 64 / warps < 32 ? 64 / warps : 32;
    if (*blocks > 65536 / (registers * 32 * warps))
        *blocks = 65536 / (registers * 32 * warps);
    return leave(CUDA_SUCCESS);
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                        CUstream stream, void **params, void **extra)
{
    ENTER(cuLaunchKernel, true);
    struct symbol *s = kernel_of(f);
    WANT(s && is_stream(stream), CUDA_ERROR_INVALID_HANDLE);
    WANT(gx && gy && gz && bx && by && bz && gx < 1u << 31 && bx * by * bz <= 1024 && shared <= 49152 && !extra, CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < s->params; i++)
        WANT(params && params[i], CUDA_ERROR_INVALID_VALUE);
    if (log_file) {
        fprintf(log_file, "launch %s grid %u block %u params %d stream %p first %p\n", s->name, gx * gy * gz, bx * by * bz, s->params, (void *)stream,
                s->params ? *(void **)params[0] : NULL);
        fflush(log_file);
    }
    if (stream && stream->timed)
        timed_add(stream->timed, (struct timed_work){ .kind = TIMED_KERNEL });
    if (++launches == fault_at)
        pending[current->device] = fault_code;
    return leave(CUDA_SUCCESS);
}
