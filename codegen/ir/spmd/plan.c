/* plan.c - which instructions become guards, calls and broadcasts when all threads run a region
 * function; plan.h says what a plan is. */
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/link/link.h"
#include "codegen/ir/spmd/plan.h"
#include <stdlib.h>

/* ------------------------------------------------------------------ look-up */
static int compare_keys(const void *a, const void *b)
{
    const char *x = ((const struct spmd_key *)a)->value, *y = ((const struct spmd_key *)b)->value;
    return x < y ? -1 : x > y;
}

static int find_key(const struct spmd_key *keys, unsigned n, const void *value)
{
    struct spmd_key key = { value, 0 }, *hit = bsearch(&key, keys, n, sizeof *keys, compare_keys);
    return hit ? (int)hit->index : -1;
}

struct spmd_inst *spmd_inst_of(const struct spmd_plan *p, LLVMValueRef value)
{
    int i = find_key(p->inst_keys, p->ninsts, value);
    return i < 0 ? NULL : &p->insts[i];
}

/* ------------------------------------------------------------------ instructions */
static void number_insts(struct spmd_region *r, struct spmd_plan *p)
{
    IR_EACH_BLOCK(block, r->function) {
        p->nblocks++;
        IR_EACH_INSTRUCTION(i, block)
            p->ninsts++;
    }
    p->insts = mem_array(p->ninsts, sizeof *p->insts);
    p->inst_keys = mem_array(p->ninsts, sizeof *p->inst_keys);
    p->blocks = mem_array(p->nblocks, sizeof *p->blocks);
    p->block_keys = mem_array(p->nblocks, sizeof *p->block_keys);
    unsigned b = 0, n = 0, *assumptions = ir_assumptions_by_block(r->function);
    IR_EACH_BLOCK(block, r->function) {
        r->assumptions = assumptions ? assumptions[b] : 0;
        p->blocks[b].at = block;
        p->block_keys[b] = (struct spmd_key){ block, b };
        IR_EACH_INSTRUCTION(i, block) {
            r->assumptions = ir_assumptions_after(i, r->assumptions);
            p->inst_keys[n] = (struct spmd_key){ i, n };
            p->insts[n++] = (struct spmd_inst){
                .value = i, .effect = spmd_effect(r, i), .block = b, .group = -1, .main_loop = -1
            };
        }
        b++;
    }
    qsort(p->inst_keys, p->ninsts, sizeof *p->inst_keys, compare_keys);
    qsort(p->block_keys, p->nblocks, sizeof *p->block_keys, compare_keys);
}

unsigned spmd_successors(const struct spmd_block *b)
{
    LLVMValueRef last = LLVMGetBasicBlockTerminator(b->at);
    return last ? LLVMGetNumSuccessors(last) : 0;
}

struct spmd_block *spmd_successor(const struct spmd_plan *p, const struct spmd_block *b, unsigned i)
{
    return &p->blocks[find_key(p->block_keys, p->nblocks,
                               LLVMGetSuccessor(LLVMGetBasicBlockTerminator(b->at), i))];
}

static bool check_effects(struct spmd_region *r, const struct spmd_plan *p)
{
    for (unsigned i = 0; i < p->ninsts; i++)
        if (p->insts[i].effect.action == SPMD_REFUSE)
            spmd_refuse(r, p->insts[i].value, p->insts[i].effect.why, p->insts[i].effect.id,
                        p->insts[i].effect.remedy);
    return !r->why;
}

/* ------------------------------------------------------------------ what guards take along */
/* What may be left to the main thread when only guards use it: loads, and arithmetic. */
static bool can_move(const struct spmd_inst *i)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i->value);
    if (i->effect.action != SPMD_EVERY || i->main_loop >= 0)
        return false;
    if (opcode == LLVMLoad)
        return i->effect.reads != 0;
    return opcode != LLVMPHI && opcode != LLVMAlloca && opcode != LLVMCall &&
           !LLVMIsATerminatorInst(i->value) && opcode != LLVMStore && opcode != LLVMAtomicRMW &&
           opcode != LLVMAtomicCmpXchg && opcode != LLVMFreeze;
}

static bool used_by_guards(const struct spmd_plan *p, const struct spmd_inst *i)
{
    IR_EACH_USE(use, i->value) {
        const struct spmd_inst *user = spmd_inst_of(p, LLVMGetUser(use));
        if (!user || user->block != i->block ||
            !(user->effect.action == SPMD_GUARD || user->wanted_by_guards))
            return false;
    }
    return LLVMGetFirstUse(i->value) != NULL;
}

