/* attach.c - attached pointers: those in a mapping, and those that lead to it, by address.
 *
 *      struct s, mapped                   s.p[0:n], mapped
 *        attached: &s.p, … ──pointee──▶     pointers: &s.p
 *
 * A pointer is attached as long as its pointee is mapped; then its device copy is storage as any
 * other, but that the host gets no address of a pointee from there (which a kernel may have moved
 * on, or swapped with another, although it must not).  So who removes a mapping goes to all
 * pointers that lead to it, with their parts of the table held as well, and takes the pointee from
 * them.  They stay in the list, which may be read meanwhile by one that copies without a lock. */
#include <stdlib.h>
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
static int by_value(const void *a, const void *b)
{
    const uintptr_t *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

static void drop_repeats(struct ompgpu_addresses *s)
{
    unsigned n = 0;
    qsort(s->list, s->n, sizeof *s->list, by_value);
    for (unsigned i = 0; i < s->n; i++)
        if (!n || s->list[n - 1] != s->list[i])
            s->list[n++] = s->list[i];
    s->n = n;
}

/* An address that comes again and again takes no more room, and each takes little time. */
static bool make_room_for_address(struct ompgpu_addresses *s)
{
    if (s->n == s->room && s->n)
        drop_repeats(s);
    if (s->n < s->room / 2)
        return true;
    unsigned room = s->room ? 2 * s->room : 4;
    uintptr_t *more = ompgpu_xalloc(room * sizeof *more);
    if (!more)
        return s->n < s->room;
    if (s->n)
        memcpy(more, s->list, s->n * sizeof *more);
    ompgpu_xfree(s->list);
    s->list = more, s->room = room;
    return true;
}

static bool add_address(struct ompgpu_addresses *s, uintptr_t address)
{
    if (s->n && s->list[s->n - 1] == address)
        return true;
    if (s->n == s->room && !make_room_for_address(s))
        return false;
    s->list[s->n++] = address;
    return true;
}

/* Others note, too, with other parts of the table held. */
static void widen(uintptr_t *low, uintptr_t *high, uintptr_t from, uintptr_t to)
{
    uintptr_t is = __atomic_load_n(low, __ATOMIC_RELAXED);
    while ((!is || from < is) &&
           !__atomic_compare_exchange_n(low, &is, from, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    is = __atomic_load_n(high, __ATOMIC_RELAXED);
    while (to > is &&
           !__atomic_compare_exchange_n(high, &is, to, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

bool ompgpu_may_be_pointee(const struct ompgpu_device *dev, uintptr_t value)
{
    return value >= __atomic_load_n(&dev->pointees_low, __ATOMIC_RELAXED) &&
           value < __atomic_load_n(&dev->pointees_high, __ATOMIC_RELAXED);
}

bool ompgpu_pointer_note(struct ompgpu_device *dev, struct ompgpu_entry *pointee, uintptr_t host,
                         uintptr_t value)
{
    uintptr_t from = pointee->device, to = from + (pointee->end - pointee->begin);
    widen(&dev->pointees_low, &dev->pointees_high, value < from ? value : from,
          value >= to ? value + 1 : to);
    return add_address(&pointee->pointers, host);
}

bool ompgpu_pointers_lie_in(const struct ompgpu_device *dev, const struct ompgpu_entry *pointee,
                            unsigned held)
{
    enum { FEW = 16 };
    const struct ompgpu_addresses *s = &pointee->pointers;
    if (held & OMPGPU_WHOLE)
        return true;
    for (unsigned i = 0; i < s->n && s->n <= FEW && !dev->wide.count; i++) {
        unsigned owner = __atomic_load_n(ompgpu_owner_of((struct ompgpu_device *)dev, s->list[i]),
                                         __ATOMIC_ACQUIRE);
        if ((owner && !(held >> (owner - 1) & 1)) || !ompgpu_in_granule(s->list[i], sizeof(void *)))
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

void ompgpu_detach_all(struct ompgpu_device *dev, struct ompgpu_entry *pointee)
{
    for (unsigned i = 0; i < pointee->pointers.n; i++) {
        uintptr_t host = pointee->pointers.list[i];
        struct ompgpu_entry *e = ompgpu_present_find(dev, host, sizeof(void *));
        if (!e)
            continue;
        detach(e, host, pointee);
        for (struct ompgpu_entry *k = e->covered; k; k = k->next_covered)
            detach(k, host, pointee);
    }
    pointee->pointers.n = 0;
}
