/* device.c - which devices there are, and when they are opened.
 *
 * The kind of device is chosen once, at first use: CUDA devices where the driver finds some, else
 * the emulated device, unless OMPGPU_DEVICE names one.  A kind for which some unit has no image at
 * all is passed over.  When a device is opened, every unit is asked for an image that suits exactly
 * this device; when one has none, the device is closed to all regions and data constructs, which
 * then run on the host.  It must be all or none: were one region to run on the host while another's
 * data is on the device, both would compute with stale values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

pthread_mutex_t ompgpu_start_lock = PTHREAD_MUTEX_INITIALIZER;
struct ompgpu_device *ompgpu_devices;
int ompgpu_ndevices;
int ompgpu_run_state;
unsigned ompgpu_generation;

static char no_device[512]; /* why there are none, or none that was asked for */
static bool assumed;        /* the emulated device, which nobody asked for */

/* ------------------------------------------------------------------ choosing */
struct candidate {
    enum ompgpu_device_kind kind;
    const struct ompgpu_plugin *plugin;
    const char *missing;
};
static const struct candidate candidates[] = {
    { OMPGPU_KIND_CUDA, &ompgpu_cuda_plugin, "no CUDA device" },
    { OMPGPU_KIND_EMU, &ompgpu_emu_plugin, "no emulated device" },
    { OMPGPU_KIND_PTX, &ompgpu_cuda_plugin, "no PTX machine" },
};

static void add_reason(const char *fmt, const char *a, const char *b)
{
    size_t n = strlen(no_device);
    if (n)
        n += (size_t)snprintf(no_device + n, sizeof no_device - n, "; ");
    if (n < sizeof no_device)
        snprintf(no_device + n, sizeof no_device - n, fmt, a, b);
}

/* Number of devices of this kind that the program can use. */
static int count_usable(const struct candidate *c)
{
    ompgpu_plugin_error("%s", "");
    int n = c->plugin->num_devices();
    if (n <= 0) {
        const char *why = ompgpu_plugin_message();
        add_reason(*why ? "%s (%s)" : "%s", c->missing, why);
        return 0;
    }
    const struct ompgpu_unit *without = ompgpu_unit_without(c->plugin->image_kinds);
    if (without && ompgpu_unit_not_linked(without))
        add_reason(
            "%s uses device code of other files and was not device-linked: link with ompgpu-cc%s",
            without->file, "");
    else if (without)
        add_reason(
            c->kind == OMPGPU_KIND_EMU
                ? "%s was compiled without an image for the %s device (--gpu-arch=emu adds it)"
                : "%s was compiled without an image for a %s device",
            without->file, c->plugin->name);
    return without ? 0 : n;
}

/* NULL, or what forbids that the host, or the emulated device, stands in for a GPU. */
static const char *mandatory(void)
{
    if (__atomic_load_n(&ompgpu_unit_flags, __ATOMIC_RELAXED) & OMPGPU_OFFLOAD_IS_MANDATORY)
        return "-fopenmp-offload-mandatory";
    return ompgpu_settings.offload == OMPGPU_OFFLOAD_MANDATORY ? "OMP_TARGET_OFFLOAD=MANDATORY"
                                                               : NULL;
}

/* May this kind of device be used? */
static bool is_wanted(const struct candidate *c)
{
    if (ompgpu_settings.device_kind != OMPGPU_KIND_ANY)
        return ompgpu_settings.device_kind == (long)c->kind;
    if (c->kind == OMPGPU_KIND_EMU && mandatory())
        add_reason("the emulated device must be asked for: OMPGPU_DEVICE=emu%s%s", "", "");
    return c->kind == OMPGPU_KIND_CUDA || (c->kind == OMPGPU_KIND_EMU && !mandatory());
}

static void make_device(struct ompgpu_device *dev, const struct ompgpu_plugin *plugin, int ordinal,
                        int number)
{
    dev->plugin = plugin;
    dev->ordinal = ordinal, dev->number = number;
    ompgpu_read_icvs(number, &dev->icvs);
    pthread_mutex_init(&dev->lock, NULL);
    pthread_mutex_init(&dev->wait_lock, NULL);
    pthread_cond_init(&dev->synced, NULL);
    for (unsigned i = 0; i < OMPGPU_PARTS; i++)
        pthread_mutex_init(&dev->parts[i].lock, NULL);
}

