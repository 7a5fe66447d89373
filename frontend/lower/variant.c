/* variant.c - functions between `begin declare variant` and its end.
 *
 * Each gets a name of its own, and the function whose name it had is declared again with it as its
 * variant; before it, because a call of that name in it is one of the variant:
 *
 *     begin declare variant match(M)        int f_1(int x);
 *     int f(int x) {…}                      #pragma omp declare variant(f_1) match(M)
 *     end declare variant                   int f(int x);
 *                                           int f_1(int x) {…}
 *
 * Blocks that only the host may use are left to clang.  A block inside of another one becomes one
 * beside it first, which has the selectors of both (6.0, section 9.6.5). */
#include "frontend/lower/lower.h"
#include <string.h>

struct definition { /* of a function */
    struct omp_extent head, name;
    unsigned end;
};

/* Words that brackets follow without making it a function. */
static bool takes_argument(const struct fe *fe, const struct fe_token *t)
{
    static const char *const words[] = { "__attribute__", "__attribute", "__typeof__", "typeof",
                                         "__typeof",      "_Alignas",    "__declspec", "_Atomic" };
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (fe_token_is(fe, t, words[i]))
            return true;
    return false;
}

/* After the bracket that closes what opens at t. */
static unsigned skip_brackets(const struct fe *fe, struct fe_token t)
{
    unsigned end = t.begin;
    int depth = 0;
    for (unsigned i = t.begin; fe_next_token(fe->u, i, &t); i = t.end) {
        depth += fe_bracket(fe->u, &t);
        end = t.end;
        if (depth <= 0)
            break;
    }
    return end;
}

/* The first name in brackets that end before `end`: (f), (*f(int)). */
static struct omp_extent name_inside(const struct fe *fe, unsigned open, unsigned end)
{
    struct fe_token t;
    for (unsigned i = open + 1; fe_next_token(fe->u, i, &t) && t.begin < end; i = t.end)
        if (t.kind == TOK_IDENT)
            return (struct omp_extent){ t.begin, t.end };
    return (struct omp_extent){ 0, 0 };
}

/* The next definition of a function in [from, to). */
static bool find_definition(const struct fe *fe, unsigned from, unsigned to, struct definition *d)
{
    struct fe_token t, last = { TOK_PUNCT, 0, 0 };
    *d = (struct definition){ .end = 0 };
    for (unsigned i = from; fe_next_token(fe->u, i, &t) && t.begin < to; last = t) {
        char c = t.kind == TOK_PUNCT ? fe->u->text[t.begin] : 0;
        i = c == '(' || c == '[' || c == '{' ? skip_brackets(fe, t) : t.end;
        if (!d->head.end)
            d->head = (struct omp_extent){ t.begin, t.begin + 1 };
        if (c == '(' && fe->u->text[last.begin] == '(' && last.kind == TOK_PUNCT)
            d->name = name_inside(fe, last.begin, t.begin);
        else if (c == '(' && last.kind == TOK_IDENT && !takes_argument(fe, &last) && !d->name.end)
            d->name = (struct omp_extent){ last.begin, last.end };
        if (c == '{' && d->name.end) {
            d->head.end = t.begin;
            d->end = i;
            return true;
        }
        if (c == ';' || c == '=')
            *d = (struct definition){ .end = 0 };
    }
    return false;
}

/* ------------------------------------------------------------------ types that clang hides */
/* clang 22 takes no struct or union for defined in a function whose definition follows a directive
 * that is about it.  With a declaration in between it does. */
static bool find_next_definition(const struct fe *fe, const struct fe_pragma *p,
                                 struct definition *d)
{
    struct fe_token first;
    unsigned to = p + 1 < fe->pragmas.at + fe->pragmas.n ? p[1].extent.begin : fe->u->length;
    return fe_next_token(fe->u, p->extent.end, &first) &&
           find_definition(fe, p->extent.end, to, d) && d->head.begin == first.begin;
}

bool lower_hides_types(struct fe *fe, const struct fe_pragma *p)
{
    struct definition d;
    struct fe_token t, next;
    if (!find_next_definition(fe, p, &d))
        return false;
    for (unsigned i = d.head.end; fe_next_token(fe->u, i, &t) && t.begin < d.end; i = t.end) {
        if (!fe_token_is(fe, &t, "struct") && !fe_token_is(fe, &t, "union"))
            continue;
        unsigned at = t.end; /* attributes and a name may come first */
        while (
            fe_next_token(fe->u, at, &next) &&
            (next.kind == TOK_IDENT || fe_token_is(fe, &next, "(") || fe_token_is(fe, &next, "[")))
            at = next.kind == TOK_IDENT ? next.end : skip_brackets(fe, next);
        if (fe_token_is(fe, &next, "{"))
            return true;
    }
    return false;
}

