/* api.c - the OpenMP routines about devices, on the host (chapter 18 of OpenMP 5.2, section 25
 * of 6.0).
 *
 * -lompgpu stands before -lomp, so these replace libomp's, which know no device.  The
 * default device is a property of the task in OpenMP: once a program sets it, it is kept in libomp,
 * which hands it on to the threads of a parallel region.
 * Copies are in copy.c.
 *
 * What goes wrong is said with the return value the specification has for it. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

#pragma GCC visibility push(default)
/* clang's omp.h declares these to programs; the compiler of the runtime need not have it. */
int omp_get_num_devices(void);
int omp_get_default_device(void);
void omp_set_default_device(int);
int omp_get_initial_device(void);
int omp_is_initial_device(void);
void omp_display_env(int);
int omp_pause_resource(int, int);
int omp_pause_resource_all(int);
int omp_get_device_num(void);
const char *omp_get_uid_from_device(int);
int omp_get_device_from_uid(const char *);
uintptr_t omp_init_allocator(uintptr_t, int, void *);
void *omp_target_alloc(size_t, int);
void omp_target_free(void *, int);
int omp_target_is_present(const void *, int);
int omp_target_is_accessible(const void *, size_t, int);
void *omp_get_mapped_ptr(const void *, int);
int omp_target_associate_ptr(const void *, const void *, size_t, size_t, int);
int omp_target_disassociate_ptr(const void *, int);
void ompx_dump_mapping_tables(void);
int omp_ext_get_lane_id(void), omp_ext_get_warp_id(void), omp_ext_get_smid(void);
void *llvm_omp_target_alloc_device(size_t, int), *llvm_omp_target_alloc_host(size_t, int),
    *llvm_omp_target_alloc_shared(size_t, int), *llvm_omp_target_dynamic_shared_alloc(void);
void llvm_omp_target_free_device(void *, int), llvm_omp_target_free_host(void *, int),
    llvm_omp_target_free_shared(void *, int);
#pragma GCC visibility pop

/* On the host. */
int omp_ext_get_lane_id(void) { return 0; }
int omp_ext_get_warp_id(void) { return 0; }
int omp_ext_get_smid(void) { return 0; }

/* Regions on the host have no memory of a team. */
void *llvm_omp_target_dynamic_shared_alloc(void) { return NULL; }

/* ------------------------------------------------------------------ device numbers */
static int default_was_set;        /* atomic: until then OMP_DEFAULT_DEVICE holds for all */
static int default_without_libomp; /* atomic */

static void *libomp(const char *name) { return dlsym(RTLD_NEXT, name); }

int ompgpu_default_device(void)
{
    static int (*get)(void);
    if (!__atomic_load_n(&default_was_set, __ATOMIC_ACQUIRE))
        return ompgpu_settings.default_device;
    int (*known)(void) = __atomic_load_n(&get, __ATOMIC_RELAXED);
    if (!known) {
        *(void **)&known = libomp("omp_get_default_device");
        __atomic_store_n(&get, known, __ATOMIC_RELAXED);
    }
    return known ? known() : __atomic_load_n(&default_without_libomp, __ATOMIC_RELAXED);
}

int omp_get_default_device(void)
{
    ompgpu_start();
    return ompgpu_default_device();
}

void omp_set_default_device(int number)
{
    void (*set)(int);
    if (number == OMPGPU_DEVICE_BY_ICV)
        return; /* what it is already */
    *(void **)&set = libomp("omp_set_default_device");
    if (set)
        set(number);
    __atomic_store_n(&default_without_libomp, number, __ATOMIC_RELAXED);
    __atomic_store_n(&default_was_set, 1, __ATOMIC_RELEASE);
}

int omp_get_num_devices(void)
{
    ompgpu_start();
    return ompgpu_ndevices;
}

int omp_get_initial_device(void) { return omp_get_num_devices(); }

int omp_get_device_num(void) { return omp_get_num_devices(); }

int omp_is_initial_device(void) { return 1; }

static const char host_uid[] = "HOST";

