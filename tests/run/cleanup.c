/* the attribute cleanup: its function runs on the device, too */ /* also: -O0 -g */
#include "check.h"
static int ended;
#pragma omp declare target enter(ended)
static void end(int *x) { ended += *x; }
static void end_pointer(int **x) { **x += 100; }
static int nested(int n)
{
    int a __attribute__((cleanup(end))) = n, b __attribute__((__cleanup__(end))) = 10 * n;
    return a + b;
}
int main(void)
{
    int r[3] = { 0 }, on = 0;
#pragma omp target map(tofrom: r, on)
    {
        int *p __attribute__((cleanup(end_pointer))) = &r[0];
        r[1] = nested(3);
        for (int i = 0; i < 2; i++) {
            int k __attribute__((cleanup(end))) = 1000;
            on = ON_DEVICE;
        }
        r[2] = ended;
        *p = 1;
    }
    CHECK(on && r[0] == 101 && r[1] == 33 && r[2] == 2033);
    CHECK_EQ(ended, 0);
    return RESULT;
}
