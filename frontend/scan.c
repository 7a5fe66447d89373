/* scan.c - `reduction(inscan, …)` and the `scan` directive, sections 5.5.8 and 5.6 of OpenMP 5.2.
 *
 * The directive separates the body of the (innermost) loop into two sequences of statements.  Which
 * of them is the input phase, and runs first, depends on the clause; both become blocks of their
 * own in device code.  Only list items may carry values from one to the other: a local variable of
 * the first that is set anew in the second is declared again there, any other is an error. */
#include "frontend/fe.h"
#include <string.h>

enum {
    MAX_ARRAY = 1024
}; /* bytes of an array that is scanned; its copies live in registers or on the stack */

/* ------------------------------------------------------------------ clauses */
static bool is_of_host(const struct omp_construct *c)
{
    return !c->on_device && !(c->leaves & OMPL_TARGET) && !c->host_region;
}

static bool is_inscan(const struct omp_clause *k)
{
    return k->kind == OMPC_REDUCTION && k->keyword == OMPK_INSCAN;
}

static struct omp_clause *inscan_clause(const struct omp_construct *c)
{
    for (struct omp_clause *k = c->clauses; k; k = k->next)
        if (is_inscan(k))
            return k;
    return NULL;
}

static const struct omp_item *in_list(const struct omp_clause *k, const struct omp_var *v)
{
    for (unsigned i = 0; i < k->nitems; i++)
        if (k->items[i].var == v)
            return &k->items[i];
    return NULL;
}

static const struct omp_item *inscan_item(const struct omp_construct *c, const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (is_inscan(k) && in_list(k, v))
            return in_list(k, v);
    return NULL;
}

/* Bytes that an iteration hands on; 0: not known here. */
static uint64_t bytes_of(const struct omp_item *it)
{
    const struct omp_type *t = it->base_type ? it->base_type : it->var ? it->var->type : NULL;
    uint64_t n = 1;
    for (unsigned i = 0; t && i < it->nsections; i++, t = t->elem)
        n *= it->sections[i].count;
    return t && !t->variably_modified && t->size && n <= MAX_ARRAY ? n * t->size : 0;
}

/* Arrays of any length lie on the stack of a host thread. */
static void check_item(struct fe *fe, const struct omp_construct *c, const struct omp_item *it)
{
    bool array = it->var && (it->nsections || it->var->type->kind == OMPT_ARRAY);
    if (fe_scans_on_host(c) && (!it->nsections || bytes_of(it)))
        return;
    if (array && (!bytes_of(it) || bytes_of(it) > MAX_ARRAY))
        fe_unsupported(fe, it->place, UNSUPPORTED_INSCAN_ARRAY, fe_text(fe, it->text),
                       arena_printf(fe->a, "%d", MAX_ARRAY));
}

static bool empty(struct omp_extent e) { return e.begin >= e.end; }

/* The same list item of the two directives: a variable or, written alike, a part of it. */
static bool same_item(struct fe *fe, const struct omp_item *a, const struct omp_item *b)
{
    for (unsigned i = 0; a->nsections == b->nsections && i < a->nsections; i++) {
        const struct omp_section *s = &a->sections[i], *t = &b->sections[i];
        const char *lower = empty(s->lower.extent) ? "0" : fe_text(fe, s->lower.extent),
                   *other = empty(t->lower.extent) ? "0" : fe_text(fe, t->lower.extent);
        if (s->count != t->count || strcmp(lower, other) != 0)
            return false;
    }
    return a->nsections == b->nsections;
}

/* What may not stand beside inscan on the same construct. */
static void check_clauses(struct fe *fe, const struct omp_construct *c)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next) {
        for (unsigned i = 0; is_inscan(k) && i < k->nitems; i++)
            check_item(fe, c, &k->items[i]);
        if (k->kind == OMPC_REDUCTION && !is_inscan(k) && !fe_scans_on_host(c))
            fe_error_at(fe, k->place,
                        "a 'reduction' clause without 'inscan' on a construct that has one with it "
                        "(OpenMP 5.2, section 5.5.8)");
        if (k->kind == OMPC_ORDERED || (k->kind == OMPC_SCHEDULE && !fe_scans_on_host(c)))
            fe_error_at(
                fe, k->place,
                "clause '%s' on a construct with an 'inscan' reduction (OpenMP 5.2, section 5.5.8)",
                fe_clause_rows[k->kind].spelling);
    }
}

static bool check_construct(struct fe *fe, const struct fe_pragma *p, const struct omp_clause *k)
{
    unsigned leaves = p->c->written;
    const char *why = leaves & OMPL_DISTRIBUTE
                          ? "it includes 'distribute', whose teams run in no order"
                      : leaves & OMPL_TEAMS ? "it includes 'teams'"
                      : leaves & (OMPL_LOOP | OMPL_OTHER) || !(leaves & (OMPL_FOR | OMPL_SIMD))
                          ? "it is no 'for' or 'simd'"
                          : NULL;
    if (why)
        fe_error_at(fe, k->place,
                    "modifier 'inscan' is not allowed on '%s': %s (OpenMP 5.2, section 5.5.8)",
                    p->c->spelling, why);
    return !why;
}

