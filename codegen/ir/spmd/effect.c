/* effect.c - what happens to each instruction of sequential code when all threads of a team run it.
 *
 * The code is uniform: threads start with the same arguments and compute the same values, so that
 * they take the same branches.  What would break this (a clock, a volatile or atomic load, malloc)
 * is executed by thread 0, and its result broadcast. */
#include "codegen/ir/spmd/spmd.h"
#include <string.h>

/* ------------------------------------------------------------- functions that are known by name */
enum known_kind {
    K_EVERY, /* the same answer for each thread, no memory */
    K_READ,  /* every thread: reads what its arguments point to */
    K_FOLD,
    K_SIZE,
    K_SET,
    K_DROP,
    K_PRINT, /* thread 0: reads memory, keeps no argument */
    K_GUARD, /* thread 0: reads and writes anything */
    K_ASK,   /* the same, and it asks how many threads there are */
    K_LOCAL, /* thread 0: reads and writes what its arguments point to, keeps no argument */
    K_FRESH, /* thread 0: no memory that others have yet */
    K_DIE,   /* thread 0: does not return */
};
static const struct known {
    const char *name;
    enum known_kind kind;
    unsigned value;
} known[] = {
    { "__ompgpu_thread_id", K_FOLD, 0 },
    { "__ompgpu_num_threads", K_FOLD, 1 },
    { "omp_get_thread_num", K_FOLD, 0 },
    { "omp_get_num_threads", K_FOLD, 1 },
    { "omp_in_parallel", K_FOLD, 0 },
    { "omp_get_level", K_FOLD, 0 },
    { "omp_get_active_level", K_FOLD, 0 },
    { "__ompgpu_reduce_parallel", K_FOLD, 1 },
    { "__ompgpu_reduce_piece", K_FOLD, 1 },
    { "omp_get_max_threads", K_SIZE, 0 },
    { "omp_set_num_threads", K_SET, 0 },
    { "__ompgpu_barrier", K_DROP, 0 },
    { "__ompgpu_assume", K_DROP, 0 },
    { "__ompgpu_team_id", K_EVERY, 0 },
    { "__ompgpu_num_teams", K_EVERY, 0 },
    { "omp_get_team_num", K_EVERY, 0 },
    { "omp_get_num_teams", K_EVERY, 0 },
    { "omp_get_thread_limit", K_EVERY, 0 },
    { "omp_get_num_procs", K_EVERY, 0 },
    { "omp_get_max_teams", K_EVERY, 0 },
    { "omp_get_teams_thread_limit", K_EVERY, 0 },
    { "omp_is_initial_device", K_EVERY, 0 },
    { "omp_get_device_num", K_EVERY, 0 },
    { "omp_get_default_device", K_EVERY, 0 },
    { "omp_get_num_devices", K_EVERY, 0 },
    { "omp_get_initial_device", K_EVERY, 0 },
    { "omp_get_wtick", K_EVERY, 0 },
    { "omp_get_dynamic", K_EVERY, 0 },
    { "omp_get_max_active_levels", K_EVERY, 0 },
    { "omp_get_supported_active_levels", K_EVERY, 0 },
    { "omp_get_cancellation", K_EVERY, 0 },
    { "omp_get_nested", K_EVERY, 0 },
    { "omp_get_proc_bind", K_EVERY, 0 },
    { "omp_set_dynamic", K_DROP, 0 },
    { "omp_set_nested", K_DROP, 0 },
    { "omp_set_schedule", K_DROP, 0 },
    { "omp_get_schedule", K_LOCAL, 0 }, /* the device's are fixed: devicertl/omp_api.c */
    { "strlen", K_READ, 0 },
    { "strcmp", K_READ, 0 },
    { "memcmp", K_READ, 0 },
    { "printf", K_PRINT, 0 },
    { "vprintf", K_PRINT, 0 },
    { "puts", K_PRINT, 0 },
    { "putchar", K_PRINT, 0 },
    { "omp_get_wtime", K_PRINT, 0 },
    { "__ompgpu_critical_begin", K_GUARD, 0 },
    { "__ompgpu_critical_end", K_GUARD, 0 },
    { "__ompgpu_flush", K_GUARD, 0 },
    { "omp_init_lock", K_GUARD, 0 },
    { "omp_destroy_lock", K_GUARD, 0 },
    { "omp_set_lock", K_GUARD, 0 },
    { "omp_unset_lock", K_GUARD, 0 },
    { "omp_test_lock", K_GUARD, 0 },
    { "memcpy", K_GUARD, 0 },
    { "memmove", K_GUARD, 0 },
    { "memset", K_GUARD, 0 },
    { "free", K_GUARD, 0 },
    { "malloc", K_FRESH, 0 },
    { "calloc", K_FRESH, 0 },
    { "__ompgpu_reduce_teams", K_LOCAL, 0 },
    { "__ompgpu_teams_put", K_LOCAL, 0 },
    { "__ompgpu_teams_get", K_LOCAL, 0 },
    { "__ompgpu_teams_last", K_GUARD, 0 },
    { "__ompgpu_copy_slice", K_FRESH, 0 },
    { "__ompgpu_hidden", K_EVERY, 0 },
    { "__ompgpu_level", K_FOLD, 0 },
    { "__ompgpu_copy_alloc", K_FRESH, 0 },
    { "__ompgpu_copy_free", K_FRESH, 0 },
    { "__ompgpu_copy_distance", K_EVERY, 0 },
    { "__ompgpu_fold_rows", K_ASK, 0 },
    { "__ompgpu_column", K_LOCAL, 0 },
    { "__ompgpu_deferred", K_EVERY, 0 },
    { "__ompgpu_deferred_begin", K_LOCAL, 0 },
    { "__ompgpu_deferred_add", K_LOCAL, 0 },
    { "__ompgpu_deferred_end", K_LOCAL, 0 },
    { "__ompgpu_deferred_last", K_GUARD, 0 },
    { "__ompgpu_deferred_get", K_LOCAL, 0 },
    { "__ompgpu_deferred_get_array", K_LOCAL, 0 },
    { "__ompgpu_dispatch_init", K_ASK, 0 },
    { "__ompgpu_dispatch_next", K_ASK, 0 },
    { "omp_get_ancestor_thread_num", K_ASK, 0 },
    { "omp_get_team_size", K_ASK, 0 },
    { "omp_alloc", K_FRESH, 0 },
    { "omp_aligned_alloc", K_FRESH, 0 },
    { "omp_calloc", K_FRESH, 0 },
    { "omp_aligned_calloc", K_FRESH, 0 },
    { "omp_free", K_GUARD, 0 },
    { "__ompgpu_heap_mark", K_FRESH, 0 },
    { "__ompgpu_heap_alloc", K_FRESH, 0 },
    { "__ompgpu_heap_release", K_FRESH, 0 },
    { "__assert_fail", K_DIE, 0 },
    { "__assert", K_DIE, 0 },
    { "__ompgpu_fail", K_DIE, 0 },
    { "abort", K_DIE, 0 },
    { "llvm.trap", K_DIE, 0 },
    { "llvm.ubsantrap", K_DIE, 0 },
};

