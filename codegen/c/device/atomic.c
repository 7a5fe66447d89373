/* atomic.c - the atomic construct, section 15.8.4 of OpenMP 5.2.
 *
 * Everything works on the bytes of x, as an unsigned integer of its size (types __ompgpu_aN, may
 * alias anything):
 *
 *     read, write, exchange    one atomic load, store, exchange
 *     update                   fetch-and-op where the hardware has it and C computes the same;
 *                              otherwise
 *                              load; do { t = old OP e } while (!compare-exchange)
 *
 *     compare                  minima and maxima of integers: load, and fetch-and-op where that
 *                              changes x; otherwise the loop
 *
 * Which of the two is often known only by the type of the user's expression: both are written
 * under a constant condition.  Larger objects are updated under a lock. */
#include <string.h>
#include "codegen/c/device/device.h"

struct order {
    const char *update, *load, *store;
};

static const struct order relaxed = { "__ATOMIC_RELAXED", "__ATOMIC_RELAXED", "__ATOMIC_RELAXED" };
static const struct {
    enum omp_clause_kind clause;
    enum omp_keyword word; /* of `requires atomic_default_mem_order` */
    struct order order;
} orders[] = {
    { OMPC_SEQ_CST, OMPK_SEQ_CST, { "__ATOMIC_SEQ_CST", "__ATOMIC_SEQ_CST", "__ATOMIC_SEQ_CST" } },
    { OMPC_ACQ_REL, OMPK_ACQ_REL, { "__ATOMIC_ACQ_REL", "__ATOMIC_ACQUIRE", "__ATOMIC_RELEASE" } },
    { OMPC_ACQUIRE, OMPK_ACQUIRE, { "__ATOMIC_ACQUIRE", "__ATOMIC_ACQUIRE", "__ATOMIC_RELAXED" } },
    { OMPC_RELEASE, OMPK_RELEASE, { "__ATOMIC_RELEASE", "__ATOMIC_RELAXED", "__ATOMIC_RELEASE" } },
};
enum { ORDERS = sizeof orders / sizeof *orders };

/* What the file requires (5.2, section 8.2). */
static struct order default_order(const struct omp_unit *u)
{
    for (unsigned i = 0; i < u->nconstructs; i++) {
        const struct omp_construct *c = u->constructs[i];
        const struct omp_clause *k =
            c->directive == OMPDIR_REQUIRES ? cg_clause(c, OMPC_ATOMIC_DEFAULT_MEM_ORDER) : NULL;
        for (unsigned n = 0; k && n < ORDERS; n++)
            if (k->keyword == orders[n].word)
                return orders[n].order;
    }
    return relaxed;
}

static struct order order_of(const struct omp_unit *u, const struct omp_construct *c)
{
    for (unsigned i = 0; i < ORDERS; i++)
        if (cg_clause(c, orders[i].clause))
            return orders[i].order;
    return cg_clause(c, OMPC_RELAXED) ? relaxed : default_order(u);
}

/* Names in the generated block: @x pointer to the storage, @old and @new its values, @seen and
 * @wanted their bytes. */
struct atomic {
    const struct omp_atomic *a;
    struct order o;
    const char *bytes, *type, *v;
};

static const char *fetch_operation(const struct omp_atomic *a)
{
    static const struct {
        enum omp_atomic_op op;
        const char *name;
        bool commutes, floating;
    } table[] = {
        { OMPAO_ADD, "add", true, true },  { OMPAO_SUB, "sub", false, false },
        { OMPAO_AND, "and", true, false }, { OMPAO_OR, "or", true, false },
        { OMPAO_XOR, "xor", true, false },
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].op == a->op && (!a->x_is_right || table[i].commutes)) {
            if (a->x_type->kind == OMPT_INT ||
                (a->x_type->kind == OMPT_FLOAT && table[i].floating && a->x_type->size >= 4))
                return table[i].name;
        }
    return NULL;
}

/* The value that x gets. */
static const char *new_value(struct cg *cg, const struct omp_atomic *a)
{
    switch (a->op) {
    case OMPAO_EQUAL: return cg_strf(cg, "@desired");
    case OMPAO_NONE: /* write */
    case OMPAO_ASSIGN:
    case OMPAO_MIN:
    case OMPAO_MAX: return cg_strf(cg, "@operand");
    default:
        return cg_strf(cg, a->x_is_right ? "@operand %s @old" : "@old %s @operand",
                       omp_atomic_op_names[a->op]);
    }
}

/* Conditional forms: the condition under which x changes. */
static const char *condition_of(struct cg *cg, const struct omp_atomic *a)
{
    switch (a->op) {
    case OMPAO_MIN: return cg_strf(cg, "@operand < @old");
    case OMPAO_MAX: return cg_strf(cg, "@operand > @old");
    case OMPAO_EQUAL: return cg_strf(cg, "@old == @operand");
    default: return NULL;
    }
}