/* ------------------------------------------------------------------ the directive */
static const struct omp_clause *scan_list(struct fe *fe, const struct omp_construct *scan)
{
    const struct omp_clause *in = fe_clause(scan, OMPC_INCLUSIVE),
                            *ex = fe_clause(scan, OMPC_EXCLUSIVE), *k = in ? in : ex;
    if (!k || (in && ex) || k->next) {
        fe_error_at(fe, scan->place, "'scan' needs exactly one clause, 'inclusive' or 'exclusive'");
        return NULL;
    }
    return k;
}

static void check_lists(struct fe *fe, const struct omp_construct *c, const struct omp_clause *list)
{
    for (unsigned i = 0; i < list->nitems; i++)
        if (!inscan_item(c, list->items[i].var) ||
            !same_item(fe, inscan_item(c, list->items[i].var), &list->items[i]))
            fe_error_at(fe, list->items[i].place,
                        "'%s' is not a list item of a 'reduction' clause with 'inscan' on '%s'",
                        fe_text(fe, list->items[i].text), c->spelling);
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; is_inscan(k) && i < k->nitems; i++)
            if (!in_list(list, k->items[i].var))
                fe_error_at(
                    fe, k->items[i].place,
                    "'%s' of the 'inscan' reduction is not in the list of the 'scan' directive",
                    fe_text(fe, k->items[i].text));
}

/* The one scan directive that belongs to c; errors for others. */
static struct omp_construct *find_scan(struct fe *fe, const struct omp_construct *c)
{
    struct omp_construct *found = NULL;
    for (struct omp_construct *k = c->child; k; k = k->next) {
        if (!(k->leaves & OMPL_SCAN))
            continue;
        if (found)
            fe_error_at(fe, k->place, "a second 'scan' directive in the same loop");
        else
            found = k;
    }
    return found;
}

/* ------------------------------------------------------------------ the two sequences */
typedef VEC(struct omp_var *) var_list;
struct body {
    struct fe *fe;
    struct omp_scan *s;
    fe_cursors statements;
};

static struct omp_extent statement_extent(struct fe *fe, CXCursor c)
{
    return (struct omp_extent){ fe_begin(fe, c), fe_stmt_end(fe, c) };
}

static bool stands_in_body(const struct body *b, const struct omp_construct *scan)
{
    for (unsigned i = 0; i < b->statements.n; i++)
        if (fe_inside(scan->pragma.begin, statement_extent(b->fe, b->statements.at[i])))
            return false;
    return true;
}

/* A `continue` of this loop; those of inner loops are theirs. */
static enum CXChildVisitResult find_continue(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    switch (clang_getCursorKind(c)) {
    case CXCursor_ContinueStmt: *(CXCursor *)data = c; return CXChildVisit_Break;
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt: return CXChildVisit_Continue;
    default: return CXChildVisit_Recurse;
    }
}

static void check_continue(struct body *b, CXCursor statement)
{
    CXCursor found = clang_getNullCursor();
    if (find_continue(statement, statement, &found) == CXChildVisit_Recurse)
        clang_visitChildren(statement, find_continue, &found);
    if (clang_Cursor_isNull(found))
        return;
    unsigned at = fe_begin(b->fe, found);
    if (fe_inside(at, b->s->before))
        fe_error(b->fe, at, "'continue' before the 'scan' directive would skip it");
    else
        b->s->continues = true;
}

/* The statement of the second sequence that first uses v, if that is all it does: v = …  Then
 * nothing comes from the first one. */
static bool is_set_after(const struct body *b, const struct omp_var *v, unsigned use)
{
    const char *t = b->fe->u->text;
    unsigned at = fe_skip_blank(b->fe->u, use + (unsigned)strlen(v->name));
    if (t[at] != '=' || t[at + 1] == '=')
        return false;
    for (unsigned i = 0; i < b->statements.n; i++) {
        struct omp_extent e = statement_extent(b->fe, b->statements.at[i]);
        if (e.begin != use)
            continue;
        FE_EACH(r, b->fe->refs, e)
            if (r->var == v && r->offset != use)
                return false;
        return true;
    }
    return false;
}

static const struct omp_ref *first_use(struct fe *fe, struct omp_extent e, const struct omp_var *v)
{
    FE_EACH(r, fe->refs, e)
        if (r->var == v)
            return r;
    return NULL;
}

static void check_local(struct body *b, struct omp_var *v, var_list *again)
{
    struct fe *fe = b->fe;
    const struct omp_ref *r = first_use(fe, b->s->after, v);
    if (!r)
        return;
    if (v->storage == OMPS_STATIC_LOCAL || v->type->variably_modified ||
        !is_set_after(b, v, r->offset))
        fe_error(fe, r->offset,
                 "'%s' is declared before the 'scan' directive: only list items carry values "
                 "across it "
                 "(OpenMP 5.2, section 5.6); set it again here, or declare it here",
                 v->name);
    else
        *VEC_PUSH(fe->a, again) = v;
}

