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
 * make, too, and each fence.
 *
 * The check is of what the user wrote, so it comes before the optimiser moves accesses.  From -O1
 * on, locals in registers and values that were just read are no accesses any more.  Code of
 * the device runtime (functions without debug information) is trusted; but what it stores has a
 * value from then on. */
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include "hostrt/plugin.h"
#include <llvm-c/DebugInfo.h>
#include <string.h>

_Static_assert(offsetof(struct ompgpu_emu_site, object_size) == 16 &&
                   offsetof(struct ompgpu_emu_site, line) == 24 &&
                   offsetof(struct ompgpu_emu_site, said) == 36,
               "site_type() has the same members");

/* NOT_QUICK: more than 16, or no power of two */
enum { NOT_QUICK = 5 };
static unsigned log_of(uint64_t n)
{
    unsigned log = 0;
    while (log < NOT_QUICK && (uint64_t)1 << log != n)
        log++;
    return log;
}

struct checks {
    struct ir_unit *u;
    LLVMBuilderRef b;
    LLVMTypeRef site; /* struct ompgpu_emu_site */
    /* by log2 of the bytes: the function that has the test */
    LLVMValueRef quick[NOT_QUICK], race[2][NOT_QUICK];
    /* few accesses: the tests are inlined; else the optimiser would take minutes */
    bool is_small;
    bool trusted;        /* the function at hand is the runtime's */
    LLVMValueRef params; /* … is a kernel: its parameter array; NULL */
};
struct access {
    LLVMValueRef at, pointer;
    uint64_t size;
    unsigned flags; /* OMPGPU_EMU_WRITES … */
};
typedef VEC(struct access) access_list;

/* ------------------------------------------------------------------ what is accessed */
static LLVMValueRef base_of(LLVMValueRef p)
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
static uint64_t size_of(const struct ir_unit *u, LLVMValueRef base)
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

static bool is_atomic(LLVMValueRef i)
{
    return LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) ||
           ((LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) &&
            LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic);
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
    if (LLVMIsALoadInst(i) && !only_goes_back(i, LLVMGetOperand(i, 0)) && !is_byte_copy(c->u, i))
        flags |= OMPGPU_EMU_READS;
    return flags;
}

static LLVMTypeRef accessed_type(LLVMValueRef i)
{
    return LLVMIsALoadInst(i) ? LLVMTypeOf(i)
                              : LLVMTypeOf(LLVMGetOperand(i, LLVMIsAStoreInst(i) ? 0 : 1));
}

static bool is_access(LLVMValueRef i)
{
    return LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) ||
           LLVMIsAAtomicCmpXchgInst(i);
}

/* What the host hands to the kernel: the array, and values that it points to. */
static bool is_parameter(const struct checks *c, LLVMValueRef base)
{
    return c->params && (base == c->params ||
                         (LLVMIsALoadInst(base) && base_of(LLVMGetOperand(base, 0)) == c->params));
}

static void add_access(const struct checks *c, access_list *list, LLVMValueRef i)
{
    LLVMValueRef p = LLVMGetOperand(i, LLVMIsAStoreInst(i) ? 1 : 0), base = base_of(p);
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(p)) || is_parameter(c, base) ||
        (size_of(c->u, base) && has_constant_indices(p, base) && LLVMIsAAllocaInst(base)) ||
        (c->trusted && (LLVMIsALoadInst(i) || size_of(c->u, base))))
        return;
    *VEC_PUSH(NULL, list) =
        (struct access){ i, p, LLVMStoreSizeOfType(c->u->layout, accessed_type(i)),
                         flags_of(c, i) | log_of(LLVMGetAlignment(i)) << OMPGPU_EMU_ALIGN_SHIFT };
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

/* A name in the user's text: no part is ours. */
static LLVMValueRef object_name(const struct checks *c, LLVMValueRef object)
{
    const char *name = object ? ir_name(object) : "";
    size_t n = strcspn(name, ".");
    return string_constant(c, name, n);
}

