/* rt_reduction.c - property test of the reduction algorithms (devicertl/reduction.c) on the emulated device.
 *
 * Records hold an affine map x -> a x + b modulo 2^64 besides plain sums: composing such maps is associative and not commutative, so
 * that a record tells in which order it was made.  Of a warp the order is known and compared with a serial reference, for random
 * sets of lanes; of teams and leagues the members are (nobody missing, nobody twice), and the order must be the same each time, under
 * any schedule.  A build of reduction.c with TRACE tells which algorithm ran.
 *
 * This file is both sides, as rt_devicertl.c is.  tests/reduction/mutants.t runs it on broken variants of reduction.c:
 *   RT_REDUCTION_SOURCE=FILE.c    instead of devicertl/reduction.c
 *   RT_REDUCTION_QUICK=1          few cases
 * OMPGPU_LONG=1: many. */
struct affine { unsigned long sum, a, b; unsigned count; };     /* 28 bytes travel */
struct wide { unsigned w[25]; };                                /* more than one round through the slots */
struct work {
    unsigned threads, round, brief, masks[4][32];
    struct affine out[2][512];
    struct wide wide[512];
    unsigned word[512];
    unsigned long total;
};
enum { AFFINE = 28 };
enum { TRACE_FULL, TRACE_PARTIAL, TRACE_DISPERSED, TRACE_REDUX, TRACES };

static inline unsigned long mix(unsigned long x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}
static inline struct affine element(unsigned team, unsigned thread, unsigned round)
{
    unsigned long h = mix(((unsigned long)team << 20 | thread << 4 | round) + 0x9E3779B97F4A7C15u);
    return (struct affine){ h, mix(h) | 1, mix(h + 1), 1 };
}
static inline __attribute__((always_inline)) void compose(void *into, const void *from)
{
    struct affine *f = into;
    const struct affine *g = from;
    f->sum += g->sum;
    f->b = f->b * g->a + g->b;
    f->a *= g->a;
    f->count += g->count;
}

