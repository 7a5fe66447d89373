/* attribute.c - directives that are written as attributes, section 5.1.2 of OpenMP 5.2.
 *
 *     [[omp::directive(target map(x))]] f();      # 7 "app.c"
 *                                                          #pragma omp target map(x)
 *                                                 # 7 "app.c"
 *                                                                               f();
 *
 *     [[omp::sequence(directive(target), directive(parallel))]]      two such lines
 *
 * They become the lines that they stand for before anything else looks at the text, the others of
 * an attribute list stay.  Markers and spaces keep every token at its place.
 *
 * What `omp::decl(threadprivate)` declares is known only when the declaration has been read: it is
 * an error, since clang takes it for an unknown attribute and goes on. */
#include "frontend/fe.h"
#include <stdlib.h>
#include <string.h>

struct expansion {
    struct fe *fe;
    struct fe_pragma list; /* its tokens: from the first bracket to the end of the attributes */
    FILE *out;
    unsigned written; /* of the text */
    int errors;
};

/* ------------------------------------------------------------------ tokens */
static bool is_square(const struct omp_unit *u, struct fe_token *t)
{
    return fe_bracket(u, t) > 0 && strchr("[<", u->text[t->begin]);
}

/* Reads the tokens of attributes that begin with `first`. */
static bool read_list(struct expansion *x, struct fe_token first)
{
    const struct omp_unit *u = x->fe->u;
    struct fe_token t;
    VEC(struct fe_token) v = { 0 };
    if (!is_square(u, &first) || !fe_next_token(u, first.end, &t) || !is_square(u, &t))
        return false;
    for (int depth = 2; depth > 0 && fe_next_token(u, t.end, &t);) {
        depth += fe_bracket(u, &t);
        *VEC_PUSH(x->fe->a, &v) = t;
    }
    x->list =
        (struct fe_pragma){ .extent = { first.begin, t.end }, .tokens = v.at, .ntokens = v.n };
    return v.n > 2;
}

/* ------------------------------------------------------------------ writing */
static void put_text(struct expansion *x, unsigned begin, unsigned end)
{
    fwrite(x->fe->u->text + begin, 1, end - begin, x->out);
}

/* The next line begins with this place, after `used` characters less. */
static void put_marker(struct expansion *x, unsigned offset, unsigned used)
{
    struct omp_place p = fe_place(x->fe->u, offset);
    fprintf(x->out, "\n# %u \"", p.line);
    for (const char *c = p.file; *c; c++)
        fprintf(x->out,
                (unsigned char)*c < ' '   ? "\\%03o"
                : *c == '"' || *c == '\\' ? "\\%c"
                                          : "%c",
                *c);
    fprintf(x->out, "\"%s\n", fe_is_system(x->fe, offset) ? " 3" : "");
    fprintf(x->out, "%*s", p.col > used + 1 ? (int)(p.col - used - 1) : 0, "");
}

/* Tokens [b, e) as one line of the preprocessor; markers in it go. */
static void put_line(struct expansion *x, unsigned b, unsigned e)
{
    static const char word[] = "#pragma omp ";
    const struct fe_token *t = x->list.tokens;
    const char *text = x->fe->u->text;
    put_marker(x, t[b].begin, sizeof word - 1);
    fputs(word, x->out);
    for (unsigned k = b; k < e; k++) {
        put_text(x, t[k].begin, t[k].end);
        bool line_ends = memchr(text + t[k].end, '\n', t[k + 1].begin - t[k].end);
        if (k + 1 < e && line_ends)
            fputs(" \\\n", x->out);
        else if (k + 1 < e)
            put_text(x, t[k].end, t[k + 1].begin);
    }
}

