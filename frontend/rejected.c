/* rejected.c - valid code that clang 22 rejects, in a form that it takes.  The page on all such
 * things is driver/pipeline/clang22.c.
 *
 * Members of what has no name.  In a target construct clang takes `f().m` for something to map, and
 * says that it cannot be mapped.  The text is changed before anything is made of it; the frontend
 * reads it again:
 *
 *     g(x)->m      (*({ __auto_type __omp_r1 = (g(x)); &__omp_r1->m; }))
 *     f(x).m       ({ __auto_type __omp_r1 = (f(x)); __omp_r1.m; })
 *     (*g(x)).m    (*({ __auto_type __omp_r1 = &((*g(x))); &(*__omp_r1).m; }))
 *     (T){ x }.m   (*(__typeof__((T){ x }.m) *)((char *)&(T){ x } + offsetof(T, m)))
 *
 * `target loop` makes it crash: the two directives stand on two lines.  `loop` without `bind` is no
 * orphan in `target data`, but is one in the host's text: it gets a `bind`.  Groupprivate variables
 * are none of the device to it, which it says of functions between declare target and its end: they
 * are `enter` variables, too.
 *
 * For the next loop of a nest it does not look into a block that holds the loop alone, beside other
 * statements: such a block gets an empty statement.
 *
 * `target update` of a static variable, of an array that is a pointer's, ([n][m])p, of a section
 * without a length, of several parts of one variable, a[0:1] and a[n - 1:1], or of a pointer beside
 * what it leads to; a second ordered region in a loop; device(omp_initial_device), which is
 * negative; attach(mode) in map; nogroup and depend of target_data; a mapper that uses other
 * variables; memspace of uses_allocators; device_type and priority of target; `link` of a variable
 * that a function between begin and end declare target uses, `to` of declare target beside what 6.0
 * brought; defaultmap beside `default` of a combined construct, which clang takes for one of
 * target, too, and defaultmap(self).  Only the check sees them: it gets a text without.  Words that
 * have an older one of the same meaning (`storage`, `local`) were replaced when clauses were read.
 */
#include "frontend/fe.h"
#include <stdlib.h>
#include <string.h>

struct walk {
    struct fe *fe;
    fe_edits *edits;
    CXCursor parent; /* the last one that is more than an implicit conversion */
    unsigned names;
};

/* ------------------------------------------------------------------ members of what has no name */
static CXCursor child_of(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    fe_children(fe, c, &v);
    return v.n ? v.at[0] : clang_getNullCursor();
}

/* Without implicit conversions only. */
static CXCursor converted(struct fe *fe, CXCursor c)
{
    fe_cursors v = { 0 };
    while (clang_getCursorKind(c) == CXCursor_UnexposedExpr) {
        fe_children(fe, c, &v);
        if (v.n != 1)
            break;
        c = v.at[0];
    }
    return c;
}

static bool is_link(CXCursor c)
{
    enum CXCursorKind k = clang_getCursorKind(c);
    return k == CXCursor_MemberRefExpr || k == CXCursor_ArraySubscriptExpr;
}

static bool is_deref(CXCursor c)
{
    return clang_getCursorKind(c) == CXCursor_UnaryOperator &&
           clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref;
}

static bool points(CXCursor c)
{
    return clang_getCanonicalType(clang_getCursorType(c)).kind == CXType_Pointer;
}

/* Does it lead to a variable by members, subscripts and pointers?  Those clang can map. */
static bool has_name(struct fe *fe, CXCursor c)
{
    c = fe_strip(fe, c);
    while (clang_getCursorKind(c) == CXCursor_CStyleCastExpr) {
        fe_cursors v = { 0 };
        fe_children(fe, c, &v);
        c = v.n ? fe_strip(fe, v.at[v.n - 1]) : clang_getNullCursor();
    }
    if (is_link(c) || is_deref(c))
        return has_name(fe, child_of(fe, c));
    return clang_getCursorKind(c) == CXCursor_DeclRefExpr || clang_Cursor_isNull(c);
}

/* The expression that a chain of members and subscripts begins with; leaves: is what the chain
 * names outside of the value of that? */
static CXCursor root_of(struct fe *fe, CXCursor c, bool *leaves)
{
    while (is_link(c)) {
        c = converted(fe, child_of(fe, c));
        *leaves |= points(c);
    }
    return c;
}

