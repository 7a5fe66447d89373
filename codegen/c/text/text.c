/* text.c - growing text: lines of generated code with their places, the writer's own strings, names
 * and errors. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "codegen/c/text/text.h"
#include "driver/base/mem.h"
#include "driver/base/text.h"

static void *must(void *p)
{
    if (!p) {
        fputs("omp-split: error: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static void grow_text(struct cg_text *t, size_t n)
{
    if (t->n + n + 1 <= t->capacity)
        return;
    t->capacity = (t->n + n + 1) * 2;
    t->s = must(realloc(t->s, t->capacity));
}

void cg_write(struct cg *cg, const char *s, size_t n)
{
    struct cg_text *t = cg->out;
    grow_text(t, n);
    memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = 0;
    for (size_t i = 0; t->line && i < n; i++)
        t->line += s[i] == '\n';
}

void cg_puts(struct cg *cg, const char *s) { cg_write(cg, s, strlen(s)); }

/* Debug information brings the name into PTX, where nothing can stand for a quote. */
static const char *marker_of(struct cg *cg, struct omp_place p)
{
    const char *file = p.file ? p.file : "";
    return cg_strf(cg, "# %u %s\n", p.line,
                   cg_quoted(cg, cg->renames ? text_replace(file, '"', '\'') : file));
}

static const char *first_line(struct cg *cg, const struct cg_text *t)
{
    const char *end = memchr(t->s, '\n', t->n);
    return cg_strf(cg, "%.*s", (int)(end ? end - t->s + 1 : (long)t->n), t->s);
}

void cg_append(struct cg *cg, const struct cg_text *text)
{
    assert(!text->open && "a text ends with the blocks that it opened");
    if (!text->n)
        return;
    const char *marker = first_line(cg, text), *own = marker_of(cg, cg->out->shown);
    size_t again =
        cg->out->shown.line && !cg->unit->exact_lines && !strcmp(marker, own) ? strlen(marker) : 0;
    struct omp_place shown = text->shown;
    cg_end_line(cg);
    cg_write(cg, text->s + again, text->n - again);
    cg_forget_place(cg);
    cg->out->shown = shown;
}

void cg_forget_place(struct cg *cg)
{
    cg->out->shown = (struct omp_place){ 0 };
    cg->out->line = 0;
}

static const char *format_string(struct cg *cg, const char *fmt, va_list ap)
{
    (void)cg;
    return arena_vprintf(NULL, fmt, ap);
}

/* The format with the prefix of our names for each '@'; arguments may hold user text, in which it
 * stays. */
static char *with_prefix(const struct cg *cg, const char *fmt)
{
    size_t n = strlen(cg->prefix), size = 1;
    for (const char *p = fmt; *p; p++)
        size += *p == '@' ? n : 1;
    char *s = must(malloc(size)), *to = s;
    for (const char *p = fmt; *p; p++) {
        if (*p == '@')
            to = stpcpy(to, cg->prefix);
        else
            *to++ = *p;
    }
    *to = 0;
    return s;
}

static const char *format_prefixed(struct cg *cg, const char *fmt, va_list ap)
{
    if (!strchr(fmt, '@'))
        return format_string(cg, fmt, ap);
    char *own = with_prefix(cg, fmt);
    const char *s = format_string(cg, own, ap);
    free(own);
    return s;
}

const char *cg_strf(struct cg *cg, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *s = format_prefixed(cg, fmt, ap);
    va_end(ap);
    return s;
}

void cg_put(struct cg *cg, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    cg_puts(cg, format_prefixed(cg, fmt, ap));
    va_end(ap);
}

/* ------------------------------------------------------------------ lines */
bool cg_at_line_start(const struct cg_text *t) { return !t->n || t->s[t->n - 1] == '\n'; }

void cg_end_line(struct cg *cg)
{
    if (!cg_at_line_start(cg->out))
        cg_puts(cg, "\n");
}

void cg_pad(struct cg *cg, unsigned columns) { cg_put(cg, "%*s", (int)columns, ""); }

static bool is_same_line(struct omp_place a, struct omp_place b)
{
    return a.line == b.line && a.file && b.file && !strcmp(a.file, b.file);
}

static void write_marker(struct cg *cg, struct omp_place p)
{
    cg_puts(cg, marker_of(cg, p));
    cg->out->shown = p;
    cg->out->line = p.line;
}

/* clang counts on from the last marker; generated code may run ahead of its line where exact lines
 * were not asked for. */
static bool is_there(const struct cg *cg, struct omp_place p)
{
    struct omp_place here = cg->out->shown;
    here.line = cg->out->line;
    return is_same_line(here, p);
}

void cg_show_place(struct cg *cg, struct omp_place p) { write_marker(cg, p); }

