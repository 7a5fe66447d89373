int printf(const char *, ...), puts(const char *), fprintf(void *, const char *, ...), vprintf(const char *, __builtin_va_list);
extern void *stderr;
REGION(known)
{
    printf("%d %s %g\n", n, "text", x[0]);
    printf("%zu %hhd\n", sizeof *x * (unsigned)n, (signed char)n);
    fprintf(stderr, "%s %p\n", n ? "text" : "none", (void *)x);
    printf(n ? "%d\n" : "%d %%\n", n);
    y[0] = (float)printf("four");
}
SPMD(known, 0, "target")
REGION(star) { printf("%*d\n", n, n); }
SPMD(star, 0, "target")
REGION(result) { y[0] = (float)printf("%d\n", n); }
SPMD(result, 0, "target")
