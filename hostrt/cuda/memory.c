/* memory.c - device memory, and a pool of blocks that were freed.
 *
 * cuMemAlloc and cuMemFree cost microseconds and may synchronise, and programs map the same arrays
 * again and again.  Sizes are rounded up (four steps between powers of two up to 1 MB, whole 2 MB
 * pages above) and freed blocks are kept for the next request of the same size: as many bytes as
 * OMPGPU_POOL says, or a quarter of the device's memory.  What would not fit makes the pool give
 * everything back first: a program that goes on to other sizes would not use it again.  It also
 * does before an allocation is allowed to fail.
 *
 * Each host thread keeps a few small blocks for itself, and knows which it has in use: so threads
 * that map small data do not meet here.  These blocks are in the list of live ones still.
 *
 * For the PTX machine sizes are exact and nothing is kept: it reports what is out of bounds, freed
 * or never written. */
#include "hostrt/cuda/cuda.h"

enum {
    CACHED_SIZE = 64 << 10, /* bytes: the largest */
    CACHING_POOL = 64 << 20 /* of a pool of which they are a small part */
};

void ompgpu_cuda_memory_init(struct cuda_memory *m, size_t total)
{
    bool exact = ompgpu_settings.device_kind == OMPGPU_KIND_PTX;
    size_t most = ompgpu_settings.pool < 0 ? total / 4 : (size_t)ompgpu_settings.pool;
    *m = (struct cuda_memory){ .exact = exact,
                               .caches_blocks = !exact && most >= CACHING_POOL,
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

/* Lock held.  NULL: it is none. */
static struct cuda_block *take_live(struct cuda_memory *m, CUdeviceptr address)
{
    struct cuda_block **p = live_bucket(m, address), *b;
    while (*p && (*p)->address != address)
        p = &(*p)->next;
    if (!(b = *p) || b->kept)
        return NULL;
    *p = b->next;
    m->nlive--;
    m->in_use -= b->size;
    return b;
}

static CUresult first_error(CUresult a, CUresult b) { return a ? a : b; }

/* ------------------------------------------------------------------ what a host thread keeps */
struct cuda_cache *ompgpu_cuda_memory_cache(struct cuda_memory *m)
{
    struct cuda_cache *c = m->caches_blocks ? ompgpu_xalloc(sizeof *c) : NULL;
    if (!c)
        return NULL;
    pthread_mutex_lock(&m->lock);
    c->next = m->caches;
    m->caches = c;
    pthread_mutex_unlock(&m->lock);
    return c;
}

static void note_used(struct cuda_cache *c, struct cuda_block *b)
{
    struct cuda_used *u = &c->used[c->turn++ % CUDA_CACHED];
    atomic_store_explicit(&u->address, 0, memory_order_relaxed);
    u->block = b, b->used = u;
    atomic_store_explicit(&u->address, b->address, memory_order_release);
}

/* Others may be about to, too. */
static bool take_address(_Atomic CUdeviceptr *place, CUdeviceptr address)
{
    if (!__libc_single_threaded)
        return atomic_compare_exchange_strong(place, &address, 0);
    atomic_store_explicit(place, 0, memory_order_relaxed);
    return true;
}

static struct cuda_block *take_block(_Atomic(struct cuda_block *) *place)
{
    if (!__libc_single_threaded)
        return atomic_exchange(place, NULL);
    struct cuda_block *b = atomic_load_explicit(place, memory_order_relaxed);
    atomic_store_explicit(place, NULL, memory_order_relaxed);
    return b;
}

static struct cuda_block *take_used(struct cuda_cache *c, CUdeviceptr address)
{
    for (struct cuda_used *u = c->used; u < c->used + CUDA_CACHED; u++) {
        CUdeviceptr is = atomic_load_explicit(&u->address, memory_order_relaxed);
        if (is == address && take_address(&u->address, address))
            return u->block;
    }
    return NULL;
}

static bool keep_block(struct cuda_cache *c, struct cuda_block *b)
{
    for (struct cuda_kept *k = c->kept; k < c->kept + CUDA_CACHED; k++)
        if (!atomic_load_explicit(&k->block, memory_order_relaxed)) {
            k->size = b->size;
            atomic_store_explicit(&b->kept, true, memory_order_relaxed);
            atomic_store_explicit(&k->block, b, memory_order_release);
            return true;
        }
    return false;
}

static struct cuda_block *take_kept(struct cuda_cache *c, size_t size)
{
    struct cuda_block *b = NULL;
    for (struct cuda_kept *k = c->kept; k < c->kept + CUDA_CACHED && !b; k++)
        if (k->size == size && atomic_load_explicit(&k->block, memory_order_relaxed))
            b = take_block(&k->block);
    if (b)
        atomic_store_explicit(&b->kept, false, memory_order_relaxed);
    return b;
}

/* Lock held.  Those of all threads go back to the driver; *any: there were some. */
static CUresult empty_caches(struct cuda_memory *m, bool *any)
{
    CUresult err = CUDA_SUCCESS;
    for (struct cuda_cache *c = m->caches; c; c = c->next)
        for (unsigned i = 0; i < CUDA_CACHED; i++) {
            struct cuda_block *b = take_block(&c->kept[i].block);
            if (!b)
                continue;
            *any = true;
            b->kept = false;
            take_live(m, b->address);
            err = first_error(err, ompgpu_cuda.cuMemFree(b->address));
            ompgpu_xfree(b);
        }
    return err;
}

/* ------------------------------------------------------------------ the pool */
/* Lock held.  *any: there was something in it. */
static CUresult trim_pool(struct cuda_memory *m, bool *any)
{
    *any = m->in_pool;
    CUresult err = empty_caches(m, any);
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
    for (struct cuda_cache *c; (c = m->caches);) {
        m->caches = c->next;
        ompgpu_xfree(c);
    }
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
    bool any = false;
    CUresult err = ompgpu_cuda.cuMemAlloc(&b->address, size), trimmed;
    if (err == CUDA_ERROR_OUT_OF_MEMORY) {
        trimmed = trim_pool(m, &any);
        if (any)
            err = trimmed ? trimmed : ompgpu_cuda.cuMemAlloc(&b->address, size);
    }
    if (err) {
        ompgpu_xfree(b);
        return err;
    }
    b->size = size;
    *block = b;
    return CUDA_SUCCESS;
}

/* From the pool, or the driver; it is a live one then. */
static CUresult get_block(struct cuda_memory *m, size_t size, struct cuda_block **block)
{
    CUresult err = CUDA_SUCCESS;
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
        *block = b;
    }
    pthread_mutex_unlock(&m->lock);
    return err;
}

CUresult ompgpu_cuda_memory_alloc(struct cuda_memory *m, struct cuda_cache *c, size_t size,
                                  CUdeviceptr *address)
{
    size = m->exact && size ? size : round_size(size);
    c = size <= CACHED_SIZE ? c : NULL;
    struct cuda_block *b = c ? take_kept(c, size) : NULL;
    CUresult err = b ? CUDA_SUCCESS : get_block(m, size, &b);
    if (err)
        return err;
    if (c)
        note_used(c, b);
    *address = b->address;
    return CUDA_SUCCESS;
}

/* Lock held.  Into the pool, or back to the driver. */
static CUresult put_away(struct cuda_memory *m, struct cuda_block *b)
{
    CUresult err = CUDA_SUCCESS;
    bool any;
    if (b->size > m->pool_limit) {
        err = ompgpu_cuda.cuMemFree(b->address);
        ompgpu_xfree(b);
        return err;
    }
    if (b->size > m->pool_limit - m->in_pool)
        err = trim_pool(m, &any);
    struct cuda_block **bucket = pooled_bucket(m, b->size);
    b->next = *bucket;
    *bucket = b;
    m->in_pool += b->size;
    return err;
}

/* The core frees what no running kernel uses any more, so the block may go to any other host thread
 * at once. */
CUresult ompgpu_cuda_memory_free(struct cuda_memory *m, struct cuda_cache *c, CUdeviceptr address)
{
    struct cuda_block *b = c ? take_used(c, address) : NULL;
    CUresult err = CUDA_ERROR_INVALID_VALUE;
    if (b && keep_block(c, b))
        return CUDA_SUCCESS;
    pthread_mutex_lock(&m->lock);
    if ((b = take_live(m, address))) {
        if (b->used) /* of this thread or another one */
            atomic_compare_exchange_strong(&b->used->address, &address, 0);
        b->used = NULL;
        err = put_away(m, b);
    }
    pthread_mutex_unlock(&m->lock);
    return err;
}
