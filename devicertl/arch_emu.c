/* arch_emu.c - the primitives of arch.h for the emulated device (hostrt/emu/plugin.c), where a
 * thread is a fiber and a team's fibers share one OS thread.
 *
 * What makes a kernel need fibers goes through the noinline functions __ompgpu_emu_*: codegen finds
 * from the call graph whether a kernel can reach one (OMPGPU_KERNEL_SYNC).  A kernel that cannot
 * runs as a plain loop over its threads.
 */
#ifndef __NVPTX__
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "devicertl/arch.h"
#include "hostrt/plugin.h"

/* What this folder and the host runtime both declare. */
#define SAME(a, b) _Static_assert((a) == (b), #a " and " #b " differ")
#define SAME_MEMBER(m)                                                                             \
    SAME(__builtin_offsetof(struct ompgpu_env, m), __builtin_offsetof(struct __ompgpu_env, m));    \
    SAME(sizeof((struct ompgpu_env *)0)->m, sizeof((struct __ompgpu_env *)0)->m)
SAME(sizeof(struct ompgpu_env), sizeof(struct __ompgpu_env));
SAME(4 * OMPGPU_SCAN_WORDS, __OMPGPU_SCAN_TILE);
SAME(OMPGPU_SCAN_TILES, WARP *WARP);
SAME(OMPGPU_SCAN_RECORDS, WARP *WARP + WARP);
SAME_MEMBER(scratch);
SAME_MEMBER(device_num);
SAME_MEMBER(thread_limit);
SAME_MEMBER(heap);
SAME_MEMBER(heap_bytes);
SAME_MEMBER(heap_fixed);
SAME_MEMBER(heap_copies);
SAME_MEMBER(heap_locks);
SAME_MEMBER(heap_places);
SAME_MEMBER(trip);
SAME_MEMBER(inner);
SAME_MEMBER(begin);
SAME_MEMBER(first);
SAME_MEMBER(rest);
SAME_MEMBER(cancellation);
SAME_MEMBER(mailbox);
SAME_MEMBER(dynamic_bytes);
SAME_MEMBER(team_memory);
SAME(OMPGPU_ALLOCATOR_BYTES, sizeof(struct __ompgpu_allocator));
SAME(OMPGPU_SCRATCH_HEADER, __OMPGPU_SCRATCH_HEADER);
SAME(OMPGPU_MODE_GENERIC, __OMPGPU_GENERIC);
SAME(OMPGPU_MODE_SPMD, __OMPGPU_SPMD);
SAME(OMPGPU_EMU_WARP, WARP);
SAME(OMPGPU_EMU_MAX_THREADS, MAX_TEAM);
SAME((int)OMPGPU_EMU_ADD, (int)__OMPGPU_REDUX_ADD);
SAME((int)OMPGPU_EMU_AND, (int)__OMPGPU_REDUX_AND);
SAME((int)OMPGPU_EMU_OR, (int)__OMPGPU_REDUX_OR);
SAME((int)OMPGPU_EMU_XOR, (int)__OMPGPU_REDUX_XOR);
SAME((int)OMPGPU_EMU_MIN, (int)__OMPGPU_REDUX_MIN);
SAME((int)OMPGPU_EMU_MAX, (int)__OMPGPU_REDUX_MAX);
SAME((int)OMPGPU_EMU_UMIN, (int)__OMPGPU_REDUX_UMIN);
SAME((int)OMPGPU_EMU_UMAX, (int)__OMPGPU_REDUX_UMAX);

#define EXPORT __attribute__((visibility("default")))
#define FIBERS __attribute__((noinline, convergent))

/* The interface that the plugin finds by name in the loaded image. */
EXPORT struct ompgpu_emu_ops *__ompgpu_emu_ops;
/* Where the plugin keeps the caller's, as an offset from the thread pointer. */
EXPORT long __ompgpu_emu_self_at;
/* Changes whenever a thread gets a lock, for the plugin's watchdog. */
EXPORT unsigned long __ompgpu_emu_acquired;
#define SELF (*(struct ompgpu_emu_thread * __seg_fs *)__ompgpu_emu_self_at)

