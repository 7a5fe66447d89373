/* unit.h - what the frontend knows about one preprocessed C file.
 *
 * This is the only thing that passes from frontend/ to the C writers of codegen/.  No libclang type
 * appears here.  Everything is allocated from the unit's arena and lives until omp_unit_free().
 *
 * All source positions are byte offsets into `text`, the preprocessed file (the `.i`).  A struct
 * omp_place is the presumed position (after line markers) that the user sees.
 *
 * Sections: places | types | variables | clauses | loops | constructs | declarations | unit */
#ifndef OMPGPU_UNIT_H
#define OMPGPU_UNIT_H
#include "driver/base/diag.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ------------------------------------------------------------------ places */
/* file is "" and line 0 where unknown */
struct omp_place {
    const char *file;
    unsigned line, col;
};
/* [begin, end) in unit->text; empty: begin == end */
struct omp_extent {
    unsigned begin, end;
};

/* ------------------------------------------------------------------ types */
enum omp_type_kind {
    OMPT_INT,
    OMPT_BOOL,
    OMPT_FLOAT,
    OMPT_COMPLEX,
    OMPT_POINTER,
    OMPT_ARRAY,
    OMPT_RECORD,
    OMPT_OTHER
};
/* OMPT_INT includes char and enum; OMPT_FLOAT is _Float16, float, double, long double, told apart
 * by `size`/`spelling`. */
struct omp_type {
    enum omp_type_kind kind;
    /* as C writes it, without a top-level const, usable inside __typeof__( ); for a type that is
     * not variably modified only.  Local and unnamed struct types already have their new name. */
    const char *spelling;
    bool is_signed, is_const, is_long_double;
    bool vla;               /* this array has a run-time bound */
    bool variably_modified; /* this or any element / pointee type is a VLA */
    uint64_t size;          /* bytes; 0 where not constant or incomplete */
    uint64_t alignment;     /* bytes; 0 where incomplete */
    uint64_t bound;         /* OMPT_ARRAY with constant bound: elements */
    /* OMPT_ARRAY: element, OMPT_POINTER: pointee (always set, also for void) */
    struct omp_type *elem;
};

/* ------------------------------------------------------------------ variables */
enum omp_storage { OMPS_GLOBAL, OMPS_LOCAL, OMPS_PARAM, OMPS_STATIC_LOCAL };
struct omp_var {
    const char *name;
    struct omp_place place;
    struct omp_type *type; /* a parameter declared as an array has its pointer type here */
    enum omp_storage storage;
    unsigned decl;  /* offset of the declaration's name */
    unsigned begin; /* of the declaration, with its specifiers */
    /* where the name is visible: from the declarator to the end of its block */
    struct omp_extent scope;
    struct omp_extent init; /* initialiser text without '=', empty if none */
    /* somewhere in the file &v is taken (or v is an array that decays, or a record) */
    bool address_taken;
    bool is_extern;              /* declared here, defined elsewhere, or: */
    const struct omp_var *alias; /* the variable of this file that it is another name of; or NULL */
    bool is_static;
    bool is_per_thread; /* thread-local, or threadprivate */
    bool is_weak;       /* other files may define it, too */
    /* a constant with a name: the device text has its declaration, and nothing captures it */
    bool is_constexpr;
    /* at file scope, what the declaration asks for beyond its type's, to be written before it, with
     * a blank; NULL: nothing */
    const char *alignment;
    /* `extern` in a block declares it, too: where a local variable hides its name, or where it has
     * no other declaration */
    bool in_blocks;
    /* it counts the launches of kernels, which get its value as a parameter (struct omp_repeat) */
    bool counts;
    /* host only, but a type of the device text asks for its size: the text declares it */
    bool sized;
    enum {
        OMPV_NOT_DECLARED,
        OMPV_DT_TO,
        OMPV_DT_LINK,
        OMPV_DT_IMPLICIT,
        OMPV_DT_GROUP
    } declare_target;
    /* IMPLICIT: a global that a device function uses; it gets a device copy as with `to`; GROUP:
     * groupprivate, each team has one */
    unsigned id; /* index in unit->vars */
    /* While the device text is written, where it calls the variable otherwise: the name that the
     * linker knows.  Else NULL. */
    const char *symbol;
    /* It stands for a typedef with run-time bounds: frontend/carriers.c. */
    enum { OMPV_NO_CARRIER, OMPV_HAS_THE_TYPE, OMPV_POINTS_TO_THE_TYPE } carries;
};

/* One use of a variable, or of the typedef that it carries, in program text or in a clause.
 * unit->refs is sorted by offset. */
struct omp_ref {
    unsigned offset, length;
    struct omp_var *var;
    bool write; /* assigned, ++/--, or its address is taken here */
};
/* An expression that the user wrote, and what is known of its value.  The uses in it are the
 * unit's refs with offsets in its extent. */
