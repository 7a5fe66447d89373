/* core.h - what the files of libompgpu's core share with each other.  Nothing here is seen outside
 * hostrt/ and tests/unit.
 *
 * In: the calls of generated host code (hostrt/ompgpu.h), the container of images of each unit
 * (hostrt/image.h), the environment, and the omp_* routines (api.c).  Out: calls of a plugin
 * (hostrt/plugin.h), which is one kind of device, and messages.
 *
 * A program starts with each unit's constructor (register.c).  At the first construct or routine
 * the environment is read (env.c) and a kind of device is chosen (device.c); a device is opened at
 * its first use, and images are loaded then or when a region first runs there (register.c,
 * image.c).  A target region (target.c) enters its data (data.c, ranges.c), gets a form of its
 * kernel (forms.c), a geometry (geometry.c) and buffers (scratch.c), is launched, waited for, and
 * leaves its data; with `nowait` all of that goes into a queue of the device (defer.c, task.c,
 * depend.c).  At the end a destructor gives everything back (device.c).
 *
 * Lock order (a thread takes them only downwards):
 *   0. that of depend.c     who depends on whom
 *   1. ompgpu_start_lock    devices are chosen and opened; then register.c's, under which units
 *                           come and go
 *   2. device->lock         the allocations and queues of one device; with the locks of the parts
 *                           after it, the present table, its counts (parts.c)
 *   3. the locks inside scratch.c, present.c, task.c, returning.c, spread.c, error.c and the
 * plugins, which call nothing of the core
 *
 * The dynamic linker has a lock, too, which a thread holds that runs a library's constructor.  It
 * comes before all of these: libraries are opened, images loaded and names looked up with none of
 * them held (what a driver does when a device is opened is its own affair).
 *
 * A region whose data is mapped takes none of them.  Kernels run and data is copied with no lock
 * held; what is being copied is marked (fill.c).  Only a deferred construct is put into its queue
 * as a whole under device->lock.
 *
 * Functions that can fail return 0 or nonzero and leave the reason with ompgpu_plugin_error(), as
 * plugins do.
 *
 * Sections: memory | errors | environment | checks | tracing | present table (present.h) | threads
 * | devices | tools | data | spread constructs | failures | copies | attached
 * pointers | copies back | copies there | geometry | units */
#ifndef OMPGPU_CORE_H
#define OMPGPU_CORE_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/single_threaded.h>
#pragma GCC visibility push(default) /* what the library exports; all else is hidden */
#include "hostrt/include/ompgpu/ompgpu.h"
#include "hostrt/ompgpu.h"
#pragma GCC visibility pop
#pragma GCC visibility push(hidden)
#include "hostrt/plugin.h"

/* ------------------------------------------------------------------ memory (error.c) */
/* Bytes between what one host thread writes all the time and what others use: two lines of the
 * cache, since processors fetch them by pairs. */
enum { OMPGPU_APART = 128 };
void *ompgpu_xalloc(size_t size); /* zeroed; NULL with a message on failure */
void ompgpu_xfree(void *);
/* Memory of that function's which has not been used yet will be used all over. */
void ompgpu_use_large_pages(void *, size_t size);
/* for tests: fail the n-th allocation from now on (1: the next); 0: never */
extern long ompgpu_xalloc_fail;

/* ------------------------------------------------------------------ errors (error.c) */
struct ompgpu_where { /* the construct at work */
    const char *file;
    unsigned line;
    /* region: kernel name, NULL for data constructs */
    const char *region, *directive;
    unsigned column;                  /* 0: not known */
    const struct ompgpu_chunk *chunk; /* of a spread construct; NULL: it is none */
};
/* The chunk that this host thread is about to give to its device; NULL: none (spread.c). */
struct ompgpu_chunk {
    struct ompgpu_spread *spread;
    unsigned references;   /* atomic */
    unsigned line;         /* of the construct */
    const char *directive; /* its name */
    unsigned long number;
    long start, size; /* omp_spread_start, omp_spread_size */
    int device;
};
extern _Thread_local struct ompgpu_chunk *ompgpu_chunk_ __attribute__((tls_model("initial-exec")));
static inline const struct ompgpu_chunk *ompgpu_chunk_at(unsigned line)
{
    const struct ompgpu_chunk *c = ompgpu_chunk_;
    return __builtin_expect(c != NULL, 0) && c->line == line ? c : NULL;
}
/* Prints "ompgpu: FILE:LINE: error: region NAME: …" and ends the program with status 1.  No lock
 * may be held: exit handlers of the user's may run target regions.  `where` may be NULL. */
