/* plugin.c - the emulated device: kernels of the x86-64 image run on the machine's cores, with
 * teams, warps of 32 lanes, barriers and memory of their own.  This file is the plugin; emu.h lists
 * the parts.
 *
 * Launches are synchronous, so a host thread's transfers and launches are in order without more
 * ado, and sync has nothing to do.  Those of a queue (queue.c) are made by its own thread. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "hostrt/emu/emu.h"
#include "hostrt/queue.h"

/* ------------------------------------------------------------------ settings */
static struct emu_settings settings;
static pthread_once_t settings_once = PTHREAD_ONCE_INIT;

struct numbers {
    long memory, stack, threads, devices, hang_seconds;
};
static const struct ompgpu_variable variables[] = {
#define FIELD(f) .field = offsetof(struct numbers, f)
    { .name = "OMPGPU_EMU_MEMORY",
      FIELD(memory),
      .least = 1,
      .most = LONG_MAX,
      .bytes = true,
      .valid = "bytes, with K, M, G or T after the number for multiples of 1024" },
    { .name = "OMPGPU_EMU_STACK",
      FIELD(stack),
      .least = 16 << 10, /* a signal frame and a printf */
      .bytes = true,
      .valid = "bytes, 16K or more, with K, M or G after the number for multiples of 1024" },
    { .name = "OMPGPU_EMU_THREADS",
      FIELD(threads),
      .least = 1,
      .most = 256,
      .valid = "a number of threads, 1 to 256" },
    { .name = "OMPGPU_EMU_DEVICES",
      FIELD(devices),
      .least = 1,
      .most = EMU_MAX_DEVICES,
      .valid = "a number of devices, 1 to 8" },
    { .name = "OMPGPU_HANG_SECONDS", FIELD(hang_seconds), .valid = "seconds, 0 for no watchdog" },
#undef FIELD
};
_Static_assert(EMU_MAX_DEVICES == 8, "the message says so");

static size_t smaller(size_t n, size_t limit) { return n < limit ? n : limit; }

/* A few digits: the user may have to write them. */
static uint64_t make_seed(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return ((uint64_t)t.tv_nsec / 1000 + (uint64_t)getpid() * 7919) % 1000000;
}

/* order, random[:SEED] */
static void read_schedule(void)
{
    static const char name[] = "OMPGPU_EMU_SCHEDULE";
    const char *text = secure_getenv(name);
    settings.seed = make_seed();
    if (!text || !*text)
        return;
    settings.ordered = strcmp(text, "order") == 0;
    if (settings.ordered)
        return;
    settings.seed = 0;
    char *end = (char *)text + strlen(text);
    if (!strncmp(text, "random:", 7))
        settings.seed = strtoull(text + 7, &end, 0);
    settings.random =
        !*end && end != text + 7 && !strncmp(text, "random", 6) && (!text[6] || text[6] == ':');
    if (!settings.random)
        ompgpu_warn_variable(name, "order, random, random:SEED");
}

/* p,p,… : of devices 0, 1, …; of those after the list 100 */
static void read_speeds(void)
{
    static const char name[] = "OMPGPU_EMU_SPEED";
    const char *text = secure_getenv(name);
    unsigned n = 0;
    for (unsigned i = 0; i < EMU_MAX_DEVICES; i++)
        settings.speeds[i] = 100;
    if (!text || !*text)
        return;
    for (char *end; n < EMU_MAX_DEVICES; text = end + 1) {
        unsigned long speed = strtoul(text, &end, 10);
        if (*text < '0' || *text > '9' || speed < 1 || speed > 100 || (*end && *end != ','))
            break;
        settings.speeds[n++] = (unsigned)speed;
        if (!*end)
            return;
    }
    for (unsigned i = 0; i < EMU_MAX_DEVICES; i++)
        settings.speeds[i] = 100;
    ompgpu_warn_variable(name, "percents, 1 to 100, a comma between those of two devices");
}

