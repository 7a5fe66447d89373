/* parse.c - PTX text -> struct module, decoded once.
 *
 * PTX declares before it uses, but for labels: one pass over the tokens is enough, and labels are
 * resolved at each function's end.  Blocks `{ … }` in a function open a scope in which LLVM and
 * nvcc declare the parameters of a call anew; a name means what was declared last, in the order of
 * the text, so that a scope needs no stack. */
#include <ctype.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/ptx/isa.h"

/* ------------------------------------------------------------------ memory of a module */
struct chunk {
    struct chunk *next;
    size_t used, room;
    max_align_t data[];
};

void *ptx_module_alloc(struct module *m, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (!m->memory || m->memory->used + size > m->memory->room) {
        size_t room = size > (1 << 18) ? size : 1 << 18;
        struct chunk *c = calloc(1, sizeof *c + room);
        if (!c)
            abort();
        c->next = m->memory;
        c->room = room;
        m->memory = c;
    }
    void *p = (char *)m->memory->data + m->memory->used;
    m->memory->used += size;
    return p;
}

void ptx_module_free(struct module *m)
{
    for (unsigned i = 0; i < m->nvariables; i++)
        if (m->variables[i]->space == S_GLOBAL || m->variables[i]->space == S_CONST)
            ptx_global_free(m->variables[i]->address);
    while (m->memory) {
        struct chunk *next = m->memory->next;
        free(m->memory);
        m->memory = next;
    }
    free(m);
}

/* ------------------------------------------------------------------ the parser's state */
enum symbol_kind { SYM_REGISTER, SYM_PREDICATE, SYM_PARAM, SYM_LOCAL, SYM_LABEL, SYM_TARGETS };
struct symbol {
    struct symbol *next;
    const char *name;
    enum symbol_kind kind;
    unsigned index, count; /* register numbers; offset; label's instruction */
    enum type type;
    struct operand targets;
};
enum { BUCKETS = 1024, MAX_WORD = 4096 };
struct parser {
    struct module *m;
    struct function *f;
    const char *at;
    unsigned line;
    char *log;
    size_t log_size;
    jmp_buf failed;
    struct symbol *symbols[BUCKETS];
    struct place place;
    struct instruction *code;
    unsigned room;
    char word[MAX_WORD];
};

__attribute__((noreturn, format(printf, 2, 3))) static void fail(struct parser *p, const char *fmt,
                                                                 ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (p->log && p->log_size)
        snprintf(p->log, p->log_size, "ptx machine: line %u: %s", p->line, text);
    longjmp(p->failed, 1);
}

static void *grow(struct parser *p, void *old, unsigned n, size_t each)
{
    if (n & (n - 1))
        return old; /* room is the next power of two */
    void *grown = ptx_module_alloc(p->m, (n ? 2 * (size_t)n : 1) * each);
    if (n)
        memcpy(grown, old, n * each);
    return grown;
}
#define PUSH(p, array, n) (array = grow(p, array, n, sizeof *(array)), &(array)[(n)++])

/* ------------------------------------------------------------------ tokens */
static void skip_space(struct parser *p)
{
    for (;;) {
        while (isspace((unsigned char)*p->at))
            p->line += *p->at++ == '\n';
        if (p->at[0] == '/' && p->at[1] == '/') {
            while (*p->at && *p->at != '\n')
                p->at++;
        } else if (p->at[0] == '/' && p->at[1] == '*') {
            for (p->at += 2; *p->at && !(p->at[0] == '*' && p->at[1] == '/'); p->at++)
                p->line += *p->at == '\n';
            if (*p->at)
                p->at += 2;
        } else {
            return;
        }
    }
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.' || c == ':';
}

/* The next word (name, directive, opcode, number) into p->word, "" where punctuation follows.  A
 * ':' belongs to it only within (`.L1::evict_last`). */
static const char *read_word(struct parser *p)
{
    skip_space(p);
    size_t n = 0;
    while (is_name_char(p->at[n]) &&
           !(p->at[n] == ':' && p->at[n + 1] != ':' && !(n && p->at[n - 1] == ':')))
        n++;
    if (n >= MAX_WORD)
        fail(p, "a word of %zu characters", n);
    memcpy(p->word, p->at, n);
    p->word[n] = 0;
    p->at += n;
    return p->word;
}

