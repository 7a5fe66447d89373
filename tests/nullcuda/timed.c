/* timed.c - nullcuda with work that takes time: NULLCUDA_KERNEL_US=N is set.
 *
 * One thread does the work of all streams, at the moments that a model names: a kernel takes N microseconds, NULLCUDA_KERNELS of them run
 * at a time; a copy takes its bytes divided by NULLCUDA_BYTES_PER_US, one in each direction at a time; functions of the host
 * take NULLCUDA_CALL_US, else none, one at a time.
 * Work begins when it was asked for and what is before it has ended, in the model's time: should the thread come late, since the machine
 * has other things to do, later work does not become later.  So the time from the first to the last is that of the schedule, as long as
 * the host asks early enough.  To ask takes the host little: the thread looks for new work every 20 microseconds, and is woken only after
 * a while without any. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "timed.h"

enum { MOST_KERNELS = 64 };
struct work {
    struct timed_work w;
    struct work *next;
    unsigned long number;                           /* of the event */
    double asked, end;                              /* end: 0 before it has begun */
};
struct timed_stream { struct timed_stream *next; struct work *first, **last; double time; };
struct timed_event { unsigned long recorded, reached; double time; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;          /* guards all below */
static pthread_cond_t added, done;
static bool idle;                                                 /* the thread waits for work: there was none for a while */
static unsigned waiting;                                          /* threads that wait for the end of some */
static struct timed_stream *streams;
static double way_in, way_out, calls, kernels[MOST_KERNELS];             /* when they are free */
static double kernel_us, call_us, bytes_per_us, began, last_end;
static unsigned nkernels;

static double setting(const char *name, double otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atof(text) : otherwise;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double later(double a, double b) { return a > b ? a : b; }

/* ------------------------------------------------------------------ the model */
static double *free_kernel(void)
{
    double *best = kernels;
    for (unsigned i = 1; i < nkernels; i++)
        if (kernels[i] < *best)
            best = &kernels[i];
    return best;
}

static double *resource_of(const struct work *w)
{
    return w->w.kind == TIMED_KERNEL ? free_kernel() : w->w.kind == TIMED_IN ? &way_in : w->w.kind == TIMED_OUT ? &way_out
           : w->w.kind == TIMED_CALL ? &calls : NULL;
}

static double duration(const struct work *w)
{
    return w->w.kind == TIMED_KERNEL ? kernel_us : w->w.kind <= TIMED_WITHIN ? (double)w->w.size / bytes_per_us
           : w->w.kind == TIMED_CALL ? call_us : 0;
}

/* The moment of what comes next in the stream, its begin or its end; negative: it waits for an event. */
static double next_moment(const struct timed_stream *s)
{
    const struct work *w = s->first;
    if (w->end > 0)
        return w->end;
    if (w->w.kind == TIMED_WAIT && w->w.event->reached < w->number)
        return -1;
    const double *resource = resource_of(w);
    double t = later(later(s->time, w->asked), resource ? *resource : 0);
    return w->w.kind == TIMED_WAIT ? later(t, w->w.event->time) : t;
}

static struct timed_stream *choose(double *moment)
{
    struct timed_stream *best = NULL;
    for (struct timed_stream *s = streams; s; s = s->next) {
        double t = s->first ? next_moment(s) : -1;
        if (t >= 0 && (!best || t < *moment))
            best = s, *moment = t;
    }
    return best;
}

static void begin(const struct timed_stream *s, double moment)
{
    struct work *w = s->first;
    double *resource = resource_of(w);
    w->end = moment + duration(w);
    if (resource)
        *resource = w->end;
}

static void end(struct timed_stream *s)
{
    struct work *w = s->first;
    s->time = w->end;
    last_end = later(last_end, s->time);
    if (w->w.kind == TIMED_RECORD)
        w->w.event->reached = w->number, w->w.event->time = s->time;
    pthread_mutex_unlock(&lock);
    if (w->w.kind <= TIMED_WITHIN)
        memmove(w->w.dst, w->w.src, w->w.size);
    if (w->w.kind == TIMED_CALL)
        w->w.call(w->w.argument);
    pthread_mutex_lock(&lock);
    s->first = w->next;
    if (!s->first)
        s->last = &s->first;
    free(w);
    if (waiting)
        pthread_cond_broadcast(&done);
}

static void await_work(double until)
{
    enum { TICK = 20 };
    double tick = now() + TICK, t = until < tick ? until : tick;
    struct timespec moment = { (time_t)(t / 1e6), 0 };
    moment.tv_nsec = (long)((t - (double)moment.tv_sec * 1e6) * 1e3);
    pthread_cond_timedwait(&added, &lock, &moment);
}

static void *run(void *unused)
{
    enum { WHILE = 10000 };
    double last = now();
    pthread_mutex_lock(&lock);
    for (;;) {
        double moment = 0;
        struct timed_stream *s = choose(&moment);
        if (s)
            last = moment;
        idle = !s && now() > last + WHILE;
        if (idle) {
            pthread_cond_wait(&added, &lock);
            last = now();
        } else if (!s || moment > now()) {
            if (!s)
                moment = now() + WHILE;
            await_work(moment);
        } else if (s->first->end > 0) {
            end(s);
        } else {
            begin(s, moment);
        }
    }
    return unused;
}

static void start(void)
{
    pthread_condattr_t monotonic;
    pthread_t thread;
    kernel_us = setting("NULLCUDA_KERNEL_US", 0);
    if (kernel_us <= 0)
        return;
    call_us = setting("NULLCUDA_CALL_US", 0);
    bytes_per_us = setting("NULLCUDA_BYTES_PER_US", 20000);
    nkernels = (unsigned)setting("NULLCUDA_KERNELS", 16);
    nkernels = nkernels < 1 ? 1 : nkernels > MOST_KERNELS ? MOST_KERNELS : nkernels;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&added, &monotonic);
    pthread_cond_init(&done, NULL);
    pthread_create(&thread, NULL, run, NULL);
    pthread_detach(thread);
}

/* ------------------------------------------------------------------ calls of nullcuda.c */
bool timed_on(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    return kernel_us > 0;
}

struct timed_stream *timed_stream_new(void)
{
    struct timed_stream *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    pthread_mutex_lock(&lock);
    s->last = &s->first;
    s->next = streams, streams = s;
    pthread_mutex_unlock(&lock);
    return s;
}

void timed_stream_end(struct timed_stream *s)
{
    struct timed_stream **p = &streams;
    timed_await_stream(s);
    pthread_mutex_lock(&lock);
    while (*p != s)
        p = &(*p)->next;
    *p = s->next;
    pthread_mutex_unlock(&lock);
    free(s);
}

struct timed_event *timed_event_new(void) { return calloc(1, sizeof(struct timed_event)); }

void timed_add(struct timed_stream *s, struct timed_work work)
{
    struct work *w = calloc(1, sizeof *w);
    if (!w)
        abort();
    w->w = work;
    w->asked = now();
    pthread_mutex_lock(&lock);
    if (work.kind == TIMED_RECORD)
        w->number = ++work.event->recorded;
    if (work.kind == TIMED_WAIT)
        w->number = work.event->recorded;
    *s->last = w;
    s->last = &w->next;
    if (idle)
        pthread_cond_signal(&added);
    pthread_mutex_unlock(&lock);
}

/* Lock held. */
static void await_end(void)
{
    waiting++;
    pthread_cond_wait(&done, &lock);
    waiting--;
}

void timed_await_stream(struct timed_stream *s)
{
    pthread_mutex_lock(&lock);
    while (s->first)
        await_end();
    pthread_mutex_unlock(&lock);
}

void timed_await_event(struct timed_event *e)
{
    pthread_mutex_lock(&lock);
    unsigned long number = e->recorded;
    while (e->reached < number)
        await_end();
    pthread_mutex_unlock(&lock);
}

bool timed_stream_is_done(struct timed_stream *s)
{
    pthread_mutex_lock(&lock);
    bool done = !s->first;
    pthread_mutex_unlock(&lock);
    return done;
}

bool timed_event_is_done(struct timed_event *e)
{
    pthread_mutex_lock(&lock);
    bool done = e->reached >= e->recorded;
    pthread_mutex_unlock(&lock);
    return done;
}

double nullcuda_span(bool from_now)
{
    pthread_mutex_lock(&lock);
    double span = last_end - began;
    if (from_now)
        began = now();
    pthread_mutex_unlock(&lock);
    return span;
}
