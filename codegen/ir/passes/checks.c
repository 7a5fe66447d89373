/* checks.c - -fompgpu-check: on the emulated device, accesses are checked before they are made.
 *
 * Device memory has a shadow, a byte for each byte, at a constant distance (hostrt/emu/shadow.c).
 * It is 0 where a byte may be used and has a value, so one comparison lets nearly all accesses
 * pass:
 *
 *     x = load p   ──▶   if (p is in device memory && (*(p + DISTANCE) != 0 || p is misaligned))
 *                            check(p, size, site)
 *                        x = load p
 *
 * check() (hostrt/emu/check.c) says what is wrong, or notes that a store has given the bytes a
 * value.  A site is a record with the place in the source and what kind of access it is.  An index
 * into a local or a variable is compared with its size.  What is known at compile time to be right
 * costs nothing.
 *
 * Where OMPGPU_CHECK looks for races, a second call has every access that another thread could
 * make, too, and each fence (races.c).  Reads of locals without a value: unwritten.c; the end of
 * those whose address escapes: rooms.c.  What a kernel accesses through its parameters is compared
 * with their allocations first: extents.c.  Functions of string.h: texts.c.
 *
 * The check is of what the user wrote, so it comes before the optimiser moves accesses.  From -O1
 * on, locals in registers and values that were just read are no accesses any more.  Code of
 * the device runtime (functions without debug information) is trusted; but what it stores has a
 * value from then on. */
#include "codegen/ir/passes/checks.h"
#include <llvm-c/DebugInfo.h>
#include <string.h>

_Static_assert(offsetof(struct ompgpu_emu_site, object_size) == 16 &&
                   offsetof(struct ompgpu_emu_site, line) == 24 &&
                   offsetof(struct ompgpu_emu_site, said) == 36,
               "ir_site_type() has the same members");

/* ------------------------------------------------------------------ what is accessed */
LLVMValueRef ir_accessed_base(LLVMValueRef p)
{
    for (;;) {
        bool step = LLVMIsAGetElementPtrInst(p) || LLVMIsABitCastInst(p) ||
                    (LLVMIsAConstantExpr(p) && LLVMGetConstOpcode(p) == LLVMGetElementPtr);
        bool shared = LLVMIsACallInst(p) &&
                      strcmp(ir_intrinsic(LLVMGetCalledValue(p)), "llvm.threadlocal.address") == 0;
        if (!step && !shared)
            return p;
        p = LLVMGetOperand(p, 0);
    }
}

/* Of a local or a variable, of which nothing is behind the end; 0: not known. */
uint64_t ir_known_size(const struct ir_unit *u, LLVMValueRef base)
{
    if (LLVMIsAAllocaInst(base) && LLVMIsAConstantInt(LLVMGetOperand(base, 0)))
        return LLVMABISizeOfType(u->layout, LLVMGetAllocatedType(base)) *
               LLVMConstIntGetZExtValue(LLVMGetOperand(base, 0));
    if (LLVMIsAGlobalVariable(base) && LLVMGetInitializer(base))
        return LLVMABISizeOfType(u->layout, LLVMGlobalGetValueType(base));
    return 0;
}

static bool has_constant_indices(LLVMValueRef p, LLVMValueRef base)
{
    for (; p != base; p = LLVMGetOperand(p, 0))
        for (int i = 1; LLVMIsAGetElementPtrInst(p) && i < LLVMGetNumOperands(p); i++)
            if (!LLVMIsAConstantInt(LLVMGetOperand(p, (unsigned)i)))
                return false;
    return true;
}

/* What a bit-field's neighbours have is kept: the value goes back to where it came from. */
static bool only_goes_back(LLVMValueRef v, LLVMValueRef pointer)
{
    IR_EACH_USE(use, v) {
        LLVMValueRef user = LLVMGetUser(use);
        bool stored = LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == pointer &&
                      LLVMGetOperand(user, 0) == v;
        if (!stored && !((LLVMIsAInstruction(user) && (LLVMGetInstructionOpcode(user) == LLVMAnd ||
                                                       LLVMGetInstructionOpcode(user) == LLVMOr)) &&
                         only_goes_back(user, pointer)))
            return false;
    }
    return true;
}

