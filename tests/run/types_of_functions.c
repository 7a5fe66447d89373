/* types at file scope that name functions of the host: the device text declares them */
#include <stdlib.h>
#include "check.h"

extern int launch(int, const char *);
static long twice(long v) { return 2 * v; }
typedef __typeof__(twice) *doubler;
#define CALL(f) __typeof__(f) *f##_;
struct calls {
    CALL(launch) CALL(twice) CALL(qsort)
    char size[sizeof(twice(1))];
};
static struct { CALL(launch) CALL(free) } table;

int main(void)
{
    struct calls c = { .twice_ = twice, .size = { 1, 2 } };
    doubler d = twice;
    int on = 0, n = 0;
#pragma omp target map(tofrom: on, n) map(to: c)
    {
        on = ON_DEVICE;
        n = c.size[1] + (int)sizeof c.size;
    }
    CHECK(on);
    CHECK_EQ(n, 2 + (int)sizeof(long));
    CHECK(!table.launch_ && !table.free_);
    CHECK_EQ(c.twice_(d(3)), 12);
    return RESULT;
}
