/* reverse.c - target device(ancestor: 1): functions of the host that regions call.  The protocol is
 * that of hostrt/mailbox.h.
 *
 * A thread of the host serves each device that may ask: it looks into the mailbox again and again,
 * as neither a GPU nor its driver would call it.  It exists only in programs that register such a
 * function, from the first launch on.
 *
 * What an item is to the function: an object of the host, where the item lies in mapped storage;
 * else a copy for the call. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "hostrt/core/core.h"
#include "hostrt/mailbox.h"
#include "hostrt/ompgpu.h"

static struct function { /* of the host */
    unsigned long long key;
    void (*run)(void **);
    struct function *next;
} *functions; /* only grows, under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tables = PTHREAD_MUTEX_INITIALIZER; /* inside of any other lock */

struct call {
    const struct ompgpu_reverse_item *items;
    unsigned n;
    void *objects[OMPGPU_REVERSE_ITEMS];
    bool copied[OMPGPU_REVERSE_ITEMS]; /* objects[i] is a copy */
};
struct reverse { /* of one device */
    struct ompgpu_device *dev;
    struct ompgpu_mailbox *mailbox; /* shared with the device, or what its plugin brings */
    struct ompgpu_mailbox *at;      /* for the device */
    struct call call;
    pthread_t thread;
    int stop; /* atomic */
};

static _Noreturn void stop_program(const char *what)
{
    ompgpu_fatal(NULL, "device(ancestor: 1): %s", what);
    __builtin_trap(); /* not reached */
}

