/* ptxas.c - what ptxas -v says of each kernel.
 *
 *   ptxas info    : Compiling entry function 'main_14' for 'sm_90'
 *   ptxas info    : Function properties for main_14
 *       40 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
 *   ptxas info    : Used 32 registers, used 1 barriers, 80 bytes cumulative stack size, 384 bytes
 *                   smem, 400 bytes cmem[0]        (one line)
 *
 * The cumulative size is missing where it is 0, and means little where recursion or a pointer to a
 * function hides calls; then the frames of all functions count.
 *
 * It is prose, but the cubin, whose format is not documented either, does not have it all.  Its
 * .nv.info has the registers (EIATTR_REGCOUNT).  EIATTR_FRAME_SIZE of a function that is called is
 * its frame for sm_75; for sm_90 and sm_100 it is the calling kernel's, 0 where that has none,
 * while ptxas reports, say, 56 bytes for a recursive function: a stack sized by it would overflow.
 * .nv.shared's size has the 1024 bytes in it that the system takes from sm_80 on. */
#include "driver/base/file.h"
#include "driver/base/mem.h"
#include "driver/base/text.h"
#include "driver/image/image.h"
#include <stdlib.h>
#include <string.h>

/* The number before `unit`; 0 where the line does not have it. */
static unsigned number_before(const char *line, const char *unit)
{
    const char *p = strstr(line, unit);
    if (!p)
        return 0;
    while (p > line && p[-1] == ' ')
        p--;
    while (p > line && p[-1] >= '0' && p[-1] <= '9')
        p--;
    return (unsigned)strtoul(p, NULL, 10);
}

struct kernel_stats *drv_read_ptxas(const char *path, unsigned *n)
{
    static const char entry[] = "Compiling entry function '";
    char *text = file_read(path, NULL);
    unsigned frames = 0;
    VEC(struct kernel_stats) list = { 0 };
    for (char *line; (line = text_line(&text));) {
        char *name = strstr(line, entry);
        if (name) {
            name += strlen(entry);
            VEC_PUSH(NULL, &list)->name = mem_strndup(name, strcspn(name, "'"));
        } else if (strstr(line, "Used ") && list.n) {
            struct kernel_stats *k = &list.at[list.n - 1];
            k->registers = number_before(line, "registers");
            k->shared = number_before(line, "bytes smem");
            k->stack = number_before(line, "bytes cumulative stack size");
        }
        frames += number_before(line, "bytes stack frame");
        if (list.n)
            list.at[list.n - 1].spills += number_before(line, "bytes spill stores");
    }
    for (unsigned i = 0; i < list.n; i++)
        list.at[i].frames = frames;
    *n = list.n;
    return list.at;
}

unsigned drv_stack_bytes(const struct kernel_stats *s, unsigned flags)
{
    return flags & OMPGPU_KERNEL_RECURSIVE ? s->frames : s->stack;
}
