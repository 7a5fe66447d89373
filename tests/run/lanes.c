/* simd loops and parallel loops inside of a league's loop, which lanes of a warp may share: the same results as one thread an iteration gives (lanes.t: for any number
 * of lanes) */
/* also: -O0 */
/* gpus: all */
#include <complex.h>
#include <math.h>
#include "check.h"
enum { N = 150, MOST = 70, WIDE = 24 };
static int e[N + 1], column[N * MOST], on;
static double a[N * MOST], x[N], y[N], z[N], w[N * MOST], want[N], other[N * MOST];
static long counts[8];
#define ROW(i) for (int k = e[i]; k < e[(i) + 1]; k++)
#define MAPS map(to: e, column, a, x) map(from: y)
#define LEAGUE target teams distribute parallel for

static void set_up(void)
{
    for (int i = 0; i < N; i++) {
        e[i + 1] = e[i] + i * 29 % MOST;
        x[i] = i % 11 - 4;
    }
    for (int k = 0; k < N * MOST; k++) {
        a[k] = k * 7 % 13 - 5;
        column[k] = k * 31 % N;
    }
}
static void compare(const char *what, const double *is, const double *should, int n)
{
    for (int i = 0; i < n; i++)
        if (is[i] != should[i]) {
            printf("%s: %d is %g, not %g\n", what, i, is[i], should[i]);
            check_failures++;
            return;
        }
}

/* ------------------------------------------------------------------ sums */
static void sums(void)
{
#pragma omp LEAGUE MAPS map(tofrom: on)
    for (int i = 0; i < N; i++) {
        double s = 1;
#pragma omp simd reduction(+: s) simdlen(32)
        for (int k = e[i]; k < e[i + 1]; k++)
            s += a[k] * x[column[k]];
        y[i] = s;
        if (i == 0)
            on = ON_DEVICE;
    }
    CHECK(on);
    for (int i = 0; i < N; i++) {
        want[i] = 1;
        ROW(i) want[i] += a[k] * x[column[k]];
    }
    compare("sums", y, want, N);
    /* as many lanes as the host chooses */
#pragma omp LEAGUE MAPS
    for (int i = 0; i < N; i++) {
        const int begin = e[i], end = e[i + 1];
        double s = 1;
#pragma omp simd reduction(+: s)
        for (int k = begin; k < end; k++)
            s += a[k] * x[column[k]];
        y[i] = s;
    }
    compare("chosen", y, want, N);
    /* two results, the second needs the first; conditions around */
#pragma omp LEAGUE MAPS map(tofrom: z)
    for (int i = 0; i < N; i++) {
        const int n = e[i + 1] - e[i];
        double s = 0, q = 0;
        if (n == 5)
            continue;
        if (n > 3) {
#pragma omp simd reduction(+: s) simdlen(8)
            for (int k = e[i]; k < e[i + 1]; k++)
                s += a[k];
            s = s > 3 ? 3 : s;
#pragma omp simd reduction(+: q) simdlen(8)
            for (int k = e[i]; k < e[i + 1]; k++)
                q += (a[k] - s) * (a[k] - s);
            z[i] = q;
        } else {
            z[i] = -1;
        }
        y[i] = s;
    }
    for (int i = 0; i < N; i++) {
        double s = 0, q = 0;
        const int n = e[i + 1] - e[i];
        if (n == 5) {
            other[i] = z[i], want[i] = y[i];
            continue;
        }
        ROW(i) s += a[k];
        s = n > 3 ? s > 3 ? 3 : s : 0;
        ROW(i) q += (a[k] - s) * (a[k] - s);
        other[i] = n > 3 ? q : -1, want[i] = s;
    }
    compare("first", y, want, N);
    compare("second", z, other, N);
}

/* ------------------------------------------------------------------ operators and types */
struct place {
    double value;
    int at;
};
static void larger(struct place *o, const struct place *n) /* of equal ones the one that o has */
{
    if (n->value > o->value)
        *o = *n;
}
#pragma omp declare reduction(larger: struct place: larger(&omp_out, &omp_in)) initializer(omp_priv = { -1000, -1 })