void lower_hidden_types(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct definition d;
    find_next_definition(fe, p, &d);
    fe_add_edit(fe, &l->edits, d.head.begin, 0,
                arena_printf(fe->a, "%s;\n# %u\n", fe_text(fe, d.head),
                             fe_place(fe->u, d.head.begin).line));
}

/* ------------------------------------------------------------------ blocks */
/* What a directive adds to the number of blocks that are open. */
static int change_of_depth(const struct fe_pragma *p)
{
    return p->c->directive == OMPDIR_BEGIN_DECLARE_VARIANT ? 1
           : p->c->directive == OMPDIR_END_DECLARE_VARIANT ? -1
                                                           : 0;
}

static const struct fe_pragma *end_of_block(const struct fe *fe, const struct fe_pragma *p)
{
    int depth = 0;
    for (; p < fe->pragmas.at + fe->pragmas.n; p++) {
        depth += change_of_depth(p);
        if (depth == 0)
            return p;
    }
    return NULL;
}

/* How many blocks are open where this one begins; *outermost: the first of them. */
static int depth_of_block(const struct fe *fe, const struct fe_pragma *p,
                          const struct fe_pragma **outermost)
{
    int depth = 0;
    for (const struct fe_pragma *q = fe->pragmas.at; q < p; q++) {
        depth += change_of_depth(q);
        if (depth == 1 && change_of_depth(q) == 1)
            *outermost = q;
        if (depth < 0)
            depth = 0;
    }
    return depth;
}

/* What is deeper inside waits for the block around it. */
bool lower_is_inner_variant_block(struct fe *fe, const struct fe_pragma *p)
{
    const struct fe_pragma *outer;
    return !fe_is_system(fe, p->extent.begin) && depth_of_block(fe, p, &outer) == 1 &&
           end_of_block(fe, p);
}

bool lower_is_variant_block(struct fe *fe, const struct fe_pragma *p)
{
    const struct fe_pragma *next = p + 1, *outer, *last = fe->pragmas.at + fe->pragmas.n;
    while (next < last && !change_of_depth(next))
        next++;
    bool holds_another = next < last && change_of_depth(next) > 0 && end_of_block(fe, p);
    return !fe_is_system(fe, p->extent.begin) && !holds_another &&
           depth_of_block(fe, p, &outer) == 0 && fe_variants_match(fe, p, true);
}

/* ------------------------------------------------------------------ selectors of two blocks */
/* Are two traits the same?  vendor(llvm) is vendor("llvm"). */
static bool is_same_trait(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "\" ");
        b += strspn(b, "\" ");
        if (*a != *b || !*a)
            return *a == *b;
    }
}

/* The set that begins at token k of match(), up to `end`: device={…}; where its traits are. */
static struct lower_argument read_set(const struct fe *fe, const struct fe_pragma *p, unsigned k,
                                      unsigned end)
{
    return (struct lower_argument){ k, k + 3 < end ? k + 3 : end,
                                    k + 2 < end ? fe_closing(fe, p, k + 2) : end };
}

static bool has_trait(struct fe *fe, const struct fe_pragma *p, const struct lower_argument *set,
                      const char *trait)
{
    for (unsigned k = set->begin, next; k < set->end; k = next + 1) {
        next = fe_find_top(fe, p, k, set->end, ",");
        if (is_same_trait(lower_tokens(fe, p, k, next), trait))
            return true;
    }
    return false;
}

/* The set of that name. */
static bool find_set(struct fe *fe, const struct fe_pragma *p, const char *name,
                     struct lower_argument *set)
{
    struct lower_argument match;
    if (!lower_find(fe, p, OMPC_MATCH, p->clauses_at, &match))
        return false;
    for (unsigned k = match.begin; k < match.end; k = fe_find_top(fe, p, k, match.end, ",") + 1) {
        *set = read_set(fe, p, k, match.end);
        if (!strcmp(lower_tokens(fe, p, k, k + 1), name))
            return true;
    }
    return false;
}

/* The traits of a set of the outer block that the inner one has not. */
static const char *more_traits(struct fe *fe, const struct fe_pragma *outer,
                               const struct lower_argument *from, const struct fe_pragma *inner,
                               const struct lower_argument *has)
{
    const char *more = "";
    for (unsigned k = from->begin, next; k < from->end; k = next + 1) {
        next = fe_find_top(fe, outer, k, from->end, ",");
        const char *trait = lower_tokens(fe, outer, k, next);
        if (!has_trait(fe, inner, has, trait))
            more = arena_printf(fe->a, "%s, %s", more, trait);
    }
    return more;
}

