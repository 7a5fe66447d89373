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
 * cache (ld.global.nc) from what the kernel does not write.  Fields of structs, and the two parts
 * of complex numbers, that fill 16 bytes within a group become one access, too; where there are no
 * other elements, a group is as many iterations as fill 16 bytes, often one.  Loads of an iteration
 * thus come before stores of another one.  That is right if nothing that the kernel writes overlaps
 * with anything else that it accesses.  Only the host can know, as it knows the pointers and the
 * trip count: what the kernel accesses is written down (struct ompgpu_stream in hostrt/image.h),
 * and the host runtime launches the wide form where the ranges are disjoint and aligned
 * (hostrt/core/wide.c). */
#include "codegen/ir/passes/wide.h"
#include "codegen/ir/passes/passes.h"
#include "devicertl/ompgpu_device.h"
#include <string.h>

enum { MOST_GROUP_BYTES = 4 * IR_MOST_BYTES };

/* ------------------------------------------------------------------ is it such a kernel? */
static bool is_opcode(LLVMValueRef v, LLVMOpcode op)
{
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == op;
}

/* team * threads + thread */
static bool is_thread_number(LLVMValueRef v)
{
    if (!is_opcode(v, LLVMAdd) || !is_opcode(ir_operand(v, 0), LLVMMul))
        return false;
    LLVMValueRef product = ir_operand(v, 0);
    return ir_is_call_of(ir_operand(product, 0), "llvm.nvvm.read.ptx.sreg.ctaid.x") &&
           ir_is_call_of(ir_operand(product, 1), "llvm.nvvm.read.ptx.sreg.ntid.x") &&
           ir_is_call_of(ir_operand(v, 1), "llvm.nvvm.read.ptx.sreg.tid.x");
}

static bool is_load_of(const struct ir_body *w, LLVMValueRef v, size_t member)
{
    static const struct ir_index none;
    struct ir_affine at;
    return LLVMIsALoadInst(v) && ir_affine_address(w->layout, ir_operand(v, 0), &none, &at) &&
           at.base == LLVMGetParam(w->kernel, 0) && at.offset == (long long)member;
}

/* The wide form is launched for whole loops. */
static void find_zero(struct ir_body *w)
{
    IR_EACH_INSTRUCTION_OF(i, w->kernel)
        if (is_load_of(w, i, offsetof(struct __ompgpu_env, begin)) ||
            is_load_of(w, i, offsetof(struct __ompgpu_env, first)))
            w->index.zero = i;
}

/* entry: if (index < trip) goto block; return.  block: … return. */
static bool find_parts(struct ir_body *w)
{
    if (LLVMCountBasicBlocks(w->kernel) != 3)
        return false;
    find_zero(w);
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
    w->index.value = ir_operand(w->test, turned);
    w->trip = ir_operand(w->test, !turned);
    return (turned || LLVMGetICmpPredicate(w->test) == LLVMIntULT) &&
           is_thread_number(w->index.value) &&
           is_load_of(w, w->trip, offsetof(struct __ompgpu_env, trip)) &&
           !LLVMGetNextUse(LLVMGetFirstUse(w->trip));
}

struct ir_item *ir_find_item(const struct ir_body *w, LLVMValueRef inst)
{
    for (unsigned i = 0; i < w->n; i++)
        if (w->items[i].inst == inst)
            return &w->items[i];
    return NULL;
}

