/* stage.c - large copies between pageable memory and a device, by several host threads.
 *
 * For the driver one thread moves pageable memory through pinned memory of its own: a sixth of what
 * the bus can carry.  Here several threads do, each with a seat: a stream and two pinned buffers.
 * They take pieces of a copy, the job, until none is left.
 *
 *      to the device   wait until the buffer is free, fill it, cuMemcpyHtoDAsync, record its event
 *      to the host     empty the buffer if something was under way, cuMemcpyDtoHAsync, record
 *
 * So one buffer of a seat is on its way while the host works on the other.  The thread that wants
 * the copy takes part, and helpers, which are started with the first job.  Jobs of several threads
 * share seats and helpers: who is free takes a piece of the one that has least left to do, the
 * oldest of equal ones.  So a small copy does not wait for large ones, and equal ones end one after
 * the other.
 *
 * The stream of a job has nothing to do when the job begins.  It waits on the device for the last
 * piece of each seat that took part, if they go there; what goes to the host is there when the
 * function returns. */
#include <sched.h>
#include <string.h>
#include "hostrt/cuda/cuda.h"

enum {
    LEAST = 1 << 20,         /* bytes of a copy */
    LARGEST_PIECE = 2 << 20, /* as a buffer */
    SMALLEST_PIECE = 256 << 10,
    MOST_BY_DEFAULT = 8, /* threads */
    MOST_THREADS = OMPGPU_MOST_COPY_THREADS
};
struct buffer {
    char *bytes;
    CUevent event;
    bool busy;   /* a copy is under way, until the event has come, … */
    char *to;    /* … and then goes to this place; NULL: to none … */
    size_t size; /* … so many bytes of it */
};
struct seat {
    struct seat *next;
    CUstream stream;
    struct buffer buffers[2];
    unsigned turn;
};
struct job {
    struct job *next;
    int ordinal;
    bool in; /* to the device */
    char *device, *host;
    size_t size, piece;
    size_t begun;    /* bytes */
    unsigned active; /* threads that are at work; atomic */
    CUstream stream; /* the caller's */
    CUresult err;    /* of the first call that failed; the rest is not copied then */
    const char *call;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  /* guards all below; never with a call */
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;  /* helpers */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* a seat is free, a job has ended */
static struct job *jobs, **last_job = &jobs;
static struct {
    struct seat *free;
    unsigned n;       /* seats, in use or not */
    unsigned helpers; /* that are at the device */
    bool no_more;     /* there was no memory for another one */
} seats[CUDA_MAX_DEVICES];
static unsigned threads; /* that take part in a job at most */
static pthread_t helpers[MOST_THREADS];
static unsigned nhelpers, idle, waiters;
static bool stop;

/* A call of the driver, of which the name is noted. */
#define NOTE(call, f, ...) (*(call) = #f, ompgpu_cuda.f(__VA_ARGS__))

/* ------------------------------------------------------------------ which copies */
unsigned ompgpu_cuda_copy_threads(void)
{
    cpu_set_t set;
    if (ompgpu_settings.copy_threads)
        return (unsigned)ompgpu_settings.copy_threads;
    unsigned n = sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set) / 2;
    return n < MOST_BY_DEFAULT ? n : MOST_BY_DEFAULT;
}

/* The driver does not know it.  (Of one address cuPointerGetAttribute() makes an error of that,
 * which compute-sanitizer reports.) */
bool ompgpu_cuda_is_pageable(const void *host)
{
    CUpointer_attribute which = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    unsigned type = 0;
    void *data = &type;
    return ompgpu_cuda.cuPointerGetAttributes(1, &which, &data, (CUdeviceptr)host) || !type;
}

bool ompgpu_cuda_is_staged(const void *host, size_t size)
{
    return size >= LEAST && ompgpu_settings.device_kind != OMPGPU_KIND_PTX &&
           ompgpu_cuda_copy_threads() > 1 && ompgpu_cuda_is_pageable(host);
}

/* ------------------------------------------------------------------ pieces
 * By a thread that has a seat; no lock is held. */
