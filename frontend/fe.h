/* fe.h - shared by the files of frontend/ only.
 *
 * The passes, in order (fe_parse in parse.c lists them):
 *   attribute.c (before all) [[omp::directive(…)]] becomes a pragma line
 *   text.c      lines and line markers, places, diagnostics
 *   lower/      (before all) constructs that become others
 *   clang22.c   (before all) clauses on which clang hangs; not a pass: the text that clang checks
 *   words.c     the tables of omp.def and what looks words up in them
 *   pragma.c    find and tokenise `#pragma omp` lines, read directive names, find where the
 *               statement starts
 *   probe.c     the text that libclang parses: directives are code that holds their arguments
 *   walk/       one walk over libclang's tree: declarations, scopes, uses, statements the pragmas
 *               wait for
 *   context.c   metadirectives become what they stand for; calls of functions with variants are
 *               redirected
 *   arguments.c read the clauses; clause.c: expressions and list items in them
 *   udr.c       user-defined reductions
 *   mapper.c    mappers and iterators
 *   scan.c      the two phases of a loop with an inscan reduction
 *   tree.c      attach, nest, canonical loops (loop.c), atomic (atomic.c)
 *   reach.c     declare target, which functions and variables the device needs, calls without a
 *               body
 *   sharing.c   data-sharing of every construct, captures and maps of target constructs
 *   allocate.c  how the allocate directive aligns variables
 *   cancel.c    what cancel and cancellation point end
 *   mode.c      SPMD or generic, which regions need workers
 *   lanes/      loops whose iterations several lanes may run together
 *   support.c   what is not supported on the device is an error here; reduce.c: the rules of
 *               reductions
 *   long_double.c where device code may use it
 *   mistakes/   warnings about what is valid, and hardly meant
 *   statics.c   declare target of static variables of functions
 *   rejected.c  valid code that clang rejects, in a form that it takes; carriers.c: typedefs with
 *               run-time bounds; edits.c: the text with such changes, which is read again
 *   types.c     C types, names for local and unnamed types */
#ifndef OMPGPU_FE_H
#define OMPGPU_FE_H
#include "driver/base/mem.h"
#include "frontend/unit.h"
#include <clang-c/Index.h>

enum fe_arg {
    ARG_NONE,
    ARG_EXPR,
    ARG_CONST,
    ARG_EXPRS,
    ARG_LIST,
    ARG_LOCATOR,
    ARG_MAP,
    ARG_REDUCE,
    ARG_IF,
    ARG_SCHED,
    ARG_MAPDEF,
    ARG_WORD,
    ARG_LINEAR,
    ARG_LASTPRIV,
    ARG_TRAITS,
    ARG_ALLOC,
    ARG_INDUCT,
    ARG_RAW
};
enum fe_assoc { ASSOC_NONE, ASSOC_STMT, ASSOC_LOOP, ASSOC_DECL, ASSOC_MAYBE };
struct fe_clause_row {
    const char *spelling;
    enum fe_arg arg;
    enum omp_role role;
};
struct fe_directive_row {
    const char *spelling;
    unsigned leaf;
    enum fe_assoc assoc;
    enum omp_role role;
    bool combines;                /* may be part of a combined construct */
    const unsigned char *clauses; /* enum omp_clause_kind, up to OMPC_COUNT */
};
extern const struct fe_clause_row fe_clause_rows[OMPC_COUNT];
extern const struct fe_directive_row fe_directive_rows[OMPDIR_COUNT];

/* ------------------------------------------------------------------ tokens of pragma lines */
enum fe_token_kind { TOK_IDENT, TOK_NUMBER, TOK_STRING, TOK_PUNCT };
struct fe_token {
    enum fe_token_kind kind;
    unsigned begin, end;
};

