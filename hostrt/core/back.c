/* back.c - copies to the host: all that a construct makes arrive, or none.
 *
 * A failure may come after some of them.  So they go to a block of memory beside the program's
 * (the stage), and from there to their places when all are known to be good.  That is saved where
 * the program ends after a failure anyway (OMPGPU_ON_FAILURE=stop) and there is one copy, or much
 * to copy: see libompgpu(7).
 *
 * A region of the only host thread knows after its launch what small mappings of its own it will
 * copy back: those copies are put after the kernel (prefetched), so one wait serves for both.
 *
 * The stage also keeps device addresses away from the host's pointers: what is attached stays as
 * the host has it. */
#include <string.h>
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

enum { MOST_ALWAYS = 64 << 10, MOST_KEPT = 1 << 20, MOST_EXPECTED = 4 << 10 }; /* bytes */

/* The end of the bytes from `begin` on in which no pointer is or was attached, and where they go
 * on. */
static uintptr_t next_gap(const struct ompgpu_entry *e, uintptr_t begin, uintptr_t end,
                          uintptr_t *next)
{
    const struct ompgpu_attachment *a = ompgpu_attachment_in(e, begin, end);
    *next = a ? a->host + sizeof(void *) : end;
    return !a ? end : a->host > begin ? a->host : begin;
}

static bool has_attachment(const struct ompgpu_back_copy *c)
{
    return ompgpu_attachment_in(c->entry, c->begin, c->begin + c->size);
}

/* ------------------------------------------------------------------ the list of copies */
static size_t take_stage(struct ompgpu_back *b, size_t size)
{
    size_t at = b->bytes;
    b->bytes += (size + 15) & ~(size_t)15;
    return at;
}

/* What shares a block lies there as on the device. */
static size_t place_in_stage(struct ompgpu_back *b, const struct ompgpu_entry *e, uintptr_t begin,
                             size_t size)
{
    size_t all;
    if (!e->pack || (b->pack && b->pack != e->pack))
        return take_stage(b, size);
    uintptr_t memory = (uintptr_t)ompgpu_pack_bytes(e->pack, &all);
    if (!b->pack)
        b->pack = e->pack, b->pack_at = take_stage(b, all);
    b->npacked++;
    return b->pack_at + (e->device - memory) + (begin - e->begin);
}

int ompgpu_back_add(struct ompgpu_back *b, struct ompgpu_entry *e, const struct ompgpu_map *m,
                    uintptr_t begin, size_t size)
{
    if (!b->copies)
        b->copies = b->few, b->room = OMPGPU_FEW_BACK;
    if (b->n == b->room) {
        struct ompgpu_back_copy *more = ompgpu_xalloc(2 * b->room * sizeof *more);
        if (!more)
            return -1;
        memcpy(more, b->copies, b->n * sizeof *more);
        if (b->copies != b->few)
            ompgpu_xfree(b->copies);
        b->copies = more, b->room *= 2;
    }
    struct ompgpu_back_copy *c = &b->copies[b->n++];
    *c = (struct ompgpu_back_copy){ e, m, begin, size, place_in_stage(b, e, begin, size) };
    b->attached |= has_attachment(c);
    return 0;
}

void ompgpu_back_free(struct ompgpu_back *b)
{
    if (b->copies != b->few)
        ompgpu_xfree(b->copies);
}

/* ------------------------------------------------------------------ the stage */
static bool needs_stage(const struct ompgpu_back *b)
{
    return b->attached || ompgpu_may_recover() || (b->n > 1 && b->bytes <= MOST_ALWAYS);
}

/* A host thread keeps its own. */
static char *get_stage(struct ompgpu_thread *t, size_t size)
{
    if (size <= t->stage_bytes)
        return t->stage;
    char *more = ompgpu_xalloc(size < MOST_ALWAYS ? MOST_ALWAYS : size);
    if (!more)
        return NULL;
    ompgpu_xfree(t->stage);
    t->stage = more;
    t->stage_bytes = size < MOST_ALWAYS ? MOST_ALWAYS : size;
    return more;
}

static void put_stage(struct ompgpu_thread *t)
{
    if (t->stage_bytes <= MOST_KEPT)
        return;
    ompgpu_xfree(t->stage);
    t->stage = NULL, t->stage_bytes = 0;
}

