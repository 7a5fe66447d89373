/* lower.h - shared by the files of lower/.
 *
 * Constructs that are another way to write what OpenMP and C can say already become that, in the
 * text, before anything else reads it: device code, host code and clang's check see the same.
 *
 *   lower.c      the table of such constructs and clauses; rounds, innermost constructs first
 *   check.c      what is wrong with what clang does not get to see
 *   nest.c       tile, stripe, unroll, reverse, interchange: other loops over the same iterations
 *   sequence.c   fuse, split
 *   choice.c     metadirectives whose choice is made at run time, and in blocks
 *   selectors.c  context selectors that the file decides
 *   variant.c    functions between `begin declare variant` and its end; types that clang does not
 *                see in a function that a directive is about
 *   late.c       declare variant with conditions that are known at run time
 *   indirect.c   declare target indirect
 *   starts.c     constructors and destructors in declare target
 *   dispatch.c   dispatch
 *   task.c       taskgraph, transparent
 *   newer.c      words of 6.0 that have older ones of the same meaning
 *   threads.c    num_threads with a list
 *   original.c   the modifier `original` of reduction
 *   split.c      combined directives that become two
 *   misread.c    directives that clang takes for others
 *   atomic.c     atomic compare
 *   host_scan.c  scans of the host
 *   induction.c  induction, declare induction
 *   reverse.c    target device(ancestor: 1)
 *   bare.c       ompx_bare
 *   bounds.c     ompx_attribute
 *   interop.c    prefer_type of interop
 *   devices.c    ompx target spread and its data directives; spread_reduction.c: its reductions
 *   conditional.c  lastprivate(conditional: x)
 *   initial.c    worksharing constructs that one thread runs
 *   allocators.c   predefined ones on target without uses_allocators
 *
 * A construct is replaced by text with a line marker wherever the user's text goes on, so that
 * places stay the user's. */
#ifndef OMPGPU_LOWER_H
#define OMPGPU_LOWER_H
#include "frontend/fe.h"

struct lowering {
    struct fe *fe;
    fe_edits edits;
    unsigned names; /* given so far */
};

/* tokens [begin, end) of a clause's argument; begin of the clause itself: `at` */
struct lower_argument {
    unsigned at, begin, end;
};
/* The next clause of that kind from token k on; false: there is none. */
bool lower_find(const struct fe *, const struct fe_pragma *, enum omp_clause_kind, unsigned k,
                struct lower_argument *);
/* Token k; NONE also after the last one. */
enum omp_keyword lower_keyword(const struct fe *, const struct fe_pragma *, unsigned k);
/* After a clause. */
unsigned lower_end(const struct fe_pragma *, const struct lower_argument *);
/* … and the comma that may follow it, which goes where the clause goes: clang ignores all clauses
 * after two commas in a row. */
unsigned lower_after(const struct fe *, const struct fe_pragma *, const struct lower_argument *);
const char *lower_tokens(struct fe *, const struct fe_pragma *, unsigned begin, unsigned end);
/* The directive without the clauses of that kind. */
const char *lower_without(struct fe *, const struct fe_pragma *, enum omp_clause_kind);
/* A line of its own; it and the text after it count as that of the offset. */
const char *lower_line(struct fe *, const char *directive, unsigned offset);
/* lower_without() in the place of the directive. */
void lower_drop(struct lowering *, const struct fe_pragma *, enum omp_clause_kind);
/* The user's text, on the user's line. */
const char *lower_text(struct fe *, struct omp_extent);
/* The directive's line and its statement; or the line alone. */
struct omp_extent lower_statement(struct fe *, const struct fe_pragma *);
/* The innermost construct with that leaf around the directive; NULL: there is none in the function.
 */
const struct fe_pragma *lower_around(struct fe *, const struct fe_pragma *, unsigned leaf);
void lower_replace(struct lowering *, struct omp_extent, const char *text);
/* The construct gets a block around it that begins with declarations, and one more clause. */
void lower_declare_around(struct lowering *, const struct fe_pragma *, const char *declarations);
void lower_add_clause(struct lowering *, const struct fe_pragma *, const char *clause,
                      const char *item);
const char *lower_name(struct lowering *, const char *what);
/* The function's declaration, for a block that the directive becomes; "" where it has one. */
const char *lower_declare(struct fe *, const struct fe_pragma *, const char *name,
                          const char *declaration);
bool lower_is_edited(const struct lowering *, struct omp_extent);
/* Is the function one of those that the declare target directive declares? */
bool lower_declares(const struct fe *, const struct fe_pragma *, const struct fe_function *);

/* check.c: what clang would say of a directive that is replaced, and of arguments of one that is
 * lowered; the latter after the walk. */
