/* order.c - which kernels nothing orders, for the search for races (race.c).  What is said of
 * kernels here goes for copies, too (transfer.c).
 *
 * A slot is what does one kernel after the other: a queue, or a launch that its host thread waits
 * for.  A kernel has a time in its slot, and knows up to which time it comes after the kernels of
 * each slot: those that had ended when it was put into its queue, since the host may know of that,
 * and those that its queue waits for.  All others run beside it, or might.
 *
 * A quick kernel would have ended before its host thread comes to the next construct, even where
 * that does not wait for it.  So the end of a kernel in a queue is put off until another one comes,
 * for a moment, and not too often, since who waits for it loses the time.  So is the begin of a
 * copy, and a host thread that does not wait for it either reads what was there before
 * (core/reads.c). */
#include <errno.h>
#include <string.h>
#include <time.h>
#include "hostrt/emu/emu.h"

enum { KEPT = 16 };
struct slot {
    bool taken;
    uint32_t last, ended;       /* times */
    uint64_t given;             /* moments, so far */
    uint32_t before[EMU_SLOTS]; /* of what comes next in a queue */
    struct {
        uint32_t time, phase;
    } first[KEPT]; /* phases of the latest kernels, by time */
};
static struct slot slots[EMU_SLOTS]; /* slot 0: of what found none; it is ordered with all */
static uint64_t given;               /* moments, so far, in all */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t another = PTHREAD_COND_INITIALIZER;

_Thread_local struct emu_moment *ompgpu_emu_moment;

/* ------------------------------------------------------------------ lock held */
static void join(uint32_t *before, const uint32_t *other)
{
    for (unsigned i = 0; i < EMU_SLOTS; i++)
        before[i] = before[i] > other[i] ? before[i] : other[i];
}

static void join_ended(uint32_t *before)
{
    for (unsigned i = 0; i < EMU_SLOTS; i++)
        before[i] = before[i] > slots[i].ended ? before[i] : slots[i].ended;
}

static unsigned take_slot(void)
{
    unsigned i = 1;
    while (i < EMU_SLOTS && slots[i].taken)
        i++;
    if (i == EMU_SLOTS)
        return 0;
    slots[i].taken = true;
    memset(slots[i].before, 0, sizeof slots[i].before);
    return i;
}

static void next_moment(unsigned slot, struct emu_moment *m)
{
    struct slot *s = &slots[slot];
    join_ended(s->before);
    m->slot = slot;
    m->alone = false;
    m->copier = NULL;
    m->summed = false;
    m->time = ++s->last;
    memcpy(m->before, s->before, sizeof m->before);
    s->before[slot] = m->time;
    m->number = ++given;
    m->others = given - ++s->given;
    pthread_cond_broadcast(&another);
}

/* ------------------------------------------------------------------ queues */
unsigned ompgpu_emu_slot_take(void)
{
    pthread_mutex_lock(&lock);
    unsigned slot = take_slot();
    pthread_mutex_unlock(&lock);
    return slot;
}

void ompgpu_emu_slot_give(unsigned slot)
{
    pthread_mutex_lock(&lock);
    slots[slot].taken = false;
    pthread_mutex_unlock(&lock);
}

void ompgpu_emu_order_next(unsigned slot, struct emu_moment *m)
{
    pthread_mutex_lock(&lock);
    next_moment(slot, m);
    pthread_mutex_unlock(&lock);
}

void ompgpu_emu_order_record(unsigned slot, uint32_t *before)
{
    pthread_mutex_lock(&lock);
    memcpy(before, slots[slot].before, sizeof slots[slot].before);
    pthread_mutex_unlock(&lock);
}

void ompgpu_emu_order_wait(unsigned slot, const uint32_t *before)
{
    pthread_mutex_lock(&lock);
    join(slots[slot].before, before);
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ kernels */
void ompgpu_emu_order_alone(struct emu_moment *m)
{
    pthread_mutex_lock(&lock);
    next_moment(take_slot(), m);
    pthread_mutex_unlock(&lock);
    m->alone = true;
}

bool ompgpu_emu_order_any(void)
{
    bool any = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 1; i < EMU_SLOTS && !any; i++)
        any = slots[i].ended < slots[i].last;
    pthread_mutex_unlock(&lock);
    return any;
}

/* The first phase of the kernels of a slot that are not before m; `none`: they have none yet. */
static uint32_t first_beside(const struct slot *s, uint32_t before, uint32_t none)
{
    uint32_t next = before + 1, first = s->first[next % KEPT].phase;
    if (s->last <= before)
        return none;
    if (s->first[next % KEPT].time == next)
        return first < none ? first : none;
    /* it has not begun, or later ones have taken its place */
    return s->first[next % KEPT].time > next ? 0 : none;
}

uint32_t ompgpu_emu_order_begin(const struct emu_moment *m, uint32_t phase, bool *beside)
{
    uint32_t floor = phase;
    *beside = !m->alone;
    pthread_mutex_lock(&lock);
    struct slot *own = &slots[m->slot];
    own->first[m->time % KEPT].time = m->time;
    own->first[m->time % KEPT].phase = phase;
    for (unsigned i = 1; i < EMU_SLOTS; i++) {
        if (i == m->slot)
            continue;
        *beside |= slots[i].taken;
        floor = first_beside(&slots[i], m->before[i], floor);
    }
    pthread_mutex_unlock(&lock);
    return floor;
}

/* For a copy one of another queue: the rest of its construct comes at once. */
static bool has_another(const struct emu_moment *m)
{
    return m->copier ? given - slots[m->slot].given != m->others : given != m->number;
}

/* Lock held. */
static void wait_for_another(const struct emu_moment *m)
{
    enum { MILLISECONDS = 20, MOST = 50 };
    static unsigned vain;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += MILLISECONDS * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000, end.tv_nsec %= 1000000000;
    for (bool late = false; !has_another(m) && vain < MOST && !late; vain += late)
        late = pthread_cond_timedwait(&another, &lock, &end) == ETIMEDOUT;
}

void ompgpu_emu_order_linger(const struct emu_moment *m)
{
    pthread_mutex_lock(&lock);
    if (!m->alone)
        wait_for_another(m);
    pthread_mutex_unlock(&lock);
}

void ompgpu_emu_order_end(const struct emu_moment *m)
{
    pthread_mutex_lock(&lock);
    if (!m->alone && !m->copier)
        wait_for_another(m);
    slots[m->slot].ended = m->time;
    if (m->alone)
        slots[m->slot].taken = false;
    pthread_mutex_unlock(&lock);
}

/* A child has no kernels of others, and none of the queues. */
void ompgpu_emu_order_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE)
        pthread_mutex_lock(&lock);
    if (when == OMPGPU_FORK_CHILD)
        pthread_cond_init(&another, NULL);
    for (unsigned i = 0; when == OMPGPU_FORK_CHILD && i < EMU_SLOTS; i++)
        slots[i].ended = slots[i].last, slots[i].taken = false;
    if (when != OMPGPU_FORK_BEFORE)
        pthread_mutex_unlock(&lock);
}
