/* regions.c - what became of each target region, in the user's words (-Rompgpu): a block a region.
 *
 *   app.c:9:13: remark: region 'main_9': all threads of each team run it (SPMD mode) [-Rompgpu]
 *       9 | #pragma omp target teams distribute parallel for map(to: a)
 *         |             ^
 *           loop       line 10 ('i', 1000 iterations): divided among the threads of all teams
 *           data       copied to the device, unless present: 'a' (8000 bytes)
 *           launch     a thread for each iteration
 *           threads    128 a team …
 *           sm_90      32 registers, no shared memory, no stack, no spills; occupancy 100 % …
 *
 * omp-split says who runs what and what is mapped (records `region` of the device text), omp-device
 * how (the info file), ptxas what a thread needs.  A file whose device code is finished by the
 * link has its records in its object, and the link says the rest (link/device_link.c). */
#include "driver/base/file.h"
#include "driver/base/diag.h"
#include "driver/image/image.h"
#include "driver/pipeline/stages.h"
#include "hostrt/occupancy.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ records */
const char *drv_region_records(const char *device_text)
{
    struct text t = { 0 };
    struct proto_region r;
    for (const char *p = strchr(device_text, '\n'); p && text_starts(p + 1, "// ");) {
        const char *line = p + 1 + strlen("// ");
        if (!proto_read_region(line, &r))
            break;
        p = strchr(line, '\n');
        text_add(&t, line, strcspn(line, "\n") + (p != NULL));
    }
    return t.s;
}

struct regions {
    VEC(struct proto_region) list;
    const struct proto_kernel *kernels;
    const struct proto_outcome *outcomes;
    unsigned nkernels, noutcomes;
};

static struct regions read_regions(const struct job *j)
{
    struct regions all = { 0 };
    const char *records = j->device_link ? j->device_link->regions : j->regions;
    struct proto_region r;
    for (const char *p = records; p && proto_read_region(p, &r);
         p = (p = strchr(p, '\n')) ? p + 1 : NULL)
        *VEC_PUSH(NULL, &all.list) = r;
    const char *info = drv_job_file(j, drv_makes_gpu_image(j) ? "nvptx64.info" : "x86_64.info");
    if (!drv_ends_with_bitcode(j)) {
        all.kernels = drv_read_kernels(info, &all.nkernels);
        all.outcomes = drv_read_outcomes(info, &all.noutcomes);
    }
    return all;
}

/* The device link may have renamed the kernel, so that its place counts there. */
static const struct proto_region *find_region(const struct regions *all,
                                              const struct proto_kernel *k, bool linked)
{
    for (unsigned i = 0; i < all->list.n; i++) {
        const struct proto_region *r = &all->list.at[i];
        if (linked ? r->line == k->line && r->column == k->column && !strcmp(r->file, k->file) &&
                         !strcmp(r->function, k->function)
                   : !strcmp(r->name, k->name))
            return r;
    }
    return NULL;
}

static const struct proto_kernel *find_kernel(const struct regions *all, const char *name)
{
    for (unsigned i = 0; i < all->nkernels; i++)
        if (strcmp(all->kernels[i].name, name) == 0)
            return &all->kernels[i];
    return NULL;
}

/* ------------------------------------------------------------------ what ptxas says */
static const char *bytes(unsigned n, const char *of)
{
    return n ? mem_printf("%u bytes of %s", n, of) : mem_printf("no %s", of);
}

static bool is_form(const struct proto_kernel *k) { return k->flags & OMPGPU_KERNEL_FORM; }

/* Another form of a kernel has its name, and more. */
static bool is_form_of(const struct proto_kernel *form, const struct proto_kernel *k)
{
    return is_form(form) && form->line == k->line && form->column == k->column &&
           text_starts(form->name, k->name);
}

