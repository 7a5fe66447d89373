/* device globals counted by all teams; reductions of several types; generic teams with loops of growing size; member sections */
#include "check.h"

#pragma omp begin declare target
static int hist[4];
static void count(int i) { 
#pragma omp atomic
    hist[i & 3]++; }
#pragma omp end declare target
int main(void)
{
    int on = 0, h[4] = {0}, odd = 0;
    unsigned long long ull = 0;
    short sh[7] = {1,2,3,4,5,6,7}; 
#pragma omp target teams distribute parallel for map(tofrom: on)
    for (int i = 0; i < 1001; i++) { count(i); on = ON_DEVICE; }
#pragma omp target map(from: h)
    for (int i = 0; i < 4; i++) h[i] = hist[i];
    CHECK(on);
    CHECK(h[0] == 251 && h[1] == 250 && h[3] == 250);
#pragma omp target teams distribute parallel for reduction(+: odd) reduction(^: ull) firstprivate(sh) num_teams(3) thread_limit(96) schedule(static, 1)
    for (long i = 100; i > -3; i -= 3) { odd += sh[(i + 3) % 7] & 1; ull ^= (unsigned long long)i << 20; }
    int ho = 0;
    unsigned long long hu = 0;
    for (long i = 100; i > -3; i -= 3) { ho += sh[(i + 3) % 7] & 1; hu ^= (unsigned long long)i << 20; }
#ifndef HOST_ONLY                    /* clang 22's host code loses iterations where libomp gives fewer teams */
    CHECK_EQ(odd, ho);
    CHECK(ull == hu);
#endif
    int res[3] = {0};
#pragma omp target teams num_teams(3) map(tofrom: res)
    {
        int acc = 0, t = omp_get_team_num();
        for (int k = 0; k < 4; k++) {
            int loc = k;
#pragma omp parallel for schedule(dynamic) reduction(+: acc) firstprivate(loc) num_threads(k + 1)
            for (int i = 0; i < 10 * k; i++) { loc++; acc += i + t; }
#pragma omp parallel if(k & 1)
            {
#pragma omp single
                acc += omp_get_num_threads() > 0;
            }
        }
        res[t] = acc;
    }
#ifndef HOST_ONLY
    for (int t = 0; t < 3; t++) { int a = 0; for (int k = 0; k < 4; k++) { for (int i = 0; i < 10 * k; i++) a += i + t; a++; } CHECK_EQ(res[t], a); }
#endif
    /* sections of 2-D pointer arrays and struct arrays with member section */
    struct S { int n;
    int v[8]; } *s = calloc(3, sizeof *s);
#pragma omp target map(tofrom: s[1].v[2:3], s[1].n)
    { s[1].v[2] = 5; s[1].v[4] = 6; s[1].n = 7; }
    CHECK(s[1].v[2] == 5 && s[1].v[4] == 6 && s[1].n == 7 && s[0].n == 0 && s[1].v[5] == 0);
    int *const cp = &h[1];
#pragma omp target map(tofrom: cp[0:2], on)
    { cp[0] = -1; cp[1] = -2; on = 5; }
    CHECK(h[1] == -1 && h[2] == -2);
    free(s);
    return RESULT;
}
