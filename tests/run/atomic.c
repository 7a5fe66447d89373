/* atomic: read, write, update, capture in all shapes; every operator on every type */
#include "check.h"

enum { N = 200 };
typedef unsigned char uchar; typedef unsigned short ushort_; typedef unsigned uint_; typedef long long llong; typedef unsigned long long ullong;
#define UPDATE(T, init, hostinit, stmt)                                 \
    do {                                                                \
        T x = init, h = hostinit;                                       \
        _Pragma("omp target parallel for map(tofrom: x)")               \
        for (int i = 0; i < N; i++) {                                   \
            _Pragma("omp atomic")                                       \
            stmt;                                                       \
        }                                                               \
        T dev = x;                                                      \
        x = h;                                                          \
        for (int i = 0; i < N; i++) {                                   \
            stmt;                                                       \
        }                                                               \
        if (dev != x && check_failures++ < 20)                          \
            printf("%s %s: %.17g, not %.17g\n", #T, #stmt, (double)dev, (double)x); \
    } while (0)
#define ARITH(T) \
    UPDATE(T, 1, 1, x += (T)(i % 3)); UPDATE(T, 100, 100, x -= (T)(i % 2)); UPDATE(T, 1, 1, x++); UPDATE(T, 1, 1, ++x); \
    UPDATE(T, 50, 50, x--); UPDATE(T, 50, 50, --x); UPDATE(T, 1, 1, x = x + 1); UPDATE(T, 1, 1, x = 2 + x); \
    UPDATE(T, 1, 1, x *= (T)(i % 40 == 5 ? 2 : 1)); UPDATE(T, 64, 64, x /= (T)(i % 50 == 3 ? 2 : 1)); UPDATE(T, 1, 1, x = (T)9 - x)
#define BITS(T) \
    UPDATE(T, 127, 127, x &= (T)~(i % 2 << 3)); UPDATE(T, 0, 0, x |= (T)(1 << i % 7)); UPDATE(T, 5, 5, x ^= (T)i); UPDATE(T, 1, 1, x <<= i == 44); \
    UPDATE(T, 96, 96, x >>= i % 100 == 44)

static void arith(void)
{
    ARITH(int); ARITH(ullong); ARITH(float); ARITH(double);
    BITS(uint_); BITS(long);
}
static void narrow(void)
{
    ARITH(uchar); ARITH(short);
    BITS(char); BITS(ushort_);
}
/* the other signs */
static void others(void)
{
#ifdef OMPGPU_LONG
    ARITH(uint_); ARITH(long); ARITH(llong); ARITH(char); ARITH(ushort_);
    BITS(int); BITS(ullong); BITS(uchar); BITS(short);
#endif
}

int main(void)
{
    int x = 0, seen[N] = { 0 }, y = 7, r = 0, on = 0, old[N], list[N], fill = 0, flag = 0;
    double d = 0.5, e = 0;

    arith();
    narrow();
    others();
#pragma omp target parallel for map(tofrom: x, seen, y, on, d, fill, flag) map(from: old, list)
    for (int i = 0; i < N; i++) {
        int a, b, c;
        double f;
#pragma omp atomic capture
        a = x++;
        seen[a]++;
#pragma omp atomic capture
        { b = fill; fill += 1; }
        list[b] = i;
#pragma omp atomic read
        c = y;
        old[i] = c;
#pragma omp atomic write
        flag = i + 1;
#pragma omp atomic capture
        f = d += 0.5;
        if (f <= 0.5)
            seen[0] = 99;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK(x == N && fill == N && flag >= 1 && flag <= N);
    CHECK_EQ(d, 0.5 + N / 2);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(seen[i], 1);
        CHECK_EQ(old[i], 7);
    }
    for (int i = 0; i < N; i++)
        seen[list[i]]++;
    for (int i = 0; i < N; i++)
        CHECK_EQ(seen[i], 2);

    /* the capture forms, by one thread: exact values */
    int v[12];
#pragma omp target map(from: v) map(tofrom: r, e)
    {
        int t = 10;
        v[10] = 1;
#pragma omp atomic capture
        v[0] = t++;
#pragma omp atomic capture
        v[1] = ++t;
#pragma omp atomic capture
        v[2] = t -= 2;
#pragma omp atomic capture
        { v[3] = t; t = t * 3; }
#pragma omp atomic capture
        { t = t + 1; v[4] = t; }
#pragma omp atomic capture
        { v[5] = t; t = 5; }
#pragma omp atomic capture
        v[6] = t = 20 - t;
#pragma omp atomic capture
        { v[7] = t; t++; }
#pragma omp atomic capture
        { --t; v[8] = t; }
#pragma omp atomic update
        t <<= 2;
#pragma omp atomic capture seq_cst
        v[9] = t |= 3;
#pragma omp atomic relaxed
        v[10] = v[10] + 1;
#pragma omp atomic write release
        e = 2.5;
#pragma omp atomic read acquire
        d = e;
        r = t;
    }
    int want[10] = { 10, 12, 10, 10, 31, 31, 15, 15, 15, 63 };
    for (int i = 0; i < 10; i++)
        CHECK_EQ(v[i], want[i]);
    CHECK_EQ(v[10], 2);
    CHECK_EQ(r, 63);
    return RESULT;
}
