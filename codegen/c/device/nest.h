/* nest.h - a loop nest while it is written; shared by loops.c, levels.c and last.c. */
#ifndef OMPGPU_C_NEST_H
#define OMPGPU_C_NEST_H
#include "codegen/c/device/trips.h"

struct nest {
    const struct omp_construct *c;
    unsigned n;
    struct {
        const char *type, *u, *lb, *ub, *step;
        const char *trip; /* the variable with its trip count */
        const char *at;   /* of what counts it: an iterator or a digit */
        bool one, zero;   /* step 1; lb 0 */
    } l[OMP_MAX_LOOPS];
    bool covering;             /* the kernel has such a form beside the strided one, … */
    bool covered;              /* … or has no strided one: a thread runs its own iteration */
    bool tiled;                /* it has a tiled form beside these */
    const char *first, *ahead; /* in a batch of int: the number of its first iteration, and how far
                                  another one is ahead of it */
    const char *end;           /* iterations of the outer loops up to the last with inner ones;
                                  NULL: nothing depends on it */
    const char *k;             /* type of logical iteration numbers */
    unsigned width;            /* … in bits, 32 or 64 */
    const char *total;
};
/* Value of the induction variable of loop j in its logical iteration k. */
const char *cg_iv_value(struct cg *, const struct nest *, unsigned j, const char *k);
/* Digit j of iteration k of the nest. */
const char *cg_digit_of(struct cg *, const struct nest *, unsigned j, const char *k);
/* The number of the iteration among all of the nest; all: how many there are. */
const char *cg_number_in_nest(struct cg *, const struct nest *, bool all);

/* ------------------------------------------------------------------ levels.c */
enum cg_level_kind { BLOCK, CHUNK, DYNAMIC, RUNTIME, CYCLIC, SERIAL };
struct level {
    enum cg_level_kind kind;
    enum cg_who who;
    const struct omp_clause *clause; /* with the size of chunks, or NULL */
};
enum { CG_MOST_LEVELS = 3 };
/* Both write up to CG_MOST_LEVELS levels and return how many. */
unsigned cg_schedule_levels(const struct cg *, struct level *, enum cg_who,
                            const struct omp_clause *sched, const struct omp_clause *dist);
/* Of a taskloop that says how large its tasks are; 0: it is none. */
unsigned cg_task_levels(struct level *, const struct omp_construct *, const struct cg_privates *);
/* Number of a taker and how many there are; both, as two arguments. */
const char *cg_taker(struct cg *, enum cg_who);
const char *cg_taker_count(struct cg *, enum cg_who);
const char *cg_takers(struct cg *, enum cg_who);

/* ------------------------------------------------------------------ last.c */
/* Do last values depend on whether inner loops have iterations? */
bool cg_needs_end(const struct nest *, const struct cg_privates *);
/* Then, before the loop: where the last such iteration is. */
void cg_search_end(struct cg *, struct nest *);
/* In iteration k, NULL: that of the digits. */
void cg_note_end(struct cg *, const struct nest *, const char *k);
/* After the loop. */
void cg_store_last_values(struct cg *, const struct nest *, const struct cg_privates *);
#endif
