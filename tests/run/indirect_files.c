/* with: parts/indirect.c */
/* declare target indirect of another file's functions: a header that both include says so */
#include "parts/indirect.h"
#include "check.h"

int main(void)
{
    step *list[] = { halved, tripled, halved }, *one = tripled;
    int r[4], on = 0;
#pragma omp target map(to: list) map(from: r) map(tofrom: on)
    {
        for (int i = 0; i < 3; i++) r[i] = list[i](10 * i + 10);
        r[3] = one == tripled && one == list[1] && list[0] != one;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK(r[0] == 5 && r[1] == 61 && r[2] == 15 && r[3] == 1);
    return RESULT;
}