void __ompgpu_emu_barrier(unsigned id, unsigned nthreads, int line);
u32 __ompgpu_emu_shuffle(u32 mask, u32 value, u32 src);
u32 __ompgpu_emu_ballot(u32 mask, int predicate);
void __ompgpu_emu_syncwarp(u32 mask);
u32 __ompgpu_emu_activemask(void);
u32 __ompgpu_emu_redux(u32 op, u32 mask, u32 value);
void __ompgpu_emu_yield(void);
u32 __ompgpu_emu_meet(u32 mask);
void __ompgpu_emu_part(u32 mask);

FIBERS void __ompgpu_emu_barrier(unsigned id, unsigned nthreads, int line)
{
    __ompgpu_emu_ops->barrier(id, nthreads, line);
}
FIBERS u32 __ompgpu_emu_shuffle(u32 mask, u32 value, u32 src)
{
    return __ompgpu_emu_ops->shuffle(mask, value, src);
}
FIBERS u32 __ompgpu_emu_ballot(u32 mask, int predicate)
{
    return __ompgpu_emu_ops->ballot(mask, predicate);
}
FIBERS void __ompgpu_emu_syncwarp(u32 mask) { __ompgpu_emu_ops->syncwarp(mask); }
FIBERS u32 __ompgpu_emu_activemask(void) { return __ompgpu_emu_ops->activemask(); }
FIBERS u32 __ompgpu_emu_redux(u32 op, u32 mask, u32 value)
{
    return __ompgpu_emu_ops->redux(op, mask, value);
}
FIBERS void __ompgpu_emu_yield(void) { __ompgpu_emu_ops->yield(); }
FIBERS u32 __ompgpu_emu_meet(u32 mask) { return __ompgpu_emu_ops->meet(mask); }
FIBERS void __ompgpu_emu_part(u32 mask) { __ompgpu_emu_ops->part(mask); }

/* For threads without a stack of their own (codegen/ir/passes/stackless.c). */
FIBERS _Bool __ompgpu_emu_arrive(u32 wait, u32 a, u32 b, u32 c);
_Bool __ompgpu_emu_arrive(u32 wait, u32 a, u32 b, u32 c)
{
    return __ompgpu_emu_ops->arrive[wait](a, b, c);
}
u32 __ompgpu_emu_result(void);
u32 __ompgpu_emu_result(void) { return *SELF->value; }
FIBERS void *__ompgpu_emu_frame(usize size);
void *__ompgpu_emu_frame(usize size) { return __ompgpu_emu_ops->frame(size); }

/* Who the caller is does not change while it runs.  Calls of these stay until everything else has
 * been optimised; then they become loads, or variables of run_threads
 * (codegen/ir/passes/threads.c). */
#define WHO(member)                                                                                \
    __attribute__((const, noinline)) unsigned __ompgpu_emu_##member(void);                         \
    unsigned __ompgpu_emu_##member(void) { return SELF->member; }                                  \
    unsigned __ompgpu_arch_##member(void) { return __ompgpu_emu_##member(); }
WHO(tid)
WHO(ntid)
WHO(team)
WHO(nteams)
unsigned __ompgpu_arch_multiprocessor(void) { return __ompgpu_arch_team(); } /* as if one each */
unsigned __ompgpu_grid(unsigned dimension) { return dimension ? 0 : __ompgpu_arch_team(); }

/* The same, for codegen/ir/passes/checks.c; it is the same as long as the thread runs. */
EXPORT __attribute__((const, noinline)) struct ompgpu_emu_thread *__ompgpu_emu_self(void);
struct ompgpu_emu_thread *__ompgpu_emu_self(void) { return SELF; }

/* Of the allocation that p points into; the size is 0 where not all of it may be used and has a
 * value. */
