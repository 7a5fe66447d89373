/* weak.h - OMPGPU_PTX_MEMORY=weak: a thread's stores to global and shared memory become visible to
 * the others late and out of order.
 *
 * Each thread has a buffer of stores.  It sees its own at once; one after the other reaches memory
 * at random, all of them when something orders them: a fence, a store with .release and an atomic
 * update with .acq_rel (before it), a barrier, bar.warp.sync, the end of the team; not exit. Stores
 * to the same bytes keep their order.  Loads are not delayed, atomic updates are done at once: not
 * all that PTX allows, but what a missing fence before a flag, an arrival or an exchange of values
 * leads to.
 *
 * The race check does without: a program without races has nothing that could be seen late. */
#ifndef OMPGPU_PTX_WEAK_H
#define OMPGPU_PTX_WEAK_H
#include "hostrt/ptx/machine.h"

extern bool ptx_weak;
struct store_buffer;
/* `size` bytes, up to 8, of a value; a bit of `undefined` for each byte that is. */
void ptx_weak_store(struct group *, unsigned lane, struct bytes, unsigned size, uint64_t value,
                    unsigned char undefined);
/* What the lane sees at b: itself, or `own` with the lane's stores in it. */
struct weak_view {
    _Alignas(16) unsigned char data[32];
    unsigned char shadow[32];
};
struct bytes ptx_weak_look(const struct group *, unsigned lane, struct bytes b, unsigned size,
                           struct weak_view *own);
/* Stores that overlap reach memory: an atomic update follows. */
void ptx_weak_drain_at(struct group *, unsigned lane, const unsigned char *data, unsigned size);
void ptx_weak_drain(struct warp *, lanes); /* all of them */
void ptx_weak_turn(struct warp *);         /* some of them, by chance */
void ptx_weak_team_end(struct team *);
#endif
