/* globalise.c - locals of sequential code that a parallel region can reach move to team-shared
 * storage.
 *
 * In a generic kernel the main thread runs the code around parallel regions; what it hands to a
 * region by address must be visible to the other threads, which its own stack is not (on the GPU it
 * never is).  A local matters when
 *   - its function can run as sequential code of a generic kernel: it is reached from such a kernel
 * without passing through a function that only __ompgpu_parallel calls (inside of those, nested
 * regions run on the same thread),
 *   - its function can reach __ompgpu_parallel (otherwise the local is dead before the next region
 * starts), and
 *   - its address escapes: anything but loads, stores to it and calls that provably do not keep it.
 *
 * Where it goes:
 *   a function that is never active twice in one team    -> a slot: an internal team-shared variable, as long as there is budget; then a
 *                                                          fixed place in the team's storage in
 * global memory (devicertl/storage.c)
 *   a recursive one, run-time sizes (VLAs, alloca)       -> a block of that storage, given back before each return, and by llvm.stackrestore
 *
 * A function that also runs inside of parallel regions asks at its start for the level: there its
 * locals stay on the thread's stack.
 */
#include "codegen/ir/tool.h"
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

enum { SLOT_BUDGET = 1024, HEAP_ALIGN = 16, MAX_DEPTH = 12 };

struct vector {
    LLVMValueRef *at;
    unsigned n, room;
};

struct globaliser {
    struct ir_unit *u;
    struct ir_graph *graph;
    bool *sequential, *inside; /* by node, as of ir_find_contexts */
    LLVMBuilderRef b;
    LLVMTypeRef ptr, i64, i32, i1;
    unsigned shared_budget; /* bytes of slots left for functions other than region functions */
    uint64_t fixed;         /* end of the fixed places given to such functions */
    bool *uses_fixed, *uses_blocks; /* by node */
};
struct frame {                /* one function while it is rewritten */
    struct ir_kernel *kernel; /* for remarks: one that runs it; NULL: none */
    LLVMValueRef function,
        here;          /* here: i1, false where the function runs inside of a parallel region */
    bool mixed;        /* … which is not known */
    LLVMValueRef body; /* a mark behind the allocas: what is added to the start goes before it */
    LLVMValueRef mark; /* top of the storage at the start; NULL: no blocks */
    bool once;         /* never active twice: slots and fixed places are right */
    unsigned *budget;  /* bytes left for slots */
    uint64_t *fixed;   /* end of the fixed places */
    bool uses_fixed;
};

static void push(struct vector *v, LLVMValueRef value)
{
    if (v->n == v->room)
        v->at = arena_grow(NULL, v->at, &v->room, sizeof *v->at);
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
/* The generic kernel whose region function `f` is: called once, by the kernel, which calls it once
 * a team. */
static struct ir_kernel *kernel_of_region(struct globaliser *g, LLVMValueRef f)
{
    LLVMUseRef use = LLVMGetFirstUse(f);
    if (!use || LLVMGetNextUse(use))
        return NULL;
    LLVMValueRef call = LLVMGetUser(use);
    if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != f)
        return NULL;
    LLVMValueRef caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    for (unsigned i = 0; i < g->u->nkernels; i++)
        if (ir_kernel_function(g->u->module, &g->u->kernels[i]) == caller)
            return LLVMGetFirstUse(caller) ? NULL : &g->u->kernels[i];
    return NULL;
}

static bool mentions(const struct ir_node *node, unsigned other)
{
    for (unsigned i = 0; i < node->nedges; i++)
        if (node->edges[i] == other)
            return true;
    return false;
}

/* Can the function be called, in sequential code, while it is active? */
static bool is_recursive(const struct globaliser *g, unsigned f)
{
    int *from = mem_array(g->graph->n, sizeof *from);
    bool cycle = false;
    ir_graph_reach(g->graph, f, from, ir_is_outlined);
    for (unsigned i = 0; i < g->graph->n && !cycle; i++) {
        const struct ir_node *node = &g->graph->nodes[i];
        if (from[i] >= 0 && (i == f || !ir_is_outlined(node)))
            cycle = mentions(node, f) || (node->indirect && g->graph->nodes[f].address_taken);
    }
    return cycle;
}

