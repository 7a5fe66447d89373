/* queue.c - queues and events: streams of CUDA that belong to no host thread.
 *
 * The driver waits for a copy to pageable memory, and reads pageable memory when a copy is asked
 * for: neither is what a queue is for.  So a queue that gets one has a thread and a list of work,
 * and while there is something in the list, all that is put into the queue goes there.  Otherwise
 * work goes straight into the stream, and a few bytes of pageable memory are read at once: what
 * may have changed them on the host has been done.
 *
 *      host thread    kernel  kernel  copy-in ┐                               kernel
 *      list                                   └ copy-in  kernel  event ┐
 *      stream         kernel  kernel                                   └ copy-in  kernel  event …
 *
 * An event counts how often it was asked to be recorded and how often that was put into a stream.
 * Who waits for it waits for the second to be what the first was, and then lets its stream wait, or
 * asks the driver.  After a failure the queue's thread does nothing any more; the events that it
 * records say so, and queues that wait for one of these fail, too. */
#include <stdio.h>
#include "hostrt/cuda/cuda.h"

enum { NOTIFY = OMPGPU_WORK_OTHER }; /* call(argument) when the event has come */

/* Guards lists, events and what follows.  Under it only error.c is called. */
static pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER; /* an event was put */

/* ------------------------------------------------------------------ a queue's thread
 * Lock held, but while it does something. */
static void note_failure(struct cuda_queue *q, const char *message)
{
    if (!q->failed)
        snprintf(q->message, sizeof q->message, "%s", message);
    __atomic_store_n(&q->failed, true, __ATOMIC_RELEASE);
}

/* Until the event is where the stream can wait for it.  Its next construct may be putting it
 * straight into another stream, without the lock. */
static int await_put(struct cuda_queue *q, const struct ompgpu_work *w)
{
    const struct cuda_event *e = (const struct cuda_event *)w->event;
    while (__atomic_load_n(&e->put, __ATOMIC_ACQUIRE) < w->number && !q->failed)
        pthread_cond_wait(&moved, &lock);
    const char *failure = __atomic_load_n(&e->failure, __ATOMIC_RELAXED);
    if (failure)
        note_failure(q, failure);
    return q->failed;
}

static void put_event(const struct cuda_queue *q, const struct ompgpu_work *w)
{
    struct cuda_event *e = (struct cuda_event *)w->event;
    __atomic_store_n(&e->failure, q->failed ? q->message : NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&e->put, w->number, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&moved);
}

static int give_notice(struct cuda_queue *q, const struct ompgpu_work *w)
{
    const bool prints = q->prints;
    q->prints = false;
    return ompgpu_cuda_notify(q->ordinal, q->notices, (struct cuda_event *)w->event, prints,
                              w->call, w->argument);
}

/* Where nothing is under way in the stream, the event has come. */
static int notify(struct cuda_queue *q, const struct ompgpu_work *w)
{
    if (ompgpu_settings.device_kind == OMPGPU_KIND_PTX)
        return ompgpu_cuda_use(q->ordinal) ||
               CUDA_TRY(q->ordinal, cuLaunchHostFunc, q->stream, w->call, w->argument);
    if (q->busy)
        return give_notice(q, w);
    w->call(w->argument);
    return 0;
}

/* What ended before a failure is told of all the same. */
static bool is_skipped(struct cuda_queue *q, const struct ompgpu_work *w)
{
    if (w->kind == OMPGPU_WORK_WAIT)
        return await_put(q, w);
    return (int)w->kind == NOTIFY ? ((const struct cuda_event *)w->event)->failure != NULL
                                  : q->failed;
}

static void take_turn(struct ompgpu_work_queue *work, const struct ompgpu_work *w)
{
    struct cuda_queue *q = (struct cuda_queue *)work;
    if (!is_skipped(q, w)) {
        pthread_mutex_unlock(&lock);
        int bad = (int)w->kind == NOTIFY ? notify(q, w) : ompgpu_cuda_turn(q, w);
        pthread_mutex_lock(&lock);
        if (bad)
            note_failure(q, ompgpu_plugin_message());
        if (bad && (int)w->kind == NOTIFY) /* who waits for the event gives the notice */
            __atomic_store_n(&((struct cuda_event *)w->event)->failure, q->message,
                             __ATOMIC_RELAXED);
    }
    if (w->kind == OMPGPU_WORK_RECORD)
        put_event(q, w);
}

