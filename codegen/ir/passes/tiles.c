/* tiles.c - which shape the tiles of a nest have, that teams run in the tiled form of its kernel.
 *
 * The C writer has written, beside the covering form, whose teams run rows of 256 iterations,
 *
 *   kernel__omp_tiled:   region(env, form = __ompgpu_tile_shift(), ...)
 *
 * where the call stands for the logarithm of a tile's width (struct __ompgpu_tile in
 * devicertl/ompgpu_device.h), and has marked the numbers of a thread's row and column.  Here it is
 * counted how many sectors of 32 bytes a team's accesses touch in tiles of each shape, by what a
 * step to the next column and to the next row adds to an address:
 *
 *                        next column     next row      sectors of a load, in a tile of W x H
 *   a[i * n + j]         4               unknown       H * (W * 4 / 32)
 *   a[j * n + i]         unknown         4             W * (H * 4 / 32)
 *   b[k * n + j]         4               0             W * 4 / 32
 *
 * What is loaded stays in the L1 cache, which serves the team, a warp at a time; a store goes to
 * the L2 cache at once, warp by warp.  A kernel keeps its tiled form with the shape that touches
 * the fewest, if that is a quarter less than a row touches; else the form is deleted. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/passes/passes.h"
#include "devicertl/ompgpu_device.h"
#include <stdlib.h>

_Static_assert(OMPGPU_TILE == __OMPGPU_TILE, "the host and the kernel agree");
enum {
    ROW_SHIFT = 8, /* a row is a tile of 256 x 1 */
    WARP = 32,
    SECTOR = 32,
    LOOP_WEIGHT = 16,   /* iterations that a loop in the body is taken for */
    MOST_WEIGHT = 4096, /* of loops in loops */
    MOST_STEPS = 20000, /* in search of slopes */
};
static const unsigned shapes[] = { 5, 4, 3 }; /* 32 x 8, 16 x 16, 8 x 32; the widest is preferred */

/* ------------------------------------------------------------------ slopes
 * What a step in a number that is marked adds to a value. */
struct slope {
    enum { ANY, CONSTANT, UNKNOWN } is; /* ANY: of a value that depends on itself only */
    long long by;                       /* CONSTANT */
};
static const struct slope none = { CONSTANT, 0 }, any = { ANY, 0 }, unknown = { UNKNOWN, 0 };

struct search {
    LLVMTargetDataRef layout;
    const char *mark; /* the function that marks the number */
    LLVMValueRef phis[64];
    unsigned nphis; /* whose slopes are being looked for */
    unsigned steps;
};

static struct slope slope_of(struct search *s, LLVMValueRef v);

static bool is_none(struct slope a) { return a.is != UNKNOWN && a.by == 0; }

static struct slope sum(struct slope a, struct slope b, int sign)
{
    if (a.is == UNKNOWN || b.is == UNKNOWN)
        return unknown;
    if (a.is == ANY || b.is == ANY)
        return a.is == ANY && b.is == ANY ? any : a.by + b.by ? unknown : any;
    return (struct slope){ CONSTANT, a.by + sign * b.by };
}

static struct slope scaled(struct slope a, long long factor)
{
    return a.is == CONSTANT ? (struct slope){ CONSTANT, a.by * factor } : a;
}

/* One value or the other. */
static struct slope either(struct slope a, struct slope b)
{
    if (a.is == ANY || b.is == ANY)
        return a.is == ANY ? b : a;
    return a.is == CONSTANT && b.is == CONSTANT && a.by == b.by ? a : unknown;
}

static bool small_constant(LLVMValueRef v, long long *n)
{
    if (!LLVMIsAConstantInt(v) || LLVMGetIntTypeWidth(LLVMTypeOf(v)) > 64)
        return false;
    *n = LLVMConstIntGetSExtValue(v);
    return *n > INT32_MIN && *n < INT32_MAX;
}

static struct slope slope_of_sum(struct search *s, LLVMValueRef v, int sign)
{
    return sum(slope_of(s, LLVMGetOperand(v, 0)), slope_of(s, LLVMGetOperand(v, 1)), sign);
}

static struct slope slope_of_product(struct search *s, LLVMValueRef v)
{
    long long n;
    struct slope a = slope_of(s, LLVMGetOperand(v, 0)), b = slope_of(s, LLVMGetOperand(v, 1));
    if (is_none(a) && is_none(b))
        return none;
    if (small_constant(LLVMGetOperand(v, 1), &n))
        return scaled(a, n);
    return small_constant(LLVMGetOperand(v, 0), &n) ? scaled(b, n) : unknown;
}

static struct slope slope_of_shift(struct search *s, LLVMValueRef v)
{
    long long n;
    struct slope a = slope_of(s, LLVMGetOperand(v, 0));
    if (small_constant(LLVMGetOperand(v, 1), &n) && n >= 0 && n < 31)
        return scaled(a, 1ll << n);
    return is_none(a) && is_none(slope_of(s, LLVMGetOperand(v, 1))) ? none : unknown;
}

