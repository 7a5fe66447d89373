/* every operator on every type, across the league; for three types also in one parallel region and across teams of a generic region */
#include "check.h"

enum { N = 300 };
static int on;
#define FOR_LEAGUE(op, r) _Pragma(STR(omp target teams distribute parallel for reduction(op: r) map(to: v) map(tofrom: r, on) num_teams(3)))
#define FOR_PARALLEL(op, r) _Pragma(STR(omp target parallel for reduction(op: r) map(to: v) map(tofrom: r, on) num_threads(77)))
#define FOR_TEAMS(op, r) _Pragma(STR(omp target teams distribute reduction(op: r) map(to: v) map(tofrom: r, on) num_teams(5)))
#define STR(...) STR_(__VA_ARGS__)
#define STR_(...) #__VA_ARGS__
#define ONE(T, op, start, value, update, FORM)                          \
    do {                                                                \
        T v[N], r = start, h = start;                                   \
        for (int i = 0; i < N; i++)                                     \
            v[i] = (T)(value);                                          \
        on = 0;                                                         \
        FORM(op, r)                                                     \
        for (int i = 0; i < N; i++) {                                   \
            T x = v[i];                                                 \
            update(r);                                                  \
            if (i == 9)                                                 \
                on = ON_DEVICE;                                         \
        }                                                               \
        for (int i = 0; i < N; i++) {                                   \
            T x = v[i];                                                 \
            update(h);                                                  \
        }                                                               \
        CHECK(on);                                                      \
        if (r != h && check_failures++ < 20)                            \
            printf("%s %s %s: %.17g, not %.17g\n", #T, #op, #FORM, (double)r, (double)h);  \
    } while (0)
#define ALL(T, op, start, value, update) ONE(T, op, start, value, update, FOR_LEAGUE)
#define MORE(T, op, start, value, update) ONE(T, op, start, value, update, FOR_PARALLEL); ONE(T, op, start, value, update, FOR_TEAMS)
#define ADD(r) r = (__typeof__(r))(r + x)
#define SUB(r) r = (__typeof__(r))(r - x)
#define MUL(r) r = (__typeof__(r))(r * x)
#define AND(r) r = (__typeof__(r))(r & x)
#define OR(r)  r = (__typeof__(r))(r | x)
#define XOR(r) r = (__typeof__(r))(r ^ x)
#define LAND(r) r = r && x
#define LOR(r) r = r || x
#define MIN(r) r = x < r ? x : r
#define MAX(r) r = x > r ? x : r
#define ARITH_(T, name, ALL)                                            \
    static void name##_##T(void)                                         \
    {                                                                   \
        ALL(T, +, 3, i % 8, ADD);                                       \
        ALL(T, *, 1, i % 50 == 7 ? 2 : 1, MUL);                         \
        ALL(T, &&, 1, i + 1 == 250 ? 0 : 1, LAND);                      \
        ALL(T, ||, 0, i + 1 == 250, LOR);                               \
        ALL(T, min, 60, 20 + i * 37 % 101, MIN);                        \
        ALL(T, max, 60, 20 + i * 37 % 101, MAX);                        \
    }
#define EXTREMES_(T, name, ALL)                                         \
    static void name##_##T(void)                                         \
    {                                                                   \
        ALL(T, min, 60, 20 + i * 37 % 101, MIN);                        \
        ALL(T, max, 60, 20 + i * 37 % 101, MAX);                        \
    }
#define BITS_(T, name, ALL)                                             \
    static void name##_##T(void)                                          \
    {                                                                   \
        ALL(T, &, ~(T)0, ~((T)1 << i % (4 * sizeof(T))), AND);          \
        ALL(T, |, 0, (T)1 << i % (7 * sizeof(T)), OR);                  \
        ALL(T, ^, 5, i * 12345, XOR);                                   \
    }
#define ARITH(T) ARITH_(T, arith, ALL)
#define BITS(T) BITS_(T, bits, ALL)
typedef signed char schar; typedef unsigned char uchar; typedef unsigned short ushort_; typedef unsigned uint_;
typedef unsigned long ulong_; typedef long long llong; typedef unsigned long long ullong; typedef _Bool boolean;
/* Without OMPGPU_LONG one type for each size, and each sign where it matters: the device code of the others is the same; and
 * where a form's way depends on the size of the record alone, not every operator. */
#ifdef OMPGPU_LONG
#define SIZES INTEGERS
#define INTEGERS(X) X(char) X(schar) X(uchar) X(short) X(ushort_) X(int) X(uint_) X(long) X(ulong_) X(llong) X(ullong)
#define OTHER_SIGNS(X)
#define SOME_ ARITH_
#else
#define INTEGERS(X) X(schar) X(ushort_) X(int) X(ulong_)
#define OTHER_SIGNS(X) X(uchar) X(short) X(uint_) X(long)
#define SIZES(X) X(uchar) X(short) X(int) X(ulong_)                    /* bits have no sign */
#define SOME_ EXTREMES_
#endif
#define EXTREMES(T) EXTREMES_(T, extremes, ALL)
ARITH(float) ARITH(double)
INTEGERS(ARITH)
OTHER_SIGNS(EXTREMES)
SIZES(BITS)
ARITH_(int, more, MORE) SOME_(double, more, MORE) SOME_(uchar, more, MORE)
BITS_(int, more_bits, MORE)

int main(void)
{
#define CALL_ARITH(T) arith_##T();
#define CALL_BITS(T) bits_##T();
#define CALL_EXTREMES(T) extremes_##T();
    INTEGERS(CALL_ARITH)
    OTHER_SIGNS(CALL_EXTREMES)
    SIZES(CALL_BITS)
    CALL_ARITH(float)
    CALL_ARITH(double)
    more_int(), more_double(), more_uchar(), more_bits_int();
    ALL(boolean, &&, 1, i != 77, LAND);
    ALL(boolean, ||, 0, i == 77, LOR);
    return RESULT;
}
