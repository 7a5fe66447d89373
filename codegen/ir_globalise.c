/* ir_globalise.c - locals of sequential code that a parallel region can reach move to team-shared storage.
 *
 * In a generic kernel the main thread runs the code around parallel regions; what it hands to a region by address must be
 * visible to the other threads, which its own stack is not (on the GPU it never is).  A local matters when
 *   - its function can run as sequential code of a generic kernel: it is reached from such a kernel without passing through a function
 *     that only __ompgpu_parallel calls (inside of those, nested regions run on the same thread),
 *   - its function can reach __ompgpu_parallel (otherwise the local is dead before the next region starts), and
 *   - its address escapes: anything but loads, stores to it and calls that provably do not keep it.
 *
 * Where it goes:
 *   a kernel's region function runs once a team    -> a slot: an internal team-shared variable, as long as the kernel's budget lasts
 *   any other function, or a large local           -> __ompgpu_alloc_shared where the alloca was, freed before each return
 *   run-time sizes (VLAs, alloca)                  -> the same, on a chain of allocations that llvm.stackrestore and returns unwind
 */
#include "codegen/ir_tool.h"
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT_BUDGET = 1024, ALLOC_ALIGN = 16, CHAIN_HEADER = 16, MAX_DEPTH = 12 };

struct vector { LLVMValueRef *at; unsigned n, room; };

struct globaliser {
    struct ir_unit *u;
    struct ir_graph *graph;
    bool *sequential;                 /* by node: can run as sequential code of a generic kernel */
    LLVMBuilderRef b;
    LLVMTypeRef ptr, i64;
    LLVMValueRef alloc, free;         /* __ompgpu_alloc_shared, __ompgpu_free_shared */
    LLVMValueRef chain_alloc, chain_release;    /* built when first needed */
};
struct frame {                        /* one function while it is rewritten */
    LLVMValueRef function, chain;     /* chain: alloca of the pointer to the newest chained allocation */
    struct vector pointers, sizes;    /* to be freed before returns, in order of allocation */
    unsigned budget;                  /* bytes left for slots; 0: no slots */
};

static void push(struct vector *v, LLVMValueRef value)
{
    if (v->n == v->room) {
        v->room = v->room ? 2 * v->room : 8;
        v->at = realloc(v->at, v->room * sizeof *v->at);
        if (!v->at)
            ir_bug("out of memory");
    }
    v->at[v->n++] = value;
}

static bool contains(const struct vector *v, LLVMValueRef value)
{
    for (unsigned i = 0; i < v->n; i++)
        if (v->at[i] == value)
            return true;
    return false;
}

/* ------------------------------------------------------------------ which functions */
static bool is_parallel(LLVMValueRef f) { return f && LLVMIsAFunction(f) && strcmp(ir_name(f), "__ompgpu_parallel") == 0; }

/* Called by sequential code that all threads run (ir_spmd.c), in place of __ompgpu_parallel. */
static bool is_called_by_all(LLVMValueRef call, LLVMValueRef f)
{
    LLVMValueRef caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    return LLVMGetCalledValue(call) == f && LLVMGetOperand(call, 0) != f &&
           LLVMGetStringAttributeAtIndex(caller, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, IR_ALL_THREADS, (unsigned)strlen(IR_ALL_THREADS));
}

/* A function that is only ever passed to __ompgpu_parallel as the region to run. */
static bool is_outlined(const struct ir_node *node)
{
    if (!LLVMIsAFunction(node->value) || !node->address_taken)
        return false;
    IR_EACH_USE(use, node->value) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsACallInst(user) && is_called_by_all(user, node->value))
            continue;
        if (!LLVMIsACallInst(user) || !is_parallel(LLVMGetCalledValue(user)) || LLVMGetOperand(user, 0) != node->value ||
            LLVMGetOperand(user, 1) == node->value)
            return false;
    }
    return true;
}

