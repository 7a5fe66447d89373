/* driver.c - the CUDA driver calls of hostrt/cuda/calls.def over the machine: what is wrong with a
 * call is said at once, copies and launches are work for a stream. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hostrt/ptx/beyond.h"
#include "hostrt/occupancy.h"
#include "hostrt/ptx/machine.h"
#include "hostrt/ptx/race/race.h"
#include "hostrt/ptx/weak.h"

enum { MAX_DEVICES = 16 };
struct settings ptx_settings;
static struct device devices[MAX_DEVICES];
static _Thread_local struct device *current;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ------------------------------------------------------------------ settings */
static unsigned number_setting(const char *name, unsigned otherwise, unsigned least, unsigned most)
{
    const char *text = secure_getenv(name);
    if (!text || !*text)
        return otherwise;
    char *end;
    const char *digits = !strncmp(text, "sm_", 3) ? text + 3 : text;
    unsigned long n = strtoul(digits, &end, 10);
    if (end == digits || *end || n < least || n > most) {
        fprintf(stderr, "ptx machine: %s=%s is not a number from %u to %u; %u is used\n", name,
                text, least, most, otherwise);
        return otherwise;
    }
    return (unsigned)n;
}

static void read_schedule(void)
{
    const char *text = secure_getenv("OMPGPU_PTX_SCHEDULE");
    char *end;
    ptx_settings.seed = 1;
    if (!text || !*text)
        return;
    unsigned long long seed = strtoull(text, &end, 0);
    ptx_settings.scheduled = end != text && !*end;
    if (ptx_settings.scheduled)
        ptx_settings.seed = seed;
    else
        fprintf(stderr, "ptx machine: OMPGPU_PTX_SCHEDULE=%s is not a number; not used\n", text);
}

static bool is_word(const char *text, size_t n, const char *word)
{
    return n == strlen(word) && !strncmp(text, word, n);
}

/* OMPGPU_CHECK is a list of words.  Addresses and undefined values are always looked at; what is
 * about mappings is libompgpu's. */
static void read_checks(void)
{
    static const char *const others[] = { "address", "uninit", "stale", "stale-all", "leak", "0" };
    const char *text = secure_getenv("OMPGPU_CHECK");
    for (size_t n; text && *text; text += n + (text[n] == ',')) {
        n = strcspn(text, ",");
        bool known = is_word(text, n, "race");
        ptx_racing |= known;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            known |= is_word(text, n, others[i]);
        if (!known)
            fprintf(stderr, "ptx machine: OMPGPU_CHECK: '%.*s' is not known; 'race' is\n", (int)n,
                    text);
    }
}

static void read_memory(void)
{
    const char *text = secure_getenv("OMPGPU_PTX_MEMORY");
    if (!text || !*text)
        return;
    ptx_weak = !strcmp(text, "weak") && !ptx_racing;
    if (strcmp(text, "weak") && strcmp(text, "strong"))
        fprintf(stderr, "ptx machine: OMPGPU_PTX_MEMORY=%s is neither weak nor strong; not used\n",
                text);
}

/* OMPGPU_PROFILE=1, which is libompgpu's table of times, asks for that of the counters, too. */
static void read_profile(void)
{
    const char *both = secure_getenv("OMPGPU_PROFILE"), *file = secure_getenv("OMPGPU_PTX_PROFILE");
    bool table = both && strcmp(both, "1") == 0;
    if (file && (!*file || strcmp(file, "0") == 0))
        file = NULL;
    ptx_settings.profile_file = file && strcmp(file, "1") != 0 ? file : NULL;
    ptx_settings.profile = ptx_counting = file || table;
}

static void read_settings(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    ptx_settings.arch = number_setting("OMPGPU_PTX_ARCH", 120, 50, 199);
    ptx_settings.devices = number_setting("OMPGPU_PTX_DEVICES", 1, 1, MAX_DEVICES);
    ptx_settings.workers =
        number_setting("OMPGPU_PTX_THREADS", cores > 0 ? (unsigned)cores : 1, 1, 64);
    read_schedule();
    read_profile();
    read_checks();
    read_memory();
}

static void start(void)
{
    read_settings();
    for (unsigned i = 0; i < ptx_settings.devices; i++) {
        devices[i] = (struct device){
            .ordinal = (int)i, .arch = ptx_settings.arch, .stack_limit = 1024, .heap_limit = 8 << 20
        };
    }
    ptx_memory_init(devices, ptx_settings.devices);
    if (ptx_counting)
        atexit(ptx_profile_end);
    atexit(ptx_print_end);
}

