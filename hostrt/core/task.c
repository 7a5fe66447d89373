/* task.c - constructs with `nowait` that are under way.
 *
 * Neither the thread that makes one nor the one that calls end_task() takes a lock for that.  Each
 * queue has a ring of those that were put into it; collect(), called every now and then with the
 * lock held, takes those that have ended off its end, and makes them ready for other constructs.
 *
 * Who puts a construct into a queue has the whole present table, so that who finds a trace of one
 * there finds all of it in its queue.  What is in a queue needs no host thread to go on;
 * that is why one may wait for it with a lock held.
 *
 * Who comes second, the construct's end or its host task, fulfils the host task's event.
 *
 * After a failure the queue does not call us.  A thread of ours, the watcher, ends the program
 * then. It looks every now and then for a construct that takes long, and waits for its event; so
 * short ones do not wake it up. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"
#include "hostrt/queue.h"

/* Guards all below; never with a call.  Held for moments: it is not worth going to sleep for. */
static pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* what is under way, and in queues */
/* atomic: threads that wait for that; to tell nobody costs no call of the system */
static unsigned sleepers;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER; /* the watcher */
static bool idle;     /* atomic: it waits for that; nothing has been under way for a while */
static bool watching; /* there is a watcher; atomic */
static bool stopping, failed; /* it is to end; it ends the program */
static bool at_end;           /* the thread that ends the process waits for us */
/* Atomic, each by itself, since different threads write them at each construct: made so far; whose
 * host task has ended. */
static _Alignas(OMPGPU_APART) uint64_t serials;
static _Alignas(OMPGPU_APART) uint64_t fulfilled;
static _Alignas(OMPGPU_APART) char apart_too[OMPGPU_APART] __attribute__((unused));
static pthread_t watcher;

/* Lock held.  Who waits says so before he looks whether he has to, and who ends something looks
 * whether anybody waits after it has ended. */
static void begin_waiting(void) { __atomic_add_fetch(&sleepers, 1, __ATOMIC_SEQ_CST); }
static void end_waiting(void) { __atomic_sub_fetch(&sleepers, 1, __ATOMIC_RELAXED); }
#define WAIT_WHILE(condition)                                                                      \
    do {                                                                                           \
        begin_waiting();                                                                           \
        while (condition)                                                                          \
            pthread_cond_wait(&changed, &lock);                                                    \
        end_waiting();                                                                             \
    } while (0)

static bool anybody_waits(void) { return __atomic_load_n(&sleepers, __ATOMIC_SEQ_CST); }

