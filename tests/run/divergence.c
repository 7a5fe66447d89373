/* threads leave loops at different times; barriers in functions; divergent parallel; return from a region's function */
#include "check.h"
static int find(const int *v, int n, int what) { for (int i = 0; i < n; i++) if (v[i] == what) return i; return -1; }
static void phase(int *v, int n) {
    int me = omp_get_thread_num();
    if (me < n) v[me] *= 2;
#pragma omp barrier
    if (me == 0) for (int i = 1; i < n; i++) v[i] += v[i - 1];
#pragma omp barrier
}
int main(void)
{
    int v[50], idx[50], on = 0, cnt = 0, odd[64] = {0};
    for (int i = 0; i < 50; i++) v[i] = i;
#pragma omp target map(tofrom: v, idx, on, cnt, odd)
    {
        on = ON_DEVICE;
#pragma omp parallel num_threads(50)
        {
            phase(v, 50);
            phase(v, 50);
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 50; i++)
                idx[i] = find(v, 50, v[i]);
            int id = omp_get_thread_num();
            for (int k = 0; k < id; k++) {
                if (k > 20) break;
#pragma omp atomic
                cnt++;
            }
            if (id % 2) {
#pragma omp critical
                odd[id]++;
            } else {
#pragma omp critical (other)
                odd[id] += 2;
            }
        }
    }
    int h[50], c = 0;
    for (int i = 0; i < 50; i++) h[i] = i;
    for (int r = 0; r < 2; r++) { for (int i = 0; i < 50; i++) h[i] *= 2; for (int i = 1; i < 50; i++) h[i] += h[i-1]; }
    for (int id = 0; id < 50; id++) for (int k = 0; k < id && k <= 20; k++) c++;
    CHECK(on && c > 0);
#ifndef HOST_ONLY
    for (int i = 0; i < 50; i++) { CHECK_EQ(v[i], h[i]); CHECK_EQ(idx[i], i ? i : 0); CHECK_EQ(odd[i], i % 2 ? 1 : 2); }
    CHECK_EQ(cnt, c);
#endif
    return RESULT;
}
