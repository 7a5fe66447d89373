/* async.c - cp.async: copies from global to shared memory that go on beside the thread (PTX
 * ISA 8.x, section 9.7.9.25).  The bytes arrive as late as they may, when the thread waits for
 * them; until then what is in their place is undefined, so that a wait that is missing shows. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/isa.h"
#include "hostrt/ptx/race/race.h"

struct async {
    struct copy {
        unsigned lane, group, size, given; /* bytes, of which `given` come and the rest are zero */
        struct bytes to, from;
    } *copies;
    unsigned n, room;
    unsigned committed[WARP]; /* groups of each lane */
};

void ptx_async_free(struct warp *w)
{
    if (w->async)
        free(w->async->copies);
    free(w->async);
}

static struct copy *new_copy(struct warp *w)
{
    if (!w->async && !(w->async = calloc(1, sizeof *w->async)))
        abort();
    struct async *a = w->async;
    if (a->n == a->room) {
        a->room = a->room ? 2 * a->room : 64;
        if (!(a->copies = realloc(a->copies, a->room * sizeof *a->copies)))
            abort();
    }
    return &a->copies[a->n++];
}

static struct bytes resolve_in(struct group *g, const struct instruction *i, unsigned lane,
                               enum space space, uint64_t at, unsigned size)
{
    struct instruction one = *i;
    one.space = space;
    return ptx_resolve(g, &one, lane, at, size);
}

/* Operands: [shared], [global], size [, bytes that come]. */
HANDLER(copy_async)
{
    uint64_t to[WARP], from[WARP];
    unsigned size = (unsigned)source(g, &i->s[0])[0];
    if (!ptx_addresses(g, i, &i->memory, m, to) || !ptx_addresses(g, i, &i->memory2, m, from))
        return;
    if (ptx_counting) {
        ptx_count_access(g, i, m, from, size, S_GLOBAL);
        ptx_count_access(g, i, m, to, size, S_SHARED);
    }
    EACH_LANE(l, m) {
        unsigned given = i->nsources > 1 ? (unsigned)source(g, &i->s[1])[l] : size;
        struct copy c = { .lane = l, .size = size, .given = given < size ? given : size };
        c.to = resolve_in(g, i, l, S_SHARED, to[l], size);
        if (c.given)
            c.from = resolve_in(g, i, l, S_GLOBAL, from[l], size);
        if (!c.to.data || (c.given && !c.from.data))
            return;
        if (ptx_racing)
            ptx_race_copy(g, i, l, c.to.data, size, c.from.data, c.given);
        memset(c.to.shadow, SHADOW_UNDEFINED, size);
        struct copy *kept = new_copy(g->warp);
        c.group = g->warp->async->committed[l];
        *kept = c;
    }
}

HANDLER(commit_group)
{
    struct async *a = g->warp->async;
    (void)i;
    if (a)
        EACH_LANE(l, m)
            a->committed[l]++;
}

static void finish(const struct copy *c)
{
    memset(c->to.data, 0, c->size);
    memset(c->to.shadow, SHADOW_DEFINED, c->size);
    if (!c->given)
        return;
    memcpy(c->to.data, c->from.data, c->given);
    if (c->from.shadow)
        memcpy(c->to.shadow, c->from.shadow, c->given);
}

/* All groups of a lane but the last n have arrived; wait_all: those not committed, too. */
HANDLER(wait_group)
{
    struct async *a = g->warp->async;
    bool all = i->op == OP_WAIT_ALL;
    unsigned pending = all ? 0 : (unsigned)source(g, &i->s[0])[0], left = 0;
    for (unsigned k = 0; a && k < a->n; k++) {
        const struct copy *c = &a->copies[k];
        if ((m >> c->lane & 1) && (all || c->group + pending < a->committed[c->lane]))
            finish(c);
        else
            a->copies[left++] = *c;
    }
    if (a)
        a->n = left;
}

bool ptx_select_async(struct instruction *i)
{
    switch (i->op) {
    case OP_COMMIT: i->run = commit_group; return !i->nsources;
    case OP_WAIT: i->run = wait_group; return i->nsources == 1;
    case OP_WAIT_ALL: i->run = wait_group; return !i->nsources;
    default:
        i->run = copy_async;
        return i->op == OP_COPY && i->nsources >= 1 && i->s[0].kind == O_CONST &&
               i->memory2.base.kind;
    }
}
