/* declare target indirect: functions called through pointers of the host */
#include "check.h"
struct shape { double (*area)(double, double); double a, b; };
static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
static double box(double a, double b) { return a * b; }
#pragma omp declare target enter(twice, square) indirect
#pragma omp begin declare target indirect(1) device_type(any)
static double triangle(double a, double b) { return a * b / 2; }
static double sum_of(const struct shape *s, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += s[i].area(s[i].a, s[i].b);
    return sum;
}
#pragma omp end declare target
#pragma omp declare target enter(box) indirect
typedef int function(int);
static function *chosen(function *const *list, int i) { return list[i]; }
#pragma omp declare target enter(chosen)
static int shared_by(const struct shape *s, const struct shape *t) { return s->area == t->area; }
#pragma omp declare target enter(shared_by)

/* A pointer of the host is equal to the function that it points to, and to a pointer of the device to that. */
static void comparisons(void)
{
    function *list[2] = { twice, square }, *const one = square, *const none = NULL;
    struct shape shapes[] = { { box, 2, 3 }, { triangle, 4, 5 }, { box, 1, 1 } };
    unsigned device = 0, host = 0;
    int on = 0;
#define COMPARE(bits) do { \
        function *own = square; \
        const _Bool is[] = { one == square, square == one, one == &square, one == own, one != twice, list[0] == twice, \
            list[1] != list[0], one == list[1], chosen(list, 1) == own, chosen(list, 0) == chosen(list, 0), \
            shapes[0].area == box, shapes[1].area == triangle, shapes[0].area == shapes[2].area, none == NULL, \
            one != 0, (void *)one == (void *)square, own == square, shared_by(&shapes[0], &shapes[2]), \
            !shared_by(&shapes[0], &shapes[1]), (shapes[1].area == box ? list[0] : list[1]) == one, \
            chosen(list, 0)(4) == one(4) - 8, list[list[0](one(1)) - 1](3) == 9 }; \
        for (int i = 0; i < COUNT(is); i++) bits |= (unsigned)is[i] << i; \
    } while (0)
#pragma omp target map(to: list, shapes) map(tofrom: device, on)
    {
        COMPARE(device);
        on = ON_DEVICE;
    }
    COMPARE(host);
    CHECK(on && host == (1u << 22) - 1);
    CHECK_EQ(device, host);
}

/* blocks in blocks, and a list in one */
#pragma omp begin declare target indirect
static int first(void) { return 5; }
#pragma omp begin declare target indirect(1)
static int inner(void) { return 8; }
static int listed(void) { return 11; }
#pragma omp declare target indirect enter(listed)
#pragma omp end declare target
static int last(void) { return 13; }
#pragma omp end declare target

static void nested(void)
{
    int (*f[])(void) = { first, inner, listed, last }, sum = 0;
#pragma omp target map(to: f) map(tofrom: sum)
    for (int i = 0; i < 4; i++)
        sum += f[i]();
    CHECK_EQ(sum, 37);
}

int main(void)
{
    function *list[2] = { twice, square }, *one = square;
    struct shape shapes[] = { { box, 2, 3 }, { triangle, 4, 5 }, { box, 1, 1 } };
    int r[8], s = 0, on = 0;
    double area = 0;
#pragma omp target teams distribute parallel for map(to: list) map(from: r) map(tofrom: on)
    for (int i = 0; i < 8; i++) {
        r[i] = list[i % 2](i) + (*list[1])(list[0](1));
        if (!i) on = ON_DEVICE;
    }
#pragma omp target map(from: s, area) map(to: shapes)
    {
        int (*own)(int) = twice;
        s = one(5) + own(4);
        area = sum_of(shapes, 3);
    }
    CHECK(on);
    for (int i = 0; i < 8; i++) CHECK_EQ(r[i], (i % 2 ? i * i : 2 * i) + 4);
    CHECK_EQ(s, 33);
    CHECK_EQ(area, 17);
    CHECK_EQ(sum_of(shapes, 3), 17);
    comparisons();
    nested();
    return RESULT;
}
