/* version.c - constructs that the host compiles: a region's host version, which runs where no
 * device does, and other constructs that clang 22 cannot take as they are written.
 *
 * The user's text stays; changed are clauses that clang crashes on, has no code for or takes
 * differently from the device. */
#include <ctype.h>
#include "codegen/c/codegen.h"
#include "codegen/c/device/device.h"
#include "codegen/c/host/host.h"
#include "codegen/c/reduce/reduce.h"
#include "hostrt/ompgpu.h"

static bool is_target(const struct omp_construct *c)
{
    return (c->leaves & OMPL_TARGET) || c->host_region;
}

/* ------------------------------------------------------------------ maps */
static bool in_map_clause(const struct omp_construct *c, const struct omp_var *v)
{
    for (unsigned i = 0; i < c->nmaps; i++)
        if (c->maps[i].var == v && !c->maps[i].implicit)
            return true;
    return false;
}

/* clang 22 gives lastprivate variables no value, or any, where the last iterations of an outer loop
 * have no inner ones, and miscounts the iterations of a nest that has none. */
static bool is_uneven(const struct omp_construct *c)
{
    bool uneven = c->ninner > 0, last = false;
    for (unsigned i = 0; i < c->nloops; i++)
        uneven |= c->loops[i].outer != NULL;
    for (unsigned i = 0; i < c->nsharings; i++)
        last |= c->sharings[i].lastprivate;
    return uneven && last && (c->on_device || is_target(c)) && !c->cancelled &&
           !cg_clause(c, OMPC_ORDERED);
}

/* Section 5.8.1: lastprivate and linear on a combined target construct map the variable tofrom.
 * clang takes it as firstprivate of target and loses the result. */
static const char *missing_maps(struct cg *cg, const struct omp_construct *c)
{
    const char *list = "";
    for (unsigned i = 0; i < c->nsharings; i++) {
        const struct omp_sharing *s = &c->sharings[i];
        bool stored = s->share == OMPSH_LINEAR || (s->lastprivate && s->clause) || cg_is_scan(s) ||
                      (s->share == OMPSH_REDUCTION && is_uneven(c));
        if (stored && s->share != OMPSH_FIRSTPRIVATE && !in_map_clause(c, s->var))
            list = cg_strf(cg, "%s map(tofrom: %s)", list, s->var->name);
    }
    return list;
}

/* ------------------------------------------------------------------ reductions
 * clang finishes reductions atomically where it can.  For types that need more than one instruction
 * it calls libatomic, which no program says -l for, and clang 22 has no code at all for elements of
 * a _Bool array.  A user-defined reduction has no such finish. */
#define INTEGERS "_Bool, __int128, unsigned __int128"
#define BOTH(type) ", _Complex " type ", _Complex unsigned " type
#define NUMBERS                                                                                    \
    INTEGERS                                                                                       \
    ", _Complex float, _Complex double, _Complex _Float16, _Complex signed char" BOTH("char")      \
        BOTH("short") BOTH("int") BOTH("long") BOTH("long long")
static const struct host_types {
    enum omp_op_class class;
    enum omp_identity identity;
    const char *types, *initial;
} host_types[] = {
    { OMPR_ARITHMETIC, OMPR_ZERO, NUMBERS, "0" },
    { OMPR_ARITHMETIC, OMPR_ONE, NUMBERS, "1" },
    { OMPR_BITWISE, OMPR_ZERO, INTEGERS, "0" },
    { OMPR_BITWISE, OMPR_ONES, INTEGERS, "-1" },
    { OMPR_LOGICAL, OMPR_ZERO, NUMBERS, "0" },
    { OMPR_LOGICAL, OMPR_ONE, NUMBERS, "1" },
    { OMPR_ORDER, OMPR_SMALLEST, "_Bool, unsigned __int128", "0" },
    { OMPR_ORDER, OMPR_SMALLEST, "__int128", "(__int128)1 << 127" },
    { OMPR_ORDER, OMPR_LARGEST, "_Bool, unsigned __int128", "-1" },
    { OMPR_ORDER, OMPR_LARGEST, "__int128", "(__int128)(~(unsigned __int128)0 >> 1)" },
};

