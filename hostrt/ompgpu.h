/* ompgpu.h - the ABI between generated host C and libompgpu.
 *
 * The text of this header (preprocessed) stands at the top of every generated `X.host.c`; libompgpu
 * is compiled against the same file.  Only builtin types are used.  OMPGPU_ABI_VERSION is checked
 * when a unit registers.                                  */
#ifndef OMPGPU_H
#define OMPGPU_H

enum { OMPGPU_ABI_VERSION = 5 };

/* ------------------------------------------------------------------ map entries */
/* One mapping action (section 5.8 of OpenMP 5.2).  Entries are processed in order on entry, in
 * reverse order on exit. */
enum {
    OMPGPU_MAP_ALLOC = 0,
    OMPGPU_MAP_TO = 1,
    OMPGPU_MAP_FROM = 2,
    OMPGPU_MAP_TOFROM = 3,
    OMPGPU_MAP_ALWAYS = 4,
    OMPGPU_MAP_DELETE = 8,
    OMPGPU_MAP_RELEASE = 16,
    OMPGPU_MAP_IMPLICIT = 32, /* no clause names it */
    /* pointer without a map clause: no mapping, translate if `begin` lies in mapped storage, else
       keep */
    OMPGPU_MAP_LOOKUP = 64,
    /* after the pointee is mapped, the device copy of the pointer at host address `attach` is set
     */
    OMPGPU_MAP_ATTACH = 128,
    /* firstprivate aggregate: fresh device copy for this launch, never in the present table */
    OMPGPU_MAP_PRIVATE_COPY = 256,
    /* other entries have the same base: what is not mapped yet of all with this bit gets one block
     * of storage, from the lowest to the highest; only the entries' own bytes are copied */
    OMPGPU_MAP_BLOCK = 512,
    /* a variable that the region only reduces into: it is read and written once.  Small and not
     * mapped, it travels in memory that the host and the device share, and nothing is copied */
    OMPGPU_MAP_RESULT = 1024,
    OMPGPU_MAP_PRESENT = 0x1000, /* `present` modifier: an error when not mapped */
    OMPGPU_MAP_SELF = 0x4000,    /* `self`: an error unless the device uses the host's storage */
    OMPGPU_MAP_HOLD = 0x8000,    /* `ompx_hold`: counts apart, so that no `delete` ends it */
    /* enter and exit data: storage of the pointer that leads to a list item.  It is counted in
     * mappings that such an entry made, and no other mapping ends with it */
    OMPGPU_MAP_POINTER = 0x10000,
    OMPGPU_MAP_MEMBER = 0x100000, /* in a struct, whose alignment its device copy is to keep */
};
struct ompgpu_map {
    /* base address: the pointer's value or the address of the variable */
    const void *base;
    const void *begin;  /* first byte mapped */
    __SIZE_TYPE__ size; /* bytes; 0: makes no mapping, but counts where begin is mapped */
    /* With ATTACH: host address of the pointer variable.  IMPLICIT: the bytes that the region
     * surely uses, as two offsets from base (unsigned long [2]: the first, the end); else NULL */
    const void *attach;
    unsigned flags;
    unsigned line;    /* place for messages; 0: the construct's */
    const char *name; /* the list item as the user wrote it */
};

/* Entries whose number is known only when the construct is reached. */
struct ompgpu_map_list {
    struct ompgpu_map *at;
    unsigned n, room;
};

/* ------------------------------------------------------------------ kernel parameters */
enum { OMPGPU_PARAM_LITERAL = -1 };
struct ompgpu_param {
    const void *value; /* LITERAL: host address of the bytes to pass */
    unsigned size;
    /* LITERAL, or index of a map entry: the kernel gets device(begin) - (begin - base) */
    int map;
};

