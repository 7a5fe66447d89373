/* complete.c - the completer: a thread of each GPU that calls functions of the host when events
 * have come.
 *
 * The driver can call a function from a stream (cuLaunchHostFunc).  That takes some 50 microseconds
 * each, in which the stream stands still.  A question whether an event has come takes one or two,
 * and nothing waits for it.  So each queue has a list of notices, in the order of its events: the
 * completer asks for the oldest one and, where that has come, for the newest of the same chunk,
 * since then all between them have.
 *
 *      host thread                        completer
 *      cuEventRecord                      cuEventQuery (oldest, newest)
 *      a notice is put into the list      functions are called, with no lock held
 *
 * To put one there takes no lock, since the completer is at work then as a rule, and what the one
 * writes and the other reads lies together: more of it is under way than caches hold.
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

/* A function that is to be called as soon as can be. */
struct cuda_call {
    struct cuda_call *next;
    void (*function)(void *);
    void *argument;
};

static struct completer {           /* of one device */
    pthread_mutex_t lock;           /* guards all below, and the lists; never with a call */
    pthread_cond_t filled, changed; /* there is something to do; notices are given, or it failed */
    pthread_t thread;
    bool stop;
    unsigned waiters;           /* threads that wait for `changed` */
    struct cuda_notices *lists; /* of all queues, atomic; they stay until the device is closed */
    CUresult err;               /* of the question that has failed, 0: none has */
    const char *call;
    struct cuda_call *calls; /* atomic: the newest first */
    char apart[OMPGPU_APART];
    bool running, asleep; /* atomic; asleep: it is to be told of notices */
    char apart_too[OMPGPU_APART];
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
static bool is_empty(const struct cuda_notices *list)
{
    return __atomic_load_n(&list->put, __ATOMIC_SEQ_CST) == list->given;
}

static bool any_notice(const struct completer *c)
{
    const struct cuda_notices *list = c->lists;
    while (list && is_empty(list))
        list = list->next;
    return list;
}

/* So far. */
static unsigned long count_notices(const struct completer *c)
{
    unsigned long n = 0;
    for (const struct cuda_notices *list = c->lists; list; list = list->next)
        n += __atomic_load_n(&list->put, __ATOMIC_SEQ_CST);
    return n;
}

static bool any_call(const struct completer *c)
{
    return __atomic_load_n(&c->calls, __ATOMIC_SEQ_CST);
}

/* The first notice; *n: of those that follow each other in memory. */
static struct cuda_notice *find_notices(struct cuda_notices *list, size_t *n)
{
    *n = __atomic_load_n(&list->put, __ATOMIC_ACQUIRE) - list->given;
    if (list->given == list->first->end) {
        struct cuda_chunk *done = list->first;
        list->first = __atomic_load_n(&done->next, __ATOMIC_ACQUIRE);
        ompgpu_xfree(__atomic_exchange_n(&list->spare, done, __ATOMIC_ACQ_REL));
    }
    if (*n > list->first->end - list->given)
        *n = list->first->end - list->given;
    return &list->first->notices[list->given % CUDA_CHUNK];
}

/* ------------------------------------------------------------------ asking */
static bool has_come(struct completer *c, const struct cuda_notice *n)
{
    CUevent event = n->event;
    if (c->err)
        return false;
    pthread_mutex_unlock(&c->lock);
    CUresult err = ompgpu_cuda.cuEventQuery(event);
    pthread_mutex_lock(&c->lock);
    if (err != CUDA_SUCCESS && err != CUDA_ERROR_NOT_READY)
        note_failure(c, err, "cuEventQuery");
    return err == CUDA_SUCCESS;
}

/* What kernels before the notices have printed; to wait for the last event, which has come, makes
 * the driver do it. */
static bool print_text(struct completer *c, const struct cuda_notice *first, size_t n)
{
    bool prints = false;
    for (size_t i = 0; i < n; i++)
        prints |= first[i].prints;
    if (!prints)
        return true;
    CUevent event = first[n - 1].event;
    pthread_mutex_unlock(&c->lock);
    CUresult err = ompgpu_cuda.cuEventSynchronize(event);
    pthread_mutex_lock(&c->lock);
    if (err)
        note_failure(c, err, "cuEventSynchronize");
    return !err;
}

/* Without the lock.  What they use was written by other threads. */
static void call_all(const struct cuda_notice *first, size_t n)
{
    enum { AHEAD = 4 };
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            __builtin_prefetch(first[i + AHEAD].argument, 1);
        first[i].function(first[i].argument);
    }
}

