/* host.h - the host writer: the preprocessed file with target and data constructs turned into calls
 * of the host runtime.  Its result is cg_write_host_c (codegen/c/codegen.h).
 *
 * In:   the unit, and for each target construct its plan (plan.h).
 * Out:  the host text: the runtime's declarations, the user's text, tables of the unit.
 *
 * Order within a target construct: if condition, region, maps, parameters, launch, call, and the
 * user's construct, which runs where the call says so.  With nowait the runtime may take the
 * construct, and a detached task stands for it. */
#ifndef OMPGPU_C_HOST_H
#define OMPGPU_C_HOST_H
#include "codegen/c/clause.h"
#include "codegen/c/plan.h"
#include "codegen/c/text/text.h"

/* Is the number of map entries known only when the construct is reached?  Then they are in @list,
 * which the caller declares before cg_maps and frees (host/map.c). */
bool cg_collects_maps(const struct omp_construct *);
/* … that list, which is empty; nothing where there is none */
void cg_declare_list(struct cg *, const struct omp_construct *);
void cg_free_list(struct cg *, const struct omp_construct *);
/* The n entries, of cg_maps, as two arguments of a call. */
const char *cg_entries_of(struct cg *, const struct omp_construct *, unsigned n);
/* Writes the array @maps, or adds to @list, and, where there is a plan, writes the array @params of
 * a construct (host/map.c).  Returns the number of map entries; without any there is no @maps. */
unsigned cg_maps(struct cg *, const struct omp_construct *, const struct cg_plan *);

/* The whole text, but for functions of system headers that nothing mentions (unneeded.c). */
void cg_copy_needed(struct cg *);

/* ------------------------------------------------------------------ region.c */
/* As expressions: the device; the condition of the leaf, or NULL. */
const char *cg_device_of(struct cg *, const struct omp_construct *);
const char *cg_condition_of(struct cg *, const struct omp_construct *, enum omp_leaf);
void cg_target(struct cg *, const struct omp_construct *);
void cg_host_region(struct cg *, const struct omp_construct *); /* device_type(host) */
/* Pointers to variables that regions name by `extern` in blocks; before and after the text. */
void cg_variables_of_blocks(struct cg *, bool after);

/* ------------------------------------------------------------------ data.c */
void cg_target_data(struct cg *, const struct omp_construct *);
void cg_enter_data(struct cg *, const struct omp_construct *);
void cg_exit_data(struct cg *, const struct omp_construct *);
void cg_update(struct cg *, const struct omp_construct *);

/* ------------------------------------------------------------------ task.c */
/* What waits for others, or takes part in a task reduction: the task around what follows. */
void cg_task_around(struct cg *, const struct omp_construct *);
/* nowait: can the runtime do it later?  any: any construct of the file */
bool cg_is_deferrable(const struct cg *, const struct omp_construct *);
bool cg_any_deferrable(const struct cg *);
/* @task = function(arguments, …): what the runtime takes, or NULL */
void cg_defer(struct cg *, const struct omp_construct *, const char *function,
              const char *arguments);
void cg_detached_task(struct cg *, const struct omp_construct *); /* of @task */
/* Where it depends on others, and the runtime has not taken it: @later, may it be done later?;
 * they have ended, unless it may and the device is the host; the task of what follows, on the host.
 */
void cg_declare_later(struct cg *, const struct omp_construct *);
void cg_wait(struct cg *, const struct omp_construct *, const char *device);
void cg_host_task(struct cg *, const struct omp_construct *);

/* ------------------------------------------------------------------ version.c */
/* The declare reductions that changed clauses name; nothing where there are none. */
void cg_host_reductions(struct cg *);
/* A target construct as the host runs it, in a scope of its own. */
void cg_host_version(struct cg *, const struct omp_construct *);
/* Any other construct, but for what clang cannot compile; is there anything of that? */
void cg_host_construct(struct cg *, const struct omp_construct *);
bool cg_host_changes(const struct cg *, const struct omp_construct *);
#endif
