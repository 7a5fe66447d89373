/* machine.h - the PTX machine: executes PTX text the way a GPU may, on the CPU, and reports what a
 * GPU would punish.  It is a library of its own (libompgpu-ptx.so) that offers the CUDA driver
 * calls of hostrt/cuda/calls.def; the cuda plugin loads it in place of libcuda.so.1.  It shares no
 * code with the emulated device: independence is the point.
 *
 *   driver.c    the CUDA driver calls: devices, streams, modules, memory, launches
 *   parse.c     PTX text -> struct module: functions of decoded instructions, variables
 *   isa.c       which handler executes an instruction (the table is isa.def)
 *   alu.c       arithmetic, comparison, conversion
 *   access.c    loads, stores, atomics; memory.c: the spaces behind them and what is checked
 *   control.c   branches, calls, exit; sync.c: barriers, shuffles, votes
 *   exec.c      teams (CTAs), warps, diverged groups, their scheduling; deadlock
 *   library.c   vprintf, __assertfail, malloc, free
 *   report.c    errors with kernel, PTX line, source line, team and thread; profile.c: counters
 *
 * Execution.  A warp's lanes with the same frame and program counter are a group; a group executes
 * one instruction for all its lanes at once (registers are arrays of 32 lanes).  Groups of a warp
 * that diverged run in an order chosen by a seed and join when they meet; nothing joins them by
 * force.  An instruction is `handler(group, instruction, lanes)`.
 *
 * Every register has a mask of lanes that hold an undefined value ("poison": never written, or
 * computed from poison or from undefined memory); memory has a shadow byte for each byte.  Moving
 * poison is legal, using it in a branch, an address or a barrier is reported. */
#ifndef OMPGPU_PTX_MACHINE_H
#define OMPGPU_PTX_MACHINE_H
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "hostrt/cuda/driver.h"

