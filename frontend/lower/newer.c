/* newer.c - words of OpenMP 6.0 that clang 22 does not read, where older ones say the same.
 *
 *     declare reduction(f: T) combiner(C)      declare reduction(f: T: C)
 *     atomic_default_mem_order(acquire)        atomic_default_mem_order(acq_rel)
 *                                              orders more; `release` becomes it, too
 *     atomic memscope(device) or (cgroup)      atomic, which is for all threads of the device; and
 *                                              so is flush
 *     target device(ancestor: 1)               the same without: such a region is the host's
 *            device_type(any) or (host)
 *     groupprivate(x) device_type(any)         groupprivate(x), which clang does not read on
 *     parallel safesync(n)                     parallel: threads proceed each for itself anyway, as
 *                                              requires device_safesync asks
 *     target default(private)                  target defaultmap(private); `shared` says nothing
 *
 * scan init_complete: what stands before it initialises for the input phase.  Of an exclusive scan
 * that comes after the scan phase in the text, and runs before it: the statements move there.
 *
 * task_iteration: the tasks of the taskloop order themselves by `depend`.  Here everything before
 * the construct ends first, and it runs its iterations at once, in their order: more order than was
 * asked for. */
#include "frontend/lower/lower.h"

/* ------------------------------------------------------------------ declare reduction */
void lower_combiner(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct lower_argument a;
    unsigned close = fe_closing(fe, p, p->clauses_at);
    if (!lower_find(fe, p, OMPC_COMBINER, close + 1, &a))
        return; /* it is the name of the reduction */
    unsigned after = lower_after(fe, p, &a);
    const char *line =
        arena_printf(fe->a, "omp %s : %s ) %s %s", lower_tokens(fe, p, 0, close),
                     lower_tokens(fe, p, a.begin, a.end),
                     lower_tokens(fe, p, close + 1 + fe_word_at(fe, p, close + 1, ","), a.at),
                     lower_tokens(fe, p, after, p->ntokens));
    fe_add_edit(fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                lower_line(fe, line, p->extent.end));
}

/* ------------------------------------------------------------------ requires */
bool lower_has_half_order(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    lower_find(fe, p, OMPC_ATOMIC_DEFAULT_MEM_ORDER, p->clauses_at, &a);
    enum omp_keyword word = lower_keyword(fe, p, a.begin);
    return a.end == a.begin + 1 && (word == OMPK_ACQUIRE || word == OMPK_RELEASE);
}

void lower_memory_order(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct lower_argument a;
    lower_find(fe, p, OMPC_ATOMIC_DEFAULT_MEM_ORDER, p->clauses_at, &a);
    const char *line = arena_printf(fe->a, "omp %s acq_rel %s", lower_tokens(fe, p, 0, a.begin),
                                    lower_tokens(fe, p, a.end, p->ntokens));
    fe_add_edit(fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                lower_line(fe, line, p->extent.end));
}

/* The directive without the clause. */
static void drop_clause(struct lowering *l, struct fe_pragma *p, const struct lower_argument *a)
{
    struct fe *fe = l->fe;
    const char *line = arena_printf(fe->a, "omp %s %s", lower_tokens(fe, p, 0, a->at),
                                    lower_tokens(fe, p, lower_after(fe, p, a), p->ntokens));
    fe_add_edit(fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                lower_line(fe, line, p->extent.end));
}

/* Clauses that hold already; without any the directive goes. */
static void drop_requirement(struct lowering *l, struct fe_pragma *p, enum omp_clause_kind kind)
{
    struct fe *fe = l->fe;
    const char *line = lower_without(fe, p, kind);
    struct lower_argument a;
    lower_find(fe, p, kind, p->clauses_at, &a);
    bool others = a.at > p->clauses_at || lower_after(fe, p, &a) < p->ntokens;
    fe_add_edit(fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                others ? lower_line(fe, line, p->extent.end) : fe_newlines_of(fe, p->extent));
}

void lower_reverse_offload(struct lowering *l, struct fe_pragma *p)
{
    drop_requirement(l, p, OMPC_REVERSE_OFFLOAD);
}

void lower_device_safesync(struct lowering *l, struct fe_pragma *p)
{
    drop_requirement(l, p, OMPC_DEVICE_SAFESYNC);
}

void lower_safesync(struct lowering *l, struct fe_pragma *p)
{
    struct lower_argument a;
    lower_find(l->fe, p, OMPC_SAFESYNC, p->clauses_at, &a);
    drop_clause(l, p, &a);
}

/* ------------------------------------------------------------------ memscope */
bool lower_has_scope(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    lower_find(fe, p, OMPC_MEMSCOPE, p->clauses_at, &a);
    enum omp_keyword word = lower_keyword(fe, p, a.begin);
    return a.end == a.begin + 1 && (word == OMPK_DEVICE || word == OMPK_CGROUP);
}

void lower_scope(struct lowering *l, struct fe_pragma *p)
{
    struct lower_argument a;
    lower_find(l->fe, p, OMPC_MEMSCOPE, p->clauses_at, &a);
    drop_clause(l, p, &a);
}

/* ------------------------------------------------------------------ target device_type */
bool lower_has_group_type(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    return p->c->directive == OMPDIR_GROUPPRIVATE &&
           lower_find(fe, p, OMPC_DEVICE_TYPE, p->clauses_at, &a);
}

bool lower_has_reverse_type(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    if (!lower_is_reverse(fe, p))
        return false;
    lower_find(fe, p, OMPC_DEVICE_TYPE, p->clauses_at, &a);
    enum omp_keyword word = lower_keyword(fe, p, a.begin);
    return a.end == a.begin + 1 && (word == OMPK_ANY || word == OMPK_HOST);
}