static void tell(pthread_cond_t *condition)
{
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(condition);
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ tasks */
static struct ompgpu_task *new_task(struct ompgpu_device *dev)
{
    struct ompgpu_task *t = ompgpu_xalloc(sizeof *t);
    if (!t || dev->plugin->event_create(dev->ordinal, &t->event)) {
        ompgpu_xfree(t);
        return NULL;
    }
    t->dev = dev;
    return t;
}

struct piece {
    struct piece *next;
    char bytes[];
};

enum { MOST_KEPT = 1024 };
void *ompgpu_task_kept(struct ompgpu_task *t, size_t size)
{
    if (size <= t->kept_room)
        return t->kept;
    ompgpu_xfree(t->kept);
    t->kept = ompgpu_xalloc(size);
    t->kept_room = t->kept ? size : 0;
    return t->kept;
}

/* Nobody uses it any more. */
static void recycle(struct ompgpu_task *t, struct ompgpu_task **idle)
{
    for (struct piece *p; (p = t->pieces);) {
        t->pieces = p->next;
        ompgpu_xfree(p);
    }
    if (t->kept_room > MOST_KEPT) {
        ompgpu_xfree(t->kept);
        t->kept = NULL, t->kept_room = 0;
    }
    ompgpu_chunk_drop(t->where.chunk);
    t->where.chunk = NULL;
    t->next = *idle, *idle = t;
}

static void put_task(struct ompgpu_task *t)
{
    pthread_mutex_lock(&lock);
    recycle(t, &t->dev->idle);
    pthread_mutex_unlock(&lock);
}

/* Of a task: its host task has begun, and does not use it any more; its construct has ended, and
 * was collected.  Who comes second of those that let go of it recycles it. */
enum { BEGUN = 1, LEFT = 2, ENDED = 4, COLLECTED = 8 };
static unsigned add_state(struct ompgpu_task *t, unsigned bits)
{
    return __atomic_fetch_or(&t->state, bits, __ATOMIC_SEQ_CST);
}

static void host_leaves(struct ompgpu_task *t)
{
    if (add_state(t, LEFT) & COLLECTED)
        put_task(t);
}

/* ------------------------------------------------------------------ what is under way
 * Lock held, but in the second one. */
static struct ompgpu_task **place_in(const struct ompgpu_queue *q, size_t number)
{
    return &q->ring[number % q->room];
}

/* By who has the device's lock. */
static bool has_room(const struct ompgpu_queue *q)
{
    return q->put - __atomic_load_n(&q->taken, __ATOMIC_ACQUIRE) < q->room;
}

static bool grow(struct ompgpu_queue *q)
{
    struct ompgpu_queue more = *q;
    more.room = q->room ? 2 * q->room : 64;
    if (has_room(q))
        return true;
    if (!(more.ring = ompgpu_xalloc(more.room * sizeof *more.ring)))
        return false;
    for (size_t i = q->taken; i != q->put; i++)
        *place_in(&more, i) = *place_in(q, i);
    ompgpu_xfree(q->ring);
    q->ring = more.ring, q->room = more.room;
    return true;
}

/* The first that has not ended; those before it, `most` at most, are collected, and may be idle. */
static struct ompgpu_task *collect(struct ompgpu_queue *q, unsigned most, struct ompgpu_task **idle)
{
    size_t put = __atomic_load_n(&q->put, __ATOMIC_SEQ_CST), at = q->taken;
    struct ompgpu_task *t = NULL;
    for (; at != put; at++, t = NULL) {
        t = *place_in(q, at);
        __builtin_prefetch(*place_in(q, at + 1 == put ? at : at + 1), 1);
        if (ompgpu_under_way(ompgpu_ticket_of(t)) || !most--)
            break;
        if (add_state(t, COLLECTED) & LEFT)
            recycle(t, idle);
    }
    __atomic_store_n(&q->taken, at, __ATOMIC_RELEASE);
    return t;
}

static unsigned queues_of(const struct ompgpu_device *dev)
{
    return __atomic_load_n(&dev->nqueues, __ATOMIC_ACQUIRE);
}

/* Some for this host thread, so that it does not take the lock each time.  It collects more than it
 * uses: so what has ended lately, and is in the caches still, is what is used again. */
static void take_idle(struct ompgpu_device *dev, struct ompgpu_task **own)
{
    enum { SOME = 16 };
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < queues_of(dev); i++)
        collect(dev->queues[i], SOME / 2, own);
    unsigned more = *own ? 0 : SOME;
    for (; more && dev->idle; more--) {
        struct ompgpu_task *t = dev->idle;
        dev->idle = t->next;
        t->next = *own, *own = t;
    }
    pthread_mutex_unlock(&lock);
}

struct ompgpu_task *ompgpu_task_get(struct ompgpu_device *dev)
{
    struct ompgpu_task **own = &ompgpu_self_->devices[dev->number].idle;
    if (!*own)
        take_idle(dev, own);
    struct ompgpu_task *t = *own;
    if (t)
        *own = t->next;
    else if (!(t = new_task(dev)))
        return NULL;
    t->enqueued = false;
    t->state = 0;
    t->nwaits = t->nmaps = 0;
    t->function = NULL;
    t->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
    return t;
}

void ompgpu_deferred_return(struct ompgpu_device *dev, struct ompgpu_buffers *of)
{
    pthread_mutex_lock(&lock);
    for (struct ompgpu_task *t; (t = of->idle);) {
        of->idle = t->next;
        t->next = dev->idle, dev->idle = t;
    }
    pthread_mutex_unlock(&lock);
}

