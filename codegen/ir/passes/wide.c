/* wide.c - a third form of kernels that stream: some iterations a thread, accesses of 16 bytes.
 *
 * A covering kernel (codegen/c/device/region.c) is, after optimisation,
 *
 *   index = team * threads + thread;  if (index < trip) body(index);
 *
 * Where the body is straight code that does nothing but load, compute and store, its wide form is
 *
 *   if (index < trip)        all loads of body(lanes * index … + lanes - 1), then the rest of these
 *   else if (index == trip)  for (i = lanes * trip; i < lanes * trip + rest; i++) body(i);
 *
 * where the host has divided the trip count into `trip` groups of `lanes` iterations, and a rest,
 * with one access for elements of a group that lie side by side, and loads through the read-only
 * cache (ld.global.nc) from what the kernel does not write.  Loads of an iteration thus come before
 * stores of another one.  That is right if nothing that the kernel writes overlaps with anything
 * else that it accesses.  Only the host can know, as it knows the pointers and the trip count:
 * what the kernel accesses is written down (struct ompgpu_stream in hostrt/image.h), and the host
 * runtime launches the wide form where the ranges are disjoint and aligned (hostrt/core/wide.c). */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include "devicertl/ompgpu_device.h"
#include <llvm-c/DebugInfo.h>
#include <string.h>

enum { MOST_LANES = 4, MOST_BYTES = 16 };

struct item { /* an instruction that the wide form has copies of */
    LLVMValueRef inst;
    bool varies; /* with the index */
    LLVMValueRef copy[MOST_LANES];
    /* loads and stores: */
    struct ir_affine at;
    unsigned bytes, align; /* align 0: not as one access of a group */
    bool is_load, is_store;
};
struct body {
    struct ir_unit *u;
    LLVMTargetDataRef layout;
    LLVMValueRef kernel, wide;
    LLVMBasicBlockRef entry, block;
    LLVMValueRef test, index, trip; /* index < trip */
    struct item *items;
    unsigned n;
    unsigned lanes;
    LLVMValueRef lane[MOST_LANES]; /* the iteration in each copy */
    LLVMBuilderRef b;
};

/* ------------------------------------------------------------------ is it such a kernel? */
static LLVMValueRef operand(LLVMValueRef v, unsigned i) { return LLVMGetOperand(v, i); }

static bool is_opcode(LLVMValueRef v, LLVMOpcode op)
{
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == op;
}

/* team * threads + thread */
static bool is_thread_number(LLVMValueRef v)
{
    if (!is_opcode(v, LLVMAdd) || !is_opcode(operand(v, 0), LLVMMul))
        return false;
    LLVMValueRef product = operand(v, 0);
    return ir_is_call_of(operand(product, 0), "llvm.nvvm.read.ptx.sreg.ctaid.x") &&
           ir_is_call_of(operand(product, 1), "llvm.nvvm.read.ptx.sreg.ntid.x") &&
           ir_is_call_of(operand(v, 1), "llvm.nvvm.read.ptx.sreg.tid.x");
}

static bool is_trip_count(const struct body *w, LLVMValueRef v)
{
    struct ir_affine at;
    return LLVMIsALoadInst(v) && ir_affine_address(w->layout, operand(v, 0), NULL, &at) &&
           at.base == LLVMGetParam(w->kernel, 0) &&
           at.offset == offsetof(struct __ompgpu_env, trip);
}

