/* ompgpu_device.h - the ABI between generated device C and the device runtime (`devicertl/`).
 *
 * Every generated `X.device.c` is compiled with `-include ompgpu_device.h`, once for nvptx64 and
 * once for x86_64 (the emulated device); the runtime's bitcode is compiled against the same header.
 * No other header is included here, no macro without the __OMPGPU prefix is defined but one of a
 * builtin, because user text follows.
 *
 * Words: a team is a CUDA block, a thread a CUDA thread.  In a kernel of SPMD mode every thread of
 * the team runs the region.  In one of generic mode the main thread (thread 0) runs it, and the
 * other threads, the workers, wait in the state machine until it encounters a parallel region.
 * Sequential code is what no parallel region encloses.
 *
 * What codegen writes for one region `main_14` (codegen/c/codegen.h shows its body):
 *
 *     __OMPGPU_REGION void main_14__omp_region(struct __ompgpu_env *__omp_env, T0 a, T1 *b)
 *     {
 *         …
 *     }
 *     __OMPGPU_INFO(main_14, SPMD, line, column, max_threads, reduce_bytes, flags,
 *             "function", "file.c", "directive text")
 *     #ifdef __NVPTX__
 *     __attribute__((nvptx_kernel)) void main_14(struct __ompgpu_env __omp_env, T0 a, T1 *b)
 *     {
 *         if (__ompgpu_kernel_begin(&__omp_env, __OMPGPU_SPMD)) {
 *             main_14__omp_region(&__omp_env, a, b);
 *             __ompgpu_kernel_end(&__omp_env, __OMPGPU_SPMD);
 *         }
 *     }
 *     #else                             // emulated: [0] is the environment, [i + 1] the address of
 *     void main_14(void **__omp_p)      // argument i, as for cuLaunchKernel
 *     {
 *         struct __ompgpu_env *__omp_env = __omp_p[0];
 *         if (__ompgpu_kernel_begin(__omp_env, __OMPGPU_SPMD)) {
 *             main_14__omp_region(__omp_env, *(T0 *)__omp_p[1], *(void * *)__omp_p[2]);
 *             __ompgpu_kernel_end(__omp_env, __OMPGPU_SPMD);
 *         }
 *     }
 *     #endif
 *
 * Contracts below say for each function who calls it, whether it is a barrier (all threads named
 * wait, and what each wrote before is visible to all afterwards), and who owns what is returned.
 * "All threads" are those of the innermost parallel region.  Where nothing is said of waiting, the
 * function does not wait and orders no memory accesses.  Sizes and offsets are in bytes, addresses
 * are generic, `line` is the user's line for messages, 0: none. */
#ifndef __OMPGPU_DEVICE_H
#define __OMPGPU_DEVICE_H

#pragma pack(push, 16) /* whatever -fpack-struct says */
#define __OMPGPU_DEVICE_ABI 3
#define __OMPGPU_GENERIC 0
#define __OMPGPU_SPMD 1

#ifdef __NVPTX__
#define __OMPGPU_SHARED                                                                            \
    __attribute__((                                                                                \
        address_space(3))) /* team-shared storage; only as `static __OMPGPU_SHARED T v;` … */
#define __OMPGPU_SHARED_INIT __attribute__((loader_uninitialized)) /* … __OMPGPU_SHARED_INIT */
#else
#define __OMPGPU_SHARED __thread /* a team runs on one OS thread, one team after the other */
#define __OMPGPU_SHARED_INIT
#endif
#define __OMPGPU_INLINE static __inline__ __attribute__((always_inline))
/* What this file defines: its code is at the line of the call. */
#define __OMPGPU_HELPER __OMPGPU_INLINE __attribute__((nodebug))
/* What a generated function is, for the device tool, which takes the section away again: its name
 * may be a user's, too.  (`annotate` would count as a use of the function's address.) */
#define __OMPGPU_REGION __OMPGPU_INLINE __attribute__((section("ompgpu.region")))
#define __OMPGPU_PARALLEL static __attribute__((section("ompgpu.parallel")))

/* First kernel parameter, by value; filled by the host runtime, whose struct ompgpu_env
 * (hostrt/plugin.h) is the same: devicertl/arch_emu.c checks it. */
#define __OMPGPU_SCRATCH_HEADER 128
struct __ompgpu_env {
    /* league reduction: 128-byte header (first word: arrival counter, 0 between kernels), then
     * num_teams slots of reduce_bytes rounded up to 16; NULL without reduction */
    void *scratch;
    unsigned device_num;
    /* threads a parallel region may use: the launched team size */
    unsigned thread_limit;
    /* team heaps (devicertl/storage.c), one after the other; NULL: the kernel needs none */
    void *heap;
    unsigned long heap_bytes; /* of each */
    /* bytes at its begin that the compiler has assigned to locals */
    unsigned long heap_fixed;
    /* bytes at its end for private copies of reduced arrays in parallel regions */
    unsigned long heap_copies;
    /* NULL: team t has heap t.  Else there are fewer heaps than teams: heap_places of them, with a
     * lock each (0 between kernels), which a team claims */
    unsigned *heap_locks;
    unsigned heap_places;
    /* covering kernels: the iterations of the league's loop nest, at most an iteration a thread; of
     * its loops but the first, what divides by their trip counts (a / d is a * multiplier >> shift,
     * with 64 bits); where there is no strided kernel, the number that the first iteration of this
     * launch, which may be one of several, has in the nest of loops 0 … k, modulo 2^32, and in a
     * single loop that counts in 64 bits */
    unsigned trip;
    struct __ompgpu_divisor {
        unsigned multiplier, shift;
    } inner[3];
    unsigned begin[4];
    unsigned long first;
    /* wide kernels: `trip` counts groups of iterations; those after the last whole group.  Tiled
     * ones: the grid has `trip` rows of tiles, and `rest` planes */
    unsigned rest;
    unsigned cancellation;            /* cancel-var: 0 or 1 */
    struct __ompgpu_mailbox *mailbox; /* NULL: no function of the host can be called */
    unsigned dynamic_bytes;           /* of team-shared memory: ompx_dyn_cgroup_mem, and … */
    unsigned team_memory;             /* … after it the pool of devicertl/team_memory.c */
};

/* What the device tool and the host runtime need to know of a kernel; read from IR by codegen, then
 * deleted. */
struct __ompgpu_kernel_info {
    const char *name, *function, *file, *directive;
    unsigned line, column;
    unsigned mode;         /* __OMPGPU_GENERIC / __OMPGPU_SPMD */
    unsigned max_threads;  /* constant thread_limit / num_threads clause, 0 unknown */
    unsigned reduce_bytes; /* sizeof the league reduction record, 0 none */
    /* OMPGPU_KERNEL_* of hostrt/image.h; 1: generic kernel that can reach a parallel region */
    unsigned flags;
};
#define __OMPGPU_INFO(id, mode, line, col, maxthreads, redbytes, flags, function, file, directive) \
    __attribute__((used)) const struct __ompgpu_kernel_info __ompgpu_info_##id = {                 \
        #id, function, file, directive, line, col, __OMPGPU_##mode, maxthreads, redbytes, flags    \
    };
/* `requires unified_shared_memory`: kernels may use the host's memory. */
#define __OMPGPU_UNIFIED __attribute__((used)) static const char __ompgpu_unified_memory = 1;

