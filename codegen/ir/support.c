/* support.c - messages, files and small helpers over LLVM-C. */
#include "codegen/ir/tool.h"
#include <errno.h>
#include <llvm-c/Analysis.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned errors;

static void message(const char *severity, const char *fmt, va_list ap)
{
    fprintf(stderr, "%s: ", severity);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
}

void ir_error(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message("ompgpu-cc: error", fmt, ap);
    va_end(ap);
    errors++;
}

void ir_error_at(const char *file, unsigned line, unsigned column, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (column)
        fprintf(stderr, "%s:%u:%u: ", file, line, column);
    else
        fprintf(stderr, "%s:%u: ", file, line);
    message("error", fmt, ap);
    va_end(ap);
    errors++;
}

void ir_bug(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message("ompgpu-cc: internal error in omp-device", fmt, ap);
    va_end(ap);
    exit(1);
}

unsigned ir_errors(void) { return errors; }

static void diagnosed(LLVMDiagnosticInfoRef info, void *context)
{
    (void)context;
    static const char *const severities[] = { [LLVMDSError] = "error",
                                              [LLVMDSWarning] = "warning" };
    LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
    if (severity != LLVMDSError && severity != LLVMDSWarning)
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    fprintf(stderr, "ompgpu-cc: %s: %s\n", severities[severity], text);
    LLVMDisposeMessage(text);
    errors += severity == LLVMDSError;
}

void ir_watch_diagnostics(LLVMContextRef ctx)
{
    LLVMContextSetDiagnosticHandler(ctx, diagnosed, NULL);
}

void *ir_alloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        ir_bug("out of memory");
    return p;
}

char *ir_format(const char *fmt, ...)
{
    char *s;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        ir_bug("out of memory");
    va_end(ap);
    return s;
}

bool ir_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

const char *ir_string(LLVMValueRef constant)
{
    if (!LLVMIsAConstantDataSequential(constant) || !LLVMIsConstantString(constant))
        return ""; /* "" is a zero initialiser */
    size_t n;
    const char *s = LLVMGetAsString(constant, &n);
    return ir_format("%.*s", (int)strnlen(s, n), s);
}

const char *ir_name(LLVMValueRef v)
{
    size_t length;
    return LLVMGetValueName2(v, &length);
}

bool ir_write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(data, 1, size, f) == size;
    if (f && fclose(f))
        ok = false;
    if (!ok) {
        ir_error("cannot write '%s': %s", path, strerror(errno));
        if (f)
            remove(path);
    }
    return ok;
}

LLVMMemoryBufferRef ir_read_file(const char *path)
{
    LLVMMemoryBufferRef buffer;
    char *why = NULL;
    if (!LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &why))
        return buffer;
    ir_error("cannot read '%s': %s", path, why);
    LLVMDisposeMessage(why);
    return NULL;
}

bool ir_verify(LLVMModuleRef module, const char *when)
{
    char *why = NULL;
    bool broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &why);
    if (broken)
        ir_bug("invalid IR after %s: %s", when, why);
    LLVMDisposeMessage(why);
    return true;
}

unsigned ir_attribute_kind(const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (!kind)
        ir_bug("LLVM does not know the attribute '%s'", name);
    return kind;
}

LLVMAttributeRef ir_attribute(LLVMContextRef ctx, const char *name)
{
    return LLVMCreateEnumAttribute(ctx, ir_attribute_kind(name), 0);
}
