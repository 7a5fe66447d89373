/* rescue.c - a device that is given up: the host runs its regions from then on.
 *
 * A device data environment is storage of its own, with values of its own.  So what is mapped moves
 * to host memory beside the program's variables, and the device gets a plugin whose memory is the
 * host's: all that counts, copies and frees goes on as before (data.c).  A region enters its data
 * as on any device; then the variables and that memory change places for as long as the host's
 * version runs, and again when it has ended.  Attached pointers stay where they are: the host's
 * lead to the host's variables, as that version wants it.
 *
 * What cannot be read any more is lost.  A construct that needs it ends the program, and so does
 * any region until none is left: a lost mapping ends without being copied, or is copied to the
 * device whole.
 *
 * Addresses of the device that the program has (omp_target_alloc, use_device_ptr) cannot be moved,
 * nor those that kernels have stored. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/core/core.h"

struct rescue { /* of one device */
    struct ompgpu_plugin plugin;
    uintptr_t lowest, highest; /* of the addresses that its memory had */
};

/* ------------------------------------------------------------------ the host as a device */
static int host_alloc(int ordinal, size_t size, void **address)
{
    (void)ordinal;
    *address = size <= PTRDIFF_MAX ? aligned_alloc(256, (size + 255) & ~(size_t)255) : NULL;
    if (!*address)
        ompgpu_plugin_error("out of host memory (%zu bytes)", size);
    return !*address;
}
static int host_free(int ordinal, void *address)
{
    (void)ordinal;
    free(address);
    return 0;
}
static int host_to(int ordinal, void *dst, const void *src, size_t size)
{
    (void)ordinal;
    memmove(dst, src, size);
    return 0;
}
static int host_sync(int ordinal)
{
    (void)ordinal;
    return 0;
}