static void read_settings(void)
{
    long page = sysconf(_SC_PAGESIZE), cores = sysconf(_SC_NPROCESSORS_ONLN);
    /* By default at most 16 threads: each may need the stacks of a whole team, and the number of
     * mappings of a process is limited. */
    struct numbers n = { .memory = 4L << 30,
                         .stack = 64 << 10,
                         .threads = cores < 1    ? 1
                                    : cores < 16 ? cores
                                                 : 16,
                         .devices = 1,
                         .hang_seconds = 10 };
    ompgpu_read_variables(variables, sizeof variables / sizeof *variables, &n);
    settings.memory = (size_t)n.memory;
    settings.stack = (size_t)((n.stack + page - 1) & ~(page - 1));
    settings.threads = (unsigned)n.threads;
    settings.devices = (unsigned)n.devices;
    settings.hang_seconds = (unsigned)n.hang_seconds;
    read_schedule();
    read_speeds();
}

const struct emu_settings *ompgpu_emu_settings(void)
{
    pthread_once(&settings_once, read_settings);
    return &settings;
}

/* ------------------------------------------------------------------ devices */
static struct emu_memory memory[EMU_MAX_DEVICES];
static unsigned opened;    /* bit per device; the core opens and closes under its start-up lock */
static atomic_int running; /* launches */

static int emu_num_devices(void) { return (int)ompgpu_emu_settings()->devices; }

static bool is_checking(void)
{
    return ompgpu_checks(OMPGPU_CHECK_ADDRESS) || ompgpu_checks(OMPGPU_CHECK_UNINIT) ||
           ompgpu_checks(OMPGPU_CHECK_RACE) || ompgpu_checks(OMPGPU_CHECK_STALE);
}

static int emu_open(int ordinal, struct ompgpu_device_info *info)
{
    const struct emu_settings *s = ompgpu_emu_settings();
    *info = (struct ompgpu_device_info){
        .name = "emulated device",
        .multiprocessors = EMU_MULTIPROCESSORS,
        .max_threads_per_team = EMU_MAX_THREADS,
        .max_threads_per_mp = EMU_THREADS_PER_MP,
        .registers_per_mp = EMU_REGISTERS_PER_MP,
        .warp_size = EMU_WARP,
        .shared_per_team = EMU_SHARED_BYTES,
        .total_memory = s->memory,
        .unified = true,
    };
    if (ompgpu_emu_memory_init(&memory[ordinal], s->memory)) {
        ompgpu_plugin_error("out of host memory");
        return 1;
    }
    opened |= 1u << ordinal;
    if (is_checking())
        ompgpu_emu_shadow_start(), ompgpu_emu_race_start();
    return 0;
}

/* When the program ends while another host thread still runs a kernel, its memory stays. */
static void emu_close(int ordinal)
{
    if (atomic_load(&running))
        return;
    opened &= ~(1u << ordinal);
    if (!opened)
        ompgpu_emu_pool_stop();
    ompgpu_emu_use_begin();
    ompgpu_emu_memory_fini(&memory[ordinal]);
    ompgpu_emu_use_end();
}

static int emu_pick(int ordinal, const struct ompgpu_image_header *h)
{
    const struct ompgpu_image_entry *e = (const void *)((const char *)h + h->images);
    (void)ordinal;
    for (unsigned i = 0; i < h->nimages; i++)
        if (e[i].kind == OMPGPU_IMAGE_EMU)
            return (int)i;
    return -1;
}

/* ------------------------------------------------------------------ modules */
static void forget_segments(int ordinal, struct emu_module *m)
{
    for (unsigned i = 0; i < m->nsegments; i++)
        ompgpu_emu_memory_remove(&memory[ordinal], m->segment[i].base);
}

static int emu_load(int ordinal, const struct ompgpu_image_header *h, int image, const void *data,
                    size_t size, void **module)
{
    struct emu_module *m;
    (void)h, (void)image;
    if (ompgpu_emu_image_load(data, size, &m))
        return 1;
    for (unsigned i = 0; i < m->nsegments; i++)
        if (ompgpu_emu_memory_add(&memory[ordinal], m->segment[i].base, m->segment[i].size)) {
            forget_segments(ordinal, m);
            ompgpu_emu_image_unload(m);
            return 1;
        }
    *module = m;
    return 0;
}

static void emu_unload(int ordinal, void *module)
{
    forget_segments(ordinal, module);
    ompgpu_emu_image_unload(module);
}

