/* text.c - words, punctuation and numbers of PTX, and the errors of loading. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/parse/parser.h"

void parse_fail(struct parser *p, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (p->log && p->log_size)
        snprintf(p->log, p->log_size, "ptx machine: line %u: %s", p->line, text);
    longjmp(p->failed, 1);
}

void *parse_grow(struct parser *p, void *old, unsigned n, size_t each)
{
    if (n & (n - 1))
        return old; /* room is the next power of two */
    void *grown = ptx_module_alloc(p->m, (n ? 2 * (size_t)n : 1) * each);
    if (n)
        memcpy(grown, old, n * each);
    return grown;
}

/* ------------------------------------------------------------------ tokens */
void parse_skip_space(struct parser *p)
{
    for (;;) {
        while (isspace((unsigned char)*p->at))
            p->line += *p->at++ == '\n';
        if (p->at[0] == '/' && p->at[1] == '/') {
            while (*p->at && *p->at != '\n')
                p->at++;
        } else if (p->at[0] == '/' && p->at[1] == '*') {
            for (p->at += 2; *p->at && !(p->at[0] == '*' && p->at[1] == '/'); p->at++)
                p->line += *p->at == '\n';
            if (*p->at)
                p->at += 2;
        } else {
            return;
        }
    }
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.' || c == ':';
}

/* A ':' belongs to a word only within (`.L1::evict_last`); what begins with '.' ends before the
 * next one (`.reg.b32 r`). */
const char *parse_word(struct parser *p)
{
    parse_skip_space(p);
    size_t n = 0;
    while (is_name_char(p->at[n]) && !(n && p->at[0] == '.' && p->at[n] == '.') &&
           !(p->at[n] == ':' && p->at[n + 1] != ':' && !(n && p->at[n - 1] == ':')))
        n++;
    if (n >= MAX_WORD)
        parse_fail(p, "a word of %zu characters", n);
    memcpy(p->word, p->at, n);
    p->word[n] = 0;
    p->at += n;
    return p->word;
}

bool parse_next_is(struct parser *p, char c)
{
    parse_skip_space(p);
    return *p->at == c;
}
bool parse_accept(struct parser *p, char c)
{
    if (!parse_next_is(p, c))
        return false;
    p->at++;
    return true;
}
void parse_expect(struct parser *p, char c)
{
    if (!parse_accept(p, c))
        parse_fail(p, "'%c' expected before '%.20s'", c, p->at);
}
char *parse_keep(struct parser *p, const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(ptx_module_alloc(p->m, n), s, n);
}
bool parse_word_is(const struct parser *p, const char *s) { return !strcmp(p->word, s); }

void parse_skip_to(struct parser *p, char end)
{
    int depth = 0;
    for (; *p->at; p->at++) {
        p->line += *p->at == '\n';
        depth += (*p->at == '{') - (*p->at == '}');
        if (*p->at == end && depth <= 0) {
            p->at++;
            return;
        }
    }
}

/* ------------------------------------------------------------------ numbers */
bool parse_number(const char *s, uint64_t *value, enum type *type)
{
    char *end;
    *type = T_NONE;
    if (s[0] == '0' && (s[1] == 'f' || s[1] == 'F')) {
        *value = strtoull(s + 2, &end, 16);
        *type = T_F32;
    } else if (s[0] == '0' && (s[1] == 'd' || s[1] == 'D')) {
        *value = strtoull(s + 2, &end, 16);
        *type = T_F64;
    } else if (isdigit((unsigned char)*s)) {
        *value = strtoull(s, &end, 0);
        if (*end == 'U')
            end++;
        if (*end == '.' || *end == 'e' || *end == 'E') {
            double d = strtod(s, &end);
            memcpy(value, &d, sizeof d);
            *type = T_F64;
        }
    } else {
        return false;
    }
    return *end == 0;
}

uint64_t parse_signed(uint64_t value, enum type t, bool negative)
{
    return !negative    ? value
           : t == T_F32 ? value ^ 1u << 31
           : t == T_F64 ? value ^ 1ull << 63
                        : -value;
}

uint64_t parse_narrowed(uint64_t value)
{
    double d;
    uint32_t bits;
    memcpy(&d, &value, sizeof d);
    float f = (float)d;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
