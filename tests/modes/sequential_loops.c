/* sequential loops whose iterations depend on each other: the main thread runs them; what they compute is used by all, by none, and in regions */
#include "check.h"
enum { N = 40, T = 3 };
struct log { int at[8], n; };
/* The same text, with and without directives: STEP is a parallel loop over i, or a plain one. */
#define WORK(STEP)                                                                                             \
    int last = 0, sum = 0, odd[N] = { 1 }, k = 0;                                                              \
    double mean = 0;                                                                                           \
    a[0] = t;                                                                                                  \
    for (int i = 1; i < N; i++)                   /* its results decide for all */                             \
        if (a[i - 1] < 20) { a[i] = a[i - 1] + 1; last = i; sum += a[i / 2]; }                                 \
    if (sum & 1) { STEP b[i] += a[i] + last; }                                                                 \
    else { STEP b[i] += 2 * a[i] + last; }                                                                     \
    for (int i = 0; i < N; i++) {                 /* a nest */                                                 \
        for (int j = 0; j < i; j++) if (b[j] > b[i]) { int x = b[j]; b[j] = b[i]; b[i] = x; }                  \
        if (b[i] > 60) l->n++;                                                                                 \
    }                                                                                                          \
    while (k < 8 && l->at[k] >= 0) { l->at[(k + 1) % 8] -= l->at[k] + k; k++; }                                \
    for (int turn = 0; turn < 3; turn++) {        /* inside of a loop with a region */                         \
        for (int i = 1; i < N; i++) mean += a[i], a[i] = a[i - 1] + (int)mean % 7;                             \
        { STEP b[i] += a[i] ^ turn; }                                                                          \
        STEP odd[i] += (int)mean + k + turn;                                                                   \
    }                                                                                                          \
    for (int i = 1; i < N; i++) if (odd[i - 1] > 2) odd[i] ^= odd[i - 1] & 3; /* a local that others reach */  \
    { STEP b[i] += odd[i]; }                                                                                   \
    for (int i = 0; i < N; i++) { l->n += b[i] & 1; if (l->n > 100) break; }

int main(void)
{
    int a[T][N] = { { 0 } }, b[T][N] = { { 0 } }, A[T][N] = { { 0 } }, B[T][N] = { { 0 } }, on = 0;
    struct log logs[T] = { { { 1, 9, 8, 20, 7 }, 0 }, { { 3, 40 }, 5 }, { { -1 }, 98 } }, want[T];
    memcpy(want, logs, sizeof want);
#pragma omp target teams distribute num_teams(2) map(tofrom: a, b, logs) map(tofrom: on)
    for (int t = 0; t < T; t++) {
        int *at_a = a[t], *at_b = b[t];
        struct log *l = &logs[t];
#define a at_a
#define b at_b
        WORK(_Pragma("omp parallel for") for (int i = 0; i < N; i++))
#undef a
#undef b
        if (t == 1) on = ON_DEVICE;
    }
    for (int t = 0; t < T; t++) {
        int *at_a = A[t], *at_b = B[t];
        struct log *l = &want[t];
#define a at_a
#define b at_b
        WORK(for (int i = 0; i < N; i++))
#undef a
#undef b
    }
    CHECK(on);
    CHECK(memcmp(logs, want, sizeof want) == 0);
    for (int t = 0; t < T; t++)
        for (int i = 0; i < N; i++) {
            CHECK_EQ(a[t][i], A[t][i]);
            CHECK_EQ(b[t][i], B[t][i]);
        }
    return RESULT;
}