/* ------------------------------------------------------------------ escape analysis */
static bool escapes(LLVMValueRef pointer, struct vector *seen, unsigned depth);

/* Functions without a body here that do not keep the pointers they are given. */
static bool is_harmless(const char *name)
{
    static const char *const prefixes[] = { "llvm.lifetime.",   "llvm.dbg.", "llvm.mem",
                                            "llvm.objectsize.", "llvm.va_",  "llvm.prefetch",
                                            "llvm.invariant.",  "__ompgpu_" };
    static const char *const names[] = { "printf", "vprintf", "memcpy", "memmove", "memset",
                                         "memcmp", "strlen",  "strcmp", "free" };
    if (strcmp(name, "__ompgpu_parallel") == 0)
        return false;
    for (unsigned i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (text_starts(name, prefixes[i]))
            return true;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return ir_is_math_name(name);
}

/* __attribute__((noescape)) of a parameter. */
static bool is_noescape(LLVMAttributeRef captures)
{
    return captures && LLVMGetEnumAttributeValue(captures) == 0;
}

static bool argument_escapes(LLVMValueRef call, unsigned i, struct vector *seen, unsigned depth)
{
    static unsigned byval, captures;
    if (!byval)
        byval = ir_attribute_kind("byval"), captures = ir_attribute_kind("captures");
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMGetCallSiteEnumAttribute(call, i + 1, byval) ||
        is_noescape(LLVMGetCallSiteEnumAttribute(call, i + 1, captures)))
        return false; /* the callee gets a copy, or keeps nothing */
    if (!LLVMIsAFunction(callee))
        return true;
    if (i < LLVMCountParams(callee) &&
        is_noescape(LLVMGetEnumAttributeAtIndex(callee, i + 1, captures)))
        return false;
    if (LLVMIsDeclaration(callee))
        return !is_harmless(ir_name(callee));
    if (i >= LLVMCountParams(callee) || depth >= MAX_DEPTH)
        return true;
    return escapes(LLVMGetParam(callee, i), seen, depth + 1);
}

static bool call_escapes(LLVMValueRef call, LLVMValueRef pointer, struct vector *seen,
                         unsigned depth)
{
    unsigned n = LLVMGetNumArgOperands(call);
    if ((unsigned)LLVMGetNumOperands(call) != n + 1)
        return true; /* operand bundles */
    if (LLVMGetCalledValue(call) == pointer)
        return true;
    for (unsigned i = 0; i < n; i++)
        if (LLVMGetOperand(call, i) == pointer && argument_escapes(call, i, seen, depth))
            return true;
    return false;
}

/* The arguments of a printf, as clang lays them out for vprintf, which reads them and keeps
 * nothing. */
bool ir_is_print_buffer(LLVMValueRef pointer)
{
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use),
                     callee = LLVMIsACallInst(user) ? LLVMGetCalledValue(user) : NULL;
        bool harmless =
            callee ? LLVMIsAFunction(callee) && (strcmp(ir_name(callee), "vprintf") == 0 ||
                                                 text_starts(ir_name(callee), "llvm.lifetime."))
            : LLVMIsAStoreInst(user) ? LLVMGetOperand(user, 0) != pointer
                                     : LLVMIsAGetElementPtrInst(user) && ir_is_print_buffer(user);
        if (!harmless)
            return false;
    }
    return true;
}

static bool into_print_buffer(LLVMValueRef store)
{
    LLVMValueRef into = LLVMGetOperand(store, 1);
    while (LLVMIsAGetElementPtrInst(into))
        into = LLVMGetOperand(into, 0);
    return LLVMIsAAllocaInst(into) && ir_is_print_buffer(into);
}

