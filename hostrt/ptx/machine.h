/* machine.h - the PTX machine: executes PTX text the way a GPU may, on the CPU, and reports what a
 * GPU would punish.  It is a library of its own (libompgpu-ptx.so) that offers the CUDA driver
 * calls of hostrt/cuda/calls.def; the cuda plugin loads it in place of libcuda.so.1.  It shares no
 * code with the emulated device: independence is the point.
 *
 *   driver.c    the CUDA driver calls: devices, modules, memory; launch.c: launches
 *   stream.c    what the host has asked for, in the order of each stream; event.c: events
 *   beyond.h    driver calls that libompgpu does not make, for CUDA programs
 *   program.h   a loaded module; parse/ makes it from the text
 *   isa.c       which handler executes an instruction (the tables are isa.def and modifiers.def)
 *   alu/        arithmetic, bits, comparison, moves, conversion
 *   access.c    loads, stores, atomics; async.c: copies that go on beside the thread;
 *               memory.c: the spaces and what is checked
 *   control.c   branches, calls, exit; sync.c: barriers, shuffles, votes
 *   exec.c      teams (CTAs), warps, diverged groups, their scheduling; deadlock
 *   race/       OMPGPU_CHECK=race: which accesses nothing orders
 *   weak.c      OMPGPU_PTX_MEMORY=weak: stores that others see late
 *   library.c   __assertfail, malloc, free; print.c: vprintf
 *   report.c    errors with kernel, PTX line, source line, team and thread
 *   profile/    counters: what they are (count.c), sums by kernel and source line, the reports
 *
 * Execution.  A warp's lanes with the same frame and program counter are a group; a group executes
 * one instruction for all its lanes at once (registers are arrays of 32 lanes).  Groups of a warp
 * that diverged run in an order chosen by a seed and join when they meet; nothing joins them by
 * force.  An instruction is `handler(group, instruction, lanes)`.
 *
 * Every register has a mask of lanes that hold an undefined value ("poison": never written, or
 * computed from poison or from undefined memory); memory has a shadow byte for each byte.  Moving
 * poison is legal, using it in a branch, an address or a barrier is reported. */
#ifndef OMPGPU_PTX_MACHINE_H
#define OMPGPU_PTX_MACHINE_H
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include "hostrt/cuda/driver.h"
#include "hostrt/ptx/program.h"

#define EXPORT __attribute__((visibility("default")))
enum { PTX_SHARED_LIMIT = 48 * 1024, PTX_MULTIPROCESSORS = 4, PTX_RESIDENT_THREADS = 2048 };