/* -ffast-math: the GPU may take subnormal numbers of type float for zero. */
#ifdef __FAST_MATH__
__attribute__((used)) static const char __ompgpu_fastmath_flag = 1;
#endif
/* A reduction, for remarks: its variables, those of them that are in the record and those that are
 * arrays reduced element by element, the record's size, and where the result goes (__OMPGPU_RED_*),
 * or that it is a scan (`arrays`: iterations of a thread in a step). Read from IR by codegen, then
 * deleted. */
enum {
    __OMPGPU_RED_TEAM,
    __OMPGPU_RED_LEAGUE,
    __OMPGPU_RED_TEAMS,
    __OMPGPU_RED_SCAN,
    __OMPGPU_RED_KIND = 3, /* the bits of the above */
    __OMPGPU_RED_ATOMIC = 4,
    __OMPGPU_RED_REDUX = 8,
    __OMPGPU_RED_EXCLUSIVE = 16,
    __OMPGPU_RED_LOCKED = 32,
    __OMPGPU_RED_WHOLE_WARPS = 64,
    __OMPGPU_RED_DEFERRED = 128,
    /* some arrays are combined in rows of memory; … by shuffles, or by one thread */
    __OMPGPU_RED_ROWS = 256,
    __OMPGPU_RED_SHUFFLED = 512,
    __OMPGPU_RED_TILES = 1024 /* a scan by all teams */
};
struct __ompgpu_reduction_info {
    const char *file, *names;
    unsigned line, column, variables, arrays, bytes, how;
};
#define __OMPGPU_REDUCTION(id, file, names, line, col, variables, arrays, bytes, how)              \
    __attribute__((used)) const struct __ompgpu_reduction_info __ompgpu_reduction_##id = {         \
        file, names, line, col, variables, arrays, bytes, how                                      \
    };
/* A declare target variable: codegen gives `address`'s global external linkage under the name
 * `export`. */
struct __ompgpu_var_info {
    const char *export_name;
    const void *address;
    unsigned long size;
};
#define __OMPGPU_VAR(export_id, var)                                                               \
    __attribute__((used))                                                                          \
    const struct __ompgpu_var_info __ompgpu_varinfo_##export_id = { #export_id, &(var),            \
                                                                    sizeof(var) };

/* The user's assumptions about a function (`assumes`, [[omp::assume]]); words as in LLVM's
 * attribute "llvm.assume". */
struct __ompgpu_assume_info {
    const void *function;
    const char *words;
};
#define __OMPGPU_ASSUME(f, words)                                                                  \
    static __attribute__((used))                                                                   \
    const struct __ompgpu_assume_info __ompgpu_assumeinfo_##f = { (const void *)f, words };
/* From here on, and in all that is called, these assumptions hold and no others; deleted by
 * codegen.
 */
void __ompgpu_assume(const char *words);

/* Nothing below may be duplicated, sunk or hoisted across a branch: barriers and shuffles hide in
 * it. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((convergent)), apply_to = function)
#endif

/* ------------------------------------------------------------------ kernel */
/* All launched threads call it first.  True: the caller runs the region and calls kernel_end
 * afterwards.  SPMD mode: true for all; no barrier, except where team heaps must be claimed.
 * Generic mode: true for the main thread at once; the workers run what it forks and return, with
 * false, when it has called kernel_end.  `mode` is constant: __OMPGPU_SPMD or __OMPGPU_GENERIC. */
_Bool __ompgpu_kernel_begin(struct __ompgpu_env *, int mode);
/* All threads for which kernel_begin was true call it last.  Generic mode: releases the workers. */
void __ompgpu_kernel_end(struct __ompgpu_env *, int mode);

/* ------------------------------------------------------------------ who am I
 * Any thread, anywhere. */
int __ompgpu_team_id(void); /* 0 … num_teams - 1 */
int __ompgpu_num_teams(void);
/* In the innermost enclosing parallel region: 0 … num_threads - 1; 0 in sequential code. */
int __ompgpu_thread_id(void);
/* Of that region; 1 in sequential code and in serialised (nested) regions. */
int __ompgpu_num_threads(void);
/* Parallel regions that enclose the caller.  The threads of an SPMD kernel start at 1, the main
 * thread of a generic one at 0. */
unsigned __ompgpu_level(void);

/* ------------------------------------------------------------------ parallel */
/* A parallel region (section 10.1 of OpenMP 5.2): fn(ctx) on its threads.  Returns when all have
 * finished, and what they wrote is visible to the caller.  num_threads 0: no clause.  One thread,
 * the caller, runs it where cond is false or a parallel region encloses the call.  The caller owns
 * ctx; the team must be able to reach it and all it points to: codegen moves locals of sequential
 * code whose address escapes to team-shared storage or to the team heap. */
void __ompgpu_parallel(void (*fn)(void *ctx), void *ctx, int num_threads, _Bool cond);
/* The same, by the main thread of a generic kernel in sequential code; written by codegen's passes
 * in place of __ompgpu_parallel where that is known. */
void __ompgpu_fork(void (*fn)(void *ctx), void *ctx, int num_threads, _Bool cond);

/* ------------------------------------------------------------------ teams in a function
 * A teams region that is in no target region's text: the thread that encounters it, in sequential
 * code of a launch with one team, runs the teams one after the other.  thread_limit 0: no clause.
 * From begin until next has said false __ompgpu_team_id and __ompgpu_num_teams are those of this
 * league; next goes on to the next team. */
void __ompgpu_league_begin(int num_teams, int thread_limit, int line);
_Bool __ompgpu_league_next(void);

/* ------------------------------------------------------------------ arrays of run-time size
 * Where a thread of a GPU has those that are its own (devicertl/arrays.c).  Inserted by codegen's
 * passes, never by the writers. */
enum {
    __OMPGPU_FRAME_ROOM = 1024, /* bytes without the device's heap */
    __OMPGPU_FRAME_ALIGN = 16,
    __OMPGPU_FRAME_BYTES = 2 * __OMPGPU_FRAME_ALIGN + __OMPGPU_FRAME_ROOM
};
struct __ompgpu_frame;
/* First and last in a function; end gives back what is left. */
void __ompgpu_frame_begin(struct __ompgpu_frame *);
void __ompgpu_frame_end(struct __ompgpu_frame *);
/* An array of `size` bytes, not initialised; alignment: a power of two. */
void *__ompgpu_frame_array(struct __ompgpu_frame *, unsigned long size, unsigned long alignment);
/* A mark for release, which frees all arrays since. */
void *__ompgpu_frame_mark(const struct __ompgpu_frame *);
void __ompgpu_frame_release(struct __ompgpu_frame *, void *mark);

/* ------------------------------------------------------------------ team heap
 * Storage in global memory for locals of sequential code that other threads reach.  Inserted by
 * codegen's passes, never by the writers.  Called by thread 0 of the team in sequential code, which
 * publishes the addresses as it does those of other variables.  here false: the code turns out to
 * run in a parallel region, where locals stay on the thread's stack; nothing happens, the result is
 * NULL. */
/* The address of bytes `at` … of the part that the compiler has assigned; lives as long as the
 * kernel.  Also called by all threads of an SPMD kernel, and in parallel regions. */
void *__ompgpu_heap_slot(_Bool here, unsigned long at);
/* A mark for release: the blocks allocated so far. */
void *__ompgpu_heap_mark(_Bool here);
/* A block of `size` bytes, not initialised, aligned to `align`, a power of two.  Where there is no
 * room, the message and the end of the kernel. */
void *__ompgpu_heap_alloc(_Bool here, unsigned long size, unsigned long align, const char *message,
                          int line);
