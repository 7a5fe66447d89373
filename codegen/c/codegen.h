/* codegen.h - the C writers (device_c*.c, host_c*.c; no LLVM) and the device tool's passes
 * (LLVM-C).
 *
 * Writers turn a struct omp_unit into two C texts that a person can read.
 *
 * Names: a captured variable that an outlined function reaches by reference is a pointer parameter
 * of the variable's own name and each use becomes (*v); a private copy is a local of the variable's
 * own name and its uses stay as they are.  Where both exist in one function (firstprivate,
 * reduction, lastprivate of a by-reference variable) the pointer is first saved as __o_v. Run-time
 * array bounds travel as hidden parameters __v_d0, __v_d1 …  Everything else the writers make up
 * begins with __.
 *
 * Device text:   file-scope types, needed prototypes, needed variables and functions in source
 *                order; then per region the outlined parallel bodies (innermost first), the region
 *                function, info and entry:
 *
 *   // app.c:14 in main: #pragma omp target teams distribute parallel for reduction(+:s)
 * reduction(max:m) map(to: x[0:n]) struct __red_main_14 { __typeof__(float) s; __typeof__(double)
 * m; }; static inline void __combine_main_14(void *__a, const void *__b) { struct __red_main_14 *a
 * = __a; const struct … *b = __b; a->s = a->s + b->s;  a->m = a->m > b->m ? a->m : b->m; }
 *   __OMPGPU_INLINE void main_14__region(struct __ompgpu_env *__env, __typeof__(float) *s,
 * __typeof__(double) *m, __typeof__(int) n, __typeof__(float *) x)
 *   {
 *     __typeof__(float) *__o_s = s; __typeof__(double) *__o_m = m;
 *     { __typeof__(float) s = 0; __typeof__(double) m = -inf;
 *       const unsigned __trip = …;     // 32-bit where the product of the trip counts fits, else 64
 *       for (unsigned __k = team * nthreads + tid, __stride = nteams * nthreads; __k < __trip;
 *            __k += __stride)          // overflow-safe
 *       { int i = (lb) + __k * (step);
 *   # 16 "app.c"
 *         body }
 *       struct __red_main_14 __rec = { s, m }, __tmp;
 *       if (__ompgpu_reduce_league(__env, &__rec, &__tmp, sizeof __rec, __combine_main_14, 0)) {
 * *__o_s = *__o_s + __rec.s; … }
 *     }
 *   }
 *
 *   // fork_join.c:20: #pragma omp target teams distribute  (generic; an inner `parallel for
 * reduction(+:s)` at line 23) struct __ctx_main_23 { __typeof__(double) *s; __typeof__(int) r; … };
 *   static void main_23__parallel(void *__c)
 *   { struct __ctx_main_23 *__ctx = __c; __typeof__(double) *s = __ctx->s; __typeof__(int) r =
 * __ctx->r; … worksharing loop … } …  in the region, in place of the construct: { struct
 * __ctx_main_23 __ctx = { &(s), r }; __ompgpu_parallel(main_23__parallel, &__ctx, 0, 1); }
 *
 * Host text: hostrt/ompgpu.h's declarations, `static struct ompgpu_unit __ompgpu_unit;`, then the
 * .i with each target construct replaced:
 *
 *   { { static struct ompgpu_region __omp_r = { "main_14", "app.c", "main", "target teams …", 14,
 * 1, &__ompgpu_unit, 0 }; const struct ompgpu_map __omp_m[] = { … }; … const struct ompgpu_param
 * __omp_p[] = { … }; const struct ompgpu_launch __omp_l = { device, num_teams, thread_limit, trip,
 * flags }; if (__ompgpu_target(&__omp_r, __omp_m, 2, __omp_p, 4, &__omp_l))
 *   #pragma omp target teams distribute …        (the original, as host version)
 *       for (…) … } }
 *
 * With an if clause, everything but the host version stands under its condition: the clauses are
 * not evaluated otherwise.
 *
 * and at the end: the table of declare target variables, the unit with the image (symbol
 * __ompgpu_image, which the driver adds to the assembly), constructor and destructor. */
#ifndef OMPGPU_CODEGEN_H
#define OMPGPU_CODEGEN_H
#include "frontend/unit.h"

/* Both return 0, or the number of errors reported (constructs that are not supported, with place).
 * Nothing useful is in `out` then. */
int cg_write_device_c(FILE *out, const struct omp_unit *);
int cg_write_host_c(FILE *out, const struct omp_unit *);
#endif
