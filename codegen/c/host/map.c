/* map.c - map entries and kernel parameters of a construct, as initialisers of struct ompgpu_map
 * and struct ompgpu_param. */
#include <stdlib.h>
#include <string.h>
#include "codegen/c/host/host.h"
#include "hostrt/ompgpu.h"

/* ------------------------------------------------------------------ array sections */
/* Does a section before the last dimension, or a stride, leave out parts of the storage between its
 * ends? */
static bool has_gaps(const struct omp_item *item)
{
    bool more = false;
    for (unsigned i = 0; i < item->nsections; i++) {
        const struct omp_section *s = &item->sections[i];
        if (!cg_empty(s->stride.extent) ||
            (more && !(s->is_section && cg_empty(s->lower.extent) && cg_empty(s->length.extent))))
            return true;
        more |= s->is_section;
    }
    return false;
}

/* ------------------------------------------------------------------ entries */
struct entries {
    unsigned n;
    bool varying; /* their initialiser must not be constant */
};

static void write_entry(struct cg *cg, struct entries *e, const char *base, const char *begin,
                        const char *size, const char *attach, unsigned flags, unsigned line,
                        const char *name)
{
    if (!e->n && e->varying)
        cg_line(cg, "unsigned @zero = 0;");
    if (!e->n)
        cg_open(cg, "const struct __ompgpu_map @maps[] =");
    cg_line(cg, "{ %s, %s, %s, %s, %u%s, %u, %s },", base, begin, size, attach, flags,
            cg_strf(cg, e->varying ? " + @zero" : ""), line, cg_quoted(cg, name));
    e->n++;
}

static bool is_static(const struct omp_var *v)
{
    return v && (v->storage == OMPS_GLOBAL || v->storage == OMPS_STATIC_LOCAL);
}

static bool copies_static(const struct omp_construct *c)
{
    for (unsigned i = 0; i < c->nloops; i++)
        if (is_static(c->loops[i].iv))
            return true;
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; k->kind != OMPC_SHARED && i < k->nitems; i++)
            if (is_static(k->items[i].var))
                return true;
    return false;
}

/* clang takes the address of a global for a constant also where a construct around has a copy of
 * it, unless something else in the initialiser is not one. */
static bool meets_copy_of_static(const struct omp_construct *c)
{
    while ((c = c->parent))
        if (copies_static(c))
            return true;
    return false;
}

/* Where the variable begins, or what the base pointer leads to. */
static const char *base_address(struct cg *cg, const struct omp_item *item)
{
    if (item->derefs)
        return cg_expr(cg, item->base_pointer);
    return cg_strf(cg, "&(%s)", cg_spell(cg, item->var));
}

/* The bits of the unit are those of the runtime's interface. */
#define SAME_BIT(name)                                                                             \
    _Static_assert((int)OMPM_##name == (int)OMPGPU_MAP_##name, #name " is one bit in both "        \
                                                                     "headers")
SAME_BIT(ALLOC);
SAME_BIT(TO);
SAME_BIT(FROM);
SAME_BIT(TOFROM);
SAME_BIT(DELETE);
SAME_BIT(RELEASE);
SAME_BIT(ALWAYS);
SAME_BIT(PRESENT);

static bool is_whole_variable(const struct omp_item *item)
{
    return !item->nsections && !item->derefs && !item->nmembers;
}

static bool reduces(const struct omp_construct *c, const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; k->kind == OMPC_REDUCTION && i < k->nitems; i++)
            if (k->items[i].var == v && is_whole_variable(&k->items[i]))
                return true;
    return false;
}

static bool chain_has(const struct omp_construct *target, unsigned leaf)
{
    const struct omp_construct *c = target->spmd_inner ? target->spmd_inner : target;
    for (; c != target->parent; c = c->parent)
        if (c->leaves & leaf)
            return true;
    return false;
}

/* A variable that the leaves below `target` reduce, those of the constructs that are all of the
 * region, too: what is in the region is private, and one thread combines it with the variable. */
static bool is_result(const struct omp_construct *target, const struct omp_map *m)
{
    const struct omp_var *v = m->item ? m->item->var : m->var;
    if (!(target->leaves & OMPL_TARGET) || (m->item && !is_whole_variable(m->item)) ||
        (m->type & ~(unsigned)(OMPM_TOFROM | OMPM_CLOSE)))
        return false;
    bool teams = chain_has(target, OMPL_TEAMS);
    const struct omp_construct *c = target->spmd_inner ? target->spmd_inner : target;
    for (; c != target->parent; c = c->parent)
        if (reduces(c, v) && (!teams || (c->leaves & OMPL_TEAMS)))
            return true;
    return false;
}

