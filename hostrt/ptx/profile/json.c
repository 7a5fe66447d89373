/* json.c - OMPGPU_PTX_PROFILE=FILE: everything that was counted, as JSON (man libompgpu). */
#include "hostrt/json_string.h"
#include "hostrt/ptx/profile/profile.h"

static void number(FILE *f, const char *name, uint64_t n)
{
    fprintf(f, ", \"%s\": %llu", name, (unsigned long long)n);
}
static void three(FILE *f, const char *name, const unsigned *n)
{
    fprintf(f, ", \"%s\": [%u, %u, %u]", name, n[0], n[1], n[2]);
}

static void access(FILE *f, const char *name, const struct counter *c)
{
    fprintf(f, ", \"%s\": {\"requests\": %llu", name, (unsigned long long)c->requests);
    number(f, "sectors", c->sectors);
    number(f, "bytes_needed", c->needed);
    number(f, "bytes_moved", c->sectors * 32);
    fprintf(f, ", \"sectors_a_request\": %.3f", ratio(c->sectors, c->requests));
    if (c->strided)
        fprintf(f, ", \"stride\": %lld", (long long)c->stride);
    number(f, "strided_sectors", c->strided);
    fputc('}', f);
}

/* The members that launches, kernels and lines have in common. */
static void write_totals(FILE *f, const struct totals *t)
{
    static const char *const classes[NCLASSES] = {
        [C_OTHER] = "other",   [C_INTEGER] = "integer",
        [C_FLOAT] = "float",   [C_CONTROL] = "control",
        [C_LOAD] = "load",     [C_STORE] = "store",
        [C_ATOMIC] = "atomic", [C_SYNC] = "synchronisation",
    };
    number(f, "thread_instructions", t->all.threads);
    number(f, "warp_instructions", t->all.warps);
    fprintf(f, ", \"average_active_lanes\": %.3f, \"classes\": {",
            ratio(t->all.threads, t->all.warps));
    for (int c = 0; c < NCLASSES; c++)
        fprintf(f, "%s\"%s\": {\"thread\": %llu, \"warp\": %llu}", c ? ", " : "", classes[c],
                (unsigned long long)t->by_class[c].threads,
                (unsigned long long)t->by_class[c].warps);
    fputc('}', f);
    access(f, "loads", &t->by_class[C_LOAD]);
    access(f, "stores", &t->by_class[C_STORE]);
    number(f, "sectors", t->all.sectors);
    number(f, "shared_requests", t->all.shared);
    number(f, "bank_conflict_replays", t->all.replays);
    number(f, "atomics", t->all.updates);
    number(f, "atomics_that_met", t->all.met);
    number(f, "barriers", t->barriers);
    number(f, "divergent_branches", t->all.diverged);
}

static void write_launches(FILE *f, const struct kernel *k)
{
    fprintf(f, ",\n   \"launches\": [");
    for (unsigned n = 0; n < k->nlaunches; n++) {
        const struct launch_totals *l = &k->launches[n];
        fprintf(f, "%s\n    {\"number\": %llu", n ? "," : "", (unsigned long long)l->number);
        three(f, "grid", l->grid);
        three(f, "block", l->block);
        number(f, "dynamic_shared_bytes", l->dynamic_shared);
        if (k->registers)
            fprintf(f, ", \"occupancy\": %.3f", ptx_occupancy(k, l));
        write_totals(f, &l->sum);
        fputc('}', f);
    }
    fprintf(f, "]");
}

static void write_lines(FILE *f, const struct kernel *k)
{
    fprintf(f, ",\n   \"lines\": [");
    for (unsigned n = 0; n < k->nlines; n++) {
        fprintf(f, "%s\n    {\"file\": ", n ? "," : "");
        json_string(f, k->lines[n].file);
        number(f, "line", k->lines[n].number);
        write_totals(f, &k->lines[n].sum);
        fputc('}', f);
    }
    fprintf(f, "]");
}

void ptx_write_profile(FILE *f, const struct kernel *kernels)
{
    fprintf(f, "{\"device\": \"sm_%u\", \"kernels\": [", ptx_settings.arch);
    for (const struct kernel *k = kernels; k; k = k->next) {
        fprintf(f, "\n  {\"kernel\": ");
        json_string(f, k->name);
        number(f, "launched", k->count);
        number(f, "teams", k->teams);
        number(f, "threads", k->threads);
        number(f, "shared_bytes", k->shared);
        if (k->registers)
            number(f, "registers", k->registers);
        write_totals(f, &k->sum);
        write_launches(f, k);
        write_lines(f, k);
        fprintf(f, "}%s", k->next ? "," : "");
    }
    fprintf(f, "]}\n");
}