static bool use_escapes(LLVMValueRef user, LLVMValueRef pointer, struct vector *seen,
                        unsigned depth)
{
    if (!LLVMIsAInstruction(user))
        return true;
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
    case LLVMICmp: return false;
    case LLVMStore: return LLVMGetOperand(user, 0) == pointer && !into_print_buffer(user);
    case LLVMAtomicRMW: return LLVMGetOperand(user, 1) == pointer;
    case LLVMAtomicCmpXchg:
        return LLVMGetOperand(user, 1) == pointer || LLVMGetOperand(user, 2) == pointer;
    case LLVMGetElementPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMPHI:
    case LLVMSelect: return escapes(user, seen, depth);
    case LLVMCall: return call_escapes(user, pointer, seen, depth);
    default: return true;
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

bool ir_call_keeps(LLVMValueRef call, LLVMValueRef pointer)
{
    struct vector seen = { 0 };
    bool result = call_escapes(call, pointer, &seen, 0);
    return result;
}

bool ir_pointer_escapes(LLVMValueRef pointer)
{
    struct vector seen = { 0 };
    bool result = escapes(pointer, &seen, 0);
    return result;
}

/* ------------------------------------------------------------------ slots */
LLVMValueRef ir_make_slot(struct ir_unit *u, LLVMValueRef f, const char *name, LLVMTypeRef type,
                          unsigned align)
{
    bool nvptx = u->opt->target == IR_NVPTX;
    const char *full = mem_printf("__ompgpu_slot_%s_%s", ir_name(f), *name ? name : "local");
    LLVMValueRef slot = LLVMAddGlobalInAddressSpace(u->module, type, full, nvptx ? 3 : 0);
    LLVMSetLinkage(slot, LLVMInternalLinkage);
    LLVMSetAlignment(slot, align);
    LLVMSetInitializer(slot, nvptx ? LLVMGetPoison(type) : LLVMConstNull(type));
    if (nvptx)
        return LLVMConstAddrSpaceCast(slot, LLVMPointerTypeInContext(u->ctx, 0));
    LLVMSetThreadLocal(slot, true); /* the emulated device runs a team on one OS thread */
    return slot;
}

/* ---------------------------------------------------------- the team's storage in global memory */
static LLVMValueRef build_runtime_call(struct ir_unit *u, LLVMBuilderRef b, const char *name,
                                       LLVMTypeRef result, LLVMValueRef *args, unsigned n)
{
    LLVMTypeRef params[5];
    for (unsigned i = 0; i < n; i++)
        params[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(result, params, n, false);
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    LLVMValueRef call =
        LLVMBuildCall2(b, type, f ? f : LLVMAddFunction(u->module, name, type), args, n, "");
    for (unsigned i = 0; i < n; i++)
        if (params[i] == LLVMInt1TypeInContext(u->ctx)) /* as clang passes a _Bool */
            LLVMAddCallSiteAttribute(call, i + 1, ir_attribute(u->ctx, "zeroext"));
    return call;
}

static uint64_t take_fixed(uint64_t *end, uint64_t size, unsigned align)
{
    uint64_t a = align < HEAP_ALIGN ? HEAP_ALIGN : align, at = (*end + a - 1) / a * a;
    *end = at + size;
    return at;
}

static LLVMValueRef build_place(struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef here, uint64_t at)
{
    LLVMValueRef args[] = { here, LLVMConstInt(LLVMInt64TypeInContext(u->ctx), at, false) };
    return build_runtime_call(u, b, "__ompgpu_heap_slot", LLVMPointerTypeInContext(u->ctx, 0), args,
                              2);
}

LLVMValueRef ir_make_heap_slot(struct ir_unit *u, struct ir_kernel *k, LLVMBuilderRef b,
                               uint64_t size, unsigned align)
{
    return build_place(u, b, LLVMConstInt(LLVMInt1TypeInContext(u->ctx), 1, false),
                       take_fixed(&k->heap_bytes, size, align));
}

static LLVMValueRef constant(const struct globaliser *g, uint64_t value)
{
    return LLVMConstInt(g->i64, value, false);
}

/* A string for a message of the device, as generic pointer. */
static LLVMValueRef message(struct globaliser *g, const char *text)
{
    LLVMValueRef string = LLVMConstStringInContext2(g->u->ctx, text, strlen(text), false);
    LLVMValueRef v =
        LLVMAddGlobalInAddressSpace(g->u->module, LLVMTypeOf(string), "__ompgpu_message",
                                    g->u->opt->target == IR_NVPTX ? 1 : 0);
    LLVMSetInitializer(v, string);
    LLVMSetGlobalConstant(v, true);
    LLVMSetLinkage(v, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(v, LLVMGlobalUnnamedAddr);
    return g->u->opt->target == IR_NVPTX ? LLVMConstAddrSpaceCast(v, g->ptr) : v;
}

/* The builder stands where the memory is needed. */
static LLVMValueRef allocate_block(struct globaliser *g, struct frame *frame, LLVMValueRef variable,
                                   LLVMValueRef size, unsigned align)
{
    const char *name = ir_name(variable);
    if (text_starts(name, "vla") || !*name)
        name = NULL;
    const char *text = mem_printf("no room for %s%s%s of sequential code, shared with parallel "
                                  "regions: set OMPGPU_TEAM_HEAP to more bytes a team",
                                  name ? "the variable '" : "an array of run-time size",
                                  name ? name : "", name ? "'" : "");
    unsigned line = LLVMIsAInstruction(variable) ? LLVMGetDebugLocLine(variable) : 0;
    LLVMValueRef args[] = { frame->here, size, constant(g, align < HEAP_ALIGN ? HEAP_ALIGN : align),
                            message(g, text), LLVMConstInt(g->i32, line, false) };
    return build_runtime_call(g->u, g->b, "__ompgpu_heap_alloc", g->ptr, args, 5);
}

/* ------------------------------------------------------------------ rewriting */
void ir_drop_lifetime_marks(LLVMValueRef pointer)
{
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsACallInst(user) && LLVMIsAFunction(LLVMGetCalledValue(user)) &&
            text_starts(ir_name(LLVMGetCalledValue(user)), "llvm.lifetime."))
            LLVMInstructionEraseFromParent(user);
    }
}

static bool is_static(LLVMValueRef alloca)
{
    return LLVMIsAConstantInt(LLVMGetOperand(alloca, 0)) &&
           LLVMGetInstructionParent(alloca) ==
               LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(LLVMGetInstructionParent(alloca)));
}

