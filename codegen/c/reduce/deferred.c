/* deferred.c - reductions on constructs that the teams share, distribute and its like, where the
 * teams region has other statements, too.
 *
 * Each execution of such a construct ends once in every team, and the teams do not wait for each
 * other.  Where a team's result goes is a matter of whose the original is (enum cg_owner):
 *
 *   the team's     a local of the teams region, a private variable of the teams construct:
 *                  combined into it at once
 *   the league's   mapped, of the file, the target construct's: deferred
 *   unknown        what a pointer leads to that may be another one in each team, orphaned
 *                  constructs: under a lock, in the order in which teams come
 *
 * Deferred: the construct has an entry in the team's slot of the launch's scratchpad, and combines
 * its results there; at the end of the teams region the last team combines the entries of all
 * teams, in the order of their numbers, into the originals.  So the order in which teams come
 * changes no bit.  No valid program can tell it from an update at once: with several teams no
 * thread may read the original before the kernel's end, and a single team does update it at once.
 *
 *   slot of a team:  record | arrays of the teams construct's own reductions | entry 0 | entry 1 …
 *   entry:           used, in 16 bytes | record | array v | array w | …  (each in whole 16 bytes)
 *
 *   the teams construct   const unsigned long @entry_0 = …, @stride = …;
 *                         __ompgpu_deferred_begin(__ompgpu_deferred(@env, @stride, @entry_0));
 *   the construct         void *@deferred = __ompgpu_deferred(…);       NULL: there is one team
 *                         if (@deferred) {
 *                             __ompgpu_deferred_add(@deferred, 16, &@rec, …);
 *                             __ompgpu_deferred_end(@deferred);
 *                         } else *@o_v = …;
 *   its end               if (__ompgpu_deferred_last(@env)) { …
 *                             if (__ompgpu_deferred_get(…)) *@o_v = *@o_v op @rec.v; } */
#include <stdlib.h>
#include <string.h>
#include "codegen/c/reduce/reduce.h"
#include "hostrt/image.h"

enum { HEAD = 16 }; /* bytes of `used` at the begin of an entry */

/* ------------------------------------------------------------------ whose is the original? */
static bool is_inside(unsigned offset, const struct omp_construct *c)
{
    return offset >= c->pragma.begin && offset < cg_whole(c).end;
}

static bool sections_are_stable(const struct cg *cg, const struct cg_plan *p,
                                const struct omp_item *item)
{
    for (unsigned i = 0; item && i < item->nsections; i++)
        if (!cg_is_stable(cg, p, &item->sections[i].lower, NULL) ||
            !cg_is_stable(cg, p, &item->sections[i].length, NULL))
            return false;
    return true;
}

static enum cg_owner owner_of(struct cg *cg, const struct cg_plan *p, const struct omp_construct *c,
                              const struct omp_sharing *s)
{
    const struct omp_var *v = s->var;
    const struct omp_item *item = s->item && s->item->nsections ? s->item : NULL;
    bool local = v->storage == OMPS_LOCAL || v->storage == OMPS_PARAM,
         pointee = item && item->derefs;
    if (!p || !p->teams || !is_inside(c->pragma.begin, p->teams) || is_inside(v->decl, p->teams))
        return local && !pointee ? CG_OF_TEAM : CG_OF_UNKNOWN;
    const struct omp_sharing *teams = cg_sharing(p->teams, v);
    const struct cg_param *a = cg_parameter_of(p, v);
    if (pointee && (!item->base_is_var || item->derefs > 1 || !cg_is_constant_param(cg, p, v)))
        return CG_OF_UNKNOWN;
    if (!pointee && ((teams && teams->share != OMPSH_SHARED) || cg_is_by_value(a) || (local && !a)))
        return CG_OF_TEAM;
    bool of_league = pointee || a || v->storage == OMPS_GLOBAL;
    return of_league && sections_are_stable(cg, p, item) ? CG_OF_LEAGUE : CG_OF_UNKNOWN;
}

