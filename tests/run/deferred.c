/* nowait: the thread goes on, and what depends on what comes in order */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include "check.h"

enum { N = 600, CHUNKS = 6 };

/* The chains of a pipeline wait for each other in their middle: all must be under way at once, and the
   thread have gone on. */
static void overlap(void)
{
    enum { CHAINS = 4 };
    int arrived = 0, seen[CHAINS], in[CHAINS];
#pragma omp target data map(tofrom: arrived)
    {
        for (int me = 0; me < CHAINS; me++) {
            in[me] = me + 1;
#pragma omp target enter data map(to: in[me]) map(alloc: seen[me]) nowait depend(out: in[me])
#pragma omp target nowait depend(inout: in[me]) map(tofrom: arrived) map(to: in[me]) \
    map(from: seen[me])
            {
                int all = 0;
#pragma omp atomic update
                arrived += in[me];
                for (long i = 0; all < CHAINS * (CHAINS + 1) / 2 && i < 100000000; i++) {
#pragma omp atomic read
                    all = arrived;
                }
                seen[me] = all;
            }
#pragma omp target exit data map(from: seen[me]) map(release: in[me]) nowait depend(inout: in[me])
        }
#pragma omp taskwait
    }
    for (int me = 0; me < CHAINS; me++)
        CHECK_EQ(seen[me], CHAINS * (CHAINS + 1) / 2);
}

/* Copies in, work and copies out of each chunk, in order; chunks among themselves in none. */
static void pipeline(void)
{
    int *a = malloc(N * sizeof *a), part = N / CHUNKS;
    for (int i = 0; i < N; i++)
        a[i] = i;
    for (int k = 0; k < CHUNKS; k++) {
        int *c = a + k * part;
#pragma omp target enter data map(to: c[0:part]) nowait depend(out: c[0])
#pragma omp target teams distribute parallel for nowait depend(inout: c[0])
        for (int i = 0; i < part; i++)
            c[i] = 3 * c[i] + k;
#pragma omp target update from(c[0:1]) nowait depend(in: c[0])
#pragma omp target exit data map(from: c[0:part]) nowait depend(inout: c[0])
    }
#pragma omp taskwait
    for (int i = 0; i < N; i++)
        CHECK_EQ(a[i], 3 * i + i / part);
    free(a);
}

/* Host tasks between regions; mappings that one region makes and the next makes anew. */
static void mixed(int turns)
{
    int x[N], sum = 0, y = 0;
    for (int i = 0; i < N; i++)
        x[i] = 0;
    for (int t = 0; t < turns; t++) {
#pragma omp target teams distribute parallel for nowait depend(inout: x) map(tofrom: x)
        for (int i = 0; i < N; i++)
            x[i] = 2 * x[i] + 1;
#pragma omp task depend(in: x) depend(inout: y) shared(x, y)
        y += x[N - 1];
#pragma omp target teams distribute parallel for reduction(+: sum) nowait map(to: x) \
    depend(in: x) depend(inout: sum)
        for (int i = 0; i < N; i++)
            sum += x[i];
#pragma omp task depend(out: x) shared(x)
        x[5] = x[4];
    }
#pragma omp taskwait
    int value = 0, expected = 0;
    for (int t = 0; t < turns; t++)
        value = 2 * value + 1, expected += value;
    CHECK_EQ(x[5], value);
    CHECK_EQ(y, expected);
    CHECK_EQ(sum, expected * N);
}

/* A diamond, and who waits for what of it: taskwait depend, taskgroup, an undeferred region. */
static void diamond(void)
{
    int a = 0, b = 0, c = 0, d = 0, e = 0, never = 0;
#pragma omp target nowait map(from: a) depend(out: a)
    a = 1;
#pragma omp target nowait map(to: a) map(from: b) depend(in: a) depend(out: b)
    b = a + 1;
#pragma omp target nowait map(to: a) map(from: c) depend(in: a) depend(out: c)
    c = a + 2;
#pragma omp target nowait map(to: b, c) map(from: d) depend(in: b, c) depend(out: d)
    d = b * c;
#pragma omp taskwait depend(in: d)
    CHECK_EQ(d, 6);
#pragma omp taskgroup
    {
#pragma omp target nowait map(tofrom: d) depend(inout: d) if(!never)
        d += 1;
    }
    CHECK_EQ(d, 7);
#pragma omp target nowait map(tofrom: d) depend(inout: d)
    d += 1;
#pragma omp target map(to: d) map(from: e) depend(in: d)
    e = d;
    CHECK_EQ(e, 8);
#pragma omp target nowait map(tofrom: e) depend(iterator(int i = 0:2), inout: (&e)[i - i])
    e *= 2;
#pragma omp target nowait map(tofrom: e) depend(inout: e) if(never)
    e += 1;
#pragma omp taskwait
    CHECK_EQ(e, 17);
}

