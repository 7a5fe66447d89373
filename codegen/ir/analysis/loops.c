/* loops.c - the natural loops of a function, by dominators.  LLVM's own are not to be had through
 * its C interface.  Functions are small here, so that a matrix of bytes does. */
#include "codegen/ir/analysis/analysis.h"
#include <stdlib.h>
#include <string.h>

struct number {
    LLVMBasicBlockRef block;
    unsigned index;
};

static int by_address(const void *a, const void *b)
{
    const char *x = (const char *)((const struct number *)a)->block,
               *y = (const char *)((const struct number *)b)->block;
    return x < y ? -1 : x > y;
}

struct ir_flow ir_read_flow(LLVMValueRef f)
{
    struct ir_flow g = { .n = LLVMCountBasicBlocks(f) };
    unsigned edges = 0;
    struct number *numbers = mem_array(g.n, sizeof *numbers);
    g.at = mem_array(g.n, sizeof *g.at);
    g.first = mem_array(g.n + 1, sizeof *g.first);
    LLVMGetBasicBlocks(f, g.at);
    for (unsigned b = 0; b < g.n; b++) {
        numbers[b] = (struct number){ g.at[b], b };
        edges += LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(g.at[b]));
    }
    qsort(numbers, g.n, sizeof *numbers, by_address);
    g.succ = mem_array(edges + 1, sizeof *g.succ);
    for (unsigned b = 0, e = 0; b < g.n; b++) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(g.at[b]);
        for (unsigned i = 0, count = LLVMGetNumSuccessors(last); i < count; i++) {
            struct number key = { LLVMGetSuccessor(last, i), 0 };
            g.succ[e++] =
                ((struct number *)bsearch(&key, numbers, g.n, sizeof *numbers, by_address))->index;
        }
        g.first[b + 1] = e;
    }
    return g;
}

bool *ir_reach_blocks(LLVMValueRef f, bool (*closed)(LLVMBasicBlockRef from, unsigned successor))
{
    struct ir_flow g = ir_read_flow(f);
    bool *reached = mem_array(g.n, 1);
    reached[0] = true;
    for (bool again = true; again;) {
        again = false;
        for (unsigned b = 0; b < g.n; b++)
            for (unsigned e = g.first[b]; reached[b] && e < g.first[b + 1]; e++)
                if (!reached[g.succ[e]] && !closed(g.at[b], e - g.first[b]))
                    reached[g.succ[e]] = again = true;
    }
    return reached;
}

/* dom[b * n + d]: d dominates b.  What cannot be reached is dominated by everything. */
static bool *dominators(struct arena *a, const struct ir_flow *g)
{
    unsigned n = g->n;
    bool *dom = arena_alloc(a, (size_t)n * n);
    memset(dom + n, true, (size_t)n * (n - 1));
    dom[0] = true;
    for (bool again = true; again;) {
        again = false;
        for (unsigned b = 0; b < n; b++)
            for (unsigned e = g->first[b]; e < g->first[b + 1]; e++)
                for (unsigned s = g->succ[e], d = 0; d < n; d++)
                    if (d != s && dom[(size_t)s * n + d] && !dom[(size_t)b * n + d]) {
                        dom[(size_t)s * n + d] = false;
                        again = true;
                    }
    }
    return dom;
}

/* From the ends on; what has no way to one is followed by everything. */
bool *ir_follows(const struct ir_flow *g)
{
    unsigned n = g->n;
    bool *follows = mem_array((size_t)n * n, 1);
    for (unsigned b = 0; b < n; b++)
        for (unsigned p = 0; p < n; p++)
            follows[(size_t)b * n + p] = p == b || g->first[b] < g->first[b + 1];
    for (bool again = true; again;) {
        again = false;
        for (unsigned b = n; b-- > 0;)
            for (unsigned e = g->first[b]; e < g->first[b + 1]; e++)
                for (unsigned s = g->succ[e], p = 0; p < n; p++)
                    if (p != b && follows[(size_t)b * n + p] && !follows[(size_t)s * n + p]) {
                        follows[(size_t)b * n + p] = false;
                        again = true;
                    }
    }
    return follows;
}

static void add_body(const struct ir_flow *g, struct ir_loop *l, unsigned block)
{
    if (l->body[block])
        return;
    l->body[block] = true;
    l->size++;
    for (unsigned b = 0; b < g->n; b++)
        for (unsigned e = g->first[b]; e < g->first[b + 1]; e++)
            if (g->succ[e] == block)
                add_body(g, l, b);
}

/* The only way into the loop, from a block with no other way out; -1 where there is none such. */
static int preheader(const struct ir_flow *g, const struct ir_loop *l)
{
    int found = -1;
    for (unsigned b = 0; b < g->n; b++)
        for (unsigned e = g->first[b]; e < g->first[b + 1]; e++)
            if (g->succ[e] == l->header && !l->body[b]) {
                if (found >= 0 || g->first[b + 1] - g->first[b] != 1)
                    return -1;
                found = (int)b;
            }
    return found;
}

static struct ir_loop *loop_of(struct ir_loops *loops, unsigned header, unsigned n)
{
    for (unsigned i = 0; i < loops->n; i++)
        if (loops->at[i].header == header)
            return &loops->at[i];
    struct ir_loop *l = &loops->at[loops->n++];
    *l = (struct ir_loop){ .header = header, .body = mem_array(n, 1), .size = 1 };
    l->body[header] = true;
    return l;
}

/* Blocks by their number in the function. */
struct ir_loops ir_find_loops(LLVMValueRef f)
{
    struct ir_flow g = ir_read_flow(f);
    struct ir_loops loops = { mem_array(g.n, sizeof *loops.at), 0 };
    struct arena *scratch = arena_new();
    bool *dom = dominators(scratch, &g);
    for (unsigned b = 0; b < g.n; b++)
        for (unsigned e = g.first[b]; e < g.first[b + 1]; e++)
            if (dom[(size_t)b * g.n + g.succ[e]])
                add_body(&g, loop_of(&loops, g.succ[e], g.n), b);
    arena_free(scratch);
    for (unsigned i = 0; i < loops.n; i++)
        loops.at[i].preheader = preheader(&g, &loops.at[i]);
    return loops;
}

LLVMBasicBlockRef ir_only_predecessor(LLVMBasicBlockRef block)
{
    LLVMBasicBlockRef found = NULL;
    IR_EACH_USE(use, LLVMBasicBlockAsValue(block)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsATerminatorInst(user) || (found && found != LLVMGetInstructionParent(user)))
            return NULL;
        found = LLVMGetInstructionParent(user);
    }
    return found;
}
