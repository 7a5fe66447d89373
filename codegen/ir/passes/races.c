/* races.c - -fompgpu-check: what code of the emulated device does for the search for races
 * (hostrt/emu/race.c): the test of a cell before each access that another thread could make, and a
 * call for each fence.  A read and the store that replaces its value are one access: who races with
 * the read races with the store. */
#include "codegen/ir/passes/checks.h"
#include <string.h>

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
    LLVMBasicBlockRef not = ir_open_if_tested(c, b, OMPGPU_EMU_TEST_RACES);
    ir_call_check(c, b, callee, args, n);
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
void ir_call_race(const struct checks *c, LLVMValueRef p, LLVMValueRef size, LLVMValueRef site,
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

/* All bytes of a word have been read by several teams. */
enum {
    WHOLE_BY_TEAMS = 15 << OMPGPU_EMU_THREAD_SHIFT |
                     OMPGPU_EMU_READ_BY_TEAMS << OMPGPU_EMU_PART_SHIFT | OMPGPU_EMU_READ_BY_MANY
};
enum { OF_ANY_THREAD = 1023 << OMPGPU_EMU_THREAD_SHIFT };

/* A read of what several threads have read in the phase, which is frequent. */
static LLVMValueRef is_read_by_many(const struct checks *c, LLVMBuilderRef b, LLVMValueRef last,
                                    LLVMValueRef mine)
{
    return is_equal(c, b, LLVMBuildXor(b, last, mine, ""), ~(unsigned)OF_ANY_THREAD,
                    OMPGPU_EMU_READ_BY_MANY);
}

/* Another read passes after any access of the thread's own; another thread's read becomes that of
 * several. */
static struct last compare_read(const struct checks *c, LLVMBuilderRef b, LLVMValueRef last,
                                LLVMValueRef mine, LLVMValueRef floor)
{
    LLVMValueRef differs = LLVMBuildXor(b, last, mine, ""),
                 own = is_equal(c, b, differs, ~(unsigned)OMPGPU_EMU_WRITE, 0),
                 one = is_equal(c, b, differs, ~(unsigned)OF_ANY_THREAD, OMPGPU_EMU_READ),
                 old = LLVMBuildICmp(b, LLVMIntULT, last, floor, ""),
                 teams =
                     LLVMBuildAnd(b, LLVMBuildNot(b, old, ""),
                                  is_equal(c, b, last, WHOLE_BY_TEAMS | 31, WHOLE_BY_TEAMS), "");
    return (struct last){ LLVMBuildOr(b, own, teams, ""), LLVMBuildOr(b, one, old, ""),
                          LLVMBuildOr(b, mine, LLVMBuildZExt(b, one, LLVMTypeOf(mine), ""), "") };
}
_Static_assert((OMPGPU_EMU_READ | 1) == OMPGPU_EMU_READ_BY_MANY, "compare_read() adds 1");

/* The site's half of a cell. */
static LLVMValueRef site_half(const struct checks *c, LLVMBuilderRef b, LLVMValueRef site)
{
    return LLVMBuildShl(b, LLVMBuildPtrToInt(b, site, LLVMInt64TypeInContext(c->u->ctx), ""),
                        l_i64(c->u, 32), "");
}

/* The closer look; of an update, at the read first. */
static void look_closer(const struct checks *c, LLVMBuilderRef b, LLVMValueRef *args)
{
    LLVMValueRef read[] = { args[0], args[1], args[4], l_i64(c->u, 0) };
    if (args[4])
        ir_call_check(c, b, "__ompgpu_emu_race", read, 4);
    ir_call_check(c, b, "__ompgpu_emu_race", args, 4);
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
    LLVMBasicBlockRef many =
        writes ? NULL : l_open_if(b, LLVMBuildNot(b, is_read_by_many(c, b, cell, mine), ""));
    struct last last =
        (writes ? compare_write : compare_read)(c, b, cell, mine, floor_of(c, b, self, offset));
    LLVMBasicBlockRef done =
        l_open_if(b, LLVMBuildNot(b, LLVMBuildAnd(b, known, last.pass, ""), ""));
    LLVMValueRef put = LLVMBuildAnd(b, known, last.put, "");
    LLVMBasicBlockRef kept = l_open_if(b, put);
    LLVMBuildStore(
        b, LLVMBuildOr(b, site_half(c, b, args[2]), LLVMBuildZExt(b, last.next, i64, ""), ""), at);
    l_close_if(b, kept);
    LLVMBasicBlockRef seen = ir_open_unlikely(c, b, LLVMBuildNot(b, put, ""));
    look_closer(c, b, args);
    l_close_if(b, seen);
    l_close_if(b, done);
    if (many)
        l_close_if(b, many);
}

/* In which memory an access is that its cell tells of: the devices', teams'. */
static LLVMValueRef has_cell(const struct checks *c, LLVMBuilderRef b, LLVMValueRef offset,
                             LLVMValueRef in_window)
{
    LLVMValueRef in_memory =
                     LLVMBuildICmp(b, LLVMIntULT, offset, l_i64(c->u, OMPGPU_EMU_STACKS_AT), ""),
                 shared = LLVMBuildAnd(b, in_window, is_after_stacks(c, b, offset), "");
    return LLVMBuildOr(b, in_memory, shared, "");
}

/* void race(ptr p, ptr site, i64 value), for an access of so many bytes; with a fourth argument for
 * an update, the site of its read.  A stack is a thread's own; what is not in the window is a
 * variable. */
static LLVMValueRef make_race(const struct checks *c, unsigned log, enum ir_race kind)
{
    static const char *const names[] = { "read", "write", "update" };
    const struct ir_unit *u = c->u;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(u->ctx),
                params[] = { l_ptr(u), l_ptr(u), i64, l_ptr(u) };
    LLVMValueRef f = l_add_function(u, mem_printf("__ompgpu_race_%s_%u", names[kind], 1u << log),
                                    params, kind == IR_UPDATE ? 4 : 3);
    LLVMBuilderRef b = l_open_function(f);
    ir_add_attribute(f, c->is_small ? "alwaysinline" : "noinline");
    ir_set_string_attribute(f, IR_CHECK, "");
    LLVMBasicBlockRef end = ir_open_if_tested(c, b, OMPGPU_EMU_TEST_RACES);
    LLVMValueRef args[] = { LLVMGetParam(f, 0), l_i64(u, 1u << log), LLVMGetParam(f, 1),
                            LLVMGetParam(f, 2), kind == IR_UPDATE ? LLVMGetParam(f, 3) : NULL },
                 offset = LLVMBuildSub(b, LLVMBuildPtrToInt(b, args[0], i64, ""),
                                       l_i64(u, OMPGPU_EMU_WINDOW), ""),
                 in_window =
                     LLVMBuildICmp(b, LLVMIntULT, offset, l_i64(u, OMPGPU_EMU_WINDOW_BYTES), "");
    LLVMBasicBlockRef elsewhere = l_open_if(b, has_cell(c, b, offset, in_window));
    visit_cell(c, b, args, offset, log, kind != IR_READ);
    l_close_if(b, elsewhere);
    LLVMBasicBlockRef local = ir_open_unlikely(c, b, LLVMBuildNot(b, in_window, ""));
    look_closer(c, b, args);
    l_close_if(b, local);
    l_close_if(b, end);
    l_close_function(b);
    return f;
}

enum { LARGEST_WORD = 4 }; /* sizes by their logarithm */
static bool has_quick_race(const struct checks *c, const struct access *a, unsigned log)
{
    return log < LARGEST_WORD && !(a->flags & OMPGPU_EMU_ATOMIC) &&
           LLVMGetAlignment(a->at) >= 1u << log &&
           !ir_known_size(c->u, ir_accessed_base(a->pointer));
}

/* What may change who has accessed the memory, or stores elsewhere. */
static bool ends_update(LLVMValueRef i)
{
    return LLVMIsAStoreInst(i) || LLVMIsAFenceInst(i) || LLVMIsAAtomicRMWInst(i) ||
           LLVMIsAAtomicCmpXchgInst(i) ||
           (LLVMIsACallInst(i) &&
            !(LLVMIsAFunction(LLVMGetCalledValue(i)) && *ir_intrinsic(LLVMGetCalledValue(i))));
}

/* The read of what a store replaces, just before it; NULL: there is none. */
static LLVMValueRef find_read(const struct access *store)
{
    LLVMValueRef i = LLVMGetPreviousInstruction(store->at);
    while (i && !ends_update(i)) {
        if (LLVMIsALoadInst(i) && LLVMGetOperand(i, 0) == store->pointer &&
            LLVMTypeOf(i) == LLVMTypeOf(LLVMGetOperand(store->at, 0)) &&
            LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic)
            return i;
        i = LLVMGetPreviousInstruction(i);
    }
    return NULL;
}

void ir_join_updates(struct checks *c, access_list *list)
{
    for (unsigned i = 0; !c->trusted && i < list->n; i++) {
        struct access *a = &list->at[i];
        LLVMValueRef read = LLVMIsAStoreInst(a->at) && has_quick_race(c, a, ir_log_of(a->size))
                                ? find_read(a)
                                : NULL;
        unsigned j = i;
        while (read && j > 0 && list->at[j].at != read)
            j--;
        if (!read || list->at[j].at != read)
            continue;
        list->at[j].joined = true;
        a->read = ir_make_site(c, read, list->at[j].flags, NULL);
    }
}

static LLVMValueRef quick_race(struct checks *c, unsigned log, enum ir_race kind)
{
    if (!c->race[kind][log])
        c->race[kind][log] = make_race(c, log, kind);
    return c->race[kind][log];
}

LLVMValueRef ir_quick_read(struct checks *c, const struct access *a)
{
    unsigned log = ir_log_of(a->size);
    if (!LLVMIsALoadInst(a->at) || !has_quick_race(c, a, log))
        return NULL;
    quick_race(c, log, IR_READ);
    return ir_make_site(c, a->at, a->flags, NULL);
}

void ir_check_race(struct checks *c, const struct access *a)
{
    LLVMValueRef base = ir_accessed_base(a->pointer);
    unsigned log = ir_log_of(a->size);
    bool writes = LLVMIsAStoreInst(a->at);
    if (c->trusted || a->joined || LLVMIsAAllocaInst(base) ||
        (LLVMIsAGlobalVariable(base) && LLVMIsGlobalConstant(base)))
        return;
    ir_place_before(c, a->at);
    LLVMValueRef value = stored_value(c, a->at),
                 site = ir_make_site(c, a->at, a->flags | (value ? OMPGPU_EMU_VALUE : 0), NULL);
    if (!has_quick_race(c, a, log)) {
        ir_call_race(c, a->pointer, l_i64(c->u, a->size), site, value);
        return;
    }
    enum ir_race kind = a->read ? IR_UPDATE : writes ? IR_WRITE : IR_READ;
    LLVMValueRef args[] = { a->pointer, site, value ? value : l_i64(c->u, 0), a->read };
    l_call(c->b, quick_race(c, log, kind), args, kind == IR_UPDATE ? 4 : 3);
}

static LLVMAtomicOrdering ordering_of(LLVMValueRef i)
{
    return LLVMIsAAtomicCmpXchgInst(i) ? LLVMGetCmpXchgSuccessOrdering(i) : LLVMGetOrdering(i);
}

/* What hands on, or takes over, what other threads have done. */
bool ir_is_fence(LLVMValueRef i)
{
    return LLVMIsAFenceInst(i) || (ir_is_access(i) && ordering_of(i) > LLVMAtomicOrderingMonotonic);
}

void ir_note_fence(struct checks *c, LLVMValueRef i)
{
    LLVMValueRef f = if_racing(c, "__ompgpu_check_fence", "__ompgpu_emu_fenced");
    ir_place_before(c, i);
    l_call(c->b, f, NULL, 0);
    if (LLVMIsAFenceInst(i))
        return;
    ir_place_before(c, LLVMGetNextInstruction(i));
    l_call(c->b, f, NULL, 0);
}

/* What OpenMP binds to the contention group, which is a team. */
static const char *const in_team[] = { "__ompgpu_critical_begin", "__ompgpu_critical_end",
                                       "omp_test_lock", "omp_test_nest_lock",
                                       "omp_unset_nest_lock" };

bool ir_is_in_team(LLVMValueRef call)
{
    for (unsigned i = 0; i < sizeof in_team / sizeof *in_team; i++)
        if (ir_is_call_of(call, in_team[i]))
            return true;
    return false;
}

void ir_note_in_team(struct checks *c, LLVMValueRef call)
{
    LLVMValueRef f = if_racing(c, "__ompgpu_check_in_team", "__ompgpu_emu_in_team"),
                 is = l_bool(c->u, true), no = l_bool(c->u, false);
    ir_place_before(c, call);
    l_call(c->b, f, &is, 1);
    ir_place_before(c, LLVMGetNextInstruction(call));
    l_call(c->b, f, &no, 1);
}
