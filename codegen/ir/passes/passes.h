/* passes.h - the steps that main.c and emit.c run, but for late SPMD-zation (spmd/) and the linker
 * (link/).  In: a unit whose kernels are known; out: the same unit, its module rewritten.
 *
 * Before the runtime is linked, while its functions are calls that can be recognised:
 *   jumps.c       computed goto becomes a switch
 *   unwritten.c   -fompgpu-check: reads of locals that have no value
 *   math.c        intrinsics become calls of the C math functions
 *   prints.c      printf on a GPU: what the driver can do and what the runtime has to
 *   copies.c      how much of the team heap copies of reduced arrays take
 *   sets.c        kernels whose needs differ get modules of their own (which: agree.c) …
 *   inside.c      functions with regions that run both in sequential code and in regions are copied
 *   globalise.c   locals that a parallel region can reach move to shared memory: frame.c does it
 *                 function by function, storage.c says where to
 *   regions.c     regions that are known to be nested become plain calls
 * After it is linked:
 *   configure.c   configuration constants of the runtime get their values
 *   dispatch.c    the state machine calls regions directly
 *   sets.c        … and the kernels are joined again
 *   atomics.c     scope and order of atomics as the NVPTX backend needs them
 *   tiles.c       nests whose teams run tiles, and of which shape
 *   prepare.c     attributes that do not depend on the architecture
 *   versions.c    alone, on the host's bitcode: what runs regions there is optimised less
 * For each output, before LLVM's optimisation (emit.c):
 *   spins.c       emulated device: threads that wait in a loop of the user's let others go on
 *   checks.c      -fompgpu-check, with races.c
 *   batches.c     how many iterations of a reduction's loop run at a time
 *   exact.c       kernels whose team has a constant size
 * and after it:
 *   prints.c      again, since more formats are known
 *   state.c       the runtime's state that only one thread, or nobody, uses
 *   atomics.c     locals need no atomics
 *   trips.c       GPUs: loops that threads share, by what their bounds can be
 *   wide.c        kernels that stream get a form with several iterations a thread (wide_build.c)
 *   distances.c   addresses with a known distance are computed from each other
 *   pointers.c    … and kept from iteration to iteration
 *   strides.c     loops that threads share are kept from loop strength reduction
 *   extensions.c  indices are extended to 64 bits where and as that costs least
 *   blocks.c      GPUs: blocks lie in the order in which they run
 *   branches.c    GPUs: loops go back where their condition holds, other branches fall through
 *   arrays.c      GPUs: arrays of run-time size lie in frames of the device runtime
 *   shifts.c      shifts of 65 to 128 bits are of halves
 *   masks.c       GPUs: pointers with bits masked off are computed, without LLVM's intrinsic
 *   undefined.c   GPUs: what is not defined on one way to a block is 0 there
 *   order.c       variables stand in an order that does not differ from run to run
 *   threads.c     emulated device: loops over the threads of a team
 *   stackless.c   … coroutines of their waiting threads
 *   shared.c      emulated device: team-shared variables are members of one block
 *   gates.c       emulated device: pointers to host memory fault when they are used */
#ifndef OMPGPU_IR_PASSES_H
#define OMPGPU_IR_PASSES_H
#include "codegen/ir/tool.h"

bool ir_replace_jumps(struct ir_unit *);
bool ir_lower_math(struct ir_unit *);
bool ir_lower_prints(struct ir_unit *);
bool ir_size_copies(struct ir_unit *);
bool ir_split(struct ir_unit *);             /* u->sets, where the kernels do not agree */
bool ir_separate_contexts(struct ir_unit *); /* inside.c */
bool ir_globalise(struct ir_unit *);
bool ir_sort_regions(struct ir_unit *); /* sets `nested` */
bool ir_configure(struct ir_unit *);
bool ir_dispatch(struct ir_unit *);
bool ir_join(struct ir_unit *);
bool ir_correct_atomics(struct ir_unit *);
bool ir_choose_tiles(struct ir_unit *);
bool ir_prepare(struct ir_unit *);
void ir_size_batches(struct ir_unit *, LLVMTargetMachineRef);
void ir_fix_teams(struct ir_unit *, LLVMTargetMachineRef);
/* after optimisation; whether anything was changed */
bool ir_settle_prints(struct ir_unit *);
bool ir_localise_state(struct ir_unit *);
bool ir_prune_state(struct ir_unit *);
void ir_plain_locals(struct ir_unit *); /* atomics.c */
bool ir_settle_trips(struct ir_unit *);
bool ir_widen(struct ir_unit *);
void ir_share_distances(struct ir_unit *, LLVMTargetMachineRef);
void ir_hide_strides(struct ir_unit *);
void ir_extend_indices(struct ir_unit *);
void ir_order_blocks(struct ir_unit *);
void ir_turn_branches(struct ir_unit *);
void ir_split_shifts(LLVMModuleRef);
void ir_define_values(LLVMModuleRef);  /* undefined.c */
void ir_replace_masks(LLVMModuleRef);  /* masks.c */
void ir_want_frames(struct ir_unit *); /* arrays.c, before the runtime is linked */
bool ir_is_frame_function(const char *name);
bool ir_replace_arrays(struct ir_unit *); /* true: functions may be unused now */
bool ir_move_words(struct ir_unit *);     /* words.c; true: there are functions to inline */
void ir_order_variables(LLVMModuleRef);
bool ir_can_order_variables(LLVMModuleRef); /* false: there was an error */
/* threads.c; the function that the plugin calls: the kernel, or the loop that it has become */
LLVMValueRef ir_emulated_kernel(const struct ir_unit *, const struct ir_kernel *);
/* f, called `name`, gets the attributes of body, which will be inlined into it */
LLVMValueRef ir_take_over(const struct ir_unit *, LLVMValueRef body, const char *name,
                          LLVMTypeRef type);
