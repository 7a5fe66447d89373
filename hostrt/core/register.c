/* register.c - units (one per object file with device code), and the loading of their images.
 *
 * A unit registers in a constructor and leaves in a destructor, which dlclose() runs too.  Its
 * image is loaded on a device when a region of it first runs there, or, if it has declare target
 * variables, at the next use of the device: any data construct may name them. Units that were
 * device-linked share one image: it is loaded once a device and goes with the last unit that uses
 * it.  What a unit uses hangs on its state, a region's `slot` points to its part, so leaving frees
 * exactly what the unit caused.
 *
 * A library comes and goes with the dynamic linker's lock held, and its constructors may have
 * regions, while loading an image wants that lock.  So an image is loaded, and unloaded, with no
 * lock of ours held, from a copy, since the unit may go meanwhile: units_lock is for lists and
 * tables, and what is done under it does not wait for the dynamic linker.  What was loaded for a
 * unit that has gone is unloaded again. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

struct load { /* an image on a device; guarded by units_lock */
    struct load *next;
    const struct ompgpu_image_header *image; /* NULL: it is to be unloaded */
    struct ompgpu_device *device;            /* immutable, as what follows but for `users` */
    struct timespec late;                    /* by then it should have been loaded */
    struct ompgpu_image_header *copy;
    int number; /* of the image in it */
    void *module, *owned;
    unsigned users;
};
struct use { /* of a load by a unit */
    struct use *next;
    struct load *load;
};
struct region_state { /* what region->slot points to */
    struct region_state *next;
    struct ompgpu_region *region;
    struct ompgpu_function *functions[]; /* of a device: by form; atomic: set once */
};
struct unit_state { /* what unit->state points to; guarded by units_lock */
    struct unit_state *next;
    struct ompgpu_unit *unit;
    uint64_t number; /* no other one has had it; in the list the highest, the newest, comes first */
    struct use *uses;
    struct region_state *regions;
};
/* After ompgpu_start_lock, before those of devices. */
static pthread_mutex_t units_lock = PTHREAD_MUTEX_INITIALIZER;
static struct unit_state *units;
static uint64_t last_number;
unsigned ompgpu_unit_flags;
static struct load *loads, *loading; /* of one image the newest comes first */
static pthread_cond_t has_loaded = PTHREAD_COND_INITIALIZER;

static const struct ompgpu_image_header *images_of(const struct unit_state *u)
{
    return u->unit->image ? ompgpu_image_linked(u->unit->image) : NULL;
}

/* ------------------------------------------------------------------ coming */
/* The first members of struct ompgpu_unit (abi, image, file) keep their places in all versions. */
static void check_unit(const struct ompgpu_unit *unit)
{
    const char *file = unit->file ? unit->file : "?";
    if (unit->abi != OMPGPU_ABI_VERSION)
        ompgpu_fatal(NULL,
                     "%s was compiled for version %u of the runtime interface, this libompgpu has "
                     "version %d: "
                     "compile it again, or link the libompgpu that belongs to its compiler",
                     file, unit->abi, OMPGPU_ABI_VERSION);
    const struct ompgpu_image_header *own = unit->image;
    const char *bad = own ? ompgpu_image_check(own) : NULL;
    if (own && !bad && own->link)
        bad = ompgpu_image_check(ompgpu_image_linked(own));
    if (bad)
        ompgpu_fatal(NULL, "%s: %s", file, bad);
}

/* Under units_lock: NULL, or a unit that does not require the same. */
static const struct ompgpu_unit *differing_unit(const struct ompgpu_unit *unit)
{
    for (const struct unit_state *u = units; u; u = u->next)
        if ((u->unit->flags ^ unit->flags) & OMPGPU_REQUIRES)
            return u->unit;
    return NULL;
}