/* Bytes that are copied one by one may be those between the members of a struct. */
static bool is_byte_copy(const struct ir_unit *u, LLVMValueRef load)
{
    if (LLVMABISizeOfType(u->layout, LLVMTypeOf(load)) != 1)
        return false;
    IR_EACH_USE(use, load)
        if (!LLVMIsAStoreInst(LLVMGetUser(use)))
            return false;
    return true;
}

bool ir_is_no_read(const struct ir_unit *u, LLVMValueRef load)
{
    return only_goes_back(load, LLVMGetOperand(load, 0)) || is_byte_copy(u, load);
}

static bool is_atomic(LLVMValueRef i)
{
    return LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) ||
           ((LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) &&
            LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic);
}

void ir_mark(const struct ir_unit *u, LLVMValueRef i, const char *mark)
{
    LLVMSetMetadata(i, LLVMGetMDKindIDInContext(u->ctx, mark, (unsigned)strlen(mark)),
                    LLVMMetadataAsValue(u->ctx, LLVMMDNodeInContext2(u->ctx, NULL, 0)));
}

static bool has_mark(const struct checks *c, LLVMValueRef i, const char *mark)
{
    return LLVMGetMetadata(i, LLVMGetMDKindIDInContext(c->u->ctx, mark, (unsigned)strlen(mark))) !=
           NULL;
}

static unsigned flags_of(const struct checks *c, LLVMValueRef i)
{
    unsigned flags = is_atomic(i) ? OMPGPU_EMU_ATOMIC : 0;
    if (c->trusted)
        flags |= OMPGPU_EMU_TRUSTED;
    if (!LLVMIsALoadInst(i))
        flags |= OMPGPU_EMU_WRITES;
    if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
        flags |= OMPGPU_EMU_READS;
    if (LLVMIsALoadInst(i) && !ir_is_no_read(c->u, i) && !has_mark(c, i, IR_COPIED))
        flags |= OMPGPU_EMU_READS;
    return flags;
}

static LLVMTypeRef accessed_type(LLVMValueRef i)
{
    return LLVMIsALoadInst(i) ? LLVMTypeOf(i)
                              : LLVMTypeOf(LLVMGetOperand(i, LLVMIsAStoreInst(i) ? 0 : 1));
}

bool ir_is_access(LLVMValueRef i)
{
    return LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) ||
           LLVMIsAAtomicCmpXchgInst(i);
}

/* What the host hands to the kernel: the array, and values that it points to. */
static bool is_parameter(const struct checks *c, LLVMValueRef base)
{
    return c->params &&
           (base == c->params ||
            (LLVMIsALoadInst(base) && ir_accessed_base(LLVMGetOperand(base, 0)) == c->params));
}

static void add_access(const struct checks *c, access_list *list, LLVMValueRef i)
{
    LLVMValueRef p = LLVMGetOperand(i, LLVMIsAStoreInst(i) ? 1 : 0), base = ir_accessed_base(p);
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(p)) || is_parameter(c, base) ||
        (ir_known_size(c->u, base) && has_constant_indices(p, base) && LLVMIsAAllocaInst(base)) ||
        (LLVMIsALoadInst(i) && has_mark(c, i, IR_TRUSTED)) ||
        (c->trusted &&
         (LLVMIsALoadInst(i) || (ir_known_size(c->u, base) && !ir_is_team_storage(c->u, base)))))
        return;
    *VEC_PUSH(NULL, list) =
        (struct access){ .at = i,
                         .pointer = p,
                         .size = LLVMStoreSizeOfType(c->u->layout, accessed_type(i)),
                         .flags = flags_of(c, i) | ir_log_of(LLVMGetAlignment(i))
                                                       << OMPGPU_EMU_ALIGN_SHIFT };
}

