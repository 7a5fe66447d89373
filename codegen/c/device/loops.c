/* loops.c - loop nests: the logical iteration space and how it is shared.
 *
 * Section 4.4.2 of OpenMP 5.2.  Bounds and steps are evaluated once, before the loop.  Trip counts
 * and logical iteration numbers are unsigned and as wide as the induction variable, so nothing
 * overflows that does not overflow in the user's loop; `ub - lb` is taken modulo 2^n after the
 * comparison said that there are iterations.
 *
 * A schedule is a list of levels.  Each takes a range of logical iterations [lo, lo + m) and hands
 * on parts of it:
 *
 *   BLOCK    one contiguous part for each team or thread
 *   CHUNK    chunks of fixed size, dealt round-robin
 *   DYNAMIC  chunks that the runtime deals on demand
 *   CYCLIC   single iterations, stride = number of takers
 *
 * The last level runs iterations: CYCLIC (coalesced on a GPU; the default everywhere) or SERIAL.
 * Each is an iterator of the device runtime (devicertl/ompgpu_device.h):
 *
 *   const unsigned @n_i = 0 < n ? (unsigned)n : 0;
 *   for (struct __ompgpu_loop32 @it_i = __ompgpu_loop32(__OMPGPU_THREADS, @n_i); @it_i.more;
 *           __ompgpu_next32(&@it_i)) {
 *       int i = @it_i.at;
 *       … body …
 *   }
 *
 * A thread takes the iterations of a reduction in batches, of a size that omp-device chooses
 * (codegen/ir/passes/batches.c), and then the rest one by one:
 *
 *   for (struct __ompgpu_batches32 @it_i = …(__OMPGPU_THREADS, @n_i, __ompgpu_batch_size(1));
 *           @it_i.size; __ompgpu_next_size32(&@it_i))
 *       for (; @it_i.i.more; __ompgpu_next_batch32(&@it_i))
 *           for (unsigned @u = 0; @u < @it_i.size; @u++) {
 *               int i = __ompgpu_at32(&@it_i, @u);
 *               … body …
 *           }
 *
 * Both the sizes and the iterations of a batch are unrolled by LLVM.  Iterations keep their order
 * and a thread its one private copy, so results are the same as without; the loads of a batch do
 * not depend on each other and go out together, while four additions in a row take far less time
 * than one load.
 *
 * Nests between constants have one counter and divide by constants.  Other collapsed nests do not
 * divide in the loop and do not need the product of the trip counts: the iteration is kept as a
 * number in mixed radix, a digit a loop, and so is the stride; a step is an addition with carry.
 * The digits stay 32 bits wide for 32-bit induction variables however large the product is.
 * (Limit: teams × threads < 2^32.)
 */
#include <stdlib.h>
#include <string.h>
#include "codegen/c/device/nest.h"

/* Value of the induction variable in logical iteration k. */
const char *cg_iv_value(struct cg *cg, const struct nest *n, unsigned j, const char *k)
{
    const struct omp_loop *l = &n->c->loops[j];
    const char *u = n->l[j].u,
               *by = n->l[j].one ? k : cg_strf(cg, "%s * %s", k, cg_in_type(cg, u, n->l[j].step));
    char sign = l->step_negative ? '-' : '+';
    if (l->iv->type->kind == OMPT_POINTER)
        return cg_strf(cg, "%s %c (long long)(%s)", n->l[j].lb, sign, by);
    if (n->l[j].zero && sign == '+')
        return by;
    return cg_strf(cg, "%s %c %s", cg_in_type(cg, u, n->l[j].lb), sign, by);
}

static unsigned width_of(const char *type) { return strcmp(type, "unsigned") ? 64 : 32; }

/* Its bounds; what its trip count is. */
static const char *declare_loop(struct cg *cg, struct nest *n, unsigned j)
{
    const struct omp_loop *l = &n->c->loops[j];
    if (l->outer) { /* bounds of each iteration of the outer loop: open_body */
        unsigned o = (unsigned)(l->outer - n->c->loops);
        n->l[j].lb =
            cg_is_digits(&l->lb) ? cg_value_of(cg, &l->lb) : cg_strf(cg, "@lb_%s", l->iv->name);
        return cg_longest_trip(cg, l, n->l[o].lb, n->l[o].trip, n->l[o].step);
    }
    n->l[j].lb = cg_compute_once(cg, n->l[j].type, "lb", l, &l->lb);
    n->l[j].ub = cg_compute_once(cg, NULL, "ub", l, &l->ub);
    return cg_trip_of(cg, l, n->l[j].u, n->l[j].lb, n->l[j].ub, n->l[j].step, n->l[j].one);
}

