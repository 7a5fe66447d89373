/* complete.c - the completer: a thread of each GPU that calls functions of the host when events
 * have come.
 *
 * The driver can call a function from a stream (cuLaunchHostFunc).  That takes some 50 microseconds
 * each, in which the stream stands still.  A question whether an event has come takes one or two,
 * and nothing waits for it.  So each queue has a list of notices, in the order of its events: the
 * completer asks for the oldest one and, where that has come, for the newest, since then all
 * between them have.
 *
 *      host thread                    completer
 *      cuEventRecord                  what is handed over goes to the ends of the lists
 *      a notice is handed over        cuEventQuery (oldest, newest)
 *                                     notices leave the list: their events may be recorded anew
 *                                     their functions are called, with no lock held
 *
 * To hand one over takes no lock, since the completer is at work then as a rule.
 *
 * The driver prints the text of kernels when somebody waits for an event, but not when somebody
 * asks whether it has come: so the completer waits for one that has, before it calls the functions.
 *
 * Between two questions it leaves the driver, whose lock they take, and the processor to others:
 * longer while new notices come, since who makes them does not wait then.  Where nothing ends for a
 * while it sleeps in between, and where there is no notice until there is one.  After a failure
 * nothing is called any more that waits for an event; who waits for one is told of the failure.
 *
 * With the PTX machine, which does work while somebody waits for it, there are only notices without
 * an event. */
#include <time.h>
#include "hostrt/cuda/cuda.h"

static struct completer {           /* of one device */
    pthread_mutex_t lock;           /* guards all below, and the queues' lists; never with a call */
    pthread_cond_t filled, changed; /* there is a notice; notices have left, or it has failed */
    pthread_t thread;
    bool running; /* atomic */
    bool stop;
    unsigned waiters;           /* threads that wait for `changed` */
    struct cuda_notices *lists; /* that are not empty */
    struct cuda_notices due;    /* those without an event */
    CUresult err;               /* of the question that has failed, 0: none has */
    const char *call;
    bool asleep;                /* atomic: it is to be told of notices */
    struct cuda_notice *handed; /* atomic: that are in no list yet, the newest first */
} completers[CUDA_MAX_DEVICES] = { [0 ... CUDA_MAX_DEVICES - 1] = {
                                       .lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP,
                                       .filled = PTHREAD_COND_INITIALIZER,
                                       .changed = PTHREAD_COND_INITIALIZER,
                                   } };

/* Lock held, as in all that follows but the thread's function and those of cuda.h. */
static void tell_waiters(struct completer *c)
{
    if (c->waiters)
        pthread_cond_broadcast(&c->changed);
}

static void note_failure(struct completer *c, CUresult err, const char *call)
{
    c->err = err, c->call = call;
    tell_waiters(c);
}

/* ------------------------------------------------------------------ lists */
static bool any_handed(const struct completer *c)
{
    return __atomic_load_n(&c->handed, __ATOMIC_SEQ_CST);
}

static void list_notice(struct completer *c, struct cuda_notice *n)
{
    struct cuda_notices *list = n->list;
    n->next = NULL;
    if (list->first) {
        list->newest->next = n;
    } else {
        list->first = n;
        list->next = c->lists, c->lists = list;
    }
    list->newest = n;
}

/* In the order in which they were handed over.  Were there any? */
static bool list_handed(struct completer *c)
{
    struct cuda_notice *newest = __atomic_exchange_n(&c->handed, NULL, __ATOMIC_ACQUIRE),
                       *oldest = NULL;
    for (struct cuda_notice *next; newest; newest = next) {
        next = newest->next;
        newest->next = oldest, oldest = newest;
    }
    bool any = oldest;
    for (struct cuda_notice *next; oldest; oldest = next) {
        next = oldest->next;
        list_notice(c, oldest);
    }
    return any;
}

/* ------------------------------------------------------------------ asking */
static bool has_come(struct completer *c, const struct cuda_notice *n)
{
    if (!n->event || c->err)
        return !n->event;
    CUevent event = n->event->handle;
    pthread_mutex_unlock(&c->lock);
    CUresult err = ompgpu_cuda.cuEventQuery(event);
    pthread_mutex_lock(&c->lock);
    if (err != CUDA_SUCCESS && err != CUDA_ERROR_NOT_READY)
        note_failure(c, err, "cuEventQuery");
    return err == CUDA_SUCCESS;
}

/* What kernels before the notices up to this one have printed; to wait for the event, which has
 * come, makes the driver do it. */
