/* every combined form fills an array in its own way; nothing is done twice or left out */
#include "check.h"

enum { N = 211 };
#define FORM(text, ...)                                                      \
    do {                                                                     \
        int a[N] = { 0 };                                                    \
        on = 0;                                                              \
        _Pragma(text)                                                        \
        __VA_ARGS__                                                          \
        for (int i = 0; i < N; i++)                                          \
            CHECK_EQ(a[i], i + 1);                                           \
        CHECK(on);                                                           \
    } while (0)
#define LOOP for (int i = 0; i < N; i++) { a[i] += i + 1; if (i == 7) on = ON_DEVICE; }

int main(void)
{
    int on;
    FORM("omp target map(tofrom: on)", LOOP);
    FORM("omp target simd map(tofrom: on)", LOOP);
    FORM("omp target parallel map(tofrom: on) num_threads(1)", LOOP);
    FORM("omp target parallel for map(tofrom: on)", LOOP);
    FORM("omp target parallel for simd map(tofrom: on)", LOOP);
    FORM("omp target teams map(tofrom: on) num_teams(1)", LOOP);
    FORM("omp target teams distribute map(tofrom: on)", LOOP);
    FORM("omp target teams distribute simd map(tofrom: on)", LOOP);
    FORM("omp target teams distribute parallel for map(tofrom: on)", LOOP);
    FORM("omp target teams distribute parallel for simd map(tofrom: on)", LOOP);
    FORM("omp target map(tofrom: on)", _Pragma("omp parallel for") LOOP);
    FORM("omp target map(tofrom: on)", _Pragma("omp parallel for simd") LOOP);
    FORM("omp target map(tofrom: on)", _Pragma("omp parallel") _Pragma("omp for") LOOP);
    FORM("omp target map(tofrom: on)", _Pragma("omp parallel") _Pragma("omp for simd") LOOP);
    FORM("omp target map(tofrom: on)", _Pragma("omp simd") LOOP);
    FORM("omp target map(tofrom: on)", _Pragma("omp teams") _Pragma("omp distribute") LOOP);
    FORM("omp target map(tofrom: on)", _Pragma("omp teams distribute") LOOP);
    FORM("omp target map(tofrom: on)", _Pragma("omp teams distribute simd") LOOP);
    FORM("omp target map(tofrom: on)", _Pragma("omp teams distribute parallel for") LOOP);
    FORM("omp target map(tofrom: on)", _Pragma("omp teams distribute parallel for simd") LOOP);
    FORM("omp target map(tofrom: on)", _Pragma("omp teams") _Pragma("omp distribute parallel for") LOOP);
    FORM("omp target map(tofrom: on)", _Pragma("omp teams") _Pragma("omp distribute simd") LOOP);
    FORM("omp target teams map(tofrom: on)", _Pragma("omp distribute parallel for simd") LOOP);
    FORM("omp target teams map(tofrom: on)", _Pragma("omp distribute") LOOP);
    FORM("omp target parallel map(tofrom: on)", _Pragma("omp for") LOOP);
    return RESULT;
}