static struct slope slope_of_element(struct search *s, LLVMValueRef gep)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    struct slope all = slope_of(s, LLVMGetOperand(gep, 0));
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            type = LLVMStructGetTypeAtIndex(
                type, (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(gep, i)));
            continue;
        }
        type = i > 1 ? LLVMGetElementType(type) : type;
        all = sum(all,
                  scaled(slope_of(s, LLVMGetOperand(gep, i)),
                         (long long)LLVMABISizeOfType(s->layout, type)),
                  1);
    }
    return all;
}

static struct slope slope_of_phi(struct search *s, LLVMValueRef phi)
{
    struct slope all = any;
    for (unsigned i = 0; i < s->nphis; i++)
        if (s->phis[i] == phi)
            return any;
    if (s->nphis == sizeof s->phis / sizeof *s->phis)
        return unknown;
    s->phis[s->nphis++] = phi;
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        all = either(all, slope_of(s, LLVMGetIncomingValue(phi, i)));
    s->nphis--;
    return all.is == ANY ? none : all;
}

/* Of anything else: none where its operands have none. */
static struct slope slope_of_function(struct search *s, LLVMValueRef v)
{
    for (int i = 0; i < LLVMGetNumOperands(v); i++)
        if (!LLVMValueIsBasicBlock(LLVMGetOperand(v, (unsigned)i)) &&
            !is_none(slope_of(s, LLVMGetOperand(v, (unsigned)i))))
            return unknown;
    return none;
}

static struct slope slope_of(struct search *s, LLVMValueRef v)
{
    if (!LLVMIsAInstruction(v))
        return none;
    if (ir_is_call_of(v, s->mark))
        return (struct slope){ CONSTANT, 1 };
    if (++s->steps > MOST_STEPS)
        return unknown;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAdd: return slope_of_sum(s, v, 1);
    case LLVMSub: return slope_of_sum(s, v, -1);
    case LLVMOr: return LLVMGetIsDisjoint(v) ? slope_of_sum(s, v, 1) : slope_of_function(s, v);
    case LLVMXor: /* -1 - n */
        return LLVMIsAConstantInt(LLVMGetOperand(v, 1)) &&
                       LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1)) == -1
                   ? scaled(slope_of(s, LLVMGetOperand(v, 0)), -1)
                   : slope_of_function(s, v);
    case LLVMMul: return slope_of_product(s, v);
    case LLVMShl: return slope_of_shift(s, v);
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMFreeze:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMAddrSpaceCast: return slope_of(s, LLVMGetOperand(v, 0));
    case LLVMSelect:
        return either(slope_of(s, LLVMGetOperand(v, 1)), slope_of(s, LLVMGetOperand(v, 2)));
    case LLVMGetElementPtr: return slope_of_element(s, v);
    case LLVMPHI: return slope_of_phi(s, v);
    case LLVMAlloca: return none;
    default: return slope_of_function(s, v);
    }
}

/* ------------------------------------------------------------------ sectors */
struct access {
    bool stores;
    unsigned bytes;
    struct slope column, row;
    unsigned weight;
};

static unsigned places(struct slope s, unsigned n) { return is_none(s) ? 1 : n; }

static bool is_dense(struct slope s) { return s.is == CONSTANT && s.by && llabs(s.by) < SECTOR; }

static unsigned sectors_of_run(const struct access *a, struct slope s, unsigned n)
{
    unsigned long long bytes = (unsigned long long)llabs(s.by) * (n - 1) + a->bytes;
    return (unsigned)((bytes + SECTOR - 1) / SECTOR);
}

/* Of a part of a tile. */
static unsigned long long sectors(const struct access *a, unsigned width, unsigned height)
{
    unsigned one = (a->bytes + SECTOR - 1) / SECTOR;
    if (is_dense(a->column))
        return (unsigned long long)sectors_of_run(a, a->column, width) * places(a->row, height);
    if (is_dense(a->row))
        return (unsigned long long)sectors_of_run(a, a->row, height) * places(a->column, width);
    return (unsigned long long)one * places(a->row, height) * places(a->column, width);
}

static unsigned long long cost_of(const struct access *a, unsigned shift)
{
    unsigned width = 1u << shift, height = OMPGPU_TILE / width,
             of_warp = width < WARP ? width : WARP;
    unsigned long long warp = sectors(a, of_warp, WARP / of_warp);
    return a->weight * (a->stores ? OMPGPU_TILE / WARP * warp : sectors(a, width, height) + warp);
}

/* ------------------------------------------------------------------ the body */
static LLVMValueRef base_of(LLVMValueRef address)
{
    while (LLVMIsAGetElementPtrInst(address) || LLVMIsAAddrSpaceCastInst(address))
        address = LLVMGetOperand(address, 0);
    return address;
}

