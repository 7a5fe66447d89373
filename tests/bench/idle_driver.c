/* idle_driver.c - a CUDA driver that hands calls on to another one (IDLE_DRIVER=FILE), but for those of regions and of device memory: these take
 * no time to speak of, however much there is, and threads do not meet in them.  Kernels do nothing.
 *
 * With IDLE_LATER set, a function of the host is called when as many more have been asked for as fit into a list, or somebody asks for an
 * event: so what is in queues is under way for a while. */
#include <dlfcn.h>
#include <pthread.h>
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

static int do_nothing(void) { return 0; }
static int allocate(void **address, size_t size)
{
    enum { OUT_OF_MEMORY = 2 };
    return (*address = aligned_alloc(256, (size + 255) & ~(size_t)255)) ? 0 : OUT_OF_MEMORY;
}
static int release(void *address)
{
    free(address);
    return 0;
}

/* ------------------------------------------------------------------ functions of the host */
enum { LATER = 16 };
struct host_call {
    void (*function)(void *);
    void *argument;
};
static bool later;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;          /* guards what follows */
static struct host_call calls[LATER];
static unsigned first, ncalls;

static struct host_call take_call(void)
{
    struct host_call c = calls[first % LATER];
    first++, ncalls--;
    return c;
}

static int call_host(void *stream, void (*function)(void *), void *argument)
{
    struct host_call due = { function, argument };
    (void)stream;
    if (later) {
        pthread_mutex_lock(&lock);
        due = ncalls == LATER ? take_call() : (struct host_call){ 0 };
        calls[(first + ncalls++) % LATER] = (struct host_call){ function, argument };
        pthread_mutex_unlock(&lock);
    }
    if (due.function)
        due.function(due.argument);
    return 0;
}

static int call_all(void *event)
{
    (void)event;
    pthread_mutex_lock(&lock);
    while (ncalls) {
        struct host_call c = take_call();
        pthread_mutex_unlock(&lock);
        c.function(c.argument);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

static const struct {
    enum call call;
    void *function;
} own[] = {
    { CALL_cuLaunchKernel, do_nothing },     { CALL_cuStreamSynchronize, do_nothing }, { CALL_cuStreamQuery, do_nothing }, { CALL_cuMemAlloc, allocate },
    { CALL_cuMemFree, release },             { CALL_cuMemcpyHtoDAsync, do_nothing },   { CALL_cuMemcpyDtoHAsync, do_nothing },
    { CALL_cuEventRecord, do_nothing },      { CALL_cuStreamWaitEvent, do_nothing },   { CALL_cuLaunchHostFunc, call_host }, { CALL_cuEventQuery, call_all },
    { CALL_cuEventSynchronize, call_all },
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
