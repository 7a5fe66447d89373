/* reduction.c - the reduction algorithms.  They know a record's size and how two are combined, and
 * no type.
 *
 * Warp: a lane fetches another one's record by shuffles, in 4-byte words, and combines it with its
 * record.  Which lanes call decides how:
 *
 *   full (version 0)           contiguous partial (version 1)   dispersed partial (version 2)
 *   all lanes,                 lanes 0 … m-1,                   any lanes,
 *   d = 16, 8, … 1             d = 16, 8, … 1                   neighbours by rank
 *
 *   lane 0 1 2 3 4 5 6 7       lane 0 1 2 3 4                   lane . 1 . 3 4 . 6 7 . 9
 *   d=4  0<------4             d=4  0<------4                   rank   0   1 2   3 4   5
 *          1<------5 …         d=2  0<--2                              1<--3 4<--6 7<--9
 *   d=2  0<--2, 1<--3                 1<--3                            1<----4     7
 *   d=1  0<1                   d=1  0<1                                1<----------7
 *   lane 0 has it              is there a lane i+d?             the first active lane has it
 *
 *   A full warp asks nothing.  In the dispersed one a lane's rank is the number of lanes below it
 * with records left (popcount of the mask of lower lanes); even ranks take the record of the next
 * such lane, a ballot tells whose are left: log2 steps.  Where all members are small integers and
 * the GPU has redux.sync (sm_80), that does all of it, for any lanes, in one instruction a member.
 *
 * Team: each warp to its first lane; those records through shared cells, one a warp, to the lanes
 * of the first warp (the inter-warp copy, CELL_BYTES at a time); there once more.  A team of
 * 70, whose last warp is a contiguous part:
 *
 *   warp 0  |0|-------------> cell 0 \
 *   warp 1  |32|------------> cell 1  > lanes 0 … of warp 0 ---> lane 0
 *   warp 2  |64 … 69|-------> cell 2 /
 *
 *   One barrier, between the puts and the gets.  Who uses the cells again sees to it that all have
 * been read (below).
 *
 * League: each team to a slot of the scratchpad in global memory, which the host provides; the team
 * that arrives last (a counter that wraps to 0 with the last arrival, so that nothing clears it)
 * combines the slots: thread t takes t, t+k, t+2k … of them, then they reduce as a team.  No team
 * waits for another, so there may be more teams than fit on the GPU.
 *
 *   team 0 ---> slot 0, arrive: 0 of 3 before me   done
 *   team 2 ---> slot 2, arrive: 1                  done
 *   team 1 ---> slot 1, arrive: 2, the last  ----> thread 0: slots 0, k, 2k …   \
 *                                                  thread 1: slots 1, k+1 …      > team reduction
 *                                                  …                            /
 *
 * Where the teams end reductions in the course of a kernel, their results wait in the slots for its
 * end ("deferred" below). With -fompgpu-atomic-reduction there is no league part: thread 0 of each
 * team updates the original atomically (reduce/reduction.c).
 *
 * Who may be there: a parallel region's threads are 0 … n-1 and OpenMP has all of them reach a
 * reduction or none, so a team's warps are full or contiguous; where n is known to be whole warps
 * only the full algorithm is left.  Regions inside (serialised) and simd (in one thread) have an
 * original that may be private to the thread: lanes are never combined there. __ompgpu_reduce_lanes
 * is for code that knows that its lanes belong together, and takes any of them.
 *
 * All orders depend on the geometry only, so a result is bit-identical from run to run. Everything
 * is always_inline with a constant size: after optimisation records live in registers.
 */
#include "devicertl/arch.h"

#ifndef TRACE /* tests count here which algorithm ran */
#define TRACE(algorithm) ((void)0)
#endif

/* ------------------------------------------------------------------ records between lanes */
/* of the lane `where` above the caller; of the lane `where`; of the one that differs in these bits
 */
enum way { ABOVE, FROM, ACROSS };

INLINE u32 fetch_word(u32 word, unsigned mask, enum way way, unsigned where)
{
    return way == ABOVE  ? __ompgpu_arch_shuffle_down(mask, word, where)
           : way == FROM ? __ompgpu_arch_shuffle(mask, word, where)
                         : __ompgpu_arch_shuffle_xor(mask, word, where);
}

/* n <= 8 bytes: a 64-bit value is two registers, and shuffles move one. */
INLINE void fetch_piece(void *into, const void *rec, usize at, usize n, unsigned mask, enum way way,
                        unsigned where)
{
    u64 piece = 0;
    __builtin_memcpy(&piece, (const char *)rec + at, n);
    if (n <= 4) {
        piece = fetch_word((u32)piece, mask, way, where);
    } else {
        u32 low, high;
        __ompgpu_arch_halves(piece, &low, &high);
        piece = __ompgpu_arch_pair(fetch_word(low, mask, way, where),
                                   fetch_word(high, mask, way, where));
    }
    __builtin_memcpy((char *)into + at, &piece, n);
}

