/* Reductions on every directive with no, one, few and many iterations, fewer and more than threads or teams, one thread, one team, on the
 * host by `if` and `device`. */
#include "../run/check.h"

enum { ITEMS = 3 };
struct result { double s; int m, a[ITEMS]; _Bool all; };
static void check(const char *name, const struct result *r, int n, int times)
{
    struct result e = { 1, -5, { 1, 2, 3 }, 1 };
    for (int i = 0; i < n; i++) {
        e.s += times * i;
        e.m = i > e.m ? i : e.m;
        e.a[i % ITEMS] += times;
        e.all = e.all && i < 900;
    }
    if (e.s == r->s && e.m == r->m && e.all == r->all && !memcmp(e.a, r->a, sizeof e.a)) return;
    if (check_failures++ < 20)
        printf("%s: n %d: %g %d %d %d %d %d, not %g %d %d %d %d %d\n", name, n, r->s, r->m, r->a[0], r->a[1], r->a[2], r->all, e.s, e.m, e.a[0],
               e.a[1], e.a[2], e.all);
}

#ifdef STRUCT                           /* all in one struct with a reduction of its own */
static void join(struct result *x, const struct result *y)
{
    x->s += y->s;
    x->m = y->m > x->m ? y->m : x->m;
    for (int i = 0; i < ITEMS; i++) x->a[i] += y->a[i];
    x->all = x->all && y->all;
}
#pragma omp declare reduction(join : struct result : join(&omp_out, &omp_in)) initializer(omp_priv = { 0, -1000, { 0 }, 1 })
#define BEGIN struct result r = { 1, -5, { 1, 2, 3 }, 1 }; (void)n, (void)teams, (void)threads, (void)on;
#define END(name, times) check(name, &r, n, times);
#define BODY { r.s += i; r.m = i > r.m ? i : r.m; r.a[i % ITEMS]++; r.all = r.all && i < 900; }
#define MAPS map(tofrom: r)
#define R reduction(join: r)
#else
#define BEGIN struct result r = { 1, -5, { 1, 2, 3 }, 1 }; double s = r.s; int m = r.m, *a = r.a; _Bool all = r.all; \
    (void)n, (void)teams, (void)threads, (void)on;