static CUresult settle(struct buffer *b, const char **call)
{
    CUresult err = b->busy ? NOTE(call, cuEventSynchronize, b->event) : CUDA_SUCCESS;
    if (err)
        return err;
    if (b->busy && b->to)
        memcpy(b->to, b->bytes, b->size);
    b->busy = false;
    return CUDA_SUCCESS;
}

static CUresult copy_piece(const struct job *j, struct seat *s, size_t at, size_t size,
                           const char **call)
{
    struct buffer *b = &s->buffers[s->turn++ % 2];
    CUdeviceptr device = (CUdeviceptr)(j->device + at);
    CUresult err = settle(b, call);
    if (err)
        return err;
    if (j->in) {
        memcpy(b->bytes, j->host + at, size);
        err = NOTE(call, cuMemcpyHtoDAsync, device, b->bytes, size, s->stream);
    } else {
        err = NOTE(call, cuMemcpyDtoHAsync, b->bytes, device, size, s->stream);
    }
    if (!err)
        err = NOTE(call, cuEventRecord, b->event, s->stream);
    b->busy = !err;
    b->to = j->in ? NULL : j->host + at, b->size = size;
    return err;
}

/* After the last piece. */
static CUresult end_pieces(const struct job *j, struct seat *s, const char **call)
{
    if (j->in)
        return NOTE(call, cuStreamWaitEvent, j->stream, s->buffers[(s->turn - 1) % 2].event, 0);
    CUresult err = settle(&s->buffers[s->turn % 2], call);
    return err ? err : settle(&s->buffers[(s->turn + 1) % 2], call);
}

/* What a failed job has under way goes nowhere. */
static void clear_seat(struct seat *s)
{
    ompgpu_cuda.cuStreamSynchronize(s->stream);
    s->buffers[0].busy = s->buffers[1].busy = false;
}

/* ------------------------------------------------------------------ jobs
 * Lock held. */
static size_t bytes_left(const struct job *j) { return j->size - j->begun; }

/* NULL: nothing is left to begin. */
static struct job *choose_job(int ordinal)
{
    struct job *best = NULL;
    for (struct job *j = jobs; j; j = j->next)
        if (j->ordinal == ordinal && bytes_left(j) && (!best || bytes_left(j) < bytes_left(best)))
            best = j;
    return best;
}

static void fail_job(struct job *j, CUresult err, const char *call)
{
    if (!j->err)
        j->err = err, j->call = call;
    j->begun = j->size;
}

static void tell_waiters(void)
{
    if (waiters)
        pthread_cond_broadcast(&changed);
}

static void wait_for_change(void)
{
    waiters++;
    pthread_cond_wait(&changed, &lock);
    waiters--;
}

/* Each that comes calls two more. */
static void call_helpers(void)
{
    for (unsigned i = 0; i < 2 && i < idle; i++)
        pthread_cond_signal(&wanted);
}

/* Pieces of this job as long as there are some, and no job has less left. */
static void take_part(struct job *j, struct seat *s)
{
    const char *call = NULL;
    CUresult err = CUDA_SUCCESS;
    __atomic_add_fetch(&j->active, 1, __ATOMIC_RELAXED);
    do {
        size_t at = j->begun, size = bytes_left(j) < j->piece ? bytes_left(j) : j->piece;
        j->begun += size;
        pthread_mutex_unlock(&lock);
        err = copy_piece(j, s, at, size, &call);
        pthread_mutex_lock(&lock);
    } while (!err && choose_job(j->ordinal) == j);
    pthread_mutex_unlock(&lock);
    if (!err)
        err = end_pieces(j, s, &call);
    if (err)
        clear_seat(s);
    pthread_mutex_lock(&lock);
    if (err)
        fail_job(j, err, call);
    if (!__atomic_sub_fetch(&j->active, 1, __ATOMIC_RELEASE))
        tell_waiters();
}

