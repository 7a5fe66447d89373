/* tool.h - omp-device: from the bitcode of one X.device.c to PTX or an x86-64 object.
 *
 * The user's code arrives as clang wrote it (no LLVM pass has run).  The steps are a plain list in
 * main.c; each is a function over one struct ir_unit that returns false when it has reported an
 * error:
 *
 *     read -> kernels, exported variables (link/info.c); in a device link of the files that belong
 * together (link/members.c)
 *          -> math intrinsics become calls (passes/math.c)
 *          -> generic kernels become SPMD kernels where that is right (spmd/spmd.c and the files
 * beside it)
 *          -> kernels whose needs differ get modules of their own, until they are joined again
 * (passes/specialise.c)
 *          -> functions with regions that run both in sequential code and in regions are copied
 * (passes/inside.c)
 *          -> locals that a parallel region can reach become team-shared (passes/globalise.c)
 *          -> regions that are known to be nested become plain calls (analysis/context.c)
 *          -> runtime and libdevice are linked, unresolved calls reported (link/link.c)
 *          -> configuration constants of the runtime are given values (passes/modes.c)
 *          -> the state machine calls regions directly (passes/dispatch.c)
 *          -> the kernels are joined, everything but them becomes internal
 *          -> per output: optimise for the architecture and emit (emit.c)
 *          -> info file and remarks from what is left (report/report.c)
 *
 * Sections: main | support | call graph | members | info | math | SPMD | sets of kernels | contexts
 * | globalisation | notes | link | modes | emit | report       */
#ifndef OMPGPU_IR_TOOL_H
#define OMPGPU_IR_TOOL_H
#include "driver/base/diag.h"
#include "driver/base/file.h"
#include "driver/base/mem.h"
#include "driver/base/text.h"
#include "hostrt/image.h"
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------ main (main.c) */
enum ir_target { IR_NVPTX, IR_X86 };
enum ir_mode { IR_MODE_AUTO, IR_MODE_GENERIC, IR_MODE_SPMD }; /* -fompgpu-mode= */
struct ir_output {
    const char *arch, *path;
}; /* --out=ARCH:FILE */
struct ir_input { /* one bitcode file; without --member there is one, and its kernels follow the
                     command's flags */
    const char *path, *name; /* name: the user's file */
    enum ir_mode mode;
    bool needs, remarks, warn_generic, error_generic; /* needs: it cannot do without the link */
};
struct ir_options {
    struct ir_input *inputs;
    unsigned ninputs;
    bool link; /* --member was given */
    const char *rtl, *libdevice, *info, *emit_ir, *dump;
    enum ir_target target;
    char level; /* '0' … '3', 's' */
    bool debug, time;
    struct ir_output *outputs;
    unsigned noutputs;
};
struct ir_place {
    const char *file;
    unsigned line, column;
}; /* file NULL: not known */
struct ir_kernel { /* struct __ompgpu_kernel_info of devicertl/ompgpu_device.h, and what was
                      measured */
    const char *name, *function, *file, *directive;
    unsigned line, column, mode, max_threads, reduce_bytes;
    unsigned flags;                    /* OMPGPU_KERNEL_* of hostrt/image.h */
    const struct ir_input *input;      /* whence it comes */
    unsigned barriers, indirect_calls; /* in the final IR */
    uint64_t shared_bytes;
    uint64_t frame_bytes; /* of all functions that it reaches, in the final IR */
    /* of the team's storage in global memory that have their place */
    uint64_t heap_bytes;
    /* … that copies of reduced arrays take, as blocks and of a thread's slice (passes/copies.c) */
    uint64_t block_bytes, copy_bytes;
    bool more_copies; /* … and that the host knows the sizes of */
    /* of spmd/spmd.c */
    bool late;       /* it was generic and has become SPMD */
    unsigned placed; /* barriers, by it */
    unsigned guards, regions, parts, broadcast_bytes, private_locals, own_locals, slots;
    unsigned folded; /* questions to the runtime with a constant answer */
    uint64_t slot_bytes;
    bool asks; /* … guards around functions that ask about threads */
    /* generic: it can meet a parallel region that is not among `regions` */
    bool unknown_regions;
    const char *id; /* LLVM's number of the reason below */
    /* what keeps it generic, and what would help; NULL: not known */
    const char *why, *remedy;
    struct ir_place why_at;
    struct ir_note *notes; /* for the remarks */
};
enum { IR_GENERIC = OMPGPU_MODE_GENERIC, IR_SPMD = OMPGPU_MODE_SPMD };
enum {
    IR_KERNEL_WORKERS = OMPGPU_KERNEL_WORKERS,
    IR_KERNEL_SYNC = OMPGPU_KERNEL_SYNC,
    IR_KERNEL_HEAP = OMPGPU_KERNEL_HEAP,
    IR_KERNEL_RECURSIVE = OMPGPU_KERNEL_RECURSIVE,
    IR_KERNEL_MALLOC = OMPGPU_KERNEL_MALLOC,
    IR_KERNEL_COPIES = OMPGPU_KERNEL_COPIES
};
struct ir_reduction { /* struct __ompgpu_reduction_info of devicertl/ompgpu_device.h */
    const char *file, *names;
    unsigned line, column, variables, arrays, bytes, how;
    const struct ir_input *input;
};
/* of a function that a file declares only */
struct ir_promise {
    const char *function, *words;
};
struct ir_unit {
    const struct ir_options *opt;
    LLVMContextRef ctx;
    LLVMModuleRef module;     /* owned; replaced by no step */
    LLVMTargetDataRef layout; /* of `module`, borrowed from it */
    struct ir_kernel *kernels;
    unsigned nkernels;
    struct ir_reduction *reductions;
    unsigned nreductions;
    char **exports;
    unsigned nexports; /* names of declare target variables */
    /* renamed by the device link */
    struct ir_alias {
        unsigned input;
        const char *name, *symbol;
    } *aliases;
    unsigned naliases;
    bool *members; /* by input: it is part of the link */
    struct ir_promise *promises;
    unsigned npromises;
    bool uses_parallel; /* the user's code calls __ompgpu_parallel */
    bool nested;        /* … also inside of parallel regions */
    bool parts, asks;   /* late SPMD kernels: as in struct ir_kernel, of any */
    /* between ir_split and ir_join, where there is more than one */
    struct ir_unit *sets;
    unsigned nsets;
    unsigned *origin; /* in a set: by kernel, its number in the unit of all */
};

