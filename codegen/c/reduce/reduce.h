/* reduce.h - private copies of variables, and reductions: private copies that are combined in the
 * end.
 *
 * In:   a construct's sharings, and who runs it (enum cg_finish).
 * Out:  a block around the body: `{`, the copies, the body, their way back to the originals, `}`;
 *       at file scope the record and the functions that combine.
 *
 * Order, for the writer of a construct:
 *
 *   struct cg_privates p = { .finish, .base, … };
 *   cg_collect_privates     which variables, once for each construct that is part of it
 *   cg_find_owners          constructs that the teams share: whose the originals are
 *   cg_open_privates        functions, `{`, originals, memory for arrays, copies; variables are
 *                           spelled as their copies
 *   the body
 *   cg_close_privates       combines, stores to the originals, restores spellings, `}`
 *
 * plan.c calls cg_find_deferred, the host text cg_launch_…_bytes and cg_inner_copy_bytes.  What
 * follows the line "between the files of reduce/" is used only there. */
#ifndef OMPGPU_C_REDUCE_H
#define OMPGPU_C_REDUCE_H
#include "codegen/c/clause.h"
#include "codegen/c/plan.h"
#include "codegen/c/text/text.h"

struct cg_private;
struct cg_privates;

/* What there is to do for a private copy; NULL: nothing.  Each is done for all variables of a
 * construct before the next: an initial value may use another variable's original. */
struct cg_copy_kind {
    /* while the variable is still spelled as it is `outside`: where the original is, @o_v */
    void (*find)(struct cg *, struct cg_private *, const char *outside);
    /* the copy with its initial value */
    void (*declare)(struct cg *, const struct cg_privates *, const struct cg_private *);
    /* how it is spelled from now on; NULL: by its name */
    const char *(*spelling)(struct cg *, const struct cg_private *);
    /* a statement that gives it its value in iteration number i of the loop */
    const char *(*iterate)(struct cg *, const struct cg_private *, const char *i);
    /* a statement of the thread that ran the last iteration: to the original */
    const char *(*store_last)(struct cg *, const struct cg_private *);
};
/* reductions in the record, of arrays; inscan, of a variable and of a section */
extern const struct cg_copy_kind cg_record_copy, cg_array_copy, cg_scan_copy, cg_scan_section_copy;

/* whose is the original of a reduction that several teams end (reduce/deferred.c) */
enum cg_owner { CG_OF_TEAM, CG_OF_LEAGUE, CG_OF_UNKNOWN };
/* who takes part in a reduction: one thread, the main thread of each team for itself, the threads
 * of a team, those of all teams, the main threads of all teams, the lanes that run an iteration */
enum cg_finish { CG_SERIAL, CG_ONE_THREAD, CG_PARALLEL, CG_LEAGUE, CG_TEAMS, CG_ROW };

struct cg_private {
    const struct cg_copy_kind *kind;
    const struct omp_sharing *sharing;
    const struct omp_var *var;
    struct omp_place place;
    bool bounds;       /* the type's run-time bounds must be computed here */
    const char *saved; /* environment to restore */
    int64_t align;     /* that clause `allocate` asks for, or 0 */
    /* reductions: */
    const struct omp_type *elem; /* the type of one element */
    const char *count;           /* arrays: the elements; NULL while they are not computed yet */
    unsigned section;            /* inscan: elements of a section; 0: the variable itself */
    enum cg_owner owner;
    const char *udr; /* user-defined: its functions are @udr_… and @init_… of this name */
};

struct cg_privates {
    struct cg_private *list;
    unsigned n, capacity;
    bool last;      /* some have a last value, which one thread stores: it needs @last */
    bool reduction; /* there are some other than inscan */
    /* a thread may store to an original that another still reads */
    bool race;
    /* only threads for which this is true run the loop (masked taskloop) */
    const char *guard;