/* ------------------------------------------------------------------ regions and units */
struct ompgpu_unit;
struct ompgpu_passed { /* a pointer, or an address, that reaches a kernel as it is; for messages */
    /* "is_device_ptr(p)", NULL: it is something else; "map(tofrom: p[0:n])" */
    const char *clause, *instead;
};
struct ompgpu_region {  /* one static object per target construct; immutable but for `slot` */
    const char *kernel; /* name in the image */
    const char *file, *function, *directive;
    unsigned line, column;
    struct ompgpu_unit *unit;
    void *slot; /* runtime: cached kernel handles */
    /* `kernel` is of the covering form, which gives a thread one iteration of the league's loop at
     * most; this one is for any number of threads, if there is one: else `kernel` is launched as
     * often as it takes (OMPGPU_LAUNCH_COVERS).  NULL: `kernel` is for any number */
    const char *strided;
    const struct ompgpu_passed *passed; /* with the flag NAMED: an entry a parameter */
};
enum ompgpu_construct { OMPGPU_TARGET_DATA, OMPGPU_ENTER_DATA, OMPGPU_EXIT_DATA, OMPGPU_UPDATE };
struct ompgpu_place { /* of a data construct; static, immutable */
    const char *file;
    unsigned line;
    const char *directive; /* for messages */
    enum ompgpu_construct construct;
};
struct ompgpu_launch {
    long device; /* device clause or OMPGPU_DEVICE_DEFAULT */
    /* clauses, 0: none.  thread_limit is the smaller of thread_limit and, in SPMD, num_threads */
    int num_teams, thread_limit;
    unsigned long long trip; /* iterations of the SPMD loop nest where known, else 0 */
    unsigned flags;          /* OMPGPU_LAUNCH_* */
    /* bytes that each thread needs for private copies of reduced arrays */
    __SIZE_TYPE__ copy_bytes;
    /* bytes of a team's slot beyond those that the image names: its arrays */
    __SIZE_TYPE__ reduce_bytes;
    /* bytes that each thread needs for copies of inner constructs, of sizes that the image does not
     * know */
    __SIZE_TYPE__ inner_bytes;
    /* of a region with a covering kernel, or with lanes and several loops: the trip counts of the
     * nest's loops, exactly */
    unsigned nloops;
    unsigned long long trips[4];
    unsigned dynamic_bytes; /* with the flag DYNAMIC: team-shared memory that the region asks for */
    /* with the flag LANES: how many lanes of a warp are to run an iteration, 0: that is left to the
     * runtime; iterations of the loop inside, which they share, 0: … (e[first + trip] - e[first]) /
     * trip, on average; e: parameter number `rows` from 1 on, or 0: not known, with elements of
     * row_size bytes */
    unsigned lanes, rows, row_size;
    unsigned long long inner_trip;
    long long first;
};
struct ompgpu_phase { /* a kernel of several that together do what a region's does */
    struct ompgpu_region *region;
    const struct ompgpu_launch *launch;
};
/* A loop around the phases [first, end), which have parameters of their own.  One of them is
 * *counter, which has a new value each time: from, from + step, …; a kernel takes as many of its
 * bytes, the lowest, as it needs. */
