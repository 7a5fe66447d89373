/* conditional.c - lastprivate(conditional: x): the value of the last iteration, or section, that
 * assigned one.
 *
 * A struct holds the value with the numbers of its iteration, one for each loop, and a reduction
 * keeps the later one:
 *
 *     struct last { unsigned long number[1]; T value; } l = { 0 };
 *     parallel for reduction(later: l)
 *     for (…) { _Bool set = 0; T x; do { body } while (0); if (set && …) l = { number, x }; }
 *     if (l.number[0]) x = l.value;
 *
 * Where the body writes x, it says so: (*(set = 1, &x)).  A thread may run an earlier iteration
 * after a later one.
 *
 * A construct that the threads of a parallel construct around it share out needs a struct of
 * theirs, which stands before that construct; one of them clears and reads it.  Where none is in
 * the function, one thread allocates it, and each brings what it has to it:
 *
 *     struct last l = { 0 }, *all;
 *     single copyprivate(all)    all = malloc(sizeof *all), *all = l;
 *     for nowait                 …
 *     critical                   if (l is later) *all = l;
 *     barrier, single            { if (all->number[0]) x = all->value; free(all); } */
#include "frontend/lower/lower.h"
#include <string.h>

enum { MOST_LOOPS = 8 };

/* Do threads of a parallel construct around share it out? */
static bool is_shared_out(const struct fe_pragma *p)
{
    return (p->c->leaves & (OMPL_FOR | OMPL_SECTIONS)) && !(p->c->leaves & OMPL_PARALLEL);
}

static bool may_have_it(const struct fe_pragma *p)
{
    return (p->c->leaves & (OMPL_FOR | OMPL_SECTIONS)) ||
           ((p->c->leaves & OMPL_SIMD) && !(p->c->leaves & (OMPL_DISTRIBUTE | OMPL_TASKLOOP)));
}

bool lower_is_conditional(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    for (unsigned k = p->clauses_at; lower_find(fe, p, OMPC_LASTPRIVATE, k, &a);
         k = lower_after(fe, p, &a))
        if (may_have_it(p) && lower_keyword(fe, p, a.begin) == OMPK_CONDITIONAL &&
            fe_word_at(fe, p, a.begin + 1, ":"))
            return true;
    return false;
}

struct conditional {
    struct lowering *l;
    struct fe_pragma *p;
    struct lower_loop loops[MOST_LOOPS]; /* those that are collapsed */
    const char *numbers[MOST_LOOPS];     /* of the iteration; or of the section */
    unsigned n;                          /* of these */
    struct omp_extent body;              /* of the innermost loop, or the section */
    struct omp_var *var;
    bool alone;                            /* no parallel construct is around */
    const char *set, *last, *later, *type; /* generated names */
};

static const char *marked_body(const struct conditional *c)
{
    struct fe *fe = c->l->fe;
    struct omp_extent e = c->body;
    const char *text = arena_printf(fe->a, "\n# %u\n", fe_place(fe->u, e.begin).line);
    FE_EACH(r, fe->refs, e) {
        if (r->var != c->var || !r->write)
            continue;
        text = arena_printf(fe->a, "%s%s(*(%s = 1, &%s))", text,
                            fe_text(fe, (struct omp_extent){ e.begin, r->offset }), c->set,
                            c->var->name);
        e.begin = r->offset + r->length;
        if (e.begin >= c->body.end)
            break;
    }
    return arena_printf(fe->a, "%s%s", text, fe_text(fe, e));
}

/* Does one come from a later iteration than the other? */
static const char *is_later(const struct conditional *c, const char *one, const char *other)
{
    struct arena *a = c->l->fe->a;
    unsigned i = c->n - 1;
    const char *text = arena_printf(a, "%s.number[%u] > %s.number[%u]", one, i, other, i);
    while (i-- > 0)
        text =
            arena_printf(a, "(%s.number[%u] != %s.number[%u] ? %s.number[%u] > %s.number[%u] : %s)",
                         one, i, other, i, one, i, other, i, text);
    return text;
}

