/* rt_geometry.c - teams × threads, a row per case.  The fake device: 10 multiprocessors, 2048 threads on each, 1024 a team.
 *
 * rt_geometry table: prints the choice for kernels of many sizes (tests/bench/geometry.sh). */
#include "tests/unit/rt_fake.h"
const struct fake_variable fake_variables[] = { { 0 } };
const struct fake_kernel fake_kernels[] = { { 0 } };

enum { T = OMPGPU_LAUNCH_TEAMS, P = OMPGPU_LAUNCH_PARALLEL, D = OMPGPU_LAUNCH_DISTRIBUTE, R = OMPGPU_LAUNCH_REDUCTION, S = OMPGPU_LAUNCH_SPMD,
       COVERS = OMPGPU_LAUNCH_COVERS, LOOP = T | D | P | S, W = OMPGPU_KERNEL_WORKERS };
#define CLAUSE(n) ((n) << 16)                       /* in kernel_flags: a constant clause of the kernel */
static const struct row {
    const char *what;
    unsigned mode, kernel_flags, flags;
    unsigned long long trip;
    int num_teams, thread_limit;                    /* clauses */
    int env_teams, env_threads;
    unsigned most;                                  /* threads that the kernel can have */
    unsigned teams, threads;                        /* expected */
} rows[] = {
    { "streaming loop", 1, 0, LOOP, 1000000, 0, 0, 0, 0, 0, 3907, 256 },
    { "streaming loop, exact", 1, 0, LOOP, 128000, 0, 0, 0, 0, 0, 500, 256 },
    { "streaming loop, fewer than 2^31 threads", 1, 0, LOOP, 1ull << 60, 0, 0, 0, 0, 0, 0x7fffff, 256 },
    { "num_teams, fewer than 2^31 threads", 1, 0, LOOP, 1ull << 60, 10000000, 0, 0, 0, 0, 10000000, 192 },
    { "num_teams, fewer than 2^31 threads in exact teams", 1, CLAUSE(256) | OMPGPU_KERNEL_EXACT, LOOP, 1ull << 60, 10000000, 256, 0, 0, 256, 0x7fffff, 256 },
    { "num_teams, all that there can be", 1, 0, LOOP, 1ull << 60, 0x7fffffff, 0, 0, 0, 0, 0x7fffff, 256 },
    { "short loop: smaller teams", 1, 0, LOOP, 1000, 0, 0, 0, 0, 0, 16, 64 },
    { "very short loop", 1, 0, LOOP, 100, 0, 0, 0, 0, 0, 4, 32 },
    { "one iteration", 1, 0, LOOP, 1, 0, 0, 0, 0, 0, 1, 32 },
    { "unknown trip: one wave", 1, 0, LOOP, 0, 0, 0, 0, 0, 0, 80, 256 },
    { "reduction: one wave", 1, 0, LOOP | R, 1000000, 0, 0, 0, 0, 0, 80, 256 },
    { "reduction, fits", 1, 0, LOOP | R, 2560, 0, 0, 0, 0, 0, 10, 256 },
    { "reduction, short", 1, 0, LOOP | R, 300, 0, 0, 0, 0, 0, 10, 32 },
    { "num_teams", 1, 0, LOOP, 1000000, 7, 0, 0, 0, 0, 7, 256 },
    { "num_teams, reduction", 1, 0, LOOP | R, 1000000, 70000, 0, 0, 0, 0, 70000, 256 },
    { "thread_limit, not whole warps", 1, 0, LOOP, 1000, 0, 100, 0, 0, 0, 10, 100 },
    { "num_teams, thread_limit", 1, 0, LOOP, 1000000, 2, 100, 0, 0, 0, 2, 100 },
    { "thread_limit above the hardware's", 1, 0, LOOP, 10240, 0, 5000, 0, 0, 0, 10, 1024 },
    { "thread_limit above the kernel's", 1, 0, LOOP, 6400, 0, 1024, 0, 0, 640, 10, 640 },
    { "constant clause, not whole warps", 1, CLAUSE(100), LOOP, 6400, 0, 100, 0, 0, 100, 64, 100 },
    { "constant clause of whole warps, a kernel that cannot have them", 1, CLAUSE(128), LOOP, 6400, 0, 128, 0, 0, 100, 67, 96 },
    { "kernel with few threads", 1, 0, LOOP, 100000, 0, 0, 0, 0, 96, 1042, 96 },
    { "OMP_NUM_TEAMS", 1, 0, LOOP, 1000000, 0, 0, 3, 0, 0, 3, 256 },
    { "OMP_NUM_TEAMS and a clause", 1, 0, LOOP, 1000000, 5, 0, 3, 0, 0, 5, 256 },
    { "OMP_TEAMS_THREAD_LIMIT", 1, 0, LOOP, 1000, 0, 0, 0, 50, 0, 20, 50 },
    { "OMP_TEAMS_THREAD_LIMIT and a clause", 1, 0, LOOP, 1000, 0, 100, 0, 50, 0, 10, 100 },
    { "covering: OMP_NUM_TEAMS makes larger teams", 1, 0, LOOP | COVERS, 2000, 0, 0, 3, 0, 0, 3, 672 },
    { "covering: OMP_NUM_TEAMS, a short loop", 1, 0, LOOP | COVERS, 512, 0, 0, 9, 0, 0, 8, 64 },
    { "covering: OMP_NUM_TEAMS, too few of any size", 1, 0, LOOP | COVERS, 1000000, 0, 0, 3, 0, 0, 3907, 256 },
    { "covering: OMP_NUM_TEAMS and thread_limit", 1, 0, LOOP | COVERS, 1000, 0, 100, 3, 0, 0, 10, 100 },
    { "covering: no iteration", 1, 0, LOOP | COVERS, 0, 0, 0, 0, 0, 0, 1, 256 },
    { "covering: 2^31 iterations", 1, 0, LOOP | COVERS, 1ull << 31, 0, 0, 0, 0, 0, 1 << 23, 256 },
    { "target parallel for", 1, 0, P | S, 1000000, 0, 0, 0, 0, 0, 1, 256 },
    { "target parallel for, short", 1, 0, P | S, 40, 0, 0, 0, 0, 0, 1, 64 },
    { "target parallel num_threads", 1, 0, P | S, 0, 0, 77, 0, 0, 0, 1, 77 },
    { "target parallel for and OMP_NUM_TEAMS", 1, 0, P | S, 40, 0, 0, 9, 0, 0, 1, 64 },
    { "SPMD without parallel", 1, 0, S, 0, 0, 0, 0, 0, 0, 1, 1 },
    { "teams, parallel for", 1, 0, T | P | S, 5000, 0, 0, 0, 0, 0, 10, 256 },
    { "generic", 0, W, T | D, 1000000, 0, 0, 0, 0, 0, 640, 128 },
    { "generic, few iterations", 0, W, T | D, 12, 0, 0, 0, 0, 0, 12, 128 },
    { "generic, reduction", 0, W, T | D | R, 1000000, 0, 0, 0, 0, 0, 160, 128 },
    { "generic without workers", 0, 0, T | D, 5, 0, 64, 0, 0, 0, 5, 1 },
    { "generic, thread_limit", 0, W, T | D, 5, 0, 64, 0, 0, 0, 5, 64 },
    { "generic, one team", 0, W, 0, 0, 0, 0, 0, 0, 0, 1, 128 },
    { "generic made SPMD late", 1, 0, T | D | P, 1000, 0, 0, 0, 0, 0, 640, 128 },
};