static void operators(void)
{
    static int is[N][8], should[N][8];
#pragma omp LEAGUE MAPS map(from: is)
    for (int i = 0; i < N; i++) {
        int sum = 3, least = 9, bits = 0, xor = 5, all = 1, any = 0;
        short product = 1;
        float most = -9;
#pragma omp simd simdlen(16) reduction(+: sum) reduction(min: least) reduction(|: bits) reduction(^: xor) reduction(&&: all) \
    reduction(||: any) reduction(*: product) reduction(max: most)
        for (int k = e[i]; k < e[i + 1]; k++) {
            int v = (int)a[k];
            sum += v;
            least = v < least ? v : least;
            bits |= v & 63;
            xor ^= v;
            all = all && v != 7;
            any = any || v == 6;
            product *= k % 5 == 0 ? 3 : 1;
            most = v > most ? v : most;
        }
        is[i][0] = sum, is[i][1] = least, is[i][2] = bits, is[i][3] = xor;
        is[i][4] = all, is[i][5] = any, is[i][6] = product, is[i][7] = (int)most;
    }
    for (int i = 0; i < N; i++) {
        int *r = should[i];
        short product = 1;
        r[0] = 3, r[1] = 9, r[2] = 0, r[3] = 5, r[4] = 1, r[5] = 0, r[7] = -9;
        ROW(i) {
            int v = (int)a[k];
            r[0] += v, r[1] = v < r[1] ? v : r[1], r[2] |= v & 63, r[3] ^= v, r[4] = r[4] && v != 7, r[5] = r[5] || v == 6;
            product *= k % 5 == 0 ? 3 : 1;
            r[7] = v > r[7] ? v : r[7];
        }
        r[6] = product;
    }
    CHECK(memcmp(is, should, sizeof is) == 0);

    /* a user's reduction and a complex one: all lanes have the same, whichever the order */
#pragma omp LEAGUE MAPS map(from: z, w)
    for (int i = 0; i < N; i++) {
        struct place best = { -100, -1 };
        double _Complex c = 1;
        int passes = 0;
#pragma omp simd simdlen(32) reduction(larger: best) reduction(+: c)
        for (int k = e[i]; k < e[i + 1]; k++) {
            struct place here = { a[k], k };
            if (here.value > best.value)
                best = here;
            c += a[k] + 2 * a[k] * I;
        }
        for (int n = best.at; n > 0; n -= 1000) /* as often in each lane */
            passes++;
        y[i] = best.value;
        z[i] = best.at < 0 || a[best.at] == best.value;
        w[i] = creal(c) + cimag(c) + 0 * passes;
    }
    for (int i = 0; i < N; i++) {
        want[i] = -100, other[i] = 1;
        ROW(i) want[i] = a[k] > want[i] ? a[k] : want[i], other[i] += 3 * a[k];
        CHECK(z[i]);
    }
    compare("place", y, want, N);
    compare("complex", w, other, N);
}

/* ------------------------------------------------------------------ what the row has for itself */
static double twice(double v) { return v + v; }

static void locals(void)
{
#pragma omp LEAGUE MAPS map(from: w)
    for (int i = 0; i < N; i++) {
        double factor[4] = { 1, 2, 3, 4 }, result[4];
        struct place p = { x[i], i };
        factor[i % 4] = twice(p.value);
        p.value += sqrt(16.0);
        for (int j = 0; j < 4; j++) {
            double s = 0;
#pragma omp simd reduction(+: s) simdlen(8)
            for (int k = e[i]; k < e[i + 1]; k++)
                s += a[k] * factor[(k + j) % 4];
            result[j] = s + p.value;
        }
        for (int j = 0; j < 4; j++)
            w[4 * i + j] = result[j];
        y[i] = p.at;
    }
    for (int i = 0; i < N; i++) {
        double factor[4] = { 1, 2, 3, 4 };
        factor[i % 4] = 2 * x[i];
        for (int j = 0; j < 4; j++) {
            other[4 * i + j] = x[i] + 4;
            ROW(i) other[4 * i + j] += a[k] * factor[(k + j) % 4];
        }
        want[i] = i;
    }
    compare("results", w, other, 4 * N);
    compare("numbers", y, want, N);
    /* private variables from outside; what a simd loop sets in an array of the row needs one thread */
    double t, kept[WIDE];
#pragma omp LEAGUE MAPS private(t, kept)
    for (int i = 0; i < N; i++) {
        t = x[i];
#pragma omp simd simdlen(32)
        for (int k = 0; k < WIDE; k++)
            kept[k] = t * k;
        double s = 0;
#pragma omp simd reduction(+: s) simdlen(32)
        for (int k = 1; k < WIDE; k++)
            s += kept[k] - kept[k - 1];
        y[i] = s;
    }
    for (int i = 0; i < N; i++)
        want[i] = x[i] * (WIDE - 1);
    compare("kept", y, want, N);
}

