/* codegen.h - the second half of omp-split: from a struct omp_unit to two C texts that a person can
 * read.  No libclang, no LLVM.
 *
 * In:     a unit that fe_check accepted.
 * Out:    the device text, the host text.
 * Order:  plan.c decides for each target construct what both texts must agree on; device/ and host/
 *         write the texts.  Both use reduce/ (private copies and reductions); all use clause.c
 *         (what constructs say) and text/ (lines, copying, types, sections).  Calls go down only,
 *         but for the copier, which hands constructs to the writer that set cg.construct.
 *
 * Names: a captured variable that an outlined function reaches by reference is a pointer parameter
 * of the variable's own name and each use becomes (*v); a private copy is a local of the variable's
 * own name and its uses stay as they are.  Where both exist in one function (firstprivate,
 * reduction, lastprivate of a by-reference variable) the pointer is first saved as __omp_o_v.
 * Run-time array bounds travel as hidden parameters __v_d0, __v_d1 …  Everything else the writers
 * make up begins with __omp_ (__omp2_ … where the file has such names; '@' in formats and in the
 * comments of these files) or belongs to the runtime, __ompgpu_.
 *
 * Device text: types, needed prototypes, variables and functions in source order; before each
 * function its regions.  Of app.c with
 *
 *   #pragma omp target teams distribute parallel for map(to: x[0:n]) reduction(+: s)
 *   for (int i = 0; i < n; i++)
 *       s += x[i];
 *
 * in line 14 of main:
 *
 *   // app.c:14 in main: #pragma omp target teams distribute parallel for …  (SPMD)
 *   # 14 "app.c"
 *   struct __omp_red_main_14 {                       the record: what is reduced
 *       float s;
 *   };
 *   __OMPGPU_INLINE void __omp_combine_main_14(void *__omp_p, const void *__omp_q)
 *   {
 *       struct __omp_red_main_14 *__omp_a = __omp_p;
 *       const struct __omp_red_main_14 *__omp_b = __omp_q;
 *       __omp_a->s = __omp_a->s + __omp_b->s;
 *   }
 *   __OMPGPU_REDUCTION(main_14, …)                   for remarks
 *   __OMPGPU_REGION void main_14__omp_region(struct __ompgpu_env *__omp_env, float *s, int n,
 *           float *x)
 *   {
 *       const int __omp_ub_i = n;
 *       const unsigned __omp_n_i = 0 < __omp_ub_i ? (unsigned)__omp_ub_i : 0;
 *       {
 *           float *__omp_o_s = s;                    the original
 *           float s = 0;                             the private copy
 *           for (struct __ompgpu_loop32 __omp_it_i = __ompgpu_loop32(__OMPGPU_ALL_THREADS,
 *                   __omp_n_i); __omp_it_i.more; __ompgpu_next32(&__omp_it_i)) {
 *               int i = __omp_it_i.at;
 *   # 16 "app.c"
 *               s += x[i];
 *   # 14 "app.c"
 *           }
 *           {
 *               struct __omp_red_main_14 __omp_rec, __omp_tmp;
 *               __omp_rec.s = s;
 *               if (__ompgpu_reduce_league(__omp_env, &__omp_rec, &__omp_tmp, sizeof __omp_rec,
 *                       __omp_combine_main_14, 0)) {
 *                   *__omp_o_s = *__omp_o_s + __omp_rec.s;
 *               }
 *           }
 *       }
 *   }
 *   __OMPGPU_INFO(main_14, SPMD, …)                  for omp-device and the host runtime
 *   __attribute__((nvptx_kernel)) void main_14(…)    the kernel: devicertl/ompgpu_device.h
 *
 * A parallel region in a generic kernel or a device function is outlined: device/parallel.c.
 *
 * Host text: hostrt/ompgpu.h's declarations, then the preprocessed file with each target construct
 * replaced:
 *
 *   # 14 "app.c"
 *   {
 *       static struct __ompgpu_region __omp_region = { "main_14", "app.c", "main",
 *               "target teams distribute parallel for …", 14, 1, &__ompgpu_unit, 0 };
 *       __typeof__(n) __omp_v1 = n;
 *       const struct __ompgpu_map __omp_maps[] = {
 *           { &(s), &(s), sizeof(s), 0, 35, 0, "s" },
 *           { x, &(x)[0], (n) * sizeof((x)[0]), 0, 1, 14, "x[0:n]" },
 *       };
 *       const struct __ompgpu_param __omp_params[] = {
 *           { 0, sizeof(void *), 0 },                the address from map 0
 *           { &__omp_v1, sizeof __omp_v1, -1 },      a value
 *           { 0, sizeof(void *), 1 },
 *       };
 *       const struct __ompgpu_launch __omp_launch = {
 *           .device = __OMPGPU_DEVICE_DEFAULT,
 *           .trip = …,
 *           .flags = 31,
 *       };
 *       if (__ompgpu_target(&__omp_region, __omp_maps, 2, __omp_params, 3, &__omp_launch))
 *   # 14 "app.c"
 *   #pragma omp target teams distribute parallel for map(to: x[0:n]) reduction(+: s)
 *       for (int i = 0; i < n; i++)                  the host fallback: the construct as it is
 *           s += x[i];
 *   }
 *
 * With an if clause all of this but the host fallback is under its condition: the clauses are not
 * evaluated otherwise.  At the end: the table of declare target variables, the unit with the image
 * (an empty section, which the driver fills), constructor and destructor. */
#ifndef OMPGPU_CODEGEN_H
#define OMPGPU_CODEGEN_H
#include "frontend/unit.h"

/* Both return 0, or the number of errors reported (constructs that are not supported, with place).
 * Nothing useful is in `out` then. */
int cg_write_device_c(FILE *out, const struct omp_unit *);
int cg_write_host_c(FILE *out, const struct omp_unit *);
#endif
