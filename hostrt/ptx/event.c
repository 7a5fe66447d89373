/* event.c - events: to record one is work of a stream, as is to wait for where it was recorded
 * last. */
#include <stdlib.h>
#include "hostrt/ptx/beyond.h"
#include "hostrt/ptx/machine.h"

struct CUevent_st {
    struct device *device;
    bool timed;
    pthread_mutex_t lock;
    struct moment *last;           /* NULL: never recorded; guarded by lock */
    struct CUevent_st *next, **at; /* in `events`; *at is this one */
};

/* Those that live: of a device that is lost some are never destroyed. */
static struct CUevent_st *events;
static pthread_mutex_t events_lock = PTHREAD_MUTEX_INITIALIZER;

static void enter_list(CUevent e)
{
    pthread_mutex_lock(&events_lock);
    e->next = events, e->at = &events;
    if (events)
        events->at = &e->next;
    events = e;
    pthread_mutex_unlock(&events_lock);
}

static void leave_list(CUevent e)
{
    pthread_mutex_lock(&events_lock);
    *e->at = e->next;
    if (e->next)
        e->next->at = e->at;
    pthread_mutex_unlock(&events_lock);
}

/* Another host thread may record it anew meanwhile. */
static struct moment *last_moment(CUevent e)
{
    pthread_mutex_lock(&e->lock);
    struct moment *r = e->last;
    if (r)
        __atomic_add_fetch(&r->uses, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&e->lock);
    return r;
}

EXPORT CUresult cuEventCreate(CUevent *out, unsigned flags)
{
    CUresult r;
    struct device *d = ptx_current(&r);
    if (r)
        return r;
    if (flags & ~(unsigned)(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_VALUE;
    CUevent e = calloc(1, sizeof *e);
    if (!e)
        return CUDA_ERROR_OUT_OF_MEMORY;
    e->device = d;
    pthread_mutex_init(&e->lock, NULL);
    e->timed = !(flags & CU_EVENT_DISABLE_TIMING);
    enter_list(e);
    *out = e;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuEventRecord(CUevent e, CUstream s)
{
    if (ptx_stream_device(s) != e->device)
        return CUDA_ERROR_INVALID_HANDLE;
    struct moment *new = calloc(1, sizeof *new);
    if (!new)
        return CUDA_ERROR_OUT_OF_MEMORY;
    new->uses = 2;
    pthread_mutex_lock(&e->lock);
    struct moment *old = e->last;
    e->last = new;
    pthread_mutex_unlock(&e->lock);
    ptx_moment_release(old);
    return ptx_stream_add(s, (struct work){ .kind = WORK_RECORD, .moment = new });
}

/* An event that was never recorded is not waited for. */
EXPORT CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    struct moment *r = last_moment(e);
    return r ? ptx_stream_add(s, (struct work){ .kind = WORK_WAIT, .moment = r }) : CUDA_SUCCESS;
}

EXPORT CUresult cuEventQuery(CUevent e)
{
    struct moment *r = last_moment(e);
    bool done = !r || ptx_moment_is_done(r);
    ptx_moment_release(r);
    return done ? (CUresult)e->device->lost : CUDA_ERROR_NOT_READY;
}

EXPORT CUresult cuEventSynchronize(CUevent e)
{
    struct moment *r = last_moment(e);
    if (r)
        ptx_moment_finish(r);
    ptx_moment_release(r);
    ptx_print_flush(e->device);
    return (CUresult)e->device->lost;
}

EXPORT CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent from, CUevent to)
{
    if (!from->timed || !to->timed || !from->last || !to->last || from->device != to->device)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!ptx_moment_is_done(from->last) || !ptx_moment_is_done(to->last))
        return CUDA_ERROR_NOT_READY;
    *milliseconds = (float)(int64_t)(to->last->when - from->last->when) * 1e-6f;
    return (CUresult)from->device->lost;
}

EXPORT CUresult cuEventDestroy_v2(CUevent e)
{
    leave_list(e);
    ptx_moment_release(e->last);
    pthread_mutex_destroy(&e->lock);
    free(e);
    return CUDA_SUCCESS;
}