/* The sets of `first`, with what `second` adds to them; or only those that `second` has not. */
static const char *list_sets(struct fe *fe, const struct fe_pragma *first,
                             const struct fe_pragma *second, bool rest)
{
    const char *list = "";
    struct lower_argument match, other;
    if (!lower_find(fe, first, OMPC_MATCH, first->clauses_at, &match))
        return list;
    for (unsigned k = match.begin, next; k < match.end; k = next + 1) {
        next = fe_find_top(fe, first, k, match.end, ",");
        struct lower_argument set = read_set(fe, first, k, match.end);
        const char *name = lower_tokens(fe, first, k, k + 1);
        bool both = find_set(fe, second, name, &other);
        if (rest && both)
            continue;
        list = arena_printf(fe->a, "%s%s%s={%s%s}", list, *list ? ", " : "", name,
                            lower_tokens(fe, first, set.begin, set.end),
                            both ? more_traits(fe, second, &other, first, &set) : "");
    }
    return list;
}

void lower_inner_variant_block(struct lowering *l, struct fe_pragma *p)
{
    static const char end_line[] = "omp end declare variant";
    struct fe *fe = l->fe;
    const struct fe_pragma *outer, *end = end_of_block(fe, p);
    depth_of_block(fe, p, &outer);
    const char *own = list_sets(fe, p, outer, false), *rest = list_sets(fe, outer, p, true);
    const char *begin = arena_printf(fe->a, "omp begin declare variant match(%s%s%s)", own,
                                     *own && *rest ? ", " : "", rest);
    const char *again = arena_printf(fe->a, "omp %s", lower_tokens(fe, outer, 0, outer->ntokens));
    fe_add_edit(fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                arena_printf(fe->a, "%s%s", lower_line(fe, end_line, p->extent.begin),
                             lower_line(fe, begin, p->extent.end)));
    fe_add_edit(fe, &l->edits, end->extent.begin, end->extent.end - end->extent.begin,
                arena_printf(fe->a, "%s%s", lower_line(fe, end_line, end->extent.begin),
                             lower_line(fe, again, end->extent.end)));
}

/* ------------------------------------------------------------------ functions of a block */

/* Names of such functions, of all rounds. */
static VEC(const char *) for_gpu;

bool fe_is_for_gpu(const char *function)
{
    for (unsigned i = 0; i < for_gpu.n; i++)
        if (strcmp(for_gpu.at[i], function) == 0)
            return true;
    return false;
}

/* The base may be defined, or used, already, or be none of the host's. */
#define IN_SILENCE(declaration)                                                                    \
    "#pragma GCC diagnostic push\n"                                                                \
    "#pragma GCC diagnostic ignored \"-Wignored-attributes\"\n"                                    \
    "#pragma GCC diagnostic ignored \"-Wsource-uses-openmp\"\n" declaration                        \
    ";\n#pragma GCC diagnostic pop"

static void add_variant(struct lowering *l, const struct fe_pragma *p, const struct definition *d,
                        bool host)
{
    struct fe *fe = l->fe;
    const char *name = arena_printf(fe->a, "%s_%s", lower_name(l, "variant"), fe_text(fe, d->name));
    if (!host)
        *VEC_PUSH(NULL, &for_gpu) = mem_strdup(name);
    const char *head = arena_printf(
        fe->a, "%s%s%s", fe_text(fe, (struct omp_extent){ d->head.begin, d->name.begin }), name,
        fe_text(fe, (struct omp_extent){ d->name.end, d->head.end }));
    const char *directive =
        arena_printf(fe->a, "#pragma omp declare variant(%s) %s%s", name,
                     lower_tokens(fe, p, p->clauses_at, p->ntokens), lower_text(fe, d->head));
    fe_add_edit(fe, &l->edits, d->head.begin, 0,
                arena_printf(fe->a, "%s;\n" IN_SILENCE("%s%s") "\n# %u\n", head, directive,
                             host ? "" : " __attribute__((unused))",
                             fe_place(fe->u, d->head.begin).line));
    fe_add_edit(fe, &l->edits, d->name.begin, d->name.end - d->name.begin, name);
}

void lower_variant_block(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    const struct fe_pragma *end = end_of_block(fe, p);
    struct definition d;
    if (!end) {
        fe_error_at(fe, p->c->place, "'%s' without its end", p->c->spelling);
        return;
    }
    bool host = fe_variants_match(fe, p, false);
    for (unsigned at = p->extent.end; find_definition(fe, at, end->extent.begin, &d); at = d.end)
        add_variant(l, p, &d, host);
    fe_add_edit(
        fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
        host ? fe_newlines_of(fe, p->extent)
             : lower_line(fe, "omp begin declare target device_type(nohost)", p->extent.end));
    fe_add_edit(fe, &l->edits, end->extent.begin, end->extent.end - end->extent.begin,
                host ? fe_newlines_of(fe, end->extent)
                     : lower_line(fe, "omp end declare target", end->extent.end));
}