/* The teams of a league that a function has run one after the other. */
static bool is_in_serial_league(const struct omp_construct *c)
{
    bool teams = false;
    for (; c && !(c->leaves & OMPL_TARGET); c = c->parent)
        teams = teams || (c->leaves & OMPL_TEAMS);
    return teams && !c;
}

static bool is_shared_by_teams(const struct omp_construct *c)
{
    return !is_in_serial_league(c) &&
           (c->leaves & (OMPL_DISTRIBUTE | OMPL_TEAMS)) == OMPL_DISTRIBUTE;
}
/* Its reductions, without regard to the rest. */
static struct cg_privates reductions_of(struct cg *cg, const struct cg_plan *plan,
                                        const struct omp_construct *c)
{
    struct cg_privates p = { .of_teams = is_shared_by_teams(c) };
    cg_collect_privates(cg, c, &p, CG_REDUCTIONS_ONLY);
    for (unsigned i = 0; p.of_teams && i < p.n; i++)
        if (cg_is_reduction(&p.list[i]))
            p.list[i].owner = owner_of(cg, plan, c, p.list[i].sharing);
    return p;
}

static bool needs_entry(struct cg *cg, const struct cg_plan *plan, const struct omp_construct *c)
{
    bool of_league = false, atomic = cg->unit->atomic_reduction;
    if (!is_shared_by_teams(c))
        return false;
    const struct cg_privates p = reductions_of(cg, plan, c);
    for (unsigned i = 0; i < p.n; i++) {
        if (!cg_is_reduction(&p.list[i]))
            continue;
        of_league = of_league || p.list[i].owner == CG_OF_LEAGUE;
        atomic = atomic && !cg_not_atomic(&p.list[i], p.list[i].owner == CG_OF_TEAM);
    }
    return of_league && !atomic;
}

static void find_deferred(struct cg *cg, struct cg_plan *p, const struct omp_construct *first)
{
    for (const struct omp_construct *c = first; c; c = c->next) {
        if (needs_entry(cg, p, c)) {
            p->deferred = realloc(p->deferred, (p->ndeferred + 1) * sizeof *p->deferred);
            if (!p->deferred)
                abort();
            p->deferred[p->ndeferred++] = (struct cg_deferred){ .construct = c };
        }
        find_deferred(cg, p, c->child);
    }
}

void cg_find_deferred(struct cg *cg, struct cg_plan *p)
{
    if (p->teams && !p->spmd)
        find_deferred(cg, p, p->teams->child);
}

/* ------------------------------------------------------------------ the construct */
static int entry_of(const struct cg *cg, const struct omp_construct *c)
{
    for (unsigned i = 0; cg->plan && i < cg->plan->ndeferred; i++)
        if (cg->plan->deferred[i].construct == c)
            return (int)i;
    return -1;
}

void cg_find_owners(struct cg *cg, const struct omp_construct *c, struct cg_privates *p)
{
    if (!is_shared_by_teams(c))
        return;
    int entry = entry_of(cg, c);
    p->of_teams = true;
    p->deferred = entry >= 0 ? &cg->plan->deferred[entry] : NULL;
    for (unsigned i = 0; i < p->n; i++) {
        struct cg_private *k = &p->list[i];
        if (!cg_is_reduction(k))
            continue;
        k->owner = owner_of(cg, cg->plan, c, k->sharing);
        if (k->owner == CG_OF_UNKNOWN)
            p->lock = cg_lock(cg, "reductions_lock");
    }
}

const char *cg_deferred_pointer(struct cg *cg, const struct omp_construct *c)
{
    int entry = entry_of(cg, c);
    return entry < 0 ? NULL : cg_strf(cg, "__ompgpu_deferred(@env, @stride, @entry_%d)", entry);
}

static const char *record_bytes(struct cg *cg, const struct cg_plan *p, const struct cg_deferred *d)
{
    return cg_strf(cg, "@entry_%s_%u", p->chain[0]->region, (unsigned)(d - p->deferred));
}

