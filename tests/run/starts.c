/* constructors and destructors in declare target: they are the host's, and regions may call them */ /* also: -O0 -g */
/* says: of the host: on the device\| | */
#include "check.h"
#pragma omp begin declare target
static int state = 1;
__attribute__((constructor)) static void begin(void) { state += 10; }
__attribute__((__destructor__)) static void end(void) { state += 100; }
#pragma omp end declare target
int main(void)
{
    int before = 0, after = 0, on = 0;
#pragma omp target map(tofrom: before, after, on)
    {
        before = state;
        end();
        after = state;
        on = ON_DEVICE;
    }
    CHECK(on && before == 1 && after == 101);
    CHECK_EQ(state, 11);
    return RESULT;
}
