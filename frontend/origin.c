/* origin.c - where the user wrote a token of the preprocessed text.
 *
 * The user's line and the preprocessed one are compared token by token.  A use of a macro in the
 * first stands for any number of tokens of the second, as `*` in a file name pattern:
 *
 *     the file     { s++; OUTER(s); }
 *     as pattern   { s++; *        ; }
 *     the text     { s++; do { __asm__("nop"); s = 1; } while (0); }
 *
 * Which names are macros, and what they are, libclang knows from the user's own file.  It reads it
 * only where a message is about a line that preprocessing has changed.  A directive that comes from
 * `_Pragma` counts as that word's expansion. */
#include "frontend/origin.h"
#include "driver/base/file.h"
#include "frontend/fe.h"
#include <clang-c/Index.h>
#include <string.h>

struct token {
    const char *at;
    unsigned length, line, column;
    bool sign; /* punctuation */
};
typedef VEC(struct token) token_list;
struct element { /* [first, end) of the line's tokens: one, or a use of a macro */
    unsigned first, end;
    bool any; /* stands for any tokens */
};
typedef VEC(struct element) element_list;
struct line {
    token_list tokens;
    element_list elements;
    bool open; /* it ends within the arguments of a macro */
};

/* ------------------------------------------------------------------ the user's file */
static struct {
    int nargs;
    const char *const *args;
    CXTranslationUnit tu;
    bool tried;
} user;

void fe_set_command(int nargs, const char *const *args)
{
    user.nargs = nargs;
    user.args = args;
}

static CXTranslationUnit user_unit(void)
{
    if (!user.tried && user.nargs) {
        const unsigned how = CXTranslationUnit_DetailedPreprocessingRecord |
                             CXTranslationUnit_SkipFunctionBodies | CXTranslationUnit_KeepGoing;
        if (clang_parseTranslationUnit2(clang_createIndex(0, 0), NULL, user.args, user.nargs, NULL,
                                        0, how, &user.tu) != CXError_Success)
            user.tu = NULL;
    }
    user.tried = true;
    return user.tu;
}

struct search {
    const char *name;
    size_t length;
    CXCursor found;
};

static enum CXChildVisitResult compare_name(CXCursor c, CXCursor parent, CXClientData data)
{
    struct search *s = data;
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_MacroDefinition)
        return CXChildVisit_Continue;
    CXString name = clang_getCursorSpelling(c);
    const char *text = clang_getCString(name);
    if (text && strlen(text) == s->length && !memcmp(text, s->name, s->length))
        s->found = c; /* the last definition counts */
    clang_disposeString(name);
    return CXChildVisit_Continue;
}

/* A null cursor: the word is no macro. */
static CXCursor macro_named(const struct token *t)
{
    struct search s = { t->at, t->length, clang_getNullCursor() };
    CXTranslationUnit tu = user_unit();
    if (tu)
        clang_visitChildren(clang_getTranslationUnitCursor(tu), compare_name, &s);
    return s.found;
}

/* ------------------------------------------------------------------ lines as tokens */
static bool is_word(const struct token *t, const char *word)
{
    return t->length == strlen(word) && !memcmp(t->at, word, t->length);
}

static bool same_token(const struct token *a, const struct token *b)
{
    return a->length == b->length && !memcmp(a->at, b->at, a->length);
}

static void read_tokens(token_list *out, const char *text, size_t length, unsigned line)
{
    const struct omp_unit u = { .text = (char *)text, .length = length };
    const char *begin = text;
    for (unsigned i = fe_skip_space(&u, 0), seen = 0; i < length; i = fe_skip_space(&u, i)) {
        struct fe_token t;
        for (; seen < i; seen++)
            if (text[seen] == '\n') {
                line++;
                begin = text + seen + 1;
            }
        unsigned end = fe_scan_token(&u, i, (unsigned)length, &t);
        *VEC_PUSH(NULL, out) =
            (struct token){ text + i, end - i, line, (unsigned)(text + i - begin) + 1,
                            t.kind == TOK_PUNCT };
        i = end;
    }
}

