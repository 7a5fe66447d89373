/* clause.h - what a construct says about itself, for both writers.  Pure functions of the unit;
 * results point into it. */
#ifndef OMPGPU_C_CLAUSE_H
#define OMPGPU_C_CLAUSE_H
#include "frontend/unit.h"

/* The first clause of this kind; NULL: there is none. */
const struct omp_clause *cg_clause(const struct omp_construct *, enum omp_clause_kind);
/* nowait, whose argument, where it has one, is a constant that says so */
bool cg_never_waits(const struct omp_construct *);
/* The if clause that applies to a leaf; NULL: there is none. */
const struct omp_clause *cg_if(const struct omp_construct *, enum omp_leaf);
/* How the construct shares the variable; NULL: it says nothing. */
const struct omp_sharing *cg_sharing(const struct omp_construct *, const struct omp_var *);
/* Is it a reduction with the inscan modifier? */
bool cg_is_scan(const struct omp_sharing *);
/* The positive constant of the clause's argument; 0: it has none, or there is no clause. */
unsigned cg_constant(const struct omp_clause *);
#endif
