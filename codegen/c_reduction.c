/* c_reduction.c - what a reduction needs to know about types: identity, combination, the record that the runtime moves around. */
#include <stdlib.h>
#include <string.h>
#include "codegen/c_write.h"

static const char *largest(struct cg *cg, const struct omp_type *t, bool is_max)
{
    static const struct { unsigned size; const char *max; } limits[] = {
        { 1, "__SCHAR_MAX__" }, { 2, "__SHRT_MAX__" }, { 4, "__INT_MAX__" }, { 8, "__LONG_LONG_MAX__" },
    };
    if (t->kind == OMPT_FLOAT)
        return is_max ? "-__builtin_inf()" : "__builtin_inf()";
    if (t->kind == OMPT_BOOL)
        return is_max ? "0" : "1";
    if (!t->is_signed)
        return is_max ? "0" : cg_strf(cg, "(%s)-1", cg_type(cg, t, "", CG_UNQUALIFIED));
    for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].size == t->size)
            return is_max ? cg_strf(cg, "-%s - 1", limits[i].max) : limits[i].max;
    return NULL;
}

const char *cg_identity(struct cg *cg, const struct omp_type *t, enum omp_red_op op)
{
    while (t->kind == OMPT_ARRAY && !t->variably_modified && t->elem)
        t = t->elem;
    bool integer = t->kind == OMPT_INT || t->kind == OMPT_BOOL, real = integer || t->kind == OMPT_FLOAT;
    if ((!real && t->kind != OMPT_COMPLEX) || t->is_long_double || t->size > (t->kind == OMPT_COMPLEX ? 16 : 8))
        return NULL;
    switch (op) {
    case OMPR_ADD: case OMPR_SUB: return "0";
    case OMPR_MUL: return "1";
    case OMPR_LOR: return real ? "0" : NULL;
    case OMPR_LAND: return real ? "1" : NULL;
    case OMPR_OR: case OMPR_XOR: return integer ? "0" : NULL;
    case OMPR_AND: return integer ? "~0" : NULL;
    case OMPR_MIN: return real ? largest(cg, t, false) : NULL;
    case OMPR_MAX: return real ? largest(cg, t, true) : NULL;
    default: return NULL;
    }
}

const char *cg_combined(struct cg *cg, enum omp_red_op op, const char *a, const char *b)
{
    static const char *const operators[] = { [OMPR_ADD] = "+", [OMPR_SUB] = "+", [OMPR_MUL] = "*", [OMPR_AND] = "&", [OMPR_OR] = "|",
                                             [OMPR_XOR] = "^", [OMPR_LAND] = "&&", [OMPR_LOR] = "||" };
    if (op == OMPR_MIN)
        return cg_strf(cg, "%s < %s ? %s : %s", b, a, b, a);
    if (op == OMPR_MAX)
        return cg_strf(cg, "%s > %s ? %s : %s", b, a, b, a);
    return cg_strf(cg, "%s %s %s", a, operators[op], b);
}

/* a = a op b, for every element of an array */
static const char *combine(struct cg *cg, const struct cg_private *p, const char *a, const char *b)
{
    enum omp_red_op op = p->sharing->clause->op;
    const struct omp_type *t = p->var->type;
    if (t->kind != OMPT_ARRAY)
        return cg_strf(cg, "%s = %s;", a, cg_combined(cg, op, a, b));
    while (t->kind == OMPT_ARRAY)
        t = t->elem;
    const char *e = cg_type(cg, t, "", CG_UNQUALIFIED), *i = "[__i]";
    const char *ai = cg_strf(cg, "((%s *)&%s)%s", e, a, i), *bi = cg_strf(cg, "((const %s *)&%s)%s", e, b, i);
    return cg_strf(cg, "for (unsigned __i = 0; __i < sizeof(%s) / sizeof(%s); __i++) %s = %s;", a, e, ai, cg_combined(cg, op, ai, bi));
}

static bool is_reduction(const struct cg_private *p) { return p->sharing->share == OMPSH_REDUCTION; }

void cg_reduction_record(struct cg *cg, struct cg_privates *p)
{
    if (!p->reduction || p->finish == CG_SERIAL || p->finish == CG_LOCKED)
        return;
    const char *name = cg_name(cg, p->base, "");
    struct cg_text *out = cg->out;
    cg->out = cg->before;
    p->record = cg_strf(cg, "struct __red_%s", name);
    cg_put(cg, "%s {", p->record);
    for (unsigned i = 0; i < p->n; i++)
        if (is_reduction(&p->list[i]))
            cg_put(cg, " %s %s;", cg_var_type(cg, p->list[i].var, CG_UNQUALIFIED), p->list[i].var->name);
    cg_put(cg, " };\n__OMPGPU_INLINE void __combine_%s(void *__p, const void *__q)\n{\n", name);
    cg_put(cg, "  %s *__a = __p; const %s *__b = __q;\n", p->record, p->record);
    for (unsigned i = 0; i < p->n; i++)
        if (is_reduction(&p->list[i]))
            cg_put(cg, "  %s\n", combine(cg, &p->list[i], cg_strf(cg, "__a->%s", p->list[i].var->name),
                                          cg_strf(cg, "__b->%s", p->list[i].var->name)));
    cg_puts(cg, "}\n");
    cg->out = out;
}

/* The winner's `*original = *original op result`. */
static void update_originals(struct cg *cg, const struct cg_privates *p, const char *from)
{
    if (p->lock)
        cg_put(cg, " __ompgpu_critical_begin(&%s);", p->lock);
    for (unsigned i = 0; i < p->n; i++)
        if (is_reduction(&p->list[i]))
            cg_put(cg, " %s", combine(cg, &p->list[i], cg_strf(cg, "(*__o_%s)", p->list[i].var->name),
                                       cg_strf(cg, "%s%s", from, p->list[i].var->name)));
    if (p->lock)
        cg_put(cg, " __ompgpu_critical_end(&%s);", p->lock);
}

void cg_finish_reduction(struct cg *cg, const struct cg_privates *p)
{
    static const char *const calls[] = {
        [CG_PARALLEL] = "__ompgpu_reduce_parallel(", [CG_LEAGUE] = "__ompgpu_reduce_league(__env, ", [CG_TEAMS] = "__ompgpu_reduce_teams(__env, ",
    };
    if (!p->reduction)
        return;
    cg_line(cg, "{");
    if (!p->record) {
        update_originals(cg, p, "");
        cg_puts(cg, " }");
        return;
    }
    cg_put(cg, " %s __rec, __tmp;", p->record);
    for (unsigned i = 0; i < p->n; i++)
        if (is_reduction(&p->list[i]))
            cg_put(cg, " %s", cg_assign(cg, p->list[i].var->type, cg_strf(cg, "__rec.%s", p->list[i].var->name), p->list[i].var->name));
    cg_line(cg, "  if (%s&__rec, &__tmp, sizeof __rec, __combine_%s)) {", calls[p->finish], p->record + strlen("struct __red_"));
    update_originals(cg, p, "__rec.");
    cg_puts(cg, " } }");
}