/* NULL: it is not known. */
static const char *uid_of(struct ompgpu_device *dev)
{
    struct ompgpu_identity identity;
    pthread_mutex_lock(&ompgpu_start_lock);
    if (!dev->uid[0] && dev->plugin->identify && !dev->plugin->identify(dev->ordinal, &identity))
        memcpy(dev->uid, identity.uid, sizeof dev->uid);
    pthread_mutex_unlock(&ompgpu_start_lock);
    return dev->uid[0] ? dev->uid : NULL;
}

const char *omp_get_uid_from_device(int number)
{
    ompgpu_start();
    if (number == OMPGPU_DEVICE_BY_ICV)
        number = ompgpu_default_device();
    if (number == OMPGPU_DEVICE_INITIAL || number == ompgpu_ndevices)
        return host_uid;
    return number >= 0 && number < ompgpu_ndevices ? uid_of(&ompgpu_devices[number]) : NULL;
}

int omp_get_device_from_uid(const char *uid)
{
    ompgpu_start();
    if (uid && !strcmp(uid, host_uid))
        return ompgpu_ndevices;
    for (int i = 0; uid && i < ompgpu_ndevices; i++) {
        const char *own = uid_of(&ompgpu_devices[i]);
        if (own && !strcmp(own, uid))
            return i;
    }
    return OMPGPU_DEVICE_INVALID;
}

/* Section 18.6 of OpenMP 5.2.  libomp takes device 0 for the host where it knows of no device.
 * Devices keep what they have: all of it is in use, or freed when memory runs out. */
/* LLVM's library cannot pause before it has begun, which it does when it is called. */
static int pause_host(int kind)
{
    int (*pause)(int, int), (*number)(void), (*begin)(void);
    *(void **)&pause = libomp("omp_pause_resource");
    *(void **)&number = libomp("omp_get_initial_device");
    *(void **)&begin = libomp("omp_get_max_threads");
    if (begin)
        begin();
    return pause && number ? pause(kind, number()) : 0;
}

int omp_pause_resource_all(int kind) { return pause_host(kind); }

int omp_pause_resource(int kind, int number)
{
    struct ompgpu_device *dev;
    if (ompgpu_device_try(number, &dev))
        return -1;
    bool host = number == OMPGPU_DEVICE_INITIAL || number == omp_get_initial_device();
    return host ? pause_host(kind) : 0;
}

void omp_display_env(int verbose)
{
    void (*host)(int);
    *(void **)&host = libomp("omp_display_env");
    ompgpu_start();
    if (host)
        host(verbose);
    ompgpu_display(verbose);
}

/* ------------------------------------------------------------------ allocators */
/* The numbers of clang 22's omp.h.  A distribution may put an older libomp beside it, which has
 * others: a library exports its own by these names, and one that does not has 0 for the default. */
static const struct {
    uintptr_t number;
    const char *name;
} memory_spaces[] = {
    { 99, "omp_default_mem_space" },
    { 1, "omp_large_cap_mem_space" },
    { 2, "omp_const_mem_space" },
    { 3, "omp_high_bw_mem_space" },
    { 4, "omp_low_lat_mem_space" },
    { 100, "llvm_omp_target_host_mem_space" },
    { 101, "llvm_omp_target_shared_mem_space" },
    { 102, "llvm_omp_target_device_mem_space" },
};

static uintptr_t translate_space(uintptr_t space)
{
    for (size_t i = 0; i < sizeof memory_spaces / sizeof *memory_spaces; i++)
        if (memory_spaces[i].number == space) {
            const uintptr_t *theirs = libomp(memory_spaces[i].name);
            return theirs ? *theirs : i ? space : 0;
        }
    return space;
}

/* libomp 22 ends the program where it meets the traits of OpenMP 6.0 about devices: its memory is
 * the host's, and they only ask where memory should be. */
enum { LAST_KNOWN_TRAIT = 8, MAX_TRAITS = 32 };
struct trait { /* omp_alloctrait_t */
    int key;
    uintptr_t value;
};

uintptr_t omp_init_allocator(uintptr_t space, int ntraits, void *traits)
{
    uintptr_t (*init)(uintptr_t, int, void *);
    const struct trait *all = traits;
    struct trait known[MAX_TRAITS];
    int n = 0;
    *(void **)&init = libomp("omp_init_allocator");
    for (int i = 0; i < ntraits && n < MAX_TRAITS; i++)
        if (all[i].key <= LAST_KNOWN_TRAIT)
            known[n++] = all[i];
    return init ? init(translate_space(space), n, known) : 0;
}

