/* emu.h - private to the emulated device: what its files know of each other.
 *
 *   emu/plugin.c  the plugin's vtable: devices, modules, launch
 *   emu/window.c  which addresses device memory and stacks have
 *   emu/memory.c  device memory: allocation, poison, range checks
 *   emu/shadow.c  what is known of each byte of device memory, for OMPGPU_CHECK
 *   emu/guard.c   room after variables that is nobody's
 *   emu/check.c   accesses of checked images that need a closer look; messages
 *   emu/race.c    which accesses nothing orders
 *   emu/order.c   … which kernels and copies
 *   emu/transfer.c … what copies access
 *   emu/image.c   loading of ELF images, kernels and variables in them
 *   emu/pool.c    OS threads that share the teams of a launch
 *   emu/queue.c   queues of work and their events
 *   emu/team.c    one team: its threads, barriers and warp operations
 *   emu/fiber.c   stacks and the context switch
 *   emu/gate.c    pointers of device code that lie outside of the window
 *   emu/lines.c   the source line of an instruction
 *   emu/fault.c   signals raised by device code
 *   emu/closed.c  memory that the host has addresses of, closed to it
 *
 * In: calls of the core (hostrt/plugin.h); calls of device code through struct ompgpu_emu_ops, on
 * the stack of an emulated thread.  Out: calls of an image's kernels.  Locks: those of a device's
 * memory, of a module, of the pool, of the queues and of the fault handlers; none is held while
 * device code runs.
 *
 * One OS thread that runs teams owns one `struct emu_worker`.  A team stays on its OS thread from
 * start to end, with its team-shared variables; nothing in a worker is shared, so nothing in it is
 * locked. */
#ifndef OMPGPU_EMU_H
#define OMPGPU_EMU_H
#include <pthread.h>
#include <stdatomic.h>
#include "hostrt/core/core.h"

#if defined(__SANITIZE_ADDRESS__)
#define EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define EMU_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EMU_TSAN 1
#endif
#endif

#pragma GCC visibility push(hidden)

/* The emulated hardware.  Fixed, so that geometry and therefore results are the same on every
 * machine. */
enum {
    EMU_WARP = OMPGPU_EMU_WARP,
    EMU_MAX_THREADS = OMPGPU_EMU_MAX_THREADS,
    EMU_WARPS = EMU_MAX_THREADS / EMU_WARP,
    EMU_BARRIERS = 16,
    EMU_MULTIPROCESSORS = 4,
    EMU_THREADS_PER_MP = 2048,
    EMU_TEAMS_PER_MP = 32,
    EMU_REGISTERS_PER_MP = 65536,
    EMU_SHARED_BYTES = 48 * 1024,
    EMU_MAX_DEVICES = 8,
};

/* ------------------------------------------------------------------ settings (plugin.c) */
struct emu_settings { /* from the environment, read once */
    size_t memory;    /* OMPGPU_EMU_MEMORY: bytes of one device */
    /* OMPGPU_EMU_STACK: bytes of a fiber's stack, a multiple of the page size */
    size_t stack;
    /* OMPGPU_EMU_THREADS: OS threads that run teams, the launching one included */
    unsigned threads;
    unsigned devices; /* OMPGPU_EMU_DEVICES */
    /* OMPGPU_EMU_SPEED: of each device, in percent */
    unsigned speeds[EMU_MAX_DEVICES];
    /* OMPGPU_EMU_SCHEDULE=random:SEED; order: not even where an image asks for it */
    bool random, ordered;
    uint64_t seed;
    unsigned hang_seconds; /* OMPGPU_HANG_SECONDS, 0: no watchdog */
};
const struct emu_settings *ompgpu_emu_settings(void);

/* ------------------------------------------------------------------ addresses (emu/window.c) */
enum { EMU_HUGE = 2 << 20, EMU_GAP = 64 << 10 };
enum emu_area { EMU_FOR_MEMORY, EMU_FOR_STACKS, EMU_FOR_SHARED };
/* Pages with access between gaps without; munmap gives them back.  NULL: there are none. */
void *ompgpu_emu_window_map(enum emu_area, size_t size);