    /* reductions, as the construct says: */
    enum cg_finish finish;
    const char *base; /* FUNCTION_LINE, names the record and the functions */
    /* an SPMD kernel: copies of arrays are in the launch's scratchpad, else in the team heap */
    bool scratchpad;
    bool whole_warps; /* the kernel is launched with whole warps */
    /* cg_find_owners: every team ends these by itself … */
    bool of_teams;
    /* … some originals may be any team's: they are updated under this lock … */
    const char *lock;
    /* … the entry for those that are updated at the end of the teams region, which the text can
     * reach as @deferred */
    struct cg_deferred *deferred;

    /* made by cg_reduction_functions: */
    const char *record; /* its type; NULL: there is none */
    unsigned padding;   /* bytes at its end that need not travel */
    bool redux;         /* it has a helper for redux.sync */
    bool atomic;        /* each team updates the originals atomically, and needs no slot */
    unsigned flags;     /* OMPGPU_KERNEL_* of a kernel whose league reduction this is */
    const char *below;  /* cg.copies_below outside */
};

struct cg_deferred {
    const struct omp_construct *construct;
    struct cg_privates end; /* device: as they were at its end, but for spellings */
};

/* ------------------------------------------------------ private copies (reduce/private.c) */
enum cg_collect {
    CG_ALL_COPIES = 0,
    CG_REDUCTIONS_ONLY = 1, /* the others belong to an inner leaf */
    CG_NO_REDUCTIONS = 2,   /* done by an outer leaf already */
    /* in a function of its own: variables passed by value are private copies already, and of
       private variables only the bounds were passed */
    CG_OUTLINED = 4,
};
/* Adds the construct's variables; those of an inner construct replace those of an outer one. */
void cg_collect_privates(struct cg *, const struct omp_construct *, struct cg_privates *,
                         unsigned collect);
/* SPMD: this is one copy a team, which its threads share. */
void cg_share_copy(struct cg *, struct cg_private *);
bool cg_has(const struct cg_privates *, const struct cg_copy_kind *);
/* `{` and the declarations; without any variable nothing. */
void cg_open_privates(struct cg *, struct cg_privates *);
/* The statement that begins iteration number i for this copy; NULL: none. */
const char *cg_iterate(struct cg *, const struct cg_private *, const char *i);
/* Its last value to the original, of a loop of n iterations. */
void cg_store_last(struct cg *, const struct cg_private *);
/* Finishes the reductions; `}`. */
void cg_close_privates(struct cg *, const struct cg_privates *);

/* ----------------------- reductions that end with the teams region (reduce/deferred.c) */
/* Finds the constructs whose reductions end with the teams region: plan.deferred, on the heap. */
void cg_find_deferred(struct cg *, struct cg_plan *);
/* A construct that the teams share: sets owners, of_teams, lock and deferred.  After collecting,
 * before opening; nothing for other constructs. */
void cg_find_owners(struct cg *, const struct omp_construct *, struct cg_privates *);
/* In the region: the construct's entry in the team's slot, an expression; NULL: it has none. */
const char *cg_deferred_pointer(struct cg *, const struct omp_construct *);
/* After the teams construct: what the kernel's info says of its reductions, cg.teams_… */
void cg_state_teams(struct cg *, const struct cg_privates *);

/* ------------------------------------------------------ memory of a launch (reduce/memory.c) */
/* Host: bytes of a team's slot but for the record and entries, of a thread's copies in the
 * scratchpad; NULL: none. */
const char *cg_launch_slot_bytes(struct cg *, const struct cg_plan *);
const char *cg_launch_copy_bytes(struct cg *, const struct cg_plan *);
/* Host: bytes of a thread's copies in the team heap, as far as the host can foresee them; NULL:
 * none.  Writes statements. */
const char *cg_inner_copy_bytes(struct cg *, const struct omp_construct *target,
                                const struct cg_plan *);

