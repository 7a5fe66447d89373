/* queue.h - queues of work, each with an OS thread that does it in order: for plugins whose devices
 * have no queues of their own (emu/queue.c, mpi/queue.c), or none for all that is put into one
 * (cuda/queue.c).
 *
 * A plugin's queue and event begin with the structs below; most functions of struct ompgpu_plugin
 * are then those of this file.  What is put into a queue is only noted; the plugin's `turn` does
 * it.
 */
#ifndef OMPGPU_QUEUE_H
#define OMPGPU_QUEUE_H
#include <pthread.h>
#include "hostrt/plugin.h"

/* A thread of ours, with all signals blocked: they are the program's.  It sleeps as long as it
 * says, and not some 50 microseconds longer.  Nonzero: it cannot be started. */
int ompgpu_quiet_thread(pthread_t *, void *(*run)(void *), void *argument);

struct ompgpu_recorded { /* first of an event */
    unsigned long times; /* how often it was put into a queue; atomic */
};
struct ompgpu_work {
    struct ompgpu_work *next;
    enum ompgpu_work_kind {
        OMPGPU_WORK_TO_DEVICE,
        OMPGPU_WORK_FROM_DEVICE,
        OMPGPU_WORK_COPY,
        OMPGPU_WORK_LAUNCH,
        OMPGPU_WORK_CALL,
        OMPGPU_WORK_WAIT,
        OMPGPU_WORK_RECORD,
        OMPGPU_WORK_OTHER /* the plugin's */
    } kind;
    void *dst;
    const void *src;
    size_t size;
    struct ompgpu_function *f;
    unsigned teams, threads;
    void **params;
    void (*call)(void *);
    void *argument;
    struct ompgpu_recorded *event;
    unsigned long number; /* which time of the event's */
};
struct ompgpu_work_queue { /* first of a queue */
    pthread_mutex_t *lock; /* the plugin's, which guards queues and events */
    void *(*alloc)(size_t);
    /* Lock held, but while it does it.  RECORD and WAIT are done after a failure, too. */
    void (*turn)(struct ompgpu_work_queue *, const struct ompgpu_work *);
    /* No lock held: waits for work a little, before the thread sleeps until there is some.  May be
     * NULL. */
    void (*linger)(const struct ompgpu_work_queue *);
    pthread_t thread;
    pthread_cond_t filled;
    struct ompgpu_work *first, **last;
    unsigned undone; /* atomic: works that were added and are not done */
    bool stop;
};
/* lock, alloc, turn and linger are set.  start: of a thread that runs the function; nonzero: it
 * cannot be started, and the queue is as if it had never begun. */
int ompgpu_work_begin(struct ompgpu_work_queue *,
                      int (*start)(pthread_t *, void *(*)(void *), void *));
void ompgpu_work_end(struct ompgpu_work_queue *); /* does what is in it first */
int ompgpu_work_add(void *queue, struct ompgpu_work);
/* Where not, all that was added has been done. */
static inline bool ompgpu_work_any(const struct ompgpu_work_queue *q)
{
    return __atomic_load_n(&q->undone, __ATOMIC_ACQUIRE);
}

/* As in struct ompgpu_plugin. */
int ompgpu_work_to_device(int ordinal, void *queue, void *dst, const void *src, size_t size);
int ompgpu_work_from_device(int ordinal, void *queue, void *dst, const void *src, size_t size);
int ompgpu_work_copy(int ordinal, void *queue, void *dst, const void *src, size_t size);
int ompgpu_work_launch(int ordinal, void *queue, struct ompgpu_function *, unsigned teams,
                       unsigned threads, void **params);
int ompgpu_work_call(int ordinal, void *queue, void (*function)(void *), void *argument);
int ompgpu_work_notify(int ordinal, void *queue, void *event, void (*function)(void *),
                       void *argument);
int ompgpu_work_wait(int ordinal, void *queue, void *event);
int ompgpu_work_record(int ordinal, void *event, void *queue);
#endif
