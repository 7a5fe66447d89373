/* array.c - reductions of arrays and array sections that are too large for the record, or of a size
 * that is not constant.
 *
 * The private copy of such an item v is an array of elements, whatever the item's shape; v is bound
 * so that the user's text finds its elements there:
 *
 *   E *@o_v = (E *)&v[l];                            what is reduced
 *   const unsigned long @e_v = bytes / sizeof(E);    how many elements that is
 *   const unsigned long @w_v = bytes from v to @o_v;
 *   E @b_v[…];
 *   E *@p_v = fits ? @b_v : (E *)(@copy + at);       the copy
 *   T *@r_v = @p_v moved back by @w_v;               v becomes (*@r_v); a pointer v hides the
 *                                                    outer one
 *
 * A copy is on the thread's stack where it is small, else at @copy in global memory: for SPMD
 * kernels in the launch's scratchpad, whose size the host works out; elsewhere (generic kernels,
 * functions, constructs inside of parallel regions) in the team heap (devicertl/storage.c).
 *
 * The copies of a team are combined in one of two ways:
 *
 *   by shuffles   arrays of a small constant size, which may live in registers: the record's
 *                 algorithm on a few elements at a time; thread 0 gets the result
 *   in rows       all others: each copy is, or is stored, in global memory as a row, and each
 *                 thread combines some elements of all rows
 *
 * What a team has then goes into the originals, into its entry (reduce/deferred.c), or into its
 * slot.  The slots are rows again, which the threads of the last team combine. */
#include <string.h>
#include "codegen/c/reduce/reduce.h"
#include "hostrt/plugin.h"

enum {
    SHUFFLED_BYTES = 64, /* of a copy, at a time */
    SHUFFLED_ELEMENTS = 8,
    UNKNOWN_ON_STACK = 256, /* bytes of a copy on the stack: of unknown size, */
    ARRAY_ON_STACK = 2048   /* of an array of constant size */
};

static const char *element_type(struct cg *cg, const struct cg_private *k)
{
    return cg_type(cg, k->elem, "", CG_UNQUALIFIED);
}

static const struct omp_item *section_of(const struct cg_private *k)
{
    const struct omp_item *item = k->sharing->item;
    return item && item->nsections ? item : NULL;
}

/* ------------------------------------------------------------------ where a copy is */
/* Always on the stack. */
static bool is_small(const struct cg_private *k)
{
    const struct omp_type *t = k->var->type;
    return t->kind == OMPT_ARRAY && !t->variably_modified && t->size && t->size <= ARRAY_ON_STACK;
}

/* A whole array of constant size that is not small is never on the stack. */
bool cg_has_constant_size(const struct cg_private *k)
{
    return k->var->type->kind == OMPT_ARRAY && !k->var->type->variably_modified && !section_of(k);
}

/* Elements for which the thread's stack is good. */
static unsigned long long elements_on_stack(const struct cg_private *k)
{
    unsigned long long n =
        (is_small(k) ? k->var->type->size : UNKNOWN_ON_STACK) / (k->elem->size ? k->elem->size : 1);
    return n ? n : 1;
}

bool cg_in_rows(const struct cg_privates *p, const struct cg_private *k)
{
    return k->kind == &cg_array_copy && !is_small(k) &&
           (p->scratchpad || (p->finish == CG_PARALLEL && !p->lock));
}

bool cg_any_in_rows(const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++)
        if (cg_in_rows(p, &p->list[i]))
            return true;
    return false;
}

bool cg_is_large(const struct cg_private *k) { return k->kind == &cg_array_copy && !is_small(k); }

/* In checked images nobody has what comes after the first few copies of a thread in the scratchpad:
 * there the host makes room for so many.  The team heap's come with their own. */
static const char *room_after(const struct cg_privates *p, const struct cg_private *k)
{
    unsigned before = 0;
    for (const struct cg_private *l = p->list; l != k; l++)
        before += cg_is_large(l);
    return p->scratchpad && before < OMPGPU_EMU_GUARDS_OF_THREAD ? " + __ompgpu_copy_room()" : "";
}