/* Memory that is neither the thread's own nor the same for all. */
static bool read_access(LLVMTargetDataRef layout, LLVMValueRef inst, struct access *a)
{
    bool stores = LLVMIsAStoreInst(inst), updates = LLVMIsAAtomicRMWInst(inst);
    if (!stores && !updates && !LLVMIsALoadInst(inst))
        return false;
    LLVMValueRef address = LLVMGetOperand(inst, stores);
    if (LLVMIsAAllocaInst(base_of(address)))
        return false;
    struct search column = { .layout = layout, .mark = "__ompgpu_tile_column" },
                  row = { .layout = layout, .mark = "__ompgpu_tile_row" };
    LLVMTypeRef type = LLVMTypeOf(stores ? LLVMGetOperand(inst, 0) : inst);
    *a = (struct access){ .stores = stores || updates,
                          .bytes = (unsigned)LLVMStoreSizeOfType(layout, type),
                          .column = slope_of(&column, address),
                          .row = slope_of(&row, address) };
    return !is_none(a->column) || !is_none(a->row);
}

static unsigned weight_of(const struct ir_loops *loops, unsigned block)
{
    unsigned weight = 1;
    for (unsigned i = 0; i < loops->n && weight < MOST_WEIGHT; i++)
        weight *= loops->at[i].body[block] ? LOOP_WEIGHT : 1;
    return weight;
}

/* 0: no tiles */
static unsigned best_shape(LLVMTargetDataRef layout, LLVMValueRef f)
{
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    struct ir_loops loops = ir_find_loops(f);
    unsigned long long row = 0, cost[SHAPES] = { 0 };
    unsigned block = 0, best = 0;
    IR_EACH_BLOCK(b, f) {
        struct access a;
        IR_EACH_INSTRUCTION(i, b) {
            if (!read_access(layout, i, &a))
                continue;
            a.weight = weight_of(&loops, block);
            row += cost_of(&a, ROW_SHIFT);
            for (unsigned s = 0; s < SHAPES; s++)
                cost[s] += cost_of(&a, shapes[s]);
        }
        block++;
    }
    for (unsigned s = 1; s < SHAPES; s++)
        best = cost[s] < cost[best] ? s : best;
    return cost[best] < row - row / 4 ? shapes[best] : 0;
}

/* ------------------------------------------------------------------ the forms */
static bool is_tiled(const struct ir_kernel *k)
{
    return (k->flags & OMPGPU_KERNEL_FORM) == OMPGPU_KERNEL_TILED;
}

static void set_shape(LLVMValueRef kernel, unsigned shape)
{
    IR_EACH_INSTRUCTION_OF(i, kernel) {
        if (!ir_is_call_of(i, "__ompgpu_tile_shift"))
            continue;
        LLVMReplaceAllUsesWith(i, LLVMConstInt(LLVMTypeOf(i), shape, false));
        ir_erase(i);
        return;
    }
    diag_bug("%s: the shape of its tiles is unknown", ir_name(kernel));
}

/* In a copy of the module, in which functions are inlined and variables are values.  What depends
 * on the rows and columns does not depend on the shape. */
static void choose_shapes(struct ir_unit *u, unsigned *shape)
{
    LLVMModuleRef copy = LLVMCloneModule(u->module);
    for (unsigned i = 0; i < u->nkernels; i++)
        if (is_tiled(&u->kernels[i]))
            set_shape(ir_kernel_function(copy, &u->kernels[i]), shapes[0]);
        else
            LLVMDeleteFunction(ir_kernel_function(copy, &u->kernels[i]));
    ir_run_passes(
        copy,
        "globaldce,function(sroa,early-cse,simplifycfg),always-inline,globaldce,cgscc(inline),"
        "function(sroa,early-cse<memssa>,simplifycfg,sccp,simplifycfg)",
        NULL);
    for (unsigned i = 0; i < u->nkernels; i++)
        if (is_tiled(&u->kernels[i]))
            shape[i] =
                best_shape(LLVMGetModuleDataLayout(copy), ir_kernel_function(copy, &u->kernels[i]));
    LLVMDisposeModule(copy);
}

static void remove_marks(const struct ir_unit *u, const char *name)
{
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    for (LLVMUseRef use = f ? LLVMGetFirstUse(f) : NULL, next; use; use = next) {
        LLVMValueRef call = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        LLVMReplaceAllUsesWith(call, LLVMGetOperand(call, 0));
        ir_erase(call);
    }
}

bool ir_choose_tiles(struct ir_unit *u)
{
    unsigned kept = 0, *shape = mem_array(u->nkernels + 1, sizeof *shape);
    bool found = false;
    for (unsigned i = 0; i < u->nkernels; i++)
        found |= is_tiled(&u->kernels[i]);
    if (found && u->opt->level != '0')
        choose_shapes(u, shape);
    for (unsigned i = 0; i < u->nkernels; i++) {
        struct ir_kernel *k = &u->kernels[i];
        if (is_tiled(k) && !shape[i]) {
            LLVMDeleteFunction(ir_kernel_function(u->module, k));
            continue;
        }
        if (is_tiled(k)) {
            set_shape(ir_kernel_function(u->module, k), shape[i]);
            k->shape = mem_printf(OMPGPU_TILE_FORMAT, shape[i]);
        }
        u->kernels[kept++] = *k;
    }
    u->nkernels = kept;
    remove_marks(u, "__ompgpu_tile_column");
    remove_marks(u, "__ompgpu_tile_row");
    return true;
}
