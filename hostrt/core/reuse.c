/* reuse.c - OMPGPU_CHECK=stale: the program frees the memory of mapped data, gets the same address
 * again, and uses that on the device, which still has what was there before.
 *
 * Programs that ompgpu-cc links for checks call these functions in place of malloc() and its
 * relatives (the linker's --wrap, driver/link/link.c).  free() notes it in the mapping, a later
 * allocation at its address too; a construct that then finds the mapping is the mistake. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "hostrt/core/core.h"
#pragma GCC visibility push(default)
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void *__wrap_aligned_alloc(size_t, size_t);
int __wrap_posix_memalign(void **, size_t, size_t);
void __wrap_free(void *);
#pragma GCC visibility pop

static bool any_freed, any_taken; /* atomic: mappings, so far */

/* ------------------------------------------------------------------ what the program does */
static bool is_watched(const struct ompgpu_device *dev)
{
    return ompgpu_stale_watches(dev) && ompgpu_checks(OMPGPU_CHECK_STALE);
}

/* Some function of ours may have called the program with the table held: then it cannot be had. */
static unsigned take_table(struct ompgpu_device *dev)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    return ompgpu_tables_try(dev, &until);
}

static void note_freed(uintptr_t begin, const void *caller)
{
    for (int i = 0; i < ompgpu_ndevices && begin; i++) {
        struct ompgpu_device *dev = &ompgpu_devices[i];
        unsigned held = is_watched(dev) ? take_table(dev) : 0;
        struct ompgpu_entry *e = held ? ompgpu_present_reach(dev, begin, true) : NULL;
        if (e && e->begin >= begin && !e->owner && !e->associated) {
            e->freed = caller, e->taken_again = NULL;
            __atomic_store_n(&any_freed, true, __ATOMIC_RELEASE);
        }
        if (held)
            ompgpu_tables_unlock(dev, held);
    }
}

static void note_taken(void *p, size_t size, const void *caller)
{
    uintptr_t begin = (uintptr_t)p;
    bool any = p && __atomic_load_n(&any_freed, __ATOMIC_ACQUIRE);
    for (int i = 0; i < ompgpu_ndevices && any; i++) {
        struct ompgpu_device *dev = &ompgpu_devices[i];
        unsigned held = is_watched(dev) ? take_table(dev) : 0;
        struct ompgpu_entry *e = held ? ompgpu_present_find(dev, begin, size) : NULL;
        for (; e; e = ompgpu_present_find(dev, e->end, begin + size - e->end)) {
            if (e->freed && !e->taken_again) {
                e->taken_again = caller;
                __atomic_store_n(&any_taken, true, __ATOMIC_RELEASE);
            }
            if (e->end >= begin + size)
                break;
        }
        if (held)
            ompgpu_tables_unlock(dev, held);
    }
}

void *__wrap_malloc(size_t size)
{
    void *p = malloc(size);
    note_taken(p, size, __builtin_return_address(0));
    return p;
}

void *__wrap_calloc(size_t n, size_t size)
{
    void *p = calloc(n, size);
    note_taken(p, n * size, __builtin_return_address(0));
    return p;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    void *p = aligned_alloc(alignment, size);
    note_taken(p, size, __builtin_return_address(0));
    return p;
}

int __wrap_posix_memalign(void **p, size_t alignment, size_t size)
{
    int error = posix_memalign(p, alignment, size);
    if (!error)
        note_taken(*p, size, __builtin_return_address(0));
    return error;
}

/* What stays in place is the same memory. */
void *__wrap_realloc(void *old, size_t size)
{
    uintptr_t was = (uintptr_t)old;
    void *p = realloc(old, size);
    if (p && (uintptr_t)p != was) {
        note_freed(was, __builtin_return_address(0));
        note_taken(p, size, __builtin_return_address(0));
    }
    return p;
}

void __wrap_free(void *p)
{
    note_freed((uintptr_t)p, __builtin_return_address(0));
    free(p);
}

/* ------------------------------------------------------------------ what a construct finds */
struct place {
    char text[192];
};

/* " (file:line)", or nothing without -g */
static struct place place_of(const void *caller)
{
    struct place p = { "" };
    struct ompgpu_line line;
    if (ompgpu_host_line((const char *)caller - 1, &line))
        snprintf(p.text, sizeof p.text, " (%s:%u)", line.file, line.line);
    return p;
}

static void report(const struct ompgpu_where *where, const struct ompgpu_map *m,
                   struct ompgpu_entry *e)
{
    ompgpu_check_report(OMPGPU_CHECK_STALE, where,
                        "'%s' lies where '%s' (%s:%u) is still mapped, but the program has freed "
                        "that memory%s and allocated it again%s: the device has the old data; "
                        "'target exit data' before it is freed",
                        m->name ? m->name : "?", e->name ? e->name : "?", e->file ? e->file : "?",
                        e->line, place_of(e->freed).text, place_of(e->taken_again).text);
    e->freed = e->taken_again = NULL;
}

void ompgpu_reuse_look(struct ompgpu_device *dev, const struct ompgpu_where *where,
                       const struct ompgpu_map *maps, unsigned n)
{
    if (!__atomic_load_n(&any_taken, __ATOMIC_ACQUIRE) || !is_watched(dev))
        return;
    unsigned held = ompgpu_tables_lock(dev);
    for (unsigned i = 0; i < n; i++) {
        struct ompgpu_entry *e = maps[i].flags & OMPGPU_MAP_PRIVATE_COPY
                                     ? NULL
                                     : ompgpu_present_reach(dev, (uintptr_t)maps[i].begin, true);
        if (e && e->taken_again)
            report(where, &maps[i], e);
    }
    ompgpu_tables_unlock(dev, held);
}
