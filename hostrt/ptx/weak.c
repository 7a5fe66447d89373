/* weak.c - the buffers of stores that others do not see yet. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/isa.h"
#include "hostrt/ptx/weak.h"

enum { MOST_STORES = 24, TURNS = 4 }; /* of a thread; in how many turns, on average, one goes */
struct store {
    unsigned char *data, *shadow;
    uint64_t value;
    unsigned char size, undefined;
};
struct store_buffer {
    unsigned n;
    struct store stores[MOST_STORES]; /* in the order of the program */
};
bool ptx_weak;

static struct store_buffer *buffer_of(const struct warp *w, unsigned lane)
{
    return w->team->stores ? w->team->stores[w->number * WARP + lane] : NULL;
}

static struct store_buffer *make_buffer(const struct warp *w, unsigned lane)
{
    struct team *t = w->team;
    if (!t->stores)
        t->stores = calloc(t->nwarps * WARP, sizeof *t->stores);
    struct store_buffer **b = t->stores ? &t->stores[w->number * WARP + lane] : NULL;
    if (b && !*b)
        *b = calloc(1, sizeof **b);
    if (!b || !*b)
        abort();
    return *b;
}

/* ------------------------------------------------------------------ from the buffer to memory */
static void write_store(const struct store *s, unsigned char *data, unsigned char *shadow)
{
    ptx_write_element(data, s->value, s->size);
    if (shadow)
        ptx_define_element(shadow, s->size, s->undefined);
}

static void drain_one(struct store_buffer *b, unsigned k)
{
    write_store(&b->stores[k], b->stores[k].data, b->stores[k].shadow);
    memmove(&b->stores[k], &b->stores[k + 1], (--b->n - k) * sizeof *b->stores);
}

static bool overlaps(const struct store *s, const unsigned char *data, unsigned size)
{
    return s->data < data + size && data < s->data + s->size;
}

/* Any of them, but not before an older one to the same bytes. */
static void drain_any(struct store_buffer *b, uint64_t *random)
{
    unsigned any = (unsigned)(ptx_random(random) % b->n);
    for (unsigned k = 0; k < any;)
        if (overlaps(&b->stores[k], b->stores[any].data, b->stores[any].size))
            any = k, k = 0; /* which may have an older one itself */
        else
            k++;
    drain_one(b, any);
}

void ptx_weak_drain(struct warp *w, lanes m)
{
    EACH_LANE(l, m) {
        struct store_buffer *b = buffer_of(w, l);
        while (b && b->n)
            drain_one(b, 0);
    }
}

void ptx_weak_drain_at(struct group *g, unsigned lane, const unsigned char *data, unsigned size)
{
    struct store_buffer *b = buffer_of(g->warp, lane);
    unsigned until = 0;
    for (unsigned k = 0; b && k < b->n; k++)
        if (overlaps(&b->stores[k], data, size))
            until = k + 1;
    while (until-- > 0)
        drain_one(b, 0);
}

void ptx_weak_turn(struct warp *w)
{
    uint64_t *random = &w->team->worker->random;
    EACH_LANE(l, w->team->stores ? ALL_LANES : 0) {
        struct store_buffer *b = buffer_of(w, l);
        if (b && b->n && ptx_random(random) % TURNS == 0)
            drain_any(b, random);
    }
}

/* ------------------------------------------------------------------ stores and loads */
void ptx_weak_store(struct group *g, unsigned lane, struct bytes b, unsigned size, uint64_t value,
                    unsigned char undefined)
{
    struct store s = { .data = b.data,
                       .shadow = b.shadow,
                       .value = value,
                       .size = (unsigned char)size,
                       .undefined = undefined };
    const struct team *t = g->warp->team;
    bool shared = (size_t)(b.data - t->shared) < t->shared_size;
    if (!shared && !ptx_is_global((uintptr_t)b.data)) { /* the thread's own */
        write_store(&s, b.data, b.shadow);
        return;
    }
    struct store_buffer *buffer = make_buffer(g->warp, lane);
    if (buffer->n == MOST_STORES)
        drain_any(buffer, &g->warp->team->worker->random);
    buffer->stores[buffer->n++] = s;
}

/* The bytes of a store that the view has. */
static void show_store(const struct store *s, const unsigned char *at, unsigned size,
                       struct weak_view *own)
{
    _Alignas(8) unsigned char value[8];
    unsigned char shadow[8];
    write_store(s, value, shadow);
    for (unsigned k = 0; k < s->size; k++) {
        size_t to = (size_t)(s->data + k - at);
        if (to >= size)
            continue;
        own->data[to] = value[k];
        own->shadow[to] = shadow[k];
    }
}

struct bytes ptx_weak_look(const struct group *g, unsigned lane, struct bytes b, unsigned size,
                           struct weak_view *own)
{
    const struct store_buffer *buffer = buffer_of(g->warp, lane);
    bool any = false;
    for (unsigned k = 0; buffer && k < buffer->n; k++) {
        if (!overlaps(&buffer->stores[k], b.data, size))
            continue;
        if (!any) {
            memcpy(own->data, b.data, size);
            if (b.shadow)
                memcpy(own->shadow, b.shadow, size);
            else
                memset(own->shadow, SHADOW_DEFINED, size);
        }
        any = true;
        show_store(&buffer->stores[k], b.data, size, own);
    }
    return any ? (struct bytes){ own->data, own->shadow } : b;
}

void ptx_weak_team_end(struct team *t)
{
    for (unsigned w = 0; w < t->nwarps; w++)
        ptx_weak_drain(&t->warps[w], ALL_LANES);
    for (unsigned k = 0; t->stores && k < t->nwarps * WARP; k++)
        free(t->stores[k]);
    free(t->stores);
}
