/* && and || of floating-point and complex variables, on the device and on the host */
#include "check.h"

static void reduce(int device)
{
    _Complex float any = 0, a[8] = { 0 };
    _Complex double all = 1;
    _Complex int every = 1;
    double most = 1;
    float some = 0;
    int on = 0;
    a[5] = 2;
#pragma omp target teams distribute parallel for reduction(||: any, some) reduction(&&: all, every, most) map(tofrom: on) \
    if(target: device)
    for (int i = 0; i < 8; i++) {
        any = any || a[i];
        some = some || i == 3;
        all = all && a[i];
        every = every && i < 20;
        most = most && i < 7;
        if (i == 0)
            on = ON_DEVICE;
    }
    CHECK(on == device);
    CHECK(any == 1 && some == 1 && all == 0 && every == 1 && most == 0);
#pragma omp target parallel for reduction(||: a[0:8]) if(target: device)
    for (int i = 0; i < 8; i++)
        a[i] = a[i] || i * 1i;
    CHECK(a[0] == 0 && a[1] == 1 && a[7] == 1);
}

int main(void)
{
    reduce(1);
    reduce(0);
    return RESULT;
}
