/* profile.c - OMPGPU_PROFILE: what regions, copies and allocations took, added up by place.
 *
 * A row is what was done at one place to one thing: launches of a region, copies of a list item in
 * one direction by one construct, allocations for it.  Callers say what happened when it has ended,
 * with the clock from before; what goes into a queue has no time, but launches there have.  While
 * the profile is on, each copy is waited for, so that the time of a launch is that of its kernel.
 *
 * The rows are in a hash table, guarded by a lock of this file's, which calls nothing.  For a trace
 * each event is kept as well, up to a limit.  The end of the process writes everything. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include "hostrt/core/profile.h"

enum { HASHES = 256, MOST_EVENTS = 1 << 20 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all of these */
static struct ompgpu_profile_row *table[HASHES];
static unsigned nrows;
static struct ompgpu_profile_event *events;
static size_t nevents, room_for_events, dropped;
static uint64_t bytes_now, most_bytes;

static FILE *file; /* immutable after start-up: where it goes; NULL: the table, on stderr */
static void (*write_file)(FILE *, const struct ompgpu_profile *);
static double began;

/* ------------------------------------------------------------------ start */
static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

bool ompgpu_profile_start(void)
{
    const char *value = secure_getenv("OMPGPU_PROFILE");
    if (!value || !*value || strcmp(value, "0") == 0)
        return false;
    if (strcmp(value, "1") != 0) {
        if (!(file = ompgpu_open_output("OMPGPU_PROFILE", value)))
            return false;
        write_file =
            ends_with(value, ".csv") ? ompgpu_profile_write_csv : ompgpu_profile_write_trace;
    }
    began = ompgpu_clock();
    return true;
}

/* ------------------------------------------------------------------ rows */
struct key {
    enum ompgpu_profile_kind kind;
    const struct ompgpu_where *where;
    const char *name;
    bool implicit;
};

static const char *text_or_empty(const char *s) { return s ? s : ""; }

static bool is_row(const struct ompgpu_profile_row *r, const struct key *k)
{
    return r->kind == k->kind && r->line == k->where->line && r->implicit == k->implicit &&
           strcmp(r->name, text_or_empty(k->name)) == 0 &&
           strcmp(r->file, text_or_empty(k->where->file)) == 0 &&
           strcmp(r->directive, text_or_empty(k->where->directive)) == 0;
}

static struct ompgpu_profile_row *make_row(const struct key *k)
{
    struct ompgpu_profile_row *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    *r = (struct ompgpu_profile_row){ .kind = k->kind,
                                      .line = k->where->line,
                                      .implicit = k->implicit,
                                      .file = strdup(text_or_empty(k->where->file)),
                                      .name = strdup(text_or_empty(k->name)),
                                      .directive = strdup(text_or_empty(k->where->directive)) };
    if (r->file && r->name && r->directive)
        return r;
    free(r->file), free(r->name), free(r->directive), free(r);
    return NULL;
}

/* NULL: out of memory, and what happened is not counted */
static struct ompgpu_profile_row *get_row(const struct key *k)
{
    unsigned hash = (unsigned)k->kind * 31 + k->where->line * 7;
    for (const char *p = text_or_empty(k->name); *p; p++)
        hash = hash * 31 + (unsigned char)*p;
    struct ompgpu_profile_row **at = &table[hash % HASHES];
    while (*at && !is_row(*at, k))
        at = &(*at)->next;
    if (!*at && (*at = make_row(k)))
        nrows++;
    return *at;
}

/* thread: 0, or to be filled in */
static void keep_event(struct ompgpu_profile_event e)
{
    if (!file || write_file != ompgpu_profile_write_trace)
        return;
    e.thread = e.thread ? syscall(SYS_gettid) : 0;
    if (nevents == room_for_events && nevents < MOST_EVENTS) {
        size_t room = room_for_events ? 2 * room_for_events : 1024;
        struct ompgpu_profile_event *more = realloc(events, room * sizeof *more);
        if (more)
            events = more, room_for_events = room;
    }
    if (nevents < room_for_events)
        events[nevents++] = e;
    else
        dropped++;
}