/* ------------------------------------------------------------------ device code */
#ifdef DEVICE
#define KERNEL(id, mode)                                                                                              \
    void id(void **p);                                                                                                \
    void id(void **p)                                                                                                 \
    { if (__ompgpu_kernel_begin(p[0], __OMPGPU_##mode)) { id##__region(p[0], *(struct work **)p[1]); __ompgpu_kernel_end(p[0], __OMPGPU_##mode); } }
#define REGION(id) __OMPGPU_INLINE void id##__region(struct __ompgpu_env *env, struct work *w)
unsigned __ompgpu_traced[TRACES];     /* counted by the runtime */

__OMPGPU_INLINE void add_wide(void *into, const void *from)
{
    for (unsigned i = 0; i < 25; i++)
        ((struct wide *)into)->w[i] += ((const struct wide *)from)->w[i];
}
__OMPGPU_INLINE void add_word(void *into, const void *from) { *(unsigned *)into += *(const unsigned *)from; }
__OMPGPU_INLINE void add_long(void *into, const void *from) { *(unsigned long *)into += *(const unsigned long *)from; }
__OMPGPU_INLINE void redux_word(void *rec, unsigned lanes) { *(unsigned *)rec = __ompgpu_reduce_word(__OMPGPU_REDUX_ADD, lanes, *(unsigned *)rec); }
__OMPGPU_INLINE struct wide wide_element(unsigned team, unsigned thread)
{
    struct wide v;
    for (unsigned i = 0; i < 25; i++)
        v.w[i] = (unsigned)element(team, thread, 0).sum * (i + 1);
    return v;
}

/* Lanes that come in divergent code, in any set. */
REGION(lanes)
{
    unsigned team = (unsigned)__ompgpu_team_id(), thread = (unsigned)__ompgpu_thread_id(), warp = thread / 32, mask = w->masks[team][warp];
    (void)env;
    if (!(mask >> thread % 32 & 1))
        return;
    struct affine r = element(team, thread, w->round), tmp;
    if (__ompgpu_reduce_lanes(mask, &r, &tmp, AFFINE, compose, 0)) {
        r.count |= thread % 32 << 16;                      /* who has it */
        w->out[0][team * 32 + warp] = r;
    }
    unsigned word = (unsigned)element(team, thread, w->round).sum, other;
    if (__ompgpu_reduce_lanes(mask, &word, &other, sizeof word, add_word, redux_word))
        w->word[team * 32 + warp] = word;
}
KERNEL(lanes, SPMD)

__OMPGPU_INLINE void in_team(struct work *w)
{
    unsigned team = (unsigned)__ompgpu_team_id(), thread = (unsigned)__ompgpu_thread_id();
    for (unsigned round = 0; round < 2; round++) {         /* the second one uses the slots again */
        struct affine r = element(team, thread, round), tmp;
        if (__ompgpu_reduce_parallel(&r, &tmp, AFFINE, compose, 0))
            compose(&w->out[round][team], &r);
        __ompgpu_barrier(__LINE__);                        /* the construct's: the slots are free again */
    }
    if (w->brief)                                          /* the wide record is most of the work */
        return;
    struct wide v = wide_element(team, thread), other;
    if (__ompgpu_reduce_parallel(&v, &other, sizeof v, add_wide, 0))
        add_wide(&w->wide[team], &v);
    __ompgpu_barrier(__LINE__);
    unsigned n = (unsigned)element(team, thread, 0).sum, m;
    if (__ompgpu_reduce_parallel(&n, &m, sizeof n, add_word, redux_word))
        w->word[team] += n;
}
REGION(team)
{
    (void)env;
    in_team(w);
}
KERNEL(team, SPMD)

static void part_body(void *w) { in_team(w); }             /* fewer threads than the team has */
REGION(part)
{
    (void)env;
    __ompgpu_parallel(part_body, w, (int)w->threads, 1);
}
KERNEL(part, GENERIC)

REGION(league)
{
    struct affine r = element((unsigned)__ompgpu_team_id(), (unsigned)__ompgpu_thread_id(), 0), tmp;
    if (__ompgpu_reduce_league(env, &r, &tmp, AFFINE, compose, 0))
        compose(&w->out[0][0], &r);
}
KERNEL(league, SPMD)
REGION(league_wide)
{
    struct wide v = wide_element((unsigned)__ompgpu_team_id(), (unsigned)__ompgpu_thread_id()), tmp;
    if (__ompgpu_reduce_league(env, &v, &tmp, sizeof v, add_wide, 0))
        add_wide(&w->wide[0], &v);
}
KERNEL(league_wide, SPMD)
REGION(league_word)
{
    unsigned v = (unsigned)element((unsigned)__ompgpu_team_id(), (unsigned)__ompgpu_thread_id(), 0).sum, tmp;
    if (__ompgpu_reduce_league(env, &v, &tmp, sizeof v, add_word, redux_word))
        w->word[0] += v;
}
KERNEL(league_word, SPMD)
REGION(teams)
{
    struct affine r = element((unsigned)__ompgpu_team_id(), 0, 0), tmp;
    if (__ompgpu_reduce_teams(env, &r, &tmp, AFFINE, compose))
        compose(&w->out[0][0], &r);
}
KERNEL(teams, GENERIC)
/* As -fompgpu-atomic-reduction ends. */
REGION(atomic)
{
    unsigned long v = element((unsigned)__ompgpu_team_id(), (unsigned)__ompgpu_thread_id(), 0).sum, tmp;
    (void)env;
    if (__ompgpu_reduce_parallel(&v, &tmp, sizeof v, add_long, 0))
        __scoped_atomic_fetch_add(&w->total, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
KERNEL(atomic, SPMD)

/* ------------------------------------------------------------------ host */
#else
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hostrt/emu/emu.h"

static const struct ompgpu_plugin *const dev = &ompgpu_emu_plugin;
static struct emu_settings *settings;
static void *module, *scratch, *device_work, *image;
static unsigned *traced;
static unsigned tests, failures;
static struct work work;
static bool quick, thorough;
static char directory[256];            /* in $TMPDIR */

__attribute__((format(printf, 2, 3)))
static bool check(bool good, const char *fmt, ...)
{
    va_list ap;
    printf("%sok %u - ", good ? "" : "not ", ++tests);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    failures += !good;
    return good;
}

static unsigned long seed = 1;
static unsigned random_below(unsigned n) { return (unsigned)(mix(seed += 0x9E3779B97F4A7C15u) % n); }

/* 0: round robin, else the seed of a random one. */
static void schedule(unsigned n)
{
    settings->random = n != 0;
    settings->seed = n;
}

/* Runs the kernel on a clean `work`, which is copied back. */
static bool run(const char *kernel, unsigned teams, unsigned threads)
{
    struct ompgpu_kernel_entry entry = { .flags = OMPGPU_KERNEL_SYNC };
    struct ompgpu_function f = { .entry = &entry };
    struct ompgpu_env env = { .scratch = scratch, .thread_limit = threads };
    void *params[] = { &env, &device_work };
    for (unsigned i = 0; i < 512; i++)
        work.out[0][i] = work.out[1][i] = (struct affine){ .a = 1 };
    memset(work.wide, 0, sizeof work.wide);
    memset(work.word, 0, sizeof work.word);
    work.total = 0;
    memset(traced, 0, TRACES * sizeof *traced);
    if (dev->to_device(0, device_work, &work, sizeof work) || dev->function(0, module, kernel, &f) ||
        dev->launch(0, &f, teams, threads, params) || dev->sync(0) || dev->from_device(0, &work, device_work, sizeof work)) {
        printf("# %s: %s\n", kernel, ompgpu_plugin_message());
        return false;
    }
    return true;
}

static bool same(const struct affine *x, const struct affine *y) { return !memcmp(x, y, AFFINE); }

/* ------------------------------------------------------------------ warps */
/* As the comments of reduction.c draw it. */
static struct affine warp_reference(unsigned team, unsigned warp, unsigned mask, unsigned round)
{
    struct affine r[32];
    unsigned m = 0, contiguous = !(mask & (mask + 1));
    for (unsigned lane = 0; lane < 32; lane++)
        if (mask >> lane & 1)
            r[m++] = element(team, warp * 32 + lane, round);
    for (unsigned d = 16; contiguous && d; d /= 2)
        for (unsigned i = 0; i + d < m && i < d; i++)
            compose(&r[i], &r[i + d]);
    for (unsigned i = 1; !contiguous && i < m; i++)        /* neighbours: in order */
        compose(&r[0], &r[i]);
    return r[0];
}

static unsigned random_mask(unsigned lanes)
{
    unsigned all = lanes >= 32 ? ~0u : (1u << lanes) - 1, mask = 0;
    switch (random_below(6)) {
    case 0: return all;
    case 1: return all >> random_below(lanes < 32 ? lanes : 32);
    case 2: mask = 1u << random_below(32); break;
    case 3: mask = 0xaaaaaaaa; break;
    case 4: mask = ~(1u << random_below(32)); break;
    default: mask = random_below(~0u) & (random_below(2) ? ~0u : random_below(~0u));
    }
    return mask & all;
}

static bool one_lanes_case(unsigned threads)
{
    unsigned warps = (threads + 31) / 32, want[TRACES] = { 0 };
    work.round = random_below(16);
    for (unsigned t = 0; t < 4; t++)
        for (unsigned k = 0; k < warps; k++)
            work.masks[t][k] = random_mask(threads - k * 32);
    if (!run("lanes", 4, threads))
        return false;
    for (unsigned t = 0; t < 4; t++)
        for (unsigned k = 0; k < warps; k++) {
            unsigned mask = work.masks[t][k], sum = 0, n = (unsigned)__builtin_popcount(mask);
            if (!mask)
                continue;
            struct affine r = warp_reference(t, k, mask, work.round);
            for (unsigned lane = 0; lane < 32; lane++)
                sum += mask >> lane & 1 ? (unsigned)element(t, k * 32 + lane, work.round).sum : 0;
            r.count |= (unsigned)__builtin_ctz(mask) << 16;
            if (!same(&work.out[0][t * 32 + k], &r) || work.word[t * 32 + k] != sum) {
                printf("# team %u, warp %u of %u threads, lanes 0x%08x\n", t, k, threads, mask);
                return false;
            }
            want[mask == ~0u ? TRACE_FULL : mask & (mask + 1) ? TRACE_DISPERSED : TRACE_PARTIAL] += n;
            want[TRACE_REDUX] += n;
        }
    if (memcmp(want, traced, sizeof want))
        printf("# %u full, %u partial, %u dispersed, %u redux; expected %u, %u, %u, %u\n", traced[0], traced[1], traced[2], traced[3], want[0],
               want[1], want[2], want[3]);
    return !memcmp(want, traced, sizeof want);
}

static void test_lanes(void)
{
    unsigned cases = quick ? 5 : thorough ? 2000 : 40;
    bool good = true;
    for (unsigned i = 0; i < cases && good; i++) {
        schedule(i % 3 ? i : 0);
        good = one_lanes_case(i % 2 ? 1 + random_below(1024) : 32 * (1 + random_below(32)));
    }
    check(good, "%u launches with random sets of lanes: the result, its order, its lane and the algorithm", cases);
}

/* ------------------------------------------------------------------ teams */
static struct affine sum_of(unsigned teams, unsigned threads, unsigned team0, unsigned round)
{
    struct affine all = { .a = 1 };
    for (unsigned t = team0; t < team0 + teams; t++)
        for (unsigned k = 0; k < threads; k++) {
            struct affine e = element(t, k, round);
            compose(&all, &e);
        }
    return all;
}

/* The same members; the order, b, is the algorithm's affair. */
static bool complete(const struct affine *got, unsigned teams, unsigned threads, unsigned team0, unsigned round)
{
    struct affine want = sum_of(teams, threads, team0, round);
    return got->sum == want.sum && got->a == want.a && got->count == want.count;
}

static bool wide_complete(const struct wide *got, unsigned teams, unsigned threads, unsigned team0)
{
    unsigned want = (unsigned)sum_of(teams, threads, team0, 0).sum;
    for (unsigned i = 0; i < 25; i++)
        if (got->w[i] != want * (i + 1))
            return false;
    return true;
}

static bool one_team_case(const char *kernel, unsigned threads, unsigned n, bool brief)
{
    const unsigned teams = 2;
    struct affine first[2][2];
    work.threads = n;
    work.brief = brief;
    for (unsigned again = 0; again < (quick || brief ? 2 : 3); again++) {
        schedule(again ? again + n : 0);
        if (!run(kernel, teams, threads))
            return false;
        for (unsigned t = 0; t < teams; t++) {
            for (unsigned round = 0; round < 2; round++) {
                if (!again)
                    first[round][t] = work.out[round][t];
                if (!complete(&work.out[round][t], 1, n, t, round) || !same(&work.out[round][t], &first[round][t]))
                    return false;
            }
            if (brief)
                continue;
            if (!wide_complete(&work.wide[t], 1, n, t) || work.word[t] != (unsigned)sum_of(1, n, t, 0).sum)
                return false;
        }
    }
    return true;
}

static const unsigned sizes[] = { 1, 2, 31, 32, 33, 63, 64, 65, 100, 256, 500, 992, 1000, 1023, 1024 };
enum { SIZES = sizeof sizes / sizeof *sizes };

/* The sizes above with all records; in the long form every size there is, an eighth of them with all records and a quarter also as a part of a team. */
static void test_teams(void)
{
    unsigned cases = quick ? 3 : SIZES + (thorough ? 1024 : 4);
    static const unsigned quick_sizes[] = { 33, 100, 256 };
    for (unsigned i = 0; i < cases; i++) {
        unsigned n = quick ? quick_sizes[i] : i < SIZES ? sizes[i] : thorough ? i - SIZES + 1 : 1 + random_below(1024), more = n + random_below(1025 - n);
        bool brief = i >= SIZES && thorough && n % 8, good = one_team_case("team", n, n, brief);
        bool full = n % 32 || n == 1 || !traced[TRACE_PARTIAL] || n > 32, redux = brief || n == 1 || traced[TRACE_REDUX] > 0;
        bool exact = n == 1 || traced[TRACE_FULL] == 2 * (brief ? 2 : 3) * (n / 32 * 32);
        if (!check(good && full && redux && exact, "a team of %u; whole warps by the full algorithm", n))
            printf("# %u full, %u partial, %u dispersed, %u redux\n", traced[0], traced[1], traced[2], traced[3]);
        if (i < SIZES || !thorough || n % 4 == 0)
            check(one_team_case("part", more, n, brief), "%u threads of a team of %u", n, more);
    }
}

/* ------------------------------------------------------------------ leagues */
static bool counter_is_zero(void)
{
    unsigned counter = 1;
    return !dev->from_device(0, &counter, scratch, sizeof counter) && !counter;
}

enum { WIDE = 1, WORD = 2, ATOMIC = 4, TEAMS = 8, ALL = 15 };
static bool one_league_case(unsigned teams, unsigned threads, unsigned kinds)
{
    struct affine first = { 0 };
    for (unsigned again = 0; again < (quick || kinds != ALL ? 2 : 3); again++) {
        schedule(again * (teams + threads));
        if (!run("league", teams, threads) || !counter_is_zero())
            return false;
        if (!again)
            first = work.out[0][0];
        if (!complete(&work.out[0][0], teams, threads, 0, 0) || !same(&work.out[0][0], &first))
            return false;
    }
    if (kinds & WIDE && (!run("league_wide", teams, threads) || !wide_complete(&work.wide[0], teams, threads, 0)))
        return false;
    if (kinds & WORD && (!run("league_word", teams, threads) || work.word[0] != (unsigned)sum_of(teams, threads, 0, 0).sum))
        return false;
    if (kinds & ATOMIC && (!run("atomic", teams, threads) || work.total != sum_of(teams, threads, 0, 0).sum))
        return false;
    return !(kinds & TEAMS) || (run("teams", teams, 1) && complete(&work.out[0][0], teams, 1, 0, 0) && counter_is_zero());
}

/* The geometries below with all records; then random ones, of few threads in all but for one in 25, with records that take turns. */
static void test_leagues(void)
{
    static const struct { unsigned teams, threads; } some[] = {
        { 1, 1 }, { 1, 100 }, { 2, 1 }, { 3, 1024 }, { 5, 33 }, { 32, 64 }, { 33, 32 }, { 40, 96 }, { 300, 48 }, { 5000, 2 }, { 1025, 32 },
    }, few[] = { { 5, 33 }, { 170, 40 } };
    unsigned cases = quick ? 2 : 11 + (thorough ? 1000 : 6);
    for (unsigned i = 0; i < cases; i++) {
        unsigned teams = quick ? few[i].teams : i < 11 ? some[i].teams : 1 + random_below(i % 8 ? 60 : 5000);
        unsigned threads = quick ? few[i].threads : i < 11 ? some[i].threads : 1 + random_below(1024);
        unsigned most = !thorough ? 12000 : i % 25 ? 6000 : 60000;
        if (teams * threads > most && i >= 11)
            threads = 1 + threads % (teams < most ? most / teams : 1);
        check(one_league_case(teams, threads, i < 11 || !thorough ? ALL : 1u << i % 4), "%u teams of %u", teams, threads);
    }
}

static void test_same_bits(void)
{
    struct affine first;
    bool good = true;
    for (unsigned i = 0; i < (quick ? 4 : 100) && good; i++) {
        schedule(i);
        good = run("league", 37, 70);
        first = i ? first : work.out[0][0];
        good = good && same(&first, &work.out[0][0]);
    }
    check(good, "the same order under a hundred schedules");
    schedule(0);
}

/* ------------------------------------------------------------------ the image */
__attribute__((format(printf, 1, 2)))
static bool shell(const char *fmt, ...)
{
    char command[4096];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(command, sizeof command, fmt, ap);
    va_end(ap);
    bool good = system(command) == 0;
    if (!good)
        printf("# failed: %s\n", command);
    return good;
}

static const char *setting(const char *variable, const char *otherwise)
{
    const char *value = getenv(variable);
    return value && *value ? value : otherwise;
}

/* The runtime as it was built, but for reduction.c. */
static bool build(void)
{
    const char *clang = setting("OMPGPU_CLANG", "clang-22"), *flags = "--target=x86_64-pc-linux-gnu -std=gnu11 -fconvergent-functions -fPIC -O2 -w "
                                                                      "-Xclang -disable-llvm-passes -emit-llvm -I. -c";
    return shell("printf '%%s\\n' 'extern unsigned __ompgpu_traced[];' '#define TRACE(a) __atomic_fetch_add(&__ompgpu_traced[TRACE_ ## a], 1, 0)' "
                 "'enum { TRACE_FULL, TRACE_PARTIAL, TRACE_DISPERSED, TRACE_REDUX };' >%s/trace.h", directory) &&
           shell("%s %s -include %s/trace.h -x c %s -o %s/reduction.bc", clang, flags, directory,
                 setting("RT_REDUCTION_SOURCE", "devicertl/reduction.c"), directory) &&
           shell("%s %s -x c -DDEVICE -include devicertl/ompgpu_device.h %s -o %s/test.bc", clang, flags, __FILE__, directory) &&
           shell("llvm-link-22 -o %s/all.bc %s/test.bc %s/reduction.bc $(ls %s/devicertl/x86_64/*.bc | grep -v /reduction.bc)", directory,
                 directory, directory, setting("OMPGPU_OBJ", "obj")) &&
           shell("%s -shared -fPIC -O%d -Wno-override-module -Wno-pass-failed -o %s/all.so %s/all.bc -lm", clang, quick ? 0 : 1, directory, directory);
}

static void *read_image(size_t *size)
{
    char path[sizeof directory + 16], *data;
    snprintf(path, sizeof path, "%s/all.so", directory);
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) || !(data = malloc(*size = (size_t)ftell(f))))
        return NULL;
    rewind(f);
    if (fread(data, 1, *size, f) != *size)
        *size = 0;
    fclose(f);
    return data;
}

static bool load(void)
{
    size_t size = 0, bytes;
    void *address;
    image = read_image(&size);
    if (!image || dev->load(0, NULL, 0, image, size, &module) || dev->variable(0, module, "__ompgpu_traced", &address, &bytes) ||
        dev->alloc(0, 128 + 5000 * 112, &scratch) || dev->alloc(0, sizeof work, &device_work) || dev->to_device(0, scratch, &work, 128)) {
        printf("# %s\n", ompgpu_plugin_message());
        return false;
    }
    traced = address;                 /* the emulated device's memory is the host's */
    return true;
}

int main(void)
{
    struct ompgpu_device_info info;
    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("OMPGPU_EMU_MEMORY", "64M", 1);
    setenv("OMPGPU_EMU_THREADS", "3", 1);
    quick = getenv("RT_REDUCTION_QUICK") != NULL;
    thorough = getenv("OMPGPU_LONG") != NULL && !quick;
    snprintf(directory, sizeof directory, "%s/rt_reduction-XXXXXX", setting("TMPDIR", "/tmp"));
    if (dev->num_devices() < 1 || dev->open(0, &info) || !mkdtemp(directory)) {
        printf("Bail out! no emulated device\n");
        return 1;
    }
    settings = (struct emu_settings *)ompgpu_emu_settings();
    if (!build() || !load()) {
        printf("Bail out! no image\n");
        shell("rm -rf %s", directory);
        return 2;
    }
    test_lanes();
    test_teams();
    test_leagues();
    test_same_bits();
    shell("rm -rf %s", directory);
    dev->unload(0, module);
    free(image);
    printf("1..%u\n", tests);
    return failures != 0;
}
#endif
