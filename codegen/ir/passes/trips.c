/* trips.c - how often a loop that threads share runs, by what its bounds can be.
 *
 * The writer of loops (codegen/c/device/loops.c) counts a loop's iterations so that nothing
 * overflows whatever the bounds are, and the threads take them in steps of their number s:
 *
 *   n = lb <= ub ? ub - lb + 1 : 0;
 *   for (i = id; i < n; i += s), which goes on while n - i > s:  body of lb + i
 *
 * Here bounds are known to be small, by ranges.c:
 *
 *   n <= s         no thread has a second iteration: no loop is left
 *   n + s < 2^32   the next i does not wrap: the loop goes on while i + s < n, and i + s is needed
 *                  anyway
 *   lb < ub ? …    without the equality, n is max(lb, ub) - lb
 *   lb, ub >= 0    lb + id does not wrap: where n is needed for nothing else, i < n is
 *                  lb + i <= ub, and the body needs lb + i anyway
 */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include <limits.h>

static LLVMValueRef operand(LLVMValueRef v, unsigned i) { return LLVMGetOperand(v, i); }

static bool is_binary(LLVMValueRef v, LLVMOpcode op)
{
    return LLVMIsABinaryOperator(v) && LLVMGetInstructionOpcode(v) == op;
}

/* ------------------------------------------------------------------ x - y, for equal sums
 * A sum of few terms and a number, modulo 2^32. */
enum { TERMS = 6 };
struct sum {
    LLVMValueRef term[TERMS];
    int times[TERMS];
    unsigned n, number;
    bool large; /* more terms than that */
};

static void add_term(struct sum *s, LLVMValueRef v, int times)
{
    unsigned i = 0;
    while (i < s->n && s->term[i] != v)
        i++;
    s->large |= i == TERMS;
    if (s->large)
        return;
    s->term[i] = v;
    s->times[i] = times + (i < s->n ? s->times[i] : 0);
    s->n += i == s->n;
}

static void add_sum(struct sum *s, LLVMValueRef v, int times, unsigned depth)
{
    bool minus = is_binary(v, LLVMSub);
    if (LLVMIsAConstantInt(v)) {
        s->number += (unsigned)LLVMConstIntGetSExtValue(v) * (unsigned)times;
    } else if (depth && (minus || is_binary(v, LLVMAdd))) {
        add_sum(s, operand(v, 0), times, depth - 1);
        add_sum(s, operand(v, 1), minus ? -times : times, depth - 1);
    } else {
        add_term(s, v, times);
    }
}

/* Is n == high - low + more? */
static bool is_distance(LLVMValueRef n, LLVMValueRef high, LLVMValueRef low, unsigned more)
{
    enum { DEEP = 4 };
    struct sum s = { .number = 0u - more };
    add_sum(&s, n, 1, DEEP);
    add_sum(&s, high, -1, DEEP);
    add_sum(&s, low, 1, DEEP);
    bool zero = !s.large && !s.number;
    for (unsigned i = 0; i < s.n; i++)
        zero &= !s.times[i];
    return zero;
}

/* ------------------------------------------------------------------ trip counts */
struct trip {
    LLVMValueRef low, high;
    bool whole;     /* `high` is the last iteration, not the one after it */
    bool is_signed; /* as the bounds are compared */
    bool positive;  /* neither bound is negative */
};

/* The loop has iterations where low < high, or <=. */
static bool read_test(LLVMValueRef test, bool nonempty, struct trip *t)
{
    LLVMIntPredicate p = LLVMGetICmpPredicate(test);
    bool less = p == LLVMIntSLT || p == LLVMIntULT, more = p == LLVMIntSGT || p == LLVMIntUGT,
         least = p == LLVMIntSGE || p == LLVMIntUGE, most = p == LLVMIntSLE || p == LLVMIntULE;
    bool upwards = nonempty ? less || most : more || least;
    *t = (struct trip){ .low = operand(test, !upwards),
                        .high = operand(test, upwards),
                        .whole = nonempty ? least || most : less || more,
                        .is_signed = LLVMIntSGT <= p && p <= LLVMIntSLE };
    return less || more || least || most;
}

static bool is_zero(LLVMValueRef v)
{
    return LLVMIsAConstantInt(v) && !LLVMConstIntGetZExtValue(v);
}

static bool is_32_bits(LLVMValueRef v)
{
    return LLVMTypeOf(v) == LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(v)));
}

static bool read_trip(LLVMValueRef n, struct trip *t)
{
    if (!LLVMIsASelectInst(n) || !is_32_bits(n) || !LLVMIsAICmpInst(operand(n, 0)))
        return false;
    bool nonempty = is_zero(operand(n, 2));
    if ((!nonempty && !is_zero(operand(n, 1))) || !read_test(operand(n, 0), nonempty, t) ||
        !is_distance(operand(n, nonempty ? 1 : 2), t->high, t->low, t->whole))
        return false;
    t->positive = ir_range_of(t->low).least >= 0 && ir_range_of(t->high).least >= 0;
    return true;
}