/* frame->body is made.  Allocas of constant size come first, so that no call that is inlined later
 * divides the entry block above one of them: LLVM takes an alloca elsewhere for one of run-time
 * size. */
static void find_body(struct globaliser *g, struct frame *frame)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(frame->function);
    LLVMPositionBuilderBefore(g->b, LLVMGetFirstInstruction(entry));
    frame->body =
        build_runtime_call(g->u, g->b, "llvm.donothing", LLVMVoidTypeInContext(g->u->ctx), NULL, 0);
    IR_EACH_INSTRUCTION(i, entry) {
        if (!LLVMIsAAllocaInst(i) || !is_static(i))
            continue;
        char *name = mem_strdup(ir_name(i));
        LLVMInstructionRemoveFromParent(i);
        LLVMPositionBuilderBefore(g->b, frame->body);
        LLVMInsertIntoBuilderWithName(g->b, i, name);
    }
}

static void ask_level(struct globaliser *g, struct frame *frame)
{
    if (frame->here)
        return;
    frame->here = LLVMConstInt(g->i1, 1, false);
    if (!frame->mixed)
        return;
    LLVMPositionBuilderBefore(g->b, frame->body);
    LLVMValueRef level = build_runtime_call(g->u, g->b, "__ompgpu_level", g->i32, NULL, 0);
    frame->here = LLVMBuildICmp(g->b, LLVMIntEQ, level, LLVMConstInt(g->i32, 0, false), "");
}

static void need_blocks(struct globaliser *g, struct frame *frame)
{
    ask_level(g, frame);
    if (frame->mark)
        return;
    LLVMPositionBuilderBefore(g->b, frame->body);
    frame->mark = build_runtime_call(g->u, g->b, "__ompgpu_heap_mark", g->ptr, &frame->here, 1);
}

static void position_after(struct globaliser *g, LLVMValueRef instruction)
{
    LLVMPositionBuilderBefore(g->b, LLVMGetNextInstruction(instruction));
}

/* All uses of `local` go to `shared`; in a function that also runs inside of regions only where it
 * does not.  The builder stands behind both. */
