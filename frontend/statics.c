/* statics.c - `declare target`, and `groupprivate`, of a static variable of a function.
 *
 * Host and device know such a variable by its symbol, which a variable of a block has not.  So it
 * moves before its function, under a name of its own, and the text is read again:
 *
 *     int f(void)                            static int __omp_v20_n = 5;
 *     {                                      int f(void)
 *         static int n = 5;                  {
 *     #pragma omp declare target enter(n)        ;
 *         n++;                               #pragma omp declare target enter(__omp_v20_n)
 *                                                __omp_v20_n++;
 *
 * That needs a declaration of its own, which neither declares a type (libclang then begins the
 * variable's with its name) nor names anything else of the function. */
#include "frontend/fe.h"
#include <string.h>

static struct omp_extent declaration_of(const struct fe *fe, const struct omp_var *v)
{
    return (struct omp_extent){ v->begin, fe_find_semicolon(fe->u, v->decl) };
}

static const struct omp_function *function_of(const struct fe *fe, const struct omp_var *v)
{
    for (unsigned i = 0; i < fe->functions.n; i++) {
        const struct omp_function *f = fe->functions.at[i]->f;
        if (f->defined && fe_inside(v->decl, f->extent))
            return f;
    }
    return NULL;
}

/* Is it of the function, and not of the declaration? */
static bool is_local(struct omp_extent function, struct omp_extent declaration, unsigned offset)
{
    return fe_inside(offset, function) && !fe_inside(offset, declaration);
}

bool fe_can_move(const struct fe *fe, const struct omp_var *v)
{
    const struct omp_function *f = function_of(fe, v);
    struct omp_extent e = declaration_of(fe, v);
    for (unsigned i = 0; i < fe->vars.n; i++)
        if (fe->vars.at[i] != v && fe_inside(fe->vars.at[i]->decl, e))
            return false;
    if (!f || v->begin == v->decl || (fe->var_flags.at[v->id] & FE_VAR_THREAD_LOCAL))
        return false;
    FE_EACH(r, fe->refs, e)
        if (is_local(f->extent, e, r->var->decl))
            return false;
    FE_EACH(r, fe->typerefs, e)
        if (is_local(f->extent, e, r->decl))
            return false;
    return true;
}

/* A groupprivate directive stands beside its variable. */
static bool in_group_directive(const struct fe *fe, unsigned offset)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if (fe->pragmas.at[i].c->directive == OMPDIR_GROUPPRIVATE &&
            fe_inside(offset, fe->pragmas.at[i].extent))
            return true;
    return false;
}

static const char *group_directive(struct fe *fe, const struct omp_var *v, const char *name)
{
    return v->declare_target == OMPV_DT_GROUP
               ? arena_printf(fe->a, "\n#pragma omp groupprivate(%s)", name)
               : "";
}

static void move(struct fe *fe, fe_edits *l, const struct omp_var *v)
{
    const struct omp_function *f = function_of(fe, v);
    struct omp_extent e = declaration_of(fe, v);
    const char *name = arena_printf(fe->a, "%sv%u_%s", fe->u->prefix, v->decl, v->name);
    unsigned after = v->decl + (unsigned)strlen(v->name);
    fe_add_edit(fe, l, f->extent.begin, 0,
                arena_printf(fe->a, "%s%s%s%s\n# %u\n",
                             fe_text(fe, (struct omp_extent){ e.begin, v->decl }), name,
                             fe_text(fe, (struct omp_extent){ after, e.end }),
                             group_directive(fe, v, name), fe_place(fe->u, f->extent.begin).line));
    fe_add_edit(fe, l, e.begin, e.end - e.begin, arena_printf(fe->a, ";%s", fe_newlines_of(fe, e)));
    for (unsigned i = 0; i < fe->refs.n; i++)
        if (fe->refs.at[i].var == v && !fe_inside(fe->refs.at[i].offset, e) &&
            !in_group_directive(fe, fe->refs.at[i].offset))
            fe_add_edit(fe, l, fe->refs.at[i].offset, fe->refs.at[i].length, name);
}

/* Those of which a variable has moved. */
static void drop_group_directives(struct fe *fe, fe_edits *l)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        bool moved = false;
        FE_EACH(r, fe->refs, p->extent)
            moved |= r->var->storage == OMPS_STATIC_LOCAL && fe_can_move(fe, r->var);
        if (p->c->directive == OMPDIR_GROUPPRIVATE && moved)
            fe_add_edit(fe, l, p->extent.begin, p->extent.end - p->extent.begin,
                        fe_newlines_of(fe, p->extent));
    }
}

void fe_move_statics(struct fe *fe, fe_edits *l)
{
    drop_group_directives(fe, l);
    for (unsigned i = 0; i < fe->vars.n; i++) {
        const struct omp_var *v = fe->vars.at[i];
        if (v->storage == OMPS_STATIC_LOCAL &&
            (v->declare_target == OMPV_DT_TO || v->declare_target == OMPV_DT_LINK ||
             (v->declare_target == OMPV_DT_GROUP && fe_can_move(fe, v))))
            move(fe, l, v);
    }
}
