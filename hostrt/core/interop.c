/* interop.c - interop objects (chapters 16.1 and 26 of OpenMP 6.0), from the calls that clang makes
 * of the directive.
 *
 * An object is a queue of its device that belongs to the program: on a GPU a stream of CUDA, which
 * its libraries take.  What the program puts there is waited for by `use` and `destroy`.  Queues of
 * a device that has none, and the host, are omp_interop_none.
 *
 * init, use and destroy wait for their dependences, which orders them with regions: those that
 * dependent tasks have begun have ended, and what the program put into the queue ends before later
 * ones begin.  With `nowait` they do the same. */
#include <string.h>
#include "hostrt/core/core.h"

#pragma GCC visibility push(default)
void __tgt_interop_init(void *place, int32_t thread, void **interop, int32_t type, int32_t device,
                        int32_t ndeps, void *deps, int32_t nowait);
void __tgt_interop_use(void *place, int32_t thread, void **interop, int32_t device, int32_t ndeps,
                       void *deps, int32_t nowait);
void __tgt_interop_destroy(void *place, int32_t thread, void **interop, int32_t device,
                           int32_t ndeps, void *deps, int32_t nowait);
/* omp.h declares these to programs; the compiler of the runtime need not have it. */
int omp_get_num_interop_properties(const void *);
intptr_t omp_get_interop_int(const void *, int property, int *result);
void *omp_get_interop_ptr(const void *, int property, int *result);
const char *omp_get_interop_str(const void *, int property, int *result);
const char *omp_get_interop_name(const void *, int property);
const char *omp_get_interop_type_desc(const void *, int property);
const char *omp_get_interop_rc_desc(const void *, int result);
#pragma GCC visibility pop

struct interop {
    struct interop *next; /* guarded by `lock` */
    struct ompgpu_device *dev;
    void *queue, *event; /* plugin's; NULL: no targetsync */
    struct ompgpu_foreign foreign;
};
struct preference { /* prefer_type of one init */
    struct preference *next;
    unsigned n;
    struct {
        int number; /* omp_interop_fr_t */
        const char *name;
    } of[];
};
static _Thread_local struct preference *wanted; /* in the order of the inits to come */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct interop *objects;
static const struct ompgpu_where where = { .directive = "interop" };

/* ------------------------------------------------------------------ the directive */
/* Of the OpenMP library, which clang links with every program that has dependences. */
extern void __kmpc_omp_wait_deps(void *, int32_t, int32_t, void *, int32_t, void *)
    __attribute__((weak));

static void wait_for(void *place, int32_t thread, int32_t ndeps, void *deps)
{
    if (ndeps > 0 && __kmpc_omp_wait_deps)
        __kmpc_omp_wait_deps(place, thread, ndeps, deps, 0, NULL);
}

static void free_object(struct interop *o)
{
    const struct ompgpu_plugin *plugin = o->dev->plugin;
    if (o->event)
        plugin->event_destroy(o->dev->ordinal, o->event);
    if (o->queue)
        plugin->queue_destroy(o->dev->ordinal, o->queue);
    ompgpu_xfree(o);
}

/* ------------------------------------------------------------------ prefer_type */
void __ompgpu_interop_prefer(const int *numbers, const char *const *names, unsigned n)
{
    struct preference *p = ompgpu_xalloc(sizeof *p + n * sizeof *p->of), **last = &wanted;
    if (!p)
        ompgpu_fatal(&where, "%s", ompgpu_plugin_message());
    p->n = n;
    for (unsigned i = 0; i < n; i++)
        p->of[i].number = numbers[i], p->of[i].name = names[i];
    while (*last)
        last = &(*last)->next;
    *last = p;
}

/* A stream of CUDA's runtime is one of its driver, and the first device and context, too. */
static const struct {
    int number, like;
    const char *name;
} others[] = { { 2, 1, "cuda_driver" } };

static bool is_wanted(const struct preference *p, unsigned i, int number, const char *name)
{
    return p->of[i].name ? name && strcmp(p->of[i].name, name) == 0
                         : number > 0 && p->of[i].number == number;
}

