/* barriers.c - where barriers stand between the events of a plan.
 *
 * Where one is needed follows from what may be pending since the last one:
 *
 *            pending: written by main   read by all   read by main   a region's accesses
 *   load              x                                              x
 *   guard                               x (writes)                   x
 *   region            x                 x             x              x
 *
 * So a region is followed by a barrier only when something comes after it that could tell, and
 * preceded by one only when the main thread wrote something, or another thread may still be
 * reading. The set of barriers grows until no event has a conflict; then those are dropped, inner
 * loops first, without which none has.  A barrier that only the first iteration of a loop needs
 * stands before the loop. */
#include "codegen/ir/spmd/plan.h"

static bool conflicts(const struct spmd_event *e, const struct spmd_pending *s)
{
    spmd_mask both = e->reads | e->writes;
    switch (e->kind) {
    case SPMD_LOAD:
    case SPMD_LOAD_CELLS: return e->reads & (s->written_by_main | s->region);
    case SPMD_GUARDED:
    case SPMD_RESET:
    case SPMD_MAIN_LOOP:
    case SPMD_STORE_CELLS: return (e->writes & s->read_by_all) | (both & s->region);
    default: return both & (s->written_by_main | s->read_by_all | s->read_by_main | s->region);
    }
}

static void run_event(const struct spmd_event *e, struct spmd_pending *s)
{
    if (e->barrier)
        *s = (struct spmd_pending){ 0 };
    switch (e->kind) {
    case SPMD_LOAD:
    case SPMD_LOAD_CELLS: s->read_by_all |= e->reads; break;
    case SPMD_GUARDED:
    case SPMD_RESET:
    case SPMD_MAIN_LOOP:
    case SPMD_STORE_CELLS:
        s->read_by_main |= e->reads;
        s->written_by_main |= e->writes;
        break;
    default: s->region |= e->reads | e->writes; break;
    }
    if (e->kept) /* the main thread goes on alone */
        *s = (struct spmd_pending){ .written_by_main = e->writes,
                                    .read_by_main = e->reads,
                                    .region = e->kept };
    if (e->barrier_after)
        *s = (struct spmd_pending){ 0 };
}

/* True when `into` grew. */
static bool merge_pending(struct spmd_pending *into, const struct spmd_pending *from)
{
    struct spmd_pending old = *into;
    into->written_by_main |= from->written_by_main;
    into->read_by_all |= from->read_by_all;
    into->read_by_main |= from->read_by_main;
    into->region |= from->region;
    return old.written_by_main != into->written_by_main || old.read_by_all != into->read_by_all ||
           old.read_by_main != into->read_by_main || old.region != into->region;
}

/* What may be pending at each block's start, with the barriers that there are. */
static void propagate_pending(struct spmd_plan *p)
{
    for (unsigned b = 0; b < p->nblocks; b++)
        p->blocks[b].in = (struct spmd_pending){ 0 };
    for (bool again = true; again;) {
        again = false;
        for (unsigned b = 0; b < p->nblocks; b++) {
            struct spmd_pending s = p->blocks[b].in;
            for (unsigned e = 0; e < p->blocks[b].nevents; e++)
                run_event(&p->blocks[b].events[e], &s);
            for (unsigned i = 0, n = spmd_successors(&p->blocks[b]); i < n; i++)
                again |= merge_pending(&spmd_successor(p, &p->blocks[b], i)->in, &s);
        }
    }
}

/* ------------------------------------------------------------------ placement */
/* The outermost loop around a block that encounters no parallel region. */
static const struct ir_loop *outermost_loop_without_region(const struct spmd_plan *p,
                                                           unsigned block)
{
    const struct ir_loop *found = NULL;
    for (unsigned i = 0; i < p->loops.n; i++) {
        const struct ir_loop *l = &p->loops.at[i];
        if (l->body[block] && (!found || l->size > found->size) && !spmd_has_region(p, l))
            found = l;
    }
    return found;
}

static bool has_conflict(const struct spmd_plan *p, unsigned block, unsigned event)
{
    struct spmd_pending s = p->blocks[block].in;
    for (unsigned e = 0; e < event; e++)
        run_event(&p->blocks[block].events[e], &s);
    return conflicts(&p->blocks[block].events[event], &s);
}