static _Noreturn void refuse_differing(const struct ompgpu_unit *a, const struct ompgpu_unit *b)
{
    const struct ompgpu_unit *with = (a->flags & ~b->flags & OMPGPU_REQUIRES) ? a : b;
    unsigned what = (a->flags ^ b->flags) & OMPGPU_REQUIRES;
    ompgpu_fatal(NULL,
                 "%s has 'requires %s', %s has not: all files of a program with device code must "
                 "have the same",
                 with->file,
                 what & OMPGPU_UNIFIED_SHARED_MEMORY ? "unified_shared_memory" : "unified_address",
                 (with == a ? b : a)->file);
}

static bool is_checked(const struct ompgpu_unit *unit)
{
    const struct ompgpu_image_header *own = unit->image;
    return own && own->flags & OMPGPU_CONTAINER_CHECKED;
}

/* Once, before there are regions: what is looked up later could wait for the dynamic linker. */
static void find_host_runtime(void)
{
    ompgpu_read_all();
    ompgpu_libomp();
    ompgpu_host_find();
    ompgpu_tool_find();
}

void __ompgpu_register(struct ompgpu_unit *unit)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    ompgpu_watch_fork();
    pthread_once(&once, find_host_runtime);
    check_unit(unit);
    struct unit_state *u = ompgpu_xalloc(sizeof *u);
    if (!u)
        ompgpu_fatal(NULL, "%s: %s", unit->file, ompgpu_plugin_message());
    u->unit = unit;
    unit->state = u;
    if (is_checked(unit))
        ompgpu_check_unit();
    pthread_mutex_lock(&units_lock);
    const struct ompgpu_unit *differs = differing_unit(unit);
    u->number = ++last_number;
    u->next = units, units = u;
    __atomic_or_fetch(&ompgpu_unit_flags, unit->flags, __ATOMIC_RELAXED);
    if (unit->nvars)
        __atomic_add_fetch(&ompgpu_generation, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&units_lock);
    if (differs)
        refuse_differing(unit, differs);
}

/* ------------------------------------------------------------------ values of the host */
static struct filled { /* guarded by units_lock */
    const void *variable;
    struct filled *next;
} *filled;

void __ompgpu_fill(const void *variable)
{
    struct filled *f = ompgpu_xalloc(sizeof *f);
    if (!f)
        ompgpu_fatal(NULL, "out of memory");
    pthread_mutex_lock(&units_lock);
    *f = (struct filled){ variable, filled };
    filled = f;
    pthread_mutex_unlock(&units_lock);
}

static struct filled **find_filled(const struct ompgpu_var *v)
{
    struct filled **at = &filled;
    while (*at && (*at)->variable != v->address)
        at = &(*at)->next;
    return at;
}

static void forget_filled(const struct ompgpu_unit *unit)
{
    for (unsigned i = 0; i < unit->nvars; i++) {
        struct filled **at = find_filled(&unit->vars[i]), *f = *at;
        if (f)
            *at = f->next;
        ompgpu_xfree(f);
    }
}

/* ------------------------------------------------------------------ going */
/* Under units_lock. */
static void forget_variables(const struct ompgpu_unit *unit, struct ompgpu_device *dev)
{
    unsigned held = ompgpu_tables_lock(dev);
    for (unsigned i = 0; i < unit->nvars; i++) {
        struct ompgpu_entry *e = ompgpu_present_find(dev, (uintptr_t)unit->vars[i].address, 1);
        if (e && e->owner == unit) {
            ompgpu_detach(dev, e);
            ompgpu_present_remove(dev, e);
            ompgpu_entry_free(dev, e);
        }
    }
    for (struct ompgpu_link **at = &dev->links, *l; (l = *at);)
        if (l->owner == unit) {
            *at = l->next;
            ompgpu_xfree(l);
        } else
            at = &l->next;
    ompgpu_tables_unlock(dev, held);
}

/* Under units_lock: those that nobody uses any more, out of the list. */
static struct load *take_unused(void)
{
    struct load *unused = NULL;
    for (struct load **at = &loads, *l; (l = *at);)
        if (l->users) {
            at = &l->next;
        } else {
            *at = l->next;
            l->next = unused, unused = l;
        }
    return unused;
}

