/* reduction.c - what a reduction needs to know about types: identity, combination, the record that
 * the runtime moves around.
 *
 * All variables of a construct travel together in one record, in this order largest first, so that
 * no padding is moved:
 *
 *   struct __red_main_14 { double sum; int n; };
 *   void __combine_main_14(void *a, const void *b)   a->sum = a->sum + b->sum; a->n = a->n + b->n;
 *   if (__ompgpu_reduce_league(__env, &__rec, &__tmp, sizeof __rec, __combine_main_14, 0)) {
 * *__o_sum = *__o_sum + __rec.sum; … }
 *
 * The reductions of clang-ykt ask codegen for four helpers: shuffle-and-reduce, inter-warp copy,
 * scratchpad copy, load-and-reduce.  Each moves a list of variables and combines it.  Here the
 * moving is the runtime's (devicertl/reduction.c): a record of constant size, by shuffles, through
 * shared slots, to and from the scratchpad, in words whatever the types; what is left for codegen
 * is the combining:
 *
 *   shuffle-and-reduce    fetch a lane's record by shuffles      then __combine_…       or, for integers of up to 4 bytes, __redux_…, which
 *   inter-warp copy       through shared slots                                          combines each member over a warp by redux.sync
 *   scratchpad copy       to the team's slot
 *   load-and-reduce       from a slot                            then __combine_…
 *
 * All are inlined, after which records live in registers.  How the result reaches the original
 * (enum cg_finish) depends on who reduces: the threads of a region, all threads of a league, the
 * main threads of generic teams.  With -fompgpu-atomic-reduction each team does it by itself, where
 * there is an atomic operation for every variable of the construct:
 *
 *   if (__ompgpu_reduce_parallel(&__rec, &__tmp, …)) { __scoped_atomic_fetch_add(__o_sum, __rec.sum, …); … }      and no scratchpad
 *
 * Constructs inside of a teams region: reduce/deferred.c.  Arrays that are not small are combined
 * in pieces instead (reduce/pieces.c).  A user-defined reduction becomes two functions per list
 * item, __udr_… (combiner) and __init_… (initialiser), in which omp_out, omp_in, omp_priv and
 * omp_orig are macros.               */
#include <stdlib.h>
#include <string.h>
#include "codegen/c/write.h"
#include "hostrt/image.h"

static const char *largest(struct cg *cg, const struct omp_type *t, bool is_max)
{
    static const struct {
        unsigned size;
        const char *max;
    } limits[] = {
        { 1, "127" },
        { 2, "32767" },
        { 4, "2147483647" },
        { 8, "9223372036854775807LL" },
    };
    if (t->kind == OMPT_FLOAT)
        return is_max ? "-__builtin_inf()" : "__builtin_inf()";
    if (t->kind == OMPT_BOOL)
        return is_max ? "0" : "1";
    if (t->size == 16 && t->is_signed)
        return is_max ? "(__int128)1 << 127" : "(__int128)(~(unsigned __int128)0 >> 1)";
    if (!t->is_signed)
        return is_max ? "0" : cg_strf(cg, "(%s)-1", cg_type(cg, t, "", CG_UNQUALIFIED));
    for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].size == t->size)
            return is_max ? cg_strf(cg, "-%s - 1", limits[i].max) : limits[i].max;
    return NULL;
}

const char *cg_identity(struct cg *cg, const struct omp_type *t, enum omp_red_op op)
{
    if (op == OMPR_USER || !omp_reduces(op, t->kind) || t->is_long_double || t->size > 16)
        return NULL;
    switch (omp_reduction_ops[op].identity) {
    case OMPR_ZERO: return "0";
    case OMPR_ONE: return "1";
    case OMPR_ONES: return t->kind == OMPT_BOOL ? "1" : t->size == 16 ? "~(__int128)0" : "~0";
    case OMPR_LARGEST: return largest(cg, t, false);
    default: return largest(cg, t, true);
    }
}

