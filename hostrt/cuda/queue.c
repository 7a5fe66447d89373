/* queue.c - queues and events: streams of CUDA that belong to no host thread.
 *
 * The driver reads pageable memory when a copy is asked for, and waits for one to pageable memory:
 * neither is what a queue is for.  So a queue has two blocks of pinned memory, through which copies
 * go in pieces, and functions of the host move the bytes between them and the program's memory.
 * All of that is work of streams.  What needs more than one piece uses both blocks in turn, the
 * second one in a stream of its own: while a piece is on its way, the host moves the next one.
 *
 *      stream   … begun   piece 0   piece 2   …            wait for ended   …
 *      second     wait for begun   piece 1   piece 3   …   ended */
#include <string.h>
#include "hostrt/cuda/cuda.h"

enum { PIECE = 2 << 20 }; /* bytes of a block */
/* The host's part of a copy; after a failure of the device it does not happen. */
struct move {
    struct move *next; /* of the queue */
    _Atomic bool busy;
    void *dst;
    const void *src;
    size_t size;
};
struct queue {
    _Atomic(struct move *) moves;
    CUstream stream;
    bool prints;     /* a kernel since the last notice does */
    char *blocks;    /* both, pinned; NULL: nothing was copied yet */
    CUstream second; /* NULL: nothing was copied in more than one piece yet, as with the events */
    CUevent begun, ended;
    struct cuda_notices notices;
};

int ompgpu_cuda_queue_create(int ordinal, void **queue)
{
    struct queue *q = ompgpu_xalloc(sizeof *q);
    if (!q)
        return 1;
    if (ompgpu_cuda_use(ordinal) || CUDA_TRY(ordinal, cuStreamCreate, &q->stream, 0)) {
        ompgpu_xfree(q);
        return 1;
    }
    *queue = q;
    return 0;
}

static void free_second(struct queue *q)
{
    if (q->begun)
        ompgpu_cuda.cuEventDestroy(q->begun);
    if (q->ended)
        ompgpu_cuda.cuEventDestroy(q->ended);
    if (q->second)
        ompgpu_cuda.cuStreamDestroy(q->second);
    q->second = NULL, q->begun = q->ended = NULL;
}