static void mark_kernel(struct globaliser *g, const struct ir_kernel *k, const bool *reaches_parallel)
{
    int *from = ir_alloc(g->graph->n, sizeof *from), root = ir_graph_find(g->graph, ir_kernel_function(g->u->module, k));
    ir_graph_reach(g->graph, (unsigned)root, from, is_outlined);
    for (unsigned i = 0; i < g->graph->n; i++) {
        struct ir_node *node = &g->graph->nodes[i];
        if ((int)i != root && from[i] >= 0 && node->defined && LLVMIsAFunction(node->value) && !is_outlined(node))
            g->sequential[i] |= reaches_parallel[i];
    }
    free(from);
}

static void mark_sequential(struct globaliser *g, LLVMValueRef parallel)
{
    bool *reaches_parallel = ir_alloc(g->graph->n, sizeof *reaches_parallel);
    reaches_parallel[ir_graph_find(g->graph, parallel)] = true;
    ir_graph_reaching(g->graph, reaches_parallel);
    for (unsigned i = 0; i < g->u->nkernels; i++)
        if (g->u->kernels[i].mode == IR_GENERIC)
            mark_kernel(g, &g->u->kernels[i], reaches_parallel);
    free(reaches_parallel);
}

/* The kernel whose region function `f` is: called once, by a generic kernel, which calls it once a team. */
static bool is_region_function(struct globaliser *g, LLVMValueRef f)
{
    LLVMUseRef use = LLVMGetFirstUse(f);
    if (!use || LLVMGetNextUse(use))
        return false;
    LLVMValueRef call = LLVMGetUser(use);
    if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != f)
        return false;
    LLVMValueRef caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    for (unsigned i = 0; i < g->u->nkernels; i++)
        if (ir_kernel_function(g->u->module, &g->u->kernels[i]) == caller)
            return !LLVMGetFirstUse(caller);
    return false;
}

/* ------------------------------------------------------------------ escape analysis */
static bool escapes(LLVMValueRef pointer, struct vector *seen, unsigned depth);

/* Functions without a body here that do not keep the pointers they are given. */
static bool is_harmless(const char *name)
{
    static const char *const prefixes[] = { "llvm.lifetime.", "llvm.dbg.", "llvm.mem", "llvm.objectsize.", "llvm.va_", "llvm.prefetch",
                                            "llvm.invariant.", "__ompgpu_" };
    static const char *const names[] = { "printf", "vprintf", "memcpy", "memmove", "memset", "memcmp", "strlen", "strcmp", "free" };
    if (strcmp(name, "__ompgpu_parallel") == 0)
        return false;
    for (unsigned i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (ir_starts(name, prefixes[i]))
            return true;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return ir_is_math_name(name);
}

static bool argument_escapes(LLVMValueRef call, unsigned i, struct vector *seen, unsigned depth)
{
    static unsigned byval;
    if (!byval)
        byval = ir_attribute_kind("byval");
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMGetCallSiteEnumAttribute(call, i + 1, byval))
        return false;                 /* the callee gets a copy */
    if (!LLVMIsAFunction(callee))
        return true;
    if (LLVMIsDeclaration(callee))
        return !is_harmless(ir_name(callee));
    if (i >= LLVMCountParams(callee) || depth >= MAX_DEPTH)
        return true;
    return escapes(LLVMGetParam(callee, i), seen, depth + 1);
}

static bool call_escapes(LLVMValueRef call, LLVMValueRef pointer, struct vector *seen, unsigned depth)
{
    unsigned n = LLVMGetNumArgOperands(call);
    if ((unsigned)LLVMGetNumOperands(call) != n + 1)
        return true;                  /* operand bundles */
    if (LLVMGetCalledValue(call) == pointer)
        return true;
    for (unsigned i = 0; i < n; i++)
        if (LLVMGetOperand(call, i) == pointer && argument_escapes(call, i, seen, depth))
            return true;
    return false;
}

static bool use_escapes(LLVMValueRef user, LLVMValueRef pointer, struct vector *seen, unsigned depth)
{
    if (!LLVMIsAInstruction(user))
        return true;
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad: case LLVMICmp:
        return false;
    case LLVMStore:
        return LLVMGetOperand(user, 0) == pointer;
    case LLVMAtomicRMW:
        return LLVMGetOperand(user, 1) == pointer;
    case LLVMAtomicCmpXchg:
        return LLVMGetOperand(user, 1) == pointer || LLVMGetOperand(user, 2) == pointer;
    case LLVMGetElementPtr: case LLVMBitCast: case LLVMAddrSpaceCast: case LLVMPHI: case LLVMSelect:
        return escapes(user, seen, depth);
    case LLVMCall:
        return call_escapes(user, pointer, seen, depth);
    default:
        return true;
    }
}