/* entry: if (index < trip) goto block; return.  block: … return. */
static bool find_parts(struct body *w)
{
    if (LLVMCountBasicBlocks(w->kernel) != 3)
        return false;
    w->entry = LLVMGetEntryBasicBlock(w->kernel);
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(w->entry);
    if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch))
        return false;
    w->block = LLVMGetSuccessor(branch, 0);
    w->test = LLVMGetCondition(branch);
    LLVMBasicBlockRef end = LLVMGetSuccessor(branch, 1);
    LLVMValueRef last = LLVMGetBasicBlockTerminator(w->block);
    if (!LLVMIsABranchInst(last) || LLVMIsConditional(last) || LLVMGetSuccessor(last, 0) != end ||
        !LLVMIsAReturnInst(LLVMGetFirstInstruction(end)) || !LLVMIsAICmpInst(w->test))
        return false;
    bool turned = LLVMGetICmpPredicate(w->test) == LLVMIntUGT;
    w->index = operand(w->test, turned);
    w->trip = operand(w->test, !turned);
    return (turned || LLVMGetICmpPredicate(w->test) == LLVMIntULT) && is_thread_number(w->index) &&
           is_trip_count(w, w->trip) && !LLVMGetNextUse(LLVMGetFirstUse(w->trip));
}

static struct item *find_item(const struct body *w, LLVMValueRef inst)
{
    for (unsigned i = 0; i < w->n; i++)
        if (w->items[i].inst == inst)
            return &w->items[i];
    return NULL;
}

static bool uses_index(const struct body *w, LLVMValueRef inst)
{
    for (int i = 0; i < LLVMGetNumOperands(inst); i++) {
        LLVMValueRef v = operand(inst, (unsigned)i);
        const struct item *item = find_item(w, v);
        if (v == w->index || (item && item->varies))
            return true;
    }
    return false;
}

static bool reads_register(LLVMValueRef inst)
{
    return LLVMIsACallInst(inst) &&
           text_starts(ir_intrinsic(LLVMGetCalledValue(inst)), "llvm.nvvm.read.ptx.sreg.");
}

/* Without effect, and the same in any thread. */
static bool is_pure_call(LLVMValueRef call)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    const char *name = ir_intrinsic(f);
    LLVMAttributeRef memory =
        LLVMIsAFunction(f)
            ? LLVMGetEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                          ir_attribute_kind("memory"))
            : NULL;
    return *name && memory && LLVMGetEnumAttributeValue(memory) == 0 && !ir_has(f, "convergent") &&
           !reads_register(call);
}

static bool is_plain(LLVMValueRef inst)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(inst);
    if (op == LLVMLoad || op == LLVMStore)
        return !LLVMGetVolatile(inst) && LLVMGetOrdering(inst) == LLVMAtomicOrderingNotAtomic;
    if (op == LLVMCall)
        return is_pure_call(inst);
    return LLVMIsABinaryOperator(inst) || LLVMIsACastInst(inst) || LLVMIsAUnaryOperator(inst) ||
           op == LLVMGetElementPtr || op == LLVMICmp || op == LLVMFCmp || op == LLVMSelect ||
           op == LLVMFreeze || op == LLVMInsertValue || op == LLVMExtractValue;
}

/* ------------------------------------------------------------------ what it accesses */
static bool is_access(const struct item *item) { return item->is_load || item->is_store; }

/* In a parameter itself, as the environment and structs are. */
static bool is_in_parameter(const struct item *item)
{
    LLVMValueRef f, base = item->at.base;
    if (!base || !LLVMIsAArgument(base))
        return false;
    f = LLVMGetParamParent(base);
    for (unsigned i = 0; i < LLVMCountParams(f); i++)
        if (LLVMGetParam(f, i) == base)
            return LLVMGetEnumAttributeAtIndex(f, i + 1, ir_attribute_kind("byval"));
    return false;
}

