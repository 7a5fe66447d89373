/* rt_fake.h - for tests of the runtime's core: TAP, and a fake device in place of the real plugins.
 *
 * The test program defines both plugin tables here, so the archive's own are not linked.  The fake device's memory is the host's heap
 * (which ASan watches), its kernels are functions of the test, found by name in fake_kernels.  Calls are counted by kind, and the n-th
 * of a kind fails when told to.  After a test nothing may be allocated on the device: fake_live says how much is.            */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/core/core.h"

/* ------------------------------------------------------------------ TAP */
static int tap_count, tap_bad;
#define OK(condition, ...) (tap((condition), __FILE__, __LINE__, __VA_ARGS__))
static inline __attribute__((format(printf, 4, 5))) bool tap(bool good, const char *file, int line, const char *fmt, ...)
{
    char text[256];
    __builtin_va_list ap;
    __builtin_va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    __builtin_va_end(ap);
    printf("%sok %d - %s\n", good ? "" : "not ", ++tap_count, text);
    if (!good)
        fprintf(stderr, "# not ok %d - %s: failed at %s:%d\n", tap_count, text, file, line), tap_bad++;
    return good;
}
static inline int tap_end(void)
{
    printf("1..%d\n", tap_count);
    return tap_bad != 0;
}

/* ------------------------------------------------------------------ fatal errors come back here */
static _Thread_local jmp_buf fatal_jump;
static _Thread_local char fatal_text[2048];
static inline void fatal_caught(const char *message)
{
    snprintf(fatal_text, sizeof fatal_text, "%s", message);
    longjmp(fatal_jump, 1);
}
/* Whether the statement ended in a fatal error; its message is in fatal_text. */
#define FATAL(...) (fatal_text[0] = 0, setjmp(fatal_jump) ? 1 : (({ __VA_ARGS__; }), 0))

/* ------------------------------------------------------------------ the fake device */
enum fake_call { FAKE_OPEN, FAKE_PICK, FAKE_LOAD, FAKE_FUNCTION, FAKE_VARIABLE, FAKE_ALLOC, FAKE_FREE, FAKE_TO, FAKE_FROM, FAKE_COPY, FAKE_LAUNCH,
                 FAKE_SYNC, FAKE_KINDS };
static const char *const fake_names[] = { "open", "pick", "load", "function", "variable", "alloc", "free", "to_device", "from_device",
                                          "device_copy", "launch", "sync" };
static long fake_calls[FAKE_KINDS], fake_fail[FAKE_KINDS], fake_live;
static int fake_devices = 2;
__attribute__((unused)) static struct ompgpu_geometry fake_geometry;
struct fake_kernel { const char *name; void (*run)(void **params); unsigned mode, flags, reduce_bytes; };
extern const struct fake_kernel fake_kernels[];     /* ended by a NULL name */
struct fake_variable { const char *name; void *address; size_t size; };
extern const struct fake_variable fake_variables[];

