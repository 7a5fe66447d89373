/* wide_build.c - builds the wide form of a covering kernel; wide.c says what that is. */
#include "codegen/ir/passes/wide.h"
#include "devicertl/ompgpu_device.h"
#include <llvm-c/DebugInfo.h>

static LLVMValueRef copied(const struct ir_body *w, LLVMValueRef v, unsigned lane)
{
    const struct ir_item *item = ir_find_item(w, v);
    if (v == w->index.value)
        return w->lane[lane];
    if (v == w->index.zero)
        return LLVMConstNull(LLVMTypeOf(v));
    if (item)
        return item->copy[item->varies ? lane : 0];
    for (unsigned i = 0; LLVMIsAArgument(v) && i < LLVMCountParams(w->kernel); i++)
        if (LLVMGetParam(w->kernel, i) == v)
            return LLVMGetParam(w->wide, i);
    return v;
}

static LLVMValueRef clone(const struct ir_body *w, LLVMValueRef inst, unsigned lane)
{
    LLVMValueRef c = LLVMInstructionClone(inst);
    LLVMInsertIntoBuilder(w->b, c);
    for (int i = 0; i < LLVMGetNumOperands(c); i++)
        LLVMSetOperand(c, (unsigned)i, copied(w, ir_operand(inst, (unsigned)i), lane));
    return c;
}

static bool is_written(const struct ir_body *w, LLVMValueRef base)
{
    for (unsigned i = 0; i < w->n; i++)
        if (w->items[i].is_store && w->items[i].at.base == base)
            return true;
    return false;
}

static void mark_read_only(const struct ir_body *w, const struct ir_item *item, LLVMValueRef load)
{
    if (!is_written(w, item->at.base) && !ir_is_in_parameter(item))
        LLVMSetMetadata(load, LLVMGetMDKindIDInContext(w->u->ctx, "invariant.load", 14),
                        LLVMMetadataAsValue(w->u->ctx, LLVMMDNodeInContext2(w->u->ctx, NULL, 0)));
}

static void load_lanes(const struct ir_body *w, struct ir_item *item)
{
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(item->inst), w->lanes);
    LLVMValueRef all = LLVMBuildLoad2(w->b, type, copied(w, ir_operand(item->inst, 0), 0), "");
    LLVMSetAlignment(all, item->align);
    mark_read_only(w, item, all);
    for (unsigned k = 0; k < w->lanes; k++)
        item->copy[k] = LLVMBuildExtractElement(w->b, all, l_i32(w->u, k), "");
}

static void store_lanes(const struct ir_body *w, const struct ir_item *item)
{
    LLVMValueRef all =
        LLVMGetPoison(LLVMVectorType(LLVMTypeOf(ir_operand(item->inst, 0)), w->lanes));
    for (unsigned k = 0; k < w->lanes; k++)
        all = LLVMBuildInsertElement(w->b, all, copied(w, ir_operand(item->inst, 0), k),
                                     l_i32(w->u, k), "");
    LLVMSetAlignment(LLVMBuildStore(w->b, all, copied(w, ir_operand(item->inst, 1), 0)),
                     item->align);
}

/* A group's structs begin at a multiple of 16. */
static void align_field(const struct ir_item *item, unsigned lane)
{
    unsigned long long offset = (unsigned long long)(item->at.offset + lane * item->at.stride),
                       align = offset & -offset;
    LLVMSetAlignment(item->copy[lane],
                     align && align < IR_MOST_BYTES ? (unsigned)align : IR_MOST_BYTES);
}

static void copy_lanes(const struct ir_body *w, struct ir_item *item)
{
    if (item->align && item->is_load) {
        load_lanes(w, item);
    } else if (item->align) {
        store_lanes(w, item);
    } else {
        for (unsigned k = 0; k < w->lanes; k++) {
            item->copy[k] = clone(w, item->inst, k);
            if (item->is_load)
                mark_read_only(w, item, item->copy[k]);
            if (item->is_field)
                align_field(item, k);
        }
    }
}

static bool begins_stream(const struct ir_body *w, const struct ir_item *item)
{
    for (const struct ir_item *i = w->items; i < item; i++)
        if (ir_same_stream(i, item))
            return false;
    return true;
}

/* Those of a stream one after another: LLVM joins no stores between which another one is. */
static void store_streams(const struct ir_body *w)
{
    for (unsigned i = 0; i < w->n; i++)
        for (unsigned k = i; w->items[i].is_store && begins_stream(w, &w->items[i]) && k < w->n;
             k++)
            if (ir_same_stream(&w->items[i], &w->items[k]))
                copy_lanes(w, &w->items[k]);
}

static LLVMValueRef add_positive(const struct ir_body *w, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef sum = LLVMBuildNUWAdd(w->b, a, b, "");
    LLVMSetNSW(sum, true);
    return sum;
}

static LLVMValueRef first_of_group(const struct ir_body *w, LLVMValueRef group)
{
    LLVMValueRef first = LLVMBuildNUWMul(w->b, group, l_i32(w->u, w->lanes), "");
    LLVMSetNSW(first, true);
    return first;
}

