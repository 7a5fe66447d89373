/* nearest.c - for the message of a fault: which mapping lies nearest to the address.
 *
 * An address is compared with the host range and with the device range of every mapping, because a
 * kernel may have used either: a pointer that was not translated, or an index that went too far. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "hostrt/core/core.h"

enum { FAR_AWAY = 1 << 30 };
struct nearest {
    uintptr_t address;
    const struct ompgpu_entry *entry;
    uintptr_t begin, distance; /* of its range that is nearest, on host or device */
    bool on_host;
};

static uintptr_t distance_to(uintptr_t begin, uintptr_t end, uintptr_t address)
{
    return address < begin ? begin - address : address < end ? 0 : address - end + 1;
}

static void consider(struct nearest *n, const struct ompgpu_entry *e, uintptr_t begin, bool on_host)
{
    uintptr_t distance = distance_to(begin, begin + (e->end - e->begin), n->address);
    if (!n->entry || distance < n->distance)
        *n = (struct nearest){ n->address, e, begin, distance, on_host };
}

static void consider_mapping(struct nearest *n, const struct ompgpu_entry *e)
{
    consider(n, e, e->begin, true);
    consider(n, e, e->device, false);
}

/* Of omp_target_alloc, which have no address on the host. */
static void consider_allocations(struct nearest *n, const struct ompgpu_range *r)
{
    for (; r; r = r->right) {
        consider_allocations(n, r->left);
        consider(n, (const struct ompgpu_entry *)r, r->begin, false);
    }
}

/* Where the address lies, seen from the mapping. */
static void describe_place(const struct nearest *n, char *text, size_t size)
{
    uintptr_t bytes = n->entry->end - n->entry->begin;
    const char *side = n->on_host ? "host" : "device";
    if (n->distance >= FAR_AWAY)
        snprintf(text, size, "far from the address");
    else if (!n->distance && n->on_host)
        snprintf(text, size, "the address is that of byte %zu of it on the host",
                 (size_t)(n->address - n->begin));
    else if (!n->distance)
        snprintf(text, size, "the address lies in it");
    else if (n->address < n->begin)
        snprintf(text, size, "the address lies %zu bytes before it on the %s", (size_t)n->distance,
                 side);
    else
        snprintf(text, size, "the address lies %zu bytes past its end on the %s",
                 (size_t)(n->address - n->begin - bytes), side);
}

static void describe_mapping(const struct nearest *n, char *text, size_t size)
{
    const struct ompgpu_entry *e = n->entry;
    char place[96], line[200] = "";
    size_t bytes = e->end - e->begin;
    describe_place(n, place, sizeof place);
    if (e->file && e->line)
        snprintf(line, sizeof line, " (%.150s:%u)", e->file, e->line);
    if (!e->device)
        snprintf(text, size, "; nearest block of omp_target_alloc: %zu bytes at %p: %s", bytes,
                 (void *)e->begin, place);
    else
        snprintf(text, size, "; nearest mapping: '%s'%s, %zu bytes at %p, on the device at %p: %s",
                 e->name ? e->name : "?", line, bytes, (void *)e->begin, (void *)e->device, place);
}

