/* text.c - the preprocessed text: line markers, presumed places, diagnostics in clang's format. */
#include "driver/base/file.h"
#include "driver/base/text.h"
#include "frontend/fe.h"
#include "frontend/origin.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct message {      /* waits to be shown, in the order of the text */
    const char *line; /* of the text, NULL: none has this place */
    struct omp_place place;
    unsigned number; /* in the order of finding */
    enum diag_severity severity;
    const char *words;
};
/* The line table hangs on the unit so that fe_place works after parsing. */
struct line_table {
    struct fe_line *at;
    unsigned n;
    unsigned *starts, nstarts; /* offsets of all lines of the text */
    VEC(struct message) messages;
    bool shows; /* they are shown at once */
};
static struct line_table *table_of(const struct omp_unit *u) { return u->lines; }

/* The character of an escape of clang's at *p, which is left at its last character. */
static char read_escape(const char **p)
{
    unsigned c = 0, n = 0;
    for (; n < 3 && (*p)[1] >= '0' && (*p)[1] <= '7'; n++)
        c = c * 8 + (unsigned)(*++*p - '0');
    if (n)
        return (char)c;
    ++*p;
    return **p == 'n' ? '\n' : **p == 't' ? '\t' : **p;
}

/* Reads `# 12 "app.c" 1 3` or `#line 12 "app.c"` at p (after '#').  False if it is something else.
 */
static bool read_marker(struct fe *fe, const char *p, unsigned next_line)
{
    while (*p == ' ' || *p == '\t')
        p++;
    if (!strncmp(p, "line", 4))
        p += 4;
    char *end;
    unsigned long line = strtoul(p, &end, 10);
    if (end == p)
        return false;
    struct fe_line *l = VEC_PUSH(fe->a, &fe->lines), *previous = l - 1;
    *l = (struct fe_line){ next_line, (unsigned)line, previous->file, previous->system };
    p = end;
    while (*p == ' ')
        p++;
    if (*p != '"')
        return true;
    char *name = arena_alloc(fe->a, strcspn(p + 1, "\n") + 1), *o = name;
    for (p++; *p && *p != '"' && *p != '\n'; p++)
        *o++ = *p == '\\' ? read_escape(&p) : *p;
    l->file = name;
    l->system = false;
    for (; *p && *p != '\n'; p++)
        if (*p == '3' && p[-1] == ' ')
            l->system = true;
    return true;
}

void fe_scan_lines(struct fe *fe)
{
    const struct omp_unit *u = fe->u;
    VEC(unsigned) starts = { 0 };
    *VEC_PUSH(fe->a, &fe->lines) = (struct fe_line){ 0, 1, u->path, false };
    for (const char *p = u->text, *eol; *p; p = eol) {
        eol = strchr(p, '\n');
        eol = eol ? eol + 1 : u->text + u->length;
        const char *q = p;
        *VEC_PUSH(fe->a, &starts) = (unsigned)(p - u->text);
        while (*q == ' ' || *q == '\t')
            q++;
        if (*q == '#')
            read_marker(fe, q + 1, (unsigned)(eol - u->text));
    }
    *VEC_PUSH(fe->a, &starts) = (unsigned)u->length;
    struct line_table *t = arena_alloc(fe->a, sizeof *t);
    *t = (struct line_table){
        .at = fe->lines.at, .n = fe->lines.n, .starts = starts.at, .nstarts = starts.n
    };
    fe->u->lines = t;
}

