/* operator.c - what a reduction does to one value or one list item: its initial value, and how two
 * are combined.
 *
 * A user-defined reduction becomes two functions per list item, @udr_… (combiner) and @init_…
 * (initialiser), in which omp_out, omp_in, omp_priv and omp_orig are macros.  In the host text,
 * where only scans need them, they are local variables around the user's text. */
#include "codegen/c/reduce/reduce.h"

/* ------------------------------------------------------------------ operators of the language */
static const char *extreme_value(struct cg *cg, const struct omp_type *t, bool is_max)
{
    static const struct {
        unsigned size;
        const char *max;
    } limits[] = {
        { 1, "127" },
        { 2, "32767" },
        { 4, "2147483647" },
        { 8, "9223372036854775807LL" },
    };
    if (t->kind == OMPT_FLOAT)
        return is_max ? "-__builtin_inf()" : "__builtin_inf()";
    if (t->kind == OMPT_BOOL)
        return is_max ? "0" : "1";
    if (t->size == 16 && t->is_signed)
        return is_max ? "(__int128)1 << 127" : "(__int128)(~(unsigned __int128)0 >> 1)";
    if (!t->is_signed)
        return is_max ? "0" : cg_strf(cg, "(%s)-1", cg_type(cg, t, "", CG_UNQUALIFIED));
    for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].size == t->size)
            return is_max ? cg_strf(cg, "-%s - 1", limits[i].max) : limits[i].max;
    return NULL;
}

const char *cg_identity(struct cg *cg, const struct omp_type *t, enum omp_red_op op)
{
    if (op == OMPR_USER || !omp_reduces(op, t->kind) || t->size > 16)
        return NULL;
    switch (omp_reduction_ops[op].identity) {
    case OMPR_ZERO: return "0";
    case OMPR_ONE: return "1";
    case OMPR_ONES: return t->kind == OMPT_BOOL ? "1" : t->size == 16 ? "~(__int128)0" : "~0";
    case OMPR_LARGEST: return extreme_value(cg, t, false);
    default: return extreme_value(cg, t, true);
    }
}

static const char *combined_values(struct cg *cg, enum omp_red_op op, const char *a, const char *b)
{
    return cg_strf(cg, omp_reduction_ops[op].combination, a, b);
}

/* ------------------------------------------------------------------ one value */
static const struct omp_udr *user_defined(const struct cg_private *p)
{
    return p->sharing->item ? p->sharing->item->udr : NULL;
}

const char *cg_combine(struct cg *cg, const struct cg_private *p, const char *a, const char *b)
{
    const struct omp_udr *d = cg->before ? NULL : user_defined(p);
    if (d)
        return cg_strf(cg, "{ __typeof__(%s) omp_out = %s, omp_in = %s; %s; %s = omp_out; }", a, a,
                       b, cg_expr(cg, d->combiner), a);
    if (p->udr)
        return cg_strf(cg, "@udr_%s(&%s, (%s *)&%s);", p->udr, a,
                       cg_type(cg, p->elem, "", CG_UNQUALIFIED), b);
    return cg_strf(cg, "%s = %s;", a, combined_values(cg, p->sharing->clause->op, a, b));
}

const char *cg_initial(struct cg *cg, const struct cg_private *p, const char *copy,
                       const char *original)
{
    const struct omp_udr *d = cg->before ? NULL : user_defined(p);
    if (d && cg_empty(d->init))
        return cg_strf(cg, "__builtin_memset(&(%s), 0, sizeof(%s));", copy, copy);
    if (d)
        return cg_strf(cg, "{ __typeof__(%s) omp_orig = %s, omp_priv%s %s; %s = omp_priv; }", copy,
                       original, d->init_is_call ? ";" : " =", cg_expr(cg, d->init), copy);
    if (p->udr)
        return cg_strf(cg, "@init_%s(&%s, (%s *)&%s);", p->udr, copy,
                       cg_type(cg, p->elem, "", CG_UNQUALIFIED), original);
    return cg_strf(cg, "%s = %s;", copy, cg_identity(cg, p->elem, p->sharing->clause->op));
}

/* The same for a whole list item that is in a record: small arrays element by element. */
const char *cg_combine_item(struct cg *cg, const struct cg_private *p, const char *a, const char *b)
{
    if (p->var->type->kind != OMPT_ARRAY && !p->section)
        return cg_combine(cg, p, a, b);
    const char *e = cg_type(cg, p->elem, "", CG_UNQUALIFIED);
    const char *ai = cg_strf(cg, "((%s *)&%s)[@i]", e, a),
               *bi = cg_strf(cg, "((const %s *)&%s)[@i]", e, b);
    return cg_strf(cg, "for (unsigned @i = 0; @i < sizeof(%s) / sizeof(%s); @i++) %s", a, e,
                   cg_combine(cg, p, ai, bi));
}

const char *cg_initial_item(struct cg *cg, const struct cg_private *p)
{
    const char *v = p->var->name, *e = cg_type(cg, p->elem, "", CG_UNQUALIFIED),
               *copy = cg_copy_name(cg, p);
    if (p->var->type->kind != OMPT_ARRAY && !p->section)
        return cg_initial(cg, p, v, cg_strf(cg, "(*@o_%s)", v));
    return cg_strf(cg, "for (unsigned @i = 0; @i < sizeof(%s) / sizeof(%s); @i++) %s", copy, e,
                   cg_initial(cg, p, cg_strf(cg, "((%s *)%s)[@i]", e, copy),
                              cg_strf(cg, "((%s *)@o_%s)[@i]", e, v)));
}

/* ------------------------------------------------------------------ user-defined reductions */
/* The texts of a declare reduction speak of omp_WORD; the function has its address. */
static void open_user_function(struct cg *cg, const char *kind, const struct cg_private *p,
                               const char *a, const char *b)
{
    const char *e = cg_type(cg, p->elem, "", CG_UNQUALIFIED);
    cg_end_line(cg);
    cg_put(cg, "#define omp_%s (*@%s)\n#define omp_%s (*@%s)\n", a, a, b, b);
    cg_open_function(cg, "__OMPGPU_INLINE void @%s_%s(%s *@%s, %s *@%s)", kind, p->udr, e, a, e, b);
}

static void close_user_function(struct cg *cg, const char *a, const char *b)
{
    cg_close(cg);
    cg_end_line(cg);
    cg_put(cg, "#undef omp_%s\n#undef omp_%s\n", a, b);
}

void cg_user_functions(struct cg *cg, struct cg_private *p, const char *base)
{
    const struct omp_udr *d = user_defined(p);
    if (!d)
        return;
    p->udr = cg_name(cg, cg_strf(cg, "%s_%s", base, p->var->name), "");
    open_user_function(cg, "udr", p, "out", "in");
    cg_line(cg, "%s;", cg_expr(cg, d->combiner));
    close_user_function(cg, "out", "in");
    open_user_function(cg, "init", p, "priv", "orig");
    if (cg_empty(d->init)) {
        cg_line(cg, "__builtin_memset(@priv, 0, sizeof *@priv);");
    } else if (d->init_is_call) {
        cg_line(cg, "%s;", cg_expr(cg, d->init));
    } else {
        cg_line(cg, "%s @v = %s;", cg_type(cg, p->elem, "", CG_UNQUALIFIED), cg_expr(cg, d->init));
        cg_line(cg, "*@priv = @v;");
    }
    close_user_function(cg, "priv", "orig");
}