/* ------------------------------------------------------ scans (reduce/scan.c) */
/* A loop with an inscan reduction, as its steps see it. */
struct cg_scan_steps {
    const char *k, *total;  /* type and number of the iterations */
    const char *id, *count; /* who the thread is, of how many */
    const char *locals;     /* declarations and assignments for iteration @k */
    const char *advance;    /* `, expression` that goes on to the thread's next iteration */
    unsigned rows;          /* iterations of each thread in a step */
    bool by_one_thread;     /* one thread runs all of them */
    bool by_league;         /* … or all teams; id and count are the team's */
};
enum { CG_SCAN_BYTES = 64 }; /* __OMPGPU_SCAN_BYTES */
/* The loop, within its private copies. */
void cg_scan_loop(struct cg *, const struct omp_construct *, const struct cg_privates *,
                  const struct cg_scan_steps *);

/* ================================================== between the files of reduce/ */

/* Declares @o_v, a pointer to the original (reduce/private.c). */
void cg_find_original(struct cg *, struct cg_private *, const char *outside);
/* An attribute for the copy's declaration, after the name, or "". */
const char *cg_aligned(struct cg *, const struct cg_private *);

/* ------------------------------------------------------ the way (reduce/reduction.c) */
/* The type of one element of what is reduced; NULL: none is known. */
const struct omp_type *cg_reduced(const struct omp_sharing *);
const struct cg_copy_kind *cg_reduction_kind(const struct omp_sharing *);
/* Is it a reduction other than inscan? */
bool cg_is_reduction(const struct cg_private *);
/* Record, functions and remark, at file scope; before the copies are declared. */
void cg_reduction_functions(struct cg *, struct cg_privates *);
/* From the copies to the originals, all the way; frees the copies' memory. */
void cg_finish_reduction(struct cg *, const struct cg_privates *);
/* Counts as OMPGPU_KERNEL_* flags. */
unsigned cg_kernel_counts(unsigned variables, unsigned arrays);

/* ------------------------------------------------------ values (reduce/operator.c) */
/* The operator's initial value, an expression; NULL: the type cannot be reduced by it. */
const char *cg_identity(struct cg *, const struct omp_type *, enum omp_red_op);
/* a OP b, an expression. */
/* Statements for one element: a = a OP b; copy = initial value. */
const char *cg_combine(struct cg *, const struct cg_private *, const char *a, const char *b);
const char *cg_initial(struct cg *, const struct cg_private *, const char *copy,
                       const char *original);
/* The same for a whole list item of a record. */
const char *cg_combine_item(struct cg *, const struct cg_private *, const char *a, const char *b);
const char *cg_initial_item(struct cg *, const struct cg_private *);
/* Writes the functions of a user-defined reduction, and sets udr; nothing for others. */
void cg_user_functions(struct cg *, struct cg_private *, const char *base);

/* ------------------------------------------------------ the record (reduce/record.c) */
/* Writes the record with its functions; sets record, padding, redux.  Nothing if no item is in it.
 */
void cg_write_record(struct cg *, struct cg_privates *);
/* Writes that of inscan reductions; returns its type. */
const char *cg_scan_record(struct cg *, const struct cg_privates *, const char *name,
                           unsigned *padding);
/* Its bytes without padding, where @rec is declared. */
const char *cg_record_size(struct cg *, const struct cg_privates *);
/* Declares @rec, with the copies' values, and @tmp. */
void cg_load_record(struct cg *, const struct cg_privates *);
bool cg_has_items_of(const struct cg_privates *, enum cg_owner);
/* *@o_v = *@o_v OP FROMv, for the owner's items; FROM is "" or "RECORD." */
void cg_update_items(struct cg *, const struct cg_privates *, const char *from, enum cg_owner);
/* The same for all items by atomic operations. */
void cg_update_atomically(struct cg *, const struct cg_privates *, const char *from);
/* Why the item cannot be updated atomically, for a remark; NULL: it can.  own: a team's original.
 */