/* To be woken takes longer than most of what comes.  But the processors are others', too. */
static void linger(const struct ompgpu_work_queue *work)
{
    static unsigned lingering; /* atomic: threads that do */
    const double most = 0.2;   /* milliseconds */
    struct cuda_asking asking = { 0 };
    double sleep = 0;
    if (__atomic_fetch_add(&lingering, 1, __ATOMIC_RELAXED) < ompgpu_cuda_copy_threads() / 2)
        while (!ompgpu_work_any(work) && sleep <= 0 &&
               (!asking.begun || ompgpu_clock() - asking.since < most))
            sleep = ompgpu_cuda_rest(&asking);
    __atomic_fetch_sub(&lingering, 1, __ATOMIC_RELAXED);
}

static int start_thread(struct cuda_queue *q)
{
    if (q->threaded)
        return 0;
    q->work.lock = &lock, q->work.alloc = ompgpu_xalloc, q->work.turn = take_turn;
    q->work.linger = linger;
    q->threaded = !ompgpu_work_begin(&q->work, ompgpu_quiet_thread);
    if (!q->threaded)
        ompgpu_plugin_error("no thread can be started for a queue");
    return !q->threaded;
}

/* ------------------------------------------------------------------ what is put into a queue */
static bool has_failed(const struct cuda_queue *q)
{
    return __atomic_load_n(&q->failed, __ATOMIC_ACQUIRE);
}

/* The list is empty, and all that its thread had to do is done.  Only the caller adds to it. */
static bool is_idle(const struct cuda_queue *q)
{
    return !q->threaded || (!ompgpu_work_any(&q->work) && !q->returning && !has_failed(q));
}

static int add_to_list(struct cuda_queue *q, struct ompgpu_work w)
{
    return start_thread(q) || ompgpu_work_add(q, w);
}

/* Into the stream, or after what has not come there yet. */
static int add(struct cuda_queue *q, struct ompgpu_work w)
{
    return is_idle(q) ? ompgpu_cuda_turn(q, &w) : add_to_list(q, w);
}

static int add_copy(struct cuda_queue *q, struct ompgpu_work w, const void *host)
{
    if (!w.size)
        return 0;
    if (ompgpu_cuda_use(q->ordinal))
        return 1;
    bool now = !ompgpu_cuda_is_pageable(host) || (is_idle(q) && ompgpu_cuda_reads_now(q, &w));
    return now ? add(q, w) : add_to_list(q, w);
}

int ompgpu_cuda_queue_to_device(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    const struct ompgpu_work w = {
        .kind = OMPGPU_WORK_TO_DEVICE, .dst = dst, .src = src, .size = size
    };
    (void)ordinal;
    return add_copy(queue, w, src);
}

int ompgpu_cuda_queue_from_device(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    const struct ompgpu_work w = {
        .kind = OMPGPU_WORK_FROM_DEVICE, .dst = dst, .src = src, .size = size
    };
    (void)ordinal;
    return add_copy(queue, w, dst);
}

int ompgpu_cuda_queue_copy(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    (void)ordinal;
    return add(queue, (struct ompgpu_work){
                          .kind = OMPGPU_WORK_COPY, .dst = dst, .src = src, .size = size });
}

int ompgpu_cuda_queue_launch(int ordinal, void *queue, struct ompgpu_function *f, unsigned teams,
                             unsigned threads, void **params)
{
    (void)ordinal;
    if (ompgpu_cuda_prints(f)) /* what the program has printed before comes before */
        fflush(stdout);
    return add(queue, (struct ompgpu_work){ .kind = OMPGPU_WORK_LAUNCH,
                                            .f = f,
                                            .teams = teams,
                                            .threads = threads,
                                            .params = params });
}

/* The thread calls it where there is one: the driver takes long. */
int ompgpu_cuda_queue_call(int ordinal, void *queue, void (*function)(void *), void *argument)
{
    struct cuda_queue *q = queue;
    const struct ompgpu_work w = { .kind = OMPGPU_WORK_CALL,
                                   .call = function,
                                   .argument = argument };
    (void)ordinal;
    return q->threaded ? add_to_list(q, w) : ompgpu_cuda_turn(q, &w);
}

int ompgpu_cuda_queue_notify(int ordinal, void *queue, void *event, void (*function)(void *),
                             void *argument)
{
    struct cuda_queue *q = queue;
    const struct ompgpu_work w = {
        .kind = NOTIFY, .event = event, .call = function, .argument = argument
    };
    if (!event)
        return ompgpu_cuda_call_soon(ordinal, function, argument);
    if (!is_idle(q))
        return ompgpu_work_add(q, w);
    return ompgpu_settings.device_kind == OMPGPU_KIND_PTX ? notify(q, &w) : give_notice(q, &w);
}