/* ------------------------------------------------------------------ what was mapped */
/* The last mappings that ended while checks are on, and blocks that were freed. */
enum { GONE = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct gone {
    const struct ompgpu_device *dev;
    uintptr_t begin, end;
    const char *name, *file; /* file NULL: a block of omp_target_alloc */
    unsigned line;
} gone[GONE];
static unsigned ngone; /* so far */

static void note_gone(struct gone g)
{
    pthread_mutex_lock(&lock);
    gone[ngone++ % GONE] = g;
    pthread_mutex_unlock(&lock);
}

void ompgpu_allocation_gone(const struct ompgpu_device *dev, const struct ompgpu_entry *e)
{
    note_gone((struct gone){ dev, e->begin, e->end, NULL, NULL, 0 });
}

void ompgpu_mapping_gone(const struct ompgpu_device *dev, const struct ompgpu_where *where,
                         const struct ompgpu_entry *e)
{
    note_gone((struct gone){ dev, e->begin, e->end, e->name ? e->name : "?",
                             where->file ? where->file : "?", where->line });
}

/* The last one. */
static const struct gone *find_gone(const struct ompgpu_device *dev, uintptr_t address)
{
    for (unsigned i = ngone; i > 0 && i + GONE > ngone; i--) {
        const struct gone *g = &gone[(i - 1) % GONE];
        if (g->dev == dev && address >= g->begin && address < g->end)
            return g;
    }
    return NULL;
}

/* Where an address of the host has no mapping, it may have had one. */
static void describe_gone(struct ompgpu_device *dev, uintptr_t address, char *text, size_t size)
{
    size_t n = strlen(text);
    if (ompgpu_present_find(dev, address, 1))
        return;
    pthread_mutex_lock(&lock);
    const struct gone *g = find_gone(dev, address);
    if (g && g->file)
        snprintf(text + n, size - n, "; '%s' was mapped there until %.150s:%u", g->name, g->file,
                 g->line);
    else if (g)
        snprintf(text + n, size - n,
                 "; a block of omp_target_alloc with %zu bytes was there until omp_target_free",
                 (size_t)(g->end - g->begin));
    pthread_mutex_unlock(&lock);
}

/* Who has the table may be about to give it up, or wait for what has failed.  0: it does not. */
unsigned ompgpu_tables_for_message(struct ompgpu_device *dev)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50 * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000, until.tv_nsec %= 1000000000;
    return ompgpu_tables_try(dev, &until);
}

void ompgpu_data_nearest(struct ompgpu_device *dev, uintptr_t address,
                         const struct ompgpu_entry *removed, char *text, size_t size)
{
    struct nearest n = { .address = address };
    unsigned held = ompgpu_tables_for_message(dev);
    if (!held)
        return;
    for (; removed; removed = (const struct ompgpu_entry *)removed->range.left)
        consider_mapping(&n, removed);
    for (struct ompgpu_entry *e = ompgpu_present_next(dev, 0); e;
         e = ompgpu_present_next(dev, e->end))
        consider_mapping(&n, e);
    consider_allocations(&n, dev->allocations.root);
    if (n.entry)
        describe_mapping(&n, text, size);
    else if (!ompgpu_serves) /* rank 0 knows */
        snprintf(text, size, "; nothing is mapped");
    describe_gone(dev, address, text, size);
    ompgpu_tables_unlock(dev, held);
}

static const struct ompgpu_entry *allocation_at(const struct ompgpu_device *dev, uintptr_t address)
{
    return (const struct ompgpu_entry *)ompgpu_ranges_find(&dev->allocations, address, 1);
}

/* In an allocation or a mapping, and not where the host may be, too. */
static bool is_device_only(struct ompgpu_device *dev, uintptr_t address)
{
    const struct ompgpu_entry *e = allocation_at(dev, address);
    if (e)
        return !e->shared;
    for (e = ompgpu_present_next(dev, 0); e; e = ompgpu_present_next(dev, e->end))
        if (address - e->device < e->end - e->begin)
            return true;
    return false;
}

bool ompgpu_is_device_only(struct ompgpu_device *dev, uintptr_t address)
{
    unsigned held = ompgpu_tables_for_message(dev);
    bool is = held && is_device_only(dev, address);
    if (held)
        ompgpu_tables_unlock(dev, held);
    return is;
}

struct ompgpu_device *ompgpu_device_of(const struct ompgpu_plugin *plugin, int ordinal)
{
    for (int i = 0; i < ompgpu_ndevices; i++)
        if (ompgpu_devices[i].plugin == plugin && ompgpu_devices[i].ordinal == ordinal)
            return &ompgpu_devices[i];
    return NULL;
}

bool ompgpu_is_allocation_on(const struct ompgpu_plugin *plugin, int ordinal, uintptr_t address)
{
    struct ompgpu_device *dev = ompgpu_device_of(plugin, ordinal);
    unsigned held = dev ? ompgpu_tables_for_message(dev) : 0;
    bool is = held && allocation_at(dev, address);
    if (held)
        ompgpu_tables_unlock(dev, held);
    return is;
}

void ompgpu_nearest_on(const struct ompgpu_plugin *plugin, int ordinal, uintptr_t address,
                       char *text, size_t size)
{
    struct ompgpu_device *dev = ompgpu_device_of(plugin, ordinal);
    *text = '\0';
    if (dev)
        ompgpu_data_nearest(dev, address, NULL, text, size);
}
