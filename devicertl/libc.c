/* libc.c - the part of the C library that device code may use.
 *
 * On the GPU nothing of it exists but vprintf and the driver's heap.  The emulated
 * device's image links to the process's C library; only what would stop the whole process, or give
 * memory of the host, is replaced there.
 */
#include "devicertl/arch.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* ------------------------------------------------------------------ stopping */
HIDDEN _Noreturn void abort(void);
HIDDEN _Noreturn void exit(int);
HIDDEN _Noreturn void __assert_fail(const char *assertion, const char *file, unsigned line,
                                    const char *function);

_Noreturn void abort(void) { __ompgpu_fail("abort() called in a target region", 0); }
_Noreturn void exit(int status)
{
    (void)status;
    __ompgpu_fail("exit() called in a target region", 0);
}

/* assert() of the C library: its line with team and thread added, then the end of the kernel. */
_Noreturn void __assert_fail(const char *assertion, const char *file, unsigned line,
                             const char *function)
{
    __ompgpu_arch_assert(assertion, file, line, function ? function : "?");
}

/* On GPUs an assertion has the message of a fatal one: what was printed before a kernel that fails
 * is lost. */
int printf(const char *format, ...);
void __ompgpu_error(const char *file, unsigned line, const char *message, _Bool is_fatal)
{
    const char *kind = is_fatal ? "error" : "warning", *colon = message ? ": " : "";
    static const char format[] = "%s:%u: %s: error directive%s%s\n";
#ifdef __NVPTX__
    struct {
        const char *file;
        unsigned line;
        const char *kind, *colon, *message;
    } arguments = { file, line, kind, colon, message ? message : "" };
    if (is_fatal)
        __ompgpu_arch_assert(message ? message : "no error", file, line, "error directive");
    vprintf(format, (__builtin_va_list)&arguments);
#else
    printf(format, file, line, kind, colon, message ? message : "");
    if (is_fatal)
        __ompgpu_fail("an error directive was encountered", (int)line);
#endif
}

/* ------------------------------------------------------------------ allocation
 * On the emulated device the process's malloc would give memory of the host; on GPUs the driver's
 * does not know the size of its blocks.  no_builtin keeps loops from being recognised as the
 * functions that they are. */
#define PLAIN __attribute__((no_builtin))
HIDDEN void *malloc(usize);
HIDDEN void free(void *);
PLAIN void *malloc(usize size) { return __ompgpu_arch_malloc(size); }
PLAIN void free(void *p) { __ompgpu_arch_free(p); }
HIDDEN void *calloc(usize, usize);
PLAIN void *calloc(usize n, usize size)
{
    usize bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        return (void *)0;
    char *p = malloc(bytes);
    for (usize i = 0; p && i < bytes; i++)
        p[i] = 0;
    return p;
}

HIDDEN void *realloc(void *, usize);
PLAIN void *realloc(void *p, usize size)
{
    void *fresh = size || !p ? malloc(size) : (void *)0;
    usize old = p ? __ompgpu_arch_block_size(p) : 0;
    if (fresh && p)
        __builtin_memcpy(fresh, p, old < size ? old : size);
    if (fresh || !size)
        free(p);
    return fresh;
}

HIDDEN char *strndup(const char *, usize);
HIDDEN char *strdup(const char *);
HIDDEN char *strndup(const char *s, usize most)
{
    usize n = 0;
    while (n < most && s[n])
        n++;
    char *copy = malloc(n + 1);
    if (copy) {
        __builtin_memcpy(copy, s, n);
        copy[n] = 0;
    }
    return copy;
}
HIDDEN char *strdup(const char *s) { return strndup(s, ~(usize)0); }

#ifdef __NVPTX__
/* ------------------------------------------------------------------ output
 * LLVM packs variadic arguments with natural alignment, which is what the driver's vprintf reads.
 * Calls of printf and its like with a format that the compiler knows do not come here
 * (codegen/ir/passes/prints.c). */
int printf(const char *format, ...)
{
    __builtin_va_list args;
    __builtin_va_start(args, format);
    int n = __ompgpu_vprintf(format, args);
    __builtin_va_end(args);
    return n;
}
/* There is one stream, whatever the host's is called.  The names are the linker's: clang knows
 * these functions from their header only. */
