/* trips.c - bounds of loops and how many iterations there are, in the device's text and, before a
 * launch, in the host's (section 4.4.2 of OpenMP 5.2). */
#include "codegen/c/device/trips.h"
#include <string.h>

/* ------------------------------------------------------------------ bounds */
/* A constant that is written as digits wherever it is used. */
bool cg_is_digits(const struct omp_expr *x)
{
    return x->is_constant && x->value >= 0 && x->value < 1000000000 && x->type->is_signed &&
           x->type->size == sizeof(int);
}

const char *cg_value_of(struct cg *cg, const struct omp_expr *x)
{
    return cg_is_digits(x) ? cg_strf(cg, "%d", (int)x->value) : cg_expr(cg, x->extent);
}

bool cg_is_one(const struct omp_expr *step)
{
    return cg_empty(step->extent) || (step->is_constant && step->value == 1);
}

/* Of a constant with the expression's value; NULL: not known. */
static const char *type_of(struct cg *cg, const struct omp_expr *x)
{
    const struct omp_type *t = x->type;
    bool promoted = t && t->kind == OMPT_INT && t->size >= sizeof(int);
    return promoted && !t->variably_modified ? cg_type(cg, t, "", CG_UNQUALIFIED) : NULL;
}

/* A value that is computed once: digits stay as they are, the rest goes into a constant.  + 0: a
 * bit-field has no type of its own. */
const char *cg_compute_once(struct cg *cg, const char *type, const char *name,
                            const struct omp_loop *l, const struct omp_expr *x)
{
    const char *value = cg_value_of(cg, x);
    if (cg_is_digits(x))
        return value;
    const char *v = cg_strf(cg, "@%s_%s", name, l->iv->name);
    type = type ? type : type_of(cg, x);
    if (!type)
        cg_line(cg, "const __auto_type %s = (%s) + 0;", v, value);
    else if (l->iv->type->kind == OMPT_POINTER)
        cg_line(cg, "%s const %s = %s;", type, v, value);
    else
        cg_line(cg, "const %s %s = %s;", type, v, value);
    return v;
}

/* In arithmetic of type u; what value_of writes as digits takes part in it as it is. */
const char *cg_in_type(struct cg *cg, const char *u, const char *value)
{
    bool digits = !value[strspn(value, "0123456789")];
    return digits ? value : cg_strf(cg, "(%s)%s", u, value);
}

static const char *difference(struct cg *cg, const struct omp_loop *l, const char *u,
                              const char *high, const char *low)
{
    if (l->iv->type->kind == OMPT_POINTER)
        return cg_strf(cg, "(%s)(%s - %s)", u, high, low);
    return !strcmp(low, "0")
               ? cg_in_type(cg, u, high)
               : cg_strf(cg, "(%s - %s)", cg_in_type(cg, u, high), cg_in_type(cg, u, low));
}

/* The trip count of a loop in steps of 1 between constants; -1: it is none. */
int64_t cg_constant_trip(const struct omp_loop *l)
{
    if (!cg_is_one(&l->step) || !cg_is_digits(&l->lb) || !cg_is_digits(&l->ub) ||
        l->rel == OMPREL_NE)
        return -1;
    bool upwards = l->rel == OMPREL_LT || l->rel == OMPREL_LE,
         inclusive = l->rel == OMPREL_LE || l->rel == OMPREL_GE;
    int64_t n = upwards ? l->ub.value - l->lb.value : l->lb.value - l->ub.value;
    return n < 0 ? 0 : n + inclusive;
}

/* The step where it is not computed once. */
const char *cg_step_of(struct cg *cg, const struct omp_loop *l)
{
    return cg_empty(l->step.extent) ? "1" : cg_strf(cg, "(%s)", cg_expr(cg, l->step.extent));
}