static int emu_function(int ordinal, void *module, const char *name, struct ompgpu_function *out)
{
    struct emu_kernel *k;
    (void)ordinal;
    if (ompgpu_emu_image_kernel(module, name, &k))
        return 1;
    out->handle = k;
    out->max_threads = EMU_MAX_THREADS;
    out->stack_bytes = out->entry ? out->entry->frame_bytes : 0;
    return 0;
}

static int emu_variable(int ordinal, void *module, const char *name, void **address, size_t *size)
{
    (void)ordinal;
    return ompgpu_emu_image_variable(module, name, address, size);
}

/* ------------------------------------------------------------------ memory */
static int allocate(int ordinal, size_t size, bool open, void **address)
{
    ompgpu_emu_use_begin();
    int err = ompgpu_emu_memory_alloc(&memory[ordinal], size, open, address);
    ompgpu_emu_use_end();
    return err;
}

static int emu_alloc(int ordinal, size_t size, void **address)
{
    return allocate(ordinal, size, false, address);
}

/* The host writes to it as it likes. */
static int emu_alloc_shared(int ordinal, size_t size, void **address)
{
    if (allocate(ordinal, size, true, address))
        return 1;
    ompgpu_emu_shadow_define(*address, size);
    return 0;
}

static void emu_trust(int ordinal, void *address, size_t size)
{
    ompgpu_emu_memory_trust(&memory[ordinal], address);
    ompgpu_emu_shadow_define(address, size);
}

static void emu_outdate(int ordinal, void *address, size_t size, bool is)
{
    (void)ordinal;
    ompgpu_emu_shadow_outdate(address, size, is);
}

int ompgpu_emu_owner(const void *p)
{
    for (int i = 0; i < EMU_MAX_DEVICES; i++)
        if (ompgpu_emu_memory_owns(&memory[i], p))
            return i;
    return -1;
}

static void emu_expose(int ordinal, void *address)
{
    if (!ompgpu_emu_shadowed() || !ompgpu_checks(OMPGPU_CHECK_ADDRESS))
        return;
    ompgpu_emu_use_begin();
    ompgpu_emu_memory_expose(&memory[ordinal], address);
    ompgpu_emu_use_end();
}

static int emu_free(int ordinal, void *address)
{
    ompgpu_emu_use_begin();
    int err = ompgpu_emu_memory_free(&memory[ordinal], address);
    ompgpu_emu_use_end();
    return err;
}

static void copy_bytes(void *dst, const void *src, size_t size, enum emu_direction direction)
{
    struct emu_transfer t;
    ompgpu_emu_use_begin();
    ompgpu_emu_transfer_begin(&t, direction);
    if (direction == EMU_TO_DEVICE)
        ompgpu_emu_source_read(&t, src, size);
    if (direction != EMU_TO_DEVICE)
        ompgpu_emu_race_transfer(&t, src, size, NULL);
    if (direction != EMU_FROM_DEVICE)
        ompgpu_emu_race_transfer(&t, dst, size, src);
    memmove(dst, src, size);
    ompgpu_emu_transfer_end(&t);
    ompgpu_emu_use_end();
}

static int emu_to_device(int ordinal, void *dst, const void *src, size_t size)
{
    if (ompgpu_emu_memory_check(&memory[ordinal], dst, size, "copy to the device"))
        return 1;
    copy_bytes(dst, src, size, EMU_TO_DEVICE);
    ompgpu_emu_shadow_define(dst, size);
    return 0;
}

static int emu_from_device(int ordinal, void *dst, const void *src, size_t size)
{
    if (ompgpu_emu_memory_check(&memory[ordinal], src, size, "copy from the device"))
        return 1;
    copy_bytes(dst, src, size, EMU_FROM_DEVICE);
    return 0;
}

static int emu_device_copy(int ordinal, void *dst, const void *src, size_t size)
{
    if (ompgpu_emu_memory_check(&memory[ordinal], dst, size,
                                "copy within the device, destination") ||
        ompgpu_emu_memory_check(&memory[ordinal], src, size, "copy within the device, source"))
        return 1;
    copy_bytes(dst, src, size, EMU_WITHIN_DEVICE);
    ompgpu_emu_shadow_copy(dst, src, size);
    return 0;
}

