/* ordered.c - ordered regions.
 *
 * The iterations of the loop are shared as those of others, and each waits for its turn before its
 * ordered region; one that has none hands the turn on when it ends, however it does:
 *
 *   static __OMPGPU_SHARED unsigned long @shared;
 *   unsigned long @own, *const @next_7_9 = __ompgpu_turns((void *)&@shared, &@own, 7);
 *   for (…) {
 *       __OMPGPU_TURN(@turn_7_9, @next_7_9, k);        ends with the block
 *       …
 *       __ompgpu_turn_begin(&@turn_7_9); … __ompgpu_turn_end(&@turn_7_9);
 *   }
 *
 * A thread runs its iterations in their order whatever the schedule is, so the one whose turn it is
 * never waits.  All this needs the regions in sight: where one may stand in another function, and
 * for doacross, one thread runs the loop. */
#include "codegen/c/device/device.h"

/* The loop construct that the ordered region binds to; NULL: it is in another function. */
static const struct omp_construct *loop_of(const struct omp_construct *ordered)
{
    const struct omp_construct *c = ordered->parent;
    while (c && !(c->leaves & (OMPL_FOR | OMPL_SIMD | OMPL_PARALLEL)))
        c = c->parent;
    return c && (c->leaves & (OMPL_FOR | OMPL_SIMD)) ? c : NULL;
}

bool cg_takes_turns(const struct cg *cg, const struct omp_construct *c)
{
    const struct omp_unit *u = cg->unit;
    const struct omp_clause *clause = cg_clause(c, OMPC_ORDERED);
    const unsigned others = OMPL_SIMD | OMPL_DISTRIBUTE;
    bool any = false;
    if (!(c->leaves & OMPL_FOR) || (c->leaves & others) || !clause || clause->value ||
        u->needs_link || u->provides)
        return false;
    for (unsigned i = 0; i < u->nconstructs; i++) {
        const struct omp_construct *o = u->constructs[i];
        if (!(o->leaves & OMPL_ORDERED) || !o->on_device)
            continue;
        if (!loop_of(o))
            return false;
        any |= loop_of(o) == c;
    }
    return any;
}

static const char *name_of(struct cg *cg, const char *what, const struct omp_construct *c)
{
    return cg_strf(cg, "@%s_%u_%u", what, c->place.line, c->place.col);
}

void cg_open_turns(struct cg *cg, const struct omp_construct *c)
{
    if (!cg_takes_turns(cg, c))
        return;
    cg_open_scope(cg);
    cg_line(cg, "static __OMPGPU_SHARED unsigned long @shared __OMPGPU_SHARED_INIT;");
    cg_line(cg, "unsigned long @own, *const %s = __ompgpu_turns((void *)&@shared, &@own, %u);",
            name_of(cg, "next", c), c->place.line);
}

void cg_close_turns(struct cg *cg, const struct omp_construct *c)
{
    if (cg_takes_turns(cg, c))
        cg_close(cg);
}

void cg_turn(struct cg *cg, const struct omp_construct *c, const char *number)
{
    if (cg_takes_turns(cg, c))
        cg_line(cg, "__OMPGPU_TURN(%s, %s, %s);", name_of(cg, "turn", c), name_of(cg, "next", c),
                number);
}

void cg_ordered(struct cg *cg, const struct omp_construct *c)
{
    const struct omp_construct *loop = loop_of(c);
    bool turns = loop && cg_takes_turns(cg, loop);
    if (turns)
        cg_line(cg, "__ompgpu_turn_begin(&%s);", name_of(cg, "turn", loop));
    cg_copy_body(cg, c->body);
    if (turns)
        cg_line(cg, "__ompgpu_turn_end(&%s);", name_of(cg, "turn", loop));
}
