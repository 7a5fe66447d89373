#include <stdarg.h>
struct lone { double x; };
typedef struct { int a[1]; } element;
union narrow { short s; };
struct flags { int low: 5; };
struct next { struct lone *p; };
struct deep { struct next n; };
struct several { struct lone l; element e; };
struct two { double x, y; };
union mixed { struct { char c; double d; } s; char raw[16]; };
#pragma omp begin declare target
/* _there: in the file without arrays of variable length */
struct lone twice(struct lone), twice_there(struct lone);
element count(element), count_there(element);
union narrow minus(union narrow), minus_there(union narrow);
struct flags more(struct flags), more_there(struct flags);
struct deep back(struct deep), back_there(struct deep);
struct several both(struct several), both_there(struct several);
struct lone sum(int n, ...), sum_there(int n, ...);
struct two ends(int n, ...), ends_there(int n, ...);
union mixed bytes(int n, ...), bytes_there(int n, ...);
double through(struct lone (*f)(struct lone), struct two (*g)(int, ...)), through_there(struct lone (*f)(struct lone), struct two (*g)(int, ...));
#pragma omp end declare target

#define FUNCTIONS(END)                                                                                      \
    struct lone twice##END(struct lone l) { return (struct lone){ l.x * 2 }; }                              \
    element count##END(element e) { e.a[0]++; return e; }                                                   \
    union narrow minus##END(union narrow u) { u.s = (short)-u.s; return u; }                                \
    struct flags more##END(struct flags f) { f.low += 2; return f; }                                        \
    struct deep back##END(struct deep d) { d.n.p--; return d; }                                             \
    struct several both##END(struct several s) { s.l = twice##END(s.l), s.e = count##END(s.e); return s; }  \
    struct lone sum##END(int n, ...)                                                                        \
    {                                                                                                       \
        struct lone s = { 0 };                                                                              \
        va_list l;                                                                                          \
        va_start(l, n);                                                                                     \
        while (n--)                                                                                         \
            s.x += va_arg(l, struct lone).x + va_arg(l, int);                                               \
        va_end(l);                                                                                          \
        return s;                                                                                           \
    }                                                                                                       \
    struct two ends##END(int n, ...)                                                                        \
    {                                                                                                       \
        struct two t = { 0 };                                                                               \
        va_list l;                                                                                          \
        va_start(l, n);                                                                                     \
        t.x = va_arg(l, double);                                                                            \
        while (--n)                                                                                         \
            t.y = va_arg(l, double);                                                                        \
        va_end(l);                                                                                          \
        return t;                                                                                           \
    }                                                                                                       \
    union mixed bytes##END(int n, ...)                                                                      \
    {                                                                                                       \
        union mixed u;                                                                                      \
        va_list l;                                                                                          \
        va_start(l, n);                                                                                     \
        for (int i = 0; i < 16; i++)                                                                        \
            u.raw[i] = (char)(n + i);                                                                       \
        u.raw[3] = (char)va_arg(l, int);                                                                    \
        va_end(l);                                                                                          \
        return u;                                                                                           \
    }                                                                                                       \
    double through##END(struct lone (*f)(struct lone), struct two (*g)(int, ...))                           \
    {                                                                                                       \
        struct two t = g(3, 1.5, 2.5, 7.25);                                                                \
        return f((struct lone){ 4 }).x + 100 * t.x + 1000 * t.y;                                            \
    }
