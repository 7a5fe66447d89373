/* mapper.c - what makes several maps of a list item: iterators, and `declare mapper`.
 *
 * A mapper is a construct whose map clauses are about its variable: sharing.c and refine.c make
 * maps of them as of any others.  Codegen does these maps for each object that the mapper is for.
 * Which mapper a list item means is decided here: of the visible ones with its name and type, the
 * innermost; without the modifier that is `default`, if there is one. */
#include "frontend/reader.h"
#include <string.h>

/* ------------------------------------------------------------------ iterators */
static void read_iterator(struct reader *r, unsigned b, unsigned e)
{
    struct omp_iterator *it = &r->c->iterators[r->c->niterators];
    unsigned equals = find_top(r, b, e, "=");
    struct bracket range;
    if (equals == e || equals == b)
        return; /* clang complains */
    it->name = extent_of(r, equals - 1, equals);
    it->type = extent_of(r, b, equals - 1);
    read_parts(r, equals + 1, e, &range);
    it->first = fe_part_of(r, &range, 0);
    it->end = fe_part_of(r, &range, 1);
    it->step = fe_part_of(r, &range, 2);
    it->var = r->collecting ? NULL : fe_var_at(r->fe, it->name.begin);
    if (it->var)
        it->var->scope.end = r->c->extent.end;
    r->c->niterators += r->collecting || it->var;
}

void fe_read_iterators(struct reader *r, unsigned open)
{
    unsigned close = closing(r, open), n = 1;
    for (unsigned k = open; k < close; k++)
        n += token_is(r, k, ",");
    r->c->iterators = arena_alloc(r->fe->a, n * sizeof *r->c->iterators);
    for (unsigned k = open + 1, end; k < close; k = end + 1) {
        end = find_top(r, k, close, ",");
        read_iterator(r, k, end);
    }
}

bool fe_names_iterator(const struct fe *fe, struct omp_extent e, const struct omp_clause *k)
{
    FE_EACH(r, fe->refs, e)
        for (unsigned i = 0; i < k->niterators; i++)
            if (r->var == k->iterators[i].var)
                return true;
    return false;
}

/* ------------------------------------------------------------------ mappers */
void fe_read_mapper(struct fe *fe, struct fe_pragma *p)
{
    struct reader r = { .fe = fe, .p = p, .end = p->ntokens };
    unsigned open = p->clauses_at, close = closing(&r, open),
             colon = find_top(&r, open + 1, close, ":"),
             type = colon < close ? colon + 1 : open + 1;
    if (!token_is(&r, open, "(") || type + 1 >= close)
        return;
    struct omp_mapper *m = arena_alloc(fe->a, sizeof *m);
    m->name = colon < close ? word_at(&r, open + 1) : "default";
    m->var = fe_var_at(fe, offset_at(&r, close - 1));
    m->type = extent_of(&r, type, close - 1);
    m->construct = p->c;
    if (!m->var)
        return;
    m->scope = (struct omp_extent){ p->extent.end, m->var->scope.end };
    m->var->scope.end = p->extent.end;
    *VEC_PUSH(fe->a, &fe->mappers) = m;
}

static CXType plain(CXType t) { return clang_getUnqualifiedType(clang_getCanonicalType(t)); }

const struct omp_mapper *fe_find_mapper(struct fe *fe, const char *name, CXType t, unsigned offset)
{
    const struct omp_mapper *found = NULL;
    for (CXType e;
         fe->mappers.n &&
         (e = clang_getArrayElementType(clang_getCanonicalType(t))).kind != CXType_Invalid;)
        t = e;
    for (unsigned i = 0; i < fe->mappers.n; i++) {
        const struct omp_mapper *m = fe->mappers.at[i];
        if (fe_inside(offset, m->scope) && !strcmp(m->name, name) &&
            clang_equalTypes(plain(fe->var_types.at[m->var->id]), plain(t)))
            found = m;
    }
    return found;
}