static LLVMValueRef make_site(const struct checks *c, LLVMValueRef at, unsigned flags,
                              LLVMValueRef object)
{
    unsigned n = 0;
    const char *file = LLVMGetDebugLocFilename(at, &n);
    LLVMValueRef members[] = { string_constant(c, file ? file : "", file ? n : 0),
                               object_name(c, object),
                               l_i64(c->u, object ? size_of(c->u, object) : 0),
                               l_i32(c->u, LLVMGetDebugLocLine(at)),
                               l_i32(c->u, LLVMGetDebugLocColumn(at)),
                               l_i32(c->u, flags),
                               l_i32(c->u, 0) };
    LLVMValueRef g = LLVMAddGlobal(c->u->module, c->site, "");
    LLVMSetInitializer(g, LLVMConstNamedStruct(c->site, members, 7));
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    return g;
}

/* ------------------------------------------------------------------ tests */
static void call_check(const struct checks *c, LLVMBuilderRef b, const char *name,
                       LLVMValueRef *args, unsigned n)
{
    LLVMValueRef f = l_runtime(c->u, name), call = l_call(b, f, args, n);
    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(f));
}

/* if (condition, which is not expected) */
static LLVMBasicBlockRef open_unlikely(const struct checks *c, LLVMBuilderRef b, LLVMValueRef is)
{
    LLVMValueRef hint[] = { is, l_bool(c->u, false) };
    return l_open_if(
        b, l_call_intrinsic(c->u, b, "llvm.expect", LLVMInt1TypeInContext(c->u->ctx), hint, 2));
}

/* if (the image is tested for that): the builder stands in its block until it is closed. */
static LLVMBasicBlockRef open_if_tested(const struct checks *c, LLVMBuilderRef b, unsigned test)
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
    LLVMBasicBlockRef end = open_if_tested(c, b, OMPGPU_EMU_TEST_SHADOW);
    LLVMValueRef p = LLVMGetParam(f, 0), distance = l_i64(u, OMPGPU_EMU_SHADOW),
                 address = LLVMBuildPtrToInt(b, p, i64, ""),
                 in_memory = LLVMBuildICmp(
                     b, LLVMIntULT, LLVMBuildSub(b, address, l_i64(u, OMPGPU_EMU_WINDOW), ""),
                     l_i64(u, OMPGPU_EMU_STACKS_AT), "");
    LLVMBasicBlockRef done = l_open_if(b, in_memory);
    LLVMValueRef at = LLVMBuildGEP2(b, LLVMInt8TypeInContext(u->ctx), p, &distance, 1, ""),
                 shadow = LLVMBuildLoad2(b, shadow_type, at, "");
    LLVMSetAlignment(shadow, 1);
    LLVMValueRef bad =
        LLVMBuildOr(b, LLVMBuildICmp(b, LLVMIntNE, shadow, LLVMConstNull(shadow_type), ""),
                    LLVMBuildICmp(b, LLVMIntNE, LLVMBuildAnd(b, address, LLVMGetParam(f, 2), ""),
                                  l_i64(u, 0), ""),
                    "");
    LLVMBasicBlockRef good = open_unlikely(c, b, bad);
    LLVMValueRef args[] = { p, l_i64(u, 1u << log), LLVMGetParam(f, 1) };
    call_check(c, b, "__ompgpu_emu_check", args, 3);
    l_close_if(b, good);
    l_close_if(b, done);
    l_close_if(b, end);
    l_close_function(b);
    return f;
}

static void place_before(struct checks *c, LLVMValueRef at)
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
    LLVMBasicBlockRef good = open_unlikely(c, b, bad);
    LLVMValueRef args[] = { offset, LLVMGetParam(f, 3) };
    call_check(c, b, "__ompgpu_emu_check_bounds", args, 2);
    l_close_if(b, good);
    l_close_function(b);
    return f;
}

