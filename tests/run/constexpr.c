/* constexpr, of files and of functions: where C wants a constant, and as a variable */ /* flags: -std=c23 */ /* also: -O0 -g, -O2 -fompgpu-mode=generic */
#include "check.h"
static double table[7];
constexpr unsigned COUNT = sizeof table / sizeof *table;
constexpr unsigned TWICE = 2 * COUNT, THRICE = 3 * COUNT;
typedef int row[THRICE];
enum { OF_ENUM = TWICE };
constexpr char name[] = "abc";
constexpr struct { int x; } unnamed = { 3 };
#pragma omp declare target
constexpr int declared = 5;
static constexpr float factor[] = { 1, 2, 3 };
static int in_function(int i)
{
    constexpr int n = 3;
    int a[n * OF_ENUM];
    a[i] = i;
    return a[i] + (int)factor[i % n];
}
static int in_parallel(int n)
{
    constexpr int threads = 4;
    int s = 0;
#pragma omp parallel for num_threads(threads) reduction(+: s) schedule(static, threads)
    for (int i = 0; i < n; i++) {
        int a[threads] = { i };
        s += a[0];
    }
    return s;
}
#pragma omp end declare target

static void in_clauses(void)
{
    constexpr auto m = 16u;
    constexpr int two[2] = { 1, m }, next = two[1] + 1;
    int x[m];
#pragma omp target teams distribute parallel for num_teams(m) map(from: x[:m]) firstprivate(next) collapse(2)
    for (unsigned i = 0; i < m / 4; i++)
        for (int j = 0; j < 4; j++) {
            int t[next] = {};
            t[1] = j;
            x[i * 4 + j] = t[two[0]] + two[1];
        }
    for (unsigned i = 0; i < m; i++)
        CHECK_EQ(x[i], i % 4 + m);
}

static void in_region(void)
{
    static constexpr double half = .5;
    constexpr struct { int n; } with_type = { 2 };
    struct s { int n; } static constexpr with_tag = { 3 };
    double d = 0;
    int r[9] = {};
#pragma omp target map(tofrom: r, d) map(to: factor, half)
    {
        constexpr int inner = with_type.n * with_tag.n;
        row t = { [THRICE - 1] = 5 };
        int a[with_tag.n], b[unnamed.x];
        a[2] = b[2] = 1;
        r[0] = sizeof t;
        r[1] = t[THRICE - 1] + a[2] + b[2];
        r[2] = name[1];
        r[3] = in_function(2);
        r[4] = declared;
        r[5] = in_parallel(10);
        r[6] = *&with_tag.n;
        r[8] = ON_DEVICE;
#pragma omp parallel for num_threads(4) reduction(+: d)
        for (int i = 0; i < inner; i++) {
            struct { char c[inner]; } z;
            d += half * sizeof z;
            switch (i) {
            case inner - 1: d += 1000;
            }
        }
        {
            constexpr int inner = 1;
            int a[inner] = { 4 };
            r[7] = a[0] + inner;
        }
    }
    CHECK_EQ(r[0], 21 * sizeof(int));
    CHECK_EQ(r[1], 7);
    CHECK_EQ(r[2], 'b');
    CHECK_EQ(r[3], 5);
    CHECK_EQ(r[4], 5);
    CHECK_EQ(r[5], 45);
    CHECK_EQ(r[6], 3);
    CHECK_EQ(r[7], 5);
    CHECK(r[8]);
    CHECK_EQ(d, 1018);
}

static void in_loop(void)
{
    for (int pass = 0; pass < 2; pass++) {
        constexpr int n = 5;
        enum { FIRST = n + 1 };
        typedef struct { int v[n]; } values;
        values s = { { FIRST } };
#pragma omp target map(tofrom: s) if(pass)
        for (int i = 1; i < n; i++)
            s.v[i] = s.v[i - 1] + (int)sizeof(values) + FIRST;
        CHECK_EQ(s.v[n - 1], 6 + 4 * 26);
    }
}

int main(void)
{
    in_clauses();
    in_region();
    in_loop();
    return RESULT;
}
