/* record.c - the record of a reduction, in which all scalars and small arrays of a construct travel
 * together.
 *
 *   struct @red_main_14 { double sum; int n; };      largest first, so that no padding is moved
 *   void @combine_main_14(void *a, const void *b)    a->sum = a->sum + b->sum; a->n = a->n + b->n;
 *
 * The reductions of clang-ykt ask codegen for four helpers: shuffle-and-reduce, inter-warp copy,
 * scratchpad copy, load-and-reduce.  Each moves a list of variables and combines it.  Here the
 * moving is the runtime's (devicertl/reduction.c): a record of constant size, by shuffles, through
 * shared slots, to and from the scratchpad, in words whatever the types; what is left for codegen
 * is the combining:
 *
 *   shuffle-and-reduce    fetch a lane's record by shuffles, then @combine_…; or, for integers of
 *                         up to 4 bytes, @redux_…, which combines each member over a warp
 *   inter-warp copy       through shared cells
 *   scratchpad copy       to the team's slot
 *   load-and-reduce       from a slot, then @combine_…
 *
 * All are inlined, after which records live in registers. */
#include <stdlib.h>
#include "codegen/c/reduce/reduce.h"
#include "driver/base/mem.h"

/* ------------------------------------------------------------------ the copies */
static void declare_item(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    const char *v = k->var->name, *type = cg_var_type(cg, k->var, CG_UNQUALIFIED);
    (void)p;
    if (k->var->type->kind == OMPT_ARRAY || k->udr) {
        cg_line(cg, "%s %s%s;", type, v, cg_aligned(cg, k));
        cg_line(cg, "%s", cg_initial_item(cg, k));
    } else {
        cg_line(cg, "%s %s%s = %s;", type, v, cg_aligned(cg, k),
                cg_identity(cg, k->elem, k->sharing->clause->op));
    }
}

const struct cg_copy_kind cg_record_copy = { .find = cg_find_original, .declare = declare_item };

/* ------------------------------------------------------------------ members */
struct members {
    const struct cg_private **at;
    unsigned n;
};

static int larger_first(const void *a, const void *b)
{
    const struct cg_private *const *x = a, *const *y = b;
    const struct omp_type *s = (*x)->elem, *t = (*y)->elem;
    uint64_t m = s->kind == OMPT_RECORD ? 0 : s->size, n = t->kind == OMPT_RECORD ? 0 : t->size;
    if (m != n)
        return m < n ? 1 : -1;
    return (*x > *y) - (*x < *y);
}

static struct members members_of(const struct cg_privates *p, bool scan)
{
    struct members m = { mem_array(p->n + 1, sizeof *m.at), 0 };
    for (unsigned i = 0; i < p->n; i++)
        if (scan ? cg_is_scan(p->list[i].sharing) : p->list[i].kind == &cg_record_copy)
            m.at[m.n++] = &p->list[i];
    qsort(m.at, m.n, sizeof *m.at, larger_first);
    return m;
}

/* Bytes at the end of the record that hold no member: only those of arithmetic types are known
 * here. */
static unsigned tail_padding(const struct members *m)
{
    uint64_t total = 0, align = m->n ? m->at[0]->elem->size : 1;
    for (unsigned i = 0; i < m->n; i++) {
        const struct cg_private *k = m->at[i];
        if (k->elem->kind == OMPT_RECORD || k->elem->kind == OMPT_COMPLEX || !k->var->type->size ||
            k->section)
            return 0;
        total += k->var->type->size;
    }
    return (unsigned)((align - total % align) % align);
}

/* ------------------------------------------------------------------ functions */
/* The operation of redux.sync that combines values of this type; NULL: none does. */
static const char *redux_operation(struct cg *cg, const struct cg_private *k)
{
    const struct omp_type *t = k->elem;
    if ((t->kind != OMPT_INT && t->kind != OMPT_BOOL) || t->size > 4 || k->udr)
        return NULL;
    const struct omp_reduction_op *row = &omp_reduction_ops[k->sharing->clause->op];
    return row->class == OMPR_ORDER && !t->is_signed ? cg_strf(cg, "U%s", row->redux) : row->redux;
}

