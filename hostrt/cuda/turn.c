/* turn.c - what is put into a queue, in its turn: by the host thread that puts it there or, after a
 * copy between the device and pageable memory, by the queue's thread (queue.c).
 *
 * What the device does is put into the stream.  The bytes of pageable memory are moved by the host,
 * and what comes earlier in the queue must have ended by then where that matters:
 *
 *      to the device   Small ones are read when their turn comes, and go by way of pinned memory;
 *                      of kernels before them only those of programs with unified memory, or with
 *                      functions of the host that kernels call, can write what is read.  Others
 *                      wait for the stream.
 *      to the host     Small ones go into pinned memory in the stream, and to their places before
 *                      something is done that others can see: an event, a function of the host,
 *                      a copy to the device.  Others wait for the stream.
 *
 * So what the host's memory gets before an event is there when the event is recorded, and who
 * waits for one may read it. */
#include <stdio.h>
#include "hostrt/cuda/cuda.h"

enum { SMALL = 64 << 10, ROOM = 256 << 10 }; /* bytes: the largest, of the block of a queue */

/* What the stream has has ended, its kernels' text is printed, and what comes to the host is in its
 * places. */
static int settle(struct cuda_queue *q)
{
    const char *call;
    CUresult err = q->busy ? ompgpu_cuda_await_quietly(q->stream, &call) : CUDA_SUCCESS;
    if (!err && q->prints)
        call = "cuStreamSynchronize", err = ompgpu_cuda.cuStreamSynchronize(q->stream);
    if (q->small)
        ompgpu_cuda_small_end(q->small, !err);
    q->busy = q->returning = q->prints = q->calls = false;
    return err && ompgpu_cuda_check(q->ordinal, err, call, "%s", "");
}

/* ------------------------------------------------------------------ copies */
/* What is under way may change what the host has. */
static bool writes_host(const struct cuda_queue *q)
{
    return q->calls || ompgpu_unified() || ompgpu_reverse_any();
}

/* One that a small copy of so many bytes fits into; NULL: none, since it is too large or there is
 * no memory.  *bad: the stream has failed. */
static struct cuda_small *get_small(struct cuda_queue *q, size_t size, int *bad)
{
    struct cuda_small *s = size <= SMALL ? ompgpu_cuda_small_get(&q->small, ROOM) : NULL;
    *bad = s && !ompgpu_cuda_small_fits(s, size) && settle(q);
    return *bad ? NULL : s;
}

/* -1: it is not for several threads. */
static int copy_staged(struct cuda_queue *q, bool in, void *device, void *host, size_t size)
{
    return ompgpu_cuda_is_staged(host, size)
               ? ompgpu_cuda_stage(q->ordinal, q->stream, in, device, host, size)
               : -1;
}

static int copy_in_stream(struct cuda_queue *q, const struct ompgpu_work *w)
{
    q->busy = true;
    return w->kind == OMPGPU_WORK_TO_DEVICE
               ? CUDA_TRY(q->ordinal, cuMemcpyHtoDAsync, (CUdeviceptr)w->dst, w->src, w->size,
                          q->stream)
               : CUDA_TRY(q->ordinal, cuMemcpyDtoHAsync, w->dst, (CUdeviceptr)w->src, w->size,
                          q->stream);
}

bool ompgpu_cuda_reads_now(struct cuda_queue *q, const struct ompgpu_work *w)
{
    enum { FEW = 16 << 10 }; /* bytes: to move them takes as long as to wake a thread */
    if (w->kind != OMPGPU_WORK_TO_DEVICE || w->size > FEW || writes_host(q))
        return false;
    const struct cuda_small *s = ompgpu_cuda_small_get(&q->small, ROOM);
    return s && ompgpu_cuda_small_fits(s, w->size);
}

