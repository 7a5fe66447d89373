/* spread.h - shared by devices.c and spread_reduction.c. */
#ifndef OMPGPU_LOWER_SPREAD_H
#define OMPGPU_LOWER_SPREAD_H
#include "frontend/lower/lower.h"

enum { MOST_REDUCED = 16 };
struct reduced {
    const char *operation, *name; /* "+:"; the variable */
    const char *cells, *cell;     /* names: all of them, the chunk's */
    /* of an array: its section, the names of both, and what follows it in a list; NULL: a scalar */
    const char *from, *count, *lower, *length, *inner;
};

struct spread {
    struct lowering *l;
    struct fe_pragma *p;
    /* names; all: the library's object, at: what it says of the chunk, number: of chunks */
    const char *devices, *chunk, *trip, *order, *all, *at, *number, *k, *device;
    const char *list; /* of devices: an array and its length */
    const char *declarations;
    struct reduced reduced[MOST_REDUCED];
    unsigned nreduced;
    bool nowait, weighted, exchange, failed;
    struct omp_extent body; /* of the loop */
};

static inline void lower_spread_fail(struct spread *s, unsigned token, const char *what)
{
    if (!s->failed)
        fe_error(s->l->fe, s->p->tokens[token].begin, "%s '#pragma %s'", what, s->p->c->spelling);
    s->failed = true;
}

/* Messages show the first line with the number of the user's: that is to be the chunk's directive,
 * so what is made around it counts as the line before. */
static inline unsigned lower_line_before(const struct spread *s)
{
    unsigned line = s->p->c->place.line;
    return line > 1 ? line - 1 : 1;
}

static inline const char *lower_on_line(struct spread *s, const char *directive, unsigned line)
{
    return arena_printf(s->l->fe->a, "\n# %u\n#pragma %s\n# %u\n", line, directive,
                        lower_line_before(s));
}

static inline const char *lower_own_line(struct spread *s, const char *directive)
{
    return lower_on_line(s, directive, lower_line_before(s));
}

/* spread_reduction.c: text for the steps of a spread construct */
void lower_read_reductions(struct spread *, CXCursor body);
const char *lower_declare_cells(struct spread *); /* before the chunks */
const char *lower_begin_cells(struct spread *);   /* for each of them */
/* A map clause, with the cells in place of list items that are reduced. */
const char *lower_map_cells(struct spread *, const struct lower_argument *);
const char *lower_reduce_cells(struct spread *); /* clauses of its directive */
const char *lower_body_with_cells(struct spread *);
const char *lower_combine_cells(struct spread *); /* after all chunks */
#endif
