/* stream.c - streams: copies and launches that the host has asked for.
 *
 * Each is done at once, before the call returns; with OMPGPU_PTX_SCHEDULE at some time before its
 * stream is next synchronised, streams in any order by the seed, each in its own.  What is pending
 * in other streams is done, too, where the driver may wait for the device: free, unload.  The
 * source of a copy to the device is read before the call returns, unless it is pinned memory.
 *
 * An event is recorded at a moment of a stream.  A stream that waits for one is not chosen until
 * it is done; only those that were asked for before are waited for, so there is always a stream to
 * choose, or another host thread is about to add what is waited for. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/machine.h"

struct CUstream_st {
    struct device *device;
    pthread_mutex_t running; /* without a schedule: while a host thread does work of the stream */
    struct work *first, **last;
    struct CUstream_st *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows, and while work runs */
static struct CUstream_st *streams;
static uint64_t random_state;

CUstream ptx_stream_new(struct device *d)
{
    struct CUstream_st *s = malloc(sizeof *s);
    if (!s)
        return NULL;
    pthread_mutex_lock(&lock);
    *s = (struct CUstream_st){ .device = d, .next = streams };
    pthread_mutex_init(&s->running, NULL);
    s->last = &s->first;
    streams = s;
    pthread_mutex_unlock(&lock);
    return s;
}

/* ------------------------------------------------------------------ doing it */
static void do_launch(struct device *d, struct launch *l)
{
    static const uint64_t none = 0;
    if (l->cooperative && (l->workspace = ptx_global_alloc(d, sizeof none))) {
        memcpy((void *)(uintptr_t)l->workspace, &none, sizeof none);
        ptx_global_define(l->workspace, sizeof none);
    }
    int r = l->cooperative && !l->workspace ? CUDA_ERROR_OUT_OF_MEMORY : ptx_run(l);
    if (l->workspace)
        ptx_global_free(l->workspace);
    if (r)
        __atomic_store_n(&d->lost, r, __ATOMIC_RELAXED);
}

static bool is_done(const struct moment *r) { return __atomic_load_n(&r->done, __ATOMIC_ACQUIRE); }

static void do_moment(struct moment *r)
{
    r->when = ptx_nanoseconds();
    __atomic_store_n(&r->done, true, __ATOMIC_RELEASE);
}

/* Without a schedule another host thread is about to do it. */
static void wait_for_moment(const struct moment *r)
{
    while (!is_done(r))
        sched_yield();
}

static void do_copy(struct work *w)
{
    void *device_to = (void *)(uintptr_t)w->to;
    const void *device_from = (const void *)(uintptr_t)w->from;
    if (w->kind == WORK_UPLOAD) {
        memcpy(device_to, w->data, w->size);
        ptx_global_define(w->to, w->size);
    } else if (w->kind == WORK_DOWNLOAD) {
        memcpy(w->host_to, device_from, w->size);
    } else {
        memmove(device_to, device_from, w->size);
        memmove(ptx_shadow_of(w->to), ptx_shadow_of(w->from), w->size);
    }
}

static void do_call(struct device *d, const struct work *w)
{
    ptx_print_flush(d);
    w->call(w->argument);
}

static void do_work(struct device *d, struct work *w)
{
    if (w->kind == WORK_RECORD)
        do_moment(w->moment);
    else if (w->kind == WORK_WAIT)
        wait_for_moment(w->moment);
    else if (d->lost)
        return; /* sticky: nothing more is executed */
    else if (w->kind == WORK_LAUNCH)
        do_launch(d, &w->launch);
    else if (w->kind == WORK_CALL)
        do_call(d, w);
    else
        do_copy(w);
}

void ptx_moment_release(struct moment *r)
{
    if (r && !__atomic_sub_fetch(&r->uses, 1, __ATOMIC_ACQ_REL))
        free(r);
}

static void free_work(struct work *w)
{
    free(w->launch.params);
    free(w->data);
    ptx_moment_release(w->moment);
    free(w);
}

static void do_first(struct CUstream_st *s)
{
    struct work *w = s->first;
    s->first = w->next;
    if (!s->first)
        s->last = &s->first;
    do_work(s->device, w);
    free_work(w);
}

static bool is_ready(const struct CUstream_st *s)
{
    return s->first && (s->first->kind != WORK_WAIT || is_done(s->first->moment));
}

/* The first work of any stream; false: there is none. */
static bool do_any(void)
{
    struct CUstream_st *chosen = NULL;
    unsigned n = 0;
    for (struct CUstream_st *s = streams; s; s = s->next)
        if (is_ready(s) && ptx_random(&random_state) % ++n == 0)
            chosen = s;
    if (chosen)
        do_first(chosen);
    return chosen;
}

static void do_one(void)
{
    if (do_any())
        return;
    pthread_mutex_unlock(&lock);
    sched_yield();
    pthread_mutex_lock(&lock);
}

/* Now and then the device gets on with its work. */
static void do_some(void)
{
    while (ptx_random(&random_state) % 2 && do_any())
        ;
}

/* ------------------------------------------------------------------ for driver.c */
CUresult ptx_stream_add(CUstream s, struct work w)
{
    struct work *kept = malloc(sizeof *kept);
    if (!kept) {
        free(w.launch.params);
        free(w.data);
        ptx_moment_release(w.moment);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *kept = w;
    if (!ptx_settings.scheduled) {
        pthread_mutex_lock(&s->running);
        do_work(s->device, kept);
        pthread_mutex_unlock(&s->running);
        free_work(kept);
        return CUDA_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    if (!random_state)
        random_state = ptx_settings.seed * 0x9e3779b97f4a7c15ull + 1;
    kept->next = NULL;
    *s->last = kept;
    s->last = &kept->next;
    do_some();
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

void ptx_stream_finish(CUstream s)
{
    pthread_mutex_lock(&lock);
    while (s->first)
        do_one();
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&s->running);
    pthread_mutex_unlock(&s->running);
}

static bool is_busy(const struct device *d)
{
    for (const struct CUstream_st *s = streams; s; s = s->next)
        if (s->first && s->device == d)
            return true;
    return false;
}

void ptx_stream_finish_all(const struct device *d)
{
    pthread_mutex_lock(&lock);
    while (is_busy(d))
        do_one();
    pthread_mutex_unlock(&lock);
}

/* Functions of the host whose turn it is. */
static void do_calls(void)
{
    for (struct CUstream_st *s = streams; s; s = s->next)
        while (s->first && s->first->kind == WORK_CALL)
            do_first(s);
}

/* A program may see that an event has ended, or wait for it, and then wait for what a function
 * after it does, without a call. */
bool ptx_moment_is_done(struct moment *r)
{
    pthread_mutex_lock(&lock);
    if (!is_done(r))
        do_some();
    bool done = is_done(r);
    if (done)
        do_calls();
    pthread_mutex_unlock(&lock);
    return done;
}

void ptx_moment_finish(struct moment *r)
{
    pthread_mutex_lock(&lock);
    while (!is_done(r) && do_any())
        ;
    do_calls();
    pthread_mutex_unlock(&lock);
    wait_for_moment(r);
}

struct device *ptx_stream_device(CUstream s) { return s->device; }

void ptx_stream_free(CUstream s)
{
    ptx_stream_finish(s);
    pthread_mutex_lock(&lock);
    struct CUstream_st **at = &streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    pthread_mutex_unlock(&lock);
    pthread_mutex_destroy(&s->running);
    free(s);
}
