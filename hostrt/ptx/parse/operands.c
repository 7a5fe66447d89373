/* operands.c - operands, addresses in brackets, and what a call says. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/parse/parser.h"

/* ------------------------------------------------------------------ operands */
static struct operand constant(struct parser *p, uint64_t value)
{
    uint64_t *lanes_of = ptx_module_alloc(p->m, WARP * sizeof *lanes_of);
    for (int l = 0; l < WARP; l++)
        lanes_of[l] = value;
    return (struct operand){ .kind = O_CONST, .value = value, .lanes = lanes_of };
}

static void note_callee(struct parser *p, struct function *callee)
{
    for (unsigned i = 0; i < p->f->ncallees; i++)
        if (p->f->callees[i] == callee)
            return;
    *PUSH(p, p->f->callees, p->f->ncallees) = callee;
}

static struct operand variable_operand(struct parser *p, struct variable *v)
{
    if (v->space == S_SHARED)
        *PUSH(p, p->f->shared, p->f->nshared) = v;
    return constant(p, v->address);
}

struct operand parse_name_operand(struct parser *p, const char *name)
{
    unsigned n;
    struct symbol *s = parse_find_register(p, name, &n);
    if (s && s->kind == SYM_REGISTER)
        return (struct operand){ .kind = O_REG, .index = s->index + n };
    if (s && s->kind == SYM_PREDICATE)
        return (struct operand){ .kind = O_PRED, .index = s->index + n };
    if (s && s->kind == SYM_PARAM)
        return (struct operand){ .kind = O_PARAM, .value = s->index };
    if (s && s->kind == SYM_LOCAL)
        return (struct operand){ .kind = O_LOCAL, .value = s->index };
    if (s && s->kind == SYM_TARGETS)
        return s->targets;
    if (*name == '%') {
        struct operand o = ptx_special_register(name);
        if (o.kind == O_NONE)
            parse_fail(p, "unknown register '%s'", name);
        return o;
    }
    if (!strcmp(name, "WARP_SZ"))
        return constant(p, WARP);
    struct variable *v = parse_find_variable(p->m, name);
    if (v)
        return variable_operand(p, v);
    struct function *f = parse_function_named(p, name, false);
    if (f) {
        f->address_taken = true;
        return constant(p, FUNCTION_WINDOW + f->number);
    }
    return (struct operand){ .kind = O_LABEL,
                             .lanes = (const uint64_t *)(void *)parse_keep(p, name) };
}

static struct operand vector_operand(struct parser *p)
{
    struct operand o = { .kind = O_VECTOR };
    do
        *PUSH(p, o.parts, o.n) = parse_operand(p);
    while (parse_accept(p, ','));
    parse_expect(p, '}');
    return o;
}

/* mov.u64 %rd1, name+8 */
static struct operand with_addend(struct parser *p, struct operand o)
{
    if (o.kind == O_REG || !parse_accept(p, '+'))
        return o;
    uint64_t more = strtoull(parse_word(p), NULL, 0);
    if (o.kind == O_CONST)
        return constant(p, o.value + more);
    o.value += more;
    return o;
}

struct operand parse_operand(struct parser *p)
{
    if (parse_accept(p, '{'))
        return vector_operand(p);
    if (parse_accept(p, '!')) {
        struct operand o = parse_operand(p);
        o.negated = true;
        return o;
    }
    bool negative = parse_accept(p, '-');
    uint64_t value;
    enum type type;
    if (parse_number(parse_word(p), &value, &type)) {
        struct operand o = constant(p, parse_signed(value, type, negative));
        o.index = type;
        return o;
    }
    if (!*p->word)
        parse_fail(p, "an operand expected before '%.20s'", p->at);
    if (parse_word_is(p, "_"))
        return (struct operand){ .kind = O_NONE };
    return with_addend(p, parse_name_operand(p, p->word));
}

/* A floating-point constant has double precision unless it is written 0f…; f32 takes it rounded. */
void parse_fit_constants(struct parser *p, struct instruction *i)
{
    enum type t = i->type2 ? i->type2 : i->type;
    for (unsigned k = 0; k < i->nsources; k++)
        if (i->s[k].kind == O_CONST && i->s[k].index == T_F64 && t == T_F32)
            i->s[k] = constant(p, parse_narrowed(i->s[k].value));
}

static uint64_t read_offset(struct parser *p)
{
    uint64_t n;
    enum type type;
    if (!parse_number(parse_word(p), &n, &type) || type)
        parse_fail(p, "an offset in an address expected instead of '%s'", p->word);
    return n;
}

struct memory_operand parse_memory_operand(struct parser *p)
{
    struct memory_operand m = { .offset = 0 };
    parse_expect(p, '[');
    m.base = parse_operand(p);
    while (!parse_accept(p, ']')) {
        bool minus = parse_next_is(p, '-');
        p->at++;
        minus ^= parse_accept(p, '-');
        uint64_t n = read_offset(p);
        m.offset += minus ? -(int64_t)n : (int64_t)n;
    }
    return m;
}

/* ------------------------------------------------------------------ calls */

void parse_call(struct parser *p, struct instruction *i)
{
    struct call *c = i->call = ptx_module_alloc(p->m, sizeof *c);
    if (parse_accept(p, '(')) {
        c->result = parse_operand(p);
        parse_expect(p, ')');
        parse_expect(p, ',');
    }
    parse_word(p);
    unsigned n;
    if (parse_find_register(p, p->word, &n)) {
        i->s[0] = parse_name_operand(p, p->word);
        i->nsources = 1;
        p->f->calls_pointers = true;
    } else {
        c->library = ptx_library_function(p->word);
        c->callee = parse_function_named(p, p->word, true);
        if (!c->library)
            note_callee(p, c->callee);
    }
    while (parse_accept(p, ',')) {
        if (!parse_accept(p, '(')) {
            parse_word(p); /* prototype or list of callees */
            continue;
        }
        while (!parse_accept(p, ')')) {
            *PUSH(p, c->args, c->nargs) = parse_operand(p);
            parse_accept(p, ',');
        }
    }
}
