/* reads.c - what -fompgpu-check-host finds in host code: loads from what a region has changed
 * (OMPGPU_CHECK=stale), accesses to what a construct with nowait will copy back (race), and to
 * memory of the device (address).
 *
 * Such host code calls a function of these before each load and store: clang's own instrumentation
 * for coverage does that, whose functions programs may define.  After a region it is known which
 * part of the host's memory has mappings that the device has changed; only accesses there are
 * looked at, and only where the table is free.  What the host stores is its own from then on, also
 * where the value stays the same.  The memory of the emulated device is far from all others
 * (emu/window.c).  A place is reported once. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

static bool seen; /* atomic: code has called */
bool ompgpu_reads_seen(void) { return __atomic_load_n(&seen, __ATOMIC_RELAXED); }

/* Of all devices; atomic.  low > high: none.  Before the first call, all is in it. */
static uintptr_t low = 0, high = UINTPTR_MAX;

/* What deferred constructs have copied back so far, or will; with the lock. */
static struct ompgpu_range wide = { .begin = UINTPTR_MAX };
static pthread_mutex_t window = PTHREAD_MUTEX_INITIALIZER;

static void set_window(uintptr_t begin, uintptr_t end)
{
    __atomic_store_n(&low, begin < wide.begin ? begin : wide.begin, __ATOMIC_RELAXED);
    __atomic_store_n(&high, end > wide.end ? end : wide.end, __ATOMIC_RELAXED);
}

void ompgpu_reads_widen(uintptr_t begin, uintptr_t end)
{
    if (!ompgpu_reads_seen() || !ompgpu_checks(OMPGPU_CHECK_RACE))
        return;
    pthread_mutex_lock(&window);
    wide.begin = begin < wide.begin ? begin : wide.begin;
    wide.end = end > wide.end ? end : wide.end;
    set_window(__atomic_load_n(&low, __ATOMIC_RELAXED), __atomic_load_n(&high, __ATOMIC_RELAXED));
    pthread_mutex_unlock(&window);
}