void cg_deferred_record(struct cg *cg, struct cg_privates *p)
{
    if (p->deferred)
        cg_line(cg, "enum { %s = %s };", record_bytes(cg, cg->plan, p->deferred),
                p->record ? cg_strf(cg, "%d + (sizeof(%s) + 15) / 16 * 16", HEAD, p->record)
                          : cg_strf(cg, "%d", HEAD));
}

/* An array that has a place in the entry. */
static bool in_entry(const struct cg_private *k)
{
    return k->kind == &cg_array_copy && k->owner == CG_OF_LEAGUE;
}

/* k NULL: the end of the entry's arrays; NULL: there are none. */
static const char *arrays_bytes(struct cg *cg, const struct cg_privates *p,
                                const struct cg_private *k)
{
    const char *sum = NULL;
    for (const struct cg_private *l = p->list; l != p->list + p->n && l != k; l++)
        if (in_entry(l)) {
            const char *bytes = cg_array_bytes(cg, l->elem, cg_elements(cg, l));
            sum = sum ? cg_strf(cg, "%s + %s", sum, bytes) : bytes;
        }
    return sum;
}

const char *cg_entry_offset(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    const char *head = record_bytes(cg, cg->plan, p->deferred), *arrays = arrays_bytes(cg, p, k);
    return arrays ? cg_strf(cg, "%s + %s", head, arrays) : head;
}

void cg_deferred_add_record(struct cg *cg, const struct cg_privates *p)
{
    cg_line(cg, "__ompgpu_deferred_add(@deferred, %d, &@rec, 1, %s, @combine_%s);", HEAD,
            cg_record_size(cg, p), p->base);
}

void cg_deferred_add_array(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    const char *v = k->var->name;
    cg_line(cg, "__ompgpu_deferred_add(@deferred, %s, @p_%s, @e_%s, sizeof *@p_%s, %s);",
            cg_entry_offset(cg, p, k), v, v, v, cg_combiner(cg, p, k));
}

/* With nothing but a record, who has the result says so (reduce/reduction.c). */
void cg_deferred_end(struct cg *cg, const struct cg_privates *p)
{
    if (!p->deferred)
        return;
    if (cg_has(p, &cg_array_copy)) {
        cg_line(cg, "if (@deferred && __ompgpu_thread_id() == 0)");
        cg_line(cg, "    __ompgpu_deferred_end(@deferred);");
    }
    p->deferred->end = *p;
}

/* ------------------------------------------------------------------ the teams construct */
bool cg_has_entries(const struct cg *cg, const struct cg_privates *p)
{
    return p->finish == CG_TEAMS && cg->plan && cg->plan->ndeferred;
}

/* The sizes are those that the host and all teams know: the arrays' by their list items. */
static const char *known_bytes(struct cg *cg, const struct cg_plan *plan,
                               const struct cg_deferred *d)
{
    const struct cg_privates p = reductions_of(cg, plan, d->construct);
    return arrays_bytes(cg, &p, NULL);
}

void cg_declare_entries(struct cg *cg, const char *own)
{
    const struct cg_plan *p = cg->plan;
    const char *at = own;
    for (unsigned i = 0; i < p->ndeferred; i++) {
        const char *arrays = known_bytes(cg, p, &p->deferred[i]);
        cg_line(cg, "const unsigned long @entry_%u = %s;", i, at);
        at = cg_strf(cg, "@entry_%u + %s%s%s", i, record_bytes(cg, p, &p->deferred[i]),
                     arrays ? " + " : "", arrays ? arrays : "");
    }
    cg_line(cg, "const unsigned long @stride = %s;", at);
    for (unsigned i = 0; i < p->ndeferred; i++)
        cg_line(cg, "__ompgpu_deferred_begin(%s);",
                cg_deferred_pointer(cg, p->deferred[i].construct));
}

