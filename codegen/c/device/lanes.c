/* lanes.c - the form of a kernel in which several lanes of a warp run an iteration of the league's
 * loop, a row, together (frontend/lanes/lanes.c says which regions may have it).
 *
 * The region is written a second time, with the constant @lanes:
 *
 *   for (… @it_i = __ompgpu_loop32(__OMPGPU_LEAGUE_THREAD / @lanes, …); …) {      all lanes
 *       double s = 0;
 *       …
 *           double s = 0;                                       the lane's copy
 *           for (… @it_k = __ompgpu_loop32(__OMPGPU_ROW_LANE(@lanes), @lanes, @n_k); …) {
 *               int k = …;
 *               s += a[k] * x[c[k]];
 *           }
 *           @rec.s = s;
 *           __ompgpu_reduce_row(@lanes, &@rec, …);              by shuffles, for all of them
 *           *@o_s = *@o_s + @rec.s;
 *       …
 *       { if (__ompgpu_row_once(@lanes)) { y[i] = s; } }        waits for the lanes; one of them
 *   }
 *
 * Before one lane stores, the others have read what they had to; after it, or after a loop that
 * stores, they wait to read what is new. */
#include "codegen/c/device/trips.h"

/* Without simdlen: a few of a row's elements fill a sector of memory, and many are worth a warp. */
static const unsigned usual[CG_MOST_LENGTHS] = { 8, 32 };

/* The parameter with the ends of rows, from 1; 0: the host has none of that kind. */
static unsigned find_rows(struct cg *cg, const struct cg_plan *p, const struct omp_lanes *l)
{
    if (!l->rows || !cg_trip(cg, p->chain[0]))
        return 0;
    for (unsigned i = 0; i < p->nparams; i++)
        if (p->params[i].var == l->rows && p->params[i].pass != CG_PASS_BOUND &&
            p->params[i].pass != CG_PASS_COPY)
            return i + 1;
    return 0;
}

static void take_usual(struct cg_lanes *to, unsigned most)
{
    for (unsigned i = 0; i < CG_MOST_LENGTHS; i++)
        if (usual[i] <= most)
            to->lengths[to->n++] = usual[i];
    if (!to->n)
        to->lengths[to->n++] = most;
}

bool cg_find_lanes(struct cg *cg, const struct cg_plan *p, struct cg_lanes *to)
{
    const struct omp_lanes *l = p->inner->lanes;
    *to = (struct cg_lanes){ .n = 0 };
    if (!p->spmd || !l || l->why || l->team)
        return false;
    to->trip = cg_inner_trip(cg, p->chain[0], l->inner);
    to->rows = to->trip ? 0 : find_rows(cg, p, l);
    if (l->length)
        to->lengths[to->n++] = l->length;
    else if (to->trip || to->rows)
        take_usual(to, l->most);
    return to->n;
}

const char *cg_lanes_words(struct cg *cg, const struct cg_plan *p)
{
    const struct omp_lanes *l = p->inner->lanes;
    struct cg_lanes lanes;
    if (!p->spmd || !l || l->team)
        return NULL;
    if (l->why)
        return cg_strf(cg, "one thread an iteration, and not several lanes of a warp: %s", l->why);
    if (!cg_find_lanes(cg, p, &lanes))
        return "one thread an iteration, and not several lanes of a warp: how long the inner loop "
               "is, is not known at the launch, and simdlen(n) does not say how many lanes to take";
    const char *list = cg_strf(cg, "%u", lanes.lengths[0]);
    for (unsigned i = 1; i < lanes.n; i++)
        list = cg_strf(cg, "%s or %u", list, lanes.lengths[i]);
    return cg_strf(cg, "on a GPU, %s lanes of a warp run an iteration together%s", list,
                   l->length ? ", as simdlen says" : ", where the inner loop is long enough");
}

/* ------------------------------------------------------------------ loops of a team */
bool cg_shares_rows(const struct cg *cg, const struct omp_construct *c, enum cg_who who)
{
    const struct omp_lanes *l = c->lanes;
    return who == CG_THREAD && !cg->lanes && l && l->team && !l->why;
}

const char *cg_free_lanes(struct cg *cg, const struct omp_construct *c, const char *rows)
{
    const struct omp_lanes *l = c->lanes;
    if (l->length)
        return cg_strf(cg, "1u << __ompgpu_whole_lanes(%u)", l->length);
    const char *inner = cg_inner_trip(cg, cg->target, l->inner);
    return cg_strf(cg, "1u << __ompgpu_free_lanes(%s, %s, %u)", rows, inner ? inner : "~0ull",
                   l->most);
}

const char *cg_team_lanes_words(struct cg *cg, const struct omp_construct *c)
{
    const struct omp_lanes *l = c->lanes;
    return l->why
               ? cg_strf(cg, "one thread an iteration, and not several lanes of a warp: %s", l->why)
           : l->length
               ? cg_strf(cg,
                         "on a GPU, %u lanes of a warp run an iteration together, as simdlen says",
                         l->length)
               : "on a GPU, lanes of a warp run an iteration together where there are fewer "
                 "iterations than threads";
}

/* ------------------------------------------------------------------ the loop inside */
/* Does a loop around reduce into it? */
static bool is_tally(const struct omp_construct *c, const struct omp_var *v)
{
    for (; c; c = c->leaves & OMPL_TARGET ? NULL : c->parent) {
        const struct omp_sharing *s = cg_sharing(c, v);
        if (s && s->share == OMPSH_REDUCTION)
            return true;
    }
    return false;
}

void cg_loop_by_lanes(struct cg *cg, const struct omp_construct *c)
{
    struct cg_privates p = { .finish = CG_ROW };
    p.base = cg_strf(cg, "%s_%u", c->function ? c->function->name : "file", c->place.line);
    cg_collect_privates(cg, c, &p, CG_ALL_COPIES);
    for (unsigned i = 0; i < p.n; i++)
        if (is_tally(c->parent, p.list[i].var))
            p.list[i].owner = CG_OF_LEAGUE;
    if (c->stores)
        cg_line(cg, "__ompgpu_row_sync(@lanes);");
    cg_loop_nest(cg, c, CG_LANES, &p, NULL, NULL);
    if (c->stores)
        cg_line(cg, "__ompgpu_row_sync(@lanes);");
}
