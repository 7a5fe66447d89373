/* compare.c - comparison, selection, and the logic of predicates, which are masks of lanes (PTX ISA
 * 8.x, sections 9.7.6 and 9.7.7). */
#include "hostrt/ptx/alu/alu.h"

/* ------------------------------------------------------------------ comparison */
#define COMPARE(name, T, as)                                                                       \
    static lanes name(const uint64_t *a, const uint64_t *b, unsigned op, lanes m)                  \
    {                                                                                              \
        lanes r = 0;                                                                               \
        switch (op) {                                                                              \
            COMPARE_CASE(OP_EQ, as(T, a[l]) == as(T, b[l]))                                        \
            COMPARE_CASE(OP_NE, as(T, a[l]) < as(T, b[l]) || as(T, a[l]) > as(T, b[l]))            \
            COMPARE_CASE(OP_LT, as(T, a[l]) < as(T, b[l]))                                         \
            COMPARE_CASE(OP_LE, as(T, a[l]) <= as(T, b[l]))                                        \
            COMPARE_CASE(OP_GT, as(T, a[l]) > as(T, b[l]))                                         \
            COMPARE_CASE(OP_GE, as(T, a[l]) >= as(T, b[l]))                                        \
            COMPARE_CASE(OP_EQU, !(as(T, a[l]) < as(T, b[l]) || as(T, a[l]) > as(T, b[l])))        \
            COMPARE_CASE(OP_NEU, !(as(T, a[l]) == as(T, b[l])))                                    \
            COMPARE_CASE(OP_LTU, !(as(T, a[l]) >= as(T, b[l])))                                    \
            COMPARE_CASE(OP_LEU, !(as(T, a[l]) > as(T, b[l])))                                     \
            COMPARE_CASE(OP_GTU, !(as(T, a[l]) <= as(T, b[l])))                                    \
            COMPARE_CASE(OP_GEU, !(as(T, a[l]) < as(T, b[l])))                                     \
            COMPARE_CASE(OP_NUM, as(T, a[l]) == as(T, a[l]) && as(T, b[l]) == as(T, b[l]))         \
            COMPARE_CASE(OP_NAN, !(as(T, a[l]) == as(T, a[l]) && as(T, b[l]) == as(T, b[l])))      \
        }                                                                                          \
        return r & m;                                                                              \
    }
#define COMPARE_CASE(op, expression)                                                               \
    case op:                                                                                       \
        for (unsigned l = 0; l < WARP; l++)                                                        \
            r |= (lanes)(expression) << l;                                                         \
        break;
#define AS_INTEGER(T, v) ((T)(v))
#define AS_F32(T, v) as_f32(v)
#define AS_F64(T, v) as_f64(v)
#define AS_F16(T, v) as_f16(v)
#define AS_BF16(T, v) as_bf16(v)
COMPARE(compare_u16, uint16_t, AS_INTEGER)
COMPARE(compare_u32, uint32_t, AS_INTEGER)
COMPARE(compare_u64, uint64_t, AS_INTEGER)
COMPARE(compare_s16, int16_t, AS_INTEGER)
COMPARE(compare_s32, int32_t, AS_INTEGER)
COMPARE(compare_s64, int64_t, AS_INTEGER)
COMPARE(compare_f32, float, AS_F32)
COMPARE(compare_f64, double, AS_F64)
COMPARE(compare_f16, float, AS_F16)
COMPARE(compare_bf16, float, AS_BF16)
typedef lanes comparison(const uint64_t *, const uint64_t *, unsigned, lanes);
static comparison *const comparisons[NTYPES] = {
    [T_B16] = compare_u16,   [T_U16] = compare_u16, [T_B32] = compare_u32, [T_U32] = compare_u32,
    [T_B64] = compare_u64,   [T_U64] = compare_u64, [T_S16] = compare_s16, [T_S32] = compare_s32,
    [T_S64] = compare_s64,   [T_F32] = compare_f32, [T_F64] = compare_f64, [T_F16] = compare_f16,
    [T_BF16] = compare_bf16,
};

