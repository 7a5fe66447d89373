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

/* One conversion of the format, whose arguments lie one after the other, each aligned to its size.
 */
static const char *print_conversion(struct group *g, const struct instruction *i, unsigned lane,
                                    const char *p, uint64_t *at)
{
    struct instruction word = *i;
    char spec[64], text[1024];
    size_t n = 1 + strspn(p + 1, "-+ #0123456789.*");
    unsigned longs = 0;
    for (; strchr("hljzt", p[n]) && p[n]; n++)
        longs += strchr("ljzt", p[n]) != NULL;
    char conversion = p[n];
    bool is_double = strchr("aAeEfFgG", conversion) != NULL;
    unsigned size = is_double || longs || strchr("sp", conversion) ? 8 : 4;
    if (conversion == '%') {
        putchar('%');
        return p + n + 1;
    }
    word.space = S_GENERIC;
    *at = (*at + size - 1) / size * size;
    struct bytes b = ptx_resolve(g, &word, lane, *at, size);
    if (!b.data)
        return p + strlen(p);
    uint64_t v = 0;
    memcpy(&v, b.data, size);
    *at += size;
    snprintf(spec, sizeof spec, "%.*s%s%c", (int)strcspn(p, "hljztdiouxXcsaAeEfFgGp"), p,
             size == 8 && !is_double && !strchr("sp", conversion) ? "ll" : "", conversion);
    double d;
    memcpy(&d, &v, sizeof d);
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
    if (is_double)
        printf(spec, d);
    else if (conversion == 's')
        printf(spec, v ? device_string(g, i, lane, v, text, sizeof text) : "(null)");
    else if (conversion == 'p')
        printf(spec, (void *)(uintptr_t)v);
    else if (size == 8)
        printf(spec, (long long)v);
    else
        printf(spec, (int)v);
#pragma clang diagnostic pop
    return p + n + 1;
}

HANDLER(device_vprintf)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char format[4096];
    pthread_mutex_lock(&lock);
    EACH_LANE(l, m) {
        uint64_t at = argument(g, i, 1, l);
        device_string(g, i, l, argument(g, i, 0, l), format, sizeof format);
        for (const char *p = format; *p;)
            if (*p == '%')
                p = print_conversion(g, i, l, p, &at);
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
        uint64_t size = argument(g, i, 0, l), p = ptx_global_alloc(size);
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
