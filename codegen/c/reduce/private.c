/* private.c - private copies of variables, in a block of their own.
 *
 *   {
 *     T *@o_v = &(v as it is spelled outside);       where the original is read or written
 *     T v = initial value;                           hides the outer v; from here on v is spelled
 *                                                    plainly
 *     …
 *     reductions, stores to originals
 *   }
 *
 * What there is to do for a copy is a matter of its kind (struct cg_copy_kind); those of reductions
 * are in record.c, array.c and scan.c. */
#include "codegen/c/reduce/reduce.h"
#include "driver/base/mem.h"

/* ------------------------------------------------------------------ kinds */
void cg_find_original(struct cg *cg, struct cg_private *k, const char *outside)
{
    (void)outside;
    cg_line(cg, "%s *@o_%s = %s;", cg_var_type(cg, k->var, CG_AS_IS), k->var->name,
            cg_address(cg, k->var));
}

const char *cg_aligned(struct cg *cg, const struct cg_private *k)
{
    return k->align ? cg_strf(cg, " __attribute__((aligned(%lld)))", (long long)k->align) : "";
}

static void declare_plain(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    (void)p;
    cg_line(cg, "%s %s%s;", cg_var_type(cg, k->var, CG_UNQUALIFIED), k->var->name,
            cg_aligned(cg, k));
}

static void declare_first(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    const char *v = k->var->name;
    if (k->var->type->kind != OMPT_ARRAY) {
        cg_line(cg, "%s %s%s = *@o_%s;", cg_var_type(cg, k->var, CG_UNQUALIFIED), v,
                cg_aligned(cg, k), v);
        return;
    }
    declare_plain(cg, p, k);
    cg_line(cg, "%s", cg_assign(cg, k->var->type, v, cg_strf(cg, "*@o_%s", v)));
}

static void declare_linear(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    const struct omp_clause *c = k->sharing->clause;
    const char *v = k->var->name;
    bool step = c && !cg_empty(c->expr.extent);
    declare_plain(cg, p, k);
    cg_line(cg, "const %s @l_%s = *@o_%s;", cg_var_type(cg, k->var, CG_UNQUALIFIED), v, v);
    cg_line(cg, "const long long @ls_%s = %s;", v, step ? cg_expr(cg, c->expr.extent) : "1");
}

static const char *iterate_linear(struct cg *cg, const struct cg_private *k, const char *i)
{
    const char *v = k->var->name;
    return cg_strf(cg, "%s = @l_%s + (long long)%s * @ls_%s;", v, v, i, v);
}

static const char *store_copy(struct cg *cg, const struct cg_private *k)
{
    const char *v = k->var->name;
    return cg_assign(cg, k->var->type, cg_strf(cg, "*@o_%s", v), v);
}

/* One copy for the threads of a team of an SPMD kernel, in team-shared storage. */
static void declare_shared(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    const char *v = k->var->name, *type = cg_var_type(cg, k->var, CG_UNQUALIFIED);
    (void)p;
    if (k->var->type->variably_modified)
        cg_fault(cg, k->place, "team-shared copy of '%s', whose type has run-time bounds", v);
    cg_line(cg, "static __OMPGPU_SHARED __typeof__(%s) @s_%s%s __OMPGPU_SHARED_INIT;", type, v,
            cg_aligned(cg, k));
    cg_line(cg, "%s *@t_%s = (%s *)&@s_%s;", type, v, type, v);
    if (k->sharing->share == OMPSH_FIRSTPRIVATE) {
        cg_open(cg, "if (__ompgpu_thread_id() == 0)");
        cg_line(cg, "%s",
                cg_assign(cg, k->var->type, cg_strf(cg, "*@t_%s", v), cg_spell(cg, k->var)));
        cg_close(cg);
        cg_line(cg, "__ompgpu_barrier(%u);", k->place.line);
    }
    cg_line(cg, "%s *%s = @t_%s;", type, v, v);
}

static const char *spell_shared(struct cg *cg, const struct cg_private *k)
{
    return cg_strf(cg, "(*%s)", k->var->name);
}

static const struct cg_copy_kind plain_copy = { .declare = declare_plain };
static const struct cg_copy_kind last_copy = { .find = cg_find_original,
                                               .declare = declare_plain,
                                               .store_last = store_copy };
static const struct cg_copy_kind first_copy = { .find = cg_find_original,
                                                .declare = declare_first };
static const struct cg_copy_kind first_last_copy = { .find = cg_find_original,
                                                     .declare = declare_first,
                                                     .store_last = store_copy };
static const struct cg_copy_kind linear_copy = { .find = cg_find_original,
                                                 .declare = declare_linear,
                                                 .iterate = iterate_linear,
                                                 .store_last = store_copy };
/* the nest declares it and knows its last value: loops.c */
static const struct cg_copy_kind loop_copy = { .find = cg_find_original };
static const struct cg_copy_kind shared_copy = { .declare = declare_shared,
                                                 .spelling = spell_shared };

static const struct cg_copy_kind *kind_of(const struct omp_sharing *s)
{
    switch (s->share) {
    case OMPSH_FIRSTPRIVATE: return s->lastprivate ? &first_last_copy : &first_copy;
    case OMPSH_LINEAR: return &linear_copy;
    case OMPSH_LOOP_IV: return &loop_copy;
    case OMPSH_REDUCTION: return cg_reduction_kind(s);
    default: return s->lastprivate ? &last_copy : &plain_copy;
    }
}

void cg_share_copy(struct cg *cg, struct cg_private *k)
{
    if (k->kind->store_last)
        cg_fault(cg, k->place, "team-shared copy of '%s', which is lastprivate", k->var->name);
    k->kind = &shared_copy;
}

