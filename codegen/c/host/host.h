/* host.h - the host writer: the preprocessed file with target and data constructs turned into calls
 * of the host runtime.  Its result is cg_write_host_c (codegen/c/codegen.h).
 *
 * In:   the unit, and for each target construct its plan (plan.h).
 * Out:  the host text: the runtime's declarations, the user's text, tables of the unit.
 *
 * Order within a target construct: if condition, region, maps, parameters, launch, call, and the
 * user's construct, which runs where the call says so. */
#ifndef OMPGPU_C_HOST_H
#define OMPGPU_C_HOST_H
#include "codegen/c/clause.h"
#include "codegen/c/plan.h"
#include "codegen/c/text/text.h"

/* Writes the arrays @maps and, where there is a plan, @params of a construct (host/map.c).  Returns
 * the number of map entries; without any there is no @maps. */
unsigned cg_maps(struct cg *, const struct omp_construct *, const struct cg_plan *);
/* target update of sections with gaps: writes a call for each part without (host/map.c). */
void cg_update_parts(struct cg *, const struct omp_construct *);
#endif