void *stdout, *stderr;
int __ompgpu_fprintf(void *, const char *, ...) __asm__("fprintf");
int __ompgpu_fputs(const char *, void *) __asm__("fputs");
usize __ompgpu_fwrite(const void *, usize, usize, void *) __asm__("fwrite");
int __ompgpu_fputc(int, void *) __asm__("fputc");
int __ompgpu_putc(int, void *) __asm__("putc");
int __ompgpu_vfprintf(void *, const char *, __builtin_va_list) __asm__("vfprintf");
__attribute__((no_builtin)) int __ompgpu_fprintf(void *stream, const char *format, ...)
{
    __builtin_va_list args;
    (void)stream;
    __builtin_va_start(args, format);
    int n = __ompgpu_vprintf(format, args);
    __builtin_va_end(args);
    return n;
}
__attribute__((no_builtin)) int __ompgpu_fputs(const char *s, void *stream)
{
    (void)stream;
    vprintf("%s", (__builtin_va_list)&s);
    return 1;
}
__attribute__((no_builtin)) usize __ompgpu_fwrite(const void *p, usize size, usize n, void *stream)
{
    (void)stream;
    __ompgpu_print_bytes(p, size * n);
    return size ? n : 0;
}
__attribute__((no_builtin)) int __ompgpu_fputc(int c, void *stream)
{
    (void)stream;
    vprintf("%c", (__builtin_va_list)&c);
    return (unsigned char)c;
}
__attribute__((no_builtin)) int __ompgpu_putc(int c, void *stream)
{
    return __ompgpu_fputc(c, stream);
}
__attribute__((no_builtin)) int __ompgpu_vfprintf(void *stream, const char *format,
                                                  __builtin_va_list args)
{
    (void)stream;
    return __ompgpu_vprintf(format, args);
}
int fflush(void *);
int fflush(void *stream)
{
    (void)stream;
    return 0;
}
/* no_builtin: LLVM would turn the calls back into the functions that they implement. */
int puts(const char *);
__attribute__((no_builtin)) int puts(const char *s)
{
    vprintf("%s\n", (__builtin_va_list)&s);
    return 1;
}
int putchar(int);
__attribute__((no_builtin)) int putchar(int c) { return __ompgpu_fputc(c, (void *)0); }

/* ------------------------------------------------------------------ memory */
void *memcpy(void *restrict, const void *restrict, usize);
void *memmove(void *, const void *, usize);
void *memset(void *, int, usize);
int memcmp(const void *, const void *, usize);
void *memchr(const void *, int, usize);
void *memccpy(void *restrict, const void *restrict, int, usize);

/* Eight bytes at a time where both sides allow it. */
static _Bool words(const void *a, const void *b) { return (((usize)a | (usize)b) & 7) == 0; }

PLAIN void *memcpy(void *restrict to, const void *restrict from, usize n)
{
    char *d = to;
    const char *s = from;
    usize i = 0;
    if (words(d, s))
        for (; i + 8 <= n; i += 8)
            *(u64 __attribute__((may_alias)) *)(d + i) =
                *(const u64 __attribute__((may_alias)) *)(s + i);
    for (; i < n; i++)
        d[i] = s[i];
    return to;
}

PLAIN void *memmove(void *to, const void *from, usize n)
{
    char *d = to;
    const char *s = from;
    if ((usize)d - (usize)s >= n) /* also when d < s: copying upwards is safe */
        for (usize i = 0; i < n; i++)
            d[i] = s[i];
    else
        for (usize i = n; i-- > 0;)
            d[i] = s[i];
    return to;
}

PLAIN void *memset(void *to, int value, usize n)
{
    char *d = to;
    u64 fill = (u8)value * 0x0101010101010101ull;
    usize i = 0;
    if (words(d, d))
        for (; i + 8 <= n; i += 8)
            *(u64 __attribute__((may_alias)) *)(d + i) = fill;
    for (; i < n; i++)
        d[i] = (char)value;
    return to;
}