/* The trip count of every loop, and the total where there is one variable for it. */
static void declare_bounds(struct cg *cg, const struct omp_construct *c, struct nest *n)
{
    n->c = c;
    n->n = c->nloops;
    for (unsigned j = 0; j < n->n; j++) {
        const struct omp_loop *l = &c->loops[j];
        const struct omp_type *t = l->iv->type;
        n->l[j].type = t->variably_modified
                           ? cg_strf(cg, "__typeof__((%s) + 0)", cg_expr(cg, l->lb.extent))
                           : cg_type(cg, t, "", CG_UNQUALIFIED);
        n->l[j].u = cg_unsigned(t);
        n->l[j].one = cg_is_one(&l->step);
        n->l[j].zero = cg_is_digits(&l->lb) && !l->lb.value;
        n->l[j].step = n->l[j].one ? "1" : cg_compute_once(cg, NULL, "step", l, &l->step);
        n->l[j].trip = cg_strf(cg, "@n_%s", l->iv->name);
        n->l[j].at = cg_strf(cg, "@it_%s", l->iv->name);
        cg_line(cg, "const %s %s = %s;", n->l[j].u, n->l[j].trip, declare_loop(cg, n, j));
    }
    n->k = n->n == 1 ? n->l[0].u : "unsigned long long";
    n->width = width_of(n->k);
    n->total = n->n == 1 ? n->l[0].trip : cg_strf(cg, "@n");
}

/* ------------------------------------------------------------------ levels that hand on ranges */
struct range {
    const char *lo, *m;
}; /* [lo, lo + m) */

static const char *plus(struct cg *cg, const char *lo, const char *x)
{
    return !strcmp(lo, "0") ? x : cg_strf(cg, "%s + %s", lo, x);
}

static void open_chunks(struct cg *cg, unsigned w, unsigned d, enum cg_who who, const char *m,
                        const char *size)
{
    cg_open(cg,
            "for (struct __ompgpu_chunks%u @c%u = __ompgpu_chunks%u(%s, %s, %s); @c%u.more; "
            "__ompgpu_next_chunk%u(&@c%u))",
            w, d, w, cg_takers(cg, who), m, size, d, w, d);
    if (who == CG_ONE) /* each chunk is a task */
        cg_end_cancelled_tasks(cg);
    cg_line(cg, "const struct __ompgpu_range%u @r%u = __ompgpu_chunk%u(&@c%u);", w, d, w, d);
}

/* In the covering form a thread takes no chunk: it has one, of one iteration. */
static void open_dynamic(struct cg *cg, const struct nest *n, const struct level *l, unsigned d,
                         const char *m, const char *chunk)
{
    const char *to = cg_strf(cg, "@r%u", d), *more;
    unsigned w = n->width;
    cg_line(cg, "%s__ompgpu_dispatch_init(__OMPGPU_%s, %s, %s);",
            n->covering ? cg_strf(cg, "if (!@covering) ") : "",
            l->clause->sched == OMPSCHED_GUIDED ? "GUIDED" : "DYNAMIC", m, chunk);
    more = cg_strf(cg, "__ompgpu_next_range%u(&%s)", w, to);
    if (n->covering)
        cg_open(cg,
                "for (struct __ompgpu_range%u %s = __ompgpu_own%u(@env, @covering); "
                "@covering ? %s.m != 0 : %s; %s.m = 0)",
                w, to, w, to, more, to);
    else
        cg_open(cg, "for (struct __ompgpu_range%u %s; %s;)", w, to, more);
}

static struct range open_level(struct cg *cg, const struct nest *n, const struct level *l,
                               unsigned d, struct range r)
{
    const char *chunk =
        l->clause && !cg_empty(l->clause->expr.extent) ? cg_expr(cg, l->clause->expr.extent) : "1";
    unsigned w = n->width;
    if (l->clause && l->clause->kind == OMPC_NUM_TASKS)
        chunk = cg_strf(cg, "(%s + (%s) - 1) / (%s) + !%s", r.m, chunk, chunk, r.m);
    switch (l->kind) {
    case BLOCK:
        cg_line(cg, "const struct __ompgpu_range%u @r%u = %s__ompgpu_block%u(%s, %s);", w, d,
                n->covering ? cg_strf(cg, "@covering ? (struct __ompgpu_range%u){ 0 } : ", w) : "",
                w, cg_takers(cg, l->who), r.m);
        break;
    case CHUNK: open_chunks(cg, w, d, l->who, r.m, chunk); break;
    case RUNTIME:
        cg_line(cg, "__ompgpu_runtime_init(%s);", r.m);
        cg_open(cg, "for (struct __ompgpu_range%u @r%u; __ompgpu_next_runtime%u(&@r%u);)", w, d, w,
                d);
        break;
    default: open_dynamic(cg, n, l, d, r.m, chunk);
    }
    return (struct range){ plus(cg, r.lo, cg_strf(cg, "@r%u.lo", d)), cg_strf(cg, "@r%u.m", d) };
}

#define IS_TILED "__ompgpu_is_tiled(@form)" /* which form of the kernel it is */

/* --------------------------------------------------------------- the level that runs iterations */
static const char *iteration_of(struct cg *cg, struct range r, const char *k)
{
    return !strcmp(r.lo, "0") ? k : cg_strf(cg, "(%s + %s)", r.lo, k);
}

/* With the iterator `i` of w bits over iterations 0 … m-1. */
static void open_loop(struct cg *cg, const struct nest *n, unsigned w, const char *i,
                      enum cg_who who, const char *m)
{
    const char *first = n->covering && cg->lanes ? cg_strf(cg, "__ompgpu_rows%u(@env, @lanes)", w)
                        : n->covering
                            ? cg_strf(cg, "__ompgpu_league%u(@env, @covering, %s)", w, m)
                            : cg_strf(cg, "__ompgpu_loop%u(%s, %s)", w, cg_takers(cg, who), m);
    if (n->tiled)
        first = cg_strf(cg, IS_TILED " ? __ompgpu_tile_loop(@tile) : %s", first);
    cg_open(cg, "for (struct __ompgpu_loop%u %s = %s; %s.more; __ompgpu_next%u(&%s))", w, i, first,
            i, w, i);
}

