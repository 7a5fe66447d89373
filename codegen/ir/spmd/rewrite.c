/* rewrite.c - guards and barriers of a region function that all threads are to run.
 *
 * Planning turns each block into events, in the order of execution:
 *   load    every thread reads shared memory
 *   guard   thread 0 executes a group of instructions.  Neighbours join one group, which stands where its last member stood; loads and
 *           arithmetic that serve only a group belong to it.  Results that others need go through a
 * broadcast slot. region  every thread calls the function of a parallel region; with a num_threads
 * or if clause, every thread that belongs to it
 *   call    every thread calls a function of which the user says that it may
 *   reset   thread 0 makes the software barrier usable, for regions that are a part of the team
 *   alone   thread 0 runs a whole loop, the others go on behind it; keep, take: they get what it computed through broadcast slots
 *
 * Where a barrier is needed follows from what may be pending since the last one:
 *            pending: written by 0   read by all   read by 0   a region's accesses
 *   load              x                                         x
 *   guard                             x (writes)                x
 *   region            x              x             x            x
 * So a region is followed by a barrier only when something comes after it that could tell, and
 * preceded by one only when thread 0 wrote something, or another thread may still be reading.  The
 * set of barriers grows until no event meets a conflict; then those are dropped, inner loops first,
 * without which none does.  A barrier that only the first turn of a loop needs stands in front of
 * the loop.
 *
 * LLVM-C cannot split blocks, so a group becomes a function `if (tid == 0) { … }` that is always
 * inlined. */
#include "codegen/ir/spmd/spmd.h"
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

struct inst {
    LLVMValueRef value;
    struct spmd_effect effect;
    unsigned block;
    int group;             /* -1: none */
    int alone;             /* the loop that thread 0 runs alone; -1: none */
    bool wanted_by_guards; /* only thread 0 needs the value */
};
struct group {
    LLVMValueRef *members, last;
    unsigned n, room;
    spmd_mask reads, writes;
    bool reads_private, noreturn, asks;
    unsigned nresults; /* members with uses outside */
};
struct alone { /* a loop that thread 0 runs alone */
    const struct ir_loop *loop;
    unsigned exit; /* the block behind it, which only its blocks lead to */
    spmd_mask reads, writes;
    LLVMValueRef *slots, keep; /* of the exit's phis; the call that stores them */
};
enum event_kind { LOAD, GUARD, REGION, CALL, RESET, ALONE, KEEP, TAKE };
struct spmd_event {
    enum event_kind kind;
    LLVMValueRef at; /* the instruction; of a group, the one after its last member */
    spmd_mask reads, writes;
    int group;
    bool barrier, barrier_after;
};
struct pending {
    spmd_mask written0, read_all, read0, region;
};
struct block {
    LLVMBasicBlockRef at;
    struct spmd_event *events;
    unsigned nevents, room;
    bool has_region, visited;
    struct pending in;
};
struct key {
    const void *value;
    unsigned index;
};
struct spmd_plan {
    struct inst *insts;
    unsigned ninsts;
    struct block *blocks;
    unsigned nblocks;
    struct group *groups;
    unsigned ngroups, group_room;
    struct key *inst_keys, *block_keys;
    struct ir_loops loops;
    struct alone *alone;
    unsigned nalone;
};

/* ------------------------------------------------------------------ look-up */
static int compare_keys(const void *a, const void *b)
{
    const char *x = ((const struct key *)a)->value, *y = ((const struct key *)b)->value;
    return x < y ? -1 : x > y;
}

static int find(const struct key *keys, unsigned n, const void *value)
{
    struct key key = { value, 0 }, *hit = bsearch(&key, keys, n, sizeof *keys, compare_keys);
    return hit ? (int)hit->index : -1;
}

static struct inst *inst_of(const struct spmd_plan *p, LLVMValueRef value)
{
    int i = find(p->inst_keys, p->ninsts, value);
    return i < 0 ? NULL : &p->insts[i];
}

static void *grow(void *array, unsigned n, unsigned *room, size_t size)
{
    return n < *room ? array : arena_grow(NULL, array, room, size);
}

/* ------------------------------------------------------------------ instructions */
static void number(struct spmd_region *r, struct spmd_plan *p)
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
    unsigned b = 0, n = 0, *promises = ir_promises_by_block(r->function);
    IR_EACH_BLOCK(block, r->function) {
        r->promises = promises ? promises[b] : 0;
        p->blocks[b].at = block;
        p->block_keys[b] = (struct key){ block, b };
        IR_EACH_INSTRUCTION(i, block) {
            r->promises = ir_promises_after(i, r->promises);
            p->inst_keys[n] = (struct key){ i, n };
            p->insts[n++] = (struct inst){
                .value = i, .effect = spmd_effect(r, i), .block = b, .group = -1, .alone = -1
            };
        }
        b++;
    }
    qsort(p->inst_keys, p->ninsts, sizeof *p->inst_keys, compare_keys);
    qsort(p->block_keys, p->nblocks, sizeof *p->block_keys, compare_keys);
}

static unsigned successors(const struct block *b)
{
    LLVMValueRef last = LLVMGetBasicBlockTerminator(b->at);
    return last ? LLVMGetNumSuccessors(last) : 0;
}

static struct block *successor(const struct spmd_plan *p, const struct block *b, unsigned i)
{
    return &p->blocks[find(p->block_keys, p->nblocks,
                           LLVMGetSuccessor(LLVMGetBasicBlockTerminator(b->at), i))];
}

/* ------------------------------------------------------------------ loops that thread 0 runs alone
 * A loop whose turns read and write shared memory would need barriers in each of them.  When it
 * meets no parallel region, thread 0 can run all of it:
 *
 *     front:  barrier?; if (tid == 0) goto loop; else goto behind                 alone
 *     loop:   …
 *     behind: x = phi; if (tid == 0) slot = x; barrier; x = slot                  keep, take
 */
static bool writes_private(const struct spmd_region *r, LLVMValueRef i)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    LLVMValueRef into =
        opcode == LLVMStore                                             ? LLVMGetOperand(i, 1)
        : opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg        ? LLVMGetOperand(i, 0)
        : opcode == LLVMCall && text_starts(spmd_callee(i), "llvm.mem") ? LLVMGetOperand(i, 0)
                                                                        : NULL;
    const struct spmd_object *o = into ? spmd_object_of(r, into) : NULL;
    return o && o->place == SPMD_PRIVATE;
}

