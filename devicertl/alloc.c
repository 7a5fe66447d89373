/* alloc.c - omp_alloc and the other allocation routines in device code (section 18.13 of
 * OpenMP 5.2).
 *
 * All predefined allocators give memory of the device's heap, which every thread of the device can
 * reach: any of them allows that.  A handle with bit 16 stands for an allocator with traits, made
 * by
 * __ompgpu_allocator() of the host: bits 0 to 7 are the logarithm of its alignment, bit 8 says that
 * the kernel ends where there is no memory.  Handles beyond lead to what omp_init_allocator has
 * made here.  A header before each block says what the heap gave, for whom. */
#include "devicertl/arch.h"

enum { LEAST_ALIGN = 16, TRAITS = 1 << 16, ABORTS = 1 << 8, ALIGNMENT = 63 };
/* of omp.h: omp_allocator_handle_t, omp_alloctrait_key_t, omp_alloctrait_value_t */
enum { NULL_ALLOCATOR = 0, DEFAULT_ALLOCATOR = 1 };
enum { KEY_ALIGNMENT = 2, KEY_POOL_SIZE = 4, KEY_FALLBACK = 5, KEY_FALLBACK_DATA = 6 };
enum fallback { DEFAULT_FALLBACK = 11, NULL_FALLBACK, ABORT_FALLBACK, ALLOCATOR_FALLBACK };

typedef struct {
    int key;
    u64 value;
} trait;
struct allocator {
    u64 align;
    u64 left; /* bytes of the pool */
    u64 fallback, next;
};
struct header {
    void *base; /* as the heap gave it */
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
    struct allocator *a = __ompgpu_arch_malloc(sizeof *a);
    (void)space;
    if (!a)
        return NULL_ALLOCATOR;
    *a = (struct allocator){ LEAST_ALIGN, ~(u64)0, DEFAULT_FALLBACK, NULL_ALLOCATOR };
    for (int i = 0; i < n; i++) {
        u64 value = traits[i].value;
        if (traits[i].key == KEY_ALIGNMENT && value && !(value & (value - 1)))
            a->align = value;
        else if (traits[i].key == KEY_POOL_SIZE)
            a->left = value;
        else if (traits[i].key == KEY_FALLBACK && value <= ALLOCATOR_FALLBACK)
            a->fallback = value;
        else if (traits[i].key == KEY_FALLBACK_DATA)
            a->next = value;
    }
    return (u64)a;
}

static struct allocator *made_here(u64 allocator)
{
    return allocator < 2 * TRAITS ? (struct allocator *)0 : (struct allocator *)allocator;
}

void omp_destroy_allocator(u64 allocator)
{
    if (made_here(allocator))
        __ompgpu_arch_free(made_here(allocator));
}

static struct allocator traits_of(u64 allocator)
{
    if (made_here(allocator))
        return *made_here(allocator);
    struct allocator a = { LEAST_ALIGN, ~(u64)0, NULL_FALLBACK, NULL_ALLOCATOR };
    if (allocator & TRAITS)
        a.align = (u64)1 << (allocator & ALIGNMENT);
    if ((allocator & TRAITS) && (allocator & ABORTS))
        a.fallback = ABORT_FALLBACK;
    return a;
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
/* Bytes leave the pool, or come back. */
static _Bool take_from_pool(u64 allocator, usize size)
{
    struct allocator *a = made_here(allocator);
    u64 now = a ? __scoped_atomic_load_n(&a->left, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE) : 0;
    while (a && now != ~(u64)0) {
        if (size > now)
            return 0;
        if (__scoped_atomic_compare_exchange_n(&a->left, &now, now - size, 0, __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE))
            break;
    }
    return 1;
}

static void return_to_pool(u64 allocator, usize size)
{
    struct allocator *a = made_here(allocator);
    if (a && a->left != ~(u64)0)
        __scoped_atomic_fetch_add(&a->left, size, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

static void *get_block(usize align, usize size, u64 allocator)
{
    usize all = size + align + sizeof(struct header);
    if (all < size || !take_from_pool(allocator, size))
        return (void *)0;
    char *base = __ompgpu_arch_malloc(all);
    if (!base) {
        return_to_pool(allocator, size);
        return (void *)0;
    }
    char *first = base + sizeof(struct header);
    struct header *block = (struct header *)(first + (-(usize)first & (align - 1)));
    block[-1] = (struct header){ base, size, allocator };
    return block;
}

void *omp_aligned_alloc(usize align, usize size, u64 allocator)
{
    while (size && !(align & (align - 1))) {
        if (allocator == NULL_ALLOCATOR)
            allocator = default_allocator();
        struct allocator a = traits_of(allocator);
        usize least = a.align < LEAST_ALIGN ? LEAST_ALIGN : a.align;
        void *block = get_block(align < least ? least : align, size, allocator);
        if (block || a.fallback == NULL_FALLBACK)
            return block;
        if (a.fallback == ABORT_FALLBACK)
            __ompgpu_arch_fail("no memory for an allocator with omp_atv_abort_fb", 0);
        allocator = a.fallback == ALLOCATOR_FALLBACK ? a.next : DEFAULT_ALLOCATOR;
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
