/* atomic.c - the atomic construct, section 15.8.4 of OpenMP 5.2.
 *
 * Everything works on the bytes of x, as an unsigned integer of its size (types __ompgpu_aN, may
 * alias anything):
 *
 *     read, write, exchange    one atomic load, store, exchange
 *     update                   fetch-and-op where the hardware has it and C computes the same; otherwise
 *                              load; do { t = old OP e } while (!compare-exchange)
 *
 * Which of the two, is often known only by the type of the user's expression: both are written
 * behind a constant condition. Larger objects are updated under a lock. */
#include <string.h>
#include "codegen/c/write.h"

struct order {
    const char *update, *load, *store;
};

static struct order order_of(const struct omp_construct *c)
{
    static const struct {
        enum omp_clause_kind clause;
        struct order order;
    } orders[] = {
        { OMPC_SEQ_CST, { "__ATOMIC_SEQ_CST", "__ATOMIC_SEQ_CST", "__ATOMIC_SEQ_CST" } },
        { OMPC_ACQ_REL, { "__ATOMIC_ACQ_REL", "__ATOMIC_ACQUIRE", "__ATOMIC_RELEASE" } },
        { OMPC_ACQUIRE, { "__ATOMIC_ACQUIRE", "__ATOMIC_ACQUIRE", "__ATOMIC_RELAXED" } },
        { OMPC_RELEASE, { "__ATOMIC_RELEASE", "__ATOMIC_RELAXED", "__ATOMIC_RELEASE" } },
    };
    for (unsigned i = 0; i < sizeof orders / sizeof *orders; i++)
        if (cg_clause(c, orders[i].clause))
            return orders[i].order;
    return (struct order){ "__ATOMIC_RELAXED", "__ATOMIC_RELAXED", "__ATOMIC_RELAXED" };
}

/* Names in the generated block: __x pointer to the storage, __e the operand, __old and __new bytes,
 * __t and __r values. */
struct atomic {
    const struct omp_atomic *a;
    struct order o;
    const char *bytes, *type, *v;
};

static const char *fetch_operation(const struct omp_atomic *a)
{
    static const struct {
        const char *op, *name;
        bool commutes, floating;
    } table[] = {
        { "+", "add", true, true }, { "-", "sub", false, false }, { "&", "and", true, false },
        { "|", "or", true, false }, { "^", "xor", true, false },
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].op, a->op) && (!a->x_is_right || table[i].commutes)) {
            if (a->x_type->kind == OMPT_INT ||
                (a->x_type->kind == OMPT_FLOAT && table[i].floating && a->x_type->size >= 4))
                return table[i].name;
        }
    return NULL;
}

/* The value that x gets, from the value __t it has. */
static const char *new_value(struct cg *cg, const struct omp_atomic *a)
{
    if (!strcmp(a->op, "=") || a->form == OMPA_WRITE)
        return "__e";
    if (!strcmp(a->op, "=="))
        return "__d";
    if (!strcmp(a->op, "min") || !strcmp(a->op, "max"))
        return "__e";
    return a->x_is_right ? cg_strf(cg, "__e %s __t", a->op) : cg_strf(cg, "__t %s __e", a->op);
}

/* Conditional forms: the condition under which x changes. */
static const char *condition(const struct omp_atomic *a)
{
    if (!strcmp(a->op, "min"))
        return "__e < __t";
    if (!strcmp(a->op, "max"))
        return "__e > __t";
    return !strcmp(a->op, "==") ? "__t == __e" : NULL;
}

static void exchange_loop(struct cg *cg, const struct atomic *k)
{
    const struct omp_atomic *a = k->a;
    const char *when = condition(a);
    cg_line(cg,
            "%s __old = __scoped_atomic_load_n((%s *)__x, __ATOMIC_RELAXED, "
            "__MEMORY_SCOPE_DEVICE), __new;",
            k->bytes, k->bytes);
    cg_line(cg, "for (;;) { __builtin_memcpy(&__t, &__old, sizeof __t);%s __r = %s;",
            when ? cg_strf(cg, " __r = __t; if (!(%s)) break;", when) : "", new_value(cg, a));
    cg_line(cg,
            "__builtin_memcpy(&__new, &__r, sizeof __new); if "
            "(__scoped_atomic_compare_exchange_n((%s *)__x, &__old, __new, 0, %s, "
            "__ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)) break; }",
            k->bytes, k->o.update);
}