static bool depends_on_moved(const struct spmd_plan *p, const struct spmd_inst *i)
{
    for (unsigned n = 0, count = (unsigned)LLVMGetNumOperands(i->value); n < count; n++) {
        const struct spmd_inst *operand = spmd_inst_of(p, LLVMGetOperand(i->value, n));
        if (operand && operand->block == i->block && operand->wanted_by_guards)
            return true;
    }
    return false;
}

static void find_moved(struct spmd_plan *p)
{
    for (unsigned i = p->ninsts; i-- > 0;)
        p->insts[i].wanted_by_guards = can_move(&p->insts[i]) && used_by_guards(p, &p->insts[i]);
    for (unsigned i = 0; i < p->ninsts; i++) {
        struct spmd_inst *inst = &p->insts[i];
        if (inst->wanted_by_guards && LLVMGetInstructionOpcode(inst->value) != LLVMLoad)
            inst->wanted_by_guards = depends_on_moved(p, inst);
    }
}

/* ------------------------------------------------------------------ groups and events */
struct walk {
    struct spmd_region *r;
    struct spmd_plan *p;
    struct spmd_block *block;
    int open;
    unsigned at;
};

void spmd_add_event(struct spmd_block *b, unsigned at, struct spmd_event event)
{
    b->events = ir_grow(b->events, b->nevents, sizeof *b->events);
    for (unsigned i = b->nevents++; i > at; i--)
        b->events[i] = b->events[i - 1];
    b->events[at] = event;
}

static void join_group(struct walk *w, struct spmd_inst *i)
{
    struct spmd_plan *p = w->p;
    if (w->open < 0) {
        p->groups = ir_grow(p->groups, p->ngroups, sizeof *p->groups);
        p->groups[p->ngroups] = (struct spmd_group){ 0 };
        w->open = (int)p->ngroups++;
    }
    struct spmd_group *g = &p->groups[w->open];
    g->members = ir_grow(g->members, g->n, sizeof *g->members);
    g->members[g->n++] = g->last = i->value;
    g->reads |= i->effect.reads;
    g->writes |= i->effect.writes;
    g->reads_private |= LLVMGetInstructionOpcode(i->value) == LLVMCall;
    g->noreturn |= i->effect.noreturn;
    g->queries |= i->effect.queries;
    i->group = w->open;
    w->at = w->block->nevents; /* where the group stands among the events */
}

bool spmd_used_outside(const struct spmd_plan *p, LLVMValueRef value, int group)
{
    IR_EACH_USE(use, value) {
        const struct spmd_inst *user = spmd_inst_of(p, LLVMGetUser(use));
        if (!user || user->group != group)
            return true;
    }
    return false;
}

static void close_group(struct walk *w)
{
    if (w->open < 0)
        return;
    struct spmd_group *g = &w->p->groups[w->open];
    spmd_add_event(w->block, w->at,
                   (struct spmd_event){ .kind = SPMD_GUARDED,
                                        .at = LLVMGetNextInstruction(g->last),
                                        .reads = g->reads,
                                        .writes = g->writes,
                                        .group = w->open,
                                        .barrier_after = g->noreturn });
    w->open = -1;
}

/* Must the open group stand before this instruction? */
static bool ends_group(const struct walk *w, const struct spmd_inst *i)
{
    const struct spmd_group *g = &w->p->groups[w->open];
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i->value);
    if (i->effect.action == SPMD_REGION || i->effect.action == SPMD_CALL ||
        (i->effect.reads & g->writes))
        return true;
    if (g->reads_private && (opcode == LLVMStore || opcode == LLVMCall || opcode == LLVMAtomicRMW ||
                             opcode == LLVMAtomicCmpXchg))
        return true;
    for (unsigned n = 0, count = (unsigned)LLVMGetNumOperands(i->value); n < count; n++) {
        const struct spmd_inst *operand = spmd_inst_of(w->p, LLVMGetOperand(i->value, n));
        if (operand && operand->group == w->open)
            return true;
    }
    return false;
}

/* What a region's function can reach: unknown memory, and the shared locals whose addresses are in
 * its context. */
static spmd_mask region_mask(const struct spmd_region *r, LLVMValueRef pointer)
{
    spmd_mask mask = SPMD_OTHER;
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAStoreInst(user) &&
            LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(user, 0))) == LLVMPointerTypeKind)
            mask |= spmd_pointer_mask(r, LLVMGetOperand(user, 0));
        else if (LLVMIsAGetElementPtrInst(user) || LLVMIsABitCastInst(user))
            mask |= region_mask(r, user);
    }
    return mask;
}

/* --------------------------------------------------------------- regions on a part of the team */
static bool is_constant(LLVMValueRef v, unsigned long long value)
{
    return LLVMIsAConstantInt(v) && LLVMConstIntGetZExtValue(v) == value;
}

