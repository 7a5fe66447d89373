/* driver.c - a CUDA driver that hands every call on to another one, and fails or holds those it is told to.
 *
 *   FAILING_DRIVER=FILE   the other driver
 *   FAILING_LOG=FILE      the names of the calls, one a line, in their order
 *   FAILING_AT=N          the N-th call fails (counted from 1, without those that describe errors)
 *   FAILING_LOST=1        … and all after it: the device is lost
 *   holding_arm(NAME)     the calling thread's next call of that name goes on only after holding_release() */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
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

/* used by the assembly below */
__attribute__((visibility("hidden"), used)) void *failing_real[NCALLS];
__attribute__((visibility("hidden"), used)) int failing_decide(enum call, void *first);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static unsigned long calls, at;
static bool lost;
static FILE *written;

static __attribute__((constructor)) void connect(void)
{
    const char *path = getenv("FAILING_DRIVER"), *number = getenv("FAILING_AT"),
               *log = getenv("FAILING_LOG");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (int i = 0; i < NCALLS; i++)
        if (!library || !(failing_real[i] = dlsym(library, names[i]))) {
            fprintf(stderr, "failing driver: no %s in %s\n", names[i], path ? path : "(nothing)");
            exit(2);
        }
    at = number ? strtoul(number, NULL, 10) : 0;
    lost = getenv("FAILING_LOST") != NULL;
    written = log ? fopen(log, "w") : NULL;
}

/* What is waited for has ended all the same, or never will. */
static int fail(enum call c, void *first)
{
    enum { OUT_OF_MEMORY = 2, LAUNCH_FAILED = 719, UNKNOWN = 999 };
    if (c == CALL_cuStreamSynchronize || c == CALL_cuEventSynchronize || c == CALL_cuStreamQuery || c == CALL_cuEventQuery)
        ((int (*)(void *))failing_real[c])(first);
    return lost ? LAUNCH_FAILED : c == CALL_cuMemAlloc ? OUT_OF_MEMORY : UNKNOWN;
}

/* ------------------------------------------------------------------ a call that is held */
static _Thread_local int armed = -1;
static bool inside, released; /* atomic */

void holding_arm(const char *name)
{
    for (armed = 0; armed < NCALLS && strcmp(names[armed], name) != 0; armed++) {}
    __atomic_store_n(&released, armed == NCALLS, __ATOMIC_RELEASE);
}
bool holding_one(void) { return __atomic_load_n(&inside, __ATOMIC_ACQUIRE); }
void holding_release(void) { __atomic_store_n(&released, true, __ATOMIC_RELEASE); }

static void hold(enum call c)
{
    if ((int)c != armed)
        return;
    armed = -1;
    __atomic_store_n(&inside, true, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&released, __ATOMIC_ACQUIRE))
        sched_yield();
    __atomic_store_n(&inside, false, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------ each call */
/* The result of the call; 0: it is to be made. */
int failing_decide(enum call c, void *first)
{
    if (c == CALL_cuGetErrorName || c == CALL_cuGetErrorString)
        return 0;
    hold(c);
    pthread_mutex_lock(&lock);
    bool bad = ++calls == at || (lost && at && calls > at);
    if (written)
        fprintf(written, "%s\n", names[c]), fflush(written);
    pthread_mutex_unlock(&lock);
    return bad ? fail(c, first) : 0;
}

/* Each function: asks, with its arguments kept, and goes on to the other driver's. */
#define CUDA_CALL(f, version)                                                                      \
    __attribute__((naked)) void f##version(void)                                                   \
    {                                                                                              \
        __asm__("pushq %%rdi; pushq %%rsi; pushq %%rdx; pushq %%rcx; pushq %%r8; pushq %%r9\n\t"   \
                "subq $8, %%rsp; movq %%rdi, %%rsi; movl %0, %%edi; call failing_decide\n\t"       \
                "addq $8, %%rsp; popq %%r9; popq %%r8; popq %%rcx; popq %%rdx; popq %%rsi\n\t"     \
                "popq %%rdi; testl %%eax, %%eax; jne 1f\n\t"                                       \
                "jmp *failing_real+%c1(%%rip)\n1: ret"                                             \
                :                                                                                  \
                : "i"(CALL_##f), "i"(8 * CALL_##f));                                               \
    }
#include "hostrt/cuda/calls.def"
