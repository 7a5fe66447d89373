/* rt_cuda.c - the cuda plugin over nullcuda: what it calls, how often, and what it says when a call fails. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hostrt/core/core.h"

/* Of the leak sanitizer: events of the driver in tests/nullcuda, in scenarios where destroying them fails. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:cuEventCreate\n"; }

static const struct ompgpu_plugin *const dev = &ompgpu_cuda_plugin;
static unsigned tests, failures;
static unsigned long (*count)(const char *), (*bytes)(void);
static void (*reset)(void), (*fail)(const char *), (*fail_at_sync)(const char *);

__attribute__((format(printf, 2, 3)))
static void check(bool good, const char *fmt, ...)
{
    va_list ap;
    printf("%sok %u - ", good ? "" : "not ", ++tests);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    failures += !good;
}

__attribute__((nonnull)) static void check_message(const char *expected)
{
    const char *got = ompgpu_plugin_message();
    if (!got)
        got = "";
    check(strstr(got, expected) != NULL, "message: %s", expected);
    if (!strstr(got, expected))
        printf("# got: %s\n", got);
}

static const char ptx[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter;\n.visible .global .align 8 .b8 table[400] = {1, 2};\n"
    ".visible .entry region(.param .align 8 .b8 region_param_0[16],\n .param .u64 region_param_1)\n"
    "{ // ld.global.u32 is no variable\n ret;\n}\n";
static const char late_ptx[] = ".version 9.0\n.target sm_120\n";
static struct { struct ompgpu_image_header h; struct ompgpu_image_entry e[6]; } container = {
    .h = { .images = sizeof(struct ompgpu_image_header), .nimages = 1 }, .e = { { .kind = OMPGPU_IMAGE_PTX, .arch = 75 } },
};

/* ------------------------------------------------------------------ without a driver */
static int in_new_process(const char *program, const char *environment)
{
    char command[1024];
    snprintf(command, sizeof command, "%s '%s' child", environment, program);
    return system(command) >> 8;
}

/* Prints nothing, has no devices. */
static int child(void)
{
    ompgpu_cuda_plugin.find();
    printf("# %s\n", ompgpu_cuda_plugin.num_devices() ? "devices" : ompgpu_plugin_message());
    return 0;
}

/* ------------------------------------------------------------------ choice of an image */
static void test_pick(void)
{
    static const struct { uint32_t kind[3], arch[3]; int best; } rows[] = {       /* the device is an sm_90 */
        { { OMPGPU_IMAGE_CUBIN, OMPGPU_IMAGE_CUBIN, OMPGPU_IMAGE_PTX }, { 80, 90, 75 }, 1 },
        { { OMPGPU_IMAGE_CUBIN, OMPGPU_IMAGE_PTX, OMPGPU_IMAGE_PTX }, { 80, 75, 80 }, 2 },
        { { OMPGPU_IMAGE_PTX, OMPGPU_IMAGE_PTX, OMPGPU_IMAGE_CUBIN }, { 100, 90, 100 }, 1 },
        { { OMPGPU_IMAGE_EMU, OMPGPU_IMAGE_PTX, OMPGPU_IMAGE_CUBIN }, { 0, 100, 86 }, -1 },
        { { OMPGPU_IMAGE_EMU, OMPGPU_IMAGE_PTX, OMPGPU_IMAGE_CUBIN }, { 0, 75, 90 }, 2 },
    };
    struct { struct ompgpu_image_header h; struct ompgpu_image_entry e[3]; } c = { .h = { .images = sizeof c.h, .nimages = 3 } };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned k = 0; k < 3; k++)
            c.e[k] = (struct ompgpu_image_entry){ .kind = rows[i].kind[k], .arch = rows[i].arch[k] };
        check(dev->pick(0, &c.h) == rows[i].best, "choice of an image, row %u", i);
    }
}

/* ------------------------------------------------------------------ queues */
static void count_up(void *n) { __atomic_fetch_add((int *)n, 1, __ATOMIC_ACQ_REL); }

/* What is called by a thread of the plugin's. */
static bool comes_to(const int *n, int value)
{
    for (int i = 0; i < 10000 && __atomic_load_n(n, __ATOMIC_ACQUIRE) != value; i++)
        usleep(1000);
    return __atomic_load_n(n, __ATOMIC_ACQUIRE) == value;
}