/* No lock of ours is held. */
static void unload_images(struct load *first)
{
    for (struct load *l; (l = first);) {
        first = l->next;
        if (l->module)
            l->device->plugin->unload(l->device->ordinal, l->module);
        ompgpu_xfree(l->owned);
        ompgpu_xfree(l->copy);
        ompgpu_xfree(l);
    }
}

/* The unit's first use. */
static void end_use(struct unit_state *u)
{
    struct use *use = u->uses;
    u->uses = use->next;
    forget_variables(u->unit, use->load->device);
    use->load->users--;
    ompgpu_xfree(use);
}

/* A form that is not there stands for itself, so that nobody looks for it again. */
static struct ompgpu_function no_form;

static void free_unit(struct unit_state *u)
{
    for (struct region_state *r; (r = u->regions);) {
        u->regions = r->next;
        r->region->slot = NULL;
        for (int i = 0; i < OMPGPU_FORMS * ompgpu_ndevices; i++)
            if (r->functions[i] != &no_form)
                ompgpu_xfree(r->functions[i]);
        ompgpu_xfree(r);
    }
    while (u->uses)
        end_use(u);
    forget_filled(u->unit);
    u->unit->state = NULL;
    ompgpu_xfree(u);
}

void __ompgpu_unregister(struct ompgpu_unit *unit)
{
    if (ompgpu_exiting() &&
        ompgpu_still_used()) /* they may be in the middle of a region of this unit */
        return;
    ompgpu_deferred_settle();
    if (ompgpu_exiting() && ompgpu_still_used()) /* host tasks that others have begun meanwhile */
        return;
    pthread_mutex_lock(&units_lock);
    struct unit_state *u = unit->state; /* NULL: the runtime has ended */
    for (struct unit_state **at = &units; u && *at; at = &(*at)->next)
        if (*at == u) {
            *at = u->next;
            free_unit(u);
            break;
        }
    struct load *unused = take_unused();
    pthread_mutex_unlock(&units_lock);
    unload_images(unused);
}

/* Under ompgpu_start_lock; called once, at the end. */
void ompgpu_units_close(void)
{
    pthread_mutex_lock(&units_lock);
    for (struct unit_state *u; (u = units);) {
        units = u->next;
        free_unit(u);
    }
    struct load *unused = take_unused();
    pthread_mutex_unlock(&units_lock);
    unload_images(unused);
}

/* ------------------------------------------------------------------ waiting for another thread
 * A thread waits for an image that another one loads, but not for ever: that one may be waiting
 * for the dynamic linker's lock, which this one has while it runs a constructor.  Then both load
 * it. */
static bool is_late(const struct load *l)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec != l->late.tv_sec ? now.tv_sec > l->late.tv_sec
                                        : now.tv_nsec >= l->late.tv_nsec;
}

/* Under units_lock, which it gives up. */
static void await_load(const struct load *l)
{
    const struct timespec late = l->late;
    pthread_cond_timedwait(&has_loaded, &units_lock, &late);
}

void ompgpu_units_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE) {
        pthread_mutex_lock(&units_lock);
        while (loading && !is_late(loading))
            await_load(loading);
        return;
    }
    if (when == OMPGPU_FORK_CHILD) { /* those who load or wait are not there */
        loading = NULL;
        pthread_cond_init(&has_loaded, NULL);
    }
    pthread_mutex_unlock(&units_lock);
}

/* ---------------------------------------------------------- questions before anything is loaded */
bool ompgpu_unit_not_linked(const struct ompgpu_unit *unit)
{
    const struct ompgpu_image_header *own = unit->image;
    return own && (own->flags & OMPGPU_CONTAINER_NEEDS_LINK) && !own->link;
}