/* ------------------------------------------------------------------ memory (emu/memory.c) */
enum {
    EMU_POISON = 0xCB,        /* bytes of fresh device memory */
    EMU_POISON_SHARED = 0xA5, /* bytes of team-shared storage when a team starts */
    EMU_SMALL_CLASSES = 8     /* classes of 256 bytes … 32 KB */
};
struct emu_block {
    struct ompgpu_range range; /* of `size` bytes, rounded up to what is reserved */
    size_t size;
    bool fixed;   /* a segment of an image, not an allocation */
    bool trusted; /* the runtime's own: its kernels' code knows who uses what */
    bool heap;    /* of malloc in device code */
    bool open;    /* the host may use it, too: it lies on pages of its own */
    /* so many bytes from the beginning on have a value, as was seen at that time (emu/shadow.c) */
    size_t defined;
    unsigned seen;
};
struct emu_memory {
    pthread_mutex_t lock;        /* guards all below */
    struct ompgpu_ranges blocks; /* live ones */
    size_t in_use, limit;
    void *free[EMU_SMALL_CLASSES]; /* lists through the first word … */
    void *last[EMU_SMALL_CLASSES]; /* … and their ends */
    void *slabs;                   /* list through the first word of each slab */
};
int ompgpu_emu_memory_init(struct emu_memory *, size_t limit);
void ompgpu_emu_memory_fini(struct emu_memory *);
int ompgpu_emu_memory_alloc(struct emu_memory *, size_t size, bool open, void **address);
int ompgpu_emu_memory_free(struct emu_memory *, void *address);
/* Of a block that is live, as it was asked for; false: it is none. */
bool ompgpu_emu_memory_size(struct emu_memory *, const void *address, size_t *size);
/* A range of an image is device memory, too. */
int ompgpu_emu_memory_add(struct emu_memory *, void *base, size_t size);
void ompgpu_emu_memory_remove(struct emu_memory *, void *base);
/* p lies in a live block. */
bool ompgpu_emu_memory_owns(struct emu_memory *, const void *p);
/* The live block that has p. */
bool ompgpu_emu_memory_block(struct emu_memory *, const void *p, struct emu_block *);
void ompgpu_emu_memory_trust(struct emu_memory *, const void *base);
int ompgpu_emu_owner(const void *p); /* plugin.c: the device whose memory has p; -1: none */
/* Closes the mapping that the block lies in to the host (closed.c). */
void ompgpu_emu_memory_expose(struct emu_memory *, const void *base);
void ompgpu_emu_memory_note_heap(struct emu_memory *, const void *base);
/* The block that p points into (struct ompgpu_emu_extent). */
struct ompgpu_emu_extent ompgpu_emu_memory_extent(struct emu_memory *, const void *p);
/* 0 if [address, address + size) lies in one live block, else an error that starts with `what`. */
int ompgpu_emu_memory_check(struct emu_memory *, const void *address, size_t size,
                            const char *what);

/* ------------------------------------------------------------------ shadow (emu/shadow.c) */
/* Values of shadow bytes; 0: the byte has a value, or is not ours to judge. */
enum emu_shadow {
    EMU_DEFINED,
    EMU_OUTDATED, /* the host has changed what was copied there */
    EMU_UNDEFINED,
    EMU_GUARD = 4,
    EMU_FREED = 8
};
enum { EMU_GUARD_BYTES = 64 };
/* From now on there is a shadow; until then, the calls below do nothing.  False: there is no room
 * for it. */
bool ompgpu_emu_shadow_start(void);
bool ompgpu_emu_shadowed(void);
void ompgpu_emu_shadow_set(void *, size_t, enum emu_shadow);
void ompgpu_emu_shadow_define(void *, size_t);               /* what was undefined */
void ompgpu_emu_shadow_outdate(void *, size_t, bool is);     /* what has a value */
void ompgpu_emu_shadow_copy(void *to, const void *, size_t); /* what the bytes are */
void ompgpu_emu_shadow_drop(void *, size_t);                 /* the memory is no longer there */
/* Of memory with a shadow: how many bytes may be used and have a value, until one does not. */
size_t ompgpu_emu_shadow_defined(const void *, size_t);
/* Changes when live memory that had a value has none any more. */
unsigned ompgpu_emu_shadow_time(void);
static inline bool ompgpu_emu_is_memory(const void *p) /* of devices: it can have a shadow */
{
    return (uintptr_t)p - OMPGPU_EMU_WINDOW < OMPGPU_EMU_STACKS_AT;
}
/* Also of team-shared variables. */
static inline bool ompgpu_emu_keeps_values(const void *p)
{
    uint64_t offset = (uintptr_t)p - OMPGPU_EMU_WINDOW;
    return ompgpu_emu_is_memory(p) ||
           (offset >= OMPGPU_EMU_SHARED_AT && offset < OMPGPU_EMU_WINDOW_BYTES);
}
/* Also of stacks, on which there are guards. */
static inline bool ompgpu_emu_keeps_shadow(const void *p)
{
    return (uintptr_t)p - OMPGPU_EMU_WINDOW < OMPGPU_EMU_WINDOW_BYTES;
}
static inline const unsigned char *ompgpu_emu_shadow_of(const void *p)
{
    return (const unsigned char *)p + OMPGPU_EMU_SHADOW;
}