static bool next_is(struct parser *p, char c)
{
    skip_space(p);
    return *p->at == c;
}
static bool accept(struct parser *p, char c)
{
    if (!next_is(p, c))
        return false;
    p->at++;
    return true;
}
static void expect(struct parser *p, char c)
{
    if (!accept(p, c))
        fail(p, "'%c' expected before '%.20s'", c, p->at);
}
static char *keep(struct parser *p, const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(ptx_module_alloc(p->m, n), s, n);
}
static bool word_is(const struct parser *p, const char *s) { return !strcmp(p->word, s); }

static void skip_to(struct parser *p, char end)
{
    int depth = 0;
    for (; *p->at; p->at++) {
        p->line += *p->at == '\n';
        depth += (*p->at == '{') - (*p->at == '}');
        if (*p->at == end && depth <= 0) {
            p->at++;
            return;
        }
    }
}

/* ------------------------------------------------------------------ numbers */
/* A literal's bits; 0f… and 0d… are bits of float and double. */
static bool number(const char *s, uint64_t *value, enum type *type)
{
    char *end;
    *type = T_NONE;
    if (s[0] == '0' && (s[1] == 'f' || s[1] == 'F')) {
        *value = strtoull(s + 2, &end, 16);
        *type = T_F32;
    } else if (s[0] == '0' && (s[1] == 'd' || s[1] == 'D')) {
        *value = strtoull(s + 2, &end, 16);
        *type = T_F64;
    } else if (isdigit((unsigned char)*s)) {
        *value = strtoull(s, &end, 0);
        if (*end == 'U')
            end++;
        if (*end == '.' || *end == 'e' || *end == 'E') {
            double d = strtod(s, &end);
            memcpy(value, &d, sizeof d);
            *type = T_F64;
        }
    } else {
        return false;
    }
    return *end == 0;
}

/* ------------------------------------------------------------------ symbols of a function */
static unsigned hash_name(const char *s, size_t n)
{
    unsigned h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h % BUCKETS;
}

static struct symbol *find_symbol(struct parser *p, const char *name, size_t n)
{
    for (struct symbol *s = p->symbols[hash_name(name, n)]; s; s = s->next)
        if (!strncmp(s->name, name, n) && !s->name[n])
            return s;
    return NULL;
}

static struct symbol *add_symbol(struct parser *p, const char *name, enum symbol_kind kind)
{
    struct symbol *s = ptx_module_alloc(p->m, sizeof *s);
    unsigned h = hash_name(name, strlen(name));
    s->name = keep(p, name);
    s->kind = kind;
    s->next = p->symbols[h];
    return p->symbols[h] = s;
}

/* `%r12`: the range `%r<136>` is known as `%r`. */
static struct symbol *find_register(struct parser *p, const char *name, unsigned *number)
{
    struct symbol *s = find_symbol(p, name, strlen(name));
    *number = 0;
    if (s)
        return s;
    size_t n = strlen(name), digits = 0;
    while (digits < n && isdigit((unsigned char)name[n - 1 - digits]))
        digits++;
    if (!digits || !(s = find_symbol(p, name, n - digits)))
        return NULL;
    *number = (unsigned)strtoul(name + n - digits, NULL, 10);
    return *number < s->count ? s : NULL;
}

static struct variable *find_variable(struct module *m, const char *name)
{
    for (unsigned i = m->nvariables; i-- > 0;)
        if (!strcmp(m->variables[i]->name, name))
            return m->variables[i];
    return NULL;
}

static struct function *function_named(struct parser *p, const char *name, bool make)
{
    struct module *m = p->m;
    for (unsigned i = 0; i < m->nfunctions; i++)
        if (!strcmp(m->functions[i]->name, name))
            return m->functions[i];
    if (!make)
        return NULL;
    struct function *f = ptx_module_alloc(m, sizeof *f);
    f->name = keep(p, name);
    f->module = m;
    f->number = m->nfunctions;
    *PUSH(p, m->functions, m->nfunctions) = f;
    return f;
}

