/* sharing.c - data-sharing attributes (OpenMP 5.2 section 5.1), and for target constructs captures
 * and maps (5.8.1).
 *
 * For each construct the variables it needs from outside are listed in order of first use; then
 * each gets its attribute from a clause, from being an associated loop's variable, from `default`,
 * or is shared.  A target construct also gets the list of mapping actions (explicit clauses first,
 * in order, then implicit ones) and, for each variable, how the kernel receives it. */
#include "frontend/fe.h"
#include <string.h>

#define SHARING                                                                                    \
    (OMPL_TARGET | OMPL_TEAMS | OMPL_DISTRIBUTE | OMPL_PARALLEL | OMPL_FOR | OMPL_SIMD |           \
     OMPL_LOOP | OMPL_SECTIONS | OMPL_SINGLE | OMPL_SCOPE | OMPL_TASK | OMPL_TASKLOOP |            \
     OMPL_TASKGROUP)

typedef VEC(struct omp_var *) var_list;
typedef VEC(struct omp_map) map_list;

/* ------------------------------------------------------------------ what a construct uses */
/* Not a link variable of another file: the pointer to its copy is in that file, so that regions of
 * this one get it as an argument. */
static bool is_declared_target(const struct omp_var *v)
{
    return v->declare_target != OMPV_NOT_DECLARED &&
           !(v->declare_target == OMPV_DT_LINK && v->is_extern);
}

static void add_once(struct fe *fe, var_list *l, struct omp_var *v)
{
    for (unsigned i = 0; i < l->n; i++)
        if (l->at[i] == v)
            return;
    *VEC_PUSH(fe->a, l) = v;
}

const struct omp_sharing *fe_sharing_of(const struct omp_construct *c, const struct omp_var *v)
{
    for (unsigned i = 0; i < c->nsharings; i++)
        if (c->sharings[i].var == v)
            return &c->sharings[i];
    return NULL;
}

/* An inner construct has its own copy that has nothing to do with ours: sharings of inner
 * constructs are there already.  Run-time bounds of an array's type are still needed from outside.
 */
static bool replaces(const struct omp_construct *k, const struct omp_ref *r)
{
    if (r->var->type->variably_modified)
        return false;
    for (unsigned i = 0; i < k->nsharings; i++) {
        const struct omp_sharing *s = &k->sharings[i];
        if (s->var == r->var && !s->lastprivate &&
            (s->share == OMPSH_PRIVATE || s->share == OMPSH_LOOP_IV))
            return fe_inside(r->offset, k->body) ||
                   (s->clause && fe_inside(r->offset, s->clause->extent));
    }
    return false;
}
static bool replaced_inside(const struct omp_construct *c, const struct omp_ref *r)
{
    for (const struct omp_construct *k = c->child; k; k = k->next)
        if (fe_inside(r->offset, fe_whole(k)))
            return replaces(k, r) || replaced_inside(k, r);
    return false;
}

static void add_refs(struct fe *fe, var_list *l, const struct omp_construct *c, struct omp_extent e,
                     struct omp_extent whole)
{
    FE_EACH(r, fe->refs, e)
        if (!fe_inside(r->var->decl, whole) && !replaced_inside(c, r))
            add_once(fe, l, r->var);
}

/* Expressions of these clauses are evaluated inside of the construct; those of the others by
 * whoever encounters it. */
bool fe_evaluated_inside(enum omp_clause_kind k)
{
    return k == OMPC_SCHEDULE || k == OMPC_DIST_SCHEDULE || k == OMPC_LINEAR || k == OMPC_FILTER;
}
bool fe_gives_attribute(enum omp_clause_kind k)
{
    return k == OMPC_PRIVATE || k == OMPC_FIRSTPRIVATE || k == OMPC_LASTPRIVATE ||
           k == OMPC_REDUCTION || k == OMPC_LINEAR || k == OMPC_TASK_REDUCTION ||
           k == OMPC_IN_REDUCTION;
}