static void check_bounds(struct checks *c, const struct access *a, LLVMValueRef base)
{
    uint64_t size = size_of(c->u, base);
    LLVMValueRef from = a->pointer;
    while (LLVMIsAGetElementPtrInst(from) || LLVMIsABitCastInst(from))
        from = LLVMGetOperand(from, 0);
    if (size < a->size || has_constant_indices(a->pointer, from))
        return;
    LLVMValueRef args[] = { a->pointer, from, l_i64(c->u, size - a->size),
                            make_site(c, a->at, a->flags, base) };
    place_before(c, a->at);
    l_call(c->b, bounds_function(c), args, 4);
}

static void check_memory(struct checks *c, const struct access *a)
{
    unsigned log = log_of(a->size);
    LLVMValueRef site = make_site(c, a->at, a->flags, NULL);
    place_before(c, a->at);
    if (log == NOT_QUICK) {
        LLVMValueRef args[] = { a->pointer, l_i64(c->u, a->size), site };
        call_check(c, c->b, "__ompgpu_emu_check", args, 3);
        return;
    }
    if (!c->quick[log])
        c->quick[log] = make_quick(c, log);
    LLVMValueRef args[] = { a->pointer, site,
                            l_i64(c->u, c->trusted ? 0 : LLVMGetAlignment(a->at) - 1) };
    l_call(c->b, c->quick[log], args, 3);
}

/* ------------------------------------------------------------------ races */
/* A function that calls the runtime's with its own arguments if races are looked for. */
static LLVMValueRef if_racing(const struct checks *c, const char *name, const char *callee)
{
    LLVMValueRef f = LLVMGetNamedFunction(c->u->module, name), args[4];
    if (f)
        return f;
    LLVMTypeRef type = LLVMGlobalGetValueType(l_runtime(c->u, callee)), params[4];
    unsigned n = LLVMCountParamTypes(type);
    LLVMGetParamTypes(type, params);
    f = l_add_function(c->u, name, params, n);
    ir_add_attribute(f, "alwaysinline");
    LLVMGetParams(f, args);
    LLVMBuilderRef b = l_open_function(f);
    LLVMBasicBlockRef not = open_if_tested(c, b, OMPGPU_EMU_TEST_RACES);
    call_check(c, b, callee, args, n);
    l_close_if(b, not);
    l_close_function(b);
    return f;
}

/* As 64 bits; NULL: it is not that simple. */
static LLVMValueRef stored_value(const struct checks *c, LLVMValueRef at)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(c->u->ctx);
    LLVMValueRef v = LLVMIsAStoreInst(at) ? LLVMGetOperand(at, 0) : NULL;
    LLVMTypeKind kind = v ? LLVMGetTypeKind(LLVMTypeOf(v)) : LLVMVoidTypeKind;
    if (kind == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(c->b, v, i64, "");
    if (kind == LLVMDoubleTypeKind)
        return LLVMBuildBitCast(c->b, v, i64, "");
    if (kind == LLVMFloatTypeKind)
        v = LLVMBuildBitCast(c->b, v, LLVMInt32TypeInContext(c->u->ctx), "");
    else if (kind != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(LLVMTypeOf(v)) > 64)
        return NULL;
    return LLVMBuildZExtOrBitCast(c->b, v, i64, "");
}

/* Any access; a function of the runtime's. */
static void call_race(const struct checks *c, LLVMValueRef p, LLVMValueRef size, LLVMValueRef site,
                      LLVMValueRef value)
{
    LLVMValueRef args[] = { p, size, site, value ? value : l_i64(c->u, 0) };
    l_call(c->b, if_racing(c, "__ompgpu_check_race", "__ompgpu_emu_race"), args, 4);
}