static bool may_be_alone(const struct spmd_region *r, const struct inst *i)
{
    enum spmd_action action = i->effect.action;
    bool ends = LLVMIsAReturnInst(i->value) || LLVMIsAUnreachableInst(i->value) ||
                LLVMIsAAllocaInst(i->value);
    return (action == SPMD_EVERY || action == SPMD_GUARD || action == SPMD_FOLD ||
            action == SPMD_DROP) &&
           !ends && !i->effect.noreturn && !i->effect.asks && !writes_private(r, i->value);
}

/* The one block that all ways out of the loop lead to, and no other; -1: there is none such. */
static int only_exit(const struct spmd_plan *p, const struct ir_loop *l)
{
    int exit = -1;
    for (unsigned b = 0; b < p->nblocks; b++)
        for (unsigned i = 0, n = successors(&p->blocks[b]); i < n; i++) {
            int to = (int)(successor(p, &p->blocks[b], i) - p->blocks);
            if (!l->body[b] || l->body[to])
                continue;
            if (exit >= 0 && to != exit)
                return -1;
            exit = to;
        }
    for (unsigned b = 0; exit >= 0 && b < p->nblocks; b++)
        for (unsigned i = 0, n = successors(&p->blocks[b]); i < n; i++)
            if (!l->body[b] && successor(p, &p->blocks[b], i) == &p->blocks[exit])
                return -1;
    return exit;
}

/* What others use of it comes through a phi behind it. */
static bool stays_inside(const struct spmd_plan *p, const struct alone *a, int exit,
                         const struct inst *i)
{
    IR_EACH_USE(use, i->value) {
        const struct inst *user = inst_of(p, LLVMGetUser(use));
        if (!user || !(a->loop->body[user->block] ||
                       (LLVMIsAPHINode(user->value) && (int)user->block == exit)))
            return false;
    }
    return true;
}

/* Worth it: what one turn reads, another may have written. */
static bool runs_alone(const struct spmd_region *r, const struct spmd_plan *p, struct alone *a)
{
    int exit = a->loop->preheader < 0 ? -1 : only_exit(p, a->loop);
    for (unsigned i = 0; i < p->ninsts; i++) {
        const struct inst *inst = &p->insts[i];
        if (!a->loop->body[inst->block])
            continue;
        if (exit < 0 || inst->alone >= 0 || !may_be_alone(r, inst) ||
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
    const struct alone *x = a, *y = b;
    return x->loop->size < y->loop->size ? 1 : -(x->loop->size > y->loop->size);
}

/* Outer loops first. */
static void find_alone(struct spmd_region *r, struct spmd_plan *p)
{
    struct alone *candidates = mem_array(p->loops.n + 1, sizeof *candidates);
    p->alone = mem_array(p->loops.n + 1, sizeof *p->alone);
    for (unsigned i = 0; i < p->loops.n; i++)
        candidates[i].loop = &p->loops.at[i];
    qsort(candidates, p->loops.n, sizeof *candidates, by_size);
    for (unsigned i = 0; i < p->loops.n; i++) {
        if (!runs_alone(r, p, &candidates[i]))
            continue;
        for (unsigned n = 0; n < p->ninsts; n++)
            if (candidates[i].loop->body[p->insts[n].block])
                p->insts[n].alone = (int)p->nalone;
        p->alone[p->nalone++] = candidates[i];
    }
}

static bool check_effects(struct spmd_region *r, const struct spmd_plan *p)
{
    for (unsigned i = 0; i < p->ninsts; i++)
        if (p->insts[i].effect.action == SPMD_REFUSE)
            spmd_refuse(r, p->insts[i].value, p->insts[i].effect.why, p->insts[i].effect.id,
                        p->insts[i].effect.remedy);
    return !r->why;
}

/* What may be left to thread 0 when only guards use it: loads, and arithmetic. */
static bool can_move(const struct inst *i)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i->value);
    if (i->effect.action != SPMD_EVERY || i->alone >= 0)
        return false;
    if (opcode == LLVMLoad)
        return i->effect.reads != 0;
    return opcode != LLVMPHI && opcode != LLVMAlloca && opcode != LLVMCall &&
           !LLVMIsATerminatorInst(i->value) && opcode != LLVMStore && opcode != LLVMAtomicRMW &&
           opcode != LLVMAtomicCmpXchg && opcode != LLVMFreeze;
}

static bool used_by_guards(const struct spmd_plan *p, const struct inst *i)
{
    IR_EACH_USE(use, i->value) {
        const struct inst *user = inst_of(p, LLVMGetUser(use));
        if (!user || user->block != i->block ||
            !(user->effect.action == SPMD_GUARD || user->wanted_by_guards))
            return false;
    }
    return LLVMGetFirstUse(i->value) != NULL;
}

static bool depends_on_moved(const struct spmd_plan *p, const struct inst *i)
{
    for (unsigned n = 0, count = (unsigned)LLVMGetNumOperands(i->value); n < count; n++) {
        const struct inst *operand = inst_of(p, LLVMGetOperand(i->value, n));
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
        struct inst *inst = &p->insts[i];
        if (inst->wanted_by_guards && LLVMGetInstructionOpcode(inst->value) != LLVMLoad)
            inst->wanted_by_guards = depends_on_moved(p, inst);
    }
}

/* ------------------------------------------------------------------ groups and events */
struct walk {
    struct spmd_region *r;
    struct spmd_plan *p;
    struct block *block;
    int open;
    unsigned at;
};

static void add_event(struct block *b, unsigned at, struct spmd_event event)
{
    b->events = grow(b->events, b->nevents, &b->room, sizeof *b->events);
    for (unsigned i = b->nevents++; i > at; i--)
        b->events[i] = b->events[i - 1];
    b->events[at] = event;
}

static void join(struct walk *w, struct inst *i)
{
    struct spmd_plan *p = w->p;
    if (w->open < 0) {
        p->groups = grow(p->groups, p->ngroups, &p->group_room, sizeof *p->groups);
        p->groups[p->ngroups] = (struct group){ 0 };
        w->open = (int)p->ngroups++;
    }
    struct group *g = &p->groups[w->open];
    g->members = grow(g->members, g->n, &g->room, sizeof *g->members);
    g->members[g->n++] = g->last = i->value;
    g->reads |= i->effect.reads;
    g->writes |= i->effect.writes;
    g->reads_private |= LLVMGetInstructionOpcode(i->value) == LLVMCall;
    g->noreturn |= i->effect.noreturn;
    g->asks |= i->effect.asks;
    i->group = w->open;
    w->at = w->block->nevents; /* where the group stands among the events */
}