/* Host tasks that end by an event or have a priority, before and after regions; reductions in which both take part. */
static void events(void)
{
    int x[4] = { 0 }, seen = 0, total = 0;
    omp_event_handle_t ready;
#pragma omp task detach(ready) depend(out: x) priority(3) shared(x)
    x[0] = 1;
#pragma omp target nowait map(tofrom: x) depend(inout: x)
    x[2] = 2 * x[1] + x[0];
#pragma omp task depend(in: x) priority(1) shared(x, seen)
    seen = x[2];
#pragma omp target update nowait to(x) depend(inout: x)
    x[1] = 5;
    omp_fulfill_event(ready);
#pragma omp taskwait
    CHECK_EQ(seen, 11);
    for (int i = 0; i < 10; i++) {
#pragma omp taskgroup task_reduction(+: total)
        {
#pragma omp target nowait in_reduction(+: total)
            total += 5;
#pragma omp task in_reduction(+: total)
            total += 7;
        }
    }
    CHECK_EQ(total, 120);
}

/* The values of now: firstprivate scalars and arrays, also where the region runs later. */
static void values(void)
{
    int out[4] = { 0 }, local[4] = { 1, 2, 3, 4 }, gate = 0;
#pragma omp task depend(out: gate) shared(gate)
    gate = 1;
    for (int k = 0; k < 4; k++) {
#pragma omp target nowait firstprivate(local, k) map(tofrom: out) depend(inout: gate)
        out[k] = local[k] + 10 * k;
        local[k] = -1;
    }
#pragma omp taskwait
    for (int k = 0; k < 4; k++)
        CHECK_EQ(out[k], 1 + k + 10 * k);
}

/* A region that nothing waits for holds on to what it uses. */
static void held(void)
{
    struct {
        int n, *p;
    } s = { N, malloc(N * sizeof(int)) };
    int *host = s.p, done = 0;
    for (int i = 0; i < N; i++)
        s.p[i] = i;
#pragma omp target data map(tofrom: s, s.p[0:N])
    {
#pragma omp target nowait map(tofrom: s)
        for (int i = 0; i < s.n; i++)
            s.p[i] += 1;
    }
    for (int i = 0; i < N; i++)
        CHECK_EQ(s.p[i], i + 1);
#pragma omp target enter data map(to: s, s.p[0:N]) nowait depend(out: done)
#pragma omp target nowait depend(inout: done)
    for (int i = 0; i < s.n; i++)
        s.p[i] += 1;
#pragma omp target exit data map(from: s, s.p[0:N]) nowait depend(inout: done)
#pragma omp taskwait
    CHECK(s.p == host);
    for (int i = 0; i < N; i++)
        CHECK_EQ(s.p[i], i + 2);
    free(host);
}

/* Of an initial thread: each host task waits for a region, and the next region for it. */
static void serial(void)
{
    unsigned z = 1, wanted = 1;
    int sum = 7;
    for (int k = 0; k < 100; k++) {
        wanted = 3 * wanted + 1;
#pragma omp target nowait map(tofrom: z) depend(inout: z)
        z *= 3;
#pragma omp task depend(inout: z) shared(z)
        z += 1;
        if (k % 10 == 9) {
#pragma omp taskwait
            CHECK_EQ(z, wanted);
        }
    }
#pragma omp target teams distribute parallel for nowait if(0) reduction(+: sum) map(tofrom: sum)
    for (int i = 0; i < 100; i++)
        sum += i;
#pragma omp taskwait
    CHECK_EQ(sum, 4957);
}

