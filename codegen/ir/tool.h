/* tool.h - omp-device: from the bitcode of one X.device.c to PTX or an x86-64 object.
 *
 * In:    the user's code as clang wrote it (no LLVM pass has run), with kernels and what is known
 *        of them as devicertl/ompgpu_device.h describes; in a device link that of several files.
 * Out:   code for each architecture, the info file for the driver, remarks and warnings.
 * Order: the list of steps in main.c.  Each step is a function over one struct ir_unit that returns
 *        false when it has reported an error; between steps the module is dumped, verified, timed.
 *
 *   link/      reads bitcode, kernels and exports; joins files, the runtime and libdevice
 *   analysis/  questions about a module that change nothing: call graph, loops, escape, contexts
 *   spmd/      generic kernels whose sequential code all threads can run become SPMD kernels
 *   passes/    the other steps, one a file
 *   report/    what became of each kernel: info file, remarks, --emit=ir
 *
 * Each folder's header says the same for itself.  This one has what all of them share. */
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

/* ------------------------------------------------------------------ options (options.c) */
enum ir_target { IR_NVPTX, IR_X86 };
enum ir_mode { IR_MODE_AUTO, IR_MODE_GENERIC, IR_MODE_SPMD }; /* -fompgpu-mode= */
struct ir_output {                                            /* --out=ARCH:FILE */
    const char *arch, *path;
};
/* One bitcode file.  Without --member there is one, and its kernels follow the command's flags. */
struct ir_input {
    const char *path, *name; /* name: the user's file */
    enum ir_mode mode;
    bool needs; /* it has to be linked with others */
    bool report, remarks, warn_generic, error_generic;
    bool fast_math; /* compiled with -ffast-math; known when it is read */
};
struct ir_options {
    struct ir_input *inputs;
    unsigned ninputs;
    bool link; /* --member was given */
    const char *rtl, *libdevice, *info, *emit_ir, *dump;
    const char *versions; /* nothing but ir_lower_versions() into this file */
    enum ir_target target;
    char level;              /* '0' … '3', 's' */
    bool check;              /* -fompgpu-check, for x86-64 */
    bool debug, time, quiet; /* quiet: the other target's process says what both would */
    struct ir_output *outputs;
    unsigned noutputs;
};
struct ir_options ir_parse_options(int argc, char **argv); /* exits when the command is wrong */

/* ------------------------------------------------------------------ the unit */
struct ir_place { /* file NULL: not known */
    const char *file;
    unsigned line, column;
};
enum { IR_GENERIC = OMPGPU_MODE_GENERIC, IR_SPMD = OMPGPU_MODE_SPMD };
struct ir_kernel {
    /* as in struct __ompgpu_kernel_info of devicertl/ompgpu_device.h */
    const char *name, *function, *directive;
    struct ir_place at;
    unsigned mode, max_threads, reduce_bytes;
    unsigned flags;               /* OMPGPU_KERNEL_* */
    const struct ir_input *input; /* the file that it is in */

    /* measured in the final IR (report/measure.c); frame_bytes: of all functions that it reaches */
    unsigned barriers, indirect_calls;
    unsigned uses; /* OMPGPU_USES_* */
    uint64_t shared_bytes, frame_bytes;
    /* of a thread: locals of the functions on the deepest way, and the largest one of all */
    uint64_t deepest_bytes, largest_bytes;
    const char *largest; /* its name; NULL: not known */

    /* of the team heap: objects at fixed places; copies of reduced arrays, as blocks and in each
     * thread's slice (passes/copies.c), some of whose sizes only the host knows */
    uint64_t heap_bytes, block_bytes, copy_bytes;
    bool more_copies;

    /* late SPMD-zation (spmd/) */
    bool late;       /* it was generic and has become SPMD */
    unsigned placed; /* barriers */
    unsigned guards, regions, partial, broadcast_bytes, folded;
    unsigned private_locals, main_locals, shared_locals;
    uint64_t shared_local_bytes;
    bool queries; /* a guarded function asks how many threads there are */
    /* generic: it may encounter a parallel region that is not among `regions` */
    bool unknown_regions;
    /* what keeps it generic, LLVM's number of that remark, and what would help; NULL: not known */
    const char *why, *id, *remedy;
    struct ir_place why_at;
    struct ir_note *notes; /* for the remarks */
    const char *shape;     /* of a wide or tiled form (hostrt/image.h), else NULL */
};
struct ir_reduction { /* as in struct __ompgpu_reduction_info of devicertl/ompgpu_device.h */
    const char *names;
    struct ir_place at;
    unsigned variables, arrays, bytes, how;
    const struct ir_input *input;
};
struct ir_unit {
    const struct ir_options *opt;
    LLVMContextRef ctx;
    LLVMModuleRef module;     /* owned; no step replaces it */
    LLVMTargetDataRef layout; /* of `module`, borrowed from it */
    LLVMModuleRef runtime;    /* the device runtime, for types and attributes of its functions */
    struct ir_kernel *kernels;
    unsigned nkernels;
    struct ir_reduction *reductions;
    unsigned nreductions;
    char **exports; /* names of declare target variables */
    unsigned nexports;
    struct ir_alias { /* renamed by the device link */
        unsigned input;
        const char *name, *symbol;
    } *aliases;
    unsigned naliases;
    bool *members;         /* by input: it is part of the link */
    struct ir_assumption { /* about a function that its file only declares */
        const char *function, *words;
    } *assumptions;
    unsigned nassumptions;
    bool unified;          /* `requires unified_shared_memory` */
    bool nested;           /* a thread in a parallel region may encounter another one */
    bool partial, queries; /* late SPMD kernels: as in struct ir_kernel, of any */
    /* between ir_split and ir_join, where there is more than one */
    struct ir_unit *sets;
    unsigned nsets;
    unsigned *origin; /* in a set: by kernel, its number in the unit of all */
};
LLVMValueRef ir_kernel_function(LLVMModuleRef, const struct ir_kernel *);