void lower_check_clauses(struct fe *, struct fe_pragma *);
void lower_check_arguments(struct fe *, struct fe_pragma *);

/* loops */
struct lower_loop {
    struct omp_loop loop;
    const char *type; /* of what counts its iterations: unsigned */
    const char *trip; /* how many there are */
    bool down;        /* does the variable get less? */
};
/* The loop that `at` is, and its body. */
bool lower_read_loop(struct lowering *, struct fe_pragma *, CXCursor at, struct lower_loop *,
                     CXCursor *body);
/* Of the iteration, from 0 on, in terms of its variable. */
const char *lower_number(struct fe *, const struct lower_loop *);
/* What one iteration adds to the variable, as a value of that type. */
const char *lower_step(struct fe *, const struct lower_loop *, const char *type);
/* Gives the loop's variable the value of iteration k; declares it, if the loop does or if it is
 * private in what shares out the new loops. */
const char *lower_variable(struct fe *, const struct fe_pragma *, const struct lower_loop *,
                           const char *k);

/* one function for each row of the table */
void lower_nest(struct lowering *, struct fe_pragma *);
void lower_unroll(struct lowering *, struct fe_pragma *);
void lower_fuse(struct lowering *, struct fe_pragma *);
void lower_split(struct lowering *, struct fe_pragma *);
void lower_metadirective(struct lowering *, struct fe_pragma *);
bool lower_has_known_choice(struct fe *, const struct fe_pragma *);
void lower_known_choice(struct lowering *, struct fe_pragma *);
/* Would the tokens, a variant of the metadirective, be lowered in its place? */
bool lower_becomes_another(struct fe *, const struct fe_pragma *, const unsigned tokens[2]);
bool lower_scores_condition(struct fe *, const struct fe_pragma *);
bool lower_selects_unknown(struct fe *, const struct fe_pragma *);
void lower_unknown(struct lowering *, struct fe_pragma *);
bool lower_selects_required(struct fe *, const struct fe_pragma *);
void lower_required(struct lowering *, struct fe_pragma *);
bool lower_has_folded_condition(struct fe *, const struct fe_pragma *);
void lower_folded_condition(struct lowering *, struct fe_pragma *);
void lower_score(struct lowering *, struct fe_pragma *);
void lower_metadirective_block(struct lowering *, struct fe_pragma *);
void lower_variant_block(struct lowering *, struct fe_pragma *);
bool lower_is_initial_device(struct fe *, const struct fe_pragma *);
void lower_initial_device(struct lowering *, struct fe_pragma *);
bool lower_hides_types(struct fe *, const struct fe_pragma *);
void lower_hidden_types(struct lowering *, struct fe_pragma *);
bool lower_is_variant_block(struct fe *, const struct fe_pragma *);
void lower_inner_variant_block(struct lowering *, struct fe_pragma *);
bool lower_is_inner_variant_block(struct fe *, const struct fe_pragma *);
void lower_dispatch(struct lowering *, struct fe_pragma *);
bool lower_dispatches_to(struct lowering *, struct fe_pragma *, const char *base);
void lower_late_variant(struct lowering *, struct fe_pragma *);
bool lower_is_late_variant(struct fe *, const struct fe_pragma *);
void lower_late_variants(struct lowering *);
bool lower_may_start(const struct fe *);
void lower_starts(struct lowering *);
void lower_taskgraph(struct lowering *, struct fe_pragma *);
void lower_replayable(struct lowering *, struct fe_pragma *);
void lower_transparent(struct lowering *, struct fe_pragma *);
bool lower_reduces_section(struct fe *, const struct fe_pragma *);
void lower_reduced_section(struct lowering *, struct fe_pragma *);
void lower_host_scan(struct lowering *, struct fe_pragma *);
bool lower_has_host_scan(struct fe *, const struct fe_pragma *);
void lower_weak(struct lowering *, struct fe_pragma *);
bool lower_updates(struct fe *, const struct fe_pragma *);
void lower_update(struct lowering *, struct fe_pragma *);
void lower_compare(struct lowering *, struct fe_pragma *);
bool lower_compares(struct fe *, const struct fe_pragma *);
void lower_induction(struct lowering *, struct fe_pragma *);
/* A target construct with an allocator that no uses_allocators names. */
bool lower_uses_unnamed(struct fe *, const struct fe_pragma *);
void lower_uses_allocators(struct lowering *, struct fe_pragma *);
/* No construct is left that could use one. */
bool lower_is_unused_induction(struct fe *, const struct fe_pragma *);
void lower_declare_induction(struct lowering *, struct fe_pragma *);
void lower_ordered(struct lowering *, struct fe_pragma *);
void lower_conditional(struct lowering *, struct fe_pragma *);
bool lower_is_conditional(struct fe *, const struct fe_pragma *);
/* May a construct of the one thread of a target construct have firstprivate, lastprivate? */
bool lower_is_initial(struct fe *, const struct fe_pragma *);
void lower_initial(struct lowering *, struct fe_pragma *);
bool lower_in_target(struct lowering *, struct fe_pragma *); /* Is it such a construct? */
void lower_indirect(struct lowering *, struct fe_pragma *);
bool lower_is_indirect(struct fe *, const struct fe_pragma *);
void lower_memory_order(struct lowering *, struct fe_pragma *);
bool lower_has_half_order(struct fe *, const struct fe_pragma *);
void lower_scope(struct lowering *, struct fe_pragma *);
bool lower_has_scope(struct fe *, const struct fe_pragma *);
void lower_device_type(struct lowering *, struct fe_pragma *);
bool lower_has_group_type(struct fe *, const struct fe_pragma *);
bool lower_has_reverse_type(struct fe *, const struct fe_pragma *);
void lower_levels(struct lowering *, struct fe_pragma *);
bool lower_has_levels(struct fe *, const struct fe_pragma *);
void lower_original(struct lowering *, struct fe_pragma *);
bool lower_has_original(struct fe *, const struct fe_pragma *);
void lower_append_args(struct lowering *, struct fe_pragma *);
bool lower_appends_preferred(struct fe *, const struct fe_pragma *);
void lower_target_default(struct lowering *, struct fe_pragma *);
bool lower_has_target_default(struct fe *, const struct fe_pragma *);
void lower_combiner(struct lowering *, struct fe_pragma *);
void lower_split_directive(struct lowering *, struct fe_pragma *);
bool lower_is_split(struct fe *, const struct fe_pragma *);
/* The token of an isa of GPUs without an architecture beside it; 0: none. */
unsigned lower_lone_isa(const struct fe *, const struct fe_pragma *);
void lower_commas(struct lowering *, struct fe_pragma *);
bool lower_has_comma(struct fe *, const struct fe_pragma *);
void lower_device_modifier(struct lowering *, struct fe_pragma *);
bool lower_has_device_modifier(struct fe *, const struct fe_pragma *);
void lower_misplaced_iterator(struct lowering *, struct fe_pragma *);
bool lower_destroys(struct fe *, const struct fe_pragma *);
void lower_destroy(struct lowering *, struct fe_pragma *);
bool lower_has_misplaced_iterator(struct fe *, const struct fe_pragma *);
/* The value of token k in a set of words; 0: it is none of them. */
unsigned lower_word_at(const struct fe *, const struct fe_pragma *, unsigned k, enum fe_words);
/* Any of these: clang takes it for something else, or rejects it. */
bool lower_is_misread(struct fe *, const struct fe_pragma *);
void lower_init_complete(struct lowering *, struct fe_pragma *);
bool lower_initialises_scan(struct fe *, const struct fe_pragma *);
void lower_task_iterations(struct lowering *, struct fe_pragma *);
bool lower_has_task_iterations(struct fe *, const struct fe_pragma *);
void lower_reverse_offload(struct lowering *, struct fe_pragma *);
void lower_device_safesync(struct lowering *, struct fe_pragma *);
void lower_safesync(struct lowering *, struct fe_pragma *);
void lower_reverse(struct lowering *, struct fe_pragma *);
bool lower_is_reverse(struct fe *, const struct fe_pragma *);
void lower_bare(struct lowering *, struct fe_pragma *);
void lower_attributes(struct lowering *, struct fe_pragma *);
void lower_interop(struct lowering *, struct fe_pragma *);
void lower_objects(struct lowering *, struct fe_pragma *);
bool lower_lists_objects(struct fe *, const struct fe_pragma *);
bool lower_prefers(struct fe *, const struct fe_pragma *);
void lower_target_spread(struct lowering *, struct fe_pragma *);
void lower_target_data_spread(struct lowering *, struct fe_pragma *);
void lower_data_spread(struct lowering *, struct fe_pragma *);
void lower_num_teams(struct lowering *, struct fe_pragma *);
/* Does the choice depend on what is known at run time? */
bool lower_chooses_late(struct fe *, const struct fe_pragma *);
bool lower_may_choose_late(struct fe *, const struct fe_pragma *);
/* nest.c: the directives that `apply` wants before generated loops [0, n) */
struct lower_applied {
    const char *directive; /* NULL: none */
    unsigned depth;        /* how many loops it is about */
};
void lower_read_apply(struct lowering *, struct fe_pragma *, unsigned per_group, unsigned n,
                      struct lower_applied *);
const char *lower_apply(struct fe *, const struct fe_pragma *, const struct lower_applied *);
#endif
