/* info.c - the info file: what the driver has to know of kernels and of a device link. */
#include "codegen/ir/report/report.h"
#include "driver/base/protocol.h"

/* What must be the same on both targets. */
static const char *how(const struct ir_kernel *k)
{
    if (!k->late)
        return k->mode == IR_SPMD ? "SPMD" : "generic";
    return mem_printf("SPMD with %u guards, %u bytes broadcast, %u barriers", k->guards,
                      k->broadcast_bytes, k->placed);
}

static struct proto_kernel kernel_record(const struct ir_kernel *k)
{
    return (struct proto_kernel){ .name = k->name,
                                  .function = k->function,
                                  .file = k->at.file,
                                  .directive = k->directive,
                                  .line = k->at.line,
                                  .column = k->at.column,
                                  .mode = k->mode,
                                  .max_threads = k->max_threads,
                                  .reduce_bytes = k->reduce_bytes,
                                  .flags = k->flags,
                                  .uses = k->uses,
                                  .heap_bytes = k->heap_bytes,
                                  .block_bytes = k->block_bytes,
                                  .copy_bytes = k->copy_bytes,
                                  .frame_bytes = k->frame_bytes,
                                  .shape = k->shape ? k->shape : "",
                                  .how = how(k) };
}

static const char *outcome(const struct ir_unit *u, const struct ir_kernel *k)
{
    return proto_write_outcome(&(struct proto_outcome){ .name = k->name,
                                                        .shared_bytes = k->shared_bytes,
                                                        .runs = ir_kernel_runs(k),
                                                        .says = ir_kernel_says(u, k) });
}

bool ir_write_info(struct ir_unit *u)
{
    struct text t = { 0 };
    for (unsigned i = 0; i < u->nkernels; i++) {
        struct proto_kernel k = kernel_record(&u->kernels[i]);
        text_printf(&t, "%s\n", proto_write_kernel(&k));
        if (u->kernels[i].input->report)
            text_printf(&t, "%s\n", outcome(u, &u->kernels[i]));
    }
    for (unsigned i = 0; u->opt->link && i < u->opt->ninputs; i++)
        if (u->members[i])
            text_printf(&t, "%s\n", proto_write_taken(&(struct proto_taken){ .member = i }));
    for (unsigned i = 0; i < u->naliases; i++) {
        const struct ir_alias *a = &u->aliases[i];
        struct proto_alias alias = { .member = a->input, .name = a->name, .symbol = a->symbol };
        text_printf(&t, "%s\n", proto_write_alias(&alias));
    }
    return !u->opt->info || ir_write_file(u->opt->info, t.s, t.n);
}