/* *into = the record of another lane. */
INLINE void fetch(void *into, const void *rec, usize size, unsigned mask, enum way way,
                  unsigned where)
{
    usize whole = size & ~(usize)7;
    if (size <= MAX_UNROLLED) {
        UNROLL for (usize at = 0; at < whole; at += 8)
            fetch_piece(into, rec, at, 8, mask, way, where);
    } else {
        ROLLED for (usize at = 0; at < whole; at += 8)
            fetch_piece(into, rec, at, 8, mask, way, where);
    }
    if (whole < size)
        fetch_piece(into, rec, whole, size - whole, mask, way, where);
}

/* ------------------------------------------------------------------ warp */
/* The largest power of 2 below m: a lane has none to take from at that distance and above. */
INLINE unsigned first_distance(unsigned m)
{
    return m > 1 ? 1u << (31 - (unsigned)__builtin_clz(m - 1)) : 0;
}

/* Versions 0 and 1 where the last lane to come works for all: the same records are combined in the
 * same order, for lane 0, which alone needs the result. */
INLINE void reduce_at_meeting(void *rec, __ompgpu_combine combine, unsigned mask, unsigned m)
{
    if (!__ompgpu_arch_meet(mask, rec))
        return;
    void *const *records = __ompgpu_arch_records();
    ROLLED for (unsigned d = first_distance(m); d; d /= 2)
    {
        ROLLED for (unsigned i = 0; i < d && i + d < m; i++) combine(records[i], records[i + d]);
    }
    __ompgpu_arch_part(mask);
}

/* Version 0: all lanes.  Nothing is asked, not even who the caller is. */
INLINE void reduce_full_warp(void *rec, void *tmp, usize size, __ompgpu_combine combine)
{
    TRACE(FULL);
    if (__ompgpu_arch_has_meetings()) {
        reduce_at_meeting(rec, combine, FULL_WARP, WARP);
        return;
    }
    if (size > MAX_UNROLLED) {
        ROLLED for (unsigned d = WARP / 2; d; d /= 2)
        {
            fetch(tmp, rec, size, FULL_WARP, ABOVE, d);
            combine(rec, tmp);
        }
        return;
    }
    UNROLL for (unsigned d = WARP / 2; d; d /= 2)
    {
        fetch(tmp, rec, size, FULL_WARP, ABOVE, d);
        combine(rec, tmp);
    }
}

/* Version 1: lanes 0 … m-1 hold records; the lanes in mask call.  A loop of its own, not unrolled:
 * it runs once a team, and for the warps of a team takes a step or three. */
INLINE void reduce_partial_warp(void *rec, void *tmp, usize size, __ompgpu_combine combine,
                                unsigned mask, unsigned lane, unsigned m)
{
    TRACE(PARTIAL);
    if (__ompgpu_arch_has_meetings()) {
        reduce_at_meeting(rec, combine, mask, m);
        return;
    }
    ROLLED for (unsigned d = first_distance(m); d; d /= 2)
    {
        fetch(tmp, rec, size, mask, ABOVE, d);
        if (lane + d < m)
            combine(rec, tmp);
    }
}

/* Version 2: the lanes in `mask`, any of them, hold records and call. */
INLINE void reduce_dispersed_warp(void *rec, void *tmp, usize size, __ompgpu_combine combine,
                                  unsigned mask, unsigned lane)
{
    TRACE(DISPERSED);
    unsigned left =
        mask; /* lanes with records that have not been taken; all lanes stay until one is */
    ROLLED while (left & (left - 1))
    {
        unsigned below = left & ((1u << lane) - 1), above = left & ~((2u << lane) - 1);
        _Bool stays = (left >> lane & 1) && __builtin_popcount(below) % 2 == 0;
        fetch(tmp, rec, size, mask, FROM, above ? (unsigned)__builtin_ctz(above) : lane);
        if (stays && above)
            combine(rec, tmp);
        left = __ompgpu_arch_ballot(mask, stays);
    }
}

/* The cheapest that is right for these lanes, all of which call. */
INLINE void reduce_warp(void *rec, void *tmp, usize size, __ompgpu_combine combine,
                        __ompgpu_redux redux, unsigned lanes, unsigned lane)
{
    if (redux && __ompgpu_arch_has_redux()) {
        TRACE(REDUX);
        redux(rec, lanes);
    } else if (lanes == FULL_WARP) {
        reduce_full_warp(rec, tmp, size, combine);
    } else if (!(lanes & (lanes + 1))) {
        reduce_partial_warp(rec, tmp, size, combine, lanes, lane,
                            (unsigned)__builtin_popcount(lanes));
    } else {
        reduce_dispersed_warp(rec, tmp, size, combine, lanes, lane);
    }
}