#define END(name, times) r.s = s; r.m = m; r.all = all; check(name, &r, n, times);
#define BODY { s += i; m = i > m ? i : m; a[i % ITEMS]++; all = all && i < 900; }
#define MAPS map(tofrom: s, m, all, a[0:ITEMS])
#define R reduction(+: s, a[0:ITEMS]) reduction(max: m) reduction(&&: all)
#endif
#define DO_(...) _Pragma(#__VA_ARGS__)
#define DO(...) DO_(__VA_ARGS__)
#define FORM(name, times, ...) \
    static void name(int n, int teams, int threads, int on) \
    { BEGIN DO(__VA_ARGS__) for (int i = 0; i < n; i++) BODY DO(omp taskwait) END(#name, times) }
#define INNER(name, times, outer, ...) \
    static void name(int n, int teams, int threads, int on) \
    { BEGIN DO(outer) { DO(__VA_ARGS__) for (int i = 0; i < n; i++) BODY } END(#name, times) }

FORM(f0, 1, omp target teams distribute parallel for num_teams(teams) thread_limit(threads) R)
FORM(f1, 1, omp target teams distribute num_teams(teams) R)
FORM(f2, 1, omp target teams distribute simd num_teams(teams) R)
FORM(f3, 1, omp target teams distribute parallel for simd num_teams(teams) num_threads(threads) R)
FORM(f4, 1, omp target teams loop num_teams(teams) thread_limit(threads) R)
FORM(f5, 1, omp target parallel for num_threads(threads) R)
FORM(f6, 1, omp target parallel for simd num_threads(threads) R)
FORM(f7, 1, omp target parallel loop num_threads(threads) R)
FORM(f8, 1, omp target simd R)
FORM(f9, 1, omp target teams distribute parallel for num_teams(teams) thread_limit(1) R)
FORM(f10, 1, omp target teams distribute parallel for num_teams(1) num_threads(1) R)
FORM(f11, 1, omp target parallel for thread_limit(threads) schedule(dynamic) R)
FORM(f12, 1, omp target teams distribute parallel for if(parallel: on) num_teams(teams) thread_limit(threads) R)
FORM(f13, 1, omp target teams distribute parallel for nowait num_teams(teams) thread_limit(threads) dist_schedule(static, 3) schedule(dynamic, 2) R)
FORM(h0, 1, omp target teams distribute parallel for if(target: on) num_teams(1) thread_limit(4) R)
FORM(h1, 1, omp target parallel for if(on) num_threads(4) R)
FORM(h2, 1, omp target simd if(target: on) R)
FORM(h3, 1, omp target parallel for device(on ? omp_get_default_device() : omp_get_initial_device()) num_threads(3) R)
FORM(h4, 1, omp target teams loop num_teams(1) if(target: on) R)
INNER(i0, 1, omp target MAPS, omp parallel for num_threads(threads) R)
INNER(i1, 1, omp target MAPS, omp parallel for if(on) R)
INNER(i2, 1, omp target MAPS, omp simd R)
INNER(i3, 1, omp target MAPS, omp loop bind(thread) R)
INNER(i4, 1, omp target MAPS, omp parallel loop num_threads(threads) R)
INNER(i5, 1, omp target MAPS, omp parallel for simd schedule(guided) num_threads(threads) R)
INNER(i6, 1, omp target parallel num_threads(threads) MAPS, omp for R)
INNER(i7, 1, omp target parallel num_threads(threads) MAPS, omp for nowait schedule(static, 1) R)
INNER(i8, 1, omp target parallel num_threads(threads) MAPS, omp loop bind(parallel) R)
INNER(i9, 1, omp target parallel num_threads(threads) R, omp for)
INNER(i10, 1, omp target teams num_teams(teams) thread_limit(threads) R, omp distribute)
INNER(i11, 1, omp target teams num_teams(teams) thread_limit(threads) R, omp distribute parallel for R)
INNER(i12, 1, omp target teams num_teams(teams) R, omp distribute simd R)
INNER(i13, 1, omp target teams num_teams(teams) R, omp distribute parallel for simd R)
INNER(i14, 1, omp target MAPS, omp teams distribute parallel for num_teams(teams) thread_limit(threads) R)
INNER(i15, 1, omp target MAPS, omp teams distribute num_teams(teams) R)
INNER(i16, 1, omp target MAPS, omp teams loop num_teams(teams) R)
INNER(i17, teams, omp target teams num_teams(teams) thread_limit(threads) R, omp parallel for R)
INNER(i18, threads, omp target parallel num_threads(threads) R, omp simd safelen(1))
INNER(i19, threads, omp target parallel num_threads(threads) R, omp simd R)

/* Constructs without a loop: what each thread, team or section adds. */
static void no_loop(int n, int teams, int threads, int on)
{
    int s = 0, t[5] = { 0 }, got = 0, k = n % 4;
    (void)on;
#pragma omp target parallel num_threads(threads) reduction(+: s, t) map(tofrom: got)
    {
        s++, t[omp_get_thread_num() % 5]++;
        if (omp_get_thread_num() == 0) got = omp_get_num_threads();
    }
    CHECK_EQ(s, got);
    CHECK_EQ(t[0] + t[1] + t[2] + t[3] + t[4], got);
    CHECK(got == threads);
    s = 0;
#pragma omp target teams num_teams(teams) reduction(+: s) reduction(max: got)
    {
        s++;
        got = omp_get_num_teams();
    }
    CHECK(s <= got && s > 0);
    s = 10;
#pragma omp target map(tofrom: s, t)
    {
#pragma omp parallel sections num_threads(threads) reduction(+: s) reduction(max: t)
        {
            s += k;
#pragma omp section
            { s += 2; t[1] = 1000; }
#pragma omp section
            s += 3;
#pragma omp section
            { }
        }
    }
    CHECK_EQ(s, 15 + k);
    CHECK_EQ(t[1], 1000);
#pragma omp target parallel num_threads(threads) map(tofrom: s)
    {
#pragma omp sections reduction(+: s) nowait
        {
#pragma omp section
            s -= 4;
#pragma omp section
            s -= 5;
        }
    }
    CHECK_EQ(s, 6 + k);
}

int main(void)
{
    static void (*const forms[])(int, int, int, int) = {
        f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, h0, h1, h2, h3, h4, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14,
        i15, i16, i17, i18, i19, no_loop,
    };
    static const int trips[] = { 0, 1, 3, 33, 1000 }, geometry[][2] = { { 1, 1 }, { 5, 40 }, { 70, 3 } };
    for (int f = 0; f < COUNT(forms); f++)
        for (int t = 0; t < COUNT(trips); t++)
            for (int g = 0; g < COUNT(geometry); g++)
                for (int host = 0; host <= !g; host++) forms[f](trips[t], geometry[g][0], geometry[g][1], !host);
    return RESULT;
}
