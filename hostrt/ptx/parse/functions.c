/* functions.c - functions: parameters, attributes, bodies, labels. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/isa.h"
#include "hostrt/ptx/parse/parser.h"

/* ------------------------------------------------------------------ functions */
static void resolve_operand(struct parser *p, struct operand *o)
{
    if (o->kind == O_TARGETS || o->kind == O_VECTOR)
        for (unsigned i = 0; i < o->n; i++)
            resolve_operand(p, &o->parts[i]);
    if (o->kind != O_LABEL)
        return;
    const char *name = (const char *)(const void *)o->lanes;
    struct symbol *s = parse_find_symbol(p, name, strlen(name));
    if (!s || s->kind != SYM_LABEL)
        parse_fail(p, "'%s' is not declared", name);
    o->value = s->index;
    if (s->index < p->f->ncode)
        p->f->code[s->index].is_target = true;
}

static bool is_same_place(const struct instruction *a, const struct instruction *b)
{
    const struct operand *x = &a->memory.base, *y = &b->memory.base;
    return x->kind == y->kind && x->index == y->index && x->value == y->value &&
           a->memory.offset == b->memory.offset && ptx_type_size(a->type) == ptx_type_size(b->type);
}

/* An atomic update of a byte is made of one of the word around it; before compare and swap it is
 * loaded. */
static void find_words_around(struct function *f, const struct instruction *swap)
{
    for (unsigned i = 0; i < f->ncode; i++) {
        struct instruction *x = &f->code[i];
        if (x->row->operation == I_LD && x->vector == 1 && is_same_place(x, swap))
            x->around = true;
    }
}

static void finish_function(struct parser *p)
{
    struct function *f = p->f;
    struct instruction *end = parse_new_instruction(p); /* after the last one: return */
    end->row = ptx_isa_find("ret", 3);
    ptx_isa_decode(end, "ret");
    f->code = ptx_module_alloc(p->m, f->ncode * sizeof *f->code);
    memcpy(f->code, p->code, f->ncode * sizeof *f->code);
    for (unsigned i = 0; i < f->ncode; i++) {
        struct instruction *x = &f->code[i];
        x->index = p->m->ninstructions++;
        if (i > 0 && x[-1].guard >= 0 && x[-1].row->class == C_CONTROL)
            x->is_target = true; /* of lanes that leave a loop at its end, one time after another */
        for (unsigned k = 0; k < x->nsources; k++) {
            if (x->s[k].kind == O_LABEL && x->row->class != C_CONTROL)
                parse_fail(p, "'%s' is not declared (line %u)",
                           (const char *)(const void *)x->s[k].lanes, x->ptx_line);
            resolve_operand(p, &x->s[k]);
        }
        if (x->around && x->op == OP_CAS)
            find_words_around(f, x);
    }
    parse_find_insertions(f);
}

static void read_parameters(struct parser *p, struct function *f, bool result)
{
    while (!parse_accept(p, ')')) {
        struct declaration *d = ptx_module_alloc(p->m, sizeof *d);
        parse_word(p); /* .param or .reg */
        if (!parse_word_is(p, ".param"))
            parse_fail(p, "parameter space '%s' is not supported", p->word);
        parse_declaration(p, d);
        unsigned size = (unsigned)parse_declared_size(d);
        unsigned at = (unsigned)parse_round_up(f->frame_params, d->align);
        struct parameter q = { .name = parse_keep(p, d->name), .offset = at, .size = size };
        f->frame_params = at + size;
        if (result) {
            f->result = q;
            f->has_result = true;
        } else {
            *PUSH(p, f->params, f->nparams) = q;
        }
        struct symbol *s = parse_add_symbol(p, d->name, SYM_PARAM);
        s->index = at;
        s->count = size;
        parse_accept(p, ',');
    }
    f->param_bytes = f->frame_params;
}

static void read_attributes(struct parser *p, struct function *f)
{
    while (parse_next_is(p, '.')) {
        parse_word(p);
        if (parse_word_is(p, ".maxntid") || parse_word_is(p, ".reqntid")) {
            f->exact = parse_word_is(p, ".reqntid");
            f->max_threads = 1;
            do
                f->max_threads *= (unsigned)strtoul(parse_word(p), NULL, 10);
            while (parse_accept(p, ','));
        } else if (parse_word_is(p, ".pragma")) {
            parse_skip_to(p, ';');
        } else if (!parse_word_is(p, ".noreturn")) {
            while (!parse_next_is(p, '.') && !parse_next_is(p, '{') && !parse_next_is(p, ';'))
                if (!*parse_word(p))
                    p->at++;
        }
    }
}

static void read_body(struct parser *p)
{
    struct function *f = p->f;
    int depth = 1;
    f->is_defined = true;
    f->ptx_line = p->line;
    p->place = (struct place){ .file = NULL };
    while (depth) {
        if (parse_accept(p, '{'))
            depth++;
        else if (parse_accept(p, '}'))
            depth--;
        else if (parse_accept(p, ';'))
            continue;
        else
            parse_statement(p);
    }
    finish_function(p);
}

void parse_function(struct parser *p, bool entry)
{
    struct function *scratch = ptx_module_alloc(p->m, sizeof *scratch);
    memset(p->symbols, 0, sizeof p->symbols);
    scratch->module = p->m;
    p->f = scratch;
    if (parse_accept(p, '('))
        read_parameters(p, scratch, true);
    struct function *f = parse_function_named(p, parse_word(p), true);
    if (parse_accept(p, '('))
        read_parameters(p, scratch, false);
    read_attributes(p, scratch);
    if (parse_accept(p, ';'))
        return;
    scratch->name = f->name;
    scratch->number = f->number;
    scratch->is_entry = entry;
    scratch->address_taken = f->address_taken;
    *f = *scratch;
    p->f = f;
    parse_expect(p, '{');
    read_body(p);
}