static inline int fake_call(enum fake_call kind)
{
    __atomic_add_fetch(&fake_calls[kind], 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&fake_fail[kind], __ATOMIC_RELAXED) && __atomic_sub_fetch(&fake_fail[kind], 1, __ATOMIC_RELAXED) == 0) {
        ompgpu_plugin_error("fake %s failed", fake_names[kind]);
        return -1;
    }
    return 0;
}
static int fake_num(void) { return fake_devices; }
static int fake_open(int n, struct ompgpu_device_info *info)
{
    if (fake_call(FAKE_OPEN))
        return -1;
    *info = (struct ompgpu_device_info){ .multiprocessors = 10, .max_threads_per_team = 1024, .max_threads_per_mp = 2048, .warp_size = 32 };
    snprintf(info->name, sizeof info->name, "fake %d", n);
    return 0;
}
static void fake_close(int n) { (void)n; }
static int fake_pick(int n, const struct ompgpu_image_header *h)
{
    (void)n;
    return h->nimages && !fake_call(FAKE_PICK) ? 0 : -1;
}
static int fake_load(int n, const struct ompgpu_image_header *h, int i, const void *data, size_t size, void **module)
{
    (void)n, (void)h, (void)i, (void)data, (void)size;
    if (fake_call(FAKE_LOAD))
        return -1;
    *module = malloc(1);
    return 0;
}
static void fake_unload(int n, void *module)
{
    (void)n;
    free(module);
}
static int fake_function(int n, void *module, const char *name, struct ompgpu_function *f)
{
    (void)n, (void)module;
    if (fake_call(FAKE_FUNCTION))
        return -1;
    for (const struct fake_kernel *k = fake_kernels; k->name; k++)
        if (strcmp(k->name, name) == 0)
            f->handle = (void *)k;
    return f->handle ? 0 : -1;
}
static int fake_variable(int n, void *module, const char *name, void **address, size_t *size)
{
    (void)n, (void)module;
    if (fake_call(FAKE_VARIABLE))
        return -1;
    for (const struct fake_variable *v = fake_variables; v->name; v++)
        if (strcmp(v->name, name) == 0)
            return *address = v->address, *size = v->size, 0;
    ompgpu_plugin_error("no variable %s", name);
    return -1;
}
static int fake_alloc(int n, size_t size, void **address)
{
    (void)n;
    if (fake_call(FAKE_ALLOC) || size > 1ul << 40)
        return ompgpu_plugin_error("fake alloc failed: out of memory"), -1;
    *address = aligned_alloc(256, (size + 255) & ~(size_t)255);
    memset(*address, 0xa5, size);
    __atomic_add_fetch(&fake_live, 1, __ATOMIC_RELAXED);
    return 0;
}
static int fake_free(int n, void *address)
{
    (void)n;
    __atomic_sub_fetch(&fake_live, 1, __ATOMIC_RELAXED);
    free(address);
    return fake_call(FAKE_FREE);
}
static int fake_alloc_shared(int n, size_t size, void **address)
{
    int bad = fake_alloc(n, size, address);
    fake_live -= !bad;
    return bad;
}
static int fake_free_shared(int n, void *address)
{
    fake_live++;
    return fake_free(n, address);
}
/* Copies are made as late as a device may make them: at this thread's next launch or sync.  Pointers are taken at once. */
static _Thread_local struct fake_copy { void *dst; const void *src; size_t size; uint64_t pointer; } *fake_queue;
static _Thread_local unsigned fake_queued;
__attribute__((unused)) static void (*fake_at_copy)(size_t size); /* called before it */
static void fake_flush(void)
{
    for (unsigned i = 0; i < fake_queued; i++) {
        const struct fake_copy *c = &fake_queue[i];
        if (fake_at_copy)
            fake_at_copy(c->size);
        memcpy(c->dst, c->src ? c->src : &c->pointer, c->size);
    }
    free(fake_queue);
    fake_queue = NULL, fake_queued = 0;
}
static int fake_enqueue(enum fake_call kind, void *dst, const void *src, size_t size)
{
    if (fake_call(kind))
        return -1;
    struct fake_copy c = { dst, src, size, 0 };
    if (kind == FAKE_TO && size == sizeof c.pointer)
        memcpy(&c.pointer, src, size), c.src = NULL;
    fake_queue = realloc(fake_queue, (fake_queued + 1) * sizeof *fake_queue);
    fake_queue[fake_queued++] = c;
    return 0;
}
static int fake_to(int n, void *dst, const void *src, size_t size)
{
    (void)n;
    return fake_enqueue(FAKE_TO, dst, src, size);
}
static int fake_from(int n, void *dst, const void *src, size_t size)
{
    (void)n;
    return fake_enqueue(FAKE_FROM, dst, src, size);
}
/* Where it is allowed: at the next sync, into memory of the device's. */
static struct { bool on; long calls; char bytes[4][4096]; } fake_early;
static void fake_prefetch(int n, const void *src, size_t size, const void **host)
{
    (void)n;
    *host = fake_early.on ? fake_early.bytes[fake_early.calls++ % 4] : NULL;
    if (*host) {
        fake_enqueue(FAKE_FROM, (void *)*host, src, size);
        fake_calls[FAKE_FROM]--;
    }
}
static int fake_copy(int n, void *dst, const void *src, size_t size)
{
    (void)n;
    return fake_enqueue(FAKE_COPY, dst, src, size);
}
/* As on an H100: 64 warps, 65536 registers, 227 KiB of shared memory, 32 teams; a warp's registers come in units of 256, warps in units of 4, and a
 * team has 1 KiB of the system's.  A kernel without registers: as many as threads fit. */
static unsigned fake_occupancy(int n, struct ompgpu_function *f, unsigned threads)
{
    (void)n;
    if (!f->registers)
        return 2048 / threads;
    unsigned warps = (threads + 31) / 32, teams = 64 / warps < 32 ? 64 / warps : 32;
    unsigned by_registers = 65536 / ((f->registers * 32 + 255) / 256 * 256) / 4 * 4 / warps;
    unsigned by_shared = (228 << 10) / ((f->static_shared + 1024 + 127) / 128 * 128);
    teams = by_registers < teams ? by_registers : teams;
    return by_shared < teams ? by_shared : teams;
}
static int fake_launch(int n, struct ompgpu_function *f, unsigned teams, unsigned threads, void **params)
{
    (void)n;
    if (fake_call(FAKE_LAUNCH))
        return -1;
    fake_flush();
    __atomic_store(&fake_geometry.teams, &teams, __ATOMIC_RELAXED);
    __atomic_store(&fake_geometry.threads, &threads, __ATOMIC_RELAXED);
    ((const struct fake_kernel *)f->handle)->run(params);
    return 0;
}
__attribute__((unused)) static void (*fake_after_sync)(void); /* called once */
static int fake_sync(int n)
{
    (void)n;
    fake_flush();
    void (*after)(void) = fake_after_sync;
    fake_after_sync = NULL;
    if (after)
        after();
    return fake_call(FAKE_SYNC);
}
static int fake_none(void) { return 0; }
static const char *fake_counts(void) { return ", 7 barriers"; }
static bool fake_fault(uintptr_t *address) { return *address = 0, false; }
const struct ompgpu_plugin ompgpu_cuda_plugin = { .name = "cuda", .image_kinds = 1 << OMPGPU_IMAGE_PTX, .num_devices = fake_none };
const struct ompgpu_plugin ompgpu_emu_plugin = {
    .name = "emu", .image_kinds = 1 << OMPGPU_IMAGE_EMU, .num_devices = fake_num, .open = fake_open, .close = fake_close, .pick = fake_pick,
    .load = fake_load, .unload = fake_unload, .function = fake_function, .variable = fake_variable, .alloc = fake_alloc, .free = fake_free, .alloc_shared = fake_alloc_shared, .free_shared = fake_free_shared,
    .to_device = fake_to, .from_device = fake_from, .prefetch = fake_prefetch, .device_copy = fake_copy, .occupancy = fake_occupancy, .launch = fake_launch,
    .sync = fake_sync, .counts = fake_counts, .fault = fake_fault,
};

