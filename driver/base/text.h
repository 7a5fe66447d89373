/* text.h - growing text, lists of words, and a few questions about strings.  In the run's memory
 * (mem.h). */
#ifndef OMPGPU_BASE_TEXT_H
#define OMPGPU_BASE_TEXT_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct text { /* { 0 } is empty */
    char *s;  /* NUL-terminated; NULL while nothing was added */
    size_t n, room;
};
size_t text_add(struct text *, const void *, size_t n); /* -> where it begins; NULL: zeros */
void text_puts(struct text *, const char *);
void text_putc(struct text *, char);
void text_printf(struct text *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct words { /* { 0 } is empty */
    const char **v;
    unsigned n, room;
}; /* always NULL-terminated once a word was added */
void words_add(struct words *, const char *);
void words_add_all(struct words *, const struct words *);
void words_add_list(struct words *, const char *const v[]); /* up to its NULL */
/* the parts of the text between any of these characters, without empty ones */
void words_add_parts(struct words *, const char *text, const char *separators);
#define WORDS_ADD(w, ...) words_add_list(w, (const char *const[]){ __VA_ARGS__, NULL })

/* A copy with each `from` as `to`. */
const char *text_replace(const char *s, char from, char to);
bool text_starts(const char *s, const char *prefix);
bool text_ends(const char *s, const char *suffix);
/* How many characters differ, are missing, too many, or have changed places; `limit`: that many or
 * more, or more than 40 characters. */
unsigned text_distance(const char *a, size_t n, const char *b, size_t m, unsigned limit);
/* The line at *p without its end, which becomes NUL; *p moves to the next.  NULL: none left. */
char *text_line(char **p);
#endif
