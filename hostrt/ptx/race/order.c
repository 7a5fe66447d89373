/* order.c - what a thread knows of the others, and how it gets to know.
 *
 * Fences.  A strong write hands on what its thread knew at its last fence, and what the thread had
 * done by then; with .release, what it knows now.  A strong read takes that along with the value
 * and knows it after its thread's next fence; with .acquire, at once.  The scope of the fence and
 * of the access must have both threads: `wide` is handed on to the device, `near` to the team.  An
 * atomic update adds to what came with the value that it read, a store replaces it. */
#include <stdlib.h>
#include "hostrt/ptx/race/race.h"
#include "hostrt/ptx/isa.h"

struct order *race_order(const struct group *g, unsigned lane)
{
    return &g->warp->team->race->threads[g->warp->number * WARP + lane];
}

static unsigned thread_of(const struct group *g, unsigned lane)
{
    return g->warp->number * WARP + lane;
}

/* ------------------------------------------------------------------ fences, strong accesses */
static void set_release(struct release *r, const struct order *o)
{
    race_hold(o->known);
    race_drop(r->known);
    *r = (struct release){ .known = o->known, .epoch = o->epoch };
}

static void set_releases(struct order *o, bool wide)
{
    set_release(&o->near, o);
    if (wide)
        set_release(&o->wide, o);
}

static void know_seen(struct order *o, struct known **seen)
{
    race_learn(&o->known, *seen);
    race_drop(*seen);
    *seen = NULL;
}
static void acquire(struct order *o, bool wide)
{
    know_seen(o, &o->seen_near);
    if (wide)
        know_seen(o, &o->seen_wide);
}

void ptx_race_fence(struct group *g, const struct instruction *i, lanes m)
{
    uint32_t next = ++g->warp->team->race->clock;
    EACH_LANE(l, m) {
        struct order *o = race_order(g, l);
        if (i->order != MO_RELEASE)
            acquire(o, race_is_wide(i));
        if (i->order != MO_ACQUIRE)
            set_releases(o, race_is_wide(i));
        o->epoch = next;
    }
}

static void hand_on(struct known **to, const struct release *r, unsigned team, unsigned thread)
{
    race_learn(to, r->known);
    if (r->epoch)
        race_learn_thread(to, team, thread, r->epoch);
}

void race_forget_sync(struct sync *s)
{
    race_drop(s->near);
    race_drop(s->wide);
    *s = (struct sync){ .near = NULL };
}

static void read_sync(struct order *o, const struct instruction *i, unsigned team,
                      const struct sync *s)
{
    if (s->near_team == team)
        race_learn(&o->seen_near, s->near);
    if (race_is_wide(i))
        race_learn(&o->seen_wide, s->wide);
    if (i->order == MO_ACQUIRE || i->order == MO_ACQ_REL)
        acquire(o, race_is_wide(i));
}

static void write_sync(struct group *g, const struct instruction *i, unsigned lane, struct sync *s)
{
    struct order *o = race_order(g, lane);
    unsigned team = g->warp->team->number, thread = thread_of(g, lane);
    if (i->order == MO_RELEASE || i->order == MO_ACQ_REL) {
        set_releases(o, race_is_wide(i));
        o->epoch = ++g->warp->team->race->clock;
    }
    if (i->row->class == C_STORE)
        race_forget_sync(s);
    if (s->near_team != team) {
        race_drop(s->near);
        s->near = NULL;
        s->near_team = team;
    }
    hand_on(&s->near, &o->near, team, thread);
    if (race_is_wide(i))
        hand_on(&s->wide, &o->wide, team, thread);
}

void race_synchronise(struct group *g, const struct instruction *i, unsigned lane, struct sync *s)
{
    if (i->row->class != C_STORE)
        read_sync(race_order(g, lane), i, g->warp->team->number, s);
    if (i->row->class != C_LOAD)
        write_sync(g, i, lane, s);
}

/* ------------------------------------------------------------------ barriers */
void ptx_race_barrier_arrive(struct group *g, struct barrier *b, lanes m)
{
    struct team *t = g->warp->team;
    uint32_t next = ++t->race->clock;
    EACH_LANE(l, m) {
        struct order *o = race_order(g, l);
        race_learn(&b->known, o->known);
        race_learn_thread(&b->known, t->number, thread_of(g, l), o->epoch);
        o->epoch = next;
    }
}

static lanes waiting_lanes(const struct warp *w, unsigned number)
{
    lanes m = 0;
    for (unsigned k = 0; k < w->ngroups; k++)
        if (w->groups[k]->state == G_BARRIER && w->groups[k]->barrier == number)
            m |= w->groups[k]->mask;
    return m;
}

/* Adds what lanes m know and have done; they wait, so that all of it is up to now. */
static void learn_lanes(struct known **k, const struct warp *w, lanes m)
{
    const struct race_team *r = w->team->race;
    const struct order *o = &r->threads[w->number * WARP];
    const struct known *last = NULL;
    EACH_LANE(l, m) {
        if (o[l].known != last)
            race_learn(k, o[l].known);
        last = o[l].known;
    }
    if (m == w->live)
        race_learn_warp(k, w->team->number, w->number, r->clock);
    else
        EACH_LANE(l, m)
            race_learn_thread(k, w->team->number, w->number * WARP + l, o[l].epoch);
}

static void tell_lanes(const struct warp *w, lanes m, struct known *k, uint32_t epoch)
{
    EACH_LANE(l, m) {
        struct order *o = &w->team->race->threads[w->number * WARP + l];
        race_hold(k);
        race_drop(o->known);
        o->known = k;
        o->epoch = epoch;
    }
}

/* Called before those who wait go on. */
void ptx_race_barrier_complete(struct team *t, struct barrier *b, unsigned number)
{
    unsigned waiting = 0;
    struct known *k = b->known;
    bool all_wait = !k; /* nobody has arrived and gone on */
    b->known = NULL;
    for (unsigned w = 0; w < t->nwarps; w++) {
        lanes m = waiting_lanes(&t->warps[w], number);
        waiting += (unsigned)__builtin_popcount(m);
        if (m)
            learn_lanes(&k, &t->warps[w], m);
    }
    if (all_wait && waiting == t->live)
        race_learn_team(&k, t->number, t->race->clock);
    uint32_t next = ++t->race->clock;
    for (unsigned w = 0; w < t->nwarps; w++)
        tell_lanes(&t->warps[w], waiting_lanes(&t->warps[w], number), k, next);
    race_drop(k);
}

void ptx_race_warp_sync(struct warp *w, lanes members)
{
    struct known *k = NULL;
    learn_lanes(&k, w, members);
    tell_lanes(w, members, k, ++w->team->race->clock);
    race_drop(k);
}