static bool uses_index(const struct ir_body *w, LLVMValueRef inst)
{
    for (int i = 0; i < LLVMGetNumOperands(inst); i++) {
        LLVMValueRef v = ir_operand(inst, (unsigned)i);
        const struct ir_item *item = ir_find_item(w, v);
        if (v == w->index.value || (item && item->varies))
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
static bool is_access(const struct ir_item *item) { return item->is_load || item->is_store; }

bool ir_is_in_parameter(const struct ir_item *item)
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
static bool is_dense(const struct ir_item *item)
{
    if (!is_access(item) || ir_is_in_parameter(item))
        return false;
    LLVMTypeRef type = LLVMTypeOf(item->is_load ? item->inst : ir_operand(item->inst, 0));
    return item->at.stride == (long long)item->bytes && holds_number(type);
}

static bool is_variable(LLVMValueRef base)
{
    return LLVMIsAGlobalVariable(base) && LLVMGetInitializer(base) &&
           LLVMGetPointerAddressSpace(LLVMTypeOf(base)) == 0;
}

static bool read_access(struct ir_body *w, struct ir_item *item)
{
    item->is_load = LLVMIsALoadInst(item->inst) != NULL;
    item->is_store = LLVMIsAStoreInst(item->inst) != NULL;
    if (!item->is_load && !item->is_store)
        return true;
    LLVMValueRef address = ir_operand(item->inst, item->is_store);
    LLVMTypeRef type = LLVMTypeOf(item->is_load ? item->inst : ir_operand(item->inst, 0));
    item->bytes = (unsigned)LLVMStoreSizeOfType(w->layout, type);
    if (!ir_affine_address(w->layout, address, &w->index, &item->at) ||
        (!LLVMIsAArgument(item->at.base) && !is_variable(item->at.base)))
        return false;
    return item->is_load || (item->at.stride > 0 && !ir_is_in_parameter(item));
}

/* Two fields of the iteration's struct: no other iteration accesses either of them. */
static bool are_fields(const struct ir_item *a, const struct ir_item *b)
{
    const struct ir_item *first = a->at.offset < b->at.offset ? a : b, *last = first == a ? b : a;
    return a->at.stride == b->at.stride &&
           first->at.offset + (long long)first->bytes <= last->at.offset &&
           last->at.offset + (long long)last->bytes <= first->at.offset + a->at.stride;
}

/* Accesses of one pointer that stores go through: all to the element of the iteration, loads
 * first. */
static bool agree(const struct ir_item *a, const struct ir_item *b)
{
    if (a->at.base != b->at.base || (!a->is_store && !b->is_store))
        return true;
    return are_fields(a, b) || (!a->is_store && b->is_store && a->at.offset == b->at.offset &&
                                a->at.stride == b->at.stride && a->bytes == b->bytes);
}

/* Those of which groups are accessed, or which may be fields that fill 16 bytes with others. */
static bool may_be_field(const struct ir_item *item)
{
    return is_access(item) && !ir_is_in_parameter(item) && !is_dense(item) && item->at.stride > 0 &&
           item->bytes >= IR_MOST_BYTES / IR_MOST_LANES &&
           holds_number(LLVMTypeOf(item->is_load ? item->inst : ir_operand(item->inst, 0)));
}

/* As many elements as the largest ones leave room for in an access; without any, as many iterations
 * as fill accesses with fields.  0: there is no such number. */
static unsigned choose_lanes(const struct ir_body *w)
{
    unsigned largest = 0, lanes = 1;
    for (unsigned i = 0; i < w->n; i++)
        if (is_dense(&w->items[i]) && w->items[i].bytes > largest)
            largest = w->items[i].bytes;
    if (largest)
        return largest > IR_MOST_BYTES / IR_MOST_LANES ? IR_MOST_BYTES / largest : IR_MOST_LANES;
    for (unsigned i = 0; i < w->n; i++)
        while (may_be_field(&w->items[i]) && lanes * w->items[i].at.stride % IR_MOST_BYTES)
            if ((lanes *= 2) > IR_MOST_LANES)
                return 0;
    return lanes;
}

static bool is_aligned(const struct ir_item *item, unsigned bytes)
{
    return !is_variable(item->at.base) || LLVMGetAlignment(item->at.base) >= bytes;
}

/* Is the byte at this offset from the first one of a group's structs accessed as `item` is? */
static bool is_accessed(const struct ir_body *w, const struct ir_item *item, long long offset)
{
    for (unsigned i = 0; i < w->n; i++) {
        const struct ir_item *other = &w->items[i];
        if (ir_same_stream(item, other))
            for (unsigned k = 0; k < w->lanes; k++) {
                long long first = other->at.offset + k * other->at.stride;
                if (first <= offset && offset < first + (long long)other->bytes)
                    return true;
            }
    }
    return false;
}

/* Several structs of a group keep so few registers busy that as many threads run as before. */
static bool is_small_group(const struct ir_body *w, const struct ir_item *item)
{
    return w->lanes == 1 || w->lanes * item->at.stride <= MOST_GROUP_BYTES;
}

static long long round_down(long long offset)
{
    return offset - (offset % IR_MOST_BYTES + IR_MOST_BYTES) % IR_MOST_BYTES;
}

/* The 16 bytes that each copy of it lies in are accessed. */
static bool fills(const struct ir_body *w, const struct ir_item *item)
{
    for (unsigned k = 0; k < w->lanes; k++) {
        long long begin = round_down(item->at.offset + k * item->at.stride);
        for (long long byte = begin; byte < begin + IR_MOST_BYTES; byte++)
            if (!is_accessed(w, item, byte))
                return false;
    }
    return true;
}

/* Elements are accessed as a group of which the first may begin one. */
static void choose_groups(struct ir_body *w)
{
    for (unsigned i = 0; i < w->n; i++) {
        struct ir_item *item = &w->items[i];
        unsigned bytes = w->lanes * item->bytes;
        if (is_dense(item) && is_aligned(item, bytes) && item->at.offset % bytes == 0)
            item->align = bytes;
        item->is_field = may_be_field(item) && is_aligned(item, IR_MOST_BYTES) &&
                         w->lanes * item->at.stride % IR_MOST_BYTES == 0 &&
                         is_small_group(w, item) && fills(w, item);
    }
}

/* The first of those fields that are one stream to the host. */
static bool begins_stream(const struct ir_body *w, const struct ir_item *item)
{
    const struct ir_item *first = w->items;
    while (item->is_field && first != item && !(first->is_field && ir_same_stream(first, item)))
        first++;
    return !item->is_field || first == item;
}

/* Most are of groups; all bases are parameters, or all are variables, which are never the same. */
static bool accesses_agree(const struct ir_body *w)
{
    unsigned groups = 0, n = 0, variables = 0, streams = 0;
    for (unsigned i = 0; i < w->n; i++) {
        const struct ir_item *a = &w->items[i];
        if (!is_access(a) || ir_is_in_parameter(a))
            continue;
        for (unsigned k = i + 1; k < w->n; k++)
            if (is_access(&w->items[k]) && !agree(a, &w->items[k]))
                return false;
        n++;
        groups += a->align || a->is_field;
        variables += is_variable(a->at.base);
        streams += begins_stream(w, a);
    }
    return groups * 2 > n && streams <= OMPGPU_STREAMS && (variables == 0 || variables == n);
}

/* Facts about the form that it is made from. */
static bool is_mark(LLVMValueRef inst)
{
    static const char *const marks[] = { "llvm.experimental.noalias.scope.decl", "llvm.assume" };
    for (unsigned i = 0; i < 2; i++)
        if (ir_is_call_of(inst, marks[i]))
            return true;
    return false;
}

/* The registers by which a thread knows its number are read once, before the test. */
static bool add_item(struct ir_body *w, LLVMValueRef inst, bool before_test)
{
    struct ir_item *item = &w->items[w->n];
    *item = (struct ir_item){ .inst = inst, .varies = uses_index(w, inst) };
    w->n++;
    return ((before_test && reads_register(inst)) || is_plain(inst)) && read_access(w, item);
}

static bool read_block(struct ir_body *w, LLVMBasicBlockRef block)
{
    IR_EACH_INSTRUCTION(i, block)
        if (!LLVMIsATerminatorInst(i) && i != w->test && !is_mark(i) &&
            !add_item(w, i, block == w->entry))
            return false;
    return true;
}

static bool read_body(struct ir_body *w)
{
    unsigned room = 0;
    IR_EACH_INSTRUCTION_OF(i, w->kernel)
        room++;
    w->items = mem_array(room, sizeof *w->items);
    if (!read_block(w, w->entry) || !read_block(w, w->block))
        return false;
    w->lanes = choose_lanes(w);
    choose_groups(w);
    return w->lanes && accesses_agree(w);
}

/* ------------------------------------------------------------------ what the host has to check */
static unsigned parameter_of(const struct ir_body *w, LLVMValueRef base)
{
    unsigned i = 0;
    while (LLVMGetParam(w->kernel, i) != base)
        i++;
    return i;
}

/* What the fields of a stream access, from the first of them on, is one access to the host.  It
 * begins where an access of 16 bytes may begin. */
static void describe(const struct ir_body *w, const struct ir_item *a, struct text *t)
{
    long long begin = a->is_field ? round_down(a->at.offset) : a->at.offset,
              end = a->at.offset + a->bytes;
    for (const struct ir_item *b = a; a->is_field && b < w->items + w->n; b++)
        if (b->is_field && ir_same_stream(a, b)) {
            begin = b->at.offset < begin ? round_down(b->at.offset) : begin;
            end = b->at.offset + b->bytes > end ? b->at.offset + b->bytes : end;
        }
    text_printf(t, OMPGPU_STREAM_FORMAT, parameter_of(w, a->at.base) - 1, (unsigned)a->is_store,
                a->is_field ? IR_MOST_BYTES
                : a->align  ? a->align
                            : 1,
                begin, (unsigned)(end - begin), a->at.stride);
}

static const char *describe_streams(const struct ir_body *w)
{
    struct text t = { 0 };
    text_printf(&t, OMPGPU_LANES_FORMAT, w->lanes);
    for (unsigned i = 0; i < w->n; i++) {
        const struct ir_item *a = &w->items[i];
        if (is_access(a) && !ir_is_in_parameter(a) && LLVMIsAArgument(a->at.base) &&
            begins_stream(w, a))
            describe(w, a, &t);
    }
    return t.s;
}

/* So that groups of their elements can be accessed; also by pointers that the host has. */
static void align_variables(const struct ir_unit *u)
{
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(u->module);
    IR_EACH_GLOBAL(g, u->module)
        if (is_variable(g) && LLVMGetAlignment(g) < IR_MOST_BYTES &&
            LLVMABISizeOfType(layout, LLVMGlobalGetValueType(g)) >= IR_MOST_BYTES)
            LLVMSetAlignment(g, IR_MOST_BYTES);
}

static void add_form(struct ir_unit *u, unsigned kernel)
{
    struct ir_body w = { .u = u,
                         .layout = LLVMGetModuleDataLayout(u->module),
                         .kernel = ir_kernel_function(u->module, &u->kernels[kernel]) };
    bool numbered = u->kernels[kernel].flags & OMPGPU_KERNEL_NUMBERED;
    if (!w.kernel || numbered || !find_parts(&w) || !read_body(&w))
        return;
    const char *name = mem_printf("%s" OMPGPU_WIDE_SUFFIX, u->kernels[kernel].name);
    w.wide = LLVMAddFunction(u->module, name, LLVMGlobalGetValueType(w.kernel));
    l_copy_attributes(w.wide, w.kernel);
    LLVMSetFunctionCallConv(w.wide, LLVMGetFunctionCallConv(w.kernel));
    ir_build_wide(&w);
    u->kernels = ir_grow(u->kernels, u->nkernels, sizeof *u->kernels);
    struct ir_kernel *k = &u->kernels[u->nkernels++];
    *k = u->kernels[kernel];
    k->name = name;
    k->flags |= OMPGPU_KERNEL_WIDE;
    k->shape = describe_streams(&w);
}

/* Lines are of functions that clang wrote; a kernel to be debugged has no form without them. */
bool ir_widen(struct ir_unit *u)
{
    unsigned before = u->nkernels;
    align_variables(u);
    for (unsigned i = 0; i < before && !u->opt->debug; i++)
        add_form(u, i);
    return u->nkernels > before;
}