static bool has_member(struct fe *fe, CXCursor c)
{
    while (is_link(c) && clang_getCursorKind(c) != CXCursor_MemberRefExpr)
        c = converted(fe, child_of(fe, c));
    return is_link(c);
}

static bool is_assigned(const struct walk *w, CXCursor c)
{
    enum CXCursorKind k = clang_getCursorKind(w->parent);
    enum CXUnaryOperatorKind op =
        k == CXCursor_UnaryOperator ? clang_getCursorUnaryOperatorKind(w->parent) : 0;
    bool assigns = k == CXCursor_CompoundAssignOperator || op == CXUnaryOperator_PostInc ||
                   op == CXUnaryOperator_PostDec ||
                   (k == CXCursor_BinaryOperator &&
                    clang_getCursorBinaryOperatorKind(w->parent) == CXBinaryOperator_Assign);
    return assigns && fe_begin(w->fe, w->parent) == fe_begin(w->fe, c);
}

/* A compound literal lives as long as the block around it, not as what stands in its place. */
static bool is_literal(struct fe *fe, CXCursor c)
{
    return clang_getCursorKind(fe_strip(fe, c)) == CXCursor_CompoundLiteralExpr;
}

static bool is_literal_address(struct fe *fe, CXCursor c)
{
    return clang_getCursorKind(c) == CXCursor_UnaryOperator &&
           clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_AddrOf &&
           is_literal(fe, child_of(fe, c));
}

/* Where in the chain the last pointer is followed, or else its root, with the subscripts that come
 * before any member: clang takes these. */
static CXCursor last_object(struct fe *fe, CXCursor c)
{
    do
        c = converted(fe, child_of(fe, c));
    while (has_member(fe, c) && !points(c));
    return c;
}

/* Does such a chain begin with a literal, and follow pointers by arrows only? */
static bool is_in_literal(struct fe *fe, CXCursor c)
{
    struct fe_token t;
    CXCursor object = last_object(fe, c);
    bool leaves = false;
    if (!points(object))
        return is_literal(fe, root_of(fe, object, &leaves));
    if (!fe_next_token(fe->u, fe_extent(fe, object).end, &t) || fe->u->text[t.begin] != '-')
        return false;
    return has_member(fe, object) ? is_in_literal(fe, object)
           : is_link(object)      ? is_literal(fe, root_of(fe, object, &leaves))
                                  : is_literal_address(fe, fe_strip(fe, object));
}

/* The member by its place in the object. */
static void place_member(struct walk *w, CXCursor c)
{
    struct fe *fe = w->fe;
    CXCursor object = last_object(fe, c);
    struct omp_extent e = fe_extent(fe, c), o = fe_extent(fe, object);
    struct fe_token t;
    if (!fe_next_token(fe->u, o.end, &t))
        return;
    /* an arrow follows what points, and arrays */
    const char *text = fe_text(fe, o), *star = fe->u->text[t.begin] == '-' ? "*" : "";
    fe_add_edit(fe, w->edits, o.begin, 0,
                arena_printf(fe->a, "(*(__typeof__((%s%s).%s) *)((char *)%s(", star, text,
                             fe_text(fe, (struct omp_extent){ t.end, e.end }), *star ? "" : "&"));
    if (has_member(fe, object))
        place_member(w, object);
    fe_add_edit(fe, w->edits, o.end, t.end - o.end,
                arena_printf(fe->a, ") + __builtin_offsetof(__typeof__(%s%s), ", star, text));
    fe_add_edit(fe, w->edits, e.end, 0, ")))");
}

static void name_root(struct walk *w, CXCursor c)
{
    struct fe *fe = w->fe;
    bool leaves = false, field = clang_Cursor_isBitField(clang_getCursorReferenced(c));
    CXCursor root = root_of(fe, c, &leaves), inner = fe_strip(fe, root);
    bool address = !leaves && (is_deref(inner) || is_link(inner));
    struct omp_extent e = fe_extent(fe, field && is_assigned(w, c) ? w->parent : c),
                      r = fe_extent(fe, root);
    bool array = clang_getCanonicalType(clang_getCursorType(c)).kind == CXType_ConstantArray;
    bool by_value = field || !(leaves || address);
    if (r.begin == e.begin && !field && is_in_literal(fe, c)) {
        place_member(w, c);
        return;
    }
    if (r.begin != e.begin || (by_value && array))
        return;
    const char *name = arena_printf(fe->a, "%sr%u", fe->u->prefix, ++w->names);
    fe_add_edit(fe, w->edits, r.begin, 0,
                arena_printf(fe->a, "%s({ __auto_type %s = %s(", by_value ? "" : "(*", name,
                             address ? "&" : ""));
    fe_add_edit(fe, w->edits, r.end, 0,
                arena_printf(fe->a, "); %s%s%s%s", by_value ? "" : "&", address ? "(*" : "", name,
                             address ? ")" : ""));
    fe_add_edit(fe, w->edits, e.end, 0, by_value ? "; })" : "; }))");
}

