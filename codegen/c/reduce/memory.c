/* memory.c - global memory for reductions of arrays: how much, for the device text and for the host
 * text alike, and where a thread's copies get theirs.
 *
 *   scratchpad of a launch:   slots of all teams | copies of all threads (SPMD kernels only)
 *   slot of a team:           record | array v | array w | … | entry 0 | entry 1 | …
 *   copies of a thread:       array v | array w | …                 (each in whole 16 bytes, and
 *                             in checked images with room after it: hostrt/emu/guard.c)
 *
 * The number of elements is @e_v where the array is found already, and computed from the list item
 * elsewhere: in the host text before the launch, and at the begin of a teams region for its
 * entries.  The size of the record, and of entries without their arrays, is part of the kernel's
 * info.
 *
 * Copies of other code are in the team heap.  How much of it they take is a matter of the call
 * graph, so each construct says what it knows (__ompgpu_copy_needs, codegen/ir/passes/copies.c),
 * and the host adds what it can foresee of sections whose length is not constant. */
#include <string.h>
#include "codegen/c/reduce/reduce.h"

static const char *sum_of(struct cg *cg, const char *sum, const char *bytes)
{
    return !bytes ? sum : sum ? cg_strf(cg, "%s + %s", sum, bytes) : bytes;
}

static const char *or_zero(const char *bytes) { return bytes ? bytes : "0"; }

/* ------------------------------------------------------------------ sizes */
const char *cg_elements(struct cg *cg, const struct cg_private *k)
{
    const struct omp_item *item = k->sharing->item;
    if (k->count)
        return k->count;
    const char *size = item && item->nsections ? cg_span_of(cg, item).size
                                               : cg_strf(cg, "sizeof(%s)", cg_spell(cg, k->var));
    return cg_strf(cg, "((%s) / %llu)", size, (unsigned long long)k->elem->size);
}

const char *cg_array_bytes(struct cg *cg, const struct omp_type *elem, const char *count)
{
    return cg_strf(cg, "((%s * %llu + 15) & ~15ul)", count, (unsigned long long)elem->size);
}

/* NULL: 0; k NULL: the end of the arrays. */
static const char *slot_offset(struct cg *cg, const struct cg_privates *p,
                               const struct cg_private *k)
{
    const char *at =
        p->record && !p->atomic ? cg_strf(cg, "((sizeof(%s) + 15) & ~15ul)", p->record) : NULL;
    for (const struct cg_private *l = p->list; l != p->list + p->n && l != k; l++)
        if (l->kind == &cg_array_copy)
            at = sum_of(cg, at, cg_array_bytes(cg, l->elem, cg_elements(cg, l)));
    return at;
}

const char *cg_slot_offset(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    return or_zero(slot_offset(cg, p, k));
}

static const char *copy_offset(struct cg *cg, const struct cg_privates *p,
                               const struct cg_private *k)
{
    const char *at = NULL;
    for (const struct cg_private *l = p->list; l != p->list + p->n && l != k; l++)
        at = sum_of(cg, at, cg_global_bytes(cg, p, l));
    return at;
}

const char *cg_copy_offset(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    return or_zero(copy_offset(cg, p, k));
}

/* ------------------------------------------------------------------ a launch, for the host */
/* Only an inner reduction hides an outer one: at most too much. */
static struct cg_privates reductions_of(struct cg *cg, const struct cg_plan *plan)
{
    struct cg_privates p = { .finish = plan->spmd ? CG_LEAGUE : CG_TEAMS,
                             .scratchpad = plan->spmd };
    for (unsigned i = 0; plan->spmd && i < plan->nchain; i++)
        cg_collect_privates(cg, plan->chain[i], &p, CG_REDUCTIONS_ONLY);
    if (!plan->spmd && plan->reduction)
        cg_collect_privates(cg, plan->teams, &p, CG_REDUCTIONS_ONLY);
    return p;
}

const char *cg_launch_slot_bytes(struct cg *cg, const struct cg_plan *plan)
{
    const struct cg_privates p = reductions_of(cg, plan);
    return plan->reduction ? sum_of(cg, slot_offset(cg, &p, NULL), cg_entries_arrays(cg, plan))
                           : NULL;
}