/* Iterations at most; false: 2^31 or more. */
static bool most_of(LLVMValueRef n, long long *most)
{
    struct trip t;
    struct ir_range r = ir_range_of(n);
    *most = r.most;
    if (!read_trip(n, &t) || !t.positive)
        return r.least >= 0 && r.most <= INT_MAX;
    *most = ir_range_of(t.high).most - ir_range_of(t.low).least + t.whole;
    return *most <= INT_MAX;
}

/* ------------------------------------------------------------------ does a loop go on? */
/* b itself, or b is not less than m. */
static bool is_bound(LLVMValueRef b, LLVMValueRef m, const char *maximum)
{
    return b == m ||
           (LLVMIsACallInst(b) && text_starts(ir_intrinsic(LLVMGetCalledValue(b)), maximum) &&
            (operand(b, 0) == m || operand(b, 1) == m));
}

/* Does it follow from x < y, or x > y, that a < b without sign? */
static bool follows(LLVMValueRef test, bool turned, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef x = operand(test, turned), y = operand(test, !turned);
    if (x != a || !is_bound(b, y, is_signed ? "llvm.smax" : "llvm.umax"))
        return false;
    return !is_signed || (ir_range_of(a).least >= 0 && ir_range_of(b).least >= 0);
}

/* Control comes from `from` to `to` only where a < b, without sign. */
static bool is_less(LLVMBasicBlockRef from, LLVMBasicBlockRef to, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef jump = LLVMGetBasicBlockTerminator(from), test;
    if (!LLVMIsABranchInst(jump) || !LLVMIsConditional(jump) ||
        LLVMGetSuccessor(jump, 0) == LLVMGetSuccessor(jump, 1) ||
        !LLVMIsAICmpInst(test = LLVMGetCondition(jump)))
        return false;
    LLVMIntPredicate p = LLVMGetICmpPredicate(test);
    bool holds = LLVMGetSuccessor(jump, 0) == to;
    if (p == (holds ? LLVMIntULT : LLVMIntUGE) || p == (holds ? LLVMIntSLT : LLVMIntSGE))
        return follows(test, false, p == LLVMIntSLT || p == LLVMIntSGE, a, b);
    if (p == (holds ? LLVMIntUGT : LLVMIntULE) || p == (holds ? LLVMIntSGT : LLVMIntSLE))
        return follows(test, true, p == LLVMIntSGT || p == LLVMIntSLE, a, b);
    return false;
}

/* ... or has come there so. */
static bool was_less(LLVMBasicBlockRef from, LLVMBasicBlockRef to, LLVMValueRef a, LLVMValueRef b)
{
    enum { FAR = 4 };
    for (unsigned i = 0; from && i < FAR; i++) {
        if (is_less(from, to, a, b))
            return true;
        to = from;
        from = ir_only_predecessor(from);
    }
    return false;
}

struct repeat { /* n - i > s, at the end of a loop in which i < n holds */
    LLVMValueRef test, n, i, s, next;
    bool again; /* the loop goes on where the test holds, else where it does not */
};

static LLVMValueRef sum_of(LLVMValueRef v, LLVMValueRef a, LLVMValueRef b)
{
    bool is = is_binary(v, LLVMAdd) && ((operand(v, 0) == a && operand(v, 1) == b) ||
                                        (operand(v, 0) == b && operand(v, 1) == a));
    return is ? v : NULL;
}

/* The counter has its next value from `latch` alone, and is less than n where the loop begins. */
static bool is_counter(struct repeat *r, LLVMBasicBlockRef latch)
{
    LLVMBasicBlockRef header = LLVMGetInstructionParent(r->i);
    if (!LLVMIsAPHINode(r->i) || LLVMCountIncoming(r->i) != 2)
        return false;
    unsigned back = LLVMGetIncomingBlock(r->i, 1) == latch;
    LLVMValueRef begin = LLVMGetIncomingValue(r->i, !back);
    r->next = sum_of(LLVMGetIncomingValue(r->i, back), r->i, r->s);
    return LLVMGetIncomingBlock(r->i, back) == latch && r->next &&
           was_less(LLVMGetIncomingBlock(r->i, !back), header, begin, r->n);
}

static bool read_repeat(LLVMBasicBlockRef latch, struct repeat *r)
{
    LLVMValueRef jump = LLVMGetBasicBlockTerminator(latch);
    if (!LLVMIsABranchInst(jump) || !LLVMIsConditional(jump) ||
        !LLVMIsAICmpInst(LLVMGetCondition(jump)))
        return false;
    *r = (struct repeat){ .test = LLVMGetCondition(jump) };
    LLVMValueRef left = operand(r->test, 0);
    LLVMIntPredicate p = LLVMGetICmpPredicate(r->test);
    if ((p != LLVMIntUGT && p != LLVMIntULE) || !is_binary(left, LLVMSub) || !is_32_bits(left) ||
        LLVMGetFirstUse(r->test) == NULL || LLVMGetNextUse(LLVMGetFirstUse(r->test)))
        return false;
    r->n = operand(left, 0);
    r->i = operand(left, 1);
    r->s = operand(r->test, 1);
    r->again = p == LLVMIntUGT;
    return is_counter(r, latch) &&
           LLVMGetSuccessor(jump, !r->again) == LLVMGetInstructionParent(r->i);
}

