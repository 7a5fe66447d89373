/* text.c - growing text, the writer's own strings, names and errors. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "codegen/c/write.h"

static void *must(void *p)
{
    if (!p) {
        fputs("omp-split: error: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

void cg_write(struct cg *cg, const char *s, size_t n)
{
    struct cg_text *t = cg->out;
    if (t->n + n + 1 > t->capacity) {
        t->capacity = (t->n + n + 1) * 2;
        t->s = must(realloc(t->s, t->capacity));
    }
    memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = 0;
}

void cg_puts(struct cg *cg, const char *s) { cg_write(cg, s, strlen(s)); }

static const char *keep_v(struct cg *cg, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    struct cg_strings *s = must(malloc(sizeof *s + (size_t)n + 1));
    vsnprintf(s->text, (size_t)n + 1, fmt, ap);
    s->next = cg->strings;
    cg->strings = s;
    return s->text;
}

const char *cg_strf(struct cg *cg, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *s = keep_v(cg, fmt, ap);
    va_end(ap);
    return s;
}

void cg_put(struct cg *cg, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    cg_puts(cg, keep_v(cg, fmt, ap));
    va_end(ap);
}

void cg_marker(struct cg *cg, struct omp_place p)
{
    if (cg->out->n && cg->out->s[cg->out->n - 1] != '\n')
        cg_puts(cg, "\n");
    if (p.line)
        cg_put(cg, "# %u %s\n", p.line, cg_quoted(cg, p.file));
    cg->out->place = p;
    cg->out->line = cg->out->n;
}

/* Does a statement of n characters go on the line that is being written? */
static bool joins(const struct cg_text *t, struct omp_place p, size_t n)
{
    bool same =
        t->place.line == p.line && t->place.file && p.file && !strcmp(t->place.file, p.file);
    return same && t->n > t->line && t->n - t->line + n < 130 &&
           !memchr(t->s + t->line, '\n', t->n - t->line);
}

static bool mentions(const struct cg_text *t, const char *word)
{
    return t->n && memmem(t->s, t->n, word, strlen(word));
}

void cg_write_within(struct cg *cg, const struct omp_function *f, const struct cg_text *before,
                     const struct cg_text *text)
{
    static const char *const names[] = { "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__" };
    bool defined[3];
    for (unsigned i = 0; i < 3; i++) {
        defined[i] = f && (mentions(before, names[i]) || mentions(text, names[i]));
        if (defined[i])
            cg_put(cg, "\n#define %s %s\n", names[i], cg_quoted(cg, f->name));
    }
    if (before->n)
        cg_write(cg, before->s, before->n);
    if (text->n)
        cg_write(cg, text->s, text->n);
    for (unsigned i = 0; i < 3; i++)
        if (defined[i])
            cg_put(cg, "\n#undef %s\n", names[i]);
}

/* Generated lines all belong to the directive's line; a marker before each keeps -g and __LINE__
 * right. */
void cg_line(struct cg *cg, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *s = keep_v(cg, fmt, ap);
    va_end(ap);
    if (joins(cg->out, cg->place, strlen(s)))
        cg_puts(cg, " ");
    else
        cg_marker(cg, cg->place);
    cg_puts(cg, s);
}

const char *cg_quoted(struct cg *cg, const char *s)
{
    char *q = must(malloc(strlen(s) * 4 + 3)), *p = q;
    *p++ = '"';
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            *p++ = '\\', *p++ = *s;
        else if ((unsigned char)*s < ' ')
            *p++ = '\\', *p++ = '0', *p++ = (char)('0' + *s / 8), *p++ = (char)('0' + *s % 8);
        else
            *p++ = *s;
    }
    *p++ = '"', *p = 0;
    const char *kept = cg_strf(cg, "%s", q);
    free(q);
    return kept;
}

static bool taken(const struct cg *cg, const char *name)
{
    for (unsigned i = 0; i < cg->nnames; i++)
        if (!strcmp(cg->names[i], name))
            return true;
    for (unsigned i = 0; i < cg->unit->nfunctions; i++)
        if (!strcmp(cg->unit->functions[i]->name, name))
            return true;
    return false;
}

const char *cg_name(struct cg *cg, const char *base, const char *suffix)
{
    const char *name = cg_strf(cg, "%s%s", base, suffix);
    for (unsigned i = 2; taken(cg, name); i++)
        name = cg_strf(cg, "%s_%u%s", base, i, suffix);
    cg->names = must(realloc(cg->names, (cg->nnames + 1) * sizeof *cg->names));
    cg->names[cg->nnames++] = name;
    return name;
}

void cg_error(struct cg *cg, struct omp_place place, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fe_report(cg->unit, place, DIAG_ERROR, "%s", keep_v(cg, fmt, ap));
    va_end(ap);
    cg->errors++;
}

const char *cg_directive(struct cg *cg, const struct omp_construct *c, bool bare)
{
    const char *s = cg_raw(cg, c->pragma);
    if (!bare)
        return s;
    const char *omp = strstr(s, "omp");
    return omp ? omp + 3 + strspn(omp + 3, " \t") : s;
}

void cg_init(struct cg *cg, const struct omp_unit *u, struct cg_text *out)
{
    *cg = (struct cg){ .unit = u, .out = out };
    cg->env = must(calloc(u->nvars + 1, sizeof *cg->env));
    cg->file_env = must(calloc(u->nvars + 1, sizeof *cg->file_env));
}

void cg_free(struct cg *cg)
{
    while (cg->strings) {
        struct cg_strings *next = cg->strings->next;
        free(cg->strings);
        cg->strings = next;
    }
    free(cg->env);
    free(cg->file_env);
    free(cg->names);
    free(cg->locks);
}