/* The record of the caller's access in the cell of its word (hostrt/plugin.h). */
static LLVMValueRef own_record(const struct checks *c, LLVMBuilderRef b, LLVMValueRef address,
                               unsigned log, LLVMValueRef stamp, unsigned kind)
{
    const struct ir_unit *u = c->u;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(u->ctx);
    LLVMValueRef tid = l_call_runtime(u, b, "__ompgpu_emu_tid", NULL, 0), part,
                 low = LLVMBuildTrunc(b, address, i32, "");
    if (log == 0)
        part = LLVMBuildAdd(b, LLVMBuildAnd(b, low, l_i32(u, 3), ""), l_i32(u, 3), "");
    else if (log == 1)
        part = LLVMBuildAdd(
            b, LLVMBuildAnd(b, LLVMBuildLShr(b, low, l_i32(u, 1), ""), l_i32(u, 1), ""),
            l_i32(u, 1), "");
    else
        part = l_i32(u, 0);
    LLVMValueRef who =
        LLVMBuildOr(b, stamp, LLVMBuildShl(b, tid, l_i32(u, OMPGPU_EMU_THREAD_SHIFT), ""), "");
    return LLVMBuildOr(b, who,
                       LLVMBuildOr(b, LLVMBuildShl(b, part, l_i32(u, OMPGPU_EMU_PART_SHIFT), ""),
                                   l_i32(u, kind), ""),
                       "");
}

static LLVMValueRef is_equal(const struct checks *c, LLVMBuilderRef b, LLVMValueRef v,
                             unsigned mask, unsigned to)
{
    return LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildAnd(b, v, l_i32(c->u, mask), ""), l_i32(c->u, to),
                         "");
}

/* The cell of p, and as what it is left: i64 *at. */
static LLVMValueRef cell_address(const struct checks *c, LLVMBuilderRef b, LLVMValueRef p,
                                 LLVMValueRef address)
{
    const struct ir_unit *u = c->u;
    LLVMValueRef word = LLVMBuildAnd(b, address, l_i64(u, ~(uint64_t)3), ""),
                 at = LLVMBuildAdd(b, LLVMBuildShl(b, word, l_i64(u, 1), ""),
                                   l_i64(u, OMPGPU_EMU_CELLS - 2 * OMPGPU_EMU_WINDOW), ""),
                 distance = LLVMBuildSub(b, at, address, "");
    return LLVMBuildGEP2(b, LLVMInt8TypeInContext(u->ctx), p, &distance, 1, "");
}

static LLVMValueRef is_after_stacks(const struct checks *c, LLVMBuilderRef b, LLVMValueRef offset)
{
    return LLVMBuildICmp(b, LLVMIntUGE, offset, l_i64(c->u, OMPGPU_EMU_SHARED_AT), "");
}

/* A 32-bit member of what the plugin keeps of the calling thread. */
static LLVMValueRef member_of(const struct checks *c, LLVMBuilderRef b, LLVMValueRef self,
                              LLVMValueRef offset)
{
    LLVMValueRef at = LLVMBuildGEP2(b, LLVMInt8TypeInContext(c->u->ctx), self, &offset, 1, "");
    return LLVMBuildLoad2(b, LLVMInt32TypeInContext(c->u->ctx), at, "");
}

/* Phases below it are over for who accesses the memory at that offset in the window. */
static LLVMValueRef floor_of(const struct checks *c, LLVMBuilderRef b, LLVMValueRef self,
                             LLVMValueRef offset)
{
    const size_t all = offsetof(struct ompgpu_emu_thread, floor),
                 teams = offsetof(struct ompgpu_emu_thread, team_floor);
    return member_of(c, b, self,
                     LLVMBuildSelect(b, is_after_stacks(c, b, offset), l_i64(c->u, teams),
                                     l_i64(c->u, all), ""));
}

/* What of the cell allows an access, beside what is to be put there. */
struct last {
    LLVMValueRef pass; /* nothing is to be done */
    LLVMValueRef put;  /* the access takes its place */
    LLVMValueRef next; /* in the lower half of the cell then */
};

