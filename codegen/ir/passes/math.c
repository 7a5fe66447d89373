/* math.c - calls of the C math functions in place of intrinsics.
 *
 * clang turns sin(x) into llvm.sin.f64, which the NVPTX backend cannot select.  The runtime defines
 * sin() over libdevice, so the call is put back, before the runtime is linked.  x86-64 lowers the
 * intrinsics to libm calls by itself.
 *
 * Only the rows with `intrinsic` set are replaced; sqrt, fabs, fma, floor, ceil, trunc, rint,
 * copysign, fmin, fmax have instructions.
 *
 * A call of the float version that clang marked as allowed to be approximate (-ffast-math,
 * -fapprox-func) becomes one of libdevice's fast version, where there is one: a few instructions
 * of the GPU's special function unit. */
#include "codegen/ir/passes/passes.h"
#include <string.h>

#define FAST_PREFIX "__nv_fast_"
struct math {
    const char *name;      /* of the double version; float adds 'f' */
    const char *intrinsic; /* llvm.NAME.fXX, NULL: selectable or none */
};
static const struct math functions[] = {
    { "sin", "sin" },
    { "cos", "cos" },
    { "tan", "tan" },
    { "asin", "asin" },
    { "acos", "acos" },
    { "atan", "atan" },
    { "atan2", "atan2" },
    { "sinh", "sinh" },
    { "cosh", "cosh" },
    { "tanh", "tanh" },
    { "exp", "exp" },
    { "exp2", "exp2" },
    { "exp10", "exp10" },
    { "log", "log" },
    { "log10", "log10" },
    { "log2", "log2" },
    { "pow", "pow" },
    { "ldexp", "ldexp" },
    { "lround", "lround" },
    { "llround", "llround" },
    { "lrint", "lrint" },
    { "llrint", "llrint" },
    { "round", "round" },
    { "asinh", 0 },
    { "acosh", 0 },
    { "atanh", 0 },
    { "expm1", 0 },
    { "log1p", 0 },
    { "cbrt", 0 },
    { "hypot", 0 },
    { "sqrt", 0 },
    { "fabs", 0 },
    { "floor", 0 },
    { "ceil", 0 },
    { "trunc", 0 },
    { "rint", 0 },
    { "nearbyint", 0 },
    { "roundeven", 0 },
    { "fma", 0 },
    { "fmod", 0 },
    { "remainder", 0 },
    { "remquo", 0 },
    { "fmin", 0 },
    { "fmax", 0 },
    { "fdim", 0 },
    { "copysign", 0 },
    { "nextafter", 0 },
    { "frexp", 0 },
    { "modf", 0 },
    { "scalbn", 0 },
    { "scalbln", 0 },
    { "logb", 0 },
    { "ilogb", 0 },
    { "erf", 0 },
    { "erfc", 0 },
    { "tgamma", 0 },
    { "lgamma", 0 },
    { "nan", 0 },
    { "sincos", 0 },
    { "j0", 0 },
    { "j1", 0 },
    { "jn", 0 },
    { "y0", 0 },
    { "y1", 0 },
    { "yn", 0 },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

bool ir_is_math_name(const char *name)
{
    if (text_starts(name, FAST_PREFIX))
        name += strlen(FAST_PREFIX);
    size_t length = strlen(name);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        size_t n = strlen(functions[i].name);
        if (strncmp(name, functions[i].name, n) == 0 &&
            (length == n || (length == n + 1 && name[n] == 'f')))
            return true;
    }
    return false;
}

/* "llvm.lround.i64.f32": is it `intrinsic`, and for which type? */
static const char *type_suffix(const char *name, const char *intrinsic)
{
    size_t n = strlen(intrinsic);
    if (!text_starts(name, "llvm.") || strncmp(name + 5, intrinsic, n) != 0 || name[5 + n] != '.')
        return NULL;
    name += 6 + n;
    static const char *const results[] = { "i64.", "i32." };
    for (unsigned i = 0; i < 2; i++)
        if (text_starts(name, results[i]))
            name += 4;
    return name;
}

