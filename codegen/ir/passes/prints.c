/* prints.c - printf and its like on a GPU: what the driver's vprintf can do is left to it.
 *
 * clang makes a call of vprintf of a printf, with a block of its arguments; here, so do calls of
 * fprintf, vfprintf, and of printf with -fno-builtin.  Then:
 *
 *   the format is a constant that CUDA prints as C does        vprintf
 *   … or can be spelled so                                     vprintf with the other spelling
 *   anything else                                              the device runtime (format.c)
 *
 * C's printf returns the number of characters, the driver's something else.  So where the result is
 * used, the runtime counts as well, unless the format is all there is to count.
 *
 * It is done twice: before the modes are chosen, and after LLVM's optimisation, which has found out
 * more formats and fewer uses of results.  Early, a result stays one, as on the emulated device:
 * the modes may depend on it. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"
#include "devicertl/conversion.h"
#include <string.h>

#define STORING IR_VPRINTF "_storing"

/* ------------------------------------------------------------------ a format for the driver */
struct narrow { /* an int that is printed as something shorter */
    unsigned offset, bits;
    bool is_signed;
};
struct plan {
    struct text format;
    unsigned length;            /* of what is printed, but for arguments */
    unsigned arguments, offset; /* how many; bytes of the block */
    bool respelled, own;        /* own: cannot be spelled for the driver */
    bool stores;
    VEC(struct narrow) narrow;
};

static bool is_integer(char kind) { return ompgpu_is_one_of(kind, "diouxX"); }
static bool is_narrow(const struct ompgpu_conversion *c)
{
    return is_integer(c->kind) && (c->size == 'h' || c->size == 'c');
}

/* 0: none */
static unsigned argument_size(const struct ompgpu_conversion *c)
{
    if (c->kind == '%' || !c->kind)
        return 0;
    if (c->kind == 'c' || (is_integer(c->kind) && (!c->size || is_narrow(c))))
        return 4;
    return 8;
}

/* Sizes that CUDA lacks as others; of double, as none. */
static const char *spell(const char *percent, const struct ompgpu_conversion *c)
{
    bool none = is_narrow(c) || ompgpu_is_one_of(c->kind, "eEfgGaA");
    struct text t = { 0 };
    for (const char *f = percent; f < c->size_at; f++)
        if (*f != '\'')
            text_putc(&t, *f);
    if (is_integer(c->kind) && c->size && !none)
        text_puts(&t, "ll");
    else if (!none)
        text_add(&t, c->size_at, (size_t)(c->end - c->size_at - (c->kind != 0)));
    if (c->kind)
        text_putc(&t, c->kind);
    return t.s;
}

static void plan_conversion(struct plan *p, const char *percent, const struct ompgpu_conversion *c)
{
    unsigned size = argument_size(c);
    bool can = ompgpu_is_cudas(percent, c);
    const char *spelled =
        can ? mem_strndup(percent, (size_t)(c->end - percent)) : spell(percent, c);
    struct ompgpu_conversion again = ompgpu_conversion_at(spelled);
    p->offset = size ? (p->offset + size - 1) / size * size : p->offset;
    if (is_narrow(c))
        *VEC_PUSH(NULL, &p->narrow) =
            (struct narrow){ p->offset, c->size == 'c' ? 8 : 16, c->kind == 'd' || c->kind == 'i' };
    text_puts(&p->format, spelled);
    p->respelled |= !can;
    p->own |= !ompgpu_is_cudas(spelled, &again);
    p->stores |= c->kind == 'n';
    p->length += !size;
    p->arguments += size != 0;
    p->offset += size;
}

static struct plan plan_format(const char *format)
{
    struct plan p = { 0 };
    for (const char *f = format; *f;) {
        if (*f != '%') {
            text_putc(&p.format, *f++);
            p.length++;
            continue;
        }
        struct ompgpu_conversion c = ompgpu_conversion_at(f);
        plan_conversion(&p, f, &c);
        f = c.end;
    }
    p.own |= p.arguments > OMPGPU_CUDA_ARGUMENTS;
    return p;
}

/* ------------------------------------------------------------------ constant formats */
static bool is_fixed(LLVMValueRef v)
{
    return LLVMIsAGlobalVariable(v) && LLVMIsGlobalConstant(v) && LLVMGetInitializer(v) &&
           (ir_is_local_linkage(v) || LLVMGetLinkage(v) == LLVMExternalLinkage);
}

/* NULL: not known */
static const char *format_text(const struct ir_unit *u, LLVMValueRef format)
{
    static const struct ir_index none;
    struct ir_affine a;
    if (!ir_affine_address(u->layout, format, &none, &a) || a.stride || !is_fixed(a.base))
        return NULL;
    LLVMValueRef value = LLVMGetInitializer(a.base);
    const char *text = ir_string(value);
    bool is_text = LLVMIsNull(value) || LLVMIsAConstantDataSequential(value);
    return is_text && a.offset >= 0 && (size_t)a.offset <= strlen(text) ? text + a.offset : NULL;
}