/* A write passes after a write of the thread's own, and takes the place of its reads. */
static struct last compare_write(const struct checks *c, LLVMBuilderRef b, LLVMValueRef last,
                                 LLVMValueRef mine, LLVMValueRef floor)
{
    LLVMValueRef own = is_equal(c, b, LLVMBuildXor(b, last, mine, ""), ~(unsigned)OMPGPU_EMU_WRITE,
                                0),
                 old = LLVMBuildICmp(b, LLVMIntULT, last, floor, "");
    return (struct last){ LLVMBuildICmp(b, LLVMIntEQ, last, mine, ""), LLVMBuildOr(b, own, old, ""),
                          mine };
}

/* A read passes after any access of the thread's own and where it is one of several threads;
 * another thread's read becomes that of several. */
static struct last compare_read(const struct checks *c, LLVMBuilderRef b, LLVMValueRef last,
                                LLVMValueRef mine, LLVMValueRef floor)
{
    const unsigned threads = 1023u << OMPGPU_EMU_THREAD_SHIFT;
    LLVMValueRef differs = LLVMBuildXor(b, last, mine, ""),
                 own = is_equal(c, b, differs, ~(unsigned)OMPGPU_EMU_WRITE, 0),
                 many = is_equal(c, b, differs, ~threads, OMPGPU_EMU_READ_BY_MANY),
                 one = is_equal(c, b, differs, ~threads, OMPGPU_EMU_READ),
                 old = LLVMBuildICmp(b, LLVMIntULT, last, floor, ""),
                 teams = LLVMBuildAnd(b, LLVMBuildNot(b, old, ""),
                                      is_equal(c, b, last, 31,
                                               OMPGPU_EMU_READ_BY_TEAMS << OMPGPU_EMU_PART_SHIFT |
                                                   OMPGPU_EMU_READ_BY_MANY),
                                      "");
    return (struct last){ LLVMBuildOr(b, own, LLVMBuildOr(b, many, teams, ""), ""),
                          LLVMBuildOr(b, one, old, ""),
                          LLVMBuildOr(b, mine, LLVMBuildZExt(b, one, LLVMTypeOf(mine), ""), "") };
}
_Static_assert((OMPGPU_EMU_READ | 1) == OMPGPU_EMU_READ_BY_MANY, "compare_read() adds 1");

/* The site's half of a cell. */
static LLVMValueRef site_half(const struct checks *c, LLVMBuilderRef b, LLVMValueRef site)
{
    return LLVMBuildShl(b, LLVMBuildPtrToInt(b, site, LLVMInt64TypeInContext(c->u->ctx), ""),
                        l_i64(c->u, 32), "");
}

/* An access in device or team-shared memory.  What is over gives way to it; what is neither allowed
 * at once nor over is looked at more closely. */
static void visit_cell(const struct checks *c, LLVMBuilderRef b, LLVMValueRef *args,
                       LLVMValueRef offset, unsigned log, bool writes)
{
    const struct ir_unit *u = c->u;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(u->ctx), i32 = LLVMInt32TypeInContext(u->ctx);
    LLVMValueRef address = LLVMBuildPtrToInt(b, args[0], i64, ""),
                 at = cell_address(c, b, args[0], address),
                 self = l_call_runtime(u, b, IR_EMU_SELF, NULL, 0),
                 stamp = member_of(c, b, self, l_i64(u, offsetof(struct ompgpu_emu_thread, stamp))),
                 mine = own_record(c, b, address, log, stamp,
                                   writes ? OMPGPU_EMU_WRITE : OMPGPU_EMU_READ),
                 known = LLVMBuildICmp(b, LLVMIntNE, stamp, l_i32(u, 0), ""),
                 cell = LLVMBuildTrunc(b, LLVMBuildLoad2(b, i64, at, ""), i32, "");
    struct last last =
        (writes ? compare_write : compare_read)(c, b, cell, mine, floor_of(c, b, self, offset));
    LLVMBasicBlockRef done =
        l_open_if(b, LLVMBuildNot(b, LLVMBuildAnd(b, known, last.pass, ""), ""));
    LLVMValueRef put = LLVMBuildAnd(b, known, last.put, "");
    LLVMBasicBlockRef kept = l_open_if(b, put);
    LLVMBuildStore(
        b, LLVMBuildOr(b, site_half(c, b, args[2]), LLVMBuildZExt(b, last.next, i64, ""), ""), at);
    l_close_if(b, kept);
    LLVMBasicBlockRef seen = open_unlikely(c, b, LLVMBuildNot(b, put, ""));
    call_check(c, b, "__ompgpu_emu_race", args, 4);
    l_close_if(b, seen);
    l_close_if(b, done);
}

