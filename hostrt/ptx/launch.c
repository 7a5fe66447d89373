/* launch.c - launches: what is wrong with one is said at once; the kernel is work for a stream. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/beyond.h"
#include "hostrt/ptx/machine.h"

static uint64_t launches;

static CUresult check_geometry(const struct function *f, const unsigned *grid,
                               const unsigned *block, unsigned dynamic_shared)
{
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    uint64_t teams = (uint64_t)grid[0] * grid[1];
    if (!threads || !teams || !grid[2] || grid[1] > 65535 || grid[2] > 65535 ||
        teams * grid[2] > INT32_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (threads > MAX_THREADS || (f->max_threads && threads > f->max_threads)) {
        fprintf(stderr, "ptx machine: kernel %s: %llu threads a team, at most %u\n", f->name,
                (unsigned long long)threads, f->max_threads ? f->max_threads : MAX_THREADS);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (f->exact && threads != f->max_threads) {
        fprintf(stderr, "ptx machine: kernel %s: %llu threads a team, not %u\n", f->name,
                (unsigned long long)threads, f->max_threads);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (f->shared_bytes + dynamic_shared > PTX_SHARED_LIMIT && dynamic_shared > f->dynamic_most) {
        fprintf(stderr, "ptx machine: kernel %s: %llu bytes of shared memory, at most %d\n",
                f->name, (unsigned long long)(f->shared_bytes + dynamic_shared), PTX_SHARED_LIMIT);
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
    return CUDA_SUCCESS;
}

/* As on a GPU, a fault shows at a later call. */
static CUresult launch(struct launch l, CUstream s, void **params)
{
    const struct function *f = l.entry;
    CUresult r;
    l.device = ptx_current(&r);
    if (r || (r = check_geometry(f, l.grid, l.block, l.dynamic_shared)))
        return r;
    if (f->module->device != l.device || ptx_stream_device(s) != l.device)
        return CUDA_ERROR_INVALID_HANDLE;
    ptx_print_flush(l.device);
    if (!(l.params = calloc(1, f->param_bytes + 16u)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned k = 0; k < f->nparams; k++)
        memcpy(l.params + f->params[k].offset, params[k], f->params[k].size);
    l.nteams = l.grid[0] * l.grid[1] * l.grid[2];
    l.number = __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
    l.seed = ptx_settings.seed * 0x9e3779b97f4a7c15ull + l.number;
    return ptx_stream_add(s, (struct work){ .kind = WORK_LAUNCH, .launch = l });
}

EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                               unsigned bx, unsigned by, unsigned bz, unsigned dynamic_shared,
                               CUstream s, void **params, void **extra)
{
    struct launch l = { .entry = (struct function *)(void *)function,
                        .grid = { gx, gy, gz },
                        .block = { bx, by, bz },
                        .dynamic_shared = dynamic_shared };
    return extra ? CUDA_ERROR_INVALID_VALUE : launch(l, s, params);
}

/* All teams run at the same time and may wait for each other. */
EXPORT CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy,
                                          unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                          unsigned dynamic_shared, CUstream s, void **params)
{
    struct launch l = { .entry = (struct function *)(void *)function,
                        .grid = { gx, gy, gz },
                        .block = { bx, by, bz },
                        .dynamic_shared = dynamic_shared,
                        .cooperative = true };
    uint64_t threads = (uint64_t)bx * by * bz, teams = (uint64_t)gx * gy * gz;
    if (threads && teams > PTX_RESIDENT_THREADS / threads * PTX_MULTIPROCESSORS)
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return launch(l, s, params);
}
