/* notes.c - remarks about single variables, calls and constructs, with LLVM's numbers where the
 * meaning is the same (man page: REMARKS).
 *
 * Passes note what they do and what they could not do when they do it; remarks.c prints the
 * notes after the remark of their region. With --report the input has full debug information
 * (driver/pipeline/stages.c), so that variables have their names and places. */
#include "codegen/ir/report/report.h"
#include <llvm-c/DebugInfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ places */
/* The name that the user knows: the region's file, or the file with its directory. */
static const char *path_of(const struct ir_kernel *k, const char *directory, const char *name)
{
    size_t all = strlen(k->at.file), tail = strlen(name);
    if (tail <= all && strcmp(k->at.file + all - tail, name) == 0)
        return k->at.file;
    return *name == '/' || !*directory ? name : mem_printf("%s/%s", directory, name);
}

static const char *string_of(const char *text, unsigned length)
{
    return text ? mem_printf("%.*s", (int)length, text) : "";
}

/* Without a region whose way to name the file could be taken. */
struct location {
    const char *directory, *name;
    unsigned line, column;
};

static struct location location_of(LLVMMetadataRef at)
{
    LLVMMetadataRef scope = at ? LLVMDILocationGetScope(at) : NULL,
                    file = scope ? LLVMDIScopeGetFile(scope) : NULL;
    unsigned length = 0;
    if (!file)
        return (struct location){ 0 };
    struct location l = { .line = LLVMDILocationGetLine(at),
                          .column = LLVMDILocationGetColumn(at) };
    const char *name = LLVMDIFileGetFilename(file, &length);
    l.name = string_of(name, length);
    const char *directory = LLVMDIFileGetDirectory(file, &length);
    l.directory = string_of(directory, length);
    return l;
}

static struct ir_place place_of(const struct ir_kernel *k, struct location l)
{
    return l.name && *l.name && l.line
               ? (struct ir_place){ path_of(k, l.directory, l.name), l.line, l.column }
               : (struct ir_place){ 0 };
}

static struct ir_place place_of_location(const struct ir_kernel *k, LLVMMetadataRef at)
{
    return place_of(k, location_of(at));
}

struct ir_place ir_place_of(const struct ir_kernel *k, LLVMValueRef instruction)
{
    return place_of_location(
        k, LLVMIsAInstruction(instruction) ? LLVMInstructionGetDebugLoc(instruction) : NULL);
}

/* ------------------------------------------------------------------ variables */
static LLVMDbgRecordRef next_record(LLVMValueRef instruction, LLVMDbgRecordRef d)
{
    return d == LLVMGetLastDbgRecord(instruction) ? NULL : LLVMGetNextDbgRecord(d);
}

static LLVMDbgRecordRef declaration_in(LLVMValueRef instruction, LLVMValueRef variable)
{
    for (LLVMDbgRecordRef d = LLVMGetFirstDbgRecord(instruction); d;
         d = next_record(instruction, d))
        if (LLVMDbgRecordGetKind(d) == LLVMDbgRecordDeclare &&
            LLVMDbgVariableRecordGetValue(d, 0) == variable)
            return d;
    return NULL;
}

static LLVMDbgRecordRef declaration_of(LLVMValueRef variable)
{
    LLVMValueRef f =
        LLVMIsAInstruction(variable) ? ir_function_of(variable) : LLVMGetParamParent(variable);
    LLVMDbgRecordRef d = NULL;
    IR_EACH_BLOCK(block, f)
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && !d;
             i = LLVMGetNextInstruction(i))
            d = declaration_in(i, variable);
    return d;
}

/* DILocalVariable's second operand. */
static const char *name_in(LLVMContextRef ctx, LLVMMetadataRef variable)
{
    LLVMValueRef node = LLVMMetadataAsValue(ctx, variable);
    unsigned n = (unsigned)LLVMGetMDNodeNumOperands(node), length = 0;
    LLVMValueRef *operands = mem_array(n + 1, sizeof *operands);
    LLVMGetMDNodeOperands(node, operands);
    const char *name = n > 1 && operands[1] ? LLVMGetMDString(operands[1], &length) : NULL;
    return name && length ? mem_printf("%.*s", (int)length, name) : NULL;
}

enum { MARK = 5 }; /* name, directory, file, line, column */
static unsigned mark_kind(LLVMContextRef ctx)
{
    return LLVMGetMDKindIDInContext(ctx, "ompgpu.variable", 15);
}

/* Optimisation turns declarations of scalars into something else: each alloca is given its name and
 * place as metadata. */
static void mark_declared(const struct ir_unit *u, LLVMDbgRecordRef d)
{
    LLVMValueRef variable = LLVMDbgVariableRecordGetValue(d, 0);
    const char *name = name_in(u->ctx, LLVMDbgVariableRecordGetVariable(d));
    if (!variable || !LLVMIsAAllocaInst(variable) || !name)
        return;
    struct location l = location_of(LLVMDbgRecordGetDebugLoc(d));
    LLVMTypeRef i32 = LLVMInt32TypeInContext(u->ctx);
    const char *strings[] = { name, l.directory, l.name };
    LLVMMetadataRef mark[MARK];
    for (unsigned i = 0; i < 3; i++)
        mark[i] = LLVMMDStringInContext2(u->ctx, strings[i] ? strings[i] : "",
                                         strings[i] ? strlen(strings[i]) : 0);
    mark[3] = LLVMValueAsMetadata(LLVMConstInt(i32, l.line, false));
    mark[4] = LLVMValueAsMetadata(LLVMConstInt(i32, l.column, false));
    LLVMSetMetadata(variable, mark_kind(u->ctx),
                    LLVMMetadataAsValue(u->ctx, LLVMMDNodeInContext2(u->ctx, mark, MARK)));
}