static bool one_launch_covers(const struct omp_loop *);

/* Where there is no strided form: the thread's own iteration of those of the launch, if it has one.
 * `if`, as a loop for `continue`. */
static void open_covered(struct cg *cg, const struct nest *n)
{
    const char *more = cg_strf(cg, "__ompgpu_has_iteration(@id, @env->trip)");
    if (n->tiled)
        more = cg_strf(cg, IS_TILED " ? @tile.inside : %s", more);
    cg_line(cg, "const unsigned @id = __OMPGPU_LEAGUE_THREAD;");
    cg_open(cg, "for (_Bool @more = %s; @more; @more = 0)", more);
}

/* … its number */
static const char *open_own(struct cg *cg, const struct nest *n)
{
    open_covered(cg, n);
    return cg_strf(cg, one_launch_covers(&n->c->loops[0]) ? "@id"
                       : n->width == 64                   ? "(@env->first + @id)"
                                                          : "(@env->begin[0] + @id)");
}

/* The loop over the iterations of one loop; their number. */
static const char *open_single(struct cg *cg, const struct nest *n, const struct level *l,
                               struct range r)
{
    const char *i = n->l[0].at;
    unsigned w = n->width;
    if (l->kind == SERIAL) {
        cg_open(cg, "for (%s %s = 0; %s < %s; %s++)", n->k, i, i, r.m, i);
        return iteration_of(cg, r, i);
    }
    open_loop(cg, n, w, i, l->who, r.m);
    return iteration_of(cg, r, cg_strf(cg, "%s.at", i));
}

/* ------------------------------------------------------------------ tiles
 * In the tiled form a thread has its place in the two innermost loops; what is split into digits is
 * the iteration of those around them. */
static void declare_tile(struct cg *cg, const struct nest *n)
{
    if (n->tiled)
        cg_line(cg,
                "const struct __ompgpu_tile @tile = __ompgpu_tile(@form, (unsigned)%s, "
                "(unsigned)%s);",
                n->l[n->n - 2].trip, n->l[n->n - 1].trip);
}

/* The thread's place in loop j: `otherwise` in the other forms, and in loops around the two. */
static const char *place_of(struct cg *cg, const struct nest *n, unsigned j, const char *place,
                            const char *otherwise)
{
    return n->tiled && j + 2 >= n->n ? cg_strf(cg, IS_TILED " ? %s : %s", place, otherwise)
                                     : otherwise;
}

static const char *tile_member(struct cg *cg, const struct nest *n, unsigned j)
{
    return cg_strf(cg, "@tile.%s", j + 1 == n->n ? "column" : "row");
}

/* ------------------------------------------------------------------ digits */
/* Splits an iteration's number and a stride, of type `k`, into digits. */
static void declare_digits(struct cg *cg, const struct nest *n, const char *k, const char *id,
                           const char *count)
{
    cg_line(cg, "%s @rest = %s;", k, id);
    cg_line(cg, "%s @stride = %s;", k, count);
    for (unsigned j = n->n; j--;) {
        unsigned w = width_of(n->l[j].u);
        const char *how = cg_strf(cg, "%s%u", w < width_of(k) ? "wide" : "", w), *digit,
                   *placed = cg_strf(cg, "__ompgpu_first_digit%s(%s, 0, %s)", how,
                                     tile_member(cg, n, j), n->l[j].trip);
        if (!j)
            digit = cg_strf(cg, "__ompgpu_first_digit%s(@rest, @stride, %s)", how, n->l[j].trip);
        else if (n->covering && !(cg->lanes && cg_constant_trip(&n->c->loops[j]) > 0))
            digit =
                cg_strf(cg, "__ompgpu_league_digit%s(@env, @covering, %u, &@rest, &@stride, %s)",
                        how, j, n->l[j].trip);
        else
            digit = cg_strf(cg, "__ompgpu_digit%s(&@rest, &@stride, %s)", how, n->l[j].trip);
        cg_line(cg, "struct __ompgpu_digit%u %s = %s;", w, n->l[j].at,
                place_of(cg, n, j, placed, digit));
    }
}

/* The stride is added; the value says whether the result is still inside of the nest. */
static const char *advance(struct cg *cg, const struct nest *n)
{
    const char *carry = "0";
    for (unsigned j = n->n; --j;)
        carry = cg_strf(cg, "__ompgpu_add%u(&%s, %s)", width_of(n->l[j].u), n->l[j].at, carry);
    return cg_strf(cg, "__ompgpu_add_first%u(&%s, %s)", width_of(n->l[0].u), n->l[0].at, carry);
}

static const char *is_nonempty(struct cg *cg, const struct nest *n)
{
    const char *s = cg_strf(cg, "%s != 0", n->l[0].trip);
    for (unsigned j = 1; j < n->n; j++)
        s = cg_strf(cg, "%s && %s != 0", s, n->l[j].trip);
    return s;
}

