/* device_link.c - device code of several files.
 *
 * The host link comes first, as always, into a temporary file.  Its section .ompgpu.image then
 * holds the containers (hostrt/image.h) of exactly those objects that the linker kept: of an
 * archive those that were pulled in, with --gc-sections those that are referred to, of `ld -r` all
 * of its parts.  When none of them needs device code of another file, that result is the program.
 *
 * Otherwise the bitcode is taken out and linked (omp-device decides which files belong together),
 * the stages of a compile make images of it, and these become one more object for a second host
 * link with the same arguments.  In its result each member's container gets to know where the
 * linked one is: two numbers in its header, relative to itself, so that no relocation and no
 * constructor is needed.
 *
 * How the files were compiled is recorded in their containers, and the link follows that: the
 * highest optimisation level, -g when one had it, the GPUs of all, each file's -fompgpu-mode= and
 * remarks.  --gpu-arch=, -fompgpu-mode=, -Rompgpu and -Wompgpu-generic of the link command win. */
#include "driver/link/link.h"
#include "driver/image/image.h"
#include "driver/pipeline/pipeline.h"
#include "hostrt/image.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct found { /* a container in a linked file */
    const struct ompgpu_image_header *h;
    uint64_t offset; /* in the file */
    const char *file;
    struct proto_compiled compiled;
    const char *regions; /* its records `region`, lines; "": none */
    int member;          /* number among the inputs of the device link; -1: none */
};
struct program {
    struct found *at;
    unsigned n;
    const unsigned char *bytes;
    size_t size;
};
static struct program first; /* the result of the first host link */
static bool *members;        /* by number: omp-device took it */

/* ------------------------------------------------------------------ reading */
/* Stays mapped: the file is replaced by the second link, not written to. */
static bool map_file(const char *path, struct program *p)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok =
        fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size >= sizeof(Elf64_Ehdr);
    void *bytes = ok ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (bytes == MAP_FAILED)
        return false;
    p->bytes = bytes;
    p->size = (size_t)st.st_size;
    return true;
}

/* NULL: not a linked ELF file, or it has no device code. */
static const Elf64_Shdr *find_section(const struct program *p)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)p->bytes;
    return e->e_type == ET_REL ? NULL : drv_image_section(p->bytes, p->size);
}

static const char *string(const struct ompgpu_image_header *h, uint32_t offset)
{
    const char *s = (const char *)h + offset;
    return offset < h->total_size && memchr(s, 0, h->total_size - offset) ? s : "";
}

static void damaged(void) { diag_error("the device images in the linked file are damaged"); }

static bool find_containers(struct program *p)
{
    const Elf64_Shdr *s = find_section(p);
    if (!s)
        return true;
    p->at = mem_alloc((s->sh_size / sizeof(struct ompgpu_image_header) + 1) * sizeof *p->at);
    for (uint64_t at = 0; at + 16 <= s->sh_size;) {
        const struct ompgpu_image_header *h =
            (const struct ompgpu_image_header *)(p->bytes + s->sh_offset + at);
        if (h->magic == 0) { /* padding */
            at += 16;
            continue;
        }
        if (!drv_container_sound(h, s->sh_size - at)) {
            if (h->magic == OMPGPU_IMAGE_MAGIC && h->version != OMPGPU_IMAGE_VERSION)
                diag_error("an object of this link has device images of version %u, this ompgpu-cc "
                           "knows version %u: compile it again",
                           h->version, OMPGPU_IMAGE_VERSION);
            else
                damaged();
            return false;
        }
        p->at[p->n++] = (struct found){
            .h = h, .offset = s->sh_offset + at, .file = string(h, h->file), .member = -1
        };
        const char *options = string(h, h->options), *end = strchr(options, '\n');
        if (!proto_read_compiled(options, &p->at[p->n - 1].compiled)) {
            damaged();
            return false;
        }
        p->at[p->n - 1].regions = end ? end + 1 : "";
        at += h->total_size;
    }
    return true;
}

static bool needs_link(const struct found *f)
{
    return (f->h->flags & OMPGPU_CONTAINER_NEEDS_LINK) != 0;
}

static const struct ompgpu_image_entry *find_image(const struct found *f, unsigned kind)
{
    const struct ompgpu_image_entry *e =
        (const struct ompgpu_image_entry *)((const char *)f->h + f->h->images);
    for (unsigned i = 0; i < f->h->nimages; i++)
        if (e[i].kind == kind && e[i].offset <= f->h->total_size &&
            e[i].size <= f->h->total_size - e[i].offset)
            return &e[i];
    return NULL;
}

/* ------------------------------------------------------------------ how the files were compiled */
static unsigned rank(const char *level)
{
    static const char *const levels[] = { "-O0", "-O1", "-Os", "-O2", "-O3" };
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++)
        if (strcmp(level, levels[i]) == 0)
            return i;
    return 0;
}

/* Files that cannot do without decide: a device that one of them was not compiled for gets no
 * image. */
