/* race.c - OMPGPU_CHECK=race: two accesses of different threads to the same bytes, one of which
 * writes, race unless something orders them or both are atomic.
 *
 * A cell for each word of memory keeps who accessed it last, as a phase and a thread.  A phase is a
 * time between two synchronisations of a team, of a warp or of a thread; a number stands for it:
 *
 *   barrier            the threads of the team begin a new phase, after those before
 *   warp operation     those of the warp do
 *   fence              the thread does; what it did before is released, and it acquires what others
 *                      have released so far (critical constructs, locks, flush and ordered
 * atomics). The fences of critical constructs and locks are for the team only, since OpenMP binds
 * them to it; other teams get what they release with the next other fence or atomic access of the
 * team
 *   end of a kernel    all phases before are over, for kernels that come after it (order.c)
 *   copy               a phase of its own, as if it were a kernel of one thread (transfer.c)
 *
 * So one record a cell is enough: within a phase, an earlier write or the first reader stands for
 * what came later.  `many` says that several threads have read, so that any write races.
 *
 * What a fence acquires is not looked up by the location that hands it on.  So a race may be missed
 * that other synchronisation of the same threads covers by accident; none is reported that is not
 * there.  A store of what is in memory already is none: threads that all set a flag are common. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "hostrt/emu/emu.h"

typedef uint64_t cell; /* as in hostrt/plugin.h */
enum { PHASES = 1 << (32 - OMPGPU_EMU_PHASE_SHIFT), WORD = 4 };
enum {
    READ = OMPGPU_EMU_READ,
    READ_BY_MANY = OMPGPU_EMU_READ_BY_MANY,
    WRITE = OMPGPU_EMU_WRITE,
    ATOMIC = OMPGPU_EMU_UPDATE
};
struct record {
    unsigned phase;
    unsigned thread; /* of what several teams have read: which bytes */
    unsigned part;
    enum ompgpu_emu_last kind;
    uint32_t site;
};

/* When each thread of a phase ended its part of it, for its team and for all; 0: not yet. */
struct released {
    struct released *next;
    uint32_t to_team[EMU_MAX_THREADS], to_all[EMU_MAX_THREADS];
};
struct phase {
    uint32_t launch, team, barriers; /* of the team so far */
    uint32_t time, slot;             /* of the kernel */
    const struct emu_module *module; /* NULL: of a copy, or it has been unloaded */
    struct emu_copier *copier;       /* of a copy; NULL: of a kernel */
    uint32_t operations;             /* of the warp since the last barrier */
    uint32_t before;                 /* the team's phase before this one */
    /* when a thread of the team first released to all, after this phase; 0: not yet */
    _Atomic uint32_t released_later;
    /* of a phase of one thread: when it ended */
    _Atomic uint32_t alone_to_team, alone_to_all;
    _Atomic(struct released *) released;
    bool held; /* in the team's list of what is released to the team only, before: */
    uint32_t next_held;
};
static struct phase *phases;        /* [PHASES]; NULL: races are not looked for */
static _Atomic uint32_t last_phase; /* given out */
static _Atomic uint32_t launches, running, releases;
static _Atomic(struct released *) kept;                         /* of the kernels that run */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* a kernel begins or ends */
static pthread_mutex_t copies_lock = PTHREAD_MUTEX_INITIALIZER; /* a copy is looked at */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ------------------------------------------------------------------ beginning */
static const size_t all = OMPGPU_EMU_WINDOW_BYTES / WORD * sizeof(cell);
static void *const cells_at = (void *)OMPGPU_EMU_CELLS;

/* Of a word in the window. */
static cell *cell_of(uintptr_t word)
{
    return (cell *)cells_at + (word - OMPGPU_EMU_WINDOW) / WORD;
}