/* The increment may stand after the test. */
static LLVMValueRef next_value(LLVMBuilderRef b, const struct repeat *r)
{
    LLVMPositionBuilderBefore(b, r->test);
    LLVMValueRef next = LLVMBuildAdd(b, r->i, r->s, "");
    LLVMReplaceAllUsesWith(r->next, next);
    ir_erase(r->next);
    return next;
}

/* Without sign.  A sum of two may be as large as that. */
static struct ir_range steps_of(LLVMValueRef s)
{
    struct ir_range r = ir_range_of(s);
    if (r.least < 0 && is_binary(s, LLVMAdd)) {
        struct ir_range x = ir_range_of(operand(s, 0)), y = ir_range_of(operand(s, 1));
        if (x.least >= 0 && y.least >= 0)
            return (struct ir_range){ 0, x.most + y.most };
    }
    return r.least < 0 ? (struct ir_range){ 0, UINT_MAX } : r;
}

static bool settle_repeat(LLVMBuilderRef b, const struct repeat *r)
{
    struct ir_range step = steps_of(r->s);
    long long most;
    LLVMValueRef test, left = operand(r->test, 0);
    if (!most_of(r->n, &most) || most + step.most > UINT_MAX)
        return false;
    if (most <= step.least) {
        test = LLVMConstInt(LLVMTypeOf(r->test), !r->again, false);
    } else {
        LLVMValueRef next = next_value(b, r);
        test = LLVMBuildICmp(b, r->again ? LLVMIntULT : LLVMIntUGE, next, r->n, "");
    }
    LLVMReplaceAllUsesWith(r->test, test);
    ir_erase(r->test);
    if (!LLVMGetFirstUse(left))
        ir_erase(left);
    return true;
}

/* ------------------------------------------------------------------ has a thread an iteration? */
/* Only compared with numbers that are not negative: i < n. */
static bool is_only_compared(LLVMValueRef n)
{
    IR_EACH_USE(use, n) {
        LLVMValueRef test = LLVMGetUser(use);
        LLVMIntPredicate p = LLVMIsAICmpInst(test) ? LLVMGetICmpPredicate(test) : LLVMIntEQ;
        if ((p != LLVMIntULT && p != LLVMIntUGE) || operand(test, 1) != n ||
            ir_range_of(operand(test, 0)).least < 0)
            return false;
    }
    return true;
}

static void compare_with_bound(LLVMBuilderRef b, LLVMValueRef test, const struct trip *t)
{
    bool less = LLVMGetICmpPredicate(test) == LLVMIntULT;
    LLVMPositionBuilderBefore(b, test);
    LLVMValueRef at = LLVMBuildNUWAdd(b, operand(test, 0), t->low, "");
    LLVMValueRef is = LLVMBuildICmp(b,
                                    less       ? t->whole ? LLVMIntULE : LLVMIntULT
                                    : t->whole ? LLVMIntUGT
                                               : LLVMIntUGE,
                                    at, t->high, "");
    LLVMReplaceAllUsesWith(test, is);
}

static bool has_one_use(LLVMValueRef v)
{
    LLVMUseRef use = LLVMGetFirstUse(v);
    return use && !LLVMGetNextUse(use);
}

static bool subtract_from_maximum(const struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef n,
                                  const struct trip *t)
{
    LLVMValueRef bounds[] = { t->low, t->high };
    if (t->whole || !has_one_use(operand(n, 0)))
        return false;
    LLVMPositionBuilderBefore(b, n);
    LLVMValueRef most =
        l_call_intrinsic(u, b, t->is_signed ? "llvm.smax" : "llvm.umax", LLVMTypeOf(n), bounds, 2);
    LLVMReplaceAllUsesWith(n, LLVMBuildSub(b, most, t->low, ""));
    return true;
}

static bool settle_trip(const struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef n)
{
    struct trip t;
    if (!LLVMGetFirstUse(n) || !read_trip(n, &t))
        return false;
    if (!t.positive || !is_only_compared(n))
        return subtract_from_maximum(u, b, n, &t);
    IR_EACH_USE(use, n)
        compare_with_bound(b, LLVMGetUser(use), &t);
    return true;
}

bool ir_settle_trips(struct ir_unit *u)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    bool changed = false;
    IR_EACH_FUNCTION(f, u->module)
        IR_EACH_BLOCK(latch, f) {
            struct repeat r;
            if (read_repeat(latch, &r))
                changed |= settle_repeat(b, &r);
        }
    IR_EACH_FUNCTION(f, u->module)
        IR_EACH_INSTRUCTION_OF(n, f)
            changed |= settle_trip(u, b, n);
    LLVMDisposeBuilder(b);
    return changed;
}
