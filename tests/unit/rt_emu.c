/* rt_emu.c - the emulated device, through its plugin, with kernels written by hand.
 *
 * This file is both sides: compiled with -DEMU_IMAGE it is the image.  The test program compiles it so, loads the result and launches
 * the kernels; then it starts itself again under other schedules and numbers of OS threads, where everything must give the same. */
#include "hostrt/emu/emu.h"

/* ------------------------------------------------------------------ the image */
#ifdef EMU_IMAGE
#define ARG(type, i) (*(type *)params[(i) + 1])

struct ompgpu_emu_ops *__ompgpu_emu_ops;
long __ompgpu_emu_self_at;
#define self (*(struct ompgpu_emu_thread **)((char *)__builtin_thread_pointer() + __ompgpu_emu_self_at))

static void run_span(void **params, const struct ompgpu_emu_span *s, void (*kernel)(void **))
{
    for (self->team = s->team; self->team < s->team_end; self->team++) {
        if (self->team != s->team)
            __ompgpu_emu_ops->renew();
        for (self->tid = s->tid; self->tid < s->tid_end; self->tid++)
            kernel(params);
    }
}
/* both forms: a call for each thread, and one for a span of them */
#define KERNEL(name)                                                                                                        \
    void name(void **params);                                                                                               \
    void __ompgpu_span_only_##name(void **params, const struct ompgpu_emu_span *);                                                        \
    void __ompgpu_span_only_##name(void **params, const struct ompgpu_emu_span *s) { run_span(params, s, name); }                         \
    void name(void **params)
#define ops __ompgpu_emu_ops

int a_variable[5] = { 1, 2, 3, 4, 5 };
#define shared ((int *)self->shared)

KERNEL(plain)
{
    ARG(int *, 0)[self->team * self->ntid + self->tid] = (int)(self->team * 10000 + self->tid + self->ntid * 100 + self->nteams);
}

KERNEL(reads_shared) { ARG(int *, 0)[self->team] = shared[7]; shared[7] = 0; }

/* Each thread writes, all meet, each reads its neighbour's; `rounds` times. */
KERNEL(neighbours)
{
    int rounds = ARG(int, 1), sum = 0;
    for (int r = 0; r < rounds; r++) {
        shared[self->tid] = (int)(self->tid * 7 + self->team + r);
        ops->barrier(0, r & 1 ? self->ntid : 0, 1);
        sum += shared[(self->tid + 1) % self->ntid];
        ops->barrier(1, 0, 2);
    }
    ARG(int *, 0)[self->team * self->ntid + self->tid] = sum;
}

/* Half of the threads meet at barrier 3, the others at barrier 4, twice; then half exits and the rest meets at 0. */
KERNEL(partial)
{
    unsigned half = self->ntid / 2, upper = self->tid >= half;
    for (int r = 0; r < 2; r++) {
        shared[self->tid] = (int)self->tid + r;
        ops->barrier(3 + upper, upper ? self->ntid - half : half, 3);
        ARG(int *, 0)[self->tid] = shared[upper ? half + (self->tid - half + 1) % (self->ntid - half) : (self->tid + 1) % half];
        ops->barrier(3 + upper, upper ? self->ntid - half : half, 4);
    }
    if (upper)
        return;
    shared[self->tid] = 5;
    ops->barrier(0, 0, 5);
    for (unsigned i = 0; i < half; i++)
        ARG(int *, 0)[self->tid] += shared[i] == 5;
}