/* Frees all blocks that were allocated since the mark. */
void __ompgpu_heap_release(_Bool here, void *mark);

/* ------------------------------------------------------------------ synchronisation */
/* A barrier of all threads, all of which call it; nothing where there is one. */
void __ompgpu_barrier(int line);
/* Around a task, where something asks for it; begin gives what end takes. */
unsigned __ompgpu_task_begin(_Bool is_final);
void __ompgpu_task_end(unsigned before);
/* Before a taskgroup, where something may cancel it, and at the start of each thread's part in a
 * parallel region, where something asks for tasks; gives what the end of these restores. */
unsigned __ompgpu_taskgroup_begin(void);
unsigned __ompgpu_implicit_task_begin(void);
void __ompgpu_task_restore(unsigned before);
/* Around tasks and threads' parts in parallel regions, where something calls omp_set_schedule: each
 * has a run-sched-var of its own. */
unsigned long __ompgpu_schedule_begin(void);
void __ompgpu_schedule_restore(unsigned long before);
/* The same around tasks, where something calls omp_set_num_threads. */
int omp_get_max_threads(void);
void omp_set_num_threads(int);
/* `request`: cancels the innermost taskgroup that the calling thread runs.  Is it cancelled? */
_Bool __ompgpu_cancel_taskgroup(_Bool request);
/* Events of detached tasks; in programs that may have some.  A task's body runs at once; its event
 * is the encountering thread's to wait for, and any thread's to fulfil (omp_fulfill_event).
 * A new one: its handle; `depends`: the task has `depend`. */
unsigned long __ompgpu_event(_Bool depends, int line);
/* Waits for this one. */
void __ompgpu_event_await(unsigned long, int line);
/* Waits for those of the current task's children; `depends`: that have `depend`. */
void __ompgpu_events_wait(_Bool depends, int line);
/* Around a task, explicit or a thread's part in a parallel region: begin gives what end takes. */
unsigned __ompgpu_events_task(void);
void __ompgpu_events_task_end(unsigned before);
/* The end waits for all events since the begin, which gave `since`. */
unsigned __ompgpu_events_begin(void);
void __ompgpu_events_end(unsigned since, int line);
/* Ordered regions.  The number of the iteration whose turn it is: `shared`, of the team, or where
 * the caller is the only thread `own`.  All threads of the region call it; may wait for them. */
unsigned long *__ompgpu_turns(unsigned long *shared, unsigned long *own, int line);
struct __ompgpu_turn { /* of an iteration */
    unsigned long *next, number;
    _Bool over;
};
/* Declares it; when the block ends, the turn is over. */
#define __OMPGPU_TURN(name, next, number)                                                          \
    __attribute__((cleanup(__ompgpu_turn_end))) struct __ompgpu_turn name = { next, number, 0 }
/* Waits for the turn; hands it on, once. */
void __ompgpu_turn_begin(const struct __ompgpu_turn *);
void __ompgpu_turn_end(struct __ompgpu_turn *);
/* Where the threads of a construct find that it is cancelled: `shared`, of the team, or where the
 * caller is the only thread, or cancellation is off, `own`.  All threads of the region call it; may
 * wait for them. */
int *__ompgpu_cancellable(int *shared, int *own, int line);
/* `request`: cancels the construct of that flag.  Is it cancelled? */
_Bool __ompgpu_cancel(int *flag, _Bool request);
/* A request that nothing serves: ends the kernel with an error if cancellation is on. */
void __ompgpu_not_cancelled(_Bool request, int line);
/* Any thread.  Waits until no other thread of the device is between begin and end for this lock, a
 * global that is zero at the start; what those wrote before their end is visible afterwards. */
void __ompgpu_lock(unsigned *lock);
/* The thread that has the lock; what it wrote is visible to the next one. */
void __ompgpu_unlock(unsigned *lock);
/* The same, of which OpenMP says only that it orders the threads of a team: a program that uses it
 * between teams has a race (codegen/ir/passes/races.c). */
void __ompgpu_critical_begin(unsigned *lock);
void __ompgpu_critical_end(unsigned *lock);
/* Any thread: a sequentially consistent fence for the device. */
void __ompgpu_flush(void);

/* ------------------------------------------------------------------ worksharing */
/* A loop nest has logical iterations 0 … n-1, counted in 32 bits where that is enough; they are
 * dealt to `count` takers, of which the caller is number `id`: */
#define __OMPGPU_THREADS (unsigned)__ompgpu_thread_id(), (unsigned)__ompgpu_num_threads()
#define __OMPGPU_TEAMS (unsigned)__ompgpu_team_id(), (unsigned)__ompgpu_num_teams()
/* A league has fewer than 2^31 threads (hostrt/core/geometry.c, __ompgpu_league_begin).  That the
 * caller's number is below that, too, is not said: it would cost nests registers. */
#define __OMPGPU_LEAGUE_THREAD                                                                     \
    ((unsigned)__ompgpu_team_id() * (unsigned)__ompgpu_num_threads() +                             \
     (unsigned)__ompgpu_thread_id())
#define __OMPGPU_LEAGUE_SIZE (unsigned)(__ompgpu_num_teams() * __ompgpu_num_threads())
#define __OMPGPU_ALL_THREADS __OMPGPU_LEAGUE_THREAD, __OMPGPU_LEAGUE_SIZE
/* How many iterations to run at a time; omp-device decides it for each loop: a number, plus
 * __OMPGPU_BATCH_TEAM times the number of threads for which alone it holds.  With more than
 * __OMPGPU_USUAL_BATCH, batches of that size follow.  by_team: the takers are a team's threads. */
unsigned __ompgpu_batch_size(_Bool by_team);
enum { __OMPGPU_USUAL_BATCH = 4, __OMPGPU_BATCH_TEAM = 256 };
/* Iterators; nothing overflows whatever n is.
 *
 *   struct __ompgpu_loop32 i = __ompgpu_loop32(id, count, n)      i.at = id, id + count …
 *   for (…; i.more; __ompgpu_next32(&i))                          while i.more
 *
 *   struct __ompgpu_range32 r = __ompgpu_block32(id, count, n)    r.lo … r.lo + r.m - 1:
 *                                                                 the caller's contiguous part
 *   struct __ompgpu_chunks32 c = __ompgpu_chunks32(id, count, n, size)
 *   for (…; c.more; __ompgpu_next_chunk32(&c))                    chunks, dealt round-robin
 *       struct __ompgpu_range32 r = __ompgpu_chunk32(&c)          the iterations of the chunk
 *
 *   struct __ompgpu_batches32 b = __ompgpu_batches32(id, count, n, __ompgpu_batch_size(…))
 *   for (…; b.size; __ompgpu_next_size32(&b))                     as loop32, first in batches …
 *       for (; b.i.more; __ompgpu_next_batch32(&b))               … that begin before b.end,
 *           for (unsigned u = 0; u < b.size; u++)                 then one by one
 *               … __ompgpu_at32(&b, u) …                          the iteration: b.i.at and
 *               … __ompgpu_ahead32(&b, u) …                       how far ahead of it that is
 */
/* A text with arrays of variable length, which is compiled for wasm64 (drv_vla_target) and becomes
 * code for nvptx64: arguments lie one after the other there, structs too, of which wasm64 would
 * pass the address; what was _Float16 is passed as a double. */