void ompgpu_task_give_up(struct ompgpu_task *t)
{
    __atomic_add_fetch(&fulfilled, 1, __ATOMIC_RELAXED);
    put_task(t);
}

char *ompgpu_task_room(struct ompgpu_task *t, size_t size)
{
    struct piece *p = ompgpu_xalloc(sizeof *p + size);
    if (!p)
        return NULL;
    p->next = t->pieces, t->pieces = p;
    return p->bytes;
}

const void *ompgpu_task_keep(struct ompgpu_task *t, const void *bytes, size_t size)
{
    char *room = ompgpu_task_room(t, size);
    return room ? memcpy(room, bytes, size) : NULL;
}

int ompgpu_task_wait_for(struct ompgpu_task *t, struct ompgpu_ticket other)
{
    if (!ompgpu_under_way(other) || other.task == t)
        return 0;
    if (t->nwaits == t->room) {
        unsigned room = 2 * t->room + 4;
        struct ompgpu_ticket *more = ompgpu_xalloc(room * sizeof *more);
        if (!more)
            return -1;
        if (t->nwaits)
            memcpy(more, t->waits, t->nwaits * sizeof *more);
        ompgpu_xfree(t->waits);
        t->waits = more, t->room = room;
    }
    t->waits[t->nwaits++] = other;
    return 0;
}

/* ------------------------------------------------------------------ waiting */
int ompgpu_task_await(struct ompgpu_task *self, struct ompgpu_ticket other)
{
    if (!ompgpu_under_way(other) || other.task == self)
        return 0;
    if (self && self->dev->plugin == other.task->dev->plugin)
        return other.task->queue == self->queue
                   ? 0
                   : self->dev->plugin->queue_wait(self->dev->ordinal, self->queue->handle,
                                                   other.task->event);
    pthread_mutex_lock(&lock);
    WAIT_WHILE(ompgpu_under_way(other) && !failed);
    bool bad = failed;
    pthread_mutex_unlock(&lock);
    if (bad)
        ompgpu_plugin_error("an earlier construct with nowait has failed");
    return bad;
}

static bool is_placed(struct ompgpu_ticket other)
{
    return !ompgpu_under_way(other) ||
           __atomic_load_n(&other.task->placed, __ATOMIC_ACQUIRE) >= other.serial;
}

void ompgpu_task_await_placed(const struct ompgpu_task *t)
{
    for (unsigned i = 0; i < t->nwaits; i++) {
        if (is_placed(t->waits[i]))
            continue;
        pthread_mutex_lock(&lock);
        WAIT_WHILE(!is_placed(t->waits[i]) && !failed);
        pthread_mutex_unlock(&lock);
    }
}