/* The covering form: what it is launched for. */
static const struct cover {
    const char *what;
    unsigned teams, threads, nloops;
    unsigned long long trips[4];
    unsigned covered;                               /* iterations; 0: not covered */
    unsigned flags;
} covers[] = {
    { "a thread an iteration", 10, 128, 1, { 1280 }, 1280, 0 },
    { "fewer iterations than threads", 10, 128, 1, { 1153 }, 1153, 0 },
    { "one more", 10, 128, 1, { 1281 }, 0, 0 },
    { "no iteration", 10, 128, 1, { 0 }, 0, 0 },
    { "one", 1, 32, 1, { 1 }, 1, 0 },
    { "nest", 10, 128, 3, { 2, 32, 20 }, 1280, 0 },
    { "nest, one more", 10, 128, 2, { 61, 21 }, 0, 0 },
    { "nest, an empty inner loop", 10, 128, 2, { 7, 0 }, 0, 0 },
    { "nest, an inner loop of one iteration", 10, 128, 2, { 7, 1 }, 7, 0 },
    { "2^31 - 1 threads", 0x7fffffff, 1, 1, { 0x7fffffff }, 0x7fffffff, 0 },
    { "2^31 threads", 1 << 24, 128, 1, { 1 }, 0, 0 },
    { "2^31 threads, without a strided form", 1 << 24, 128, 1, { 1u << 31 }, 1u << 31, COVERS },
    { "2^32 threads, without a strided form", 1 << 25, 128, 1, { 1 }, 0, COVERS },
    { "a product that is 0 modulo 2^64", 1 << 23, 128, 4, { 1 << 16, 1 << 16, 1 << 16, 1 << 16 }, 0, 0 },
    { "a product that is 4 modulo 2^64", 1 << 23, 128, 2, { (1ull << 63) + 2, 2 }, 0, 0 },
    { "a trip count above 2^32", 1 << 23, 128, 2, { 2, (1ull << 32) + 2 }, 0, 0 },
    { "nest without a strided form", 10, 128, 3, { 2, 32, 20 }, 1280, COVERS },
    { "..., one more", 10, 128, 2, { 61, 21 }, 0, COVERS },
};

