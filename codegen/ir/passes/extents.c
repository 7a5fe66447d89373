/* extents.c - -fompgpu-check: accesses through the pointers among a kernel's parameters.
 *
 * When the kernel begins, the plugin says which allocation each of them points into (begin, size);
 * size is 0 where not all of it may be used and has a value.  Then an access in it needs no look at
 * the shadow.  Where the kernel also stores nothing but through pointers into other allocations,
 * nobody writes what it reads there, and a read in it is no race:
 *
 *     x = load p   ──▶   if (p - begin > size - 4 || p is misaligned)
 *                            check_4(p), race_read_4(p)      (checks.c, races.c)
 *                        x = load p
 *
 * A pointer may be the address of an element that is not mapped (a section's array), or NULL: no
 * allocation is known then, and if the kernel stores through it, what it stores to is not. */
#include "codegen/ir/passes/checks.h"
#include <llvm-c/DebugInfo.h>

/* ------------------------------------------------------------------ which pointers */
/* The distance of a constant place from the base; false: it is not that simple. */
static bool add_offset(const struct ir_unit *u, LLVMValueRef p, LLVMValueRef base, uint64_t *offset)
{
    for (*offset = 0; p != base; p = LLVMGetOperand(p, 0)) {
        LLVMValueRef index =
            LLVMIsAGetElementPtrInst(p) && LLVMGetNumOperands(p) == 2 ? LLVMGetOperand(p, 1) : NULL;
        if (!index || !LLVMIsAConstantInt(index))
            return false;
        *offset += LLVMConstIntGetZExtValue(index) *
                   LLVMABISizeOfType(u->layout, LLVMGetGEPSourceElementType(p));
    }
    return true;
}

/* A parameter's value, by the place of its address in the array. */
static bool find_place(const struct checks *c, LLVMValueRef v, uint64_t *place)
{
    LLVMValueRef from = LLVMIsALoadInst(v) ? LLVMGetOperand(v, 0) : NULL,
                 array = from && LLVMIsALoadInst(from) ? LLVMGetOperand(from, 0) : NULL;
    return array && ir_accessed_base(array) == c->params &&
           add_offset(c->u, array, c->params, place);
}

static struct extent *extent_at(struct extents *e, uint64_t place)
{
    for (unsigned i = 0; i < e->n; i++)
        if (e->at[i].place == place)
            return &e->at[i];
    return NULL;
}

static struct extent *add_extent(struct extents *e, uint64_t place)
{
    struct extent *x = extent_at(e, place);
    if (x || e->n == EXTENTS)
        return x;
    e->at[e->n] = (struct extent){ .place = place };
    return &e->at[e->n++];
}

/* ------------------------------------------------------------------ what is stored */
static bool is_own(LLVMValueRef base)
{
    return LLVMIsAAllocaInst(base) || LLVMIsAGlobalVariable(base);
}

static void note_store(struct checks *c, LLVMValueRef pointer)
{
    LLVMValueRef base = ir_accessed_base(pointer);
    uint64_t place;
    struct extent *x = find_place(c, base, &place) ? add_extent(&c->extents, place) : NULL;
    if (x)
        x->written = true;
    else if (!is_own(base))
        c->extents.stores_elsewhere = true;
}

/* It may run code of the user's: a function or, once calls are direct, its number. */
static bool is_code(LLVMValueRef argument)
{
    return LLVMTypeOf(argument) && LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMPointerTypeKind &&
           (LLVMIsAFunction(argument) ||
            (LLVMIsAConstantExpr(argument) && LLVMGetConstOpcode(argument) == LLVMIntToPtr));
}

static bool is_combination(const char *callee)
{
    return text_starts(callee, "__ompgpu_reduce_") || text_starts(callee, "__ompgpu_scan");
}

/* The runtime's code stores where nobody looks for races, unless it calls the user's. */
static bool is_harmless_call(LLVMValueRef call, LLVMValueRef callee)
{
    if (!LLVMIsAFunction(callee) || LLVMIsDeclaration(callee) || LLVMGetSubprogram(callee))
        return false;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        if (is_code(LLVMGetOperand(call, i)) && !is_combination(ir_name(callee)))
            return false;
    return true;
}

/* What copies bytes without a value takes it from others. */
static void note_call(struct checks *c, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const char *name = LLVMIsAFunction(callee) ? ir_intrinsic(callee) : "";
    bool copies = text_starts(name, "llvm.memcpy") || text_starts(name, "llvm.memmove");
    if (copies && !is_own(ir_accessed_base(LLVMGetOperand(call, 0))))
        c->extents.copies = true;
    if (copies || text_starts(name, "llvm.memset"))
        note_store(c, LLVMGetOperand(call, 0));
    else if (!*name && !is_harmless_call(call, callee))
        c->extents.stores_elsewhere = c->extents.copies = true;
}

/* ------------------------------------------------------------------ at the kernel's begin */
static LLVMValueRef load_parameter(const struct checks *c, LLVMBuilderRef b, uint64_t place)
{
    const struct ir_unit *u = c->u;
    LLVMValueRef offset = l_i64(u, place),
                 at = LLVMBuildGEP2(b, LLVMInt8TypeInContext(u->ctx), c->params, &offset, 1, "");
    return LLVMBuildLoad2(b, l_ptr(u), LLVMBuildLoad2(b, l_ptr(u), at, ""), "");
}

/* All threads get the same answer, so that one of them may ask for all. */
static LLVMValueRef ask(const struct checks *c, LLVMBuilderRef b, const char *what, LLVMValueRef p)
{
    ir_remove_attribute(l_runtime(c->u, what), "convergent");
    return l_call_runtime(c->u, b, what, &p, 1);
}

