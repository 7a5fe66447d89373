/* scratch.c - what the runtime keeps per host thread: buffers for a launch on the host, and per
 * device the scratchpad of league reductions, private copies of aggregates, the team heaps, and the
 * cells of results.
 *
 * A thread's state outlives the thread: when it ends, the state goes back to a pool and the next
 * new thread takes it over, so that no device call is made while a thread dies and a scratchpad's
 * header is zeroed once for good (the reduction leaves its counter at zero).  The regions of a
 * thread are synchronous, so it needs one scratchpad per device; those with `nowait` use their
 * queue's, one after the other. */
#include <string.h>
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

_Thread_local struct ompgpu_thread *ompgpu_self_ __attribute__((tls_model("initial-exec")));

/* guards all states' next and used, and the key */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ompgpu_thread *threads;
static unsigned nthreads; /* atomic: length of the list, that is, most threads at one time */
static pthread_key_t key;
static bool have_key;

static void thread_ends(void *state)
{
    pthread_mutex_lock(&lock);
    ((struct ompgpu_thread *)state)->used = false;
    pthread_mutex_unlock(&lock);
    ompgpu_self_ = NULL;
}

static struct ompgpu_thread *new_state(void)
{
    struct ompgpu_thread *t = ompgpu_xalloc(sizeof *t);
    if (!t)
        return NULL;
    if (ompgpu_ndevices &&
        !(t->devices = ompgpu_xalloc((size_t)ompgpu_ndevices * sizeof *t->devices))) {
        ompgpu_xfree(t);
        return NULL;
    }
    t->addresses = t->few_addresses, t->naddresses = OMPGPU_FEW;
    t->params = t->few_params, t->nparams = OMPGPU_FEW + 2;
    t->next = threads, threads = t;
    t->number = __atomic_fetch_add(&nthreads, 1, __ATOMIC_RELAXED);
    return t;
}

/* Called after ompgpu_start(). */
struct ompgpu_thread *ompgpu_self_slow(void)
{
    pthread_mutex_lock(&lock);
    if (!have_key)
        have_key = pthread_key_create(&key, thread_ends) == 0;
    struct ompgpu_thread *t = threads;
    while (t && t->used)
        t = t->next;
    if (!t)
        t = new_state();
    if (t)
        t->used = true;
    if (t && have_key)
        pthread_setspecific(key, t);
    pthread_mutex_unlock(&lock);
    return ompgpu_self_ = t;
}

bool ompgpu_many_threads(void) { return __atomic_load_n(&nthreads, __ATOMIC_RELAXED) > 1; }

bool ompgpu_other_threads(void)
{
    bool others = false;
    pthread_mutex_lock(&lock);
    for (const struct ompgpu_thread *t = threads; t && !others; t = t->next)
        others = t->used && t != ompgpu_self_;
    pthread_mutex_unlock(&lock);
    return others;
}

void ompgpu_threads_lock(void) { pthread_mutex_lock(&lock); }

void ompgpu_threads_unlock(void) { pthread_mutex_unlock(&lock); }

/* Where another thread was in the middle of a change, its state is not to be trusted: nothing that
 * it points to is freed. */
static void forget_thread(struct ompgpu_thread *t)
{
    struct ompgpu_where where = { .directive = "fork" };
    if (t->entered)
        ompgpu_data_exit(t->entered, &where, t->maps, t->nmaps, OMPGPU_LEAVE_DISCARD, NULL);
    t->entered = NULL, t->maps = NULL, t->quick = false;
    t->nheld = 0, t->results = t->left = 0;
    memset(t->devices, 0, (size_t)ompgpu_ndevices * sizeof *t->devices);
    t->stage = NULL, t->stage_bytes = 0;
    t->addresses = t->few_addresses, t->naddresses = OMPGPU_FEW;
    t->params = t->few_params, t->nparams = OMPGPU_FEW + 1;
    t->used = false;
}

void ompgpu_threads_vanished(void)
{
    for (struct ompgpu_thread *t = threads; t; t = t->next)
        if (t->used && t != ompgpu_self_)
            forget_thread(t);
}

