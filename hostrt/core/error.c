/* error.c - messages, the end of the program, and memory that can be made to fail.
 *
 * A message is put together first and written with one call, so that the lines of several threads
 * do not mix.                */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "hostrt/core/core.h"

void (*ompgpu_fatal_hook)(const char *message);
long ompgpu_xalloc_fail;

/* ------------------------------------------------------------------ memory */
void *ompgpu_xalloc(size_t size)
{
    void *p = NULL;
    if (__atomic_load_n(&ompgpu_xalloc_fail, __ATOMIC_RELAXED) == 0 ||
        __atomic_sub_fetch(&ompgpu_xalloc_fail, 1, __ATOMIC_RELAXED))
        p = calloc(1, size ? size : 1);
    if (!p)
        ompgpu_plugin_error("out of host memory (%zu bytes)", size);
    return p;
}

void ompgpu_xfree(void *p) { free(p); }

void ompgpu_use_large_pages(void *p, size_t size)
{
    const uintptr_t large = 2 << 20;
    uintptr_t begin = ((uintptr_t)p + large - 1) & ~(large - 1),
              end = ((uintptr_t)p + size) & ~(large - 1);
    if (size >= 2 * large)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* it is as well if it fails */
}

/* ---------------------------------------------- the reason of the last failure, per host thread */
static _Thread_local char reason[1024];

void ompgpu_plugin_error(const char *fmt, ...)
{
    char text[sizeof reason]; /* an argument may be the old reason */
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    memcpy(reason, text, sizeof reason);
}

const char *ompgpu_plugin_message(void) { return reason; }

/* ------------------------------------------------------------------ messages */
static void format_message(char *out, size_t size, const struct ompgpu_where *where,
                           const char *kind, const char *fmt, va_list ap)
{
    size_t n = (size_t)snprintf(out, size, "ompgpu: ");
#define ADD(...) (n += n < size ? (size_t)snprintf(out + n, size - n, __VA_ARGS__) : 0)
    if (where && where->file && where->line)
        ADD("%s:%u:", where->file, where->line);
    if (where && where->file && where->column)
        ADD("%u:", where->column);
    if (where && where->file && where->line)
        ADD(" ");
    if (*kind)
        ADD("%s: ", kind);
    if (where && where->region)
        ADD("region %s: ", where->region);
    else if (where && where->directive)
        ADD("%s: ", where->directive);
    if (where && where->chunk)
        ADD("%s: ", ompgpu_describe_chunk(where->chunk).text);
    if (n < size)
        n += (size_t)vsnprintf(out + n, size - n, fmt, ap);
    if (n > size - 2)
        n = size - 2;
    memcpy(out + n, "\n", 2);
#undef ADD
}

void ompgpu_format(char *out, size_t size, const struct ompgpu_where *where, const char *kind,
                   const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    format_message(out, size, where, kind, fmt, ap);
    va_end(ap);
}

void ompgpu_say(const struct ompgpu_where *where, const char *kind, const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    format_message(text, sizeof text, where, kind, fmt, ap);
    va_end(ap);
    fputs(text, stderr);
}

/* ------------------------------------------------------------------ files that variables name */
static FILE *trace; /* immutable between start-up and the end; NULL: standard error */

void ompgpu_trace_to(FILE *f)
{
    if (trace)
        fclose(trace);
    trace = f;
}

void ompgpu_trace(const struct ompgpu_where *where, const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    format_message(text, sizeof text, where, "", fmt, ap);
    va_end(ap);
    fputs(text, trace ? trace : stderr);
}

FILE *ompgpu_open_output(const char *variable, const char *name)
{
    char path[4096];
    const char *p = strstr(name, "%p");
    if (p)
        snprintf(path, sizeof path, "%.*s%ld%s", (int)(p - name), name, (long)getpid(), p + 2);
    else
        snprintf(path, sizeof path, "%s", name);
    FILE *f = fopen(path, "we");
    if (f)
        setvbuf(f, NULL, _IOLBF, 0);
    else
        ompgpu_say(NULL, "warning", "%s: cannot write '%s': %s", variable, path, strerror(errno));
    return f;
}

/* ------------------------------------------------------------------ the end of the process */
static int exiting;              /* atomic */
static pthread_t exiting_thread; /* set before `exiting`, as the status */
static int exit_status;

static void note_exit(int status, void *unused)
{
    (void)unused;
    if (ompgpu_exiting())
        return;
    exiting_thread = pthread_self();
    exit_status = status;
    __atomic_store_n(&exiting, 1, __ATOMIC_RELEASE);
}

static int failed; /* atomic */

bool ompgpu_failed(void) { return __atomic_load_n(&failed, __ATOMIC_ACQUIRE); }

void ompgpu_watch_exit(void) { on_exit(note_exit, NULL); }

bool ompgpu_exiting(void) { return __atomic_load_n(&exiting, __ATOMIC_ACQUIRE); }

void ompgpu_leave_process(void)
{
    fcloseall(); /* as exit() does it: without a wait for who is reading */
    _exit(exit_status);
}

static _Atomic double ending; /* ompgpu_clock() when the runtime's own end began, 0: it has not */

void ompgpu_ending(void) { ending = ompgpu_clock(); }

/* It takes a moment, unless it waits for a construct, which may be the one that has failed. */
static bool is_end_waiting(void)
{
    double since = ending;
    return since > 0 && ompgpu_clock() - since > 1000;
}

/* One thread ends the process.  Others that fail meanwhile, maybe because of that, wait for the
 * end; if that waits for them, their failure is said. */
static int taken; /* atomic */
static _Thread_local bool mine;

static void claim_the_exit(void)
{
    if (mine || (ompgpu_exiting() && pthread_equal(exiting_thread, pthread_self())))
        return;
    mine = true;
    while (ompgpu_exiting() && !is_end_waiting())
        usleep(10000);
    if (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQ_REL))
        for (;;)
            pause();
}

/* What other threads of the parent had begun to end goes on in the child. */
void ompgpu_exit_fork(void)
{
    if (!pthread_equal(exiting_thread, pthread_self()))
        exiting = 0, ending = 0;
    if (!mine)
        taken = failed = 0;
}

void ompgpu_fatal(const struct ompgpu_where *where, const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    format_message(text, sizeof text, where, "error", fmt, ap);
    va_end(ap);
    if (ompgpu_fatal_hook)
        ompgpu_fatal_hook(text);
    static _Thread_local bool again;
    claim_the_exit();
    fflush(stdout); /* keeps the order of what the program and we said */
    fputs(text, stderr);
    __atomic_store_n(&failed, 1, __ATOMIC_RELEASE); /* whoever sees it may end the process */
    if (again || ompgpu_exiting()) /* a region in an exit handler: what remains is to stop */
        _exit(1);
    again = true;
    exit(1);
}