static var_list uses_of(struct fe *fe, const struct omp_construct *c)
{
    var_list l = { 0 };
    struct omp_extent whole = fe_whole(c);
    for (const struct omp_clause *k = c->clauses; k; k = k->next) {
        if (fe_evaluated_inside(k->kind))
            add_refs(fe, &l, c, k->expr.extent, whole);
        if (fe_gives_attribute(k->kind))
            for (unsigned i = 0; i < k->nitems; i++)
                if (k->items[i].var) {
                    add_once(fe, &l, k->items[i].var);
                    /* bounds of a section */
                    if (k->items[i].nsections)
                        add_refs(fe, &l, c, k->items[i].text, whole);
                }
    }
    if (c->body.begin != c->body.end)
        add_refs(fe, &l, c, c->body, whole);
    return l;
}

/* ------------------------------------------------------------------ attributes */
static const struct {
    enum omp_clause_kind clause;
    enum omp_share share;
} clause_shares[] = {
    { OMPC_PRIVATE, OMPSH_PRIVATE },          { OMPC_FIRSTPRIVATE, OMPSH_FIRSTPRIVATE },
    { OMPC_REDUCTION, OMPSH_REDUCTION },      { OMPC_LINEAR, OMPSH_LINEAR },
    { OMPC_TASK_REDUCTION, OMPSH_REDUCTION },
};

static struct omp_item *item_of(const struct omp_clause *k, const struct omp_var *v)
{
    for (unsigned i = 0; i < k->nitems; i++)
        if (k->items[i].var == v)
            return &k->items[i];
    return NULL;
}

static bool is_loop_iv(const struct omp_construct *c, const struct omp_var *v)
{
    for (unsigned i = 0; i < c->nloops; i++)
        if (c->loops[i].iv == v && !c->loops[i].iv_declared)
            return true;
    return false;
}

static bool is_inner_iv(const struct omp_construct *c, const struct omp_var *v)
{
    for (unsigned i = 0; i < c->ninner; i++)
        if (c->inner[i].iv == v && !c->inner[i].iv_declared)
            return true;
    return false;
}

static struct omp_sharing attribute_of(const struct fe *, const struct omp_construct *,
                                       struct omp_var *);

/* A task shares what the threads of its team share; anything else of its surroundings it gets the
 * values of.  What a target construct maps counts as clang counts it: as private to the one thread
 * there. */
static enum omp_share task_share(const struct fe *fe, const struct omp_construct *c,
                                 struct omp_var *v)
{
    for (const struct omp_construct *p = c->parent; p; p = p->parent) {
        if (fe_inside(v->decl, p->body))
            break;
        if (attribute_of(fe, p, v).share != OMPSH_SHARED && !(p->leaves & OMPL_TASKGROUP))
            return OMPSH_FIRSTPRIVATE;
        if (p->leaves & (OMPL_PARALLEL | OMPL_TEAMS))
            return OMPSH_SHARED;
        if ((p->leaves & OMPL_TARGET) || p->host_region)
            break;
    }
    return v->storage == OMPS_GLOBAL || v->storage == OMPS_STATIC_LOCAL ? OMPSH_SHARED
                                                                        : OMPSH_FIRSTPRIVATE;
}

/* default(private) and default(firstprivate) of 5.1; shared and none leave a variable as it is. */
static enum omp_share default_share(const struct fe *fe, const struct omp_construct *c,
                                    struct omp_var *v)
{
    if ((c->leaves & (OMPL_TASK | OMPL_TASKLOOP)) && !(c->leaves & OMPL_PARALLEL) &&
        !fe_clause(c, OMPC_DEFAULT))
        return task_share(fe, c, v);
    if (v->storage == OMPS_GLOBAL || v->storage == OMPS_STATIC_LOCAL)
        return OMPSH_SHARED;
    for (const struct omp_clause *k = c->clauses; k; k = k->next) {
        if (k->kind != OMPC_DEFAULT)
            continue;
        if (k->keyword == OMPK_PRIVATE)
            return OMPSH_PRIVATE;
        if (k->keyword == OMPK_FIRSTPRIVATE)
            return OMPSH_FIRSTPRIVATE;
    }
    return OMPSH_SHARED;
}

static bool names_shared(const struct omp_construct *c, const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if ((k->kind == OMPC_SHARED || k->kind == OMPC_IN_REDUCTION) && item_of(k, v))
            return true;
    return false;
}