/* A loop or nest without a strided form: in how many parts it is launched. */
static const struct parts_row {
    const char *what;
    unsigned nloops;
    unsigned long long trips[4];
    unsigned parts;
    int thread_limit;
} parts_rows[] = {
    { "a loop", 1, { 1000 }, 1, 0 },
    { "a loop of 2^31", 1, { 1u << 31 }, 1, 0 },
    { "... and one more", 1, { (1u << 31) + 1 }, 2, 0 },
    { "a loop of 10^11", 1, { 100000000000 }, 47, 0 },
    { "a loop of 2^33, teams of one thread", 1, { 1ull << 33 }, 8, 1 },
    { "a nest, teams of one thread", 2, { 3, 1u << 31 }, 6, 1 },
    { "a nest of 2^32, teams of 192 threads", 2, { 1 << 16, 1 << 16 }, 2, 192 },
    { "one", 2, { 1000, 1000 }, 1, 0 },
    { "no iteration", 3, { 5, 0, 1u << 31 }, 1, 0 },
    { "no iteration outside", 2, { 0, 1u << 31 }, 1, 0 },
    { "2^31", 3, { 1 << 10, 1 << 11, 1 << 10 }, 1, 0 },
    { "a row more", 2, { (1 << 11) + 1, 1 << 20 }, 2, 0 },
    { "2048^3", 3, { 2048, 2048, 2048 }, 4, 0 },
    { "2047^3", 3, { 2047, 2047, 2047 }, 4, 0 },
    { "long rows", 2, { 5, 0x7fffffff }, 5, 0 },
    { "the longest", 2, { 3, 1u << 31 }, 3, 0 },
    { "long planes", 3, { 3, 100000, 50000 }, 9, 0 },
    { "... of which not all are full", 3, { 3, 70000, 50000 }, 6, 0 },
    { "a long outer loop", 2, { 0xffffffff, 1 }, 2, 0 },
    { "... and inner ones of one iteration", 4, { 0xffffffff, 1, 1, 1 }, 2, 0 },
    { "four loops", 4, { 3, 2, 80000, 30000 }, 12, 0 },
    { "a loop of one iteration in between", 4, { 3, 1, 80000, 30000 }, 6, 0 },
};
/* As a kernel does it (devicertl/ompgpu_device.h, __ompgpu_own_digit). */
static void digits(const struct ompgpu_env *env, const struct parts_row *r, unsigned id, uint64_t *at)
{
    if (r->nloops == 1) { /* of 32 bits */
        at[0] = id + env->first;
        if (env->begin[0] != (unsigned)env->first)
            at[0] = r->trips[0];
        return;
    }
    unsigned rest = id, number = id + env->begin[r->nloops - 1];
    for (unsigned k = r->nloops; k--;) {
        at[k] = number;
        if (!k)
            return;
        rest = (unsigned)((uint64_t)rest * env->inner[k - 1].multiplier >> env->inner[k - 1].shift);
        number = rest + env->begin[k - 1];
        at[k] = (unsigned)at[k] - number * (unsigned)r->trips[k];
    }
}
/* The iteration's number in the nest, or -1: it is outside. */
static __int128 number_of(const struct parts_row *r, const uint64_t *at)
{
    __int128 n = 0;
    for (unsigned k = 0; k < r->nloops; k++) {
        if (at[k] >= r->trips[k])
            return -1;
        n = n * (__int128)r->trips[k] + at[k];
    }
    return n;
}
static void parts(struct ompgpu_device *dev)
{
    struct ompgpu_kernel_entry entry = { .mode = 1 };
    dev->icvs = (struct ompgpu_icvs){ 0 };
    for (unsigned i = 0; i < COUNT(parts_rows); i++) {
        const struct parts_row *r = &parts_rows[i];
        struct ompgpu_function f = { .entry = &entry, .max_threads = 1024 };
        struct ompgpu_launch l = { .flags = LOOP | COVERS, .nloops = r->nloops, .trip = 1, .thread_limit = r->thread_limit };
        struct ompgpu_env env = { .trip = 0 };
        unsigned n = 0, wrong = 0;
        __int128 done = 0;
        memcpy(l.trips, r->trips, sizeof l.trips);
        for (unsigned k = 0; k < r->nloops; k++)
            l.trip *= r->trips[k];
        struct ompgpu_geometry g = ompgpu_geometry(dev, &f, &l);
        OK(ompgpu_covers(&l, g, &env), "parts: %s: threads for one", r->what);
        do {
            /* in order, without a gap: at the ends and at some places in between */
            for (unsigned k = 0; k < 1000 && env.trip; k++) {
                uint64_t at[4];
                unsigned id = k < 100 ? k : k < 200 ? env.trip - 1 - (k - 100) : (unsigned)((uint64_t)env.trip * (k - 200) / 800);
                if (id >= env.trip)
                    continue;
                digits(&env, r, id, at);
                wrong += number_of(r, at) != done + id;
            }
            wrong += env.trip > (uint64_t)g.teams * g.threads;
            done += env.trip;
        } while (++n < 100 && ompgpu_next_part(&f, &l, g.threads, &env));
        __int128 all = 1;
        for (unsigned k = 0; k < r->nloops; k++)
            all *= (__int128)r->trips[k];
        if (!OK(n == r->parts && done == all && !wrong, "parts: %s", r->what))
            printf("# %u parts, %u wrong places, %lld iterations\n", n, wrong, (long long)done);
        entry.flags = OMPGPU_KERNEL_TILED;
        memset(env.begin, 0, sizeof env.begin);
        OK(!ompgpu_next_part(&f, &l, g.threads, &env), "parts: %s: none of tiles", r->what);
        entry.flags = 0;
    }
}