struct omp_expr {
    struct omp_extent extent;    /* empty: none was written; then all else is zero */
    const struct omp_type *type; /* NULL: unknown */
    bool is_constant;            /* an integer constant: value */
    int64_t value;
    /* no assignment, ++ or --, nothing volatile, no call but of functions declared pure or const;
     * false also where this is unknown */
    bool is_pure;
    /* what it evaluates follows a pointer, subscripts, or calls: more than the values of variables
     * by name; true also where this is unknown */
    bool reads_memory;
    /* all its parts are integers, so that every machine has the same value for it; false also where
     * this is unknown */
    bool is_integer;
};
/* A textual change that the frontend asks for everywhere the text is copied into device text (names
 * of local or unnamed types, static locals).  Also sorted by offset.  length may be 0 (pure
 * insertion). */
struct omp_rename {
    unsigned offset, length;
    const char *text;
};

/* Statements that only one lane runs of those that run an iteration together. */
struct omp_guard {
    struct omp_extent extent;
    bool last; /* nothing of the iteration follows */
};

/* ------------------------------------------------------------------ directives and clauses */
/* Leaf constructs, a bit each; a combined directive is the union of its leaves. */
enum omp_leaf {
    OMPL_TARGET = 1 << 0,
    OMPL_TEAMS = 1 << 1,
    OMPL_DISTRIBUTE = 1 << 2,
    OMPL_PARALLEL = 1 << 3,
    OMPL_FOR = 1 << 4,
    OMPL_SIMD = 1 << 5,
    OMPL_LOOP = 1 << 6,
    OMPL_TARGET_DATA = 1 << 7,
    OMPL_ENTER_DATA = 1 << 8,
    OMPL_EXIT_DATA = 1 << 9,
    OMPL_UPDATE = 1 << 10,
    OMPL_BARRIER = 1 << 11,
    OMPL_CRITICAL = 1 << 12,
    OMPL_ATOMIC = 1 << 13,
    OMPL_MASTER = 1 << 14,
    OMPL_MASKED = 1 << 15,
    OMPL_SINGLE = 1 << 16,
    OMPL_DECLARE_TARGET = 1 << 17,
    OMPL_END_DECLARE_TARGET = 1 << 18,
    OMPL_FLUSH = 1 << 19,
    OMPL_SECTIONS = 1 << 20,
    OMPL_SECTION = 1 << 21,
    OMPL_ORDERED = 1 << 22,
    OMPL_TASK = 1 << 23,
    OMPL_SCAN = 1 << 24,
    OMPL_TASKLOOP = 1 << 25,
    OMPL_TASKGROUP = 1 << 26,
    OMPL_TASKWAIT = 1 << 27 /* and taskyield */,
    OMPL_SCOPE = 1 << 28,
    OMPL_ERROR = 1 << 29,
    /* host only; an error inside a target region or device function */
    OMPL_OTHER = 1 << 30,
    /* those that map data and are not target */
    OMPL_DATA = OMPL_TARGET_DATA | OMPL_ENTER_DATA | OMPL_EXIT_DATA | OMPL_UPDATE
};

/* The rows of omp.def.  A combined directive has the id of its first leaf. */
enum omp_directive {
#define OMP_LEAF(id, ...) OMPDIR_##id,
#define OMP_DIRECTIVE(id, ...) OMPDIR_##id,
#include "frontend/omp.def"
    OMPDIR_COUNT,
    OMPDIR_UNKNOWN = OMPDIR_COUNT
};
enum omp_clause_kind {
#define OMP_CLAUSE(id, ...) OMPC_##id,
#include "frontend/omp.def"
    OMPC_COUNT
};
enum omp_keyword {
    OMPK_NONE, /* no keyword, or one that makes no difference */
#define OMP_KEYWORD(id, spelling) OMPK_##id,
#include "frontend/omp.def"
    OMPK_COUNT
};
extern const char *const omp_keyword_names[OMPK_COUNT];
/* What becomes of a directive in code that runs on the device, or of a clause (HINT, HOST too). */
enum omp_role { OMPROLE_UNSUPPORTED, OMPROLE_DEVICE, OMPROLE_IGNORED, OMPROLE_HINT, OMPROLE_HOST };

/* reduction operators: the rows of reduction_ops.def; USER has a `declare reduction` */
enum omp_red_op {
#define REDUCTION_OP(id, spelling, class, identity, combination, redux, atomic, host) OMPR_##id,
#include "frontend/reduction_ops.def"
#undef REDUCTION_OP
    OMPR_USER
};
enum omp_op_class { OMPR_ARITHMETIC, OMPR_BITWISE, OMPR_LOGICAL, OMPR_ORDER };
enum omp_identity { OMPR_ZERO, OMPR_ONE, OMPR_ONES, OMPR_LARGEST, OMPR_SMALLEST };
struct omp_reduction_op {
    const char *spelling;
    enum omp_op_class class;
    enum omp_identity identity;
    const char *combination, *redux, *atomic, *host;
};
extern const struct omp_reduction_op omp_reduction_ops[OMPR_USER];
/* Can the operator combine values of a type of this kind? */
bool omp_reduces(enum omp_red_op, enum omp_type_kind);

