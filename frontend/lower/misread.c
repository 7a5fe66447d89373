/* misread.c - valid directives that clang 22 takes for something else, or warns of wrongly.
 *
 *     parallel, private(x)         parallel private(x): clang reads nothing after the comma
 *     metadirective when(…), …     … without the comma, which it has an error for
 *     device(device_num: d)        device(d), but on target: it reads an expression
 *     map(mapper(m), iterator(…), to: x)      map(iterator(…), mapper(m), to: x): an error
 *     from(iterator(…), mapper(m): x)         from(mapper(m), iterator(…): x): a warning
 *     depobj(d) destroy(d), or destroy        what it makes of `destroy` in versions before 5.2,
 *                                             where it has no argument; in later ones, an error
 *     for collapse(2), before `tile` and the like: it runs other iterations; simd: an error
 *
 * device={isa("sm_90")} gets its architecture for the check alone (clang22.c): an isa of another
 * one is unknown to the host, and in our choice the architecture would count.
 *
 * And declare induction, which it rejects; clauses of which it reads a part: those of threads.c,
 * original.c and split.c, and prefer_type in append_args (interop.c).
 *
 * clang checks the new text only, whatever it says of the user's. */
#include "frontend/lower/lower.h"
#include <string.h>

/* ------------------------------------------------------------------ isa */
unsigned lower_word_at(const struct fe *fe, const struct fe_pragma *p, unsigned k,
                       enum fe_words set)
{
    const struct fe_token *t = &p->tokens[k];
    unsigned value = 0;
    if (k < p->ntokens && t->kind == TOK_IDENT)
        fe_word(set, fe->u->text + t->begin, t->end - t->begin, &value);
    return value;
}

static bool is_gpu_isa(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    const char *trait = p->ntokens > k + 2 ? fe->u->text + p->tokens[k + 2].begin : "";
    return lower_word_at(fe, p, k, WORDS_SELECTOR) == SELECTOR_ISA &&
           fe_word_at(fe, p, k + 1, "(") && strncmp(trait + (*trait == '"'), "sm_", 3) == 0;
}

/* The isa in the selectors of a set that opens at token k, unless an architecture is named, too; 0:
 * none. */
static unsigned lone_isa_in(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    unsigned end = fe_closing(fe, p, k), isa = 0;
    while (++k < end) {
        if (lower_word_at(fe, p, k, WORDS_SELECTOR) == SELECTOR_ARCH)
            return 0;
        isa = is_gpu_isa(fe, p, k) ? k : isa;
        k = fe_word_at(fe, p, k + 1, "(") ? fe_closing(fe, p, k + 1) : k;
    }
    return isa;
}

unsigned lower_lone_isa(const struct fe *fe, const struct fe_pragma *p)
{
    unsigned isa = 0;
    for (unsigned k = p->clauses_at; k + 2 < p->ntokens && !isa; k++)
        if (lower_word_at(fe, p, k, WORDS_TRAIT_SET) == TRAITS_DEVICE &&
            fe_word_at(fe, p, k + 1, "=") && fe_word_at(fe, p, k + 2, "{"))
            isa = lone_isa_in(fe, p, k + 2);
    return isa;
}

/* ------------------------------------------------------------------ commas clang does not take */
/* Before the clauses; 0: there is none, or what follows is no clause. */
static unsigned first_comma(const struct fe *fe, const struct fe_pragma *p)
{
    unsigned k = p->nnames ? p->clauses_at : p->ntokens;
    if (fe_word_at(fe, p, k, "("))
        k = fe_closing(fe, p, k) + 1;
    return fe_word_at(fe, p, k, ",") && k + 1 < p->ntokens && !fe_word_at(fe, p, k + 1, "(") ? k
                                                                                             : 0;
}

/* The next one from token k on that clang does not take: also any between clauses of a
 * metadirective.  0: there is none. */
static unsigned next_comma(const struct fe *fe, const struct fe_pragma *p, unsigned k)
{
    enum omp_directive d = p->c->directive;
    bool all = d == OMPDIR_METADIRECTIVE || d == OMPDIR_BEGIN_METADIRECTIVE;
    unsigned first = first_comma(fe, p);
    if (first && first >= k)
        return first;
    for (; all && k < p->ntokens; k++) {
        if (fe_word_at(fe, p, k, ","))
            return k;
        k = fe_word_at(fe, p, k, "(") ? fe_closing(fe, p, k) : k;
    }
    return 0;
}

