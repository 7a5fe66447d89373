/* defer.c - constructs with `nowait`.
 *
 * Such a construct is put into a queue of its device (hostrt/plugin.h) and the host thread goes on.
 * Generated code makes a host task for it, with the construct's dependences, which ends when the
 * construct has ended: a detached task of the OpenMP library, whose event is fulfilled then.  So
 * taskwait, taskgroup, barriers and host tasks with dependences wait for it as for any task.
 *
 *      __ompgpu_defer_…()  copies what the construct was called with; one without dependences, or
 *                          that only depends on other such constructs, is put into a queue at once
 *                          (depend.c says what that waits for on the device)
 *      __ompgpu_deferred() the host task has begun: what the construct depends on has ended, and it
 *                          is put into a queue now if it was not
 *      end_task()          called when the construct's event has come; whoever comes second, it or
 *                          the host task, fulfils the event
 *
 * The thread that calls end_task() takes no lock that host threads want at each construct: it notes
 * the task as ended, and collect(), called by others with the lock held, takes those noted off the
 * list of what is under way, and makes them ready for other constructs.
 *
 * Who puts a construct into a queue has the whole present table, so that who finds a trace of one
 * there finds all of it in its queue.  What is in a queue needs no host thread to go on;
 * that is why one may wait for it with a lock held.
 *
 * After a failure the queue does not call us.  A thread of ours, the watcher, ends the program
 * then. It looks every now and then for a construct that takes long, and waits for its event; so
 * short ones do not wake it up. */
#define _GNU_SOURCE 1
#include <errno.h>
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
static bool idle; /* it waits for that: nothing has been under way for a while */
static struct ompgpu_task *oldest, *newest; /* under way, or ended and not collected */
static struct ompgpu_task *ended;           /* atomic: those to be collected, by `ended` */
static uint64_t serials;
static bool watching, stopping, failed; /* the watcher; failed: it ends the program */
static bool at_end;                     /* the thread that ends the process waits for us */
static unsigned long waiting;           /* atomic: constructs whose host task has not ended */
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

static void list_remove(struct ompgpu_task *t)
{
    *(t->previous ? &t->previous->next : &oldest) = t->next;
    *(t->next ? &t->next->previous : &newest) = t->previous;
}

/* Room for what a construct was called with; one of usual size stays for the next. */
enum { MOST_KEPT = 1024 };
static void *get_kept(struct ompgpu_task *t, size_t size)
{
    if (t->kept && size <= t->kept_room)
        return memset(t->kept, 0, size);
    ompgpu_xfree(t->kept);
    t->kept = ompgpu_xalloc(size);
    t->kept_room = t->kept ? size : 0;
    return t->kept;
}

/* Lock held.  Nobody uses it any more. */
static void recycle(struct ompgpu_task *t)
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
    t->next = t->dev->idle, t->dev->idle = t;
}

static void put_task(struct ompgpu_task *t)
{
    pthread_mutex_lock(&lock);
    recycle(t);
    pthread_mutex_unlock(&lock);
}

/* Two leave a task: its host task, and who collects it.  true: this is the second. */
static bool leave(struct ompgpu_task *t)
{
    return __atomic_exchange_n(&t->left, 1, __ATOMIC_ACQ_REL);
}

static void host_leaves(struct ompgpu_task *t)
{
    if (leave(t))
        put_task(t);
}

/* Lock held. */
static void collect(void)
{
    struct ompgpu_task *t = __atomic_exchange_n(&ended, NULL, __ATOMIC_ACQUIRE);
    for (struct ompgpu_task *next; t; t = next) {
        next = t->ended;
        __builtin_prefetch(next);
        list_remove(t);
        if (leave(t))
            recycle(t);
    }
}

