/* exchange.c - `ompx target update spread` with both `from` and `to`: the exchange of halos.
 *
 * The chunks' updates are collected and made together.  What is in `to` of one chunk and in `from`
 * of another goes from device to device, and the host has no part in it.  What else is in `from`
 * goes to the host, and then what else is in `to` comes from there, as with one construct for each.
 * So it does, too, where pointers are attached in it or a part is not mapped: then the usual update
 * says what is wrong. */
#include <string.h>
#include "hostrt/core/spread.h"

struct exchanged { /* a chunk's update */
    struct exchanged *next;
    struct ompgpu_chunk chunk;
    const struct ompgpu_place *place;
    struct ompgpu_where where;
    long device;
    bool copied; /* to its device, from another one */
    unsigned n;
    struct ompgpu_map maps[];
};
struct piece { /* of a map: done between devices, or to come from the host */
    struct ompgpu_range range;
    struct piece *next;
    struct exchanged *by;
    struct ompgpu_map map;
};
struct exchange {
    struct ompgpu_spread *spread;
    struct ompgpu_ranges done;
    struct piece *pieces, *from_host;
};

/* ------------------------------------------------------------------ collecting */
bool ompgpu_chunk_update(const struct ompgpu_chunk *c, const struct ompgpu_place *place,
                         long device, const struct ompgpu_map *maps, unsigned n)
{
    struct ompgpu_spread *s = c->spread;
    if (!s->exchanges)
        return false;
    struct exchanged *e = ompgpu_xalloc(sizeof *e + n * sizeof *maps);
    if (!e)
        ompgpu_fatal(&s->where, "%s", ompgpu_plugin_message());
    e->chunk = *c, e->place = place, e->device = device, e->n = n;
    e->where = s->where;
    e->where.chunk = &e->chunk;
    memcpy(e->maps, maps, n * sizeof *maps);
    e->next = s->exchange, s->exchange = e;
    return true;
}

void ompgpu_exchange_free(struct ompgpu_spread *s)
{
    for (struct exchanged *e; (e = s->exchange);) {
        s->exchange = e->next;
        ompgpu_xfree(e);
    }
}

/* The first chunk comes first. */
static void order_chunks(struct ompgpu_spread *s)
{
    struct exchanged *first = NULL, *next;
    for (struct exchanged *e = s->exchange; e; e = next) {
        next = e->next;
        e->next = first, first = e;
    }
    s->exchange = first;
}

/* Calls a function for each list item of a chunk with that bit. */
static void each_item(struct exchange *x, unsigned flag,
                      void (*f)(struct exchange *, struct exchanged *, const struct ompgpu_map *))
{
    for (struct exchanged *e = x->spread->exchange; e; e = e->next)
        for (unsigned i = 0; i < e->n; i++)
            if ((e->maps[i].flags & flag) && e->maps[i].size)
                f(x, e, &e->maps[i]);
}

static __attribute__((noreturn)) void fail(const struct exchanged *e, const struct ompgpu_map *m)
{
    ompgpu_fatal(&e->where, "%s, %zu bytes: %s", m->name ? m->name : "?", m->size,
                 ompgpu_plugin_message());
}

/* ------------------------------------------------------------------ between devices */
static void note_giver(struct exchange *x, struct exchanged *e, const struct ompgpu_map *m)
{
    bool wrong;
    (void)x;
    if (ompgpu_chunk_from(&e->chunk, m, (uintptr_t)m->begin, m->size, &wrong))
        fail(e, m);
}

static struct piece *new_piece(struct exchanged *e, const struct ompgpu_map *m, uintptr_t begin,
                               uintptr_t end)
{
    struct piece *p = ompgpu_xalloc(sizeof *p);
    if (!p)
        fail(e, m);
    p->by = e, p->map = *m;
    p->range.begin = begin, p->range.end = end;
    p->map.begin = (const void *)begin, p->map.size = end - begin;
    return p;
}

/* Adds what is missing of it to what is done. */
static void note_done(struct exchange *x, struct exchanged *e, const struct ompgpu_map *m,
                      uintptr_t begin, uintptr_t end)
{
    while (begin < end) {
        const struct ompgpu_range *r = ompgpu_ranges_find(&x->done, begin, end - begin);
        uintptr_t gap = r ? r->begin : end;
        if (begin < gap) {
            struct piece *p = new_piece(e, m, begin, gap);
            ompgpu_ranges_insert(&x->done, &p->range);
            p->next = x->pieces, x->pieces = p;
        }
        begin = r ? r->end : end;
    }
}