static bool check_device(const struct options *o, struct archs *a, bool emu)
{
    const char *device = emu ? "the emulated device" : "a GPU", *flag = emu ? "emu" : "sm_XX";
    bool asked = o->gpu_arch != NULL;
    for (unsigned i = 0; i < first.n; i++) {
        const struct found *f = &first.at[i];
        if (!needs_link(f) || !(emu ? a->emu : a->n > 0) ||
            find_image(f, emu ? OMPGPU_IMAGE_BITCODE_EMU : OMPGPU_IMAGE_BITCODE_GPU))
            continue;
        if (asked) {
            diag_error("'%s' was not compiled for %s: compile it with '%s' in --gpu-arch=", f->file,
                       device, flag);
            return false;
        }
        diag_warning(
            "the program cannot use %s: '%s' was not compiled for it ('%s' in --gpu-arch=)", device,
            f->file, flag);
        if (emu)
            a->emu = false;
        else
            a->n = 0;
    }
    return true;
}

static bool choose_archs(const struct options *o, struct archs *a)
{
    if (o->gpu_arch) {
        drv_parse_archs(o, a);
        drv_check_archs(o, a);
    }
    for (unsigned i = 0; i < first.n && !o->gpu_arch; i++)
        if (needs_link(&first.at[i]))
            drv_add_archs(o, a, first.at[i].compiled.archs);
    if (!check_device(o, a, false) || !check_device(o, a, true))
        return false;
    if (a->n || a->native || a->emu)
        return true;
    diag_error("the files that use device code of each other were compiled for different devices: "
               "there is none for which all have code");
    return false;
}

/* What a file requires that has nothing for a device does not count.  What a shared library
 * requires, the host runtime finds out when it is loaded. */