enum omp_sched {
    OMPSCHED_NONE,
    OMPSCHED_STATIC,
    OMPSCHED_DYNAMIC,
    OMPSCHED_GUIDED,
    OMPSCHED_AUTO,
    OMPSCHED_RUNTIME
};
/* map type in the low bits, modifiers above: the same values as OMPGPU_MAP_* of hostrt/ompgpu.h */
enum omp_map_type {
    OMPM_ALLOC = 0,
    OMPM_TO = 1,
    OMPM_FROM = 2,
    OMPM_TOFROM = 3,
    OMPM_DELETE = 8,
    OMPM_RELEASE = 16,
    OMPM_ALWAYS = 4,
    OMPM_PRESENT = 0x1000,
    OMPM_CLOSE = 0x2000 /* a hint, ignored */,
    OMPM_SELF = 0x4000,
    OMPM_HOLD = 0x8000,
    OMPM_UNATTACHED = 0x20000, /* attach(never) */
    OMPM_SAYS_ATTACH = 0x40000 /* of a clause: attach(…) */,
    OMPM_POINTER = 0x10000 /* implied, for an item of enter or exit data that it leads to */,
};

enum omp_defaultmap { /* behaviour of defaultmap */
                      DMAP_DEFAULT,
                      DMAP_ALLOC,
                      DMAP_TO,
                      DMAP_FROM,
                      DMAP_TOFROM,
                      DMAP_FIRSTPRIVATE,
                      DMAP_PRIVATE,
                      DMAP_NONE,
                      DMAP_PRESENT,
                      DMAP_SELF = OMPM_SELF
};

struct omp_section {        /* one [lower : length] or [index] */
    struct omp_expr lower;  /* empty: 0 */
    struct omp_expr length; /* empty: up to the end of the dimension (arrays) */
    struct omp_expr stride; /* target update: elements from one to the next; empty: 1 */
    bool is_section;        /* had a ':'; otherwise a plain index and length is 1 */
    bool is_unbounded;      /* of what a pointer leads to, or of a flexible array member */
    bool is_assumed;        /* p[:] in map, OpenMP 6.0: what is mapped there, as with length 0 */
    /* constant number of elements of this dimension where known, else 0 */
    uint64_t dim;
    uint64_t count; /* elements that are taken, where this is a constant, else 0 */
};
/* `declare reduction(name : types : combiner) initializer(init)`, section 5.5.11 of OpenMP 5.2. The
 * texts are in terms of omp_out, omp_in, omp_priv and omp_orig. */
struct omp_udr {
    const char *name;           /* identifier or operator */
    struct omp_extent types;    /* type-list */
    struct omp_extent combiner; /* expression */
    /* `omp_priv = …` without these words, or a call; empty: as static storage */
    struct omp_extent init;
    bool init_is_call;
    struct omp_extent scope; /* where it is visible */
    struct omp_place place;
};
/* `declare mapper([name:] type var) map(…)`, section 5.8.8 of OpenMP 5.2: the maps of its construct
 * are what a list item of the type, or each element of an array, is mapped by. */
