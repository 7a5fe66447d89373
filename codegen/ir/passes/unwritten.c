/* unwritten.c - -fompgpu-check: reads of locals and private copies that nobody has written.
 *
 * A local has a flag, which is 0 where its life begins and 1 after each store, and once its address
 * is handed on; reads that the flow of control could reach before test it:
 *
 *     int x;                  ──▶  char x_written = 0;
 *     if (c) x = 1;                if (c) { x_written = 1; x = 1; }
 *     use(x)                       if (!x_written) unwritten(site);
 *
 * Where no read can come first, which is nearly always, there is no flag.  Numbers, pointers and
 * arrays of them are looked at, an array as a whole; structs have bytes between their members.
 *
 * This comes before all that makes values of locals; for late SPMD-zation all threads may make the
 * call (spmd/known.c).
 *
 * In C such a read is undefined by itself, whatever becomes of the value.  What we make of a
 * construct reads variables, too: copies of theirs for other threads, which may have no use for
 * them, are none of the user's reads. */
#include "codegen/ir/passes/checks.h"
#include <string.h>

struct local {
    LLVMValueRef alloca;
    ir_values writes, reads, begins; /* begins: of its life */
};

/* ------------------------------------------------------------------ which locals */
static bool is_plain(LLVMTypeRef t)
{
    while (LLVMGetTypeKind(t) == LLVMArrayTypeKind)
        t = LLVMGetElementType(t);
    switch (LLVMGetTypeKind(t)) {
    case LLVMIntegerTypeKind:
    case LLVMPointerTypeKind:
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMX86_FP80TypeKind: return true;
    default: return false;
    }
}

/* Not what we declare, nor what clang keeps a function's result in. */
static bool is_users(LLVMValueRef alloca)
{
    static const char result[] = "retval";
    const char *name = ir_name(alloca);
    bool ours = text_starts(name, "__") || strcmp(name, "") == 0;
    bool returned =
        text_starts(name, result) && (name[strlen(result)] == '\0' || name[strlen(result)] == '.');
    return !ours && !returned && is_plain(LLVMGetAllocatedType(alloca));
}

static bool is_intrinsic(LLVMValueRef i, const char *name)
{
    LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    return callee && LLVMIsAFunction(callee) && text_starts(ir_intrinsic(callee), name);
}

/* Into something of ours: a copy for a construct's threads, or back into the original. */
static bool is_our_copy(LLVMValueRef store)
{
    LLVMValueRef to = ir_accessed_base(LLVMGetOperand(store, 1));
    if (LLVMIsALoadInst(to))
        to = ir_accessed_base(LLVMGetOperand(to, 0));
    return text_starts(ir_name(to), "__");
}

/* A value that only our copies get, or assembly, which may not look at it. */
static bool is_no_use(const struct ir_unit *u, LLVMValueRef load)
{
    if (ir_is_no_read(u, load) || LLVMGetTypeKind(LLVMTypeOf(load)) == LLVMVectorTypeKind)
        return true;
    IR_EACH_USE(use, load) {
        LLVMValueRef user = LLVMGetUser(use);
        bool asm_ = LLVMIsACallInst(user) && LLVMIsAInlineAsm(LLVMGetCalledValue(user));
        if (!asm_ &&
            !(LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == load && is_our_copy(user)))
            return false;
    }
    return true;
}

/* A use as a value: from there on others may reach it, so that it counts as a write.  False: there
 * is no place for that. */
static bool find_uses(const struct ir_unit *u, struct local *l, LLVMValueRef p)
{
    IR_EACH_USE(use, p) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAPHINode(user) || !LLVMIsAInstruction(user))
            return false;
        if (LLVMIsAGetElementPtrInst(user) || LLVMIsABitCastInst(user)) {
            if (!find_uses(u, l, user))
                return false;
        } else if (LLVMIsALoadInst(user) && !LLVMGetVolatile(user)) {
            if (!is_no_use(u, user))
                *VEC_PUSH(NULL, &l->reads) = user;
        } else if (is_intrinsic(user, "llvm.lifetime.start"))
            *VEC_PUSH(NULL, &l->begins) = user;
        else if (!is_intrinsic(user, "llvm.lifetime.end"))
            *VEC_PUSH(NULL, &l->writes) = user;
    }
    return true;
}

/* ------------------------------------------------------------------ which reads */
static bool has(const ir_values *list, LLVMValueRef v)
{
    for (unsigned i = 0; i < list->n; i++)
        if (list->at[i] == v)
            return true;
    return false;
}

struct walk {
    const struct local *l;
    ir_values early;               /* reads that may come before each write */
    VEC(LLVMBasicBlockRef) blocks; /* that are reached without a write */
};

