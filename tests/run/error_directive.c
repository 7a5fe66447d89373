/* error at(execution) on the device: warnings are printed and the region goes on */ /* also: -O0 -g */
#include "check.h"
#line 4 "error_directive.c"

static void helper(int i)
{
    if (i == 3) {
#pragma omp error at(execution) severity(warning) message("in a function")
    }
}
int main(void)
{
    int on = 0, n = 0;
    const char *host = "on the host";
#pragma omp target map(tofrom: on, n)
    {
        on = ON_DEVICE;
#pragma omp error at(execution) severity(warning)
        n++;
#pragma omp parallel for
        for (int i = 0; i < 8; i++)
            helper(i);
        if (n == 2) {
#pragma omp error at(execution) message("this one is not encountered")
        }
    }
    (void)host;
    fflush(stdout);
    CHECK(on);
    CHECK_EQ(n, 1);
    return RESULT;
}
