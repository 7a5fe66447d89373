/* gates.c - on the emulated device, pointers of unknown origin pass a gate before they are used.
 *
 * A kernel of the emulated device runs in the host program's process, but must not reach its
 * memory, as it cannot on a GPU.  All device memory and all stacks lie in one window of addresses
 * (hostrt/emu/window.c).  A pointer that an access comes from is followed back to where it is first
 * seen, through address arithmetic, phis and selects.  Where that is a local, a variable or a
 * kernel's parameter array, nothing is to be done.  Elsewhere (a pointer out of memory, an
 * argument, a result, a number) it is compared with the window once, where it is defined:
 *
 *     p = load …                                p = load …
 *     …                                         q = gate(p)    p >> 43 == 4 ? p : outside(p)
 *     loop: x = load (p + i)          ──▶       loop: x = load (q + i)
 *
 * `outside` gives p for variables of images and the like, otherwise an address that faults.  So the
 * fault comes at the access, never for a pointer that is not used; and a loop over an array costs
 * nothing, because the gate is outside of it.  Arithmetic cannot lead out of the window: it is far
 * from all else.  Accesses get chains of their own, so that what is compared, stored or passed on
 * remains the program's pointer.
 *
 * This comes after all optimisation, which therefore sees the plain code. */
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include "hostrt/plugin.h"
#include <stdlib.h>
#include <string.h>

struct gates {
    struct ir_unit *u;
    LLVMBuilderRef b;
    LLVMValueRef gate;   /* the function */
    LLVMValueRef f;      /* at hand */
    LLVMValueRef params; /* the kernel's parameter array, or NULL */
    /* open-addressed: what is known of pointers of the function at hand */
    struct pointer {
        LLVMValueRef value;
        bool unknown;      /* where it comes from */
        LLVMValueRef safe; /* what an access uses instead; NULL: not made yet */
    } *table;
    unsigned room;
};

static struct pointer *find_pointer(struct gates *g, LLVMValueRef v)
{
    unsigned i = (unsigned)((uintptr_t)v >> 4) * 0x9E3779B1u % g->room;
    while (g->table[i].value && g->table[i].value != v)
        i = (i + 1) % g->room;
    g->table[i].value = v;
    return &g->table[i];
}

static bool is_pointer(LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind)
        t = LLVMGetElementType(t);
    return LLVMGetTypeKind(t) == LLVMPointerTypeKind;
}

/* ------------------------------------------------------------------ where pointers come from */
/* Of the calling OS thread, at an offset from its thread pointer: only the plugin's. */
static bool is_segment_pointer(LLVMValueRef v)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    return LLVMGetTypeKind(t) == LLVMPointerTypeKind && LLVMGetPointerAddressSpace(t) != 0;
}

/* What the plugin itself hands to the kernel. */
static bool is_from_plugin(const struct gates *g, LLVMValueRef load)
{
    LLVMValueRef from = LLVMGetOperand(load, 0);
    while (LLVMIsAGetElementPtrInst(from))
        from = LLVMGetOperand(from, 0);
    if (LLVMIsALoadInst(from)) /* what it keeps of the calling thread */
        return is_segment_pointer(LLVMGetOperand(from, 0));
    return from == g->params || is_segment_pointer(from) ||
           (LLVMIsAGlobalVariable(from) && strcmp(ir_name(from), "__ompgpu_emu_ops") == 0);
}

/* The operands that a pointer is made of: [*first, *end); none: it begins here. */
static void find_parts(LLVMValueRef v, unsigned *first, unsigned *end)
{
    *first = *end = 0;
    if (LLVMIsAGetElementPtrInst(v) || LLVMIsAFreezeInst(v) || LLVMIsABitCastInst(v))
        *end = 1;
    else if (LLVMIsASelectInst(v))
        *first = 1, *end = 3;
}

static bool is_unknown_root(const struct gates *g, LLVMValueRef v)
{
    if (LLVMIsAAllocaInst(v) || v == g->params)
        return false;
    if (LLVMIsALoadInst(v))
        return !is_from_plugin(g, v);
    return !LLVMIsACallInst(v) ||
           strcmp(ir_intrinsic(LLVMGetCalledValue(v)), "llvm.threadlocal.address") != 0;
}

/* (int *)0x1234 and what is at an offset from it, or from NULL; NULL itself faults anyway. */
static bool is_number(LLVMValueRef v)
{
    LLVMValueRef base = v;
    while (LLVMIsAConstantExpr(base) && LLVMGetConstOpcode(base) == LLVMGetElementPtr)
        base = LLVMGetOperand(base, 0);
    if (LLVMIsAConstantExpr(base))
        return LLVMGetConstOpcode(base) == LLVMIntToPtr;
    return LLVMIsAConstantPointerNull(base) && base != v;
}