/* A barrier before the loop around the event, if that is enough. */
static bool hoist_barrier(struct spmd_plan *p, unsigned block, unsigned event)
{
    const struct ir_loop *l = outermost_loop_without_region(p, block);
    if (!l || l->preheader < 0)
        return false;
    struct spmd_block *before = &p->blocks[l->preheader];
    spmd_add_event(before, before->nevents,
                   (struct spmd_event){ .kind = SPMD_LOAD,
                                        .at = LLVMGetBasicBlockTerminator(before->at),
                                        .group = -1,
                                        .barrier = true });
    propagate_pending(p);
    if (!has_conflict(p, block, event))
        return true;
    before->nevents--;
    propagate_pending(p);
    return false;
}

static bool add_barrier(struct spmd_plan *p)
{
    for (unsigned b = 0; b < p->nblocks; b++) {
        struct spmd_pending s = p->blocks[b].in;
        for (unsigned e = 0; e < p->blocks[b].nevents; e++) {
            struct spmd_event *event = &p->blocks[b].events[e];
            if (!event->barrier && conflicts(event, &s))
                return hoist_barrier(p, b, e) || (p->blocks[b].events[e].barrier = true);
            run_event(event, &s);
        }
    }
    return false;
}

static bool any_conflict(const struct spmd_plan *p)
{
    for (unsigned b = 0; b < p->nblocks; b++) {
        struct spmd_pending s = p->blocks[b].in;
        for (unsigned e = 0; e < p->blocks[b].nevents; e++) {
            if (!p->blocks[b].events[e].barrier && conflicts(&p->blocks[b].events[e], &s))
                return true;
            run_event(&p->blocks[b].events[e], &s);
        }
    }
    return false;
}

static unsigned depth_of(const struct spmd_plan *p, unsigned block)
{
    unsigned depth = 0;
    for (unsigned i = 0; i < p->loops.n; i++)
        depth += p->loops.at[i].body[block];
    return depth;
}

/* A barrier that was needed when it was placed may not be any more: one that followed parts the
 * same accesses. */
static void drop_barriers_at(struct spmd_plan *p, unsigned depth)
{
    for (unsigned b = 0; b < p->nblocks; b++)
        for (unsigned e = 0; depth_of(p, b) == depth && e < p->blocks[b].nevents; e++) {
            if (!p->blocks[b].events[e].barrier)
                continue;
            p->blocks[b].events[e].barrier = false;
            propagate_pending(p);
            p->blocks[b].events[e].barrier = any_conflict(p);
        }
}

void spmd_place_barriers(struct spmd_region *r, struct spmd_plan *p)
{
    do
        propagate_pending(p);
    while (add_barrier(p));
    for (unsigned depth = p->loops.n + 1; depth-- > 0;) /* those of inner loops first */
        drop_barriers_at(p, depth);
    propagate_pending(p);
    for (unsigned b = 0; b < p->nblocks; b++)
        for (unsigned e = 0; e < p->blocks[b].nevents; e++)
            r->barriers += p->blocks[b].events[e].barrier + p->blocks[b].events[e].barrier_after;
}

/* ------------------------------------------------------------------ cost */
static bool block_reaches(const struct spmd_plan *p, const struct spmd_block *from,
                          const struct spmd_block *to)
{
    for (unsigned i = 0, n = spmd_successors(from); i < n; i++) {
        struct spmd_block *next = spmd_successor(p, from, i);
        if (next == to)
            return true;
        if (next->visited || next->has_region)
            continue;
        next->visited = true;
        if (block_reaches(p, next, to))
            return true;
    }
    return false;
}

/* Is there a parallel region in the innermost loop around the block?  Then its barriers are there
 * in some iterations anyway. */
static bool near_region(const struct spmd_plan *p, unsigned block)
{
    const struct ir_loop *inner = NULL;
    for (unsigned i = 0; i < p->loops.n; i++)
        if (p->loops.at[i].body[block] && (!inner || p->loops.at[i].size < inner->size))
            inner = &p->loops.at[i];
    return inner && spmd_has_region(p, inner);
}

LLVMValueRef spmd_find_costly_barrier(struct spmd_plan *p)
{
    for (unsigned b = 0; b < p->nblocks; b++) {
        struct spmd_block *block = &p->blocks[b];
        LLVMValueRef at = NULL;
        for (unsigned e = 0; e < block->nevents; e++)
            if (block->events[e].barrier && !at)
                at = block->events[e].at;
        if (!at || block->has_region || near_region(p, b))
            continue;
        for (unsigned i = 0; i < p->nblocks; i++)
            p->blocks[i].visited = false;
        if (block_reaches(p, block, block))
            return at;
    }
    return NULL;
}
