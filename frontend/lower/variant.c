/* variant.c - functions between `begin declare variant` and its end.
 *
 * Each gets a name of its own, and the function whose name it had is declared again with it as its
 * variant:
 *
 *     begin declare variant match(M)        int f_1(int x) {…}
 *     int f(int x) {…}                      #pragma omp declare variant(f_1) match(M)
 *     end declare variant                   int f(int x);
 *
 * Blocks that only the host may use are left to clang. */
#include "frontend/lower/lower.h"

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

static const struct fe_pragma *end_of_block(const struct fe *fe, const struct fe_pragma *p)
{
    while (p < fe->pragmas.at + fe->pragmas.n && p->c->directive != OMPDIR_END_DECLARE_VARIANT)
        p++;
    return p < fe->pragmas.at + fe->pragmas.n ? p : NULL;
}

static void add_variant(struct lowering *l, const struct fe_pragma *p, const struct definition *d)
{
    struct fe *fe = l->fe;
    const char *name = arena_printf(fe->a, "%s_%s", lower_name(l, "variant"), fe_text(fe, d->name));
    fe_add_edit(fe, &l->edits, d->name.begin, d->name.end - d->name.begin, name);
    fe_add_edit(fe, &l->edits, d->end, 0,
                arena_printf(fe->a, "\n#pragma omp declare variant(%s) %s%s;\n# %u\n", name,
                             lower_tokens(fe, p, p->clauses_at, p->ntokens),
                             lower_text(fe, d->head), fe_place(fe->u, d->end).line));
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
        add_variant(l, p, &d);
    fe_add_edit(
        fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
        host ? fe_newlines_of(fe, p->extent)
             : lower_line(fe, "omp begin declare target device_type(nohost)", p->extent.end));
    fe_add_edit(fe, &l->edits, end->extent.begin, end->extent.end - end->extent.begin,
                host ? fe_newlines_of(fe, end->extent)
                     : lower_line(fe, "omp end declare target", end->extent.end));
}