struct fe_pragma {
    struct omp_extent extent;
    struct fe_token *tokens;
    unsigned ntokens;            /* after `#pragma omp` */
    enum omp_directive names[8]; /* of a combined directive: its leaves */
    unsigned nnames;
    unsigned clauses_at; /* first token after the directive's name */
    unsigned first_operand, noperands, first_group, ngroups;
    bool takes_statement;            /* metadirective: a variant does */
    unsigned host_leaves;            /* of what the host has instead of it */
    struct omp_extent metadirective; /* its tokens, if clang may choose another variant */
    bool as_function; /* fe_is_for_types(): its probe has to be a function, see probe.c */
    bool bad_types;   /* fe_is_for_types(): its types have errors, too */
    enum fe_assoc assoc;
    /* offset of a clause that the table does not allow here, 0 none */
    unsigned unexpected;
    unsigned wanted; /* offset of the first token of the statement waited for */
    bool found;
    CXCursor stmt;
    CXCursor loop_body;      /* of the innermost associated loop */
    struct omp_construct *c; /* same index as the pragma */
};

/* ------------------------------------------------------------------ what the walk collects */
/* a line marker takes effect at offset */
struct fe_line {
    unsigned offset, line;
    const char *file;
    bool system;
};
struct fe_operand { /* an argument of a directive, see probe.c */
    struct omp_extent text;
    bool item;             /* list item, whose brackets may have ':' in them */
    bool bad;              /* clang complains of it */
    const char *complaint; /* … in these words, at this place; NULL: of more than this operand */
    unsigned complaint_at;
    bool found;
    CXCursor cursor; /* in parentheses */
    unsigned open;   /* of these, in the text that libclang sees */
};
struct fe_probe { /* [begin, end) of the text that libclang sees */
    unsigned begin, end;
    struct fe_pragma *pragma;
    bool as_function; /* as the pragma said when the probe was written */
};
struct fe_segment { /* `length` characters are at `seen` for libclang, at `text` for the user */
    unsigned seen, text, length;
};
struct fe_group { /* operands that see variables of their clause: iterators, a mapper's variable */
    struct omp_extent clause;
    const struct omp_iterator *iterators;
    unsigned niterators;
};
struct fe_udr_type { /* what is declared at `offset`, see udr.c, is for this type, among others */
    unsigned offset, scope_end;
    CXType type;
};
enum { FE_STARTS = 2 };
struct fe_function { /* frontend's side of an omp_function */
    struct omp_function *f;
    CXCursor cursor; /* the definition where there is one */
    CXCursor first;  /* its first declaration */
    bool system, visited, known, declare_target;
    bool locks; /* an OpenMP lock routine */
    /* asks which thread or team it runs in, synchronises threads, or is not known: spread.c */
    bool shows_team;
    unsigned decl; /* offset of its first name */
    /* attribute alias: the function that it is another name of; NULL: none */
    const char *alias;
    /* attributes constructor and destructor: the priority's text; NULL: it has not the attribute */
    const char *starts[FE_STARTS];
    void *accesses; /* of its body, once they were asked for: mistakes/ */
};
struct fe_alias { /* attribute alias of a variable */
    struct omp_var *var;
    const char *symbol;
};
struct fe_fref {
    unsigned offset, length;
    struct fe_function *function;
    bool call;
};
/* decl: offset of the type's (or enum constant's) name or keyword */
struct fe_typeref {
    unsigned offset, length;
    unsigned decl;
};
struct fe_localtype { /* a type, typedef, enum constant or constexpr declared inside a function */
    unsigned decl;    /* key: offset of the declaration's location */
    struct omp_extent extent;                  /* definition, empty for enum constants */
    unsigned name_at, name_length;             /* 0 length: unnamed */
    const char *old_name, *new_name, *keyword; /* keyword "" for typedefs and constants */
    bool is_typedef, is_constant, is_constexpr, variably_modified, definition, hoisted;
    bool carried; /* a variable leads to it in the device text: carriers.c */
    struct omp_function *function;
    CXCursor cursor;
};
struct fe_unnamed_tag {
    unsigned decl;
    const char *name;
};
struct fe_mark {
    unsigned offset;
    enum { MARK_LANGUAGE, MARK_LONG_DOUBLE, MARK_VARIABLE_ARGUMENT } kind;
    const char *what;
}; /* long double, asm, indirect calls … */
struct fe_prototype {
    unsigned begin; /* of its declaration */
    const struct omp_function *function;
    CXCursor cursor;
};
typedef VEC(unsigned) fe_offsets;
struct fe_edit { /* `length` characters at `offset` become `text` */
    unsigned offset, length, number;
    const char *text;
};
typedef VEC(struct fe_edit) fe_edits;

