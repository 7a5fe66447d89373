/* profile_table.c - OMPGPU_PROFILE=1: a table for regions, one for copies, one for allocations, and
 * hints at what a program could do better. */
#include <errno.h>
#include <string.h>
#include "hostrt/core/profile.h"

enum { MOST_ROWS = 20, CROSSINGS = 10 };

char *ompgpu_human_bytes(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
    double value = (double)bytes;
    unsigned unit = 0;
    for (; value >= 1024 && unit < 4; unit++)
        value /= 1024;
    snprintf(text, size, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

static double share_of(const struct ompgpu_profile *p, double ms)
{
    return p->ms > 0 ? 100 * ms / p->ms : 0;
}

static double sum_of(const struct ompgpu_profile *p, unsigned kinds)
{
    double ms = 0;
    for (unsigned i = 0; i < p->nrows; i++)
        if (kinds >> p->rows[i]->kind & 1)
            ms += p->rows[i]->ms;
    return ms;
}

enum {
    REGIONS = 1 << OMPGPU_PROFILE_REGION,
    CROSSES = 1 << OMPGPU_PROFILE_TO | 1 << OMPGPU_PROFILE_FROM,
    COPIES = CROSSES | 1 << OMPGPU_PROFILE_BETWEEN,
    MEMORY = 1 << OMPGPU_PROFILE_ALLOC
};

/* "app.c:14 " */
static void print_place(FILE *f, const struct ompgpu_profile_row *r)
{
    if (r->line)
        fprintf(f, "%s:%u ", r->file, r->line);
}

/* ------------------------------------------------------------------ tables */
static void print_region(FILE *f, const struct ompgpu_profile_row *r)
{
    char text[32];
    print_place(f, r);
    fprintf(f, "%s: %s%u team%s x %u thread%s", r->name, r->varies ? "at last " : "",
            r->geometry.teams, r->geometry.teams == 1 ? "" : "s", r->geometry.threads,
            r->geometry.threads == 1 ? "" : "s");
    if (r->registers)
        fprintf(f, ", %u registers", r->registers);
    if (r->stack)
        fprintf(f, ", stack %s", ompgpu_human_bytes(r->stack, text, sizeof text));
    if (r->shared)
        fprintf(f, ", shared %s", ompgpu_human_bytes(r->shared, text, sizeof text));
    if (r->occupancy > 0)
        fprintf(f, ", occupancy %.0f %%", 100 * r->occupancy);
}

static void print_copy(FILE *f, const struct ompgpu_profile_row *r)
{
    char bytes[32], rate[32] = "-";
    if (r->ms > 0)
        ompgpu_human_bytes((uint64_t)((double)r->timed_bytes / r->ms * 1e3), rate, sizeof rate);
    fprintf(f, "%10s %10s/s  ", ompgpu_human_bytes(r->bytes, bytes, sizeof bytes), rate);
    print_place(f, r);
    fprintf(f, "%.40s%s%s: %s%s", r->directive,
            strlen(r->directive) > 40 ? "…, "
            : *r->directive           ? ", "
                                      : "",
            ompgpu_profile_kind_name(r->kind) + strlen("copy "), r->name,
            r->implicit ? " (implicit)" : "");
}

static void print_allocation(FILE *f, const struct ompgpu_profile_row *r)
{
    char bytes[32];
    fprintf(f, "%10s  ", ompgpu_human_bytes(r->bytes, bytes, sizeof bytes));
    print_place(f, r);
    fputs(r->name, f);
}

static void print_chunk(FILE *f, const struct ompgpu_profile_row *r)
{
    char bytes[32];
    fprintf(f, "%6d %6lu %10s  ", r->device, r->chunk,
            ompgpu_human_bytes(r->bytes, bytes, sizeof bytes));
    print_place(f, r);
    fputs(r->directive, f);
}

static const struct section {
    unsigned kinds;
    const char *columns;
    void (*print)(FILE *, const struct ompgpu_profile_row *);
} sections[] = {
    { REGIONS, "region", print_region },
    { COPIES, "     bytes         rate  copy", print_copy },
    { MEMORY, "     bytes  allocation", print_allocation },
    { 1 << OMPGPU_PROFILE_CHUNK, "device  chunk      bytes  spread", print_chunk },
};

static void print_section(FILE *f, const struct ompgpu_profile *p, const struct section *s)
{
    unsigned printed = 0, more = 0;
    for (unsigned i = 0; i < p->nrows; i++) {
        const struct ompgpu_profile_row *r = p->rows[i];
        if (!(s->kinds >> r->kind & 1))
            continue;
        if (printed == MOST_ROWS) {
            more++;
            continue;
        }
        if (!printed++)
            fprintf(f, "%10s %6s %8s %9s %9s  %s\n", "ms", "share", "count", "average", "longest",
                    s->columns);
        fprintf(f, "%10.3f %5.1f%% %8llu %9.4f %9.4f  ", r->ms, share_of(p, r->ms),
                (unsigned long long)r->count, r->timed ? r->ms / (double)r->timed : 0, r->longest);
        s->print(f, r);
        fputc('\n', f);
    }
    if (more)
        fprintf(f, "(and %u more)\n", more);
}

/* ------------------------------------------------------------------ hints */
static void hint_at_copies(FILE *f, const struct ompgpu_profile *p,
                           const struct ompgpu_profile_row *r)
{
    char bytes[32];
    if (!(CROSSES >> r->kind & 1) || r->count < CROSSINGS || share_of(p, r->ms) < 1)
        return;
    print_place(f, r);
    fprintf(
        f,
        "hint: %s goes %s the device %llu times, %s in all%s: keep it there (target data around "
        "what uses it, or target enter data)\n",
        r->name, r->kind == OMPGPU_PROFILE_TO ? "to" : "back from", (unsigned long long)r->count,
        ompgpu_human_bytes(r->bytes, bytes, sizeof bytes),
        r->implicit ? ", by an implicit map" : "");
}

static void hint_at_launches(FILE *f, const struct ompgpu_profile *p,
                             const struct ompgpu_profile_row *r)
{
    if (r->kind != OMPGPU_PROFILE_REGION || share_of(p, r->ms) < 5)
        return;
    if (r->geometry.teams == 1 && r->multiprocessors > 1 && !r->varies) {
        print_place(f, r);
        fprintf(f,
                "hint: %s runs on one team, which is one multiprocessor of %u: target teams "
                "distribute parallel for\n",
                r->name, r->multiprocessors);
    }
    if (r->occupancy > 0 && r->occupancy < 0.5 && r->by_registers) {
        print_place(f, r);
        fprintf(f, "hint: %s: occupancy %.0f %%, limited by its %u registers\n", r->name,
                100 * r->occupancy, r->registers);
    }
}

static void hint_at_host(FILE *f, const struct ompgpu_profile_row *r)
{
    if (r->kind != OMPGPU_PROFILE_HOST)
        return;
    print_place(f, r);
    fprintf(f, "hint: %s ran on the host, %llu times\n", r->name, (unsigned long long)r->count);
}

void ompgpu_profile_print(FILE *f, const struct ompgpu_profile *p)
{
    char most[32];
    double regions = sum_of(p, REGIONS), copies = sum_of(p, COPIES), memory = sum_of(p, MEMORY),
           rest = p->ms - regions - copies - memory;
    fprintf(f,
            "ompgpu: profile of %s on %s%s: %.1f ms; regions %.1f %%, copies %.1f %%, allocations "
            "%.1f %%, the host alone %.1f %%; at most %s of device memory\n",
            program_invocation_short_name, p->device,
            p->simulated ? " (times of the simulation)" : "", p->ms, share_of(p, regions),
            share_of(p, copies), share_of(p, memory), rest > 0 ? share_of(p, rest) : 0,
            ompgpu_human_bytes(p->most_bytes, most, sizeof most));
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        print_section(f, p, &sections[i]);
    for (unsigned i = 0; i < p->nrows; i++) {
        hint_at_copies(f, p, p->rows[i]);
        hint_at_launches(f, p, p->rows[i]);
        hint_at_host(f, p->rows[i]);
    }
}
