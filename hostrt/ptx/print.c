/* print.c - vprintf, with the limits of a GPU's.
 *
 * The text stays in a buffer of the device until the host makes one of the calls that CUDA
 * documents: a launch, one that waits for a stream or an event, one that loads or unloads a module,
 * and before a stream calls a function of the host.  To ask whether a stream has ended is none of
 * them; and when the program ends, so does the driver, before libompgpu gives back what it has.  Of
 * more text than the buffer holds the oldest is lost.  The driver writes to the file of standard
 * output, past what the program's stdio has not written yet.
 *
 * Of formats it knows the flags # 0 + - and blank, `*` as width, sizes h, l and ll, and at most 32
 * arguments.  What else C has disturbs a GPU: the next arguments that it takes are arbitrary, and
 * are shown as WRONG here. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "hostrt/ptx/isa.h"
#include "hostrt/ptx/library.h"

enum { BUFFER = 1 << 20, MOST_ARGUMENTS = 32, BESIDE_TEXT = 32 /* bytes for each call */ };
#define WRONG "<?>"

/* ------------------------------------------------------------------ the buffer */
struct printed { /* by a call */
    struct printed *next;
    size_t size;
    char text[];
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all devices' buffers */

static void drop_oldest(struct print_buffer *b)
{
    struct printed *p = b->first;
    b->bytes -= p->size + BESIDE_TEXT;
    if (!(b->first = p->next))
        b->last = NULL;
    free(p);
}

static void keep(struct device *d, const char *text, size_t size)
{
    struct print_buffer *b = &d->printed;
    struct printed *p = malloc(sizeof *p + size);
    if (!p)
        return;
    *p = (struct printed){ .size = size };
    memcpy(p->text, text, size);
    pthread_mutex_lock(&lock);
    *(b->last ? &b->last->next : &b->first) = p;
    b->last = p;
    b->bytes += size + BESIDE_TEXT;
    while (b->bytes > BUFFER)
        drop_oldest(b);
    pthread_mutex_unlock(&lock);
}

static bool ended;
void ptx_print_end(void)
{
    pthread_mutex_lock(&lock);
    ended = true;
    pthread_mutex_unlock(&lock);
}

static void write_all(const char *text, size_t size)
{
    for (ssize_t n; size && (n = write(STDOUT_FILENO, text, size)) > 0; text += n)
        size -= (size_t)n;
}

void ptx_print_flush(struct device *d)
{
    pthread_mutex_lock(&lock);
    while (d->printed.first) {
        if (!ended)
            write_all(d->printed.first->text, d->printed.first->size);
        drop_oldest(&d->printed);
    }
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ a call */
/* The arguments lie one after the other, each aligned to its size. */
struct call_of_print {
    struct group *group;
    const struct instruction *call;
    unsigned lane, arguments;
    uint64_t at;
    bool disturbed;
    FILE *out;
};

static bool next_argument(struct call_of_print *a, unsigned size, uint64_t *v)
{
    struct instruction word = *a->call;
    word.space = S_GENERIC;
    a->at = (a->at + size - 1) / size * size;
    struct bytes b = ptx_resolve(a->group, &word, a->lane, a->at, size);
    *v = 0;
    if (b.data)
        memcpy(v, b.data, size);
    a->at += size;
    a->arguments++;
    return b.data != NULL;
}

/* One conversion of a format, of which a GPU knows `known`. */
struct conversion {
    char flags[8], precision[12]; /* with its point */
    char width[12];               /* "*": an argument */
    unsigned longs;
    bool is_short, known;
    char kind;
};

static const char *take(const char *p, const char *set, char *to, size_t size)
{
    size_t n = 0;
    for (; *p && strchr(set, *p); p++)
        if (n + 1 < size)
            to[n++] = *p;
    to[n] = 0;
    return p;
}

/* Behind the %.  Returns what follows. */
static const char *read_conversion(const char *p, struct conversion *c)
{
    *c = (struct conversion){ .known = true };
    p = take(p, "-+ #0", c->flags, sizeof c->flags);
    if (*p == '*')
        c->width[0] = *p++;
    else
        p = take(p, "0123456789", c->width, sizeof c->width);
    if (*p == '.')
        p = take(p + 1, "0123456789", c->precision + 1, sizeof c->precision - 1),
        c->precision[0] = '.';
    if (*p == 'h')
        p++, c->is_short = true;
    for (; *p == 'l' && !c->is_short && c->longs < 2; p++)
        c->longs++;
    const char *kind = p + strspn(p, "0123456789.*'hljztLq");
    c->known = kind == p && *kind && strchr("%cdiouxXpeEfgGaAs", *kind);
    c->kind = *kind;
    return kind + (*kind != 0);
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
static void put_value(const struct call_of_print *a, const struct conversion *c, unsigned size,
                      uint64_t v)
{
    char spec[64];
    double d;
    memcpy(&d, &v, sizeof d);
    snprintf(spec, sizeof spec, "%%%s%s%s%s%c", c->flags, c->width, c->precision,
             strchr("diouxX", c->kind) && size == 8 ? "ll"
             : c->is_short                          ? "h"
                                                    : "",
             c->kind);
    if (strchr("aAeEfgG", c->kind)) {
        fprintf(a->out, spec, d);
    } else if (c->kind == 's') {
        char *text = v ? ptx_device_string(a->group, a->call, a->lane, v) : NULL;
        fprintf(a->out, spec, v ? text ? text : "" : "(null)");
        free(text);
    } else if (size == 8) {
        fprintf(a->out, spec, v);
    } else {
        fprintf(a->out, spec, (int)v);
    }
}
#pragma clang diagnostic pop

/* false: after a fault. */
static bool put_conversion(struct call_of_print *a, struct conversion *c)
{
    bool wide = c->longs || strchr("aAeEfFgGsp", c->kind);
    uint64_t v;
    bool star = c->width[0] == '*';
    if (star && !next_argument(a, 4, &v))
        return false;
    if (star)
        snprintf(c->width, sizeof c->width, "%d", (int)v);
    if (!next_argument(a, wide ? 8 : 4, &v))
        return false;
    if (strchr("cdiouxXpeEfgGaAs", c->kind) && (c->known || !strchr("eEfgGaAs", c->kind)))
        put_value(a, c, wide ? 8 : 4, v);
    else
        fputs(WRONG, a->out);
    a->disturbed |= star || !c->known;
    return true;
}

/* The conversion that begins at p.  Returns what follows, or NULL. */
static const char *print_conversion(struct call_of_print *a, const char *p)
{
    struct conversion c;
    const char *end = read_conversion(p + 1, &c);
    if (c.kind == '%')
        fputc('%', a->out);
    else if (a->arguments >= MOST_ARGUMENTS || !c.kind)
        fwrite(p, 1, (size_t)(end - p), a->out);
    else if (a->disturbed)
        fputs(WRONG, a->out);
    else if (!put_conversion(a, &c))
        return NULL;
    return end;
}

static void print(struct call_of_print *a, const char *format)
{
    for (const char *p = format; p && *p;)
        if (*p == '%')
            p = print_conversion(a, p);
        else
            fputc(*p++, a->out);
}

void ptx_device_vprintf(struct group *g, const struct instruction *i, lanes m)
{
    EACH_LANE(l, m) {
        struct call_of_print a = {
            .group = g, .call = i, .lane = l, .at = ptx_argument(g, i, 1, l)
        };
        uint64_t at = ptx_argument(g, i, 0, l);
        char *format = at ? ptx_device_string(g, i, l, at) : NULL, *text = NULL;
        size_t size = 0;
        if (format && (a.out = open_memstream(&text, &size))) {
            print(&a, format);
            fclose(a.out);
            keep(g->warp->team->launch->device, text, size);
        }
        free(text);
        free(format);
        ptx_set_result(g, i, l, format ? a.arguments : ~0u, 4);
    }
}