/* ------------------------------------------------------------------ memory */
static struct ompgpu_entry *find_allocation(struct ompgpu_device *dev, const void *p)
{
    return (struct ompgpu_entry *)ompgpu_ranges_find(&dev->allocations, (uintptr_t)p, 1);
}

static void *allocate(size_t size, int number, bool shared, const void *caller)
{
    struct ompgpu_device *dev;
    void *memory;
    if (ompgpu_device_try(number, &dev) || size == 0)
        return NULL;
    if (!dev)
        return malloc(size);
    ompgpu_tool_memory(NULL, caller);
    double start = ompgpu_watch_clock();
    struct ompgpu_entry *e = ompgpu_xalloc(sizeof *e);
    if (!e || (shared && !dev->plugin->alloc_shared) ||
        (shared ? dev->plugin->alloc_shared(dev->ordinal, size, &memory)
                : ompgpu_memory_get(dev, size, &memory))) {
        ompgpu_xfree(e);
        return NULL;
    }
    e->begin = (uintptr_t)memory, e->end = e->begin + size, e->shared = shared;
    e->name = "omp_target_alloc";
    ompgpu_watch_alloc(NULL, e, start);
    pthread_mutex_lock(&dev->lock);
    ompgpu_ranges_insert(&dev->allocations, &e->range);
    pthread_mutex_unlock(&dev->lock);
    if (!shared)
        ompgpu_expose(dev, (uintptr_t)memory);
    return memory;
}

void *omp_target_alloc(size_t size, int number)
{
    return allocate(size, number, false, __builtin_return_address(0));
}

static void report_free(const void *p, int number)
{
    static const char message[] =
        "omp_target_free(%p, %d): not allocated by omp_target_alloc on this device, or freed "
        "already; ignored";
    if (ompgpu_checks(OMPGPU_CHECK_ADDRESS))
        ompgpu_check_report(OMPGPU_CHECK_ADDRESS, NULL, message, p, number);
    else
        ompgpu_say(NULL, "warning", message, p, number);
}

static void release(void *p, int number, const void *caller)
{
    struct ompgpu_device *dev;
    if (!p || ompgpu_device_try(number, &dev))
        return;
    if (!dev) {
        free(p);
        return;
    }
    pthread_mutex_lock(&dev->lock);
    struct ompgpu_entry *e = find_allocation(dev, p);
    bool ours = e && e->begin == (uintptr_t)p;
    if (ours)
        ompgpu_ranges_remove(&dev->allocations, &e->range);
    pthread_mutex_unlock(&dev->lock);
    if (!ours) {
        report_free(p, number);
        return;
    }
    if (ompgpu_watched())
        ompgpu_allocation_gone(dev, e);
    ompgpu_tool_memory(NULL, caller);
    ompgpu_watch_free(e);
    (e->shared ? dev->plugin->free_shared : dev->plugin->free)(dev->ordinal, p);
    ompgpu_xfree(e);
}

void omp_target_free(void *p, int number) { release(p, number, __builtin_return_address(0)); }

/* ------------------------------------------------------------------ extensions of LLVM's
 * Memory for the host's accesses is shared memory, too: one address serves both. */
#define LLVM_MEMORY(kind, shared)                                                                  \
    void *llvm_omp_target_alloc_##kind(size_t size, int number)                                    \
    {                                                                                              \
        return allocate(size, number, shared, __builtin_return_address(0));                        \
    }                                                                                              \
    void llvm_omp_target_free_##kind(void *p, int number)                                          \
    {                                                                                              \
        release(p, number, __builtin_return_address(0));                                           \
    }
LLVM_MEMORY(device, false)
LLVM_MEMORY(host, true)
LLVM_MEMORY(shared, true)

int omp_target_is_present(const void *p, int number)
{
    struct ompgpu_device *dev;
    if (!p || ompgpu_device_try(number, &dev))
        return 0;
    return !dev || ompgpu_data_lookup(dev, (uintptr_t)p) != 0;
}

/* Host memory is accessible from a device only where it is unified; a device's own is.  Nothing is
 * no storage. */
