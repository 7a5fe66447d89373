/* edits.c - a text with changes. */
#include "frontend/fe.h"
#include <stdlib.h>
#include <string.h>

void fe_add_edit(struct fe *fe, fe_edits *l, unsigned offset, unsigned length, const char *text)
{
    *VEC_PUSH(fe->a, l) = (struct fe_edit){ offset, length, l->n, text };
}

static int by_offset(const void *a, const void *b)
{
    const struct fe_edit *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset > y->offset ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Of a text with errors the same may be changed twice. */
static bool overlap(const fe_edits *l)
{
    bool is = false;
    for (unsigned i = 1; i < l->n && !is; i++)
        is = l->at[i - 1].offset + l->at[i - 1].length > l->at[i].offset;
    return is;
}

char *fe_edited_text(struct fe *fe, fe_edits *l)
{
    const char *text = fe->u->text;
    size_t room = fe->u->length + 1, at = 0;
    for (unsigned i = 0; i < l->n; i++)
        room += strlen(l->at[i].text);
    qsort(l->at, l->n, sizeof *l->at, by_offset);
    if (overlap(l)) {
        if (!fe->errors)
            diag_bug("two changes of one piece of text");
        return NULL;
    }
    char *out = mem_alloc(room), *to = out;
    for (unsigned i = 0; i < l->n; at = l->at[i].offset + l->at[i].length, i++) {
        to = mempcpy(to, text + at, l->at[i].offset - at);
        to = stpcpy(to, l->at[i].text);
    }
    memcpy(to, text + at, fe->u->length - at);
    return out;
}

const char *fe_newlines_of(struct fe *fe, struct omp_extent e)
{
    const char *lines = "";
    for (unsigned i = e.begin; i < e.end; i++)
        if (fe->u->text[i] == '\n')
            lines = arena_printf(fe->a, "%s\n", lines);
    return lines;
}
