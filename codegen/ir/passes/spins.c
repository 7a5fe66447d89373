/* spins.c - on the emulated device, a thread that waits in a loop of the user's lets others go on.
 *
 * A GPU's threads all go on; here one runs until it waits for others (hostrt/emu/team.c).  It would
 * run for ever in a loop that looks at memory until another thread has changed it:
 *
 *     for (;;) {                           for (;;) {
 *         seen = atomic load flag              seen = atomic load flag
 *         if (seen)               ──▶          yield()
 *             break;                           if (seen)
 *     }                                            break;
 *                                          }
 *
 * What the loop is written with does not matter.  A read waits when what it finds has a say in
 * whether it is made again: in the conditions of the branches that it depends on (control
 * dependence), in values stored where they load, in the branches that those stores depend on.
 *
 * A read can find something else the next time, though its thread has done nothing, where it is an
 * atomic or volatile load; an exchange, or another update that may leave the old value; a plain
 * load with a fence between one time and the next; a call of a function with one of these. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/checks.h"
#include "codegen/ir/passes/passes.h"
#include <llvm-c/DebugInfo.h>
#include <string.h>

struct spins {
    struct ir_unit *u;
    struct ir_graph *g;
    bool *fences, *looks; /* by node: it has a fence; it is the user's and has a read */
    /* of the function at hand */
    struct ir_flow flow;
    bool *follows;
    bool **ways;              /* [from][to], as far as they are known */
    ir_values writes, fenced; /* stores and calls; fences and calls that have one */
    /* of the read at hand */
    LLVMValueRef read;
    ir_values seen;
    bool *asked; /* by block: the branches that it depends on have been looked at */
    bool waits;
};

static bool has(const ir_values *list, LLVMValueRef v)
{
    for (unsigned i = 0; i < list->n; i++)
        if (list->at[i] == v)
            return true;
    return false;
}

/* ------------------------------------------------------------------ flow */
static unsigned block_of(const struct spins *s, LLVMValueRef i)
{
    unsigned b = 0;
    while (s->flow.at[b] != LLVMGetInstructionParent(i))
        b++;
    return b;
}

static bool depends_on(const struct spins *s, unsigned block, unsigned branch)
{
    const struct ir_flow *g = &s->flow;
    bool always = block != branch && s->follows[(size_t)branch * g->n + block], after = false;
    for (unsigned e = g->first[branch]; e < g->first[branch + 1]; e++)
        after |= s->follows[(size_t)g->succ[e] * g->n + block];
    return after && !always && g->first[branch + 1] - g->first[branch] > 1;
}

/* Is there a way, over one edge at least? */
static bool is_way(struct spins *s, unsigned from, unsigned to)
{
    const struct ir_flow *g = &s->flow;
    bool *reached = s->ways[from], again = !reached;
    if (!reached)
        reached = s->ways[from] = mem_array(g->n, 1);
    while (again) {
        again = false;
        for (unsigned b = 0; b < g->n; b++)
            for (unsigned e = g->first[b]; (b == from || reached[b]) && e < g->first[b + 1]; e++)
                if (!reached[g->succ[e]])
                    reached[g->succ[e]] = again = true;
    }
    return reached[to];
}

static bool is_between(struct spins *s, LLVMValueRef read, LLVMValueRef other)
{
    unsigned a = block_of(s, read), b = block_of(s, other);
    return is_way(s, a, b) && is_way(s, b, a);
}

/* ------------------------------------------------------------------ what is read */
static bool is_users_function(const struct ir_node *node)
{
    return LLVMIsAFunction(node->value) && node->defined && LLVMGetSubprogram(node->value);
}

static bool is_local(LLVMValueRef p) { return LLVMIsAAllocaInst(ir_accessed_base(p)); }

static const char *intrinsic(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) ? ir_intrinsic(callee) : "";
}

/* A node for which `set` holds: a function that is called, where one can see which. */
static bool calls(const struct spins *s, LLVMValueRef i, const bool *set)
{
    int node = LLVMIsACallInst(i) ? ir_graph_find(s->g, LLVMGetCalledValue(i)) : -1;
    return node >= 0 && set[node];
}