/* The innermost construct around it. */
static const struct omp_construct *construct_at(const struct fe *fe, unsigned offset)
{
    const struct omp_construct *found = NULL;
    for (unsigned i = 0; i < fe->u->nconstructs; i++)
        if (fe_inside(offset, fe->u->constructs[i]->body))
            found = fe->u->constructs[i];
    return found;
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    struct walk *w = data, inner = *w;
    bool conversion = clang_getCursorKind(c) == CXCursor_UnexposedExpr;
    bool continues = is_link(w->parent) && fe_begin(w->fe, w->parent) == fe_begin(w->fe, c) &&
                     fe_extent(w->fe, w->parent).end != fe_extent(w->fe, c).end;
    (void)parent;
    if (is_link(c) && !continues && has_member(w->fe, c) && !has_name(w->fe, c)) {
        const struct omp_construct *k = construct_at(w->fe, fe_begin(w->fe, c));
        if (k && ((k->leaves & OMPL_TARGET) || k->host_region))
            name_root(w, c);
    }
    inner.names = w->names;
    if (!conversion)
        inner.parent = c;
    clang_visitChildren(c, visit, &inner);
    w->names = inner.names;
    return CXChildVisit_Continue;
}

static void name_roots(struct fe *fe, fe_edits *l)
{
    struct walk w = { fe, l, clang_getNullCursor(), 0 };
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        if (((p->c->leaves & OMPL_TARGET) || p->c->host_region) && p->found)
            visit(p->stmt, p->stmt, &w);
    }
}

/* ------------------------------------------------------------------ directives */
/* The clause belongs to `loop`, or else to `target`. */
static bool is_of_loop(const struct omp_clause *k)
{
    return fe_allows(OMPDIR_LOOP, k->kind) && !fe_allows(OMPDIR_TARGET, k->kind);
}

static bool is_ordered_region(const struct omp_construct *c)
{
    return (c->leaves & OMPL_ORDERED) && c->body.end && !fe_clause(c, OMPC_SIMD);
}

bool fe_deals_singly(const struct omp_unit *u, const struct omp_construct *c)
{
    const struct omp_clause *k = fe_clause(c, OMPC_SCHEDULE);
    return k && !u->for_gcc && (c->leaves & OMPL_DISTRIBUTE) && k->sched == OMPSCHED_STATIC &&
           k->expr.is_constant && k->expr.value == 1;
}

bool fe_may_miss_last(const struct omp_unit *u, const struct omp_construct *c)
{
    const struct omp_clause *k = fe_clause(c, OMPC_SCHEDULE);
    /* a loop of simd leaves its counter */
    bool leaves =
        (c->leaves & OMPL_SIMD) || fe_clause(c, OMPC_LASTPRIVATE) || fe_clause(c, OMPC_LINEAR);
    return leaves && k && !u->for_gcc && k->keyword != OMPK_MONOTONIC &&
           k->sched == OMPSCHED_DYNAMIC && !fe_clause(c, OMPC_ORDERED);
}

bool fe_is_later_ordered(const struct omp_construct *c)
{
    const struct omp_construct *k = c->parent && is_ordered_region(c) ? c->parent->child : NULL;
    while (k && k != c && !is_ordered_region(k))
        k = k->next;
    return k && k != c;
}

/* The lines of constructs that are one. */
static void drop_lines(struct fe *fe, fe_edits *l, bool (*is_one)(const struct omp_construct *))
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *c = fe->u->constructs[i];
        if (is_one(c))
            fe_add_edit(fe, l, c->pragma.begin, c->pragma.end - c->pragma.begin,
                        fe_newlines_of(fe, c->pragma));
    }
}