/* The end of the line, or of the `more`th after it; a backslash continues one. */
static size_t line_length(const char *text, unsigned more)
{
    size_t n = 0;
    for (;; n++) {
        n += strcspn(text + n, "\n");
        bool goes_on = n && text[n - 1] == '\\';
        if (!text[n] || (!goes_on && !more--))
            return n;
    }
}

/* After the arguments that open at k; 0: they do not end here. */
static unsigned arguments_end(const token_list *l, unsigned k)
{
    int depth = 0;
    for (; k < l->n; k++) {
        depth += is_word(&l->at[k], "(") - is_word(&l->at[k], ")");
        if (depth == 0)
            return k + 1;
    }
    return 0;
}

static struct element element_at(struct line *l, unsigned k)
{
    const struct token *t = &l->tokens.at[k];
    bool pragma = is_word(t, "_Pragma");
    bool call = k + 1 < l->tokens.n && is_word(t + 1, "(");
    CXCursor macro = pragma ? clang_getNullCursor() : macro_named(t);
    if (!pragma && clang_Cursor_isNull(macro))
        return (struct element){ k, k + 1, false };
    if (!pragma && !clang_Cursor_isMacroFunctionLike(macro))
        return (struct element){ k, k + 1, true };
    unsigned end = call ? arguments_end(&l->tokens, k + 1) : k + 1;
    l->open |= !end;
    return (struct element){ k, end ? end : l->tokens.n, call };
}

static void read_line(struct line *l, const char *text, unsigned number)
{
    enum { LONGEST_CALL = 100 };
    for (unsigned more = 0; more < LONGEST_CALL; more++) {
        *l = (struct line){ 0 };
        read_tokens(&l->tokens, text, line_length(text, more), number);
        for (unsigned k = 0; k < l->tokens.n; k = l->elements.at[l->elements.n - 1].end)
            *VEC_PUSH(NULL, &l->elements) = element_at(l, k);
        if (!l->open)
            return;
    }
}

/* The element that the token `wanted` of the text belongs to; NULL: they do not fit. */
static const struct element *fit(const struct line *l, const token_list *text, unsigned wanted)
{
    const element_list *e = &l->elements;
    unsigned t = 0, k = 0, star = ~0u, resume = 0, found = ~0u;
    while (t < text->n) {
        if (k < e->n && e->at[k].any) {
            star = k++;
            resume = t;
            continue;
        }
        if (k < e->n && same_token(&l->tokens.at[e->at[k].first], &text->at[t])) {
            found = t == wanted ? k : found;
            t++, k++;
            continue;
        }
        if (star == ~0u)
            return NULL;
        found = resume == wanted ? star : found;
        t = ++resume;
        k = star + 1;
    }
    while (k < e->n && e->at[k].any)
        k++;
    return k == e->n && found < e->n ? &e->at[found] : NULL;
}

/* ------------------------------------------------------------------ what a macro consists of */
static struct omp_place place_of(CXSourceLocation at)
{
    CXString file;
    struct omp_place p;
    clang_getPresumedLocation(at, &file, &p.line, &p.col);
    p.file = mem_strdup(clang_getCString(file));
    clang_disposeString(file);
    return p;
}

static bool find_in_macro(CXCursor macro, const struct token *wanted, struct fe_origin *);

static bool find_in_tokens(CXCursor macro, CXToken *v, unsigned n, const struct token *wanted,
                           struct fe_origin *o)
{
    CXTranslationUnit tu = user_unit();
    struct fe_expansion *e = &o->expansions[o->nexpansions++];
    for (int deeper = 0; deeper < 2; deeper++)
        for (unsigned i = 1; i < n; i++) {
            CXString s = clang_getTokenSpelling(tu, v[i]);
            const char *text = mem_strdup(clang_getCString(s));
            struct token t = { text, (unsigned)strlen(text), 0, 0, false };
            clang_disposeString(s);
            e->place = place_of(clang_getTokenLocation(tu, v[i]));
            CXCursor inner = deeper ? macro_named(&t) : clang_getNullCursor();
            if (deeper ? !clang_Cursor_isNull(inner) && !clang_equalCursors(inner, macro) &&
                             find_in_macro(inner, wanted, o)
                       : same_token(&t, wanted))
                return true;
        }
    o->nexpansions--;
    return false;
}