EXPORT __attribute__((const, noinline)) u64 __ompgpu_emu_block_begin(const void *p);
u64 __ompgpu_emu_block_begin(const void *p) { return __ompgpu_emu_ops->block(p).begin; }
EXPORT __attribute__((const, noinline)) u64 __ompgpu_emu_block_size(const void *p);
u64 __ompgpu_emu_block_size(const void *p) { return __ompgpu_emu_ops->block(p).size; }
EXPORT __attribute__((const, noinline)) u64 __ompgpu_emu_block_apart(const void *p);
u64 __ompgpu_emu_block_apart(const void *p) { return __ompgpu_emu_ops->block(p).apart; }

/* A kernel in which no thread waits, run for a span of teams and of threads of each.  `kernel` is
 * constant and becomes inline code; the call of __ompgpu_emu_is says for it who it is. */
#define RAW __attribute__((noinline, optnone))
RAW void __ompgpu_emu_is(unsigned tid, unsigned ntid, unsigned team, unsigned nteams);
void __ompgpu_emu_is(unsigned tid, unsigned ntid, unsigned team, unsigned nteams)
{
    (void)tid, (void)ntid, (void)team, (void)nteams;
}
/* Team-shared variables become fresh, in a kernel that has any; for the first team they are. */
FIBERS void __ompgpu_emu_renew(void);
void __ompgpu_emu_renew(void) { __ompgpu_emu_ops->renew(); }
void __ompgpu_emu_threads(void **params, const struct ompgpu_emu_span *, void (*kernel)(void **));
RAW void __ompgpu_emu_threads(void **params, const struct ompgpu_emu_span *span,
                              void (*kernel)(void **))
{
    struct ompgpu_emu_thread *const self = SELF;
    const unsigned ntid = self->ntid, nteams = self->nteams, last = span->team_end,
                   first_thread = span->tid, last_thread = span->tid_end;
    for (unsigned team = span->team; team < last; team++) {
        self->team = team;
        self->stamp = 0;
        if (team != span->team)
            __ompgpu_emu_renew();
        for (unsigned tid = first_thread; tid < last_thread; tid++) {
            self->tid = tid;
            __ompgpu_emu_is(tid, ntid, team, nteams);
            kernel(params);
        }
    }
}
void __ompgpu_emu_free_threads(void **params, const struct ompgpu_emu_span *,
                               void (*kernel)(void **));
RAW void __ompgpu_emu_free_threads(void **params, const struct ompgpu_emu_span *span,
                                   void (*kernel)(void **))
{
    struct ompgpu_emu_thread *const self = SELF;
    const unsigned ntid = self->ntid, nteams = self->nteams, last = span->team_end,
                   first_thread = span->tid, last_thread = span->tid_end;
    self->tid = OMPGPU_EMU_SOME_THREAD;
    for (unsigned team = span->team; team < last; team++) {
        self->team = team;
        self->stamp = 0;
        if (team != span->team)
            __ompgpu_emu_renew();
        _Pragma("clang loop vectorize(assume_safety)") for (unsigned tid = first_thread;
                                                            tid < last_thread; tid++)
        {
            __ompgpu_emu_is(tid, ntid, team, nteams);
            kernel(params);
        }
    }
}

/* Names the number: a thread that has returned from the kernel is missed, not forgotten. */
void __ompgpu_arch_barrier(int line) { __ompgpu_emu_barrier(0, __ompgpu_arch_ntid(), line); }
void __ompgpu_arch_barrier_diverged(int line) { __ompgpu_arch_barrier(line); }

/* A GPU counts the arrivals of a part that is no multiple of a warp in shared memory.  volatile: a
 * read that no write precedes must find what the plugin has put there. */
