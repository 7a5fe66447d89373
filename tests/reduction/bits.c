/* bits.c - inexact sums and products in every form; prints their bits, for prop.t to compare over a hundred runs with the teams and
 * lanes of the emulated device in another order each time. */
#include <stdio.h>
#include <string.h>

enum { N = 701 };
static float x[N];
static double y[N];
struct part { double sum; float most; };
#pragma omp declare reduction(join : struct part : omp_out.sum += omp_in.sum, omp_out.most *= omp_in.most) initializer(omp_priv = { 0, 1 })

static void print(const char *what, const void *p, size_t n)
{
    printf("%s", what);
    for (size_t i = 0; i < n; i++) printf("%s%02x", i % 8 ? "" : " ", ((const unsigned char *)p)[i]);
    printf("\n");
}

static void league(void)
{
    float f = 0, product = 1, a[3] = { 0 };
    double d = 0, b[40] = { 0 };
    double _Complex c = 0;
    _Float16 h = 0;
    struct part p = { 0, 1 };
#pragma omp target teams distribute parallel for num_teams(7) thread_limit(40) map(to: x, y) reduction(+: f, d, a, b, c, h) reduction(*: product) \
    reduction(join: p)
    for (int i = 0; i < N; i++) {
        f += x[i];
        d += y[i];
        a[i % 3] += x[i] / 3;
        b[i % 40] += y[i] / 7;
        c += y[i] + __extension__ 1i * x[i];
        h += (_Float16)(x[i] / 999);
        product *= 1 + x[i] / N;
        p.sum += y[i] * y[i];
        p.most *= 1 - x[i] / N;
    }
    print("f", &f, sizeof f), print("d", &d, sizeof d), print("a", a, sizeof a), print("b", b, sizeof b), print("c", &c, sizeof c);
    print("h", &h, sizeof h), print("product", &product, sizeof product), print("sum", &p.sum, sizeof p.sum), print("most", &p.most, sizeof p.most);
}

static void generic(void)
{
    float f = 0;
    double d = 0, s[5] = { 0 };
#pragma omp target teams num_teams(5) thread_limit(40) map(to: x, y) reduction(+: f, d, s)
    {
        double before = 0;
        for (int i = 0; i < 3; i++) before += y[i];
#pragma omp distribute
        for (int k = 0; k < N / 50; k++) {
            f += x[k] + (float)before;
#pragma omp parallel for reduction(+: d, s)
            for (int i = 50 * k; i < 50 * k + 50; i++) d += y[i], s[i % 5] += x[i];
        }
    }
    print("f", &f, sizeof f), print("d", &d, sizeof d), print("s", s, sizeof s);
}

static void team(void)
{
    float f = 0;
    double d = 0;
#pragma omp target parallel for num_threads(45) map(to: x, y) reduction(+: f, d) schedule(static, 3)
    for (int i = 0; i < N; i++) f += x[i], d += y[i];
    print("f", &f, sizeof f), print("d", &d, sizeof d);
}

int main(void)
{
    for (int i = 0; i < N; i++) x[i] = 1.0f / (float)(i + 3), y[i] = 1.0 / (3 * i + 1);
    league();
    generic();
    team();
    return 0;
}
