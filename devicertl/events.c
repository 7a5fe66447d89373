/* events.c - events of detached tasks.
 *
 * Tasks run at once, so of a detached task nothing is left to do but to wait for its event, where
 * taskwait, the end of a taskgroup, a barrier or the end of the parallel region or kernel says so.
 * The thread that encountered the task waits; each has a list of its events, newest first:
 *
 *     newest -> { number 7, task 5 } -> { number 4, task 0 } -> { number 2, task 1 }
 *
 * Tasks and events are numbered as they begin.  `task` is the task that generated the event's, 0
 * when that has ended: taskwait then has no business with it any more, an enclosing taskgroup has.
 * Whoever fulfils an event touches it once; the waiting thread frees it afterwards.
 *
 * Programs without such tasks have nothing of this, also at -O0, where the lists would take a third
 * of the shared memory: the device tool deletes the calls of __ompgpu_events_… functions
 * (codegen/ir/passes/configure.c), which must not be inlined before. */
#include "devicertl/arch.h"

__attribute__((weak)) const u8 __ompgpu_cfg_events = 1;

struct event {
    struct event *next;
    u32 number, task;
    u32 depends, fulfilled;
};
static __OMPGPU_SHARED u64 __ompgpu_state_events[MAX_TEAM + 1] __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED u32 __ompgpu_state_event_task[MAX_TEAM + 1] __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED u32 __ompgpu_state_event_last[MAX_TEAM + 1] __OMPGPU_SHARED_INIT;

static void reset_events(unsigned place)
{
    __ompgpu_state_events[place] = 0;
    __ompgpu_state_event_task[place] = __ompgpu_state_event_last[place] = 1;
}

__attribute__((noinline)) void __ompgpu_events_reset(int mode)
{
    if (!__ompgpu_cfg_events)
        return;
    reset_events(__ompgpu_arch_tid());
    if (mode == __OMPGPU_GENERIC && __ompgpu_arch_tid() == 0)
        reset_events(MAX_TEAM);
}

/* ------------------------------------------------------------------ one event */
static _Bool is_fulfilled(struct event *e)
{
    if (!__scoped_atomic_load_n(&e->fulfilled, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE))
        return 0;
    __ompgpu_arch_fence();
    __ompgpu_arch_acquired();
    return 1;
}

/* Is there no other thread that could? */
static _Bool is_alone(void)
{
    return __ompgpu_arch_nteams() == 1 && (__ompgpu_level() == 0 || __ompgpu_outer_size() == 1);
}

static void await(struct event *e, int line)
{
    while (!is_fulfilled(e)) {
        if (is_alone())
            __ompgpu_fail("a detached task's event is waited for, which no other thread can "
                          "fulfill",
                          line);
        __ompgpu_arch_pause();
    }
}

unsigned long __ompgpu_event(_Bool depends, int line)
{
    unsigned place = __ompgpu_own_place();
    struct event *e = __ompgpu_arch_malloc(sizeof *e);
    if (e)
        *e = (struct event){ (struct event *)__ompgpu_state_events[place],
                             ++__ompgpu_state_event_last[place], __ompgpu_state_event_task[place],
                             depends, 0 };
    else
        __ompgpu_fail("no memory for a detached task's event", line);
    __ompgpu_state_events[place] = (u64)e;
    __ompgpu_arch_fence();
    return (unsigned long)e;
}

void __ompgpu_event_await(unsigned long event, int line) { await((struct event *)event, line); }

void omp_fulfill_event(unsigned long);
void omp_fulfill_event(unsigned long event)
{
    struct event *e = (struct event *)event;
    __ompgpu_arch_fence();
    __scoped_atomic_store_n(&e->fulfilled, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

/* ------------------------------------------------------------------ all that are waited for */
/* Of those after `since`, all, or those of this task's children, with depend. */
static void await_events(u32 since, u32 task, _Bool depends, int line)
{
    unsigned place = __ompgpu_own_place();
    struct event *last = (struct event *)0, *next;
    for (struct event *e = (struct event *)__ompgpu_state_events[place]; e && e->number > since;
         e = next) {
        next = e->next;
        if ((task && e->task != task) || (depends && !e->depends)) {
            last = e;
            continue;
        }
        await(e, line);
        if (last)
            last->next = next;
        else
            __ompgpu_state_events[place] = (u64)next;
        __ompgpu_arch_free(e);
    }
}

void __ompgpu_events_wait(_Bool depends, int line)
{
    if (__ompgpu_cfg_events)
        await_events(0, __ompgpu_state_event_task[__ompgpu_own_place()], depends, line);
}

__attribute__((noinline)) void __ompgpu_events_await_all(int line)
{
    if (__ompgpu_cfg_events)
        await_events(0, 0, 0, line);
}

unsigned __ompgpu_events_begin(void)
{
    return __ompgpu_cfg_events ? __ompgpu_state_event_last[__ompgpu_own_place()] : 0;
}

void __ompgpu_events_end(unsigned since, int line)
{
    if (__ompgpu_cfg_events)
        await_events(since, 0, 0, line);
}

/* ------------------------------------------------------------------ tasks */
unsigned __ompgpu_events_task(void)
{
    unsigned place = __ompgpu_own_place(), before;
    if (!__ompgpu_cfg_events)
        return 0;
    before = __ompgpu_state_event_task[place];
    __ompgpu_state_event_task[place] = ++__ompgpu_state_event_last[place];
    return before;
}

void __ompgpu_events_task_end(unsigned before)
{
    unsigned place = __ompgpu_own_place();
    if (!__ompgpu_cfg_events)
        return;
    for (struct event *e = (struct event *)__ompgpu_state_events[place];
         e && e->number > __ompgpu_state_event_task[place]; e = e->next)
        if (e->task == __ompgpu_state_event_task[place])
            e->task = 0;
    __ompgpu_state_event_task[place] = before;
}
