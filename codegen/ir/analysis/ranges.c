/* ranges.c - where the value of an integer lies, as a signed number, by the instructions that
 * compute it.  LLVM knows more, but not through its C interface. */
#include "codegen/ir/analysis/analysis.h"
#include <limits.h>

enum { DEEP = 8, MANY = 200 }; /* instructions one above the other, and looked at in all */

struct search {
    unsigned left;
};

static LLVMValueRef operand(LLVMValueRef v, unsigned i) { return LLVMGetOperand(v, i); }

static struct ir_range all_of(LLVMTypeRef type)
{
    unsigned bits = LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 64;
    long long most = bits < 64 ? (1ll << (bits - 1)) - 1 : LLONG_MAX;
    return (struct ir_range){ -most - 1, most };
}

static bool is_nonnegative(struct ir_range r) { return r.least >= 0; }
static struct ir_range up_to(long long most) { return (struct ir_range){ 0, most }; }
static long long smaller(long long a, long long b) { return a < b ? a : b; }
static long long larger(long long a, long long b) { return a > b ? a : b; }
static struct ir_range both(struct ir_range a, struct ir_range b)
{
    return (struct ir_range){ smaller(a.least, b.least), larger(a.most, b.most) };
}

/* The result of arithmetic that would be in [least, most] without a limit of bits. */
static struct ir_range limited(LLVMValueRef v, __int128 least, __int128 most)
{
    struct ir_range all = all_of(LLVMTypeOf(v));
    bool fits = least >= all.least && most <= all.most;
    if (!fits && !LLVMGetNSW(v))
        return all;
    return (struct ir_range){ least < all.least  ? all.least
                              : least > all.most ? all.most
                                                 : (long long)least,
                              most > all.most    ? all.most
                              : most < all.least ? all.least
                                                 : (long long)most };
}

static struct ir_range multiplied(LLVMValueRef v, struct ir_range a, struct ir_range b)
{
    __int128 corners[] = { (__int128)a.least * b.least, (__int128)a.least * b.most,
                           (__int128)a.most * b.least, (__int128)a.most * b.most },
             least = corners[0], most = corners[0];
    for (unsigned i = 1; i < 4; i++) {
        least = corners[i] < least ? corners[i] : least;
        most = corners[i] > most ? corners[i] : most;
    }
    return limited(v, least, most);
}

/* ------------------------------------------------------------------ instructions */
static struct ir_range look(LLVMValueRef v, struct search *s, unsigned depth);

static struct ir_range of_minmax(LLVMValueRef call, struct search *s, unsigned depth)
{
    const char *name = ir_intrinsic(LLVMGetCalledValue(call));
    struct ir_range a = look(operand(call, 0), s, depth), b = look(operand(call, 1), s, depth);
    bool is_signed = name[5] == 's', alike = is_nonnegative(a) && is_nonnegative(b);
    if (text_starts(name + 6, "min")) {
        if (is_signed || alike)
            return (struct ir_range){ smaller(a.least, b.least), smaller(a.most, b.most) };
        if (is_nonnegative(a) || is_nonnegative(b))
            return up_to(is_nonnegative(a) ? a.most : b.most);
        return all_of(LLVMTypeOf(call));
    }
    if (is_signed || alike)
        return (struct ir_range){ larger(a.least, b.least), larger(a.most, b.most) };
    return all_of(LLVMTypeOf(call));
}

static struct ir_range of_difference(LLVMValueRef call, struct search *s, unsigned depth)
{
    struct ir_range a = look(operand(call, 0), s, depth), b = look(operand(call, 1), s, depth);
    if (!is_nonnegative(a))
        return all_of(LLVMTypeOf(call));
    return is_nonnegative(b)
               ? (struct ir_range){ larger(0, a.least - b.most), larger(0, a.most - b.least) }
               : up_to(a.most);
}