/* `seen` also ends cycles: through phis, and through recursive functions. */
static bool escapes(LLVMValueRef pointer, struct vector *seen, unsigned depth)
{
    if (contains(seen, pointer))
        return false;
    push(seen, pointer);
    IR_EACH_USE(use, pointer)
        if (use_escapes(LLVMGetUser(use), pointer, seen, depth))
            return true;
    return false;
}

bool ir_pointer_escapes(LLVMValueRef pointer)
{
    struct vector seen = { 0 };
    bool result = escapes(pointer, &seen, 0);
    free(seen.at);
    return result;
}

/* ------------------------------------------------------------------ slots */
LLVMValueRef ir_make_slot(struct ir_unit *u, LLVMValueRef f, const char *name, LLVMTypeRef type, unsigned align)
{
    bool nvptx = u->opt->target == IR_NVPTX;
    const char *full = ir_format("__ompgpu_slot_%s_%s", ir_name(f), *name ? name : "local");
    LLVMValueRef slot = LLVMAddGlobalInAddressSpace(u->module, type, full, nvptx ? 3 : 0);
    LLVMSetLinkage(slot, LLVMInternalLinkage);
    LLVMSetAlignment(slot, align);
    LLVMSetInitializer(slot, nvptx ? LLVMGetPoison(type) : LLVMConstNull(type));
    if (nvptx)
        return LLVMConstAddrSpaceCast(slot, LLVMPointerTypeInContext(u->ctx, 0));
    LLVMSetThreadLocal(slot, true);   /* the emulated device runs a team on one OS thread */
    return slot;
}

/* A slot, or NULL when `size` does not fit into what is left. */
static LLVMValueRef take_slot(struct globaliser *g, struct frame *frame, const char *name, LLVMTypeRef type, unsigned align)
{
    uint64_t size = LLVMABISizeOfType(g->u->layout, type);
    if (!size || size > frame->budget)
        return NULL;
    frame->budget -= (unsigned)size;
    return ir_make_slot(g->u, frame->function, name, type, align);
}

/* ------------------------------------------------------------------ allocation */
static LLVMValueRef call(struct globaliser *g, LLVMValueRef f, LLVMValueRef *args, unsigned n)
{
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, args, n, "");
}

static LLVMValueRef constant(struct globaliser *g, uint64_t value) { return LLVMConstInt(g->i64, value, false); }

static LLVMValueRef align_pointer(struct globaliser *g, LLVMValueRef base, LLVMValueRef align)
{
    LLVMValueRef n = LLVMBuildPtrToInt(g->b, base, g->i64, "");
    LLVMValueRef up = LLVMBuildAnd(g->b, LLVMBuildSub(g->b, constant(g, 0), n, ""), LLVMBuildSub(g->b, align, constant(g, 1), ""), "");
    return LLVMBuildGEP2(g->b, LLVMInt8TypeInContext(g->u->ctx), base, &up, 1, "");
}

/* The builder stands where the memory is needed. */
static LLVMValueRef allocate(struct globaliser *g, struct frame *frame, uint64_t size, unsigned align)
{
    LLVMValueRef bytes = constant(g, align > ALLOC_ALIGN ? size + align : size);
    LLVMValueRef base = call(g, g->alloc, &bytes, 1);
    push(&frame->pointers, base);
    push(&frame->sizes, bytes);
    return align > ALLOC_ALIGN ? align_pointer(g, base, constant(g, align)) : base;
}

static LLVMValueRef declare(struct globaliser *g, const char *name, LLVMTypeRef result, LLVMTypeRef *params, unsigned n)
{
    LLVMValueRef f = LLVMGetNamedFunction(g->u->module, name);
    return f ? f : LLVMAddFunction(g->u->module, name, LLVMFunctionType(result, params, n, false));
}

