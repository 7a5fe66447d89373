/* transfers.c - regions in a loop of the host that copy the same data in each iteration.
 *
 * The loop surely executes the region each time, the host does not use the data in the loop, and no
 * construct of the function keeps them on the device: a data construct around the loop would copy
 * them once. */
#include "frontend/mistakes/mistakes.h"

enum { SMALL = 4096 }; /* bytes that are not worth a word */

/* ------------------------------------------------------------------ the loop */
struct search {
    struct fe *fe;
    CXCursor region; /* its statement */
    unsigned offset;
    CXCursor loop; /* the innermost one around it */
    bool may_not;  /* it does not come to the region each time */
};

static bool repeats(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    switch (clang_getCursorKind(c)) {
    case CXCursor_ForStmt: return fe_read_for(fe, c).length != 1;
    case CXCursor_WhileStmt: return true;
    case CXCursor_DoStmt:
        fe_children(fe, c, &v);
        return v.n == 2 && !fe_expr(fe, v.at[1]).is_constant;
    default: return false;
    }
}

static void descend(struct search *s, CXCursor c)
{
    fe_cursors v = { 0 };
    if (clang_equalCursors(c, s->region))
        return;
    if (repeats(s->fe, c)) {
        s->loop = c;
        s->may_not = false;
    }
    enum CXCursorKind k = clang_getCursorKind(c);
    s->may_not |= k == CXCursor_IfStmt || k == CXCursor_SwitchStmt || k == CXCursor_LabelStmt;
    fe_children(s->fe, c, &v);
    for (unsigned i = 0; i < v.n; i++)
        if (fe_inside(s->offset, fe_extent(s->fe, v.at[i])))
            descend(s, v.at[i]);
}

static enum CXChildVisitResult find_exit(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    switch (clang_getCursorKind(c)) {
    case CXCursor_BreakStmt:
    case CXCursor_ReturnStmt:
    case CXCursor_GotoStmt: *(bool *)data = true; return CXChildVisit_Break;
    default: return CXChildVisit_Recurse;
    }
}

/* Of the host, around the region; the null cursor: none, or it may run just once. */
static CXCursor loop_around(struct fe *fe, const struct omp_construct *c, const struct fe_pragma *p)
{
    struct search s = { fe, p->stmt, fe_begin(fe, p->stmt), clang_getNullCursor(), false };
    bool leaves = false;
    for (unsigned i = 0; i < fe->functions.n; i++)
        if (fe->functions.at[i]->f == c->function)
            descend(&s, fe->functions.at[i]->cursor);
    if (!clang_Cursor_isNull(s.loop))
        clang_visitChildren(s.loop, find_exit, &leaves);
    return s.may_not || leaves ? clang_getNullCursor() : s.loop;
}

/* ------------------------------------------------------------------ the data */
static bool is_small(const struct omp_map *m)
{
    const struct omp_item *it = m->item;
    uint64_t n = it && it->nsections ? it->sections[0].count : 1;
    const struct omp_type *t = it && it->nsections ? it->base_type->elem : m->var->type;
    return n && t && t->size && n * t->size < SMALL;
}

/* Its bounds are the same each time. */
static bool is_invariant(const struct fe *fe, const struct omp_item *it, struct omp_extent loop)
{
    if (!it)
        return true;
    if (it->nsections > 1 || !it->base_is_var || it->derefs > 1 || it->mapper)
        return false;
    FE_EACH(r, fe->refs, it->text)
        if (fe_is_written(fe, loop, r->var) || (r->var->address_taken && r->var != it->var))
            return false;
    return true;
}

static bool is_kept(const struct fe *fe, const struct omp_construct *c, const struct omp_var *v)
{
    const unsigned lasting = OMPL_TARGET_DATA | OMPL_ENTER_DATA;
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *x = fe->u->constructs[i];
        for (const struct omp_clause *k = x->clauses; k && x->function == c->function; k = k->next)
            for (unsigned j = 0; j < k->nitems; j++)
                if (k->items[j].var == v && ((x->leaves & lasting) || fe_clause(x, OMPC_NOWAIT)))
                    return true;
    }
    return false;
}

/* By anything but regions; or an earlier region of the loop has it, and has been warned about. */
static bool is_used_in(const struct fe *fe, const struct omp_construct *c, struct omp_extent loop,
                       const struct omp_var *v)
{
    FE_EACH(r, fe->refs, loop)
        if (r->var == v && (!(fe_is_in_region(fe, r->offset) || fe_is_in_clause(fe, r->offset)) ||
                            r->offset < c->pragma.begin))
            return true;
    return false;
}

static void check(struct fe *fe, const struct omp_construct *c, const struct omp_map *m,
                  CXCursor loop)
{
    const struct omp_var *v = m->var;
    struct omp_extent e = fe_extent(fe, loop);
    bool whole = m->item ? !m->item->nmembers : v->type->kind == OMPT_ARRAY;
    if (!(m->type & OMPM_TOFROM) || (m->type & (OMPM_ALWAYS | OMPM_DELETE | OMPM_RELEASE)) ||
        !whole || m->over || is_small(m) || fe_inside(v->decl, e) ||
        !is_invariant(fe, m->item, e) || is_used_in(fe, c, e, v) || is_kept(fe, c, v) ||
        !fe_is_unshared(fe, c->function, v))
        return;
    fe_warn(fe, WARN_REPEATED, m->item ? m->item->text.begin : c->pragma.begin,
            "'%s' is copied in each iteration of the loop at line %u, where only "
            "regions use it: 'target data map(…)' around the loop copies it once",
            v->name, fe_place(fe->u, e.begin).line);
}

void fe_find_repeated_transfers(struct fe *fe, const struct omp_construct *c)
{
    const struct fe_pragma *p = fe_pragma_of(fe, c);
    if (!fe_warns(WARN_REPEATED) || !p || !c->function || c->on_device || fe_clause(c, OMPC_IF) ||
        fe_clause(c, OMPC_DEVICE) || fe_has_unified_memory(fe))
        return;
    CXCursor loop = loop_around(fe, c, p);
    for (unsigned i = 0; i < c->nmaps && !clang_Cursor_isNull(loop); i++)
        check(fe, c, &c->maps[i], loop);
}