static void cover(void)
{
    for (unsigned i = 0; i < COUNT(covers); i++) {
        const struct cover *r = &covers[i];
        struct ompgpu_launch l = { .nloops = r->nloops, .flags = r->flags };
        struct ompgpu_env env = { .trip = 0 };
        memcpy(l.trips, r->trips, sizeof l.trips);
        bool yes = ompgpu_covers(&l, (struct ompgpu_geometry){ r->teams, r->threads }, &env);
        OK(yes == (r->covered != 0) && (!yes || env.trip == r->covered), "covering form: %s", r->what);
    }
}

/* a / d as the covering form does it, for a < 2^31 around each kind of border */
static void divide(void)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < 3000; i++) {
        unsigned power = 1u << (1 + i % 30), d = i < 1000 ? i + 2 : power + i / 30 % 3 - (i / 30 % 2) * (i % 1000) % power;
        struct ompgpu_launch l = { .nloops = 2, .trips = { 1, d ? d : 1 } };
        struct ompgpu_env env = { .trip = 0 };
        d = (unsigned)l.trips[1];
        wrong += !ompgpu_covers(&l, (struct ompgpu_geometry){ 0x7fffffff, 1 }, &env);
        unsigned most = 0x7fffffff / d;
        for (unsigned k = 0; k < 40; k++) {
            unsigned a = (k < 20 ? k : most - (k - 20) < most ? most - (k - 20) : most) * d;
            for (unsigned e = 0; e < 3; e++) {
                unsigned x = e == 0 ? a : e == 1 ? a + d - 1 : a - 1;
                x = x > 0x7fffffff ? 0x7fffffff : x;
                wrong += (unsigned)((uint64_t)x * env.inner[0].multiplier >> env.inner[0].shift) != x / d;
            }
        }
    }
    OK(!wrong, "divisions by multiplication: %u wrong", wrong);
}

