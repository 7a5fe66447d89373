/* statements.c - the statements of a function: instructions, labels, directives. */
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/parse/parser.h"

/* ------------------------------------------------------------------ statements */
static void read_registers(struct parser *p)
{
    parse_word(p);
    enum type type = ptx_type_named(p->word + 1);
    if (!type)
        parse_fail(p, "unknown type '%s' of a register", p->word);
    do {
        char name[128];
        snprintf(name, sizeof name, "%s", parse_word(p));
        unsigned count = 1;
        bool range = parse_accept(p, '<');
        if (range) {
            count = (unsigned)strtoul(parse_word(p), NULL, 10);
            parse_expect(p, '>');
        }
        struct symbol *s = parse_add_symbol(p, name, type == T_PRED ? SYM_PREDICATE : SYM_REGISTER);
        unsigned *top = type == T_PRED ? &p->f->npreds : &p->f->nregs;
        s->index = *top;
        s->count = range ? count : 0;
        s->type = type;
        *top += count;
    } while (parse_accept(p, ','));
    parse_expect(p, ';');
}

/* .loc FILE LINE COLUMN [, function_name …, inlined_at …]: to the end of the line */
static void read_location(struct parser *p)
{
    char *end;
    p->place.number = (unsigned)strtoul(p->at, &end, 10);
    p->place.line = (unsigned)strtoul(end, &end, 10);
    p->place.column = (unsigned)strtoul(end, &end, 10);
    while (*p->at && *p->at != '\n')
        p->at++;
}

struct instruction *parse_new_instruction(struct parser *p)
{
    struct function *f = p->f;
    if (f->ncode == p->room) {
        p->room = p->room ? 2 * p->room : 256;
        struct instruction *grown = realloc(p->code, p->room * sizeof *grown);
        if (!grown)
            abort();
        p->code = grown;
    }
    struct instruction *i = &p->code[f->ncode++];
    *i = (struct instruction){ .guard = -1, .vector = 1, .ptx_line = p->line, .place = p->place };
    return i;
}

static void read_operands(struct parser *p, struct instruction *i)
{
    bool destination = i->row->destination;
    if (parse_next_is(p, ';'))
        return;
    if (i->row->class == C_CONTROL && !strcmp(i->row->name, "call")) {
        parse_call(p, i);
        return;
    }
    do {
        if (parse_next_is(p, '[')) {
            *(i->memory.base.kind ? &i->memory2 : &i->memory) = parse_memory_operand(p);
            continue;
        }
        struct operand o = parse_operand(p);
        if (destination) {
            destination = false;
            i->d = o;
            if (parse_accept(p, '|'))
                i->d2 = parse_operand(p);
        } else if (i->nsources < i->row->sources) {
            i->s[i->nsources++] = o;
        } else {
            parse_fail(p, "too many operands of '%s'", i->row->name);
        }
    } while (parse_accept(p, ','));
}

/* mov of a parameter's address: in a .func that is local memory (PTX ISA, mov). */
static void take_address(struct parser *p, struct operand *o)
{
    struct function *f = p->f;
    for (unsigned k = 0; k < f->nparams; k++) {
        struct parameter *q = &f->params[k];
        if (o->value < q->offset || o->value >= q->offset + q->size)
            continue;
        if (!q->in_local) {
            q->in_local = true;
            q->local = parse_place_local(p, q->size, 16);
        }
        o->kind = O_LOCAL;
        o->value += (uint64_t)q->local - q->offset;
        return;
    }
}

static void read_instruction(struct parser *p)
{
    struct instruction *i = parse_new_instruction(p);
    if (parse_accept(p, '@')) {
        i->guard_negated = parse_accept(p, '!');
        struct operand o = parse_name_operand(p, parse_word(p));
        if (o.kind != O_PRED)
            parse_fail(p, "the guard '%s' is no predicate", p->word);
        i->guard = (int)o.index;
        parse_word(p);
    }
    char opcode[160];
    snprintf(opcode, sizeof opcode, "%s", p->word);
    i->ptx_line = p->line;
    i->row = ptx_isa_find(opcode, strcspn(opcode, "."));
    if (!i->row)
        parse_fail(p, "unknown instruction '%s'", opcode);
    read_operands(p, i);
    if (!strcmp(i->row->name, "mov") && i->s[0].kind == O_PARAM && !p->f->is_entry)
        take_address(p, &i->s[0]);
    const char *unknown = ptx_isa_decode(i, opcode);
    if (unknown)
        parse_fail(p, "'%s': %s", opcode, unknown);
    parse_fit_constants(p, i);
    parse_expect(p, ';');
}

static void read_branch_targets(struct parser *p, const char *label)
{
    struct symbol *s = parse_add_symbol(p, label, SYM_TARGETS);
    s->targets = (struct operand){ .kind = O_TARGETS };
    do
        *PUSH(p, s->targets.parts, s->targets.n) =
            (struct operand){ .kind = O_LABEL,
                              .lanes = (const uint64_t *)(void *)parse_keep(p, parse_word(p)) };
    while (parse_accept(p, ','));
    parse_expect(p, ';');
}

static void read_label(struct parser *p, const char *label)
{
    const char *at = p->at;
    unsigned line = p->line;
    parse_word(p);
    if (parse_word_is(p, ".branchtargets")) {
        read_branch_targets(p, label);
    } else if (parse_word_is(p, ".callprototype") || parse_word_is(p, ".calltargets")) {
        parse_skip_to(p, ';');
    } else {
        p->at = at;
        p->line = line;
        parse_add_symbol(p, label, SYM_LABEL)->index = p->f->ncode;
    }
}

static bool read_directive(struct parser *p)
{
    static const struct {
        const char *word;
        enum space space;
    } spaces[] = { { ".param", S_PARAM },
                   { ".local", S_LOCAL },
                   { ".shared", S_SHARED },
                   { ".global", S_GLOBAL },
                   { ".const", S_CONST } };
    if (parse_word_is(p, ".reg")) {
        read_registers(p);
        return true;
    }
    if (parse_word_is(p, ".loc")) {
        read_location(p);
        return true;
    }
    if (parse_word_is(p, ".pragma")) {
        parse_skip_to(p, ';');
        return true;
    }
    for (unsigned i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (parse_word_is(p, spaces[i].word)) {
            parse_function_variable(p, spaces[i].space);
            return true;
        }
    return false;
}

void parse_statement(struct parser *p)
{
    if (parse_next_is(p, '@')) {
        read_instruction(p);
        return;
    }
    parse_word(p);
    if (!*p->word)
        parse_fail(p, "a statement expected before '%.20s'", p->at);
    if (p->word[0] == '.') {
        if (!read_directive(p))
            parse_fail(p, "unknown directive '%s'", p->word);
        return;
    }
    if (parse_next_is(p, ':')) {
        char label[256];
        snprintf(label, sizeof label, "%s", p->word);
        p->at++;
        read_label(p, label);
        return;
    }
    read_instruction(p);
}