PLAIN int memcmp(const void *a, const void *b, usize n)
{
    const u8 *x = a, *y = b;
    for (usize i = 0; i < n; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

PLAIN void *memchr(const void *p, int c, usize n)
{
    const u8 *x = p;
    for (usize i = 0; i < n; i++)
        if (x[i] == (u8)c)
            return (void *)(x + i);
    return (void *)0;
}

PLAIN void *memccpy(void *restrict to, const void *restrict from, int c, usize n)
{
    u8 *d = to;
    const u8 *s = from;
    for (usize i = 0; i < n; i++)
        if ((d[i] = s[i]) == (u8)c)
            return d + i + 1;
    return (void *)0;
}

/* ------------------------------------------------------------------ strings
 * Two names in parentheses: they are banned elsewhere. */
usize strlen(const char *);
usize strnlen(const char *, usize);
int strcmp(const char *, const char *);
int strncmp(const char *, const char *, usize);
char *(strcpy)(char *restrict, const char *restrict);
char *strncpy(char *restrict, const char *restrict, usize);
char *(strcat)(char *restrict, const char *restrict);
char *strncat(char *restrict, const char *restrict, usize);
char *strchr(const char *, int);
char *strrchr(const char *, int);
char *strstr(const char *, const char *);

PLAIN usize strlen(const char *s)
{
    usize n = 0;
    while (s[n])
        n++;
    return n;
}
PLAIN usize strnlen(const char *s, usize max)
{
    usize n = 0;
    while (n < max && s[n])
        n++;
    return n;
}
PLAIN int strncmp(const char *a, const char *b, usize n)
{
    for (usize i = 0; i < n; i++)
        if (a[i] != b[i] || !a[i])
            return (u8)a[i] - (u8)b[i];
    return 0;
}
PLAIN int strcmp(const char *a, const char *b)
{
    usize i = 0;
    while (a[i] == b[i] && a[i])
        i++;
    return (u8)a[i] - (u8)b[i];
}
PLAIN char *(strcpy)(char *restrict to, const char *restrict from)
{
    usize i = 0;
    do
        to[i] = from[i];
    while (from[i++]);
    return to;
}
PLAIN char *strncpy(char *restrict to, const char *restrict from, usize n)
{
    usize i = 0;
    for (; i < n && from[i]; i++)
        to[i] = from[i];
    for (; i < n; i++)
        to[i] = 0;
    return to;
}
PLAIN char *strncat(char *restrict to, const char *restrict from, usize n)
{
    usize at = strlen(to), i = 0;
    for (; i < n && from[i]; i++)
        to[at + i] = from[i];
    to[at + i] = 0;
    return to;
}
PLAIN char *(strcat)(char *restrict to, const char *restrict from)
{
    return strncat(to, from, ~(usize)0);
}
PLAIN char *strchr(const char *s, int c)
{
    for (;; s++) {
        if (*s == (char)c)
            return (char *)s;
        if (!*s)
            return (char *)0;
    }
}
PLAIN char *strrchr(const char *s, int c)
{
    const char *last = (const char *)0;
    for (;; s++) {
        if (*s == (char)c)
            last = s;
        if (!*s)
            return (char *)last;
    }
}
PLAIN char *strstr(const char *s, const char *what)
{
    for (usize n = strlen(what);; s++) {
        if (strncmp(s, what, n) == 0)
            return (char *)s;
        if (!*s)
            return (char *)0;
    }
}

/* ------------------------------------------------------------------ integers */
int abs(int);
long labs(long);
long long llabs(long long);
PLAIN int abs(int x) { return x < 0 ? -x : x; }
PLAIN long labs(long x) { return x < 0 ? -x : x; }
PLAIN long long llabs(long long x) { return x < 0 ? -x : x; }

#define DIVISION(name, type)                                                                       \
    struct name##_result {                                                                         \
        type quot, rem;                                                                            \
    };                                                                                             \
    struct name##_result name(type, type);                                                         \
    struct name##_result name(type a, type b) { return (struct name##_result){ a / b, a % b }; }
DIVISION(div, int)
DIVISION(ldiv, long)
DIVISION(lldiv, long long)
#endif
