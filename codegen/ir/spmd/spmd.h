/* spmd.h - what the files of late SPMD-zation share.  spmd/spmd.c explains the idea. */
#ifndef OMPGPU_IR_SPMD_H
#define OMPGPU_IR_SPMD_H
#include "codegen/ir/tool.h"

/* Memory is told apart by bits: one for all that a pointer of unknown origin may point to, one for
 * each slot. */
typedef uint64_t spmd_mask;
enum { SPMD_BITS = 64 };
#define SPMD_OTHER ((spmd_mask)1) /* everything but slots whose address is never given away */
#define SPMD_ALL (~(spmd_mask)0)

enum spmd_action {
    SPMD_EVERY,  /* every thread executes it: no effect that others see */
    SPMD_GUARD,  /* thread 0 alone */
    SPMD_REGION, /* a parallel region: all threads call its function */
    /* a question to the runtime with a constant answer in sequential code: `value` */
    SPMD_FOLD,
    SPMD_SIZE, /* … whose answer is the next region's size */
    SPMD_SET,  /* omp_set_num_threads */
    SPMD_CALL, /* every thread, as the user promises; reads and writes */
    SPMD_DROP, /* nothing to do in sequential code */
    SPMD_REFUSE,
};
struct spmd_effect {
    enum spmd_action action;
    spmd_mask reads, writes;
    unsigned value;
    bool noreturn;
    /* SPMD_GUARD: the callee may ask how many threads there are, which are none but this one */
    bool asks;
    /* of SPMD_REFUSE; id: LLVM's number of the remark, NULL: the one of other obstacles */
    const char *why, *id, *remedy;
};

enum spmd_place {
    SPMD_PRIVATE, /* each thread's, and all do the same with it */
    SPMD_OWN,     /* thread 0's: all that is done with it is guarded */
    SPMD_SLOT,
};
struct spmd_object { /* an alloca of the region function */
    LLVMValueRef alloca;
    enum spmd_place place;
    uint64_t bytes; /* of a slot */
    bool in_heap;   /* a slot in the team's storage in global memory */
    /* some pointer that is not followed may point to it: it counts as SPMD_OTHER */
    bool leaked;
    bool not_own; /* it cannot be thread 0's: found by an earlier plan */
    spmd_mask mask;
};

struct spmd_event;
struct spmd_region { /* one generic kernel's region function */
    struct ir_unit *u;
    struct ir_kernel *kernel;
    LLVMValueRef function;
    /* in the order of the code; not_own outlives a plan */
    struct spmd_object *objects;
    unsigned nobjects;
    unsigned nbits; /* bits given out, the one of SPMD_OTHER included */
    /* IR_* that hold at the instruction that spmd_effect is asked about */
    unsigned promises;
    spmd_mask software_barrier; /* its bit, when regions on a part of the team may need it */
    /* an alloca, when the code calls omp_set_num_threads; of each thread, all have the same */
    LLVMValueRef nthreads_var;
    uint64_t slot_bytes;
    /* the first thing that stands in the way; NULL: nothing */
    const char *why, *id, *remedy;
    LLVMValueRef where;
    /* the plan came to nothing, but another one may: some object is not_own now, or … */
    bool again;
    bool alone; /* … thread 0 may run whole loops; outlives a plan */
    /* results */
    unsigned regions, parts, guards, barriers, broadcast_bytes, folded;
};

/* Notes the first obstacle. */
void spmd_refuse(struct spmd_region *, LLVMValueRef where, const char *why, const char *id,
                 const char *remedy);

/* ------------------------------------------------------------------ memory (spmd/memory.c) */
void spmd_find_objects(struct spmd_region *);
/* NULL: none, or not known */
struct spmd_object *spmd_object_of(const struct spmd_region *, LLVMValueRef pointer);
/* 0: private to the thread */
spmd_mask spmd_pointer_mask(const struct spmd_region *, LLVMValueRef pointer);
spmd_mask spmd_new_bit(struct spmd_region *);
LLVMValueRef spmd_base(LLVMValueRef pointer); /* without constant or variable offsets and casts */
bool spmd_is_parallel(LLVMValueRef call);     /* a call of __ompgpu_parallel */

/* ------------------------------------------------------------------ thread 0's own (spmd/own.c) */
bool spmd_is_own(const struct spmd_region *, const struct spmd_object *);

/* ------------------------------------------------------------------ effects (spmd/effect.c) */
struct spmd_effect spmd_effect(const struct spmd_region *, LLVMValueRef instruction);
/* The call keeps no pointer that it is given and does not write through it, or is not executed at
 * all. */
bool spmd_call_only_reads(LLVMValueRef call);
/* the thread's own object may be given */
bool spmd_call_is_amenable(const struct spmd_region *, LLVMValueRef call, LLVMValueRef pointer);
/* it does nothing that anybody could notice, but perhaps for ever */
bool spmd_is_idle(LLVMValueRef f);
bool spmd_call_keeps_nothing(LLVMValueRef call);
/* something in it stands in the way of a call in an SPMD kernel */
bool spmd_needs_promise(struct ir_unit *, LLVMValueRef f);
/* name; "" for an indirect call and for inline assembly */
const char *spmd_callee(LLVMValueRef call);

/* ------------------------------------------------------------------ rewriting (spmd/rewrite.c) */
/* Plans guards and barriers; then spmd_rewrite makes the function SPMD.  Nothing is changed before.
 */
struct spmd_plan *spmd_plan(struct spmd_region *);
void spmd_rewrite(struct spmd_region *, struct spmd_plan *);
#endif
