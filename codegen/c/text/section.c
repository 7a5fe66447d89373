/* section.c - array sections as C expressions: bounds, first address, bytes. */
#include "codegen/c/text/text.h"

const char *cg_lower_bound(struct cg *cg, const struct omp_section *s)
{
    return cg_empty(s->lower.extent) ? "0" : cg_expr(cg, s->lower.extent);
}

const char *cg_section_length(struct cg *cg, const struct omp_section *s, const char *at)
{
    if (!s->is_section || s->is_assumed)
        return s->is_assumed ? "0" : "1";
    if (!cg_empty(s->length.extent))
        return cg_strf(cg, "(%s)", cg_expr(cg, s->length.extent));
    return cg_strf(cg, "(sizeof(%s) / sizeof((%s)[0]) - (%s))", at, at, cg_lower_bound(cg, s));
}

const char *cg_section_base(struct cg *cg, const struct omp_item *item)
{
    const char *base = cg_expr(cg, item->base);
    if (cg_empty(item->shape))
        return cg_strf(cg, "(%s)", base);
    return cg_strf(cg, "((__typeof__((%s)[0]) (*)%s)(%s))", base, cg_expr(cg, item->shape), base);
}

/* begin = &B[l0][l1]…; bytes up to the end of the last element: (n0-1)*sizeof B[0] + (n1-1)*sizeof
 * B[0][0] + … + sizeof B[0]…[0] */
struct cg_span cg_span_of(struct cg *cg, const struct omp_item *item)
{
    const char *at = cg_section_base(cg, item), *begin = at, *sum = "", *any = "", *lengths = "";
    for (unsigned i = 0; i < item->nsections; i++) {
        const struct omp_section *s = &item->sections[i];
        const char *n = cg_section_length(cg, s, at);
        begin = cg_strf(cg, "%s[%s]", begin, cg_lower_bound(cg, s));
        at = cg_strf(cg, "%s[0]", at);
        if (item->nsections == 1)
            return (struct cg_span){ cg_strf(cg, "&%s", begin),
                                     cg_strf(cg, "%s * sizeof(%s)", n, at) };
        lengths = cg_strf(cg, "%s const unsigned long @n%u = %s;", lengths, i, n);
        any = cg_strf(cg, "%s%s@n%u", any, i ? " && " : "", i);
        sum = cg_strf(cg, "%s(@n%u - 1) * sizeof(%s) + ", sum, i, at);
    }
    return (struct cg_span){ cg_strf(cg, "&%s", begin),
                             cg_strf(cg, "({%s %s ? %ssizeof(%s) : 0; })", lengths, any, sum, at) };
}
