/* first.c - where the first byte of a mapping is on a device, for who only asks that.
 *
 * Each part of the present table (parts.c) has a table for this, of what has been asked for before.
 * It has the device address itself: one line of the cache, where the mapping would be another two;
 * and it is as large as what it has needs, so that programs that ask for a few of a million
 * mappings find these in the cache.  Who asks needs no lock.  All else needs that of the part. */
#include "hostrt/core/core.h"

#define LOAD(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)

enum { LINE = 64, FIRST_BITS = 7 };
struct first_byte { /* atomic */
    uintptr_t host, device;
};
enum { WAYS = LINE / sizeof(struct first_byte) };
struct ompgpu_firsts {
    struct ompgpu_firsts *older; /* who has no lock may read it still */
    void *memory;                /* it is in */
    unsigned bits;               /* log2 of the number of sets */
    size_t count;                /* places in use */
    struct first_byte (*sets)[WAYS];
    /* atomic, odd while a set is being changed; in a line of its own, which others need not read */
    uint64_t changes __attribute__((aligned(LINE)));
};

/* Of `home`, or the one beside it: what finds no place in its own goes there. */
static struct first_byte *set_of(struct ompgpu_firsts *t, uintptr_t home, unsigned beside)
{
    return t->sets[(ompgpu_hash(home) >> (64 - t->bits)) ^ beside];
}

/* WAYS: it has none.  Without branches: a processor that guesses where it is would guess wrong, and
 * know it only when the line has come from memory. */
static inline unsigned place_of(const struct first_byte *set, uintptr_t host)
{
    unsigned found = 1u << WAYS;
    for (unsigned i = 0; i < WAYS; i++)
        found |= (unsigned)(LOAD(&set[i].host) == host) << i;
    return (unsigned)__builtin_ctz(found);
}

/* The place of a first byte, of host 0 a free one; NULL: there is none. */
static struct first_byte *find(struct ompgpu_firsts *t, uintptr_t home, uintptr_t host)
{
    for (unsigned beside = 0; beside < 2; beside++) {
        struct first_byte *set = set_of(t, home, beside);
        unsigned i = place_of(set, host);
        if (i < WAYS)
            return &set[i];
    }
    return NULL;
}

/* What is read of the sets between two equal, even values of `changes` belongs together. */
static void change(struct ompgpu_firsts *t, struct first_byte *f, uintptr_t host, uintptr_t device)
{
    STORE(&t->changes, t->changes + 1);
    STORE(&f->host, host);
    STORE(&f->device, device);
    STORE(&t->changes, t->changes + 1);
}

/* Where both sets are full, one that was there before has to go: it is found with the lock still.
 */
static void add(struct ompgpu_firsts *t, uintptr_t host, uintptr_t device)
{
    struct first_byte *f = find(t, host, 0);
    t->count += f != NULL;
    change(t, f ? f : set_of(t, host, 0), host, device);
}

/* ------------------------------------------------------------------ its size */
static struct ompgpu_firsts *make(unsigned bits)
{
    size_t size = ((size_t)1 << bits) * sizeof(struct first_byte[WAYS]);
    struct ompgpu_firsts *t;
    char *memory = ompgpu_xalloc(sizeof *t + size + LINE);
    if (!memory)
        return NULL;
    t = (struct ompgpu_firsts *)(((uintptr_t)memory + LINE - 1) & ~(uintptr_t)(LINE - 1));
    t->memory = memory, t->bits = bits;
    t->sets = (struct first_byte(*)[WAYS])(t + 1);
    ompgpu_use_large_pages(t->sets, size);
    return t;
}

/* A set is half full on average where it is about to grow.  Where memory is out, it stays as it is,
 * or is none. */
static struct ompgpu_firsts *with_room(struct ompgpu_part *part)
{
    struct ompgpu_firsts *old = part->firsts, *t;
    if (old && old->count <= (size_t)(WAYS / 2) << old->bits)
        return old;
    if (!(t = make(old ? old->bits + 1 : FIRST_BITS)))
        return old;
    t->older = old;
    for (size_t i = 0; old && i < (size_t)1 << old->bits; i++)
        for (unsigned k = 0; k < WAYS; k++)
            if (old->sets[i][k].host)
                add(t, old->sets[i][k].host, old->sets[i][k].device);
    STORE(&part->firsts, t);
    return t;
}

/* ------------------------------------------------------------------ for others */
uintptr_t ompgpu_first_find(struct ompgpu_device *dev, uintptr_t host)
{
    struct ompgpu_part *part = ompgpu_part_at(dev, host);
    struct ompgpu_firsts *t = part && host ? LOAD(&part->firsts) : NULL;
    if (!t)
        return 0;
    uint64_t changes = LOAD(&t->changes);
    const struct first_byte *f = find(t, host, host);
    uintptr_t device = f ? LOAD(&f->device) : 0;
    return !(changes & 1) && LOAD(&t->changes) == changes ? device : 0;
}

void ompgpu_first_note(struct ompgpu_device *dev, struct ompgpu_entry *e)
{
    struct ompgpu_part *part = ompgpu_part_at(dev, e->begin);
    struct ompgpu_firsts *t = e->listed && part ? with_room(part) : NULL;
    struct first_byte *f = t ? find(t, e->begin, e->begin) : NULL;
    if (!t)
        return;
    e->asked = true;
    if (f)
        change(t, f, e->begin, e->device);
    else
        add(t, e->begin, e->device);
}

void ompgpu_first_forget(struct ompgpu_part *part, const struct ompgpu_entry *e)
{
    struct first_byte *f = e->asked ? find(part->firsts, e->begin, e->begin) : NULL;
    if (!f)
        return;
    change(part->firsts, f, 0, 0);
    part->firsts->count--;
}

void ompgpu_firsts_close(struct ompgpu_part *part)
{
    for (struct ompgpu_firsts *t; (t = part->firsts);) {
        part->firsts = t->older;
        ompgpu_xfree(t->memory);
    }
}