/* There and back through one queue and another that waits for it. */
static int queue_scenario(void *p, struct ompgpu_function *f, void **params)
{
    static char data[5000000], back[sizeof data];     /* more than one piece */
    void *queues[2] = { 0 }, *event = NULL;
    int called = 0, first = 0;
    data[0] = 1, data[sizeof data - 1] = 2;
    memset(back, 0, sizeof back);
    int bad = dev->queue_create(0, &queues[0]) || dev->queue_create(0, &queues[1]) || dev->event_create(0, &event) ||
              dev->queue_call(0, queues[0], count_up, &first) || first != 1 ||
              dev->queue_to_device(0, queues[0], p, data, sizeof data) || dev->queue_launch(0, queues[0], f, 10, 128, params) ||
              dev->event_record(0, event, queues[0]) || dev->queue_wait(0, queues[1], event) || dev->queue_launch(0, queues[1], f, 1, 1, params) ||
              dev->queue_from_device(0, queues[1], back, p, sizeof back) || dev->queue_call(0, queues[1], count_up, &called) ||
              dev->event_record(0, event, queues[1]) || dev->queue_notify(0, queues[1], event, count_up, &called) ||
              dev->event_wait(0, event) || !comes_to(&called, 2) || memcmp(data, back, sizeof back);
    for (unsigned i = 0; i < 2; i++)
        if (queues[i])
            dev->queue_destroy(0, queues[i]);
    if (event)
        dev->event_destroy(0, event);
    return bad;
}

/* ------------------------------------------------------------------ all of it in order */
static const struct ompgpu_kernel_entry printing = { .uses = OMPGPU_USES_PRINTS };

static int scenario(unsigned rounds)
{
    enum { LARGE = 1500000 }; /* by three threads */
    static char large[2][LARGE];
    large[0][0] = large[0][LARGE - 1] = 1;
    memset(large[1], 0, LARGE);
    struct ompgpu_device_info info;
    struct ompgpu_function f = { .entry = &printing };
    struct ompgpu_env env = { 0 };
    char data[1000] = "data", back[1000];
    void *module, *p = NULL, *q = NULL, *variable, *params[] = { &env, &p };
    size_t size;
    dev->find();
    if (dev->num_devices() != 2 || dev->open(0, &info))
        return 1;
    int bad = dev->load(0, &container.h, 0, ptx, sizeof ptx, &module);
    if (!bad) {
        bad = dev->function(0, module, "region", &f) || dev->variable(0, module, "counter", &variable, &size) ||
              dev->alloc(0, 1000, &p) || dev->alloc(0, 5000000, &q) || dev->to_device(0, p, data, 1000) ||
              dev->device_copy(0, q, p, 1000) || !dev->occupancy(0, &f, 128);
        for (unsigned i = 0; !bad && i < rounds; i++)
            bad = dev->launch(0, &f, 10, 128, params) || dev->sync(0);
        bad = bad || dev->to_device(0, q, large[0], LARGE) || dev->from_device(0, large[1], q, LARGE) || dev->sync(0) ||
              memcmp(large[0], large[1], LARGE) || dev->device_copy(0, q, p, 1000);
        bad = bad || dev->from_device(0, back, q, 1000) || dev->sync(0) || memcmp(data, back, 1000) || queue_scenario(q, &f, params);
        bad = dev->free(0, p) || bad;
        bad = dev->free(0, q) || bad;
        dev->unload(0, module);
    }
    dev->close(0);
    return bad;
}

/* Calls whose failure does not matter, because something else happens then. */
static bool may_fail(const char *call)
{
    static const char *const calls[] = { "cuGetErrorName", "cuGetErrorString", "cuStreamDestroy_v2", "cuPointerGetAttributes",
                                         "cuMemFree_v2", "cuMemFreeHost", "cuEventDestroy_v2", "cuModuleUnload", "cuDevicePrimaryCtxRelease_v2" };
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i], call))
            return true;
    return false;
}

/* It may be that only fewer threads copy. */
static bool costs_a_helper(const char *call)
{
    static const char *const calls[] = { "cuMemHostAlloc", "cuStreamCreate", "cuEventCreate", "cuCtxSetCurrent" };
    bool is = false;
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++)
        is |= !strcmp(calls[i], call);
    return is;
}