/* ----------------------------------------------------------------- a loop variable's last value */
/* `linear` or `lastprivate` of simd and `loop`, as they are written: section 5.1.1. */
static bool keeps_last_value(const struct omp_construct *c)
{
    return (c->leaves & OMPL_SIMD) || (c->written & OMPL_LOOP);
}

static enum omp_defaultmap behaviour_of(const struct omp_construct *, const struct omp_var *);

/* May the host, or a later region, see what the target construct leaves in v? */
static bool outlives(const struct omp_construct *target, const struct omp_var *v)
{
    for (const struct omp_clause *k = target->clauses; k; k = k->next)
        if ((k->kind == OMPC_MAP || k->kind == OMPC_HAS_DEVICE_ADDR) && item_of(k, v))
            return true;
    switch (behaviour_of(target, v)) {
    case DMAP_ALLOC:
    case DMAP_TO:
    case DMAP_FROM:
    case DMAP_TOFROM:
    case DMAP_PRESENT: return true;
    default: return is_declared_target(v);
    }
}

/* A copy of the region that nothing but the loop uses is not worth the store. */
static bool last_value_counts(const struct fe *fe, const struct omp_construct *c,
                              const struct omp_var *v)
{
    const struct omp_construct *target = fe_target_of(c);
    if (!keeps_last_value(c))
        return false;
    if (!target || fe_inside(v->decl, fe_whole(target)) || outlives(target, v))
        return true;
    FE_EACH(r, fe->refs, target->body)
        if (r->var == v && !fe_inside(r->offset, fe_whole(c)))
            return true;
    return false;
}

/* What the clauses say; the clause is NULL where none does. */
static struct omp_sharing attribute_of_clauses(const struct omp_construct *c, struct omp_var *v)
{
    struct omp_sharing s = { .var = v, .share = OMPSH_SHARED };
    for (struct omp_clause *k = c->clauses; k; k = k->next) {
        struct omp_item *it = item_of(k, v);
        if (!it)
            continue;
        if (k->kind == OMPC_LASTPRIVATE) {
            s.lastprivate = true;
            if (!s.clause) {
                s.share = OMPSH_PRIVATE;
                s.clause = k;
                s.item = it;
            }
        }
        for (unsigned i = 0; i < sizeof clause_shares / sizeof *clause_shares; i++)
            if (k->kind == clause_shares[i].clause) {
                s.share = clause_shares[i].share;
                s.clause = k;
                s.item = it;
            }
    }
    return s;
}

static struct omp_sharing attribute_of(const struct fe *fe, const struct omp_construct *c,
                                       struct omp_var *v)
{
    if (v->carries)
        return (struct omp_sharing){ .var = v, .share = OMPSH_FIRSTPRIVATE };
    struct omp_sharing s = attribute_of_clauses(c, v);
    bool set = s.clause != NULL;
    if (is_loop_iv(c, v)) {
        s.lastprivate |= s.share == OMPSH_LINEAR || last_value_counts(fe, c, v);
        s.share = OMPSH_LOOP_IV;
        set = true;
    }
    if (!set && is_inner_iv(c, v)) {
        s.share = OMPSH_PRIVATE;
        s.lastprivate = last_value_counts(fe, c, v);
    } else if (!set && !names_shared(c, v))
        s.share = default_share(fe, c, v);
    return s;
}

static bool plain_value(const struct omp_type *t)
{
    return t->kind == OMPT_INT || t->kind == OMPT_BOOL || t->kind == OMPT_FLOAT ||
           t->kind == OMPT_COMPLEX || t->kind == OMPT_POINTER;
}

static bool contains(const fe_offsets *v, unsigned offset)
{
    for (unsigned i = 0; i < v->n; i++)
        if (v->at[i] == offset)
            return true;
    return false;
}
static bool address_taken_in(const struct fe *fe, struct omp_extent e, const struct omp_var *v)
{
    FE_EACH(r, fe->refs, e)
        if (r->var == v && contains(&fe->addrs, r->offset))
            return true;
    return false;
}
bool fe_is_written(const struct fe *fe, struct omp_extent e, const struct omp_var *v)
{
    FE_EACH(r, fe->refs, e)
        if (r->var == v && r->write)
            return true;
    return false;
}

