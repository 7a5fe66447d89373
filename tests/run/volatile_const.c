/* qualifiers: const arrays and pointers, volatile, restrict, register, _Alignas, static const in a function, pointers to pointers,
 * assembly without an instruction */
#include "check.h"

struct node { const char *name; int *const data; };
static const struct { int a, b; } read_only = { 5, 6 };
static const int primes[5] = { 2, 3, 5, 7, 11 };

int main(void)
{
    static const double half[2] = { 0.5, 0.25 };
    const int limit = 5, *const p = primes;
    volatile int vol = 3;
    register int reg = 4;
    _Alignas(64) float aligned[16] = { 0 };
    int data[10] = { 0 }, *restrict q = data, *rows[3], on = 0;
    const int copy[3] = { 7, 8, 9 };
    double r = 0;

#pragma omp target map(tofrom: data, on, r) map(tofrom: vol)
    {
        on = ON_DEVICE;
        vol = vol + 1;
        for (int i = 0; i < limit; i++)
            data[i] = primes[i] + copy[i % 3] + reg;
        r = half[1];
        __asm__("");                                    /* no instruction: it orders accesses */
        __asm__ volatile("" : "+m"(r) : "m"(on) : "memory", "cc");
        double kept = 1;
        int copy;
        __asm__ volatile("" : "+x"(kept), [c] "=g"(copy) : "r"(on), "rm"(r)); /* on the device they are in memory */
        __asm__ volatile("" : : "g"(&copy), "rm"(copy + 1), "x"(kept * 2.0) : "memory"); /* so are values */
        __asm__ volatile("" "" : "+r,m"(copy) : [p] "r,m"((char *)data + limit), "r,m"(primes[limit - 1] == 3));
        copy = (int)kept - 1;
        r += copy;
        aligned[3] = (float)((unsigned long)aligned % 64);
    }
    CHECK(on && vol == 4 && r == 0.25);
    CHECK_EQ(aligned[3], 0);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(data[i], primes[i] + copy[i % 3] + 4);
    for (int i = 0; i < 3; i++)
        rows[i] = malloc(4 * sizeof *rows[i]);
#pragma omp target enter data map(to: rows)
    for (int i = 0; i < 3; i++) {
        rows[i][0] = i;
#pragma omp target enter data map(to: rows[i][0:4])
    }
#pragma omp target
    for (int i = 0; i < 3; i++)
        rows[i][1] = rows[i][0] + 10;
    for (int i = 0; i < 3; i++) {
#pragma omp target exit data map(from: rows[i][0:4])
        CHECK_EQ(rows[i][1], i + 10);
        free(rows[i]);
    }
#pragma omp target exit data map(delete: rows)
#pragma omp target teams distribute parallel for map(tofrom: q[0:10]) map(to: p[0:5])
    for (int i = 0; i < 10; i++)
        q[i] = p[i % 5];
    CHECK_EQ(data[9], 11);
    int seen = 0;
#pragma omp target map(primes, read_only) map(tofrom: seen)
    seen = primes[1] + read_only.a;
#pragma omp target map(tofrom: primes[1:2], read_only.b, seen)
    seen += 100 * (primes[2] + read_only.b);
    CHECK_EQ(seen, primes[1] + 5 + 100 * (primes[2] + 6));
    return RESULT;
}
