/* lanes.h - loops of a league whose iterations may each be run by several lanes of a warp; shared
 * by the files of this folder.  lanes.c has the idea. */
#ifndef OMPGPU_LANES_H
#define OMPGPU_LANES_H
#include "frontend/fe.h"

/* An access to memory in an inner loop. */
struct lanes_access {
    CXCursor lvalue;
    struct omp_var *var; /* the array, or the pointer that is followed; NULL: not known */
    bool written;
};
typedef VEC(struct lanes_access) lanes_accesses;

/* What is being read: the body of a league's or team's loop, or of a function that it calls. */
struct lanes_row {
    struct fe *fe;
    struct omp_construct *loop;           /* the league's or team's; NULL: it is a function */
    const struct omp_construct *parallel; /* of a team's loop: its parallel region */
    struct omp_extent body;
    unsigned depth; /* of functions that call each other */
    bool reads;     /* a function: more than its parameters and variables */

    unsigned repeats;                   /* loops around what is being read, in the row */
    const struct omp_construct *within; /* which is being read, or NULL */
    struct omp_construct *inner;        /* whose body is being read, or NULL */
    lanes_accesses accesses;            /* there */
    CXCursor lower, upper;              /* bounds of the first such loop */

    /* what stands in the way; NULL: nothing yet */
    const char *why;
    struct omp_place place;

    VEC(struct omp_guard) guards;
    VEC(struct omp_construct *) found; /* inner loops, and atomic constructs beside them */
    /* why all lanes would not gain anything; NULL: they would */
    const char *unsuited;
    unsigned cost; /* expressions outside of inner loops, which all lanes evaluate */
};

/* body.c: statements and what they do */
enum lanes_effect {
    LANES_KEEPS = 1, /* sets a variable of which each lane has a copy */
    LANES_ONCE = 2,  /* one lane has to do it */
};
void lanes_statement(struct lanes_row *, CXCursor);
unsigned lanes_value(struct lanes_row *, CXCursor); /* enum lanes_effect bits */
/* The first obstacle counts; 0. */
unsigned lanes_refuse(struct lanes_row *, unsigned offset, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
enum lanes_home {
    LANES_OF_ROW,    /* each lane has a copy, all of the same value */
    LANES_OF_LOOP,   /* … of iterations of the inner loop */
    LANES_OF_MEMORY, /* all threads share it */
    LANES_OF_TALLY,  /* the loop around reduces into it */
    LANES_OF_THREAD, /* each thread of the parallel region has its own, from before the loop */
    LANES_FIXED      /* nobody sets it */
};
enum lanes_home lanes_home_of(const struct lanes_row *, const struct omp_var *);

/* inner.c: a loop that lanes may share, and its statement */
bool lanes_is_inner(const struct omp_construct *);
void lanes_inner(struct lanes_row *, struct omp_construct *, CXCursor);

/* memory.c: the accesses of r->inner.  May its iterations be run in any order?  Do lanes next to
 * each other access elements next to each other? */
void lanes_check_order(struct lanes_row *);
bool lanes_suit(const struct lanes_row *);
#endif