enum { WARP = 32, MAX_THREADS = 1024 };
typedef uint32_t lanes; /* a bit for each lane of a warp */
#define ALL_LANES 0xffffffffu
#define EACH_LANE(l, mask)                                                                         \
    for (lanes l##_rest = (mask), l = 0; l##_rest && (l = (lanes)__builtin_ctz(l##_rest), true);   \
         l##_rest &= l##_rest - 1)

/* ------------------------------------------------------------------ types and spaces */
enum type {
    T_NONE,
    T_PRED,
    T_B8,
    T_B16,
    T_B32,
    T_B64,
    T_B128,
    T_U8,
    T_U16,
    T_U32,
    T_U64,
    T_S8,
    T_S16,
    T_S32,
    T_S64,
    T_F16,
    T_F16X2,
    T_BF16,
    T_BF16X2,
    T_F32,
    T_F64,
    NTYPES
};
unsigned ptx_type_size(enum type); /* bytes; 0: T_NONE, T_PRED */
bool ptx_type_is_signed(enum type);
bool ptx_type_is_float(enum type);

enum space { S_GENERIC, S_GLOBAL, S_SHARED, S_LOCAL, S_CONST, S_PARAM, NSPACES };
/* Generic addresses: global and const ones are addresses in the machine's arena; the other spaces
 * have windows.  Addresses within a space are offsets, but for global and const. */
#define SHARED_WINDOW 0x0001000000000000ull
#define LOCAL_WINDOW 0x0002000000000000ull
#define PARAM_WINDOW 0x0003000000000000ull
#define FUNCTION_WINDOW 0x0004000000000000ull
#define WINDOW_MASK 0xffff000000000000ull

/* ------------------------------------------------------------------ program */
struct place {
    const char *file; /* NULL: not known; LLVM names the files at the text's end … */
    unsigned number;  /* … until then by number */
    unsigned line, column;
};
enum operand_kind {
    O_NONE,
    O_REG,     /* index */
    O_PRED,    /* index; negated */
    O_CONST,   /* lanes: 32 times the value */
    O_SPECIAL, /* %tid.x …: index is an enum special */
    O_LOCAL,   /* address in the frame's part of local memory: value is the offset */
    O_PARAM,   /* offset in the frame's parameter memory */
    O_VECTOR,  /* n of parts */
    O_LABEL,   /* value: instruction index */
    O_TARGETS  /* branch targets: parts hold labels */
};
struct operand {
    enum operand_kind kind;
    bool negated;
    unsigned index, n;
    uint64_t value;
    const uint64_t *lanes;
    struct operand *parts;
};
struct memory_operand {  /* [base + offset] */
    struct operand base; /* O_REG, O_CONST (offset included), O_LOCAL, O_PARAM */
    int64_t offset;
};
struct group;
struct instruction;
typedef void handler(struct group *, const struct instruction *, lanes);
/* %tid.x and the like; three dimensions follow each other */
enum special {
    SR_TID,
    SR_NTID = 3,
    SR_CTAID = 6,
    SR_NCTAID = 9,
    SR_LANEID = 12,
    SR_WARPID,
    SR_NWARPID,
    SR_SMID,
    SR_NSMID,
    SR_GRIDID,
    SR_LANEMASK_EQ,
    SR_LANEMASK_LT,
    SR_LANEMASK_LE,
    SR_LANEMASK_GT,
    SR_LANEMASK_GE,
    SR_CLOCK,
    SR_CLOCK64,
    SR_GLOBALTIMER,
    SR_DYNAMIC_SMEM,
    SR_TOTAL_SMEM
};
/* Dynamic shared memory has offsets of its own, beyond all static ones. */
enum { DYNAMIC_SHARED = 1 << 20 };
enum rounding { R_NONE, R_RN, R_RZ, R_RM, R_RP, R_RNI, R_RZI, R_RMI, R_RPI, R_RNA };
enum { MAX_SOURCES = 4 };
struct call {
    struct function *callee; /* NULL: through a pointer, in a */
    handler *library;        /* vprintf and the like */
    unsigned nargs;
    struct operand *args; /* O_PARAM of the caller, in order */
    struct operand result;
};
struct instruction {
    handler *run;
    const struct isa_row *row;
    enum type type, type2; /* of the operation; of the source (cvt, set), where it differs */
    int guard;             /* predicate register, -1 none */
    bool guard_negated, is_target;
    enum rounding rounding;
    bool ftz, sat, approx, wide, hi, carry_out, aligned, to_space, clamp, left;
    unsigned char op;    /* enum isa_op: comparison, atomic operation, shuffle mode … */
    unsigned char op2;   /* enum isa_op: boolean operator of setp */
    unsigned char order; /* enum memory_order */
    enum space space;
    unsigned char vector; /* elements: 1, 2, 4, 8 */
    struct operand d, d2, s[MAX_SOURCES];
    unsigned nsources;
    struct memory_operand memory;
    struct call *call;
    unsigned index, ptx_line; /* in the module; line of the text */
    struct place place;
};
struct variable {
    const char *name;
    enum space space;
    uint64_t size, address; /* shared, local: offset */
    unsigned align;
    bool external;
    unsigned char *init; /* size bytes or NULL */
    struct relocation {
        uint64_t at;
        const char *symbol;
        int64_t addend;
        unsigned shift; /* mask() operands: byte number times 8; 64: the whole address */
        bool generic;
    } *relocations;
    unsigned nrelocations;
};
struct parameter {
    const char *name;
    unsigned offset, size;
    bool in_local;  /* of a .func: its address is taken, so the call copies it to local memory … */
    unsigned local; /* … at this offset of the frame's */
};
struct function {
    const char *name;
    struct module *module;
    bool is_entry, is_defined;
    unsigned number;
    struct instruction *code;
    unsigned ncode;
    unsigned nregs, npreds;
    struct parameter *params;
    unsigned nparams, param_bytes; /* of the parameters; they come first in parameter memory */
    struct parameter result;
    bool has_result;
    unsigned frame_params; /* all parameter memory of a frame */
    unsigned local_bytes;
    struct variable **shared;
    unsigned nshared;
    struct function **callees;
    unsigned ncallees;
    bool calls_pointers, address_taken;
    unsigned max_threads; /* .maxntid, 0 none */
    /* Entries: the shared variables of all that they reach, the bytes that these take, and the end
     * of the last of them (offsets are the module's, with gaps). */
    struct variable **reached;
    unsigned nreached;
    uint64_t shared_bytes, shared_end;
    unsigned ptx_line;
};
struct module {
    char *text;
    struct device *device;
    unsigned target; /* 75 … */
    struct function **functions;
    unsigned nfunctions;
    struct variable **variables;
    unsigned nvariables;
    const char **files;
    unsigned nfiles;
    unsigned ninstructions;
    uint64_t shared_top;
    struct chunk *memory; /* all the above is freed at once */
};
struct module *ptx_parse(struct device *, const char *text, char *log, size_t log_size);
void ptx_module_free(struct module *);
void *ptx_module_alloc(struct module *, size_t); /* zeroed, freed with the module */

/* isa.c */
enum isa_op {
    OP_NONE,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE, /* the order matters: + OP_EQU - OP_EQ is unordered */
    OP_EQU,
    OP_NEU,
    OP_LTU,
    OP_LEU,
    OP_GTU,
    OP_GEU,
    OP_NUM,
    OP_NAN,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_ADD,
    OP_MIN,
    OP_MAX,
    OP_INC,
    OP_DEC,
    OP_EXCH,
    OP_CAS,
    OP_POPC,
    OP_UP,
    OP_DOWN,
    OP_BFLY,
    OP_IDX,
    OP_ALL,
    OP_ANY,
    OP_UNI,
    OP_BALLOT,
    OP_F4E,
    OP_B4E,
    OP_RC8,
    OP_ECL,
    OP_ECR,
    OP_RC16,
    OP_FINITE,
    OP_INFINITE,
    OP_NUMBER,
    OP_NOTANUMBER,
    OP_NORMAL,
    OP_SUBNORMAL,
    OP_SYNC,
    OP_ARRIVE,
    OP_RED
};
enum memory_order { MO_WEAK, MO_RELAXED, MO_ACQUIRE, MO_RELEASE, MO_ACQ_REL, MO_SC, MO_VOLATILE };
enum modifier_group {
    M_TYPE = 1 << 0,
    M_ROUND = 1 << 1,
    M_FTZ = 1 << 2,
    M_SAT = 1 << 3,
    M_APPROX = 1 << 4,
    M_HALF = 1 << 5,
    M_CC = 1 << 6,
    M_SPACE = 1 << 7,
    M_MEMORY = 1 << 8,
    M_VECTOR = 1 << 9,
    M_COMPARE = 1 << 10,
    M_BOOL = 1 << 11,
    M_ATOMIC = 1 << 12,
    M_SHUFFLE = 1 << 13,
    M_SYNC = 1 << 14,
    M_VOTE = 1 << 15,
    M_SHIFT = 1 << 16,
    M_PRMT = 1 << 17,
    M_TEST = 1 << 18,
    M_UNI = 1 << 19,
    M_TO = 1 << 20,
    M_BARRIER = 1 << 21,
    M_ORDER = 1 << 22
};
struct isa_row {
    const char *name;
    unsigned modifiers; /* groups of modifiers that it takes, enum modifier_group */
    bool destination;
    unsigned char sources;                /* at most; memory operands not counted */
    unsigned char class;                  /* for the counters, enum instruction_class */
    unsigned operation;                   /* for select */
    bool (*select)(struct instruction *); /* sets run; false: no such type or modifier */
};
const struct isa_row *ptx_isa_find(const char *name, size_t length);
/* `opcode` with its modifiers; NULL or what is not known. */
const char *ptx_isa_decode(struct instruction *, const char *opcode);

/* ------------------------------------------------------------------ execution */
struct frame { /* of one call by a group; its lanes share it also after they diverge */
    struct function *function;
    struct frame *caller;
    const struct instruction *call_site; /* in the caller */
    unsigned return_pc;
    lanes live; /* lanes that have not returned */
    unsigned depth;
    uint64_t (*regs)[WARP]; /* by register */
    lanes *poison;          /* by register: lanes whose value is undefined, in part at least … */
    unsigned char *poison_bytes; /* … and which bytes, by register and lane; where poison says so */
    lanes *preds, *pred_poison;
    unsigned char *params; /* [WARP][frame_params] */
    unsigned char *param_shadow;
    uint32_t local_base[WARP]; /* of each lane's frame in its local memory */
    size_t room_regs, room_preds, room_params;
    struct frame *next_free;
};
enum group_state { G_READY, G_BARRIER, G_WARP_SYNC };
struct group {
    struct warp *warp;
    struct frame *frame;
    unsigned pc;
    lanes mask;
    enum group_state state;
    const struct instruction *waits_at;
    unsigned barrier;
    lanes members; /* G_WARP_SYNC: lanes that must come */
    uint64_t ran;  /* the scheduler's turn in which it ran last, for fairness */
    bool yield;    /* set by a handler: ask the scheduler */
    struct group *next_free;
};
struct warp {
    struct team *team;
    unsigned number;
    lanes live;
    lanes carry; /* condition code CC.CF of each lane */
    struct group **groups;
    unsigned ngroups, room;
    uint64_t steps;           /* instructions executed */
    uint64_t turns;           /* of the scheduler */
    uint32_t stack_top[WARP]; /* of local memory */
};
struct barrier {
    unsigned arrived;  /* threads that wait or have said arrive */
    unsigned expected; /* threads as the instruction says; 0: all of the team */
    unsigned yes;      /* bar.red: threads whose predicate holds */
};
struct launch;
struct team {
    struct launch *launch;
    struct worker *worker;
    unsigned id[3], number;
    unsigned nthreads, nwarps, live;
    struct warp *warps;
    struct barrier barriers[16];
    unsigned char *shared, *shared_shadow;
    unsigned char **local, **local_shadow; /* by thread */
    uint32_t *local_room;
};
struct launch {
    struct device *device;
    struct function *entry;
    unsigned grid[3], block[3];
    unsigned dynamic_shared;
    unsigned char *params;
    uint64_t seed;
    unsigned next_team, nteams;
    int error; /* first CUresult */
    uint64_t number;
};
struct worker { /* one host thread that runs teams */
    struct launch *launch;
    pthread_t thread;
    uint64_t random;
    struct counter *counters; /* by instruction; NULL: not counted */
    struct frame *free_frames;
    struct group *free_groups;
};
uint64_t ptx_random(uint64_t *state);
uint64_t ptx_nanoseconds(void);
int ptx_run(struct launch *); /* all teams; 0 or a CUresult */
/* A frame for a call by `m`, with its local memory; NULL after a fault. */
struct frame *ptx_frame_new(struct group *, const struct instruction *, struct function *, lanes m);
void ptx_frame_leave(struct warp *, struct frame *, lanes m); /* frees it when it was the last */
struct group *ptx_group_add(struct warp *, struct frame *, unsigned pc, lanes);
/* Lanes m of the group become a group of their own that executes instruction i again. */
void ptx_group_retry(struct group *, const struct instruction *, lanes m);
void ptx_lanes_exit(struct group *, lanes);
void ptx_barrier_check(struct team *, unsigned number); /* after arrivals and exits */

/* ------------------------------------------------------------------ operands in handlers */
static inline const uint64_t *source(const struct group *g, const struct operand *o)
{
    return o->kind == O_REG ? g->frame->regs[o->index] : o->lanes;
}
static inline lanes source_poison(const struct group *g, const struct operand *o)
{
    return o->kind == O_REG ? g->frame->poison[o->index] : 0;
}
static inline uint64_t *target_of(const struct group *g, const struct operand *o)
{
    return g->frame->regs[o->index];
}
static inline lanes predicate(const struct group *g, const struct operand *o)
{
    if (o->kind == O_CONST)
        return o->value ? ALL_LANES : 0;
    return o->negated ? ~g->frame->preds[o->index] : g->frame->preds[o->index];
}
static inline lanes predicate_poison(const struct group *g, const struct operand *o)
{
    return o->kind == O_PRED ? g->frame->pred_poison[o->index] : 0;
}
static inline unsigned char *poison_bytes(const struct group *g, const struct operand *o,
                                          unsigned lane)
{
    return &g->frame->poison_bytes[o->index * WARP + lane];
}
/* Lanes of m are written; those of bad with a value that is undefined as a whole. */
static inline void set_poison(const struct group *g, const struct operand *o, lanes m, lanes bad)
{
    if (o->kind == O_PRED) {
        g->frame->pred_poison[o->index] = (g->frame->pred_poison[o->index] & ~m) | (bad & m);
    } else if (o->kind == O_REG) {
        g->frame->poison[o->index] = (g->frame->poison[o->index] & ~m) | (bad & m);
        if (bad & m)
            EACH_LANE(l, bad & m)
        *poison_bytes(g, o, l) = 0xff;
    }
}

/* ------------------------------------------------------------------ memory */
struct device {
    int ordinal;
    unsigned arch;
    bool retained;
    int lost; /* sticky error */
    size_t stack_limit, heap_limit;
};
/* Each byte of memory has a shadow byte. */
enum shadow { SHADOW_NONE /* not allocated */, SHADOW_UNDEFINED, SHADOW_DEFINED };
/* The arena of global and constant memory, one for all devices; addresses are host addresses. */
extern unsigned char *ptx_arena, *ptx_arena_shadow;
extern size_t ptx_arena_size;
void ptx_memory_init(void);
uint64_t ptx_global_alloc(size_t size); /* 0: none left */
bool ptx_global_free(uint64_t address); /* false: no block begins there */
static inline bool ptx_is_global(uint64_t address)
{
    return address - (uint64_t)(uintptr_t)ptx_arena < ptx_arena_size;
}
static inline unsigned char *ptx_shadow_of(uint64_t address)
{
    return ptx_arena_shadow + (address - (uint64_t)(uintptr_t)ptx_arena);
}
bool ptx_global_is_allocated(uint64_t address, size_t size);
void ptx_global_define(uint64_t address, size_t size);

/* Where `size` bytes at `address` of a lane are, with their shadow; NULL after a fault was
 * reported: misaligned, out of bounds, a host address. */
struct bytes {
    unsigned char *data, *shadow; /* shadow NULL: always defined */
};
struct bytes ptx_resolve(struct group *, const struct instruction *, unsigned lane,
                         uint64_t address, unsigned size);
/* Makes room for `bytes` of a lane's local memory. */
bool ptx_local_reserve(struct group *, const struct instruction *, unsigned lane, uint64_t bytes);

/* ------------------------------------------------------------------ errors (report.c) */
/* Prints what happened, where, and who did it, and ends the launch with the error. */
void ptx_fault(struct group *, const struct instruction *, unsigned lane, CUresult, const char *fmt,
               ...) __attribute__((format(printf, 5, 6)));
void ptx_deadlock(struct team *);

/* ------------------------------------------------------------------ counters (profile.c) */
enum instruction_class {
    C_OTHER,
    C_INTEGER,
    C_FLOAT,
    C_CONTROL,
    C_LOAD,
    C_STORE,
    C_ATOMIC,
    C_SYNC
};
struct counter {
    uint64_t warps, threads;    /* instructions executed */
    uint64_t requests, sectors; /* global, local, generic: warp requests, 32-byte sectors */
    uint64_t needed;            /* bytes */
    uint64_t conflicts;         /* shared: replays */
};
extern bool ptx_counting;
void ptx_count_access(struct group *, const struct instruction *, lanes, const uint64_t *address,
                      unsigned size, enum space);
void ptx_profile_launch(struct launch *, struct counter *);
void ptx_profile_end(void);

/* ------------------------------------------------------------------ settings */
struct settings {
    unsigned arch, devices, workers;
    bool scheduled; /* OMPGPU_PTX_SCHEDULE */
    uint64_t seed;
    bool profile;
    const char *profile_file;
};
extern struct settings ptx_settings;
#endif