void ir_mark_variables(const struct ir_unit *u)
{
    bool wanted = false;
    for (unsigned i = 0; i < u->opt->ninputs; i++)
        wanted |= u->opt->inputs[i].report;
    IR_EACH_FUNCTION(f, u->module)
        IR_EACH_BLOCK(block, f)
            for (LLVMValueRef i = wanted ? LLVMGetFirstInstruction(block) : NULL; i;
                 i = LLVMGetNextInstruction(i))
                for (LLVMDbgRecordRef d = LLVMGetFirstDbgRecord(i); d; d = next_record(i, d))
                    if (LLVMDbgRecordGetKind(d) == LLVMDbgRecordDeclare)
                        mark_declared(u, d);
}

static bool read_mark(const struct ir_unit *u, const struct ir_kernel *k, LLVMValueRef variable,
                      struct ir_variable *v)
{
    LLVMValueRef mark = LLVMIsAInstruction(variable) ? LLVMGetMetadata(variable, mark_kind(u->ctx))
                                                     : NULL,
                 operands[MARK];
    if (!mark || LLVMGetMDNodeNumOperands(mark) != MARK)
        return false;
    LLVMGetMDNodeOperands(mark, operands);
    const char *strings[3];
    for (unsigned i = 0, length = 0; i < 3; i++) {
        const char *text = operands[i] ? LLVMGetMDString(operands[i], &length) : NULL;
        strings[i] = string_of(text, length);
    }
    struct location l = { strings[1], strings[2], (unsigned)LLVMConstIntGetZExtValue(operands[3]),
                          (unsigned)LLVMConstIntGetZExtValue(operands[4]) };
    v->name = strings[0];
    v->at = place_of(k, l);
    return true;
}

/* GPU code for -g has lines only.  LLVM puts numbers after names that are there twice. */
static const char *name_of_value(LLVMValueRef variable)
{
    const char *name = ir_name(variable);
    size_t n = strlen(name);
    bool plain = n && !strchr(name, '.') && (name[n - 1] < '0' || name[n - 1] > '9');
    return plain ? name : NULL;
}

/* A local, or a parameter passed by value.  Names that begin with __ are the compiler's own. */
struct ir_variable ir_variable_of(const struct ir_unit *u, const struct ir_kernel *k,
                                  LLVMValueRef variable)
{
    struct ir_variable v = { 0 };
    LLVMDbgRecordRef d = read_mark(u, k, variable, &v) ? NULL : declaration_of(variable);
    if (d) {
        v.name = name_in(u->ctx, LLVMDbgVariableRecordGetVariable(d));
        v.at = place_of_location(k, LLVMDbgRecordGetDebugLoc(d));
    }
    if (!v.at.file)
        v.at = ir_place_of(k, variable);
    if (!v.name && LLVMIsAAllocaInst(variable))
        v.name = name_of_value(variable);
    v.ours = v.name && text_starts(v.name, "__");
    if (v.ours || !v.name)
        v.name = NULL;
    v.text = v.name ? mem_printf("'%s'", v.name)
             : LLVMIsAAllocaInst(variable) && !LLVMIsAConstantInt(LLVMGetOperand(variable, 0))
                 ? "an array of run-time size"
                 : "a local without a name";
    return v;
}

/* ------------------------------------------------------------------ notes */
static bool same_note(const struct ir_note *a, const struct ir_note *b)
{
    return strcmp(a->text, b->text) == 0 && strcmp(a->at.file, b->at.file) == 0 &&
           a->at.line == b->at.line && a->at.column == b->at.column;
}

void ir_note(struct ir_kernel *k, struct ir_place at, const char *id, const char *fmt, ...)
{
    if (!k->input->report)
        return;
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    int n = vasprintf(&text, fmt, args);
    va_end(args);
    if (n < 0)
        diag_bug("out of memory");
    struct ir_note **end = &k->notes, *note = mem_array(1, sizeof *note);
    *note = (struct ir_note){ .at = at.file ? at : k->at, .id = id, .text = text };
    for (; *end; end = &(*end)->next)
        if (same_note(*end, note))
            return; /* what was inlined twice is one for the user */
    *end = note;
}

/* What a function has in several sets of kernels (passes/sets.c) is said with the first. */
static bool is_printed(const struct ir_unit *u, const struct ir_kernel *end,
                       const struct ir_note *note)
{
    for (const struct ir_kernel *k = u->kernels; k < end; k++)
        for (const struct ir_note *n = k->input->remarks ? k->notes : NULL; n; n = n->next)
            if (same_note(n, note))
                return true;
    return false;
}

void ir_print_notes(const struct ir_unit *u, const struct ir_kernel *k)
{
    for (const struct ir_note *n = k->notes; n; n = n->next)
        if (!is_printed(u, k, n))
            ir_say_at(n->at, DIAG_REMARK, "%s [%s] [-Rompgpu=all]", n->text, n->id);
}