static void add_time(struct ompgpu_profile_row *r, double ms, uint64_t bytes)
{
    r->timed++;
    r->timed_bytes += bytes;
    r->ms += ms;
    r->longest = ms > r->longest ? ms : r->longest;
}

/* start 0: it has no time.  Called with the lock held. */
static struct ompgpu_profile_row *add_up(const struct key *k, uint64_t bytes, double start,
                                         bool later)
{
    struct ompgpu_profile_row *r = get_row(k);
    double end = ompgpu_clock(), ms = start > 0 ? end - start : 0;
    if (!r)
        return NULL;
    r->count++;
    r->bytes += bytes;
    if (start > 0)
        add_time(r, ms, bytes);
    keep_event((struct ompgpu_profile_event){ r, end - ms - began, ms, bytes, later ? 0 : 1 });
    return r;
}

/* What a chunk of a spread construct does counts for the chunk, too.  start 0: it is a copy. */
static void add_to_chunk(const struct ompgpu_where *where, uint64_t bytes, double start)
{
    const struct ompgpu_chunk *c = where->chunk;
    char name[64];
    if (!c)
        return;
    snprintf(name, sizeof name, "chunk %lu on device %d", c->number, c->device);
    struct ompgpu_profile_row *r =
        get_row(&(struct key){ OMPGPU_PROFILE_CHUNK, where, name, false });
    if (!r)
        return;
    r->chunk = c->number, r->device = c->device;
    r->bytes += bytes;
    r->count += start > 0;
    if (start > 0)
        add_time(r, ompgpu_clock() - start, 0);
}

/* ------------------------------------------------------------------ what happens */
static void note_launch(struct ompgpu_profile_row *r, const struct ompgpu_device *dev,
                        struct ompgpu_function *fn, struct ompgpu_geometry g)
{
    bool same = r->geometry.teams == g.teams && r->geometry.threads == g.threads;
    const struct ompgpu_device_info *info = &dev->info;
    r->varies |= r->count > 1 && !same;
    r->geometry = g;
    r->registers = fn->registers, r->shared = fn->static_shared, r->stack = fn->stack_bytes;
    r->multiprocessors = info->multiprocessors;
    /* The PTX machine shows registers and occupancy itself, by ptxas. */
    if (ompgpu_settings.device_kind == OMPGPU_KIND_PTX)
        r->registers = 0;
    if (!r->registers || !info->max_threads_per_mp || (same && r->count > 1))
        return;
    unsigned warps = (g.threads + 31) / 32,
             teams = dev->plugin->occupancy(dev->ordinal, fn, g.threads);
    r->occupancy = (double)teams * warps * 32 / info->max_threads_per_mp;
    r->by_registers =
        fn->registers && info->registers_per_mp / (fn->registers * warps * 32) <= teams;
}

void ompgpu_profile_launch(const struct ompgpu_where *where, const struct ompgpu_device *dev,
                           struct ompgpu_function *fn, struct ompgpu_geometry g, double start,
                           bool later)
{
    const struct key k = { OMPGPU_PROFILE_REGION, where, where->region, false };
    pthread_mutex_lock(&lock);
    struct ompgpu_profile_row *r = add_up(&k, 0, start, later);
    if (r)
        note_launch(r, dev, fn, g);
    add_to_chunk(where, 0, start);
    pthread_mutex_unlock(&lock);
}

void ompgpu_profile_host(const struct ompgpu_where *where)
{
    const struct key k = { OMPGPU_PROFILE_HOST, where, where->region, false };
    pthread_mutex_lock(&lock);
    add_up(&k, 0, 0, false);
    pthread_mutex_unlock(&lock);
}