static void host_reductions(struct cg *cg, const struct omp_reduction_op *op)
{
    const char *combination = cg_strf(cg, op->combination, "omp_out", "omp_in");
    for (unsigned i = 0; i < sizeof host_types / sizeof *host_types; i++) {
        const struct host_types *h = &host_types[i];
        if (h->class == op->class && h->identity == op->identity)
            cg_put(cg,
                   "#pragma omp declare reduction(__ompgpu_%s : %s : omp_out = %s) "
                   "initializer(omp_priv = %s)\n",
                   op->host, h->types, combination, h->initial);
    }
}

/* Does clang need help with the item? */
static bool needs_reduction(const struct omp_item *it)
{
    const struct omp_type *t = it->base_type;
    unsigned levels = it->nsections;
    for (; t && t->elem && (t->kind == OMPT_ARRAY || levels); t = t->elem)
        levels -= levels > 0;
    return t && !t->is_long_double &&
           (t->kind == OMPT_COMPLEX || (t->kind == OMPT_BOOL && t != it->base_type) ||
            (t->kind == OMPT_INT && t->size == 16));
}

static bool is_hard(const struct omp_clause *k)
{
    for (unsigned i = 0; k->kind == OMPC_REDUCTION && k->op != OMPR_USER && i < k->nitems; i++)
        if (needs_reduction(&k->items[i]))
            return true;
    return false;
}

static bool has_hard_reductions(const struct omp_construct *c)
{
    for (const struct omp_clause *k = c->clauses; k && (c->on_device || is_target(c)); k = k->next)
        if (is_hard(k))
            return true;
    return false;
}

void cg_host_reductions(struct cg *cg)
{
    const struct omp_unit *u = cg->unit;
    bool any = false;
    for (unsigned i = 0; i < u->nconstructs; i++)
        any |= has_hard_reductions(u->constructs[i]);
    for (unsigned i = 0; any && i < OMPR_USER; i++)
        if (i != OMPR_SUB) /* as ADD */
            host_reductions(cg, &omp_reduction_ops[i]);
}

/* ------------------------------------------------------------------ clauses */
/* The clause with an operator of its own for each item. */
static void hard_clause(struct cg *cg, const struct omp_clause *k)
{
    for (unsigned i = 0; i < k->nitems; i++)
        cg_put(cg, " reduction(%s%s%s: %s)", k->keyword ? omp_keyword_names[k->keyword] : "",
               k->keyword ? ", " : "",
               needs_reduction(&k->items[i])
                   ? cg_strf(cg, "__ompgpu_%s", omp_reduction_ops[k->op].host)
                   : k->word,
               cg_raw(cg, k->items[i].text));
}

/* clang 22 crashes on some constructs with traits: their host version has an allocator that is made
 * around it. */
static bool has_traits(const struct omp_clause *k)
{
    return k->kind == OMPC_USES_ALLOCATORS && k->value;
}

/* clang asks for the allocators of `allocate` in uses_allocators, where those are not any more. */
static bool may_use_traits(const struct omp_construct *c, const struct omp_clause *k)
{
    bool any = false;
    for (const struct omp_clause *u = c->clauses; u; u = u->next)
        any |= has_traits(u);
    return any && k->kind == OMPC_ALLOCATE;
}

/* omp_initial_device, for one; the host version runs on the host, whatever the clause says */
static bool is_negative_device(const struct omp_clause *k)
{
    return k->kind == OMPC_DEVICE && k->expr.is_constant && k->expr.value < 0;
}

/* default(none), which clang does not take beside defaultmap: what it asks for has been checked. */
static bool is_second_default(const struct omp_construct *c, const struct omp_clause *k)
{
    return k->kind == OMPC_DEFAULT && k->keyword != OMPK_PRIVATE &&
           k->keyword != OMPK_FIRSTPRIVATE && is_target(c) && cg_clause(c, OMPC_DEFAULTMAP);
}

/* clang does not know device_type, priority and defaultmap(self) on target, and crashes on
 * defaultmap(none), which has been checked, beside uses_allocators.  What a host version
 * depends on has ended (task.c), and it is done at once: libomp gives one with nowait to threads of
 * its own, where teams never end and the initial values of hostrt/core/host.c are not those of the
 * task. */
