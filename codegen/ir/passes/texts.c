/* texts.c - -fompgpu-check: what the functions of string.h do with memory that they are given.
 *
 *     strlen(text)   ──▶   check_text(NULL, text, SIZE_MAX, READ, reads, NULL)
 *                          strlen(text)
 *
 * They are the host's, on the emulated device, and nobody looks at what they do.  What a function
 * surely uses is checked: of two strings that are compared, and of one in which something is
 * searched for, that is the first byte. */
#include "codegen/ir/passes/checks.h"
#include <string.h>

enum { NONE = -1, ONE = -2 };
static const struct text_call {
    const char *name;
    int to, from; /* arguments */
    int most;     /* an argument, how many bytes; NONE: up to the end; ONE: the first byte */
    enum ompgpu_emu_text how;
} calls[] = {
    { "strlen", NONE, 0, NONE, OMPGPU_EMU_TEXT_READ },
    { "strnlen", NONE, 0, 1, OMPGPU_EMU_TEXT_READ },
    { "strrchr", NONE, 0, NONE, OMPGPU_EMU_TEXT_READ },
    { "strchr", NONE, 0, ONE, OMPGPU_EMU_TEXT_READ },
    { "strstr", NONE, 0, ONE, OMPGPU_EMU_TEXT_READ },
    { "strstr", NONE, 1, NONE, OMPGPU_EMU_TEXT_READ },
    { "strcmp", NONE, 0, ONE, OMPGPU_EMU_TEXT_READ },
    { "strcmp", NONE, 1, ONE, OMPGPU_EMU_TEXT_READ },
    { "memcmp", NONE, 0, 2, OMPGPU_EMU_TEXT_BYTES },
    { "memcmp", NONE, 1, 2, OMPGPU_EMU_TEXT_BYTES },
    { "strcpy", 0, 1, NONE, OMPGPU_EMU_TEXT_COPIED },
    { "strncpy", 0, 1, 2, OMPGPU_EMU_TEXT_PADDED },
    { "strcat", 0, 1, NONE, OMPGPU_EMU_TEXT_APPENDED },
    { "strncat", 0, 1, 2, OMPGPU_EMU_TEXT_APPENDED },
};

static LLVMValueRef most_of(struct checks *c, LLVMValueRef call, const struct text_call *t)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(c->u->ctx);
    if (t->most >= 0)
        return LLVMBuildZExtOrBitCast(c->b, LLVMGetOperand(call, (unsigned)t->most), i64, "");
    return l_i64(c->u, t->most == ONE ? 1 : UINT64_MAX);
}

static void check_text(struct checks *c, LLVMValueRef call, const struct text_call *t)
{
    ir_place_before(c, call);
    LLVMValueRef none = LLVMConstNull(l_ptr(c->u)),
                 reads = ir_make_site(c, call, OMPGPU_EMU_READS, NULL),
                 writes = t->to < 0 ? none : ir_make_site(c, call, OMPGPU_EMU_WRITES, NULL),
                 args[] = { t->to < 0 ? none : LLVMGetOperand(call, (unsigned)t->to),
                            LLVMGetOperand(call, (unsigned)t->from),
                            most_of(c, call, t),
                            l_i32(c->u, t->how),
                            reads,
                            writes };
    ir_call_check(c, c->b, "__ompgpu_emu_check_text", args, sizeof args / sizeof *args);
}

bool ir_check_texts(struct checks *c, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    bool any = false;
    if (c->trusted || !LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee))
        return false;
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(ir_name(callee), calls[i].name)) {
            check_text(c, call, &calls[i]);
            any = true;
        }
    return any;
}
