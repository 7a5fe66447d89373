/* device.h - the device writer: types, variables and functions that the device needs, and a kernel
 * for each target region.  Its result is cg_write_device_c (codegen/c/codegen.h).
 *
 * In:   the unit; for each region its plan (plan.h).
 * Out:  the device text (codegen/c/codegen.h shows one).
 *
 * Order: device/device.c goes through the file's declarations and writes those that the device
 * needs; before each function device/region.c writes the regions in it.  Within a body the copier
 * (text/copy.c) hands each construct to cg_device_construct, which calls one writer per kind of
 * construct; these copy bodies, and so come back here for constructs inside.  Outlined parallel
 * bodies, records and locks go to cg.before, and so precede the function.  In the end
 * device/header_types.c puts in the types of system headers that all this names.
 *
 * construct.c and parallel.c call each other: teams may be combined with parallel, and what remains
 * of a parallel construct is written like any other. */
#ifndef OMPGPU_C_DEVICE_H
#define OMPGPU_C_DEVICE_H
#include "codegen/c/clause.h"
#include "codegen/c/plan.h"
#include "codegen/c/reduce/reduce.h"
#include "codegen/c/text/text.h"

/* ------------------------------------------------------------------ the file (device/device.c) */
/* The name of a declare target variable in the image. */
const char *cg_export_id(struct cg *, const struct omp_var *);
/* Has it a device copy or, `link`, a device pointer? */
bool cg_is_device_variable(const struct omp_var *);

/* ------------------------------ -Rompgpu (device/describe.c) */
void cg_describe_regions(struct cg *, FILE *);

/* ------------------------------ types of system headers (device/header_types.c) */
/* Where they belong in cg.out: declarations first … end - 1 of the unit. */
struct cg_gap {
    size_t at;
    unsigned first, end;
};
struct cg_gaps {
    struct cg_gap *list;
    unsigned n, capacity;
};
/* Instead of writing the declaration, which is on_demand. */
void cg_note_gap(struct cg *, struct cg_gaps *, unsigned decl);
/* When all is written: puts the types that cg.out names into their places. */
void cg_fill_gaps(struct cg *, const struct cg_gaps *);

/* ------------------------------------------------------------------ regions (device/region.c) */
/* Writes region function, info and kernel of a target construct. */
void cg_region(struct cg *, const struct omp_construct *);
/* The name that the strided kernel has, where there is one beside the covering one. */
const char *cg_strided_kernel(struct cg *, const struct omp_construct *target);

/* ------------------- constructs (construct.c, atomic.c, task.c, parallel.c in device/) */
/* Writes a construct of device code, as one statement. */
void cg_device_construct(struct cg *, const struct omp_construct *);
/* What remains of a construct, `leaves`, when teams and parallel are dealt with; opens and closes
 * the private copies, which the caller has collected. */
void cg_inner_construct(struct cg *, const struct omp_construct *, unsigned leaves,
                        struct cg_privates *);
/* teams in a generic kernel, with its private copies; sets cg.teams_… */
void cg_teams(struct cg *, const struct omp_construct *, unsigned leaves);
/* parallel that is outlined: the function goes to cg.before, the call here. */
void cg_parallel(struct cg *, const struct omp_construct *, unsigned leaves);
void cg_atomic(struct cg *, const struct omp_construct *);
/* ordered.c: an ordered region; loops whose iterations take turns there: around the loop, and at
 * the begin of an iteration */
void cg_ordered(struct cg *, const struct omp_construct *);
bool cg_takes_turns(const struct cg *, const struct omp_construct *loop);
void cg_open_turns(struct cg *, const struct omp_construct *);
void cg_close_turns(struct cg *, const struct omp_construct *);
void cg_turn(struct cg *, const struct omp_construct *, const char *number);
/* Who shares the iterations; ALL_THREADS: of the league; LANES: those that run an iteration of it.
 */
enum cg_who { CG_TEAM, CG_THREAD, CG_ALL_THREADS, CG_ONE, CG_LANES };
/* lanes.c: the form in which several lanes of a warp run an iteration of the league's loop; false:
 * the region has none. */