static bool is_left_out(const struct omp_construct *c, const struct omp_clause *k)
{
    bool known = k->kind == OMPC_DEFAULTMAP && (k->map == DMAP_SELF || k->map == DMAP_NONE);
    return known || is_second_default(c, k) || may_use_traits(c, k) ||
           ((k->kind == OMPC_NOWAIT || k->kind == OMPC_DEPEND || k->kind == OMPC_DEVICE_TYPE ||
             k->kind == OMPC_PRIORITY) &&
            is_target(c));
}

/* libgomp has no device and, with OMP_TARGET_OFFLOAD=MANDATORY, ends a program that wants one; not
 * with if(target: 0).  What the user says of a parallel leaf stays. */
static bool chooses_device(const struct cg *cg, const struct omp_construct *c,
                           const struct omp_clause *k)
{
    return cg->unit->for_gcc && is_target(c) &&
           (k->kind == OMPC_DEVICE ||
            (k->kind == OMPC_IF && (!k->if_leaf || k->if_leaf == OMPL_TARGET)));
}

static void keep_host(struct cg *cg, const struct omp_construct *c)
{
    if (cg->unit->for_gcc && is_target(c))
        cg_puts(cg, " if(target: 0)");
}

static void parallel_condition(struct cg *cg, const struct omp_construct *c,
                               const struct omp_clause *k)
{
    if (k->kind == OMPC_IF && !k->if_leaf && (c->leaves & OMPL_PARALLEL))
        cg_put(cg, " if(parallel: %s)", cg_raw(cg, k->expr.extent));
}

/* attach(mode): clang does not know it, and nothing is mapped here. */
static bool says_attach(const struct omp_clause *k)
{
    return k->kind == OMPC_MAP && k->nitems && (k->map & OMPM_SAYS_ATTACH);
}

static void map_only(struct cg *cg, const struct omp_clause *k)
{
    struct omp_extent items = { k->items[0].text.begin, k->items[k->nitems - 1].text.end };
    if (!k->niterators)
        cg_put(cg, " map(tofrom: %s)", cg_raw(cg, items));
}

/* What has the allocator is not asked for there, and older ones do not know the clause. */
static bool is_unknown_to_gcc(const struct cg *cg, const struct omp_clause *k)
{
    return cg->unit->for_gcc && k->kind == OMPC_USES_ALLOCATORS;
}

static bool is_dealt_singly(const struct cg *cg, const struct omp_construct *c,
                            const struct omp_clause *k)
{
    return k->kind == OMPC_SCHEDULE && fe_deals_singly(cg->unit, c);
}

static bool may_miss_last(const struct cg *cg, const struct omp_construct *c,
                          const struct omp_clause *k)
{
    return k->kind == OMPC_SCHEDULE && fe_may_miss_last(cg->unit, c);
}

/* It does not know of what it cannot evaluate that it is 1. */
static void deal_singly(struct cg *cg, const struct omp_clause *k)
{
    cg_put(cg, " %s*(volatile int[]){ 1 }%s",
           cg_raw(cg, (struct omp_extent){ k->extent.begin, k->expr.extent.begin }),
           cg_raw(cg, (struct omp_extent){ k->expr.extent.end, k->extent.end }));
}

/* Then no thread takes iterations from another. */
static void deal_in_order(struct cg *cg, const struct omp_clause *k)
{
    cg_put(cg, " schedule(monotonic%s: dynamic%s%s)", k->keyword == OMPK_SIMD ? ", simd" : "",
           cg_empty(k->expr.extent) ? "" : ", ", cg_raw(cg, k->expr.extent));
}

static bool is_changed(const struct cg *cg, const struct omp_construct *c,
                       const struct omp_clause *k)
{
    return is_dealt_singly(cg, c, k) || may_miss_last(cg, c, k) || is_hard(k) || has_traits(k) ||
           is_negative_device(k) || is_left_out(c, k) || chooses_device(cg, c, k) ||
           says_attach(k) || is_unknown_to_gcc(cg, k);
}

static void write_clause(struct cg *cg, const struct omp_construct *c, const struct omp_clause *k)
{
    if (is_unknown_to_gcc(cg, k))
        return;
    if (has_traits(k))
        cg_puts(cg, " uses_allocators(omp_default_mem_alloc)");
    else if (chooses_device(cg, c, k))
        parallel_condition(cg, c, k);
    else if (is_negative_device(k))
        cg_puts(cg, " device(0)");
    else if (is_hard(k))
        hard_clause(cg, k);
    else if (says_attach(k))
        map_only(cg, k);
    else if (is_dealt_singly(cg, c, k))
        deal_singly(cg, k);
    else if (may_miss_last(cg, c, k))
        deal_in_order(cg, k);
    else if (!is_left_out(c, k))
        cg_put(cg, " %s", cg_raw(cg, k->extent));
}