/* The first that the device offers; none: it stays as it is. */
static void choose_type(struct ompgpu_foreign *f)
{
    struct preference *p = wanted;
    if (!p)
        return;
    wanted = p->next;
    for (unsigned i = 0; i < p->n; i++) {
        if (is_wanted(p, i, f->id, f->name))
            break;
        unsigned k = 0;
        while (k < sizeof others / sizeof *others &&
               (others[k].like != f->id || !is_wanted(p, i, others[k].number, others[k].name)))
            k++;
        if (k < sizeof others / sizeof *others) {
            f->id = others[k].number, f->name = others[k].name;
            break;
        }
    }
    ompgpu_xfree(p);
}

static struct interop *new_object(struct ompgpu_device *dev, bool sync)
{
    const struct ompgpu_plugin *plugin = dev->plugin;
    struct interop *o = ompgpu_xalloc(sizeof *o);
    if (!o)
        return NULL;
    o->dev = dev;
    if ((sync && (plugin->queue_create(dev->ordinal, &o->queue) ||
                  plugin->event_create(dev->ordinal, &o->event))) ||
        plugin->foreign(dev->ordinal, o->queue, &o->foreign)) {
        free_object(o);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    o->next = objects, objects = o;
    pthread_mutex_unlock(&lock);
    return o;
}

/* What was put into its queue has ended. */
static void synchronise(const struct interop *o)
{
    const struct ompgpu_plugin *plugin = o->dev->plugin;
    if (o->queue && (plugin->event_record(o->dev->ordinal, o->event, o->queue) ||
                     plugin->event_wait(o->dev->ordinal, o->event)))
        ompgpu_fatal(&where, "%s", ompgpu_plugin_message());
}

void __tgt_interop_init(void *place, int32_t thread, void **interop, int32_t type, int32_t device,
                        int32_t ndeps, void *deps, int32_t nowait)
{
    enum { TARGETSYNC = 2 };
    (void)nowait;
    struct preference *mine = wanted;
    wanted = NULL; /* other tasks may run meanwhile, with inits of their own */
    wait_for(place, thread, ndeps, deps);
    wanted = mine;
    ompgpu_start();
    *interop = NULL;
    struct ompgpu_foreign none = { 0 };
    struct ompgpu_device *dev =
        ompgpu_device_get(&where, device == -1 ? OMPGPU_DEVICE_DEFAULT : device);
    bool possible = dev && dev->plugin->queue_create && dev->plugin->foreign;
    struct interop *o = possible && ompgpu_self() ? new_object(dev, type & TARGETSYNC) : NULL;
    if (possible && !o)
        ompgpu_fatal(&where, "%s", ompgpu_plugin_message());
    choose_type(o ? &o->foreign : &none);
    *interop = o;
}

void __tgt_interop_use(void *place, int32_t thread, void **interop, int32_t device, int32_t ndeps,
                       void *deps, int32_t nowait)
{
    (void)device, (void)nowait;
    wait_for(place, thread, ndeps, deps);
    if (*interop)
        synchronise(*interop);
}

static void forget(const struct interop *o)
{
    pthread_mutex_lock(&lock);
    struct interop **at = &objects;
    while (*at && *at != o)
        at = &(*at)->next;
    if (*at)
        *at = o->next;
    pthread_mutex_unlock(&lock);
}

void __tgt_interop_destroy(void *place, int32_t thread, void **interop, int32_t device,
                           int32_t ndeps, void *deps, int32_t nowait)
{
    struct interop *o = *interop;
    (void)device, (void)nowait;
    wait_for(place, thread, ndeps, deps);
    *interop = NULL;
    if (!o)
        return;
    synchronise(o);
    forget(o);
    free_object(o);
}

/* In the child, objects of the parent's have no queue any more. */
void ompgpu_interop_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE)
        pthread_mutex_lock(&lock);
    for (struct interop *o = objects; when == OMPGPU_FORK_CHILD && o; o = o->next)
        o->queue = o->event = NULL;
    if (when != OMPGPU_FORK_BEFORE)
        pthread_mutex_unlock(&lock);
}

void ompgpu_interops_close(const struct ompgpu_device *dev)
{
    for (struct interop *o = objects, *next; o; o = next) {
        next = o->next;
        if (o->dev == dev) {
            forget(o);
            free_object(o);
        }
    }
}

int ompgpu_interop_call(void *interop, void (*function)(void *), void *argument)
{
    const struct interop *o = interop;
    return !o || !o->queue ||
           o->dev->plugin->queue_call(o->dev->ordinal, o->queue, function, argument);
}