static bool used_outside(const struct spmd_plan *p, LLVMValueRef value, int group)
{
    IR_EACH_USE(use, value) {
        const struct inst *user = inst_of(p, LLVMGetUser(use));
        if (!user || user->group != group)
            return true;
    }
    return false;
}

static void close_group(struct walk *w)
{
    if (w->open < 0)
        return;
    struct group *g = &w->p->groups[w->open];
    add_event(w->block, w->at,
              (struct spmd_event){ .kind = GUARD,
                                   .at = LLVMGetNextInstruction(g->last),
                                   .reads = g->reads,
                                   .writes = g->writes,
                                   .group = w->open,
                                   .barrier_after = g->noreturn });
    w->open = -1;
}

/* Must the open group stand before this instruction? */
static bool ends_group(const struct walk *w, const struct inst *i)
{
    const struct group *g = &w->p->groups[w->open];
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i->value);
    if (i->effect.action == SPMD_REGION || i->effect.action == SPMD_CALL ||
        (i->effect.reads & g->writes))
        return true;
    if (g->reads_private && (opcode == LLVMStore || opcode == LLVMCall || opcode == LLVMAtomicRMW ||
                             opcode == LLVMAtomicCmpXchg))
        return true;
    for (unsigned n = 0, count = (unsigned)LLVMGetNumOperands(i->value); n < count; n++) {
        const struct inst *operand = inst_of(w->p, LLVMGetOperand(i->value, n));
        if (operand && operand->group == w->open)
            return true;
    }
    return false;
}

/* What a region's function can reach: unknown memory, and the slots whose addresses are in its
 * context. */
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

/* ---------------------------------------------------------------- regions on a part of the team */
static bool is_constant(LLVMValueRef v, unsigned long long value)
{
    return LLVMIsAConstantInt(v) && LLVMConstIntGetZExtValue(v) == value;
}

static bool is_part(const struct spmd_region *r, LLVMValueRef call)
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

static bool may_wait(const struct spmd_region *r, LLVMValueRef f)
{
    struct ir_graph *g = ir_graph_build(r->u->module);
    int *from = mem_array(g->n, sizeof *from);
    bool waits = false;
    ir_graph_reach(g, (unsigned)ir_graph_find(g, f), from, NULL);
    for (unsigned i = 0; i < g->n; i++)
        waits |= from[i] >= 0 &&
                 (g->nodes[i].indirect || ir_runtime_waits(r->u, ir_name(g->nodes[i].value)));
    return waits;
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
        if (p->insts[i].effect.action != SPMD_REGION || !is_part(r, call))
            continue;
        r->parts++;
        waits |= is_odd(r, call) && may_wait(r, LLVMGetOperand(call, 0));
    }
    if (!waits)
        return;
    LLVMValueRef first = LLVMGetFirstInstruction(p->blocks[0].at);
    while (LLVMIsAAllocaInst(first))
        first = LLVMGetNextInstruction(first);
    r->software_barrier = spmd_new_bit(r);
    add_event(&p->blocks[0], 0,
              (struct spmd_event){
                  .kind = RESET, .at = first, .writes = r->software_barrier, .group = -1 });
}

static void add_region(struct walk *w, const struct inst *i)
{
    LLVMValueRef context = LLVMGetOperand(i->value, 1);
    spmd_mask mask = LLVMIsAAllocaInst(context) && !spmd_pointer_mask(w->r, context)
                         ? region_mask(w->r, context)
                     : LLVMIsAConstantPointerNull(context) ? SPMD_OTHER
                                                           : SPMD_ALL;
    mask |= w->r->software_barrier;
    add_event(w->block, w->block->nevents,
              (struct spmd_event){
                  .kind = REGION, .at = i->value, .reads = mask, .writes = mask, .group = -1 });
    w->block->has_region = true;
    w->r->regions++;
}

static void visit(struct walk *w, struct inst *i)
{
    if (i->effect.action == SPMD_GUARD || i->wanted_by_guards) {
        join(w, i);
        if (i->effect.noreturn)
            close_group(w);
        return;
    }
    if (w->open >= 0 && ends_group(w, i))
        close_group(w);
    if (i->effect.action == SPMD_REGION)
        add_region(w, i);
    else if (i->effect.action == SPMD_CALL)
        add_event(w->block, w->block->nevents,
                  (struct spmd_event){ .kind = CALL,
                                       .at = i->value,
                                       .reads = i->effect.reads,
                                       .writes = i->effect.writes,
                                       .group = -1 });
    else if (i->effect.reads)
        add_event(w->block, w->block->nevents,
                  (struct spmd_event){
                      .kind = LOAD, .at = i->value, .reads = i->effect.reads, .group = -1 });
}

/* Results that leave their group are read back by every thread, right after it. */
static void broadcast(struct spmd_region *r, struct spmd_plan *p, struct block *b)
{
    for (unsigned e = 0; e < b->nevents; e++) {
        struct spmd_event *event = &b->events[e];
        if (event->kind != GUARD)
            continue;
        struct group *g = &p->groups[event->group];
        for (unsigned i = 0; i < g->n; i++)
            if (used_outside(p, g->members[i], event->group)) {
                g->nresults++;
                r->broadcast_bytes +=
                    (unsigned)LLVMABISizeOfType(r->u->layout, LLVMTypeOf(g->members[i]));
            }
        if (!g->nresults)
            continue;
        spmd_mask bit = spmd_new_bit(r);
        event->writes |= bit;
        add_event(b, e + 1,
                  (struct spmd_event){
                      .kind = LOAD, .at = event->at, .reads = bit, .group = event->group });
        e++;
    }
}

static LLVMValueRef first_after_phis(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    while (LLVMIsAPHINode(i))
        i = LLVMGetNextInstruction(i);
    return i;
}

