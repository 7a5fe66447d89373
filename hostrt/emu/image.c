/* image.c - images of the emulated device.
 *
 * An image is an ELF shared object inside the container.  It is written to a memory file and opened
 * by its name under /proc, which debuggers can read, too; so kernels can be stepped through like
 * host code.  A core file outlives it, so where one is wanted the image has a file, which stays
 * when the process is aborted.  Every load is a separate object with variables of its own, as
 * modules of a GPU are.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "hostrt/emu/emu.h"

static int write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

/* A file with a name where a core file may need it, and an unlinked one where the kernel has no
 * memory files. */
static void open_file(struct emu_module *m)
{
    const char *dir = secure_getenv("TMPDIR");
    bool named = ompgpu_leaves_core();
    m->fd = named ? -1 : memfd_create("ompgpu-image", MFD_CLOEXEC);
    if (m->fd >= 0)
        return;
    snprintf(m->path, sizeof m->path, "%.480s/ompgpu-image-XXXXXX", dir && *dir ? dir : "/tmp");
    m->fd = mkostemp(m->path, 0x80000 /* O_CLOEXEC */);
    if (m->fd < 0 || !named) {
        unlink(m->path);
        *m->path = '\0';
    }
}

static bool in_file(uint64_t offset, uint64_t bytes, size_t size)
{
    return offset <= size && bytes <= size - offset;
}

/* A shared object for this processor that is complete: the dynamic linker does not survive one that
 * is cut off. */
static bool is_elf(const void *data, size_t size)
{
    Elf64_Ehdr e;
    Elf64_Phdr p;
    if (size < sizeof e)
        return false;
    memcpy(&e, data, sizeof e);
    if (memcmp(e.e_ident, ELFMAG, SELFMAG) || e.e_ident[EI_CLASS] != ELFCLASS64 ||
        e.e_machine != EM_X86_64 || e.e_type != ET_DYN || e.e_phentsize != sizeof p ||
        !in_file(e.e_phoff, e.e_phnum * sizeof p, size) ||
        (e.e_shnum && e.e_shentsize != sizeof(Elf64_Shdr)) ||
        !in_file(e.e_shoff, (uint64_t)e.e_shnum * e.e_shentsize, size))
        return false;
    for (unsigned i = 0; i < e.e_phnum; i++) {
        memcpy(&p, (const char *)data + e.e_phoff + i * sizeof p, sizeof p);
        if (p.p_type == PT_LOAD && !in_file(p.p_offset, p.p_filesz, size))
            return false;
    }
    return true;
}

/* Where the segments lie in memory: device memory that the host may copy to and from. */
static void find_segments(struct emu_module *m, const void *data)
{
    const Elf64_Ehdr *e = data;
    struct link_map *map;
    if (dlinfo(m->handle, RTLD_DI_LINKMAP, &map))
        return;
    m->base = map->l_addr;
    for (unsigned i = 0; i < e->e_phnum && m->nsegments < sizeof m->segment / sizeof *m->segment;
         i++) {
        Elf64_Phdr p;
        memcpy(&p, (const char *)data + e->e_phoff + i * sizeof p, sizeof p);
        if (p.p_type == PT_LOAD)
            m->segment[m->nsegments++] =
                (struct emu_segment){ .base = (char *)map->l_addr + p.p_vaddr,
                                      .size = p.p_memsz,
                                      .code = p.p_flags & PF_X,
                                      .cells = p.p_flags & PF_W && ompgpu_emu_race_start()
                                                   ? ompgpu_xalloc(2 * p.p_memsz + 16)
                                                   : NULL };
    }
}

static const struct emu_segment *find_segment(const struct emu_module *m, const void *p)
{
    for (unsigned i = 0; i < m->nsegments; i++)
        if ((uintptr_t)p - (uintptr_t)m->segment[i].base < m->segment[i].size)
            return &m->segment[i];
    return NULL;
}

bool ompgpu_emu_image_has(const struct emu_module *m, const void *p)
{
    return find_segment(m, p) != NULL;
}

