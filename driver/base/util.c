/* util.c - memory, words, files and messages. */
#include "driver/driver.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------ memory and words */
struct block {
    struct block *next;
    max_align_t data[];
};
static struct block *blocks;

void *drv_alloc(size_t size)
{
    struct block *b = calloc(1, sizeof *b + (size ? size : 1));
    if (!b)
        drv_fatal(EXIT_COMPILE, "out of memory");
    b->next = blocks;
    blocks = b;
    return b->data;
}

static char *format_list(const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *s = drv_alloc((size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, ap);
    return s;
}

char *drv_format(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = format_list(fmt, ap);
    va_end(ap);
    return s;
}

char *drv_copy(const char *s, size_t n) { return memcpy(drv_alloc(n + 1), s, n); }

void words_add(struct words *w, const char *s)
{
    if (w->n + 1 >= w->room) {
        unsigned room = w->room ? 2 * w->room : 32;
        const char **v = drv_alloc(room * sizeof *v);
        if (w->n)
            memcpy(v, w->v, w->n * sizeof *v);
        w->v = v;
        w->room = room;
    }
    w->v[w->n++] = s;
    w->v[w->n] = NULL;
}

void words_add_all(struct words *w, const struct words *from)
{
    for (unsigned i = 0; i < from->n; i++)
        words_add(w, from->v[i]);
}

bool drv_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool drv_ends(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && strcmp(s + n - m, suffix) == 0;
}

const char *drv_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *drv_dirname(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/" : drv_copy(path, (size_t)(slash - path));
}

const char *drv_stem(const char *path)
{
    const char *base = drv_basename(path), *dot = strrchr(base, '.');
    return dot && dot != base ? drv_copy(base, (size_t)(dot - base)) : base;
}

/* ------------------------------------------------------------------ files */
static char *read_fd(int fd, size_t *size)
{
    struct stat st;
    size_t room = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (size_t)st.st_size + 1 : 65536,
           n = 0;
    char *text = drv_alloc(room + 1);
    for (;;) {
        ssize_t r = read(fd, text + n, room - n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return NULL;
        if (r == 0)
            break;
        n += (size_t)r;
        if (n == room) {
            char *more = drv_alloc(2 * room + 1);
            text = memcpy(more, text, n);
            room *= 2;
        }
    }
    text[n] = 0;
    if (size)
        *size = n;
    return text;
}

char *drv_read(const char *path, size_t *size)
{
    int fd = strcmp(path, "-") == 0 ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = read_fd(fd, size);
    int error = errno;
    close(fd);
    errno = error;
    return text;
}

bool drv_write(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    const char *p = data;
    while (size) {
        ssize_t w = write(fd, p, size);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0) {
            int error = errno;
            close(fd);
            errno = error;
            return false;
        }
        p += w;
        size -= (size_t)w;
    }
    return close(fd) == 0;
}

bool drv_exists(const char *path) { return access(path, F_OK) == 0; }

double drv_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ------------------------------------------------------------------ messages */
static void message(const char *severity, const char *colour, const char *fmt, va_list ap)
{
    const char *term = getenv("TERM");
    bool tty = isatty(2) && term && strcmp(term, "dumb") != 0;
    fprintf(stderr, tty ? "\033[1mompgpu-cc: \033[%sm%s:\033[0m " : "ompgpu-cc: %.0s%s: ", colour,
            severity);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
}
#define MESSAGE(name, severity, colour)                                                            \
    void name(const char *fmt, ...)                                                                \
    {                                                                                              \
        va_list ap;                                                                                \
        va_start(ap, fmt);                                                                         \
        message(severity, colour, fmt, ap);                                                        \
        va_end(ap);                                                                                \
    }
MESSAGE(drv_error, "error", "31")
MESSAGE(drv_warning, "warning", "35")
MESSAGE(drv_note, "note", "36")