/* ------------------------------------------------------------------ guards (emu/guard.c) */
/* As in struct ompgpu_emu_ops. */
void ompgpu_emu_object(void *, size_t, const void *end, const char *what, bool fresh);
void ompgpu_emu_forget(void *from, const void *end);
struct emu_object {
    uintptr_t begin;
    size_t size;
    const char *what;
};
/* The object that an access to guarded bytes missed; false: it is not known. */
bool ompgpu_emu_object_near(const void *, size_t size, struct emu_object *);

/* ------------------------------------------------------------------ checks (emu/check.c) */
/* As in struct ompgpu_emu_ops. */
void ompgpu_emu_check(void *, size_t, struct ompgpu_emu_site *);
void ompgpu_emu_check_text(void *to, const void *from, size_t most, unsigned how,
                           struct ompgpu_emu_site *reads, struct ompgpu_emu_site *writes);
void ompgpu_emu_check_copy(void *, const void *, size_t, struct ompgpu_emu_site *);
void ompgpu_emu_check_bounds(uint64_t, struct ompgpu_emu_site *);
void ompgpu_emu_unwritten(struct ompgpu_emu_site *);
void ompgpu_emu_written(void *);
struct ompgpu_emu_extent ompgpu_emu_extent(const void *);
struct emu_accessor {
    unsigned team, thread;
    bool several; /* teams; which is not known */
    bool beside;  /* in another kernel, which nothing orders with this one */
};
/* other, by: of the earlier access */
void ompgpu_emu_report_race(const void *, size_t, struct ompgpu_emu_site *,
                            struct ompgpu_emu_site *other, const struct emu_accessor *by);

/* ------------------------------------------------------------------ order of kernels (emu/order.c)
 */
enum { EMU_SLOTS = 128 };
/* Of a kernel or a copy: after those of each slot up to the time `before`. */
struct emu_moment {
    unsigned slot;
    uint32_t time, before[EMU_SLOTS];
    uint64_t number;           /* among those of all slots */
    uint64_t others;           /* of other slots, so far */
    bool alone;                /* it is no queue's, and has a slot of its own */
    struct emu_copier *copier; /* of a copy; NULL: of a kernel, or nobody looks at it */
    bool summed;               /* … to the device: what it copies had this sum when it was put */
    uint64_t sum;
};
/* What the launch or copy that this thread is about to make was given in its queue; NULL: it is in
 * none. */
extern _Thread_local struct emu_moment *ompgpu_emu_moment;
unsigned ompgpu_emu_slot_take(void); /* of a queue; 0: none is left */
void ompgpu_emu_slot_give(unsigned);
/* A launch, an event and a wait are put into the queue of that slot; before: of the event. */
void ompgpu_emu_order_next(unsigned slot, struct emu_moment *);
void ompgpu_emu_order_record(unsigned slot, uint32_t *before);
void ompgpu_emu_order_wait(unsigned slot, const uint32_t *before);
void ompgpu_emu_order_alone(struct emu_moment *); /* of a launch or a copy in no queue */
bool ompgpu_emu_order_any(void);                  /* some have not ended */
/* A kernel begins, whose first phase is that: the first phase of all that nothing orders with it.
 * beside: there are queues, or kernels that run. */
uint32_t ompgpu_emu_order_begin(const struct emu_moment *, uint32_t phase, bool *beside);
/* It has ended; of one in a queue, once its memory is no longer in use. */
void ompgpu_emu_order_end(const struct emu_moment *);
void ompgpu_emu_order_linger(const struct emu_moment *); /* before a copy in a queue */
void ompgpu_emu_order_fork(enum ompgpu_fork when);