static const char *clauses_of(struct fe *fe, const struct omp_construct *c, bool of_loop)
{
    const char *list = "";
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (is_of_loop(k) == of_loop)
            list = arena_printf(fe->a, "%s %s", list, fe_text(fe, k->extent));
    return list;
}

static void separate_loops(struct fe *fe, fe_edits *l)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *c = fe->u->constructs[i];
        if (c->written != (OMPL_TARGET | OMPL_LOOP) || c->chosen.end)
            continue;
        const char *reduced = "";
        for (const struct omp_clause *k = c->clauses; k; k = k->next)
            for (unsigned n = 0; k->kind == OMPC_REDUCTION && n < k->nitems; n++)
                reduced = arena_printf(fe->a, "%s map(tofrom: %s)", reduced,
                                       fe_text(fe, k->items[n].text));
        struct omp_place after = fe_place(fe->u, c->pragma.end);
        fe_add_edit(fe, l, c->pragma.begin, c->pragma.end - c->pragma.begin,
                    arena_printf(fe->a,
                                 "#pragma omp target%s%s\n# %u\n#pragma omp loop%s%s\n# %u\n",
                                 clauses_of(fe, c, false), reduced, c->place.line,
                                 fe_clause(c, OMPC_BIND) ? "" : " bind(thread)",
                                 clauses_of(fe, c, true), after.line));
    }
}

/* `target data` is around it, which the host's text has no directive for: so it would be orphaned.
 */
static bool is_in_data_only(const struct omp_construct *c)
{
    const struct omp_construct *around = c->parent;
    while (around && !(around->leaves & ~(unsigned)OMPL_DATA))
        around = around->parent;
    return c->written == OMPL_LOOP && !c->chosen.end && c->parent && !around &&
           !fe_clause(c, OMPC_BIND);
}

static void bind_loops(struct fe *fe, fe_edits *l)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++)
        if (is_in_data_only(fe->u->constructs[i]))
            fe_add_edit(fe, l, fe->u->constructs[i]->pragma.end - 1, 0, " bind(thread)");
}

static void enter_group_variables(struct fe *fe, fe_edits *l)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        if (p->c->directive != OMPDIR_GROUPPRIVATE || !fe_word_at(fe, p, p->clauses_at, "("))
            continue;
        bool local = false;
        FE_EACH(r, fe->refs, p->extent)
            local |= r->var->storage == OMPS_STATIC_LOCAL;
        unsigned begin = p->tokens[p->clauses_at].begin,
                 end = p->tokens[fe_closing(fe, p, p->clauses_at)].end;
        if (!local)
            fe_add_edit(fe, l, p->extent.begin, 0,
                        arena_printf(fe->a, "#pragma omp declare target %s%s\n# %u\n",
                                     fe_enter_clause(),
                                     fe_text(fe, (struct omp_extent){ begin, end }),
                                     fe_place(fe->u, p->extent.begin).line));
    }
}

/* Elements, sections or members of one variable: clang knows of some that they are apart. */
static bool is_part_beside_another(const struct omp_construct *c, unsigned at)
{
    for (unsigned i = 0; i < at && c->maps[at].item; i++)
        if (c->maps[i].var == c->maps[at].var && c->maps[i].item)
            return true;
    return false;
}

static bool is_odd_item(const struct omp_item *it)
{
    for (unsigned i = 0; i < it->nsections; i++)
        if (it->sections[i].is_section && !it->sections[i].length.extent.end)
            return true;
    return it->shape.end > 0;
}

/* The loop's block, and those in it. */
static void open_block(struct walk *w, CXCursor block)
{
    CXCursor loop = block;
    fe_cursors v = { 0 };
    do {
        fe_children(w->fe, loop, &v);
        loop = v.n == 1 ? v.at[0] : clang_getNullCursor();
    } while (clang_getCursorKind(loop) == CXCursor_CompoundStmt);
    if (clang_getCursorKind(loop) != CXCursor_ForStmt)
        return;
    for (; !clang_equalCursors(block, loop); block = child_of(w->fe, block))
        fe_add_edit(w->fe, w->edits, fe_begin(w->fe, block) + 1, 0, ";");
}

