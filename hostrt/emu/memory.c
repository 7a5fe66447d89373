/* memory.c - memory of an emulated device.
 *
 * It is apart from the host program's heap so that mistakes in a program show as they would on a
 * GPU: fresh memory is filled with a pattern (a missing map(to:) gives 0xCB bytes, not zeros),
 * copies must lie in one live block, and blocks above 32 KB stand between gaps without access, so
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

/* ------------------------------------------------------------------ the table of live blocks */
static size_t reserved_bytes(const struct emu_block *b) { return b->range.end - b->range.begin; }

/* The block that has this byte. */
static struct emu_block *block_of(struct emu_memory *m, const void *p)
{
    return (struct emu_block *)ompgpu_ranges_find(&m->blocks, (uintptr_t)p, 1);
}

static struct emu_block *block_at(struct emu_memory *m, const void *p)
{
    struct emu_block *b = block_of(m, p);
    return b && b->range.begin == (uintptr_t)p ? b : NULL;
}

static int block_add(struct emu_memory *m, void *base, size_t reserved, struct emu_block block)
{
    struct emu_block *b = ompgpu_xalloc(sizeof *b);
    if (!b)
        return 1;
    *b = block;
    b->range.begin = (uintptr_t)base, b->range.end = b->range.begin + reserved;
    ompgpu_ranges_insert(&m->blocks, &b->range);
    return 0;
}

static void block_remove(struct emu_memory *m, struct emu_block *b)
{
    ompgpu_ranges_remove(&m->blocks, &b->range);
    ompgpu_xfree(b);
}

static void unmap(void *base, size_t size)
{
    ompgpu_emu_unmapped(base);
    munmap(base, size);
}

void ompgpu_emu_memory_fini(struct emu_memory *m)
{
    for (struct emu_block *b; (b = (struct emu_block *)m->blocks.root); block_remove(m, b))
        if (!b->fixed && reserved_bytes(b) > SMALL_MAX)
            unmap((char *)b->range.begin, reserved_bytes(b));
    while (m->slabs) {
        void *next = *(void **)m->slabs;
        unmap(m->slabs, SLAB);
        m->slabs = next;
    }
    pthread_mutex_destroy(&m->lock);
    *m = (struct emu_memory){ 0 };
}

int ompgpu_emu_memory_add(struct emu_memory *m, void *base, size_t size)
{
    pthread_mutex_lock(&m->lock);
    int err = block_add(m, base, size, (struct emu_block){ .size = size, .fixed = true });
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

bool ompgpu_emu_memory_block(struct emu_memory *m, const void *p, struct emu_block *block)
{
    pthread_mutex_lock(&m->lock);
    const struct emu_block *b = block_of(m, p);
    if (b)
        *block = *b;
    pthread_mutex_unlock(&m->lock);
    return b;
}

void ompgpu_emu_memory_trust(struct emu_memory *m, const void *base)
{
    pthread_mutex_lock(&m->lock);
    struct emu_block *b = block_at(m, base);
    if (b)
        b->trusted = true;
    pthread_mutex_unlock(&m->lock);
}

void ompgpu_emu_memory_expose(struct emu_memory *m, const void *base)
{
    pthread_mutex_lock(&m->lock);
    const struct emu_block *b = block_of(m, base);
    char *slab = NULL;
    if (b && !b->fixed && !b->open && reserved_bytes(b) > SMALL_MAX)
        ompgpu_emu_close((void *)b->range.begin, reserved_bytes(b));
    else if (b && !b->fixed && !b->open)
        for (slab = m->slabs; (size_t)((const char *)base - slab) >= SLAB; slab = *(char **)slab) {}
    if (slab)
        ompgpu_emu_close(slab, SLAB);
    pthread_mutex_unlock(&m->lock);
}

void ompgpu_emu_memory_note_heap(struct emu_memory *m, const void *base)
{
    pthread_mutex_lock(&m->lock);
    struct emu_block *b = block_at(m, base);
    if (b)
        b->heap = true;
    pthread_mutex_unlock(&m->lock);
}

/* How far it was looked at. */
static void note_defined(struct emu_memory *m, const struct emu_block *seen)
{
    pthread_mutex_lock(&m->lock);
    struct emu_block *b = block_at(m, (void *)seen->range.begin);
    if (b)
        b->defined = seen->defined, b->seen = seen->seen;
    pthread_mutex_unlock(&m->lock);
}

struct ompgpu_emu_extent ompgpu_emu_memory_extent(struct emu_memory *m, const void *p)
{
    struct emu_block b;
    if (!ompgpu_emu_is_memory(p) || !ompgpu_emu_memory_block(m, p, &b) || b.fixed)
        return (struct ompgpu_emu_extent){ 0 };
    unsigned now = ompgpu_emu_shadow_time();
    if (b.seen != now)
        b.defined = 0, b.seen = now;
    if (ompgpu_emu_shadowed() && b.defined < b.size) {
        b.defined +=
            ompgpu_emu_shadow_defined((char *)b.range.begin + b.defined, b.size - b.defined);
        note_defined(m, &b);
    }
    return (struct ompgpu_emu_extent){ b.range.begin, b.defined == b.size ? b.size : 0, 0 };
}

bool ompgpu_emu_memory_owns(struct emu_memory *m, const void *p)
{
    pthread_mutex_lock(&m->lock);
    bool owned = block_of(m, p);
    pthread_mutex_unlock(&m->lock);
    return owned;
}

int ompgpu_emu_memory_check(struct emu_memory *m, const void *address, size_t size,
                            const char *what)
{
    pthread_mutex_lock(&m->lock);
    const struct emu_block *found = block_of(m, address);
    struct emu_block b = found ? *found : (struct emu_block){ 0 };
    pthread_mutex_unlock(&m->lock);
    size_t offset = (uintptr_t)address - b.range.begin;
    if (found && offset <= b.size && size <= b.size - offset)
        return 0;
    if (found && offset < b.size)
        ompgpu_plugin_error(
            "%s: %zu bytes at %p run %zu bytes past the end of the %s of %zu bytes at %p", what,
            size, address, offset + size - b.size,
            b.fixed ? "image segment" : "device memory block", b.size, (void *)b.range.begin);
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
        m->last[c] = NULL;
        size_t each = (size_t)SMALL_MIN << c;
        char *slab = ompgpu_emu_window_map(EMU_FOR_MEMORY, SLAB);
        if (!slab)
            return NULL;
        *(void **)slab = m->slabs;
        m->slabs = slab;
        ompgpu_emu_shadow_set(slab, SLAB, EMU_GUARD);
        for (size_t at = SLAB - each; at >= SMALL_MIN && at >= each;
             at -= each) { /* the first one holds the link */
            *(void **)(slab + at) = m->free[c];
            m->last[c] = m->last[c] ? m->last[c] : slab + at;
            m->free[c] = slab + at;
        }
    }
    void *p = m->free[c];
    m->free[c] = *(void **)p;
    return p;
}

