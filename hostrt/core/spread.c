/* spread.c - `ompx target spread` and its relatives: iterations divided into chunks, one device
 * each.
 *
 * Generated code begins, divides, and goes through the chunks, whose directives are ordinary ones
 * with `device`.  While a chunk has its turn in a host thread it is that thread's ompgpu_chunk_: so
 * what its directives do is known to belong to it, and a deferred one keeps it.
 *
 * What two chunks would both bring back to the host is an error: which of them came last would
 * decide.  So a spread remembers what has come back, and from which of its chunks. */
#include <stdio.h>
#include <string.h>
#include "hostrt/core/core.h"

struct came_back {
    struct ompgpu_range range;
    struct came_back *next;
    const char *name; /* the list item */
    struct ompgpu_chunk chunk;
};
struct ompgpu_spread {
    struct ompgpu_where where;
    int *devices;
    unsigned ndevices;
    unsigned references; /* atomic: of chunks, and of the construct itself */
    struct ompgpu_chunk *outer;
    unsigned long number; /* of the next chunk */
    long start, step;
    unsigned long trip, chunk;
    pthread_mutex_t lock;        /* guards what follows */
    struct ompgpu_ranges ranges; /* of came_back */
    struct came_back *first;
};

_Thread_local struct ompgpu_chunk *ompgpu_chunk_ __attribute__((tls_model("initial-exec")));

/* ------------------------------------------------------------------ who keeps what */
static void drop_spread(struct ompgpu_spread *s)
{
    if (__atomic_sub_fetch(&s->references, 1, __ATOMIC_ACQ_REL))
        return;
    for (struct came_back *c; (c = s->first);) {
        s->first = c->next;
        ompgpu_xfree(c);
    }
    pthread_mutex_destroy(&s->lock);
    ompgpu_xfree(s->devices);
    ompgpu_xfree(s);
}

const struct ompgpu_chunk *ompgpu_chunk_keep(const struct ompgpu_chunk *c)
{
    if (c)
        __atomic_add_fetch(&((struct ompgpu_chunk *)c)->references, 1, __ATOMIC_RELAXED);
    return c;
}

void ompgpu_chunk_drop(const struct ompgpu_chunk *c)
{
    struct ompgpu_chunk *mine = (struct ompgpu_chunk *)c;
    if (!c || __atomic_sub_fetch(&mine->references, 1, __ATOMIC_ACQ_REL))
        return;
    drop_spread(mine->spread);
    ompgpu_xfree(mine);
}

struct ompgpu_chunk_text ompgpu_describe_chunk(const struct ompgpu_chunk *c)
{
    struct ompgpu_chunk_text t;
    snprintf(t.text, sizeof t.text,
             "chunk %lu (omp_spread_start %ld, omp_spread_size %ld, device %d)", c->number,
             c->start, c->size, c->device);
    return t;
}

/* ------------------------------------------------------------------ devices */
static void *get_memory(const struct ompgpu_where *where, size_t size)
{
    void *p = ompgpu_xalloc(size);
    if (!p)
        ompgpu_fatal(where, "%s", ompgpu_plugin_message());
    return p;
}

/* Where there is no device at all, regions run on the host, whatever their number. */
static void check_device(const struct ompgpu_where *where, const int *devices, unsigned i)
{
    int d = devices[i];
    if (!ompgpu_ndevices || d == OMPGPU_DEVICE_INITIAL || (d >= 0 && d < ompgpu_ndevices))
        return;
    char range[64] = "device 0 only";
    if (ompgpu_ndevices > 1)
        snprintf(range, sizeof range, "devices 0 to %d", ompgpu_ndevices - 1);
    ompgpu_fatal(where,
                 "item %u of 'devices' is %d, but there is no such device: there is %s "
                 "(omp_initial_device is the host)",
                 i + 1, d, range);
}

void *__ompgpu_spread_begin(const char *file, unsigned line, const char *directive,
                            const int *devices, unsigned n)
{
    const struct ompgpu_where where = { .file = file, .line = line, .directive = directive };
    ompgpu_start();
    for (unsigned i = 0; i < n; i++)
        check_device(&where, devices, i);
    struct ompgpu_spread *s = get_memory(&where, sizeof *s);
    s->where = where, s->references = 1, s->outer = ompgpu_chunk_;
    s->ndevices = n ? n : ompgpu_ndevices ? (unsigned)ompgpu_ndevices : 1;
    s->devices = get_memory(&where, s->ndevices * sizeof *s->devices);
    pthread_mutex_init(&s->lock, NULL);
    for (unsigned i = 0; i < s->ndevices; i++)
        s->devices[i] = n ? devices[i] : (int)i;
    return s;
}

