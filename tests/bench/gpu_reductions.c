/* gpu_reductions.c - how fast reductions are: each beside a copy on the device and, where there is one, CUB's (cuda/cub.cu).
 *
 *   gpu_reductions [LARGEST [SMALLEST [CALLS]]]      exponents of the numbers of elements, 28 and 10 by default; 20 calls of each
 *
 * Prints a line for each reduction and size.  The time is the shortest of the calls, each with its launch and synchronisation; GB/s
 * counts the input once (the copy's bytes twice, read and written).  Inputs are such that results can be checked; sums of double and float
 * that round are taken a hundred times and must not differ in a bit.  The exit code says whether all was right.
 * The kernels are also what reductions.sh counts. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ARRAY = 1024, IDENTICAL = 100 };
static int repeats = 20;

struct minloc { double value; int at; };
#pragma omp declare reduction(minloc : struct minloc : omp_out = omp_in.value < omp_out.value || \
    (omp_in.value == omp_out.value && omp_in.at < omp_out.at) ? omp_in : omp_out) initializer(omp_priv = { 1e308, 0x7fffffff })
union result {
    double d; float f; int i;
    struct minloc best;
    double _Complex z;
    struct { double sum, squares, low, high; } four;
    struct { double sum, squares, low, high; long positive; float rough; int odd; unsigned bits; } eight;
    double array[ARRAY];
};

/* ------------------------------------------------------------------ kernels */
static void sum_int(union result *r, const void *data, int n)
{
    const int *x = data;
    int s = 0;
#pragma omp target teams distribute parallel for is_device_ptr(x) reduction(+: s)
    for (int i = 0; i < n; i++)
        s += x[i];
    r->i = s;
}

static void sum_float(union result *r, const void *data, int n)
{
    const float *x = data;
    float s = 0;
#pragma omp target teams distribute parallel for is_device_ptr(x) reduction(+: s)
    for (int i = 0; i < n; i++)
        s += x[i];
    r->f = s;
}

static void sum_double(union result *r, const void *data, int n)
{
    const double *x = data;
    double s = 0;
#pragma omp target teams distribute parallel for is_device_ptr(x) reduction(+: s)
    for (int i = 0; i < n; i++)
        s += x[i];
    r->d = s;
}

/* The second half of the data is the other vector. */
static void dot(union result *r, const void *data, int n)
{
    const double *x = data, *y = x + n;
    double s = 0;
#pragma omp target teams distribute parallel for is_device_ptr(x, y) reduction(+: s)
    for (int i = 0; i < n; i++)
        s += x[i] * y[i];
    r->d = s;
}

static void minloc_double(union result *r, const void *data, int n)
{
    const double *x = data;
    struct minloc best = { 1e308, 0x7fffffff };
#pragma omp target teams distribute parallel for is_device_ptr(x) reduction(minloc: best)
    for (int i = 0; i < n; i++)
        if (x[i] < best.value) {
            best.value = x[i];
            best.at = i;
        }
    r->best = best;
}

static void sum_complex(union result *r, const void *data, int n)
{
    const double _Complex *x = data;
    double _Complex s = 0;
#pragma omp target teams distribute parallel for is_device_ptr(x) reduction(+: s)
    for (int i = 0; i < n; i++)
        s += x[i];
    r->z = s;
}