/* ------------------------------------------------------------------ attributes */
/* Is it `omp::word(` with, or in a sequence without, `omp::`?  Then *open is its parenthesis. */
static bool is_directive(const struct expansion *x, unsigned k, bool scoped, const char *word,
                         unsigned *open)
{
    const struct fe *fe = x->fe;
    const struct fe_pragma *l = &x->list;
    bool has_scope = fe_word_at(fe, l, k, "omp") && fe_word_at(fe, l, k + 1, ":");
    unsigned at = has_scope ? k + 3 : k;
    *open = at + 1;
    return (has_scope || !scoped) && fe_word_at(fe, l, at, word) && fe_word_at(fe, l, at + 1, "(");
}

/* Writes the lines of the attribute whose tokens are [b, e); false: it is another one. */
static bool expand(struct expansion *x, unsigned b, unsigned e, bool scoped)
{
    unsigned open;
    if (is_directive(x, b, scoped, "directive", &open)) {
        put_line(x, open + 1, fe_closing(x->fe, &x->list, open));
        return true;
    }
    if (is_directive(x, b, true, "decl", &open)) {
        unsigned close = fe_closing(x->fe, &x->list, open);
        fe_report(x->fe->u, fe_place(x->fe->u, x->list.tokens[b].begin), DIAG_ERROR,
                  "'omp::decl' is not supported; write '#pragma omp %s' with the declared names",
                  fe_text(x->fe, (struct omp_extent){ x->list.tokens[open + 1].begin,
                                                      x->list.tokens[close - 1].end }));
        x->errors++;
        return true;
    }
    if (!is_directive(x, b, scoped, "sequence", &open))
        return false;
    e = fe_closing(x->fe, &x->list, open);
    for (unsigned k = open + 1, end; k < e; k = end + 1) {
        end = fe_find_top(x->fe, &x->list, k, e, ",");
        expand(x, k, end, false);
    }
    return true;
}

/* The list without its directives; true if it had some. */
static bool expand_list(struct expansion *x)
{
    const struct fe_pragma *l = &x->list;
    unsigned last = l->ntokens - 2; /* of the closing brackets */
    bool any = false;
    char *rest = NULL;
    size_t size = 0;
    FILE *others = open_memstream(&rest, &size);
    for (unsigned k = 0, end; others && k < last; k = end + 1) {
        end = fe_find_top(x->fe, l, k, last, ",");
        if (end > k && expand(x, k, end, true))
            any = true;
        else if (end > k)
            fprintf(others, "[[%.*s]]", (int)(l->tokens[end - 1].end - l->tokens[k].begin),
                    x->fe->u->text + l->tokens[k].begin);
    }
    if (others)
        fclose(others);
    if (any && size)
        fprintf(x->out, "\n%s", rest);
    free(rest);
    return any;
}

static void expand_all(struct expansion *x)
{
    const struct omp_unit *u = x->fe->u;
    struct fe_token t;
    for (unsigned i = 0; fe_next_token(u, i, &t); i = t.end) {
        if (!read_list(x, t))
            continue;
        put_text(x, x->written, t.begin);
        x->written = t.begin;
        if (expand_list(x)) {
            x->written = x->list.extent.end;
            put_marker(x, x->written, 0);
        }
        t.end = x->list.extent.end;
    }
    put_text(x, x->written, (unsigned)u->length);
}

char *fe_expand_attributes(const char *path, char *text, size_t *length, int *errors)
{
    char *written = NULL;
    struct expansion x = { 0 };
    *errors = 0;
    if (!memmem(text, *length, "directive", 9) && !memmem(text, *length, "decl", 4))
        return text;
    struct arena *a = arena_new();
    x.fe = arena_alloc(a, sizeof *x.fe);
    x.fe->a = a;
    x.fe->u = arena_alloc(a, sizeof *x.fe->u);
    *x.fe->u = (struct omp_unit){ .path = path, .text = text, .length = *length, .arena = a };
    x.out = open_memstream(&written, length);
    fe_scan_lines(x.fe);
    if (x.out) {
        expand_all(&x);
        fclose(x.out);
        text = mem_strndup(written, *length);
    }
    *errors = x.errors;
    if (x.errors)
        fe_show_messages(x.fe->u);
    free(written);
    arena_free(a);
    return text;
}