/* unsigned, unless a digit has 64 bits */
static const char *type_of_takers(const struct nest *n)
{
    for (unsigned j = 0; j < n->n; j++)
        if (width_of(n->l[j].u) == 64)
            return n->l[j].u;
    return "unsigned";
}

/* The covering form beside a strided one is launched for nests that have iterations. */
static void assume_nonempty(struct cg *cg, const struct nest *n)
{
    for (unsigned j = 0; n->n > 1 && j < n->n; j++)
        cg_line(cg, "__builtin_assume(!@covering || %s != 0);", n->l[j].trip);
}

static bool is_dependent(const struct nest *n)
{
    for (unsigned j = 0; j < n->n; j++)
        if (n->c->loops[j].outer)
            return true;
    return false;
}

/* Of the whole space: the first digit says when it ends. */
static void open_all_digits(struct cg *cg, const struct nest *n, enum cg_who who)
{
    const char *nonempty = is_nonempty(cg, n), *at = n->l[0].at, *id = cg_taker(cg, who),
               *more = cg_strf(cg, "%s.at < %s.n", at, at), *next = advance(cg, n);
    if (n->covering) {
        nonempty = cg_strf(cg, "@covering || (%s)", nonempty);
        more = cg_strf(cg, "@covering ? __ompgpu_has_iteration(%s, @env->trip) : %s", id, more);
        next = cg_strf(cg, "!@covering && %s", next);
    }
    if (n->tiled) {
        more = cg_strf(cg, IS_TILED " ? @tile.inside : %s", more);
        id = cg_strf(cg, IS_TILED " ? @tile.rest : %s", id);
    }
    declare_tile(cg, n);
    cg_open(cg, "if (%s)", nonempty);
    declare_digits(cg, n, type_of_takers(n), id, cg_taker_count(cg, who));
    cg_open(cg, "for (_Bool @more = %s; @more; @more = %s)", more, next);
    if (n->covering && is_dependent(n))
        cg_line(cg, "__builtin_assume(!@covering || %s.at < %s.n);", at, at);
}

/* The number in the nest is taken apart; a tile's is that of its plane. */
static void open_covered_nest(struct cg *cg, const struct nest *n)
{
    declare_tile(cg, n);
    open_covered(cg, n);
    cg_line(cg, "unsigned @rest = %s;",
            cg_strf(cg, n->tiled ? IS_TILED " ? @tile.rest : @id" : "@id"));
}

/* Tiles are not moved. */
static void open_covered_digits(struct cg *cg, const struct nest *n)
{
    open_covered_nest(cg, n);
    for (unsigned j = 0; j < n->n; j++)
        cg_line(cg, "__builtin_assume(%s != 0);", n->l[j].trip);
    cg_line(cg, "const _Bool @moved = %s;", n->tiled ? cg_strf(cg, "!" IS_TILED) : "1");
    cg_line(cg, "unsigned @number = @moved ? @rest + @env->begin[%u] : @rest;", n->n - 1);
    for (unsigned j = n->n; j--;) {
        const char *own = cg_strf(cg, "__ompgpu_own_digit(@env, %u, @moved, &@rest, &@number, %s)",
                                  j, n->l[j].trip),
                   *placed = cg_strf(cg, "__ompgpu_first_digit32(%s, 0, %s)", tile_member(cg, n, j),
                                     n->l[j].trip);
        cg_line(cg, "const struct __ompgpu_digit32 %s = %s;", n->l[j].at,
                place_of(cg, n, j, placed, own));
    }
    if (is_dependent(n))
        cg_line(cg, "__builtin_assume(%s.at < %s.n);", n->l[0].at, n->l[0].at);
}

/* Iterations of a nest between constants; 0: it is another one, or they take more than 31 bits. */
static unsigned constant_total(const struct nest *n)
{
    int64_t total = 1;
    for (unsigned j = 0; j < n->n && total; j++) {
        int64_t trip = cg_constant_trip(&n->c->loops[j]);
        total = trip > 0 && trip <= INT32_MAX / total ? total * trip : 0;
    }
    return (unsigned)total;
}

/* Divisions by constants cost less than a number in mixed radix. */
static void open_constant_nest(struct cg *cg, const struct nest *n, enum cg_who who)
{
    const char *it = cg_strf(cg, "@it"), *total = cg_strf(cg, "%u", constant_total(n));
    if (n->covered) {
        open_covered_nest(cg, n);
    } else {
        declare_tile(cg, n);
        open_loop(cg, n, 32, it, who, total);
        cg_line(cg, "unsigned @rest = %s.at;", it);
    }
    for (unsigned j = n->n; j--;) {
        const char *at = cg_strf(cg, j ? "@rest %% (unsigned)%s" : "@rest", n->l[j].trip);
        cg_line(cg, "const struct __ompgpu_digit%u %s = { .at = %s, .n = %s };",
                width_of(n->l[j].u), n->l[j].at, place_of(cg, n, j, tile_member(cg, n, j), at),
                n->l[j].trip);
        if (j)
            cg_line(cg, "%s@rest /= (unsigned)%s;",
                    n->tiled && j + 2 >= n->n ? cg_strf(cg, "if (!" IS_TILED ") ") : "",
                    n->l[j].trip);
    }
}

