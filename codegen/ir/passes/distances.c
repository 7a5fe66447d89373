/* distances.c - addresses that have a known distance are computed from each other.
 *
 * A batch of iterations (batches.c) accesses a[k * n + j], a[(k + threads) * n + j] and so on.
 * Computed one by one, each costs a multiplication, an addition and the extension to 64 bits; the
 * distance of two of them is the same for the whole loop:
 *
 *     &a[k * n + j]  ──▶  + threads * n * 4  ──▶  + threads * n * 4 …        one instruction each
 *
 * Arithmetic of 32 bits that does not wrap (nsw) has the value that it would have in 64 bits, and
 * so has the difference of two such values.  What is multiplied in 32 bits for it does not wrap if
 * the counters are not negative: k * n and (k + t) * n then have the same sign, so that t * n, the
 * difference of two numbers below 2^31, is one itself. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/distances.h"
#include "codegen/ir/passes/passes.h"

static LLVMValueRef operand(LLVMValueRef v, unsigned i) { return LLVMGetOperand(v, i); }

/* Instructions whose value is the one that they would have without a limit of bits; modulo 2^64,
 * which is what addresses are. */
static LLVMOpcode exact_opcode(LLVMValueRef v)
{
    LLVMOpcode op = LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v) : LLVMRet;
    if (op == LLVMOr && LLVMGetIsDisjoint(v))
        return LLVMAdd;
    if (op == LLVMZExt && LLVMGetNNeg(v))
        return LLVMSExt;
    if (op != LLVMAdd && op != LLVMMul && op != LLVMShl)
        return op == LLVMSExt ? op : LLVMRet;
    bool exact = LLVMGetIntTypeWidth(LLVMTypeOf(v)) == 64 || LLVMGetNSW(v) ||
                 (op == LLVMAdd && ir_sum_fits(v));
    return exact ? op : LLVMRet;
}

static bool small_constant(LLVMValueRef v, long long *value)
{
    if (!LLVMIsAConstantInt(v))
        return false;
    *value = LLVMConstIntGetSExtValue(v);
    return *value > -(1 << 24) && *value < 1 << 24;
}

/* v as a multiple of something, or as a number. */
static struct ir_distance multiple(LLVMValueRef v)
{
    LLVMOpcode op = exact_opcode(v);
    long long by;
    if (small_constant(v, &by))
        return (struct ir_distance){ .scale = by, .narrow = true };
    if ((op == LLVMMul || op == LLVMShl) && small_constant(operand(v, 1), &by) &&
        (op == LLVMMul || by < 24))
        return (struct ir_distance){ op == LLVMMul ? by : 1ll << by, { operand(v, 0) }, 1, true };
    return (struct ir_distance){ 1, { v }, 1, true };
}

static bool subtract_multiples(LLVMValueRef a, LLVMValueRef b, struct ir_distance *d)
{
    struct ir_distance x = multiple(a), y = multiple(b);
    if (x.n != y.n || x.factor[0] != y.factor[0])
        return false;
    *d = y;
    d->scale -= x.scale;
    return true;
}

static bool is_nonnegative(LLVMValueRef v) { return ir_range_of(v).least >= 0; }

/* ------------------------------------------------------------------ b - a */
static bool scale(struct ir_distance *d, long long by)
{
    return !__builtin_mul_overflow(d->scale, by, &d->scale) && d->scale < 1ll << 40 &&
           d->scale > -(1ll << 40);
}

static bool subtract(LLVMValueRef a, LLVMValueRef b, struct ir_distance *d);

static bool subtract_sums(LLVMValueRef a, LLVMValueRef b, struct ir_distance *d)
{
    for (unsigned i = 0; i < 2; i++) {
        if (operand(b, i) == a) {
            *d = multiple(operand(b, 1 - i));
            return true;
        }
        for (unsigned j = 0; j < 2 && exact_opcode(a) == LLVMAdd; j++)
            if (operand(a, j) == operand(b, i) &&
                (subtract_multiples(operand(a, 1 - j), operand(b, 1 - i), d) ||
                 subtract(operand(a, 1 - j), operand(b, 1 - i), d)))
                return true;
    }
    return false;
}

static bool subtract_products(LLVMValueRef a, LLVMValueRef b, struct ir_distance *d)
{
    long long by;
    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 0; j < 2; j++) {
            LLVMValueRef x = operand(a, 1 - j), y = operand(b, 1 - i), f = operand(b, i);
            if (operand(a, j) != f || x == y || !subtract(x, y, d) || d->n == IR_MANY_FACTORS)
                continue;
            if (small_constant(f, &by))
                return scale(d, by);
            d->narrow &= is_nonnegative(x) && is_nonnegative(y);
            d->factor[d->n++] = f;
            return true;
        }
    return false;
}

static bool subtract(LLVMValueRef a, LLVMValueRef b, struct ir_distance *d)
{
    LLVMOpcode op = exact_opcode(b);
    long long by;
    if (op == LLVMAdd)
        return subtract_sums(a, b, d);
    if (op != exact_opcode(a))
        return false;
    if (op == LLVMMul)
        return subtract_products(a, b, d);
    if (op == LLVMSExt)
        return LLVMTypeOf(operand(a, 0)) == LLVMTypeOf(operand(b, 0)) &&
               subtract(operand(a, 0), operand(b, 0), d);
    if (op != LLVMShl || operand(a, 1) != operand(b, 1) || !small_constant(operand(b, 1), &by) ||
        by < 0 || by > 24 || !subtract(operand(a, 0), operand(b, 0), d))
        return false;
    return scale(d, 1ll << by);
}

