/* profile.h - the sums that OMPGPU_PROFILE asks for (profile.c), for those who write them
 * (profile_files.c). */
#ifndef OMPGPU_CORE_PROFILE_H
#define OMPGPU_CORE_PROFILE_H
#include <stdio.h>
#include "hostrt/core/core.h"

enum ompgpu_profile_kind {
    OMPGPU_PROFILE_REGION,
    OMPGPU_PROFILE_HOST, /* a region that ran on the host instead */
    OMPGPU_PROFILE_TO,
    OMPGPU_PROFILE_FROM,
    OMPGPU_PROFILE_BETWEEN, /* devices */
    OMPGPU_PROFILE_ALLOC,
    OMPGPU_PROFILE_CHUNK, /* of a spread construct: its regions, and the bytes of its copies */
    OMPGPU_PROFILE_KINDS
};
/* What was done at one place to one thing.  Text is copied: the unit may be closed by dlclose(). */
struct ompgpu_profile_row {
    struct ompgpu_profile_row *next; /* of its hash */
    enum ompgpu_profile_kind kind;
    char *file, *name; /* name: a region's, or the list item */
    char *directive;   /* of a copy: the construct; "" where a routine did it */
    unsigned line;
    bool implicit;
    uint64_t count, bytes;
    uint64_t timed; /* how many of them have a time: copies of deferred constructs have none */
    double ms, longest;
    uint64_t timed_bytes;
    /* of a region: its last launch */
    struct ompgpu_geometry geometry;
    bool varies; /* not all launches had that geometry */
    unsigned registers, shared;
    size_t stack;
    double occupancy;  /* of a GPU's multiprocessor, 0: not known */
    bool by_registers; /* … which registers limit */
    unsigned multiprocessors;
    /* of a chunk */
    unsigned long chunk;
    int device;
};
/* One thing that happened, for the trace. */
struct ompgpu_profile_event {
    const struct ompgpu_profile_row *row;
    double start, ms; /* since the program's first construct */
    uint64_t bytes;
    long thread; /* 0: deferred, in a queue */
};
struct ompgpu_profile {
    struct ompgpu_profile_row **rows; /* by time, the longest first; then chunks */
    unsigned nrows;
    const struct ompgpu_profile_event *events;
    size_t nevents, dropped; /* dropped: what there was no room for */
    double ms;               /* from the first construct to the end */
    uint64_t most_bytes;     /* of device memory at a time */
    const char *device;
    bool simulated; /* it is no GPU: times are those of the simulation */
};
const char *ompgpu_profile_kind_name(enum ompgpu_profile_kind);
void ompgpu_profile_write_trace(FILE *, const struct ompgpu_profile *);
void ompgpu_profile_write_csv(FILE *, const struct ompgpu_profile *);
void ompgpu_profile_print(FILE *, const struct ompgpu_profile *); /* the table */
#endif