static bool is_unknown(struct gates *g, LLVMValueRef v)
{
    return LLVMIsAConstant(v) ? is_number(v) : find_pointer(g, v)->unknown;
}

static bool derives_from_unknown(struct gates *g, LLVMValueRef v)
{
    unsigned i, end;
    if (LLVMIsAPHINode(v)) {
        for (i = 0; i < LLVMCountIncoming(v); i++)
            if (is_unknown(g, LLVMGetIncomingValue(v, i)))
                return true;
        return false;
    }
    find_parts(v, &i, &end);
    if (!end)
        return is_unknown_root(g, v);
    for (; i < end; i++)
        if (is_unknown(g, LLVMGetOperand(v, i)))
            return true;
    return false;
}

static void find_unknown(struct gates *g, LLVMValueRef f)
{
    unsigned n = LLVMCountParams(f);
    IR_EACH_INSTRUCTION_OF(i, f)
        n++;
    g->room = 2 * n + 1;
    g->table = mem_array(g->room, sizeof *g->table);
    for (unsigned i = 0; i < LLVMCountParams(f); i++)
        find_pointer(g, LLVMGetParam(f, i))->unknown = !g->params; /* a kernel's are the plugin's */
    for (bool changed = true; changed;) {
        changed = false;
        IR_EACH_INSTRUCTION_OF(i, f) {
            if (!is_pointer(i) || is_unknown(g, i) || !derives_from_unknown(g, i))
                continue;
            find_pointer(g, i)->unknown = changed = true;
        }
    }
}

/* ------------------------------------------------------------------ gates */
static LLVMValueRef is_outside(struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef p)
{
    LLVMValueRef number =
        LLVMBuildLShr(b, LLVMBuildPtrToInt(b, p, LLVMInt64TypeInContext(u->ctx), ""),
                      l_i64(u, OMPGPU_EMU_WINDOW_SHIFT), "");
    LLVMValueRef is_out =
        LLVMBuildICmp(b, LLVMIntNE, number, l_i64(u, OMPGPU_EMU_WINDOW_NUMBER), "");
    LLVMValueRef hint[] = { is_out, l_bool(u, false) };
    return l_call_intrinsic(u, b, "llvm.expect", LLVMInt1TypeInContext(u->ctx), hint, 2);
}

static LLVMBasicBlockRef add_block(struct ir_unit *u, LLVMValueRef f)
{
    return LLVMAppendBasicBlockInContext(u->ctx, f, "");
}

static void not_null(struct ir_unit *u, LLVMBuilderRef b, LLVMValueRef p)
{
    LLVMValueRef condition = LLVMBuildIsNotNull(b, p, "");
    l_call_intrinsic(u, b, "llvm.assume", NULL, &condition, 1);
}

/* ptr gate(ptr p) { return p >> SHIFT == NUMBER ? p : !p ? REFUSED : __ompgpu_emu_outside(p); }
 * The end of a list is frequent, and no pointer that anyone uses; where it is looked for, that is
 * part of the gate's comparison. */
static LLVMValueRef make_gate(struct ir_unit *u)
{
    LLVMTypeRef ptr = l_ptr(u);
    LLVMValueRef f = LLVMAddFunction(u->module, "__ompgpu_gate", LLVMFunctionType(ptr, &ptr, 1, 0)),
                 p = LLVMGetParam(f, 0), outside = l_runtime(u, "__ompgpu_emu_outside");
    LLVMBuilderRef b = l_open_function(f);
    LLVMBasicBlockRef in = add_block(u, f), out = add_block(u, f), ask = add_block(u, f),
                      end = add_block(u, f);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    ir_add_attribute(f, "alwaysinline");
    LLVMBuildCondBr(b, is_outside(u, b, p), out, in);
    LLVMPositionBuilderAtEnd(b, in);
    not_null(u, b, p);
    LLVMBuildBr(b, end);
    LLVMPositionBuilderAtEnd(b, out);
    LLVMBuildCondBr(b, LLVMBuildIsNull(b, p, ""), end, ask);
    LLVMPositionBuilderAtEnd(b, ask);
    LLVMValueRef other = l_call(b, outside, &p, 1);
    LLVMSetInstructionCallConv(other, LLVMGetFunctionCallConv(outside));
    LLVMBuildBr(b, end);
    LLVMPositionBuilderAtEnd(b, end);
    LLVMValueRef result = LLVMBuildPhi(b, ptr, ""),
                 refused = LLVMConstIntToPtr(l_i64(u, OMPGPU_EMU_REFUSED), ptr);
    LLVMAddIncoming(result, (LLVMValueRef[]){ p, refused, other },
                    (LLVMBasicBlockRef[]){ in, out, ask }, 3);
    LLVMBuildRet(b, result);
    LLVMDisposeBuilder(b);
    return f;
}