static LLVMValueRef use_shared(struct globaliser *g, const struct frame *frame, LLVMValueRef local,
                               LLVMValueRef shared)
{
    if (!frame->mixed) {
        LLVMReplaceAllUsesWith(local, shared);
        return shared;
    }
    LLVMValueRef choice = LLVMBuildSelect(g->b, frame->here, shared, LLVMGetPoison(g->ptr), "");
    LLVMReplaceAllUsesWith(local, choice);
    LLVMSetOperand(choice, 2, local);
    return choice;
}

/* ------------------------------------------------------------------ remarks */
/* The call that makes it escape, where it is one and no region. */
static LLVMValueRef keeping_call(LLVMValueRef pointer)
{
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsACallInst(user) &&
            strcmp(ir_name(LLVMGetCalledValue(user)), "__ompgpu_parallel") != 0 &&
            ir_call_keeps(user, pointer))
            return user;
        LLVMValueRef call = LLVMIsAGetElementPtrInst(user) ? keeping_call(user) : NULL;
        if (call)
            return call;
    }
    return NULL;
}

void ir_note_captured(const struct ir_unit *u, struct ir_kernel *k, LLVMValueRef variable)
{
    LLVMValueRef call = keeping_call(variable);
    if (!k || !k->input->remarks || !call)
        return;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    struct ir_variable v = ir_variable_of(u, k, variable);
    struct ir_place at = ir_place_of(k, call);
    const char *who = LLVMIsAFunction(callee) ? mem_printf("the call of '%s'", ir_name(callee))
                                              : "the call through a function pointer";
    ir_note(k, v.at, "OMP113",
            "%s cannot be private to a thread: %s%s may keep its address; if it does not, declare "
            "the parameter __attribute__((noescape))",
            v.text, who, at.file ? mem_printf(" in line %u", at.line) : "");
}

void ir_note_shared(const struct ir_unit *u, struct ir_kernel *k, LLVMValueRef variable,
                    uint64_t bytes, bool in_heap, unsigned room)
{
    if (!k || !k->input->remarks)
        return;
    struct ir_variable v = ir_variable_of(u, k, variable);
    const char *size = bytes ? mem_printf("%llu bytes of ", (unsigned long long)bytes) : "";
    const char *remedy =
        !room   ? "its function may call itself, and so has no fixed place"
        : bytes ? mem_printf(
                      "it would have to fit in the %u bytes of team-shared storage that locals get",
                      room)
                : mem_printf("a constant size, of at most %u bytes together with other locals, "
                             "would make it team-shared",
                             room);
    if (v.ours)
        return;
    if (!in_heap)
        ir_note(k, v.at, "OMP111",
                "%s is in %steam-shared storage, since other threads can reach it", v.text, size);
    else
        ir_note(k, v.at, "OMP112", "%s is in %sglobal memory, since other threads can reach it; %s",
                v.text, size, remedy);
    ir_note_captured(u, k, variable);
}

/* ------------------------------------------------------------------ places */
/* Where an object of fixed size lives. */
static LLVMValueRef give_place(struct globaliser *g, struct frame *frame, LLVMValueRef variable,
                               LLVMTypeRef type, unsigned align)
{
    uint64_t size = LLVMABISizeOfType(g->u->layout, type);
    bool fits = frame->once && size && size <= *frame->budget;
    ir_note_shared(g->u, frame->kernel, variable, size, !fits, frame->once ? SLOT_BUDGET : 0);
    ask_level(g, frame);
    if (!frame->once) {
        need_blocks(g, frame);
        LLVMPositionBuilderBefore(g->b, frame->body);
        return allocate_block(g, frame, variable, constant(g, size), align);
    }
    if (fits) {
        *frame->budget -= (unsigned)size;
        return ir_make_slot(g->u, frame->function, ir_name(variable), type, align);
    }
    frame->uses_fixed = true;
    LLVMPositionBuilderBefore(g->b, frame->body);
    return build_place(g->u, g->b, frame->here, take_fixed(frame->fixed, size, align));
}

static void move_static(struct globaliser *g, struct frame *frame, LLVMValueRef alloca)
{
    uint64_t count = LLVMConstIntGetZExtValue(LLVMGetOperand(alloca, 0));
    LLVMTypeRef type = LLVMGetAllocatedType(alloca);
    LLVMValueRef shared =
        give_place(g, frame, alloca, count == 1 ? type : LLVMArrayType2(type, count),
                   LLVMGetAlignment(alloca));
    ir_drop_lifetime_marks(alloca);
    LLVMPositionBuilderBefore(g->b, frame->body);
    use_shared(g, frame, alloca, shared);
    if (!frame->mixed)
        LLVMInstructionEraseFromParent(alloca);
}