static unsigned flags_of(const struct omp_construct *c, const struct omp_map *m)
{
    return (m->type & ~(unsigned)OMPM_CLOSE) | (m->implicit ? OMPGPU_MAP_IMPLICIT : 0) |
           (m->attach ? OMPGPU_MAP_ATTACH : 0) | (m->in_block ? OMPGPU_MAP_BLOCK : 0) |
           (is_result(c, m) ? OMPGPU_MAP_RESULT : 0);
}

/* The bytes of a struct that a region surely uses, as map entries have them. */
static const char *used_bytes(struct cg *cg, const struct omp_construct *c, const struct omp_var *v)
{
    for (unsigned i = 0; i < c->ncaptures; i++) {
        const struct omp_capture *k = &c->captures[i];
        if (k->var == v && k->used.end)
            return cg_strf(cg, "(const unsigned long[]){ %llu, %llu }",
                           (unsigned long long)k->used.begin, (unsigned long long)k->used.end);
    }
    return "0";
}

static void write_map_entry(struct cg *cg, struct entries *e, const struct omp_construct *c,
                            const struct omp_map *m)
{
    unsigned flags = flags_of(c, m);
    if (!m->item) {
        const char *v = cg_spell(cg, m->var), *at = cg_strf(cg, "&(%s)", v);
        write_entry(cg, e, at, at, cg_strf(cg, "sizeof(%s)", v),
                    m->implicit ? used_bytes(cg, c, m->var) : "0", flags, 0, m->var->name);
        return;
    }
    const struct omp_item *item = m->item;
    const char *text = cg_expr(cg, item->text), *name = cg_raw(cg, item->text);
    struct cg_span s = { cg_strf(cg, "&(%s)", text), cg_strf(cg, "sizeof(%s)", text) };
    if (item->nsections)
        s = cg_span_of(cg, item);
    if (item->nsections && item->text.end == item->base.end) /* what a pointer leads to */
        name = cg_strf(cg, "*%s", name);
    write_entry(cg, e, base_address(cg, item), s.begin, s.size,
                m->attach ? cg_strf(cg, "&(%s)", cg_expr(cg, item->base_pointer)) : "0", flags,
                item->place.line, name);
}

/* target update of a section with gaps: one call for each part without.  Where the inner lengths
 * turn out to be those of the dimensions, one call does it all. */
static void update_parts(struct cg *cg, const struct omp_construct *c, const struct omp_map *m)
{
    const struct omp_item *item = m->item;
    const char *at = cg_strf(cg, "(%s)", cg_expr(cg, item->base)), *begin = at, *sum = "",
               *whole = "1";
    unsigned last = item->nsections - 1;
    unsigned open = cg->out->open;
    cg_open_scope(cg);
    for (unsigned i = 0; i <= last; i++) {
        const struct omp_section *s = &item->sections[i];
        const char *n = cg_section_length(cg, s, at),
                   *stride = cg_empty(s->stride.extent)
                                 ? "1"
                                 : cg_strf(cg, "(%s)", cg_expr(cg, s->stride.extent));
        if (!cg_empty(s->stride.extent) && cg_empty(s->length.extent))
            n = cg_strf(cg, "(%s + %s - 1) / %s", n, stride, stride);
        cg_line(cg, "const unsigned long @n%u = %s;", i, n);
        cg_line(cg, "const long @stride%u = %s;", i, stride);
        whole = cg_strf(cg,
                        i ? "%s && @stride%u == 1 && @n%u == sizeof(%s) / sizeof((%s)[0])"
                          : "%s && @stride%u == 1",
                        whole, i, i, at, at);
        begin = cg_strf(cg, "%s[%s + (long)@i%u * @stride%u]", begin, cg_lower_bound(cg, s), i, i);
        at = cg_strf(cg, "%s[0]", at);
    }
    for (unsigned i = 0; i <= last; i++)
        sum = cg_strf(cg, "%s%s@n%u", sum, i ? " * " : "", i);
    cg_line(cg, "const _Bool @whole = %s && %s;", whole, sum);
    cg_line(cg, "const _Bool @row = @stride%u == 1;", last);
    for (unsigned i = 0; i <= last; i++)
        cg_open(cg, "for (unsigned long @i%u = 0; @i%u < (@whole%s ? 1 : @n%u); @i%u++)", i, i,
                cg_strf(cg, i == last ? " || @row" : ""), i, i);
    cg_line(cg, "const struct __ompgpu_map @part = { %s, &%s, %s * sizeof(%s), 0, %u, %u, %s };",
            base_address(cg, item), begin,
            cg_strf(cg, "(@whole ? %s : @row ? @n%u : 1)", sum, last), at, flags_of(c, m),
            item->place.line, cg_quoted(cg, cg_raw(cg, item->text)));
    cg_line(cg, "__ompgpu_data_update(&@place, @device, &@part, 1);");
    cg_close_to(cg, open);
}

