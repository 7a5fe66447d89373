/* race.h - OMPGPU_CHECK=race: two accesses of different threads to the same bytes, one of which
 * writes, race unless something orders them or both are strong (atomic, volatile, ld.relaxed …)
 * in a scope that has both threads (PTX ISA 8.x, chapter 8: the memory consistency model).
 *
 *   known.c   what a thread knows: sets of accesses that came before
 *   order.c   how threads get to know: barriers, fences with atomics, bar.warp.sync
 *   cells.c   who accessed what last; the check of an access
 *   uses.c    which instructions use what a load got; loads.c: loads that are not used yet
 *
 * Clocks.  A team has a clock, which goes on with each synchronisation; a thread stamps its
 * accesses with its epoch, the clock when it synchronised last.  "Team 3 up to 17" stands for all
 * accesses of the team's threads whose epoch is at most 17; so a barrier of a whole team makes one
 * entry of what its threads know, whatever their number.  Entries of a warp and of a thread serve
 * where fewer take part.
 *
 * What orders: barriers of the team (bar, barrier) and bar.warp.sync between those that take part;
 * a fence and a strong write, whose value a strong read and a fence see; the end of a kernel.
 * Shuffles and votes do not: PTX gives them no effect on memory.
 *
 * Two stores of the same value are not reported: threads that all set a flag are common, and no
 * order of them makes a difference.
 *
 * One host thread executes everything, one launch at a time: nothing here takes a lock.  Kernels in
 * different streams are not compared. */
#ifndef OMPGPU_PTX_RACE_H
#define OMPGPU_PTX_RACE_H
#include "hostrt/ptx/machine.h"

extern bool ptx_racing;
void ptx_race_launch_begin(struct launch *);
void ptx_race_launch_end(struct launch *); /* forgets all: the end of a kernel orders everything */
void ptx_race_team_begin(struct team *);
void ptx_race_team_end(struct team *);
/* An access by a lane to bytes of global or shared memory; anything else is the thread's own.
 * `silent`: a store of what is there already. */
void ptx_race_access(struct group *, const struct instruction *, unsigned lane,
                     const unsigned char *data, unsigned size, bool silent);
/* cp.async: a plain load of what comes and a plain store, by the thread that asks for it. */
void ptx_race_copy(struct group *, const struct instruction *, unsigned lane,
                   const unsigned char *to, unsigned size, const unsigned char *from,
                   unsigned given);
/* The lanes execute an instruction with `uses`. */
void ptx_race_use(struct group *, const struct instruction *, lanes);
void ptx_race_allocated(uint64_t address, size_t size); /* nobody has accessed it yet */
void ptx_race_fence(struct group *, const struct instruction *, lanes);
void ptx_race_barrier_arrive(struct group *, struct barrier *, lanes); /* without waiting */
void ptx_race_barrier_complete(struct team *, struct barrier *, unsigned number);
void ptx_race_warp_sync(struct warp *, lanes members);

/* ------------------------------------------------------------------ known.c */
struct known; /* immutable, counted; NULL knows nothing */
struct known *race_hold(struct known *);
void race_drop(struct known *);
void race_learn(struct known **, struct known *more); /* *k and more */
/* … and all that the thread, warp or team has done up to an epoch. */
void race_learn_team(struct known **, unsigned team, uint32_t epoch);
void race_learn_warp(struct known **, unsigned team, unsigned warp, uint32_t epoch);
void race_learn_thread(struct known **, unsigned team, unsigned thread, uint32_t epoch);
/* The lanes of m whose accesses at the epoch are not known. */
lanes race_unknown(const struct known *, unsigned team, unsigned warp, lanes m, uint32_t epoch);

/* ------------------------------------------------------------------ order.c */
struct order { /* of a thread */
    uint32_t epoch;
    struct known *known;
    struct release { /* what its last fence allows strong writes to hand on */
        struct known *known;
        uint32_t epoch;                  /* its own accesses up to here; 0: no fence yet */
    } near, wide;                        /* fences of any scope; of the device's at least */
    struct known *seen_near, *seen_wide; /* by strong reads, known after the next fence */
};
struct race_team {
    struct team *team;
    struct race_team *next; /* teams that have begun and not ended */
    uint32_t clock;
    struct order *threads;
    struct cell *shared; /* by word */
    struct load **loads; /* by slot: of each thread the last load, or NULL */
};
struct sync { /* of a location that strong accesses use */
    struct known *near, *wide;
    unsigned near_team;
};
struct order *race_order(const struct group *, unsigned lane);
/* A strong access: what comes with the value that it reads, what goes with the one it writes. */
void race_synchronise(struct group *, const struct instruction *, unsigned lane, struct sync *);
void race_forget_sync(struct sync *);

/* ------------------------------------------------------------------ cells.c, uses.c, loads.c */
/* Two accesses that nothing orders: the later one, as the machine executed them, and the other. */
struct race {
    const struct team *team;
    const struct instruction *i, *other;
    unsigned thread, size, other_team, other_thread;
    const unsigned char *data;
};
struct load { /* a thread's last one of an instruction */
    const struct instruction *i;
    const unsigned char *data; /* NULL: none, or it has been used */
    uint32_t epoch;
    struct race race; /* with i NULL: none so far */
};
void race_report(const struct race *); /* once for each pair of instructions */
void race_find_uses(struct module *);
/* A load whose value may be used later, and the race that it is part of if it is. */
void race_load_begin(struct team *, const struct instruction *, unsigned thread,
                     const unsigned char *data, uint32_t epoch);
void race_load_raced(struct race_team *, const struct instruction *, unsigned thread,
                     const unsigned char *data, const struct race *);
/* Its value is used: from now on others' writes race with it. */
void race_mark_used(const struct team *, unsigned thread, const struct load *);
static inline bool race_is_wide(const struct instruction *i) { return i->scope != SC_CTA; }
#endif