bool spmd_is_part(const struct spmd_region *r, LLVMValueRef call)
{
    return r->nthreads_var || !is_constant(LLVMGetOperand(call, 2), 0) ||
           !is_constant(LLVMGetOperand(call, 3), 1);
}

/* Whole warps wait at a barrier of the hardware, any other part at one in software. */
static bool is_odd(const struct spmd_region *r, LLVMValueRef call)
{
    LLVMValueRef size = LLVMGetOperand(call, 2);
    return LLVMIsAConstantInt(size) && !is_constant(size, 0)
               ? LLVMConstIntGetZExtValue(size) % 32 != 0
               : !is_constant(size, 0) || r->nthreads_var;
}

static bool is_waiting(const struct ir_node *node, void *unit)
{
    return node->indirect || ir_runtime_waits(unit, ir_name(node->value));
}

static void find_parts(struct spmd_region *r, struct spmd_plan *p)
{
    bool waits = false;
    for (unsigned i = 0; i < p->ninsts; i++)
        if (p->insts[i].effect.action == SPMD_SET && !r->nthreads_var)
            /* the alloca follows when the function is rewritten */
            r->nthreads_var = p->insts[i].value;
    for (unsigned i = 0; i < p->ninsts; i++) {
        LLVMValueRef call = p->insts[i].value;
        if (p->insts[i].effect.action != SPMD_REGION || !spmd_is_part(r, call))
            continue;
        r->partial++;
        waits |=
            is_odd(r, call) && ir_reaches(r->u->module, LLVMGetOperand(call, 0), is_waiting, r->u);
    }
    if (!waits)
        return;
    LLVMValueRef first = LLVMGetFirstInstruction(p->blocks[0].at);
    while (LLVMIsAAllocaInst(first))
        first = LLVMGetNextInstruction(first);
    r->software_barrier = spmd_new_bit(r);
    spmd_add_event(
        &p->blocks[0], 0,
        (struct spmd_event){
            .kind = SPMD_RESET, .at = first, .writes = r->software_barrier, .group = -1 });
}

/* ------------------------------------------------------------------ events */
static void add_region(struct walk *w, const struct spmd_inst *i)
{
    LLVMValueRef context = LLVMGetOperand(i->value, 1);
    spmd_mask mask = LLVMIsAAllocaInst(context) && !spmd_pointer_mask(w->r, context)
                         ? region_mask(w->r, context)
                     : LLVMIsAConstantPointerNull(context) ? SPMD_OTHER
                                                           : SPMD_ALL;
    mask |= w->r->software_barrier | w->r->cells;
    bool ends =
        !spmd_is_part(w->r, i->value) && spmd_ends_with_barrier(LLVMGetOperand(i->value, 0));
    spmd_add_event(w->block, w->block->nevents,
                   (struct spmd_event){ .kind = SPMD_PARALLEL,
                                        .at = i->value,
                                        .reads = mask,
                                        .writes = mask,
                                        .kept = ends ? w->r->cells : 0,
                                        .group = -1 });
    w->block->has_region = true;
    w->r->regions++;
}

static void visit_inst(struct walk *w, struct spmd_inst *i)
{
    if (i->effect.action == SPMD_GUARD || i->wanted_by_guards) {
        join_group(w, i);
        if (i->effect.noreturn)
            close_group(w);
        return;
    }
    if (w->open >= 0 && ends_group(w, i))
        close_group(w);
    if (i->effect.action == SPMD_REGION)
        add_region(w, i);
    else if (i->effect.action == SPMD_CALL)
        spmd_add_event(w->block, w->block->nevents,
                       (struct spmd_event){ .kind = SPMD_CALLED,
                                            .at = i->value,
                                            .reads = i->effect.reads,
                                            .writes = i->effect.writes,
                                            .group = -1 });
    else if (i->effect.reads)
        spmd_add_event(
            w->block, w->block->nevents,
            (struct spmd_event){
                .kind = SPMD_LOAD, .at = i->value, .reads = i->effect.reads, .group = -1 });
}

/* Results that leave their group are read back by every thread, right after it. */
static void broadcast_results(struct spmd_region *r, struct spmd_plan *p, struct spmd_block *b)
{
    for (unsigned e = 0; e < b->nevents; e++) {
        struct spmd_event *event = &b->events[e];
        if (event->kind != SPMD_GUARDED)
            continue;
        struct spmd_group *g = &p->groups[event->group];
        for (unsigned i = 0; i < g->n; i++)
            if (spmd_used_outside(p, g->members[i], event->group)) {
                g->nresults++;
                r->broadcast_bytes +=
                    (unsigned)LLVMABISizeOfType(r->u->layout, LLVMTypeOf(g->members[i]));
            }
        if (!g->nresults)
            continue;
        spmd_mask bit = spmd_new_bit(r);
        event->writes |= bit;
        spmd_add_event(
            b, e + 1,
            (struct spmd_event){
                .kind = SPMD_LOAD, .at = event->at, .reads = bit, .group = event->group });
        e++;
    }
}