static int emu_peer_copy(int ordinal, void *dst, int from, const void *src, size_t size)
{
    if (ompgpu_emu_memory_check(&memory[ordinal], dst, size,
                                "copy from another device, destination") ||
        ompgpu_emu_memory_check(&memory[from], src, size, "copy from another device, source"))
        return 1;
    copy_bytes(dst, src, size, EMU_WITHIN_DEVICE);
    ompgpu_emu_shadow_copy(dst, src, size);
    return 0;
}

/* ------------------------------------------------------------------ launch */
static unsigned emu_occupancy(int ordinal, struct ompgpu_function *f, unsigned threads)
{
    (void)ordinal, (void)f;
    if (!threads || threads > EMU_MAX_THREADS)
        return 0;
    unsigned warps = (threads + EMU_WARP - 1) / EMU_WARP;
    return (unsigned)smaller(EMU_THREADS_PER_MP / EMU_WARP / warps, EMU_TEAMS_PER_MP);
}

unsigned long ompgpu_emu_common_divisor(unsigned long a, unsigned long b)
{
    return b ? ompgpu_emu_common_divisor(b, a % b) : a;
}

/* Teams in an order of their own: i -> (i * stride + shift) mod teams, stride coprime to teams. */
static void shuffle_teams(struct emu_launch *l)
{
    unsigned long x = l->seed * 0x9E3779B97F4A7C15u + 0xD1342543DE82EF95u;
    l->shift = (x >> 40) % l->teams;
    l->stride = 1 + (x >> 20 & 0xFFFFF) % l->teams;
    while (ompgpu_emu_common_divisor(l->stride, l->teams) != 1)
        l->stride++;
}

static _Thread_local unsigned long barriers, switches; /* of this host thread's last launch */

static const char *emu_counts(void)
{
    static _Thread_local char text[80];
    snprintf(text, sizeof text, ", %lu barriers, %lu switches", barriers, switches);
    return text;
}

/* The usual stack serves what takes up to half of it: a part is for functions of the C library and
 * for signal frames. */
static size_t stack_for(const struct ompgpu_function *f)
{
    size_t usual = ompgpu_emu_settings()->stack, page = (size_t)sysconf(_SC_PAGESIZE);
    return f->stack_bytes <= usual / 2 ? usual
                                       : usual + ((f->stack_bytes + page - 1) & ~(page - 1));
}

static _Thread_local bool has_fault; /* of this host thread's last launch */
static _Thread_local uintptr_t fault_address;

bool ompgpu_emu_fault(uintptr_t *address)
{
    *address = fault_address;
    return has_fault;
}

void ompgpu_emu_set_fault(bool known, uintptr_t address)
{
    has_fault = known, fault_address = address;
}

/* A device of a lower speed takes longer for the same. */
static void slow_down(unsigned speed, double ms)
{
    double rest = ms * (100.0 / speed - 1);
    struct timespec t = { (time_t)(rest / 1e3), 0 };
    t.tv_nsec = (long)((rest - (double)t.tv_sec * 1e3) * 1e6);
    while (speed < 100 && nanosleep(&t, &t) && errno == EINTR)
        ;
}

static int emu_launch(int ordinal, struct ompgpu_function *f, unsigned teams, unsigned threads,
                      void **params)
{
    const struct emu_settings *s = ompgpu_emu_settings();
    const struct emu_kernel *k = f->handle;
    if (!teams || !threads || threads > EMU_MAX_THREADS) {
        ompgpu_plugin_error(
            "launch of %u teams of %u threads: the device takes 1 to %d threads a team", teams,
            threads, EMU_MAX_THREADS);
        return 1;
    }
    const struct ompgpu_env *env = params[0];
    const size_t variables = (k->module->shared_bytes + 15) & ~(size_t)15;
    struct emu_launch l = {
        .kernel = k,
        .params = params,
        .module = k->module,
        .memory = &memory[ordinal],
        .where = &f->where,
        .file = f->where.file,
        .ordinal = ordinal,
        .teams = teams,
        .threads = threads,
        .shared_bytes =
            env->dynamic_bytes ? variables + env->dynamic_bytes : k->module->shared_bytes,
        .dynamic = variables,
        .stack = stack_for(f),
        .random = s->random || (k->module->random && !s->ordered),
        .seed = s->seed,
        .chunk = teams / (s->threads * 8) + 1,
        .stride = 1,
    };
    if (l.random)
        shuffle_teams(&l);
    double start = ompgpu_clock();
    atomic_fetch_add(&running, 1);
    ompgpu_emu_use_begin();
    ompgpu_emu_fault_enter();
    ompgpu_emu_race_begin(&l);
    ompgpu_emu_pool_run(&l);
    ompgpu_emu_race_end(&l);
    ompgpu_emu_fault_exit();
    ompgpu_emu_use_end();
    atomic_fetch_sub(&running, 1);
    slow_down(s->speeds[ordinal], ompgpu_clock() - start);
    barriers = atomic_load(&l.barriers), switches = atomic_load(&l.switches);
    has_fault = l.has_address, fault_address = l.address;
    if (atomic_load(&l.failed))
        ompgpu_plugin_error("%s", l.message);
    return atomic_load(&l.failed);
}