struct omp_mapper {
    const char *name; /* or "default" */
    struct omp_var *var;
    struct omp_extent type;  /* as the user wrote it */
    struct omp_extent scope; /* where it is visible */
    struct omp_construct *construct;
};
/* `iterator(type name = first : end : step)`, section 3.2.6. */
struct omp_iterator {
    struct omp_extent type; /* empty: int */
    struct omp_extent name;
    struct omp_expr first, end, step; /* step: empty: 1 */
    struct omp_var *var;
};
struct omp_item {           /* one list item:  v | v[l:n][..] | s.m | s->m[l:n] | *p  */
    struct omp_var *var;    /* the base variable */
    struct omp_extent text; /* the whole item */
    /* the lvalue before the first section: `v`, `s->m`, `pp[i]`; == text without sections */
    struct omp_extent base;
    struct omp_type *base_type; /* type of `base` */
    bool base_is_var;           /* base is just the variable's name */
    struct omp_section *sections;
    unsigned nsections;
    /* the base pointer: the lvalue that was followed last on the way to the storage, `s->m` of
     * s->m[0:n]; empty: the storage is part of the variable */
    struct omp_extent base_pointer;
    bool base_pointer_is_var;
    unsigned derefs; /* pointers followed from the variable to the mapped storage */
    /* `[n][m]` of  ([n][m])p : base is the pointer, the first section what it leads to */
    struct omp_extent shape;
    /* map and motion clauses: what maps it, NULL: nothing special */
    const struct omp_mapper *mapper;
    /* reduction items: the user-defined reduction to use, NULL: the clause's operator */
    const struct omp_udr *udr;
    /* frontend use: the members on the way from the variable (offsets of their declarations), the
     * base pointer as an item, and the outermost struct object that holds a member */
    const unsigned *members;
    unsigned nmembers;
    /* the last member of what a pointer leads to: programs declare such arrays with fewer elements
     * than they allocate */
    bool may_be_longer;
    struct omp_item *pointer, *object;
    struct omp_place place;
};
struct omp_clause {
    enum omp_clause_kind kind;
    struct omp_place place;
    struct omp_extent extent; /* the whole clause, name to closing parenthesis */
    struct omp_item *items;
    unsigned nitems; /* list clauses */
    /* the (first) expression argument, empty if none: num_teams, if, schedule chunk, linear step …
     */
    struct omp_expr expr;
    enum omp_leaf if_leaf; /* if(parallel: …) and friends: the leaf named, 0 if none */
    /* OMPC_MAP: enum omp_map_type; OMPC_DEFAULTMAP: enum omp_defaultmap, for the
     * frontend, or OMPM_SELF */
    unsigned map;
    enum omp_sched sched; /* schedule, dist_schedule */
    enum omp_red_op op;   /* reduction, in_reduction, task_reduction */
    /* the argument's keyword: default(none), bind(teams), reduction(inscan, …), device(ancestor: …)
     * … of defaultmap the category, of schedule the modifier monotonic, else simd */
    enum omp_keyword keyword;
    /* constant argument where needed: collapse(n), ordered(n), device modifier … */
    int64_t value;
    const char *word;   /* reductions: the operator or identifier as written */
    const char *mapper; /* the name in the modifier, NULL: none */
    struct omp_iterator *iterators;
    unsigned niterators;
    struct omp_clause *next;
};

/* ------------------------------------------------------------------ canonical loops */
enum { OMP_MAX_LOOPS = 16 }; /* of a nest that are collapsed */
struct omp_loop {            /* for (init; test; incr) body */
    struct omp_var *iv;
    bool iv_declared;   /* `for (int i = …` */
    struct omp_expr lb; /* the initial value */
    struct omp_expr ub; /* the bound in the test */
    /* as if written  iv REL ub */
    enum { OMPREL_LT, OMPREL_LE, OMPREL_GT, OMPREL_GE, OMPREL_NE } rel;
    struct omp_expr step; /* the step, empty for ++/-- (then 1) */
    bool step_negative;   /* subtract the step */
    /* the outer loop of the nest whose variable the bounds use (linearly, section 4.4.2); else NULL
     */
    const struct omp_loop *outer;
    struct omp_extent body;   /* the statement governed by the loop */
    struct omp_extent extent; /* the whole for statement */
    struct omp_place place;
};

/* A loop of a region around kernels (phases.c), which the host runs: its bounds are the same there,
 * its step is a constant. */
struct omp_repeat {
    struct omp_loop loop;
    unsigned first, end; /* of the region's phases */
};

/* ------------------------------------------------------------------ constructs */
enum omp_share {
    OMPSH_SHARED,
    OMPSH_PRIVATE,
    OMPSH_FIRSTPRIVATE,
    OMPSH_REDUCTION,
    OMPSH_LINEAR,
    OMPSH_LOOP_IV
};
/* Declare target variables are used directly and listed only where they are not SHARED.  A scalar
 * that a target construct takes by value (capture BYVAL without a firstprivate clause) is SHARED
 * here: use the captured copy. */
struct omp_sharing { /* how a construct treats one variable that is visible outside of it */
    struct omp_var *var;
    enum omp_share share;
    /* with PRIVATE, FIRSTPRIVATE or LOOP_IV: value of the last iteration is copied out */
    bool lastprivate;
    /* SHARED: not written in the construct, address not taken in the target region (for variables
     * of the device: anywhere), arithmetic or pointer: an outlined function may take a copy */
    bool by_value;
    struct omp_clause *clause; /* where it comes from, NULL when implicit */
    struct omp_item *item;     /* the list item, for reductions of array sections */
};
/* Target constructs only: how each captured variable reaches the kernel, and what is mapped for it.
 */