/* Sum over the warp by shuffles over a mask of the lowest `lanes` lanes; lanes outside pair up by their own masks. */
KERNEL(shuffles)
{
    unsigned lanes = ARG(unsigned, 1), lane = self->tid % 32;
    uint32_t in = lanes == 32 ? ~0u : (1u << lanes) - 1, mask = lane < lanes ? in : ~in, v = self->tid + 1, sum = 0;
    for (unsigned i = 0; i < 32; i++)
        if (mask >> i & 1)
            sum += ops->shuffle(mask, v, i);
        else
            sum += ops->shuffle(mask, v, i) != v;         /* outside of the mask: own value */
    ops->syncwarp(mask);
    ARG(uint32_t *, 0)[self->tid * 3] = sum;
    ARG(uint32_t *, 0)[self->tid * 3 + 1] = ops->ballot(mask, self->tid % 3 == 0);
    ARG(uint32_t *, 0)[self->tid * 3 + 2] = ops->activemask() >> lane & 1;
}

KERNEL(spin_on_neighbour)             /* thread i waits for thread i + 1 */
{
    volatile int *flag = shared;
    flag[self->tid] = 0;
    ops->barrier(0, 0, 1);
    if (self->tid + 1 < self->ntid)
        while (!flag[self->tid + 1])
            ops->yield();
    flag[self->tid] = 1;
    __atomic_fetch_add(ARG(int *, 0), 1, __ATOMIC_RELAXED);
}