/* Where the storage is the team's, the stack gives none. */
static void move_dynamic(struct globaliser *g, struct frame *frame, LLVMValueRef alloca)
{
    ir_note_shared(g->u, frame->kernel, alloca, 0, true,
                   frame->budget ? SLOT_BUDGET : IR_LATE_SLOTS);
    LLVMValueRef n = LLVMGetOperand(alloca, 0),
                 unit = constant(g, LLVMABISizeOfType(g->u->layout, LLVMGetAllocatedType(alloca)));
    ir_drop_lifetime_marks(alloca);
    need_blocks(g, frame);
    LLVMPositionBuilderBefore(g->b, alloca);
    LLVMValueRef bytes = LLVMBuildMul(g->b, LLVMBuildZExtOrBitCast(g->b, n, g->i64, ""), unit, "");
    LLVMValueRef shared = allocate_block(g, frame, alloca, bytes, LLVMGetAlignment(alloca));
    if (frame->mixed)
        LLVMSetOperand(alloca, 0,
                       LLVMBuildSelect(g->b, frame->here, LLVMConstNull(LLVMTypeOf(n)), n, ""));
    position_after(g, alloca);
    use_shared(g, frame, alloca, shared);
    if (!frame->mixed)
        LLVMInstructionEraseFromParent(alloca);
}

static void move_save(struct globaliser *g, struct frame *frame, LLVMValueRef save)
{
    position_after(g, save);
    use_shared(g, frame, save,
               build_runtime_call(g->u, g->b, "__ompgpu_heap_mark", g->ptr, &frame->here, 1));
    if (!frame->mixed)
        LLVMInstructionEraseFromParent(save);
}

/* On a thread's own stack the old mark holds; with the team's storage the stack is left as it is.
 */
static void move_restore(struct globaliser *g, struct frame *frame, LLVMValueRef restore)
{
    LLVMValueRef mark = LLVMGetOperand(restore, 0), args[] = { frame->here, mark };
    LLVMPositionBuilderBefore(g->b, restore);
    build_runtime_call(g->u, g->b, "__ompgpu_heap_release", LLVMVoidTypeInContext(g->u->ctx), args,
                       2);
    if (!frame->mixed) {
        LLVMInstructionEraseFromParent(restore);
        return;
    }
    LLVMValueRef now = build_runtime_call(g->u, g->b, "llvm.stacksave.p0", g->ptr, NULL, 0);
    LLVMSetOperand(restore, 0, LLVMBuildSelect(g->b, frame->here, now, mark, ""));
}

/* All dynamic allocas of a function move together, so that save and restore mean only one kind of
 * storage. */
static void move_stack_marks(struct globaliser *g, struct frame *frame)
{
    struct vector saves = { 0 }, restores = { 0 };
    IR_EACH_INSTRUCTION_OF(i, frame->function) {
        LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
        const char *name = callee && LLVMIsAFunction(callee) ? ir_name(callee) : "";
        if (text_starts(name, "llvm.stacksave"))
            push(&saves, i);
        else if (text_starts(name, "llvm.stackrestore"))
            push(&restores, i);
    }
    for (unsigned i = 0; i < saves.n; i++)
        move_save(g, frame, saves.at[i]);
    for (unsigned i = 0; i < restores.n; i++)
        move_restore(g, frame, restores.at[i]);
}

/* A parameter passed by value in memory is the callee's own object.  The user may have asked for
 * more alignment than the type has. */
static void move_byval(struct globaliser *g, struct frame *frame, LLVMValueRef param,
                       LLVMTypeRef type, LLVMAttributeRef aligned)
{
    unsigned align = aligned ? (unsigned)LLVMGetEnumAttributeValue(aligned)
                             : LLVMABIAlignmentOfType(g->u->layout, type);
    LLVMValueRef shared = give_place(g, frame, param, type, align);
    LLVMPositionBuilderBefore(g->b, frame->body);
    /* the param itself, where it is not shared: then copied to itself */
    LLVMValueRef object = use_shared(g, frame, param, shared);
    LLVMBuildMemCpy(g->b, object, align, param, align,
                    constant(g, LLVMABISizeOfType(g->u->layout, type)));
}