/* n of ours, and those of other nodes after them. */
static int make_devices(const struct ompgpu_plugin *plugin, int n, const struct ompgpu_plugin *far,
                        int nfar)
{
    int ordinals[OMPGPU_MOST_DEVICES], own = n ? ompgpu_select_devices(plugin, n, ordinals) : 0;
    if (n && own == 0)
        add_reason("OMP_AVAILABLE_DEVICES=%s selects none%s",
                   secure_getenv("OMP_AVAILABLE_DEVICES"), "");
    if (own + nfar == 0)
        return 0;
    struct ompgpu_device *devices = ompgpu_xalloc((size_t)(own + nfar) * sizeof *devices);
    if (!devices)
        return -1;
    for (int i = 0; i < own; i++)
        make_device(&devices[i], plugin, ordinals[i], i);
    for (int i = 0; i < nfar; i++)
        make_device(&devices[own + i], far, i, own + i);
    ompgpu_devices = devices, ompgpu_ndevices = own + nfar;
    ompgpu_choose_rank_device(own + nfar);
    return 0;
}

/* Those of other nodes, where there are some and the program can use them. */
static int count_far(struct candidate *far)
{
    const char *why = NULL;
    *far = (struct candidate){ .plugin = ompgpu_nodes_plugin(&why), .missing = "no other node" };
    if (why)
        ompgpu_say(NULL, "warning", "no devices of other nodes: %s", why);
    return far->plugin ? count_usable(far) : 0;
}

static void read_environment(void)
{
    static bool has_been;
    pthread_mutex_lock(&ompgpu_start_lock);
    if (!has_been) {
        ompgpu_read_environment(&ompgpu_settings);
        ompgpu_hint_variables();
        ompgpu_watch_start();
        ompgpu_watch_exit();
        ompgpu_watch_fork();
    }
    has_been = true;
    pthread_mutex_unlock(&ompgpu_start_lock);
}

/* Without a lock of ours: the dynamic linker has one, which is taken before ours where a library's
 * constructor has a region. */
static void find_drivers(void)
{
    long kind = ompgpu_settings.device_kind;
    if (ompgpu_settings.offload == OMPGPU_OFFLOAD_DISABLED)
        return;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        const struct candidate *c = &candidates[i];
        bool may = kind == OMPGPU_KIND_ANY ? c->kind != OMPGPU_KIND_PTX : kind == (long)c->kind;
        if (may && c->plugin->find)
            c->plugin->find();
    }
}

static int choose_devices(void)
{
    if (ompgpu_settings.offload == OMPGPU_OFFLOAD_DISABLED) {
        add_reason("OMP_TARGET_OFFLOAD=DISABLED%s%s", "", "");
        return 0;
    }
    struct candidate far;
    int n = 0, nfar = count_far(&far);
    const struct candidate *c = candidates, *end = c + sizeof candidates / sizeof *candidates;
    while (c < end && (n = is_wanted(c) ? count_usable(c) : 0) <= 0)
        c++;
    if (n <= 0)
        return make_devices(NULL, 0, far.plugin, nfar);
    ompgpu_stale_start(c->plugin);
    assumed = c->kind == OMPGPU_KIND_EMU && ompgpu_settings.device_kind == OMPGPU_KIND_ANY;
    return make_devices(c->plugin, n, far.plugin, nfar);
}

void ompgpu_start(void)
{
    if (__atomic_load_n(&ompgpu_run_state, __ATOMIC_ACQUIRE) != OMPGPU_NOT_STARTED)
        return;
    read_environment();
    find_drivers();
    pthread_mutex_lock(&ompgpu_start_lock);
    int bad = 0;
    if (ompgpu_run_state == OMPGPU_NOT_STARTED && !(bad = choose_devices()))
        __atomic_store_n(&ompgpu_run_state, OMPGPU_RUNNING, __ATOMIC_RELEASE);
    if (ompgpu_settings.display && !bad)
        ompgpu_display(ompgpu_settings.display == OMPGPU_DISPLAY_VERBOSE);
    pthread_mutex_unlock(&ompgpu_start_lock);
    if (bad)
        ompgpu_fatal(NULL, "%s", ompgpu_plugin_message());
}