static void keep_old(struct cg *cg)
{
    cg_line(cg, "__builtin_memcpy(&@old, &@seen, sizeof @old);");
}

static void declare_bytes(struct cg *cg, const struct atomic *k, const char *order)
{
    cg_line(cg, "%s @seen =", k->bytes);
    cg_line_there(cg, "__scoped_atomic_load_n((%s *)@x, %s, __MEMORY_SCOPE_DEVICE);", k->bytes,
                  order);
}

static void declare_new_bytes(struct cg *cg, const struct atomic *k)
{
    cg_line(cg, "@new = @operand;");
    cg_line(cg, "%s @wanted;", k->bytes);
    cg_line(cg, "__builtin_memcpy(&@wanted, &@new, sizeof @wanted);");
}

static void exchange_loop(struct cg *cg, const struct atomic *k)
{
    const char *when = condition_of(cg, k->a);
    declare_bytes(cg, k, "__ATOMIC_RELAXED");
    cg_line(cg, "%s @wanted;", k->bytes);
    cg_open(cg, "for (;;)");
    keep_old(cg);
    if (when) {
        cg_line(cg, "@new = @old;");
        cg_line(cg, "if (!(%s))", when);
        cg_line(cg, "    break;");
    }
    cg_line(cg, "@new = %s;", new_value(cg, k->a));
    cg_line(cg, "__builtin_memcpy(&@wanted, &@new, sizeof @wanted);");
    cg_line(cg, "if (");
    cg_line_there(cg,
                  "__scoped_atomic_compare_exchange_n((%s *)@x, &@seen, @wanted, 0, %s, "
                  "__ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE))",
                  k->bytes, k->o.update);
    cg_line(cg, "    break;");
    cg_close(cg);
}

static bool is_extreme(const struct omp_atomic *a)
{
    return (a->op == OMPAO_MIN || a->op == OMPAO_MAX) && a->x_type->kind == OMPT_INT &&
           a->x_type->size >= 4;
}

/* Of integers that C compares as those of x's type. */
static void fetch_extreme_or_loop(struct cg *cg, const struct atomic *k)
{
    const char *when = condition_of(cg, k->a);
    cg_open(cg,
            "if ((__typeof__(@operand))0.5 == 0 && sizeof @operand <= sizeof @old && "
            "((__typeof__(@operand))-1 < 0) == ((%s)-1 < 0))",
            k->type);
    cg_line(cg, "@old =");
    cg_line_there(cg, "__scoped_atomic_load_n(@x, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);");
    cg_line(cg, "if (%s)", when);
    cg_line(cg, "    @old =");
    cg_line_there(cg, "__scoped_atomic_fetch_%s(@x, (%s)@operand, %s, __MEMORY_SCOPE_DEVICE);",
                  k->a->op == OMPAO_MIN ? "min" : "max", k->type, k->o.update);
    cg_line(cg, "@new = %s ? %s : @old;", when, new_value(cg, k->a));
    cg_else(cg);
    exchange_loop(cg, k);
    cg_close(cg);
}

static void fetch_or_loop(struct cg *cg, const struct atomic *k)
{
    const struct omp_atomic *a = k->a;
    const char *fetch = fetch_operation(a);
    if (is_extreme(a)) {
        fetch_extreme_or_loop(cg, k);
        return;
    }
    if (!fetch) {
        exchange_loop(cg, k);
        return;
    }
    if (a->x_type->kind == OMPT_INT) { /* an integer operand: arithmetic modulo 2^n is the same */
        cg_open(cg, "if ((__typeof__(@operand))0.5 == 0)");
        cg_line(cg, "%s @seen =", k->bytes);
        cg_line_there(cg,
                      "__scoped_atomic_fetch_%s((%s *)@x, (%s)@operand, %s, "
                      "__MEMORY_SCOPE_DEVICE);",
                      fetch, k->bytes, k->bytes, k->o.update);
        keep_old(cg);
    } else { /* an operand that does not make C compute in a wider type */
        cg_open(cg, "if ((__typeof__(@operand))0.5 == 0 || sizeof @operand <= sizeof @old)");
        cg_line(cg, "@old =");
        cg_line_there(cg,
                      "__scoped_atomic_fetch_%s((%s *)@x, (%s)@operand, %s, "
                      "__MEMORY_SCOPE_DEVICE);",
                      fetch, k->type, k->type, k->o.update);
    }
    cg_line(cg, "@new = %s;", new_value(cg, a));
    cg_else(cg);
    exchange_loop(cg, k);
    cg_close(cg);
}

