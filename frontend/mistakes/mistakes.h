/* mistakes.h - warnings about regions that are valid, and hardly meant so: what their files share.
 *
 * A warning is said where the file proves it.  What other files, callers, or a condition at run
 * time could make right is no mistake. */
#ifndef OMPGPU_MISTAKES_H
#define OMPGPU_MISTAKES_H
#include "driver/base/protocol.h"
#include "frontend/fe.h"

/* mistakes.c */
#define FE_WARNING(id, name) WARN_##id,
enum fe_warning { PROTO_WARNINGS(FE_WARNING) FE_WARNINGS };
#undef FE_WARNING
bool fe_warns(enum fe_warning); /* is it on? */
void fe_warn(struct fe *, enum fe_warning, unsigned offset, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
bool fe_is_in_clause(const struct fe *, unsigned offset);
bool fe_is_in_region(const struct fe *, unsigned offset);
bool fe_has_unified_memory(const struct fe *);

/* accesses.c: what a statement accesses, in the order in which it is evaluated */
enum fe_how {
    FE_READ = 1,
    FE_WRITE = 2,
    FE_LENT = 4, /* to a function of a system header: it may read and write it, and forgets it */
    FE_GIVEN = 8 /* its address, or the pointer, is now known elsewhere */
};
struct fe_access {
    unsigned offset; /* of the variable's name */
    struct omp_var *var;
    unsigned how;         /* enum fe_how bits */
    bool may_not;         /* it is not done each time: under a condition, or after a way out */
    bool is_member;       /* of the variable, or of an element */
    CXCursor member;      /* the path ends with it; the null cursor: not with a member */
    CXCursor followed;    /* the first member on the path that is a pointer, and not its end */
    CXType type;          /* of what is accessed */
    CXCursor value;       /* what is assigned, or the initialiser; the null cursor: not known */
    CXCursor *subscripts; /* the null cursor: 0, as in *p */
    unsigned nsubscripts;
    long long room; /* elements of the array that the first subscript chooses from; -1: not known */
};
typedef VEC(struct fe_access) fe_accesses;

/* Of the loops' conditions, too; nothing of what is not evaluated. */
void fe_find_accesses(struct fe *, CXCursor statement, fe_accesses *);
/* Of a function that is defined here; looked for once. */
const fe_accesses *fe_accesses_of(struct fe *, const struct omp_function *);
/* Is it memory that malloc or its like returns? */
bool fe_is_allocation(struct fe *, CXCursor);
CXCursor fe_without_casts(struct fe *, CXCursor);
/* The pragma of the construct, with its statement. */
const struct fe_pragma *fe_pragma_of(const struct fe *, const struct omp_construct *);
/* The variable's storage is the heap's, and nothing but the variable knows it; or it is an array
 * or a scalar of the function whose address nothing knows: what the function's constructs do not
 * map is not on the device. */
bool fe_is_unshared(struct fe *, const struct omp_function *, const struct omp_var *);

/* loops.c */
struct fe_for {
    struct omp_var *iv; /* NULL: not known */
    int64_t length;     /* at most so many iterations; -1: not known */
    CXCursor body;
};
struct fe_for fe_read_for(struct fe *, CXCursor);
int64_t fe_length_of(const struct omp_loop *); /* -1: not known */

/* One kind of mistake each; a target construct, a construct on the device. */
void fe_find_uninitialized(struct fe *, const struct omp_construct *target);
void fe_find_unset_privates(struct fe *, const struct omp_construct *);
void fe_find_left(struct fe *, const struct omp_construct *target);
void fe_find_repeated_transfers(struct fe *, const struct omp_construct *target);
void fe_find_shallow(struct fe *, const struct omp_construct *target);
void fe_find_single_threads(struct fe *, const struct omp_construct *target);
void fe_find_single_teams(struct fe *, const struct omp_construct *loop);
void fe_find_dependences(struct fe *, const struct omp_construct *loop);
#endif
