/* queue.c - queues of the emulated device: each has an OS thread that does its work in order, with
 * the plugin's own functions.
 *
 * An event counts how often it was recorded and how often that was reached; to wait for it is to
 * wait for the number that it had when the wait was asked for.  All of it is under one lock, which
 * no work holds.  As with CUDA a failure is one of the device: nothing more is done on it. */
#include <stdio.h>
#include <string.h>
#include "hostrt/emu/emu.h"

struct event {
    unsigned long recorded, reached;
    bool failed; /* what is before it */
};
struct work {
    struct work *next;
    enum { TO_DEVICE, FROM_DEVICE, COPY, LAUNCH, CALL, WAIT, RECORD } kind;
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
    int ordinal;
    pthread_t thread;
    pthread_cond_t filled;
    struct work *first, **last;
    bool stop;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  /* guards all below, queues and events */
static pthread_cond_t reached = PTHREAD_COND_INITIALIZER; /* some event */
static struct failure {
    bool failed, has_address;
    uintptr_t address;
    char message[1024];
} failures[EMU_MAX_DEVICES];

/* ------------------------------------------------------------------ work */
/* The rest needs no lock. */
static int do_work(int ordinal, const struct work *w)
{
    switch (w->kind) {
    case TO_DEVICE: return ompgpu_emu_plugin.to_device(ordinal, w->dst, w->src, w->size);
    case FROM_DEVICE: return ompgpu_emu_plugin.from_device(ordinal, w->dst, w->src, w->size);
    case COPY: return ompgpu_emu_plugin.device_copy(ordinal, w->dst, w->src, w->size);
    case LAUNCH: return ompgpu_emu_plugin.launch(ordinal, w->f, w->teams, w->threads, w->params);
    case CALL: return w->call(w->argument), 0;
    default: return 0;
    }
}

/* Lock held. */
static void note_failure(int ordinal)
{
    struct failure *f = &failures[ordinal];
    if (f->failed)
        return;
    f->has_address = ompgpu_emu_fault(&f->address);
    snprintf(f->message, sizeof f->message, "%s", ompgpu_plugin_message());
    f->failed = true;
}

static void reach(const struct queue *q, struct work *w)
{
    w->event->failed = failures[q->ordinal].failed;
    if (w->event->reached < w->number)
        w->event->reached = w->number;
    pthread_cond_broadcast(&reached);
}

/* Lock held, but while it is done. */
static void take_turn(struct queue *q, struct work *w)
{
    if (w->kind == RECORD) {
        reach(q, w);
    } else if (w->kind == WAIT) {
        while (w->event->reached < w->number)
            pthread_cond_wait(&reached, &lock);
    } else if (!failures[q->ordinal].failed) {
        pthread_mutex_unlock(&lock);
        ompgpu_emu_set_fault(false, 0);
        int bad = do_work(q->ordinal, w);
        pthread_mutex_lock(&lock);
        if (bad)
            note_failure(q->ordinal);
    }
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
        q->first = w->next;
        if (!q->first)
            q->last = &q->first;
        take_turn(q, w);
        ompgpu_xfree(w);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static int add_work(void *queue, struct work work)
{
    struct queue *q = queue;
    struct work *w = ompgpu_xalloc(sizeof *w);
    if (!w)
        return 1;
    *w = work;
    pthread_mutex_lock(&lock);
    if (w->kind == RECORD)
        w->number = ++w->event->recorded;
    else if (w->kind == WAIT)
        w->number = w->event->recorded;
    *q->last = w;
    q->last = &w->next;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ------------------------------------------------------------------ the plugin's functions */
int ompgpu_emu_queue_create(int ordinal, void **queue)
{
    struct queue *q = ompgpu_xalloc(sizeof *q);
    if (!q)
        return 1;
    q->ordinal = ordinal;
    q->last = &q->first;
    pthread_cond_init(&q->filled, NULL);
    if (ompgpu_emu_thread_start(&q->thread, queue_thread, q)) {
        ompgpu_plugin_error("no thread can be started for a queue");
        ompgpu_xfree(q);
        return 1;
    }
    *queue = q;
    return 0;
}

void ompgpu_emu_queue_destroy(int ordinal, void *queue)
{
    struct queue *q = queue;
    (void)ordinal;
    pthread_mutex_lock(&lock);
    q->stop = true;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&lock);
    pthread_join(q->thread, NULL);
    pthread_cond_destroy(&q->filled);
    ompgpu_xfree(q);
}

int ompgpu_emu_queue_to_device(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    (void)ordinal;
    return add_work(queue,
                    (struct work){ .kind = TO_DEVICE, .dst = dst, .src = src, .size = size });
}

int ompgpu_emu_queue_from_device(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    (void)ordinal;
    return add_work(queue,
                    (struct work){ .kind = FROM_DEVICE, .dst = dst, .src = src, .size = size });
}

int ompgpu_emu_queue_copy(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    (void)ordinal;
    return add_work(queue, (struct work){ .kind = COPY, .dst = dst, .src = src, .size = size });
}

int ompgpu_emu_queue_launch(int ordinal, void *queue, struct ompgpu_function *f, unsigned teams,
                            unsigned threads, void **params)
{
    (void)ordinal;
    return add_work(
        queue, (struct work){
                   .kind = LAUNCH, .f = f, .teams = teams, .threads = threads, .params = params });
}

int ompgpu_emu_queue_call(int ordinal, void *queue, void (*function)(void *), void *argument)
{
    (void)ordinal;
    return add_work(queue, (struct work){ .kind = CALL, .call = function, .argument = argument });
}

int ompgpu_emu_queue_wait(int ordinal, void *queue, void *event)
{
    (void)ordinal;
    return add_work(queue, (struct work){ .kind = WAIT, .event = event });
}

int ompgpu_emu_event_create(int ordinal, void **event)
{
    (void)ordinal;
    *event = ompgpu_xalloc(sizeof(struct event));
    return !*event;
}

void ompgpu_emu_event_destroy(int ordinal, void *event)
{
    (void)ordinal;
    ompgpu_xfree(event);
}

int ompgpu_emu_event_record(int ordinal, void *event, void *queue)
{
    (void)ordinal;
    return add_work(queue, (struct work){ .kind = RECORD, .event = event });
}

int ompgpu_emu_event_wait(int ordinal, void *event)
{
    struct event *e = event;
    pthread_mutex_lock(&lock);
    unsigned long number = e->recorded;
    while (e->reached < number)
        pthread_cond_wait(&reached, &lock);
    const struct failure *f = &failures[ordinal];
    bool failed = e->failed || f->failed;
    pthread_mutex_unlock(&lock);
    ompgpu_emu_set_fault(failed && f->has_address, f->address);
    if (failed)
        ompgpu_plugin_error("%s", f->message);
    return failed;
}

/* A child has none of the threads: its queues are never used again. */
void ompgpu_emu_queue_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE) {
        pthread_mutex_lock(&lock);
        return;
    }
    if (when == OMPGPU_FORK_CHILD) {
        pthread_cond_init(&reached, NULL);
        memset(failures, 0, sizeof failures);
    }
    pthread_mutex_unlock(&lock);
}
