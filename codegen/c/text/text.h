/* text.h - the bottom layer of the C writers: text that grows, user text that is copied with edits,
 * types and array sections spelled in C.
 *
 * In:   a struct omp_unit, whose sorted lists (renames, references, constructs) say what changes in
 *       the user's text, and what the writers above say about names (the environment) and
 *       constructs (cg.construct).
 * Out:  a struct cg_text: lines of C with line markers.
 *
 * A writer walks user text from left to right and copies it, changing three things on the way:
 * names that the frontend renamed, uses of variables that are spelled differently in the current
 * function
 * (`v` -> `(*v)`), and constructs, which are replaced by generated code that in turn copies the
 * construct's body.  What a variable is called *here* is the environment: an array indexed by
 * omp_var.id.  Functions that are outlined start from a fresh environment; privatising constructs
 * change entries and restore them afterwards.
 *
 * Order: cg_init; then, for each function, text of what must precede it goes to cg.before while the
 * function itself goes to cg.out, and cg_write_within joins the two; cg_free.
 *
 * Strings that these functions return live as long as the process.  No call fails: without memory
 * the process ends. */
#ifndef OMPGPU_C_TEXT_H
#define OMPGPU_C_TEXT_H
#include <stdarg.h>
#include "frontend/unit.h"

struct cg_group;
struct cg_plan;

/* A growing string; s is NULL while it is empty.  The owner frees s. */
struct cg_text {
    char *s;
    size_t n, capacity;
    struct omp_place shown; /* of what was written last */
    unsigned line;          /* of the line being written, as clang counts them; 0: unknown */
    unsigned indent;        /* columns before generated code */
    unsigned open;          /* blocks of generated code */
};

/* ------------------------------------------------------------------ the writer (text/text.c) */
struct cg {
    const struct omp_unit *unit;
    struct cg_text *out; /* where text goes now */
    /* device: file-scope text that must precede the function being written; host: NULL */
    struct cg_text *before;
    /* by variable id: how it is spelled here; NULL: its own name */
    const char **env;
    const char **file_env; /* the same at file scope (declare target link variables) */
    /* device: the target construct whose region is written, NULL in device functions */
    const struct omp_construct *target;
    /* device: bytes of copies, of constant sizes, that enclosing constructs of the function have in
     * the team heap; NULL: 0 */
    const char *copies_below;
    /* device: the taskgroups around what is written, innermost first (device/task.c) */
    struct cg_group *groups;
    const struct cg_plan *plan; /* of that region */
    /* device: what is written is the form of it in which lanes share iterations: the unit's guards
     * count, @lanes is how many there are (device/lanes.c) */
    bool lanes;
    /* what the kernel's info says of the region's teams reductions: bytes of a team's slot … */
    const char *teams_bytes;
    unsigned teams_flags; /* … OMPGPU_KERNEL_* */
    /* what the copier does with a construct … */
    void (*construct)(struct cg *, const struct omp_construct *);
    /* … for which this is true; others are copied */
    bool (*handles)(const struct cg *, const struct omp_construct *);
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
    unsigned nlocks; /* lock variables declared */
    int errors;      /* cg_fault was called so often */
};
/* Begins a file: text goes to `out`, names have a prefix that the file does not use. */
void cg_init(struct cg *, const struct omp_unit *, struct cg_text *out);
/* Frees what cg_init and the writers allocated, but neither `out` nor strings. */
void cg_free(struct cg *);

/* Appending, without regard to lines.  In all formats '@' is the prefix of generated names:
 * "@rec" is @rec; arguments stay as they are. */