/* Everything after the directive's name, the clauses separated by blanks. */
static void write_changed_clauses(struct cg *cg, const struct omp_construct *c, unsigned begin,
                                  unsigned end)
{
    const struct omp_clause *k = c->clauses;
    while (k && !is_changed(cg, c, k))
        k = k->next;
    if (!k) {
        cg_write(cg, cg->unit->text + begin, end - begin);
        return;
    }
    unsigned at = c->clauses->extent.begin;
    cg_write(cg, cg->unit->text + begin, at - begin);
    for (k = c->clauses; k; k = k->next) {
        if (k->extent.begin < at)
            continue; /* another allocator of one clause */
        write_clause(cg, c, k);
        at = k->extent.end;
    }
}

/* ------------------------------------------------------------------ tasks of a region
 * A task that no parallel construct of the region is around gets copies of the region's variables.
 * clang looks past the region: it shares what a parallel construct around that shares. */
static bool is_task_of_region(const struct omp_construct *c)
{
    const struct omp_construct *around = c->parent;
    while (around && !is_target(around))
        around = around->parent;
    return around && (c->leaves & (OMPL_TASK | OMPL_TASKLOOP));
}

static bool takes_copy(const struct omp_construct *c, const struct omp_sharing *s)
{
    const struct omp_clause *detach = cg_clause(c, OMPC_DETACH);
    bool is_event = detach && detach->nitems && detach->items[0].var == s->var;
    return s->share == OMPSH_FIRSTPRIVATE && !s->clause && !s->var->carries && !is_event;
}

static bool has_task_copies(const struct omp_construct *c)
{
    for (unsigned i = 0; is_task_of_region(c) && i < c->nsharings; i++)
        if (takes_copy(c, &c->sharings[i]))
            return true;
    return false;
}

static void write_task_copies(struct cg *cg, const struct omp_construct *c)
{
    for (unsigned i = 0; is_task_of_region(c) && i < c->nsharings; i++)
        if (takes_copy(c, &c->sharings[i]))
            cg_put(cg, " firstprivate(%s)", c->sharings[i].var->name);
}

static void copy_body(struct cg *cg, const struct omp_construct *c)
{
    if (!cg_empty(c->body)) /* a metadirective may stand for one without */
        cg_copy(cg, (struct omp_extent){ c->pragma.end, c->body.end });
}

/* The construct as the user wrote it, but for what clang cannot compile. */
static void user_construct(struct cg *cg, const struct omp_construct *c)
{
    bool chosen = (is_target(c) || c->for_host) && !cg_empty(c->chosen);
    struct omp_extent text = chosen ? c->chosen : c->pragma;
    cg_marker(cg, fe_place(cg->unit, text.begin));
    if (chosen)
        cg_puts(cg, "#pragma omp ");
    unsigned end = text.end;
    while (end > text.begin && isspace((unsigned char)cg->unit->text[end - 1]))
        end--;
    write_changed_clauses(cg, c, text.begin, end);
    keep_host(cg, c);
    write_task_copies(cg, c);
    if (is_target(c))
        cg_puts(cg, missing_maps(cg, c));
    if (chosen)
        cg_puts(cg, "\n");
    else
        cg_write(cg, cg->unit->text + end, c->pragma.end - end);
    copy_body(cg, c);
}

/* What a metadirective is for the host, where that is not the construct, which is the device's. */
static bool has_other_choice(const struct omp_construct *c)
{
    return c->for_host && !is_target(c) &&
           (c->chosen.begin != c->host_choice.begin || c->chosen.end != c->host_choice.end);
}

static void other_choice(struct cg *cg, const struct omp_construct *c)
{
    if (!cg_empty(c->host_choice)) {
        cg_marker(cg, fe_place(cg->unit, c->host_choice.begin));
        cg_put(cg, "#pragma omp %s\n", cg_raw(cg, c->host_choice));
    }
    copy_body(cg, c);
}