/* ------------------------------------------------------------------ execution */
struct frame { /* of one call by a group; its lanes share it also after they diverge */
    struct function *function;
    struct frame *caller;
    const struct instruction *call_site; /* in the caller */
    unsigned return_pc;
    lanes live; /* lanes that have not returned */
    unsigned depth;
    uint64_t (*regs)[WARP]; /* by register */
    lanes *poison;          /* by register: lanes whose value is undefined, in part at least … */
    unsigned char *poison_bytes; /* … and which bytes, by register and lane; where poison says so */
    lanes *preds, *pred_poison;
    unsigned char *params; /* [WARP][frame_params] */
    unsigned char *param_shadow;
    uint32_t local_base[WARP]; /* of each lane's frame in its local memory */
    size_t room_regs, room_preds, room_params;
    struct frame *next_free;
};
enum group_state { G_READY, G_BARRIER, G_WARP_SYNC };
struct group {
    struct warp *warp;
    struct frame *frame;
    unsigned pc;
    lanes mask;
    enum group_state state;
    const struct instruction *waits_at;
    unsigned barrier;
    lanes members; /* G_WARP_SYNC: lanes that must come */
    uint64_t ran;  /* the scheduler's turn in which it ran last, for fairness */
    bool yield;    /* set by a handler: ask the scheduler */
    struct group *next_free;
};
struct warp {
    struct team *team;
    unsigned number;
    lanes live;
    lanes carry; /* condition code CC.CF of each lane */
    struct group **groups;
    unsigned ngroups, room;
    uint64_t steps;           /* instructions executed */
    uint64_t turns;           /* of the scheduler */
    uint32_t stack_top[WARP]; /* of local memory */
    struct async *async;      /* copies that cp.async began; NULL: none (async.c) */
};
struct barrier {
    unsigned arrived;    /* threads that wait or have said arrive */
    unsigned expected;   /* threads as the instruction says; 0: all of the team */
    unsigned absent;     /* lanes that warps which said arrive do not have, or not any more */
    unsigned yes;        /* bar.red: threads whose predicate holds */
    struct known *known; /* race check: what those know that said arrive */
};
struct launch;
struct team {
    struct launch *launch;
    struct worker *worker;
    unsigned id[3], number;
    unsigned nthreads, nwarps, live;
    struct warp *warps;
    struct barrier barriers[16];
    unsigned char *shared, *shared_shadow;
    size_t shared_size;
    struct race_team *race;                /* race check */
    struct store_buffer **stores;          /* weak memory: by thread; NULL: none yet */
    unsigned char **local, **local_shadow; /* by thread */
    uint32_t *local_room;
};
struct launch {
    struct device *device;
    struct function *entry;
    unsigned grid[3], block[3];
    unsigned dynamic_shared;
    unsigned char *params;
    uint64_t seed;
    unsigned next_team, nteams;
    bool cooperative;   /* all teams run at the same time and meet … */
    uint64_t workspace; /* … here, in global memory */
    int error;          /* first CUresult */
    unsigned races;
    uint64_t number;
};
/* ------------------------------------------------------------------ streams (stream.c) */
struct moment {    /* in a stream, at which an event was recorded */
    unsigned uses; /* by the event and by work */
    bool done;
    uint64_t when; /* it was done, in nanoseconds */
};
struct work { /* that the host has asked a stream for */
    enum {
        WORK_UPLOAD,
        WORK_DOWNLOAD,
        WORK_COPY,
        WORK_LAUNCH,
        WORK_CALL, /* of a function of the host */
        WORK_RECORD,
        WORK_WAIT /* for a moment, which may be in another stream */
    } kind;
    uint64_t to, from; /* in device memory */
    size_t size;
    void *data, *host_to; /* WORK_UPLOAD: a copy; WORK_DOWNLOAD */
    struct launch launch;
    void (*call)(void *);
    void *argument;
    struct moment *moment;
    struct work *next;
};
CUstream ptx_stream_new(struct device *);
void ptx_stream_free(CUstream);
struct device *ptx_stream_device(CUstream);
CUresult ptx_stream_add(CUstream, struct work); /* takes data, launch.params, one use of moment */
void ptx_stream_finish(CUstream);
void ptx_stream_finish_all(const struct device *);
bool ptx_moment_is_done(struct moment *); /* asked often enough, it is */
void ptx_moment_finish(struct moment *);
void ptx_moment_release(struct moment *); /* one use less */

/* The device of the calling thread's context; the error of calls for it. */
struct device *ptx_current(CUresult *);

struct worker { /* one host thread that runs teams */
    struct launch *launch;
    pthread_t thread;
    uint64_t random;
    struct counter *counters; /* by instruction; NULL: not counted */
    struct frame *free_frames;
    struct group *free_groups;
};
uint64_t ptx_random(uint64_t *state);
uint64_t ptx_nanoseconds(void);
int ptx_run(struct launch *); /* all teams; 0 or a CUresult */
/* A frame for a call by `m`, with its local memory; NULL after a fault. */
struct frame *ptx_frame_new(struct group *, const struct instruction *, struct function *, lanes m);
void ptx_frame_leave(struct warp *, struct frame *, lanes m); /* frees it when it was the last */
struct group *ptx_group_add(struct warp *, struct frame *, unsigned pc, lanes);
/* Lanes m of the group become a group of their own that executes instruction i again. */
void ptx_group_retry(struct group *, const struct instruction *, lanes m);
void ptx_lanes_exit(struct group *, lanes);
void ptx_async_free(struct warp *);                     /* copies that were never waited for */
void ptx_barrier_check(struct team *, unsigned number); /* after arrivals and exits */
/* Lanes have exited: what the others of the warp were waiting for may have happened. */
void ptx_exit_release(struct warp *);