static int emu_sync(int ordinal)
{
    (void)ordinal;
    return 0;
}

/* A device may be closed meanwhile, by a thread that ends the program. */
static void emu_fork(enum ompgpu_fork when)
{
    static unsigned locked;
    if (when == OMPGPU_FORK_BEFORE)
        locked = opened;
    for (int i = 0; i < EMU_MAX_DEVICES; i++)
        if (locked >> i & 1)
            (when == OMPGPU_FORK_BEFORE ? pthread_mutex_lock
                                        : pthread_mutex_unlock)(&memory[i].lock);
    ompgpu_emu_queue_fork(when);
    ompgpu_emu_pool_fork(when);
    ompgpu_emu_closed_fork(when);
    ompgpu_emu_race_fork(when);
    ompgpu_emu_fault_fork(when);
    if (when == OMPGPU_FORK_CHILD)
        atomic_store(&running, 0);
}

static int emu_identify(int ordinal, struct ompgpu_identity *d)
{
    *d = (struct ompgpu_identity){ 0 };
    snprintf(d->uid, sizeof d->uid, "EMU-%d", ordinal);
    return 0;
}

/* For libraries of its own: ompgpu_interop_call() puts work into the queue. */
static int emu_foreign(int ordinal, void *queue, struct ompgpu_foreign *f)
{
    *f = (struct ompgpu_foreign){ .id = -1,
                                  .vendor = -1,
                                  .name = "ompgpu-emu",
                                  .vendor_name = "ompgpu",
                                  .device = ordinal,
                                  .stream = queue };
    return 0;
}

const struct ompgpu_plugin ompgpu_emu_plugin = {
    .name = "emu",
    .image_kinds = 1u << OMPGPU_IMAGE_EMU,
    .num_devices = emu_num_devices,
    .identify = emu_identify,
    .open = emu_open,
    .close = emu_close,
    .pick = emu_pick,
    .load = emu_load,
    .unload = emu_unload,
    .function = emu_function,
    .variable = emu_variable,
    .alloc = emu_alloc,
    .free = emu_free,
    .alloc_shared = emu_alloc_shared,
    .free_shared = emu_free,
    .to_device = emu_to_device,
    .from_device = emu_from_device,
    .device_copy = emu_device_copy,
    .peer_copy = emu_peer_copy,
    .occupancy = emu_occupancy,
    .launch = emu_launch,
    .sync = emu_sync,
    .foreign = emu_foreign,
    .queue_create = ompgpu_emu_queue_create,
    .queue_destroy = ompgpu_emu_queue_destroy,
    .queue_to_device = ompgpu_emu_queue_to_device,
    .queue_from_device = ompgpu_emu_queue_from_device,
    .queue_copy = ompgpu_emu_queue_copy,
    .queue_launch = ompgpu_emu_queue_launch,
    .queue_call = ompgpu_work_call,
    .queue_notify = ompgpu_work_notify,
    .queue_wait = ompgpu_emu_queue_wait,
    .event_create = ompgpu_emu_event_create,
    .event_destroy = ompgpu_emu_event_destroy,
    .event_record = ompgpu_emu_event_record,
    .event_wait = ompgpu_emu_event_wait,
    .fork = emu_fork,
    .counts = emu_counts,
    .trust = emu_trust,
    .expose = emu_expose,
    .outdate = emu_outdate,
    .fault = ompgpu_emu_fault,
};
