/* cells.c - who accessed a word last, and whether that is ordered with an access now.
 *
 * A cell of 4 bytes has records: the last plain write, first, and the reads and strong accesses
 * since.  A record is of the lanes of a warp that executed one instruction in one epoch.  Once a
 * smaller access has come, the cell is split into its bytes.  A cell keeps at most MOST_RECORDS; of
 * more warps that read the same word some are forgotten, which may hide a race, never invent one.
 */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/isa.h"
#include "hostrt/ptx/race/race.h"

enum { WORD = 4, MOST_RECORDS = 64, PAGE_WORDS = 1024 };
enum { WRITES = 1, STRONG = 2, WIDE = 4, MERGED = WRITES | STRONG | WIDE };
struct record {
    uint32_t team, lanes, epoch;
    uint32_t used; /* of the lanes: those whose value matters, all but for loads (loads.c) */
    unsigned char warp, flags;
    const struct instruction *i;
};
struct cell {
    unsigned n, room;
    struct record *records;
    struct cell *bytes; /* once split: WORD of them, which stand for this one */
    struct sync *sync;
};
bool ptx_racing;
static pthread_mutex_t launch_lock = PTHREAD_MUTEX_INITIALIZER;
static struct page {
    struct page *next;
    uint64_t number;
    struct cell cells[PAGE_WORDS];
} **pages, *used_pages; /* of global memory: by number; all of them */
static struct race_team *race_teams;

static void *zeroed(size_t n, size_t each)
{
    void *p = calloc(n, each);
    if (!p)
        abort();
    return p;
}

/* ------------------------------------------------------------------ cells */
static void clear_cell(struct cell *c)
{
    for (unsigned k = 0; c->bytes && k < WORD; k++)
        clear_cell(&c->bytes[k]);
    if (c->sync)
        race_forget_sync(c->sync);
    free(c->bytes);
    free(c->sync);
    free(c->records);
    *c = (struct cell){ .n = 0 };
}

static struct page **page_slot(uint64_t address)
{
    uint64_t number = (address - (uintptr_t)ptx_arena) / (PAGE_WORDS * WORD);
    if (!pages)
        pages = zeroed(ptx_arena_size / (PAGE_WORDS * WORD), sizeof *pages);
    return &pages[number];
}

static struct cell *global_cell(uint64_t address)
{
    struct page **slot = page_slot(address);
    if (!*slot) {
        *slot = zeroed(1, sizeof **slot);
        (*slot)->number = (uint64_t)(slot - pages);
        (*slot)->next = used_pages;
        used_pages = *slot;
    }
    return &(*slot)->cells[(address - (uintptr_t)ptx_arena) / WORD % PAGE_WORDS];
}

static struct cell *cell_of(const struct team *t, const unsigned char *data)
{
    if (ptx_is_global((uintptr_t)data))
        return global_cell((uintptr_t)data);
    size_t offset = (size_t)(data - t->shared);
    return offset < t->shared_size ? &t->race->shared[offset / WORD] : NULL;
}

static void split_cell(struct cell *c)
{
    if (c->bytes)
        return;
    c->bytes = zeroed(WORD, sizeof *c->bytes);
    for (unsigned k = 0; k < WORD; k++) {
        c->bytes[k] = (struct cell){ .n = c->n, .room = c->n };
        c->bytes[k].records = zeroed(c->n + 1, sizeof *c->records);
        if (c->n)
            memcpy(c->bytes[k].records, c->records, c->n * sizeof *c->records);
    }
}

/* ------------------------------------------------------------------ an access */
struct access {
    struct group *g;
    const struct instruction *i;
    unsigned lane, size;
    const unsigned char *data;
    bool silent;
    const struct order *order;
    struct record record;
};

static unsigned flags_of(const struct instruction *i)
{
    bool atomic = i->row->class == C_ATOMIC, strong = atomic || i->order != MO_WEAK;
    return (i->row->class == C_LOAD ? 0 : WRITES) |
           (strong ? STRONG | (race_is_wide(i) ? WIDE : 0) : 0);
}

static bool is_conflict(const struct record *a, const struct record *b)
{
    unsigned both = a->flags & b->flags;
    if (!((a->flags | b->flags) & WRITES))
        return false;
    return !(both & STRONG) || (a->team != b->team && !(both & WIDE));
}

