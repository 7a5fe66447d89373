/* guards.c - functions that only the main thread runs to the end, and the broadcast of what it
 * computes there. */
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include "codegen/ir/spmd/plan.h"
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

struct outline { /* a group's function while it is built */
    LLVMValueRef *values, function;
    unsigned n;
    LLVMValueRef *clones; /* by member */
};

static bool is_local(LLVMValueRef v) { return LLVMIsAInstruction(v) || LLVMIsAArgument(v); }

static int index_of(LLVMValueRef *list, unsigned n, LLVMValueRef value)
{
    for (unsigned i = 0; i < n; i++)
        if (list[i] == value)
            return (int)i;
    return -1;
}

static void find_inputs(const struct spmd_group *g, struct outline *o)
{
    unsigned room = 0;
    for (unsigned i = 0; i < g->n; i++)
        room += (unsigned)LLVMGetNumOperands(g->members[i]);
    o->values = mem_array(room + 1, sizeof *o->values);
    for (unsigned i = 0; i < g->n; i++)
        for (unsigned n = 0, count = (unsigned)LLVMGetNumOperands(g->members[i]); n < count; n++) {
            LLVMValueRef v = LLVMGetOperand(g->members[i], n);
            if (is_local(v) && index_of(g->members, g->n, v) < 0 &&
                index_of(o->values, o->n, v) < 0)
                o->values[o->n++] = v;
        }
}

static void declare_guard(const struct spmd_region *r, struct outline *o)
{
    static const char *const attributes[] = { "alwaysinline", "nounwind" };
    LLVMTypeRef *types = mem_array(o->n + 1, sizeof *types);
    for (unsigned i = 0; i < o->n; i++)
        types[i] = LLVMTypeOf(o->values[i]);
    o->function =
        l_add_function(r->u, mem_printf("__ompgpu_guard_%s", r->kernel->name), types, o->n);
    for (unsigned i = 0; i < sizeof attributes / sizeof *attributes; i++)
        ir_add_attribute(o->function, attributes[i]);
    ir_set_string_attribute(o->function, IR_GUARDED, "");
}

static void copy_member(LLVMBuilderRef b, const struct spmd_group *g, struct outline *o, unsigned i)
{
    LLVMValueRef copy = o->clones[i] = LLVMInstructionClone(g->members[i]);
    for (unsigned n = 0, count = (unsigned)LLVMGetNumOperands(copy); n < count; n++) {
        LLVMValueRef v = LLVMGetOperand(copy, n);
        int input = index_of(o->values, o->n, v), member = index_of(g->members, i, v);
        if (input >= 0)
            LLVMSetOperand(copy, n, LLVMGetParam(o->function, (unsigned)input));
        else if (member >= 0)
            LLVMSetOperand(copy, n, o->clones[member]);
    }
    LLVMInsertIntoBuilder(b, copy);
}

/* void guard(inputs…) { if (main thread) { members; cells = results; } } */
static void build_guard(const struct spmd_region *r, const struct spmd_group *g, struct outline *o,
                        LLVMValueRef *cells)
{
    find_inputs(g, o);
    declare_guard(r, o);
    LLVMBuilderRef b = l_open_function(o->function);
    LLVMBasicBlockRef follows = l_open_if(b, l_is_main_thread(r->u, b));
    o->clones = mem_array(g->n, sizeof *o->clones);
    if (g->queries)
        l_call_runtime(r->u, b, "__ompgpu_nest_leave", NULL, 0);
    for (unsigned i = 0; i < g->n; i++) {
        copy_member(b, g, o, i);
        if (cells[i])
            LLVMBuildStore(b, o->clones[i], cells[i]);
    }
    if (g->queries)
        l_call_runtime(r->u, b, "__ompgpu_nest_enter", NULL, 0);
    l_close_if(b, follows);
    l_close_function(b);
    r->kernel->queries |= g->queries;
    r->u->queries |= g->queries;
}

static LLVMValueRef make_cell(const struct spmd_region *r, LLVMTypeRef type)
{
    return ir_make_shared(r->u, r->function, "broadcast", type,
                          LLVMABIAlignmentOfType(r->u->layout, type));
}

static LLVMValueRef *make_cells(const struct spmd_region *r, const struct spmd_plan *p,
                                const struct spmd_group *g, int number)
{
    LLVMValueRef *cells = mem_array(g->n, sizeof *cells);
    for (unsigned i = 0; i < g->n; i++)
        if (spmd_used_outside(p, g->members[i], number))
            cells[i] = make_cell(r, LLVMTypeOf(g->members[i]));
    return cells;
}

LLVMValueRef *spmd_call_guard(struct spmd_region *r, const struct spmd_plan *p, LLVMBuilderRef b,
                              int group)
{
    const struct spmd_group *g = &p->groups[group];
    struct outline o = { 0 };
    LLVMValueRef *cells = make_cells(r, p, g, group);
    build_guard(r, g, &o, cells);
    l_call(b, o.function, o.values, o.n);
    return cells;
}

/* void guard(values…) { if (main thread) cells = values; } */
void spmd_store_cells(struct spmd_region *r, const struct spmd_plan *p, LLVMBuilderRef b,
                      struct spmd_main_loop *a)
{
    struct outline o = { 0 };
    unsigned n = 0;
    IR_EACH_INSTRUCTION(phi, p->blocks[a->exit].at)
        n += LLVMIsAPHINode(phi) != NULL;
    a->cells = mem_array(n, sizeof *a->cells);
    o.values = mem_array(n, sizeof *o.values);
    IR_EACH_INSTRUCTION(phi, p->blocks[a->exit].at)
        if (LLVMIsAPHINode(phi)) {
            a->cells[o.n] = make_cell(r, LLVMTypeOf(phi));
            o.values[o.n++] = phi;
        }
    declare_guard(r, &o);
    LLVMBuilderRef inside = l_open_function(o.function);
    LLVMBasicBlockRef follows = l_open_if(inside, l_is_main_thread(r->u, inside));
    for (unsigned i = 0; i < o.n; i++)
        LLVMBuildStore(inside, LLVMGetParam(o.function, i), a->cells[i]);
    l_close_if(inside, follows);
    l_close_function(inside);
    a->store = l_call(b, o.function, o.values, o.n);
}

/* For all uses but the one that stores it. */
void spmd_load_cells(const struct spmd_plan *p, LLVMBuilderRef b, const struct spmd_main_loop *a)
{
    unsigned n = 0;
    IR_EACH_INSTRUCTION(phi, p->blocks[a->exit].at) {
        if (!LLVMIsAPHINode(phi))
            continue;
        LLVMValueRef value = LLVMBuildLoad2(b, LLVMTypeOf(phi), a->cells[n], "");
        LLVMReplaceAllUsesWith(phi, value);
        LLVMSetOperand(a->store, n++, phi);
    }
}
