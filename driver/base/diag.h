/* diag.h - messages to the user, on stderr, in clang's format:
 *
 *     ompgpu-cc: error: …                  about the command or a file as a whole
 *     app.c:3:5: error: …                  about the user's program; the line and a caret follow
 *         3 |     x = 1;
 *           |     ^
 *
 * All three programs speak as ompgpu-cc, which is what the user called.  In colour on a terminal,
 * or where CLICOLOR_FORCE is set (the command sets it for the programs that it runs); never with
 * NO_COLOR.  Where OMPGPU_SARIF is set (the command does, for -fdiagnostics-format=sarif), a
 * message about the program is a document of SARIF 2.1.0 in one line, as clang writes one for each
 * file. */
#ifndef OMPGPU_BASE_DIAG_H
#define OMPGPU_BASE_DIAG_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum diag_severity { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE, DIAG_REMARK };
struct diag_place {
    const char *file;
    unsigned line, column; /* from 1; line 0: about the command, column 0: unknown */
    const char *text;      /* the line, to be shown with a caret; NULL: not shown */
    size_t length;         /* of text */
    const char *more;      /* lines that follow, each with its end; NULL: none */
};
void diag_at(const struct diag_place *, enum diag_severity, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void diag_vat(const struct diag_place *, enum diag_severity, const char *fmt, va_list)
    __attribute__((format(printf, 3, 0)));

void diag_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void diag_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void diag_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* an error, and the end of the program */
void diag_fatal(int code, const char *fmt, ...) __attribute__((noreturn, format(printf, 2, 3)));
/* a fault of ours; exit status 1 */
void diag_bug(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

void diag_count(enum diag_severity); /* one that another program has shown */
unsigned diag_errors(void);          /* how many errors were reported */
unsigned diag_warnings(void);
bool diag_in_colour(void);
unsigned diag_columns(void); /* of the terminal that messages go to; 0: none */
/* Called by diag_fatal and diag_bug instead of exit(), where something must be cleaned up; does not
 * return. */
extern void (*diag_exit)(int code);
#endif
