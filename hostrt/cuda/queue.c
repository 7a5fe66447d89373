/* queue.c - queues and events: streams of CUDA that belong to no host thread.
 *
 * The driver reads pageable memory when a copy is asked for, and waits for one to pageable memory:
 * neither is what a queue is for.  So a queue has a block of pinned memory, through which copies go
 * in pieces, and functions of the host move the bytes between it and the program's memory.  All of
 * that is work of the stream, and nothing in the block is used twice at a time. */
#include <string.h>
#include "hostrt/cuda/cuda.h"

enum { STAGE = 4 << 20 }; /* bytes */
struct queue {
    CUstream stream;
    void *stage; /* pinned; NULL: nothing was copied yet */
};
struct move {
    void *dst;
    const void *src;
    size_t size;
};

int ompgpu_cuda_queue_create(int ordinal, void **queue)
{
    CUstream own;
    struct queue *q = ompgpu_xalloc(sizeof *q);
    if (!q)
        return 1;
    if (ompgpu_cuda_enter(ordinal, &own) || CUDA_TRY(ordinal, cuStreamCreate, &q->stream, 0)) {
        ompgpu_xfree(q);
        return 1;
    }
    *queue = q;
    return 0;
}

void ompgpu_cuda_queue_destroy(int ordinal, void *queue)
{
    struct queue *q = queue;
    CUstream own;
    if (!ompgpu_cuda_enter(ordinal, &own)) {
        ompgpu_cuda.cuStreamSynchronize(q->stream);
        ompgpu_cuda.cuStreamDestroy(q->stream);
        if (q->stage)
            ompgpu_cuda.cuMemFreeHost(q->stage);
    }
    ompgpu_xfree(q);
}

/* CUDA's runtime and its driver share streams and contexts; the runtime numbers the devices. */
int ompgpu_cuda_foreign(int ordinal, void *queue, struct ompgpu_foreign *f)
{
    enum { IFR_CUDA = 1, NVIDIA = 11 };
    *f = (struct ompgpu_foreign){ .id = IFR_CUDA,
                                  .vendor = NVIDIA,
                                  .name = "cuda",
                                  .vendor_name = "nvidia",
                                  .device = ordinal,
                                  .context = ompgpu_cuda_context(ordinal),
                                  .stream = queue ? ((struct queue *)queue)->stream : NULL };
    return 0;
}

/* ------------------------------------------------------------------ copies */
static int get_stage(int ordinal, struct queue *q)
{
    enum { PORTABLE = 1 };
    if (q->stage || !CUDA_TRY(ordinal, cuMemHostAlloc, &q->stage, STAGE, PORTABLE))
        return 0;
    q->stage = NULL;
    return 1;
}

static void move_bytes(void *argument)
{
    struct move *m = argument;
    memcpy(m->dst, m->src, m->size);
    ompgpu_xfree(m);
}

static int add_move(int ordinal, struct queue *q, void *dst, const void *src, size_t size)
{
    struct move *m = ompgpu_xalloc(sizeof *m);
    if (!m)
        return 1;
    *m = (struct move){ dst, src, size };
    if (!CUDA_TRY(ordinal, cuLaunchHostFunc, q->stream, move_bytes, m))
        return 0;
    ompgpu_xfree(m);
    return 1;
}

/* One of dst and src is the device's. */
static int copy_through_stage(int ordinal, struct queue *q, bool in, char *dst, const char *src,
                              size_t size)
{
    CUstream own;
    if (ompgpu_cuda_enter(ordinal, &own) || get_stage(ordinal, q))
        return 1;
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < STAGE ? size - at : STAGE;
        if (in ? add_move(ordinal, q, q->stage, src + at, n) ||
                     CUDA_TRY(ordinal, cuMemcpyHtoDAsync, (CUdeviceptr)dst + at, q->stage, n,
                              q->stream)
               : CUDA_TRY(ordinal, cuMemcpyDtoHAsync, q->stage, (CUdeviceptr)src + at, n,
                          q->stream) ||
                     add_move(ordinal, q, dst + at, q->stage, n))
            return 1;
    }
    return 0;
}

int ompgpu_cuda_queue_to_device(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    return copy_through_stage(ordinal, queue, true, dst, src, size);
}

int ompgpu_cuda_queue_from_device(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    return copy_through_stage(ordinal, queue, false, dst, src, size);
}

int ompgpu_cuda_queue_copy(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    const struct queue *q = queue;
    CUstream own;
    return ompgpu_cuda_enter(ordinal, &own) ||
           CUDA_TRY(ordinal, cuMemcpyDtoDAsync, (CUdeviceptr)dst, (CUdeviceptr)src, size,
                    q->stream);
}

/* ------------------------------------------------------------------ other work */
int ompgpu_cuda_queue_launch(int ordinal, void *queue, struct ompgpu_function *f, unsigned teams,
                             unsigned threads, void **params)
{
    struct queue *q = queue;
    CUstream own;
    if (ompgpu_cuda_enter(ordinal, &own) || ompgpu_cuda_stack(ordinal, f))
        return 1;
    return ompgpu_cuda_check(ordinal,
                             ompgpu_cuda.cuLaunchKernel(f->handle, teams, 1, 1, threads, 1, 1, 0,
                                                        q->stream, params, NULL),
                             "cuLaunchKernel", ": %u teams of %u threads, %u registers a thread",
                             teams, threads, f->registers);
}

int ompgpu_cuda_queue_call(int ordinal, void *queue, void (*function)(void *), void *argument)
{
    const struct queue *q = queue;
    CUstream own;
    return ompgpu_cuda_enter(ordinal, &own) ||
           CUDA_TRY(ordinal, cuLaunchHostFunc, q->stream, function, argument);
}

/* ------------------------------------------------------------------ events */
int ompgpu_cuda_queue_wait(int ordinal, void *queue, void *event)
{
    const struct queue *q = queue;
    CUstream own;
    return ompgpu_cuda_enter(ordinal, &own) ||
           CUDA_TRY(ordinal, cuStreamWaitEvent, q->stream, event, 0);
}

int ompgpu_cuda_event_create(int ordinal, void **event)
{
    const unsigned flags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
    CUstream own;
    return ompgpu_cuda_enter(ordinal, &own) ||
           CUDA_TRY(ordinal, cuEventCreate, (CUevent *)event, flags);
}

void ompgpu_cuda_event_destroy(int ordinal, void *event)
{
    CUstream own;
    if (!ompgpu_cuda_enter(ordinal, &own))
        ompgpu_cuda.cuEventDestroy(event);
}

int ompgpu_cuda_event_record(int ordinal, void *event, void *queue)
{
    const struct queue *q = queue;
    CUstream own;
    return ompgpu_cuda_enter(ordinal, &own) || CUDA_TRY(ordinal, cuEventRecord, event, q->stream);
}

int ompgpu_cuda_event_wait(int ordinal, void *event)
{
    CUstream own;
    return ompgpu_cuda_enter(ordinal, &own) || CUDA_TRY(ordinal, cuEventSynchronize, event);
}