const char *cg_combined(struct cg *cg, enum omp_red_op op, const char *a, const char *b)
{
    return cg_strf(cg, omp_reduction_ops[op].combination, a, b);
}

/* ------------------------------------------------------------------ items */
enum { MAX_RECORD_ARRAY = 64 }; /* bytes of an array that still travels in the record */

/* Inscan reductions go their own way (reduce/scan.c), but for their functions. */
static bool is_reduction(const struct cg_private *p)
{
    return p->sharing->share == OMPSH_REDUCTION && !cg_is_scan(p->sharing);
}

const struct omp_type *cg_reduced(const struct omp_sharing *s)
{
    const struct omp_type *t = s->item && s->item->base_type ? s->item->base_type : s->var->type;
    for (unsigned i = 0; s->item && i < s->item->nsections && t && t->elem; i++)
        t = t->elem;
    while (t && t->kind == OMPT_ARRAY)
        t = t->elem;
    return t;
}

bool cg_in_pieces(const struct omp_sharing *s)
{
    const struct omp_type *t = s->var->type;
    if (cg_is_scan(s))
        return false;
    return (s->item && s->item->nsections) ||
           (t->kind == OMPT_ARRAY && (t->variably_modified || t->size > MAX_RECORD_ARRAY));
}

static const struct omp_udr *user_defined(const struct cg_private *p)
{
    return p->sharing->item ? p->sharing->item->udr : NULL;
}

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The text of a user-defined reduction with its special names replaced, for the host, where it
 * cannot be a function. */
static const char *replaced(struct cg *cg, struct omp_extent e, const char *first,
                            const char *is_first, const char *second, const char *is_second)
{
    const char *text = cg_expr(cg, e), *out = "";
    for (size_t n; *text; text += n) {
        for (n = 0; is_word(text[n]);)
            n++;
        bool one = n == strlen(first) && !strncmp(text, first, n),
             two = n == strlen(second) && !strncmp(text, second, n);
        n += !n;
        out = one || two ? cg_strf(cg, "%s(%s)", out, one ? is_first : is_second)
                         : cg_strf(cg, "%s%.*s", out, (int)n, text);
    }
    return out;
}

const char *cg_combine(struct cg *cg, const struct cg_private *p, const char *a, const char *b)
{
    if (user_defined(p) && !cg->before)
        return cg_strf(cg, "{ %s; }",
                       replaced(cg, user_defined(p)->combiner, "omp_out", a, "omp_in", b));
    if (p->udr)
        return cg_strf(cg, "__udr_%s(&%s, (%s *)&%s);", p->udr, a,
                       cg_type(cg, p->elem, "", CG_UNQUALIFIED), b);
    return cg_strf(cg, "%s = %s;", a, cg_combined(cg, p->sharing->clause->op, a, b));
}

void cg_initial(struct cg *cg, const struct cg_private *p, const char *copy, const char *original)
{
    const struct omp_udr *d = cg->before ? NULL : user_defined(p);
    if (d && cg_empty(d->init))
        cg_put(cg, " __builtin_memset(&(%s), 0, sizeof(%s));", copy, copy);
    else if (d)
        cg_put(cg,
               d->init_is_call ? " { %s; (void)%s; }"
                               : " { __typeof__(%2$s) __v = %1$s; %2$s = __v; }",
               replaced(cg, d->init, "omp_priv", copy, "omp_orig", original), copy);
    else if (p->udr)
        cg_put(cg, " __init_%s(&%s, (%s *)&%s);", p->udr, copy,
               cg_type(cg, p->elem, "", CG_UNQUALIFIED), original);
    else
        cg_put(cg, " %s = %s;", copy, cg_identity(cg, p->elem, p->sharing->clause->op));
}