static bool check_requirements(void)
{
    const struct found *a = NULL;
    for (unsigned i = 0; i < first.n; i++) {
        const struct found *b = &first.at[i];
        if (b->compiled.host_only)
            continue;
        if (!a)
            a = b;
        if (strcmp(a->compiled.requires, b->compiled.requires) == 0)
            continue;
        const struct found *with = *a->compiled.requires ? a : b, *other = with == a ? b : a;
        diag_error("'%s' has 'requires %s', '%s' has %s%s%s: all files of a program with device "
                   "code must have the same",
                   with->file, with->compiled.requires, other->file,
                   *other->compiled.requires ? "'requires " : "none", other->compiled.requires,
                   *other->compiled.requires ? "'" : "");
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- the inputs of the device link */
static struct proto_member member_record(const struct options *o, const struct found *f)
{
    return (struct proto_member){ .file = f->file,
                                  .mode = o->mode ? o->mode : f->compiled.mode,
                                  .needs = needs_link(f),
                                  .report = o->report || *f->regions,
                                  .remarks = o->remarks || f->compiled.remarks,
                                  .warn_generic = drv_warns(o, WARN_GENERIC) || f->compiled.warn,
                                  .error_generic =
                                      drv_warning_is_error(o, WARN_GENERIC) || f->compiled.error };
}

static const char *unpack(const struct job *j, const struct found *f, unsigned kind,
                          unsigned number)
{
    const struct ompgpu_image_entry *e = find_image(f, kind);
    const char *path = drv_job_file(
        j, mem_printf("%u.%s.bc", number, kind == OMPGPU_IMAGE_BITCODE_EMU ? "x86_64" : "nvptx64"));
    const void *bytes = drv_image_bytes(f->h, e);
    if (!bytes)
        diag_fatal(EXIT_COMPILE, "the device code of '%s' in the linked file is damaged", f->file);
    if (!file_write(path, bytes, e->usize))
        diag_fatal(EXIT_COMPILE, "cannot write '%s': %s", path, strerror(errno));
    return path;
}

/* Every file with bitcode for all devices of this link. */
static struct device_link *collect(const struct job *j)
{
    static const unsigned kinds[2] = { OMPGPU_IMAGE_BITCODE_GPU, OMPGPU_IMAGE_BITCODE_EMU };
    const bool wanted[2] = { j->archs.n || j->archs.native, j->archs.emu };
    struct device_link *d = mem_alloc(sizeof *d);
    d->members = mem_array(first.n, sizeof *d->members);
    for (int k = 0; k < 2; k++)
        d->bitcode[k] = mem_alloc(first.n * sizeof *d->bitcode[k]);
    for (unsigned i = 0; i < first.n; i++) {
        struct found *f = &first.at[i];
        if ((wanted[0] && !find_image(f, kinds[0])) || (wanted[1] && !find_image(f, kinds[1])))
            continue;
        f->member = (int)d->n;
        d->members[d->n] = member_record(j->opt, f);
        d->regions = mem_printf("%s%s", d->regions ? d->regions : "", f->regions);
        for (int k = 0; k < 2; k++)
            if (wanted[k])
                d->bitcode[k][d->n] = unpack(j, f, kinds[k], d->n);
        d->n++;
    }
    return d;
}

/* Files that have device code for others, but not for every device of this link: symbols may be
 * missing because of that. */
static void note_left_out(void)
{
    for (unsigned i = 0; i < first.n; i++) {
        const struct found *f = &first.at[i];
        if (f->member < 0 &&
            (find_image(f, OMPGPU_IMAGE_BITCODE_GPU) || find_image(f, OMPGPU_IMAGE_BITCODE_EMU)))
            diag_note("'%s' was compiled with --gpu-arch=%s only, so its functions and variables "
                      "were left out",
                      f->file, f->compiled.archs);
    }
}

static void set_level(struct job *j)
{
    j->level = "-O0";
    for (unsigned i = 0; i < first.n; i++) {
        if (!needs_link(&first.at[i]))
            continue;
        const char *level = first.at[i].compiled.level;
        if (rank(level) > rank(j->level))
            j->level = level;
        j->debug |= first.at[i].compiled.debug;
        j->check |= first.at[i].compiled.check;
    }
}

/* ------------------------------------------------------------------ the device link */
static const char *make_base(const struct options *o, const char *dir)
{
    const char *name = path_base(o->output ? o->output : "a.out");
    if (!o->save)
        return mem_printf("%s/device-link", dir);
    const char *to = *o->save_dir ? o->save_dir : o->output ? path_dir(o->output) : ".";
    return mem_printf("%s/%s.device-link", to, name);
}

static struct job make_job(const struct options *o)
{
    const char *dir = mem_printf("%s/device-link", drv_temp_dir());
    if (mkdir(dir, 0777) != 0)
        diag_fatal(EXIT_COMPILE, "cannot make directory '%s': %s", dir, strerror(errno));
    const char **cell = mem_alloc(sizeof *cell);
    *cell = dir;
    return (struct job){ .opt = o,
                         .path = o->output ? o->output : "a.out",
                         .stem = "device-link",
                         .link = true,
                         .dir = cell,
                         .base = make_base(o, dir),
                         .input_file = "",
                         .output = mem_printf("%s/linked.o", dir) };
}

static bool any_needs_link(void)
{
    for (unsigned i = 0; i < first.n; i++)
        if (needs_link(&first.at[i]))
            return true;
    return false;
}

int drv_device_link(const struct options *o, const char *linked, const char **object)
{
    *object = NULL;
    if (!map_file(linked, &first))
        return 0;
    if (!find_containers(&first) || !check_requirements())
        return EXIT_COMPILE;
    if (!any_needs_link())
        return 0;
    struct job j = make_job(o);
    if (!choose_archs(o, &j.archs))
        return EXIT_COMPILE;
    set_level(&j);
    j.device_link = collect(&j);
    int code = drv_link_device_code(&j);
    if (code) {
        note_left_out();
        return code;
    }
    members = drv_read_members(drv_job_file(&j, j.archs.n ? "nvptx64.info" : "x86_64.info"),
                               j.device_link->n);
    *object = j.output;
    return 0;
}

/* ------------------------------------------------------------------ after the second host link */
static bool same_order(const struct program *second)
{
    if (second->n != first.n + 1)
        return false;
    unsigned k = 0;
    for (unsigned i = 0; i < second->n; i++) {
        if (second->at[i].h->flags & OMPGPU_CONTAINER_LINKED)
            continue;
        if (k == first.n || second->at[i].h->total_size != first.at[k].h->total_size ||
            memcmp(second->at[i].h, first.at[k].h, first.at[k].h->total_size) != 0)
            return false;
        second->at[i].member = first.at[k++].member;
    }
    return k == first.n;
}

static bool connect(int fd, const struct found *f, const struct found *image)
{
    struct ompgpu_image_header h = *f->h;
    h.link = (int64_t)(image->offset - f->offset);
    h.member = (uint32_t)f->member;
    h.header_sum = ompgpu_image_header_sum(&h);
    return pwrite(fd, &h, sizeof h, (off_t)f->offset) == sizeof h;
}

int drv_device_link_finish(const char *linked)
{
    struct program second = { 0 };
    const struct found *image = NULL;
    if (!map_file(linked, &second) || !find_containers(&second))
        return EXIT_COMPILE;
    for (unsigned i = 0; i < second.n; i++)
        if (second.at[i].h->flags & OMPGPU_CONTAINER_LINKED)
            image = &second.at[i];
    if (!image || !same_order(&second)) {
        diag_error("the second host link of '%s' put other device images together than the first; "
                   "is a file being written to meanwhile?",
                   linked);
        return EXIT_COMPILE;
    }
    int fd = open(linked, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0;
    for (unsigned i = 0; i < second.n && ok; i++)
        if (second.at[i].member >= 0 && members[second.at[i].member])
            ok = connect(fd, &second.at[i], image);
    if (fd >= 0 && close(fd) != 0)
        ok = false;
    if (!ok)
        diag_error("cannot write '%s': %s", linked, strerror(errno));
    return ok ? 0 : EXIT_COMPILE;
}
