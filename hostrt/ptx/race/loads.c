/* loads.c - loads whose value is not used yet (uses.c), and the reports.
 *
 * A race with such a load waits: it is reported when the value is used, never if it is not. */
#include <stdlib.h>
#include "hostrt/ptx/isa.h"
#include "hostrt/ptx/race/race.h"

enum { MOST_REPORTS = 16 }; /* in a launch */

static struct load *load_of(struct race_team *r, unsigned slot, unsigned thread)
{
    struct load **loads = &r->loads[slot];
    if (!*loads && !(*loads = calloc(r->team->nwarps * WARP, sizeof **loads)))
        abort();
    return &(*loads)[thread];
}

void race_load_begin(struct team *t, const struct instruction *i, unsigned thread,
                     const unsigned char *data, uint32_t epoch)
{
    *load_of(t->race, i->load_slot, thread) = (struct load){ .i = i, .data = data, .epoch = epoch };
}

void race_load_raced(struct race_team *r, const struct instruction *i, unsigned thread,
                     const unsigned char *data, const struct race *race)
{
    struct load *load = load_of(r, i->load_slot, thread);
    uintptr_t from = (uintptr_t)load->data, end = from + ptx_type_size(i->type) * i->vector;
    if ((uintptr_t)data < end && (uintptr_t)data + race->size > from)
        load->race = *race;
}

void ptx_race_use(struct group *g, const struct instruction *i, lanes m)
{
    struct team *t = g->warp->team;
    for (const unsigned *slot = i->uses; *slot; slot++) {
        if (!t->race->loads[*slot])
            continue;
        EACH_LANE(l, m) {
            unsigned thread = g->warp->number * WARP + l;
            struct load *load = load_of(t->race, *slot, thread);
            if (!load->data)
                continue;
            race_mark_used(t, thread, load);
            if (load->race.i)
                race_report(&load->race);
            load->data = NULL;
        }
    }
}

/* ------------------------------------------------------------------ reports */
void race_report(const struct race *r)
{
    static struct pair {
        const struct instruction *a, *b;
    } reported[MOST_REPORTS];
    struct launch *l = r->team->launch;
    for (unsigned k = 0; k < l->races; k++)
        if ((reported[k].a == r->i && reported[k].b == r->other) ||
            (reported[k].a == r->other && reported[k].b == r->i))
            return;
    if (l->races == MOST_REPORTS)
        return;
    reported[l->races++] = (struct pair){ r->i, r->other };
    ptx_report_race(r);
}