/* The same for a small array, element by element. */
const char *cg_combine_item(struct cg *cg, const struct cg_private *p, const char *a, const char *b)
{
    if (p->var->type->kind != OMPT_ARRAY && !p->section)
        return cg_combine(cg, p, a, b);
    const char *e = cg_type(cg, p->elem, "", CG_UNQUALIFIED);
    const char *ai = cg_strf(cg, "((%s *)&%s)[__i]", e, a),
               *bi = cg_strf(cg, "((const %s *)&%s)[__i]", e, b);
    return cg_strf(cg, "for (unsigned __i = 0; __i < sizeof(%s) / sizeof(%s); __i++) %s", a, e,
                   cg_combine(cg, p, ai, bi));
}

void cg_initialise(struct cg *cg, const struct cg_private *p)
{
    const char *v = p->var->name, *e = cg_type(cg, p->elem, "", CG_UNQUALIFIED),
               *copy = cg_copy_name(cg, p);
    if (p->var->type->kind != OMPT_ARRAY && !p->section) {
        cg_initial(cg, p, v, cg_strf(cg, "(*__o_%s)", v));
        return;
    }
    cg_put(cg, " for (unsigned __i = 0; __i < sizeof(%s) / sizeof(%s); __i++) {", copy, e);
    cg_initial(cg, p, cg_strf(cg, "((%s *)%s)[__i]", e, copy),
               cg_strf(cg, "((%s *)__o_%s)[__i]", e, v));
    cg_puts(cg, " }");
}

void cg_declare_reduction(struct cg *cg, const struct cg_private *p)
{
    const char *v = p->var->name, *type = cg_var_type(cg, p->var, CG_UNQUALIFIED);
    if (p->pieces || p->section)
        return; /* declared with the originals */
    if (cg_is_scan(p->sharing)) {
        cg_line(cg, "%s %s;", type, v); /* each iteration begins with the initial value */
    } else if (p->var->type->kind == OMPT_ARRAY || p->udr) {
        cg_line(cg, "%s %s;", type, v);
        cg_initialise(cg, p);
    } else {
        cg_line(cg, "%s %s = %s;", type, v, cg_identity(cg, p->elem, p->sharing->clause->op));
    }
}

/* ------------------------------------------------------------------ functions at file scope */
static void udr_functions(struct cg *cg, struct cg_private *p, const char *base)
{
    const struct omp_udr *d = user_defined(p);
    if (!d || !cg->before)
        return;
    const char *e = cg_type(cg, p->elem, "", CG_UNQUALIFIED);
    p->udr = cg_name(cg, cg_strf(cg, "%s_%s", base, p->var->name), "");
    cg_put(cg, "__OMPGPU_INLINE void __udr_%s(%s *__omp_out, %s *__omp_in) { %s; }\n", p->udr, e, e,
           cg_expr(cg, d->combiner));
    cg_put(cg, "__OMPGPU_INLINE void __init_%s(%s *__omp_priv, %s *__omp_orig) { ", p->udr, e, e);
    if (cg_empty(d->init))
        cg_put(cg, "__builtin_memset(__omp_priv, 0, sizeof *__omp_priv); }\n");
    else if (d->init_is_call)
        cg_put(cg, "%s; }\n", cg_expr(cg, d->init));
    else
        cg_put(cg, "%s __v = %s; *__omp_priv = __v; }\n", e, cg_expr(cg, d->init));
}

static int larger_first(const void *a, const void *b)
{
    const struct cg_private *const *x = a, *const *y = b;
    const struct omp_type *s = (*x)->elem, *t = (*y)->elem;
    uint64_t m = s->kind == OMPT_RECORD ? 0 : s->size, n = t->kind == OMPT_RECORD ? 0 : t->size;
    if (m != n)
        return m < n ? 1 : -1;
    return (*x > *y) - (*x < *y);
}

/* Bytes at the end of the record that hold no member: only those of arithmetic types are known
 * here. */
static unsigned tail_padding(const struct cg_private **items, unsigned n)
{
    uint64_t total = 0, align = n ? items[0]->elem->size : 1;
    for (unsigned i = 0; i < n; i++) {
        if (items[i]->elem->kind == OMPT_RECORD || items[i]->elem->kind == OMPT_COMPLEX ||
            !items[i]->var->type->size || items[i]->section)
            return 0;
        total += items[i]->var->type->size;
    }
    return (unsigned)((align - total % align) % align);
}

