/* what clang 22 takes for something else: parallel single, also of target, sections, masked; isa of a GPU; a comma before the clauses; device_num: of data directives.  It says nothing */
#include "check.h"
static int generic(void) { return 1; }
static int fast(void) { return 2; }
#pragma omp declare variant(fast) match(device = {isa("sm_60")})
static int slow(void) { return 1; }
static int plain(void) { return 1; }
#pragma omp declare variant(plain), match(construct = {parallel})
static int other(void) { return 2; }
#pragma omp begin declare variant, match(construct = {target})
static int other(void) { return 3; }
#pragma omp end declare variant
static void commas(void)
{
    int n = 0, x = 1, in_target = 0, in_parallel = 0;
#pragma omp target teams, num_teams(3), map(tofrom : n), reduction(+ : x)
    {
#pragma omp atomic, update
        n++;
        x++;
    }
    CHECK_EQ(n, 3);
    CHECK_EQ(x, 4);
#pragma omp target data, map(tofrom : n) if (1)
    {
        n = 10;
#pragma omp target update, to(n)
#pragma omp target, map(from : in_target), map(n)
        in_target = other() + n++;
    }
    CHECK_EQ(n, 11);
    CHECK_EQ(in_target, 13);
#pragma omp parallel, num_threads(4) private(n), reduction(+ : x)
    {
        n = 5, x += n;
#pragma omp single, nowait
        in_parallel = other();
    }
    CHECK_EQ(n, 11);
    CHECK_EQ(x, 24);
    CHECK_EQ(in_parallel, 1);
}
static void device_numbers(void)
{
    int n[2] = { 1, 2 }, device = omp_get_default_device(), host = omp_get_initial_device(), there = 0;
#pragma omp target enter data map(to : n) device(device_num : device)
#pragma omp target data map(to : there) use_device_addr(n) device(device_num : device)
#pragma omp target has_device_addr(n) device(device_num : device)
    n[1] = 5 * ON_DEVICE;
    CHECK_EQ(n[1], 2);
#pragma omp target update from(n) device(device_num : host)
    CHECK_EQ(n[1], 2);
#pragma omp target update from(n[1]) device(device_num : device)
    CHECK_EQ(n[1], 5);
#pragma omp target exit data map(delete : n) device(device_num : device)
    CHECK(!omp_target_is_present(n, device));
#pragma omp dispatch device(device_num : host)
    there = other();
    CHECK_EQ(there, 2);
}
/* An isa counts for more than kind and arch, and alone for less than with either: what clang is told of it has no weight. */
static int by_kind(void) { return 1; }
static int by_arch(void) { return 2; }
static int by_isa(void) { return 3; }
#pragma omp declare variant(by_kind) match(device = {kind(gpu), isa(sm_70)})
#pragma omp declare variant(by_arch) match(device = {arch(nvptx), isa(sm_70)})
static int both(void) { return 0; }
#pragma omp declare variant(by_isa) match(device = {isa(sm_70)})
#pragma omp declare variant(by_kind) match(device = {kind(gpu), isa(sm_70)})
static int one(void) { return 0; }
static void scores(void)
{
    int a = 0, b = 0, c = 0;
#pragma omp target map(from : a, b, c)
    {
        a = both();
        b = one();
#pragma omp metadirective when(device = {isa(sm_70)} : nothing) when(device = {kind(gpu), isa(sm_70)} : parallel num_threads(1))
        c = omp_get_level();
    }
#ifndef HOST_ONLY
    CHECK(a == 2 && b == 1 && c == 1);
#endif
}
static void names(void)
{
    int v[12] = { 0 }, n = 0, id = -1;
#pragma omp target parallel masked taskloop simd filter(1) map(tofrom : v) num_threads(3)
    for (int i = 0; i < 12; i++)
        v[i] += i;
#pragma omp target parallel single taskloop map(tofrom : n) num_threads(3) shared(n)
    for (int i = 0; i < 12; i++)
#pragma omp atomic
        n += i;
#pragma omp parallel single taskloop num_threads(3) shared(n) grainsize(5)
    for (int i = 0; i < 12; i++)
#pragma omp atomic
        n += i;
#pragma omp target parallel masked taskloop filter(2) map(tofrom : id) num_threads(3) shared(id)
    for (int i = 0; i < 1; i++)
        id = omp_get_thread_num();
    for (int i = 0; i < 12; i++)
        CHECK_EQ(v[i], i);
    CHECK(n == 132 && id == 2);
}
/* clang knows no form of `destroy` from 5.2 on, and none with an argument before. */
static void dependence_objects(void)
{
    omp_depend_t object, more[2];
    int x = 1, y = 1;
#pragma omp depobj(object) depend(inout : x)
#pragma omp depobj(more[1]) depend(inout : y)
#pragma omp target nowait depend(depobj : object, more[1]) map(tofrom : x, y)
    x++, y += x;
#pragma omp task depend(in : x, y) shared(x, y)
    x *= 10 * y;
#pragma omp taskwait
    if (y)
#pragma omp depobj(object) destroy(object)
#pragma omp depobj(more[1]) destroy
    CHECK(x == 60 && y == 3);
}