/* Of a value that has come together: of all of them. */
static bool is_always(bool (*is)(LLVMValueRef), LLVMValueRef v, unsigned depth)
{
    enum { DEEPEST = 4 };
    LLVMValueRef local = LLVMIsALoadInst(v) ? LLVMGetOperand(v, 0) : NULL;
    if (is(v))
        return true;
    if (depth == DEEPEST)
        return false;
    if (LLVMIsACastInst(v))
        return is_always(is, LLVMGetOperand(v, 0), depth + 1);
    for (unsigned i = 0; LLVMIsAPHINode(v) && i < LLVMCountIncoming(v); i++)
        if (!is_always(is, LLVMGetIncomingValue(v, i), depth + 1))
            return false;
    if (!local || !LLVMIsAAllocaInst(local))
        return LLVMIsAPHINode(v) != NULL;
    IR_EACH_USE(use, local) {
        LLVMValueRef store = LLVMGetUser(use);
        if (LLVMIsAStoreInst(store) && LLVMGetOperand(store, 1) == local &&
            !is_always(is, LLVMGetOperand(store, 0), depth + 1))
            return false;
    }
    return true;
}

/* by an atomic load or an exchange, at any time */
static bool was_found(LLVMValueRef v)
{
    return LLVMIsAExtractValueInst(v) || (LLVMIsALoadInst(v) && LLVMIsAtomic(v));
}

static bool is_nothing(LLVMValueRef v) { return LLVMIsNull(v); }

static bool may_leave_value(LLVMValueRef update)
{
    switch (LLVMGetAtomicRMWBinOp(update)) {
    case LLVMAtomicRMWBinOpXchg:
    case LLVMAtomicRMWBinOpAnd:
    case LLVMAtomicRMWBinOpOr:
    case LLVMAtomicRMWBinOpMax:
    case LLVMAtomicRMWBinOpMin:
    case LLVMAtomicRMWBinOpUMax:
    case LLVMAtomicRMWBinOpUMin: return true;
    case LLVMAtomicRMWBinOpAdd:
    case LLVMAtomicRMWBinOpSub:
    case LLVMAtomicRMWBinOpXor: return is_always(is_nothing, LLVMGetOperand(update, 1), 0);
    default: return false;
    }
}

/* … without a fence. */
static bool looks_by_itself(LLVMValueRef i)
{
    if (LLVMIsALoadInst(i))
        return (LLVMIsAtomic(i) || LLVMGetVolatile(i)) && !is_local(LLVMGetOperand(i, 0));
    if (LLVMIsAAtomicCmpXchgInst(i)) /* else it fails because another thread goes on */
        return !is_always(was_found, LLVMGetOperand(i, 1), 0);
    return LLVMIsAAtomicRMWInst(i) && may_leave_value(i);
}

static bool can_look(struct spins *s, LLVMValueRef i)
{
    if (looks_by_itself(i) || calls(s, i, s->looks))
        return true;
    if (LLVMIsACallInst(i))
        return calls(s, i, s->fences) && LLVMTypeOf(i) != l_void(s->u);
    if (!LLVMIsALoadInst(i) || is_local(LLVMGetOperand(i, 0)))
        return false;
    for (unsigned n = 0; n < s->fenced.n; n++)
        if (is_between(s, i, s->fenced.at[n]))
            return true;
    return false;
}

/* ------------------------------------------------------------------ what decides */
static void ask_value(struct spins *s, LLVMValueRef v);

static void ask_block(struct spins *s, unsigned block)
{
    if (s->asked[block])
        return;
    s->asked[block] = true;
    for (unsigned b = 0; b < s->flow.n; b++)
        if (depends_on(s, block, b)) {
            ask_value(s, LLVMGetOperand(LLVMGetBasicBlockTerminator(s->flow.at[b]), 0));
            ask_block(s, b);
        }
}

