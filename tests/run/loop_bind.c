/* loop: every binding, combined and nested, does each iteration once */
#include "check.h"

enum { N = 307, M = 5 };
#define ONCE(text, ...)                                                      \
    do {                                                                     \
        int a[N] = { 0 }, on = 0;                                            \
        _Pragma(text)                                                        \
        __VA_ARGS__                                                          \
        for (int i = 0; i < N; i++)                                          \
            CHECK_EQ(a[i], 1);                                               \
        CHECK(on);                                                           \
    } while (0)
#define LOOP for (int i = 0; i < N; i++) { _Pragma("omp atomic") a[i]++; if (i == 7) on = ON_DEVICE; }
#define NEST(inner) for (int i = 0; i < N; i += M) { inner for (int k = i; k < (i + M < N ? i + M : N); k++) \
                                                         { _Pragma("omp atomic") a[k]++; if (k == 7) on = ON_DEVICE; } }

static void reduced(void)
{
    int sum[M] = { 0 }, j;
#pragma omp target teams loop bind(parallel) reduction(+: sum) collapse(2) order(concurrent) lastprivate(j) map(tofrom: sum)
    for (int i = 0; i < M; i++)
        for (j = 0; j < M; j++)
            sum[i] -= j;
    for (int i = 0; i < M; i++)
        CHECK_EQ(sum[i], -M * (M - 1) / 2);
}

int main(void)
{
    ONCE("omp target teams loop map(tofrom: on)", LOOP);
    ONCE("omp target teams loop bind(teams) map(tofrom: on)", LOOP);
    ONCE("omp target teams loop bind(parallel) map(tofrom: on)", LOOP);
    ONCE("omp target parallel loop map(tofrom: on)", LOOP);
    ONCE("omp target parallel loop bind(parallel) map(tofrom: on)", LOOP);
    ONCE("omp target teams map(tofrom: on)", _Pragma("omp loop bind(teams)") LOOP);
    ONCE("omp target teams map(tofrom: on)", _Pragma("omp loop") LOOP);
    ONCE("omp target parallel map(tofrom: on)", _Pragma("omp loop") LOOP);
    ONCE("omp target map(tofrom: on)", _Pragma("omp loop bind(thread)") LOOP);
    ONCE("omp target teams loop map(tofrom: on)", NEST(_Pragma("omp parallel loop")));
    ONCE("omp target teams loop map(tofrom: on)", NEST(_Pragma("omp loop bind(thread)")));
    ONCE("omp target teams distribute map(tofrom: on)", NEST(_Pragma("omp parallel loop")));
    reduced();
    return RESULT;
}
