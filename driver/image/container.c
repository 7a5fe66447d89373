/* container.c - the container of device images (hostrt/image.h), and its way into the host's
 * assembly.
 *
 *   header | image table | kernel table | alias table | strings | images, each aligned to 16
 *
 * The kernel table comes from the info files that omp-device wrote (driver/base/protocol.h).  The
 * GPU's file is the one that counts; the flags of the emulated device's file are added (what needs
 * fibers there). */
#include "driver/base/diag.h"
#include "driver/base/file.h"
#include "driver/base/mem.h"
#include "driver/base/protocol.h"
#include "driver/base/text.h"
#include "driver/image/image.h"
#include "driver/options.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ bytes */
static void align(struct text *b, size_t to) { text_add(b, NULL, (to - b->n % to) % to); }

static uint32_t put_string(struct text *b, const char *s)
{
    return (uint32_t)text_add(b, s, strlen(s) + 1);
}

/* ------------------------------------------------------------------ info files */
struct infos {
    VEC(struct proto_kernel) kernels;
    VEC(struct proto_outcome) outcomes;
    VEC(struct proto_alias) aliases;
    VEC(struct proto_taken) taken;
};

static struct infos read_infos(const char *path)
{
    struct infos list = { 0 };
    char *text = path ? file_read(path, NULL) : NULL;
    for (char *line; (line = text_line(&text));) {
        struct proto_kernel kernel;
        struct proto_outcome outcome;
        struct proto_alias alias;
        struct proto_taken taken;
        if (proto_read_kernel(line, &kernel))
            *VEC_PUSH(NULL, &list.kernels) = kernel;
        else if (proto_read_outcome(line, &outcome))
            *VEC_PUSH(NULL, &list.outcomes) = outcome;
        else if (proto_read_alias(line, &alias))
            *VEC_PUSH(NULL, &list.aliases) = alias;
        else if (proto_read_taken(line, &taken))
            *VEC_PUSH(NULL, &list.taken) = taken;
        else
            diag_fatal(EXIT_COMPILE, "'%s' is damaged: '%s'", path, line);
    }
    return list;
}

static const struct proto_kernel *find_kernel(const struct infos *list, const char *name)
{
    for (unsigned i = 0; i < list->kernels.n; i++)
        if (strcmp(list->kernels.at[i].name, name) == 0)
            return &list->kernels.at[i];
    return NULL;
}

struct proto_kernel *drv_read_kernels(const char *info, unsigned *n)
{
    struct infos list = read_infos(info);
    *n = list.kernels.n;
    return list.kernels.at;
}

struct proto_outcome *drv_read_outcomes(const char *info, unsigned *n)
{
    struct infos list = read_infos(info);
    *n = list.outcomes.n;
    return list.outcomes.at;
}

bool *drv_read_members(const char *info, unsigned n)
{
    struct infos list = read_infos(info);
    bool *members = mem_alloc(n + 1);
    for (unsigned i = 0; i < list.taken.n; i++)
        if (list.taken.at[i].member < n)
            members[list.taken.at[i].member] = true;
    return members;
}

/* ------------------------------------------------------------------ the container */
/* What ptxas said of the kernel. */
static void add_stats(struct ompgpu_kernel_entry *k, const char *name,
                      const struct kernel_stats *stats, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (strcmp(stats[i].name, name) != 0)
            continue;
        k->registers = stats[i].registers;
        k->shared_bytes = stats[i].shared;
        k->stack_bytes = drv_stack_bytes(&stats[i], k->flags);
        return;
    }
}

static struct diag_place place_of(const struct proto_kernel *k)
{
    return (struct diag_place){ .file = k->file,
                                .line = (unsigned)k->line,
                                .column = (unsigned)k->column };
}

/* Each target's module is looked at on its own.  What is tested on the emulated device shall be
 * what the GPU does, but for how many guards it has: a function of the C library may be inlined on
 * one of them only. */
