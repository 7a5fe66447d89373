/* __func__ in a region, in outlined parts of it and of called functions: the user's function, as on the host */
#include "check.h"

static int same(const char *a, const char *b)
{
    while (*a && *a == *b) a++, b++;
    return *a == *b;
}
static int called(void)
{
    int good = 0;
    #pragma omp parallel num_threads(4) reduction(+: good)
    good += same(__func__, "called") && sizeof __FUNCTION__ == 7;
    return good >= 1 && same(__func__, "called");
}

int main(void)
{
    int good = 0, n = 0;
    #pragma omp target map(tofrom: good, n)
    {
        good = same(__func__, "main") + same(__FUNCTION__, "main") + called();
        #pragma omp parallel num_threads(8) reduction(+: n)
        n += !same(__func__, "main");
    }
    CHECK(good == 3);
    CHECK(n == 0);
    return RESULT;
}
