/* scan.c - prefix combinations over the threads of a team, for `reduction(inscan, …)`.  Like
 * reduction.c it moves bytes and knows no types.
 *
 * A loop with a scan runs in steps: thread t of T takes iteration base + t, so that iteration order
 * is thread order.  In a step:
 *
 *     rec of each thread        r0 r1 … r31 │ r32 …      what the input phase made of the items
 *     warp: shuffles up         log2 times, inclusive
 *     last lane of each warp ─▶ up[warp]
 *     ------------------------------ A: totals are there ---------------------
 *     first warp                carry op up[0], up[1] … inclusive over the lanes ─▶ down[warp]
 *     ------------------------------ B: prefixes are there -------------------
 *     all                       prefix = down[warp - 1] (first warp: carry)
 *                               rec = prefix op (its inclusive value, or that of the lane below)
 *                               carry = down[last warp]
 *
 * Two barriers a step suffice: up[w] is written again only by the lanes of warp w after B, when the
 * first warp has read it; down is written again only after the next A, when all have read it.
 * Records larger than a cell are exchanged in parts, with two barriers more for each.  Several rows
 * of T iterations can go through one step (small records, simple bodies): their loads are in flight
 * together, a cell holds a record of each row, and the first warp takes one row after the other.
 *
 * The left operand is always the earlier iteration's, so an operator need not commute; the tree
 * depends on T only.
 *
 * Several teams take tiles, by a counter, so that whoever has a tile knows that those before it are
 * done or at work.  Between A and B the first warp publishes what its tile adds up to, and looks
 * back (Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016):
 *
 *     of 1024 tiles           of each group of 32
 *     before  group 0 … 30    total of tile 0 … 31
 *
 * A tile, the q-th of group g: q lanes wait for the totals of tiles before it in the group, and
 * combine them; then g lanes for those of groups before it, and one for what is before the 1024.
 * The last tile of a group publishes its total, that of 1024 what is before the next ones.
 *
 * The total of a tile is there soon after it was begun, that of a group soon after its last tile
 * was, so what waits for one another is a chain with a link for 1024 tiles.  (A link takes one or
 * two microseconds on a GPU: with one for 32 tiles that was nearly all of the time.)  Which records
 * are combined in which order depends on the tiles alone: the same bits each time. */
#include "devicertl/arch.h"

#define PART ((usize)CELL_BYTES) /* bytes of a record that are exchanged at a time */
_Static_assert(__OMPGPU_SCAN_BYTES == CELL_BYTES, "rows of a scan share a cell");

/* The records of one thread: its iteration's, two for the algorithm, and what all iterations so far
 * add up to. */
struct records {
    void *rec, *tmp, *aux, *carry;
    usize size;
    __ompgpu_combine combine;
};
/* Who the caller is: lanes of its warp that take part (mask), the first `holders` of them have an
 * iteration in this step. */
struct position {
    unsigned lane, warp, mask, holders, warps, n;
};

/* ------------------------------------------------------------------ warp */
INLINE void fetch_word(void *into, const void *rec, usize at, usize n, unsigned mask,
                       unsigned delta)
{
    u32 word = 0;
    __builtin_memcpy(&word, (const char *)rec + at, n);
    word = __ompgpu_arch_shuffle_up(mask, word, delta);
    __builtin_memcpy((char *)into + at, &word, n);
}

/* *into = the record of the lane `delta` below. */
INLINE void fetch_up(void *into, const void *rec, usize size, unsigned mask, unsigned delta)
{
    usize whole = size & ~(usize)3;
    if (size <= MAX_UNROLLED) {
        UNROLL for (usize at = 0; at < whole; at += 4) fetch_word(into, rec, at, 4, mask, delta);
    } else {
        ROLLED for (usize at = 0; at < whole; at += 4) fetch_word(into, rec, at, 4, mask, delta);
    }
    if (whole < size)
        fetch_word(into, rec, whole, size - whole, mask, delta);
}

