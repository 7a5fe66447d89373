/* window.c - where device memory and the stacks of emulated threads lie.
 *
 * All of it lies in one part of the address space (OMPGPU_EMU_WINDOW, hostrt/plugin.h), far from
 * what the host program has: executables and the heap lie above it or at the very bottom, libraries
 * and stacks near the top.  So one comparison tells a device address from a host address (device
 * code makes it: codegen/ir/passes/gates.c), and an index that runs away meets nothing of the host
 * program's for 8 TiB.  Addresses are given out upwards with gaps, and used again only when the end
 * is reached: freed memory stays without access for long.
 *
 * Memory has the lower half of the window, stacks and team-shared variables a quarter each, with
 * margins around them: the base of an array of which a section is mapped, or private, lies before
 * the memory that the section has. */
#include <sys/mman.h>
#include <unistd.h>
#include "hostrt/emu/emu.h"

enum { TRIES = 1 << 16 };
static const uintptr_t margin = OMPGPU_EMU_WINDOW_BYTES / 16;
static struct area {
    const uintptr_t begin, size; /* in the window */
    _Atomic uintptr_t next;      /* free address, from the end of the first margin */
} areas[] = {
    [EMU_FOR_MEMORY] = { 0, OMPGPU_EMU_STACKS_AT, 0 },
    [EMU_FOR_STACKS] = { OMPGPU_EMU_STACKS_AT, OMPGPU_EMU_SHARED_AT - OMPGPU_EMU_STACKS_AT, 0 },
    [EMU_FOR_SHARED] = { OMPGPU_EMU_SHARED_AT, OMPGPU_EMU_WINDOW_BYTES - OMPGPU_EMU_SHARED_AT, 0 },
};

/* Huge pages need their alignment. */
static uintptr_t alignment_for(size_t size)
{
    return size < EMU_HUGE ? (uintptr_t)sysconf(_SC_PAGESIZE) : EMU_HUGE;
}

/* A place for `size` bytes and a gap after them. */
static uintptr_t claim_place(struct area *a, size_t size)
{
    uintptr_t align = alignment_for(size), before = atomic_load(&a->next), at, after;
    do {
        at = (before + align - 1) & ~(align - 1);
        after = at + size + EMU_GAP;
        if (after > a->size - 2 * margin)
            at = 0, after = size + EMU_GAP;
    } while (!atomic_compare_exchange_weak(&a->next, &before, after));
    return OMPGPU_EMU_WINDOW + a->begin + margin + at;
}

#ifdef EMU_TSAN /* it allows only its own parts of the address space; the gap is kept */
static void *map_at(uintptr_t place, size_t size)
{
    (void)place;
    void *p =
        mmap(NULL, size + EMU_GAP, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED || mprotect(p, size, PROT_READ | PROT_WRITE) ? MAP_FAILED : p;
}
#else
static void *map_at(uintptr_t place, size_t size)
{
    void *p = mmap((void *)place, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED || p == (void *)place)
        return p;
    munmap(p, size);
    return NULL;
}
#endif

void *ompgpu_emu_window_map(enum emu_area which, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size = (size + page - 1) & ~(page - 1);
    if (!size || size > areas[which].size - 2 * margin - EMU_GAP)
        return NULL;
    for (unsigned i = 0; i < TRIES; i++) {
        void *p = map_at(claim_place(&areas[which], size), size);
        if (p)
            return p == MAP_FAILED ? NULL : p;
    }
    return NULL;
}