enum omp_capture_kind {
    /* kernel gets the device address of the (mapped) variable: use is (*v) */
    OMPCAP_BYREF,
    OMPCAP_BYVAL, /* firstprivate: kernel gets the value */
    /* pointer variable: kernel gets a device pointer translated through maps[map] (explicit
       section) or looked up (map == -1) */
    OMPCAP_POINTER,
    OMPCAP_DEVICE_PTR, /* is_device_ptr / has_device_addr: value passed unchanged */
    /* private on target: nothing is passed, the type (and VLA bounds) only */
    OMPCAP_PRIVATE,
    /* has_device_addr: &v is a device address and passed unchanged, use is (*v) */
    OMPCAP_DEVICE_ADDR,
};
struct omp_span { /* bytes [begin, end) of a struct; end 0: none */
    uint64_t begin, end;
};
struct omp_capture {
    struct omp_var *var;
    enum omp_capture_kind kind;
    int map; /* index in construct->maps, -1 none */
    /* a struct, or a pointer to one, that no clause names: what the region uses of it */
    struct omp_span used;
    /* BYVAL, POINTER: the variable is written, or its address taken, where several teams (or the
     * threads of an SPMD region) share it: the copy must be one object in device memory for the
     * whole launch */
    bool one_copy;
};
struct omp_map { /* one mapping action, in the order in which it is done */
    struct omp_var *var;
    struct omp_item *item; /* NULL: the whole variable */
    unsigned type;         /* enum omp_map_type bits */
    bool implicit;
    /* the base pointer itself has a device copy (struct member, declare target variable, mapped
     * pointer) that must point to the pointee's device address */
    bool attach;
    /* item maps what a pointer points to (section of a pointer), not the variable itself */
    bool pointee;
    /* another map of the construct may have the same base: what is not mapped of those that do is
     * mapped as one block */
    bool in_block;
    const struct omp_mapper *mapper; /* NULL: none */
    const struct omp_clause *over;   /* it is done for all values of its iterators; NULL: once */
};
/* atomic: text extents of the parts; see section 15.8.4 of OpenMP 5.2 */
/* What x gets, as in C.  In compare forms MIN, MAX, and EQUAL: `desired` where x equals expr. */
#define OMP_ATOMIC_OPS(X)                                                                          \
    X(NONE, "")                                                                                    \
    X(ASSIGN, "=")                                                                                 \
    X(ADD, "+")                                                                                    \
    X(SUB, "-")                                                                                    \
    X(MUL, "*")                                                                                    \
    X(DIV, "/")                                                                                    \
    X(REM, "%")                                                                                    \
    X(AND, "&")                                                                                    \
    X(OR, "|")                                                                                     \
    X(XOR, "^")                                                                                    \
    X(SHL, "<<")                                                                                   \
    X(SHR, ">>")                                                                                   \
    X(MIN, "min")                                                                                  \
    X(MAX, "max")                                                                                  \
    X(EQUAL, "==")
#define OMP_ATOMIC_OP(id, name) OMPAO_##id,
enum omp_atomic_op { OMP_ATOMIC_OPS(OMP_ATOMIC_OP) };
#undef OMP_ATOMIC_OP
extern const char *const omp_atomic_op_names[];
struct omp_atomic {
    enum { OMPA_READ, OMPA_WRITE, OMPA_UPDATE, OMPA_CAPTURE, OMPA_COMPARE } form;
    /* x: the storage; expr: the other operand / stored value; v: capture or read target */
    struct omp_extent x, expr, v;
    enum omp_atomic_op op;     /* ASSIGN: capture with plain write; read and write: NONE */
    bool x_is_right;           /* x = expr OP x */
    bool capture_new;          /* v gets the value after (before otherwise) */
    bool capture_failure;      /* v gets the value only where x did not equal expr */
    struct omp_extent result;  /* EQUAL: gets x == expr; empty: nothing does */
    struct omp_extent desired; /* EQUAL: x == expr ? desired : x */
    struct omp_type *x_type;
};

/* A loop with an inscan reduction: its body in two.  inclusive: `before` is the input phase,
 * exclusive: `after` is. */
struct omp_phase {     /* what its statements cost */
    unsigned nodes;    /* statements and expressions */
    unsigned accesses; /* subscripts and dereferences */
    bool has_loop, has_call;
};
struct omp_scan {
    struct omp_construct *directive;
    bool exclusive;
    /* statements before and after the directive */
    struct omp_extent before, after;
    struct omp_phase in_before, in_after;
    /* locals of `before` that `after` sets anew: to be declared there, too */
    struct omp_var **again;
    unsigned nagain;
    bool continues; /* `after` has a continue of the loop */
};

/* assume, assumes: what the device tool can use */
enum omp_assumption {
    /* all threads of a team may do it where one would: no effect differs */
    OMPASSUME_AMENABLE = 1,
    OMPASSUME_NO_PARALLEL = 2, /* no parallel region is reached */
    OMPASSUME_NO_ROUTINES = 4, /* no OpenMP routine is called */
};

/* Of a loop of a league, or of a team, with a loop inside that lanes could share: may several lanes
 * of a warp run an iteration together (frontend/lanes/)? */
