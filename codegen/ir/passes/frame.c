/* frame.c - moves the locals of one function that other threads can reach to shared memory or to
 * the team heap, see globalise.c. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/frame.h"
#include "codegen/ir/passes/passes.h"
#include <string.h>

/* ------------------------------------------------------------------ blocks of the team heap */
/* A string for a message of the device, as generic pointer. */
static LLVMValueRef make_message(const struct ir_unit *u, const char *text)
{
    LLVMValueRef string = LLVMConstStringInContext2(u->ctx, text, strlen(text), false);
    LLVMValueRef v = LLVMAddGlobalInAddressSpace(u->module, LLVMTypeOf(string), "__ompgpu_message",
                                                 u->opt->target == IR_NVPTX ? 1 : 0);
    LLVMSetInitializer(v, string);
    LLVMSetGlobalConstant(v, true);
    LLVMSetLinkage(v, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(v, LLVMGlobalUnnamedAddr);
    return u->opt->target == IR_NVPTX ? LLVMConstAddrSpaceCast(v, l_ptr(u)) : v;
}

/* The builder stands where the memory is needed. */
static LLVMValueRef allocate_block(struct ir_frame *frame, LLVMValueRef variable, LLVMValueRef size,
                                   unsigned align)
{
    bool dynamic = LLVMIsAAllocaInst(variable) && !ir_is_static_alloca(variable);
    const char *what = dynamic || !*ir_name(variable)
                           ? "an array of run-time size"
                           : mem_printf("the variable '%s'", ir_name(variable));
    const char *text = mem_printf("no room for %s of sequential code, shared with parallel "
                                  "regions: set OMPGPU_TEAM_HEAP to more bytes a team",
                                  what);
    unsigned line = LLVMIsAInstruction(variable) ? LLVMGetDebugLocLine(variable) : 0;
    LLVMValueRef args[] = { frame->here, size,
                            l_i64(frame->u, align < IR_HEAP_ALIGN ? IR_HEAP_ALIGN : align),
                            make_message(frame->u, text), l_i32(frame->u, line) };
    return l_call_runtime(frame->u, frame->b, "__ompgpu_heap_alloc", args, 5);
}

/* ------------------------------------------------------------------ one function */
/* frame->body is made.  Allocas of constant size come first, so that no call that is inlined later
 * divides the entry block above one of them: LLVM takes an alloca elsewhere for one of run-time
 * size. */
static void find_body(struct ir_frame *frame)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(frame->function);
    LLVMPositionBuilderBefore(frame->b, LLVMGetFirstInstruction(entry));
    frame->body = l_call_intrinsic(frame->u, frame->b, "llvm.donothing", NULL, NULL, 0);
    IR_EACH_INSTRUCTION(i, entry) {
        if (!LLVMIsAAllocaInst(i) || !ir_is_static_alloca(i))
            continue;
        char *name = mem_strdup(ir_name(i));
        LLVMInstructionRemoveFromParent(i);
        LLVMPositionBuilderBefore(frame->b, frame->body);
        LLVMInsertIntoBuilderWithName(frame->b, i, name);
    }
}

static void ask_level(struct ir_frame *frame)
{
    if (frame->here)
        return;
    frame->here = l_bool(frame->u, true);
    if (!frame->mixed)
        return;
    LLVMPositionBuilderBefore(frame->b, frame->body);
    LLVMValueRef level = l_call_runtime(frame->u, frame->b, "__ompgpu_level", NULL, 0);
    frame->here = LLVMBuildICmp(frame->b, LLVMIntEQ, level, l_i32(frame->u, 0), "");
}

static void need_blocks(struct ir_frame *frame)
{
    ask_level(frame);
    if (frame->mark)
        return;
    LLVMPositionBuilderBefore(frame->b, frame->body);
    frame->mark = l_call_runtime(frame->u, frame->b, "__ompgpu_heap_mark", &frame->here, 1);
}

static void position_after(const struct ir_frame *frame, LLVMValueRef instruction)
{
    LLVMPositionBuilderBefore(frame->b, LLVMGetNextInstruction(instruction));
}

/* All uses of `local` go to `shared`; in a function that also runs inside of regions only where it
 * does not.  The builder stands after both. */
static LLVMValueRef use_shared(const struct ir_frame *frame, LLVMValueRef local,
                               LLVMValueRef shared)
{
    if (!frame->mixed) {
        LLVMReplaceAllUsesWith(local, shared);
        return shared;
    }
    LLVMValueRef choice =
        LLVMBuildSelect(frame->b, frame->here, shared, LLVMGetPoison(l_ptr(frame->u)), "");
    LLVMReplaceAllUsesWith(local, choice);
    LLVMSetOperand(choice, 2, local);
    return choice;
}

