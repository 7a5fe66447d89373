/* uses.c - which loads matter.  LLVM executes a load early, or for all threads, where only some
 * need its value; that is no race as long as the others do not use what they got.  So each plain
 * load has a slot, and the instructions that use its value (not those that only compute with it)
 * know the slots of the loads that they may depend on.
 *
 * The flow of values is that of a function's registers, whatever the order of its instructions.  A
 * value that only compare-and-exchange gets does not matter either: LLVM begins its loops with a
 * plain load, and the hardware checks the value before it exchanges. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/isa.h"
#include "hostrt/ptx/race/race.h"

enum { MAX_READS = 24 };
struct flow {
    struct module *m;
    struct function *f;
    unsigned nvalues; /* registers, then predicates */
    unsigned *first,
        *all; /* instructions that read a value: all[first[v]] … all[first[v + 1] - 1] */
    bool *reached, *exchanged; /* values that depend on the load; on an atom.cas */
    unsigned *work, nwork;
    struct list {
        unsigned n, room, *slots;
    } *uses; /* by instruction */
};

static void *zeroed(size_t n, size_t each)
{
    void *p = calloc(n + 1, each);
    if (!p)
        abort();
    return p;
}

/* ------------------------------------------------------------------ what an instruction reads */
static unsigned add_operand(const struct flow *x, const struct operand *o, unsigned *to, unsigned n)
{
    if (o->kind == O_REG && n < MAX_READS)
        to[n++] = o->index;
    if (o->kind == O_PRED && n < MAX_READS)
        to[n++] = x->f->nregs + o->index;
    for (unsigned k = 0; o->kind == O_VECTOR && k < o->n; k++)
        n = add_operand(x, &o->parts[k], to, n);
    return n;
}

static bool is_exchange(const struct instruction *i)
{
    return i->row->class == C_ATOMIC && i->op == OP_CAS;
}

/* Without the guard. */
static unsigned reads_of(const struct flow *x, const struct instruction *i, unsigned *to)
{
    unsigned n = add_operand(x, &i->memory.base, to, 0);
    for (unsigned k = 0; k < i->nsources && !is_exchange(i); k++)
        n = add_operand(x, &i->s[k], to, n);
    return n;
}

static unsigned writes_of(const struct flow *x, const struct instruction *i, unsigned *to)
{
    unsigned n = add_operand(x, &i->d, to, 0);
    return add_operand(x, &i->d2, to, n);
}

/* Only computes; what counts is who uses the result. */
static bool is_computation(const struct instruction *i)
{
    return i->row->destination && (i->row->class == C_INTEGER || i->row->class == C_FLOAT);
}

/* Whether compare-and-exchange found what was expected. */
static bool asks_exchange(const struct flow *x, const struct instruction *i)
{
    unsigned r[MAX_READS], n = reads_of(x, i, r);
    for (unsigned k = 0; k < n; k++)
        if (x->exchanged[r[k]])
            return i->row->operation == I_SETP && (i->op == OP_EQ || i->op == OP_NE);
    return false;
}

static bool is_followed(const struct instruction *i)
{
    return i->row->class == C_LOAD && i->row->destination && i->order == MO_WEAK &&
           (i->space == S_GENERIC || i->space == S_GLOBAL || i->space == S_SHARED);
}

/* ------------------------------------------------------------------ a function */
static void index_reads(struct flow *x)
{
    unsigned r[MAX_READS + 1], total = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned k = 0; k < x->f->ncode; k++) {
            const struct instruction *i = &x->f->code[k];
            unsigned n = reads_of(x, i, r);
            if (i->guard >= 0)
                r[n++] = x->f->nregs + (unsigned)i->guard;
            for (unsigned j = 0; j < n; j++)
                if (pass)
                    x->all[--x->first[r[j]]] = k;
                else
                    x->first[r[j]]++;
            total += pass ? 0 : n;
        }
        for (unsigned v = 1; !pass && v <= x->nvalues; v++)
            x->first[v] += x->first[v - 1];
        if (!pass)
            x->all = zeroed(total, sizeof *x->all);
    }
}

