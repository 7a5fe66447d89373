/* queue.c - queues of the emulated device: each has an OS thread that does its work in order, with
 * the plugin's own functions.
 *
 * An event counts how often it was recorded and how often that was reached; to wait for it is to
 * wait for the number that it had when the wait was asked for.  All of it is under one lock, which
 * no work holds.  As with CUDA a failure is one of the device: nothing more is done on it. */
#include <stdio.h>
#include <string.h>
#include "hostrt/emu/emu.h"
#include "hostrt/queue.h"

struct event {
    struct ompgpu_recorded recorded;
    unsigned long reached; /* how often that was */
    bool failed;           /* what is before it */
    uint32_t *before;      /* for races (order.c): what is before it; NULL: not known */
};
struct queue {
    struct ompgpu_work_queue work;
    int ordinal;
    unsigned slot; /* for races */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  /* guards all below, queues and events */
static pthread_cond_t reached = PTHREAD_COND_INITIALIZER; /* some event */
static struct failure {
    bool failed, has_address;
    uintptr_t address;
    char message[1024];
} failures[EMU_MAX_DEVICES];

/* ------------------------------------------------------------------ work */
static bool has_moment(const struct ompgpu_work *w) { return w->kind <= OMPGPU_WORK_LAUNCH; }

static int launch_or_copy(int ordinal, const struct ompgpu_work *w)
{
    const struct ompgpu_plugin *p = &ompgpu_emu_plugin;
    switch (w->kind) {
    case OMPGPU_WORK_TO_DEVICE: return p->to_device(ordinal, w->dst, w->src, w->size);
    case OMPGPU_WORK_FROM_DEVICE: return p->from_device(ordinal, w->dst, w->src, w->size);
    case OMPGPU_WORK_COPY: return p->device_copy(ordinal, w->dst, w->src, w->size);
    default: return p->launch(ordinal, w->f, w->teams, w->threads, w->params);
    }
}

/* The rest needs no lock. */
static int do_work(int ordinal, const struct ompgpu_work *w)
{
    if (has_moment(w)) {
        ompgpu_emu_moment = w->argument;
        int bad = launch_or_copy(ordinal, w);
        ompgpu_emu_moment = NULL;
        if (w->argument)
            ompgpu_emu_order_end(w->argument);
        ompgpu_xfree(w->argument);
        return bad;
    }
    switch (w->kind) {
    case OMPGPU_WORK_CALL:
        ompgpu_reads_pause(true);
        ompgpu_emu_use_begin();
        w->call(w->argument);
        ompgpu_emu_use_end();
        ompgpu_reads_pause(false);
        return 0;
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

static void reach(const struct queue *q, const struct ompgpu_work *w)
{
    struct event *e = (struct event *)w->event;
    e->failed = failures[q->ordinal].failed;
    if (e->reached < w->number)
        e->reached = w->number;
    pthread_cond_broadcast(&reached);
}

static void take_turn(struct ompgpu_work_queue *work, const struct ompgpu_work *w)
{
    const struct queue *q = (const struct queue *)work;
    if (w->kind == OMPGPU_WORK_RECORD) {
        reach(q, w);
    } else if (w->kind == OMPGPU_WORK_WAIT) {
        while (((struct event *)w->event)->reached < w->number)
            pthread_cond_wait(&reached, &lock);
    } else if (failures[q->ordinal].failed) {
        ompgpu_xfree(has_moment(w) ? w->argument : NULL);
    } else {
        pthread_mutex_unlock(&lock);
        ompgpu_emu_set_fault(false, 0);
        int bad = do_work(q->ordinal, w);
        pthread_mutex_lock(&lock);
        if (bad)
            note_failure(q->ordinal);
    }
}

/* ------------------------------------------------------------------ the plugin's functions */
int ompgpu_emu_queue_create(int ordinal, void **queue)
{
    struct queue *q = ompgpu_xalloc(sizeof *q);
    if (!q)
        return 1;
    q->ordinal = ordinal;
    q->slot = ompgpu_emu_slot_take();
    q->work.lock = &lock, q->work.alloc = ompgpu_xalloc, q->work.turn = take_turn;
    if (ompgpu_work_begin(&q->work, ompgpu_emu_thread_start)) {
        ompgpu_plugin_error("no thread can be started for a queue");
        ompgpu_emu_slot_give(q->slot);
        ompgpu_xfree(q);
        return 1;
    }
    *queue = q;
    return 0;
}

void ompgpu_emu_queue_destroy(int ordinal, void *queue)
{
    (void)ordinal;
    ompgpu_work_end(queue);
    ompgpu_emu_slot_give(((struct queue *)queue)->slot);
    ompgpu_xfree(queue);
}

static int add_with_moment(struct queue *q, struct ompgpu_work w, struct emu_copier *copier)
{
    struct emu_moment *m = ompgpu_xalloc(sizeof *m);
    if (!m)
        return 1;
    ompgpu_emu_order_next(q->slot, m);
    m->copier = copier;
    if (w.kind == OMPGPU_WORK_TO_DEVICE)
        ompgpu_emu_source_put(m, w.src, w.size);
    w.argument = m;
    return ompgpu_work_add(q, w);
}

int ompgpu_emu_queue_launch(int ordinal, void *queue, struct ompgpu_function *f, unsigned teams,
                            unsigned threads, void **params)
{
    const struct ompgpu_work w = {
        .kind = OMPGPU_WORK_LAUNCH, .f = f, .teams = teams, .threads = threads, .params = params
    };
    (void)ordinal;
    return ompgpu_emu_race_looked_for() ? add_with_moment(queue, w, NULL)
                                        : ompgpu_work_add(queue, w);
}

static int add_copy(void *queue, enum ompgpu_work_kind kind, enum emu_direction direction,
                    void *dst, const void *src, size_t size)
{
    const struct ompgpu_work w = { .kind = kind, .dst = dst, .src = src, .size = size };
    struct emu_copier *copier = ompgpu_emu_race_looked_for() ? ompgpu_emu_copier(direction) : NULL;
    return copier ? add_with_moment(queue, w, copier) : ompgpu_work_add(queue, w);
}

int ompgpu_emu_queue_to_device(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    (void)ordinal;
    return add_copy(queue, OMPGPU_WORK_TO_DEVICE, EMU_TO_DEVICE, dst, src, size);
}

int ompgpu_emu_queue_from_device(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    (void)ordinal;
    return add_copy(queue, OMPGPU_WORK_FROM_DEVICE, EMU_FROM_DEVICE, dst, src, size);
}

int ompgpu_emu_queue_copy(int ordinal, void *queue, void *dst, const void *src, size_t size)
{
    (void)ordinal;
    return add_copy(queue, OMPGPU_WORK_COPY, EMU_WITHIN_DEVICE, dst, src, size);
}

int ompgpu_emu_queue_wait(int ordinal, void *queue, void *event)
{
    const struct event *e = event;
    if (e->before)
        ompgpu_emu_order_wait(((struct queue *)queue)->slot, e->before);
    return ompgpu_work_wait(ordinal, queue, event);
}

int ompgpu_emu_event_create(int ordinal, void **event)
{
    (void)ordinal;
    *event = ompgpu_xalloc(sizeof(struct event));
    return !*event;
}

void ompgpu_emu_event_destroy(int ordinal, void *event)
{
    struct event *e = event;
    (void)ordinal;
    ompgpu_xfree(e->before);
    ompgpu_xfree(e);
}

int ompgpu_emu_event_record(int ordinal, void *event, void *queue)
{
    struct event *e = event;
    if (ompgpu_emu_race_looked_for() && !e->before &&
        !(e->before = ompgpu_xalloc(EMU_SLOTS * sizeof *e->before)))
        return 1;
    if (e->before)
        ompgpu_emu_order_record(((struct queue *)queue)->slot, e->before);
    return ompgpu_work_record(ordinal, event, queue);
}

int ompgpu_emu_event_wait(int ordinal, void *event)
{
    struct event *e = event;
    pthread_mutex_lock(&lock);
    unsigned long number = e->recorded.times;
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