static void *map_zeros(void *at, size_t size)
{
    void *p =
        mmap(at, size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (p != MAP_FAILED && (!at || p == at))
        madvise(p, size, MADV_DONTDUMP), madvise(p, size, MADV_HUGEPAGE);
    return p == MAP_FAILED || (at && p != at) ? NULL : p;
}

static void start(void)
{
    if (!ompgpu_checks(OMPGPU_CHECK_RACE) || !ompgpu_emu_shadow_start() ||
        !map_zeros(cells_at, all))
        return;
    phases = map_zeros(NULL, PHASES * sizeof *phases);
}

bool ompgpu_emu_race_start(void)
{
    pthread_once(&once, start);
    return phases;
}

bool ompgpu_emu_race_looked_for(void) { return phases; }

/* Numbers come to an end: all is forgotten then, when no other kernel runs. */
static void forget_all(void)
{
    madvise(phases, PHASES * sizeof *phases, MADV_DONTNEED);
    madvise(cells_at, all, MADV_DONTNEED);
    atomic_store(&last_phase, 0);
}

static void begin_running(void)
{
    pthread_mutex_lock(&lock);
    if (atomic_fetch_add(&running, 1) == 0 && atomic_load(&last_phase) > PHASES / 2)
        forget_all();
    pthread_mutex_unlock(&lock);
}

/* Nobody asks when one kernel has released what to another. */
static void end_running(void)
{
    pthread_mutex_lock(&lock);
    if (atomic_fetch_sub(&running, 1) == 1)
        for (struct released *r = atomic_exchange(&kept, NULL), *next; r; r = next) {
            next = r->next;
            ompgpu_xfree(r);
        }
    pthread_mutex_unlock(&lock);
}

void ompgpu_emu_race_begin(struct emu_launch *l)
{
    if (!phases)
        return;
    begin_running();
    if (!ompgpu_emu_moment)
        ompgpu_emu_order_alone(&l->own);
    l->moment = ompgpu_emu_moment ? ompgpu_emu_moment : &l->own;
    ompgpu_emu_moment = NULL; /* what is launched meanwhile is another */
    l->race = 1 + atomic_fetch_add(&launches, 1);
    uint32_t first = atomic_load(&last_phase) + 1;
    l->floor = ompgpu_emu_order_begin(l->moment, first, &l->beside);
}

void ompgpu_emu_race_end(const struct emu_launch *l)
{
    if (!phases)
        return;
    if (l->moment == &l->own)
        ompgpu_emu_order_end(l->moment);
    end_running();
}

/* Its accesses are known by their distance from others in it. */
void ompgpu_emu_race_unload(const struct emu_module *m)
{
    for (uint32_t i = 1; phases && i <= atomic_load(&last_phase) && i < PHASES; i++)
        if (phases[i].module == m)
            phases[i].module = NULL;
}

void ompgpu_emu_race_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE) {
        pthread_mutex_lock(&copies_lock);
        pthread_mutex_lock(&lock);
    }
    if (when == OMPGPU_FORK_CHILD)
        atomic_store(&running, 0);
    ompgpu_emu_transfer_fork(when);
    ompgpu_emu_order_fork(when);
    if (when != OMPGPU_FORK_BEFORE) {
        pthread_mutex_unlock(&lock);
        pthread_mutex_unlock(&copies_lock);
    }
}

/* The memory is no longer there. */
void ompgpu_emu_race_drop(void *p, size_t size)
{
    if (phases && ompgpu_emu_is_memory(p))
        madvise(cell_of((uintptr_t)p), size / WORD * sizeof(cell), MADV_DONTNEED);
}

/* Memory that was another's before. */
void ompgpu_emu_race_forget(void *p, size_t size)
{
    if (phases && ompgpu_emu_is_memory(p))
        memset(cell_of((uintptr_t)p), 0, (size + WORD - 1) / WORD * sizeof(cell));
}

/* ------------------------------------------------------------------ phases */
static void begin_team(struct emu_worker *w, unsigned team)
{
    struct emu_order *o = w->order;
    memset(o, 0, sizeof *o);
    o->launch = w->launch->race;
    o->moment = w->launch->moment;
    o->team = team;
    o->floor = w->launch->floor;
    o->team_floor = atomic_load(&last_phase) + 1;
}

/* 0: there is none left. */
static uint32_t next_phase(void)
{
    uint32_t n = atomic_fetch_add(&last_phase, 1) + 1;
    if (n < PHASES)
        return n;
    atomic_store(&last_phase, PHASES);
    return 0;
}

static uint32_t new_phase(struct emu_order *o, uint32_t operations)
{
    const struct emu_moment *m = o->moment;
    uint32_t n = next_phase();
    if (!n)
        return 0;
    phases[n] = (struct phase){ .launch = o->launch,
                                .team = o->team,
                                .barriers = o->barriers,
                                .time = m->time,
                                .slot = m->slot,
                                .module = ompgpu_emu_worker->launch->module,
                                .operations = operations,
                                .before = o->latest };
    return o->latest = n;
}