static void open_digits(struct cg *cg, const struct nest *n, const struct level *l, struct range r)
{
    bool serial = l->kind == SERIAL;
    if (n->covered) {
        if (constant_total(n))
            open_constant_nest(cg, n, l->who);
        else
            open_covered_digits(cg, n);
        return;
    }
    if (!strcmp(r.lo, "0") && !serial) {
        (constant_total(n) ? open_constant_nest : open_all_digits)(cg, n, l->who);
        return;
    }
    cg_line(cg, "struct __ompgpu_loop64 @it = __ompgpu_loop64(%s, %s);",
            cg_takers(cg, serial ? CG_ONE : l->who), r.m);
    cg_open(cg, "if (@it.more)");
    declare_digits(cg, n, n->k, plus(cg, r.lo, cg_strf(cg, "@it.at")), cg_strf(cg, "@it.stride"));
    cg_open(cg, "for (; @it.more; __ompgpu_next64(&@it), (void)%s)", advance(cg, n));
}

/* ------------------------------------------------------------------ the whole nest */
static void declare_total(struct cg *cg, const struct nest *n, bool needed)
{
    if (n->n == 1 || !needed)
        return;
    const char *product = cg_strf(cg, "(unsigned long long)%s", n->l[0].trip);
    for (unsigned j = 1; j < n->n; j++)
        product = cg_strf(cg, "%s * %s", product, n->l[j].trip);
    cg_line(cg, "const unsigned long long %s = %s;", n->total, product);
}

static bool in_batches(const struct nest *n, const struct level *l, struct range r,
                       const struct cg_privates *p)
{
    return l->kind == CYCLIC && !strcmp(r.lo, "0") &&
           (l->who == CG_ALL_THREADS || l->who == CG_THREAD || l->who == CG_LANES) &&
           p->reduction && !cg_has(p, &cg_array_copy) && !p->last && !n->c->child;
}

/* The number of the iteration; NULL: of a nest, the digits are.  Only batches need the number of
 * iterations that are left. */
static const char *open_batches(struct cg *cg, struct nest *n, const struct level *l)
{
    bool nested = n->n > 1;
    const char *i = nested ? cg_strf(cg, "@it") : n->l[0].at;
    unsigned w = n->width;
    const char *next = "", *more = cg_strf(cg, "%s.i.more", i);
    if (nested) {
        cg_open(cg, "if (%s)", is_nonempty(cg, n));
        declare_total(cg, n, true);
        declare_digits(cg, n, type_of_takers(n), cg_taker(cg, l->who), cg_taker_count(cg, l->who));
        cg_line(cg, "_Bool @more = %s.at < %s.n;", n->l[0].at, n->l[0].at);
        next = cg_strf(cg, ", @more = %s", advance(cg, n));
        more = cg_strf(cg, "%s.size > 1 ? %s.i.more : @more", i, i);
    }
    cg_line(cg, "_Pragma(\"clang loop unroll(full)\")");
    cg_open(cg,
            "for (struct __ompgpu_batches%u %s = __ompgpu_%sbatches%u(%s, %s, "
            "__ompgpu_batch_size(%d)); "
            "%s.size; __ompgpu_next_size%u(&%s))",
            w, i, l->who == CG_LANES ? "row_" : "", w, cg_takers(cg, l->who), n->total,
            l->who == CG_THREAD, i, w, i);
    cg_open(cg, "for (; %s; __ompgpu_next_batch%u(&%s))", more, w, i);
    cg_line(cg, "_Pragma(\"clang loop unroll(full)\")");
    cg_open(cg, "for (unsigned @u = 0; @u < %s.size; @u++%s)", i, next);
    if (!nested && n->l[0].one && w == 32 && n->c->loops[0].iv->type->is_signed) {
        n->first = cg_strf(cg, "%s.i.at", i);
        n->ahead = cg_strf(cg, "__ompgpu_ahead32(&%s, @u)", i);
    }
    return nested ? NULL : cg_strf(cg, "__ompgpu_at%u(&%s, @u)", w, i);
}

/* k: the iteration's number; NULL: the digits are. */
static const char *is_last(struct cg *cg, const struct nest *n, const char *k)
{
    if (k)
        return cg_strf(cg, "%s == %s - 1", k, n->total);
    const char *s = "";
    for (unsigned j = 0; j < n->n; j++)
        s = cg_strf(cg, "%s%s%s.at == %s.n - 1", s, j ? " && " : "", n->l[j].at, n->l[j].at);
    return s;
}

/* Rows that keep enough loads in flight, and pay for what teams wait for each other; long phases,
 * loops and calls are not worth many copies. */
static unsigned rows_of(const struct omp_phase *p)
{
    enum { LONGEST = 100, MANY_ACCESSES = 4 };
    if (p->has_loop || p->has_call || p->nodes > LONGEST || !p->accesses ||
        p->accesses > MANY_ACCESSES)
        return 1;
    return p->accesses == 1 ? 8 : p->accesses <= MANY_ACCESSES / 2 ? 4 : 2;
}

/* Rows of a step, reduce/scan.c.  Variables that a thread keeps from phase to phase must not run
 * another iteration in between, and records must be known to be small. */
