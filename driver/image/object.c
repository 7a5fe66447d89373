/* object.c - the container's way into an object file.
 *
 * Of a file with target constructs: the host compiler has written an empty section for it
 * (codegen/c/host/host.c).  The bytes of a section may lie anywhere in the file: they are added at
 * the end, and its header says so.  That spares a compile to assembly text and an assembler.
 *
 * Of a device link: nothing else is in the object. */
#include "driver/base/diag.h"
#include "driver/base/file.h"
#include "driver/base/text.h"
#include "driver/image/image.h"
#include <ar.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE_NAME ".ompgpu.image"

static bool inside(uint64_t offset, uint64_t length, size_t size)
{
    return offset <= size && length <= size - offset;
}

static bool is_elf64(const Elf64_Ehdr *e, size_t size)
{
    return size >= sizeof *e && memcmp(e->e_ident, ELFMAG, SELFMAG) == 0 &&
           e->e_ident[EI_CLASS] == ELFCLASS64 && e->e_shentsize == sizeof(Elf64_Shdr) &&
           e->e_shoff % sizeof(uint64_t) == 0 && inside(e->e_shoff, sizeof(Elf64_Shdr), size);
}

/* All sections, and which of them has their names; NULL: the file is no sound ELF-64 file. */
static const Elf64_Shdr *all_sections(const void *file, size_t size, uint64_t *n, uint64_t *names)
{
    const Elf64_Ehdr *e = file;
    if (!is_elf64(e, size))
        return NULL;
    /* Numbers that are too large for their fields are in the first section's header. */
    const Elf64_Shdr *s = (const Elf64_Shdr *)((const char *)file + e->e_shoff);
    *n = e->e_shnum ? e->e_shnum : s->sh_size;
    *names = e->e_shstrndx == SHN_XINDEX ? s->sh_link : e->e_shstrndx;
    bool sound = *n <= size / sizeof *s && inside(e->e_shoff, *n * sizeof *s, size) && *names < *n;
    return sound ? s : NULL;
}

const Elf64_Shdr *drv_image_section(const void *file, size_t size)
{
    static const char wanted[] = IMAGE_NAME;
    const char *bytes = file;
    uint64_t n, names;
    const Elf64_Shdr *s = all_sections(file, size, &n, &names);
    for (uint64_t i = 0; s && i < n; i++) {
        uint64_t name = s[names].sh_offset + s[i].sh_name;
        if (s[i].sh_type == SHT_PROGBITS && inside(name, sizeof wanted, size) &&
            memcmp(bytes + name, wanted, sizeof wanted) == 0 &&
            inside(s[i].sh_offset, s[i].sh_size, size))
            return &s[i];
    }
    return NULL;
}

bool drv_needs_library(const char *path, const char *name)
{
    size_t size;
    uint64_t n, names;
    const char *file = file_read(path, &size);
    const Elf64_Shdr *s = file ? all_sections(file, size, &n, &names) : NULL;
    for (uint64_t i = 0; s && i < n; i++) {
        if (s[i].sh_type != SHT_DYNAMIC || s[i].sh_link >= n ||
            !inside(s[i].sh_offset, s[i].sh_size, size))
            continue;
        const Elf64_Dyn *d = (const Elf64_Dyn *)(file + s[i].sh_offset),
                        *end = d + s[i].sh_size / sizeof *d;
        for (; d < end; d++) {
            uint64_t at = s[s[i].sh_link].sh_offset + d->d_un.d_val;
            if (d->d_tag == DT_NEEDED && inside(at, strlen(name), size) &&
                text_starts(file + at, name))
                return true;
        }
    }
    return false;
}

/* ------------------------------------------------------------------ symbols */
struct symbols { /* to look for */
    drv_see_symbol *see;
    void *data;
};

/* A member of an archive lies at any even address: all is copied before it is read.  false: there
 * is no such section in the file. */
static bool copy_section(const char *file, size_t size, const Elf64_Ehdr *e, uint64_t i,
                         Elf64_Shdr *s)
{
    if (!inside(e->e_shoff, sizeof *s, size) || i >= (size - e->e_shoff) / sizeof *s)
        return false;
    memcpy(s, file + e->e_shoff + i * sizeof *s, sizeof *s);
    return s->sh_type == SHT_NOBITS || inside(s->sh_offset, s->sh_size, size);
}

/* … of a table of symbols. */
static bool sees_symbol(const struct symbols *w, const char *table, uint64_t size,
                        const char *names, uint64_t names_size)
{
    Elf64_Sym y;
    for (uint64_t at = 0; at + sizeof y <= size; at += sizeof y) {
        memcpy(&y, table + at, sizeof y);
        if (ELF64_ST_BIND(y.st_info) != STB_LOCAL && y.st_name < names_size &&
            w->see(w->data, names + y.st_name, strnlen(names + y.st_name, names_size - y.st_name),
                   y.st_shndx == SHN_UNDEF ? SEEN_UNDEFINED : SEEN_DEFINED))
            return true;
    }
    return false;
}

static bool sees_in_elf(const struct symbols *w, const char *file, size_t size, const Elf64_Ehdr *e)
{
    Elf64_Shdr s, names;
    if (!copy_section(file, size, e, 0, &s))
        return false;
    for (uint64_t i = 0, n = e->e_shnum ? e->e_shnum : s.sh_size; i < n; i++) {
        if (!copy_section(file, size, e, i, &s))
            return false;
        if ((s.sh_type == SHT_SYMTAB || s.sh_type == SHT_DYNSYM) &&
            copy_section(file, size, e, s.sh_link, &names) && names.sh_type == SHT_STRTAB &&
            sees_symbol(w, file + s.sh_offset, s.sh_size, file + names.sh_offset, names.sh_size))
            return true;
    }
    return false;
}

