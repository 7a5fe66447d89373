/* write.h - shared by the C writers (c_*.c): output, environment, copier, and one section per file.
 *
 * A writer walks user text from left to right and copies it, changing three things on the way:
 * names that the frontend renamed, uses of variables that are spelled differently in the current
 * function (`v` -> `(*v)`), and constructs, which are replaced by generated code that in turn
 * copies the construct's body.  What a variable is called *here* is the environment: an array
 * indexed by omp_var.id.  Functions that are outlined start from a fresh environment; privatising
 * constructs change entries and restore them afterwards.
 *
 * Sections: text | writer | copier | types | plan | private copies | loops | reductions | deferred
 * | scans | constructs | device | host */
#ifndef OMPGPU_C_WRITE_H
#define OMPGPU_C_WRITE_H
#include <stdarg.h>
#include "codegen/c/codegen.h"

/* ------------------------------------------------------------------ text (text/text.c) */
struct cg_text { /* growing string; s is NULL while empty */
    char *s;
    size_t n, capacity;
    struct omp_place shown; /* of what was written last */
    unsigned line;          /* of the line being written, as clang counts them; 0: unknown */
    unsigned indent;        /* columns before generated code */
    unsigned open;          /* blocks of generated code */
};

/* ------------------------------------------------------------------ writer (text/text.c) */
struct cg {
    const struct omp_unit *unit;
    struct cg_text *out; /* where text goes now */
    /* device: file-scope text that must stand before the function being written; host: NULL */
    struct cg_text *before;
    /* by variable id: how it is spelled here; NULL: its own name */
    const char **env;
    const char **file_env; /* the same at file scope (declare target link variables) */
    /* device: the target construct whose region is written, NULL in device functions */
    const struct omp_construct *target;
    /* device: bytes of copies, of constant sizes, that enclosing constructs of the function have in
     * the team's storage; NULL: 0 */
    const char *copies_below;
    /* device: the taskgroups around what is written, innermost first (device/task.c) */
    struct cg_group *groups;
    const struct cg_plan *plan; /* of that region */
    /* what the kernel's info says of the region's teams reductions: bytes of a team's slot … */
    const char *teams_bytes;
    unsigned teams_flags; /* … OMPGPU_KERNEL_* */
    /* what the copier does with a construct … */
    void (*construct)(struct cg *, const struct omp_construct *);
    /* … of these kinds; others are copied */
    bool (*handles)(const struct omp_construct *);
    const char *prefix; /* of generated names: what no identifier of the file contains */
    bool renames;       /* apply the unit's renames (device text) */
    /* user text that is copied: its lines begin at column `from` in the file, at `to` here */
    struct cg_layout {
        bool fixed; /* it stays as it is */
        unsigned from, to;
    } layout;
    /* of the construct being written: the line of generated statements */
    struct omp_place place;
    const char **names;
    unsigned nnames; /* file-scope names given out */
    const char **locks;
    unsigned nlocks; /* critical sections seen */
    int errors;
};
void cg_init(struct cg *, const struct omp_unit *, struct cg_text *out);
void cg_free(struct cg *);
/* Append.  In all formats '@' is the prefix of generated names: "@rec". */
void cg_put(struct cg *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cg_puts(struct cg *, const char *);
void cg_write(struct cg *, const char *, size_t);
/* Outlined bodies and then the function, in which __func__ is the name of the user's function. */
void cg_write_within(struct cg *, const struct omp_function *, const struct cg_text *before,
                     const struct cg_text *text);
/* A text that was written for itself; it has closed the blocks that it opened. */
void cg_append(struct cg *, const struct cg_text *);

/* Generated code, a line a call: indented, broken at 120 columns.  It belongs to cg->place: a line
 * marker precedes it where the line before belongs to another place, or, with unit->exact_lines,
 * where clang would count it as another. */
enum { CG_INDENT = 4 };
void cg_line(struct cg *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A line of its own after an empty one, of no place. */
void cg_comment(struct cg *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* HEAD { */
void cg_open(struct cg *, const char *head, ...) __attribute__((format(printf, 2, 3)));
/* HEAD and { on the next line */
void cg_open_function(struct cg *, const char *head, ...) __attribute__((format(printf, 2, 3)));
void cg_open_scope(struct cg *); /* { */
void cg_close(struct cg *);
void cg_close_with(struct cg *, const char *tail); /* }TAIL */
void cg_close_to(struct cg *, unsigned open);      /* until so many are open */
void cg_else(struct cg *);                         /* } else { */
/* A new line for text of that place, with a marker where clang would count it as another. */
void cg_marker(struct cg *, struct omp_place);
void cg_forget_place(struct cg *); /* other markers were written since the last one */
void cg_end_line(struct cg *);     /* unless the text is at the start of one */
bool cg_at_line_start(const struct cg_text *);
void cg_pad(struct cg *, unsigned columns);
/* lives as long as cg */
const char *cg_strf(struct cg *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* as a C string literal with its quotes */
/* a file's name for a comment: without line ends */
const char *cg_in_comment(struct cg *, const char *);
const char *cg_quoted(struct cg *, const char *);
/* BASE[_n]SUFFIX, not used before in this file */
const char *cg_name(struct cg *, const char *base, const char *suffix);
/* an error of ours: the frontend has reported all of the user's */
void cg_fault(struct cg *, struct omp_place, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Text of the construct's directive: `#pragma omp target …` on one line, without '#pragma omp' when
 * `bare`. */
const char *cg_directive(struct cg *, const struct omp_construct *, bool bare);

/* ------------------------------------------------------------------ copier (text/copy.c) */
static inline bool cg_empty(struct omp_extent e) { return e.begin >= e.end; }
void cg_copy(struct cg *, struct omp_extent); /* with edits */
/* the same, after a line marker; a missing ';' is no concern of ours */
void cg_copy_body(struct cg *, struct omp_extent);
const char *cg_expr(struct cg *, struct omp_extent); /* with edits, on one line */
const char *cg_raw(struct cg *, struct omp_extent);  /* without edits, on one line */
const char *cg_spell(const struct cg *, const struct omp_var *);
const char *cg_address(struct cg *, const struct omp_var *); /* &(v), simplified */
/* Change the environment; returns what to restore. */
const char *cg_bind(struct cg *, const struct omp_var *, const char *spelling);
/* replaces the whole environment by a copy or a fresh one */
const char **cg_push_env(struct cg *, bool fresh);
void cg_pop_env(struct cg *, const char **saved);
/* References to variables in an extent: index of the first one at or after `offset`. */
unsigned cg_first_ref(const struct omp_unit *, unsigned offset);
bool cg_is_used(const struct omp_unit *, struct omp_extent, const struct omp_var *);
/* or its address taken */
bool cg_is_written(const struct omp_unit *, struct omp_extent, const struct omp_var *);
/* has device text another name for a type or constant in it? */
bool cg_is_renamed(const struct omp_unit *, struct omp_extent);
struct omp_extent cg_whole(const struct omp_construct *); /* directive and body */

/* ------------------------------------------------------------------ types (text/types.c) */
/* UNQUALIFIED: usable for a copy that is assigned to */
enum cg_qualifiers { CG_AS_IS, CG_UNQUALIFIED };
/* stands before a name; a const goes after it; run-time bounds are called __v_d0, __v_d1 … */
const char *cg_type(struct cg *, const struct omp_type *, const char *v, enum cg_qualifiers);
const char *cg_var_type(struct cg *, const struct omp_var *, enum cg_qualifiers);
/* TYPE NAME */
const char *cg_declaration(struct cg *, const char *type, const char *name);
const char *cg_reference(struct cg *, const struct omp_var *); /* TYPE *NAME */
unsigned cg_nbounds(const struct omp_type *);                  /* hidden bounds of this type */
/* value of the i-th, from an lvalue of that type */
const char *cg_bound(struct cg *, const struct omp_type *, unsigned i, const char *lvalue);
/* type in which iterations of an induction variable are counted */
const char *cg_unsigned(const struct omp_type *);
bool cg_is_aggregate(const struct omp_type *);

/* ----------------------------------------------- plan (plan.c): what both writers must agree on */
enum cg_pass {                /* how a kernel parameter is made */
               CG_PASS_BOUND, /* run-time bound number `bound` of var */
               CG_PASS_VALUE, /* the variable's value */
               /* the value of a pointer variable, translated through map `map` */
               CG_PASS_POINTER,
               /* the value of a pointer variable, translated if it points into mapped storage */
               CG_PASS_LOOKUP,
               CG_PASS_ADDRESS, /* device address of the variable, from map `map` */
               /* device address of a fresh copy of the variable, for this launch */
               CG_PASS_COPY,
               CG_PASS_HOST_ADDRESS, /* has_device_addr: the variable's address, as it is */
};
struct cg_param {
    const struct omp_var *var;
    enum cg_pass pass;
    unsigned bound;
    int map;
    bool one_copy; /* threads that share it rely on each other's writes */
};
struct cg_plan {
    struct cg_param *params;
    unsigned nparams;
    bool spmd, workers;
    /* SPMD: the tightly nested constructs, outermost first; else just the target construct */
    const struct omp_construct *chain[8];
    unsigned nchain;
    const struct omp_construct *inner; /* the last of them */
    unsigned leaves;                   /* of all of the chain */
    /* the construct with the teams leaf, NULL without */
    const struct omp_construct *teams;
    bool reduction; /* over the league */
    /* reductions on constructs in the teams region that end with it (reduce/deferred.c) */
    struct cg_deferred *deferred;
    unsigned ndeferred;
};
void cg_make_plan(struct cg *, const struct omp_construct *target, struct cg_plan *);
void cg_free_plan(struct cg_plan *);
const struct omp_clause *cg_clause(const struct omp_construct *, enum omp_clause_kind);
/* innermost in the chain */
const struct omp_clause *cg_plan_clause(const struct cg_plan *, enum omp_clause_kind);
/* the if clause that applies to a leaf */
const struct omp_clause *cg_if(const struct omp_construct *, enum omp_leaf);
const struct omp_sharing *cg_sharing(const struct omp_construct *, const struct omp_var *);
/* the positive constant of its argument, or 0 */
unsigned cg_constant(const struct omp_clause *);

/* ------------------------------------------------------------ private copies (device/private.c) */
struct cg_private;
struct cg_privates;
/* What there is to do for a private copy; NULL: nothing.  Each is done for all variables of a
 * construct before the next: an initial value may use another variable's original. */
struct cg_copy_kind {
    /* while the variable is still spelled as it is `outside`: where the original is, __o_v */
    void (*find)(struct cg *, struct cg_private *, const char *outside);
    /* the copy with its initial value */
    void (*declare)(struct cg *, const struct cg_privates *, const struct cg_private *);
    /* how it is spelled from now on; NULL: by its name */
    const char *(*spelling)(struct cg *, const struct cg_private *);
};
/* reductions in the record, of arrays; inscan, of a variable and of a section */
extern const struct cg_copy_kind cg_record_copy, cg_array_copy, cg_scan_copy, cg_scan_section_copy;

/* whose is the original of a reduction that several teams end (reduce/deferred.c) */
enum cg_owner { CG_OF_TEAM, CG_OF_LEAGUE, CG_OF_UNKNOWN };
/* who takes part in a reduction: one thread, the main thread of each team for itself, the threads
 * of a team, those of all teams, the main threads of all teams */
enum cg_finish { CG_SERIAL, CG_ONE_THREAD, CG_PARALLEL, CG_LEAGUE, CG_TEAMS };
struct cg_private {
    const struct cg_copy_kind *kind;
    const struct omp_sharing *sharing;
    const struct omp_var *var;
    struct omp_place place;
    bool bounds;       /* the type's run-time bounds must be computed here */
    const char *saved; /* environment to restore */
    /* reductions: */
    const struct omp_type *elem; /* the type of one element */
    const char *count;           /* arrays: the elements; NULL while they are not computed yet */
    unsigned section;            /* inscan: elements of a section; 0: the variable itself */
    enum cg_owner owner;
    /* user-defined: its functions are __udr_… and __init_… of this name */
    const char *udr;
};
struct cg_privates {
    struct cg_private *list;
    unsigned n, capacity;
    bool lastprivate, linear, reduction; /* there are some; reduction: other than inscan */
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
    /* … the entry for those that are updated at the end of the teams region, in reach as
     * __deferred */
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
void cg_share_copy(struct cg_private *); /* SPMD: one copy a team, shared by its threads */
bool cg_has(const struct cg_privates *, const struct cg_copy_kind *);
void cg_open_privates(struct cg *, struct cg_privates *);        /* `{` and the declarations */
void cg_close_privates(struct cg *, const struct cg_privates *); /* reductions, `}` */
/* a statement */
const char *cg_assign(struct cg *, const struct omp_type *, const char *to, const char *from);
/* T *__o_v = &v */
void cg_find_original(struct cg *, struct cg_private *, const char *outside);

/* ------------------------------------------------------------------ loops (device/loops.c) */
/* who shares the iterations; ALL_THREADS: of the league */
enum cg_who { CG_TEAM, CG_THREAD, CG_ALL_THREADS, CG_ONE };
void cg_loop_nest(struct cg *, const struct omp_construct *, enum cg_who, struct cg_privates *,
                  const struct omp_clause *schedule, const struct omp_clause *dist_schedule);
/* host: an expression, NULL if it may not be evaluated there */
const char *cg_trip(struct cg *, const struct omp_construct *);

/* -------------------------------------------------------------- reductions (reduce/reduction.c) */
/* type of one element of what is reduced */
const struct omp_type *cg_reduced(const struct omp_sharing *);
const struct cg_copy_kind *cg_reduction_kind(const struct omp_sharing *);
bool cg_is_reduction(const struct cg_private *); /* other than inscan */
/* record, functions, remark, at file scope */
void cg_reduction_functions(struct cg *, struct cg_privates *);
void cg_finish_reduction(struct cg *, const struct cg_privates *);
unsigned cg_kernel_counts(unsigned variables, unsigned arrays); /* OMPGPU_KERNEL_* */

/* Values and list items (reduce/operator.c).  These make statements. */
/* an expression; NULL: not a reduction type */
const char *cg_identity(struct cg *, const struct omp_type *, enum omp_red_op);
const char *cg_combined(struct cg *, enum omp_red_op, const char *a, const char *b);
/* a = a op b; for one element */
const char *cg_combine(struct cg *, const struct cg_private *, const char *a, const char *b);
const char *cg_initial(struct cg *, const struct cg_private *, const char *copy,
                       const char *original);
/* the same for a whole list item of a record */
const char *cg_combine_item(struct cg *, const struct cg_private *, const char *a, const char *b);
const char *cg_initial_item(struct cg *, const struct cg_private *);
/* writes those of a user-defined reduction */
void cg_user_functions(struct cg *, struct cg_private *, const char *base);

/* The record (reduce/record.c). */
void cg_write_record(struct cg *, struct cg_privates *); /* with its functions; if there is one */
/* of inscan reductions; its type */
const char *cg_scan_record(struct cg *, const struct cg_privates *, const char *name,
                           unsigned *padding);
const char *cg_record_size(struct cg *, const struct cg_privates *);
void cg_load_record(struct cg *, const struct cg_privates *); /* __rec, __tmp */
bool cg_has_items_of(const struct cg_privates *, enum cg_owner);
/* *__o_v = *__o_v op from v */
void cg_update_items(struct cg *, const struct cg_privates *, const char *from, enum cg_owner);
void cg_update_atomically(struct cg *, const struct cg_privates *, const char *from);
/* why it cannot end by atomic updates; NULL: it can.  own: a team's original */
const char *cg_not_atomic(const struct cg_private *, bool own);

/* Arrays (reduce/array.c). */
void cg_find_array(struct cg *, struct cg_private *, const char *outside); /* __o_v, __e_v */
void cg_array_functions(struct cg *, const struct cg_privates *);
/* name of the function that combines one element */
const char *cg_combiner(struct cg *, const struct cg_privates *, const struct cg_private *);
bool cg_is_large(const struct cg_private *); /* may need memory that is not on the stack */
bool cg_has_constant_size(const struct cg_private *);
/* the copies of a team are combined where they lie in memory */
bool cg_in_rows(const struct cg_privates *, const struct cg_private *);
bool cg_any_in_rows(const struct cg_privates *);
bool cg_is_shuffled(const struct cg_privates *, const struct cg_private *); /* by shuffles */
/* of a thread's copy, in global memory; NULL: 0 */
const char *cg_global_bytes(struct cg *, const struct cg_privates *, const struct cg_private *);
/* within the team, into the originals (or entries), or into its slot */
void cg_combine_arrays(struct cg *, const struct cg_privates *, bool to_slots);
/* all slots into the originals */
void cg_get_arrays(struct cg *, const struct cg_privates *);

/* Memory for arrays (reduce/memory.c).  Offsets: of the NULL copy, the end. */
const char *cg_elements(struct cg *, const struct cg_private *);
const char *cg_array_bytes(struct cg *, const struct omp_type *elem, const char *count);
const char *cg_slot_offset(struct cg *, const struct cg_privates *, const struct cg_private *);
const char *cg_copy_offset(struct cg *, const struct cg_privates *, const struct cg_private *);
/* device: __stride, __copies, __copy */
void cg_allocate_copies(struct cg *, struct cg_privates *);
void cg_free_copies(struct cg *, const struct cg_privates *);
/* host: of a team's slot but for the record; of a thread's copies in the scratchpad; NULL: none */
const char *cg_launch_slot_bytes(struct cg *, const struct cg_plan *);
const char *cg_launch_copy_bytes(struct cg *, const struct cg_plan *);
/* host: of a thread's copies in the team heap, as far as the host can foresee them; writes
 * statements */
const char *cg_inner_copy_bytes(struct cg *, const struct omp_construct *target,
                                const struct cg_plan *);

/* -------------------------------- reductions that end with the teams region (reduce/deferred.c) */
void cg_find_deferred(struct cg *, struct cg_plan *);
/* The construct; in this order. */
void cg_find_owners(struct cg *, const struct omp_construct *, struct cg_privates *);
/* in the region: the value of __deferred, NULL none */
const char *cg_deferred_pointer(struct cg *, const struct omp_construct *);
/* its size, for the teams construct */
void cg_deferred_record(struct cg *, struct cg_privates *);
const char *cg_entry_offset(struct cg *, const struct cg_privates *, const struct cg_private *);
void cg_deferred_add_record(struct cg *, const struct cg_privates *);
void cg_deferred_add_array(struct cg *, const struct cg_privates *, const struct cg_private *);
void cg_deferred_end(struct cg *, const struct cg_privates *);
/* The teams construct around them.  own: bytes of its own part of a slot. */
bool cg_has_entries(const struct cg *, const struct cg_privates *);
void cg_declare_entries(struct cg *, const char *own); /* __entry_N, __stride */
void cg_get_entries(struct cg *);                      /* in the last team */
/* what the kernel's info says, cg.teams_… */
void cg_state_teams(struct cg *, const struct cg_privates *);
/* bytes of the arrays of all entries; NULL none */
const char *cg_entries_arrays(struct cg *, const struct cg_plan *);

/* ------------------------------------------------------------------ scans (reduce/scan.c) */
/* A loop as its rounds see it: type and number of iterations; who the thread is, of how many;
 * `locals`: declarations and assignments for iteration __k; `advance`: `, expression` that goes on
 * to the thread's next one; rows: iterations of each thread in a round; alone: one thread runs all
 * of them. */
struct cg_rounds {
    const char *k, *total, *id, *count, *locals, *advance;
    unsigned rows;
    bool alone;
};
enum { CG_SCAN_BYTES = 64 }; /* __OMPGPU_SCAN_BYTES */
bool cg_is_scan(const struct omp_sharing *);
void cg_scan_rounds(struct cg *, const struct omp_construct *, const struct cg_privates *,
                    const struct cg_rounds *);
unsigned cg_section_elements(const struct omp_sharing *); /* of a section of constant length */
/* of the variable's private copy: v, or *__p_v */
const char *cg_copy_name(struct cg *, const struct cg_private *);

/* -------------------------- constructs (device/construct.c, device/atomic.c, device/parallel.c) */
void cg_device_construct(struct cg *, const struct omp_construct *);
void cg_inner_construct(struct cg *, const struct omp_construct *, unsigned leaves,
                        struct cg_privates *);
void cg_teams(struct cg *, const struct omp_construct *, unsigned leaves);
void cg_atomic(struct cg *, const struct omp_construct *);
void cg_taskgroup(struct cg *, const struct omp_construct *);
/* into the current environment */
void cg_bind_in_reductions(struct cg *, const struct omp_construct *);
void cg_parallel(struct cg *, const struct omp_construct *, unsigned leaves);
/* for the device tool; the function is declared before */
void cg_function_assumptions(struct cg *, const struct omp_function *);
/* the lock variable of a critical name */
const char *cg_lock(struct cg *, const char *name);

/* ---------------------------------------------------- device (device/region.c, device/device.c) */
/* region function, info, kernel entry */
void cg_region(struct cg *, const struct omp_construct *);
/* name of a declare target variable in the image */
const char *cg_export_id(struct cg *, const struct omp_var *);
/* has a device copy or, `link`, a device pointer */
bool cg_is_device_variable(const struct omp_var *);

/* --------------------------------------------------------------- host (host/host.c, host/map.c) */
/* The arrays __m and __p of a construct; returns the number of map entries. */
unsigned cg_maps(struct cg *, const struct omp_construct *, const struct cg_plan *);
/* target update of sections with gaps */
void cg_update_pieces(struct cg *, const struct omp_construct *);
/* first address and bytes of an array section, as expressions */
struct cg_span {
    const char *begin, *size;
};
struct cg_span cg_span_of(struct cg *, const struct omp_item *);
#endif
