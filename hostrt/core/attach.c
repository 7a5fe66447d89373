/* attach.c - attached pointers: those in a mapping, and those that lead to it, by address.
 *
 *      struct s, mapped                   s.p[0:n], mapped
 *        attached: &s.p, … ──pointee──▶     pointers: &s.p
 *
 * A pointer is attached as long as its pointee is mapped; then its device copy is storage as any
 * other, but that the host does not get what the runtime has written there.  So who removes a
 * mapping goes to all pointers that lead to it, with their parts of the table held as well, and
 * takes the pointee from them.  They stay in the list, which may be read meanwhile by one that
 * copies without a lock. */
#include <string.h>
#include "hostrt/core/core.h"

static unsigned first_after(const struct ompgpu_attachments *s, uintptr_t address)
{
    unsigned low = 0, high = s->n;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (s->list[middle].host + sizeof(void *) > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

unsigned ompgpu_first_attachment(const struct ompgpu_entry *e, uintptr_t address)
{
    return first_after(&e->attached, address);
}

struct ompgpu_attachment *ompgpu_attachment_before(const struct ompgpu_entry *e, unsigned i,
                                                   uintptr_t end)
{
    const struct ompgpu_attachments *s = &e->attached;
    return i < s->n && s->list[i].host < end ? &s->list[i] : NULL;
}

struct ompgpu_attachment *ompgpu_attachment_in(const struct ompgpu_entry *e, uintptr_t begin,
                                               uintptr_t end)
{
    return ompgpu_attachment_before(e, ompgpu_first_attachment(e, begin), end);
}

/* ------------------------------------------------------------------ one pointer */
static bool make_room(struct ompgpu_attachments *s)
{
    unsigned room = s->room ? 2 * s->room : 4;
    if (s->n < s->room)
        return true;
    struct ompgpu_attachment *more = ompgpu_xalloc(room * sizeof *more);
    if (!more)
        return false;
    if (s->n)
        memcpy(more, s->list, s->n * sizeof *more);
    ompgpu_xfree(s->list);
    s->list = more, s->room = room;
    return true;
}

/* *i: where it is, or belongs. */
static struct ompgpu_attachment *find(const struct ompgpu_attachments *s, uintptr_t host,
                                      unsigned *i)
{
    *i = first_after(s, host);
    while (*i < s->n && s->list[*i].host < host)
        ++*i; /* pointers that overlap */
    return *i < s->n && s->list[*i].host == host ? &s->list[*i] : NULL;
}

static struct ompgpu_attachment *get(struct ompgpu_attachments *s, uintptr_t host)
{
    unsigned i;
    struct ompgpu_attachment *a = find(s, host, &i);
    if (a || !make_room(s))
        return a;
    a = &s->list[i];
    memmove(a + 1, a, (s->n++ - i) * sizeof *a);
    *a = (struct ompgpu_attachment){ .host = host };
    return a;
}

struct ompgpu_attachment *ompgpu_attachment_get(struct ompgpu_entry *e, uintptr_t host)
{
    return get(&e->attached, host);
}

void ompgpu_attachment_drop(struct ompgpu_entry *e, struct ompgpu_attachment *a)
{
    size_t after = (size_t)(e->attached.list + --e->attached.n - a);
    memmove(a, a + 1, after * sizeof *a);
}

/* ------------------------------------------------------------------ what leads to a mapping */
bool ompgpu_pointer_note(struct ompgpu_entry *pointee, uintptr_t host)
{
    return get(&pointee->pointers, host) != NULL;
}

bool ompgpu_pointer_is_noted(const struct ompgpu_entry *pointee, uintptr_t host)
{
    unsigned i;
    return find(&pointee->pointers, host, &i) != NULL;
}

bool ompgpu_pointers_held(const struct ompgpu_device *dev, const struct ompgpu_entry *pointee,
                          unsigned held)
{
    enum { FEW = 16 };
    const struct ompgpu_attachments *s = &pointee->pointers;
    if (!s->n || !held || (held & OMPGPU_WHOLE))
        return true;
    for (unsigned i = 0; i < s->n && s->n <= FEW && !dev->wide.count; i++) {
        unsigned owner = __atomic_load_n(
            ompgpu_owner_of((struct ompgpu_device *)dev, s->list[i].host), __ATOMIC_ACQUIRE);
        if (owner && !(held >> (owner - 1) & 1))
            return false;
    }
    return s->n <= FEW && !dev->wide.count;
}

static void detach(struct ompgpu_entry *e, uintptr_t host, const struct ompgpu_entry *pointee)
{
    unsigned i;
    struct ompgpu_attachment *a = find(&e->attached, host, &i);
    if (a && a->pointee == pointee)
        __atomic_store_n(&a->pointee, NULL, __ATOMIC_RELAXED);
}

void ompgpu_detach(struct ompgpu_device *dev, struct ompgpu_entry *pointee)
{
    for (unsigned i = 0; i < pointee->pointers.n; i++) {
        uintptr_t host = pointee->pointers.list[i].host;
        struct ompgpu_entry *e = ompgpu_present_find(dev, host, sizeof(void *));
        if (!e)
            continue;
        detach(e, host, pointee);
        for (struct ompgpu_entry *k = e->covered; k; k = k->next_covered)
            detach(k, host, pointee);
    }
    pointee->pointers.n = 0;
}