#ifdef __wasm64__
static inline __attribute__((always_inline)) void *__ompgpu_argument(void *list, unsigned long size,
                                                                     unsigned long align)
{
    char **next = list, *at = (char *)(((unsigned long)*next + align - 1) / align * align);
    *next = at + size;
    return at;
}
#define __builtin_va_arg(list, type)                                                               \
    __builtin_choose_expr(                                                                         \
        __builtin_types_compatible_p(__typeof__(type), __fp16),                                    \
        (__fp16) * (double *)__ompgpu_argument(&(list), sizeof(double), sizeof(double)),           \
        *(__typeof__(type) *)__ompgpu_argument(&(list), sizeof(type), _Alignof(type)))
/* around the member of a struct of one member (frontend/lone_member.c) */
#define __OMPGPU_LONE_BEGIN union {
#define __OMPGPU_LONE_END(n)                                                                       \
    char __ompgpu_beside##n;                                                                       \
    }                                                                                              \
    ;
#else
#define __OMPGPU_LONE_BEGIN
#define __OMPGPU_LONE_END(n)
#endif

/* x86-64 packs a structure that is returned in registers; a larger one is taken apart by the
 * optimiser. */
#ifdef __NVPTX__
#define __OMPGPU_ROOM
#else
#define __OMPGPU_ROOM unsigned long room[2];
#endif
#define __OMPGPU_ITERATORS(W, T, S)                                                                \
    struct __ompgpu_loop##W {                                                                      \
        T at, n, stride;                                                                           \
        _Bool more;                                                                                \
        __OMPGPU_ROOM                                                                              \
    };                                                                                             \
    __OMPGPU_HELPER struct __ompgpu_loop##W __ompgpu_loop##W(T id, T count, T n) {                 \
        return (struct __ompgpu_loop##W){ .at = id, .n = n, .stride = count, .more = id < n };     \
    } __OMPGPU_HELPER void __ompgpu_next##W(struct __ompgpu_loop##W *i)                            \
    {                                                                                              \
        i->more = i->n - i->at > i->stride;                                                        \
        i->at += i->stride;                                                                        \
    }                                                                                              \
    struct __ompgpu_range##W {                                                                     \
        T lo, m;                                                                                   \
    };                                                                                             \
    __OMPGPU_HELPER struct __ompgpu_range##W __ompgpu_block##W(T id, T count, T n) {               \
        const T each = n / count, rest = n % count;                                                \
        return (struct __ompgpu_range##W){ id * each + (id < rest ? id : rest),                    \
                                           each + (id < rest) };                                   \
    } struct __ompgpu_chunks##W {                                                                  \
        T b, n, size, chunks, stride;                                                              \
        _Bool more;                                                                                \
    };                                                                                             \
    __OMPGPU_HELPER struct __ompgpu_chunks##W __ompgpu_chunks##W(T id, T count, T n, T size) {     \
        const T chunks = n / size + (n % size != 0);                                               \
        return (struct __ompgpu_chunks##W){ id, n, size, chunks, count, id < chunks };             \
    } __OMPGPU_HELPER struct __ompgpu_range##W __ompgpu_chunk##W(                                  \
        const struct __ompgpu_chunks##W *c) {                                                      \
        const T lo = c->b * c->size, left = c->n - lo;                                             \
        return (struct __ompgpu_range##W){ lo, left < c->size ? left : c->size };                  \
    } __OMPGPU_HELPER void __ompgpu_next_chunk##W(struct __ompgpu_chunks##W *c)                    \
    {                                                                                              \
        c->more = c->chunks - c->b > c->stride;                                                    \
        c->b += c->stride;                                                                         \
    }                                                                                              \
    struct __ompgpu_batches##W {                                                                   \
        struct __ompgpu_loop##W i;                                                                 \
        T end, usual_end, by;                                                                      \
        unsigned size;                                                                             \
    };                                                                                             \
    __OMPGPU_HELPER struct __ompgpu_batches##W __ompgpu_batches##W(T id, T count, T n,             \
                                                                   unsigned sizes) {               \
        const unsigned team = sizes / __OMPGPU_BATCH_TEAM, size = sizes % __OMPGPU_BATCH_TEAM;     \
        const T span = ((team ? __OMPGPU_USUAL_BATCH : size) - 1) * count, eighth = ~(T)0 / 8;     \
        const T most = n < 7 * eighth ? n : 7 * eighth; /* what is beyond is taken one by one */   \
        const T end = size == 1 ? n : count <= eighth ? (most > span ? most : span) - span : 0;    \
        struct __ompgpu_loop##W i = { .at = id, .n = n, .stride = count, .more = id < end };       \
        if (!team)                                                                                 \
            return (struct __ompgpu_batches##W){ i, end, end, count, size };                       \
        i.more = (S)n >= (S)(team * size) && count == team;                                        \
        return (struct __ompgpu_batches##W){ i, n - (size - 1) * team, end, team, size };          \
    } /* lanes of a row take batches together, as long as there is one for the last of them */     \
    __OMPGPU_HELPER struct __ompgpu_batches##W                                                     \
    __ompgpu_row_batches##W(T lane, T lanes, T n, unsigned sizes) {                                \
        struct __ompgpu_batches##W b = __ompgpu_batches##W(lane, lanes, n, sizes);                 \
        const T later = lanes - 1;                                                                 \
        if (b.size == 1)                                                                           \
            return b;                                                                              \
        b.end = b.usual_end = (b.end > later ? b.end - later : 0) + lane;                          \
        b.i.more = lane < b.end;                                                                   \
        return b;                                                                                  \
    } __OMPGPU_HELPER T __ompgpu_at##W(const struct __ompgpu_batches##W *b, unsigned u)            \
    {                                                                                              \
        return b->i.at + u * b->by;                                                                \
    }                                                                                              \
    __OMPGPU_HELPER void __ompgpu_next_batch##W(struct __ompgpu_batches##W *b)                     \
    {                                                                                              \
        const T by = b->size * b->by;                                                              \
        b->i.more = b->size == 1 ? b->i.n - b->i.at > by : b->i.at + by < b->end;                  \
        b->i.at += by;                                                                             \
    }                                                                                              \
    __OMPGPU_HELPER void __ompgpu_next_size##W(struct __ompgpu_batches##W *b)                      \
    {                                                                                              \
        b->size = b->size > __OMPGPU_USUAL_BATCH ? __OMPGPU_USUAL_BATCH : b->size > 1;             \
        b->end = b->size > 1 ? b->usual_end : b->i.n;                                              \
        b->by = b->i.stride;                                                                       \
        b->i.more = b->i.at < b->end;                                                              \
    }
__OMPGPU_ITERATORS(32, unsigned, int)
__OMPGPU_ITERATORS(64, unsigned long long, long long)
/* Iterations are numbered in the type of the user's counter, or what follows from it, so that the
 * distance of two of a batch is one of `int`; where it could overflow, there are no batches. */
__OMPGPU_HELPER int __ompgpu_ahead32(const struct __ompgpu_batches32 *b, unsigned u)
{
    return (int)u * (int)b->by;
}
#undef __OMPGPU_ITERATORS

/* Whether thread `id` of the league has iteration `id`.  The emulated device has a loop over the
 * threads of a team around it (codegen/ir/passes/threads.c): where all of them have one, that is a
 * branch outside of the loop. */
__OMPGPU_HELPER _Bool __ompgpu_has_iteration(unsigned id, unsigned n)
{
#ifndef __NVPTX__
    const unsigned team = (unsigned)__ompgpu_team_id(), of = (unsigned)__ompgpu_num_threads();
    if (id == team * of + (unsigned)__ompgpu_thread_id() && ((unsigned long)team + 1) * of <= n)
        return 1;
#endif
    return id < n;
}
/* The league's loop of a kernel that has two forms.  The host launches the covering one where there
 * are at least as many threads as iterations, fewer than 2^31, and at least one iteration: then no
 * loop is left of it.  The host has the trip counts and what divides by them.  covering: constant.
 */
#define __OMPGPU_LEAGUE(W, T)                                                                      \
    __OMPGPU_HELPER struct __ompgpu_loop##W __ompgpu_league##W(const struct __ompgpu_env *env,     \
                                                               _Bool covering, T n) {              \
        const struct __ompgpu_loop##W i = __ompgpu_loop##W(__OMPGPU_ALL_THREADS, n);               \
        if (!covering)                                                                             \
            return i;                                                                              \
        return (struct __ompgpu_loop##W){ .at = i.at,                                              \
                                          .n = env->trip,                                          \
                                          .stride = ~(T)0,                                         \
                                          .more =                                                  \
                                              __ompgpu_has_iteration((unsigned)i.at, env->trip) }; \
    } /* what a thread of the covering form takes of a loop dealt on demand; {0} in the other */   \
    __OMPGPU_HELPER struct __ompgpu_range##W                                                       \
    __ompgpu_own##W(const struct __ompgpu_env *env, _Bool covering) {                              \
        const T id = __OMPGPU_LEAGUE_THREAD;                                                       \
        if (!covering)                                                                             \
            return (struct __ompgpu_range##W){ 0 };                                                \
        return (struct __ompgpu_range##W){ id, __ompgpu_has_iteration((unsigned)id, env->trip) };  \
    }
__OMPGPU_LEAGUE(32, unsigned)
__OMPGPU_LEAGUE(64, unsigned long long)
#undef __OMPGPU_LEAGUE
/* The same of a covering form in which `lanes` lanes run an iteration (below: rows). */
#define __OMPGPU_LEAGUE_ROWS(W, T)                                                                 \
    __OMPGPU_HELPER struct __ompgpu_loop##W __ompgpu_rows##W(const struct __ompgpu_env *env,       \
                                                             unsigned lanes) {                     \
        const T at = __OMPGPU_LEAGUE_THREAD / lanes;                                               \
        return (struct __ompgpu_loop##W){                                                          \
            .at = at, .n = env->trip, .stride = ~(T)0, .more = at < env->trip                      \
        };                                                                                         \
    }
