/* says.c - what became of a kernel, in the user's words: for the command, which adds what the
 * source and ptxas say (driver/pipeline/remarks.c). */
#include "codegen/ir/report/report.h"
#include "codegen/ir/spmd/spmd.h"
#include <string.h>

const char *ir_kernel_runs(const struct ir_kernel *k)
{
    if (k->late)
        return "all threads of each team run it, thread 0 alone what others could see (SPMD mode)";
    if (k->mode == IR_SPMD)
        return "all threads of each team run it (SPMD mode)";
    if (!(k->flags & OMPGPU_KERNEL_WORKERS))
        return "one thread of each team runs it (generic mode)";
    return "one thread of each team runs what is outside of parallel regions, the others wait "
           "(generic mode)";
}

const char *ir_generic_reason(const struct ir_unit *u, const struct ir_kernel *k)
{
    if (k->input->mode == IR_MODE_GENERIC)
        return "by -fompgpu-mode=generic";
    if (!ir_wants_spmd(u, k->input))
        return "at -O0 with -g, where one thread is easier to follow";
    return k->why ? mem_printf("because of %s", k->why) : "";
}

static const char *line_of(struct ir_place at)
{
    return at.file && at.line ? mem_printf(" in line %u", at.line) : "";
}

static void say_reason(const struct ir_unit *u, const struct ir_kernel *k, struct text *t)
{
    if (k->mode == IR_SPMD || !(k->flags & OMPGPU_KERNEL_WORKERS))
        return;
    const char *reason = ir_generic_reason(u, k);
    if (*reason)
        text_printf(t, "mode\t%s%s%s%s\n", reason, k->why ? line_of(k->why_at) : "",
                    k->remedy ? "; " : "", k->remedy ? k->remedy : "");
}

/* "line 5: "; "" where the note only has the region's place. */
static const char *place_of(const struct ir_kernel *k, const struct ir_note *n)
{
    return n->at.line == k->at.line && n->at.column == k->at.column
               ? ""
               : mem_printf("line %u: ", n->at.line);
}

static void say_variables(const struct ir_kernel *k, struct text *t)
{
    static const char *const told[] = { "OMP111", "OMP112", "OMP113" };
    for (const struct ir_note *n = k->notes; n; n = n->next)
        for (unsigned i = 0; i < sizeof told / sizeof *told; i++)
            if (strcmp(n->id, told[i]) == 0)
                text_printf(t, "memory\t%s%s\n", place_of(k, n), n->text);
}

const char *ir_kernel_says(const struct ir_unit *u, const struct ir_kernel *k)
{
    struct text t = { 0 };
    say_reason(u, k, &t);
    say_variables(k, &t);
    if (k->copy_bytes || k->more_copies || k->flags & OMPGPU_KERNEL_COPIES)
        text_printf(&t,
                    "memory\tglobal memory for copies of reduced arrays: %s%llu bytes a thread\n",
                    k->more_copies || k->flags & OMPGPU_KERNEL_COPIES ? "more than " : "",
                    (unsigned long long)k->copy_bytes);
    return t.s;
}