/* rec = tmp op rec, with the operands in this order. */
INLINE void combine_left(struct records r, void *rec)
{
    r.combine(r.tmp, rec);
    __builtin_memcpy(rec, r.tmp, r.size);
}

INLINE void scan_step(struct records r, void *rec, unsigned mask, unsigned lane, unsigned holders,
                      unsigned d)
{
    fetch_up(r.tmp, rec, r.size, mask, d);
    if (lane >= d && lane < holders)
        combine_left(r, rec);
}

INLINE void scan_warp(struct records r, void *rec, unsigned mask, unsigned lane, unsigned holders)
{
    if (r.size <= MAX_UNROLLED) {
        UNROLL for (unsigned d = 1; d < WARP; d *= 2) scan_step(r, rec, mask, lane, holders, d);
    } else {
        ROLLED for (unsigned d = 1; d < WARP; d *= 2) scan_step(r, rec, mask, lane, holders, d);
    }
}

/* ------------------------------------------------------------------ cells */
CELLS(cells_up)
CELLS(cells_down)

/* n bytes of a record, as those of row `row` in the cell of a warp: 4 each where that is enough. */
#define ROW_BYTES(n) ((n) <= 4 ? 4 : ((n) + 7) / 8 * 8)
INLINE void put_cell(CELL_SPACE cell_row *cells, unsigned row, const void *rec, usize n,
                     unsigned warp)
{
    UNROLL for (usize at = 0; at < n; at += 8)
    {
        u64 word = 0;
        __builtin_memcpy(&word, (const char *)rec + at, n - at < 8 ? n - at : 8);
        if (n > 4)
            cells[(row * ROW_BYTES(n) + at) / 8][warp] = word;
        else
            ((CELL_SPACE u32 *)cells)[row * WARP + warp] = (u32)word;
    }
}

INLINE void get_cell(CELL_SPACE cell_row *cells, unsigned row, void *rec, usize n, unsigned warp)
{
    UNROLL for (usize at = 0; at < n; at += 8)
    {
        u64 word;
        if (n > 4)
            word = cells[(row * ROW_BYTES(n) + at) / 8][warp];
        else
            word = ((CELL_SPACE u32 *)cells)[row * WARP + warp];
        __builtin_memcpy((char *)rec + at, &word, n - at < 8 ? n - at : 8);
    }
}

/* n bytes from `at` of every warp's total to the first warp. */
INLINE void part_up(struct records r, struct position p, usize at, usize n)
{
    if (at)
        __ompgpu_team_barrier(p.n, 0); /* the cells' last use is over */
    if (p.holders && p.lane == p.holders - 1)
        put_cell(cells_up(r.size), 0, (char *)r.rec + at, n, p.warp);
    __ompgpu_team_barrier(p.n, 0); /* A */
    if (p.warp == 0 && p.lane < p.warps)
        get_cell(cells_up(r.size), 0, (char *)r.aux + at, n, p.lane);
}

/* And back: aux becomes the prefix of the caller's warp. */
INLINE void part_down(struct records r, struct position p, usize at, usize n)
{
    if (at)
        __ompgpu_team_barrier(p.n, 0);
    if (p.warp == 0 && p.lane < p.warps)
        put_cell(cells_down(r.size), 0, (char *)r.aux + at, n, p.lane);
    __ompgpu_team_barrier(p.n, 0); /* B */
    if (p.warp == 0)
        __builtin_memcpy((char *)r.aux + at, (char *)r.carry + at, n);
    else
        get_cell(cells_down(r.size), 0, (char *)r.aux + at, n, p.warp - 1);
    get_cell(cells_down(r.size), 0, (char *)r.carry + at, n, p.warps - 1);
}

INLINE void exchange_part(struct records r, struct position p, _Bool up, usize at, usize n)
{
    if (up)
        part_up(r, p, at, n);
    else
        part_down(r, p, at, n);
}

