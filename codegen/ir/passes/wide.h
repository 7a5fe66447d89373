/* wide.h - what wide.c finds in a covering kernel, and wide_build.c makes the wide form of. */
#ifndef OMPGPU_IR_WIDE_H
#define OMPGPU_IR_WIDE_H
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/emit_helpers.h"

enum { IR_MOST_LANES = 4, IR_MOST_BYTES = 16 };

struct ir_item { /* an instruction that the wide form has copies of */
    LLVMValueRef inst;
    bool varies; /* with the index */
    LLVMValueRef copy[IR_MOST_LANES];
    /* loads and stores: */
    struct ir_affine at;
    unsigned bytes, align; /* align 0: not as one access of a group */
    bool is_load, is_store;
    bool is_field; /* LLVM joins its copies with those of other fields in accesses of 16 bytes */
};
struct ir_body {
    struct ir_unit *u;
    LLVMTargetDataRef layout;
    LLVMValueRef kernel, wide;
    LLVMBasicBlockRef entry, block;
    LLVMValueRef test, trip; /* index < trip */
    struct ir_index index;   /* zero: the launch's first iteration, where the kernel asks for it */
    struct ir_item *items;
    unsigned n;
    unsigned lanes;
    LLVMValueRef lane[IR_MOST_LANES]; /* the iteration in each copy */
    LLVMBuilderRef b;
};

static inline LLVMValueRef ir_operand(LLVMValueRef v, unsigned i) { return LLVMGetOperand(v, i); }
struct ir_item *ir_find_item(const struct ir_body *, LLVMValueRef); /* NULL: none of the body */
/* Elements, or fields, of the same size of one array, which both are read, or both written. */
static inline bool ir_same_stream(const struct ir_item *a, const struct ir_item *b)
{
    return a->at.base == b->at.base && a->at.stride == b->at.stride && a->bytes == b->bytes &&
           a->is_load == b->is_load && a->is_store == b->is_store;
}
/* in a parameter itself, as the environment and structs are */
bool ir_is_in_parameter(const struct ir_item *);
/* Fills `wide`, which is empty. */
void ir_build_wide(struct ir_body *);
#endif