__OMPGPU_LEAGUE_ROWS(32, unsigned)
__OMPGPU_LEAGUE_ROWS(64, unsigned long long)
#undef __OMPGPU_LEAGUE_ROWS

/* Collapsed loops: the logical iteration as a number in mixed radix, a digit a loop, which neither
 * divides in the loop nor needs the product of the trip counts.
 *
 *   unsigned rest = id, stride = count;                           the innermost loop first
 *   struct __ompgpu_digit32 j = __ompgpu_digit32(&rest, &stride, nj);
 *   struct __ompgpu_digit32 i = __ompgpu_first_digit32(rest, stride, ni);
 *   for (_Bool more = i.at < i.n; more; more = __ompgpu_add_first32(&i, __ompgpu_add32(&j, 0)))
 *
 * In a kernel of two forms, of loop k > 0; without a stride in the covering one:
 *
 *   struct __ompgpu_digit32 j = __ompgpu_league_digit32(env, covering, k, &rest, &stride, nj);
 *
 * In one that has no strided form, of loop k >= 0, with `number` what the iteration has in the nest
 * of loops 0 … k, and `rest` what it has in that of the launch; moved: they differ.  So a sum of
 * digits that makes the number again costs nothing.
 *
 *   struct __ompgpu_digit32 j = __ompgpu_own_digit(env, k, moved, &rest, &number, nj);
 *
 * add: at += step + carry; the value says whether there is a carry.  add_first: the value says
 * whether the result is still inside of the nest. */
#define __OMPGPU_DIGITS(W, T)                                                                      \
    struct __ompgpu_digit##W {                                                                     \
        T at, step, n;                                                                             \
        __OMPGPU_ROOM                                                                              \
    };                                                                                             \
    __OMPGPU_HELPER _Bool __ompgpu_add##W(struct __ompgpu_digit##W *d, _Bool carry)                \
    {                                                                                              \
        const T by = d->step + carry;                                                              \
        carry = d->at >= d->n - by;                                                                \
        d->at += carry ? by - d->n : by;                                                           \
        return carry;                                                                              \
    }                                                                                              \
    __OMPGPU_HELPER _Bool __ompgpu_add_first##W(struct __ompgpu_digit##W *d, _Bool carry)          \
    {                                                                                              \
        const T by = d->step + carry;                                                              \
        carry = d->n - d->at > by;                                                                 \
        d->at += by;                                                                               \
        return carry;                                                                              \
    }
