/* reductions on constructs that the teams share, in teams regions with other statements: whose the original is, and when it is updated */
#include "check.h"

enum { N = 500, LARGE = 700 };
static int x[N];
static double y[N];
struct stat { double sum; int most; short n; };
#pragma omp declare reduction(stat : struct stat : omp_out.sum += omp_in.sum, omp_out.n += omp_in.n, \
    omp_out.most = omp_in.most > omp_out.most ? omp_in.most : omp_out.most) initializer(omp_priv = { 0, -1, 0 })
/* No identity at all: a copy that saw nothing must not be seen. */
struct least { int set, value; };
static void lesser(struct least *a, const struct least *b) { if (b->set && (!a->set || b->value < a->value)) *a = *b; }
#pragma omp declare reduction(least : struct least : lesser(&omp_out, &omp_in)) initializer(omp_priv = { 0, 0 })
#pragma omp begin declare target
long of_file = 5;
int of_file_array[30];
int after;
#pragma omp end declare target

static int total(void) { int s = 0; for (int i = 0; i < N; i++) s += x[i]; return s; }

/* A local of the region, a private and a reduced variable of the teams construct: the team reads its part right behind the construct. */
static void of_the_team(int teams)
{
    int sums[64] = { 0 }, privates[64] = { 0 }, sections[64] = { 0 }, real = 0, mine = 100, reduced = 7, k = 3;
#pragma omp target teams num_teams(teams) thread_limit(48) map(tofrom: sums, privates, sections, real) map(to: x) firstprivate(mine) reduction(+: reduced)
    {
        int local = 1, array[5] = { 0 }, t = omp_get_team_num();
#pragma omp distribute parallel for reduction(+: local, mine, reduced, array)
        for (int i = 0; i < N; i++) local += x[i], mine += x[i], reduced += x[i], array[i % 5] += x[i];
        sums[t] = local;
        privates[t] = mine + 10 * k;
#pragma omp distribute parallel for reduction(+: array[1:3])
        for (int i = 0; i < N; i++) array[1 + i % 3] += x[i];
        for (int i = 0; i < 5; i++) sections[t] += array[i];
        reduced++;
        if (t == 0) real = omp_get_num_teams();
    }
    int want = total(), s = 0, p = 0, a = 0;
    for (int t = 0; t < real; t++) s += sums[t], p += privates[t], a += sections[t];
    CHECK(real > 0 && real <= 64);
    CHECK_EQ(s, want + real);
    CHECK_EQ(p, want + 130 * real);
    CHECK_EQ(a, 2 * want);
    CHECK_EQ(reduced, 7 + want + real);
}

/* With one team the original has the value right behind the construct. */
static void one_team(void)
{
    int n = 4, right = 0, array[40] = { 0 };
    double d = 0.5;
#pragma omp target teams num_teams(1) thread_limit(48) map(tofrom: n, d, right, array) map(to: x, y)
    {
#pragma omp distribute parallel for reduction(+: n, d, array)
        for (int i = 0; i < N; i++) n += x[i], d += 1, array[i % 40] += 2;
        right = n + (int)d + array[3];
#pragma omp distribute simd reduction(+: n)
        for (int i = 0; i < N; i++) n -= x[i];
        right += 1000 * n;
    }
    CHECK_EQ(right, 4 + total() + N + 26 + 4000);
    CHECK_EQ(n, 4);
    CHECK_EQ(d, N + 0.5);
}

