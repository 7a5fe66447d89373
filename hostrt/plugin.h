/* plugin.h - what a kind of device implements (hostrt/cuda/plugin.c, hostrt/emu/plugin.c) and the
 * core calls (hostrt/core/target.c, data.c).
 *
 * Every function returns 0 on success.  On failure it leaves a message (call and error) with
 * ompgpu_plugin_error(), which the core prints with region, file and line.  Unless noted, calls may
 * come from any host thread, several at once; the core may hold locks of its own meanwhile, so that
 * a plugin calls nothing of the core but what takes none: error.c, env.c, ranges.c. */
#ifndef OMPGPU_PLUGIN_H
#define OMPGPU_PLUGIN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "hostrt/image.h"
#include "hostrt/mailbox.h"

/* The first parameter of a kernel, by value: struct __ompgpu_env of devicertl/ompgpu_device.h,
 * which explains its members. */
enum { OMPGPU_SCRATCH_HEADER = 128 }; /* bytes of the scratchpad before the slots */
/* in the scratchpad of a scan by all teams (devicertl/scan.c): words of 8 bytes for a record, at
 * most, and records for so many tiles */
enum { OMPGPU_SCAN_WORDS = 6, OMPGPU_SCAN_TILES = 1024, OMPGPU_SCAN_RECORDS = 1024 + 32 };
struct ompgpu_env {
    void *scratch;
    unsigned device_num, thread_limit;
    void *heap;
    unsigned long heap_bytes, heap_fixed, heap_copies;
    unsigned *heap_locks, heap_places;
    unsigned trip;
    struct ompgpu_divisor {
        unsigned multiplier, shift;
    } inner[3];
    unsigned begin[4];
    unsigned long first;
    unsigned rest;
    unsigned cancellation;
    struct ompgpu_mailbox *mailbox;
    unsigned dynamic_bytes; /* also for the plugin: team-shared memory beside the kernel's own */
    unsigned team_memory;   /* of these, the last ones */
};
/* of an allocator with traits, which the host makes and devicertl/alloc.c reads */
enum { OMPGPU_ALLOCATOR_BYTES = 37 * 8 };
struct ompgpu_device_info { /* immutable after open() */
    char name[64];
    unsigned arch; /* 90 …; 0 emu */
    unsigned multiprocessors, max_threads_per_team, max_threads_per_mp, registers_per_mp, warp_size;
    size_t shared_per_team, total_memory;
    bool unified; /* kernels can access all memory of the host */
    bool packs;   /* small mappings are to lie together: a copy costs more than its bytes */
};
enum { OMPGPU_UID = 48 }; /* bytes */
struct ompgpu_identity {
    char uid[OMPGPU_UID]; /* of this device and no other */
    char isa[16];         /* "sm_90"; "": none */
};
struct ompgpu_kernel_where { /* for messages of a running kernel */
    const char *kernel, *file, *function, *directive;
    unsigned line;
};
struct ompgpu_wide { /* of a wide form: `streams` of its entry */
    unsigned lanes, n;
    struct ompgpu_stream streams[OMPGPU_STREAMS];
};
struct ompgpu_function { /* a loaded kernel on one device */
    void *handle;        /* plugin's */
    const struct ompgpu_kernel_entry *entry;
    struct ompgpu_kernel_where where;
    unsigned registers, max_threads, static_shared; /* as the device reports */
    unsigned dynamic_shared; /* plugin's: bytes that launches have been given beyond the usual */
    /* that a thread needs: function() says what is known, from the device and the entry; the core
     * adds to it where the need is not known.  launch() provides it. */
    size_t stack_bytes;
    unsigned teams_per_mp_cache[33]; /* occupancy by warps a team, 0: not asked yet */
    struct ompgpu_wide wide;
    unsigned tile_shift;  /* of a tiled form: log2 of the width */
    unsigned lanes;       /* of a form in which several run an iteration; else 0 */
    unsigned roomy_warps; /* a team of our choice (core/geometry.c), 0: not chosen yet */
    /* core/lanes.c: 8 bits: lanes, the rest: of which rows; and how often rows were read */
    uint64_t lanes_known;
    unsigned lanes_reads;
    const uint32_t *sizes; /* of the parameters but the first, 0 at the end; where wants_sizes */
};
struct ompgpu_foreign { /* for interop objects */
    int id;             /* omp_interop_fr_t; -1: none of those */
    int vendor;         /* -1: none */
    const char *name, *vendor_name;
    intptr_t device; /* -1: none */
    void *context, *stream;
};
enum ompgpu_fork { OMPGPU_FORK_BEFORE, OMPGPU_FORK_PARENT, OMPGPU_FORK_CHILD };
struct ompgpu_plugin {
    const char *name;     /* "cuda", "emu" */
    unsigned image_kinds; /* bit per enum ompgpu_image_kind */
    bool wants_sizes;     /* launches need `sizes` of their function */
    /* Opens the library that the devices need.  Before num_devices(), with no lock held, maybe by
     * several threads at once.  May be NULL. */
    void (*find)(void);
    /* Number of devices; 0 when the driver is missing (no error).  Called once, under the core's
     * start-up lock. */
    int (*num_devices)(void);
    /* Before open(), too.  NULL: not known. */
    int (*identify)(int ordinal, struct ompgpu_identity *);
    /* once per device before first use */
    int (*open)(int ordinal, struct ompgpu_device_info *);
    void (*close)(int ordinal); /* at exit; may be NULL */
    /* Load an image chosen by `pick` (index of the image in the container, or -1 when none suits
     * this device). `data` stays valid.  load, unload and function: no lock of the core is held. */
    int (*pick)(int ordinal, const struct ompgpu_image_header *);
    int (*load)(int ordinal, const struct ompgpu_image_header *, int image, const void *data,
                size_t size, void **module);
    void (*unload)(int ordinal, void *module);
    int (*function)(int ordinal, void *module, const char *name, struct ompgpu_function *out);
    int (*variable)(int ordinal, void *module, const char *name, void **address, size_t *size);
    int (*alloc)(int ordinal, size_t size, void **address); /* aligned to 256 */
    int (*free)(int ordinal, void *address);
    /* Memory at one address for host and device.  Both may be slow to reach it: what the host wrote
     * is there for later launches, what a kernel wrote is there after sync.  May be NULL. */
    int (*alloc_shared)(int ordinal, size_t size, void **address);
    int (*free_shared)(int ordinal, void *address);
    /* Reverse offload, for devices without such memory.  mailbox_open: a new mailbox at `address`
     * of the device, for the lock `m->lock`.  mailbox_next: gives the device the answer to the
     * request in `m`, where there is one, and waits some time for the next one, which is in `m`
     * then; 0: none has come. */
    int (*mailbox_open)(int ordinal, const struct ompgpu_mailbox *m, void **address);
    int (*mailbox_next)(int ordinal, struct ompgpu_mailbox *m);
    /* Ordered before later calls of this host thread, complete after sync; until then `src` stays
     * as it is, but for a single pointer on the caller's stack, which may go at once. */
    int (*to_device)(int ordinal, void *dst, const void *src, size_t size);
    /* ordered after earlier calls of this host thread, complete after sync */
    int (*from_device)(int ordinal, void *dst, const void *src, size_t size);
    /* The same for a few bytes that will be wanted after sync: then they are at *host, until the
     * next launch of this host thread, of 16 KB at most.  NULL: they are not.  If it fails, sync or
     * from_device says why.  May be NULL. */
    void (*prefetch)(int ordinal, const void *src, size_t size, const void **host);
    /* ordered as to_device; ranges do not overlap */
    int (*device_copy)(int ordinal, void *dst, const void *src, size_t size);
    /* From another device, ordered as to_device, after what has been waited for there.  NULL: the
     * core copies by way of the host. */
    int (*peer_copy)(int ordinal, void *dst, int from, const void *src, size_t size);
    /* teams that fit on one multiprocessor with `threads` threads a team */
    unsigned (*occupancy)(int ordinal, struct ompgpu_function *, unsigned threads);
    /* params[0] points to the struct ompgpu_env, then the kernel's arguments, then NULL.  launch
     * may be asynchronous; sync waits for this host thread's work on the device and reports what
     * failed since. */
    int (*launch)(int ordinal, struct ompgpu_function *, unsigned teams, unsigned threads,
                  void **params);
    int (*sync)(int ordinal);
    /* Queues: work that no host thread waits for.  What is put into a queue is done in that order,
     * each after the one before it has ended; queues are independent of each other and of what host
     * threads do otherwise, but for events.  To put something into one takes no time to speak of
     * and waits for nothing.  After a failure nothing more of the queue is done, its calls
     * included, and the events that were recorded after it say so.  One host thread uses a queue
     * at a time.  All may be NULL: the device has no queues. */
    int (*queue_create)(int ordinal, void **queue);
    void (*queue_destroy)(int ordinal, void *queue); /* does what is in it first */
    /* `src` is read and `dst` is written in their turn, and not earlier. */
    int (*queue_to_device)(int ordinal, void *queue, void *dst, const void *src, size_t size);
    int (*queue_from_device)(int ordinal, void *queue, void *dst, const void *src, size_t size);
    int (*queue_copy)(int ordinal, void *queue, void *dst, const void *src, size_t size);
    /* as launch; params and what they point to stay until it has ended */
    int (*queue_launch)(int ordinal, void *queue, struct ompgpu_function *, unsigned teams,
                        unsigned threads, void **params);
    /* A function of the host, which calls nothing of the plugin, on a thread of the plugin's.  What
     * is put into the queue later comes after it. */
    int (*queue_call)(int ordinal, void *queue, void (*function)(void *), void *argument);
    /* Another one, outside of the order: it is called when `event`, which was the last to be put
     * into this queue, has come, NULL: at once; later work need not wait for it. */
    int (*queue_notify)(int ordinal, void *queue, void *event, void (*function)(void *),
                        void *argument);
    int (*queue_wait)(int ordinal, void *queue, void *event); /* where it was recorded last */
    int (*event_create)(int ordinal, void **event);
    void (*event_destroy)(int ordinal, void *event);
    int (*event_record)(int ordinal, void *event, void *queue);
    /* The host waits for it; nonzero also when what is before it failed. */
    int (*event_wait)(int ordinal, void *event);
    /* What other libraries know the device and a queue (NULL: none) by.  NULL: nothing. */
    int (*foreign)(int ordinal, void *queue, struct ompgpu_foreign *);
    /* For OMPGPU_INFO: what the device counted in this host thread's last launch, beginning with a
     * comma.  May be NULL. */
    const char *(*counts)(void);
    /* Around a fork of the process: before it, with all locks of the core held, the plugin takes
     * its own; after it they are released.  The child has lost all other threads.  May be NULL. */
    void (*fork)(enum ompgpu_fork when);
    /* Memory of the runtime's own, which kernels of all threads use as they like: nothing of it is
     * checked (OMPGPU_CHECK).  May be NULL. */
    void (*trust)(int ordinal, void *address, size_t size);
    /* The program is given the address: where the device's memory could be the host's, too, the
     * host's accesses are to fail.  May be NULL. */
    void (*expose)(int ordinal, void *address);
    /* The host has changed what was copied there, or it is known no more that it has.  May be NULL
     * but for the emulated device. */
    void (*outdate)(int ordinal, void *address, size_t size, bool is);
    /* The address that this host thread's last launch, or what it waited for with event_wait, was
     * not allowed to use; false: it did not fail, or otherwise.  May be NULL. */
    bool (*fault)(uintptr_t *address);
};
extern const struct ompgpu_plugin ompgpu_cuda_plugin, ompgpu_emu_plugin;
struct ompgpu_line { /* of source */
    char file[160];
    unsigned line, column;
};
/* Of an instruction of the host program, or a library of it; false: they have no line tables. */
bool ompgpu_host_line(const void *pc, struct ompgpu_line *);
/* kept per host thread */
void ompgpu_plugin_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *ompgpu_plugin_message(void);

