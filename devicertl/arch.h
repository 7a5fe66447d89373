/* arch.h - the primitives that differ between the GPU (arch_nvptx64.c) and the emulated device
 * (arch_emu.c), the constants by which the device tool configures the runtime, and the team's
 * state.  Everything else in this folder is portable C.
 *
 * Atomics (__scoped_atomic_*) are the compiler's on both targets and therefore not in this list.
 * They are used relaxed, with a fence of this list beside them: LLVM 22 gives ordered ones on NVPTX
 * system scope (a fence over the bus), and drops the order of a wrapping increment.
 */
#ifndef OMPGPU_ARCH_H
#define OMPGPU_ARCH_H
#include "devicertl/ompgpu_device.h"

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef __SIZE_TYPE__ usize;

#define MAX_TEAM 1024u /* threads a team can have */
#define WARP 32u
#define FULL_WARP 0xffffffffu

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")
#define ROLLED _Pragma("clang loop unroll(disable)")
#define MAX_UNROLLED 128u /* bytes of a record; larger ones live in memory anyway */
/* A GPU's code goes the other way at its end (codegen/ir/passes/blocks.c).  The emulated device has
 * no use for it: what is called in rare code is not inlined, and then needs a stack to wait on. */
#ifdef __NVPTX__
#define USUALLY(condition) __builtin_expect(condition, 1)
#else
#define USUALLY(condition) (condition)
#endif

/* ------------------------------------------------------------------ cells
 * Team-shared storage through which warps exchange records: a cell for each warp.  A row holds 8
 * bytes of each cell, so that lanes have no bank conflict.  CELLS(name) defines sets of 1, 2, 4 and
 * 8 rows, of which a kernel has those that its records need, and name(size), which is the smallest
 * set for `size` bytes of each warp; size is constant. */