/* ------------------------------------------------------------------ memory that lanes see of each other */
static void visible(void)
{
    static double v[N];
    for (int i = 0; i < N; i++)
        y[i] = i, v[i] = 2 * i;
#pragma omp LEAGUE map(to: e, a) map(tofrom: y, v) map(from: z, w)
    for (int i = 0; i < N; i++) {
        double before = y[i], s = 0;
#pragma omp simd reduction(+: s) simdlen(32)
        for (int k = e[i]; k < e[i + 1]; k++)
            s += a[k] + y[i];
        y[i] = s;
        v[i] += y[i];
        double after = y[i] + v[i];
        s = before;
#pragma omp simd reduction(+: s) simdlen(32)
        for (int k = e[i]; k < e[i + 1]; k++)
            s += after + y[i];
        z[i] = s;
        w[i] = before;
    }
    for (int i = 0; i < N; i++) {
        double s = 0, first;
        ROW(i) s += a[k] + i;
        first = s;
        s = i;
        ROW(i) s += first + 2 * i + first + first;
        want[i] = s, other[i] = first;
        CHECK_EQ(w[i], i);
        CHECK_EQ(v[i], 2 * i + first);
    }
    compare("stored", y, other, N);
    compare("read", z, want, N);
}

/* what one loop stores, the next reads in another order */
static void stores(double *restrict to, const double *restrict from, double *restrict sums, int n)
{
#pragma omp LEAGUE map(from: to[0:n * WIDE], sums[0:n]) map(to: from[0:n * WIDE])
    for (int i = 0; i < n; i++) {
        double s = 0;
#pragma omp simd simdlen(32)
        for (int k = 0; k < WIDE; k++)
            to[i * WIDE + k] = from[i * WIDE + k] * (k + 1);
#pragma omp simd reduction(+: s) simdlen(32)
        for (int k = 0; k < WIDE; k++)
            s += to[i * WIDE + (WIDE - 1 - k)] * k;
        sums[i] = s;
#pragma omp simd simdlen(32) order(concurrent)
        for (int k = 0; k < WIDE; k++)
            to[i * WIDE + WIDE - 1 - k] += s;
    }
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int k = 0; k < WIDE; k++)
            s += from[i * WIDE + k] * (k + 1) * (WIDE - 1 - k);
        want[i] = s;
        for (int k = 0; k < WIDE; k++)
            other[i * WIDE + k] = from[i * WIDE + k] * (k + 1) + s;
    }
    compare("sums of stored", sums, want, n);
    compare("stored", to, other, n * WIDE);
}