static LLVMValueRef helper(struct globaliser *g, const char *name, LLVMTypeRef result, LLVMTypeRef *params, unsigned n)
{
    LLVMValueRef f = declare(g, name, result, params, n);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, ir_attribute(g->u->ctx, "nounwind"));
    return f;
}

static LLVMValueRef header_size(struct globaliser *g, LLVMValueRef base)
{
    LLVMValueRef offset = constant(g, 8);
    return LLVMBuildGEP2(g->b, LLVMInt8TypeInContext(g->u->ctx), base, &offset, 1, "");
}

/* void *chain_alloc(void **chain, size_t size, size_t align):  header { void *previous; size_t bytes; } | aligned storage */
static void build_chain_alloc(struct globaliser *g)
{
    LLVMTypeRef params[] = { g->ptr, g->i64, g->i64 };
    LLVMValueRef f = g->chain_alloc = helper(g, "__ompgpu_chain_alloc", g->ptr, params, 3);
    LLVMPositionBuilderAtEnd(g->b, LLVMAppendBasicBlockInContext(g->u->ctx, f, "entry"));
    LLVMValueRef chain = LLVMGetParam(f, 0), align = LLVMGetParam(f, 2), header = constant(g, CHAIN_HEADER);
    LLVMValueRef bytes = LLVMBuildAdd(g->b, LLVMBuildAdd(g->b, LLVMGetParam(f, 1), align, ""), header, "");
    LLVMValueRef base = call(g, g->alloc, &bytes, 1);
    LLVMBuildStore(g->b, LLVMBuildLoad2(g->b, g->ptr, chain, ""), base);
    LLVMBuildStore(g->b, bytes, header_size(g, base));
    LLVMBuildStore(g->b, base, chain);
    LLVMValueRef storage = LLVMBuildGEP2(g->b, LLVMInt8TypeInContext(g->u->ctx), base, &header, 1, "");
    LLVMBuildRet(g->b, align_pointer(g, storage, align));
}

/* void chain_release(void **chain, void *until):  while (*chain != until) free the newest */
static void build_chain_release(struct globaliser *g)
{
    LLVMTypeRef params[] = { g->ptr, g->ptr };
    LLVMContextRef ctx = g->u->ctx;
    LLVMValueRef f = g->chain_release = helper(g, "__ompgpu_chain_release", LLVMVoidTypeInContext(ctx), params, 2);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(ctx, f, "entry"), body = LLVMAppendBasicBlockInContext(ctx, f, "body"),
                      done = LLVMAppendBasicBlockInContext(ctx, f, "done");
    LLVMValueRef chain = LLVMGetParam(f, 0), until = LLVMGetParam(f, 1);
    LLVMPositionBuilderAtEnd(g->b, entry);
    LLVMValueRef first = LLVMBuildLoad2(g->b, g->ptr, chain, "");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, first, until, ""), done, body);
    LLVMPositionBuilderAtEnd(g->b, body);
    LLVMValueRef base = LLVMBuildPhi(g->b, g->ptr, "");
    LLVMValueRef previous = LLVMBuildLoad2(g->b, g->ptr, base, ""), size = LLVMBuildLoad2(g->b, g->i64, header_size(g, base), "");
    LLVMBuildStore(g->b, previous, chain);
    LLVMValueRef args[] = { base, size };
    call(g, g->free, args, 2);
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, previous, until, ""), done, body);
    LLVMAddIncoming(base, (LLVMValueRef[]){ first, previous }, (LLVMBasicBlockRef[]){ entry, body }, 2);
    LLVMPositionBuilderAtEnd(g->b, done);
    LLVMBuildRetVoid(g->b);
}

/* ------------------------------------------------------------------ rewriting */
void ir_drop_lifetime_marks(LLVMValueRef pointer)
{
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsACallInst(user) && LLVMIsAFunction(LLVMGetCalledValue(user)) &&
            ir_starts(ir_name(LLVMGetCalledValue(user)), "llvm.lifetime."))
            LLVMInstructionEraseFromParent(user);
    }
}

static void replace(LLVMValueRef alloca, LLVMValueRef by)
{
    LLVMReplaceAllUsesWith(alloca, by);
    LLVMInstructionEraseFromParent(alloca);
}