/* Named in a clause that stores into it at a construct's end. */
static bool stored_by_clause(const struct omp_construct *c, const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (fe_gives_attribute(k->kind) && k->kind != OMPC_PRIVATE &&
            k->kind != OMPC_FIRSTPRIVATE && item_of(k, v))
            return true;
    for (const struct omp_construct *n = c->child; n; n = n->next)
        if (is_loop_iv(n, v) || stored_by_clause(n, v))
            return true;
    return false;
}

/* A host variable's address may have been taken anywhere on the host without harm: the region only
 * sees its own copy. */
static bool may_copy(const struct fe *fe, const struct omp_construct *c, const struct omp_var *v)
{
    if (!plain_value(v->type) || (fe->var_flags.at[v->id] & FE_VAR_VOLATILE))
        return false;
    const struct omp_construct *target = fe_target_of(c);
    bool from_host = target && !fe_inside(v->decl, fe_whole(target)) && !is_declared_target(v);
    if (from_host ? address_taken_in(fe, target->body, v) : v->address_taken)
        return false;
    if (!from_host && (v->storage == OMPS_GLOBAL || v->storage == OMPS_STATIC_LOCAL))
        return false;
    return !fe_is_written(fe, c->body, v) && !stored_by_clause(c, v);
}

/* The name stands for the declare target variable itself, not for the copy of an enclosing
 * construct.
 */
static bool names_device_variable(const struct fe *fe, const struct omp_construct *c,
                                  struct omp_var *v)
{
    if (!is_declared_target(v))
        return false;
    for (const struct omp_construct *p = c->parent; p; p = p->parent)
        if (!(p->leaves & OMPL_TASKGROUP) && attribute_of(fe, p, v).share != OMPSH_SHARED)
            return false;
    return true;
}

static void set_sharings(struct fe *fe, struct omp_construct *c, const var_list *uses)
{
    c->sharings = arena_alloc(fe->a, (uses->n + 1) * sizeof *c->sharings);
    for (unsigned i = 0; i < uses->n; i++) {
        struct omp_sharing s = attribute_of(fe, c, uses->at[i]);
        if (s.share == OMPSH_SHARED && names_device_variable(fe, c, s.var))
            continue;
        s.by_value = s.share == OMPSH_SHARED && may_copy(fe, c, s.var);
        c->sharings[c->nsharings++] = s;
    }
}

/* A global that only device functions name has storage on the device that no construct copies to or
 * from.  Who also names it in a region or a map clause probably thinks otherwise.  One that each
 * thread has is an error there. */
static void warn_of_own_storage(struct fe *fe, const struct omp_construct *c,
                                const struct omp_var *v, struct omp_place place)
{
    enum { SAID = FE_VAR_WARNED | FE_VAR_THREAD_LOCAL | FE_VAR_THREADPRIVATE };
    if (c->host_region || v->declare_target != OMPV_DT_IMPLICIT || v->type->is_const ||
        (fe->var_flags.at[v->id] & SAID))
        return;
    fe->var_flags.at[v->id] |= FE_VAR_WARNED;
    fe_report(fe->u, place, DIAG_WARNING,
              "'%s' is also used by a function that runs on the device, where it has storage of "
              "its own that this construct "
              "does not copy; put it into 'declare target' and use 'target update', or pass it to "
              "the function",
              v->name);
}

/* ------------------------------------------------------------------ explicit maps */
/* Of a constant there is nothing to copy back, and it may be in read-only memory. */
static unsigned without_return(const struct omp_var *v, unsigned type)
{
    return v->type->is_const ? type & ~(unsigned)OMPM_FROM : type;
}

/* The objects that hold members, attachments and the order follow in refine.c. */
static void add_item(struct fe *fe, map_list *maps, const struct omp_clause *k, struct omp_item *it)
{
    bool pointee = it->derefs > 0;
    unsigned type = pointee ? k->map : without_return(it->var, k->map);
    *VEC_PUSH(fe->a, maps) = (struct omp_map){ .var = it->var,
                                               .item = it,
                                               .type = type,
                                               .pointee = pointee,
                                               .mapper = it->mapper,
                                               .over = k->niterators ? k : NULL };
}

