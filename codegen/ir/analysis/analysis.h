/* analysis.h - questions about a module.  In: IR at any step; out: answers, which hold until the
 * module changes.  The order does not matter; nothing here changes the module, but for the
 * assumptions' own markers.
 *
 *   graph.c    who mentions whom
 *   context.c  which functions run as sequential code, which inside of parallel regions
 *   loops.c    natural loops, and blocks that can be reached
 *   escape.c   whether somebody may keep a pointer
 *   allocations.c  what allocates blocks for a team
 *   affine.c   which address an index stands for
 *   ranges.c   where the value of an integer lies
 *   assume.c   what the user states about functions and calls */
#ifndef OMPGPU_IR_ANALYSIS_H
#define OMPGPU_IR_ANALYSIS_H
#include "codegen/ir/tool.h"

/* ------------------------------------------------------------------ call graph (graph.c)
 * Nodes are functions and global variables; an edge means "mentions", be it as callee, argument or
 * in an initialiser.  What a function can reach over such edges is a safe upper bound of what it
 * can call, but for indirect calls to functions whose address is taken elsewhere: those are added
 * to the reach of every function with an indirect call. */
struct ir_node {
    LLVMValueRef value;
    unsigned *edges, nedges;
    bool indirect;      /* a function with an indirect call */
    bool address_taken; /* mentioned other than as callee */
    bool defined;
};
struct ir_graph {
    struct ir_node *nodes;
    unsigned n;
    /* open-addressed map from value to node number */
    LLVMValueRef *keys;
    unsigned *index, room;
};
struct ir_graph *ir_graph_build(LLVMModuleRef);
int ir_graph_find(const struct ir_graph *, LLVMValueRef); /* node number or -1 */
/* from[i] becomes the node through which i is reached from `root` (root itself: root), or -1.
 * `leaf` nodes are not passed. */
void ir_graph_reach(const struct ir_graph *, LLVMValueRef root, int *from,
                    bool (*leaf)(const struct ir_node *));
/* set[i]: node i is in the set already or can reach one that is. */
void ir_graph_reaching(const struct ir_graph *, bool *set);
/* by node: can it reach a call of __ompgpu_parallel, which the module has? */
bool *ir_graph_reaching_parallel(const struct ir_graph *, LLVMModuleRef);
/* For a single question: does `f` reach a node for which `is` holds? */
bool ir_reaches(LLVMModuleRef, LLVMValueRef f, bool (*is)(const struct ir_node *, void *), void *);

/* ------------------------------------------------------------------ contexts (context.c) */
/* By node; a function can be both, or neither when no kernel reaches it.  Before the runtime is
 * linked. */
void ir_find_contexts(const struct ir_unit *, const struct ir_graph *, bool *sequential,
                      bool *inside);
/* a function that is only ever passed to __ompgpu_parallel as the region to run */
bool ir_is_outlined(const struct ir_node *);

/* ------------------------------------------------------------------ loops (loops.c) */
struct ir_flow { /* successors of block number b: succ[first[b]] … succ[first[b + 1] - 1] */
    LLVMBasicBlockRef *at;
    unsigned n, *succ, *first;
};
struct ir_flow ir_read_flow(LLVMValueRef f);
/* [b * n + p]: p is on each way from b to an end of the function, or is b. */
bool *ir_follows(const struct ir_flow *);
struct ir_loop { /* blocks by their number in the function; preheader -1: none */
    unsigned header, size;
    int preheader;
    bool *body;
};
struct ir_loops {
    struct ir_loop *at;
    unsigned n;
};
struct ir_loops ir_find_loops(LLVMValueRef f);
/* [b]: block number b can be reached from the entry without an edge that `closed` names. */
bool *ir_reach_blocks(LLVMValueRef f, bool (*closed)(LLVMBasicBlockRef from, unsigned successor));
LLVMBasicBlockRef ir_only_predecessor(LLVMBasicBlockRef); /* NULL: none, or several */

/* ------------------------------------------------------------------ escape (escape.c) */
/* anything but loads, stores to it and calls that provably do not keep it */
bool ir_pointer_escapes(LLVMValueRef pointer);
bool ir_call_keeps(LLVMValueRef call, LLVMValueRef pointer);
/* the arguments of a printf, as clang lays them out for vprintf */
bool ir_is_print_buffer(LLVMValueRef pointer);
/* an expression or instruction with one address as operand, and another one in the same variable as
 * value */
bool ir_is_address_of_same(LLVMValueRef user);

/* ------------------------------------------------------------------ addresses (affine.c) */
struct ir_affine { /* base + offset + stride * index, in bytes */
    LLVMValueRef base;
    long long offset, stride;
};
struct ir_index {
    LLVMValueRef value; /* of 32 bits, never negative */
    LLVMValueRef zero;  /* what is 0 where this matters, or NULL */
};
/* false: the address is not of this form, or its base is neither a parameter nor a variable. */
bool ir_affine_address(LLVMTargetDataRef, LLVMValueRef address, const struct ir_index *,
                       struct ir_affine *);

/* ------------------------------------------------------------------ ranges (ranges.c) */
struct ir_range { /* of a signed number; of what is no integer of 64 bits or fewer, all */
    long long least, most;
};
struct ir_range ir_range_of(LLVMValueRef);
bool ir_sum_fits(LLVMValueRef add); /* it does not wrap, as a signed number */

/* ------------------------------------------------------------------ assumptions (assume.c) */
enum { IR_SPMD_AMENABLE = 1, IR_NO_PARALLELISM = 2, IR_NO_ROUTINES = 4 };
unsigned ir_assumptions(LLVMValueRef f); /* of a function; 0 for other values */
void ir_assume(LLVMValueRef f, const char *words);
/* what holds at each block's beginning; NULL: nothing anywhere */
unsigned *ir_assumptions_by_block(LLVMValueRef f);
unsigned ir_assumptions_after(LLVMValueRef instruction, unsigned before);
/* The markers in the code: before the first pass of LLVM's, and when the modes are chosen. */
void ir_prepare_assumption_markers(struct ir_unit *);
void ir_delete_assumption_markers(struct ir_unit *);

/* ------------------------------------------------------------------ allocations.c */
bool ir_is_allocation(LLVMValueRef function); /* omp_alloc and its like */
/* Can the function allocate a block for a team alone? */
bool ir_allocates_for_team(const struct ir_unit *, LLVMValueRef function);
#endif