static void move_static(struct globaliser *g, struct frame *frame, LLVMValueRef alloca)
{
    uint64_t count = LLVMConstIntGetZExtValue(LLVMGetOperand(alloca, 0));
    LLVMTypeRef type = LLVMGetAllocatedType(alloca);
    unsigned align = LLVMGetAlignment(alloca);
    if (count != 1)
        type = LLVMArrayType2(type, count);
    ir_drop_lifetime_marks(alloca);
    LLVMValueRef slot = take_slot(g, frame, ir_name(alloca), type, align);
    if (!slot) {
        LLVMPositionBuilderBefore(g->b, alloca);
        slot = allocate(g, frame, LLVMABISizeOfType(g->u->layout, type), align);
    }
    replace(alloca, slot);
}

static void move_dynamic(struct globaliser *g, struct frame *frame, LLVMValueRef alloca)
{
    LLVMPositionBuilderBefore(g->b, alloca);
    LLVMValueRef count = LLVMBuildZExtOrBitCast(g->b, LLVMGetOperand(alloca, 0), g->i64, "");
    LLVMValueRef unit = constant(g, LLVMABISizeOfType(g->u->layout, LLVMGetAllocatedType(alloca)));
    unsigned align = LLVMGetAlignment(alloca);
    LLVMValueRef args[] = { frame->chain, LLVMBuildMul(g->b, count, unit, ""), constant(g, align < ALLOC_ALIGN ? ALLOC_ALIGN : align) };
    ir_drop_lifetime_marks(alloca);
    replace(alloca, call(g, g->chain_alloc, args, 3));
}

static LLVMValueRef first_instruction(LLVMValueRef f) { return LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)); }

static void start_chain(struct globaliser *g, struct frame *frame)
{
    if (!g->chain_alloc) {
        build_chain_alloc(g);
        build_chain_release(g);
    }
    LLVMPositionBuilderBefore(g->b, first_instruction(frame->function));
    frame->chain = LLVMBuildAlloca(g->b, g->ptr, "__ompgpu_chain");
    LLVMBuildStore(g->b, LLVMConstNull(g->ptr), frame->chain);
}

/* All dynamic allocas of a function move together, so that save and restore only concern the chain. */
static void move_stack_marks(struct globaliser *g, struct frame *frame)
{
    IR_EACH_BLOCK(block, frame->function)
        IR_EACH_INSTRUCTION(i, block) {
            LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
            const char *name = callee && LLVMIsAFunction(callee) ? ir_name(callee) : "";
            LLVMPositionBuilderBefore(g->b, i);
            if (ir_starts(name, "llvm.stacksave")) {
                replace(i, LLVMBuildLoad2(g->b, g->ptr, frame->chain, ""));
            } else if (ir_starts(name, "llvm.stackrestore")) {
                LLVMValueRef args[] = { frame->chain, LLVMGetOperand(i, 0) };
                call(g, g->chain_release, args, 2);
                LLVMInstructionEraseFromParent(i);
            }
        }
}

/* A parameter passed by value in memory is the callee's own object. */
static void move_byval(struct globaliser *g, struct frame *frame, LLVMValueRef param, LLVMTypeRef type)
{
    unsigned align = LLVMABIAlignmentOfType(g->u->layout, type);
    LLVMPositionBuilderBefore(g->b, first_instruction(frame->function));
    LLVMValueRef slot = take_slot(g, frame, ir_name(param), type, align);
    if (!slot)
        slot = allocate(g, frame, LLVMABISizeOfType(g->u->layout, type), align);
    LLVMReplaceAllUsesWith(param, slot);
    LLVMBuildMemCpy(g->b, slot, align, param, align, constant(g, LLVMABISizeOfType(g->u->layout, type)));
}

static void free_before_return(struct globaliser *g, const struct frame *frame, LLVMValueRef ret)
{
    LLVMPositionBuilderBefore(g->b, ret);
    if (frame->chain) {
        LLVMValueRef args[] = { frame->chain, LLVMConstNull(g->ptr) };
        call(g, g->chain_release, args, 2);
    }
    for (unsigned i = frame->pointers.n; i-- > 0;) {
        LLVMValueRef args[] = { frame->pointers.at[i], frame->sizes.at[i] };
        call(g, g->free, args, 2);
    }
}

