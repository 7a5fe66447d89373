/* plan.h - the plan of a target construct: what the device and the host writer must agree on.
 *
 * In:   a target construct as the frontend classified it (spmd_inner, captures, sharings).
 * Out:  how the kernel runs (SPMD or generic), its parameters in the order in which both texts pass
 *       them, and the constructs whose reductions end with the teams region.
 *
 * Order: parameters first, since the owner of a reduction's original depends on how it is passed.
 */
#ifndef OMPGPU_C_PLAN_H
#define OMPGPU_C_PLAN_H
#include "frontend/unit.h"

struct cg;
struct cg_deferred; /* reduce/reduce.h */

/* How a kernel parameter is made. */
enum cg_pass {
    CG_PASS_BOUND,        /* run-time bound number `bound` of var */
    CG_PASS_VALUE,        /* the variable's value */
    CG_PASS_POINTER,      /* the value of a pointer variable, translated through map `map` */
    CG_PASS_LOOKUP,       /* the same, translated if it points into mapped storage */
    CG_PASS_ADDRESS,      /* device address of the variable, from map `map` */
    CG_PASS_COPY,         /* device address of a fresh copy of the variable, for this launch */
    CG_PASS_HOST_ADDRESS, /* has_device_addr: the variable's address, as it is */
};
struct cg_param {
    const struct omp_var *var;
    enum cg_pass pass;
    unsigned bound;
    int map;
    bool one_copy; /* threads that share it rely on each other's writes */
};
struct cg_plan {
    struct cg_param *params;
    unsigned nparams;
    bool spmd, workers;
    /* SPMD: the tightly nested constructs, outermost first; else just the target construct */
    const struct omp_construct *chain[8];
    unsigned nchain;
    const struct omp_construct *inner; /* the last of them */
    unsigned leaves;                   /* of all of the chain */
    /* the construct with the teams leaf, NULL without */
    const struct omp_construct *teams;
    bool reduction; /* over the league */
    /* reductions on constructs in the teams region that end with it (reduce/deferred.c) */
    struct cg_deferred *deferred;
    unsigned ndeferred;
};
/* Fills the plan, which the caller frees with cg_free_plan. */
void cg_make_plan(struct cg *, const struct omp_construct *target, struct cg_plan *);
void cg_free_plan(struct cg_plan *);

/* How the kernel gets the variable; NULL: it is no parameter. */
const struct cg_param *cg_parameter_of(const struct cg_plan *, const struct omp_var *);
bool cg_is_by_value(const struct cg_param *); /* false for NULL */
/* A parameter passed by value that is never written: all teams and, where it is a number, the host
 * see the same. */
bool cg_is_constant_param(const struct cg *, const struct cg_plan *, const struct omp_var *);
/* Arithmetic on constants and such parameters, and on `besides`, which may be NULL. */
bool cg_is_stable(const struct cg *, const struct cg_plan *, const struct omp_expr *,
                  const struct omp_var *besides);
#endif