struct ompgpu_repeat {
    unsigned first, end;
    unsigned long long times;
    long long from, step;
    unsigned long long *counter;
    const struct ompgpu_param *params;
    unsigned nparams;
};
enum { OMPGPU_DEVICE_DEFAULT = -2147483647L - 1 };
enum {
    OMPGPU_LAUNCH_TEAMS = 1,    /* has a teams construct; without: one team */
    OMPGPU_LAUNCH_PARALLEL = 2, /* needs more than one thread a team */
    /* trip iterations are shared by teams × threads (else by the threads of each team) */
    OMPGPU_LAUNCH_DISTRIBUTE = 4,
    OMPGPU_LAUNCH_REDUCTION = 8,
    OMPGPU_LAUNCH_SPMD = 16,
    OMPGPU_LAUNCH_DYNAMIC = 32, /* earlier objects have no dynamic_bytes */
    OMPGPU_LAUNCH_SCAN = 64,    /* a scan by all teams, or by one: its scratchpad is for tiles */
    OMPGPU_LAUNCH_NAMED = 128,  /* earlier objects have no region->passed */
    OMPGPU_LAUNCH_COVERS =
        512,                   /* the kernel is of the covering form, and there is no strided one */
    OMPGPU_LAUNCH_LANES = 256, /* the region has forms with several lanes an iteration */
};
struct ompgpu_var {   /* a declare target variable */
    const char *name; /* exported name in the image */
    void *address;
    __SIZE_TYPE__ size;
    unsigned link; /* declare target link */
};
enum { /* of a unit */
       /* `requires`: the same in all units of a program */
       OMPGPU_UNIFIED_ADDRESS = 1,
       OMPGPU_UNIFIED_SHARED_MEMORY = 2,
       OMPGPU_REQUIRES = OMPGPU_UNIFIED_ADDRESS | OMPGPU_UNIFIED_SHARED_MEMORY,
       OMPGPU_OFFLOAD_IS_MANDATORY = 4, /* -fopenmp-offload-mandatory */
};
struct ompgpu_unit {
    unsigned abi;
    const void *image; /* struct ompgpu_image_header (hostrt/image.h) */
    const char *file;
    const struct ompgpu_var *vars;
    unsigned nvars, flags;
    void *state; /* runtime */
};

/* ------------------------------------------------------------------ calls from generated code */
void __ompgpu_register(struct ompgpu_unit *);
void __ompgpu_unregister(struct ompgpu_unit *);
/* Adds a copy of the entry, whose number is the result; all of them are freed at once. */
int __ompgpu_map_add(struct ompgpu_map_list *, const struct ompgpu_map *);
void __ompgpu_map_free(struct ompgpu_map_list *);
/* 0: done on the device.  1: the caller runs the host version (data is untouched).  Fatal errors do
 * not return. */
int __ompgpu_target(struct ompgpu_region *, const struct ompgpu_map *, unsigned nmaps,
                    const struct ompgpu_param *, unsigned nparams, const struct ompgpu_launch *);
/* The same for a region that can be run as n kernels, one after the other, with its parameters. */
int __ompgpu_target_phases(struct ompgpu_region *, const struct ompgpu_map *, unsigned nmaps,
                           const struct ompgpu_param *, unsigned nparams,
                           const struct ompgpu_launch *, const struct ompgpu_phase *, unsigned n);
/* … with loops around some of them, in order. */
int __ompgpu_target_repeated(struct ompgpu_region *, const struct ompgpu_map *, unsigned nmaps,
                             const struct ompgpu_param *, unsigned nparams,
                             const struct ompgpu_launch *, const struct ompgpu_phase *, unsigned n,
                             const struct ompgpu_repeat *, unsigned nrepeats);
/* also enter data */
void __ompgpu_data_begin(const struct ompgpu_place *, long device, const struct ompgpu_map *,
                         unsigned n);
/* also exit data */
void __ompgpu_data_end(const struct ompgpu_place *, long device, const struct ompgpu_map *,
                       unsigned n);
/* TO / FROM */
void __ompgpu_data_update(const struct ompgpu_place *, long device, const struct ompgpu_map *,
                          unsigned n);
/* `nowait`: the construct, to be done later, or NULL, for the caller to do it with the functions
 * above.  The caller then makes a detached task with the construct's dependences, if it has any,
 * which calls __ompgpu_deferred() with the task's event; the construct's end fulfils that. */
void *__ompgpu_defer_target(struct ompgpu_region *, const struct ompgpu_map *, unsigned nmaps,
                            const struct ompgpu_param *, unsigned nparams,
                            const struct ompgpu_launch *, _Bool depends);
void *__ompgpu_defer_data(const struct ompgpu_place *, long device, const struct ompgpu_map *,
                          unsigned n, _Bool depends);