static struct ompgpu_task *get_task(struct ompgpu_device *dev)
{
    pthread_mutex_lock(&lock);
    if (!dev->idle)
        collect();
    struct ompgpu_task *t = dev->idle;
    if (t)
        dev->idle = t->next;
    pthread_mutex_unlock(&lock);
    if (!t && !(t = new_task(dev)))
        return NULL;
    t->next = t->previous = NULL;
    t->enqueued = false;
    t->met = t->left = 0;
    t->nwaits = t->nmaps = 0;
    t->function = NULL;
    t->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
    return t;
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

/* Lock held.  Is one of them under way, of this device or, with NULL, of any? */
static bool any_until(uint64_t last, const struct ompgpu_device *dev)
{
    collect();
    struct ompgpu_task *t = oldest;
    while (t &&
           ((dev && t->dev != dev) || t->serial > last || !ompgpu_under_way(ompgpu_ticket_of(t))))
        t = t->next;
    return t;
}

/* Did that free anything? */
static bool free_by_waiting(struct ompgpu_device *dev)
{
    pthread_mutex_lock(&lock);
    uint64_t last = __atomic_load_n(&serials, __ATOMIC_RELAXED);
    WAIT_WHILE(any_until(last, dev) && !failed);
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
static void list_add(struct ompgpu_task *t)
{
    t->previous = newest, t->next = NULL;
    *(newest ? &newest->next : &oldest) = t;
    newest = t;
}

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
    __atomic_sub_fetch(&waiting, 1, __ATOMIC_RELAXED);
    ompgpu_libomp()->fulfill(event);
}

/* For collect(); it may be another construct's at once. */
static void note_ended(struct ompgpu_task *t)
{
    t->ended = __atomic_load_n(&ended, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&ended, &t->ended, t, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
}

static void end_task(void *argument)
{
    struct ompgpu_task *t = argument;
    if (ompgpu_watched() && t->region)
        ompgpu_watch_launch(&t->where, t->dev, t->function, t->geometry, t->start, true);
    ompgpu_returning_end(t);
    if (t->dropped)
        give_dropped(t);
    __atomic_store_n(&t->finished, t->serial, __ATOMIC_RELEASE);
    bool both = __atomic_exchange_n(&t->met, 1, __ATOMIC_SEQ_CST);
    uintptr_t event = both ? t->event_of_host : 0;
    note_ended(t);
    if (anybody_waits()) {
        pthread_mutex_lock(&lock);
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
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
        pthread_mutex_lock(&lock);
        WAIT_WHILE(!at_end);
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

static void *watch(void *unused)
{
    enum { TICK = 2, QUIET = 50 }; /* milliseconds, ticks */
    pthread_mutex_lock(&lock);
    uint64_t seen = 0;
    for (unsigned quiet = 0; oldest || !stopping;) {
        uint64_t all = __atomic_load_n(&serials, __ATOMIC_RELAXED);
        if (all == seen) /* who makes constructs collects others */
            collect();
        seen = all;
        struct ompgpu_ticket first =
            oldest ? ompgpu_ticket_of(oldest) : (struct ompgpu_ticket){ 0 };
        quiet = oldest ? 0 : quiet + 1;
        idle = quiet > QUIET;
        struct timespec tick = milliseconds_from_now(TICK);
        if (idle)
            pthread_cond_wait(&wanted, &lock);
        else
            pthread_cond_timedwait(&wanted, &lock, &tick);
        idle = false;
        if (ompgpu_under_way(first))
            wait_for_event(first.task);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

/* Lock held. */
static int start_watcher(void)
{
    watching = watching || !ompgpu_quiet_thread(&watcher, watch, NULL);
    if (!watching)
        ompgpu_plugin_error("no thread can be started for constructs with nowait");
    return !watching;
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
    return dev->queues[dev->nqueues++] = q;
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

static int enqueue_enter(struct ompgpu_task *t)
{
    return ompgpu_data_enter(t->dev, &t->where, t->maps, t->nmaps, NULL, t);
}
static int enqueue_exit(struct ompgpu_task *t)
{
    return ompgpu_data_exit(t->dev, &t->where, t->maps, t->nmaps, OMPGPU_LEAVE_DATA, t);
}
static int enqueue_update(struct ompgpu_task *t)
{
    return ompgpu_data_update(t->dev, &t->where, t->maps, t->nmaps, t);
}

/* From here on others see it. */
static int begin_task(struct ompgpu_task *t)
{
    const struct ompgpu_plugin *plugin = t->dev->plugin;
    if (plugin->event_record(t->dev->ordinal, t->event, t->queue->handle))
        return -1;
    t->queue->last = ompgpu_ticket_of(t);
    pthread_mutex_lock(&lock);
    list_add(t);
    __atomic_store_n(&t->placed, t->serial, __ATOMIC_RELEASE);
    int bad = start_watcher();
    if (idle)
        pthread_cond_signal(&wanted);
    if (anybody_waits())
        pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return bad || plugin->queue_notify(t->dev->ordinal, t->queue->handle, t->event, end_task, t);
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

int ompgpu_task_enqueue(struct ompgpu_task *t)
{
    struct ompgpu_device *dev = t->dev;
    t->enqueued = true;
    t->start = ompgpu_watch_clock();
    unsigned held = ompgpu_tables_lock_for(dev, t->maps, t->nmaps, true);
    ompgpu_dropped_free(dev);
    int bad = put_into_queue(t); /* afterwards it may have ended */
    ompgpu_tables_unlock(dev, held);
    return bad;
}

void ompgpu_enqueue_failed(const struct ompgpu_where *where)
{
    note_failure();
    ompgpu_fatal(where, "%s", ompgpu_plugin_message());
}

static void enqueue_now(struct ompgpu_task *t)
{
    struct ompgpu_where where = t->where;
    if (ompgpu_task_enqueue(t))
        ompgpu_enqueue_failed(&where);
}

/* ------------------------------------------------------------------ what it was called with */
struct room {
    char *at;
    size_t size;
};
static void *take_room(struct room *r, size_t size)
{
    void *p = r->at ? r->at + r->size : NULL;
    r->size += (size + 15) & ~(size_t)15;
    return p;
}

static const void *copy_into(struct room *r, const void *bytes, size_t size)
{
    void *p = take_room(r, size);
    return p ? memcpy(p, bytes, size) : NULL;
}

/* The value of a firstprivate array is that of now; the bytes that a region surely uses are a local
 * array of the caller's. */
static void copy_map(struct room *r, struct ompgpu_map *m)
{
    ptrdiff_t offset = (const char *)m->begin - (const char *)m->base;
    if (m->flags & OMPGPU_MAP_PRIVATE_COPY) {
        m->begin = copy_into(r, m->begin, m->size);
        m->base = (const char *)m->begin - offset;
    }
    if (m->attach && !(m->flags & OMPGPU_MAP_ATTACH))
        m->attach = copy_into(r, m->attach, 2 * sizeof(unsigned long));
}

/* With room for nothing it only counts the bytes. */
static void copy_call(struct ompgpu_task *t, struct room *r, const struct ompgpu_map *maps,
                      const struct ompgpu_param *params)
{
    struct ompgpu_map *m = take_room(r, t->nmaps * sizeof *m);
    struct ompgpu_param *p = take_room(r, t->nparams * sizeof *p);
    for (unsigned i = 0; i < t->nmaps; i++) {
        struct ompgpu_map one = maps[i];
        copy_map(r, &one);
        if (m)
            m[i] = one;
    }
    for (unsigned i = 0; i < t->nparams; i++) {
        struct ompgpu_param one = params[i];
        if (one.map < 0)
            one.value = copy_into(r, one.value, one.size);
        if (p)
            p[i] = one;
    }
    t->maps = m, t->params = p;
    t->addresses = take_room(r, t->nmaps * sizeof *t->addresses);
    t->arguments = take_room(r, (t->nparams + 2) * sizeof *t->arguments);
}

static int keep_call(struct ompgpu_task *t, const struct ompgpu_map *maps, unsigned nmaps,
                     const struct ompgpu_param *params, unsigned nparams)
{
    struct room r = { 0 };
    t->nmaps = nmaps, t->nparams = nparams;
    copy_call(t, &r, maps, params);
    if (!(r.at = get_kept(t, r.size)))
        return -1;
    r.size = 0;
    copy_call(t, &r, maps, params);
    return 0;
}

/* ------------------------------------------------------------------ the end of a host thread */
/* Of the C library, where it is glibc.  What is registered there is called before the destructors
 * of keys, among them the OpenMP library's, which forgets the thread and the tasks it has made. */
__attribute__((weak)) int __cxa_thread_atexit_impl(void (*)(void *), void *, void *object);
extern void *__dso_handle __attribute__((visibility("hidden")));

/* For what this thread has made, and others before. */
static void await_host_tasks(void)
{
    const struct ompgpu_libomp *l = ompgpu_libomp();
    pthread_mutex_lock(&lock);
    uint64_t last = __atomic_load_n(&serials, __ATOMIC_RELAXED);
    WAIT_WHILE(any_until(last, NULL) && (!failed || at_end));
    bool bad = failed;
    pthread_mutex_unlock(&lock);
    if (!bad && l->thread && l->wait)
        l->wait(NULL, l->thread(NULL));
}

static _Thread_local bool watched __attribute__((tls_model("initial-exec")));
static unsigned nwatched; /* atomic: threads that are, and live */

/* A thread of the program's that has made deferred constructs waits for them.  Those of the OpenMP
 * library have done so at the end of a parallel region, and the one that ends the process does so
 * later (ompgpu_deferred_stop). */
static void thread_ends(void *unused)
{
    (void)unused;
    watched = false;
    __atomic_sub_fetch(&nwatched, 1, __ATOMIC_RELAXED);
    if (getpid() != gettid() && !ompgpu_failed())
        await_host_tasks();
}

static void watch_thread(void)
{
    const struct ompgpu_libomp *l = ompgpu_libomp();
    if (watched || !__cxa_thread_atexit_impl || !l->level || l->level())
        return;
    watched = true;
    __atomic_add_fetch(&nwatched, 1, __ATOMIC_RELAXED);
    __cxa_thread_atexit_impl(thread_ends, NULL, &__dso_handle);
}

/* ------------------------------------------------------------------ chains of host tasks
 * The OpenMP library begins a task inside the end of the last one it depends on, where the team has
 * one thread.  So where a host task ends at once, since its construct has ended before, the stack
 * grows along a chain of dependences.  A task that finds it grown ends from a queue instead. */
static _Thread_local const char *stack_begin __attribute__((tls_model("initial-exec")));

static bool stack_is_deep(void)
{
    enum { DEEP = 64 << 10 };
    const char *frame = __builtin_frame_address(0);
    if (!stack_begin || frame > stack_begin)
        stack_begin = frame;
    return stack_begin - frame > DEEP;
}

/* The construct has ended before. */
static void end_host_task(struct ompgpu_task *t)
{
    uintptr_t event = t->event_of_host;
    host_leaves(t);
    fulfil(event);
}

static void end_from_queue(void *task) { end_host_task(task); }

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

/* ------------------------------------------------------------------ calls from generated code */
static bool can_defer(const struct ompgpu_device *dev)
{
    return dev->plugin->queue_create && !ompgpu_has_tool && !ompgpu_exiting() && !dev->links &&
           !ompgpu_may_recover() && ompgpu_libomp()->fulfill && ompgpu_self();
}

/* The device, where it can do it later; what cannot be done, or not yet, is done, or said, in the
 * usual way. */
static struct ompgpu_device *deferring_device(const struct ompgpu_where *where, long number)
{
    struct ompgpu_device *dev = ompgpu_device_get(where, number);
    return dev && can_defer(dev) ? dev : NULL;
}

static void *defer(struct ompgpu_task *t, bool depends)
{
    __atomic_add_fetch(&waiting, 1, __ATOMIC_RELAXED);
    stack_begin = __builtin_frame_address(0);
    watch_thread();
    if (depends)
        ompgpu_creating = t;
    else
        enqueue_now(t);
    return t;
}

/* All forms of the kernel, which are not looked for with the device's lock held. */
static bool find_forms(struct ompgpu_region *region, struct ompgpu_device *dev,
                       const struct ompgpu_launch *launch, struct ompgpu_function **function)
{
    struct ompgpu_function *other;
    if (launch->flags & OMPGPU_LAUNCH_LANES)
        for (enum ompgpu_form f = OMPGPU_FORM_LANES2; f <= OMPGPU_FORM_LANES32; f++)
            if (ompgpu_function_get(region, dev, f, &other))
                return false;
    return !ompgpu_function_get(region, dev, OMPGPU_FORM_KERNEL, function) &&
           (!region->strided || (!ompgpu_function_get(region, dev, OMPGPU_FORM_STRIDED, &other) &&
                                 !ompgpu_function_get(region, dev, OMPGPU_FORM_WIDE, &other) &&
                                 !ompgpu_function_get(region, dev, OMPGPU_FORM_TILED, &other)));
}

void *__ompgpu_defer_target(struct ompgpu_region *region, const struct ompgpu_map *maps,
                            unsigned nmaps, const struct ompgpu_param *params, unsigned nparams,
                            const struct ompgpu_launch *launch, _Bool depends)
{
    struct ompgpu_where where = ompgpu_at_region(region);
    struct ompgpu_device *dev = deferring_device(&where, launch->device);
    struct ompgpu_function *function;
    struct ompgpu_task *t;
    if (!dev || !find_forms(region, dev, launch, &function) || !(t = get_task(dev)))
        return NULL;
    if (keep_call(t, maps, nmaps, params, nparams)) {
        put_task(t);
        return NULL;
    }
    t->where = where;
    ompgpu_chunk_keep(where.chunk);
    t->enqueue = ompgpu_region_enqueue;
    t->region = region;
    t->launch = *launch;
    t->function = function;
    return defer(t, depends);
}

void *__ompgpu_defer_data(const struct ompgpu_place *place, long device,
                          const struct ompgpu_map *maps, unsigned n, _Bool depends)
{
    struct ompgpu_where where = ompgpu_at_place(place);
    struct ompgpu_device *dev = deferring_device(&where, device);
    struct ompgpu_task *t;
    if (!dev || !(t = get_task(dev)))
        return NULL;
    if (keep_call(t, maps, n, NULL, 0)) {
        put_task(t);
        return NULL;
    }
    t->where = where;
    ompgpu_chunk_keep(where.chunk);
    t->enqueue = place->construct == OMPGPU_ENTER_DATA  ? enqueue_enter
                 : place->construct == OMPGPU_EXIT_DATA ? enqueue_exit
                                                        : enqueue_update;
    t->region = NULL;
    return defer(t, depends);
}

static struct ompgpu_task *defer_call(struct ompgpu_device *dev, const void *arguments, size_t size)
{
    const struct ompgpu_libomp *l = ompgpu_libomp();
    struct ompgpu_task *t =
        dev && can_defer(dev) && l->alloc && l->allow && l->run && l->thread ? get_task(dev) : NULL;
    if (!t)
        return NULL;
    if (!get_kept(t, size)) {
        put_task(t);
        return NULL;
    }
    memcpy(t->kept, arguments, size);
    return t;
}

/* They are among the children of the current task. */
static void wait_for_children(void)
{
    const struct ompgpu_libomp *l = ompgpu_libomp();
    if (l->thread && l->wait)
        l->wait(NULL, l->thread(NULL));
}

bool ompgpu_defer_routine(struct ompgpu_device *dev, const char *name,
                          int (*enqueue)(struct ompgpu_task *), const void *arguments, size_t size,
                          int ndepend, void **depend)
{
    struct ompgpu_task *t = defer_call(dev, arguments, size);
    if (!t) {
        if (ndepend > 0)
            wait_for_children();
        return false;
    }
    t->where = (struct ompgpu_where){ .directive = name };
    t->enqueue = enqueue;
    t->region = NULL;
    defer(t, ndepend > 0);
    if (!ompgpu_host_task(t, ndepend, depend))
        ompgpu_enqueue_failed(&t->where);
    return true;
}

void __ompgpu_deferred(void *task, uintptr_t event)
{
    struct ompgpu_task *t = task;
    if (ompgpu_creating == t)
        ompgpu_creating = NULL;
    t->event_of_host = event;
    if (!t->enqueued && __atomic_load_n(&ompgpu_run_state, __ATOMIC_ACQUIRE) == OMPGPU_STOPPED)
        t->met = t->left = 1; /* exit() was called in another task */
    else if (!t->enqueued)
        enqueue_now(t);
    if (!__atomic_exchange_n(&t->met, 1, __ATOMIC_ACQ_REL))
        host_leaves(t);
    else if (!stack_is_deep() || !ends_from_queue(t))
        end_host_task(t);
}

/* ------------------------------------------------------------------ the end, and fork */
bool ompgpu_any_deferred(void) { return __atomic_load_n(&serials, __ATOMIC_RELAXED); }

/* Others may go on making constructs, so not for all of them. */
void ompgpu_deferred_settle(void)
{
    if (__atomic_load_n(&waiting, __ATOMIC_RELAXED))
        await_host_tasks();
}

/* Waits for all that are in queues: no more come, since the process ends. */
static void finish(void)
{
    pthread_mutex_lock(&lock);
    WAIT_WHILE(any_until(UINT64_MAX, NULL) && (!failed || at_end));
    bool join = stopping = watching && !failed;
    pthread_cond_signal(&wanted);
    pthread_mutex_unlock(&lock);
    if (!join)
        return;
    pthread_join(watcher, NULL);
    pthread_mutex_lock(&lock);
    watching = stopping = false;
    pthread_mutex_unlock(&lock);
}

/* The OpenMP library has a destructor, too, in which it waits for detached tasks.  After an error
 * some never end, so that is not waited for. */
void ompgpu_deferred_stop(void)
{
    const struct ompgpu_libomp *l = ompgpu_libomp();
    if (!ompgpu_any_deferred())
        return;
    if (ompgpu_failed()) {
        fflush(NULL);
        _exit(1);
    }
    pthread_mutex_lock(&lock);
    at_end = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (__atomic_load_n(&waiting, __ATOMIC_RELAXED) && l->thread && l->wait)
        l->wait(NULL, l->thread(NULL));
    finish();
}

/* The OpenMP library's destructor, which comes after ours, frees what threads of the program are
 * using that go on making tasks.  That of the one that ends the process is not watched any more. */
void ompgpu_deferred_leave(void)
{
    if (ompgpu_exiting() && __atomic_load_n(&nwatched, __ATOMIC_RELAXED))
        ompgpu_leave_process();
}

void ompgpu_deferred_close(struct ompgpu_device *dev)
{
    for (unsigned i = 0; i < dev->nqueues; i++) {
        ompgpu_buffers_free(dev, &dev->queues[i]->buffers);
        dev->plugin->queue_destroy(dev->ordinal, dev->queues[i]->handle);
        ompgpu_xfree(dev->queues[i]);
    }
    dev->nqueues = 0;
    pthread_mutex_lock(&lock);
    collect();
    pthread_mutex_unlock(&lock);
    ompgpu_dropped_free(dev);
    for (struct ompgpu_task *t; (t = dev->idle);) { /* others still have a host task */
        dev->idle = t->next;
        dev->plugin->event_destroy(dev->ordinal, t->event);
        ompgpu_xfree(t->waits);
        ompgpu_xfree(t->kept);
        ompgpu_xfree(t);
    }
}

/* A child has none of the queues' work, and no watcher: what was under way has ended for it, and
 * queues and events are not used again. */
static void forget_all(void)
{
    for (struct ompgpu_task *t = oldest; t; t = t->next)
        t->finished = t->serial;
    oldest = newest = ended = NULL;
    watching = stopping = idle = false;
    sleepers = 0;
    waiting = 0;
    nwatched = watched;
    pthread_cond_init(&changed, NULL);
    pthread_cond_init(&wanted, NULL);
    for (int i = 0; i < ompgpu_ndevices; i++) {
        ompgpu_devices[i].nqueues = 0;
        ompgpu_devices[i].idle = NULL;
    }
}

void ompgpu_deferred_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE)
        pthread_mutex_lock(&lock);
    if (when == OMPGPU_FORK_CHILD)
        forget_all();
    if (when != OMPGPU_FORK_BEFORE)
        pthread_mutex_unlock(&lock);
}