/* ------------------------------------------------------------------ opening */
/* Under ompgpu_start_lock: NULL, or why regions cannot run there. */
static const char *unsuited_device(struct ompgpu_device *dev)
{
    static char reason[sizeof dev->reason];
    if (ompgpu_unified() && !dev->info.unified)
        return "it cannot access all memory of the host, which 'requires unified_shared_memory' "
               "asks "
               "for";
    const struct ompgpu_unit *unit = ompgpu_unit_unsuited(dev);
    if (!unit)
        return NULL;
    const char *why = ompgpu_plugin_message();
    snprintf(reason, sizeof reason, "%s has no image for it%s%s", unit->file, *why ? ": " : "",
             why);
    return reason;
}

/* Nobody asked for the emulated device: that is said once, when it is used first. */
static void announce_device(void)
{
    if (assumed)
        ompgpu_say(NULL, "warning",
                   "regions run on the emulated device: %s (OMPGPU_DEVICE=emu asks for it)",
                   no_device);
    assumed = false;
}

static int state_of(const struct ompgpu_device *dev)
{
    return __atomic_load_n(&dev->state, __ATOMIC_ACQUIRE);
}

/* Under ompgpu_start_lock. */
static int open_device(struct ompgpu_device *dev)
{
    if (state_of(dev) != OMPGPU_DEVICE_NEW)
        return 0;
    dev->plugin = ompgpu_tool_plugin(dev->plugin);
    if (dev->plugin->open(dev->ordinal, &dev->info))
        return -1;
    announce_device();
    const char *unsuited = unsuited_device(dev);
    if (unsuited)
        snprintf(dev->reason, sizeof dev->reason, "device %d (%s): %s", dev->number, dev->info.name,
                 unsuited);
    __atomic_store_n(&dev->state, unsuited ? OMPGPU_DEVICE_HOST : OMPGPU_DEVICE_EMPTY,
                     __ATOMIC_RELEASE);
    return 0;
}

/* No lock is held.  The device is in use once it has the generation. */
static int load_units(struct ompgpu_device *dev, unsigned generation, const char **file)
{
    if (__atomic_load_n(&dev->generation, __ATOMIC_ACQUIRE) != generation &&
        ompgpu_units_load(dev, ompgpu_starts_wait(dev), file))
        return -1;
    __atomic_store_n(&dev->state, OMPGPU_DEVICE_OPEN, __ATOMIC_RELEASE);
    if (ompgpu_starts_run(dev))
        __atomic_store_n(&dev->generation, generation, __ATOMIC_RELEASE);
    return 0;
}

static inline bool is_device_open(const struct ompgpu_device *dev)
{
    return state_of(dev) == OMPGPU_DEVICE_OPEN &&
           __atomic_load_n(&dev->generation, __ATOMIC_ACQUIRE) ==
               __atomic_load_n(&ompgpu_generation, __ATOMIC_ACQUIRE);
}

/* *file: the unit whose image could not be loaded, where that is the trouble. */
static int ensure_open(struct ompgpu_device *dev, const char **file)
{
    ompgpu_tool_connect(); /* without the lock: the tool may ask for the number of devices */
    pthread_mutex_lock(&ompgpu_start_lock);
    unsigned generation = __atomic_load_n(&ompgpu_generation, __ATOMIC_ACQUIRE);
    int bad = ompgpu_run_state == OMPGPU_RUNNING ? open_device(dev) : -1;
    pthread_mutex_unlock(&ompgpu_start_lock);
    if (bad || state_of(dev) == OMPGPU_DEVICE_HOST)
        return bad;
    return load_units(dev, generation, file);
}

