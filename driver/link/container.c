/* container.c - the container of device images (hostrt/image.h), and its way into the host's
 * assembly.
 *
 *   header | image table | kernel table | strings | images, each aligned to 16
 *
 * The kernel table comes from the info files that omp-device wrote, one line a kernel,
 * tab-separated: name function file directive line column mode max_threads reduce_bytes flags
 * heap_bytes block_bytes copy_bytes frame_bytes how and, of a device link, lines with an empty
 * name:  "member" index  and  "alias" index name symbol. The GPU's file is the one that counts; the
 * flags of the emulated device's file are added (what needs fibers there). */
#include "driver/driver.h"
#include "hostrt/image.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ growing bytes */
struct bytes {
    char *p;
    size_t n, room;
};

static size_t put(struct bytes *b, const void *data, size_t n)
{
    if (b->n + n > b->room) {
        size_t room = 2 * (b->n + n) + 256;
        char *p = mem_alloc(room);
        if (b->n)
            memcpy(p, b->p, b->n);
        b->p = p;
        b->room = room;
    }
    if (data)
        memcpy(b->p + b->n, data, n);
    b->n += n;
    return b->n - n;
}

static void align(struct bytes *b, size_t to)
{
    static const char zero[16];
    put(b, zero, (to - b->n % to) % to);
}

static uint32_t put_string(struct bytes *b, const char *s)
{
    return (uint32_t)put(b, s, strlen(s) + 1);
}

/* ------------------------------------------------------------------ info files */
enum { INFO_FIELDS = 15 };
enum {
    I_NAME,
    I_FUNCTION,
    I_FILE,
    I_DIRECTIVE,
    I_LINE,
    I_COLUMN,
    I_MODE,
    I_MAX_THREADS,
    I_REDUCE_BYTES,
    I_FLAGS,
    I_HEAP,
    I_BLOCKS,
    I_COPIES,
    I_FRAMES,
    I_HOW
};
enum { A_MEMBER = 2, A_NAME, A_SYMBOL }; /* of a line "", "alias", … */
struct info {
    char *field[INFO_FIELDS];
};
struct infos {
    struct info *v, *aliases, *members;
    unsigned n, naliases, nmembers;
};

static uint32_t number(const char *s) { return (uint32_t)strtoul(s, NULL, 10); }
static uint64_t larger(const char *a, const char *b)
{
    uint64_t m = strtoull(a, NULL, 10), n = b ? strtoull(b, NULL, 10) : 0;
    return m > n ? m : n;
}

static void read_line(struct infos *list, char *line, const char *path)
{
    bool alias = text_starts(line, "\talias\t"), member = text_starts(line, "\tmember\t");
    int fields = alias ? A_SYMBOL + 1 : member ? A_MEMBER + 1 : INFO_FIELDS;
    struct info *k = alias    ? &list->aliases[list->naliases++]
                     : member ? &list->members[list->nmembers++]
                              : &list->v[list->n++];
    for (int i = 0; i < fields; i++) {
        char *tab = strchr(line, '\t');
        k->field[i] = line;
        if (!tab && i + 1 < fields)
            diag_fatal(EXIT_COMPILE, "'%s' is damaged: a line has %d fields, not %d", path, i + 1,
                       fields);
        if (tab) {
            *tab = 0;
            line = tab + 1;
        }
    }
}

static struct infos read_infos(const char *path)
{
    struct infos list = { 0 };
    char *text = path ? file_read(path, NULL) : NULL;
    if (!text)
        return list;
    unsigned lines = 1;
    for (char *p = text; *p; p++)
        lines += *p == '\n';
    list.v = mem_alloc(lines * sizeof *list.v);
    list.aliases = mem_alloc(lines * sizeof *list.v);
    list.members = mem_alloc(lines * sizeof *list.v);
    for (char *next; *text; text = next) {
        next = strchr(text, '\n');
        if (next)
            *next++ = 0;
        else
            next = text + strlen(text);
        if (*text)
            read_line(&list, text, path);
    }
    return list;
}

static const struct info *find_info(const struct infos *list, const char *name)
{
    for (unsigned i = 0; i < list->n; i++)
        if (strcmp(list->v[i].field[I_NAME], name) == 0)
            return &list->v[i];
    return NULL;
}

bool *drv_read_members(const char *info, unsigned n)
{
    struct infos list = read_infos(info);
    bool *members = mem_alloc(n + 1);
    for (unsigned i = 0; i < list.nmembers; i++)
        if (number(list.members[i].field[A_MEMBER]) < n)
            members[number(list.members[i].field[A_MEMBER])] = true;
    return members;
}

