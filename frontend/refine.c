/* refine.c - corrections to data-sharing and modes that need both, made after sharing.c.
 *
 * Maps: a struct member must land in the device copy of the object that holds it, so that object is
 * mapped before it, at every level of  s.q->r[0:n]:  s, *(s.q), then r's pointee; its other
 * members are copied to the device, but not back.  Objects come before their members, whatever the
 * order of the clauses.
 *
 * Modes: a variable that a construct outside of the innermost `parallel` makes private exists once
 * a team.  When the threads of the team share and change it, one copy a thread - all that an SPMD
 * kernel could give - would be wrong: the region is generic. */
#include "frontend/fe.h"
#include <string.h>

typedef VEC(struct omp_map) map_list;

/* ------------------------------------------------------------------ objects that hold members */
static bool same_storage(const struct fe *fe, const struct omp_item *a, const struct omp_item *b)
{
    return a->var == b->var && a->derefs == b->derefs && fe_same_text(fe->u, a->base, b->base);
}

/* Is the object part of what the list maps?  A section of the same base is taken to hold it. */
static bool holds(const struct fe *fe, const map_list *maps, const struct omp_item *object)
{
    for (unsigned i = 0; i < maps->n; i++) {
        const struct omp_map *m = &maps->at[i];
        if (!m->item && m->var == object->var && !object->derefs && object->base_is_var)
            return true;
        if (!m->item || !same_storage(fe, m->item, object))
            continue;
        if (!m->implicit || fe_same_text(fe->u, m->item->text, object->text))
            return true;
    }
    return false;
}

static bool pointer_is_mapped(const struct fe *fe, const struct omp_item *it)
{
    return !it->base_is_var || it->var->declare_target != OMPV_NOT_DECLARED ||
           (fe->var_flags.at[it->var->id] & FE_VAR_MAPPED_WHOLE);
}

/* `*(base)` of an arrow as the section base[0], which needs no special case where a pointer is
 * attached. */
static struct omp_item *object_item(struct fe *fe, struct omp_item *object)
{
    if (!object->parent_arrow || !pointer_is_mapped(fe, object))
        return object;
    struct omp_item *o = arena_alloc(fe->a, sizeof *o);
    *o = *object;
    o->parent_arrow = false;
    o->parent = (struct omp_extent){ 0, 0 };
    o->nsections = 1;
    o->sections = arena_alloc(fe->a, sizeof *o->sections);
    return o;
}

static void add_object(struct fe *fe, map_list *out, struct omp_item *object, unsigned type)
{
    if (!object || !object->var)
        return;
    add_object(fe, out, object->object, type);
    if (holds(fe, out, object))
        return;
    *VEC_PUSH(fe->a, out) =
        (struct omp_map){ .var = object->var,
                          .item = object_item(fe, object),
                          .type = type,
                          .implicit = true,
                          .pointee = object->derefs > 0,
                          .attach = object->derefs > 0 && pointer_is_mapped(fe, object) };
}

/* ------------------------------------------------------------------ order */
static bool is_object(const struct omp_map *m)
{
    return !m->item || !m->item->object || m->item->object->derefs < m->item->derefs;
}

/* Whole objects before members, the outer levels of pointers before the inner ones; else the order
 * of the clauses. */
static unsigned rank(const struct omp_map *m)
{
    return m->item ? m->item->derefs * 4 + (is_object(m) ? 0 : 2) + m->implicit : 0;
}

static void sort_maps(map_list *l)
{
    for (unsigned i = 1; i < l->n; i++) {
        struct omp_map m = l->at[i];
        unsigned k = i;
        for (; k && rank(&l->at[k - 1]) > rank(&m); k--)
            l->at[k] = l->at[k - 1];
        l->at[k] = m;
    }
}

static int find(const struct omp_construct *c, const struct omp_var *v, bool pointee)
{
    for (unsigned i = 0; i < c->nmaps; i++) {
        const struct omp_map *m = &c->maps[i];
        if (m->var == v && m->pointee == pointee &&
            (!pointee || (m->item && m->item->base_is_var && m->item->derefs == 1)))
            return (int)i;
    }
    return -1;
}

static void refine_maps(struct fe *fe, struct omp_construct *c)
{
    map_list explicit = { 0 }, all = { 0 };
    /* the other members are read too */
    unsigned type = c->leaves & OMPL_EXIT_DATA ? OMPM_RELEASE : OMPM_TO;
    for (unsigned i = 0; i < c->nmaps; i++) {
        struct omp_map m = c->maps[i];
        if (m.implicit && m.item)
            continue; /* objects are found again below */
        bool through_base = m.item && m.item->nsections && m.item->base_type &&
                            m.item->base_type->kind == OMPT_POINTER;
        m.attach = through_base && !(c->leaves & OMPL_UPDATE) && pointer_is_mapped(fe, m.item);
        *VEC_PUSH(fe->a, &explicit) = m;
    }
    for (unsigned i = 0; i < explicit.n; i++)
        *VEC_PUSH(fe->a, &all) = explicit.at[i];
    for (unsigned i = 0; i < explicit.n && !(c->leaves & OMPL_UPDATE); i++)
        if (explicit.at[i].item)
            add_object(fe, &all, explicit.at[i].item->object, type);
    sort_maps(&all);
    c->maps = all.at;
    c->nmaps = all.n;
    for (unsigned i = 0; i < c->ncaptures; i++)
        if (c->captures[i].map >= 0 || c->captures[i].kind == OMPCAP_POINTER)
            c->captures[i].map = find(c, c->captures[i].var, c->captures[i].kind == OMPCAP_POINTER);
}

static void note_whole_pointers(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        for (const struct omp_clause *k = fe->pragmas.at[i].c->clauses; k; k = k->next)
            for (unsigned n = 0; k->kind == OMPC_MAP && n < k->nitems; n++) {
                const struct omp_item *it = &k->items[n];
                if (it->var && it->base_is_var && !it->nsections && !it->derefs &&
                    it->var->type->kind == OMPT_POINTER)
                    fe->var_flags.at[it->var->id] |= FE_VAR_MAPPED_WHOLE;
            }
}

void fe_refine(struct fe *fe)
{
    note_whole_pointers(fe);
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        struct omp_construct *c = fe->u->constructs[i];
        if (c->nmaps || c->ncaptures)
            refine_maps(fe, c);
    }
}
