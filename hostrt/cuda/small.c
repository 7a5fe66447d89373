/* small.c - small copies, through pinned memory.
 *
 * The driver waits for a copy to pageable memory before it returns, one by one, and may wait before
 * it reads some.  So what is small goes by way of a block of pinned memory, for which nobody waits:
 * to the device from there, to the host into it and from there to its places when the stream has
 * been waited for, or nowhere if that has failed.  Then the block is empty again.
 *
 * A host thread has a block for results and one for what it prefetches, each queue one for both
 * ways.  Not with the PTX machine, whose copies take no time, and which checks what they touch. */
#include <string.h>
#include "hostrt/cuda/cuda.h"

enum { MOST = 32, APART = 64 /* bytes */ };
struct cuda_small {
    char *block;
    size_t room, used; /* bytes of it */
    unsigned n;
    struct {
        void *dst;
        const char *from;
        size_t size;
    } copies[MOST]; /* to the host */
};

struct cuda_small *ompgpu_cuda_small_get(struct cuda_small **small, size_t room)
{
    enum { PORTABLE = 1 };
    struct cuda_small *s = *small;
    if (s || ompgpu_settings.device_kind == OMPGPU_KIND_PTX)
        return s;
    if (!(s = ompgpu_xalloc(sizeof *s)))
        return NULL;
    if (ompgpu_cuda.cuMemHostAlloc((void **)&s->block, room, PORTABLE)) {
        ompgpu_xfree(s);
        return NULL;
    }
    s->room = room;
    return *small = s;
}

bool ompgpu_cuda_small_fits(const struct cuda_small *s, size_t size)
{
    return s->n < MOST && size <= s->room - s->used;
}

static char *take_room(struct cuda_small *s, size_t size)
{
    char *p = s->block + s->used;
    size_t apart = (size + APART - 1) / APART * APART;
    s->used += apart < s->room - s->used ? apart : s->room - s->used;
    return p;
}

CUresult ompgpu_cuda_small_to(struct cuda_small *s, CUstream stream, CUdeviceptr dst,
                              const void *src, size_t size)
{
    char *p = take_room(s, size);
    memcpy(p, src, size);
    return ompgpu_cuda.cuMemcpyHtoDAsync(dst, p, size, stream);
}

CUresult ompgpu_cuda_small_from(struct cuda_small *s, CUstream stream, void *dst, CUdeviceptr src,
                                size_t size)
{
    char *p = take_room(s, size);
    CUresult err = ompgpu_cuda.cuMemcpyDtoHAsync(p, src, size, stream);
    if (err)
        return err;
    s->copies[s->n].dst = dst, s->copies[s->n].from = p, s->copies[s->n].size = size;
    s->n++;
    return CUDA_SUCCESS;
}

void ompgpu_cuda_small_end(struct cuda_small *s, bool good)
{
    for (unsigned i = 0; good && i < s->n; i++)
        memcpy(s->copies[i].dst, s->copies[i].from, s->copies[i].size);
    s->n = 0, s->used = 0;
}

CUresult ompgpu_cuda_fetch(struct cuda_small **results, CUstream stream, void *dst, CUdeviceptr src,
                           size_t size)
{
    enum { LARGEST = 4 << 10, ROOM = 64 << 10 };
    struct cuda_small *s = size <= LARGEST ? ompgpu_cuda_small_get(results, ROOM) : *results;
    CUresult err = s && size <= LARGEST && ompgpu_cuda_small_fits(s, size)
                       ? ompgpu_cuda_small_from(s, stream, dst, src, size)
                       : ompgpu_cuda.cuMemcpyDtoHAsync(dst, src, size, stream);
    if (err && s)
        ompgpu_cuda_small_end(s, false); /* it may be that nobody waits for the others */
    return err;
}

/* The block goes round: the half that was filled last stays as it is. */
const void *ompgpu_cuda_prefetch(struct cuda_small **early, CUstream stream, CUdeviceptr src,
                                 size_t size)
{
    enum { ROOM = 64 << 10 };
    struct cuda_small *s = ompgpu_cuda_small_get(early, ROOM);
    if (!s || size > ROOM / 2)
        return NULL;
    if (!ompgpu_cuda_small_fits(s, size))
        s->used = 0;
    char *p = take_room(s, size);
    return ompgpu_cuda.cuMemcpyDtoHAsync(p, src, size, stream) ? NULL : p;
}

void ompgpu_cuda_small_free(struct cuda_small *s, bool driver_alive)
{
    if (s && driver_alive)
        ompgpu_cuda.cuMemFreeHost(s->block);
    ompgpu_xfree(s);
}