/* ------------------------------------------------------------------ sites */
static LLVMValueRef string_constant(const struct checks *c, const char *s, size_t n)
{
    LLVMValueRef text = LLVMConstStringInContext2(c->u->ctx, s, n, false),
                 g = LLVMAddGlobal(c->u->module, LLVMTypeOf(text), "");
    LLVMSetInitializer(g, text);
    LLVMSetGlobalConstant(g, true);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr);
    return g;
}

/* A name in the user's text: no part is ours.  clang's for a static variable of a function is
 * FUNCTION.NAME; a number follows where names would meet. */
static LLVMValueRef object_name(const struct checks *c, LLVMValueRef object)
{
    const char *name = object ? ir_users_name(c->u, object) : "";
    size_t n = strcspn(name, ".");
    if (name[n] && LLVMIsAGlobalVariable(object) && !strchr("0123456789", name[n + 1])) {
        name += n + 1;
        n = strcspn(name, ".");
    }
    return string_constant(c, name, n);
}

LLVMValueRef ir_make_site(const struct checks *c, LLVMValueRef at, unsigned flags,
                          LLVMValueRef object)
{
    unsigned n = 0;
    const char *file = LLVMGetDebugLocFilename(at, &n);
    LLVMValueRef members[] = { string_constant(c, file ? file : "", file ? n : 0),
                               object_name(c, object),
                               l_i64(c->u, object ? ir_known_size(c->u, object) : 0),
                               l_i32(c->u, LLVMGetDebugLocLine(at)),
                               l_i32(c->u, LLVMGetDebugLocColumn(at)),
                               l_i32(c->u, flags),
                               l_i32(c->u, 0) };
    LLVMValueRef g = LLVMAddGlobal(c->u->module, c->site, "");
    LLVMSetInitializer(g, LLVMConstNamedStruct(c->site, members, 7));
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    return g;
}

LLVMTypeRef ir_site_type(const struct ir_unit *u)
{
    static const char name[] = "ompgpu.site";
    LLVMTypeRef i32 = LLVMInt32TypeInContext(u->ctx), i64 = LLVMInt64TypeInContext(u->ctx),
                members[] = { l_ptr(u), l_ptr(u), i64, i32, i32, i32, i32 },
                site = LLVMGetTypeByName2(u->ctx, name);
    if (!site)
        LLVMStructSetBody(site = LLVMStructCreateNamed(u->ctx, name), members, 7, false);
    return site;
}

/* ------------------------------------------------------------------ tests */
void ir_call_check(const struct checks *c, LLVMBuilderRef b, const char *name, LLVMValueRef *args,
                   unsigned n)
{
    LLVMValueRef f = l_runtime(c->u, name), call = l_call(b, f, args, n);
    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(f));
}

/* if (condition, which is not expected) */
LLVMBasicBlockRef ir_open_unlikely(const struct checks *c, LLVMBuilderRef b, LLVMValueRef is)
{
    LLVMValueRef hint[] = { is, l_bool(c->u, false) };
    return l_open_if(
        b, l_call_intrinsic(c->u, b, "llvm.expect", LLVMInt1TypeInContext(c->u->ctx), hint, 2));
}

/* if (the image is tested for that): the builder stands in its block until it is closed. */
LLVMBasicBlockRef ir_open_if_tested(const struct checks *c, LLVMBuilderRef b, unsigned test)
{
    static const char invariant[] = "invariant.load";
    const struct ir_unit *u = c->u;
    LLVMValueRef tests = LLVMBuildLoad2(b, LLVMInt32TypeInContext(u->ctx),
                                        LLVMGetNamedGlobal(u->module, OMPGPU_EMU_CHECKED), "");
    LLVMSetMetadata(tests, LLVMGetMDKindIDInContext(u->ctx, invariant, sizeof invariant - 1),
                    LLVMMetadataAsValue(u->ctx, LLVMMDNodeInContext2(u->ctx, NULL, 0)));
    return l_open_if(b, LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, tests, l_i32(u, test), ""),
                                      l_i32(u, 0), ""));
}

