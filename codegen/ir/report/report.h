/* report.h - what became of each kernel.
 *
 * In:  notes that steps take while they run, counts in struct ir_kernel, the final IR.
 * Out: the info file for the driver, remarks and warnings for the user, --emit=ir.
 *
 *   notes.c    remarks about single variables, calls and constructs
 *   measure.c  barriers, shared memory, flags, from the final IR
 *   info.c     the info file
 *   remarks.c  a remark a region and a reduction, and the warning about generic mode
 *   says.c     each region in the user's words, for the info file
 *   steps.c    what each step makes of the kernels, for --emit=ir */
#ifndef OMPGPU_IR_REPORT_H
#define OMPGPU_IR_REPORT_H
#include "codegen/ir/tool.h"

bool ir_measure(struct ir_unit *);
bool ir_write_info(struct ir_unit *);
bool ir_remark(struct ir_unit *);

/* ------------------------------------------------------------------ words (says.c) */
/* Who runs it, a sentence; why a generic kernel is generic, "" where there is no reason; lines
 * LABEL \t TEXT, or NULL. */
const char *ir_kernel_runs(const struct ir_kernel *);
const char *ir_generic_reason(const struct ir_unit *, const struct ir_kernel *);
const char *ir_kernel_says(const struct ir_unit *, const struct ir_kernel *);

/* ------------------------------------------------------------------ notes (notes.c) */
struct ir_note {
    struct ir_place at;
    const char *id, *text;
    struct ir_note *next;
};
/* name NULL: none; text: what to call it in a message */
struct ir_variable {
    const char *name, *text;
    struct ir_place at;
    bool ours;
};
struct ir_place ir_place_of(const struct ir_kernel *, LLVMValueRef instruction);
struct ir_variable ir_variable_of(const struct ir_unit *, const struct ir_kernel *,
                                  LLVMValueRef alloca_or_parameter);
void ir_mark_variables(const struct ir_unit *); /* before any optimisation */
/* A remark about something in the kernel, when remarks are asked for; without a place, at the
 * region's. */
void ir_note(struct ir_kernel *, struct ir_place, const char *id, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void ir_print_notes(const struct ir_unit *, const struct ir_kernel *);

/* ------------------------------------------------------------------ --emit=ir (steps.c) */
void ir_show_step(struct ir_unit *, const char *step);
const char *ir_shown_steps(void);
#endif