/* Where an object of fixed size lives. */
static LLVMValueRef give_storage(struct ir_frame *frame, LLVMValueRef variable, LLVMTypeRef type,
                                 unsigned align)
{
    uint64_t size = LLVMABISizeOfType(frame->u->layout, type);
    bool fits = frame->once && size && size <= *frame->budget;
    ir_note_shared(frame->u, frame->kernel, variable, size, !fits,
                   frame->once ? IR_SHARED_BYTES : 0);
    ask_level(frame);
    if (!frame->once) {
        need_blocks(frame);
        LLVMPositionBuilderBefore(frame->b, frame->body);
        return allocate_block(frame, variable, l_i64(frame->u, size), align);
    }
    if (fits) {
        *frame->budget -= (unsigned)size;
        return ir_make_shared(frame->u, frame->function, ir_name(variable), type, align);
    }
    frame->uses_fixed = true;
    LLVMPositionBuilderBefore(frame->b, frame->body);
    return ir_make_heap_object(frame->u, frame->b, ir_name(variable), frame->here, frame->fixed,
                               size, align);
}

static void move_static(struct ir_frame *frame, LLVMValueRef alloca)
{
    uint64_t count = LLVMConstIntGetZExtValue(LLVMGetOperand(alloca, 0));
    LLVMTypeRef type = LLVMGetAllocatedType(alloca);
    LLVMValueRef shared = give_storage(
        frame, alloca, count == 1 ? type : LLVMArrayType2(type, count), LLVMGetAlignment(alloca));
    ir_drop_lifetime_marks(alloca);
    LLVMPositionBuilderBefore(frame->b, frame->body);
    use_shared(frame, alloca, shared);
    if (!frame->mixed)
        ir_erase(alloca);
}

/* Where the storage is the team's, the stack gives none. */
static void move_dynamic(struct ir_frame *frame, LLVMValueRef alloca)
{
    ir_note_shared(frame->u, frame->kernel, alloca, 0, true,
                   frame->budget ? IR_SHARED_BYTES : IR_SPMD_SHARED_BYTES);
    LLVMValueRef n = LLVMGetOperand(alloca, 0),
                 unit = l_i64(frame->u,
                              LLVMABISizeOfType(frame->u->layout, LLVMGetAllocatedType(alloca)));
    ir_drop_lifetime_marks(alloca);
    need_blocks(frame);
    LLVMPositionBuilderBefore(frame->b, alloca);
    LLVMValueRef bytes =
        LLVMBuildMul(frame->b, LLVMBuildZExtOrBitCast(frame->b, n, LLVMTypeOf(unit), ""), unit, "");
    LLVMValueRef shared = allocate_block(frame, alloca, bytes, LLVMGetAlignment(alloca));
    if (frame->mixed)
        LLVMSetOperand(alloca, 0,
                       LLVMBuildSelect(frame->b, frame->here, LLVMConstNull(LLVMTypeOf(n)), n, ""));
    position_after(frame, alloca);
    use_shared(frame, alloca, shared);
    if (!frame->mixed)
        ir_erase(alloca);
}

static void move_save(struct ir_frame *frame, LLVMValueRef save)
{
    position_after(frame, save);
    use_shared(frame, save,
               l_call_runtime(frame->u, frame->b, "__ompgpu_heap_mark", &frame->here, 1));
    if (!frame->mixed)
        ir_erase(save);
}

/* On a thread's own stack the old mark holds; with the team heap the stack is left as it is.
 */
static void move_restore(struct ir_frame *frame, LLVMValueRef restore)
{
    LLVMValueRef mark = LLVMGetOperand(restore, 0), args[] = { frame->here, mark };
    LLVMPositionBuilderBefore(frame->b, restore);
    l_call_runtime(frame->u, frame->b, "__ompgpu_heap_release", args, 2);
    if (!frame->mixed) {
        ir_erase(restore);
        return;
    }
    LLVMValueRef now =
        l_call_intrinsic(frame->u, frame->b, "llvm.stacksave", l_ptr(frame->u), NULL, 0);
    LLVMSetOperand(restore, 0, LLVMBuildSelect(frame->b, frame->here, now, mark, ""));
}

/* All dynamic allocas of a function move together, so that save and restore mean only one kind of
 * storage. */
