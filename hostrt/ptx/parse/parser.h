/* parser.h - PTX text -> struct module, decoded once.
 *
 *   text.c        words and numbers of the text; errors of loading, which name the line
 *   types.c       the types
 *   symbols.c     names: of a function (registers, parameters, labels), of the module
 *   variables.c   declarations and their initial values
 *   operands.c    operands, addresses, calls
 *   statements.c  a function's statements: instructions, labels, directives
 *   functions.c   parameters, attributes, bodies
 *   module.c      the module's directives, then what is known at its end: addresses in initial
 *                 values, the shared memory that a kernel reaches; the module's memory
 *
 * PTX declares before it uses, but for labels: one pass over the tokens is enough, and labels are
 * resolved at each function's end.  Blocks `{ … }` in a function open a scope in which LLVM and
 * nvcc declare the parameters of a call anew; a name means what was declared last, in the order of
 * the text, so that a scope needs no stack. */
#ifndef OMPGPU_PTX_PARSER_H
#define OMPGPU_PTX_PARSER_H
#include <setjmp.h>
#include "hostrt/ptx/isa.h"

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

/* ------------------------------------------------------------------ text.c */
/* Writes the message to the log and leaves ptx_parse. */
void parse_fail(struct parser *, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 2, 3)));
/* The next word (name, directive, opcode, number) into p->word, "" where punctuation follows. */
const char *parse_word(struct parser *);
bool parse_word_is(const struct parser *, const char *);
void parse_skip_space(struct parser *);
bool parse_next_is(struct parser *, char);
bool parse_accept(struct parser *, char); /* reads it if it is next */
void parse_expect(struct parser *, char);
void parse_skip_to(struct parser *, char end); /* past `end`, outside of braces */
char *parse_keep(struct parser *, const char *);
/* A literal's bits; 0f… and 0d… are bits of float and double. */
bool parse_number(const char *, uint64_t *value, enum type *);
uint64_t parse_signed(uint64_t value, enum type, bool negative);
uint64_t parse_narrowed(uint64_t f64); /* to f32 */
void *parse_grow(struct parser *, void *old, unsigned n, size_t each);
#define PUSH(p, array, n) (array = parse_grow(p, array, n, sizeof *(array)), &(array)[(n)++])

/* ------------------------------------------------------------------ symbols.c */
struct symbol *parse_find_symbol(struct parser *, const char *name, size_t length);
struct symbol *parse_add_symbol(struct parser *, const char *name, enum symbol_kind);
/* `%r12`: the range `%r<136>` is known as `%r`. */
struct symbol *parse_find_register(struct parser *, const char *name, unsigned *number);
struct variable *parse_find_variable(struct module *, const char *name);
struct function *parse_function_named(struct parser *, const char *name, bool make);

/* ------------------------------------------------------------------ variables.c */
struct declaration {
    enum type type;
    unsigned align;
    uint64_t count; /* elements; 0: an array without a size */
    bool is_array;
    char name[MAX_WORD];
};
void parse_declaration(struct parser *, struct declaration *);
uint64_t parse_declared_size(const struct declaration *);
static inline uint64_t parse_round_up(uint64_t n, unsigned align)
{
    return (n + align - 1) / align * align;
}
void parse_variable(struct parser *, enum space, bool external);
/* Room in local memory; the offset. */
unsigned parse_place_local(struct parser *, unsigned size, unsigned align);
void parse_function_variable(struct parser *, enum space);

/* ------------------------------------------------------------------ the others */
struct operand parse_operand(struct parser *);
struct operand parse_name_operand(struct parser *, const char *name);
struct memory_operand parse_memory_operand(struct parser *);
void parse_fit_constants(struct parser *, struct instruction *);
void parse_call(struct parser *, struct instruction *);
struct instruction *parse_new_instruction(struct parser *);
void parse_statement(struct parser *);
void parse_function(struct parser *, bool entry);
void parse_find_insertions(struct function *); /* sets `inserts` */
#endif