/* The trip count, section 4.4.2. */
const char *cg_trip_of(struct cg *cg, const struct omp_loop *l, const char *u, const char *lb,
                       const char *ub, const char *step, bool one)
{
    static const char *const relation[] = {
        [OMPREL_LT] = "<", [OMPREL_LE] = "<=", [OMPREL_GT] = ">", [OMPREL_GE] = ">="
    };
    const char *up = difference(cg, l, u, ub, lb), *down = difference(cg, l, u, lb, ub);
    if (l->rel == OMPREL_NE) /* the step is the constant 1 or -1 */
        return one ? l->step_negative ? down : up
                   : cg_strf(cg, "%s %c 0 ? %s : %s", step, l->step_negative ? '<' : '>', up, down);
    bool upwards = l->rel == OMPREL_LT || l->rel == OMPREL_LE,
         inclusive = l->rel == OMPREL_LE || l->rel == OMPREL_GE;
    const char *distance = upwards ? up : down;
    if (cg_constant_trip(l) >= 0) /* no comparison to read */
        return cg_strf(cg, "%lld", (long long)cg_constant_trip(l));
    if (one)
        return cg_strf(cg, "%s %s %s ? %s%s : 0", lb, relation[l->rel], ub, distance,
                       inclusive ? " + 1" : "");
    const char *size = upwards == !l->step_negative ? cg_in_type(cg, u, step)
                                                    : cg_strf(cg, "(0 - (%s)%s)", u, step);
    return cg_strf(cg, "%s %s %s ? (%s%s) / %s + 1 : 0", lb, relation[l->rel], ub, distance,
                   inclusive ? "" : " - 1", size);
}

/* ------------------------------------------------------------------ loops that are not rectangular
 * The bounds of a loop may use the variable of an outer one, linearly.  Then its trip count is
 * largest at that one's first or last iteration, with which the nest is taken for a box; an
 * iteration of the box runs the body where the loop has it. */
const char *cg_trip_here(struct cg *cg, const struct omp_loop *l)
{
    return cg_strf(cg, "({ const %s @lb = %s; const __auto_type @ub = (%s) + 0; %s; })",
                   cg_type(cg, l->iv->type, "", CG_UNQUALIFIED), cg_expr(cg, l->lb.extent),
                   cg_expr(cg, l->ub.extent),
                   cg_trip_of(cg, l, cg_unsigned(l->iv->type), cg_strf(cg, "@lb"),
                              cg_strf(cg, "@ub"), cg_step_of(cg, l), cg_is_one(&l->step)));
}

const char *cg_trip_where(struct cg *cg, const struct omp_loop *l, const char *outer)
{
    const char *saved = cg_bind(cg, l->outer->iv, outer);
    const char *s = cg_trip_here(cg, l);
    cg_bind(cg, l->outer->iv, saved);
    return s;
}

/* lb, n and step: of the outer loop. */
const char *cg_longest_trip(struct cg *cg, const struct omp_loop *l, const char *lb, const char *n,
                            const char *step)
{
    const char *type = cg_type(cg, l->outer->iv->type, "", CG_UNQUALIFIED),
               *u = cg_unsigned(l->outer->iv->type);
    return cg_strf(cg,
                   "(%s) ? ({ const %s @first = %s, @last = (%s)@first %c ((%s)(%s) - 1) * (%s)%s; "
                   "const %s @a = %s, @b = %s; @a > @b ? @a : @b; }) : 0",
                   n, type, lb, u, l->outer->step_negative ? '-' : '+', u, n, u, step,
                   cg_unsigned(l->iv->type), cg_trip_where(cg, l, cg_strf(cg, "@first")),
                   cg_trip_where(cg, l, cg_strf(cg, "@last")));
}

/* ------------------------------------------------------- host: the trip count before the launch */
/* May it be evaluated before the construct?  No memory accesses: a pointer may be a device pointer,
 * and it is only a hint for the launch. */
