/* deferred.c - reductions on constructs that the teams share, distribute and its like, where the
 * teams region has other statements, too.
 *
 * Each execution of such a construct ends once in every team, and the teams do not wait for each
 * other.  Where a team's result goes is a matter of whose the original is (enum cg_owner):
 *
 *   the team's     a local of the teams region, a private variable of the teams construct     combined into it at once
 *   the league's   mapped, of the file, the target construct's                                deferred
 *   unknown        storage behind a pointer that may be another one in each team,             under a lock, in the order in which teams come
 *                  orphaned constructs
 *
 * Deferred: the construct has an entry in the team's slot of the launch's scratchpad, and combines
 * its results there; at the end of the teams region the last team combines the entries of all
 * teams, in the order of their numbers, into the originals.  So the order in which teams come
 * changes no bit.  No valid program can tell it from an update at once: with several teams nobody
 * may read the original before the kernel's end, and a single team does update it at once.
 *
 *   slot of a team:  record | pieces of the teams construct's own reductions | entry 0 | entry 1 |
 * …
 *   entry:           used, in 16 bytes | record | array v | array w | …                       each rounded up to 16 bytes
 *
 *   { const unsigned long __entry_0 = …, __stride = …;
 * __ompgpu_deferred_begin(__ompgpu_deferred(__env, __stride, __entry_0));
 *     … void *__deferred = __ompgpu_deferred(…);        travels to the construct; NULL: one team
 *       … if (__deferred) { __ompgpu_deferred_add(__deferred, 16, &__rec, …);
 * __ompgpu_deferred_end(__deferred); } else *__o_v = …; if (__ompgpu_deferred_last(__env)) { … if
 * (__ompgpu_deferred_get(…)) *__o_v = *__o_v op __rec.v; } }                          */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "codegen/c/write.h"
#include "hostrt/image.h"

enum { HEAD = 16 }; /* bytes of `used` at an entry's begin */

/* ------------------------------------------------------------------ whose is the original? */
static bool is_inside(unsigned offset, const struct omp_construct *c)
{
    return offset >= c->pragma.begin && offset < cg_whole(c).end;
}

/* How the kernel gets the variable; NULL: it is no parameter. */
static const struct cg_param *parameter(const struct cg_plan *p, const struct omp_var *v)
{
    for (unsigned i = 0; i < p->nparams; i++)
        if (p->params[i].var == v && p->params[i].pass != CG_PASS_BOUND)
            return &p->params[i];
    return NULL;
}

static bool by_value(const struct cg_param *a)
{
    return a &&
           (a->pass == CG_PASS_VALUE || a->pass == CG_PASS_POINTER || a->pass == CG_PASS_LOOKUP);
}

/* A parameter passed by value that nobody changes: all teams and, where it is a number, the host
 * see the same. */
static bool is_constant(const struct cg *cg, const struct cg_plan *p, const struct omp_var *v)
{
    const struct omp_sharing *s = cg_sharing(p->teams, v);
    return by_value(parameter(p, v)) && !cg_is_written(cg->unit, cg_whole(p->chain[0]), v) &&
           (!s || s->share == OMPSH_SHARED || s->share == OMPSH_FIRSTPRIVATE);
}

/* Arithmetic on literals and constant parameters. */
static bool is_stable(struct cg *cg, const struct cg_plan *p, struct omp_extent e)
{
    const struct omp_unit *u = cg->unit;
    bool word = false;
    for (const char *t = cg_empty(e) ? "" : cg_raw(cg, e); *t; t++) {
        if (!(isalnum((unsigned char)*t) || strchr("_ +-*/%()", *t)) || (*t == '(' && word))
            return false; /* '(' behind a word: a call */
        word = isalnum((unsigned char)*t) || *t == '_' || (word && *t == ' ');
    }
    for (unsigned i = cg_first_ref(u, e.begin); i < u->nrefs && u->refs[i].offset < e.end; i++)
        if (u->refs[i].var->type->kind != OMPT_INT || !is_constant(cg, p, u->refs[i].var))
            return false;
    return true;
}

