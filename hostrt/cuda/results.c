/* results.c - small copies to the host.
 *
 * The driver waits for a copy to pageable memory before it returns, one by one.  So what is small
 * goes to pinned memory of the host thread, for which nobody waits, and from there to its places
 * when the thread has waited for all that it asked for (cuda_sync), or nowhere if that has failed.
 *
 * Not with the PTX machine, whose copies take no time, and which checks what they touch. */
#include <string.h>
#include "hostrt/cuda/cuda.h"

enum { SMALL = 4 << 10, BLOCK = 64 << 10, MOST = 32, APART = 64 /* bytes; copies; bytes */ };
struct cuda_results { /* of one host thread and device */
    char *block;
    size_t used; /* bytes of it */
    unsigned n;
    struct {
        void *dst;
        const char *from;
        size_t size;
    } copies[MOST];
};

/* NULL: there is no memory for it, or it is not wanted. */
static struct cuda_results *get_results(struct cuda_results **results)
{
    enum { PORTABLE = 1 };
    struct cuda_results *r = *results;
    if (r || ompgpu_settings.device_kind == OMPGPU_KIND_PTX)
        return r;
    if (!(r = ompgpu_xalloc(sizeof *r)))
        return NULL;
    if (ompgpu_cuda.cuMemHostAlloc((void **)&r->block, BLOCK, PORTABLE)) {
        ompgpu_xfree(r);
        return NULL;
    }
    return *results = r;
}

void ompgpu_cuda_results_end(struct cuda_results *r, bool good)
{
    for (unsigned i = 0; good && i < r->n; i++)
        memcpy(r->copies[i].dst, r->copies[i].from, r->copies[i].size);
    r->n = 0, r->used = 0;
}

CUresult ompgpu_cuda_fetch(struct cuda_results **results, CUstream stream, void *dst,
                           CUdeviceptr src, size_t size)
{
    struct cuda_results *r = size <= SMALL ? get_results(results) : *results;
    bool staged = r && size <= SMALL && r->n < MOST && size <= BLOCK - r->used;
    char *to = staged ? r->block + r->used : dst;
    CUresult err = ompgpu_cuda.cuMemcpyDtoHAsync(to, src, size, stream);
    if (err && r)
        ompgpu_cuda_results_end(r, false); /* it may be that nobody waits for the others */
    if (err || !staged)
        return err;
    r->copies[r->n].dst = dst, r->copies[r->n].from = to, r->copies[r->n].size = size;
    r->n++;
    r->used += (size + APART - 1) / APART * APART;
    return CUDA_SUCCESS;
}

void ompgpu_cuda_results_free(struct cuda_results *r, bool driver_alive)
{
    if (r && driver_alive)
        ompgpu_cuda.cuMemFreeHost(r->block);
    ompgpu_xfree(r);
}