/* ------------------------------------------------------------------ properties */
enum result {
    NO_VALUE = 1,
    SUCCESS = 0,
    EMPTY = -1,
    OUT_OF_RANGE = -2,
    IS_INT = -3,
    IS_PTR = -4,
    IS_STR = -5
};
struct value {
    intptr_t number;
    void *pointer;
    const char *text;
};

static enum result number_of(intptr_t n, struct value *v)
{
    v->number = n;
    return n < 0 ? NO_VALUE : SUCCESS;
}
static enum result pointer_of(void *p, struct value *v)
{
    v->pointer = p;
    return p ? SUCCESS : NO_VALUE;
}
static enum result text_of(const char *s, struct value *v)
{
    v->text = s;
    return s ? SUCCESS : NO_VALUE;
}

static enum result get_id(const struct interop *o, struct value *v)
{
    return number_of(o->foreign.id, v);
}
static enum result get_name(const struct interop *o, struct value *v)
{
    return text_of(o->foreign.name, v);
}
static enum result get_vendor(const struct interop *o, struct value *v)
{
    return number_of(o->foreign.vendor, v);
}
static enum result get_vendor_name(const struct interop *o, struct value *v)
{
    return text_of(o->foreign.vendor_name, v);
}
static enum result get_number(const struct interop *o, struct value *v)
{
    return number_of(o->dev->number, v);
}
static enum result get_platform(const struct interop *o, struct value *v)
{
    (void)o;
    return pointer_of(NULL, v);
}
static enum result get_device(const struct interop *o, struct value *v)
{
    return number_of(o->foreign.device, v);
}
static enum result get_context(const struct interop *o, struct value *v)
{
    return pointer_of(o->foreign.context, v);
}
static enum result get_stream(const struct interop *o, struct value *v)
{
    return pointer_of(o->foreign.stream, v);
}

/* Property -1 - i is row i. */
static const struct property {
    const char *name, *type;
    enum result kind; /* what other types are told */
    enum result (*get)(const struct interop *, struct value *);
} properties[] = {
    { "fr_id", "intptr_t", IS_INT, get_id },
    { "fr_name", "const char *", IS_STR, get_name },
    { "vendor", "intptr_t", IS_INT, get_vendor },
    { "vendor_name", "const char *", IS_STR, get_vendor_name },
    { "device_num", "intptr_t", IS_INT, get_number },
    { "platform", "void *", IS_PTR, get_platform },
    { "device", "intptr_t", IS_INT, get_device },
    { "device_context", "void *", IS_PTR, get_context },
    { "targetsync", "void *", IS_PTR, get_stream },
};
enum { NPROPERTIES = sizeof properties / sizeof *properties };

static const struct property *find_property(int property)
{
    return property < 0 && property >= -NPROPERTIES ? &properties[-1 - property] : NULL;
}

static struct value get(const struct interop *o, int property, enum result kind, int *result)
{
    struct value v = { 0 };
    const struct property *p = find_property(property);
    enum result r = !o ? EMPTY : !p ? OUT_OF_RANGE : p->kind != kind ? p->kind : p->get(o, &v);
    if (result)
        *result = r;
    return r == SUCCESS ? v : (struct value){ 0 };
}

int omp_get_num_interop_properties(const void *interop)
{
    (void)interop;
    return 0; /* of our own */
}
intptr_t omp_get_interop_int(const void *interop, int property, int *result)
{
    return get(interop, property, IS_INT, result).number;
}
void *omp_get_interop_ptr(const void *interop, int property, int *result)
{
    return get(interop, property, IS_PTR, result).pointer;
}
const char *omp_get_interop_str(const void *interop, int property, int *result)
{
    return get(interop, property, IS_STR, result).text;
}
const char *omp_get_interop_name(const void *interop, int property)
{
    const struct property *p = find_property(property);
    return interop && p ? p->name : NULL;
}
const char *omp_get_interop_type_desc(const void *interop, int property)
{
    const struct property *p = find_property(property);
    return interop && p ? p->type : NULL;
}
const char *omp_get_interop_rc_desc(const void *interop, int result)
{
    static const char *const texts[] = {
        "no value",       "success",     "empty: the object is omp_interop_none",
        "out of range",   "type is int", "type is pointer",
        "type is string",
    };
    (void)interop;
    return result <= NO_VALUE && result >= IS_STR ? texts[NO_VALUE - result] : "other";
}
