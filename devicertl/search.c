/* search.c - sorting, searching, random numbers, words of a string and the clock, as the C library
 * of GPUs lacks them; the emulated device has the process's. */
#include "devicertl/arch.h"
#ifdef __NVPTX__

typedef int order(const void *, const void *);
void qsort(void *, usize, usize, order *);
void *bsearch(const void *, const void *, usize, usize, order *);
int rand_r(unsigned *);
usize strspn(const char *, const char *);
usize strcspn(const char *, const char *);
char *strpbrk(const char *, const char *);
char *strtok_r(char *, const char *, char **);
char *(strtok)(char *, const char *);
long clock(void);

static void swap(char *a, char *b, usize size)
{
    for (usize i = 0; i < size; i++) {
        char c = a[i];
        a[i] = b[i];
        b[i] = c;
    }
}

/* Element i goes down the heap of n. */
static void sift(char *base, usize i, usize n, usize size, order *compare)
{
    for (usize child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && compare(base + child * size, base + (child + 1) * size) < 0)
            child++;
        if (compare(base + i * size, base + child * size) >= 0)
            return;
        swap(base + i * size, base + child * size, size);
    }
}

/* By a heap: in place, without recursion. */
void qsort(void *elements, usize n, usize size, order *compare)
{
    char *base = elements;
    for (usize i = n / 2; i-- > 0;)
        sift(base, i, n, size, compare);
    for (usize last = n; last-- > 1;) {
        swap(base, base + last * size, size);
        sift(base, 0, last, size, compare);
    }
}

void *bsearch(const void *key, const void *elements, usize n, usize size, order *compare)
{
    const char *base = elements;
    for (usize low = 0, high = n; low < high;) {
        usize half = (low + high) / 2;
        int c = compare(key, base + half * size);
        if (c == 0)
            return (void *)(base + half * size);
        if (c < 0)
            high = half;
        else
            low = half + 1;
    }
    return (void *)0;
}

/* A linear congruence, whose upper bits are mixed. */
int rand_r(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    unsigned x = *seed ^ *seed >> 15;
    x *= 0x2c1b3c6du;
    return (int)((x ^ x >> 13) & 0x7fffffff);
}

static _Bool is_in(char c, const char *set)
{
    while (*set && *set != c)
        set++;
    return *set != 0;
}
usize strspn(const char *s, const char *set)
{
    usize n = 0;
    while (s[n] && is_in(s[n], set))
        n++;
    return n;
}
usize strcspn(const char *s, const char *set)
{
    usize n = 0;
    while (s[n] && !is_in(s[n], set))
        n++;
    return n;
}

char *strpbrk(const char *s, const char *set)
{
    s += strcspn(s, set);
    return *s ? (char *)s : (char *)0;
}

char *strtok_r(char *s, const char *set, char **rest)
{
    if (!s)
        s = *rest;
    s += strspn(s, set);
    char *end = s + strcspn(s, set);
    *rest = *end ? end + 1 : end;
    if (s == end)
        return (char *)0;
    *end = 0;
    return s;
}

/* One state for all threads, as on the host. */
static char *token;
char *(strtok)(char *s, const char *set) { return strtok_r(s, set, &token); }

/* Microseconds, of the device's clock. */
double omp_get_wtime(void);
long clock(void) { return (long)(omp_get_wtime() * 1e6); }
#endif