void ompgpu_fatal(const struct ompgpu_where *, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
void ompgpu_format(char *out, size_t size, const struct ompgpu_where *, const char *kind,
                   const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void ompgpu_say(const struct ompgpu_where *, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A line of OMPGPU_INFO, to its file. */
void ompgpu_trace(const struct ompgpu_where *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void ompgpu_trace_to(FILE *); /* NULL: standard error again; closes the one before */
/* For the variable that names it; %p in it is the process's number.  NULL, with a warning: it
 * cannot be written. */
FILE *ompgpu_open_output(const char *variable, const char *name);
/* The process is ending: exit handlers and destructors are running, while other threads may still
 * be inside of the runtime. */
void ompgpu_watch_exit(void); /* once, at start-up */
void ompgpu_exit_fork(void);  /* in the child */
void ompgpu_ending(void);     /* the runtime's destructor has begun */
bool ompgpu_exiting(void);
void ompgpu_leave_process(void) __attribute__((noreturn)); /* it is exiting: now */
bool ompgpu_failed(void);                                  /* … because of ompgpu_fatal() */
/* for tests: called instead of print and exit; must not return */
extern void (*ompgpu_fatal_hook)(const char *message);
static inline struct ompgpu_where ompgpu_at_region(const struct ompgpu_region *r)
{
    const struct ompgpu_chunk *c = ompgpu_chunk_at(r->line);
    const char *directive = c ? c->directive : r->directive;
    return (struct ompgpu_where){ r->file, r->line, r->kernel, directive, 0, c };
}
static inline struct ompgpu_where ompgpu_at_place(const struct ompgpu_place *p)
{
    const struct ompgpu_chunk *c = ompgpu_chunk_at(p->line);
    return (struct ompgpu_where){ p->file, p->line, NULL, c ? c->directive : p->directive, 0, c };
}

/* ------------------------------------------------------------------ environment (env.c) */
enum ompgpu_offload { OMPGPU_OFFLOAD_DEFAULT, OMPGPU_OFFLOAD_MANDATORY, OMPGPU_OFFLOAD_DISABLED };
/* PTX: the cuda plugin over the PTX machine (hostrt/ptx), only where OMPGPU_DEVICE asks for it. */
enum ompgpu_device_kind { OMPGPU_KIND_ANY, OMPGPU_KIND_CUDA, OMPGPU_KIND_EMU, OMPGPU_KIND_PTX };
struct ompgpu_settings { /* immutable after start-up; a variable that is not set: 0, pool: -1 */
    long device_kind;    /* OMPGPU_DEVICE */
    long offload;        /* OMP_TARGET_OFFLOAD */
    long default_device; /* OMP_DEFAULT_DEVICE */
    long rank_device;    /* OMPGPU_RANK_DEVICE: 1: auto */
    long cancellation;   /* OMP_CANCELLATION: its lowest bit */
    long info;           /* OMPGPU_INFO */
    long watch;          /* bits OMPGPU_WATCH_*: what wants to know what constructs do */
    /* OMP_NUM_TEAMS, OMP_TEAMS_THREAD_LIMIT */
    long num_teams, teams_thread_limit;
    /* OMPGPU_TEAM_HEAP, OMPGPU_STACK_SIZE: bytes */
    long team_heap, team_memory, stack_size;
    long shared_memory; /* LIBOMPTARGET_SHARED_MEMORY_SIZE: bytes */
    long pool;          /* OMPGPU_POOL: bytes */
    long wait;          /* OMPGPU_WAIT */
    long copy_threads;  /* OMPGPU_COPY_THREADS */
    long lanes;         /* OMPGPU_LANES */
    long on_failure;    /* OMPGPU_ON_FAILURE: enum ompgpu_action */
    long checks;        /* OMPGPU_CHECK: bit per enum ompgpu_check, or OMPGPU_CHECK_UNSAID */
    long on_error;      /* OMPGPU_ON_ERROR */
    long display;       /* OMP_DISPLAY_ENV */
};
enum { OMPGPU_MOST_COPY_THREADS = 64 };
enum { OMPGPU_MOST_TEAM_MEMORY = 64 << 10 };
enum { OMPGPU_WAIT_AUTO, OMPGPU_WAIT_SPIN, OMPGPU_WAIT_BLOCK };
enum { OMPGPU_DISPLAY_TRUE = 1, OMPGPU_DISPLAY_VERBOSE };
struct ompgpu_icvs { /* of one device; 0: not set */
    long num_teams, teams_thread_limit, thread_limit, num_threads;
};
extern struct ompgpu_settings ompgpu_settings;
void ompgpu_read_environment(struct ompgpu_settings *);
/* OMPGPU_RANK_DEVICE=auto: the processes of an MPI job on this machine share the devices. */
void ompgpu_choose_rank_device(int ndevices);
/* Of a library that lies beside libompgpu.so; a program that holds libompgpu.a finds it as any
 * other. */
const char *ompgpu_library_path(const char *name, char *path, size_t size);
/* nodes.c: the plugin for devices of other nodes; NULL: there are none, and *why says why where
 * OMPGPU_NODES asks for them. */
const struct ompgpu_plugin *ompgpu_nodes_plugin(const char **why);
void ompgpu_nodes_leave(void); /* after the last use of it */
extern bool ompgpu_serves;     /* this process is a worker: it maps nothing itself */
/* main() of ompgpu-worker */
__attribute__((visibility("default"))) int __ompgpu_worker(void);
/* select.c: OMP_AVAILABLE_DEVICES.  Which of n devices are used, in their order; their number. */
enum { OMPGPU_MOST_DEVICES = 64 };
int ompgpu_select_devices(const struct ompgpu_plugin *, int n, int *ordinals);
/* After it: of device n, by OMP_…_DEV_n, OMP_…_DEV, OMP_…_ALL, of which the first that is set
 * counts. */
void ompgpu_read_icvs(int device, struct ompgpu_icvs *);
void ompgpu_read_all(void); /* all.c: of the host, by OMP_…_ALL; before a thread is there */
/* host.c: the OpenMP library's routines that regions on the host need; cheap when done */
void ompgpu_host_find(void);
/* icvs.c: nteams-var and teams-thread-limit-var of the device as they are now; 0: not set. */
struct ompgpu_team_icvs {
    int num_teams, thread_limit;
};
struct ompgpu_device;
struct ompgpu_team_icvs ompgpu_team_icvs(const struct ompgpu_device *);
/* Under ompgpu_start_lock: the image's kernels get to them, where any wants to. */
int ompgpu_team_icvs_load(struct ompgpu_device *, const struct ompgpu_image_header *, void *module);
void ompgpu_team_icvs_close(struct ompgpu_device *);
bool ompgpu_is_device_icv(const char *name, size_t length); /* without the ending */
void ompgpu_hint_variables(void);                           /* hint.c: after it */
extern const char *const ompgpu_variable_names[];           /* all of ours; NULL at the end */
void ompgpu_display(bool verbose);                          /* display.c */
/* An environment variable and the `long` that it sets; what is malformed gives a warning and leaves
 * that alone.  Empty counts as not set. */
struct ompgpu_variable {
    const char *name;
    size_t field;         /* offset in the settings */
    const char *words[4]; /* word i means i; none: a number */
    long least, most;     /* of a number; most 0: INT_MAX */
    bool bytes;           /* K, M, G or T may follow the number */
    const char *valid;    /* as the warning lists it */
};
void ompgpu_read_variables(const struct ompgpu_variable *, size_t n, void *settings);
void ompgpu_warn_variable(const char *name, const char *valid); /* about its value */

/* ------------------------------------------------------------------ checks (check.c) */
enum ompgpu_check {
    OMPGPU_CHECK_ADDRESS,
    OMPGPU_CHECK_UNINIT,
    OMPGPU_CHECK_RACE,
    OMPGPU_CHECK_STALE,
    /* what follows only where it is asked for */
    OMPGPU_CHECK_STALE_ALL, /* with STALE: its suspects are mistakes */
    OMPGPU_CHECK_LEAK,
    OMPGPU_CHECKS
};
enum { OMPGPU_CHECK_UNSAID = -1 }; /* OMPGPU_CHECK is not set */
long ompgpu_read_checks(void);     /* for ompgpu_settings.checks */
/* Code compiled with -fompgpu-check has come: what OMPGPU_CHECK does not say is looked for. */
void ompgpu_check_unit(void);
bool ompgpu_is_checked(void); /* some unit's */
/* Before the program ends: with which status it does is to be known in its destructors. */
void ompgpu_check_await_status(void);
bool ompgpu_check_end(void);           /* says how many more there were; was there any? */
bool ompgpu_checks(enum ompgpu_check); /* after start-up */
bool ompgpu_leaves_core(void);         /* a mistake ends the program with abort() */
/* A mistake in the program.  Returns unless OMPGPU_ON_ERROR says otherwise; the program's exit
 * status will be 1.  Any thread may call it, also one that runs device code; a mistake that would
 * be found again and again is the caller's to report once. */
void ompgpu_check_report(enum ompgpu_check, const struct ompgpu_where *, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Of kind STALE, and it may be meant: shown at the end, if the program fails.  The result is its
 * number, for who says later what the mistake is. */
unsigned ompgpu_check_suspect(const struct ompgpu_where *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void ompgpu_check_forget(unsigned suspect);

/* ----------------------------------------------------------------- watching (info.c, profile.c) */
/* What constructs have done, for OMPGPU_INFO and OMPGPU_PROFILE.  Callers ask ompgpu_settings.watch
 * first.  `start`: ompgpu_watch_clock() from before it. */
enum {
    OMPGPU_WATCH_INFO = 1,
    OMPGPU_WATCH_ALL = 2,
    OMPGPU_WATCH_PROFILE = 4,
    OMPGPU_WATCH_STALE = 8
};
struct ompgpu_device;
/* reverse.c: for a launch; NULL where no function of the host can be called */
int ompgpu_reverse_mailbox(struct ompgpu_device *, struct ompgpu_mailbox **);
/* Around each change of a present table.  A region's call of the host is served by a thread that
 * looks into the table, while who has device->lock may wait for the region. */
bool ompgpu_reverse_any(void); /* functions of the host that kernels may call */
bool ompgpu_reverse_lock(void);
void ompgpu_reverse_unlock(bool locked);
void ompgpu_reverse_fork(enum ompgpu_fork when);
void ompgpu_reverse_stop(void); /* at exit: nothing is served any more */
void ompgpu_reverse_close(struct ompgpu_device *);
struct ompgpu_entry;
struct ompgpu_thread;
struct ompgpu_geometry {
    unsigned teams, threads;
};
double ompgpu_clock(void); /* milliseconds */
static inline bool ompgpu_watched(void) { return __builtin_expect(ompgpu_settings.watch != 0, 0); }
static inline double ompgpu_watch_clock(void) { return ompgpu_watched() ? ompgpu_clock() : 0; }
/* later: it was deferred */
void ompgpu_watch_launch(const struct ompgpu_where *, const struct ompgpu_device *,
                         struct ompgpu_function *, struct ompgpu_geometry, double start,
                         bool later);
void ompgpu_watch_reduction(const struct ompgpu_where *, const struct ompgpu_device *,
                            const struct ompgpu_function *, struct ompgpu_geometry,
                            size_t scratchpad);      /* bytes of the slots; 0: none */
void ompgpu_watch_host(const struct ompgpu_where *); /* a region runs on the host */
struct ompgpu_map;
enum ompgpu_way { OMPGPU_FROM_DEVICE, OMPGPU_TO_DEVICE, OMPGPU_BETWEEN_DEVICES };
struct ompgpu_transfer {
    enum ompgpu_way way;
    bool implicit;
    const char *name;
    size_t bytes;
    double start; /* 0: it is in a queue, and nobody knows when it is done */
};
/* With a profile, waits for it. */
int ompgpu_watch_transfer(const struct ompgpu_where *, struct ompgpu_device *,
                          const struct ompgpu_transfer *);
static inline int ompgpu_watch_copy(const struct ompgpu_where *where, struct ompgpu_device *dev,
                                    bool to, const struct ompgpu_map *m, size_t bytes, double start)
{
    const struct ompgpu_transfer t = { to ? OMPGPU_TO_DEVICE : OMPGPU_FROM_DEVICE,
                                       m->flags & OMPGPU_MAP_IMPLICIT, m->name, bytes, start };
    return ompgpu_watched() ? ompgpu_watch_transfer(where, dev, &t) : 0;
}
/* The storage is mapped: nothing is copied.  Who frees memory without `exit data` sees here that
 * the next block at this address takes over its mapping. */
void ompgpu_watch_reuse(const struct ompgpu_where *, const char *name, size_t bytes,
                        const struct ompgpu_entry *);
enum ompgpu_item_event {
    OMPGPU_ITEM_NEW,
    OMPGPU_ITEM_PRESENT,
    OMPGPU_ITEM_POINTER, /* without a map clause; no entry: what it points to is not mapped */
    OMPGPU_ITEM_LEFT,
    OMPGPU_ITEM_MISSING /* exit data or update of what is not mapped */
};
void ompgpu_show_item(const struct ompgpu_where *, enum ompgpu_item_event,
                      const struct ompgpu_map *, const struct ompgpu_entry *);
static inline void ompgpu_watch_item(const struct ompgpu_where *where, enum ompgpu_item_event what,
                                     const struct ompgpu_map *m, const struct ompgpu_entry *e)
{
    if (__builtin_expect((ompgpu_settings.watch & OMPGPU_WATCH_ALL) != 0, 0))
        ompgpu_show_item(where, what, m, e);
}
/* Device memory of a mapping, or of omp_target_alloc; these look for themselves whether anybody
 * watches. */
void ompgpu_watch_alloc(const struct ompgpu_where *, const struct ompgpu_entry *, double start);
void ompgpu_watch_free(const struct ompgpu_entry *);
void ompgpu_watch_start(void); /* after the environment was read */
void ompgpu_watch_end(void);   /* the end of the process: what is mapped still, and the profile */
/* "1.5 MiB" */
char *ompgpu_human_bytes(uint64_t bytes, char *text, size_t size);
/* profile.c: start says whether there is one; the others add to it. */
bool ompgpu_profile_start(void);
void ompgpu_profile_launch(const struct ompgpu_where *, const struct ompgpu_device *,
                           struct ompgpu_function *, struct ompgpu_geometry, double start,
                           bool later);
void ompgpu_profile_host(const struct ompgpu_where *);
void ompgpu_profile_copy(const struct ompgpu_where *, const struct ompgpu_transfer *);
void ompgpu_profile_alloc(const struct ompgpu_where *, const char *name, size_t bytes,
                          double start);
void ompgpu_profile_free(size_t bytes);
void ompgpu_profile_end(void);

#include "hostrt/core/present.h"

/* ------------------------------------------------------------------ host threads (scratch.c) */
enum {
    OMPGPU_FEW = 32,
    OMPGPU_TEAM_HEAP = 64 << 10,
    OMPGPU_THREAD_COPIES = 8 << 10,
    OMPGPU_STACK_SIZE = 8 << 10,
    OMPGPU_PLACES = 4096,
    OMPGPU_RESULTS = 64, /* bits of ompgpu_thread.results */
    OMPGPU_QUICK_ITEMS = 32,
    OMPGPU_RESULT_BYTES = 64
};
struct ompgpu_buffer {
    void *device;
    size_t size;
};
struct ompgpu_buffers {         /* for one launch at a time */
    struct ompgpu_queue *queue; /* whose launches use them; NULL: a host thread's */
    /* league reductions: zeroed header, then slots */
    struct ompgpu_buffer scratch;
    struct ompgpu_buffer scan;   /* scans by all teams: zeroed, header and blocks */
    struct ompgpu_buffer copies; /* PRIVATE_COPY of the running region */
    /* team heaps: locals of sequential code, copies of reduced arrays */
    struct ompgpu_buffer heap;
    /* of the heaps in it: OMPGPU_PLACES words, 0 between kernels */
    struct ompgpu_buffer locks;
    void *results;            /* OMPGPU_RESULTS cells that host and device share */
    struct ompgpu_task *idle; /* the host thread's, for its next deferred constructs, by `next` */
    unsigned scans;           /* that have used `scan` since it was cleared */
};
enum { OMPGPU_FEW_EXPECTED = 4 };
struct ompgpu_thread { /* of one host thread at a time; handed on when it ends */
    char apart[OMPGPU_APART];
    struct ompgpu_thread *next;
    bool used;
    unsigned number;                /* immutable: how many there were before it */
    struct ompgpu_buffers *devices; /* per device number */
    /* of the region whose data this thread has entered */
    struct ompgpu_device *entered;
    const struct ompgpu_map *maps;
    unsigned nmaps;
    /* of the running region: bit i: item i has a cell (OMPGPU_MAP_RESULT), was left already */
    uint64_t results, left;
    /* … that entered without the lock: the mappings that it counted, with their `count` at the
     * time, and of each item the number of its mapping, negative: it has none */
    struct ompgpu_held {
        struct ompgpu_entry *entry;
        uint64_t count;
    } held[OMPGPU_QUICK_ITEMS];
    signed char held_by[OMPGPU_QUICK_ITEMS];
    unsigned nheld;
    bool quick; /* it entered so */
    /* of the running region: small mappings that it has made and will copy to the host, or blocks
     * that hold them (back.c) */
    struct ompgpu_expected {
        uintptr_t device;
        size_t size;
        const char *host; /* where it is after the launch; NULL: nowhere */
    } expected[OMPGPU_FEW_EXPECTED];
    unsigned nexpected;
    char *stage; /* see back.c */
    size_t stage_bytes;
    /* of the running region; point into few_… or heap */
    uintptr_t *addresses;
    void **params;
    unsigned naddresses, nparams; /* room */
    uintptr_t few_addresses[OMPGPU_FEW];
    void *few_params[OMPGPU_FEW + 2];
    char apart_too[OMPGPU_APART];
};
extern _Thread_local struct ompgpu_thread *ompgpu_self_ __attribute__((tls_model("initial-exec")));
struct ompgpu_thread *ompgpu_self_slow(void);
static inline struct ompgpu_thread *ompgpu_self(void) /* NULL: out of memory */
{
    return ompgpu_self_ ? ompgpu_self_ : ompgpu_self_slow();
}
/* more than one host thread has used the runtime */
bool ompgpu_many_threads(void);
/* a host thread besides this one has used the runtime and lives */
bool ompgpu_other_threads(void);
/* … or one of the OpenMP library's may begin a host task */
bool ompgpu_still_used(void);
int ompgpu_thread_room(struct ompgpu_thread *, unsigned nmaps, unsigned nparams);
int ompgpu_scratch_get(struct ompgpu_device *, struct ompgpu_buffers *, unsigned teams,
                       size_t bytes, void **out);
/* for so many tiles of a scan */
int ompgpu_scan_get(struct ompgpu_device *, struct ompgpu_buffers *, uint64_t tiles, void **out);
int ompgpu_copies_get(struct ompgpu_device *, struct ompgpu_buffers *, size_t bytes, void **out);
int ompgpu_locks_get(struct ompgpu_device *, struct ompgpu_buffers *, unsigned **out);
int ompgpu_heap_get(struct ompgpu_device *, struct ompgpu_buffers *, size_t bytes, void **out);
/* A cell for item i of the running region, of OMPGPU_RESULT_BYTES, for this host thread's next
 * launch; NULL: there is none. */
void *ompgpu_result_get(struct ompgpu_device *, struct ompgpu_buffers *, unsigned i);
/* after a failed kernel: its header and the locks are unknown */
void ompgpu_scratch_drop(struct ompgpu_device *, struct ompgpu_buffers *);
void ompgpu_buffers_free(struct ompgpu_device *, struct ompgpu_buffers *);
/* Around a fork.  In the child: all threads but the caller's have gone. */
void ompgpu_threads_lock(void);
void ompgpu_threads_unlock(void);
void ompgpu_threads_vanished(void);
void ompgpu_threads_drop(struct ompgpu_device *); /* what all threads have there */
/* frees everything of all threads; devices are still open */
void ompgpu_threads_close(void);
/* the end of a thread is no longer noticed: our code may go away */
void ompgpu_threads_forget(void);

/* ------------------------------------------------------------------ devices (device.c) */
struct ompgpu_link { /* declare target link: pointer on the device, set when the variable is mapped
                      */
    struct ompgpu_link *next;
    const struct ompgpu_var *var;
    const struct ompgpu_unit *owner;
    void *pointer; /* device address of the pointer */
};
enum ompgpu_device_state {
    OMPGPU_DEVICE_NEW,
    OMPGPU_DEVICE_EMPTY, /* the plugin has opened it, declare target variables are not there yet */
    OMPGPU_DEVICE_OPEN,
    OMPGPU_DEVICE_HOST /* no suitable image: see reason */
};
enum { OMPGPU_QUEUES = 8 };
struct ompgpu_device {
    const struct ompgpu_plugin *plugin; /* immutable once open */
    int ordinal, number;                /* immutable; the plugin's, the program's */
    char uid[OMPGPU_UID];               /* written once, under ompgpu_start_lock; "": not yet */
    struct ompgpu_icvs icvs;            /* immutable: as the program began */
    int *team_icvs;                     /* atomic: what kernels may have set (icvs.c); NULL: none */
    struct ompgpu_device_info info;     /* immutable once open */
    int state;                          /* atomic */
    /* atomic: ompgpu_generation up to which variables are loaded */
    unsigned generation;
    unsigned started; /* starts.c: number of the last one; guarded by its lock, as what follows */
    bool starting, ended;
    char reason[256]; /* written before state */
    /* the present table: see parts.c */
    unsigned char owners[1 << OMPGPU_OWNER_BITS]; /* atomic */
    struct ompgpu_part parts[OMPGPU_PARTS];
    struct ompgpu_spares wide_spares;
    unsigned more_parts; /* atomic: in use, after the first */
    unsigned far; /* atomic: bit per part in which `nfar` was not 0 when it was looked at last */
    const struct ompgpu_thread *unsynced; /* see data.c; atomic */
    uint64_t rounds;                      /* atomic, as nwaiting */
    unsigned forking;                     /* what a fork holds of the table */
    unsigned nwaiting;                    /* threads that wait for one … */
    pthread_mutex_t wait_lock;            /* … which takes this, */
    pthread_cond_t synced;                /* and tells them */
    /* changed with the whole table held, read with a part of it */
    struct ompgpu_ranges wide; /* mappings that lie in more than one granule */
    /* atomic: all device addresses that pointers have been attached to lie between these */
    uintptr_t pointees_low, pointees_high;
    struct ompgpu_link *links;
    unsigned wide_busy;               /* of `wide` */
    uint64_t construct;               /* how many constructs have counted that held all of it */
    pthread_mutex_t lock;             /* guards all below, but for what is atomic */
    struct ompgpu_ranges allocations; /* omp_target_alloc, by device address */
    struct rescue *rescue;            /* atomic: it was given up (rescue.c) */
    struct reverse *reverse;          /* atomic: its mailbox (reverse.c); NULL: none */
    struct ompgpu_queue *queues[OMPGPU_QUEUES]; /* of deferred constructs */
    unsigned nqueues, next_queue;               /* nqueues: atomic */
    struct ompgpu_task *idle;       /* by `next`; guarded by task.c's lock, as what follows */
    struct ompgpu_entry *dropped;   /* what ended constructs have removed, by `range.left` */
    struct ompgpu_ranges returning; /* guarded by returning.c's lock */
    struct {
        uintptr_t begin, end;
    } newer; /* what reads.c looks at; with the whole table held */
};
/* Number of the part that an address belongs to + 1; 0: nobody's yet.  Granules may share it. */
static inline unsigned char *ompgpu_owner_of(struct ompgpu_device *dev, uintptr_t address)
{
    return &dev->owners[(address >> OMPGPU_GRANULE_BITS) % (1 << OMPGPU_OWNER_BITS)];
}
static inline unsigned ompgpu_parts_in_use(const struct ompgpu_device *dev)
{
    return 1 + __atomic_load_n(&dev->more_parts, __ATOMIC_ACQUIRE);
}
/* NULL: nothing is mapped there. */
static inline struct ompgpu_part *ompgpu_part_at(struct ompgpu_device *dev, uintptr_t address)
{
    unsigned owner = __atomic_load_n(ompgpu_owner_of(dev, address), __ATOMIC_ACQUIRE);
    return owner ? &dev->parts[owner - 1] : NULL;
}
/* Once, as early as can be (fork.c): who asks later has his locks taken before ours.  The OpenMP
 * library has some while a thread of its ends, which then takes ours. */
void ompgpu_watch_fork(void);
extern pthread_mutex_t ompgpu_start_lock;
/* atomic: enum of hostrt/ompgpu.h, what any unit has */
extern unsigned ompgpu_unit_flags;
static inline bool ompgpu_unified(void)
{
    return __atomic_load_n(&ompgpu_unit_flags, __ATOMIC_RELAXED) & OMPGPU_UNIFIED_SHARED_MEMORY;
}
extern struct ompgpu_device *ompgpu_devices;
extern int ompgpu_ndevices;
/* atomic: counts registered units with variables */
extern unsigned ompgpu_generation;
enum ompgpu_run_state { OMPGPU_NOT_STARTED, OMPGPU_RUNNING, OMPGPU_STOPPED };
extern int ompgpu_run_state; /* atomic */
void ompgpu_start(void);     /* chooses the devices; cheap when done */
/* omp_initial_device … */
enum { OMPGPU_DEVICE_INITIAL = -1, OMPGPU_DEVICE_INVALID = -2, OMPGPU_DEVICE_BY_ICV = -5 };
/* The device to use for a construct, opened and with all declare target variables in its present
 * table; NULL: the host.  Ends the program where the number is omp_invalid_device, the device
 * cannot be opened, or the host is not allowed. */
struct ompgpu_device *ompgpu_device_get(const struct ompgpu_where *, long number);
/* For the API.  *device is NULL for the host, and for a device whose regions the host runs, since
 * it has no image or cannot do what `requires` asks for.  Nonzero, without a message: no such
 * device, or it cannot be used.  Ends the program as the specification wants it:
 * omp_invalid_device, and all that is not on a device where offloading is mandatory. */
int ompgpu_device_try(int number, struct ompgpu_device **device);
int ompgpu_default_device(void);
/* Says once that regions run on the host, or ends the program under MANDATORY. */
void ompgpu_on_host(const struct ompgpu_where *, const char *reason);
/* The same, each time, about a region that has failed on a device. */
void ompgpu_failed_to_host(const struct ompgpu_where *, const char *reason);

/* ------------------------------------------------------------------ tools (ompt.c) */
extern _Atomic bool ompgpu_has_tool;
void ompgpu_tool_find(void);    /* as ompgpu_host_find() */
void ompgpu_tool_connect(void); /* before a device is opened; cheap when done */
/* To open a device: the plugin itself, or with a tool one that reports what it does. */
const struct ompgpu_plugin *ompgpu_tool_plugin(const struct ompgpu_plugin *);
enum ompgpu_tool_kind {
    OMPGPU_TOOL_TARGET = 1,
    OMPGPU_TOOL_ENTER,
    OMPGPU_TOOL_EXIT,
    OMPGPU_TOOL_UPDATE
};
void ompgpu_report_target(enum ompgpu_tool_kind, bool begins, const struct ompgpu_device *,
                          const void *code);
/* Around a construct; code: the address that it returns to. */
static inline void ompgpu_tool_begin(enum ompgpu_tool_kind kind, const struct ompgpu_device *dev,
                                     const void *code)
{
    if (__builtin_expect(ompgpu_has_tool, 0))
        ompgpu_report_target(kind, true, dev, code);
}
static inline void ompgpu_tool_end(enum ompgpu_tool_kind kind, const struct ompgpu_device *dev)
{
    if (__builtin_expect(ompgpu_has_tool, 0))
        ompgpu_report_target(kind, false, dev, NULL);
}

/* Before memory is allocated or freed for the program: host is what it will be the copy of, or
 * NULL; code, where no construct is at work, the address that a routine returns to. */
void ompgpu_report_memory(const void *host, const void *code);
static inline void ompgpu_tool_memory(const void *host, const void *code)
{
    if (__builtin_expect(ompgpu_has_tool, 0))
        ompgpu_report_memory(host, code);
}
/* Around the copies that a routine makes: the address that it returns to, then NULL. */
void ompgpu_report_routine(const void *code);
static inline void ompgpu_tool_routine(const void *code)
{
    if (__builtin_expect(ompgpu_has_tool, 0))
        ompgpu_report_routine(code);
}

/* ------------------------------------------------------------------ data (data.c) */
/* These return 0 or, with nothing changed, -1 where the device failed, OMPGPU_MISTAKE where what
 * the program wants is impossible. */
enum { OMPGPU_MISTAKE = -2 };
/* addresses, where not NULL, gets per map the kernel's pointer: device(begin) - (begin - base). A
 * task: what is done on the device goes into its queue, and the whole table is held. */
int ompgpu_data_enter(struct ompgpu_device *, struct ompgpu_where *, const struct ompgpu_map *,
                      unsigned n, uintptr_t *addresses, struct ompgpu_task *);
enum ompgpu_leave {
    /* the end of a construct that entered the same items */
    OMPGPU_LEAVE_REGION,
    /* the same, but the region failed: nothing is copied back */
    OMPGPU_LEAVE_DISCARD,
    OMPGPU_LEAVE_DATA, /* target exit data: `present` is checked */
};
int ompgpu_data_exit(struct ompgpu_device *, struct ompgpu_where *, const struct ompgpu_map *,
                     unsigned n, enum ompgpu_leave, struct ompgpu_task *);
int ompgpu_data_update(struct ompgpu_device *, struct ompgpu_where *, const struct ompgpu_map *,
                       unsigned n, struct ompgpu_task *);
bool ompgpu_data_any_present(struct ompgpu_device *, const struct ompgpu_map *, unsigned n);
uintptr_t ompgpu_data_lookup(struct ompgpu_device *, uintptr_t host); /* 0: not mapped */
/* The device address, also where only the extended range of a mapping has the host address (section
 * 5.8.6 of OpenMP 5.2). */
uintptr_t ompgpu_data_translate(struct ompgpu_device *, uintptr_t host);
/* The device address of all of it; 0: a part is not mapped, has pointers that are attached, or is
 * lost with the device. */
uintptr_t ompgpu_data_section(struct ompgpu_device *, uintptr_t host, size_t size);
/* nearest.c: is it in memory of the device, where a GPU would not let the host be? */
bool ompgpu_is_device_only(struct ompgpu_device *, uintptr_t address);
struct ompgpu_device *ompgpu_device_of(const struct ompgpu_plugin *, int ordinal); /* or NULL */
bool ompgpu_is_allocation_on(const struct ompgpu_plugin *, int ordinal, uintptr_t address);
/* nearest.c: a block of omp_target_alloc is freed; a mapping ends, with the table held. */
void ompgpu_allocation_gone(const struct ompgpu_device *, const struct ompgpu_entry *);
void ompgpu_mapping_gone(const struct ompgpu_device *, const struct ompgpu_where *,
                         const struct ompgpu_entry *);
/* nearest.c: text about the mapping nearest to an address that a kernel used, beginning with a
 * semicolon; removed: those that are no longer in the table, by `range.left` */
void ompgpu_data_nearest(struct ompgpu_device *, uintptr_t address,
                         const struct ompgpu_entry *removed, char *text, size_t size);
/* The whole table for as long as that takes; 0: who has it may wait for what has failed. */
unsigned ompgpu_tables_for_message(struct ompgpu_device *);
/* source.c: what is said of an address of the host that a kernel used, beginning with a semicolon:
 * which pointer leads there, and what maps that.  "": it is none. */
struct ompgpu_given { /* to the region */
    const struct ompgpu_region *region;
    const struct ompgpu_launch *launch;
    const struct ompgpu_param *params;
    const struct ompgpu_map *maps;
    unsigned nparams, nmaps;
};
void ompgpu_data_source(struct ompgpu_device *, uintptr_t address, const struct ompgpu_given *,
                        char *text, size_t size);
/* Nearest, for a plugin, which knows the device by its number. */
void ompgpu_nearest_on(const struct ompgpu_plugin *, int ordinal, uintptr_t address, char *text,
                       size_t size);
/* Device memory of an entry that has left the table, with the entry. */
void ompgpu_data_drop(struct ompgpu_device *, struct ompgpu_entry *);
void ompgpu_data_release(struct ompgpu_device *, struct ompgpu_entry *); /* its memory */

void ompgpu_interop_fork(enum ompgpu_fork when);
void ompgpu_interops_close(const struct ompgpu_device *); /* interop.c: what the program left */

/* --------------------------------------------------------- spread constructs (spread.c) */
/* Whoever keeps a chunk beyond its turn.  NULL is none. */
const struct ompgpu_chunk *ompgpu_chunk_keep(const struct ompgpu_chunk *);
void ompgpu_chunk_drop(const struct ompgpu_chunk *);
/* "chunk 2 (omp_spread_start 34, omp_spread_size 17, device 1)" */
struct ompgpu_chunk_text {
    char text[128];
};
struct ompgpu_chunk_text ompgpu_describe_chunk(const struct ompgpu_chunk *);
/* exchange.c: an update of the chunk's.  false: it is to be made now. */
bool ompgpu_chunk_update(const struct ompgpu_chunk *, const struct ompgpu_place *, long device,
                         const struct ompgpu_map *, unsigned n);
/* A part of an item comes back from the chunk's device.  Nonzero, with a message: that part comes
 * back from another chunk, too, or memory is out (*wrong stays false). */
int ompgpu_chunk_from(const struct ompgpu_chunk *, const struct ompgpu_map *, uintptr_t begin,
                      size_t size, bool *wrong);

/* ------------------------------------------------------------------ failures (failure.c) */
void ompgpu_failure_fork(enum ompgpu_fork when);
bool ompgpu_may_recover(void); /* a failure need not end the program */
/* What is to be done; possible: bits of enum ompgpu_action.  OMPGPU_STOP does not return. */
enum ompgpu_action ompgpu_recover(const struct ompgpu_where *, const struct ompgpu_device *,
                                  const char *reason, unsigned attempt, unsigned possible);

/* Giving up a device (rescue.c): its data moves to the host, which runs its regions from then on.
 */
bool ompgpu_can_rescue(struct ompgpu_device *);
int ompgpu_rescue(struct ompgpu_device *, const struct ompgpu_where *);
void ompgpu_rescue_free(struct ompgpu_device *);
static inline bool ompgpu_is_rescued(const struct ompgpu_device *dev)
{
    return __builtin_expect(__atomic_load_n(&dev->rescue, __ATOMIC_ACQUIRE) != NULL, 0);
}
/* Around the host's version of such a region. */
void ompgpu_rescued_begin(struct ompgpu_device *, const struct ompgpu_where *,
                          const struct ompgpu_map *, unsigned nmaps, const struct ompgpu_param *,
                          unsigned nparams);
void ompgpu_rescued_end(void); /* also after all others: does nothing */

/* ------------------------------------------------------------------ copies (copy.c) */
/* The construct or routine whose data this host thread copies, for a check; NULL: the runtime's. */
extern _Thread_local const struct ompgpu_where *ompgpu_copying
    __attribute__((tls_model("initial-exec")));
/* By this host thread, from one device to another, NULL: the host; it is there after sync. */
int ompgpu_copy_between(struct ompgpu_device *to, void *dst, struct ompgpu_device *from,
                        const void *src, size_t size);

/* ------------------------------------------------------------- attached pointers (attach.c) */
/* Number of the first that ends after an address. */
unsigned ompgpu_first_attachment(const struct ompgpu_entry *, uintptr_t address);
/* Number i, unless it lies after the end. */
struct ompgpu_attachment *ompgpu_attachment_before(const struct ompgpu_entry *, unsigned i,
                                                   uintptr_t end);
/* The first in these bytes; NULL: there is none. */
struct ompgpu_attachment *ompgpu_attachment_in(const struct ompgpu_entry *, uintptr_t begin,
                                               uintptr_t end);
/* The one at this address; new ones have the value 0.  NULL: out of memory */
struct ompgpu_attachment *ompgpu_attachment_get(struct ompgpu_entry *, uintptr_t host);
void ompgpu_attachment_drop(struct ompgpu_entry *, struct ompgpu_attachment *);
/* The pointer at this address leads to the mapping, with this value.  false: out of memory */
bool ompgpu_pointer_note(struct ompgpu_device *, struct ompgpu_entry *pointee, uintptr_t host,
                         uintptr_t value);
/* Of that device. */
bool ompgpu_may_be_pointee(const struct ompgpu_device *, uintptr_t value);
/* With these parts of the table held, are all that lead to it? */
bool ompgpu_pointers_lie_in(const struct ompgpu_device *, const struct ompgpu_entry *pointee,
                            unsigned held);
/* May who holds these locks detach them? */
static inline bool ompgpu_pointers_held(const struct ompgpu_device *dev,
                                        const struct ompgpu_entry *pointee, unsigned held)
{
    return !pointee->pointers.n || !held || ompgpu_pointers_lie_in(dev, pointee, held);
}
/* The mapping goes: no pointer is attached to it any longer. */
void ompgpu_detach_all(struct ompgpu_device *, struct ompgpu_entry *pointee);
static inline void ompgpu_detach(struct ompgpu_device *dev, struct ompgpu_entry *pointee)
{
    if (pointee->pointers.n)
        ompgpu_detach_all(dev, pointee);
}

/* ------------------------------------------------------------------ copies back (back.c) */
enum { OMPGPU_FEW_BACK = 8 };
struct ompgpu_back { /* what one construct copies to the host */
    struct ompgpu_back_copy {
        struct ompgpu_entry *entry;
        const struct ompgpu_map *map;
        uintptr_t begin;
        size_t size, at; /* at: in the stage */
    } few[OMPGPU_FEW_BACK], *copies;
    unsigned n, room;
    size_t bytes;
    struct ompgpu_pack *pack; /* of the first that shares a block with others; NULL: none does */
    size_t pack_at;           /* where all of it is, in the stage */
    unsigned npacked;         /* how many are in it */
    bool attached;            /* a pointer lies in some of it */
    bool waits;               /* not all was there before it was asked for */
    const struct ompgpu_map *failed;
};
int ompgpu_back_add(struct ompgpu_back *, struct ompgpu_entry *, const struct ompgpu_map *,
                    uintptr_t begin, size_t size);
/* Makes the copies; after a failure `failed` is the item, where it was one's. */
int ompgpu_back_run(struct ompgpu_back *, struct ompgpu_device *, struct ompgpu_thread *,
                    struct ompgpu_where *);
int ompgpu_back_enqueue(struct ompgpu_back *, struct ompgpu_task *);
/* The running region of this host thread has made a mapping that it will copy to the host. */
void ompgpu_back_expect(struct ompgpu_thread *, const struct ompgpu_entry *);
/* After its launch: begins the copies of what is expected. */
void ompgpu_back_prefetch(struct ompgpu_thread *, const struct ompgpu_device *);
void ompgpu_back_free(struct ompgpu_back *); /* the list */
/* Calls move(dst, src) for pointers in it that are attached no longer: the host gets no address of
 * a pointee. */
int ompgpu_back_detached(const struct ompgpu_back_copy *, const char *stage,
                         int (*move)(void *, char *, const char *), void *argument);
/* Calls move(dst, src, size) for what of a copy is and was no attached pointer; nonzero ends it. */
int ompgpu_back_pieces(const struct ompgpu_back_copy *, const char *stage,
                       int (*move)(void *, char *, const char *, size_t), void *argument);

/* ------------------------------------------------------------------ copies there (fill.c) */
enum { OMPGPU_FEW_FILL = 8 };
struct ompgpu_fill { /* what one construct copies to the device */
    struct ompgpu_fill_copy {
        struct ompgpu_entry *entry;
        const struct ompgpu_map *map;
        uintptr_t begin;
        size_t size; /* 0: the pointer at begin gets … */
        /* … a value; its attachment had the one before, or 0: there was none */
        uintptr_t value, before;
    } few[OMPGPU_FEW_FILL], *copies;
    unsigned n, room, done;
    const struct ompgpu_map *failed;
    bool packing;             /* it has been asked for … */
    struct ompgpu_pack *pack; /* … a block for its small mappings; NULL: none */
};
/* Both with the entry's part of the table held. */
int ompgpu_fill_add(struct ompgpu_fill *, struct ompgpu_entry *, const struct ompgpu_map *,
                    uintptr_t begin, size_t size);
int ompgpu_fill_add_pointer(struct ompgpu_fill *, struct ompgpu_entry *, const struct ompgpu_map *,
                            uintptr_t host, uintptr_t value, uintptr_t before);
/* Makes the copies, or as many as `done` says and the next has failed. */
int ompgpu_fill_run(struct ompgpu_fill *, struct ompgpu_device *, struct ompgpu_task *,
                    uint64_t number, const struct ompgpu_where *);
void ompgpu_fill_free(struct ompgpu_device *, struct ompgpu_fill *); /* the list */
/* With their parts of the table held, as what follows.  Either list may be NULL. */
void ompgpu_busy_set(struct ompgpu_device *, const struct ompgpu_fill *, const struct ompgpu_back *,
                     bool busy);
bool ompgpu_any_busy(struct ompgpu_device *, const struct ompgpu_map *, unsigned n, unsigned held);
/* With the threads, after a fork; no lock is held. */
void ompgpu_busy_vanished(struct ompgpu_device *);

/* ------------------------------------------------------------------ small mappings (pack.c) */
/* Device memory for a mapping, in the block of the construct's small ones, or of its own: *pack
 * NULL.  Its part of the table is held. */
struct work;
int ompgpu_pack_get(struct work *, size_t size, void **memory, struct ompgpu_pack **pack);
/* a mapping has gone, or the construct has ended */
void ompgpu_pack_release(struct ompgpu_device *, struct ompgpu_pack *);
/* What the construct copies to a mapping in its block goes there with the block; false: it is none
 * of these. */
bool ompgpu_pack_add(struct ompgpu_pack *, const struct ompgpu_entry *, uintptr_t host,
                     const void *src, size_t size);
int ompgpu_pack_send(struct ompgpu_device *, const struct ompgpu_pack *);
/* What of the block is in use, on the device. */
const void *ompgpu_pack_bytes(const struct ompgpu_pack *, size_t *size);

/* ---------------------------------------------- what both sides last had (agreed.c) */
/* With the table held, or of a mapping that is busy.  All of it, of which `all` has the bytes
 * (false: out of memory); a part of it, with `value`, before the side that gets it has it. */
bool ompgpu_agreed_start(struct ompgpu_entry *, const void *all);
void ompgpu_agreed_set(struct ompgpu_entry *, uintptr_t begin, size_t size, const void *value);
/* From a host address on: at least a byte. */
struct ompgpu_agreed {
    bool known;
    size_t size;
    char bytes[16];
};
struct ompgpu_agreed ompgpu_agreed_at(const struct ompgpu_entry *, uintptr_t host);
/* From one address of the host on, no further than to the other, one side's copy of the mapping is
 * as it was, or that is not known: where that ends. */
uintptr_t ompgpu_agreed_same(const struct ompgpu_entry *, const void *side, uintptr_t from,
                             uintptr_t to);

/* ------------------------------------------------------------------ lost data (stale.c) */
/* For OMPGPU_CHECK=stale: the program's devices are this plugin's; bytes are about to go to the
 * device, or will later; to come back; a mapping is removed; an item that was entered, and is to
 * come back, is not mapped any more. */
void ompgpu_stale_start(const struct ompgpu_plugin *);
void ompgpu_stale_sent(const struct ompgpu_device *, struct ompgpu_entry *, uintptr_t begin,
                       size_t size, bool later);
void ompgpu_stale_fetch(const struct ompgpu_device *, const struct ompgpu_where *,
                        const struct ompgpu_back *);
void ompgpu_stale_created(const struct ompgpu_device *, struct ompgpu_entry *, unsigned flags);
void ompgpu_stale_variable(const struct ompgpu_device *, struct ompgpu_entry *);
void ompgpu_stale_removed(const struct ompgpu_device *, const struct ompgpu_where *,
                          const struct ompgpu_entry *);
void ompgpu_stale_missing(const struct ompgpu_device *, const struct ompgpu_where *,
                          const struct ompgpu_map *);
/* What a region has reduced into an item that does not come back. */
void ompgpu_stale_result(const struct ompgpu_device *, const struct ompgpu_where *,
                         const struct ompgpu_map *, const void *result);
/* One that `update` or `exit data` is to copy is not mapped. */
void ompgpu_stale_absent(const struct ompgpu_device *, const struct ompgpu_where *,
                         const struct ompgpu_map *);
/* Before and after a region; at the end of the program. */
void ompgpu_stale_before(struct ompgpu_device *, const struct ompgpu_where *,
                         const struct ompgpu_map *, unsigned n);
void ompgpu_stale_after(struct ompgpu_device *);
void ompgpu_stale_end(struct ompgpu_device *);
bool ompgpu_stale_watches(const struct ompgpu_device *);
bool ompgpu_stale_compares(const struct ompgpu_device *); /* … for OMPGPU_CHECK=stale */
/* With the table held: has only the device changed these bytes?  As of the last region's end. */
bool ompgpu_stale_is_old(const struct ompgpu_device *, struct ompgpu_entry *, uintptr_t host,
                         size_t size);
void ompgpu_stale_stored(struct ompgpu_entry *, uintptr_t host, size_t size);
/* reuse.c: a region, or another construct, uses these.  The table is not held. */
void ompgpu_reuse_look(struct ompgpu_device *, const struct ompgpu_where *,
                       const struct ompgpu_map *, unsigned n);
/* reads.c: does host code tell what it reads?  Where mappings of the device are that it has
 * changed. */
bool ompgpu_reads_seen(void);
/* Host code is to be looked at there from now on, whatever ompgpu_reads_watch() says. */
void ompgpu_reads_widen(uintptr_t begin, uintptr_t end);
/* It has copied to the host what it had to. */
void ompgpu_reads_returned(const struct ompgpu_task *);
/* While the thread runs a function of the program's as part of a device: it may use its memory. */
void ompgpu_reads_pause(bool);
void ompgpu_reads_watch(struct ompgpu_device *, uintptr_t begin, uintptr_t end);
/* The program is given that address of the device. */
void ompgpu_expose(struct ompgpu_device *, uintptr_t address);
/* The host has accessed memory of a device, at pc or in a function of the C library called there.
 */
void ompgpu_reads_faulted(int ordinal, uintptr_t at, bool store, const void *pc);

/* ------------------------------------------------------------------ geometry (geometry.c) */
struct ompgpu_geometry ompgpu_geometry(const struct ompgpu_device *, struct ompgpu_function *,
                                       const struct ompgpu_launch *);
/* Has every iteration of the league's loop a thread of its own?  Then the members of env are set
 * that the covering form of a kernel reads. */
bool ompgpu_covers(const struct ompgpu_launch *, struct ompgpu_geometry, struct ompgpu_env *);
/* After a launch of that function in teams of so many threads, with that environment: whether there
 * are more iterations than launches have had, which the environment names then; the geometry stays
 * the same. */
bool ompgpu_next_part(const struct ompgpu_function *, const struct ompgpu_launch *,
                      unsigned threads, struct ompgpu_env *);
/* May one launch be too few? */
bool ompgpu_takes_parts(const struct ompgpu_launch *);
/* Is the nest's space worth a launch of the tiled form f, with a team for each tile?  0: no; else
 * their number, and what is set in env is what that form reads, and its launch. */
unsigned ompgpu_tiles(const struct ompgpu_device *, const struct ompgpu_function *f,
                      const struct ompgpu_launch *, struct ompgpu_env *);
/* wide.c.  false: the text is not of the form that hostrt/image.h describes */
bool ompgpu_wide_parse(const char *text, struct ompgpu_wide *);
/* Is the wide form right for these pointers (by stream) and this trip count, which is not 0? */
bool ompgpu_wide_suits(const struct ompgpu_wide *, const uintptr_t *pointers, uint64_t trip);
/* lanes.c.  How many lanes of a warp are to run an iteration; 1: as usual; -1: the device has
 * failed.  f: the usual form; e: the rows' ends on the device; may_read: they may be copied from
 * there now. */
int ompgpu_lanes(const struct ompgpu_device *, struct ompgpu_function *f,
                 const struct ompgpu_launch *, uintptr_t e, bool may_read);
/* teams that run at the same time */
unsigned ompgpu_wave(const struct ompgpu_device *, struct ompgpu_function *, unsigned threads);

/* ------------------------------------------------------- units and images (register.c, image.c) */
/* NULL, or what is wrong with the container (message in a buffer of this thread). */
const char *ompgpu_image_check(const void *container);
const struct ompgpu_image_entry *ompgpu_image_entry(const struct ompgpu_image_header *,
                                                    unsigned index);
const struct ompgpu_kernel_entry *ompgpu_image_kernel(const struct ompgpu_image_header *,
                                                      const char *name);
/* `shape` */
const char *ompgpu_image_shape(const struct ompgpu_image_header *,
                               const struct ompgpu_kernel_entry *);
/* The container with the images to use: the linked one, or the unit's own.  And a kernel's or
 * variable's name there. */
const struct ompgpu_image_header *ompgpu_image_linked(const struct ompgpu_image_header *own);
const char *ompgpu_image_symbol(const struct ompgpu_image_header *own, const char *name);
unsigned ompgpu_image_kinds(const struct ompgpu_image_header *); /* bit per kind */
int ompgpu_image_bytes(const struct ompgpu_image_header *, unsigned index, const void **data,
                       size_t *size, void **owned);
/* Under ompgpu_start_lock: */
/* a unit with kernels but no image of these kinds */
const struct ompgpu_unit *ompgpu_unit_without(unsigned kinds);
/* a unit with kernels that pick() refuses */
const struct ompgpu_unit *ompgpu_unit_unsuited(struct ompgpu_device *);
/* it needs a device link and had none */
bool ompgpu_unit_not_linked(const struct ompgpu_unit *);
void ompgpu_units_close(void);
/* No lock is held: units with declare target variables, or all.  *file: the one that failed. */
int ompgpu_units_load(struct ompgpu_device *, bool all, const char **file);
void ompgpu_units_fork(enum ompgpu_fork when);
/* starts.c: the device, which is open, has run its constructors; false: this thread is running one
 * of them.  No lock is held. */
bool ompgpu_starts_run(struct ompgpu_device *);
/* There are some that it has not run. */
bool ompgpu_starts_wait(const struct ompgpu_device *);
void ompgpu_starts_fork(enum ompgpu_fork when);
void ompgpu_starts_close(void);
/* The loaded kernel in one of its forms, which the region is known to have; but for the wide and
 * the tiled one, and those with lanes: NULL where there is none.  0: *out is set; 1: no image suits
 * the device; -1: an error. */
enum ompgpu_form {
    OMPGPU_FORM_KERNEL,
    OMPGPU_FORM_STRIDED,
    OMPGPU_FORM_WIDE,
    OMPGPU_FORM_TILED,
    OMPGPU_FORM_LANES2, /* … and 4, 8, 16, 32, one after the other */
    OMPGPU_FORM_LANES32 = OMPGPU_FORM_LANES2 + 4,
    OMPGPU_FORMS
};
int ompgpu_function_get(struct ompgpu_region *, struct ompgpu_device *, enum ompgpu_form,
                        struct ompgpu_function **out);
#pragma GCC visibility pop
#endif