/* members of an element of its own; a function that reads what others store; elements through a sum of pointer and number */
struct pair {
    double left, right;
};
static double next_of(const double *p, int k) { return p[k + 1 < WIDE ? k + 1 : k]; }
static void members(struct pair *restrict pairs, double *restrict q, const double *restrict from)
{
    for (int k = 0; k < N * WIDE; k++)
        q[k] = k % 5;
#pragma omp LEAGUE map(tofrom: pairs[0:N * WIDE], q[0:N * WIDE]) map(to: from[0:N * WIDE])
    for (int i = 0; i < N; i++) {
        double s = 0;
#pragma omp simd simdlen(16)
        for (int k = 0; k < WIDE; k++) {
            pairs[i * WIDE + k].left = from[i * WIDE + k];
            pairs[i * WIDE + k].right = 2 * from[i * WIDE + k] + pairs[i * WIDE + k].left;
        }
#pragma omp simd simdlen(16) reduction(+: s)
        for (int k = 0; k < WIDE; k++)
            s += pairs[i * WIDE + WIDE - 1 - k].right * *(from + (i * WIDE + k));
        q[i * WIDE] = s;
    }
    for (int i = 0; i < N; i++) {
        double s = 0;
        for (int k = 0; k < WIDE; k++) {
            s += 3 * from[i * WIDE + WIDE - 1 - k] * from[i * WIDE + k];
            CHECK_EQ(pairs[i * WIDE + k].right, 3 * from[i * WIDE + k]);
        }
        CHECK_EQ(q[i * WIDE], s);
    }
    for (int k = 0; k < N * WIDE; k++)
        q[k] = k % 5;
#pragma omp LEAGUE map(tofrom: q[0:N * WIDE])
    for (int i = 0; i < N; i++) {
        double *const p = q + i * WIDE;
#pragma omp simd simdlen(16)
        for (int k = 0; k < WIDE; k++)
            q[i * WIDE + k] = next_of(p, k) + 1;
    }
    for (int i = 0; i < N * WIDE; i++)
        CHECK_EQ(q[i], (i % WIDE + 1 < WIDE ? i + 1 : i) % 5 + 1);
}

/* Iterations in step: each reads what the next one overwrites, or what the one before has written; safelen says how far.  One lane has to do it. */
static void in_step(double *p, double *q)
{
    for (int k = 0; k < N * WIDE; k++)
        p[k] = q[k] = other[k] = k % 17;
#pragma omp LEAGUE map(tofrom: p[0:N * WIDE], q[0:N * WIDE])
    for (int i = 0; i < N; i++) {
        double *r = p + i * WIDE, *v = r + 1;
#pragma omp simd simdlen(32)
        for (int k = 0; k < WIDE - 1; k++)
            r[k] = v[k] + 1;
#pragma omp simd safelen(4) simdlen(4)
        for (int k = 4; k < WIDE; k++)
            q[i * WIDE + k] = q[i * WIDE + k - 4] + 1;
    }
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < WIDE - 1; k++)
            CHECK_EQ(p[i * WIDE + k], other[i * WIDE + k + 1] + 1);
        for (int k = 4; k < WIDE; k++)
            CHECK_EQ(q[i * WIDE + k], other[i * WIDE + k % 4] + k / 4);
    }
}