/* The operation of redux.sync that combines values of this type; NULL: none does. */
static const char *redux_operation(struct cg *cg, const struct omp_type *t, enum omp_red_op op)
{
    if ((t->kind != OMPT_INT && t->kind != OMPT_BOOL) || t->size > 4 || op == OMPR_USER)
        return NULL;
    const struct omp_reduction_op *row = &omp_reduction_ops[op];
    return row->class == OMPR_ORDER && !t->is_signed ? cg_strf(cg, "U%s", row->redux) : row->redux;
}

static void redux_member(struct cg *cg, const struct cg_private *p)
{
    enum omp_red_op op = p->sharing->clause->op;
    bool array = p->var->type->kind == OMPT_ARRAY,
         truth = omp_reduction_ops[op].class == OMPR_LOGICAL;
    const char *e = cg_type(cg, p->elem, "", CG_UNQUALIFIED),
               *m = cg_strf(cg, "__a->%s", p->var->name);
    cg_puts(cg, " ");
    if (array) {
        cg_put(cg, "for (unsigned __i = 0; __i < sizeof(%s) / sizeof(%s); __i++) ", m, e);
        m = cg_strf(cg, "((%s *)&%s)[__i]", e, m);
    }
    cg_put(cg, "%s = (%s)__ompgpu_reduce_word(__OMPGPU_REDUX_%s, __lanes, (unsigned)%s);", m, e,
           redux_operation(cg, p->elem, op), truth ? cg_strf(cg, "(%s != 0)", m) : m);
}

/* A record of which the hardware can combine every member. */
static void redux_function(struct cg *cg, struct cg_privates *p, const struct cg_private **items,
                           unsigned n, const char *name, const char *type)
{
    p->redux = n > 0 && p->finish != CG_TEAMS;
    for (unsigned i = 0; i < n; i++)
        p->redux = p->redux && !items[i]->udr &&
                   redux_operation(cg, items[i]->elem, items[i]->sharing->clause->op);
    if (!p->redux)
        return;
    cg_put(cg, "__OMPGPU_INLINE void __redux_%s(void *__p, unsigned __lanes)\n{ %s *__a = __p;",
           name, type);
    for (unsigned i = 0; i < n; i++)
        redux_member(cg, items[i]);
    cg_puts(cg, " }\n");
}

/* The struct and its combine function, of the inscan reductions or of the others. */
const char *cg_record(struct cg *cg, struct cg_privates *p, const char *name, bool scan,
                      unsigned *padding)
{
    const struct cg_private **items = calloc(p->n + 1, sizeof *items);
    unsigned n = 0;
    if (!items)
        abort();
    for (unsigned i = 0; i < p->n; i++)
        if (scan ? cg_is_scan(p->list[i].sharing) : is_reduction(&p->list[i]) && !p->list[i].pieces)
            items[n++] = &p->list[i];
    qsort(items, n, sizeof *items, larger_first);
    const char *type = cg_strf(cg, "struct __red_%s", name);
    *padding = tail_padding(items, n);
    cg_put(cg, "%s {", type);
    for (unsigned i = 0; i < n; i++) {
        const char *v = items[i]->var->name;
        if (items[i]->section)
            cg_put(cg, " %s %s[%u];", cg_type(cg, items[i]->elem, "", CG_UNQUALIFIED), v,
                   items[i]->section);
        else
            cg_put(cg, " %s %s;", cg_var_type(cg, items[i]->var, CG_UNQUALIFIED), v);
    }
    cg_put(cg, " };\n__OMPGPU_INLINE void __combine_%s(void *__p, const void *__q)\n{\n", name);
    cg_put(cg, "  %s *__a = __p; const %s *__b = __q;\n", type, type);
    for (unsigned i = 0; i < n; i++)
        cg_put(cg, "  %s\n",
               cg_combine_item(cg, items[i], cg_strf(cg, "__a->%s", items[i]->var->name),
                               cg_strf(cg, "__b->%s", items[i]->var->name)));
    cg_puts(cg, "}\n");
    if (!scan)
        redux_function(cg, p, items, n, name, type);
    free(items);
    return type;
}

