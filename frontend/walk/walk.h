/* walk.h - what the files of the walk over libclang's tree share: walk.c parses the text and hands
 * each cursor to the handler of its kind. */
#ifndef OMPGPU_WALK_H
#define OMPGPU_WALK_H
#include "frontend/fe.h"

/* walk.c */
void walk_children(struct fe *, CXCursor);
/* cursors.c */
/* in what libclang sees; offsets everywhere else are the user's */
unsigned walk_seen_offset(CXSourceLocation);
unsigned walk_seen_begin(CXCursor);
unsigned walk_offset(const struct fe *, CXSourceLocation);
/* the probe that the cursor is, or NULL */
const struct fe_probe *walk_probe_of(const struct fe *, CXCursor);
CXCursor walk_probed_statement(CXCursor); /* what an `if` of ours stands before */
const char *walk_spelling(struct fe *, CXCursor);
bool walk_has_run_time_bound(CXType);
/* functions.c */
void walk_body(struct fe *, struct fe_function *);
/* referred to by a name of that length */
void walk_function_used(struct fe *, CXCursor ref, CXCursor decl, unsigned length);
const char *walk_alias(struct fe *,
                       CXCursor declaration); /* the symbol that it is a name of, or NULL */
/* variables.c */
/* the operand in parentheses that follows, or nothing */
struct omp_extent walk_operand_after(struct fe *, unsigned offset);
/* declarations.c */
unsigned walk_decl_end(struct fe *, unsigned end); /* without body: after its ';' */
struct omp_decl *walk_add_decl(struct fe *, enum omp_decl_kind, struct omp_extent);

/* by kind of cursor */
typedef void walk_handler(struct fe *, CXCursor);
walk_handler walk_on_attribute, walk_on_function; /* functions.c */
walk_handler walk_on_reference, walk_on_var;      /* variables.c */
walk_handler walk_on_asm, walk_on_binary, walk_on_call, walk_on_compound_assign,
    walk_on_unary; /* effects.c */
walk_handler walk_on_constant, walk_on_declaration, walk_on_repeat, walk_on_scope,
    walk_on_static_assert, walk_on_tag, walk_on_type_ref, walk_on_typedef; /* declarations.c */
#endif
