/* cuda.h - private to the cuda plugin: what its files know of each other.
 *
 *   cuda/driver.h   the CUDA driver's interface, declared by hand
 *   cuda/calls.def  the driver's functions that are used, looked up when the plugin starts
 *   cuda/plugin.c   the plugin's vtable: devices, streams, modules, copies, launches, errors
 *   cuda/memory.c   a cache of device memory
 *
 * In: calls of the core (hostrt/plugin.h) from any host thread.  Out: calls of the driver.
 *
 * Locks: cuda_memory.lock, cuda_device.stack_lock and threads_lock (plugin.c) are never held
 * together; under them only the driver and error.c are called. */
#ifndef OMPGPU_CUDA_H
#define OMPGPU_CUDA_H
#include <pthread.h>
#include <stdatomic.h>
#include "hostrt/cuda/driver.h"
#include "hostrt/core/core.h"
#pragma GCC visibility push(hidden)

enum { CUDA_MAX_DEVICES = 32, CUDA_BUCKETS = 1024 };

struct cuda_calls { /* set once, before the first device is opened */
#define CUDA_CALL(f, version) __typeof(f##version) *f;
#include "hostrt/cuda/calls.def"
#undef CUDA_CALL
};
extern struct cuda_calls ompgpu_cuda;

/* ------------------------------------------------------------------ memory (cuda/memory.c) */
struct cuda_block {
    struct cuda_block *next;
    CUdeviceptr address;
    size_t size;
};
struct cuda_memory {
    pthread_mutex_t lock;                    /* guards all below */
    struct cuda_block *live[CUDA_BUCKETS];   /* by address */
    struct cuda_block *cached[CUDA_BUCKETS]; /* by size */
    size_t in_use, in_cache, cache_limit;
    bool exact; /* sizes are not rounded up */
};
void ompgpu_cuda_memory_init(struct cuda_memory *, size_t total);
void ompgpu_cuda_memory_fini(struct cuda_memory *, bool driver_alive);
/* The context of the device is current. */
CUresult ompgpu_cuda_memory_alloc(struct cuda_memory *, size_t size, CUdeviceptr *);
CUresult ompgpu_cuda_memory_free(struct cuda_memory *, CUdeviceptr);

/* ------------------------------------------------------------------ devices (plugin.c) */
struct cuda_device {
    CUdevice handle;
    CUcontext context; /* immutable while open */
    unsigned arch;
    struct cuda_memory memory;
    /* CU_LIMIT_STACK_SIZE of the context; grows under stack_lock */
    atomic_size_t stack;
    /* wanted for the heap of device malloc; 0: asked for already; under stack_lock */
    size_t heap;
    pthread_mutex_t stack_lock;
    atomic_int lost;       /* CUresult after which the context is of no more use, or 0 */
    const char *lost_call; /* written before lost */
};
#pragma GCC visibility pop
#endif
