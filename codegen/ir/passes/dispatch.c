/* dispatch.c - the runtime's indirect calls of parallel regions become a cascade of comparisons
 * with direct calls.
 *
 * All regions that the module, a set of kernels' own (sets.c), passes to
 * __ompgpu_parallel and __ompgpu_fork are known.  With direct calls the optimiser sees what a
 * region does, ptxas knows the registers it needs, and a region can be inlined:
 *
 *     if (fn == 1) main_23__parallel(ctx); else if … else main_30__parallel(ctx)
 *
 * The numbers stand for the functions, so that no address is taken and the functions themselves
 * vanish.  Only when some call passes a function pointer that is not a constant are the addresses
 * kept, with the indirect call as the end of the cascade.
 *
 * The cascade is one function, never inlined: the regions are inlined into it, and so their code
 * stands in the module once, be they run by a team or serialised. */
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include <stdlib.h>
#include <string.h>

struct regions {
    LLVMValueRef *at;
    unsigned n;
    bool all_known;
};

static void add_region(struct regions *r, LLVMValueRef f)
{
    for (unsigned i = 0; i < r->n; i++)
        if (r->at[i] == f)
            return;
    r->at[r->n++] = f;
}

/* What starts a region; the runtime's own call of the second in the first passes what the first was
 * given. */
static const char *const starters[] = { "__ompgpu_parallel", "__ompgpu_fork" };

static bool is_forwarded(LLVMValueRef call)
{
    LLVMValueRef caller = ir_function_of(call);
    return strcmp(ir_name(caller), starters[0]) == 0 &&
           LLVMGetOperand(call, 0) == LLVMGetParam(caller, 0);
}

static void find_regions(struct regions *r, LLVMValueRef starter)
{
    IR_EACH_USE(use, starter) {
        LLVMValueRef call = LLVMGetUser(use);
        bool is_call = LLVMIsACallInst(call) && LLVMGetCalledValue(call) == starter;
        if (is_call && LLVMIsAFunction(LLVMGetOperand(call, 0)))
            add_region(r, LLVMGetOperand(call, 0));
        else if (!is_call || !is_forwarded(call))
            r->all_known = false;
    }
}

static unsigned count_uses(LLVMValueRef v)
{
    unsigned n = 0;
    IR_EACH_USE(use, v)
        n++;
    return n;
}

/* What is passed as region i: never null, which ends the workers. */
static LLVMValueRef token(const struct ir_unit *u, const struct regions *r, unsigned i)
{
    if (!r->all_known)
        return r->at[i];
    return LLVMConstIntToPtr(l_i64(u, i + 1), l_ptr(u));
}

static void pass_tokens(const struct ir_unit *u, const struct regions *r, LLVMValueRef starter)
{
    IR_EACH_USE(use, starter) {
        LLVMValueRef call = LLVMGetUser(use), f = LLVMGetOperand(call, 0);
        for (unsigned i = 0; i < r->n; i++)
            if (r->at[i] == f)
                LLVMSetOperand(call, 0, token(u, r, i));
    }
}

static void build_call(LLVMBuilderRef b, LLVMTypeRef type, LLVMValueRef f, LLVMValueRef ctx)
{
    LLVMBuildCall2(b, type, f, &ctx, 1, "");
    LLVMBuildRetVoid(b);
}

/* void cascade(void (*fn)(void *), void *ctx) */
static LLVMValueRef build_cascade(struct ir_unit *u, LLVMTypeRef region, const struct regions *r)
{
    LLVMTypeRef ptr = l_ptr(u), params[] = { ptr, ptr };
    LLVMValueRef f = l_add_function(u, "__ompgpu_cascade", params, 2);
    ir_add_attribute(f, "noinline");
    LLVMBuilderRef b = l_open_function(f);
    unsigned compared = r->all_known ? r->n - 1 : r->n;
    for (unsigned i = 0; i < compared; i++) {
        LLVMBasicBlockRef hit = LLVMAppendBasicBlockInContext(u->ctx, f, "region"),
                          next = LLVMAppendBasicBlockInContext(u->ctx, f, "next");
        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, LLVMGetParam(f, 0), token(u, r, i), ""), hit,
                        next);
        LLVMPositionBuilderAtEnd(b, hit);
        build_call(b, region, r->at[i], LLVMGetParam(f, 1));
        LLVMPositionBuilderAtEnd(b, next);
    }
    build_call(b, region, r->all_known ? r->at[r->n - 1] : LLVMGetParam(f, 0), LLVMGetParam(f, 1));
    LLVMDisposeBuilder(b);
    return f;
}

static bool calls_region(LLVMValueRef call, LLVMTypeRef region)
{
    return LLVMIsACallInst(call) && !LLVMIsAFunction(LLVMGetCalledValue(call)) &&
           !LLVMIsAInlineAsm(LLVMGetCalledValue(call)) && LLVMGetCalledFunctionType(call) == region;
}

/* cascade NULL: there are no regions, and the calls are never reached. */
static void use_cascade(struct ir_unit *u, LLVMValueRef f, LLVMTypeRef region, LLVMValueRef cascade)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    IR_EACH_INSTRUCTION_OF(i, f) {
        if (!calls_region(i, region))
            continue;
        LLVMPositionBuilderBefore(b, i); /* takes the debug location over */
        LLVMValueRef args[] = { LLVMGetCalledValue(i), LLVMGetOperand(i, 0) };
        if (cascade)
            LLVMBuildCall2(b, LLVMGlobalGetValueType(cascade), cascade, args, 2, "");
        ir_erase(i);
    }
    LLVMDisposeBuilder(b);
}

/* What the state machine of each kernel has.  The frontend may have taken a region for possible
 * where there is none: then there are no workers. */
static void note_regions(struct ir_unit *u, const struct regions *r)
{
    for (unsigned i = 0; i < u->nkernels; i++) {
        struct ir_kernel *k = &u->kernels[i];
        if (k->mode != IR_GENERIC)
            continue;
        k->regions = r->n;
        k->unknown_regions = !r->all_known;
        if (r->n == 0 && r->all_known)
            k->flags &= ~(unsigned)OMPGPU_KERNEL_WORKERS;
    }
}

static void dispatch(struct ir_unit *u, struct regions *r)
{
    static const char *const callers[] = { "__ompgpu_parallel", "__ompgpu_invoke" };
    LLVMTypeRef ptr = LLVMPointerTypeInContext(u->ctx, 0),
                region = LLVMFunctionType(LLVMVoidTypeInContext(u->ctx), &ptr, 1, false);
    LLVMValueRef cascade = r->n ? build_cascade(u, region, r) : NULL;
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef caller = LLVMGetNamedFunction(u->module, callers[i]),
                     starter = LLVMGetNamedFunction(u->module, starters[i]);
        if (caller)
            use_cascade(u, caller, region, cascade);
        if (starter && r->all_known)
            pass_tokens(u, r, starter);
    }
}

bool ir_dispatch(struct ir_unit *u)
{
    LLVMValueRef f[2];
    unsigned uses = 0;
    for (unsigned i = 0; i < 2; i++)
        if ((f[i] = LLVMGetNamedFunction(u->module, starters[i])))
            uses += count_uses(f[i]);
    struct regions r = { mem_array(uses + 1, sizeof *r.at), 0, true };
    for (unsigned i = 0; i < 2; i++)
        if (f[i])
            find_regions(&r, f[i]);
    note_regions(u, &r);
    if (r.n || r.all_known)
        dispatch(u, &r);
    return true;
}