int ompgpu_thread_room(struct ompgpu_thread *t, unsigned nmaps, unsigned nparams)
{
    if (nmaps > t->naddresses) {
        uintptr_t *more = ompgpu_xalloc(nmaps * sizeof *more);
        if (!more)
            return -1;
        if (t->addresses != t->few_addresses)
            ompgpu_xfree(t->addresses);
        t->addresses = more, t->naddresses = nmaps;
    }
    if (nparams > t->nparams) {
        void **more = ompgpu_xalloc(nparams * sizeof *more);
        if (!more)
            return -1;
        if (t->params != t->few_params)
            ompgpu_xfree(t->params);
        t->params = more, t->nparams = nparams;
    }
    return 0;
}

/* ------------------------------------------------------------------ buffers on the device */
/* A queue's buffers are used by what is in the queue. */
static int await_queue(const struct ompgpu_buffers *of)
{
    return of->queue ? ompgpu_task_await(NULL, of->queue->last) : 0;
}

static void buffer_drop(struct ompgpu_device *dev, struct ompgpu_buffer *b)
{
    if (b->device)
        dev->plugin->free(dev->ordinal, b->device);
    *b = (struct ompgpu_buffer){ 0 };
}

/* Grows to a power of two, large ones to a multiple of STEP, so that a slowly growing size does not
 * allocate each time.  The old buffer goes first: both together may not fit, and nothing in it is
 * needed. */
static int buffer_grow(struct ompgpu_device *dev, const struct ompgpu_buffers *of,
                       struct ompgpu_buffer *b, size_t size)
{
    enum { STEP = 32 << 20 };
    size_t round = 4096;
    while (round < size && round < STEP)
        round *= 2;
    if (round < size)
        round = size <= SIZE_MAX - STEP ? (size + STEP - 1) / STEP * STEP : size;
    if (await_queue(of))
        return -1;
    buffer_drop(dev, b);
    if (ompgpu_memory_get(dev, round, &b->device)) {
        b->device = NULL;
        return -1;
    }
    b->size = round;
    if (dev->plugin->trust)
        dev->plugin->trust(dev->ordinal, b->device, round);
    return 0;
}

static int send_zeros(struct ompgpu_device *dev, const struct ompgpu_buffers *of, void *dst,
                      size_t size)
{
    static char zero[64 << 10];
    int bad = 0;
    for (size_t at = 0, n; at < size && !bad; at += n) {
        n = size - at < sizeof zero ? size - at : sizeof zero;
        bad = of->queue ? dev->plugin->queue_to_device(dev->ordinal, of->queue->handle,
                                                       (char *)dst + at, zero, n)
                        : dev->plugin->to_device(dev->ordinal, (char *)dst + at, zero, n);
    }
    return bad;
}

static int clear(struct ompgpu_device *dev, const struct ompgpu_buffers *of,
                 struct ompgpu_buffer *b, size_t size)
{
    int bad = send_zeros(dev, of, b->device, size);
    if (bad)
        buffer_drop(dev, b);
    return bad ? -1 : 0;
}

/* A buffer of which the kernels keep the first bytes at zero. */
static int zeroed_get(struct ompgpu_device *dev, const struct ompgpu_buffers *of,
                      struct ompgpu_buffer *b, size_t size, size_t zeros)
{
    if (b->size >= size)
        return 0;
    return buffer_grow(dev, of, b, size) || clear(dev, of, b, zeros) ? -1 : 0;
}

int ompgpu_scratch_get(struct ompgpu_device *dev, struct ompgpu_buffers *of, unsigned teams,
                       size_t bytes, void **out)
{
    size_t size = OMPGPU_SCRATCH_HEADER + teams * ((bytes + 15) & ~(size_t)15);
    if (zeroed_get(dev, of, &of->scratch, size, OMPGPU_SCRATCH_HEADER))
        return -1;
    *out = of->scratch.device;
    return 0;
}

/* All of it is zero at first, and then whatever it was before: kernels mark what they write with
 * the number of the launch, which must not come again. */
