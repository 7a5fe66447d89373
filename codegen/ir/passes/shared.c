/* shared.c - on the emulated device, where the team-shared variables of an image are.
 *
 * Until here they are thread-local, because a team runs on one OS thread.  Now they become members
 * of one block, which the plugin puts among device memory and stacks (hostrt/emu/window.c): so a
 * pointer to one, and one before it, the base of an array of which a section is private, is told
 * from a pointer to memory of the host as any other is (gates.c).
 *
 *     @a = thread_local global i32           block = __ompgpu_emu_self->shared
 *     @b = thread_local global [8 x i64]     &a = block + 0, &b = block + 8
 *     @__ompgpu_emu_shared_bytes = constant i64 72
 *
 * With -fompgpu-check there is room after each variable of the user's, so that an index past the
 * end of one does not hit the next. */
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include "hostrt/plugin.h"
#include <stddef.h>
#include <string.h>

struct shared {
    struct ir_unit *u;
    LLVMBuilderRef b;
    ir_values variables;
    uint64_t *offsets, end, users; /* users: where the user's end, which come first; their … */
    unsigned nusers;               /* … number */
    LLVMValueRef f, block;         /* the function at hand; where its block is, or NULL */
};

static int find(const struct shared *s, LLVMValueRef v)
{
    for (unsigned i = 0; i < s->variables.n; i++)
        if (s->variables.at[i] == v)
            return (int)i;
    return -1;
}

bool ir_is_team_storage(const struct ir_unit *u, LLVMValueRef v)
{
    return ir_is_team_shared(u, v) && !text_starts(ir_name(v), "__ompgpu_state_");
}

static unsigned collect(struct shared *s, bool users)
{
    IR_EACH_GLOBAL(v, s->u->module)
        if (LLVMIsThreadLocal(v) && ir_is_team_storage(s->u, v) == users)
            *VEC_PUSH(NULL, &s->variables) = v;
    return s->variables.n;
}

static void give_places(struct shared *s)
{
    s->nusers = collect(s, true);
    collect(s, false);
    s->offsets = mem_array(s->variables.n + 1, sizeof *s->offsets);
    for (unsigned i = 0; i < s->variables.n; i++) {
        LLVMTypeRef type = LLVMGlobalGetValueType(s->variables.at[i]);
        uint64_t align = LLVMGetAlignment(s->variables.at[i]);
        if (!align)
            align = LLVMPreferredAlignmentOfType(s->u->layout, type);
        s->offsets[i] = (s->end + align - 1) / align * align;
        s->end = s->offsets[i] + LLVMABISizeOfType(s->u->layout, type);
        if (i < s->nusers)
            s->users = s->end += s->u->opt->check ? OMPGPU_EMU_GUARD : 0;
    }
}

/* ------------------------------------------------------------------ addresses */
enum { THREAD_POINTER = 257 }; /* the address space of offsets from %fs */
static LLVMValueRef byte_at(const struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef p,
                            uint64_t offset)
{
    LLVMValueRef index = l_i64(u, offset);
    return LLVMBuildGEP2(b, LLVMInt8TypeInContext(u->ctx), p, &index, 1, "");
}

/* Once in each function, at its start. */
static LLVMValueRef block_of(struct shared *s)
{
    if (s->block)
        return s->block;
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(s->f);
    LLVMValueRef first = LLVMGetFirstInstruction(entry);
    while (LLVMIsAAllocaInst(first))
        first = LLVMGetNextInstruction(first);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(s->u->ctx);
    LLVMPositionBuilderBefore(b, first);
    LLVMTypeRef segment = LLVMPointerTypeInContext(s->u->ctx, THREAD_POINTER);
    LLVMValueRef at = LLVMBuildLoad2(b, LLVMInt64TypeInContext(s->u->ctx),
                                     LLVMGetNamedGlobal(s->u->module, "__ompgpu_emu_self_at"), ""),
                 self = LLVMBuildLoad2(b, l_ptr(s->u), LLVMBuildIntToPtr(b, at, segment, ""), "");
    s->block = LLVMBuildLoad2(
        b, l_ptr(s->u), byte_at(s->u, b, self, offsetof(struct ompgpu_emu_thread, shared)), "");
    LLVMDisposeBuilder(b);
    return s->block;
}

static bool is_mentioned(const struct shared *s, LLVMValueRef constant)
{
    if (LLVMIsAGlobalVariable(constant))
        return find(s, constant) >= 0;
    if (!LLVMIsAConstant(constant) || LLVMIsAGlobalValue(constant))
        return false;
    for (unsigned i = 0, n = (unsigned)LLVMGetNumOperands(constant); i < n; i++)
        if (is_mentioned(s, LLVMGetOperand(constant, i)))
            return true;
    return false;
}

static LLVMValueRef address(struct shared *, LLVMValueRef constant);

static LLVMValueRef aggregate(struct shared *s, LLVMValueRef constant)
{
    bool vector = LLVMIsAConstantVector(constant);
    LLVMValueRef all = LLVMGetPoison(LLVMTypeOf(constant));
    for (unsigned i = 0, n = (unsigned)LLVMGetNumOperands(constant); i < n; i++) {
        LLVMValueRef member = address(s, LLVMGetOperand(constant, i));
        all = vector ? LLVMBuildInsertElement(s->b, all, member, l_i32(s->u, i), "")
                     : LLVMBuildInsertValue(s->b, all, member, i, "");
    }
    return all;
}