/* ------------------------------------------------------------------ run-time bounds
 * clang 22 crashes where an array with run-time bounds is private in a construct, and two of those
 * around it do not name it. */
static bool may_be_named(const struct omp_construct *c)
{
    while ((c = c->parent)) {
        const struct omp_clause *k = cg_clause(c, OMPC_DEFAULT);
        if (k && k->keyword == OMPK_NONE)
            return false;
    }
    return true;
}

static void mention_bounds(struct cg *cg, const struct omp_construct *c, const struct omp_var *v)
{
    if (v && v->type->variably_modified && may_be_named(c))
        cg_line(cg, "(void)sizeof(%s);", cg_spell(cg, v));
}

static bool has_private_bounds(const struct omp_construct *c)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; k->kind == OMPC_PRIVATE && i < k->nitems; i++)
            if (k->items[i].var && k->items[i].var->type->variably_modified)
                return c->parent && !(c->leaves & (OMPL_TARGET | OMPL_TEAMS));
    return false;
}

static void mention_private_bounds(struct cg *cg, const struct omp_construct *c)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; k->kind == OMPC_PRIVATE && i < k->nitems; i++)
            mention_bounds(cg, c, k->items[i].var);
}

/* ------------------------------------------------------------------ scans */
/* Does the clause belong to the target leaf of a combined construct? */
static bool is_of_target(const struct omp_clause *k)
{
    static const enum omp_clause_kind kinds[] = {
        OMPC_MAP,           OMPC_DEVICE,          OMPC_DEFAULTMAP, OMPC_NOWAIT,
        OMPC_IS_DEVICE_PTR, OMPC_HAS_DEVICE_ADDR, OMPC_DEPEND,     OMPC_USES_ALLOCATORS,
        OMPC_THREAD_LIMIT,  OMPC_PRIORITY,
    };
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (k->kind == kinds[i])
            return true;
    return k->kind == OMPC_IF && (!k->if_leaf || k->if_leaf == OMPL_TARGET);
}

static void write_target_clauses(struct cg *cg, const struct omp_construct *c)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (is_of_target(k) && !is_left_out(c, k) && !chooses_device(cg, c, k) &&
            !is_unknown_to_gcc(cg, k))
            cg_put(cg, " %s", cg_raw(cg, k->extent));
    keep_host(cg, c);
}

/* A loop with a scan is not clang's (reduce/scan.c): one thread runs it. */
static void host_scan(struct cg *cg, const struct omp_construct *c)
{
    struct cg_privates p = { .finish = CG_SERIAL, .base = "" };
    if (is_target(c)) {
        cg_marker(cg, c->place);
        cg_puts(cg, "#pragma omp target");
        write_target_clauses(cg, c);
        cg_puts(cg, missing_maps(cg, c));
    }
    cg_marker(cg, c->place);
    if (c->leaves & OMPL_PARALLEL)
        cg_puts(cg, "#pragma omp parallel num_threads(1)");
    else if (c->leaves & OMPL_FOR)
        cg_put(cg, "#pragma omp single%s", cg_never_waits(c) ? " nowait" : "");
    cg_collect_privates(cg, c, &p, CG_ALL_COPIES);
    cg_open_scope(cg);
    cg_loop_nest(cg, c, CG_ONE, &p, NULL, NULL);
    cg_close(cg);
}

/* ------------------------------------------------------------------ uneven nests */
static void write_copies(struct cg *cg, const struct omp_construct *c)
{
    for (unsigned i = 0; i < c->nsharings; i++) {
        const struct omp_sharing *s = &c->sharings[i];
        bool first = s->share == OMPSH_FIRSTPRIVATE; /* also of a task, without a clause */
        if (!s->lastprivate && (first || s->share == OMPSH_PRIVATE || s->share == OMPSH_LOOP_IV))
            cg_put(cg, " %s(%s)", first ? "firstprivate" : "private", s->var->name);
    }
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (k->kind == OMPC_REDUCTION)
            write_clause(cg, c, k);
}

