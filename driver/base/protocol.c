#include "driver/base/protocol.h"
#include "driver/base/mem.h"
#include "driver/base/text.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct field {
    const char *name;
    size_t offset;
    bool is_string;
};
struct record_kind {
    const char *name;
    const struct field *fields; /* up to one without a name */
};

/* ------------------------------------------------------------------ values */
static const char escaped[] = " \n\\", letters[] = "sn\\";

static void put_value(struct text *t, const char *s)
{
    for (; *s; s++) {
        const char *special = strchr(escaped, *s);
        if (special)
            text_putc(t, '\\');
        text_putc(t, special ? letters[special - escaped] : *s);
    }
}

static char *get_value(const char *s, size_t n)
{
    char *value = mem_alloc(n + 1), *to = value;
    for (const char *end = s + n; s < end; s++) {
        const char *letter = *s == '\\' && s + 1 < end ? strchr(letters, s[1]) : NULL;
        *to++ = letter ? escaped[letter - letters] : *s;
        s += letter != NULL;
    }
    return value;
}

/* ------------------------------------------------------------------ records */
static const char *write_record(const struct record_kind *k, const void *record)
{
    struct text t = { 0 };
    text_puts(&t, k->name);
    for (const struct field *f = k->fields; f->name; f++) {
        const char *at = (const char *)record + f->offset;
        text_printf(&t, " %s=", f->name);
        if (f->is_string)
            put_value(&t, *(const char *const *)at ? *(const char *const *)at : "");
        else
            text_printf(&t, "%llu", (unsigned long long)*(const uint64_t *)at);
    }
    return t.s;
}

static const struct field *find_field(const struct record_kind *k, const char *word, size_t n)
{
    for (const struct field *f = k->fields; f->name; f++)
        if (strlen(f->name) == n && memcmp(f->name, word, n) == 0)
            return f;
    return NULL;
}

static bool read_field(const struct field *f, const char *s, size_t n, void *record)
{
    char *at = (char *)record + f->offset, *end, *value = get_value(s, n);
    if (f->is_string) {
        *(const char **)at = value;
        return true;
    }
    *(uint64_t *)at = strtoull(value, &end, 10);
    return *value && !*end;
}

/* Each field once. */
static bool read_record(const struct record_kind *k, const char *line, void *record)
{
    unsigned seen = 0, all = 0;
    for (const struct field *f = k->fields; f->name; f++)
        all |= 1u << (f - k->fields);
    size_t n = strlen(k->name);
    if (strncmp(line, k->name, n) == 0 && line[n] == ' ')
        line += n;
    while (*(line += strspn(line, " ")) && *line != '\n') {
        n = strcspn(line, " \n");
        const char *equals = memchr(line, '=', n);
        const struct field *f = equals ? find_field(k, line, (size_t)(equals - line)) : NULL;
        if (!f || !read_field(f, equals + 1, n - (size_t)(equals + 1 - line), record))
            return false;
        seen |= 1u << (f - k->fields);
        line += n;
    }
    return seen == all;
}

/* ------------------------------------------------------------------ the kinds */
#define FIELD_S(f) { #f, offsetof(record, f), true },
#define FIELD_N(f) { #f, offsetof(record, f), false },
#define DEFINE(kind, FIELDS)                                                                       \
    static const struct record_kind *kind##_kind(void)                                             \
    {                                                                                              \
        typedef struct proto_##kind record;                                                        \
        static const struct field fields[] = { FIELDS(FIELD_S, FIELD_N){ 0 } };                    \
        static const struct record_kind k = { #kind, fields };                                     \
        return &k;                                                                                 \
    }                                                                                              \
    const char *proto_write_##kind(const struct proto_##kind *record)                              \
    {                                                                                              \
        return write_record(kind##_kind(), record);                                                \
    }                                                                                              \
    bool proto_read_##kind(const char *line, struct proto_##kind *record)                          \
    {                                                                                              \
        return read_record(kind##_kind(), line, record);                                           \
    }
PROTO_RECORDS(DEFINE)