static const char *name_of_form(const struct proto_kernel *k)
{
    switch (k->flags & OMPGPU_KERNEL_FORM) {
    case OMPGPU_KERNEL_STRIDED: return "fewer threads than iterations: ";
    case OMPGPU_KERNEL_WIDE: return "several iterations a thread: ";
    case OMPGPU_KERNEL_LANES: return "several lanes an iteration: ";
    case OMPGPU_KERNEL_TILED: return "teams with tiles of the nest: ";
    default: return "";
    }
}

static void say_stats(struct text *t, const char *arch, const struct proto_kernel *k,
                      const struct kernel_stats *s, unsigned threads)
{
    unsigned sm = (unsigned)strtoul(arch + strlen("sm_"), NULL, 10);
    text_printf(t, "%s\t%s%u registers, %s, %s, %s; occupancy %.0f %% with %u thread%s a team\n",
                arch, name_of_form(k), s->registers, bytes(s->shared, "shared memory"),
                bytes(drv_stack_bytes(s, (unsigned)k->flags), "stack"), bytes(s->spills, "spills"),
                100 * ompgpu_occupancy(sm, s->registers, s->shared, threads), threads,
                threads == 1 ? "" : "s");
}

static void say_arch(struct text *t, const struct job *j, unsigned arch, const struct regions *all,
                     const struct proto_kernel *k, unsigned threads)
{
    unsigned n;
    const struct kernel_stats *stats = drv_read_ptxas(drv_stage_err(j, PTXAS, arch), &n);
    for (unsigned f = 0; f < all->nkernels; f++) {
        const struct proto_kernel *form = &all->kernels[f];
        for (unsigned i = 0; i < n && (form == k || is_form_of(form, k)); i++)
            if (strcmp(stats[i].name, form->name) == 0 && stats[i].registers)
                say_stats(t, drv_arch_name(&j->archs, arch), form, &stats[i], threads);
    }
}

/* The emulated device's own memory is of no interest. */
static void say_hardware(struct text *t, const struct job *j, const struct regions *all,
                         const struct proto_kernel *k, unsigned shared, unsigned threads)
{
    if (drv_runs_ptxas(j))
        for (unsigned i = 0; i < j->archs.n; i++)
            say_arch(t, j, i, all, k, threads);
    else if (drv_makes_gpu_image(j))
        text_printf(t, "GPU\t%s; ptxas, which did not run, knows registers, stack and spills\n",
                    bytes(shared, "shared memory"));
}

/* ------------------------------------------------------------------ a block */
struct block {
    struct diag_place place;
    const char *name, *function, *head;
    char *lines; /* LABEL \t TEXT */
};

/* The next of the lines; NULL: none. */
static const char *next_line(char **rest, const char **label)
{
    char *line = text_line(rest), *tab = line ? strchr(line, '\t') : NULL;
    if (!tab)
        return NULL;
    *tab = '\0';
    *label = line;
    return tab + 1;
}

static void show_block(struct block *b)
{
    struct text t = { 0 };
    char *rest = mem_strdup(b->lines);
    const char *words, *label, *last = "";
    while ((words = next_line(&rest, &label))) {
        text_printf(&t, "        %-10s %s\n", strcmp(label, last) == 0 ? "" : label, words);
        last = label;
    }
    b->place.more = t.s;
    diag_at(&b->place, DIAG_REMARK, "region '%s': %s [-Rompgpu]", b->name, b->head);
}

/* As a string of YAML. */
static void put_quoted(FILE *f, const char *s)
{
    fputc('\'', f);
    for (; *s; s++)
        fputs(*s == '\'' ? "''" : (char[]){ *s, '\0' }, f);
    fputs("'\n", f);
}

