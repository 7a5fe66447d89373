/* effect.c - what happens to each instruction of sequential code when all threads of a team run it.
 *
 * The code is uniform: threads start with the same arguments and compute the same values, so that
 * they take the same branches.  What would break this (a clock, a volatile or atomic load, malloc)
 * is executed by the main thread, and its result broadcast. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"
#include "codegen/ir/spmd/spmd.h"
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ functions with a body */
static bool is_parallel(LLVMValueRef f)
{
    return LLVMIsAFunction(f) && strcmp(ir_name(f), "__ompgpu_parallel") == 0;
}

bool spmd_is_parallel(LLVMValueRef call) { return ir_is_call_of(call, "__ompgpu_parallel"); }

/* The `memory` attribute: two bits a location, 1 reads, 2 writes. */
static uint64_t memory_effects(LLVMValueRef f)
{
    LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(
        f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, ir_attribute_kind("memory"));
    return a ? LLVMGetEnumAttributeValue(a) : ~(uint64_t)0;
}
#define WRITES 0xaaaaaaaaaaaaaaaaull

/* What stands in the way of a call by the main thread alone.  queries: it asks about threads, and
 * must find that there is one; teams, sets: ones that no assumption removes.  varies: not each
 * thread would get the same result. */
struct obstacle {
    const char *why;
    bool queries, teams, sets, varies;
};

static void note_why(struct obstacle *o, const char *why) { o->why = o->why ? o->why : why; }

static bool find_obstacle(const struct ir_node *node, void *data)
{
    struct obstacle *o = data;
    const char *name = ir_name(node->value);
    if (!LLVMIsAFunction(node->value))
        return false;
    if (node->indirect)
        note_why(o, "calls through a function pointer");
    if (node->indirect || node->defined || *ir_intrinsic(node->value) || ir_is_math_name(name))
        return false;
    enum spmd_known_kind kind = spmd_known(node->value, NULL);
    if (is_parallel(node->value))
        note_why(o, "contains a parallel region");
    else if (kind == KNOWN_NOT || kind == KNOWN_SIZE || kind == KNOWN_SET || kind == KNOWN_OWN)
        note_why(o, mem_printf("calls '%s'", name));
    o->sets |= kind == KNOWN_SET || kind == KNOWN_OWN;
    o->varies |= kind != KNOWN_EVERY && kind != KNOWN_READ && kind != KNOWN_DIE;
    o->teams |= kind == KNOWN_TEAMS;
    o->queries |= kind == KNOWN_FOLD || kind == KNOWN_DROP || kind == KNOWN_QUERY;
    return o->sets || o->teams;
}

static struct obstacle obstacle_in(struct ir_unit *u, LLVMValueRef f)
{
    struct obstacle o = { 0 };
    ir_reaches(u->module, f, find_obstacle, &o);
    return o;
}

bool spmd_needs_assumption(struct ir_unit *u, LLVMValueRef f)
{
    return obstacle_in(u, f).why != NULL;
}

static bool is_parallel_node(const struct ir_node *node, void *unused)
{
    (void)unused;
    return is_parallel(node->value);
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
                                   "__attribute__((noinline)), which one thread can call";
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
                                       enum spmd_known_kind kind, unsigned value)
{
    spmd_mask arguments = arguments_mask(r, call);
    struct spmd_effect die = guarded(SPMD_ALL, SPMD_ALL);
    die.noreturn = true;
    struct spmd_effect query = guarded(SPMD_ALL, SPMD_ALL);
    query.queries = true;
    switch (kind) {
    case KNOWN_EVERY:
    case KNOWN_OWN: return EVERY;
    case KNOWN_READ: return reading(arguments);
    case KNOWN_FOLD: return (struct spmd_effect){ .action = SPMD_FOLD, .value = value };
    case KNOWN_SIZE: return (struct spmd_effect){ .action = SPMD_SIZE };
    case KNOWN_SET: return (struct spmd_effect){ .action = SPMD_SET };
    case KNOWN_DROP: return (struct spmd_effect){ .action = SPMD_DROP };
    case KNOWN_PRINT: return guarded(SPMD_OTHER | arguments, 0);
    case KNOWN_QUERY: return query;
    case KNOWN_LOCAL: return guarded(SPMD_OTHER | arguments, SPMD_OTHER | arguments);
    case KNOWN_FRESH: return guarded(0, 0);
    case KNOWN_TEAMS:
        return refused("a 'teams' region of a function, whose teams run one after the other", NULL);
    case KNOWN_DIE: return die;
    default: return guarded(SPMD_ALL, SPMD_ALL);
    }
}