/* ------------------------------------------------------------------ types */
enum type ptx_type_named(const char *word)
{
    static const char *const names[NTYPES] = {
        [T_PRED] = "pred", [T_B8] = "b8",     [T_B16] = "b16",       [T_B32] = "b32",
        [T_B64] = "b64",   [T_B128] = "b128", [T_U8] = "u8",         [T_U16] = "u16",
        [T_U32] = "u32",   [T_U64] = "u64",   [T_S8] = "s8",         [T_S16] = "s16",
        [T_S32] = "s32",   [T_S64] = "s64",   [T_F16] = "f16",       [T_F16X2] = "f16x2",
        [T_BF16] = "bf16", [T_F32] = "f32",   [T_BF16X2] = "bf16x2", [T_F64] = "f64",
    };
    for (int t = 1; t < NTYPES; t++)
        if (!strcmp(word, names[t]))
            return (enum type)t;
    return T_NONE;
}
unsigned ptx_type_size(enum type t)
{
    static const unsigned char sizes[NTYPES] = {
        [T_B8] = 1,    [T_B16] = 2,    [T_B32] = 4, [T_B64] = 8, [T_B128] = 16,
        [T_U8] = 1,    [T_U16] = 2,    [T_U32] = 4, [T_U64] = 8, [T_S8] = 1,
        [T_S16] = 2,   [T_S32] = 4,    [T_S64] = 8, [T_F16] = 2, [T_BF16] = 2,
        [T_F16X2] = 4, [T_BF16X2] = 4, [T_F32] = 4, [T_F64] = 8,
    };
    return sizes[t];
}
bool ptx_type_is_signed(enum type t) { return t >= T_S8 && t <= T_S64; }
bool ptx_type_is_float(enum type t) { return t >= T_F16; }

/* ------------------------------------------------------------------ declarations */
struct declaration {
    enum type type;
    unsigned align;
    uint64_t count; /* elements; 0: an array without a size */
    bool is_array;
    char name[MAX_WORD];
};

/* After the state space: `.align 8 .b8 name[512]`, `.u64 .ptr .global .align 1 name`. */
static void read_declaration(struct parser *p, struct declaration *d)
{
    *d = (struct declaration){ .count = 1 };
    unsigned vector = 1;
    for (;;) {
        read_word(p);
        if (word_is(p, ".align")) {
            d->align = (unsigned)strtoul(read_word(p), NULL, 10);
        } else if (word_is(p, ".ptr")) {
            while (next_is(p, '.')) {
                read_word(p);
                if (word_is(p, ".align"))
                    read_word(p);
            }
        } else if (word_is(p, ".v2") || word_is(p, ".v4")) {
            vector = (unsigned)(p->word[2] - '0');
        } else if (p->word[0] == '.' && ptx_type_named(p->word + 1)) {
            d->type = ptx_type_named(p->word + 1);
        } else if (p->word[0] == '.') {
            if (!word_is(p, ".attribute"))
                continue;
            skip_to(p, ')');
        } else {
            break;
        }
    }
    if (!d->type)
        fail(p, "a declaration of '%s' without a type", p->word);
    memcpy(d->name, p->word, sizeof d->name);
    d->count = vector;
    while (accept(p, '[')) {
        d->is_array = true;
        d->count *= next_is(p, ']') ? 0 : strtoull(read_word(p), NULL, 0);
        expect(p, ']');
    }
    if (!d->align)
        d->align = ptx_type_size(d->type) ? ptx_type_size(d->type) * vector : 1;
}

static uint64_t declared_size(const struct declaration *d)
{
    return d->count * ptx_type_size(d->type);
}

static uint64_t round_up(uint64_t n, unsigned align) { return (n + align - 1) / align * align; }

/* ------------------------------------------------------------------ initialisers */
static void add_relocation(struct parser *p, struct variable *v, struct relocation r)
{
    *PUSH(p, v->relocations, v->nrelocations) = r;
}

/* One element: a number, a symbol with an addend, generic(symbol), 0xFF00(symbol). */
static void read_initial_value(struct parser *p, struct variable *v, uint64_t at, unsigned size)
{
    bool negative = accept(p, '-');
    uint64_t value, mask = 0;
    enum type type;
    read_word(p);
    bool is_number = number(p->word, &value, &type);
    bool is_mask = is_number && next_is(p, '(');
    if (is_number && !is_mask) {
        if (negative)
            value = -value;
        memcpy(v->init + at, &value, size);
        return;
    }
    struct relocation r = { .at = at, .shift = 64 };
    if (is_mask)
        mask = value;
    if (is_mask || word_is(p, "generic")) {
        expect(p, '(');
        r.generic = !is_mask;
        read_word(p);
        if (word_is(p, "generic")) {
            r.generic = true;
            expect(p, '(');
            r.symbol = keep(p, read_word(p));
            expect(p, ')');
        } else {
            r.symbol = keep(p, p->word);
        }
        if (is_mask && accept(p, '+'))
            r.addend = strtoll(read_word(p), NULL, 0);
        expect(p, ')');
        for (r.shift = is_mask ? 0 : 64; is_mask && !(mask & 0xff); mask >>= 8)
            r.shift += 8;
    } else {
        r.symbol = keep(p, p->word);
    }
    if (accept(p, '+'))
        r.addend = strtoll(read_word(p), NULL, 0);
    else if (next_is(p, '-'))
        p->at++, r.addend = -strtoll(read_word(p), NULL, 0);
    add_relocation(p, v, r);
}