static void check_modes(const struct proto_kernel *k, const struct proto_kernel *emu)
{
    const struct diag_place place = place_of(k);
    if (emu && k->mode != emu->mode)
        diag_at(&place, DIAG_WARNING,
                "region '%s' runs in different modes: %s on the GPU, %s on the emulated device",
                k->name, k->how, emu->how);
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static struct ompgpu_kernel_entry kernel_entry(struct text *b, const struct proto_kernel *k,
                                               const struct infos *of_emu)
{
    static const struct proto_kernel none;
    const struct proto_kernel *found = find_kernel(of_emu, k->name), *emu = found ? found : &none;
    return (struct ompgpu_kernel_entry){
        .name = put_string(b, k->name),
        .function = put_string(b, k->function),
        .file = put_string(b, k->file),
        .directive = put_string(b, k->directive),
        .line = (uint32_t)k->line,
        .column = (uint32_t)k->column,
        .mode = (uint32_t)k->mode,
        .max_threads = (uint32_t)k->max_threads,
        .reduce_bytes = (uint32_t)k->reduce_bytes,
        .flags = (uint32_t)(k->flags | emu->flags),
        .uses = (uint32_t)(k->uses | emu->uses),
        .heap_bytes = larger(k->heap_bytes, emu->heap_bytes),
        .block_bytes = larger(k->block_bytes, emu->block_bytes),
        .copy_bytes = larger(k->copy_bytes, emu->copy_bytes),
        .stack_bytes = k->flags & OMPGPU_KERNEL_RECURSIVE ? (uint32_t)k->frame_bytes : 0,
        .frame_bytes = (uint32_t)emu->frame_bytes,
        .shape = put_string(b, k->shape),
    };
}

static bool put_image(struct text *b, struct ompgpu_image_entry *e, const struct image_file *f,
                      bool compress)
{
    size_t size, stored;
    const char *data = file_read(f->path, &size);
    if (!data) {
        diag_error("cannot read '%s': %s", f->path, strerror(errno));
        return false;
    }
    size += f->kind == OMPGPU_IMAGE_PTX; /* the NUL counts */
    const void *smaller = compress ? drv_compress(data, size, &stored) : NULL;
    if (!smaller)
        stored = size;
    align(b, 16);
    *e = (struct ompgpu_image_entry){ .kind = f->kind,
                                      .arch = f->arch,
                                      .offset = text_add(b, smaller ? smaller : data, stored),
                                      .size = stored,
                                      .usize = size };
    return true;
}

/* Room for a table of n elements; filled at the end, when the strings have their places. */
static uint64_t reserve(struct text *b, size_t n, size_t size)
{
    return text_add(b, NULL, n * size);
}

static struct ompgpu_alias alias_entry(struct text *b, const struct proto_alias *a)
{
    return (struct ompgpu_alias){ (uint32_t)a->member, put_string(b, a->name),
                                  put_string(b, a->symbol) };
}

static void put_kernels(struct text *b, const struct container *c, const struct infos *main,
                        struct infos *emu, uint64_t at)
{
    const size_t n = main->kernels.n;
    struct ompgpu_kernel_entry *kernels = mem_array(n, sizeof *kernels);
    for (unsigned i = 0; i < n; i++) {
        const struct proto_kernel *k = &main->kernels.at[i];
        kernels[i] = kernel_entry(b, k, emu);
        if (!(c->flags & OMPGPU_CONTAINER_CHECKED))
            check_modes(k, find_kernel(emu, k->name));
        add_stats(&kernels[i], main->kernels.at[i].name, c->stats, c->nstats);
    }
    memcpy(b->s + at, kernels, n * sizeof *kernels);
}

static void put_aliases(struct text *b, const struct infos *main, uint64_t at)
{
    const size_t n = main->aliases.n;
    struct ompgpu_alias *aliases = mem_array(n, sizeof *aliases);
    for (unsigned i = 0; i < n; i++)
        aliases[i] = alias_entry(b, &main->aliases.at[i]);
    memcpy(b->s + at, aliases, n * sizeof *aliases);
}

static bool put_images(struct text *b, const struct container *c, uint64_t at)
{
    struct ompgpu_image_entry *images = mem_array(c->nfiles, sizeof *images);
    for (unsigned i = 0; i < c->nfiles; i++)
        if (!put_image(b, &images[i], &c->files[i], c->compress))
            return false;
    align(b, 16);
    memcpy(b->s + at, images, c->nfiles * sizeof *images);
    return true;
}

static bool put_container(struct text *t, const struct container *c)
{
    struct text b = { 0 };
    struct infos emu = read_infos(c->emu_info), gpu = read_infos(c->info);
    const struct infos *main = c->info ? &gpu : &emu;
    const unsigned nkernels = main->kernels.n, naliases = main->aliases.n;
    struct ompgpu_image_header h = { .magic = OMPGPU_IMAGE_MAGIC,
                                     .version = OMPGPU_IMAGE_VERSION,
                                     .header_size = sizeof h,
                                     .flags = c->flags,
                                     .nimages = c->nfiles,
                                     .nkernels = nkernels,
                                     .naliases = naliases };
    reserve(&b, 1, sizeof h);
    h.images = reserve(&b, c->nfiles, sizeof(struct ompgpu_image_entry));
    h.kernels = reserve(&b, nkernels, sizeof(struct ompgpu_kernel_entry));
    h.aliases = reserve(&b, naliases, sizeof(struct ompgpu_alias));
    h.options = put_string(&b, c->options);
    h.file = put_string(&b, c->file);
    put_kernels(&b, c, main, &emu, h.kernels);
    put_aliases(&b, main, h.aliases);
    if (!put_images(&b, c, h.images))
        return false;
    h.total_size = b.n;
    h.content_sum = ompgpu_image_sum(b.s + sizeof h, b.n - sizeof h);
    h.header_sum = ompgpu_image_header_sum(&h);
    memcpy(b.s, &h, sizeof h);
    *t = b;
    return true;
}

bool drv_write_container(const char *path, const struct container *c)
{
    struct text t = { 0 };
    if (!put_container(&t, c))
        return false;
    if (file_write(path, t.s, t.n))
        return true;
    diag_error("cannot write '%s': %s", path, strerror(errno));
    return false;
}

bool drv_container_sound(const struct ompgpu_image_header *h, uint64_t room)
{
    const size_t entry = sizeof(struct ompgpu_image_entry);
    return room >= sizeof *h && h->magic == OMPGPU_IMAGE_MAGIC &&
           h->version == OMPGPU_IMAGE_VERSION && h->total_size >= sizeof *h &&
           h->total_size % 16 == 0 && h->total_size <= room && h->images <= h->total_size &&
           h->nimages <= (h->total_size - h->images) / entry &&
           h->header_sum == ompgpu_image_header_sum(h) &&
           h->content_sum == ompgpu_image_content_sum(h);
}

/* ------------------------------------------------------------------ into the assembly
 * The host text has an empty object in the section (codegen/c/host/host.c), which the image follows
 * here.  That one is referred to, so --gc-sections keeps the section, and is local, so that units
 * do not meet. */
static void write_bytes(FILE *f, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(f, i % 32 ? ",%u" : "\n\t.byte\t%u", p[i]);
}

static void write_incbin(FILE *f, const char *path)
{
    fputs("\n\t.incbin\t\"", f);
    for (; *path; path++)
        if (*path == '"' || *path == '\\' || (unsigned char)*path < ' ')
            fprintf(f, "\\%03o", (unsigned char)*path);
        else
            fputc(*path, f);
    fputc('"', f);
}

bool drv_append_image(const char *assembly, const char *container, bool as_bytes)
{
    size_t size;
    char *image = file_read(container, &size);
    FILE *f = image ? fopen(assembly, "a") : NULL;
    if (!f) {
        diag_error("cannot add the device images to '%s': %s", assembly, strerror(errno));
        return false;
    }
    fputs("\n\t.section\t.ompgpu.image,\"a\",@progbits\n\t.p2align\t4", f);
    if (as_bytes)
        write_bytes(f, (const unsigned char *)image, size);
    else
        write_incbin(f, container);
    fputc('\n', f);
    bool failed = ferror(f);
    failed |= fclose(f) != 0;
    if (failed)
        diag_error("cannot write '%s': %s", assembly, strerror(errno));
    return !failed;
}