static enum CXChildVisitResult open_blocks_of(CXCursor c, CXCursor parent, CXClientData data)
{
    struct walk *w = data;
    fe_cursors v = { 0 };
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_CompoundStmt)
        return CXChildVisit_Recurse;
    fe_children(w->fe, c, &v);
    for (unsigned i = 0; v.n > 1 && i < v.n; i++)
        if (clang_getCursorKind(v.at[i]) == CXCursor_CompoundStmt)
            open_block(w, v.at[i]);
    return CXChildVisit_Recurse;
}

static void open_blocks(struct fe *fe, fe_edits *l)
{
    struct walk w = { fe, l, clang_getNullCursor(), 0 };
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        const struct omp_clause *k = fe_clause(p->c, OMPC_COLLAPSE);
        if (p->assoc == ASSOC_LOOP && p->found && k && k->value > 1)
            clang_visitChildren(p->stmt, open_blocks_of, &w);
    }
}

static bool is_beyond_clang(const struct omp_construct *c)
{
    for (unsigned i = 0; (c->leaves & OMPL_UPDATE) && i < c->nmaps; i++) {
        const struct omp_var *v = c->maps[i].var;
        if ((c->maps[i].item && is_odd_item(c->maps[i].item)) || is_part_beside_another(c, i))
            return true;
        if (v->declare_target && v->declare_target != OMPV_DT_IMPLICIT &&
            (v->is_static || v->storage == OMPS_STATIC_LOCAL))
            return true;
    }
    return false;
}

/* Is item p the pointer that leads to item x? */
static bool leads_to(const struct omp_item *p, const struct omp_item *x)
{
    const struct omp_item *by = x->pointer;
    return by && p->var == by->var && !p->nsections && !by->nsections && p->derefs == by->derefs &&
           p->nmembers == by->nmembers &&
           (!p->nmembers || !memcmp(p->members, by->members, p->nmembers * sizeof *p->members));
}

static bool leads_to_any(const struct omp_item *p, const struct omp_clause *k)
{
    for (unsigned i = 0; i < k->nitems; i++)
        if (leads_to(p, &k->items[i]))
            return true;
    return false;
}

/* to(s.p, s.p[0:n]), without the pointers. */
static void drop_pointers(struct fe *fe, const struct omp_clause *k, fe_edits *l)
{
    const char *list = "";
    unsigned n = 0;
    for (unsigned i = 0; i < k->nitems; i++)
        if (!leads_to_any(&k->items[i], k))
            list =
                arena_printf(fe->a, "%s%s%s", list, n++ ? ", " : "", fe_text(fe, k->items[i].text));
    unsigned begin = n < k->nitems ? k->items[0].text.begin : 0;
    if (begin)
        fe_add_edit(fe, l, begin, k->items[k->nitems - 1].text.end - begin, list);
}

static void drop_updated_pointers(struct fe *fe, fe_edits *l)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *c = fe->u->constructs[i];
        for (const struct omp_clause *k = c->clauses; k && !is_beyond_clang(c); k = k->next)
            if (k->kind == OMPC_TO || k->kind == OMPC_FROM)
                drop_pointers(fe, k, l);
    }
}

static void replace_negative_devices(struct fe *fe, fe_edits *l)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *c = fe->u->constructs[i];
        const struct omp_clause *k = fe_clause(c, OMPC_DEVICE);
        if (k && k->expr.is_constant && k->expr.value < 0)
            fe_add_edit(fe, l, k->expr.extent.begin, k->expr.extent.end - k->expr.extent.begin,
                        "0");
    }
}

/* What OpenMP 6.0 says about the task that it is: without it the check is the same. */
static void drop_task_clauses(struct fe *fe, fe_edits *l)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *c = fe->u->constructs[i];
        for (const struct omp_clause *k = c->clauses; k && (c->leaves & OMPL_TARGET_DATA);
             k = k->next)
            if (k->kind == OMPC_NOGROUP || k->kind == OMPC_DEPEND || k->kind == OMPC_NOWAIT)
                fe_add_edit(fe, l, k->extent.begin, k->extent.end - k->extent.begin, "");
    }
}

/* Of the same length, so that what follows keeps its place. */
static const char *blanks_of(struct fe *fe, struct omp_extent e)
{
    char *text = arena_alloc(fe->a, e.end - e.begin + 1);
    for (unsigned i = e.begin; i < e.end; i++)
        text[i - e.begin] = strchr("\\\n", fe->u->text[i]) ? fe->u->text[i] : ' ';
    return text;
}