static void test_failures(void)
{
    static const char *const names[] = {
#define CUDA_CALL(f, version) #f #version,
#include "hostrt/cuda/calls.def"
#undef CUDA_CALL
    };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        unsigned long n, calls;
        reset();
        scenario(2);
        calls = count(names[i]);
        bool good = true;
        for (n = 1; n <= calls; n++) {
            char spec[80], expected[80];
            const char *version = strstr(names[i], "_v");
            int length = version ? (int)(version - names[i]) : (int)strlen(names[i]);
            reset();
            snprintf(spec, sizeof spec, "%s:%lu:999", names[i], n);
            snprintf(expected, sizeof expected, "%.*s failed: CUDA_ERROR_UNKNOWN (unknown error)", length, names[i]);
            fail(spec);
            int bad = scenario(2);
            bool came = count(names[i]) >= n; /* how often is asked for an event is chance */
            /* the last two cuStreamSynchronize are those of queue_destroy */
            bool spared = !bad && costs_a_helper(names[i]);
            bool tolerated = !came || spared || may_fail(names[i]) || (!strcmp(names[i], "cuStreamSynchronize") && n + 2 > calls);
            good &= tolerated || (bad && strstr(ompgpu_plugin_message(), expected));
            if (!good)
                printf("# %s: %d, %s\n", spec, bad, ompgpu_plugin_message());
        }
        check(good, "%s fails at each of its %lu calls", names[i], calls);
    }
    reset();
    unsigned long before = bytes();
    check(!scenario(1) && bytes() == before, "all is well afterwards");
}

/* ------------------------------------------------------------------ notices */
enum { NOTICES = 100 };
static int order[NOTICES], norder;
static void note_order(void *i) /* by one thread */
{
    order[norder % NOTICES] = (int)(intptr_t)i;
    __atomic_fetch_add(&norder, 1, __ATOMIC_RELEASE);
}

static bool in_order(void)
{
    bool good = comes_to(&norder, NOTICES);
    for (int i = 0; i < NOTICES; i++)
        good = good && order[i] == i;
    norder = 0;
    return good;
}

/* Events come late, all at once, and one by one. */
static void test_notices(void)
{
    struct ompgpu_device_info info;
    void *queue, *events[NOTICES];
    bool good = !dev->open(0, &info) && !dev->queue_create(0, &queue);
    int called = 0;
    for (int i = 0; good && i < NOTICES; i++)
        good = !dev->event_create(0, &events[i]);
    reset();
    fail("cuEventQuery:1:600,cuEventQuery:2:600,cuEventQuery:4:600,cuEventQuery:7:600");
    for (int i = 0; good && i < NOTICES; i++)
        good = !dev->event_record(0, events[i], queue) && !dev->queue_notify(0, queue, events[i], note_order, (void *)(intptr_t)i);
    check(good && in_order() && count("cuEventQuery") >= 3, "functions are called in the order of their events");
    check(!dev->queue_notify(0, queue, NULL, count_up, &called) && comes_to(&called, 1), "one without an event");
    usleep(20000); /* the thread sleeps */
    good = !dev->event_record(0, events[0], queue) && !dev->queue_notify(0, queue, events[0], count_up, &called) && !dev->event_wait(0, events[0]);
    check(good && comes_to(&called, 2), "who waits for an event, and its function");
    reset();
    char all[1024] = ""; /* whoever asks, the plugin's thread or this one, and as often as it likes */
    for (int i = 1, n = 0; i <= 30; i++)
        n += snprintf(all + n, sizeof all - (size_t)n, "%scuEventQuery:%d:999", i > 1 ? "," : "", i);
    fail(all);
    good = !dev->event_record(0, events[1], queue) && !dev->queue_notify(0, queue, events[1], count_up, &called) && dev->event_wait(0, events[1]);
    check(good, "a question that fails");
    check_message("cuEventQuery failed: CUDA_ERROR_UNKNOWN");
    for (int i = 0; i < 10000 && !dev->event_wait(0, events[0]); i++)
        usleep(1000); /* the question may have been this thread's, and the other one asks later */
    int before = __atomic_load_n(&called, __ATOMIC_ACQUIRE);
    good = !dev->event_record(0, events[2], queue) && !dev->queue_notify(0, queue, events[2], count_up, &called);
    usleep(20000);
    check(good && dev->event_wait(0, events[0]) && before == __atomic_load_n(&called, __ATOMIC_ACQUIRE), "… then nothing is called any more that waits for an event");
    dev->queue_destroy(0, queue);
    for (int i = 0; i < NOTICES; i++)
        dev->event_destroy(0, events[i]);
    dev->close(0);
}

