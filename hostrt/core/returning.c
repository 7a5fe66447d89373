/* returning.c - what deferred constructs will still copy to the host.
 *
 * A deferred construct has left the present table before its queue comes to its copies (data.c).
 * Who makes a mapping of the same storage then must not copy what the host has there by now: it
 * comes after the construct, as it would if that had kept its mapping until it ended.  Two
 * constructs that copy the same bytes back come one after the other, so the last one stands for
 * both.
 *
 * Ranges are added with the whole present table held; who makes a mapping holds a part of it. */
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all sets; calls nothing */

struct ompgpu_returning {
    struct ompgpu_range range;
    uintptr_t begin, end; /* of its own: the range may be that of earlier ones, too */
    struct ompgpu_ticket task;
    struct ompgpu_returning *next; /* of the same construct */
    bool listed;
};

static struct ompgpu_returning *find(const struct ompgpu_device *dev, uintptr_t begin,
                                     uintptr_t end)
{
    return (struct ompgpu_returning *)ompgpu_ranges_find(&dev->returning, begin, end - begin);
}

/* The first one in a range. */
static struct ompgpu_ticket find_first(const struct ompgpu_device *dev, uintptr_t begin,
                                       uintptr_t end, uintptr_t *next)
{
    pthread_mutex_lock(&lock);
    const struct ompgpu_returning *r = find(dev, begin, end);
    struct ompgpu_ticket task = r ? r->task : (struct ompgpu_ticket){ 0 };
    *next = r && r->range.end < end ? r->range.end : end;
    pthread_mutex_unlock(&lock);
    return task;
}

int ompgpu_returning_await(struct ompgpu_device *dev, struct ompgpu_task *self, uintptr_t begin,
                           size_t size)
{
    if (!ompgpu_any_deferred())
        return 0;
    for (uintptr_t end = begin + size; begin < end;)
        if (ompgpu_task_await(self, find_first(dev, begin, end, &begin)))
            return -1;
    return 0;
}

bool ompgpu_returning_at(struct ompgpu_device *dev, uintptr_t begin, size_t size,
                         struct ompgpu_ticket *by)
{
    pthread_mutex_lock(&lock);
    const struct ompgpu_returning *r = find(dev, begin, begin + size);
    bool is = r && begin < r->end && begin + size > r->begin;
    if (is)
        *by = r->task;
    pthread_mutex_unlock(&lock);
    return is;
}

static void unlist(struct ompgpu_device *dev, struct ompgpu_returning *r)
{
    ompgpu_ranges_remove(&dev->returning, &r->range);
    r->listed = false;
}

int ompgpu_returning_add(struct ompgpu_task *t, uintptr_t begin, size_t size)
{
    if (!size)
        return 0;
    struct ompgpu_returning *new = (struct ompgpu_returning *)ompgpu_task_room(t, sizeof *new);
    if (!new || ompgpu_returning_await(t->dev, t, begin, size))
        return -1;
    *new = (struct ompgpu_returning){ .range = { .begin = begin, .end = begin + size },
                                      .begin = begin,
                                      .end = begin + size,
                                      .task = ompgpu_ticket_of(t),
                                      .next = t->returning,
                                      .listed = true };
    pthread_mutex_lock(&lock);
    for (struct ompgpu_returning *r; (r = find(t->dev, new->range.begin, new->range.end));) {
        unlist(t->dev, r);
        if (r->range.begin < new->range.begin)
            new->range.begin = r->range.begin;
        if (r->range.end > new->range.end)
            new->range.end = r->range.end;
    }
    ompgpu_ranges_insert(&t->dev->returning, &new->range);
    pthread_mutex_unlock(&lock);
    t->returning = new;
    ompgpu_reads_widen(begin, begin + size);
    return 0;
}

void ompgpu_returning_end(struct ompgpu_task *t)
{
    if (!t->returning)
        return;
    ompgpu_reads_returned(t);
    pthread_mutex_lock(&lock);
    for (struct ompgpu_returning *r = t->returning; r; r = r->next)
        if (r->listed)
            unlist(t->dev, r);
    pthread_mutex_unlock(&lock);
    t->returning = NULL;
}

void ompgpu_returning_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE)
        pthread_mutex_lock(&lock);
    for (int i = 0; when == OMPGPU_FORK_CHILD && i < ompgpu_ndevices; i++)
        ompgpu_devices[i].returning = (struct ompgpu_ranges){ 0 };
    if (when != OMPGPU_FORK_BEFORE)
        pthread_mutex_unlock(&lock);
}
