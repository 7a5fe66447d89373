/* checks.h - what the parts of -fompgpu-check share: checks.c has addresses, blocks of memory and
 * the order of the whole, races.c races, unwritten.c locals that have no value. */
#ifndef OMPGPU_IR_CHECKS_H
#define OMPGPU_IR_CHECKS_H
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include "hostrt/plugin.h"

/* NOT_QUICK: more than 16, or no power of two */
enum { NOT_QUICK = 5 };
static inline unsigned ir_log_of(uint64_t n)
{
    unsigned log = 0;
    while (log < NOT_QUICK && (uint64_t)1 << log != n)
        log++;
    return log;
}

struct checks {
    struct ir_unit *u;
    LLVMBuilderRef b;
    LLVMTypeRef site; /* struct ompgpu_emu_site */
    /* by log2 of the bytes: the function that has the test */
    LLVMValueRef quick[NOT_QUICK], race[2][NOT_QUICK];
    /* few accesses: the tests are inlined; else the optimiser would take minutes */
    bool is_small;
    bool trusted;        /* the function at hand is the runtime's */
    LLVMValueRef params; /* … is a kernel: its parameter array; NULL */
};
struct access {
    LLVMValueRef at, pointer;
    uint64_t size;
    unsigned flags; /* OMPGPU_EMU_WRITES … */
};
typedef VEC(struct access) access_list;

/* ------------------------------------------------------------------ checks.c */
LLVMValueRef ir_accessed_base(LLVMValueRef pointer);
/* Of a local or a variable, of which nothing is behind the end; 0: not known. */
uint64_t ir_known_size(const struct ir_unit *, LLVMValueRef base);
bool ir_is_access(LLVMValueRef instruction);
/* The load's value is not used as one: it goes back to where it came from, or is a byte of a copy.
 */
bool ir_is_no_read(const struct ir_unit *, LLVMValueRef load);
LLVMTypeRef ir_site_type(const struct ir_unit *);
/* object: a local or a variable, or NULL */
LLVMValueRef ir_make_site(const struct checks *, LLVMValueRef at, unsigned flags,
                          LLVMValueRef object);
/* a function of the runtime */
void ir_call_check(const struct checks *, LLVMBuilderRef, const char *name, LLVMValueRef *args,
                   unsigned n);
/* if (condition, which is not expected) */
LLVMBasicBlockRef ir_open_unlikely(const struct checks *, LLVMBuilderRef, LLVMValueRef is);
/* if (the image is tested for that): the builder stands in its block until it is closed. */
LLVMBasicBlockRef ir_open_if_tested(const struct checks *, LLVMBuilderRef, unsigned test);
void ir_place_before(struct checks *, LLVMValueRef at);

/* ------------------------------------------------------------------ races.c */
void ir_check_race(struct checks *, const struct access *);
/* Any access; a function of the runtime's. */
void ir_call_race(const struct checks *, LLVMValueRef p, LLVMValueRef size, LLVMValueRef site,
                  LLVMValueRef value);
/* What hands on, or takes over, what other threads have done. */
bool ir_is_fence(LLVMValueRef);
void ir_note_fence(struct checks *, LLVMValueRef);
#endif
