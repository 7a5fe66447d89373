/* variables declared `register`: mapped, reduced, scanned, private; parameters; the word in strings and names */
#include "check.h"

static int sums(register int n, register const int *a, int register *out)
{
    register double s = 0, t = 1;
    const char *word = "register";
    int register_ = 0;
    register int on = 0, i; register double u = 0, v = 0;
    register struct { int x, y; } p = { 1, 2 };
#pragma omp target teams distribute parallel for reduction(+ : s, t, u, v) map(to : a[0:n])
    for (i = 0; i < n; i++) {
        register int twice = 2 * a[i];
        s += twice;
        t += a[i];
        v += u += 1;
    }
#pragma omp target parallel for reduction(inscan, + : register_) map(to : a[0:n]) map(from : out[0:n]) map(tofrom : on, p)
    for (register int k = 0; k < n; k++) {
        register_ += a[k];
        if (k == 0) on = ON_DEVICE, p.y += p.x;
#pragma omp scan inclusive(register_)
        out[k] = register_;
    }
    CHECK_EQ(s, (double)n * (n - 1));
    CHECK_EQ(t, 1 + (double)n * (n - 1) / 2);
    CHECK_EQ(u, n);
    CHECK(v > 0);
    CHECK(on && p.y == 3 && word[8] == 0 && word[0] == 'r' && word[7] == 'r');
    return register_;
}

int main(void)
{
    int a[100], out[100];
    for (register int i = 0; i < 100; i++) a[i] = i;
    CHECK_EQ(sums(100, a, out), 4950);
    CHECK_EQ(out[10], 55);
    return RESULT;
}