const char *cg_global_bytes(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    if (!cg_is_large(k))
        return NULL;
    const char *bytes = cg_array_bytes(cg, k->elem, cg_elements(cg, k));
    if (p->scratchpad)
        return cg_strf(cg, "%s%s", bytes, room_after(p, k));
    if (cg_in_rows(p, k) || cg_has_constant_size(k))
        return bytes;
    return cg_strf(cg, "(@e_%s <= %llu ? 0 : %s)", k->var->name, elements_on_stack(k), bytes);
}

/* ------------------------------------------------------------------ declaring */
static bool starts_at_zero(const struct omp_item *item)
{
    for (unsigned i = 0; item && i < item->nsections; i++) {
        const struct omp_expr *lower = &item->sections[i].lower;
        if (!cg_empty(lower->extent) && !(lower->is_constant && !lower->value))
            return false;
    }
    return true;
}

/* Bytes from the variable, or from where it points to, to the section. */
static void declare_distance(struct cg *cg, const struct cg_private *k, const char *outside)
{
    const char *v = k->var->name;
    if (!starts_at_zero(section_of(k)))
        cg_line(cg, "const unsigned long @w_%s = (unsigned long)@o_%s - (unsigned long)%s;", v, v,
                k->var->type->kind == OMPT_POINTER ? cg_strf(cg, "(%s)", outside)
                                                   : cg_address(cg, k->var));
}

void cg_find_array(struct cg *cg, struct cg_private *k, const char *outside)
{
    const struct omp_item *item = section_of(k);
    const char *v = k->var->name, *e = element_type(cg, k);
    struct cg_span s =
        item ? cg_span_of(cg, item)
             : (struct cg_span){ cg_address(cg, k->var), cg_strf(cg, "sizeof(%s)", outside) };
    cg_line(cg, "%s *const @o_%s = (%s *)%s;", e, v, e, s.begin);
    cg_line(cg, "const unsigned long @e_%s = (%s) / sizeof(%s);", v, s.size, e);
    declare_distance(cg, k, outside);
    k->count = cg_strf(cg, "@e_%s", v);
}

/* A pointer of which the optimiser does not know where it came from: it may lead to before its
 * object. */
static const char *hidden_pointer(struct cg *cg, const char *address)
{
    return cg_strf(cg,
                   cg->before ? "__ompgpu_hidden((unsigned long)(%s))"
                              : "({ unsigned long @h = (unsigned long)(%s); __asm__ volatile(\"\" "
                                ": \"+r\"(@h)); (void *)@h; })",
                   address);
}

/* @p_v, declared by `declarator`, and @r_v. */
static void declare_moved(struct cg *cg, const struct cg_private *k, const char *declarator,
                          const char *storage)
{
    const char *v = k->var->name;
    bool zero = starts_at_zero(section_of(k));
    cg_line(cg, "%s = (void *)(%s);", declarator, zero ? storage : hidden_pointer(cg, storage));
    cg_line(cg, "%s *const @r_%s = (void *)%s;",
            k->var->type->kind == OMPT_POINTER ? "void" : cg_var_type(cg, k->var, CG_UNQUALIFIED),
            v,
            zero ? cg_strf(cg, "@p_%s", v)
                 : hidden_pointer(cg, cg_strf(cg, "(unsigned long)@p_%s - @w_%s", v, v)));
}

static const char *declare_storage(struct cg *cg, const struct cg_privates *p,
                                   const struct cg_private *k)
{
    const char *v = k->var->name, *e = element_type(cg, k),
               *global = cg_strf(cg, "(%s *)(@copy + %s)", e, cg_copy_offset(cg, p, k));
    if (cg_is_large(k) && cg_has_constant_size(k))
        return global;
    cg_line(cg, "%s @b_%s[%llu];", e, v, elements_on_stack(k));
    return cg_is_large(k)
               ? cg_strf(cg, "@e_%s <= %llu ? @b_%s : %s", v, elements_on_stack(k), v, global)
               : cg_strf(cg, "@b_%s", v);
}

