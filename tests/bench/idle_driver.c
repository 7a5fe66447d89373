/* idle_driver.c - a CUDA driver that hands calls on to another one (IDLE_DRIVER=FILE), but for those of regions and of device memory: these take
 * no time to speak of, however much there is, and threads do not meet in them.  Kernels do nothing.
 *
 * With IDLE_LATER set, an event comes when as many more have been recorded, or it has been asked for often in vain, or waited for: so what is
 * in queues is under way for a while. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum call {
#define CUDA_CALL(f, version) CALL_##f,
#include "hostrt/cuda/calls.def"
#undef CUDA_CALL
    NCALLS
};
static const char *const names[] = {
#define CUDA_CALL(f, version) #f #version,
#include "hostrt/cuda/calls.def"
#undef CUDA_CALL
};
__attribute__((visibility("hidden"), used)) void *idle_calls[NCALLS]; /* used by the assembly below */

enum { LATER = 16, PATIENCE = 1000, OUT_OF_MEMORY = 2, NOT_READY = 600 };

static int do_nothing(void) { return 0; }
static int allocate(void **address, size_t size)
{
    return (*address = aligned_alloc(256, (size + 255) & ~(size_t)255)) ? 0 : OUT_OF_MEMORY;
}
static int release(void *address)
{
    free(address);
    return 0;
}

static int call_host(void *stream, void (*function)(void *), void *argument)
{
    (void)stream;
    function(argument);
    return 0;
}

/* ------------------------------------------------------------------ events */
/* What one thread writes and another one asks for lies apart, so that it takes little time. */
enum { APART = 128 };
struct event {
    unsigned long number; /* which of all that were recorded; atomic, as what follows */
};
static bool later;
static _Alignas(APART) unsigned long recorded;
static _Alignas(APART) unsigned long settled; /* the last that has come whatever follows */

static int create_event(struct event **event, unsigned flags)
{
    (void)flags;
    return (*event = aligned_alloc(APART, APART)) ? (*event)->number = 0, 0 : OUT_OF_MEMORY;
}

static int record_event(struct event *e, void *stream)
{
    (void)stream;
    __atomic_store_n(&e->number, __atomic_add_fetch(&recorded, 1, __ATOMIC_RELAXED), __ATOMIC_RELEASE);
    return 0;
}

static int query_event(struct event *e)
{
    static unsigned long last, asked;
    unsigned long all = __atomic_load_n(&recorded, __ATOMIC_RELAXED), number = __atomic_load_n(&e->number, __ATOMIC_ACQUIRE);
    if (!later || number + LATER <= all || number <= __atomic_load_n(&settled, __ATOMIC_RELAXED))
        return 0;
    if (__atomic_exchange_n(&last, all, __ATOMIC_RELAXED) != all)
        __atomic_store_n(&asked, 0, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED) > PATIENCE)
        __atomic_store_n(&settled, all, __ATOMIC_RELAXED);
    return NOT_READY;
}

static int await_event(void *event)
{
    (void)event;
    __atomic_store_n(&settled, __atomic_load_n(&recorded, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    return 0;
}

static const struct {
    enum call call;
    void *function;
} own[] = {
    { CALL_cuLaunchKernel, do_nothing },     { CALL_cuStreamSynchronize, do_nothing }, { CALL_cuStreamQuery, do_nothing }, { CALL_cuMemAlloc, allocate },
    { CALL_cuMemFree, release },             { CALL_cuMemcpyHtoDAsync, do_nothing },   { CALL_cuMemcpyDtoHAsync, do_nothing },
    { CALL_cuEventCreate, create_event },    { CALL_cuEventRecord, record_event },     { CALL_cuEventQuery, query_event },   { CALL_cuEventSynchronize, await_event },
    { CALL_cuEventDestroy, release },        { CALL_cuStreamWaitEvent, do_nothing },   { CALL_cuLaunchHostFunc, call_host },
};

static __attribute__((constructor)) void connect(void)
{
    const char *path = getenv("IDLE_DRIVER");
    later = getenv("IDLE_LATER") != NULL;
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (int i = 0; i < NCALLS; i++)
        if (!library || !(idle_calls[i] = dlsym(library, names[i]))) {
            fprintf(stderr, "idle driver: no %s in %s\n", names[i], path ? path : "(nothing)");
            exit(2);
        }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        idle_calls[own[i].call] = own[i].function;
}

#define CUDA_CALL(f, version)                                                                                             \
    __attribute__((naked)) void f##version(void)                                                                          \
    {                                                                                                                     \
        __asm__("jmp *idle_calls+%c0(%%rip)" : : "i"(8 * CALL_##f));                                                      \
    }
#include "hostrt/cuda/calls.def"
