/* regions that are a part of the team: num_threads and if clauses, omp_set_num_threads, with barriers, reductions and schedules in them */
#include "check.h"
enum { N = 200 };
static __attribute__((noinline)) int asked(int n) { return n > 1 ? asked(n - 1) : 1000 * omp_get_num_threads() + 100 * omp_get_level() + omp_get_thread_num(); }
static int smaller(int a, int b) { return a < b ? a : b; }
int main(void)
{
    int size[9] = { 0 }, sum[9] = { 0 }, turned[100] = { 0 }, state[8] = { 0 }, out[N] = { 0 }, limit = 0, n = 5, yes = 1, no = 0, told = 0, most[3] = { 0 };
#pragma omp target map(tofrom: size, sum, turned, state, out, limit, told, most) map(to: n, yes, no) thread_limit(96)
    {
        limit = omp_get_max_threads();
        for (int k = 1; k <= 8; k++) {                 /* 1, 4, 9 … 64 threads: whole warps and odd parts */
            int left[64], s = 0;
#pragma omp parallel num_threads(k * k) reduction(+: s)
            {
                int t = omp_get_thread_num(), all = omp_get_num_threads();
                left[t] = t + k;
#pragma omp barrier
                s += left[(t + 1) % all];
#pragma omp single
                size[k] += all;
            }
            sum[k] = s;
        }
#pragma omp parallel if(no) num_threads(7)
        {
            state[0] += omp_get_num_threads();
            state[1] = omp_get_level() * 10 + omp_in_parallel();
#pragma omp parallel num_threads(4)
            state[2] += omp_get_level() * 10 + omp_get_num_threads();
        }
#pragma omp parallel if(yes) num_threads(7)
        {
#pragma omp atomic
            state[3]++;
            if (omp_get_thread_num() == 6) state[4] = omp_get_level() * 10 + omp_in_parallel();
        }
#pragma omp parallel for if(n > 3) num_threads(n) schedule(dynamic, 3)
        for (int i = 0; i < N; i++)
            out[i] += i;
#pragma omp parallel for
        for (int i = 0; i < N; i++)                     /* the whole team again */
            out[i] += omp_get_num_threads();
        state[5] = asked(3);
        omp_set_num_threads(3);
        most[0] = omp_get_max_threads();
        omp_set_num_threads(n);
#pragma omp parallel
        {
#pragma omp atomic
            told++;
        }
#pragma omp parallel num_threads(40)
        {
#pragma omp for
            for (int i = 0; i < 100; i++) turned[99 - i] = i;
        }
        most[1] = omp_get_max_threads();
        omp_set_num_threads(1000);
        most[2] = omp_get_max_threads();
        state[6] = omp_get_num_threads() * 10 + omp_get_level();
    }
    for (int k = 1; k <= 8; k++) {
        int all = smaller(k * k, limit);
        CHECK_EQ(size[k], all);
        CHECK_EQ(sum[k], all * (all - 1) / 2 + k * all);
    }
    CHECK(state[0] == 1 && state[1] == 10 && state[2] == 21);
    CHECK(state[3] == smaller(7, limit) && (limit < 7 || state[4] == 11));
    CHECK_EQ(state[5], 1000);
    for (int i = 0; i < N; i++)
        CHECK_EQ(out[i], i + limit);
    CHECK(told == smaller(5, limit) && most[0] == smaller(3, limit) && most[1] == smaller(5, limit) && most[2] == limit && state[6] == 10);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(turned[i], 99 - i);
    return RESULT;
}