static bool holds_number(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    unsigned bits = kind == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
    return kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind || kind == LLVMHalfTypeKind ||
           bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

/* Elements side by side. */
static bool is_dense(const struct item *item)
{
    if (!is_access(item) || is_in_parameter(item))
        return false;
    LLVMTypeRef type = LLVMTypeOf(item->is_load ? item->inst : operand(item->inst, 0));
    return item->at.stride == (long long)item->bytes && holds_number(type);
}

static bool is_variable(LLVMValueRef base)
{
    return LLVMIsAGlobalVariable(base) && LLVMGetInitializer(base) &&
           LLVMGetPointerAddressSpace(LLVMTypeOf(base)) == 0;
}

static bool read_access(struct body *w, struct item *item)
{
    item->is_load = LLVMIsALoadInst(item->inst) != NULL;
    item->is_store = LLVMIsAStoreInst(item->inst) != NULL;
    if (!item->is_load && !item->is_store)
        return true;
    LLVMValueRef address = operand(item->inst, item->is_store);
    LLVMTypeRef type = LLVMTypeOf(item->is_load ? item->inst : operand(item->inst, 0));
    item->bytes = (unsigned)LLVMStoreSizeOfType(w->layout, type);
    if (!ir_affine_address(w->layout, address, w->index, &item->at) ||
        (!LLVMIsAArgument(item->at.base) && !is_variable(item->at.base)))
        return false;
    return item->is_load || (item->at.stride > 0 && !is_in_parameter(item));
}

/* Accesses of one pointer that stores go through: all to the element of the iteration, loads
 * first. */
static bool agree(const struct item *a, const struct item *b)
{
    if (a->at.base != b->at.base || (!a->is_store && !b->is_store))
        return true;
    return !a->is_store && b->is_store && a->at.offset == b->at.offset &&
           a->at.stride == b->at.stride && a->bytes == b->bytes;
}

/* As many elements as the largest ones leave room for in an access; those are accessed as a group
 * of which the first may begin one. */
static void choose_lanes(struct body *w)
{
    unsigned largest = MOST_BYTES / MOST_LANES;
    for (unsigned i = 0; i < w->n; i++)
        if (is_dense(&w->items[i]) && w->items[i].bytes > largest)
            largest = w->items[i].bytes;
    w->lanes = MOST_BYTES / largest;
    for (unsigned i = 0; i < w->n; i++) {
        struct item *item = &w->items[i];
        unsigned bytes = w->lanes * item->bytes;
        if (is_dense(item) && item->at.offset % bytes == 0)
            item->align = bytes;
    }
}

/* Most are of groups; all bases are parameters, or all are variables, which are never the same. */
static bool accesses_agree(const struct body *w)
{
    unsigned groups = 0, n = 0, variables = 0;
    for (unsigned i = 0; i < w->n; i++) {
        const struct item *a = &w->items[i];
        if (!is_access(a) || is_in_parameter(a))
            continue;
        for (unsigned k = i + 1; k < w->n; k++)
            if (is_access(&w->items[k]) && !agree(a, &w->items[k]))
                return false;
        n++;
        groups += a->align != 0;
        variables += is_variable(a->at.base);
    }
    return groups * 2 > n && n <= OMPGPU_STREAMS && (variables == 0 || variables == n);
}

/* The registers by which a thread knows its number are read once, before the test. */
static bool add_item(struct body *w, LLVMValueRef inst, bool before_test)
{
    struct item *item = &w->items[w->n];
    *item = (struct item){ .inst = inst, .varies = uses_index(w, inst) };
    w->n++;
    return ((before_test && reads_register(inst)) || is_plain(inst)) && read_access(w, item);
}

static bool read_block(struct body *w, LLVMBasicBlockRef block)
{
    IR_EACH_INSTRUCTION(i, block)
        if (!LLVMIsATerminatorInst(i) && i != w->test && !add_item(w, i, block == w->entry))
            return false;
    return true;
}

static bool read_body(struct body *w)
{
    unsigned room = 0;
    IR_EACH_INSTRUCTION_OF(i, w->kernel)
        room++;
    w->items = mem_array(room, sizeof *w->items);
    if (!read_block(w, w->entry) || !read_block(w, w->block))
        return false;
    choose_lanes(w);
    return accesses_agree(w);
}

/* ------------------------------------------------------------------ building the form */
static LLVMValueRef copied(const struct body *w, LLVMValueRef v, unsigned lane)
{
    const struct item *item = find_item(w, v);
    if (v == w->index)
        return w->lane[lane];
    if (item)
        return item->copy[item->varies ? lane : 0];
    for (unsigned i = 0; LLVMIsAArgument(v) && i < LLVMCountParams(w->kernel); i++)
        if (LLVMGetParam(w->kernel, i) == v)
            return LLVMGetParam(w->wide, i);
    return v;
}

static LLVMValueRef clone(const struct body *w, LLVMValueRef inst, unsigned lane)
{
    LLVMValueRef c = LLVMInstructionClone(inst);
    LLVMInsertIntoBuilder(w->b, c);
    for (int i = 0; i < LLVMGetNumOperands(c); i++)
        LLVMSetOperand(c, (unsigned)i, copied(w, operand(inst, (unsigned)i), lane));
    return c;
}

static bool is_written(const struct body *w, LLVMValueRef base)
{
    for (unsigned i = 0; i < w->n; i++)
        if (w->items[i].is_store && w->items[i].at.base == base)
            return true;
    return false;
}

static void mark_read_only(const struct body *w, const struct item *item, LLVMValueRef load)
{
    if (!is_written(w, item->at.base) && !is_in_parameter(item))
        LLVMSetMetadata(load, LLVMGetMDKindIDInContext(w->u->ctx, "invariant.load", 14),
                        LLVMMetadataAsValue(w->u->ctx, LLVMMDNodeInContext2(w->u->ctx, NULL, 0)));
}

static void load_lanes(const struct body *w, struct item *item)
{
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(item->inst), w->lanes);
    LLVMValueRef all = LLVMBuildLoad2(w->b, type, copied(w, operand(item->inst, 0), 0), "");
    LLVMSetAlignment(all, item->align);
    mark_read_only(w, item, all);
    for (unsigned k = 0; k < w->lanes; k++)
        item->copy[k] = LLVMBuildExtractElement(w->b, all, l_i32(w->u, k), "");
}