#ifdef __NVPTX__
#define CELL_SPACE __OMPGPU_SHARED
#else
#define CELL_SPACE
#endif
#define CELL_BYTES 64u
typedef u64 cell_row[WARP];
#define CELLS(name)                                                                                \
    static __OMPGPU_SHARED cell_row __ompgpu_state_##name##1 [1] __OMPGPU_SHARED_INIT;             \
    static __OMPGPU_SHARED cell_row __ompgpu_state_##name##2 [2] __OMPGPU_SHARED_INIT;             \
    static __OMPGPU_SHARED cell_row __ompgpu_state_##name##4 [4] __OMPGPU_SHARED_INIT;             \
    static __OMPGPU_SHARED cell_row __ompgpu_state_##name##8 [8] __OMPGPU_SHARED_INIT;             \
    _Static_assert(sizeof __ompgpu_state_##name##8 == CELL_BYTES * WARP, "the largest set");       \
    INLINE CELL_SPACE cell_row *name(usize size)                                                   \
    {                                                                                              \
        return size <= 8    ? __ompgpu_state_##name##1                                             \
               : size <= 16 ? __ompgpu_state_##name##2                                             \
               : size <= 32 ? __ompgpu_state_##name##4                                             \
                            : __ompgpu_state_##name##8;                                            \
    }

/* ------------------------------------------------------------------ configuration
 * Weak constants: 1 ("assume everything") unless codegen, which sees the whole module, gives them
 * internal linkage and the initialiser 0 before it optimises.  Only with 0 does the state that they
 * guard fold away.
 *
 *   __ompgpu_cfg_nested          threads in parallel regions may encounter others, or cfg_queries
 *   __ompgpu_cfg_generic         the module has a kernel in generic mode
 *   __ompgpu_cfg_spmd            the module has a kernel in SPMD mode
 *   __ompgpu_cfg_storage         some kernel uses the team heap
 *   __ompgpu_cfg_partial         an SPMD kernel has regions that may run on a part of the team
 *   __ompgpu_cfg_queries         thread 0 of an SPMD kernel calls functions at level 0 (state.c)
 *   __ompgpu_cfg_events          there are detached tasks
 *   __ompgpu_cfg_leagues         a function has a teams region
 *   __ompgpu_cfg_team_memory     blocks may be allocated for a team
 *   __ompgpu_cfg_guard           bytes after an object that are nobody's, in checked images; or 0
 */
extern const u8 __ompgpu_cfg_nested, __ompgpu_cfg_generic, __ompgpu_cfg_spmd, __ompgpu_cfg_partial,
    __ompgpu_cfg_queries, __ompgpu_cfg_storage, __ompgpu_cfg_leagues, __ompgpu_cfg_team_memory,
    __ompgpu_cfg_guard;

/* ------------------------------------------------------------------ state
 * All team-shared, all named __ompgpu_state_*, none has an initial value: kernel_begin writes what
 * must be defined.  In SPMD mode each thread writes only what no other thread reads (nest[tid]) or
 * what is the same for all (mode), so that no barrier is needed.  A store to a variable that
 * nothing reachable from the kernel reads may be deleted; codegen does so. */
/* For what all threads store: relaxed, so that stores of one value at the same time are no race.
 * The instructions are those of plain accesses with .relaxed.cta; a store that nothing reads is
 * deleted all the same (codegen/ir/passes/state.c), and only a second load in one thread costs
 * something, since LLVM keeps it. */
#define STATE_SET(variable, value)                                                                 \
    __scoped_atomic_store_n(&(variable), value, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP)
#define STATE_GET(variable)                                                                        \
    __scoped_atomic_load_n(&(variable), __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP)
_Bool __ompgpu_is_spmd(void);
/* the calling thread enters, leaves a serialised region; with cfg_nested only */
void __ompgpu_nest_enter(void);
void __ompgpu_nest_leave(void);
/* the most that a parallel region in sequential code can have */
unsigned __ompgpu_thread_limit(void);
unsigned __ompgpu_outer_size(void); /* threads of the region at level 1 */
/* SPMD: the region the calling thread is in has n threads */
void __ompgpu_set_size(unsigned n);
void __ompgpu_state_begin(struct __ompgpu_env *, int mode);
/* threads of the generic kernel's current region; 0: between regions */
extern __OMPGPU_SHARED u32 __ompgpu_state_region_threads;
/* run-sched-var of each thread, and last of a team's sequential code; kind (omp_sched_t) 0: not set
 */
struct schedule {
    u32 kind, chunk;
};
extern __OMPGPU_SHARED struct schedule __ompgpu_state_schedule[];
struct schedule __ompgpu_schedule(void);
/* of each thread's task, bit 0: is explicit, 1: is final, 2: its taskgroup is cancelled */
extern __OMPGPU_SHARED u8 __ompgpu_state_task[];
extern __OMPGPU_SHARED u64 __ompgpu_state_allocator[]; /* the same for the default allocator */
/* where the thread keeps what it sets: its number, MAX_TEAM in sequential code of a generic kernel
 */
unsigned __ompgpu_own_place(void);
extern __OMPGPU_SHARED u32 __ompgpu_state_nthreads; /* omp_set_num_threads; 0: not called */
extern __OMPGPU_SHARED u32 __ompgpu_state_device, __ompgpu_state_cancellation;
extern __OMPGPU_SHARED u64 __ompgpu_state_mailbox; /* an address */
/* Calls that codegen's late SPMD-zation makes (codegen/ir/spmd/rewrite.c), in sequential code, on
 * all threads of the team. */
/* before the first barrier of a region that is a part */
void __ompgpu_part_reset(void);
unsigned __ompgpu_part_size(int num_threads); /* of a region; num_threads 0: the whole team */
/* whether the calling thread belongs to the region, which it then enters */
_Bool __ompgpu_part_begin(int num_threads, _Bool cond);
void __ompgpu_part_end(void);
/* All launched threads, first and last in a kernel: the team gets a heap, of which no block is
 * used, and returns it.  A barrier only where heaps are claimed, in SPMD mode. */
void __ompgpu_heap_begin(struct __ompgpu_env *, int mode);
void __ompgpu_heap_leave(struct __ompgpu_env *, int mode);
/* Thread 0, before a barrier of the whole team that precedes the first use of barrier_part with n
 * no multiple of WARP. */
void __ompgpu_soft_reset(void);
/* A barrier of threads 0 … n-1 of the team, which call it; n: of the region the caller is in. */
void __ompgpu_team_barrier(unsigned n, int line);
/* At the kernel's begin, by every thread that runs the region or will run parts of it. */
void __ompgpu_events_reset(int mode);
/* At the kernel's begin, by every launched thread: of the launch's team-shared memory, size bytes
 * up to `end` are a pool.  A barrier in SPMD mode, where that is not empty. */
void __ompgpu_team_memory_begin(u32 size, u32 end, int mode);
/* A block of the team's pool, aligned to 16; NULL: it has no room.  Any thread of the team frees
 * it; false: the block is not of the pool. */
void *__ompgpu_team_memory_alloc(usize);
_Bool __ompgpu_team_memory_free(void *);
/* By every thread, before a barrier of its parallel region and at the kernel's end. */
void __ompgpu_events_await_all(int line);
/* A lock of `critical`: true when the caller has it now; acquires what the last owner wrote. */
_Bool __ompgpu_try_lock(unsigned *lock);

/* ------------------------------------------------------------------ printing (format.c) */
#ifdef __NVPTX__
/* The driver's: into a buffer of the device, of which the host prints what is there when it next
 * waits for the device.  Arguments lie one after the other, each aligned to its size. */
int vprintf(const char *format, __builtin_va_list arguments);
/* What codegen/ir/passes/prints.c makes of the program's calls: any format of C.  The results are
 * the number of characters; nothing; again the number, where the format has %n. */
int __ompgpu_vprintf(const char *format, __builtin_va_list arguments);
int __ompgpu_print(const char *format, __builtin_va_list arguments);
int __ompgpu_vprintf_storing(const char *format, __builtin_va_list arguments);
void __ompgpu_print_bytes(const char *, usize);
#endif

/* ------------------------------------------------------------------ architecture: who */
unsigned __ompgpu_arch_tid(void); /* in the launched team, 0 … ntid-1 */
unsigned __ompgpu_arch_ntid(void);
unsigned __ompgpu_arch_team(void);
unsigned __ompgpu_arch_nteams(void);
unsigned __ompgpu_arch_multiprocessor(void);

/* ------------------------------------------------------------------ architecture: synchronisation
 * All may be called in divergent code, but a barrier in an SPMD kernel. */
/* A barrier of all launched threads; none may have returned from the kernel. */
void __ompgpu_arch_barrier(int line);
/* The same in an SPMD kernel, where threads of a warp come from different places. */
void __ompgpu_arch_barrier_diverged(int line);
/* A barrier of threads 0 … n-1; n < ntid.  One such barrier at a time in a team.  Where n is no
 * multiple of WARP, after __ompgpu_soft_reset. */
void __ompgpu_arch_barrier_part(unsigned n, int line);
/* Waits for the lanes in mask, all of which call it with this mask, as those of all operations
 * below do; orders their memory accesses. */
void __ompgpu_arch_syncwarp(unsigned mask);
/* The value of lane + delta; undefined where that is not in mask. */
u32 __ompgpu_arch_shuffle_down(unsigned mask, u32 value, unsigned delta);
u64 __ompgpu_arch_pair(u32 low, u32 high); /* a 64-bit value of two registers, and back */
void __ompgpu_arch_halves(u64, u32 *low, u32 *high);
/* The same number, computed where it stands: for what few threads need, which the optimiser would
 * else move to where all threads run. */
u32 __ompgpu_arch_here(u32 value);
/* The value of `lane`, which is in mask. */
u32 __ompgpu_arch_shuffle(unsigned mask, u32 value, unsigned lane);
/* The value of the lane whose number differs in these bits, which is in mask. */
u32 __ompgpu_arch_shuffle_xor(unsigned mask, u32 value, unsigned bits);
/* The lanes in mask with a true vote. */
u32 __ompgpu_arch_ballot(unsigned mask, _Bool vote);
/* The lanes that are here together with the caller; at least its own.  Does not wait. */
unsigned __ompgpu_arch_activemask(void);
/* One word of each lane in mask combined by the hardware (__OMPGPU_REDUX_*), for all of them; only
 * where there is such an operation, which is known when code is generated. */
_Bool __ompgpu_arch_has_redux(void);
u32 __ompgpu_arch_redux(unsigned op, unsigned mask, u32 value);
/* Where lanes may leave it to the last of them to work for all (known when code is generated; not
 * on a GPU): the lanes in mask call meet, which is true for the last to come; the others wait.  It
 * reaches what each lane gave as its record, then calls part, and they go on; in between it waits
 * in nothing. */
#ifdef __NVPTX__
INLINE _Bool __ompgpu_arch_has_meetings(void) { return 0; }
#else
_Bool __ompgpu_arch_has_meetings(void);
#endif
_Bool __ompgpu_arch_meet(unsigned mask, void *record);
void *const *__ompgpu_arch_records(void); /* by lane */
void __ompgpu_arch_part(unsigned mask);
/* The value of lane - delta; undefined before the first lane. */
u32 __ompgpu_arch_shuffle_up(unsigned mask, u32 value, unsigned delta);
void __ompgpu_arch_pause(void);    /* in a loop that waits for another thread */
void __ompgpu_arch_acquired(void); /* the caller has got a lock */
/* acquire and release, for all threads of the device */
void __ompgpu_arch_fence(void);
void __ompgpu_arch_fence_sc(void); /* sequentially consistent, likewise */
/* Publishes what the caller's team has written; true for the last of them, which sees all that the
 * others have.  The counter, 0 before, is 0 again then. */
INLINE _Bool arrive(u32 *counter, unsigned nteams)
{
    __ompgpu_arch_fence();
    u32 before =
        __scoped_atomic_fetch_uinc(counter, nteams - 1, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    __ompgpu_arch_fence();
    return before == nteams - 1;
}

/* ------------------------------------------------------------------ architecture: system */
/* Memory for all teams of the device, not initialised, aligned to 16; NULL when there is none. */
void *__ompgpu_arch_malloc(usize);
void __ompgpu_arch_free(void *);
usize __ompgpu_arch_block_size(const void *); /* as it was asked for */
/* Where there is a guard: there are `size` bytes at p, and from there on to `end` nobody has
 * anything.  what: for messages.  fresh: they have no value yet.  size 0: what was there is no
 * more. */
void __ompgpu_arch_object(void *p, usize size, const void *end, const char *what, _Bool fresh);
void __ompgpu_arch_forget(void *from, const void *end); /* all of it may be used */
double __ompgpu_arch_wtime(void);
double __ompgpu_arch_wtick(void);
/* An allocator with traits, as the host also makes it (hostrt/ompgpu.h); alloc.c. */
enum { __OMPGPU_POOLS = 32 };
struct __ompgpu_allocator {
    u64 align;
    u64 pool, access; /* bytes, all ones: no limit; for whom, omp_alloctrait_value_t */
    u64 fallback, next;
    u64 used[__OMPGPU_POOLS]; /* bytes, by the teams of that number, or in the first by all */
};
/* Team-shared memory of which the launch says the size; NULL: none. */
void *__ompgpu_arch_dynamic(void);
_Noreturn void __ompgpu_arch_fail(const char *message, int line);
_Noreturn void __ompgpu_arch_assert(const char *assertion, const char *file, unsigned line,
                                    const char *function);
#endif