/* ------------------------------------------------------------------ atomic finish */
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

/* An original that is a variable of one thread, perhaps on its stack, where the GPU has no atomics.
 */
static bool is_own(const struct cg *cg, const struct omp_var *v)
{
    return !cg->env[v->id] && (v->storage == OMPS_LOCAL || v->storage == OMPS_PARAM);
}

const char *cg_not_atomic(const struct omp_sharing *s, bool own)
{
    return own                       ? "is a copy of the team's"
           : cg_in_pieces(s)         ? "is an array of more than 64 bytes or of run-time size"
           : s->item && s->item->udr ? "has a user-defined reduction"
           : atomic_operation(cg_reduced(s), s->clause->op)
               ? NULL
               : "has a type or an operator without a hardware atomic";
}

/* May every team update the originals by itself?  If not, and it was asked for, says why. */
static bool finishes_atomically(struct cg *cg, const struct cg_privates *p)
{
    bool several_teams = p->finish == CG_LEAGUE || p->finish == CG_TEAMS || p->deferred || p->lock;
    for (unsigned i = 0; p->of_teams && i < p->n; i++)
        several_teams =
            several_teams || (is_reduction(&p->list[i]) && p->list[i].owner != CG_OF_TEAM);
    if (!cg->unit->atomic_reduction || !several_teams)
        return false;
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        bool own = p->of_teams ? k->owner == CG_OF_TEAM : is_own(cg, k->var);
        const char *why = is_reduction(k) ? cg_not_atomic(k->sharing, own) : NULL;
        if (why && cg->unit->remarks)
            fe_report(
                cg->unit, k->place, DIAG_REMARK,
                "the reduction ends %s in spite of -fompgpu-atomic-reduction: '%s' %s [-Rompgpu]",
                p->lock ? "under a lock" : "with the last team", k->var->name, why);
        if (why)
            return false;
    }
    return true;
}

static void update_atomically(struct cg *cg, const struct cg_privates *p, const char *from)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (!is_reduction(k))
            continue;
        const char *v = k->var->name, *e = cg_type(cg, k->elem, "", CG_UNQUALIFIED),
                   *op = atomic_operation(k->elem, k->sharing->clause->op);
        bool array = k->var->type->kind == OMPT_ARRAY;
        if (array)
            cg_put(cg, " for (unsigned __i = 0; __i < sizeof *__o_%s / sizeof(%s); __i++)", v, e);
        cg_put(cg,
               array ? " __scoped_atomic_fetch_%s((%s *)__o_%s + __i, ((%s *)%s%s)[__i], "
                       "__ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);"
                     : " __scoped_atomic_fetch_%s((%s *)__o_%s, (%s)%s%s, __ATOMIC_RELAXED, "
                       "__MEMORY_SCOPE_DEVICE);",
               op, e, v, e, from, v);
    }
}