static int copy_to_device(struct cuda_queue *q, const struct ompgpu_work *w)
{
    int bad;
    if (!ompgpu_cuda_is_pageable(w->src))
        return copy_in_stream(q, w);
    if ((q->returning || writes_host(q)) && settle(q))
        return 1;
    struct cuda_small *s = get_small(q, w->size, &bad);
    if (s) {
        q->busy = true;
        return ompgpu_cuda_check(
            q->ordinal, ompgpu_cuda_small_to(s, q->stream, (CUdeviceptr)w->dst, w->src, w->size),
            "cuMemcpyHtoDAsync", "%s", "");
    }
    if (bad || settle(q))
        return 1;
    int staged = copy_staged(q, true, w->dst, (void *)w->src, w->size);
    q->busy = true;
    return staged >= 0 ? staged : copy_in_stream(q, w);
}

static int copy_to_host(struct cuda_queue *q, const struct ompgpu_work *w)
{
    int bad;
    if (!ompgpu_cuda_is_pageable(w->dst))
        return copy_in_stream(q, w);
    struct cuda_small *s = get_small(q, w->size, &bad);
    if (s) {
        q->busy = q->returning = true;
        return ompgpu_cuda_check(
            q->ordinal, ompgpu_cuda_small_from(s, q->stream, w->dst, (CUdeviceptr)w->src, w->size),
            "cuMemcpyDtoHAsync", "%s", "");
    }
    if (bad || settle(q))
        return 1;
    int staged = ompgpu_may_recover() ? -1 : copy_staged(q, false, (void *)w->src, w->dst, w->size);
    if (staged >= 0)
        return staged;
    q->returning = true; /* where the driver does not wait for it */
    return copy_in_stream(q, w);
}

/* ------------------------------------------------------------------ other work */
static int launch(struct cuda_queue *q, const struct ompgpu_work *w)
{
    const struct ompgpu_env *env = w->params[0];
    if (ompgpu_cuda_provide(q->ordinal, w->f, env->dynamic_bytes))
        return 1;
    const struct cuda_grid g = ompgpu_cuda_grid(w->f, w->teams, env);
    q->busy = true;
    q->prints |= ompgpu_cuda_prints(w->f);
    return ompgpu_cuda_check(q->ordinal,
                             ompgpu_cuda.cuLaunchKernel(w->f->handle, g.x, g.y, g.z, w->threads, 1,
                                                        1, env->dynamic_bytes, q->stream, w->params,
                                                        NULL),
                             "cuLaunchKernel", ": %u teams of %u threads, %u registers a thread",
                             w->teams, w->threads, w->f->registers);
}

/* By the queue's thread, or from the stream where it has none: there may be work in that which we
 * do not know of (interop objects). */
static int call_host(struct cuda_queue *q, const struct ompgpu_work *w)
{
    if (!q->threaded) {
        q->busy = q->calls = true;
        return CUDA_TRY(q->ordinal, cuLaunchHostFunc, q->stream, w->call, w->argument);
    }
    if (settle(q))
        return 1;
    w->call(w->argument);
    return 0;
}

int ompgpu_cuda_turn(struct cuda_queue *q, const struct ompgpu_work *w)
{
    const struct cuda_event *e = (const struct cuda_event *)w->event;
    if (ompgpu_cuda_use(q->ordinal))
        return 1;
    switch (w->kind) {
    case OMPGPU_WORK_TO_DEVICE: return copy_to_device(q, w);
    case OMPGPU_WORK_FROM_DEVICE: return copy_to_host(q, w);
    case OMPGPU_WORK_COPY:
        q->busy = true;
        return CUDA_TRY(q->ordinal, cuMemcpyDtoDAsync, (CUdeviceptr)w->dst, (CUdeviceptr)w->src,
                        w->size, q->stream);
    case OMPGPU_WORK_LAUNCH: return launch(q, w);
    case OMPGPU_WORK_CALL: return call_host(q, w);
    case OMPGPU_WORK_WAIT:
        q->busy = true;
        return CUDA_TRY(q->ordinal, cuStreamWaitEvent, q->stream, e->handle, 0);
    default:
        return (q->returning && settle(q)) ||
               CUDA_TRY(q->ordinal, cuEventRecord, e->handle, q->stream);
    }
}