bool lower_has_comma(struct fe *fe, const struct fe_pragma *p)
{
    return !fe_is_system(fe, p->extent.begin) && next_comma(fe, p, p->clauses_at);
}

void lower_commas(struct lowering *l, struct fe_pragma *p)
{
    for (unsigned k = p->clauses_at; (k = next_comma(l->fe, p, k)); k++)
        fe_add_edit(l->fe, &l->edits, p->tokens[k].begin, 1, " ");
}

/* ------------------------------------------------------------------ device(device_num: d) */
/* The token of the modifier; 0: there is none, or clang knows it there. */
static unsigned device_modifier(const struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    return p->nnames && !(p->c->leaves & OMPL_TARGET) &&
                   lower_find(fe, p, OMPC_DEVICE, p->clauses_at, &a) &&
                   lower_keyword(fe, p, a.begin) == OMPK_DEVICE_NUM &&
                   fe_word_at(fe, p, a.begin + 1, ":")
               ? a.begin
               : 0;
}

bool lower_has_device_modifier(struct fe *fe, const struct fe_pragma *p)
{
    return !fe_is_system(fe, p->extent.begin) && device_modifier(fe, p);
}

void lower_device_modifier(struct lowering *l, struct fe_pragma *p)
{
    unsigned k = device_modifier(l->fe, p), begin = p->tokens[k].begin;
    fe_add_edit(l->fe, &l->edits, begin, p->tokens[k + 1].end - begin, "");
}

/* ------------------------------------------------------------------ where an iterator stands */
struct modifiers { /* tokens */
    unsigned begin, end, iterator, iterator_end;
};

/* Those of the clause, if its iterator does not stand where clang reads it. */
static bool is_misplaced(const struct fe *fe, const struct fe_pragma *p,
                         const struct lower_argument *a, struct modifiers *m)
{
    *m = (struct modifiers){ .begin = a->begin, .end = fe_find_top(fe, p, a->begin, a->end, ":") };
    for (unsigned k = m->begin, end; m->end < a->end && k < m->end; k = end + 1) {
        end = fe_find_top(fe, p, k, m->end, ",");
        if (lower_keyword(fe, p, k) == OMPK_ITERATOR && fe_word_at(fe, p, k + 1, "("))
            m->iterator = k, m->iterator_end = end;
    }
    bool first = fe_clause_named(fe, &p->tokens[a->at]) == OMPC_MAP;
    return m->iterator && (first ? m->iterator > m->begin : m->iterator_end < m->end);
}

static bool next_misplaced(const struct fe *fe, const struct fe_pragma *p, unsigned k,
                           struct modifiers *m)
{
    static const enum omp_clause_kind kinds[] = { OMPC_MAP, OMPC_TO, OMPC_FROM };
    struct lower_argument a;
    for (unsigned i = 0; p->nnames && i < sizeof kinds / sizeof *kinds; i++)
        for (unsigned at = k; lower_find(fe, p, kinds[i], at, &a); at = lower_after(fe, p, &a))
            if (is_misplaced(fe, p, &a, m))
                return true;
    return false;
}

bool lower_has_misplaced_iterator(struct fe *fe, const struct fe_pragma *p)
{
    struct modifiers m;
    return !fe_is_system(fe, p->extent.begin) && next_misplaced(fe, p, p->clauses_at, &m);
}

/* One, the others in another round. */
void lower_misplaced_iterator(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct modifiers m;
    next_misplaced(fe, p, p->clauses_at, &m);
    bool last = m.iterator_end == m.end; /* it goes to the beginning */
    const char *iterator = lower_tokens(fe, p, m.iterator, m.iterator_end),
               *others =
                   last ? lower_tokens(fe, p, m.begin, m.iterator - 1)
                        : arena_printf(fe->a, "%s %s", lower_tokens(fe, p, m.begin, m.iterator),
                                       lower_tokens(fe, p, m.iterator_end + 1, m.end));
    bool first = fe_clause_named(fe, &p->tokens[m.begin - 2]) == OMPC_MAP;
    unsigned begin = p->tokens[m.begin].begin;
    fe_add_edit(
        fe, &l->edits, begin, p->tokens[m.end].begin - begin,
        arena_printf(fe->a, "%s, %s", first ? iterator : others, first ? others : iterator));
}

