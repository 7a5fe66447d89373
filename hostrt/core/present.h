/* present.h - the present table of a device: address ranges, mappings, and the parts in which the
 * table is locked.  A section of core.h, which includes it: it needs what stands there before it.
 */
#ifndef OMPGPU_PRESENT_H
#define OMPGPU_PRESENT_H

/* ------------------------------------------------------------------ address ranges (ranges.c) */
/* An ordered set of ranges that do not overlap.  Its users have this as their first member, so that
 * a range found is the object that has it.  All need the lock of the set's owner. */
struct ompgpu_range {
    uintptr_t begin, end; /* [begin, end), not empty */
    /* the range extends to there, where no other range is; 0: it does not extend */
    uintptr_t base;
    struct ompgpu_range *left, *right;
    uint64_t priority;
    uintptr_t lowest, highest; /* addresses of the extended ranges from here down */
};
struct ompgpu_ranges {
    struct ompgpu_range *root;
    size_t count;
};
/* The lowest range that shares a byte with [begin, begin + max(size, 1)), or NULL. */
struct ompgpu_range *ompgpu_ranges_find(const struct ompgpu_ranges *, uintptr_t begin, size_t size);
/* A range that contains the address once it is extended to its base; NULL: none. */
struct ompgpu_range *ompgpu_ranges_reach(struct ompgpu_ranges *, uintptr_t address);
/* must not overlap with any in the set */
void ompgpu_ranges_insert(struct ompgpu_ranges *, struct ompgpu_range *);
void ompgpu_ranges_remove(struct ompgpu_ranges *, struct ompgpu_range *);

/* -------------------------------------------------------- present table (present.c, data.c) */
/* A deferred construct, which may have ended by now: its struct may be another's already. */
struct ompgpu_ticket {
    struct ompgpu_task *task;
    uint64_t serial;
};
struct ompgpu_attachment { /* a pointer inside mapped storage whose device copy points to device
                              memory */
    uintptr_t host;        /* address of the pointer on the host */
    uintptr_t value;       /* what its device copy holds, or did when it was attached */
    uint64_t construct;    /* number of the one that wrote it last */
    const struct ompgpu_entry *pointee; /* atomic; NULL: it is attached no longer */
};
static inline bool ompgpu_is_attached(const struct ompgpu_attachment *a)
{
    return __atomic_load_n(&a->pointee, __ATOMIC_RELAXED);
}
struct ompgpu_attachments { /* by address */
    struct ompgpu_attachment *list;
    unsigned n, room;
};
struct ompgpu_addresses { /* in any order, some more than once */
    uintptr_t *list;
    unsigned n, room;
};
enum { OMPGPU_REFS_INFINITE = -1 };
enum { OMPGPU_LARGEST_ALIGNMENT = 16 }; /* of a type without an attribute */
struct ompgpu_entry { /* one mapped host range; atomic: what present.c reads without the lock */
    union {
        struct ompgpu_range range;
        struct {
            uintptr_t begin, end; /* the range's */
            uintptr_t base;       /* base address of the list item (OpenMP 5.2, 1.2.6) */
        };
    };
    uintptr_t device; /* device address of begin */
    /* atomic: the reference count, or OMPGPU_REFS_INFINITE, in the lower half; see present.c */
    uint64_t count;
    struct ompgpu_entry *spare; /* another one that is no mapping, as this one */
    /* what follows is 0 in a new one */
    long holds; /* references of `ompx_hold` */
    /* omp_target_associate_ptr: device memory is the user's */
    bool associated;
    bool listed;  /* it is in the table */
    bool asked;   /* it is in first.c's table, or has been */
    bool shared;  /* an allocation: the host reaches it at the same address */
    bool busy;    /* being copied, by a thread that does not hold the lock (fill.c) */
    bool lost;    /* its value, with the device (rescue.c) */
    bool pointer; /* made for the storage of a pointer that leads to a list item */
    void *memory; /* allocated for a mapping of ours: what `device` points into; NULL: … */
    struct ompgpu_pack *pack; /* … it shares this block with others */
    void *shadow;             /* its device memory since the device was given up */
    /* declare target variable: device memory is the image's */
    const struct ompgpu_unit *owner;
    /* numbers of the constructs that counted it last, created it, copied all of it last */
    uint64_t counted, created, filled;
    struct {
        long refs, holds;
    } taken; /* by the construct at work, which leaves */
    const char *name, *file;
    unsigned line; /* who mapped it, for messages */
    /* for OMPGPU_CHECK=stale: its device memory has got nothing; bytes of that, or of the host's,
     * are known to be old, since a region; the region that begins names it */
    bool unsent, outdated, newer, wanted;
    uint64_t *agreed; /* … what the device got last (agreed.c); NULL: … */
    char *had;        /* … and what its memory had then; NULL: the same */
    /* the deferred construct that fills it, those that use it; no task: none does */
    struct ompgpu_ticket filling, *uses;
    unsigned nuses, room_for_uses;
    struct ompgpu_attachments attached; /* pointers in it; guarded by its part of the table */
    struct ompgpu_addresses pointers;   /* of pointers that lead to it, or did */
    long pointees; /* of `pointer`: references of list items that it leads to (cover.c) */
    /* mappings of pointers that this one has taken the place of, and the next one of those */
    struct ompgpu_entry *covered, *next_covered;
};
/* NULL maps nothing; nor does a struct that is no mapping. */
static inline bool ompgpu_maps(const struct ompgpu_entry *e, uintptr_t address)
{
    return e && e->listed && address >= e->begin && address < e->end;
}
static inline long ompgpu_refs(const struct ompgpu_entry *e)
{
    return (int32_t)__atomic_load_n(&e->count, __ATOMIC_RELAXED);
}
/* In `count`: host threads may use it without the lock. */
#define OMPGPU_READY ((uint64_t)1 << 32)
/* With its part of the table held, as what follows, and not for infinite ones. */
static inline void ompgpu_refs_add(struct ompgpu_entry *e, long n)
{
    uint64_t is = __atomic_load_n(&e->count, __ATOMIC_RELAXED);
    if (__libc_single_threaded || !(is & OMPGPU_READY))
        __atomic_store_n(&e->count, is + (uint64_t)n, __ATOMIC_RELEASE);
    else
        __atomic_fetch_add(&e->count, (uint64_t)n, __ATOMIC_ACQ_REL);
}
long ompgpu_refs_take_all(struct ompgpu_entry *);     /* how many there were */
bool ompgpu_refs_take(struct ompgpu_entry *, long n); /* all n; false: there are not so many */
/* Its data is there. */
void ompgpu_entry_ready(struct ompgpu_entry *);
/* Of the mapping that it is to be; the lock is not needed.  NULL: out of memory */
struct ompgpu_entry *ompgpu_entry_new(struct ompgpu_device *, uintptr_t begin, size_t size,
                                      uintptr_t device, long refs);