/* The same for lanes 0 … m-1, m not more than there are; more lanes may call. */
INLINE void reduce_few_lanes(void *rec, void *tmp, usize size, __ompgpu_combine combine,
                             __ompgpu_redux redux, unsigned mask, unsigned lane, unsigned m)
{
    if (!redux || !__ompgpu_arch_has_redux()) {
        reduce_partial_warp(rec, tmp, size, combine, mask, lane, m);
    } else if (lane < m) {
        TRACE(REDUX);
        redux(rec, FULL_WARP >> (WARP - m));
    }
}

/* The last warp of a team: its lanes, all of which call.  Few teams have such a warp, so that what
 * this needs is computed here. */
INLINE void reduce_rest(void *rec, void *tmp, usize size, __ompgpu_combine combine, unsigned lane,
                        unsigned m)
{
    reduce_partial_warp(rec, tmp, size, combine, (1u << m) - 1, lane, m);
}

/* The same for lanes 0 … m-1, which call; m may be more than a warp has. */
INLINE void reduce_first_lanes(void *rec, void *tmp, usize size, __ompgpu_combine combine,
                               __ompgpu_redux redux, unsigned lane, unsigned m)
{
    if (redux && __ompgpu_arch_has_redux())
        reduce_few_lanes(rec, tmp, size, combine, redux, FULL_WARP, lane, m < WARP ? m : WARP);
    else if (USUALLY(m >= WARP))
        reduce_full_warp(rec, tmp, size, combine);
    else
        reduce_rest(rec, tmp, size, combine, lane, __ompgpu_arch_here(m));
}

__attribute__((always_inline, convergent)) unsigned __ompgpu_active_lanes(void)
{
    return __ompgpu_arch_activemask();
}

__attribute__((always_inline, convergent)) _Bool
__ompgpu_reduce_lanes(unsigned lanes, void *rec, void *tmp, unsigned long size,
                      __ompgpu_combine combine, __ompgpu_redux redux)
{
    unsigned lane = __ompgpu_arch_tid() % WARP;
    reduce_warp(rec, tmp, size, combine, redux, lanes, lane);
    return !(lanes & ((1u << lane) - 1));
}

/* ------------------------------------------------------------------ rows
 * Lanes that run an iteration together.  In each step a lane and the one across combine their
 * records, the lower one's first, so that in the end all have the same:
 *
 *   lane 0 1 2 3    d=2  0<->2, 1<->3    d=1  0<->1, 2<->3                                       */
INLINE unsigned row_mask(unsigned lanes)
{
    return lanes == WARP ? FULL_WARP
                         : ((1u << lanes) - 1) << (__ompgpu_arch_tid() % WARP / lanes * lanes);
}

INLINE void combine_across(void *rec, void *tmp, usize size, __ompgpu_combine combine,
                           unsigned mask, unsigned d, _Bool commutes)
{
    fetch(tmp, rec, size, mask, ACROSS, d);
    if (!commutes && (__ompgpu_arch_tid() & d)) {
        combine(tmp, rec);
        __builtin_memcpy(rec, tmp, size);
    } else {
        combine(rec, tmp);
    }
}

__attribute__((always_inline, convergent)) void
__ompgpu_reduce_row(unsigned lanes, void *rec, void *tmp, unsigned long size,
                    __ompgpu_combine combine, __ompgpu_redux redux, _Bool commutes)
{
    const unsigned mask = row_mask(lanes);
    if (redux && __ompgpu_arch_has_redux()) {
        redux(rec, mask);
        return;
    }
    UNROLL for (unsigned d = WARP / 2; d; d /= 2)
    {
        if (d < lanes)
            combine_across(rec, tmp, size, combine, mask, d, commutes);
    }
}

__attribute__((always_inline, convergent)) void __ompgpu_row_sync(unsigned lanes)
{
    __ompgpu_arch_syncwarp(row_mask(lanes));
}

__attribute__((always_inline, convergent)) _Bool __ompgpu_row_once(unsigned lanes)
{
    __ompgpu_row_sync(lanes);
    return __OMPGPU_ROW_LANE(lanes) == 0;
}

/* What reduce_team asks, answered. */
__attribute__((always_inline)) void __ompgpu_whole_warps(void)
{
    unsigned n = __ompgpu_arch_ntid(), tid = __ompgpu_arch_tid();
    if (n < WARP || tid >= n || n - tid / WARP * WARP < WARP)
        __builtin_unreachable();
}

__attribute__((always_inline, convergent)) unsigned
__ompgpu_reduce_word(unsigned op, unsigned lanes, unsigned value)
{
    return __ompgpu_arch_redux(op, lanes, value);
}

/* ------------------------------------------------------------------ team
 * The first lane of each warp puts CELL_BYTES of its record into the warp's cell; barrier; the
 * first warp gets them all: an exchange.  No thread waits before a put: between the gets of one use
 * of a set of cells and the puts of the next there is a barrier that all threads pass.
 *
 *   exchanges of one record or array       two sets, taken in turn: the barrier of the other's use
 *   the two reductions of a league         the barrier of the flag
 *   one reduction over a parallel region   the barrier at the end of the construct, which the
 *   after another                          writer keeps under `nowait`, or of the region's end
 *                                          (late SPMD mode: between any two regions) */
