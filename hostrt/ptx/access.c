/* access.c - loads, stores, atomics, fences, conversion of addresses, the dynamic stack (PTX
 * ISA 8.x, sections 9.7.9 and 9.7.13). */
#include <string.h>
#include "hostrt/ptx/alu/alu.h"
#include "hostrt/ptx/race/race.h"
#include "hostrt/ptx/weak.h"

/* ------------------------------------------------------------------ addresses */
bool ptx_addresses(struct group *g, const struct instruction *i, const struct memory_operand *o,
                   lanes m, uint64_t *at)
{
    const struct operand *base = &o->base;
    switch (base->kind) {
    case O_REG: {
        const uint64_t *b = g->frame->regs[base->index];
        for (unsigned l = 0; l < WARP; l++)
            at[l] = b[l] + (uint64_t)o->offset;
        lanes bad = g->frame->poison[base->index] & m;
        if (bad) {
            ptx_fault(g, i, (unsigned)__builtin_ctz(bad), CUDA_ERROR_ILLEGAL_ADDRESS,
                      "the address is computed from memory that was never written");
            return false;
        }
        return true;
    }
    case O_LOCAL:
        for (unsigned l = 0; l < WARP; l++)
            at[l] = g->frame->local_base[l] + base->value + (uint64_t)o->offset;
        return true;
    default:
        for (unsigned l = 0; l < WARP; l++)
            at[l] = base->value + (uint64_t)o->offset;
        return true;
    }
}

static bool addresses(struct group *g, const struct instruction *i, lanes m, uint64_t *at)
{
    return ptx_addresses(g, i, &i->memory, m, at);
}

static void count(struct group *g, const struct instruction *i, lanes m, const uint64_t *at,
                  unsigned size)
{
    if (ptx_counting)
        ptx_count_access(g, i, m, at, size, i->space);
}

static inline void note_access(struct group *g, const struct instruction *i, unsigned lane,
                               const unsigned char *data, unsigned size)
{
    if (ptx_racing)
        ptx_race_access(g, i, lane, data, size, false);
}