static bool needs_image(const struct unit_state *u)
{
    return images_of(u) &&
           (images_of(u)->nkernels || u->unit->nvars || ompgpu_unit_not_linked(u->unit));
}

const struct ompgpu_unit *ompgpu_unit_without(unsigned kinds)
{
    pthread_mutex_lock(&units_lock);
    const struct unit_state *u = units;
    while (u && !(needs_image(u) && !(ompgpu_image_kinds(images_of(u)) & kinds)))
        u = u->next;
    const struct ompgpu_unit *unit = u ? u->unit : NULL;
    pthread_mutex_unlock(&units_lock);
    return unit;
}

static bool is_suited(const struct unit_state *u, const struct ompgpu_device *dev)
{
    ompgpu_plugin_error("%s", "");
    return !needs_image(u) || dev->plugin->pick(dev->ordinal, images_of(u)) >= 0;
}

const struct ompgpu_unit *ompgpu_unit_unsuited(struct ompgpu_device *dev)
{
    pthread_mutex_lock(&units_lock);
    const struct unit_state *u = units;
    while (u && is_suited(u, dev))
        u = u->next;
    const struct ompgpu_unit *unit = u ? u->unit : NULL;
    pthread_mutex_unlock(&units_lock);
    return unit;
}

/* ------------------------------------------------------------------ loading */
static int add_link(struct ompgpu_device *dev, const struct ompgpu_unit *unit,
                    const struct ompgpu_var *v, void *pointer)
{
    struct ompgpu_link *l = ompgpu_xalloc(sizeof *l);
    if (!l)
        return -1;
    *l = (struct ompgpu_link){ NULL, v, unit, pointer };
    unsigned held = ompgpu_tables_lock(dev);
    l->next = dev->links, dev->links = l;
    struct ompgpu_entry *e = ompgpu_present_find(dev, (uintptr_t)v->address, v->size);
    uintptr_t host = (uintptr_t)v->address, address = host;
    if (e)
        address = e->device + (host - e->begin);
    int bad = e || ompgpu_unified()
                  ? dev->plugin->to_device(dev->ordinal, pointer, &address, sizeof address)
                  : 0;
    ompgpu_tables_unlock(dev, held);
    return bad;
}

static int add_variable(struct ompgpu_device *dev, const struct ompgpu_unit *unit,
                        const struct ompgpu_var *v, void *address)
{
    unsigned held = ompgpu_tables_lock(dev);
    struct ompgpu_entry *e = ompgpu_entry_new(dev, (uintptr_t)v->address, v->size,
                                              (uintptr_t)address, OMPGPU_REFS_INFINITE);
    if (!e) {
        ompgpu_tables_unlock(dev, held);
        return -1;
    }
    e->owner = unit;
    e->name = v->name, e->file = unit->file;
    if (ompgpu_watched())
        ompgpu_stale_variable(dev, e);
    struct ompgpu_entry *old = ompgpu_present_find(dev, e->begin, v->size);
    if (!old)
        ompgpu_present_insert(dev, e);
    ompgpu_tables_unlock(dev, held);
    if (!old)
        return 0;
    ompgpu_entry_free(dev, e);
    if (old->begin == (uintptr_t)v->address &&
        old->device == (uintptr_t)address) /* weak or common: several units have it */
        return 0;
    ompgpu_plugin_error("declare target variable %s already has storage on the device, from %s",
                        v->name, old->file ? old->file : "?");
    return -1;
}

static int load_variables(const struct ompgpu_unit *unit, struct load *l)
{
    struct ompgpu_device *dev = l->device;
    for (unsigned i = 0; i < unit->nvars; i++) {
        const struct ompgpu_var *v = &unit->vars[i];
        void *address;
        size_t size, want = v->link ? sizeof(void *) : v->size;
        if (dev->plugin->variable(dev->ordinal, l->module,
                                  ompgpu_image_symbol(unit->image, v->name), &address, &size))
            return -1;
        if (size != want) {
            ompgpu_plugin_error(
                "declare target variable %s has %zu bytes on the device, %zu expected", v->name,
                size, want);
            return -1;
        }
        if (v->size && (v->link ? add_link : add_variable)(dev, unit, v, address))
            return -1;
        if (*find_filled(v) && dev->plugin->to_device(dev->ordinal, address, v->address, v->size))
            return -1;
    }
    return 0;
}

