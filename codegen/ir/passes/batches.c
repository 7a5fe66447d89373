/* batches.c - how many iterations of a reduction's loop a thread runs at a time.
 *
 * A reduction waits for memory, and one load in flight for each thread is less than the memory can
 * deliver.  So the writer of loops has a thread take its iterations in batches of
 * __ompgpu_batch_size(), and then the rest one by one:
 *
 *   for (size = __ompgpu_batch_size(); size; size = size > 1)      LLVM unrolls this loop …
 *       for (; more than size - 1 iterations are left; …)
 *           for (u = 0; u < size; u++)                             … and this one
 *               body
 *
 * Here each call gets its answer: 1, unless the body is short, has a few loads whose addresses
 * change from iteration to iteration, and nothing for which the loads of the next iteration would
 * have to wait, or the device is the emulated one.  All answers are right; it is a matter of
 * cost. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"
#include "hostrt/occupancy.h"
#include <stdlib.h>
#include <string.h>

enum {
    USUAL_BATCH = 4, /* as __OMPGPU_USUAL_BATCH, __OMPGPU_BATCH_TEAM */
    BATCH_TEAM = 256,
    TEAM_BATCH = 16, /* where that saves much in an iteration, and keeps few registers */
    TEAM_LOADS = 2,
    SHORT_BODY = 60,
    MANY_LOADS = 4,     /* with more in an iteration, enough are in flight */
    OWN_LOOPS = 3,      /* those above; loops of the body have loads in flight of their own */
    LONGEST_BODY = 120, /* instructions, with those that count iterations */
};

struct body {
    LLVMValueRef function;
    const bool *blocks; /* by number */
    unsigned instructions, loops;
    unsigned loads; /* from addresses that the loop computes */
    bool waits;     /* something that loads of the next iteration would have to wait for */
};

/* The number of the instruction's block in the function. */
static unsigned block_of(LLVMValueRef instruction)
{
    unsigned i = 0;
    IR_EACH_BLOCK(block, ir_function_of(instruction)) {
        if (block == LLVMGetInstructionParent(instruction))
            break;
        i++;
    }
    return i;
}

/* Functions of libdevice that are a single block of arithmetic, such as fmin. */
static bool is_arithmetic(LLVMValueRef f)
{
    if (LLVMIsDeclaration(f) || LLVMCountBasicBlocks(f) != 1)
        return false;
    IR_EACH_INSTRUCTION(inst, LLVMGetEntryBasicBlock(f)) {
        LLVMValueRef callee = LLVMIsACallInst(inst) ? LLVMGetCalledValue(inst) : NULL;
        if (LLVMIsALoadInst(inst) || LLVMIsAStoreInst(inst) ||
            (callee && (!LLVMIsAFunction(callee) || !LLVMGetIntrinsicID(callee))))
            return false;
    }
    return true;
}

static bool call_waits(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(callee))
        return true;
    return LLVMGetIntrinsicID(callee) ? text_starts(ir_intrinsic(callee), "llvm.mem")
                                      : !is_arithmetic(callee);
}

static void count_instruction(struct body *b, LLVMValueRef inst)
{
    b->instructions++;
    if (LLVMIsALoadInst(inst)) {
        LLVMValueRef address = LLVMGetOperand(inst, 0);
        b->waits |= LLVMGetVolatile(inst) || LLVMIsAtomic(inst);
        b->loads += LLVMIsAInstruction(address) && b->blocks[block_of(address)];
    } else if (LLVMIsACallInst(inst)) {
        b->waits |= call_waits(inst);
    } else {
        b->waits |= LLVMIsAStoreInst(inst) || LLVMIsAAtomicRMWInst(inst) ||
                    LLVMIsAAtomicCmpXchgInst(inst) || LLVMIsAFenceInst(inst);
    }
}

/* The size of a team that a larger batch is for: the one that f's kernel has, or that kernels
 * usually have; the distances of its addresses are constants then. */
static unsigned team_of(const struct ir_unit *u, LLVMValueRef f)
{
    for (unsigned i = 0; i < u->nkernels; i++)
        if (ir_is_exact(&u->kernels[i]) && strcmp(u->kernels[i].name, ir_name(f)) == 0)
            return u->kernels[i].max_threads;
    return OMPGPU_GENERIC_THREADS;
}

static struct body read_body(LLVMValueRef f, const struct ir_loops *loops,
                             const struct ir_loop *outer)
{
    struct body b = { .function = f, .blocks = outer->body };
    unsigned i = 0;
    for (unsigned l = 0; l < loops->n; l++)
        b.loops += outer->body[loops->at[l].header];
    IR_EACH_BLOCK(block, f)
        if (outer->body[i++])
            IR_EACH_INSTRUCTION(inst, block)
                count_instruction(&b, inst);
    return b;
}

