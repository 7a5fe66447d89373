/* deferred.h - constructs with `nowait` (defer.c, task.c), which of them wait for which (depend.c),
 * and what they will still copy to the host (returning.c). */
#ifndef OMPGPU_DEFERRED_H
#define OMPGPU_DEFERRED_H
#include "hostrt/core/core.h"
#pragma GCC visibility push(hidden)

struct ompgpu_queue { /* guarded by the device's lock */
    void *handle;     /* plugin's */
    struct ompgpu_buffers buffers;
    struct ompgpu_ticket last; /* put into it */
    /* Those that were put into it and not collected, from number `taken` on: at its rest by `room`.
     * task.c's lock, too, guards what it has `taken`, which is atomic, and what grows. */
    struct ompgpu_task **ring;
    size_t put, taken, room; /* put: atomic, for who has that lock only */
};
struct ompgpu_task {
    struct ompgpu_task *next;
    /* What the thread that sees it end looks at comes first, since each line of it goes there and
     * back.  finished: atomic, the serial of the construct that has ended last; not more: under way
     */
    uint64_t serial, finished;
    struct ompgpu_returning *returning;
    struct ompgpu_entry *dropped; /* to be freed when it has ended, by `range.left` */
    uintptr_t event_of_host;      /* omp_event_handle_t of the host task */
    unsigned state;               /* atomic; bits of task.c */
    struct ompgpu_device *dev;    /* immutable, as event */
    void *event;                  /* plugin's: recorded when all of it has been done */
    struct ompgpu_queue *queue;
    struct ompgpu_where where;
    /* puts what it does into its queue */
    int (*enqueue)(struct ompgpu_task *);
    struct ompgpu_region *region; /* NULL: it is none */
    /* copies, in `kept`, of what the construct was called with */
    struct ompgpu_map *maps;
    struct ompgpu_param *params;
    unsigned nmaps, nparams;
    struct ompgpu_launch launch;
    void *kept, *pieces; /* pieces: of ompgpu_task_keep() */
    size_t kept_room;
    /* its launch */
    struct ompgpu_function *function;
    uintptr_t *addresses;
    void **arguments;
    struct ompgpu_env env;
    struct ompgpu_geometry geometry;
    double start;                /* ompgpu_clock() */
    struct ompgpu_ticket *waits; /* what must have ended before */
    unsigned nwaits, room;
    bool enqueued;
    /* atomic: the serial of the last construct that is in its queue, and that others may wait for
     * there */
    uint64_t placed;
};
static inline struct ompgpu_ticket ompgpu_ticket_of(struct ompgpu_task *t)
{
    return (struct ompgpu_ticket){ t, t->serial };
}
static inline bool ompgpu_under_way(struct ompgpu_ticket t)
{
    return t.task && __atomic_load_n(&t.task->finished, __ATOMIC_ACQUIRE) < t.serial;
}
/* What `self` does from now on, or with NULL this host thread, comes after the other has ended.
 */
int ompgpu_task_await(struct ompgpu_task *self, struct ompgpu_ticket other);
/* `bytes` of the caller's, for a copy in the task's queue; NULL: out of memory */
const void *ompgpu_task_keep(struct ompgpu_task *, const void *bytes, size_t size);
char *ompgpu_task_room(struct ompgpu_task *, size_t size); /* the same without a value */
int ompgpu_task_wait_for(struct ompgpu_task *, struct ompgpu_ticket other); /* before it begins */
/* Until all that it waits for is in queues.  Nothing is held. */
void ompgpu_task_await_placed(const struct ompgpu_task *);
/* task.c.  One that nothing is known of; NULL: out of memory. */
struct ompgpu_task *ompgpu_task_get(struct ompgpu_device *);
void ompgpu_task_give_up(struct ompgpu_task *); /* nothing was done with it; it has no host task */
void *ompgpu_task_kept(struct ompgpu_task *, size_t size); /* room in `kept`; NULL: out of memory */
void ompgpu_task_enqueue(struct ompgpu_task *);            /* or ends the program */
/* Its host task has begun, whose `event` is to be fulfilled when it has ended; deep: not in the
 * calling thread, whose stack has grown. */
