/* reuse.c - OMPGPU_CHECK=stale: the program frees the memory of mapped data, gets the same address
 * again, and uses that on the device, which still has what was there before.
 *
 * Programs that ompgpu-cc links for checks call these functions in place of malloc() and its
 * relatives (the linker's --wrap, driver/link/link.c).  free() notes the mapping; so does a later
 * allocation at its address; a construct that then finds the mapping is the mistake. */
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

/* The last mappings whose memory the program has freed. */
enum { FREED = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static struct freed {
    const struct ompgpu_device *dev; /* NULL: none */
    uintptr_t begin;
    uint64_t created;          /* with these the mapping's, and no other's */
    const void *freed, *taken; /* calls; taken: that got the address again, NULL: none has */
} freed[FREED];
static unsigned nfreed; /* so far; atomic, as the next one */
static bool any_taken;

/* ------------------------------------------------------------------ what the program does */
/* Some function of ours may have called the program with the table held: then it cannot be had. */
static unsigned take_table(struct ompgpu_device *dev)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    return ompgpu_tables_try(dev, &until);
}

/* With `lock` held; NULL: it is none of them. */
static struct freed *find_freed(const struct ompgpu_device *dev, const struct ompgpu_entry *e)
{
    for (struct freed *f = freed; f < freed + FREED; f++)
        if (f->dev == dev && f->begin == e->begin && f->created == e->created)
            return f;
    return NULL;
}

static void add_freed(const struct ompgpu_device *dev, const struct ompgpu_entry *e,
                      const void *caller)
{
    pthread_mutex_lock(&lock);
    struct freed *f = find_freed(dev, e);
    if (!f)
        f = &freed[__atomic_fetch_add(&nfreed, 1, __ATOMIC_ACQ_REL) % FREED];
    *f = (struct freed){ dev, e->begin, e->created, caller, NULL };
    pthread_mutex_unlock(&lock);
}

static void note_freed(uintptr_t begin, const void *caller)
{
    for (int i = 0; i < ompgpu_ndevices && begin; i++) {
        struct ompgpu_device *dev = &ompgpu_devices[i];
        unsigned held = ompgpu_stale_compares(dev) ? take_table(dev) : 0;
        const struct ompgpu_entry *e = held ? ompgpu_present_reach(dev, begin, true) : NULL;
        if (e && e->begin >= begin && !e->owner && !e->associated)
            add_freed(dev, e, caller);
        if (held)
            ompgpu_tables_unlock(dev, held);
    }
}

static void note_taken(void *p, size_t size, const void *caller)
{
    uintptr_t begin = (uintptr_t)p;
    if (!p || !__atomic_load_n(&nfreed, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&lock);
    for (struct freed *f = freed; f < freed + FREED; f++)
        if (f->dev && !f->taken && f->begin - begin < size) {
            f->taken = caller;
            __atomic_store_n(&any_taken, true, __ATOMIC_RELEASE);
        }
    pthread_mutex_unlock(&lock);
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
                   const struct ompgpu_entry *e, const struct freed *f)
{
    ompgpu_check_report(OMPGPU_CHECK_STALE, where,
                        "'%s' lies where '%s' (%s:%u) is still mapped, but the program has freed "
                        "that memory%s and allocated it again%s: the device has the old data; "
                        "'target exit data' before it is freed",
                        m->name ? m->name : "?", e->name ? e->name : "?", e->file ? e->file : "?",
                        e->line, place_of(f->freed).text, place_of(f->taken).text);
}

/* Once: it is forgotten. */
static struct freed take_freed(const struct ompgpu_device *dev, const struct ompgpu_entry *e)
{
    pthread_mutex_lock(&lock);
    struct freed *at = find_freed(dev, e), f = at ? *at : (struct freed){ .dev = NULL };
    if (f.taken)
        at->dev = NULL;
    pthread_mutex_unlock(&lock);
    return f;
}

void ompgpu_reuse_look(struct ompgpu_device *dev, const struct ompgpu_where *where,
                       const struct ompgpu_map *maps, unsigned n)
{
    if (!__atomic_load_n(&any_taken, __ATOMIC_ACQUIRE) || !ompgpu_stale_compares(dev))
        return;
    unsigned held = ompgpu_tables_lock(dev);
    for (unsigned i = 0; i < n; i++) {
        const struct ompgpu_entry *e =
            maps[i].flags & OMPGPU_MAP_PRIVATE_COPY
                ? NULL
                : ompgpu_present_reach(dev, (uintptr_t)maps[i].begin, true);
        struct freed f = e ? take_freed(dev, e) : (struct freed){ .dev = NULL };
        if (f.taken)
            report(where, &maps[i], e, &f);
    }
    ompgpu_tables_unlock(dev, held);
}