void ompgpu_reads_watch(struct ompgpu_device *dev, uintptr_t begin, uintptr_t end)
{
    dev->newer.begin = begin, dev->newer.end = end;
    for (int i = 0; i < ompgpu_ndevices; i++) {
        const struct ompgpu_device *d = &ompgpu_devices[i];
        begin = d->newer.end && d->newer.begin < begin ? d->newer.begin : begin;
        end = d->newer.end > end ? d->newer.end : end;
    }
    pthread_mutex_lock(&window);
    set_window(begin, end);
    pthread_mutex_unlock(&window);
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

struct access {
    uintptr_t at;
    size_t size;
    const void *pc;
    bool store;
};

/* Where the access is in the source; its file is NULL without -g. */
static struct ompgpu_where place_of(const struct access *a, struct ompgpu_line *line)
{
    struct ompgpu_where where = { 0 };
    if (ompgpu_host_line((const char *)a->pc - 1, line))
        where.file = line->file, where.line = line->line, where.column = line->column;
    return where;
}

/* The compiler may have made several loads of one place. */
static bool is_first_at(const struct ompgpu_where *w)
{
    uintptr_t h = 14695981039346656037u;
    for (const char *p = w->file; p && *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211u;
    return !w->file || is_first((const void *)(h ^ (uintptr_t)w->line << 32 ^ w->column));
}

static void report_old(const struct ompgpu_entry *e, const struct access *a)
{
    struct ompgpu_line line;
    struct ompgpu_where where = place_of(a, &line);
    char mapped[256] = "declare target";
    if (!is_first_at(&where))
        return;
    if (!e->owner)
        snprintf(mapped, sizeof mapped, "mapped at %.200s:%u", e->file ? e->file : "?", e->line);
    ompgpu_check_suspect(&where,
                         "the host reads %zu bytes of '%s', byte %zu, which the device has changed "
                         "since (%s); 'target update from(…)' before%s",
                         a->size, e->name ? e->name : "?", (size_t)(a->at - e->begin), mapped,
                         where.file ? "" : "; -g has the line of the read");
}

static void check_mappings(struct ompgpu_device *dev, const struct access *a)
{
    const struct timespec now = { 0 };
    unsigned held = ompgpu_tables_try(dev, &now);
    if (!held)
        return;
    struct ompgpu_entry *e = ompgpu_present_find(dev, a->at, a->size);
    bool looks = e && !e->busy; /* else another thread is about to copy it */
    if (looks && a->store)
        ompgpu_stale_stored(e, a->at, a->size);
    else if (looks && ompgpu_stale_is_old(dev, e, a->at, a->size) && is_first(a->pc))
        report_old(e, a);
    ompgpu_tables_unlock(dev, held);
}

/* ------------------------------------------------------------------ copies that will come */
/* Loads of what a deferred construct has yet to copy back: whether they were too early shows when
 * it has.  Generated code reads pointers and lengths of later constructs so, which stay the same.
 */
enum { EARLY = 32 };
static struct early {
    struct ompgpu_ticket task; /* no task: free */
    struct ompgpu_line line;
    struct ompgpu_where where; /* its file is the line's, or NULL */
    uintptr_t at;
    size_t size;
    unsigned char value[16];
} early[EARLY]; /* with the window's lock */

static bool note_early(struct ompgpu_device *dev, const struct access *a)
{
    struct ompgpu_ticket task;
    if (!ompgpu_any_deferred() || !ompgpu_checks(OMPGPU_CHECK_RACE) ||
        !ompgpu_returning_at(dev, a->at, a->size, &task))
        return false;
    if (a->store || !is_first(a->pc))
        return true;
    pthread_mutex_lock(&window);
    struct early *e = early;
    while (e < early + EARLY && e->task.task)
        e++;
    if (e < early + EARLY) {
        e->where = place_of(a, &e->line);
        e->task = task, e->at = a->at, e->size = a->size;
        memcpy(e->value, (const void *)a->at, a->size);
    }
    pthread_mutex_unlock(&window);
    return true;
}

static void report_early(const struct early *e, const struct ompgpu_where *by)
{
    if (is_first_at(&e->where))
        ompgpu_check_report(OMPGPU_CHECK_RACE, &e->where,
                            "race: the host has read %zu bytes at %p before the construct with "
                            "nowait at %.150s:%u has copied them back; 'taskwait' before%s",
                            e->size, (void *)e->at, by->file ? by->file : "?", by->line,
                            e->where.file ? "" : "; -g has the line of the access");
}

void ompgpu_reads_returned(const struct ompgpu_task *t)
{
    if (!ompgpu_reads_seen())
        return;
    pthread_mutex_lock(&window);
    for (struct early *e = early; e < early + EARLY; e++)
        if (e->task.task == t && e->task.serial == t->serial) {
            if (memcmp((const void *)e->at, e->value, e->size) != 0)
                report_early(e, &t->where);
            e->task.task = NULL;
        }
    pthread_mutex_unlock(&window);
}

/* ------------------------------------------------------------------ memory of the device */
static _Thread_local bool paused;
void ompgpu_reads_pause(bool is) { paused = is; }

static void report_device_memory(struct ompgpu_device *dev, const struct access *a)
{
    struct ompgpu_line line;
    struct ompgpu_where where = place_of(a, &line);
    char nearest[512] = "", size[40] = "";
    if (!is_first_at(&where))
        return;
    if (a->size)
        snprintf(size, sizeof size, "%zu bytes at ", a->size);
    ompgpu_data_nearest(dev, a->at, NULL, nearest, sizeof nearest);
    ompgpu_check_report(OMPGPU_CHECK_ADDRESS, &where,
                        "the host %s %s%p, memory of device %d: only regions can use "
                        "it; omp_target_memcpy or 'target update' copies%s%s",
                        a->store ? "writes" : "reads", size, (void *)a->at, dev->number, nearest,
                        where.file ? "" : "; -g has the line of the access");
}

static bool looks_for_device_memory(void)
{
    return !paused && !ompgpu_unified() && ompgpu_checks(OMPGPU_CHECK_ADDRESS);
}

static __attribute__((noinline)) void check_device_memory(const struct access *a)
{
    for (int i = 0; i < ompgpu_ndevices && looks_for_device_memory(); i++) {
        struct ompgpu_device *dev = &ompgpu_devices[i];
        if (dev->plugin == &ompgpu_emu_plugin && ompgpu_is_device_only(dev, a->at) &&
            is_first(a->pc))
            report_device_memory(dev, a);
    }
}

void ompgpu_expose(struct ompgpu_device *dev, uintptr_t address)
{
    if (dev->plugin->expose && !ompgpu_unified())
        dev->plugin->expose(dev->ordinal, (void *)address);
}

void ompgpu_reads_faulted(int ordinal, uintptr_t at, bool store, const void *pc)
{
    const struct access a = { at, 0, (const char *)pc + 1, store };
    struct ompgpu_device *dev = ompgpu_device_of(&ompgpu_emu_plugin, ordinal);
    if (dev && looks_for_device_memory() && is_first(a.pc))
        report_device_memory(dev, &a);
}

/* ------------------------------------------------------------------ each access */
static __attribute__((noinline)) void check(const struct access *a)
{
    if (!ompgpu_reads_seen()) {
        ompgpu_check_unit();
        __atomic_store_n(&low, UINTPTR_MAX, __ATOMIC_RELAXED);
        __atomic_store_n(&high, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&seen, true, __ATOMIC_RELAXED);
    }
    for (int i = 0; i < ompgpu_ndevices; i++) {
        struct ompgpu_device *dev = &ompgpu_devices[i];
        if (!note_early(dev, a) && ompgpu_stale_compares(dev))
            check_mappings(dev, a);
    }
}

static inline void look_at(const void *p, size_t size, const void *pc, bool store)
{
    const struct access a = { (uintptr_t)p, size, pc, store };
    if (a.at - OMPGPU_EMU_WINDOW < OMPGPU_EMU_STACKS_AT)
        check_device_memory(&a);
    else if (a.at >= __atomic_load_n(&low, __ATOMIC_RELAXED) &&
             a.at < __atomic_load_n(&high, __ATOMIC_RELAXED))
        check(&a);
}

#define OURS __attribute__((visibility("default"), weak))
#define ACCESS_OF(n)                                                                               \
    void __sanitizer_cov_load##n(const void *);                                                    \
    void __sanitizer_cov_store##n(const void *);                                                   \
    OURS void __sanitizer_cov_load##n(const void *p)                                               \
    {                                                                                              \
        look_at(p, n, __builtin_return_address(0), false);                                         \
    }                                                                                              \
    OURS void __sanitizer_cov_store##n(const void *p)                                              \
    {                                                                                              \
        look_at(p, n, __builtin_return_address(0), true);                                          \
    }
ACCESS_OF(1)
ACCESS_OF(2)
ACCESS_OF(4)
ACCESS_OF(8)
ACCESS_OF(16)