/* ------------------------------------------------------------------ a unit with an image of fake_kernels */
static struct {
    struct ompgpu_image_header header;
    struct ompgpu_image_entry image;
    struct ompgpu_kernel_entry kernels[16];
    char text[1024];
} fake_container;
static struct ompgpu_unit fake_unit = { .abi = OMPGPU_ABI_VERSION, .image = &fake_container, .file = "app.c" };

static inline uint32_t fake_string(const char *s)
{
    static size_t used = 1;
    size_t at = used;
    used += (size_t)snprintf(fake_container.text + at, sizeof fake_container.text - at, "%s", s) + 1;
    return (uint32_t)(offsetof(__typeof__(fake_container), text) + at);
}
static inline void fake_make_container(void)
{
    unsigned n = 0;
    for (const struct fake_kernel *k = fake_kernels; k->name; k++, n++)
        fake_container.kernels[n] = (struct ompgpu_kernel_entry){
            .name = fake_string(k->name), .function = fake_string("main"), .file = fake_string("app.c"), .directive = fake_string("target"),
            .line = n + 1, .mode = k->mode, .flags = k->flags, .reduce_bytes = k->reduce_bytes };
    fake_container.header = (struct ompgpu_image_header){
        .magic = OMPGPU_IMAGE_MAGIC, .version = OMPGPU_IMAGE_VERSION, .header_size = sizeof fake_container.header,
        .total_size = sizeof fake_container, .nimages = 1, .nkernels = n, .images = offsetof(__typeof__(fake_container), image),
        .kernels = offsetof(__typeof__(fake_container), kernels) };
    fake_container.image = (struct ompgpu_image_entry){ OMPGPU_IMAGE_EMU, 0, offsetof(__typeof__(fake_container), text), 8, 8 };
    ompgpu_image_seal(&fake_container.header);
}
static inline void fake_register(void)
{
    fake_make_container();
    ompgpu_fatal_hook = fatal_caught;
    __ompgpu_register(&fake_unit);
}
#define FAKE_REGION(kernel, line) { kernel, "app.c", "main", "target", line, 1, &fake_unit, NULL, NULL, NULL }

/* ------------------------------------------------------------------ short ways to write maps */
#define MAP(variable, how) { &(variable), &(variable), sizeof(variable), NULL, (how), 0, #variable }
#define SECTION(pointer, from, count, how) \
    { (pointer), (pointer) + (from), (count) * sizeof *(pointer), NULL, (how), 0, #pointer "[" #from ":" #count "]" }
#define MEMBER(pointer, from, count, how) \
    { (pointer), (pointer) + (from), (count) * sizeof *(pointer), &(pointer), (how) | OMPGPU_MAP_ATTACH, 0, #pointer "[" #from ":" #count "]" }
#define COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))
__attribute__((unused)) static const struct ompgpu_place fake_place = { "app.c", 30, "target data", OMPGPU_TARGET_DATA };
#define BEGIN(maps) __ompgpu_data_begin(&fake_place, OMPGPU_DEVICE_DEFAULT, maps, COUNT(maps))
#define END(maps) __ompgpu_data_end(&fake_place, OMPGPU_DEVICE_DEFAULT, maps, COUNT(maps))
#define UPDATE(maps) __ompgpu_data_update(&fake_place, OMPGPU_DEVICE_DEFAULT, maps, COUNT(maps))
#define DEVICE(host) ((__typeof__(&(host)[0]))__ompgpu_use_device(OMPGPU_DEVICE_DEFAULT, host))
int omp_target_is_present(const void *, int);
static inline bool is_present(const void *host)
{
    return __ompgpu_use_device(OMPGPU_DEVICE_DEFAULT, host) != host && omp_target_is_present(host, ompgpu_default_device());
}