/* ------------------------------------------------------------------ ptxas -v
 *   ptxas info    : Compiling entry function 'main_14' for 'sm_90'
 *   ptxas info    : Function properties for main_14
 *       40 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
 *   ptxas info    : Used 32 registers, used 1 barriers, 80 bytes cumulative stack size, 384 bytes smem, 400 bytes cmem[0]
 * The cumulative size is missing where it is 0, and means little where recursion or a pointer to a
 * function hides calls.                       */
static unsigned before(const char *line, const char *unit)
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
    char *text = file_read(path, NULL), *next;
    unsigned room = 1, frames = 0;
    *n = 0;
    for (char *p = text; p && (p = strstr(p, "Compiling entry")); p++)
        room++;
    struct kernel_stats *list = mem_alloc(room * sizeof *list);
    for (; text && *text; text = next) {
        next = strchr(text, '\n');
        if (next)
            *next++ = 0;
        else
            next = text + strlen(text);
        char *entry = strstr(text, "Compiling entry function '"), *used = strstr(text, "Used ");
        if (entry) {
            entry += strlen("Compiling entry function '");
            list[(*n)++].name = mem_strndup(entry, strcspn(entry, "'"));
        } else if (used && *n) {
            list[*n - 1].registers = before(text, "registers");
            list[*n - 1].shared = before(text, "bytes smem");
            list[*n - 1].stack = before(text, "bytes cumulative stack size");
        }
        frames += before(text, "bytes stack frame");
    }
    for (unsigned i = 0; i < *n; i++)
        list[i].frames = frames;
    return list;
}

static void add_stats(struct ompgpu_kernel_entry *k, const char *name,
                      const struct kernel_stats *stats, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (strcmp(stats[i].name, name) != 0)
            continue;
        k->registers = stats[i].registers;
        k->shared_bytes = stats[i].shared;
        k->stack_bytes = k->flags & OMPGPU_KERNEL_RECURSIVE ? stats[i].frames : stats[i].stack;
        return;
    }
}

/* ------------------------------------------------------------------ the container */
/* Each target's module is looked at on its own.  What is tested on the emulated device shall be
 * what the GPU does. */
static void check_alike(const struct info *k, const struct info *e)
{
    if (!e || strcmp(k->field[I_HOW], e->field[I_HOW]) == 0)
        return;
    char *const *f = k->field;
    fprintf(stderr,
            "%s:%s:%s: warning: region '%s' is not run alike: %s on the GPU, %s on the emulated "
            "device\n",
            f[I_FILE], f[I_LINE], f[I_COLUMN], f[I_NAME], f[I_HOW], e->field[I_HOW]);
}

static struct ompgpu_kernel_entry kernel_entry(struct bytes *b, const struct info *k,
                                               const struct infos *emu)
{
    const struct info *e = find_info(emu, k->field[I_NAME]);
    check_alike(k, e);
    return (struct ompgpu_kernel_entry){
        .name = put_string(b, k->field[I_NAME]),
        .function = put_string(b, k->field[I_FUNCTION]),
        .file = put_string(b, k->field[I_FILE]),
        .directive = put_string(b, k->field[I_DIRECTIVE]),
        .line = number(k->field[I_LINE]),
        .column = number(k->field[I_COLUMN]),
        .mode = number(k->field[I_MODE]),
        .max_threads = number(k->field[I_MAX_THREADS]),
        .reduce_bytes = number(k->field[I_REDUCE_BYTES]),
        .flags = number(k->field[I_FLAGS]) | (e ? number(e->field[I_FLAGS]) : 0),
        .heap_bytes = larger(k->field[I_HEAP], e ? e->field[I_HEAP] : NULL),
        .block_bytes = larger(k->field[I_BLOCKS], e ? e->field[I_BLOCKS] : NULL),
        .copy_bytes = larger(k->field[I_COPIES], e ? e->field[I_COPIES] : NULL),
        .frame_bytes = e ? number(e->field[I_FRAMES]) : 0,
    };
}

static bool put_image(struct bytes *b, struct ompgpu_image_entry *e, const struct image_file *f)
{
    size_t size;
    const char *data = file_read(f->path, &size);
    if (!data) {
        diag_error("cannot read '%s': %s", f->path, strerror(errno));
        return false;
    }
    size += f->kind == OMPGPU_IMAGE_PTX; /* the NUL counts */
    align(b, 16);
    *e = (struct ompgpu_image_entry){
        .kind = f->kind, .arch = f->arch, .offset = put(b, data, size), .size = size, .usize = size
    };
    return true;
}

