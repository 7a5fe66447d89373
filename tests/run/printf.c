/* printf in a region: every conversion, many arguments, strings, and the order of one thread's lines */
#include <stdarg.h>
#include <stdio.h>
#pragma clang diagnostic ignored "-Wopenmp-target"
#pragma omp declare target enter(stdout) /* as LLVM's libc for GPUs wants it */
#include "check.h"

#pragma omp begin declare target
/* the same through streams, which functions of the device may name, too */
static void to(FILE *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(f, format, args);
    va_end(args);
}
static void out(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
}
static void streams(int i)
{
    fprintf(stdout, "stream %d\n", i);
    fputs("fputs\n", stdout), fputc('p', stdout), putc('\n', stdout);
    fwrite("fwrite\n", 1, 7, stdout);
    to(stdout, "%s %.1f %d\n", "vfprintf", 1.5, i);
    out("%s %c\n", "vprintf", 'v');
    if (i < 0)
        fprintf(stderr, "negative\n");
}
#pragma omp end declare target

int main(void)
{
    int on = 0, n = 0;
    char text[] = "mapped", *p = text;

#pragma omp target map(tofrom: on, n, text) map(to: p[0:1])
    {
        on = ON_DEVICE;
        n = printf("int %d %5d|%-5d|%05d %+d %x %X %o %u %c\n", 42, 42, 42, 42, 42, 255, 255, 8, 4000000000u, 'z');
        printf("long %ld %lld %lu %llx %zu %hhd %hd\n", -5000000000L, 1LL << 60, ~0ul, 1ull << 40, sizeof(int), (char)-3, (short)-300);
        printf("double %f %.2f %8.3f|%-9.1e|%g %g %a\n", 1.5, 2.345, 3.14159, 12345.678, 0.0001, 1e10, 1.0);
        printf("float %.1f\n", 2.5f);
        printf("string %s %.3s|%8s|%-8s|\n", "constant", "abcdef", "right", "left");
        printf("%s %c%c %%\n", text, text[0], text[1]);
        printf("width %*d|%.*f|%*.*f|%*d|%.*f|\n", 6, 7, 2, 1.0 / 3, 8, 3, 2.0 / 3, -4, 5, -1, 0.5);
        printf("nothing\n");
        printf("%d %f %d %f %d %f %d %f %d %f\n", 1, 2.0, 3, 4.0, 5, 6.0, 7, 8.0, 9, 10.0);
        for (int i = 0; i < 3; i++)
            printf("line %d\n", i);
        puts("puts");
        putchar('c'), putchar('\n');
    }
#pragma omp target
    {
        streams(4);
        fprintf(stdout, "in a region\n");
        fflush(stdout);
    }
    fflush(stdout);
    CHECK(on);
    return RESULT;
}