static uint64_t read_initial_values(struct parser *p, struct variable *v, uint64_t at,
                                    unsigned size)
{
    if (accept(p, '{')) {
        while (!accept(p, '}')) {
            at = read_initial_values(p, v, at, size);
            accept(p, ',');
        }
        return at;
    }
    if (at + size > v->size)
        fail(p, "too many initial values for '%s'", v->name);
    read_initial_value(p, v, at, size);
    return at + size;
}

/* ------------------------------------------------------------------ variables */
static struct variable *add_variable(struct parser *p, const struct declaration *d,
                                     enum space space)
{
    struct variable *v = ptx_module_alloc(p->m, sizeof *v);
    v->name = keep(p, d->name);
    v->space = space;
    v->size = declared_size(d);
    v->align = d->align;
    *PUSH(p, p->m->variables, p->m->nvariables) = v;
    return v;
}

/* Global and constant memory is allocated at once, since operands are addresses. */
static void place_global(struct parser *p, struct variable *v)
{
    if (!v->address && !(v->address = ptx_global_alloc(v->size ? v->size : 1)))
        fail(p, "no memory for variable '%s' of %llu bytes", v->name, (unsigned long long)v->size);
}

static void place_shared(struct parser *p, struct variable *v)
{
    v->address = p->m->shared_top = round_up(p->m->shared_top, v->align);
    p->m->shared_top += v->size + 16; /* a gap, so that neighbours do not touch */
}

static void read_variable(struct parser *p, enum space space, bool external)
{
    struct declaration *d = ptx_module_alloc(p->m, sizeof *d);
    read_declaration(p, d);
    struct variable *old = find_variable(p->m, d->name);
    struct variable *v = old && old->external ? old : add_variable(p, d, space);
    v->external = external;
    v->size = declared_size(d);
    if (space != S_SHARED)
        place_global(p, v);
    else if (external)
        v->address = DYNAMIC_SHARED;
    else
        place_shared(p, v);
    if (accept(p, '=')) {
        v->init = ptx_module_alloc(p->m, v->size ? v->size : 1);
        read_initial_values(p, v, 0, ptx_type_size(d->type));
    }
    expect(p, ';');
}

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

static struct operand name_operand(struct parser *p, const char *name)
{
    unsigned n;
    struct symbol *s = find_register(p, name, &n);
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
            fail(p, "unknown register '%s'", name);
        return o;
    }
    struct variable *v = find_variable(p->m, name);
    if (v)
        return variable_operand(p, v);
    struct function *f = function_named(p, name, false);
    if (f) {
        f->address_taken = true;
        return constant(p, FUNCTION_WINDOW + f->number);
    }
    return (struct operand){ .kind = O_LABEL, .lanes = (const uint64_t *)(void *)keep(p, name) };
}

static struct operand read_operand(struct parser *p)
{
    if (accept(p, '{')) {
        struct operand o = { .kind = O_VECTOR };
        do
            *PUSH(p, o.parts, o.n) = read_operand(p);
        while (accept(p, ','));
        expect(p, '}');
        return o;
    }
    if (accept(p, '!')) {
        struct operand o = read_operand(p);
        o.negated = true;
        return o;
    }
    bool negative = accept(p, '-');
    read_word(p);
    uint64_t value;
    enum type type;
    if (number(p->word, &value, &type))
        return constant(p, negative ? (type == T_F32   ? value ^ 1u << 31
                                       : type == T_F64 ? value ^ 1ull << 63
                                                       : -value)
                                    : value);
    if (!*p->word)
        fail(p, "an operand expected before '%.20s'", p->at);
    if (word_is(p, "_"))
        return (struct operand){ .kind = O_NONE };
    struct operand o = name_operand(p, p->word);
    if (o.kind != O_REG && next_is(p, '+')) { /* mov.u64 %rd1, name+8 */
        p->at++;
        uint64_t more = strtoull(read_word(p), NULL, 0);
        o = o.kind == O_CONST ? constant(p, o.value + more) : o;
        if (o.kind != O_CONST)
            o.value += more;
    }
    return o;
}

