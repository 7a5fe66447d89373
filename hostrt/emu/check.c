/* check.c - accesses of checked images (-fompgpu-check) that need a closer look, and what is said
 * of them.
 *
 * Checked code calls with a pointer and a site when the shadow of a byte is not 0, so most of what
 * comes here is the first store to a byte.  A mistake is reported once a site.  Where the memory is
 * there, the kernel goes on; elsewhere the access faults and ends it. */
#include <stdio.h>
#include <string.h>
#include "hostrt/emu/emu.h"

static const char *verb_of(const struct ompgpu_emu_site *s)
{
    return s->flags & OMPGPU_EMU_ATOMIC   ? "atomic access"
           : s->flags & OMPGPU_EMU_WRITES ? "write"
                                          : "read";
}

static bool is_same_place(const struct ompgpu_emu_site *a, const struct ompgpu_emu_site *b)
{
    return a->line == b->line && a->column == b->column && strcmp(a->file, b->file) == 0;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the places that were reported */

/* With the lock.  A place may have several sites: `a[i]++` reads and writes.  A site goes with its
 * image. */
static bool add_place(const struct ompgpu_emu_site *s, enum ompgpu_check kind)
{
    enum { PLACES = 256 };
    static struct place {
        struct ompgpu_emu_site site;
        char file[128];
    } places[PLACES];
    static unsigned n;
    for (unsigned i = 0; i < n; i++)
        if (is_same_place(&places[i].site, s) && places[i].site.said == kind)
            return false;
    if (n < PLACES && strlen(s->file) < sizeof places->file) {
        struct place *p = &places[n++];
        snprintf(p->file, sizeof p->file, "%s", s->file);
        p->site = *s, p->site.said = kind, p->site.file = p->file;
    }
    return true;
}

static bool is_reported(const struct ompgpu_emu_site *s, enum ompgpu_check kind)
{
    return __atomic_load_n(&s->said, __ATOMIC_RELAXED) >> kind & 1;
}

/* With the lock. */
static bool mark_site(struct ompgpu_emu_site *s, enum ompgpu_check kind)
{
    return !(__atomic_fetch_or(&s->said, 1u << kind, __ATOMIC_RELAXED) >> kind & 1) &&
           add_place(s, kind);
}

static bool is_first(struct ompgpu_emu_site *s, enum ompgpu_check kind)
{
    if (is_reported(s, kind))
        return false;
    pthread_mutex_lock(&lock);
    bool first = mark_site(s, kind);
    pthread_mutex_unlock(&lock);
    return first;
}

/* A pair is reported from one side, once, also where two teams find it, or one of the two sites
 * with a third, at the same time: both sites are marked before another thread asks. */
static bool is_first_race(struct ompgpu_emu_site *s, struct ompgpu_emu_site *other)
{
    if (is_reported(s, OMPGPU_CHECK_RACE) || is_reported(other, OMPGPU_CHECK_RACE))
        return false;
    pthread_mutex_lock(&lock);
    bool first = !is_reported(other, OMPGPU_CHECK_RACE) && mark_site(s, OMPGPU_CHECK_RACE);
    if (first)
        mark_site(other, OMPGPU_CHECK_RACE);
    pthread_mutex_unlock(&lock);
    return first;
}

static struct ompgpu_where where_of(const struct ompgpu_emu_site *s)
{
    const struct ompgpu_kernel_where *k = ompgpu_emu_worker->launch->where;
    struct ompgpu_where w = { s->file, s->line, k->kernel, k->directive, s->column, NULL };
    if (!s->line)
        w.file = k->file, w.line = k->line, w.column = 0;
    return w;
}

struct text {
    char s[512];
};
/* A block of malloc in device code, with the bytes that are kept free after it. */
static bool is_of_heap(const void *p, struct emu_block *b)
{
    return ompgpu_emu_is_memory(p) &&
           ompgpu_emu_memory_block(ompgpu_emu_worker->launch->memory, p, b) && b->heap;
}

/* Who, and the block or the mapping nearest to p. */
static struct text context_of(const void *p)
{
    const struct emu_worker *w = ompgpu_emu_worker;
    const struct ompgpu_emu_thread *t = &w->current->pub;
    struct text c;
    struct emu_block b;
    int n = snprintf(c.s, sizeof c.s, " (team %u, thread %u)", t->team, t->tid);
    if (p && is_of_heap(p, &b))
        snprintf(c.s + n, sizeof c.s - (size_t)n,
                 "; byte %zu of a block of malloc in a region, which has %zu bytes",
                 (size_t)((uintptr_t)p - b.range.begin), b.size);
    else if (p)
        ompgpu_nearest_on(&ompgpu_emu_plugin, w->launch->ordinal, (uintptr_t)p, c.s + n,
                          sizeof c.s - EMU_SEED_TEXT - (size_t)n);
    ompgpu_emu_add_seed(w->launch, c.s, sizeof c.s);
    return c;
}

/* The variable in team-shared memory that has p, or lies next before it; NULL: none does. */
static const struct ompgpu_emu_object *object_at(const void *p)
{
    const struct emu_worker *w = ompgpu_emu_worker;
    const struct emu_module *m = w->shared ? w->launch->module : NULL;
    const struct ompgpu_emu_object *o = m ? m->objects : NULL, *found = NULL;
    uint64_t at = (uint64_t)((const char *)p - w->shared);
    for (; o && at < m->storage_bytes && o->end; o++)
        found = o->begin <= at ? o : found;
    return found;
}

static void report_beside(const void *p, size_t size, const struct ompgpu_emu_object *o,
                          struct ompgpu_emu_site *s)
{
    struct ompgpu_where where = where_of(s);
    ompgpu_check_report(OMPGPU_CHECK_ADDRESS, &where,
                        "%s of %zu bytes at byte %zu of %s%s%s, which has %zu bytes, and which the "
                        "team shares%s",
                        verb_of(s), size,
                        (size_t)((const char *)p - ompgpu_emu_worker->shared - o->begin),
                        *o->name ? "'" : "a variable", o->name, *o->name ? "'" : "",
                        (size_t)(o->end - o->begin), context_of(NULL).s);
}

/* A variable of the region's, in team-shared memory or in the team heap. */
static bool is_of_team(const void *p)
{
    struct emu_block b;
    return !ompgpu_emu_is_memory(p) ||
           (ompgpu_emu_memory_block(ompgpu_emu_worker->launch->memory, p, &b) && b.trusted);
}

/* Room after a variable, or before one. */
static bool report_guard(const void *p, size_t size, struct ompgpu_emu_site *s)
{
    struct emu_object o;
    struct ompgpu_where where = where_of(s);
    if (!ompgpu_emu_object_near(p, size, &o))
        return false;
    ompgpu_check_report(
        OMPGPU_CHECK_ADDRESS, &where, "%s of %zu bytes at byte %lld of %s, which has %zu bytes%s",
        verb_of(s), size, (long long)((uintptr_t)p - o.begin), o.what, o.size, context_of(NULL).s);
    return true;
}

static void report_address(const void *p, size_t size, enum emu_shadow state,
                           struct ompgpu_emu_site *s)
{
    static const char *const whose[] = {
        [EMU_GUARD] =
            "that belongs to no mapping or allocation; a longer section in map covers more",
        [EMU_FREED] = "that has been freed; it must last until the region has ended"
    };
    struct ompgpu_where where = where_of(s);
    struct emu_block b;
    if (!is_first(s, OMPGPU_CHECK_ADDRESS))
        return;
    if (object_at(p))
        report_beside(p, size, object_at(p), s);
    else if (state == EMU_GUARD && report_guard(p, size, s))
        return;
    else if (state == EMU_FREED && is_of_team(p))
        ompgpu_check_report(OMPGPU_CHECK_ADDRESS, &where,
                            "%s of %zu bytes of a variable that no longer exists: its block has "
                            "ended%s",
                            verb_of(s), size, context_of(NULL).s);
    else if (state == EMU_GUARD && is_of_heap(p, &b))
        ompgpu_check_report(OMPGPU_CHECK_ADDRESS, &where, "%s of %zu bytes at %p%s", verb_of(s),
                            size, p, context_of(p).s);
    else
        ompgpu_check_report(OMPGPU_CHECK_ADDRESS, &where, "%s of %zu bytes at %p, memory %s%s",
                            verb_of(s), size, p, whose[state], context_of(p).s);
}

static void report_misaligned(const void *p, size_t size, struct ompgpu_emu_site *s)
{
    struct ompgpu_where where = where_of(s);
    if (ompgpu_checks(OMPGPU_CHECK_ADDRESS) && is_first(s, OMPGPU_CHECK_ADDRESS))
        ompgpu_check_report(OMPGPU_CHECK_ADDRESS, &where,
                            "misaligned %s of %zu bytes at %p: a GPU accesses objects of this type "
                            "at multiples of %u%s",
                            verb_of(s), size, p, 1u << (s->flags >> OMPGPU_EMU_ALIGN_SHIFT),
                            context_of(p).s);
}

static const char *what_defines(const void *p)
{
    struct emu_block b;
    int ordinal = ompgpu_emu_worker->launch->ordinal;
    return is_of_heap(p, &b) ? "a block of malloc has no values at first"
           : ompgpu_is_allocation_on(&ompgpu_emu_plugin, ordinal, (uintptr_t)p)
               ? "omp_target_memcpy copies to it, its first argument"
               : "map(to:) and map(tofrom:) copy them";
}

static void report_uninit(const void *p, size_t size, struct ompgpu_emu_site *s)
{
    struct ompgpu_where where = where_of(s);
    if (!is_first(s, OMPGPU_CHECK_UNINIT))
        return;
    const char *name = *s->object || !object_at(p) ? s->object : object_at(p)->name;
    if (is_of_team(p))
        ompgpu_check_report(OMPGPU_CHECK_UNINIT, &where,
                            "read of %zu bytes of %s%s%s, which the team shares and has not "
                            "written%s",
                            size, *name ? "'" : "a variable", name, *name ? "'" : "",
                            context_of(NULL).s);
    else
        ompgpu_check_report(OMPGPU_CHECK_UNINIT, &where,
                            "read of %zu bytes at %p, which were neither copied to the device nor "
                            "written there; %s%s",
                            size, p, what_defines(p), context_of(p).s);
}

static void report_outdated(const void *p, size_t size, struct ompgpu_emu_site *s)
{
    struct ompgpu_where where = where_of(s);
    if (is_first(s, OMPGPU_CHECK_STALE))
        ompgpu_check_suspect(&where,
                             "read of %zu bytes at %p, which the host has changed since they were "
                             "copied to the device; 'target update to(…)' after the change%s",
                             size, p, context_of(p).s);
}

/* The worst that is known of the bytes; *same: all of them are. */
static enum emu_shadow worst_of(const unsigned char *shadow, size_t size, bool *same)
{
    enum emu_shadow worst = EMU_DEFINED, least = EMU_FREED;
    for (size_t i = 0; i < size; i++) {
        worst = shadow[i] > worst ? shadow[i] : worst;
        least = shadow[i] < least ? shadow[i] : least;
    }
    *same = worst == least;
    return worst;
}

static bool is_misaligned(const void *p, const struct ompgpu_emu_site *s)
{
    return ((uintptr_t)p & ((1u << (s->flags >> OMPGPU_EMU_ALIGN_SHIFT)) - 1)) != 0;
}

/* Kernels mostly write an array from its begin to its end, several teams at a time: what is well
 * before the place that they have reached is defined, and its shadow costs no memory again. */
static void drop_written(const char *p, size_t size)
{
    enum { PIECE = 1 << 16 };
    struct emu_block b;
    const char *end = p + size, *from = end - 2 * PIECE;
    if ((uintptr_t)end % PIECE == 0 &&
        ompgpu_emu_memory_block(ompgpu_emu_worker->launch->memory, p, &b) &&
        (uintptr_t)from >= b.range.begin && ompgpu_emu_shadow_defined(from, PIECE) == PIECE)
        ompgpu_emu_shadow_drop((void *)from, PIECE);
}

/* Nearly always: in words, as that is quick. */
static bool is_defined(const unsigned char *shadow, size_t size)
{
    uint64_t any = 0, word;
    for (; size >= sizeof word; shadow += sizeof word, size -= sizeof word) {
        memcpy(&word, shadow, sizeof word);
        any |= word;
    }
    for (; size; size--)
        any |= *shadow++;
    return !any;
}

static void look_closer(void *p, size_t size, struct ompgpu_emu_site *s)
{
    bool same;
    enum emu_shadow worst = worst_of(ompgpu_emu_shadow_of(p), size, &same);
    bool trusted = s->flags & OMPGPU_EMU_TRUSTED;
    if (worst > EMU_UNDEFINED && !trusted)
        report_address(p, size, worst, s);
    else if (is_misaligned(p, s) && !trusted)
        report_misaligned(p, size, s);
    if (worst == EMU_OUTDATED && s->flags & OMPGPU_EMU_READS)
        report_outdated(p, size, s);
    /* where only some are, the others are the bytes between a struct's members */
    if (worst == EMU_UNDEFINED && same && s->flags & OMPGPU_EMU_READS)
        report_uninit(p, size, s);
    if (s->flags & OMPGPU_EMU_WRITES) {
        ompgpu_emu_shadow_define(p, size);
        drop_written(p, size);
    }
}

void ompgpu_emu_check(void *p, size_t size, struct ompgpu_emu_site *s)
{
    if (!ompgpu_emu_keeps_shadow(p) || !ompgpu_emu_shadowed() ||
        (!ompgpu_emu_keeps_values(p) && s->flags & OMPGPU_EMU_TRUSTED))
        return;
    if (!is_defined(ompgpu_emu_shadow_of(p), size) || is_misaligned(p, s))
        look_closer(p, size, s);
}

/* A struct may have members without a value; they have none in the copy. */
void ompgpu_emu_check_copy(void *to, const void *from, size_t size, struct ompgpu_emu_site *s)
{
    bool same;
    if (!ompgpu_emu_shadowed())
        return;
    enum emu_shadow worst = ompgpu_emu_keeps_shadow(from)
                                ? worst_of(ompgpu_emu_shadow_of(from), size, &same)
                                : EMU_DEFINED;
    if (worst > EMU_UNDEFINED && !(s->flags & OMPGPU_EMU_TRUSTED))
        report_address(from, size, worst, s);
    if (worst == EMU_OUTDATED)
        report_outdated(from, size, s);
    ompgpu_emu_check(to, size, s);
    if (worst <= EMU_UNDEFINED && ompgpu_emu_keeps_values(to) &&
        worst_of(ompgpu_emu_shadow_of(to), size, &same) <= EMU_UNDEFINED)
        ompgpu_emu_shadow_copy(to, from, size);
}

/* May the function read that byte?  Variables of an image have no shadow. */
static bool is_readable(const char *p)
{
    bool same;
    return ompgpu_emu_keeps_shadow(p) ? worst_of(ompgpu_emu_shadow_of(p), 1, &same) == EMU_DEFINED
                                      : ompgpu_emu_outside((void *)p) == p;
}

/* How many bytes a text has, with its end, of `most`; up to the first that may not be used. */
static size_t text_size(const char *p, size_t most)
{
    size_t n = 0;
    while (n < most && is_readable(p + n))
        if (!p[n++])
            return n;
    return n < most ? n + 1 : n;
}

/* The last byte may be the only one without a value. */
static void check_and_race(const char *p, size_t size, struct ompgpu_emu_site *s)
{
    if (!size)
        return;
    ompgpu_emu_check((void *)p, size, s);
    if (s->flags & OMPGPU_EMU_READS)
        ompgpu_emu_check((void *)(p + size - 1), 1, s);
    ompgpu_emu_race((void *)p, size, s, 0);
}

void ompgpu_emu_check_text(void *to, const void *from, size_t most, unsigned how,
                           struct ompgpu_emu_site *reads, struct ompgpu_emu_site *writes)
{
    if (!ompgpu_emu_shadowed())
        return;
    size_t n = how == OMPGPU_EMU_TEXT_BYTES ? most : text_size(from, most), has = 0;
    check_and_race(from, n, reads);
    if (how == OMPGPU_EMU_TEXT_APPENDED) {
        has = text_size(to, SIZE_MAX);
        check_and_race(to, has, reads);
        has -= has > 0; /* the end is overwritten */
    }
    if (writes)
        check_and_race((char *)to + has, how == OMPGPU_EMU_TEXT_PADDED ? most : n, writes);
}

void ompgpu_emu_check_bounds(uint64_t offset, struct ompgpu_emu_site *s)
{
    struct ompgpu_where where = where_of(s);
    if (!ompgpu_checks(OMPGPU_CHECK_ADDRESS))
        return;
    if (is_first(s, OMPGPU_CHECK_ADDRESS))
        ompgpu_check_report(OMPGPU_CHECK_ADDRESS, &where,
                            "%s at byte %lld of '%s', which has %llu bytes%s", verb_of(s),
                            (long long)offset, s->object, (unsigned long long)s->object_size,
                            context_of(NULL).s);
    if (s->flags & OMPGPU_EMU_WRITES)
        ompgpu_emu_thread_fail(ompgpu_emu_worker,
                               "a store outside of '%s' would overwrite what is beside it",
                               s->object);
}

/* clang does not name an array of variable length. */
void ompgpu_emu_unwritten(struct ompgpu_emu_site *s)
{
    struct ompgpu_where where = where_of(s);
    const bool named = *s->object;
    char name[200] = "an array of variable length";
    if (named)
        snprintf(name, sizeof name, "'%.190s'", s->object);
    if (ompgpu_checks(OMPGPU_CHECK_UNINIT) && is_first(s, OMPGPU_CHECK_UNINIT))
        ompgpu_check_report(OMPGPU_CHECK_UNINIT, &where,
                            "read of %s before it has a value; a private copy has the original's "
                            "with firstprivate(%.190s)%s",
                            name, named ? s->object : "its name", context_of(NULL).s);
}

void ompgpu_emu_written(void *p)
{
    struct emu_block b;
    const struct emu_worker *w = ompgpu_emu_worker;
    size_t offset = (size_t)((char *)p - w->shared);
    if (w->shared && offset < w->launch->shared_bytes)
        ompgpu_emu_shadow_define(p, w->launch->shared_bytes - offset);
    if (ompgpu_emu_is_memory(p) && ompgpu_emu_memory_block(w->launch->memory, p, &b))
        ompgpu_emu_shadow_define((void *)b.range.begin, b.size);
}

/* Each thread of a kernel may ask. */
struct ompgpu_emu_extent ompgpu_emu_extent(const void *p)
{
    struct emu_worker *w = ompgpu_emu_worker;
    struct emu_known *k = &w->known[((uintptr_t)p >> 8 ^ (uintptr_t)p >> 16) % EMU_KNOWN];
    if (k->p != p)
        *k = (struct emu_known){ p, ompgpu_emu_memory_extent(w->launch->memory, p) };
    struct ompgpu_emu_extent x = k->extent;
    x.apart = w->launch->beside ? 0 : x.size;
    return x;
}

/* What would order them, as far as can be told. */
static const char *remedy_for(const struct ompgpu_emu_site *a, const struct ompgpu_emu_site *b,
                              bool same_team, bool beside)
{
    if (beside)
        return "; depend(...) on both, or a taskwait between them, orders regions with nowait";
    if ((a->flags ^ b->flags) & OMPGPU_EMU_ATOMIC)
        return "; both have to be atomic";
    if (!same_team && a->line == b->line && strcmp(a->file, b->file) == 0)
        return "; reduction(...) or atomic for what several teams update: critical and locks order "
               "the threads of one team; private(...) for a temporary";
    if (a->line == b->line && strcmp(a->file, b->file) == 0)
        return "; reduction(...) or atomic for what several threads update, private(...) for a "
               "temporary";
    return same_team ? "; a barrier between them would order them; reduction(...) or atomic for "
                       "what several threads update"
                     : "; only the end of a region orders what teams do, not critical or locks; "
                       "reduction(...) or atomic for what several teams update";
}

/* After a macro no column is known. */
static struct text place_of(const struct ompgpu_emu_site *s)
{
    struct text place;
    struct ompgpu_where w = where_of(s);
    int n = snprintf(place.s, sizeof place.s, "%.120s:%u", w.file, w.line);
    if (w.column)
        snprintf(place.s + n, sizeof place.s - (size_t)n, ":%u", w.column);
    return place;
}

void ompgpu_emu_report_race(const void *p, size_t size, struct ompgpu_emu_site *s,
                            struct ompgpu_emu_site *other, const struct emu_accessor *by)
{
    bool same_team =
        !by->several && !by->beside && ompgpu_emu_worker->current->pub.team == by->team;
    const bool either = by->several && !by->beside && ompgpu_emu_worker->launch->beside;
    char whom[64] = "several teams";
    struct ompgpu_where where = where_of(s);
    bool memory = ompgpu_emu_is_memory(p);
    const struct ompgpu_emu_object *o = object_at(p);
    if (!is_first_race(s, other))
        return;
    if (!by->several)
        snprintf(whom, sizeof whom, "team %u, thread %u", by->team, by->thread);
    ompgpu_check_report(
        OMPGPU_CHECK_RACE, &where,
        "race: %s of %zu bytes at %p in %s memory%s%s%s; nothing orders it with "
        "%s %s by %s at %s%s%s%s",
        verb_of(s), size, p,
        memory ? "device"
        : o    ? "team-shared"
               : "static",
        o && *o->name ? ", '" : "", o ? o->name : "", o && *o->name ? "'" : "",
        other->flags & OMPGPU_EMU_ATOMIC ? "an" : "a", verb_of(other), whom, place_of(other).s,
        by->beside ? " in a region that may run at the same time"
        : either   ? ", or by a region that may run at the same time"
                   : "",
        remedy_for(s, other, same_team, by->beside), context_of(memory ? p : NULL).s);
}

/* ------------------------------------------------------------------ a copy that races */
static const char *name_of(enum emu_direction d)
{
    return d == EMU_TO_DEVICE     ? "copy to the device"
           : d == EMU_FROM_DEVICE ? "copy from the device"
                                  : "copy within the device";
}

/* "a write of 4 bytes at app.c:12:8"; column 0: not known */
static struct text describe_access(const struct ompgpu_emu_site *s, size_t size)
{
    struct text t;
    int n = snprintf(t.s, sizeof t.s, "%s %s of %zu bytes at %.120s:%u",
                     s->flags & OMPGPU_EMU_ATOMIC ? "an" : "a", verb_of(s), size, s->file, s->line);
    if (s->column)
        snprintf(t.s + n, sizeof t.s - (size_t)n, ":%u", s->column);
    return t;
}

static struct text describe_copy(const struct emu_copier *p)
{
    struct text t;
    int n = snprintf(t.s, sizeof t.s, "the %s by %.60s", name_of(p->direction),
                     p->where.directive ? p->where.directive : "a region");
    if (p->where.file)
        snprintf(t.s + n, sizeof t.s - (size_t)n, " at %.120s:%u", p->where.file, p->where.line);
    return t;
}

static bool is_first_of(struct emu_copier *p)
{
    return !__atomic_exchange_n(&p->reported, 1, __ATOMIC_RELAXED);
}

void ompgpu_emu_report_changed(struct emu_copier *c, const void *src, size_t size)
{
    if (!__atomic_exchange_n(&c->changed, 1, __ATOMIC_RELAXED))
        ompgpu_check_report(OMPGPU_CHECK_RACE, &c->where,
                            "race: the host has changed some of the %zu bytes at %p before the "
                            "copy to the device has read them; 'taskwait' before the change",
                            size, src);
}

static const char order_copies[] =
    "; depend(...) on both, or a taskwait between them, orders constructs with nowait";

void ompgpu_emu_report_transfer(const void *p, size_t size, struct ompgpu_emu_site *s,
                                struct emu_copier *by, bool later)
{
    char nearest[512] = "";
    if (!later) {
        struct ompgpu_where where = where_of(s);
        if (is_first(s, OMPGPU_CHECK_RACE) && is_first_of(by))
            ompgpu_check_report(OMPGPU_CHECK_RACE, &where,
                                "race: %s of %zu bytes at %p in device memory; nothing orders it "
                                "with %s%s%s",
                                verb_of(s), size, p, describe_copy(by).s, order_copies,
                                context_of(p).s);
        return;
    }
    if (!is_first_of(by) || (s && !is_first(s, OMPGPU_CHECK_RACE)))
        return;
    ompgpu_nearest_on(&ompgpu_emu_plugin, ompgpu_emu_owner(p), (uintptr_t)p, nearest,
                      sizeof nearest);
    ompgpu_check_report(OMPGPU_CHECK_RACE, &by->where,
                        "race: %s, at %p; nothing orders it with %s%s%s", name_of(by->direction), p,
                        s ? describe_access(s, size).s : "another copy", order_copies, nearest);
}
