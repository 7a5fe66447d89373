/* sequence.c - fuse and split: from several loops to one, and back.
 *
 * fuse: the longest loop counts, and each body runs in the iterations that its loop has.  A body is
 * wrapped in `do … while (0)`, so that a `continue` in it ends that body alone.
 *
 * split: one loop for each count, each over the iterations that the ones before it left. */
#include "frontend/lower/lower.h"

/* ------------------------------------------------------------------ fuse */
/* looprange(first, number), counted from 1. */
static void read_range(struct lowering *l, struct fe_pragma *p, unsigned n, unsigned *first,
                       unsigned *last)
{
    struct lower_argument a;
    long long begin = 1, number = n;
    if (lower_find(l->fe, p, OMPC_LOOPRANGE, p->clauses_at, &a)) {
        unsigned comma = fe_find_top(l->fe, p, a.begin, a.end, ",");
        if (!fe_constant(l->fe, p, a.begin, comma, &begin) ||
            !fe_constant(l->fe, p, comma + 1, a.end, &number) || begin < 1 || number < 1 ||
            begin + number - 1 > n) {
            fe_error_at(l->fe, p->c->place, "'looprange' names loops that are not in the sequence");
            begin = 1, number = n;
        }
    }
    *first = (unsigned)begin - 1;
    *last = (unsigned)(begin + number - 1);
}

/* A loop that counts to the greatest trip, and the bodies. */
static const char *fused(struct lowering *l, struct fe_pragma *p, const struct lower_loop *loops,
                         unsigned n)
{
    struct fe *fe = l->fe;
    const char *k = lower_name(l, "k"), *bodies = "", *most = loops[0].trip, *type = loops[0].type;
    struct lower_applied applied = { 0 };
    for (unsigned i = 0; i < n; i++) {
        if (i)
            most = arena_printf(fe->a, "((%s) > (%s) ? (%s) : (%s))", most, loops[i].trip, most,
                                loops[i].trip);
        if (loops[i].loop.iv->type->size > 4)
            type = loops[i].type;
        bodies =
            arena_printf(fe->a, "%s%sif (%s < %s) do { %s {%s} } while (0);", bodies,
                         fe_marker(fe, p->c->place, true), k, loops[i].trip,
                         lower_variable(fe, p, &loops[i], k), lower_text(fe, loops[i].loop.body));
    }
    lower_read_apply(l, p, 0, 1, &applied);
    return arena_printf(fe->a, "%s%s for (%s %s = 0; %s < %s; %s++) {%s }",
                        fe_marker(fe, p->c->place, true), lower_apply(fe, p, &applied), type, k, k,
                        most, k, bodies);
}

void lower_fuse(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    fe_cursors v = { 0 };
    CXCursor body;
    unsigned first, last;
    if (!p->found || clang_getCursorKind(p->stmt) != CXCursor_CompoundStmt)
        return;
    fe_children(fe, p->stmt, &v);
    read_range(l, p, v.n, &first, &last);
    struct lower_loop *loops = arena_alloc(fe->a, (v.n + 1) * sizeof *loops);
    const char *text = "";
    for (unsigned i = 0; i < v.n; i++) {
        struct omp_extent e = { fe_begin(fe, v.at[i]), fe_stmt_end(fe, v.at[i]) };
        if (i < first || i >= last)
            text = arena_printf(fe->a, "%s%s", text, lower_text(fe, e));
        else if (!lower_read_loop(l, p, v.at[i], &loops[i], &body))
            return;
        else if (i + 1 == last)
            text = arena_printf(fe->a, "%s%s", text, fused(l, p, loops + first, last - first));
    }
    if (last - first < v.n)
        text = arena_printf(fe->a, "{ %s }", text);
    lower_replace(l, lower_statement(fe, p), text);
}

/* ------------------------------------------------------------------ split */
enum { MOST_PARTS = 16 };

/* counts(a, omp_fill, b): the count of each part; the rest is omp_fill's.  0 after an error. */
static unsigned read_counts(struct lowering *l, struct fe_pragma *p, const struct lower_loop *x,
                            const char **counts)
{
    struct fe *fe = l->fe;
    struct lower_argument a;
    const char *sum = "0";
    unsigned n = 0, fill = MOST_PARTS, fills = 0;
    if (!lower_find(fe, p, OMPC_COUNTS, p->clauses_at, &a)) {
        fe_error_at(fe, p->c->place, "directive '#pragma omp %s' requires the 'counts' clause",
                    p->c->spelling);
        return 0;
    }
    for (unsigned k = a.begin, end; k < a.end; k = end + 1, n++) {
        end = fe_find_top(fe, p, k, a.end, ",");
        if (n == MOST_PARTS) {
            fe_error(fe, p->tokens[k].begin, "more than %d parts are not supported", MOST_PARTS);
            return 0;
        }
        counts[n] = arena_printf(fe->a, "(%s)(%s)", x->type, lower_tokens(fe, p, k, end));
        if (lower_keyword(fe, p, k) == OMPK_OMP_FILL)
            fill = n, fills++;
        else
            sum = arena_printf(fe->a, "%s + %s", sum, counts[n]);
    }
    if (fills != 1) {
        fe_error(fe, p->tokens[a.at].begin, "one item of 'counts' must be 'omp_fill'");
        return 0;
    }
    counts[fill] = arena_printf(fe->a, "(%s > %s ? %s - (%s) : 0)", x->trip, sum, x->trip, sum);
    return n;
}

void lower_split(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct lower_loop x;
    CXCursor body;
    const char *counts[MOST_PARTS], *text = "", *before = "0";
    struct lower_applied applied[MOST_PARTS] = { 0 };
    if (!p->found || !lower_read_loop(l, p, p->stmt, &x, &body))
        return;
    unsigned n = read_counts(l, p, &x, counts);
    lower_read_apply(l, p, 0, n, applied);
    for (unsigned i = 0; i < n; i++) {
        const char *k = lower_name(l, "k"), *at = arena_printf(fe->a, "%s + %s", before, k);
        text = arena_printf(fe->a, "%s%s%s for (%s %s = 0; %s < %s; %s++) if (%s < %s) { %s {%s} }",
                            text, fe_marker(fe, p->c->place, true), lower_apply(fe, p, &applied[i]),
                            x.type, k, k, counts[i], k, at, x.trip, lower_variable(fe, p, &x, at),
                            lower_text(fe, x.loop.body));
        before = arena_printf(fe->a, "%s + %s", before, counts[i]);
    }
    lower_replace(l, lower_statement(fe, p), arena_printf(fe->a, "{ %s }", text));
}
