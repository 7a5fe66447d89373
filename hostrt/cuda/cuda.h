/* cuda.h - private to the cuda plugin: what its files know of each other.
 *
 *   cuda/driver.h   the CUDA driver's interface, declared by hand
 *   cuda/calls.def  the driver's functions that are used, looked up when the plugin starts
 *   cuda/plugin.c   the plugin's vtable: devices, streams, modules, copies, launches, errors
 *   cuda/wait.c     how threads wait
 *   cuda/queue.c    queues and events
 *   cuda/turn.c     what is in a queue, in its turn
 *   cuda/complete.c the completer, which calls functions of the host when events have come
 *   cuda/memory.c   device memory, and a pool of blocks that were freed
 *   cuda/small.c    small copies
 *   cuda/stage.c    large copies of pageable memory, by several threads
 *
 * In: calls of the core (hostrt/plugin.h) from any host thread.  Out: calls of the driver.
 *
 * Locks: cuda_memory.lock, cuda_device.stack_lock, threads_lock (plugin.c) and those of complete.c,
 * stage.c and queue.c are never held together; under the first three only the driver and error.c
 * are called, under the others nothing. */
#ifndef OMPGPU_CUDA_H
#define OMPGPU_CUDA_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include "hostrt/cuda/driver.h"
#include "hostrt/core/core.h"
#include "hostrt/queue.h"
#pragma GCC visibility push(hidden)

enum { CUDA_MAX_DEVICES = 32, CUDA_BUCKET_BITS = 10, CUDA_BUCKETS = 1 << CUDA_BUCKET_BITS };

struct cuda_calls { /* set once, before the first device is opened */
#define CUDA_CALL(f, version) __typeof(f##version) *f;
#include "hostrt/cuda/calls.def"
#undef CUDA_CALL
};
extern struct cuda_calls ompgpu_cuda;

/* ------------------------------------------------------------------ waiting (cuda/wait.c) */
/* OMPGPU_WAIT=auto: between two questions whether something has ended.  First there is no pause,
 * then the processor is others' who want it; false: it has been asked long enough, and the thread
 * should sleep. */
struct cuda_asking {
    bool begun;
    bool crowded; /* others want the processors */
    double since; /* ompgpu_clock() */
    double taken; /* until then the processor is another's; kept from one wait to the next */
};
bool ompgpu_cuda_asks(struct cuda_asking *);
/* The same for a thread of the plugin's own, which should take little of the driver and of the
 * processors: it pauses here, or is to sleep for so many milliseconds; 0: no more. */
double ompgpu_cuda_rest(struct cuda_asking *);
static inline bool ompgpu_cuda_may_ask(void) { return ompgpu_settings.wait == OMPGPU_WAIT_AUTO; }
/* Until all that the stream has is done.  sleep: an event for that, which the caller keeps; *NULL:
 * there is none yet.  *call: what has failed. */
CUresult ompgpu_cuda_await_stream(CUstream, CUevent *sleep, const char **call);
/* The same for a thread of the plugin's own. */
CUresult ompgpu_cuda_await_quietly(CUstream, const char **call);

/* ------------------------------------------------------------------ memory (cuda/memory.c) */
struct cuda_block {
    struct cuda_block *next;
    CUdeviceptr address;
    size_t size;
    struct cuda_used *used; /* where a host thread has noted it, or has done so once; NULL: none */
    atomic_bool kept;       /* by a host thread: it is free */
};
/* Small blocks that one host thread has allocated last, and that it has freed last.  Who takes a
 * block out, which others may do, exchanges the atomic member. */
enum { CUDA_CACHED = 8 };
struct cuda_cache {
    char apart[OMPGPU_APART];
    struct cuda_cache *next; /* of the device's */
    struct cuda_used {
        _Atomic CUdeviceptr address; /* 0: none */
        struct cuda_block *block;
    } used[CUDA_CACHED];
    struct cuda_kept {
        _Atomic(struct cuda_block *) block; /* NULL: none */
        size_t size;
    } kept[CUDA_CACHED];
    unsigned turn; /* `used` that is noted next */
    char apart_too[OMPGPU_APART];
};
struct cuda_memory {
    pthread_mutex_t lock;                    /* guards all below */
    struct cuda_block **live;                /* by address; a bucket for each block, or more */
    unsigned live_bits;                      /* log2 of their number */
    size_t nlive;                            /* blocks */
    struct cuda_block *first[CUDA_BUCKETS];  /* where `live` begins */
    struct cuda_block *pooled[CUDA_BUCKETS]; /* by size */
    struct cuda_cache *caches;               /* of all host threads */
    size_t in_use, in_pool, pool_limit;
    bool exact;         /* sizes are not rounded up */
    bool caches_blocks; /* immutable, as `exact` */
};
void ompgpu_cuda_memory_init(struct cuda_memory *, size_t total);
void ompgpu_cuda_memory_fini(struct cuda_memory *, bool driver_alive);
/* The context of the device is current. */
/* For one host thread; NULL: there is none. */
struct cuda_cache *ompgpu_cuda_memory_cache(struct cuda_memory *);
CUresult ompgpu_cuda_memory_alloc(struct cuda_memory *, struct cuda_cache *, size_t size,
                                  CUdeviceptr *);