static uint32_t phase_of(struct emu_order *o, unsigned thread)
{
    unsigned warp = thread / EMU_WARP;
    uint32_t *p = o->thread[thread]     ? &o->thread[thread]
                  : o->operations[warp] ? &o->warp[warp]
                                        : &o->phase;
    return *p ? *p : (*p = new_phase(o, o->operations[warp]));
}

void ompgpu_emu_race_barrier(struct emu_worker *w)
{
    struct emu_order *o = w->order;
    if (!phases || !o)
        return;
    o->barriers++;
    o->phase = 0;
    memset(o->warp, 0, sizeof o->warp);
    memset(o->operations, 0, sizeof o->operations);
    if (o->fenced)
        memset(o->thread, 0, sizeof o->thread);
    o->fenced = false;
    o->acquired_by_all = o->acquired_by_any;
    /* a single team: what came before the barrier is as if it were another kernel's */
    o->team_floor = atomic_load(&last_phase) + 1;
    if (w->launch->teams == 1 && !w->launch->beside && atomic_load(&launches) == o->launch)
        o->floor = o->team_floor;
    for (unsigned i = 0; i < w->nthreads; i++)
        w->threads[i].pub.stamp = 0;
}

static struct emu_acquired latest_of(struct emu_acquired a, struct emu_acquired b)
{
    return (struct emu_acquired){ .of_team = a.of_team > b.of_team ? a.of_team : b.of_team,
                                  .of_all = a.of_all > b.of_all ? a.of_all : b.of_all };
}

void ompgpu_emu_race_warp(struct emu_worker *w, unsigned warp, uint32_t lanes)
{
    struct emu_order *o = w->order;
    if (!phases || !o)
        return;
    o->operations[warp]++;
    o->warp[warp] = 0;
    struct emu_acquired most = { 0 };
    for (unsigned i = 0; i < EMU_WARP; i++)
        if (lanes >> i & 1)
            most = latest_of(most, o->acquired[warp * EMU_WARP + i]);
    for (unsigned i = 0; i < EMU_WARP; i++)
        if (lanes >> i & 1) {
            unsigned thread = warp * EMU_WARP + i;
            o->thread[thread] = 0, o->acquired[thread] = most;
            w->threads[thread].pub.stamp = 0;
        }
}

/* The order of the team that runs. */
static struct emu_order *order_of(struct emu_worker *w)
{
    struct emu_order *o = w->order;
    unsigned team = w->current->pub.team;
    if (!o && !(o = w->order = ompgpu_xalloc(sizeof *o)))
        return NULL;
    if (o->launch != w->launch->race || o->team != team)
        begin_team(w, team);
    return o;
}

/* The phases of the team before p are released, too. */
static void release_earlier(uint32_t p, uint32_t now)
{
    uint32_t barriers = phases[p].barriers;
    for (p = phases[p].before; p; p = phases[p].before) {
        if (phases[p].barriers == barriers)
            continue;
        if (atomic_load(&phases[p].released_later))
            return;
        atomic_store(&phases[p].released_later, now);
    }
}

/* NULL: there is no memory for it. */
static struct released *released_of(uint32_t p)
{
    struct released *r = atomic_load(&phases[p].released);
    if (r || !(r = ompgpu_xalloc(sizeof *r)))
        return r;
    r->next = atomic_load(&kept);
    while (!atomic_compare_exchange_weak(&kept, &r->next, r))
        ;
    atomic_store(&phases[p].released, r);
    return r;
}

static void set_once(_Atomic uint32_t *at, uint32_t now)
{
    if (!atomic_load(at))
        atomic_store(at, now);
}

/* What the team's threads released to the team is released to all. */
static void release_held(struct emu_order *o, uint32_t now)
{
    for (uint32_t p = o->held; p; p = phases[p].next_held) {
        struct released *r = atomic_load(&phases[p].released);
        phases[p].held = false;
        if (!r)
            set_once(&phases[p].alone_to_all, now);
        for (unsigned i = 0; r && i < EMU_MAX_THREADS; i++)
            if (r->to_team[i] && !r->to_all[i])
                __atomic_store_n(&r->to_all[i], now, __ATOMIC_RELEASE);
    }
    o->held = 0;
}

