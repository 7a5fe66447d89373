/* queue.c - rank 0: queues and events of devices of other nodes.
 *
 * What is put into a queue waits for nothing and is read in its turn, so that each queue has a
 * thread, which sends the messages, and a lane.  It waits only where the order asks for it: before
 * it reads what is copied to the device after something that may write it on the host, and for an
 * event of another worker.  The worker lets a lane wait for an event of another one of its lanes.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/mpi/mpi.h"

struct event {
    unsigned id;
    unsigned long recorded; /* how often it was put into a queue */
    unsigned long sent;     /* … and the queue's thread has sent that: under `lane`, `serial` */
    struct queue *queue;    /* of the last one */
    struct mpi_lane *lane;
    uint64_t serial;
};
struct work {
    struct work *next;
    enum { TO_DEVICE, FROM_DEVICE, COPY, LAUNCH, CALL, WAIT, RECORD, FLUSH } kind;
    void *dst;
    const void *src;
    size_t size;
    struct ompgpu_function *f;
    unsigned teams, threads;
    void **params;
    void (*call)(void *);
    void *argument;
    struct event *event;
    unsigned long number; /* of the event */
};
struct queue {
    struct mpi_lane *lane;
    pthread_t thread;
    pthread_cond_t filled;
    struct work *first, **last;
    bool stop, failed;
    bool host_changes;  /* by what is before it: copies, calls, what it waits for */
    uint64_t call;      /* serial of the last one */
    char message[1024]; /* of what could not be sent */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all above */
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;  /* an event was sent, or a queue failed */
static unsigned nevents;

/* ------------------------------------------------------------------ work */
static int add_work(void *queue, struct work work)
{
    struct queue *q = queue;
    struct work *w = malloc(sizeof *w);
    if (!w) {
        mpi_error("out of memory");
        return 1;
    }
    *w = work;
    pthread_mutex_lock(&lock);
    if (w->kind == RECORD)
        w->number = ++w->event->recorded, w->event->queue = q;
    else if (w->kind == WAIT)
        w->number = w->event->recorded;
    *q->last = w;
    q->last = &w->next;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* The worker says when the event is there. */
static int flush(const struct event *e)
{
    return add_work(e->queue, (struct work){ .kind = FLUSH });
}

/* From another worker: then we wait. */
static int wait_for_event(struct queue *q, const struct work *w)
{
    struct event *e = w->event;
    pthread_mutex_lock(&lock);
    while (e->sent < w->number)
        pthread_cond_wait(&moved, &lock);
    struct mpi_lane *lane = e->lane;
    uint64_t serial = e->serial;
    pthread_mutex_unlock(&lock);
    if (lane->device->worker != q->lane->device->worker)
        return flush(e) || mpi_lane_wait_for(lane, serial);
    return mpi_lane_send(q->lane,
                         (struct mpi_header){ .kind = MPI_WAIT, .a = e->id, .b = w->number }, NULL);
}

static int record(struct queue *q, const struct work *w)
{
    int bad = mpi_lane_send(
        q->lane, (struct mpi_header){ .kind = MPI_RECORD, .a = w->event->id, .b = w->number },
        NULL);
    pthread_mutex_lock(&lock);
    w->event->sent = w->number;
    w->event->lane = q->lane, w->event->serial = q->lane->sent;
    pthread_cond_broadcast(&moved);
    pthread_mutex_unlock(&lock);
    return bad;
}

/* Until the host's memory is as it is to be in the queue's turn. */
static int wait_for_host(struct queue *q)
{
    if (!q->host_changes)
        return 0;
    q->host_changes = false;
    return mpi_lane_wait(q->lane) || mpi_lane_wait_for(q->lane, q->call);
}

static int do_work(struct queue *q, const struct work *w)
{
    switch (w->kind) {
    case TO_DEVICE: return wait_for_host(q) || mpi_lane_put(q->lane, w->dst, w->src, w->size);
    case FROM_DEVICE: q->host_changes = true; return mpi_lane_get(q->lane, w->dst, w->src, w->size);
    case COPY:
        return mpi_lane_send(
            q->lane,
            (struct mpi_header){
                .kind = MPI_COPY, .a = (uintptr_t)w->dst, .b = (uintptr_t)w->src, .c = w->size },
            NULL);
    case LAUNCH: return mpi_lane_launch(q->lane, w->f, w->teams, w->threads, w->params);
    case CALL:
        if (mpi_lane_call(q->lane, w->call, w->argument))
            return 1;
        q->host_changes = true, q->call = q->lane->sent;
        return 0;
    case WAIT: q->host_changes = true; return wait_for_event(q, w);
    case FLUSH: return mpi_lane_call(q->lane, NULL, NULL);
    default: return 0;
    }
}

/* Lock held. */
static void note_failure(struct queue *q)
{
    q->failed = true;
    strncpy(q->message, mpi_services->message(), sizeof q->message - 1);
    pthread_cond_broadcast(&moved);
}

static void *queue_thread(void *argument)
{
    struct queue *q = argument;
    pthread_mutex_lock(&lock);
    while (q->first || !q->stop) {
        struct work *w = q->first;
        if (!w) {
            pthread_cond_wait(&q->filled, &lock);
            continue;
        }
        bool failed = q->failed;
        pthread_mutex_unlock(&lock);
        int bad = w->kind == RECORD ? record(q, w) : !failed && do_work(q, w);
        pthread_mutex_lock(&lock);
        if (bad && !q->failed)
            note_failure(q);
        if (!(q->first = w->next))
            q->last = &q->first;
        free(w);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ------------------------------------------------------------------ the plugin's functions */
int mpi_queue_create(int ordinal, void **queue)
{
    struct queue *q = calloc(1, sizeof *q);
    sigset_t all, before;
    if (!q || !(q->lane = mpi_lane_new(&mpi_devices[ordinal], MPI_QUEUE_LANE))) {
        free(q);
        return 1;
    }
    q->last = &q->first;
    pthread_cond_init(&q->filled, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int bad = pthread_create(&q->thread, NULL, queue_thread, q);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (bad) {
        mpi_error("no thread can be started for a queue");
        mpi_lane_end(q->lane);
        free(q);
        return 1;
    }
    *queue = q;
    return 0;
}

void mpi_queue_destroy(int ordinal, void *queue)
{
    struct queue *q = queue;
    (void)ordinal;
    pthread_mutex_lock(&lock);
    q->stop = true;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&lock);
    pthread_join(q->thread, NULL);
    if (!q->failed)
        mpi_lane_wait(q->lane);
    mpi_lane_end(q->lane);
    pthread_cond_destroy(&q->filled);
    free(q);
}

int mpi_queue_to_device(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    (void)ordinal;
    return add_work(queue,
                    (struct work){ .kind = TO_DEVICE, .dst = dst, .src = src, .size = size });
}

int mpi_queue_from_device(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    (void)ordinal;
    return add_work(queue,
                    (struct work){ .kind = FROM_DEVICE, .dst = dst, .src = src, .size = size });
}

int mpi_queue_copy(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    (void)ordinal;
    return add_work(queue, (struct work){ .kind = COPY, .dst = dst, .src = src, .size = size });
}

int mpi_queue_launch(int ordinal, void *queue, struct ompgpu_function *f, unsigned teams,
                     unsigned threads, void **params)
{
    (void)ordinal;
    return add_work(
        queue, (struct work){
                   .kind = LAUNCH, .f = f, .teams = teams, .threads = threads, .params = params });
}

int mpi_queue_call(int ordinal, void *queue, void (*function)(void *), void *argument)
{
    (void)ordinal;
    return add_work(queue, (struct work){ .kind = CALL, .call = function, .argument = argument });
}

int mpi_queue_wait(int ordinal, void *queue, void *event)
{
    (void)ordinal;
    return add_work(queue, (struct work){ .kind = WAIT, .event = event });
}

int mpi_event_create(int ordinal, void **event)
{
    struct event *e = calloc(1, sizeof *e);
    (void)ordinal;
    if (e)
        e->id = __atomic_fetch_add(&nevents, 1, __ATOMIC_RELAXED);
    else
        mpi_error("out of memory");
    *event = e;
    return !e;
}

void mpi_event_destroy(int ordinal, void *event)
{
    (void)ordinal;
    free(event);
}

int mpi_event_record(int ordinal, void *event, void *queue)
{
    (void)ordinal;
    return add_work(queue, (struct work){ .kind = RECORD, .event = event });
}

int mpi_event_wait(int ordinal, void *event)
{
    struct event *e = event;
    (void)ordinal;
    pthread_mutex_lock(&lock);
    unsigned long number = e->recorded;
    struct queue *q = e->queue;
    while (e->sent < number)
        pthread_cond_wait(&moved, &lock);
    bool failed = q && q->failed;
    if (failed)
        mpi_error("%s", q->message);
    struct mpi_lane *lane = e->lane;
    uint64_t serial = e->serial;
    pthread_mutex_unlock(&lock);
    return failed || (lane && (flush(e) || mpi_lane_wait_for(lane, serial)));
}
