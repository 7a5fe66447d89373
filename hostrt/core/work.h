/* work.h - a construct of data mapping at work (data.c), its way to the table, and what is said of
 * its items. */
#ifndef OMPGPU_WORK_H
#define OMPGPU_WORK_H
#include <sys/single_threaded.h>
#include "hostrt/core/core.h"

enum { OMPGPU_FEW_LEFT = 16 };
struct work { /* one construct at work */
    struct ompgpu_device *dev;
    struct ompgpu_where *where;
    const struct ompgpu_map *maps; /* its items */
    unsigned n;
    uint64_t number;
    struct ompgpu_thread *thread; /* whose region it is; NULL: no region */
    struct ompgpu_task *task;     /* deferred: all goes into its queue; NULL: it is not */
    unsigned held;                /* of the table; 0: nothing, since the caller holds it all */
    bool wrong;                   /* what failed is the program's mistake */
    struct ompgpu_fill fill;      /* what goes to the device */
    uint64_t counted;             /* bit i: for item i a mapping was counted, up or down */
    bool holds;                   /* an item has `ompx_hold` */
    enum ompgpu_leave how;        /* leaving only, as the next one */
    struct ompgpu_entry *found[OMPGPU_FEW_LEFT]; /* for item i, as it was counted; NULL: none */
};

/* ------------------------------------------------------------------ the table */
static inline uintptr_t device_address(const struct ompgpu_entry *e, uintptr_t host)
{
    /* host may lie before begin: arithmetic wraps as it should */
    return e->device + (host - e->begin);
}

static inline bool holds_whole(unsigned held) { return !held || (held & OMPGPU_WHOLE); }

static inline struct ompgpu_entry *find_extended(struct ompgpu_device *dev, uintptr_t host,
                                                 unsigned held)
{
    struct ompgpu_entry *e = host ? ompgpu_present_find(dev, host, 1) : NULL;
    return e || !host ? e : ompgpu_present_reach(dev, host, holds_whole(held));
}

/* A process that has one thread needs no lock: only that thread could start another one, and it is
 * here. */
static inline unsigned lock_tables(struct ompgpu_device *dev)
{
    return __libc_single_threaded ? 0 : ompgpu_tables_lock(dev);
}

static inline void unlock_tables(struct ompgpu_device *dev, unsigned held)
{
    if (held)
        ompgpu_tables_unlock(dev, held);
}

/* ------------------------------------------------------------------ cover.c */
/* Takes the mappings of pointers in the range, which are all that is mapped of it, out of the
 * table; NULL, and nothing has changed: they are not. */
struct ompgpu_entry *ompgpu_cover(struct ompgpu_device *, uintptr_t begin, size_t size);
/* Puts them back; by: the one that has covered them, and goes; NULL: there was none. */
void ompgpu_uncover(struct ompgpu_device *, const struct ompgpu_entry *by,
                    struct ompgpu_entry *list);
/* The new mapping gets their pointers; nonzero: no memory. */
int ompgpu_cover_attach(struct work *, const struct ompgpu_map *, struct ompgpu_entry *by);
/* An item OMPGPU_MAP_POINTER whose mapping may be covered comes or goes. */
void ompgpu_covered_enter(const struct work *, struct ompgpu_entry *by, const struct ompgpu_map *);
int ompgpu_covered_leave(struct work *, struct ompgpu_entry *by, const struct ompgpu_map *);
/* data.c: gives up a mapping that has left the table */
void ompgpu_data_put(struct work *, struct ompgpu_entry *);

/* ------------------------------------------------------------------ blocks.c
 * Nonzero: the items of one do not lie together.  Else addresses[i] is that of its base. */
int ompgpu_check_blocks(struct work *, uintptr_t *addresses);

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
