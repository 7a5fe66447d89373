/* queue.c - queues of work, each with a thread that does it (queue.h). */
#include "hostrt/queue.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

int ompgpu_quiet_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    int slack = prctl(PR_GET_TIMERSLACK); /* it gets ours */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    prctl(PR_SET_TIMERSLACK, 1000);
    int bad = pthread_create(thread, NULL, run, argument);
    prctl(PR_SET_TIMERSLACK, slack);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return bad;
}

/* Lock held. */
static void wait_for_work(struct ompgpu_work_queue *q)
{
    if (q->linger) {
        pthread_mutex_unlock(q->lock);
        q->linger(q);
        pthread_mutex_lock(q->lock);
    }
    while (!q->first && !q->stop)
        pthread_cond_wait(&q->filled, q->lock);
}

static void *run(void *argument)
{
    struct ompgpu_work_queue *q = argument;
    pthread_mutex_lock(q->lock);
    while (q->first || !q->stop) {
        struct ompgpu_work *w = q->first;
        if (!w) {
            wait_for_work(q);
            continue;
        }
        if (!(q->first = w->next))
            q->last = &q->first;
        q->turn(q, w);
        __atomic_sub_fetch(&q->undone, 1, __ATOMIC_RELEASE);
        free(w);
    }
    pthread_mutex_unlock(q->lock);
    return NULL;
}

int ompgpu_work_begin(struct ompgpu_work_queue *q,
                      int (*start)(pthread_t *, void *(*)(void *), void *))
{
    q->last = &q->first;
    pthread_cond_init(&q->filled, NULL);
    return start(&q->thread, run, q);
}

void ompgpu_work_end(struct ompgpu_work_queue *q)
{
    pthread_mutex_lock(q->lock);
    q->stop = true;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(q->lock);
    pthread_join(q->thread, NULL);
    pthread_cond_destroy(&q->filled);
}

int ompgpu_work_add(void *queue, struct ompgpu_work work)
{
    struct ompgpu_work_queue *q = queue;
    struct ompgpu_work *w = q->alloc(sizeof *w);
    if (!w)
        return 1;
    *w = work;
    pthread_mutex_lock(q->lock);
    if (w->kind == OMPGPU_WORK_RECORD)
        w->number = __atomic_add_fetch(&w->event->times, 1, __ATOMIC_ACQ_REL);
    else if (w->kind == OMPGPU_WORK_WAIT)
        w->number = __atomic_load_n(&w->event->times, __ATOMIC_ACQUIRE);
    __atomic_add_fetch(&q->undone, 1, __ATOMIC_RELAXED);
    *q->last = w;
    q->last = &w->next;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(q->lock);
    return 0;
}

/* ------------------------------------------------------------------ functions of a plugin */
static int add_copy(void *queue, enum ompgpu_work_kind kind, void *dst, const void *src,
                    size_t size)
{
    return ompgpu_work_add(
        queue, (struct ompgpu_work){ .kind = kind, .dst = dst, .src = src, .size = size });
}

int ompgpu_work_to_device(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    (void)ordinal;
    return add_copy(queue, OMPGPU_WORK_TO_DEVICE, dst, src, size);
}

int ompgpu_work_from_device(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    (void)ordinal;
    return add_copy(queue, OMPGPU_WORK_FROM_DEVICE, dst, src, size);
}

int ompgpu_work_copy(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    (void)ordinal;
    return add_copy(queue, OMPGPU_WORK_COPY, dst, src, size);
}

int ompgpu_work_launch(int ordinal, void *queue, struct ompgpu_function *f, unsigned teams,
                       unsigned threads, void **params)
{
    (void)ordinal;
    return ompgpu_work_add(queue, (struct ompgpu_work){ .kind = OMPGPU_WORK_LAUNCH,
                                                        .f = f,
                                                        .teams = teams,
                                                        .threads = threads,
                                                        .params = params });
}

int ompgpu_work_call(int ordinal, void *queue, void (*function)(void *), void *argument)
{
    (void)ordinal;
    return ompgpu_work_add(
        queue,
        (struct ompgpu_work){ .kind = OMPGPU_WORK_CALL, .call = function, .argument = argument });
}

/* In its turn, since the thread is there anyway. */
int ompgpu_work_notify(int ordinal, void *queue, void *event, void (*function)(void *),
                       void *argument)
{
    (void)event;
    return ompgpu_work_call(ordinal, queue, function, argument);
}

int ompgpu_work_wait(int ordinal, void *queue, void *event)
{
    (void)ordinal;
    return ompgpu_work_add(queue, (struct ompgpu_work){ .kind = OMPGPU_WORK_WAIT, .event = event });
}

int ompgpu_work_record(int ordinal, void *event, void *queue)
{
    (void)ordinal;
    return ompgpu_work_add(queue,
                           (struct ompgpu_work){ .kind = OMPGPU_WORK_RECORD, .event = event });
}