/* Numbers of threads and teams, as CUDA limits them. */
static const struct {
    const char *name;
    struct ir_range range;
} numbers[] = {
    { "llvm.nvvm.read.ptx.sreg.tid.x", { 0, 1023 } },
    { "llvm.nvvm.read.ptx.sreg.ntid.x", { 1, 1024 } },
    { "llvm.nvvm.read.ptx.sreg.ctaid.x", { 0, INT_MAX - 1 } },
    { "llvm.nvvm.read.ptx.sreg.nctaid.x", { 1, INT_MAX } },
    { "llvm.nvvm.read.ptx.sreg.ctaid.y", { 0, 65534 } },
    { "llvm.nvvm.read.ptx.sreg.ctaid.z", { 0, 65534 } },
};

static struct ir_range of_call(LLVMValueRef call, struct search *s, unsigned depth)
{
    static const char *const minmax[] = { "llvm.smin", "llvm.smax", "llvm.umin", "llvm.umax" };
    const char *name = ir_intrinsic(LLVMGetCalledValue(call));
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (ir_is_call_of(call, numbers[i].name))
            return numbers[i].range;
    for (unsigned i = 0; i < sizeof minmax / sizeof *minmax; i++)
        if (text_starts(name, minmax[i]))
            return of_minmax(call, s, depth);
    if (text_starts(name, "llvm.usub.sat"))
        return of_difference(call, s, depth);
    return text_starts(name, "llvm.expect") ? look(operand(call, 0), s, depth)
                                            : all_of(LLVMTypeOf(call));
}

/* The value comes to the phi only where it is less than such a number: most is that. */
static bool is_limited(LLVMBasicBlockRef from, LLVMBasicBlockRef to, LLVMValueRef v,
                       struct search *s, unsigned depth, long long *most)
{
    LLVMValueRef jump = LLVMGetBasicBlockTerminator(from), test;
    if (LLVMIsABranchInst(jump) && !LLVMIsConditional(jump) && ir_only_predecessor(from)) {
        to = from, from = ir_only_predecessor(from);
        jump = LLVMGetBasicBlockTerminator(from);
    }
    if (!LLVMIsABranchInst(jump) || !LLVMIsConditional(jump) ||
        LLVMGetSuccessor(jump, 0) == LLVMGetSuccessor(jump, 1))
        return false;
    test = LLVMGetCondition(jump);
    LLVMIntPredicate wanted = LLVMGetSuccessor(jump, 0) == to ? LLVMIntULT : LLVMIntUGE;
    if (!LLVMIsAICmpInst(test) || LLVMGetICmpPredicate(test) != wanted || operand(test, 0) != v)
        return false;
    struct ir_range bound = look(operand(test, 1), s, depth);
    *most = bound.most - 1;
    return bound.least > 0 || (is_nonnegative(bound) && bound.most > 0);
}

/* phi + step, which does not wrap */
static LLVMValueRef step_of(LLVMValueRef v, LLVMValueRef phi)
{
    if (!LLVMIsABinaryOperator(v) || LLVMGetInstructionOpcode(v) != LLVMAdd || !LLVMGetNSW(v))
        return NULL;
    return operand(v, 0) == phi ? operand(v, 1) : operand(v, 1) == phi ? operand(v, 0) : NULL;
}

static struct ir_range of_phi(LLVMValueRef phi, struct search *s, unsigned depth)
{
    struct ir_range all = all_of(LLVMTypeOf(phi)), r = { LLONG_MAX, LLONG_MIN };
    bool up = false, down = false;
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef v = LLVMGetIncomingValue(phi, i), step = step_of(v, phi);
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        long long most;
        if (is_limited(from, LLVMGetInstructionParent(phi), v, s, depth, &most)) {
            r = both(r, up_to(most));
        } else if (step) {
            struct ir_range by = look(step, s, depth);
            up |= by.most > 0;
            down |= by.least < 0;
        } else if (v != phi) {
            r = both(r, look(v, s, depth));
        }
    }
    if (r.least > r.most)
        return all;
    return (struct ir_range){ down ? all.least : r.least, up ? all.most : r.most };
}

