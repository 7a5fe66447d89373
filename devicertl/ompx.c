/* ompx.c - the functions of LLVM's ompx.h: what a CUDA kernel asks, in target regions.  And the
 * names that AMD's compiler has for some of it.
 *
 * A block is a team, a grid the league; both have one dimension, x. */
#include "devicertl/arch.h"

/* ------------------------------------------------------------------ where a thread is */
int ompx_thread_id(int dim);
int ompx_block_dim(int dim);
int ompx_block_id(int dim);
int ompx_grid_dim(int dim);
int ompx_thread_id(int dim) { return dim ? 0 : (int)__ompgpu_arch_tid(); }
int ompx_block_dim(int dim) { return dim ? 1 : (int)__ompgpu_arch_ntid(); }
int ompx_block_id(int dim) { return dim ? 0 : (int)__ompgpu_arch_team(); }
int ompx_grid_dim(int dim) { return dim ? 1 : (int)__ompgpu_arch_nteams(); }

int omp_ext_get_lane_id(void);
int omp_ext_get_warp_id(void);
int omp_ext_get_smid(void);
int omp_ext_get_lane_id(void) { return (int)(__ompgpu_arch_tid() % WARP); }
int omp_ext_get_warp_id(void) { return (int)(__ompgpu_arch_tid() / WARP); }
int omp_ext_get_smid(void) { return (int)__ompgpu_arch_multiprocessor(); }

/* ------------------------------------------------------------------ ompx_dyn_cgroup_mem */
void *llvm_omp_target_dynamic_shared_alloc(void);
void *llvm_omp_target_dynamic_shared_alloc(void) { return __ompgpu_arch_dynamic(); }

/* ------------------------------------------------------------------ barriers
 * All threads of the team call one, from wherever; memory is ordered whatever `ordering` says. */
#define BARRIER __attribute__((convergent)) void
BARRIER ompx_sync_block(int ordering);
BARRIER ompx_sync_block_acq_rel(void);
BARRIER ompx_sync_block_divergent(int ordering);
BARRIER ompx_sync_block_acq_rel(void) { __ompgpu_barrier(0); }
BARRIER ompx_sync_block(int ordering)
{
    (void)ordering;
    __ompgpu_barrier(0);
}
BARRIER ompx_sync_block_divergent(int ordering)
{
    (void)ordering;
    if (!__ompgpu_cfg_generic && (unsigned)__ompgpu_num_threads() == __ompgpu_arch_ntid())
        __ompgpu_arch_barrier_diverged(0);
    else
        __ompgpu_barrier(0);
}

/* ------------------------------------------------------------------ lanes
 * Those in mask call it, with the same mask. */
#define LANES(type) __attribute__((convergent)) type
LANES(u64) ompx_ballot_sync(u64 mask, int vote);
LANES(u64) ompx_ballot_sync(u64 mask, int vote)
{
    return __ompgpu_arch_ballot((u32)mask, vote != 0);
}

/* The value of the lane `delta` above among `width` neighbours, a power of 2; the caller's own
 * where there is none. */
static inline unsigned lane_above(unsigned delta, int width)
{
    unsigned lane = __ompgpu_arch_tid() % WARP, n = (unsigned)width;
    return lane % n + delta < n ? lane + delta : lane;
}
static inline __attribute__((convergent)) u64 fetch(u64 mask, u64 bits, unsigned lane, _Bool wide)
{
    u32 low, high = 0;
    __ompgpu_arch_halves(bits, &low, &high);
    low = __ompgpu_arch_shuffle((u32)mask, low, lane);
    if (wide)
        high = __ompgpu_arch_shuffle((u32)mask, high, lane);
    return __ompgpu_arch_pair(low, high);
}
#define SHUFFLE_DOWN(type, letter)                                                                 \
    LANES(type) ompx_shfl_down_sync_##letter(u64 mask, type value, unsigned delta, int width);     \
    LANES(type) ompx_shfl_down_sync_##letter(u64 mask, type value, unsigned delta, int width)      \
    {                                                                                              \
        u64 bits = 0;                                                                              \
        __builtin_memcpy(&bits, &value, sizeof value);                                             \
        bits = fetch(mask, bits, lane_above(delta, width), sizeof value > 4);                      \
        __builtin_memcpy(&value, &bits, sizeof value);                                             \
        return value;                                                                              \
    }
SHUFFLE_DOWN(int, i)
SHUFFLE_DOWN(float, f)
SHUFFLE_DOWN(long, l)
SHUFFLE_DOWN(double, d)
