/* spmd.h - late SPMD-zation: a generic kernel whose sequential code all threads can run becomes an
 * SPMD kernel.
 *
 * In generic mode the main thread runs the code around parallel regions and wakes the others for
 * each region.  Here every thread runs that code: all compute the same values and take the same
 * branches, what others could see is done by the main thread (guarded), and a parallel region is a
 * plain call of its function.  No worker waits in a state machine, and values that a region
 * captures stay in registers.
 *
 * In:    kernels with their mode by form, the user's code as clang wrote it.
 * Out:   converted kernels are SPMD; of the others it is known what keeps them generic, where, and
 *        what would help.  One obstacle, and a kernel stays as it was.
 * Order:
 *   prepare.c      functions are inlined into the region function as far as possible, so that
 *                  parallel regions in called functions are seen
 *   memory.c       which locals stay private to each thread, and which are shared;
 *   main_locals.c  which only the main thread uses
 *   ends.c         parallel regions that end with a barrier of their own
 *   effect.c       what each instruction does to others; known.c: functions without a body
 *   plan.c         guards and broadcasts are planned, main_loops.c: or whole loops left to the main
 *                  thread, barriers.c: barriers placed and judged
 *   rewrite.c      the plan is carried out; guards.c: guarded functions
 * plan.h is what the last two lines share. */
#ifndef OMPGPU_IR_SPMD_H
#define OMPGPU_IR_SPMD_H
#include "codegen/ir/tool.h"

bool ir_spmd(struct ir_unit *);
/* whether it is tried for that file's kernels */
bool ir_wants_spmd(const struct ir_unit *, const struct ir_input *);

/* ------------------------------------------------------------------ what its files share */
/* Memory is told apart by bits: one for all that a pointer of unknown origin may point to, one for
 * each shared local. */
typedef uint64_t spmd_mask;
enum { SPMD_BITS = 64 };
#define SPMD_OTHER ((spmd_mask)1) /* all but shared locals whose address is never given away */
#define SPMD_ALL (~(spmd_mask)0)

enum spmd_action {
    SPMD_EVERY,  /* every thread executes it: no effect that others see */
    SPMD_GUARD,  /* only the main thread does */
    SPMD_REGION, /* a parallel region: all threads call its function */
    /* a question to the runtime with a constant answer in sequential code: `value` */
    SPMD_FOLD,
    SPMD_SIZE, /* … whose answer is the next region's size */
    SPMD_SET,  /* omp_set_num_threads */
    SPMD_CALL, /* every thread, as the user assumes; reads and writes */
    SPMD_DROP, /* nothing to do in sequential code */
    SPMD_REFUSE,
};
struct spmd_effect {
    enum spmd_action action;
    spmd_mask reads, writes;
    unsigned value;
    bool noreturn;
    bool queries; /* SPMD_GUARD: the callee may ask how many threads there are, and must find one */
    /* of SPMD_REFUSE; id: LLVM's number of the remark, NULL: the one of other obstacles */
    const char *why, *id, *remedy;
};

enum spmd_storage {
    SPMD_PRIVATE, /* each thread's, and all do the same with it */
    SPMD_MAIN,    /* the main thread's: all that is done with it is guarded */
    SPMD_SHARED,
};
struct spmd_object { /* an alloca of the region function */
    LLVMValueRef alloca;
    enum spmd_storage storage;
    uint64_t bytes; /* of a shared one */
    bool in_heap;   /* … in the team heap */
    /* some pointer that is not followed may point to it: it counts as SPMD_OTHER */
    bool leaked;
    bool not_main; /* others use it, too: found by an earlier plan */
    spmd_mask mask;
};