static int filtered_by(int chosen)
{
    int n = 0;
#pragma omp parallel num_threads(2)
#pragma omp masked taskloop filter(chosen) shared(n)
    for (int i = 0; i < 9; i++) {
#pragma omp atomic update
        n++;
    }
#pragma omp parallel masked taskloop simd filter(chosen) reduction(+ : n) num_threads(2)
    for (int i = 0; i < 9; i++)
        n++;
    return n;
}

static void filtered(void)
{
    int n[2] = { 0 };
#pragma omp target map(from : n)
    {
        n[0] = filtered_by(1);
        n[1] = filtered_by(2);
    }
    CHECK(n[0] == 18 && n[1] == 0);
    CHECK(filtered_by(1) == 18 && filtered_by(2) == 0);
}

/* `update` says what capture and compare do. */
static void updates(void)
{
    int x = 1, v = 0, y = 1, w = 0;
#pragma omp atomic update capture
    { v = x; x++; }
#pragma omp atomic compare update
    if (x == 2) { x = 5; }
#pragma omp target map(y, w)
    {
#pragma omp atomic capture update
        { w = y; y++; }
#pragma omp atomic update, compare
        if (y == 2) { y = 5; }
    }
    CHECK(v == 1 && x == 5);
    CHECK(w == 1 && y == 5);
}

int main(void)
{
    scores();
    names();
    dependence_objects();
    int on = 0, n = 0, a = 0, b = 0, x = 3, id = -1, sum = 0;
#pragma omp parallel single num_threads(4) firstprivate(x) shared(n)
    n += ++x;
    CHECK_EQ(n, 4);
#pragma omp target parallel single map(tofrom : n, on) firstprivate(x) num_threads(4)
    on = ON_DEVICE, n += ++x;
    CHECK(on);
    CHECK_EQ(n, 8);
#pragma omp target parallel sections map(tofrom : a, b) lastprivate(x) num_threads(2) nowait depend(out : a) reduction(+ : n)
    {
#pragma omp section
        a = slow();
#pragma omp section
        b = 5, x = 7, n++;
    }
#pragma omp target parallel masked filter(1) map(tofrom : id) num_threads(2) depend(in : a)
    id = omp_get_thread_num();
#pragma omp taskwait
#ifdef HOST_ONLY
    CHECK_EQ(a, slow());
#else
    CHECK_EQ(a, 2);
    CHECK_EQ(slow(), generic());
#endif
    CHECK(b == 5 && n == 9 && id == 1 && x == 7);
#pragma omp metadirective when(device = {isa("sm_60")} : parallel for) otherwise(parallel for reduction(+ : sum))
    for (int i = 0; i < 9; i++)
        sum += i;
    CHECK_EQ(sum, 36);
    filtered();
    updates();
    commas();
    device_numbers();
    return RESULT;
}