static void load_value(struct cg *cg, const struct atomic *k)
{
    declare_bytes(cg, k, k->o.load);
    keep_old(cg);
}

static void store_value(struct cg *cg, const struct atomic *k)
{
    declare_new_bytes(cg, k);
    cg_line_there(cg, "__scoped_atomic_store_n((%s *)@x, @wanted, %s, __MEMORY_SCOPE_DEVICE);",
                  k->bytes, k->o.store);
}

static void exchange_value(struct cg *cg, const struct atomic *k)
{
    declare_new_bytes(cg, k);
    cg_line(cg, "%s @seen =", k->bytes);
    cg_line_there(cg, "__scoped_atomic_exchange_n((%s *)@x, @wanted, %s, __MEMORY_SCOPE_DEVICE);",
                  k->bytes, k->o.update);
    keep_old(cg);
}

static void update_under_lock(struct cg *cg, const struct atomic *k)
{
    const char *lock = cg_lock(cg, "atomics_lock"), *when = condition_of(cg, k->a);
    cg_line(cg, "__ompgpu_lock(&%s);", lock);
    cg_line(cg, "@old = *@x;");
    if (k->a->form != OMPA_READ && when) {
        cg_line(cg, "@new = @old;");
        cg_line(cg, "if (%s)", when);
        cg_line(cg, "    *@x = @new = %s;", new_value(cg, k->a));
    } else if (k->a->form != OMPA_READ) {
        cg_line(cg, "*@x = @new = %s;", new_value(cg, k->a));
    }
    cg_line(cg, "__ompgpu_unlock(&%s);", lock);
}

static void write_operation(struct cg *cg, const struct atomic *k)
{
    if (!k->bytes)
        update_under_lock(cg, k);
    else if (k->a->form == OMPA_READ)
        load_value(cg, k);
    else if (k->a->form == OMPA_WRITE)
        store_value(cg, k);
    else if (k->a->op == OMPAO_ASSIGN)
        exchange_value(cg, k);
    else
        fetch_or_loop(cg, k);
}

/* One word for any type: what a pointer is to need not be complete. */
static const char *type_of_x(struct cg *cg, const struct omp_atomic *a)
{
    const char *type = cg_type(cg, a->x_type, "", CG_UNQUALIFIED);
    return a->x_type->kind == OMPT_POINTER ? cg_strf(cg, "__typeof__(%s)", type) : type;
}

/* An operand that is assigned to a pointer, or compared with it, is one; what is added is not. */
static bool has_pointer_operand(const struct omp_atomic *a)
{
    switch (a->op) {
    case OMPAO_NONE:
    case OMPAO_ASSIGN:
    case OMPAO_EQUAL:
    case OMPAO_MIN:
    case OMPAO_MAX: return a->x_type->kind == OMPT_POINTER;
    default: return false;
    }
}

static void declare_operand(struct cg *cg, const struct atomic *k)
{
    const struct omp_atomic *a = k->a;
    const char *e = cg_empty(a->expr) ? NULL : cg_expr(cg, a->expr);
    if (e && has_pointer_operand(a))
        cg_line(cg, "const %s @operand = (%s);", k->type, e);
    else if (e)
        cg_line(cg, "const __typeof__((%s) + 0) @operand = (%s);", e, e);
    else if (a->form != OMPA_READ)
        cg_line(cg, "const int @operand = 1;"); /* x++, x-- */
}

void cg_atomic(struct cg *cg, const struct omp_construct *c)
{
    const struct omp_atomic *a = c->atomic;
    uint64_t n = a->x_type->size;
    bool plain = n == 1 || n == 2 || n == 4 || n == 8;
    struct atomic k = { a, order_of(cg->unit, c),
                        plain ? cg_strf(cg, "__ompgpu_a%u", (unsigned)n) : NULL, type_of_x(cg, a),
                        NULL };
    cg->place = fe_place(cg->unit, a->x.begin); /* of the access, for messages */
    cg_line(cg, "%s *@x = (%s *)&(%s), @old, @new;", k.type, k.type, cg_expr(cg, a->x));
    declare_operand(cg, &k);
    if (!cg_empty(a->desired))
        cg_line(cg, "const %s @desired = %s;", k.type, cg_expr(cg, a->desired));
    write_operation(cg, &k);
    if (!cg_empty(a->result))
        cg_line(cg, "%s = @old == @operand;", cg_expr(cg, a->result));
    if (a->capture_failure)
        cg_line(cg, "if (!(@old == @operand))");
    if (!cg_empty(a->v))
        cg_line(cg, a->form != OMPA_READ && a->capture_new ? "%s = @new;" : "%s = @old;",
                cg_expr(cg, a->v));
}