struct spmd_region { /* one generic kernel's region function */
    struct ir_unit *u;
    struct ir_kernel *kernel;
    LLVMValueRef function;
    /* in the order of the code; not_main outlives a plan */
    struct spmd_object *objects;
    unsigned nobjects;
    unsigned nbits; /* bits given out, the one of SPMD_OTHER included */
    /* IR_* that hold at the instruction that spmd_effect is asked about */
    unsigned assumptions;
    spmd_mask software_barrier; /* its bit, when regions on a part of the team may need it */
    spmd_mask cells;            /* of reductions: no two regions without a barrier between them */
    /* an alloca, when the code calls omp_set_num_threads; of each thread, all have the same */
    LLVMValueRef nthreads_var;
    uint64_t shared_bytes;
    /* the first thing that stands in the way; NULL: nothing */
    const char *why, *id, *remedy;
    LLVMValueRef where;
    /* the plan came to nothing, but another one may: some object is not_main now, or … */
    bool again;
    bool main_loops; /* … the main thread may run whole loops; outlives a plan */
    /* results */
    unsigned regions, partial, guards, barriers, broadcast_bytes, folded;
};
/* Notes the first obstacle. */
void spmd_refuse(struct spmd_region *, LLVMValueRef where, const char *why, const char *id,
                 const char *remedy);

/* ------------------------------------------------------------------ prepare.c */
/* functions[i]: the region function of kernel i, NULL where the mode is not to change; false: of
 * all. */
bool spmd_prepare(struct ir_unit *, LLVMValueRef *functions);
void spmd_finish(struct ir_unit *, LLVMValueRef *functions);

/* ------------------------------------------------------------------ memory.c, main_locals.c */
void spmd_find_objects(struct spmd_region *);
/* NULL: none, or not known */
struct spmd_object *spmd_object_of(const struct spmd_region *, LLVMValueRef pointer);
/* 0: private to the thread */
spmd_mask spmd_pointer_mask(const struct spmd_region *, LLVMValueRef pointer);
spmd_mask spmd_new_bit(struct spmd_region *);
LLVMValueRef spmd_base(LLVMValueRef pointer); /* without constant or variable offsets and casts */
bool spmd_is_main_local(const struct spmd_region *, const struct spmd_object *);
/* an edge of a parallel region's function */
bool spmd_only_main_thread(LLVMBasicBlockRef from, unsigned successor);

/* ------------------------------------------------------------------ ends.c */
/* All threads of a parallel region come to a barrier, after which only the main thread does
 * anything. */
bool spmd_ends_with_barrier(LLVMValueRef function);

/* ------------------------------------------------------------------ effect.c */
struct spmd_effect spmd_effect(const struct spmd_region *, LLVMValueRef instruction);
bool spmd_is_parallel(LLVMValueRef call); /* a call of __ompgpu_parallel */
/* The call keeps no pointer that it is given and does not write through it, or is not executed at
 * all. */
bool spmd_call_only_reads(LLVMValueRef call);
/* each thread calls it, with an object of its own */
bool spmd_call_is_amenable(const struct spmd_region *, LLVMValueRef call, LLVMValueRef pointer);
bool spmd_call_keeps_nothing(LLVMValueRef call);
bool spmd_is_idle(
    LLVMValueRef f); /* it does nothing that others could notice, but may not return */
/* something in it stands in the way of a call in an SPMD kernel */
bool spmd_needs_assumption(struct ir_unit *, LLVMValueRef f);

/* ------------------------------------------------------------------ known.c */
enum spmd_known_kind {
    KNOWN_NOT,
    KNOWN_EVERY, /* the same answer for each thread, no memory */
    KNOWN_OWN,   /* sets what each thread has for itself: all of them are to do it */
    KNOWN_READ,  /* every thread: reads what its arguments point to */
    KNOWN_FOLD,
    KNOWN_SIZE,
    KNOWN_SET,
    KNOWN_DROP,
    KNOWN_PRINT, /* main thread: reads memory, keeps no argument */
    KNOWN_GUARD, /* main thread: reads and writes anything */
    KNOWN_QUERY, /* the same, and it asks how many threads there are */
    KNOWN_LOCAL, /* main thread: reads and writes what its arguments point to, keeps no argument */
    KNOWN_FRESH, /* main thread: no memory that others have yet */
    KNOWN_TEAMS, /* the main thread of a generic kernel */
    KNOWN_DIE,   /* main thread: does not return */
};
enum spmd_known_kind spmd_known(LLVMValueRef function, unsigned *value); /* value or NULL */
const char *spmd_callee(LLVMValueRef call); /* name; "" for an indirect call, inline assembly */
#endif