/* void check(ptr p, ptr site, i64 mask), for an access of so many bytes.  mask: alignment - 1 */
static LLVMValueRef make_quick(const struct checks *c, unsigned log)
{
    const struct ir_unit *u = c->u;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(u->ctx), params[] = { l_ptr(u), l_ptr(u), i64 },
                shadow_type = LLVMIntTypeInContext(u->ctx, 8u << log);
    LLVMValueRef f = l_add_function(u, mem_printf("__ompgpu_check_%u", 1u << log), params, 3);
    LLVMBuilderRef b = l_open_function(f);
    ir_add_attribute(f, c->is_small ? "alwaysinline" : "noinline");
    ir_set_string_attribute(f, IR_CHECK, "");
    LLVMBasicBlockRef end = ir_open_if_tested(c, b, OMPGPU_EMU_TEST_SHADOW);
    LLVMValueRef p = LLVMGetParam(f, 0), distance = l_i64(u, OMPGPU_EMU_SHADOW),
                 address = LLVMBuildPtrToInt(b, p, i64, ""),
                 in_memory = LLVMBuildICmp(
                     b, LLVMIntULT, LLVMBuildSub(b, address, l_i64(u, OMPGPU_EMU_WINDOW), ""),
                     l_i64(u, OMPGPU_EMU_WINDOW_BYTES), "");
    LLVMBasicBlockRef done = l_open_if(b, in_memory);
    LLVMValueRef at = LLVMBuildGEP2(b, LLVMInt8TypeInContext(u->ctx), p, &distance, 1, ""),
                 shadow = LLVMBuildLoad2(b, shadow_type, at, "");
    LLVMSetAlignment(shadow, 1);
    LLVMValueRef bad =
        LLVMBuildOr(b, LLVMBuildICmp(b, LLVMIntNE, shadow, LLVMConstNull(shadow_type), ""),
                    LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, address, LLVMGetParam(f, 2), ""),
                                  l_i64(u, 0), ""),
                    "");
    LLVMBasicBlockRef good = ir_open_unlikely(c, b, bad);
    LLVMValueRef args[] = { p, l_i64(u, 1u << log), LLVMGetParam(f, 1) };
    ir_call_check(c, b, "__ompgpu_emu_check", args, 3);
    l_close_if(b, good);
    l_close_if(b, done);
    l_close_if(b, end);
    l_close_function(b);
    return f;
}

void ir_place_before(struct checks *c, LLVMValueRef at)
{
    LLVMPositionBuilderBefore(c->b, at);
    LLVMSetCurrentDebugLocation2(c->b, LLVMInstructionGetDebugLoc(at));
}

/* void bounds(ptr p, ptr base, i64 most, ptr site): base + most is the last place for an access */
static LLVMValueRef bounds_function(const struct checks *c)
{
    static const char name[] = "__ompgpu_check_bounds";
    const struct ir_unit *u = c->u;
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    if (f)
        return f;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(u->ctx),
                params[] = { l_ptr(u), l_ptr(u), i64, l_ptr(u) };
    f = l_add_function(u, name, params, 4);
    ir_add_attribute(f, "alwaysinline");
    LLVMBuilderRef b = l_open_function(f);
    LLVMValueRef p = LLVMGetParam(f, 0), base = LLVMGetParam(f, 1),
                 offset = LLVMBuildSub(b, LLVMBuildPtrToInt(b, p, i64, ""),
                                       LLVMBuildPtrToInt(b, base, i64, ""), ""),
                 bad = LLVMBuildICmp(b, LLVMIntUGT, offset, LLVMGetParam(f, 2), "");
    LLVMBasicBlockRef good = ir_open_unlikely(c, b, bad);
    LLVMValueRef args[] = { offset, LLVMGetParam(f, 3) };
    ir_call_check(c, b, "__ompgpu_emu_check_bounds", args, 2);
    l_close_if(b, good);
    l_close_function(b);
    return f;
}

