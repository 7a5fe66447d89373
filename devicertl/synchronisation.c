/* synchronisation.c - barrier, critical, flush. */
#include "devicertl/arch.h"

void __ompgpu_team_barrier(unsigned n, int line)
{
    if (n == __ompgpu_arch_ntid())
        __ompgpu_arch_barrier(line);
    else if (n > 1)
        __ompgpu_arch_barrier_part(n, line);
}

/* In sequential code and in serialised regions the caller is the only thread. */
void __ompgpu_barrier(int line)
{
    unsigned n = (unsigned)__ompgpu_num_threads();
    if (n == 1)
        return;
    __ompgpu_events_await_all(line);
    __ompgpu_team_barrier(n, line);
}

/* ------------------------------------------------------------------ cancellation */
int *__ompgpu_cancellable(int *shared, int *own, int line)
{
    *own = 0;
    if (!STATE_GET(__ompgpu_state_cancellation) || __ompgpu_num_threads() == 1)
        return own;
    if (__ompgpu_thread_id() == 0) /* all have left the construct that had the flag before */
        STATE_SET(*shared, 0);
    __ompgpu_barrier(line);
    return shared;
}

_Bool __ompgpu_cancel(int *flag, _Bool request)
{
    if (!STATE_GET(__ompgpu_state_cancellation))
        return 0;
    if (request)
        STATE_SET(*flag, 1);
    return STATE_GET(*flag);
}

void __ompgpu_not_cancelled(_Bool request, int line)
{
    if (request && STATE_GET(__ompgpu_state_cancellation))
        __ompgpu_fail("this 'cancel' is not supported on the device: see ompgpu-cc-openmp(7)",
                      line);
}

/* ------------------------------------------------------------------ ordered regions */
unsigned long *__ompgpu_turns(unsigned long *shared, unsigned long *own, int line)
{
    *own = 0;
    if (__ompgpu_num_threads() == 1)
        return own;
    if (__ompgpu_thread_id() == 0) /* all have left the loop that had it before */
        STATE_SET(*shared, 0);
    __ompgpu_barrier(line);
    return shared;
}

void __ompgpu_turn_begin(const struct __ompgpu_turn *t)
{
    while (STATE_GET(*t->next) != t->number)
        __ompgpu_arch_pause();
    __ompgpu_arch_fence();
}

void __ompgpu_turn_end(struct __ompgpu_turn *t)
{
    if (t->over)
        return;
    __ompgpu_turn_begin(t); /* waits where there was no region; orders what was in it */
    STATE_SET(*t->next, t->number + 1);
    t->over = 1;
}

/* ------------------------------------------------------------------ locks */
/* Locks are words, 0: free.  Releasing threads fence before they write, acquiring ones after they
 * have read. */
_Bool __ompgpu_try_lock(unsigned *lock)
{
    unsigned open = 0;
    if (!__scoped_atomic_compare_exchange_n(lock, &open, 1u, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                            __MEMORY_SCOPE_DEVICE))
        return 0;
    __ompgpu_arch_fence();
    __ompgpu_arch_acquired();
    return 1;
}

void __ompgpu_lock(unsigned *lock)
{
    while (!__ompgpu_try_lock(lock))
        __ompgpu_arch_pause();
}

void __ompgpu_unlock(unsigned *lock)
{
    __ompgpu_arch_fence();
    __scoped_atomic_store_n(lock, 0u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

void __ompgpu_critical_begin(unsigned *lock) { __ompgpu_lock(lock); }
void __ompgpu_critical_end(unsigned *lock) { __ompgpu_unlock(lock); }

void __ompgpu_flush(void) { __ompgpu_arch_fence_sc(); }