struct fe {
    struct omp_unit *u;
    struct arena *a;
    CXTranslationUnit tu;
    int errors;
    bool respelled; /* the text has other words than the user's file */
    bool common;    /* -fcommon: several files may define a variable */
    /* what the names of the carriers in this text begin with; NULL: it is the user's */
    const char *carriers;
    VEC(struct fe_line) lines;
    VEC(struct fe_pragma) pragmas;
    VEC(struct omp_extent) packs; /* `#pragma pack` lines */
    VEC(struct omp_fp_pragma) fp_pragmas;
    VEC(struct omp_extent) repeats; /* as in the unit */
    VEC(struct fe_prototype) prototypes;
    VEC(struct omp_extent) hidden; /* text that libclang does not see: functions of variants */
    VEC(char) seen;                /* what it sees */
    VEC(struct fe_segment) segments;
    VEC(struct fe_probe) probes;
    VEC(struct fe_operand) operands; /* by position */
    VEC(struct fe_group) groups;     /* the same */
    VEC(struct fe_udr_type) udr_types;
    VEC(struct omp_mapper *) mappers; /* by position */
    VEC(struct omp_var *) vars;
    VEC(CXType) var_types;   /* by var->id */
    VEC(unsigned) var_flags; /* by var->id, FE_VAR_* */
    VEC(struct fe_alias) aliases;
    struct fe_var_slot {
        unsigned decl;
        struct omp_var *var;
    } *var_table;
    unsigned var_table_size;
    VEC(struct fe_function *) functions;
    struct fe_function_slot {
        struct fe_function *f;
    } *function_table;
    unsigned function_table_size;
    /* functions of system headers that a visited body refers to */
    VEC(struct fe_function *) pending;
    VEC(struct omp_ref) refs;
    VEC(struct fe_fref) frefs;
    VEC(struct fe_typeref) typerefs;
    VEC(struct fe_localtype) localtypes;
    VEC(struct omp_rename) renames;
    VEC(struct omp_guard) guards;            /* as in the unit */
    VEC(struct fe_unnamed_tag) unnamed_tags; /* of file scope, that have got a name */
    fe_offsets writes, addrs;                /* offsets of uses that write or take the address */
    VEC(struct fe_mark) marks;               /* things the device does not have */
    VEC(struct omp_udr) udrs;
    fe_offsets indirect; /* calls through pointers */
    /* variables, uses and casts whose type has a run-time array bound, calls with structs as
     * variable arguments */
    fe_offsets not_for_nvptx;
    VEC(struct omp_decl) decls;
    VEC(struct omp_type_name) type_names;
    /* the walk's state */
    unsigned scope_end;     /* end of the innermost block */
    unsigned declaration;   /* begin of the innermost declaration in a block */
    struct fe_function *in; /* function whose body is being walked */
    unsigned unnamed;
};
enum {
    FE_VAR_VOLATILE = 1,
    FE_VAR_MAPPED_WHOLE = 2,
    FE_VAR_THREADPRIVATE = 4,
    FE_VAR_THREAD_LOCAL = 8,
    FE_VAR_WARNED = 16,
    FE_VAR_LOOKED_AT = 32, /* mistakes/: is it unshared? */
    FE_VAR_UNSHARED = 64
};

