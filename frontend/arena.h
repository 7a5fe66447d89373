/* arena.h - memory that is freed all at once.  Everything is zeroed.  With -DARENA_DEBUG each
 * object is a calloc of its own, so that AddressSanitizer sees overruns. */
#ifndef OMPGPU_ARENA_H
#define OMPGPU_ARENA_H
#include <stddef.h>

struct arena;
struct arena *arena_new(void);
void arena_free(struct arena *); /* NULL is allowed */
/* never NULL: exits with a message when memory is out */
void *arena_alloc(struct arena *, size_t size);
char *arena_strndup(struct arena *, const char *, size_t);
char *arena_strdup(struct arena *, const char *);
char *arena_printf(struct arena *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Growing arrays:  VEC(int) v = {0};  *VEC_PUSH(arena, &v) = 3;  v.at[0], v.n */
#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *at;                                                                                     \
        unsigned n, cap;                                                                           \
    }
#define VEC_PUSH(arena, v)                                                                         \
    ((v)->n == (v)->cap ? (void)((v)->at = arena_grow(arena, (v)->at, &(v)->cap, sizeof *(v)->at)) \
                        : (void)0,                                                                 \
     &(v)->at[(v)->n++])
void *arena_grow(struct arena *, void *old, unsigned *cap, size_t size);
#endif
