/* arch_nvptx64.c - the primitives of arch.h for NVIDIA GPUs from sm_70 on.
 *
 * Barriers.  In SPMD kernels the threads of a warp come to a barrier together, by the same
 * instruction: the aligned `bar.sync`, as CUDA's __syncthreads.  In generic ones the main thread
 * and the rest of its warp come from different places.  What ptxas (13.0) makes of `barrier.sync`
 * for diverged warps lets threads through too early, or never, on an H100; so the warp first
 * gathers (`bar.warp.sync`), in a function that is not inlined, so that it goes on as one.
 *
 * The hardware counts whole warps, so a region whose size is no multiple of 32 cannot use a counted
 * barrier while the rest of its last warp waits at another one: one thread of each warp waits for
 * the others by a counter in shared memory, and independent thread scheduling (sm_70) guarantees
 * that spinning makes progress.
 */
#ifdef __NVPTX__
#include "devicertl/arch.h"

/* The CUDA device heap: `malloc` and `free` in the PTX (codegen/ir/emit.c). */
extern void *__ompgpu_driver_malloc(usize);
extern void __ompgpu_driver_free(void *);
/* Prints "FILE:LINE: FUNCTION: block: …, thread: … Assertion `MESSAGE` failed." and stops the
 * kernel.  Unlike what printf wrote before a trap, this always reaches the terminal. */
extern _Noreturn void __assertfail(const char *message, const char *file, unsigned line,
                                   const char *function, usize char_size);

unsigned __ompgpu_arch_tid(void) { return (unsigned)__nvvm_read_ptx_sreg_tid_x(); }
unsigned __ompgpu_arch_ntid(void) { return (unsigned)__nvvm_read_ptx_sreg_ntid_x(); }
unsigned __ompgpu_arch_team(void) { return (unsigned)__nvvm_read_ptx_sreg_ctaid_x(); }
/* The dimension is a constant where it is inlined. */
__attribute__((always_inline)) unsigned __ompgpu_grid(unsigned dimension)
{
    return dimension == 0   ? (unsigned)__nvvm_read_ptx_sreg_ctaid_x()
           : dimension == 1 ? (unsigned)__nvvm_read_ptx_sreg_ctaid_y()
                            : (unsigned)__nvvm_read_ptx_sreg_ctaid_z();
}
unsigned __ompgpu_arch_multiprocessor(void) { return (unsigned)__nvvm_read_ptx_sreg_smid(); }
unsigned __ompgpu_arch_nteams(void) { return (unsigned)__nvvm_read_ptx_sreg_nctaid_x(); }

void __ompgpu_gathered_barrier(void);
__attribute__((noinline, convergent)) void __ompgpu_gathered_barrier(void)
{
    __nvvm_bar_warp_sync(FULL_WARP);
    __nvvm_barrier_sync(0);
}

void __ompgpu_arch_barrier(int line)
{
    (void)line;
    if (__ompgpu_cfg_generic)
        __ompgpu_gathered_barrier();
    else
        __nvvm_bar_sync(0);
}

__attribute__((noinline, convergent)) void __ompgpu_arch_barrier_diverged(int line)
{
    unsigned lanes = __ompgpu_arch_ntid() - __ompgpu_arch_tid() / WARP * WARP;
    (void)line;
    __nvvm_bar_warp_sync(lanes < WARP ? (1u << lanes) - 1 : FULL_WARP);
    __nvvm_barrier_sync(0);
}

static __OMPGPU_SHARED u32 __ompgpu_state_arrived __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED u32 __ompgpu_state_generation __OMPGPU_SHARED_INIT;

void __ompgpu_soft_reset(void)
{
    __ompgpu_state_arrived = 0;
    __ompgpu_state_generation = 0;
}

static void fence_team(void) { __asm__ volatile("fence.acq_rel.cta;" ::: "memory"); }

/* Of n threads, a warp's first each.  The last of n arrivals resets the counter before it opens the
 * next generation, so the barrier can be used again at once. */
