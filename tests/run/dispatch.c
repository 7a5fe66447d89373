/* dispatch with its clauses; taskgraph, transparent, induction, bounds of num_teams: what clang 22 has no code for */
#include "check.h"
enum { N = 50 };
static int got_device, before_base;
static int variant(int *a, int n, omp_interop_t o) { got_device = omp_get_default_device(); (void)o; return a[0] = n; }
#pragma omp declare variant(variant) match(construct={dispatch}) append_args(interop(target))
static int base(int *a, int n) { before_base++; return a[0] = -n; }
static void fill_device(int *a, int *b, int n)
{
#pragma omp target is_device_ptr(a, b)
    for (int i = 0; i < n; i++) a[i] = b[i] + ON_DEVICE;
}
#pragma omp declare variant(fill_device) match(construct={dispatch}) adjust_args(need_device_ptr: a, b)
static void fill(int *a, int *b, int n) { for (int i = 0; i < n; i++) a[i] = b[i]; }
/* the clause names the parameters as the declaration after it does, not as others do */
static void fill2(int *, int *, int);
#pragma omp declare variant(fill_device) match(construct={dispatch}) adjust_args(need_device_ptr: to, from)
static void fill2(int *to, int *from, int n);
static void fill2(int *from, int *source, int n) { for (int i = 0; i < n; i++) from[i] = source[i]; }
static void fill2(int *, int *to, int);

#pragma omp begin declare variant match(construct={dispatch})
static int in_block(void) { return 44; }
#pragma omp end declare variant
static int in_block(void) { return 2; }
static int other(void) { return 33; }
static int any(void) { return 22; }
#pragma omp declare variant(other) match(construct={dispatch})
#pragma omp declare variant(any) match(implementation={vendor(llvm)})
static int plain(void) { return 1; }

/* novariants means those of other contexts, too. */
static void variants_of_any_kind(int yes)
{
    int r[4] = { 0 };
#pragma omp dispatch novariants(yes)
    r[0] = plain();
#pragma omp dispatch novariants(!yes)
    r[1] = plain();
#pragma omp dispatch nocontext(yes)
    r[2] = plain();
#pragma omp dispatch novariants(1)
    r[3] = plain();
    CHECK(r[0] == 1 && r[1] == 33 && r[2] == 22 && r[3] == 1);
    r[0] = in_block();
#pragma omp dispatch
    r[1] = in_block();
#pragma omp dispatch novariants(yes)
    r[2] = in_block();
    CHECK(r[0] == 2 && r[1] == 44 && r[2] == 2);
}

static void dispatches(void)
{
    int a[N], b[N], r = 0, no = 1, host = omp_get_initial_device(), device = omp_get_default_device();
    base(a, 1);
    CHECK_EQ(a[0], -1);
#pragma omp dispatch
    r = base(a, 5);
    CHECK_EQ(a[0], 5);
    CHECK_EQ(r, 5);
#pragma omp dispatch novariants(no)
    base(a, 6);
    CHECK_EQ(a[0], -6);
#pragma omp dispatch novariants(no - 1) device(host) nowait
    base(a, 7);
    CHECK_EQ(a[0], 7);
    CHECK(got_device == host || got_device == -1);
    CHECK_EQ(omp_get_default_device(), device);
#pragma omp dispatch nocontext(no) depend(inout: a)
    r = base(a, 8);
    CHECK_EQ(r, -8);
    CHECK_EQ(before_base, 3);
    for (int i = 0; i < N; i++) b[i] = 3 * i;
#pragma omp target data map(from: a) map(to: b)
    {
        int *mapped = omp_get_mapped_ptr(b, device);
#pragma omp dispatch is_device_ptr(mapped)
        fill(a, mapped, N);
    }
    for (int i = 0; i < N; i++) CHECK_EQ(a[i], 3 * i + 1);
    for (int i = 0; i < N; i++) b[i] = 5 * i;
#pragma omp target data map(from: a) map(to: b)
    {
#pragma omp dispatch
        fill2(a, b, N);
    }
    for (int i = 0; i < N; i++) CHECK_EQ(a[i], 5 * i + 1);
}

static void tasks(void)
{
    int x = 0, y = 0, z = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < 3; i++) {
#pragma omp taskgraph graph_id(i) graph_reset(i > 1)
            {
#pragma omp task shared(x) depend(inout: x)
                x++;
#pragma omp task shared(x) depend(inout: x)
                x *= 2;
            }
        }
#pragma omp task depend(out: y) shared(y)
        y = 5;
#pragma omp task transparent(omp_impex) shared(y, z)
        {
#pragma omp task depend(inout: y) shared(y)
            y++;
#pragma omp task depend(out: z) shared(z)
            z = 7;
        }
#pragma omp task depend(inout: y) depend(in: z) shared(y, z)
        y = y * 10 + z;
    }
    CHECK_EQ(x, 14);
    CHECK_EQ(y, 67);
}

int main(void)
{
    int powers[10], sums[10], p = 3, s = 1, teams = 0, two = 2;
    variants_of_any_kind(1);
    dispatches();
    tasks();
#pragma omp target parallel for induction(step(two), *: p) map(from: powers)
    for (int i = 0; i < 10; i++) { powers[i] = p; p *= two; }
#pragma omp parallel for induction(step(two), +: s)
    for (int i = 20; i > 0; i -= 2) { sums[10 - i / 2] = s; s += two; }
    for (int i = 0, k = 3; i < 10; i++, k *= 2) { CHECK_EQ(powers[i], k); CHECK_EQ(sums[i], 1 + 2 * i); }
    CHECK_EQ(p, 3 * 1024);
    CHECK_EQ(s, 21);
#pragma omp target teams num_teams(two: 3) map(tofrom: teams)
    if (omp_get_team_num() == 0) teams = omp_get_num_teams();
    CHECK(teams >= 2 && teams <= 3);
    return RESULT;
}
