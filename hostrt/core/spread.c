/* spread.c - `ompx target spread` and its relatives: iterations divided into chunks, one device
 * each.
 *
 * Generated code begins, divides, and goes through the chunks, whose directives are ordinary ones
 * with `device`.  While a chunk has its turn in a host thread it is that thread's ompgpu_chunk_: so
 * what its directives do is known to belong to it, and a deferred one keeps it.
 *
 * A weighted division asks how fast devices are (weights).  What two chunks would both bring back
 * to the host is an error: which of them came last would decide.  So a spread remembers what has
 * come back, and from which of its chunks. */
#include <stdio.h>
#include <string.h>
#include "hostrt/core/spread.h"

#pragma GCC visibility push(default)
void *omp_target_alloc(size_t, int);
void omp_target_free(void *, int);
#pragma GCC visibility pop

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
    ompgpu_exchange_free(s);
    ompgpu_xfree(s->devices);
    ompgpu_xfree(s->ends);
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
                            const int *devices, unsigned n, unsigned flags)
{
    const struct ompgpu_where where = { .file = file, .line = line, .directive = directive };
    ompgpu_start();
    for (unsigned i = 0; i < n; i++)
        check_device(&where, devices, i);
    struct ompgpu_spread *s = get_memory(&where, sizeof *s);
    s->where = where, s->references = 1, s->outer = ompgpu_chunk_;
    s->ndevices = n ? n : ompgpu_ndevices ? (unsigned)ompgpu_ndevices : 1;
    s->devices = get_memory(&where, s->ndevices * sizeof *s->devices);
    s->ends = get_memory(&where, s->ndevices * sizeof *s->ends);
    s->weighted = flags & OMPGPU_SPREAD_WEIGHTED;
    s->exchanges = flags & OMPGPU_SPREAD_EXCHANGE;
    pthread_mutex_init(&s->lock, NULL);
    for (unsigned i = 0; i < s->ndevices; i++)
        s->devices[i] = n ? devices[i] : (int)i;
    return s;
}

/* ------------------------------------------------------------------ weights */
/* How fast a device is, is measured once in a process, with a loop of generated code's that stores
 * one element for 32 operations.  All spread constructs divide by what was measured first, so that
 * loops and data agree. */
enum { PASSES = 9, LEAST_WORK = 1 << 12, MOST_WORK = 1 << 22, SPEEDS = OMPGPU_MOST_DEVICES + 1 };
static const double long_enough = 1; /* ms */
static pthread_mutex_t speed_lock = PTHREAD_MUTEX_INITIALIZER;
static double speeds[SPEEDS]; /* iterations a ms, by the device's number, the host's first; 0: not
                                 known.  Guarded by speed_lock */

static double *find_speed(int device) { return &speeds[(unsigned)(device + 1) % SPEEDS]; }

static double get_speed(int device)
{
    pthread_mutex_lock(&speed_lock);
    double speed = *find_speed(device);
    pthread_mutex_unlock(&speed_lock);
    return speed;
}

static void set_speed(int device, double speed)
{
    pthread_mutex_lock(&speed_lock);
    if (*find_speed(device) == 0) /* another thread may have been quicker */
        *find_speed(device) = speed;
    pthread_mutex_unlock(&speed_lock);
}

/* After a pass.  What takes too short a time is tried with more work. */
static void end_pass(struct ompgpu_spread *s)
{
    struct weighing *w = &s->weighing;
    double ms = ompgpu_clock() - w->start;
    int device = s->devices[w->device];
    if (w->pass++ == 0 || (ms < long_enough && w->n < MOST_WORK)) {
        w->n *= w->pass == 1 ? 1 : 4; /* the first pass also opened the device */
        w->best = 0;
        w->pass = 1;
        return;
    }
    w->best = w->best > 0 && w->best < ms ? w->best : ms;
    if (w->pass <= PASSES)
        return;
    set_speed(device, (double)w->n / (w->best > 0 ? w->best : 1e-6));
    omp_target_free(w->memory, device);
    w->memory = NULL;
}

