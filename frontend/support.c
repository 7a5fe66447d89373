/* support.c - what the device part cannot do (yet) is an error here, naming the construct or clause
 * and its place.
 *
 * The tables of omp.def say which directives and clauses; what needs a look at types or
 * surroundings follows as one function per rule.  Host code is not looked at: clang compiles it as
 * it always does. */
#include "frontend/fe.h"
#include <string.h>

/* Target constructs are host code themselves, but their clauses and leaves are ours. */
static bool ours(const struct omp_construct *c)
{
    return c->on_device || (c->leaves & OMPL_TARGET);
}

/* ------------------------------------------------------------------ directives */
static void check_directive(struct fe *fe, const struct fe_pragma *p)
{
    const struct omp_construct *c = p->c;
    if (!c->on_device)
        return;
    if (c->leaves & OMPL_TARGET) {
        fe_error_at(fe, c->place, "'%s' inside a target region or device function is not supported",
                    c->spelling);
        return;
    }
    for (unsigned i = 0; i < p->nnames; i++)
        if (fe_directive_rows[p->names[i]].role == OMPROLE_UNSUPPORTED) {
            fe_error_at(fe, c->place, "'%s' is not supported yet in code that runs on the device",
                        c->spelling);
            return;
        }
    if (!p->nnames)
        fe_error_at(fe, c->place, "directive '%s' is not known in code that runs on the device",
                    c->spelling);
}

/* ------------------------------------------------------------------ clauses */
static const char *clause_name(const struct omp_clause *k)
{
    return fe_clause_rows[k->kind].spelling;
}

static void check_clause_kind(struct fe *fe, const struct omp_construct *c,
                              const struct omp_clause *k)
{
    if (fe_clause_rows[k->kind].role == OMPROLE_UNSUPPORTED)
        fe_error_at(fe, k->place, "clause '%s' is not supported yet on '%s' for the device",
                    clause_name(k), c->spelling);
}

/* Nothing translates a host's function pointer that reaches the device. */
static void check_indirect(struct fe *fe, const struct omp_construct *c)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (k->kind == OMPC_INDIRECT)
            fe_error_at(fe, k->place,
                        "clause 'indirect' is not supported yet: device code cannot call through "
                        "function pointers of the host");
}

static void check_clauses(struct fe *fe, const struct omp_construct *c)
{
    if (c->leaves & OMPL_DECLARE_TARGET)
        check_indirect(fe, c);
    if (!ours(c))
        return;
    for (const struct omp_clause *k = c->clauses; k; k = k->next) {
        check_clause_kind(fe, c, k);
        if (fe_clause_rows[k->kind].arg == ARG_REDUCE)
            fe_check_reduction(fe, c, k);
    }
}

/* ------------------------------------------------------------------ program text */
static bool on_device(const struct fe *fe, unsigned offset)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *c = fe->u->constructs[i];
        if ((c->leaves & OMPL_TARGET) && fe_inside(offset, c->body))
            return true;
    }
    for (unsigned i = 0; i < fe->functions.n; i++) {
        const struct omp_function *f = fe->functions.at[i]->f;
        if (f->device && f->defined && fe_inside(offset, f->extent))
            return true;
    }
    return false;
}

static void check_marks(struct fe *fe)
{
    unsigned last = 0; /* one for each line is enough */
    for (unsigned i = 0; i < fe->marks.n; i++) {
        const struct fe_mark *m = &fe->marks.at[i];
        unsigned line = fe_place(fe->u, m->offset).line;
        if (line == last || !on_device(fe, m->offset))
            continue;
        fe_error(fe, m->offset, "%s in code that runs on the device, which has none", m->what);
        last = line;
    }
}

static bool in_device_prototype(const struct fe *fe, unsigned offset)
{
    for (unsigned i = 0; i < fe->decls.n; i++)
        if (fe->decls.at[i].kind == OMPD_PROTOTYPE && fe->decls.at[i].device &&
            fe_inside(offset, fe->decls.at[i].extent))
            return true;
    return false;
}

static void find_run_time_types(struct fe *fe)
{
    for (unsigned i = 0; i < fe->run_time_bounds.n && !fe->u->run_time_types; i++)
        fe->u->run_time_types = on_device(fe, fe->run_time_bounds.at[i]) ||
                                in_device_prototype(fe, fe->run_time_bounds.at[i]);
}

static bool uses_var_on_device(const struct fe *fe, const struct omp_var *v)
{
    for (unsigned i = 0; i < fe->refs.n; i++)
        if (fe->refs.at[i].var == v && on_device(fe, fe->refs.at[i].offset))
            return true;
    return false;
}

static void check_variables(struct fe *fe)
{
    for (unsigned i = 0; i < fe->vars.n; i++) {
        struct omp_var *v = fe->vars.at[i];
        if ((fe->var_flags.at[i] & (FE_VAR_THREADPRIVATE | FE_VAR_THREAD_LOCAL)) &&
            uses_var_on_device(fe, v))
            fe_error_at(fe, v->place,
                        "thread-local variable '%s' is used in code that runs on the device",
                        v->name);
    }
}

/* ------------------------------------------------------------------ requires */
static void check_requires(struct fe *fe, const struct fe_pragma *p)
{
    if (p->c->directive != OMPDIR_REQUIRES)
        return;
    for (const struct omp_clause *k = p->c->clauses; k; k = k->next)
        if (k->kind == OMPC_REVERSE_OFFLOAD || k->kind == OMPC_SELF_MAPS)
            fe_error_at(fe, k->place, "'requires %s' is not supported", clause_name(k));
}

/* ------------------------------------------------------------------ declare mapper */
/* It would change what later maps of its type do, also implicit ones. */
static void check_mapper(struct fe *fe, const struct fe_pragma *p)
{
    const unsigned maps =
        OMPL_TARGET | OMPL_TARGET_DATA | OMPL_ENTER_DATA | OMPL_EXIT_DATA | OMPL_UPDATE;
    if (p->c->directive != OMPDIR_DECLARE_MAPPER)
        return;
    for (unsigned i = 0; i < fe->u->nconstructs; i++)
        if (fe->u->constructs[i]->leaves & maps) {
            fe_error_at(fe, p->c->place,
                        "'%s' is not supported yet in a file that maps data; map the members",
                        p->c->spelling);
            return;
        }
}

void fe_check_support(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        check_directive(fe, &fe->pragmas.at[i]);
        check_clauses(fe, fe->pragmas.at[i].c);
        check_requires(fe, &fe->pragmas.at[i]);
        check_mapper(fe, &fe->pragmas.at[i]);
    }
    check_marks(fe);
    find_run_time_types(fe);
    check_variables(fe);
}