uint64_t *ompgpu_emu_image_cell(const struct emu_module *m, uintptr_t word)
{
    const struct emu_segment *s = find_segment(m, (void *)word);
    return s && s->cells ? s->cells + (word - ((uintptr_t)s->base & ~(uintptr_t)3)) / 4 : NULL;
}

bool ompgpu_emu_image_has_code(const struct emu_module *m, const void *p)
{
    const struct emu_segment *s = find_segment(m, p);
    return s && s->code;
}

/* An image may be loaded where another thread has just unloaded one.  The kernel orders the two,
 * and this does for who only sees what threads do to each other (`make tsan`). */
static void pass_on_memory(void)
{
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&turn);
    pthread_mutex_unlock(&turn);
}

/* Without room, the image runs unchecked. */
static void start_checks(struct emu_module *m)
{
    uint32_t *checked = dlsym(m->handle, OMPGPU_EMU_CHECKED);
    if (!checked)
        return;
    m->guards = *checked & OMPGPU_EMU_HAS_GUARDS;
    *checked = (m->guards ? OMPGPU_EMU_HAS_GUARDS : 0) |
               (ompgpu_emu_shadow_start() ? OMPGPU_EMU_TEST_SHADOW : 0) |
               (ompgpu_emu_race_start() ? OMPGPU_EMU_TEST_RACES : 0);
    m->random = dlsym(m->handle, OMPGPU_EMU_DEBUG) != NULL;
}

static int open_image(struct emu_module *m)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), m->fd);
    if (!(m->handle = dlopen(*m->path ? m->path : path, RTLD_NOW | RTLD_LOCAL))) {
        ompgpu_plugin_error("dlopen failed: %s", dlerror());
        return 1;
    }
    pass_on_memory();
    struct ompgpu_emu_ops **ops = dlsym(m->handle, "__ompgpu_emu_ops");
    long *self_at = dlsym(m->handle, "__ompgpu_emu_self_at");
    if (!ops || !self_at) {
        ompgpu_plugin_error("the image lacks %s: not built for the emulated device",
                            ops ? "__ompgpu_emu_self_at" : "__ompgpu_emu_ops");
        return 1;
    }
    start_checks(m);
    m->acquired = dlsym(m->handle, "__ompgpu_emu_acquired");
    const uint64_t *shared_bytes = dlsym(m->handle, OMPGPU_EMU_SHARED_BYTES);
    m->shared_bytes = shared_bytes ? *shared_bytes : 0;
    const uint64_t *storage_bytes = dlsym(m->handle, OMPGPU_EMU_STORAGE_BYTES);
    m->storage_bytes = storage_bytes ? *storage_bytes : 0;
    m->objects = dlsym(m->handle, OMPGPU_EMU_OBJECTS);
    *ops = &ompgpu_emu_ops;
    *self_at = (char *)&ompgpu_emu_self - (char *)__builtin_thread_pointer();
    return 0;
}

int ompgpu_emu_image_load(const void *data, size_t size, struct emu_module **module)
{
    if (!is_elf(data, size)) {
        ompgpu_plugin_error(
            "the image for the emulated device is not a complete x86-64 ELF shared object");
        return 1;
    }
    /* Kernels call the mathematical library; the host program itself may do without. */
    dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL);
    struct emu_module *m = ompgpu_xalloc(sizeof *m);
    if (!m)
        return 1;
    pthread_mutex_init(&m->lock, NULL);
    open_file(m);
    if (m->fd < 0 || write_all(m->fd, data, size)) {
        ompgpu_plugin_error("%s failed: %s", m->fd < 0 ? "memfd_create" : "write of the image",
                            strerror(errno));
        ompgpu_emu_image_unload(m);
        return 1;
    }
    if (open_image(m)) {
        ompgpu_emu_image_unload(m);
        return 1;
    }
    m->file = data, m->file_size = size;
    find_segments(m, data);
    *module = m;
    return 0;
}

void ompgpu_emu_image_unload(struct emu_module *m)
{
    ompgpu_emu_race_unload(m);
    while (m->kernels) {
        struct emu_kernel *next = m->kernels->next;
        ompgpu_xfree(m->kernels);
        m->kernels = next;
    }
    for (unsigned i = 0; i < m->nsegments; i++)
        ompgpu_xfree(m->segment[i].cells);
    pass_on_memory();
    if (m->handle)
        dlclose(m->handle);
    if (*m->path)
        unlink(m->path);
    if (m->fd >= 0)
        close(m->fd);
    pthread_mutex_destroy(&m->lock);
    ompgpu_xfree(m);
}

