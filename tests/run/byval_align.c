/* a parameter passed by value that the user has aligned: its place among the variables of a team is aligned, too */ /* says: warning: region 'main_28' */
#include <stdint.h>
#include "check.h"

struct wide { _Alignas(64) double x[3]; };
#pragma omp declare reduction(wide : struct wide : omp_out.x[0] += omp_in.x[0], omp_out.x[1] += omp_in.x[1], omp_out.x[2] += omp_in.x[2])

static struct wide add(char before, struct wide s, int n, int *misplaced)
{
    void *volatile at = &s;
    char *volatile odd = &before;
    *misplaced += (uintptr_t)at % 64 != 0;
    *odd += 1;
    int calls = 0;
#pragma omp parallel for reduction(wide : s) reduction(+ : calls)
    for (int i = 0; i < n; i++) {
        s.x[i % 3] += i;
        calls += *odd;
    }
    *misplaced += calls != n * before;
    return s;
}

int main(void)
{
    struct wide w = { { 1, 2, 3 } };
    int on = 0, misplaced = 0;
#pragma omp target map(tofrom : w, misplaced, on)
    {
        w = add(1, w, 9, &misplaced);
        w = add(2, w, 6, &misplaced);
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(misplaced, 0);
    CHECK_EQ(w.x[0], 1 + 9 + 3);
    CHECK_EQ(w.x[1], 2 + 12 + 5);
    CHECK_EQ(w.x[2], 3 + 15 + 7);
    return RESULT;
}