void lower_device_type(struct lowering *l, struct fe_pragma *p)
{
    struct lower_argument a;
    lower_find(l->fe, p, OMPC_DEVICE_TYPE, p->clauses_at, &a);
    drop_clause(l, p, &a);
}

/* ------------------------------------------------------------------ target default */
/* Of a combined construct with teams, parallel or taskloop it is theirs. */
bool lower_has_target_default(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    bool others = !p->nnames || p->names[0] != OMPDIR_TARGET;
    for (unsigned i = 0; i < p->nnames; i++)
        others |= fe_allows(p->names[i], OMPC_DEFAULT);
    return !others && lower_find(fe, p, OMPC_DEFAULT, p->clauses_at, &a);
}

void lower_target_default(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct lower_argument a;
    lower_find(fe, p, OMPC_DEFAULT, p->clauses_at, &a);
    unsigned begin = p->tokens[a.at].begin;
    if (lower_keyword(fe, p, a.begin) == OMPK_SHARED)
        drop_clause(l, p, &a);
    else
        fe_add_edit(fe, &l->edits, begin, p->tokens[a.at].end - begin, "defaultmap");
}

/* ------------------------------------------------------------------ scan init_complete */
static struct fe_pragma *next_of(struct fe *fe, const struct fe_pragma *p, enum omp_directive d)
{
    struct fe_pragma *end = fe->pragmas.at + fe->pragmas.n, *q = fe->pragmas.at;
    for (q += p - q + 1; q < end && q->c->directive != d;)
        q++;
    return q < end ? q : NULL;
}

static bool is_inscan(const struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    for (unsigned k = p->clauses_at; lower_find(fe, p, OMPC_REDUCTION, k, &a);
         k = lower_after(fe, p, &a))
        if (lower_keyword(fe, p, a.begin) == OMPK_INSCAN)
            return true;
    return false;
}

bool lower_initialises_scan(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    const struct fe_pragma *scan = is_inscan(fe, p) ? next_of(fe, p, OMPDIR_SCAN) : NULL;
    return scan && lower_find(fe, scan, OMPC_INIT_COMPLETE, scan->clauses_at, &a);
}

/* The body of the innermost of the loops that belong to the directive. */
static bool find_body(struct lowering *l, struct fe_pragma *p, struct omp_extent *e)
{
    struct lower_argument a;
    struct lower_loop x;
    struct fe_token brace;
    long long n = 1;
    CXCursor at = p->stmt;
    if (lower_find(l->fe, p, OMPC_COLLAPSE, p->clauses_at, &a) &&
        !fe_constant(l->fe, p, a.begin, a.end, &n))
        return false;
    for (; n > 0; n--)
        if (!p->found || !lower_read_loop(l, p, at, &x, &at))
            return false;
    if (clang_getCursorKind(at) != CXCursor_CompoundStmt ||
        !fe_next_token(l->fe->u, x.loop.body.begin, &brace))
        return false;
    *e = (struct omp_extent){ brace.end, x.loop.body.end };
    return true;
}

void lower_init_complete(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    const struct fe_pragma *init = next_of(fe, p, OMPDIR_SCAN),
                           *scan = next_of(fe, init, OMPDIR_SCAN);
    struct omp_extent body, moved = init->extent;
    struct lower_argument a;
    if (!find_body(l, p, &body) || !scan || !fe_inside(scan->extent.begin, body))
        return;
    bool exclusive = lower_find(fe, scan, OMPC_EXCLUSIVE, scan->clauses_at, &a);
    if (exclusive)
        moved.begin = body.begin;
    fe_add_edit(fe, &l->edits, moved.begin, moved.end - moved.begin, fe_newlines_of(fe, moved));
    moved.end = init->extent.begin;
    if (exclusive)
        fe_add_edit(fe, &l->edits, scan->extent.end, 0,
                    arena_printf(fe->a, "%s\n# %u\n", lower_text(fe, moved),
                                 fe_place(fe->u, scan->extent.end).line));
}

/* ------------------------------------------------------------------ task_iteration */
/* The directive belongs to the last taskloop before it. */
bool lower_has_task_iterations(struct fe *fe, const struct fe_pragma *p)
{
    if (!(p->c->leaves & OMPL_TASKLOOP))
        return false;
    for (p++; p < fe->pragmas.at + fe->pragmas.n && !(p->c->leaves & OMPL_TASKLOOP); p++)
        if (p->c->directive == OMPDIR_TASK_ITERATION)
            return true;
    return false;
}

void lower_task_iterations(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct omp_extent e = lower_statement(fe, p), rest = { p->extent.end, p->extent.end };
    const char *text = "";
    if (!p->found)
        return;
    for (const struct fe_pragma *q = p; (q = next_of(fe, q, OMPDIR_TASK_ITERATION));) {
        if (!fe_inside(q->extent.begin, e))
            break;
        rest.end = q->extent.begin;
        text = arena_printf(fe->a, "%s%s", text, lower_text(fe, rest));
        rest.begin = q->extent.end;
    }
    rest.end = e.end;
    const char *line = arena_printf(fe->a, "%s if(taskloop: 0)", lower_without(fe, p, OMPC_IF));
    lower_replace(l, e,
                  arena_printf(fe->a, "{%s%s%s%s}", lower_line(fe, "omp taskwait", p->extent.begin),
                               lower_line(fe, line, p->extent.begin), text, lower_text(fe, rest)));
}