/* ------------------------------------------------------------------ which variables */
bool cg_has(const struct cg_privates *p, const struct cg_copy_kind *kind)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].kind == kind)
            return true;
    return false;
}

static struct cg_private *find_or_add(struct cg_privates *p, const struct omp_var *v)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].var == v)
            return &p->list[i];
    if (p->n == p->capacity)
        p->list = arena_grow(NULL, p->list, &p->capacity, sizeof *p->list);
    return &p->list[p->n++];
}

static bool has_operation(struct cg *cg, const struct omp_sharing *s, struct omp_place place)
{
    const struct omp_type *elem = cg_reduced(s);
    bool has =
        s->clause && elem && ((s->item && s->item->udr) || cg_identity(cg, elem, s->clause->op));
    if (!has)
        cg_fault(cg, place, "no reduction of '%s' of type '%s'", s->var->name,
                 s->var->type->spelling);
    return has;
}

static int64_t alignment_of(const struct omp_construct *c, const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; k->kind == OMPC_ALLOCATE && i < k->nitems; i++)
            if (k->items[i].var == v)
                return k->expr.value;
    return 0;
}

/* A variable that a kernel or an outlined function received by value is a private copy as it
 * stands. */
static bool is_copy_already(const struct cg *cg, const struct omp_construct *c,
                            const struct omp_sharing *s, unsigned collect)
{
    if (s->share != OMPSH_FIRSTPRIVATE || s->lastprivate || alignment_of(c, s->var))
        return false;
    bool of_team = !(c->leaves & ~(unsigned)(OMPL_TARGET | OMPL_TEAMS | OMPL_DISTRIBUTE)) &&
                   cg_is_written(cg->unit, c->body, s->var);
    bool of_target = (c->leaves & OMPL_TARGET) && (!s->clause || c->leaves == OMPL_TARGET);
    return of_target || ((collect & CG_OUTLINED) && !cg->env[s->var->id] && !of_team);
}

static bool is_collected(struct cg *cg, const struct omp_construct *c, const struct omp_sharing *s,
                         unsigned collect)
{
    if (s->share == OMPSH_SHARED || (s->share == OMPSH_LOOP_IV && !s->lastprivate) ||
        is_copy_already(cg, c, s, collect))
        return false;
    if (s->share != OMPSH_REDUCTION)
        return !(collect & CG_REDUCTIONS_ONLY);
    return !(collect & CG_NO_REDUCTIONS) && has_operation(cg, s, c->place);
}

void cg_collect_privates(struct cg *cg, const struct omp_construct *c, struct cg_privates *p,
                         unsigned collect)
{
    for (unsigned i = 0; i < c->nsharings; i++) {
        const struct omp_sharing *s = &c->sharings[i];
        bool reduction = s->share == OMPSH_REDUCTION;
        if (!is_collected(cg, c, s, collect))
            continue;
        bool bounds_passed =
            (collect & CG_OUTLINED) && s->share == OMPSH_PRIVATE && !s->lastprivate;
        const struct cg_copy_kind *kind = kind_of(s);
        *find_or_add(p, s->var) = (struct cg_private){
            .kind = kind,
            .sharing = s,
            .var = s->var,
            .bounds = s->var->type->variably_modified && !bounds_passed,
            .place = c->place,
            .align = alignment_of(c, s->var),
            .elem = reduction ? cg_reduced(s) : NULL,
            .section = reduction ? cg_section_elements(s) : 0,
        };
        p->last = p->last || kind->store_last || s->lastprivate;
        p->reduction = p->reduction || (reduction && !cg_is_scan(s));
        p->race = p->race || kind == &linear_copy || kind == &first_last_copy;
    }
}

/* ------------------------------------------------------------------ the block */
static void declare_bounds(struct cg *cg, const struct cg_private *k, const char *outside)
{
    for (unsigned i = 0; k->bounds && i < cg_nbounds(k->var->type); i++)
        cg_line(cg, "const unsigned long @%s_d%u = %s;", k->var->name, i,
                cg_bound(cg, k->var->type, i, cg_strf(cg, "(%s)", outside)));
}

static bool reads_originals(const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].udr && !cg_empty(p->list[i].sharing->item->udr->init))
            return true;
    return false;
}

void cg_open_privates(struct cg *cg, struct cg_privates *p)
{
    cg_reduction_functions(cg, p);
    if (p->n)
        cg_open_scope(cg);
    for (unsigned i = 0; i < p->n; i++) {
        struct cg_private *k = &p->list[i];
        declare_bounds(cg, k, cg_spell(cg, k->var));
        if (k->kind->find)
            k->kind->find(cg, k, cg_spell(cg, k->var));
    }
    cg_allocate_copies(cg, p);
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].kind->declare)
            p->list[i].kind->declare(cg, p, &p->list[i]);
    if ((p->finish == CG_PARALLEL || p->finish == CG_LEAGUE) && reads_originals(p))
        cg_line(cg, "__ompgpu_originals_read();");
    for (unsigned i = 0; i < p->n; i++) {
        struct cg_private *k = &p->list[i];
        k->saved = cg_bind(cg, k->var, k->kind->spelling ? k->kind->spelling(cg, k) : NULL);
    }
}

const char *cg_iterate(struct cg *cg, const struct cg_private *k, const char *i)
{
    return k->kind->iterate ? k->kind->iterate(cg, k, i) : NULL;
}

void cg_store_last(struct cg *cg, const struct cg_private *k)
{
    if (k->kind->store_last)
        cg_line(cg, "%s", k->kind->store_last(cg, k));
}

void cg_close_privates(struct cg *cg, const struct cg_privates *p)
{
    cg_finish_reduction(cg, p);
    for (unsigned i = p->n; i--;)
        cg_bind(cg, p->list[i].var, p->list[i].saved);
    if (p->n)
        cg_close(cg);
}