static const struct known *find_known(const char *name)
{
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    return NULL;
}

const char *spmd_callee(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) ? ir_name(callee) : "";
}

static bool is_declared(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) && LLVMIsDeclaration(callee);
}

static const struct known *known_call(LLVMValueRef call)
{
    return is_declared(call) ? find_known(spmd_callee(call)) : NULL;
}

/* ------------------------------------------------------------------ functions with a body */
static bool has(LLVMValueRef f, const char *attribute)
{
    return LLVMGetEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                       ir_attribute_kind(attribute)) != NULL;
}

/* The `memory` attribute: two bits a location, 1 reads, 2 writes. */
static uint64_t memory_effects(LLVMValueRef f)
{
    LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(
        f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, ir_attribute_kind("memory"));
    return a ? LLVMGetEnumAttributeValue(a) : ~(uint64_t)0;
}
#define WRITES 0xaaaaaaaaaaaaaaaaull

/* What stands in the way of thread 0 calling a function alone.  *asks: it asks about threads, and
 * must find that there is one. */
static const char *obstacle_in_node(const struct ir_node *node, bool *asks)
{
    const char *name = ir_name(node->value);
    if (!LLVMIsAFunction(node->value))
        return NULL;
    if (node->indirect)
        return "calls through a function pointer";
    if (node->defined || text_starts(name, "llvm.") || ir_is_math_name(name))
        return NULL;
    if (strcmp(name, "__ompgpu_parallel") == 0)
        return "contains a parallel region";
    const struct known *k = find_known(name);
    *asks |= k && (k->kind == K_FOLD || k->kind == K_DROP || k->kind == K_ASK);
    return !k || k->kind == K_SIZE || k->kind == K_SET ? mem_printf("calls '%s'", name) : NULL;
}

static const char *obstacle_in(struct ir_unit *u, LLVMValueRef f, bool *asks)
{
    struct ir_graph *g = ir_graph_build(u->module);
    int *from = mem_array(g->n, sizeof *from);
    const char *why = NULL;
    ir_graph_reach(g, (unsigned)ir_graph_find(g, f), from, NULL);
    for (unsigned i = 0; i < g->n && !why; i++)
        if (from[i] >= 0)
            why = obstacle_in_node(&g->nodes[i], asks);
    return why;
}

