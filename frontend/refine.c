/* refine.c - corrections to data-sharing and modes that need both, made after sharing.c.
 *
 * Maps: what leads to the storage of a list item is mapped with it.  For  s.q->r[0:n]  these are
 * the pointers s.q and s.q->r: their storage, to which the device address of what they point to is
 * attached.  List items with the same base (the variable, or the pointer that was followed last)
 * are mapped as one block from the lowest to the highest.  A region that uses more of a struct than
 * the list names gets all of it, as if it were mapped to the device (objects.c).  Whole objects
 * come before their members, whatever the order of the clauses.
 *
 * Modes: a variable that a construct outside of the innermost `parallel` makes private exists once
 * a team.  When the threads of the team share and change it, one copy a thread - all that an SPMD
 * kernel could give - would be wrong: the region is generic. */
#include "frontend/fe.h"
#include <string.h>

typedef VEC(struct omp_map) map_list;

/* ------------------------------------------------------------------ what leads to an item */
static unsigned derefs_of(const struct omp_map *m) { return m->item ? m->item->derefs : 0; }

static bool is_whole_variable(const struct omp_map *m)
{
    return !m->item || (m->item->base_is_var && !m->item->derefs && !m->item->nsections);
}

/* Is the lvalue one of the list, or part of a variable that is?  Iterators of different clauses are
 * different. */
static bool is_listed(const struct fe *fe, const map_list *maps, const struct omp_item *it,
                      const struct omp_clause *over)
{
    for (unsigned i = 0; i < maps->n; i++) {
        const struct omp_map *m = &maps->at[i];
        if (m->over && m->over != over)
            continue;
        if (m->var == it->var && ((!it->derefs && is_whole_variable(m)) ||
                                  (m->item && m->item->derefs == it->derefs &&
                                   fe_same_text(fe->u, m->item->text, it->text))))
            return true;
    }
    return false;
}

/* A pointer variable may have no copy on the device: then only the kernel's parameter points there.
 */
static bool has_mapped_pointer(const struct fe *fe, const struct omp_item *it)
{
    return it->derefs &&
           (!it->base_pointer_is_var || it->var->declare_target != OMPV_NOT_DECLARED ||
            (fe->var_flags.at[it->var->id] & FE_VAR_MAPPED_WHOLE));
}

static void add_implicit(struct fe *fe, map_list *out, struct omp_item *it, unsigned type,
                         const struct omp_clause *over)
{
    if (over && !fe_names_iterator(fe, it->text, over))
        over = NULL;
    if (!is_listed(fe, out, it, over))
        *VEC_PUSH(fe->a, out) = (struct omp_map){ .var = it->var,
                                                  .item = it,
                                                  .type = type,
                                                  .implicit = true,
                                                  .pointee = it->derefs > 0,
                                                  .attach = has_mapped_pointer(fe, it),
                                                  .over = over };
}

/* The pointers that are followed on the way to the item, but for a variable that is one. */
static void add_pointers(struct fe *fe, map_list *out, const struct omp_item *it, unsigned type,
                         const struct omp_clause *over)
{
    if (!it->derefs || it->base_pointer_is_var)
        return;
    add_pointers(fe, out, it->pointer, type, over);
    add_implicit(fe, out, it->pointer, type, over);
}

static void add_objects(struct fe *fe, const struct omp_construct *c, map_list *out,
                        const map_list *listed, struct omp_item *object,
                        const struct omp_clause *over)
{
    if (!object || !object->var)
        return;
    add_objects(fe, c, out, listed, object->object, over);
    if (fe_needs_object(fe, c, listed->at, listed->n, object))
        add_implicit(fe, out, object, OMPM_TO, over);
}

/* ------------------------------------------------------------------ blocks */
/* The same variable, or pointers that may be the same: their spellings and subscripts may differ;
 * the runtime looks at their values. */
static bool may_have_same_base(const struct omp_map *a, const struct omp_map *b)
{
    if (a->var != b->var || derefs_of(a) != derefs_of(b))
        return false;
    if (!derefs_of(a))
        return true;
    const struct omp_item *p = a->item->pointer, *q = b->item->pointer;
    return p->nmembers == q->nmembers &&
           (!p->nmembers || memcmp(p->members, q->members, p->nmembers * sizeof *p->members) == 0);
}

