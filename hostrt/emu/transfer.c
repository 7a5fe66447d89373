/* transfer.c - copies of the program's data in the search for races (race.c): each is an access of
 * its bytes in device memory, by what comes after and before others as a kernel does (order.c).
 *
 * Those in queues always are.  A copy that its host thread waits for comes after all that has
 * ended, and what is put into a queue later comes after it: so it is looked at only while something
 * is under way. */
#include <stdio.h>
#include <string.h>
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"
#include "hostrt/emu/emu.h"
#include "hostrt/image.h"

/* ------------------------------------------------------------------ who copies
 * As many as constructs of the program; they stay, since phases name them. */
static struct emu_copier *copiers; /* guarded by lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool is_copier(const struct emu_copier *p, const struct ompgpu_where *w,
                      enum emu_direction direction)
{
    return p->direction == direction && p->where.line == w->line &&
           is_same(p->where.file, w->file) && is_same(p->where.region, w->region) &&
           is_same(p->where.directive, w->directive);
}

/* The library that it is from may go. */
static const char *copy_of(const char *s)
{
    size_t size = s ? strlen(s) + 1 : 0;
    char *copy = s ? ompgpu_xalloc(size) : NULL;
    return copy ? memcpy(copy, s, size) : NULL;
}

static struct emu_copier *new_copier(const struct ompgpu_where *w, enum emu_direction direction)
{
    struct emu_copier *p = ompgpu_xalloc(sizeof *p);
    if (!p)
        return NULL;
    p->where = (struct ompgpu_where){ .file = copy_of(w->file),
                                      .line = w->line,
                                      .region = copy_of(w->region),
                                      .directive = copy_of(w->directive) };
    p->direction = direction;
    p->next = copiers;
    return copiers = p;
}

/* NULL: it is none of the program's, or memory is out. */
struct emu_copier *ompgpu_emu_copier(enum emu_direction direction)
{
    const struct ompgpu_where *w = ompgpu_copying;
    if (!w)
        return NULL;
    pthread_mutex_lock(&lock);
    struct emu_copier *p = copiers;
    while (p && !is_copier(p, w, direction))
        p = p->next;
    if (!p)
        p = new_copier(w, direction);
    pthread_mutex_unlock(&lock);
    return p;
}

void ompgpu_emu_transfer_fork(enum ompgpu_fork when)
{
    (when == OMPGPU_FORK_BEFORE ? pthread_mutex_lock : pthread_mutex_unlock)(&lock);
}

/* ------------------------------------------------------------------ what the host does meanwhile
 * A construct with nowait is put into a queue when all host tasks it depends on have ended: from
 * then on what it copies to the device is to stay as it is, unless constructs before it will copy
 * to the same memory. */
static bool will_change(const void *src, size_t size)
{
    struct ompgpu_ticket by;
    bool any = false;
    for (int i = 0; i < ompgpu_ndevices && !any; i++)
        any = ompgpu_returning_at(&ompgpu_devices[i], (uintptr_t)src, size, &by);
    return any;
}

void ompgpu_emu_source_put(struct emu_moment *m, const void *src, size_t size)
{
    m->summed = !will_change(src, size);
    m->sum = m->summed ? ompgpu_image_sum(src, size) : 0;
}

void ompgpu_emu_source_read(const struct emu_transfer *t, const void *src, size_t size)
{
    const struct emu_moment *m = t->moment;
    if (m && m->summed && ompgpu_image_sum(src, size) != m->sum)
        ompgpu_emu_report_changed(m->copier, src, size);
}

/* ------------------------------------------------------------------ copies */
void ompgpu_emu_transfer_begin(struct emu_transfer *t, enum emu_direction direction)
{
    t->moment = ompgpu_emu_moment;
    t->phase = 0;
    if (!ompgpu_emu_race_looked_for())
        return;
    if (!t->moment && ompgpu_copying && ompgpu_emu_order_any()) {
        ompgpu_emu_order_alone(&t->own);
        t->own.copier = ompgpu_emu_copier(direction);
        t->moment = &t->own;
    }
    if (t->moment && t->moment->copier) {
        ompgpu_emu_order_linger(t->moment);
        t->phase = ompgpu_emu_race_enter(t->moment, &t->floor);
    }
}

void ompgpu_emu_transfer_end(const struct emu_transfer *t)
{
    if (t->phase)
        ompgpu_emu_race_leave();
    if (t->moment == &t->own)
        ompgpu_emu_order_end(t->moment);
}
