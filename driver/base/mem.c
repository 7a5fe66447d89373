#include "driver/base/mem.h"
#include "driver/base/diag.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
    struct block *next;
    size_t used, size;
    _Alignas(16) char data[];
};
struct arena {
    struct block *blocks; /* the first is the one that is being filled */
};
static struct arena of_run;

enum { BLOCK = 262144, LARGE = BLOCK / 4 };

#ifdef __SANITIZE_ADDRESS__
enum { EACH_ITS_BLOCK = 1 };
#elif defined(__has_feature) && __has_feature(address_sanitizer)
enum { EACH_ITS_BLOCK = 1 };
#else
enum { EACH_ITS_BLOCK = 0 };
#endif

static void *zeroed(size_t n)
{
    void *p = calloc(1, n);
    if (!p)
        diag_fatal(1, "out of memory");
    return p;
}

struct arena *arena_new(void) { return zeroed(sizeof(struct arena)); }

void arena_free(struct arena *a)
{
    if (!a)
        return;
    for (struct block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(a);
}

/* One that is filled at once goes second, so that the room in the first is not lost. */
static struct block *add_block(struct arena *a, size_t size, bool filled)
{
    struct block *b = zeroed(sizeof *b + size);
    struct block **at = filled && a->blocks ? &a->blocks->next : &a->blocks;
    b->size = size;
    b->used = filled ? size : 0;
    b->next = *at;
    return *at = b;
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (!a)
        a = &of_run;
    if (EACH_ITS_BLOCK)
        return add_block(a, size ? size : 1, true)->data;
    size = (size + 15) & ~(size_t)15;
    if (size > LARGE)
        return add_block(a, size, true)->data;
    struct block *b = a->blocks;
    if (!b || b->size - b->used < size)
        b = add_block(a, BLOCK, false);
    void *p = b->data + b->used;
    b->used += size;
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    if (n)
        memcpy(p, s, n);
    return p;
}

char *arena_strdup(struct arena *a, const char *s) { return arena_strndup(a, s, strlen(s)); }

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *p = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return p;
}

void *arena_grow(struct arena *a, void *old, unsigned *cap, size_t size)
{
    unsigned n = *cap ? *cap * 2 : 16;
    void *p = arena_alloc(a, n * size);
    if (old)
        memcpy(p, old, *cap * size);
    *cap = n;
    return p;
}

/* ------------------------------------------------------------------ the run's own */
void *mem_alloc(size_t size) { return arena_alloc(NULL, size); }

void *mem_array(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        diag_fatal(1, "out of memory");
    return arena_alloc(NULL, bytes);
}

char *mem_strndup(const char *s, size_t n) { return arena_strndup(NULL, s, n); }
char *mem_strdup(const char *s) { return arena_strdup(NULL, s); }

char *mem_printf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *p = arena_vprintf(NULL, fmt, ap);
    va_end(ap);
    return p;
}
