/* rt_devicertl.c - the device runtime (devicertl/) on the emulated device.
 *
 * This file is both sides.  With -DDEVICE it is device code, in the shape that codegen writes (codegen/c/codegen.h); the test program
 * compiles it so, links the runtime's bitcode to it, loads the result and launches the kernels.  It does so with the plain LLVM
 * pipeline and with omp-device, and starts itself again under other schedules.  A kernel notes the first line whose CHECK failed.
 * The same kernels go to PTX, where the text shows what must not be in it. */

/* What both sides know. */
#ifdef __NVPTX__                      /* only looked at */
#define RECORDS(X) X(16, long) X(64, long)
#else
#define RECORDS(X) X(1, char) X(2, short) X(3, char) X(4, int) X(8, int) X(12, int) X(16, long) X(24, int) X(64, long) X(100, int)
#endif
#define MAX_RECORD 100
#define RECORD_MEMBER(i, team, thread) (0x1234567ul * (i) + (team) * 0x10005ul + (thread) * 0x700000007ul + 1)    /* cut to the type */

/* ------------------------------------------------------------------ device code */
#ifdef DEVICE
#ifdef __NVPTX__
#define KERNEL(id, mode, type, arg)                                                                                   \
    __OMPGPU_INFO(id, mode, __LINE__, 1, 0, 0, 1, "test", "rt_devicertl.c", "target")                                 \
    __attribute__((nvptx_kernel)) void id(struct __ompgpu_env env, int *bad, type arg)                                \
    { if (__ompgpu_kernel_begin(&env, __OMPGPU_##mode)) { id##__region(&env, bad, arg); __ompgpu_kernel_end(&env, __OMPGPU_##mode); } }
#else
#define KERNEL(id, mode, type, arg)                                                                                   \
    __OMPGPU_INFO(id, mode, __LINE__, 1, 0, 0, 1, "test", "rt_devicertl.c", "target")                                 \
    void id(void **p);                                                                                                \
    void id(void **p)                                                                                                 \
    { struct __ompgpu_env *env = p[0];                                                                                \
      if (__ompgpu_kernel_begin(env, __OMPGPU_##mode)) {                                                              \
          id##__region(env, *(int **)p[1], *(type *)p[2]); __ompgpu_kernel_end(env, __OMPGPU_##mode); } }
#endif
#define REGION(id, type, arg) __OMPGPU_REGION void id##__region(struct __ompgpu_env *env, int *bad, type arg)
#define CHECK(c) do { if (!(c)) note(bad, __LINE__); } while (0)

static void note(int *bad, int line)
{
    int none = 0;
    __atomic_compare_exchange_n(bad, &none, line, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
static void *new(unsigned long size) { return __ompgpu_heap_alloc(1, size, 16, "no room", __LINE__); }
static void add(int *p, int n) { __atomic_fetch_add(p, n, __ATOMIC_RELAXED); }

int omp_get_thread_num(void), omp_get_num_threads(void), omp_get_max_threads(void), omp_get_team_num(void), omp_get_num_teams(void),
    omp_in_parallel(void), omp_get_level(void), omp_get_active_level(void), omp_get_ancestor_thread_num(int), omp_get_team_size(int),
    omp_get_thread_limit(void), omp_get_device_num(void), omp_test_lock(void *), omp_test_nest_lock(void *);
void omp_set_num_threads(int), omp_init_lock(void *), omp_set_lock(void *), omp_unset_lock(void *), omp_init_nest_lock(void *),
    omp_set_nest_lock(void *), omp_unset_nest_lock(void *);
double omp_get_wtime(void), omp_get_wtick(void);
void __assert_fail(const char *, const char *, unsigned, const char *);

/* ------------------------------------------------------------------ reductions: every member of a record is a sum of its own */
#define MEMBERS(N, T) _Pragma("clang loop unroll(full)") for (unsigned i = 0; i < N / sizeof(T); i++)
#define RECORD_KERNELS(N, T)                                                                                          \
    struct record##N { unsigned T b[N / sizeof(T)]; };                                                                \
    __OMPGPU_INLINE void combine##N(void *into, const void *from)                                                     \
    {                                                                                                                 \
        MEMBERS(N, T)                                                                                                 \
            ((struct record##N *)into)->b[i] += ((const struct record##N *)from)->b[i];                               \
    }                                                                                                                 \
    __OMPGPU_INLINE void fill##N(struct record##N *r, int team, int thread)                                           \
    {                                                                                                                 \
        MEMBERS(N, T)                                                                                                 \
            r->b[i] = (unsigned T)RECORD_MEMBER(i, (unsigned)team, (unsigned)thread);                                                                \
    }                                                                                                                 \
    REGION(parallel_##N, unsigned char *, out)                                                                        \
    {                                                                                                                 \
        (void)env, (void)bad;                                                                                         \
        for (int round = 0; round < 2; round++) {          /* the second one in the next turn */                      \
            struct record##N r, rec, tmp;                                                                                  \
            int team = __ompgpu_team_id();                                                                            \
            fill##N(&r, team, __ompgpu_thread_id() + round);                                                          \
            unsigned turn = (unsigned)round * __OMPGPU_EXCHANGES(sizeof r);                                              \
            if (__ompgpu_reduce_array(&r, 1, &rec, &tmp, sizeof r, 1, combine##N, turn))                                          \
                MEMBERS(N, T)                                                                                         \
                    ((unsigned T *)out)[(team * 2 + round) * MAX_RECORD + i] += r.b[i];                               \
        }                                                                                                             \
    }                                                                                                                 \
    KERNEL(parallel_##N, SPMD, unsigned char *, out)                                                                  \
    REGION(league_##N, unsigned char *, out)                                                                          \
    {                                                                                                                 \
        struct record##N r, tmp;                                                                                      \
        (void)bad;                                                                                                    \
        fill##N(&r, __ompgpu_team_id(), __ompgpu_thread_id());                                                        \
        if (__ompgpu_reduce_league(env, &r, &tmp, sizeof r, combine##N, 0))                                              \
            MEMBERS(N, T)                                                                                             \
                ((unsigned T *)out)[i] += r.b[i];                                                                     \
    }                                                                                                                 \
    KERNEL(league_##N, SPMD, unsigned char *, out)                                                                    \
    REGION(teams_##N, unsigned char *, out)                                                                           \
    {                                                                                                                 \
        struct record##N r, tmp;                                                                                      \
        (void)bad;                                                                                                    \
        fill##N(&r, __ompgpu_team_id(), 0);                                                                           \
        if (__ompgpu_reduce_teams(env, &r, &tmp, sizeof r, combine##N))                                               \
            MEMBERS(N, T)                                                                                             \
                ((unsigned T *)out)[i] += r.b[i];                                                                     \
    }                                                                                                                 \
    KERNEL(teams_##N, GENERIC, unsigned char *, out)
RECORDS(RECORD_KERNELS)

/* Shapes of the samples, for the look at PTX; sum also shows that a float sum is the same bits each time. */
struct sum_record { float s; };
__OMPGPU_INLINE void sum_combine(void *a, const void *b) { ((struct sum_record *)a)->s += ((const struct sum_record *)b)->s; }
REGION(sum, float *, x)
{
    int n = 100000, threads = __ompgpu_num_threads(), stride = __ompgpu_num_teams() * threads;
    struct sum_record r = { 0 }, tmp;
    (void)bad;
    for (int i = __ompgpu_team_id() * threads + __ompgpu_thread_id(); i < n; i += stride)
        r.s += 1.0f / (float)(i + 1) + x[1];
    if (__ompgpu_reduce_league(env, &r, &tmp, sizeof r, sum_combine, 0))
        x[0] += r.s;
}
KERNEL(sum, SPMD, float *, x)

struct pair_record { float s; double m; };
__OMPGPU_INLINE void pair_combine(void *a_, const void *b_)
{
    struct pair_record *a = a_;
    const struct pair_record *b = b_;
    a->s += b->s;
    a->m = a->m > b->m ? a->m : b->m;
}
REGION(pair, double *, x)
{
    struct pair_record r = { (float)__ompgpu_thread_id(), x[__ompgpu_thread_id()] }, tmp;
    (void)bad;
    if (__ompgpu_reduce_league(env, &r, &tmp, sizeof r, pair_combine, 0)) {
        x[0] = r.s;
        x[1] = r.m;
    }
}
KERNEL(pair, SPMD, double *, x)

REGION(axpy, float *, x)
{
    int threads = __ompgpu_num_threads(), stride = __ompgpu_num_teams() * threads;
    (void)env, (void)bad;
    for (int i = __ompgpu_team_id() * threads + __ompgpu_thread_id(); i < 1000; i += stride)
        x[i] += 2 * x[i + 1000];
}
KERNEL(axpy, SPMD, float *, x)

/* ------------------------------------------------------------------ parallel regions of a generic kernel */
#define COUNTS 1032                   /* ints a team */
struct visit { int *bad, *count, want, sum, team_shared[1024]; };

static void combine_int(void *into, const void *from) { *(int *)into += *(const int *)from; }

__OMPGPU_PARALLEL void visit(void *c)
{
    struct visit *v = c;
    int *bad = v->bad, me = __ompgpu_thread_id(), n = __ompgpu_num_threads();
    CHECK(n == v->want && me >= 0 && me < n);
    CHECK(omp_get_thread_num() == me && omp_get_num_threads() == n);
    CHECK(omp_get_level() == 1 && omp_in_parallel() == (n > 1) && omp_get_active_level() == (n > 1));
    CHECK(omp_get_ancestor_thread_num(1) == me && omp_get_ancestor_thread_num(0) == 0 && omp_get_ancestor_thread_num(2) == -1);
    CHECK(omp_get_team_size(1) == n && omp_get_team_size(0) == 1 && omp_get_max_threads() == 1);
    add(&v->count[me], 1);
    for (int round = 0; round < 3; round++) {
        v->team_shared[me] = me * 3 + round;
        __ompgpu_barrier(__LINE__);
        int next = (me + 1) % n;
        CHECK(v->team_shared[next] == next * 3 + round);
        __ompgpu_barrier(__LINE__);
        int r = me + 1, tmp;
        if (__ompgpu_reduce_parallel(&r, &tmp, sizeof r, combine_int, 0))
            v->sum += r;
    }
    __ompgpu_barrier(__LINE__);
    CHECK(v->sum == 3 * (n * (n + 1) / 2));
}

/* Regions of every size a team can have, in both directions. */
REGION(forks, int *, count)
{
    int limit = (int)env->thread_limit;
    struct visit *v = new(sizeof *v);
    count += __ompgpu_team_id() * COUNTS;
    CHECK(__ompgpu_thread_id() == 0 && __ompgpu_num_threads() == 1 && omp_get_level() == 0 && !omp_in_parallel());
    CHECK(omp_get_max_threads() == limit && omp_get_thread_limit() == limit && omp_get_device_num() == 3);
    for (int k = 0; k <= 2 * limit; k++) {
        int n = k <= limit ? k : 2 * limit + 1 - k;
        *v = (struct visit){ bad, count, n ? n : limit, 0, { 0 } };
        __ompgpu_parallel(visit, v, n, 1);
        CHECK(__ompgpu_thread_id() == 0 && __ompgpu_num_threads() == 1 && omp_get_level() == 0);
    }
    *v = (struct visit){ bad, count, 1, 0, { 0 } };
    __ompgpu_parallel(visit, v, limit, 0);                 /* if(0) */
    v->want = limit, v->sum = 0;
    __ompgpu_parallel(visit, v, 5000, 1);                  /* more than there are */
    omp_set_num_threads(2);
    v->want = limit < 2 ? limit : 2, v->sum = 0;
    CHECK(omp_get_max_threads() == v->want);
    __ompgpu_parallel(visit, v, 0, 1);
    v->want = limit < 3 ? limit : 3, v->sum = 0;
    __ompgpu_parallel(visit, v, 3, 1);                     /* the clause wins */
    __ompgpu_barrier(__LINE__);                            /* sequential: nothing to wait for */
}
KERNEL(forks, GENERIC, int *, count)

/* ------------------------------------------------------------------ nested regions */
struct nest { int *bad, *count, outer, depth, level; };
__OMPGPU_PARALLEL void inner(void *c)
{
    struct nest *n = c;
    int *bad = n->bad;
    CHECK(__ompgpu_thread_id() == 0 && __ompgpu_num_threads() == 1);
    CHECK(omp_get_level() == n->level && omp_get_ancestor_thread_num(1) == n->outer && omp_get_ancestor_thread_num(n->level) == 0);
    CHECK(omp_get_team_size(n->level) == 1 && omp_get_ancestor_thread_num(n->level + 1) == -1);
    __ompgpu_barrier(__LINE__);
    int r = 7, tmp;
    CHECK(__ompgpu_reduce_parallel(&r, &tmp, sizeof r, combine_int, 0) && r == 7);
    add(n->count, 1);
    if (n->depth) {
        struct nest deeper = { bad, n->count, n->outer, n->depth - 1, n->level + 1 };
        __ompgpu_parallel(inner, &deeper, 4, 1);
        CHECK(omp_get_level() == n->level);
    }
}
__OMPGPU_PARALLEL void outer(void *c)
{
    struct nest *n = c;
    int *bad = n->bad, me = __ompgpu_thread_id(), threads = __ompgpu_num_threads();
    struct nest mine = { bad, n->count, me, me % 4, 2 };
    if (me % 3 != 1)
        __ompgpu_parallel(inner, &mine, 0, 1);
    CHECK(__ompgpu_thread_id() == me && __ompgpu_num_threads() == threads && omp_get_level() == 1);
    __ompgpu_barrier(__LINE__);
}
REGION(nested_spmd, int *, count)
{
    struct nest n = { bad, count, 0, 0, 0 };
    (void)env;
    outer(&n);
}
KERNEL(nested_spmd, SPMD, int *, count)
REGION(nested_generic, int *, count)
{
    struct nest *n = new(sizeof *n);
    *n = (struct nest){ bad, count, 0, 0, 0 };
    __ompgpu_parallel(outer, n, (int)env->thread_limit * 2 / 3, 1);
}
KERNEL(nested_generic, GENERIC, int *, count)

/* ------------------------------------------------------------------ loops with dynamic schedules */
struct loop { int *bad, *hits, sched; unsigned long long trip, chunk; };
__OMPGPU_PARALLEL void run_loop(void *c)
{
    struct loop *l = c;
    int *bad = l->bad;
    unsigned long long lo, hi, last = 0;
    __ompgpu_dispatch_init(l->sched, l->trip, l->chunk);
    while (__ompgpu_dispatch_next(&lo, &hi)) {
        CHECK(lo < hi && hi <= l->trip && lo >= last);
        CHECK(hi - lo >= l->chunk || hi == l->trip);
        CHECK(l->sched != 2 || hi - lo <= (l->chunk ? l->chunk : 1) || __ompgpu_num_threads() == 1);
        last = hi;
        for (unsigned long long i = lo; i < hi && l->hits; i++)
            add(&l->hits[i], 1);
    }
}
__OMPGPU_PARALLEL void run_loops(void *c)                             /* one after the other, the threads not in step */
{
    struct loop *l = c;
    run_loop(l);
    run_loop(l);
    __ompgpu_barrier(__LINE__);
    run_loop(l);
}
__OMPGPU_PARALLEL void loop_in_loop(void *c)
{
    struct loop *l = c;
    unsigned long long lo, hi;
    __ompgpu_dispatch_init(2, 20, 1);
    while (__ompgpu_dispatch_next(&lo, &hi))
        for (; lo < hi; lo++)
            __ompgpu_parallel(run_loop, l, 0, 1);
}
static const unsigned long long loop_trips[] = { 0, 1, 2, 31, 100, 301 }, loop_chunks[] = { 0, 1, 7, 64, 1000, ~0ull };

REGION(loops_spmd, int *, hits)
{
    (void)env;
    for (int sched = 2; sched <= 3; sched++)
        for (int t = 0; t < 6; t++)
            for (int k = 0; k < 6; k++) {
                struct loop l = { bad, hits, sched, loop_trips[t], loop_chunks[k] };
                run_loop(&l);
            }
    /* a trip count near the end of the range: the chunks must not wrap around */
    struct loop far = { bad, 0, 2, ~0ull, 1ull << 62 };
    run_loop(&far);
    far.sched = 3;
    run_loop(&far);
    struct loop l = { bad, hits, 3, 301, 1 };
    loop_in_loop(&l);
}
KERNEL(loops_spmd, SPMD, int *, hits)
REGION(loops_generic, int *, hits)
{
    struct loop *l = new(sizeof *l);
    int limit = (int)env->thread_limit;
    *l = (struct loop){ bad, hits, 2, 301, 3 };
    __ompgpu_parallel(run_loops, l, limit, 1);
    __ompgpu_parallel(run_loops, l, limit / 2 + 1, 1);
    l->sched = 3;
    __ompgpu_parallel(run_loops, l, limit - 1, 1);
    __ompgpu_parallel(run_loops, l, 0, 0);                 /* by one thread */
    run_loop(l);                                           /* sequential */
    __ompgpu_parallel(loop_in_loop, l, 0, 1);
}
KERNEL(loops_generic, GENERIC, int *, hits)

/* Batches: iterations id, id + count … below n and no others, whatever wraps around. */
#define BATCHES(W, T)                                                                                                 \
    static void check_batches##W(int *bad, T id, T count, T n, unsigned size)                                         \
    {                                                                                                                 \
        T next = id, rest = id < n ? (n - id - 1) / count + 1 : 0;                                                    \
        unsigned at_most = 200;                                                                                       \
        for (struct __ompgpu_batches##W b = __ompgpu_batches##W(id, count, n, size); b.size;                          \
             __ompgpu_next_size##W(&b))                                                                               \
            for (; b.i.more && at_most; __ompgpu_next_batch##W(&b), at_most--)                                        \
                for (unsigned u = 0; u < b.size; u++, next += count, rest--)                                          \
                    CHECK(rest > 0 && __ompgpu_at##W(&b, u) == next && (b.size == 1 || rest + u >= b.size));          \
        CHECK(!rest);                                                                                                 \
    }
BATCHES(32, unsigned)
BATCHES(64, unsigned long long)
#define STRIDES(T) { 1, 2, 3, (T)-1 / 9, (T)-1 / 8, (T)-1 / 8 + 1, (T)-1 / 4, (T)-1 / 4 + 1, (T)-1 / 2, (T)-1 }
static const unsigned counts32[] = STRIDES(unsigned);
static const unsigned long long counts64[] = STRIDES(unsigned long long);

/* Larger batches for a team of one size, then as above. */
static void check_team_batches(int *bad)
{
    for (unsigned team = 1; team <= 3; team++)
        for (unsigned count = 1; count <= 3; count++)
            for (unsigned n = 0; n <= 150; n++) {
                const unsigned sizes = 16 + __OMPGPU_BATCH_TEAM * team;
                check_batches32(bad, n % count, count, n, sizes);
                check_batches64(bad, n % count, count, n, sizes);
            }
}

REGION(batches, int *, unused)
{
    (void)env, (void)unused;
    check_team_batches(bad);
    for (unsigned size = 1; size <= 4; size *= 2)
        for (int c = 0; c < 10; c++)
            for (unsigned n = 0; n < 20; n++)              /* up to the most iterations that there can be */
                for (unsigned half = 0; half <= 1; half++) {
                    const unsigned count32 = counts32[c];
                    const unsigned long long count64 = counts64[c];
                    check_batches32(bad, half * (count32 / 2), count32, count32 < 4 ? n : -(count32 / 8) * (20 - n), size);
                    check_batches64(bad, half * (count64 / 2), count64, count64 < 4 ? n : -(count64 / 8) * (20 - n), size);
                }
}
KERNEL(batches, SPMD, int *, unused)

/* ------------------------------------------------------------------ critical sections and locks */
REGION(locks, int *, data)            /* three counts, then critical lock, lock, nest lock */
{
    (void)env;
    unsigned *critical = (unsigned *)&data[3];
    void *lock = &data[4], *nest = &data[6];
    for (int i = 0; i < 3; i++) {
        __ompgpu_critical_begin(critical);
        data[0] = data[0] + 1;
        __ompgpu_critical_end(critical);
        omp_set_lock(lock);
        data[1] = data[1] + 1;
        CHECK(!omp_test_lock(lock));
        omp_unset_lock(lock);
        omp_set_nest_lock(nest);
        omp_set_nest_lock(nest);
        data[2] = data[2] + 1;
        CHECK(omp_test_nest_lock(nest) == 3);
        omp_unset_nest_lock(nest);
        omp_unset_nest_lock(nest);
        omp_unset_nest_lock(nest);
    }
    __ompgpu_flush();
}
KERNEL(locks, SPMD, int *, data)
REGION(critical_plain, int *, data)   /* without other threads of the team in between: no fibers */
{
    (void)env, (void)bad;
    __ompgpu_critical_begin((unsigned *)&data[2]);
    data[0] = data[0] + 1;
    __ompgpu_critical_end((unsigned *)&data[2]);
}
KERNEL(critical_plain, SPMD, int *, data)

/* ------------------------------------------------------------------ shared storage */
struct cell { int *bad; char *fixed, *p[12]; };
__OMPGPU_PARALLEL void look(void *c)
{
    struct cell *cell = c;
    int *bad = cell->bad, me = __ompgpu_thread_id();
    for (int i = 0; i < 12; i++)
        CHECK(cell->p[i][0] == i && cell->p[i][299] == i + 1);
    CHECK(!__ompgpu_heap_alloc(0, 300, 16, "inside", 0) && !__ompgpu_heap_mark(0) && !__ompgpu_heap_slot(0, 64));
    cell->fixed[me] = (char)me;
}
REGION(storage, int *, unused)
{
    char *first = 0, *fixed = __ompgpu_heap_slot(1, 0);
    (void)unused;
    CHECK(__ompgpu_heap_slot(1, 64) == fixed + 64 && (char *)__ompgpu_heap_mark(1) == fixed + env->heap_fixed);
    for (int round = 0; round < 50; round++) {
        char *mark = __ompgpu_heap_mark(1);
        struct cell *cell = new(sizeof *cell);
        cell->bad = bad;
        cell->fixed = fixed;
        for (int i = 0; i < 12; i++) {
            char *p = cell->p[i] = __ompgpu_heap_alloc(1, 300, i % 2 ? 16 : 256, "no room", 0);
            CHECK((unsigned long)p % (i % 2 ? 16 : 256) == 0 && p >= mark && p + 300 <= fixed + env->heap_bytes);
            CHECK(!i || p >= cell->p[i - 1] + 300);
            p[0] = (char)i, p[299] = (char)(i + 1);
        }
        if (!first)
            first = cell->p[0];
        CHECK(cell->p[0] == first);                        /* nothing was left behind */
        __ompgpu_parallel(look, cell, 0, 1);
        for (int i = 0; i < 12; i++)
            cell->p[i][0] = cell->p[i][299] = 0;
        for (int i = 0; i < (int)env->thread_limit; i++)
            CHECK(fixed[i] == (char)i);
        __ompgpu_heap_release(1, mark);
    }
    unsigned long room = fixed + env->heap_bytes - (char *)__ompgpu_heap_mark(1);
    char *all = __ompgpu_heap_alloc(1, room, 16, "exactly", 0);
    all[room - 1] = 1;
    CHECK(__ompgpu_heap_alloc(1, 0, 16, "nothing", 0) == all + room);
}
KERNEL(storage, GENERIC, int *, unused)

/* Copies: threads together, each alone, a serialised region; then the next region has other slices. */
__OMPGPU_PARALLEL void slices(void *c)
{
    struct cell *cell = c;
    int *bad = cell->bad, me = __ompgpu_thread_id(), n = __ompgpu_num_threads();
    unsigned long distance = __ompgpu_copy_distance();
    CHECK(distance % __OMPGPU_COPY_UNIT == 0 && distance <= (unsigned long)(6000 / 16 / n * 16));
    for (int round = 0; round < 3; round++) {
        char *p = __ompgpu_copy_alloc(0, 1, "no room", 0), *q = me % 3 ? __ompgpu_copy_alloc(0, me % 2 + 1, "no room", 0) : 0;
        CHECK(p - me * distance == cell->fixed && (unsigned long)p % 16 == 0 && (!q || q == p + 16));
        __builtin_memset(p, me, 16);
        if (q)
            __builtin_memset(q, me + 1, 16 * (me % 2 + 1));
        __ompgpu_barrier(0);
        CHECK((unsigned char)p[0] == me && (unsigned char)p[15] == me && (!q || (q[0] == me + 1 && q[16 * (me % 2 + 1) - 1] == me + 1)));
        for (int i = 0; i < n; i++)
            CHECK((unsigned char)cell->fixed[i * distance] == i);
        if (q)
            __ompgpu_copy_free(0, q, me % 2 + 1);
        __ompgpu_copy_free(0, p, 1);
        __ompgpu_barrier(0);
    }
    CHECK(__ompgpu_copy_alloc(0, distance / 16, "exactly", 0) == cell->fixed + me * distance);
    __ompgpu_copy_free(0, cell->fixed + me * distance, distance / 16);
}
REGION(copies, int *, unused)
{
    (void)unused;
    for (int n = 1; n <= (int)env->thread_limit; n += n / 2 + 1) {
        struct cell *cell = __ompgpu_copy_alloc(1, (sizeof *cell + 15) / 16, "no room", 0);
        cell->bad = bad;
        cell->fixed = (char *)env->heap + (__ompgpu_team_id() + 1) * env->heap_bytes - env->heap_copies;
        CHECK((char *)cell == cell->fixed - (env->heap_bytes - env->heap_copies) + env->heap_fixed);     /* nothing was left behind */
        __ompgpu_parallel(slices, cell, n, 1);
        __ompgpu_copy_free(1, cell, (sizeof *cell + 15) / 16);
    }
}
KERNEL(copies, GENERIC, int *, unused)
REGION(copies_spmd, int *, unused)
{
    struct cell cell = { .bad = bad, .fixed = (char *)env->heap + (__ompgpu_team_id() + 1) * env->heap_bytes - env->heap_copies };
    (void)unused;
    slices(&cell);
}
KERNEL(copies_spmd, SPMD, int *, unused)
REGION(overflow, int *, x)            /* one byte more than there is, or a size that wraps */
{
    (void)bad;
    new(16);
    __ompgpu_heap_alloc(1, x[0] ? -8ul : env->heap_bytes - env->heap_fixed - 15, 16, "no room for x", 77);
}
KERNEL(overflow, GENERIC, int *, x)

/* ------------------------------------------------------------------ the rest */
REGION(sequential, int *, out)        /* generic, launched with one thread, or with many that have nothing to do */
{
    (void)env;
    double t = omp_get_wtime();
    CHECK(__ompgpu_thread_id() == 0 && __ompgpu_num_threads() == 1 && omp_get_level() == 0);
    CHECK(omp_get_team_num() == __ompgpu_team_id() && omp_get_num_teams() == __ompgpu_num_teams());
    CHECK(omp_get_wtime() >= t && omp_get_wtick() > 0);
    add(out, 1);
}
KERNEL(sequential, GENERIC, int *, out)
REGION(spmd_queries, int *, out)
{
    int n = __ompgpu_num_threads();
    CHECK(n == (int)env->thread_limit && omp_get_level() == 1 && omp_in_parallel() == (n > 1) && omp_get_max_threads() == 1);
    CHECK(omp_get_device_num() == 3 && omp_get_thread_num() == __ompgpu_thread_id());
    add(&out[__ompgpu_team_id() * n + __ompgpu_thread_id()], 1);
}
KERNEL(spmd_queries, SPMD, int *, out)

REGION(assertion, int *, x) { (void)env, (void)bad; if (__ompgpu_thread_id() == x[0]) __assert_fail("x < 3", "app.c", 12, "main"); }
KERNEL(assertion, SPMD, int *, x)
REGION(failing, int *, x) { (void)env, (void)bad; if (__ompgpu_thread_id() == x[0]) __ompgpu_fail("wrong index", 99); }
KERNEL(failing, SPMD, int *, x)
REGION(diverged, int *, x) { (void)env, (void)bad; if (__ompgpu_thread_id() < x[0]) __ompgpu_barrier(1234); }
KERNEL(diverged, SPMD, int *, x)
#ifdef __NVPTX__
int printf(const char *, ...);
void *memmove(void *, const void *, unsigned long);
unsigned long strlen(const char *);
double sin(double);
float powf(float, float);
REGION(library, double *, x)
{
    (void)env, (void)bad;
    memmove(x + 10, x, strlen((char *)x));
    x[0] = sin(x[1]) + powf((float)x[2], 3);
    printf("%d %c %f %s\n", 1, 'a', x[0], "text");
}
KERNEL(library, SPMD, double *, x)
#endif

/* ------------------------------------------------------------------ the test program */
#else
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hostrt/plugin.h"

static const struct ompgpu_plugin *const dev = &ompgpu_emu_plugin;
static void *module, *scratch, *heap, *bad_line;
enum { HEAP = 8192, HEAP_FIXED = 1024, HEAP_COPIES = 6000 / 16 * 16, HEAP_TEAMS = 300 };
static const char *way;               /* how the image at hand was made */
static bool thorough = true;          /* many team sizes, with OMPGPU_LONG all; else some */
static unsigned tests, failures;

#define COUNT(array) (sizeof(array) / sizeof *(array))

__attribute__((format(printf, 2, 3)))
static void check(bool good, const char *fmt, ...)
{
    va_list ap;
    printf("%sok %u - %s: ", good ? "" : "not ", ++tests, way);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    failures += !good;
}

static void skip(const char *what, const char *reason) { printf("ok %u - %s # SKIP %s\n", ++tests, what, reason); }

static void *device_new(size_t size)
{
    void *p = NULL, *zero = calloc(1, size);
    if (!zero || dev->alloc(0, size, &p) || dev->to_device(0, p, zero, size))
        printf("Bail out! %s\n", ompgpu_plugin_message()), exit(1);
    free(zero);
    return p;
}

/* 0, or the line of the CHECK that failed, or -1 when the launch did. */
static int launch(const char *kernel, bool sync, unsigned teams, unsigned threads, void *arg)
{
    struct ompgpu_kernel_entry entry = { .flags = sync ? OMPGPU_KERNEL_SYNC : 0 };
    struct ompgpu_function f = { .entry = &entry };
    struct ompgpu_env env = { .scratch = scratch, .device_num = 3, .thread_limit = threads, .heap = heap, .heap_bytes = HEAP, .heap_fixed = HEAP_FIXED,
                              .heap_copies = strncmp(kernel, "copies", 6) ? 0 : HEAP_COPIES };
    void *params[] = { &env, &bad_line, &arg, NULL };
    int line = 0;
    if (dev->to_device(0, bad_line, &line, sizeof line) || dev->function(0, module, kernel, &f) ||
        dev->launch(0, &f, teams, threads, params) || dev->sync(0) || dev->from_device(0, &line, bad_line, sizeof line))
        return -1;
    return line;
}

static void report(int line, const char *kernel)
{
    if (line > 0)
        printf("# %s: the CHECK in line %d failed\n", kernel, line);
    else if (line < 0)
        printf("# %s: %s\n", kernel, ompgpu_plugin_message());
}

static int launch_reported(const char *kernel, unsigned teams, unsigned threads, void *arg)
{
    int line = launch(kernel, true, teams, threads, arg);
    report(line, kernel);
    return line;
}

/* ------------------------------------------------------------------ reductions */
struct kind { unsigned size, member; };                    /* of a record, bytes */
static const struct kind kinds[] = {
#define KIND(N, T) { N, sizeof(T) },
    RECORDS(KIND)
};

static bool record_is(const unsigned char *got, struct kind kind, unsigned team0, unsigned teams, unsigned thread0, unsigned threads)
{
    for (unsigned i = 0; i < kind.size / kind.member; i++) {
        unsigned long want = 0;
        for (unsigned t = team0; t < team0 + teams; t++)
            for (unsigned k = thread0; k < thread0 + threads; k++)
                want += RECORD_MEMBER(i, t, k);
        if (memcmp(&got[i * kind.member], &want, kind.member))     /* little endian */
            return false;
    }
    return true;
}

static bool team_reduction(struct kind kind, unsigned teams, unsigned threads)
{
    unsigned char host[4 * 2 * MAX_RECORD * sizeof(long)];
    char name[32];
    size_t bytes = teams * 2 * MAX_RECORD * kind.member;
    void *out = device_new(bytes);
    snprintf(name, sizeof name, "parallel_%u", kind.size);
    bool good = launch_reported(name, teams, threads, out) == 0 && !dev->from_device(0, host, out, bytes);
    for (unsigned t = 0; good && t < teams; t++)
        for (unsigned round = 0; round < 2; round++)
            good &= record_is(&host[(t * 2 + round) * MAX_RECORD * kind.member], kind, t, 1, round, threads);
    dev->free(0, out);
    if (!good)
        printf("# %u bytes, %u x %u threads\n", kind.size, teams, threads);
    return good;
}

static void test_team_reductions(void)
{
    static const unsigned some[] = { 127, 128, 129, 255, 256, 257, 500, 511, 512, 513, 991, 992, 993, 1000, 1022, 1023, 1024 };
    for (unsigned s = 0; s < COUNT(kinds); s++) {
        bool good = true;
        for (unsigned n = 1, last = getenv("OMPGPU_LONG") ? 1024 : 100; n <= last; n += thorough ? 1 : 7)
            good &= team_reduction(kinds[s], 1 + n % 3, n);
        for (unsigned i = 0; i < COUNT(some); i += thorough ? 1 : 4)
            good &= team_reduction(kinds[s], 1, some[i]);
        check(good, "reduction over a team, %u bytes", kinds[s].size);
    }
}

static bool league_reduction(const char *what, struct kind kind, unsigned teams, unsigned threads)
{
    unsigned char host[MAX_RECORD];
    unsigned counter = 1;
    char name[32];
    void *out = device_new(MAX_RECORD);
    snprintf(name, sizeof name, "%s_%u", what, kind.size);
    bool good = launch_reported(name, teams, threads, out) == 0 && !dev->from_device(0, host, out, kind.size) &&
                record_is(host, kind, 0, teams, 0, strcmp(what, "teams") ? threads : 1) &&
                !dev->from_device(0, &counter, scratch, sizeof counter) && counter == 0;
    dev->free(0, out);
    if (!good)
        printf("# %s, %u bytes, %u x %u threads, counter %u\n", what, kind.size, teams, threads, counter);
    return good;
}

static void test_league_reductions(void)
{
    static const unsigned teams[] = { 1, 2, 3, 31, 32, 33, 64, 100, 300 }, threads[] = { 1, 2, 7, 31, 32, 33, 64, 100, 256 };
    for (unsigned s = 0; s < COUNT(kinds); s++) {
        bool good = true;
        for (unsigned i = 0; i < COUNT(teams); i++)
            for (unsigned k = 0; k < COUNT(threads); k++)
                if (teams[i] * threads[k] <= (kinds[s].size == 8 ? 30000 : 1000))
                    good &= league_reduction("league", kinds[s], teams[i], threads[k]);
        check(good && league_reduction("league", kinds[s], 3, 1000), "reduction over a league, %u bytes", kinds[s].size);
        good = true;
        for (unsigned i = 0; i < COUNT(teams); i++)
            good &= league_reduction("teams", kinds[s], teams[i], i % 2 ? 1 : 32);
        check(good, "reduction over main threads, %u bytes", kinds[s].size);
    }
}

/* The same geometry gives the same bits whatever the schedule: the bits are compared with those of the first process. */
static void test_same_bits(void)
{
    unsigned bits[3][2];
    for (unsigned g = 0; g < 3; g++)
        for (unsigned k = 0; k < 2; k++) {
            void *x = device_new(8);
            launch_reported("sum", 1 + g * 40, 100 + g * 30, x);
            dev->from_device(0, &bits[g][k], x, 4);
            dev->free(0, x);
        }
    check(bits[0][0] == bits[0][1] && bits[1][0] == bits[1][1] && bits[2][0] == bits[2][1], "a float sum repeats");
    char all[64];
    const char *before = getenv("RT_DEVICERTL_BITS");
    snprintf(all, sizeof all, "%x %x %x", bits[0][0], bits[1][0], bits[2][0]);
    check(!before || !strcmp(before, all), "a float sum is the same under every schedule (%s)", all);
    setenv("RT_DEVICERTL_BITS", all, 1);
}

/* ------------------------------------------------------------------ parallel regions */
static void test_forks(void)
{
    static const unsigned threads[] = { 1, 2, 31, 32, 33, 64, 70, 100 };
    for (unsigned i = 0; i < COUNT(threads); i++) {
        unsigned n = threads[i], want, wrong = 0;
        int counts[2 * 1032];
        void *count = device_new(sizeof counts);
        int line = launch_reported("forks", 2, n, count);
        dev->from_device(0, counts, count, sizeof counts);
        for (unsigned t = 0; t < 2; t++)
            for (unsigned k = 0; k < n; k++) {
                /* thread k is in the two regions of each size above k, in the default-size one and in the five at the end */
                want = 2 * (n - k) + 1 + (k == 0) + 1 + (k < 2) + (k < 3);
                wrong += counts[t * 1032 + k] != (int)want;
            }
        check(line == 0 && !wrong, "regions of 1 to %u threads of a generic kernel", n);
        dev->free(0, count);
    }
    void *count = device_new(2 * 1032 * sizeof(int));
    check(launch_reported("nested_spmd", 1, 100, count) == 0, "nested regions, SPMD");
    check(launch_reported("nested_generic", 1, 100, count) == 0, "nested regions, generic");
    dev->free(0, count);
}

static void test_loops(void)
{
    static const unsigned threads[] = { 1, 2, 33, 64, 100, 256 };
    check(!launch_reported("batches", 1, 1, NULL), "batches of iterations");
    for (unsigned k = 0; k < COUNT(threads); k++) {
        int spmd[301], generic[301], wrong = 0;
        unsigned n = threads[k];
        void *a = device_new(sizeof spmd), *b = device_new(sizeof generic);
        int line = launch_reported("loops_spmd", 1, n, a);
        if (!line)
            line = launch_reported("loops_generic", 1, n, b);
        dev->from_device(0, spmd, a, sizeof spmd);
        dev->from_device(0, generic, b, sizeof generic);
        for (int i = 0; i < 301; i++) {
            static const int trips[] = { 0, 1, 2, 31, 100, 301 };
            int want = 20;                                 /* the loop in a loop */
            for (unsigned t = 0; t < COUNT(trips); t++)
                want += i < trips[t] ? 2 * 6 : 0;
            wrong += spmd[i] != want;
            wrong += generic[i] != 4 * 3 + 1 + 20;
        }
        check(line == 0 && !wrong, "dynamic and guided loops by %u threads", n);
        dev->free(0, a);
        dev->free(0, b);
    }
}

static void test_locks(void)
{
    int data[8];
    void *p = device_new(sizeof data);
    int line = launch_reported("locks", 40, 50, p);
    dev->from_device(0, data, p, sizeof data);
    check(line == 0 && data[0] == 6000 && data[1] == 6000 && data[2] == 6000, "critical sections and locks");
    dev->free(0, p);
    p = device_new(sizeof data);
    line = launch("critical_plain", false, 400, 50, p);
    report(line, "critical_plain");
    dev->from_device(0, data, p, sizeof data);
    check(line == 0 && data[0] == 20000, "critical sections without fibers");
    dev->free(0, p);
}

static void test_rest(void)
{
    int seen[300], wrong = 0, zero = 0, n = 0;
    void *out = device_new(sizeof seen);
    check(launch_reported("storage", 3, 70, out) == 0, "the team's storage");
    check(launch_reported("copies", 3, 70, out) == 0, "copies in regions of a generic kernel");
    check(launch_reported("copies_spmd", 3, 61, out) == 0, "copies in an SPMD kernel");
    check(launch("sequential", false, 20, 1, out) == 0 && !dev->from_device(0, &n, out, 4) && n == 20,
          "a generic kernel of one thread needs no barrier");
    check(launch_reported("sequential", 20, 64, out) == 0 && !dev->from_device(0, &n, out, 4) && n == 40, "idle workers leave");
    dev->to_device(0, out, &zero, 4);
    check(launch("spmd_queries", false, 3, 100, out) == 0, "an SPMD kernel needs no barrier for its state");
    dev->from_device(0, seen, out, sizeof seen);
    for (int i = 0; i < 300; i++)
        wrong += seen[i] != 1;
    check(!wrong, "every thread once");
    int who = 5;
    dev->to_device(0, out, &who, 4);
    check(launch("assertion", false, 1, 10, out) == -1 && strstr(ompgpu_plugin_message(), "assertion failed at line 12"), "assert");
    check(launch("failing", false, 1, 10, out) == -1 && strstr(ompgpu_plugin_message(), "wrong index at line 99"), "__ompgpu_fail");
    for (int huge = 0; huge < 2; huge++) {
        dev->to_device(0, out, &huge, 4);
        check(launch("overflow", true, 2, 40, out) == -1 && strstr(ompgpu_plugin_message(), "no room for x at line 77"),
              "a block that is %s", huge ? "larger than memory" : "one byte too large");
    }
    dev->to_device(0, out, &who, 4);
    check(launch("diverged", true, 1, 10, out) == -1 &&
          strstr(ompgpu_plugin_message(), "barrier at line 1234 reached by 5 of 10 threads"), "a barrier that half of the team reaches");
    dev->free(0, out);
}

/* ------------------------------------------------------------------ images */
static char directory[] = "/tmp/rt_devicertl-XXXXXX";

__attribute__((format(printf, 1, 2)))
static bool shell(const char *fmt, ...)
{
    char command[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(command, sizeof command, fmt, ap);
    va_end(ap);
    bool good = system(command) == 0;
    if (!good)
        printf("# failed: %s\n", command);
    return good;
}

static const char *tool(const char *variable, const char *otherwise)
{
    const char *value = getenv(variable);
    return value && *value ? value : otherwise;
}

/* obj-asan's tools are beside obj-asan, the normal ones in the tree. */
static const char *tools(void)
{
    static char path[1024];
    const char *obj = getenv("OMPGPU_OBJ"), *base = obj ? strrchr(obj, '/') : NULL;
    snprintf(path, sizeof path, "%s%s", base && strcmp(base, "/obj") ? obj : ".", base && strcmp(base, "/obj") ? "/tree/lib/ompgpu" : "/lib/ompgpu");
    return path;
}

static bool compile(const char *target, const char *to)
{
    return shell("%s --target=%s -std=gnu11 -x c -DDEVICE -include %s/ompgpu_device.h -fconvergent-functions -fPIC -O2 -Wall -Wextra -Werror "
                 "-Wno-unknown-cuda-version -Xclang -disable-llvm-passes -emit-llvm -c -o %s/%s %s",
                 tool("OMPGPU_CLANG", "clang-22"), target, tools(), directory, to, __FILE__);
}

static void *read_file(const char *name, size_t *size)
{
    char path[sizeof directory + 64], *data = NULL;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *f = fopen(path, "rb");
    *size = 0;
    if (!f)
        return NULL;
    do {
        data = realloc(data, *size + 65537);
        *size += fread(data + *size, 1, 65536, f);
    } while (!feof(f));
    data[*size] = 0;
    fclose(f);
    return data;
}

static void run_image(const char *made_by, const char *name)
{
    size_t size;
    void *image = read_file(name, &size);
    way = made_by;
    bool loaded = image && !dev->load(0, NULL, 0, image, size, &module);
    check(loaded, "the image loads");
    if (loaded) {
        scratch = device_new(128 + 300 * 112);
        heap = device_new(HEAP_TEAMS * HEAP);
        bad_line = device_new(4);
        test_team_reductions();
        test_league_reductions();
        test_same_bits();
        test_forks();
        test_loops();
        test_locks();
        test_rest();
        dev->free(0, bad_line);
        dev->free(0, scratch);
        dev->free(0, heap);
        dev->unload(0, module);
    } else {
        printf("# %s\n", ompgpu_plugin_message());
    }
    free(image);
}

/* ------------------------------------------------------------------ PTX */
/* The text of one kernel, NUL-terminated in place; `*rest` is what follows. */
static char *kernel_text(char *ptx, const char *kernel)
{
    char head[64];
    snprintf(head, sizeof head, ".entry %s(", kernel);
    char *text = strstr(ptx, head), *end = text ? strstr(text, "\n}\n") : NULL;
    return end ? strndup(text, (size_t)(end - text)) : NULL;
}

static void check_ptx(char *ptx, const char *kernel, const char *const *absent)
{
    char *text = kernel_text(ptx, kernel);
    check(text != NULL, "%s is there", kernel);
    for (; text && *absent; absent++)
        check(!strstr(text, *absent), "no %s in %s", *absent, kernel);
    free(text);
}

static void test_ptx(void)
{
    static const char *const streaming[] = { ".shared", ".local", "bar", "call", "shfl", NULL }, *const reducing[] = { "call", ".local", NULL },
                      *const acquiring[] = { ".sys", NULL };
    static const char *const archs[] = { "sm_75", "sm_100", "sm_80", "sm_90" };    /* the last two are tested in the long form */
    const char *cuda = tool("CUDA_PATH", "/usr/local/cuda");
    char name[32], libdevice[1100], ptxas[1100];
    size_t size;
    way = "PTX";
    snprintf(libdevice, sizeof libdevice, "%s/nvvm/libdevice/libdevice.10.bc", cuda);
    snprintf(ptxas, sizeof ptxas, "%s/bin/ptxas", cuda);
    if (access(libdevice, R_OK)) {
        skip("PTX", "no libdevice");
        return;
    }
    check(compile("nvptx64-nvidia-cuda -march=sm_75 --cuda-feature=+ptx73 -nogpulib", "ptx.bc"), "device code compiles");
    for (unsigned i = 0; i < (getenv("OMPGPU_LONG") ? COUNT(archs) : 2); i++) {
        bool good = shell("%s/omp-device --target=nvptx64 -O2 --rtl=%s/devicertl-nvptx64.bc --libdevice=%s --out=%s:%s/%s.ptx %s/ptx.bc",
                          tools(), tools(), libdevice, archs[i], directory, archs[i], directory);
        check(good, "omp-device for %s", archs[i]);
        if (!good)
            continue;
        snprintf(name, sizeof name, "%s.ptx", archs[i]);
        char *ptx = read_file(name, &size);
        check_ptx(ptx, "axpy", streaming);
        check_ptx(ptx, "sum", reducing);
        check_ptx(ptx, "pair", reducing);
        check_ptx(ptx, "league_64", reducing);
        check_ptx(ptx, "parallel_16", &reducing[1]);
        check_ptx(ptx, "sum", acquiring);
        free(ptx);
        if (access(ptxas, X_OK))
            skip("ptxas", "no ptxas");
        else
            check(shell("%s -arch=%s -o /dev/null %s/%s", ptxas, archs[i], directory, name), "ptxas for %s", archs[i]);
    }
}

/* ------------------------------------------------------------------ main */
/* The same tests in a new process under other settings; its output is shown when it fails. */
static void test_variant(const char *program, const char *setting)
{
    char command[1024], line[512];
    snprintf(command, sizeof command, "RT_DEVICERTL_VARIANT=%s %s '%s' 2>&1", directory, setting, program);
    FILE *f = popen(command, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "ok ", 3) && strncmp(line, "1..", 3))
            printf("#   %s", line);
    way = "again";
    check(f && pclose(f) == 0, "with %s", setting);
}

int main(int argc, char **argv)
{
    struct ompgpu_device_info info;
    const char *variant = getenv("RT_DEVICERTL_VARIANT");
    char omp_device[1100];
    (void)argc;
    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("OMPGPU_EMU_MEMORY", "64M", 1);
    if (dev->num_devices() != 1 || dev->open(0, &info)) {
        printf("Bail out! no emulated device\n");
        return 1;
    }
    if (variant) {
        thorough = false;
        strcpy(directory, variant);
        run_image("LLVM", "plain.so");
    } else if (mkdtemp(directory)) {
        way = "build";
        snprintf(omp_device, sizeof omp_device, "%s/omp-device", tools());
        check(compile("x86_64-pc-linux-gnu", "emu.bc"), "device code compiles");
        check(shell("llvm-link-22 %s/emu.bc %s/devicertl-x86_64.bc -o %s/linked.bc", directory, tools(), directory) &&
              shell("%s -shared -fPIC -O2 -Wno-override-module -Wno-pass-failed -o %s/plain.so %s/linked.bc -lm", tool("OMPGPU_CLANG", "clang-22"),
                    directory, directory), "the image builds");
        run_image("LLVM", "plain.so");
        way = "omp-device";
        thorough = false;
        check(shell("%s --target=x86_64 -O2 --rtl=%s/devicertl-x86_64.bc --info=%s/info --out=emu:%s/emu.o %s/emu.bc && "
                    "%s -shared -o %s/tool.so %s/emu.o -lm", omp_device, tools(), directory, directory, directory,
                    tool("OMPGPU_CLANG", "clang-22"), directory, directory), "the image builds");
        run_image("omp-device", "tool.so");
        test_ptx();
        test_variant(argv[0], "OMPGPU_EMU_SCHEDULE=random:1");
        test_variant(argv[0], "OMPGPU_EMU_SCHEDULE=random:77 OMPGPU_EMU_THREADS=1");
        test_variant(argv[0], "OMPGPU_EMU_THREADS=5");
        shell("rm -rf %s", directory);
    }
    dev->close(0);
    printf("1..%u\n", tests);
    return failures != 0;
}
#endif
