/* blocks.c - the blocks of GPUs' code lie in the order in which they run.
 *
 * LLVM places blocks for machines whose branches it can invert, and it moves the end of a loop to
 * its beginning where that saves a branch there.  The NVPTX backend inverts none, so that PTX gets
 * jumps in the course of loops instead.  LLVM's placement is off for GPUs (emit.c); here blocks
 * come after those that they are reached from, those of a loop side by side, and what hardly ever
 * runs comes last.  branches.c then turns the conditions so that a branch falls through. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"
#include <string.h>

enum { RARELY = 16 }; /* once in so many times */

struct order {
    struct ir_flow flow;
    struct ir_loops loops;
    bool *seen;
    unsigned *list, n; /* the blocks, last one first while they are being found */
};

static LLVMValueRef end_of(const struct order *o, unsigned block)
{
    return LLVMGetBasicBlockTerminator(o->flow.at[block]);
}

static unsigned long long weight(LLVMContextRef ctx, LLVMValueRef branch, unsigned successor)
{
    LLVMValueRef prof = LLVMGetMetadata(branch, LLVMGetMDKindIDInContext(ctx, "prof", 4)),
                 operands[8] = { NULL };
    int n = prof ? LLVMGetMDNodeNumOperands(prof) : 0;
    if (n < 3 || n > 8)
        return 0;
    LLVMGetMDNodeOperands(prof, operands);
    LLVMValueRef w = operands[(unsigned)n - 2 + successor];
    return w && LLVMIsAConstantInt(w) ? LLVMConstIntGetZExtValue(w) : 0;
}

/* The edge is hardly ever taken, as the program or the device runtime says, or ends the thread. */
static bool is_rare(const struct order *o, unsigned block, unsigned edge)
{
    LLVMValueRef last = end_of(o, block);
    LLVMContextRef ctx = LLVMGetTypeContext(LLVMTypeOf(last));
    unsigned successor = edge - o->flow.first[block];
    if (LLVMIsAUnreachableInst(end_of(o, o->flow.succ[edge])))
        return true;
    if (!LLVMIsABranchInst(last) || !LLVMIsConditional(last))
        return false;
    return weight(ctx, last, successor) * RARELY < weight(ctx, last, 1 - successor);
}

/* How many loops the edge leaves. */
static unsigned left_by(const struct order *o, unsigned from, unsigned to)
{
    unsigned n = 0;
    for (unsigned i = 0; i < o->loops.n; i++)
        n += o->loops.at[i].body[from] && !o->loops.at[i].body[to];
    return n;
}

/* Of two ways out of a block: the one whose blocks are to come later.  Where nothing else tells, it
 * is the one that comes later now. */
static bool comes_later(const struct order *o, unsigned block, unsigned x, unsigned y)
{
    unsigned to_x = o->flow.succ[x], to_y = o->flow.succ[y];
    bool rare_x = is_rare(o, block, x), rare_y = is_rare(o, block, y);
    unsigned left_x = left_by(o, block, to_x), left_y = left_by(o, block, to_y);
    if (rare_x != rare_y)
        return rare_x;
    return left_x != left_y ? left_x > left_y : to_x > to_y;
}

/* Adds the block after all that can only be reached from it. */
static void visit(struct order *o, unsigned block)
{
    unsigned first = o->flow.first[block], end = o->flow.first[block + 1];
    o->seen[block] = true;
    for (unsigned i = first; i < end; i++) {
        unsigned next = end;
        for (unsigned e = first; e < end; e++)
            if (!o->seen[o->flow.succ[e]] && (next == end || comes_later(o, block, e, next)))
                next = e;
        if (next == end)
            break;
        visit(o, o->flow.succ[next]);
    }
    o->list[o->n++] = block;
}

static void reverse(struct order *o)
{
    for (unsigned i = 0; i < o->n / 2; i++) {
        unsigned block = o->list[i];
        o->list[i] = o->list[o->n - 1 - i];
        o->list[o->n - 1 - i] = block;
    }
}

/* From place `from` on, those of the set come first; else the order stays. */
static void gather(struct order *o, unsigned from, const bool *set)
{
    unsigned *others = mem_array(o->n, sizeof *others), n = 0, to = from;
    for (unsigned i = from; i < o->n; i++)
        if (set[o->list[i]])
            o->list[to++] = o->list[i];
        else
            others[n++] = o->list[i];
    memcpy(o->list + to, others, n * sizeof *others);
}

static unsigned place_of(const struct order *o, unsigned block)
{
    unsigned i = 0;
    while (o->list[i] != block)
        i++;
    return i;
}

/* Outer loops first, which are larger. */
static void gather_loops(struct order *o)
{
    bool *done = mem_array(o->loops.n + 1, sizeof *done);
    for (unsigned k = 0; k < o->loops.n; k++) {
        unsigned most = o->loops.n;
        for (unsigned i = 0; i < o->loops.n; i++)
            if (!done[i] && (most == o->loops.n || o->loops.at[i].size > o->loops.at[most].size))
                most = i;
        done[most] = true;
        gather(o, place_of(o, o->loops.at[most].header), o->loops.at[most].body);
    }
}

/* Blocks that are only reached over rare edges, or from such blocks. */
static void put_rare_last(struct order *o)
{
    bool *often = mem_array(o->flow.n, sizeof *often);
    often[0] = true;
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0; i < o->n; i++)
            for (unsigned b = o->list[i], e = o->flow.first[b]; e < o->flow.first[b + 1]; e++)
                if (often[b] && !often[o->flow.succ[e]] && !is_rare(o, b, e))
                    often[o->flow.succ[e]] = again = true;
    }
    gather(o, 0, often);
}

static void order(LLVMValueRef f)
{
    struct order o = { .flow = ir_read_flow(f), .loops = ir_find_loops(f) };
    o.seen = mem_array(o.flow.n, sizeof *o.seen);
    o.list = mem_array(o.flow.n, sizeof *o.list);
    visit(&o, 0);
    reverse(&o);
    gather_loops(&o);
    put_rare_last(&o);
    for (unsigned i = 1; i < o.n; i++)
        LLVMMoveBasicBlockAfter(o.flow.at[o.list[i]], o.flow.at[o.list[i - 1]]);
}

void ir_order_blocks(struct ir_unit *u)
{
    IR_EACH_FUNCTION(f, u->module)
        if (!LLVMIsDeclaration(f) && LLVMCountBasicBlocks(f) > 2)
            order(f);
}