static void store_lanes(const struct body *w, const struct item *item)
{
    LLVMValueRef all = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(operand(item->inst, 0)), w->lanes));
    for (unsigned k = 0; k < w->lanes; k++)
        all = LLVMBuildInsertElement(w->b, all, copied(w, operand(item->inst, 0), k),
                                     l_i32(w->u, k), "");
    LLVMSetAlignment(LLVMBuildStore(w->b, all, copied(w, operand(item->inst, 1), 0)), item->align);
}

static void copy_lanes(const struct body *w, struct item *item)
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
        }
    }
}

static LLVMValueRef add_positive(const struct body *w, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef sum = LLVMBuildNUWAdd(w->b, a, b, "");
    LLVMSetNSW(sum, true);
    return sum;
}

static LLVMValueRef first_of_group(const struct body *w, LLVMValueRef group)
{
    LLVMValueRef first = LLVMBuildNUWMul(w->b, group, l_i32(w->u, w->lanes), "");
    LLVMSetNSW(first, true);
    return first;
}

/* The iterations of a group: stores last. */
static void build_group(struct body *w, LLVMValueRef index)
{
    LLVMValueRef first = first_of_group(w, index);
    for (unsigned k = 0; k < w->lanes; k++)
        w->lane[k] = k ? add_positive(w, first, l_i32(w->u, k)) : first;
    for (unsigned i = 0; i < w->n; i++)
        if (w->items[i].varies && !w->items[i].is_store)
            copy_lanes(w, &w->items[i]);
    for (unsigned i = 0; i < w->n; i++)
        if (w->items[i].is_store)
            copy_lanes(w, &w->items[i]);
    LLVMBuildRetVoid(w->b);
}

static LLVMBasicBlockRef append(const struct body *w, const char *name)
{
    return LLVMAppendBasicBlockInContext(w->u->ctx, w->wide, name);
}