CELLS(even_cells)
CELLS(odd_cells)

INLINE CELL_SPACE cell_row *cells_of_exchange(unsigned exchange, usize size)
{
    return exchange % 2 ? odd_cells(size) : even_cells(size);
}

INLINE void put_cell(CELL_SPACE cell_row *rows, const void *rec, usize from, usize to,
                     unsigned warp)
{
    UNROLL for (usize at = from; at < to; at += 8)
    {
        u64 piece = 0;
        __builtin_memcpy(&piece, (const char *)rec + at, to - at < 8 ? to - at : 8);
        if (to - at > 4)
            rows[(at - from) / 8][warp] = piece;
        else
            *(CELL_SPACE u32 *)&rows[(at - from) / 8][warp] = (u32)piece;
    }
}

INLINE void get_cell(CELL_SPACE cell_row *rows, void *rec, usize from, usize to, unsigned warp)
{
    UNROLL for (usize at = from; at < to; at += 8)
    {
        u64 piece;
        if (to - at > 4)
            piece = rows[(at - from) / 8][warp];
        else
            piece = *(CELL_SPACE u32 *)&rows[(at - from) / 8][warp];
        __builtin_memcpy((char *)rec + at, &piece, to - at < 8 ? to - at : 8);
    }
}

/* Bytes [from, to) of the record of each warp of n threads to the lanes of the first warp, which
 * then get them. */
INLINE CELL_SPACE cell_row *put_bytes(const void *rec, usize size, usize from, usize to,
                                      unsigned tid, unsigned n, unsigned nsync, unsigned exchange)
{
    CELL_SPACE cell_row *rows = cells_of_exchange(exchange, size);
    if (tid % WARP == 0 && tid < n)
        put_cell(rows, rec, from, to, __ompgpu_arch_here(tid / WARP));
    __ompgpu_team_barrier(nsync, 0);
    return rows;
}

INLINE void get_bytes(CELL_SPACE cell_row *rows, void *rec, usize from, usize to, unsigned tid,
                      unsigned n)
{
    if (tid < (n + WARP - 1) / WARP)
        get_cell(rows, rec, from, to, __ompgpu_arch_here(tid));
}

INLINE void exchange_bytes(void *rec, usize size, usize from, usize to, unsigned tid, unsigned n,
                           unsigned nsync, unsigned exchange)
{
    get_bytes(put_bytes(rec, size, from, to, tid, n, nsync, exchange), rec, from, to, tid, n);
}

/* Threads 0 … n-1 hold records, threads 0 … nsync-1 call.  Thread 0 ends up with the result.  True
 * where there was no barrier, since one warp holds them all. */
INLINE _Bool reduce_team(void *rec, void *tmp, usize size, __ompgpu_combine combine,
                         __ompgpu_redux redux, unsigned tid, unsigned n, unsigned nsync,
                         unsigned exchange)
{
    unsigned lane = tid % WARP, warp = tid / WARP, warps = (n + WARP - 1) / WARP;

    if (tid < n)
        reduce_first_lanes(rec, tmp, size, combine, redux, lane, n - warp * WARP);
    if (!USUALLY(warps > 1))
        return 1;
    usize last = (size - 1) / CELL_BYTES * CELL_BYTES;
    if (size <= MAX_UNROLLED) {
        UNROLL for (usize from = 0; from < last; from += CELL_BYTES)
            exchange_bytes(rec, size, from, from + CELL_BYTES, tid, n, nsync, exchange++);
    } else {
        ROLLED for (usize from = 0; from < last; from += CELL_BYTES)
            exchange_bytes(rec, size, from, from + CELL_BYTES, tid, n, nsync, exchange++);
    }
    CELL_SPACE cell_row *rows = put_bytes(rec, size, last, size, tid, n, nsync, exchange);
    if (warp == 0) { /* full: there is a second warp */
        get_bytes(rows, rec, last, size, tid, n);
        reduce_few_lanes(rec, tmp, size, combine, redux, FULL_WARP, lane,
                         __ompgpu_arch_here(warps));
    }
    return 0;
}

/* Shuffles order nothing of what the lanes of a team of one warp did before. */
INLINE void order_lanes(unsigned n)
{
    __ompgpu_arch_syncwarp(n < WARP ? (1u << n) - 1 : FULL_WARP);
}

__attribute__((always_inline, convergent)) _Bool __ompgpu_reduce_parallel(void *rec, void *tmp,
                                                                          unsigned long size,
                                                                          __ompgpu_combine combine,
                                                                          __ompgpu_redux redux)
{
    if (__ompgpu_level() != 1)
        return 1;
    unsigned n = (unsigned)__ompgpu_num_threads(), tid = __ompgpu_arch_tid();
    __builtin_assume(tid < n);
    if (reduce_team(rec, tmp, size, combine, redux, tid, n, n, 0))
        order_lanes(__ompgpu_arch_here(n));
    return tid == 0;
}