static void hold(struct emu_order *o, uint32_t p)
{
    if (phases[p].held)
        return;
    phases[p].held = true;
    phases[p].next_held = o->held;
    o->held = p;
}

static void release_own(struct emu_order *o, unsigned thread, uint32_t p, uint32_t now)
{
    struct released *r;
    if (o->thread[thread] == p)
        set_once(&phases[p].alone_to_team, now);
    else if ((r = released_of(p)) && !r->to_team[thread])
        __atomic_store_n(&r->to_team[thread], now, __ATOMIC_RELEASE);
    hold(o, p);
    o->thread[thread] = new_phase(o, phases[p].operations);
}

static void acquire(struct emu_order *o, unsigned thread, bool in_team)
{
    uint32_t now = atomic_load(&releases);
    struct emu_acquired *mine = &o->acquired[thread];
    mine->of_team = now;
    if (!in_team)
        mine->of_all = o->acquired_by_any = now;
    /* what a thread of the team knew when it released, the next one knows */
    if (mine->of_all < o->handed_on)
        mine->of_all = o->handed_on;
    o->handed_on = mine->of_all;
}

/* An atomic access after a critical construct, or before one, may be what hands on between teams.
 */
void ompgpu_emu_fenced(void)
{
    struct emu_worker *w = ompgpu_emu_worker;
    struct emu_order *o = phases ? order_of(w) : NULL;
    if (!o)
        return;
    unsigned thread = w->current->pub.tid;
    bool in_team = o->in_team[thread] && !o->atomic[thread];
    uint32_t p = phase_of(o, thread);
    if (!p)
        return;
    uint32_t now = atomic_fetch_add(&releases, 1) + 1;
    /* before its first fence, what it accessed is not known */
    if (o->accessed[thread] || !o->thread[thread]) {
        if (!in_team)
            release_earlier(p, now);
        release_own(o, thread, p, now);
        o->accessed[thread] = false;
    }
    if (!in_team)
        release_held(o, now);
    o->fenced = true;
    w->current->pub.stamp = 0;
    acquire(o, thread, in_team);
}

void ompgpu_emu_in_team(bool is)
{
    struct emu_worker *w = ompgpu_emu_worker;
    struct emu_order *o = phases ? order_of(w) : NULL;
    if (o)
        o->in_team[w->current->pub.tid] = is;
}

static void note_atomic(struct emu_order *o, unsigned thread)
{
    o->atomic[thread] = true;
    if (o->held)
        release_held(o, atomic_fetch_add(&releases, 1) + 1);
}

/* ------------------------------------------------------------------ what is ordered */
static bool is_at_most(uint32_t released, uint32_t acquired)
{
    return released && released <= acquired;
}

static bool is_released(const struct emu_order *o, const struct record *r, unsigned thread,
                        bool same_team)
{
    const struct phase *p = &phases[r->phase];
    const struct released *by = atomic_load(&p->released);
    struct emu_acquired mine = o->acquired[thread];
    uint32_t of_all = mine.of_all > o->acquired_by_all ? mine.of_all : o->acquired_by_all,
             to_team = by ? __atomic_load_n(&by->to_team[r->thread], __ATOMIC_ACQUIRE)
                          : atomic_load(&p->alone_to_team),
             to_all = by ? __atomic_load_n(&by->to_all[r->thread], __ATOMIC_ACQUIRE)
                         : atomic_load(&p->alone_to_all);
    return (same_team && is_at_most(to_team, mine.of_team > of_all ? mine.of_team : of_all)) ||
           is_at_most(to_all, of_all) || is_at_most(atomic_load(&p->released_later), of_all);
}

/* A kernel that waits for what others release, while they run, is thought to know what it does. */
static bool is_earlier(const struct emu_order *o, const struct phase *p, unsigned thread)
{
    return !p->slot || !o->moment->slot || o->moment->before[p->slot] >= p->time ||
           o->acquired[thread].of_all || o->acquired_by_all;
}

static bool is_ordered(const struct emu_order *o, const struct record *r, uint32_t now,
                       unsigned thread)
{
    const struct phase *p = &phases[r->phase], *c = &phases[now];
    if (p->launch != c->launch)
        return is_earlier(o, p, thread);
    if (p->team == c->team &&
        (r->thread == thread || p->barriers < c->barriers ||
         (r->thread / EMU_WARP == thread / EMU_WARP && p->operations < c->operations)))
        return true;
    return is_released(o, r, thread, p->team == c->team);
}

