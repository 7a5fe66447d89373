/* pack.c - small mappings of one construct, which share a block of device memory and get there with
 * one copy.
 *
 * A copy of a few bytes costs as much as one of a few thousand: what counts is the call of the
 * driver.  So new mappings that are small lie together, and an image of them on the host gathers
 * what each is to hold.  What no copy has set is undefined on the device, and stays so.  Where
 * several come back in one construct, the block does (back.c).
 *
 * The block goes when the last of its mappings has gone. */
#include <string.h>
#include "hostrt/core/deferred.h"
#include "hostrt/core/work.h"

enum { LARGEST_ITEM = 1024, LARGEST_PACK = 4096, ALIGNMENT = 256 };
struct ompgpu_pack {
    void *memory;      /* on the device */
    unsigned users;    /* atomic: its mappings, and the construct while it is at work */
    bool filled;       /* something of the image is to go there */
    size_t size, used; /* bytes */
    char image[];      /* of `size` bytes; stays as it is while a copy may be under way */
};

static size_t rounded(size_t size) { return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1); }

static bool is_small(const struct ompgpu_map *m)
{
    return m->size && m->size <= LARGEST_ITEM &&
           !(m->flags & (OMPGPU_MAP_LOOKUP | OMPGPU_MAP_PRIVATE_COPY | OMPGPU_MAP_RESULT));
}

/* Bytes for those of the construct's items that may be in it; 0: fewer than two are. */
static size_t size_for(const struct work *w)
{
    size_t size = 0;
    unsigned small = 0;
    for (unsigned i = 0; i < w->n; i++) {
        size_t one = rounded(w->maps[i].size + OMPGPU_LARGEST_ALIGNMENT);
        if (!is_small(&w->maps[i]))
            continue;
        if (size + one > LARGEST_PACK)
            break;
        size += one;
        small++;
    }
    return small < 2 ? 0 : size;
}

static int begin_pack(struct work *w)
{
    size_t size = size_for(w);
    w->fill.packing = true;
    if (!size)
        return 0;
    struct ompgpu_pack *p = ompgpu_xalloc(sizeof *p + size);
    if (!p)
        return -1;
    *p = (struct ompgpu_pack){ .users = 1, .size = size };
    if (ompgpu_memory_get(w->dev, size, &p->memory)) {
        ompgpu_xfree(p);
        return -1;
    }
    w->fill.pack = p;
    return 0;
}

/* A tool is told of each mapping's own. */
static bool may_share(const struct work *w, size_t size)
{
    return w->dev->info.packs && !w->task && !ompgpu_has_tool && size <= LARGEST_ITEM;
}

int ompgpu_pack_get(struct work *w, size_t size, void **memory, struct ompgpu_pack **pack)
{
    if (may_share(w, size) && !w->fill.packing && begin_pack(w))
        return -1;
    struct ompgpu_pack *p = may_share(w, size) ? w->fill.pack : NULL;
    *pack = NULL;
    if (!p || p->size - p->used < rounded(size))
        return ompgpu_memory_get(w->dev, size, memory);
    *pack = p;
    *memory = (char *)p->memory + p->used;
    p->used += rounded(size);
    __atomic_fetch_add(&p->users, 1, __ATOMIC_RELAXED);
    return 0;
}

void ompgpu_pack_release(struct ompgpu_device *dev, struct ompgpu_pack *p)
{
    if (__atomic_sub_fetch(&p->users, 1, __ATOMIC_ACQ_REL))
        return;
    dev->plugin->free(dev->ordinal, p->memory);
    ompgpu_xfree(p);
}

bool ompgpu_pack_add(struct ompgpu_pack *p, const struct ompgpu_entry *e, uintptr_t host,
                     const void *src, size_t size)
{
    if (!p || e->pack != p)
        return false;
    memcpy(p->image + (e->device - (uintptr_t)p->memory) + (host - e->begin), src, size);
    p->filled = true;
    return true;
}

int ompgpu_pack_send(struct ompgpu_device *dev, const struct ompgpu_pack *p)
{
    return p && p->filled ? dev->plugin->to_device(dev->ordinal, p->memory, p->image, p->used) : 0;
}

const void *ompgpu_pack_bytes(const struct ompgpu_pack *p, size_t *size)
{
    *size = p->used;
    return p->memory;
}
