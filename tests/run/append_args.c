/* append_args: the objects that dispatch makes for a variant, of the types that it prefers, or those that the clause interop gives */ /* also: -O0 */
#include "check.h"
static int calls, device, kind, second;
static int describe(omp_interop_t o)
{
    int r = 0;
    if (o == omp_interop_none)
        return -1;
    device = (int)omp_get_interop_int(o, omp_ipr_device_num, &r);
    return r == omp_irc_success ? (int)omp_get_interop_int(o, omp_ipr_fr_id, &r) : -2;
}
static int fast(int x, omp_interop_t a, omp_interop_t b)
{
    calls++;
    kind = describe(a);
    second = describe(b);
    return x + 1;
}
#pragma omp declare variant(fast) match(construct = {dispatch}) append_args(interop(prefer_type("hip", "cuda_driver"), targetsync), interop(targetsync, prefer_type({fr("cuda")})))
static int slow(int x) { return x - 1; }

static omp_interop_t seen;
static void fill_fast(int *a, int n, omp_interop_t o)
{
    seen = o;
#pragma omp target is_device_ptr(a)
    for (int i = 0; i < n; i++)
        a[i] = i + ON_DEVICE;
}
#pragma omp declare variant(fill_fast) append_args(interop(target, targetsync)) adjust_args(need_device_ptr: a) match(construct = {dispatch})
static void fill(int *a, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = -1;
}

int main(void)
{
    int r = 0, a[8] = { 0 }, got = 0, wanted[2];
    omp_interop_t o = omp_interop_none, q = omp_interop_none;
    CHECK_EQ(slow(1), 0);
#pragma omp interop init(prefer_type("cuda_driver"), targetsync: o) init(prefer_type("cuda"), targetsync: q)
    wanted[0] = describe(o), wanted[1] = describe(q);
#pragma omp dispatch
    r = slow(5);
    CHECK(r == 6 && calls == 1);
    CHECK_EQ(kind, wanted[0]);
    CHECK_EQ(second, wanted[1]);
    CHECK(wanted[0] == -1 || device == omp_get_default_device());
#pragma omp dispatch interop(q, o) device(omp_get_default_device())
    r = slow(r);
    CHECK(r == 7 && kind == wanted[1] && second == wanted[0]);
#pragma omp dispatch novariants(1) interop(q)
    r = slow(r);
    CHECK(r == 6 && calls == 2);
#pragma omp target data map(from: a)
    {
#pragma omp dispatch interop(q)
        fill(a, 8);
    }
    for (int i = 0; i < 8; i++)
        got += a[i] == i + 1;
    CHECK(got == 8 && seen == q);
#pragma omp interop destroy(o) destroy(q)
    return RESULT;
}