bool spmd_needs_promise(struct ir_unit *u, LLVMValueRef f)
{
    bool asks;
    return obstacle_in(u, f, &asks) != NULL;
}

/* Can one be met? */
static bool meets_region(const struct spmd_region *r, LLVMValueRef f)
{
    LLVMValueRef parallel = LLVMGetNamedFunction(r->u->module, "__ompgpu_parallel");
    struct ir_graph *g = ir_graph_build(r->u->module);
    int *from = mem_array(g->n, sizeof *from);
    ir_graph_reach(g, (unsigned)ir_graph_find(g, f), from, NULL);
    bool meets = from[ir_graph_find(g, parallel)] >= 0;
    return meets;
}

/* ------------------------------------------------------------------ effects */
#define EVERY ((struct spmd_effect){ .action = SPMD_EVERY })
static struct spmd_effect reading(spmd_mask mask)
{
    return (struct spmd_effect){ .action = SPMD_EVERY, .reads = mask };
}
static struct spmd_effect guarded(spmd_mask reads, spmd_mask writes)
{
    return (struct spmd_effect){ .action = SPMD_GUARD, .reads = reads, .writes = writes };
}
static struct spmd_effect refused(const char *why, const char *remedy)
{
    return (struct spmd_effect){ .action = SPMD_REFUSE, .why = why, .remedy = remedy };
}
static const char own_function[] = "put it into a function of its own with "
                                   "__attribute__((noinline)), which one thread can call alone";
/* … because what is called may hold a parallel region, or cannot be seen. */
static struct spmd_effect refused_unknown(const char *why, const char *remedy)
{
    struct spmd_effect e = refused(why, remedy);
    e.id = "OMP133";
    return e;
}

static spmd_mask arguments_mask(const struct spmd_region *r, LLVMValueRef call)
{
    spmd_mask mask = 0;
    for (unsigned i = 0, n = LLVMGetNumArgOperands(call); i < n; i++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, i))) == LLVMPointerTypeKind)
            mask |= spmd_pointer_mask(r, LLVMGetOperand(call, i));
    return mask;
}

static struct spmd_effect known_effect(const struct spmd_region *r, LLVMValueRef call,
                                       const struct known *k)
{
    spmd_mask arguments = arguments_mask(r, call);
    struct spmd_effect die = guarded(SPMD_ALL, SPMD_ALL);
    die.noreturn = true;
    struct spmd_effect ask = guarded(SPMD_ALL, SPMD_ALL);
    ask.asks = true;
    switch (k->kind) {
    case K_EVERY: return EVERY;
    case K_READ: return reading(arguments);
    case K_FOLD: return (struct spmd_effect){ .action = SPMD_FOLD, .value = k->value };
    case K_SIZE: return (struct spmd_effect){ .action = SPMD_SIZE };
    case K_SET: return (struct spmd_effect){ .action = SPMD_SET };
    case K_DROP: return (struct spmd_effect){ .action = SPMD_DROP };
    case K_PRINT: return guarded(SPMD_OTHER | arguments, 0);
    case K_ASK: return ask;
    case K_LOCAL: return guarded(SPMD_OTHER | arguments, SPMD_OTHER | arguments);
    case K_FRESH: return guarded(0, 0);
    case K_DIE: return die;
    default: return guarded(SPMD_ALL, SPMD_ALL);
    }
}

static struct spmd_effect region_effect(LLVMValueRef call)
{
    LLVMValueRef fn = LLVMGetOperand(call, 0);
    if (!LLVMIsAFunction(fn) || LLVMIsDeclaration(fn)) {
        struct spmd_effect e = refused("a parallel region that is not known here", NULL);
        e.id = "OMP101";
        return e;
    }
    return (struct spmd_effect){ .action = SPMD_REGION, .reads = SPMD_ALL, .writes = SPMD_ALL };
}

static bool has_pointer_argument(LLVMValueRef call)
{
    for (unsigned i = 0, n = LLVMGetNumArgOperands(call); i < n; i++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, i))) == LLVMPointerTypeKind)
            return true;
    return false;
}

static bool is_own(const struct spmd_region *r, LLVMValueRef pointer)
{
    const struct spmd_object *o = spmd_object_of(r, pointer);
    return o && o->place == SPMD_OWN;
}

