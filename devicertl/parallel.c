/* parallel.c - kernels, the state machine of generic mode, parallel regions.
 *
 *      main thread (0)                              workers (1 … ntid-1)
 *      sequential code                              wait at A
 *      publish fn, ctx, threads
 *      ------------------------------ A: start ------------------------------
 *      fn(ctx)                                      fn(ctx), or nothing when tid >= threads
 *      ------------------------------ B: join -------------------------------
 *      … next region, or fn = NULL                  wait at A; fn == NULL: return
 *
 * Between A and B no thread writes the published values; after B only thread 0 reads them.
 */
#include "devicertl/arch.h"

typedef void (*region_fn)(void *ctx);
typedef void *region_ctx;

static __OMPGPU_SHARED region_fn __ompgpu_state_fn __OMPGPU_SHARED_INIT;
static __OMPGPU_SHARED region_ctx __ompgpu_state_ctx __OMPGPU_SHARED_INIT;

void __ompgpu_invoke(region_fn fn, void *ctx);

/* The one place where a region's function is called in parallel: codegen replaces the indirect call
 * by a cascade of direct ones. Not inlined, so that the main thread and the rest of its warp, which
 * come from different places, run the same instructions again. */
__attribute__((noinline, convergent)) void __ompgpu_invoke(region_fn fn, void *ctx)
{
    unsigned first = __ompgpu_arch_tid() / WARP * WARP, n = __ompgpu_state_region_threads - first;
    __ompgpu_arch_syncwarp(n >= WARP ? FULL_WARP : (1u << n) - 1);
    fn(ctx);
}

static void worker(void)
{
    for (;;) {
        __ompgpu_arch_barrier(0); /* A */
        region_fn fn = __ompgpu_state_fn;
        if (!fn)
            return;
        if (__ompgpu_arch_tid() < __ompgpu_state_region_threads)
            __ompgpu_invoke(fn, __ompgpu_state_ctx);
        __ompgpu_arch_barrier(0); /* B */
    }
}

__attribute__((always_inline)) _Bool __ompgpu_kernel_begin(struct __ompgpu_env *env, int mode)
{
    __ompgpu_state_begin(env, mode);
    __ompgpu_heap_begin(env, mode);
    __ompgpu_team_memory_begin(env->team_memory, env->dynamic_bytes, mode);
    if (mode == __OMPGPU_SPMD)
        return 1;
    if (__ompgpu_arch_tid() != 0) {
        worker();
        return 0;
    }
    __ompgpu_state_region_threads = 0;
    __ompgpu_state_nthreads = 0;
    __ompgpu_soft_reset();
    return 1;
}

__attribute__((always_inline)) void __ompgpu_kernel_end(struct __ompgpu_env *env, int mode)
{
    __ompgpu_events_await_all(0);
    __ompgpu_heap_leave(env, mode);
    if (mode == __OMPGPU_SPMD || __ompgpu_arch_ntid() == 1)
        return;
    __ompgpu_state_fn = (region_fn)0;
    __ompgpu_arch_barrier(0); /* A */
}

/* The rules of section 10.1.1 for a region that sequential code encounters. */
static unsigned region_size(int num_threads, unsigned nthreads_var, _Bool cond)
{
    unsigned limit = __ompgpu_thread_limit(), n = limit;
    if (!cond)
        return 1;
    if (num_threads > 0)
        n = (unsigned)num_threads;
    else if (nthreads_var)
        n = nthreads_var;
    return n < limit ? n : limit;
}

void __ompgpu_fork(void (*fn)(void *ctx), void *ctx, int num_threads, _Bool cond)
{
    unsigned n = region_size(num_threads, __ompgpu_state_nthreads, cond);
    __ompgpu_state_region_threads = n;
    if (n > 1) {
        __ompgpu_state_fn = fn;
        __ompgpu_state_ctx = ctx;
        __ompgpu_arch_barrier(0); /* A */
    }
    __ompgpu_invoke(fn, ctx);
    if (n > 1)
        __ompgpu_arch_barrier(0); /* B */
    __ompgpu_state_region_threads = 0;
}

/* Where it is known which of the two it is, codegen writes that instead
 * (codegen/ir/analysis/context.c). */
void __ompgpu_parallel(void (*fn)(void *ctx), void *ctx, int num_threads, _Bool cond)
{
    if (__ompgpu_level() == 0) {
        if (__ompgpu_cfg_queries && __ompgpu_is_spmd())
            __ompgpu_fail("a parallel region was encountered by code that an assumption "
                          "('no_parallelism', 'no_openmp' …) says has none; remove the assumption",
                          0);
        __ompgpu_fork(fn, ctx, num_threads, cond);
        return;
    }
    __ompgpu_nest_enter(); /* a nested region: serialised */
    fn(ctx);
    __ompgpu_nest_leave();
}

/* ------------------------------------------------- regions of an SPMD kernel on a part of its team
 * All threads come here in sequential code; those that do not belong to the region go on to the
 * next barrier of the whole team. */
void __ompgpu_part_reset(void)
{
    if (__ompgpu_arch_tid() == 0)
        __ompgpu_soft_reset();
}

unsigned __ompgpu_part_size(int num_threads) { return region_size(num_threads, 0, 1); }

_Bool __ompgpu_part_begin(int num_threads, _Bool cond)
{
    unsigned n = region_size(num_threads, 0, cond);
    if (__ompgpu_arch_tid() >= n)
        return 0;
    __ompgpu_set_size(n);
    return 1;
}

void __ompgpu_part_end(void) { __ompgpu_set_size(__ompgpu_arch_ntid()); }
