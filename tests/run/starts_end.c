/* destructors of a device run when the program ends, in the opposite order, after its last region */ /* also: -O0 -g */
#include "check.h"
#pragma omp begin declare target
static int state;
__attribute__((constructor)) static void begin(void) { state = 40; }
static void say(int i)
{
    if (!omp_is_initial_device())
        printf("%d: %d\n", i, state);
}
__attribute__((destructor)) static void end(void) { say(1); }
__attribute__((destructor(101))) static void end_last(void) { say(3); }
__attribute__((destructor(102))) static void end_later(void) { say(2); }
#pragma omp end declare target
int main(void)
{
#pragma omp target nowait
    state += 2;
    return 0;
}