static void redux_member(struct cg *cg, const struct cg_private *k)
{
    bool array = k->var->type->kind == OMPT_ARRAY,
         truth = omp_reduction_ops[k->sharing->clause->op].class == OMPR_LOGICAL;
    const char *e = cg_type(cg, k->elem, "", CG_UNQUALIFIED),
               *m = cg_strf(cg, "@a->%s", k->var->name), *loop = "";
    if (array) {
        loop = cg_strf(cg, "for (unsigned @i = 0; @i < sizeof(%s) / sizeof(%s); @i++) ", m, e);
        m = cg_strf(cg, "((%s *)&%s)[@i]", e, m);
    }
    cg_line(cg, "%s%s = (%s)__ompgpu_reduce_word(__OMPGPU_REDUX_%s, @lanes, (unsigned)%s);", loop,
            m, e, redux_operation(cg, k), truth ? cg_strf(cg, "(%s != 0)", m) : m);
}

static void redux_function(struct cg *cg, const struct members *m, const char *name)
{
    cg_open_function(cg, "__OMPGPU_INLINE void @redux_%s(void *@p, unsigned @lanes)", name);
    cg_line(cg, "struct @red_%s *@a = @p;", name);
    for (unsigned i = 0; i < m->n; i++)
        redux_member(cg, m->at[i]);
    cg_close(cg);
}

static void combine_function(struct cg *cg, const struct members *m, const char *name)
{
    cg_open_function(cg, "__OMPGPU_INLINE void @combine_%s(void *@p, const void *@q)", name);
    cg_line(cg, "struct @red_%s *@a = @p;", name);
    cg_line(cg, "const struct @red_%s *@b = @q;", name);
    for (unsigned i = 0; i < m->n; i++) {
        const char *v = m->at[i]->var->name;
        cg_line(cg, "%s",
                cg_combine_item(cg, m->at[i], cg_strf(cg, "@a->%s", v), cg_strf(cg, "@b->%s", v)));
    }
    cg_close(cg);
}

static const char *write_record(struct cg *cg, const struct members *m, const char *name)
{
    const char *type = cg_strf(cg, "struct @red_%s", name);
    cg_open_struct(cg, type);
    for (unsigned i = 0; i < m->n; i++) {
        const struct cg_private *k = m->at[i];
        if (k->section)
            cg_line(cg, "%s %s[%u];", cg_type(cg, k->elem, "", CG_UNQUALIFIED), k->var->name,
                    k->section);
        else
            cg_line(cg, "%s %s;", cg_var_type(cg, k->var, CG_UNQUALIFIED), k->var->name);
    }
    cg_close_struct(cg);
    combine_function(cg, m, name);
    return type;
}

const char *cg_scan_record(struct cg *cg, const struct cg_privates *p, const char *name,
                           unsigned *padding)
{
    const struct members m = members_of(p, true);
    *padding = tail_padding(&m);
    return write_record(cg, &m, name);
}

void cg_write_record(struct cg *cg, struct cg_privates *p)
{
    const struct members m = members_of(p, false);
    if (!m.n)
        return;
    p->padding = tail_padding(&m);
    p->record = write_record(cg, &m, p->base);
    p->redux = p->finish != CG_TEAMS;
    for (unsigned i = 0; i < m.n; i++)
        p->redux = p->redux && redux_operation(cg, m.at[i]);
    if (p->redux)
        redux_function(cg, &m, p->base);
}

/* ------------------------------------------------------------------ its use */
const char *cg_record_size(struct cg *cg, const struct cg_privates *p)
{
    return cg_strf(cg, p->padding ? "sizeof @rec - %u" : "sizeof @rec", p->padding);
}

void cg_load_record(struct cg *cg, const struct cg_privates *p)
{
    cg_line(cg, "%s @rec, @tmp;", p->record);
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (k->kind == &cg_record_copy)
            cg_line(
                cg, "%s",
                cg_assign(cg, k->var->type, cg_strf(cg, "@rec.%s", k->var->name), k->var->name));
    }
}