static LLVMValueRef first_after_locals(LLVMValueRef f)
{
    LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f));
    while (LLVMIsAAllocaInst(i))
        i = LLVMGetNextInstruction(i);
    return i;
}

/* Locals stay in the entry block, which a gate divides. */
static void gather_locals(struct gates *g, LLVMValueRef f)
{
    LLVMValueRef first = first_after_locals(f), next;
    for (LLVMValueRef i = first; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (!LLVMIsAAllocaInst(i) || !ir_is_static_alloca(i))
            continue;
        LLVMInstructionRemoveFromParent(i);
        LLVMPositionBuilderBefore(g->b, first);
        LLVMInsertIntoBuilder(g->b, i);
    }
}

static LLVMValueRef call_gate(struct gates *g, LLVMValueRef p)
{
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(g->gate), g->gate, &p, 1, "");
}

static LLVMValueRef gate_vector(struct gates *g, LLVMValueRef v)
{
    LLVMValueRef result = v;
    for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(v)); i++) {
        LLVMValueRef at = l_i32(g->u, i);
        result = LLVMBuildInsertElement(
            g->b, result, call_gate(g, LLVMBuildExtractElement(g->b, v, at, "")), at, "");
    }
    return result;
}

/* A gate is at no line: a debugger would stop at its call of outside(), which is hardly ever made.
 */
static LLVMValueRef gate_root(struct gates *g, LLVMValueRef v)
{
    LLVMPositionBuilderBefore(g->b, LLVMIsAInstruction(v) ? LLVMGetNextInstruction(v)
                                                          : first_after_locals(g->f));
    LLVMSetCurrentDebugLocation2(g->b, NULL);
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind ? gate_vector(g, v)
                                                                : call_gate(g, v);
}

static LLVMValueRef make_safe(struct gates *g, LLVMValueRef v);

static LLVMValueRef copy_phi(struct gates *g, LLVMValueRef phi)
{
    LLVMPositionBuilderBefore(g->b, phi);
    LLVMValueRef copy = LLVMBuildPhi(g->b, LLVMTypeOf(phi), "");
    find_pointer(g, phi)->safe = copy; /* it may depend on itself */
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef from = make_safe(g, LLVMGetIncomingValue(phi, i));
        LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
        LLVMAddIncoming(copy, &from, &block, 1);
    }
    return copy;
}

static LLVMValueRef copy_step(struct gates *g, LLVMValueRef v, unsigned first, unsigned end)
{
    LLVMValueRef copy = LLVMInstructionClone(v);
    for (unsigned i = first; i < end; i++)
        LLVMSetOperand(copy, i, make_safe(g, LLVMGetOperand(v, i)));
    LLVMPositionBuilderBefore(g->b, LLVMGetNextInstruction(v));
    LLVMInsertIntoBuilder(g->b, copy);
    return copy;
}

/* What an access through v uses. */
static LLVMValueRef make_safe(struct gates *g, LLVMValueRef v)
{
    unsigned first, end;
    if (!is_unknown(g, v))
        return v;
    if (LLVMIsAConstant(v))
        return gate_root(g, v);
    if (find_pointer(g, v)->safe)
        return find_pointer(g, v)->safe;
    if (LLVMIsAPHINode(v))
        return copy_phi(g, v);
    find_parts(v, &first, &end);
    return find_pointer(g, v)->safe = end ? copy_step(g, v, first, end) : gate_root(g, v);
}

/* ------------------------------------------------------------------ accesses */
typedef VEC(struct access {
    LLVMValueRef at;
    unsigned operand;
}) access_list;

static const struct {
    const char *name;
    unsigned operands; /* bit per pointer */
} intrinsics[] = {
    { "llvm.memcpy", 3 },
    { "llvm.memmove", 3 },
    { "llvm.memset", 1 },
    { "llvm.memcpy.inline", 3 },
    { "llvm.memset.inline", 1 },
    { "llvm.masked.load", 1 },
    { "llvm.masked.gather", 1 },
    { "llvm.masked.store", 2 },
    { "llvm.masked.scatter", 2 },
    { "llvm.masked.expandload", 1 },
    { "llvm.masked.compressstore", 2 },
};

/* Which operands printf follows, the format first; the rest of the pointers it shows. */
static unsigned operands_of_format(const char *s, size_t n)
{
    unsigned operand = 1, mask = 1;
    for (const char *end = s + n; s < end && *s; s++) {
        if (*s != '%')
            continue;
        for (s++; s < end && *s && strchr("-+ #0123456789.*hlqjztL", *s); s++)
            operand += *s == '*';
        if (s == end || *s == '%')
            continue;
        if (*s == 's' || *s == 'n')
            mask |= 1u << operand % 32;
        operand++;
    }
    return mask;
}