const char *cg_launch_copy_bytes(struct cg *cg, const struct cg_plan *plan)
{
    const struct cg_privates p = reductions_of(cg, plan);
    const char *sum = NULL;
    for (unsigned i = 0; plan->spmd && i < p.n; i++)
        if (cg_is_large(&p.list[i]))
            sum = sum_of(cg, sum, cg_array_bytes(cg, p.list[i].elem, cg_elements(cg, &p.list[i])));
    return sum;
}

/* ---------------------------------------------------------------- constructs inside the region */
/* Has the expression at the launch the value that it has in the region? */
static bool is_known_at_launch(const struct cg *cg, const struct omp_expr *x)
{
    const struct omp_unit *u = cg->unit;
    for (unsigned i = cg_first_ref(u, x->extent.begin);
         i < u->nrefs && u->refs[i].offset < x->extent.end; i++) {
        const struct omp_var *v = u->refs[i].var;
        if (v->type->kind != OMPT_INT || !cg->target || v->decl >= cg->target->pragma.begin ||
            cg_is_written(u, cg_whole(cg->target), v))
            return false;
    }
    return !cg_is_renamed(u, x->extent);
}

/* Bytes of the copy of a section; NULL: the expression is not one to write twice.  *host: it means
 * the same at the launch. */
static const char *bytes_of_section(struct cg *cg, const struct cg_private *k, bool *host)
{
    const struct omp_item *item = k->sharing->item;
    const struct omp_type *t = item && item->base_type ? item->base_type : k->var->type;
    const char *bytes = "";
    *host = true;
    if (!item || !item->nsections)
        return NULL;
    for (unsigned i = 0; i < item->nsections && t; i++, t = t->elem) {
        const struct omp_section *s = &item->sections[i];
        if (!s->is_section)
            continue;
        uint64_t elements = cg_empty(s->length.extent) ? s->dim : s->count;
        if (elements) {
            bytes = cg_strf(cg, "%s%lluul * ", bytes, (unsigned long long)elements);
            continue;
        }
        if (!s->length.is_pure || s->length.reads_memory)
            return NULL;
        *host = *host && is_known_at_launch(cg, &s->length);
        bytes = cg_strf(cg, "%s(unsigned long)(%s) * ", bytes, cg_expr(cg, s->length.extent));
    }
    return t && t->size && !t->variably_modified
               ? cg_strf(cg, "%s%lluul", bytes, (unsigned long long)t->size)
               : NULL;
}

/* Of a construct, as far as the host can foresee it. */
static const char *foreseen_bytes(struct cg *cg, const struct omp_construct *c)
{
    struct cg_privates p = { 0 };
    const char *sum = NULL, *n;
    bool host;
    cg_collect_privates(cg, c, &p, CG_REDUCTIONS_ONLY);
    for (unsigned i = 0; i < p.n; i++)
        if (p.list[i].kind == &cg_array_copy && (n = bytes_of_section(cg, &p.list[i], &host)) &&
            host)
            sum = sum_of(cg, sum, cg_strf(cg, "((%s + 15) & ~15ul)", n));
    return sum;
}

/* Is it in cg_launch_…_bytes? */
static bool is_of_launch(const struct cg_plan *plan, const struct omp_construct *c)
{
    if (c == plan->teams && !(c->leaves & OMPL_PARALLEL))
        return true;
    for (unsigned i = 0; plan->spmd && i < plan->nchain; i++)
        if (c == plan->chain[i])
            return true;
    return false;
}

static bool write_inner(struct cg *cg, const struct cg_plan *plan,
                        const struct omp_construct *first, const char *outer, bool any)
{
    for (const struct omp_construct *c = first; c; c = c->next) {
        const char *own = is_of_launch(plan, c) ? NULL : foreseen_bytes(cg, c),
                   *sum = own ? sum_of(cg, outer, own) : outer;
        if (own && !any)
            cg_line(cg, "unsigned long @k_bytes = 0;");
        if (own) {
            cg_open_scope(cg);
            cg_line(cg, "const unsigned long @n = %s;", sum);
            cg_line(cg, "@k_bytes = @n > @k_bytes ? @n : @k_bytes;");
            cg_close(cg);
        }
        any = write_inner(cg, plan, c->child, sum, any || own);
    }
    return any;
}