/* ------------------------------------------------------------------ seats */
static void free_seat(struct seat *s, bool driver_alive)
{
    for (unsigned i = 0; driver_alive && i < 2; i++)
        if (s->buffers[i].event)
            ompgpu_cuda.cuEventDestroy(s->buffers[i].event);
    if (driver_alive && s->stream)
        ompgpu_cuda.cuStreamDestroy(s->stream);
    if (driver_alive && s->buffers[0].bytes)
        ompgpu_cuda.cuMemFreeHost(s->buffers[0].bytes);
    ompgpu_xfree(s);
}

/* The device is current. */
static struct seat *new_seat(void)
{
    enum { PORTABLE = 1 };
    const unsigned flags = CU_EVENT_DISABLE_TIMING |
                           (ompgpu_settings.wait == OMPGPU_WAIT_BLOCK ? CU_EVENT_BLOCKING_SYNC : 0);
    struct seat *s = ompgpu_xalloc(sizeof *s);
    char *bytes;
    if (!s)
        return NULL;
    if (ompgpu_cuda.cuMemHostAlloc((void **)&bytes, 2 * LARGEST_PIECE, PORTABLE)) {
        ompgpu_xfree(s);
        return NULL;
    }
    s->buffers[0].bytes = bytes, s->buffers[1].bytes = bytes + LARGEST_PIECE;
    if (ompgpu_cuda.cuStreamCreate(&s->stream, 0) ||
        ompgpu_cuda.cuEventCreate(&s->buffers[0].event, flags) ||
        ompgpu_cuda.cuEventCreate(&s->buffers[1].event, flags)) {
        free_seat(s, true);
        return NULL;
    }
    return s;
}

/* Lock held, as for what follows. */
static struct seat *take_free(int ordinal)
{
    struct seat *s = seats[ordinal].free;
    if (s)
        seats[ordinal].free = s->next;
    return s;
}

/* The lock is not held while a new one is made.  NULL: all are in use, and there can
 * be no more. */
static struct seat *get_seat(int ordinal)
{
    struct seat *s = take_free(ordinal);
    if (s)
        return s;
    if (seats[ordinal].no_more || seats[ordinal].n >= threads)
        return NULL;
    seats[ordinal].n++;
    pthread_mutex_unlock(&lock);
    s = new_seat();
    pthread_mutex_lock(&lock);
    if (!s) {
        seats[ordinal].n--, seats[ordinal].no_more = true;
        tell_waiters();
    }
    return s ? s : take_free(ordinal);
}

static bool may_get_seat(int ordinal)
{
    return seats[ordinal].free || (!seats[ordinal].no_more && seats[ordinal].n < threads);
}

static void put_seat(int ordinal, struct seat *s)
{
    s->next = seats[ordinal].free, seats[ordinal].free = s;
    tell_waiters();
    if (choose_job(ordinal))
        call_helpers();
}

/* ------------------------------------------------------------------ helpers */
/* Of any device on which a thread more can take part. */
static struct job *find_job(void)
{
    struct job *best = NULL;
    for (struct job *j = jobs; j; j = j->next)
        if (bytes_left(j) && may_get_seat(j->ordinal) &&
            (!best || bytes_left(j) < bytes_left(best)))
            best = j;
    return best;
}

/* The job may have ended once the device is current and there is a seat. */
static void help_device(int ordinal)
{
    seats[ordinal].helpers++;
    pthread_mutex_unlock(&lock);
    CUresult err = ompgpu_cuda.cuCtxSetCurrent(ompgpu_cuda_context(ordinal));
    pthread_mutex_lock(&lock);
    struct seat *s = err ? NULL : get_seat(ordinal);
    struct job *j = choose_job(ordinal);
    if (err && j)
        fail_job(j, err, "cuCtxSetCurrent");
    for (; s && j; j = choose_job(ordinal))
        take_part(j, s);
    if (s)
        put_seat(ordinal, s);
    if (!--seats[ordinal].helpers)
        tell_waiters();
}