bool drv_write_container(const char *path, const struct container *c)
{
    struct bytes b = { 0 };
    struct infos emu = read_infos(c->emu_info), gpu = read_infos(c->info),
                 *main = c->info ? &gpu : &emu;
    struct ompgpu_image_header h = { .magic = OMPGPU_IMAGE_MAGIC,
                                     .version = OMPGPU_IMAGE_VERSION,
                                     .header_size = sizeof h,
                                     .flags = c->flags,
                                     .nimages = c->nfiles,
                                     .nkernels = main->n,
                                     .naliases = main->naliases };
    struct ompgpu_image_entry *images = mem_alloc(c->nfiles * sizeof *images);
    struct ompgpu_kernel_entry *kernels = mem_alloc(main->n * sizeof *kernels);
    struct ompgpu_alias *aliases = mem_alloc(main->naliases * sizeof *aliases);
    put(&b, NULL, sizeof h);
    h.images = put(&b, NULL, c->nfiles * sizeof *images);
    h.kernels = put(&b, NULL, main->n * sizeof *kernels);
    h.aliases = put(&b, NULL, main->naliases * sizeof *aliases);
    h.options = put_string(&b, c->options);
    h.file = put_string(&b, c->file);
    for (unsigned i = 0; i < main->n; i++) {
        kernels[i] = kernel_entry(&b, &main->v[i], &emu);
        add_stats(&kernels[i], main->v[i].field[I_NAME], c->stats, c->nstats);
    }
    for (unsigned i = 0; i < main->naliases; i++) {
        char **f = main->aliases[i].field;
        aliases[i] = (struct ompgpu_alias){ number(f[A_MEMBER]), put_string(&b, f[A_NAME]),
                                            put_string(&b, f[A_SYMBOL]) };
    }
    for (unsigned i = 0; i < c->nfiles; i++)
        if (!put_image(&b, &images[i], &c->files[i]))
            return false;
    align(&b, 16);
    h.total_size = b.n;
    memcpy(b.p, &h, sizeof h);
    memcpy(b.p + h.images, images, c->nfiles * sizeof *images);
    memcpy(b.p + h.kernels, kernels, main->n * sizeof *kernels);
    memcpy(b.p + h.aliases, aliases, main->naliases * sizeof *aliases);
    if (file_write(path, b.p, b.n))
        return true;
    diag_error("cannot write '%s': %s", path, strerror(errno));
    return false;
}

/* ------------------------------------------------------------------ into the assembly
 * The host text refers to the symbol, so --gc-sections keeps the section; the symbol is local, so
 * that units do not meet. */
static void write_bytes(FILE *f, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(f, i % 32 ? ",%u" : "\n\t.byte\t%u", p[i]);
}

static void write_incbin(FILE *f, const char *path)
{
    fputs("\n\t.incbin\t\"", f);
    for (; *path; path++) {
        if (*path == '"' || *path == '\\')
            fputc('\\', f);
        fputc(*path, f);
    }
    fputc('"', f);
}

bool drv_append_image(const char *assembly, const char *container, bool as_bytes,
                      const char *global)
{
    size_t size;
    char *image = file_read(container, &size);
    FILE *f = image ? fopen(assembly, "a") : NULL;
    if (!f) {
        diag_error("cannot add the device images to '%s': %s", assembly, strerror(errno));
        return false;
    }
    const char *symbol = global ? global : "__ompgpu_image";
    fprintf(f, "\n\t.section\t.ompgpu.image,\"a\",@progbits\n\t.p2align\t4\n\t.type\t%s,@object\n",
            symbol);
    if (global)
        fprintf(f, "\t.globl\t%s\n\t.hidden\t%s\n", symbol, symbol);
    fprintf(f, "%s:", symbol);
    if (as_bytes)
        write_bytes(f, (const unsigned char *)image, size);
    else
        write_incbin(f, container);
    fprintf(f, "\n\t.size\t%s, %zu\n", symbol, size);
    bool failed = ferror(f);
    failed |= fclose(f) != 0;
    if (failed)
        diag_error("cannot write '%s': %s", assembly, strerror(errno));
    return !failed;
}

/* ------------------------------------------------------------------ -Rompgpu: what ptxas says */
void drv_remark_ptxas(const char *info, const struct kernel_stats *stats, unsigned nstats,
                      const char *arch)
{
    struct infos list = read_infos(info);
    for (unsigned i = 0; i < list.n; i++) {
        char **f = list.v[i].field;
        struct ompgpu_kernel_entry k = { 0 };
        add_stats(&k, f[I_NAME], stats, nstats);
        if (k.registers)
            fprintf(stderr,
                    "%s:%s:%s: remark: region '%s': %u registers and %u bytes of shared memory on "
                    "%s [-Rompgpu]\n",
                    f[I_FILE], f[I_LINE], f[I_COLUMN], f[I_NAME], k.registers, k.shared_bytes,
                    arch);
    }
}
