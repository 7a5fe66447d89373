/* finish.c - what was collected, in the order of the text, each thing once. */
#include <stdlib.h>
#include "frontend/walk/walk.h"

static int by_unsigned(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}
static int by_decl(const void *a, const void *b)
{
    const struct omp_decl *x = a, *y = b;
    if (x->extent.begin != y->extent.begin)
        return x->extent.begin < y->extent.begin ? -1 : 1;
    return x->extent.end == y->extent.end ? 0 : x->extent.end > y->extent.end ? -1 : 1;
}
#define SORT(v, by)                                                                                \
    do {                                                                                           \
        if ((v).n)                                                                                 \
            qsort((v).at, (v).n, sizeof *(v).at, by);                                              \
    } while (0)
/* libclang shows some subtrees twice (a type before two declarators, the syntactic form of an
 * initialiser). */
#define UNIQUE(v, key)                                                                             \
    do {                                                                                           \
        unsigned n_ = 0;                                                                           \
        for (unsigned i_ = 0; i_ < (v).n; i_++) {                                                  \
            if (n_ && (v).at[n_ - 1] key == (v).at[i_] key)                                        \
                continue;                                                                          \
            (v).at[n_++] = (v).at[i_];                                                             \
        }                                                                                          \
        (v).n = n_;                                                                                \
    } while (0)

const struct omp_ref *fe_ref_at(const struct fe *fe, unsigned offset)
{
    const struct omp_ref *r = FE_FIRST(fe->refs, offset);
    return r && r->offset == offset ? r : NULL;
}

static bool contains(const fe_offsets *v, unsigned offset)
{
    return v->n && bsearch(&offset, v->at, v->n, sizeof *v->at, by_unsigned);
}

/* A tag inside a typedef is part of the typedef's text; `typedef … T, *P` and `int f(void),
 * g(void)` are one text. */
static void drop_contained_decls(struct fe *fe)
{
    SORT(fe->decls, by_decl);
    unsigned n = 0, typedef_end = 0, tag_end = 0;
    const struct omp_decl *last = NULL;
    for (unsigned i = 0; i < fe->decls.n; i++) {
        struct omp_decl d = fe->decls.at[i];
        if (d.kind == OMPD_TYPE && (d.extent.begin < typedef_end || d.extent.begin < tag_end))
            continue;
        if (d.kind == OMPD_TYPEDEF && d.extent.begin < typedef_end)
            continue;
        if (d.kind == OMPD_TYPE && last && last->kind == OMPD_TYPE &&
            last->extent.begin == d.extent.begin)
            continue;
        if (d.kind == OMPD_TYPEDEF)
            typedef_end = d.extent.end;
        if (d.kind == OMPD_TYPE)
            tag_end = d.extent.end;
        fe->decls.at[n] = d;
        last = &fe->decls.at[n++];
    }
    fe->decls.n = n;
}

/* Of several declarations of one variable the one with the initialiser defines it, else the last
 * that is not extern. */
static void choose_definitions(struct fe *fe)
{
    struct omp_decl **chosen = arena_alloc(fe->a, (fe->vars.n + 1) * sizeof *chosen);
    for (unsigned i = 0; i < fe->decls.n; i++) {
        struct omp_decl *d = &fe->decls.at[i];
        if (d->kind != OMPD_VARIABLE)
            continue;
        struct omp_decl **c = &chosen[d->var->id];
        bool has_init = *c && fe_inside((*c)->var->init.begin, (*c)->extent) && (*c)->var->init.end;
        if (!*c || (!has_init && (!d->tentative || (*c)->tentative)))
            *c = d;
    }
    unsigned n = 0;
    for (unsigned i = 0; i < fe->decls.n; i++) {
        struct omp_decl d = fe->decls.at[i];
        if (d.kind == OMPD_VARIABLE) {
            if (&fe->decls.at[i] > chosen[d.var->id])
                continue;
            d.tentative = &fe->decls.at[i] != chosen[d.var->id];
            chosen[d.var->id] = d.tentative ? chosen[d.var->id] : &fe->decls.at[i];
        }
        fe->decls.at[n++] = d;
    }
    fe->decls.n = n;
}

bool fe_is_in_function(const struct fe *fe, unsigned offset)
{
    for (unsigned i = 0; i < fe->decls.n; i++)
        if (fe->decls.at[i].kind == OMPD_FUNCTION && fe_inside(offset, fe->decls.at[i].extent))
            return true;
    return false;
}

/* `int f(void), v = 3;` would define v, too. */
static void separate_prototype(struct fe *fe, struct omp_decl *d)
{
    for (unsigned i = 0; i < fe->prototypes.n && !d->text; i++) {
        const struct fe_prototype *p = &fe->prototypes.at[i];
        if (p->begin == d->extent.begin && p->function == d->function)
            d->text = fe_declaration(fe, p->cursor);
    }
}

static void separate_prototypes(struct fe *fe)
{
    for (unsigned i = 0, end; i < fe->decls.n; i = end) {
        bool variable = false;
        for (end = i;
             end < fe->decls.n && fe->decls.at[end].extent.begin == fe->decls.at[i].extent.begin;
             end++)
            variable |= fe->decls.at[end].kind == OMPD_VARIABLE;
        for (unsigned k = i; k < end && variable; k++)
            if (fe->decls.at[k].kind == OMPD_PROTOTYPE)
                separate_prototype(fe, &fe->decls.at[k]);
    }
}

/* Of file scope. */
static void add_pragmas(struct fe *fe)
{
    for (unsigned i = 0; i < fe->packs.n; i++)
        walk_add_decl(fe, OMPD_PRAGMA, fe->packs.at[i])->device = true;
    for (unsigned i = 0; i < fe->fp_pragmas.n; i++)
        if (!fe_is_in_function(fe, fe->fp_pragmas.at[i].extent.begin))
            walk_add_decl(fe, OMPD_PRAGMA, fe->fp_pragmas.at[i].extent)->device = true;
}

void fe_finish_walk(struct fe *fe)
{
    fe_use_carriers(fe);
    SORT(fe->refs, by_unsigned);
    UNIQUE(fe->refs, .offset);
    SORT(fe->frefs, by_unsigned); /* offset is the first member of both */
    UNIQUE(fe->frefs, .offset);
    SORT(fe->typerefs, by_unsigned);
    UNIQUE(fe->typerefs, .offset);
    SORT(fe->type_names, by_unsigned);
    SORT(fe->writes, by_unsigned);
    SORT(fe->addrs, by_unsigned);
    SORT(fe->indirect, by_unsigned);
    SORT(fe->marks, by_unsigned);
    UNIQUE(fe->marks, .offset);
    for (unsigned i = 0; i < fe->refs.n; i++) {
        struct omp_ref *r = &fe->refs.at[i];
        bool addr = contains(&fe->addrs, r->offset);
        r->write = addr || contains(&fe->writes, r->offset);
        r->var->address_taken |= addr;
    }
    for (unsigned i = 0; i < fe->vars.n; i++)
        fe->vars.at[i]->address_taken |=
            fe->vars.at[i]->type->kind == OMPT_ARRAY || fe->vars.at[i]->type->kind == OMPT_RECORD;
    add_pragmas(fe);
    drop_contained_decls(fe);
    separate_prototypes(fe);
    choose_definitions(fe);
}