struct omp_lanes {
    bool team;       /* the loop is a team's: its threads share it */
    const char *why; /* they may not, and this is why; NULL: they may, and what follows counts */
    struct omp_place place;            /* of the reason */
    unsigned length, most;             /* powers of two: as simdlen says, 0: it is left to us; at
                                          most, up to 32 */
    const struct omp_construct *inner; /* the first loop inside */
    struct omp_var *rows; /* whose iterations are rows[i + first] … rows[i + first + 1] - 1; NULL:
                             others */
    int64_t first;
};

struct omp_construct {
    enum omp_directive directive;
    enum omp_role role;
    unsigned leaves;          /* enum omp_leaf bits; `loop` is replaced by what it stands for */
    unsigned written;         /* the same as the user wrote it */
    const char *spelling;     /* "target teams distribute parallel for" */
    struct omp_place place;   /* of the '#' line's directive name */
    struct omp_extent pragma; /* from '#' up to and with the newline (all continuation lines) */
    struct omp_extent body;   /* the associated statement with its ';', empty if stand-alone */
    /* of a metadirective: the directive, in the pragma, that this construct is; else empty */
    struct omp_extent chosen;
    /* … and the one that the host has there, if it is known; empty: none */
    bool for_host;
    struct omp_extent host_choice;
    struct omp_clause *clauses;
    const char *name;     /* critical(name) */
    unsigned assumptions; /* assume: enum omp_assumption bits */
    struct omp_atomic *atomic;
    struct omp_scan *scan;
    struct omp_loop *loops;
    unsigned nloops; /* associated loops, outermost first (collapse) */
    /* the body of these loops, with what it calls, is short; it has loops, and is not that short */
    bool is_short, repeats_much;
    /* … of a region's league: nothing in it can tell which team it is in, or needs a team's storage
     */
    bool unnumbered;
    /* the loops inside these that collapse() counts, too, outermost first: each iteration of
     * `loops` runs them whole.  A variable of theirs that is declared outside is private. */
    struct omp_loop *inner;
    unsigned ninner;
    struct omp_sharing *sharings;
    unsigned nsharings;
    struct omp_capture *captures;
    unsigned ncaptures; /* target constructs */
    struct omp_map *maps;
    unsigned nmaps; /* target, target data, enter/exit data, update */
    /* lexical nesting: enclosing, first inner, next sibling */
    struct omp_construct *parent, *child, *next;
    /* the function it stands in, NULL at file scope */
    struct omp_function *function;
    /* cancel, cancellation point on the device: what it ends, NULL: nothing (cancel.c) */
    struct omp_construct *cancels;
    bool cancelled; /* … a construct: some directive may end it */
    bool on_device; /* inside a target region or in a device function */
    /* a target construct with device_type(host): its region is host code, and TARGET is not among
     * `leaves` */
    bool host_region;
    bool left_out; /* of the host text: clang rejects it, and nothing there needs it */
    /* target constructs: */
    /* kernel name, unique in the program: FUNCTION_LINE, with _2 … where needed; statics and same
     * names in other files are kept apart by the image, not by this name */
    const char *region;
    /* SPMD by its form: the constructs from this one to spmd_inner are tightly nested (it may be
     * itself), and every thread runs them; NULL: one thread runs the region's sequential code */
    struct omp_construct *spmd_inner;
    bool spread; /* `teams` and `distribute` of its leaves are ours (spread.c) */
    /* a loop of one team: why spread.c left it there, "it uses 'f'"; NULL: it had no say in it */
    const char *one_team;
    /* kernels that do the same one after the other (phases.c): copies, by next; NULL: there are
     * none
     */
    struct omp_construct *phases;
    struct omp_repeat *phase_loops; /* loops around some of these */
    unsigned nphase_loops;
    struct omp_lanes *lanes; /* of a construct with such a loop; NULL: nothing inside asks */
    /* in that form: lanes share the loop's iterations; of an atomic construct, one lane does it */
    bool by_lanes;
    bool stores;         /* … and the loop stores to memory */
    bool needs_parallel; /* some parallel region can be reached, so workers are needed */
    /* a construct inside of the SPMD ones, or a function that can be reached, synchronises threads
     */
    bool synchronises;
};

