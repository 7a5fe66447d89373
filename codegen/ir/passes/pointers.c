/* pointers.c - in a loop that a thread runs alone, an address that moves on by the same distance in
 * each iteration is kept from one to the next.
 *
 *     for (k = 0; k < n; k++)                     p = &b[j];
 *         … b[k * n + j] …                ──▶     for (k = 0; k < n; k++, p += n)
 *                                                     … *p …
 *
 * LLVM's loop strength reduction does so where it knows that k * n + j does not wrap; once the loop
 * is unrolled, it does not.  distances.c does: what is accessed has its exact value.  Distances
 * that are constants are left to LLVM.
 *
 * The loop is a single block, so that what is accessed in it is so in each iteration. */
#include "codegen/ir/passes/distances.h"
#include "codegen/ir/passes/passes.h"

enum {
    MANY_POINTERS = 4, /* of a loop: each takes two registers */
    DEEP = 6
};

static LLVMValueRef operand(LLVMValueRef v, unsigned i) { return LLVMGetOperand(v, i); }

/* ------------------------------------------------------------------ the address at another time */
struct copy { /* of values of the block, with the values that its phis get from `from` */
    LLVMBasicBlockRef block, from;
    LLVMBuilderRef b;
};

static LLVMValueRef incoming(LLVMValueRef phi, LLVMBasicBlockRef from)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (LLVMGetIncomingBlock(phi, i) == from)
            return LLVMGetIncomingValue(phi, i);
    return NULL;
}

/* Counters alone, which go on by a constant: other loops are shared with other threads. */
static bool is_counter(LLVMValueRef phi, LLVMBasicBlockRef block)
{
    LLVMValueRef next = incoming(phi, block);
    return LLVMGetTypeKind(LLVMTypeOf(phi)) == LLVMIntegerTypeKind && next &&
           LLVMIsABinaryOperator(next) && LLVMGetInstructionOpcode(next) == LLVMAdd &&
           operand(next, 0) == phi && LLVMIsAConstantInt(operand(next, 1));
}

static bool can_copy(LLVMValueRef v)
{
    return LLVMIsAGetElementPtrInst(v) || LLVMIsABinaryOperator(v) || LLVMIsASExtInst(v) ||
           LLVMIsAZExtInst(v);
}

/* NULL: it cannot be computed so. */
static LLVMValueRef copy(const struct copy *c, LLVMValueRef v, unsigned depth)
{
    if (!LLVMIsAInstruction(v) || LLVMGetInstructionParent(v) != c->block)
        return v;
    if (LLVMIsAPHINode(v))
        return is_counter(v, c->block) ? incoming(v, c->from) : NULL;
    if (!depth || !can_copy(v))
        return NULL;
    LLVMValueRef operands[4];
    unsigned n = (unsigned)LLVMGetNumOperands(v);
    if (n > sizeof operands / sizeof *operands)
        return NULL;
    for (unsigned i = 0; i < n; i++)
        if (!(operands[i] = copy(c, operand(v, i), depth - 1)))
            return NULL;
    LLVMValueRef clone = LLVMInstructionClone(v);
    for (unsigned i = 0; i < n; i++)
        LLVMSetOperand(clone, i, operands[i]);
    LLVMInsertIntoBuilder(c->b, clone);
    return clone;
}

static LLVMValueRef address_from(LLVMBuilderRef b, LLVMValueRef address, LLVMBasicBlockRef from)
{
    struct copy c = { LLVMGetInstructionParent(address), from, b };
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(from));
    return copy(&c, address, DEEP);
}

/* ------------------------------------------------------------------ loops */
/* Where the loop of this block is entered from; NULL: it is none, or is entered in several ways. */
static LLVMBasicBlockRef entry_of(LLVMBasicBlockRef block)
{
    LLVMValueRef phi = LLVMGetFirstInstruction(block);
    if (!LLVMIsAPHINode(phi) || LLVMCountIncoming(phi) != 2)
        return NULL;
    bool second = LLVMGetIncomingBlock(phi, 0) == block;
    return LLVMGetIncomingBlock(phi, !second) == block ? LLVMGetIncomingBlock(phi, second) : NULL;
}

/* The index is needed for addresses only, and so for nothing where they are kept. */
static bool is_for_addresses(LLVMValueRef index)
{
    IR_EACH_USE(use, index)
        if (!LLVMIsAGetElementPtrInst(LLVMGetUser(use)))
            return false;
    return true;
}

/* The latest address of the block from which the one of the next iteration is known. */
static int latest(LLVMTargetDataRef layout, const struct ir_chain *c, unsigned first,
                  LLVMValueRef next, struct ir_distance *d)
{
    for (unsigned i = c->n; i-- > first;)
        if (operand(c->was[i], 0) == operand(next, 0) &&
            ir_subtract_addresses(layout, c->was[i], next, d))
            return (int)i;
    return -1;
}

static bool keep(const struct ir_unit *u, LLVMBuilderRef b, const struct ir_chain *c, unsigned at,
                 LLVMBasicBlockRef entry)
{
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(u->module);
    LLVMValueRef address = c->was[at], next, begin;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(address);
    struct ir_distance d;
    if (!is_for_addresses(operand(address, 1)) || !(next = address_from(b, address, block)) ||
        !ir_subtract_addresses(layout, address, next, &d) || !d.n)
        return false;
    int last = latest(layout, c, at, next, &d);
    if (!(begin = address_from(b, address, entry)))
        return false;
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(block));
    LLVMValueRef phi = LLVMBuildPhi(b, LLVMTypeOf(address), "");
    LLVMReplaceAllUsesWith(address, phi);
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(block));
    LLVMValueRef from = c->is[last] == address ? phi : c->is[last],
                 values[] = { begin, ir_add_distance(u, b, from, &d) };
    LLVMBasicBlockRef blocks[] = { entry, block };
    LLVMAddIncoming(phi, values, blocks, 2);
    return true;
}

bool ir_keep_pointers(const struct ir_unit *u, LLVMBuilderRef b, LLVMBasicBlockRef block,
                      const struct ir_chain *c)
{
    LLVMBasicBlockRef entry = entry_of(block);
    unsigned kept = 0;
    for (unsigned i = 0; entry && i < c->n && kept < MANY_POINTERS; i++)
        if (c->is[i] == c->was[i])
            kept += keep(u, b, c, i, entry);
    return kept;
}
