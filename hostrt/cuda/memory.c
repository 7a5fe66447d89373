/* memory.c - device memory, and a pool of blocks that were freed.
 *
 * cuMemAlloc and cuMemFree cost microseconds and may synchronise, and programs map the same arrays
 * again and again.  Sizes are rounded up (four steps between powers of two up to 1 MB, whole 2 MB
 * pages above) and freed blocks are kept for the next request of the same size: as many bytes as
 * OMPGPU_POOL says, or a quarter of the device's memory.  What would not fit makes the pool give
 * everything back first: a program that goes on to other sizes would not use it again.  It also
 * does before an allocation is allowed to fail.
 *
 * For the PTX machine sizes are exact and nothing is kept: it reports what is out of bounds, freed
 * or never written. */
#include "hostrt/cuda/cuda.h"

void ompgpu_cuda_memory_init(struct cuda_memory *m, size_t total)
{
    bool exact = ompgpu_settings.device_kind == OMPGPU_KIND_PTX;
    size_t most = ompgpu_settings.pool < 0 ? total / 4 : (size_t)ompgpu_settings.pool;
    *m = (struct cuda_memory){ .exact = exact,
                               .pool_limit = exact ? 0 : most,
                               .live = m->first,
                               .live_bits = CUDA_BUCKET_BITS };
    pthread_mutex_init(&m->lock, NULL);
}

static size_t round_size(size_t size)
{
    size_t step = 256;
    if (size > SIZE_MAX / 2)
        return size;
    if (size > 1 << 20)
        step = 2 << 20;
    else
        while (step * 8 < size) /* size in (4 step, 8 step]: steps of a quarter */
            step *= 2;
    size_t rounded = (size + step - 1) & ~(step - 1);
    return rounded ? rounded : step;
}

static struct cuda_block **live_bucket(struct cuda_memory *m, CUdeviceptr p)
{
    return &m->live[(p >> 8) * 0x9E3779B97F4A7C15u >> (64 - m->live_bits)];
}

static struct cuda_block **pooled_bucket(struct cuda_memory *m, size_t size)
{
    return &m->pooled[(size >> 8) * 0x9E3779B97F4A7C15u >> (64 - CUDA_BUCKET_BITS)];
}

static void put_live(struct cuda_memory *m, struct cuda_block *b)
{
    struct cuda_block **bucket = live_bucket(m, b->address);
    b->next = *bucket;
    *bucket = b;
}

/* Lock held.  Where memory is out, the lists grow instead. */
static void grow_live(struct cuda_memory *m)
{
    struct cuda_block **old = m->live, *b;
    size_t n = (size_t)1 << m->live_bits;
    struct cuda_block **live = ompgpu_xalloc(2 * n * sizeof *live);
    if (!live)
        return;
    m->live = live;
    m->live_bits++;
    for (size_t i = 0; i < n; i++)
        while ((b = old[i])) {
            old[i] = b->next;
            put_live(m, b);
        }
    if (old != m->first)
        ompgpu_xfree(old);
}

static CUresult first_error(CUresult a, CUresult b) { return a ? a : b; }

/* Lock held. */
static CUresult trim_pool(struct cuda_memory *m)
{
    CUresult err = CUDA_SUCCESS;
    for (unsigned i = 0; i < CUDA_BUCKETS; i++)
        while (m->pooled[i]) {
            struct cuda_block *b = m->pooled[i];
            m->pooled[i] = b->next;
            err = first_error(err, ompgpu_cuda.cuMemFree(b->address));
            ompgpu_xfree(b);
        }
    m->in_pool = 0;
    return err;
}

static void free_lists(struct cuda_block **lists, size_t n, bool driver_alive)
{
    for (size_t i = 0; i < n; i++)
        for (struct cuda_block *b; (b = lists[i]);) {
            lists[i] = b->next;
            if (driver_alive)
                ompgpu_cuda.cuMemFree(b->address);
            ompgpu_xfree(b);
        }
}

void ompgpu_cuda_memory_fini(struct cuda_memory *m, bool driver_alive)
{
    free_lists(m->live, (size_t)1 << m->live_bits, driver_alive);
    free_lists(m->pooled, CUDA_BUCKETS, driver_alive);
    if (m->live != m->first)
        ompgpu_xfree(m->live);
    pthread_mutex_destroy(&m->lock);
}

static struct cuda_block *take_pooled(struct cuda_memory *m, size_t size)
{
    for (struct cuda_block **p = pooled_bucket(m, size); *p; p = &(*p)->next)
        if ((*p)->size == size) {
            struct cuda_block *b = *p;
            *p = b->next;
            m->in_pool -= size;
            return b;
        }
    return NULL;
}

static CUresult allocate_block(struct cuda_memory *m, size_t size, struct cuda_block **block)
{
    struct cuda_block *b = ompgpu_xalloc(sizeof *b);
    if (!b)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult err = ompgpu_cuda.cuMemAlloc(&b->address, size);
    if (err == CUDA_ERROR_OUT_OF_MEMORY && m->in_pool) {
        err = trim_pool(m);
        if (!err)
            err = ompgpu_cuda.cuMemAlloc(&b->address, size);
    }
    if (err) {
        ompgpu_xfree(b);
        return err;
    }
    b->size = size;
    *block = b;
    return CUDA_SUCCESS;
}

CUresult ompgpu_cuda_memory_alloc(struct cuda_memory *m, size_t size, CUdeviceptr *address)
{
    CUresult err = CUDA_SUCCESS;
    size = m->exact && size ? size : round_size(size);
    pthread_mutex_lock(&m->lock);
    struct cuda_block *b = take_pooled(m, size);
    if (!b)
        err = allocate_block(m, size, &b);
    if (!err) {
        if (m->nlive == (size_t)1 << m->live_bits)
            grow_live(m);
        put_live(m, b);
        m->nlive++;
        m->in_use += size;
        *address = b->address;
    }
    pthread_mutex_unlock(&m->lock);
    return err;
}

/* Lock held.  Into the pool, or back to the driver. */
static CUresult put_away(struct cuda_memory *m, struct cuda_block *b)
{
    CUresult err = CUDA_SUCCESS;
    if (b->size > m->pool_limit) {
        err = ompgpu_cuda.cuMemFree(b->address);
        ompgpu_xfree(b);
        return err;
    }
    if (b->size > m->pool_limit - m->in_pool)
        err = trim_pool(m);
    struct cuda_block **bucket = pooled_bucket(m, b->size);
    b->next = *bucket;
    *bucket = b;
    m->in_pool += b->size;
    return err;
}

/* The core frees what no running kernel uses any more, so the block may go to any other host thread
 * at once. */
CUresult ompgpu_cuda_memory_free(struct cuda_memory *m, CUdeviceptr address)
{
    CUresult err = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&m->lock);
    struct cuda_block **p = live_bucket(m, address);
    while (*p && (*p)->address != address)
        p = &(*p)->next;
    struct cuda_block *b = *p;
    if (b) {
        *p = b->next;
        m->nlive--;
        m->in_use -= b->size;
        err = put_away(m, b);
    }
    pthread_mutex_unlock(&m->lock);
    return err;
}