/* Bytes from @p_v on that nobody else has; NULL: as many as the copy has. */
static const char *own_bytes(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    const char *v = k->var->name,
               *global =
                   cg_is_large(k)
                       ? cg_strf(cg, "%s%s", cg_array_bytes(cg, k->elem, cg_strf(cg, "@e_%s", v)),
                                 room_after(p, k))
                       : NULL;
    if (cg_has_constant_size(k))
        return global;
    return global ? cg_strf(cg, "@e_%s <= %llu ? sizeof @b_%s : %s", v, elements_on_stack(k), v,
                            global)
                  : cg_strf(cg, "sizeof @b_%s", v);
}

static void declare_array(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    const char *v = k->var->name;
    const char *storage = declare_storage(cg, p, k), *own = own_bytes(cg, p, k);
    if (own)
        storage = cg_strf(cg, "__ompgpu_copy_begin(%s, @e_%s * sizeof(%s), %s, \"'%s'\")", storage,
                          v, element_type(cg, k), own, v);
    declare_moved(cg, k, cg_strf(cg, "%s *const @p_%s", element_type(cg, k), v), storage);
    cg_line(cg, "for (unsigned long @i = 0; @i < @e_%s; @i++) %s", v,
            cg_initial(cg, k, cg_strf(cg, "@p_%s[@i]", v), cg_strf(cg, "@o_%s[@i]", v)));
}

/* Declares a pointer of its own where v is one. */
static const char *spell_moved(struct cg *cg, const struct cg_private *k)
{
    const char *v = k->var->name;
    if (k->var->type->kind != OMPT_POINTER)
        return cg_strf(cg, "(*@r_%s)", v);
    cg_line(cg, "%s %s = @r_%s;", cg_var_type(cg, k->var, CG_UNQUALIFIED), v, v);
    return NULL;
}

void cg_end_array(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    const char *own = k->kind == &cg_array_copy ? own_bytes(cg, p, k) : NULL;
    if (own)
        cg_line(cg, "__ompgpu_copy_end(@p_%s, %s);", k->var->name, own);
}

const struct cg_copy_kind cg_array_copy = { .find = cg_find_array,
                                            .declare = declare_array,
                                            .spelling = spell_moved };

/* Sections of constant length in scans, which travel in the record:  E (*@o_v)[n] the original's
 * part, E (*@p_v)[n] the copy, @r_v as above. */
static void find_section(struct cg *cg, struct cg_private *k, const char *outside)
{
    const char *v = k->var->name, *e = element_type(cg, k);
    cg_line(cg, "%s (*const @o_%s)[%u] = (void *)%s;", e, v, k->section,
            cg_span_of(cg, k->sharing->item).begin);
    cg_line(cg, "%s @b_%s[%u];", e, v, k->section);
    declare_distance(cg, k, outside);
    declare_moved(cg, k, cg_strf(cg, "%s (*const @p_%s)[%u]", e, v, k->section),
                  cg_strf(cg, "@b_%s", v));
}

const struct cg_copy_kind cg_scan_section_copy = { .find = find_section, .spelling = spell_moved };

/* ------------------------------------------------------------------ functions */
static unsigned shuffled_elements(const struct cg_private *k)
{
    uint64_t n = k->elem->size ? SHUFFLED_BYTES / k->elem->size : 1;
    return n < 1 ? 1 : n > SHUFFLED_ELEMENTS ? SHUFFLED_ELEMENTS : (unsigned)n;
}

/* The function that combines one element. */
const char *cg_combiner(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    return cg_strf(cg, "@combine_%s__%s", p->base, k->var->name);
}