/* The constant as instructions. */
static LLVMValueRef address(struct shared *s, LLVMValueRef constant)
{
    int k = find(s, constant);
    if (k >= 0)
        return byte_at(s->u, s->b, block_of(s), s->offsets[k]);
    if (!LLVMIsAConstantExpr(constant))
        return is_mentioned(s, constant) ? aggregate(s, constant) : constant;
    LLVMOpcode op = LLVMGetConstOpcode(constant);
    if (op == LLVMAdd || op == LLVMSub || op == LLVMXor)
        return LLVMBuildBinOp(s->b, op, address(s, LLVMGetOperand(constant, 0)),
                              address(s, LLVMGetOperand(constant, 1)), "");
    if (op != LLVMGetElementPtr)
        return LLVMBuildCast(s->b, op, address(s, LLVMGetOperand(constant, 0)),
                             LLVMTypeOf(constant), "");
    unsigned n = LLVMGetNumIndices(constant);
    LLVMValueRef *indices = mem_array(n, sizeof(LLVMValueRef));
    for (unsigned i = 0; i < n; i++)
        indices[i] = LLVMGetOperand(constant, i + 1);
    return LLVMBuildGEP2(s->b, LLVMGetGEPSourceElementType(constant),
                         address(s, LLVMGetOperand(constant, 0)), indices, n, "");
}

/* ------------------------------------------------------------------ uses */
static bool asks_for_address(LLVMValueRef i)
{
    return LLVMIsACallInst(i) &&
           strcmp(ir_intrinsic(LLVMGetCalledValue(i)), "llvm.threadlocal.address") == 0;
}

static void rewrite_operands(struct shared *s, LLVMValueRef i)
{
    for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(i); k < n; k++) {
        LLVMValueRef operand = LLVMGetOperand(i, k);
        if (!LLVMIsAConstant(operand) || !is_mentioned(s, operand))
            continue;
        LLVMPositionBuilderBefore(
            s->b, LLVMIsAPHINode(i) ? LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(i, k)) : i);
        LLVMSetOperand(i, k, address(s, operand));
    }
}

static void rewrite_function(struct shared *s, LLVMValueRef f)
{
    s->f = f;
    s->block = NULL;
    IR_EACH_INSTRUCTION_OF(i, f) {
        rewrite_operands(s, i);
        if (asks_for_address(i)) {
            LLVMReplaceAllUsesWith(i, LLVMGetOperand(i, 0));
            ir_erase(i);
        }
    }
}

static void state_size(const struct shared *s, const char *name, uint64_t bytes)
{
    LLVMValueRef size = LLVMAddGlobal(s->u->module, LLVMInt64TypeInContext(s->u->ctx), name);
    LLVMSetInitializer(size, l_i64(s->u, bytes));
    LLVMSetGlobalConstant(size, true);
}

/* What messages call it: nothing, where it is ours. */
static LLVMValueRef name_of(const struct shared *s, LLVMValueRef variable)
{
    const char *name = ir_users_name(s->u, variable);
    if (text_starts(name, "__"))
        name = "";
    LLVMValueRef text = LLVMConstStringInContext2(s->u->ctx, name, strlen(name), false),
                 g = LLVMAddGlobal(s->u->module, LLVMTypeOf(text), "");
    LLVMSetInitializer(g, text);
    LLVMSetGlobalConstant(g, true);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    return g;
}

static void list_objects(const struct shared *s)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(s->u->ctx), members[] = { i64, i64, l_ptr(s->u) },
                type = LLVMStructTypeInContext(s->u->ctx, members, 3, false);
    LLVMValueRef *all = mem_array(s->nusers + 1, sizeof *all);
    for (unsigned i = 0; i < s->nusers; i++) {
        LLVMValueRef v = s->variables.at[i];
        uint64_t size = LLVMABISizeOfType(s->u->layout, LLVMGlobalGetValueType(v));
        LLVMValueRef object[] = { l_i64(s->u, s->offsets[i]), l_i64(s->u, s->offsets[i] + size),
                                  name_of(s, v) };
        all[i] = LLVMConstStructInContext(s->u->ctx, object, 3, false);
    }
    all[s->nusers] = LLVMConstNull(type);
    LLVMValueRef list = LLVMConstArray2(type, all, s->nusers + 1),
                 g = LLVMAddGlobal(s->u->module, LLVMTypeOf(list), OMPGPU_EMU_OBJECTS);
    LLVMSetInitializer(g, list);
    LLVMSetGlobalConstant(g, true);
}

void ir_place_shared(struct ir_unit *u)
{
    struct shared s = { .u = u };
    give_places(&s);
    if (!s.variables.n)
        return;
    s.b = LLVMCreateBuilderInContext(u->ctx);
    IR_EACH_FUNCTION(f, u->module)
        if (!LLVMIsDeclaration(f))
            rewrite_function(&s, f);
    if (u->opt->check)
        list_objects(&s);
    for (unsigned i = 0; i < s.variables.n; i++)
        LLVMDeleteGlobal(s.variables.at[i]);
    LLVMDisposeBuilder(s.b);
    state_size(&s, OMPGPU_EMU_SHARED_BYTES, s.end);
    state_size(&s, OMPGPU_EMU_STORAGE_BYTES, s.users);
}
