/* alloc.c - omp_alloc and the other allocation routines in device code (section 18.13 of
 * OpenMP 5.2).
 *
 * What no thread but those of a team may access comes from the team's pool (team_memory.c) while
 * that has room.  All else is memory of the device's heap, which every thread of the device can
 * reach: any allocator allows that.  The handle of an allocator with traits is the address of what
 * is known of it: made here by omp_init_allocator, or by the host for uses_allocators, a copy for
 * the region.  A header before each block says what the heap gave, for whom.
 *
 * A pool is an amount that blocks are counted against.  The trait `access` says who shares one: all
 * threads, those of a team, or each has its own.  Teams beyond the places in an allocator share one
 * that is so much larger. */
#include "devicertl/arch.h"

enum { LEAST_ALIGN = 16, MOST_PREDEFINED = 1 << 16 };
/* of omp.h: omp_allocator_handle_t, omp_alloctrait_key_t, omp_alloctrait_value_t */
enum { NULL_ALLOCATOR = 0, DEFAULT_ALLOCATOR = 1, CGROUP_ALLOCATOR = 6, PTEAM_ALLOCATOR = 7 };
enum {
    KEY_ALIGNMENT = 2,
    KEY_ACCESS,
    KEY_POOL_SIZE,
    KEY_FALLBACK,
    KEY_FALLBACK_DATA,
    ACCESS_THREAD = 8,
    ACCESS_TEAM,
    ACCESS_GROUP,
};
enum fallback { DEFAULT_FALLBACK = 11, NULL_FALLBACK, ABORT_FALLBACK, ALLOCATOR_FALLBACK };
static const u64 unlimited = ~(u64)0;

typedef struct {
    int key;
    u64 value;
} trait;
struct header {
    void *base; /* as the heap or the pool gave it */
    usize size;
    u64 allocator;
};

void *omp_alloc(usize size, u64 allocator);
void *omp_aligned_alloc(usize align, usize size, u64 allocator);
void *omp_calloc(usize n, usize size, u64 allocator);
void *omp_aligned_calloc(usize align, usize n, usize size, u64 allocator);
void *omp_realloc(void *block, usize size, u64 allocator, u64 freed_by);
void omp_free(void *block, u64 allocator);
u64 omp_init_allocator(u64 space, int n, const trait *traits);
void omp_destroy_allocator(u64 allocator);
u64 omp_get_default_allocator(void);
void omp_set_default_allocator(u64 allocator);

/* ------------------------------------------------------------------ allocators */
u64 omp_init_allocator(u64 space, int n, const trait *traits)
{
    struct __ompgpu_allocator *a = __ompgpu_arch_malloc(sizeof *a);
    (void)space;
    if (!a)
        return NULL_ALLOCATOR;
    *a = (struct __ompgpu_allocator){ .align = LEAST_ALIGN,
                                      .pool = unlimited,
                                      .fallback = DEFAULT_FALLBACK };
    for (int i = 0; i < n; i++) {
        u64 value = traits[i].value;
        if (traits[i].key == KEY_ALIGNMENT && value && !(value & (value - 1)))
            a->align = value;
        else if (traits[i].key == KEY_POOL_SIZE)
            a->pool = value;
        else if (traits[i].key == KEY_ACCESS)
            a->access = value;
        else if (traits[i].key == KEY_FALLBACK && value <= ALLOCATOR_FALLBACK)
            a->fallback = value;
        else if (traits[i].key == KEY_FALLBACK_DATA)
            a->next = value;
    }
    return (u64)a;
}

/* NULL: a predefined one */
static struct __ompgpu_allocator *with_traits(u64 allocator)
{
    return allocator < MOST_PREDEFINED ? (struct __ompgpu_allocator *)0
                                       : (struct __ompgpu_allocator *)allocator;
}

void omp_destroy_allocator(u64 allocator)
{
    if (with_traits(allocator))
        __ompgpu_arch_free(with_traits(allocator));
}

/* The thread's, or what the sequential code before its region has set. */
static u64 default_allocator(void)
{
    u64 own = __ompgpu_state_allocator[__ompgpu_own_place()],
        outer = __ompgpu_is_spmd() ? 0 : __ompgpu_state_allocator[MAX_TEAM];
    return own ? own : outer ? outer : DEFAULT_ALLOCATOR;
}
u64 omp_get_default_allocator(void) { return default_allocator(); }
void omp_set_default_allocator(u64 allocator)
{
    __ompgpu_state_allocator[__ompgpu_own_place()] = allocator;
}