__attribute__((always_inline, convergent)) void __ompgpu_originals_read(void)
{
    unsigned n = (unsigned)__ompgpu_num_threads();
    if (__ompgpu_level() == 1 && n <= WARP)
        order_lanes(n);
}

/* *rec = elements [at, at + k) of the array; past the end the last one again, so that combiners
 * only see values that exist. */
INLINE void load_elements(void *rec, const char *array, usize at, usize k, usize count, usize size)
{
    UNROLL for (usize i = 0; i < k; i++) __builtin_memcpy(
        (char *)rec + i * size, array + (at + i < count ? at + i : count - 1) * size, size);
}

__attribute__((always_inline, convergent)) _Bool
__ompgpu_reduce_array(void *array, unsigned long count, void *rec, void *tmp, unsigned long size,
                      unsigned k, __ompgpu_combine combine, unsigned exchange)
{
    if (__ompgpu_level() != 1)
        return 1;
    unsigned n = (unsigned)__ompgpu_num_threads(), tid = __ompgpu_arch_tid();
    if (n == 1)
        return 1;
    ROLLED for (usize at = 0; at < count; at += k)
    {
        load_elements(rec, array, at, k, count, size);
        reduce_team(rec, tmp, k * size, combine, 0, tid, n, n, exchange);
        for (usize i = 0; tid == 0 && i < k && at + i < count; i++)
            __builtin_memcpy((char *)array + (at + i) * size, (char *)rec + i * size, size);
        exchange += __OMPGPU_EXCHANGES(k * size);
    }
    return tid == 0;
}

/* ------------------------------------------------------------------ league */

static __OMPGPU_SHARED u32 __ompgpu_state_last __OMPGPU_SHARED_INIT;

/* Where the record of a team lies: stride is a slot's size, at the record's offset in it. */
struct slots {
    char *first;
    usize stride;
};

INLINE struct slots slots_of(const struct __ompgpu_env *env, usize at, usize stride)
{
    return (struct slots){ (char *)env->scratch + __OMPGPU_SCRATCH_HEADER + at, stride };
}
INLINE struct slots record_slots(const struct __ompgpu_env *env, usize size)
{
    return slots_of(env, 0, (size + 15) & ~(usize)15);
}
INLINE char *slot_of(struct slots s, unsigned team) { return s.first + (usize)team * s.stride; }

/* Slots are aligned to 16, records are not; sizes are constant. */
INLINE void slot_store(char *slot, const void *rec, usize size)
{
    __builtin_memcpy(__builtin_assume_aligned(slot, 16), rec, size);
}
INLINE void slot_load(void *rec, const char *slot, usize size)
{
    __builtin_memcpy(rec, __builtin_assume_aligned(slot, 16), size);
}

/* The record of thread `tid` of k: slots tid, tid + k, … in this order.  Small ones are loaded some
 * iterations ahead of their use. */
#define AHEAD 4u
#define SMALL 16u
INLINE void gather(struct slots s, void *rec, void *tmp, usize size, __ompgpu_combine combine,
                   unsigned tid, unsigned k, unsigned nteams)
{
    slot_load(rec, slot_of(s, tid), size);
    if (size > SMALL) {
        ROLLED for (u64 team = (u64)tid + k; team < nteams; team += k)
        {
            slot_load(tmp, slot_of(s, (unsigned)team), size);
            combine(rec, tmp);
        }
        return;
    }
    ROLLED for (unsigned team = tid + k; team < nteams; team += AHEAD * k)
    { /* at most 2^31 teams: it does not wrap */
        u64 slots[AHEAD][SMALL / 8];
        UNROLL for (unsigned i = 0; i < AHEAD; i++)
            slot_load(slots[i], slot_of(s, team + i * k < nteams ? team + i * k : tid), size);
        UNROLL for (unsigned i = 0; i < AHEAD; i++)
        {
            __builtin_memcpy(tmp, slots[i], size);
            if (team + i * k < nteams)
                combine(rec, tmp);
        }
    }
}

/* A loop of two iterations, so that the code stands in the kernel once: first the threads of this
 * team are combined, then the slots of all teams. */
