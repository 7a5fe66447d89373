/* memory.c - the spaces of memory and what may be accessed.
 *
 * Global and constant memory is one arena, reserved once and divided between the devices: a device
 * address is a host address in it, and anything outside is not device memory.  A block has a power
 * of two of bytes, 256 at least; what lies after its size is not allocated.  Shared memory belongs
 * to the team, local memory to a thread and grows on demand up to the limit of the context. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "hostrt/ptx/machine.h"

enum { UNIT = 256, FRESH = 0xa5, LOCAL_LIMIT = 512 * 1024 };
unsigned char *ptx_arena, *ptx_arena_shadow;
size_t ptx_arena_size;
static uint64_t *block_sizes; /* by unit: size of the block that begins there, 0 none */
static pthread_mutex_t arena_lock = PTHREAD_MUTEX_INITIALIZER;
struct free_block {
    struct free_block *next;
};
static struct device *owners; /* by part of the arena */

static void *reserve(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void reserve_arena(void)
{
    for (size_t size = (size_t)64 << 30; size >= (size_t)1 << 28; size /= 2) {
        ptx_arena = reserve(size);
        ptx_arena_shadow = ptx_arena ? reserve(size) : NULL;
        block_sizes = ptx_arena_shadow ? reserve(size / UNIT * sizeof *block_sizes) : NULL;
        if (block_sizes) {
            ptx_arena_size = size;
            return;
        }
        if (ptx_arena_shadow)
            munmap(ptx_arena_shadow, size);
        if (ptx_arena)
            munmap(ptx_arena, size);
    }
    abort();
}

void ptx_memory_init(struct device *devices, unsigned n)
{
    reserve_arena();
    owners = devices;
    for (unsigned k = 0; k < n; k++) {
        devices[k].memory_size = ptx_arena_size / n / UNIT * UNIT;
        devices[k].memory = (uintptr_t)ptx_arena + k * devices[k].memory_size;
        devices[k].memory_top = UNIT;
    }
}

/* Freed blocks wait, so that a use of one shows, until there are many or much of their class; the
 * one that was freed first comes back first. */
static struct free_block *take_free(struct free_list *list, unsigned class, bool must)
{
    enum { MANY = 256, MUCH = 64 << 20 };
    struct free_block *b = list->first;
    if (!b || (!must && list->n < MANY && list->n * ((size_t)UNIT << class) < MUCH))
        return NULL;
    list->first = b->next;
    list->n--;
    return b;
}
static void add_free(struct free_list *list, struct free_block *b)
{
    b->next = NULL;
    *(list->first ? &list->last->next : &list->first) = b;
    list->last = b;
    list->n++;
}

static unsigned size_class(size_t size)
{
    unsigned c = 0;
    while ((size_t)UNIT << c < size)
        c++;
    return c;
}

static size_t unit_of(uint64_t address)
{
    return (address - (uint64_t)(uintptr_t)ptx_arena) / UNIT;
}

uint64_t ptx_global_alloc(struct device *d, size_t size)
{
    if (!size || size > d->memory_size / 2)
        return 0;
    unsigned c = size_class(size);
    size_t room = (size_t)UNIT << c;
    unsigned char *p = NULL;
    pthread_mutex_lock(&arena_lock);
    bool fits = room + UNIT <= d->memory_size - d->memory_top;
    p = (unsigned char *)take_free(&d->free_blocks[c], c, !fits);
    if (!p && fits) {
        p = (unsigned char *)(uintptr_t)d->memory + d->memory_top;
        d->memory_top += room + UNIT; /* a gap, so that neighbours do not touch */
    }
    if (p)
        block_sizes[unit_of((uintptr_t)p)] = size;
    pthread_mutex_unlock(&arena_lock);
    if (!p)
        return 0;
    memset(p, FRESH, size);
    memset(ptx_shadow_of((uintptr_t)p), SHADOW_UNDEFINED, size);
    return (uintptr_t)p;
}

static struct device *owner_of(uint64_t address)
{
    return &owners[(address - (uintptr_t)ptx_arena) / owners->memory_size];
}

bool ptx_global_free(uint64_t address)
{
    if (!ptx_is_global(address) || !block_sizes[unit_of(address)] ||
        (address - (uintptr_t)ptx_arena) % UNIT)
        return false;
    pthread_mutex_lock(&arena_lock);
    uint64_t *size = &block_sizes[unit_of(address)];
    unsigned c = size_class(*size);
    memset(ptx_shadow_of(address), SHADOW_NONE, *size);
    *size = 0;
    add_free(&owner_of(address)->free_blocks[c], (struct free_block *)(uintptr_t)address);
    pthread_mutex_unlock(&arena_lock);
    return true;
}

bool ptx_global_is_allocated(uint64_t address, size_t size)
{
    if (!ptx_is_global(address) || size > ptx_arena_size - (address - (uintptr_t)ptx_arena))
        return false;
    const unsigned char *s = ptx_shadow_of(address);
    return !size || (s[0] && s[size - 1] > SHADOW_PADDING && !memchr(s, SHADOW_NONE, size));
}

void ptx_global_define(uint64_t address, size_t size)
{
    memset(ptx_shadow_of(address), SHADOW_DEFINED, size);
}

void ptx_global_share(uint64_t address, size_t size)
{
    memset(ptx_shadow_of(address), SHADOW_HOST, size);
}

/* ------------------------------------------------------------------ local memory */
bool ptx_local_reserve(struct group *g, const struct instruction *i, unsigned lane, uint64_t bytes)
{
    struct team *t = g->warp->team;
    unsigned thread = g->warp->number * WARP + lane;
    if (bytes <= t->local_room[thread])
        return true;
    if (bytes > LOCAL_LIMIT) {
        ptx_fault(g, i, lane, CUDA_ERROR_ILLEGAL_ADDRESS,
                  "stack overflow: %llu bytes of local memory, at most %d",
                  (unsigned long long)bytes, LOCAL_LIMIT);
        return false;
    }
    uint32_t room = t->local_room[thread] ? t->local_room[thread] : 512;
    while (room < bytes)
        room *= 2;
    unsigned char *data = realloc(t->local[thread], room);
    unsigned char *shadow = realloc(t->local_shadow[thread], room);
    if (!data || !shadow)
        abort();
    t->local[thread] = data;
    t->local_shadow[thread] = shadow;
    memset(data + t->local_room[thread], FRESH, room - t->local_room[thread]);
    memset(shadow + t->local_room[thread], SHADOW_NONE, room - t->local_room[thread]);
    t->local_room[thread] = room;
    return true;
}

/* ------------------------------------------------------------------ access */
static struct bytes out_of_bounds(struct group *g, const struct instruction *i, unsigned lane,
                                  uint64_t at, unsigned size, const char *where)
{
    ptx_fault(g, i, lane, CUDA_ERROR_ILLEGAL_ADDRESS, "%s of %u bytes at 0x%llx is outside of %s",
              i->row->class == C_LOAD    ? "a load"
              : i->row->class == C_STORE ? "a store"
                                         : "an access",
              size, (unsigned long long)at, where);
    return (struct bytes){ NULL, NULL };
}

/* A word around a smaller object may reach beyond what is allocated; on a GPU the rest of the word
 * is there.  So may a load of a variable, as far as its alignment: LLVM makes one load of several,
 * and knows that no more than that is there. */
static bool is_allocated(const struct instruction *i, const unsigned char *shadow, unsigned size)
{
    if (!i->around)
        return shadow[0] > SHADOW_PADDING &&
               shadow[size - 1] >= (i->row->class == C_LOAD ? SHADOW_PADDING : SHADOW_UNDEFINED);
    for (unsigned k = 0; k < size; k++)
        if (shadow[k] > SHADOW_PADDING)
            return true;
    return false;
}

static struct bytes in_shared(struct group *g, const struct instruction *i, unsigned lane,
                              uint64_t at, unsigned size)
{
    const struct team *t = g->warp->team;
    uint64_t fixed = t->launch->entry->shared_end, offset = at;
    if (at >= DYNAMIC_SHARED) {
        offset = at - DYNAMIC_SHARED;
        if (offset + size > t->launch->dynamic_shared)
            return out_of_bounds(g, i, lane, offset, size, "the dynamic shared memory");
        offset += (fixed + 15) & ~15ull;
    } else if (at + (i->around ? 1 : size) > fixed ||
               !is_allocated(i, t->shared_shadow + at, size)) {
        return out_of_bounds(g, i, lane, at, size, "the shared memory");
    }
    return (struct bytes){ t->shared + offset, t->shared_shadow + offset };
}

static struct bytes in_local(struct group *g, const struct instruction *i, unsigned lane,
                             uint64_t at, unsigned size)
{
    const struct team *t = g->warp->team;
    unsigned thread = g->warp->number * WARP + lane;
    const unsigned char *shadow = t->local_shadow[thread];
    if (at + (i->around ? 1 : size) > g->warp->stack_top[lane] || at + size < at ||
        !is_allocated(i, shadow + at, size))
        return out_of_bounds(g, i, lane, at, size, "the thread's local memory");
    return (struct bytes){ t->local[thread] + at, t->local_shadow[thread] + at };
}

static struct bytes in_param(struct group *g, const struct instruction *i, unsigned lane,
                             uint64_t at, unsigned size)
{
    struct frame *f = g->frame;
    if (f->function->is_entry && at + size <= f->function->param_bytes)
        return (struct bytes){ g->warp->team->launch->params + at, NULL };
    if (at + size > f->function->frame_params)
        return out_of_bounds(g, i, lane, at, size, "the parameters");
    size_t offset = (size_t)lane * f->function->frame_params + at;
    return (struct bytes){ f->params + offset, f->param_shadow + offset };
}

/* Memory that the kernel's device does not have. */
static struct bytes not_of_device(struct group *g, const struct instruction *i, unsigned lane,
                                  uint64_t at, unsigned size)
{
    char where[80];
    if (ptx_is_global(at))
        snprintf(where, sizeof where, "the memory of device %d (in that of device %d)",
                 g->warp->team->launch->device->ordinal, owner_of(at)->ordinal);
    else
        snprintf(where, sizeof where, "device memory (%s)",
                 at < 4096 ? "a null pointer" : "a pointer of the host?");
    return out_of_bounds(g, i, lane, at, size, where);
}

static struct bytes in_global(struct group *g, const struct instruction *i, unsigned lane,
                              uint64_t at, unsigned size)
{
    const struct device *d = g->warp->team->launch->device;
    if (at - d->memory >= d->memory_size)
        return not_of_device(g, i, lane, at, size);
    unsigned char *s = ptx_shadow_of(at);
    if (!is_allocated(i, s, size))
        return out_of_bounds(g, i, lane, at, size, "any block of device memory");
    return (struct bytes){ (unsigned char *)(uintptr_t)at, *s == SHADOW_HOST ? NULL : s };
}

struct bytes ptx_resolve(struct group *g, const struct instruction *i, unsigned lane,
                         uint64_t address, unsigned size)
{
    enum space space = i->space;
    if (address & (size - 1)) {
        ptx_fault(g, i, lane, CUDA_ERROR_MISALIGNED_ADDRESS,
                  "an access of %u bytes at the misaligned address 0x%llx", size,
                  (unsigned long long)address);
        return (struct bytes){ NULL, NULL };
    }
    if (space == S_GENERIC) {
        uint64_t window = address & WINDOW_MASK;
        space = window == SHARED_WINDOW  ? S_SHARED
                : window == LOCAL_WINDOW ? S_LOCAL
                : window == PARAM_WINDOW ? S_PARAM
                                         : S_GLOBAL;
        if (space != S_GLOBAL)
            address &= ~WINDOW_MASK;
    }
    switch (space) {
    case S_SHARED: return in_shared(g, i, lane, address, size);
    case S_LOCAL: return in_local(g, i, lane, address, size);
    case S_PARAM: return in_param(g, i, lane, address, size);
    default: return in_global(g, i, lane, address, size);
    }
}