void __ompgpu_deferred(void *, __UINTPTR_TYPE__ event);
/* After NULL: the host does it, and the caller may make a task for that. */
_Bool __ompgpu_is_host(long device);
/* Around the host version of a region (core/host.c). */
struct ompgpu_host_icvs {
    int threads, dynamic, levels, schedule, chunk;
};
struct ompgpu_host {
    struct ompgpu_host_icvs icvs; /* of the encountering task */
    int level, active_level;      /* that do not count; 0: not in a team of its own */
    const struct ompgpu_host *outer;
};
enum {
    OMPGPU_HOST_OWN = 0,    /* the OpenMP library gives it an initial thread of its own */
    OMPGPU_HOST_NESTED = 1, /* a team of one thread is made for it: programs of earlier versions */
    OMPGPU_HOST_TEAMS = 2,
    OMPGPU_HOST_ALONE = 4 /* a team of one thread is made for it where `level` is not 0 then */
};
/* A place, for entry points of LLVM's OpenMP library (ident_t there). */
struct ompgpu_ident {
    int none, kind, of[2];
    const char *place;
};
void __ompgpu_host_begin(struct ompgpu_host *, const struct ompgpu_place *, unsigned flags);
void __ompgpu_host_end(struct ompgpu_host *);
/* A region with device_type(nohost) is to run on the host: the program ends. */
void __ompgpu_no_host_version(const struct ompgpu_place *) __attribute__((noreturn));
/* An allocator with traits (omp_alloctrait_t) for a region, which gets a copy: devicertl/alloc.c */
struct __ompgpu_traits {
    unsigned long long align, pool, access, fallback, next, used[32];
};
struct __ompgpu_traits __ompgpu_read_traits(const void *traits, __SIZE_TYPE__ n);
/* Programs of earlier versions: the handle. */
__UINTPTR_TYPE__ __ompgpu_allocator(const void *traits, __SIZE_TYPE__ n);
/* The declare target variable's value on each device is the host's of when the image is loaded
 * there.  Before that, by a constructor. */
void __ompgpu_fill(const void *variable);
/* A constructor, or destructor, of devices: `run` has a region that calls it on that device
 * (core/starts.c).  Lowered text declares these itself. */
void __ompgpu_add_start(void (*run)(int device), int priority, int ends);
void __ompgpu_drop_start(void (*run)(int device));
/* Reverse offload: a function of the host that regions call by its key, and the call where the
 * region runs on the host (hostrt/mailbox.h). */
void __ompgpu_reverse_register(unsigned long long key, void (*)(void **));
void __ompgpu_reverse(unsigned long long key, const void *items, unsigned n);
/* Work spread over devices (core/spread.c); lowered text declares these itself.  n 0: all devices.
 * Returns what the others get.  chunk 0: an equal part for each device. */
/* flags.  EXCHANGE: the chunks' updates, which are synchronous, are made together at the end. */
enum { OMPGPU_SPREAD_WEIGHTED = 1, OMPGPU_SPREAD_EXCHANGE = 2 };
void *__ompgpu_spread_begin(const char *file, unsigned line, const char *directive,
                            const int *devices, unsigned n, unsigned flags);
/* While the result is not 0, the caller runs a loop of at[1] iterations on device at[0], which
 * writes as many elements of the memory: how fast the devices are is not known yet. */
int __ompgpu_spread_weigh(void *, long at[2], float **memory);
/* The iterations, or the range: `trip` values from `start` on; the result: how many chunks. */
unsigned long __ompgpu_spread_divide(void *, long start, long step, unsigned long trip,
                                     unsigned long chunk);
/* at: omp_spread_start, omp_spread_size, the device.  The directives that follow are that chunk's.
 * 0: there is no more. */
int __ompgpu_spread_chunk(void *, long at[3]);
void __ompgpu_spread_end(void *);
/* prefer_type of this host thread's next `interop init` that has been told nothing yet: item i is
 * a name, or a number where that is NULL (lowered text declares it itself; core/interop.c). */
void __ompgpu_interop_prefer(const int *numbers, const char *const *names, unsigned n);
/* use_device_ptr/_addr: device address, or `host` where none */
void *__ompgpu_use_device_at(const struct ompgpu_place *, long device, const void *host);
/* Programs of earlier versions. */
void *__ompgpu_use_device(long device, const void *host);
#endif