int ompgpu_scan_get(struct ompgpu_device *dev, struct ompgpu_buffers *of, uint64_t tiles,
                    void **out)
{
    const size_t block = (size_t)OMPGPU_SCAN_RECORDS * OMPGPU_SCAN_WORDS * sizeof(uint64_t);
    const unsigned most = 1u << 31;
    if (tiles / OMPGPU_SCAN_TILES > SIZE_MAX / block / 2) {
        ompgpu_plugin_error("a scan has too many iterations");
        return -1;
    }
    /* the last tile writes what is before the next block */
    size_t size = OMPGPU_SCRATCH_HEADER + (tiles / OMPGPU_SCAN_TILES + 2) * block;
    bool grows = of->scan.size < size;
    if (grows && buffer_grow(dev, of, &of->scan, size))
        return -1;
    if ((grows || of->scans == most) && clear(dev, of, &of->scan, of->scan.size))
        return -1;
    of->scans = grows || of->scans == most ? 1 : of->scans + 1;
    *out = of->scan.device;
    return 0;
}

int ompgpu_locks_get(struct ompgpu_device *dev, struct ompgpu_buffers *of, unsigned **out)
{
    const size_t size = OMPGPU_PLACES * sizeof **out;
    if (zeroed_get(dev, of, &of->locks, size, size))
        return -1;
    *out = of->locks.device;
    return 0;
}

void ompgpu_scratch_drop(struct ompgpu_device *dev, struct ompgpu_buffers *of)
{
    buffer_drop(dev, &of->scratch);
    buffer_drop(dev, &of->scan);
    buffer_drop(dev, &of->locks);
}

static int plain_get(struct ompgpu_device *dev, const struct ompgpu_buffers *of,
                     struct ompgpu_buffer *b, size_t bytes, void **out)
{
    if (b->size < bytes && buffer_grow(dev, of, b, bytes))
        return -1;
    *out = b->device;
    return 0;
}

int ompgpu_copies_get(struct ompgpu_device *dev, struct ompgpu_buffers *of, size_t bytes,
                      void **out)
{
    return plain_get(dev, of, &of->copies, bytes, out);
}

int ompgpu_heap_get(struct ompgpu_device *dev, struct ompgpu_buffers *of, size_t bytes, void **out)
{
    return plain_get(dev, of, &of->heap, bytes, out);
}

void *ompgpu_result_get(struct ompgpu_device *dev, struct ompgpu_buffers *of, unsigned i)
{
    void **cells = &of->results;
    if (i >= OMPGPU_RESULTS)
        return NULL;
    if (!*cells &&
        (!dev->plugin->alloc_shared ||
         dev->plugin->alloc_shared(dev->ordinal, OMPGPU_RESULTS * OMPGPU_RESULT_BYTES, cells)))
        return *cells = NULL;
    return (char *)*cells + i * OMPGPU_RESULT_BYTES;
}

static void results_drop(struct ompgpu_device *dev, void **cells)
{
    if (*cells)
        dev->plugin->free_shared(dev->ordinal, *cells);
    *cells = NULL;
}

void ompgpu_buffers_free(struct ompgpu_device *dev, struct ompgpu_buffers *of)
{
    ompgpu_scratch_drop(dev, of);
    buffer_drop(dev, &of->copies);
    buffer_drop(dev, &of->heap);
    results_drop(dev, &of->results);
}

void ompgpu_threads_drop(struct ompgpu_device *dev)
{
    pthread_mutex_lock(&lock);
    for (struct ompgpu_thread *t = threads; t; t = t->next)
        ompgpu_buffers_free(dev, &t->devices[dev->number]);
    pthread_mutex_unlock(&lock);
}

void ompgpu_threads_close(void)
{
    pthread_mutex_lock(&lock);
    for (struct ompgpu_thread *t; (t = threads);) {
        threads = t->next;
        for (int i = 0; i < ompgpu_ndevices; i++) {
            ompgpu_buffers_free(&ompgpu_devices[i], &t->devices[i]);
            ompgpu_deferred_return(&ompgpu_devices[i], &t->devices[i]);
        }
        ompgpu_xfree(t->devices);
        ompgpu_xfree(t->stage);
        if (t->addresses != t->few_addresses)
            ompgpu_xfree(t->addresses);
        if (t->params != t->few_params)
            ompgpu_xfree(t->params);
        ompgpu_xfree(t);
    }
    nthreads = 0;
    ompgpu_self_ = NULL;
    pthread_mutex_unlock(&lock);
    ompgpu_threads_forget();
}

void ompgpu_threads_forget(void)
{
    pthread_mutex_lock(&lock);
    if (have_key)
        pthread_key_delete(key);
    have_key = false;
    pthread_mutex_unlock(&lock);
}
