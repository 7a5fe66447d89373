/* emit_helpers.h - thin helpers to build IR.  `u` is the unit, `b` the builder, which stands where
 * the instruction is to go. */
#ifndef OMPGPU_IR_EMIT_HELPERS_H
#define OMPGPU_IR_EMIT_HELPERS_H
#include "codegen/ir/tool.h"

static inline LLVMTypeRef l_void(const struct ir_unit *u) { return LLVMVoidTypeInContext(u->ctx); }
static inline LLVMTypeRef l_ptr(const struct ir_unit *u)
{
    return LLVMPointerTypeInContext(u->ctx, 0);
}
static inline LLVMValueRef l_bool(const struct ir_unit *u, bool value)
{
    return LLVMConstInt(LLVMInt1TypeInContext(u->ctx), value, false);
}
static inline LLVMValueRef l_i32(const struct ir_unit *u, uint32_t value)
{
    return LLVMConstInt(LLVMInt32TypeInContext(u->ctx), value, false);
}
static inline LLVMValueRef l_i64(const struct ir_unit *u, uint64_t value)
{
    return LLVMConstInt(LLVMInt64TypeInContext(u->ctx), value, false);
}
/* a function of the device runtime, with the type and the attributes that it has there */
LLVMValueRef l_runtime(const struct ir_unit *u, const char *name);
/* all of a function of the same type */
void l_copy_attributes(LLVMValueRef to, LLVMValueRef from);
LLVMValueRef l_call(LLVMBuilderRef b, LLVMValueRef f, LLVMValueRef *args, unsigned n);
LLVMValueRef l_call_runtime(const struct ir_unit *u, LLVMBuilderRef b, const char *name,
                            LLVMValueRef *args, unsigned n);
LLVMValueRef l_call_intrinsic(const struct ir_unit *u, LLVMBuilderRef b, const char *name,
                              LLVMTypeRef type, LLVMValueRef *args, unsigned n); /* type or NULL */
LLVMValueRef l_is_main_thread(const struct ir_unit *u, LLVMBuilderRef b);        /* i1 */

/* A void function of ours, internal; l_open_function: with an entry block at whose end the new
 * builder stands, l_close_function: returns there. */
LLVMValueRef l_add_function(const struct ir_unit *u, const char *name, LLVMTypeRef *params,
                            unsigned n);
LLVMBuilderRef l_open_function(LLVMValueRef f);
void l_close_function(LLVMBuilderRef b);
/* if (condition) { … }: the builder stands in the block of the condition until it is closed. */
LLVMBasicBlockRef l_open_if(LLVMBuilderRef b, LLVMValueRef condition); /* what follows it */
void l_close_if(LLVMBuilderRef b, LLVMBasicBlockRef follows);
/* All but phis and what LLVM wants first: where an instruction may stand in the block. */
LLVMValueRef l_first_after_phis(LLVMBasicBlockRef block);
#endif