/* ------------------------------------------------------------------ once for each row */
static void add(long *to) /* not pure */
{
#pragma omp atomic
    to[0]++;
}
static void once(void)
{
    double total = 0, most = -1, both = 0;
    memset(counts, 0, sizeof counts);
#pragma omp LEAGUE MAPS map(tofrom: counts) reduction(+: total, both) reduction(max: most)
    for (int i = 0; i < N; i++) {
        double s = 0;
#pragma omp atomic
        counts[0]++;
#pragma omp simd reduction(+: s) simdlen(32)
        for (int k = e[i]; k < e[i + 1]; k++)
            s += a[k];
#pragma omp simd reduction(+: both) simdlen(32)
        for (int k = e[i]; k < e[i + 1]; k++)
            both += a[k] * 2;
        total += s;
        if (most < s)
            most = s;
        for (int j = 0; j < 3; j++) {
#pragma omp atomic update
            counts[1] += j;
            counts[2] = 17;
        }
        add(&counts[3]);
        both += 1;
#pragma omp atomic write
        counts[4] = 4;
        y[i] = s;
    }
    double sum = 0, largest = -1;
    for (int i = 0; i < N; i++) {
        want[i] = 0;
        ROW(i) want[i] += a[k];
        sum += want[i];
        largest = want[i] > largest ? want[i] : largest;
    }
    compare("once", y, want, N);
    CHECK_EQ(total, sum);
    CHECK_EQ(both, 2 * sum + N);
    CHECK_EQ(most, largest);
    CHECK_EQ(counts[0], N);
    CHECK_EQ(counts[1], 3 * N);
    CHECK_EQ(counts[2], 17);
    CHECK_EQ(counts[3], N);
    CHECK_EQ(counts[4], 4);
}
/* the same without what stops lanes */
static void tallies(void)
{
    double total = 1, both = 2;
    memset(counts, 0, sizeof counts);
#pragma omp LEAGUE MAPS map(tofrom: counts) reduction(+: total, both)
    for (int i = 0; i < N; i++) {
        double s = 0;
#pragma omp atomic
        counts[i % 3]++;
#pragma omp simd reduction(+: s) simdlen(16)
        for (int k = e[i]; k < e[i + 1]; k++)
            s += a[k];
#pragma omp simd reduction(+: both) simdlen(16)
        for (int k = e[i]; k < e[i + 1]; k++)
            both += a[k] * 2;
        total += s;
        add(&counts[3]);
        both += 1;
        switch (i % 3) {
        case 0: y[i] = s; break;
        case 1: y[i] = -s; counts[5] = 9; break;
        default: y[i] = 2 * s;
        }
    }
    double sum = 0;
    for (int i = 0; i < N; i++) {
        double s = 0;
        ROW(i) s += a[k];
        sum += s;
        want[i] = i % 3 == 0 ? s : i % 3 == 1 ? -s : 2 * s;
    }
    compare("tallies", y, want, N);
    CHECK_EQ(total, sum + 1);
    CHECK_EQ(both, 2 * sum + N + 2);
    CHECK_EQ(counts[0] + counts[1] + counts[2], N);
    CHECK_EQ(counts[3], N);
    CHECK_EQ(counts[5], 9);
}

/* ------------------------------------------------------------------ loops of all kinds */
static void loops(int n)
{
#pragma omp LEAGUE collapse(2) map(to: a) map(from: w)
    for (int i = 0; i < n; i++)
        for (unsigned long j = 0; j < 7; j++) {
            long s = 0;
#pragma omp simd reduction(+: s) simdlen(4)
            for (long k = WIDE; k > (long)j; k -= 3)
                s += (long)a[k + i] * (long)j;
            w[i * 7 + j] = s;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 7; j++) {
            other[i * 7 + j] = 0;
            for (int k = WIDE; k > j; k -= 3)
                other[i * 7 + j] += a[k + i] * j;
        }
    compare("nest", w, other, n * 7);
    /* bounds of constants: the host knows how long it is */
#pragma omp target teams loop map(to: a) map(from: y)
    for (int i = n - 1; i >= 0; i--) {
        double s = 0;
#pragma omp loop bind(thread) reduction(+: s)
        for (unsigned k = 0; k != MOST; k++)
            s += a[(unsigned)i * MOST + k];
        y[i] = s;
    }
    for (int i = 0; i < n; i++) {
        want[i] = 0;
        for (int k = 0; k < MOST; k++)
            want[i] += a[i * MOST + k];
    }
    compare("loop", y, want, n);
    /* fewer threads than a warp has, or a team that is no multiple of one */
#pragma omp LEAGUE num_threads(100) map(to: a) map(from: y)
    for (int i = 0; i < n; i++) {
        double s = 0;
#pragma omp simd reduction(+: s) simdlen(8)
        for (int k = 0; k < MOST; k++)
            s += a[i * MOST + k];
        y[i] = s;
    }
    compare("100 threads", y, want, n);
#pragma omp LEAGUE thread_limit(16) num_teams(3) map(to: a) map(from: y)
    for (int i = 0; i < n; i++) {
        double s = 0;
#pragma omp simd reduction(+: s) simdlen(16)
        for (int k = 0; k < MOST; k++)
            s += a[i * MOST + k];
        y[i] = s;
    }
    compare("3 teams", y, want, n);
#pragma omp LEAGUE map(to: a) map(from: y) nowait
    for (int i = 0; i < n; i++) {
        double s = 0;
#pragma omp simd reduction(+: s) simdlen(64)
        for (int k = 0; k < MOST; k++)
            s += a[i * MOST + k];
        y[i] = s;
    }
#pragma omp taskwait
    compare("nowait", y, want, n);
}