/* void race(ptr p, ptr site, i64 value), for an access of so many bytes.  A stack is a thread's
 * own; what is not in the window is a variable. */
static LLVMValueRef make_race(const struct checks *c, unsigned log, bool writes)
{
    const struct ir_unit *u = c->u;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(u->ctx), params[] = { l_ptr(u), l_ptr(u), i64 };
    LLVMValueRef f = l_add_function(
        u, mem_printf("__ompgpu_race_%s_%u", writes ? "write" : "read", 1u << log), params, 3);
    LLVMBuilderRef b = l_open_function(f);
    ir_add_attribute(f, c->is_small ? "alwaysinline" : "noinline");
    LLVMBasicBlockRef end = open_if_tested(c, b, OMPGPU_EMU_TEST_RACES);
    LLVMValueRef args[] = { LLVMGetParam(f, 0), l_i64(u, 1u << log), LLVMGetParam(f, 1),
                            LLVMGetParam(f, 2) },
                 offset = LLVMBuildSub(b, LLVMBuildPtrToInt(b, args[0], i64, ""),
                                       l_i64(u, OMPGPU_EMU_WINDOW), ""),
                 in_memory =
                     LLVMBuildICmp(b, LLVMIntULT, offset, l_i64(u, OMPGPU_EMU_STACKS_AT), ""),
                 in_window =
                     LLVMBuildICmp(b, LLVMIntULT, offset, l_i64(u, OMPGPU_EMU_WINDOW_BYTES), ""),
                 shared = LLVMBuildAnd(b, in_window, is_after_stacks(c, b, offset), "");
    LLVMBasicBlockRef elsewhere = l_open_if(b, LLVMBuildOr(b, in_memory, shared, ""));
    visit_cell(c, b, args, offset, log, writes);
    l_close_if(b, elsewhere);
    LLVMBasicBlockRef local = open_unlikely(c, b, LLVMBuildNot(b, in_window, ""));
    call_check(c, b, "__ompgpu_emu_race", args, 4);
    l_close_if(b, local);
    l_close_if(b, end);
    l_close_function(b);
    return f;
}

enum { LARGEST_WORD = 4 }; /* sizes by their logarithm */
static bool has_quick_race(const struct checks *c, const struct access *a, unsigned log)
{
    return log < LARGEST_WORD && !(a->flags & OMPGPU_EMU_ATOMIC) &&
           LLVMGetAlignment(a->at) >= 1u << log && !size_of(c->u, base_of(a->pointer));
}

static void check_race(struct checks *c, const struct access *a)
{
    LLVMValueRef base = base_of(a->pointer);
    unsigned log = log_of(a->size);
    bool writes = LLVMIsAStoreInst(a->at);
    if (c->trusted || LLVMIsAAllocaInst(base) ||
        (LLVMIsAGlobalVariable(base) && LLVMIsGlobalConstant(base)))
        return;
    place_before(c, a->at);
    LLVMValueRef value = stored_value(c, a->at),
                 site = make_site(c, a->at, a->flags | (value ? OMPGPU_EMU_VALUE : 0), NULL);
    if (!has_quick_race(c, a, log)) {
        call_race(c, a->pointer, l_i64(c->u, a->size), site, value);
        return;
    }
    LLVMValueRef args[] = { a->pointer, site, value ? value : l_i64(c->u, 0) };
    if (!c->race[writes][log])
        c->race[writes][log] = make_race(c, log, writes);
    l_call(c->b, c->race[writes][log], args, 3);
}