KERNEL(lock_over_teams)               /* no fibers: the lock is held by other OS threads only */
{
    int *lock = ARG(int *, 0), *count = ARG(int *, 1);
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        ops->yield();
    ++*count;
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

KERNEL(trace_order)                   /* in which order threads pass a barrier */
{
    ops->barrier(0, 0, 1);
    ARG(int *, 0)[__atomic_fetch_add(ARG(int *, 1), 1, __ATOMIC_RELAXED)] = (int)self->tid;
}

KERNEL(diverge_exit) { if (self->tid < 96) ops->barrier(1, 128, 23); }
KERNEL(diverge_wait) { if (self->tid < 32) ops->barrier(1, 128, 27); else ops->barrier(2, 128, 23); }
KERNEL(diverge_runtime) { if (self->tid) ops->barrier(1, 64, 0); }
KERNEL(diverge_warp) { if (self->tid % 32 != 7) ops->shuffle(~0u, 1, 0); }
KERNEL(short_warp) { ops->syncwarp(~0u); }
KERNEL(wrong_masks) { ops->syncwarp(self->tid == 0 ? 3 : 0xF); }
KERNEL(wrong_mask) { ops->syncwarp(2u << self->tid); }
KERNEL(wrong_counts) { ops->barrier(1, self->tid ? 3 : 2, 40); }
KERNEL(wrong_barrier) { ops->barrier(16, 0, 41); }
KERNEL(too_many) { ops->barrier(1, 1000, 42); }

KERNEL(fault) { if (self->team == ARG(unsigned, 0) && self->tid == 3) *(volatile int *)ARG(long, 1) = 1; }
KERNEL(fault_late) { ops->barrier(0, 0, 1); if (self->tid == 3) *(volatile int *)ARG(long, 1) = 1; ops->barrier(0, 0, 2); }
KERNEL(divide) { ARG(int *, 0)[0] = 7 / ARG(volatile int, 1); }
int deep(int);
__attribute__((noinline)) int deep(int n)
{
    volatile char frame[1000];
    frame[n % 1000] = (char)n;
    return n > 1000000000 ? 0 : deep(n + 1) + frame[n % 1000];
}
KERNEL(overflow) { ARG(int *, 0)[0] = deep((int)self->tid); }
KERNEL(fails) { if (self->tid == 5) ops->fail("index out of bounds", 77); }
KERNEL(fails_late) { ops->barrier(0, 0, 1); if (self->tid == 5) ops->fail("gave up", 0); ops->barrier(0, 0, 1); }

/* ------------------------------------------------------------------ the test */
const uint64_t __ompgpu_emu_shared_bytes = 1024 * sizeof(int);
#else
#include <fnmatch.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct ompgpu_plugin *const dev = &ompgpu_emu_plugin;
static void *module;
static unsigned tests, failures;

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

/* expected: what the message has; `*` stands for anything */
__attribute__((nonnull)) static void check_message(const char *expected)
{
    const char *got = ompgpu_plugin_message();
    char pattern[300];
    snprintf(pattern, sizeof pattern, "*%s*", expected);
    bool good = got && !fnmatch(pattern, got, 0);
    check(good, "message: %s", expected);
    if (!good)
        printf("# got: %s\n", got ? got : "");
}

static const struct ompgpu_kernel_entry with_sync = { .flags = OMPGPU_KERNEL_SYNC }, without_sync = { .flags = 0 };

static int launch(const char *kernel, bool sync, unsigned teams, unsigned threads, void *a, void *b)
{
    struct ompgpu_function f = { .entry = sync ? &with_sync : &without_sync };
    struct ompgpu_env env = { .thread_limit = threads };
    void *params[] = { &env, a, b };
    char name[64];
    snprintf(name, sizeof name, "%s%s", sync ? "" : "only_", kernel);
    if (dev->function(0, module, name, &f))
        return 2;
    return dev->launch(0, &f, teams, threads, params) || dev->sync(0);
}

static void *device_new(size_t size)
{
    void *p = NULL;
    if (dev->alloc(0, size, &p))
        printf("Bail out! %s\n", ompgpu_plugin_message()), exit(1);
    return p;
}

static int *host_copy(const void *device, size_t size)
{
    int *host = malloc(size);
    if (!host || dev->from_device(0, host, device, size))
        printf("Bail out! %s\n", ompgpu_plugin_message()), exit(1);
    return host;
}

/* ------------------------------------------------------------------ right kernels */
static int run_plain(unsigned teams, unsigned threads)
{
    size_t n = (size_t)teams * threads;
    void *out = device_new(n * sizeof(int));
    int bad = launch("plain", false, teams, threads, &out, NULL);
    int *host = host_copy(out, n * sizeof(int));
    for (size_t i = 0; i < n; i++)
        bad += host[i] != (int)(i / threads * 10000 + i % threads + threads * 100 + teams);
    free(host);
    return bad + dev->free(0, out);
}

static int run_neighbours(unsigned teams, unsigned threads, int rounds)
{
    size_t n = (size_t)teams * threads;
    void *out = device_new(n * sizeof(int));
    int bad = launch("neighbours", true, teams, threads, &out, &rounds);
    int *host = host_copy(out, n * sizeof(int));
    for (size_t i = 0; i < n; i++) {
        int sum = 0;
        for (int r = 0; r < rounds; r++)
            sum += (int)((i % threads + 1) % threads * 7 + i / threads) + r;
        bad += host[i] != sum;
    }
    free(host);
    return bad + dev->free(0, out);
}

static void test_plain(void)
{
    check(!run_plain(1, 1), "plain, one thread");
    check(!run_plain(3, 100), "plain, 3 x 100");
    check(!run_plain(10000, 33), "plain, 10000 x 33");
}

static void test_shared(void)
{
    void *out = device_new(200 * sizeof(int));
    int bad = launch("reads_shared", false, 200, 1, &out, NULL), *host = host_copy(out, 200 * sizeof(int));
    for (unsigned i = 0; i < 200; i++)
        bad += host[i] != (int)0xA5A5A5A5;
    check(!bad, "team-shared storage holds the pattern when a team starts");
    free(host);
    dev->free(0, out);
}

static void test_barriers(void)
{
    static const unsigned threads[] = { 1, 2, 31, 32, 33, 96, 128, 1000, 1024 };
    for (unsigned i = 0; i < sizeof threads / sizeof *threads; i++)
        check(!run_neighbours(5, threads[i], 4), "barriers, team of %u", threads[i]);
    check(!run_neighbours(500, 64, 3), "barriers, 500 teams");
    run_neighbours(3, 64, 4);
    unsigned long barriers = 0, switches = 0;
    sscanf(dev->counts(), ", %lu barriers, %lu switches", &barriers, &switches);
    check(barriers == 3 * 8, "barriers of a launch are counted: %lu", barriers);
    check(switches >= 3 * 8 * 63 && switches <= 3 * (8 + 1) * 64 * 2, "switches, too: %lu", switches);
    for (unsigned n = 2; n <= 130; n += 64) {
        void *out = device_new(n * sizeof(int));
        int bad = launch("partial", true, 1, n, &out, NULL), half = (int)n / 2;
        int *host = host_copy(out, n * sizeof(int));
        for (int i = 0; i < (int)n; i++)
            bad += host[i] != (i < half ? (i + 1) % half + 1 + half : half + (i - half + 1) % ((int)n - half) + 1);
        check(!bad, "barriers of half a team of %u", n);
        free(host);
        dev->free(0, out);
    }
}

static void test_warps(void)
{
    int bad_sum = 0, bad_ballot = 0, bad_active = 0;
    void *out = device_new(128 * 3 * sizeof(uint32_t));
    for (unsigned lanes = 1; lanes <= 32; lanes++) {
        bad_sum += launch("shuffles", true, 1, 128, &out, &lanes);
        uint32_t *host = (uint32_t *)host_copy(out, 128 * 3 * sizeof(uint32_t));
        for (unsigned t = 0; t < 128; t++) {
            unsigned first = t & ~31u, lo = t % 32 < lanes ? 0 : lanes, hi = t % 32 < lanes ? lanes : 32;
            uint32_t sum = 0, votes = 0;
            for (unsigned l = lo; l < hi; l++) {
                sum += first + l + 1;
                votes |= (uint32_t)((first + l) % 3 == 0) << l;
            }
            bad_sum += host[t * 3] != sum;
            bad_ballot += host[t * 3 + 1] != votes;
            bad_active += host[t * 3 + 2] != 1;
        }
        free(host);
    }
    check(!bad_sum, "shuffles with full and partial masks");
    check(!bad_ballot, "ballots with full and partial masks");
    check(!bad_active, "activemask names the caller");
    dev->free(0, out);
}

static void test_waiting(void)
{
    void *a = device_new(4), *b = device_new(4);
    int zero = 0, got = -1;
    dev->to_device(0, a, &zero, 4);
    check(!launch("spin_on_neighbour", true, 20, 100, &a, NULL) && !dev->from_device(0, &got, a, 4) && got == 2000,
          "threads that spin let the others go on");
    dev->to_device(0, a, &zero, 4);
    dev->to_device(0, b, &zero, 4);
    check(!launch("lock_over_teams", false, 2000, 50, &a, &b) && !dev->from_device(0, &got, b, 4) && got == 100000,
          "a lock over all teams");
    dev->free(0, a);
    dev->free(0, b);
}

static void order_of(int *order)
{
    void *out = device_new(64 * sizeof(int)), *counter = device_new(4);
    int zero = 0;
    dev->to_device(0, counter, &zero, 4);
    launch("trace_order", true, 1, 64, &out, &counter);
    dev->from_device(0, order, out, 64 * sizeof(int));
    dev->free(0, out);
    dev->free(0, counter);
}

static void test_order(void)
{
    int first[64], second[64];
    bool random = getenv("OMPGPU_EMU_SCHEDULE") != NULL, sorted = true;
    order_of(first);
    order_of(second);
    check(!memcmp(first, second, sizeof first), "the schedule repeats");
    for (int i = 1; i < 63; i++)
        sorted &= first[i + 1] == first[i] + 1;         /* 63, 0, 1, 2 … */
    check(sorted != random, random ? "threads go on in random order" : "threads go on in order");
}

/* ------------------------------------------------------------------ kernels that go wrong */
static void test_deadlocks(void)
{
    check(launch("diverge_exit", true, 1, 128, NULL, NULL) == 1, "a barrier that some threads do not reach");
    check_message("barrier at line 23 reached by 96 of 128 threads (first missing thread 96: exited)");
    check(launch("diverge_wait", true, 1, 128, NULL, NULL) == 1, "two barriers");
    check_message("barrier at line 23 reached by 96 of 128 threads (first missing thread 0: waits at line 27)");
    check(launch("diverge_runtime", true, 1, 64, NULL, NULL) == 1, "a barrier of the runtime");
    check_message("barrier of the device runtime reached by 63 of 64 threads (first missing thread 0: exited) in team 0");
    check(launch("diverge_warp", true, 1, 64, NULL, NULL) == 1, "a shuffle that some lanes do not reach");
    check_message("shuffle with mask 0xffffffff reached by 31 of 32 lanes (first missing thread 7: exited) in team 0, warp 0");
    check(launch("short_warp", true, 1, 40, NULL, NULL) == 1, "a mask with lanes that the team does not have");
    check_message("syncwarp with mask 0xffffffff reached by 8 of 32 lanes (first missing thread 40: not in the team of 40)");
    check(launch("wrong_masks", true, 1, 2, NULL, NULL) == 1, "different masks");
    check_message("syncwarp with mask 0x0000000");
    check(launch("wrong_mask", true, 1, 1, NULL, NULL) == 1, "a mask without the caller");
    check_message("syncwarp with mask 0x00000002, which leaves out the calling lane 0");
    check(launch("wrong_counts", true, 1, 3, NULL, NULL) == 1, "different counts");
    check_message("barrier at line 40 for ");
    check(launch("wrong_barrier", true, 1, 2, NULL, NULL) == 1, "a barrier that is not there");
    check_message("barrier 16 at line 41: there are barriers 0 to 15");
    check(launch("too_many", true, 1, 2, NULL, NULL) == 1, "a barrier for more threads than the team has");
    check_message("barrier at line 42 for 1000 threads in a team of 2");
    check(launch("diverge_exit", false, 1, 128, NULL, NULL) == 1, "a barrier in a kernel marked as having none");
    check_message("barrier at line 23 in a kernel that is marked as having none");
    check(!run_neighbours(20, 128, 3), "later launches are right");
}

static void test_faults(void)
{
    unsigned team = 2;
    long address = 16, odd = (long)0x8000000000000000u;
    void *out = device_new(4);
    int zero = 0;
    check(launch("fault", false, 4, 8, &team, &address) == 1, "a kernel that faults");
    check_message("invalid memory access at address 0x10 at *rt_emu.c:127* (team 2, thread 3)");
    check(launch("fault", true, 4, 8, &team, &address) == 1, "a kernel that faults on a fiber");
    check_message("invalid memory access at address 0x10 at *rt_emu.c:127* (team 2, thread 3)");
    check(launch("fault_late", true, 1, 300, &team, &address) == 1, "a kernel that faults after a barrier");
    check_message("invalid memory access at address 0x10 at *rt_emu.c:128* (team 0, thread 3)");
    check(launch("fault", true, 4, 8, &team, &odd) == 1, "a non-canonical address");
    check_message("invalid memory access at an address no pointer can have at *rt_emu.c:127");
    check(launch("divide", false, 1, 1, &out, &zero) == 1, "a division by zero");
    check_message("integer division by zero or overflow at *rt_emu.c:129");
    check(launch("overflow", true, 1, 1, &out, NULL) == 1, "a stack overflow of a fiber");
    check_message("stack overflow at *rt_emu.c:1*: OMPGPU_STACK_SIZE sets the bytes a thread gets for recursion (team 0, thread 0)");
    check(launch("overflow", false, 1, 1, &out, NULL) == 1, "a stack overflow without fibers");
    check_message("stack overflow at *rt_emu.c:1*: OMPGPU_STACK_SIZE sets the bytes a thread gets for recursion (team 0, thread 0)");
    check(launch("fails", false, 1, 8, NULL, NULL) == 1, "a kernel that stops itself");
    check_message("index out of bounds at line 77 (team 0, thread 5)");
    check(launch("fails_late", true, 30, 100, NULL, NULL) == 1, "a kernel that stops itself on a fiber");
    check_message("gave up (team ");
    dev->free(0, out);
    check(!run_neighbours(20, 128, 3) && !run_plain(10, 10), "later launches are right");
}

static void on_segv(int sig) { (void)sig; _exit(42); }

static void test_signals(void)
{
    struct sigaction mine = { .sa_handler = on_segv }, before, now;
    unsigned team = 0;
    long address = 16;
    int status = 0;
    sigaction(SIGSEGV, &mine, &before);
    check(launch("fault", true, 1, 8, &team, &address) == 1, "a fault does not reach the program's handler");
    sigaction(SIGSEGV, NULL, &now);
    check(now.sa_handler == on_segv, "the program's handler is back after the launch");
    pid_t child = fork();
    if (!child) {
        raise(SIGSEGV);
        _exit(1);
    }
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 42, "the program's handler gets its signals");
    sigaction(SIGSEGV, &before, NULL);
}