static void four(union result *r, const void *data, int n)
{
    const double *x = data;
    double sum = 0, squares = 0, low = 1e308, high = -1e308;
#pragma omp target teams distribute parallel for is_device_ptr(x) reduction(+: sum, squares) reduction(min: low) reduction(max: high)
    for (int i = 0; i < n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    r->four.sum = sum, r->four.squares = squares, r->four.low = low, r->four.high = high;
}

static void eight(union result *r, const void *data, int n)
{
    const double *x = data;
    double sum = 0, squares = 0, low = 1e308, high = -1e308;
    long positive = 0;
    float rough = 0;
    int odd = 0;
    unsigned bits = 0;
#pragma omp target teams distribute parallel for is_device_ptr(x) reduction(+: sum, squares, positive, rough, odd) \
    reduction(min: low) reduction(max: high) reduction(|: bits)
    for (int i = 0; i < n; i++) {
        double v = x[i];
        sum += v;
        squares += v * v;
        low = v < low ? v : low;
        high = v > high ? v : high;
        positive += v > 0;
        rough += (float)v;
        odd += (int)v & 1;
        bits |= (unsigned)i;
    }
    r->eight.sum = sum, r->eight.squares = squares, r->eight.low = low, r->eight.high = high;
    r->eight.positive = positive, r->eight.rough = rough, r->eight.odd = odd, r->eight.bits = bits;
}

static void array_1024(union result *r, const void *data, int n)
{
    const double *x = data;
    double a[ARRAY] = { 0 };
#pragma omp target teams distribute parallel for is_device_ptr(x) reduction(+: a)
    for (int i = 0; i < n; i++)
        a[i % ARRAY] += x[i];
    memcpy(r->array, a, sizeof a);
}

/* ------------------------------------------------------------------ what is right */
static double value_of(long i) { return (double)(i % 1021) * 0.25 - 100; }      /* exact sums; the least value at 0, 1021, … */
static int near(double got, double want, double tolerance) { return fabs(got - want) <= tolerance * fabs(want) + 1e-9; }

/* Exact sums, by full periods and the rest. */
enum term { VALUE, SQUARE, WHOLE };
static double term(int i, enum term what)
{
    double v = value_of(i);
    return what == VALUE ? v : what == SQUARE ? v * v : (double)(int)v;
}

static double sum_to(int n, enum term what)
{
    double period = 0, s = 0;
    for (int i = 0; i < 1021; i++)
        period += term(i, what);
    for (int i = 0; i < n % 1021; i++)
        s += term(i, what);
    return s + period * (n / 1021);
}

static int right_int(const union result *r, int n) { return (unsigned)r->i == (unsigned)(long)sum_to(n, WHOLE); }
static int right_float(const union result *r, int n) { return near(r->f, sum_to(n, VALUE), 1e-3); }
static int right_double(const union result *r, int n) { return r->d == sum_to(n, VALUE); }
static int right_dot(const union result *r, int n) { return near(r->d, 2 * sum_to(n, SQUARE), 1e-12); }
static int right_minloc(const union result *r, int n) { (void)n; return r->best.value == -100 && r->best.at == 0; }
static int right_complex(const union result *r, int n) { return __real__ r->z == sum_to(n, VALUE) && __imag__ r->z == 2 * sum_to(n, VALUE); }
static int right_four(const union result *r, int n)
{
    return r->four.sum == sum_to(n, VALUE) && near(r->four.squares, sum_to(n, SQUARE), 1e-12) && r->four.low == -100 && r->four.high == 155;
}
static int right_eight(const union result *r, int n)
{
    return r->eight.sum == sum_to(n, VALUE) && near(r->eight.squares, sum_to(n, SQUARE), 1e-12) && r->eight.low == -100 && r->eight.high == 155 &&
           r->eight.positive > n / 3 && near(r->eight.rough, sum_to(n, VALUE), 1e-3) && r->eight.odd > n / 3 && r->eight.bits == (unsigned)n - 1;
}
static int right_array(const union result *r, int n)
{
    double s = 0, first = 0;
    for (int i = 0; i < n; i += ARRAY)
        first += value_of(i);
    for (int i = 0; i < ARRAY; i++)
        s += r->array[i];
    return s == sum_to(n, VALUE) && r->array[0] == first;
}

/* ------------------------------------------------------------------ the table */
/* cuda/cub.cu, when it is linked in: nanoseconds of one call, the shortest of some; negative: not there. */
double bench_cub(const char *name, const void *data, int n, int repeats) __attribute__((weak));

static const struct reduction {
    const char *name;
    unsigned bytes, vectors;          /* of an element; of the input */
    void (*run)(union result *, const void *, int);
    int (*right)(const union result *, int);
} reductions[] = {
    { "sum_int", sizeof(int), 1, sum_int, right_int }, { "sum_float", sizeof(float), 1, sum_float, right_float },
    { "sum_double", sizeof(double), 1, sum_double, right_double }, { "dot", sizeof(double), 2, dot, right_dot },
    { "minloc_double", sizeof(double), 1, minloc_double, right_minloc },
    { "sum_complex", sizeof(double _Complex), 1, sum_complex, right_complex }, { "four", sizeof(double), 1, four, right_four },
    { "eight", sizeof(double), 1, eight, right_eight }, { "array_1024", sizeof(double), 1, array_1024, right_array },
};
#define NREDUCTIONS (sizeof reductions / sizeof *reductions)

static void fill(const struct reduction *k, void *data, int n)
{
    int *xi = data;
    float *xf = data;
    double *xd = data;
    int kind = k->bytes == sizeof(double _Complex) ? 3 : k->bytes == sizeof(double) ? 2 : k->run == sum_float;
#pragma omp target teams distribute parallel for is_device_ptr(xi, xf, xd)
    for (int i = 0; i < n; i++) {
        double v = (double)(i % 1021) * 0.25 - 100;
        if (kind == 0)
            xi[i] = (int)v;
        else if (kind == 1)
            xf[i] = (float)v;
        else if (kind == 2)
            xd[i] = v;
        else
            xd[2L * i] = v, xd[2L * i + 1] = 2 * v;
    }
    for (unsigned vector = 1; vector < k->vectors; vector++) {
        xd += n;
#pragma omp target teams distribute parallel for is_device_ptr(xd)
        for (int i = 0; i < n; i++)
            xd[i] = 2 * ((double)(i % 1021) * 0.25 - 100);
    }
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double best(double a, double b) { return a < b ? a : b; }

static double copy_time(void *data, size_t bytes, int device)
{
    double shortest = 1e30;
    for (int i = 0; i < repeats; i++) {
        double start = now();
        omp_target_memcpy(data, data, bytes / 2, bytes / 2, 0, device, device);
        shortest = best(shortest, now() - start);
    }
    return shortest;
}

static int table_row(const struct reduction *k, int exponent, int device)
{
    int n = 1 << exponent, ok = 1;
    size_t bytes = (size_t)n * k->bytes * k->vectors;
    void *data = omp_target_alloc(bytes, device);
    union result r;
    double shortest = 1e30;
    if (!data) {
        printf("%-14s 2^%-3d no memory\n", k->name, exponent);
        return 1;
    }
    fill(k, data, n);
    for (int i = 0; i < repeats; i++) {
        double start = now();
        k->run(&r, data, n);
        shortest = best(shortest, now() - start);
        ok = ok && k->right(&r, n);
    }
    double cub = bench_cub ? bench_cub(k->name, data, n, repeats) * 1e-9 : -1, copy = copy_time(data, bytes, device);
    double speed = (double)bytes / shortest * 1e-9, copied = (double)bytes / copy * 1e-9;
    printf("%-14s 2^%-3d %10.1f us %8.1f GB/s   copy %8.1f GB/s  %5.2f of it", k->name, exponent, shortest * 1e6, speed, copied, speed / copied);
    if (cub > 0)
        printf("   CUB %10.1f us  %5.2f of its time", cub * 1e6, shortest / cub);
    printf("   %s\n", ok ? "right" : "WRONG");
    omp_target_free(data, device);
    return ok;
}

/* Sums of values that round: the same bits each time. */
static int identical(int exponent, int device)
{
    int n = 1 << exponent, same = 1;
    double *x = omp_target_alloc((size_t)n * 3 * sizeof *x, device);
    float *f = (float *)(x + 2L * n);
    struct { double sum, dot; float rough; } first = { 0 }, now;
    if (!x)
        return 1;
#pragma omp target teams distribute parallel for is_device_ptr(x, f)
    for (int i = 0; i < n; i++) {
        x[i] = 1.0 / (i + 1);
        x[n + i] = 1.0 / (i % 77 + 3);
        f[i] = 1.0f / (float)(i % 1013 + 1);
    }
    for (int i = 0; i < IDENTICAL && same; i++) {
        union result r;
        memset(&now, 0, sizeof now);
        sum_double(&r, x, n), now.sum = r.d;
        dot(&r, x, n), now.dot = r.d;
        sum_float(&r, f, n), now.rough = r.f;
        if (i == 0)
            first = now;
        same = !memcmp(&first, &now, sizeof now);
    }
    omp_target_free(x, device);
    printf("%-14s 2^%-3d %d runs of sum_double, dot and sum_float: %s\n", "identical", exponent, IDENTICAL, same ? "the same bits" : "DIFFERENT BITS");
    return same;
}

int main(int argc, char **argv)
{
    int largest = argc > 1 ? atoi(argv[1]) : 28, smallest = argc > 2 ? atoi(argv[2]) : 10, device = omp_get_default_device(), ok = 1;
    repeats = argc > 3 ? atoi(argv[3]) : repeats;
    if (repeats < 1 || largest > 30 || smallest < 10 || largest < smallest) {
        fprintf(stderr, "usage: %s [LARGEST [SMALLEST [CALLS]]], exponents from 10 to 30\n", argv[0]);
        return 2;
    }
    for (unsigned i = 0; i < NREDUCTIONS; i++) {
        for (int e = smallest; e < largest; e += 2)
            ok &= table_row(&reductions[i], e, device);
        ok &= table_row(&reductions[i], largest, device);
    }
    ok &= identical(smallest, device) & identical(largest < 22 ? largest : 22, device);
    return !ok;
}