/* ------------------------------------------------------------------ addresses */
/* One address of those with the same base differs from the others in its first index only. */
bool ir_subtract_addresses(LLVMTargetDataRef layout, LLVMValueRef a, LLVMValueRef b,
                           struct ir_distance *d)
{
    int n = LLVMGetNumOperands(b);
    LLVMTypeRef element = LLVMGetGEPSourceElementType(b);
    if (n != LLVMGetNumOperands(a) || element != LLVMGetGEPSourceElementType(a))
        return false;
    for (int i = 0; i < n; i++)
        if (i != 1 && operand(a, (unsigned)i) != operand(b, (unsigned)i))
            return false;
    return operand(a, 1) != operand(b, 1) && subtract(operand(a, 1), operand(b, 1), d) &&
           scale(d, (long long)LLVMABISizeOfType(layout, element));
}

static bool accesses(LLVMValueRef inst, LLVMValueRef address)
{
    return (LLVMIsALoadInst(inst) && operand(inst, 0) == address) ||
           (LLVMIsAStoreInst(inst) && operand(inst, 1) == address);
}

static bool may_end_thread(LLVMValueRef inst)
{
    LLVMValueRef callee = LLVMIsACallInst(inst) ? LLVMGetCalledValue(inst) : NULL;
    return callee && !(LLVMIsAFunction(callee) && ir_has(callee, "willreturn"));
}

/* What does not have its exact value is undefined, and what is accessed has it: here, where nothing
 * can end the thread before the access. */
static bool is_accessed_here(LLVMValueRef address)
{
    bool used = false;
    IR_EACH_USE(use, address)
        used |= accesses(LLVMGetUser(use), address);
    for (LLVMValueRef i = used ? LLVMGetNextInstruction(address) : NULL; i;
         i = LLVMGetNextInstruction(i)) {
        if (accesses(i, address))
            return true;
        if (may_end_thread(i))
            return false;
    }
    return false;
}

static LLVMValueRef widen(const struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef v)
{
    return LLVMBuildSExt(b, v, LLVMInt64TypeInContext(u->ctx), "");
}

static LLVMValueRef product(const struct ir_unit *u, LLVMBuilderRef b, const struct ir_distance *d)
{
    LLVMValueRef value = NULL;
    bool narrow = d->n == IR_MANY_FACTORS && d->narrow &&
                  LLVMTypeOf(d->factor[0]) == LLVMTypeOf(d->factor[1]);
    if (narrow)
        value = widen(u, b, LLVMBuildMul(b, d->factor[0], d->factor[1], ""));
    for (unsigned i = 0; i < d->n && !narrow; i++) {
        LLVMValueRef f = widen(u, b, d->factor[i]);
        value = value ? LLVMBuildMul(b, value, f, "") : f;
    }
    LLVMValueRef by = l_i64(u, (uint64_t)d->scale);
    return value ? LLVMBuildMul(b, value, by, "") : by;
}

LLVMValueRef ir_add_distance(const struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef from,
                             const struct ir_distance *d)
{
    LLVMValueRef by = product(u, b, d);
    return LLVMBuildGEP2(b, LLVMInt8TypeInContext(u->ctx), from, &by, 1, "");
}

enum gain { NOTHING, CHEAP, PRODUCTS };

/* Computes the address from the latest one that has a known distance. */
static enum gain join(const struct ir_unit *u, LLVMBuilderRef b, struct ir_chain *c,
                      LLVMValueRef address)
{
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(u->module);
    struct ir_distance d;
    unsigned at = c->n++;
    c->was[at] = c->is[at] = address;
    for (unsigned i = at; i--;)
        if (operand(c->was[i], 0) == operand(address, 0) &&
            ir_subtract_addresses(layout, c->was[i], address, &d)) {
            LLVMPositionBuilderBefore(b, address);
            c->is[at] = ir_add_distance(u, b, c->is[i], &d);
            LLVMReplaceAllUsesWith(address, c->is[at]);
            return d.n == IR_MANY_FACTORS ? PRODUCTS : CHEAP;
        }
    return NOTHING;
}

static enum gain share_in(const struct ir_unit *u, LLVMBuilderRef b, LLVMBasicBlockRef block)
{
    struct ir_chain c = { .n = 0 };
    enum gain most = NOTHING;
    IR_EACH_INSTRUCTION(i, block)
        if (c.n < IR_LONGEST_CHAIN && LLVMIsAGetElementPtrInst(i) && is_accessed_here(i)) {
            enum gain g = join(u, b, &c, i);
            most = g > most ? g : most;
        }
    if (ir_keep_pointers(u, b, block, &c) && !most)
        most = CHEAP;
    return most;
}

/* A product is worth a register outside of the loop, a single factor is not: the instruction that
 * adds it can scale it, too. */
void ir_share_distances(struct ir_unit *u, LLVMTargetMachineRef machine)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    enum gain most = NOTHING;
    IR_EACH_FUNCTION(f, u->module)
        IR_EACH_BLOCK(block, f) {
            enum gain g = share_in(u, b, block);
            most = g > most ? g : most;
        }
    LLVMDisposeBuilder(b);
    if (most)
        ir_run_passes(u->module,
                      most == PRODUCTS ? "function(early-cse,loop-mssa(licm),adce)"
                                       : "function(early-cse,adce)",
                      machine);
}
