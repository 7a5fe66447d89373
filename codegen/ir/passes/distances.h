/* distances.h - what distances.c knows of addresses, for pointers.c. */
#ifndef OMPGPU_IR_DISTANCES_H
#define OMPGPU_IR_DISTANCES_H
#include "codegen/ir/tool.h"

enum { IR_MANY_FACTORS = 2, IR_LONGEST_CHAIN = 64 };

struct ir_distance { /* scale * factor[0] * … */
    long long scale;
    LLVMValueRef factor[IR_MANY_FACTORS];
    unsigned n;
    bool narrow; /* the product of the factors has 32 bits */
};
struct ir_chain { /* of a block: accessed addresses, latest last, and what they have become */
    LLVMValueRef was[IR_LONGEST_CHAIN], is[IR_LONGEST_CHAIN];
    unsigned n;
};

/* b - a, both of GEPs that have their exact values. */
bool ir_subtract_addresses(LLVMTargetDataRef, LLVMValueRef a, LLVMValueRef b, struct ir_distance *);
/* from + d, where the builder stands */
LLVMValueRef ir_add_distance(const struct ir_unit *, LLVMBuilderRef, LLVMValueRef from,
                             const struct ir_distance *d);

/* pointers.c; whether anything was changed */
bool ir_keep_pointers(const struct ir_unit *, LLVMBuilderRef, LLVMBasicBlockRef,
                      const struct ir_chain *);
#endif
