#include "driver/base/text.h"
#include "driver/base/mem.h"
#include <stdio.h>
#include <string.h>

/* Room for n more bytes and a NUL. */
static void reserve(struct text *t, size_t n)
{
    if (t->n + n < t->room)
        return;
    size_t room = 2 * (t->n + n) + 256;
    char *s = mem_alloc(room);
    if (t->n)
        memcpy(s, t->s, t->n);
    t->s = s;
    t->room = room;
}

size_t text_add(struct text *t, const void *p, size_t n)
{
    size_t at = t->n;
    reserve(t, n);
    if (p && n)
        memcpy(t->s + at, p, n);
    else
        memset(t->s + at, 0, n);
    t->n += n;
    t->s[t->n] = 0;
    return at;
}

void text_puts(struct text *t, const char *s) { text_add(t, s, strlen(s)); }
void text_putc(struct text *t, char c) { text_add(t, &c, 1); }

void text_printf(struct text *t, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    reserve(t, (size_t)n);
    vsnprintf(t->s + t->n, (size_t)n + 1, fmt, ap);
    t->n += (size_t)n;
    va_end(ap);
}

/* ------------------------------------------------------------------ words */
void words_add(struct words *w, const char *s)
{
    if (w->n + 1 >= w->room)
        w->v = arena_grow(NULL, w->v, &w->room, sizeof *w->v);
    w->v[w->n++] = s;
    w->v[w->n] = NULL;
}

void words_add_all(struct words *w, const struct words *from)
{
    for (unsigned i = 0; i < from->n; i++)
        words_add(w, from->v[i]);
}

void words_add_list(struct words *w, const char *const v[])
{
    for (; *v; v++)
        words_add(w, *v);
}

void words_add_parts(struct words *w, const char *text, const char *separators)
{
    for (text += strspn(text, separators); *text; text += strspn(text, separators)) {
        size_t n = strcspn(text, separators);
        words_add(w, mem_strndup(text, n));
        text += n;
    }
}

/* ------------------------------------------------------------------ strings */
const char *text_replace(const char *s, char from, char to)
{
    char *copy = mem_strdup(s);
    for (char *p = copy; (p = strchr(p, from)); p++)
        *p = to;
    return copy;
}

bool text_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool text_ends(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && strcmp(s + n - m, suffix) == 0;
}

char *text_line(char **p)
{
    char *line = *p;
    if (!line || !*line)
        return NULL;
    char *end = strchr(line, '\n');
    if (end)
        *end++ = 0;
    *p = end ? end : line + strlen(line);
    return line;
}

enum { LONGEST = 40 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Of the first i characters of a and k of b, after those of shorter beginnings. */
static unsigned distance_so_far(unsigned (*d)[LONGEST + 2], const char *a, size_t i, const char *b,
                                size_t k)
{
    if (!i || !k)
        return (unsigned)(i + k);
    size_t n = least(least(d[i - 1][k], d[i][k - 1]) + 1, d[i - 1][k - 1] + (a[i - 1] != b[k - 1]));
    if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        n = least(n, d[i - 2][k - 2] + 1);
    return (unsigned)n;
}

/* Most pairs of words are far from each other, which their beginnings show: only where i and k
 * differ by less than the limit are there less differences. */
unsigned text_distance(const char *a, size_t n, const char *b, size_t m, unsigned limit)
{
    unsigned d[LONGEST + 1][LONGEST + 2], before = 0;
    if (n > LONGEST || m > LONGEST || (n > m ? n - m : m - n) >= limit)
        return limit;
    for (size_t i = 0; i <= n; i++) {
        size_t low = i < limit ? 0 : i - limit + 1, high = least(m, i + limit - 1);
        unsigned nearest = limit;
        if (low)
            d[i][low - 1] = limit;
        for (size_t k = low; k <= high; k++) {
            d[i][k] = distance_so_far(d, a, i, b, k);
            nearest = (unsigned)least(nearest, d[i][k]);
        }
        d[i][high + 1] = limit;
        if (nearest == limit && before == limit)
            return limit;
        before = nearest;
    }
    return (unsigned)least(d[n][m], limit);
}
