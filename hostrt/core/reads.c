/* reads.c - OMPGPU_CHECK=stale: loads of the host from what a region has changed.
 *
 * Host code that is compiled with -fompgpu-check-host calls a function of these before each load
 * and store: clang's own instrumentation for coverage does that, whose functions programs may
 * define.  After a region it is known which part of the host's memory has mappings that the device
 * has changed; only accesses there are looked at, and only where the table is free.  What the host
 * stores is its own from then on, also where the value stays the same.  A place is reported once.
 */
#include <stdio.h>
#include <time.h>
#include "hostrt/core/core.h"

/* Of all devices; atomic.  begin > end: none. */
static uintptr_t low = UINTPTR_MAX, high;

void ompgpu_reads_watch(struct ompgpu_device *dev, uintptr_t begin, uintptr_t end)
{
    dev->newer.begin = begin, dev->newer.end = end;
    for (int i = 0; i < ompgpu_ndevices; i++) {
        const struct ompgpu_device *d = &ompgpu_devices[i];
        begin = d->newer.end && d->newer.begin < begin ? d->newer.begin : begin;
        end = d->newer.end > end ? d->newer.end : end;
    }
    __atomic_store_n(&low, begin, __ATOMIC_RELAXED);
    __atomic_store_n(&high, end, __ATOMIC_RELAXED);
}

static bool is_first(const void *pc)
{
    enum { PLACES = 256 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const void *places[PLACES];
    static unsigned n;
    unsigned i = 0;
    pthread_mutex_lock(&lock);
    while (i < n && places[i] != pc)
        i++;
    bool first = i == n && n < PLACES;
    if (first)
        places[n++] = pc;
    pthread_mutex_unlock(&lock);
    return first;
}

static void report(const struct ompgpu_entry *e, uintptr_t host, size_t size, const void *pc)
{
    struct ompgpu_line at;
    struct ompgpu_where where = { 0 };
    char mapped[256] = "declare target";
    if (!e->owner)
        snprintf(mapped, sizeof mapped, "mapped at %.200s:%u", e->file ? e->file : "?", e->line);
    if (ompgpu_host_line((const char *)pc - 1, &at))
        where.file = at.file, where.line = at.line, where.column = at.column;
    ompgpu_check_report(OMPGPU_CHECK_STALE, &where,
                        "the host reads %zu bytes of '%s', byte %zu, which the device has changed "
                        "since (%s); 'target update from(…)' before%s",
                        size, e->name ? e->name : "?", (size_t)(host - e->begin), mapped,
                        where.file ? "" : "; -g has the line of the read");
}

/* pc: of a load; NULL: it is a store */
static void check(struct ompgpu_device *dev, uintptr_t host, size_t size, const void *pc)
{
    const struct timespec now = { 0 };
    unsigned held = ompgpu_tables_try(dev, &now);
    if (!held)
        return;
    struct ompgpu_entry *e = ompgpu_present_find(dev, host, size);
    if (e && !pc)
        ompgpu_stale_stored(e, host, size);
    else if (e && ompgpu_stale_is_old(dev, e, host, size) && is_first(pc))
        report(e, host, size, pc);
    ompgpu_tables_unlock(dev, held);
}

static inline void look_at(const void *p, size_t size, const void *pc)
{
    uintptr_t host = (uintptr_t)p;
    if (host < __atomic_load_n(&low, __ATOMIC_RELAXED) ||
        host >= __atomic_load_n(&high, __ATOMIC_RELAXED))
        return;
    for (int i = 0; i < ompgpu_ndevices; i++)
        if (ompgpu_stale_watches(&ompgpu_devices[i]))
            check(&ompgpu_devices[i], host, size, pc);
}

#define OURS __attribute__((visibility("default"), weak))
#define ACCESS_OF(n)                                                                               \
    void __sanitizer_cov_load##n(const void *);                                                    \
    void __sanitizer_cov_store##n(const void *);                                                   \
    OURS void __sanitizer_cov_load##n(const void *p)                                               \
    {                                                                                              \
        look_at(p, n, __builtin_return_address(0));                                                \
    }                                                                                              \
    OURS void __sanitizer_cov_store##n(const void *p) { look_at(p, n, NULL); }
ACCESS_OF(1)
ACCESS_OF(2)
ACCESS_OF(4)
ACCESS_OF(8)
ACCESS_OF(16)
