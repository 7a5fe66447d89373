/* work.h - a construct of data mapping at work (data.c), and what is said of its items. */
#ifndef OMPGPU_WORK_H
#define OMPGPU_WORK_H
#include "hostrt/core/core.h"

struct work { /* one construct at work */
    struct ompgpu_device *dev;
    struct ompgpu_where *where;
    const struct ompgpu_map *maps; /* its items */
    unsigned n;
    uint64_t number;
    struct ompgpu_thread *thread; /* whose region it is; NULL: no region */
    struct ompgpu_task *task;     /* deferred: all goes into its queue; NULL: it is not */
    bool wrong;                   /* what failed is the program's mistake */
    struct ompgpu_fill fill;      /* what goes to the device */
    uint64_t counted;             /* bit i: for item i a mapping was counted, up or down */
    enum ompgpu_leave how;        /* leaving only */
};

#define IMPOSSIBLE_SIZE "the size is impossible: is a length negative?"
/* ------------------------------------------------------------------ item_faults.c
 * Each sets the plugin's message and returns -1. */
/* What the message says happened to the item; the place becomes the item's. */
int ompgpu_item_failed(struct work *, const struct ompgpu_map *);
/* A mistake of the program's. */
int ompgpu_item_wrong(struct work *, const struct ompgpu_map *, const char *what);
/* The entry has only a part of it; it has parts that do not lie together. */
int ompgpu_item_partly_mapped(struct work *, const struct ompgpu_map *,
                              const struct ompgpu_entry *);
int ompgpu_item_lies_apart(struct work *, const struct ompgpu_map *, const struct ompgpu_entry *);
/* A chunk of a spread construct names what is not mapped; what is, of the same base. */
int ompgpu_item_outside(struct work *, const struct ompgpu_map *, const struct ompgpu_entry *);
/* Where it was mapped, " at FILE:LINE", or ""; returns text. */
const char *ompgpu_entry_place(const struct ompgpu_entry *, char *text, size_t size);
#endif
