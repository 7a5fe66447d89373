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
    if (__ompgpu_level() == 1)
        __ompgpu_team_barrier((unsigned)__ompgpu_num_threads(), line);
}

void __ompgpu_critical_begin(unsigned *lock)
{
    for (;;) {
        unsigned open = 0;
        if (__scoped_atomic_compare_exchange_n(lock, &open, 1u, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE))
            return;
        __ompgpu_arch_pause();
    }
}

void __ompgpu_critical_end(unsigned *lock)
{
    __scoped_atomic_store_n(lock, 0u, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
}

void __ompgpu_flush(void) { __scoped_atomic_thread_fence(__ATOMIC_SEQ_CST, __MEMORY_SCOPE_DEVICE); }