/* ------------------------------------------------------------------ blocks */
/* The caller's place in an allocator, and how much those who share it may take. */
static u64 *find_pool(struct __ompgpu_allocator *a, u64 *size)
{
    unsigned at = (unsigned)__ompgpu_arch_team() % __OMPGPU_POOLS, teams = __ompgpu_arch_nteams();
    u64 sharers = (teams - at + __OMPGPU_POOLS - 1) / __OMPGPU_POOLS;
    *size = a->pool;
    if (a->access != ACCESS_THREAD && a->access != ACCESS_TEAM && a->access != ACCESS_GROUP)
        return &a->used[0];
    if (a->access == ACCESS_THREAD)
        sharers *= __ompgpu_arch_ntid();
    if (__builtin_mul_overflow(a->pool, sharers, size))
        *size = unlimited;
    return &a->used[at];
}

/* Bytes leave the pool, or come back. */
static _Bool take_from_pool(u64 allocator, usize bytes)
{
    struct __ompgpu_allocator *a = with_traits(allocator);
    u64 size;
    if (!a || a->pool == unlimited)
        return 1;
    u64 *used = find_pool(a, &size),
        now = __scoped_atomic_load_n(used, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    while (bytes <= size - now)
        if (__scoped_atomic_compare_exchange_n(used, &now, now + bytes, 0, __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE))
            return 1;
    return 0;
}

static void return_to_pool(u64 allocator, usize bytes)
{
    struct __ompgpu_allocator *a = with_traits(allocator);
    u64 size;
    if (a && a->pool != unlimited)
        __scoped_atomic_fetch_sub(find_pool(a, &size), bytes, __ATOMIC_RELAXED,
                                  __MEMORY_SCOPE_DEVICE);
}

static _Bool is_for_team(u64 allocator)
{
    const struct __ompgpu_allocator *a = with_traits(allocator);
    return a ? a->access == ACCESS_TEAM || a->access == ACCESS_GROUP
             : allocator == CGROUP_ALLOCATOR || allocator == PTEAM_ALLOCATOR;
}

static void *get_block(usize align, usize size, u64 allocator)
{
    usize all = size + align + sizeof(struct header) + __ompgpu_cfg_guard;
    if (all < size || !take_from_pool(allocator, size))
        return (void *)0;
    char *base = __ompgpu_cfg_team_memory && is_for_team(allocator)
                     ? __ompgpu_team_memory_alloc(all)
                     : (char *)0;
    if (!base)
        base = __ompgpu_arch_malloc(all);
    if (!base) {
        return_to_pool(allocator, size);
        return (void *)0;
    }
    char *first = base + sizeof(struct header);
    struct header *block = (struct header *)(first + (-(usize)first & (align - 1)));
    block[-1] = (struct header){ base, size, allocator };
    if (__ompgpu_cfg_guard)
        __ompgpu_arch_object(block, size, base + all, "a block of omp_alloc", 1);
    return block;
}

void *omp_aligned_alloc(usize align, usize size, u64 allocator)
{
    while (size && !(align & (align - 1))) {
        if (allocator == NULL_ALLOCATOR)
            allocator = default_allocator();
        const struct __ompgpu_allocator *a = with_traits(allocator);
        usize least = a && a->align > LEAST_ALIGN ? a->align : LEAST_ALIGN;
        void *block = get_block(align < least ? least : align, size, allocator);
        if (block || !a || a->fallback == NULL_FALLBACK)
            return block;
        if (a->fallback == ABORT_FALLBACK)
            __ompgpu_arch_fail("no memory for an allocator with omp_atv_abort_fb", 0);
        allocator = a->fallback == ALLOCATOR_FALLBACK ? a->next : DEFAULT_ALLOCATOR;
    }
    return (void *)0;
}

void *omp_alloc(usize size, u64 allocator)
{
    return omp_aligned_alloc(LEAST_ALIGN, size, allocator);
}

void *omp_aligned_calloc(usize align, usize n, usize size, u64 allocator)
{
    usize all;
    char *block = __builtin_mul_overflow(n, size, &all) ? (char *)0
                                                        : omp_aligned_alloc(align, all, allocator);
    if (block)
        __builtin_memset(block, 0, all);
    return block;
}

void *omp_calloc(usize n, usize size, u64 allocator)
{
    return omp_aligned_calloc(LEAST_ALIGN, n, size, allocator);
}

void omp_free(void *block, u64 allocator)
{
    (void)allocator;
    if (!block)
        return;
    struct header h = ((struct header *)block)[-1];
    return_to_pool(h.allocator, h.size);
    if (!__ompgpu_team_memory_free(h.base))
        __ompgpu_arch_free(h.base);
}

/* Without an allocator it is the one that the block has. */
void *omp_realloc(void *block, usize size, u64 allocator, u64 freed_by)
{
    void *fresh = (void *)0;
    if (!block)
        return omp_alloc(size, allocator);
    const struct header *h = (struct header *)block - 1;
    if (size)
        fresh = omp_alloc(size, allocator == NULL_ALLOCATOR ? h->allocator : allocator);
    if (fresh)
        __builtin_memcpy(fresh, block, size < h->size ? size : h->size);
    if (fresh || !size)
        omp_free(block, freed_by);
    return fresh;
}