/* One of several constants, each of which the driver prints as it is. */
static bool are_all_cudas(const struct ir_unit *u, LLVMValueRef format, unsigned depth)
{
    enum { DEEP = 4 };
    const char *text = format_text(u, format);
    if (text) {
        struct plan p = plan_format(text);
        return !p.own && !p.respelled;
    }
    if (depth == DEEP)
        return false;
    if (LLVMIsASelectInst(format))
        return are_all_cudas(u, LLVMGetOperand(format, 1), depth + 1) &&
               are_all_cudas(u, LLVMGetOperand(format, 2), depth + 1);
    unsigned n = LLVMIsAPHINode(format) ? LLVMCountIncoming(format) : 0;
    for (unsigned i = 0; i < n; i++)
        if (!are_all_cudas(u, LLVMGetIncomingValue(format, i), depth + 1))
            return false;
    return n;
}

/* ------------------------------------------------------------------ a call */
static void set_callee(struct ir_unit *u, LLVMValueRef call, const char *name)
{
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    if (!f)
        f = LLVMAddFunction(u->module, name, type);
    LLVMSetOperand(call, (unsigned)LLVMGetNumOperands(call) - 1, f);
}

/* In the block of arguments, which is the call's own. */
static void narrow(struct ir_unit *u, LLVMValueRef call, const struct narrow *n)
{
    LLVMTypeRef word = LLVMInt32TypeInContext(u->ctx), less = LLVMIntTypeInContext(u->ctx, n->bits);
    LLVMValueRef at = LLVMConstInt(word, n->offset, false), block = LLVMGetOperand(call, 1);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    LLVMPositionBuilderBefore(b, call);
    LLVMValueRef p = LLVMBuildGEP2(b, LLVMInt8TypeInContext(u->ctx), block, &at, 1, "");
    LLVMValueRef value = LLVMBuildTrunc(b, LLVMBuildLoad2(b, word, p, ""), less, "");
    LLVMBuildStore(
        b, n->is_signed ? LLVMBuildSExt(b, value, word, "") : LLVMBuildZExt(b, value, word, ""), p);
    LLVMDisposeBuilder(b);
}

static bool can_narrow(const struct ir_unit *u, LLVMValueRef call, const struct plan *p)
{
    LLVMValueRef block = LLVMGetOperand(call, 1);
    return !p->narrow.n ||
           (LLVMIsAAllocaInst(block) && ir_is_static_alloca(block) && ir_is_print_buffer(block) &&
            LLVMABISizeOfType(u->layout, LLVMGetAllocatedType(block)) >= p->offset);
}

static void set_format(struct ir_unit *u, LLVMValueRef call, const struct text *format)
{
    static const char name[] = "__omp_format";
    LLVMValueRef text = LLVMConstStringInContext2(u->ctx, format->s, format->n, false);
    LLVMValueRef v = LLVMAddGlobal(u->module, LLVMTypeOf(text), name);
    LLVMSetInitializer(v, text);
    LLVMSetGlobalConstant(v, true);
    LLVMSetLinkage(v, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(v, LLVMGlobalUnnamedAddr);
    LLVMSetAlignment(v, 1);
    LLVMSetOperand(call, 0, v);
}

static void leave_to_driver(struct ir_unit *u, LLVMValueRef call, const struct plan *p)
{
    for (unsigned i = 0; i < p->narrow.n; i++)
        narrow(u, call, &p->narrow.at[i]);
    if (p->respelled)
        set_format(u, call, &p->format);
    if (LLVMGetFirstUse(call))
        LLVMReplaceAllUsesWith(call, LLVMConstInt(LLVMTypeOf(call), p->length, false));
    set_callee(u, call, "vprintf");
}

/* A call of IR_VPRINTF; whether it is one no longer. */
static bool settle(struct ir_unit *u, LLVMValueRef call, bool late)
{
    LLVMValueRef format = LLVMGetOperand(call, 0);
    const char *text = format_text(u, format);
    bool counts = LLVMGetFirstUse(call);
    struct plan p = { .own = true };
    if (text)
        p = plan_format(text);
    if (!p.own && (!counts || (late && !p.arguments)) && can_narrow(u, call, &p))
        leave_to_driver(u, call, &p);
    else if (!text && !counts && are_all_cudas(u, format, 0))
        set_callee(u, call, "vprintf");
    else if (p.stores)
        set_callee(u, call, STORING);
    else if (late && !counts)
        set_callee(u, call, IR_PRINT);
    else
        return false;
    return true;
}

static bool settle_all(struct ir_unit *u, bool late)
{
    bool changed = false;
    IR_EACH_FUNCTION(f, u->module)
        IR_EACH_INSTRUCTION_OF(i, f)
            if (ir_is_call_of(i, IR_VPRINTF))
                changed |= settle(u, i, late);
    return changed;
}

/* ------------------------------------------------------------------ other names */
static bool is_packable(LLVMValueRef argument)
{
    LLVMTypeRef type = LLVMTypeOf(argument);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMDoubleTypeKind || kind == LLVMPointerTypeKind ||
           (kind == LLVMIntegerTypeKind &&
            (LLVMGetIntTypeWidth(type) == 32 || LLVMGetIntTypeWidth(type) == 64));
}

/* A block with the arguments of a call from the first on, as clang would make it. */
static LLVMValueRef pack(struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef call, unsigned first)
{
    unsigned n = LLVMGetNumArgOperands(call) - first;
    LLVMTypeRef *types = mem_array(n + 1, sizeof *types);
    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(LLVMGetOperand(call, first + i));
    if (!n)
        return LLVMConstNull(LLVMPointerTypeInContext(u->ctx, 0));
    LLVMTypeRef type = LLVMStructTypeInContext(u->ctx, types, n, false);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(ir_function_of(call));
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(entry));
    LLVMValueRef block = LLVMBuildAlloca(b, type, "");
    LLVMPositionBuilderBefore(b, call);
    for (unsigned i = 0; i < n; i++)
        LLVMBuildStore(b, LLVMGetOperand(call, first + i),
                       LLVMBuildStructGEP2(b, type, block, i, ""));
    return block;
}