/* ------------------------------------------------------------------ clauses that stop lanes */
static void refused(void)
{
    static int last[N], line[N];
#pragma omp LEAGUE MAPS map(from: last, line, z)
    for (int i = 0; i < N; i++) {
        int l = -1, n = 3, j;
        double s = 0;
#pragma omp simd lastprivate(l) simdlen(8)
        for (int k = 0; k < WIDE; k++)
            l = k * i;
#pragma omp simd linear(n: 2) simdlen(8)
        for (int k = 0; k < WIDE; k++)
            n += 2;
#pragma omp simd reduction(+: s) simdlen(8) if(simd: i > 3)
        for (j = 0; j < WIDE; j++)
            s += j;
        last[i] = l;
        line[i] = n + j;
        y[i] = s;
    }
    for (int i = 0; i < N; i++) {
        CHECK_EQ(last[i], (WIDE - 1) * i);
        CHECK_EQ(line[i], 3 + 3 * WIDE);
        CHECK_EQ(y[i], WIDE * (WIDE - 1) / 2);
    }
#pragma omp LEAGUE map(from: y, z)
    for (int i = 0; i < N; i++) {
        double s = 0;
        int calls = omp_get_thread_num() >= 0;
#pragma omp simd simdlen(8) reduction(+: s)
        for (int k = 0; k < WIDE; k++) {
#pragma omp ordered simd
            z[i] = k;
            s += calls;
        }
        y[i] = s;
    }
    for (int i = 0; i < N; i++)
        CHECK_EQ(y[i] + z[i], 2 * WIDE - 1);
}

/* ------------------------------------------------------------------ parallel regions with a loop */
/* Iterations are independent, though no pointer has restrict; one adds to what the league reduces. */
static void regions(double *to, const double *from)
{
    double total = 1, t = 0;
#pragma omp LEAGUE map(to: e, a, x, column, from[0:N * MOST]) map(from: y, z, to[0:N * MOST]) reduction(+: total)
    for (int i = 0; i < N; i++) {
        const int begin = e[i], end = e[i + 1];
        double s = 1, q = 0;
#pragma omp parallel for reduction(+: s)
        for (int k = begin; k < end; k++)
            s += a[k] * x[column[k]];
        y[i] = s;
#pragma omp parallel for simd private(t) schedule(static, 1) simdlen(16) shared(s)
        for (int k = begin; k < end; k++) {
            t = from[k] + s;
            to[k] = t + y[i];
        }
#pragma omp parallel loop reduction(+: q)
        for (int k = begin; k < end; k++)
            q += to[begin + end - 1 - k];
        z[i] = q;
#pragma omp parallel for reduction(+: total) if(1) schedule(auto)
        for (int k = begin; k < end; k++)
            total += a[k];
        total += 1;
    }
    double sum = 1 + N;
    for (int i = 0; i < N; i++) {
        want[i] = 1, other[i] = 0;
        ROW(i) want[i] += a[k] * x[column[k]], sum += a[k];
        ROW(i) other[i] += from[k] + 2 * want[i];
        ROW(i) CHECK_EQ(to[k], from[k] + 2 * want[i]);
    }
    compare("regions", y, want, N);
    compare("of stored", z, other, N);
    CHECK_EQ(total, sum);
}