/* -------------------------------------------------------------- the emulated device and its images
 * An emu image is an ELF shared object.  It exports, both set by the plugin after loading, `struct
 * ompgpu_emu_ops *__ompgpu_emu_ops` and `long __ompgpu_emu_self_at`, where from an OS thread's
 * thread pointer on the plugin has the pointer to the struct ompgpu_emu_thread that runs there; and
 * a function per kernel: where threads may wait, `void KERNEL(void **params)`, called for each of
 * them on a stack of its own, or `void *__ompgpu_start_KERNEL(void **params)`, which returns where
 * the thread waits, and its frame, whose first word is the function `void (void *frame)` by which
 * it goes on until it waits again or has ended; where none waits, `void
 * __ompgpu_span_KERNEL(void **params, const struct ompgpu_emu_span *)`. */
enum { OMPGPU_EMU_WARP = 32, OMPGPU_EMU_MAX_THREADS = 1024 }; /* of a team */
enum { OMPGPU_EMU_FRAME_ALIGN = 64 }; /* of what frame() gives, and of no local in it more */
/* The addresses of device memory and of stacks, [WINDOW, WINDOW + WINDOW_BYTES): those whose bits
 * from SHIFT on are NUMBER.  Device code checks pointers of unknown origin with that comparison. */
#define OMPGPU_EMU_WINDOW_SHIFT 43
#define OMPGPU_EMU_WINDOW_NUMBER 4
#define OMPGPU_EMU_WINDOW_BYTES ((uint64_t)1 << OMPGPU_EMU_WINDOW_SHIFT)
#define OMPGPU_EMU_WINDOW (OMPGPU_EMU_WINDOW_NUMBER * OMPGPU_EMU_WINDOW_BYTES)
/* Where in it stacks and team-shared variables begin; before them is device memory. */
#define OMPGPU_EMU_STACKS_AT (OMPGPU_EMU_WINDOW_BYTES / 2)
#define OMPGPU_EMU_SHARED_AT (OMPGPU_EMU_WINDOW_BYTES / 4 * 3)
/* Host addresses with these bits set are nobody's, and canonical: the fault tells the address. */
#define OMPGPU_EMU_REFUSED ((uint64_t)0xFFFF800000000000)
/* Combinations of words, numbered as __OMPGPU_REDUX_* of devicertl/ompgpu_device.h. */
enum ompgpu_emu_redux {
    OMPGPU_EMU_ADD,
    OMPGPU_EMU_AND,
    OMPGPU_EMU_OR,
    OMPGPU_EMU_XOR,
    OMPGPU_EMU_MIN,
    OMPGPU_EMU_MAX,
    OMPGPU_EMU_UMIN,
    OMPGPU_EMU_UMAX
};
struct ompgpu_emu_thread {            /* what device code may read; one per emulated thread */
    uint32_t tid, ntid, team, nteams; /* x dimension only */
    const uint32_t *value;            /* the result of its last warp operation */
    void **records;                   /* a place for each thread of the team */
    char *shared; /* the team's variables: as many bytes as the image says (SHARED_BYTES) */
    /* For races (hostrt/emu/race.c): its current phase, the first one of the kernel and the team's
     * first one since a barrier, each where a cell has it; 0: not known. */
    uint32_t stamp, floor, team_floor;
};
/* Where races are looked for, a word at WINDOW + d has a cell of 64 bits at CELLS + 2 * d.  Its
 * lower half says who accessed it last: phase 17 | thread 10 | part 3 | kind 2 bits; part: which
 * bytes of it, 0 all, 1 and 2 the halves, 3 to 6 the bytes, 7 those that several teams have read:
 * thread has a bit for each; kind: below.  The upper half has the lower half of the site's
 * address. */