/* Operand `format` is the format; before it may be a stream, of which there is one. */
static void rename(struct ir_unit *u, LLVMValueRef call, unsigned format, bool variadic)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(u->ctx, 0), parameters[] = { pointer, pointer };
    LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(u->ctx), parameters, 2, false);
    LLVMValueRef f = LLVMGetNamedFunction(u->module, IR_VPRINTF);
    if (!f)
        f = LLVMAddFunction(u->module, IR_VPRINTF, type);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    LLVMPositionBuilderBefore(b, call);
    LLVMValueRef block = variadic ? pack(u, b, call, format + 1) : LLVMGetOperand(call, format + 1);
    LLVMValueRef arguments[] = { LLVMGetOperand(call, format), block };
    LLVMValueRef renamed = LLVMBuildCall2(b, type, f, arguments, 2, "");
    LLVMReplaceAllUsesWith(call, renamed);
    LLVMInstructionEraseFromParent(call);
    LLVMDisposeBuilder(b);
}

static void rename_calls(struct ir_unit *u, const char *name, unsigned format, bool variadic)
{
    LLVMValueRef function = LLVMGetNamedFunction(u->module, name);
    if (!function || !LLVMIsDeclaration(function) ||
        LLVMGetReturnType(LLVMGlobalGetValueType(function)) != LLVMInt32TypeInContext(u->ctx))
        return;
    IR_EACH_FUNCTION(f, u->module) {
        IR_EACH_INSTRUCTION_OF(i, f) {
            bool can = ir_is_call_of(i, name) && LLVMGetNumArgOperands(i) > format + !variadic;
            for (unsigned a = format; can && a < LLVMGetNumArgOperands(i); a++)
                can = is_packable(LLVMGetOperand(i, a));
            if (can)
                rename(u, i, format, variadic);
        }
    }
}

/* The program's vprintf, of which its address may be taken, too, is not the driver's. */
static void take_vprintf(struct ir_unit *u)
{
    LLVMValueRef users = LLVMGetNamedFunction(u->module, "vprintf");
    if (!users || !LLVMIsDeclaration(users))
        return;
    LLVMValueRef ours = LLVMAddFunction(u->module, IR_VPRINTF, LLVMGlobalGetValueType(users));
    LLVMReplaceAllUsesWith(users, ours);
    LLVMDeleteFunction(users);
}

/* ------------------------------------------------------------------ the steps */
bool ir_lower_prints(struct ir_unit *u)
{
    if (u->opt->target != IR_NVPTX)
        return true;
    take_vprintf(u);
    rename_calls(u, "printf", 0, true);
    rename_calls(u, "fprintf", 1, true);
    rename_calls(u, "vfprintf", 1, false);
    settle_all(u, false);
    return true;
}

bool ir_settle_prints(struct ir_unit *u)
{
    static const char *const ours[] = { IR_VPRINTF, STORING, IR_PRINT };
    bool changed = settle_all(u, true);
    for (unsigned i = 0; i < sizeof ours / sizeof *ours; i++) {
        LLVMValueRef f = LLVMGetNamedFunction(u->module, ours[i]);
        if (f && !LLVMIsDeclaration(f))
            LLVMSetLinkage(f, LLVMInternalLinkage);
        changed |= f != NULL;
    }
    return changed;
}