static void blank(struct fe *fe, fe_edits *l, unsigned begin, unsigned end)
{
    if (begin < end)
        fe_add_edit(fe, l, begin, end - begin, blanks_of(fe, (struct omp_extent){ begin, end }));
}

/* Of the kind, each with the comma after it. */
static void drop_clauses(struct fe *fe, const struct fe_pragma *p, enum omp_clause_kind kind,
                         fe_edits *l)
{
    unsigned k = p->clauses_at;
    for (const struct omp_clause *c = p->c->clauses; c; c = c->next)
        if (c->kind == kind) {
            while (k < p->ntokens && p->tokens[k].begin < c->extent.end)
                k++;
            unsigned end = fe_word_at(fe, p, k, ",") ? p->tokens[k].end : c->extent.end;
            blank(fe, l, c->extent.begin, end);
        }
}

/* Where clang might choose another variant of a metadirective than the host will have. */
static void show_choices(struct fe *fe, fe_edits *l)
{
    static const char nothing[] = "nothing";
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        struct omp_extent all = fe->pragmas.at[i].metadirective,
                          chosen = fe->pragmas.at[i].c->host_choice;
        if (all.begin == all.end)
            continue;
        if (chosen.begin == chosen.end) {
            unsigned n = sizeof nothing - 1;
            fe_add_edit(fe, l, all.begin, n, nothing);
            chosen.end = all.begin + n;
        } else {
            blank(fe, l, all.begin, chosen.begin);
        }
        blank(fe, l, chosen.end, all.end);
    }
}

/* In their place an update has a variable of no meaning, so that its other clauses are checked. */
static void hide_updated_items(struct fe *fe, fe_edits *l)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        struct omp_extent e = p->c->pragma;
        if (!is_beyond_clang(p->c))
            continue;
        fe_add_edit(fe, l, e.begin, 0,
                    arena_printf(fe->a, "{ int %snone;\n# %u\n", fe->u->prefix,
                                 fe_place(fe->u, e.begin).line));
        drop_clauses(fe, p, OMPC_TO, l);
        drop_clauses(fe, p, OMPC_FROM, l);
        fe_add_edit(fe, l, p->c->chosen.end ? p->c->chosen.end : e.end - 1, 0,
                    arena_printf(fe->a, " to(%snone)", fe->u->prefix));
        fe_add_edit(fe, l, e.end - 1, 0,
                    arena_printf(fe->a, "\n}\n# %u", fe_place(fe->u, e.end).line));
    }
}

/* Clauses of OpenMP 6.0. */
static void drop_target_clauses(struct fe *fe, fe_edits *l)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        bool target = p->c->host_region || (p->c->leaves & OMPL_TARGET);
        if (target)
            drop_clauses(fe, p, OMPC_DEVICE_TYPE, l);
        if (target || (p->c->leaves & OMPL_DATA))
            drop_clauses(fe, p, OMPC_PRIORITY, l);
        bool self = false;
        for (const struct omp_clause *k = p->c->clauses; k; k = k->next)
            self |= k->kind == OMPC_DEFAULTMAP && (k->map & OMPM_SELF);
        if (target && (self || fe_clause(p->c, OMPC_DEFAULT)))
            drop_clauses(fe, p, OMPC_DEFAULTMAP, l);
    }
}

/* attach(mode) and memspace(space), with the comma or colon after it. */
static void drop_modifiers(struct fe *fe, fe_edits *l)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        for (unsigned k = p->clauses_at;
             k < p->ntokens && ((p->c->leaves & (OMPL_TARGET | OMPL_DATA)) || p->c->host_region);
             k++) {
            enum omp_keyword word = fe_keyword(fe, &p->tokens[k]);
            if ((word != OMPK_ATTACH && word != OMPK_MEMSPACE) || !fe_word_at(fe, p, k + 1, "("))
                continue;
            unsigned end = fe_closing(fe, p, k + 1) + 1;
            end += fe_word_at(fe, p, end, ",") || fe_word_at(fe, p, k - 1, "(");
            if (end > p->ntokens) /* clang complains */
                continue;
            unsigned first =
                fe_word_at(fe, p, k - 1, ",") && fe_word_at(fe, p, end, ":") ? k - 1 : k;
            fe_add_edit(fe, l, p->tokens[first].begin,
                        p->tokens[end - 1].end - p->tokens[first].begin, "");
        }
    }
}

