#include "frontend/arena.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
    struct block *next;
    size_t used, size;
    _Alignas(16) char data[];
};
struct arena {
    struct block *blocks;
};

#ifdef __SANITIZE_ADDRESS__
#define ARENA_DEBUG 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_DEBUG 1
#endif
#endif

static void *xcalloc(size_t n)
{
    void *p = calloc(1, n);
    if (!p) {
        fputs("ompgpu-cc: error: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

struct arena *arena_new(void) { return xcalloc(sizeof(struct arena)); }

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

static struct block *new_block(struct arena *a, size_t size)
{
    struct block *b = xcalloc(sizeof *b + size);
    b->size = size;
    b->next = a->blocks;
    return a->blocks = b;
}

void *arena_alloc(struct arena *a, size_t size)
{
#ifdef ARENA_DEBUG
    return new_block(a, size ? size : 1)->data;
#else
    size = (size + 15) & ~(size_t)15;
    struct block *b = a->blocks;
    if (!b || b->size - b->used < size)
        b = new_block(a, size > 65536 ? size : 262144);
    void *p = b->data + b->used;
    b->used += size;
    return p;
#endif
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    memcpy(p, s, n);
    return p;
}

char *arena_strdup(struct arena *a, const char *s) { return arena_strndup(a, s, strlen(s)); }

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
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
