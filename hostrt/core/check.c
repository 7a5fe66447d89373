/* check.c - findings of OMPGPU_CHECK: which kinds are looked for, their messages, how the program
 * goes on, and its exit status.
 *
 * Who finds something, on the host or in device code, calls ompgpu_check_report().  By default the
 * program goes on, and its exit status is 1 in the end where it would be 0.
 *
 * What a valid program may do on purpose is a suspect.  It is kept until the program says itself
 * that something is wrong: it ends with another status than 0, or by abort(), as assert() does.
 * OMPGPU_CHECK=stale-all makes a mistake of it. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hostrt/core/core.h"

enum { SHOWN = 20 };
enum { GO_ON, EXIT, ABORT };
static const char name[] = "OMPGPU_CHECK";
static const char *const kinds[OMPGPU_CHECKS] = {
    [OMPGPU_CHECK_ADDRESS] = "address",     [OMPGPU_CHECK_UNINIT] = "uninit",
    [OMPGPU_CHECK_RACE] = "race",           [OMPGPU_CHECK_STALE] = "stale",
    [OMPGPU_CHECK_STALE_ALL] = "stale-all", [OMPGPU_CHECK_LEAK] = "leak"
};
static unsigned found; /* atomic */
static int checked;    /* atomic: a unit was compiled with -fompgpu-check */
static int status;     /* atomic: the program's own exit status */

/* ------------------------------------------------------------------ what is looked for */
static unsigned find_kind(const char *word, size_t n)
{
    unsigned k = 0;
    while (k < OMPGPU_CHECKS && (strlen(kinds[k]) != n || strncmp(word, kinds[k], n) != 0))
        k++;
    return k;
}

long ompgpu_read_checks(void)
{
    const char *text = secure_getenv(name);
    long set = 0;
    if (!text || !*text)
        return OMPGPU_CHECK_UNSAID;
    if (strcmp(text, "0") == 0)
        return 0;
    for (size_t n; *text; text += n + (text[n] == ',')) {
        n = strcspn(text, ",");
        unsigned k = find_kind(text, n);
        if (k == OMPGPU_CHECKS) {
            ompgpu_warn_variable(name,
                                 "0 or a list of address, uninit, race, stale, stale-all, leak");
            return OMPGPU_CHECK_UNSAID;
        }
        set |= 1L << k;
    }
    if (set >> OMPGPU_CHECK_STALE_ALL & 1)
        set |= 1L << OMPGPU_CHECK_STALE;
    return set;
}

void ompgpu_check_unit(void) { __atomic_store_n(&checked, 1, __ATOMIC_RELAXED); }

bool ompgpu_is_checked(void) { return __atomic_load_n(&checked, __ATOMIC_RELAXED); }

bool ompgpu_checks(enum ompgpu_check kind)
{
    long set = ompgpu_settings.checks;
    if (set != OMPGPU_CHECK_UNSAID)
        return set >> kind & 1;
    return kind <= OMPGPU_CHECK_STALE && ompgpu_is_checked();
}

/* ------------------------------------------------------------------ suspects */
static struct suspects {
    pthread_mutex_t lock;
    unsigned n;
    char text[SHOWN][1536];
} suspects = { PTHREAD_MUTEX_INITIALIZER, 0, { "" } };

/* In a handler of a signal, too. */
static void show_suspects(void)
{
    unsigned n = __atomic_exchange_n(&suspects.n, 0, __ATOMIC_ACQ_REL);
    for (unsigned i = 0; i < n && i < SHOWN; i++)
        if (*suspects.text[i] &&
            write(STDERR_FILENO, suspects.text[i], strlen(suspects.text[i])) < 0)
            return;
}

static void show_at_abort(int unused)
{
    (void)unused;
    show_suspects();
}

/* The program's own handler comes first. */
static void await_abort(void)
{
    struct sigaction now;
    if (sigaction(SIGABRT, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        sigaction(SIGABRT,
                  &(struct sigaction){ .sa_handler = show_at_abort,
                                       .sa_flags = (int)SA_RESETHAND | SA_ONSTACK },
                  NULL);
}

static unsigned keep_suspect(const struct ompgpu_where *where, const char *text)
{
    pthread_mutex_lock(&suspects.lock);
    unsigned n = suspects.n;
    if (n < SHOWN)
        ompgpu_format(suspects.text[n], sizeof suspects.text[n], where, "warning",
                      "%s; it may be meant, but the program failed [%s=%s]", text, name,
                      kinds[OMPGPU_CHECK_STALE]);
    if (n < SHOWN)
        __atomic_store_n(&suspects.n, n + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&suspects.lock);
    return n;
}

void ompgpu_check_forget(unsigned suspect)
{
    if (suspect < SHOWN)
        *suspects.text[suspect] = '\0';
}

/* ------------------------------------------------------------------ findings */
/* Exit handlers of the program would run on the stack of an emulated thread. */
static _Noreturn void leave(void)
{
    int own = __atomic_load_n(&status, __ATOMIC_RELAXED);
    if (own)
        show_suspects();
    fflush(NULL);
    _exit(own ? own : 1);
}

static void note_status(int s, void *unused)
{
    (void)unused;
    __atomic_store_n(&status, s, __ATOMIC_RELAXED);
}

bool ompgpu_leaves_core(void) { return ompgpu_settings.on_error == ABORT; }

static void ask_for_status(void) { on_exit(note_status, NULL); }

void ompgpu_check_await_status(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ask_for_status);
}

static void report(enum ompgpu_check kind, const struct ompgpu_where *where, const char *text)
{
    ompgpu_check_await_status();
    if (__atomic_fetch_add(&found, 1, __ATOMIC_RELAXED) >= SHOWN)
        return;
    ompgpu_say(where, "error", "%s [%s=%s]", text, name, kinds[kind]);
    if (ompgpu_leaves_core())
        abort();
    if (ompgpu_settings.on_error == EXIT)
        leave();
}

void ompgpu_check_report(enum ompgpu_check kind, const struct ompgpu_where *where, const char *fmt,
                         ...)
{
    char text[1536];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    report(kind, where, text);
}

unsigned ompgpu_check_suspect(const struct ompgpu_where *where, const char *fmt, ...)
{
    static pthread_once_t awaits_abort = PTHREAD_ONCE_INIT;
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (ompgpu_checks(OMPGPU_CHECK_STALE_ALL)) {
        report(OMPGPU_CHECK_STALE, where, text);
        return SHOWN;
    }
    ompgpu_check_await_status();
    pthread_once(&awaits_abort, await_abort);
    return keep_suspect(where, text);
}

bool ompgpu_check_end(void)
{
    unsigned n = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (n > SHOWN)
        ompgpu_say(NULL, "error", "%s found %u more mistakes, which are not shown", name,
                   n - SHOWN);
    return n;
}

/* After all other destructors of the library (device.c). */
__attribute__((destructor(98))) static void end_checks(void)
{
    if (ompgpu_check_end())
        leave();
    if (__atomic_load_n(&status, __ATOMIC_RELAXED))
        show_suspects();
}