/* ------------------------------------------------------------------ the plan */
/* Address computation, the address for a region's context, marks: what every thread may do with
 * the main thread's own. */
static bool touches_nothing(const struct spmd_inst *i, unsigned operand)
{
    return LLVMIsAGetElementPtrInst(i->value) || (LLVMIsAStoreInst(i->value) && operand == 0) ||
           (LLVMIsACallInst(i->value) &&
            text_starts(ir_intrinsic(LLVMGetCalledValue(i->value)), "llvm.lifetime"));
}

/* Into what each thread has for itself: the main thread's would be the only one that gets it. */
static bool copies_to_all(const struct spmd_region *r, LLVMValueRef i)
{
    const char *name = LLVMIsACallInst(i) ? ir_intrinsic(LLVMGetCalledValue(i)) : "";
    if (!text_starts(name, "llvm.memcpy") && !text_starts(name, "llvm.memmove"))
        return false;
    const struct spmd_object *to = spmd_object_of(r, LLVMGetOperand(i, 0));
    return !spmd_pointer_mask(r, LLVMGetOperand(i, 0)) && !(to && to->storage == SPMD_MAIN);
}

/* All else is guarded, and what is read of it is used by the main thread only. */
static void check_main_locals(struct spmd_region *r, const struct spmd_plan *p)
{
    for (unsigned i = 0; i < p->ninsts; i++) {
        const struct spmd_inst *inst = &p->insts[i];
        for (unsigned n = 0, count = (unsigned)LLVMGetNumOperands(inst->value); n < count; n++) {
            LLVMValueRef operand = LLVMGetOperand(inst->value, n);
            struct spmd_object *o = LLVMIsAInstruction(operand) ? spmd_object_of(r, operand) : NULL;
            bool guarded =
                inst->effect.action == SPMD_GUARD && !copies_to_all(r, inst->value) &&
                !(LLVMIsALoadInst(inst->value) && spmd_used_outside(p, inst->value, inst->group));
            if (o && o->storage == SPMD_MAIN && !guarded && !touches_nothing(inst, n))
                o->not_main = r->again = true;
        }
    }
}

static void find_events(struct spmd_region *r, struct spmd_plan *p)
{
    struct walk w = { r, p, NULL, -1, 0 };
    r->cells = spmd_new_bit(r);
    find_parts(r, p);
    for (unsigned i = 0; i < p->ninsts; i++) {
        if (w.block != &p->blocks[p->insts[i].block]) {
            close_group(&w);
            w.block = &p->blocks[p->insts[i].block];
        }
        if (LLVMIsATerminatorInst(p->insts[i].value))
            close_group(&w);
        if (p->insts[i].main_loop < 0)
            visit_inst(&w, &p->insts[i]);
    }
    for (unsigned b = 0; b < p->nblocks; b++)
        broadcast_results(r, p, &p->blocks[b]);
    for (unsigned i = 0; i < p->nmain_loops; i++)
        spmd_add_main_loop(r, p, i);
    r->guards = p->ngroups + p->nmain_loops;
}

bool spmd_has_region(const struct spmd_plan *p, const struct ir_loop *l)
{
    for (unsigned b = 0; b < p->nblocks; b++)
        if (l->body[b] && p->blocks[b].has_region)
            return true;
    return false;
}

struct spmd_plan *spmd_make_plan(struct spmd_region *r)
{
    struct spmd_plan *p = mem_array(1, sizeof *p);
    number_insts(r, p);
    if (!check_effects(r, p))
        return NULL;
    p->loops = ir_find_loops(r->function);
    if (r->main_loops)
        spmd_find_main_loops(r, p);
    find_moved(p);
    find_events(r, p);
    check_main_locals(r, p);
    if (r->again)
        return NULL;
    spmd_place_barriers(r, p);
    LLVMValueRef costly = spmd_find_costly_barrier(p);
    if (costly && !r->main_loops)
        r->main_loops = r->again = true;
    else if (costly && r->kernel->input->mode != IR_MODE_SPMD)
        spmd_refuse(r, costly,
                    "a loop outside of parallel regions that reads and writes shared memory: it "
                    "would need a barrier in each iteration",
                    NULL, "make it a parallel loop, or let it work on a private copy");
    return r->why || r->again ? NULL : p;
}