static unsigned scan_rows(struct cg *cg, const struct nest *n, enum cg_who who,
                          const struct cg_privates *p)
{
    enum { WORD = 8 };
    const struct omp_scan *s = n->c->scan;
    uint64_t bytes = 0;
    if (who == CG_ONE || n->n > 1 || p->last || s->continues || s->directive != n->c->child ||
        s->directive->next)
        return 1;
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        bool constant =
            k->sharing->share == OMPSH_FIRSTPRIVATE && !cg_is_written(cg->unit, n->c->body, k->var);
        bool plain = k->var->type->kind != OMPT_ARRAY && k->var->type->kind != OMPT_RECORD &&
                     k->var->type->size && k->var->type->alignment <= WORD && !k->udr &&
                     !k->section;
        if (cg_is_scan(k->sharing) ? !plain : !constant)
            return 1;
        bytes += cg_is_scan(k->sharing) ? k->var->type->size : 0;
    }
    unsigned before = rows_of(&s->in_before), after = rows_of(&s->in_after);
    unsigned rows = before < after ? before : after;
    if (bytes > WORD / 2)
        bytes = (bytes + WORD - 1) / WORD * WORD; /* as in the device runtime's cells */
    while (rows > 1 && rows * bytes > CG_SCAN_BYTES)
        rows /= 2;
    return rows;
}

/* Digit j of iteration k. */
const char *cg_digit_of(struct cg *cg, const struct nest *n, unsigned j, const char *k)
{
    for (unsigned i = n->n; --i > j;)
        k = cg_strf(cg, "%s / %s", k, n->l[i].trip);
    return cg_strf(cg, j ? "(%s)(%s %% %s)" : "(%s)(%s)", n->l[j].u, k, n->l[j].trip);
}

/* For reduce/scan.c.  Of a collapsed nest each thread has its iteration's digits; where one thread
 * runs all iterations, on the host also, it divides. */
static void scan_loop(struct cg *cg, const struct nest *n, enum cg_who who, struct cg_privates *p)
{
    bool digits = n->n > 1 && who != CG_ONE;
    const char *saved[OMP_MAX_LOOPS], *locals = "";
    for (unsigned j = 0; j < n->n; j++) {
        const char *k = digits     ? cg_strf(cg, "%s.at", n->l[j].at)
                        : n->n > 1 ? cg_digit_of(cg, n, j, cg_strf(cg, "@k"))
                                   : cg_strf(cg, "@k");
        locals = cg_strf(cg, "%s%s %s = %s; ", locals, n->l[j].type, n->c->loops[j].iv->name,
                         cg_iv_value(cg, n, j, k));
    }
    for (unsigned i = 0; i < p->n; i++) {
        const char *value = cg_iterate(cg, &p->list[i], cg_strf(cg, "@k"));
        locals = value ? cg_strf(cg, "%s %s", locals, value) : locals;
    }
    if (p->last)
        locals = cg_strf(cg, "@last = @k == %s - 1; %s", n->total, locals);
    if (digits) {
        cg_open(cg, "if (%s != 0)", n->total);
        declare_digits(cg, n, type_of_takers(n), cg_taker(cg, who), cg_taker_count(cg, who));
    }
    for (unsigned j = 0; j < n->n; j++)
        saved[j] = cg_bind(cg, n->c->loops[j].iv, NULL);
    enum cg_who within = who == CG_ALL_THREADS ? CG_THREAD : who;
    cg_scan_loop(
        cg, n->c, p,
        &(struct cg_scan_steps){ n->k, n->total, cg_taker(cg, within), cg_taker_count(cg, within),
                                 locals, digits ? cg_strf(cg, ", (void)%s", advance(cg, n)) : "",
                                 scan_rows(cg, n, who, p), who == CG_ONE, who == CG_ALL_THREADS });
    for (unsigned j = n->n; j--;)
        cg_bind(cg, n->c->loops[j].iv, saved[j]);
    if (digits)
        cg_close(cg);
}

/* The variable of loop j in its iteration k; `{` where the loop may not have it. */
static void open_variable(struct cg *cg, const struct nest *n, unsigned j, const char *k)
{
    const struct omp_loop *l = &n->c->loops[j];
    if (l->outer) {
        if (!cg_is_digits(&l->lb))
            cg_line(cg, "const %s %s = %s;", n->l[j].type, n->l[j].lb, cg_expr(cg, l->lb.extent));
        cg_open(cg, "if (%s < %s)", k, cg_trip_where(cg, l, NULL));
    }
    const char *value = cg_iv_value(cg, n, j, n->ahead ? n->first : k);
    if (n->ahead)
        value = cg_strf(cg, "(int)(%s) %c %s", value, l->step_negative ? '-' : '+', n->ahead);
    cg_line(cg, "%s %s = %s;", n->l[j].type, l->iv->name, value);
}

/* The number of the iteration among all of the nest, or how many there are. */
const char *cg_number_in_nest(struct cg *cg, const struct nest *n, bool all)
{
    const char *number = NULL;
    for (unsigned j = 0; j < n->n; j++) {
        const char *digit = all ? n->l[j].trip : cg_strf(cg, "%s.at", n->l[j].at);
        if (!number)
            number = cg_strf(cg, "(unsigned long)(%s)", digit);
        else if (all)
            number = cg_strf(cg, "%s * (%s)", number, digit);
        else
            number = cg_strf(cg, "(%s) * (%s) + %s", number, n->l[j].trip, digit);
    }
    return cg_strf(cg, "(%s)", number);
}