static struct load *find_load(struct load *l, const struct ompgpu_image_header *h,
                              const struct ompgpu_device *dev)
{
    while (l && (l->image != h || l->device != dev))
        l = l->next;
    return l;
}

/* What is to be loaded: 0, 1: no image suits, -1: out of memory. */
static int new_load(const struct ompgpu_image_header *h, struct ompgpu_device *dev,
                    struct load **out)
{
    int image = h ? dev->plugin->pick(dev->ordinal, h) : -1;
    if (image < 0)
        return 1;
    struct load *l = *out = ompgpu_xalloc(sizeof *l);
    if (!l || !(l->copy = ompgpu_xalloc(h->total_size))) {
        ompgpu_xfree(l);
        return -1;
    }
    memcpy(l->copy, h, h->total_size);
    l->image = h, l->device = dev, l->number = image;
    clock_gettime(CLOCK_REALTIME, &l->late);
    l->late.tv_sec += 2;
    return 0;
}

/* No lock of ours is held. */
static int load_image(struct load *l)
{
    const void *data;
    size_t size;
    struct ompgpu_device *dev = l->device;
    return ompgpu_image_bytes(l->copy, (unsigned)l->number, &data, &size, &l->owned) ||
                   dev->plugin->load(dev->ordinal, l->copy, l->number, data, size, &l->module) ||
                   ompgpu_team_icvs_load(dev, l->copy, l->module)
               ? -1
               : 0;
}

static struct load *used_load(const struct unit_state *u, const struct ompgpu_device *dev)
{
    const struct use *use = u->uses;
    while (use && use->load->device != dev)
        use = use->next;
    return use ? use->load : NULL;
}

static int add_use(struct unit_state *u, struct load *l)
{
    struct use *use = ompgpu_xalloc(sizeof *use);
    if (!use)
        return -1;
    use->load = l, l->users++;
    use->next = u->uses, u->uses = use;
    if (!load_variables(u->unit, l))
        return 0;
    end_use(u);
    return -1;
}

/* The first unit whose number is at most that. */
static struct unit_state *next_unit(uint64_t number)
{
    struct unit_state *u = units;
    while (u && u->number > number)
        u = u->next;
    return u;
}

static struct unit_state *find_unit(uint64_t number)
{
    struct unit_state *u = next_unit(number);
    return u && u->number == number ? u : NULL;
}

/* What this thread has loaded; of two that loaded it at once the second unloads his again. */
static void end_loading(struct load *l, bool failed)
{
    struct load **at = &loading;
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    if (failed || find_load(loads, l->image, l->device))
        l->image = NULL;
    l->next = loads, loads = l;
    pthread_cond_broadcast(&has_loaded);
}

/* Under units_lock, which it gives up while another thread loads the image: the unit with this
 * number, NULL: it has gone. */
static struct unit_state *await_image(uint64_t number, const struct ompgpu_device *dev)
{
    struct unit_state *u;
    const struct load *l;
    while ((u = find_unit(number)) && !find_load(loads, images_of(u), dev) &&
           (l = find_load(loading, images_of(u), dev)) && !is_late(l))
        await_load(l);
    return u;
}

/* Under units_lock, which it gives up while it loads the image.  Results as use_image(). */
static int get_load(const struct ompgpu_image_header *h, struct ompgpu_device *dev,
                    struct load **out)
{
    struct load *l;
    if ((*out = find_load(loads, h, dev)))
        return 0;
    int result = new_load(h, dev, &l);
    if (result)
        return result;
    l->next = loading, loading = l;
    pthread_mutex_unlock(&units_lock);
    result = load_image(l);
    pthread_mutex_lock(&units_lock);
    end_loading(l, result);
    return (*out = find_load(loads, h, dev)) ? 0 : -1;
}