/* What is read only is not in an allocation to which the kernel stores, or one beside it. */
static LLVMValueRef size_if_apart(const struct checks *c, LLVMBuilderRef b, const struct extent *x)
{
    const struct extents *e = &c->extents;
    LLVMValueRef apart = l_bool(c->u, !e->stores_elsewhere && !x->written);
    for (unsigned i = 0; i < e->n; i++) {
        if (!e->at[i].written)
            continue;
        LLVMValueRef begin = e->at[i].begin,
                     is = LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntNE, begin, x->begin, ""),
                                       LLVMBuildICmp(b, LLVMIntNE, begin, l_i64(c->u, 0), ""), "");
        apart = LLVMBuildAnd(b, apart, is, "");
    }
    return LLVMBuildSelect(b, apart, x->size_read_only, l_i64(c->u, 0), "");
}

/* Before anything else, since what other code reads may stand in any block. */
static void ask_for_all(struct checks *c, LLVMValueRef f)
{
    struct extents *e = &c->extents;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c->u->ctx);
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)));
    for (unsigned i = 0; i < e->n; i++) {
        LLVMValueRef p = load_parameter(c, b, e->at[i].place);
        e->at[i].begin = ask(c, b, "__ompgpu_emu_block_begin", p);
        e->at[i].size = ask(c, b, "__ompgpu_emu_block_size", p);
        e->at[i].size_read_only = ask(c, b, "__ompgpu_emu_block_apart", p);
    }
    for (unsigned i = 0; i < e->n; i++)
        e->at[i].size_read_only = size_if_apart(c, b, &e->at[i]);
    LLVMDisposeBuilder(b);
}

void ir_find_extents(struct checks *c, LLVMValueRef f, const access_list *accesses)
{
    struct extents *e = &c->extents;
    uint64_t place;
    *e = (struct extents){ 0 };
    if (!c->params || c->trusted || c->u->opt->level == '0')
        return;
    for (unsigned i = 0; i < accesses->n; i++)
        if (find_place(c, ir_accessed_base(accesses->at[i].pointer), &place))
            add_extent(e, place);
    IR_EACH_INSTRUCTION_OF(i, f) {
        if (ir_is_access(i) && !LLVMIsALoadInst(i))
            note_store(c, LLVMGetOperand(i, LLVMIsAStoreInst(i) ? 1 : 0));
        else if (LLVMIsACallInst(i))
            note_call(c, i);
    }
    if (e->copies)
        e->n = 0;
    ask_for_all(c, f);
}

const struct extent *ir_extent_of(struct checks *c, const struct access *a)
{
    uint64_t place;
    return find_place(c, ir_accessed_base(a->pointer), &place) ? extent_at(&c->extents, place)
                                                               : NULL;
}

/* ------------------------------------------------------------------ accesses */
/* Beyond the extent's last place for an access of so many bytes, or misaligned. */
static LLVMValueRef is_beyond(const struct checks *c, LLVMBuilderRef b, const LLVMValueRef *arg,
                              unsigned log)
{
    const struct ir_unit *u = c->u;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(u->ctx);
    LLVMValueRef size[] = { arg[2], l_i64(u, (1u << log) - 1) },
                 places = l_call_intrinsic(u, b, "llvm.usub.sat", i64, size, 2),
                 address = LLVMBuildPtrToInt(b, arg[0], i64, ""),
                 offset = LLVMBuildSub(b, address, arg[1], ""),
                 odd = LLVMBuildAnd(b, address, arg[3], "");
    return LLVMBuildOr(b, LLVMBuildICmp(b, LLVMIntUGE, offset, places, ""),
                       LLVMBuildICmp(b, LLVMIntNE, odd, l_i64(u, 0), ""), "");
}

/* void within(ptr p, i64 begin, i64 size, i64 mask, ptr site, ptr race): calls the others with p
 * and the last two, that for races only where `reads` */
static LLVMValueRef make_within(const struct checks *c, unsigned log, bool reads)
{
    const struct ir_unit *u = c->u;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(u->ctx),
                params[] = { l_ptr(u), i64, i64, i64, l_ptr(u), l_ptr(u) };
    const char *name = mem_printf("__ompgpu_within_%s%u", reads ? "read_" : "", 1u << log);
    LLVMValueRef f = l_add_function(u, name, params, 6), arg[6];
    ir_add_attribute(f, "alwaysinline");
    LLVMGetParams(f, arg);
    LLVMBuilderRef b = l_open_function(f);
    LLVMBasicBlockRef good = ir_open_unlikely(c, b, is_beyond(c, b, arg, log));
    LLVMValueRef check[] = { arg[0], arg[4], arg[3] }, race[] = { arg[0], arg[5], l_i64(u, 0) };
    l_call(b, c->quick[log], check, 3);
    if (reads)
        l_call(b, c->race[IR_READ][log], race, 3);
    l_close_if(b, good);
    l_close_function(b);
    return f;
}

void ir_check_within(struct checks *c, const struct access *a, const struct extent *x,
                     LLVMValueRef site, LLVMValueRef race, LLVMValueRef mask)
{
    unsigned log = ir_log_of(a->size);
    bool reads = race;
    if (!c->within[reads][log])
        c->within[reads][log] = make_within(c, log, reads);
    LLVMValueRef args[] = { a->pointer, x->begin, reads ? x->size_read_only : x->size,
                            mask,       site,     reads ? race : site };
    l_call(c->b, c->within[reads][log], args, 6);
}
