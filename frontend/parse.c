/* parse.c - the passes of the frontend, in order. */
#include "frontend/fe.h"
#include <stdlib.h>
#include <string.h>

static int by_position(const void *a, const void *b)
{
    const struct omp_decl *x = a, *y = b;
    bool x_holds =
        x->kind == OMPD_VARIABLE && y->kind == OMPD_TYPE && fe_inside(y->extent.begin, x->extent);
    bool y_holds =
        y->kind == OMPD_VARIABLE && x->kind == OMPD_TYPE && fe_inside(x->extent.begin, y->extent);
    /* static struct { … } v: the type before the variable */
    if (x_holds || y_holds)
        return x_holds ? 1 : -1;
    if (x->extent.begin != y->extent.begin)
        return x->extent.begin > y->extent.begin ? 1 : -1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Declarations inside a function (`int f(int);` in a block) go before it: the regions of the
 * function may need them. */
static void lift_inner_decls(struct fe *fe)
{
    for (unsigned i = 1; i < fe->decls.n; i++) {
        struct omp_decl outer = fe->decls.at[i - 1], inner = fe->decls.at[i];
        if (outer.kind != OMPD_FUNCTION || !fe_inside(inner.extent.begin, outer.extent) ||
            inner.kind == OMPD_FUNCTION)
            continue;
        fe->decls.at[i - 1] = inner;
        fe->decls.at[i] = outer;
    }
}

/* Loops and atomics of host code are clang's business, but for scans. */
static void read_statements(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        struct fe_pragma *p = &fe->pragmas.at[i];
        if (!p->found || !(p->c->on_device || (p->c->leaves & OMPL_TARGET) || p->c->host_region ||
                           fe_scans_on_host(p->c)))
            continue;
        if (p->c->leaves & (OMPL_DISTRIBUTE | OMPL_FOR | OMPL_SIMD | OMPL_TASKLOOP))
            fe_canonical_loops(fe, p);
        if (p->c->leaves & OMPL_ATOMIC)
            fe_parse_atomic(fe, p);
    }
}

static void publish(struct fe *fe)
{
    struct omp_unit *u = fe->u;
    if (fe->decls.n)
        qsort(fe->decls.at, fe->decls.n, sizeof *fe->decls.at, by_position);
    lift_inner_decls(fe);
    u->decls = fe->decls.at;
    u->ndecls = fe->decls.n;
    u->type_names = fe->type_names.at;
    u->ntype_names = fe->type_names.n;
    u->functions = arena_alloc(fe->a, (fe->functions.n + 1) * sizeof *u->functions);
    for (unsigned i = 0; i < fe->functions.n; i++)
        u->functions[u->nfunctions++] = fe->functions.at[i]->f;
    u->packs |= fe->packs.n > 0;
    u->udrs = fe->udrs.at;
    u->nudrs = fe->udrs.n;
    u->vars = fe->vars.at;
    u->nvars = fe->vars.n;
    u->refs = fe->refs.at;
    u->nrefs = fe->refs.n;
    u->fp_pragmas = fe->fp_pragmas.at;
    u->nfp_pragmas = fe->fp_pragmas.n;
    u->repeats = fe->repeats.at;
    u->nrepeats = fe->repeats.n;
    u->renames = fe->renames.at;
    u->nrenames = fe->renames.n;
    u->guards = fe->guards.at;
    u->nguards = fe->guards.n;
}

static int walk(struct fe *fe, CXIndex index, int nargs, const char *const *args)
{
    fe_scan_lines(fe);
    fe_scan_pragmas(fe);
    return fe_walk(fe, index, nargs, args);
}

/* Each pass relies on those before it and can live with what an earlier one has complained of, so
 * that the user sees all errors at once. */
static void (*const passes[])(struct fe *) = {
    /* what is written */
    fe_resolve_metadirectives,
    fe_parse_clauses,
    fe_finish_walk,
    fe_build_tree,
    fe_read_assumptions,
    fe_apply_variants,
    fe_mark_device,
    fe_check_directives,
    read_statements,
    fe_read_scans,
    /* what follows from it */
    fe_bind_cancellations,
    fe_spread_loops,
    fe_data_sharing,
    fe_settle_modes,
    fe_refine,
    fe_find_lanes,
    fe_find_phases,
    /* what to say of it, and to the writers */
    fe_check_support,
    fe_find_mistakes,
    fe_find_rejected,
    fe_find_lone_members,
    fe_hoist_types,
    publish,
};

static void choose_prefix(struct fe *fe)
{
    fe->u->prefix = "__omp_";
    for (unsigned n = 2; strstr(fe->u->text, fe->u->prefix); n++)
        fe->u->prefix = arena_printf(fe->a, "__omp%u_", n);
}

struct fe *fe_begin_unit(const char *path, char *text, size_t length)
{
    struct arena *a = arena_new();
    struct fe *fe = arena_alloc(a, sizeof *fe);
    fe->a = a;
    fe->u = arena_alloc(a, sizeof *fe->u);
    *fe->u = (struct omp_unit){ .path = path, .text = text, .length = length, .arena = a };
    choose_prefix(fe);
    return fe;
}

struct omp_unit *fe_parse(const char *path, char *text, size_t length, int nargs,
                          const char *const *args, const char *carriers)
{
    struct fe *fe = fe_begin_unit(path, text, length);
    CXIndex index = clang_createIndex(0, 0);
    fe->carriers = carriers;
    for (int i = 0; i < nargs; i++) {
        if (!strcmp(args[i], "-fcommon") || !strcmp(args[i], "-fno-common"))
            fe->common = !strcmp(args[i], "-fcommon");
        fe->u->packs |= !strncmp(args[i], "-fpack-struct", strlen("-fpack-struct"));
    }
    bool parsed = walk(fe, index, nargs, args) == 0 && !fe->errors;
    fe->errors += !parsed;
    for (unsigned i = 0; i < sizeof passes / sizeof *passes && parsed; i++)
        passes[i](fe);
    if (!fe->u->accepted || fe->errors) /* else the text that follows has them, too */
        fe_show_messages(fe->u);
    if (fe->tu)
        clang_disposeTranslationUnit(fe->tu);
    clang_disposeIndex(index);
    fe->u->errors = fe->errors;
    if (parsed)
        return fe->u;
    arena_free(fe->a);
    return NULL;
}

void omp_unit_free(struct omp_unit *u)
{
    if (u)
        arena_free(u->arena);
}
