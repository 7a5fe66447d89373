/* canonical loops: zero trips, one trip, steps, directions, relations, types, near the ends of the type's range */
#include <limits.h>
#include "check.h"

#define STR(...) STR_(__VA_ARGS__)
#define STR_(...) #__VA_ARGS__
#define SAME_(directive, iv, head)                                                  \
    do {                                                                            \
        unsigned long long sum = 0, host = 0;                                       \
        long n = 0, m = 0;                                                          \
        _Pragma(STR(omp directive map(tofrom: on) reduction(+: sum, n)))            \
        head { sum += (unsigned long long)iv * 3 + 1; n++; on = ON_DEVICE; }        \
        head { host += (unsigned long long)iv * 3 + 1; m++; }                       \
        if ((sum != host || n != m) && check_failures++ < 20)                       \
            printf("%s %s: %ld iterations, not %ld\n", #directive, #head, n, m);    \
    } while (0)
#define LEAGUE(iv, head) SAME_(target teams distribute parallel for, iv, head)
#define BOTH(iv, head)                                                              \
    LEAGUE(iv, head);                                                               \
    SAME_(target parallel for schedule(dynamic, 3), iv, head)
/* What a loop runs over is found out before it is known who runs it. */
#ifdef OMPGPU_LONG
#define SAME BOTH
#else
#define SAME LEAGUE
#endif
#define MORE(iv, head)                                                              \
    BOTH(iv, head);                                                                 \
    SAME_(target parallel for schedule(static, 2), iv, head);                       \
    SAME_(target teams distribute, iv, head)

static int on, zero, ten = 10, three = 3, k;
static unsigned u = 5;

static void wide(void)
{
    SAME(i, for (unsigned i = UINT_MAX - 30; i < UINT_MAX; i++));
    SAME(i, for (unsigned i = 40; i > 0; i--));
    SAME(i, for (unsigned i = 0; i < UINT_MAX - (1u << 25); i += 1u << 25));
    SAME(i, for (long i = 1L << 40; i < (1L << 40) + 70; i++));
    SAME(i, for (long i = LONG_MAX - 9; i < LONG_MAX; i++));
    MORE(i, for (long i = LONG_MIN + 9; i > LONG_MIN; i--));
    SAME(i, for (unsigned long i = ULONG_MAX - 99; i < ULONG_MAX - 1; i += 7));
    SAME(i, for (unsigned long long i = 1ull << 63; i < (1ull << 63) + 33; i++));
    SAME(i, for (size_t i = 0; i < sizeof(int[77]); i += sizeof(int)));
    SAME(i, for (short i = -300; i < 300; i += 7));
    SAME(i, for (unsigned char i = 0; i < 255; i++));
    SAME(i, for (signed char i = -128; i < 127; i++));
    SAME(i, for (char i = 'a'; i <= 'z'; i++));
    SAME((i - (ten + 0 * (long)&ten == 77 ? 1 : 0)), for (long i = 2; i < 9; i++));
}

int main(void)
{
    MORE(i, for (int i = 0; i < zero; i++));
    SAME(i, for (int i = 5; i < zero; i++));
    SAME(i, for (int i = 0; i <= -1; i++));
    SAME(i, for (int i = zero; i > ten; i--));
    SAME(i, for (unsigned i = 7; i < u; i++));
    SAME(i, for (unsigned i = 7; i > u + 5; i--));
    SAME(i, for (int i = 0; i < 1; i++));
    SAME(i, for (int i = 0; i <= 0; i += 100));
    SAME(i, for (int i = ten; i >= 0; i -= three));
    MORE(i, for (int i = ten; i > -10; --i));
    SAME(i, for (int i = 0; ten > i; i = i + three));
    SAME(i, for (int i = 50; 0 <= i; i = i - 7));
    MORE(i, for (int i = 0; i != ten; i++));
    SAME(i, for (int i = ten; i != -4; i--));
    SAME(i, for (int i = three; i < 100; i = 6 + i));
    MORE(i, for (int i = INT_MAX - 21; i < INT_MAX; i += 3));
    SAME(i, for (int i = INT_MIN + 21; i > INT_MIN; i -= 3));
    SAME(i, for (int i = INT_MIN; i < INT_MIN + 40; i++));
    SAME(i, for (int i = INT_MIN; i < 2000000000; i += 1 << 26));
    SAME(k, for (k = 0; k < ten * 2; k++));
    wide();
    CHECK(on);
    return RESULT;
}