__attribute__((always_inline, convergent)) _Bool
__ompgpu_reduce_league(struct __ompgpu_env *env, void *rec, void *tmp, unsigned long size,
                       __ompgpu_combine combine, __ompgpu_redux redux)
{
    unsigned tid = __ompgpu_arch_tid(), ntid = __ompgpu_arch_ntid(),
             nteams = __ompgpu_arch_nteams(), holders = ntid;

    ROLLED for (unsigned pass = 0;; pass++)
    {
        reduce_team(rec, tmp, size, combine, redux, tid, holders, ntid, 0);
        if (nteams == 1 || pass == 1)
            return tid == 0;
        if (tid == 0) {
            unsigned team = __ompgpu_arch_here(__ompgpu_arch_team());
            slot_store(slot_of(record_slots(env, size), team), rec, size);
            __ompgpu_state_last = arrive(env->scratch, __ompgpu_arch_here(nteams));
        }
        __ompgpu_arch_barrier(0);
        if (!__ompgpu_state_last)
            return 0;
        nteams = __ompgpu_arch_here(nteams);
        holders = ntid < nteams ? ntid : nteams;
        if (tid < holders)
            gather(record_slots(env, size), rec, tmp, size, combine, __ompgpu_arch_here(tid),
                   holders, nteams);
    }
}

__attribute__((always_inline, convergent)) _Bool __ompgpu_reduce_teams(struct __ompgpu_env *env,
                                                                       void *rec, void *tmp,
                                                                       unsigned long size,
                                                                       __ompgpu_combine combine)
{
    unsigned nteams = __ompgpu_arch_nteams();
    if (nteams == 1)
        return 1;
    slot_store(slot_of(record_slots(env, size), __ompgpu_arch_team()), rec, size);
    if (!arrive(env->scratch, nteams))
        return 0;
    gather(record_slots(env, size), rec, tmp, size, combine, 0, 1, nteams);
    return 1;
}

/* ------------------------------------------------------------------ league, in steps */
__attribute__((always_inline, convergent)) void
__ompgpu_league_put(struct __ompgpu_env *env, void *rec, void *tmp, unsigned long size,
                    __ompgpu_combine combine, unsigned long stride)
{
    unsigned tid = __ompgpu_arch_tid(), ntid = __ompgpu_arch_ntid();
    reduce_team(rec, tmp, size, combine, 0, tid, ntid, ntid, 0);
    if (tid == 0)
        slot_store(slot_of(slots_of(env, 0, stride), __ompgpu_arch_team()), rec, size);
}

__attribute__((always_inline, convergent)) _Bool __ompgpu_league_last(struct __ompgpu_env *env)
{
    if (__ompgpu_arch_tid() == 0)
        __ompgpu_state_last = arrive(env->scratch, __ompgpu_arch_nteams());
    __ompgpu_arch_barrier(0);
    return __ompgpu_state_last;
}

__attribute__((always_inline, convergent)) _Bool
__ompgpu_league_get(struct __ompgpu_env *env, void *rec, void *tmp, unsigned long size,
                    __ompgpu_combine combine, unsigned long stride)
{
    unsigned tid = __ompgpu_arch_tid(), ntid = __ompgpu_arch_ntid(),
             nteams = __ompgpu_arch_nteams(), holders = ntid < nteams ? ntid : nteams;
    if (tid < holders)
        gather(slots_of(env, 0, stride), rec, tmp, size, combine, tid, holders, nteams);
    reduce_team(rec, tmp, size, combine, 0, tid, holders, ntid, 0);
    return tid == 0;
}

__attribute__((always_inline, convergent)) void
__ompgpu_teams_put(struct __ompgpu_env *env, void *rec, void *tmp, unsigned long size,
                   __ompgpu_combine combine, unsigned long stride)
{
    (void)tmp;
    (void)combine;
    slot_store(slot_of(slots_of(env, 0, stride), __ompgpu_arch_team()), rec, size);
}

__attribute__((always_inline, convergent)) _Bool __ompgpu_teams_last(struct __ompgpu_env *env)
{
    return arrive(env->scratch, __ompgpu_arch_nteams());
}

__attribute__((always_inline, convergent)) _Bool
__ompgpu_teams_get(struct __ompgpu_env *env, void *rec, void *tmp, unsigned long size,
                   __ompgpu_combine combine, unsigned long stride)
{
    gather(slots_of(env, 0, stride), rec, tmp, size, combine, 0, 1, __ompgpu_arch_nteams());
    return 1;
}

/* ------------------------------------------------------------------ at the end of the kernel
 * An entry belongs to its team until that arrives, and all but elements of arrays to thread 0.  Its
 * first word tells whether it has been used; a launch begins with clearing it, whatever the one
 * before has left. */
INLINE u32 *used(void *entry) { return entry; }

/* Arrays in the scratchpad are aligned to 16, their elements to the largest power of two in their
 * constant size. */
INLINE char *element_at(const char *at, usize size)
{
    return size % 16 == 0  ? __builtin_assume_aligned(at, 16)
           : size % 8 == 0 ? __builtin_assume_aligned(at, 8)
           : size % 4 == 0 ? __builtin_assume_aligned(at, 4)
           : size % 2 == 0 ? __builtin_assume_aligned(at, 2)
                           : (char *)at;
}

