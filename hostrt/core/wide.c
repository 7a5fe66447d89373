/* wide.c - may the wide form of a kernel be launched?
 *
 * It reads before it writes what the kernel's text does the other way round, for the iterations of
 * a group (codegen/ir/passes/wide.c).  Here is known what only the host knows: the pointers and the
 * trip count, hence the ranges that the kernel accesses.  The form is right where nothing that is
 * written overlaps with what is accessed through another pointer, and where groups begin at
 * addresses that suit accesses of 16 bytes. */
#include <stdio.h>
#include "hostrt/core/core.h"

bool ompgpu_wide_parse(const char *text, struct ompgpu_wide *w)
{
    int used = 0;
    *w = (struct ompgpu_wide){ .n = 0 };
    if (sscanf(text, OMPGPU_LANES_FORMAT "%n", &w->lanes, &used) != 1 || !used || !w->lanes)
        return false;
    for (text += used; *text; text += used) {
        struct ompgpu_stream s;
        used = 0;
        if (w->n == OMPGPU_STREAMS ||
            sscanf(text, OMPGPU_STREAM_FORMAT "%n", &s.param, &s.written, &s.align, &s.offset,
                   &s.bytes, &s.stride, &used) != 6 ||
            !used)
            return false;
        w->streams[w->n++] = s;
    }
    return true;
}

struct extent { /* [begin, end) */
    uintptr_t begin, end;
};
static struct extent extent_of(const struct ompgpu_stream *s, uintptr_t pointer, uint64_t trip)
{
    uintptr_t first = pointer + (uintptr_t)s->offset,
              last = first + (uintptr_t)s->stride * (trip - 1);
    return s->stride < 0 ? (struct extent){ last, first + s->bytes }
                         : (struct extent){ first, last + s->bytes };
}

static bool overlap(struct extent a, struct extent b) { return a.begin < b.end && b.begin < a.end; }

bool ompgpu_wide_suits(const struct ompgpu_wide *w, const uintptr_t *pointers, uint64_t trip)
{
    struct extent extents[OMPGPU_STREAMS];
    for (unsigned i = 0; i < w->n; i++) {
        const struct ompgpu_stream *s = &w->streams[i];
        if ((pointers[i] + (uintptr_t)s->offset) % s->align)
            return false;
        extents[i] = extent_of(s, pointers[i], trip);
        for (unsigned k = 0; k < i; k++)
            if ((s->written || w->streams[k].written) && s->param != w->streams[k].param &&
                overlap(extents[i], extents[k]))
                return false;
    }
    return true;
}
