/* waits.c - who of a team waits for whom: for the message of a team that cannot go on, and for
 * debuggers. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "hostrt/emu/emu.h"

#define OURS __attribute__((visibility("default")))

const char *const ompgpu_emu_state_names[EMU_EXITED] = {
    [EMU_AT_SHUFFLE] = "shuffle",
    [EMU_AT_BALLOT] = "ballot",
    [EMU_AT_SYNCWARP] = "syncwarp",
    [EMU_AT_REDUX] = "redux",
    [EMU_AT_MEETING] = "the meeting of a warp",
};

struct emu_place ompgpu_emu_place(int line)
{
    struct emu_place p = { " of the device runtime" };
    if (line > 0)
        snprintf(p.text, sizeof p.text, " at line %d", line);
    return p;
}

static void describe_missing(const struct emu_thread *t, char *text, size_t size)
{
    if (t->state == EMU_EXITED)
        snprintf(text, size, "exited");
    else if (t->state == EMU_AT_BARRIER && t->line <= 0)
        snprintf(text, size, "waits at a barrier of the device runtime");
    else if (t->state == EMU_AT_BARRIER)
        snprintf(text, size, "waits at line %d", t->line);
    else
        snprintf(text, size, "waits in %s with mask 0x%08x", ompgpu_emu_state_names[t->state],
                 t->mask);
}

static void report_barrier(struct emu_worker *w, unsigned id)
{
    const struct emu_barrier *b = &w->barrier[id];
    char missing[120] = "";
    for (unsigned i = 0; i < w->nthreads; i++) {
        const struct emu_thread *t = &w->threads[i];
        if (t->state == EMU_AT_BARRIER && t->barrier == id)
            continue;
        size_t n = (size_t)snprintf(missing, sizeof missing, "first missing thread %u: ", i);
        describe_missing(t, missing + n, sizeof missing - n);
        break;
    }
    ompgpu_emu_launch_fail(w->launch, "barrier%s reached by %u of %u threads (%s) in team %u",
                           ompgpu_emu_place(ompgpu_emu_queue_first(w, &b->waiting)->line).text,
                           b->arrived, ompgpu_emu_barrier_count(w, b), missing,
                           w->threads[0].pub.team);
}

static void report_warp(struct emu_worker *w, const struct emu_thread *waiting)
{
    const struct emu_rendezvous *m =
        &w->rendezvous[waiting->pub.tid / EMU_WARP][waiting->state][__builtin_ctz(waiting->mask)];
    unsigned first = waiting->pub.tid & ~(EMU_WARP - 1u),
             missing = first + (unsigned)__builtin_ctz(m->mask & ~m->arrived);
    char text[80];
    if (missing >= w->nthreads)
        snprintf(text, sizeof text, "not in the team of %u", w->nthreads);
    else
        describe_missing(&w->threads[missing], text, sizeof text);
    ompgpu_emu_launch_fail(w->launch,
                           "%s with mask 0x%08x reached by %d of %d lanes (first missing thread "
                           "%u: %s) in team %u, warp %u",
                           ompgpu_emu_state_names[waiting->state], m->mask,
                           __builtin_popcount(m->arrived), __builtin_popcount(m->mask), missing,
                           text, waiting->pub.team, waiting->pub.tid / EMU_WARP);
}

/* No thread is ready, some have not ended: name the barrier with the most threads, or else the
 * first warp operation. */
void ompgpu_emu_report_deadlock(struct emu_worker *w)
{
    unsigned best = EMU_BARRIERS;
    for (unsigned i = 0; i < EMU_BARRIERS; i++)
        if (w->barrier[i].arrived &&
            (best == EMU_BARRIERS || w->barrier[i].arrived > w->barrier[best].arrived))
            best = i;
    if (best < EMU_BARRIERS) {
        report_barrier(w, best);
        return;
    }
    for (unsigned i = 0; i < w->nthreads; i++)
        if (w->threads[i].state != EMU_EXITED) {
            report_warp(w, &w->threads[i]);
            return;
        }
}

/* ------------------------------------------------------------------ for debuggers */
static void describe(const struct emu_worker *w, const struct emu_thread *t, char *text,
                     size_t size)
{
    if (t == w->current)
        snprintf(text, size, "runs");
    else if (t->state != EMU_READY)
        describe_missing(t, text, size);
    else
        snprintf(text, size, t->fiber || t->frame ? "may go on" : "has not begun");
}

/* A line for threads that do the same. */
static size_t show_threads(const struct emu_worker *w, unsigned *first, char *text, size_t room)
{
    char what[96], other[96];
    unsigned last = *first;
    describe(w, &w->threads[*first], what, sizeof what);
    while (last + 1 < w->nthreads) {
        describe(w, &w->threads[last + 1], other, sizeof other);
        if (strcmp(what, other) != 0)
            break;
        last++;
    }
    int n = last == *first ? snprintf(text, room, "  %u: %s\n", last, what)
                           : snprintf(text, room, "  %u to %u: %s\n", *first, last, what);
    *first = last + 1;
    return n < 0 ? 0 : (size_t)n < room ? (size_t)n : room;
}

const char *ompgpu_debug_team(void)
{
    static char text[16384];
    const struct emu_worker *w = ompgpu_emu_worker;
    if (!w || !w->current)
        return "no device code runs in this thread\n";
    const struct emu_launch *l = w->launch;
    size_t n = (size_t)snprintf(text, sizeof text, "region %s, team %u of %u, thread %u of %u\n",
                                l->where->kernel, w->current->pub.team, l->teams,
                                w->current->pub.tid, l->threads);
    for (unsigned i = 0; w->form != EMU_SPAN && i < w->nthreads && n < sizeof text;)
        n += show_threads(w, &i, text + n, sizeof text - n);
    return text;
}

/* driver/package/gdb.py follows these from the workers to the threads. */
#define OFFSET(type, member) (uint32_t)offsetof(struct type, member)
OURS const uint32_t ompgpu_debug_layout[] = {
    OFFSET(emu_worker, next),
    OFFSET(emu_worker, number),
    OFFSET(emu_worker, launch),
    OFFSET(emu_worker, current),
    OFFSET(emu_worker, threads),
    OFFSET(emu_worker, nthreads),
    OFFSET(emu_worker, form),
    OFFSET(emu_launch, where),
    OFFSET(emu_launch, teams),
    OFFSET(emu_launch, threads),
    OFFSET(ompgpu_kernel_where, kernel),
    sizeof(struct emu_thread),
    OFFSET(emu_thread, pub.team),
    OFFSET(emu_thread, pub.tid),
    OFFSET(emu_thread, state),
    OFFSET(emu_thread, line),
    OFFSET(emu_thread, mask),
    OFFSET(emu_thread, fiber),
    OFFSET(emu_thread, frame),
    EMU_SPAN,
    EMU_READY,
    EMU_AT_BARRIER,
    EMU_EXITED,
};
OURS struct emu_worker *ompgpu_debug_workers;