void ompgpu_entry_free(struct ompgpu_device *, struct ompgpu_entry *); /* has left the table */
void ompgpu_entries_close(struct ompgpu_device *);
struct ompgpu_entry *ompgpu_present_find(struct ompgpu_device *, uintptr_t begin, size_t size);
void ompgpu_present_insert(struct ompgpu_device *, struct ompgpu_entry *);
void ompgpu_present_remove(struct ompgpu_device *, struct ompgpu_entry *);
/* Without the lock, for a region: all its items are present, and have been counted. */
bool ompgpu_present_enter(struct ompgpu_device *, struct ompgpu_where *, const struct ompgpu_map *,
                          unsigned n, uintptr_t *addresses);
/* Of a `quick` region; false: it has to leave with the lock what is not in `left`. */
bool ompgpu_present_leave(struct ompgpu_thread *, unsigned n);
/* The lowest mapping that ends after the address: so all of them are visited, in their order. */
struct ompgpu_entry *ompgpu_present_next(struct ompgpu_device *, uintptr_t after);
size_t ompgpu_present_count(const struct ompgpu_device *);
/* One that contains the address once it is extended to its base; NULL: none.  Of all of the table,
 * or the address's part. */
struct ompgpu_entry *ompgpu_present_reach(struct ompgpu_device *, uintptr_t host, bool whole);

/* Twice: arrays lie at steps, and for each factor there are steps with which it would fill some of
 * a table's sets only. */
static inline uint64_t ompgpu_hash(uintptr_t address)
{
    const uint64_t factor = 0x9e3779b97f4a7c15ull;
    uint64_t h = address * factor;
    return (h ^ h >> 32) * factor;
}