/* parse.c: a unit of which nothing is known but its text, with an arena of its own */
struct fe *fe_begin_unit(const char *path, char *text, size_t length);
/* text.c */
void fe_scan_lines(struct fe *);
/* next token: skips white space, comments and # lines */
unsigned fe_skip_blank(const struct omp_unit *, unsigned offset);
/* the same, stops at # lines */
unsigned fe_skip_space(const struct omp_unit *, unsigned offset);
bool fe_is_system(const struct fe *, unsigned offset);
/* A line that says what the next one's place is.  system: clang and gcc warn of nothing in what
 * follows, as it is not the user's. */
const char *fe_marker(struct fe *, struct omp_place, bool system);
/* stdout and stderr of stdio.h: the device has them, too. */
bool fe_is_stream(const struct fe *, const struct omp_var *);
const char *fe_text(struct fe *, struct omp_extent); /* copy, NUL-terminated */
bool fe_same_text(const struct omp_unit *, struct omp_extent, struct omp_extent);
/* Messages wait until here, and come in the order of the text; later ones are shown at once. */
void fe_show_messages(const struct omp_unit *);
/* before the others: of what an edited text, which is read next, does not have */
void fe_report_now(const struct omp_unit *, struct omp_place, enum diag_severity,
                   const char *words);