__attribute__((always_inline)) void *__ompgpu_deferred(struct __ompgpu_env *env,
                                                       unsigned long stride, unsigned long at)
{
    return __ompgpu_arch_nteams() == 1 ? (void *)0
                                       : slot_of(slots_of(env, at, stride), __ompgpu_arch_team());
}

__attribute__((always_inline)) void __ompgpu_deferred_begin(void *entry)
{
    if (entry)
        *used(entry) = 0;
}

__attribute__((always_inline)) _Bool __ompgpu_deferred_used(const void *entry)
{
    return *used((void *)entry) != 0;
}

/* *to = *to op *value, or just *value.  to is aligned as its type is, or more. */
INLINE void combine_or_store(char *to, _Bool combines, const void *value, usize size,
                             __ompgpu_combine combine)
{
    if (combines)
        combine(to, value);
    else
        __builtin_memcpy(element_at(to, size), value, size);
}

__attribute__((always_inline)) void __ompgpu_deferred_add(void *entry, unsigned long at,
                                                          const void *values, unsigned long count,
                                                          unsigned long size,
                                                          __ompgpu_combine combine)
{
    _Bool again = __ompgpu_deferred_used(entry);
    ROLLED for (usize i = 0; i < count; i++) combine_or_store(
        (char *)entry + at + i * size, again, (const char *)values + i * size, size, combine);
}

__attribute__((always_inline)) void __ompgpu_deferred_end(void *entry) { *used(entry) = 1; }

__attribute__((always_inline)) _Bool __ompgpu_deferred_last(struct __ompgpu_env *env)
{
    return __ompgpu_arch_nteams() > 1 && arrive(env->scratch, __ompgpu_arch_nteams());
}

/* *rec and then the records at offset `at` of the entries that were used, in the order of the teams
 * from `team` on. */
INLINE void gather_used(struct slots s, usize at, void *rec, void *tmp, usize size,
                        __ompgpu_combine combine, unsigned team)
{
    unsigned nteams = __ompgpu_arch_nteams(), ahead = size > SMALL ? 1 : AHEAD;
    ROLLED for (; team < nteams; team += ahead)
    {
        u64 slots[AHEAD][SMALL / 8];
        u32 is_used[AHEAD];
        UNROLL for (unsigned i = 0; i < ahead; i++)
        {
            char *entry = slot_of(s, team + i < nteams ? team + i : team);
            is_used[i] = *used(entry);
            if (ahead > 1)
                __builtin_memcpy(slots[i], element_at(entry + at, size), size);
        }
        UNROLL for (unsigned i = 0; i < ahead; i++)
        {
            __builtin_memcpy(
                tmp, ahead > 1 ? (char *)slots[i] : element_at(slot_of(s, team) + at, size), size);
            if (is_used[i] && team + i < nteams)
                combine(rec, tmp);
        }
    }
}

__attribute__((always_inline)) _Bool __ompgpu_deferred_get(struct __ompgpu_env *env,
                                                           unsigned long entry, unsigned long at,
                                                           unsigned long stride, void *rec,
                                                           void *tmp, unsigned long size,
                                                           __ompgpu_combine combine)
{
    struct slots s = slots_of(env, entry, stride);
    unsigned first = 0, nteams = __ompgpu_arch_nteams();
    ROLLED while (nteams > 1 && first < nteams && !*used(slot_of(s, first))) first++;
    if (nteams == 1 || first == nteams)
        return 0;
    __builtin_memcpy(rec, element_at(slot_of(s, first) + at, size), size);
    gather_used(s, at, rec, tmp, size, combine, first + 1);
    return 1;
}

__attribute__((always_inline)) void
__ompgpu_deferred_get_array(struct __ompgpu_env *env, unsigned long entry, unsigned long at,
                            unsigned long stride, void *original, unsigned long count, void *tmp,
                            unsigned long size, __ompgpu_combine combine)
{
    if (__ompgpu_arch_nteams() == 1)
        return;
    ROLLED for (usize i = 0; i < count; i++)
        gather_used(slots_of(env, entry, stride), at + i * size, (char *)original + i * size, tmp,
                    size, combine, 0);
}

/* ------------------------------------------------------------------ arrays in memory
 * Rows of elements (the threads' copies, then the teams' slots), which lie in global memory, are
 * combined element-wise: a thread takes one element of all rows, in their order, so that neighbours
 * read neighbours and nothing need be shuffled.  Where there are fewer elements than threads,
 * groups of threads first take every groups-th row each and leave the result in their first one. */
INLINE void combine_element(void *rec, void *tmp, const char *first, usize distance, unsigned rows,
                            usize size, __ompgpu_combine combine)
{
    __builtin_memcpy(rec, element_at(first, size), size);
    if (size <= 16) {
        _Pragma("clang loop unroll_count(4)") for (unsigned i = 1; i < rows; i++)
        {
            __builtin_memcpy(tmp, element_at(first + i * distance, size), size);
            combine(rec, tmp);
        }
    } else {
        ROLLED for (unsigned i = 1; i < rows; i++)
        {
            __builtin_memcpy(tmp, element_at(first + i * distance, size), size);
            combine(rec, tmp);
        }
    }
}

