/* starts.c - constructors and destructors of devices: functions of declare target with such an
 * attribute, each as a function of the host with a region that calls it.
 *
 * A device runs the constructors that it has not run when it is used, before what it is used for,
 * in the order of their priorities: the thread that comes first runs them, others wait.  It runs
 * the destructors, in the opposite order, when the program ends or the library that has them goes.
 * At the end of the program that is an exit handler's affair, since the CUDA driver shuts down
 * before the program's destructors run; a device that nobody has used runs none, and a child of
 * fork() leaves them to its parent. */
#include <stdlib.h>
#include <unistd.h>
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

struct start {
    struct start *next;
    void (*run)(int device);
    int priority;
    unsigned number; /* in the order of registration, from 1 on */
};
/* Guarded by `lock`, with what devices have of them (`started`, `starting`, `ended`): in the order
 * in which they run. */
static struct start *constructors, *destructors;
static unsigned last_number;
static pid_t process; /* whose exit handler runs the destructors; 0: none does */
/* Held while they run, by who uses a device.  Who comes or goes with a library has the dynamic
 * linker's lock, which what runs may want: it takes `lock` only, under which nothing runs. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool running; /* in this thread: the region is one of these */

/* ------------------------------------------------------------------ coming and going */
static bool is_before(const struct start *a, const struct start *b, bool ends)
{
    if (ends) {
        const struct start *c = a;
        a = b, b = c;
    }
    return a->priority != b->priority ? a->priority < b->priority : a->number < b->number;
}

void __ompgpu_add_start(void (*run)(int device), int priority, int ends)
{
    struct start *s = ompgpu_xalloc(sizeof *s), **at = ends ? &destructors : &constructors;
    if (!s)
        ompgpu_fatal(NULL, "%s", ompgpu_plugin_message());
    pthread_mutex_lock(&lock);
    *s = (struct start){ NULL, run, priority, ++last_number };
    while (*at && is_before(*at, s, ends))
        at = &(*at)->next;
    s->next = *at, *at = s;
    pthread_mutex_unlock(&lock);
    __atomic_add_fetch(&ompgpu_generation, 1, __ATOMIC_RELEASE);
}

static void run_start(const struct start *s, const struct ompgpu_device *dev)
{
    running = true;
    s->run(dev->number);
    running = false;
}

static bool is_open(const struct ompgpu_device *dev)
{
    return __atomic_load_n(&dev->state, __ATOMIC_ACQUIRE) == OMPGPU_DEVICE_OPEN;
}

static struct start *take_start(struct start **at, void (*run)(int))
{
    while (*at && (*at)->run != run)
        at = &(*at)->next;
    struct start *s = *at;
    if (s)
        *at = s->next;
    return s;
}

static bool may_end(void) { return process == getpid() && !ompgpu_failed(); }

/* With `lock`: it has run the constructors of this one, and is open. */
static bool has_started(const struct ompgpu_device *dev, unsigned number)
{
    return is_open(dev) && number <= dev->started && !dev->starting;
}

static bool is_to_end(const struct start *end, int device)
{
    pthread_mutex_lock(&lock);
    bool is = may_end() && has_started(&ompgpu_devices[device], end->number);
    pthread_mutex_unlock(&lock);
    return is;
}

void __ompgpu_drop_start(void (*run)(int device))
{
    ompgpu_deferred_settle();
    pthread_mutex_lock(&lock);
    struct start *end = take_start(&destructors, run),
                 *begin = end ? NULL : take_start(&constructors, run);
    pthread_mutex_unlock(&lock);
    for (int i = 0; end && i < ompgpu_ndevices; i++)
        if (is_to_end(end, i))
            run_start(end, &ompgpu_devices[i]);
    ompgpu_xfree(end);
    ompgpu_xfree(begin);
}

/* ------------------------------------------------------------------ running */
/* They may come and go meanwhile.  last: where it is in their order. */
static bool next_start(struct start *const *list, bool ends, unsigned above, unsigned most,
                       struct start *last)
{
    pthread_mutex_lock(&lock);
    const struct start *s = *list;
    while (s &&
           (s->number <= above || s->number > most || (last->number && !is_before(last, s, ends))))
        s = s->next;
    if (s)
        *last = *s;
    pthread_mutex_unlock(&lock);
    return s;
}

static void run_all(struct ompgpu_device *dev, bool ends, unsigned above, unsigned most)
{
    struct start s = { 0 };
    while (next_start(ends ? &destructors : &constructors, ends, above, most, &s))
        run_start(&s, dev);
}

static void end_all(void)
{
    if (!may_end())
        return;
    ompgpu_deferred_settle();
    pthread_mutex_lock(&turn);
    for (int i = 0; i < ompgpu_ndevices; i++) {
        struct ompgpu_device *dev = &ompgpu_devices[i];
        pthread_mutex_lock(&lock);
        unsigned most = is_open(dev) ? dev->started : 0;
        dev->started = 0, dev->ended = true;
        pthread_mutex_unlock(&lock);
        run_all(dev, true, 0, most);
    }
    pthread_mutex_unlock(&turn);
}

/* The numbers of those to be run. */
static void begin_starts(struct ompgpu_device *dev, unsigned *above, unsigned *most)
{
    pthread_mutex_lock(&lock);
    if (destructors && !process) {
        process = getpid();
        atexit(end_all);
    }
    *above = dev->started;
    *most = dev->ended ? 0 : last_number;
    if (!dev->ended)
        dev->started = last_number, dev->starting = true;
    pthread_mutex_unlock(&lock);
}

bool ompgpu_starts_wait(const struct ompgpu_device *dev)
{
    pthread_mutex_lock(&lock);
    bool wait = !dev->ended && dev->started != last_number;
    pthread_mutex_unlock(&lock);
    return wait;
}

bool ompgpu_starts_run(struct ompgpu_device *dev)
{
    unsigned above, most;
    if (running)
        return false;
    pthread_mutex_lock(&turn);
    begin_starts(dev, &above, &most);
    run_all(dev, false, above, most);
    pthread_mutex_lock(&lock);
    dev->starting = false;
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&turn);
    return true;
}

void ompgpu_starts_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE) {
        pthread_mutex_lock(&turn);
        pthread_mutex_lock(&lock);
        return;
    }
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&turn);
}

/* Called once, at the end. */
void ompgpu_starts_close(void)
{
    struct start **const lists[] = { &constructors, &destructors };
    for (unsigned i = 0; i < 2; i++)
        for (struct start *s; (s = *lists[i]);) {
            *lists[i] = s->next;
            ompgpu_xfree(s);
        }
}