bool cg_is_shuffled(const struct cg_privates *p, const struct cg_private *k)
{
    return k->kind == &cg_array_copy && !cg_in_rows(p, k) &&
           (p->finish == CG_PARALLEL || p->finish == CG_LEAGUE);
}

/* Of one element, and of as many as are shuffled at a time. */
void cg_array_functions(struct cg *cg, const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (k->kind != &cg_array_copy)
            continue;
        const char *e = element_type(cg, k), *name = cg_combiner(cg, p, k);
        unsigned n = shuffled_elements(k);
        cg_open_function(cg, "__OMPGPU_INLINE void %s(void *@p, const void *@q)", name);
        cg_line(cg, "%s *@a = @p;", e);
        cg_line(cg, "const %s *@b = @q;", e);
        cg_line(cg, "%s", cg_combine(cg, k, cg_strf(cg, "(*@a)"), cg_strf(cg, "(*@b)")));
        cg_close(cg);
        if (!cg_is_shuffled(p, k))
            continue;
        cg_open_function(cg, "__OMPGPU_INLINE void %s_%u(void *@p, const void *@q)", name, n);
        cg_line(cg, "for (unsigned @i = 0; @i < %u; @i++)", n);
        cg_line(cg, "    %s((%s *)@p + @i, (const %s *)@q + @i);", name, e, e);
        cg_close(cg);
    }
}

/* ------------------------------------------------------------------ within the team */
/* Exchanges between warps since the last barrier. */
static const char *exchanges_before(struct cg *cg, const struct cg_privates *p,
                                    const struct cg_private *k)
{
    const char *exchanges =
        p->record ? cg_strf(cg, "__OMPGPU_EXCHANGES(sizeof(%s) - %u)", p->record, p->padding) : "0";
    for (const struct cg_private *l = p->list; l < k; l++)
        if (cg_is_shuffled(p, l))
            exchanges = cg_strf(cg, "%s + __OMPGPU_ARRAY_EXCHANGES(@e_%s, sizeof(%s), %u)",
                                exchanges, l->var->name, element_type(cg, l), shuffled_elements(l));
    return exchanges;
}

/* One thread has all of the team's result, in its copy. */
static void store_array(struct cg *cg, const struct cg_privates *p, const struct cg_private *k,
                        bool to_slot)
{
    const char *v = k->var->name;
    if (to_slot) {
        cg_line(cg, "__ompgpu_put_array(@env, @stride, %s, @p_%s, @e_%s, sizeof *@p_%s);",
                cg_slot_offset(cg, p, k), v, v, v);
        return;
    }
    if (k->owner == CG_OF_LEAGUE) {
        cg_open(cg, "if (@deferred)");
        cg_deferred_add_array(cg, p, k);
        cg_else(cg);
    }
    if (k->owner == CG_OF_UNKNOWN)
        cg_line(cg, "__ompgpu_lock(&%s);", p->lock);
    cg_line(cg, "for (unsigned long @i = 0; @i < @e_%s; @i++) %s", v,
            cg_combine(cg, k, cg_strf(cg, "@o_%s[@i]", v), cg_strf(cg, "@p_%s[@i]", v)));
    if (k->owner == CG_OF_UNKNOWN)
        cg_line(cg, "__ompgpu_unlock(&%s);", p->lock);
    if (k->owner == CG_OF_LEAGUE)
        cg_close(cg);
}

/* Thread 0 stores the result. */
static void combine_shuffled(struct cg *cg, const struct cg_privates *p, const struct cg_private *k,
                             bool to_slot)
{
    const char *v = k->var->name, *e = element_type(cg, k);
    unsigned n = shuffled_elements(k);
    cg_line(cg, "%s @rec[%u], @tmp[%u];", e, n, n);
    cg_open(cg, "if (__ompgpu_reduce_array(@p_%s, @e_%s, @rec, @tmp, sizeof(%s), %u, %s_%u, %s))",
            v, v, e, n, cg_combiner(cg, p, k), n, exchanges_before(cg, p, k));
    store_array(cg, p, k, to_slot);
    cg_close(cg);
}

