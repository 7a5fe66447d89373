/* cancel.c - cancel and cancellation point.
 *
 * The threads of the construct that may be cancelled have a flag, in team-shared memory; in a
 * region of one thread it is that thread's own.  Who finds it set goes to the end of what is shared
 * out, where reductions and the barrier of the construct follow:
 *
 *   {
 *       __label__ @end_12_9;
 *       static __OMPGPU_SHARED int @shared;
 *       int @own, *const @flag_12_9 = __ompgpu_cancellable((void *)&@shared, &@own, 12);
 *       for (…) {
 *           …
 *           if (__ompgpu_cancel(@flag_12_9, 1)) { goto @end_12_9; }
 *       }
 *   @end_12_9:;
 *   }
 *
 * A task that is cancelled has only the label: the runtime knows the taskgroup (device/task.c). */
#include "codegen/c/device/device.h"

static const char *name_of(struct cg *cg, const char *what, const struct omp_construct *c)
{
    return cg_strf(cg, "@%s_%u_%u", what, c->place.line, c->place.col);
}

static bool is_task(const struct omp_construct *c)
{
    return (c->leaves & (OMPL_TASK | OMPL_TASKLOOP)) != 0;
}

void cg_open_cancellable(struct cg *cg, const struct omp_construct *c)
{
    if (!c->cancelled)
        return;
    cg_open_scope(cg);
    cg_line(cg, "__label__ %s;", name_of(cg, "end", c));
    if (is_task(c))
        return;
    cg_line(cg, "static __OMPGPU_SHARED int @shared __OMPGPU_SHARED_INIT;");
    cg_line(cg, "int @own, *const %s = __ompgpu_cancellable((void *)&@shared, &@own, %u);",
            name_of(cg, "flag", c), c->place.line);
}

void cg_close_cancellable(struct cg *cg, const struct omp_construct *c)
{
    if (!c->cancelled)
        return;
    cg_line(cg, "%s:;", name_of(cg, "end", c));
    cg_close(cg);
}

void cg_cancel(struct cg *cg, const struct omp_construct *c)
{
    const struct omp_clause *k = cg_clause(c, OMPC_IF);
    const char *request = c->directive != OMPDIR_CANCEL ? "0"
                          : k ? cg_strf(cg, "(%s) != 0", cg_expr(cg, k->expr.extent))
                              : "1";
    if (!c->cancels) {
        if (c->directive == OMPDIR_CANCEL)
            cg_line(cg, "__ompgpu_not_cancelled(%s, %u);", request, c->place.line);
        return;
    }
    if (is_task(c->cancels))
        cg_open(cg, "if (__ompgpu_cancel_taskgroup(%s))", request);
    else
        cg_open(cg, "if (__ompgpu_cancel(%s, %s))", name_of(cg, "flag", c->cancels), request);
    cg_line(cg, "goto %s;", name_of(cg, "end", c->cancels));
    cg_close(cg);
}