static void give_notices(struct completer *c, struct cuda_notices *list,
                         const struct cuda_notice *first, size_t n)
{
    list->giving = true;
    pthread_mutex_unlock(&c->lock);
    call_all(first, n);
    pthread_mutex_lock(&c->lock);
    list->giving = false;
    __atomic_store_n(&list->given, list->given + n, __ATOMIC_RELEASE);
    tell_waiters(c);
}

/* Has anything come? */
static bool ask_list(struct completer *c, struct cuda_notices *list)
{
    size_t n;
    if (is_empty(list))
        return false;
    const struct cuda_notice *first = find_notices(list, &n);
    bool come = has_come(c, first);
    if (come && n > 1 && !has_come(c, &first[n - 1]))
        n = 1;
    come = come && print_text(c, first, n);
    if (come)
        give_notices(c, list, first, n);
    return come;
}

/* Lists are added at the front. */
static bool ask_all(struct completer *c)
{
    bool any = false;
    for (struct cuda_notices *list = c->lists; list && !c->err; list = list->next)
        any |= ask_list(c, list);
    return any;
}

/* In the order in which they were asked for.  Were there any? */
static bool make_calls(struct completer *c)
{
    struct cuda_call *newest = any_call(c) ? __atomic_exchange_n(&c->calls, NULL, __ATOMIC_ACQUIRE)
                                           : NULL,
                     *oldest = NULL;
    for (struct cuda_call *next; newest; newest = next)
        next = newest->next, newest->next = oldest, oldest = newest;
    bool any = oldest;
    pthread_mutex_unlock(&c->lock);
    for (struct cuda_call *next; oldest; oldest = next) {
        next = oldest->next;
        oldest->function(oldest->argument);
        ompgpu_xfree(oldest);
    }
    pthread_mutex_lock(&c->lock);
    return any;
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
static void rest(struct completer *c, struct cuda_asking *asking, unsigned long seen, bool hurry)
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
    bool more = any_call(c) || count_notices(c) != seen;
    if (!more && !c->err && any_notice(c))
        sleep_for(c, sleep);
    else if (!more)
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
    for (unsigned long seen = 0, all; !c->stop; seen = all) {
        bool called = make_calls(c), come = ask_all(c);
        all = count_notices(c);
        if (called || come || all != seen)
            asking.begun = false;
        rest(c, &asking, all, all == seen);
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

struct cuda_notices *ompgpu_cuda_notices_new(int ordinal)
{
    struct completer *c = &completers[ordinal];
    pthread_mutex_lock(&c->lock);
    struct cuda_notices *list = c->lists;
    while (list && list->used)
        list = list->next;
    if (!list && (list = ompgpu_xalloc(sizeof *list)))
        list->next = c->lists, c->lists = list;
    if (list)
        list->used = true;
    pthread_mutex_unlock(&c->lock);
    return list;
}

/* After there is something for it to do. */
static void wake(struct completer *c)
{
    if (!__atomic_load_n(&c->asleep, __ATOMIC_SEQ_CST))
        return;
    pthread_mutex_lock(&c->lock);
    pthread_cond_signal(&c->filled);
    pthread_mutex_unlock(&c->lock);
}

/* Where the next notice goes; false: out of memory. */
static bool make_place(struct cuda_notices *list)
{
    if (list->put % CUDA_CHUNK)
        return true;
    struct cuda_chunk *more = __atomic_exchange_n(&list->spare, NULL, __ATOMIC_ACQUIRE);
    if (!more && !(more = ompgpu_xalloc(sizeof *more)))
        return false;
    more->next = NULL, more->end = list->put + CUDA_CHUNK;
    if (list->last)
        __atomic_store_n(&list->last->next, more, __ATOMIC_RELEASE);
    else
        list->first = more;
    list->last = more;
    return true;
}

/* Who waits for the event finds both members, or none. */
static void note_place(struct cuda_event *event, const struct cuda_notices *list)
{
    __atomic_store_n(&event->notices, NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&event->notice, list->put, __ATOMIC_RELEASE);
    __atomic_store_n(&event->notices, list, __ATOMIC_RELEASE);
}

static const struct cuda_notices *find_place(const struct cuda_event *e, size_t *number)
{
    const struct cuda_notices *list = __atomic_load_n(&e->notices, __ATOMIC_ACQUIRE);
    *number = __atomic_load_n(&e->notice, __ATOMIC_ACQUIRE);
    return list == __atomic_load_n(&e->notices, __ATOMIC_RELAXED) ? list : NULL;
}

int ompgpu_cuda_notify(int ordinal, struct cuda_notices *list, struct cuda_event *event,
                       bool prints, void (*function)(void *), void *argument)
{
    struct completer *c = &completers[ordinal];
    if (start_thread(c) || !make_place(list))
        return 1;
    list->last->notices[list->put % CUDA_CHUNK] =
        (struct cuda_notice){ event->handle, function, argument, prints };
    note_place(event, list);
    __atomic_store_n(&list->put, list->put + 1, __ATOMIC_SEQ_CST);
    wake(c);
    return 0;
}

int ompgpu_cuda_call_soon(int ordinal, void (*function)(void *), void *argument)
{
    struct completer *c = &completers[ordinal];
    struct cuda_call *call = start_thread(c) ? NULL : ompgpu_xalloc(sizeof *call);
    if (!call)
        return 1;
    *call = (struct cuda_call){ __atomic_load_n(&c->calls, __ATOMIC_RELAXED), function, argument };
    while (!__atomic_compare_exchange_n(&c->calls, &call->next, call, true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED))
        ;
    wake(c);
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
    size_t number;
    const struct cuda_notices *list = find_place(e, &number);
    pthread_mutex_lock(&c->lock);
    bool any = list && list->given <= number;
    while (any && list->given <= number && !c->err)
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

/* Those that are not given any more are forgotten. */
static void clear(struct cuda_notices *list)
{
    for (struct cuda_chunk *next; list->first; list->first = next) {
        next = list->first->next;
        ompgpu_xfree(list->first);
    }
    ompgpu_xfree(list->spare);
    list->last = list->spare = NULL;
    list->put = list->given = (list->put / CUDA_CHUNK + 1) * CUDA_CHUNK;
}

void ompgpu_cuda_notices_end(int ordinal, struct cuda_notices *list)
{
    struct completer *c = &completers[ordinal];
    pthread_mutex_lock(&c->lock);
    while (list->giving || (!is_empty(list) && !c->err))
        wait_for_change(c);
    clear(list);
    list->used = false;
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
    for (struct cuda_notices *list; (list = c->lists);) {
        c->lists = list->next;
        clear(list);
        ompgpu_xfree(list);
    }
    for (struct cuda_call *call; (call = c->calls);) {
        c->calls = call->next;
        ompgpu_xfree(call);
    }
    c->running = c->stop = false;
    c->err = CUDA_SUCCESS;
}

/* A child has no completer, and uses no queue that was made before. */
static void forget_all(struct completer *c)
{
    c->running = c->asleep = false;
    c->waiters = 0;
    c->lists = NULL, c->calls = NULL;
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