static struct spmd_effect region_effect(LLVMValueRef call)
{
    LLVMValueRef fn = LLVMGetOperand(call, 0);
    if (!LLVMIsAFunction(fn) || LLVMIsDeclaration(fn)) {
        struct spmd_effect e = refused("an unknown parallel region", NULL);
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

static bool is_main_local(const struct spmd_region *r, LLVMValueRef pointer)
{
    const struct spmd_object *o = spmd_object_of(r, pointer);
    return o && o->storage == SPMD_MAIN;
}

static struct spmd_effect intrinsic_effect(const struct spmd_region *r, LLVMValueRef call)
{
    const char *name = ir_intrinsic(LLVMGetCalledValue(call));
    static const char *const nothing[] = { "llvm.lifetime",     "llvm.dbg",
                                           "llvm.assume",       "llvm.experimental.noalias",
                                           "llvm.donothing",    "llvm.stacksave",
                                           "llvm.stackrestore", "llvm.prefetch",
                                           "llvm.sideeffect" };
    for (unsigned i = 0; i < sizeof nothing / sizeof *nothing; i++)
        if (text_starts(name, nothing[i]))
            return EVERY;
    bool sets = text_starts(name, "llvm.memset"), copies = text_starts(name, "llvm.mem") && !sets;
    if (copies && LLVMConstIntGetZExtValue(LLVMGetOperand(call, 3)))
        return refused("a volatile copy", own_function); /* each thread would read for itself */
    if (sets || text_starts(name, "llvm.memcpy") || text_starts(name, "llvm.memmove")) {
        spmd_mask into = spmd_pointer_mask(r, LLVMGetOperand(call, 0));
        spmd_mask from = sets ? 0 : spmd_pointer_mask(r, LLVMGetOperand(call, 1));
        bool main = is_main_local(r, LLVMGetOperand(call, 0)) ||
                    (!sets && is_main_local(r, LLVMGetOperand(call, 1)));
        return into || main ? guarded(from, into) : reading(from);
    }
    bool speculatable = ir_has(LLVMGetCalledValue(call), "speculatable");
    if (memory_effects(LLVMGetCalledValue(call)) == 0 && speculatable &&
        !text_starts(name, "llvm.nvvm.read."))
        return EVERY;
    return refused(mem_printf("the operation '%s'", name), own_function);
}

/* What the user states about the call, or why it cannot be made in an SPMD kernel. */
static struct spmd_effect assumed_or(unsigned assumptions, struct spmd_effect otherwise)
{
    if (assumptions & IR_SPMD_AMENABLE)
        return (struct spmd_effect){ .action = SPMD_CALL, .reads = SPMD_ALL, .writes = SPMD_ALL };
    if (!(assumptions & IR_NO_PARALLELISM))
        return otherwise;
    struct spmd_effect main_only = guarded(SPMD_ALL, SPMD_ALL);
    main_only.queries = !(assumptions & IR_NO_ROUTINES);
    return main_only;
}

static struct spmd_effect function_effect(const struct spmd_region *r, LLVMValueRef call,
                                          const char *name, unsigned assumptions)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    uint64_t memory = memory_effects(f);
    struct obstacle obstacle = obstacle_in(r->u, f);
    if (!(memory & WRITES) && !obstacle.varies && !obstacle.why)
        return memory ? reading(SPMD_ALL) : EVERY;
    if (obstacle.teams)
        return known_effect(r, call, KNOWN_TEAMS, 0);
    struct spmd_effect main_only = guarded(SPMD_ALL, SPMD_ALL);
    main_only.queries = obstacle.queries;
    if (!obstacle.why && !(assumptions & IR_SPMD_AMENABLE))
        return main_only;
    if ((assumptions & IR_SPMD_AMENABLE) && !(assumptions & IR_NO_PARALLELISM) &&
        ir_reaches(r->u->module, f, is_parallel_node, NULL))
        assumptions &= ~(unsigned)IR_SPMD_AMENABLE;
    if (obstacle.sets)
        assumptions &= ~(unsigned)IR_NO_PARALLELISM;
    return assumed_or(
        assumptions,
        refused_unknown(
            mem_printf("a call of '%s', which could not be inlined and %s", name, obstacle.why),
            "make the function one that can be inlined (neither recursive nor "
            "noinline), or say '#pragma omp assume "
            "no_parallelism' around the call if it encounters no parallel region"));
}

/* Of a declared function that nothing is known of. */
static struct spmd_effect unknown_effect(const struct spmd_region *r, LLVMValueRef call,
                                         const char *name, unsigned assumptions)
{
    if (ir_is_math_name(name))
        return has_pointer_argument(call)
                   ? guarded(arguments_mask(r, call), arguments_mask(r, call))
                   : EVERY;
    return assumed_or(
        assumptions,
        refused_unknown(mem_printf("a call of '%s'", name),
                        "say '#pragma omp assume no_parallelism' around the call if it "
                        "encounters no parallel region"));
}

static struct spmd_effect call_effect(const struct spmd_region *r, LLVMValueRef call)
{
    const char *name = spmd_callee(call);
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if ((unsigned)LLVMGetNumOperands(call) != LLVMGetNumArgOperands(call) + 1 &&
        strcmp(ir_intrinsic(callee), "llvm.assume") != 0)
        return refused("a call with operand bundles", own_function);
    if (LLVMIsAInlineAsm(callee))
        return refused("inline assembly", own_function);
    unsigned assumptions = r->assumptions | ir_assumptions(callee);
    if (!LLVMIsAFunction(callee))
        return assumed_or(
            assumptions,
            refused_unknown("a call through a function pointer",
                            "call the function by its name, or say '#pragma omp assume "
                            "no_parallelism' around the call if it encounters no parallel region"));
    if (spmd_is_parallel(call))
        return region_effect(call);
    unsigned value = 0;
    enum spmd_known_kind kind = spmd_known(callee, &value);
    if (kind != KNOWN_NOT)
        return known_effect(r, call, kind, value);
    if (LLVMGetIntrinsicID(callee))
        return intrinsic_effect(r, call);
    if (!LLVMIsDeclaration(callee))
        return function_effect(r, call, name, assumptions);
    return unknown_effect(r, call, name, assumptions);
}

/* ------------------------------------------------------------------ questions about calls */
bool spmd_call_only_reads(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    enum spmd_known_kind kind = spmd_known(callee, NULL);
    if (kind != KNOWN_NOT)
        return kind == KNOWN_READ || kind == KNOWN_PRINT || kind == KNOWN_FOLD || kind == KNOWN_DIE;
    const char *intrinsic = ir_intrinsic(callee);
    return *intrinsic && !text_starts(intrinsic, "llvm.va_") &&
           LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMPointerTypeKind; /* llvm.ptrmask */
}

static bool is_plain(LLVMValueRef access)
{
    return !LLVMGetVolatile(access) && LLVMGetOrdering(access) == LLVMAtomicOrderingNotAtomic;
}

/* A call without an effect that others could notice. */
static bool is_idle_call(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const char *intrinsic = ir_intrinsic(callee);
    enum spmd_known_kind kind = spmd_known(callee, NULL);
    if (kind != KNOWN_NOT)
        return (kind == KNOWN_EVERY || kind == KNOWN_FOLD || kind == KNOWN_DROP) &&
               !text_starts(ir_name(callee), "__ompgpu_reduce_");
    return text_starts(intrinsic, "llvm.lifetime") || strcmp(intrinsic, "llvm.assume") == 0 ||
           strcmp(intrinsic, "llvm.donothing") == 0 ||
           strcmp(intrinsic, "llvm.experimental.noalias.scope.decl") == 0 ||
           (LLVMIsAFunction(callee) && memory_effects(callee) == 0 && ir_has(callee, "willreturn"));
}

static bool is_idle(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: return is_plain(i);
    case LLVMStore: return is_plain(i) && LLVMIsAAllocaInst(spmd_base(LLVMGetOperand(i, 1)));
    case LLVMCall: return is_idle_call(i);
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

bool spmd_call_is_amenable(const struct spmd_region *r, LLVMValueRef call, LLVMValueRef pointer)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(f) || LLVMIsDeclaration(f) ||
        !((r->assumptions | ir_assumptions(f)) & IR_SPMD_AMENABLE))
        return false;
    for (unsigned i = 0, n = LLVMGetNumArgOperands(call); i < n; i++)
        if (LLVMGetOperand(call, i) == pointer &&
            (i >= LLVMCountParams(f) || ir_pointer_escapes(LLVMGetParam(f, i))))
            return false;
    return true;
}