/* The iterations of a group: stores last. */
static void build_group(struct ir_body *w, LLVMValueRef index)
{
    LLVMValueRef first = first_of_group(w, index);
    for (unsigned k = 0; k < w->lanes; k++)
        w->lane[k] = k ? add_positive(w, first, l_i32(w->u, k)) : first;
    for (unsigned i = 0; i < w->n; i++)
        if (w->items[i].varies && !w->items[i].is_store)
            copy_lanes(w, &w->items[i]);
    store_streams(w);
    LLVMBuildRetVoid(w->b);
}

static LLVMBasicBlockRef append(const struct ir_body *w, const char *name)
{
    return LLVMAppendBasicBlockInContext(w->u->ctx, w->wide, name);
}

/* !0 = distinct !{!0, !{!"llvm.loop.unroll.disable"}}: it runs three times at most */
static void keep_rolled(const struct ir_body *w, LLVMValueRef branch)
{
    static const char name[] = "llvm.loop.unroll.disable";
    LLVMContextRef ctx = w->u->ctx;
    LLVMMetadataRef string = LLVMMDStringInContext2(ctx, name, sizeof name - 1);
    LLVMMetadataRef self = LLVMTemporaryMDNode(ctx, NULL, 0);
    LLVMMetadataRef parts[] = { self, LLVMMDNodeInContext2(ctx, &string, 1) };
    LLVMMetadataRef loop = LLVMMDNodeInContext2(ctx, parts, 2);
    LLVMMetadataReplaceAllUsesWith(self, loop);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(ctx, "llvm.loop", 9),
                    LLVMMetadataAsValue(ctx, loop));
}

static LLVMValueRef load_rest(const struct ir_body *w)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(w->u->ctx), i32 = LLVMInt32TypeInContext(w->u->ctx);
    LLVMValueRef at = l_i64(w->u, offsetof(struct __ompgpu_env, rest));
    return LLVMBuildLoad2(
        w->b, i32, LLVMBuildInBoundsGEP2(w->b, i8, LLVMGetParam(w->wide, 0), &at, 1, ""), "");
}

/* for (i = first; i < end; i++): the rest */
static void build_rest(struct ir_body *w, LLVMValueRef first)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(w->b), loop = append(w, "loop"),
                      done = append(w, "done");
    LLVMValueRef end = add_positive(w, first, load_rest(w));
    LLVMBuildCondBr(w->b, LLVMBuildICmp(w->b, LLVMIntULT, first, end, ""), loop, done);
    LLVMPositionBuilderAtEnd(w->b, loop);
    LLVMValueRef i = LLVMBuildPhi(w->b, LLVMTypeOf(first), "");
    w->lane[0] = i;
    for (unsigned k = 0; k < w->n; k++)
        if (w->items[k].varies)
            w->items[k].copy[0] = clone(w, w->items[k].inst, 0);
    LLVMValueRef next = add_positive(w, i, l_i32(w->u, 1)),
                 more = LLVMBuildICmp(w->b, LLVMIntULT, next, end, "");
    LLVMAddIncoming(i, (LLVMValueRef[]){ first, next }, (LLVMBasicBlockRef[]){ before, loop }, 2);
    keep_rolled(w, LLVMBuildCondBr(w->b, more, loop, done));
    LLVMPositionBuilderAtEnd(w->b, done);
    LLVMBuildRetVoid(w->b);
}

/* What is the same in all iterations, the number of the thread among it. */
static void build_uniform(struct ir_body *w)
{
    for (unsigned i = 0; i < w->n; i++)
        if (!w->items[i].varies) {
            w->items[i].copy[0] = clone(w, w->items[i].inst, 0);
            if (w->items[i].is_load)
                mark_read_only(w, &w->items[i], w->items[i].copy[0]);
            if (w->items[i].inst == w->index.value)
                w->lane[0] = w->items[i].copy[0];
        }
}

void ir_build_wide(struct ir_body *w)
{
    LLVMBasicBlockRef entry = append(w, "entry"), group = append(w, "group"),
                      beyond = append(w, "beyond"), rest = append(w, "rest"),
                      end = append(w, "end");
    w->b = LLVMCreateBuilderInContext(w->u->ctx);
    LLVMPositionBuilderAtEnd(w->b, entry);
    build_uniform(w);
    LLVMValueRef trip = copied(w, w->trip, 0), index = w->lane[0];
    LLVMBuildCondBr(w->b, LLVMBuildICmp(w->b, LLVMIntULT, index, trip, ""), group, beyond);
    LLVMPositionBuilderAtEnd(w->b, group);
    build_group(w, index);
    LLVMPositionBuilderAtEnd(w->b, beyond);
    LLVMBuildCondBr(w->b, LLVMBuildICmp(w->b, LLVMIntEQ, index, trip, ""), rest, end);
    LLVMPositionBuilderAtEnd(w->b, rest);
    build_rest(w, first_of_group(w, trip));
    LLVMPositionBuilderAtEnd(w->b, end);
    LLVMBuildRetVoid(w->b);
    LLVMDisposeBuilder(w->b);
}
