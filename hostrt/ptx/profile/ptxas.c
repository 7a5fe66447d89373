/* ptxas.c - registers and occupancy.  How many registers a kernel has is decided by ptxas alone: it
 * is run once for each module that was profiled, where it is installed, and the numbers are read
 * from the cubin (section .nv.info, an entry for each function). */
#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hostrt/occupancy.h"
#include "hostrt/ptx/profile/profile.h"

extern char **environ;
enum { EIFMT_SVAL = 4, EIATTR_REGCOUNT = 0x2f };

/* ------------------------------------------------------------------ ptxas */
static bool run_ptxas(const char *program, unsigned arch, const char *ptx, const char *cubin)
{
    char target[32];
    char *argv[] = { (char *)"ptxas",          target, (char *)(uintptr_t)ptx, (char *)"-o",
                     (char *)(uintptr_t)cubin, NULL };
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    int status;
    snprintf(target, sizeof target, "-arch=sm_%u", arch);
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(&pid, program, &quiet, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&quiet);
    return !error && waitpid(pid, &status, 0) == pid && !status;
}

static bool write_text(int fd, const char *text)
{
    for (size_t left = strlen(text); left;) {
        ssize_t n = write(fd, text, left);
        if (n <= 0)
            return false;
        text += n;
        left -= (size_t)n;
    }
    return true;
}

static char *read_all(const char *path, size_t *size)
{
    FILE *f = fopen(path, "r");
    long n = -1;
    char *data = NULL;
    if (f && !fseek(f, 0, SEEK_END))
        n = ftell(f);
    if (n > 0 && (data = malloc((size_t)n))) {
        rewind(f);
        *size = fread(data, 1, (size_t)n, f);
    }
    if (f)
        fclose(f);
    return data;
}

/* The cubin of a module for the device that the machine stands for; NULL without ptxas. */
static char *assemble(const struct module *m, size_t *size)
{
    char ptx[] = "/tmp/ompgpu-ptx-XXXXXX", cubin[] = "/tmp/ompgpu-cubin-XXXXXX", *data = NULL;
    int in = mkstemp(ptx), out = mkstemp(cubin);
    static const char *const programs[] = { "ptxas", "/usr/local/cuda/bin/ptxas" };
    bool good = in >= 0 && out >= 0 && write_text(in, m->text), done = false;
    for (unsigned k = 0; good && !done && k < 2; k++)
        done = run_ptxas(programs[k], ptx_settings.arch, ptx, cubin) ||
               run_ptxas(programs[k], m->target, ptx, cubin);
    if (done)
        data = read_all(cubin, size);
    if (in >= 0)
        close(in), unlink(ptx);
    if (out >= 0)
        close(out), unlink(cubin);
    return data;
}

/* ------------------------------------------------------------------ the cubin */
struct elf {
    const char *data;
    size_t size;
    const Elf64_Shdr *sections, *symbols;
    unsigned nsections;
};
static const void *elf_at(const struct elf *e, uint64_t offset, uint64_t size)
{
    return offset <= e->size && size <= e->size - offset ? e->data + offset : NULL;
}
static const char *elf_string(const struct elf *e, unsigned table, uint64_t offset)
{
    const Elf64_Shdr *s = table < e->nsections ? &e->sections[table] : NULL;
    const char *strings = s ? elf_at(e, s->sh_offset, s->sh_size) : NULL;
    return strings && offset < s->sh_size && !strings[s->sh_size - 1] ? strings + offset : "";
}

static bool open_elf(struct elf *e)
{
    const Elf64_Ehdr *h = elf_at(e, 0, sizeof *h);
    if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG))
        return false;
    e->nsections = h->e_shnum;
    e->sections = elf_at(e, h->e_shoff, e->nsections * sizeof *e->sections);
    for (unsigned k = 0; e->sections && k < e->nsections; k++)
        if (e->sections[k].sh_type == SHT_SYMTAB)
            e->symbols = &e->sections[k];
    return e->sections && e->symbols;
}

static void set_registers(const struct elf *e, uint32_t symbol, uint32_t registers,
                          const struct module *m, struct kernel *kernels)
{
    const Elf64_Sym *s = elf_at(e, e->symbols->sh_offset + symbol * sizeof *s, sizeof *s);
    const char *name = s ? elf_string(e, e->symbols->sh_link, s->st_name) : "";
    for (struct kernel *k = kernels; k; k = k->next)
        if (k->entry && k->entry->module == m && !strcmp(k->name, name))
            k->registers = registers;
}

/* Entries: format, attribute, a size or value of 16 bits; with EIFMT_SVAL so many bytes follow. */
static void read_info(const struct elf *e, const Elf64_Shdr *info, const struct module *m,
                      struct kernel *kernels)
{
    const unsigned char *p = elf_at(e, info->sh_offset, info->sh_size);
    for (uint64_t at = 0; p && at + 4 <= info->sh_size;) {
        uint16_t size;
        uint32_t pair[2];
        unsigned format = p[at], attribute = p[at + 1];
        memcpy(&size, p + at + 2, sizeof size);
        at += 4;
        if (format != EIFMT_SVAL)
            continue;
        if (attribute == EIATTR_REGCOUNT && size == sizeof pair && at + size <= info->sh_size) {
            memcpy(pair, p + at, sizeof pair);
            set_registers(e, pair[0], pair[1], m, kernels);
        }
        at += size;
    }
}

void ptx_find_registers(const struct module *m, struct kernel *kernels)
{
    struct elf e = { .size = 0 };
    char *data = assemble(m, &e.size);
    const Elf64_Ehdr *h = (const Elf64_Ehdr *)(void *)data;
    e.data = data;
    for (unsigned k = 0; data && open_elf(&e) && k < e.nsections; k++)
        if (!strcmp(elf_string(&e, h->e_shstrndx, e.sections[k].sh_name), ".nv.info"))
            read_info(&e, &e.sections[k], m, kernels);
    free(data);
}

/* ------------------------------------------------------------------ occupancy */
double ptx_occupancy(const struct kernel *k, const struct launch_totals *l)
{
    unsigned threads = l->block[0] * l->block[1] * l->block[2];
    return k->registers ? ompgpu_occupancy(ptx_settings.arch, k->registers,
                                           k->shared + l->dynamic_shared, threads)
                        : 0;
}