EXPORT CUresult cuInit(unsigned flags)
{
    pthread_once(&once, start);
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ errors */
static const struct {
    CUresult error;
    const char *name, *text;
} errors[] = {
#define ERROR(name, text) { name, #name, text }
    ERROR(CUDA_SUCCESS, "no error"),
    ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    ERROR(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"),
    ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    ERROR(CUDA_ERROR_NOT_READY, "device not ready"),
    ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    ERROR(CUDA_ERROR_LAUNCH_TIMEOUT, "the launch timed out and was terminated"),
    ERROR(CUDA_ERROR_ASSERT, "device-side assert triggered"),
    ERROR(CUDA_ERROR_ILLEGAL_INSTRUCTION, "an illegal instruction was encountered"),
    ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address"),
    ERROR(CUDA_ERROR_INVALID_PC, "invalid program counter"),
    ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    ERROR(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "too many blocks in cooperative launch"),
};
static const char *error_text(CUresult e, bool name)
{
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == e)
            return name ? errors[i].name : errors[i].text;
    return NULL;
}
EXPORT CUresult cuGetErrorName(CUresult e, const char **text)
{
    *text = error_text(e, true);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
EXPORT CUresult cuGetErrorString(CUresult e, const char **text)
{
    *text = error_text(e, false);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ------------------------------------------------------------------ devices and contexts */
EXPORT CUresult cuDeviceGetCount(int *n)
{
    *n = (int)ptx_settings.devices;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGet(CUdevice *d, int ordinal)
{
    if (ordinal < 0 || ordinal >= (int)ptx_settings.devices)
        return CUDA_ERROR_INVALID_DEVICE;
    *d = ordinal;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetName(char *name, int size, CUdevice d)
{
    snprintf(name, (size_t)size, "PTX machine sm_%u", devices[d].arch);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice d)
{
    *uuid = (CUuuid){ { 'P', 'T', 'X', (char)d } };
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute a, CUdevice d)
{
    switch (a) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = MAX_THREADS; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = PTX_SHARED_LIMIT; break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = WARP; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = PTX_MULTIPROCESSORS; break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: *value = PTX_RESIDENT_THREADS; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = (int)devices[d].arch / 10; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = (int)devices[d].arch % 10; break;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: *value = 65536; break;
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS: *value = 0; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice d)
{
    *bytes = devices[d].memory_size / 2;
    return CUDA_SUCCESS;
}
/* The machine has its own way to wait. */
EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice d, unsigned flags)
{
    (void)d, (void)flags;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d)
{
    *c = (CUcontext)(void *)&devices[d];
    devices[d].retained = true;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d)
{
    devices[d].retained = false;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSetCurrent(CUcontext c)
{
    current = (struct device *)(void *)c;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    *value = limit == CU_LIMIT_STACK_SIZE ? current->stack_limit : current->heap_limit;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    *(limit == CU_LIMIT_STACK_SIZE ? &current->stack_limit : &current->heap_limit) = value;
    return CUDA_SUCCESS;
}
struct device *ptx_current(CUresult *r)
{
    *r = current ? (CUresult)current->lost : CUDA_ERROR_INVALID_CONTEXT;
    return current;
}
static CUresult usable(void)
{
    return !current ? CUDA_ERROR_INVALID_CONTEXT : (CUresult)current->lost;
}

/* ------------------------------------------------------------------ streams */
EXPORT CUresult cuStreamCreate(CUstream *s, unsigned flags)
{
    CUresult r = usable();
    if (r)
        return r;
    if (flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    *s = ptx_stream_new(current);
    return *s ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
/* Who asks does the work: it is done then. */
EXPORT CUresult cuStreamQuery(CUstream s)
{
    ptx_stream_finish(s);
    return (CUresult)ptx_stream_device(s)->lost;
}
EXPORT CUresult cuStreamSynchronize(CUstream s)
{
    CUresult r = cuStreamQuery(s);
    ptx_print_flush(ptx_stream_device(s));
    return r;
}
EXPORT CUresult cuStreamDestroy_v2(CUstream s)
{
    ptx_stream_free(s);
    return CUDA_SUCCESS;
}

EXPORT CUresult cuLaunchHostFunc(CUstream s, CUhostFn call, void *argument)
{
    CUresult r = usable();
    if (r)
        return r;
    return ptx_stream_add(s,
                          (struct work){ .kind = WORK_CALL, .call = call, .argument = argument });
}

/* ------------------------------------------------------------------ modules */
EXPORT CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n,
                                   CUjit_option *option, void **value)
{
    char *log = NULL;
    size_t log_size = 0;
    CUresult r = usable();
    if (r)
        return r;
    ptx_print_flush(current);
    for (unsigned i = 0; i < n; i++) {
        if (option[i] == CU_JIT_ERROR_LOG_BUFFER)
            log = value[i];
        if (option[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            log_size = (size_t)value[i];
    }
    if (!memcmp(image,
                "\x7f"
                "ELF",
                4))
        return CUDA_ERROR_NO_BINARY_FOR_GPU; /* a cubin: only PTX is executed */
    char *text = strdup(image);
    struct module *m = text ? ptx_parse(current, text, log, log_size) : NULL;
    if (!m) {
        free(text);
        return CUDA_ERROR_INVALID_PTX;
    }
    m->text = text;
    if (m->target > current->arch) {
        ptx_module_free(m);
        free(text);
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    *out = (CUmodule)(void *)m;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuModuleUnload(CUmodule module)
{
    struct module *m = (struct module *)(void *)module;
    char *text = m->text;
    ptx_stream_finish_all(m->device);
    ptx_print_flush(m->device);
    ptx_profile_module(m);
    ptx_module_free(m);
    free(text);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name)
{
    const struct module *m = (const struct module *)(void *)module;
    for (unsigned i = 0; i < m->nfunctions; i++)
        if (m->functions[i]->is_entry && !strcmp(m->functions[i]->name, name)) {
            *out = (CUfunction)(void *)m->functions[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}
EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule module,
                                     const char *name)
{
    const struct module *m = (const struct module *)(void *)module;
    for (unsigned i = 0; i < m->nvariables; i++) {
        const struct variable *v = m->variables[i];
        if ((v->space == S_GLOBAL || v->space == S_CONST) && !strcmp(v->name, name)) {
            if (address)
                *address = v->address;
            if (size)
                *size = v->size;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_NOT_FOUND;
}
EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute a, CUfunction function)
{
    const struct function *f = (const struct function *)(const void *)function;
    switch (a) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = (int)(f->max_threads ? f->max_threads : MAX_THREADS);
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)f->shared_bytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)f->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 32; break; /* only ptxas knows */
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}
/* Of a team, at most: what a multiprocessor has, but for the system's part. */
static unsigned shared_limit(unsigned arch)
{
    return ompgpu_capability(arch)->shared - ompgpu_system_shared(arch);
}
EXPORT CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute a, int value)
{
    struct function *f = (struct function *)(void *)function;
    if (a != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        f->shared_bytes + (unsigned)value > shared_limit(f->module->device->arch))
        return CUDA_ERROR_INVALID_VALUE;
    f->dynamic_most = (unsigned)value;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction f, int threads,
                                                            size_t dynamic_shared)
{
    (void)f, (void)dynamic_shared;
    *n = threads > 0 ? PTX_RESIDENT_THREADS / threads : 0;
    return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ memory */
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t size)
{
    CUresult r = usable();
    if (r)
        return r;
    if (!size)
        return CUDA_ERROR_INVALID_VALUE;
    *p = ptx_global_alloc(current, size);
    return *p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr p)
{
    CUresult r = usable();
    if (r)
        return r;
    ptx_stream_finish_all(current);
    return !p || ptx_global_free(p) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
EXPORT CUresult cuMemHostAlloc(void **p, size_t size, unsigned flags)
{
    CUdeviceptr address;
    CUresult r = cuMemAlloc_v2(&address, size);
    (void)flags;
    if (r)
        return r;
    ptx_global_share(address, size);
    *p = (void *)address;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemFreeHost(void *p) { return cuMemFree_v2((CUdeviceptr)p); }
/* All that the machine allocates is memory of the host. */
EXPORT CUresult cuPointerGetAttributes(unsigned n, CUpointer_attribute *a, void **values,
                                       CUdeviceptr p)
{
    if (n != 1 || *a != CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
        return CUDA_ERROR_INVALID_VALUE;
    *(unsigned *)*values = ptx_global_is_allocated(p, 1) ? CU_MEMORYTYPE_HOST : 0;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream s)
{
    struct work w = { .kind = WORK_UPLOAD, .to = to, .size = size };
    CUresult r = usable();
    if (r)
        return r;
    if (!ptx_global_is_allocated(to, size))
        return CUDA_ERROR_INVALID_VALUE;
    if (ptx_global_is_allocated((CUdeviceptr)from, size)) { /* pinned: it is read in its turn */
        w.kind = WORK_COPY, w.from = (CUdeviceptr)from;
        return ptx_stream_add(s, w);
    }
    if (!(w.data = malloc(size + 1)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(w.data, from, size);
    return ptx_stream_add(s, w);
}
EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream s)
{
    struct work w = { .kind = WORK_DOWNLOAD, .host_to = to, .from = from, .size = size };
    CUresult r = usable();
    if (r)
        return r;
    return ptx_global_is_allocated(from, size) ? ptx_stream_add(s, w) : CUDA_ERROR_INVALID_VALUE;
}
/* All memory is in one address space. */
EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    return flags || !peer ? CUDA_ERROR_INVALID_VALUE : usable();
}
EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream s)
{
    struct work w = { .kind = WORK_COPY, .to = to, .from = from, .size = size };
    CUresult r = usable();
    if (r)
        return r;
    bool good = ptx_global_is_allocated(from, size) && ptx_global_is_allocated(to, size);
    return good ? ptx_stream_add(s, w) : CUDA_ERROR_INVALID_VALUE;
}
EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext its, CUdeviceptr from, CUcontext others,
                                  size_t size, CUstream s)
{
    return its && others ? cuMemcpyDtoDAsync_v2(to, from, size, s) : CUDA_ERROR_INVALID_CONTEXT;
}