static volatile __OMPGPU_SHARED u32 __ompgpu_state_arrived __OMPGPU_SHARED_INIT;
void __ompgpu_soft_reset(void) { __ompgpu_state_arrived = 0; }
void __ompgpu_arch_barrier_part(unsigned n, int line)
{
    if (n % WARP && __ompgpu_state_arrived)
        __ompgpu_fail("the barrier of a part of the team was not set up: a fault of the compiler",
                      line);
    __ompgpu_emu_barrier(1, n, line);
}
void __ompgpu_arch_syncwarp(unsigned mask) { __ompgpu_emu_syncwarp(mask); }

u32 __ompgpu_arch_shuffle_down(unsigned mask, u32 value, unsigned delta)
{
    unsigned lane = __ompgpu_arch_tid() % WARP, src = lane + delta;
    return __ompgpu_emu_shuffle(mask, value, src < WARP ? src : lane);
}

u64 __ompgpu_arch_pair(u32 low, u32 high) { return (u64)high << 32 | low; }
void __ompgpu_arch_halves(u64 value, u32 *low, u32 *high)
{
    *low = (u32)value;
    *high = (u32)(value >> 32);
}
u32 __ompgpu_arch_here(u32 value) { return value; }
u32 __ompgpu_arch_shuffle(unsigned mask, u32 value, unsigned lane)
{
    return __ompgpu_emu_shuffle(mask, value, lane);
}
u32 __ompgpu_arch_shuffle_xor(unsigned mask, u32 value, unsigned bits)
{
    return __ompgpu_emu_shuffle(mask, value, __ompgpu_arch_tid() % WARP ^ bits);
}
u32 __ompgpu_arch_ballot(unsigned mask, _Bool vote) { return __ompgpu_emu_ballot(mask, vote); }
unsigned __ompgpu_arch_activemask(void) { return __ompgpu_emu_activemask(); }
_Bool __ompgpu_arch_has_redux(void) { return 1; }
u32 __ompgpu_arch_redux(unsigned op, unsigned mask, u32 value)
{
    return __ompgpu_emu_redux(op, mask, value);
}
u32 __ompgpu_arch_shuffle_up(unsigned mask, u32 value, unsigned delta)
{
    unsigned lane = __ompgpu_arch_tid() % WARP;
    return __ompgpu_emu_shuffle(mask, value, lane >= delta ? lane - delta : lane);
}

_Bool __ompgpu_arch_has_meetings(void) { return 1; }
_Bool __ompgpu_arch_meet(unsigned mask, void *record)
{
    SELF->records[__ompgpu_arch_tid()] = record;
    return __ompgpu_emu_meet(mask);
}
void *const *__ompgpu_arch_records(void)
{
    return SELF->records + __ompgpu_arch_tid() / WARP * WARP;
}
void __ompgpu_arch_part(unsigned mask) { __ompgpu_emu_part(mask); }

