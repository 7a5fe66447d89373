/* table.c - OMPGPU_PTX_PROFILE=1 (and OMPGPU_PROFILE=1): a line for each kernel, then the source
 * lines that cost most in vain, each with what to do about it. */
#include <stdlib.h>
#include "hostrt/ptx/profile/profile.h"

enum { MOST_LINES = 10 };
struct finding {
    const struct line *line;
    double waste; /* in sectors, or what costs as much */
    char text[320];
};

/* ------------------------------------------------------------------ what is wrong with a line */
static void describe_pattern(char *text, size_t size, const struct counter *c, const char *verb)
{
    unsigned element = c->element;
    long long stride = c->stride < 0 ? -c->stride : c->stride;
    if (2 * c->strided >= c->sectors && element && stride % (long long)element == 0)
        snprintf(text, size,
                 "neighbouring threads %s addresses %lld x %u bytes apart; exchange the loops or "
                 "the layout",
                 verb, stride / (long long)element, element);
    else if (2 * c->strided >= c->sectors)
        snprintf(text, size,
                 "neighbouring threads %s addresses %lld bytes apart; an array for each member "
                 "instead of an array of structures",
                 verb, stride);
    else
        snprintf(text, size,
                 "neighbouring threads %s addresses far apart; sort the indices, or bring what is "
                 "used together into shared memory",
                 verb);
}

static double sectors_in_vain(const struct counter *c, const char *verb, char *text, size_t size)
{
    char what[200];
    if (c->sectors <= c->needed / 16 || c->sectors <= 2 * c->requests)
        return 0;
    describe_pattern(what, sizeof what, c, verb);
    snprintf(text, size, "%.1f sectors a request, %.0f %% of the bytes that move are used: %s",
             ratio(c->sectors, c->requests), 100 * ratio(c->needed, c->sectors * 32), what);
    return (double)c->sectors - (double)c->needed / 32;
}
static double loads_in_vain(const struct totals *t, char *text, size_t size)
{
    return sectors_in_vain(&t->by_class[C_LOAD], "read", text, size);
}
static double stores_in_vain(const struct totals *t, char *text, size_t size)
{
    return sectors_in_vain(&t->by_class[C_STORE], "write", text, size);
}
static double replays(const struct totals *t, char *text, size_t size)
{
    if (t->all.replays <= t->all.shared)
        return 0;
    snprintf(text, size,
             "%.1f bank conflicts a request in shared memory: pad the rows by an element",
             ratio(t->all.replays, t->all.shared));
    return (double)t->all.replays;
}
static double meetings(const struct totals *t, char *text, size_t size)
{
    const struct counter *c = &t->by_class[C_ATOMIC];
    if (2 * c->met <= c->updates)
        return 0;
    snprintf(text, size,
             "%.0f %% of the atomic updates meet another one of the warp at their address: a "
             "reduction, or a copy for each team",
             100 * ratio(c->met, c->updates));
    return (double)c->met;
}
static double idle_lanes(const struct totals *t, char *text, size_t size)
{
    if (2 * t->all.threads >= WARP * t->all.warps)
        return 0;
    snprintf(text, size,
             "%.1f of 32 lanes are active on average: let neighbouring threads take the same way",
             ratio(t->all.threads, t->all.warps));
    return (double)(WARP * t->all.warps - t->all.threads) / WARP;
}

/* ------------------------------------------------------------------ the worst ones */
static int by_waste(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    return (x->waste < y->waste) - (x->waste > y->waste);
}

/* What costs less than a hundredth of the kernel's warp instructions is not worth a line. */
static unsigned find_in_kernel(const struct kernel *k, struct finding *found)
{
    static double (*const checks[])(const struct totals *, char *,
                                    size_t) = { loads_in_vain, stores_in_vain, replays, meetings,
                                                idle_lanes };
    unsigned n = 0;
    for (unsigned l = 0; l < k->nlines; l++)
        for (unsigned c = 0; c < sizeof checks / sizeof *checks; c++) {
            struct finding *f = &found[n];
            f->line = &k->lines[l];
            f->waste = checks[c](&k->lines[l].sum, f->text, sizeof f->text);
            n += f->waste > 0 && 100 * f->waste >= (double)k->sum.all.warps;
        }
    return n;
}

static void print_lines(FILE *f, const struct kernel *kernels)
{
    unsigned room = 0, n = 0;
    for (const struct kernel *k = kernels; k; k = k->next)
        room += 5 * k->nlines;
    struct finding *found = calloc(room + 1, sizeof *found);
    if (!found)
        return;
    for (const struct kernel *k = kernels; k; k = k->next)
        n += find_in_kernel(k, found + n);
    qsort(found, n, sizeof *found, by_waste);
    for (unsigned i = 0; i < n && i < MOST_LINES; i++)
        fprintf(f, "%s:%u: %s\n", found[i].line->file, found[i].line->number, found[i].text);
    if (n > MOST_LINES)
        fprintf(f, "(and %u more)\n", n - MOST_LINES);
    free(found);
}

static void print_kernel(FILE *f, const struct kernel *k)
{
    const struct counter *all = &k->sum.all;
    char registers[16] = "-", occupancy[16] = "-";
    if (k->registers) {
        snprintf(registers, sizeof registers, "%u", k->registers);
        snprintf(occupancy, sizeof occupancy, "%.0f%%",
                 100 * ptx_occupancy(k, &k->launches[k->nlaunches - 1]));
    }
    fprintf(f,
            "%-20.40s %6llu %9llu %13llu %9.1f %6.2f %6.2f %6.2f %5.0f%% %8llu %8llu %8llu %8llu "
            "%5s %5s\n",
            k->name, (unsigned long long)k->count, (unsigned long long)k->threads,
            (unsigned long long)all->threads, ratio(all->threads, k->threads),
            ratio(all->threads, all->warps),
            ratio(k->sum.by_class[C_LOAD].sectors, k->sum.by_class[C_LOAD].requests),
            ratio(k->sum.by_class[C_STORE].sectors, k->sum.by_class[C_STORE].requests),
            100 * ratio(all->needed, all->sectors * 32), (unsigned long long)all->replays,
            (unsigned long long)k->sum.barriers, (unsigned long long)all->updates,
            (unsigned long long)all->diverged, registers, occupancy);
}

void ptx_print_profile(FILE *f, const struct kernel *kernels)
{
    fprintf(f, "%-20s %6s %9s %13s %9s %6s %13s %6s %8s %8s %8s %8s %5s %5s\n", "", "", "",
            "thread", "a", "active", "sectors a", "bytes", "bank", "", "", "diver-", "regis",
            "occu");
    fprintf(f, "%-20s %6s %9s %13s %9s %6s %6s %6s %6s %8s %8s %8s %8s %5s %5s\n", "kernel", "runs",
            "threads", "instructions", "thread", "lanes", "load", "store", "used", "replays",
            "barriers", "atomics", "gent", "ters", "pancy");
    for (const struct kernel *k = kernels; k; k = k->next)
        print_kernel(f, k);
    print_lines(f, kernels);
}