void ompgpu_cuda_queue_destroy(int ordinal, void *queue)
{
    struct queue *q = queue;
    ompgpu_cuda_notices_end(ordinal, &q->notices);
    if (!ompgpu_cuda_use(ordinal)) {
        ompgpu_cuda.cuStreamSynchronize(q->stream);
        ompgpu_cuda.cuStreamDestroy(q->stream);
        free_second(q);
        if (q->blocks)
            ompgpu_cuda.cuMemFreeHost(q->blocks);
    }
    for (struct move *m = q->moves, *next; m; m = next) {
        next = m->next;
        ompgpu_xfree(m);
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
static int get_blocks(int ordinal, struct queue *q)
{
    enum { PORTABLE = 1 };
    if (q->blocks || !CUDA_TRY(ordinal, cuMemHostAlloc, (void **)&q->blocks, 2 * PIECE, PORTABLE))
        return 0;
    q->blocks = NULL;
    return 1;
}

static int get_second(int ordinal, struct queue *q)
{
    if (q->second || (!CUDA_TRY(ordinal, cuEventCreate, &q->begun, CU_EVENT_DISABLE_TIMING) &&
                      !CUDA_TRY(ordinal, cuEventCreate, &q->ended, CU_EVENT_DISABLE_TIMING) &&
                      !CUDA_TRY(ordinal, cuStreamCreate, &q->second, 0)))
        return 0;
    free_second(q);
    return 1;
}

static void move_bytes(void *argument)
{
    struct move *m = argument;
    memcpy(m->dst, m->src, m->size);
    atomic_store(&m->busy, false);
}

/* One that is not busy, or a new one; NULL: there is no memory. */
static struct move *find_move(struct queue *q)
{
    struct move *m = atomic_load(&q->moves);
    while (m && atomic_exchange(&m->busy, true))
        m = m->next;
    if (m || !(m = ompgpu_xalloc(sizeof *m)))
        return m;
    atomic_store(&m->busy, true);
    m->next = atomic_load(&q->moves);
    while (!atomic_compare_exchange_weak(&q->moves, &m->next, m))
        ;
    return m;
}

static int add_move(int ordinal, struct queue *q, CUstream stream, void *dst, const void *src,
                    size_t size)
{
    struct move *m = find_move(q);
    if (!m)
        return 1;
    m->dst = dst, m->src = src, m->size = size;
    if (!CUDA_TRY(ordinal, cuLaunchHostFunc, stream, move_bytes, m))
        return 0;
    atomic_store(&m->busy, false);
    return 1;
}

/* One of dst and src is the device's. */
static int copy_piece(int ordinal, struct queue *q, CUstream stream, void *block, bool in,
                      char *dst, const char *src, size_t n)
{
    return in ? add_move(ordinal, q, stream, block, src, n) ||
                    CUDA_TRY(ordinal, cuMemcpyHtoDAsync, (CUdeviceptr)dst, block, n, stream)
              : CUDA_TRY(ordinal, cuMemcpyDtoHAsync, block, (CUdeviceptr)src, n, stream) ||
                    add_move(ordinal, q, stream, dst, block, n);
}

/* What comes later in `stream` comes after `event` of the other. */
static int put_after(int ordinal, CUstream stream, CUevent event, CUstream other)
{
    return CUDA_TRY(ordinal, cuEventRecord, event, other) ||
           CUDA_TRY(ordinal, cuStreamWaitEvent, stream, event, 0);
}

static int copy_in_pieces(int ordinal, struct queue *q, bool in, char *dst, const char *src,
                          size_t size)
{
    unsigned which = 0;
    if (get_second(ordinal, q) || put_after(ordinal, q->second, q->begun, q->stream))
        return 1;
    for (size_t at = 0, n; at < size; at += n, which = !which) {
        n = size - at < PIECE ? size - at : PIECE;
        if (copy_piece(ordinal, q, which ? q->second : q->stream, q->blocks + which * PIECE, in,
                       dst + at, src + at, n))
            return 1;
    }
    return put_after(ordinal, q->stream, q->ended, q->second);
}

static int copy_through_blocks(int ordinal, struct queue *q, bool in, char *dst, const char *src,
                               size_t size)
{
    if (!size)
        return 0;
    if (ompgpu_cuda_use(ordinal) || get_blocks(ordinal, q))
        return 1;
    return size <= PIECE ? copy_piece(ordinal, q, q->stream, q->blocks, in, dst, src, size)
                         : copy_in_pieces(ordinal, q, in, dst, src, size);
}

int ompgpu_cuda_queue_to_device(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    return copy_through_blocks(ordinal, queue, true, dst, src, size);
}

int ompgpu_cuda_queue_from_device(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    return copy_through_blocks(ordinal, queue, false, dst, src, size);
}

int ompgpu_cuda_queue_copy(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    const struct queue *q = queue;
    return ompgpu_cuda_use(ordinal) || CUDA_TRY(ordinal, cuMemcpyDtoDAsync, (CUdeviceptr)dst,
                                                (CUdeviceptr)src, size, q->stream);
}

/* ------------------------------------------------------------------ other work */
int ompgpu_cuda_queue_launch(int ordinal, void *queue, struct ompgpu_function *f, unsigned teams,
                             unsigned threads, void **params)
{
    const struct ompgpu_env *env = params[0];
    struct queue *q = queue;
    if (ompgpu_cuda_use(ordinal) || ompgpu_cuda_provide(ordinal, f, env->dynamic_bytes))
        return 1;
    q->prints |= ompgpu_cuda_prints(f);
    return ompgpu_cuda_check(ordinal,
                             ompgpu_cuda.cuLaunchKernel(f->handle, teams, 1, 1, threads, 1, 1,
                                                        env->dynamic_bytes, q->stream, params,
                                                        NULL),
                             "cuLaunchKernel", ": %u teams of %u threads, %u registers a thread",
                             teams, threads, f->registers);
}

int ompgpu_cuda_queue_call(int ordinal, void *queue, void (*function)(void *), void *argument)
{
    const struct queue *q = queue;
    return ompgpu_cuda_use(ordinal) ||
           CUDA_TRY(ordinal, cuLaunchHostFunc, q->stream, function, argument);
}

int ompgpu_cuda_queue_notify(int ordinal, void *queue, void *event, void (*function)(void *),
                             void *argument)
{
    struct queue *q = queue;
    const bool prints = q->prints && event;
    q->prints &= !event;
    return ompgpu_settings.device_kind == OMPGPU_KIND_PTX
               ? ompgpu_cuda_queue_call(ordinal, queue, function, argument)
               : ompgpu_cuda_notify(ordinal, &q->notices, event, prints, function, argument);
}

/* ------------------------------------------------------------------ events */
int ompgpu_cuda_queue_wait(int ordinal, void *queue, void *event)
{
    const struct queue *q = queue;
    const struct cuda_event *e = event;
    return ompgpu_cuda_use(ordinal) ||
           CUDA_TRY(ordinal, cuStreamWaitEvent, q->stream, e->handle, 0);
}

int ompgpu_cuda_event_create(int ordinal, void **event)
{
    const unsigned flags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
    struct cuda_event *e = ompgpu_xalloc(sizeof *e);
    if (!e || ompgpu_cuda_use(ordinal) || CUDA_TRY(ordinal, cuEventCreate, &e->handle, flags)) {
        ompgpu_xfree(e);
        return 1;
    }
    *event = e;
    return 0;
}

void ompgpu_cuda_event_destroy(int ordinal, void *event)
{
    struct cuda_event *e = event;
    if (!ompgpu_cuda_use(ordinal))
        ompgpu_cuda.cuEventDestroy(e->handle);
    ompgpu_xfree(e);
}

int ompgpu_cuda_event_record(int ordinal, void *event, void *queue)
{
    const struct cuda_event *e = event;
    const struct queue *q = queue;
    return ompgpu_cuda_use(ordinal) || CUDA_TRY(ordinal, cuEventRecord, e->handle, q->stream);
}

static int ask_for_event(int ordinal, const struct cuda_event *e)
{
    const bool asks = ompgpu_cuda_may_ask();
    struct cuda_asking asking = { 0 };
    CUresult asked = CUDA_ERROR_NOT_READY;
    do
        asked = asks ? ompgpu_cuda.cuEventQuery(e->handle) : asked;
    while (asks && asked == CUDA_ERROR_NOT_READY && ompgpu_cuda_asks(&asking));
    if (asked == CUDA_SUCCESS)
        return 0;
    return CUDA_TRY(ordinal, cuEventSynchronize, e->handle) ||
           (asked != CUDA_ERROR_NOT_READY &&
            ompgpu_cuda_check(ordinal, asked, "cuEventQuery", "%s", ""));
}

/* What the completer asks for anyway is not asked for twice. */
int ompgpu_cuda_event_wait(int ordinal, void *event)
{
    return ompgpu_cuda_use(ordinal) ||
           (!ompgpu_cuda_await_notice(ordinal, event) &&
            (ask_for_event(ordinal, event) || ompgpu_cuda_check_completer(ordinal)));
}