INLINE void exchange(struct records r, struct position p, _Bool up)
{
    if (r.size <= MAX_UNROLLED) {
        UNROLL for (usize at = 0; at < r.size; at += PART)
            exchange_part(r, p, up, at, r.size - at < PART ? r.size - at : PART);
    } else {
        usize rest = r.size % PART;
        ROLLED for (usize at = 0; at < r.size - rest; at += PART) exchange_part(r, p, up, at, PART);
        if (rest)
            exchange_part(r, p, up, r.size - rest, rest);
    }
}

/* ------------------------------------------------------------------ team */
INLINE struct position position_of(unsigned n, unsigned m)
{
    unsigned tid = __ompgpu_arch_tid(), first = tid / WARP * WARP, lanes = n - first,
             held = m > first ? m - first : 0;
    return (struct position){ .lane = tid % WARP,
                              .warp = tid / WARP,
                              .mask = lanes >= WARP ? FULL_WARP : (1u << lanes) - 1,
                              .holders = held < WARP ? held : WARP,
                              .warps = (m + WARP - 1) / WARP,
                              .n = n };
}

/* rec: aux, the prefix of the warp, and the warp's own records before the caller's or with it.
 */
INLINE void apply_prefix(struct records r, struct position p, _Bool exclusive)
{
    if (exclusive) {
        fetch_up(r.tmp, r.rec, r.size, p.mask, 1);
        if (p.lane && p.lane < p.holders)
            r.combine(r.aux, r.tmp);
    } else if (p.lane < p.holders) {
        r.combine(r.aux, r.rec);
    }
    __builtin_memcpy(r.rec, r.aux, r.size);
}

__attribute__((always_inline, convergent)) void __ompgpu_scan(void *rec, void *tmp, void *aux,
                                                              void *carry, unsigned long size,
                                                              __ompgpu_combine combine, unsigned m,
                                                              _Bool exclusive)
{
    struct records r = { rec, tmp, aux, carry, size, combine };
    unsigned n = (unsigned)__ompgpu_num_threads();
    if (n == 1) {
        __ompgpu_scan_one(rec, tmp, carry, size, combine, exclusive);
        return;
    }
    struct position p = position_of(n, m);
    scan_warp(r, rec, p.mask, p.lane, p.holders);
    exchange(r, p, 1);
    if (p.warp == 0) {
        if (p.lane == 0) {
            __builtin_memcpy(tmp, carry, size);
            combine_left(r, aux);
        }
        scan_warp(r, aux, p.mask, p.lane, p.warps);
    }
    exchange(r, p, 0);
    apply_prefix(r, p, exclusive);
}

/* ------------------------------------------------------------------ several rows */
INLINE unsigned row_holders(u64 left, unsigned n, unsigned row)
{
    u64 before = (u64)row * n;
    return left <= before ? 0 : left - before < n ? (unsigned)(left - before) : n;
}

/* *into = the record of lane `lane`, for all lanes in mask. */
INLINE void broadcast(void *into, const void *rec, usize size, unsigned mask, unsigned lane)
{
    UNROLL for (usize at = 0; at < size; at += 4)
    {
        usize n = size - at < 4 ? size - at : 4;
        u32 word = 0;
        __builtin_memcpy(&word, (const char *)rec + at, n);
        word = __ompgpu_arch_shuffle(mask, word, lane);
        __builtin_memcpy((char *)into + at, &word, n);
    }
}

/* Up to barrier A. */
INLINE void row_up(struct records r, struct position p, unsigned rows, unsigned row)
{
    scan_warp(r, r.rec, p.mask, p.lane, WARP); /* others hold initial values */
    if (p.holders && p.lane == p.holders - 1)
        put_cell(cells_up(rows * ROW_BYTES(r.size)), row, r.rec, r.size, p.warp);
}

/* The first warp, between A and B; r.carry is this warp's, and goes on from row to row; in row
 * `alone` there is none. */