/* ------------------------------------------------------------------ declarations at file scope */
enum omp_decl_kind {
    OMPD_TYPE,
    OMPD_TYPEDEF,
    OMPD_VARIABLE,
    OMPD_PROTOTYPE,
    OMPD_FUNCTION,
    OMPD_STATIC_ASSERT,
    OMPD_PRAGMA /* `#pragma pack(…)`, `#pragma STDC …`: a line of its own, copied as it is */
};
struct omp_decl {
    enum omp_decl_kind kind;
    /* TYPE: `struct S {…}` without ';'; TYPEDEF: to ';' included; PROTOTYPE: to ';' included;
     * FUNCTION: to '}' ; VARIABLE: the group, for information */
    struct omp_extent extent;
    bool device;                   /* belongs into the device text (all types do) … */
    bool on_demand;                /* … a system header's: where that names it (type_names) */
    struct omp_var *var;           /* VARIABLE */
    struct omp_function *function; /* PROTOTYPE, FUNCTION */
    struct omp_place place;
    /* VARIABLE: only declares it, another VARIABLE entry that defines it follows (no initialiser
     * here) */
    bool tentative;
    /* to be written instead of the extent; unit->local_types: with the new names, and ';' */
    const char *text;
};
/* A typedef name, tag or enumerator declared at file scope; more than one may lie in a decl. */
struct omp_type_name {
    unsigned offset;
    const char *name;
};
/* A line that says how floating-point expressions are evaluated: #pragma STDC, #pragma clang fp. */
struct omp_fp_pragma {
    struct omp_extent extent;
    struct omp_extent scope; /* the block that it stands in; empty: the rest of the file */
};
struct omp_function {
    const char *name;
    struct omp_extent extent, body; /* body: the '{…}' */
    /* `struct S {…} f(void)`: the type that one of its declarations defines, which is a TYPE of the
     * unit before it, and what names that type; NULL: none does */
    struct omp_extent defines;
    const char *defined_name;
    struct omp_place place;
    bool defined, device, is_static, is_inline, is_variadic;
    bool system;                      /* of a system header */
    struct omp_construct *constructs; /* outermost ones, linked by next */
    bool has_parallel;                /* a parallel construct can be reached from it */
    /* not defined here, but device code calls it: the device link finds it */
    bool elsewhere;
    /* host only, but a type of the device text names it: the text declares it */
    bool in_types;
    unsigned assumptions; /* enum omp_assumption bits */
    /* a construct or routine that orders what its threads see of each other can be reached from it
     */
    bool synchronises;
};

/* ------------------------------------------------------------------ unit */
struct omp_unit {
    const char *path; /* the user's file, as given */
    /* of all generated names: no identifier of the file contains it */
    const char *prefix;
    char *text;
    size_t length; /* the .i, NUL-terminated */
    struct omp_construct **constructs;
    unsigned nconstructs; /* all, by position */
    struct omp_decl *decls;
    unsigned ndecls; /* by position */
    struct omp_fp_pragma *fp_pragmas;
    unsigned nfp_pragmas;       /* by position */
    struct omp_extent *repeats; /* for, while and do statements, by position */
    unsigned nrepeats;
    struct omp_type_name *type_names;
    unsigned ntype_names; /* by position */
    struct omp_function **functions;
    unsigned nfunctions;
    struct omp_var **vars;
    unsigned nvars;
    struct omp_ref *refs;
    unsigned nrefs; /* sorted by offset */
    struct omp_rename *renames;
    unsigned nrenames; /* sorted by offset */
    struct omp_guard *guards;
    unsigned nguards; /* by position */
    /* types declared inside functions and used on the device: copied to file scope, under a new
     * name, before the function */
    struct omp_decl *local_types;
    unsigned nlocal_types;
    unsigned ntargets; /* target regions */
    bool packs;        /* the flags or the file say how structures are packed */
    unsigned errors;   /* which have been shown */
    bool misread;      /* clang hangs on the text that the user wrote, or misreads it */
    bool rechosen;     /* in the text to check, what clang might have chosen otherwise */
    /* device code has types with run-time array bounds, or structs as variable arguments */
    bool not_for_nvptx;
    /* target regions, or device variables' initialisers, need functions or variables of other files
     */
    bool needs_link;
    /* defines declare target functions or variables that other files can use */
    bool provides;
    /* behind the declaration of omp_event_handle_t, which <omp.h> has; 0: there is none */
    unsigned event_handle;
    bool asks_task;     /* device code asks whether it is in a task */
    bool cancels_group; /* device code has 'cancel taskgroup' */
    bool detaches;      /* device code has detached tasks */
    bool sets_schedule; /* device code calls omp_set_schedule: schedule(runtime) follows it */
    bool sets_threads;  /* device code calls omp_set_num_threads */
    /* user-defined reductions, by position */
    struct omp_udr *udrs;
    unsigned nudrs;
    /* Set after fe_parse, for codegen: -fompgpu-atomic-reduction, -fompgpu-team-limits, -Rompgpu
     * (report),
     * -Rompgpu=all (both), -fopenmp-offload-mandatory, --host-cc=gcc; each line of generated
     * code counts as the directive's, for debug information and messages; nothing is left of it
     * for a device, but constructs of the host became others. */
    bool atomic_reduction, team_limits, report, remarks, exact_lines, offload_mandatory, for_gcc,
        host_only;
    /* Where clang rejects the file wrongly (rejected.c), or NULL: the text to go on with, to be
     * read again, and the text without what only the check of the file sees.  Memory of the run's.
     */
    char *accepted, *checked;
    struct arena *arena;
    void *lines; /* frontend use: line markers */
};