static void move_stack_marks(struct ir_frame *frame)
{
    ir_values saves = { 0 }, restores = { 0 };
    IR_EACH_INSTRUCTION_OF(i, frame->function) {
        const char *name = LLVMIsACallInst(i) ? ir_intrinsic(LLVMGetCalledValue(i)) : "";
        if (strcmp(name, "llvm.stacksave") == 0)
            *VEC_PUSH(NULL, &saves) = i;
        else if (strcmp(name, "llvm.stackrestore") == 0)
            *VEC_PUSH(NULL, &restores) = i;
    }
    for (unsigned i = 0; i < saves.n; i++)
        move_save(frame, saves.at[i]);
    for (unsigned i = 0; i < restores.n; i++)
        move_restore(frame, restores.at[i]);
}

/* A parameter passed by value in memory is the callee's own object.  The user may have asked for
 * more alignment than the type has. */
static void move_byval(struct ir_frame *frame, LLVMValueRef param, LLVMTypeRef type,
                       LLVMAttributeRef aligned)
{
    unsigned align = aligned ? (unsigned)LLVMGetEnumAttributeValue(aligned)
                             : LLVMABIAlignmentOfType(frame->u->layout, type);
    LLVMValueRef shared = give_storage(frame, param, type, align);
    LLVMPositionBuilderBefore(frame->b, frame->body);
    /* the param itself, where it is not shared: then copied to itself */
    LLVMValueRef object = use_shared(frame, param, shared);
    LLVMBuildMemCpy(frame->b, object, align, param, align,
                    l_i64(frame->u, LLVMABISizeOfType(frame->u->layout, type)));
}

static void release_before_return(const struct ir_frame *frame, LLVMValueRef ret)
{
    LLVMValueRef args[] = { frame->here, frame->mark };
    LLVMPositionBuilderBefore(frame->b, ret);
    l_call_runtime(frame->u, frame->b, "__ompgpu_heap_release", args, 2);
}

static void move_byvals(struct ir_frame *frame)
{
    unsigned byval = ir_attribute_kind("byval"), n = LLVMCountParams(frame->function);
    for (unsigned i = 0; i < n; i++) {
        LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(frame->function, i + 1, byval);
        if (attribute && ir_pointer_escapes(LLVMGetParam(frame->function, i)))
            move_byval(
                frame, LLVMGetParam(frame->function, i), LLVMGetTypeAttributeValue(attribute),
                LLVMGetEnumAttributeAtIndex(frame->function, i + 1, ir_attribute_kind("align")));
    }
}

static bool find_dynamics(LLVMValueRef f, ir_values *dynamics)
{
    bool escaping = false;
    IR_EACH_INSTRUCTION_OF(i, f)
        if (LLVMIsAAllocaInst(i) && !ir_is_static_alloca(i)) {
            *VEC_PUSH(NULL, dynamics) = i;
            escaping = escaping || ir_pointer_escapes(i);
        }
    return escaping;
}

static void move_dynamics(struct ir_frame *frame)
{
    ir_values dynamics = { 0 };
    if (find_dynamics(frame->function, &dynamics)) {
        for (unsigned i = 0; i < dynamics.n; i++)
            move_dynamic(frame, dynamics.at[i]);
        move_stack_marks(frame);
    }
}

static void move_statics(struct ir_frame *frame)
{
    ir_values statics = { 0 };
    IR_EACH_INSTRUCTION_OF(i, frame->function)
        if (LLVMIsAAllocaInst(i) && ir_is_static_alloca(i) && ir_pointer_escapes(i))
            *VEC_PUSH(NULL, &statics) = i;
    for (unsigned i = 0; i < statics.n; i++)
        move_static(frame, statics.at[i]);
}

static void finish_frame(const struct ir_frame *frame)
{
    ir_erase(frame->body);
    IR_EACH_BLOCK(block, frame->function) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
        if (frame->mark && last && LLVMIsAReturnInst(last))
            release_before_return(frame, last);
    }
}

void ir_move_locals(struct ir_frame *frame)
{
    find_body(frame);
    move_byvals(frame);
    move_statics(frame);
    move_dynamics(frame);
    finish_frame(frame);
}

void ir_share_arrays(struct ir_unit *u, struct ir_kernel *k, LLVMValueRef f)
{
    struct ir_frame frame = {
        .u = u, .b = LLVMCreateBuilderInContext(u->ctx), .kernel = k, .function = f, .once = true
    };
    find_body(&frame);
    move_dynamics(&frame);
    finish_frame(&frame);
    if (frame.mark)
        k->flags |= OMPGPU_KERNEL_HEAP;
    LLVMDisposeBuilder(frame.b);
}