static bool is_static(LLVMValueRef alloca)
{
    return LLVMIsAConstantInt(LLVMGetOperand(alloca, 0)) &&
           LLVMGetInstructionParent(alloca) == LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(LLVMGetInstructionParent(alloca)));
}

static void move_byvals(struct globaliser *g, struct frame *frame)
{
    unsigned byval = ir_attribute_kind("byval"), n = LLVMCountParams(frame->function);
    for (unsigned i = 0; i < n; i++) {
        LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(frame->function, i + 1, byval);
        if (attribute && ir_pointer_escapes(LLVMGetParam(frame->function, i)))
            move_byval(g, frame, LLVMGetParam(frame->function, i), LLVMGetTypeAttributeValue(attribute));
    }
}

static void move_allocas(struct globaliser *g, struct frame *frame)
{
    struct vector statics = { 0 }, dynamics = { 0 };
    bool dynamic_escapes = false;
    IR_EACH_BLOCK(block, frame->function)
        IR_EACH_INSTRUCTION(i, block) {
            if (!LLVMIsAAllocaInst(i))
                continue;
            bool escaping = ir_pointer_escapes(i);
            if (!is_static(i)) {
                push(&dynamics, i);
                dynamic_escapes |= escaping;
            } else if (escaping) {
                push(&statics, i);
            }
        }
    for (unsigned i = 0; i < statics.n; i++)
        move_static(g, frame, statics.at[i]);
    if (dynamic_escapes) {
        start_chain(g, frame);
        for (unsigned i = 0; i < dynamics.n; i++)
            move_dynamic(g, frame, dynamics.at[i]);
        move_stack_marks(g, frame);
    }
    free(statics.at);
    free(dynamics.at);
}

static void rewrite(struct globaliser *g, LLVMValueRef f)
{
    struct frame frame = { .function = f, .budget = is_region_function(g, f) ? SLOT_BUDGET : 0 };
    move_byvals(g, &frame);
    move_allocas(g, &frame);
    if (!frame.chain && !frame.pointers.n)
        return;
    IR_EACH_BLOCK(block, f) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
        if (last && LLVMIsAReturnInst(last))
            free_before_return(g, &frame, last);
    }
    free(frame.pointers.at);
    free(frame.sizes.at);
}

static bool any_generic(const struct ir_unit *u)
{
    for (unsigned i = 0; i < u->nkernels; i++)
        if (u->kernels[i].mode == IR_GENERIC)
            return true;
    return false;
}

/* Pointers that only pass through stack slots of parameters would all seem to escape. */
static void clean_up(struct ir_unit *u)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failed = LLVMRunPasses(u->module, "function(sroa,early-cse)", NULL, options);
    if (failed)
        ir_bug("%s", LLVMGetErrorMessage(failed));
    LLVMDisposePassBuilderOptions(options);
}

bool ir_globalise(struct ir_unit *u)
{
    LLVMValueRef parallel = LLVMGetNamedFunction(u->module, "__ompgpu_parallel");
    u->uses_parallel = parallel && LLVMGetFirstUse(parallel);
    if (!u->uses_parallel || !any_generic(u))
        return true;
    if (u->opt->level != '0')
        clean_up(u);
    struct globaliser g = { .u = u, .b = LLVMCreateBuilderInContext(u->ctx), .ptr = LLVMPointerTypeInContext(u->ctx, 0),
                            .i64 = LLVMInt64TypeInContext(u->ctx) };
    g.alloc = declare(&g, "__ompgpu_alloc_shared", g.ptr, &g.i64, 1);
    g.free = declare(&g, "__ompgpu_free_shared", LLVMVoidTypeInContext(u->ctx), (LLVMTypeRef[]){ g.ptr, g.i64 }, 2);
    g.graph = ir_graph_build(u->module);
    g.sequential = ir_alloc(g.graph->n, sizeof *g.sequential);
    mark_sequential(&g, parallel);
    for (unsigned i = 0; i < g.graph->n; i++)
        if (g.sequential[i])
            rewrite(&g, g.graph->nodes[i].value);
    free(g.sequential);
    ir_graph_free(g.graph);
    LLVMDisposeBuilder(g.b);
    return true;
}