static struct spmd_effect intrinsic_effect(const struct spmd_region *r, LLVMValueRef call,
                                           const char *name)
{
    static const char *const nothing[] = { "llvm.lifetime.",    "llvm.dbg.",
                                           "llvm.assume",       "llvm.experimental.noalias",
                                           "llvm.donothing",    "llvm.stacksave",
                                           "llvm.stackrestore", "llvm.prefetch",
                                           "llvm.sideeffect" };
    for (unsigned i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (text_starts(name, nothing[i]))
            return EVERY;
    if (text_starts(name, "llvm.memset.") || text_starts(name, "llvm.memcpy.") ||
        text_starts(name, "llvm.memmove.")) {
        spmd_mask into = spmd_pointer_mask(r, LLVMGetOperand(call, 0));
        spmd_mask from =
            text_starts(name, "llvm.memset.") ? 0 : spmd_pointer_mask(r, LLVMGetOperand(call, 1));
        bool own = is_own(r, LLVMGetOperand(call, 0)) ||
                   (!text_starts(name, "llvm.memset.") && is_own(r, LLVMGetOperand(call, 1)));
        return into || own ? guarded(from, into) : reading(from);
    }
    bool speculatable = has(LLVMGetCalledValue(call), "speculatable");
    if (memory_effects(LLVMGetCalledValue(call)) == 0 && speculatable &&
        !text_starts(name, "llvm.nvvm.read.") && !text_starts(name, "llvm.threadlocal"))
        return EVERY;
    return refused(mem_printf("the operation '%s'", name), own_function);
}

/* What the user says of the call, or why it cannot be made in an SPMD kernel. */
static struct spmd_effect promised_or(unsigned promises, struct spmd_effect otherwise)
{
    if (promises & IR_AMENABLE)
        return (struct spmd_effect){ .action = SPMD_CALL, .reads = SPMD_ALL, .writes = SPMD_ALL };
    if (!(promises & IR_NO_PARALLEL))
        return otherwise;
    struct spmd_effect alone = guarded(SPMD_ALL, SPMD_ALL);
    alone.asks = !(promises & IR_NO_ROUTINES);
    return alone;
}

static struct spmd_effect function_effect(const struct spmd_region *r, LLVMValueRef call,
                                          const char *name, unsigned promises)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    uint64_t memory = memory_effects(f);
    if (memory == 0)
        return EVERY;
    if (!(memory & WRITES))
        return reading(SPMD_ALL);
    struct spmd_effect alone = guarded(SPMD_ALL, SPMD_ALL);
    const char *why = obstacle_in(r->u, f, &alone.asks);
    if (!why && !(promises & IR_AMENABLE))
        return alone;
    if ((promises & IR_AMENABLE) && !(promises & IR_NO_PARALLEL) && meets_region(r, f))
        promises &= ~(unsigned)IR_AMENABLE;
    return promised_or(
        promises,
        refused_unknown(mem_printf("a call of '%s', which could not be inlined and %s", name, why),
                        "make the function one that can be inlined (neither recursive nor "
                        "noinline), or say '#pragma omp assume "
                        "no_parallelism' around the call if no parallel region is met in it"));
}

static struct spmd_effect call_effect(const struct spmd_region *r, LLVMValueRef call)
{
    const char *name = spmd_callee(call);
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if ((unsigned)LLVMGetNumOperands(call) != LLVMGetNumArgOperands(call) + 1 &&
        strcmp(name, "llvm.assume") != 0)
        return refused("a call with operand bundles", own_function);
    if (LLVMIsAInlineAsm(callee))
        return refused("inline assembly", own_function);
    unsigned promises = r->promises | ir_promises(callee);
    if (!LLVMIsAFunction(callee))
        return promised_or(
            promises,
            refused_unknown("a call through a function pointer",
                            "call the function by its name, or say '#pragma omp assume "
                            "no_parallelism' around the call if no parallel region is met in it"));
    if (spmd_is_parallel(call))
        return region_effect(call);
    const struct known *k = known_call(call);
    if (k)
        return known_effect(r, call, k);
    if (text_starts(name, "llvm."))
        return intrinsic_effect(r, call, name);
    if (!LLVMIsDeclaration(callee))
        return function_effect(r, call, name, promises);
    if (ir_is_math_name(name))
        return has_pointer_argument(call)
                   ? guarded(arguments_mask(r, call), arguments_mask(r, call))
                   : EVERY;
    return promised_or(
        promises, refused_unknown(mem_printf("a call of '%s'", name),
                                  "say '#pragma omp assume no_parallelism' around the call if no "
                                  "parallel region is met in it"));
}