/* ------------------------------------------------------------------ time and dumps (main.c) */
void ir_step_done(struct ir_unit *, const char *step);

/* ------------------------------------------------------------------ support (support.c) */
/* `file:line:col: error: …` about the user's code; with the line where its columns are known. */
void ir_say_at(struct ir_place, enum diag_severity, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void ir_set_preprocessed(const char *path);
/* file_users_columns() */
const unsigned *ir_users_columns(const char *file, unsigned line, unsigned *n);
/* Words of the command that shows a message about a line that macros have changed. */
void ir_add_split(const char *word);
/* False: it is not shown. */
bool ir_say_in_macro(struct ir_place, enum diag_severity, const char *words);
/* LLVM's errors count as ours. */
void ir_watch_diagnostics(LLVMContextRef);
typedef VEC(LLVMValueRef) ir_values;
/* room for one more element in a list of n; doubled at each power of two */
void *ir_grow(void *list, unsigned n, size_t size);
bool ir_write_file(const char *path, const void *data, size_t size);
LLVMMemoryBufferRef ir_read_file(const char *path); /* NULL after an error message */

/* over LLVM-C */
const char *ir_name(LLVMValueRef);
/* a constant array of characters, up to its first zero */
const char *ir_string(LLVMValueRef constant);
bool ir_verify(LLVMModuleRef, const char *when);
void ir_run_passes(LLVMModuleRef, const char *passes, LLVMTargetMachineRef); /* machine or NULL */
/* On n functions of the module only: one PassBuilder for all of them. */
void ir_run_passes_on(LLVMModuleRef, LLVMValueRef *functions, unsigned n, const char *passes);
/* Neither passes nor the code generator spend time on the function from now on. */
void ir_leave_unoptimised(LLVMValueRef f);
void ir_run_function_passes(LLVMValueRef f, const char *passes, LLVMTargetMachineRef);
LLVMValueRef ir_function_of(LLVMValueRef instruction);
/* "llvm.memcpy", without the types; "" for what is no intrinsic, or no function */
const char *ir_intrinsic(LLVMValueRef function);
bool ir_is_call_of(LLVMValueRef value, const char *function); /* a direct call; any value */
/* a callee that the emulated device's plugin provides: fail(), which synchronises with nobody */
bool ir_is_plugin_call(LLVMValueRef callee);
/* an alloca of constant size in the entry block */
void ir_erase(LLVMValueRef instruction);          /* that nothing uses any more */
void ir_erase_unneeded(LLVMValueRef instruction); /* what uses it is of no effect */
bool ir_is_static_alloca(LLVMValueRef alloca);
bool ir_is_local_linkage(LLVMValueRef global);
/* a variable in shared memory; the emulated device has it thread-local */
bool ir_is_team_shared(const struct ir_unit *, LLVMValueRef);

/* Attributes of functions: enum attributes by LLVM's name, strings by ours. */
bool ir_has(LLVMValueRef f, const char *enum_attribute);
unsigned ir_attribute_kind(const char *name);
void ir_add_attribute(LLVMValueRef f, const char *name);
void ir_remove_attribute(LLVMValueRef f, const char *name);
const char *ir_string_attribute(LLVMValueRef f, const char *name); /* NULL: it has none */
void ir_set_string_attribute(LLVMValueRef f, const char *name, const char *value);

/* What generated functions are, by string attributes; link/info.c makes them of sections. */
#define IR_REGION "ompgpu.region"           /* a target region's function */
#define IR_PARALLEL "ompgpu.parallel"       /* a parallel region's function */
#define IR_ALL_THREADS "ompgpu.all-threads" /* sequential code that all threads run */
#define IR_OURS "ompgpu.ours"               /* made here */
#define IR_GUARDED "ompgpu.guarded" /* the user's code, for the main thread (spmd/guards.c) */
#define IR_CHECK "ompgpu.check"     /* called before each access, where those are checked */

/* The device runtime's printf for GPUs: passes/prints.c. */
#define IR_VPRINTF "__ompgpu_vprintf"
#define IR_PRINT "__ompgpu_print" /* without a result */

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

/* ------------------------------------------------------------------ emit (emit.c) */
bool ir_check_archs(const struct ir_options *);
void ir_print_archs(void);
void ir_setup_target(enum ir_target); /* registers the one LLVM target that is needed */
/* Optimise and emit for every output; u->module is the first output's final IR afterwards. */
bool ir_emit(struct ir_unit *);
#endif
