/* ir_math.c - calls of the C math functions in place of intrinsics.
 *
 * clang turns sin(x) into llvm.sin.f64, which the NVPTX backend cannot select.  The runtime defines sin() over libdevice, so
 * the call is put back, before the runtime is linked.  x86-64 lowers the intrinsics to libm calls by itself.
 *
 * Only the rows with `intrinsic` set are replaced; sqrt, fabs, fma, floor, ceil, trunc, rint, copysign, fmin, fmax have instructions. */
#include "codegen/ir_tool.h"
#include <string.h>

struct math {
    const char *name;                 /* of the double version; float adds 'f' */
    const char *intrinsic;            /* llvm.NAME.fXX, NULL: selectable or none */
};
static const struct math functions[] = {
    { "sin", "sin" }, { "cos", "cos" }, { "tan", "tan" }, { "asin", "asin" }, { "acos", "acos" }, { "atan", "atan" },
    { "atan2", "atan2" }, { "sinh", "sinh" }, { "cosh", "cosh" }, { "tanh", "tanh" }, { "exp", "exp" }, { "exp2", "exp2" },
    { "exp10", "exp10" }, { "log", "log" }, { "log10", "log10" }, { "log2", "log2" }, { "pow", "pow" },
    { "ldexp", "ldexp" }, { "lround", "lround" }, { "llround", "llround" }, { "lrint", "lrint" }, { "llrint", "llrint" },
    { "round", "round" },
    { "asinh", 0 }, { "acosh", 0 }, { "atanh", 0 }, { "expm1", 0 }, { "log1p", 0 }, { "cbrt", 0 }, { "hypot", 0 },
    { "sqrt", 0 }, { "fabs", 0 }, { "floor", 0 }, { "ceil", 0 }, { "trunc", 0 }, { "rint", 0 }, { "nearbyint", 0 },
    { "roundeven", 0 }, { "fma", 0 }, { "fmod", 0 }, { "remainder", 0 }, { "remquo", 0 }, { "fmin", 0 }, { "fmax", 0 },
    { "fdim", 0 }, { "copysign", 0 }, { "nextafter", 0 }, { "frexp", 0 }, { "modf", 0 }, { "scalbn", 0 }, { "scalbln", 0 },
    { "logb", 0 }, { "ilogb", 0 }, { "erf", 0 }, { "erfc", 0 }, { "tgamma", 0 }, { "lgamma", 0 }, { "nan", 0 },
    { "sincos", 0 }, { "j0", 0 }, { "j1", 0 }, { "jn", 0 }, { "y0", 0 }, { "y1", 0 }, { "yn", 0 },
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

bool ir_is_math_name(const char *name)
{
    size_t length = strlen(name);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        size_t n = strlen(functions[i].name);
        if (strncmp(name, functions[i].name, n) == 0 && (length == n || (length == n + 1 && name[n] == 'f')))
            return true;
    }
    return false;
}

/* "llvm.lround.i64.f32": is it `intrinsic`, and for which type? */
static const char *type_suffix(const char *name, const char *intrinsic)
{
    size_t n = strlen(intrinsic);
    if (!ir_starts(name, "llvm.") || strncmp(name + 5, intrinsic, n) != 0 || name[5 + n] != '.')
        return NULL;
    name += 6 + n;
    static const char *const results[] = { "i64.", "i32." };
    for (unsigned i = 0; i < 2; i++)
        if (ir_starts(name, results[i]))
            name += 4;
    return name;
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
        ir_error("function '%s' is declared with a type other than the C library's", name);
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
        LLVMValueRef args[] = { LLVMGetOperand(call, 0), LLVMBuildSIToFP(b, LLVMGetOperand(call, 1), real, "") };
        LLVMReplaceAllUsesWith(call, LLVMBuildCall2(b, type, f, args, 2, ""));
        LLVMInstructionEraseFromParent(call);
    }
    LLVMDisposeBuilder(b);
    LLVMDeleteFunction(intrinsic);
}

static void lower(struct ir_unit *u, LLVMValueRef intrinsic)
{
    const char *name = ir_name(intrinsic), *type;
    if (ir_starts(name, "llvm.powi.f32.") || ir_starts(name, "llvm.powi.f64.")) {
        replace_powi(u, intrinsic, name[11] == '3');
        return;
    }
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        if (!functions[i].intrinsic || !(type = type_suffix(name, functions[i].intrinsic)))
            continue;
        bool is_float = ir_starts(type, "f32");
        if (is_float || ir_starts(type, "f64"))
            replace(u->module, intrinsic, is_float ? ir_format("%sf", functions[i].name) : functions[i].name);
        return;
    }
}

bool ir_lower_math(struct ir_unit *u)
{
    if (u->opt->target != IR_NVPTX)
        return true;
    IR_EACH_FUNCTION(f, u->module)
        if (ir_starts(ir_name(f), "llvm."))
            lower(u, f);
    return ir_errors() == 0;
}
