/* constructors and destructors in declare target: the host calls its own, and each device those of the device, with a file that has no regions */ /* also: -O0 -g, -static-ompgpu, --host-cc=gcc */
/* with: parts/starts.c */
#include "check.h"
#define FIRST 200
#pragma omp begin declare target
extern int other_state;
static int order[8], n;
static int table[16];
static void note(int i) { order[n++] = i; }
__attribute__((constructor)) static void last(void) { note(3); }
__attribute__((constructor(FIRST + 1))) static void second(void) { note(2); }
__attribute__((__constructor__(FIRST))) void first(void)
{
    note(1);
#pragma omp parallel for
    for (int i = 0; i < 16; i++)
        table[i] = i * i;
}
void both(void) __attribute__((constructor(300), destructor));
void both(void) { note(n < 4 ? 4 : 5); }
#pragma omp end declare target

int main(void)
{
    int at[8] = { 0 }, sum = 0, on = 0, other = 0;
#pragma omp target map(from: at) map(tofrom: sum, on, other)
    {
        for (int i = 0; i < n; i++)
            at[i] = order[i];
        for (int i = 0; i < 16; i++)
            sum += table[i];
        other = other_state;
        on = ON_DEVICE;
    }
    CHECK(on && sum == 1240);
    CHECK(at[0] == 1 && at[1] == 2 && at[2] == 4 && at[3] == 3);
    CHECK(order[0] == 1 && order[1] == 2 && order[2] == 4 && order[3] == 3 && n == 4);
    CHECK(other == 7 && other_state == 7);
    return RESULT;
}