/* libdevice has FAST_PREFIX NAME, in every toolkit. */
static const char *const fast[] = { "sinf", "cosf",  "tanf",   "expf", "exp10f",
                                    "logf", "log2f", "log10f", "powf", "sincosf" };
enum { FAST = sizeof fast / sizeof *fast };

static bool has_fast(const char *name)
{
    for (unsigned i = 0; i < FAST; i++)
        if (strcmp(fast[i], name) == 0)
            return true;
    return false;
}

static bool may_approximate(LLVMValueRef call)
{
    return LLVMIsACallInst(call) && LLVMCanValueUseFastMathFlags(call) &&
           (LLVMGetFastMathFlags(call) & LLVMFastMathApproxFunc);
}

static LLVMValueRef declare(LLVMModuleRef module, const char *name, LLVMTypeRef type)
{
    LLVMValueRef f = LLVMGetNamedFunction(module, name);
    return f ? f : LLVMAddFunction(module, name, type);
}

static void replace(LLVMModuleRef module, LLVMValueRef intrinsic, const char *name)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(intrinsic);
    LLVMValueRef f = declare(module, name, type);
    if (LLVMGlobalGetValueType(f) == type) {
        LLVMReplaceAllUsesWith(intrinsic, f);
        LLVMDeleteFunction(intrinsic);
    } else {
        diag_error("function '%s' is declared with a type other than the C library's", name);
    }
}

/* llvm.powi(x, n) is pow with an integer exponent. */
static void replace_powi(struct ir_unit *u, LLVMValueRef intrinsic, bool is_float)
{
    LLVMTypeRef real = LLVMGetReturnType(LLVMGlobalGetValueType(intrinsic));
    LLVMTypeRef type = LLVMFunctionType(real, (LLVMTypeRef[]){ real, real }, 2, false);
    LLVMValueRef f = declare(u->module, is_float ? "powf" : "pow", type);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    IR_EACH_USE(use, intrinsic) {
        LLVMValueRef call = LLVMGetUser(use);
        LLVMPositionBuilderBefore(b, call);
        LLVMValueRef args[] = { LLVMGetOperand(call, 0),
                                LLVMBuildSIToFP(b, LLVMGetOperand(call, 1), real, "") };
        LLVMReplaceAllUsesWith(call, LLVMBuildCall2(b, type, f, args, 2, ""));
        ir_erase(call);
    }
    LLVMDisposeBuilder(b);
    LLVMDeleteFunction(intrinsic);
}

/* llvm.modf, llvm.frexp and llvm.sincos return a pair; the C functions return the first (sincos:
 * nothing) and store the rest. */
static const struct pair {
    const char *name;
    bool returns_first;
} pairs[] = {
    { "modf", true },
    { "frexp", true },
    { "sincos", false },
};

static LLVMValueRef local(LLVMBuilderRef b, LLVMValueRef user, LLVMTypeRef type)
{
    LLVMValueRef f = ir_function_of(user);
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)));
    return LLVMBuildAlloca(b, type, "");
}

static void replace_pair_call(LLVMBuilderRef b, const struct pair *p, LLVMValueRef call,
                              LLVMTypeRef type, LLVMValueRef f)
{
    LLVMTypeRef result = LLVMTypeOf(call), first = LLVMStructGetTypeAtIndex(result, 0),
                second = LLVMStructGetTypeAtIndex(result, 1);
    LLVMValueRef at_second = local(b, call, second),
                 at_first = p->returns_first ? NULL : local(b, call, first);
    LLVMPositionBuilderBefore(b, call);
    LLVMValueRef x = LLVMGetOperand(call, 0);
    LLVMValueRef value =
        p->returns_first
            ? LLVMBuildCall2(b, type, f, (LLVMValueRef[]){ x, at_second }, 2, "")
            : LLVMBuildCall2(b, type, f, (LLVMValueRef[]){ x, at_first, at_second }, 3, "");
    if (!p->returns_first)
        value = LLVMBuildLoad2(b, first, at_first, "");
    LLVMValueRef pair = LLVMBuildInsertValue(b, LLVMGetPoison(result), value, 0, "");
    LLVMReplaceAllUsesWith(
        call, LLVMBuildInsertValue(b, pair, LLVMBuildLoad2(b, second, at_second, ""), 1, ""));
    ir_erase(call);
}