static void test_fork(void)
{
    int status = 0;
    fflush(stdout);
    dev->fork(OMPGPU_FORK_BEFORE);
    pid_t child = fork();
    dev->fork(child ? OMPGPU_FORK_PARENT : OMPGPU_FORK_CHILD);
    if (!child)
        _exit(run_neighbours(50, 64, 3) != 0);
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child of fork can launch");
}

/* ------------------------------------------------------------------ memory */
static void test_memory(void)
{
    static const size_t sizes[] = { 0, 1, 256, 257, 1000, 32768, 32769, 1000000 };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *p = device_new(sizes[i]), *host = (unsigned char *)host_copy(p, sizes[i]);
        size_t good = 0;
        for (size_t k = 0; k < sizes[i]; k++)
            good += host[k] == 0xCB;
        check(good == sizes[i] && (uintptr_t)p % 256 == 0, "%zu fresh bytes are aligned and hold the pattern", sizes[i]);
        memset(host, 1, sizes[i]);
        dev->to_device(0, p, host, sizes[i]);
        check(!dev->free(0, p), "free");
        p = device_new(sizes[i]);
        free(host);
        host = (unsigned char *)host_copy(p, sizes[i]);
        check(!sizes[i] || host[sizes[i] / 2] == 0xCB, "memory that is used again holds the pattern");
        free(host);
        dev->free(0, p);
    }
    char *p = device_new(100), host[400] = "";
    check(dev->to_device(0, p + 90, host, 20) == 1, "a copy past the end");
    check_message("copy to the device: 20 bytes at ");
    check_message("run 10 bytes past the end of the device memory block of 100 bytes");
    check(dev->from_device(0, host, p + 101, 1) == 1, "a copy from outside");
    check_message("copy from the device: 1 bytes at ");
    check_message("are not in device memory");
    check(dev->to_device(0, host, host, 4) == 1, "a copy to host memory");
    check(dev->device_copy(0, p, p + 50, 51) == 1, "a device copy past the end");
    check(!dev->device_copy(0, p, p + 50, 50), "a device copy");
    check(dev->free(0, p + 1) == 1, "free of the middle of a block");
    check(!dev->free(0, p) && dev->free(0, p) == 1, "free twice");
    check_message("which is not a live device memory block");
    check(!dev->free(0, NULL), "free of NULL");
    void *all[80];
    unsigned n = 0;
    while (n < 80 && !dev->alloc(0, 1 << 20, &all[n]))
        n++;
    check(n >= 60 && n <= 64, "64 MB hold %u blocks of 1 MB", n);
    check_message("out of device memory: 1048576 bytes wanted, ");
    while (n)
        dev->free(0, all[--n]);
    check(dev->alloc(0, SIZE_MAX - 5, all) == 1, "far too much");
    check(!dev->alloc(0, 60 << 20, all) && !dev->free(0, all[0]), "all of it after all was freed");
    unsigned team = 0;
    char *big = device_new(100000);
    long end = (long)(big + 102400);
    check(launch("fault", false, 1, 4, &team, &end) == 1, "a kernel that writes past a big block faults");
    dev->free(0, big);
    end = (long)big;