/* ------------------------------------------------------------------ cells */
/* Which bytes of a word: all, halves, single ones. */
static unsigned bytes_of(unsigned part)
{
    static const unsigned bytes[] = { 15, 3, 12, 1, 2, 4, 8 };
    return bytes[part];
}

static unsigned bytes_in(const struct record *r)
{
    return r->part == OMPGPU_EMU_READ_BY_TEAMS ? r->thread : bytes_of(r->part);
}

/* The first with none but these.  Of the bytes in the middle of a word, and of three, some are
 * forgotten: so none is remembered that was not accessed. */
static unsigned part_of(unsigned bytes)
{
    unsigned part = 0;
    while (bytes_of(part) & ~bytes)
        part++;
    return part;
}

static struct record unpack(cell c)
{
    uint32_t low = (uint32_t)c;
    return (struct record){ .phase = low >> OMPGPU_EMU_PHASE_SHIFT,
                            .thread = low >> OMPGPU_EMU_THREAD_SHIFT & (EMU_MAX_THREADS - 1),
                            .part = low >> OMPGPU_EMU_PART_SHIFT & 7,
                            .kind = low & 3,
                            .site = (uint32_t)(c >> 32) };
}

static cell pack(struct record r)
{
    return (cell)r.site << 32 | r.phase << OMPGPU_EMU_PHASE_SHIFT |
           r.thread << OMPGPU_EMU_THREAD_SHIFT | r.part << OMPGPU_EMU_PART_SHIFT | r.kind;
}

static bool is_shared(const struct emu_worker *w, uintptr_t word)
{
    return w->shared &&
           word - ((uintptr_t)w->shared & ~(uintptr_t)(WORD - 1)) < w->launch->shared_bytes;
}

/* NULL: nobody but the thread itself uses this memory, or it is not known.  w NULL: a copy. */
static cell *find_cell(const struct emu_worker *w, uintptr_t word)
{
    if (ompgpu_emu_is_memory((void *)word) || (w && is_shared(w, word)))
        return cell_of(word);
    return w ? ompgpu_emu_image_cell(w->launch->module, word) : NULL;
}

struct access {
    struct emu_worker *w; /* NULL: a copy, which has no site */
    struct emu_copier *copier;
    struct emu_order *order;
    struct ompgpu_emu_site *site;
    void *p;
    size_t size;
    unsigned thread;
    uint32_t phase;
    enum ompgpu_emu_last kind;
    bool atomic, silent; /* silent: it stores what is there */
};

static bool is_other_kernel(const struct access *a, const struct record *r)
{
    return phases[r->phase].launch != phases[a->phase].launch;
}

static bool conflicts(const struct access *a, const struct record *r, unsigned bytes)
{
    if (!(bytes_in(r) & bytes) || (a->atomic && r->kind == ATOMIC))
        return false;
    if ((a->silent && r->kind == WRITE) || (a->kind == READ && r->kind <= READ_BY_MANY))
        return false;
    if (r->part == OMPGPU_EMU_READ_BY_TEAMS && !is_other_kernel(a, r))
        return !a->order->acquired[a->thread].of_all && !a->order->acquired_by_all;
    if (r->kind == READ_BY_MANY && r->phase == a->phase)
        return true;
    return !is_ordered(a->order, r, a->phase, a->thread);
}

/* In the same image, so the distance of two sites has 32 bits. */
static struct ompgpu_emu_site *site_from(struct ompgpu_emu_site *near, uint32_t low)
{
    return (struct ompgpu_emu_site *)((char *)near + (int32_t)(low - (uint32_t)(uintptr_t)near));
}

/* The other one is a copy, or this is. */
static void report_transfer(const struct access *a, const struct record *r)
{
    const struct phase *p = &phases[r->phase];
    struct ompgpu_emu_site *image = p->module ? p->module->segment[0].base : NULL;
    if (a->w)
        ompgpu_emu_report_transfer(a->p, a->size, a->site, p->copier, false);
    else if (p->copier || image)
        ompgpu_emu_report_transfer(a->p, a->size, p->copier ? NULL : site_from(image, r->site),
                                   a->copier, true);
}