#define OMPGPU_EMU_CELLS (OMPGPU_EMU_WINDOW + 2 * OMPGPU_EMU_WINDOW_BYTES)
enum { OMPGPU_EMU_READ_BY_TEAMS = 7 }; /* a part */
enum { OMPGPU_EMU_PHASE_SHIFT = 15, OMPGPU_EMU_THREAD_SHIFT = 5, OMPGPU_EMU_PART_SHIFT = 2 };
enum ompgpu_emu_last {
    OMPGPU_EMU_READ,
    OMPGPU_EMU_READ_BY_MANY,
    OMPGPU_EMU_WRITE,
    OMPGPU_EMU_UPDATE
};
#define OMPGPU_EMU_SHARED_BYTES "__ompgpu_emu_shared_bytes" /* a uint64_t; none: 0 */
/* a uint64_t: of these, the first ones are the user's */
#define OMPGPU_EMU_STORAGE_BYTES "__ompgpu_emu_storage_bytes"
/* Of checked images: the user's variables, as struct ompgpu_emu_object, with OMPGPU_EMU_GUARD bytes
 * or more after each; then one that ends at 0. */
#define OMPGPU_EMU_OBJECTS "__ompgpu_emu_objects"
/* after other objects, too (object() below); so many after a thread's copies of reduced arrays */
enum { OMPGPU_EMU_GUARD = 64, OMPGPU_EMU_GUARDS_OF_THREAD = 4 };
struct ompgpu_emu_object {
    uint64_t begin, end; /* in the block */
    const char *name;    /* "": it has none */
};
#define OMPGPU_EMU_SPAN "__ompgpu_span_"
#define OMPGPU_EMU_START "__ompgpu_start_"
/* The threads for which a kernel in which none waits is called: those numbered [tid, tid_end) of
 * each of the teams [team, team_end). */
