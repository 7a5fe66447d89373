/* alloc.c - omp_alloc and the other allocation routines in device code (section 18.13 of
 * OpenMP 5.2).
 *
 * All predefined allocators give memory of the device's heap, which every thread of the device can
 * reach: any of them allows that.  A handle with bit 16 stands for an allocator with traits, made
 * by
 * __ompgpu_allocator() of the host: bits 0 to 7 are the logarithm of its alignment, bit 8 says that
 * the kernel ends where there is no memory.  The word before a block holds the address that the
 * heap gave. */
#include "devicertl/arch.h"

enum { LEAST_ALIGN = 16, TRAITS = 1 << 16, ABORTS = 1 << 8, ALIGNMENT = 63 };

void *omp_alloc(usize size, u64 allocator);
void *omp_aligned_alloc(usize align, usize size, u64 allocator);
void *omp_calloc(usize n, usize size, u64 allocator);
void *omp_aligned_calloc(usize align, usize n, usize size, u64 allocator);
void omp_free(void *block, u64 allocator);

void *omp_aligned_alloc(usize align, usize size, u64 allocator)
{
    usize trait = allocator & TRAITS ? (usize)1 << (allocator & ALIGNMENT) : LEAST_ALIGN,
          least = trait < LEAST_ALIGN ? LEAST_ALIGN : trait, a = align < least ? least : align,
          all = size + a + sizeof(void *);
    if (!size || (a & (a - 1)) || all < size)
        return (void *)0;
    char *base = __ompgpu_arch_malloc(all);
    if (!base && (allocator & TRAITS) && (allocator & ABORTS))
        __ompgpu_arch_fail("no memory for an allocator with omp_atv_abort_fb", 0);
    if (!base)
        return (void *)0;
    char *first = base + sizeof(void *);
    void **block = (void **)(first + (-(usize)first & (a - 1)));
    block[-1] = base;
    return block;
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
    if (block)
        __ompgpu_arch_free(((void **)block)[-1]);
}
