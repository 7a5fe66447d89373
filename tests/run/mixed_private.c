/* private copies of odd kinds: VLAs, structs with arrays, lastprivate structs, pointers to locals */
#include "check.h"

struct t { int a[3]; double d; };
int main(void)
{
    int n = 9, on = 0, out[60]; struct t last = { {0}, 0 }, first = { {1, 2, 3}, 4 };
    int vla[n]; for (int i = 0; i < n; i++) vla[i] = i;
#pragma omp target teams distribute parallel for firstprivate(vla, first) lastprivate(last) map(from: out) map(tofrom: last, on) num_teams(2)
    for (int i = 0; i < 60; i++) {
        vla[i % n] += 100 * i; 
        struct t mine = first; mine.a[i % 3] += i; mine.d = i;
        last = mine; out[i] = (int)sizeof vla / (int)sizeof *vla; on = ON_DEVICE;
    }
    CHECK(on && last.d == 59 && last.a[2] == 3 + 59 && out[5] == 9 && vla[3] == 3);
#pragma omp target map(from: out)
    {
        int loc[n], *p = loc, m = n / 2; struct t s = { { 1, 1, 1 }, 0.5 }, *ps = &s;
        for (int i = 0; i < n; i++) loc[i] = i;
#pragma omp parallel for firstprivate(p, loc) shared(s)
        for (int i = 0; i < 60; i++) { p[i % n] = p[i % n]; loc[0] = i; out[i] = loc[0] + p[m] + ps->a[1] + (int)sizeof loc; }
#pragma omp parallel private(loc, s) num_threads(7)
        { loc[1] = omp_get_thread_num(); s.a[0] = 2; if (omp_get_thread_num() == 0) out[0] = loc[1] + s.a[0]; }
        out[1] = s.a[0] * 10 + loc[1];
    }
    CHECK_EQ(out[0], 2); CHECK_EQ(out[1], 11);
    for (int i = 2; i < 60; i++) CHECK_EQ(out[i], i + 4 + 1 + 36);
    return RESULT;
}