/* What the loop computes and others use are the phis behind it. */
static void add_alone(struct spmd_region *r, struct spmd_plan *p, unsigned number)
{
    struct alone *a = &p->alone[number];
    struct block *front = &p->blocks[a->loop->preheader], *behind = &p->blocks[a->exit];
    LLVMValueRef at = first_after_phis(behind->at);
    add_event(front, front->nevents,
              (struct spmd_event){ .kind = ALONE,
                                   .at = LLVMGetBasicBlockTerminator(front->at),
                                   .reads = a->reads,
                                   .writes = a->writes,
                                   .group = (int)number });
    if (!LLVMIsAPHINode(LLVMGetFirstInstruction(behind->at)))
        return;
    spmd_mask bit = spmd_new_bit(r);
    add_event(behind, 0,
              (struct spmd_event){ .kind = KEEP, .at = at, .writes = bit, .group = (int)number });
    add_event(behind, 1,
              (struct spmd_event){ .kind = TAKE, .at = at, .reads = bit, .group = (int)number });
    IR_EACH_INSTRUCTION(phi, behind->at)
        r->broadcast_bytes +=
            LLVMIsAPHINode(phi) ? (unsigned)LLVMABISizeOfType(r->u->layout, LLVMTypeOf(phi)) : 0;
}

/* Address computation, the address for a region's context, marks: what every thread may do with
 * thread 0's own. */
static bool touches_nothing(const struct inst *i, unsigned operand)
{
    return LLVMIsAGetElementPtrInst(i->value) || (LLVMIsAStoreInst(i->value) && operand == 0) ||
           (LLVMIsACallInst(i->value) && text_starts(spmd_callee(i->value), "llvm.lifetime."));
}

/* All else is guarded, and what is read of it is used by thread 0 alone. */
static void check_own(struct spmd_region *r, const struct spmd_plan *p)
{
    for (unsigned i = 0; i < p->ninsts; i++) {
        const struct inst *inst = &p->insts[i];
        for (unsigned n = 0, count = (unsigned)LLVMGetNumOperands(inst->value); n < count; n++) {
            LLVMValueRef operand = LLVMGetOperand(inst->value, n);
            struct spmd_object *o = LLVMIsAInstruction(operand) ? spmd_object_of(r, operand) : NULL;
            bool guarded =
                inst->effect.action == SPMD_GUARD &&
                !(LLVMIsALoadInst(inst->value) && used_outside(p, inst->value, inst->group));
            if (o && o->place == SPMD_OWN && !guarded && !touches_nothing(inst, n))
                o->not_own = r->again = true;
        }
    }
}

static void find_events(struct spmd_region *r, struct spmd_plan *p)
{
    struct walk w = { r, p, NULL, -1, 0 };
    find_parts(r, p);
    for (unsigned i = 0; i < p->ninsts; i++) {
        if (w.block != &p->blocks[p->insts[i].block]) {
            close_group(&w);
            w.block = &p->blocks[p->insts[i].block];
        }
        if (LLVMIsATerminatorInst(p->insts[i].value))
            close_group(&w);
        if (p->insts[i].alone < 0)
            visit(&w, &p->insts[i]);
    }
    for (unsigned b = 0; b < p->nblocks; b++)
        broadcast(r, p, &p->blocks[b]);
    for (unsigned i = 0; i < p->nalone; i++)
        add_alone(r, p, i);
    r->guards = p->ngroups + p->nalone;
}

/* ------------------------------------------------------------------ barriers */
static bool conflicts(const struct spmd_event *e, const struct pending *s)
{
    spmd_mask both = e->reads | e->writes;
    switch (e->kind) {
    case LOAD:
    case TAKE: return e->reads & (s->written0 | s->region);
    case GUARD:
    case RESET:
    case ALONE:
    case KEEP: return (e->writes & s->read_all) | (both & s->region);
    default: return both & (s->written0 | s->read_all | s->read0 | s->region);
    }
}

static void pass(const struct spmd_event *e, struct pending *s)
{
    if (e->barrier)
        *s = (struct pending){ 0 };
    switch (e->kind) {
    case LOAD:
    case TAKE: s->read_all |= e->reads; break;
    case GUARD:
    case RESET:
    case ALONE:
    case KEEP:
        s->read0 |= e->reads;
        s->written0 |= e->writes;
        break;
    default: s->region |= e->reads | e->writes; break;
    }
    if (e->barrier_after)
        *s = (struct pending){ 0 };
}

/* True when `into` grew. */
static bool merge(struct pending *into, const struct pending *from)
{
    struct pending old = *into;
    into->written0 |= from->written0;
    into->read_all |= from->read_all;
    into->read0 |= from->read0;
    into->region |= from->region;
    return old.written0 != into->written0 || old.read_all != into->read_all ||
           old.read0 != into->read0 || old.region != into->region;
}

/* What may be pending at each block's start, with the barriers that there are. */
static void flow(struct spmd_plan *p)
{
    for (unsigned b = 0; b < p->nblocks; b++)
        p->blocks[b].in = (struct pending){ 0 };
    for (bool again = true; again;) {
        again = false;
        for (unsigned b = 0; b < p->nblocks; b++) {
            struct pending s = p->blocks[b].in;
            for (unsigned e = 0; e < p->blocks[b].nevents; e++)
                pass(&p->blocks[b].events[e], &s);
            for (unsigned i = 0, n = successors(&p->blocks[b]); i < n; i++)
                again |= merge(&successor(p, &p->blocks[b], i)->in, &s);
        }
    }
}

static bool has_region(const struct spmd_plan *p, const struct ir_loop *l)
{
    for (unsigned b = 0; b < p->nblocks; b++)
        if (l->body[b] && p->blocks[b].has_region)
            return true;
    return false;
}

/* The outermost loop around a block that meets no parallel region. */
static const struct ir_loop *quiet_loop(const struct spmd_plan *p, unsigned block)
{
    const struct ir_loop *found = NULL;
    for (unsigned i = 0; i < p->loops.n; i++) {
        const struct ir_loop *l = &p->loops.at[i];
        if (l->body[block] && (!found || l->size > found->size) && !has_region(p, l))
            found = l;
    }
    return found;
}

static bool meets_conflict(const struct spmd_plan *p, unsigned block, unsigned event)
{
    struct pending s = p->blocks[block].in;
    for (unsigned e = 0; e < event; e++)
        pass(&p->blocks[block].events[e], &s);
    return conflicts(&p->blocks[block].events[event], &s);
}

/* A barrier in front of the loop around the event, if that is enough. */
static bool hoist_barrier(struct spmd_plan *p, unsigned block, unsigned event)
{
    const struct ir_loop *l = quiet_loop(p, block);
    if (!l || l->preheader < 0)
        return false;
    struct block *front = &p->blocks[l->preheader];
    add_event(front, front->nevents,
              (struct spmd_event){ .kind = LOAD,
                                   .at = LLVMGetBasicBlockTerminator(front->at),
                                   .group = -1,
                                   .barrier = true });
    flow(p);
    if (!meets_conflict(p, block, event))
        return true;
    front->nevents--;
    flow(p);
    return false;
}