/* ------------------------------------------------------------------ threads by registers and shared memory */
static const unsigned registers[] = { 24, 32, 40, 48, 56, 64, 80, 96, 128, 255 }, shared[] = { 0, 8 << 10, 24 << 10, 47 << 10 };

static unsigned resident(struct ompgpu_function f, unsigned threads) { return threads * fake_occupancy(0, &f, threads); }
static unsigned most_resident(struct ompgpu_function f)
{
    unsigned best = 0;
    for (unsigned t = 32; t <= 1024; t += 32)
        best = resident(f, t) > best ? resident(f, t) : best;
    return best;
}
static void check_room(const struct ompgpu_device *dev, unsigned r, unsigned s, unsigned kind, bool table)
{
    struct ompgpu_kernel_entry entry = { .mode = 1 };
    struct ompgpu_function f = { .entry = &entry, .registers = r, .static_shared = s };
    struct ompgpu_launch l = { .trip = 100000000, .flags = LOOP | kind };
    unsigned threads = ompgpu_geometry(dev, &f, &l).threads, best = most_resident(f);
    if (table)
        printf("  %9u %7u %10s %8u %9u %6u %7.3f\n", r, s, kind ? "reduction" : "stream", threads, resident(f, threads), best,
               (double)resident(f, threads) / best);
    else
        OK(resident(f, threads) * 100 >= best * 97, "%u registers, %u bytes: %u threads a team", r, s, threads);
}
static void check_rooms(const struct ompgpu_device *dev, bool table)
{
    if (table)
        printf("threads a team by registers and shared memory (sm_90), threads on a multiprocessor\n  %9s %7s %10s %8s %9s %6s %7s\n",
               "registers", "shared", "loop", "threads", "resident", "best", "ratio");
    for (unsigned i = 0; i < COUNT(registers); i++)
        for (unsigned k = 0; k < COUNT(shared); k++) {
            check_room(dev, registers[i], shared[k], 0, table);
            check_room(dev, registers[i], shared[k], R, table);
        }
}

/* ------------------------------------------------------------------ the wide form: which pointers it suits */
static const struct wide_row {
    const char *what, *streams;
    uintptr_t pointers[3];
    unsigned long long trip;
    bool suits;
} wide_rows[] = {
    { "disjoint", "4;0 0 16 0 4 4;1 1 16 0 4 4;", { 0x1000, 0x2000 }, 1024, true },
    { "the last element overlaps", "4;0 0 16 0 4 4;1 1 16 0 4 4;", { 0x1000, 0x2000 }, 1025, false },
    { "the written one is below", "4;0 0 16 0 4 4;1 1 16 0 4 4;", { 0x2000, 0x1000 }, 1025, false },
    { "in place by two pointers", "4;0 0 16 0 4 4;1 1 16 0 4 4;", { 0x1000, 0x1000 }, 8, false },
    { "in place by one", "4;0 0 16 0 4 4;0 1 16 0 4 4;", { 0x1000, 0x1000 }, 8, true },
    { "two that are read", "4;0 0 16 0 4 4;1 0 16 0 4 4;2 1 16 0 4 4;", { 0x1000, 0x1010, 0x9000 }, 1024, true },
    { "a pointer that is not aligned", "4;0 0 16 0 4 4;1 1 16 0 4 4;", { 0x1004, 0x4000 }, 8, false },
    { "aligned with its offset", "4;0 0 16 -4 4 4;1 1 16 0 4 4;", { 0x1004, 0x4000 }, 8, true },
    { "element by element", "2;0 0 1 8 8 8;1 1 16 0 8 8;", { 0x1008, 0x4000 }, 8, true },
    { "backwards, clear", "4;0 0 1 0 4 -4;1 1 16 0 4 4;", { 0x2ffc, 0x3000 }, 100, true },
    { "backwards, into the written one", "4;0 0 1 0 4 -4;1 1 16 0 4 4;", { 0x3200, 0x3000 }, 128, false },
    { "one place, in the written range", "4;0 0 1 0 4 0;1 1 16 0 4 4;", { 0x3010, 0x3000 }, 128, false },
    { "no pointers", "4;", { 0 }, 1024, true },
};
static void suits(void)
{
    static const char *const malformed[] = { "", "x", "0;", "4;0 0 16", "4;0 0 16 0 4 4;x", "4" };
    struct ompgpu_wide w;
    for (unsigned i = 0; i < COUNT(wide_rows); i++) {
        const struct wide_row *r = &wide_rows[i];
        OK(ompgpu_wide_parse(r->streams, &w) && ompgpu_wide_suits(&w, r->pointers, r->trip) == r->suits, "wide form: %s", r->what);
    }
    for (unsigned i = 0; i < COUNT(malformed); i++)
        OK(!ompgpu_wide_parse(malformed[i], &w), "wide form: malformed '%s'", malformed[i]);
}