/* Routines that are target tasks, in order with regions and host tasks. */
static void routines(void)
{
    enum { ROWS = 6, COLUMNS = 10 };
    const int dev = omp_get_default_device(), host = omp_get_initial_device();
    int a[ROWS][COLUMNS], b[ROWS][COLUMNS], (*p)[COLUMNS] = omp_target_alloc(sizeof a, dev);
    const size_t volume[2] = { 4, 5 }, at[2] = { 1, 2 }, all[2] = { ROWS, COLUMNS };
    omp_depend_t on_a, on_b;
#pragma omp depobj(on_a) depend(inout: a)
#pragma omp depobj(on_b) depend(inout: b)
    memset(a, 0, sizeof a), memset(b, 0, sizeof b);
    omp_depend_t both[2] = { on_a, on_b };
    omp_target_memset_async(p, 1, sizeof a, dev, 1, &on_a);
#pragma omp target nowait is_device_ptr(p) depend(inout: a)
    for (int i = 0; i < ROWS * COLUMNS; i++)
        p[i / COLUMNS][i % COLUMNS] += i;
    omp_target_memcpy_rect_async(b, p, sizeof b[0][0], 2, volume, at, at, all, all, host, dev, 2,
                                 both);
#pragma omp task depend(inout: b) shared(b)
    b[0][0] = b[1][2];
    omp_target_memcpy_async(p, b, sizeof b, 0, 0, dev, host, 2, both);
    omp_target_memcpy_async(a, p, sizeof a, 0, 0, host, dev, 1, &on_a);
#pragma omp taskwait
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++) {
            bool inside = i >= 1 && i < 5 && k >= 2 && k < 7;
            CHECK_EQ(a[i][k], inside ? 0x01010101 + i * COLUMNS + k : !(i + k) ? a[1][2] : 0);
        }
    omp_target_memset_async(p, 2, sizeof a, dev, 0, NULL);
#pragma omp taskwait
    omp_target_memcpy(a, p, sizeof a, 0, 0, host, dev);
    CHECK_EQ(a[5][9], 0x02020202);
#pragma omp depobj(on_a) destroy
#pragma omp depobj(on_b) destroy
    omp_target_free(p, dev);
}

/* Longer than the stack of a thread has room for calls within calls. */
static void *chain(void *sum)
{
    int *x = sum;
#pragma omp target data map(tofrom: x[0:1])
    {
        for (int i = 0; i < 3000; i++)
#pragma omp target nowait depend(inout: x[0])
            x[0]++;
#pragma omp taskwait
    }
    return NULL;
}

static void long_chain(void)
{
    int sum = 0;
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    CHECK(!pthread_attr_setstacksize(&attributes, 256 << 10));
    CHECK(!pthread_create(&thread, &attributes, chain, &sum));
    pthread_join(thread, NULL);
    CHECK_EQ(sum, 3000);
}

/* Constructs in no order that map the same storage: none starts with what the host had before
   another one copied back. */
static void same_storage(void)
{
    enum { LARGE = 1 << 17, CONSTRUCTS = 12 };
    int *a = malloc(LARGE * sizeof *a);
    for (int i = 0; i < LARGE; i++)
        a[i] = i;
    for (int k = 1; k <= CONSTRUCTS; k++) {
#pragma omp target parallel for nowait map(tofrom: a[0:LARGE]) firstprivate(k)
        for (int i = 0; i < LARGE; i++) {
#pragma omp atomic
            a[i] += k;
        }
    }
#pragma omp target parallel for map(tofrom: a[0:LARGE]) /* the thread itself waits here */
    for (int i = 0; i < LARGE; i++) {
#pragma omp atomic
        a[i] += 100;
    }
#pragma omp taskwait
    for (int i = 0; i < LARGE; i++)
        CHECK_EQ(a[i], i + 100 + CONSTRUCTS * (CONSTRUCTS + 1) / 2);
    free(a);
}

int main(void)
{
    int device = 0;
#pragma omp target map(from: device)
    device = ON_DEVICE;
    CHECK(device);
    const char *kind = getenv("OMPGPU_DEVICE");
    if (kind && !strcmp(kind, "emu"))
        overlap();
    pipeline();
    mixed(5);
    diamond();
    events();
    values();
    held();
    routines();
    same_storage();
    serial();
#pragma omp parallel num_threads(4)
    {
        same_storage();
        pipeline();
        mixed(3);
        diamond();
        events();
        held();
        routines();
    }
#pragma omp parallel num_threads(3)
#pragma omp single
    {
        mixed(3);
        values();
    }
    serial();
    long_chain();
    return RESULT;
}