static bool add_barrier(struct spmd_plan *p)
{
    for (unsigned b = 0; b < p->nblocks; b++) {
        struct pending s = p->blocks[b].in;
        for (unsigned e = 0; e < p->blocks[b].nevents; e++) {
            struct spmd_event *event = &p->blocks[b].events[e];
            if (!event->barrier && conflicts(event, &s))
                return hoist_barrier(p, b, e) || (p->blocks[b].events[e].barrier = true);
            pass(event, &s);
        }
    }
    return false;
}

static bool any_conflict(const struct spmd_plan *p)
{
    for (unsigned b = 0; b < p->nblocks; b++) {
        struct pending s = p->blocks[b].in;
        for (unsigned e = 0; e < p->blocks[b].nevents; e++) {
            if (!p->blocks[b].events[e].barrier && conflicts(&p->blocks[b].events[e], &s))
                return true;
            pass(&p->blocks[b].events[e], &s);
        }
    }
    return false;
}

static unsigned depth_of(const struct spmd_plan *p, unsigned block)
{
    unsigned depth = 0;
    for (unsigned i = 0; i < p->loops.n; i++)
        depth += p->loops.at[i].body[block];
    return depth;
}

/* A barrier that was needed when it was placed may not be any more: one that followed parts the
 * same accesses. */
static void drop_barriers_at(struct spmd_plan *p, unsigned depth)
{
    for (unsigned b = 0; b < p->nblocks; b++)
        for (unsigned e = 0; depth_of(p, b) == depth && e < p->blocks[b].nevents; e++) {
            if (!p->blocks[b].events[e].barrier)
                continue;
            p->blocks[b].events[e].barrier = false;
            flow(p);
            p->blocks[b].events[e].barrier = any_conflict(p);
        }
}

static void place_barriers(struct spmd_region *r, struct spmd_plan *p)
{
    do
        flow(p);
    while (add_barrier(p));
    for (unsigned depth = p->loops.n + 1; depth-- > 0;) /* those of inner loops first */
        drop_barriers_at(p, depth);
    flow(p);
    for (unsigned b = 0; b < p->nblocks; b++)
        for (unsigned e = 0; e < p->blocks[b].nevents; e++)
            r->barriers += p->blocks[b].events[e].barrier + p->blocks[b].events[e].barrier_after;
}

/* ------------------------------------------------------------------ cost */
static bool reaches(const struct spmd_plan *p, const struct block *from, const struct block *to)
{
    for (unsigned i = 0, n = successors(from); i < n; i++) {
        struct block *next = successor(p, from, i);
        if (next == to)
            return true;
        if (next->visited || next->has_region)
            continue;
        next->visited = true;
        if (reaches(p, next, to))
            return true;
    }
    return false;
}

/* Is there a parallel region in the innermost loop around the block?  Then its barriers are there
 * in some turns anyway. */
static bool near_region(const struct spmd_plan *p, unsigned block)
{
    const struct ir_loop *inner = NULL;
    for (unsigned i = 0; i < p->loops.n; i++)
        if (p->loops.at[i].body[block] && (!inner || p->loops.at[i].size < inner->size))
            inner = &p->loops.at[i];
    return inner && has_region(p, inner);
}

/* The first barrier in each turn of a loop that thread 0 would run alone without one; NULL: none.
 */
static LLVMValueRef find_costly(struct spmd_plan *p)
{
    for (unsigned b = 0; b < p->nblocks; b++) {
        struct block *block = &p->blocks[b];
        LLVMValueRef at = NULL;
        for (unsigned e = 0; e < block->nevents; e++)
            if (block->events[e].barrier && !at)
                at = block->events[e].at;
        if (!at || block->has_region || near_region(p, b))
            continue;
        for (unsigned i = 0; i < p->nblocks; i++)
            p->blocks[i].visited = false;
        if (reaches(p, block, block))
            return at;
    }
    return NULL;
}

struct spmd_plan *spmd_plan(struct spmd_region *r)
{
    struct spmd_plan *p = mem_array(1, sizeof *p);
    number(r, p);
    if (!check_effects(r, p))
        return NULL;
    p->loops = ir_find_loops(r->function);
    if (r->alone)
        find_alone(r, p);
    find_moved(p);
    find_events(r, p);
    check_own(r, p);
    if (r->again)
        return NULL;
    place_barriers(r, p);
    LLVMValueRef costly = find_costly(p);
    if (costly && !r->alone)
        r->alone = r->again = true;
    else if (costly && r->kernel->input->mode != IR_MODE_SPMD)
        spmd_refuse(r, costly,
                    "a loop outside of parallel regions that reads and writes shared memory: it "
                    "would need a barrier in each turn",
                    NULL, "make it a parallel loop, or let it work on a private copy");
    return r->why || r->again ? NULL : p;
}

/* ------------------------------------------------------------------ guards */
struct outline { /* a group's function while it is built */
    LLVMValueRef *values, function;
    unsigned n;
    LLVMValueRef *clones; /* by member */
};

static bool is_local(LLVMValueRef v) { return LLVMIsAInstruction(v) || LLVMIsAArgument(v); }

static int index_of(LLVMValueRef *list, unsigned n, LLVMValueRef value)
{
    for (unsigned i = 0; i < n; i++)
        if (list[i] == value)
            return (int)i;
    return -1;
}

static void find_inputs(const struct group *g, struct outline *o)
{
    unsigned room = 0;
    for (unsigned i = 0; i < g->n; i++)
        room += (unsigned)LLVMGetNumOperands(g->members[i]);
    o->values = mem_array(room + 1, sizeof *o->values);
    for (unsigned i = 0; i < g->n; i++)
        for (unsigned n = 0, count = (unsigned)LLVMGetNumOperands(g->members[i]); n < count; n++) {
            LLVMValueRef v = LLVMGetOperand(g->members[i], n);
            if (is_local(v) && index_of(g->members, g->n, v) < 0 &&
                index_of(o->values, o->n, v) < 0)
                o->values[o->n++] = v;
        }
}

/* A function with a condition in it, to be inlined. */
static LLVMValueRef add_function(const struct spmd_region *r, const char *name, LLVMTypeRef *params,
                                 unsigned n)
{
    static const char *const attributes[] = { "alwaysinline", "convergent", "nounwind" };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(r->u->ctx), params, n, false);
    LLVMValueRef f =
        LLVMAddFunction(r->u->module, mem_printf("%s_%s", name, r->kernel->name), type);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    for (unsigned i = 0; i < sizeof attributes / sizeof *attributes; i++)
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                ir_attribute(r->u->ctx, attributes[i]));
    return f;
}