/* ------------------------------------------------------- copies and races (emu/transfer.c) */
enum emu_direction { EMU_TO_DEVICE, EMU_FROM_DEVICE, EMU_WITHIN_DEVICE };
struct emu_copier { /* a construct or routine that copies */
    struct emu_copier *next;
    struct ompgpu_where where;
    enum emu_direction direction;
    int reported, changed; /* atomic: its races, and that its source has changed, were reported */
};
/* Of the construct that this host thread is at work for; NULL: it copies for the runtime. */
struct emu_copier *ompgpu_emu_copier(enum emu_direction);
struct emu_transfer {
    struct emu_moment own;
    const struct emu_moment *moment; /* NULL: nobody looks at it, as with phase 0 */
    uint32_t phase, floor;
};
/* Around the accesses of a copy, by the thread that makes it. */
void ompgpu_emu_transfer_begin(struct emu_transfer *, enum emu_direction);
void ompgpu_emu_transfer_end(const struct emu_transfer *);
/* What a copy to the device will read, when it is put into a queue and when it begins. */
void ompgpu_emu_source_put(struct emu_moment *, const void *src, size_t size);
void ompgpu_emu_source_read(const struct emu_transfer *, const void *src, size_t size);
void ompgpu_emu_transfer_fork(enum ompgpu_fork when);
/* race.c: `size` bytes at p are read, or get these values, before they have them */
void ompgpu_emu_race_transfer(const struct emu_transfer *, const void *p, size_t size,
                              const void *values);
/* Its phase; 0: none is left.  *floor: all phases before come before it. */
uint32_t ompgpu_emu_race_enter(const struct emu_moment *, uint32_t *floor);
void ompgpu_emu_race_leave(void);
/* check.c: the host has changed what a copy was to read */
void ompgpu_emu_report_changed(struct emu_copier *, const void *src, size_t size);
/* an access of a kernel, s, and an earlier or later copy.  later: the copy is. */
void ompgpu_emu_report_transfer(const void *p, size_t size, struct ompgpu_emu_site *s,
                                struct emu_copier *, bool later);

/* ------------------------------------------------------------------ races (emu/race.c) */
struct emu_module;
struct emu_acquired { /* the latest release that is known, of the own team and of all */
    uint32_t of_team, of_all;
};
struct emu_order { /* of the team that a worker runs */
    uint32_t launch, team, barriers, latest;
    const struct emu_moment *moment;
    /* phases with lower numbers come before all that follows; those of the team do */
    uint32_t floor, team_floor;
    /* the current phase of all threads; of a warp, once it had operations since the last barrier;
     * of a thread, once it fenced since then; 0: it has not accessed anything yet */
    uint32_t phase, warp[EMU_WARPS], thread[EMU_MAX_THREADS];
    uint32_t operations[EMU_WARPS];
    /* releases that are known: to the thread, to all through the last barrier, the latest of any;
     * what the last one knew that released */
    struct emu_acquired acquired[EMU_MAX_THREADS];
    uint32_t acquired_by_all, acquired_by_any, handed_on;
    uint32_t held;                          /* phases that are released to the team only; a list */
    bool fenced, accessed[EMU_MAX_THREADS]; /* accessed: since its last fence */
    /* of each thread: its fences are for the team only, but where it has made an atomic access */
    bool in_team[EMU_MAX_THREADS], atomic[EMU_MAX_THREADS];
};
struct emu_worker;
struct emu_launch;
/* Races are looked for from now on, if OMPGPU_CHECK says so; the calls below do nothing before. */
bool ompgpu_emu_race_start(void);
bool ompgpu_emu_race_looked_for(void);
void ompgpu_emu_race_unload(const struct emu_module *);
void ompgpu_emu_race_begin(struct emu_launch *);
void ompgpu_emu_race_end(const struct emu_launch *);
void ompgpu_emu_race_fork(enum ompgpu_fork when);
void ompgpu_emu_race_barrier(struct emu_worker *);
void ompgpu_emu_race_warp(struct emu_worker *, unsigned warp, uint32_t lanes);
void ompgpu_emu_race_forget(void *, size_t); /* who accessed this memory before */
void ompgpu_emu_race_drop(void *, size_t);   /* … which is no longer there */
/* As in struct ompgpu_emu_ops. */
void ompgpu_emu_race(void *, size_t, struct ompgpu_emu_site *, uint64_t value);
void ompgpu_emu_fenced(void);
void ompgpu_emu_in_team(bool);