bool spmd_call_only_reads(LLVMValueRef call)
{
    const char *name = spmd_callee(call);
    const struct known *k = known_call(call);
    if (k)
        return k->kind == K_READ || k->kind == K_PRINT || k->kind == K_FOLD || k->kind == K_DIE;
    return text_starts(name, "llvm.") && !text_starts(name, "llvm.va_");
}

static bool is_plain(LLVMValueRef access)
{
    return !LLVMGetVolatile(access) && LLVMGetOrdering(access) == LLVMAtomicOrderingNotAtomic;
}

/* Nothing that anybody could notice. */
static bool is_idle(LLVMValueRef i)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    const struct known *k = opcode == LLVMCall ? known_call(i) : NULL;
    const char *name = opcode == LLVMCall ? spmd_callee(i) : "";
    switch (opcode) {
    case LLVMLoad: return is_plain(i);
    case LLVMStore: return is_plain(i) && LLVMIsAAllocaInst(spmd_base(LLVMGetOperand(i, 1)));
    case LLVMCall:
        return k ? (k->kind == K_EVERY || k->kind == K_FOLD || k->kind == K_DROP) &&
                       !text_starts(name, "__ompgpu_reduce_")
                 : text_starts(name, "llvm.lifetime.") || strcmp(name, "llvm.assume") == 0 ||
                       strcmp(name, "llvm.donothing") == 0 ||
                       (text_starts(name, "llvm.") && memory_effects(LLVMGetCalledValue(i)) == 0 &&
                        has(LLVMGetCalledValue(i), "speculatable"));
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMFence:
    case LLVMUnreachable:
    case LLVMVAArg:
    case LLVMInvoke:
    case LLVMCallBr:
    case LLVMIndirectBr: return false;
    default: return true;
    }
}

bool spmd_is_idle(LLVMValueRef f)
{
    IR_EACH_INSTRUCTION_OF(i, f)
        if (!is_idle(i))
            return false;
    return true;
}

/* Each thread calls the function with an object of its own. */
bool spmd_call_is_amenable(const struct spmd_region *r, LLVMValueRef call, LLVMValueRef pointer)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(f) || LLVMIsDeclaration(f) ||
        !((r->promises | ir_promises(f)) & IR_AMENABLE))
        return false;
    for (unsigned i = 0, n = LLVMGetNumArgOperands(call); i < n; i++)
        if (LLVMGetOperand(call, i) == pointer &&
            (i >= LLVMCountParams(f) || ir_pointer_escapes(LLVMGetParam(f, i))))
            return false;
    return true;
}

bool spmd_call_keeps_nothing(LLVMValueRef call)
{
    const struct known *k = known_call(call);
    return (k && k->kind == K_LOCAL) || (is_declared(call) && ir_is_math_name(spmd_callee(call)));
}

static struct spmd_effect load_effect(const struct spmd_region *r, LLVMValueRef load)
{
    LLVMValueRef base = spmd_base(LLVMGetOperand(load, 0));
    spmd_mask mask = spmd_pointer_mask(r, LLVMGetOperand(load, 0));
    if (is_own(r, base))
        return guarded(0, 0);
    if (!mask || (LLVMIsAGlobalVariable(base) && LLVMIsGlobalConstant(base)))
        return EVERY;
    return is_plain(load) ? reading(mask) : guarded(mask, mask);
}

static struct spmd_effect write_effect(const struct spmd_region *r, LLVMValueRef pointer)
{
    spmd_mask mask = spmd_pointer_mask(r, pointer);
    return mask || is_own(r, pointer) ? guarded(mask, mask) : EVERY;
}

struct spmd_effect spmd_effect(const struct spmd_region *r, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: return load_effect(r, i);
    case LLVMStore: return write_effect(r, LLVMGetOperand(i, 1));
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return write_effect(r, LLVMGetOperand(i, 0));
    case LLVMFence: return guarded(SPMD_ALL, SPMD_ALL);
    case LLVMCall: return call_effect(r, i);
    case LLVMBr:
    case LLVMSwitch:
    case LLVMRet:
    case LLVMUnreachable:
    case LLVMAlloca:
    case LLVMGetElementPtr:
    case LLVMPHI:
    case LLVMSelect:
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMFreeze:
    case LLVMFNeg:
    case LLVMExtractElement:
    case LLVMInsertElement:
    case LLVMShuffleVector:
    case LLVMExtractValue:
    case LLVMInsertValue: return EVERY;
    case LLVMIndirectBr: return refused("a goto to a computed label", "use a switch");
    default:
        return LLVMIsABinaryOperator(i) || LLVMIsACastInst(i)
                   ? EVERY
                   : refused("an operation that is not understood here", own_function);
    }
}
