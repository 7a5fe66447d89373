/* regions in constructors and destructors, whatever their priority */ /* also: -static-ompgpu, -fno-integrated-as */
#include "check.h"

static int table[4] = { 1, 2, 3, 4 };
#pragma omp declare target enter(table)

static int run(int i)
{
    int on = 0, value = 0;
#pragma omp target map(tofrom: on, value)
    {
        on = ON_DEVICE;
        value = table[i];
    }
    return on ? value : -1;
}

static int first, plain;
__attribute__((constructor(101))) static void enter_first(void) { first = run(0); }
__attribute__((constructor)) static void enter(void) { plain = run(1); }
static void finish(int i)
{
    const char *device = getenv("OMPGPU_DEVICE");
    if (device && !strcmp(device, "cuda")) /* whose driver has shut down by now */
        return;
    if (run(i) != i + 1) {
        puts("destructor");
        _Exit(1);
    }
}
__attribute__((destructor(101))) static void leave_last(void) { finish(3); }
__attribute__((destructor)) static void leave(void) { finish(2); }

int main(void)
{
    CHECK(first == 1 && plain == 2);
    return RESULT;
}