INLINE void row_totals(struct records r, struct position p, unsigned rows, unsigned row,
                       unsigned alone)
{
    if (p.lane < p.warps)
        get_cell(cells_up(rows * ROW_BYTES(r.size)), row, r.aux, r.size, p.lane);
    if (p.lane == 0 && row != alone) {
        __builtin_memcpy(r.tmp, r.carry, r.size);
        combine_left(r, r.aux);
    }
    scan_warp(r, r.aux, p.mask, p.lane, p.warps);
    if (p.lane < p.warps)
        put_cell(cells_down(rows * ROW_BYTES(r.size)), row, r.aux, r.size, p.lane);
    broadcast(r.carry, r.aux, r.size, p.mask, p.warps - 1);
}

/* After B. */
INLINE void row_down(struct records r, struct position p, unsigned rows, unsigned row,
                     _Bool exclusive)
{
    if (p.warp == 0)
        __builtin_memcpy(r.aux, r.carry, r.size);
    else
        get_cell(cells_down(rows * ROW_BYTES(r.size)), row, r.aux, r.size, p.warp - 1);
    get_cell(cells_down(rows * ROW_BYTES(r.size)), row, r.carry, r.size, p.warps - 1);
    apply_prefix(r, p, exclusive);
}

/* ------------------------------------------------------------------ league */
struct scratchpad {     /* its header */
    u32 arrived, tiles; /* atomic: teams that have ended, tiles that were taken */
    u64 launches;       /* that have ended; changes at the end of one */
};
#define WORDS(size) (((size) + 3) / 4)
#define TILES ((u64)WARP * WARP) /* of a block */

/* Blocks are never cleared: the mark tells which launch wrote a word.  (The host clears them before
 * a mark comes again.) */
INLINE u32 mark_of(const struct __ompgpu_env *env)
{
    return (u32)((const struct scratchpad *)env->scratch)->launches + 1;
}

INLINE u64 *block_of(const struct __ompgpu_env *env, u64 tile, usize size)
{
    return (u64 *)((char *)env->scratch + __OMPGPU_SCRATCH_HEADER) +
           tile / TILES * (WARP + TILES) * WORDS(size);
}

/* A word holds 4 bytes and the mark, so who reads it needs no fence: the others lie WARP apart. */
INLINE void publish(u64 *place, u32 mark, const void *rec, usize size)
{
    UNROLL for (usize w = 0; w < WORDS(size); w++)
    {
        u32 word = 0;
        __builtin_memcpy(&word, (const char *)rec + 4 * w, size - 4 * w < 4 ? size - 4 * w : 4);
        __scoped_atomic_store_n(place + w * WARP, (u64)mark << 32 | word, __ATOMIC_RELAXED,
                                __MEMORY_SCOPE_DEVICE);
    }
}