void cg_marker(struct cg *cg, struct omp_place p)
{
    cg_end_line(cg);
    if (p.line && !is_there(cg, p))
        write_marker(cg, p);
    if (p.line)
        cg->out->shown = p;
}

static void start_generated(struct cg *cg, unsigned indent)
{
    struct omp_place p = cg->place;
    cg_end_line(cg);
    if (p.line && (cg->unit->exact_lines ? !is_there(cg, p) : !is_same_line(cg->out->shown, p)))
        write_marker(cg, p);
    cg_pad(cg, indent);
}

/* ------------------------------------------------------------------ breaking long lines */
enum { MAX_COLUMNS = 120, CONTINUATION = 8 };

/* May a line end after s[i]?  How good is that: 0 not at all, 1 before an operator, 2 after a comma
 * or semicolon; an initialisation is the last resort. */
enum { LAST_RESORT = -100 };
static int break_after(const char *s, size_t i)
{
    static const char *const operators[] = { "? ", ": ", "&& ", "|| ", "+ " };
    if (s[i + 1] != ' ')
        return 0;
    if (s[i] == ',' || s[i] == ';')
        return 2;
    for (unsigned k = 0; k < sizeof operators / sizeof *operators; k++)
        if (!strncmp(s + i + 2, operators[k], strlen(operators[k])))
            return 1;
    return s[i] == '=' && i && s[i - 1] == ' ' ? LAST_RESORT : 0;
}

/* Characters of s that go on a line of `room` columns: up to the last of the outermost places at
 * which it may be broken; where there is none within the room, the first one. */
static size_t line_length(const char *s, size_t room)
{
    size_t best = 0;
    int depth = 0, best_value = 0;
    char quote = 0;
    if (strlen(s) <= room)
        return strlen(s);
    for (size_t i = 0; (i < room || !best) && s[i]; i++) {
        if (quote) {
            if (s[i] == '\\' && s[i + 1])
                i++;
            else if (s[i] == quote)
                quote = 0;
            continue;
        }
        if (s[i] == '"' || s[i] == '\'')
            quote = s[i];
        depth += strchr("([{", s[i]) != NULL;
        depth -= strchr(")]}", s[i]) != NULL;
        int kind = break_after(s, i), value = kind - 2 * depth;
        if (kind && (!best || value >= best_value)) {
            best = i + 1;
            best_value = value;
        }
    }
    return best ? best : strlen(s);
}

/* One line of generated code.  Its parts would lie on lines of their own: where lines must be
 * exact, it stays as it is. */
static void write_code(struct cg *cg, const char *s)
{
    unsigned indent = cg->out->indent;
    for (size_t n; *s; s += n + strspn(s + n, " ")) {
        n = cg->unit->exact_lines
                ? strlen(s)
                : line_length(s, MAX_COLUMNS > indent + 40 ? MAX_COLUMNS - indent : 40);
        cg_write(cg, s, n);
        if (!s[n])
            return;
        indent = cg->out->indent + CONTINUATION;
        cg_puts(cg, "\n");
        cg_pad(cg, indent);
    }
}

void cg_line(struct cg *cg, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    start_generated(cg, cg->out->indent);
    write_code(cg, format_prefixed(cg, fmt, ap));
    va_end(ap);
}

void cg_line_there(struct cg *cg, const char *fmt, ...)
{
    va_list ap;
    bool exact = cg->unit->exact_lines && cg->place.col;
    va_start(ap, fmt);
    start_generated(cg, exact ? cg->place.col - 1 : cg->out->indent + CONTINUATION);
    write_code(cg, format_prefixed(cg, fmt, ap));
    va_end(ap);
}

static void open_block(struct cg *cg, const char *head)
{
    start_generated(cg, cg->out->indent);
    write_code(cg, *head ? cg_strf(cg, "%s {", head) : "{");
    cg->out->indent += CG_INDENT;
    cg->out->open++;
}

void cg_open(struct cg *cg, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    open_block(cg, format_prefixed(cg, fmt, ap));
    va_end(ap);
}

void cg_open_scope(struct cg *cg) { open_block(cg, ""); }

void cg_open_function(struct cg *cg, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    start_generated(cg, cg->out->indent);
    write_code(cg, format_prefixed(cg, fmt, ap));
    va_end(ap);
    cg_open_scope(cg);
}

void cg_comment(struct cg *cg, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    cg_end_line(cg);
    cg_put(cg, "\n// %s\n", format_prefixed(cg, fmt, ap));
    va_end(ap);
}

void cg_close_with(struct cg *cg, const char *tail)
{
    assert(cg->out->open && "a block is closed that was opened");
    cg->out->open--;
    cg->out->indent -= CG_INDENT;
    cg_line(cg, "}%s", tail);
}

void cg_close(struct cg *cg) { cg_close_with(cg, ""); }

