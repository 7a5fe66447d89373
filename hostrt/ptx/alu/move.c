/* move.c - mov: registers, addresses, special registers, vectors (PTX ISA 8.x, section 9.7.9 and
 * chapter 10). */
#include "hostrt/ptx/alu/alu.h"

HANDLER(mov)
{
    ONE;
    lanes bad = source_poison(g, &i->s[0]) & m;
    uint64_t mask = mask_of(i->type);
    unsigned char undefined[WARP];
    EACH_LANE(l, bad)
        undefined[l] = undefined_bytes(g, &i->s[0], l, 8);
    LOOP(a[l] & mask);
    set_undefined_bytes(g, &i->d, m, bad, undefined);
}
HANDLER(mov_local)
{
    uint64_t *d = target_of(g, &i->d);
    const uint32_t *base = g->frame->local_base;
    LOOP(base[l] + i->s[0].value);
    set_poison(g, &i->d, m, 0);
}
HANDLER(mov_param)
{
    uint64_t *d = target_of(g, &i->d);
    LOOP(i->s[0].value);
    set_poison(g, &i->d, m, 0);
}
static uint64_t special_value(const struct group *g, unsigned lane, unsigned which)
{
    const struct team *t = g->warp->team;
    const unsigned *block = t->launch->block, *grid = t->launch->grid;
    unsigned n = g->warp->number * WARP + lane;
    const unsigned tid[3] = { n % block[0], n / block[0] % block[1], n / block[0] / block[1] };
    if (which < SR_NTID)
        return tid[which];
    if (which < SR_CTAID)
        return block[which - SR_NTID];
    if (which < SR_NCTAID)
        return t->id[which - SR_CTAID];
    if (which < SR_LANEID)
        return grid[which - SR_NCTAID];
    switch (which) {
    case SR_LANEID: return lane;
    case SR_WARPID: return g->warp->number;
    case SR_NWARPID: return t->nwarps;
    case SR_SMID: return t->number % 4;
    case SR_NSMID: return 4;
    case SR_GRIDID: return t->launch->number;
    case SR_LANEMASK_EQ: return 1u << lane;
    case SR_LANEMASK_LT: return (1u << lane) - 1;
    case SR_LANEMASK_LE: return (2u << lane) - 1;
    case SR_LANEMASK_GT: return (uint32_t)(~0u << lane << 1);
    case SR_LANEMASK_GE: return (uint32_t)(~0u << lane);
    case SR_CLOCK: return (uint32_t)g->warp->steps;
    case SR_CLOCK_HI: return g->warp->steps >> 32;
    case SR_CLOCK64: return g->warp->steps;
    case SR_GLOBALTIMER: return ptx_nanoseconds();
    case SR_DYNAMIC_SMEM: return t->launch->dynamic_shared;
    case SR_TOTAL_SMEM: return t->launch->dynamic_shared + t->launch->entry->shared_bytes;
    case SR_ENVREG1: return t->launch->workspace >> 32;
    case SR_ENVREG2: return (uint32_t)t->launch->workspace;
    default: return 0;
    }
}
HANDLER(mov_special)
{
    uint64_t *d = target_of(g, &i->d);
    unsigned which = i->s[0].index;
    LOOP(special_value(g, l, which));
    set_poison(g, &i->d, m, 0);
}
/* mov.b64 {lo, hi}, %rd;  mov.b32 {h0, h1, …}, %r; */
HANDLER(unpack)
{
    const uint64_t *a = source(g, &i->s[0]);
    unsigned bits = 8 * ptx_type_size(i->type) / i->d.n;
    uint64_t mask = bits < 64 ? (1ull << bits) - 1 : ~0ull;
    lanes bad = source_poison(g, &i->s[0]) & m;
    for (unsigned k = 0; k < i->d.n; k++) {
        const struct operand *o = &i->d.parts[k];
        if (o->kind != O_REG)
            continue;
        uint64_t *d = target_of(g, o);
        LOOP(a[l] >> k * bits & mask);
        unsigned char undefined[WARP];
        EACH_LANE(l, bad)
            undefined[l] = (unsigned char)(undefined_bytes(g, &i->s[0], l, 8) >> k * bits / 8 &
                                           ((1u << bits / 8) - 1));
        set_undefined_bytes(g, o, m, bad, undefined);
    }
}
HANDLER(pack)
{
    uint64_t *d = target_of(g, &i->d), value[WARP] = { 0 };
    unsigned bits = 8 * ptx_type_size(i->type) / i->s[0].n;
    uint64_t mask = bits < 64 ? (1ull << bits) - 1 : ~0ull;
    unsigned char bytes[WARP] = { 0 };
    lanes bad = 0;
    for (unsigned k = 0; k < i->s[0].n; k++) {
        const struct operand *o = &i->s[0].parts[k];
        const uint64_t *a = source(g, o);
        for (unsigned l = 0; l < WARP; l++)
            value[l] |= (a[l] & mask) << k * bits;
        lanes p = source_poison(g, o) & m;
        EACH_LANE(l, p)
            bytes[l] |= (unsigned char)(undefined_bytes(g, o, l, bits / 8) << k * bits / 8);
        bad |= p;
    }
    LOOP(value[l]);
    set_undefined_bytes(g, &i->d, m, bad, bytes);
}
bool ptx_select_mov(struct instruction *i)
{
    if (ptx_type_size(i->type) > 8)
        return false;
    switch (i->s[0].kind) {
    case O_SPECIAL: i->run = mov_special; return true;
    case O_LOCAL: i->run = mov_local; return true;
    case O_PARAM: i->run = mov_param; return true;
    case O_VECTOR: i->run = pack; return i->d.kind == O_REG;
    case O_PRED: i->run = ptx_predicate_logic; return true;
    case O_LABEL: return false;
    default: break;
    }
    if (i->d.kind == O_VECTOR)
        i->run = unpack;
    else
        i->run = i->type == T_PRED ? ptx_predicate_logic : mov;
    return true;
}

struct operand ptx_special_register(const char *name)
{
    static const struct {
        const char *name;
        unsigned index;
    } names[] = {
        { "%tid", SR_TID },
        { "%ntid", SR_NTID },
        { "%ctaid", SR_CTAID },
        { "%nctaid", SR_NCTAID },
        { "%laneid", SR_LANEID },
        { "%warpid", SR_WARPID },
        { "%nwarpid", SR_NWARPID },
        { "%smid", SR_SMID },
        { "%nsmid", SR_NSMID },
        { "%gridid", SR_GRIDID },
        { "%lanemask_eq", SR_LANEMASK_EQ },
        { "%lanemask_lt", SR_LANEMASK_LT },
        { "%lanemask_le", SR_LANEMASK_LE },
        { "%lanemask_gt", SR_LANEMASK_GT },
        { "%lanemask_ge", SR_LANEMASK_GE },
        { "%clock", SR_CLOCK },
        { "%clock_hi", SR_CLOCK_HI },
        { "%clock64", SR_CLOCK64 },
        { "%globaltimer", SR_GLOBALTIMER },
        { "%dynamic_smem_size", SR_DYNAMIC_SMEM },
        { "%total_smem_size", SR_TOTAL_SMEM },
        { "%envreg1", SR_ENVREG1 },
        { "%envreg2", SR_ENVREG2 },
    };
    size_t n = strcspn(name, ".");
    unsigned dimension = name[n] == '.' ? (unsigned)(name[n + 1] - 'x') : 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == n && !memcmp(names[i].name, name, n) && dimension < 3)
            return (struct operand){ .kind = O_SPECIAL, .index = names[i].index + dimension };
    return (struct operand){ .kind = O_NONE };
}