static bool sections_are_stable(struct cg *cg, const struct cg_plan *p, const struct omp_item *item)
{
    for (unsigned i = 0; item && i < item->nsections; i++)
        if (!is_stable(cg, p, item->sections[i].lower.extent) ||
            !is_stable(cg, p, item->sections[i].length.extent))
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
    const struct cg_param *a = parameter(p, v);
    if (pointee && (!item->base_is_var || item->derefs > 1 || !is_constant(cg, p, v)))
        return CG_OF_UNKNOWN;
    if (!pointee && ((teams && teams->share != OMPSH_SHARED) || by_value(a) || (local && !a)))
        return CG_OF_TEAM;
    bool of_league = pointee || a || v->storage == OMPS_GLOBAL;
    return of_league && sections_are_stable(cg, p, item) ? CG_OF_LEAGUE : CG_OF_UNKNOWN;
}

static bool is_shared_by_teams(const struct omp_construct *c)
{
    return (c->leaves & (OMPL_DISTRIBUTE | OMPL_TEAMS)) == OMPL_DISTRIBUTE;
}
static bool is_reduction(const struct omp_sharing *s)
{
    return s->share == OMPSH_REDUCTION && !cg_is_scan(s);
}

static bool needs_entry(struct cg *cg, const struct cg_plan *p, const struct omp_construct *c)
{
    bool of_league = false, atomic = cg->unit->atomic_reduction;
    for (unsigned i = 0; is_shared_by_teams(c) && i < c->nsharings; i++) {
        const struct omp_sharing *s = &c->sharings[i];
        if (!is_reduction(s))
            continue;
        enum cg_owner owner = owner_of(cg, p, c, s);
        of_league = of_league || owner == CG_OF_LEAGUE;
        atomic = atomic && !cg_not_atomic(s, owner == CG_OF_TEAM);
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

void cg_free_deferred(struct cg_plan *p)
{
    for (unsigned i = 0; i < p->ndeferred; i++)
        free(p->deferred[i].end.list);
    free(p->deferred);
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
        if (!is_reduction(k->sharing))
            continue;
        k->owner = owner_of(cg, cg->plan, c, k->sharing);
        if (k->owner == CG_OF_UNKNOWN)
            p->lock = cg_lock(cg, "__reduction");
    }
}

const char *cg_deferred_pointer(struct cg *cg, const struct omp_construct *c)
{
    int entry = entry_of(cg, c);
    return entry < 0 ? NULL : cg_strf(cg, "__ompgpu_deferred(__env, __stride, __entry_%d)", entry);
}

static const char *record_bytes(struct cg *cg, const struct cg_plan *p, const struct cg_deferred *d)
{
    return cg_strf(cg, "__entry_%s_%u", p->chain[0]->region, (unsigned)(d - p->deferred));
}

void cg_deferred_record(struct cg *cg, const struct cg_privates *p)
{
    if (p->deferred)
        cg_put(cg, "enum { %s = %s };\n", record_bytes(cg, cg->plan, p->deferred),
               p->record ? cg_strf(cg, "%d + (sizeof(%s) + 15) / 16 * 16", HEAD, p->record)
                         : cg_strf(cg, "%d", HEAD));
}

void cg_deferred_keep(struct cg_privates *p)
{
    if (!p->deferred)
        return;
    p->deferred->end = *p;
    p->deferred->end.list = malloc((p->n + 1) * sizeof *p->list);
    if (!p->deferred->end.list)
        abort();
    memcpy(p->deferred->end.list, p->list, p->n * sizeof *p->list);
}

/* An array that has a place in the entry. */
static bool in_entry(const struct cg_private *k) { return k->pieces && k->owner == CG_OF_LEAGUE; }
static const char *array_bytes(struct cg *cg, const char *count, const struct omp_type *e)
{
    return cg_strf(cg, "((%s * %llu + 15) & ~15ul)", count, (unsigned long long)e->size);
}

/* Where the arrays begin. */
static const char *first_array(struct cg *cg, const struct cg_privates *p)
{
    return record_bytes(cg, cg->plan, p->deferred);
}

static const char *element(struct cg *cg, const struct cg_private *k)
{
    return cg_type(cg, k->elem, "", CG_UNQUALIFIED);
}

void cg_deferred_functions(struct cg *cg, const struct cg_privates *p)
{
    for (unsigned i = 0; p->deferred && i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (in_entry(k))
            cg_put(cg,
                   "__OMPGPU_INLINE void __combine_%s__%s_1(void *__p, const void *__q) { %s *__a "
                   "= __p; const %s *__b = __q; %s }\n",
                   p->base, k->var->name, element(cg, k), element(cg, k),
                   cg_combine(cg, k, "(*__a)", "(*__b)"));
    }
}

void cg_deferred_add_record(struct cg *cg, const struct cg_privates *p, const char *size)
{
    cg_put(cg, " __ompgpu_deferred_add(__deferred, %d, &__rec, 1, &__tmp, %s, __combine_%s);", HEAD,
           size, p->base);
}

/* Where the array lies in the entry. */
static const char *array_at(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    const char *at = first_array(cg, p);
    for (unsigned i = 0; &p->list[i] != k; i++)
        if (in_entry(&p->list[i]))
            at = cg_strf(
                cg, "%s + %s", at,
                array_bytes(cg, cg_strf(cg, "__e_%s", p->list[i].var->name), p->list[i].elem));
    return at;
}

void cg_deferred_add_array(struct cg *cg, const struct cg_privates *p, const struct cg_private *k,
                           const char *first, const char *values, const char *count)
{
    cg_put(cg,
           " { %s __v; __ompgpu_deferred_add(__deferred, %s + %s * sizeof __v, %s, %s, &__v, "
           "sizeof __v, __combine_%s__%s_1); }",
           element(cg, k), array_at(cg, p, k), first, values, count, p->base, k->var->name);
}

const char *cg_deferred_put_element(struct cg *cg, const struct cg_privates *p,
                                    const struct cg_private *k)
{
    return cg_strf(cg,
                   "__ompgpu_deferred_put(__deferred, __used, %s + __i * sizeof __rec, &__rec, 1, "
                   "&__tmp, sizeof __rec, __combine_%s__%s_1);",
                   array_at(cg, p, k), p->base, k->var->name);
}

/* ------------------------------------------------------------------ the teams construct */
/* Bytes of the construct's arrays, by the sizes that the host and all teams know; NULL none. */
static const char *arrays_bytes(struct cg *cg, const struct cg_plan *p, const struct cg_deferred *d)
{
    const char *sum = NULL;
    for (unsigned i = 0; i < d->construct->nsharings; i++) {
        const struct omp_sharing *s = &d->construct->sharings[i];
        if (!is_reduction(s) || !cg_in_pieces(s) ||
            owner_of(cg, p, d->construct, s) != CG_OF_LEAGUE)
            continue;
        const char *bytes = array_bytes(cg, cg_count(cg, s), cg_reduced(s));
        sum = sum ? cg_strf(cg, "%s + %s", sum, bytes) : bytes;
    }
    return sum;
}

void cg_declare_entries(struct cg *cg, const char *own)
{
    const struct cg_plan *p = cg->plan;
    const char *at = own;
    for (unsigned i = 0; i < p->ndeferred; i++) {
        const char *arrays = arrays_bytes(cg, p, &p->deferred[i]);
        cg_line(cg, "const unsigned long __entry_%u = %s;", i, at);
        at = cg_strf(cg, "__entry_%u + %s%s%s", i, record_bytes(cg, p, &p->deferred[i]),
                     arrays ? " + " : "", arrays ? arrays : "");
    }
    cg_line(cg, "const unsigned long __stride = %s;", at);
    for (unsigned i = 0; i < p->ndeferred; i++)
        cg_line(cg, "__ompgpu_deferred_begin(%s);",
                cg_deferred_pointer(cg, p->deferred[i].construct));
}

/* Into the originals, which are spelled here as they are around the construct. */
static void get_record(struct cg *cg, const struct cg_deferred *d, const char *entry)
{
    const struct cg_privates *p = &d->end;
    bool any = false;
    for (unsigned i = 0; i < p->n; i++)
        any = any || (is_reduction(p->list[i].sharing) && !p->list[i].pieces &&
                      p->list[i].owner == CG_OF_LEAGUE);
    if (!any)
        return;
    cg_line(cg,
            "{ %s __rec, __tmp; if (__ompgpu_deferred_get(__env, %s, %d, __stride, &__rec, &__tmp, "
            "sizeof __rec - %u, __combine_%s)) {",
            p->record, entry, HEAD, p->padding, p->base);
    for (unsigned i = 0; i < p->n; i++) {
        const struct omp_var *v = p->list[i].var;
        if (is_reduction(p->list[i].sharing) && !p->list[i].pieces &&
            p->list[i].owner == CG_OF_LEAGUE)
            cg_put(cg, " %s *__o_%s = %s;", cg_var_type(cg, v, CG_AS_IS), v->name,
                   cg_address(cg, v));
    }
    cg_update_record_items(cg, p, "__rec.", CG_OF_LEAGUE);
    cg_puts(cg, " } }");
}

static void get_arrays(struct cg *cg, const struct cg_deferred *d, const char *entry)
{
    const struct cg_privates *p = &d->end;
    const char *at = first_array(cg, p);
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        const char *v = k->var->name, *e = element(cg, k);
        if (!in_entry(k))
            continue;
        cg_declare_pieces(cg, k, cg_spell(cg, k->var));
        cg_line(cg,
                "{ %s __tmp; __ompgpu_deferred_get_array(__env, %s, %s, __stride, __o_%s, __e_%s, "
                "&__tmp, sizeof __tmp, __combine_%s__%s_1); }",
                e, entry, at, v, v, p->base, v);
        at = cg_strf(cg, "%s + %s", at, array_bytes(cg, cg_strf(cg, "__e_%s", v), k->elem));
    }
}