static void write_iteration(struct cg *cg, const struct nest *n, const struct cg_privates *p,
                            const char *k)
{
    const char *saved[OMP_MAX_LOOPS];
    cg_turn(cg, n->c, k ? k : cg_number_in_nest(cg, n, false));
    if (p->last)
        cg_line(cg, "@last = %s;", is_last(cg, n, k));
    for (unsigned i = 0; i < p->n; i++) {
        const char *value = cg_iterate(cg, &p->list[i], k ? k : cg_number_in_nest(cg, n, false));
        if (value)
            cg_line(cg, "%s", value);
    }
    for (unsigned j = 0; j < n->n; j++)
        saved[j] = cg_bind(cg, n->c->loops[j].iv, NULL);
    for (unsigned j = 0; j < n->n; j++)
        open_variable(cg, n, j, k ? k : cg_strf(cg, "%s.at", n->l[j].at));
    cg_note_end(cg, n, k);
    cg_copy_body(cg, n->c->loops[n->n - 1].body);
    for (unsigned j = n->n; j--;)
        cg_bind(cg, n->c->loops[j].iv, saved[j]);
}

/* What the loop does between private copies and the end of reductions. */
static void share_iterations(struct cg *cg, struct nest *n, const struct level *levels,
                             unsigned nlevels, unsigned d, struct range r,
                             const struct cg_privates *p)
{
    const struct level *last = &levels[nlevels - 1];
    const char *k = NULL;
    cg_open_cancellable(cg, n->c);
    cg_open_turns(cg, n->c);
    unsigned open = cg->out->open;
    for (; d + 1 < nlevels && !n->covered; d++)
        r = open_level(cg, n, &levels[d], d, r);
    if (n->covered && n->n == 1)
        k = open_own(cg, n);
    else if (in_batches(n, last, r, p))
        k = open_batches(cg, n, last);
    else if (n->n == 1)
        k = open_single(cg, n, last, r);
    else
        open_digits(cg, n, last, r);
    write_iteration(cg, n, p, k);
    cg_close_to(cg, open);
    cg_close_turns(cg, n->c);
    cg_close_cancellable(cg, n->c);
}

/* The form in which lanes run an iteration together (lanes.c) and the usual one, which is all that
 * the emulated device has. */
static void share_rows(struct cg *cg, struct nest *n, const struct level *level, struct range r,
                       const struct cg_privates *p)
{
    cg_line(cg, "const unsigned @lanes = %s;", cg_free_lanes(cg, n->c, n->total));
    cg_open(cg, "if (__OMPGPU_SHARES_ROWS && @lanes > 1)");
    cg->lanes = true;
    share_iterations(cg, n, level, 1, 0, r, p);
    cg->lanes = false;
    cg_close(cg);
    cg_open(cg, "else");
    share_iterations(cg, n, level, 1, 0, r, p);
    cg_close(cg);
}

void cg_loop_nest(struct cg *cg, const struct omp_construct *c, enum cg_who who,
                  struct cg_privates *p, const struct omp_clause *schedule,
                  const struct omp_clause *dist_schedule)
{
    struct nest n = { .first = NULL };
    struct level levels[CG_MOST_LEVELS];
    struct range r;
    unsigned tasks = cg_task_levels(levels, c, p), open = cg->out->open;
    unsigned nlevels = tasks ? tasks : cg_schedule_levels(cg, levels, who, schedule, dist_schedule);
    declare_bounds(cg, c, &n);
    n.covering = cg->plan && c == cg->plan->inner &&
                 (cg->lanes ? cg_lanes_cover(cg, cg->plan) : cg_has_strided_form(cg, cg->plan));
    n.covered = !n.covering && !cg->lanes && cg->plan && c == cg->plan->inner &&
                cg_has_covering_form(cg, cg->plan);
    n.tiled = (n.covering || n.covered) && !cg->lanes && cg_has_tiled_form(cg, cg->plan);
    if (n.covering)
        assume_nonempty(cg, &n);
    bool rows = cg_shares_rows(cg, c, who);
    declare_total(
        cg, &n, nlevels > 1 || levels[0].kind == SERIAL || c->scan || rows || cg_needs_end(&n, p));
    if (cg_needs_end(&n, p))
        cg_search_end(cg, &n);
    r = (struct range){ "0", n.total };
    /* else all threads take part in the end of the reduction */
    bool guarded = p->guard && p->finish == CG_SERIAL;
    if (guarded)
        cg_open(cg, "if (%s)", p->guard);
    if (tasks)
        r = open_level(cg, &n, &levels[0], 0, r);
    cg_open_privates(cg, p);
    if (p->race && (who == CG_THREAD || who == CG_ALL_THREADS ||
                    (who == CG_ONE && cg_clause(c, OMPC_ORDERED))))
        cg_line(cg, "__ompgpu_barrier(%u);", c->place.line);
    if (p->last)
        cg_line(cg, n.end ? "_Bool @last = 0, @ends = 0;" : "_Bool @last = 0;");
    unsigned inside = cg->out->open;
    if (c->scan) {
        scan_loop(cg, &n, who, p);
    } else {
        if (p->guard && !guarded)
            cg_open(cg, "if (%s)", p->guard);
        if (rows)
            share_rows(cg, &n, levels, r, p);
        else
            share_iterations(cg, &n, levels, nlevels, tasks != 0, r, p);
    }
    cg_store_last_values(cg, &n, p);
    cg_close_to(cg, inside);
    cg_close_privates(cg, p);
    cg_close_to(cg, open);
}

