/* trips.h - bounds, steps and trip counts of the loops of a nest; texts of C. */
#ifndef OMPGPU_C_TRIPS_H
#define OMPGPU_C_TRIPS_H
#include "codegen/c/device/device.h"

/* A constant that is written as digits wherever it is used. */
bool cg_is_digits(const struct omp_expr *);
const char *cg_value_of(struct cg *, const struct omp_expr *);
/* Is it the step 1? */
bool cg_is_one(const struct omp_expr *step);
/* A constant of that type, NULL: the expression's, called NAME after the loop's variable; digits
 * stay as they are. */
const char *cg_compute_once(struct cg *, const char *type, const char *name,
                            const struct omp_loop *, const struct omp_expr *);
/* In arithmetic of the unsigned type u. */
const char *cg_in_type(struct cg *, const char *u, const char *value);
/* The step where it is not computed once. */
const char *cg_step_of(struct cg *, const struct omp_loop *);
/* The trip count of a loop in steps of 1 between constants; -1: it is none. */
int64_t cg_constant_trip(const struct omp_loop *);
/* The trip count, of type u, with these bounds and this step; one: the step is 1. */
const char *cg_trip_of(struct cg *, const struct omp_loop *, const char *u, const char *lb,
                       const char *ub, const char *step, bool one);
/* That of a loop in a nest that is not rectangular, taken for a box.  lb, n and step: of the outer
 * loop. */
const char *cg_longest_trip(struct cg *, const struct omp_loop *, const char *lb, const char *n,
                            const char *step);
/* An expression that evaluates the bounds, too. */
const char *cg_trip_here(struct cg *, const struct omp_loop *);
/* That of one iteration of the outer loop, where its variable has that value. */
const char *cg_trip_where(struct cg *, const struct omp_loop *, const char *outer);
/* Does the host know all of the nest's exactly? */
bool cg_trips_are_exact(const struct cg *, const struct cg_plan *);
#endif