static void *help(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!stop) {
        const struct job *j = find_job();
        if (j) {
            call_helpers();
            help_device(j->ordinal);
        } else {
            idle++;
            pthread_cond_wait(&wanted, &lock);
            idle--;
        }
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

/* Fewer than wished for only make it slower. */
static void start_helpers(void)
{
    while (nhelpers + 1 < threads && !ompgpu_quiet_thread(&helpers[nhelpers], help, NULL))
        nhelpers++;
}

/* ------------------------------------------------------------------ for plugin.c and queue.c */
static size_t choose_piece(size_t size)
{
    const size_t page = 4096, part = size / (2 * threads);
    size_t piece = (part + page - 1) & ~(page - 1);
    return piece < SMALLEST_PIECE ? SMALLEST_PIECE : piece < LARGEST_PIECE ? piece : LARGEST_PIECE;
}

/* Until all of it has been begun, by whomever.  false: the device has no seat. */
static bool begin_all(struct job *j)
{
    struct seat *s = get_seat(j->ordinal);
    while (bytes_left(j) && (s || seats[j->ordinal].n)) {
        if (s)
            take_part(choose_job(j->ordinal), s);
        else
            wait_for_change();
        if (!s && bytes_left(j))
            s = get_seat(j->ordinal);
    }
    if (s)
        put_seat(j->ordinal, s);
    return !bytes_left(j);
}

/* … and is done. */
static void await_end(struct job *j)
{
    struct cuda_asking asking = { 0 };
    pthread_mutex_unlock(&lock);
    while (__atomic_load_n(&j->active, __ATOMIC_ACQUIRE) && ompgpu_cuda_may_ask() &&
           ompgpu_cuda_asks(&asking))
        ;
    pthread_mutex_lock(&lock);
    while (j->active)
        wait_for_change();
}

static void add_job(struct job *j)
{
    *last_job = j;
    last_job = &j->next;
    call_helpers();
}

static void remove_job(struct job *j)
{
    struct job **p = &jobs;
    while (*p != j)
        p = &(*p)->next;
    if (!(*p = j->next))
        last_job = p;
}

int ompgpu_cuda_stage(int ordinal, CUstream stream, bool in, void *device, void *host, size_t size)
{
    struct job j = {
        .ordinal = ordinal, .in = in, .device = device, .host = host, .size = size, .stream = stream
    };
    pthread_mutex_lock(&lock);
    threads = ompgpu_cuda_copy_threads();
    j.piece = choose_piece(size);
    start_helpers();
    add_job(&j);
    bool possible = begin_all(&j);
    await_end(&j);
    remove_job(&j);
    pthread_mutex_unlock(&lock);
    return !possible ? -1 : ompgpu_cuda_check(ordinal, j.err, j.call, "%s", "");
}

/* No copy is at work, but a helper may just be leaving. */
void ompgpu_cuda_stage_close(int ordinal, bool driver_alive)
{
    pthread_mutex_lock(&lock);
    while (seats[ordinal].helpers)
        wait_for_change();
    for (struct seat *s; (s = seats[ordinal].free);) {
        seats[ordinal].free = s->next;
        free_seat(s, driver_alive);
    }
    seats[ordinal].n = 0;
    seats[ordinal].no_more = false;
    pthread_mutex_unlock(&lock);
}

void ompgpu_cuda_helpers_end(void)
{
    pthread_mutex_lock(&lock);
    stop = true;
    pthread_cond_broadcast(&wanted);
    pthread_mutex_unlock(&lock);
    while (nhelpers)
        pthread_join(helpers[--nhelpers], NULL);
    stop = false;
}

/* A child has neither helpers nor jobs, and does not use what is the driver's. */
void ompgpu_cuda_stage_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE) {
        pthread_mutex_lock(&lock);
        return;
    }
    if (when == OMPGPU_FORK_CHILD) {
        jobs = NULL, last_job = &jobs;
        nhelpers = idle = waiters = 0;
        memset(seats, 0, sizeof seats);
        pthread_cond_init(&wanted, NULL);
        pthread_cond_init(&changed, NULL);
    }
    pthread_mutex_unlock(&lock);
}
