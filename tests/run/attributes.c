/* directives as attributes: in sequences, from macros, on several lines, stand-alone, after labels */ /* flags: -std=c23 */
#include "check.h"
#define DIRECTIVE omp::directive(target teams distribute parallel for map(from: a) MAPS)
#define MAPS map(tofrom: on)

enum { N = 1'00 };
static int twice(int x) { return 2 * x; }
[[omp::directive(declare target enter(twice))]];
[[omp::directive(begin declare target)]];
static int counter = 5;
[[omp::directive(end declare target)]];

int main(void)
{
    int a[N], x = 0, on = 0;
    const char *s = "[[omp::directive(target)]]";

    [[DIRECTIVE]] for (int i = 0; i < N; i++) {
        a[i] = twice(i);
        if (i == 1)
            on = ON_DEVICE;
    }
    CHECK(on && a[99] == 198 && s[2] == 'o');
    on = 0;
    [[omp::sequence(directive(target map(tofrom: x, on)), omp::directive(parallel num_threads(1'0)))]] {
        [[omp::directive(atomic)]] x++;
        [[omp::directive(barrier)]];
        [[omp::directive(master)]] on = x == 10 ? ON_DEVICE : -1;
    }
    CHECK(x == 10 && on == 1);
    on = 0; [[omp::sequence(sequence(directive(target
        map(tofrom: x, on)), directive(parallel num_threads(3))),
        directive(single))]] { x = 7; on = ON_DEVICE; } x++;
    CHECK(x == 8 && on);
    on = 0;
    for (int i = 0; i < 2; i++) [[ omp :: directive ( target map(tofrom: x, on) ) ]] [[omp::directive(parallel num_threads(2) reduction(+: x))]]
    again: x += 1 + !(on = ON_DEVICE);
    CHECK(x == 12 && on);
    [[omp::directive(target data map(tofrom: x, on))]] {
        <:[omp::directive(target defaultmap(tofrom: scalar)), omp::directive(teams num_teams(1))]:> x += counter, on = 2 * ON_DEVICE;
        [[omp::directive(target update from(x))]];
        CHECK_EQ(x, 17);
    }
    CHECK(on == 2);
    [[maybe_unused]] int after = 1;
    return RESULT;
}