/* The token in the definition, or in those of the macros that it uses. */
static bool find_in_macro(CXCursor macro, const struct token *wanted, struct fe_origin *o)
{
    CXToken *tokens = NULL;
    unsigned n = 0;
    if (o->nexpansions == sizeof o->expansions / sizeof *o->expansions)
        return false;
    CXString name = clang_getCursorSpelling(macro);
    o->expansions[o->nexpansions].macro = mem_strdup(clang_getCString(name));
    clang_disposeString(name);
    clang_tokenize(user_unit(), clang_getCursorExtent(macro), &tokens, &n);
    bool found = find_in_tokens(macro, tokens, n, wanted, o);
    clang_disposeTokens(user_unit(), tokens, n);
    return found;
}

/* Which of the signs of a definition it is cannot be told: the macro as a whole. */
static void name_macro(CXCursor macro, struct fe_origin *o)
{
    CXString name = clang_getCursorSpelling(macro);
    o->expansions[o->nexpansions++] =
        (struct fe_expansion){ place_of(clang_getCursorLocation(macro)),
                               mem_strdup(clang_getCString(name)) };
    clang_disposeString(name);
}

/* The token itself; of a macro's, in the arguments where it stands there, else the macro's name. */
static void find_in_use(const struct line *l, const struct element *e, const struct token *wanted,
                        struct fe_origin *o)
{
    static const struct token pragma = { "_Pragma", 7, 0, 0, false };
    const struct token *name = &l->tokens.at[e->first], *at = name;
    for (unsigned k = e->first + 1; k < e->end && at == name && !wanted->sign; k++)
        if (same_token(&l->tokens.at[k], wanted))
            at = &l->tokens.at[k];
    o->place.line = at->line;
    o->place.col = at->column;
    CXCursor macro = e->any && at == name ? macro_named(name) : clang_getNullCursor();
    if (clang_Cursor_isNull(macro))
        return;
    if (wanted->sign)
        name_macro(macro, o);
    else if (!find_in_macro(macro, wanted, o))
        find_in_macro(macro, &pragma, o);
}

/* ------------------------------------------------------------------ the whole */
/* Then libclang need not be asked what is a macro. */
static bool is_unchanged(struct line *l, const char *text, unsigned number, const token_list *seen)
{
    *l = (struct line){ 0 };
    read_tokens(&l->tokens, text, line_length(text, 0), number);
    bool same = l->tokens.n == seen->n;
    for (unsigned k = 0; k < l->tokens.n && same; k++) {
        *VEC_PUSH(NULL, &l->elements) = (struct element){ k, k + 1, false };
        same = same_token(&l->tokens.at[k], &seen->at[k]);
    }
    return same;
}

bool fe_find_origin(struct omp_place p, const char *text, unsigned column, struct fe_origin *o)
{
    token_list tokens = { 0 };
    struct line l;
    const char *file = p.file && *p.file ? file_read(p.file, NULL) : NULL;
    for (unsigned n = 1; file && n < p.line; n++)
        file = (file = strchr(file, '\n')) ? file + 1 : NULL;
    if (!file)
        return false;
    *o = (struct fe_origin){ .place = p };
    read_tokens(&tokens, text, strlen(text), 1);
    unsigned wanted = 0;
    while (wanted < tokens.n &&
           tokens.at[wanted].at + tokens.at[wanted].length <= text + column - 1)
        wanted++;
    if (wanted == tokens.n)
        return false;
    if (!is_unchanged(&l, file, p.line, &tokens))
        read_line(&l, file, p.line);
    const struct element *e = fit(&l, &tokens, wanted);
    if (e)
        find_in_use(&l, e, &tokens.at[wanted], o);
    return e != NULL;
}