static struct ir_range of_shift(LLVMValueRef v, struct search *s, unsigned depth)
{
    struct ir_range a = look(operand(v, 0), s, depth), all = all_of(LLVMTypeOf(v));
    LLVMValueRef by = operand(v, 1);
    unsigned long long n = LLVMIsAConstantInt(by) ? LLVMConstIntGetZExtValue(by) : 0;
    if (n < 1 || n > 62 || n >= LLVMGetIntTypeWidth(LLVMTypeOf(v)))
        return all;
    if (LLVMGetInstructionOpcode(v) == LLVMShl)
        return multiplied(v, a, (struct ir_range){ 1ll << n, 1ll << n });
    if (is_nonnegative(a) || LLVMGetInstructionOpcode(v) == LLVMAShr)
        return (struct ir_range){ a.least >> n, a.most >> n };
    return up_to((long long)((2ull * (unsigned long long)all.most + 1) >> n));
}

static struct ir_range of_division(LLVMValueRef v, struct search *s, unsigned depth)
{
    struct ir_range a = look(operand(v, 0), s, depth), b = look(operand(v, 1), s, depth);
    if (!is_nonnegative(a) || b.least < 0)
        return all_of(LLVMTypeOf(v));
    if (LLVMGetInstructionOpcode(v) == LLVMUDiv)
        return up_to(a.most / larger(b.least, 1));
    return up_to(smaller(a.most, larger(b.most - 1, 0)));
}

static struct ir_range of_and(LLVMValueRef v, struct search *s, unsigned depth)
{
    struct ir_range a = look(operand(v, 0), s, depth), b = look(operand(v, 1), s, depth);
    if (is_nonnegative(a) && is_nonnegative(b))
        return up_to(smaller(a.most, b.most));
    return is_nonnegative(a)   ? up_to(a.most)
           : is_nonnegative(b) ? up_to(b.most)
                               : all_of(LLVMTypeOf(v));
}

static struct ir_range of_extension(LLVMValueRef v, struct search *s, unsigned depth)
{
    struct ir_range a = look(operand(v, 0), s, depth);
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(operand(v, 0)));
    if (is_nonnegative(a) || LLVMGetInstructionOpcode(v) == LLVMSExt)
        return a;
    return bits < 63 ? up_to((1ll << bits) - 1) : all_of(LLVMTypeOf(v));
}

static struct ir_range of_arithmetic(LLVMValueRef v, struct search *s, unsigned depth)
{
    struct ir_range a = look(operand(v, 0), s, depth), b = look(operand(v, 1), s, depth);
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op == LLVMMul)
        return multiplied(v, a, b);
    return op == LLVMSub ? limited(v, (__int128)a.least - b.most, (__int128)a.most - b.least)
                         : limited(v, (__int128)a.least + b.least, (__int128)a.most + b.most);
}

static struct ir_range of_instruction(LLVMValueRef v, struct search *s, unsigned depth)
{
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul: return of_arithmetic(v, s, depth);
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr: return of_shift(v, s, depth);
    case LLVMUDiv:
    case LLVMURem: return of_division(v, s, depth);
    case LLVMAnd: return of_and(v, s, depth);
    case LLVMZExt:
    case LLVMSExt: return of_extension(v, s, depth);
    case LLVMSelect: return both(look(operand(v, 1), s, depth), look(operand(v, 2), s, depth));
    case LLVMPHI: return of_phi(v, s, depth);
    case LLVMCall: return of_call(v, s, depth);
    default: return all_of(LLVMTypeOf(v));
    }
}

static struct ir_range look(LLVMValueRef v, struct search *s, unsigned depth)
{
    struct ir_range all = all_of(LLVMTypeOf(v));
    bool is_number = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind &&
                     LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64;
    if (is_number && LLVMIsAConstantInt(v)) {
        long long n = LLVMConstIntGetSExtValue(v);
        return (struct ir_range){ n, n };
    }
    if (!is_number || !LLVMIsAInstruction(v) || !depth || !s->left)
        return all;
    s->left--;
    return of_instruction(v, s, depth - 1);
}

struct ir_range ir_range_of(LLVMValueRef v)
{
    struct search s = { MANY };
    return look(v, &s, DEEP);
}

bool ir_sum_fits(LLVMValueRef add)
{
    struct ir_range all = all_of(LLVMTypeOf(add)), a = ir_range_of(operand(add, 0)),
                    b = ir_range_of(operand(add, 1));
    return (__int128)a.least + b.least >= all.least && (__int128)a.most + b.most <= all.most;
}
