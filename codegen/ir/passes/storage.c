/* storage.c - where a local goes that other threads can reach: a variable in shared memory, or the
 * team heap (devicertl/storage.c); and what the user is told of it. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include "codegen/ir/report/report.h"
#include "hostrt/plugin.h"
#include <string.h>

/* ------------------------------------------------------------- shared memory and the team heap */
static unsigned name_kind(LLVMContextRef ctx)
{
    static const char kind[] = "ompgpu.name";
    return LLVMGetMDKindIDInContext(ctx, kind, sizeof kind - 1);
}

void ir_keep_name(LLVMContextRef ctx, LLVMValueRef variable, const char *name)
{
    LLVMMetadataRef text = LLVMMDStringInContext2(ctx, name, strlen(name));
    LLVMGlobalSetMetadata(variable, name_kind(ctx), LLVMMDNodeInContext2(ctx, &text, 1));
}

/* The C writer's for a variable of the user's. */
static const char *without_prefix(const char *name)
{
    static const char *const prefixes[] = { "__omp_group_" /* groupprivate */,
                                            "__omp_b_" /* a private copy of an array */ };
    for (unsigned i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (text_starts(name, prefixes[i]))
            return name + strlen(prefixes[i]);
    return name;
}

const char *ir_users_name(const struct ir_unit *u, LLVMValueRef v)
{
    size_t n = 0;
    unsigned length, kind = name_kind(u->ctx);
    const char *name = without_prefix(ir_name(v));
    LLVMValueMetadataEntry *entries =
        LLVMIsAGlobalVariable(v) ? LLVMGlobalCopyAllMetadata(v, &n) : NULL;
    for (unsigned i = 0; i < n; i++)
        if (LLVMValueMetadataEntriesGetKind(entries, i) == kind) {
            LLVMValueRef text,
                node = LLVMMetadataAsValue(u->ctx, LLVMValueMetadataEntriesGetMetadata(entries, i));
            LLVMGetMDNodeOperands(node, &text);
            name = mem_strdup(LLVMGetMDString(text, &length));
        }
    if (entries)
        LLVMDisposeValueMetadataEntries(entries);
    return name;
}

LLVMValueRef ir_make_shared(struct ir_unit *u, LLVMValueRef f, const char *name, LLVMTypeRef type,
                            unsigned align)
{
    bool nvptx = u->opt->target == IR_NVPTX;
    const char *full = mem_printf("__ompgpu_slot_%s_%s", ir_name(f), *name ? name : "local");
    LLVMValueRef variable = LLVMAddGlobalInAddressSpace(u->module, type, full, nvptx ? 3 : 0);
    LLVMSetLinkage(variable, LLVMInternalLinkage);
    LLVMSetAlignment(variable, align);
    LLVMSetInitializer(variable, LLVMGetPoison(type));
    ir_keep_name(u->ctx, variable, name);
    if (nvptx)
        return LLVMConstAddrSpaceCast(variable, l_ptr(u));
    LLVMSetThreadLocal(variable, true); /* the emulated device runs a team on one OS thread */
    return variable;
}

bool ir_has_guards(const struct ir_unit *u) { return u->opt->target == IR_X86 && u->opt->check; }

const char *ir_quoted_name(const char *name)
{
    bool named = *name && !text_starts(name, "__");
    return named ? mem_printf("'%.*s'", (int)strcspn(name, "."), name) : "a variable";
}

void ir_note_object(const struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef p, LLVMValueRef size,
                    const char *what)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(u->ctx);
    LLVMValueRef all = LLVMBuildAdd(b, size, l_i64(u, OMPGPU_EMU_GUARD), ""),
                 args[] = { p, size, LLVMBuildGEP2(b, i8, p, &all, 1, ""),
                            LLVMBuildGlobalStringPtr(b, what, "") };
    l_call_runtime(u, b, "__ompgpu_emu_object", args, 4);
}

LLVMValueRef ir_make_heap_object(struct ir_unit *u, LLVMBuilderRef b, const char *name,
                                 LLVMValueRef here, uint64_t *end, uint64_t size, unsigned align)
{
    uint64_t a = align < IR_HEAP_ALIGN ? IR_HEAP_ALIGN : align, at = (*end + a - 1) / a * a;
    LLVMValueRef args[] = { here, l_i64(u, at) };
    *end = at + size + (ir_has_guards(u) ? OMPGPU_EMU_GUARD : 0);
    LLVMValueRef p = l_call_runtime(u, b, "__ompgpu_heap_slot", args, 2);
    if (ir_has_guards(u))
        ir_note_object(u, b, p, l_i64(u, size), ir_quoted_name(name));
    return p;
}

void ir_drop_lifetime_marks(LLVMValueRef pointer)
{
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsACallInst(user) &&
            text_starts(ir_intrinsic(LLVMGetCalledValue(user)), "llvm.lifetime"))
            ir_erase(user);
    }
}

/* ------------------------------------------------------------------ remarks */
/* The call that makes it escape, where it is one and no region. */
static LLVMValueRef keeping_call(LLVMValueRef pointer)
{
    IR_EACH_USE(use, pointer) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsACallInst(user) && !ir_is_call_of(user, "__ompgpu_parallel") &&
            ir_call_keeps(user, pointer))
            return user;
        LLVMValueRef call = LLVMIsAGetElementPtrInst(user) ? keeping_call(user) : NULL;
        if (call)
            return call;
    }
    return NULL;
}

static void note_captured(const struct ir_unit *u, struct ir_kernel *k, LLVMValueRef variable)
{
    LLVMValueRef call = keeping_call(variable);
    if (!k || !k->input->report || !call)
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
    if (!k || !k->input->report)
        return;
    struct ir_variable v = ir_variable_of(u, k, variable);
    const char *size = bytes ? mem_printf("%llu bytes of ", (unsigned long long)bytes) : "";
    const char *remedy =
        !room ? "its function may be recursive"
        : bytes
            ? mem_printf("it would have to fit into the %u bytes of shared memory for locals", room)
            : mem_printf("with a constant size, of at most %u bytes together with other locals, it "
                         "would be in shared memory",
                         room);
    if (v.ours)
        return;
    if (!in_heap)
        ir_note(k, v.at, "OMP111", "moved %s to %sshared memory, since other threads can reach it",
                v.text, size);
    else
        ir_note(
            k, v.at, "OMP112",
            "moved %s to %sthe team heap in global memory, since other threads can reach it; %s",
            v.text, size, remedy);
    note_captured(u, k, variable);
}
