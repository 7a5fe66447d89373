/* what C's printf knows and CUDA's does not: sizes, *, many arguments, long text, formats that only run time knows, results */ /* also: -O0 -g */
#include "check.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma omp begin declare target
static int out(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vprintf(format, args);
    va_end(args);
    return n;
}
static void sizes(int c, int s, size_t z)
{
    printf("%hhd %hhu %hhx %hd %hu %hi %hho %d\n", c, c, c, s, s, s, c, c);
    printf("%zu %zx %zd %jd %ju %td %lld %s\n", z, z, (ptrdiff_t)-z, (intmax_t)-5, (uintmax_t)5, (ptrdiff_t)7, -1ll, "end");
    printf("%5zu|%-14zx|%+014td|%s\n", z, z, (ptrdiff_t)-z, "end");
    printf("%F %lf %la|%s\n", 1.0 / (c - 259), 1.5, 3.0, "end");
    fprintf(stdout, "%zu %hhd %s\n", z, c, "fprintf");
}
static void stars(int c, const char *three)
{
    printf("%*d|%-*d|%.*f|%*.*e|%.*s|%.3s|%s\n", 6, c, 8, c, 2, 1.0 / 3, 14, 3, 2.0 / 3, 2, "text", three, "end");
    printf("%*s|%*d|%-5c|%p|%p|%%\n", 10, "right", -6, c, 'l', (void *)0, (void *)0x1234);
}
static void many(int x)
{
    printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", x, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
           12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32);
    printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %s\n", x, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
           12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, "33");
}
/* one of two formats; an address */
static void chosen(int c, size_t z)
{
    int (*print)(const char *, ...) = printf;
    out(c == 259 ? "yes %d\n" : "no %d\n", c);
    printf(c == 259 ? "yes %d\n" : "no %d\n", c);
    printf(c == 259 ? "yes %zd %s\n" : "no %zd %s\n", z, "end");
    print("pointer %zu %d\n", z, c);
}
static void results(int *n, int c, size_t z, const char *format)
{
    n[0] = printf("nothing 100%%\n");
    n[1] = printf("%d %s\n", c, "text");
    n[2] = printf("%*d\n", 20, c);
    n[3] = out("wrapper %d %zu %s\n", c, z, "x");
    n[4] = out("wrapper %d %s\n", c, "known");
    n[5] = out("wrapper\n");
    n[6] = printf(format, z, 5, c, "run");
    n[7] = fprintf(stdout, "fprintf %d\n", c);
    n[8] = printf("%s", "");
    printf("count %d%n ...\n", c, &n[9]);
}
#pragma omp end declare target

int main(void)
{
    static const int wanted[10] = { 13, 9, 21, 28, 18, 8, 33, 12, 0, 9 };
    int on = 0, n[10] = { 0 }, c = 259, s = 65539;
    char text[700], three[4] = "abcd", format[40] = "run time %zu|%*d|%s\n";
    size_t z = (size_t)1 << 40;
    for (int i = 0; i < 699; i++) text[i] = (char)(i % 70 == 69 ? '\n' : 'a' + i % 26);
    text[699] = 0;
#pragma omp target map(tofrom: on, n, text, three, format)
    {
        on = ON_DEVICE;
        sizes(c, s, z);
        stars(c, three);
        many(c);
        chosen(c, z);
        results(n, c, z, format);
        printf("%s", text);
        printf("%d %.*s|\n", 1, 650, text);
    }
    for (int i = 0; i < 10; i++) CHECK_EQ(n[i], wanted[i]);
    CHECK(on);
    return RESULT;
}