static void release_before_return(struct globaliser *g, const struct frame *frame, LLVMValueRef ret)
{
    LLVMValueRef args[] = { frame->here, frame->mark };
    LLVMPositionBuilderBefore(g->b, ret);
    build_runtime_call(g->u, g->b, "__ompgpu_heap_release", LLVMVoidTypeInContext(g->u->ctx), args,
                       2);
}

static void move_byvals(struct globaliser *g, struct frame *frame)
{
    unsigned byval = ir_attribute_kind("byval"), n = LLVMCountParams(frame->function);
    for (unsigned i = 0; i < n; i++) {
        LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(frame->function, i + 1, byval);
        if (attribute && ir_pointer_escapes(LLVMGetParam(frame->function, i)))
            move_byval(
                g, frame, LLVMGetParam(frame->function, i), LLVMGetTypeAttributeValue(attribute),
                LLVMGetEnumAttributeAtIndex(frame->function, i + 1, ir_attribute_kind("align")));
    }
}

static bool find_dynamics(LLVMValueRef f, struct vector *dynamics)
{
    bool escaping = false;
    IR_EACH_INSTRUCTION_OF(i, f)
        if (LLVMIsAAllocaInst(i) && !is_static(i)) {
            push(dynamics, i);
            escaping = escaping || ir_pointer_escapes(i);
        }
    return escaping;
}

static void move_dynamics(struct globaliser *g, struct frame *frame)
{
    struct vector dynamics = { 0 };
    if (find_dynamics(frame->function, &dynamics)) {
        for (unsigned i = 0; i < dynamics.n; i++)
            move_dynamic(g, frame, dynamics.at[i]);
        move_stack_marks(g, frame);
    }
}

static void move_statics(struct globaliser *g, struct frame *frame)
{
    struct vector statics = { 0 };
    IR_EACH_INSTRUCTION_OF(i, frame->function)
        if (LLVMIsAAllocaInst(i) && is_static(i) && ir_pointer_escapes(i))
            push(&statics, i);
    for (unsigned i = 0; i < statics.n; i++)
        move_static(g, frame, statics.at[i]);
}

static void finish(struct globaliser *g, const struct frame *frame)
{
    LLVMInstructionEraseFromParent(frame->body);
    IR_EACH_BLOCK(block, frame->function) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
        if (frame->mark && last && LLVMIsAReturnInst(last))
            release_before_return(g, frame, last);
    }
}

static void rewrite(struct globaliser *g, struct frame *frame)
{
    find_body(g, frame);
    move_byvals(g, frame);
    move_statics(g, frame);
    move_dynamics(g, frame);
    finish(g, frame);
}

static void rewrite_region(struct globaliser *g, struct ir_kernel *k, LLVMValueRef f)
{
    unsigned budget = SLOT_BUDGET;
    struct frame frame = {
        .kernel = k, .function = f, .once = true, .budget = &budget, .fixed = &k->heap_bytes
    };
    rewrite(g, &frame);
    if (frame.mark)
        k->flags |= IR_KERNEL_HEAP;
}

/* Of a function that several may call. */
static struct ir_kernel *kernel_for_remarks(const struct ir_unit *u)
{
    for (unsigned i = 0; i < u->nkernels; i++)
        if (u->kernels[i].mode == IR_GENERIC && (u->kernels[i].flags & IR_KERNEL_WORKERS) &&
            u->kernels[i].input->remarks)
            return &u->kernels[i];
    return NULL;
}

static void rewrite_function(struct globaliser *g, unsigned node)
{
    struct frame frame = { .kernel = kernel_for_remarks(g->u),
                           .function = g->graph->nodes[node].value,
                           .mixed = g->inside[node],
                           .once = !is_recursive(g, node),
                           .budget = &g->shared_budget,
                           .fixed = &g->fixed };
    rewrite(g, &frame);
    g->uses_fixed[node] = frame.uses_fixed;
    g->uses_blocks[node] = frame.mark != NULL;
}