void cg_put(struct cg *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void cg_puts(struct cg *, const char *);
void cg_write(struct cg *, const char *, size_t);
/* At the beginning of a function: how the user wants floating-point expressions to be evaluated at
 * that offset, by pragmas in blocks around it. */
void cg_fp_pragmas(struct cg *, unsigned offset);
/* Appends outlined bodies (`before`) and then the function (`text`), in both of which __func__ is
 * the name of the user's function; NULL: there is nothing to define. */
void cg_write_within(struct cg *, const struct omp_function *, const struct cg_text *before,
                     const struct cg_text *text);
/* Appends a text that was written for itself and has closed the blocks that it opened. */
void cg_append(struct cg *, const struct cg_text *);

/* Generated code, a line a call: indented, broken at 120 columns.  It belongs to cg->place: a line
 * marker precedes it where the line before belongs to another place, or, with unit->exact_lines,
 * where clang would count it as another. */
enum { CG_INDENT = 4 };
void cg_line(struct cg *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* More of a statement, which begins at the column of cg->place where lines are exact. */
void cg_line_there(struct cg *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* `// …` on a line of its own after an empty one, of no place. */
void cg_comment(struct cg *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* `HEAD {`; what follows is indented until cg_close. */
void cg_open(struct cg *, const char *head, ...) __attribute__((format(printf, 2, 3)));
/* HEAD and `{` on the next line. */
void cg_open_function(struct cg *, const char *head, ...) __attribute__((format(printf, 2, 3)));
/* `{` */
void cg_open_scope(struct cg *);
/* A structure of ours, whose members have their places whatever the file says of packing. */
void cg_open_struct(struct cg *, const char *type);
void cg_close_struct(struct cg *);
/* `}` of the innermost block that is open. */
void cg_close(struct cg *);
/* `}TAIL` */
void cg_close_with(struct cg *, const char *tail);
/* Closes blocks until so many are open. */
void cg_close_to(struct cg *, unsigned open);
/* `} else {` */
void cg_else(struct cg *);
/* A new line for text of that place, with a marker where clang would count it as another. */
void cg_marker(struct cg *, struct omp_place);
/* … where the line is there, too */
void cg_show_place(struct cg *, struct omp_place);
/* Markers were written that are not ours: the next line gets one. */
void cg_forget_place(struct cg *);
/* Ends the line, unless the text is at the start of one. */
void cg_end_line(struct cg *);
bool cg_at_line_start(const struct cg_text *);
/* So many blanks. */
void cg_pad(struct cg *, unsigned columns);

/* A formatted string. */
const char *cg_strf(struct cg *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A file's name for a comment: without line ends. */
const char *cg_in_comment(struct cg *, const char *);
/* As a C string literal, with its quotes. */
const char *cg_quoted(struct cg *, const char *);
/* BASE[_n]SUFFIX, which is not used before in this file. */
const char *cg_name(struct cg *, const char *base, const char *suffix);
/* The lock variable of a critical name; the first call declares it in cg.before. */
const char *cg_lock(struct cg *, const char *name);
/* Reports an error of ours (the frontend has reported all of the user's): no text is written. */
void cg_fault(struct cg *, struct omp_place, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ------------------------------------------------------------------ the copier (text/copy.c) */
static inline bool cg_empty(struct omp_extent e) { return e.begin >= e.end; }
/* Appends the text of the extent, with edits. */
void cg_copy(struct cg *, struct omp_extent);
/* The same after a line marker. */
void cg_copy_body(struct cg *, struct omp_extent);
/* The text of the extent on one line, with edits … */
const char *cg_expr(struct cg *, struct omp_extent);
/* … and without. */
const char *cg_raw(struct cg *, struct omp_extent);
/* The construct's directive on one line: `#pragma omp target …`; without '#pragma omp' when `bare`.
 */
const char *cg_directive(struct cg *, const struct omp_construct *, bool bare);

/* The environment: how a variable is spelled here, and its address (`&v`, simplified). */
const char *cg_spell(const struct cg *, const struct omp_var *);
const char *cg_address(struct cg *, const struct omp_var *);
/* Gives it another spelling, NULL: its name; returns what to restore with another call. */
const char *cg_bind(struct cg *, const struct omp_var *, const char *spelling);
/* Replaces the environment by a copy, or by that of the file; pop restores what push returned. */
const char **cg_push_env(struct cg *, bool fresh);
void cg_pop_env(struct cg *, const char **saved);

/* References to variables: index in unit.refs of the first one at or after `offset`. */
unsigned cg_first_ref(const struct omp_unit *, unsigned offset);
/* Does the extent refer to the variable? */
bool cg_is_used(const struct omp_unit *, struct omp_extent, const struct omp_var *);
/* Does it store to the variable, or take its address? */
bool cg_is_written(const struct omp_unit *, struct omp_extent, const struct omp_var *);
/* Does device text have another name for a type or constant in it? */
bool cg_is_renamed(const struct omp_unit *, struct omp_extent);
/* Directive and body. */
struct omp_extent cg_whole(const struct omp_construct *);

/* ------------------------------------------------------------------ types (text/types.c) */
/* UNQUALIFIED: usable for a copy that is assigned to */
enum cg_qualifiers { CG_AS_IS, CG_UNQUALIFIED };
/* A type, such that TYPE NAME is a declaration; a const goes after it.  Run-time bounds are those
 * of v: __v_d0, __v_d1 … */
const char *cg_type(struct cg *, const struct omp_type *, const char *v, enum cg_qualifiers);
/* The variable's type. */
const char *cg_var_type(struct cg *, const struct omp_var *, enum cg_qualifiers);
/* TYPE NAME */
const char *cg_declaration(struct cg *, const char *type, const char *name);
/* TYPE *NAME */
const char *cg_reference(struct cg *, const struct omp_var *);
/* Hidden bounds of this type … */
unsigned cg_nbounds(const struct omp_type *);
/* … and the value of the i-th, from an lvalue of that type. */
const char *cg_bound(struct cg *, const struct omp_type *, unsigned i, const char *lvalue);
/* The type in which iterations of an induction variable of this type are counted. */
const char *cg_unsigned(const struct omp_type *);
bool cg_is_aggregate(const struct omp_type *);
/* The statement `TO = FROM;`, for arrays too. */
const char *cg_assign(struct cg *, const struct omp_type *, const char *to, const char *from);

/* ------------------------------------------------------------------ sections (text/section.c) */
/* The lower bound, 0 where the user left it out. */
const char *cg_lower_bound(struct cg *, const struct omp_section *);
/* The elements of a section whose dimension is that of the lvalue `at`. */
const char *cg_section_length(struct cg *, const struct omp_section *, const char *at);
/* What the sections of an item are of, an expression. */
const char *cg_section_base(struct cg *, const struct omp_item *);
/* First address and bytes of an array section, as expressions. */
struct cg_span {
    const char *begin, *size;
};
struct cg_span cg_span_of(struct cg *, const struct omp_item *);
#endif