/* No lock of ours is held: of the unit with this number.  0, 1: no image suits, or the unit has
 * gone, -1: an error. */
static int use_image(uint64_t number, struct ompgpu_device *dev, struct load **out)
{
    struct load *l;
    pthread_mutex_lock(&units_lock);
    struct unit_state *u = await_image(number, dev);
    int result = !u;
    if (u && !(*out = used_load(u, dev)) && !(result = get_load(images_of(u), dev, &l))) {
        u = find_unit(number);
        if (!u)
            result = 1;
        else if (!(*out = used_load(u, dev))) /* by another thread, meanwhile */
            result = add_use(u, *out = l);
    }
    struct load *unused = take_unused();
    pthread_mutex_unlock(&units_lock);
    unload_images(unused);
    return result;
}

/* The next unit, or the next with variables, whose number is below that, which it becomes. */
static bool next_to_load(bool all, uint64_t *number, const char **file)
{
    pthread_mutex_lock(&units_lock);
    const struct unit_state *u = next_unit(*number - 1);
    while (u && !all && !u->unit->nvars)
        u = u->next;
    if (u)
        *number = u->number, *file = u->unit->file;
    pthread_mutex_unlock(&units_lock);
    return u;
}

/* A unit without a suitable image that came after the device was opened keeps its variables to the
 * host, as it keeps its regions. */
int ompgpu_units_load(struct ompgpu_device *dev, bool all, const char **file)
{
    struct load *l;
    const char *of;
    for (uint64_t number = UINT64_MAX; next_to_load(all, &number, &of);)
        if (use_image(number, dev, &l) < 0) {
            *file = of;
            return -1;
        }
    return 0;
}