/* ------------------------------------------------------------------ support (support.c) */
/* `file:line:col: error: …` about the user's code. */
void ir_error_at(const char *file, unsigned line, unsigned column, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* LLVM's errors count as ours. */
void ir_watch_diagnostics(LLVMContextRef);
/* a constant array of characters, up to its first zero */
const char *ir_string(LLVMValueRef constant);
const char *ir_name(LLVMValueRef);
bool ir_write_file(const char *path, const void *data, size_t size);
LLVMMemoryBufferRef ir_read_file(const char *path); /* NULL after an error message */
bool ir_verify(LLVMModuleRef, const char *when);
LLVMAttributeRef ir_attribute(LLVMContextRef, const char *name); /* enum attribute without value */
unsigned ir_attribute_kind(const char *name);

#define IR_EACH_FUNCTION(f, m)                                                                     \
    for (LLVMValueRef f = LLVMGetFirstFunction(m), f##_next;                                       \
         f && (f##_next = LLVMGetNextFunction(f), true); f = f##_next)
#define IR_EACH_GLOBAL(g, m)                                                                       \
    for (LLVMValueRef g = LLVMGetFirstGlobal(m), g##_next;                                         \
         g && (g##_next = LLVMGetNextGlobal(g), true); g = g##_next)
#define IR_EACH_BLOCK(b, f)                                                                        \
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
#define IR_EACH_INSTRUCTION(i, b)                                                                  \
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), i##_next;                                    \
         i && (i##_next = LLVMGetNextInstruction(i), true); i = i##_next)
/* all of a function; `break` only leaves the block */
#define IR_EACH_INSTRUCTION_OF(i, f)                                                               \
    IR_EACH_BLOCK(i##_block, f)                                                                    \
        IR_EACH_INSTRUCTION(i, i##_block)
#define IR_EACH_USE(u, v)                                                                          \
    for (LLVMUseRef u = LLVMGetFirstUse(v), u##_next; u && (u##_next = LLVMGetNextUse(u), true);   \
         u = u##_next)

/* ------------------------------------------------------------------ call graph (analysis/graph.c)
 * Nodes are functions and global variables; an edge means "mentions", be it as callee, argument or
 * in an initialiser.  What a function can reach over such edges is a safe upper bound of what it
 * can call, indirect calls to functions whose address is taken elsewhere excepted: those are added
 * to the reach of every function with an indirect call. */
struct ir_node {
    LLVMValueRef value;
    unsigned *edges, nedges, edge_room;
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
void ir_graph_reach(const struct ir_graph *, unsigned root, int *from,
                    bool (*leaf)(const struct ir_node *));
/* set[i]: node i is in the set already or can reach one that is. */
void ir_graph_reaching(const struct ir_graph *, bool *set);

/* ------------------------------------------------------------------ members (link/members.c) */
/* main.c; NULL after an error message */
LLVMModuleRef ir_parse_input(struct ir_unit *, const struct ir_input *);
/* makes u->module of the inputs that belong together */
bool ir_link_members(struct ir_unit *);

/* ------------------------------------------------------------------ info (link/info.c) */
/* Adds what `module` has; local symbols that the host looks up get external linkage and a name that
 * `taken` does not know. */
bool ir_collect_info(struct ir_unit *, LLVMModuleRef, unsigned input,
                     bool (*taken)(struct ir_unit *, unsigned input, const char *name));
bool ir_finish_info(struct ir_unit *); /* once all is in u->module */
LLVMValueRef ir_kernel_function(LLVMModuleRef, const struct ir_kernel *);

/* ------------------------------------------------------------------ math (passes/math.c) */
bool ir_lower_math(struct ir_unit *);
bool ir_is_math_name(const char *name); /* a C math function that libm has */

/* ----------------------------------------------------------------- promises (analysis/assume.c) */
/* enum omp_promise of frontend/unit.h */
enum { IR_AMENABLE = 1, IR_NO_PARALLEL = 2, IR_NO_ROUTINES = 4 };
unsigned ir_promises(LLVMValueRef f); /* of a function; 0 for other values */
void ir_promise(struct ir_unit *, LLVMValueRef f, const char *words);
/* what holds at each block's beginning; NULL: nothing anywhere */
unsigned *ir_promises_by_block(LLVMValueRef f);
unsigned ir_promises_after(LLVMValueRef instruction, unsigned before);
void ir_begin_assuming(struct ir_unit *);
void ir_end_assuming(struct ir_unit *);

/* ------------------------------------------------------------------ loops (analysis/loops.c) */
/* blocks by number; preheader -1: none */
struct ir_loop {
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

/* ------------------------------------------------------------------ SPMD (spmd/spmd.c) */
#define IR_ALL_THREADS                                                                             \
    "ompgpu-all-threads" /* attribute of a region function that all threads run: its calls are not \
                            sequential code */
LLVMAttributeRef ir_all_threads(LLVMContextRef);
/* whether it is tried for that file's kernels */
bool ir_wants_spmd(const struct ir_unit *, const struct ir_input *);
bool ir_spmd(struct ir_unit *);

/* -------------------------------------------------------- sets of kernels (passes/specialise.c) */
bool ir_split(struct ir_unit *); /* u->sets, where the kernels do not agree */
/* what a step between split and join runs on, from 0 on; then NULL */
struct ir_unit *ir_set(struct ir_unit *, unsigned i);
bool ir_join(struct ir_unit *);
/* f is called `own`; its address is another module's */
void ir_leave_address(LLVMModuleRef, LLVMValueRef f, const char *own);
bool ir_separate_contexts(struct ir_unit *); /* passes/inside.c */

/* ---------------------------------------------------------------- contexts (analysis/context.c) */
/* By node of the graph; a function can be both, or neither when no kernel reaches it.  Before the
 * runtime is linked. */
void ir_find_contexts(const struct ir_unit *, const struct ir_graph *, bool *sequential,
                      bool *inside);
/* Calls of __ompgpu_parallel become calls of what they do where that is known; sets `nested`. */
bool ir_sort_regions(struct ir_unit *);
/* a function that is only ever passed to __ompgpu_parallel as the region to run */
bool ir_is_outlined(const struct ir_node *);

/* --------------------------------------------------- copies of reduced arrays (passes/copies.c) */
bool ir_size_copies(struct ir_unit *);

/* ----------------------------------------------------------- globalisation (passes/globalise.c) */
bool ir_globalise(struct ir_unit *);
bool ir_call_keeps(LLVMValueRef call, LLVMValueRef pointer);
/* bytes of team-shared storage that locals of a late SPMD kernel may take: eight teams a
 * multiprocessor, at least */
enum { IR_LATE_SLOTS = 8192 };
/* Remarks: the variable moves to team-shared storage, of which there are `room` bytes for locals,
 * or to the team's in global memory; bytes 0: known when it runs; room 0: its function may be
 * active twice.  And which call keeps it from being private. */
void ir_note_shared(const struct ir_unit *, struct ir_kernel *, LLVMValueRef variable,
                    uint64_t bytes, bool in_heap, unsigned room);
void ir_note_captured(const struct ir_unit *, struct ir_kernel *, LLVMValueRef variable);
/* the arguments of a printf, as clang lays them out for vprintf */
bool ir_is_print_buffer(LLVMValueRef pointer);
/* anything but loads, stores to it and calls that provably do not keep it */
bool ir_pointer_escapes(LLVMValueRef pointer);
/* team-shared; a generic pointer */
LLVMValueRef ir_make_slot(struct ir_unit *, LLVMValueRef f, const char *name, LLVMTypeRef,
                          unsigned align);
/* A place of `size` bytes in the storage that each team of the kernel has in global memory; called
 * where the builder stands, by any thread. */
LLVMValueRef ir_make_heap_slot(struct ir_unit *, struct ir_kernel *, LLVMBuilderRef, uint64_t size,
                               unsigned align);
/* Arrays of run-time size of a kernel's region function, where some are shared with others, become
 * blocks of the team's storage; calls for thread 0. */
void ir_share_arrays(struct ir_unit *, struct ir_kernel *, LLVMValueRef f);
void ir_drop_lifetime_marks(LLVMValueRef pointer);

/* ------------------------------------------------------------------ notes (report/notes.c) */
struct ir_note {
    struct ir_place at;
    const char *id, *text;
    struct ir_note *next;
};
/* name NULL: none; text: what to call it in a message */
struct ir_variable {
    const char *name, *text;
    struct ir_place at;
    bool ours;
};
struct ir_place ir_place_of(const struct ir_kernel *, LLVMValueRef instruction);
struct ir_variable ir_variable_of(const struct ir_unit *, const struct ir_kernel *,
                                  LLVMValueRef alloca_or_parameter);
void ir_mark_variables(const struct ir_unit *); /* before any optimisation */
/* A remark about something in the kernel, when remarks are asked for; without a place, at the
 * region's. */
void ir_note(struct ir_kernel *, struct ir_place, const char *id, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void ir_print_notes(const struct ir_unit *, const struct ir_kernel *);

/* ------------------------------------------------------------------ link (link/link.c) */
bool ir_link(struct ir_unit *);
bool ir_is_backend_call(const char *name);
/* Whether the device runtime's function of this name can wait at the barrier of a part of the team,
 * as its bitcode says; false for other names. */
bool ir_runtime_waits(const struct ir_unit *, const char *name);
bool ir_internalise(struct ir_unit *);

/* ------------------------------------------------------------------ modes (passes/modes.c) */
bool ir_configure(struct ir_unit *);

/* ----------------------------------------------------------------- dispatch (passes/dispatch.c) */
bool ir_dispatch(struct ir_unit *);

/* ------------------------------------------------------------------ atomics (passes/atomics.c) */
bool ir_correct_atomics(struct ir_unit *); /* before optimisation */
void ir_plain_locals(struct ir_unit *);    /* after it */

/* ------------------------------------------------------------------ pruning (passes/prune.c) */
void ir_hide_strides(struct ir_unit *); /* after optimisation */
/* after optimisation; whether anything was deleted */
bool ir_prune_state(struct ir_unit *);
/* an expression or instruction with one address as operand, and another one in the same variable as
 * value */
bool ir_is_address_of_same(LLVMValueRef user);

/* ------------------------------------------------------------ threads' own state (passes/own.c) */
/* after optimisation; whether anything was changed */
bool ir_localise_state(struct ir_unit *);

/* ------------------------------------------------------------------ emit (emit.c) */
bool ir_check_archs(const struct ir_options *);
void ir_print_archs(void);
void ir_setup_target(enum ir_target); /* registers the one LLVM target that is needed */
/* attributes of kernels and functions that do not depend on the output */
bool ir_prepare(struct ir_unit *);
/* threads that a team has at most, as told to ptxas; 0: any number */
unsigned ir_max_team(const struct ir_kernel *);
/* Optimise and emit for every output; u->module is the first output's final IR afterwards. */
bool ir_emit(struct ir_unit *);

/* ------------------------------------------------------------------ report (report/report.c) */
/* barriers, shared memory, flags, from the final IR */
bool ir_measure(struct ir_unit *);
bool ir_write_info(struct ir_unit *);
bool ir_remark(struct ir_unit *);

/* time and dumps (main.c), also used by ir_emit */
/* --emit=ir (report/steps.c) */
void ir_show_step(struct ir_unit *, const char *step);
const char *ir_shown_steps(void);
void ir_step_done(struct ir_unit *, const char *step);
#endif