/* The C library uses what it is given, but for streams, which are the host's. */
static const struct {
    const char *name;
    unsigned format;   /* the operand that is one, ~0u: none */
    unsigned operands; /* that it follows beside the format's */
} output[] = { { "printf", 0, 0 },    { "fprintf", 1, 0 }, { "sprintf", 1, 1 },
               { "snprintf", 2, 1 },  { "fputs", ~0u, 1 }, { "fwrite", ~0u, 1 },
               { "fputc", ~0u, 0 },   { "putc", ~0u, 0 },  { "fflush", ~0u, 0 },
               { "vfprintf", ~0u, 6 } };

/* Without a constant format it could follow any. */
static unsigned operands_of_output(LLVMValueRef call, unsigned at)
{
    if (output[at].format == ~0u)
        return output[at].operands;
    LLVMValueRef format = LLVMGetOperand(call, output[at].format),
                 text = LLVMIsAGlobalVariable(format) && LLVMIsGlobalConstant(format)
                            ? LLVMGetInitializer(format)
                            : NULL;
    size_t n;
    if (!text || !LLVMIsAConstantDataArray(text) || !LLVMIsConstantString(text))
        return ~0u << output[at].format | output[at].operands;
    const char *s = LLVMGetAsString(text, &n);
    return operands_of_format(s, n) << output[at].format | output[at].operands;
}

static unsigned operands_of_call(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const char *name = LLVMIsAFunction(callee) ? ir_intrinsic(callee) : "";
    for (unsigned i = 0; *name && i < sizeof intrinsics / sizeof *intrinsics; i++)
        if (strcmp(name, intrinsics[i].name) == 0)
            return intrinsics[i].operands;
    if (*name || !LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee))
        return 0;
    for (unsigned i = 0; i < sizeof output / sizeof *output; i++)
        if (strcmp(ir_name(callee), output[i].name) == 0)
            return operands_of_output(call, i);
    return LLVMIsFunctionVarArg(LLVMGlobalGetValueType(callee)) ? 0 : ~0u;
}

static bool call_reads_argument(LLVMValueRef call, unsigned i)
{
    static const char *const names[] = { "byval", "elementtype" }; /* a copy; assembly's memory */
    for (unsigned a = 0; a < sizeof names / sizeof *names; a++)
        if (LLVMGetCallSiteEnumAttribute(call, i + 1, ir_attribute_kind(names[a])))
            return true;
    return false;
}

static void add_access(access_list *list, LLVMValueRef at, unsigned operand)
{
    LLVMValueRef p = LLVMGetOperand(at, operand);
    if (is_pointer(p) && !is_segment_pointer(p))
        *VEC_PUSH(NULL, list) = (struct access){ at, operand };
}

static void add_accesses_of(access_list *list, LLVMValueRef i)
{
    if (LLVMIsALoadInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
        add_access(list, i, 0);
    else if (LLVMIsAStoreInst(i))
        add_access(list, i, 1);
    else if (LLVMIsACallInst(i)) {
        unsigned operands = operands_of_call(i);
        for (unsigned a = 0; a < LLVMGetNumArgOperands(i); a++)
            if ((a < 32 && operands >> a & 1) || call_reads_argument(i, a))
                add_access(list, i, a);
    }
}

static void gate_function(struct gates *g, LLVMValueRef f)
{
    access_list list = { 0 };
    g->f = f;
    find_unknown(g, f);
    gather_locals(g, f);
    IR_EACH_INSTRUCTION_OF(i, f)
        add_accesses_of(&list, i);
    for (unsigned i = 0; i < list.n; i++)
        LLVMSetOperand(list.at[i].at, list.at[i].operand,
                       make_safe(g, LLVMGetOperand(list.at[i].at, list.at[i].operand)));
}

static LLVMValueRef params_of(const struct ir_unit *u, LLVMValueRef f)
{
    for (unsigned i = 0; i < u->nkernels; i++)
        if (ir_emulated_kernel(u, &u->kernels[i]) == f)
            return LLVMGetParam(f, 0);
    return NULL;
}

void ir_add_gates(struct ir_unit *u, LLVMTargetMachineRef machine)
{
    struct gates g = { .u = u, .gate = make_gate(u), .b = LLVMCreateBuilderInContext(u->ctx) };
    IR_EACH_FUNCTION(f, u->module) {
        if (LLVMIsDeclaration(f) || f == g.gate)
            continue;
        g.params = params_of(u, f);
        gate_function(&g, f);
    }
    LLVMDisposeBuilder(g.b);
    ir_run_passes(u->module, "always-inline,function(lower-expect,jump-threading)", machine);
}
