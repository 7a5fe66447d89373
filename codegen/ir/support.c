/* support.c - messages, files and small helpers over LLVM-C. */
#include "codegen/ir/tool.h"
#include <errno.h>
#include <limits.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *preprocessed;
void ir_set_preprocessed(const char *path) { preprocessed = path; }

const unsigned *ir_users_columns(const char *file, unsigned line, unsigned *n)
{
    return preprocessed && line ? file_users_columns(file, line, preprocessed, n) : NULL;
}

void ir_say_at(struct ir_place at, enum diag_severity severity, const char *fmt, ...)
{
    struct diag_place place = { .file = at.file, .line = at.line, .column = at.column };
    char words[4096];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(words, sizeof words, fmt, ap);
    va_end(ap);
    place.text = file_plain_line(at.file, at.line, preprocessed, &place.length);
    if (preprocessed && !place.text && file_line(at.file, at.line, &place.length)) {
        if (ir_say_in_macro(at, severity, words))
            return;
        place.column = 0; /* a macro has moved what follows it */
    }
    diag_at(&place, severity, "%s", words);
}

static void diagnosed(LLVMDiagnosticInfoRef info, void *context)
{
    (void)context;
    LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
    if (severity != LLVMDSError && severity != LLVMDSWarning)
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    diag_at(NULL, severity == LLVMDSError ? DIAG_ERROR : DIAG_WARNING, "%s", text);
    LLVMDisposeMessage(text);
}

void ir_watch_diagnostics(LLVMContextRef ctx)
{
    LLVMContextSetDiagnosticHandler(ctx, diagnosed, NULL);
}

void *ir_grow(void *list, unsigned n, size_t size)
{
    unsigned room = n;
    return n & (n - 1) ? list : arena_grow(NULL, list, &room, size);
}

bool ir_write_file(const char *path, const void *data, size_t size)
{
    if (file_write(path, data, size))
        return true;
    diag_error("cannot write '%s': %s", path, strerror(errno));
    remove(path);
    return false;
}

LLVMMemoryBufferRef ir_read_file(const char *path)
{
    LLVMMemoryBufferRef buffer;
    char *why = NULL;
    if (!LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &why))
        return buffer;
    diag_error("cannot read '%s': %s", path, why);
    LLVMDisposeMessage(why);
    return NULL;
}

/* ------------------------------------------------------------------ over LLVM-C */
const char *ir_name(LLVMValueRef v)
{
    size_t length;
    return LLVMGetValueName2(v, &length);
}

const char *ir_string(LLVMValueRef constant)
{
    if (!LLVMIsAConstantDataSequential(constant) || !LLVMIsConstantString(constant))
        return ""; /* "" is a zero initialiser */
    size_t n;
    const char *s = LLVMGetAsString(constant, &n);
    return mem_strndup(s, strnlen(s, n));
}

bool ir_verify(LLVMModuleRef module, const char *when)
{
    char *why = NULL;
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &why))
        diag_bug("invalid IR after %s: %s", when, why);
    LLVMDisposeMessage(why);
    return true;
}

void ir_run_passes(LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failed = LLVMRunPasses(module, passes, machine, options);
    if (failed)
        diag_bug("%s", LLVMGetErrorMessage(failed));
    LLVMDisposePassBuilderOptions(options);
}

static void drop_string_attribute(LLVMValueRef f, const char *name)
{
    LLVMRemoveStringAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name,
                                     (unsigned)strlen(name));
}

void ir_leave_unoptimised(LLVMValueRef f)
{
    static const char *const others[] = { "alwaysinline", "inlinehint", "optsize", "minsize" };
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        ir_remove_attribute(f, others[i]);
    ir_add_attribute(f, "noinline");
    ir_add_attribute(f, "optnone");
}

/* Passes leave functions alone that are optnone; one that is already stays so. */
void ir_run_passes_on(LLVMModuleRef module, LLVMValueRef *functions, unsigned n, const char *passes)
{
    static const char chosen[] = "ompgpu.chosen", hidden[] = "ompgpu.hidden";
    for (unsigned i = 0; i < n; i++)
        ir_set_string_attribute(functions[i], chosen, "");
    IR_EACH_FUNCTION(f, module) {
        if (LLVMIsDeclaration(f) || ir_has(f, "optnone") || ir_string_attribute(f, chosen))
            continue;
        ir_add_attribute(f, "optnone");
        ir_set_string_attribute(f, hidden, "");
    }
    ir_run_passes(module, passes, NULL);
    IR_EACH_FUNCTION(f, module) {
        if (ir_string_attribute(f, hidden))
            ir_remove_attribute(f, "optnone");
        drop_string_attribute(f, hidden);
        drop_string_attribute(f, chosen);
    }
}

void ir_run_function_passes(LLVMValueRef f, const char *passes, LLVMTargetMachineRef machine)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failed = LLVMRunPassesOnFunction(f, passes, machine, options);
    if (failed)
        diag_bug("%s", LLVMGetErrorMessage(failed));
    LLVMDisposePassBuilderOptions(options);
}