/* The first number is not zero. */
static const char *new_body(const struct conditional *c)
{
    struct arena *a = c->l->fe->a;
    const char *x = c->var->name, *numbers = arena_printf(a, "%s + 1", c->numbers[0]),
               *now = lower_name(c->l, "now");
    for (unsigned i = 1; i < c->n; i++)
        numbers = arena_printf(a, "%s, %s", numbers, c->numbers[i]);
    return arena_printf(a,
                        "{ _Bool %s = 0; __typeof__(%s) %s; do {%s} while (0); if (%s) { struct %s "
                        "%s = { { %s }, %s }; if (%s) %s = %s; } }",
                        c->set, x, x, marked_body(c), c->set, c->type, now, numbers, x,
                        is_later(c, now, c->last), c->last, now);
}

/* clang has no `for simd` with a struct that is no reduction: simd is a hint. */
static bool is_kept(const struct conditional *c, const struct lower_argument *k)
{
    enum omp_clause_kind kind = fe_clause_named(c->l->fe, &c->p->tokens[k->at]);
    if (is_shared_out(c->p) && kind == OMPC_NOWAIT)
        return false;
    return !c->alone || !(c->p->c->leaves & OMPL_SIMD) || fe_allows(OMPDIR_FOR, kind);
}

/* The clauses, the item left out.  What follows reads the result: the threads wait. */
static const char *other_clauses(const struct conditional *c, unsigned item, unsigned end)
{
    struct fe *fe = c->l->fe;
    const struct fe_pragma *p = c->p;
    const char *text = "";
    for (unsigned k = p->clauses_at, next; k < p->ntokens; k = next) {
        bool opens = fe_word_at(fe, p, k + 1, "(");
        struct lower_argument a = { k, opens ? k + 2 : k + 1,
                                    opens ? fe_closing(fe, p, k + 1) : k + 1 };
        next = lower_after(fe, p, &a);
        if (item >= a.begin && item < a.end) {
            if (end < a.end)
                text = arena_printf(fe->a, "%s lastprivate(conditional: %s)", text,
                                    lower_tokens(fe, p, end + 1, a.end));
        } else if (is_kept(c, &a))
            text = arena_printf(fe->a, "%s %s", text, lower_tokens(fe, p, k, next));
    }
    return text;
}

static const char *new_directive(const struct conditional *c, const struct lower_argument *a)
{
    struct fe *fe = c->l->fe;
    const struct fe_pragma *p = c->p;
    unsigned end = fe_find_top(fe, p, a->begin + 2, a->end, ",");
    const char *clauses = other_clauses(c, a->begin + 2, end);
    if (c->alone)
        return arena_printf(fe->a, "omp %s nowait%s", lower_tokens(fe, p, 0, 1), clauses);
    return arena_printf(fe->a, "omp %s%s reduction(%s: %s)", lower_tokens(fe, p, 0, p->clauses_at),
                        clauses, c->later, c->last);
}

static const char *declarations(const struct conditional *c)
{
    struct fe *fe = c->l->fe;
    /* where device code has the struct, a variable of the file may not be declared yet */
    bool of_file = c->var->storage == OMPS_GLOBAL,
         has_name = !strstr(c->var->type->spelling, fe->u->prefix); /* the user's */
    const char *value = of_file && has_name ? c->var->type->spelling : c->var->name;
    const char *udr =
        arena_printf(fe->a,
                     "omp declare reduction(%s: struct %s: omp_out = %s ? omp_in : omp_out) "
                     "initializer(omp_priv = (struct %s){ 0 })",
                     c->later, c->type, is_later(c, "omp_in", "omp_out"), c->type);
    return arena_printf(
        fe->a,
        "struct %s { unsigned long number[%u]; __typeof__(%s) value; };%sstruct %s %s = { 0 };",
        c->type, c->n, value, c->alone ? "" : lower_line(fe, udr, c->p->extent.begin), c->type,
        c->last);
}

