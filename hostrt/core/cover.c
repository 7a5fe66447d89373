/* cover.c - mappings of pointers that make way for one of what the pointer lies in.
 *
 *     target enter data map(to: s.p[0:n])
 *     target map(to: s)
 *
 * The first construct maps s.p, too, so that regions which use s find the pointee there.  But no
 * clause has named it (OMPGPU_MAP_POINTER), and as OpenMP has it nothing of s is present: s is
 * mapped.  Its mapping takes the place of the pointer's, which leaves the table with its memory and
 * its count until the larger one has gone; the pointer in that is attached as it was.
 *
 * Only where such list items alone count the pointer's mapping: otherwise a clause has named it, or
 * a region uses it.  The locks are those of the larger one, in which the pointer lies. */
#include "hostrt/core/deferred.h"
#include "hostrt/core/work.h"

static struct ompgpu_entry *next_of(struct ompgpu_device *dev, const struct ompgpu_entry *e,
                                    uintptr_t end)
{
    return e->end < end ? ompgpu_present_find(dev, e->end, end - e->end) : NULL;
}

static bool makes_way(const struct ompgpu_entry *e, uintptr_t begin, uintptr_t end)
{
    return e->pointer && e->begin >= begin && e->end <= end && ompgpu_refs(e) == e->pointees &&
           !e->holds && !e->shadow && !e->lost;
}

struct ompgpu_entry *ompgpu_cover(struct ompgpu_device *dev, uintptr_t begin, size_t size)
{
    struct ompgpu_entry *list = NULL, *e = ompgpu_present_find(dev, begin, size);
    for (struct ompgpu_entry *k = e; k; k = next_of(dev, k, begin + size))
        if (!makes_way(k, begin, begin + size))
            return NULL;
    for (; e; e = ompgpu_present_find(dev, begin, size)) {
        if (!ompgpu_refs_take(e, e->pointees)) { /* a region that needs no lock has come */
            ompgpu_uncover(dev, NULL, list);
            return NULL;
        }
        ompgpu_present_remove(dev, e);
        e->next_covered = list, list = e;
    }
    return list;
}

/* What constructs have attached meanwhile. */
static void update_pointers(struct ompgpu_device *dev, const struct ompgpu_entry *by,
                            struct ompgpu_entry *e)
{
    for (unsigned i = 0; i < e->attached.n; i++) {
        struct ompgpu_attachment *a = &e->attached.list[i];
        const struct ompgpu_attachment *now = ompgpu_attachment_in(by, a->host, a->host + 1);
        if (!now || (now->value == a->value && now->pointee == a->pointee))
            continue;
        a->value = now->value, a->pointee = now->pointee;
        dev->plugin->to_device(dev->ordinal, (void *)device_address(e, a->host), &a->value,
                               sizeof a->value);
        dev->plugin->sync(dev->ordinal);
    }
}

void ompgpu_uncover(struct ompgpu_device *dev, const struct ompgpu_entry *by,
                    struct ompgpu_entry *list)
{
    for (struct ompgpu_entry *e; (e = list);) {
        list = e->next_covered, e->next_covered = NULL;
        if (ompgpu_is_rescued(dev)) {
            ompgpu_entry_free(dev, e);
            continue;
        }
        if (by)
            update_pointers(dev, by, e);
        ompgpu_refs_add(e, e->pointees);
        ompgpu_present_insert(dev, e);
    }
}

int ompgpu_cover_attach(struct work *w, const struct ompgpu_map *m, struct ompgpu_entry *by)
{
    for (const struct ompgpu_entry *e = by->covered; e; e = e->next_covered)
        for (unsigned i = 0; i < e->attached.n; i++) {
            const struct ompgpu_attachment *was = &e->attached.list[i];
            if (!was->pointee)
                continue;
            struct ompgpu_attachment *a = ompgpu_attachment_get(by, was->host);
            if (!a || ompgpu_fill_add_pointer(&w->fill, by, m, was->host, was->value, 0))
                return -1;
            a->value = was->value, a->pointee = was->pointee;
        }
    return 0;
}

static struct ompgpu_entry **find_covered(struct ompgpu_entry *by, const struct ompgpu_map *m)
{
    struct ompgpu_entry **at = &by->covered;
    while (*at && (*at)->begin != (uintptr_t)m->begin)
        at = &(*at)->next_covered;
    return at;
}

void ompgpu_covered_enter(const struct work *w, struct ompgpu_entry *by, const struct ompgpu_map *m)
{
    struct ompgpu_entry *e = *find_covered(by, m);
    if (!e || e->counted == w->number)
        return;
    e->counted = w->number;
    e->pointees++;
}

int ompgpu_covered_leave(struct work *w, struct ompgpu_entry *by, const struct ompgpu_map *m)
{
    struct ompgpu_entry **at = find_covered(by, m), *e = *at;
    if (!e || e->counted == w->number)
        return 0;
    e->counted = w->number;
    e->pointees = m->flags & OMPGPU_MAP_DELETE ? 0 : e->pointees - 1;
    if (e->pointees > 0)
        return 0;
    for (unsigned i = 0; i < e->nuses; i++)
        if (ompgpu_task_await(w->task, e->uses[i]))
            return ompgpu_item_failed(w, m);
    if (ompgpu_pointers_held(w->dev, e, w->held))
        ompgpu_detach(w->dev, e);
    *at = e->next_covered;
    ompgpu_data_put(w, e);
    return 0;
}