void cg_update_parts(struct cg *cg, const struct omp_construct *c)
{
    for (unsigned i = 0; i < c->nmaps; i++)
        if (c->maps[i].item && has_gaps(c->maps[i].item))
            update_parts(cg, c, &c->maps[i]);
}

/* Maps that no clause names: pointers that are looked up, copies of firstprivate aggregates.
 * `at[i]`: map of parameter i. */
static void write_extra_entries(struct cg *cg, const struct omp_construct *c,
                                const struct cg_plan *p, struct entries *e, int *at)
{
    for (unsigned i = 0; i < p->nparams; i++) {
        const struct omp_var *v = p->params[i].var;
        const char *s = cg_spell(cg, v), *address = cg_strf(cg, "&(%s)", s);
        at[i] = p->params[i].map;
        if (p->params[i].pass == CG_PASS_LOOKUP) {
            at[i] = (int)e->n;
            write_entry(cg, e, s, s, "0", used_bytes(cg, c, v),
                        OMPGPU_MAP_LOOKUP | OMPGPU_MAP_IMPLICIT, 0, v->name);
        } else if (p->params[i].pass == CG_PASS_COPY) {
            at[i] = (int)e->n;
            write_entry(cg, e, address, address, cg_strf(cg, "sizeof(%s)", s), "0",
                        OMPGPU_MAP_PRIVATE_COPY, 0, v->name);
        }
    }
}

/* ------------------------------------------------------------------ parameters */
/* An allocator with traits is made for the region. */
static const char *value_of(struct cg *cg, const struct cg_plan *p, const struct omp_var *v)
{
    const char *s = cg_spell(cg, v);
    for (const struct omp_clause *k = p->chain[0]->clauses; k; k = k->next)
        if (k->kind == OMPC_USES_ALLOCATORS && k->value && k->items[0].var == v) {
            const char *traits = cg_expr(cg, k->expr.extent);
            return cg_strf(cg,
                           "(__typeof__(%s))__ompgpu_allocator(%s, sizeof(%s) / sizeof((%s)[0]))",
                           s, traits, traits, traits);
        }
    return s;
}

/* Copies of what is passed by value: the user's variables do not escape. */
static void declare_values(struct cg *cg, const struct cg_plan *p)
{
    for (unsigned i = 0; i < p->nparams; i++) {
        const struct omp_var *v = p->params[i].var;
        const char *s = cg_spell(cg, v);
        if (p->params[i].pass == CG_PASS_BOUND)
            cg_line(cg, "const unsigned long @v%u = %s;", i,
                    cg_bound(cg, v->type, p->params[i].bound, cg_strf(cg, "(%s)", s)));
        else if (p->params[i].pass == CG_PASS_VALUE)
            cg_line(cg, "__typeof__(%s) @v%u = %s;", s, i, value_of(cg, p, v));
        else if (p->params[i].pass == CG_PASS_HOST_ADDRESS)
            cg_line(cg, "const void *@v%u = &(%s);", i, s);
    }
}

static void write_parameters(struct cg *cg, const struct cg_plan *p, const int *at)
{
    if (!p->nparams)
        return;
    cg_open(cg, "const struct __ompgpu_param @params[] =");
    for (unsigned i = 0; i < p->nparams; i++) {
        enum cg_pass pass = p->params[i].pass;
        if (pass == CG_PASS_BOUND || pass == CG_PASS_VALUE || pass == CG_PASS_HOST_ADDRESS)
            cg_line(cg, "{ &@v%u, sizeof @v%u, -1 },", i, i);
        else
            cg_line(cg, "{ 0, sizeof(void *), %d },", at[i]);
        if (at[i] < 0 && (pass == CG_PASS_ADDRESS || pass == CG_PASS_POINTER))
            cg_fault(cg, cg->place, "'%s' is captured but not mapped", p->params[i].var->name);
    }
    cg_close_with(cg, ";");
}

unsigned cg_maps(struct cg *cg, const struct omp_construct *c, const struct cg_plan *p)
{
    struct entries e = { .varying = meets_copy_of_static(c) };
    int *at = calloc(p ? p->nparams + 1 : 1, sizeof *at);
    if (!at)
        abort();
    if (p)
        declare_values(cg, p);
    for (unsigned i = 0; i < c->nmaps; i++)
        if (!(c->leaves & OMPL_UPDATE) || !c->maps[i].item || !has_gaps(c->maps[i].item))
            write_map_entry(cg, &e, c, &c->maps[i]);
    if (p)
        write_extra_entries(cg, c, p, &e, at);
    if (e.n)
        cg_close_with(cg, ";");
    if (p)
        write_parameters(cg, p, at);
    free(at);
    return e.n;
}