static lanes apply_boolean(unsigned op, lanes a, lanes b)
{
    return op == OP_AND ? a & b : op == OP_OR ? a | b : op == OP_XOR ? a ^ b : a;
}
static void write_predicate(struct group *g, const struct operand *o, lanes m, lanes value,
                            lanes bad)
{
    if (o->kind != O_PRED)
        return;
    lanes *p = &g->frame->preds[o->index];
    *p = (*p & ~m) | (value & m);
    set_poison(g, o, m, bad);
}
HANDLER(setp)
{
    lanes r = comparisons[i->type](source(g, &i->s[0]), source(g, &i->s[1]), i->op, m), n = ~r;
    lanes bad = poison_of_sources(g, i);
    if (i->op2) {
        lanes c = predicate(g, &i->s[2]);
        r = apply_boolean(i->op2, r, c);
        n = apply_boolean(i->op2, n, c);
    }
    write_predicate(g, &i->d, m, r, bad);
    write_predicate(g, &i->d2, m, n, bad);
}
/* The comparisons of both halves of registers. */
struct halves {
    lanes low, high;
};
static struct halves halves_of(const struct group *g, const struct instruction *i, enum type t,
                               lanes m)
{
    const uint64_t *a = source(g, &i->s[0]), *b = source(g, &i->s[1]);
    uint64_t x[WARP], y[WARP];
    comparison *compare = t == T_F16X2 ? compare_f16 : compare_bf16;
    for (unsigned l = 0; l < WARP; l++) {
        x[l] = a[l] >> 16;
        y[l] = b[l] >> 16;
    }
    return (struct halves){ compare(a, b, i->op, m), compare(x, y, i->op, m) };
}
HANDLER(setp_packed)
{
    struct halves h = halves_of(g, i, i->type, m);
    lanes bad = poison_of_sources(g, i);
    write_predicate(g, &i->d, m, h.low, bad);
    write_predicate(g, &i->d2, m, h.high, bad);
}
/* What `set` writes for true. */
static uint64_t true_value(enum type t)
{
    return t == T_F32 ? of_f32(1) : t == T_F16 ? 0x3c00 : t == T_BF16 ? 0x3f80 : mask_of(t);
}
HANDLER(set_value)
{
    lanes r = comparisons[i->type2](source(g, &i->s[0]), source(g, &i->s[1]), i->op, m);
    uint64_t yes = true_value(i->type), *d = target_of(g, &i->d);
    if (i->op2)
        r = apply_boolean(i->op2, r, predicate(g, &i->s[2]));
    LOOP(r >> l & 1 ? yes : 0);
    DONE;
}
/* Each half for itself. */
HANDLER(set_packed)
{
    struct halves h = halves_of(g, i, i->type2, m);
    uint64_t *d = target_of(g, &i->d);
    uint64_t yes = i->type == T_F16X2 ? 0x3c00 : i->type == T_BF16X2 ? 0x3f80 : 0xffff;
    LOOP((h.high >> l & 1 ? yes << 16 : 0) | (h.low >> l & 1 ? yes : 0));
    DONE;
}
bool ptx_select_setp(struct instruction *i)
{
    bool set = i->row->operation == I_SET;
    enum type t = set ? i->type2 : i->type;
    if (t == T_F16X2 || t == T_BF16X2) {
        i->run = set ? set_packed : setp_packed;
        return i->op && !i->op2 && (!set || ptx_type_size(i->type) == 4);
    }
    i->run = set ? set_value : setp;
    return i->op && t && comparisons[t];
}

/* ------------------------------------------------------------------ selection */
HANDLER(selp)
{
    TWO;
    lanes p = predicate(g, &i->s[2]), unknown = predicate_poison(g, &i->s[2]);
    lanes bad = (unknown | source_poison(g, &i->s[0]) | source_poison(g, &i->s[1])) & m;
    uint64_t mask = mask_of(i->type);
    unsigned char undefined[WARP];
    EACH_LANE(l, bad)
        undefined[l] = unknown >> l & 1 ? 0xff
                                        : undefined_bytes(g, &i->s[p >> l & 1 ? 0 : 1], l,
                                                          ptx_type_size(i->type));
    LOOP((p >> l & 1 ? a[l] : b[l]) & mask);
    set_undefined_bytes(g, &i->d, m, bad, undefined);
}
HANDLER(selp_predicate)
{
    lanes a = predicate(g, &i->s[0]), b = predicate(g, &i->s[1]), p = predicate(g, &i->s[2]);
    write_predicate(g, &i->d, m, (a & p) | (b & ~p), poison_of_sources(g, i));
}
bool ptx_select_selp(struct instruction *i)
{
    i->run = i->type == T_PRED ? selp_predicate : selp;
    return ptx_type_size(i->type) <= 8;
}

/* ------------------------------------------------------------------ logic of predicates */
void ptx_predicate_logic(struct group *g, const struct instruction *i, lanes m)
{
    lanes a = predicate(g, &i->s[0]), b = i->nsources > 1 ? predicate(g, &i->s[1]) : 0, r;
    lanes pa = predicate_poison(g, &i->s[0]), pb = 0;
    if (i->nsources > 1)
        pb = predicate_poison(g, &i->s[1]);
    lanes bad = pa | pb;
    switch (i->row->operation) {
    case I_AND:
        r = a & b;
        bad = (pa & pb) | (pa & b) | (pb & a);
        break;
    case I_OR:
        r = a | b;
        bad = (pa & pb) | (pa & ~b) | (pb & ~a);
        break;
    case I_XOR: r = a ^ b; break;
    case I_NOT: r = ~a; break;
    default: r = a; break; /* mov */
    }
    lanes *p = &g->frame->preds[i->d.index];
    *p = (*p & ~m) | (r & m);
    set_poison(g, &i->d, m, bad);
}