/* !0 = distinct !{!0, !{!"llvm.loop.unroll.disable"}}: it runs three times at most */
static void keep_rolled(const struct body *w, LLVMValueRef branch)
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

static LLVMValueRef load_rest(const struct body *w)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(w->u->ctx), i32 = LLVMInt32TypeInContext(w->u->ctx);
    LLVMValueRef at = l_i64(w->u, offsetof(struct __ompgpu_env, rest));
    return LLVMBuildLoad2(
        w->b, i32, LLVMBuildInBoundsGEP2(w->b, i8, LLVMGetParam(w->wide, 0), &at, 1, ""), "");
}

/* for (i = first; i < end; i++): the rest */
static void build_rest(struct body *w, LLVMValueRef first)
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
static void build_uniform(struct body *w)
{
    for (unsigned i = 0; i < w->n; i++)
        if (!w->items[i].varies) {
            w->items[i].copy[0] = clone(w, w->items[i].inst, 0);
            if (w->items[i].is_load)
                mark_read_only(w, &w->items[i], w->items[i].copy[0]);
            if (w->items[i].inst == w->index)
                w->lane[0] = w->items[i].copy[0];
        }
}

static void build(struct body *w)
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

/* ------------------------------------------------------------------ what the host has to check */
static unsigned parameter_of(const struct body *w, LLVMValueRef base)
{
    unsigned i = 0;
    while (LLVMGetParam(w->kernel, i) != base)
        i++;
    return i;
}

static const char *describe_streams(const struct body *w)
{
    struct text t = { 0 };
    text_printf(&t, OMPGPU_LANES_FORMAT, w->lanes);
    for (unsigned i = 0; i < w->n; i++) {
        const struct item *a = &w->items[i];
        if (!is_access(a) || is_in_parameter(a) || !LLVMIsAArgument(a->at.base))
            continue;
        text_printf(&t, OMPGPU_STREAM_FORMAT, parameter_of(w, a->at.base) - 1,
                    (unsigned)a->is_store, a->align ? a->align : 1, a->at.offset, a->bytes,
                    a->at.stride);
    }
    return t.s;
}

static void align_variables(const struct body *w)
{
    for (unsigned i = 0; i < w->n; i++) {
        const struct item *a = &w->items[i];
        if (a->align && LLVMIsAGlobalVariable(a->at.base) &&
            LLVMGetAlignment(a->at.base) < MOST_BYTES)
            LLVMSetAlignment(a->at.base, MOST_BYTES);
    }
}

static void add_form(struct ir_unit *u, unsigned kernel)
{
    struct body w = { .u = u,
                      .layout = LLVMGetModuleDataLayout(u->module),
                      .kernel = ir_kernel_function(u->module, &u->kernels[kernel]) };
    if (!w.kernel || !find_parts(&w) || !read_body(&w))
        return;
    const char *name = mem_printf("%s" OMPGPU_WIDE_SUFFIX, u->kernels[kernel].name);
    w.wide = LLVMAddFunction(u->module, name, LLVMGlobalGetValueType(w.kernel));
    l_copy_attributes(w.wide, w.kernel);
    LLVMSetFunctionCallConv(w.wide, LLVMGetFunctionCallConv(w.kernel));
    build(&w);
    align_variables(&w);
    u->kernels = ir_grow(u->kernels, u->nkernels, sizeof *u->kernels);
    struct ir_kernel *k = &u->kernels[u->nkernels++];
    *k = u->kernels[kernel];
    k->name = name;
    k->flags |= OMPGPU_KERNEL_WIDE;
    k->streams = describe_streams(&w);
}

/* Lines are of functions that clang wrote; a kernel to be debugged has no form without them. */
bool ir_widen(struct ir_unit *u)
{
    unsigned before = u->nkernels;
    for (unsigned i = 0; i < before && !u->opt->debug; i++)
        add_form(u, i);
    return u->nkernels > before;
}
