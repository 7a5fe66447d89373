/* assume.c - what the user promises about functions and calls, and what that allows.
 *
 * The C writer leaves two things in the module: records __OMPGPU_ASSUME, which become the attribute
 * "llvm.assume" of a function (as clang's own in C++), and calls of __ompgpu_assume(words) around
 * the statement of an `assume` directive.  The calls order nothing but other calls; what holds at
 * an instruction follows from the last one on all ways to it.  They are deleted when the modes are
 * chosen. */
#include "codegen/ir/tool.h"
#include <string.h>

#define FUNCTION ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)
static const char attribute_name[] = "llvm.assume", marker_name[] = "__ompgpu_assume";

/* As frontend/assume.c has them, without their prefix. */
static const struct {
    const char *word;
    unsigned promises;
} words[] = {
    { "spmd_amenable", IR_AMENABLE },
    { "no_parallelism", IR_NO_PARALLEL },
    { "no_openmp_routines", IR_NO_ROUTINES },
};

static unsigned promises_in(const char *text, size_t n)
{
    unsigned promises = 0;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (n && memmem(text, n, words[i].word, strlen(words[i].word)))
            promises |= words[i].promises;
    return promises;
}

unsigned ir_promises(LLVMValueRef f)
{
    LLVMAttributeRef a =
        LLVMIsAFunction(f)
            ? LLVMGetStringAttributeAtIndex(f, FUNCTION, attribute_name, sizeof attribute_name - 1)
            : NULL;
    unsigned n = 0;
    const char *text = a ? LLVMGetStringAttributeValue(a, &n) : "";
    return promises_in(text, n);
}

void ir_promise(struct ir_unit *u, LLVMValueRef f, const char *text)
{
    LLVMAttributeRef old =
        LLVMGetStringAttributeAtIndex(f, FUNCTION, attribute_name, sizeof attribute_name - 1);
    unsigned n = 0;
    if (old && LLVMGetStringAttributeValue(old, &n) && n) {
        const char *before = LLVMGetStringAttributeValue(old, &n);
        text = mem_printf("%.*s,%s", (int)n, before, text);
    }
    LLVMAddAttributeAtIndex(f, FUNCTION,
                            LLVMCreateStringAttribute(u->ctx, attribute_name,
                                                      sizeof attribute_name - 1, text,
                                                      (unsigned)strlen(text)));
}

/* ------------------------------------------------------------------ around statements */
static bool is_marker(LLVMValueRef i)
{
    return LLVMIsACallInst(i) && strcmp(ir_name(LLVMGetCalledValue(i)), marker_name) == 0;
}

static unsigned promises_at(LLVMValueRef marker)
{
    LLVMValueRef text = LLVMGetOperand(marker, 0),
                 init = LLVMIsAGlobalVariable(text) ? LLVMGetInitializer(text) : NULL;
    const char *words = init ? ir_string(init) : "";
    return promises_in(words, strlen(words));
}

/* The promises that hold at the end of a block where `now` hold at its beginning. */
static unsigned pass(LLVMBasicBlockRef block, unsigned now)
{
    IR_EACH_INSTRUCTION(i, block) {
        if (is_marker(i))
            now = promises_at(i);
    }
    return now;
}

static unsigned number_of(const LLVMBasicBlockRef *blocks, unsigned n, LLVMBasicBlockRef block)
{
    for (unsigned i = 0; i < n; i++)
        if (blocks[i] == block)
            return i;
    diag_bug("a branch leaves its function");
}

static bool any_marker(LLVMValueRef f)
{
    IR_EACH_INSTRUCTION_OF(i, f)
        if (is_marker(i))
            return true;
    return false;
}

/* By block, what holds on all ways to it; NULL: nothing anywhere. */
unsigned *ir_promises_by_block(LLVMValueRef f)
{
    if (!any_marker(f))
        return NULL;
    unsigned n = LLVMCountBasicBlocks(f);
    LLVMBasicBlockRef *blocks = mem_array(n, sizeof *blocks);
    unsigned *in = mem_array(n, sizeof *in);
    LLVMGetBasicBlocks(f, blocks);
    for (unsigned i = 1; i < n; i++)
        in[i] = ~0u;
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0; i < n; i++) {
            unsigned out = pass(blocks[i], in[i]);
            LLVMValueRef last = LLVMGetBasicBlockTerminator(blocks[i]);
            for (unsigned s = 0, count = last ? LLVMGetNumSuccessors(last) : 0; s < count; s++) {
                unsigned *to = &in[number_of(blocks, n, LLVMGetSuccessor(last, s))], old = *to;
                *to &= out;
                again |= *to != old;
            }
        }
    }
    return in;
}

unsigned ir_promises_after(LLVMValueRef instruction, unsigned before)
{
    return is_marker(instruction) ? promises_at(instruction) : before;
}

/* ------------------------------------------------------------------ before and after */
/* Other memory than the calls' own is not touched. */
static void quieten(struct ir_unit *u, LLVMValueRef marker)
{
    enum { INACCESSIBLE = 3 << 2 };
    LLVMAddAttributeAtIndex(
        marker, FUNCTION,
        LLVMCreateEnumAttribute(u->ctx, ir_attribute_kind("memory"), INACCESSIBLE));
    LLVMAddAttributeAtIndex(marker, FUNCTION, ir_attribute(u->ctx, "nounwind"));
    LLVMAddAttributeAtIndex(marker, FUNCTION, ir_attribute(u->ctx, "willreturn"));
}

void ir_begin_assuming(struct ir_unit *u)
{
    LLVMValueRef marker = LLVMGetNamedFunction(u->module, marker_name);
    if (marker)
        quieten(u, marker);
}

void ir_end_assuming(struct ir_unit *u)
{
    LLVMValueRef marker = LLVMGetNamedFunction(u->module, marker_name);
    if (!marker)
        return;
    IR_EACH_USE(use, marker)
        LLVMInstructionEraseFromParent(LLVMGetUser(use));
    LLVMDeleteFunction(marker);
}