static void report(const struct access *a, const struct record *r)
{
    struct emu_block b = { .trusted = false };
    if (!a->w || phases[r->phase].copier) {
        report_transfer(a, r);
        return;
    }
    struct emu_accessor by = { phases[r->phase].team, r->thread,
                               r->part == OMPGPU_EMU_READ_BY_TEAMS, is_other_kernel(a, r) };
    if (phases[r->phase].module != a->w->launch->module)
        return; /* sites are known by their distance in one image */
    if (ompgpu_emu_is_memory(a->p))
        ompgpu_emu_memory_block(a->w->launch->memory, a->p, &b);
    if (!b.trusted)
        ompgpu_emu_report_race(a->p, a->size, a->site, site_from(a->site, r->site), &by);
}

/* Several teams have read the same bytes, or do now; also those of kernels that nothing orders. */
static bool is_read_by_teams(const struct access *a, const struct record *r, bool any,
                             unsigned bytes)
{
    if (!any || r->kind > READ_BY_MANY || a->kind != READ)
        return false;
    if (is_other_kernel(a, r))
        return (bytes_in(r) & bytes) && !is_earlier(a->order, &phases[r->phase], a->thread);
    return r->part == OMPGPU_EMU_READ_BY_TEAMS ||
           (phases[r->phase].team != phases[a->phase].team && (bytes_of(r->part) & bytes));
}

/* What the cell says afterwards. */
static struct record note(const struct access *a, const struct record *r, bool any, unsigned bytes)
{
    struct record mine = { a->phase, a->thread, part_of(bytes), a->kind,
                           (uint32_t)(uintptr_t)a->site };
    bool now = any && r->phase == a->phase;
    if ((a->atomic && a->kind == READ) ||
        (now && r->kind >= WRITE && (a->kind < WRITE || (a->atomic && r->kind == ATOMIC))))
        return any ? *r : (struct record){ 0 };
    if (is_read_by_teams(a, r, any, bytes)) {
        if (r->part == OMPGPU_EMU_READ_BY_TEAMS && !is_other_kernel(a, r))
            return *r;
        if (is_other_kernel(a, r)) /* it is named in what is said of a write */
            mine.phase = r->phase, mine.site = r->site;
        mine.part = OMPGPU_EMU_READ_BY_TEAMS;
        mine.thread = bytes_in(r) & bytes;
        mine.kind = READ_BY_MANY;
    } else if (now && r->kind <= READ_BY_MANY && a->kind == READ && r->part == mine.part &&
               (r->kind == READ_BY_MANY || r->thread != a->thread)) {
        mine = *r;
        mine.kind = READ_BY_MANY;
    }
    return mine;
}

static void visit_word(const struct access *a, uintptr_t word, unsigned bytes)
{
    cell *at = find_cell(a->w, word), was = at ? __atomic_load_n(at, __ATOMIC_RELAXED) : 0;
    struct record r = unpack(was);
    if (!at)
        return;
    /* what it was before its team's last barrier, or another team's */
    if (r.phase < a->order->team_floor && a->w && is_shared(a->w, word))
        was = 0;
    if (was && conflicts(a, &r, bytes))
        report(a, &r);
    cell is = pack(note(a, &r, was, bytes));
    if (is != was)
        __atomic_store_n(at, is, __ATOMIC_RELAXED);
}

static void visit(const struct access *a)
{
    uintptr_t p = (uintptr_t)a->p, end = p + a->size;
    for (uintptr_t word = p & ~(uintptr_t)(WORD - 1); word < end; word += WORD) {
        unsigned from = p > word ? (unsigned)(p - word) : 0,
                 to = end - word < 4 ? (unsigned)(end - word) : 4;
        visit_word(a, word, (1u << to) - (1u << from));
    }
}

static enum ompgpu_emu_last kind_of(const struct ompgpu_emu_site *s)
{
    return s->flags & OMPGPU_EMU_ATOMIC   ? s->flags & OMPGPU_EMU_WRITES ? ATOMIC : READ
           : s->flags & OMPGPU_EMU_WRITES ? WRITE
                                          : READ;
}

static void show_phase_to(struct emu_thread *t, const struct emu_order *o, uint32_t phase)
{
    t->pub.stamp = phase << OMPGPU_EMU_PHASE_SHIFT;
    t->pub.floor = o->floor << OMPGPU_EMU_PHASE_SHIFT;
    t->pub.team_floor = o->team_floor << OMPGPU_EMU_PHASE_SHIFT;
}

/* To the code that tests for itself.  Where one record serves all threads of a span, none may have
 * a phase of its own. */
