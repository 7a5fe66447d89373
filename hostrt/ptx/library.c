/* library.c - the functions that the driver adds to device code: vprintf, __assertfail, malloc and
 * free.  They read the call's parameters in the caller's frame. */
#include <string.h>
#include "hostrt/ptx/isa.h"
#include "hostrt/ptx/race/race.h"

static uint64_t argument(const struct group *g, const struct instruction *i, unsigned n,
                         unsigned lane)
{
    uint64_t v = 0;
    memcpy(&v,
           g->frame->params + (size_t)lane * g->frame->function->frame_params +
               i->call->args[n].value,
           sizeof v);
    return v;
}
static void set_result(struct group *g, const struct instruction *i, unsigned lane, uint64_t v,
                       unsigned size)
{
    if (i->call->result.kind != O_PARAM)
        return;
    size_t at = (size_t)lane * g->frame->function->frame_params + i->call->result.value;
    memcpy(g->frame->params + at, &v, size);
    memset(g->frame->param_shadow + at, SHADOW_DEFINED, size);
}

/* A string of device memory, in pieces of whatever may be read. */
static const char *device_string(struct group *g, const struct instruction *i, unsigned lane,
                                 uint64_t at, char *buffer, size_t size)
{
    struct instruction byte = *i;
    byte.space = S_GENERIC;
    for (size_t n = 0; n + 1 < size; n++) {
        struct bytes b = ptx_resolve(g, &byte, lane, at + n, 1);
        buffer[n] = b.data ? (char)*b.data : 0;
        if (!buffer[n])
            return buffer;
    }
    buffer[size - 1] = 0;
    return buffer;
}

/* What printf was called with: the arguments lie one after the other, each aligned to its size. */
struct printed {
    struct group *group;
    const struct instruction *call;
    unsigned lane;
    uint64_t at;
};
static bool next_argument(struct printed *a, unsigned size, uint64_t *v)
{
    struct instruction word = *a->call;
    word.space = S_GENERIC;
    a->at = (a->at + size - 1) / size * size;
    struct bytes b = ptx_resolve(a->group, &word, a->lane, a->at, size);
    *v = 0;
    if (b.data)
        memcpy(v, b.data, size);
    a->at += size;
    return b.data != NULL;
}

/* Copies flags, width and precision; each `*` is the next int.  Returns what follows, or NULL. */
static const char *copy_widths(struct printed *a, const char *p, char *spec, size_t size)
{
    size_t n = 0;
    uint64_t v;
    for (; *p && strchr("%-+ #0123456789.*", *p) && n < size && !(*p == '%' && n); p++)
        if (*p != '*')
            spec[n++] = *p;
        else if (!next_argument(a, 4, &v))
            return NULL;
        else if ((int)v < 0 && spec[n - 1] == '.')
            n--; /* a negative precision: as if there were none */
        else
            n += (size_t)snprintf(spec + n, size - n, "%d", (int)v);
    if (n >= size)
        return NULL;
    spec[n] = 0;
    return p;
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
static void print_value(const struct printed *a, const char *spec, char conversion, unsigned size,
                        uint64_t v)
{
    char text[1024];
    double d;
    memcpy(&d, &v, sizeof d);
    if (strchr("aAeEfFgG", conversion))
        printf(spec, d);
    else if (conversion == 's')
        printf(spec,
               v ? device_string(a->group, a->call, a->lane, v, text, sizeof text) : "(null)");
    else if (conversion == 'p')
        printf(spec, (void *)(uintptr_t)v);
    else if (size == 8)
        printf(spec, (long long)v);
    else
        printf(spec, (int)v);
}
#pragma clang diagnostic pop

/* One conversion of the format, which begins at p.  Returns what follows. */
static const char *print_conversion(struct printed *a, const char *p)
{
    char spec[64];
    unsigned longs = 0;
    uint64_t v;
    const char *from = p;
    p = copy_widths(a, p, spec, sizeof spec - sizeof "lld");
    if (!p)
        return from + strlen(from);
    for (; *p && strchr("hljzt", *p); p++)
        longs += *p != 'h';
    char conversion = *p;
    if (!conversion)
        return p;
    if (conversion == '%') {
        putchar('%');
        return p + 1;
    }
    bool own = strchr("aAeEfFgGsp", conversion) != NULL; /* says the size itself */
    unsigned size = own || longs ? 8 : 4;
    if (!next_argument(a, size, &v))
        return p + strlen(p);
    snprintf(spec + strlen(spec), sizeof "lld", "%s%c", size == 8 && !own ? "ll" : "", conversion);
    print_value(a, spec, conversion, size, v);
    return p + 1;
}

HANDLER(device_vprintf)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char format[4096];
    pthread_mutex_lock(&lock);
    EACH_LANE(l, m) {
        struct printed a = { g, i, l, argument(g, i, 1, l) };
        device_string(g, i, l, argument(g, i, 0, l), format, sizeof format);
        for (const char *p = format; *p;)
            if (*p == '%')
                p = print_conversion(&a, p);
            else
                putchar(*p++);
        set_result(g, i, l, 0, 4);
    }
    pthread_mutex_unlock(&lock);
}

HANDLER(device_assertfail)
{
    char message[512], file[512], function[256];
    unsigned lane = (unsigned)__builtin_ctz(m);
    device_string(g, i, lane, argument(g, i, 0, lane), message, sizeof message);
    device_string(g, i, lane, argument(g, i, 1, lane), file, sizeof file);
    device_string(g, i, lane, argument(g, i, 3, lane), function, sizeof function);
    fflush(stdout);
    fprintf(stderr, "%s:%u: %s: team %u, thread %u: Assertion `%s' failed.\n", file,
            (uint32_t)argument(g, i, 2, lane), function, g->warp->team->number,
            g->warp->number * WARP + lane, message);
    ptx_fault(g, i, lane, CUDA_ERROR_ASSERT, "an assertion failed");
}

HANDLER(device_malloc)
{
    EACH_LANE(l, m) {
        uint64_t size = argument(g, i, 0, l);
        uint64_t p = ptx_global_alloc(g->warp->team->launch->device, size);
        if (ptx_racing && p)
            ptx_race_allocated(p, size);
        set_result(g, i, l, p, 8);
    }
}
HANDLER(device_free)
{
    EACH_LANE(l, m) {
        uint64_t p = argument(g, i, 0, l);
        if (p && !ptx_global_free(p)) {
            ptx_fault(g, i, l, CUDA_ERROR_ILLEGAL_ADDRESS,
                      "free of 0x%llx, where no block of device memory begins",
                      (unsigned long long)p);
            return;
        }
    }
}

handler *ptx_library_function(const char *name)
{
    static const struct {
        const char *name;
        handler *run;
    } functions[] = { { "vprintf", device_vprintf },
                      { "__assertfail", device_assertfail },
                      { "malloc", device_malloc },
                      { "free", device_free } };
    for (unsigned k = 0; k < sizeof functions / sizeof *functions; k++)
        if (!strcmp(functions[k].name, name))
            return functions[k].run;
    return NULL;
}