struct ompgpu_emu_span {
    uint32_t team, team_end, tid, tid_end;
};
/* tid of struct ompgpu_emu_thread while several threads run at once */
enum { OMPGPU_EMU_SOME_THREAD = 0x7fffffff };
/* What a thread waits in; the operands of each are those of the member of struct ompgpu_emu_ops. */
enum ompgpu_emu_wait {
    OMPGPU_EMU_BARRIER,
    OMPGPU_EMU_SHUFFLE,
    OMPGPU_EMU_BALLOT,
    OMPGPU_EMU_SYNCWARP,
    OMPGPU_EMU_REDUX,
    OMPGPU_EMU_YIELD,
    /* of the lanes in mask: the last to come does not wait, nor do the others go on … */
    OMPGPU_EMU_MEET,
    OMPGPU_EMU_PART, /* … until it says so; until then it waits in nothing else */
    OMPGPU_EMU_WAITS
};
/* Device memory, the lower half of the window, has a shadow: for each byte one, so far after it,
 * which is 0 where the byte may be read and written. */
#define OMPGPU_EMU_SHADOW OMPGPU_EMU_WINDOW_BYTES
/* A 32-bit variable of images whose code is checked: what their accesses are tested for, as far as
 * there is room for what the tests need. */
#define OMPGPU_EMU_CHECKED "__ompgpu_emu_checked"
enum { OMPGPU_EMU_TEST_SHADOW = 1, OMPGPU_EMU_TEST_RACES = 2 };
/* What it is in the file, where all that lies in team heaps is told to object() below. */
enum { OMPGPU_EMU_HAS_GUARDS = 4 };
/* Is in images with -g whose code is checked: their threads run in random order by default. */
#define OMPGPU_EMU_DEBUG "__ompgpu_emu_debug"
enum {
    OMPGPU_EMU_READS = 1, /* and the value matters */
    OMPGPU_EMU_WRITES = 2,
    OMPGPU_EMU_ATOMIC = 4,
    OMPGPU_EMU_TRUSTED = 8,    /* code of the device runtime */
    OMPGPU_EMU_VALUE = 16,     /* what it writes is known when it is checked */
    OMPGPU_EMU_ALIGN_SHIFT = 8 /* from there on: log2 of the alignment */
};
struct ompgpu_emu_site {       /* of accesses, in checked images (codegen/ir/passes/checks.c) */
    const char *file, *object; /* object: a local or a variable of so many bytes; "" */
    uint64_t object_size;
    uint32_t line, column, flags;
    uint32_t said; /* bit per enum ompgpu_check: it has been reported */
};
/* size 0: not all of it may be used and has a value; begin 0: none.  apart: the size, or 0 where
 * other kernels may store there meanwhile */