/* How many rows are left. */
INLINE unsigned fold_rows(char *first, usize distance, unsigned rows, usize count, void *rec,
                          void *tmp, usize size, __ompgpu_combine combine, unsigned tid, unsigned n)
{
    unsigned width = count < n ? (unsigned)count : n, groups = width ? n / width : 1;
    groups = groups < rows ? groups : rows;
    if (groups <= 1)
        return rows;
    unsigned group = tid / width;
    if (group < groups) {
        char *at = first + group * distance + tid % width * size;
        combine_element(rec, tmp, at, groups * distance, (rows - group + groups - 1) / groups, size,
                        combine);
        __builtin_memcpy(element_at(at, size), rec, size);
    }
    __ompgpu_team_barrier(n, 0);
    return groups;
}

__attribute__((always_inline, convergent)) void
__ompgpu_combine_rows(void *to, _Bool combines, void *first, unsigned long distance, unsigned rows,
                      unsigned long count, void *rec, void *tmp, unsigned long size,
                      __ompgpu_combine combine)
{
    unsigned n = (unsigned)__ompgpu_num_threads(), tid = (unsigned)__ompgpu_thread_id();
    rows = fold_rows(first, distance, rows, count, rec, tmp, size, combine, tid, n);
    for (usize i = tid; i < count; i += n) {
        combine_element(rec, tmp, (const char *)first + i * size, distance, rows, size, combine);
        combine_or_store((char *)to + i * size, combines, rec, size, combine);
    }
}

__attribute__((always_inline, convergent)) void
__ompgpu_league_get_array(struct __ompgpu_env *env, unsigned long stride, unsigned long at,
                          void *original, unsigned long count, void *rec, void *tmp,
                          unsigned long size, __ompgpu_combine combine)
{
    __ompgpu_combine_rows(original, 1, slots_of(env, at, stride).first, stride,
                          __ompgpu_arch_nteams(), count, rec, tmp, size, combine);
}

__attribute__((always_inline)) void
__ompgpu_teams_get_array(struct __ompgpu_env *env, unsigned long stride, unsigned long at,
                         void *original, unsigned long count, void *rec, void *tmp,
                         unsigned long size, __ompgpu_combine combine)
{
    const char *first = slots_of(env, at, stride).first;
    ROLLED for (usize i = 0; i < count; i++)
    {
        combine_element(rec, tmp, first + i * size, stride, __ompgpu_arch_nteams(), size, combine);
        combine((char *)original + i * size, rec);
    }
}

__attribute__((always_inline)) void *__ompgpu_team_copies(struct __ompgpu_env *env,
                                                          unsigned long stride, unsigned long bytes)
{
    return (char *)env->scratch + __OMPGPU_SCRATCH_HEADER + (usize)__ompgpu_arch_nteams() * stride +
           (usize)__ompgpu_arch_team() * __ompgpu_arch_ntid() * bytes;
}

__attribute__((always_inline)) void *__ompgpu_slot(struct __ompgpu_env *env, unsigned long stride,
                                                   unsigned long at)
{
    return slot_of(slots_of(env, at, stride), __ompgpu_arch_team());
}

__attribute__((always_inline)) void __ompgpu_put_array(struct __ompgpu_env *env,
                                                       unsigned long stride, unsigned long at,
                                                       const void *array, unsigned long count,
                                                       unsigned long size)
{
    char *to = __ompgpu_slot(env, stride, at);
    for (usize i = 0; i < count; i++)
        __builtin_memcpy(element_at(to + i * size, size), (const char *)array + i * size, size);
}

__attribute__((always_inline)) void *__ompgpu_copy_slice(struct __ompgpu_env *env,
                                                         unsigned long stride, unsigned long bytes)
{
    return (char *)__ompgpu_team_copies(env, stride, bytes) + (usize)__ompgpu_arch_tid() * bytes;
}

__attribute__((always_inline)) void *__ompgpu_hidden(unsigned long address)
{
#ifdef __NVPTX__
    __asm__("" : "+l"(address));
#else
    __asm__("" : "+r"(address));
#endif
    return (void *)address;
}

__attribute__((always_inline)) unsigned long __ompgpu_copy_room(void) { return __ompgpu_cfg_guard; }

__attribute__((always_inline)) void *__ompgpu_copy_begin(void *copy, unsigned long size,
                                                         unsigned long all, const char *name)
{
    if (!__ompgpu_cfg_guard)
        return copy;
    __ompgpu_arch_object(copy, size, (char *)copy + all, name, 0);
    return __ompgpu_hidden((usize)copy);
}

__attribute__((always_inline)) void __ompgpu_copy_end(void *copy, unsigned long all)
{
    if (__ompgpu_cfg_guard)
        __ompgpu_arch_forget(copy, (char *)copy + all);
}
