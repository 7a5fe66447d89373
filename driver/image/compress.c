/* compress.c - images of a container as zstd frames.  The level is the one after which another
 * percent costs as much time again. */
#include "driver/base/mem.h"
#include "driver/image/image.h"
#include <zstd.h>

enum { LEVEL = 9 };

void *drv_compress(const void *bytes, size_t size, size_t *compressed)
{
    const size_t room = ZSTD_compressBound(size);
    void *frame = mem_alloc(room);
    *compressed = ZSTD_compress(frame, room, bytes, size, LEVEL);
    return ZSTD_isError(*compressed) || *compressed >= size ? NULL : frame;
}

const void *drv_image_bytes(const struct ompgpu_image_header *h, const struct ompgpu_image_entry *e)
{
    const char *stored = (const char *)h + e->offset;
    if (e->usize == e->size)
        return stored;
    if (!ompgpu_image_size_possible(e))
        return NULL;
    void *bytes = mem_alloc(e->usize);
    return ZSTD_decompress(bytes, e->usize, stored, e->size) == e->usize ? bytes : NULL;
}
