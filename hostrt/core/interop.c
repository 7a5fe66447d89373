/* interop.c - what clang makes of `interop` (section 14.1 of OpenMP 5.2).
 *
 * libompgpu's streams are its own, so there is no foreign runtime to share: every interop object is
 * omp_interop_none, which the specification foresees and programs test for.  What is left is the
 * order: init, use and destroy wait for their dependences, and no work of ours is under way
 * afterwards.                                                                                   */
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
void __tgt_interop_init(void *place, int32_t thread, void **interop, int32_t type, int32_t device,
                        int32_t ndeps, void *deps, int32_t nowait);
void __tgt_interop_use(void *place, int32_t thread, void **interop, int32_t device, int32_t ndeps,
                       void *deps, int32_t nowait);
void __tgt_interop_destroy(void *place, int32_t thread, void **interop, int32_t device,
                           int32_t ndeps, void *deps, int32_t nowait);
#pragma GCC visibility pop

/* Of the OpenMP library, which clang links with every program that has dependences. */
extern void __kmpc_omp_wait_deps(void *, int32_t, int32_t, void *, int32_t, void *)
    __attribute__((weak));

static void wait_for(void *place, int32_t thread, int32_t ndeps, void *deps)
{
    if (ndeps > 0 && __kmpc_omp_wait_deps)
        __kmpc_omp_wait_deps(place, thread, ndeps, deps, 0, NULL);
}

void __tgt_interop_init(void *place, int32_t thread, void **interop, int32_t type, int32_t device,
                        int32_t ndeps, void *deps, int32_t nowait)
{
    (void)type, (void)device, (void)nowait;
    wait_for(place, thread, ndeps, deps);
    *interop = NULL;
}

void __tgt_interop_use(void *place, int32_t thread, void **interop, int32_t device, int32_t ndeps,
                       void *deps, int32_t nowait)
{
    (void)interop, (void)device, (void)nowait;
    wait_for(place, thread, ndeps, deps);
}

void __tgt_interop_destroy(void *place, int32_t thread, void **interop, int32_t device,
                           int32_t ndeps, void *deps, int32_t nowait)
{
    (void)device, (void)nowait;
    wait_for(place, thread, ndeps, deps);
    *interop = NULL;
}