bool spmd_call_keeps_nothing(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return spmd_known(callee, NULL) == KNOWN_LOCAL ||
           (LLVMIsAFunction(callee) && LLVMIsDeclaration(callee) &&
            ir_is_math_name(ir_name(callee)));
}

/* ------------------------------------------------------------------ instructions */
static struct spmd_effect load_effect(const struct spmd_region *r, LLVMValueRef load)
{
    LLVMValueRef base = spmd_base(LLVMGetOperand(load, 0));
    spmd_mask mask = spmd_pointer_mask(r, LLVMGetOperand(load, 0));
    if (is_main_local(r, base))
        return guarded(0, 0);
    if (!mask || (LLVMIsAGlobalVariable(base) && LLVMIsGlobalConstant(base)))
        return EVERY;
    return is_plain(load) ? reading(mask) : guarded(mask, mask);
}

static struct spmd_effect write_effect(const struct spmd_region *r, LLVMValueRef pointer)
{
    spmd_mask mask = spmd_pointer_mask(r, pointer);
    return mask || is_main_local(r, pointer) ? guarded(mask, mask) : EVERY;
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
    default:
        return LLVMIsABinaryOperator(i) || LLVMIsACastInst(i)
                   ? EVERY
                   : refused("an operation that is not understood here", own_function);
    }
}
