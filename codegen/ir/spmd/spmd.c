/* spmd.c - tries each generic kernel, and says what became of it; spmd.h explains the idea. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"
#include "codegen/ir/report/report.h"
#include "codegen/ir/spmd/plan.h"
#include <stdlib.h>

/* Who steps through code wants to see one thread in its sequential parts. */
bool ir_wants_spmd(const struct ir_unit *u, const struct ir_input *in)
{
    return in->mode == IR_MODE_SPMD ||
           (in->mode == IR_MODE_AUTO && !(u->opt->level == '0' && u->opt->debug));
}

/* ------------------------------------------------------------------ obstacles */
void spmd_refuse(struct spmd_region *r, LLVMValueRef where, const char *why, const char *id,
                 const char *remedy)
{
    if (r->why)
        return;
    r->why = why;
    r->id = id;
    r->remedy = remedy;
    r->where = where;
}

static void note_obstacle(const struct spmd_region *r)
{
    struct ir_kernel *k = r->kernel;
    k->why = r->why;
    k->id = r->id ? r->id : "OMP121";
    k->remedy = r->remedy;
    k->why_at = ir_place_of(k, r->where);
    ir_note(k, k->why_at, k->id, "region '%s' stays in generic mode because of %s%s%s", k->name,
            k->why, k->remedy ? "; " : "", k->remedy ? k->remedy : "");
}

static void refuse_flag(const struct ir_kernel *k)
{
    ir_say_at(k->why_at.file ? k->why_at : k->at, DIAG_ERROR,
              "region '%s' cannot run in SPMD mode, as -fompgpu-mode=spmd demands, because of %s",
              k->name, k->why);
}

/* ------------------------------------------------------------------ conversion */
static void set_mode(struct ir_unit *u, struct ir_kernel *k)
{
    IR_EACH_INSTRUCTION_OF(i, ir_kernel_function(u->module, k))
        if (ir_is_call_of(i, "__ompgpu_kernel_begin") || ir_is_call_of(i, "__ompgpu_kernel_end"))
            LLVMSetOperand(i, 1, LLVMConstInt(LLVMTypeOf(LLVMGetOperand(i, 1)), IR_SPMD, false));
    k->mode = IR_SPMD;
    k->late = true;
}

/* Each object that turns out not to be the main thread's is taken for a shared one the next time;
 * loops that would need many barriers are left to the main thread. */
static struct spmd_plan *try_plan(struct spmd_region *r)
{
    *r = (struct spmd_region){ .u = r->u,
                               .kernel = r->kernel,
                               .function = r->function,
                               .objects = r->objects,
                               .main_loops = r->main_loops };
    if (r->main_loops)
        ir_run_function_passes(r->function, "loop-simplify,lcssa", NULL);
    spmd_find_objects(r);
    return r->why ? NULL : spmd_make_plan(r);
}

static void note_objects(const struct spmd_region *r)
{
    for (unsigned i = 0; i < r->nobjects && r->kernel->input->report; i++) {
        const struct spmd_object *o = &r->objects[i];
        struct ir_variable v = ir_variable_of(r->u, r->kernel, o->alloca);
        if (o->storage == SPMD_SHARED)
            ir_note_shared(r->u, r->kernel, o->alloca, o->bytes, o->in_heap, IR_SPMD_SHARED_BYTES);
        else if (v.name)
            ir_note(r->kernel, v.at, "OMP110", "%s is %s", v.text,
                    o->storage == SPMD_MAIN ? "used only by the main thread"
                                            : "private to each thread");
    }
}

static void count_objects(const struct spmd_region *r)
{
    for (unsigned i = 0; i < r->nobjects; i++)
        ++*(r->objects[i].storage == SPMD_SHARED ? &r->kernel->shared_locals
            : r->objects[i].storage == SPMD_MAIN ? &r->kernel->main_locals
                                                 : &r->kernel->private_locals);
}

static void convert_region(struct spmd_region *r, struct spmd_plan *plan)
{
    struct ir_kernel *k = r->kernel;
    note_objects(r);
    spmd_rewrite(r, plan);
    set_mode(r->u, k);
    k->guards = r->guards;
    k->broadcast_bytes = r->broadcast_bytes;
    k->partial = r->partial;
    k->placed = r->barriers;
    k->folded = r->folded;
    k->shared_local_bytes = r->shared_bytes;
    count_objects(r);
    ir_set_string_attribute(r->function, IR_ALL_THREADS, "");
}

static void convert(struct ir_unit *u, struct ir_kernel *k, LLVMValueRef f)
{
    struct spmd_region r = { .u = u, .kernel = k, .function = f };
    struct spmd_plan *plan;
    do
        plan = try_plan(&r);
    while (r.again);
    if (plan)
        convert_region(&r, plan);
    else
        note_obstacle(&r);
    k->regions = r.regions;
}

static bool convert_all(struct ir_unit *u)
{
    LLVMValueRef *functions = mem_array(u->nkernels, sizeof *functions);
    bool any = spmd_prepare(u, functions);
    for (unsigned i = 0; any && i < u->nkernels; i++) {
        if (!functions[i])
            continue;
        convert(u, &u->kernels[i], functions[i]);
        if (u->kernels[i].input->mode == IR_MODE_SPMD && u->kernels[i].mode != IR_SPMD)
            refuse_flag(&u->kernels[i]);
    }
    if (any)
        spmd_finish(u, functions);
    return diag_errors() == 0;
}

bool ir_spmd(struct ir_unit *u)
{
    ir_mark_variables(u);
    ir_prepare_assumption_markers(u);
    bool ok = convert_all(u);
    ir_delete_assumption_markers(u);
    return ok;
}