/* In a loop, twice on one variable, with several operators, beside atomics, in a function's local; not at all. */
static void again(int teams, int rounds, int doit)
{
    long n = 3, product = 1, other = 0;
    int most = 0, some[20] = { 1 }, seen = 0;
    double d = 0, zero = -0.0;
    struct stat s = { 0.5, -1, 2 };
    struct least l = { 0, 99 };
#pragma omp target teams num_teams(teams) thread_limit(40) map(tofrom: n, product, most, d, s, l, zero, other, some) map(to: x, y) \
    reduction(+: seen)
    {
        seen++;
        for (int r = 0; r < rounds; r++) {
#pragma omp distribute parallel for reduction(+: n, d) reduction(max: most)
            for (int i = r; i < N; i++) n += x[i], d += y[i], most = x[i] * 3 > most ? x[i] * 3 : most;
#pragma omp distribute parallel for reduction(stat: s) reduction(least: l)
            for (int i = 0; i < N; i++) {
                s.sum += 1, s.n++, s.most = x[i] > s.most ? x[i] : s.most;
                if (i % 100 == 7 && (!l.set || x[i] < l.value)) l.set = 1, l.value = x[i];
            }
        }
#pragma omp distribute simd reduction(+: n)
        for (int i = 0; i < N; i++) n += 10;
#pragma omp distribute parallel for reduction(*: product)
        for (int i = 0; i < 12; i++) product *= 2;
        if (doit) {
#pragma omp distribute parallel for reduction(+: zero, other, some)
            for (int i = 0; i < doit; i++) zero += 1, other += 1, some[i % 20]++;
        }
#pragma omp atomic
        other += 1000;
    }
    long want = 3 + 10 * N, somes = -1;
    for (int i = 0; i < 20; i++) somes += some[i];
    int top = 0, least = 1 << 30, teams_now = (int)(other / 1000);
    double dw = 0;
    for (int r = 0; r < rounds; r++)
        for (int i = r; i < N; i++) want += x[i], dw += y[i], top = x[i] * 3 > top ? x[i] * 3 : top;
    for (int i = 0; i < N; i++)
        if (i % 100 == 7 && x[i] < least) least = x[i];
    CHECK_EQ(n, want);
    CHECK_EQ(d, dw);
    CHECK_EQ(most, top);
    CHECK_EQ(product, 1 << 12);
    CHECK_EQ(s.sum, 0.5 + rounds * N);
    CHECK_EQ(s.n, 2 + rounds * N);
    CHECK_EQ(s.most, rounds ? top / 3 : -1);
    CHECK_EQ(l.set, rounds > 0);
    CHECK_EQ(l.value, rounds ? least : 99);
    CHECK_EQ(zero, doit);
    CHECK_EQ(somes, doit);
    CHECK(doit || __builtin_signbit(zero));            /* nothing was added to it */
    CHECK_EQ(other % 1000, doit);
    CHECK(teams_now >= 1);
    CHECK_EQ(seen, teams_now);
}

/* Arrays: of the file, mapped, run-time size, sections through pointers, of a struct type; beside reductions on teams. */
static void arrays(int teams, int n, int lower)
{
    int whole[LARGE] = { 0 }, vla[n], count = 0, more = 1, own[70] = { 0 };
    double *p = malloc(sizeof *p * (size_t)(n + lower));
    struct stat pair[6];
    for (int i = 0; i < n; i++) vla[i] = i;
    for (int i = 0; i < n + lower; i++) p[i] = 0.25;
    for (int i = 0; i < 6; i++) pair[i] = (struct stat){ 0, -1, 0 };
    for (int i = 0; i < 30; i++) of_file_array[i] = i;
    of_file = 5;
#pragma omp target update to(of_file_array, of_file)
#pragma omp target teams num_teams(teams) thread_limit(32) map(tofrom: whole, vla[0:n], p[0:n + lower], pair, more) map(to: x) \
    reduction(+: count, own)
    {
        count++;
        own[omp_get_team_num() % 70] += 1;
#pragma omp distribute parallel for reduction(+: whole, vla[0:n], p[lower:n]) reduction(stat: pair)
        for (int i = 0; i < N; i++) {
            whole[i % LARGE] += x[i], vla[i % n] += x[i], p[lower + i % n] += x[i];
            pair[i % 6].sum += x[i], pair[i % 6].n++;
        }
#pragma omp distribute parallel for reduction(+: of_file, of_file_array, more)
        for (int i = 0; i < N; i++) of_file += x[i], of_file_array[i % 30] += x[i], more++;
#pragma omp distribute simd reduction(+: p[0:lower], whole[3:10], count)
        for (int i = 0; i < N; i++) p[i % lower] += 1, whole[3 + i % 10] += 1000, count += 1;
    }
#pragma omp target update from(of_file_array, of_file)
    int s[5] = { 0 }, nown = 0;
    double d[3] = { 0 };
    for (int i = 0; i < LARGE; i++) s[0] += whole[i];
    for (int i = 0; i < n; i++) s[1] += vla[i] - i;
    for (int i = 0; i < 30; i++) s[2] += of_file_array[i] - i;
    for (int i = 0; i < 6; i++) s[3] += pair[i].n, d[0] += pair[i].sum;
    for (int i = lower; i < n + lower; i++) d[1] += p[i] - 0.25;
    for (int i = 0; i < lower; i++) d[2] += p[i] - 0.25;
    for (int i = 0; i < 70; i++) nown += own[i];
    CHECK_EQ(s[0], total() + 1000 * N);
    CHECK_EQ(s[1], total());
    CHECK_EQ(s[2], total());
    CHECK_EQ(s[3], N);
    CHECK_EQ(d[0], total());
    CHECK_EQ(d[1], total());
    CHECK_EQ(d[2], N);
    CHECK_EQ(of_file, 5 + total());
    CHECK_EQ(more, 1 + N);
    CHECK_EQ(count, N + nown);
    CHECK_EQ(whole[3], x[3] + (N / 10) * 1000);
    free(p);
}