/* Before the construct whose threads share out the loop. */
static void declare_around(const struct conditional *c, const struct fe_pragma *q)
{
    struct lower_argument a;
    lower_declare_around(c->l, q, declarations(c));
    if (lower_find(c->l->fe, q, OMPC_DEFAULT, q->clauses_at, &a))
        lower_add_clause(c->l, q, "shared", c->last);
}

/* ------------------------------------------------------------------ what is read */
static bool is_assigned_outside(const struct conditional *c)
{
    struct omp_extent e = lower_statement(c->l->fe, c->p);
    FE_EACH(r, c->l->fe->refs, e)
        if (r->var == c->var && r->write && !fe_inside(r->offset, c->body))
            return true;
    return false;
}

/* Reads the loops that are collapsed, and the innermost one's body; between them nothing assigns.
 */
static bool read_loops(struct conditional *c)
{
    struct fe *fe = c->l->fe;
    struct lower_argument a;
    CXCursor at = c->p->stmt;
    long long n = 1;
    if (lower_find(fe, c->p, OMPC_COLLAPSE, c->p->clauses_at, &a) &&
        !fe_constant(fe, c->p, a.begin, a.end, &n))
        return false;
    for (; c->n < n && n <= MOST_LOOPS; c->n++) {
        if (!lower_read_loop(c->l, c->p, fe_only_loop(fe, at), &c->loops[c->n], &at))
            return false;
        c->numbers[c->n] = lower_number(fe, &c->loops[c->n]);
    }
    c->body = c->n ? c->loops[c->n - 1].loop.body : c->body;
    return c->n && n <= MOST_LOOPS && !is_assigned_outside(c);
}

/* The item that comes first among those that are conditional. */
static bool read_item(struct conditional *c, struct lower_argument *a)
{
    struct fe *fe = c->l->fe;
    unsigned k = c->p->clauses_at;
    while (lower_find(fe, c->p, OMPC_LASTPRIVATE, k, a) &&
           lower_keyword(fe, c->p, a->begin) != OMPK_CONDITIONAL)
        k = lower_after(fe, c->p, a);
    const struct omp_ref *r =
        a->begin + 2 < a->end ? fe_ref_at(fe, c->p->tokens[a->begin + 2].begin) : NULL;
    c->var = r ? r->var : NULL;
    return r != NULL;
}

/* ------------------------------------------------------------------ sections */
static bool is_section_of(struct fe *fe, const struct fe_pragma *p, const struct fe_pragma *q)
{
    if (q->c->directive != OMPDIR_SECTION || q->extent.begin >= lower_statement(fe, p).end)
        return false;
    for (const struct fe_pragma *r = p + 1; r < q; r++)
        if ((r->c->leaves & OMPL_SECTIONS) && r->found &&
            q->extent.begin < lower_statement(fe, r).end)
            return false;
    return true;
}

/* The statements in e, if there are some, as section k. */
static const char *new_section(struct conditional *c, struct omp_extent e, unsigned k)
{
    struct fe_token t;
    c->body = e;
    c->numbers[0] = arena_printf(c->l->fe->a, "%u", k);
    return fe_next_token(c->l->fe->u, e.begin, &t) && t.begin < e.end ? new_body(c) : "";
}

static const char *new_sections(struct conditional *c)
{
    struct fe *fe = c->l->fe;
    unsigned at = fe_begin(fe, c->p->stmt) + 1, k = 0;
    const char *text = "{";
    for (struct fe_pragma *q = c->p + 1; q < fe->pragmas.at + fe->pragmas.n; q++)
        if (is_section_of(fe, c->p, q)) {
            const char *section = new_section(c, (struct omp_extent){ at, q->extent.begin }, k++);
            text = arena_printf(fe->a, "%s%s%s", text, section,
                                lower_line(fe, "omp section", q->extent.begin));
            at = q->extent.end;
        }
    unsigned end = lower_statement(fe, c->p).end - 1;
    return arena_printf(fe->a, "%s%s }", text, new_section(c, (struct omp_extent){ at, end }, k));
}