/* ------------------------------------------------------------------ operands in handlers */
static inline const uint64_t *source(const struct group *g, const struct operand *o)
{
    return o->kind == O_REG ? g->frame->regs[o->index] : o->lanes;
}
static inline lanes source_poison(const struct group *g, const struct operand *o)
{
    return o->kind == O_REG ? g->frame->poison[o->index] : 0;
}
static inline uint64_t *target_of(const struct group *g, const struct operand *o)
{
    return g->frame->regs[o->index];
}
static inline lanes predicate(const struct group *g, const struct operand *o)
{
    if (o->kind == O_CONST)
        return o->value ? ALL_LANES : 0;
    return o->negated ? ~g->frame->preds[o->index] : g->frame->preds[o->index];
}
static inline lanes predicate_poison(const struct group *g, const struct operand *o)
{
    return o->kind == O_PRED ? g->frame->pred_poison[o->index] : 0;
}
static inline unsigned char *poison_bytes(const struct group *g, const struct operand *o,
                                          unsigned lane)
{
    return &g->frame->poison_bytes[o->index * WARP + lane];
}
/* Lanes of m are written; those of bad with a value that is undefined as a whole. */
static inline void set_poison(const struct group *g, const struct operand *o, lanes m, lanes bad)
{
    if (o->kind == O_PRED) {
        g->frame->pred_poison[o->index] = (g->frame->pred_poison[o->index] & ~m) | (bad & m);
    } else if (o->kind == O_REG) {
        g->frame->poison[o->index] = (g->frame->poison[o->index] & ~m) | (bad & m);
        if (bad & m)
            EACH_LANE(l, bad & m)
                *poison_bytes(g, o, l) = 0xff;
    }
}

/* Which of the low `size` bytes of a lane's value are undefined: a bit for each. */
static inline unsigned char undefined_bytes(const struct group *g, const struct operand *o,
                                            unsigned lane, unsigned size)
{
    bool bad = source_poison(g, o) >> lane & 1;
    return bad ? (unsigned char)(*poison_bytes(g, o, lane) & ((1u << size) - 1)) : 0;
}
/* Lanes of m are written; of those of bad these bytes are undefined, if any. */
static inline void set_undefined_bytes(const struct group *g, const struct operand *o, lanes m,
                                       lanes bad, const unsigned char *bytes)
{
    lanes still = 0;
    EACH_LANE(l, bad & m)
        still |= (lanes)(bytes[l] != 0) << l;
    set_poison(g, o, m, still);
    if (o->kind == O_REG)
        EACH_LANE(l, still)
            *poison_bytes(g, o, l) = bytes[l];
}

/* ------------------------------------------------------------------ memory */
enum { SIZE_CLASSES = 48 };
struct print_buffer { /* text of kernels that the host has not seen yet (print.c) */
    struct printed *first, *last;
    size_t bytes;
};
void ptx_print_flush(struct device *);
void ptx_print_end(void); /* the program ends */
struct device {
    int ordinal;
    unsigned arch;
    bool retained;
    int lost; /* sticky error */
    size_t stack_limit, heap_limit;
    uint64_t memory; /* its part of the arena */
    size_t memory_size;
    size_t memory_top; /* what follows has not been used yet */
    struct print_buffer printed;
    struct free_list {
        struct free_block *first, *last;
        size_t n;
    } free_blocks[SIZE_CLASSES];
};
/* Each byte of memory has a shadow byte. */
enum shadow {
    SHADOW_NONE,    /* not allocated */
    SHADOW_PADDING, /* between the end of a variable and the next multiple of its alignment */
    SHADOW_UNDEFINED,
    SHADOW_DEFINED,
    SHADOW_HOST /* the host writes there at any time: always defined */
};
/* The arena of global and constant memory, in which each device has its part; addresses are host
 * addresses. */