int __ompgpu_spread_weigh(void *spread, long at[2], float **memory)
{
    struct ompgpu_spread *s = spread;
    struct weighing *w = &s->weighing;
    if (w->memory)
        end_pass(s);
    while (!w->memory && w->device < s->ndevices && get_speed(s->devices[w->device]) > 0)
        w->device++;
    if (w->device == s->ndevices)
        return 0;
    int device = s->devices[w->device];
    if (!w->memory) {
        w->pass = 0, w->n = LEAST_WORK;
        if (!(w->memory = omp_target_alloc(MOST_WORK * sizeof *w->memory, device)))
            ompgpu_fatal(&s->where, "device %d has no memory to measure its speed", device);
    }
    at[0] = device, at[1] = w->n, *memory = w->memory;
    w->start = ompgpu_clock();
    return 1;
}

/* In steps of a quarter octave below the fastest, so that devices that are alike get alike. */
static double weight_of(double speed, double fastest)
{
    const double step = 0.8408964, half = 0.9170040;
    double weight = 1;
    while (speed < weight * half * fastest && weight > 1e-6)
        weight *= step;
    return weight;
}

static void divide_by_weight(struct ompgpu_spread *s)
{
    double fastest = 0, sum = 0, sum_before = 0;
    for (unsigned i = 0; i < s->ndevices; i++) {
        double speed = get_speed(s->devices[i]);
        fastest = speed > fastest ? speed : fastest;
    }
    for (unsigned i = 0; i < s->ndevices; i++)
        sum += weight_of(get_speed(s->devices[i]), fastest);
    for (unsigned i = 0; i < s->ndevices; i++) {
        sum_before += weight_of(get_speed(s->devices[i]), fastest);
        s->ends[i] = (unsigned long)((double)s->trip * (sum_before / sum) + 0.5);
    }
    s->ends[s->ndevices - 1] = s->trip;
}

/* ------------------------------------------------------------------ chunks */
/* Iterations [first, end) on a device; first at the end of all: there is none. */
struct part {
    unsigned long first, end;
    int device;
};
static struct part find_part(const struct ompgpu_spread *s, unsigned long k)
{
    if (!s->weighted) {
        unsigned long first = k * s->chunk, left = s->trip - first;
        return (struct part){ first, first + (left < s->chunk ? left : s->chunk),
                              s->devices[k % s->ndevices] };
    }
    unsigned long first = 0; /* a device without iterations has no chunk */
    for (unsigned i = 0; i < s->ndevices; first = s->ends[i++])
        if (s->ends[i] > first && k-- == 0)
            return (struct part){ first, s->ends[i], s->devices[i] };
    return (struct part){ s->trip, s->trip, 0 };
}

unsigned long __ompgpu_spread_divide(void *spread, long start, long step, unsigned long trip,
                                     unsigned long chunk)
{
    struct ompgpu_spread *s = spread;
    unsigned long part = trip / s->ndevices + (trip % s->ndevices != 0), n = 0;
    s->start = start, s->step = step, s->trip = trip;
    s->chunk = chunk ? chunk : part ? part : 1;
    if (!s->weighted)
        return trip / s->chunk + (trip % s->chunk != 0);
    divide_by_weight(s);
    while (find_part(s, n).first < trip)
        n++;
    return n;
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
    end_turn(s);
    const struct part part = find_part(s, s->number);
    if (part.first >= s->trip)
        return 0;
    struct ompgpu_chunk *c = get_memory(&s->where, sizeof *c);
    *c = (struct ompgpu_chunk){ .spread = s,
                                .references = 1,
                                .line = s->where.line,
                                .directive = s->where.directive,
                                .number = s->number++,
                                .start = s->start + (long)part.first * s->step,
                                .size = (long)(part.end - part.first),
                                .device = part.device };
    __atomic_add_fetch(&s->references, 1, __ATOMIC_RELAXED);
    at[0] = c->start, at[1] = c->size, at[2] = c->device;
    ompgpu_chunk_ = c;
    return 1;
}

void __ompgpu_spread_end(void *spread)
{
    struct ompgpu_spread *s = spread;
    if (s->exchanges)
        ompgpu_exchange_run(s);
    drop_spread(s);
}

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
