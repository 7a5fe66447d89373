/* versions.c - the host's versions of target regions are optimised less than what is around them.
 *
 * Without a device a region runs on the host.  What clang makes of it there, a function for each of
 * its constructs,
 *
 *   if (__ompgpu_target(…)) {
 *       __ompgpu_host_begin(…);
 *       region(…);               internal, like all functions that only it uses
 *       __ompgpu_host_end(…);
 *   }
 *
 * would take most of the time of the host's compile.  Here, in what clang writes before any pass of
 * LLVM runs, these functions get three cheap passes, which put variables into registers, and the
 * attribute optnone, so that neither the pipeline nor the code generator spend time on them.  They
 * are as fast as with -O1, for which nothing is vectorised or unrolled.  clang goes on with the
 * result as with a file of the user's.
 *
 * A function counts as one of a region's when each use of it is between those two calls or in
 * another such function: a static function of the user's that regions alone call is one, too.  What
 * the user wants to have inlined stays so; clang's own functions have that attribute as well, and
 * `norecurse` besides. */
#include "codegen/ir/passes/passes.h"
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <stdlib.h>

struct function {
    LLVMValueRef f;
    unsigned uses, seen; /* seen: in versions of regions */
};
struct versions {
    struct function *all; /* internal functions, by address */
    unsigned n;
    LLVMValueRef *found; /* those of regions; the first `scanned` have been looked through */
    unsigned nfound, scanned;
};

static int by_address(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const struct function *)a)->f,
                    y = (uintptr_t)((const struct function *)b)->f;
    return (x > y) - (x < y);
}

static void list_functions(struct versions *v, LLVMModuleRef module)
{
    unsigned n = 0;
    IR_EACH_FUNCTION(f, module)
        n++;
    v->all = mem_array(n + 1, sizeof *v->all);
    v->found = mem_array(n + 1, sizeof *v->found);
    IR_EACH_FUNCTION(f, module) {
        if (LLVMIsDeclaration(f) || !ir_is_local_linkage(f))
            continue;
        struct function *one = &v->all[v->n++];
        one->f = f;
        IR_EACH_USE(use, f)
            one->uses++;
    }
    qsort(v->all, v->n, sizeof *v->all, by_address);
}

static void see_operands(struct versions *v, LLVMValueRef instruction)
{
    for (int i = 0; i < LLVMGetNumOperands(instruction); i++) {
        const struct function key = { .f = LLVMGetOperand(instruction, (unsigned)i) };
        struct function *one = bsearch(&key, v->all, v->n, sizeof *v->all, by_address);
        if (one && ++one->seen == one->uses)
            v->found[v->nfound++] = one->f;
    }
}

/* What is between the two calls, or what is not. */
static void see_instructions(struct versions *v, LLVMValueRef f, bool wanted)
{
    bool between = false;
    IR_EACH_INSTRUCTION_OF(i, f) {
        if (ir_is_call_of(i, "__ompgpu_host_begin"))
            between = true;
        else if (ir_is_call_of(i, "__ompgpu_host_end"))
            between = false;
        else if (between == wanted)
            see_operands(v, i);
    }
}

static void find_versions(struct versions *v, LLVMModuleRef module)
{
    list_functions(v, module);
    IR_EACH_FUNCTION(f, module)
        see_instructions(v, f, true);
    while (v->scanned < v->nfound)
        see_instructions(v, v->found[v->scanned++], false);
}

static bool is_to_be_inlined(LLVMValueRef f)
{
    return ir_has(f, "alwaysinline") && !ir_has(f, "norecurse");
}

bool ir_lower_versions(const char *from, const char *to)
{
    struct versions v = { 0 };
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMMemoryBufferRef buffer = ir_read_file(from);
    LLVMModuleRef module;
    ir_watch_diagnostics(ctx);
    if (!buffer)
        return false;
    if (LLVMParseBitcodeInContext2(ctx, buffer, &module)) {
        diag_error("'%s' is not LLVM bitcode that this compiler can read", from);
        return false;
    }
    find_versions(&v, module);
    ir_run_passes_on(module, v.found, v.nfound, "function(sroa,early-cse,simplifycfg)");
    for (unsigned i = 0; i < v.nfound; i++)
        if (!is_to_be_inlined(v.found[i]))
            ir_leave_unoptimised(v.found[i]);
    ir_verify(module, "lowering the host's versions");
    if (!LLVMWriteBitcodeToFile(module, to))
        return true;
    diag_error("cannot write '%s'", to);
    return false;
}