static void check_bounds(struct checks *c, const struct access *a, LLVMValueRef base)
{
    uint64_t size = ir_known_size(c->u, base);
    LLVMValueRef from = a->pointer;
    while (LLVMIsAGetElementPtrInst(from) || LLVMIsABitCastInst(from))
        from = LLVMGetOperand(from, 0);
    if (size < a->size || has_constant_indices(a->pointer, from))
        return;
    LLVMValueRef args[] = { a->pointer, from, l_i64(c->u, size - a->size),
                            ir_make_site(c, a->at, a->flags, base) };
    ir_place_before(c, a->at);
    l_call(c->b, bounds_function(c), args, 4);
}

/* race: in the same call, where it is not NULL. */
static void check_memory(struct checks *c, const struct access *a, const struct extent *x,
                         LLVMValueRef race)
{
    unsigned log = ir_log_of(a->size);
    LLVMValueRef base = ir_accessed_base(a->pointer),
                 site =
                     ir_make_site(c, a->at, a->flags, ir_is_team_storage(c->u, base) ? base : NULL);
    ir_place_before(c, a->at);
    if (log == NOT_QUICK) {
        LLVMValueRef args[] = { a->pointer, l_i64(c->u, a->size), site };
        ir_call_check(c, c->b, "__ompgpu_emu_check", args, 3);
        return;
    }
    if (!c->quick[log])
        c->quick[log] = make_quick(c, log);
    LLVMValueRef args[] = { a->pointer, site,
                            l_i64(c->u, c->trusted ? 0 : LLVMGetAlignment(a->at) - 1) };
    if (x)
        ir_check_within(c, a, x, site, race, args[2]);
    else
        l_call(c->b, c->quick[log], args, 3);
}

static void check_access(struct checks *c, const struct access *a)
{
    LLVMValueRef base = ir_accessed_base(a->pointer);
    const struct extent *x = ir_extent_of(c, a);
    LLVMValueRef race = x && !x->written ? ir_quick_read(c, a) : NULL;
    if (ir_known_size(c->u, base))
        check_bounds(c, a, base);
    if (!ir_known_size(c->u, base) || ir_is_team_storage(c->u, base))
        check_memory(c, a, x, race);
    if (!race)
        ir_check_race(c, a);
}

/* ------------------------------------------------------------------ blocks of memory, calls */
static LLVMValueRef as_size(const struct checks *c, LLVMValueRef n)
{
    return LLVMBuildZExtOrBitCast(c->b, n, LLVMInt64TypeInContext(c->u->ctx), "");
}

static bool is_known(const struct checks *c, LLVMValueRef base)
{
    return (ir_known_size(c->u, base) && !ir_is_team_storage(c->u, base)) || is_parameter(c, base);
}

/* memcpy, memmove: values and what has none are copied alike; memset. */
static void check_block(struct checks *c, LLVMValueRef call, const char *name)
{
    bool set = strcmp(name, "llvm.memset") == 0;
    unsigned trusted = c->trusted ? OMPGPU_EMU_TRUSTED : 0;
    LLVMValueRef to = LLVMGetOperand(call, 0), from = LLVMGetOperand(call, 1),
                 n = LLVMGetOperand(call, 2);
    if (is_known(c, ir_accessed_base(to)) && (set || is_known(c, ir_accessed_base(from))))
        return;
    ir_place_before(c, call);
    LLVMValueRef site = ir_make_site(c, call, trusted | OMPGPU_EMU_WRITES, NULL),
                 args[] = { to, set ? as_size(c, n) : from, set ? site : as_size(c, n), site };
    ir_call_check(c, c->b, set ? "__ompgpu_emu_check" : "__ompgpu_emu_check_copy", args,
                  set ? 3 : 4);
    if (c->trusted)
        return;
    ir_call_race(c, to, as_size(c, n), site, NULL);
    if (!set)
        ir_call_race(c, from, as_size(c, n), ir_make_site(c, call, OMPGPU_EMU_READS, NULL), NULL);
}