/* Lanes `who` of the record and the access race. */
static struct race_team *race_team_numbered(unsigned number)
{
    struct race_team *r = race_teams;
    while (r && r->team->number != number)
        r = r->next;
    return r;
}

static void found(const struct access *x, const struct record *r, lanes who)
{
    struct team *t = x->g->warp->team;
    unsigned thread = x->g->warp->number * WARP + x->lane;
    struct race race = { .team = t,
                         .i = x->i,
                         .other = r->i,
                         .thread = thread,
                         .size = x->size,
                         .other_team = r->team,
                         .data = x->data };
    EACH_LANE(l, who) {
        race.other_thread = r->warp * WARP + l;
        if (x->i->load_slot)
            race_load_raced(t->race, x->i, thread, x->data, &race);
        else if (r->used >> l & 1)
            race_report(&race);
        else if (race_team_numbered(r->team))
            race_load_raced(race_team_numbered(r->team), r->i, race.other_thread, x->data, &race);
    }
}

static void check_records(const struct cell *c, const struct access *x)
{
    for (unsigned k = 0; k < c->n; k++) {
        const struct record *r = &c->records[k];
        if (!is_conflict(r, &x->record) || (x->silent && (r->flags & WRITES)))
            continue;
        bool mine = r->team == x->record.team && r->warp == x->record.warp;
        lanes others = mine ? r->lanes & ~x->record.lanes : r->lanes;
        if (others)
            others = race_unknown(x->order->known, r->team, r->warp, others, r->epoch);
        if (others)
            found(x, r, others);
    }
}

static struct record *new_record(struct cell *c, struct group *g)
{
    if (c->n == MOST_RECORDS)
        return &c->records[1 + ptx_random(&g->warp->team->worker->random) % (MOST_RECORDS - 1)];
    if (c->n == c->room) {
        c->room = c->room ? 2 * c->room : 1;
        c->records = realloc(c->records, c->room * sizeof *c->records);
        if (!c->records)
            abort();
    }
    return &c->records[c->n++];
}

static bool is_alike(const struct record *a, const struct record *b)
{
    return a->team == b->team && a->warp == b->warp && (a->flags & MERGED) == (b->flags & MERGED);
}

/* A plain write replaces all: what is not ordered before it has been reported. */
static void add_record(struct cell *c, const struct access *x)
{
    if ((x->record.flags & (WRITES | STRONG)) == WRITES)
        c->n = 0;
    for (unsigned k = 0; k < c->n; k++) {
        struct record *r = &c->records[k];
        if (!is_alike(r, &x->record))
            continue;
        if (r->epoch == x->record.epoch && (r->i == x->i || (r->lanes & x->record.lanes))) {
            r->lanes |= x->record.lanes;
            r->used |= x->record.used;
            return;
        }
        r->lanes &= ~x->record.lanes; /* this thread's older access says no more */
        if (!r->lanes) {
            *r = x->record;
            return;
        }
    }
    *new_record(c, x->g) = x->record;
}

static void visit(struct cell *c, const struct access *x)
{
    check_records(c, x);
    add_record(c, x);
}

static void visit_word(struct cell *c, const struct access *x, unsigned first, unsigned n)
{
    if (n < WORD)
        split_cell(c);
    if (!c->bytes) {
        visit(c, x);
        return;
    }
    for (unsigned k = first; k < first + n; k++)
        visit(&c->bytes[k], x);
}

static struct access access_by(struct group *g, const struct instruction *i, unsigned lane,
                               const unsigned char *data, unsigned size)
{
    struct order *o = race_order(g, lane);
    struct access x = { .g = g, .i = i, .lane = lane, .size = size, .data = data, .order = o };
    x.record = (struct record){ .team = g->warp->team->number,
                                .lanes = 1u << lane,
                                .used = i->load_slot ? 0 : 1u << lane,
                                .epoch = o->epoch,
                                .warp = (unsigned char)g->warp->number,
                                .flags = (unsigned char)flags_of(i),
                                .i = i };
    return x;
}

static void visit_words(const struct access *x)
{
    unsigned first = (unsigned)((uintptr_t)x->data % WORD);
    for (unsigned k = 0; k < x->size; k += WORD)
        visit_word(cell_of(x->g->warp->team, x->data + k), x, first,
                   x->size < WORD ? x->size : WORD);
}

