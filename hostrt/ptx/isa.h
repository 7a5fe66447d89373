/* isa.h - what the files of instructions share: operations of isa.def's rows, and their selectors.
 */
#ifndef OMPGPU_PTX_ISA_H
#define OMPGPU_PTX_ISA_H
#include "hostrt/ptx/machine.h"

#define HANDLER(name) static void name(struct group *g, const struct instruction *i, lanes m)

enum operation {
    I_ADD,
    I_ADDC,
    I_SUB,
    I_SUBC,
    I_MUL,
    I_MUL24,
    I_MAD,
    I_MADC,
    I_FMA,
    I_DIV,
    I_REM,
    I_ABS,
    I_NEG,
    I_MIN,
    I_MAX,
    I_SAD,
    I_COPYSIGN,
    I_RCP,
    I_SQRT,
    I_RSQRT,
    I_SIN,
    I_COS,
    I_LG2,
    I_EX2,
    I_TANH,
    I_TESTP,
    I_AND,
    I_OR,
    I_XOR,
    I_NOT,
    I_CNOT,
    I_SHL,
    I_SHR,
    I_SHF,
    I_LOP3,
    I_POPC,
    I_CLZ,
    I_BREV,
    I_BFIND,
    I_BFE,
    I_BFI,
    I_BMSK,
    I_PRMT,
    I_DP2A,
    I_DP4A,
    I_VABSDIFF2,
    I_VABSDIFF4,
    I_SETP,
    I_SET,
    I_SELP,
    I_MOV,
    I_CVT,
    I_CVTA,
    I_ISSPACEP,
    I_ALLOCA,
    I_STACKSAVE,
    I_STACKRESTORE,
    I_LD,
    I_ST,
    I_ATOM,
    I_RED,
    I_ASYNC,
    I_NOTHING,
    I_FENCE,
    I_BRA,
    I_BRX,
    I_CALL,
    I_RET,
    I_EXIT,
    I_TRAP,
    I_NANOSLEEP,
    I_BAR,
    I_BARRIER,
    I_SHFL,
    I_VOTE,
    I_MATCH,
    I_REDUX,
    I_ACTIVEMASK,
    I_ELECT
};
typedef bool selector(struct instruction *);
selector ptx_select_arithmetic, ptx_select_carry, ptx_select_function, ptx_select_testp,
    ptx_select_bits, ptx_select_packed, ptx_select_setp, ptx_select_selp, ptx_select_mov,
    ptx_select_cvt; /* alu/ */
selector ptx_select_cvta, ptx_select_stack, ptx_select_load, ptx_select_store, ptx_select_atom,
    ptx_select_nothing, ptx_select_fence;     /* access.c */
selector ptx_select_async;                    /* async.c */
selector ptx_select_control;                  /* control.c */
selector ptx_select_barrier, ptx_select_warp; /* sync.c */
/* access.c: an element of memory, and the shadow of one whose bytes `undefined` are */
void ptx_write_element(unsigned char *, uint64_t value, unsigned size);
void ptx_define_element(unsigned char *shadow, unsigned size, unsigned char undefined);
enum type ptx_type_named(const char *word);
struct operand ptx_special_register(const char *name);
handler *ptx_library_function(const char *name);
#endif