void __ompgpu_arch_pause(void) { __ompgpu_emu_yield(); }
/* That it changes is all that counts. */
void __ompgpu_arch_acquired(void)
{
    unsigned long n = __atomic_load_n(&__ompgpu_emu_acquired, __ATOMIC_RELAXED);
    __atomic_store_n(&__ompgpu_emu_acquired, n + 1, __ATOMIC_RELAXED);
}
void __ompgpu_arch_fence(void) { __atomic_thread_fence(__ATOMIC_ACQ_REL); }
void __ompgpu_arch_fence_sc(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

void *__ompgpu_arch_malloc(usize size) { return __ompgpu_emu_ops->alloc(size); }
void __ompgpu_arch_free(void *p) { __ompgpu_emu_ops->free(p); }
void *__ompgpu_arch_dynamic(void) { return __ompgpu_emu_ops->dynamic(); }
void __ompgpu_arch_object(void *p, usize size, const void *end, const char *what, _Bool fresh)
{
    __ompgpu_emu_ops->object(p, size, end, what, fresh);
}
void __ompgpu_arch_forget(void *from, const void *end) { __ompgpu_emu_ops->forget(from, end); }
usize __ompgpu_arch_block_size(const void *p) { return __ompgpu_emu_ops->block_size(p); }

/* For codegen/ir/passes/gates.c; keeps all registers, because it is hardly ever called. */
EXPORT __attribute__((preserve_all)) void *__ompgpu_emu_outside(void *);
__attribute__((preserve_all)) void *__ompgpu_emu_outside(void *p)
{
    return __ompgpu_emu_ops->outside(p);
}

/* For codegen/ir/passes/checks.c, in the same way. */
#define CHECK EXPORT __attribute__((preserve_all))
CHECK void __ompgpu_emu_check(void *, usize, struct ompgpu_emu_site *);
void __ompgpu_emu_check(void *p, usize size, struct ompgpu_emu_site *site)
{
    __ompgpu_emu_ops->check(p, size, site);
}
CHECK void __ompgpu_emu_check_text(void *, const void *, usize, unsigned, struct ompgpu_emu_site *,
                                   struct ompgpu_emu_site *);
void __ompgpu_emu_check_text(void *to, const void *from, usize most, unsigned how,
                             struct ompgpu_emu_site *reads, struct ompgpu_emu_site *writes)
{
    __ompgpu_emu_ops->check_text(to, from, most, how, reads, writes);
}
CHECK void __ompgpu_emu_check_copy(void *, const void *, usize, struct ompgpu_emu_site *);
void __ompgpu_emu_check_copy(void *to, const void *from, usize size, struct ompgpu_emu_site *site)
{
    __ompgpu_emu_ops->check_copy(to, from, size, site);
}
CHECK void __ompgpu_emu_check_bounds(u64, struct ompgpu_emu_site *);
void __ompgpu_emu_check_bounds(u64 offset, struct ompgpu_emu_site *site)
{
    __ompgpu_emu_ops->check_bounds(offset, site);
}
CHECK void __ompgpu_emu_unwritten(struct ompgpu_emu_site *);
void __ompgpu_emu_unwritten(struct ompgpu_emu_site *site) { __ompgpu_emu_ops->unwritten(site); }
CHECK void __ompgpu_emu_written(void *);
void __ompgpu_emu_written(void *p) { __ompgpu_emu_ops->written(p); }
EXPORT void __ompgpu_emu_object(void *, usize, const void *, const char *);
void __ompgpu_emu_object(void *p, usize size, const void *end, const char *what)
{
    __ompgpu_emu_ops->object(p, size, end, what, 0);
}
EXPORT void __ompgpu_emu_forget(void *, const void *);
void __ompgpu_emu_forget(void *from, const void *end) { __ompgpu_emu_ops->forget(from, end); }
CHECK void __ompgpu_emu_race(void *, usize, struct ompgpu_emu_site *, u64);
void __ompgpu_emu_race(void *p, usize size, struct ompgpu_emu_site *site, u64 value)
{
    __ompgpu_emu_ops->race(p, size, site, value);
}
CHECK void __ompgpu_emu_fenced(void);
void __ompgpu_emu_fenced(void) { __ompgpu_emu_ops->fenced(); }
CHECK void __ompgpu_emu_in_team(_Bool);
void __ompgpu_emu_in_team(_Bool is) { __ompgpu_emu_ops->in_team(is); }

double __ompgpu_arch_wtime(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
double __ompgpu_arch_wtick(void)
{
    struct timespec t;
    clock_getres(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

_Noreturn void __ompgpu_arch_assert(const char *assertion, const char *file, unsigned line,
                                    const char *function)
{
    fprintf(stderr, "%s:%u: %s: team %u, thread %u: Assertion `%s' failed.\n", file, line, function,
            __ompgpu_arch_team(), __ompgpu_arch_tid(), assertion);
    __ompgpu_arch_fail("an assertion failed", (int)line);
}

_Noreturn void __ompgpu_arch_fail(const char *message, int line)
{
    __ompgpu_emu_ops->fail(message, line);
}
#endif