#ifndef EMU_TSAN                        /* there addresses are used again at once */
    check(launch("fault", false, 1, 4, &team, &end) == 1, "a kernel that writes to a freed block faults");
#endif
}

static void test_image(const void *image, size_t size)
{
    void *address, *second;
    size_t bytes = 0;
    int value[5] = { 0 }, other = 0;
    struct ompgpu_function f;
    check(!dev->variable(0, module, "a_variable", &address, &bytes) && bytes == sizeof value, "a variable and its size");
    check(!dev->from_device(0, value, address, bytes) && value[4] == 5, "a variable can be read");
    value[0] = 9;
    check(!dev->to_device(0, address, value, bytes), "a variable can be written");
    check(dev->variable(0, module, "no_variable", &address, &bytes) == 1, "a variable that is not there");
    check_message("the image has no variable no_variable");
    check(dev->function(0, module, "no_kernel", &f) == 1, "a kernel that is not there");
    check_message("the image has no kernel no_kernel");
    check(!dev->load(0, NULL, 0, image, size, &second) && !dev->variable(0, second, "a_variable", &address, &bytes) &&
          !dev->from_device(0, &other, address, 4) && other == 1, "a second load has variables of its own");
    dev->unload(0, second);
    check(dev->from_device(0, &other, address, 4) == 1, "they are gone after unload");
    check(dev->load(0, NULL, 0, "no image", 9, &second) == 1, "an image that is none");
    check_message("is not a complete x86-64 ELF shared object");
    check(dev->load(0, NULL, 0, image, size / 2, &second) == 1, "an image that is cut off");
    check_message("is not a complete x86-64 ELF shared object");
}

