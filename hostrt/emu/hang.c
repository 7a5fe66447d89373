/* hang.c - the watchdog: a kernel that hangs ends with a message.
 *
 * Threads that wait for a barrier or a warp operation that cannot come are noticed at once
 * (team.c).  What remains are locks, of critical constructs and of omp_set_lock, and loops of the
 * user's that look at memory until it changes: who waits there tries it again and again, and yields
 * in between.  An OS thread is stuck when all that it has done for OMPGPU_HANG_SECONDS is yield: no
 * emulated thread has started, ended, come to a barrier or got a lock, and so little was done from
 * one yield to the next that it is no iteration of a computation.  When all OS threads that run
 * teams are stuck, nobody is left who could release anything.  Where the process was stopped in
 * between, by a debugger or a shell, the time of that does not count. */
#include <stdio.h>
#include <time.h>
#include "hostrt/emu/emu.h"

static atomic_uint busy, stuck; /* OS threads that run teams; of these, those that only yield */

static unsigned long acquired_locks(const struct emu_worker *w)
{
    const unsigned long *n = w->launch->module->acquired;
    return n ? __atomic_load_n(n, __ATOMIC_RELAXED) : 0;
}

void ompgpu_emu_hang_begin(struct emu_worker *w)
{
    w->yielding = false;
    atomic_fetch_add(&busy, 1);
}

RARE void ompgpu_emu_hang_progress(struct emu_worker *w)
{
    w->yielding = false;
    if (w->stuck)
        atomic_fetch_sub(&stuck, 1);
    w->stuck = false;
}

void ompgpu_emu_hang_end(struct emu_worker *w)
{
    ompgpu_emu_hang_progress(w);
    atomic_fetch_sub(&busy, 1);
}

/* The device runtime's own functions, from which it is called, have no lines. */
static void describe_place(const struct emu_worker *w, const char *sp, char *text, size_t size)
{
    const struct emu_fiber *f = w->current->fiber;
    struct ompgpu_line at;
    *text = 0;
    for (; sp >= f->stack && sp + sizeof(void *) <= f->stack + f->size; sp += sizeof(void *)) {
        char *called_from = *(char *const *)sp;
        if (ompgpu_emu_image_has_code(w->launch->module, called_from) &&
            ompgpu_emu_line_of(w->launch->module, called_from - 1, &at)) {
            snprintf(text, size, " at %s:%u", at.file, at.line);
            return;
        }
    }
}

static _Noreturn void fail_hang(struct emu_worker *w, const char *sp)
{
    char place[300];
    describe_place(w, sp, place, sizeof place);
    ompgpu_emu_thread_fail(w,
                           "hangs: for %u s all threads have waited for locks (critical, "
                           "omp_set_lock) or for memory to change, and none has gone on; "
                           "one waits%s",
                           ompgpu_emu_settings()->hang_seconds, place);
}

/* Milliseconds that this OS thread has been on a processor. */
static double used_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void begin_period(struct emu_worker *w, double now)
{
    ompgpu_emu_hang_progress(w);
    w->yielding = true;
    w->yielded = now;
    w->waited = 0;
    w->used = used_time();
    w->acquired = acquired_locks(w);
    w->yields = 0;
}

/* To look again takes less than a hundredth of that, also where the runtime has sanitizers. */
static bool has_worked(const struct emu_worker *w)
{
    const double little = 0.02; /* milliseconds for each yield */
    return used_time() - w->used > little * (double)w->yields;
}

void ompgpu_emu_hang_check(struct emu_worker *w, unsigned yields, const char *sp)
{
    const double most = 100; /* milliseconds from one yield to the next, for threads that run */
    double limit = 1e3 * (double)ompgpu_emu_settings()->hang_seconds, now = ompgpu_clock(),
           since = now - w->yielded;
    if (limit <= 0 || !w->launch->module->acquired)
        return;
    w->yields += yields;
    if (!w->yielding || acquired_locks(w) != w->acquired) {
        begin_period(w, now);
        return;
    }
    w->waited += since < most ? since : most;
    w->yielded = now;
    if (w->waited < limit)
        return;
    if (has_worked(w)) {
        begin_period(w, now);
        return;
    }
    if (!w->stuck)
        atomic_fetch_add(&stuck, 1);
    w->stuck = true;
    if (atomic_load(&stuck) == atomic_load(&busy))
        fail_hang(w, sp);
}