/* For -Rompgpu, and for OMPGPU_INFO in the kernel's flags. */
static void describe(struct cg *cg, struct cg_privates *p)
{
    static const char *const how[] = { [CG_PARALLEL] = "TEAM",
                                       [CG_LEAGUE] = "LEAGUE",
                                       [CG_TEAMS] = "TEAMS",
                                       [CG_ONE_THREAD] = "TEAMS" };
    unsigned variables = 0, arrays = 0, columns = 0;
    const char *names = "";
    struct omp_place place = cg->place;
    for (unsigned i = 0; i < p->n; i++) {
        if (!is_reduction(&p->list[i]))
            continue;
        (p->list[i].pieces ? arrays++ : variables++);
        columns += cg_in_columns(p, &p->list[i]);
        names = cg_strf(cg, "%s%s'%s'", names, *names ? ", " : "", p->list[i].var->name);
        place = p->list[i].place;
    }
    p->flags = (variables < 255 ? variables : 255) << OMPGPU_KERNEL_VARIABLES |
               arrays << (OMPGPU_KERNEL_VARIABLES + 8) | (p->atomic ? OMPGPU_KERNEL_ATOMIC : 0) |
               (p->redux ? OMPGPU_KERNEL_REDUX : 0);
    cg_put(cg, "__OMPGPU_REDUCTION(%s, %s, %s, %u, %u, %u, %u, %s, __OMPGPU_RED_%s%s%s%s)\n",
           p->base, cg_quoted(cg, place.file), cg_quoted(cg, names), place.line, place.col,
           variables, arrays, p->record ? cg_strf(cg, "sizeof(%s)", p->record) : "0",
           how[p->finish],
           p->atomic ? " | __OMPGPU_RED_ATOMIC"
                     : cg_strf(cg, "%s%s", p->deferred ? " | __OMPGPU_RED_DEFERRED" : "",
                               p->lock ? " | __OMPGPU_RED_LOCKED" : ""),
           p->redux ? " | __OMPGPU_RED_REDUX" : "",
           cg_strf(cg, "%s%s%s", p->whole_warps ? " | __OMPGPU_RED_WHOLE_WARPS" : "",
                   columns ? " | __OMPGPU_RED_COLUMNS" : "",
                   columns < arrays ? " | __OMPGPU_RED_PIECES" : ""));
}

void cg_reduction_functions(struct cg *cg, struct cg_privates *p)
{
    if (!p->reduction && !p->scan)
        return;
    struct cg_text *out = cg->out;
    bool one_thread =
        p->finish == CG_SERIAL || (p->finish == CG_ONE_THREAD && !p->deferred && !p->lock);
    cg->out = cg->before;
    for (unsigned i = 0; i < p->n; i++) {
        if (p->list[i].sharing->share != OMPSH_REDUCTION)
            continue;
        udr_functions(cg, &p->list[i], p->base ? p->base : "reduction");
        p->pieces |= p->list[i].pieces;
        p->record_items |= is_reduction(&p->list[i]) && !p->list[i].pieces;
    }
    p->atomic = p->reduction && finishes_atomically(cg, p);
    if (p->reduction && !one_thread) {
        const char *name = cg_name(cg, p->base, "");
        if (p->record_items)
            p->record = cg_record(cg, p, name, false, &p->padding);
        p->base = name;
        for (unsigned i = 0; i < p->n; i++)
            if (p->list[i].pieces)
                cg_pieces_functions(cg, p, &p->list[i]);
        cg_deferred_functions(cg, p);
        cg_deferred_record(cg, p);
        describe(cg, p);
    }
    cg->out = out;
}

/* ------------------------------------------------------------------ the end of the construct */
void cg_load_record(struct cg *cg, const struct cg_privates *p)
{
    cg_put(cg, " %s __rec, __tmp;", p->record);
    for (unsigned i = 0; i < p->n; i++)
        if (is_reduction(&p->list[i]) && !p->list[i].pieces)
            cg_put(cg, " %s",
                   cg_assign(cg, p->list[i].var->type,
                             cg_strf(cg, "__rec.%s", p->list[i].var->name), p->list[i].var->name));
}

/* The winner's `*original = *original op result`. */
void cg_update_record_items(struct cg *cg, const struct cg_privates *p, const char *from,
                            enum cg_owner owner)
{
    for (unsigned i = 0; i < p->n; i++)
        if (is_reduction(&p->list[i]) && !p->list[i].pieces && p->list[i].owner == owner)
            cg_put(cg, " %s",
                   cg_combine_item(cg, &p->list[i], cg_strf(cg, "(*__o_%s)", p->list[i].var->name),
                                   cg_strf(cg, "%s%s", from, p->list[i].var->name)));
}

static const char *record_size(struct cg *cg, const struct cg_privates *p)
{
    return p->padding ? cg_strf(cg, "sizeof __rec - %u", p->padding) : "sizeof __rec";
}