INLINE _Bool is_there(const u64 *place, u32 mark, void *rec, usize size)
{
    _Bool there = 1;
    UNROLL for (usize w = 0; w < WORDS(size); w++)
    {
        u64 both =
            __scoped_atomic_load_n(place + w * WARP, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
        u32 word = (u32)both;
        there &= both >> 32 == mark;
        __builtin_memcpy((char *)rec + 4 * w, &word, size - 4 * w < 4 ? size - 4 * w : 4);
    }
    return there;
}

INLINE void await(const u64 *place, u32 mark, void *rec, usize size)
{
    while (!is_there(place, mark, rec, size))
        __ompgpu_arch_pause();
}

/* Of the tiles before the caller's and of that, as r.carry has them, for the tiles after it. */
INLINE void publish_sum(struct records r, unsigned lane, u32 mark, u64 *place)
{
    if (lane != 0)
        return;
    __builtin_memcpy(r.aux, r.carry, r.size);
    r.combine(r.aux, r.rec);
    publish(place, mark, r.aux, r.size);
}

/* The first warp.  In: r.carry, in tile 0; r.rec, what the tile adds up to.  Out: r.carry, what all
 * before the tile do; r.aux and r.tmp are scratch. */
INLINE void look_back(struct __ompgpu_env *env, struct records r, unsigned lane, u64 tile)
{
    const unsigned q = (unsigned)(tile % WARP), g = (unsigned)(tile / WARP % WARP);
    const u32 mark = mark_of(env);
    u64 *groups = block_of(env, tile, r.size), *tiles = groups + (1 + g) * WORDS(r.size) * WARP,
        *next = block_of(env, tile + TILES, r.size);
    if (lane == 0 && tile == 0) {
        __ompgpu_arch_fence(); /* await_first() */
        publish(groups, mark, r.carry, r.size);
    }
    if (lane == 0)
        publish(tiles + q, mark, r.rec, r.size);
    if (lane < q)
        await(tiles + lane, mark, r.aux, r.size);
    scan_warp(r, r.aux, FULL_WARP, lane, q);
    broadcast(r.carry, r.aux, r.size, FULL_WARP, q ? q - 1 : 0);
    if (q == WARP - 1 && g < WARP - 1)
        publish_sum(r, lane, mark, groups + g + 1);
    if (lane < g || lane == WARP - 1)
        await(lane < g ? groups + lane + 1 : groups, mark, r.aux, r.size);
    if (g)
        scan_warp(r, r.aux, FULL_WARP, lane, g);
    broadcast(r.tmp, r.aux, r.size, FULL_WARP, WARP - 1);
    if (g) {
        broadcast(r.aux, r.aux, r.size, FULL_WARP, g - 1);
        r.combine(r.tmp, r.aux);
    }
    if (q)
        r.combine(r.tmp, r.carry);
    __builtin_memcpy(r.carry, r.tmp, r.size);
    if (q == WARP - 1 && g == WARP - 1)
        publish_sum(r, lane, mark, next);
}

/* Where r.carry is what the tile adds up to, and the carry goes to another place. */
INLINE void look_back_with(struct __ompgpu_env *env, struct records r, void *carry, u64 tile)
{
    void *total = (char *)r.carry + r.size;
    __builtin_memcpy(total, r.carry, r.size);
    r.rec = total, r.carry = carry;
    look_back(env, r, __ompgpu_arch_tid(), tile);
}

/* The team of the first tile reads the originals, that of the last one writes them: after this. */
INLINE void await_first(struct __ompgpu_env *env, void *tmp, usize size)
{
    await(block_of(env, 0, size), mark_of(env), tmp, size);
    __ompgpu_arch_fence();
    __ompgpu_arch_acquired();
}

/* The first warp, after row_totals() of rows without a carry: now they get one. */
INLINE void row_prefix(struct records r, struct position p, unsigned rows, unsigned row)
{
    CELL_SPACE cell_row *cells = cells_down(rows * ROW_BYTES(r.size));
    if (p.lane < p.warps) {
        get_cell(cells, row, r.aux, r.size, p.lane);
        __builtin_memcpy(r.tmp, r.carry, r.size);
        combine_left(r, r.aux);
        put_cell(cells, row, r.aux, r.size, p.lane);
    }
}

/* ------------------------------------------------------------------ steps */
/* env: of a league's loop, and several teams; NULL: the carry is that of the step before. */
INLINE void scan_any_rows(struct __ompgpu_env *env, u64 tile, struct records r, unsigned rows,
                          u64 left, _Bool exclusive)
{
    const unsigned n = (unsigned)__ompgpu_num_threads();
    char *recs = r.rec, *carry = r.carry, *run = (char *)r.aux + r.size;
#define EACH_ROW(statement)                                                                        \
    UNROLL for (unsigned row = 0; row < rows; row++)                                               \
    {                                                                                              \
        unsigned m = row_holders(left, n, row);                                                    \
        r.rec = recs + row * r.size;                                                               \
        if (m)                                                                                     \
            statement;                                                                             \
    }
#define EACH_ROW_OF_FIRST_WARP(statement)                                                          \
    ROLLED for (unsigned row = 0, m; row < rows && (m = row_holders(left, n, row)); row++) statement
    EACH_ROW(row_up(r, position_of(n, m), rows, row))
    __ompgpu_team_barrier(n, 0); /* A */
    if (__ompgpu_arch_tid() < WARP) {
        __builtin_memcpy(run, carry, r.size);
        r.carry = run;
        EACH_ROW_OF_FIRST_WARP(row_totals(r, position_of(n, m), rows, row, env ? 0 : rows));
        if (env) {
            look_back_with(env, r, carry, tile);
            r.carry = carry;
            EACH_ROW_OF_FIRST_WARP(row_prefix(r, position_of(n, m), rows, row));
        }
    }
    r.carry = carry;
    __ompgpu_team_barrier(n, 0); /* B */
    EACH_ROW(row_down(r, position_of(n, m), rows, row, exclusive))
#undef EACH_ROW
#undef EACH_ROW_OF_FIRST_WARP
}

/* Those of all warps in all rows, in the order of the iterations; the first warp's lanes take
 * `each` of them, one after the other. */
struct totals {
    CELL_SPACE cell_row *up, *down;
    unsigned n, each, begin, end; /* begin, end: the caller's */
};

INLINE struct totals totals_of(usize bytes, unsigned n, unsigned lane)
{
    unsigned each = (n + WARP - 1) / WARP, begin = lane * each, end = begin + each;
    return (struct totals){ cells_up(bytes),       cells_down(bytes), n, each,
                            begin < n ? begin : n, end < n ? end : n };
}

/* The first warp.  aux becomes what the caller's totals add up to, and theirs stand in `down`, each
 * with those before it. */
INLINE void add_totals(struct records r, struct totals t)
{
    ROLLED for (unsigned i = t.begin; i < t.end; i++)
    {
        get_cell(t.up, i / WARP, r.tmp, r.size, i % WARP);
        if (i == t.begin)
            __builtin_memcpy(r.aux, r.tmp, r.size);
        else
            r.combine(r.aux, r.tmp);
        put_cell(t.down, i / WARP, r.aux, r.size, i % WARP);
    }
}

/* They get what is before the caller's. */
INLINE void add_before(struct records r, struct totals t, const void *before)
{
    ROLLED for (unsigned i = t.begin; i < t.end; i++)
    {
        get_cell(t.down, i / WARP, r.aux, r.size, i % WARP);
        __builtin_memcpy(r.tmp, before, r.size);
        combine_left(r, r.aux);
        put_cell(t.down, i / WARP, r.aux, r.size, i % WARP);
    }
}

/* The first warp, between A and B. */
INLINE void scan_totals(struct __ompgpu_env *env, u64 tile, struct records r, struct totals t)
{
    const unsigned lane = __ompgpu_arch_tid(), lanes = (t.n + t.each - 1) / t.each;
    char *before = (char *)r.aux + r.size, *total = before + r.size;
    add_totals(r, t);
    scan_warp(r, r.aux, FULL_WARP, lane, lanes);
    fetch_up(before, r.aux, r.size, FULL_WARP, 1);
    if (env) {
        broadcast(total, r.aux, r.size, FULL_WARP, lanes - 1);
        r.rec = total;
        look_back(env, r, lane, tile);
    }
    __builtin_memcpy(r.tmp, r.carry, r.size);
    if (lane && lane < lanes) /* others have none */
        r.combine(r.tmp, before);
    __builtin_memcpy(before, r.tmp, r.size);
    add_before(r, t, before);
}

/* The same where every thread has an iteration in each row: the first warp takes all rows at once.
 */
INLINE void scan_full_rows(struct __ompgpu_env *env, u64 tile, struct records r, unsigned rows,
                           _Bool exclusive)
{
    const unsigned n = (unsigned)__ompgpu_num_threads();
    const struct position p = { .lane = __ompgpu_arch_tid() % WARP,
                                .warp = __ompgpu_arch_tid() / WARP,
                                .mask = FULL_WARP,
                                .holders = WARP,
                                .warps = n / WARP,
                                .n = n };
    const struct totals t = totals_of(rows * ROW_BYTES(r.size), p.warps * rows, p.lane);
    char *recs = r.rec;
    UNROLL for (unsigned row = 0; row < rows; row++)
    {
        const unsigned at = row * p.warps + p.warp;
        scan_warp(r, recs + row * r.size, FULL_WARP, p.lane, WARP);
        if (p.lane == WARP - 1)
            put_cell(t.up, at / WARP, recs + row * r.size, r.size, at % WARP);
    }
    __ompgpu_team_barrier(n, 0); /* A */
    if (p.warp == 0)
        scan_totals(env, tile, r, t);
    __ompgpu_team_barrier(n, 0); /* B */
    UNROLL for (unsigned row = 0; row < rows; row++)
    {
        const unsigned before = row * p.warps + p.warp - 1;
        r.rec = recs + row * r.size;
        if (row == 0 && p.warp == 0)
            __builtin_memcpy(r.aux, r.carry, r.size);
        else
            get_cell(t.down, before / WARP, r.aux, r.size, before % WARP);
        apply_prefix(r, p, exclusive);
    }
    get_cell(t.down, (t.n - 1) / WARP, r.carry, r.size, (t.n - 1) % WARP);
}

INLINE void scan_rows(struct __ompgpu_env *env, u64 tile, struct records r, unsigned rows, u64 left,
                      _Bool exclusive)
{
    const unsigned n = (unsigned)__ompgpu_num_threads();
    if (n == 1) {
        UNROLL for (unsigned row = 0; row < rows; row++)
        {
            if (row < left)
                __ompgpu_scan_one((char *)r.rec + row * r.size, r.tmp, r.carry, r.size, r.combine,
                                  exclusive);
        }
        return;
    }
    if (n % WARP == 0 && left >= (u64)rows * n)
        scan_full_rows(env, tile, r, rows, exclusive);
    else
        scan_any_rows(env, tile, r, rows, left, exclusive);
}

__attribute__((always_inline, convergent)) void
__ompgpu_scan_rows(void *recs, void *tmp, void *aux, void *carry, unsigned long size,
                   __ompgpu_combine combine, unsigned rows, unsigned long long left,
                   _Bool exclusive)
{
    scan_rows(0, 0, (struct records){ recs, tmp, aux, carry, size, combine }, rows, left,
              exclusive);
}

static __OMPGPU_SHARED u64 __ompgpu_state_tile __OMPGPU_SHARED_INIT;

/* Between two tiles, all threads have read the number before a barrier that the thread which
 * writes it waits at. */
__attribute__((always_inline, convergent)) unsigned long long
__ompgpu_scan_next(struct __ompgpu_env *env, unsigned long long tile)
{
    struct scratchpad *s = env->scratch;
    if (__ompgpu_arch_nteams() == 1)
        return tile + 1;
    if (__ompgpu_arch_tid() == 0)
        __ompgpu_state_tile =
            __scoped_atomic_fetch_add(&s->tiles, 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    __ompgpu_arch_barrier(0);
    return __ompgpu_state_tile;
}

__attribute__((always_inline, convergent)) void
__ompgpu_scan_tile(struct __ompgpu_env *env, void *recs, void *tmp, void *aux, void *carry,
                   unsigned long size, __ompgpu_combine combine, unsigned rows,
                   unsigned long long left, _Bool exclusive, unsigned long long tile)
{
    const _Bool alone = __ompgpu_arch_nteams() == 1;
    scan_rows(alone ? 0 : env, tile, (struct records){ recs, tmp, aux, carry, size, combine }, rows,
              left, exclusive);
    if (!alone && __ompgpu_arch_tid() == 0 && left <= (u64)rows * (unsigned)__ompgpu_num_threads())
        await_first(env, tmp, size);
}

/* The last team leaves the counters as they were, for the next launch. */
__attribute__((always_inline, convergent)) void __ompgpu_scan_end(struct __ompgpu_env *env)
{
    unsigned nteams = __ompgpu_arch_nteams();
    struct scratchpad *s = env->scratch;
    if (nteams == 1 || __ompgpu_arch_tid() != 0 || !arrive(&s->arrived, nteams))
        return;
    __scoped_atomic_store_n(&s->tiles, 0u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    s->launches++;
}
