/* jumps.c - `goto *p;` becomes a switch: PTX has no addresses of labels, and the functions that
 * later steps copy would jump into those that they were copied from.
 *
 *     void *p = &&a;               p = (void *)1;
 *     goto *p;               =>    switch ((long)p) { case 1: goto a; case 2: goto b; }
 *
 * The labels of a function whose address is taken are numbered. */
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"

struct label {
    LLVMBasicBlockRef block;
    uint64_t number;
    bool used; /* by the switch that is being made */
};
struct jumps {
    const struct ir_unit *u;
    struct label *labels;
    unsigned n;
    uint64_t last; /* number given */
};

static LLVMValueRef address_of(LLVMBasicBlockRef block)
{
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use;
         use = LLVMGetNextUse(use))
        if (LLVMIsABlockAddress(LLVMGetUser(use)))
            return LLVMGetUser(use);
    return NULL;
}

static void number_labels(struct jumps *j, LLVMValueRef f)
{
    j->labels = mem_array(LLVMCountBasicBlocks(f), sizeof *j->labels);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef address = address_of(b);
        if (!address)
            continue;
        j->labels[j->n++] = (struct label){ b, ++j->last, false };
        LLVMReplaceAllUsesWith(address,
                               LLVMConstIntToPtr(l_i64(j->u, j->last), LLVMTypeOf(address)));
    }
}

/* A block that stands there twice, or whose address nobody takes any more, keeps its edges: with
 * numbers that no label has. */
static uint64_t number_of(struct jumps *j, LLVMBasicBlockRef block)
{
    for (unsigned i = 0; i < j->n; i++)
        if (j->labels[i].block == block && !j->labels[i].used) {
            j->labels[i].used = true;
            return j->labels[i].number;
        }
    return ++j->last;
}

static LLVMBasicBlockRef add_unreachable(const struct jumps *j, LLVMValueRef f, LLVMBuilderRef b)
{
    LLVMBasicBlockRef block = LLVMAppendBasicBlockInContext(j->u->ctx, f, "");
    LLVMPositionBuilderAtEnd(b, block);
    LLVMBuildUnreachable(b);
    return block;
}

static void replace_jump(struct jumps *j, LLVMValueRef f, LLVMBuilderRef b, LLVMValueRef jump)
{
    unsigned n = LLVMGetNumSuccessors(jump);
    LLVMBasicBlockRef nowhere = add_unreachable(j, f, b);
    LLVMPositionBuilderBefore(b, jump);
    LLVMValueRef number = LLVMBuildPtrToInt(b, LLVMGetOperand(jump, 0),
                                            LLVMInt64TypeInContext(j->u->ctx), ""),
                 to = LLVMBuildSwitch(b, number, nowhere, n);
    for (unsigned i = 0; i < j->n; i++)
        j->labels[i].used = false;
    for (unsigned i = 0; i < n; i++) {
        LLVMBasicBlockRef block = LLVMGetSuccessor(jump, i);
        LLVMAddCase(to, l_i64(j->u, number_of(j, block)), block);
    }
    ir_erase(jump);
}

static void replace_jumps(const struct ir_unit *u, LLVMValueRef f, LLVMBuilderRef b)
{
    struct jumps j = { .u = u };
    number_labels(&j, f);
    for (LLVMBasicBlockRef at = LLVMGetFirstBasicBlock(f); at; at = LLVMGetNextBasicBlock(at)) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(at);
        if (last && LLVMIsAIndirectBrInst(last))
            replace_jump(&j, f, b, last);
    }
}

bool ir_replace_jumps(struct ir_unit *u)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    IR_EACH_FUNCTION(f, u->module)
        if (!LLVMIsDeclaration(f))
            replace_jumps(u, f, b);
    LLVMDisposeBuilder(b);
    return true;
}