/* The same computation, of what is loaded, too. */
static bool is_same(LLVMValueRef a, LLVMValueRef b, unsigned depth)
{
    enum { DEEPEST = 6 };
    if (a == b)
        return true;
    if (depth == DEEPEST || !LLVMIsAInstruction(a) || !LLVMIsAInstruction(b) || LLVMIsAPHINode(a) ||
        LLVMIsACallInst(a) || LLVMGetInstructionOpcode(a) != LLVMGetInstructionOpcode(b) ||
        LLVMGetNumOperands(a) != LLVMGetNumOperands(b))
        return false;
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(a); i++)
        if (!is_same(LLVMGetOperand(a, i), LLVMGetOperand(b, i), depth + 1))
            return false;
    return true;
}

/* Addresses of what may be the same: locals by their names, others as they are computed; a local
 * whose address is kept somewhere can be reached by others. */
static bool may_meet(LLVMValueRef p, LLVMValueRef q)
{
    LLVMValueRef a = ir_accessed_base(p), b = ir_accessed_base(q);
    if (LLVMIsAAllocaInst(a) && LLVMIsAAllocaInst(b))
        return a == b;
    if (LLVMIsAAllocaInst(a) || LLVMIsAAllocaInst(b))
        return ir_pointer_escapes(LLVMIsAAllocaInst(a) ? a : b);
    return is_same(p, q, 0);
}

static bool may_write(LLVMValueRef i, LLVMValueRef p)
{
    if (LLVMIsAStoreInst(i))
        return may_meet(LLVMGetOperand(i, 1), p);
    for (unsigned n = 0; n < LLVMGetNumArgOperands(i); n++) {
        LLVMValueRef argument = LLVMGetOperand(i, n);
        if (LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMPointerTypeKind && may_meet(argument, p))
            return true;
    }
    return false;
}

static void ask_memory(struct spins *s, LLVMValueRef p)
{
    for (unsigned i = 0; i < s->writes.n && !s->waits; i++) {
        LLVMValueRef write = s->writes.at[i];
        if (has(&s->seen, write) || !may_write(write, p))
            continue;
        ask_value(s, write);
        ask_block(s, block_of(s, write));
    }
}

static void ask_value(struct spins *s, LLVMValueRef v)
{
    if (s->waits || !LLVMIsAInstruction(v) || has(&s->seen, v))
        return;
    *VEC_PUSH(NULL, &s->seen) = v;
    if (v == s->read)
        s->waits = true;
    for (unsigned i = 0; LLVMIsAPHINode(v) && i < LLVMCountIncoming(v); i++)
        ask_block(s, block_of(s, LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(v, i))));
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(v); i++) {
        LLVMValueRef operand = LLVMGetOperand(v, i);
        ask_value(s, operand);
        bool handed = LLVMIsACallInst(v) && is_local(operand);
        if (handed || (LLVMIsALoadInst(v) && i == 0))
            ask_memory(s, operand);
    }
}

static bool waits(struct spins *s, LLVMValueRef read)
{
    unsigned block = block_of(s, read);
    if (!is_way(s, block, block))
        return false;
    s->read = read;
    s->waits = false;
    s->seen.n = 0;
    memset(s->asked, false, s->flow.n);
    ask_block(s, block);
    return s->waits;
}

/* ------------------------------------------------------------------ all of it */
static bool is_write(LLVMValueRef i)
{
    return LLVMIsAStoreInst(i) ||
           (LLVMIsACallInst(i) && !text_starts(intrinsic(i), "llvm.lifetime") &&
            !text_starts(intrinsic(i), "llvm.dbg"));
}

static bool may_let_go_on(const struct spins *s, LLVMValueRef i)
{
    return looks_by_itself(i) || ir_is_fence(i) || calls(s, i, s->looks) || calls(s, i, s->fences);
}

