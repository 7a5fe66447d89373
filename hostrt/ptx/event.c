/* event.c - events: to record one is work of a stream, as is to wait for where it was recorded
 * last. */
#include <stdlib.h>
#include "hostrt/ptx/beyond.h"
#include "hostrt/ptx/machine.h"

struct CUevent_st {
    struct device *device;
    bool timed;
    struct moment *last; /* NULL: never recorded */
};

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
    e->timed = !(flags & CU_EVENT_DISABLE_TIMING);
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
    ptx_moment_release(e->last);
    e->last = new;
    return ptx_stream_add(s, (struct work){ .kind = WORK_RECORD, .moment = new });
}

/* An event that was never recorded is not waited for. */
EXPORT CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (!e->last)
        return CUDA_SUCCESS;
    __atomic_add_fetch(&e->last->uses, 1, __ATOMIC_RELAXED);
    return ptx_stream_add(s, (struct work){ .kind = WORK_WAIT, .moment = e->last });
}

EXPORT CUresult cuEventQuery(CUevent e)
{
    if (e->last && !ptx_moment_is_done(e->last))
        return CUDA_ERROR_NOT_READY;
    return (CUresult)e->device->lost;
}

EXPORT CUresult cuEventSynchronize(CUevent e)
{
    if (e->last)
        ptx_moment_finish(e->last);
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
    ptx_moment_release(e->last);
    free(e);
    return CUDA_SUCCESS;
}