LLVMValueRef ir_kernel_function(LLVMModuleRef module, const struct ir_kernel *k)
{
    LLVMValueRef f = LLVMGetNamedFunction(module, k->name);
    return f && !LLVMIsDeclaration(f) ? f : NULL;
}

LLVMValueRef ir_function_of(LLVMValueRef instruction)
{
    return LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
}

const char *ir_intrinsic(LLVMValueRef function)
{
    size_t length;
    unsigned id = LLVMIsAFunction(function) ? LLVMGetIntrinsicID(function) : 0;
    return id ? LLVMIntrinsicGetName(id, &length) : "";
}

bool ir_is_call_of(LLVMValueRef value, const char *function)
{
    LLVMValueRef callee = LLVMIsACallInst(value) ? LLVMGetCalledValue(value) : NULL;
    return callee && LLVMIsAFunction(callee) && strcmp(ir_name(callee), function) == 0;
}

bool ir_is_plugin_call(LLVMValueRef callee)
{
    LLVMValueRef address = LLVMIsALoadInst(callee) ? LLVMGetOperand(callee, 0) : NULL;
    while (address && (LLVMIsALoadInst(address) || LLVMIsAGetElementPtrInst(address)))
        address = LLVMGetOperand(address, 0);
    return address && LLVMIsAGlobalVariable(address) &&
           strcmp(ir_name(address), "__ompgpu_emu_ops") == 0;
}

bool ir_is_static_alloca(LLVMValueRef alloca)
{
    return LLVMIsAConstantInt(LLVMGetOperand(alloca, 0)) &&
           LLVMGetInstructionParent(alloca) == LLVMGetEntryBasicBlock(ir_function_of(alloca));
}

/* LLVM would leave a hole in what uses the instruction, and crash much later. */
void ir_erase(LLVMValueRef instruction)
{
    if (LLVMGetFirstUse(instruction))
        diag_bug("an instruction that is still needed was deleted: %s",
                 LLVMPrintValueToString(instruction));
    LLVMInstructionEraseFromParent(instruction);
}

void ir_erase_unneeded(LLVMValueRef instruction)
{
    if (LLVMGetFirstUse(instruction))
        LLVMReplaceAllUsesWith(instruction, LLVMGetPoison(LLVMTypeOf(instruction)));
    ir_erase(instruction);
}

bool ir_is_local_linkage(LLVMValueRef global)
{
    LLVMLinkage linkage = LLVMGetLinkage(global);
    return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

/* The emulated device has thread-local variables of its own. */
bool ir_is_team_shared(const struct ir_unit *u, LLVMValueRef v)
{
    if (!LLVMIsAGlobalVariable(v) || text_starts(ir_name(v), "__ompgpu_emu_"))
        return false;
    return u->opt->target == IR_NVPTX ? LLVMGetPointerAddressSpace(LLVMTypeOf(v)) == 3
                                      : LLVMIsThreadLocal(v);
}

/* ------------------------------------------------------------------ attributes of functions */
#define FUNCTION_INDEX ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)

unsigned ir_attribute_kind(const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (!kind)
        diag_bug("LLVM does not know the attribute '%s'", name);
    return kind;
}

bool ir_has(LLVMValueRef f, const char *enum_attribute)
{
    return LLVMGetEnumAttributeAtIndex(f, FUNCTION_INDEX, ir_attribute_kind(enum_attribute));
}

void ir_add_attribute(LLVMValueRef f, const char *name)
{
    LLVMContextRef ctx = LLVMGetModuleContext(LLVMGetGlobalParent(f));
    LLVMAddAttributeAtIndex(f, FUNCTION_INDEX,
                            LLVMCreateEnumAttribute(ctx, ir_attribute_kind(name), 0));
}

void ir_remove_attribute(LLVMValueRef f, const char *name)
{
    LLVMRemoveEnumAttributeAtIndex(f, FUNCTION_INDEX, ir_attribute_kind(name));
}

const char *ir_string_attribute(LLVMValueRef f, const char *name)
{
    unsigned length = 0;
    LLVMAttributeRef a = LLVMIsAFunction(f) ? LLVMGetStringAttributeAtIndex(f, FUNCTION_INDEX, name,
                                                                            (unsigned)strlen(name))
                                            : NULL;
    const char *value = a ? LLVMGetStringAttributeValue(a, &length) : NULL;
    return !a ? NULL : mem_strndup(value, length);
}

void ir_set_string_attribute(LLVMValueRef f, const char *name, const char *value)
{
    LLVMContextRef ctx = LLVMGetModuleContext(LLVMGetGlobalParent(f));
    LLVMAddAttributeAtIndex(f, FUNCTION_INDEX,
                            LLVMCreateStringAttribute(ctx, name, (unsigned)strlen(name), value,
                                                      (unsigned)strlen(value)));
}
