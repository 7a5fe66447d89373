/* header_types.c - types of system headers: device text has those that it names.
 *
 * A header declares hundreds of types, of which a region names few.  So the text is written without
 * them, with a note of the places where they belong (gaps); then the words of the text say which
 * declarations are needed, and the words of these which others.  A word may also be a member, or
 * stand in a comment: at most a type too many is written. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "codegen/c/device/device.h"
#include "driver/base/mem.h"

struct name {
    const char *s;
    size_t n;
    unsigned decl; /* index in unit.decls */
};
struct search {
    struct cg *cg;
    VEC(struct name) names; /* sorted */
    bool *needed;           /* by decl */
    VEC(unsigned) found;    /* needed, in the order in which they were found */
};

static int compare_words(const char *a, size_t m, const char *b, size_t n)
{
    int order = memcmp(a, b, m < n ? m : n);
    return order ? order : (m > n) - (m < n);
}

static int by_name(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    int order = compare_words(x->s, x->n, y->s, y->n);
    return order ? order : (x->decl > y->decl) - (x->decl < y->decl);
}

/* Names of declarations that are written on demand; without a name a declaration is needed. */
static void collect_names(struct search *s)
{
    const struct omp_unit *u = s->cg->unit;
    unsigned k = 0;
    for (unsigned i = 0; i < u->ndecls; i++) {
        const struct omp_decl *d = &u->decls[i];
        unsigned before = s->names.n;
        if (!d->on_demand)
            continue;
        while (k < u->ntype_names && u->type_names[k].offset < d->extent.begin)
            k++;
        for (; k < u->ntype_names && u->type_names[k].offset < d->extent.end; k++) {
            const char *name = u->type_names[k].name;
            *VEC_PUSH(NULL, &s->names) = (struct name){ name, strlen(name), i };
        }
        s->needed[i] = s->names.n == before;
        if (s->needed[i])
            *VEC_PUSH(NULL, &s->found) = i;
    }
    if (s->names.n)
        qsort(s->names.at, s->names.n, sizeof *s->names.at, by_name);
}

static void find_word(struct search *s, const char *word, size_t n)
{
    unsigned lo = 0, hi = s->names.n;
    while (lo < hi) {
        unsigned mid = lo + (hi - lo) / 2;
        const struct name *x = &s->names.at[mid];
        if (compare_words(x->s, x->n, word, n) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < s->names.n && !compare_words(s->names.at[lo].s, s->names.at[lo].n, word, n); lo++) {
        unsigned decl = s->names.at[lo].decl;
        if (s->needed[decl])
            continue;
        s->needed[decl] = true;
        *VEC_PUSH(NULL, &s->found) = decl;
    }
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c < 0; }

static void find_words(struct search *s, const struct cg_text *t)
{
    for (size_t i = 0, n; i < t->n; i += n) {
        for (n = 0; i + n < t->n && is_word(t->s[i + n]); n++)
            ;
        if (n)
            find_word(s, t->s + i, n);
        else
            n = 1;
    }
}

static void write_type(struct cg *cg, const struct omp_decl *d)
{
    cg_marker(cg, d->place.line ? d->place : fe_place(cg->unit, d->extent.begin));
    cg_copy(cg, d->extent);
    cg_puts(cg, d->kind == OMPD_TYPE ? ";\n" : "\n");
}

static void find_needed(struct search *s, const struct cg_text *text)
{
    struct cg *cg = s->cg;
    collect_names(s);
    find_words(s, text);
    for (unsigned i = 0; i < s->found.n; i++) {
        struct cg_text type = { 0 }, *out = cg->out;
        cg->out = &type;
        cg_copy(cg, cg->unit->decls[s->found.at[i]].extent);
        cg->out = out;
        find_words(s, &type);
        free(type.s);
    }
}

void cg_note_gap(struct cg *cg, struct cg_gaps *gaps, unsigned decl)
{
    struct cg_gap *last = gaps->n ? &gaps->list[gaps->n - 1] : NULL;
    cg_end_line(cg);
    if (!last || last->at != cg->out->n) {
        if (gaps->n == gaps->capacity)
            gaps->list = arena_grow(NULL, gaps->list, &gaps->capacity, sizeof *gaps->list);
        last = &gaps->list[gaps->n++];
        *last = (struct cg_gap){ cg->out->n, decl, decl };
        cg_forget_place(cg);
    }
    last->end = decl + 1;
}

void cg_fill_gaps(struct cg *cg, const struct cg_gaps *gaps)
{
    const struct omp_unit *u = cg->unit;
    struct cg_text text = *cg->out;
    struct search s = { .cg = cg, .needed = mem_array(u->ndecls + 1, sizeof *s.needed) };
    size_t at = 0;
    find_needed(&s, &text);
    *cg->out = (struct cg_text){ 0 };
    for (unsigned i = 0; i < gaps->n; i++) {
        const struct cg_gap *g = &gaps->list[i];
        cg_write(cg, text.s + at, g->at - at);
        cg_forget_place(cg);
        for (unsigned d = g->first; d < g->end; d++)
            if (s.needed[d])
                write_type(cg, &u->decls[d]);
        at = g->at;
    }
    cg_forget_place(cg);
    cg_write(cg, text.s + at, text.n - at);
    free(text.s);
}