static bool is_known_at_launch(const struct cg *cg, const struct omp_construct *target,
                               const struct omp_expr *x, const struct omp_loop *outer)
{
    const struct omp_unit *u = cg->unit;
    for (unsigned i = cg_first_ref(u, x->extent.begin);
         i < u->nrefs && u->refs[i].offset < x->extent.end; i++) {
        const struct omp_sharing *s = cg_sharing(target, u->refs[i].var);
        if (outer && u->refs[i].var == outer->iv)
            continue;
        if (u->refs[i].write || (s && s->share == OMPSH_PRIVATE) ||
            (u->refs[i].var->decl > target->pragma.begin && !u->refs[i].var->counts))
            return false;
    }
    return cg_empty(x->extent) || (x->is_pure && !x->reads_memory);
}

static const char *lower_at_launch(struct cg *cg, const struct omp_loop *l)
{
    return cg_strf(cg, "(%s)(%s)", cg_type(cg, l->iv->type, "", CG_UNQUALIFIED),
                   cg_expr(cg, l->lb.extent));
}

static const char *trip_at_launch(struct cg *cg, const struct omp_loop *l)
{
    if (l->outer)
        return cg_longest_trip(cg, l, lower_at_launch(cg, l->outer), trip_at_launch(cg, l->outer),
                               cg_step_of(cg, l->outer));
    return cg_trip_of(cg, l, cg_unsigned(l->iv->type), lower_at_launch(cg, l),
                      cg_strf(cg, "(%s)", cg_expr(cg, l->ub.extent)), cg_step_of(cg, l),
                      cg_is_one(&l->step));
}

static bool loop_is_known(const struct cg *cg, const struct omp_construct *target,
                          const struct omp_loop *l)
{
    return is_known_at_launch(cg, target, &l->lb, l->outer) &&
           is_known_at_launch(cg, target, &l->ub, l->outer) &&
           is_known_at_launch(cg, target, &l->step, NULL) && !l->iv->type->variably_modified;
}

const char *cg_trip(struct cg *cg, const struct omp_construct *target)
{
    return cg_inner_trip(cg, target, target->spmd_inner ? target->spmd_inner : target);
}

const char *cg_first(struct cg *cg, const struct omp_construct *target)
{
    return lower_at_launch(cg, &target->spmd_inner->loops[0]);
}

const char *cg_inner_trip(struct cg *cg, const struct omp_construct *target,
                          const struct omp_construct *c)
{
    const char *product = NULL;
    for (unsigned j = 0; j < c->nloops; j++) {
        if (!loop_is_known(cg, target, &c->loops[j]))
            return NULL;
        const char *t = trip_at_launch(cg, &c->loops[j]);
        product = product ? cg_strf(cg, "%s * (%s)", product, t)
                          : cg_strf(cg, "(unsigned long long)(%s)", t);
    }
    return product;
}

static bool is_exact(const struct cg *cg, const struct cg_plan *p, const struct omp_expr *x,
                     const struct omp_loop *outer)
{
    return cg_empty(x->extent) ||
           (x->is_integer && cg_is_stable(cg, p, x, outer ? outer->iv : NULL));
}

bool cg_trips_are_exact(const struct cg *cg, const struct cg_plan *p)
{
    for (unsigned j = 0; j < p->inner->nloops; j++) {
        const struct omp_loop *l = &p->inner->loops[j];
        if (l->iv->type->kind != OMPT_INT || !is_exact(cg, p, &l->lb, l->outer) ||
            !is_exact(cg, p, &l->ub, l->outer) || !is_exact(cg, p, &l->step, NULL))
            return false;
    }
    return true;
}

const char *cg_declare_trips(struct cg *cg, const struct cg_plan *p, const char *suffix,
                             const char **product)
{
    const char *list = "";
    *product = "";
    for (unsigned j = 0; j < p->inner->nloops; j++) {
        const char *name = cg_strf(cg, "@trip%u%s", j, suffix), *comma = j ? ", " : "";
        cg_line(cg, "const unsigned long long %s = %s;", name,
                trip_at_launch(cg, &p->inner->loops[j]));
        list = cg_strf(cg, "%s%s%s", list, comma, name);
        *product = cg_strf(cg, "%s%s%s", *product, j ? " * " : "", name);
    }
    return cg_strf(cg, "{ %s }", list);
}
