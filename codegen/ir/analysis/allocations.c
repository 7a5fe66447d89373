/* allocations.c - what allocates blocks that are for a team alone (devicertl/team_memory.c). */
#include "codegen/ir/analysis/analysis.h"
#include <string.h>

static const struct allocation {
    const char *name;
    unsigned allocator; /* argument */
} allocations[] = { { "omp_alloc", 1 },
                    { "omp_aligned_alloc", 2 },
                    { "omp_calloc", 2 },
                    { "omp_aligned_calloc", 3 },
                    { "omp_realloc", 2 } };

static const struct allocation *find_allocation(LLVMValueRef f)
{
    for (unsigned i = 0; i < sizeof allocations / sizeof *allocations; i++)
        if (LLVMIsAFunction(f) && strcmp(ir_name(f), allocations[i].name) == 0)
            return &allocations[i];
    return NULL;
}

bool ir_is_allocation(LLVMValueRef f) { return find_allocation(f) != NULL; }

/* Of the predefined allocators, as omp.h numbers them, those whose memory one thread can access, or
 * more than a team.  None is the default, which is one of these where nobody sets it. */
static bool is_for_others(const struct ir_unit *u, LLVMValueRef allocator)
{
    enum { CGROUP = 6, PTEAM = 7, MOST_PREDEFINED = 8 };
    LLVMValueRef set = LLVMGetNamedFunction(u->module, "omp_set_default_allocator");
    if (!LLVMIsAConstantInt(allocator))
        return false;
    unsigned long long value = LLVMConstIntGetZExtValue(allocator);
    return value ? value <= MOST_PREDEFINED && value != CGROUP && value != PTEAM
                 : !set || !LLVMGetFirstUse(set);
}

/* Also where the routine's address goes somewhere. */
static bool may_allocate(const struct ir_unit *u, LLVMValueRef i)
{
    const struct allocation *a = LLVMIsACallInst(i) ? find_allocation(LLVMGetCalledValue(i)) : NULL;
    if (a)
        return !is_for_others(u, LLVMGetOperand(i, a->allocator));
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(i); k++)
        if (ir_is_allocation(LLVMGetOperand(i, k)))
            return true;
    return false;
}

bool ir_allocates_for_team(const struct ir_unit *u, LLVMValueRef f)
{
    IR_EACH_INSTRUCTION_OF(i, f)
        if (may_allocate(u, i))
            return true;
    return false;
}