static void show_phase(const struct access *a)
{
    struct emu_worker *w = a->w;
    const struct emu_order *o = a->order;
    if (w->current->pub.stamp)
        return;
    if (w->form == EMU_SPAN || a->phase != o->phase) {
        show_phase_to(w->current, o, w->form == EMU_SPAN && o->fenced ? 0 : a->phase);
        return;
    }
    for (unsigned i = 0; i < w->nthreads; i++)
        if (!o->thread[i] && !o->operations[i / EMU_WARP])
            show_phase_to(&w->threads[i], o, a->phase);
}

void ompgpu_emu_race(void *p, size_t size, struct ompgpu_emu_site *s, uint64_t value)
{
    struct emu_worker *w = ompgpu_emu_worker;
    struct emu_order *o = phases ? order_of(w) : NULL;
    if (!o)
        return;
    if (!find_cell(w, (uintptr_t)p & ~(uintptr_t)(WORD - 1)))
        return;
    struct access a = { .w = w,
                        .order = o,
                        .site = s,
                        .p = p,
                        .size = size,
                        .thread = w->current->pub.tid,
                        .kind = kind_of(s),
                        .atomic = s->flags & OMPGPU_EMU_ATOMIC };
    a.phase = phase_of(o, a.thread);
    a.silent = s->flags & OMPGPU_EMU_VALUE && memcmp(p, &value, size) == 0;
    if (!a.phase)
        return;
    o->accessed[a.thread] = true;
    if (a.atomic)
        note_atomic(o, a.thread);
    show_phase(&a);
    visit(&a);
}

/* ------------------------------------------------------------------ copies */
uint32_t ompgpu_emu_race_enter(const struct emu_moment *m, uint32_t *floor)
{
    bool beside;
    begin_running();
    uint32_t n = next_phase();
    if (!n) {
        end_running();
        return 0;
    }
    phases[n] = (struct phase){ .launch = 1 + atomic_fetch_add(&launches, 1),
                                .time = m->time,
                                .slot = m->slot,
                                .copier = m->copier };
    *floor = ompgpu_emu_order_begin(m, n, &beside);
    return n;
}

void ompgpu_emu_race_leave(void) { end_running(); }

/* Part of a word, or one that somebody has accessed whom nothing orders. */
static void copy_closely(struct access *a, const char *at, const char *value, size_t size)
{
    a->p = (void *)at, a->size = size;
    a->kind = value && memcmp(at, value, size) != 0 ? WRITE : READ;
    visit(a);
}

/* Whole words; nearly always nobody has accessed them, or only what comes before. */
static void copy_words(struct access *a, uint32_t floor, const char *at, const char *value,
                       size_t n)
{
    const cell read = pack((struct record){ .phase = a->phase, .kind = READ }),
               write = pack((struct record){ .phase = a->phase, .kind = WRITE });
    cell *c = cell_of((uintptr_t)at);
    for (size_t i = 0; i < n; i++) {
        const char *from = value ? value + i * WORD : NULL;
        cell was = __atomic_load_n(&c[i], __ATOMIC_RELAXED);
        if (was && unpack(was).phase >= floor)
            copy_closely(a, at + i * WORD, from, WORD);
        else
            __atomic_store_n(&c[i], from && memcmp(at + i * WORD, from, WORD) != 0 ? write : read,
                             __ATOMIC_RELAXED);
    }
}

/* To give a word the value that it has is to read it. */
void ompgpu_emu_race_transfer(const struct emu_transfer *t, const void *p, size_t size,
                              const void *values)
{
    static struct emu_order order; /* guarded by copies_lock; of one thread */
    const char *at = p, *value = values;
    if (!t->phase || !ompgpu_emu_is_memory(at))
        return;
    size_t head = -(uintptr_t)at % WORD;
    head = head < size ? head : size;
    size_t words = (size - head) / WORD, tail = size - head - words * WORD;
    pthread_mutex_lock(&copies_lock);
    order.moment = t->moment;
    struct access a = { .copier = t->moment->copier, .order = &order, .phase = t->phase };
    if (head)
        copy_closely(&a, at, value, head);
    copy_words(&a, t->floor, at + head, value ? value + head : NULL, words);
    if (tail)
        copy_closely(&a, at + size - tail, value ? value + size - tail : NULL, tail);
    pthread_mutex_unlock(&copies_lock);
}
