/* the C library in regions: text, numbers, sorting, complex functions; GPUs get their own, compared with the host's */
#include "check.h"
#include <complex.h>
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <time.h>
#pragma omp declare target
static int descending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x > y ? -1 : x < y;
}
static int format(char *to, int size, const char *f, ...)
{
    va_list args;
    va_start(args, f);
    int n = vsnprintf(to, (size_t)size, f, args);
    va_end(args);
    return n;
}
/* the same on both sides */
static int write_all(char *s, const double *x, int n)
{
    int at = 0;
    for (int i = 0; i < n; i++) {
        double v = x[i];
        at += sprintf(s + at, "%f %.0f %.3e %g %#.12g %.17g %10.2f|%-12.4E|%+08.1f %a %.2A %G\n", v, v, v, v, v, v, v, v, v, v, v, v);
    }
    at += snprintf(s + at, 300, "%d %5d|%-5d|%05d %+d % d %u %x %#X %#o %lld %hhd %hd %zu %c%% %s %.2s %8s|%-8s| %p %.3d %.0d|", -7, 42,
                   42, 42, 42, 42, 42u, 255u, 255u, 8u, 1ll << 62, 300, 70000, (size_t)9, 'q', "text", "text", "text", "text", (void *)0x1f, 5, 0);
    return at + format(s + at, 5, "%s%d", "abc", 12345);
}
/* Each character and EOF, as functions and by the macros of the header, where it has them. */
static int classes_of(int c)
{
    int set = (isalnum(c) != 0) | (isalpha(c) != 0) << 1 | (isblank(c) != 0) << 2 | (iscntrl(c) != 0) << 3 | (isdigit(c) != 0) << 4 |
              (isgraph(c) != 0) << 5 | (islower(c) != 0) << 6 | (isprint(c) != 0) << 7 | (ispunct(c) != 0) << 8 | (isspace(c) != 0) << 9 |
              (isupper(c) != 0) << 10 | (isxdigit(c) != 0) << 11 | tolower(c) << 12 | (toupper(c) & 0xff) << 21;
    return set + (isalpha)(c) * 0 + ((toupper)(c) != toupper(c)) + ((tolower)(c) != tolower(c)) + (!(isspace)(c) != !isspace(c));
}
static double complex functions(double complex z)
{
    double complex w = cexp(z) + clog(z) + csqrt(z) + cpow(z, 0.5 + I) + csin(z) + ccos(z) + ctan(z) + csinh(z) + ccosh(z) + ctanh(z);
    return w + casin(z) + cacos(z) + catan(z) + casinh(z) + cacosh(z) + catanh(z) + cproj(z) + cabs(z) + carg(z) + csqrtf((float complex)z);
}
#pragma omp end declare target
enum { N = 14, SIZE = 6000 };
static const double values[N] = { 0, -0.0, 1, -2.5, 0.1, 123456789, 9.995, 1e23, 5e-324, 1.7976931348623157e308, 3.14159265358979, 0.5, 1e-5, 99999.95 };

static void characters(void)
{
    int classes[257], more[5] = { 0 };
#pragma omp target map(from: classes) map(tofrom: more)
    {
        for (int c = -1; c < 256; c++)
            classes[c + 1] = classes_of(c);
        char *copy = strdup("two words"), *part = strndup(copy, 3);
        more[0] = strcmp(copy, "two words") == 0 && strcmp(part, "two") == 0;
        more[1] = strpbrk(copy, "xwr") == copy + 1 && !strpbrk(part, "x");
        char two[12] = "...........";
        more[3] = memccpy(two, "ab:cd", ':', 5) == two + 3 && !memccpy(two + 8, "abc", 'x', 2) && strcmp(two, "ab:.....ab.") == 0;
        free(copy), free(part);
        div_t q = div(-17, 5);
        ldiv_t l = ldiv(1l << 40, 3);
        more[2] = q.quot == -3 && q.rem == -2 && l.quot * 3 + l.rem == 1l << 40 && lldiv(7, -2).rem == 1;
    }
    for (int c = -1; c < 256; c++)
        CHECK_EQ(classes[c + 1], classes_of(c));
    CHECK(more[0] && more[1] && more[2] && more[3]);
}

