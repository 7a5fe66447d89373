/* types.c - writing types.
 *
 * A declaration is TYPE NAME whatever the type is: what cannot stand before a name is written as
 * __typeof__(…).  Types with run-time bounds are put together level by level, from the innermost:
 * __typeof__(__typeof__(double) [__a_d1]), with the bounds numbered from the outermost and held by
 * variables __NAME_d0, __NAME_d1 …  of the function in which the type stands. */
#include <string.h>
#include "codegen/c/text/text.h"

static struct omp_type *element_of(const struct omp_type *t)
{
    return t->kind == OMPT_ARRAY || t->kind == OMPT_POINTER ? t->elem : NULL;
}

unsigned cg_nbounds(const struct omp_type *t)
{
    unsigned n = 0;
    for (; t && t->variably_modified; t = element_of(t))
        n += t->kind == OMPT_ARRAY && t->vla;
    return n;
}

/* As it is spelled, where that can stand before any name. */
static const char *type_spelling(struct cg *cg, const struct omp_type *t)
{
    return strpbrk(t->spelling, "[(") ? cg_strf(cg, "__typeof__(%s)", t->spelling) : t->spelling;
}

/* Without const.  Only arrays carry it in their spelling: rebuild them from their elements. */
static const char *unqualified_type(struct cg *cg, const struct omp_type *t)
{
    if (t->kind == OMPT_ARRAY && t->is_const && t->elem)
        return cg_strf(cg, "__typeof__(%s [%llu])", unqualified_type(cg, t->elem),
                       (unsigned long long)t->bound);
    return type_spelling(cg, t);
}

static const char *type_level(struct cg *cg, const struct omp_type *t, const char *v, unsigned d,
                              enum cg_qualifiers q)
{
    if (!t->variably_modified)
        return q == CG_UNQUALIFIED ? unqualified_type(cg, t) : type_spelling(cg, t);
    if (t->kind == OMPT_POINTER)
        return cg_strf(cg, "__typeof__(%s *)", type_level(cg, t->elem, v, d, CG_AS_IS));
    if (t->vla)
        return cg_strf(cg, "__typeof__(%s [@%s_d%u])", type_level(cg, t->elem, v, d + 1, q), v, d);
    return cg_strf(cg, "__typeof__(%s [%llu])", type_level(cg, t->elem, v, d, q),
                   (unsigned long long)t->bound);
}

const char *cg_type(struct cg *cg, const struct omp_type *t, const char *v, enum cg_qualifiers q)
{
    return type_level(cg, t, v, 0, q);
}
/* In host text local types have their own names, which are not known here. */
const char *cg_var_type(struct cg *cg, const struct omp_var *v, enum cg_qualifiers q)
{
    return cg->renames ? type_level(cg, v->type, v->name, 0, q)
                       : cg_strf(cg, "__typeof__(%s)", cg_spell(cg, v));
}

const char *cg_declaration(struct cg *cg, const char *type, const char *name)
{
    size_t n = strlen(type);
    return cg_strf(cg, n && type[n - 1] == '*' ? "%s%s" : "%s %s", type, name);
}

const char *cg_reference(struct cg *cg, const struct omp_var *v)
{
    return cg_declaration(cg, cg_var_type(cg, v, CG_AS_IS), cg_strf(cg, "*%s", v->name));
}

const char *cg_bound(struct cg *cg, const struct omp_type *t, unsigned i, const char *lvalue)
{
    for (; t; t = element_of(t), lvalue = cg_strf(cg, "%s[0]", lvalue))
        if (t->kind == OMPT_ARRAY && t->vla && i-- == 0)
            break;
    return cg_strf(cg, "sizeof(%s) / sizeof(%s[0])", lvalue, lvalue);
}

/* Trip counts fit the unsigned type as wide as the induction variable; 64 bits only where it needs
 * them. */
const char *cg_unsigned(const struct omp_type *t)
{
    return t->kind == OMPT_POINTER || t->size > 4 ? "unsigned long long" : "unsigned";
}

bool cg_is_aggregate(const struct omp_type *t)
{
    return t->kind == OMPT_ARRAY || t->kind == OMPT_RECORD || t->kind == OMPT_OTHER;
}

const char *cg_assign(struct cg *cg, const struct omp_type *t, const char *to, const char *from)
{
    if (t->kind == OMPT_ARRAY)
        return cg_strf(cg, "__builtin_memcpy((void *)%s, %s, sizeof(%s));", to, from, to);
    return cg_strf(cg, "%s = %s;", to, from);
}
