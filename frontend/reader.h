/* reader.h - reads tokens of a pragma; shared by arguments.c and clause.c. */
#ifndef OMPGPU_READER_H
#define OMPGPU_READER_H
#include "frontend/fe.h"
#include <string.h>

struct reader {
    struct fe *fe;
    struct fe_pragma *p;
    struct omp_clause *c;
    unsigned at, end; /* tokens of the argument, without the parentheses */
    bool collecting;  /* before the text is parsed: only finds the operands, says nothing */
};

static inline const char *text_of(const struct reader *r) { return r->fe->u->text; }
static inline bool token_is(const struct reader *r, unsigned k, const char *s)
{
    return k < r->end && fe_word_at(r->fe, r->p, k, s);
}
static inline bool is_ident(const struct reader *r, unsigned k)
{
    return k < r->end && r->p->tokens[k].kind == TOK_IDENT;
}
static inline unsigned offset_at(const struct reader *r, unsigned k)
{
    return k < r->p->ntokens ? r->p->tokens[k].begin : r->p->extent.end - 1;
}
static inline const char *word_at(struct reader *r, unsigned k)
{
    return fe_text(r->fe, (struct omp_extent){ r->p->tokens[k].begin, r->p->tokens[k].end });
}
static inline struct omp_extent extent_of(const struct reader *r, unsigned b, unsigned e)
{
    if (b >= e)
        return (struct omp_extent){ 0, 0 };
    return (struct omp_extent){ r->p->tokens[b].begin, r->p->tokens[e - 1].end };
}
static inline unsigned find_top(const struct reader *r, unsigned k, unsigned end, const char *s)
{
    return fe_find_top(r->fe, r->p, k, end, s);
}
static inline unsigned closing(const struct reader *r, unsigned k)
{
    return fe_closing(r->fe, r->p, k);
}

/* First token at or after the offset. */
static inline unsigned token_at(const struct reader *r, unsigned offset)
{
    unsigned k = 0;
    while (k < r->p->ntokens && r->p->tokens[k].begin < offset)
        k++;
    return k;
}

/* `index`, `lower : length : stride`: tokens of each part, which may have none. */
struct bracket {
    unsigned close, nparts;
    struct {
        unsigned begin, end;
    } part[3];
};
/* The parts of tokens [b, e).  A ':' of `?:` separates nothing. */
static inline void read_parts(const struct reader *r, unsigned b, unsigned e, struct bracket *x)
{
    unsigned conditions = 0;
    *x = (struct bracket){ .close = e, .nparts = 1 };
    x->part[0].begin = b;
    for (unsigned k = b; k < e; k++) {
        if (token_is(r, k, "(") || token_is(r, k, "["))
            k = closing(r, k);
        else if (token_is(r, k, "?"))
            conditions++;
        else if (token_is(r, k, ":") && conditions)
            conditions--;
        else if (token_is(r, k, ":") && x->nparts < 3) {
            x->part[x->nparts - 1].end = k;
            x->part[x->nparts++].begin = k + 1;
        }
    }
    x->part[x->nparts - 1].end = e;
}
/* Those of the bracket at `open`; false if it is none. */
static inline bool read_bracket(const struct reader *r, unsigned open, struct bracket *x)
{
    read_parts(r, open + 1, closing(r, open), x);
    return x->close < r->p->ntokens;
}

/* A list item that begins with the dimensions of an array,  ([n][m])p  or  (([n][m])p): tokens of
 * the dimensions, of the pointer, and what is after it. */
struct shape {
    unsigned dimensions, end, pointer, pointer_end, rest;
};
static inline bool read_shape(const struct reader *r, unsigned b, unsigned e, struct shape *s)
{
    bool inner = token_is(r, b, "(") && token_is(r, b + 1, "(");
    unsigned open = b + inner, close = closing(r, open), last = inner ? closing(r, b) : e;
    if (!token_is(r, open, "(") || !token_is(r, open + 1, "[") || close + 1 >= last || last > e)
        return false;
    *s = (struct shape){ open + 1, close, close + 1, inner ? last : find_top(r, close + 1, e, "["),
                         0 };
    s->rest = s->pointer_end + inner;
    return true;
}

/* clause.c */
/* the expression [b, e), with what is known of it */
struct omp_expr fe_expr_of(struct reader *, unsigned b, unsigned e);
/* the clause's expression is [b, e) */
void fe_set_expr(struct reader *, unsigned b, unsigned e);
/* part i of a bracket; empty where there is none */
struct omp_expr fe_part_of(struct reader *, const struct bracket *, unsigned i);
/* the clause's list items are [b, e) */
void fe_read_items(struct reader *, unsigned b, unsigned e);
/* probe.c */
void fe_add_operand(struct reader *, unsigned b, unsigned e, bool item);
/* mapper.c: `iterator(…)`, whose bracket is at `open`, of the clause */
void fe_read_iterators(struct reader *, unsigned open);
/* udr.c: the parts of the directive, without types */
bool fe_read_udr_parts(struct reader *, struct omp_udr *);
#endif