/* All copies in the memory of the team, whose threads then may read them: `@distance` bytes apart
 * from @rows on. */
static void store_rows(struct cg *cg, const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (!cg_in_rows(p, k) || cg_has_constant_size(k))
            continue;
        const char *v = k->var->name, *e = element_type(cg, k);
        cg_open(cg, "if (@e_%s <= %llu)", v, elements_on_stack(k));
        cg_line(cg, "%s *@to = (%s *)(@copy + %s);", e, e, cg_copy_offset(cg, p, k));
        cg_line(cg, "for (unsigned long @i = 0; @i < @e_%s; @i++)", v);
        cg_line(cg, "    @to[@i] = @p_%s[@i];", v);
        cg_close(cg);
    }
    cg_line(cg, "const unsigned long @distance = %s;",
            p->scratchpad ? cg_strf(cg, "@copies") : "__ompgpu_copy_distance()");
    cg_line(cg, "char *const @rows = %s;",
            cg_strf(cg, p->scratchpad ? "__ompgpu_team_copies(@env, @stride, @copies)"
                                      : "@copy - (unsigned)__ompgpu_thread_id() * @distance"));
    cg_line(cg, "__ompgpu_barrier(%u);", cg->place.line);
}

static void combine_rows(struct cg *cg, const struct cg_privates *p, const struct cg_private *k,
                         bool to_slot)
{
    const char *v = k->var->name, *to = cg_strf(cg, "@o_%s", v), *combines = "1";
    if (to_slot) {
        to = cg_strf(cg, "__ompgpu_slot(@env, @stride, %s)", cg_slot_offset(cg, p, k));
        combines = "0";
    } else if (k->owner == CG_OF_LEAGUE) {
        to = cg_strf(cg, "@deferred ? (char *)@deferred + %s : (char *)@o_%s",
                     cg_entry_offset(cg, p, k), v);
        combines = cg_strf(cg, "!@deferred || @used");
    }
    cg_line(cg, "%s @rec, @tmp;", element_type(cg, k));
    cg_line(cg,
            "__ompgpu_combine_rows(%s, %s, @rows + %s, @distance, "
            "(unsigned)__ompgpu_num_threads(), @e_%s, &@rec, &@tmp, sizeof @rec, %s);",
            to, combines, cg_copy_offset(cg, p, k), v, cg_combiner(cg, p, k));
}

void cg_combine_arrays(struct cg *cg, const struct cg_privates *p, bool to_slots)
{
    if (cg_any_in_rows(p)) {
        if (p->deferred) /* read by all threads, before the barrier after which thread 0 sets it */
            cg_line(cg, "const _Bool @used = @deferred && __ompgpu_deferred_used(@deferred);");
        store_rows(cg, p);
    }
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (k->kind != &cg_array_copy)
            continue;
        cg_open_scope(cg);
        (cg_in_rows(p, k)       ? combine_rows
         : cg_is_shuffled(p, k) ? combine_shuffled
                                : store_array)(cg, p, k, to_slots);
        cg_close(cg);
    }
}

/* ------------------------------------------------------------------ the last team of the league */
void cg_get_arrays(struct cg *cg, const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        const char *v = k->var->name;
        if (k->kind != &cg_array_copy)
            continue;
        cg_open_scope(cg);
        cg_line(cg, "%s @rec, @tmp;", element_type(cg, k));
        cg_line(cg,
                "__ompgpu_%s_get_array(@env, @stride, %s, @o_%s, @e_%s, &@rec, &@tmp, sizeof "
                "@rec, %s);",
                p->finish == CG_LEAGUE ? "league" : "teams", cg_slot_offset(cg, p, k), v, v,
                cg_combiner(cg, p, k));
        cg_close(cg);
    }
}