static enum CXChildVisitResult count_node(CXCursor c, CXCursor parent, CXClientData data)
{
    struct omp_phase *p = data;
    (void)parent;
    p->nodes++;
    switch (clang_getCursorKind(c)) {
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_GotoStmt: p->has_loop = true; break;
    case CXCursor_CallExpr:
    case CXCursor_AsmStmt: p->has_call = true; break;
    case CXCursor_ArraySubscriptExpr: p->accesses++; break;
    case CXCursor_UnaryOperator:
        p->accesses += clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref;
        break;
    default: break;
    }
    return CXChildVisit_Recurse;
}

static void count_statement(struct body *b, CXCursor statement)
{
    bool before = fe_inside(fe_begin(b->fe, statement), b->s->before);
    struct omp_phase *p = before ? &b->s->in_before : &b->s->in_after;
    if (count_node(statement, statement, p) == CXChildVisit_Recurse)
        clang_visitChildren(statement, count_node, p);
}

static void read_statement(struct body *b, CXCursor statement, var_list *again)
{
    fe_cursors v = { 0 };
    count_statement(b, statement);
    check_continue(b, statement);
    if (clang_getCursorKind(statement) != CXCursor_DeclStmt ||
        !fe_inside(fe_begin(b->fe, statement), b->s->before))
        return;
    fe_children(b->fe, statement, &v);
    for (unsigned i = 0; i < v.n; i++)
        if (clang_getCursorKind(v.at[i]) == CXCursor_VarDecl && fe_var_of(b->fe, v.at[i]))
            check_local(b, fe_var_of(b->fe, v.at[i]), again);
}

static void separate(struct fe *fe, struct fe_pragma *p, struct omp_construct *scan, bool exclusive)
{
    struct omp_extent whole = p->c->loops[p->c->nloops - 1].body;
    struct body b = { .fe = fe };
    var_list again = { 0 };
    bool block = clang_getCursorKind(p->loop_body) == CXCursor_CompoundStmt;
    if (block)
        fe_children(fe, p->loop_body, &b.statements);
    if (!block || !stands_in_body(&b, scan)) {
        fe_error_at(
            fe, scan->place,
            "'scan' must stand in the body of the loop itself, not in a statement inside of it");
        return;
    }
    b.s = arena_alloc(fe->a, sizeof *b.s);
    *b.s = (struct omp_scan){ .directive = scan,
                              .exclusive = exclusive,
                              .before = { fe_begin(fe, p->loop_body) + 1, scan->pragma.begin },
                              .after = { scan->pragma.end, whole.end - 1 } };
    for (unsigned i = 0; i < b.statements.n; i++)
        read_statement(&b, b.statements.at[i], &again);
    b.s->again = again.at;
    b.s->nagain = again.n;
    p->c->scan = b.s;
}

static void read_construct(struct fe *fe, struct fe_pragma *p)
{
    struct omp_clause *inscan = inscan_clause(p->c);
    struct omp_construct *scan = find_scan(fe, p->c);
    if (inscan && !check_construct(fe, p, inscan))
        return;
    if (!inscan) {
        if (scan)
            fe_error_at(fe, scan->place,
                        "'scan' in a construct '%s' that has no 'reduction' clause with 'inscan'",
                        p->c->spelling);
        return;
    }
    check_clauses(fe, p->c);
    if (!scan) {
        fe_error_at(fe, inscan->place,
                    "a 'reduction' clause with 'inscan' needs a 'scan' directive in the loop");
        return;
    }
    const struct omp_clause *list = scan_list(fe, scan);
    if (!list || !p->c->nloops)
        return;
    check_lists(fe, p->c, list);
    separate(fe, p, scan, list->kind == OMPC_EXCLUSIVE);
}

bool fe_scans_on_host(const struct omp_construct *c)
{
    const struct omp_clause *collapse = fe_clause(c, OMPC_COLLAPSE);
    return is_of_host(c) && inscan_clause(c) &&
           ((c->leaves & OMPL_FOR) || (collapse && collapse->value > 1));
}

void fe_read_scans(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        struct fe_pragma *p = &fe->pragmas.at[i];
        if (is_of_host(p->c) && !fe_scans_on_host(p->c)) {
            /* clang does not see it where the `inscan` of another loop is hidden */
            if (inscan_clause(p->c))
                check_construct(fe, p, inscan_clause(p->c));
            continue;
        }
        if (!(p->c->leaves & OMPL_SCAN))
            read_construct(fe, p);
        else if (!p->c->parent)
            fe_error_at(fe, p->c->place, "'scan' outside of a loop with an 'inscan' reduction");
    }
}