static void replace_pair(struct ir_unit *u, const struct pair *p, LLVMValueRef intrinsic,
                         bool is_float)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(u->ctx, 0),
                real = LLVMTypeOf(LLVMGetParam(intrinsic, 0));
    LLVMTypeRef type = p->returns_first
                           ? LLVMFunctionType(real, (LLVMTypeRef[]){ real, ptr }, 2, false)
                           : LLVMFunctionType(LLVMVoidTypeInContext(u->ctx),
                                              (LLVMTypeRef[]){ real, ptr, ptr }, 3, false);
    const char *name = is_float ? mem_printf("%sf", p->name) : p->name;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    IR_EACH_USE(use, intrinsic) {
        LLVMValueRef call = LLVMGetUser(use);
        bool approximate = has_fast(name) && may_approximate(call);
        LLVMValueRef f =
            declare(u->module, approximate ? mem_printf(FAST_PREFIX "%s", name) : name, type);
        replace_pair_call(b, p, call, type, f);
    }
    LLVMDisposeBuilder(b);
    LLVMDeleteFunction(intrinsic);
}

static bool lower_pair(struct ir_unit *u, LLVMValueRef intrinsic)
{
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *type = type_suffix(ir_name(intrinsic), pairs[i].name);
        if (type && (text_starts(type, "f32") || text_starts(type, "f64"))) {
            replace_pair(u, &pairs[i], intrinsic, type[1] == '3');
            return true;
        }
    }
    return false;
}

static bool lower_powi(struct ir_unit *u, LLVMValueRef intrinsic)
{
    const char *name = ir_name(intrinsic);
    if (!text_starts(name, "llvm.powi.f32.") && !text_starts(name, "llvm.powi.f64."))
        return false;
    replace_powi(u, intrinsic, name[11] == '3');
    return true;
}

static void lower(struct ir_unit *u, LLVMValueRef intrinsic)
{
    const char *name = ir_name(intrinsic), *type;
    if (lower_powi(u, intrinsic) || lower_pair(u, intrinsic))
        return;
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        if (!functions[i].intrinsic || !(type = type_suffix(name, functions[i].intrinsic)))
            continue;
        bool is_float = text_starts(type, "f32");
        if (is_float || text_starts(type, "f64"))
            replace(u->module, intrinsic,
                    is_float ? mem_printf("%sf", functions[i].name) : functions[i].name);
        return;
    }
}

static void use_fast(LLVMModuleRef module, const char *name)
{
    LLVMValueRef f = LLVMGetNamedFunction(module, name);
    if (!f || !LLVMIsDeclaration(f))
        return;
    IR_EACH_USE(use, f) {
        LLVMValueRef call = LLVMGetUser(use);
        if (may_approximate(call) && LLVMGetCalledValue(call) == f)
            LLVMSetOperand(
                call, (unsigned)LLVMGetNumOperands(call) - 1,
                declare(module, mem_printf(FAST_PREFIX "%s", name), LLVMGlobalGetValueType(f)));
    }
}

bool ir_lower_math(struct ir_unit *u)
{
    IR_EACH_FUNCTION(f, u->module) {
        if (!text_starts(ir_name(f), "llvm."))
            continue;
        if (u->opt->target == IR_NVPTX)
            lower(u, f);
        else
            lower_powi(u, f); /* would become a call of libgcc, which an image is not linked with */
    }
    for (unsigned i = 0; u->opt->target == IR_NVPTX && i < FAST; i++)
        use_fast(u->module, fast[i]);
    return diag_errors() == 0;
}