void cg_get_entries(struct cg *cg)
{
    for (unsigned i = 0; i < cg->plan->ndeferred; i++) {
        const struct cg_deferred *d = &cg->plan->deferred[i];
        const char *entry = cg_strf(cg, "__entry_%u", i);
        cg_line(cg, "{");
        get_record(cg, d, entry);
        get_arrays(cg, d, entry);
        cg_puts(cg, " }");
    }
}

/* ----------------------------------------------- what the kernel's information and the host say */
const char *cg_entries_bytes(struct cg *cg, const char *record)
{
    const char *sum = record ? cg_strf(cg, "(sizeof(%s) + 15) / 16 * 16", record) : "0";
    for (unsigned i = 0; i < cg->plan->ndeferred; i++)
        sum = cg_strf(cg, "%s + %s", sum, record_bytes(cg, cg->plan, &cg->plan->deferred[i]));
    return sum;
}

unsigned cg_entries_flags(const struct cg *cg, unsigned flags)
{
    unsigned variables = flags >> OMPGPU_KERNEL_VARIABLES & 255,
             arrays = flags >> (OMPGPU_KERNEL_VARIABLES + 8);
    for (unsigned i = 0; i < cg->plan->ndeferred; i++) {
        const struct cg_privates *p = &cg->plan->deferred[i].end;
        for (unsigned j = 0; j < p->n; j++)
            if (is_reduction(p->list[j].sharing) && p->list[j].owner == CG_OF_LEAGUE)
                (p->list[j].pieces ? arrays++ : variables++);
    }
    return (variables < 255 ? variables : 255) << OMPGPU_KERNEL_VARIABLES |
           arrays << (OMPGPU_KERNEL_VARIABLES + 8);
}

const char *cg_entries_arrays(struct cg *cg, const struct cg_plan *p)
{
    const char *sum = NULL, *bytes;
    for (unsigned i = 0; i < p->ndeferred; i++)
        if ((bytes = arrays_bytes(cg, p, &p->deferred[i])))
            sum = sum ? cg_strf(cg, "%s + %s", sum, bytes) : bytes;
    return sum;
}