/* ------------------------------------------------------------------ chunks */
unsigned long __ompgpu_spread_divide(void *spread, long start, long step, unsigned long trip,
                                     unsigned long chunk)
{
    struct ompgpu_spread *s = spread;
    unsigned long part = trip / s->ndevices + (trip % s->ndevices != 0);
    s->start = start, s->step = step, s->trip = trip;
    s->chunk = chunk ? chunk : part ? part : 1;
    return trip / s->chunk + (trip % s->chunk != 0);
}

static void end_turn(struct ompgpu_spread *s)
{
    struct ompgpu_chunk *c = ompgpu_chunk_;
    ompgpu_chunk_ = s->outer;
    if (c != s->outer)
        ompgpu_chunk_drop(c);
}

int __ompgpu_spread_chunk(void *spread, long at[3])
{
    struct ompgpu_spread *s = spread;
    unsigned long k = s->number, first = k * s->chunk, left = s->trip - first;
    end_turn(s);
    if (first >= s->trip)
        return 0;
    struct ompgpu_chunk *c = get_memory(&s->where, sizeof *c);
    *c = (struct ompgpu_chunk){ .spread = s,
                                .references = 1,
                                .line = s->where.line,
                                .directive = s->where.directive,
                                .number = k,
                                .start = s->start + (long)first * s->step,
                                .size = (long)(left < s->chunk ? left : s->chunk),
                                .device = s->devices[k % s->ndevices] };
    __atomic_add_fetch(&s->references, 1, __ATOMIC_RELAXED);
    at[0] = c->start, at[1] = c->size, at[2] = c->device;
    s->number++;
    ompgpu_chunk_ = c;
    return 1;
}

void __ompgpu_spread_end(void *spread) { drop_spread(spread); }

/* ------------------------------------------------------------------ what has come back */
static int note_range(struct ompgpu_spread *s, const struct ompgpu_chunk *by,
                      const struct ompgpu_map *m, uintptr_t begin, uintptr_t end)
{
    struct came_back *c = ompgpu_xalloc(sizeof *c);
    if (!c)
        return -1;
    c->chunk = *by;
    c->name = m->name, c->range.begin = begin, c->range.end = end;
    c->next = s->first, s->first = c;
    ompgpu_ranges_insert(&s->ranges, &c->range);
    return 0;
}

static int say_overlap(const struct came_back *c, const struct ompgpu_map *m, uintptr_t begin,
                       uintptr_t end)
{
    uintptr_t from = begin > c->range.begin ? begin : c->range.begin,
              to = end < c->range.end ? end : c->range.end;
    ompgpu_plugin_error("%zu bytes of it, %zu bytes from its begin, come back from %s, too, as %s; "
                        "a byte may come back from one chunk only",
                        (size_t)(to - from), (size_t)(from - (uintptr_t)m->begin),
                        ompgpu_describe_chunk(&c->chunk).text, c->name ? c->name : "?");
    return -1;
}

static int note_part(struct ompgpu_spread *s, const struct ompgpu_chunk *by,
                     const struct ompgpu_map *m, uintptr_t begin, uintptr_t end, bool *wrong)
{
    while (begin < end) {
        struct came_back *c =
            (struct came_back *)ompgpu_ranges_find(&s->ranges, begin, end - begin);
        if (c && c->chunk.number != by->number) {
            *wrong = true;
            return say_overlap(c, m, begin, end);
        }
        uintptr_t gap = c ? c->range.begin : end;
        if (begin < gap && note_range(s, by, m, begin, gap))
            return -1;
        begin = c ? c->range.end : end;
    }
    return 0;
}

int ompgpu_chunk_from(const struct ompgpu_chunk *by, const struct ompgpu_map *m, uintptr_t begin,
                      size_t size, bool *wrong)
{
    struct ompgpu_spread *s = by->spread;
    pthread_mutex_lock(&s->lock);
    int bad = note_part(s, by, m, begin, begin + size, wrong);
    pthread_mutex_unlock(&s->lock);
    return bad;
}
