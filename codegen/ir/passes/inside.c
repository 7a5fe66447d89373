/* inside.c - functions that hold parallel regions and are called both by sequential code and inside
 * of regions get a copy for the inside.
 *
 *     generic kernel ─▶ f ─ region a, forked      generic kernel ─▶ f ─▶ region a, forked
 *          │            ▲      │              =>         │
 *          └─ region b ─┘  ◀───┘ whichever it is         └─ region b ─▶ f.inside ─▶ region a
 *
 * One f would have to ask the runtime for its level, and the runtime to call any region from there:
 * to ptxas the region calls itself, and the stack that the kernel needs is not known.  With two,
 * each runs in one context, and analysis/context.c writes what its regions do.
 *
 * A function whose address is taken still runs in both when it is called through a pointer; then it
 * asks.
 *
 * The copies are made by LLVM's module cloner and linker: a clone of the module in which all but
 * those functions are available elsewhere. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"
#include <llvm-c/Linker.h>
#include <stdlib.h>
#include <string.h>

/* made external while the two modules find each other's names */
struct local {
    LLVMValueRef value;
    LLVMLinkage linkage;
};
struct separation {
    struct ir_unit *u;
    struct ir_graph *g;
    bool *sequential, *inside; /* by node, as of ir_find_contexts */
    char **copies;             /* by node: the name of the copy that it gets */
    struct local *locals;      /* by node; value NULL: it was none */
};

/* ------------------------------------------------------------------ which functions */
static bool find_mixed(struct separation *s)
{
    bool *reaches = ir_graph_reaching_parallel(s->g, s->u->module), any = false;
    ir_find_contexts(s->u, s->g, s->sequential, s->inside);
    for (unsigned i = 0; i < s->g->n; i++) {
        LLVMValueRef v = s->g->nodes[i].value;
        if (!reaches[i] || !s->sequential[i] || !s->inside[i] || !LLVMIsAFunction(v) ||
            LLVMIsDeclaration(v))
            continue;
        s->copies[i] = mem_printf("%s.inside", ir_name(v));
        any = true;
    }
    return any;
}

/* ------------------------------------------------------------------ copies */
static void show_locals(struct separation *s)
{
    for (unsigned i = 0; i < s->g->n; i++) {
        LLVMValueRef v = s->g->nodes[i].value;
        LLVMLinkage linkage = LLVMGetLinkage(v);
        if (!s->g->nodes[i].defined || !ir_is_local_linkage(v))
            continue;
        if (!*ir_name(v))
            LLVMSetValueName2(v, "__ompgpu_unnamed", 16);
        s->locals[i] = (struct local){ v, linkage };
        LLVMSetLinkage(v, LLVMExternalLinkage);
    }
}

static void hide_locals(struct separation *s)
{
    for (unsigned i = 0; i < s->g->n; i++)
        if (s->locals[i].value)
            LLVMSetLinkage(s->locals[i].value, s->locals[i].linkage);
}

static void link_copies(struct separation *s)
{
    LLVMModuleRef m = LLVMCloneModule(s->u->module);
    LLVMSetModuleInlineAsm2(m, "", 0);
    IR_EACH_FUNCTION(f, m)
        if (!LLVMIsDeclaration(f))
            LLVMSetLinkage(f, LLVMAvailableExternallyLinkage);
    IR_EACH_GLOBAL(v, m)
        if (!LLVMIsDeclaration(v) && LLVMGetLinkage(v) != LLVMAppendingLinkage)
            LLVMSetLinkage(v, LLVMAvailableExternallyLinkage);
    for (unsigned i = 0; i < s->g->n; i++)
        if (s->copies[i])
            ir_leave_address(m, LLVMGetNamedFunction(m, ir_name(s->g->nodes[i].value)),
                             s->copies[i]);
    for (unsigned i = 0; i < s->g->n; i++)
        if (s->copies[i])
            LLVMSetLinkage(LLVMGetNamedFunction(m, s->copies[i]), LLVMExternalLinkage);
    if (LLVMLinkModules2(s->u->module, m)) /* takes it */
        diag_bug("copies of functions do not fit");
    for (unsigned i = 0; i < s->g->n; i++)
        if (s->copies[i]) {
            LLVMValueRef copy = LLVMGetNamedFunction(s->u->module, s->copies[i]);
            LLVMSetLinkage(copy, LLVMInternalLinkage);
            ir_set_string_attribute(copy, IR_OURS, "");
        }
}

/* Copies call copies from the start. */
static void redirect(const struct separation *s, LLVMValueRef f)
{
    IR_EACH_INSTRUCTION_OF(i, f) {
        LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
        int node = callee && LLVMIsAFunction(callee) ? ir_graph_find(s->g, callee) : -1;
        if (node >= 0 && s->copies[node])
            LLVMSetOperand(i, (unsigned)LLVMGetNumOperands(i) - 1,
                           LLVMGetNamedFunction(s->u->module, s->copies[node]));
    }
}

static void separate(struct separation *s)
{
    show_locals(s);
    link_copies(s);
    hide_locals(s);
    for (unsigned i = 0; i < s->g->n; i++)
        if (s->inside[i] && !s->sequential[i])
            redirect(s, s->g->nodes[i].value);
}

/* Where thread 0 of an SPMD kernel may be at level 0 (`queries`), what looks like the inside of a
 * region may not be. */
bool ir_separate_contexts(struct ir_unit *u)
{
    LLVMValueRef parallel = LLVMGetNamedFunction(u->module, "__ompgpu_parallel");
    if (!parallel || u->queries || LLVMGetFirstGlobalAlias(u->module))
        return true;
    struct separation s = { .u = u, .g = ir_graph_build(u->module) };
    s.sequential = mem_array(s.g->n, sizeof *s.sequential);
    s.inside = mem_array(s.g->n, sizeof *s.inside);
    s.copies = mem_array(s.g->n, sizeof *s.copies);
    s.locals = mem_array(s.g->n, sizeof *s.locals);
    if (find_mixed(&s))
        separate(&s);
    return true;
}