int main(void)
{
    static char here[SIZE], there[SIZE], line[64] = "one,two;;three";
    static const char *const numbers[] = { "1.5e2", "0.1", "9007199254740993", "2.2250738585072011e-308", "1e-400", "-7.25x", "1e400", ".5", "123456789012345678901234567890" };
    static char texts[COUNT(numbers)][40];
    double read[COUNT(numbers)];
    double complex z[6] = { 3 + 4 * I, -1 + 0.5 * I, 0.25 - 2 * I, -0.3 - 0.4 * I, 1e-3 + I, 2 }, w[6];
    int n = 0, on = 0, sorted[9] = { 4, 2, 6, 1, 9, 3, 7, 8, 5 }, found = 0, words = 0, ints[7] = { 0 };
    for (int i = 0; i < COUNT(numbers); i++) strcpy(texts[i], numbers[i]);
#pragma omp target map(from: there, n, read, w, on) map(tofrom: sorted, found, words, line, ints) map(to: values, texts, z)
    {
        int key = 6;
        char *end, *rest, copy[16];
        on = ON_DEVICE;
        n = write_all(there, values, N);
        for (int i = 0; i < COUNT(numbers); i++) read[i] = strtod(texts[i], i == 5 ? &end : NULL);
        ints[0] = *end == 'x';
        for (int i = 0; i < 6; i++) w[i] = functions(z[i]);
        qsort(sorted, 9, sizeof *sorted, descending);
        found = (int)((int *)bsearch(&key, sorted, 9, sizeof *sorted, descending) - sorted);
        for (char *s = strtok_r(line, ",;", &rest); s; s = strtok_r(NULL, ",;", &rest)) words += (int)strlen(s);
        ints[1] = (int)strtol(" -0x1fz", &end, 0) + (*end == 'z');
        ints[2] = strtoul("99999999999999999999", NULL, 10) == ~0ul && strtol("-99999999999999999999", NULL, 10) == -__LONG_MAX__ - 1;
        ints[3] = atoi("12") + (int)atof("0.5e1");
        strncat(strncpy(copy, "hello", 16), " you", 3);
        ints[4] = !strcmp(copy, "hello yo") && strchr(copy, 'y') == strstr(copy, "yo") && strrchr(copy, 'o') == copy + 7 && !strncmp(copy, "help", 3);
        unsigned seed = 1;
        clock_t c = clock();
        ints[5] = rand_r(&seed) >= 0 && seed != 1 && clock() >= c;
        int *p = realloc(NULL, 4 * sizeof *p), *q = calloc(3, sizeof *q);
        for (int i = 0; i < 4; i++) p[i] = i + 1;
        p = realloc(realloc(p, 999 * sizeof *p), 3 * sizeof *p);
        p = realloc(p, 50 * sizeof *p);
        q = realloc(q, 40 * sizeof *q);
        p[40] = q[39] = 9;
        ints[6] = p[0] + p[1] + p[2] + q[2] + p[40] + q[39];
        free(p), free(realloc(q, 1));
        int *zero = malloc(400); /* LLVM makes one call of calloc of both */
        memset(zero, 0, 400);
        ints[6] += zero[n % 100];
        free(zero);
        if (n < 0) exit(1);
    }
    CHECK(on);
    CHECK_EQ(n, write_all(here, values, N));
    CHECK(strcmp(here, there) == 0);
    for (int i = 0; i < COUNT(numbers); i++) CHECK(read[i] == strtod(numbers[i], NULL));
    for (int i = 0; i < 6; i++) {
        double complex want = functions(z[i]);
        CHECK_NEAR(creal(w[i]), creal(want), 1e-6);
        CHECK_NEAR(cimag(w[i]), cimag(want), 1e-6);
    }
    for (int i = 0; i < 9; i++) CHECK_EQ(sorted[i], 9 - i);
    CHECK_EQ(found, 3);
    CHECK_EQ(words, 11);
    characters();
    CHECK_EQ(ints[0], 1); CHECK_EQ(ints[1], -30); CHECK_EQ(ints[2], 1); CHECK_EQ(ints[3], 17); CHECK_EQ(ints[4], 1); CHECK_EQ(ints[5], 1); CHECK_EQ(ints[6], 24);
#pragma omp target
    { fprintf(stderr, "%s", ""); fputs("", stdout); if (n == 1) { fprintf(stderr, "text\n"); fputs("text\n", stdout); fputs("x", stdout); } }
    return RESULT;
}
