/* map.c - map entries and kernel parameters of a construct, as initialisers of struct ompgpu_map
 * and struct ompgpu_param.
 *
 * How many entries there are is mostly known, and they are an array.  With mappers, iterators, or
 * sections with gaps in target update, they are collected in a list when the construct is reached:
 * loops over iterators, over the objects that a mapper is for, and over the parts of a section add
 * one entry a turn.  The maps of a mapper are written where it is used, with its variable spelled
 * as the object: no other variable may stand in them. */
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
    const struct omp_construct *c;
    unsigned n;
    bool varying;   /* their initialiser must not be constant */
    bool collected; /* when the program runs */
    unsigned depth; /* loops that the next entry is in */
    unsigned loops; /* so far: their variables have numbers */
};
struct piece { /* of storage, as expressions */
    const char *base, *begin, *size, *attach, *name;
    unsigned line;
};

bool cg_collects_maps(const struct omp_construct *c)
{
    for (unsigned i = 0; i < c->nmaps; i++)
        if (c->maps[i].mapper || c->maps[i].over ||
            ((c->leaves & OMPL_UPDATE) && c->maps[i].item && has_gaps(c->maps[i].item)))
            return true;
    return false;
}

void cg_declare_list(struct cg *cg, const struct omp_construct *c)
{
    if (cg_collects_maps(c))
        cg_line(cg, "struct __ompgpu_map_list @list = { 0, 0, 0 };");
}

void cg_free_list(struct cg *cg, const struct omp_construct *c)
{
    if (cg_collects_maps(c))
        cg_line(cg, "__ompgpu_map_free(&@list);");
}

/* As two arguments. */
const char *cg_entries_of(struct cg *cg, const struct omp_construct *c, unsigned n)
{
    if (cg_collects_maps(c))
        return cg_strf(cg, "@list.at, @list.n");
    return n ? cg_strf(cg, "@maps, %u", n) : "0, 0";
}

