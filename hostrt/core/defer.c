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
 *
 * What happens to it there is in task.c. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

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

/* ------------------------------------------------------------------ what it was called with */
struct room {
    char *at;
    size_t size, most; /* used so far, also where there is no more room; bytes at it */
};
static void *take_room(struct room *r, size_t size)
{
    size_t at = r->size;
    r->size += (size + 15) & ~(size_t)15;
    return r->size <= r->most && r->at ? r->at + at : NULL;
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

/* With too little room it counts the bytes. */
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
    struct room r = { .at = t->kept, .most = t->kept_room };
    t->nmaps = nmaps, t->nparams = nparams;
    copy_call(t, &r, maps, params);
    if (r.size <= r.most)
        return 0;
    if (!(r.at = ompgpu_task_kept(t, r.size)))
        return -1;
    r.most = r.size, r.size = 0;
    copy_call(t, &r, maps, params);
    return 0;
}

/* ------------------------------------------------------------------ the end of a host thread */
/* Of the C library, where it is glibc.  What is registered there is called before the destructors
 * of keys, among them the OpenMP library's, which forgets the thread and the tasks it has made. */
__attribute__((weak)) int __cxa_thread_atexit_impl(void (*)(void *), void *, void *object);
extern void *__dso_handle __attribute__((visibility("hidden")));

static void await_host_tasks(void)
{
    const struct ompgpu_libomp *l = ompgpu_libomp();
    if (!ompgpu_tasks_await() && l->thread && l->wait)
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
    const struct ompgpu_libomp *l = watched ? NULL : ompgpu_libomp();
    if (!l || !__cxa_thread_atexit_impl || !l->level || l->level())
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

/* ------------------------------------------------------------------ calls from generated code */
/* All tasks of a final one are included (OpenMP 5.2, 12.5.3).  And libgomp, of GCC 12 at least,
 * does not wake a team that waits at a barrier when a detached task's event comes from elsewhere.
 */
static bool must_wait_for_tasks(const struct ompgpu_libomp *l)
{
    return (l->in_final && l->in_final()) || (!l->thread && l->level && l->level() > 0);
}

/* A task that is cancelled would never begin, and its event never come. */
static bool can_defer(const struct ompgpu_device *dev)
{
    const struct ompgpu_libomp *l = ompgpu_libomp();
    return dev->plugin->queue_create && !ompgpu_has_tool && !ompgpu_exiting() && !dev->links &&
           !ompgpu_may_recover() && !(ompgpu_settings.cancellation & 1) && l->fulfill &&
           !must_wait_for_tasks(l) && ompgpu_self();
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
    stack_begin = __builtin_frame_address(0);
    watch_thread();
    if (depends)
        ompgpu_creating = t;
    else
        ompgpu_task_enqueue(t);
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
           (!region->strided || (((launch->flags & OMPGPU_LAUNCH_COVERS) ||
                                  !ompgpu_function_get(region, dev, OMPGPU_FORM_STRIDED, &other)) &&
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
    if (!dev || ompgpu_takes_parts(launch) || !find_forms(region, dev, launch, &function) ||
        !(t = ompgpu_task_get(dev)))
        return NULL;
    if (keep_call(t, maps, nmaps, params, nparams)) {
        ompgpu_task_give_up(t);
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
    if (!dev || !(t = ompgpu_task_get(dev)))
        return NULL;
    if (keep_call(t, maps, n, NULL, 0)) {
        ompgpu_task_give_up(t);
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
    struct ompgpu_task *t = dev && can_defer(dev) && l->alloc && l->allow && l->run && l->thread
                                ? ompgpu_task_get(dev)
                                : NULL;
    if (!t)
        return NULL;
    if (!ompgpu_task_kept(t, size)) {
        ompgpu_task_give_up(t);
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
    ompgpu_self(); /* the end of the process knows of the thread, maybe of the OpenMP library */
    if (ompgpu_creating == t)
        ompgpu_creating = NULL;
    ompgpu_task_begun(t, event, stack_is_deep());
}

/* ------------------------------------------------------------------ the end, and fork */
bool ompgpu_still_used(void) { return ompgpu_other_threads() || ompgpu_any_host_task(); }

/* Others may go on making constructs, so not for all of them. */
void ompgpu_deferred_settle(void)
{
    if (ompgpu_any_host_task())
        await_host_tasks();
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
    ompgpu_tasks_at_end();
    if (ompgpu_any_host_task() && l->thread && l->wait)
        l->wait(NULL, l->thread(NULL));
    ompgpu_tasks_finish();
}

/* The OpenMP library's destructor, which comes after ours, frees what threads of the program are
 * using that go on making tasks.  That of the one that ends the process is not watched any more. */
void ompgpu_deferred_leave(void)
{
    if (ompgpu_exiting() && __atomic_load_n(&nwatched, __ATOMIC_RELAXED))
        ompgpu_leave_process();
}

void ompgpu_deferred_fork(enum ompgpu_fork when)
{
    ompgpu_tasks_fork(when);
    if (when == OMPGPU_FORK_CHILD)
        nwatched = watched;
}