/* ------------------------------------------------------- the covering form of a kernel
 * Where the launch has at least as many threads as there are iterations, the loop and all that
 * counts for it are superfluous; in a short body they are a third of the instructions.  Such a
 * region has two kernels, and the host takes the one that suits (hostrt/core/geometry.c), or it has
 * this one alone, for a launch or for several.  The host must know the trip counts exactly.
 *
 * So do nests whose bodies have loops: for the tiled form, which comes with it. */
static bool may_cover(const struct cg *cg, const struct cg_plan *p)
{
    const unsigned leaves = OMPL_TEAMS | OMPL_DISTRIBUTE | OMPL_PARALLEL | OMPL_FOR;
    const struct omp_construct *c = p->inner;
    return p->spmd && (p->leaves & leaves) == leaves && !p->reduction && !c->scan &&
           !c->cancelled && c->nloops && c->nloops <= CG_COVERED_LOOPS && cg_trips_are_exact(cg, p);
}

static unsigned league_levels(const struct cg *cg, const struct cg_plan *p, struct level *to)
{
    return cg_schedule_levels(cg, to, CG_ALL_THREADS, cg_clause(p->inner, OMPC_SCHEDULE),
                              cg_clause(p->inner, OMPC_DIST_SCHEDULE));
}

/* Threads take chunks of one iteration on demand, out of a share of their team that is left to us:
 * any thread may get any iteration. */
static bool takes_single_iterations(const struct level *l, unsigned n)
{
    return n == 3 && l[0].kind == BLOCK && !l[0].clause && l[1].kind == DYNAMIC &&
           (cg_empty(l[1].clause->expr.extent) ||
            (l[1].clause->expr.is_constant && l[1].clause->expr.value == 1));
}

/* A single loop whose iterations several lanes may run together has kernels with a loop for that.
 */
static bool may_have_lanes(const struct omp_construct *c)
{
    return c->nloops == 1 && c->lanes && !c->lanes->team && !c->lanes->why;
}

/* With much to do in loops inside of it, a single loop is worth little; the digits of a nest are
 * worth more, and so is what is not taken on demand. */
bool cg_has_covering_form(const struct cg *cg, const struct cg_plan *p)
{
    struct level levels[CG_MOST_LEVELS];
    const struct omp_construct *c = p->inner;
    if (!c->is_short || !may_cover(cg, p) || may_have_lanes(c))
        return false;
    unsigned n = league_levels(cg, p, levels);
    return n == 1 ? c->nloops > 1 || !c->repeats_much : takes_single_iterations(levels, n);
}

/* At most 2^31 iterations, whatever the bounds are: a launch can have a thread for each. */
static bool one_launch_covers(const struct omp_loop *l)
{
    const struct omp_expr *least = l->rel == OMPREL_LT || l->rel == OMPREL_LE ? &l->lb : &l->ub;
    const struct omp_type *t = l->iv->type;
    return t->size < 4 || (t->size == 4 && t->is_signed && l->rel != OMPREL_NE &&
                           least->is_constant && least->value >= 0);
}

/* A loop of which nothing tells how many teams run it is always covered, unless the program says
 * how many there are, or is to be able to.  It may take several launches, between which first
 * iterations differ, but for those of a nest's innermost loop, and whose digits have 32 bits. */
bool cg_has_strided_form(const struct cg *cg, const struct cg_plan *p)
{
    const struct omp_construct *c = p->inner;
    if (!cg_has_covering_form(cg, p))
        return false;
    bool covered = !cg->unit->team_limits && c->unnumbered && !cg_clause(p->teams, OMPC_NUM_TEAMS);
    for (unsigned i = 0; i < c->nloops && c->nloops > 1 && covered; i++)
        covered = one_launch_covers(&c->loops[i]) || (i == 0 && c->loops[0].iv->type->size <= 4);
    return !covered;
}

bool cg_lanes_cover(const struct cg *cg, const struct cg_plan *p)
{
    struct level levels[CG_MOST_LEVELS];
    return p->inner->nloops > 1 && may_cover(cg, p) && league_levels(cg, p, levels) == 1;
}

/* Which thread runs an iteration, and how many there are, is the implementation's choice; and teams
 * are numbered in two or three dimensions, which nothing but the tiles may see. */
bool cg_has_tiled_form(const struct cg *cg, const struct cg_plan *p)
{
    static const enum omp_clause_kind others[] = { OMPC_SCHEDULE,     OMPC_DIST_SCHEDULE,
                                                   OMPC_LASTPRIVATE,  OMPC_NUM_TEAMS,
                                                   OMPC_THREAD_LIMIT, OMPC_NUM_THREADS };
    for (unsigned i = 0; i < p->nchain; i++)
        for (unsigned k = 0; k < sizeof others / sizeof *others; k++)
            if (cg_clause(p->chain[i], others[k]))
                return false;
    return cg_has_covering_form(cg, p) && p->inner->nloops > 1 && p->inner->unnumbered;
}
