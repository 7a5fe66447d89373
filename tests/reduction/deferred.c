/* deferred.c - inexact sums, of values of very different magnitude, on constructs that the teams share in teams regions with other statements;
 * prints their bits, for deferred.t to compare over many schedules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <omp.h>

enum { N = 400 };
static double y[N];
static float x[N];
#pragma omp begin declare target
double of_file;
#pragma omp end declare target
struct part { double sum; float most; };
#pragma omp declare reduction(join : struct part : omp_out.sum += omp_in.sum, omp_out.most *= omp_in.most) initializer(omp_priv = { 0, 1 })

static void print(const char *what, const void *p, size_t n)
{
    printf("%s", what);
    for (size_t i = 0; i < n; i++) printf("%s%02x", i % 8 ? "" : " ", ((const unsigned char *)p)[i]);
    printf("\n");
}

static void region(int teams, int rounds, int m)
{
    double d = 1.0 / 3, e = 0, both = 0, whole[20] = { 0 }, *section = calloc((size_t)m + 3, sizeof *section), reduced = 0;
    float f = 0, few[3] = { 0 };
    double _Complex c = 0;
    struct part p = { 0, 1 };
    of_file = 0;
#pragma omp target update to(of_file)
#pragma omp target teams num_teams(teams) thread_limit(34) map(to: x, y) map(tofrom: d, e, f, c, p, few, whole, section[0:m + 3], both) reduction(+: reduced)
    {
        double mine = 0;
        for (int r = 0; r < rounds; r++) {
#pragma omp distribute parallel for reduction(+: d, f, c, mine) reduction(join: p)
            for (int i = r; i < N; i++) d += y[i], f += x[i], c += y[i] + __extension__ 1i * x[i], mine += y[i], p.sum += y[i] * x[i], p.most *= 1 - x[i] / N;
#pragma omp distribute parallel for reduction(+: few, whole, section[3:m])
            for (int i = 0; i < N; i++) few[i % 3] += x[i], whole[i % 20] += y[i], section[3 + i % m] += y[i];
        }
        reduced += mine;
#pragma omp distribute simd reduction(+: d, e, of_file)
        for (int i = 0; i < N; i++) d += y[i] / 3, e += y[i], of_file += y[i] / 7;
#pragma omp distribute parallel for reduction(+: both, reduced) dist_schedule(static, 7)
        for (int i = 0; i < N; i++) both += y[i], reduced += y[i];
    }
#pragma omp target update from(of_file)
    print("d", &d, sizeof d), print("e", &e, sizeof e), print("f", &f, sizeof f), print("c", &c, sizeof c), print("sum", &p.sum, sizeof p.sum);
    print("most", &p.most, sizeof p.most), print("few", few, sizeof few), print("whole", whole, sizeof whole);
    print("section", section, (size_t)(m + 3) * sizeof *section), print("both", &both, sizeof both), print("reduced", &reduced, sizeof reduced);
    print("of_file", &of_file, sizeof of_file);
    free(section);
}

int main(void)
{
    for (int i = 0; i < N; i++) y[i] = (i % 7 ? 1e-3 : i % 2 ? 1e17 : -1e17) / (3 * i + 1), x[i] = (i % 5 ? 1 : 1e9f) / (float)(i + 3);
    region(6, 2, 20);
    region(3, 1, 40);
    return 0;
}
