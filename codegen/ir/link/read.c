/* read.c - bitcode files: the inputs, checked, and libraries. */
#include "codegen/ir/link/link.h"
#include <llvm-c/BitReader.h>

/* Device text with run-time array bounds, or structs as variable arguments, comes for a neutral
 * target (not_for_nvptx in driver/base/protocol.h): same types, same layout. Attributes of its CPU
 * go later, with all others. */
static void retarget(LLVMModuleRef m)
{
    LLVMSetTarget(m, "nvptx64-nvidia-cuda");
    LLVMSetDataLayout(m, "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64");
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (LLVMGetFunctionCallConv(f) == LLVMSPIRKERNELCallConv)
            LLVMSetFunctionCallConv(f, LLVMPTXKernelCallConv);
}

/* They are the host's; those of the device have regions that call them (frontend/lower/starts.c).
 */
static void drop_starts(LLVMModuleRef m)
{
    static const char *const lists[] = { "llvm.global_ctors", "llvm.global_dtors" };
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++) {
        LLVMValueRef list = LLVMGetNamedGlobal(m, lists[i]);
        if (list)
            LLVMDeleteGlobal(list);
    }
}

LLVMModuleRef ir_parse_input(struct ir_unit *u, const struct ir_input *in)
{
    LLVMMemoryBufferRef buffer = ir_read_file(in->path);
    LLVMModuleRef module;
    if (!buffer)
        return NULL;
    bool failed = LLVMParseBitcodeInContext2(u->ctx, buffer, &module);
    LLVMDisposeMemoryBuffer(buffer);
    if (failed) {
        diag_error("'%s' is not LLVM bitcode that this compiler can read", in->name);
        return NULL;
    }
    if (u->opt->target == IR_NVPTX)
        ir_pass_bytes(module);
    if (u->opt->target == IR_NVPTX && text_starts(LLVMGetTarget(module), "wasm64")) {
        retarget(module);
        ir_return_values(module);
    } else if (u->opt->target == IR_NVPTX) {
        ir_return_bytes(module);
    }
    static const char *const triples[] = { [IR_NVPTX] = "nvptx64", [IR_X86] = "x86_64" };
    if (!text_starts(LLVMGetTarget(module), triples[u->opt->target])) {
        diag_error("'%s' is for the target '%s', not %s", in->name, LLVMGetTarget(module),
                   triples[u->opt->target]);
        return NULL;
    }
    ir_replace_function_aliases(module);
    drop_starts(module);
    ir_verify(module, "reading");
    return module;
}

LLVMModuleRef ir_parse_library(struct ir_unit *u, const char *path)
{
    LLVMMemoryBufferRef buffer = ir_read_file(path);
    LLVMModuleRef module;
    if (!buffer)
        return NULL;
    if (!LLVMGetBitcodeModuleInContext2(u->ctx, buffer, &module))
        return module; /* owns the buffer */
    LLVMDisposeMemoryBuffer(buffer);
    diag_error("'%s' is not LLVM bitcode that this compiler can read", path);
    return NULL;
}

bool ir_read_input(struct ir_unit *u)
{
    bool ok = (u->runtime = ir_parse_library(u, u->opt->rtl)) &&
              (u->opt->link ? ir_link_members(u)
                            : (u->module = ir_parse_input(u, u->opt->inputs)) &&
                                  ir_collect_info(u, u->module, 0, NULL));
    if (ok)
        ir_replace_variable_aliases(u->module);
    if (ok)
        u->layout = LLVMGetModuleDataLayout(u->module);
    return ok && ir_finish_info(u) && ir_verify(u->module, "reading");
}