bool cg_has_items_of(const struct cg_privates *p, enum cg_owner owner)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].kind == &cg_record_copy && p->list[i].owner == owner)
            return true;
    return false;
}

/* Originals of results are in the host's memory, from where a GPU takes a microsecond to load one
 * (hostrt/core/data.c); so all are loaded before the first is stored, which may be another one for
 * all that the compiler knows. */
static bool is_loaded_first(const struct cg_private *k, enum cg_owner owner)
{
    return k->kind == &cg_record_copy && k->owner == owner && k->var->type->kind != OMPT_ARRAY &&
           !k->section && !k->udr;
}

static void update_item(struct cg *cg, const struct cg_private *k, const char *from,
                        const char *original)
{
    cg_line(cg, "%s", cg_combine_item(cg, k, original, cg_strf(cg, "%s%s", from, k->var->name)));
}

void cg_update_items(struct cg *cg, const struct cg_privates *p, const char *from,
                     enum cg_owner owner)
{
    const struct cg_private *end = p->list + p->n, *k;
    unsigned n = 0;
    for (k = p->list; k < end; k++)
        n += is_loaded_first(k, owner);
    for (k = p->list; k < end; k++)
        if (n > 1 && is_loaded_first(k, owner))
            cg_line(cg, "%s @f_%s = *@o_%s;", cg_var_type(cg, k->var, CG_UNQUALIFIED), k->var->name,
                    k->var->name);
    for (k = p->list; k < end; k++)
        if (k->kind == &cg_record_copy && k->owner == owner)
            update_item(
                cg, k, from,
                cg_strf(cg, n > 1 && is_loaded_first(k, owner) ? "@f_%s" : "*@o_%s", k->var->name));
    for (k = p->list; k < end; k++)
        if (n > 1 && is_loaded_first(k, owner))
            cg_line(cg, "*@o_%s = @f_%s;", k->var->name, k->var->name);
}

/* ------------------------------------------------------------------ atomic updates */
/* The atomic update that the hardware has for this type, as the builtins name it; NULL: it has
 * none. */
static const char *atomic_operation(const struct omp_type *t, enum omp_red_op op)
{
    bool real = t->kind == OMPT_FLOAT, word = t->size == 4 || t->size == 8;
    if ((t->kind != OMPT_INT && !real) || !word || op == OMPR_USER ||
        (real && omp_reduction_ops[op].class != OMPR_ARITHMETIC))
        return NULL;
    return omp_reduction_ops[op].atomic;
}

const char *cg_not_atomic(const struct cg_private *k, bool own)
{
    if (own)
        return "is a copy of the team's";
    if (k->kind == &cg_array_copy)
        return "is an array of more than 64 bytes or of run-time size";
    if (k->sharing->item && k->sharing->item->udr)
        return "has a user-defined reduction";
    return atomic_operation(k->elem, k->sharing->clause->op)
               ? NULL
               : "has a type or an operator without a hardware atomic";
}

void cg_update_atomically(struct cg *cg, const struct cg_privates *p, const char *from)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (k->kind != &cg_record_copy)
            continue;
        const char *v = k->var->name, *e = cg_type(cg, k->elem, "", CG_UNQUALIFIED),
                   *op = atomic_operation(k->elem, k->sharing->clause->op), *loop = "",
                   *to = cg_strf(cg, "(%s *)@o_%s", e, v),
                   *value = cg_strf(cg, "(%s)%s%s", e, from, v);
        if (k->var->type->kind == OMPT_ARRAY) {
            loop =
                cg_strf(cg, "for (unsigned @i = 0; @i < sizeof *@o_%s / sizeof(%s); @i++) ", v, e);
            to = cg_strf(cg, "%s + @i", to);
            value = cg_strf(cg, "((%s *)%s%s)[@i]", e, from, v);
        }
        cg_line(cg, "%s__scoped_atomic_fetch_%s(%s, %s, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);",
                loop, op, to, value);
    }
}