static LLVMAtomicOrdering ordering_of(LLVMValueRef i)
{
    return LLVMIsAAtomicCmpXchgInst(i) ? LLVMGetCmpXchgSuccessOrdering(i) : LLVMGetOrdering(i);
}

/* What hands on, or takes over, what other threads have done. */
static bool is_fence(LLVMValueRef i)
{
    return LLVMIsAFenceInst(i) || (is_access(i) && ordering_of(i) > LLVMAtomicOrderingMonotonic);
}

static void note_fence(struct checks *c, LLVMValueRef i)
{
    LLVMValueRef f = if_racing(c, "__ompgpu_check_fence", "__ompgpu_emu_fenced");
    place_before(c, i);
    l_call(c->b, f, NULL, 0);
    if (LLVMIsAFenceInst(i))
        return;
    place_before(c, LLVMGetNextInstruction(i));
    l_call(c->b, f, NULL, 0);
}

static void check_access(struct checks *c, const struct access *a)
{
    LLVMValueRef base = base_of(a->pointer);
    if (size_of(c->u, base))
        check_bounds(c, a, base);
    else
        check_memory(c, a);
    check_race(c, a);
}

/* ------------------------------------------------------------------ blocks of memory, calls */
static LLVMValueRef as_size(const struct checks *c, LLVMValueRef n)
{
    return LLVMBuildZExtOrBitCast(c->b, n, LLVMInt64TypeInContext(c->u->ctx), "");
}

static bool is_known(const struct checks *c, LLVMValueRef base)
{
    return size_of(c->u, base) || is_parameter(c, base);
}

/* memcpy, memmove: values and what has none are copied alike; memset. */
static void check_block(struct checks *c, LLVMValueRef call, const char *name)
{
    bool set = strcmp(name, "llvm.memset") == 0;
    unsigned trusted = c->trusted ? OMPGPU_EMU_TRUSTED : 0;
    LLVMValueRef to = LLVMGetOperand(call, 0), from = LLVMGetOperand(call, 1),
                 n = LLVMGetOperand(call, 2);
    if (is_known(c, base_of(to)) && (set || is_known(c, base_of(from))))
        return;
    place_before(c, call);
    LLVMValueRef site = make_site(c, call, trusted | OMPGPU_EMU_WRITES, NULL),
                 args[] = { to, set ? as_size(c, n) : from, set ? site : as_size(c, n), site };
    call_check(c, c->b, set ? "__ompgpu_emu_check" : "__ompgpu_emu_check_copy", args, set ? 3 : 4);
    if (c->trusted)
        return;
    call_race(c, to, as_size(c, n), site, NULL);
    if (!set)
        call_race(c, from, as_size(c, n), make_site(c, call, OMPGPU_EMU_READS, NULL), NULL);
}

/* A function of the C library may write to what it is given. */
static void note_outputs(struct checks *c, LLVMValueRef call)
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef p = LLVMGetOperand(call, i);
        if (LLVMTypeOf(p) != l_ptr(c->u) || LLVMIsAConstant(p) || LLVMIsAAllocaInst(base_of(p)))
            continue;
        LLVMPositionBuilderBefore(c->b, call);
        LLVMSetCurrentDebugLocation2(c->b, LLVMInstructionGetDebugLoc(call));
        call_check(c, c->b, "__ompgpu_emu_written", &p, 1);
    }
}

static void check_call(struct checks *c, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const char *name = LLVMIsAFunction(callee) ? ir_intrinsic(callee) : "";
    if (text_starts(name, "llvm.memcpy") || text_starts(name, "llvm.memmove") ||
        strcmp(name, "llvm.memset") == 0)
        check_block(c, call, name);
    else if (!*name && LLVMIsAFunction(callee) && LLVMIsDeclaration(callee))
        note_outputs(c, call);
}