/* Does it have one base for all values of its iterators? */
static bool is_repeated_there(const struct fe *fe, const struct omp_map *m)
{
    return m->over && !(m->item->derefs && fe_names_iterator(fe, m->item->base_pointer, m->over));
}

static void find_blocks(const struct fe *fe, map_list *maps)
{
    for (unsigned i = 0; i < maps->n; i++)
        maps->at[i].in_block = is_repeated_there(fe, &maps->at[i]);
    for (unsigned i = 0; i < maps->n; i++)
        for (unsigned k = 0; k < i; k++)
            if (may_have_same_base(&maps->at[i], &maps->at[k]))
                maps->at[i].in_block = maps->at[k].in_block = true;
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

/* What is mapped over iterators may be nothing: codegen looks up where it lies. */
static int find(const struct omp_construct *c, const struct omp_var *v, bool pointee)
{
    for (unsigned i = 0; i < c->nmaps; i++) {
        const struct omp_map *m = &c->maps[i];
        if (m->var == v && m->pointee == pointee && !m->over &&
            (!pointee || (m->item && m->item->base_pointer_is_var && m->item->derefs == 1)))
            return (int)i;
    }
    return -1;
}

static map_list listed_maps(struct fe *fe, const struct omp_construct *c)
{
    map_list listed = { 0 };
    for (unsigned i = 0; i < c->nmaps; i++) {
        struct omp_map m = c->maps[i];
        if (m.implicit && m.item)
            continue; /* found again by refine_maps */
        m.attach = m.item && !(c->leaves & OMPL_UPDATE) && !(m.type & OMPM_UNATTACHED) &&
                   has_mapped_pointer(fe, m.item);
        *VEC_PUSH(fe->a, &listed) = m;
    }
    return listed;
}

/* What the region has to find where it is mapped in part. */
static void set_used_bytes(struct fe *fe, const struct omp_construct *c, struct omp_capture *k)
{
    const struct omp_type *t = k->var->type;
    bool implicit = k->map < 0 || (c->maps[k->map].implicit && !c->maps[k->map].item);
    bool is_struct = k->kind == OMPCAP_BYREF && t->kind == OMPT_RECORD,
         leads_to_one = k->kind == OMPCAP_POINTER && !k->one_copy && t->elem->kind == OMPT_RECORD;
    if (implicit && (is_struct || leads_to_one) && !fe_is_private_inside(c, k->var) &&
        !(leads_to_one && fe_is_written(fe, c->body, k->var)))
        k->used = fe_used_bytes(fe, c, k->var);
}

static void refine_maps(struct fe *fe, struct omp_construct *c)
{
    map_list all = listed_maps(fe, c), listed = listed_maps(fe, c);
    bool region = !(c->leaves & OMPL_DATA); /* which uses the pointers */
    unsigned type = (c->leaves & OMPL_EXIT_DATA ? OMPM_RELEASE : OMPM_ALLOC) |
                    (region ? 0 : (unsigned)OMPM_POINTER);
    for (unsigned i = 0; i < listed.n && !(c->leaves & OMPL_UPDATE); i++)
        if (listed.at[i].item && !(listed.at[i].type & OMPM_UNATTACHED))
            add_pointers(fe, &all, listed.at[i].item, type, listed.at[i].over);
    for (unsigned i = 0; i < listed.n && (c->leaves & OMPL_TARGET); i++)
        if (listed.at[i].item)
            add_objects(fe, c, &all, &listed, listed.at[i].item->object, listed.at[i].over);
    if (!(c->leaves & OMPL_UPDATE))
        find_blocks(fe, &all);
    sort_maps(&all);
    c->maps = all.at;
    c->nmaps = all.n;
    for (unsigned i = 0; i < c->ncaptures; i++)
        if (c->captures[i].map >= 0 || c->captures[i].kind == OMPCAP_POINTER)
            c->captures[i].map = find(c, c->captures[i].var, c->captures[i].kind == OMPCAP_POINTER);
    for (unsigned i = 0; i < c->ncaptures; i++)
        set_used_bytes(fe, c, &c->captures[i]);
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
    fe_align_variables(fe);
    note_whole_pointers(fe);
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        struct omp_construct *c = fe->u->constructs[i];
        if (c->nmaps || c->ncaptures)
            refine_maps(fe, c);
    }
}
