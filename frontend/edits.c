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

char *fe_edited_text(struct fe *fe, fe_edits *l)
{
    const char *text = fe->u->text;
    char *out = NULL;
    size_t n = 0;
    unsigned at = 0;
    FILE *f = open_memstream(&out, &n);
    qsort(l->at, l->n, sizeof *l->at, by_offset);
    for (unsigned i = 0; f && i < l->n; at = l->at[i].offset + l->at[i].length, i++) {
        fwrite(text + at, 1, l->at[i].offset - at, f);
        fputs(l->at[i].text, f);
    }
    if (!f)
        return NULL;
    fwrite(text + at, 1, fe->u->length - at, f);
    fclose(f);
    return out;
}