/* attribute.c: the text with `[[omp::directive(…)]]` and `[[omp::sequence(…)]]` as pragma lines,
 * memory of the run's; the same text where there are none.  *declares: there was an omp::decl,
 * which clang does not know.  *errors have been shown. */
char *fe_expand_attributes(const char *path, char *text, size_t *length, bool *declares,
                           int *errors);
/* lower/: the text without constructs that are another way to write others; NULL: it is
 * the same, or has *errors, which have been shown. */
char *fe_lower(const char *path, const char *text, size_t length, int nargs,
               const char *const *args, int *errors);
/* clang22.c: errors for clauses on which clang hangs, in any directive of the text; their number.
 * ours: some directive has to do with devices, or scans; most files have none. */
int fe_screen(const char *path, char *text, size_t length, bool *ours);
/* Are there any, or directives that clang takes for others?  Says nothing. */
bool fe_is_misread(const char *path, char *text, size_t length);
/* The same of the user's text, and whether there are metadirectives of which clang may choose
 * another variant.  Errors for parentheses that nothing closes; their number, and then nothing
 * else is found out. */
struct fe_reading {
    bool misread, rechosen;
};
int fe_read_by_clang(const char *path, char *text, size_t length, struct fe_reading *);
/* A file as the user wrote it: hides inscan reductions that clang 22 does not know; true if there
 * were any. */
bool fe_hide(const char *path, char *text, size_t length);
/* A message about a place in the text, as of fe_report(): nothing else is looked at. */
void fe_say(const char *path, char *text, size_t length, struct omp_place, enum diag_severity,
            const char *words);
/* Parse `text` (owned by the caller, kept alive).  Errors are printed in clang's format with caret
 * to stderr. args: clang flags that change the language (-std=, -f…, -m…), for libclang.
 * carriers: NULL; of a text that is `accepted`, the prefix of the unit that says so.  NULL: it is
 * no C; with `errors`, all that counts of the unit is what is to be checked. */
struct omp_unit *fe_parse(const char *path, char *text, size_t length, int nargs,
                          const char *const *args, const char *carriers);
/* For messages: arguments that make libclang read the file as the user wrote it, macros and all. */
void fe_set_command(int nargs, const char *const *args);
/* The version of OpenMP, as -fopenmp-version takes it; 60 if nothing is said.  The clause of
 * declare target that it calls `enter`, earlier ones `to`. */
void fe_set_openmp(unsigned long version);
const char *fe_enter_clause(void);
/* An ordered region of a loop with another one before it: clang takes one in each loop's text,
 * where OpenMP wants one in each iteration. */
bool fe_is_later_ordered(const struct omp_construct *);
/* A distributed loop with schedule(static, 1): clang deals with it as if each team had a thread for
 * each of its iterations, and loses the others.  A loop whose last iteration leaves values, where
 * threads may take iterations from one another: LLVM's library may mistake another thread for the
 * one that runs it.  false where the host text is for gcc. */
bool fe_deals_singly(const struct omp_unit *, const struct omp_construct *);
bool fe_may_miss_last(const struct omp_unit *, const struct omp_construct *);
/* The function is a variant that only the GPU's code may call. */
bool fe_is_for_gpu(const char *function);
/* The lowest and the highest sm_ of the GPUs that the code is for; 0: not known yet. */
void fe_set_archs(unsigned long lowest, unsigned long highest);
/* Is the host text for gcc, which knows no metadirective before version 15? */
void fe_set_host(bool gcc);
bool fe_host_is_gcc(void);
/* The vendor, as context selectors name it, that every context has. */
const char *fe_vendor(void);
/* May the loop of a construct with one team run on several?  with_remarks: says what stops that. */
void fe_set_spread(bool on, bool with_remarks);
/* -fompgpu-long-double=double */
void fe_set_long_double(bool is_double);
/* One digit each, see PROTO_WARNINGS; NULL: none. */
void fe_set_warnings(const char *levels);
void fe_print(FILE *out, const struct omp_unit *); /* --emit=omp-tree */
/* internal consistency; 0 or the number of faults (printed) */
int fe_check(const struct omp_unit *);
/* Has a directive had words that clang ignores with a warning, in any text of this process? */
bool fe_found_extra_tokens(void);
void omp_unit_free(struct omp_unit *);
/* Does the text have this identifier? */
bool fe_has_word(const struct omp_unit *, const char *word);
/* The presumed place of an offset. */
struct omp_place fe_place(const struct omp_unit *, unsigned offset);
/* "file:line:col: error: …" with the source line and a caret. */
void fe_report(const struct omp_unit *, struct omp_place, enum diag_severity, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
#endif