/* ------------------------------------------------------------------ the device of a construct */
void ompgpu_on_host(const struct ompgpu_where *where, const char *reason)
{
    static int said;
    if (mandatory())
        ompgpu_fatal(where, "%s, but %s", mandatory(), reason);
    if (ompgpu_settings.offload == OMPGPU_OFFLOAD_DISABLED)
        return;
    if (where->region && !__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        ompgpu_say(where, "warning", "runs on the host: %s", reason);
    if (ompgpu_watched() && where->region)
        ompgpu_watch_host(where);
}

void ompgpu_failed_to_host(const struct ompgpu_where *where, const char *reason)
{
    if (mandatory())
        ompgpu_fatal(where, "%s, but %s", mandatory(), reason);
    ompgpu_say(where, "warning", "runs on the host: %s", reason);
    if (ompgpu_watched())
        ompgpu_watch_host(where);
}

static void describe_range(char *text, size_t size, long number)
{
    snprintf(
        text, size,
        "device number %ld is out of range: there %s %d device%s (0 … %d), and %d or -1 is the "
        "host",
        number, ompgpu_ndevices == 1 ? "is" : "are", ompgpu_ndevices,
        ompgpu_ndevices == 1 ? "" : "s", ompgpu_ndevices - 1, ompgpu_ndevices);
}

/* Everything but an open device in range. */
static __attribute__((noinline)) struct ompgpu_device *
get_device_slowly(const struct ompgpu_where *where, long number)
{
    const char *file = NULL;
    if (__atomic_load_n(&ompgpu_run_state, __ATOMIC_ACQUIRE) == OMPGPU_STOPPED)
        return NULL;
    ompgpu_self();
    if (number == OMPGPU_DEVICE_INITIAL || (ompgpu_ndevices && number == ompgpu_ndevices))
        return NULL;
    if (number == OMPGPU_DEVICE_INVALID && (ompgpu_ndevices || !mandatory()))
        ompgpu_fatal(where, "the device is omp_invalid_device");
    if (ompgpu_ndevices == 0) {
        ompgpu_on_host(where, no_device);
        return NULL;
    }
    if (number < 0 || number > ompgpu_ndevices) {
        char reason[128];
        describe_range(reason, sizeof reason, number);
        ompgpu_on_host(where, reason);
        return NULL;
    }
    struct ompgpu_device *dev = &ompgpu_devices[number];
    if (ensure_open(dev, &file)) {
        if (__atomic_load_n(&ompgpu_run_state, __ATOMIC_ACQUIRE) == OMPGPU_STOPPED)
            return NULL;
        ompgpu_fatal(where, file ? "%s (image of %s)" : "%s", ompgpu_plugin_message(), file);
    }
    if (state_of(dev) == OMPGPU_DEVICE_HOST) {
        ompgpu_on_host(where, dev->reason);
        return NULL;
    }
    return dev;
}

struct ompgpu_device *ompgpu_device_get(const struct ompgpu_where *where, long number)
{
    int state = __atomic_load_n(&ompgpu_run_state, __ATOMIC_ACQUIRE);
    if (__builtin_expect(state == OMPGPU_NOT_STARTED, 0))
        ompgpu_start(), state = OMPGPU_RUNNING;
    if (number == OMPGPU_DEVICE_DEFAULT || number == OMPGPU_DEVICE_BY_ICV)
        number = ompgpu_default_device();
    if (__builtin_expect(state == OMPGPU_RUNNING && number >= 0 && number < ompgpu_ndevices &&
                             is_device_open(&ompgpu_devices[number]) && ompgpu_self(),
                         1))
        return &ompgpu_devices[number];
    return get_device_slowly(where, number);
}

/* What ompgpu_device_get() has no device for; nothing is said. */
_Bool __ompgpu_is_host(long number)
{
    ompgpu_start();
    if (number == OMPGPU_DEVICE_DEFAULT || number == OMPGPU_DEVICE_BY_ICV)
        number = ompgpu_default_device();
    return number < 0 || number >= ompgpu_ndevices ||
           state_of(&ompgpu_devices[number]) == OMPGPU_DEVICE_HOST;
}

int ompgpu_device_try(int number, struct ompgpu_device **device)
{
    const char *file;
    ompgpu_start();
    ompgpu_self(); /* the end of the process knows of the thread */
    *device = NULL;
    if (number == OMPGPU_DEVICE_BY_ICV)
        number = ompgpu_default_device();
    if (number == OMPGPU_DEVICE_INITIAL || number == ompgpu_ndevices)
        return 0;
    if (number == OMPGPU_DEVICE_INVALID)
        ompgpu_fatal(NULL, "a device routine is called with omp_invalid_device");
    if (number < 0 || number > ompgpu_ndevices) {
        char reason[128];
        describe_range(reason, sizeof reason, number);
        if (mandatory())
            ompgpu_fatal(NULL, "%s, but in a device routine %s", mandatory(), reason);
        return -1;
    }
    struct ompgpu_device *dev = &ompgpu_devices[number];
    if (!is_device_open(dev) && ensure_open(dev, &file))
        return -1;
    bool host = state_of(dev) == OMPGPU_DEVICE_HOST;
    if (host && mandatory())
        ompgpu_fatal(NULL, "%s, but for a device routine %s", mandatory(), dev->reason);
    *device = host ? NULL : dev;
    return 0;
}

/* ------------------------------------------------------------------ the end */
static void close_device(struct ompgpu_device *dev)
{
    ompgpu_deferred_close(dev);
    ompgpu_interops_close(dev);
    ompgpu_reverse_close(dev);
    ompgpu_team_icvs_close(dev);
    for (struct ompgpu_entry *e; (e = ompgpu_present_next(dev, 0));) {
        ompgpu_present_remove(dev, e);
        ompgpu_data_drop(dev, e);
    }
    for (struct ompgpu_entry *e; (e = (struct ompgpu_entry *)dev->allocations.root);) {
        ompgpu_ranges_remove(&dev->allocations, &e->range);
        (e->shared ? dev->plugin->free_shared : dev->plugin->free)(dev->ordinal, (void *)e->begin);
        ompgpu_xfree(e);
    }
    ompgpu_entries_close(dev);
}

/* After the units, whose images it had. */
static void end_device(struct ompgpu_device *dev)
{
    if (dev->state != OMPGPU_DEVICE_NEW && dev->plugin->close)
        dev->plugin->close(dev->ordinal);
    ompgpu_rescue_free(dev);
    pthread_mutex_destroy(&dev->lock);
    pthread_mutex_destroy(&dev->wait_lock);
    pthread_cond_destroy(&dev->synced);
    for (unsigned i = 0; i < OMPGPU_PARTS; i++)
        pthread_mutex_destroy(&dev->parts[i].lock);
}

/* Destructors with a lower number run later: after those of the program, which may still run
 * regions and have 101 at least, and after the units (codegen/c/host/host.c, 100) have gone. As a
 * shared library we come after the program anyway; the number matters for libompgpu.a.  While other
 * threads live, they may be inside of the runtime, and all stays as it is for the short rest. */
__attribute__((destructor(99))) static void stop_runtime(void)
{
    ompgpu_ending();
    ompgpu_deferred_stop();
    ompgpu_reverse_stop();
    if (ompgpu_watched())
        ompgpu_watch_end();
    if (ompgpu_still_used()) {
        ompgpu_threads_forget();
        ompgpu_nodes_leave();
        ompgpu_deferred_leave();
        return;
    }
    pthread_mutex_lock(&ompgpu_start_lock);
    bool was_running = ompgpu_run_state == OMPGPU_RUNNING;
    __atomic_store_n(&ompgpu_run_state, OMPGPU_STOPPED, __ATOMIC_RELEASE);
    if (was_running) {
        ompgpu_threads_close();
        for (int i = 0; i < ompgpu_ndevices; i++)
            close_device(&ompgpu_devices[i]);
    }
    ompgpu_units_close();
    ompgpu_starts_close();
    for (int i = 0; i < ompgpu_ndevices; i++)
        end_device(&ompgpu_devices[i]);
    ompgpu_xfree(ompgpu_devices);
    ompgpu_devices = NULL, ompgpu_ndevices = 0;
    pthread_mutex_unlock(&ompgpu_start_lock);
    ompgpu_nodes_leave();
}
