/* reduce.c - the rules for list items of reduction, task_reduction and in_reduction (OpenMP 5.2
 * section 5.5) that clang leaves to others, and what the device lacks.  clang has checked types and
 * operators of its own, that items are variables, elements or sections (a member of a struct is
 * none of them), and that they have no other data-sharing clause. */
#include "frontend/fe.h"
#include <string.h>

/* ------------------------------------------------------------------ types */
/* The type of one element of what is reduced: after sections and array dimensions. */
static const struct omp_type *element_of(const struct omp_item *it)
{
    const struct omp_type *t = it->base_type ? it->base_type : it->var ? it->var->type : NULL;
    for (unsigned i = 0; i < it->nsections && t && t->elem; i++)
        t = t->elem;
    while (t && t->kind == OMPT_ARRAY)
        t = t->elem;
    return t;
}

const struct omp_reduction_op omp_reduction_ops[OMPR_USER] = {
#define REDUCTION_OP(id, spelling, class, identity, combination, redux, atomic, host)              \
    { spelling, OMPR_##class, OMPR_##identity, combination, redux, atomic, host },
#include "frontend/reduction_ops.def"
#undef REDUCTION_OP
};

bool omp_reduces(enum omp_red_op op, enum omp_type_kind kind)
{
    enum omp_op_class class = omp_reduction_ops[op].class;
    switch (kind) {
    case OMPT_INT:
    case OMPT_BOOL: return true;
    case OMPT_FLOAT: return class != OMPR_BITWISE;
    case OMPT_COMPLEX: return class != OMPR_BITWISE && class != OMPR_ORDER;
    default: return false;
    }
}

static const char *bad_reduction_type(const struct omp_type *t, const struct omp_clause *k)
{
    bool defined = omp_reduces(k->op, t->kind);
    switch (t->kind) {
    case OMPT_INT:
    case OMPT_BOOL: return NULL;
    case OMPT_FLOAT:
        if (t->is_long_double && !fe_has_long_double())
            return "the device has no long double";
        return defined ? NULL : "a bitwise operator on a floating type";
    case OMPT_COMPLEX:
        if (t->is_long_double && !fe_has_long_double())
            return "the device has no long double";
        if (t->size > 16)
            return "a complex type of more than 16 bytes";
        return defined ? NULL : "the operator is not defined for complex types";
    case OMPT_POINTER: return "a pointer";
    case OMPT_OTHER:
        return "the operator is not defined for _BitInt and __bf16; 'declare reduction' can define "
               "it";
    default: return "not an arithmetic type";
    }
}

/* ------------------------------------------------------------------ sections */
/* Nothing in it, or rows that are not whole after several of them. */
static const char *bad_section(const struct omp_item *it)
{
    bool several = false;
    for (unsigned i = 0; i < it->nsections; i++) {
        const struct omp_section *s = &it->sections[i];
        int64_t n = fe_section_count(s);
        if (n == 0)
            return "an array section without elements";
        if (several && s->dim && n > 0 && (unsigned long long)n != s->dim)
            return "an array section that does not lie in contiguous storage";
        several = several || n > 1;
    }
    return fe_bad_section(it);
}

static void check_item(struct fe *fe, const struct omp_clause *k, const struct omp_item *it)
{
    const struct omp_type *t = element_of(it), *whole = it->base_type ? it->base_type : t;
    bool section_of_var = it->base_is_var && it->derefs <= 1;
    const char *why = NULL;
    if (!t)
        return;
    if (!section_of_var)
        why = "only variables and sections of arrays and of what a pointer variable points to can "
              "be reduced";
    else if (bad_section(it))
        why = bad_section(it);
    else if (it->udr)
        why = t->variably_modified ? "a user-defined reduction of a variably modified type" : NULL;
    else if (k->op == OMPR_USER)
        why = arena_printf(fe->a,
                           "no 'declare reduction' of the name '%s' for this type is visible here",
                           k->word);
    else
        why = bad_reduction_type(t, k);
    if (why)
        fe_error_at(fe, it->place, "reduction variable '%s' of type '%s': %s",
                    fe_text(fe, it->text),
                    whole->spelling ? whole->spelling : "variable length array", why);
}

/* A construct has one copy of a variable: not one for each of several parts. */
static void check_parts(struct fe *fe, const struct omp_construct *c, const struct omp_clause *k,
                        unsigned n)
{
    const struct omp_item *it = &k->items[n];
    for (const struct omp_clause *x = c->clauses; it->var && x != k->next; x = x->next)
        for (unsigned i = 0; x->kind == k->kind && i < (x == k ? n : x->nitems); i++)
            if (x->items[i].var == it->var) {
                fe_error_at(fe, it->place,
                            "reduction variable '%s': a part of '%s' is reduced by this construct "
                            "already; reduce one section that has both",
                            fe_text(fe, it->text), it->var->name);
                return;
            }
}

/* ------------------------------------------------------------------ in_reduction */
static bool names(const struct omp_construct *c, enum omp_clause_kind kind,
                  enum omp_keyword modifier, const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0;
             k->kind == kind && (!modifier || k->keyword == modifier) && i < k->nitems; i++)
            if (k->items[i].var == v)
                return true;
    return false;
}