void ompgpu_dropped_free(struct ompgpu_device *dev)
{
    if (!__atomic_load_n(&dev->dropped, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&lock);
    struct ompgpu_entry *first = dev->dropped;
    __atomic_store_n(&dev->dropped, NULL, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    for (struct ompgpu_entry *e; (e = first);) {
        first = (struct ompgpu_entry *)e->range.left;
        ompgpu_data_drop(dev, e);
    }
}

/* Lock held.  Is one of them under way? */
static bool any_in(struct ompgpu_device *dev, uint64_t last)
{
    bool any = false;
    for (unsigned i = 0; i < queues_of(dev) && !any; i++) {
        const struct ompgpu_queue *q = dev->queues[i];
        if (!collect(dev->queues[i], UINT_MAX, &dev->idle))
            continue;
        size_t put = __atomic_load_n(&q->put, __ATOMIC_SEQ_CST);
        for (size_t at = q->taken; at != put && !any; at++) {
            struct ompgpu_task *t = *place_in(q, at);
            any = t->serial <= last && ompgpu_under_way(ompgpu_ticket_of(t));
        }
    }
    return any;
}

static bool any_until(uint64_t last)
{
    bool any = false;
    for (int i = 0; i < ompgpu_ndevices && !any; i++)
        any = any_in(&ompgpu_devices[i], last);
    return any;
}

/* Did that free anything? */
static bool free_by_waiting(struct ompgpu_device *dev)
{
    pthread_mutex_lock(&lock);
    uint64_t last = __atomic_load_n(&serials, __ATOMIC_RELAXED);
    WAIT_WHILE(any_in(dev, last) && !failed);
    bool any = dev->dropped != NULL;
    pthread_mutex_unlock(&lock);
    ompgpu_dropped_free(dev);
    return any;
}

int ompgpu_memory_get(struct ompgpu_device *dev, size_t size, void **memory)
{
    ompgpu_dropped_free(dev);
    return dev->plugin->alloc(dev->ordinal, size, memory) &&
           (!free_by_waiting(dev) || dev->plugin->alloc(dev->ordinal, size, memory));
}

/* ------------------------------------------------------------------ the end of a construct */
static void give_dropped(struct ompgpu_task *t)
{
    struct ompgpu_entry *last = t->dropped;
    pthread_mutex_lock(&lock);
    while (last->range.left)
        last = (struct ompgpu_entry *)last->range.left;
    last->range.left = (struct ompgpu_range *)t->dev->dropped;
    __atomic_store_n(&t->dev->dropped, t->dropped, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    t->dropped = NULL;
}

/* The construct has ended and its host task has begun. */
static void fulfil(uintptr_t event)
{
    __atomic_add_fetch(&fulfilled, 1, __ATOMIC_RELAXED);
    ompgpu_libomp()->fulfill(event);
}

static void end_task(void *argument)
{
    struct ompgpu_task *t = argument;
    if (ompgpu_watched() && t->region)
        ompgpu_watch_launch(&t->where, t->dev, t->function, t->geometry, t->start, true);
    ompgpu_returning_end(t);
    if (t->dropped)
        give_dropped(t);
    bool both = add_state(t, ENDED) & BEGUN;
    uintptr_t event = both ? t->event_of_host : 0;
    __atomic_store_n(&t->finished, t->serial, __ATOMIC_SEQ_CST); /* it may be another's at once */
    if (anybody_waits())
        tell(&changed);
    if (both)
        fulfil(event);
}

/* ------------------------------------------------------------------ the watcher */
/* Before the program ends because of it: nobody waits for what is in queues any more. */
static void note_failure(void)
{
    pthread_mutex_lock(&lock);
    failed = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static __attribute__((noreturn)) void fail_task(const struct ompgpu_task *t)
{
    note_failure();
    const struct ompgpu_given given = { t->region, &t->launch, t->params,
                                        t->maps,   t->nparams, t->nmaps };
    char reason[1024], source[512] = "", nearest[512] = "";
    uintptr_t address;
    const struct ompgpu_plugin *plugin = t->dev->plugin;
    snprintf(reason, sizeof reason, "%s", ompgpu_plugin_message());
    if (plugin->fault && plugin->fault(&address)) {
        ompgpu_data_source(t->dev, address, &given, source, sizeof source);
        ompgpu_data_nearest(t->dev, address, t->dropped, nearest, sizeof nearest);
    }
    if (ompgpu_exiting()) {
        const unsigned patience = 600; /* tenths of seconds: a handler of exit() may wait for it */
        pthread_mutex_lock(&lock);
        for (unsigned tenths = 0; !at_end && tenths < patience; tenths++) {
            pthread_mutex_unlock(&lock);
            usleep(100000);
            pthread_mutex_lock(&lock);
        }
        fflush(NULL);
        ompgpu_say(&t->where, "error", "%s%s%s", reason, source, nearest);
        _exit(1);
    }
    ompgpu_fatal(&t->where, "%s%s%s", reason, source, nearest);
}

static struct timespec milliseconds_from_now(long n)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += n * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000, t.tv_nsec %= 1000000000;
    return t;
}

/* The event may have come before a failure that keeps the call from us: it is asked again. */
static void wait_for_end(struct ompgpu_ticket first)
{
    struct timespec soon = milliseconds_from_now(200);
    begin_waiting();
    while (ompgpu_under_way(first) && pthread_cond_timedwait(&changed, &lock, &soon) != ETIMEDOUT)
        ;
    end_waiting();
}

/* Lock held. */
static void wait_for_event(struct ompgpu_task *t)
{
    struct ompgpu_ticket ticket = ompgpu_ticket_of(t);
    pthread_mutex_unlock(&lock);
    int bad = t->dev->plugin->event_wait(t->dev->ordinal, t->event);
    pthread_mutex_lock(&lock);
    wait_for_end(ticket);
    if (bad && ompgpu_under_way(ticket)) { /* else only the question has failed */
        pthread_mutex_unlock(&lock);
        fail_task(t);
    }
}

/* Lock held.  Who makes constructs collects others: here only if nobody does. */
static struct ompgpu_task *find_oldest(bool quiet)
{
    enum { FEW = 64 };
    struct ompgpu_task *oldest = NULL;
    for (int i = 0; i < ompgpu_ndevices; i++) {
        struct ompgpu_device *dev = &ompgpu_devices[i];
        for (unsigned k = 0; k < queues_of(dev); k++) {
            struct ompgpu_task *t = collect(dev->queues[k], quiet ? FEW : 0, &dev->idle);
            if (t && (!oldest || t->serial < oldest->serial))
                oldest = t;
        }
    }
    return oldest;
}

/* Lock held.  While nothing has been under way for a while, until something is. */
static void wait_for_tick(bool quiet)
{
    enum { TICK = 2 }; /* milliseconds */
    struct timespec tick = milliseconds_from_now(TICK);
    __atomic_store_n(&idle, quiet, __ATOMIC_SEQ_CST); /* before it looks once more */
    if (!quiet)
        pthread_cond_timedwait(&wanted, &lock, &tick);
    else if (!find_oldest(true))
        pthread_cond_wait(&wanted, &lock);
    __atomic_store_n(&idle, false, __ATOMIC_RELAXED);
}

static void *watch(void *unused)
{
    enum { QUIET = 50 }; /* ticks */
    pthread_mutex_lock(&lock);
    uint64_t seen = 0;
    for (unsigned quiet = 0;;) {
        uint64_t all = __atomic_load_n(&serials, __ATOMIC_RELAXED);
        struct ompgpu_task *oldest = find_oldest(all == seen || stopping);
        struct ompgpu_ticket first =
            oldest ? ompgpu_ticket_of(oldest) : (struct ompgpu_ticket){ 0 };
        if (stopping && !oldest)
            break;
        seen = all;
        quiet = oldest ? 0 : quiet + 1;
        wait_for_tick(quiet > QUIET);
        if (ompgpu_under_way(first))
            wait_for_event(first.task);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static int start_watcher(void)
{
    if (__atomic_load_n(&watching, __ATOMIC_RELAXED))
        return 0;
    pthread_mutex_lock(&lock);
    bool there = watching || !ompgpu_quiet_thread(&watcher, watch, NULL);
    __atomic_store_n(&watching, there, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    if (!there)
        ompgpu_plugin_error("no thread can be started for constructs with nowait");
    return !there;
}

/* ------------------------------------------------------------------ into a queue */
static struct ompgpu_queue *new_queue(struct ompgpu_device *dev)
{
    struct ompgpu_queue *q = ompgpu_xalloc(sizeof *q);
    if (!q || dev->plugin->queue_create(dev->ordinal, &q->handle)) {
        ompgpu_xfree(q);
        return NULL;
    }
    q->buffers.queue = q;
    dev->queues[dev->nqueues] = q;
    __atomic_store_n(&dev->nqueues, dev->nqueues + 1, __ATOMIC_RELEASE);
    return q;
}

/* That of the construct it waits for, where that is the last there: then nothing has to wait.  Else
 * an empty one, a new one, or each in turn. */
static struct ompgpu_queue *choose_queue(const struct ompgpu_task *t)
{
    struct ompgpu_device *dev = t->dev;
    for (unsigned i = 0; i < t->nwaits; i++) {
        const struct ompgpu_task *other = t->waits[i].task;
        if (ompgpu_under_way(t->waits[i]) && other->dev == dev &&
            other->queue->last.task == other && other->queue->last.serial == t->waits[i].serial)
            return other->queue;
    }
    for (unsigned i = 0; i < dev->nqueues; i++)
        if (!ompgpu_under_way(dev->queues[i]->last))
            return dev->queues[i];
    if (dev->nqueues < OMPGPU_QUEUES)
        return new_queue(dev);
    return dev->queues[dev->next_queue++ % OMPGPU_QUEUES];
}

/* From here on others see it. */
static void show(struct ompgpu_queue *q, struct ompgpu_task *t)
{
    q->last = ompgpu_ticket_of(t);
    __atomic_store_n(&t->placed, t->serial, __ATOMIC_RELEASE);
    *place_in(q, q->put) = t;
    __atomic_store_n(&q->put, q->put + 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&idle, __ATOMIC_SEQ_CST))
        tell(&wanted);
    if (anybody_waits())
        tell(&changed);
}

static int make_room(struct ompgpu_queue *q)
{
    if (has_room(q))
        return 0;
    pthread_mutex_lock(&lock);
    bool is = grow(q);
    pthread_mutex_unlock(&lock);
    return is ? 0 : -1;
}

static int begin_task(struct ompgpu_task *t)
{
    const struct ompgpu_plugin *plugin = t->dev->plugin;
    if (make_room(t->queue) || plugin->event_record(t->dev->ordinal, t->event, t->queue->handle))
        return -1;
    show(t->queue, t);
    return start_watcher() ||
           plugin->queue_notify(t->dev->ordinal, t->queue->handle, t->event, end_task, t);
}

static int put_into_queue(struct ompgpu_task *t)
{
    if (!(t->queue = choose_queue(t)))
        return -1;
    for (unsigned i = 0; i < t->nwaits; i++)
        if (ompgpu_task_await(t, t->waits[i]))
            return -1;
    return t->enqueue(t) || begin_task(t);
}

/* A region that maps nothing has nothing to do with the table. */
static unsigned lock_for(const struct ompgpu_task *t)
{
    struct ompgpu_device *dev = t->dev;
    if (!t->region || t->nmaps || __atomic_load_n(&dev->dropped, __ATOMIC_RELAXED))
        return ompgpu_tables_lock_for(dev, t->maps, t->nmaps, true);
    pthread_mutex_lock(&dev->lock);
    return OMPGPU_WHOLE;
}

void ompgpu_enqueue_failed(const struct ompgpu_where *where)
{
    note_failure();
    ompgpu_fatal(where, "%s", ompgpu_plugin_message());
}

void ompgpu_task_enqueue(struct ompgpu_task *t)
{
    struct ompgpu_device *dev = t->dev;
    struct ompgpu_where where = t->where;
    t->enqueued = true;
    t->start = ompgpu_watch_clock();
    unsigned held = lock_for(t);
    ompgpu_dropped_free(dev);
    int bad = put_into_queue(t); /* afterwards it may have ended */
    ompgpu_tables_unlock(dev, held);
    if (bad)
        ompgpu_enqueue_failed(&where);
}

/* ------------------------------------------------------------------ its host task */
/* The construct has ended before. */
static void end_from_queue(void *argument)
{
    struct ompgpu_task *t = argument;
    uintptr_t event = t->event_of_host;
    host_leaves(t);
    fulfil(event);
}

static bool ends_from_queue(struct ompgpu_task *t)
{
    pthread_mutex_lock(&t->dev->lock);
    t->nwaits = 0;
    struct ompgpu_queue *q = choose_queue(t);
    bool done =
        q && !t->dev->plugin->queue_notify(t->dev->ordinal, q->handle, NULL, end_from_queue, t);
    pthread_mutex_unlock(&t->dev->lock);
    return done;
}

void ompgpu_task_begun(struct ompgpu_task *t, uintptr_t event, bool deep)
{
    t->event_of_host = event;
    if (!t->enqueued && __atomic_load_n(&ompgpu_run_state, __ATOMIC_ACQUIRE) == OMPGPU_STOPPED)
        t->state = ENDED | COLLECTED; /* exit() was called in another task */
    else if (!t->enqueued)
        ompgpu_task_enqueue(t);
    unsigned before = add_state(t, deep ? BEGUN : BEGUN | LEFT);
    if (deep && (before & ENDED) && ends_from_queue(t))
        return;
    if (deep)
        host_leaves(t);
    else if (before & COLLECTED)
        put_task(t);
    if (before & ENDED)
        fulfil(event);
}

/* ------------------------------------------------------------------ all of them */
bool ompgpu_any_deferred(void) { return __atomic_load_n(&serials, __ATOMIC_RELAXED); }

bool ompgpu_any_host_task(void)
{
    return __atomic_load_n(&serials, __ATOMIC_RELAXED) !=
           __atomic_load_n(&fulfilled, __ATOMIC_RELAXED);
}

int ompgpu_tasks_await(void)
{
    pthread_mutex_lock(&lock);
    uint64_t last = __atomic_load_n(&serials, __ATOMIC_RELAXED);
    WAIT_WHILE(any_until(last) && (!failed || at_end));
    bool bad = failed;
    pthread_mutex_unlock(&lock);
    return bad;
}

void ompgpu_tasks_at_end(void)
{
    pthread_mutex_lock(&lock);
    at_end = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Waits for all that are in queues: no more come, since the process ends. */
void ompgpu_tasks_finish(void)
{
    pthread_mutex_lock(&lock);
    WAIT_WHILE(any_until(UINT64_MAX) && (!failed || at_end));
    bool join = stopping = watching && !failed;
    pthread_cond_signal(&wanted);
    pthread_mutex_unlock(&lock);
    if (!join)
        return;
    pthread_join(watcher, NULL);
    pthread_mutex_lock(&lock);
    stopping = false;
    __atomic_store_n(&watching, false, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

static void end_queue(struct ompgpu_device *dev, struct ompgpu_queue *q)
{
    ompgpu_buffers_free(dev, &q->buffers);
    dev->plugin->queue_destroy(dev->ordinal, q->handle);
    pthread_mutex_lock(&lock);
    collect(q, UINT_MAX, &dev->idle);
    pthread_mutex_unlock(&lock);
    ompgpu_xfree(q->ring);
    ompgpu_xfree(q);
}

void ompgpu_deferred_close(struct ompgpu_device *dev)
{
    for (unsigned i = 0; i < dev->nqueues; i++)
        end_queue(dev, dev->queues[i]);
    __atomic_store_n(&dev->nqueues, 0, __ATOMIC_RELEASE);
    ompgpu_dropped_free(dev);
    for (struct ompgpu_task *t; (t = dev->idle);) { /* others still have a host task */
        dev->idle = t->next;
        dev->plugin->event_destroy(dev->ordinal, t->event);
        ompgpu_xfree(t->waits);
        ompgpu_xfree(t->kept);
        ompgpu_xfree(t);
    }
}

/* It has ended for a child. */
static void forget_queue(const struct ompgpu_queue *q)
{
    for (size_t at = q->taken; at != q->put; at++) {
        struct ompgpu_task *t = *place_in(q, at);
        t->finished = t->serial;
    }
}

/* A child has none of the queues' work, and no watcher: what was under way has ended for it, and
 * queues and events are not used again. */
static void forget_all(void)
{
    watching = stopping = idle = false;
    sleepers = 0;
    fulfilled = serials;
    pthread_cond_init(&changed, NULL);
    pthread_cond_init(&wanted, NULL);
    for (int i = 0; i < ompgpu_ndevices; i++) {
        for (unsigned k = 0; k < ompgpu_devices[i].nqueues; k++)
            forget_queue(ompgpu_devices[i].queues[k]);
        ompgpu_devices[i].nqueues = 0;
        ompgpu_devices[i].idle = NULL;
        if (ompgpu_self_)
            ompgpu_self_->devices[i].idle = NULL;
    }
}

void ompgpu_tasks_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE)
        pthread_mutex_lock(&lock);
    if (when == OMPGPU_FORK_CHILD)
        forget_all();
    if (when != OMPGPU_FORK_BEFORE)
        pthread_mutex_unlock(&lock);
}