static struct memory_operand read_memory_operand(struct parser *p)
{
    struct memory_operand m = { .offset = 0 };
    expect(p, '[');
    m.base = read_operand(p);
    while (!accept(p, ']')) {
        bool minus = next_is(p, '-');
        p->at++;
        minus ^= accept(p, '-');
        uint64_t n = strtoull(read_word(p), NULL, 0);
        m.offset += minus ? -(int64_t)n : (int64_t)n;
    }
    return m;
}

/* ------------------------------------------------------------------ calls */

static void read_call(struct parser *p, struct instruction *i)
{
    struct call *c = i->call = ptx_module_alloc(p->m, sizeof *c);
    if (accept(p, '(')) {
        c->result = read_operand(p);
        expect(p, ')');
        expect(p, ',');
    }
    read_word(p);
    unsigned n;
    if (find_register(p, p->word, &n)) {
        i->s[0] = name_operand(p, p->word);
        i->nsources = 1;
        p->f->calls_pointers = true;
    } else {
        c->library = ptx_library_function(p->word);
        c->callee = function_named(p, p->word, true);
        if (!c->library)
            note_callee(p, c->callee);
    }
    while (accept(p, ',')) {
        if (!accept(p, '(')) {
            read_word(p); /* prototype or list of callees */
            continue;
        }
        while (!accept(p, ')')) {
            *PUSH(p, c->args, c->nargs) = read_operand(p);
            accept(p, ',');
        }
    }
}

/* ------------------------------------------------------------------ statements */
static void read_registers(struct parser *p)
{
    read_word(p);
    enum type type = ptx_type_named(p->word + 1);
    if (!type)
        fail(p, "unknown type '%s' of a register", p->word);
    do {
        char name[128];
        snprintf(name, sizeof name, "%s", read_word(p));
        unsigned count = 1;
        bool range = accept(p, '<');
        if (range) {
            count = (unsigned)strtoul(read_word(p), NULL, 10);
            expect(p, '>');
        }
        struct symbol *s = add_symbol(p, name, type == T_PRED ? SYM_PREDICATE : SYM_REGISTER);
        unsigned *top = type == T_PRED ? &p->f->npreds : &p->f->nregs;
        s->index = *top;
        s->count = range ? count : 0;
        s->type = type;
        *top += count;
    } while (accept(p, ','));
    expect(p, ';');
}

static void read_function_variable(struct parser *p, enum space space)
{
    struct declaration *d = ptx_module_alloc(p->m, sizeof *d);
    struct function *f = p->f;
    read_declaration(p, d);
    unsigned size = (unsigned)declared_size(d);
    if (space == S_PARAM) {
        struct symbol *s = add_symbol(p, d->name, SYM_PARAM);
        s->index = f->frame_params = (unsigned)round_up(f->frame_params, d->align);
        s->count = size;
        f->frame_params += size;
    } else if (space == S_LOCAL) {
        struct symbol *s = add_symbol(p, d->name, SYM_LOCAL);
        s->index = f->local_bytes = (unsigned)round_up(f->local_bytes, d->align);
        f->local_bytes += size;
    } else {
        struct variable *v = add_variable(p, d, space);
        if (space == S_SHARED)
            place_shared(p, v);
        else
            place_global(p, v);
        if (accept(p, '=')) {
            v->init = ptx_module_alloc(p->m, v->size ? v->size : 1);
            read_initial_values(p, v, 0, ptx_type_size(d->type));
        }
    }
    expect(p, ';');
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

static struct instruction *new_instruction(struct parser *p)
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
    if (next_is(p, ';'))
        return;
    if (i->row->class == C_CONTROL && !strcmp(i->row->name, "call")) {
        read_call(p, i);
        return;
    }
    do {
        if (next_is(p, '[')) {
            i->memory = read_memory_operand(p);
            continue;
        }
        struct operand o = read_operand(p);
        if (destination) {
            destination = false;
            i->d = o;
            if (accept(p, '|'))
                i->d2 = read_operand(p);
        } else if (i->nsources < MAX_SOURCES) {
            i->s[i->nsources++] = o;
        } else {
            fail(p, "too many operands of '%s'", i->row->name);
        }
    } while (accept(p, ','));
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
            q->local = f->local_bytes = (unsigned)round_up(f->local_bytes, 16);
            f->local_bytes += q->size;
        }
        o->kind = O_LOCAL;
        o->value += (uint64_t)q->local - q->offset;
        return;
    }
}

