/* link.h - what joins the user's bitcode with that of other files, the runtime and libdevice.
 *
 * In:  bitcode files.  Out: one module in which everything that a kernel reaches has a definition,
 * the kernels and exported variables of the unit.
 *
 *   read.c     one input, checked
 *   aliases.c  functions and variables with several names
 *   structs.c  how functions take and return structs
 *   members.c  device link: the files that belong together, as one module
 *   info.c     kernels, reductions, exports and assumptions, from what the C writer left
 *   link.c     runtime and libdevice
 *   missing.c  what is undefined then, and which region needs it */
#ifndef OMPGPU_IR_LINK_H
#define OMPGPU_IR_LINK_H
#include "codegen/ir/tool.h"

bool ir_read_input(struct ir_unit *);
bool ir_link(struct ir_unit *);
bool ir_internalise(struct ir_unit *);
/* Whether the device runtime's function of this name can wait at the barrier of a part of the team,
 * as its bitcode says; false for other names. */
bool ir_runtime_waits(const struct ir_unit *, const char *name);

/* NULL after an error message */
LLVMModuleRef ir_parse_input(struct ir_unit *, const struct ir_input *);
/* aliases.c */
void ir_replace_function_aliases(LLVMModuleRef);
void ir_replace_variable_aliases(LLVMModuleRef);
void ir_pass_bytes(LLVMModuleRef);                                  /* structs.c */
void ir_return_bytes(LLVMModuleRef);                                /* structs.c */
void ir_return_values(LLVMModuleRef);                               /* structs.c */
LLVMModuleRef ir_parse_library(struct ir_unit *, const char *path); /* function bodies lazily */
/* makes u->module of the inputs that belong together */
bool ir_link_members(struct ir_unit *);
/* Adds what `module` has; local symbols that the host looks up get external linkage and a name that
 * `taken` does not know. */
bool ir_collect_info(struct ir_unit *, LLVMModuleRef, unsigned input,
                     bool (*taken)(struct ir_unit *, unsigned input, const char *name));
bool ir_finish_info(struct ir_unit *); /* once all is in u->module */
bool ir_is_export(const struct ir_unit *, const char *name);
/* a function that the x86-64 backend calls for operations without an instruction */
bool ir_is_backend_call(const char *name);

struct ir_names {
    const char **at;
    unsigned n;
};
/* missing.c; x86-64: `user` is what the user's code does not define */
struct ir_names ir_undefined_by_user(LLVMModuleRef);
bool ir_resolve_nvptx(struct ir_unit *, bool (*link_library)(struct ir_unit *, const char *));
LLVMValueRef ir_find_symbol(LLVMModuleRef, const char *name); /* function or variable */
bool ir_resolve_x86(struct ir_unit *, const struct ir_names *user);
#endif