/* ------------------------------------------------------------------ details */
static void test_steady_state(void *module)
{
    struct ompgpu_function f = { 0 };
    struct ompgpu_env env = { 0 };
    void *p = NULL, *again = NULL, *params[] = { &env, &p };
    check(!dev->function(0, module, "region", &f) && f.registers == 32 && f.max_threads == 1024, "a kernel and its attributes");
    check(!dev->alloc(0, 1000, &p) && (uintptr_t)p % 256 == 0, "alloc");
    reset();
    for (int i = 0; i < 10; i++)
        if (dev->launch(0, &f, 100, 256, params) || dev->sync(0))
            break;
    check(count(NULL) == 20 && count("cuLaunchKernel") == 10 && count("cuStreamQuery") == 10,
          "steady state is one launch and one question whether it has ended");
    reset();
    f.entry = &printing;
    check(!dev->launch(0, &f, 1, 1, params) && !dev->sync(0) && !dev->sync(0) && count(NULL) == 4 && count("cuStreamSynchronize") == 1,
          "a kernel that prints: the stream is waited for once");
    f.entry = NULL;
    reset();
    dev->free(0, p);
    check(!dev->alloc(0, 990, &again) && again == p && count(NULL) == 0, "freed memory is used again without a call of the driver");
    check(dev->launch(0, &f, 1, 2000, params) == 1, "a launch that is refused");
    check_message("cuLaunchKernel failed: CUDA_ERROR_INVALID_VALUE (invalid argument): 1 teams of 2000 threads, 32 registers a thread");
    dev->free(0, again);
    check(dev->free(0, again) == 1, "free twice");
    check_message("cuMemFree failed: CUDA_ERROR_INVALID_VALUE (invalid argument): 0x");
}

/* Copies to the host that are small, and one that is not: they are there when the thread has waited, or none of the small ones. */
static void test_results(void)
{
    enum { MANY = 100, LARGE = 20000 };
    static int there[LARGE], back[LARGE];
    void *p;
    bool good = true;
    for (int i = 0; i < LARGE; i++)
        there[i] = i + 1;
    check(!dev->alloc(0, sizeof there, &p) && !dev->to_device(0, p, there, sizeof there), "an array to fetch from");
    for (int i = 0; i < MANY; i++)
        good &= !dev->from_device(0, &back[i], (int *)p + i, sizeof *back);
    good &= !back[0] && !dev->from_device(0, &back[MANY], (int *)p + MANY, sizeof back - MANY * sizeof *back) && !dev->sync(0);
    check(good && !memcmp(back, there, sizeof back), "many small copies and a large one");
    memset(back, 0, sizeof back);
    reset();
    fail("cuStreamQuery:1:999");
    check(!dev->from_device(0, back, p, 64) && !dev->from_device(0, back + 50, p, 64) && dev->sync(0) == 1 && !back[0] && !back[50], "none after a failure");
    reset();
    fail("cuMemcpyDtoHAsync_v2:2:999");
    check(!dev->from_device(0, back, p, 64) && dev->from_device(0, back + 50, p, 64) == 1, "a small copy fails");
    reset();
    check(!dev->from_device(0, back + 100, p, 64) && !dev->sync(0) && !back[0] && !back[50] && back[100] == 1 && !dev->free(0, p), "… those before it do not come later");
}

/* Large copies of pageable memory, by several threads. */
enum { MOST_STAGED = 9 << 20 };
static bool there_and_back(int device, char *from, char *to, size_t size, size_t offset)
{
    void *p = NULL;
    memset(to, 0, size + 2);
    bool good = !dev->alloc(device, size + offset, &p) && !dev->to_device(device, (char *)p + offset, from, size) &&
                !dev->from_device(device, to + 1, (char *)p + offset, size) && !dev->sync(device) && !dev->free(device, p);
    return good && !memcmp(from, to + 1, size) && !to[0] && !to[size + 1];
}

static char *random_bytes(unsigned seed)
{
    char *bytes = malloc(MOST_STAGED + 5000);
    for (size_t i = 0; bytes && i < MOST_STAGED + 5000; i++)
        bytes[i] = (char)((seed = seed * 1103515245 + 12345) >> 16);
    return bytes;
}

