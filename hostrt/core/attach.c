/* attach.c - the attached pointers of a mapping: an array, sorted by address. */
#include <string.h>
#include "hostrt/core/core.h"

unsigned ompgpu_first_attachment(const struct ompgpu_entry *e, uintptr_t address)
{
    unsigned low = 0, high = e->nattachments;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (e->attachments[middle].host + sizeof(void *) > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

struct ompgpu_attachment *ompgpu_attachment_before(const struct ompgpu_entry *e, unsigned i,
                                                   uintptr_t end)
{
    return i < e->nattachments && e->attachments[i].host < end ? &e->attachments[i] : NULL;
}

static bool make_room_to_attach(struct ompgpu_entry *e)
{
    unsigned room = e->room ? 2 * e->room : 4;
    if (e->nattachments < e->room)
        return true;
    struct ompgpu_attachment *more = ompgpu_xalloc(room * sizeof *more);
    if (!more)
        return false;
    if (e->nattachments)
        memcpy(more, e->attachments, e->nattachments * sizeof *more);
    ompgpu_xfree(e->attachments);
    e->attachments = more, e->room = room;
    return true;
}

struct ompgpu_attachment *ompgpu_attachment_get(struct ompgpu_entry *e, uintptr_t host)
{
    unsigned i = ompgpu_first_attachment(e, host);
    while (i < e->nattachments && e->attachments[i].host < host)
        i++; /* pointers that overlap */
    if (i < e->nattachments && e->attachments[i].host == host)
        return &e->attachments[i];
    if (!make_room_to_attach(e))
        return NULL;
    struct ompgpu_attachment *a = &e->attachments[i];
    memmove(a + 1, a, (e->nattachments++ - i) * sizeof *a);
    *a = (struct ompgpu_attachment){ .host = host };
    return a;
}

void ompgpu_attachment_drop(struct ompgpu_entry *e, struct ompgpu_attachment *a)
{
    size_t after = (size_t)(e->attachments + --e->nattachments - a);
    memmove(a, a + 1, after * sizeof *a);
}