static void kinds(double *to)
{
    static double here[N][3];
    /* constants say how long it is; values from the end; a user's reduction, two in one line */
#pragma omp LEAGUE map(to: a) map(from: here, to[0:N * WIDE])
    for (int i = 0; i < N; i++) {
        struct place best = { -100, -1 };
        long most = -100;
        float product = 1;
#pragma omp parallel for reduction(larger: best) reduction(max: most) reduction(*: product) default(shared)
        for (long k = MOST - 1; k >= 0; k -= 2) {
            struct place p = { a[i * MOST + k], (int)k };
            if (p.value > best.value)
                best = p;
            most = (long)p.value > most ? (long)p.value : most;
            product *= k % 17 ? 1 : 2;
        }
        here[i][0] = best.value, here[i][1] = most, here[i][2] = product;
        if (i % 3)
            continue;
#pragma omp parallel for order(concurrent)
        for (int k = 0; k < WIDE; k++)
            to[i * WIDE + k] = a[i * MOST + k] + most;
        for (int j = 1; j < 3; j++) {
#pragma omp parallel for
            for (int k = 0; k < WIDE; k++)
                to[(i + j) * WIDE + k] = to[i * WIDE + (WIDE - 1 - k)] + j;
        }
    }
    for (int i = 0; i < N; i++) {
        double most = -100, product = 1;
        for (int k = MOST - 1; k >= 0; k -= 2)
            most = a[i * MOST + k] > most ? a[i * MOST + k] : most, product *= k % 17 ? 1 : 2;
        CHECK(here[i][0] == most && here[i][1] == most && here[i][2] == product);
        int row = i - i % 3;
        for (int k = 0; k < WIDE; k++)
            CHECK_EQ(to[i * WIDE + k], a[row * MOST + (i % 3 ? WIDE - 1 - k : k)] + here[row][1] + i % 3);
    }
}

/* One thread has such a region for itself: its number, the order of a chunk, the last value, and what many threads would have to wait for */
static void alone(double *p)
{
    static int asked[N], last[N], in_turn[N];
    memset(counts, 0, sizeof counts);
#pragma omp LEAGUE map(from: asked)
    for (int i = 0; i < N; i++) {
        int s = 0;
#pragma omp parallel for reduction(+: s)
        for (int k = 0; k < WIDE; k++)
            s += 1 + (omp_get_thread_num() + 1 == omp_get_num_threads());
        asked[i] = s;
    }
#pragma omp LEAGUE map(tofrom: counts) map(from: last, in_turn, p[0:N * WIDE])
    for (int i = 0; i < N; i++) {
        int l = -1, first = i, n = 0;
#pragma omp parallel for schedule(static, 4)
        for (int k = 0; k < WIDE; k++)
            p[i * WIDE + k] = k % 4 ? p[i * WIDE + k - 1] + 1 : i;
#pragma omp parallel for lastprivate(l) firstprivate(first)
        for (int k = 0; k < WIDE; k++)
            l = k + first;
#pragma omp parallel for
        for (int k = 0; k < WIDE; k++) {
#pragma omp atomic
            counts[0]++;
#pragma omp critical
            counts[1]++;
        }
#pragma omp parallel for ordered
        for (int k = 0; k < WIDE; k++) {
#pragma omp ordered
            n = n * 3 % 1009 + k;
        }
#pragma omp parallel
        {
#pragma omp single
            n++;
#pragma omp barrier
#pragma omp for
            for (int k = 0; k < WIDE; k++)
                p[i * WIDE + k] += n;
        }
        last[i] = l;
        in_turn[i] = n;
    }
    int n = 0;
    for (int k = 0; k < WIDE; k++)
        n = n * 3 % 1009 + k;
    for (int i = 0; i < N; i++) {
        CHECK_EQ(asked[i], 2 * WIDE);
        CHECK_EQ(last[i], WIDE - 1 + i);
        CHECK_EQ(in_turn[i], n + 1);
        for (int k = 0; k < WIDE; k++)
            CHECK_EQ(p[i * WIDE + k], i + k % 4 + n + 1);
    }
    CHECK_EQ(counts[0], N * WIDE);
    CHECK_EQ(counts[1], N * WIDE);
}

int main(void)
{
    static struct pair pairs[N * WIDE];
    static double steps[N * WIDE];
    set_up();
    sums();
    operators();
    locals();
    visible();
    stores(w, a, y, N);
    members(pairs, w, a);
    in_step(w, steps);
    once();
    tallies();
    loops(N);
    refused();
    regions(w, a);
    kinds(w);
    alone(w);
    return RESULT;
}