/* A function of the C library may write to what it is given. */
static void note_outputs(struct checks *c, LLVMValueRef call)
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef p = LLVMGetOperand(call, i);
        LLVMValueRef base = ir_accessed_base(p);
        if (LLVMTypeOf(p) != l_ptr(c->u) || LLVMIsAAllocaInst(base) ||
            (LLVMIsAConstant(p) && !ir_is_team_shared(c->u, base) &&
             !ir_is_team_storage(c->u, base)))
            continue;
        LLVMPositionBuilderBefore(c->b, call);
        LLVMSetCurrentDebugLocation2(c->b, LLVMInstructionGetDebugLoc(call));
        ir_call_check(c, c->b, "__ompgpu_emu_written", &p, 1);
    }
}

static void check_call(struct checks *c, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const char *name = LLVMIsAFunction(callee) ? ir_intrinsic(callee) : "";
    if (ir_is_in_team(call))
        ir_note_in_team(c, call);
    if (text_starts(name, "llvm.memcpy") || text_starts(name, "llvm.memmove") ||
        strcmp(name, "llvm.memset") == 0)
        check_block(c, call, name);
    else if (!ir_check_texts(c, call) && !*name && LLVMIsAFunction(callee) &&
             LLVMIsDeclaration(callee))
        note_outputs(c, call);
}

/* ------------------------------------------------------------------ all of it */
/* Code of the device runtime. */
static bool is_trusted(LLVMValueRef f)
{
    return !LLVMGetSubprogram(f) && !ir_string_attribute(f, IR_GUARDED);
}

static LLVMValueRef params_of(const struct ir_unit *u, LLVMValueRef f)
{
    for (unsigned i = 0; i < u->nkernels; i++)
        if (ir_kernel_function(u->module, &u->kernels[i]) == f)
            return LLVMGetParam(f, 0);
    return NULL;
}

static void check_function(struct checks *c, LLVMValueRef f)
{
    access_list accesses = { 0 };
    ir_values calls = { 0 }, fences = { 0 }, exposed = { 0 };
    c->trusted = is_trusted(f);
    c->params = params_of(c->u, f);
    IR_EACH_INSTRUCTION_OF(i, f) {
        if (ir_is_access(i))
            add_access(c, &accesses, i);
        else if (LLVMIsACallInst(i))
            *VEC_PUSH(NULL, &calls) = i;
        if (ir_is_fence(i))
            *VEC_PUSH(NULL, &fences) = i;
    }
    if (!c->trusted)
        ir_find_exposed(f, &exposed);
    ir_find_extents(c, f, &accesses);
    ir_join_updates(c, &accesses);
    for (unsigned i = 0; i < accesses.n; i++)
        check_access(c, &accesses.at[i]);
    for (unsigned i = 0; i < calls.n; i++)
        check_call(c, calls.at[i]);
    for (unsigned i = 0; i < fences.n; i++)
        ir_note_fence(c, fences.at[i]);
    ir_give_room(c, f, &exposed);
}

/* The plugin sees by it what an image is. */
static void add_mark(const struct ir_unit *u, const char *name, uint32_t value)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(u->ctx);
    LLVMSetInitializer(LLVMAddGlobal(u->module, i32, name), l_i32(u, value));
}

/* Of the user's code. */
static unsigned count_accesses(const struct ir_unit *u)
{
    unsigned n = 0;
    IR_EACH_FUNCTION(f, u->module) {
        if (LLVMIsDeclaration(f) || !LLVMGetSubprogram(f))
            continue;
        IR_EACH_INSTRUCTION_OF(i, f)
            n += ir_is_access(i);
    }
    return n;
}

