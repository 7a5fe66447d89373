/* host_scan.c - loops of the host with an inscan reduction.
 *
 * clang 22 leaves out what the variable had before the loop where threads share the iterations, and
 * inside of a parallel region gives anything; of simd loops its scans are right.  One thread may be
 * all that a region has:
 *
 *     parallel for reduction(inscan, +: x)     parallel num_threads(1), and simd reduction(…)
 *     for reduction(inscan, +: x)              single, and simd reduction(…)
 *
 * Scans of regions, and of loops that hold other constructs or have clauses without a place here,
 * are ours (fe_scans_on_host, codegen/c/reduce/scan.c). */
#include "frontend/lower/lower.h"

bool lower_has_host_scan(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    unsigned leaves = p->c->leaves & ~(unsigned)(OMPL_PARALLEL | OMPL_SIMD);
    for (unsigned k = p->clauses_at; leaves == OMPL_FOR && lower_find(fe, p, OMPC_REDUCTION, k, &a);
         k = lower_after(fe, p, &a))
        if (lower_keyword(fe, p, a.begin) == OMPK_INSCAN)
            return true;
    return false;
}

/* Is it in a region, or does the loop hold more than its scan? */
static bool is_other(struct fe *fe, const struct fe_pragma *p, struct omp_extent statement)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *q = &fe->pragmas.at[i];
        bool around = (q->c->leaves & OMPL_TARGET) && q->found &&
                      p->extent.begin < fe_stmt_end(fe, q->stmt) &&
                      p->extent.begin > q->extent.begin;
        bool inside =
            q != p && fe_inside(q->extent.begin, statement) && !(q->c->leaves & OMPL_SCAN);
        if (around || inside)
            return true;
    }
    return false;
}

struct lines {
    const char *outer, *inner;
};

/* Where the clause goes; false: it has no place. */
static bool place_clause(struct lines *to, struct fe *fe, const struct fe_pragma *p,
                         const struct lower_argument *a)
{
    bool parallel = p->c->leaves & OMPL_PARALLEL;
    struct lower_argument other;
    const char *text = lower_tokens(fe, p, a->at, lower_after(fe, p, a)), **line = NULL;
    switch (fe_clause_named(fe, &p->tokens[a->at])) {
    case OMPC_REDUCTION:
        line = lower_keyword(fe, p, a->begin) == OMPK_INSCAN ? &to->inner
               : parallel                                    ? &to->outer
                                                             : NULL;
        break;
    case OMPC_PRIVATE:
    case OMPC_LASTPRIVATE:
    case OMPC_LINEAR:
    case OMPC_ORDER:
    case OMPC_SAFELEN:
    case OMPC_SIMDLEN:
    case OMPC_ALIGNED:
    case OMPC_NONTEMPORAL: line = &to->inner; break;
    case OMPC_NOWAIT:
    case OMPC_SHARED:
    case OMPC_COPYIN:
    case OMPC_PROC_BIND: line = &to->outer; break;
    case OMPC_FIRSTPRIVATE:
        if (!lower_find(fe, p, OMPC_LASTPRIVATE, p->clauses_at, &other))
            line = &to->outer;
        break;
    case OMPC_DEFAULT: /* none: the check is of the user's text */
        return fe_word_at(fe, p, a->begin, "none") || fe_word_at(fe, p, a->begin, "shared");
    case OMPC_NUM_THREADS: /* there is one */
    case OMPC_IF:
    case OMPC_ALLOCATE: return true;
    default: break;
    }
    if (line)
        *line = arena_printf(fe->a, "%s %s", *line, text);
    return line != NULL;
}

static bool place_clauses(struct lines *to, struct fe *fe, const struct fe_pragma *p)
{
    for (unsigned k = p->clauses_at; k < p->ntokens;) {
        struct lower_argument a = { .at = k };
        enum omp_clause_kind kind = fe_clause_named(fe, &p->tokens[k]);
        if (fe_word_at(fe, p, k, ",")) {
            k++;
            continue;
        }
        if (kind == OMPC_COUNT || !lower_find(fe, p, kind, k, &a) || a.at != k ||
            !place_clause(to, fe, p, &a))
            return false;
        k = lower_after(fe, p, &a);
    }
    return true;
}

void lower_host_scan(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    bool parallel = p->c->leaves & OMPL_PARALLEL;
    struct lines to = { parallel ? "omp parallel num_threads(1)" : "omp single", "omp simd" };
    struct omp_extent all = lower_statement(fe, p), loop = { p->extent.end, all.end };
    if (!p->found || is_other(fe, p, loop) || !place_clauses(&to, fe, p))
        return;
    fe_add_edit(fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                arena_printf(fe->a, "%s%s", lower_line(fe, to.outer, p->extent.begin),
                             lower_line(fe, to.inner, p->extent.end)));
}