static void add_use(struct list *l, unsigned slot)
{
    if (!slot || (l->n && l->slots[l->n - 1] == slot))
        return;
    if (l->n + 1 >= l->room) {
        l->room = l->room ? 2 * l->room : 4;
        l->slots = realloc(l->slots, l->room * sizeof *l->slots);
        if (!l->slots)
            abort();
    }
    l->slots[l->n++] = slot;
    l->slots[l->n] = 0;
}

static void reach_value(struct flow *x, unsigned value)
{
    if (x->reached[value])
        return;
    x->reached[value] = true;
    x->work[x->nwork++] = value;
}

static void follow_reader(struct flow *x, unsigned value, unsigned at, unsigned slot)
{
    const struct instruction *i = &x->f->code[at];
    unsigned w[MAX_READS];
    bool guards = i->guard >= 0 && value == x->f->nregs + (unsigned)i->guard;
    if (guards || !is_computation(i))
        add_use(&x->uses[at], slot);
    else if (!asks_exchange(x, i))
        for (unsigned n = writes_of(x, i, w); n-- > 0;)
            reach_value(x, w[n]);
}

/* From what the instruction writes to all that depends on it; slot 0: notes no use. */
static void follow(struct flow *x, const struct instruction *i, unsigned slot)
{
    unsigned w[MAX_READS];
    for (unsigned n = writes_of(x, i, w); n-- > 0;)
        reach_value(x, w[n]);
    while (x->nwork) {
        unsigned v = x->work[--x->nwork];
        for (unsigned k = x->first[v]; k < x->first[v + 1]; k++)
            follow_reader(x, v, x->all[k], slot);
    }
}

static void follow_exchanges(struct flow *x)
{
    for (unsigned k = 0; k < x->f->ncode; k++)
        if (is_exchange(&x->f->code[k]))
            follow(x, &x->f->code[k], 0);
    memcpy(x->exchanged, x->reached, x->nvalues * sizeof *x->reached);
}

static void follow_loads(struct flow *x)
{
    for (unsigned k = 0; k < x->f->ncode; k++) {
        struct instruction *i = &x->f->code[k];
        if (!is_followed(i))
            continue;
        i->load_slot = ++x->m->nslots;
        memset(x->reached, 0, x->nvalues * sizeof *x->reached);
        follow(x, i, i->load_slot);
    }
}

static void keep_uses(struct flow *x)
{
    for (unsigned k = 0; k < x->f->ncode; k++) {
        size_t size = (x->uses[k].n + 1) * sizeof(unsigned);
        if (!x->uses[k].n)
            continue;
        x->f->code[k].uses = memcpy(ptx_module_alloc(x->m, size), x->uses[k].slots, size);
        free(x->uses[k].slots);
    }
}

static void follow_function(struct module *m, struct function *f)
{
    struct flow x = { .m = m, .f = f, .nvalues = f->nregs + f->npreds };
    x.first = zeroed(x.nvalues + 1, sizeof *x.first);
    x.reached = zeroed(x.nvalues, sizeof *x.reached);
    x.exchanged = zeroed(x.nvalues, sizeof *x.exchanged);
    x.work = zeroed(x.nvalues, sizeof *x.work);
    x.uses = zeroed(f->ncode, sizeof *x.uses);
    index_reads(&x);
    follow_exchanges(&x);
    follow_loads(&x);
    keep_uses(&x);
    free(x.first);
    free(x.all);
    free(x.reached);
    free(x.exchanged);
    free(x.work);
    free(x.uses);
}

void race_find_uses(struct module *m)
{
    if (m->nslots)
        return;
    for (unsigned k = 0; k < m->nfunctions; k++)
        if (m->functions[k]->is_defined)
            follow_function(m, m->functions[k]);
}
