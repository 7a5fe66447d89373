/* main_loops.c - loops that the main thread runs while the others wait after them.
 *
 * A loop whose iterations read and write shared memory would need barriers in each of them.  When
 * it encounters no parallel region, the main thread can run all of it:
 *
 *     before: barrier?; if (main thread) goto loop; else goto after      main loop
 *     loop:   …
 *     after:  x = phi; if (main thread) cell = x; barrier; x = cell      store, load cells
 */
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/spmd/plan.h"
#include <stdlib.h>

static bool writes_private(const struct spmd_region *r, LLVMValueRef i)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    LLVMValueRef into =
        opcode == LLVMStore                                      ? LLVMGetOperand(i, 1)
        : opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg ? LLVMGetOperand(i, 0)
        : opcode == LLVMCall && text_starts(ir_intrinsic(LLVMGetCalledValue(i)), "llvm.mem")
            ? LLVMGetOperand(i, 0)
            : NULL;
    const struct spmd_object *o = into ? spmd_object_of(r, into) : NULL;
    return o && o->storage == SPMD_PRIVATE;
}

static bool sets_own(LLVMValueRef i)
{
    return LLVMIsACallInst(i) && spmd_known(LLVMGetCalledValue(i), NULL) == KNOWN_OWN;
}

static bool main_may_run(const struct spmd_region *r, const struct spmd_inst *i)
{
    enum spmd_action action = i->effect.action;
    bool ends = LLVMIsAReturnInst(i->value) || LLVMIsAUnreachableInst(i->value) ||
                LLVMIsAAllocaInst(i->value);
    return (action == SPMD_EVERY || action == SPMD_GUARD || action == SPMD_FOLD ||
            action == SPMD_DROP) &&
           !ends && !sets_own(i->value) && !i->effect.noreturn && !i->effect.queries &&
           !writes_private(r, i->value);
}

/* The one block that all ways out of the loop lead to, and no other; -1: there is none such. */
static int only_exit(const struct spmd_plan *p, const struct ir_loop *l)
{
    int exit = -1;
    for (unsigned b = 0; b < p->nblocks; b++)
        for (unsigned i = 0, n = spmd_successors(&p->blocks[b]); i < n; i++) {
            int to = (int)(spmd_successor(p, &p->blocks[b], i) - p->blocks);
            if (!l->body[b] || l->body[to])
                continue;
            if (exit >= 0 && to != exit)
                return -1;
            exit = to;
        }
    for (unsigned b = 0; exit >= 0 && b < p->nblocks; b++)
        for (unsigned i = 0, n = spmd_successors(&p->blocks[b]); i < n; i++)
            if (!l->body[b] && spmd_successor(p, &p->blocks[b], i) == &p->blocks[exit])
                return -1;
    return exit;
}

/* What others use of it comes through a phi after it. */
static bool stays_inside(const struct spmd_plan *p, const struct spmd_main_loop *a, int exit,
                         const struct spmd_inst *i)
{
    IR_EACH_USE(use, i->value) {
        const struct spmd_inst *user = spmd_inst_of(p, LLVMGetUser(use));
        if (!user || !(a->loop->body[user->block] ||
                       (LLVMIsAPHINode(user->value) && (int)user->block == exit)))
            return false;
    }
    return true;
}

/* Worth it: what one iteration reads, another may have written. */
static bool is_main_loop(const struct spmd_region *r, const struct spmd_plan *p,
                         struct spmd_main_loop *a)
{
    int exit = a->loop->preheader < 0 ? -1 : only_exit(p, a->loop);
    for (unsigned i = 0; i < p->ninsts; i++) {
        const struct spmd_inst *inst = &p->insts[i];
        if (!a->loop->body[inst->block])
            continue;
        if (exit < 0 || inst->main_loop >= 0 || !main_may_run(r, inst) ||
            !stays_inside(p, a, exit, inst))
            return false;
        a->reads |= inst->effect.reads;
        a->writes |= inst->effect.writes;
    }
    a->exit = (unsigned)exit;
    return a->reads & a->writes;
}

static int by_size(const void *a, const void *b)
{
    const struct spmd_main_loop *x = a, *y = b;
    return x->loop->size < y->loop->size ? 1 : -(x->loop->size > y->loop->size);
}

/* Outer loops first. */
void spmd_find_main_loops(struct spmd_region *r, struct spmd_plan *p)
{
    struct spmd_main_loop *candidates = mem_array(p->loops.n + 1, sizeof *candidates);
    p->main_loops = mem_array(p->loops.n + 1, sizeof *p->main_loops);
    for (unsigned i = 0; i < p->loops.n; i++)
        candidates[i].loop = &p->loops.at[i];
    qsort(candidates, p->loops.n, sizeof *candidates, by_size);
    for (unsigned i = 0; i < p->loops.n; i++) {
        if (!is_main_loop(r, p, &candidates[i]))
            continue;
        for (unsigned n = 0; n < p->ninsts; n++)
            if (candidates[i].loop->body[p->insts[n].block])
                p->insts[n].main_loop = (int)p->nmain_loops;
        p->main_loops[p->nmain_loops++] = candidates[i];
    }
}

/* What the loop computes and others use are the phis after it. */
void spmd_add_main_loop(struct spmd_region *r, struct spmd_plan *p, unsigned number)
{
    struct spmd_main_loop *a = &p->main_loops[number];
    struct spmd_block *before = &p->blocks[a->loop->preheader], *after = &p->blocks[a->exit];
    LLVMValueRef at = l_first_after_phis(after->at);
    spmd_add_event(before, before->nevents,
                   (struct spmd_event){ .kind = SPMD_MAIN_LOOP,
                                        .at = LLVMGetBasicBlockTerminator(before->at),
                                        .reads = a->reads,
                                        .writes = a->writes,
                                        .group = (int)number });
    if (!LLVMIsAPHINode(LLVMGetFirstInstruction(after->at)))
        return;
    spmd_mask bit = spmd_new_bit(r);
    spmd_add_event(after, 0,
                   (struct spmd_event){
                       .kind = SPMD_STORE_CELLS, .at = at, .writes = bit, .group = (int)number });
    spmd_add_event(after, 1,
                   (struct spmd_event){
                       .kind = SPMD_LOAD_CELLS, .at = at, .reads = bit, .group = (int)number });
    IR_EACH_INSTRUCTION(phi, after->at)
        r->broadcast_bytes +=
            LLVMIsAPHINode(phi) ? (unsigned)LLVMABISizeOfType(r->u->layout, LLVMTypeOf(phi)) : 0;
}
