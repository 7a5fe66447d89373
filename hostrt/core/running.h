/* running.h - a region at work, between target.c, which runs it, and forms.c. */
#ifndef OMPGPU_RUNNING_H
#define OMPGPU_RUNNING_H
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

struct sequence { /* kernels that are run instead of a region's, and loops around some of them */
    const struct ompgpu_phase *phases;
    unsigned nphases;
    const struct ompgpu_repeat *repeats;
    unsigned nrepeats;
};

struct running { /* one region at work */
    struct ompgpu_device *dev;
    struct ompgpu_thread *thread; /* that does it; NULL: … */
    struct ompgpu_task *task;     /* … it is deferred: all of it goes into the task's queue */
    struct ompgpu_buffers *buffers;
    uintptr_t *addresses; /* by map */
    void **arguments;     /* room for them */
    struct ompgpu_function *function;
    const struct ompgpu_map *maps;
    unsigned nmaps;
    bool launched;                   /* the device may have changed what is there */
    const struct sequence *sequence; /* NULL: the region's kernel */
    struct ompgpu_where where;
};

/* ------------------------------------------------------------------ forms.c */
/* The form of the region's kernel, which becomes r->function (before: its kernel), the geometry and
 * the environment of its launch but for buffers. */
int ompgpu_choose_form(struct running *r, struct ompgpu_region *region,
                       const struct ompgpu_param *params, const struct ompgpu_launch *launch,
                       struct ompgpu_geometry *g, struct ompgpu_env *env);
/* After the copies of so many threads: bytes that are nobody's, in checked images. */
size_t ompgpu_guards_of(const struct ompgpu_device *dev, unsigned threads);
#endif