static bool print_text(struct completer *c, const struct cuda_notice *first,
                       const struct cuda_notice *last)
{
    bool prints = last->prints;
    for (const struct cuda_notice *n = first; n != last; n = n->next)
        prints |= n->prints;
    if (!prints)
        return true;
    CUevent event = last->event->handle;
    pthread_mutex_unlock(&c->lock);
    CUresult err = ompgpu_cuda.cuEventSynchronize(event);
    pthread_mutex_lock(&c->lock);
    if (err)
        note_failure(c, err, "cuEventSynchronize");
    return !err;
}

static void unlist(struct completer *c, struct cuda_notices *list)
{
    struct cuda_notices **p = &c->lists;
    while (*p && *p != list)
        p = &(*p)->next;
    if (*p)
        *p = list->next;
}

/* The event's own, or another. */
static void free_notice(struct cuda_notice *n)
{
    if (n->event && n == &n->event->notice)
        __atomic_store_n(&n->used, false, __ATOMIC_RELEASE);
    else
        ompgpu_xfree(n);
}

static void call_all(struct cuda_notice *first)
{
    for (struct cuda_notice *n = first, *next; n; n = next) {
        void (*function)(void *) = n->function;
        void *argument = n->argument;
        next = n->next;
        free_notice(n);
        function(argument);
    }
}

/* The notices up to this one leave their list, and are given. */
static void give_notices(struct completer *c, struct cuda_notices *list, struct cuda_notice *last)
{
    struct cuda_notice *first = list->first;
    for (const struct cuda_notice *n = first; n != last->next; n = n->next)
        if (n->event)
            __atomic_sub_fetch(&n->event->noticed, 1, __ATOMIC_RELEASE);
    list->first = last->next;
    if (!list->first)
        unlist(c, list);
    last->next = NULL;
    list->giving = true;
    tell_waiters(c);
    pthread_mutex_unlock(&c->lock);
    call_all(first);
    pthread_mutex_lock(&c->lock);
    list->giving = false;
    tell_waiters(c);
}

/* Has anything come?  *next: of the lists, before functions are called, which may add some. */
static bool ask_list(struct completer *c, struct cuda_notices *list, struct cuda_notices **next)
{
    struct cuda_notice *oldest = list->first, *newest = list->newest;
    bool come = has_come(c, oldest);
    if (come && oldest != newest && has_come(c, newest))
        oldest = newest;
    come = come && print_text(c, list->first, oldest);
    *next = list->next;
    if (come)
        give_notices(c, list, oldest);
    return come;
}

/* Lists are added at the front, and leave only here while nothing has failed. */
static bool ask_all(struct completer *c)
{
    bool any = false;
    struct cuda_notices *next;
    for (struct cuda_notices *list = c->lists; list && !c->err; list = next)
        any |= ask_list(c, list, &next);
    return any | (c->err && c->due.first && ask_list(c, &c->due, &next));
}

/* ------------------------------------------------------------------ the thread */
static void sleep_for(struct completer *c, double milliseconds)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += (long)(milliseconds * 1e6);
    t.tv_sec += t.tv_nsec / 1000000000, t.tv_nsec %= 1000000000;
    pthread_cond_clockwait(&c->filled, &c->lock, CLOCK_MONOTONIC, &t);
}

/* Until the next question; where there is none to ask, after a while until there is.  hurry:
 * somebody may wait for an answer. */
static void rest(struct completer *c, struct cuda_asking *asking, bool hurry)
{
    const int pauses = hurry ? 1 : 8;
    double sleep = 0;
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < pauses && sleep <= 0; i++)
        sleep = ompgpu_cuda_rest(asking);
    pthread_mutex_lock(&c->lock);
    if (c->stop || sleep <= 0)
        return;
    __atomic_store_n(&c->asleep, true, __ATOMIC_SEQ_CST); /* before it looks for the last time */
    if (!any_handed(c) && c->lists && !c->err)
        sleep_for(c, sleep);
    else if (!any_handed(c))
        pthread_cond_wait(&c->filled, &c->lock);
    __atomic_store_n(&c->asleep, false, __ATOMIC_RELAXED);
}