/* A task's copy is found where the text is, not by searching at run time: it belongs to the nearest
 * construct around the task, of the same thread, that has one. */
static bool has_owner(const struct omp_construct *c, const struct omp_var *v)
{
    for (c = c->parent; c; c = c->parent) {
        if (names(c, OMPC_TASK_REDUCTION, OMPK_NONE, v) || names(c, OMPC_REDUCTION, OMPK_TASK, v) ||
            names(c, OMPC_IN_REDUCTION, OMPK_NONE, v))
            return true;
        if ((c->leaves & OMPL_TASKLOOP) && names(c, OMPC_REDUCTION, OMPK_NONE, v))
            return true;
        if (c->leaves & (OMPL_PARALLEL | OMPL_TEAMS | OMPL_TARGET))
            return false;
        for (unsigned i = 0; i < c->nsharings; i++)
            if (c->sharings[i].var == v && c->sharings[i].share != OMPSH_SHARED)
                return false;
    }
    return false;
}

static void check_in_reduction(struct fe *fe, const struct omp_construct *c,
                               const struct omp_clause *k)
{
    for (unsigned i = 0; i < k->nitems; i++) {
        const struct omp_var *v = k->items[i].var;
        if (v && (c->leaves & OMPL_TARGET) && v->declare_target != OMPV_NOT_DECLARED)
            fe_unsupported(fe, k->items[i].place, UNSUPPORTED_IN_REDUCTION_GLOBAL, v->name,
                           c->spelling);
        else if (v && c->on_device && !has_owner(c, v))
            fe_error_at(fe, k->items[i].place,
                        "'in_reduction' variable '%s': no 'task_reduction' or 'reduction(task, …)' "
                        "of it stands around '%s' in this "
                        "function and parallel region",
                        v->name, c->spelling);
    }
}

/* ------------------------------------------------------------------ worksharing */
/* The item's object must be one for all threads of the parallel region.  (What a pointer points to
 * may be, however private the pointer.) */
static bool is_private(const struct omp_construct *c, const struct omp_var *v)
{
    if (v->storage == OMPS_GLOBAL || v->storage == OMPS_STATIC_LOCAL)
        return false;
    for (c = c->parent; c; c = c->parent) {
        if (fe_inside(v->decl, c->body))
            return true;
        for (unsigned i = 0; i < c->nsharings; i++)
            if (c->sharings[i].var == v && c->sharings[i].share != OMPSH_SHARED &&
                !(c->leaves & OMPL_TASKGROUP))
                return true;
        if (c->leaves & (OMPL_PARALLEL | OMPL_TARGET))
            return false;
    }
    return false;
}

static bool in_parallel(const struct omp_construct *c)
{
    for (c = c->parent; c && !(c->leaves & (OMPL_TARGET | OMPL_PARALLEL)); c = c->parent) {}
    return c && (c->leaves & OMPL_PARALLEL);
}

static void check_shared(struct fe *fe, const struct omp_construct *c, const struct omp_clause *k)
{
    if (!(c->leaves & (OMPL_FOR | OMPL_SECTIONS | OMPL_SCOPE)) ||
        (c->leaves & (OMPL_PARALLEL | OMPL_DISTRIBUTE)) || !in_parallel(c))
        return;
    for (unsigned i = 0; i < k->nitems; i++)
        if (k->items[i].var && !k->items[i].derefs && is_private(c, k->items[i].var))
            fe_error_at(fe, k->items[i].place,
                        "reduction variable '%s' of '%s' must be shared in the parallel region",
                        k->items[i].var->name, c->spelling);
}

static void check_task_modifier(struct fe *fe, const struct omp_construct *c,
                                const struct omp_clause *k)
{
    if (k->keyword != OMPK_TASK)
        return;
    if (fe_clause(c, OMPC_NOWAIT) && !(c->leaves & OMPL_TARGET))
        fe_error_at(fe, k->place,
                    "'reduction' with the 'task' modifier and 'nowait' on the same construct");
    if ((c->written & OMPL_LOOP) ||
        !(c->leaves & (OMPL_PARALLEL | OMPL_FOR | OMPL_SECTIONS | OMPL_SCOPE)))
        fe_error_at(fe, k->place, "'reduction' with the 'task' modifier is not allowed on '%s'",
                    c->spelling);
}

void fe_check_reduction(struct fe *fe, const struct omp_construct *c, const struct omp_clause *k)
{
    for (unsigned i = 0; i < k->nitems; i++) {
        check_item(fe, k, &k->items[i]);
        check_parts(fe, c, k, i);
    }
    if (k->kind == OMPC_IN_REDUCTION)
        check_in_reduction(fe, c, k);
    if (k->kind != OMPC_REDUCTION)
        return;
    check_shared(fe, c, k);
    check_task_modifier(fe, c, k);
}