/* ------------------------------------------------------------------ kernels */
static struct region_state *get_region_state(struct unit_state *u, struct ompgpu_region *r)
{
    pthread_mutex_lock(&units_lock);
    struct region_state *s = r->slot;
    if (!s && (s = ompgpu_xalloc(sizeof *s + OMPGPU_FORMS * (size_t)ompgpu_ndevices *
                                                 sizeof s->functions[0]))) {
        s->region = r;
        s->next = u->regions, u->regions = s;
        __atomic_store_n(&r->slot, s, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&units_lock);
    return s;
}

static struct ompgpu_function **form_of(struct region_state *s, const struct ompgpu_device *dev,
                                        enum ompgpu_form form)
{
    return &s->functions[OMPGPU_FORMS * dev->number + form];
}

static const char *form_symbol(const struct ompgpu_unit *unit, const struct ompgpu_region *r,
                               enum ompgpu_form form, char *room, size_t size)
{
    if (form == OMPGPU_FORM_TILED) { /* the device link has it as a kernel of its own … */
        snprintf(room, size, "%s" OMPGPU_TILED_SUFFIX, r->kernel);
        return ompgpu_image_symbol(unit->image, room);
    }
    if (form >= OMPGPU_FORM_LANES2) {
        snprintf(room, size, "%s" OMPGPU_LANES_SUFFIX "%u", r->kernel,
                 2u << (form - OMPGPU_FORM_LANES2));
        return ompgpu_image_symbol(unit->image, room);
    }
    const char *symbol =
        ompgpu_image_symbol(unit->image, form == OMPGPU_FORM_STRIDED ? r->strided : r->kernel);
    if (form != OMPGPU_FORM_WIDE) /* … which is made after it */
        return symbol;
    snprintf(room, size, "%s" OMPGPU_WIDE_SUFFIX, symbol);
    return room;
}

static bool read_shape(enum ompgpu_form form, const char *text, struct ompgpu_function *f)
{
    if (form == OMPGPU_FORM_WIDE)
        return ompgpu_wide_parse(text, &f->wide);
    return form != OMPGPU_FORM_TILED || (sscanf(text, OMPGPU_TILE_FORMAT, &f->tile_shift) == 1 &&
                                         f->tile_shift && OMPGPU_TILE >> f->tile_shift);
}

static int load_function(const struct unit_state *u, const struct ompgpu_region *r,
                         struct ompgpu_device *dev, const struct load *l, enum ompgpu_form form,
                         struct ompgpu_function *f)
{
    char room[1024];
    const char *symbol = form_symbol(u->unit, r, form, room, sizeof room);
    const struct ompgpu_kernel_entry *entry = ompgpu_image_kernel(images_of(u), symbol);
    f->entry = entry;
    f->where =
        (struct ompgpu_kernel_where){ r->kernel, r->file, r->function, r->directive, r->line };
    if (!entry) {
        ompgpu_plugin_error("the image of %s has no kernel of this name", u->unit->file);
        return -1;
    }
    if (dev->plugin->function(dev->ordinal, l->module, symbol, f))
        return -1;
    f->entry = entry;
    f->lanes = form >= OMPGPU_FORM_LANES2 ? 2u << (form - OMPGPU_FORM_LANES2) : 0;
    if (entry->flags & OMPGPU_KERNEL_RECURSIVE)
        f->stack_bytes +=
            ompgpu_settings.stack_size > 0 ? (size_t)ompgpu_settings.stack_size : OMPGPU_STACK_SIZE;
    return read_shape(form, ompgpu_image_shape(images_of(u), entry), f) ? 0 : -1;
}

static bool may_lack(enum ompgpu_form form) { return form >= OMPGPU_FORM_WIDE; }

/* The emulated device never has it. */
static bool is_of_gpu(enum ompgpu_form form)
{
    return form == OMPGPU_FORM_WIDE || form == OMPGPU_FORM_TILED;
}

static int find_function(struct unit_state *u, struct ompgpu_region *r, struct ompgpu_device *dev,
                         enum ompgpu_form form, struct load *l, struct ompgpu_function **out)
{
    struct region_state *s = get_region_state(u, r);
    if (!s || (*out = __atomic_load_n(form_of(s, dev, form), __ATOMIC_ACQUIRE)))
        return s ? 0 : -1;
    struct ompgpu_function *f = ompgpu_xalloc(sizeof *f);
    if (!f)
        return -1;
    if ((is_of_gpu(form) && !dev->info.arch) || load_function(u, r, dev, l, form, f)) {
        ompgpu_xfree(f);
        if (!may_lack(form))
            return -1;
        f = &no_form;
    }
    *out = NULL;
    if (__atomic_compare_exchange_n(form_of(s, dev, form), out, f, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        *out = f;
    else if (f != &no_form) /* another thread was quicker */
        ompgpu_xfree(f);
    return 0;
}

static __attribute__((noinline)) int get_function_slowly(struct ompgpu_region *r,
                                                         struct ompgpu_device *dev,
                                                         enum ompgpu_form form,
                                                         struct ompgpu_function **out)
{
    struct load *l;
    struct unit_state *u = r->unit->state;
    if (!u) {
        ompgpu_plugin_error("its file %s is not registered with the runtime", r->file);
        return -1;
    }
    int result = use_image(u->number, dev, &l);
    return result ? result : find_function(u, r, dev, form, l, out);
}

int ompgpu_function_get(struct ompgpu_region *r, struct ompgpu_device *dev, enum ompgpu_form form,
                        struct ompgpu_function **out)
{
    struct region_state *s = __atomic_load_n(&r->slot, __ATOMIC_ACQUIRE);
    *out = s ? __atomic_load_n(form_of(s, dev, form), __ATOMIC_ACQUIRE) : NULL;
    int result = *out ? 0 : get_function_slowly(r, dev, form, out);
    if (*out == &no_form)
        *out = NULL;
    return result;
}