void ompgpu_profile_copy(const struct ompgpu_where *where, const struct ompgpu_transfer *t)
{
    static const enum ompgpu_profile_kind kinds[] = { [OMPGPU_FROM_DEVICE] = OMPGPU_PROFILE_FROM,
                                                      [OMPGPU_TO_DEVICE] = OMPGPU_PROFILE_TO,
                                                      [OMPGPU_BETWEEN_DEVICES] =
                                                          OMPGPU_PROFILE_BETWEEN };
    const struct key k = { kinds[t->way], where, t->name, t->implicit };
    pthread_mutex_lock(&lock);
    add_up(&k, t->bytes, t->start, t->start <= 0);
    add_to_chunk(where, t->bytes, 0);
    pthread_mutex_unlock(&lock);
}

void ompgpu_profile_alloc(const struct ompgpu_where *where, const char *name, size_t bytes,
                          double start)
{
    const struct key k = { OMPGPU_PROFILE_ALLOC, where, name, false };
    pthread_mutex_lock(&lock);
    add_up(&k, bytes, start, false);
    bytes_now += bytes;
    most_bytes = bytes_now > most_bytes ? bytes_now : most_bytes;
    pthread_mutex_unlock(&lock);
}

void ompgpu_profile_free(size_t bytes)
{
    pthread_mutex_lock(&lock);
    bytes_now -= bytes;
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ the end */
/* Chunks come after all else, in their order. */
static int by_time(const void *a, const void *b)
{
    const struct ompgpu_profile_row *x = *(struct ompgpu_profile_row *const *)a,
                                    *y = *(struct ompgpu_profile_row *const *)b;
    bool chunks = x->kind == OMPGPU_PROFILE_CHUNK && y->kind == x->kind;
    if (chunks && x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (chunks && x->chunk != y->chunk)
        return x->chunk < y->chunk ? -1 : 1;
    if ((x->kind == OMPGPU_PROFILE_CHUNK) != (y->kind == OMPGPU_PROFILE_CHUNK))
        return x->kind == OMPGPU_PROFILE_CHUNK ? 1 : -1;
    if (x->ms != y->ms)
        return x->ms < y->ms ? 1 : -1;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static void free_rows(struct ompgpu_profile_row **rows)
{
    for (unsigned i = 0; i < nrows; i++) {
        free(rows[i]->file), free(rows[i]->name), free(rows[i]->directive);
        free(rows[i]);
    }
    free(rows), free(events);
    memset(table, 0, sizeof table);
    events = NULL, nrows = 0, nevents = room_for_events = 0;
}

static const char *device_name(void)
{
    const struct ompgpu_device *dev = ompgpu_devices;
    return !ompgpu_ndevices ? "the host" : *dev->info.name ? dev->info.name : dev->plugin->name;
}

static bool is_simulated(void)
{
    return ompgpu_settings.device_kind == OMPGPU_KIND_PTX ||
           (ompgpu_ndevices && ompgpu_devices->plugin == &ompgpu_emu_plugin);
}

void ompgpu_profile_end(void)
{
    pthread_mutex_lock(&lock);
    struct ompgpu_profile_row **rows = calloc(nrows + 1, sizeof(struct ompgpu_profile_row *));
    unsigned n = 0;
    for (unsigned i = 0; i < HASHES && rows; i++)
        for (struct ompgpu_profile_row *r = table[i]; r; r = r->next)
            rows[n++] = r;
    if (rows) {
        qsort(rows, n, sizeof(struct ompgpu_profile_row *), by_time);
        const struct ompgpu_profile p = { .rows = rows,
                                          .nrows = n,
                                          .events = events,
                                          .nevents = nevents,
                                          .dropped = dropped,
                                          .ms = ompgpu_clock() - began,
                                          .most_bytes = most_bytes,
                                          .device = device_name(),
                                          .simulated = is_simulated() };
        if (file)
            write_file(file, &p);
        else
            ompgpu_profile_print(stderr, &p);
        free_rows(rows);
    }
    if (file && fclose(file) != 0)
        ompgpu_say(NULL, "warning", "OMPGPU_PROFILE: cannot write all of it: %s", strerror(errno));
    file = NULL;
    pthread_mutex_unlock(&lock);
}
