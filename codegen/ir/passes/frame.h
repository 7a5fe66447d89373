/* frame.h - one function while its locals are moved; between globalise.c and frame.c. */
#ifndef OMPGPU_IR_FRAME_H
#define OMPGPU_IR_FRAME_H
#include "codegen/ir/tool.h"

struct ir_frame {
    struct ir_unit *u;
    LLVMBuilderRef b;
    struct ir_kernel *kernel; /* for remarks: one that runs it; NULL: none */
    LLVMValueRef function;
    LLVMValueRef here; /* i1, false where the function runs inside of a parallel region; NULL: not
                          asked yet */
    bool mixed;        /* … which is not known */
    LLVMValueRef body; /* a mark after the allocas: what is added to the start goes before it */
    LLVMValueRef mark; /* top of the team heap at the start; NULL: no blocks */
    bool once;         /* never active twice: variables and fixed places are right */
    unsigned *budget;  /* bytes of shared memory left */
    uint64_t *fixed;   /* end of the fixed places in the team heap */
    bool uses_fixed;
};
/* All locals that escape. */
void ir_move_locals(struct ir_frame *);
#endif