static map_list explicit_maps(struct fe *fe, struct omp_construct *c)
{
    map_list maps = { 0 };
    for (struct omp_clause *k = c->clauses; k; k = k->next) {
        if (k->kind != OMPC_MAP &&
            !((c->leaves & OMPL_UPDATE) && (k->kind == OMPC_TO || k->kind == OMPC_FROM)))
            continue;
        for (unsigned i = 0; i < k->nitems; i++)
            if (k->items[i].var) {
                if (!(c->leaves & OMPL_UPDATE))
                    warn_of_own_storage(fe, c, k->items[i].var, k->items[i].place);
                add_item(fe, &maps, k, &k->items[i]);
            }
    }
    return maps;
}

/* ------------------------------------------------------------------ defaultmap (section 5.8.7) */
static const unsigned behaviour_maps[] = { [DMAP_ALLOC] = OMPM_ALLOC,
                                           [DMAP_TO] = OMPM_TO,
                                           [DMAP_FROM] = OMPM_FROM,
                                           [DMAP_TOFROM] = OMPM_TOFROM,
                                           [DMAP_PRESENT] = OMPM_ALLOC | OMPM_PRESENT };

static enum omp_keyword category_of(const struct omp_type *t)
{
    return t->kind == OMPT_POINTER ? OMPK_POINTER : plain_value(t) ? OMPK_SCALAR : OMPK_AGGREGATE;
}

static enum omp_defaultmap behaviour_of(const struct omp_construct *c, const struct omp_var *v)
{
    enum omp_keyword category = category_of(v->type);
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (k->kind == OMPC_DEFAULTMAP && (k->keyword == OMPK_ALL || k->keyword == category))
            return (enum omp_defaultmap)k->map;
    return DMAP_DEFAULT;
}

/* ------------------------------------------------------------------ captures */
/* A mapping of the variable itself or of part of it, and of what it leads to; refine.c finds the
 * index that counts in the end. */
static int find_map(const map_list *maps, const struct omp_var *v, bool pointee)
{
    for (unsigned i = 0; i < maps->n; i++)
        if (maps->at[i].var == v && maps->at[i].pointee == pointee)
            return (int)i;
    return -1;
}

static int add_implicit(struct fe *fe, map_list *maps, struct omp_var *v, unsigned type)
{
    *VEC_PUSH(fe->a, maps) =
        (struct omp_map){ .var = v, .type = without_return(v, type), .implicit = true };
    return (int)maps->n - 1;
}

/* By a default mapper, if there is one. */
static int add_mapped(struct fe *fe, const struct omp_construct *c, map_list *maps,
                      struct omp_var *v, unsigned type)
{
    int i = add_implicit(fe, maps, v, type);
    maps->at[i].mapper = fe_find_mapper(fe, "default", fe->var_types.at[v->id], c->pragma.begin);
    return i;
}

static struct omp_capture by_ref(struct omp_var *v, int map)
{
    return (struct omp_capture){ .var = v, .kind = OMPCAP_BYREF, .map = map };
}
static struct omp_capture unmapped(struct omp_var *v, enum omp_capture_kind kind)
{
    return (struct omp_capture){ .var = v, .kind = kind, .map = -1 };
}

static bool listed(const struct omp_construct *c, enum omp_clause_kind kind,
                   const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (k->kind == kind && item_of(k, v))
            return true;
    return false;
}

/* The attribute is predetermined: whoever names a link variable in a target construct maps it
 * (section 5.8.1).  Code of this file finds the copy by a pointer of its own. */
static void map_link_variable(struct fe *fe, const struct omp_construct *c, map_list *maps,
                              struct omp_var *v)
{
    if (v->declare_target == OMPV_DT_LINK && !c->host_region && find_map(maps, v, false) < 0)
        add_mapped(fe, c, maps, v, OMPM_TOFROM);
}