/* ------------------------------------------------------------------ what is expected */
void ompgpu_back_expect(struct ompgpu_thread *t, const struct ompgpu_entry *e)
{
    uintptr_t device = e->device;
    size_t size = e->end - e->begin;
    if (e->pack)
        device = (uintptr_t)ompgpu_pack_bytes(e->pack, &size);
    unsigned i = 0;
    while (i < t->nexpected && t->expected[i].device != device)
        i++;
    if (i == OMPGPU_FEW_EXPECTED || size > MOST_EXPECTED)
        return;
    t->expected[i] = (struct ompgpu_expected){ .device = device, .size = size };
    t->nexpected += i == t->nexpected;
}

/* Others must not use it in between, and a tool or a check sees each copy. */
static bool may_prefetch(void)
{
    return !ompgpu_many_threads() && !ompgpu_any_deferred() && !ompgpu_watched() &&
           !ompgpu_has_tool;
}

void ompgpu_back_prefetch(struct ompgpu_thread *t, const struct ompgpu_device *dev)
{
    if (!dev->plugin->prefetch || !may_prefetch())
        return;
    for (unsigned i = 0; i < t->nexpected; i++) {
        struct ompgpu_expected *x = &t->expected[i];
        dev->plugin->prefetch(dev->ordinal, (const void *)x->device, x->size,
                              (const void **)&x->host);
    }
}

/* By this host thread; NULL: it was not, or a second thread has come and may have changed it. */
static const char *find_prefetched(uintptr_t device, size_t size)
{
    const struct ompgpu_thread *t = ompgpu_self_;
    for (unsigned i = 0; t && i < t->nexpected && !ompgpu_many_threads(); i++) {
        const struct ompgpu_expected *x = &t->expected[i];
        if (x->host && device >= x->device && size <= x->size &&
            device - x->device <= x->size - size)
            return x->host + (device - x->device);
    }
    return NULL;
}

/* ------------------------------------------------------------------ copying */
static int fetch(struct ompgpu_back *b, struct ompgpu_device *dev, struct ompgpu_task *t, void *dst,
                 const void *src, size_t size)
{
    const char *early = t ? NULL : find_prefetched((uintptr_t)src, size);
    if (t)
        return dev->plugin->queue_from_device(dev->ordinal, t->queue->handle, dst, src, size);
    if (early) {
        memcpy(dst, early, size);
        return 0;
    }
    b->waits = true;
    return dev->plugin->from_device(dev->ordinal, dst, src, size);
}

static int fetch_one(struct ompgpu_back *b, struct ompgpu_device *dev, struct ompgpu_task *t,
                     void *dst, const struct ompgpu_back_copy *c)
{
    return fetch(b, dev, t, dst, (const void *)(c->entry->device + (c->begin - c->entry->begin)),
                 c->size);
}

/* All of a block, for several copies. */
static int fetch_pack(struct ompgpu_back *b, struct ompgpu_device *dev, struct ompgpu_task *t,
                      char *stage)
{
    size_t size;
    const void *src = ompgpu_pack_bytes(b->pack, &size);
    return fetch(b, dev, t, stage + b->pack_at, src, size);
}

static int fetch_all(struct ompgpu_back *b, struct ompgpu_device *dev, struct ompgpu_task *t,
                     char *stage, struct ompgpu_where *where)
{
    bool gather = stage && b->npacked > 1, gathered = false;
    int bad = 0;
    if (ompgpu_watched() && !t)
        ompgpu_stale_fetch(dev, where, b);
    ompgpu_copying = where;
    for (unsigned i = 0; i < b->n && !bad; i++) {
        const struct ompgpu_back_copy *c = &b->copies[i];
        double start = t ? 0 : ompgpu_watch_clock();
        bool packed = gather && c->entry->pack == b->pack;
        b->failed = c->map;
        bad = !packed     ? fetch_one(b, dev, t, stage ? stage + c->at : (char *)c->begin, c)
              : !gathered ? fetch_pack(b, dev, t, stage)
                          : 0;
        gathered |= packed;
        bad = bad || ompgpu_watch_copy(where, dev, false, c->map, c->size, start) ? -1 : 0;
    }
    ompgpu_copying = NULL;
    if (!bad)
        b->failed = NULL;
    return bad;
}

int ompgpu_back_pieces(const struct ompgpu_back_copy *c, const char *stage,
                       int (*move)(void *, char *, const char *, size_t), void *argument)
{
    for (uintptr_t at = c->begin, end = c->begin + c->size, next; at < end; at = next) {
        uintptr_t gap = next_gap(c->entry, at, end, &next);
        if (gap > at &&
            move(argument, (char *)at, stage + c->at + (at - c->begin), (size_t)(gap - at)))
            return -1;
    }
    return 0;
}

