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
 *     [[omp::decl(declare target)]] int x;        #pragma omp begin declare target
 *                                                 int x;
 *                                                 #pragma omp end declare target
 *     [[omp::decl(declare simd)]] int f(int);     #pragma omp declare simd
 *                                                 int f(int);
 *     [[omp::decl(groupprivate)]] static int x;   static int x;
 *                                                 #pragma omp groupprivate(x)
 *
 * at the beginning of a declaration.  After a declarator it is an error, since clang, which checks
 * the new text, would take it for an unknown attribute and go on. */
#include "frontend/fe.h"
#include <stdlib.h>
#include <string.h>

struct expansion {
    struct fe *fe;
    struct fe_pragma list; /* its tokens: from the first bracket to the end of the attributes */
    FILE *out;
    unsigned written; /* of the text */
    bool begins;      /* a declaration or statement begins with the list */
    bool declares;    /* there was an `omp::decl` */
    /* lines to be written after the declaration, and where that ends; NULL: none */
    const char *after;
    unsigned end;
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
    fputs(fe_marker(x->fe, p, fe_is_system(x->fe, offset)), x->out);
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

/* ------------------------------------------------------------------ declarations */
/* The names that the declaration after the attributes declares, and its end: a ';', or the brace
 * that closes a function's body. */
static const char *read_names(struct expansion *x)
{
    const struct omp_unit *u = x->fe->u;
    struct fe_token t, name = { TOK_PUNCT, 0, 0 }, last = name;
    const char *names = "", *comma = "";
    bool body = false, named = false;
    int depth = 0;
    for (unsigned i = x->list.extent.end; fe_next_token(u, i, &t); i = t.end, last = t) {
        int bracket = fe_bracket(u, &t);
        bool ends = !depth && fe_token_is(x->fe, &t, ";"),
             next = !depth && fe_token_is(x->fe, &t, ",");
        body |= !depth && fe_token_is(x->fe, &t, "{") && fe_token_is(x->fe, &last, ")");
        if (!depth && !named && t.kind == TOK_IDENT)
            name = t;
        named |= !depth && (bracket > 0 || fe_token_is(x->fe, &t, "="));
        depth += bracket;
        if (next || ends) {
            names = arena_printf(x->fe->a, "%s%s%s", names, comma,
                                 fe_text(x->fe, (struct omp_extent){ name.begin, name.end }));
            comma = ", ";
            named = false;
        }
        x->end = t.end;
        if (ends || (body && !depth))
            break;
    }
    return names;
}

/* The directives that list what they are about. */
static bool lists_names(const struct expansion *x, unsigned k)
{
    return fe_word_at(x->fe, &x->list, k, "threadprivate") ||
           fe_word_at(x->fe, &x->list, k, "groupprivate") ||
           fe_word_at(x->fe, &x->list, k, "allocate");
}

static void put_words(struct expansion *x, const char *words, unsigned b, unsigned e)
{
    put_marker(x, x->list.tokens[b].begin, 0);
    fprintf(x->out, "#pragma omp %s", words);
    for (unsigned k = b; k < e; k++) {
        fputc(' ', x->out);
        put_text(x, x->list.tokens[k].begin, x->list.tokens[k].end);
    }
}

static void add_after(struct expansion *x, const char *line)
{
    x->after = arena_printf(x->fe->a, "%s\n#pragma omp %s", x->after ? x->after : "", line);
}

/* Of the directive in tokens [b, e). */
static void declare(struct expansion *x, unsigned b, unsigned e)
{
    const struct fe_pragma *l = &x->list;
    bool joined = fe_word_at(x->fe, l, b, "declare_target"),
         target = joined ||
                  (fe_word_at(x->fe, l, b, "declare") && fe_word_at(x->fe, l, b + 1, "target"));
    const char *names = read_names(x);
    x->declares = true;
    if (target) {
        put_words(x, "begin declare target", b + 1 + !joined, e);
        add_after(x, "end declare target");
    } else if (lists_names(x, b)) {
        struct omp_extent rest = { l->tokens[b].end, l->tokens[e - 1].end };
        add_after(x, arena_printf(x->fe->a, "%s(%s)%s",
                                  fe_text(x->fe, (struct omp_extent){ l->tokens[b].begin,
                                                                      l->tokens[b].end }),
                                  names, fe_text(x->fe, rest)));
    } else {
        put_line(x, b, e);
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
        if (x->begins) {
            declare(x, open + 1, close);
            return true;
        }
        fe_report(x->fe->u, fe_place(x->fe->u, x->list.tokens[b].begin), DIAG_ERROR,
                  "'omp::decl' is supported at the beginning of a declaration only; write '#pragma "
                  "omp %s' with the declared names",
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

/* The declaration has ended. */
static void put_after(struct expansion *x)
{
    put_text(x, x->written, x->end);
    fputs(x->after, x->out);
    put_marker(x, x->end, 0);
    x->written = x->end;
    x->after = NULL;
}

static bool begins_after(const struct expansion *x, const struct fe_token *last)
{
    return fe_token_is(x->fe, last, ";") || fe_token_is(x->fe, last, "{") ||
           fe_token_is(x->fe, last, "}");
}

static void expand_all(struct expansion *x)
{
    const struct omp_unit *u = x->fe->u;
    struct fe_token t, last = { TOK_PUNCT, 0, 0 };
    for (unsigned i = 0; fe_next_token(u, i, &t); i = t.end, last = t) {
        if (x->after && t.begin >= x->end)
            put_after(x);
        x->begins = !last.end || begins_after(x, &last);
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
    if (x->after)
        put_after(x);
    put_text(x, x->written, (unsigned)u->length);
}

char *fe_expand_attributes(const char *path, char *text, size_t *length, bool *declares,
                           int *errors)
{
    char *written = NULL;
    struct expansion x = { 0 };
    *errors = 0;
    *declares = false;
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
    *declares = x.declares;
    if (x.errors)
        fe_show_messages(x.fe->u);
    free(written);
    arena_free(a);
    return text;
}
