/* with: parts/indirect.c */
/* declare target indirect of another file's functions: a header that both include says so */
#include "parts/indirect.h"
#include "check.h"

int main(void)
{
    step *list[] = { halved, tripled, halved }, *one = tripled;
    int r[6], on = 0;
#pragma omp target map(to: list) map(from: r) map(tofrom: on)
    {
        for (int i = 0; i < 3; i++) r[i] = list[i](10 * i + 10);
        r[3] = one == tripled && one == list[1] && list[0] != one;
        r[4] = next_step(one)(40) + next_step(list[2])(1);
        r[5] = next_step(one) == halved && next_step(halved) == one;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK(r[0] == 5 && r[1] == 61 && r[2] == 15 && r[3] == 1 && r[4] == 24 && r[5] == 1);
    return RESULT;
}
