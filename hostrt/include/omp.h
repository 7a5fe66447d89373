/* omp.h - the compiler's own header, with what OpenMP and GCC have and clang 22's lacks.  Where
 * clang reads a file whose host part another compiler makes, the header is that compiler's: locks
 * and the like must be laid out as its OpenMP library has them. */
#ifdef __OMPGPU_HOST_OMP_H
#include __OMPGPU_HOST_OMP_H
#else
#include_next <omp.h>
#endif
#ifndef OMPGPU_OMP_H
#define OMPGPU_OMP_H
#ifndef omp_initial_device
#define omp_initial_device (-1)
#endif
#ifndef omp_invalid_device
#define omp_invalid_device (-2)
#endif
#ifndef omp_default_device
#define omp_default_device (-5) /* GCC's value */
#endif
/* OpenMP 6.0: of `transparent`, which dependences a task imports and exports. */
typedef enum omp_impex_t {
    omp_not_impex = 0,
    omp_import = 1,
    omp_export = 2,
    omp_impex = omp_import | omp_export
} omp_impex_t;
/* OpenMP 6.0.  Threads outside of a team run no tasks; a GPU's threads proceed by warps. */
extern int omp_is_free_agent(void);
extern int omp_ancestor_is_free_agent(int);
extern int omp_get_max_progress_width(int);
#define OMPGPU_INLINE extern __inline __attribute__((gnu_inline, always_inline))
OMPGPU_INLINE int omp_is_free_agent(void) { return 0; }
OMPGPU_INLINE int omp_ancestor_is_free_agent(int level) { return level * 0; }
OMPGPU_INLINE int omp_get_max_progress_width(int device)
{
    device = device == omp_default_device ? omp_get_default_device() : device;
    return device == omp_initial_device || device == omp_get_initial_device() ? 1 : 32;
}
#undef OMPGPU_INLINE
/* of the foreign runtimes that have a number in OpenMP 6.0 */
#ifndef omp_ifr_hsa
#define omp_ifr_hsa ((omp_interop_fr_t)7)
#endif
/* AMD's: where a thread is on the device, 0 on the host; and hints for atomic, which change nothing
 * here */
extern int omp_ext_get_lane_id(void);
extern int omp_ext_get_warp_id(void);
extern int omp_ext_get_smid(void);
#ifndef AMD_fast_fp_atomics
#define AMD_fast_fp_atomics omp_sync_hint_none
#define AMD_safe_fp_atomics omp_sync_hint_none
#define AMD_unsafe_fp_atomics omp_sync_hint_none
#endif
/* GCC's names of memory for which clang has others */
#ifndef __OMPGPU_HOST_OMP_H
#define ompx_gnu_pinned_mem_alloc llvm_omp_target_host_mem_alloc
#define ompx_gnu_managed_mem_alloc llvm_omp_target_shared_mem_alloc
#define ompx_gnu_managed_mem_space llvm_omp_target_shared_mem_space
#endif
#endif