struct ompgpu_emu_extent {
    uint64_t begin, size, apart;
};
/* What a function of string.h does: it reads a text of at most so many bytes, or so many bytes;
 * copies a text, fills up what is left of so many bytes, or puts it after the text that is there */
enum ompgpu_emu_text {
    OMPGPU_EMU_TEXT_READ,
    OMPGPU_EMU_TEXT_BYTES,
    OMPGPU_EMU_TEXT_COPIED,
    OMPGPU_EMU_TEXT_PADDED,
    OMPGPU_EMU_TEXT_APPENDED
};
enum { OMPGPU_EMU_ABI = 9 };
struct ompgpu_emu_ops {
    uint32_t abi; /* OMPGPU_EMU_ABI */
    /* named barrier 0…15 of the team; nthreads 0: all threads that have not exited */
    void (*barrier)(unsigned id, unsigned nthreads, int line);
    /* Rendezvous of the lanes in mask (all of them call with the same mask); returns the value that
     * lane `src` passed. src outside mask: own value. */
    uint32_t (*shuffle)(uint32_t mask, uint32_t value, uint32_t src_lane);
    uint32_t (*ballot)(uint32_t mask, int predicate);
    void (*syncwarp)(uint32_t mask);
    /* lanes of this warp that are ready to run the same point; at least the caller's bit */
    uint32_t (*activemask)(void);
    /* spinning: let other threads of the team run (and, across teams, the OS thread) */
    void (*yield)(void);
    /* stop the kernel with an error */
    __attribute__((noreturn)) void (*fail)(const char *message, int line);
    /* the values of the lanes in mask, combined; op: enum ompgpu_emu_redux */
    uint32_t (*redux)(uint32_t op, uint32_t mask, uint32_t value);
    /* A pointer that lies outside of the window and is about to be used: itself where it is of the
     * device (variables of an image, parameters), else one that faults. */
    void *(*outside)(void *);
    /* memory of the device's heap; NULL: there is none */
    void *(*alloc)(size_t);
    void (*free)(void *);
    /* A thread without a stack of its own comes to where it may have to wait.  True: it has to, and
     * returns; what it waited for has a result in struct ompgpu_emu_thread. */
    bool (*arrive[OMPGPU_EMU_WAITS])(uint32_t, uint32_t, uint32_t);
    uint32_t (*meet)(uint32_t mask); /* 1 for the last lane, 0 for the others */
    void (*part)(uint32_t mask);
    void *(*frame)(size_t size); /* for what such a thread keeps */
    /* between teams: shared variables have no value */
    void (*renew)(void);
    /* An access whose shadow is not 0, or that is misaligned; or any. */
    void (*check)(void *, size_t, struct ompgpu_emu_site *);
    void (*check_copy)(void *to, const void *from, size_t, struct ompgpu_emu_site *);
    /* An access at that offset, which does not lie in the site's object. */
    void (*check_bounds)(uint64_t offset, struct ompgpu_emu_site *);
    void (*written)(void *); /* functions of the C library get it */
    /* Any access that threads may share, before it is made; value: what it stores, if it says so.
     */
    void (*race)(void *, size_t, struct ompgpu_emu_site *, uint64_t value);
    void (*fenced)(void);
    size_t (*block_size)(const void *);          /* of alloc's, as it was asked for */
    void *(*dynamic)(void);                      /* dynamic_bytes of the environment; NULL: 0 */
    void (*unwritten)(struct ompgpu_emu_site *); /* a read of the site's object, a local */
    /* until it says otherwise, fences of the caller order it with its team only */
    void (*in_team)(bool is);
    /* the allocation that a pointer points into */
    struct ompgpu_emu_extent (*block)(const void *);
    /* Memory from p + size on is nobody's, up to `end`; what: for messages; fresh: it has no value.
     * NULL: nothing; size 0: what was there is no more. */
    void (*object)(void *p, size_t size, const void *end, const char *what, bool fresh);
    void (*forget)(void *from, const void *end); /* of a stack: nothing is known of it */
    void (*check_text)(void *to, const void *from, size_t most, unsigned how,
                       struct ompgpu_emu_site *reads, struct ompgpu_emu_site *writes);
};
#endif