static bool sees_in_object(const struct symbols *w, const char *file, size_t size)
{
    Elf64_Ehdr e;
    if (size >= sizeof e)
        memcpy(&e, file, sizeof e);
    if (size >= sizeof e && is_elf64(&e, size))
        return sees_in_elf(w, file, size, &e);
    return w->see(w->data, file, size, SEEN_BYTES);
}

bool drv_sees_symbol(const char *file, size_t size, drv_see_symbol *see, void *data)
{
    const struct symbols w = { see, data };
    struct ar_hdr h;
    if (size < SARMAG || memcmp(file, ARMAG, SARMAG) != 0)
        return sees_in_object(&w, file, size);
    for (size_t at = SARMAG, n; at <= size && size - at > sizeof h; at += n + n % 2) {
        memcpy(&h, file + at, sizeof h);
        at += sizeof h;
        n = strtoul(h.ar_size, NULL, 10); /* blanks and ar_fmag follow */
        if (n > size - at)
            return false;
        if (h.ar_name[0] != '/' || isdigit((unsigned char)h.ar_name[1])) /* not a table of ar's */
            if (sees_in_object(&w, file + at, n))
                return true;
    }
    return false;
}

static const char *read_part(const char *path, size_t *size)
{
    const char *bytes = file_read(path, size);
    if (!bytes)
        diag_error("cannot read '%s': %s", path, strerror(errno));
    return bytes;
}

static bool write_object(const char *path, const struct text *t)
{
    if (file_write(path, t->s, t->n))
        return true;
    diag_error("cannot write '%s': %s", path, strerror(errno));
    return false;
}

bool drv_fill_image(const char *object, const char *container)
{
    size_t size, added;
    const char *file = read_part(object, &size);
    const char *image = file ? read_part(container, &added) : NULL;
    if (!image)
        return false;
    const Elf64_Shdr *s = drv_image_section(file, size);
    if (!s || s->sh_size || !s->sh_addralign) {
        diag_error("'%s' has no room for the device images: the host compiler wrote another object "
                   "than ELF for x86-64",
                   object);
        return false;
    }
    struct text out = { 0 };
    text_add(&out, file, size);
    text_add(&out, NULL, -size % s->sh_addralign);
    Elf64_Shdr *header = (Elf64_Shdr *)(out.s + ((const char *)s - file));
    header->sh_offset = out.n;
    header->sh_size = added;
    text_add(&out, image, added);
    return write_object(object, &out);
}

/* ------------------------------------------------------------------ of a device link */
enum { NONE, IMAGE, STACK, SYMBOLS, NAMES, SECTIONS };
#define STACK_NAME ".note.GNU-stack"
#define SYMTAB_NAME ".symtab"
#define STRTAB_NAME ".strtab"
struct image_object {
    Elf64_Ehdr header;
    Elf64_Shdr sections[SECTIONS];
    Elf64_Sym symbols[2];
    struct names {
        char none[1], image[sizeof IMAGE_NAME], stack[sizeof STACK_NAME],
            symbols[sizeof SYMTAB_NAME], names[sizeof STRTAB_NAME], symbol[sizeof DRV_LINKED_IMAGE];
    } names;
} __attribute__((aligned(16)));
#define NAME(n) offsetof(struct names, n)
#define WHERE(m) offsetof(struct image_object, m), sizeof(((struct image_object *)NULL)->m)

static const Elf64_Ehdr object_header = {
    .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
    .e_type = ET_REL,
    .e_machine = EM_X86_64,
    .e_version = EV_CURRENT,
    .e_shoff = offsetof(struct image_object, sections),
    .e_ehsize = sizeof(Elf64_Ehdr),
    .e_shentsize = sizeof(Elf64_Shdr),
    .e_shnum = SECTIONS,
    .e_shstrndx = NAMES,
};

static struct image_object image_object(size_t size)
{
    return (struct image_object){
        .header = object_header,
        .sections = { [IMAGE] = { NAME(image), SHT_PROGBITS, SHF_ALLOC, 0,
                                  sizeof(struct image_object), size, 0, 0, 16, 0 },
                      [STACK] = { NAME(stack), SHT_PROGBITS, 0, 0, sizeof(struct image_object), 0,
                                  0, 0, 1, 0 },
                      [SYMBOLS] = { NAME(symbols), SHT_SYMTAB, 0, 0, WHERE(symbols), NAMES, 1, 8,
                                    sizeof(Elf64_Sym) },
                      [NAMES] = { NAME(names), SHT_STRTAB, 0, 0, WHERE(names), 0, 0, 1, 0 } },
        .symbols = { [1] = { NAME(symbol), ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), STV_HIDDEN, IMAGE,
                             0, size } },
        .names = { "", IMAGE_NAME, STACK_NAME, SYMTAB_NAME, STRTAB_NAME, DRV_LINKED_IMAGE }
    };
}

bool drv_write_image_object(const char *object, const char *container)
{
    size_t size;
    const char *image = read_part(container, &size);
    struct text out = { 0 };
    if (!image)
        return false;
    struct image_object o = image_object(size);
    text_add(&out, &o, sizeof o);
    text_add(&out, image, size);
    return write_object(object, &out);
}
