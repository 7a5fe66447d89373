/* variables.c - declarations of variables and their initial values. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/parse/parser.h"

/* ------------------------------------------------------------------ declarations */
/* .ptr .global .align 1 */
static void skip_pointer(struct parser *p)
{
    while (parse_next_is(p, '.')) {
        parse_word(p);
        if (parse_word_is(p, ".align"))
            parse_word(p);
    }
}

/* What stands before the name, which is the parser's word then; elements of a vector. */
static unsigned read_qualifiers(struct parser *p, struct declaration *d)
{
    unsigned vector = 1;
    while (parse_word(p)[0] == '.') {
        if (parse_word_is(p, ".align"))
            d->align = (unsigned)strtoul(parse_word(p), NULL, 10);
        else if (parse_word_is(p, ".ptr"))
            skip_pointer(p);
        else if (parse_word_is(p, ".v2") || parse_word_is(p, ".v4"))
            vector = (unsigned)(p->word[2] - '0');
        else if (ptx_type_named(p->word + 1))
            d->type = ptx_type_named(p->word + 1);
        else if (parse_word_is(p, ".attribute"))
            parse_skip_to(p, ')');
    }
    return vector;
}

/* After the state space: `.align 8 .b8 name[512]`, `.u64 .ptr .global .align 1 name`. */
void parse_declaration(struct parser *p, struct declaration *d)
{
    *d = (struct declaration){ .count = 1 };
    unsigned vector = read_qualifiers(p, d);
    if (!d->type)
        parse_fail(p, "a declaration of '%s' without a type", p->word);
    memcpy(d->name, p->word, sizeof d->name);
    d->count = vector;
    while (parse_accept(p, '[')) {
        d->is_array = true;
        d->count *= parse_next_is(p, ']') ? 0 : strtoull(parse_word(p), NULL, 0);
        parse_expect(p, ']');
    }
    if (!d->align)
        d->align = ptx_type_size(d->type) ? ptx_type_size(d->type) * vector : 1;
}

uint64_t parse_declared_size(const struct declaration *d)
{
    return d->count * ptx_type_size(d->type);
}

/* ------------------------------------------------------------------ initialisers */
static void add_relocation(struct parser *p, struct variable *v, struct relocation r)
{
    *PUSH(p, v->relocations, v->nrelocations) = r;
}

/* A symbol or generic(symbol), with an addend. */
static void read_symbol(struct parser *p, struct relocation *r)
{
    r->generic = parse_word_is(p, "generic");
    if (r->generic) {
        parse_expect(p, '(');
        parse_word(p);
    }
    r->symbol = parse_keep(p, p->word);
    if (r->generic)
        parse_expect(p, ')');
    bool minus = parse_next_is(p, '-');
    if (minus || parse_next_is(p, '+')) {
        p->at++;
        r->addend = strtoll(parse_word(p), NULL, 0);
        r->addend = minus ? -r->addend : r->addend;
    }
}

/* One element: a number, a symbol or one byte of it, 0xFF00(symbol). */
static void read_initial_value(struct parser *p, struct variable *v, uint64_t at, unsigned size)
{
    bool negative = parse_accept(p, '-');
    uint64_t value;
    enum type type;
    struct relocation r = { .at = at, .shift = 64 };
    bool is_number = parse_number(parse_word(p), &value, &type);
    if (is_number && !parse_next_is(p, '(')) {
        value = parse_signed(value, type, negative);
        value = type == T_F64 && size == 4 ? parse_narrowed(value) : value;
        memcpy(v->init + at, &value, size);
        return;
    }
    if (is_number) {
        parse_expect(p, '(');
        parse_word(p);
    }
    read_symbol(p, &r);
    if (is_number) {
        parse_expect(p, ')');
        for (r.shift = 0; value && !(value & 0xff); value >>= 8)
            r.shift += 8;
    }
    add_relocation(p, v, r);
}