/* A document of LLVM's optimisation record (docs: Remarks). */
static void record_block(FILE *f, const struct block *b)
{
    char *rest = mem_strdup(b->lines);
    const char *words, *label;
    fputs("--- !Analysis\nPass:            ompgpu\nName:            Region\n"
          "DebugLoc:        { File: ",
          f);
    put_quoted(f, b->place.file);
    fprintf(f, "                   , Line: %u, Column: %u }\nFunction:        ", b->place.line,
            b->place.column);
    put_quoted(f, b->function);
    fputs("Args:\n  - Region:          ", f);
    put_quoted(f, b->name);
    fputs("  - String:          ", f);
    put_quoted(f, mem_printf(": %s", b->head));
    while ((words = next_line(&rest, &label))) {
        fputs("  - String:          ", f);
        put_quoted(f, mem_printf("; %s: %s", label, words));
    }
    fputs("...\n", f);
}

static void report_block(const struct job *j, struct block *b)
{
    const char *record = drv_record_file(j);
    FILE *f = record ? fopen(record, "a") : NULL;
    show_block(b);
    if (!f)
        return;
    record_block(f, b);
    if (fclose(f) != 0)
        diag_warning("cannot write '%s': %s", record, strerror(errno));
}

/* A macro may have moved what follows it: then the column is not the user's. */
static struct block make_block(const struct job *j, const char *file, uint64_t line,
                               uint64_t column)
{
    struct block b = { .place = {
                           .file = file, .line = (unsigned)line, .column = (unsigned)column } };
    struct diag_place *p = &b.place;
    const char *users = file_line(file, p->line, &p->length);
    p->text =
        j->device_link ? users : file_plain_line(file, p->line, drv_preprocessed(j), &p->length);
    if (users && !p->text)
        p->column = 0;
    return b;
}

/* What omp-split says, without the line about threads where there is one thread after all. */
static const char *known_before(const struct proto_region *r, bool serial)
{
    struct text t = { 0 };
    char *rest = r ? mem_strdup(r->says) : NULL;
    for (const char *words, *label; (words = next_line(&rest, &label));)
        if (!serial || strcmp(label, "threads") != 0)
            text_printf(&t, "%s\t%s\n", label, words);
    return t.s ? t.s : "";
}

static void report_kernel(const struct job *j, const struct regions *all,
                          const struct proto_kernel *k, const struct proto_outcome *o)
{
    const struct proto_region *r = find_region(all, k, j->device_link != NULL);
    const bool serial = k->mode == OMPGPU_MODE_GENERIC && !(k->flags & OMPGPU_KERNEL_WORKERS);
    const unsigned usual = 128, threads = serial ? 1 : r ? (unsigned)r->threads : usual;
    struct block b = make_block(j, k->file, k->line, k->column);
    struct text t = { 0 };
    text_printf(&t, "%s%s%s", known_before(r, serial), serial ? "threads\t1 a team\n" : "",
                o->says);
    say_hardware(&t, j, all, k, (unsigned)o->shared_bytes, threads);
    b.name = k->name;
    b.function = k->function;
    b.head = o->runs;
    b.lines = t.s;
    report_block(j, &b);
}

static void report_deferred(const struct job *j, const struct proto_region *r)
{
    struct block b = make_block(j, r->file, r->line, r->column);
    b.name = r->name;
    b.function = r->function;
    b.head = "how it runs is known when the program is linked";
    b.lines = mem_printf("%slink\tmode, shared memory, registers, stack, spills and occupancy: the "
                         "file uses device code of other files\n",
                         r->says);
    report_block(j, &b);
}

void drv_report_regions(const struct job *j)
{
    if (!j->opt->report && !j->device_link)
        return;
    struct regions all = read_regions(j);
    for (unsigned i = 0; i < all.noutcomes; i++) {
        const struct proto_kernel *k = find_kernel(&all, all.outcomes[i].name);
        if (k && !is_form(k))
            report_kernel(j, &all, k, &all.outcomes[i]);
    }
    for (unsigned i = 0; drv_ends_with_bitcode(j) && i < all.list.n; i++)
        report_deferred(j, &all.list.at[i]);
}