static int move_now(void *unused, char *dst, const char *src, size_t size)
{
    (void)unused;
    memcpy(dst, src, size);
    return 0;
}

int ompgpu_back_detached(const struct ompgpu_back_copy *c, const char *stage,
                         int (*move)(void *, char *, const char *), void *argument)
{
    const struct ompgpu_attachment *a;
    for (unsigned i = ompgpu_first_attachment(c->entry, c->begin);
         (a = ompgpu_attachment_before(c->entry, i, c->begin + c->size)); i++)
        if (!ompgpu_is_attached(a) && a->host >= c->begin &&
            c->begin + c->size - a->host >= sizeof(void *) &&
            move(argument, (char *)a->host, stage + c->at + (a->host - c->begin)))
            return -1;
    return 0;
}

static int move_pointer_now(void *device, char *dst, const char *src)
{
    uintptr_t value;
    memcpy(&value, src, sizeof value);
    if (!ompgpu_may_be_pointee(device, value))
        memcpy(dst, &value, sizeof value);
    return 0;
}

int ompgpu_back_run(struct ompgpu_back *b, struct ompgpu_device *dev, struct ompgpu_thread *t,
                    struct ompgpu_where *where)
{
    char *stage = NULL;
    bool staged = b->n && needs_stage(b);
    int bad = staged && !(stage = get_stage(t, b->bytes)) ? -1 : 0;
    bad = bad || fetch_all(b, dev, NULL, stage, where);
    if ((b->waits || bad) && dev->plugin->sync(dev->ordinal)) /* also what came before a failure */
        bad = -1;
    for (unsigned i = 0; i < b->n && stage && !bad; i++) {
        ompgpu_back_pieces(&b->copies[i], stage, move_now, NULL);
        ompgpu_back_detached(&b->copies[i], stage, move_pointer_now, dev);
    }
    if (staged)
        put_stage(t);
    return bad;
}

/* ------------------------------------------------------------------ in a queue */
/* The table may be another one when the queue comes to the moves, so they are listed before. */
struct moves {
    struct ompgpu_task *task;
    struct one_move {
        struct one_move *next;
        char *dst;
        const char *src;
        size_t size;
        struct ompgpu_device *pointer; /* it is a pointer of that device's; NULL: it is not */
    } *first;
};

static int keep_move(struct moves *all, const struct one_move *move)
{
    const struct one_move *kept = ompgpu_task_keep(all->task, move, sizeof *move);
    if (kept)
        all->first = (struct one_move *)kept;
    return !kept;
}

static int move_later(void *argument, char *dst, const char *src, size_t size)
{
    struct moves *all = argument;
    return keep_move(all, &(struct one_move){ all->first, dst, src, size, NULL });
}

static int move_pointer_later(void *argument, char *dst, const char *src)
{
    struct moves *all = argument;
    return keep_move(all, &(struct one_move){ all->first, dst, src, 0, all->task->dev });
}

static void make_moves(void *first)
{
    for (const struct one_move *m = first; m; m = m->next)
        if (m->pointer)
            move_pointer_now(m->pointer, m->dst, m->src);
        else
            memcpy(m->dst, m->src, m->size);
}

static int enqueue_moves(struct ompgpu_back *b, struct ompgpu_task *t, const char *stage)
{
    struct moves all = { t, NULL };
    for (unsigned i = 0; i < b->n; i++)
        if (ompgpu_back_pieces(&b->copies[i], stage, move_later, &all) ||
            ompgpu_back_detached(&b->copies[i], stage, move_pointer_later, &all))
            return -1;
    return t->dev->plugin->queue_call(t->dev->ordinal, t->queue->handle, make_moves, all.first);
}

int ompgpu_back_enqueue(struct ompgpu_back *b, struct ompgpu_task *t)
{
    char *stage = NULL;
    bool staged = b->n && needs_stage(b);
    int bad = staged && !(stage = ompgpu_task_room(t, b->bytes)) ? -1 : 0;
    for (unsigned i = 0; i < b->n && !bad; i++)
        bad = ompgpu_returning_add(t, b->copies[i].begin, b->copies[i].size);
    return bad || fetch_all(b, t->dev, t, stage, &t->where) ||
           (staged && enqueue_moves(b, t, stage));
}