static struct omp_capture implicit_capture(struct fe *fe, const struct omp_construct *c,
                                           map_list *maps, struct omp_var *v)
{
    if (v->declare_target == OMPV_DT_LINK)
        return by_ref(v, add_mapped(fe, c, maps, v, OMPM_TOFROM));
    enum omp_keyword category = category_of(v->type);
    enum omp_defaultmap b = behaviour_of(c, v);
    if (b == DMAP_NONE && fe_clause(c, OMPC_DEFAULT)) /* else clang says so (rejected.c) */
        fe_error(fe, c->pragma.begin, "'%s' is in no clause, as defaultmap(none) requires",
                 v->name);
    /* what a private copy begins with is not specified: it may be the value */
    if (b == DMAP_FIRSTPRIVATE || b == DMAP_PRIVATE)
        return unmapped(v, category == OMPK_POINTER ? OMPCAP_DEVICE_PTR : OMPCAP_BYVAL);
    if (b == DMAP_SELF)
        return by_ref(v, add_mapped(fe, c, maps, v, OMPM_ALLOC | OMPM_SELF));
    if (b != DMAP_DEFAULT && b != DMAP_NONE)
        return by_ref(v, add_mapped(fe, c, maps, v, behaviour_maps[b]));
    if (category == OMPK_SCALAR)
        return unmapped(v, OMPCAP_BYVAL);
    if (category == OMPK_POINTER)
        return unmapped(v, OMPCAP_POINTER);
    return by_ref(v, add_mapped(fe, c, maps, v, OMPM_TOFROM));
}

/* A section that is reduced is mapped like map(tofrom: section). */
static struct omp_capture reduced_section(struct fe *fe, map_list *maps, struct omp_item *it)
{
    int map = (int)maps->n;
    bool pointee = it->derefs > 0;
    *VEC_PUSH(fe->a, maps) =
        (struct omp_map){ .var = it->var, .item = it, .type = OMPM_TOFROM, .pointee = pointee };
    return pointee ? (struct omp_capture){ .var = it->var, .kind = OMPCAP_POINTER, .map = map }
                   : by_ref(it->var, map);
}

static struct omp_item *in_reduction_item(const struct omp_construct *c, const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (k->kind == OMPC_IN_REDUCTION && item_of(k, v))
            return item_of(k, v);
    return NULL;
}

/* Of a section of what a pointer leads to it is the pointer that has a device address. */
static enum omp_capture_kind with_device_address(const struct omp_construct *c,
                                                 const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next) {
        const struct omp_item *it = k->kind == OMPC_HAS_DEVICE_ADDR ? item_of(k, v) : NULL;
        if (it && it->derefs)
            return OMPCAP_DEVICE_PTR;
    }
    return OMPCAP_DEVICE_ADDR;
}

static struct omp_capture capture_of(struct fe *fe, const struct omp_construct *c, map_list *maps,
                                     const struct omp_sharing *s)
{
    struct omp_var *v = s->var;
    if (listed(c, OMPC_IS_DEVICE_PTR, v))
        return unmapped(v, v->type->kind == OMPT_POINTER ? OMPCAP_DEVICE_PTR : OMPCAP_DEVICE_ADDR);
    if (listed(c, OMPC_HAS_DEVICE_ADDR, v))
        return unmapped(v, with_device_address(c, v));
    int map = find_map(maps, v, false);
    if (map >= 0)
        return by_ref(v, map);
    map = find_map(maps, v, true);
    if (map >= 0)
        return v->type->kind == OMPT_POINTER
                   ? (struct omp_capture){ .var = v, .kind = OMPCAP_POINTER, .map = map }
                   : by_ref(v, map);
    /* the target task's copy on the host */
    struct omp_item *taken_part = in_reduction_item(c, v);
    if (taken_part)
        return taken_part->nsections ? reduced_section(fe, maps, taken_part)
                                     : by_ref(v, add_implicit(fe, maps, v, OMPM_TOFROM));
    if (s->share == OMPSH_REDUCTION && s->item && s->item->nsections)
        return reduced_section(fe, maps, s->item);
    if (s->share == OMPSH_REDUCTION || s->share == OMPSH_LINEAR || (s->lastprivate && s->clause))
        return by_ref(v, add_implicit(fe, maps, v, OMPM_TOFROM));
    if (!s->lastprivate && (s->share == OMPSH_PRIVATE || s->share == OMPSH_LOOP_IV))
        return unmapped(v, OMPCAP_PRIVATE);
    if (s->share == OMPSH_FIRSTPRIVATE)
        return unmapped(v, OMPCAP_BYVAL);
    return implicit_capture(fe, c, maps, v);
}

