/* lines.c - the source line of an instruction of an image, for messages.
 *
 * Images carry DWARF's line tables (section .debug_line; versions 4 and 5 of DWARF), with -g or
 * without.  They are read from the image's file when something has gone wrong, and not before.  A
 * table is a program for a small machine whose rows, in ascending order, say from which address on
 * which line holds.  All reads are checked: a table that is cut off gives no line. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "hostrt/emu/emu.h"

struct reader {
    const unsigned char *at, *end;
};
struct bytes { /* a section */
    const unsigned char *data;
    size_t size;
};
struct sections {
    struct bytes line, line_str, str;
};

/* ------------------------------------------------------------------ reading */
static uint64_t read_bytes(struct reader *r, unsigned n)
{
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < n) {
        r->at = r->end;
        return 0;
    }
    for (unsigned i = 0; i < n && i < 8; i++)
        value |= (uint64_t)r->at[i] << 8 * i;
    r->at += n;
    return value;
}

static uint64_t read_leb(struct reader *r, bool is_signed)
{
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;
    for (; (byte & 0x80) && r->at < r->end; shift += 7) {
        byte = *r->at++;
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
    }
    if (is_signed && shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return value;
}

static const char *read_string(struct reader *r)
{
    const unsigned char *zero = memchr(r->at, 0, (size_t)(r->end - r->at));
    const char *text = (const char *)r->at;
    r->at = zero ? zero + 1 : r->end;
    return zero ? text : "";
}

static const char *string_of(struct bytes section, uint64_t offset)
{
    if (offset >= section.size)
        return "";
    struct reader r = { section.data + offset, section.data + section.size };
    return read_string(&r);
}

/* ------------------------------------------------------------------ sections */
static bool is_in_file(struct bytes file, uint64_t offset, uint64_t size)
{
    return offset <= file.size && size <= file.size - offset;
}

static struct sections find_sections(struct bytes file)
{
    struct sections s = { 0 };
    const struct {
        const char *name;
        struct bytes *section;
    } wanted[] = { { ".debug_line", &s.line },
                   { ".debug_line_str", &s.line_str },
                   { ".debug_str", &s.str } };
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)file.data;
    if (!is_in_file(file, e->e_shoff, (uint64_t)e->e_shnum * sizeof(Elf64_Shdr)) ||
        e->e_shstrndx >= e->e_shnum)
        return s;
    const Elf64_Shdr *h = (const Elf64_Shdr *)(file.data + e->e_shoff), *n = &h[e->e_shstrndx];
    if (!is_in_file(file, n->sh_offset, n->sh_size))
        return s;
    struct bytes names = { file.data + n->sh_offset, n->sh_size };
    for (unsigned i = 0; i < e->e_shnum; i++)
        for (unsigned w = 0; w < sizeof wanted / sizeof *wanted; w++)
            if (h[i].sh_type == SHT_PROGBITS && !(h[i].sh_flags & SHF_COMPRESSED) &&
                is_in_file(file, h[i].sh_offset, h[i].sh_size) &&
                strcmp(string_of(names, h[i].sh_name), wanted[w].name) == 0)
                *wanted[w].section = (struct bytes){ file.data + h[i].sh_offset, h[i].sh_size };
    return s;
}

/* ------------------------------------------------------------------ a table's header */
struct table {
    const struct sections *sections;
    struct reader program, names; /* names: of the files */
    unsigned version, offset_size, instruction, line_range, opcode_base;
    int line_base;
    const unsigned char *lengths; /* operands of the standard opcodes */
};

enum { FORM_BLOCK = 0x09, FORM_DATA1 = 0x0b, FORM_DATA2 = 0x05, FORM_DATA4 = 0x06 };
enum { FORM_DATA8 = 0x07, FORM_DATA16 = 0x1e, FORM_STRING = 0x08, FORM_STRP = 0x0e };
enum { FORM_UDATA = 0x0f, FORM_LINE_STRP = 0x1f, CONTENT_PATH = 1 };