/* ------------------------------------------------------------------ several host threads */
static void *launches(void *arg)
{
    long bad = 0, n = (long)(intptr_t)arg;
    for (int i = 0; i < 10; i++)
        bad += run_neighbours(20 + (unsigned)n, 32 * (unsigned)n + 5, 3) + run_plain(100, (unsigned)n + 10);
    return (void *)(intptr_t)bad;
}

static void *bad_launches(void *arg)
{
    unsigned team = 1;
    long address = 16, bad = 0;
    (void)arg;
    for (int i = 0; i < 10; i++)
        bad += launch("fault_late", true, 5, 40, &team, &address) != 1 || !strstr(ompgpu_plugin_message(), "rt_emu.c:128") ||
               launch("diverge_exit", true, 1, 128, NULL, NULL) != 1 || !strstr(ompgpu_plugin_message(), "96 of 128");
    return (void *)(intptr_t)bad;
}

static void test_host_threads(void)
{
    pthread_t id[6];
    long bad = 0;
    for (long i = 0; i < 6; i++)
        pthread_create(&id[i], NULL, i < 4 ? launches : bad_launches, (void *)(intptr_t)i);
    for (int i = 0; i < 6; i++) {
        void *result;
        pthread_join(id[i], &result);
        bad += (long)(intptr_t)result;
    }
    check(!bad, "launches of six host threads at once, two of which fail");
}

