/* modes.c - what the program needs of the runtime, told to it as constants.
 *
 * The runtime's primitives (devicertl/arch.h) ask `__ompgpu_cfg_*` before they do work that only
 * some programs need.  Here each gets its value and internal linkage, so that the optimiser deletes
 * the rest. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"
#include "hostrt/plugin.h"
#include <string.h>

static bool any_kernel(const struct ir_unit *u, unsigned mode)
{
    for (unsigned i = 0; i < u->nkernels; i++)
        if (u->kernels[i].mode == mode)
            return true;
    return false;
}

static unsigned nested(const struct ir_unit *u) { return u->nested || u->queries; }
static unsigned partial(const struct ir_unit *u) { return u->partial; }
static unsigned queries(const struct ir_unit *u) { return u->queries; }
static unsigned has_generic(const struct ir_unit *u) { return any_kernel(u, IR_GENERIC); }
static unsigned has_spmd(const struct ir_unit *u) { return any_kernel(u, IR_SPMD); }
static unsigned storage(const struct ir_unit *u)
{
    bool any = false;
    for (unsigned i = 0; i < u->nkernels; i++) {
        const struct ir_kernel *k = &u->kernels[i];
        any |= k->heap_bytes || k->block_bytes || k->copy_bytes ||
               (k->flags & (OMPGPU_KERNEL_HEAP | OMPGPU_KERNEL_COPIES)) || k->more_copies;
    }
    return any;
}
static unsigned optimising(const struct ir_unit *u) { return u->opt->level != '0'; }
static unsigned guard(const struct ir_unit *u) { return ir_has_guards(u) ? OMPGPU_EMU_GUARD : 0; }
static unsigned debugging(const struct ir_unit *u) { return u->opt->debug; }

static bool is_used(const struct ir_unit *u, const char *name)
{
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    return f && LLVMGetFirstUse(f);
}
static unsigned leagues(const struct ir_unit *u) { return is_used(u, "__ompgpu_league_begin"); }
static unsigned events(const struct ir_unit *u) { return is_used(u, "__ompgpu_event"); }

static unsigned team_memory(const struct ir_unit *u)
{
    IR_EACH_FUNCTION(f, u->module)
        if (!ir_is_allocation(f) && ir_allocates_for_team(u, f))
            return true;
    return false;
}

static const struct constant {
    const char *name;
    unsigned (*value)(const struct ir_unit *);
} constants[] = {
    { "nested", nested },   /* a thread in a parallel region may meet another one */
    { "partial", partial }, /* an SPMD kernel has regions that may run on a part of the team */
    { "queries", queries }, /* an SPMD kernel's thread 0 calls functions that ask about threads */
    { "generic", has_generic },     /* some kernel is generic */
    { "spmd", has_spmd },           /* some kernel is SPMD */
    { "storage", storage },         /* some kernel uses the team's storage in global memory */
    { "events", events },           /* there are detached tasks */
    { "leagues", leagues },         /* a function has a teams region */
    { "team_memory", team_memory }, /* blocks may be allocated for a team */
    { "guard", guard },             /* after objects, in checked images */
    { "optimise", optimising },
    { "debug", debugging },
};

/* NULL: not one of the table. */
static const struct constant *find_constant(const char *name)
{
    for (unsigned i = 0; i < sizeof constants / sizeof *constants; i++)
        if (strcmp(name, constants[i].name) == 0)
            return &constants[i];
    return NULL;
}

/* Not left to the optimiser: at -O0 what such functions use would be in each kernel's shared
 * memory. */
static void drop_calls_of(LLVMValueRef f)
{
    LLVMUseRef use = LLVMGetFirstUse(f);
    while (use) {
        LLVMValueRef call = LLVMGetUser(use);
        use = LLVMGetNextUse(use);
        if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != f)
            continue;
        if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
            LLVMReplaceAllUsesWith(call, LLVMConstNull(LLVMTypeOf(call)));
        LLVMInstructionEraseFromParent(call);
    }
}

static void drop_calls(struct ir_unit *u, const char *prefix)
{
    IR_EACH_FUNCTION(f, u->module)
        if (text_starts(ir_name(f), prefix))
            drop_calls_of(f);
}

bool ir_configure(struct ir_unit *u)
{
    if (!events(u))
        drop_calls(u, "__ompgpu_events_");
    if (!team_memory(u))
        drop_calls(u, "__ompgpu_team_memory_");
    static const char prefix[] = "__ompgpu_cfg_";
    IR_EACH_GLOBAL(g, u->module) {
        const char *name = ir_name(g);
        if (!text_starts(name, prefix))
            continue;
        const struct constant *c = find_constant(name + strlen(prefix));
        if (!c)
            diag_bug("the device runtime asks for '%s', which this tool does not know", name);
        LLVMSetInitializer(g, LLVMConstInt(LLVMGlobalGetValueType(g), c->value(u), false));
        LLVMSetGlobalConstant(g, true);
        LLVMSetLinkage(g, LLVMInternalLinkage);
    }
    return true;
}