static void study_function(struct spins *s, LLVMValueRef f)
{
    s->writes.n = s->fenced.n = 0;
    IR_EACH_INSTRUCTION_OF(i, f) {
        if (is_write(i))
            *VEC_PUSH(NULL, &s->writes) = i;
        if (ir_is_fence(i) || calls(s, i, s->fences))
            *VEC_PUSH(NULL, &s->fenced) = i;
    }
    s->flow = ir_read_flow(f);
    s->follows = ir_follows(&s->flow);
    s->ways = mem_array(s->flow.n, sizeof *s->ways);
    s->asked = mem_array(s->flow.n, 1);
}

static void add_point(ir_values *points, LLVMValueRef i)
{
    if (!has(points, i))
        *VEC_PUSH(NULL, points) = i;
}

/* Others go on after the read, which itself may hold a lock; so, too, where that is given back. */
static void add_points(struct spins *s, ir_values *points, LLVMValueRef read)
{
    if (LLVMIsACallInst(read) || looks_by_itself(read))
        add_point(points, read);
    for (unsigned i = 0; i < s->fenced.n; i++)
        if (is_between(s, read, s->fenced.at[i]))
            add_point(points, s->fenced.at[i]);
}

/* In large functions, for which all this would take long, others go on wherever they could have to.
 */
static bool is_small(LLVMValueRef f)
{
    enum { MOST_BLOCKS = 256, MOST_INSTRUCTIONS = 4096 };
    unsigned n = 0;
    IR_EACH_INSTRUCTION_OF(i, f)
        n++;
    return LLVMCountBasicBlocks(f) <= MOST_BLOCKS && n <= MOST_INSTRUCTIONS;
}

static ir_values find_points(struct spins *s, LLVMValueRef f)
{
    ir_values points = { 0 };
    IR_EACH_INSTRUCTION_OF(i, f)
        if (may_let_go_on(s, i))
            *VEC_PUSH(NULL, &points) = i;
    if (!points.n || !is_small(f))
        return points;
    points.n = 0;
    study_function(s, f);
    IR_EACH_INSTRUCTION_OF(i, f)
        if (can_look(s, i) && waits(s, i))
            add_points(s, &points, i);
    return points;
}

static void yield_in(struct spins *s, LLVMValueRef f)
{
    ir_values points = find_points(s, f);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(s->u->ctx);
    for (unsigned i = 0; i < points.n; i++) {
        LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(points.at[i]));
        LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(points.at[i]));
        l_call_runtime(s->u, b, "__ompgpu_emu_yield", NULL, 0);
    }
    LLVMDisposeBuilder(b);
}

static void spread_looks(struct spins *s)
{
    for (bool again = true; again;) {
        again = false;
        for (unsigned n = 0; n < s->g->n; n++) {
            const struct ir_node *node = &s->g->nodes[n];
            for (unsigned e = 0; is_users_function(node) && e < node->nedges; e++)
                if (s->looks[node->edges[e]] && !s->looks[n])
                    again = s->looks[n] = true;
        }
    }
}

static void study_module(struct spins *s)
{
    s->g = ir_graph_build(s->u->module);
    s->fences = mem_array(s->g->n, sizeof *s->fences);
    s->looks = mem_array(s->g->n, sizeof *s->looks);
    for (unsigned n = 0; n < s->g->n; n++) {
        if (!LLVMIsAFunction(s->g->nodes[n].value) || !s->g->nodes[n].defined)
            continue;
        IR_EACH_INSTRUCTION_OF(i, s->g->nodes[n].value) {
            s->fences[n] |= ir_is_fence(i);
            s->looks[n] |= is_users_function(&s->g->nodes[n]) && looks_by_itself(i);
        }
    }
    ir_graph_reaching(s->g, s->fences);
    for (unsigned n = 0; n < s->g->n; n++)
        s->looks[n] |= s->fences[n] && is_users_function(&s->g->nodes[n]);
    spread_looks(s);
}

void ir_let_others_go_on(struct ir_unit *u)
{
    struct spins s = { .u = u };
    study_module(&s);
    IR_EACH_FUNCTION(f, u->module)
        if (!LLVMIsDeclaration(f) && LLVMGetSubprogram(f))
            yield_in(&s, f);
}