static void soft_barrier(unsigned n)
{
    u32 mine =
        __scoped_atomic_load_n(&__ompgpu_state_generation, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    fence_team();
    if (__scoped_atomic_fetch_add(&__ompgpu_state_arrived, 1u, __ATOMIC_RELAXED,
                                  __MEMORY_SCOPE_WRKGRP) == n - 1) {
        __scoped_atomic_store_n(&__ompgpu_state_arrived, 0u, __ATOMIC_RELAXED,
                                __MEMORY_SCOPE_WRKGRP);
        fence_team();
        __scoped_atomic_store_n(&__ompgpu_state_generation, mine + 1, __ATOMIC_RELAXED,
                                __MEMORY_SCOPE_WRKGRP);
    } else {
        while (__scoped_atomic_load_n(&__ompgpu_state_generation, __ATOMIC_RELAXED,
                                      __MEMORY_SCOPE_WRKGRP) == mine)
            __ompgpu_arch_pause();
    }
    fence_team();
}

/* The rare case, out of line. */
__attribute__((noinline)) void __ompgpu_arch_barrier_part(unsigned n, int line)
{
    unsigned tid = __ompgpu_arch_tid(), first = tid / WARP * WARP, lanes = n - first,
             mask = lanes < WARP ? (1u << lanes) - 1 : FULL_WARP;
    (void)line;
    __nvvm_bar_warp_sync(mask);
    if (n <= WARP)
        return;
    if (n % WARP == 0) {
        __nvvm_barrier_sync_cnt(1, n);
        return;
    }
    if (tid == first)
        soft_barrier((n + WARP - 1) / WARP);
    __nvvm_bar_warp_sync(mask);
}

void __ompgpu_arch_syncwarp(unsigned mask) { __nvvm_bar_warp_sync(mask); }

u32 __ompgpu_arch_shuffle_down(unsigned mask, u32 value, unsigned delta)
{
    return (u32)__nvvm_shfl_sync_down_i32(mask, (int)value, (int)delta, 0x1f);
}

/* In assembly, because LLVM makes shifts and ors of what is one move of two registers. */
u64 __ompgpu_arch_pair(u32 low, u32 high)
{
    u64 value;
    __asm__("mov.b64 %0, {%1, %2};" : "=l"(value) : "r"(low), "r"(high));
    return value;
}

void __ompgpu_arch_halves(u64 value, u32 *low, u32 *high)
{
    __asm__("mov.b64 {%0, %1}, %2;" : "=r"(*low), "=r"(*high) : "l"(value));
}

u32 __ompgpu_arch_here(u32 value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

u32 __ompgpu_arch_shuffle(unsigned mask, u32 value, unsigned lane)
{
    return (u32)__nvvm_shfl_sync_idx_i32(mask, (int)value, (int)lane, 0x1f);
}
u32 __ompgpu_arch_shuffle_xor(unsigned mask, u32 value, unsigned bits)
{
    return (u32)__nvvm_shfl_sync_bfly_i32(mask, (int)value, (int)bits, 0x1f);
}
u32 __ompgpu_arch_ballot(unsigned mask, _Bool vote)
{
    return (u32)__nvvm_vote_ballot_sync(mask, vote);
}
unsigned __ompgpu_arch_activemask(void) { return (unsigned)__nvvm_activemask(); }

/* LLVM replaces __nvvm_reflect by a constant before anything else happens for an architecture, and
 * deletes what then cannot be reached, at -O0 as well: no redux is left for an architecture without
 * it.  The operations are named by their intrinsics because clang offers its builtins only to sm_80
 * and this file is for all. */
#define REDUX(op) extern int redux_##op(int value, int mask) __asm__("llvm.nvvm.redux.sync." #op);
REDUX(add)
REDUX(and)
REDUX(or)
REDUX(xor)
REDUX(min)
REDUX(max)
REDUX(umin)
REDUX(umax)
#undef REDUX

_Bool __ompgpu_arch_meet(unsigned mask, void *record) { return mask && record; }
void *const *__ompgpu_arch_records(void) { return 0; }
void __ompgpu_arch_part(unsigned mask) { (void)mask; }
_Bool __ompgpu_arch_has_redux(void) { return __nvvm_reflect("__CUDA_ARCH") >= 800; }

u32 __ompgpu_arch_redux(unsigned op, unsigned mask, u32 value)
{
    int v = (int)value, m = (int)mask;
    if (__nvvm_reflect("__CUDA_ARCH") < 800)
        __builtin_trap();
    switch (op) {
    case __OMPGPU_REDUX_ADD: return (u32)redux_add(v, m);
    case __OMPGPU_REDUX_AND: return (u32)redux_and(v, m);
    case __OMPGPU_REDUX_OR: return (u32)redux_or(v, m);
    case __OMPGPU_REDUX_XOR: return (u32)redux_xor(v, m);
    case __OMPGPU_REDUX_MIN: return (u32)redux_min(v, m);
    case __OMPGPU_REDUX_MAX: return (u32)redux_max(v, m);
    case __OMPGPU_REDUX_UMIN: return (u32)redux_umin(v, m);
    default: return (u32)redux_umax(v, m);
    }
}

u32 __ompgpu_arch_shuffle_up(unsigned mask, u32 value, unsigned delta)
{
    return (u32)__nvvm_shfl_sync_up_i32(mask, (int)value, (int)delta, 0);
}

void __ompgpu_arch_acquired(void) {}
void __ompgpu_arch_pause(void) { __nvvm_nanosleep(64); }
void __ompgpu_arch_fence(void) { __asm__ volatile("fence.acq_rel.gpu;" ::: "memory"); }
void __ompgpu_arch_fence_sc(void) { __nvvm_membar_gl(); }

/* The driver does not say how large a block is. */
struct block {
    _Alignas(16) usize size;
};
void __ompgpu_arch_object(void *p, usize size, const void *end, const char *what, _Bool fresh)
{
    (void)p, (void)size, (void)end, (void)what, (void)fresh;
}
void __ompgpu_arch_forget(void *from, const void *end) { (void)from, (void)end; }

void *__ompgpu_arch_malloc(usize size)
{
    usize all = size + sizeof(struct block);
    struct block *b = all < size ? (void *)0 : __ompgpu_driver_malloc(all);
    if (!b)
        return (void *)0;
    b->size = size;
    return b + 1;
}
void __ompgpu_arch_free(void *p)
{
    if (p)
        __ompgpu_driver_free((struct block *)p - 1);
}
usize __ompgpu_arch_block_size(const void *p) { return ((const struct block *)p)[-1].size; }

extern __attribute__((address_space(3), aligned(16))) char __ompgpu_dynamic_shared[];
void *__ompgpu_arch_dynamic(void)
{
    unsigned size;
    __asm__("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
    return size ? (void *)__ompgpu_dynamic_shared : (void *)0;
}

double __ompgpu_arch_wtime(void) { return (double)__nvvm_read_ptx_sreg_globaltimer() * 1e-9; }
/* the documented resolution is GPU dependent; newer ones update every µs */
double __ompgpu_arch_wtick(void) { return 1e-6; }

_Noreturn void __ompgpu_arch_fail(const char *message, int line)
{
    __assertfail(message, "ompgpu: error in a target region", line > 0 ? (unsigned)line : 0, "", 1);
}

_Noreturn void __ompgpu_arch_assert(const char *assertion, const char *file, unsigned line,
                                    const char *function)
{
    __assertfail(assertion, file, line, function, 1);
}
#endif