static Elf64_Shdr section_of(const struct emu_module *m, unsigned i)
{
    const Elf64_Ehdr *e = (const void *)m->file;
    Elf64_Shdr s = { 0 };
    if (i < e->e_shnum)
        memcpy(&s, m->file + e->e_shoff + i * sizeof s, sizeof s);
    return in_file(s.sh_offset, s.sh_size, m->file_size) ? s : (Elf64_Shdr){ 0 };
}

static bool is_named(const struct emu_module *m, const Elf64_Sym *symbol, const Elf64_Shdr *names,
                     const char *name)
{
    size_t size = strlen(name) + 1;
    return symbol->st_shndx && in_file(symbol->st_name, size, names->sh_size) &&
           !memcmp(m->file + names->sh_offset + symbol->st_name, name, size);
}

/* In the file, not by dlsym(), which takes the dynamic linker's lock: the caller may hold one that
 * comes after it (core/register.c). */
static bool find_symbol(const struct emu_module *m, const char *name, Elf64_Sym *symbol)
{
    const Elf64_Ehdr *e = (const void *)m->file;
    for (unsigned i = 0; i < e->e_shnum; i++) {
        const Elf64_Shdr s = section_of(m, i), names = section_of(m, s.sh_link);
        if (s.sh_type != SHT_DYNSYM)
            continue;
        for (size_t at = 0; at + sizeof *symbol <= s.sh_size; at += sizeof *symbol) {
            memcpy(symbol, m->file + s.sh_offset + at, sizeof *symbol);
            if (is_named(m, symbol, &names, name))
                return true;
        }
    }
    return false;
}

static void *find_address(const struct emu_module *m, const char *name)
{
    Elf64_Sym symbol;
    return find_symbol(m, name, &symbol) ? (char *)m->base + symbol.st_value : NULL;
}

/* Names may be as long as a program likes. */
static void *find_prefixed(const struct emu_module *m, const char *prefix, const char *name)
{
    size_t size = strlen(prefix) + strlen(name) + 1;
    char *symbol = ompgpu_xalloc(size);
    if (!symbol)
        return NULL;
    snprintf(symbol, size, "%s%s", prefix, name);
    void *entry = find_address(m, symbol);
    ompgpu_xfree(symbol);
    return entry;
}

/* A kernel has one of the forms. */
static void *find_kernel(const struct emu_module *m, const char *name, enum emu_form *form)
{
    static const char *const prefixes[] = { [EMU_SPAN] = OMPGPU_EMU_SPAN,
                                            [EMU_STACKLESS] = OMPGPU_EMU_START };
    for (*form = EMU_SPAN; *form != EMU_FIBERS; ++*form) {
        void *entry = find_prefixed(m, prefixes[*form], name);
        if (entry)
            return entry;
    }
    return find_address(m, name);
}

int ompgpu_emu_image_kernel(struct emu_module *m, const char *name, struct emu_kernel **kernel)
{
    enum emu_form form;
    void *entry = find_kernel(m, name, &form);
    if (!entry) {
        ompgpu_plugin_error("the image has no kernel %s", name);
        return 1;
    }
    struct emu_kernel *k = ompgpu_xalloc(sizeof *k);
    if (!k)
        return 1;
    *k = (struct emu_kernel){ .entry = entry, .form = form, .module = m };
    pthread_mutex_lock(&m->lock);
    k->next = m->kernels;
    m->kernels = k;
    pthread_mutex_unlock(&m->lock);
    *kernel = k;
    return 0;
}

int ompgpu_emu_image_variable(struct emu_module *m, const char *name, void **address, size_t *size)
{
    Elf64_Sym symbol;
    if (!find_symbol(m, name, &symbol)) {
        ompgpu_plugin_error("the image has no variable %s", name);
        return 1;
    }
    *address = (char *)m->base + symbol.st_value, *size = symbol.st_size;
    return 0;
}