/* Where the mapper is visible, does the name mean another variable somewhere? */
static bool is_hidden_in(const struct fe *fe, const struct omp_var *v, const struct omp_mapper *m)
{
    for (unsigned i = 0; i < fe->vars.n; i++) {
        const struct omp_var *other = fe->vars.at[i];
        if (other != v && fe_inside(other->decl, m->scope) && !strcmp(other->name, v->name))
            return true;
    }
    return false;
}

/* Has it variables of its place, which clang does not want, and mean the same wherever it is used?
 * One that a clause may name stays. */
static bool is_mapper_left_out(const struct fe *fe, const struct omp_mapper *m)
{
    struct omp_extent e = m->construct->pragma;
    bool others = false;
    FE_EACH(ref, fe->refs, e)
        if (ref->var != m->var && !fe_inside(ref->var->decl, e)) {
            others = true;
            if (is_hidden_in(fe, ref->var, m))
                return false;
        }
    return others && !strcmp(m->name, "default");
}

static void drop_mappers(struct fe *fe, fe_edits *l)
{
    for (unsigned i = 0; i < fe->mappers.n; i++) {
        struct omp_construct *c = fe->mappers.at[i]->construct;
        c->left_out = is_mapper_left_out(fe, fe->mappers.at[i]);
        if (c->left_out)
            fe_add_edit(fe, l, c->pragma.begin, c->pragma.end - c->pragma.begin,
                        fe_newlines_of(fe, c->pragma));
    }
}

static bool has_enter = true;

void fe_set_openmp(unsigned long version) { has_enter = !version || version >= 52; }
const char *fe_enter_clause(void) { return has_enter ? "enter" : "to"; }

/* clang wants `enter` for what functions of a block use, and since 5.2 has no `to` beside it. */
static void enter_variables(struct fe *fe, fe_edits *l)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        for (unsigned k = p->clauses_at; k < p->ntokens && (p->c->leaves & OMPL_DECLARE_TARGET);
             k++) {
            enum omp_clause_kind kind = fe_clause_named(fe, &p->tokens[k]);
            if ((kind == OMPC_LINK || (kind == OMPC_TO && has_enter)) &&
                fe_word_at(fe, p, k + 1, "("))
                fe_add_edit(fe, l, p->tokens[k].begin, p->tokens[k].end - p->tokens[k].begin,
                            fe_enter_clause());
        }
    }
}

bool fe_has_edit(const fe_edits *l, struct omp_extent e)
{
    for (unsigned i = 0; i < l->n; i++)
        if (fe_inside(l->at[i].offset, e))
            return true;
    return false;
}

/* Bodies that may name what clang knows for the GPU alone. */
static void drop_bodies_for_gpu(struct fe *fe, fe_edits *l)
{
    for (unsigned i = 0; i < fe->functions.n; i++) {
        const struct omp_function *f = fe->functions.at[i]->f;
        if (f->defined && fe_is_for_gpu(f->name) && !fe_has_edit(l, f->body))
            fe_add_edit(
                fe, l, f->body.begin, f->body.end - f->body.begin,
                arena_printf(fe->a, " __attribute__((unused));%s", fe_newlines_of(fe, f->body)));
    }
}

void fe_find_rejected(struct fe *fe)
{
    fe_edits all = { 0 }, check = { 0 };
    if (!fe->carriers) { /* once */
        name_roots(fe, &all);
        separate_loops(fe, &all);
        bind_loops(fe, &all);
        enter_group_variables(fe, &all);
        open_blocks(fe, &all);
        fe_add_carriers(fe, &all);
        fe_move_statics(fe, &all);
        fe_turn_backward_loops(fe, &all);
    }
    if (all.n)
        fe->u->accepted = fe_edited_text(fe, &all);
    show_choices(fe, &check);
    hide_updated_items(fe, &check);
    drop_updated_pointers(fe, &check);
    drop_lines(fe, &check, fe_is_later_ordered);
    replace_negative_devices(fe, &check);
    drop_task_clauses(fe, &check);
    drop_target_clauses(fe, &check);
    drop_modifiers(fe, &check);
    enter_variables(fe, &check);
    drop_mappers(fe, &check);
    drop_bodies_for_gpu(fe, &check);
    fe_name_architectures(fe, &check);
    if (check.n || fe->respelled)
        fe->u->checked = fe_edited_text(fe, &check);
}