/* One thread runs the loops as they are written, on the variables that are lastprivate. */
static void write_uneven(struct cg *cg, const struct omp_construct *c)
{
    bool one_team = (c->leaves & OMPL_DISTRIBUTE) && !(c->leaves & OMPL_TEAMS);
    if (is_target(c)) {
        cg_marker(cg, c->place);
        cg_puts(cg, "#pragma omp target");
        write_target_clauses(cg, c);
        cg_puts(cg, missing_maps(cg, c));
    }
    if (one_team) {
        cg_open_scope(cg);
        cg_line(cg, "extern int omp_get_team_num(void);");
        cg_line(cg, "if (omp_get_team_num() == 0)");
    }
    cg_marker(cg, c->place);
    if ((c->leaves & OMPL_FOR) && !(c->leaves & OMPL_PARALLEL))
        cg_put(cg, "#pragma omp single%s\n", cg_never_waits(c) ? " nowait" : "");
    cg_puts(cg, "#pragma omp parallel num_threads(1)");
    write_copies(cg, c);
    cg_puts(cg, "\n");
    cg_copy(cg, (struct omp_extent){ c->pragma.end, c->body.end });
    if (one_team)
        cg_close(cg);
}

/* ------------------------------------------------------------------ libomp's entry points
 * What clang makes of a construct, for one that is not written. */
/* condition: with a blank at its end; "": always. */
static void begin_by_libomp(struct cg *cg, const char *condition, const char *begin,
                            const char *end)
{
    cg_open_scope(cg);
    cg_line(cg, "extern int __kmpc_global_thread_num(void *);");
    cg_line(cg, "extern void %s(void *, int), %s(void *, int);", begin, end);
    cg_line(cg, "static struct __ompgpu_ident @at = { 0, 2, { 0 }, \";unknown;unknown;0;0;;\" };");
    cg_line(cg, "const int @thread = __kmpc_global_thread_num(&@at);");
    cg_line(cg, "%s%s(&@at, @thread);", condition, begin);
    cg_puts(cg, "\n"); /* a line marker may follow */
}

static void end_by_libomp(struct cg *cg, const char *condition, const char *end)
{
    cg_line(cg, "%s%s(&@at, @thread);", condition, end);
    cg_close(cg);
}

/* An ordered region that clang does not take. */
static void write_ordered(struct cg *cg, const struct omp_construct *c)
{
    begin_by_libomp(cg, "", "__kmpc_ordered", "__kmpc_end_ordered");
    cg_copy(cg, (struct omp_extent){ c->pragma.end, c->body.end });
    end_by_libomp(cg, "", "__kmpc_end_ordered");
}

static void write_version(struct cg *cg, const struct omp_construct *c)
{
    if (has_other_choice(c))
        other_choice(cg, c);
    else if (c->scan)
        host_scan(cg, c);
    else if (is_uneven(c))
        write_uneven(cg, c);
    else if (fe_is_later_ordered(c) && !cg->unit->for_gcc)
        write_ordered(cg, c);
    else
        user_construct(cg, c);
}

/* ------------------------------------------------------------------ allocators */
static void make_allocators(struct cg *cg, const struct omp_construct *c)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next) {
        if (!has_traits(k))
            continue;
        const char *t = cg_expr(cg, k->expr.extent), *a = k->items[0].var->name;
        const char *list =
            cg_empty(k->expr.extent)
                ? "0, 0"
                : cg_strf(cg, "sizeof(%s) / sizeof((%s)[0]), (omp_alloctrait_t *)(%s)", t, t, t);
        cg_open_scope(cg);
        cg_line(cg,
                "const omp_allocator_handle_t @made_%s = omp_init_allocator(omp_default_mem_space, "
                "%s);",
                a, list);
        cg_open_scope(cg);
        cg_line(cg, "omp_allocator_handle_t %s = @made_%s;", a, a);
    }
}

/* The last one first. */
static void destroy_allocators(struct cg *cg, const struct omp_clause *k)
{
    if (!k)
        return;
    destroy_allocators(cg, k->next);
    if (!has_traits(k))
        return;
    cg_close(cg);
    cg_line(cg, "omp_destroy_allocator(@made_%s);", k->items[0].var->name);
    cg_close(cg);
}

/* ------------------------------------------------------------------ the construct */
static bool has_teams(const struct omp_construct *c)
{
    bool teams = (c->leaves & OMPL_TEAMS) && !c->spread;
    for (const struct omp_construct *k = c->child; k && !teams; k = k->next)
        teams = has_teams(k);
    return teams;
}

