/* order.c - the order of global variables in PTX.
 *
 * LLVM writes a variable after those that its initialiser mentions; among these it goes by their
 * addresses in its own memory, which differ from run to run.  So that the same source gives the
 * same text, variables whose initialisers mention others are moved to the end of the module, where
 * all that they mention has been written.  One that leads to itself has no place: an error. */
#include <string.h>
#include "codegen/ir/passes/passes.h"

struct mentioning { /* the variables that mention others */
    LLVMValueRef *at;
    bool *seen;
    unsigned n;
};

static bool mentions_variables(LLVMValueRef constant)
{
    for (unsigned i = 0, n = (unsigned)LLVMGetNumOperands(constant); i < n; i++) {
        LLVMValueRef operand = LLVMGetOperand(constant, i);
        if (LLVMIsAGlobalVariable(operand) || mentions_variables(operand))
            return true;
    }
    return false;
}

static void copy_metadata(LLVMValueRef to, LLVMValueRef from)
{
    size_t n;
    LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(from, &n);
    for (unsigned i = 0; i < n; i++)
        LLVMGlobalAddMetadata(to, LLVMValueMetadataEntriesGetKind(entries, i),
                              LLVMValueMetadataEntriesGetMetadata(entries, i));
    LLVMDisposeValueMetadataEntries(entries);
}

/* LLVM-C moves no variable: a new one takes its place. */
static LLVMValueRef move_to_end(LLVMModuleRef m, LLVMValueRef v)
{
    LLVMValueRef moved = LLVMAddGlobalInAddressSpace(m, LLVMGlobalGetValueType(v), "",
                                                     LLVMGetPointerAddressSpace(LLVMTypeOf(v)));
    size_t length;
    const char *name = mem_strdup(LLVMGetValueName2(v, &length));
    LLVMSetInitializer(moved, LLVMGetInitializer(v));
    LLVMSetGlobalConstant(moved, LLVMIsGlobalConstant(v));
    LLVMSetExternallyInitialized(moved, LLVMIsExternallyInitialized(v));
    LLVMSetLinkage(moved, LLVMGetLinkage(v));
    LLVMSetVisibility(moved, LLVMGetVisibility(v));
    LLVMSetUnnamedAddress(moved, LLVMGetUnnamedAddress(v));
    LLVMSetAlignment(moved, LLVMGetAlignment(v));
    if (LLVMGetSection(v))
        LLVMSetSection(moved, LLVMGetSection(v));
    copy_metadata(moved, v);
    LLVMReplaceAllUsesWith(v, moved);
    LLVMDeleteGlobal(v);
    LLVMSetValueName2(moved, name, length);
    return moved;
}

static void move_after_mentioned(LLVMModuleRef, struct mentioning *, unsigned i);

static void move_mentioned(LLVMModuleRef m, struct mentioning *all, LLVMValueRef constant)
{
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(constant); i++) {
        LLVMValueRef operand = LLVMGetOperand(constant, i);
        if (!LLVMIsAGlobalVariable(operand))
            move_mentioned(m, all, operand);
        else if (mentions_variables(operand))
            for (unsigned v = 0; v < all->n; v++)
                if (all->at[v] == operand)
                    move_after_mentioned(m, all, v);
    }
}

static void move_after_mentioned(LLVMModuleRef m, struct mentioning *all, unsigned i)
{
    if (all->seen[i])
        return;
    all->seen[i] = true;
    move_mentioned(m, all, LLVMGetInitializer(all->at[i]));
    all->at[i] = move_to_end(m, all->at[i]);
}

static struct mentioning all_that_mention(LLVMModuleRef m)
{
    struct mentioning all = { 0 };
    unsigned n = 0;
    IR_EACH_GLOBAL(v, m)
        n++;
    all.at = mem_array(n + 1, sizeof *all.at);
    all.seen = mem_array(n + 1, sizeof *all.seen);
    IR_EACH_GLOBAL(v, m)
        if (mentions_variables(v))
            all.at[all.n++] = v;
    return all;
}

/* Does a constant lead to the variable?  Each other variable is looked at once. */
static bool leads_to(struct mentioning *all, LLVMValueRef constant, LLVMValueRef variable)
{
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(constant); i++) {
        LLVMValueRef operand = LLVMGetOperand(constant, i);
        bool seen = false;
        if (operand == variable)
            return true;
        for (unsigned v = 0; v < all->n; v++)
            if (all->at[v] == operand) {
                seen = all->seen[v];
                all->seen[v] = true;
            }
        if (!seen && leads_to(all, operand, variable))
            return true;
    }
    return false;
}

bool ir_can_order_variables(LLVMModuleRef m)
{
    struct mentioning all = all_that_mention(m);
    size_t length;
    for (unsigned i = 0; i < all.n; i++) {
        memset(all.seen, 0, all.n * sizeof *all.seen);
        if (!leads_to(&all, LLVMGetInitializer(all.at[i]), all.at[i]))
            continue;
        diag_error("variable '%s' of the device: its initial value leads to its own address, "
                   "which PTX has no way to say; set the pointer in a region",
                   LLVMGetValueName2(all.at[i], &length));
        return false;
    }
    return true;
}

void ir_order_variables(LLVMModuleRef m)
{
    struct mentioning all = all_that_mention(m);
    for (unsigned i = 0; i < all.n; i++)
        move_after_mentioned(m, &all, i);
}