static uint64_t read_initial_values(struct parser *p, struct variable *v, uint64_t at,
                                    unsigned size)
{
    if (parse_accept(p, '{')) {
        while (!parse_accept(p, '}')) {
            at = read_initial_values(p, v, at, size);
            parse_accept(p, ',');
        }
        return at;
    }
    if (at + size > v->size)
        parse_fail(p, "too many initial values for '%s'", v->name);
    read_initial_value(p, v, at, size);
    return at + size;
}

/* ------------------------------------------------------------------ variables */
static struct variable *add_variable(struct parser *p, const struct declaration *d,
                                     enum space space)
{
    struct variable *v = ptx_module_alloc(p->m, sizeof *v);
    v->name = parse_keep(p, d->name);
    v->space = space;
    v->size = parse_declared_size(d);
    v->align = d->align;
    *PUSH(p, p->m->variables, p->m->nvariables) = v;
    return v;
}

/* Global and constant memory is allocated at once, since operands are addresses. */
static void place_global(struct parser *p, struct variable *v)
{
    v->room = parse_round_up(v->size, v->align);
    if (!v->address && !(v->address = ptx_global_alloc(p->m->device, v->room ? v->room : 1)))
        parse_fail(p, "no memory for variable '%s' of %llu bytes", v->name,
                   (unsigned long long)v->size);
    else
        memset(ptx_shadow_of(v->address + v->size), SHADOW_PADDING, v->room - v->size);
}

static void place_shared(struct parser *p, struct variable *v)
{
    v->room = parse_round_up(v->size, v->align);
    v->address = p->m->shared_top = parse_round_up(p->m->shared_top, v->align);
    p->m->shared_top += v->room + 16; /* a gap, so that neighbours do not touch */
}

void parse_variable(struct parser *p, enum space space, bool external)
{
    struct declaration *d = ptx_module_alloc(p->m, sizeof *d);
    parse_declaration(p, d);
    struct variable *old = parse_find_variable(p->m, d->name);
    struct variable *v = old && old->external ? old : add_variable(p, d, space);
    v->external = external;
    v->size = parse_declared_size(d);
    if (space != S_SHARED)
        place_global(p, v);
    else if (external)
        v->address = DYNAMIC_SHARED;
    else
        place_shared(p, v);
    if (parse_accept(p, '=')) {
        v->init = ptx_module_alloc(p->m, v->size ? v->size : 1);
        read_initial_values(p, v, 0, ptx_type_size(d->type));
    }
    parse_expect(p, ';');
}

enum { GAP = 16 }; /* after a local variable: what runs over its end hits nothing */
unsigned parse_place_local(struct parser *p, unsigned size, unsigned align)
{
    struct function *f = p->f;
    unsigned at = (unsigned)parse_round_up(f->local_bytes, align);
    unsigned room = (unsigned)parse_round_up(size, align);
    *PUSH(p, f->locals, f->nlocals) = (struct local){ at, size, room };
    f->local_bytes = at + room + GAP;
    if (align > f->local_align)
        f->local_align = align;
    return at;
}

/* In a function: parameters of calls, local memory, variables of its own. */
void parse_function_variable(struct parser *p, enum space space)
{
    struct declaration *d = ptx_module_alloc(p->m, sizeof *d);
    struct function *f = p->f;
    parse_declaration(p, d);
    unsigned size = (unsigned)parse_declared_size(d);
    if (space == S_PARAM) {
        struct symbol *s = parse_add_symbol(p, d->name, SYM_PARAM);
        s->index = f->frame_params = (unsigned)parse_round_up(f->frame_params, d->align);
        s->count = size;
        f->frame_params += size;
    } else if (space == S_LOCAL) {
        struct symbol *s = parse_add_symbol(p, d->name, SYM_LOCAL);
        s->index = parse_place_local(p, size, d->align);
    } else {
        struct variable *v = add_variable(p, d, space);
        if (space == S_SHARED)
            place_shared(p, v);
        else
            place_global(p, v);
        if (parse_accept(p, '=')) {
            v->init = ptx_module_alloc(p->m, v->size ? v->size : 1);
            read_initial_values(p, v, 0, ptx_type_size(d->type));
        }
    }
    parse_expect(p, ';');
}
