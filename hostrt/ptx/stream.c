/* stream.c - streams: copies and launches that the host has asked for.
 *
 * Each is done at once, before the call returns; with OMPGPU_PTX_SCHEDULE at some time before its
 * stream is next synchronised, streams in any order by the seed, each in its own.  What is pending
 * in other streams is done, too, where the driver may wait for the device: free, unload.  The
 * source of a copy to the device is pageable memory, which is read before the call returns. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/machine.h"

struct CUstream_st {
    struct device *device;
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
    s->last = &s->first;
    streams = s;
    pthread_mutex_unlock(&lock);
    return s;
}

/* ------------------------------------------------------------------ doing it */
static void do_launch(struct device *d, struct launch *l)
{
    int r = ptx_run(l);
    fflush(stdout);
    if (r)
        __atomic_store_n(&d->lost, r, __ATOMIC_RELAXED);
}

static void do_work(struct device *d, struct work *w)
{
    void *device_to = (void *)(uintptr_t)w->to;
    const void *device_from = (const void *)(uintptr_t)w->from;
    if (d->lost) /* sticky: nothing more is executed */
        return;
    switch (w->kind) {
    case WORK_UPLOAD:
        memcpy(device_to, w->data, w->size);
        ptx_global_define(w->to, w->size);
        break;
    case WORK_DOWNLOAD: memcpy(w->host_to, device_from, w->size); break;
    case WORK_COPY:
        memmove(device_to, device_from, w->size);
        memmove(ptx_shadow_of(w->to), ptx_shadow_of(w->from), w->size);
        break;
    case WORK_LAUNCH: do_launch(d, &w->launch); break;
    }
}

static void free_work(struct work *w)
{
    free(w->launch.params);
    free(w->data);
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

/* A stream with something to do, any of them; NULL: there is none. */
static struct CUstream_st *any_stream(const struct device *d)
{
    struct CUstream_st *chosen = NULL;
    unsigned n = 0;
    for (struct CUstream_st *s = streams; s; s = s->next)
        if (s->first && s->device == d && ptx_random(&random_state) % ++n == 0)
            chosen = s;
    return chosen;
}

/* ------------------------------------------------------------------ for driver.c */
CUresult ptx_stream_add(CUstream s, struct work w)
{
    struct work *kept = malloc(sizeof *kept);
    if (!kept) {
        free(w.launch.params);
        free(w.data);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *kept = w;
    if (!ptx_settings.scheduled) {
        do_work(s->device, kept);
        free_work(kept);
        return CUDA_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    if (!random_state)
        random_state = ptx_settings.seed * 0x9e3779b97f4a7c15ull + 1;
    kept->next = NULL;
    *s->last = kept;
    s->last = &kept->next;
    struct CUstream_st *some;
    while (ptx_random(&random_state) % 2 && (some = any_stream(s->device)))
        do_first(some);
    pthread_mutex_unlock(&lock);
    return CUDA_SUCCESS;
}

void ptx_stream_finish(CUstream s)
{
    pthread_mutex_lock(&lock);
    while (s->first)
        do_first(any_stream(s->device));
    pthread_mutex_unlock(&lock);
}

void ptx_stream_finish_all(const struct device *d)
{
    struct CUstream_st *s;
    pthread_mutex_lock(&lock);
    while ((s = any_stream(d)))
        do_first(s);
    pthread_mutex_unlock(&lock);
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
    free(s);
}