static void declare_guard(const struct spmd_region *r, struct outline *o)
{
    LLVMTypeRef *types = mem_array(o->n + 1, sizeof *types);
    for (unsigned i = 0; i < o->n; i++)
        types[i] = LLVMTypeOf(o->values[i]);
    o->function = add_function(r, "__ompgpu_guard", types, o->n);
}

static LLVMValueRef runtime(const struct spmd_region *r, const char *name, LLVMTypeRef type)
{
    LLVMValueRef f = LLVMGetNamedFunction(r->u->module, name);
    if (!f) {
        f = LLVMAddFunction(r->u->module, name, type);
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                ir_attribute(r->u->ctx, "convergent"));
    }
    return f;
}

static LLVMValueRef ask(const struct spmd_region *r, LLVMBuilderRef b, const char *name)
{
    LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(r->u->ctx), NULL, 0, false);
    return LLVMBuildCall2(b, type, runtime(r, name, type), NULL, 0, "");
}

static void tell(const struct spmd_region *r, LLVMBuilderRef b, const char *name)
{
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(r->u->ctx), NULL, 0, false);
    LLVMBuildCall2(b, type, runtime(r, name, type), NULL, 0, "");
}

static void copy_member(LLVMBuilderRef b, const struct group *g, struct outline *o, unsigned i)
{
    LLVMValueRef copy = o->clones[i] = LLVMInstructionClone(g->members[i]);
    LLVMInstructionSetDebugLoc(copy, NULL);
    for (unsigned n = 0, count = (unsigned)LLVMGetNumOperands(copy); n < count; n++) {
        LLVMValueRef v = LLVMGetOperand(copy, n);
        int input = index_of(o->values, o->n, v), member = index_of(g->members, i, v);
        if (input >= 0)
            LLVMSetOperand(copy, n, LLVMGetParam(o->function, (unsigned)input));
        else if (member >= 0)
            LLVMSetOperand(copy, n, o->clones[member]);
    }
    LLVMInsertIntoBuilder(b, copy);
}

/* void guard(inputs…) { if (tid == 0) { members; broadcast slots = results; } } */
static void build_guard(const struct spmd_region *r, const struct group *g, struct outline *o,
                        LLVMValueRef *slots)
{
    LLVMContextRef ctx = r->u->ctx;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(ctx);
    find_inputs(g, o);
    declare_guard(r, o);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(ctx, o->function, "entry"),
                      main = LLVMAppendBasicBlockInContext(ctx, o->function, "main"),
                      done = LLVMAppendBasicBlockInContext(ctx, o->function, "done");
    LLVMPositionBuilderAtEnd(b, entry);
    LLVMValueRef zero = LLVMConstInt(LLVMInt32TypeInContext(ctx), 0, false);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, ask(r, b, "__ompgpu_arch_tid"), zero, ""), main,
                    done);
    LLVMPositionBuilderAtEnd(b, main);
    o->clones = mem_array(g->n, sizeof *o->clones);
    if (g->asks)
        tell(r, b, "__ompgpu_nest_leave");
    for (unsigned i = 0; i < g->n; i++) {
        copy_member(b, g, o, i);
        if (slots[i])
            LLVMBuildStore(b, o->clones[i], slots[i]);
    }
    if (g->asks)
        tell(r, b, "__ompgpu_nest_enter");
    r->kernel->asks |= g->asks;
    r->u->asks |= g->asks;
    LLVMBuildBr(b, done);
    LLVMPositionBuilderAtEnd(b, done);
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
}

static LLVMValueRef *make_broadcast_slots(const struct spmd_region *r, const struct spmd_plan *p,
                                          const struct group *g, int number)
{
    LLVMValueRef *slots = mem_array(g->n, sizeof *slots);
    for (unsigned i = 0; i < g->n; i++) {
        LLVMTypeRef type = LLVMTypeOf(g->members[i]);
        if (used_outside(p, g->members[i], number))
            slots[i] = ir_make_slot(r->u, r->function, "broadcast", type,
                                    LLVMABIAlignmentOfType(r->u->layout, type));
    }
    return slots;
}

/* ------------------------------------------------------------------ the function */
static void build_barrier(const struct spmd_region *r, LLVMBuilderRef b)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(r->u->ctx),
                type = LLVMFunctionType(LLVMVoidTypeInContext(r->u->ctx), &i32, 1, false);
    LLVMValueRef line = LLVMConstInt(i32, r->kernel->line, false);
    LLVMBuildCall2(b, type, runtime(r, "__ompgpu_arch_barrier", type), &line, 1, "");
}

static void rewrite_guard(struct spmd_region *r, struct spmd_plan *p, LLVMBuilderRef b,
                          const struct spmd_event *e, LLVMValueRef **slots)
{
    struct group *g = &p->groups[e->group];
    struct outline o = { 0 };
    slots[e->group] = make_broadcast_slots(r, p, g, e->group);
    build_guard(r, g, &o, slots[e->group]);
    LLVMBuildCall2(b, LLVMGlobalGetValueType(o.function), o.function, o.values, o.n, "");
}

/* Uses outside of the group read the broadcast value; those of members end with the members. */
static void read_broadcast(struct spmd_plan *p, LLVMBuilderRef b, const struct spmd_event *e,
                           LLVMValueRef **slots)
{
    struct group *g = &p->groups[e->group];
    for (unsigned i = 0; i < g->n; i++)
        if (slots[e->group][i])
            LLVMReplaceAllUsesWith(g->members[i], LLVMBuildLoad2(b, LLVMTypeOf(g->members[i]),
                                                                 slots[e->group][i], ""));
}

/* void part(context, size, cond) { if (__ompgpu_part_begin(size, cond)) { fn(context);
 * __ompgpu_part_end(); } } */
