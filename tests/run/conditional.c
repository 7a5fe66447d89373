/* lastprivate(conditional: …) */
#include "check.h"
struct pair { int a; double b; };
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
    return RESULT;
}