void ptx_race_access(struct group *g, const struct instruction *i, unsigned lane,
                     const unsigned char *data, unsigned size, bool silent)
{
    struct cell *c = cell_of(g->warp->team, data);
    if (!c)
        return;
    struct access x = access_by(g, i, lane, data, size);
    x.silent = silent;
    if (i->load_slot)
        race_load_begin(g->warp->team, i, g->warp->number * WARP + lane, data, x.order->epoch);
    visit_words(&x);
    if (!(x.record.flags & STRONG))
        return;
    if (!c->sync)
        c->sync = zeroed(1, sizeof *c->sync);
    race_synchronise(g, i, lane, c->sync);
}

void ptx_race_copy(struct group *g, const struct instruction *i, unsigned lane,
                   const unsigned char *to, unsigned size, const unsigned char *from,
                   unsigned given)
{
    struct access x = access_by(g, i, lane, from, given), y = access_by(g, i, lane, to, size);
    x.record.flags = 0;
    y.record.flags = WRITES;
    if (given)
        visit_words(&x);
    visit_words(&y);
}

static void mark_cell(struct cell *c, const struct record *x)
{
    for (unsigned k = 0; c->bytes && k < WORD; k++)
        mark_cell(&c->bytes[k], x);
    for (unsigned k = 0; k < c->n; k++) {
        struct record *r = &c->records[k];
        if (is_alike(r, x) && r->epoch == x->epoch && r->i == x->i)
            r->used |= r->lanes & x->lanes;
    }
}

void race_mark_used(const struct team *t, unsigned thread, const struct load *load)
{
    const struct instruction *i = load->i;
    struct record x = { .team = t->number,
                        .lanes = 1u << thread % WARP,
                        .epoch = load->epoch,
                        .warp = (unsigned char)(thread / WARP),
                        .flags = (unsigned char)flags_of(i),
                        .i = i };
    for (unsigned k = 0; k < ptx_type_size(i->type) * i->vector; k += WORD)
        mark_cell(cell_of(t, load->data + k), &x);
}

void ptx_race_allocated(uint64_t address, size_t size)
{
    for (uint64_t at = address & ~(uint64_t)(WORD - 1); at < address + size; at += WORD)
        if (*page_slot(at))
            clear_cell(global_cell(at));
}

/* ------------------------------------------------------------------ launches and teams */
void ptx_race_launch_begin(struct launch *l)
{
    pthread_mutex_lock(&launch_lock);
    race_find_uses(l->entry->module);
}

void ptx_race_launch_end(struct launch *l)
{
    while (used_pages) {
        struct page *p = used_pages;
        used_pages = p->next;
        pages[p->number] = NULL;
        for (unsigned k = 0; k < PAGE_WORDS; k++)
            clear_cell(&p->cells[k]);
        free(p);
    }
    if (l->races && !l->error)
        l->error = CUDA_ERROR_LAUNCH_FAILED;
    pthread_mutex_unlock(&launch_lock);
}

void ptx_race_team_begin(struct team *t)
{
    t->race = zeroed(1, sizeof *t->race);
    t->race->team = t;
    t->race->next = race_teams;
    race_teams = t->race;
    t->race->clock = 1;
    t->race->loads = zeroed(t->launch->entry->module->nslots + 1, sizeof *t->race->loads);
    t->race->threads = zeroed(t->nwarps * WARP, sizeof *t->race->threads);
    t->race->shared = zeroed(t->shared_size / WORD + 1, sizeof *t->race->shared);
    for (unsigned k = 0; k < t->nwarps * WARP; k++)
        t->race->threads[k].epoch = 1;
}

static void forget_order(struct order *o)
{
    race_drop(o->known);
    race_drop(o->near.known);
    race_drop(o->wide.known);
    race_drop(o->seen_near);
    race_drop(o->seen_wide);
}

void ptx_race_team_end(struct team *t)
{
    struct race_team **at = &race_teams;
    while (*at != t->race)
        at = &(*at)->next;
    *at = t->race->next;
    for (unsigned k = 0; k < t->nwarps * WARP; k++)
        forget_order(&t->race->threads[k]);
    for (size_t k = 0; k <= t->shared_size / WORD; k++)
        clear_cell(&t->race->shared[k]);
    for (unsigned k = 0; k < 16; k++)
        race_drop(t->barriers[k].known);
    for (unsigned k = 0; k <= t->launch->entry->module->nslots; k++)
        free(t->race->loads[k]);
    free(t->race->loads);
    free(t->race->threads);
    free(t->race->shared);
    free(t->race);
}
