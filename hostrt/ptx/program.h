/* program.h - what a module of PTX is once it is loaded: types, operands, decoded instructions,
 * variables, functions.  parse/ makes it, isa.c chooses each instruction's handler. */
#ifndef OMPGPU_PTX_PROGRAM_H
#define OMPGPU_PTX_PROGRAM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    T_U16X2,
    T_S16X2,
    T_F16,
    T_F16X2,
    T_BF16,
    T_BF16X2,
    T_F32,
    T_F32X2,
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
    SR_CLOCK_HI,
    SR_CLOCK64,
    SR_GLOBALTIMER,
    SR_DYNAMIC_SMEM,
    SR_TOTAL_SMEM,
    SR_ENVREG1, /* the workspace of a cooperative launch: high word */
    SR_ENVREG2  /* low word */
};
/* Dynamic shared memory has offsets of its own, beyond all static ones. */
enum { DYNAMIC_SHARED = 1 << 20 };
/* Whom a strong access or a fence is for; without one, the device. */
enum scope { SC_NONE, SC_CTA, SC_CLUSTER, SC_GPU, SC_SYS };
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
    bool ftz, sat, approx, wide, hi, carry_out, aligned, to_space, clamp, left, relu, sync;
    bool around;       /* perhaps of the word around a smaller object that is updated atomically */
    bool inserts;      /* and, or: of bits into a word that was loaded and is stored again */
    unsigned char op;  /* enum isa_op: comparison, atomic operation, shuffle mode … */
    unsigned char op2; /* enum isa_op: boolean operator of setp */
    unsigned char order; /* enum memory_order */
    unsigned char scope; /* enum scope */
    enum space space;
    unsigned char vector; /* elements: 1, 2, 4, 8 */
    struct operand d, d2, s[MAX_SOURCES];
    unsigned nsources;
    struct memory_operand memory, memory2; /* … of cp.async: to, from */
    struct call *call;
    unsigned load_slot;       /* race check: of a load whose value is followed, from 1 */
    const unsigned *uses;     /* … slots of the loads whose values it may use, then 0; or NULL */
    unsigned index, ptx_line; /* in the module; line of the text */
    struct place place;
};
struct variable {
    const char *name;
    enum space space;
    uint64_t size, address; /* shared, local: offset */
    uint64_t room;          /* up to the next multiple of its alignment */
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
    unsigned local_bytes, local_align;
    struct local {                   /* its variables in local memory, with gaps between them */
        unsigned offset, size, room; /* room: as of a variable */
    } *locals;
    unsigned nlocals;
    struct variable **shared;
    unsigned nshared;
    struct function **callees;
    unsigned ncallees;
    bool calls_pointers, address_taken;
    unsigned max_threads; /* .maxntid, 0 none */
    bool exact;           /* .reqntid: no fewer, either */
    /* Entries: the shared variables of all that they reach, the bytes that these take, and the end
     * of the last of them (offsets are the module's, with gaps). */
    struct variable **reached;
    unsigned nreached;
    uint64_t shared_bytes, shared_end;
    unsigned dynamic_most; /* bytes that cuFuncSetAttribute has granted */
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
    unsigned nslots; /* race check: loads that are followed */
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
    OP_RED,
    OP_COPY,
    OP_COMMIT,
    OP_WAIT,
    OP_WAIT_ALL
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
    M_ORDER = 1 << 22,
    M_ASYNC = 1 << 23,
    M_RELU = 1 << 24
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
#endif