/* A string where the form is one, "" otherwise. */
static const char *read_form(struct reader *r, const struct table *t, uint64_t form)
{
    switch (form) {
    case FORM_STRING: return read_string(r);
    case FORM_LINE_STRP: return string_of(t->sections->line_str, read_bytes(r, t->offset_size));
    case FORM_STRP: return string_of(t->sections->str, read_bytes(r, t->offset_size));
    case FORM_DATA1: read_bytes(r, 1); return "";
    case FORM_DATA2: read_bytes(r, 2); return "";
    case FORM_DATA4: read_bytes(r, 4); return "";
    case FORM_DATA8: read_bytes(r, 8); return "";
    case FORM_DATA16: read_bytes(r, 16); return "";
    case FORM_UDATA: read_leb(r, false); return "";
    default: r->at = r->end; return "";
    }
}

/* The path of entry `wanted` of a list of directories or files of version 5; reads past the list.
 */
static const char *read_entries(struct reader *r, const struct table *t, uint64_t wanted)
{
    struct reader formats;
    const char *found = "";
    unsigned n = (unsigned)read_bytes(r, 1);
    formats = *r;
    for (unsigned i = 0; i < 2 * n; i++)
        read_leb(r, false);
    uint64_t count = read_leb(r, false);
    for (uint64_t e = 0; e < count && r->at < r->end; e++) {
        struct reader f = formats;
        for (unsigned i = 0; i < n; i++) {
            uint64_t content = read_leb(&f, false);
            const char *text = read_form(r, t, read_leb(&f, false));
            if (e == wanted && content == CONTENT_PATH)
                found = text;
        }
    }
    return found;
}

/* Version 4: strings up to an empty one; files are counted from 1. */
static const char *find_old_file(struct reader r, uint64_t wanted)
{
    while (r.at < r.end && *read_string(&r))
        ;
    for (uint64_t i = 1; r.at < r.end; i++) {
        const char *name = read_string(&r);
        if (!*name || i == wanted)
            return name;
        for (unsigned k = 0; k < 3; k++)
            read_leb(&r, false);
    }
    return "";
}

static const char *file_name(const struct table *t, uint64_t number)
{
    struct reader r = t->names;
    if (t->version < 5)
        return find_old_file(r, number);
    read_entries(&r, t, ~(uint64_t)0);
    return read_entries(&r, t, number);
}

/* The table at r, which then stands after it. */
static bool read_table(struct reader *r, struct table *t)
{
    uint64_t size = read_bytes(r, 4);
    t->offset_size = size == 0xffffffff ? 8 : 4;
    if (t->offset_size == 8)
        size = read_bytes(r, 8);
    if (size > (uint64_t)(r->end - r->at))
        return false;
    struct reader all = { r->at, r->at + size };
    r->at = all.end;
    t->version = (unsigned)read_bytes(&all, 2);
    if (t->version < 4 || t->version > 5)
        return false;
    if (t->version == 5)
        read_bytes(&all, 2); /* sizes of addresses and segments */
    uint64_t header = read_bytes(&all, t->offset_size);
    if (header > (uint64_t)(all.end - all.at))
        return false;
    t->program = (struct reader){ all.at + header, all.end };
    t->instruction = (unsigned)read_bytes(&all, 1);
    read_bytes(&all, 2); /* operations an instruction, default_is_stmt */
    t->line_base = (int8_t)read_bytes(&all, 1);
    t->line_range = (unsigned)read_bytes(&all, 1);
    t->opcode_base = (unsigned)read_bytes(&all, 1);
    t->lengths = all.at;
    read_bytes(&all, t->opcode_base - 1);
    t->names = (struct reader){ all.at, t->program.at };
    return t->opcode_base && t->line_range && all.at < all.end;
}

/* ------------------------------------------------------------------ its program */
enum {
    COPY = 1,
    ADVANCE_PC,
    ADVANCE_LINE,
    SET_FILE,
    SET_COLUMN,
    CONST_ADD_PC = 8,
    FIXED_ADVANCE_PC
};
enum { END_SEQUENCE = 1, SET_ADDRESS };
struct row {
    uint64_t address, file, column;
    int64_t line;
    bool end; /* of a sequence: nothing holds from here on */
};