static void *complete(void *argument)
{
    struct completer *c = argument;
    struct cuda_asking asking = { 0 };
    CUresult err = ompgpu_cuda.cuCtxSetCurrent(ompgpu_cuda_context((int)(c - completers)));
    pthread_mutex_lock(&c->lock);
    if (err)
        note_failure(c, err, "cuCtxSetCurrent");
    for (bool fresh = false, before; !c->stop;) {
        before = fresh, fresh = list_handed(c);
        if (ask_all(c) || fresh)
            asking.begun = false;
        rest(c, &asking, !fresh || !before);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* ------------------------------------------------------------------ for queue.c and plugin.c */
static int start_thread(struct completer *c)
{
    if (__atomic_load_n(&c->running, __ATOMIC_ACQUIRE))
        return 0;
    pthread_mutex_lock(&c->lock);
    bool running = c->running || !ompgpu_quiet_thread(&c->thread, complete, c);
    __atomic_store_n(&c->running, running, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&c->lock);
    if (!running)
        ompgpu_plugin_error("no thread can be started for constructs with nowait");
    return !running;
}

/* An event has one of its own, since there is seldom more than one for it. */
static struct cuda_notice *get_notice(struct cuda_event *event)
{
    return event && !__atomic_exchange_n(&event->notice.used, true, __ATOMIC_ACQUIRE)
               ? &event->notice
               : ompgpu_xalloc(sizeof(struct cuda_notice));
}

static void hand_over(struct completer *c, struct cuda_notice *n)
{
    n->next = __atomic_load_n(&c->handed, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&c->handed, &n->next, n, true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED))
        ;
    if (!__atomic_load_n(&c->asleep, __ATOMIC_SEQ_CST))
        return;
    pthread_mutex_lock(&c->lock);
    pthread_cond_signal(&c->filled);
    pthread_mutex_unlock(&c->lock);
}

int ompgpu_cuda_notify(int ordinal, struct cuda_notices *list, struct cuda_event *event,
                       bool prints, void (*function)(void *), void *argument)
{
    struct completer *c = &completers[ordinal];
    struct cuda_notice *n = start_thread(c) ? NULL : get_notice(event);
    if (!n)
        return 1;
    n->list = event ? list : &c->due, n->event = event, n->prints = prints;
    n->function = function, n->argument = argument;
    if (event)
        __atomic_add_fetch(&event->noticed, 1, __ATOMIC_RELAXED);
    hand_over(c, n);
    return 0;
}

static void wait_for_change(struct completer *c)
{
    c->waiters++;
    pthread_cond_wait(&c->changed, &c->lock);
    c->waiters--;
}

bool ompgpu_cuda_await_notice(int ordinal, const struct cuda_event *e)
{
    struct completer *c = &completers[ordinal];
    pthread_mutex_lock(&c->lock);
    bool any = __atomic_load_n(&e->noticed, __ATOMIC_ACQUIRE);
    while (__atomic_load_n(&e->noticed, __ATOMIC_ACQUIRE) && !c->err)
        wait_for_change(c);
    any = any && !c->err;
    pthread_mutex_unlock(&c->lock);
    return any;
}

int ompgpu_cuda_check_completer(int ordinal)
{
    struct completer *c = &completers[ordinal];
    pthread_mutex_lock(&c->lock);
    CUresult err = c->err;
    pthread_mutex_unlock(&c->lock);
    return err != CUDA_SUCCESS && ompgpu_cuda_check(ordinal, err, c->call, "%s", "");
}

static void free_notices(struct cuda_notice *n)
{
    for (struct cuda_notice *next; n; n = next) {
        next = n->next;
        free_notice(n);
    }
}

void ompgpu_cuda_notices_end(int ordinal, struct cuda_notices *list)
{
    struct completer *c = &completers[ordinal];
    pthread_mutex_lock(&c->lock);
    list_handed(c);
    while (list->giving || (list->first && !c->err))
        wait_for_change(c);
    unlist(c, list);
    free_notices(list->first);
    pthread_mutex_unlock(&c->lock);
}

void ompgpu_cuda_completer_end(int ordinal)
{
    struct completer *c = &completers[ordinal];
    pthread_mutex_lock(&c->lock);
    bool join = c->running;
    c->stop = true;
    pthread_cond_signal(&c->filled);
    pthread_mutex_unlock(&c->lock);
    if (join)
        pthread_join(c->thread, NULL);
    list_handed(c);
    free_notices(c->due.first);
    c->running = c->stop = false;
    c->lists = NULL, c->due.first = NULL;
    c->err = CUDA_SUCCESS;
}

/* A child has no completer, and uses no queue that was made before. */
static void forget_all(struct completer *c)
{
    c->running = c->asleep = false;
    c->waiters = 0;
    c->lists = NULL, c->due.first = NULL, c->handed = NULL;
    pthread_cond_init(&c->filled, NULL);
    pthread_cond_init(&c->changed, NULL);
}

void ompgpu_cuda_completer_fork(enum ompgpu_fork when)
{
    for (struct completer *c = completers; c < completers + CUDA_MAX_DEVICES; c++) {
        if (when == OMPGPU_FORK_BEFORE)
            pthread_mutex_lock(&c->lock);
        if (when == OMPGPU_FORK_CHILD)
            forget_all(c);
        if (when != OMPGPU_FORK_BEFORE)
            pthread_mutex_unlock(&c->lock);
    }
}
