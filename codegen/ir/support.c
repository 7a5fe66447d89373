/* support.c - messages, files and small helpers over LLVM-C. */
#include "codegen/ir/tool.h"
#include <errno.h>
#include <llvm-c/Analysis.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ir_error_at(const char *file, unsigned line, unsigned column, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diag_vat(&(struct diag_place){ .file = file, .line = line, .column = column }, DIAG_ERROR, fmt,
             ap);
    va_end(ap);
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

const char *ir_string(LLVMValueRef constant)
{
    if (!LLVMIsAConstantDataSequential(constant) || !LLVMIsConstantString(constant))
        return ""; /* "" is a zero initialiser */
    size_t n;
    const char *s = LLVMGetAsString(constant, &n);
    return mem_strndup(s, strnlen(s, n));
}

const char *ir_name(LLVMValueRef v)
{
    size_t length;
    return LLVMGetValueName2(v, &length);
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

bool ir_verify(LLVMModuleRef module, const char *when)
{
    char *why = NULL;
    bool broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &why);
    if (broken)
        diag_bug("invalid IR after %s: %s", when, why);
    LLVMDisposeMessage(why);
    return true;
}

unsigned ir_attribute_kind(const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (!kind)
        diag_bug("LLVM does not know the attribute '%s'", name);
    return kind;
}

LLVMAttributeRef ir_attribute(LLVMContextRef ctx, const char *name)
{
    return LLVMCreateEnumAttribute(ctx, ir_attribute_kind(name), 0);
}
