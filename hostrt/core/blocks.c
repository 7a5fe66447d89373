/* blocks.c - items of a region that are reached through one base (OMPGPU_MAP_BLOCK): members of a
 * struct, parts of an array.  The kernel gets one address for all of them, so their mappings must
 * lie on the device as their storage does on the host. */
#include "hostrt/core/work.h"

/* The first item of each block, by its base: a hash table. */
struct blocks {
    unsigned *first; /* number of the item + 1 */
    unsigned mask;
};
static unsigned *find_block(const struct work *w, const struct blocks *b, const void *base)
{
    unsigned i = (unsigned)((uintptr_t)base * UINT64_C(0x9e3779b97f4a7c15) >> 32) & b->mask;
    while (b->first[i] && w->maps[b->first[i] - 1].base != base)
        i = (i + 1) & b->mask;
    return &b->first[i];
}

static int note_blocks(struct work *w, struct blocks *b)
{
    unsigned room = 2;
    while (room < 2 * w->n)
        room *= 2;
    *b = (struct blocks){ ompgpu_xalloc(room * sizeof *b->first), room - 1 };
    for (unsigned i = 0; b->first && i < w->n; i++) {
        const struct ompgpu_map *m = &w->maps[i];
        unsigned *first =
            (m->flags & OMPGPU_MAP_BLOCK) && m->size ? find_block(w, b, m->base) : NULL;
        if (first && !*first)
            *first = i + 1;
    }
    return b->first ? 0 : -1;
}

/* The kernel reaches the items of a block through one address. */
int ompgpu_check_blocks(struct work *w, uintptr_t *addresses)
{
    struct blocks b;
    if (note_blocks(w, &b))
        return ompgpu_item_failed(w, w->maps);
    int bad = 0;
    for (unsigned i = 0; i < w->n && !bad; i++) {
        const struct ompgpu_map *m = &w->maps[i];
        unsigned first = m->flags & OMPGPU_MAP_BLOCK ? *find_block(w, &b, m->base) : 0;
        if (!first)
            continue;
        if (m->size && addresses[first - 1] != addresses[i])
            bad = ompgpu_item_lies_apart(
                w, m, find_extended(w->dev, (uintptr_t)w->maps[first - 1].begin, w->held));
        addresses[i] = addresses[first - 1];
    }
    ompgpu_xfree(b.first);
    return bad;
}