void fe_error(struct fe *, unsigned offset, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void fe_error_at(struct fe *, struct omp_place, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Lists that are sorted by position: each element begins with an offset, `unsigned`.
 * The number of those before the offset. */
unsigned fe_count_before(const void *list, unsigned n, size_t size, unsigned offset);
/* the first one at or after the offset, the last one at or before it; NULL: none */
void *fe_first_at(void *list, unsigned n, size_t size, unsigned offset);
void *fe_last_at(void *list, unsigned n, size_t size, unsigned offset);
#define FE_FIRST(list, offset) fe_first_at((list).at, (list).n, sizeof *(list).at, offset)
#define FE_LAST(list, offset) fe_last_at((list).at, (list).n, sizeof *(list).at, offset)
/* all in the extent: FE_EACH(r, fe->refs, e) … */
#define FE_EACH(x, list, extent)                                                                   \
    for (__typeof__(*(list).at) *x = FE_FIRST(list, (extent).begin);                               \
         x && x < (list).at + (list).n && *(const unsigned *)x < (extent).end; x++)
static inline bool fe_inside(unsigned offset, struct omp_extent e)
{
    return offset >= e.begin && offset < e.end;
}
/* words.c */
bool fe_token_is(const struct fe *, const struct fe_token *, const char *);
/* the directive whose name begins at token k, and its number of tokens; OMPDIR_UNKNOWN, 0 */
enum omp_directive fe_directive_at(const struct fe *, const struct fe_pragma *, unsigned k,
                                   unsigned *length);
/* OMPC_COUNT, OMPK_NONE: none */
enum omp_clause_kind fe_clause_named(const struct fe *, const struct fe_token *);
enum omp_keyword fe_keyword(const struct fe *, const struct fe_token *);
bool fe_allows(enum omp_directive, enum omp_clause_kind);
/* Is it `ompx target spread` or one of its data directives? */
bool fe_is_spread(const struct fe_pragma *);
enum fe_words {
    WORDS_MAP_TYPE,
    WORDS_MAP_MODIFIER,
    WORDS_LOCATOR_MODIFIER,
    WORDS_DEFAULTMAP,
    WORDS_SCHEDULE,
    WORDS_LINEAR_MODIFIER,
    WORDS_ASSUMPTION,
    WORDS_TRAIT_SET,
    WORDS_SELECTOR,
    WORDS_KIND,
    WORDS_ARCH,
    WORDS_VENDOR,
    WORDS_EXTENSION,
    WORDS_CLANG_HANGS,
    WORDS_CLANG_CLAUSE
};
bool fe_is_property(const struct fe *, const struct fe_pragma *, unsigned k, enum fe_words,
                    unsigned *value);
/* context selectors: values of their words */
enum fe_trait_set {
    TRAITS_DEVICE = 1,
    TRAITS_TARGET_DEVICE,
    TRAITS_IMPLEMENTATION,
    TRAITS_USER,
    TRAITS_CONSTRUCT
};
enum fe_selector {
    SELECTOR_KIND = 1,
    SELECTOR_ARCH,
    SELECTOR_ISA,
    SELECTOR_VENDOR,
    SELECTOR_EXTENSION,
    SELECTOR_CONDITION,
    SELECTOR_DEVICE_NUM
};
enum fe_match { MATCH_ALL = 1, MATCH_ANY, MATCH_NONE };
enum { FE_ON_HOST = 1, FE_ON_GPU = 2, FE_ON_ANY = 3 };
enum { VENDOR_LLVM = 1, VENDOR_GNU };
/* Is the word one of the set?  Its value is or-ed into *value. */
bool fe_word(enum fe_words, const char *word, size_t length, unsigned *value);
/* pragma.c */
/* the token at i, which is not blank, up to `end`; the offset after it */
unsigned fe_scan_token(const struct omp_unit *, unsigned i, unsigned end, struct fe_token *);
/* the next token of the text from i on; false: there is none */
bool fe_next_token(const struct omp_unit *, unsigned i, struct fe_token *);
/* 1: it opens, -1: it closes; a digraph, <: or :>, becomes one token */
int fe_bracket(const struct omp_unit *, struct fe_token *);
/* after the next ';' outside of brackets */
unsigned fe_find_semicolon(const struct omp_unit *, unsigned offset);
/* after the __attribute__s that follow a tag's definition, whose cursor ends at its '}' */
unsigned fe_attributes_end(const struct omp_unit *, unsigned offset);
void fe_scan_pragmas(struct fe *);
/* whose tokens, after `omp`, begin at the offset `tokens` */
void fe_add_pragma(struct fe *, struct omp_extent, unsigned tokens);
void fe_read_directive(struct fe *, struct fe_pragma *); /* by its tokens */
/* token k is the word; false after the last one */
bool fe_word_at(const struct fe *, const struct fe_pragma *, unsigned k, const char *word);
/* the bracket that closes the one at k, or the number of tokens */
unsigned fe_closing(const struct fe *, const struct fe_pragma *, unsigned k);
/* the first token of [k, end) that is the word, outside of brackets, or end */
unsigned fe_find_top(const struct fe *, const struct fe_pragma *, unsigned k, unsigned end,
                     const char *word);
/* walk/ */
/* 0, or -1 after reporting errors */
int fe_walk(struct fe *, CXIndex, int nargs, const char *const *args);
/* sorts what was collected; after the clauses added theirs */
void fe_finish_walk(struct fe *);
/* Is the offset in a function's definition?  After the walk. */
bool fe_is_in_function(const struct fe *, unsigned offset);
struct omp_extent fe_extent(const struct fe *, CXCursor);
unsigned fe_begin(const struct fe *, CXCursor);
unsigned fe_location(const struct fe *, CXCursor); /* of a declaration: its name */
unsigned fe_stmt_end(struct fe *, CXCursor);
struct omp_var *fe_var_of(struct fe *, CXCursor decl);
struct omp_var *fe_var_at(struct fe *, unsigned decl); /* whose name is declared there */
struct fe_function *fe_function_named(struct fe *, const char *name, unsigned length);
struct fe_function *fe_function_of(struct fe *, const struct omp_function *);
typedef VEC(CXCursor) fe_cursors;
void fe_children(struct fe *, CXCursor, fe_cursors *);
bool fe_is_array(CXCursor); /* by its type; a parameter is none */
/* parentheses and implicit casts off */
CXCursor fe_strip(struct fe *, CXCursor);
/* the use of a variable at exactly this offset, or NULL; after fe_finish_walk */
const struct omp_ref *fe_ref_at(const struct fe *, unsigned offset);
/* probe.c */
void fe_hide_variants(struct fe *);
void fe_collect_operands(struct fe *);
void fe_write_probes(struct fe *);
/* offset in the user's text of one in what libclang sees */
unsigned fe_text_offset(const struct fe *, unsigned seen);
const struct fe_probe *fe_probe_at(const struct fe *, unsigned seen);
void fe_found_operand(struct fe *, const struct fe_probe *, unsigned seen, CXCursor);
bool fe_spoil_operands(struct fe *, const struct fe_probe *, unsigned seen, const char *complaint);
/* the argument whose text begins there; NULL if there is none, or it has an error */
const struct fe_operand *fe_operand_at(const struct fe *, unsigned begin);
/* types.c */
struct omp_type *fe_type(struct fe *, CXType);
const char *fe_declaration(struct fe *, CXCursor); /* of a function, by itself, with its ';' */
/* `struct S`; of an unnamed one by the name that it gets. */
const char *fe_tag_name(struct fe *, CXCursor tag);
void fe_note_local_type(struct fe *, CXCursor);
void fe_hoist_types(struct fe *);
/* lone_member.c */
void fe_find_lone_members(struct fe *);
/* a construct for the device that has the one offset in its body, and not the other */
bool fe_enters_construct(const struct fe *, unsigned from, unsigned to);
/* arguments.c, clause.c */
void fe_parse_clauses(struct fe *);
/* a member of an unnamed struct or union inside is one of the object itself */
bool fe_is_unnamed_member(CXCursor);
/* before the text is parsed: the operands of this directive */
void fe_collect_arguments(struct fe *, struct fe_pragma *);
/* clause.c: an expression of the text, with what is known of it */
struct omp_expr fe_expr(struct fe *, CXCursor);
/* these tokens */
bool fe_constant(struct fe *, const struct fe_pragma *, unsigned first, unsigned end,
                 long long *value);
/* section.c */
int64_t fe_section_count(const struct omp_section *); /* its elements, -1: not known */
const char *fe_bad_section(const struct omp_item *);  /* what is wrong with them, or NULL */
/* mistakes/ */
void fe_find_mistakes(struct fe *);
/* allocate.c: the variables of allocate directives */
void fe_align_variables(struct fe *);
/* rejected.c */
void fe_find_rejected(struct fe *);
/* clang22.c: the architecture beside an isa that has none, for the check */
void fe_name_architectures(struct fe *, fe_edits *);
/* edits.c */
/* Does the list change anything in there? */
bool fe_has_edit(const fe_edits *, struct omp_extent);
void fe_add_edit(struct fe *, fe_edits *, unsigned offset, unsigned length, const char *text);
char *fe_edited_text(struct fe *, fe_edits *); /* memory of the run's; NULL: there were errors */
/* The ends of the lines in it. */
const char *fe_newlines_of(struct fe *, struct omp_extent);
/* carriers.c */
void fe_add_carriers(struct fe *, fe_edits *);
/* statics.c: static variables of functions that are declare target move before the function; can
 * this one? */
bool fe_can_move(const struct fe *, const struct omp_var *);
void fe_move_statics(struct fe *, fe_edits *);
/* backward.c: loops that lead away from their bound, and have no iteration. */
void fe_turn_backward_loops(struct fe *, fe_edits *);
void fe_use_carriers(struct fe *);
/* context.c */
void fe_resolve_metadirectives(struct fe *);
/* Of such a metadirective clang may choose another variant. */
bool fe_asks_for_constructs(const struct fe *, const struct fe_pragma *);
void fe_apply_variants(struct fe *);
/* Does the metadirective stand for the same directive on host and device, its tokens [*b, *e)? */
bool fe_chosen_everywhere(struct fe *, const struct fe_pragma *, unsigned *b, unsigned *e);
/* In a target construct, known, and not the same: what the host and the device run. */
bool fe_chosen_apart(struct fe *, const struct fe_pragma *, unsigned host[2], unsigned device[2]);
const char *fe_variant_unknown(struct fe *, const struct fe_pragma *);
/* begin declare variant: could its functions be the ones to call on the device, or on the host? */
bool fe_variants_match(struct fe *, const struct fe_pragma *, bool device);
/* Has a variant a condition that is no constant?  The function that it is a variant of; NULL: not
 * known. */
bool fe_is_late(struct fe *, const struct fe_pragma *);
const char *fe_variant_base(struct fe *, const struct fe_pragma *);
/* What a call of `base` at the offset may call: the first whose condition holds, and else `base`;
 * where: FE_ON_HOST or FE_ON_GPU, outside of target constructs. */
struct fe_candidate {
    const char *function, *condition; /* "": it holds; that is the last one */
    const struct fe_pragma *p;
    unsigned begin, end; /* tokens of the condition */
};
struct fe_candidates {
    struct fe_candidate at[16];
    unsigned n;
};
struct fe_candidates fe_find_candidates(struct fe *, const char *base, unsigned offset,
                                        unsigned where, bool dispatch);
/* mapper.c */
/* after its clauses are read */
void fe_read_mapper(struct fe *, struct fe_pragma *);
/* visible there, for the type, or that of its elements; NULL: none */
const struct omp_mapper *fe_find_mapper(struct fe *, const char *name, CXType, unsigned offset);
/* Does the text name an iterator of the clause? */
bool fe_names_iterator(const struct fe *, struct omp_extent, const struct omp_clause *);
/* udr.c */
bool fe_is_for_types(const struct fe_pragma *); /* declare reduction, declare induction */
void fe_read_udr(struct fe *, struct fe_pragma *);
/* tokens of `(type, type)`, or of `type`, which is both */
struct fe_type_pair {
    unsigned begin, end, step, step_end;
};
struct fe_type_pair fe_type_pair(const struct fe *, const struct fe_pragma *, unsigned b,
                                 unsigned e);
/* Of the declare induction: that of the step, where it is for the type. */
struct fe_type_pair fe_induced_pair(struct fe *, const struct fe_pragma *, CXType);
/* of that name and type, visible there */
const struct omp_udr *fe_find_udr(struct fe *, const char *name, CXType, unsigned offset);
struct omp_clause *fe_clause(const struct omp_construct *, enum omp_clause_kind);
/* scan.c */
void fe_read_scans(struct fe *);
/* A loop of the host with a scan that clang gets wrong: it leaves out what the variable had before
 * where threads share the iterations, and inside of a parallel region gives anything.  Of one simd
 * loop it gets them right. */
bool fe_scans_on_host(const struct omp_construct *);
/* spread.c */
void fe_spread_loops(struct fe *);
bool fe_may_spread(void);
/* Can the constructs, or what the text calls, tell one team from several? */
bool fe_shows_team(const struct fe *, const struct omp_construct *first, struct omp_extent);
bool fe_fixes_team(const struct omp_construct *); /* one of its clauses does */
/* cancel.c */
void fe_bind_cancellations(struct fe *);
/* tree.c, loop.c, atomic.c */
void fe_build_tree(struct fe *);
void fe_canonical_loops(struct fe *, struct fe_pragma *);
/* The one loop that `at` is; false: it is none, which is an error of the directive's, if that is
 * not NULL. */
bool fe_read_loop(struct fe *, struct fe_pragma *, CXCursor at, struct omp_loop *, CXCursor *body);
/* The only `for` among the statements of a block and of the blocks in it; or what is given. */
CXCursor fe_only_loop(struct fe *, CXCursor);
void fe_parse_atomic(struct fe *, struct fe_pragma *);
/* The statement of `atomic compare`, with `capture` or without; false: it is none. */
bool fe_read_compare(struct fe *, const struct fe_pragma *, bool captures, struct omp_atomic *);
struct omp_extent fe_whole(const struct omp_construct *); /* pragma and body */
struct omp_construct *fe_sole_child(const struct fe *, const struct omp_construct *);
/* enclosing target construct or NULL, may be itself */
struct omp_construct *fe_target_of(const struct omp_construct *);
/* Can only the host do it?  Is the offset in such a construct of the list? */
bool fe_needs_host(const struct omp_construct *);
bool fe_is_left_to_host(const struct omp_construct *list, unsigned offset);
/* reach.c */
void fe_mark_device(struct fe *);
/* sharing.c */
bool fe_evaluated_inside(enum omp_clause_kind); /* its expression, by the region's threads */
bool fe_gives_attribute(enum omp_clause_kind);  /* a data-sharing attribute to its list items */
bool fe_is_written(const struct fe *, struct omp_extent, const struct omp_var *);
/* a construct inside of this one has copies of the variable */
bool fe_is_private_inside(const struct omp_construct *, const struct omp_var *);
/* is what the name means there another variable than the one that the target construct has? */
bool fe_is_private_at(const struct omp_construct *target, const struct omp_var *, unsigned offset);
void fe_data_sharing(struct fe *);
/* How the construct treats the variable; NULL: nothing is said of it. */
const struct omp_sharing *fe_sharing_of(const struct omp_construct *, const struct omp_var *);
/* assume.c */
void fe_read_assumptions(struct fe *);
/* mode.c */
void fe_choose_modes(struct fe *); /* by form */
void fe_settle_modes(struct fe *); /* some are generic all the same, by data-sharing */
/* support.c: pointers to functions of the host can be called on the device (lower/indirect.c) */
void fe_set_indirect(void);
/* before loops are read, and after data-sharing */
void fe_check_directives(struct fe *);
/* Is the type one that the clause takes?  Else an error.  Only of those that clang does not see. */
void fe_check_argument(struct fe *, enum omp_clause_kind, struct omp_place,
                       const struct omp_type *);
void fe_say_unexpected(struct fe *, const struct fe_pragma *, bool ours);
/* Before clang sees it: a first word that is nearly a directive. */
void fe_check_name(struct fe *, const struct fe_pragma *);
void fe_check_support(struct fe *);
bool fe_is_device_function(const char *name); /* reach.c: the device runtime has it */
enum fe_unsupported {
#define UNSUPPORTED(id, message) UNSUPPORTED_##id,
#include "frontend/support.def"
    UNSUPPORTED_COUNT
};
/* An error; a, b: strings for the message, as many as it has %s. */
void fe_unsupported(struct fe *, struct omp_place, enum fe_unsupported, const char *a,
                    const char *b);
/* long_double.c: May device code use the type? */
bool fe_has_long_double(void);
/* Does the target construct share memory with the host that contains it?  That is an error. */
void fe_check_long_double(struct fe *, const struct omp_construct *target);
/* … the same of a variable that the device has for the whole program */
bool fe_shares_long_double(struct fe *, const struct omp_var *);
/* The function for double that stands for one with this name, if one does; NULL: none. */
const char *fe_long_double_name(struct fe *, const char *name);
/* reduce.c */
void fe_check_reduction(struct fe *, const struct omp_construct *, const struct omp_clause *);
/* objects.c: Does the target region use more of the struct object than these maps list? */
bool fe_needs_object(struct fe *, const struct omp_construct *, const struct omp_map *listed,
                     unsigned nlisted, const struct omp_item *object);
/* the bytes of a struct that the region uses for sure, between the first and the last of them */
struct omp_span fe_used_bytes(struct fe *, const struct omp_construct *, const struct omp_var *);
/* refine.c */
void fe_refine(struct fe *);
/* lanes/ */
void fe_find_lanes(struct fe *);
/* phases.c */
void fe_find_phases(struct fe *);
#endif