static void *copy_much(void *seed)
{
    char *from = random_bytes((unsigned)(uintptr_t)seed), *to = malloc(MOST_STAGED + 5000);
    bool good = from && to;
    for (size_t i = 0; good && i < 12; i++)
        good = there_and_back((int)i % 2, from + i, to + 7 * i, (size_t)(1 << 20) * (1 + (i + (uintptr_t)seed) % 5) + 13 * i, 3 * i);
    free(from);
    free(to);
    return good ? seed : NULL;
}

static bool copy_from_threads(void)
{
    pthread_t id[4];
    bool good = true;
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&id[i], NULL, copy_much, (void *)(i + 1));
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(id[i], &result);
        good &= result != NULL;
    }
    return good;
}

static bool copies_at_once(char *from, char *to, size_t size)
{
    reset();
    return there_and_back(0, from, to, size, 0) && count("cuMemcpyHtoDAsync_v2") == 1 && count("cuMemcpyDtoHAsync_v2") == 1;
}

static void test_staged(void)
{
    static const size_t sizes[] = { 1 << 20, (1 << 20) + 1, 3000001, (4 << 20) - 1, 4 << 20, MOST_STAGED };
    char *from = random_bytes(7), *to = malloc(MOST_STAGED + 5000);
    struct ompgpu_device_info info;
    void *pinned;
    bool good = true;
    ompgpu_settings.copy_threads = 4;
    check(from && to && !dev->open(0, &info) && !dev->open(1, &info), "memory for large copies");
    check(copies_at_once(from, to, (1 << 20) - 1), "less than a megabyte goes at once");
    reset();
    fail("cuMemHostAlloc:1:2,cuMemHostAlloc:2:2,cuMemHostAlloc:3:2,cuMemHostAlloc:4:2");
    check(there_and_back(0, from, to, 3 << 20, 0) && count("cuMemcpyHtoDAsync_v2") == 1, "without pinned memory the driver copies");
    dev->close(0);
    dev->open(0, &info);
    reset();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t offset = 0; offset < 5000; offset = 3 * offset + 1)
            good &= there_and_back(0, from + offset % 7, to + offset % 5, sizes[i], offset);
    check(good && count("cuMemcpyHtoDAsync_v2") >= 100 && count("cuMemHostAlloc") <= 4, "sizes and alignments of copies by four threads");
    check(copy_from_threads(), "four threads with two devices");
    check(!dev->alloc_shared(0, 4 << 20, &pinned) && copies_at_once(pinned, (char *)pinned + (2 << 20) - 1, 1500000) && !dev->free_shared(0, pinned),
          "pinned memory is the driver's");
    ompgpu_settings.on_failure = OMPGPU_HOST;
    reset();
    check(there_and_back(0, from, to, 3 << 20, 0) && count("cuMemcpyDtoHAsync_v2") == 1, "where the host may go on, a copy to it is one");
    ompgpu_settings.on_failure = OMPGPU_STOP;
    ompgpu_settings.copy_threads = 1;
    check(copies_at_once(from, to, MOST_STAGED), "with one thread the driver copies");
    dev->close(0);
    dev->close(1);
    check(!bytes(), "… and all is given back");
    ompgpu_settings.copy_threads = 0;
    free(from);
    free(to);
}

static void test_modules(void *module)
{
    struct ompgpu_function f = { 0 };
    void *address, *other;
    size_t size;
    check(!dev->variable(0, module, "table", &address, &size) && size == 400, "a variable and its size");
    check(dev->variable(0, module, "nothing", &address, &size) == 1, "a variable that is not there");
    check_message("cuModuleGetGlobal failed: CUDA_ERROR_NOT_FOUND (named symbol not found): variable nothing");
    check(dev->function(0, module, "nothing", &f) == 1, "a kernel that is not there");
    check_message("cuModuleGetFunction failed: CUDA_ERROR_NOT_FOUND (named symbol not found): kernel nothing");
    check(dev->load(0, &container.h, 0, late_ptx, sizeof late_ptx, &other) == 1, "PTX that the driver refuses");
    check_message("cuModuleLoadDataEx failed: CUDA_ERROR_INVALID_PTX (a PTX JIT compilation failed): ptxas application ptx input");
    check(dev->load(0, &container.h, 0, ptx, sizeof ptx - 1, &other) == 1, "PTX without its NUL");
}