/* ------------------------------------------------------------------ images (emu/image.c) */
/* How the threads of a kernel run: all in one call; one by one, each until it waits, without a
 * stack of its own; the same with one. */
enum emu_form { EMU_SPAN, EMU_STACKLESS, EMU_FIBERS };
struct emu_kernel {
    void *entry;        /* a function, whose type … */
    enum emu_form form; /* … depends on this (hostrt/plugin.h) */
    struct emu_module *module;
    struct emu_kernel *next;
};
struct emu_segment {
    void *base;
    size_t size;
    bool code;
    uint64_t *cells; /* by word, for races; NULL: none yet */
};
struct emu_module {
    void *handle; /* of dlopen */
    /* kept open: debuggers read the image through /proc/PID/fd/N */
    int fd;
    char path[512];            /* of its file; "": it has no name */
    const unsigned char *file; /* as it was loaded from; the container's */
    size_t file_size;
    uintptr_t base; /* what its addresses are relative to */
    struct emu_segment segment[8];
    unsigned nsegments;
    const unsigned long *acquired; /* counts locks that threads got; NULL: the image does not say */
    size_t shared_bytes;           /* team-shared variables */
    size_t storage_bytes;          /* of these, the first ones are variables of the user's */
    const struct ompgpu_emu_object *objects; /* … in checked images; NULL */
    bool random;                             /* its threads run in random order by default */
    bool guards; /* what lies in team heaps has room after it (emu/guard.c) */
    pthread_mutex_t lock;
    struct emu_kernel *kernels; /* guarded by lock */
};
int ompgpu_emu_image_load(const void *data, size_t size, struct emu_module **);
void ompgpu_emu_image_unload(struct emu_module *);
int ompgpu_emu_image_kernel(struct emu_module *, const char *name, struct emu_kernel **);
bool ompgpu_emu_image_has(const struct emu_module *, const void *);
/* For races: the cell of a word of its data; NULL: it is not in it. */
uint64_t *ompgpu_emu_image_cell(const struct emu_module *, uintptr_t word);
/* … an instruction */
bool ompgpu_emu_image_has_code(const struct emu_module *, const void *);
int ompgpu_emu_image_variable(struct emu_module *, const char *name, void **address, size_t *size);

/* ------------------------------------------------------------------ lines (emu/lines.c) */
bool ompgpu_emu_line_of(const struct emu_module *, const void *pc, struct ompgpu_line *);

/* ------------------------------------------------------------------ launches (emu/pool.c) */
struct emu_launch {
    const struct emu_kernel *kernel;
    void **params;
    const struct emu_module *module;
    struct emu_memory *memory; /* the device's */
    unsigned teams, threads;
    size_t shared_bytes; /* of a team: variables, from `dynamic` on what the launch asks for */
    size_t dynamic;
    size_t stack; /* of a fiber, at least */
    bool random;
    uint64_t seed;
    unsigned chunk;              /* teams taken at once */
    unsigned long stride, shift; /* random order of teams: i -> (i * stride + shift) % teams */
    atomic_ulong next;           /* first team that no OS thread has taken */
    atomic_bool failed;          /* set once, by the one who then writes message */
    char message[512];           /* read after all have left */
    const struct ompgpu_kernel_where *where;
    const char *file; /* of the region */
    int ordinal;
    /* its number there (emu/race.c); phases before are over */
    uint32_t race, floor;
    bool beside;           /* there may be kernels that nothing orders with it */
    struct emu_moment own; /* where it is in no queue */
    const struct emu_moment *moment;
    bool has_address; /* failed for an access; written with message */
    uintptr_t address;
    /* of all teams: barriers released, changes from one emulated thread to another */
    atomic_ulong barriers, switches;
    unsigned helpers; /* pool threads in this launch; pool lock */
    struct emu_launch *link;
    pthread_cond_t done; /* helpers became 0 */
};
unsigned long ompgpu_emu_common_divisor(unsigned long, unsigned long); /* plugin.c */
/* A thread of ours: signals of the process are the host program's business, but for those that
 * device code raises. */
