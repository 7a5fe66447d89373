/* queue.c - rank 0: queues and events of devices of other nodes.
 *
 * What is put into a queue waits for nothing and is read in its turn, so that each queue has a
 * thread, which sends the messages, and a lane.  It waits only where the order asks for it: before
 * it reads what is copied to the device after something that may write it on the host.  For events
 * the lane waits at the worker, which another worker tells that it has reached one. */
#include <stdio.h>
#include <stdlib.h>
#include "hostrt/mpi/mpi.h"
#include "hostrt/queue.h"

struct event {
    struct ompgpu_recorded recorded;
    unsigned id;
    unsigned long sent;  /* how often a queue's thread has sent that: last … */
    struct queue *queue; /* … of this one … */
    uint64_t serial;     /* … with this serial of its lane, … */
    uint64_t asked;      /* … whose last answer by then has this one */
};
struct queue {
    struct ompgpu_work_queue work;
    struct mpi_lane *lane;
    bool failed;
    bool host_changes;  /* by what is before it: copies, calls, what it waits for */
    char message[1024]; /* of what could not be sent */
};
enum { FLUSH = OMPGPU_WORK_OTHER }; /* the worker says how far it is */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all above */
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;  /* an event was sent, or a queue failed */
static unsigned nevents;

/* ------------------------------------------------------------------ work */
static int flush(struct queue *q)
{
    return ompgpu_work_add(q, (struct ompgpu_work){ .kind = FLUSH });
}

static int wait_for_event(struct queue *q, const struct ompgpu_work *w)
{
    struct event *e = (struct event *)w->event;
    pthread_mutex_lock(&lock);
    while (e->sent < w->number)
        pthread_cond_wait(&moved, &lock);
    struct mpi_lane *from = e->queue->lane;
    uint64_t serial = e->serial, last_asked = e->asked;
    pthread_mutex_unlock(&lock);
    const int there = from->device->worker->rank, here = q->lane->device->worker->rank;
    struct mpi_header h = { .kind = MPI_WAIT, .a = e->id, .b = w->number };
    if (there != here) {
        h.c = (unsigned)there;
        if (mpi_lane_notify(from, e->id, w->number, here))
            return 1;
    }
    return mpi_lane_order(q->lane, from, serial, last_asked) || mpi_lane_send(q->lane, h, NULL);
}

static int record(struct queue *q, const struct ompgpu_work *w)
{
    struct event *e = (struct event *)w->event;
    int bad = mpi_lane_send(
        q->lane, (struct mpi_header){ .kind = MPI_RECORD, .a = e->id, .b = w->number }, NULL);
    pthread_mutex_lock(&lock);
    e->sent = w->number;
    e->queue = q, e->serial = q->lane->sent, e->asked = q->lane->asked;
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
    return mpi_lane_wait(q->lane);
}

static int do_work(struct queue *q, const struct ompgpu_work *w)
{
    switch ((int)w->kind) {
    case OMPGPU_WORK_TO_DEVICE:
        return wait_for_host(q) || mpi_lane_put(q->lane, w->dst, w->src, w->size);
    case OMPGPU_WORK_FROM_DEVICE:
        q->host_changes = true;
        return mpi_lane_get(q->lane, w->dst, w->src, w->size);
    case OMPGPU_WORK_COPY:
        return mpi_lane_send(
            q->lane,
            (struct mpi_header){
                .kind = MPI_COPY, .a = (uintptr_t)w->dst, .b = (uintptr_t)w->src, .c = w->size },
            NULL);
    case OMPGPU_WORK_LAUNCH: return mpi_lane_launch(q->lane, w->f, w->teams, w->threads, w->params);
    case OMPGPU_WORK_CALL:
        if (mpi_lane_call(q->lane, w->call, w->argument))
            return 1;
        q->host_changes = true;
        return 0;
    case OMPGPU_WORK_WAIT: q->host_changes = true; return wait_for_event(q, w);
    case FLUSH: return mpi_lane_call(q->lane, NULL, NULL);
    default: return record(q, w);
    }
}

/* After a failure nothing more is done; but whoever waits for an event is to hear of it. */
static void take_turn(struct ompgpu_work_queue *work, const struct ompgpu_work *w)
{
    struct queue *q = (struct queue *)work;
    if (q->failed && w->kind != OMPGPU_WORK_RECORD)
        return;
    pthread_mutex_unlock(&lock);
    int bad = do_work(q, w);
    pthread_mutex_lock(&lock);
    if (!bad || q->failed)
        return;
    q->failed = true;
    snprintf(q->message, sizeof q->message, "%s", mpi_services->message());
    pthread_cond_broadcast(&moved);
}

/* ------------------------------------------------------------------ the plugin's functions */
int mpi_queue_create(int ordinal, void **queue)
{
    struct queue *q = mpi_alloc(sizeof *q);
    if (!q || !(q->lane = mpi_lane_new(&mpi_devices[ordinal], MPI_QUEUE_LANE))) {
        free(q);
        return 1;
    }
    q->work.lock = &lock, q->work.alloc = mpi_services->alloc, q->work.turn = take_turn;
    if (ompgpu_work_begin(&q->work, ompgpu_quiet_thread)) {
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
    ompgpu_work_end(&q->work);
    if (!q->failed)
        mpi_lane_wait(q->lane);
    mpi_lane_end(q->lane);
    free(q);
}

int mpi_event_create(int ordinal, void **event)
{
    struct event *e = mpi_alloc(sizeof *e);
    (void)ordinal;
    if (e)
        e->id = __atomic_fetch_add(&nevents, 1, __ATOMIC_RELAXED);
    *event = e;
    return !e;
}

void mpi_event_destroy(int ordinal, void *event)
{
    (void)ordinal;
    free(event);
}

int mpi_event_wait(int ordinal, void *event)
{
    struct event *e = event;
    (void)ordinal;
    pthread_mutex_lock(&lock);
    unsigned long number = e->recorded.times;
    while (e->sent < number)
        pthread_cond_wait(&moved, &lock);
    struct queue *q = e->queue;
    uint64_t serial = e->serial;
    bool failed = q && q->failed;
    if (failed)
        mpi_error("%s", q->message);
    pthread_mutex_unlock(&lock);
    return failed || (q && (flush(q) || mpi_lane_wait_for(q->lane, serial)));
}