int omp_target_is_accessible(const void *p, size_t size, int number)
{
    struct ompgpu_device *dev;
    if (!p || !size || ompgpu_device_try(number, &dev))
        return 0;
    if (!dev || ompgpu_unified())
        return 1;
    pthread_mutex_lock(&dev->lock);
    const struct ompgpu_entry *e = find_allocation(dev, p);
    bool inside = e && size <= e->end - (uintptr_t)p;
    pthread_mutex_unlock(&dev->lock);
    return inside;
}

void *omp_get_mapped_ptr(const void *p, int number)
{
    struct ompgpu_device *dev;
    if (!p || ompgpu_device_try(number, &dev))
        return NULL;
    return dev ? (void *)ompgpu_data_lookup(dev, (uintptr_t)p) : (void *)p;
}

/* ------------------------------------------------------------------ associations */
int omp_target_associate_ptr(const void *host, const void *device, size_t size, size_t offset,
                             int number)
{
    struct ompgpu_device *dev;
    uintptr_t begin = (uintptr_t)host, address = (uintptr_t)device + offset;
    if (!host || !device || !size || size > UINTPTR_MAX - begin ||
        ompgpu_device_try(number, &dev) || !dev)
        return EINVAL;
    unsigned held = ompgpu_tables_lock(dev);
    struct ompgpu_entry *e = ompgpu_entry_new(dev, begin, size, address, OMPGPU_REFS_INFINITE);
    if (!e) {
        ompgpu_tables_unlock(dev, held);
        return ENOMEM;
    }
    e->associated = true;
    e->name = "omp_target_associate_ptr";
    const struct ompgpu_entry *old = ompgpu_present_find(dev, begin, size);
    bool same = old && old->associated && old->begin == e->begin && old->end == e->end &&
                old->device == e->device;
    if (!old)
        ompgpu_present_insert(dev, e);
    ompgpu_tables_unlock(dev, held);
    if (old)
        ompgpu_entry_free(dev, e);
    return old && !same ? EINVAL : 0;
}

int omp_target_disassociate_ptr(const void *host, int number)
{
    struct ompgpu_device *dev;
    if (!host || ompgpu_device_try(number, &dev) || !dev)
        return EINVAL;
    unsigned held = ompgpu_tables_lock(dev);
    uint64_t round = ompgpu_tables_round(dev);
    struct ompgpu_entry *e;
    while ((e = ompgpu_present_find(dev, (uintptr_t)host, 1)) && e->busy) {
        ompgpu_tables_wait(dev, held, round);
        held = ompgpu_tables_lock(dev);
        round = ompgpu_tables_round(dev);
    }
    bool ours = e && e->associated && e->begin == (uintptr_t)host;
    if (ours) {
        ompgpu_detach(dev, e);
        ompgpu_present_remove(dev, e);
    }
    ompgpu_tables_unlock(dev, held);
    if (ours)
        ompgpu_entry_free(dev, e);
    return ours ? 0 : EINVAL;
}

/* ------------------------------------------------------------------ an extension of clang's */
static void dump_entry(const struct ompgpu_entry *e)
{
    fprintf(stderr, "ompgpu:   %p  %p  %10zu  ", (void *)e->begin, (void *)e->device,
            (size_t)(e->end - e->begin));
    if (ompgpu_refs(e) == OMPGPU_REFS_INFINITE)
        fprintf(stderr, "     inf  %s\n", e->name);
    else
        fprintf(stderr, "%8ld  %s at %s:%u\n", ompgpu_refs(e), e->name ? e->name : "?",
                e->file ? e->file : "?", e->line);
}

void ompx_dump_mapping_tables(void)
{
    ompgpu_start();
    for (int i = 0; i < ompgpu_ndevices; i++) {
        struct ompgpu_device *dev = &ompgpu_devices[i];
        unsigned held = ompgpu_tables_lock(dev);
        fprintf(stderr,
                "ompgpu: present table of device %d: %zu entries (host, device, bytes, references, "
                "item)\n",
                i, ompgpu_present_count(dev));
        for (const struct ompgpu_entry *e = ompgpu_present_next(dev, 0); e;
             e = ompgpu_present_next(dev, e->end))
            dump_entry(e);
        ompgpu_tables_unlock(dev, held);
    }
}