static LLVMValueRef build_part(const struct spmd_region *r, LLVMValueRef fn)
{
    LLVMContextRef ctx = r->u->ctx;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(ctx), i1 = LLVMInt1TypeInContext(ctx),
                params[] = { LLVMPointerTypeInContext(ctx, 0), i32, i1 };
    LLVMTypeRef begin = LLVMFunctionType(i1, params + 1, 2, false);
    LLVMValueRef f = add_function(r, "__ompgpu_part", params, 3), context = LLVMGetParam(f, 0),
                 args[] = { LLVMGetParam(f, 1), LLVMGetParam(f, 2) };
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            ir_all_threads(r->u->ctx));
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(ctx, f, "entry"),
                      member = LLVMAppendBasicBlockInContext(ctx, f, "member"),
                      done = LLVMAppendBasicBlockInContext(ctx, f, "done");
    LLVMBuilderRef b = LLVMCreateBuilderInContext(ctx);
    LLVMPositionBuilderAtEnd(b, entry);
    LLVMBuildCondBr(b,
                    LLVMBuildCall2(b, begin, runtime(r, "__ompgpu_part_begin", begin), args, 2, ""),
                    member, done);
    LLVMPositionBuilderAtEnd(b, member);
    LLVMBuildCall2(b, LLVMGlobalGetValueType(fn), fn, &context, 1, "");
    tell(r, b, "__ompgpu_part_end");
    LLVMBuildBr(b, done);
    LLVMPositionBuilderAtEnd(b, done);
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
    return f;
}

/* What a region without a num_threads clause, or with one that says nothing, gets of
 * omp_set_num_threads. */
static LLVMValueRef part_size(const struct spmd_region *r, LLVMBuilderRef b, LLVMValueRef clause)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(r->u->ctx);
    if (!r->nthreads_var)
        return clause;
    LLVMValueRef some = LLVMBuildICmp(b, LLVMIntSGT, clause, LLVMConstInt(i32, 0, false), "");
    return LLVMBuildSelect(b, some, clause, LLVMBuildLoad2(b, i32, r->nthreads_var, ""), "");
}

static void call_region(const struct spmd_region *r, LLVMBuilderRef b, LLVMValueRef call)
{
    LLVMValueRef fn = LLVMGetOperand(call, 0), context = LLVMGetOperand(call, 1);
    if (!is_part(r, call)) {
        LLVMBuildCall2(b, LLVMGlobalGetValueType(fn), fn, &context, 1, "");
        return;
    }
    LLVMValueRef part = build_part(r, fn),
                 args[] = { context, part_size(r, b, LLVMGetOperand(call, 2)),
                            LLVMGetOperand(call, 3) };
    LLVMBuildCall2(b, LLVMGlobalGetValueType(part), part, args, 3, "");
    r->u->parts = true;
}

/* A call that may be inlined must have a place in a function that has places: the region's, where
 * the instruction has none. */
static void locate(const struct spmd_region *r, LLVMBuilderRef b)
{
    LLVMMetadataRef function = LLVMGetSubprogram(r->function);
    if (function && !LLVMGetCurrentDebugLocation2(b))
        LLVMSetCurrentDebugLocation2(
            b, LLVMDIBuilderCreateDebugLocation(r->u->ctx, r->kernel->line, 0, function, NULL));
}

/* Into the loop for thread 0, behind it for the others. */
static void leave_alone(struct spmd_region *r, const struct spmd_plan *p, LLVMBuilderRef b,
                        const struct alone *a)
{
    LLVMBasicBlockRef front = p->blocks[a->loop->preheader].at, behind = p->blocks[a->exit].at,
                      header = p->blocks[a->loop->header].at;
    LLVMValueRef jump = LLVMGetBasicBlockTerminator(front),
                 zero = LLVMConstInt(LLVMInt32TypeInContext(r->u->ctx), 0, false);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, ask(r, b, "__ompgpu_arch_tid"), zero, ""),
                    header, behind);
    LLVMInstructionEraseFromParent(jump);
    IR_EACH_INSTRUCTION(phi, behind) {
        LLVMValueRef nothing = LLVMIsAPHINode(phi) ? LLVMGetPoison(LLVMTypeOf(phi)) : NULL;
        if (nothing)
            LLVMAddIncoming(phi, &nothing, &front, 1);
    }
}

/* void keep(values…) { if (tid == 0) slots = values; } */
static void keep_values(struct spmd_region *r, const struct spmd_plan *p, LLVMBuilderRef b,
                        struct alone *a)
{
    struct group g = { 0 };
    struct outline o = { 0 };
    IR_EACH_INSTRUCTION(phi, p->blocks[a->exit].at)
        g.n += LLVMIsAPHINode(phi) != NULL;
    LLVMContextRef ctx = r->u->ctx;
    LLVMBuilderRef inside = LLVMCreateBuilderInContext(ctx);
    a->slots = mem_array(g.n, sizeof *a->slots);
    o.values = mem_array(g.n, sizeof *o.values);
    IR_EACH_INSTRUCTION(phi, p->blocks[a->exit].at)
        if (LLVMIsAPHINode(phi)) {
            LLVMTypeRef type = LLVMTypeOf(phi);
            a->slots[o.n] = ir_make_slot(r->u, r->function, "broadcast", type,
                                         LLVMABIAlignmentOfType(r->u->layout, type));
            o.values[o.n++] = phi;
        }
    declare_guard(r, &o);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(ctx, o.function, "entry"),
                      main = LLVMAppendBasicBlockInContext(ctx, o.function, "main"),
                      done = LLVMAppendBasicBlockInContext(ctx, o.function, "done");
    LLVMPositionBuilderAtEnd(inside, entry);
    LLVMValueRef zero = LLVMConstInt(LLVMInt32TypeInContext(ctx), 0, false);
    LLVMBuildCondBr(inside,
                    LLVMBuildICmp(inside, LLVMIntEQ, ask(r, inside, "__ompgpu_arch_tid"), zero, ""),
                    main, done);
    LLVMPositionBuilderAtEnd(inside, main);
    for (unsigned i = 0; i < o.n; i++)
        LLVMBuildStore(inside, LLVMGetParam(o.function, i), a->slots[i]);
    LLVMBuildBr(inside, done);
    LLVMPositionBuilderAtEnd(inside, done);
    LLVMBuildRetVoid(inside);
    LLVMDisposeBuilder(inside);
    a->keep = LLVMBuildCall2(b, LLVMGlobalGetValueType(o.function), o.function, o.values, o.n, "");
}

/* For all uses but the one that keeps it. */
static void take_values(const struct spmd_plan *p, LLVMBuilderRef b, const struct alone *a)
{
    unsigned n = 0;
    IR_EACH_INSTRUCTION(phi, p->blocks[a->exit].at) {
        if (!LLVMIsAPHINode(phi))
            continue;
        LLVMValueRef value = LLVMBuildLoad2(b, LLVMTypeOf(phi), a->slots[n], "");
        LLVMReplaceAllUsesWith(phi, value);
        LLVMSetOperand(a->keep, n++, phi);
    }
}