CUresult ompgpu_cuda_memory_free(struct cuda_memory *, struct cuda_cache *, CUdeviceptr);

/* ------------------------------------------------------------------ small copies (cuda/small.c) */
/* Pinned memory that they go through: of one stream, NULL: none yet. */
struct cuda_small;
/* Of so many bytes; NULL: there is no memory for it, or it is not wanted. */
struct cuda_small *ompgpu_cuda_small_get(struct cuda_small **, size_t room);
bool ompgpu_cuda_small_fits(const struct cuda_small *, size_t size);
/* What fits; a copy to the host is there when the stream has been waited for, and then: */
CUresult ompgpu_cuda_small_to(struct cuda_small *, CUstream, CUdeviceptr dst, const void *src,
                              size_t size);
CUresult ompgpu_cuda_small_from(struct cuda_small *, CUstream, void *dst, CUdeviceptr src,
                                size_t size);
void ompgpu_cuda_small_end(struct cuda_small *, bool good);
void ompgpu_cuda_small_free(struct cuda_small *, bool driver_alive);
/* A copy to the host of any size, by a host thread: so where it is small. */
CUresult ompgpu_cuda_fetch(struct cuda_small **, CUstream, void *dst, CUdeviceptr src, size_t size);
/* Where it is in the block when the stream has been waited for; NULL: nowhere. */
const void *ompgpu_cuda_prefetch(struct cuda_small **, CUstream, CUdeviceptr src, size_t size);

/* ------------------------------------------------------------------ large copies (cuda/stage.c) */
unsigned ompgpu_cuda_copy_threads(void);        /* that take part in one at most */
bool ompgpu_cuda_is_pageable(const void *host); /* else the driver copies it in its turn */
/* Of pageable memory, and large enough for several threads. */
bool ompgpu_cuda_is_staged(const void *host, size_t size);
/* `in`: to the device.  The stream has nothing to do, and what it gets later comes after the copy;
 * the host's memory has been read, or written.  1: it has failed, with a message; -1: there is no
 * memory to do it so. */
int ompgpu_cuda_stage(int ordinal, CUstream, bool in, void *device, void *host, size_t size);
void ompgpu_cuda_stage_close(int ordinal, bool driver_alive);
void ompgpu_cuda_helpers_end(void); /* no device is open */
void ompgpu_cuda_stage_fork(enum ompgpu_fork when);

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
    unsigned peers; /* bit per device: asked for access to its memory; under stack_lock */
    pthread_mutex_t stack_lock;
    atomic_int lost;       /* CUresult after which the context is of no more use, or 0 */
    const char *lost_call; /* written before lost */
};
CUcontext ompgpu_cuda_context(int ordinal);
/* Makes the device current for this host thread. */
int ompgpu_cuda_use(int ordinal);
/* The driver prints the text of kernels when somebody waits for a stream, but not when somebody
 * asks whether it has ended; and past the program's own stdio. */
static inline bool ompgpu_cuda_prints(const struct ompgpu_function *f)
{
    return f->entry && (f->entry->uses & OMPGPU_USES_PRINTS);
}
/* Of a launch of so many teams. */
struct cuda_grid {
    unsigned x, y, z;
};
static inline struct cuda_grid ompgpu_cuda_grid(const struct ompgpu_function *f, unsigned teams,
                                                const struct ompgpu_env *env)
{
    if (!f->entry || (f->entry->flags & OMPGPU_KERNEL_FORM) != OMPGPU_KERNEL_TILED)
        return (struct cuda_grid){ teams, 1, 1 };
    return (struct cuda_grid){ teams / (env->trip * env->rest), env->trip, env->rest };
}
/* What a launch may need more of than the context has. */
int ompgpu_cuda_provide(int ordinal, struct ompgpu_function *, unsigned dynamic_bytes);
/* 0 for success; else 1 and the message, with `more` at its end. */
int ompgpu_cuda_check(int ordinal, CUresult, const char *call, const char *more, ...)
    __attribute__((format(printf, 4, 5)));
