/* checks.h - what the parts of -fompgpu-check share: checks.c has addresses, blocks of memory and
 * the order of the whole, races.c races, extents.c what both need not look at, unwritten.c locals
 * that have no value, texts.c functions of string.h. */
#ifndef OMPGPU_IR_CHECKS_H
#define OMPGPU_IR_CHECKS_H
#include "codegen/ir/emit_helpers.h"
#include "codegen/ir/passes/passes.h"
#include "hostrt/plugin.h"

/* NOT_QUICK: more than 16, or no power of two */
enum { NOT_QUICK = 5 };
static inline unsigned ir_log_of(uint64_t n)
{
    unsigned log = 0;
    while (log < NOT_QUICK && (uint64_t)1 << log != n)
        log++;
    return log;
}

/* The allocation that one of the kernel's parameters points into (extents.c). */
struct extent {
    uint64_t place; /* of the parameter's address in the array */
    bool written;   /* the kernel stores through it */
    /* i64; size: 0 where not all of it may be used; size_read_only: 0 where it may be written */
    LLVMValueRef begin, size, size_read_only;
};
enum { EXTENTS = 32 };
struct extents {
    struct extent at[EXTENTS];
    unsigned n;
    bool stores_elsewhere; /* through pointers of unknown origin, or in a called function */
    bool copies;           /* bytes that may have no value */
};

enum ir_race { IR_READ, IR_WRITE, IR_UPDATE, IR_RACES };
struct checks {
    struct ir_unit *u;
    LLVMBuilderRef b;
    LLVMTypeRef site; /* struct ompgpu_emu_site */
    /* by log2 of the bytes: the function that has the test */
    LLVMValueRef quick[NOT_QUICK], race[IR_RACES][NOT_QUICK], within[2][NOT_QUICK];
    /* few accesses: the tests are inlined; else the optimiser would take minutes */
    bool is_small;
    bool trusted;           /* the function at hand is the runtime's */
    LLVMValueRef params;    /* … is a kernel: its parameter array; NULL */
    struct extents extents; /* of that kernel */
};
struct access {
    LLVMValueRef at, pointer;
    uint64_t size;
    unsigned flags;    /* OMPGPU_EMU_WRITES … */
    bool joined;       /* a read whose race is looked for with the store of the new value … */
    LLVMValueRef read; /* … which has the site of it; NULL */
};
typedef VEC(struct access) access_list;

/* ------------------------------------------------------------------ checks.c */
LLVMValueRef ir_accessed_base(LLVMValueRef pointer);
/* Of a local or a variable, of which nothing is behind the end; 0: not known. */
uint64_t ir_known_size(const struct ir_unit *, LLVMValueRef base);
bool ir_is_access(LLVMValueRef instruction);
/* The load's value is not used as one: it goes back to where it came from, or is a byte of a copy.
 */
bool ir_is_no_read(const struct ir_unit *, LLVMValueRef load);
/* Marks.  A load whose value only copies of ours get (unwritten.c); one of the device runtime's, in
 * a function of the user's. */
#define IR_COPIED "ompgpu.copied"
#define IR_TRUSTED "ompgpu.trusted"
void ir_mark(const struct ir_unit *, LLVMValueRef instruction, const char *mark);
LLVMTypeRef ir_site_type(const struct ir_unit *);
/* object: a local or a variable, or NULL */
LLVMValueRef ir_make_site(const struct checks *, LLVMValueRef at, unsigned flags,
                          LLVMValueRef object);
/* a function of the runtime */
void ir_call_check(const struct checks *, LLVMBuilderRef, const char *name, LLVMValueRef *args,
                   unsigned n);
/* if (condition, which is not expected) */
LLVMBasicBlockRef ir_open_unlikely(const struct checks *, LLVMBuilderRef, LLVMValueRef is);
/* if (the image is tested for that): the builder stands in its block until it is closed. */
LLVMBasicBlockRef ir_open_if_tested(const struct checks *, LLVMBuilderRef, unsigned test);
void ir_place_before(struct checks *, LLVMValueRef at);

/* ------------------------------------------------------------------ helpers.c */
/* Of a function of the device runtime whose locals are in registers: it writes to nothing but
 * locals, its own and its callers'. */
bool ir_is_plain_helper(LLVMValueRef f);

/* ------------------------------------------------------------------ rooms.c */
/* Locals of the user's function that are to have room after them. */
void ir_find_exposed(LLVMValueRef f, ir_values *);
void ir_give_room(struct checks *, LLVMValueRef f, const ir_values *found);

/* ------------------------------------------------------------------ texts.c */
bool ir_check_texts(struct checks *, LLVMValueRef call); /* false: it is of another function */

/* ------------------------------------------------------------------ extents.c */
void ir_find_extents(struct checks *, LLVMValueRef f, const access_list *);
const struct extent *ir_extent_of(struct checks *, const struct access *); /* NULL: not known */
/* Of both tests' functions for its size; race: the site of a read there, NULL for the other. */
void ir_check_within(struct checks *, const struct access *, const struct extent *,
                     LLVMValueRef site, LLVMValueRef race, LLVMValueRef mask);

/* ------------------------------------------------------------------ races.c */
/* Reads and stores of the same become one access. */
void ir_join_updates(struct checks *, access_list *);
void ir_check_race(struct checks *, const struct access *);
/* The site of a read whose race is tested by `c->race[0]` for its size; NULL: it is not. */
LLVMValueRef ir_quick_read(struct checks *, const struct access *);
/* Any access; a function of the runtime's. */
void ir_call_race(const struct checks *, LLVMValueRef p, LLVMValueRef size, LLVMValueRef site,
                  LLVMValueRef value);
/* What hands on, or takes over, what other threads have done. */
bool ir_is_fence(LLVMValueRef);
void ir_note_fence(struct checks *, LLVMValueRef);
/* The call of a routine, the fences of which order the threads of a team only. */
bool ir_is_in_team(LLVMValueRef call);
void ir_note_in_team(struct checks *, LLVMValueRef call);
#endif