int ompgpu_cuda_queue_create(int ordinal, void **queue)
{
    struct cuda_queue *q = ompgpu_xalloc(sizeof *q);
    if (!q)
        return 1;
    q->ordinal = ordinal;
    if (ompgpu_cuda_use(ordinal) || !(q->notices = ompgpu_cuda_notices_new(ordinal)) ||
        CUDA_TRY(ordinal, cuStreamCreate, &q->stream, 0)) {
        if (q->notices)
            ompgpu_cuda_notices_end(ordinal, q->notices);
        ompgpu_xfree(q);
        return 1;
    }
    *queue = q;
    return 0;
}

void ompgpu_cuda_queue_destroy(int ordinal, void *queue)
{
    struct cuda_queue *q = queue;
    if (q->threaded)
        ompgpu_work_end(&q->work);
    ompgpu_cuda_notices_end(ordinal, q->notices);
    bool alive = !ompgpu_cuda_use(ordinal);
    bool good = alive && !ompgpu_cuda.cuStreamSynchronize(q->stream) && !has_failed(q);
    if (q->small)
        ompgpu_cuda_small_end(q->small, good);
    if (alive)
        ompgpu_cuda.cuStreamDestroy(q->stream);
    ompgpu_cuda_small_free(q->small, alive);
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
                                  .stream = queue ? ((struct cuda_queue *)queue)->stream : NULL };
    return 0;
}

/* ------------------------------------------------------------------ events */
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

/* Without the lock: whoever sees that it was asked for sees it put. */
int ompgpu_cuda_event_record(int ordinal, void *event, void *queue)
{
    struct cuda_event *e = event;
    const struct ompgpu_work w = { .kind = OMPGPU_WORK_RECORD, .event = &e->recorded };
    (void)ordinal;
    if (!is_idle(queue))
        return ompgpu_work_add(queue, w);
    if (ompgpu_cuda_turn(queue, &w))
        return 1;
    unsigned long number = e->recorded.times + 1;
    __atomic_store_n(&e->put, number, __ATOMIC_RELEASE);
    __atomic_store_n(&e->recorded.times, number, __ATOMIC_RELEASE);
    return 0;
}

int ompgpu_cuda_queue_wait(int ordinal, void *queue, void *event)
{
    struct cuda_event *e = event;
    const struct ompgpu_work w = { .kind = OMPGPU_WORK_WAIT, .event = &e->recorded };
    unsigned long number = __atomic_load_n(&e->recorded.times, __ATOMIC_ACQUIRE);
    (void)ordinal;
    bool there = __atomic_load_n(&e->put, __ATOMIC_ACQUIRE) >= number &&
                 !__atomic_load_n(&e->failure, __ATOMIC_RELAXED);
    return there ? add(queue, w) : add_to_list(queue, w);
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

/* By the host, until it is in a stream; nonzero: something before it has failed. */
static int await_record(const struct cuda_event *e)
{
    pthread_mutex_lock(&lock);
    unsigned long number = __atomic_load_n(&e->recorded.times, __ATOMIC_ACQUIRE);
    while (__atomic_load_n(&e->put, __ATOMIC_ACQUIRE) < number)
        pthread_cond_wait(&moved, &lock);
    const char *failure = __atomic_load_n(&e->failure, __ATOMIC_RELAXED);
    if (failure)
        ompgpu_plugin_error("%s", failure);
    pthread_mutex_unlock(&lock);
    return failure != NULL;
}

/* What the completer asks for anyway is not asked for twice. */
int ompgpu_cuda_event_wait(int ordinal, void *event)
{
    return await_record(event) || (!ompgpu_cuda_await_notice(ordinal, event) &&
                                   (ompgpu_cuda_use(ordinal) || ask_for_event(ordinal, event) ||
                                    ompgpu_cuda_check_completer(ordinal)));
}

/* ------------------------------------------------------------------ fork */
/* A child has none of the threads: its queues are never used again. */
void ompgpu_cuda_queue_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE) {
        pthread_mutex_lock(&lock);
        return;
    }
    if (when == OMPGPU_FORK_CHILD)
        pthread_cond_init(&moved, NULL);
    pthread_mutex_unlock(&lock);
}