void cg_open_struct(struct cg *cg, const char *type)
{
    if (cg->unit->packs)
        cg_line(cg, "_Pragma(\"pack(push, 16)\")");
    cg_open(cg, "%s", type);
}

void cg_close_struct(struct cg *cg)
{
    cg_close_with(cg, ";");
    if (cg->unit->packs)
        cg_line(cg, "_Pragma(\"pack(pop)\")");
}

void cg_close_to(struct cg *cg, unsigned open)
{
    while (cg->out->open > open)
        cg_close(cg);
}

void cg_else(struct cg *cg)
{
    cg_close_with(cg, " else {");
    cg->out->indent += CG_INDENT;
    cg->out->open++;
}

void cg_fp_pragmas(struct cg *cg, unsigned offset)
{
    const struct omp_unit *u = cg->unit;
    for (unsigned i = 0; i < u->nfp_pragmas && u->fp_pragmas[i].extent.begin < offset; i++) {
        struct omp_extent e = u->fp_pragmas[i].extent;
        if (offset < u->fp_pragmas[i].scope.end)
            cg_line(cg, "%.*s", (int)(e.end - e.begin), u->text + e.begin);
    }
}

/* ------------------------------------------------------------------ */
static bool mentions_word(const struct cg_text *t, const char *word)
{
    return t->n && memmem(t->s, t->n, word, strlen(word));
}

void cg_write_within(struct cg *cg, const struct omp_function *f, const struct cg_text *before,
                     const struct cg_text *text)
{
    static const char *const names[] = { "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__" };
    bool defined[3];
    cg_end_line(cg);
    for (unsigned i = 0; i < 3; i++) {
        defined[i] = f && (mentions_word(before, names[i]) || mentions_word(text, names[i]));
        if (defined[i])
            cg_put(cg, "#define %s %s\n", names[i], cg_quoted(cg, f->name));
    }
    cg_append(cg, before);
    cg_append(cg, text);
    for (unsigned i = 0; i < 3; i++)
        if (defined[i])
            cg_put(cg, "#undef %s\n", names[i]);
}

const char *cg_quoted(struct cg *cg, const char *s)
{
    (void)cg;
    struct text q = { 0 };
    text_putc(&q, '"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            text_putc(&q, '\\');
        if ((unsigned char)*s < ' ')
            text_printf(&q, "\\%03o", (unsigned)*s);
        else
            text_putc(&q, *s);
    }
    text_putc(&q, '"');
    return q.s;
}

const char *cg_in_comment(struct cg *cg, const char *s)
{
    (void)cg;
    char *shown = mem_strdup(s);
    for (char *p = shown; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = '?';
    return shown;
}

static bool is_taken(const struct cg *cg, const char *name)
{
    for (unsigned i = 0; i < cg->nnames; i++)
        if (!strcmp(cg->names[i], name))
            return true;
    return fe_has_word(cg->unit, name);
}

const char *cg_name(struct cg *cg, const char *base, const char *suffix)
{
    const char *name = cg_strf(cg, "%s%s", base, suffix);
    for (unsigned i = 2; is_taken(cg, name); i++)
        name = cg_strf(cg, "%s_%u%s", base, i, suffix);
    cg->names = must(realloc(cg->names, (cg->nnames + 1) * sizeof *cg->names));
    cg->names[cg->nnames++] = name;
    return name;
}

const char *cg_lock(struct cg *cg, const char *name)
{
    const char *lock = cg_strf(cg, "__ompgpu_%s", name);
    for (unsigned i = 0; i < cg->nlocks; i++)
        if (!strcmp(cg->locks[i], lock))
            return lock;
    cg->locks = must(realloc(cg->locks, (cg->nlocks + 1) * sizeof *cg->locks));
    cg->locks[cg->nlocks++] = lock;
    struct cg_text *out = cg->out;
    cg->out = cg->before;
    /* one for all files of a device link */
    cg_line(cg, "__attribute__((weak)) unsigned %s;", lock);
    cg->out = out;
    return lock;
}

void cg_fault(struct cg *cg, struct omp_place place, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fe_report(cg->unit, place, DIAG_ERROR, "internal error: %s", format_prefixed(cg, fmt, ap));
    va_end(ap);
    cg->errors++;
}

void cg_init(struct cg *cg, const struct omp_unit *u, struct cg_text *out)
{
    *cg = (struct cg){ .unit = u, .out = out, .prefix = u->prefix };
    cg->env = must(calloc(u->nvars + 1, sizeof *cg->env));
    cg->file_env = must(calloc(u->nvars + 1, sizeof *cg->file_env));
}

void cg_free(struct cg *cg)
{
    free(cg->env);
    free(cg->file_env);
    free(cg->names);
    free(cg->locks);
}