void ir_run_threads(struct ir_unit *, LLVMTargetMachineRef);
void ir_split_coroutines(struct ir_unit *, LLVMTargetMachineRef); /* stackless.c */
void ir_place_shared(struct ir_unit *);                           /* shared.c */
void ir_add_gates(struct ir_unit *, LLVMTargetMachineRef);
void ir_let_others_go_on(struct ir_unit *);                 /* spins.c, before optimisation */
void ir_add_checks(struct ir_unit *, LLVMTargetMachineRef); /* before optimisation */
bool ir_check_unwritten(struct ir_unit *);                  /* before locals become values */

/* ------------------------------------------------------------------ waiting threads (stackless.c)
 * What threads.c needs of it, for a kernel that waits. */
#define IR_EMU_ARRIVE "__ompgpu_emu_arrive"
#define IR_EMU_RESULT "__ompgpu_emu_result"
#define IR_EMU_SELF "__ompgpu_emu_self"
#define IR_EMU_FRAME "__ompgpu_emu_frame"
struct ir_waits { /* by node of the graph: it may wait */
    struct ir_graph *g;
    bool *waiting;
};
struct ir_waits ir_find_waits(const struct ir_unit *);
bool ir_can_be_coroutine(const struct ir_unit *, const struct ir_waits *, const struct ir_kernel *);
/* Two steps: before the kernel is inlined into the coroutine, and after it. */
void ir_add_coroutine(struct ir_unit *, const struct ir_kernel *);
void ir_end_suspends(struct ir_unit *, LLVMValueRef f);

/* ------------------------------------------------------------------ what they share */
bool ir_is_math_name(const char *name); /* math.c: a C math function that libm has */
/* sets.c: what a step between split and join runs on, from 0 on; then NULL */
struct ir_unit *ir_set(struct ir_unit *, unsigned i);
/* f is called `own`; its address is another module's */
void ir_leave_address(LLVMModuleRef, LLVMValueRef f, const char *own);
/* prepare.c: threads that a team has at most, as told to ptxas; 0: any number */
unsigned ir_max_team(const struct ir_kernel *);
bool ir_is_exact(const struct ir_kernel *); /* … that a team has */

/* --------------------------------------------------------------- which kernels agree (agree.c) */
struct ir_study { /* of a module; by node of the graph */
    struct ir_unit *u;
    struct ir_graph *g;
    bool *depends;    /* on the kernel */
    bool *region;     /* a parallel region */
    bool *address;    /* a function whose address is taken otherwise than for the runtime */
    unsigned *kernel; /* number of the kernel + 1 */
    unsigned *set;    /* by kernel; 0 is the home */
    unsigned nsets;
};
struct ir_study *ir_study_kernels(struct ir_unit *);
/* Is operand i of an instruction the callee, or something handed to the runtime, which calls it and
 * keeps nothing? */
bool ir_is_for_call(LLVMValueRef user, unsigned i);

/* ------------------------------------------------------------------ storage (storage.c) */
/* bytes of shared memory that locals of a late SPMD kernel may take: eight teams a multiprocessor,
 * at least */
enum { IR_SPMD_SHARED_BYTES = 8192 };
enum { IR_SHARED_BYTES = 1024 }; /* … of a generic one */
enum { IR_HEAP_ALIGN = 16 };
/* a team-shared variable; a generic pointer */
LLVMValueRef ir_make_shared(struct ir_unit *, LLVMValueRef f, const char *name, LLVMTypeRef,
                            unsigned align);
/* `size` bytes of the team heap after *end, which grows; `here`: i1, in an SPMD kernel true */
/* A team-shared variable that stands for one of the user's. */
bool ir_is_team_storage(const struct ir_unit *, LLVMValueRef);
void ir_keep_name(LLVMContextRef, LLVMValueRef variable, const char *users_name);
/* Of what it stands for; of any other value, its own. */
const char *ir_users_name(const struct ir_unit *, LLVMValueRef);
LLVMValueRef ir_make_heap_object(struct ir_unit *, LLVMBuilderRef, const char *name,
                                 LLVMValueRef here, uint64_t *end, uint64_t size, unsigned align);
/* Checked images of the emulated device: objects have room after them that is nobody's. */
bool ir_has_guards(const struct ir_unit *);
/* … OMPGPU_EMU_GUARD bytes, after that one; what: for messages. */
void ir_note_object(const struct ir_unit *, LLVMBuilderRef, LLVMValueRef, LLVMValueRef size,
                    const char *what);
const char *ir_quoted_name(const char *); /* for that; also of none */
/* Remarks: the variable moves to shared memory, of which there are `room` bytes for locals, or to
 * the team heap; bytes 0: not known here; room 0: its function is recursive.  And which call keeps
 * it from being private. */
void ir_note_shared(const struct ir_unit *, struct ir_kernel *, LLVMValueRef variable,
                    uint64_t bytes, bool in_heap, unsigned room);
void ir_drop_lifetime_marks(LLVMValueRef pointer);
/* frame.c: arrays of run-time size of a kernel's region function, where some are shared with
 * others, become blocks of the team heap; calls for the main thread. */
void ir_share_arrays(struct ir_unit *, struct ir_kernel *, LLVMValueRef f);
/* versions.c: one bitcode file from the other; false after an error message. */
bool ir_lower_versions(const char *from, const char *to);
#endif