static void read_instruction(struct parser *p)
{
    struct instruction *i = new_instruction(p);
    if (accept(p, '@')) {
        i->guard_negated = accept(p, '!');
        struct operand o = name_operand(p, read_word(p));
        if (o.kind != O_PRED)
            fail(p, "the guard '%s' is no predicate", p->word);
        i->guard = (int)o.index;
        read_word(p);
    }
    char opcode[160];
    snprintf(opcode, sizeof opcode, "%s", p->word);
    i->ptx_line = p->line;
    i->row = ptx_isa_find(opcode, strcspn(opcode, "."));
    if (!i->row)
        fail(p, "unknown instruction '%s'", opcode);
    read_operands(p, i);
    if (!strcmp(i->row->name, "mov") && i->s[0].kind == O_PARAM && !p->f->is_entry)
        take_address(p, &i->s[0]);
    const char *unknown = ptx_isa_decode(i, opcode);
    if (unknown)
        fail(p, "'%s': %s", opcode, unknown);
    expect(p, ';');
}

static void read_branch_targets(struct parser *p, const char *label)
{
    struct symbol *s = add_symbol(p, label, SYM_TARGETS);
    s->targets = (struct operand){ .kind = O_TARGETS };
    do
        *PUSH(p, s->targets.parts, s->targets.n) =
            (struct operand){ .kind = O_LABEL,
                              .lanes = (const uint64_t *)(void *)keep(p, read_word(p)) };
    while (accept(p, ','));
    expect(p, ';');
}

