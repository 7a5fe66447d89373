/* words.c - large copies and fills of known size on a GPU, in words as wide as their alignment
 * allows.
 *
 * LLVM's backend does those of 128 bytes and more byte by byte (LLVM 22), whatever is known of
 * their alignment: a firstprivate struct of 1 KiB would be 1024 loads and stores a thread.
 *
 *     memcpy(to, from, 1026)     ──▶   four words of 8 bytes at a time: 1024;
 *                                      memcpy(to + 1024, from + 1024, 2)                         */
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include <string.h>

enum { LARGE = 128, WIDEST = 16, WORDS = 4 /* at a time */ };

struct move { /* a copy, or a fill with a byte that is constant */
    LLVMValueRef call;
    bool copies;
    uint64_t size, width; /* in bytes, of all and of a word */
};

static uint64_t alignment_of(LLVMValueRef call, unsigned argument)
{
    static const char name[] = "align";
    unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
    LLVMAttributeRef a = LLVMGetCallSiteEnumAttribute(call, argument + 1, kind);
    return a ? LLVMGetEnumAttributeValue(a) : 1;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static bool is_constant(LLVMValueRef v) { return LLVMIsAConstantInt(v) != NULL; }

/* Their operands: to, from or the byte, size, whether it is volatile. */
static bool read_move(LLVMValueRef i, struct move *m)
{
    const char *name = LLVMIsACallInst(i) ? ir_intrinsic(LLVMGetCalledValue(i)) : "";
    *m = (struct move){ .call = i, .copies = strcmp(name, "llvm.memcpy") == 0 };
    if ((!m->copies && strcmp(name, "llvm.memset") != 0) || !is_constant(LLVMGetOperand(i, 2)) ||
        LLVMConstIntGetZExtValue(LLVMGetOperand(i, 3)))
        return false;
    m->size = LLVMConstIntGetZExtValue(LLVMGetOperand(i, 2));
    m->width = smaller(WIDEST, alignment_of(i, 0));
    if (m->copies)
        m->width = smaller(m->width, alignment_of(i, 1));
    return m->size >= LARGE && m->width > 1 && (m->copies || is_constant(LLVMGetOperand(i, 1)));
}

static LLVMTypeRef word_type(const struct ir_unit *u, uint64_t width)
{
    return width == WIDEST ? LLVMVectorType(LLVMInt32TypeInContext(u->ctx), WIDEST / 4)
                           : LLVMIntTypeInContext(u->ctx, 8 * (unsigned)width);
}

static LLVMValueRef word_at(LLVMBuilderRef b, LLVMTypeRef word, LLVMValueRef base,
                            LLVMValueRef index)
{
    return LLVMBuildGEP2(b, word, base, &index, 1, "");
}

/* The builder goes into a loop that runs at least once; -> what counts from 0. */
static LLVMValueRef open_loop(const struct ir_unit *u, LLVMBuilderRef b, LLVMBasicBlockRef *loop,
                              LLVMBasicBlockRef *end)
{
    LLVMBasicBlockRef entry = LLVMGetInsertBlock(b);
    LLVMValueRef f = LLVMGetBasicBlockParent(entry), zero = l_i64(u, 0);
    *loop = LLVMAppendBasicBlockInContext(u->ctx, f, "");
    *end = LLVMAppendBasicBlockInContext(u->ctx, f, "");
    LLVMBuildBr(b, *loop);
    LLVMPositionBuilderAtEnd(b, *loop);
    LLVMValueRef at = LLVMBuildPhi(b, LLVMTypeOf(zero), "");
    LLVMAddIncoming(at, &zero, &entry, 1);
    return at;
}

/* for (at = 0; at < n; at += WORDS) to[at …] = from[at …], or = from */
static void write_loop(const struct ir_unit *u, LLVMValueRef f, LLVMTypeRef word, unsigned width)
{
    LLVMValueRef to = LLVMGetParam(f, 0), from = LLVMGetParam(f, 1), n = LLVMGetParam(f, 2);
    bool copies = LLVMGetTypeKind(LLVMTypeOf(from)) == LLVMPointerTypeKind;
    LLVMBasicBlockRef loop, end;
    LLVMBuilderRef b = l_open_function(f);
    LLVMValueRef at = open_loop(u, b, &loop, &end), values[WORDS], places[WORDS];
    for (unsigned k = 0; k < WORDS; k++) {
        places[k] = LLVMBuildNUWAdd(b, at, l_i64(u, k), "");
        values[k] = from;
        if (copies) {
            values[k] = LLVMBuildLoad2(b, word, word_at(b, word, from, places[k]), "");
            LLVMSetAlignment(values[k], width);
        }
    }
    for (unsigned k = 0; k < WORDS; k++)
        LLVMSetAlignment(LLVMBuildStore(b, values[k], word_at(b, word, to, places[k])), width);
    LLVMValueRef next = LLVMBuildNUWAdd(b, at, l_i64(u, WORDS), "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, next, n, ""), loop, end);
    LLVMAddIncoming(at, &next, &loop, 1);
    LLVMPositionBuilderAtEnd(b, end);
    l_close_function(b);
}

/* The byte in each byte of a word. */
static LLVMValueRef fill_word(LLVMTypeRef word, LLVMValueRef byte, uint64_t width)
{
    uint64_t all = LLVMConstIntGetZExtValue(byte) * 0x0101010101010101u;
    if (width < WIDEST)
        return LLVMConstInt(word, all, false);
    LLVMValueRef part = LLVMConstInt(LLVMGetElementType(word), all, false),
                 parts[WIDEST / 4] = { part, part, part, part };
    return LLVMConstVector(parts, WIDEST / 4);
}

static uint64_t count_words(const struct move *m) { return m->size / m->width / WORDS * WORDS; }

/* What is left of words at a time, by the intrinsic itself. */
static void move_rest(const struct ir_unit *u, LLVMBuilderRef b, const struct move *m)
{
    uint64_t done = count_words(m) * m->width;
    LLVMTypeRef byte = LLVMInt8TypeInContext(u->ctx);
    LLVMValueRef rest = l_i64(u, m->size - done), at = l_i64(u, done),
                 from = LLVMGetOperand(m->call, 1),
                 to = word_at(b, byte, LLVMGetOperand(m->call, 0), at);
    if (done == m->size)
        return;
    if (m->copies)
        LLVMBuildMemCpy(b, to, (unsigned)m->width, word_at(b, byte, from, at), (unsigned)m->width,
                        rest);
    else
        LLVMBuildMemSet(b, to, from, rest, (unsigned)m->width);
}

static void replace_move(const struct ir_unit *u, LLVMBuilderRef b, const struct move *m)
{
    LLVMTypeRef word = word_type(u, m->width);
    LLVMValueRef args[] = { LLVMGetOperand(m->call, 0), LLVMGetOperand(m->call, 1),
                            l_i64(u, count_words(m)) };
    if (!m->copies)
        args[1] = fill_word(word, args[1], m->width);
    LLVMTypeRef params[] = { LLVMTypeOf(args[0]), LLVMTypeOf(args[1]), LLVMTypeOf(args[2]) };
    LLVMValueRef f = l_add_function(u, "__ompgpu_words", params, 3);
    write_loop(u, f, word, (unsigned)m->width);
    ir_add_attribute(f, "alwaysinline");
    LLVMPositionBuilderBefore(b, m->call);
    l_call(b, f, args, 3);
    move_rest(u, b, m);
    ir_erase(m->call);
}

bool ir_move_words(struct ir_unit *u)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    struct move m;
    bool any = false;
    IR_EACH_FUNCTION(f, u->module)
        IR_EACH_BLOCK(block, f)
            for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (!read_move(i, &m))
                    continue;
                replace_move(u, b, &m);
                any = true;
            }
    LLVMDisposeBuilder(b);
    return any;
}
