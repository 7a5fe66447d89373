/* mem.h - memory of one run: arenas, and arrays that grow.
 *
 * Everything is zeroed and never NULL: when memory is out, the program ends with a message.  What
 * is allocated lives until its arena is freed.  Where an arena is asked for, NULL is the run's own,
 * which lives until the process ends; mem_… are short for it.  Under AddressSanitizer each object
 * is a calloc of its own, so that overruns are seen. */
#ifndef OMPGPU_BASE_MEM_H
#define OMPGPU_BASE_MEM_H
#include <stdarg.h>
#include <stddef.h>

struct arena;
struct arena *arena_new(void);
void arena_free(struct arena *); /* NULL is allowed */
void *arena_alloc(struct arena *, size_t size);
char *arena_strndup(struct arena *, const char *, size_t); /* NUL-terminated */
char *arena_strdup(struct arena *, const char *);
char *arena_printf(struct arena *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *, const char *fmt, va_list) __attribute__((format(printf, 2, 0)));

void *mem_alloc(size_t size);
void *mem_array(size_t n, size_t size);
char *mem_strndup(const char *, size_t);
char *mem_strdup(const char *);
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

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
/* A copy of `old`, of *cap elements, with room for more; *cap is what it has room for then. */
void *arena_grow(struct arena *, void *old, unsigned *cap, size_t size);
#endif