const char *cg_not_atomic(const struct cg_private *, bool own);

/* ------------------------------------------------------ arrays (reduce/array.c) */
/* Declares @o_v, the first element, and @e_v, the number of elements. */
void cg_find_array(struct cg *, struct cg_private *, const char *outside);
/* Writes the functions that combine one element, and as many as are shuffled at a time. */
void cg_array_functions(struct cg *, const struct cg_privates *);
/* The name of the function that combines one element. */
const char *cg_combiner(struct cg *, const struct cg_privates *, const struct cg_private *);
/* May it need memory that is not on the stack? */
bool cg_is_large(const struct cg_private *);
bool cg_has_constant_size(const struct cg_private *);
/* Are the copies of a team combined where they lie in memory? */
bool cg_in_rows(const struct cg_privates *, const struct cg_private *);
bool cg_any_in_rows(const struct cg_privates *);
/* Are they combined by shuffles? */
bool cg_is_shuffled(const struct cg_privates *, const struct cg_private *);
/* Bytes of a thread's copy in global memory; NULL: 0. */
const char *cg_global_bytes(struct cg *, const struct cg_privates *, const struct cg_private *);
void cg_end_array(struct cg *, const struct cg_privates *, const struct cg_private *);
/* Combines within the team, into the originals (or entries), or into the team's slot. */
void cg_combine_arrays(struct cg *, const struct cg_privates *, bool to_slots);
/* In the last team: combines all slots into the originals. */
void cg_get_arrays(struct cg *, const struct cg_privates *);

/* ------------------------------------------------------ memory (reduce/memory.c) */
/* The number of elements, an expression. */
const char *cg_elements(struct cg *, const struct cg_private *);
/* Bytes of so many elements, in whole 16 bytes. */
const char *cg_array_bytes(struct cg *, const struct omp_type *elem, const char *count);
/* Where an array begins in a team's slot, in a thread's copies; of the NULL copy: the end. */
const char *cg_slot_offset(struct cg *, const struct cg_privates *, const struct cg_private *);
const char *cg_copy_offset(struct cg *, const struct cg_privates *, const struct cg_private *);
/* Device: declares @stride, @copies, @copy, as far as they are needed. */
void cg_allocate_copies(struct cg *, struct cg_privates *);
void cg_free_copies(struct cg *, const struct cg_privates *);

/* ------------------------------------------------------ deferred (reduce/deferred.c) */
/* The construct, in this order: the entry's size, for the teams construct, at file scope; … */
void cg_deferred_record(struct cg *, struct cg_privates *);
/* … where an array begins in the entry; … */
const char *cg_entry_offset(struct cg *, const struct cg_privates *, const struct cg_private *);
/* … a team's result into the entry: @rec, an array; … */
void cg_deferred_add_record(struct cg *, const struct cg_privates *);
void cg_deferred_add_array(struct cg *, const struct cg_privates *, const struct cg_private *);
/* … and its end, which the teams construct needs to know. */
void cg_deferred_end(struct cg *, const struct cg_privates *);
/* The teams construct around them.  Are there entries in its slots? */
bool cg_has_entries(const struct cg *, const struct cg_privates *);
/* Declares @entry_N and @stride.  own: bytes of the construct's own part of a slot. */
void cg_declare_entries(struct cg *, const char *own);
/* In the last team: combines the entries of all teams into the originals. */
void cg_get_entries(struct cg *);
/* Bytes of the arrays of all entries; NULL: none. */
const char *cg_entries_arrays(struct cg *, const struct cg_plan *);

/* ------------------------------------------------------ scans (reduce/scan.c) */
/* Elements of a section of constant length; 0: it is no inscan section. */
unsigned cg_section_elements(const struct omp_sharing *);
/* The variable's private copy: v, or *@p_v. */
const char *cg_copy_name(struct cg *, const struct cg_private *);
#endif