static void test_cache(void)
{
    void *p[64];
    unsigned n = 0;
    reset();
    while (n < 64 && !dev->alloc(0, 4 << 20, &p[n]))
        n++;
    check(n == 16, "64 MB hold %u blocks of 4 MB", n);
    check_message("cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (out of memory): 4194304 bytes wanted");
    while (n)
        dev->free(0, p[--n]);
    check(bytes() > 0 && bytes() <= 16 << 20, "a quarter of the memory is kept");
    check(!dev->alloc(0, 62 << 20, p) && !dev->free(0, p[0]), "and given back when it is needed");
    check(dev->alloc(0, SIZE_MAX, p) == 1, "far too much");
    check(!dev->alloc(0, 0, p) && p[0] && !dev->free(0, p[0]) && !dev->free(0, NULL), "nothing");
    check(!dev->alloc(0, 6 << 20, p) && !dev->alloc(0, 14 << 20, p + 1) && !dev->free(0, p[0]) && !dev->free(0, p[1]) &&
          !dev->alloc(0, 14 << 20, p + 2) && p[2] == p[1] && bytes() < 20 << 20 && !dev->free(0, p[2]), "what was freed last is kept");
}

/* OMPGPU_POOL; the device is closed. */
static void test_pool_limit(void)
{
    struct ompgpu_device_info info;
    void *p;
    ompgpu_settings.pool = 1 << 20;
    check(!dev->open(0, &info) && !dev->alloc(0, 4 << 20, &p) && !dev->free(0, p) && !bytes(), "more than a set limit is not kept");
    check(!dev->alloc(0, 300, &p) && !dev->free(0, p) && bytes(), "less is");
    dev->close(0);
    ompgpu_settings.pool = 0;
    check(!dev->open(0, &info) && !dev->alloc(0, 300, &p) && !dev->free(0, p) && !bytes(), "no pool");
    dev->close(0);
    ompgpu_settings.pool = -1;
}

/* What host threads keep for themselves: a block that one has allocated may be another's to free. */
enum { BLOCKS = 20, SMALL = 300 };
static void *free_all(void *blocks)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        if (dev->free(0, ((void **)blocks)[i]))
            return NULL;
    return blocks;
}
static bool differ(void *const *p, unsigned n)
{
    bool all = true;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < i; k++)
            all = all && p[i] != p[k];
    return all;
}
static bool free_elsewhere(void **blocks)
{
    pthread_t other;
    void *result = NULL;
    bool begun = !pthread_create(&other, NULL, free_all, blocks);
    return begun && !pthread_join(other, &result) && result;
}
static void test_kept_by_threads(void)
{
    struct ompgpu_device_info info;
    void *p[2 * BLOCKS];
    bool good = true;
    ompgpu_settings.pool = 64 << 20;
    check(!dev->open(0, &info) && !dev->alloc(0, SMALL, &p[0]) && !dev->free(0, p[0]), "a small block");
    reset();
    check(!dev->alloc(0, SMALL, &p[1]) && p[1] == p[0] && !count(NULL) && !dev->free(0, p[1]), "… is used again");
    check(dev->free(0, p[1]) == 1, "… and freed twice");
    for (unsigned round = 0; round < 10; round++) {
        for (unsigned i = 0; i < 2 * BLOCKS; i++)
            good &= !dev->alloc(0, SMALL, &p[i]);
        good &= differ(p, 2 * BLOCKS) && free_elsewhere(p);
        for (unsigned i = 0; i < BLOCKS; i++)
            good &= !dev->alloc(0, SMALL, &p[i]);
        good &= differ(p, 2 * BLOCKS) && free_all(p) && free_elsewhere(p + BLOCKS);
    }
    check(good, "blocks that another thread frees");
    check(bytes() && !dev->alloc(0, 62 << 20, p) && !dev->free(0, p[0]), "what threads keep is given back when it is needed");
    dev->close(0);
    check(!bytes(), "… and at the end");
    ompgpu_settings.pool = -1;
}

/* More blocks than the table of live ones has room for at first: each is found, once. */
static void test_many_blocks(void)
{
    enum { MANY = 5000 };
    static void *p[MANY];
    unsigned failed = 0, twice = 0;
    for (unsigned i = 0; i < MANY; i++)
        failed += dev->alloc(0, 300, &p[i]) != 0;
    for (unsigned i = 0; i < MANY; i++)
        failed += dev->free(0, p[i * 7 % MANY]) != 0;
    for (unsigned i = 0; i < MANY; i++)
        twice += dev->free(0, p[i]) == 0;
    check(!failed && !twice, "%d blocks at once", MANY);
}