/* ------------------------------------------------------------------ the tiled form: a team for each tile */
static const struct tile_row {
    const char *what;
    unsigned shift, nloops;
    unsigned long long trips[4];
    int num_teams, thread_limit;                    /* of the launch */
    unsigned most;                                  /* threads that the kernel can have */
    unsigned teams;                                 /* expected; 0: no tiles */
} tile_rows[] = {
    { "whole tiles", 3, 2, { 64, 64 }, 0, 0, 0, 16 },
    { "some stick out", 3, 2, { 63, 57 }, 0, 0, 0, 16 },
    { "a quarter more than there are", 4, 2, { 64, 64 * 4 / 5 + 1 }, 0, 0, 0, 16 },
    { "too many stick out", 4, 2, { 51, 64 }, 0, 0, 0, 0 },
    { "too few for the device", 5, 2, { 24, 96 }, 0, 0, 0, 0 },
    { "one loop", 3, 1, { 1 << 20 }, 0, 0, 0, 0 },
    { "three loops", 5, 3, { 7, 16, 64 }, 0, 0, 0, 28 },
    { "three loops, one row of tiles", 5, 3, { 7, 8, 64 }, 0, 0, 0, 14 },
    { "one tile in a row", 5, 2, { 1000, 32 }, 0, 0, 0, 125 },
    { "one row of tiles", 5, 2, { 8, 3200 }, 0, 0, 0, 100 },
    { "four loops", 3, 4, { 2, 3, 64, 64 }, 0, 0, 0, 96 },
    { "others", 5, 4, { 13, 37, 9, 40 }, 0, 0, 0, 0 },
    { "others", 5, 4, { 13, 37, 16, 64 }, 0, 0, 0, 13 * 37 * 4 },
    { "four loops, one of an iteration", 3, 4, { 2, 1, 64, 64 }, 0, 0, 0, 32 },
    { "an empty loop", 3, 2, { 0, 6400 }, 0, 0, 0, 0 },
    { "another", 3, 2, { 6400, 0 }, 0, 0, 0, 0 },
    { "65535 rows of tiles", 5, 2, { 65535 * 8, 32 }, 0, 0, 0, 65535 },
    { "65536", 5, 2, { 65536 * 8, 32 }, 0, 0, 0, 0 },
    { "65535 planes", 5, 3, { 65535, 8, 32 }, 0, 0, 0, 65535 },
    { "65536", 5, 4, { 2, 32768, 8, 32 }, 0, 0, 0, 0 },
    { "2^31 - 1 columns", 3, 2, { 32, 0x7fffffff }, 0, 0, 0, 1 << 28 },
    { "2^31 columns", 3, 2, { 32, 1u << 31 }, 0, 0, 0, 0 },
    { "2^31 - 1 rows", 3, 2, { 0x7fffffff, 16 }, 0, 0, 0, 0 },
    { "2^31 rows", 3, 2, { 1u << 31, 16 }, 0, 0, 0, 0 },
    { "2^31 tiles", 5, 2, { 1 << 20, 1 << 19 }, 0, 0, 0, 0 },
    { "a product that is 0 modulo 2^64", 5, 4, { 1 << 16, 1 << 16, 1 << 19, 1 << 21 }, 0, 0, 0, 0 },
    { "num_teams", 3, 2, { 64, 64 }, 16, 0, 0, 0 },
    { "thread_limit", 3, 2, { 64, 64 }, 0, 256, 0, 0 },
    { "a kernel that can have fewer threads", 3, 2, { 64, 64 }, 0, 0, 224, 0 },
};

