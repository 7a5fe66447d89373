/* check.c - findings of OMPGPU_CHECK: which kinds are looked for, their messages, how the program
 * goes on, and its exit status.
 *
 * Who finds something, on the host or in device code, calls ompgpu_check_report().  By default the
 * program goes on, and its exit status is 1 in the end where it would be 0. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hostrt/core/core.h"

enum { SHOWN = 20 };
enum { GO_ON, EXIT, ABORT };
static const char name[] = "OMPGPU_CHECK";
static const char *const kinds[OMPGPU_CHECKS] = { [OMPGPU_CHECK_ADDRESS] = "address",
                                                  [OMPGPU_CHECK_UNINIT] = "uninit",
                                                  [OMPGPU_CHECK_RACE] = "race",
                                                  [OMPGPU_CHECK_STALE] = "stale" };
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
            ompgpu_warn_variable(name, "0 or a list of address, uninit, race, stale");
            return OMPGPU_CHECK_UNSAID;
        }
        set |= 1L << k;
    }
    return set;
}

void ompgpu_check_unit(void) { __atomic_store_n(&checked, 1, __ATOMIC_RELAXED); }

/* stale only where it is asked for: a valid program may change its own copy meanwhile. */
bool ompgpu_checks(enum ompgpu_check kind)
{
    long set = ompgpu_settings.checks;
    if (set != OMPGPU_CHECK_UNSAID)
        return set >> kind & 1;
    return kind != OMPGPU_CHECK_STALE && __atomic_load_n(&checked, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------ findings */
/* Exit handlers of the program would run on the stack of an emulated thread. */
static _Noreturn void leave(void)
{
    int own = __atomic_load_n(&status, __ATOMIC_RELAXED);
    fflush(NULL);
    _exit(own ? own : 1);
}

static void note_status(int s, void *unused)
{
    (void)unused;
    __atomic_store_n(&status, s, __ATOMIC_RELAXED);
}

bool ompgpu_leaves_core(void) { return ompgpu_settings.on_error == ABORT; }

void ompgpu_check_report(enum ompgpu_check kind, const struct ompgpu_where *where, const char *fmt,
                         ...)
{
    char text[1536];
    va_list ap;
    unsigned before = __atomic_fetch_add(&found, 1, __ATOMIC_RELAXED);
    if (!before)
        on_exit(note_status, NULL);
    if (before >= SHOWN)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    ompgpu_say(where, "error", "%s [%s=%s]", text, name, kinds[kind]);
    if (ompgpu_leaves_core())
        abort();
    if (ompgpu_settings.on_error == EXIT)
        leave();
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
}