unsigned fe_count_before(const void *list, unsigned n, size_t size, unsigned offset)
{
    unsigned lo = 0, hi = n;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (*(const unsigned *)((const char *)list + mid * size) < offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void *fe_first_at(void *list, unsigned n, size_t size, unsigned offset)
{
    unsigned i = fe_count_before(list, n, size, offset);
    return i < n ? (char *)list + i * size : NULL;
}

void *fe_last_at(void *list, unsigned n, size_t size, unsigned offset)
{
    unsigned i = fe_count_before(list, n, size, offset + 1);
    return i ? (char *)list + (i - 1) * size : NULL;
}

static const struct fe_line *marker_of(const struct omp_unit *u, unsigned offset)
{
    const struct line_table *t = table_of(u);
    const struct fe_line *l = FE_LAST(*t, offset);
    return l ? l : t->at;
}

bool fe_is_system(const struct fe *fe, unsigned offset) { return marker_of(fe->u, offset)->system; }

const char *fe_marker(struct fe *fe, struct omp_place place, bool system)
{
    enum { LONGEST = 4 };
    size_t size = LONGEST * strlen(place.file) + 1, n = 0;
    char *name = arena_alloc(fe->a, size);
    for (const char *c = place.file; *c; c++)
        n += (size_t)snprintf(name + n, size - n,
                              (unsigned char)*c < ' '   ? "\\%03o"
                              : *c == '"' || *c == '\\' ? "\\%c"
                                                        : "%c",
                              *c);
    name[n] = '\0';
    return arena_printf(fe->a, "\n# %u \"%s\"%s\n", place.line, name, system ? " 3" : "");
}

/* Index of the line that holds the offset. */
static unsigned line_at(const struct omp_unit *u, unsigned offset)
{
    const struct line_table *t = table_of(u);
    unsigned n = fe_count_before(t->starts, t->nstarts, sizeof *t->starts, offset + 1);
    return n ? n - 1 : 0;
}

struct omp_place fe_place(const struct omp_unit *u, unsigned offset)
{
    if (!table_of(u) || offset > u->length)
        return (struct omp_place){ "", 0, 0 };
    const struct fe_line *l = marker_of(u, offset);
    unsigned first = line_at(u, l->offset), last = line_at(u, offset), start = l->offset;
    if (last > first)
        start = table_of(u)->starts[last];
    return (struct omp_place){ l->file, l->line + (last - first), offset - start + 1 };
}

/* ------------------------------------------------------------------ white space and brackets */
static unsigned skip_comment(const struct omp_unit *u, unsigned i)
{
    const char *t = u->text;
    if (t[i] != '/' || (t[i + 1] != '*' && t[i + 1] != '/'))
        return i;
    const char *end = strstr(t + i + 2, t[i + 1] == '*' ? "*/" : "\n");
    return end ? (unsigned)(end - t) + (t[i + 1] == '*' ? 2 : 0) : (unsigned)u->length;
}

static unsigned skip_blank(const struct omp_unit *u, unsigned i, bool directives)
{
    const char *t = u->text;
    for (unsigned before;;) {
        before = i;
        while (i < u->length &&
               (isspace((unsigned char)t[i]) || (t[i] == '\\' && t[i + 1] == '\n')))
            i++;
        i = skip_comment(u, i);
        if (directives && t[i] == '#')
            while (i < u->length && (t[i] != '\n' || t[i - 1] == '\\'))
                i++;
        if (i == before)
            return i;
    }
}
unsigned fe_skip_blank(const struct omp_unit *u, unsigned offset)
{
    return skip_blank(u, offset, true);
}
unsigned fe_skip_space(const struct omp_unit *u, unsigned offset)
{
    return skip_blank(u, offset, false);
}

const char *fe_text(struct fe *fe, struct omp_extent e)
{
    return arena_strndup(fe->a, fe->u->text + e.begin, e.end - e.begin);
}

bool fe_same_text(const struct omp_unit *u, struct omp_extent a, struct omp_extent b)
{
    unsigned i = fe_skip_blank(u, a.begin), j = fe_skip_blank(u, b.begin);
    while (i < a.end && j < b.end) {
        if (u->text[i] != u->text[j])
            return false;
        i = fe_skip_blank(u, i + 1);
        j = fe_skip_blank(u, j + 1);
    }
    return i >= a.end && j >= b.end;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

bool fe_has_word(const struct omp_unit *u, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = u->text; (p = strstr(p, word)); p += n)
        if ((p == u->text || !is_word(p[-1])) && !is_word(p[n]))
            return true;
    return false;
}

/* ------------------------------------------------------------------ diagnostics */
/* Is there something at this column? */
static bool has_column(const char *line, unsigned col)
{
    return strcspn(line, "\n") >= col && col && !isspace((unsigned char)line[col - 1]);
}

/* Start of the line of `text` that has presumed place p; NULL if there is none.  Several may have
 * its number: attribute.c breaks lines. */
static const char *text_line_at(const struct omp_unit *u, struct omp_place p)
{
    const struct line_table *t = table_of(u);
    const char *first = NULL;
    for (unsigned k = 0; t && k < t->n; k++) {
        unsigned end = k + 1 < t->n ? t->at[k + 1].offset : (unsigned)u->length,
                 line = t->at[k].line;
        if (strcmp(t->at[k].file, p.file) || line > p.line)
            continue;
        for (unsigned i = t->at[k].offset; i < end; line++) {
            bool marker = u->text[i] == '#' && strncmp(u->text + i, "#pragma", 7) != 0;
            if (line == p.line && !marker && has_column(u->text + i, p.col))
                return u->text + i;
            if (line == p.line && !marker && !first)
                first = u->text + i;
            const char *eol = memchr(u->text + i, '\n', end - i);
            i = eol ? (unsigned)(eol - u->text) + 1 : end;
        }
    }
    return first;
}

/* The text of all lines with the number of this one: macros of system headers, and directives that
 * come from _Pragma, have lines of their own.  *column: in the first, becomes that in the whole. */
static const char *whole_line(const struct omp_unit *u, const struct message *m, unsigned *column)
{
    const struct line_table *t = table_of(u);
    struct text whole = { 0 };
    bool found = false;
    for (unsigned k = 0; k < t->n; k++) {
        unsigned end = k + 1 < t->n ? t->at[k + 1].offset : (unsigned)u->length,
                 line = t->at[k].line, i = t->at[k].offset;
        for (; i < end && line < m->place.line; line++)
            i += (unsigned)strcspn(u->text + i, "\n") + 1;
        bool here = line == m->place.line && i < end && !strcmp(t->at[k].file, m->place.file);
        if (!here && found)
            break;
        if (!here) {
            whole = (struct text){ 0 };
            continue;
        }
        unsigned length = (unsigned)strcspn(u->text + i, "\n");
        bool marker = u->text[i] == '#' && strncmp(u->text + i, "#pragma", 7) != 0;
        if (u->text + i == m->line) {
            found = true;
            *column += (unsigned)whole.n;
        }
        if (!marker)
            text_add(&whole, u->text + i, length);
        text_putc(&whole, ' ');
    }
    return whole.s;
}

/* With the user's own line where the file can be read: preprocessed text has other white space. */
static void show_at(struct omp_place p, enum diag_severity severity, const char *words,
                    const char *text)
{
    size_t length = 0;
    const char *line = file_line(p.file, p.line, &length);
    if (!line && text)
        length = strcspn(line = text, "\r\n");
    diag_at(&(struct diag_place){ p.file, p.line, p.col, line, length, NULL }, severity, "%s",
            words);
}

static void show(const struct omp_unit *u, const struct message *m)
{
    struct fe_origin o;
    unsigned column = m->place.col;
    const char *whole = m->line && m->severity != DIAG_REMARK ? whole_line(u, m, &column) : NULL;
    if (!whole || !fe_find_origin(m->place, whole, column, &o)) {
        size_t length = m->line ? strcspn(m->line, "\n") : 0;
        diag_at(&(struct diag_place){ m->place.file, m->place.line, m->place.col, m->line, length,
                                      NULL },
                m->severity, "%s", m->words);
        return;
    }
    show_at(o.place, m->severity, m->words, m->line);
    for (unsigned i = 0; i < o.nexpansions; i++)
        show_at(o.expansions[i].place, DIAG_NOTE,
                mem_printf("expanded from macro '%s'", o.expansions[i].macro), NULL);
}

static void report(const struct omp_unit *u, struct omp_place p, enum diag_severity severity,
                   const char *fmt, va_list ap)
{
    struct line_table *t = table_of(u);
    struct message m = { p.line ? text_line_at(u, p) : NULL, p, t ? t->messages.n : 0, severity,
                         arena_vprintf(u->arena, fmt, ap) };
    if (t && !t->shows)
        *VEC_PUSH(u->arena, &t->messages) = m;
    else
        show(u, &m);
}

static int by_place(const void *a, const void *b)
{
    const struct message *x = a, *y = b;
    if (x->line != y->line)
        return x->line > y->line ? 1 : -1;
    if (x->place.col != y->place.col)
        return x->place.col > y->place.col ? 1 : -1;
    return x->number > y->number ? 1 : -1;
}

static bool is_same_fault(const struct message *last, const struct message *m)
{
    bool same_line = m->line && last->place.line == m->place.line &&
                     last->severity == m->severity && !strcmp(last->place.file, m->place.file);
    return same_line && (m->severity == DIAG_ERROR || last->place.col == m->place.col);
}

/* One error a line, and one of each other severity a place: what follows is about the same fault.
 */
void fe_show_messages(const struct omp_unit *u)
{
    struct line_table *t = table_of(u);
    if (t->messages.n)
        qsort(t->messages.at, t->messages.n, sizeof *t->messages.at, by_place);
    const struct message *last = NULL;
    for (unsigned i = 0; i < t->messages.n; i++) {
        const struct message *m = &t->messages.at[i];
        if (!last || !is_same_fault(last, m))
            show(u, m);
        last = m;
    }
    t->messages.n = 0;
    t->shows = true;
}

void fe_report(const struct omp_unit *u, struct omp_place p, enum diag_severity severity,
               const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(u, p, severity, fmt, ap);
    va_end(ap);
}

void fe_report_now(const struct omp_unit *u, struct omp_place p, enum diag_severity severity,
                   const char *words)
{
    table_of(u)->shows = true;
    fe_report(u, p, severity, "%s", words);
    table_of(u)->shows = false;
}

void fe_say(const char *path, char *text, size_t length, struct omp_place p,
            enum diag_severity severity, const char *words)
{
    struct fe *fe = fe_begin_unit(path, text, length);
    fe_scan_lines(fe);
    table_of(fe->u)->shows = true;
    fe_report(fe->u, p, severity, "%s", words);
    arena_free(fe->a);
}

void fe_error_at(struct fe *fe, struct omp_place p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(fe->u, p, DIAG_ERROR, fmt, ap);
    va_end(ap);
    fe->errors++;
}

void fe_error(struct fe *fe, unsigned offset, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report(fe->u, fe_place(fe->u, offset), DIAG_ERROR, fmt, ap);
    va_end(ap);
    fe->errors++;
}