/* Loops that are to be unrolled no longer can be, of which LLVM would warn the user. */
static void drop_wishes(const struct ir_unit *u, LLVMValueRef f)
{
    unsigned kind = LLVMGetMDKindIDInContext(u->ctx, "llvm.loop", 9);
    IR_EACH_BLOCK(block, f)
        if (LLVMGetMetadata(LLVMGetBasicBlockTerminator(block), kind))
            LLVMSetMetadata(LLVMGetBasicBlockTerminator(block), kind, NULL);
}

static void mark_loads(const struct ir_unit *u, LLVMValueRef f)
{
    IR_EACH_INSTRUCTION_OF(i, f)
        if (LLVMIsALoadInst(i))
            ir_mark(u, i, IR_TRUSTED);
}

/* What the main thread runs for the others becomes part of the user's functions again.  From -O1
 * on, locals whose address nobody has and values that were just read are no accesses.  Threads make
 * no access that the source does not ask them for, and the runtime's functions remain functions,
 * but for the plain ones. */
static void simplify(const struct ir_unit *u, LLVMTargetMachineRef machine)
{
    static const char as_written[] = "sanitize_thread", inside[] = "alwaysinline";
    bool optimised = u->opt->level != '0';
    ir_values helpers = { 0 }, calls = { 0 };
    IR_EACH_FUNCTION(f, u->module) {
        if (LLVMIsDeclaration(f))
            continue;
        ir_add_attribute(f, as_written);
        if (!is_trusted(f) || !ir_has(f, inside))
            continue;
        if (optimised)
            ir_run_function_passes(f, "mem2reg", machine);
        *VEC_PUSH(NULL, &helpers) = f;
    }
    for (unsigned i = 0; i < helpers.n; i++)
        if (optimised && ir_is_plain_helper(helpers.at[i])) {
            mark_loads(u, helpers.at[i]);
        } else {
            ir_remove_attribute(helpers.at[i], inside);
            *VEC_PUSH(NULL, &calls) = helpers.at[i];
        }
    ir_run_passes(
        u->module,
        u->opt->level == '0'
            ? "always-inline"
            : "always-inline,function(mem2reg,instsimplify,simplifycfg,early-cse<memssa>)",
        machine);
    IR_EACH_FUNCTION(f, u->module)
        ir_remove_attribute(f, as_written);
    for (unsigned i = 0; i < calls.n; i++)
        ir_add_attribute(calls.at[i], inside);
}

/* Even at -O0: nobody wants to step through them. */
static void finish_tests(const struct checks *c, LLVMTargetMachineRef machine)
{
    static const char passes[] = "instcombine<no-verify-fixpoint>,early-cse,simplifycfg";
    for (unsigned log = 0; log < NOT_QUICK; log++) {
        LLVMValueRef tests[] = { c->quick[log], c->race[IR_READ][log], c->race[IR_WRITE][log],
                                 c->race[IR_UPDATE][log] };
        for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++)
            if (tests[i])
                ir_run_function_passes(tests[i], passes, machine);
    }
}

void ir_add_checks(struct ir_unit *u, LLVMTargetMachineRef machine)
{
    enum { FEW = 300 };
    struct checks c = { .u = u, .b = LLVMCreateBuilderInContext(u->ctx), .site = ir_site_type(u) };
    add_mark(u, OMPGPU_EMU_CHECKED, OMPGPU_EMU_HAS_GUARDS);
    if (u->opt->debug)
        add_mark(u, OMPGPU_EMU_DEBUG, 0);
    simplify(u, machine);
    c.is_small = u->opt->level != '0' && count_accesses(u) <= FEW;
    ir_values functions = { 0 };
    IR_EACH_FUNCTION(f, u->module)
        if (!LLVMIsDeclaration(f) && !text_starts(ir_name(f), "__ompgpu_emu_"))
            *VEC_PUSH(NULL, &functions) = f;
    for (unsigned i = 0; i < functions.n; i++) {
        check_function(&c, functions.at[i]);
        drop_wishes(u, functions.at[i]);
    }
    finish_tests(&c, machine);
    LLVMDisposeBuilder(c.b);
}