/* Into the originals, which are spelled here as they are around the construct. */
static void get_record(struct cg *cg, struct cg_privates *p, const char *entry)
{
    if (!cg_has_items_of(p, CG_OF_LEAGUE))
        return;
    cg_open_scope(cg);
    cg_line(cg, "%s @rec, @tmp;", p->record);
    cg_open(cg, "if (__ompgpu_deferred_get(@env, %s, %d, @stride, &@rec, &@tmp, %s, @combine_%s))",
            entry, HEAD, cg_record_size(cg, p), p->base);
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].kind == &cg_record_copy && p->list[i].owner == CG_OF_LEAGUE)
            cg_find_original(cg, &p->list[i], NULL);
    cg_update_items(cg, p, cg_strf(cg, "@rec."), CG_OF_LEAGUE);
    cg_close(cg);
    cg_close(cg);
}

static void get_arrays(struct cg *cg, struct cg_privates *p, const char *entry)
{
    for (unsigned i = 0; i < p->n; i++) {
        struct cg_private *k = &p->list[i];
        const char *v = k->var->name;
        if (!in_entry(k))
            continue;
        cg_find_array(cg, k, cg_spell(cg, k->var));
        cg_open_scope(cg);
        cg_line(cg, "%s @tmp;", cg_type(cg, k->elem, "", CG_UNQUALIFIED));
        cg_line(cg,
                "__ompgpu_deferred_get_array(@env, %s, %s, @stride, @o_%s, @e_%s, &@tmp, "
                "sizeof @tmp, %s);",
                entry, cg_entry_offset(cg, p, k), v, v, cg_combiner(cg, p, k));
        cg_close(cg);
    }
}

void cg_get_entries(struct cg *cg)
{
    for (unsigned i = 0; i < cg->plan->ndeferred; i++) {
        struct cg_privates *p = &cg->plan->deferred[i].end;
        const char *entry = cg_strf(cg, "@entry_%u", i);
        cg_open_scope(cg);
        get_record(cg, p, entry);
        get_arrays(cg, p, entry);
        cg_close(cg);
    }
}

/* ----------------------------------------------- what the kernel's information and the host say */
void cg_state_teams(struct cg *cg, const struct cg_privates *p)
{
    const char *record = p->atomic ? NULL : p->record, *bytes;
    unsigned variables = p->flags >> OMPGPU_KERNEL_VARIABLES & 255,
             arrays = p->flags >> (OMPGPU_KERNEL_VARIABLES + 8) & OMPGPU_KERNEL_MOST_ARRAYS;
    cg->teams_flags = p->flags;
    cg->teams_bytes = record ? cg_strf(cg, "sizeof(%s)", record) : NULL;
    if (!cg_has_entries(cg, p))
        return;
    bytes = record ? cg_strf(cg, "(sizeof(%s) + 15) / 16 * 16", record) : "0";
    for (unsigned i = 0; i < cg->plan->ndeferred; i++) {
        const struct cg_privates *end = &cg->plan->deferred[i].end;
        bytes = cg_strf(cg, "%s + %s", bytes, record_bytes(cg, cg->plan, &cg->plan->deferred[i]));
        for (unsigned j = 0; j < end->n; j++)
            if (cg_is_reduction(&end->list[j]) && end->list[j].owner == CG_OF_LEAGUE)
                (end->list[j].kind == &cg_array_copy ? arrays++ : variables++);
    }
    cg->teams_flags = cg_kernel_counts(variables, arrays);
    cg->teams_bytes = bytes;
}

const char *cg_entries_arrays(struct cg *cg, const struct cg_plan *p)
{
    const char *sum = NULL, *bytes;
    for (unsigned i = 0; i < p->ndeferred; i++)
        if ((bytes = known_bytes(cg, p, &p->deferred[i])))
            sum = sum ? cg_strf(cg, "%s + %s", sum, bytes) : bytes;
    return sum;
}
