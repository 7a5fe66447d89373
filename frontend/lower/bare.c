/* bare.c - ompx_bare, of LLVM: all threads of each team run the region, as those of a CUDA kernel.
 *
 *     target teams ompx_bare                      target teams
 *         num_teams(n) thread_limit(m) …              num_teams(n) thread_limit(m) …
 *                                                 parallel num_threads(m) firstprivate(v)
 *
 * v: scalars that the region assigns and no clause names; each thread of a kernel has its own.
 * Grids of more than one dimension are left, which is an error. */
#include "frontend/lower/lower.h"

static bool is_scalar(const struct omp_var *v)
{
    return v->type->kind != OMPT_ARRAY && v->type->kind != OMPT_RECORD;
}

static bool is_named(struct fe *fe, const struct fe_pragma *p, const struct omp_var *v)
{
    FE_EACH(r, fe->refs, p->extent)
        if (r->var == v)
            return true;
    return false;
}

static bool is_listed(const struct omp_var *const *list, unsigned n, const struct omp_var *v)
{
    while (n--)
        if (list[n] == v)
            return true;
    return false;
}

/* The clause for them, or "". */
static const char *own_copies(struct fe *fe, const struct fe_pragma *p, struct omp_extent region)
{
    VEC(const struct omp_var *) list = { 0 };
    const char *names = "";
    FE_EACH(r, fe->refs, region) {
        const struct omp_var *v = r->var;
        if (!r->write || (v->storage != OMPS_LOCAL && v->storage != OMPS_PARAM) ||
            fe_inside(v->decl, region) || !is_scalar(v) || is_named(fe, p, v) ||
            is_listed(list.at, list.n, v))
            continue;
        *VEC_PUSH(fe->a, &list) = v;
        names = arena_printf(fe->a, "%s%s%s", names, *names ? ", " : "", v->name);
    }
    return *names ? arena_printf(fe->a, " firstprivate(%s)", names) : "";
}

/* The argument of a clause that gives one number. */
static const char *number(struct fe *fe, const struct fe_pragma *p, enum omp_clause_kind kind)
{
    struct lower_argument a;
    if (!lower_find(fe, p, kind, p->clauses_at, &a) ||
        fe_find_top(fe, p, a.begin, a.end, ",") < a.end)
        return NULL;
    return lower_tokens(fe, p, a.begin, a.end);
}

void lower_bare(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct omp_extent all = lower_statement(fe, p), region = { p->extent.end, all.end };
    const char *threads = number(fe, p, OMPC_THREAD_LIMIT);
    if (!p->found || !threads || !number(fe, p, OMPC_NUM_TEAMS))
        return;
    const char *parallel =
        arena_printf(fe->a, "omp parallel num_threads(%s)%s", threads, own_copies(fe, p, region));
    lower_replace(l, all,
                  arena_printf(fe->a, "%s%s%s",
                               lower_line(fe, lower_without(fe, p, OMPC_OMPX_BARE), all.begin),
                               lower_line(fe, parallel, all.begin), lower_text(fe, region)));
}
