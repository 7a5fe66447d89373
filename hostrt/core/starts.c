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
/* Guarded by `lock`, with what devices have of them (`started`): in the order in which they run. */
static struct start *constructors, *destructors;
static unsigned last_number;
static pid_t process; /* whose exit handler runs the destructors; 0: none does */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool running; /* this thread has the lock, and the region is one of these */

/* ------------------------------------------------------------------ coming and going */
static bool comes_before(const struct start *a, const struct start *b, bool ends)
{
    return ends ? a->priority > b->priority : a->priority <= b->priority;
}

void __ompgpu_add_start(void (*run)(int device), int priority, int ends)
{
    struct start *s = ompgpu_xalloc(sizeof *s), **at = ends ? &destructors : &constructors;
    if (!s)
        ompgpu_fatal(NULL, "%s", ompgpu_plugin_message());
    pthread_mutex_lock(&lock);
    *s = (struct start){ NULL, run, priority, ++last_number };
    while (*at && comes_before(*at, s, ends))
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

void __ompgpu_drop_start(void (*run)(int device))
{
    ompgpu_deferred_finish();
    pthread_mutex_lock(&lock);
    struct start *end = take_start(&destructors, run);
    for (int i = 0; end && i < ompgpu_ndevices && may_end(); i++)
        if (is_open(&ompgpu_devices[i]) && end->number <= ompgpu_devices[i].started)
            run_start(end, &ompgpu_devices[i]);
    ompgpu_xfree(end ? end : take_start(&constructors, run));
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ running */
static void end_all(void)
{
    if (!may_end())
        return;
    ompgpu_deferred_finish();
    pthread_mutex_lock(&lock);
    for (int i = 0; i < ompgpu_ndevices; i++) {
        struct ompgpu_device *dev = &ompgpu_devices[i];
        for (const struct start *s = destructors; s && is_open(dev); s = s->next)
            if (s->number <= dev->started)
                run_start(s, dev);
        dev->started = 0, dev->ended = true;
    }
    pthread_mutex_unlock(&lock);
}

bool ompgpu_starts_run(struct ompgpu_device *dev)
{
    if (running)
        return false;
    pthread_mutex_lock(&lock);
    unsigned before = dev->started;
    if (destructors && !process) {
        process = getpid();
        atexit(end_all);
    }
    dev->started = dev->ended ? before : last_number;
    for (const struct start *s = constructors; s; s = s->next)
        if (s->number > before && !dev->ended)
            run_start(s, dev);
    pthread_mutex_unlock(&lock);
    return true;
}

void ompgpu_starts_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE)
        pthread_mutex_lock(&lock);
    else
        pthread_mutex_unlock(&lock);
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