static void declare_here(struct cg *cg, const struct omp_construct *c)
{
    cg_line(cg, "static const struct __ompgpu_place @here = { %s, %u, %s, __OMPGPU_TARGET_DATA };",
            cg_quoted(cg, c->place.file), c->place.line, cg_quoted(cg, cg_directive(cg, c, true)));
}

/* device_type(nohost) */
static bool has_no_version(const struct omp_construct *c)
{
    const struct omp_clause *type = cg_clause(c, OMPC_DEVICE_TYPE);
    return type && type->keyword == OMPK_NOHOST;
}

static void write_no_version(struct cg *cg, const struct omp_construct *c)
{
    cg_open_scope(cg);
    declare_here(cg, c);
    cg_line(cg, "__ompgpu_no_host_version(&@here);");
    cg_close(cg);
}

/* A reduction that no parallel construct of the region is around.  clang takes what it reduces for
 * private, unless a construct around the region shares it. */
static bool reduces_in_one_thread(const struct omp_construct *c)
{
    const unsigned kinds = OMPL_FOR | OMPL_SECTIONS | OMPL_SCOPE | OMPL_LOOP;
    bool found = false;
    for (const struct omp_construct *k = c->child; k && !found; k = k->next)
        found = !(k->leaves & OMPL_PARALLEL) &&
                (((k->leaves & kinds) && cg_clause(k, OMPC_REDUCTION)) || reduces_in_one_thread(k));
    return found;
}

static void open_team_of_one(struct cg *cg, const struct omp_construct *c)
{
    cg_marker(cg, c->place);
    cg_puts(cg, "#pragma omp parallel num_threads(1)\n");
    cg_open_scope(cg);
    for (unsigned i = 0; i < c->ncaptures; i++)
        mention_bounds(cg, c, c->captures[i].var);
}

/* In a parallel construct, which may be around a call of this function, the region's worksharing
 * and barriers must not be the team's: it gets a team of one thread, as libgomp does by itself.
 * Without a construct, which context selectors would see, where that will do. */
static void write_host_version(struct cg *cg, const struct omp_construct *c)
{
    const char **env = cg_push_env(cg, true);
    static const char begin[] = "__kmpc_serialized_parallel",
                      end[] = "__kmpc_end_serialized_parallel";
    const char *nested = cg_strf(cg, "if (@host.level) ");
    bool teams = has_teams(c), wrapped = !teams && !cg->unit->for_gcc && reduces_in_one_thread(c),
         alone = !teams && !cg->unit->for_gcc && !wrapped;
    cg_open_scope(cg);
    declare_here(cg, c);
    cg_line(cg, "struct __ompgpu_host @host;");
    cg_line(cg, "__ompgpu_host_begin(&@host, &@here, %d);",
            wrapped                       ? OMPGPU_HOST_NESTED
            : alone                       ? OMPGPU_HOST_ALONE
            : teams && !cg->unit->for_gcc ? OMPGPU_HOST_TEAMS
                                          : OMPGPU_HOST_OWN);
    make_allocators(cg, c);
    if (alone)
        begin_by_libomp(cg, nested, begin, end);
    if (wrapped)
        open_team_of_one(cg, c);
    write_version(cg, c);
    if (wrapped)
        cg_close(cg);
    if (alone)
        end_by_libomp(cg, nested, end);
    destroy_allocators(cg, c->clauses);
    cg_line(cg, "__ompgpu_host_end(&@host);");
    cg_close(cg);
    cg_pop_env(cg, env);
}

void cg_host_version(struct cg *cg, const struct omp_construct *c)
{
    (has_no_version(c) ? write_no_version : write_host_version)(cg, c);
}

void cg_host_construct(struct cg *cg, const struct omp_construct *c)
{
    bool bounds = has_private_bounds(c);
    if (bounds) {
        cg_open_scope(cg);
        mention_private_bounds(cg, c);
    }
    write_version(cg, c);
    if (bounds)
        cg_close(cg);
}

bool cg_host_changes(const struct cg *cg, const struct omp_construct *c)
{
    return fe_deals_singly(cg->unit, c) || fe_may_miss_last(cg->unit, c) || c->scan ||
           is_uneven(c) || fe_is_later_ordered(c) || has_hard_reductions(c) ||
           has_private_bounds(c) || has_task_copies(c) || c->for_host;
}