/* -------------------------------------------------------- first bytes (first.c) */
struct ompgpu_part;
/* Device address of the first byte of a mapping; the lock is not needed.  0: it is none, or one
 * that only a look-up with the lock finds. */
uintptr_t ompgpu_first_find(struct ompgpu_device *, uintptr_t host);
/* Where its storage is, is to be found so: it has moved, or nothing but the lock found it. */
void ompgpu_first_note(struct ompgpu_device *, struct ompgpu_entry *);
void ompgpu_first_forget(struct ompgpu_part *, const struct ompgpu_entry *); /* it goes */
void ompgpu_firsts_close(struct ompgpu_part *);

/* -------------------------------------------------------- parts of the table (parts.c) */
enum { OMPGPU_PARTS = 16, OMPGPU_GRANULE_BITS = 21, OMPGPU_OWNER_BITS = 12 };
/* What is held of a table: bit per part, and … */
#define OMPGPU_WHOLE (1u << 31)
struct ompgpu_spares {          /* structs of mappings (present.c) */
    struct ompgpu_entry *first; /* guarded by the part's lock, as the blocks; wide ones: by all */
    struct ompgpu_block *blocks;
    struct ompgpu_entry *back; /* atomic: given back since then */
};
struct ompgpu_part {
    char apart[OMPGPU_APART]; /* from what other threads use, before and … */
    pthread_mutex_t lock;     /* guards what follows, but for what is atomic */
    struct ompgpu_ranges present;
    struct ompgpu_quick *quick;   /* atomic: see present.c */
    struct ompgpu_firsts *firsts; /* … first.c */
    uint64_t construct;           /* how many constructs have counted here */
    unsigned nbusy;               /* mappings in it that are */
    unsigned nfar;                /* … whose base lies in another granule */
    struct ompgpu_spares spares;
    char apart_too[512 - OMPGPU_APART - sizeof(pthread_mutex_t) - 72]; /* … after it */
};
_Static_assert(sizeof(struct ompgpu_part) == 512, "a power of two, for the address of number i");
/* The same, to map something; held by the caller. */
struct ompgpu_part *ompgpu_part_make(struct ompgpu_device *, uintptr_t address);
static inline uintptr_t ompgpu_granule(uintptr_t address) { return address >> OMPGPU_GRANULE_BITS; }
static inline bool ompgpu_in_granule(uintptr_t begin, size_t size) /* one, all of it */
{
    uintptr_t last = begin + size - (size != 0);
    return last >= begin && ompgpu_granule(last) == ompgpu_granule(begin);
}
static inline bool ompgpu_is_wide(const struct ompgpu_entry *e)
{
    return ompgpu_granule(e->end - 1) != ompgpu_granule(e->begin);
}
static inline bool ompgpu_is_far(const struct ompgpu_entry *e) /* its base is in another one */
{
    return e->base && ompgpu_granule(e->base) != ompgpu_granule(e->begin);
}
/* Takes the whole table, the part of an address, what a construct with these items needs: the
 * result says what is held, 0 nothing since there is one thread only.  The last one waits until
 * nothing of the items is busy, nor copies of the first thread are under way. */
unsigned ompgpu_tables_lock(struct ompgpu_device *);
unsigned ompgpu_tables_try(struct ompgpu_device *, const struct timespec *until); /* 0: too late */
unsigned ompgpu_tables_lock_at(struct ompgpu_device *, uintptr_t address);
unsigned ompgpu_tables_lock_for(struct ompgpu_device *, const struct ompgpu_map *, unsigned n,
                                bool whole);
void ompgpu_tables_unlock(struct ompgpu_device *, unsigned held);
/* What was held before; the whole table may have more parts by now. */
unsigned ompgpu_tables_relock(struct ompgpu_device *, unsigned held);
/* Gives up what is held and waits for a round that begins after `round`, which was asked for before
 * the caller saw that it has to wait. */
uint64_t ompgpu_tables_round(const struct ompgpu_device *);
void ompgpu_tables_wait(struct ompgpu_device *, unsigned held, uint64_t round);
/* Something is no longer busy; the first thread's copies are there. */
void ompgpu_tables_copied(struct ompgpu_device *);
void ompgpu_tables_synced(struct ompgpu_device *);
#endif