/* One that is not in a loop can be called by its number. */
static void write_entry(struct cg *cg, struct entries *e, const struct piece *p, unsigned flags)
{
    if (e->collected) {
        cg_line(cg,
                "%s__ompgpu_map_add(&@list, &(const struct __ompgpu_map){ %s, %s, %s, %s, %u, %u, "
                "%s });",
                e->depth ? "" : cg_strf(cg, "const int @entry%u = ", e->n), p->base, p->begin,
                p->size, p->attach, flags, p->line, cg_quoted(cg, p->name));
        return;
    }
    if (!e->n && e->varying)
        cg_line(cg, "unsigned @zero = 0;");
    if (!e->n)
        cg_open(cg, "const struct __ompgpu_map @maps[] =");
    cg_line(cg, "{ %s, %s, %s, %s, %u%s, %u, %s },", p->base, p->begin, p->size, p->attach, flags,
            cg_strf(cg, e->varying ? " + @zero" : ""), p->line, cg_quoted(cg, p->name));
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
SAME_BIT(SELF);
SAME_BIT(HOLD);
SAME_BIT(POINTER);

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
 * region, too: what is in the region is private, and one thread combines it with the variable.  A
 * link variable's pointer leads to a mapping only. */
static bool is_result(const struct omp_construct *target, const struct omp_map *m)
{
    const struct omp_var *v = m->item ? m->item->var : m->var;
    if (!(target->leaves & OMPL_TARGET) || (m->item && !is_whole_variable(m->item)) ||
        v->declare_target == OMPV_DT_LINK || (m->type & ~(unsigned)(OMPM_TOFROM | OMPM_CLOSE)))
        return false;
    bool teams = chain_has(target, OMPL_TEAMS);
    const struct omp_construct *c = target->spmd_inner ? target->spmd_inner : target;
    for (; c != target->parent; c = c->parent)
        if (reduces(c, v) && (!teams || (c->leaves & OMPL_TEAMS)))
            return true;
    return false;
}

static unsigned flags_of(const struct omp_construct *c, const struct omp_map *m, unsigned type)
{
    return (type & ~(unsigned)(OMPM_CLOSE | OMPM_UNATTACHED | OMPM_SAYS_ATTACH)) |
           (m->implicit ? OMPGPU_MAP_IMPLICIT : 0) |
           (m->attach && !(c->leaves & OMPL_UPDATE) ? OMPGPU_MAP_ATTACH : 0) |
           (m->in_block ? OMPGPU_MAP_BLOCK : 0) |
           (m->item && m->item->nmembers ? OMPGPU_MAP_MEMBER : 0) |
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

/* All that the map is about, a section with gaps from its first to its last byte. */
static struct piece piece_of(struct cg *cg, const struct omp_construct *c, const struct omp_map *m)
{
    if (!m->item) {
        const char *v = cg_spell(cg, m->var), *at = cg_strf(cg, "&(%s)", v);
        return (struct piece){ at,
                               at,
                               cg_strf(cg, "sizeof(%s)", v),
                               m->implicit ? used_bytes(cg, c, m->var) : "0",
                               m->var->name,
                               0 };
    }
    const struct omp_item *item = m->item;
    const char *text = cg_expr(cg, item->text), *name = cg_raw(cg, item->text);
    struct cg_span s = { cg_strf(cg, "&(%s)", text), cg_strf(cg, "sizeof(%s)", text) };
    if (item->nsections)
        s = cg_span_of(cg, item);
    if (item->nsections && item->text.begin == item->base.begin &&
        item->text.end == item->base.end) /* what a pointer leads to */
        name = cg_strf(cg, "*%s", name);
    return (struct piece){ base_address(cg, item),
                           s.begin,
                           s.size,
                           m->attach ? cg_strf(cg, "&(%s)", cg_expr(cg, item->base_pointer)) : "0",
                           name,
                           item->place.line };
}

/* ------------------------------------------------------------------ loops over entries */
/* For all values of the iterators, whose names the text inside uses. */
static void open_iterators(struct cg *cg, struct entries *e, const struct omp_clause *k)
{
    for (unsigned i = 0; i < k->niterators; i++) {
        const struct omp_iterator *it = &k->iterators[i];
        const char *type = cg_empty(it->type) ? "int" : cg_raw(cg, it->type),
                   *step = cg_empty(it->step.extent) ? "1" : cg_expr(cg, it->step.extent),
                   *as_number = it->var->type->kind == OMPT_POINTER ? "" : "(long)";
        unsigned n = e->loops++;
        cg_open_scope(cg);
        cg_line(cg, "__typeof__(%s) @first%u = %s;", type, n, cg_expr(cg, it->first.extent));
        cg_line(cg, "__typeof__(%s) @end%u = %s;", type, n, cg_expr(cg, it->end.extent));
        cg_line(cg, "const long @step%u = %s;", n, step);
        cg_line(cg,
                "const long @turns%u = (%s@end%u - %s@first%u + @step%u - (@step%u > 0 ? 1 : -1)) "
                "/ @step%u;",
                n, as_number, n, as_number, n, n, n, n);
        cg_open(cg, "for (long @turn%u = 0; @turn%u < @turns%u; @turn%u++)", n, n, n, n);
        cg_line(cg, "__typeof__(%s) %s = @first%u + @turn%u * @step%u;", type, it->var->name, n, n,
                n);
    }
}

/* Declares how many elements section i of the lvalue `at` has, and their distance. */
static void declare_section(struct cg *cg, const struct omp_section *s, unsigned i, const char *at)
{
    const char *n = cg_section_length(cg, s, at), *stride = "1";
    if (!cg_empty(s->stride.extent))
        stride = cg_strf(cg, "(%s)", cg_expr(cg, s->stride.extent));
    if (!cg_empty(s->stride.extent) && cg_empty(s->length.extent))
        n = cg_strf(cg, "(%s + %s - 1) / %s", n, stride, stride);
    cg_line(cg, "const unsigned long @n%u = %s;", i, n);
    cg_line(cg, "const long @stride%u = %s;", i, stride);
}

/* target update of a section with gaps: for each part without.  Where the inner lengths turn out to
 * be those of the dimensions, there is one. */
static struct piece open_parts(struct cg *cg, const struct omp_item *item)
{
    const char *at = cg_section_base(cg, item), *begin = at, *sum = "", *whole = "1";
    unsigned last = item->nsections - 1;
    cg_open_scope(cg);
    for (unsigned i = 0; i <= last; i++) {
        declare_section(cg, &item->sections[i], i, at);
        whole = cg_strf(cg,
                        i ? "%s && @stride%u == 1 && @n%u == sizeof(%s) / sizeof((%s)[0])"
                          : "%s && @stride%u == 1",
                        whole, i, i, at, at);
        begin = cg_strf(cg, "%s[%s + (long)@i%u * @stride%u]", begin,
                        cg_lower_bound(cg, &item->sections[i]), i, i);
        at = cg_strf(cg, "%s[0]", at);
        sum = cg_strf(cg, "%s%s@n%u", sum, i ? " * " : "", i);
    }
    cg_line(cg, "const _Bool @whole = %s && %s;", whole, sum);
    cg_line(cg, "const _Bool @row = @stride%u == 1;", last);
    for (unsigned i = 0; i <= last; i++)
        cg_open(cg, "for (unsigned long @i%u = 0; @i%u < (@whole%s ? 1 : @n%u); @i%u++)", i, i,
                cg_strf(cg, i == last ? " || @row" : ""), i, i);
    const char *size = cg_strf(cg, "(@whole ? %s : @row ? @n%u : 1) * sizeof(%s)", sum, last, at);
    return (struct piece){ base_address(cg, item), cg_strf(cg, "&%s", begin), size, "0",
                           cg_raw(cg, item->text), item->place.line };
}

/* ------------------------------------------------------------------ mappers */
/* Map types decay: table 5.3 of OpenMP 5.2.  For target update the type is the motion. */
static unsigned decayed_type(unsigned outer, unsigned inner)
{
    const unsigned copies = OMPM_TOFROM, removals = OMPM_DELETE | OMPM_RELEASE;
    unsigned modifiers = (outer | inner) & ~(copies | removals);
    return modifiers | (outer & removals) | (outer & removals ? 0 : outer & inner & copies);
}

struct mapped { /* what a mapper is for */
    unsigned type;
    bool implicit;
};
static void write_map(struct cg *, struct entries *, const struct omp_map *, const struct mapped *);

/* The storage of the objects, of which a part may be mapped already, and what the mapper says of
 * each.  New storage is filled at once: a member that the mapper does not name may have any value,
 * so it has the host's. */
static void write_objects(struct cg *cg, struct entries *e, const struct omp_map *m,
                          const struct piece *p, const struct mapped *how)
{
    const struct omp_mapper *mapper = m->mapper;
    unsigned n = e->loops++;
    if (!(e->c->leaves & OMPL_UPDATE))
        write_entry(cg, e, p,
                    flags_of(e->c, m, how->type & ~(unsigned)(OMPM_FROM | OMPM_ALWAYS)) |
                        OMPGPU_MAP_IMPLICIT);
    e->depth++;
    cg_open_scope(cg);
    cg_line(cg, "%s *const @object%u = (void *)(%s);", cg_raw(cg, mapper->type), n, p->begin);
    cg_open(cg,
            "for (unsigned long @at%u = 0, @end%u = (%s) / sizeof *@object%u; @at%u < @end%u; "
            "@at%u++)",
            n, n, p->size, n, n, n, n);
    const char *outer = cg_bind(cg, mapper->var, cg_strf(cg, "(@object%u[@at%u])", n, n));
    for (unsigned i = 0; i < mapper->construct->nmaps; i++)
        write_map(cg, e, &mapper->construct->maps[i], how);
    cg_bind(cg, mapper->var, outer);
    cg_close(cg);
    cg_close(cg);
    e->depth--;
}

/* outer: it is one of a mapper, for that. */
static void write_map(struct cg *cg, struct entries *e, const struct omp_map *m,
                      const struct mapped *outer)
{
    struct mapped how = { outer ? decayed_type(outer->type, m->type) : m->type,
                          m->implicit || (outer && outer->implicit) };
    if (outer && m->implicit) /* a pointer on the way to an item, which is none itself */
        how.type &= ~(unsigned)OMPM_PRESENT;
    bool update = e->c->leaves & OMPL_UPDATE, parts = update && m->item && has_gaps(m->item);
    unsigned open = cg->out->open, depth = e->depth;
    if (update && !(how.type & OMPM_TOFROM))
        return;
    if (m->over)
        open_iterators(cg, e, m->over);
    struct piece p = parts ? open_parts(cg, m->item) : piece_of(cg, e->c, m);
    e->depth += m->over || parts;
    if (m->mapper)
        write_objects(cg, e, m, &p, &how);
    else
        write_entry(cg, e, &p,
                    flags_of(e->c, m, how.type) | (how.implicit ? OMPGPU_MAP_IMPLICIT : 0));
    if (m->over || parts)
        cg_close_to(cg, open);
    e->depth = depth;
    e->n += !depth;
}

/* A scalar: arrays and structs with long double are errors. */
static bool is_converted_copy(const struct cg_param *p)
{
    return p->pass == CG_PASS_COPY && p->var->type->is_long_double;
}

/* An allocator with traits is made for the region, which gets its address as the handle; NULL: it
 * is another variable. */
static const struct omp_clause *traits_of(const struct cg_plan *p, const struct omp_var *v)
{
    for (const struct omp_clause *k = p->chain[0]->clauses; k; k = k->next)
        if (k->kind == OMPC_USES_ALLOCATORS && k->value && k->items[0].var == v)
            return k;
    return NULL;
}

/* Maps that no clause names: what is looked up, copies of firstprivate aggregates.
 * `at[i]`: entry of parameter i. */
static void write_extra_entries(struct cg *cg, const struct cg_plan *p, struct entries *e, int *at)
{
    for (unsigned i = 0; i < p->nparams; i++) {
        const struct omp_var *v = p->params[i].var;
        enum cg_pass pass = p->params[i].pass;
        const char *s = is_converted_copy(&p->params[i]) ? cg_strf(cg, "@v%u", i) : cg_spell(cg, v),
                   *address = cg_strf(cg, "&(%s)", s);
        struct piece value = { s, s, "0", used_bytes(cg, e->c, v), v->name, 0 },
                     place = { address, address, "0", "0", v->name, 0 },
                     whole = { address, address, cg_strf(cg, "sizeof(%s)", s), "0", v->name, 0 };
        at[i] = p->params[i].map;
        bool lost = pass == CG_PASS_ADDRESS && at[i] < 0 && e->collected;
        if (traits_of(p, v)) {
            pass = CG_PASS_COPY;
            s = cg_strf(cg, "@v%u", i), address = cg_strf(cg, "&%s", s);
            whole =
                (struct piece){ address, address, cg_strf(cg, "sizeof %s", s), "0", v->name, 0 };
        }
        if (pass != CG_PASS_LOOKUP && pass != CG_PASS_COPY && !lost)
            continue;
        at[i] = (int)e->n;
        write_entry(cg, e,
                    pass == CG_PASS_COPY ? &whole
                    : lost               ? &place
                                         : &value,
                    pass == CG_PASS_COPY ? OMPGPU_MAP_PRIVATE_COPY
                                         : OMPGPU_MAP_LOOKUP | OMPGPU_MAP_IMPLICIT);
        e->n++;
    }
}

/* ------------------------------------------------------------------ parameters */
/* The device's long double is the host's double: frontend/long_double.c. */
static const char *passed_type(struct cg *cg, const struct omp_var *v)
{
    if (!v->type->is_long_double)
        return cg_strf(cg, "__typeof__(%s)", cg_spell(cg, v));
    return v->type->kind == OMPT_COMPLEX ? "double _Complex" : "double";
}

static void declare_allocator(struct cg *cg, const struct omp_expr *traits, unsigned i)
{
    const char *t = cg_empty(traits->extent) ? NULL : cg_expr(cg, traits->extent);
    cg_line(cg, "const struct __ompgpu_traits @v%u = __ompgpu_read_traits(%s);", i,
            t ? cg_strf(cg, "%s, sizeof(%s) / sizeof((%s)[0])", t, t, t) : "0, 0");
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
        else if (traits_of(p, v))
            declare_allocator(cg, &traits_of(p, v)->expr, i);
        else if (p->params[i].pass == CG_PASS_VALUE || is_converted_copy(&p->params[i]))
            cg_line(cg, "%s @v%u = %s;", passed_type(cg, v), i, s);
        else if (p->params[i].pass == CG_PASS_HOST_ADDRESS)
            cg_line(cg, "const void *@v%u = &(%s);", i, s);
    }
}

static void write_parameters(struct cg *cg, const struct cg_plan *p, const struct entries *e,
                             const int *at)
{
    const char *entry = cg_strf(cg, e->collected ? "@entry" : "");
    if (!p->nparams)
        return;
    cg_open(cg, "const struct __ompgpu_param @params[] =");
    for (unsigned i = 0; i < p->nparams; i++) {
        enum cg_pass pass = p->params[i].pass;
        if ((pass == CG_PASS_BOUND || pass == CG_PASS_VALUE || pass == CG_PASS_HOST_ADDRESS) &&
            !traits_of(p, p->params[i].var))
            cg_line(cg, "{ &@v%u, sizeof @v%u, -1 },", i, i);
        else
            cg_line(cg, "{ 0, sizeof(void *), %s%d },", entry, at[i]);
        if (at[i] < 0 && (pass == CG_PASS_ADDRESS || pass == CG_PASS_POINTER))
            cg_fault(cg, cg->place, "'%s' is captured but not mapped", p->params[i].var->name);
    }
    cg_close_with(cg, ";");
}

unsigned cg_maps(struct cg *cg, const struct omp_construct *c, const struct cg_plan *p)
{
    struct entries e = { .c = c,
                         .varying = meets_copy_of_static(c),
                         .collected = cg_collects_maps(c) };
    int *at = calloc(p ? p->nparams + 1 : 1, sizeof *at);
    if (!at)
        abort();
    if (p)
        declare_values(cg, p);
    for (unsigned i = 0; i < c->nmaps; i++)
        write_map(cg, &e, &c->maps[i], NULL);
    if (p)
        write_extra_entries(cg, p, &e, at);
    if (e.n && !e.collected)
        cg_close_with(cg, ";");
    if (p)
        write_parameters(cg, p, &e, at);
    free(at);
    return e.n;
}
