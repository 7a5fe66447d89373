/* source.c - for the message of a fault: how an address of the host came to the device, and which
 * clause would have made one of the device of it.
 *
 * A kernel gets pointers as parameters, or reads them in what is mapped.  The one that leads to the
 * address, or to the nearest place before it, is named. */
#define _GNU_SOURCE 1 /* mincore */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "hostrt/core/core.h"

enum { FAR_AWAY = 1 << 30 };
/* What leads to the address; none: `distance` is FAR_AWAY. */
struct source {
    uintptr_t address, distance;
    const struct ompgpu_passed *passed; /* the pointer: as it is, or … */
    const char *pointer;                /* … named by no clause, or … */
    const struct ompgpu_entry *entry;   /* … in a mapping, … */
    size_t offset;                      /* … there */
};

static bool is_nearer(struct source *s, uintptr_t value)
{
    uintptr_t distance = s->address - value;
    if (!value || value > s->address || distance >= s->distance)
        return false;
    *s = (struct source){ .address = s->address, .distance = distance };
    return true;
}

/* ------------------------------------------------------------------ use_device_ptr */
/* The last ones that found nothing mapped. */
enum { MISSED = 16 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct missed {
    const void *host;
    const struct ompgpu_place *place;
} missed[MISSED];
static unsigned nmissed; /* so far */

void *__ompgpu_use_device_at(const struct ompgpu_place *place, long device, const void *host)
{
    void *address = __ompgpu_use_device(device, host);
    if (address == host) {
        pthread_mutex_lock(&lock);
        missed[nmissed++ % MISSED] = (struct missed){ host, place };
        pthread_mutex_unlock(&lock);
    }
    return address;
}

static const struct ompgpu_place *find_missed(const void *host)
{
    for (unsigned i = nmissed; i > 0 && i + MISSED > nmissed; i--)
        if (missed[(i - 1) % MISSED].host == host)
            return missed[(i - 1) % MISSED].place;
    return NULL;
}

static void describe_missed(const struct source *s, char *text, size_t size)
{
    pthread_mutex_lock(&lock);
    const struct ompgpu_place *p = find_missed((const void *)(s->address - s->distance));
    if (p)
        snprintf(text, size,
                 "; '%.150s' at %.150s:%u found nothing mapped there: it needs a map clause, or a "
                 "data construct around it",
                 p->directive, p->file, p->line);
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ where it may come from */
static void look_at_parameters(struct source *s, const struct ompgpu_given *g)
{
    bool named = g->launch->flags & OMPGPU_LAUNCH_NAMED;
    uintptr_t value;
    for (unsigned i = 0; i < g->nparams && named; i++) {
        if (!g->region->passed[i].clause)
            continue;
        memcpy(&value, g->params[i].value, sizeof value);
        if (is_nearer(s, value))
            s->passed = &g->region->passed[i];
    }
}

static void look_at_pointers(struct source *s, const struct ompgpu_given *g)
{
    for (unsigned i = 0; i < g->nmaps; i++)
        if ((g->maps[i].flags & OMPGPU_MAP_LOOKUP) && is_nearer(s, (uintptr_t)g->maps[i].begin))
            s->pointer = g->maps[i].name;
}

/* What looks like a pointer may be a number. */
static bool is_there(uintptr_t value)
{
    unsigned char resident;
    uintptr_t page = value & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    return page && mincore((void *)page, 1, &resident) == 0;
}

static void look_into(struct source *s, const struct ompgpu_device *dev,
                      const struct ompgpu_entry *e)
{
    uintptr_t words[512];
    size_t all = e->end - e->begin, n = all < sizeof words ? all : sizeof words;
    if (e->lost || dev->plugin->from_device(dev->ordinal, words, (const void *)e->device, n) ||
        dev->plugin->sync(dev->ordinal))
        return;
    for (size_t i = 0; i < n / sizeof *words; i++)
        if (s->address - words[i] < s->distance && is_there(words[i]) && is_nearer(s, words[i]))
            s->entry = e, s->offset = i * sizeof *words;
}

/* ------------------------------------------------------------------ what is said */
static const char general[] =
    "; map(p[0:n]) maps what a pointer leads to, map(s.p[0:n]) what a member does";

static void describe(const struct source *s, char *text, size_t size)
{
    const char *name = s->entry && s->entry->name ? s->entry->name : "?";
    int n = 0;
    if (s->passed)
        n = snprintf(text, size,
                     "; %.100s passes an address of the host as it is: %.100s in its place; "
                     "use_device_ptr and omp_target_alloc give addresses of the device",
                     s->passed->clause, s->passed->instead);
    else if (s->pointer)
        snprintf(text, size, "; '%.100s' leads there: map(tofrom: %.100s[0:n])", s->pointer,
                 s->pointer);
    else if (s->entry)
        snprintf(text, size,
                 "; the pointer at byte %zu of '%.100s' leads there: what it points to has to be "
                 "mapped, too: map(p[0:n]), of a member map(s.p[0:n])",
                 s->offset, name);
    else
        snprintf(text, size, "%s", general);
    if (n > 0 && (size_t)n < size)
        describe_missed(s, text + n, size - (size_t)n);
}

/* Only the emulated device tells the address of a fault. */
static bool is_of_host(uintptr_t address)
{
    return address >> 12 && address - OMPGPU_EMU_WINDOW >= OMPGPU_EMU_WINDOW_BYTES;
}

void ompgpu_data_source(struct ompgpu_device *dev, uintptr_t address, const struct ompgpu_given *g,
                        char *text, size_t size)
{
    struct source s = { .address = address, .distance = FAR_AWAY };
    snprintf(text, size, "%s", address >> 12 ? "" : "; a null pointer leads there");
    if (!is_of_host(address))
        return;
    look_at_parameters(&s, g);
    look_at_pointers(&s, g);
    unsigned held = ompgpu_tables_for_message(dev);
    for (struct ompgpu_entry *e = held ? ompgpu_present_next(dev, 0) : NULL; e;
         e = ompgpu_present_next(dev, e->end))
        look_into(&s, dev, e);
    describe(&s, text, size);
    if (held)
        ompgpu_tables_unlock(dev, held);
}
