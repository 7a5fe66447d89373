/* words of OpenMP 6.0: storage, local, nogroup and depend on target_data, private by defaultmap, combiner, device_type, parallel single,
 * init_complete, task_iteration; kept references and memory for host and device by LLVM's extensions */
#include <stdlib.h>
#include "check.h"
static int counter = 5;
#pragma omp declare_target local(counter)
void *llvm_omp_target_alloc_device(size_t, int), *llvm_omp_target_alloc_host(size_t, int), *llvm_omp_target_alloc_shared(size_t, int);
void llvm_omp_target_free_device(void *, int), llvm_omp_target_free_host(void *, int), llvm_omp_target_free_shared(void *, int);

static void words(void)
{
    int a[4] = { 1, 2, 3, 4 }, b[4] = { 0 }, x = 7, seen = 0;
#pragma omp target_data map(storage: b) map(always, to: a) nogroup depend(inout: a)
    {
#pragma omp target map(from: seen) defaultmap(private: scalar) defaultmap(storage: aggregate), device_type(any)
        {
            x = 9;
            counter++;
            b[0] = a[1] + x;
            seen = b[0] + counter;
        }
    }
    CHECK_EQ(seen, 17);
    CHECK(x == 7 && b[0] == 0 && counter == 5);
    x = 0;
#pragma omp target teams distribute parallel for reduction(+: x), device_type(nohost), map(tofrom: a, x)
    for (int i = 0; i < 4; i++) {
        a[i]++;
        x += a[i];
    }
    CHECK(x == 14 && a[3] == 5);
}
_Static_assert(omp_default_device < -1 && omp_default_device != omp_invalid_device, "");
static void default_device(void)
{
    int d = omp_get_default_device(), on = -2, x = 1, *p = omp_target_alloc(sizeof *p, omp_default_device);
    CHECK(p && !omp_target_associate_ptr(&x, p, sizeof x, 0, omp_default_device));
    CHECK(omp_target_is_present(&x, d) && omp_get_mapped_ptr(&x, omp_default_device) == p);
#pragma omp target device(omp_default_device) map(always, tofrom: x) map(from: on)
    {
        x++;
        on = omp_get_device_num();
    }
    CHECK(x == 2 && on == d);
    CHECK(!omp_target_disassociate_ptr(&x, omp_default_device));
    omp_target_free(p, omp_default_device);
    CHECK(omp_get_uid_from_device(omp_default_device) == omp_get_uid_from_device(d));
    omp_set_default_device(omp_initial_device);
    omp_set_default_device(omp_default_device);
    CHECK_EQ(omp_get_default_device(), omp_initial_device);
    x = omp_default_device;
#pragma omp target device(x) map(from: on)
    on = omp_is_initial_device();
    CHECK_EQ(on, 1);
    CHECK_EQ(omp_get_max_progress_width(omp_default_device), 1);
    omp_set_default_device(d);
}
/* Clang takes `default` of a combined construct for target's, too: no defaultmap beside it, except in what came with 6.0. */
static void defaults(void)
{
    int a[8] = { 0 }, n = 0;
    for (int on_host = 0; on_host < 2; on_host++) {
#pragma omp target teams distribute simd default(none) shared(a)
        for (int i = 0; i < 8; i++)
            a[i]++;
#pragma omp target parallel if(target: !on_host) default(none), defaultmap(tofrom: scalar), defaultmap(none: aggregate), shared(n) num_threads(1)
        n++;
        CHECK_EQ(n, on_host + 1);
#pragma omp target parallel for if(target: !on_host) default(none) defaultmap(none) shared(a) map(a) firstprivate(n)
        for (int i = 0; i < 8; i++)
            a[i] += n;
    }
    CHECK_EQ(a[7], 2 + 1 + 2);
}
static void held(void)
{
    int a[4] = { 0 }, b = 1;
#pragma omp target data map(ompx_hold, tofrom: a)
    {
#pragma omp target map(tofrom: a)
        a[0] = 1;
        CHECK_EQ(a[0], 0);
#pragma omp target exit data map(delete: a)
        CHECK(PRESENT(a));
#pragma omp target enter data map(to: b)
#pragma omp target data map(ompx_hold, alloc: b)
        {
#pragma omp target exit data map(release: b)
            CHECK(PRESENT(&b));
        }
        CHECK(!PRESENT(&b));
    }
    CHECK(a[0] == 1 && !PRESENT(a));
}

/* Of the items that share a mapping one has ompx_hold: it is about all of it, in any order. */
static struct couple { int x, y; } couple;
#define HELD_BY(...) do { \
        couple = (struct couple){ 1, 2 }; \
        _Pragma(__VA_ARGS__) \
        { \
            _Pragma("omp target map(tofrom: couple)") { couple.x += 10; couple.y += 10; } \
            _Pragma("omp target exit data map(delete: couple, couple.x)") \
            CHECK(PRESENT(&couple) && PRESENT(&couple.y) && couple.x == 1); \
        } \
        CHECK(couple.x == 11 && couple.y == 12 && !PRESENT(&couple) && !PRESENT(&couple.y)); \
    } while (0)
