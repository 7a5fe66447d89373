/* arrays.c - GPUs: arrays of run-time size go into a frame of the device runtime, which says why
 * (devicertl/arrays.c).
 *
 *      %a = alloca double, i64 %n            %a = call ptr @__ompgpu_frame_array(%frame, 8 * %n, 8)
 *      llvm.stacksave, llvm.stackrestore     @__ompgpu_frame_mark, @__ompgpu_frame_release
 *
 * The frame is a local of constant size, begun in the entry block and ended before each return. In:
 * a module after LLVM's passes, which make locals of constant size of as many such arrays as they
 * can.  Out: no `alloca` but of constant size in entry blocks. */
#include <string.h>
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include "devicertl/ompgpu_device.h"

static const char *const frame_functions[] = { "__ompgpu_frame_begin", "__ompgpu_frame_end",
                                               "__ompgpu_frame_array", "__ompgpu_frame_mark",
                                               "__ompgpu_frame_release" };
enum { FRAME_FUNCTIONS = sizeof frame_functions / sizeof *frame_functions };

bool ir_is_frame_function(const char *name)
{
    for (unsigned i = 0; i < FRAME_FUNCTIONS; i++)
        if (strcmp(name, frame_functions[i]) == 0)
            return true;
    return false;
}

static bool is_array(LLVMValueRef i) { return LLVMIsAAllocaInst(i) && !ir_is_static_alloca(i); }

static bool has_arrays(LLVMValueRef f)
{
    IR_EACH_INSTRUCTION_OF(i, f)
        if (is_array(i))
            return true;
    return false;
}

void ir_want_frames(struct ir_unit *u)
{
    bool any = false;
    IR_EACH_FUNCTION(f, u->module)
        any = any || has_arrays(f);
    for (unsigned i = 0; any && i < FRAME_FUNCTIONS; i++)
        l_runtime(u, frame_functions[i]);
}

/* ------------------------------------------------------------------ one function */
struct frame {
    const struct ir_unit *u;
    LLVMBuilderRef b;
    LLVMValueRef frame;
};

static LLVMValueRef call_frame(const struct frame *f, const char *name, LLVMValueRef more)
{
    LLVMValueRef args[] = { f->frame, more };
    return l_call_runtime(f->u, f->b, name, args, more ? 2 : 1);
}

static void begin_frame(struct frame *f, LLVMValueRef function)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
    LLVMPositionBuilderBefore(f->b, LLVMGetFirstInstruction(entry));
    LLVMTypeRef bytes = LLVMArrayType2(LLVMInt8TypeInContext(f->u->ctx), __OMPGPU_FRAME_BYTES);
    f->frame = LLVMBuildAlloca(f->b, bytes, "arrays");
    LLVMSetAlignment(f->frame, __OMPGPU_FRAME_ALIGN);
    LLVMValueRef after = f->frame;
    while (LLVMIsAAllocaInst(after) && ir_is_static_alloca(after))
        after = LLVMGetNextInstruction(after);
    LLVMPositionBuilderBefore(f->b, after);
    call_frame(f, "__ompgpu_frame_begin", NULL);
}

static void replace_array(const struct frame *f, LLVMValueRef array)
{
    LLVMPositionBuilderBefore(f->b, array);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(f->u->ctx);
    uint64_t bytes = LLVMABISizeOfType(f->u->layout, LLVMGetAllocatedType(array));
    LLVMValueRef count = LLVMBuildIntCast2(f->b, LLVMGetOperand(array, 0), i64, false, ""),
                 args[] = { f->frame, LLVMBuildMul(f->b, count, l_i64(f->u, bytes), ""),
                            l_i64(f->u, LLVMGetAlignment(array)) };
    ir_drop_lifetime_marks(array);
    LLVMReplaceAllUsesWith(array, l_call_runtime(f->u, f->b, "__ompgpu_frame_array", args, 3));
    ir_erase(array);
}

static void replace_mark(const struct frame *f, LLVMValueRef i, const char *name)
{
    LLVMPositionBuilderBefore(f->b, i);
    if (strcmp(name, "llvm.stacksave") == 0)
        LLVMReplaceAllUsesWith(i, call_frame(f, "__ompgpu_frame_mark", NULL));
    else if (strcmp(name, "llvm.stackrestore") == 0)
        call_frame(f, "__ompgpu_frame_release", LLVMGetOperand(i, 0));
    else
        return;
    ir_erase(i);
}

static void replace_arrays(const struct ir_unit *u, LLVMValueRef function)
{
    struct frame f = { .u = u, .b = LLVMCreateBuilderInContext(u->ctx) };
    begin_frame(&f, function);
    IR_EACH_INSTRUCTION_OF(i, function) {
        if (is_array(i)) {
            replace_array(&f, i);
        } else if (LLVMIsAReturnInst(i)) {
            LLVMPositionBuilderBefore(f.b, i);
            call_frame(&f, "__ompgpu_frame_end", NULL);
        } else if (LLVMIsACallInst(i)) {
            replace_mark(&f, i, ir_intrinsic(LLVMGetCalledValue(i)));
        }
    }
    LLVMDisposeBuilder(f.b);
}

/* ------------------------------------------------------------------ all of it */
/* Marks may outlive the arrays that they were for. */
static void drop_marks(LLVMValueRef f)
{
    static const char *const names[] = { "llvm.stackrestore", "llvm.stacksave" };
    for (unsigned n = 0; n < sizeof names / sizeof *names; n++)
        IR_EACH_INSTRUCTION_OF(i, f)
            if (LLVMIsACallInst(i) && strcmp(ir_intrinsic(LLVMGetCalledValue(i)), names[n]) == 0)
                ir_erase_unneeded(i);
}

/* Nothing else may call the functions of the runtime from here on. */
static bool hide_functions(const struct ir_unit *u)
{
    bool any = false;
    for (unsigned i = 0; i < FRAME_FUNCTIONS; i++) {
        LLVMValueRef f = LLVMGetNamedFunction(u->module, frame_functions[i]);
        if (f)
            LLVMSetLinkage(f, LLVMInternalLinkage);
        any = any || f;
    }
    return any;
}

bool ir_replace_arrays(struct ir_unit *u)
{
    IR_EACH_FUNCTION(f, u->module) {
        if (has_arrays(f))
            replace_arrays(u, f);
        else
            drop_marks(f);
    }
    return hide_functions(u);
}