static void *host_thread(void *module)
{
    struct ompgpu_function f = { 0 };
    struct ompgpu_env env = { 0 };
    long bad = 0;
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < 50; i++) {
            char data[3000], back[3000];
            void *p = NULL, *params[] = { &env, &p };
            memset(data, i, sizeof data);
            bad += dev->alloc(d, sizeof data, &p) || dev->to_device(d, p, data, sizeof data) ||
                   (!d && (dev->function(0, module, "region", &f) || dev->launch(0, &f, 1, 32, params) || dev->sync(0))) ||
                   dev->from_device(d, back, p, sizeof data) || dev->sync(d) || memcmp(data, back, sizeof data) || dev->free(d, p);
        }
    return (void *)bad;
}

static void test_threads(void *module)
{
    pthread_t id[4];
    long bad = 0;
    reset();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++)
            pthread_create(&id[i], NULL, host_thread, module);
        for (int i = 0; i < 4; i++) {
            void *result;
            pthread_join(id[i], &result);
            bad += (long)result;
        }
    }
    check(!bad, "four host threads, two devices");
    check(count("cuStreamCreate") <= 8, "their streams are handed on: %lu were made", count("cuStreamCreate"));
}

static void test_fault(void *module)
{
    struct ompgpu_function f = { 0 };
    struct ompgpu_env env = { 0 };
    void *p = NULL, *params[] = { &env, &p };
    dev->function(0, module, "region", &f);
    reset();
    fail_at_sync("2");
    check(!dev->launch(0, &f, 1, 1, params) && !dev->sync(0) && !dev->launch(0, &f, 1, 1, params), "a kernel that faults is launched");
    check(dev->sync(0) == 1, "the synchronise fails");
    check_message("cuStreamSynchronize failed: CUDA_ERROR_LAUNCH_FAILED (unspecified launch failure)");
    check(dev->alloc(0, 10, &p) == 1, "and so does all that follows");
    check_message("the device can no longer be used since an earlier error: cuStreamSynchronize failed: CUDA_ERROR_LAUNCH_FAILED");
    check(!dev->alloc(1, 10, &p) && !dev->free(1, p), "on this device");
}

int main(int argc, char **argv)
{
    struct ompgpu_device_info info, second;
    char path[600];
    const char *obj = getenv("OMPGPU_OBJ");
    void *module;
    if (argc > 1)
        return child();
    setvbuf(stdout, NULL, _IOLBF, 0);
    snprintf(path, sizeof path, "%s/nullcuda/libcuda.so.1", obj ? obj : "obj");
    setenv("OMPGPU_CUDA_DRIVER", path, 0);
    check(in_new_process(argv[0], "OMPGPU_CUDA_DRIVER=/nowhere/libcuda.so.1") == 0, "no driver is no error");
    check(in_new_process(argv[0], "NULLCUDA_DEVICES=0") == 0, "no device is no error");

    setenv("NULLCUDA_DEVICES", "2", 1);
    setenv("NULLCUDA_MEMORY", "67108864", 1);
    void *driver = dlopen(getenv("OMPGPU_CUDA_DRIVER"), RTLD_NOW);
    if (!driver) {
        printf("Bail out! %s\n", dlerror());
        return 1;
    }
    *(void **)&count = dlsym(driver, "nullcuda_count");
    *(void **)&bytes = dlsym(driver, "nullcuda_bytes");
    *(void **)&reset = dlsym(driver, "nullcuda_reset");
    *(void **)&fail = dlsym(driver, "nullcuda_fail");
    *(void **)&fail_at_sync = dlsym(driver, "nullcuda_fail_at_sync");

    dev->find();
    check(dev->num_devices() == 2 && !dev->open(0, &info) && !dev->open(1, &second), "two devices");
    check(info.arch == 90 && info.warp_size == 32 && info.multiprocessors == 132 && !strcmp(info.name, "nullcuda sm_90"), "device info");
    test_pick();
    check(!dev->load(0, &container.h, 0, ptx, sizeof ptx, &module), "load");
    test_modules(module);
    test_steady_state(module);
    test_results();
    test_cache();
    test_many_blocks();
    test_threads(module);
    test_fault(module);
    dev->close(0);
    dev->close(1);
    reset();
    test_pool_limit();
    test_kept_by_threads();
    test_notices();
    test_staged();
    ompgpu_settings.copy_threads = 3;
    test_failures();
    printf("1..%u\n", tests);
    return failures != 0;
}