static bool has_record_items(const struct cg_privates *p, enum cg_owner owner)
{
    for (unsigned i = 0; i < p->n; i++)
        if (is_reduction(&p->list[i]) && !p->list[i].pieces && p->list[i].owner == owner)
            return true;
    return false;
}

/* One thread of a team has its result, in `from` and, where there is an entry, in __rec. */
static void update_originals(struct cg *cg, const struct cg_privates *p, const char *from)
{
    cg_update_record_items(cg, p, from, CG_OF_TEAM);
    if (has_record_items(p, CG_OF_LEAGUE)) {
        cg_put(cg, " if (__deferred) {");
        cg_deferred_add_record(cg, p, record_size(cg, p));
        cg_put(cg, "%s } else {", p->pieces ? "" : " __ompgpu_deferred_end(__deferred);");
        cg_update_record_items(cg, p, from, CG_OF_LEAGUE);
        cg_puts(cg, " }");
    }
    if (has_record_items(p, CG_OF_UNKNOWN)) {
        cg_put(cg, " __ompgpu_critical_begin(&%s);", p->lock);
        cg_update_record_items(cg, p, from, CG_OF_UNKNOWN);
        cg_put(cg, " __ompgpu_critical_end(&%s);", p->lock);
    }
}

static void finish_alone(struct cg *cg, const struct cg_privates *p)
{
    if (p->deferred && p->record)
        cg_load_record(cg, p);
    update_originals(cg, p, "");
    cg_pieces_update_all(cg, p);
}

/* The threads of a team as a team; a generic kernel's main thread alone. */
static void finish_atomically(struct cg *cg, const struct cg_privates *p)
{
    if (p->finish == CG_TEAMS || p->finish == CG_ONE_THREAD) {
        update_atomically(cg, p, "");
        return;
    }
    cg_load_record(cg, p);
    cg_line(cg, "  if (__ompgpu_reduce_parallel(&__rec, &__tmp, %s, __combine_%s, %s)) {",
            record_size(cg, p), p->base, p->redux ? cg_strf(cg, "__redux_%s", p->base) : "0");
    update_atomically(cg, p, "__rec.");
    cg_puts(cg, " }");
}

static void finish_record(struct cg *cg, const struct cg_privates *p)
{
    static const char *const calls[] = {
        [CG_PARALLEL] = "__ompgpu_reduce_parallel(",
        [CG_LEAGUE] = "__ompgpu_reduce_league(__env, ",
        [CG_TEAMS] = "__ompgpu_reduce_teams(__env, ",
    };
    cg_load_record(cg, p);
    const char *redux = p->finish == CG_TEAMS ? ""
                        : p->redux            ? cg_strf(cg, ", __redux_%s", p->base)
                                              : ", 0";
    cg_line(cg, "  if (%s&__rec, &__tmp, %s, __combine_%s%s)) {", calls[p->finish],
            record_size(cg, p), p->base, redux);
    update_originals(cg, p, "__rec.");
    cg_puts(cg, " }");
}

void cg_finish_reduction(struct cg *cg, struct cg_privates *p)
{
    if (!p->reduction && !p->entries)
        return;
    cg_line(cg, "{");
    if (p->whole_warps)
        cg_put(cg, " __ompgpu_whole_warps();");
    if (p->atomic)
        finish_atomically(cg, p);
    if (p->entries ||
        (p->pieces && !p->atomic && (p->finish == CG_LEAGUE || p->finish == CG_TEAMS)))
        cg_pieces_league(cg, p);
    else if (p->atomic)
        ;
    else if (p->finish == CG_SERIAL || p->finish == CG_ONE_THREAD)
        finish_alone(cg, p);
    else {
        if (p->record_items)
            finish_record(cg, p);
        cg_pieces_parallel(cg, p);
    }
    cg_pieces_free(cg, p);
    cg_puts(cg, " }");
    cg_deferred_keep(p);
}
