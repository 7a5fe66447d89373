/* library.c - the functions that the driver adds to device code: __assertfail, malloc and free;
 * vprintf is in print.c. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/library.h"
#include "hostrt/ptx/race/race.h"

uint64_t ptx_argument(const struct group *g, const struct instruction *i, unsigned n, unsigned lane)
{
    uint64_t v = 0;
    memcpy(&v,
           g->frame->params + (size_t)lane * g->frame->function->frame_params +
               i->call->args[n].value,
           sizeof v);
    return v;
}
void ptx_set_result(struct group *g, const struct instruction *i, unsigned lane, uint64_t v,
                    unsigned size)
{
    if (i->call->result.kind != O_PARAM)
        return;
    size_t at = (size_t)lane * g->frame->function->frame_params + i->call->result.value;
    memcpy(g->frame->params + at, &v, size);
    memset(g->frame->param_shadow + at, SHADOW_DEFINED, size);
}

char *ptx_device_string(struct group *g, const struct instruction *i, unsigned lane, uint64_t at)
{
    struct instruction byte = *i;
    size_t size = 256;
    char *text = malloc(size);
    byte.space = S_GENERIC;
    for (size_t n = 0; text; n++) {
        if (n == size) {
            char *more = realloc(text, size *= 2);
            if (!more)
                free(text);
            text = more;
        }
        struct bytes b = ptx_resolve(g, &byte, lane, at + n, 1);
        if (text)
            text[n] = b.data ? (char)*b.data : 0;
        if (text && !text[n])
            break;
    }
    return text;
}

static char *string_argument(struct group *g, const struct instruction *i, unsigned n,
                             unsigned lane)
{
    return ptx_device_string(g, i, lane, ptx_argument(g, i, n, lane));
}

HANDLER(device_assertfail)
{
    unsigned lane = (unsigned)__builtin_ctz(m);
    char *message = string_argument(g, i, 0, lane), *file = string_argument(g, i, 1, lane),
         *function = string_argument(g, i, 3, lane);
    fflush(stdout);
    fprintf(stderr, "%s:%u: %s: team %u, thread %u: Assertion `%s' failed.\n", file ? file : "",
            (uint32_t)ptx_argument(g, i, 2, lane), function ? function : "", g->warp->team->number,
            g->warp->number * WARP + lane, message ? message : "");
    free(message);
    free(file);
    free(function);
    ptx_fault(g, i, lane, CUDA_ERROR_ASSERT, "an assertion failed");
}

HANDLER(device_malloc)
{
    EACH_LANE(l, m) {
        uint64_t size = ptx_argument(g, i, 0, l);
        uint64_t p = ptx_global_alloc(g->warp->team->launch->device, size);
        if (ptx_racing && p)
            ptx_race_allocated(p, size);
        ptx_set_result(g, i, l, p, 8);
    }
}
HANDLER(device_free)
{
    EACH_LANE(l, m) {
        uint64_t p = ptx_argument(g, i, 0, l);
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
    } functions[] = { { "vprintf", ptx_device_vprintf },
                      { "__assertfail", device_assertfail },
                      { "malloc", device_malloc },
                      { "free", device_free } };
    for (unsigned k = 0; k < sizeof functions / sizeof *functions; k++)
        if (!strcmp(functions[k].name, name))
            return functions[k].run;
    return NULL;
}