static void reach(struct walk *w, LLVMBasicBlockRef block)
{
    for (unsigned i = 0; i < w->blocks.n; i++)
        if (w->blocks.at[i] == block)
            return;
    *VEC_PUSH(NULL, &w->blocks) = block;
}

/* From there to the first write. */
static void walk_from(struct walk *w, LLVMValueRef i)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(i);
    for (; i; i = LLVMGetNextInstruction(i)) {
        if (has(&w->l->writes, i))
            return;
        if (has(&w->l->reads, i) && !has(&w->early, i))
            *VEC_PUSH(NULL, &w->early) = i;
    }
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(end); k++)
        reach(w, LLVMGetSuccessor(end, k));
}

static ir_values find_early(const struct local *l)
{
    struct walk w = { .l = l };
    walk_from(&w, l->alloca);
    for (unsigned i = 0; i < l->begins.n; i++)
        walk_from(&w, l->begins.at[i]);
    for (unsigned i = 0; i < w.blocks.n; i++)
        walk_from(&w, LLVMGetFirstInstruction(w.blocks.at[i]));
    return w.early;
}

/* ------------------------------------------------------------------ the test */
/* void test(i8 written, ptr site) */
static LLVMValueRef test_function(const struct checks *c)
{
    static const char name[] = "__ompgpu_check_unwritten";
    const struct ir_unit *u = c->u;
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    LLVMTypeRef i8 = LLVMInt8TypeInContext(u->ctx), params[] = { i8, l_ptr(u) };
    if (f)
        return f;
    f = l_add_function(u, name, params, 2);
    ir_add_attribute(f, "alwaysinline");
    LLVMBuilderRef b = l_open_function(f);
    LLVMValueRef not = LLVMBuildICmp(b, LLVMIntEQ, LLVMGetParam(f, 0), LLVMConstNull(i8), ""),
                 site = LLVMGetParam(f, 1);
    LLVMBasicBlockRef good = ir_open_unlikely(c, b, not);
    ir_call_check(c, b, "__ompgpu_emu_unwritten", &site, 1);
    l_close_if(b, good);
    l_close_function(b);
    return f;
}

static void set_flag(struct checks *c, LLVMValueRef flag, LLVMValueRef before, bool written)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(c->u->ctx);
    ir_place_before(c, before);
    LLVMBuildStore(c->b, LLVMConstInt(i8, written, false), flag);
}

static void test_reads(struct checks *c, const struct local *l, const ir_values *early)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(c->u->ctx);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(ir_function_of(l->alloca));
    LLVMValueRef begin = LLVMGetNextInstruction(l->alloca);
    ir_place_before(c, LLVMGetFirstInstruction(entry));
    LLVMValueRef flag = LLVMBuildAlloca(c->b, i8, "__written");
    set_flag(c, flag, begin, false); /* each time that an array of variable length is made */
    for (unsigned i = 0; i < l->begins.n; i++)
        set_flag(c, flag, l->begins.at[i], false);
    for (unsigned i = 0; i < l->writes.n; i++)
        set_flag(c, flag, l->writes.at[i], true);
    for (unsigned i = 0; i < early->n; i++) {
        bool named = LLVMIsAConstantInt(LLVMGetOperand(l->alloca, 0));
        LLVMValueRef site =
            ir_make_site(c, early->at[i], OMPGPU_EMU_READS, named ? l->alloca : NULL);
        ir_place_before(c, early->at[i]);
        LLVMValueRef args[] = { LLVMBuildLoad2(c->b, i8, flag, ""), site };
        l_call(c->b, test_function(c), args, 2);
    }
}

static void check_function(struct checks *c, LLVMValueRef f)
{
    ir_values locals = { 0 };
    IR_EACH_INSTRUCTION_OF(i, f) {
        if (LLVMIsAAllocaInst(i) && is_users(i))
            *VEC_PUSH(NULL, &locals) = i;
        if (LLVMIsALoadInst(i) && is_no_use(c->u, i))
            ir_mark(c->u, i, IR_COPIED); /* where it moves to memory that other threads reach,
                                            its bytes are looked at (checks.c) */
    }
    for (unsigned i = 0; i < locals.n; i++) {
        struct local l = { .alloca = locals.at[i] };
        ir_values early = { 0 };
        if (find_uses(c->u, &l, l.alloca) && l.reads.n)
            early = find_early(&l);
        if (early.n)
            test_reads(c, &l, &early);
    }
}

bool ir_check_unwritten(struct ir_unit *u)
{
    struct checks c = { .u = u, .b = LLVMCreateBuilderInContext(u->ctx), .site = ir_site_type(u) };
    IR_EACH_FUNCTION(f, u->module)
        if (u->opt->target == IR_X86 && u->opt->check && !LLVMIsDeclaration(f))
            check_function(&c, f);
    LLVMDisposeBuilder(c.b);
    return true;
}