extern unsigned char *ptx_arena, *ptx_arena_shadow;
extern size_t ptx_arena_size;
void ptx_memory_init(struct device *, unsigned ndevices);
uint64_t ptx_global_alloc(struct device *, size_t size); /* 0: none left */
bool ptx_global_free(uint64_t address);                  /* false: no block begins there */
static inline bool ptx_is_global(uint64_t address)
{
    return address - (uint64_t)(uintptr_t)ptx_arena < ptx_arena_size;
}
static inline unsigned char *ptx_shadow_of(uint64_t address)
{
    return ptx_arena_shadow + (address - (uint64_t)(uintptr_t)ptx_arena);
}
bool ptx_global_is_allocated(uint64_t address, size_t size);
void ptx_global_define(uint64_t address, size_t size);
void ptx_global_share(uint64_t address, size_t size); /* with the host, for good */

/* Where `size` bytes at `address` of a lane are, with their shadow; NULL after a fault was
 * reported: misaligned, out of bounds, a host address. */
struct bytes {
    unsigned char *data, *shadow; /* shadow NULL: always defined */
};
struct bytes ptx_resolve(struct group *, const struct instruction *, unsigned lane,
                         uint64_t address, unsigned size);
/* The lanes' addresses of a memory operand; false after a fault: one is undefined. */
bool ptx_addresses(struct group *, const struct instruction *, const struct memory_operand *, lanes,
                   uint64_t *at);
/* Makes room for `bytes` of a lane's local memory. */
bool ptx_local_reserve(struct group *, const struct instruction *, unsigned lane, uint64_t bytes);

/* ------------------------------------------------------------------ errors (report.c) */
/* Prints what happened, where, and who did it, and ends the launch with the error. */
void ptx_fault(struct group *, const struct instruction *, unsigned lane, CUresult, const char *fmt,
               ...) __attribute__((format(printf, 5, 6)));
/* False after a fault: a lane of m has no defined value there. */
bool ptx_operand_is_defined(struct group *, const struct instruction *, const struct operand *,
                            lanes m, const char *what);
void ptx_deadlock(struct team *);
/* The launch goes on: there may be more. */
struct race;
void ptx_report_race(const struct race *);

/* ------------------------------------------------------------------ counters (profile/) */
enum instruction_class {
    C_OTHER,
    C_INTEGER,
    C_FLOAT,
    C_CONTROL,
    C_LOAD,
    C_STORE,
    C_ATOMIC,
    C_SYNC,
    NCLASSES
};
struct counter {              /* of one instruction */
    uint64_t warps, threads;  /* executed by warps, by threads */
    uint64_t diverged;        /* branches that part of a warp's lanes took */
    uint64_t requests;        /* of a warp to global or local memory … */
    uint64_t sectors, needed; /* … 32-byte sectors that they touched; bytes that they asked for,
                               * where what neighbouring lanes share counts once */
    uint64_t shared, replays; /* requests to shared memory; passes beyond the necessary */
    uint64_t updates, met;    /* atomics: by threads; those at an address of an earlier lane */
    uint64_t strided;         /* sectors of requests whose lanes are `stride` bytes apart */
    int64_t stride;
    unsigned element; /* bytes of one access with this stride */
};
extern bool ptx_counting;
void ptx_count_access(struct group *, const struct instruction *, lanes, const uint64_t *address,
                      unsigned size, enum space);
static inline void ptx_count_divergence(struct group *g, const struct instruction *i)
{
    if (ptx_counting)
        g->warp->team->worker->counters[i->index].diverged++;
}
void ptx_profile_launch(struct launch *, const struct counter *); /* of one worker */
void ptx_profile_module(struct module *);                         /* before it is unloaded */
void ptx_profile_end(void);

/* ------------------------------------------------------------------ settings */
struct settings {
    unsigned arch, devices, workers;
    bool scheduled; /* OMPGPU_PTX_SCHEDULE */
    uint64_t seed;
    bool profile;
    const char *profile_file;
};
extern struct settings ptx_settings;
#endif