static void fetch_or_loop(struct cg *cg, const struct atomic *k)
{
    const struct omp_atomic *a = k->a;
    const char *fetch = fetch_operation(a);
    if (!fetch) {
        exchange_loop(cg, k);
        return;
    }
    if (a->x_type->kind == OMPT_INT) { /* an integer operand: arithmetic modulo 2^n is the same */
        cg_line(cg,
                "if ((__typeof__(__e))0.5 == 0) { %s __b = __scoped_atomic_fetch_%s((%s *)__x, "
                "(%s)__e, %s, __MEMORY_SCOPE_DEVICE); "
                "__builtin_memcpy(&__t, &__b, sizeof __t); __r = %s; } else {",
                k->bytes, fetch, k->bytes, k->bytes, k->o.update, new_value(cg, a));
    } else { /* an operand that does not make C compute in a wider type */
        cg_line(cg,
                "if ((__typeof__(__e))0.5 == 0 || sizeof __e <= sizeof __t) { __t = "
                "__scoped_atomic_fetch_%s((%s *)__x, (%s)__e, %s, "
                "__MEMORY_SCOPE_DEVICE); __r = %s; } else {",
                fetch, k->type, k->type, k->o.update, new_value(cg, a));
    }
    exchange_loop(cg, k);
    cg_puts(cg, " }");
}

static void load(struct cg *cg, const struct atomic *k)
{
    cg_line(cg,
            "%s __old = __scoped_atomic_load_n((%s *)__x, %s, __MEMORY_SCOPE_DEVICE); "
            "__builtin_memcpy(&__t, &__old, sizeof __t);",
            k->bytes, k->bytes, k->o.load);
}

static void store(struct cg *cg, const struct atomic *k)
{
    cg_line(cg,
            "__r = __e; %s __new; __builtin_memcpy(&__new, &__r, sizeof __new); "
            "__scoped_atomic_store_n((%s *)__x, __new, %s, "
            "__MEMORY_SCOPE_DEVICE);",
            k->bytes, k->bytes, k->o.store);
}

static void exchange(struct cg *cg, const struct atomic *k)
{
    cg_line(cg,
            "__r = __e; %s __new, __old; __builtin_memcpy(&__new, &__r, sizeof __new); __old = "
            "__scoped_atomic_exchange_n((%s *)__x, __new, %s, "
            "__MEMORY_SCOPE_DEVICE); __builtin_memcpy(&__t, &__old, sizeof __t);",
            k->bytes, k->bytes, k->o.update);
}

static void locked(struct cg *cg, const struct atomic *k)
{
    const char *lock = cg_lock(cg, "__atomic"), *when = condition(k->a);
    cg_line(cg, "__ompgpu_critical_begin(&%s); __t = *__x;", lock);
    if (k->a->form != OMPA_READ) {
        if (when)
            cg_line(cg, "__r = __t; if (%s) ", when);
        cg_line(cg, "*__x = __r = %s;", new_value(cg, k->a));
    }
    cg_line(cg, "__ompgpu_critical_end(&%s);", lock);
}

static void operate(struct cg *cg, const struct atomic *k)
{
    if (!k->bytes)
        locked(cg, k);
    else if (k->a->form == OMPA_READ)
        load(cg, k);
    else if (k->a->form == OMPA_WRITE)
        store(cg, k);
    else if (!strcmp(k->a->op, "="))
        exchange(cg, k);
    else
        fetch_or_loop(cg, k);
}

void cg_atomic(struct cg *cg, const struct omp_construct *c)
{
    const struct omp_atomic *a = c->atomic;
    struct omp_atomic copy = *a;
    copy.op = a->op ? a->op : "=";
    uint64_t n = a->x_type->size;
    bool plain = n == 1 || n == 2 || n == 4 || n == 8;
    struct atomic k = { &copy, order_of(c), plain ? cg_strf(cg, "__ompgpu_a%u", (unsigned)n) : NULL,
                        cg_type(cg, a->x_type, "", CG_UNQUALIFIED), NULL };
    cg_line(cg, "%s *__x = (%s *)&(%s), __t, __r;", k.type, k.type, cg_expr(cg, a->x));
    if (!cg_empty(a->expr)) {
        const char *e = cg_expr(cg, a->expr);
        cg_line(cg, "const __typeof__((%s) + 0) __e = (%s);", e, e);
    } else if (a->form != OMPA_READ) {
        cg_line(cg, "const int __e = 1;"); /* x++, x-- */
    }
    if (!cg_empty(a->desired))
        cg_line(cg, "const %s __d = %s;", k.type, cg_expr(cg, a->desired));
    operate(cg, &k);
    if (!cg_empty(a->v))
        cg_line(cg, "%s = %s;", cg_expr(cg, a->v),
                a->form != OMPA_READ && a->capture_new ? "__r" : "__t");
}
