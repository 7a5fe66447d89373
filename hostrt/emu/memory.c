/* memory.c - memory of an emulated device.
 *
 * It is apart from the host program's heap so that mistakes in a program show as they would on a
 * GPU: fresh memory is filled with a pattern (a missing map(to:) gives 0xCB bytes, not zeros),
 * copies must lie in one live block, and blocks above 32 KB stand between pages without access, so
 * that a kernel that runs off an array or uses a freed one faults.  Small blocks come from slabs.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "hostrt/emu/emu.h"

enum { SMALL_MIN = 256, SMALL_MAX = SMALL_MIN << (EMU_SMALL_CLASSES - 1), SLAB = 256 * 1024 };

int ompgpu_emu_memory_init(struct emu_memory *m, size_t limit)
{
    *m = (struct emu_memory){ .limit = limit };
    return pthread_mutex_init(&m->lock, NULL);
}

void ompgpu_emu_memory_fini(struct emu_memory *m)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < m->nblocks; i++)
        if (!m->blocks[i].fixed && m->blocks[i].mapped > SMALL_MAX)
            munmap(m->blocks[i].base - page, m->blocks[i].mapped + 2 * page);
    while (m->slabs) {
        void *next = *(void **)m->slabs;
        munmap(m->slabs, SLAB);
        m->slabs = next;
    }
    ompgpu_xfree(m->blocks);
    pthread_mutex_destroy(&m->lock);
    *m = (struct emu_memory){ 0 };
}

/* ------------------------------------------------------------------ the table of live blocks */
/* Index of the first block that starts above p. */
static size_t block_above(const struct emu_memory *m, const char *p)
{
    size_t lo = 0, hi = m->nblocks;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (m->blocks[mid].base <= p)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static struct emu_block *block_at(const struct emu_memory *m, const void *p)
{
    size_t i = block_above(m, p);
    return i && m->blocks[i - 1].base == (const char *)p ? &m->blocks[i - 1] : NULL;
}

static int block_add(struct emu_memory *m, struct emu_block b)
{
    if (m->nblocks == m->capacity) {
        size_t capacity = m->capacity ? 2 * m->capacity : 64;
        struct emu_block *grown = ompgpu_xalloc(capacity * sizeof *grown);
        if (!grown)
            return 1;
        if (m->nblocks)
            memcpy(grown, m->blocks, m->nblocks * sizeof *grown);
        ompgpu_xfree(m->blocks);
        m->blocks = grown;
        m->capacity = capacity;
    }
    size_t i = block_above(m, b.base);
    memmove(m->blocks + i + 1, m->blocks + i, (m->nblocks++ - i) * sizeof *m->blocks);
    m->blocks[i] = b;
    return 0;
}

static void block_remove(struct emu_memory *m, struct emu_block *b)
{
    memmove(b, b + 1, (size_t)(m->blocks + --m->nblocks - b) * sizeof *b);
}

int ompgpu_emu_memory_add(struct emu_memory *m, void *base, size_t size)
{
    pthread_mutex_lock(&m->lock);
    int err = block_add(m, (struct emu_block){ .base = base, .size = size, .fixed = true });
    pthread_mutex_unlock(&m->lock);
    return err;
}

void ompgpu_emu_memory_remove(struct emu_memory *m, void *base)
{
    pthread_mutex_lock(&m->lock);
    struct emu_block *b = block_at(m, base);
    if (b)
        block_remove(m, b);
    pthread_mutex_unlock(&m->lock);
}

int ompgpu_emu_memory_check(struct emu_memory *m, const void *address, size_t size,
                            const char *what)
{
    const char *p = address;
    pthread_mutex_lock(&m->lock);
    size_t i = block_above(m, p);
    struct emu_block b = i ? m->blocks[i - 1] : (struct emu_block){ 0 };
    pthread_mutex_unlock(&m->lock);
    size_t offset = (size_t)(p - b.base);
    if (i && offset <= b.size && size <= b.size - offset)
        return 0;
    if (i && offset < b.size)
        ompgpu_plugin_error(
            "%s: %zu bytes at %p run %zu bytes past the end of the %s of %zu bytes at %p", what,
            size, address, offset + size - b.size,
            b.fixed ? "image segment" : "device memory block", b.size, (void *)b.base);
    else
        ompgpu_plugin_error("%s: %zu bytes at %p are not in device memory", what, size, address);
    return 1;
}

/* ------------------------------------------------------------------ allocation */
static unsigned small_class(size_t size)
{
    unsigned c = 0;
    while ((size_t)SMALL_MIN << c < size)
        c++;
    return c;
}

static void *small_alloc(struct emu_memory *m, unsigned c)
{
    if (!m->free[c]) {
        size_t each = (size_t)SMALL_MIN << c;
        char *slab = mmap(NULL, SLAB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (slab == MAP_FAILED)
            return NULL;
        *(void **)slab = m->slabs;
        m->slabs = slab;
        for (size_t at = SLAB - each; at >= SMALL_MIN && at >= each;
             at -= each) { /* the first one holds the link */
            *(void **)(slab + at) = m->free[c];
            m->free[c] = slab + at;
        }
    }
    void *p = m->free[c];
    m->free[c] = *(void **)p;
    return p;
}

static void *big_alloc(size_t mapped)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, mapped + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (mprotect(p + page, mapped, PROT_READ | PROT_WRITE)) {
        munmap(p, mapped + 2 * page);
        return NULL;
    }
    return p + page;
}

static void release_block(struct emu_memory *m, char *base, size_t mapped)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (mapped > SMALL_MAX) {
        munmap(base - page, mapped + 2 * page);
        return;
    }
    unsigned c = small_class(mapped);
    *(void **)base = m->free[c];
    m->free[c] = base;
}

static size_t round_size(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size <= SMALL_MAX)
        return (size_t)SMALL_MIN << small_class(size);
    return (size + page - 1) & ~(page - 1);
}

int ompgpu_emu_memory_alloc(struct emu_memory *m, size_t size, void **address)
{
    size_t mapped = size > SIZE_MAX / 2 ? size : round_size(size);
    void *p = NULL;
    pthread_mutex_lock(&m->lock);
    size_t left = m->limit - m->in_use;
    if (mapped <= left) {
        p = mapped > SMALL_MAX ? big_alloc(mapped) : small_alloc(m, small_class(mapped));
        if (p && block_add(m, (struct emu_block){ .base = p, .size = size, .mapped = mapped })) {
            release_block(m, p, mapped);
            p = NULL;
        }
        if (p)
            m->in_use += mapped;
    }
    pthread_mutex_unlock(&m->lock);
    if (!p) {
        ompgpu_plugin_error("out of device memory: %zu bytes wanted, %zu of %zu are free%s", size,
                            left, m->limit,
                            mapped <= left ? " but the host has no memory for them" : "");
        return 1;
    }
    memset(p, EMU_POISON, mapped);
    *address = p;
    return 0;
}

int ompgpu_emu_memory_free(struct emu_memory *m, void *address)
{
    if (!address)
        return 0;
    pthread_mutex_lock(&m->lock);
    struct emu_block *b = block_at(m, address);
    bool known = b && !b->fixed;
    if (known) {
        size_t mapped = b->mapped;
        block_remove(m, b);
        m->in_use -= mapped;
        release_block(m, address, mapped);
    }
    pthread_mutex_unlock(&m->lock);
    if (!known)
        ompgpu_plugin_error("free of %p, which is not a live device memory block (freed before, or "
                            "never allocated)",
                            address);
    return !known;
}