/* Whether the row is complete: it holds from its address on. */
static bool run_extended(struct reader *r, struct row *row)
{
    uint64_t size = read_leb(r, false);
    if (!size || size > (uint64_t)(r->end - r->at))
        return false;
    struct reader operand = { r->at, r->at + size };
    r->at += size;
    uint64_t opcode = read_bytes(&operand, 1);
    if (opcode == SET_ADDRESS)
        row->address = read_bytes(&operand, 8);
    row->end = opcode == END_SEQUENCE;
    return row->end;
}

static bool run_special(const struct table *t, struct row *row, unsigned opcode)
{
    unsigned n = opcode - t->opcode_base;
    row->address += n / t->line_range * t->instruction;
    row->line += t->line_base + (int)(n % t->line_range);
    return true;
}

static bool run_opcode(const struct table *t, struct reader *r, struct row *row)
{
    unsigned opcode = (unsigned)read_bytes(r, 1);
    if (opcode >= t->opcode_base)
        return run_special(t, row, opcode);
    switch (opcode) {
    case 0: return run_extended(r, row);
    case COPY: return true;
    case ADVANCE_PC: row->address += read_leb(r, false) * t->instruction; return false;
    case ADVANCE_LINE: row->line += (int64_t)read_leb(r, true); return false;
    case SET_FILE: row->file = read_leb(r, false); return false;
    case SET_COLUMN: row->column = read_leb(r, false); return false;
    case CONST_ADD_PC:
        row->address += (255 - t->opcode_base) / t->line_range * t->instruction;
        return false;
    case FIXED_ADVANCE_PC: row->address += read_bytes(r, 2); return false;
    default:
        for (unsigned i = 0; i < t->lengths[opcode - 1]; i++)
            read_leb(r, false);
        return false;
    }
}

static bool find_row(const struct table *t, uint64_t address, struct row *found)
{
    const struct row start = { .file = 1, .line = 1 };
    struct reader r = t->program;
    struct row row = start, before = { .end = true };
    while (r.at < r.end) {
        if (!run_opcode(t, &r, &row))
            continue;
        if (!before.end && before.address <= address && address < row.address) {
            *found = before;
            return true;
        }
        /* line 0: code that optimisation has put together from several lines */
        int64_t line = row.line || before.end ? row.line : before.line;
        before = row;
        before.line = line, before.column = row.line ? row.column : 0;
        if (row.end)
            row = start;
    }
    return false;
}

bool ompgpu_emu_line_of(const struct emu_module *m, const void *pc, struct ompgpu_line *line)
{
    struct sections s = find_sections((struct bytes){ m->file, m->file_size });
    struct reader all = { s.line.data, s.line.data + s.line.size };
    struct row row;
    while (all.at < all.end) {
        struct table t = { .sections = &s };
        if (!read_table(&all, &t) || !find_row(&t, (uint64_t)pc - m->base, &row) || row.line <= 0)
            continue;
        snprintf(line->file, sizeof line->file, "%s", file_name(&t, row.file));
        line->line = (unsigned)row.line, line->column = (unsigned)row.column;
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------ of the host program */
static struct bytes map_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *p = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && (size_t)st.st_size >= sizeof(Elf64_Ehdr))
        p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    return (struct bytes){ p == MAP_FAILED ? NULL : p, p == MAP_FAILED ? 0 : (size_t)st.st_size };
}

bool ompgpu_host_line(const void *pc, struct ompgpu_line *line)
{
    Dl_info info;
    struct link_map *map;
    if (!dladdr1(pc, &info, (void **)&map, RTLD_DL_LINKMAP))
        return false;
    struct bytes file = map_file(*map->l_name ? map->l_name : "/proc/self/exe");
    struct emu_module m = { .file = file.data, .file_size = file.size, .base = map->l_addr };
    bool found = file.data && ompgpu_emu_line_of(&m, pc, line);
    if (file.data)
        munmap((void *)file.data, file.size);
    return found;
}