const char *cg_inner_copy_bytes(struct cg *cg, const struct omp_construct *target,
                                const struct cg_plan *plan)
{
    const struct omp_construct *outer = cg->target;
    cg->target = target;
    bool itself = !plan->spmd && (target != plan->teams || (plan->leaves & OMPL_PARALLEL));
    const char *own = itself ? foreseen_bytes(cg, target) : NULL;
    if (own)
        cg_line(cg, "unsigned long @k_bytes = %s;", own);
    bool any = write_inner(cg, plan, target->child, own, own != NULL);
    cg->target = outer;
    return any ? cg_strf(cg, "@k_bytes") : NULL;
}

/* ------------------------------------------------------------------ the copies of a construct */
static bool any_large(const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++)
        if (cg_is_large(&p->list[i]))
            return true;
    return false;
}

static bool in_team_heap(const struct cg_privates *p) { return !p->scratchpad && any_large(p); }

/* Only clang knows whether the N of `a[0:N]` is a constant. */
static void state_needs(struct cg *cg, struct cg_privates *p)
{
    const char *bytes = "0", *rest = "0", *n;
    bool host;
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (!cg_is_large(k))
            continue;
        if (cg_has_constant_size(k)) {
            bytes = cg_strf(cg, "%s + %llu", bytes,
                            (unsigned long long)(k->var->type->size + 15) / 16 * 16);
        } else if ((n = bytes_of_section(cg, k, &host))) {
            bytes = cg_strf(
                cg, "%s + __builtin_choose_expr(__builtin_constant_p(%s), (%s + 15) & ~15ul, 0)",
                bytes, n, n);
            rest = cg_strf(
                cg, "%s | __builtin_choose_expr(__builtin_constant_p(%s), 0, __OMPGPU_COPY_%s)",
                rest, n, host ? "FORESEEN" : "UNKNOWN");
        } else {
            rest = "__OMPGPU_COPY_UNKNOWN";
        }
    }
    if (p->finish == CG_TEAMS) {
        cg_line(cg, "__ompgpu_copy_needs(0, 0, __OMPGPU_COPY_OF_TEAM);");
        return;
    }
    cg_line(cg, "__ompgpu_copy_needs(%s, %s, %s);", bytes, or_zero(p->below), rest);
    cg->copies_below = sum_of(cg, p->below, bytes);
}

static void allocate_in_team_heap(struct cg *cg, struct cg_privates *p)
{
    const char *names = "";
    for (unsigned i = 0; i < p->n; i++)
        if (cg_is_large(&p->list[i]))
            names = cg_strf(cg, "%s%s'%s'", names, *names ? ", " : "", p->list[i].var->name);
    p->below = cg->copies_below;
    state_needs(cg, p);
    cg_line(cg, "const _Bool @sequential = %s;",
            p->finish == CG_TEAMS ? "1" : "__ompgpu_level() == 0");
    cg_line(cg,
            "char *const @copy = @copies ? __ompgpu_copy_alloc(@sequential, @copies / "
            "__OMPGPU_COPY_UNIT, \"no room for private copies of the reduced %s %s: set "
            "OMPGPU_TEAM_HEAP to more bytes a team\", %u) : 0;",
            strchr(names, ',') ? "arrays" : "array", names, cg->place.line);
}

void cg_allocate_copies(struct cg *cg, struct cg_privates *p)
{
    bool arrays = cg_has(p, &cg_array_copy),
         slots = p->finish == CG_LEAGUE || p->finish == CG_TEAMS;
    if (cg_has_entries(cg, p))
        cg_declare_entries(cg, cg_slot_offset(cg, p, NULL));
    else if (arrays && (slots || p->scratchpad))
        cg_line(cg, "const unsigned long @stride = %s;", slots ? cg_slot_offset(cg, p, NULL) : "0");
    if (!any_large(p))
        return;
    cg_line(cg, "const unsigned long @copies = %s;", cg_copy_offset(cg, p, NULL));
    if (in_team_heap(p))
        allocate_in_team_heap(cg, p);
    else
        cg_line(cg, "char *const @copy = __ompgpu_copy_slice(@env, @stride, @copies);");
}

void cg_free_copies(struct cg *cg, const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++)
        cg_end_array(cg, p, &p->list[i]);
    if (!in_team_heap(p))
        return;
    cg_line(cg, "if (@copies)");
    cg_line(cg, "    __ompgpu_copy_free(@sequential, @copy, @copies / __OMPGPU_COPY_UNIT);");
    cg->copies_below = p->below;
}