static unsigned batch_of(const struct ir_unit *u, LLVMValueRef call, const struct body *b)
{
    bool by_team = LLVMIsAConstantInt(LLVMGetOperand(call, 0)) &&
                   LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0));
    if (b->waits || b->loops > OWN_LOOPS || b->instructions > LONGEST_BODY || !b->loads ||
        b->loads > MANY_LOADS)
        return 1;
    if (u->opt->target == IR_NVPTX && by_team && b->loads == TEAM_LOADS &&
        b->instructions <= SHORT_BODY)
        return TEAM_BATCH + BATCH_TEAM * team_of(u, b->function);
    return b->loads > MANY_LOADS / 2 ? USUAL_BATCH / 2 : USUAL_BATCH;
}

/* The loop whose first batches have the size that the call returns, as number in `loops`, or -1:
 * the size is a variable of that loop. */
static int loop_of(LLVMValueRef value, const struct ir_loops *loops)
{
    IR_EACH_USE(use, value) {
        LLVMValueRef user = LLVMGetUser(use);
        unsigned block = block_of(user);
        int found = -1;
        for (unsigned i = 0; LLVMIsAPHINode(user) && i < loops->n; i++)
            if (loops->at[i].header == block)
                return (int)i;
        if (LLVMIsABinaryOperator(user))
            found = loop_of(user, loops);
        if (found >= 0)
            return found;
    }
    return -1;
}

static unsigned batch_size(const struct ir_unit *u, LLVMValueRef call)
{
    LLVMValueRef f = ir_function_of(call);
    struct ir_loops loops = ir_find_loops(f);
    int found = loop_of(call, &loops);
    if (found < 0)
        return 1;
    struct body b = read_body(f, &loops, &loops.at[found]);
    return batch_of(u, call, &b);
}

/* The calls, in no order. */
static unsigned find_calls(LLVMModuleRef m, LLVMValueRef **calls)
{
    LLVMValueRef f = LLVMGetNamedFunction(m, "__ompgpu_batch_size");
    unsigned n = 0;
    for (LLVMUseRef use = f ? LLVMGetFirstUse(f) : NULL; use; use = LLVMGetNextUse(use))
        n++;
    *calls = mem_array(n + 1, sizeof **calls);
    n = 0;
    for (LLVMUseRef use = f ? LLVMGetFirstUse(f) : NULL; use; use = LLVMGetNextUse(use))
        (*calls)[n++] = LLVMGetUser(use);
    return n;
}

/* The number of a call in the unit's module, which its copies keep. */
static const char label[] = "ompgpu.batches";

static void number_call(LLVMContextRef ctx, LLVMValueRef call, unsigned number)
{
    const char *value = mem_printf("%u", number);
    LLVMAddCallSiteAttribute(
        call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(ctx, label, sizeof label - 1, value, (unsigned)strlen(value)));
}

static unsigned number_of(LLVMValueRef call)
{
    unsigned length;
    LLVMAttributeRef a = LLVMGetCallSiteStringAttribute(
        call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, label, sizeof label - 1);
    return (unsigned)strtoul(LLVMGetStringAttributeValue(a, &length), NULL, 10);
}

/* Counts in a copy of the module, in which variables are values and equal loads one; the module
 * itself is left for LLVM's own order of passes.  No such loop is in the end of a reduction, which
 * has more code than the loop. */
static void choose_sizes(struct ir_unit *u, LLVMTargetMachineRef machine, unsigned *sizes)
{
    LLVMValueRef *calls;
    LLVMModuleRef copy = LLVMCloneModule(u->module);
    IR_EACH_FUNCTION(f, copy)
        if (!LLVMIsDeclaration(f) && text_starts(ir_name(f), "__ompgpu_reduce_"))
            ir_leave_unoptimised(f);
    ir_run_passes(copy,
                  "function(sroa,early-cse,simplifycfg),always-inline,globaldce,cgscc(inline),"
                  "function(sroa,early-cse<memssa>,simplifycfg)",
                  machine);
    for (unsigned n = find_calls(copy, &calls), i = 0; i < n; i++)
        sizes[number_of(calls[i])] = batch_size(u, calls[i]);
    LLVMDisposeModule(copy);
}

void ir_size_batches(struct ir_unit *u, LLVMTargetMachineRef machine)
{
    LLVMValueRef *calls;
    unsigned n = find_calls(u->module, &calls), *sizes = mem_array(n + 1, sizeof *sizes);
    for (unsigned i = 0; i < n; i++) {
        sizes[i] = 1;
        number_call(u->ctx, calls[i], i);
    }
    if (n && u->opt->level != '0' && u->opt->target == IR_NVPTX)
        choose_sizes(u, machine, sizes);
    for (unsigned i = 0; i < n; i++) {
        LLVMReplaceAllUsesWith(calls[i], LLVMConstInt(LLVMTypeOf(calls[i]), sizes[i], false));
        ir_erase(calls[i]);
    }
}
