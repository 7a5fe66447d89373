/* wait.c - how threads wait for the device.
 *
 * A question whether something has ended takes one or two microseconds, and who sleeps is woken
 * some 50 late.  A host thread whose program waits asks as long as those 50 would show; a thread of
 * the plugin's own asks in a way that others hardly notice. */
#include <sched.h>
#include <time.h>
#include "hostrt/cuda/cuda.h"

/* Others may have the processor.  Where they keep it longer than to wake up takes, it is better to
 * sleep: who does gets it when he wants it, or another one that is free.  A thread that waits for
 * the OpenMP library does not give way, and keeps it for a whole slice, each time. */
static void give_way(struct cuda_asking *a, double now)
{
    const double most = 0.1, slice = 1.5, some_time = 50; /* milliseconds */
    sched_yield();
    double then = ompgpu_clock();
    a->crowded = then - now > most;
    if (then - now > slice)
        a->taken = then + some_time;
}

static void begin(struct cuda_asking *a, double now)
{
    if (!a->begun)
        a->begun = true, a->crowded = false, a->since = now;
}

bool ompgpu_cuda_asks(struct cuda_asking *a)
{
    const double eagerly = 0.2, most = 10; /* milliseconds */
    double now = ompgpu_clock();
    begin(a, now);
    double asked = now - a->since;
    if (asked < eagerly)
        __builtin_ia32_pause();
    else if (asked < most)
        give_way(a, now);
    return asked < most && !a->crowded;
}

double ompgpu_cuda_rest(struct cuda_asking *a)
{
    const double pause = 0.003, awake = 1, least = 0.02, most = 1; /* milliseconds */
    const bool spins = ompgpu_settings.wait == OMPGPU_WAIT_SPIN,
               sleeps = ompgpu_settings.wait == OMPGPU_WAIT_BLOCK;
    double now = ompgpu_clock();
    begin(a, now);
    double asked = now - a->since, part = asked / 32;
    if (!spins && (sleeps || a->crowded || now < a->taken || asked >= awake))
        return part < least ? least : part < most ? part : most;
    while (ompgpu_clock() - now < pause)
        __builtin_ia32_pause();
    if (!spins)
        give_way(a, ompgpu_clock());
    return 0;
}

/* By an event, whatever the context's way to wait is, which may be the program's choice.  Where
 * that fails, the driver waits in its own way. */
static void sleep_until_done(CUstream stream, CUevent *e)
{
    const unsigned flags = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
    if (!*e && ompgpu_cuda.cuEventCreate(e, flags))
        *e = NULL;
    if (*e && !ompgpu_cuda.cuEventRecord(*e, stream))
        ompgpu_cuda.cuEventSynchronize(*e);
}

static __attribute__((noinline)) CUresult await_long(CUstream stream, CUevent *sleep,
                                                     CUresult asked, const char **call)
{
    struct cuda_asking asking = { 0 };
    while (asked == CUDA_ERROR_NOT_READY && ompgpu_cuda_asks(&asking))
        asked = ompgpu_cuda.cuStreamQuery(stream);
    if (asked == CUDA_SUCCESS)
        return CUDA_SUCCESS;
    if (asked == CUDA_ERROR_NOT_READY)
        sleep_until_done(stream, sleep);
    CUresult err = ompgpu_cuda.cuStreamSynchronize(stream);
    bool first = !err && asked != CUDA_ERROR_NOT_READY;
    *call = first ? "cuStreamQuery" : "cuStreamSynchronize";
    return first ? asked : err;
}

CUresult ompgpu_cuda_await_stream(CUstream stream, CUevent *sleep, const char **call)
{
    if (!ompgpu_cuda_may_ask()) {
        *call = "cuStreamSynchronize";
        return ompgpu_cuda.cuStreamSynchronize(stream);
    }
    CUresult asked = ompgpu_cuda.cuStreamQuery(stream);
    return __builtin_expect(asked == CUDA_SUCCESS, 1) ? CUDA_SUCCESS
                                                      : await_long(stream, sleep, asked, call);
}

CUresult ompgpu_cuda_await_quietly(CUstream stream, const char **call)
{
    struct cuda_asking asking = { 0 };
    CUresult err = CUDA_ERROR_NOT_READY;
    if (ompgpu_settings.device_kind == OMPGPU_KIND_PTX) {
        *call = "cuStreamSynchronize";
        return ompgpu_cuda.cuStreamSynchronize(stream);
    }
    *call = "cuStreamQuery";
    while ((err = ompgpu_cuda.cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY) {
        double milliseconds = ompgpu_cuda_rest(&asking);
        const struct timespec t = { .tv_nsec = (long)(milliseconds * 1e6) };
        if (milliseconds > 0)
            nanosleep(&t, NULL);
    }
    return err;
}
