/* plan.h - the plan by which all threads run a region function: made by plan.c, main_loops.c and
 * barriers.c, carried out by rewrite.c and guards.c.
 *
 * Planning turns each block into events, in the order of execution:
 *   load     every thread reads shared memory
 *   guard    the main thread executes a group of instructions.  Neighbours join one group, which
 *            stands where its last member stood; loads and arithmetic that serve only a group
 * belong to it.  Results that others need go through a broadcast cell.
 *   region   every thread calls the function of a parallel region; with a num_threads or if clause,
 *            every thread that belongs to it
 *   call     every thread calls a function of which the user says that it may
 *   reset    the main thread makes the software barrier usable, for regions that are a part of the
 *            team
 *   main loop          the main thread runs a whole loop, the others go on after it;
 *   store/load cells   they get what it computed through broadcast cells
 *
 * LLVM-C cannot split blocks, so a group becomes a function `if (main thread) { … }` that is always
 * inlined. */
#ifndef OMPGPU_IR_SPMD_PLAN_H
#define OMPGPU_IR_SPMD_PLAN_H
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/spmd/spmd.h"

struct spmd_inst {
    LLVMValueRef value;
    struct spmd_effect effect;
    unsigned block;
    int group;             /* -1: none */
    int main_loop;         /* -1: none */
    bool wanted_by_guards; /* only the main thread needs the value */
};
struct spmd_group {
    LLVMValueRef *members, last;
    unsigned n;
    spmd_mask reads, writes;
    bool reads_private, noreturn, queries;
    unsigned nresults; /* members with uses outside */
};
struct spmd_main_loop { /* a loop that the main thread runs alone */
    const struct ir_loop *loop;
    unsigned exit; /* the block after it, which only its blocks lead to */
    spmd_mask reads, writes;
    LLVMValueRef *cells, store; /* for the exit's phis; the call that fills them */
};
enum spmd_event_kind {
    SPMD_LOAD,
    SPMD_GUARDED,
    SPMD_PARALLEL,
    SPMD_CALLED,
    SPMD_RESET,
    SPMD_MAIN_LOOP,
    SPMD_STORE_CELLS,
    SPMD_LOAD_CELLS,
};
struct spmd_event {
    enum spmd_event_kind kind;
    LLVMValueRef at; /* the instruction; of a group, the one after its last member */
    spmd_mask reads, writes;
    int group; /* or the number of the main loop */
    bool barrier, barrier_after;
    spmd_mask kept; /* SPMD_PARALLEL with a barrier at its end: what it uses after that; 0: none */
};
struct spmd_pending {
    spmd_mask written_by_main, read_by_all, read_by_main, region;
};
struct spmd_block {
    LLVMBasicBlockRef at;
    struct spmd_event *events;
    unsigned nevents;
    bool has_region, visited;
    struct spmd_pending in; /* at its start */
};
struct spmd_key {
    const void *value;
    unsigned index;
};
struct spmd_plan {
    struct spmd_inst *insts;
    unsigned ninsts;
    struct spmd_block *blocks;
    unsigned nblocks;
    struct spmd_group *groups;
    unsigned ngroups;
    struct spmd_key *inst_keys, *block_keys; /* sorted by address */
    struct ir_loops loops;
    struct spmd_main_loop *main_loops;
    unsigned nmain_loops;
};

/* ------------------------------------------------------------------ the plan (plan.c) */
/* NULL: none; then region->why says what stands in the way, or region->again that another plan may
 * do.  Nothing in the function is changed. */
struct spmd_plan *spmd_make_plan(struct spmd_region *);
struct spmd_inst *spmd_inst_of(const struct spmd_plan *, LLVMValueRef); /* NULL: none */
unsigned spmd_successors(const struct spmd_block *);
struct spmd_block *spmd_successor(const struct spmd_plan *, const struct spmd_block *, unsigned i);
void spmd_add_event(struct spmd_block *, unsigned at, struct spmd_event);
bool spmd_used_outside(const struct spmd_plan *, LLVMValueRef, int group);
/* whether a call of __ompgpu_parallel may run on a part of the team */
bool spmd_is_part(const struct spmd_region *, LLVMValueRef call);
bool spmd_has_region(const struct spmd_plan *, const struct ir_loop *);

/* ------------------------------------------------------------------ main loops (main_loops.c) */
void spmd_find_main_loops(struct spmd_region *, struct spmd_plan *);
void spmd_add_main_loop(struct spmd_region *, struct spmd_plan *, unsigned number);

/* ------------------------------------------------------------------ barriers (barriers.c) */
void spmd_place_barriers(struct spmd_region *, struct spmd_plan *);
/* The first barrier in each iteration of a loop that the main thread would run alone without one;
 * NULL: none. */
LLVMValueRef spmd_find_costly_barrier(struct spmd_plan *);

/* ------------------------------------------------------------- rewriting (rewrite.c, guards.c) */
void spmd_rewrite(struct spmd_region *, struct spmd_plan *);
/* Before the builder: the call of a group's function, or of one that stores the values of phis;
 * cells by member, NULL where no other thread needs the value. */
LLVMValueRef *spmd_call_guard(struct spmd_region *, const struct spmd_plan *, LLVMBuilderRef,
                              int group);
void spmd_store_cells(struct spmd_region *, const struct spmd_plan *, LLVMBuilderRef,
                      struct spmd_main_loop *);
void spmd_load_cells(const struct spmd_plan *, LLVMBuilderRef, const struct spmd_main_loop *);
#endif