static void rewrite_event(struct spmd_region *r, struct spmd_plan *p, LLVMBuilderRef b,
                          const struct spmd_event *e, LLVMValueRef **slots)
{
    LLVMPositionBuilderBefore(b, e->at); /* takes the debug location over */
    locate(r, b);
    if (e->barrier)
        build_barrier(r, b);
    if (e->kind == GUARD)
        rewrite_guard(r, p, b, e, slots);
    else if (e->kind == REGION)
        call_region(r, b, e->at);
    else if (e->kind == RESET)
        tell(r, b, "__ompgpu_part_reset");
    else if (e->kind == ALONE)
        leave_alone(r, p, b, &p->alone[e->group]);
    else if (e->kind == KEEP)
        keep_values(r, p, b, &p->alone[e->group]);
    else if (e->kind == TAKE)
        take_values(p, b, &p->alone[e->group]);
    else if (e->group >= 0)
        read_broadcast(p, b, e, slots);
    if (e->barrier_after)
        build_barrier(r, b);
}

static LLVMValueRef next_size(const struct spmd_region *r, LLVMBuilderRef b)
{
    if (!r->nthreads_var)
        return ask(r, b, "__ompgpu_arch_ntid");
    LLVMTypeRef i32 = LLVMInt32TypeInContext(r->u->ctx),
                type = LLVMFunctionType(i32, &i32, 1, false);
    LLVMValueRef size = LLVMBuildLoad2(b, i32, r->nthreads_var, "");
    return LLVMBuildCall2(b, type, runtime(r, "__ompgpu_part_size", type), &size, 1, "");
}

static void set_size(const struct spmd_region *r, LLVMBuilderRef b, LLVMValueRef size)
{
    LLVMValueRef some =
        LLVMBuildICmp(b, LLVMIntSGT, size, LLVMConstInt(LLVMTypeOf(size), 0, false), "");
    LLVMValueRef old = LLVMBuildLoad2(b, LLVMTypeOf(size), r->nthreads_var, "");
    LLVMBuildStore(b, LLVMBuildSelect(b, some, size, old, ""), r->nthreads_var);
}

static void fold(struct spmd_region *r, LLVMBuilderRef b, const struct inst *i)
{
    LLVMTypeRef type = LLVMTypeOf(i->value);
    LLVMPositionBuilderBefore(b, i->value);
    r->folded += i->effect.action == SPMD_FOLD;
    if (i->effect.action == SPMD_FOLD && text_starts(spmd_callee(i->value), "omp_"))
        ir_note(r->kernel, ir_place_of(r->kernel, i->value), "OMP180",
                "the call of '%s' is %u in sequential code", spmd_callee(i->value),
                i->effect.value);
    if (i->effect.action == SPMD_FOLD)
        LLVMReplaceAllUsesWith(i->value, LLVMConstInt(type, i->effect.value, false));
    else if (i->effect.action == SPMD_SIZE)
        LLVMReplaceAllUsesWith(i->value, next_size(r, b));
    else if (i->effect.action == SPMD_SET)
        set_size(r, b, LLVMGetOperand(i->value, 0));
}

/* nthreads-var: 0, until omp_set_num_threads is called.  Each thread has its own, and all the same
 * value. */
static void add_nthreads_var(struct spmd_region *r, LLVMBuilderRef b)
{
    if (!r->nthreads_var)
        return;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(r->u->ctx);
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(r->function)));
    r->nthreads_var = LLVMBuildAlloca(b, i32, "nthreads");
    LLVMBuildStore(b, LLVMConstInt(i32, 0, false), r->nthreads_var);
}

static bool goes(const struct inst *i)
{
    if (i->alone >= 0)
        return i->effect.action == SPMD_FOLD || i->effect.action == SPMD_DROP;
    return i->group >= 0 || (i->effect.action != SPMD_EVERY && i->effect.action != SPMD_CALL);
}

static LLVMValueRef place_of(struct spmd_region *r, LLVMBuilderRef b, const struct spmd_object *o)
{
    LLVMTypeRef type = LLVMGetAllocatedType(o->alloca);
    uint64_t count = LLVMConstIntGetZExtValue(LLVMGetOperand(o->alloca, 0));
    unsigned align = LLVMGetAlignment(o->alloca);
    if (count != 1)
        type = LLVMArrayType2(type, count);
    if (!o->in_heap)
        return ir_make_slot(r->u, r->function, ir_name(o->alloca), type, align);
    LLVMPositionBuilderBefore(b, o->alloca);
    return ir_make_heap_slot(r->u, r->kernel, b, LLVMABISizeOfType(r->u->layout, type), align);
}

static void move_slots(struct spmd_region *r, LLVMBuilderRef b)
{
    for (unsigned i = 0; i < r->nobjects; i++) {
        const struct spmd_object *o = &r->objects[i];
        if (o->place == SPMD_PRIVATE)
            continue;
        ir_drop_lifetime_marks(o->alloca); /* guards stand where their last member stood */
        if (o->place == SPMD_OWN)
            continue;
        LLVMReplaceAllUsesWith(o->alloca, place_of(r, b, o));
        LLVMInstructionEraseFromParent(o->alloca);
    }
}

void spmd_rewrite(struct spmd_region *r, struct spmd_plan *p)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(r->u->ctx);
    LLVMValueRef **slots = mem_array(p->ngroups + 1, sizeof *slots);
    add_nthreads_var(r, b);
    for (unsigned i = 0; i < p->ninsts; i++)
        if (p->insts[i].group < 0)
            fold(r, b, &p->insts[i]);
    for (unsigned i = 0; i < p->nblocks; i++)
        for (unsigned e = 0; e < p->blocks[i].nevents; e++)
            rewrite_event(r, p, b, &p->blocks[i].events[e], slots);
    for (unsigned i = p->ninsts; i-- > 0;)
        if (goes(&p->insts[i])) {
            LLVMTypeRef type = LLVMTypeOf(p->insts[i].value);
            if (LLVMGetTypeKind(type) != LLVMVoidTypeKind)
                LLVMReplaceAllUsesWith(p->insts[i].value, LLVMGetPoison(type));
            LLVMInstructionEraseFromParent(p->insts[i].value);
        }
    move_slots(
        r, b); /* not before: what deletes marks would delete instructions that the plan knows */
    LLVMDisposeBuilder(b);
}