/* Functions that several kernels may call have one place in the storage of each, behind the places
 * of all region functions. */
static void rewrite_functions(struct globaliser *g)
{
    bool *is_region = mem_array(g->graph->n, sizeof *is_region);
    for (unsigned i = 0; i < g->graph->n; i++) {
        struct ir_kernel *k =
            g->sequential[i] ? kernel_of_region(g, g->graph->nodes[i].value) : NULL;
        is_region[i] = k != NULL;
        if (k)
            rewrite_region(g, k, g->graph->nodes[i].value);
    }
    for (unsigned i = 0; i < g->u->nkernels; i++)
        if (g->u->kernels[i].heap_bytes > g->fixed)
            g->fixed = g->u->kernels[i].heap_bytes;
    for (unsigned i = 0; i < g->graph->n; i++)
        if (g->sequential[i] && !is_region[i])
            rewrite_function(g, i);
}

static void note_needs(struct globaliser *g, struct ir_kernel *k)
{
    int *from = mem_array(g->graph->n, sizeof *from);
    ir_graph_reach(g->graph, (unsigned)ir_graph_find(g->graph, ir_kernel_function(g->u->module, k)),
                   from, NULL);
    for (unsigned i = 0; i < g->graph->n; i++) {
        if (from[i] < 0)
            continue;
        if (g->uses_fixed[i])
            k->heap_bytes = g->fixed;
        if (g->uses_blocks[i])
            k->flags |= IR_KERNEL_HEAP;
    }
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
        diag_bug("%s", LLVMGetErrorMessage(failed));
    LLVMDisposePassBuilderOptions(options);
}

/* Sequential functions from which no region starts need nothing: their locals are dead before the
 * next one does. */
static void find_functions(struct globaliser *g, LLVMValueRef parallel)
{
    bool *reaches_parallel = mem_array(g->graph->n, sizeof *reaches_parallel);
    reaches_parallel[ir_graph_find(g->graph, parallel)] = true;
    ir_graph_reaching(g->graph, reaches_parallel);
    ir_find_contexts(g->u, g->graph, g->sequential, g->inside);
    for (unsigned i = 0; i < g->graph->n; i++)
        g->sequential[i] &= reaches_parallel[i];
}

static struct globaliser start(struct ir_unit *u)
{
    LLVMContextRef ctx = u->ctx;
    return (struct globaliser){ .u = u,
                                .b = LLVMCreateBuilderInContext(ctx),
                                .ptr = LLVMPointerTypeInContext(ctx, 0),
                                .i64 = LLVMInt64TypeInContext(ctx),
                                .i32 = LLVMInt32TypeInContext(ctx),
                                .i1 = LLVMInt1TypeInContext(ctx),
                                .shared_budget = SLOT_BUDGET };
}

void ir_share_arrays(struct ir_unit *u, struct ir_kernel *k, LLVMValueRef f)
{
    struct globaliser g = start(u);
    struct frame frame = { .kernel = k, .function = f, .once = true };
    find_body(&g, &frame);
    move_dynamics(&g, &frame);
    finish(&g, &frame);
    if (frame.mark)
        k->flags |= IR_KERNEL_HEAP;
    LLVMDisposeBuilder(g.b);
}

bool ir_globalise(struct ir_unit *u)
{
    LLVMValueRef parallel = LLVMGetNamedFunction(u->module, "__ompgpu_parallel");
    u->uses_parallel = parallel && LLVMGetFirstUse(parallel);
    if (!u->uses_parallel || !any_generic(u))
        return true;
    if (u->opt->level != '0')
        clean_up(u);
    struct globaliser g = start(u);
    g.graph = ir_graph_build(u->module);
    bool **sets[] = { &g.sequential, &g.inside, &g.uses_fixed, &g.uses_blocks };
    for (unsigned i = 0; i < 4; i++)
        *sets[i] = mem_array(g.graph->n, sizeof **sets[i]);
    find_functions(&g, parallel);
    rewrite_functions(&g);
    for (unsigned i = 0; i < u->nkernels; i++)
        note_needs(&g, &u->kernels[i]);
    LLVMDisposeBuilder(g.b);
    return true;
}
