/* udr.c - user-defined reductions: `declare reduction(NAME : TYPES : COMBINER) initializer(…)`.
 * Inductions too: `declare induction(NAME : TYPES) inductor(…) collector(…)`, whose expressions
 * have the places of combiner and initialiser.
 *
 * The texts of combiner and initialiser are kept; codegen instantiates them for the type of each
 * list item.  What is decided here is which declaration an item means: of the visible ones with its
 * name and type, the innermost.  clang has checked that there is one. */
#include "frontend/reader.h"
#include <ctype.h>

/* ------------------------------------------------------------------ reading */
bool fe_is_for_types(const struct fe_pragma *p)
{
    return p->c->directive == OMPDIR_DECLARE_REDUCTION ||
           p->c->directive == OMPDIR_DECLARE_INDUCTION;
}

static struct omp_extent read_argument(struct reader *r, unsigned b, unsigned e)
{
    if (r->collecting)
        fe_add_operand(r, b, e, false);
    return extent_of(r, b, e);
}

static unsigned read_initialiser(struct reader *r, unsigned k, struct omp_udr *d)
{
    unsigned end = closing(r, k++);
    d->init_is_call = !token_is(r, k, "omp_priv") || !token_is(r, k + 1, "=");
    if (d->init_is_call && !token_is(r, k + 1, "(") && !r->collecting)
        fe_error_at(r->fe, d->place,
                    "the initializer of a 'declare reduction' is neither 'omp_priv = …' nor a "
                    "function call");
    d->init = read_argument(r, d->init_is_call ? k : k + 2, end);
    return end + 1;
}

static bool read_induction_parts(struct reader *r, unsigned k, struct omp_udr *d)
{
    while ((k += token_is(r, k, ",")) && token_is(r, k + 1, "(")) {
        unsigned end = closing(r, k + 1);
        if (token_is(r, k, "inductor"))
            d->combiner = read_argument(r, k + 2, end);
        if (token_is(r, k, "collector"))
            d->init = read_argument(r, k + 2, end);
        k = end + 1;
    }
    return d->combiner.end && d->init.end;
}

bool fe_read_udr_parts(struct reader *r, struct omp_udr *d)
{
    unsigned k = r->p->clauses_at, end, close = closing(r, k);
    *d = (struct omp_udr){ .place = r->p->c->place };
    if (!token_is(r, k, "("))
        return false;
    end = find_top(r, ++k, close, ":");
    d->name = fe_text(r->fe, extent_of(r, k, end));
    k = end + 1;
    end = find_top(r, k, close, ":");
    d->types = extent_of(r, k, end);
    if (r->p->c->directive == OMPDIR_DECLARE_INDUCTION)
        return read_induction_parts(r, close + 1, d);
    if (end < close)
        d->combiner = read_argument(r, end + 1, close);
    for (k = close + 1; k + 1 < r->p->ntokens;) {
        if (token_is(r, k, "initializer")) {
            k = read_initialiser(r, k + 1, d);
        } else if (token_is(r, k, ",")) {
            k++;
        } else {
            break; /* clang ignores the rest, with a warning */
        }
    }
    return d->combiner.end;
}

void fe_read_udr(struct fe *fe, struct fe_pragma *p)
{
    struct reader r = { .fe = fe, .p = p, .end = p->ntokens };
    struct omp_udr d;
    if (!fe_read_udr_parts(&r, &d))
        return;
    d.scope = (struct omp_extent){ p->extent.begin, p->extent.end };
    for (unsigned i = 0; i < fe->udr_types.n; i++)
        if (fe->udr_types.at[i].offset == p->extent.begin)
            d.scope.end = fe->udr_types.at[i].scope_end;
    *VEC_PUSH(fe->a, &fe->udrs) = d;
}

/* ------------------------------------------------------------------ types */
static CXType plain(CXType t) { return clang_getUnqualifiedType(clang_getCanonicalType(t)); }

static bool has_type(struct fe *fe, const struct omp_udr *d, CXType wanted)
{
    for (unsigned i = 0; wanted.kind != CXType_Invalid && i < fe->udr_types.n; i++)
        if (fe->udr_types.at[i].offset == d->scope.begin &&
            clang_equalTypes(plain(fe->udr_types.at[i].type), plain(wanted)))
            return true;
    return false;
}

struct fe_type_pair fe_type_pair(const struct fe *fe, const struct fe_pragma *p, unsigned b,
                                 unsigned e)
{
    if (!fe_word_at(fe, p, b, "("))
        return (struct fe_type_pair){ b, e, b, e };
    unsigned close = fe_closing(fe, p, b), comma = fe_find_top(fe, p, b + 1, close, ",");
    return (struct fe_type_pair){ b + 1, comma, comma + 1, close };
}

/* The walk notes the types in their order. */
struct fe_type_pair fe_induced_pair(struct fe *fe, const struct fe_pragma *p, CXType wanted)
{
    unsigned close = fe_closing(fe, p, p->clauses_at), end;
    unsigned k = fe_find_top(fe, p, p->clauses_at + 1, close, ":") + 1, number = 0;
    for (; k < close; k = end + 1, number++) {
        end = fe_find_top(fe, p, k, close, ",");
        unsigned n = 0;
        for (unsigned i = 0; i < fe->udr_types.n; i++)
            if (fe->udr_types.at[i].offset == p->extent.begin && n++ == number &&
                clang_equalTypes(plain(fe->udr_types.at[i].type), plain(wanted)))
                return fe_type_pair(fe, p, k, end);
    }
    return (struct fe_type_pair){ 0, 0, 0, 0 };
}

/* ------------------------------------------------------------------ looking up */
static bool is_arithmetic(CXType t)
{
    enum CXTypeKind k = clang_getCanonicalType(t).kind;
    return (k >= CXType_FirstBuiltin && k <= CXType_LastBuiltin) || k == CXType_Complex ||
           k == CXType_Enum;
}

static bool is_identifier(const char *s) { return isalpha((unsigned char)*s) || *s == '_'; }

const struct omp_udr *fe_find_udr(struct fe *fe, const char *name, CXType t, unsigned offset)
{
    const struct omp_udr *found = NULL;
    for (CXType e;
         (e = clang_getArrayElementType(clang_getCanonicalType(t))).kind != CXType_Invalid;)
        t = e;
    bool predefined = !is_identifier(name) || !strcmp(name, "min") || !strcmp(name, "max");
    if (predefined && is_arithmetic(t))
        return NULL;
    for (unsigned i = 0; i < fe->udrs.n; i++) {
        const struct omp_udr *d = &fe->udrs.at[i];
        if (fe_inside(offset, d->scope) && !strcmp(d->name, name) && has_type(fe, d, t))
            found = d;
    }
    return found;
}