/* ------------------------------------------------------------------ functions */
void __ompgpu_reverse_register(unsigned long long key, void (*run)(void **))
{
    struct function *f = ompgpu_xalloc(sizeof *f);
    if (!f)
        return; /* a region that asks for it says so */
    pthread_mutex_lock(&lock);
    *f = (struct function){ key, run, functions };
    __atomic_store_n(&functions, f, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

static void run_function(unsigned long long key, void **objects)
{
    const struct function *f = __atomic_load_n(&functions, __ATOMIC_ACQUIRE);
    while (f && f->key != key)
        f = f->next;
    if (f)
        f->run(objects);
    else
        stop_program("the region's code is not in the program");
}

/* ------------------------------------------------------------------ items */
/* What is mapped there on the device: the host's address; NULL: nothing is. */
static void *find_object(struct ompgpu_device *dev, uintptr_t device, size_t size)
{
    for (const struct ompgpu_entry *e = ompgpu_present_next(dev, 0); e;
         e = ompgpu_present_next(dev, e->end)) {
        uintptr_t at = device - e->device;
        if (device >= e->device && at < e->end - e->begin && size <= e->end - e->begin - at)
            return (void *)(e->begin + at);
    }
    return NULL;
}

bool ompgpu_reverse_any(void) { return __atomic_load_n(&functions, __ATOMIC_RELAXED) != NULL; }

bool ompgpu_reverse_lock(void)
{
    bool needed = __atomic_load_n(&functions, __ATOMIC_RELAXED) != NULL;
    if (needed)
        pthread_mutex_lock(&tables);
    return needed;
}

void ompgpu_reverse_unlock(bool locked)
{
    if (locked)
        pthread_mutex_unlock(&tables);
}

static void *mapped_object(struct ompgpu_device *dev, const void *device, size_t size)
{
    pthread_mutex_lock(&tables);
    void *object = find_object(dev, (uintptr_t)device, size);
    pthread_mutex_unlock(&tables);
    return object;
}

/* -> what is wanted of it */
static unsigned open_item(struct call *c, unsigned i, void *object)
{
    const struct ompgpu_reverse_item *item = &c->items[i];
    bool copies = !object || (item->flags & OMPGPU_MAP_ALWAYS);
    if (!object && (item->flags & OMPGPU_MAP_PRESENT))
        stop_program("an item is not mapped, but the `present` modifier requires it");
    c->copied[i] = !object;
    c->objects[i] = object ? object : ompgpu_xalloc(item->size + !item->size);
    if (!c->objects[i])
        stop_program("no memory");
    return (copies && (item->flags & OMPGPU_MAP_TO) ? OMPGPU_REVERSE_WANTS_PUT : 0) |
           (copies && (item->flags & OMPGPU_MAP_FROM) ? OMPGPU_REVERSE_WANTS_GET : 0);
}

/* As the function gets it: the address of the variable of which the item is, or is a section. */
static void set_argument(struct call *c, struct ompgpu_device *dev, unsigned i, void **arguments)
{
    const struct ompgpu_reverse_item *item = &c->items[i];
    char *object = c->objects[i];
    if (item->flags & OMPGPU_REVERSE_SECTION)
        *(void **)c->objects[item->of] = object - item->base;
    else
        arguments[i] = object - item->base;
    if (dev && (item->flags & OMPGPU_REVERSE_POINTER)) {
        void **pointer = c->objects[i], *to = mapped_object(dev, *pointer, 1);
        *pointer = to ? to : *pointer;
    }
}

static void run_call(struct call *c, struct ompgpu_device *dev, unsigned long long key)
{
    void *arguments[OMPGPU_REVERSE_ITEMS];
    for (unsigned i = 0; i < c->n; i++)
        set_argument(c, dev, i, arguments);
    run_function(key, arguments);
}

static void close_call(struct call *c)
{
    for (unsigned i = 0; i < c->n; i++)
        if (c->copied[i])
            ompgpu_xfree(c->objects[i]);
    c->n = 0;
}

/* Where the region runs on the host, its objects are those of the function. */
void __ompgpu_reverse(unsigned long long key, const void *items, unsigned n)
{
    struct call c = { .items = items, .n = n };
    for (unsigned i = 0; i < n; i++) {
        bool own = c.items[i].flags & OMPGPU_REVERSE_COPY;
        open_item(&c, i, own ? NULL : c.items[i].at);
        if (own)
            memcpy(c.objects[i], c.items[i].at, c.items[i].size);
    }
    run_call(&c, NULL, key);
    close_call(&c);
}

/* ------------------------------------------------------------------ requests */
static void open_call(struct reverse *r)
{
    struct ompgpu_mailbox *m = r->mailbox;
    r->call = (struct call){ .items = m->items, .n = m->n };
    for (unsigned i = 0; i < m->n; i++) {
        const struct ompgpu_reverse_item *item = &m->items[i];
        bool own = item->flags & OMPGPU_REVERSE_COPY;
        m->wants[i] =
            open_item(&r->call, i, own ? NULL : mapped_object(r->dev, item->at, item->size));
    }
}

static void serve(struct reverse *r, unsigned request)
{
    struct ompgpu_mailbox *m = r->mailbox;
    char *object = request == OMPGPU_REVERSE_PUT || request == OMPGPU_REVERSE_GET
                       ? (char *)r->call.objects[m->item] + m->offset
                       : NULL;
    switch (request) {
    case OMPGPU_REVERSE_OPEN: open_call(r); break;
    case OMPGPU_REVERSE_PUT: memcpy(object, m->data, m->bytes); break;
    case OMPGPU_REVERSE_RUN: run_call(&r->call, r->dev, m->key); break;
    case OMPGPU_REVERSE_GET: memcpy(m->data, object, m->bytes); break;
    case OMPGPU_REVERSE_CLOSE: close_call(&r->call); break;
    }
}

/* 0: none has come. */
static unsigned next_request(struct reverse *r)
{
    const struct ompgpu_plugin *p = r->dev->plugin;
    if (p->mailbox_next && p->mailbox_next(r->dev->ordinal, r->mailbox))
        return r->mailbox->request = 0; /* the region's launch fails, too, and says why */
    return __atomic_load_n(&r->mailbox->request, __ATOMIC_ACQUIRE);
}

/* At once while requests come, then with pauses. */
static void *serve_device(void *argument)
{
    enum { EAGER = 1000, PAUSE_NS = 50000 };
    struct reverse *r = argument;
    for (unsigned idle = 0; !__atomic_load_n(&r->stop, __ATOMIC_RELAXED);) {
        unsigned request = next_request(r);
        if (request) {
            serve(r, request);
            if (!r->dev->plugin->mailbox_next)
                __atomic_store_n(&r->mailbox->request, 0, __ATOMIC_RELEASE);
            idle = 0;
        } else if (++idle > EAGER)
            nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
    }
    return NULL;
}

/* ------------------------------------------------------------------ mailboxes */
static int alloc_mailbox(struct reverse *r)
{
    const struct ompgpu_plugin *p = r->dev->plugin;
    void *box = NULL;
    if (p->mailbox_open) {
        r->mailbox = ompgpu_xalloc(sizeof *r->mailbox);
        return r->mailbox ? 0 : -1;
    }
    if (!p->alloc_shared) {
        ompgpu_plugin_error("device(ancestor: 1): the device has no memory that the host reaches");
        return -1;
    }
    int bad = p->alloc_shared(r->dev->ordinal, sizeof *r->mailbox, &box);
    r->mailbox = r->at = box;
    return bad;
}

static int fill_mailbox(struct reverse *r)
{
    static const unsigned open;
    const struct ompgpu_plugin *p = r->dev->plugin;
    void *word, *at;
    if (alloc_mailbox(r) || p->alloc(r->dev->ordinal, sizeof open, &word))
        return -1;
    memset(r->mailbox, 0, sizeof *r->mailbox);
    r->mailbox->lock = word;
    if (p->to_device(r->dev->ordinal, word, &open, sizeof open) || p->sync(r->dev->ordinal))
        return -1;
    if (!p->mailbox_open)
        return 0;
    int bad = p->mailbox_open(r->dev->ordinal, r->mailbox, &at);
    r->at = at;
    return bad;
}

static void free_mailbox(struct reverse *r)
{
    const struct ompgpu_plugin *p = r->dev->plugin;
    if (r->mailbox && r->mailbox->lock)
        p->free(r->dev->ordinal, r->mailbox->lock);
    if (r->mailbox && !p->mailbox_open)
        p->free_shared(r->dev->ordinal, r->mailbox);
    else
        ompgpu_xfree(r->mailbox);
    ompgpu_xfree(r);
}

static int open_mailbox(struct ompgpu_device *dev)
{
    struct reverse *r = ompgpu_xalloc(sizeof *r);
    if (!r)
        return -1;
    r->dev = dev;
    if (fill_mailbox(r)) {
        free_mailbox(r);
        return -1;
    }
    if (pthread_create(&r->thread, NULL, serve_device, r)) {
        ompgpu_plugin_error("device(ancestor: 1): no thread to serve the device");
        free_mailbox(r);
        return -1;
    }
    __atomic_store_n(&dev->reverse, r, __ATOMIC_RELEASE);
    return 0;
}

int ompgpu_reverse_mailbox(struct ompgpu_device *dev, struct ompgpu_mailbox **mailbox)
{
    int bad = 0;
    *mailbox = NULL;
    if (!__atomic_load_n(&functions, __ATOMIC_RELAXED))
        return 0;
    if (!__atomic_load_n(&dev->reverse, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&lock);
        bad = dev->reverse ? 0 : open_mailbox(dev);
        pthread_mutex_unlock(&lock);
    }
    if (!bad)
        *mailbox = dev->reverse->at;
    return bad;
}

/* In the child, the threads that serve are the parent's. */
void ompgpu_reverse_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE) {
        pthread_mutex_lock(&lock);
        pthread_mutex_lock(&tables);
        return;
    }
    for (int i = 0; when == OMPGPU_FORK_CHILD && i < ompgpu_ndevices; i++)
        ompgpu_devices[i].reverse = NULL;
    pthread_mutex_unlock(&tables);
    pthread_mutex_unlock(&lock);
}

void ompgpu_reverse_stop(void)
{
    for (int i = 0; i < ompgpu_ndevices; i++) {
        struct reverse *r = __atomic_load_n(&ompgpu_devices[i].reverse, __ATOMIC_ACQUIRE);
        if (!r) /* or another thread is making it, which the end does not wait for */
            continue;
        __atomic_store_n(&r->stop, 1, __ATOMIC_RELAXED);
        pthread_join(r->thread, NULL);
    }
}

void ompgpu_reverse_close(struct ompgpu_device *dev)
{
    if (dev->reverse)
        free_mailbox(dev->reverse);
    dev->reverse = NULL;
}