static void become_host(struct ompgpu_device *dev, struct rescue *r)
{
    r->plugin = *dev->plugin; /* images are unloaded and the device is closed as before */
    r->plugin.alloc = host_alloc;
    r->plugin.free = host_free;
    r->plugin.alloc_shared = NULL;
    r->plugin.to_device = r->plugin.from_device = r->plugin.device_copy = host_to;
    r->plugin.prefetch = NULL;
    r->plugin.sync = host_sync;
    r->plugin.queue_create = NULL;
    r->plugin.fault = NULL;
    dev->plugin = &r->plugin;
    __atomic_store_n(&dev->rescue, r, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------ all mappings */
/* Calls visit() for each; false stops it. */
static bool visit_entries(struct ompgpu_device *dev, bool (*visit)(struct ompgpu_entry *, void *),
                          void *argument)
{
    for (struct ompgpu_entry *e = ompgpu_present_next(dev, 0); e;
         e = ompgpu_present_next(dev, e->end))
        if (!visit(e, argument))
            return false;
    return true;
}

static bool note_addresses(struct ompgpu_entry *e, void *argument)
{
    struct rescue *r = argument;
    uintptr_t end = e->device + (e->end - e->begin);
    r->lowest = e->device < r->lowest ? e->device : r->lowest;
    r->highest = end > r->highest ? end : r->highest;
    return true;
}

static bool get_shadow(struct ompgpu_entry *e, void *unused)
{
    (void)unused;
    return (e->shadow = aligned_alloc(256, (e->end - e->begin + 255) & ~(size_t)255)) != NULL;
}

static bool drop_shadow(struct ompgpu_entry *e, void *unused)
{
    (void)unused;
    free(e->shadow);
    e->shadow = NULL;
    return true;
}

/* Does what a kernel may have stored hold an address of the device? */
static bool holds_addresses(const struct ompgpu_entry *e, const struct rescue *r)
{
    uintptr_t first = (e->begin + sizeof(void *) - 1) & ~(sizeof(void *) - 1);
    for (uintptr_t at = first; at + sizeof(void *) <= e->end; at += sizeof(void *)) {
        uintptr_t value;
        memcpy(&value, (char *)e->shadow + (at - e->begin), sizeof value);
        if (value < r->lowest || value >= r->highest)
            continue;
        const struct ompgpu_attachment *a = ompgpu_attachment_in(e, at, at + sizeof value);
        if (!a || a->host != at)
            return true;
    }
    return false;
}

struct move {
    struct ompgpu_device *dev;
    const struct rescue *rescue;
    const struct ompgpu_where *where;
};

static bool move_entry(struct ompgpu_entry *e, void *argument)
{
    const struct move *m = argument;
    const struct ompgpu_plugin *plugin = m->dev->plugin;
    const struct ompgpu_where at = { .file = e->file, .line = e->line };
    size_t size = e->end - e->begin;
    bool read = !plugin->from_device(m->dev->ordinal, e->shadow, (void *)e->device, size) &&
                !plugin->sync(m->dev->ordinal);
    e->lost = !read || holds_addresses(e, m->rescue);
    if (e->lost)
        ompgpu_say(&at, "warning", "%s, %zu bytes: its value is lost with device %d%s",
                   e->name ? e->name : "?", size, m->dev->number,
                   read ? ": it has addresses of the device" : "");
    if (!read)
        memcpy(e->shadow, (void *)e->begin, size);
    if (!e->owner && !e->associated)
        ompgpu_data_release(m->dev, e);
    e->device = (uintptr_t)e->shadow;
    if (e->asked)
        ompgpu_first_note(m->dev, e);
    return true;
}

bool ompgpu_can_rescue(struct ompgpu_device *dev)
{
    pthread_mutex_lock(&dev->lock);
    bool can = !dev->rescue && !dev->allocations.count && !dev->links && !dev->nqueues;
    pthread_mutex_unlock(&dev->lock);
    return can && !ompgpu_unified() && !ompgpu_other_threads() && !ompgpu_has_tool;
}

int ompgpu_rescue(struct ompgpu_device *dev, const struct ompgpu_where *where)
{
    struct rescue *r = ompgpu_xalloc(sizeof *r);
    if (!r)
        return -1;
    struct move move = { dev, r, where };
    r->lowest = UINTPTR_MAX;
    visit_entries(dev, note_addresses, r);
    if (!visit_entries(dev, get_shadow, NULL)) {
        visit_entries(dev, drop_shadow, NULL);
        ompgpu_xfree(r);
        ompgpu_plugin_error("no host memory to take the device's data");
        return -1;
    }
    visit_entries(dev, move_entry, &move);
    ompgpu_threads_drop(dev);
    become_host(dev, r);
    ompgpu_say(where, "warning", "device %d is given up: the host runs its regions", dev->number);
    return 0;
}

void ompgpu_rescue_free(struct ompgpu_device *dev) { ompgpu_xfree(dev->rescue); }

/* ------------------------------------------------------------------ regions */
static _Thread_local struct visit { /* whose host version is running */
    struct ompgpu_device *dev;
    struct ompgpu_map *maps; /* a copy: the caller's may be gone by then */
    unsigned nmaps;
    struct ompgpu_where where;
} visit;

/* Only what differs is written: a variable may be read-only. */
static int swap_bytes(void *unused, char *host, const char *shadow, size_t size)
{
    (void)unused;
    enum { STEP = 256 };
    char *other = (char *)shadow, room[STEP];
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < STEP ? size - at : STEP;
        if (!memcmp(host + at, other + at, n))
            continue;
        memcpy(room, host + at, n);
        memcpy(host + at, other + at, n);
        memcpy(other + at, room, n);
    }
    return 0;
}

static int swap_pointer(void *device, char *host, const char *shadow)
{
    uintptr_t value;
    memcpy(&value, shadow, sizeof value);
    return ompgpu_may_be_pointee(device, value) ? 0 : swap_bytes(NULL, host, shadow, sizeof value);
}

static bool swap_entry(struct ompgpu_entry *e, void *device)
{
    const struct ompgpu_back_copy all = { e, NULL, e->begin, e->end - e->begin, 0 };
    ompgpu_back_pieces(&all, (const char *)e->device, swap_bytes, NULL);
    ompgpu_back_detached(&all, (const char *)e->device, swap_pointer, device);
    return true;
}

static bool find_lost(struct ompgpu_entry *e, void *argument)
{
    if (e->lost)
        *(struct ompgpu_entry **)argument = e;
    return !e->lost;
}

/* A value that the host's version would take for an address. */
struct address {
    uintptr_t value;
    bool found;
};
static bool find_address(struct ompgpu_entry *e, void *argument)
{
    struct address *a = argument;
    a->found = a->value >= e->device && a->value < e->device + (e->end - e->begin);
    return !a->found;
}

static bool is_of_device(struct ompgpu_device *dev, uintptr_t value)
{
    const struct rescue *r = dev->rescue;
    struct address a = { value, value >= r->lowest && value < r->highest };
    if (!a.found)
        visit_entries(dev, find_address, &a);
    return a.found;
}

static const char *wrong_with(struct ompgpu_device *dev, const struct ompgpu_param *params,
                              unsigned nparams)
{
    struct ompgpu_entry *lost = NULL;
    visit_entries(dev, find_lost, &lost);
    if (lost) {
        ompgpu_plugin_error("the value of %s is lost with device %d: end its mapping, or send it "
                            "again whole",
                            lost->name ? lost->name : "?", dev->number);
        return ompgpu_plugin_message();
    }
    for (unsigned i = 0; i < nparams; i++)
        if (params[i].map < 0 && params[i].size == sizeof(void *) &&
            is_of_device(dev, *(const uintptr_t *)params[i].value))
            return "it uses an address of the device, which was given up";
    return NULL;
}

void ompgpu_rescued_begin(struct ompgpu_device *dev, const struct ompgpu_where *where,
                          const struct ompgpu_map *maps, unsigned nmaps,
                          const struct ompgpu_param *params, unsigned nparams)
{
    visit = (struct visit){ dev, ompgpu_xalloc(nmaps * sizeof *maps), nmaps, *where };
    if (visit.maps && nmaps)
        memcpy(visit.maps, maps, nmaps * sizeof *maps);
    if (!visit.maps || ompgpu_data_enter(dev, &visit.where, visit.maps, nmaps, NULL, NULL))
        ompgpu_fatal(&visit.where, "%s", ompgpu_plugin_message());
    unsigned held = ompgpu_tables_lock(dev);
    const char *wrong = wrong_with(dev, params, nparams);
    if (!wrong) {
        /* others wait for the end */
        __atomic_store_n(&dev->unsynced, ompgpu_self(), __ATOMIC_RELEASE);
        visit_entries(dev, swap_entry, dev);
    }
    ompgpu_tables_unlock(dev, held);
    if (wrong)
        ompgpu_fatal(where, "%s", wrong);
}

void ompgpu_rescued_end(void)
{
    struct visit v = visit;
    if (!v.dev)
        return;
    visit.dev = NULL;
    unsigned held = ompgpu_tables_lock(v.dev);
    visit_entries(v.dev, swap_entry, v.dev);
    ompgpu_tables_unlock(v.dev, held);
    if (ompgpu_data_exit(v.dev, &v.where, v.maps, v.nmaps, OMPGPU_LEAVE_REGION, NULL))
        ompgpu_fatal(&v.where, "%s", ompgpu_plugin_message());
    ompgpu_xfree(v.maps);
}