enum { CG_MOST_LENGTHS = 2 };
struct cg_lanes {
    unsigned n, lengths[CG_MOST_LENGTHS]; /* how many lanes, a kernel each */
    const char *trip; /* in host text: how long the loop inside is, NULL: not known; then … */
    unsigned rows;    /* … the number of the parameter that has the rows' ends, from 1; 0: none */
};
bool cg_find_lanes(struct cg *, const struct cg_plan *, struct cg_lanes *);
/* Why not, or how, for remarks; NULL: nothing asks for it. */
const char *cg_lanes_words(struct cg *, const struct cg_plan *);
void cg_loop_by_lanes(struct cg *, const struct omp_construct *);
/* The same within the kernel, for a loop that the threads of a team share: is there such a form;
 * how many lanes, in device text; and words. */
bool cg_shares_rows(const struct cg *, const struct omp_construct *, enum cg_who);
const char *cg_free_lanes(struct cg *, const struct omp_construct *, const char *rows);
const char *cg_team_lanes_words(struct cg *, const struct omp_construct *);
/* cancel.c: around what threads leave when the construct is cancelled */
void cg_open_cancellable(struct cg *, const struct omp_construct *);
void cg_close_cancellable(struct cg *, const struct omp_construct *);
void cg_cancel(struct cg *, const struct omp_construct *);
void cg_taskgroup(struct cg *, const struct omp_construct *);
/* Around a task or taskloop, after which cg->out->open is `open` again. */
void cg_taskwait(struct cg *, const struct omp_construct *);
void cg_open_task(struct cg *, const struct omp_construct *, unsigned leaves);
void cg_close_task(struct cg *, const struct omp_construct *, unsigned leaves, unsigned open);
/* Around a thread's part in a parallel region. */
void cg_open_implicit_task(struct cg *, const struct omp_construct *);
void cg_close_implicit_task(struct cg *, const struct omp_construct *);
/* In a loop that runs tasks, before each. */
void cg_end_cancelled_tasks(struct cg *);
/* Variables of in_reduction clauses are spelled as the taskgroup's copies, in this environment. */
void cg_bind_in_reductions(struct cg *, const struct omp_construct *);
/* States a function's assumptions, for the device tool; the function is declared before. */
void cg_function_assumptions(struct cg *, const struct omp_function *);

/* ------------------------------------------------------------------ loops (device/loops.c) */
/* The construct's loops with their bodies and private copies, shared as the clauses say, which may
 * be NULL.  Host text has CG_ONE only. */
void cg_loop_nest(struct cg *, const struct omp_construct *, enum cg_who, struct cg_privates *,
                  const struct omp_clause *schedule, const struct omp_clause *dist_schedule);
/* The number of iterations at the launch, in host text; NULL: it may not be evaluated there. */
const char *cg_trip(struct cg *, const struct omp_construct *);
/* The same of a loop inside of the target construct, and the lower bound of its first loop. */
const char *cg_inner_trip(struct cg *, const struct omp_construct *target,
                          const struct omp_construct *);
const char *cg_first(struct cg *, const struct omp_construct *target);
/* Has the region's kernel a covering form? */
enum { CG_COVERED_LOOPS = 4 }; /* struct ompgpu_launch (hostrt/ompgpu.h) */
bool cg_has_covering_form(const struct cg *, const struct cg_plan *);
/* And a strided one, for launches that do not cover the loop? */
bool cg_has_strided_form(const struct cg *, const struct cg_plan *);
/* Do the forms with lanes cover the loop? */
bool cg_lanes_cover(const struct cg *, const struct cg_plan *);
/* And a tiled one, of which the device tool decides (codegen/ir/passes/tiles.c)? */
bool cg_has_tiled_form(const struct cg *, const struct cg_plan *);
/* Declares its loops' trip counts at the launch, in host text: as an initialiser, and their
 * product. */
const char *cg_declare_trips(struct cg *, const struct cg_plan *, const char *suffix,
                             const char **product);
#endif