static void read_label(struct parser *p, const char *label)
{
    const char *at = p->at;
    unsigned line = p->line;
    read_word(p);
    if (word_is(p, ".branchtargets")) {
        read_branch_targets(p, label);
    } else if (word_is(p, ".callprototype") || word_is(p, ".calltargets")) {
        skip_to(p, ';');
    } else {
        p->at = at;
        p->line = line;
        add_symbol(p, label, SYM_LABEL)->index = p->f->ncode;
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
    if (word_is(p, ".reg")) {
        read_registers(p);
        return true;
    }
    if (word_is(p, ".loc")) {
        read_location(p);
        return true;
    }
    if (word_is(p, ".pragma")) {
        skip_to(p, ';');
        return true;
    }
    for (unsigned i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (word_is(p, spaces[i].word)) {
            read_function_variable(p, spaces[i].space);
            return true;
        }
    return false;
}

static void read_statement(struct parser *p)
{
    if (next_is(p, '@')) {
        read_instruction(p);
        return;
    }
    read_word(p);
    if (!*p->word)
        fail(p, "a statement expected before '%.20s'", p->at);
    if (p->word[0] == '.') {
        if (!read_directive(p))
            fail(p, "unknown directive '%s'", p->word);
        return;
    }
    if (next_is(p, ':')) {
        char label[256];
        snprintf(label, sizeof label, "%s", p->word);
        p->at++;
        read_label(p, label);
        return;
    }
    read_instruction(p);
}

/* ------------------------------------------------------------------ functions */
static void resolve_operand(struct parser *p, struct operand *o)
{
    if (o->kind == O_TARGETS || o->kind == O_VECTOR)
        for (unsigned i = 0; i < o->n; i++)
            resolve_operand(p, &o->parts[i]);
    if (o->kind != O_LABEL)
        return;
    const char *name = (const char *)(const void *)o->lanes;
    struct symbol *s = find_symbol(p, name, strlen(name));
    if (!s || s->kind != SYM_LABEL)
        fail(p, "'%s' is not declared", name);
    o->value = s->index;
    if (s->index < p->f->ncode)
        p->f->code[s->index].is_target = true;
}

static void finish_function(struct parser *p)
{
    struct function *f = p->f;
    struct instruction *end = new_instruction(p); /* behind the last one: return */
    end->row = ptx_isa_find("ret", 3);
    ptx_isa_decode(end, "ret");
    f->code = ptx_module_alloc(p->m, f->ncode * sizeof *f->code);
    memcpy(f->code, p->code, f->ncode * sizeof *f->code);
    for (unsigned i = 0; i < f->ncode; i++) {
        struct instruction *x = &f->code[i];
        x->index = p->m->ninstructions++;
        for (unsigned k = 0; k < x->nsources; k++) {
            if (x->s[k].kind == O_LABEL && x->row->class != C_CONTROL)
                fail(p, "'%s' is not declared (line %u)", (const char *)(const void *)x->s[k].lanes,
                     x->ptx_line);
            resolve_operand(p, &x->s[k]);
        }
    }
}

static void read_parameters(struct parser *p, struct function *f, bool result)
{
    while (!accept(p, ')')) {
        struct declaration *d = ptx_module_alloc(p->m, sizeof *d);
        read_word(p); /* .param or .reg */
        if (!word_is(p, ".param"))
            fail(p, "parameter space '%s' is not supported", p->word);
        read_declaration(p, d);
        unsigned size = (unsigned)declared_size(d);
        unsigned at = (unsigned)round_up(f->frame_params, d->align);
        struct parameter q = { .name = keep(p, d->name), .offset = at, .size = size };
        f->frame_params = at + size;
        if (result) {
            f->result = q;
            f->has_result = true;
        } else {
            *PUSH(p, f->params, f->nparams) = q;
        }
        struct symbol *s = add_symbol(p, d->name, SYM_PARAM);
        s->index = at;
        s->count = size;
        accept(p, ',');
    }
    f->param_bytes = f->frame_params;
}

static void read_attributes(struct parser *p, struct function *f)
{
    while (next_is(p, '.')) {
        read_word(p);
        if (word_is(p, ".maxntid") || word_is(p, ".reqntid")) {
            f->max_threads = 1;
            do
                f->max_threads *= (unsigned)strtoul(read_word(p), NULL, 10);
            while (accept(p, ','));
        } else if (word_is(p, ".pragma")) {
            skip_to(p, ';');
        } else if (!word_is(p, ".noreturn")) {
            while (!next_is(p, '.') && !next_is(p, '{') && !next_is(p, ';'))
                if (!*read_word(p))
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
        if (accept(p, '{'))
            depth++;
        else if (accept(p, '}'))
            depth--;
        else if (accept(p, ';'))
            continue;
        else
            read_statement(p);
    }
    finish_function(p);
}

static void read_function(struct parser *p, bool entry)
{
    struct function *scratch = ptx_module_alloc(p->m, sizeof *scratch);
    memset(p->symbols, 0, sizeof p->symbols);
    scratch->module = p->m;
    p->f = scratch;
    if (accept(p, '('))
        read_parameters(p, scratch, true);
    struct function *f = function_named(p, read_word(p), true);
    if (accept(p, '('))
        read_parameters(p, scratch, false);
    read_attributes(p, scratch);
    if (accept(p, ';'))
        return;
    scratch->name = f->name;
    scratch->number = f->number;
    scratch->is_entry = entry;
    scratch->address_taken = f->address_taken;
    *f = *scratch;
    p->f = f;
    expect(p, '{');
    read_body(p);
}

/* ------------------------------------------------------------------ the module */
static void read_file_name(struct parser *p)
{
    unsigned n = (unsigned)strtoul(read_word(p), NULL, 10);
    skip_space(p);
    if (*p->at != '"')
        fail(p, "a file name expected");
    const char *end = strchr(p->at + 1, '"');
    if (!end)
        fail(p, "a file name without end");
    char *name = ptx_module_alloc(p->m, (size_t)(end - p->at));
    memcpy(name, p->at + 1, (size_t)(end - p->at - 1));
    while (p->m->nfiles <= n)
        *PUSH(p, p->m->files, p->m->nfiles) = NULL;
    p->m->files[n] = name;
    p->at = end + 1;
    if (accept(p, ',')) { /* time, size */
        read_word(p);
        expect(p, ',');
        read_word(p);
    }
}

static void read_module_directive(struct parser *p, bool external)
{
    static const struct {
        const char *word;
        enum space space;
    } spaces[] = { { ".global", S_GLOBAL }, { ".const", S_CONST }, { ".shared", S_SHARED } };
    for (unsigned i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (word_is(p, spaces[i].word)) {
            read_variable(p, spaces[i].space, external);
            return;
        }
    if (word_is(p, ".func") || word_is(p, ".entry"))
        read_function(p, word_is(p, ".entry"));
    else if (word_is(p, ".version") || word_is(p, ".address_size"))
        read_word(p);
    else if (word_is(p, ".target"))
        do {
            read_word(p);
            if (!strncmp(p->word, "sm_", 3))
                p->m->target = (unsigned)strtoul(p->word + 3, NULL, 10);
        } while (accept(p, ','));
    else if (word_is(p, ".file"))
        read_file_name(p);
    else if (word_is(p, ".section")) {
        read_word(p);
        expect(p, '{');
        skip_to(p, '}');
    } else if (word_is(p, ".pragma") || word_is(p, ".alias"))
        skip_to(p, ';');
    else
        fail(p, "unknown directive '%s'", p->word);
}

static void read_module(struct parser *p)
{
    for (skip_space(p); *p->at; skip_space(p)) {
        bool external = false;
        read_word(p);
        while (word_is(p, ".visible") || word_is(p, ".extern") || word_is(p, ".weak") ||
               word_is(p, ".common")) {
            external |= word_is(p, ".extern");
            read_word(p);
        }
        if (!*p->word)
            fail(p, "a directive expected before '%.20s'", p->at);
        read_module_directive(p, external);
    }
}

static uint64_t symbol_address(struct parser *p, const struct relocation *r)
{
    struct variable *v = find_variable(p->m, r->symbol);
    struct function *f = v ? NULL : function_named(p, r->symbol, false);
    if (f) {
        f->address_taken = true;
        return FUNCTION_WINDOW + f->number;
    }
    if (!v)
        fail(p, "'%s' in an initial value is not declared", r->symbol);
    return (v->space == S_SHARED ? SHARED_WINDOW : 0) + v->address + (uint64_t)r->addend;
}

static void initialise_globals(struct parser *p)
{
    for (unsigned i = 0; i < p->m->nvariables; i++) {
        struct variable *v = p->m->variables[i];
        if (v->space == S_SHARED || v->space == S_LOCAL)
            continue;
        unsigned char *data = (unsigned char *)(uintptr_t)v->address; /* the arena is host memory */
        if (v->init)
            memcpy(data, v->init, v->size);
        else
            memset(data, 0, v->size);
        for (unsigned k = 0; k < v->nrelocations; k++) {
            const struct relocation *r = &v->relocations[k];
            uint64_t address = symbol_address(p, r);
            if (r->shift == 64)
                memcpy(data + r->at, &address, sizeof address);
            else
                data[r->at] = (unsigned char)(address >> r->shift);
        }
        ptx_global_define(v->address, v->size);
    }
}

static void name_files(const struct module *m)
{
    for (unsigned f = 0; f < m->nfunctions; f++)
        for (unsigned k = 0; k < m->functions[f]->ncode; k++) {
            struct place *at = &m->functions[f]->code[k].place;
            at->file = at->number < m->nfiles ? m->files[at->number] : NULL;
        }
}

/* Shared memory of an entry: the variables of all functions that it can reach. */
static void add_reached(struct parser *p, struct function *entry, struct variable *v)
{
    uint64_t end = v->address + v->size;
    for (unsigned i = 0; i < entry->nreached; i++)
        if (entry->reached[i] == v)
            return;
    *PUSH(p, entry->reached, entry->nreached) = v;
    entry->shared_bytes = round_up(entry->shared_bytes, v->align) + v->size;
    entry->shared_end = end > entry->shared_end ? end : entry->shared_end;
}

static void reach(struct parser *p, struct function *entry, struct function *f, bool *seen)
{
    if (seen[f->number])
        return;
    seen[f->number] = true;
    for (unsigned i = 0; i < f->nshared; i++)
        if (!f->shared[i]->external)
            add_reached(p, entry, f->shared[i]);
    for (unsigned i = 0; i < f->ncallees; i++)
        reach(p, entry, f->callees[i], seen);
    for (unsigned i = 0; f->calls_pointers && i < p->m->nfunctions; i++)
        if (p->m->functions[i]->address_taken)
            reach(p, entry, p->m->functions[i], seen);
}

static void find_shared(struct parser *p)
{
    struct module *m = p->m;
    for (unsigned i = 0; i < m->nfunctions; i++)
        if (m->functions[i]->is_entry)
            reach(p, m->functions[i], m->functions[i], ptx_module_alloc(m, m->nfunctions + 1));
}

struct module *ptx_parse(struct device *device, const char *text, char *log, size_t log_size)
{
    struct module *m = calloc(1, sizeof *m);
    struct parser *p = calloc(1, sizeof *p);
    if (!m || !p)
        abort();
    m->device = device;
    p->m = m;
    p->at = text;
    p->line = 1;
    p->log = log;
    p->log_size = log_size;
    if (setjmp(p->failed)) {
        free(p->code);
        free(p);
        ptx_module_free(m);
        return NULL;
    }
    read_module(p);
    initialise_globals(p);
    find_shared(p);
    name_files(m);
    free(p->code);
    free(p);
    return m;
}