/* What may be another object in each team is updated under the lock. */
#pragma omp begin declare target
static int called(const int *v, int n, int *into)
{
    int mine = 0;
#pragma omp distribute parallel for reduction(+: mine, after, into[0:2])
    for (int i = 0; i < n; i++) mine += v[i], after += v[i], into[i % 2] += v[i];
    return mine;
}
#pragma omp end declare target

static void unknown(int teams)
{
    int parts[130] = { 0 }, sums[64] = { 0 }, league[2] = { 0 }, both = 0, s = 0, q = 0;
    after = 1;
#pragma omp target update to(after)
#pragma omp target teams num_teams(teams) thread_limit(32) map(tofrom: parts, sums, league, both) map(to: x)
    {
        int t = omp_get_team_num(), *p = parts + 2 * t, u = t;
#pragma omp distribute parallel for reduction(+: p[0:2], both)
        for (int i = 0; i < N; i++) p[i & 1] += x[i], both += x[i];
#pragma omp distribute parallel for reduction(+: parts[2 * u:2])
        for (int i = 0; i < N; i++) parts[2 * u + 1] += x[i];
        sums[t] = called(x, N, league);
    }
#pragma omp target update from(after)
    for (int i = 0; i < 130; i++) s += parts[i];
    for (int i = 0; i < 64; i++) q += sums[i];
    CHECK_EQ(s, 2 * total());
    CHECK_EQ(q, total());
    CHECK_EQ(both, total());
    CHECK_EQ(league[0] + league[1], total());
    CHECK_EQ(after, 1 + total());
}

int main(void)
{
    for (int i = 0; i < N; i++) x[i] = (i * 37 + 11) % 101, y[i] = x[i] * 0.5;
    int on_device = 0;
#pragma omp target map(from: on_device)
    on_device = ON_DEVICE;
    CHECK(on_device);
    one_team();
    static const int teams[] = { 5, 1, 40, 2, 7 };     /* what a launch left behind in the scratchpad is another geometry's */
    for (int i = 0; i < COUNT(teams); i++) {
        of_the_team(teams[i]);
        again(teams[i], 3, 0);
        again(teams[i], i % 2, i == 1 ? N : 11);
        arrays(teams[i], 90 - 7 * i, 3 + 8 * i);
        unknown(teams[i]);
    }
#pragma omp parallel for num_threads(4) schedule(static, 1)
    for (int t = 0; t < 8; t++)
        again(3 + 5 * t, 2, t);
    return RESULT;
}
