/* idle_driver.c - a CUDA driver that hands calls on to another one (IDLE_DRIVER=FILE), but for those of regions and of device memory: these take
 * no time to speak of, however much there is, and threads do not meet in them.  Kernels do nothing. */
#include <dlfcn.h>
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
static const struct {
    enum call call;
    void *function;
} own[] = {
    { CALL_cuLaunchKernel, do_nothing },     { CALL_cuStreamSynchronize, do_nothing }, { CALL_cuStreamQuery, do_nothing }, { CALL_cuMemAlloc, allocate },
    { CALL_cuMemFree, release },             { CALL_cuMemcpyHtoDAsync, do_nothing },   { CALL_cuMemcpyDtoHAsync, do_nothing },
};

static __attribute__((constructor)) void connect(void)
{
    const char *path = getenv("IDLE_DRIVER");
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