/* The grid has a tile for each part of the two inner loops, and a plane for each iteration of those around, which the kernel takes apart. */
static bool each_once(const struct ompgpu_env *env, const struct tile_row *r)
{
    unsigned n = r->nloops, width = 1u << r->shift, height = OMPGPU_TILE / width;
    uint64_t planes = 1;
    for (unsigned k = 0; k + 2 < n; k++)
        planes *= r->trips[k];
    if (env->trip != (r->trips[n - 2] + height - 1) / height || env->rest != planes ||
        r->teams != (r->trips[n - 1] + width - 1) / width * env->trip * env->rest)
        return false;
    for (unsigned plane = 0; plane < planes; plane++) {
        unsigned at = plane, again = 0, factor = 1;
        for (unsigned k = n - 2; k-- > 1;) {
            unsigned count = (unsigned)r->trips[k], rest = (unsigned)((uint64_t)at * env->inner[k - 1].multiplier >> env->inner[k - 1].shift);
            if (at - rest * count >= count)
                return false;
            again += (at - rest * count) * factor, factor *= count, at = rest;
        }
        if (again + at * factor != plane || at >= r->trips[0])
            return false;
    }
    return true;
}

static void tiles(struct ompgpu_device *dev)
{
    struct ompgpu_kernel_entry entry = { .mode = 1, .flags = OMPGPU_KERNEL_EXACT | OMPGPU_KERNEL_TILED, .max_threads = OMPGPU_TILE };
    dev->icvs = (struct ompgpu_icvs){ 0 };
    for (unsigned i = 0; i < COUNT(tile_rows); i++) {
        const struct tile_row *r = &tile_rows[i];
        struct ompgpu_function f = { .entry = &entry, .max_threads = r->most, .tile_shift = r->shift };
        struct ompgpu_launch l = { .flags = LOOP, .nloops = r->nloops, .num_teams = r->num_teams, .thread_limit = r->thread_limit };
        struct ompgpu_env env;
        memcpy(l.trips, r->trips, sizeof l.trips);
        unsigned teams = ompgpu_tiles(dev, &f, &l, &env);
        if (!OK(teams == r->teams && (!teams || each_once(&env, r)), "tiles: %s", r->what))
            printf("# %u teams, expected %u\n", teams, r->teams);
        dev->icvs.num_teams = 7;
        OK(!ompgpu_tiles(dev, &f, &l, &env), "tiles: none with OMP_NUM_TEAMS");
        dev->icvs = (struct ompgpu_icvs){ .thread_limit = 200 };
        OK(!ompgpu_tiles(dev, &f, &l, &env), "tiles: none with a limit of threads");
        dev->icvs = (struct ompgpu_icvs){ 0 };
    }
}