/* ------------------------------------------------------------------ depobj(d) destroy(d) */
bool lower_destroys(struct fe *fe, const struct fe_pragma *p)
{
    return !fe_host_is_gcc() && !fe_is_system(fe, p->extent.begin) &&
           fe_word_at(fe, p, p->clauses_at, "(");
}

static void check_argument(struct fe *fe, const struct fe_pragma *p, unsigned close)
{
    struct lower_argument a;
    if (!lower_find(fe, p, OMPC_DESTROY, close, &a) || a.begin == a.at + 1)
        return;
    struct omp_extent object = { p->tokens[p->clauses_at].end, p->tokens[close].begin },
                      argument = { p->tokens[a.begin].begin, p->tokens[a.end - 1].end };
    if (!fe_same_text(fe->u, object, argument))
        fe_error(fe, p->tokens[a.begin].begin,
                 "the argument of 'destroy' is not the object that 'depobj' names");
}

/* The dependences follow a first one that has their number. */
void lower_destroy(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    const char *object = lower_name(l, "object");
    unsigned close = fe_closing(fe, p, p->clauses_at);
    check_argument(fe, p, close);
    lower_replace(
        l, p->extent,
        arena_printf(fe->a,
                     "{ extern int __kmpc_global_thread_num(void *); extern void "
                     "__kmpc_free(int, void *, void *); struct %s { long base; unsigned long size; "
                     "unsigned char flags; }; void **%s = &(%s); "
                     "__kmpc_free(__kmpc_global_thread_num(0), (struct %s *)*%s - 1, 0); }",
                     object, object, lower_tokens(fe, p, p->clauses_at + 1, close), object,
                     object));
}

static bool destroys(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    return p->c->directive == OMPDIR_DEPOBJ && lower_find(fe, p, OMPC_DESTROY, p->clauses_at, &a) &&
           lower_destroys(fe, p);
}

/* ------------------------------------------------------------------ loops that others generate */
static bool generates_loops(enum omp_directive d)
{
    static const enum omp_directive some[] = { OMPDIR_TILE,    OMPDIR_STRIPE,      OMPDIR_UNROLL,
                                               OMPDIR_REVERSE, OMPDIR_INTERCHANGE, OMPDIR_FUSE };
    for (unsigned i = 0; i < sizeof some / sizeof *some; i++)
        if (some[i] == d)
            return true;
    return false;
}

/* The next directive may be in its loops. */
static bool collapses_generated(const struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    const struct fe_pragma *next = p + 1;
    return p->assoc == ASSOC_LOOP && next < fe->pragmas.at + fe->pragmas.n &&
           generates_loops(next->c->directive) &&
           ((p->c->leaves & OMPL_SIMD) || lower_find(fe, p, OMPC_COLLAPSE, p->clauses_at, &a) ||
            lower_find(fe, p, OMPC_ORDERED, p->clauses_at, &a));
}

bool lower_is_misread(struct fe *fe, const struct fe_pragma *p)
{
    return collapses_generated(fe, p) || destroys(fe, p) || lower_is_split(fe, p) ||
           lower_has_target_default(fe, p) || lower_has_group_type(fe, p) ||
           lower_lone_isa(fe, p) || next_comma(fe, p, p->clauses_at) || device_modifier(fe, p) ||
           lower_has_misplaced_iterator(fe, p) || lower_is_reverse(fe, p) ||
           lower_has_levels(fe, p) || lower_has_original(fe, p) || lower_appends_preferred(fe, p) ||
           lower_selects_required(fe, p) || p->c->directive == OMPDIR_DECLARE_INDUCTION ||
           p->c->directive == OMPDIR_SPLIT || p->c->directive == OMPDIR_TASK_ITERATION ||
           /* a variant that it has not chosen itself would go unchecked */
           (p->c->directive == OMPDIR_METADIRECTIVE && lower_may_choose_late(fe, p));
}