/* What the lanes have stored is seen before what they do next. */
static void order_memory(struct group *g, lanes m)
{
    if (ptx_weak)
        ptx_weak_drain(g->warp, m);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ------------------------------------------------------------------ loads */
static uint64_t read_element(const unsigned char *p, enum type t)
{
    switch (ptx_type_size(t)) {
    case 1: return t == T_S8 ? (uint64_t)(int64_t)*(const int8_t *)p : *p;
    case 2: {
        uint16_t v = __atomic_load_n((const uint16_t *)(const void *)p, __ATOMIC_RELAXED);
        return t == T_S16 ? (uint64_t)(int64_t)(int16_t)v : v;
    }
    case 4: {
        uint32_t v = __atomic_load_n((const uint32_t *)(const void *)p, __ATOMIC_RELAXED);
        return t == T_S32 ? (uint64_t)(int64_t)(int32_t)v : v;
    }
    default: return __atomic_load_n((const uint64_t *)(const void *)p, __ATOMIC_RELAXED);
    }
}

/* A bit for each undefined byte of an element. */
static unsigned char undefined_in_memory(const unsigned char *shadow, unsigned size)
{
    unsigned char bits = 0;
    for (unsigned k = 0; k < size; k++)
        bits |= (unsigned char)((shadow[k] != SHADOW_DEFINED) << k);
    return bits;
}
static bool all_defined(const unsigned char *shadow, unsigned size)
{
    static const uint64_t pattern = 0x0101010101010101ull * SHADOW_DEFINED;
    return !shadow || !memcmp(shadow, &pattern, size);
}
/* Of a word around an object a part is enough. */
static bool is_defined(const struct instruction *i, const unsigned char *shadow, unsigned size)
{
    return all_defined(shadow, size) || (i->around && memchr(shadow, SHADOW_DEFINED, size));
}

static const struct operand *element_operand(const struct operand *o, unsigned k)
{
    return o->kind == O_VECTOR ? &o->parts[k] : o;
}

/* Pieces of a vector, of 8 bytes or all of it, each of which is read or written at once: PTX
 * promises that of an element only, but hardware has it, and CUB's scans over all teams rely on it.
 */
enum { PIECE = 8, LARGEST_VECTOR = 64 };

static void read_pieces(unsigned char *to, const unsigned char *from, unsigned size)
{
    if (size < PIECE) {
        uint32_t all =
            size == 4 ? __atomic_load_n((const uint32_t *)(const void *)from, __ATOMIC_RELAXED)
                      : __atomic_load_n((const uint16_t *)(const void *)from, __ATOMIC_RELAXED);
        memcpy(to, &all, size);
    }
    for (unsigned k = 0; k + PIECE <= size; k += PIECE) {
        uint64_t piece =
            __atomic_load_n((const uint64_t *)(const void *)(from + k), __ATOMIC_RELAXED);
        memcpy(to + k, &piece, sizeof piece);
    }
}

HANDLER(load)
{
    uint64_t at[WARP];
    unsigned each = ptx_type_size(i->type), n = i->vector, size = each * n;
    if (!addresses(g, i, m, at))
        return;
    count(g, i, m, at, size);
    lanes bad[8] = { 0 };
    unsigned char undefined[8][WARP];
    EACH_LANE(l, m) {
        struct bytes b = ptx_resolve(g, i, l, at[l], size);
        if (!b.data)
            return;
        note_access(g, i, l, b.data, size);
        struct weak_view own;
        if (ptx_weak)
            b = ptx_weak_look(g, l, b, size, &own);
        unsigned char vector[LARGEST_VECTOR], *data = b.data;
        if (n > 1)
            read_pieces(data = vector, b.data, size);
        for (unsigned k = 0; k < n; k++) {
            const struct operand *o = element_operand(&i->d, k);
            if (o->kind == O_REG)
                g->frame->regs[o->index][l] = read_element(data + k * each, i->type);
            if (!is_defined(i, b.shadow ? b.shadow + k * each : NULL, each)) {
                undefined[k][l] = undefined_in_memory(b.shadow + k * each, each);
                bad[k] |= 1u << l;
            }
        }
    }
    for (unsigned k = 0; k < n; k++) {
        const struct operand *o = element_operand(&i->d, k);
        set_undefined_bytes(g, o, m, bad[k], undefined[k]);
    }
    if (i->order == MO_ACQUIRE)
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
}
bool ptx_select_load(struct instruction *i)
{
    i->run = load;
    return ptx_type_size(i->type) && ptx_type_size(i->type) <= 8 &&
           (i->vector == 1) == (i->d.kind != O_VECTOR);
}

/* ------------------------------------------------------------------ stores */
void ptx_write_element(unsigned char *p, uint64_t v, unsigned size)
{
    switch (size) {
    case 1: __atomic_store_n(p, (uint8_t)v, __ATOMIC_RELAXED); break;
    case 2: __atomic_store_n((uint16_t *)(void *)p, (uint16_t)v, __ATOMIC_RELAXED); break;
    case 4: __atomic_store_n((uint32_t *)(void *)p, (uint32_t)v, __ATOMIC_RELAXED); break;
    default: __atomic_store_n((uint64_t *)(void *)p, v, __ATOMIC_RELAXED); break;
    }
}

void ptx_define_element(unsigned char *shadow, unsigned size, unsigned char undefined)
{
    for (unsigned k = 0; k < size; k++)
        shadow[k] = undefined >> k & 1 ? SHADOW_UNDEFINED : SHADOW_DEFINED;
}

/* Whether memory holds what the lane would store. */
static bool is_stored(const struct group *g, const struct instruction *i, unsigned lane,
                      const unsigned char *data)
{
    unsigned each = ptx_type_size(i->type);
    for (unsigned k = 0; k < i->vector; k++) {
        uint64_t v = source(g, element_operand(&i->s[0], k))[lane];
        if (memcmp(data + k * each, &v, each))
            return false;
    }
    return true;
}

struct piece {
    uint64_t value;
    unsigned size;
    unsigned char undefined; /* a bit for each byte */
};

static void add_element(struct group *g, unsigned lane, const struct operand *o, unsigned size,
                        struct piece *p)
{
    uint64_t value = source(g, o)[lane] & (~0ull >> (64 - 8 * size));
    unsigned bad = source_poison(g, o) >> lane & 1 ? *poison_bytes(g, o, lane) : 0;
    p->value |= value << 8 * p->size;
    p->undefined |= (unsigned char)((bad & ((1u << size) - 1)) << p->size);
    p->size += size;
}

static void store_piece(struct group *g, unsigned lane, struct bytes b, const struct piece *p)
{
    if (ptx_weak) {
        ptx_weak_store(g, lane, b, p->size, p->value, p->undefined);
        return;
    }
    ptx_write_element(b.data, p->value, p->size);
    if (b.shadow)
        ptx_define_element(b.shadow, p->size, p->undefined);
}

static void store_elements(struct group *g, const struct instruction *i, unsigned lane,
                           struct bytes b, unsigned each)
{
    for (unsigned k = 0, at = 0; k < i->vector;) {
        struct piece p = { .size = 0 };
        do
            add_element(g, lane, element_operand(&i->s[0], k++), each, &p);
        while (k < i->vector && p.size + each <= PIECE);
        store_piece(g, lane, (struct bytes){ b.data + at, b.shadow ? b.shadow + at : NULL }, &p);
        at += p.size;
    }
}

HANDLER(store)
{
    uint64_t at[WARP];
    unsigned each = ptx_type_size(i->type), n = i->vector, size = each * n;
    if (!addresses(g, i, m, at))
        return;
    count(g, i, m, at, size);
    if (i->order == MO_RELEASE)
        order_memory(g, m);
    EACH_LANE(l, m) {
        struct bytes b = ptx_resolve(g, i, l, at[l], size);
        if (!b.data)
            return;
        if (ptx_racing)
            ptx_race_access(g, i, l, b.data, size, is_stored(g, i, l, b.data));
        store_elements(g, i, l, b, each);
    }
}
bool ptx_select_store(struct instruction *i)
{
    i->run = store;
    return ptx_type_size(i->type) && ptx_type_size(i->type) <= 8 && i->nsources == 1 &&
           (i->vector == 1) == (i->s[0].kind != O_VECTOR);
}

/* ------------------------------------------------------------------ atomics */
/* The sum in the type's precision; f16x2 and bf16x2 in each half. */
static uint64_t added(enum type t, uint64_t a, uint64_t b)
{
    switch (t) {
    case T_F16: return of_f16(as_f16(a) + as_f16(b));
    case T_BF16: return of_bf16(as_bf16(a) + as_bf16(b));
    case T_F16X2: return added(T_F16, a >> 16, b >> 16) << 16 | added(T_F16, a, b);
    case T_BF16X2: return added(T_BF16, a >> 16, b >> 16) << 16 | added(T_BF16, a, b);
    case T_F32: return of_f32(as_f32(a) + as_f32(b));
    case T_F64: return of_f64(as_f64(a) + as_f64(b));
    default: return a + b;
    }
}

static uint64_t updated(const struct instruction *i, uint64_t old, uint64_t b, uint64_t c)
{
    bool is_signed = ptx_type_is_signed(i->type), wide = ptx_type_size(i->type) == 8;
    int64_t so = wide ? (int64_t)old : (int32_t)old, sb = wide ? (int64_t)b : (int32_t)b;
    uint64_t mask = wide ? ~0ull : ptx_type_size(i->type) == 4 ? 0xffffffffu : 0xffffu;
    b &= mask;
    switch (i->op) {
    case OP_ADD: return added(i->type, old, b) & mask;
    case OP_MIN: return (is_signed ? so < sb : old < b) ? old : b;
    case OP_MAX: return (is_signed ? so > sb : old > b) ? old : b;
    case OP_AND: return old & b;
    case OP_OR: return old | b;
    case OP_XOR: return old ^ b;
    case OP_INC: return old >= b ? 0 : old + 1;
    case OP_DEC: return old == 0 || old > b ? b : old - 1;
    case OP_EXCH: return b;
    default: return old == b ? c & mask : old; /* cas */
    }
}

#define ATOMIC_UPDATE(T)                                                                           \
    do {                                                                                           \
        T *p = (T *)(void *)data, old = __atomic_load_n(p, __ATOMIC_RELAXED), new;                 \
        do                                                                                         \
            new = (T)updated(i, old, b, c);                                                        \
        while (                                                                                    \
            !__atomic_compare_exchange_n(p, &old, new, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); \
        return old;                                                                                \
    } while (0)
static uint64_t atomic_update(const struct instruction *i, unsigned char *data, uint64_t b,
                              uint64_t c)
{
    switch (ptx_type_size(i->type)) {
    case 2: ATOMIC_UPDATE(uint16_t);
    case 4: ATOMIC_UPDATE(uint32_t);
    default: ATOMIC_UPDATE(uint64_t);
    }
}

/* Lanes of a warp update in lane order or, with a seed, from a random lane on. */
static unsigned first_lane(struct group *g)
{
    return ptx_settings.scheduled ? (unsigned)ptx_random(&g->warp->team->worker->random) % WARP : 0;
}

/* Of a word around an object what changed is the object. */
static void define_changed(struct bytes b, uint64_t old, unsigned size, unsigned char undefined)
{
    for (unsigned k = 0; k < size; k++)
        if (b.shadow[k] && b.data[k] != (unsigned char)(old >> 8 * k))
            ptx_define_element(b.shadow + k, 1, undefined >> k & 1);
}

/* Element k of a lane: what was there goes to the destination, undefined only by an exchange; what
 * an undefined operand gives is undefined. */
static bool update_element(struct group *g, const struct instruction *i, unsigned lane,
                           struct bytes b, unsigned k)
{
    unsigned size = ptx_type_size(i->type);
    const struct operand *d = element_operand(&i->d, k), *s = element_operand(&i->s[0], k);
    bool cas = i->nsources > 1, defined = is_defined(i, b.shadow, size);
    lanes bad = source_poison(g, s) | (cas ? source_poison(g, &i->s[1]) : 0);
    if (!defined && i->op != OP_EXCH) {
        ptx_fault(g, i, lane, CUDA_ERROR_LAUNCH_FAILED,
                  "an atomic update of memory that was never written");
        return false;
    }
    uint64_t old =
        atomic_update(i, b.data, source(g, s)[lane], cas ? source(g, &i->s[1])[lane] : 0);
    if (b.shadow && i->around)
        define_changed(b, old, size, undefined_bytes(g, cas ? &i->s[1] : s, lane, size));
    else if (b.shadow)
        memset(b.shadow, bad >> lane & 1 ? SHADOW_UNDEFINED : SHADOW_DEFINED, size);
    if (d->kind == O_REG) {
        target_of(g, d)[lane] = old;
        set_poison(g, d, 1u << lane, defined ? 0 : 1u << lane);
    }
    return true;
}

HANDLER(atomic)
{
    uint64_t at[WARP];
    unsigned each = ptx_type_size(i->type), size = each * i->vector, start = first_lane(g);
    if (!addresses(g, i, m, at))
        return;
    count(g, i, m, at, size);
    if (ptx_weak && (i->order == MO_RELEASE || i->order == MO_ACQ_REL))
        order_memory(g, m);
    for (unsigned n = 0; n < WARP; n++) {
        unsigned l = (start + n) % WARP;
        if (!(m >> l & 1))
            continue;
        struct bytes b = ptx_resolve(g, i, l, at[l], size);
        if (!b.data)
            return;
        note_access(g, i, l, b.data, size);
        if (ptx_weak)
            ptx_weak_drain_at(g, l, b.data, size);
        for (unsigned k = 0; k < i->vector; k++) {
            struct bytes part = { b.data + k * each, b.shadow ? b.shadow + k * each : NULL };
            if (!update_element(g, i, l, part, k))
                return;
        }
    }
}
bool ptx_select_atom(struct instruction *i)
{
    unsigned size = ptx_type_size(i->type);
    bool is_float = ptx_type_is_float(i->type), vector = i->s[0].kind == O_VECTOR;
    i->run = atomic;
    i->around =
        size == 4 && (i->op == OP_CAS || i->op == OP_AND || i->op == OP_OR || i->op == OP_XOR);
    return i->op >= OP_AND && i->op <= OP_CAS && size >= 2 && size <= 8 &&
           (!is_float || i->op == OP_ADD || i->op == OP_EXCH) &&
           i->nsources == 1u + (i->op == OP_CAS) && vector == (i->vector > 1);
}

HANDLER(fence)
{
    if (ptx_racing)
        ptx_race_fence(g, i, m);
    order_memory(g, m);
}
bool ptx_select_fence(struct instruction *i)
{
    i->run = fence;
    return true;
}
HANDLER(nothing) { (void)g, (void)m, (void)i; }
bool ptx_select_nothing(struct instruction *i)
{
    i->run = nothing;
    return true;
}

/* ------------------------------------------------------------------ generic addresses */
static uint64_t window_of(enum space s)
{
    return s == S_SHARED  ? SHARED_WINDOW
           : s == S_LOCAL ? LOCAL_WINDOW
           : s == S_PARAM ? PARAM_WINDOW
                          : 0;
}
static void write_address(struct group *g, const struct instruction *i, lanes m, uint64_t add,
                          uint64_t mask)
{
    uint64_t *d = target_of(g, &i->d);
    const struct operand *s = &i->s[0];
    uint64_t value[WARP];
    for (unsigned l = 0; l < WARP; l++)
        value[l] = s->kind == O_LOCAL   ? g->frame->local_base[l] + s->value
                   : s->kind == O_PARAM ? s->value
                                        : source(g, s)[l];
    lanes bad = source_poison(g, s);
    EACH_LANE(l, m)
        d[l] = (value[l] & mask) + add;
    set_poison(g, &i->d, m, bad);
}
HANDLER(to_generic) { write_address(g, i, m, window_of(i->space), ~0ull); }
HANDLER(from_generic) { write_address(g, i, m, 0, window_of(i->space) ? ~WINDOW_MASK : ~0ull); }
HANDLER(is_space)
{
    const uint64_t *a = source(g, &i->s[0]);
    lanes r = 0;
    EACH_LANE(l, m) {
        uint64_t window = a[l] & WINDOW_MASK;
        bool global = window != SHARED_WINDOW && window != LOCAL_WINDOW && window != PARAM_WINDOW;
        r |= (lanes)(window_of(i->space) ? window == window_of(i->space) : global) << l;
    }
    lanes *p = &g->frame->preds[i->d.index];
    *p = (*p & ~m) | r;
    set_poison(g, &i->d, m, source_poison(g, &i->s[0]));
}
bool ptx_select_cvta(struct instruction *i)
{
    if (i->row->operation == I_ISSPACEP)
        i->run = is_space;
    else
        i->run = i->to_space ? from_generic : to_generic;
    return i->space != S_GENERIC;
}

/* ------------------------------------------------------------------ the dynamic stack */
/* Local memory grows upwards: a frame's fixed part, then what alloca adds, then the next frame. */
HANDLER(alloca_handler)
{
    enum { GAP = 16 };
    const uint64_t *bytes = source(g, &i->s[0]);
    uint64_t *d = target_of(g, &i->d), align = i->nsources > 1 ? i->s[1].value : 16;
    if (!ptx_operand_is_defined(g, i, &i->s[0], m, "the size of an alloca"))
        return;
    EACH_LANE(l, m) {
        uint64_t from = g->warp->stack_top[l], at = (from + align - 1) / align * align;
        uint64_t top = at + bytes[l] + GAP;
        if (top < at || !ptx_local_reserve(g, i, l, top))
            return;
        unsigned char *shadow = g->warp->team->local_shadow[g->warp->number * WARP + l];
        memset(shadow + from, SHADOW_NONE, top - from);
        memset(shadow + at, SHADOW_UNDEFINED, bytes[l]);
        g->warp->stack_top[l] = (uint32_t)top;
        d[l] = at;
    }
    set_poison(g, &i->d, m, 0);
}
HANDLER(stack_save)
{
    uint64_t *d = target_of(g, &i->d);
    EACH_LANE(l, m)
        d[l] = g->warp->stack_top[l];
    set_poison(g, &i->d, m, 0);
}
HANDLER(stack_restore)
{
    const uint64_t *a = source(g, &i->s[0]);
    EACH_LANE(l, m)
        g->warp->stack_top[l] = (uint32_t)a[l];
}
bool ptx_select_stack(struct instruction *i)
{
    i->run = i->row->operation == I_ALLOCA      ? alloca_handler
             : i->row->operation == I_STACKSAVE ? stack_save
                                                : stack_restore;
    return true;
}