/* Lanes of a warp for an iteration: rows of `length` elements, which an array of row ends says, or the bounds. */
static const struct lanes_row {
    const char *what;
    unsigned long long trip, inner;
    unsigned length, simdlen, arch;
    long asked;
    int lanes;
} lanes_rows[] = {
    { "as bounds say, short", 100000, 15, 0, 0, 90, 0, 1 },
    { "as bounds say", 100000, 16, 0, 0, 90, 0, 8 },
    { "as bounds say, long", 100000, 256, 0, 0, 90, 0, 32 },
    { "as bounds say, few rows", 100, 32, 0, 0, 90, 0, 32 },
    { "as rows say, short", 100000, 0, 3, 0, 90, 0, 1 },
    { "as rows say", 100000, 0, 40, 0, 90, 0, 8 },
    { "as rows say, long", 100000, 0, 300, 0, 90, 0, 32 },
    { "nothing says it", 100000, 0, 0, 0, 90, 0, 1 },
    { "simdlen", 100000, 0, 0, 4, 90, 0, 4 },
    { "simdlen decides alone", 100000, 200, 0, 2, 90, 0, 2 },
    { "OMPGPU_LANES=1", 100000, 200, 0, 2, 90, 1, 1 },
    { "OMPGPU_LANES=16", 100000, 3, 0, 0, 90, 16, 16 },
    { "OMPGPU_LANES=31", 100000, 3, 0, 0, 90, 31, 16 },
    { "the emulated device", 100000, 200, 0, 8, 0, 0, 1 },
    { "the emulated device, asked", 100000, 200, 0, 8, 0, 32, 8 },
};
static void lanes(struct ompgpu_device *dev)
{
    enum { MOST = 100000 };
    static int ends[MOST + 1];
    static long wide_ends[MOST + 1];
    struct ompgpu_kernel_entry entry = { .mode = 1 };
    for (unsigned i = 0; i < COUNT(lanes_rows); i++) {
        const struct lanes_row *r = &lanes_rows[i];
        struct ompgpu_function f = { .entry = &entry };
        struct ompgpu_launch l = { .flags = LOOP | OMPGPU_LAUNCH_LANES, .trip = r->trip, .inner_trip = r->inner, .lanes = r->simdlen,
                                   .rows = r->length != 0, .row_size = sizeof *ends };
        for (int k = 0; k <= MOST; k++)
            wide_ends[k] = ends[k] = k * (int)r->length + 7;
        uintptr_t e = r->length ? (uintptr_t)ends : 0;
        dev->info.arch = r->arch;
        ompgpu_settings.lanes = r->asked;
        OK(ompgpu_lanes(dev, &f, &l, e, true) == r->lanes, "lanes: %s", r->what);
        if (!r->length)
            continue;
        memset(ends, 0, sizeof ends);
        OK(ompgpu_lanes(dev, &f, &l, e, true) == r->lanes, "lanes: %s, not read again", r->what);
        OK(ompgpu_lanes(dev, &f, &l, e + 4, false) == r->lanes, "lanes: %s, others that may not be read", r->what);
        l.row_size = sizeof *wide_ends;
        OK(ompgpu_lanes(dev, &f, &l, (uintptr_t)wide_ends, true) == r->lanes, "lanes: %s, of 8 bytes", r->what);
        f = (struct ompgpu_function){ .entry = &entry };
        OK(ompgpu_lanes(dev, &f, &l, (uintptr_t)wide_ends, false) == 1, "lanes: %s, not to be read", r->what);
    }
    dev->info.arch = 0;
    ompgpu_settings.lanes = 0;
}

int main(int argc, char **argv)
{
    struct ompgpu_device dev = { .plugin = &ompgpu_emu_plugin };
    fake_open(0, &dev.info);
    if (argc > 1 && strcmp(argv[1], "table") == 0) {
        check_rooms(&dev, true);
        return 0;
    }
    check_rooms(&dev, false);
    suits();
    for (unsigned i = 0; i < COUNT(rows); i++) {
        const struct row *r = &rows[i];
        struct ompgpu_kernel_entry entry = { .mode = r->mode, .flags = r->kernel_flags & 0xffff, .max_threads = r->kernel_flags >> 16 };
        struct ompgpu_function f = { .entry = &entry, .max_threads = r->most };
        struct ompgpu_launch l = { .num_teams = r->num_teams, .thread_limit = r->thread_limit, .trip = r->trip, .flags = r->flags };
        dev.icvs = (struct ompgpu_icvs){ .num_teams = r->env_teams, .teams_thread_limit = r->env_threads };
        for (int again = 0; again < 2; again++) {   /* the second time from the occupancy cache */
            struct ompgpu_geometry g = ompgpu_geometry(&dev, &f, &l);
            if (!OK(g.teams == r->teams && g.threads == r->threads, "%s", r->what))
                printf("# %u x %u, expected %u x %u\n", g.teams, g.threads, r->teams, r->threads);
        }
    }
    cover();
    parts(&dev);
    divide();
    tiles(&dev);
    lanes(&dev);
    return tap_end();
}
