#include "driver/base/diag.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void (*diag_exit)(int code);
static unsigned errors, warnings;

unsigned diag_errors(void) { return errors; }
unsigned diag_warnings(void) { return warnings; }

bool diag_in_colour(void)
{
    const char *term = getenv("TERM");
    if (getenv("NO_COLOR"))
        return false;
    return getenv("CLICOLOR_FORCE") || (isatty(2) && term && strcmp(term, "dumb") != 0);
}

unsigned diag_columns(void)
{
    struct winsize size;
    const char *said = getenv("COLUMNS");
    unsigned long columns = said ? strtoul(said, NULL, 10) : 0;
    if (!isatty(2))
        return 0;
    if (columns && columns < 10000)
        return (unsigned)columns;
    return ioctl(2, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* ------------------------------------------------------------------ one message */
static const struct {
    const char *name, *colour;
    bool bold; /* the text after it */
} severities[] = {
    [DIAG_ERROR] = { "error", "\033[0;1;31m", true },
    [DIAG_WARNING] = { "warning", "\033[0;1;35m", true },
    [DIAG_NOTE] = { "note", "\033[0;1;36m", false },
    [DIAG_REMARK] = { "remark", "\033[0;34m", true },
};
static const char bold[] = "\033[1m", green[] = "\033[0;1;32m", plain[] = "\033[0m";

static void print_place(const struct diag_place *p, bool colour)
{
    fputs(colour ? bold : "", stderr);
    if (!p || !p->line)
        fputs("ompgpu-cc: ", stderr);
    else if (p->column)
        fprintf(stderr, "%s:%u:%u: ", p->file, p->line, p->column);
    else
        fprintf(stderr, "%s:%u: ", p->file, p->line);
    fputs(colour ? plain : "", stderr);
}

static void print_caret(const struct diag_place *p, bool colour)
{
    int width = fprintf(stderr, "%5u | ", p->line);
    fprintf(stderr, "%.*s\n%*s| ", (int)p->length, p->text, width - 2, "");
    for (unsigned i = 0; i + 1 < p->column; i++)
        fputc(i < p->length && p->text[i] == '\t' ? '\t' : ' ', stderr);
    fprintf(stderr, "%s^%s\n", colour ? green : "", colour ? plain : "");
}

/* ------------------------------------------------------------------ SARIF */
static void print_json(const char *s)
{
    for (; *s; s++)
        if (*s == '"' || *s == '\\')
            fprintf(stderr, "\\%c", *s);
        else if ((unsigned char)*s < ' ')
            fprintf(stderr, "\\u%04x", (unsigned)*s);
        else
            fputc(*s, stderr);
}

static void print_uri(const char *file)
{
    char *real = realpath(file, NULL);
    fputs(real ? "file://" : "", stderr);
    for (const char *p = real ? real : file; *p; p++)
        fprintf(stderr, strchr(" %?#\"\\", *p) || (unsigned char)*p < ' ' ? "%%%02X" : "%c",
                (unsigned)(unsigned char)*p);
    free(real);
}

static void print_sarif(const struct diag_place *p, enum diag_severity severity, const char *words)
{
    static const char *const levels[] = { "error", "warning", "note", "note" };
    fprintf(stderr,
            "{\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/cos02/schemas/"
            "sarif-schema-2.1.0.json\",\"runs\":[{\"results\":[{\"level\":\"%s\",\"locations\":[{"
            "\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"",
            levels[severity]);
    print_uri(p->file);
    fprintf(stderr,
            "\"},\"region\":{\"startColumn\":%u,\"startLine\":%u}}}],\"message\":{\"text\":\"",
            p->column ? p->column : 1, p->line);
    print_json(words);
    print_json(p->more ? "\n" : "");
    print_json(p->more ? p->more : "");
    fputs("\"}}],\"tool\":{\"driver\":{\"name\":\"ompgpu-cc\"}}}],\"version\":\"2.1.0\"}\n",
          stderr);
}

/* ------------------------------------------------------------------ a message */
void diag_count(enum diag_severity severity)
{
    errors += severity == DIAG_ERROR;
    warnings += severity == DIAG_WARNING;
}

void diag_vat(const struct diag_place *p, enum diag_severity severity, const char *fmt, va_list ap)
{
    bool colour = diag_in_colour();
    diag_count(severity);
    if (p && p->line && getenv("OMPGPU_SARIF")) {
        char words[4096];
        vsnprintf(words, sizeof words, fmt, ap);
        print_sarif(p, severity, words);
        return;
    }
    print_place(p, colour);
    fprintf(stderr, "%s%s: %s%s", colour ? severities[severity].colour : "",
            severities[severity].name, colour ? plain : "",
            colour && severities[severity].bold ? bold : "");
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "%s\n", colour ? plain : "");
    if (p && p->text && p->column)
        print_caret(p, colour);
    fputs(p && p->more ? p->more : "", stderr);
}

void diag_at(const struct diag_place *p, enum diag_severity severity, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diag_vat(p, severity, fmt, ap);
    va_end(ap);
}

/* ------------------------------------------------------------------ about the command */
#define MESSAGE(name, severity)                                                                    \
    void name(const char *fmt, ...)                                                                \
    {                                                                                              \
        va_list ap;                                                                                \
        va_start(ap, fmt);                                                                         \
        diag_vat(NULL, severity, fmt, ap);                                                         \
        va_end(ap);                                                                                \
    }
MESSAGE(diag_error, DIAG_ERROR)
MESSAGE(diag_warning, DIAG_WARNING)
MESSAGE(diag_note, DIAG_NOTE)

static _Noreturn void end(int code)
{
    if (diag_exit)
        diag_exit(code);
    exit(code);
}

void diag_fatal(int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diag_vat(NULL, DIAG_ERROR, fmt, ap);
    va_end(ap);
    end(code);
}

void diag_bug(const char *fmt, ...)
{
    va_list ap;
    fprintf(stderr, "ompgpu-cc: internal error in %s: ", program_invocation_short_name);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    end(1);
}
