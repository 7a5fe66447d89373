/* lastprivate(conditional: …) */
#include "check.h"
struct pair { int a; double b; };
enum { M = 100 };

/* Loops that the threads of a parallel construct around share out, again and again, without a barrier of their own. */
static void shared_out(const int *v)
{
    int x = -1, want = -1;
    double d = 3;
#pragma omp target map(tofrom: x, d) map(to: v[0:M])
#pragma omp parallel default(none) shared(x, v, d)
    for (int turn = 0; turn < 2; turn++) {
#pragma omp for lastprivate(conditional: x, d) schedule(dynamic) nowait
        for (int i = M - 1; i >= 0; i--)
            if (v[i] > 90 + turn * 5) {
                x = v[i] + 1000 * i;
                if (turn) d = i;
            }
    }
    for (int i = M - 1; i >= 0; i--) if (v[i] > 95) want = i;
    CHECK_EQ(d, want);
    CHECK_EQ(x, v[want] + 1000 * want);
    int each[3] = { 0 };
#pragma omp target teams distribute map(from: each) map(to: v[0:M])
    for (int k = 0; k < 3; k++) {
        int y = -3;
#pragma omp parallel
        {
#pragma omp for lastprivate(conditional: y)
            for (int i = 0; i < M; i++) if (v[i] < 10 * k) y = i;
        }
        each[k] = y;
    }
    for (int k = 0; k < 3; k++) {
        int y = -3;
        for (int i = 0; i < M; i++) if (v[i] < 10 * k) y = i;
        CHECK_EQ(each[k], y);
    }
#pragma omp parallel num_threads(3)
#pragma omp for lastprivate(conditional: x)
    for (int i = 0; i < M; i++) if (v[i] < 30) x = i;
    for (int i = 0; i < M; i++) if (v[i] < 30) want = i;
    CHECK_EQ(x, want);
}

static void nests(const int *v)
{
    int x = -7, y = -7, want = -7;
#pragma omp target parallel map(tofrom: x) map(to: v[0:M]) num_threads(5)
    {
#pragma omp for nowait collapse(2) lastprivate(conditional: x)
        for (int i = 0; i < 10; i++) {
            for (int j = 9; j > 0; j -= 2) {
                if (v[i * 10 + j] % 7 == 3) x = i * 10 + j;
            }
        }
    }
    for (int i = 0; i < 10; i++) for (int j = 9; j > 0; j -= 2) if (v[i * 10 + j] % 7 == 3) want = i * 10 + j;
    CHECK_EQ(x, want);
#pragma omp target map(tofrom: y) map(to: v[0:M])
#pragma omp simd lastprivate(conditional: y)
    for (int i = 0; i < M; i++) if (v[i] < 20) y = i;
    for (int i = 0; i < M; i++) if (v[i] < 20) want = i;
    CHECK_EQ(y, want);
}

int main(void)
{
    enum { N = 300 };
    int x = -1, never = 7, on = 0, v[N];
    double y = 0;
    for (int i = 0; i < N; i++) v[i] = i * 37 % 101;
#pragma omp target parallel for lastprivate(conditional: x, y, never) map(tofrom: x, on) schedule(static, 3)
    for (int i = 0; i < N; i++) {
        if (v[i] > 1000) never = i;
        if (v[i] % 2) continue;
        if (v[i] > 90) { x = i; x += v[i]; }
        if (i == 120) y = 1.5, on = ON_DEVICE;
    }
    int want = -1;
    for (int i = 0; i < N; i++) if (v[i] % 2 == 0 && v[i] > 90) want = i + v[i];
    CHECK(on || v[120] % 2);
    CHECK_EQ(x, want);
    CHECK_EQ(y, v[120] % 2 ? 0 : 1.5);
    CHECK_EQ(never, 7);
    struct pair last = { 0, 0 };
    int up = 0;
#pragma omp target teams distribute parallel for lastprivate(conditional: last) map(tofrom: last) map(to: v)
    for (int i = N - 1; i >= 0; i -= 2)
        if (v[i] < 50) last = (struct pair){ i, v[i] };
#pragma omp parallel for lastprivate(conditional: up)
    for (int i = 0; i < N; i++) if (v[i] == 5) up++, up = i;
    int down = -1, five = -1;
    for (int i = N - 1; i >= 0; i -= 2) if (v[i] < 50) down = i;
    for (int i = 0; i < N; i++) if (v[i] == 5) five = i;
    CHECK_EQ(last.a, down);
    CHECK_EQ(last.b, v[down]);
    CHECK_EQ(up, five);
    shared_out(v);
    nests(v);
    return RESULT;
}