/* One call of the driver: nonzero when it failed. */
#define CUDA_TRY(ordinal, f, ...)                                                                  \
    ompgpu_cuda_check(ordinal, ompgpu_cuda.f(__VA_ARGS__), #f, "%s", "")

/* ------------------------------------------------------------------ notices (cuda/complete.c) */
struct cuda_notice {
    CUevent event;
    void (*function)(void *);
    void *argument;
    bool prints; /* a kernel before the event does */
};
struct cuda_event {
    struct ompgpu_recorded recorded;
    unsigned long put;   /* how often that was put into a stream; atomic */
    const char *failure; /* of what is before it, NULL: none; atomic; the queue's */
    CUevent handle;
    /* where its last notice is, NULL: it has had none; atomic, both */
    const struct cuda_notices *notices;
    size_t notice;
};
enum { CUDA_CHUNK = 128 };
struct cuda_chunk {
    struct cuda_chunk *next; /* atomic */
    size_t end;              /* the number of the first that is not in it */
    struct cuda_notice notices[CUDA_CHUNK];
};
/* Of a queue: a list without an end, of which a part is there.  One thread at a time puts notices
 * into it, the completer gives them. */
struct cuda_notices {
    struct cuda_chunk *last; /* where notices are put; NULL: there was none */
    size_t put;              /* so many so far; atomic */
    char apart[OMPGPU_APART];
    struct cuda_chunk *spare;  /* atomic; NULL: none */
    struct cuda_chunk *first;  /* of which the completer gives; NULL: none so far */
    size_t given;              /* so many so far; atomic, for who has the completer's lock only */
    bool giving, used;         /* functions are being called; by a queue */
    struct cuda_notices *next; /* of the device's */
    char apart_too[OMPGPU_APART];
};
/* For a queue; NULL: out of memory. */
struct cuda_notices *ompgpu_cuda_notices_new(int ordinal);
/* The function is called when the event, which the list's queue has recorded last, has come, and
 * what kernels before it have printed, if `prints`. */
int ompgpu_cuda_notify(int ordinal, struct cuda_notices *, struct cuda_event *, bool prints,
                       void (*function)(void *), void *argument);
int ompgpu_cuda_call_soon(int ordinal, void (*function)(void *), void *argument);
/* true: there was a notice, so the event has come; false: there was none, or the completer has
 * failed. */
bool ompgpu_cuda_await_notice(int ordinal, const struct cuda_event *);
int ompgpu_cuda_check_completer(int ordinal); /* nonzero, with a message: it has failed */
/* Of a queue that ends: all are given first, and their functions have returned, unless the
 * completer has failed. */
void ompgpu_cuda_notices_end(int ordinal, struct cuda_notices *);
void ompgpu_cuda_completer_end(int ordinal); /* the device is closed */
void ompgpu_cuda_completer_fork(enum ompgpu_fork when);

/* ------------------------------------------------------------------ queues (cuda/queue.c) */
/* The host thread that uses it and its own thread use it in turns: the latter while its list is not
 * empty. */
struct cuda_queue {
    struct ompgpu_work_queue work;
    int ordinal; /* immutable, as the stream */
    CUstream stream;
    bool threaded;  /* there is a thread, since pageable memory was to be copied */
    bool busy;      /* work may be under way in the stream … */
    bool prints;    /* … a kernel that prints, of which the driver has not been made to … */
    bool returning; /* … copies to the host that nobody may see yet */
    bool calls;     /* … a function of the host */
    bool failed;    /* its thread has, with this message; atomic */
    char message[1024];
    struct cuda_small *small;
    struct cuda_notices *notices;
};
/* turn.c: one work of it, but for notices.  Nonzero, with a message: it has failed. */
int ompgpu_cuda_turn(struct cuda_queue *, const struct ompgpu_work *);
/* The queue is idle, and a copy from pageable memory can be made without a wait. */
bool ompgpu_cuda_reads_now(struct cuda_queue *, const struct ompgpu_work *);
void ompgpu_cuda_queue_fork(enum ompgpu_fork when);
/* As in struct ompgpu_plugin. */
__typeof__(*ompgpu_cuda_plugin.foreign) ompgpu_cuda_foreign;
__typeof__(*ompgpu_cuda_plugin.queue_create) ompgpu_cuda_queue_create;
__typeof__(*ompgpu_cuda_plugin.queue_destroy) ompgpu_cuda_queue_destroy;
__typeof__(*ompgpu_cuda_plugin.queue_to_device) ompgpu_cuda_queue_to_device;
__typeof__(*ompgpu_cuda_plugin.queue_from_device) ompgpu_cuda_queue_from_device;
__typeof__(*ompgpu_cuda_plugin.queue_copy) ompgpu_cuda_queue_copy;
__typeof__(*ompgpu_cuda_plugin.queue_launch) ompgpu_cuda_queue_launch;
__typeof__(*ompgpu_cuda_plugin.queue_call) ompgpu_cuda_queue_call;
__typeof__(*ompgpu_cuda_plugin.queue_notify) ompgpu_cuda_queue_notify;
__typeof__(*ompgpu_cuda_plugin.queue_wait) ompgpu_cuda_queue_wait;
__typeof__(*ompgpu_cuda_plugin.event_create) ompgpu_cuda_event_create;
__typeof__(*ompgpu_cuda_plugin.event_destroy) ompgpu_cuda_event_destroy;
__typeof__(*ompgpu_cuda_plugin.event_record) ompgpu_cuda_event_record;
__typeof__(*ompgpu_cuda_plugin.event_wait) ompgpu_cuda_event_wait;
#pragma GCC visibility pop
#endif
