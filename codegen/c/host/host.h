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
/* Writes the array @maps, or adds to @list, and, where there is a plan, writes the array @params of
 * a construct (host/map.c).  Returns the number of map entries; without any there is no @maps. */
unsigned cg_maps(struct cg *, const struct omp_construct *, const struct cg_plan *);

/* The whole text, but for functions of system headers that nothing mentions (unneeded.c). */
void cg_copy_needed(struct cg *);

/* ------------------------------------------------------------------ version.c */
/* The declare reductions that changed clauses name; nothing where there are none. */
void cg_host_reductions(struct cg *);
/* A target construct as the host runs it, in a scope of its own. */
void cg_host_version(struct cg *, const struct omp_construct *);
/* Any other construct, but for what clang cannot compile; is there anything of that? */
void cg_host_construct(struct cg *, const struct omp_construct *);
bool cg_host_changes(const struct omp_construct *);
#endif