int ompgpu_emu_thread_start(pthread_t *, void *(*run)(void *), void *argument);
void ompgpu_emu_pool_run(struct emu_launch *);
void ompgpu_emu_pool_stop(void);
void ompgpu_emu_pool_fork(enum ompgpu_fork);
/* Adds to a message how to repeat the order of the threads, where the user has not chosen it. */
enum { EMU_SEED_TEXT = 64 };
void ompgpu_emu_add_seed(const struct emu_launch *, char *text, size_t room);
/* First failure wins, which is told; the rest of the launch stops as soon as it notices. */
bool ompgpu_emu_launch_fail(struct emu_launch *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------------------------ queues (emu/queue.c) */
/* As in struct ompgpu_plugin. */
__typeof__(*ompgpu_emu_plugin.queue_create) ompgpu_emu_queue_create;
__typeof__(*ompgpu_emu_plugin.queue_destroy) ompgpu_emu_queue_destroy;
__typeof__(*ompgpu_emu_plugin.queue_launch) ompgpu_emu_queue_launch;
__typeof__(*ompgpu_emu_plugin.queue_to_device) ompgpu_emu_queue_to_device;
__typeof__(*ompgpu_emu_plugin.queue_from_device) ompgpu_emu_queue_from_device;
__typeof__(*ompgpu_emu_plugin.queue_copy) ompgpu_emu_queue_copy;
__typeof__(*ompgpu_emu_plugin.queue_wait) ompgpu_emu_queue_wait;
__typeof__(*ompgpu_emu_plugin.event_create) ompgpu_emu_event_create;
__typeof__(*ompgpu_emu_plugin.event_destroy) ompgpu_emu_event_destroy;
__typeof__(*ompgpu_emu_plugin.event_record) ompgpu_emu_event_record;
__typeof__(*ompgpu_emu_plugin.event_wait) ompgpu_emu_event_wait;
void ompgpu_emu_queue_fork(enum ompgpu_fork);
/* plugin.c: what this thread's last launch was not allowed to use */
bool ompgpu_emu_fault(uintptr_t *address);
void ompgpu_emu_set_fault(bool known, uintptr_t address);

/* ------------------------------------------------------------------ fibers (emu/fiber.c) */
struct emu_fiber {
    /* of the suspended context; NULL: to be started from its first instruction */
    void *sp;
    char *stack;
    size_t size; /* lowest byte, bytes; the guard lies below */
    /* bytes left free at the top, so that the tops of all stacks do not share one cache set */
    size_t colour;
    struct emu_worker *worker;
    struct emu_fiber *next; /* free list */
#ifdef EMU_ASAN
    void *fake_stack;
#endif
#ifdef EMU_TSAN
    void *tsan;
#endif
};
enum { EMU_SLAB_FIBERS = 32 };
struct emu_slab {
    struct emu_slab *next;
    char *memory;
    size_t size;
    struct emu_fiber fiber[EMU_SLAB_FIBERS];
};
/* Run `to` until it switches back to `from`. */
void ompgpu_emu_fiber_switch(struct emu_fiber *from, struct emu_fiber *to);
/* Back to where `home` was left; what runs now is abandoned. */
_Noreturn void ompgpu_emu_fiber_leave(struct emu_fiber *home);
/* Tell the sanitizers of a jump to home that does not pass fiber_leave (a signal handler's). */
void ompgpu_emu_fiber_leaving(struct emu_fiber *home);
/* code address: jump there with rdi = home->sp */
extern const char ompgpu_emu_fiber_land[];
struct emu_fiber *ompgpu_emu_fiber_take(struct emu_worker *);  /* NULL: out of memory */
void ompgpu_emu_fiber_room(struct emu_worker *, size_t stack); /* no fiber is in use */
void ompgpu_emu_fiber_give(struct emu_worker *, struct emu_fiber *);
void ompgpu_emu_fiber_reset(struct emu_worker *); /* all fibers are abandoned and free again */
void ompgpu_emu_fiber_fini(struct emu_worker *);
size_t ompgpu_emu_fiber_guard(void); /* bytes of the guard below a stack */

/* ------------------------------------------------------------------ teams (emu/team.c) */
enum emu_state {
    EMU_READY,
    EMU_AT_BARRIER,
    EMU_AT_SHUFFLE,
    EMU_AT_BALLOT,
    EMU_AT_SYNCWARP,
    EMU_AT_REDUX,
    EMU_AT_MEETING,
    EMU_EXITED
};
struct emu_thread {               /* a cache line */
    struct ompgpu_emu_thread pub; /* what the image sees */
    struct emu_fiber *fiber;      /* NULL: not started */
    void *frame;                  /* stackless; NULL: not started */
    uint8_t state, barrier;       /* enum emu_state; barrier: where it waits */
    int line;                     /* of the barrier */
    uint32_t mask;                /* of the warp operation */
};
struct emu_queue { /* of threads by number, a ring of EMU_MAX_THREADS places */
    uint16_t *tid;
    uint32_t head, n;
};
/* expected 0: all threads that have not exited */
struct emu_barrier {
    uint32_t expected, arrived;
    struct emu_queue waiting;
};
/* lanes in one warp operation */
struct emu_rendezvous {
    uint32_t mask, arrived;
};
struct emu_fault {
    int signal, code;
    void *address, *pc;
    const void *line_pc; /* in code with lines: where pc is, or was called from; NULL: not known */
    bool overflow;
};
/* What checked code of this launch has asked for, each at the place of its pointer's hash. */
enum { EMU_KNOWN = 32 };
struct emu_known {
    const void *p;
    struct ompgpu_emu_extent extent;
};
struct emu_worker {
    struct emu_worker *next;   /* for debuggers: of all there are (emu/waits.c), and … */
    int number;                /* … the kernel's number of the OS thread */
    struct emu_launch *launch; /* being run */
    char *shared; /* the launch's team-shared variables, in the window; room for so many bytes */
    size_t shared_room;
    struct emu_thread *current; /* device code runs as this thread; NULL: it does not */
    struct emu_fiber home;      /* the OS thread's own stack */
    struct emu_thread *threads; /* [EMU_MAX_THREADS] */
    /* random schedule: the ready lanes of each warp, and the warps that have any */
    uint32_t pool[EMU_WARPS], warps;
    unsigned nthreads, started, live; /* of the team; threads below `started` have been started */
    struct emu_queue ready;           /* round robin, of started threads only */
    /* … before these, lanes that come from a warp operation: from thread `first` on */
    uint32_t released, first;
    struct emu_barrier barrier[EMU_BARRIERS];
    uint16_t *queues; /* the rings of all queues */
    unsigned open;    /* bit per barrier where someone waits */
    /* of each thread, in a warp operation: value becomes the result */
    uint32_t *value, *source;
    void **records; /* of each thread, in the window, since code of the image reads it */
    /* of each warp, by the operation and the lowest lane of the mask */
    struct emu_rendezvous (*rendezvous)[EMU_EXITED][EMU_WARP];
    unsigned spins; /* yields since the OS thread last yielded */
    /* the watchdog's, in milliseconds: when it last yielded and how long it has done nothing else;
     * its time on the processor and the locks got by then; yields since then */
    bool yielding, stuck;
    double yielded, waited, used;
    unsigned long acquired, yields;
    uint64_t random;                  /* state of the generator */
    unsigned ahead, ahead_left;       /* the warp that runs ahead, for so many more choices */
    enum emu_form form;               /* of this launch's kernel */
    bool shuffled;                    /* the launch's threads run in random order */
    char *frames;                     /* of threads without stacks, as far apart as … */
    size_t frame_size, frames_size;   /* … this; of all */
    struct ompgpu_emu_span span;      /* plain: what is being run */
    unsigned long barriers, switches; /* for the launch's; this worker's share */
    bool faulted;
    struct emu_fault fault;
    struct emu_fiber *free;
    struct emu_slab *slabs;
    size_t stack;            /* of each fiber; grows to what a launch needs */
    struct emu_order *order; /* for races; NULL: not yet */
    struct emu_known known[EMU_KNOWN];
    char *signal_stack;
    size_t signal_stack_size;
};
extern _Thread_local struct emu_worker *ompgpu_emu_worker
    __attribute__((tls_model("initial-exec")));
extern _Thread_local struct ompgpu_emu_thread *ompgpu_emu_self
    __attribute__((tls_model("initial-exec"))); /* device code finds who runs by its address */
extern struct ompgpu_emu_ops ompgpu_emu_ops;
/* of this OS thread, made on first use; NULL: out of memory */
struct emu_worker *ompgpu_emu_worker_get(void);
/* [team, end); more than one only where the launch runs its teams in their order and none waits */
void ompgpu_emu_teams_run(struct emu_worker *, unsigned team, unsigned end);
/* Ends the launch, as a fault of the current thread does. */
_Noreturn void ompgpu_emu_thread_fail(struct emu_worker *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void ompgpu_emu_thread_loop(struct emu_worker *); /* what a fiber does */

/* ------------------------------------------------------------------ gates (emu/gate.c) */
void *ompgpu_emu_outside(void *);
/* what a host address became that was no device address, as a processor reports it */
static inline bool ompgpu_emu_is_refused(const void *address)
{
    return (uintptr_t)address >> 47 == OMPGPU_EMU_REFUSED >> 47;
}

/* ------------------------------------------------------------------ waits (emu/waits.c) */
struct emu_place {
    char text[32];
};
extern const char *const ompgpu_emu_state_names[EMU_EXITED];
/* " at line 23"; the device runtime's own barriers have no line. */
struct emu_place ompgpu_emu_place(int line);
/* No thread is ready, some have not ended: the launch fails. */
void ompgpu_emu_report_deadlock(struct emu_worker *);
static inline unsigned ompgpu_emu_barrier_count(const struct emu_worker *w,
                                                const struct emu_barrier *b)
{
    return b->expected ? b->expected : w->live;
}
/* The one who came first. */
static inline struct emu_thread *ompgpu_emu_queue_first(const struct emu_worker *w,
                                                        const struct emu_queue *q)
{
    return &w->threads[q->tid[q->head % EMU_MAX_THREADS]];
}
/* What the threads of the team are doing that this OS thread runs; debuggers call it. */
__attribute__((visibility("default"))) const char *ompgpu_debug_team(void);
/* The same for those that can only read memory: gdb of a core file, or where it cannot call. */
extern __attribute__((visibility("default"))) struct emu_worker *ompgpu_debug_workers;
extern __attribute__((visibility("default"))) const uint32_t ompgpu_debug_layout[];

/* ------------------------------------------------------------------ watchdog (emu/hang.c) */
void ompgpu_emu_hang_begin(struct emu_worker *); /* around teams */
void ompgpu_emu_hang_end(struct emu_worker *);
/* Those that call it, rarely, need not save the registers that they have values in. */
#if __has_attribute(preserve_most)
#define RARE __attribute__((cold, preserve_most))
#else
#define RARE __attribute__((cold))
#endif
RARE void ompgpu_emu_hang_progress(struct emu_worker *);
/* Something else than a yield. */
static inline void ompgpu_emu_progress(struct emu_worker *w)
{
    if (__builtin_expect(w->yielding, 0))
        ompgpu_emu_hang_progress(w);
}
/* All threads here have yielded, so often since the last call, the last from `sp`.  Does not return
 * when nothing goes on. */
void ompgpu_emu_hang_check(struct emu_worker *, unsigned yields, const char *sp);

/* ------------------------------------------------------------------ faults (emu/fault.c) */
void ompgpu_emu_fault_enter(void); /* around a launch: handlers are installed */
void ompgpu_emu_fault_exit(void);
void ompgpu_emu_fault_fork(enum ompgpu_fork);

/* ------------------------------------------------------------ closed memory (emu/closed.c) */
/* From now on the mapping is without access rights except between these two, where an operation of
 * a device uses memory; and until it is unmapped. */
void ompgpu_emu_close(void *base, size_t size);
void ompgpu_emu_use_begin(void);
void ompgpu_emu_use_end(void);
void ompgpu_emu_unmapped(const void *base);
/* In a handler: has the host, at pc, accessed what was closed?  That is reported, and now open. */
bool ompgpu_emu_was_closed(const void *address, const void *pc, bool store);
void ompgpu_emu_closed_fork(enum ompgpu_fork);
/* Whether an address was not to be used: *address, as the program knows it. */
bool ompgpu_emu_fault_address(const struct emu_fault *, uintptr_t *address);
void ompgpu_emu_fault_text(const struct emu_fault *, const struct emu_launch *, char *text,
                           size_t size);

#pragma GCC visibility pop
#endif
