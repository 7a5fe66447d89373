/* fork.c - fork() while other threads of the program are inside of the runtime.
 *
 * The child has the forking thread only.  All locks are taken before the fork, so that what they
 * guard is whole, and released on both sides.  In the child the other threads' buffers are
 * forgotten (a kernel may have been writing to them) and the mappings of the regions that they were
 * in are released, as if those had failed.  Their `target data` regions never end. */
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

/* Devices of one plugin follow each other; one may have a table of its own with the plugin's
 * functions (rescue.c, ompt.c). */
static void tell_plugins(enum ompgpu_fork when)
{
    void (*last)(enum ompgpu_fork) = NULL;
    for (int i = 0; i < ompgpu_ndevices; i++) {
        const struct ompgpu_plugin *plugin = ompgpu_devices[i].plugin;
        if (plugin->fork && plugin->fork != last)
            plugin->fork(when);
        last = plugin->fork ? plugin->fork : last;
    }
}

static void before_fork(void)
{
    ompgpu_starts_fork(OMPGPU_FORK_BEFORE);
    ompgpu_depend_fork(OMPGPU_FORK_BEFORE);
    pthread_mutex_lock(&ompgpu_start_lock);
    ompgpu_units_fork(OMPGPU_FORK_BEFORE);
    for (int i = 0; i < ompgpu_ndevices; i++) {
        ompgpu_devices[i].forking = ompgpu_tables_lock(&ompgpu_devices[i]);
        pthread_mutex_lock(&ompgpu_devices[i].wait_lock);
    }
    ompgpu_threads_lock();
    ompgpu_reverse_fork(OMPGPU_FORK_BEFORE);
    ompgpu_interop_fork(OMPGPU_FORK_BEFORE);
    ompgpu_failure_fork(OMPGPU_FORK_BEFORE);
    ompgpu_deferred_fork(OMPGPU_FORK_BEFORE);
    ompgpu_returning_fork(OMPGPU_FORK_BEFORE);
    tell_plugins(OMPGPU_FORK_BEFORE);
}

static void release_locks(enum ompgpu_fork when)
{
    tell_plugins(when);
    ompgpu_returning_fork(when);
    ompgpu_deferred_fork(when);
    ompgpu_failure_fork(when);
    ompgpu_interop_fork(when);
    ompgpu_reverse_fork(when);
    ompgpu_threads_unlock();
    for (int i = ompgpu_ndevices; i-- > 0;) {
        pthread_mutex_unlock(&ompgpu_devices[i].wait_lock);
        ompgpu_tables_unlock(&ompgpu_devices[i], ompgpu_devices[i].forking);
    }
    ompgpu_units_fork(when);
    pthread_mutex_unlock(&ompgpu_start_lock);
    ompgpu_depend_fork(when);
    ompgpu_starts_fork(when);
}

static void in_parent(void) { release_locks(OMPGPU_FORK_PARENT); }

static void in_child(void)
{
    ompgpu_exit_fork();
    for (int i = 0; i < ompgpu_ndevices; i++) {
        struct ompgpu_device *dev = &ompgpu_devices[i];
        pthread_cond_init(&dev->synced, NULL); /* nobody waits any more */
        dev->nwaiting = 0;
        if (dev->unsynced != ompgpu_self_)
            dev->unsynced = NULL;
    }
    ompgpu_settings.watch &= ~(long)OMPGPU_WATCH_PROFILE; /* which is the parent's */
    release_locks(OMPGPU_FORK_CHILD);
    for (int i = 0; i < ompgpu_ndevices; i++)
        ompgpu_busy_vanished(&ompgpu_devices[i]);
    ompgpu_threads_vanished();
}

static void watch_fork(void) { pthread_atfork(before_fork, in_parent, in_child); }

void ompgpu_watch_fork(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_fork);
}
