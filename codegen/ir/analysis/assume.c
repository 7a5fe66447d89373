/* assume.c - what the user states about functions and calls, and what that allows.
 *
 * The C writer leaves two things in the module: records __OMPGPU_ASSUME, which become the attribute
 * "llvm.assume" of a function (as clang's own in C++), and calls of __ompgpu_assume(words) around
 * the statement of an `assume` directive.  The calls order nothing but other calls; what holds at
 * an instruction follows from the last one on all ways to it.  They are deleted when the modes are
 * chosen. */
#include "codegen/ir/analysis/analysis.h"
#include <stdlib.h>
#include <string.h>

static const char attribute_name[] = "llvm.assume", marker_name[] = "__ompgpu_assume";

/* As the C writer puts them, each with a comma after it. */
static const struct {
    const char *word;
    unsigned assumption;
} known[] = {
    { "ompx_spmd_amenable", IR_SPMD_AMENABLE },
    { "omp_no_parallelism", IR_NO_PARALLELISM },
    { "omp_no_openmp_routines", IR_NO_ROUTINES },
};

static unsigned assumptions_in(const char *words)
{
    unsigned assumptions = 0;
    for (size_t n; *words; words += n + (words[n] == ',')) {
        n = strcspn(words, ",");
        for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
            if (strlen(known[i].word) == n && strncmp(words, known[i].word, n) == 0)
                assumptions |= known[i].assumption;
    }
    return assumptions;
}

unsigned ir_assumptions(LLVMValueRef f)
{
    const char *words = ir_string_attribute(f, attribute_name);
    return words ? assumptions_in(words) : 0;
}

void ir_assume(LLVMValueRef f, const char *words)
{
    const char *old = ir_string_attribute(f, attribute_name);
    ir_set_string_attribute(f, attribute_name,
                            old && *old ? mem_printf("%s,%s", old, words) : words);
}

/* ------------------------------------------------------------------ around statements */
static bool is_marker(LLVMValueRef i) { return ir_is_call_of(i, marker_name); }

static unsigned assumptions_at(LLVMValueRef marker)
{
    LLVMValueRef text = LLVMGetOperand(marker, 0),
                 init = LLVMIsAGlobalVariable(text) ? LLVMGetInitializer(text) : NULL;
    return init ? assumptions_in(ir_string(init)) : 0;
}

unsigned ir_assumptions_after(LLVMValueRef instruction, unsigned before)
{
    return is_marker(instruction) ? assumptions_at(instruction) : before;
}

/* The assumptions that hold at the end of a block where `now` hold at its beginning. */
static unsigned assumptions_at_end(LLVMBasicBlockRef block, unsigned now)
{
    IR_EACH_INSTRUCTION(i, block)
        now = ir_assumptions_after(i, now);
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
unsigned *ir_assumptions_by_block(LLVMValueRef f)
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
            unsigned out = assumptions_at_end(blocks[i], in[i]);
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

/* ------------------------------------------------------------------ before and after */
/* Other memory than the calls' own is not touched. */
void ir_prepare_assumption_markers(struct ir_unit *u)
{
    enum { INACCESSIBLE = 3 << 2 };
    LLVMValueRef marker = LLVMGetNamedFunction(u->module, marker_name);
    if (!marker)
        return;
    LLVMAddAttributeAtIndex(
        marker, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateEnumAttribute(u->ctx, ir_attribute_kind("memory"), INACCESSIBLE));
    ir_add_attribute(marker, "nounwind");
    ir_add_attribute(marker, "willreturn");
}

void ir_delete_assumption_markers(struct ir_unit *u)
{
    LLVMValueRef marker = LLVMGetNamedFunction(u->module, marker_name);
    if (!marker)
        return;
    IR_EACH_USE(use, marker)
        ir_erase(LLVMGetUser(use));
    LLVMDeleteFunction(marker);
}