void ompgpu_task_begun(struct ompgpu_task *, uintptr_t event, bool deep);
/* Ends the program: what was put into queues may never end, and nobody waits for it. */
void ompgpu_enqueue_failed(const struct ompgpu_where *) __attribute__((noreturn));
void ompgpu_dropped_free(struct ompgpu_device *); /* what ended constructs have removed */
/* Device memory; where there is none, what constructs under way will give back is waited for. */
int ompgpu_memory_get(struct ompgpu_device *, size_t size, void **);
int ompgpu_region_enqueue(struct ompgpu_task *); /* target.c */
/* For a routine that is a target task with dependence objects: `enqueue` will find a copy of the
 * arguments in `kept`.  false: the caller does it now; what it depends on has ended. */
bool ompgpu_defer_routine(struct ompgpu_device *, const char *name,
                          int (*enqueue)(struct ompgpu_task *), const void *arguments, size_t size,
                          int ndepend, void **depend);
/* depend.c: the host task of a deferred routine; false: out of memory */
bool ompgpu_host_task(struct ompgpu_task *, int ndepend, void **depend);
bool ompgpu_any_deferred(void);  /* in this process, so far */
bool ompgpu_any_host_task(void); /* … that has not ended */
int ompgpu_tasks_await(void);    /* those made so far; nonzero: one has failed */
void ompgpu_tasks_at_end(void);  /* from now on no more come */
void ompgpu_tasks_finish(void);  /* all of them, after that */
void ompgpu_tasks_fork(enum ompgpu_fork when);
/* Waits for those that are in queues, and for all that this thread has made: their host tasks may
 * be code of a library that is about to go. */
void ompgpu_deferred_settle(void);
void ompgpu_deferred_stop(void);  /* the process ends: no more come */
void ompgpu_deferred_leave(void); /* … and there are threads that make some still */
void ompgpu_deferred_close(struct ompgpu_device *);
void ompgpu_deferred_return(struct ompgpu_device *, struct ompgpu_buffers *); /* to task.c */
void ompgpu_deferred_fork(enum ompgpu_fork when);
/* returning.c: before storage gets a mapping, self waits, or with NULL this host thread, for what
 * deferred constructs will copy there */
int ompgpu_returning_await(struct ompgpu_device *, struct ompgpu_task *self, uintptr_t begin,
                           size_t size);
int ompgpu_returning_add(struct ompgpu_task *, uintptr_t begin, size_t size);
/* A construct will still copy some of it, `by`. */
bool ompgpu_returning_at(struct ompgpu_device *, uintptr_t begin, size_t size,
                         struct ompgpu_ticket *by);
void ompgpu_returning_end(struct ompgpu_task *); /* it has been copied */
void ompgpu_returning_fork(enum ompgpu_fork when);
/* depend.c: the construct whose host task, with dependences, this host thread is about to make */
extern _Thread_local struct ompgpu_task *ompgpu_creating __attribute__((tls_model("initial-exec")));
void ompgpu_depend_fork(enum ompgpu_fork when);
struct ompgpu_libomp { /* its functions; NULL: it has none */
    void (*fulfill)(uintptr_t event);
    int (*thread)(void *), (*team_size)(void), (*level)(void), (*in_final)(void);
    int (*wait)(void *, int);
    void *(*alloc)(void *, int, int, size_t, size_t, int (*)(int, void *));
    uintptr_t (*allow)(void *, int, void *); /* … a detached task's event */
    int (*run)(void *, int, void *);
    int (*task)(void *, int, void *, int, void *, int, void *);
    void (*taskwait)(void *, int, int, void *, int, void *, int);
};
const struct ompgpu_libomp *ompgpu_libomp(void);
#pragma GCC visibility pop
#endif