static void held_by_member(void)
{
    HELD_BY("omp target data map(tofrom: couple) map(ompx_hold, tofrom: couple.x)");
    HELD_BY("omp target data map(tofrom: couple, couple.x) map(ompx_hold, tofrom: couple.y)");
    HELD_BY("omp target data map(ompx_hold, tofrom: couple.x) map(tofrom: couple.y)");
    HELD_BY("omp target data map(ompx_hold, tofrom: couple) map(tofrom: couple.y)");
}
static void memory(int dev)
{
    int *h = llvm_omp_target_alloc_host(40, dev), *s = llvm_omp_target_alloc_shared(40, dev), *d = llvm_omp_target_alloc_device(40, dev);
    if (getenv("OMPGPU_NODES")) { /* on another node there is no memory of both */
        CHECK(!h && !s && d);
    } else {
        h[0] = s[0] = 1;
#pragma omp target is_device_ptr(h, s, d)
        d[0] = 5, h[1] = h[0] + d[0], s[1] = s[0] + 1;
        CHECK(h[1] == 6 && s[1] == 2);
    }
    llvm_omp_target_free_host(h, dev), llvm_omp_target_free_shared(s, dev), llvm_omp_target_free_device(d, dev);
}
struct pair { int low, high; };
#pragma omp declare_reduction(wide: struct pair) combiner(omp_out.low = omp_in.low < omp_out.low ? omp_in.low : omp_out.low, \
    omp_out.high = omp_in.high > omp_out.high ? omp_in.high : omp_out.high), initializer(omp_priv = { 999, -999 })
#define ITEM(i) ((i) * 37 % 101)
#define NEWER(N) \
    for (int i = 0; i < N; i++) c[i] = i + 1; \
    _Pragma("omp parallel for reduction(wide: p)") \
    for (int i = 0; i < N; i++) { \
        p.low = ITEM(i) < p.low ? ITEM(i) : p.low; \
        p.high = ITEM(i) > p.high ? ITEM(i) : p.high; \
    } \
    _Pragma("omp parallel single num_threads(4) firstprivate(n) shared(once)") \
    once += ++n; \
    _Pragma("omp parallel for reduction(inscan, +: x) private(tmp)") \
    for (int i = 0; i < N; i++) { \
        tmp = c[i]; \
        _Pragma("omp scan init_complete") \
        c[i] = x; \
        _Pragma("omp scan exclusive(x)") \
        x += tmp; \
    } \
    _Pragma("omp parallel for reduction(inscan, +: y) private(tmp)") \
    for (int i = 0; i < N; i++) { \
        tmp = 2 * i; \
        _Pragma("omp scan init_complete") \
        y += tmp; \
        _Pragma("omp scan inclusive(y)") \
        d[i] = y; \
    }

static void newer(void)
{
    struct pair p = { 50, 50 };
    int on = 0, n = 1, once = 0, x = 0, y = 0, tmp, c[90], d[90];
    NEWER(90)
    CHECK(p.low == 0 && p.high == 100 && once == 2 && n == 1 && x == 4095 && c[89] == 4005 && d[89] == y && d[3] == 12);
    p = (struct pair){ 50, 50 };
    once = x = y = 0;
#pragma omp target map(tofrom: on, p, once, x, y) map(from: c, d)
    {
        on = ON_DEVICE;
        NEWER(90)
    }
    CHECK(on);
    CHECK(p.low == 0 && p.high == 100 && once == 2 && n == 1 && x == 4095 && c[89] == 4005 && d[89] == y && d[3] == 12);
}
static int chain(int n, long *a)
{
    int device = ON_DEVICE;
    a[0] = 1;
#pragma omp taskloop grainsize(strict: 4) nogroup if(n > 3)
    for (int i = 1; i < n; i++) {
#pragma omp task_iteration depend(inout: a[i]) depend(in: a[i - 1]) if(i % 4 == 0)
        a[i] = a[i - 1] + i;
    }
#pragma omp task depend(inout: a[n - 1])
    a[n - 1]++;
#pragma omp taskwait
    return device;
}
static void iterations(void)
{
    long a[30] = { 0 };
    int on = 0;
#pragma omp parallel single
    chain(30, a);
    CHECK_EQ(a[29], 437);
#pragma omp target map(from: a, on)
    on = chain(30, a);
    CHECK(on && a[29] == 437);
}
int main(void)
{
    newer();
    iterations();
    words();
    default_device();
    defaults();
    held();
    held_by_member();
    memory(omp_get_default_device());
    return RESULT;
}
