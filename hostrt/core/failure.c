/* failure.c - what becomes of a construct that has failed on its device: OMPGPU_ON_FAILURE or the
 * program's handler (ompgpu/ompgpu.h) decides among what is possible. */
#include <stdio.h>
#include "hostrt/core/core.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the two */
static ompgpu_failure_handler *current;
static void *current_argument;
static int has_handler; /* atomic */

void ompgpu_on_failure(ompgpu_failure_handler *handler, void *argument)
{
    pthread_mutex_lock(&lock);
    current = handler, current_argument = argument;
    __atomic_store_n(&has_handler, handler != NULL, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

void ompgpu_failure_fork(enum ompgpu_fork when)
{
    (when == OMPGPU_FORK_BEFORE ? pthread_mutex_lock : pthread_mutex_unlock)(&lock);
}

bool ompgpu_may_recover(void)
{
    return ompgpu_settings.on_failure != OMPGPU_STOP ||
           __atomic_load_n(&has_handler, __ATOMIC_ACQUIRE);
}

static enum ompgpu_action usual_action(unsigned attempt)
{
    return ompgpu_settings.on_failure == OMPGPU_RETRY && attempt > 1
               ? OMPGPU_HOST
               : (enum ompgpu_action)ompgpu_settings.on_failure;
}

static enum ompgpu_action ask(const struct ompgpu_failure *f)
{
    pthread_mutex_lock(&lock);
    ompgpu_failure_handler *handler = current;
    void *argument = current_argument;
    pthread_mutex_unlock(&lock);
    return handler ? handler(f, argument) : f->action;
}

enum ompgpu_action ompgpu_recover(const struct ompgpu_where *where, const struct ompgpu_device *dev,
                                  const char *reason, unsigned attempt, unsigned possible)
{
    const struct ompgpu_failure f = {
        .size = sizeof f,
        .device = dev->number,
        .file = where->file,
        .line = where->line,
        .directive = where->directive,
        .region = where->region,
        .reason = reason,
        .attempt = attempt,
        .possible = possible | 1u << OMPGPU_STOP,
        .action = usual_action(attempt),
    };
    enum ompgpu_action action = ask(&f);
    if (action == OMPGPU_RETRY && possible & 1u << OMPGPU_RETRY)
        ompgpu_say(where, "warning", "is tried again: %s", reason);
    if (action != OMPGPU_STOP && !(possible & 1u << action) && where->region)
        ompgpu_fatal(where, "%s; %s", reason,
                     possible & 1u << OMPGPU_RETRY
                         ? "the host cannot run it: its data is on the device"
                         : "it may have changed data that is on the device");
    if (!(possible & 1u << action))
        ompgpu_fatal(where, "%s", reason);
    return action;
}