static uintptr_t address_on(struct ompgpu_device *dev, uintptr_t host, size_t size)
{
    return dev ? ompgpu_data_section(dev, host, size) : host;
}

/* false: it has to go by way of the host. */
static bool copy_piece(struct exchanged *e, const struct ompgpu_map *m, int giver, uintptr_t begin,
                       size_t size)
{
    struct ompgpu_device *to = ompgpu_device_get(&e->where, e->device),
                         *from = ompgpu_device_get(&e->where, giver);
    uintptr_t dst = address_on(to, begin, size), src = address_on(from, begin, size);
    const struct ompgpu_transfer t = { OMPGPU_BETWEEN_DEVICES, false, m->name, size,
                                       ompgpu_watch_clock() };
    if (!dst || !src)
        return false;
    if (dst == src)
        return true;
    if (ompgpu_copy_between(to, (void *)dst, from, (const void *)src, size) ||
        (ompgpu_watched() && to != from && ompgpu_watch_transfer(&e->where, to ? to : from, &t)))
        fail(e, m);
    e->copied = true;
    return true;
}

static void take_item(struct exchange *x, struct exchanged *e, const struct ompgpu_map *m)
{
    uintptr_t begin = (uintptr_t)m->begin, all = begin + m->size, end;
    for (; begin < all; begin = end) {
        const struct came_back *c =
            (const struct came_back *)ompgpu_ranges_find(&x->spread->ranges, begin, all - begin);
        bool given = c && c->range.begin <= begin;
        end = !c ? all : !given ? c->range.begin : c->range.end < all ? c->range.end : all;
        if (given && c->chunk.number == e->chunk.number)
            continue; /* it has that itself */
        if (given && copy_piece(e, m, c->chunk.device, begin, end - begin)) {
            note_done(x, e, m, begin, end);
            continue;
        }
        struct piece *p = new_piece(e, m, begin, end);
        p->next = x->from_host, x->from_host = p;
    }
}

static void wait_for_copies(struct exchange *x)
{
    for (struct exchanged *e = x->spread->exchange; e; e = e->next) {
        struct ompgpu_device *dev = e->copied ? ompgpu_device_get(&e->where, e->device) : NULL;
        if (dev && dev->plugin->sync(dev->ordinal))
            ompgpu_fatal(&e->where, "%s", ompgpu_plugin_message());
    }
}

/* ------------------------------------------------------------------ with the host */
static void update(struct exchanged *e, struct ompgpu_map m, unsigned flag)
{
    m.flags = (m.flags & ~(unsigned)OMPGPU_MAP_TOFROM) | flag;
    ompgpu_chunk_ = &e->chunk;
    __ompgpu_data_update(e->place, e->device, &m, 1);
}

static void give_to_host(struct exchange *x, struct exchanged *e, const struct ompgpu_map *m)
{
    uintptr_t begin = (uintptr_t)m->begin, end = begin + m->size;
    while (begin < end) {
        const struct ompgpu_range *r = ompgpu_ranges_find(&x->done, begin, end - begin);
        struct ompgpu_map rest = *m;
        rest.begin = (const void *)begin, rest.size = (r ? r->begin : end) - begin;
        if (!r || begin < r->begin)
            update(e, rest, OMPGPU_MAP_FROM);
        begin = r ? r->end : end;
    }
}

static void free_pieces(struct piece *first)
{
    for (struct piece *p; (p = first);) {
        first = p->next;
        ompgpu_xfree(p);
    }
}

void ompgpu_exchange_run(struct ompgpu_spread *s)
{
    struct exchange x = { .spread = s };
    order_chunks(s);
    each_item(&x, OMPGPU_MAP_FROM, note_giver);
    each_item(&x, OMPGPU_MAP_TO, take_item);
    wait_for_copies(&x);
    s->exchanges = false;
    each_item(&x, OMPGPU_MAP_FROM, give_to_host);
    for (const struct piece *p = x.from_host; p; p = p->next)
        update(p->by, p->map, OMPGPU_MAP_TO);
    ompgpu_chunk_ = s->outer;
    free_pieces(x.pieces);
    free_pieces(x.from_host);
}