/* A thread has everything to allocate for itself. */
static void *one_launch(void *arg)
{
    void *second = NULL, *p = NULL, *was = module;
    long bad = dev->load(0, NULL, 0, ((void **)arg)[0], *(size_t *)((void **)arg)[1], &second);
    if (bad)
        return (void *)bad;
    module = second;
    bad = dev->alloc(0, 100, &p) || dev->free(0, p) || launch("diverge_warp", true, 1, 31, NULL, NULL) != 1 ||
          !strstr(ompgpu_plugin_message(), "shuffle with");
    module = was;
    dev->unload(0, second);
    return (void *)bad;
}

static void test_allocations(void *image, size_t size)
{
    void *arg[] = { image, &size }, *result = (void *)1;
    long n = 0;
    pthread_t id;
    bool said = true;
    while (result && n < 100) {
        ompgpu_xalloc_fail = ++n;
        pthread_create(&id, NULL, one_launch, arg);
        pthread_join(id, &result);
        said &= ompgpu_xalloc_fail <= 0 || !result;
    }
    ompgpu_xalloc_fail = 0;
    check(n > 5 && n < 100 && said, "each of %ld allocations fails in turn", n - 1);
}

static void test_device(void)
{
    struct ompgpu_function f = { .entry = &with_sync };
    check(dev->occupancy(0, &f, 1) == 32 && dev->occupancy(0, &f, 128) == 16 && dev->occupancy(0, &f, 1000) == 2, "occupancy");
    check(launch("plain", true, 1, 1025, NULL, NULL) == 1, "a team that is too big");
    check_message("the device takes 1 to 1024 threads a team");
}