static void release_block(struct emu_memory *m, char *base, size_t mapped)
{
    if (mapped > SMALL_MAX) {
        unmap(base, mapped);
        ompgpu_emu_shadow_drop(base, mapped);
        ompgpu_emu_race_drop(base, mapped);
        return;
    }
    unsigned c = small_class(mapped);
    ompgpu_emu_shadow_set(base, mapped, EMU_FREED);
    if (ompgpu_emu_shadowed() && m->free[c]) { /* the last to be used again */
        *(void **)base = NULL;
        *(void **)m->last[c] = base;
        m->last[c] = base;
        return;
    }
    *(void **)base = m->free[c];
    m->last[c] = m->free[c] ? m->last[c] : base;
    m->free[c] = base;
}

static size_t round_size(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size <= SMALL_MAX)
        return (size_t)SMALL_MIN << small_class(size);
    return (size + page - 1) & ~(page - 1);
}

/* What follows a block is nobody's where that is looked at. */
static size_t with_guard(size_t size)
{
    return ompgpu_emu_shadowed() ? size + EMU_GUARD_BYTES : size;
}

int ompgpu_emu_memory_alloc(struct emu_memory *m, size_t size, bool open, void **address)
{
    size_t least = open && ompgpu_emu_shadowed() ? SMALL_MAX + 1 : size,
           mapped =
               size > SIZE_MAX / 2 ? size : round_size(with_guard(size > least ? size : least));
    void *p = NULL;
    pthread_mutex_lock(&m->lock);
    size_t left = m->limit - m->in_use;
    if (mapped <= left) {
        p = mapped > SMALL_MAX ? ompgpu_emu_window_map(EMU_FOR_MEMORY, mapped)
                               : small_alloc(m, small_class(mapped));
        if (p && block_add(m, p, mapped, (struct emu_block){ .size = size, .open = open })) {
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
    ompgpu_emu_shadow_set(p, size, EMU_UNDEFINED);
    ompgpu_emu_shadow_set((char *)p + size, mapped - size, EMU_GUARD);
    if (mapped <= SMALL_MAX)
        ompgpu_emu_race_forget(p, size);
    *address = p;
    return 0;
}

static int not_live(const char *what, const void *address)
{
    ompgpu_plugin_error("%s of %p, which is not a live device memory block (freed before, or never "
                        "allocated)",
                        what, address);
    return 1;
}

bool ompgpu_emu_memory_size(struct emu_memory *m, const void *address, size_t *size)
{
    pthread_mutex_lock(&m->lock);
    const struct emu_block *b = block_at(m, address);
    bool known = b && !b->fixed;
    *size = known ? b->size : 0;
    pthread_mutex_unlock(&m->lock);
    return known || not_live("realloc", address) == 0;
}

int ompgpu_emu_memory_free(struct emu_memory *m, void *address)
{
    if (!address)
        return 0;
    pthread_mutex_lock(&m->lock);
    struct emu_block *b = block_at(m, address);
    bool known = b && !b->fixed;
    if (known) {
        size_t mapped = reserved_bytes(b);
        block_remove(m, b);
        m->in_use -= mapped;
        release_block(m, address, mapped);
    }
    pthread_mutex_unlock(&m->lock);
    return known ? 0 : not_live("free", address);
}