__OMPGPU_DIGITS(32, unsigned)
__OMPGPU_DIGITS(64, unsigned long long)
#undef __OMPGPU_DIGITS
/* By the trip count of loop k > 0 of the league's nest. */
__OMPGPU_HELPER unsigned __ompgpu_divide(const struct __ompgpu_env *env, unsigned loop, unsigned a)
{
    const struct __ompgpu_divisor d = env->inner[loop - 1];
    return (unsigned)((unsigned long long)a * d.multiplier >> d.shift);
}
__OMPGPU_HELPER struct __ompgpu_digit32 __ompgpu_own_digit(const struct __ompgpu_env *env,
                                                           unsigned loop, _Bool moved,
                                                           unsigned *rest, unsigned *number,
                                                           unsigned n)
{
    unsigned at = *number;
    if (loop) {
        *rest = __ompgpu_divide(env, loop, *rest);
        *number = moved ? *rest + env->begin[loop - 1] : *rest;
        at -= *number * n;
    }
    return (struct __ompgpu_digit32){ .at = at, .n = n };
}
/* digit W of a number of type T; NAME 32, 64, or wide32: a 32-bit digit of a 64-bit number */
#define __OMPGPU_SPLIT(NAME, W, T)                                                                 \
    __OMPGPU_HELPER struct __ompgpu_digit##W __ompgpu_first_digit##NAME(T at, T step, T n) {       \
        return (struct __ompgpu_digit##W){ .at = at, .step = step, .n = n };                       \
    } __OMPGPU_HELPER struct __ompgpu_digit##W __ompgpu_digit##NAME(T *at, T *step, T n) {         \
        const T a = *at, s = *step;                                                                \
        *at = a / n;                                                                               \
        *step = s / n;                                                                             \
        return (struct __ompgpu_digit##W){ .at = a % n, .step = s % n, .n = n };                   \
    } __OMPGPU_HELPER struct __ompgpu_digit##W __ompgpu_league_digit##NAME(                        \
        const struct __ompgpu_env *env, _Bool covering, unsigned loop, T *at, T *step, T n) {      \
        if (!covering)                                                                             \
            return __ompgpu_digit##NAME(at, step, n);                                              \
        const unsigned a = (unsigned)*at;                                                          \
        *at = __ompgpu_divide(env, loop, a);                                                       \
        __builtin_assume(*at <= ~0u / 2);                                                          \
        return (struct __ompgpu_digit##W){ .at = a - *at * n, .step = 0, .n = n };                 \
    }
__OMPGPU_SPLIT(32, 32, unsigned)
__OMPGPU_SPLIT(64, 64, unsigned long long)
__OMPGPU_SPLIT(wide32, 32, unsigned long long)
#undef __OMPGPU_SPLIT

/* The tiled form of a kernel whose league's loop is a nest.  A team runs a tile of the two
 * innermost loops, 2^form iterations wide and as high as there are threads, in place of a row of
 * __OMPGPU_TILE: so its accesses are to fewer lines of memory where the outer loop counts elements
 * side by side, or where rows share what they read.  There is a team for each tile, in a grid of
 * columns, rows, and iterations of the loops around.  form: constant, 0 strided, 1
 * covering; else what omp-device puts in the place of __ompgpu_tile_shift()
 * (codegen/ir/passes/tiles.c). */
enum { __OMPGPU_TILE = 256 };
struct __ompgpu_tile {
    unsigned column, row;
    unsigned rest; /* iteration of the loops around these */
    _Bool inside;  /* of the nest: the last tiles stick out */
    __OMPGPU_ROOM
};
/* The numbers, marked so that omp-device sees what addresses depend on. */
unsigned __ompgpu_tile_column(unsigned);
unsigned __ompgpu_tile_row(unsigned);
unsigned __ompgpu_tile_shift(void); /* called in the kernel itself */
__OMPGPU_HELPER unsigned __ompgpu_tiled(unsigned shift)
{
    __builtin_assume(shift > 1 && shift < 8);
    return shift;
}
__OMPGPU_HELPER _Bool __ompgpu_is_tiled(unsigned form) { return form > 1; }
unsigned __ompgpu_grid(unsigned dimension); /* 0 … 2: the team's place */
__OMPGPU_HELPER struct __ompgpu_tile __ompgpu_tile(unsigned form, unsigned rows, unsigned columns)
{
    struct __ompgpu_tile t = { .rest = 0 };
    if (!__ompgpu_is_tiled(form))
        return t;
    const unsigned width = 1u << form, height = __OMPGPU_TILE >> form,
                   thread = (unsigned)__ompgpu_thread_id();
    t.column = __ompgpu_tile_column(__ompgpu_grid(0) * width + thread % width);
    t.row = __ompgpu_tile_row(__ompgpu_grid(1) * height + (thread >> form));
    t.rest = __ompgpu_grid(2);
    t.inside = t.column < columns && t.row < rows;
    __builtin_assume(t.column <= ~0u / 2 && t.row <= ~0u / 2 && t.rest <= ~0u / 2);
    return t;
}
__OMPGPU_HELPER struct __ompgpu_loop32 __ompgpu_tile_loop(struct __ompgpu_tile t)
{
    return (struct __ompgpu_loop32){ .at = t.rest, .n = 1, .stride = ~0u, .more = t.inside };
}

/* Schedules `dynamic` and `guided`. */
enum { __OMPGPU_DYNAMIC = 2, __OMPGPU_GUIDED = 3 };
/* All threads call it before the loop: `trip` iterations in chunks of `chunk` (0: 1) or, guided,
 * not less.  A barrier, before and after: a team has one such loop at a time. */
void __ompgpu_dispatch_init(int sched, unsigned long long trip, unsigned long long chunk);
/* Each thread calls it until it is false.  True: the caller runs logical iterations [*lo, *hi),
 * which no other thread gets. */
_Bool __ompgpu_dispatch_next(unsigned long long *lo, unsigned long long *hi);
/* The same for schedule(runtime), by what omp_set_schedule has set; else as schedule(static). */
void __ompgpu_runtime_init(unsigned long long trip);
_Bool __ompgpu_runtime_next(unsigned long long *lo, unsigned long long *hi);
/* Both for counters of 32 and of 64 bits. */
#define __OMPGPU_NEXT(name, bits, counter, next)                                                   \
    __OMPGPU_HELPER _Bool name##bits(struct __ompgpu_range##bits *r)                               \
    {                                                                                              \
        unsigned long long lo, hi;                                                                 \
        if (!next(&lo, &hi))                                                                       \
            return 0;                                                                              \
        *r = (struct __ompgpu_range##bits){ (counter)lo, (counter)(hi - lo) };                     \
        return 1;                                                                                  \
    }
__OMPGPU_NEXT(__ompgpu_next_range, 32, unsigned, __ompgpu_dispatch_next)
__OMPGPU_NEXT(__ompgpu_next_range, 64, unsigned long long, __ompgpu_dispatch_next)
__OMPGPU_NEXT(__ompgpu_next_runtime, 32, unsigned, __ompgpu_runtime_next)
__OMPGPU_NEXT(__ompgpu_next_runtime, 64, unsigned long long, __ompgpu_runtime_next)

/* ------------------------------------------------------------------ reductions
 * The runtime holds the algorithms and knows no types: a record of `size` bytes holds all variables
 * of a construct.  rec and tmp are the caller's private records (tmp: scratch), of any alignment.
 * All functions are always_inline, so that combine becomes inlined code (declare it always_inline,
 * too).  A kernel may hold any number of reduce_parallel and reduce_array, but each team arrives
 * once: one of reduce_league, reduce_teams, league_last, teams_last and deferred_last. */
/* *into = *into op *from, for every member. */
typedef void (*__ompgpu_combine)(void *into, const void *from);
/* For records of integers of at most 4 bytes: redux(rec, lanes) combines those of `lanes`, which
 * all call, with __ompgpu_reduce_word for each member; every caller gets the result.  0: there is
 * no such helper. */
typedef void (*__ompgpu_redux)(void *rec, unsigned lanes);
enum {
    __OMPGPU_REDUX_ADD,
    __OMPGPU_REDUX_AND,
    __OMPGPU_REDUX_OR,
    __OMPGPU_REDUX_XOR,
    __OMPGPU_REDUX_MIN,
    __OMPGPU_REDUX_MAX,
    __OMPGPU_REDUX_UMIN,
    __OMPGPU_REDUX_UMAX
};
/* The words of `lanes`, which all call it, combined: op is __OMPGPU_REDUX_*.  Only in a helper of
 * type
 * __ompgpu_redux. */
unsigned __ompgpu_reduce_word(unsigned op, unsigned lanes, unsigned value);
/* All threads call it; a barrier.  True for the one thread that has the result in rec, and for
 * every thread of a serialised region.  The caller has a barrier between it and the next reduction
 * of the team. */
_Bool __ompgpu_reduce_parallel(void *rec, void *tmp, unsigned long size, __ompgpu_combine,
                               __ompgpu_redux);
/* After initialisers that read originals: those loads come before the store of the result.  The
 * reduction of a league or of an array orders them itself only where the team has more than one
 * warp (a shuffle orders no memory).  All threads of the team call it. */
void __ompgpu_originals_read(void);
/* The same for the threads' copies of an array of `count` elements of `size` bytes, k elements at a
 * time: the caller's copy becomes the result where it returns true.  rec and tmp have room for k
 * elements, which combine combines.  No barrier is needed after another reduction: `exchange` is
 * the number of exchanges of __OMPGPU_EXCHANGE_BYTES bytes that the records and arrays since the
 * last barrier took. */
#define __OMPGPU_EXCHANGE_BYTES 64
#define __OMPGPU_EXCHANGES(size)                                                                   \
    (unsigned)(((size) + __OMPGPU_EXCHANGE_BYTES - 1) / __OMPGPU_EXCHANGE_BYTES)
#define __OMPGPU_ARRAY_EXCHANGES(count, size, k)                                                   \
    ((unsigned)(((count) + (k) - 1) / (k)) * __OMPGPU_EXCHANGES((size) * (k)))
_Bool __ompgpu_reduce_array(void *array, unsigned long count, void *rec, void *tmp,
                            unsigned long size, unsigned k, __ompgpu_combine, unsigned exchange);
/* The lanes of a warp in `lanes` call it, each with the same set, which has the caller in it.  True
 * for the first of them, which has the result in rec.  For code that some lanes reach together
 * while others do not; waits for these lanes only. */
_Bool __ompgpu_reduce_lanes(unsigned lanes, void *rec, void *tmp, unsigned long size,
                            __ompgpu_combine, __ompgpu_redux);
/* Forms of a kernel in which `lanes` lanes of a warp run an iteration of the league's loop, a row,
 * together (codegen/c/device/lanes.c): 2, 4 … 32, a constant.  Teams are a multiple of it, and the
 * lanes of a row have neighbouring numbers.  Which of them the caller is: */
#define __OMPGPU_ROW_LANE(lanes) ((unsigned)__ompgpu_thread_id() % (lanes))
/* The lanes of a row call these together; others of the warp may be elsewhere.  Waits for them, and
 * orders their memory accesses; … and is true for one of them. */
void __ompgpu_row_sync(unsigned lanes);
_Bool __ompgpu_row_once(unsigned lanes);
/* Combines their records; each of them has the result, of the same bits.  commutes: a op b has the
 * bits of b op a. */
void __ompgpu_reduce_row(unsigned lanes, void *rec, void *tmp, unsigned long size, __ompgpu_combine,
                         __ompgpu_redux, _Bool commutes);
/* A loop of a team, whose iterations its lanes may run together: 2^n of them do.  free: 2^n is at
 * most `most`, where there are more threads than iterations, and some of the `inner` iterations of
 * the loop inside are left for each lane. */
#ifdef __NVPTX__
#define __OMPGPU_SHARES_ROWS 1
#else
#define __OMPGPU_SHARES_ROWS 0
#endif
__OMPGPU_HELPER unsigned __ompgpu_whole_lanes(unsigned lanes)
{
    return (unsigned)__ompgpu_num_threads() % 32 ? 0 : 31 - (unsigned)__builtin_clz(lanes);
}
__OMPGPU_HELPER unsigned __ompgpu_free_lanes(unsigned long long rows, unsigned long long inner,
                                             unsigned most)
{
    const unsigned threads = (unsigned)__ompgpu_num_threads(), enough = 4;
    if (!rows || rows > threads / 2 || inner < 2 * enough)
        return 0;
    unsigned lanes = threads / (unsigned)rows;
    lanes = lanes < most ? lanes : most;
    return __ompgpu_whole_lanes(inner / enough < lanes ? (unsigned)inner / enough : lanes);
}
/* An assumption, before one of the above in an SPMD kernel: the team was launched with whole warps
 * (hostrt/core/geometry.c sees to it where constant clauses say so).  Only the full-warp algorithm
 * is left then. */
void __ompgpu_whole_warps(void);
/* The lanes that are here with the caller; may differ from run to run.  Does not wait. */
unsigned __ompgpu_active_lanes(void);
/* All threads of all teams of an SPMD kernel call it; barriers of the team, no team waits for
 * another.  True for the one thread of the league that has the result in rec. */
_Bool __ompgpu_reduce_league(struct __ompgpu_env *, void *rec, void *tmp, unsigned long size,
                             __ompgpu_combine, __ompgpu_redux);
/* The main threads of all teams of a generic kernel call it; true for that of the last team, which
 * has the result in rec. */
_Bool __ompgpu_reduce_teams(struct __ompgpu_env *, void *rec, void *tmp, unsigned long size,
                            __ompgpu_combine);
/* The league reduction in steps, where there are arrays: each team puts its record at the begin of
 * its slot of `stride` bytes and its arrays after it, arrives, and the last team gets them.  The
 * host has made the slots as large as it was told at the launch.  league_: all threads of an SPMD
 * kernel call it; teams_: the main threads of a generic one. */
/* Combines the records of the team, barriers, and stores the result; league_put leaves rec
 * undefined but for thread 0. */
void __ompgpu_league_put(struct __ompgpu_env *, void *rec, void *tmp, unsigned long size,
                         __ompgpu_combine, unsigned long stride);
void __ompgpu_teams_put(struct __ompgpu_env *, void *rec, void *tmp, unsigned long size,
                        __ompgpu_combine, unsigned long stride);
/* Stores an array at offset `at`, a multiple of 16, of the team's slot; by the thread that has it.
 */
void __ompgpu_put_array(struct __ompgpu_env *, unsigned long stride, unsigned long at,
                        const void *array, unsigned long count, unsigned long size);
/* The team arrives; publishes its slot, and acquires those of all teams.  True for all callers of
 * the last team.  league_last is a barrier. */
_Bool __ompgpu_league_last(struct __ompgpu_env *);
_Bool __ompgpu_teams_last(struct __ompgpu_env *);
/* In the last team: the records of all slots, combined.  True for the one thread that has the
 * result in rec.  league_get: barriers. */
_Bool __ompgpu_league_get(struct __ompgpu_env *, void *rec, void *tmp, unsigned long size,
                          __ompgpu_combine, unsigned long stride);
_Bool __ompgpu_teams_get(struct __ompgpu_env *, void *rec, void *tmp, unsigned long size,
                         __ompgpu_combine, unsigned long stride);
/* In the last team: original[i] = original[i] op that element of all slots, in the order of the
 * teams. */
void __ompgpu_league_get_array(struct __ompgpu_env *, unsigned long stride, unsigned long at,
                               void *original, unsigned long count, void *rec, void *tmp,
                               unsigned long size, __ompgpu_combine);
void __ompgpu_teams_get_array(struct __ompgpu_env *, unsigned long stride, unsigned long at,
                              void *original, unsigned long count, void *rec, void *tmp,
                              unsigned long size, __ompgpu_combine);

/* Deferred reductions: they end once in every team, and their originals are combined at the
 * kernel's end (codegen/c/reduce/deferred.c).  Each team has an entry in its slot, which only
 * thread 0 of the team uses until the team arrives.  None of these waits. */
/* The entry of the caller's team, at offset `at`; NULL when there is one team only. */
void *__ompgpu_deferred(struct __ompgpu_env *, unsigned long stride, unsigned long at);
/* Thread 0, at the kernel's start: the entry is not used; nothing for NULL. */
void __ompgpu_deferred_begin(void *entry);
/* Thread 0: `count` values of `size` bytes are combined with those at offset `at` of the entry, or
 * are the first there. */
void __ompgpu_deferred_add(void *entry, unsigned long at, const void *values, unsigned long count,
                           unsigned long size, __ompgpu_combine);
/* Whether `end` was called for the entry. */
_Bool __ompgpu_deferred_used(const void *entry);
/* Thread 0, after the last add of one reduction: the entry is used. */
void __ompgpu_deferred_end(void *entry);
/* The main thread of each team, at the kernel's end: the team arrives.  True for that of the last
 * of several teams. */
_Bool __ompgpu_deferred_last(struct __ompgpu_env *);
/* The thread for which it was true: rec becomes the records of the entries that were used, combined
 * in the order of the teams; false: there is none. */
_Bool __ompgpu_deferred_get(struct __ompgpu_env *, unsigned long entry, unsigned long at,
                            unsigned long stride, void *rec, void *tmp, unsigned long size,
                            __ompgpu_combine);
/* The same for `count` elements, which are combined into the original. */
void __ompgpu_deferred_get_array(struct __ompgpu_env *, unsigned long entry, unsigned long at,
                                 unsigned long stride, void *original, unsigned long count,
                                 void *tmp, unsigned long size, __ompgpu_combine);

/* Private copies of reduced arrays in the team heap (devicertl/storage.c). */
#define __OMPGPU_COPY_UNIT 16ul
/* `units` of 16 bytes for the calling thread, not initialised, aligned to 16; where there is no
 * room, the message and the end of the kernel.  sequential: the caller is at level 0.  Threads of a
 * parallel region that call it together get addresses copy_distance bytes apart.  Does not wait. */
void *__ompgpu_copy_alloc(_Bool sequential, unsigned long units, const char *message, int line);
/* Frees what the thread allocated last and has not freed. */
void __ompgpu_copy_free(_Bool sequential, void *copies, unsigned long units);
unsigned long __ompgpu_copy_distance(void);
/* some of it is known to the host at the launch; … to nobody */
enum {
    __OMPGPU_COPY_FORESEEN = 1,
    __OMPGPU_COPY_UNKNOWN = 2,
    /* the main thread's, of the teams construct: the host allows for all of it */
    __OMPGPU_COPY_OF_TEAM = 4
};
/* What a copy_alloc takes, for the host: bytes that are known here, on top of `below` bytes of
 * enclosing constructs, and __OMPGPU_COPY_* for the rest.  Constant; read from IR by codegen, then
 * deleted. */
void __ompgpu_copy_needs(unsigned long bytes, unsigned long below, unsigned rest);
/* SPMD kernels whose host part knows the sizes at the launch: the calling thread's slice of `bytes`
 * bytes, after the slots of `stride` bytes in the scratchpad. */
void *__ompgpu_copy_slice(struct __ompgpu_env *, unsigned long stride, unsigned long bytes);
/* Checked images: a copy has `size` bytes and a name for messages, and from there on to `all` bytes
 * nobody has anything, until it ends.  It returns the copy, of which the optimiser knows nothing
 * then.  Elsewhere there is nothing to do, and the room is 0. */
void *__ompgpu_copy_begin(void *copy, unsigned long size, unsigned long all, const char *name);
void __ompgpu_copy_end(void *copy, unsigned long all);
unsigned long __ompgpu_copy_room(void); /* bytes after a copy in the scratchpad */
/* The slice of thread 0 of the caller's team; those of the other threads follow. */
void *__ompgpu_team_copies(struct __ompgpu_env *, unsigned long stride, unsigned long bytes);
/* Offset `at` of the slot of the caller's team. */
void *__ompgpu_slot(struct __ompgpu_env *, unsigned long stride, unsigned long at);
/* Combines copies of an array where they lie: `rows` rows of `count` elements, `distance` bytes
 * apart (a multiple of 16).  All threads call it, after a barrier; a barrier may be in it, none is
 * at its end.  Each thread has some elements: to[i] = (combines: to[i] op) that element of all
 * rows. */
void __ompgpu_combine_rows(void *to, _Bool combines, void *first, unsigned long distance,
                           unsigned rows, unsigned long count, void *rec, void *tmp,
                           unsigned long size, __ompgpu_combine);
/* The same address, about which the optimiser knows nothing.  The private copy of a section p[l:n]
 * is reached through a p that points l elements before it, outside of the object: LLVM may conclude
 * that indexing from there never reaches an object that it knows. */
void *__ompgpu_hidden(unsigned long address);

/* ------------------------------------------------------------------ scans */
/* One step of a loop with `reduction(inscan, …)`: the threads run iterations base, base + 1 … in
 * thread order, and threads 0 … m-1 hold in rec what the input phase made of the list items.  All
 * threads call it, with the same m > 0; two barriers, and two more for each further
 * __OMPGPU_SCAN_BYTES bytes of a record.  rec becomes what the scan phase sees: carry op rec of
 * thread 0 op … up to the caller's (`exclusive`: up to that of the thread before); carry, the same
 * in each thread, becomes carry op all m records.  rec, tmp, aux and carry are private records of
 * `size` bytes; tmp and aux are scratch. */
void __ompgpu_scan(void *rec, void *tmp, void *aux, void *carry, unsigned long size,
                   __ompgpu_combine, unsigned m, _Bool exclusive);
/* `rows` steps of T threads at once, with as many barriers as one: record r of thread t is that of
 * iteration base + r * T + t.  All threads call it, with the same left > 0: iterations from base
 * on. rows is constant, 2 … 8; rows * size is at most __OMPGPU_SCAN_BYTES.  recs: `rows` records;
 * aux: two. */
#define __OMPGPU_SCAN_BYTES 64
void __ompgpu_scan_rows(void *recs, void *tmp, void *aux, void *carry, unsigned long size,
                        __ompgpu_combine, unsigned rows, unsigned long long left, _Bool exclusive);
/* The same for a loop of all teams, which take tiles of rows * T iterations, in their order:
 *
 *     for (tile = next(env, -1); tile * rows * T < iterations; tile = next(env, tile))
 *         input phase, __ompgpu_scan_tile(), scan phase
 *     __ompgpu_scan_end(env)
 *
 * All threads call them; the first has a barrier.  rows is constant, 1 … 8; size is at most
 * __OMPGPU_SCAN_TILE; aux: three records.  carry is read in tile 0, and is what all iterations up
 * to the tile's last add up to afterwards.  Several teams have whole warps, and a scratchpad for
 * all tiles. */
#define __OMPGPU_SCAN_TILE 24
unsigned long long __ompgpu_scan_next(struct __ompgpu_env *, unsigned long long tile);
void __ompgpu_scan_tile(struct __ompgpu_env *, void *recs, void *tmp, void *aux, void *carry,
                        unsigned long size, __ompgpu_combine, unsigned rows,
                        unsigned long long left, _Bool exclusive, unsigned long long tile);
void __ompgpu_scan_end(struct __ompgpu_env *);
/* One step of a loop that one thread runs. */
__OMPGPU_HELPER void __ompgpu_scan_one(void *rec, void *tmp, void *carry, unsigned long size,
                                       __ompgpu_combine combine, _Bool exclusive)
{
    __builtin_memcpy(tmp, carry, size);
    combine(carry, rec);
    __builtin_memcpy(rec, exclusive ? tmp : carry, size);
}

/* ------------------------------------------------------------------ reverse offload */
/* Any thread: the host runs the function with that key, with n objects (devicertl/reverse.c);
 * returns when it has, and the objects have its results.  Waits for other threads that call it.
 * items: struct ompgpu_reverse_item of hostrt/mailbox.h. */
void __ompgpu_reverse(unsigned long long key, const void *items, unsigned n);

/* ------------------------------------------------------------------ errors */
/* Any thread.  Ends the kernel with the message; the host runtime adds region, file and line where
 * the device tells it. */
_Noreturn void __ompgpu_fail(const char *message, int line);
/* The error directive at execution (OpenMP 5.2, section 8.5), by any thread: prints the place and
 * the message (NULL: none), and ends the kernel when it is fatal. */
void __ompgpu_error(const char *file, unsigned line, const char *message, _Bool is_fatal);

#ifdef __clang__
#pragma clang attribute pop
#endif
#pragma pack(pop)
#endif