/* ------------------------------------------------------------------ main */
static void *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *data = NULL;
    *size = 0;
    if (!f)
        return NULL;
    do {
        data = realloc(data, *size + 65536);
        *size += fread(data + *size, 1, 65536, f);
    } while (!feof(f));
    fclose(f);
    return data;
}

static void *compile_image(size_t *size)
{
    char path[] = "/tmp/rt_emu-XXXXXX", command[512];
    const char *cc = getenv("OMPGPU_CLANG");
    close(mkstemp(path));
    snprintf(command, sizeof command, "%s -std=gnu11 -shared -fPIC -O1 -g -Wno-infinite-recursion -DEMU_IMAGE -I. -o %s %s",
             cc ? cc : "clang-22", path, __FILE__);
    void *image = system(command) ? NULL : read_file(path, size);
    unlink(path);
    return image;
}

/* The same tests in a new process under other settings; its output is shown when it fails. */
static void test_variant(const char *program, const char *name, const char *value)
{
    char command[1024], line[512], keep[64][512];
    unsigned bad = 0;
    snprintf(command, sizeof command, "RT_EMU_VARIANT=1 %s=%s '%s' 2>&1", name, value, program);
    FILE *f = popen(command, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "ok ", 3) && strncmp(line, "1..", 3) && bad < 64)
            strcpy(keep[bad++], line);
    int status = f ? pclose(f) : 1;
    check(status == 0, "the same with %s=%s", name, value);
    for (unsigned i = 0; status && i < bad; i++)
        printf("#   %s", keep[i]);
}

int main(int argc, char **argv)
{
    struct ompgpu_device_info info;
    size_t size;
    (void)argc;
    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("OMPGPU_EMU_MEMORY", "64M", 1);
    void *image = compile_image(&size);
    if (!image) {
        printf("Bail out! cannot compile the image\n");
        return 1;
    }
    check(dev->num_devices() == 1 && !dev->open(0, &info) && info.warp_size == 32 && info.total_memory == 64 << 20, "open");
    check(!dev->load(0, NULL, 0, image, size, &module), "load");
    test_device();
    test_image(image, size);
    test_memory();
    test_plain();
    test_shared();
    test_barriers();
    test_warps();
    test_waiting();
    test_order();
    test_deadlocks();
    test_faults();
    test_signals();
    test_fork();
    test_host_threads();
    test_allocations(image, size);
    dev->unload(0, module);
    dev->close(0);
    if (!getenv("RT_EMU_VARIANT")) {
        static const char *const seeds[] = { "random:1", "random:2", "random:12345" }, *const threads[] = { "1", "2", "7" };
        for (unsigned i = 0; i < 3; i++) {
            test_variant(argv[0], "OMPGPU_EMU_SCHEDULE", seeds[i]);
            test_variant(argv[0], "OMPGPU_EMU_THREADS", threads[i]);
        }
        test_variant(argv[0], "OMPGPU_EMU_STACK", "20000");
    }
    free(image);
    printf("1..%u\n", tests);
    return failures != 0;
}
#endif