/* ------------------------------------------------------------------ what is written */
static const char *new_statement(struct conditional *c)
{
    struct fe *fe = c->l->fe;
    if (c->p->c->leaves & OMPL_SECTIONS)
        return new_sections(c);
    struct omp_extent head = { c->p->extent.end, c->body.begin },
                      tail = { c->body.end, lower_statement(fe, c->p).end };
    return arena_printf(fe->a, "%s%s%s", lower_text(fe, head), new_body(c), lower_text(fe, tail));
}

/* The statement with its directive, and what sets the variable. */
static const char *new_construct(struct conditional *c, const struct lower_argument *a,
                                 const char *single)
{
    struct fe *fe = c->l->fe;
    return arena_printf(fe->a, "%s%s%s if (%s.number[0]) %s = %s.value;",
                        lower_line(fe, new_directive(c, a), c->p->extent.begin), new_statement(c),
                        single, c->last, c->var->name, c->last);
}

/* Where no parallel construct is around. */
static const char *new_orphan(struct conditional *c, const struct lower_argument *a)
{
    struct fe *fe = c->l->fe;
    const char *all = lower_name(c->l, "all"), *x = c->var->name;
    unsigned at = c->p->extent.begin;
    const char *allocate =
        arena_printf(fe->a, "%s { %s = __builtin_malloc(sizeof *%s); *%s = %s; }",
                     lower_line(fe, arena_printf(fe->a, "omp single copyprivate(%s)", all), at),
                     all, all, all, c->last);
    const char *bring =
        arena_printf(fe->a, "%s { if (%s) *%s = %s; }%s%s",
                     lower_line(fe, arena_printf(fe->a, "omp critical(%s)", c->later), at),
                     is_later(c, c->last, arena_printf(fe->a, "(*%s)", all)), all, c->last,
                     lower_line(fe, "omp barrier", at), lower_line(fe, "omp single", at));
    return arena_printf(fe->a,
                        "%s struct %s *%s;%s%s%s%s { if (%s->number[0]) %s = %s->value; "
                        "__builtin_free(%s); }",
                        declarations(c), c->type, all, allocate,
                        lower_line(fe, new_directive(c, a), at), new_statement(c), bring, all, x,
                        all, all);
}

static bool read(struct conditional *c, struct lower_argument *a)
{
    if (!c->p->found || !read_item(c, a))
        return false;
    c->n = c->p->c->leaves & OMPL_SECTIONS ? 1 : 0;
    return c->n || read_loops(c);
}

void lower_conditional(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct conditional c = { .l = l, .p = p };
    struct lower_argument a;
    const struct fe_pragma *q = is_shared_out(p) ? lower_around(fe, p, OMPL_PARALLEL) : NULL;
    c.alone = is_shared_out(p) && !q;
    if (c.alone && lower_in_target(l, p))
        return;
    if (!read(&c, &a))
        return;
    c.set = lower_name(l, "set");
    c.last = lower_name(l, "last");
    c.later = lower_name(l, "later");
    c.type = lower_name(l, "type");
    const char *single = lower_line(fe, "omp single", p->extent.begin);
    if (q)
        declare_around(&c, q);
    const char *text =
        c.alone ? new_orphan(&c, &a)
        : q     ? arena_printf(fe->a, "%s %s.number[0] = 0; %s", single, c.last,
                               new_construct(&c, &a, single))
                : arena_printf(fe->a, "%s%s", declarations(&c), new_construct(&c, &a, ""));
    lower_replace(l, lower_statement(fe, p), arena_printf(fe->a, "{ %s }", text));
}