/* ------------------------------------------------------------------ all of it */
/* Code of the device runtime. */
static bool is_trusted(LLVMValueRef f) { return !LLVMGetSubprogram(f); }

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
    ir_values calls = { 0 }, fences = { 0 };
    c->trusted = is_trusted(f);
    c->params = params_of(c->u, f);
    IR_EACH_INSTRUCTION_OF(i, f) {
        if (is_access(i))
            add_access(c, &accesses, i);
        else if (LLVMIsACallInst(i))
            *VEC_PUSH(NULL, &calls) = i;
        if (is_fence(i))
            *VEC_PUSH(NULL, &fences) = i;
    }
    for (unsigned i = 0; i < accesses.n; i++)
        check_access(c, &accesses.at[i]);
    for (unsigned i = 0; i < calls.n; i++)
        check_call(c, calls.at[i]);
    for (unsigned i = 0; i < fences.n; i++)
        note_fence(c, fences.at[i]);
}

static LLVMTypeRef site_type(const struct ir_unit *u)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(u->ctx), i64 = LLVMInt64TypeInContext(u->ctx),
                members[] = { l_ptr(u), l_ptr(u), i64, i32, i32, i32, i32 },
                site = LLVMStructCreateNamed(u->ctx, "ompgpu.site");
    LLVMStructSetBody(site, members, 7, false);
    return site;
}

/* The plugin sees by it what an image is. */
static void add_mark(const struct ir_unit *u, const char *name)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(u->ctx);
    LLVMSetInitializer(LLVMAddGlobal(u->module, i32, name), LLVMConstNull(i32));
}

/* Of the user's code. */
static unsigned count_accesses(const struct ir_unit *u)
{
    unsigned n = 0;
    IR_EACH_FUNCTION(f, u->module) {
        if (LLVMIsDeclaration(f) || !LLVMGetSubprogram(f))
            continue;
        IR_EACH_INSTRUCTION_OF(i, f)
            n += is_access(i);
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

/* Locals whose address nobody has and values that were just read are no accesses.  Threads make no
 * access that the source does not ask them for, and the runtime's functions remain functions. */
static void simplify(const struct ir_unit *u, LLVMTargetMachineRef machine)
{
    static const char as_written[] = "sanitize_thread", inside[] = "alwaysinline";
    ir_values runtimes = { 0 };
    IR_EACH_FUNCTION(f, u->module) {
        if (LLVMIsDeclaration(f))
            continue;
        ir_add_attribute(f, as_written);
        if (!is_trusted(f) || !ir_has(f, inside))
            continue;
        *VEC_PUSH(NULL, &runtimes) = f;
        ir_remove_attribute(f, inside);
    }
    ir_run_passes(u->module,
                  "always-inline,function(mem2reg,instsimplify,simplifycfg,early-cse<memssa>)",
                  machine);
    IR_EACH_FUNCTION(f, u->module)
        ir_remove_attribute(f, as_written);
    for (unsigned i = 0; i < runtimes.n; i++)
        ir_add_attribute(runtimes.at[i], inside);
}

/* Even at -O0: nobody wants to step through them. */
static void finish_tests(const struct checks *c, LLVMTargetMachineRef machine)
{
    static const char passes[] = "instcombine<no-verify-fixpoint>,early-cse,simplifycfg";
    for (unsigned log = 0; log < NOT_QUICK; log++) {
        LLVMValueRef tests[] = { c->quick[log], c->race[0][log], c->race[1][log] };
        for (unsigned i = 0; i < sizeof tests / sizeof *tests; i++)
            if (tests[i])
                ir_run_function_passes(tests[i], passes, machine);
    }
}

void ir_add_checks(struct ir_unit *u, LLVMTargetMachineRef machine)
{
    enum { FEW = 300 };
    struct checks c = { .u = u, .b = LLVMCreateBuilderInContext(u->ctx), .site = site_type(u) };
    add_mark(u, OMPGPU_EMU_CHECKED);
    if (u->opt->debug)
        add_mark(u, OMPGPU_EMU_DEBUG);
    if (u->opt->level != '0')
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