/* ------------------------------------------------------------ is a by-value copy really shared? */
static bool privatises(const struct omp_construct *c, const struct omp_var *v)
{
    /* its copies are for the tasks that take part */
    if (c->leaves & OMPL_TASKGROUP)
        return false;
    for (unsigned i = 0; i < c->nsharings; i++)
        if (c->sharings[i].var == v)
            return c->sharings[i].share != OMPSH_SHARED;
    return false;
}

bool fe_is_private_inside(const struct omp_construct *c, const struct omp_var *v)
{
    for (const struct omp_construct *k = c->child; k; k = k->next)
        if (privatises(k, v) || fe_is_private_inside(k, v))
            return true;
    return false;
}

static bool has_teams(const struct omp_construct *c)
{
    if (c->leaves & OMPL_TEAMS)
        return true;
    for (const struct omp_construct *k = c->child; k; k = k->next)
        if (has_teams(k))
            return true;
    return false;
}

/* The innermost construct that holds the offset. */
static const struct omp_construct *innermost(const struct omp_construct *c, unsigned offset)
{
    for (const struct omp_construct *k = c->child; k; k = k->next)
        if (fe_inside(offset, fe_whole(k)))
            return innermost(k, offset);
    return c;
}

bool fe_is_private_at(const struct omp_construct *target, const struct omp_var *v, unsigned offset)
{
    const struct omp_construct *c = innermost(target, offset);
    for (; c && c != target; c = c->parent)
        if (privatises(c, v))
            return true;
    return (target->leaves & ~(unsigned)OMPL_TARGET) && privatises(target, v);
}

static bool needs_one_copy(const struct fe *fe, const struct omp_construct *c,
                           const struct omp_var *v)
{
    if (!c->spmd_inner && !has_teams(c))
        return false;
    FE_EACH(r, fe->refs, c->body)
        if (r->var == v && r->write && !fe_is_private_at(c, v, r->offset))
            return true;
    for (const struct omp_construct *k = c->child; k; k = k->next)
        if (stored_by_clause(k, v) && !fe_is_private_at(c, v, k->pragma.begin))
            return true;
    return false;
}

static void set_captures(struct fe *fe, struct omp_construct *c, const var_list *uses)
{
    map_list maps = explicit_maps(fe, c);
    c->captures = arena_alloc(fe->a, (uses->n + 1) * sizeof *c->captures);
    for (unsigned i = 0; i < uses->n; i++) {
        if (fe_is_stream(fe, uses->at[i]) && !privatises(c, uses->at[i]))
            continue;
        bool global = names_device_variable(fe, c, uses->at[i]);
        if (global && !privatises(c, uses->at[i])) {
            warn_of_own_storage(fe, c, uses->at[i], c->place);
            map_link_variable(fe, c, &maps, uses->at[i]);
            continue;
        }
        struct omp_sharing s = attribute_of(fe, c, uses->at[i]);
        /* these write to the device's variable itself */
        if (global && (s.share == OMPSH_REDUCTION || (s.lastprivate && !s.clause))) {
            map_link_variable(fe, c, &maps, s.var);
            continue;
        }
        struct omp_capture k = capture_of(fe, c, &maps, &s);
        if (k.kind == OMPCAP_BYVAL || k.kind == OMPCAP_POINTER)
            k.one_copy = needs_one_copy(fe, c, s.var);
        c->captures[c->ncaptures++] = k;
    }
    c->maps = maps.at;
    c->nmaps = maps.n;
}

void fe_data_sharing(struct fe *fe)
{
    fe_choose_modes(fe); /* one copy or several depends on the mode */
    /* Inner constructs first: what a target construct captures depends on what they make private.
     */
    for (unsigned i = fe->u->nconstructs; i-- > 0;) {
        struct omp_construct *c = fe->u->constructs[i];
        if ((c->leaves & OMPL_DATA) || c->directive == OMPDIR_DECLARE_MAPPER) {
            map_list maps = explicit_maps(fe, c);
            c->maps = maps.at;
            c->nmaps = maps.n;
        }
        if (!((c->leaves & SHARING) || c->host_region) ||
            !(c->on_device || fe_target_of(c) || c->scan))
            continue;
        var_list uses = uses_of(fe, c);
        set_sharings(fe, c, &uses);
        if ((c->leaves & OMPL_TARGET) || c->host_region)
            set_captures(fe, c, &uses);
    }
}
