/* udr.c - user-defined reductions: `declare reduction(NAME : TYPES : COMBINER) initializer(…)`.
 *
 * The texts of combiner and initialiser are kept; codegen instantiates them for the type of each
 * list item.  What is decided here is which declaration an item means: of the visible ones with its
 * name and type, the innermost.  clang has checked that there is one; so types are only compared
 * where a name has several declarations. */
#include "frontend/fe.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ reading */
static bool is(const struct fe *fe, const struct fe_pragma *p, unsigned k, const char *s)
{
    return k < p->ntokens && p->tokens[k].end - p->tokens[k].begin == strlen(s) &&
           !strncmp(fe->u->text + p->tokens[k].begin, s, strlen(s));
}

/* First token from k on that is `s` outside of brackets, or the closing bracket around it. */
static unsigned find(const struct fe *fe, const struct fe_pragma *p, unsigned k, const char *s)
{
    for (int depth = 0; k < p->ntokens; k++) {
        char c = fe->u->text[p->tokens[k].begin];
        if (!depth && is(fe, p, k, s))
            return k;
        if (p->tokens[k].kind != TOK_PUNCT)
            continue;
        if (strchr("([{", c))
            depth++;
        if (strchr(")]}", c) && --depth < 0)
            return k;
    }
    return p->ntokens;
}

static struct omp_extent extent(const struct fe_pragma *p, unsigned b, unsigned e)
{
    return b < e && e <= p->ntokens
               ? (struct omp_extent){ p->tokens[b].begin, p->tokens[e - 1].end }
               : (struct omp_extent){ 0, 0 };
}

static unsigned read_argument(struct fe *fe, struct fe_pragma *p, unsigned k,
                              struct omp_extent *to) /* k: behind '(' */
{
    unsigned end = find(fe, p, k, ")");
    *to = extent(p, k, end);
    fe_note_refs(fe, p, k, end);
    return end + 1;
}

static unsigned read_initialiser(struct fe *fe, struct fe_pragma *p, unsigned k, struct omp_udr *d)
{
    d->init_is_call = !is(fe, p, k, "omp_priv") || !is(fe, p, k + 1, "=");
    if (d->init_is_call && !is(fe, p, k + 1, "("))
        fe_error_at(fe, d->place,
                    "the initializer of a 'declare reduction' is neither 'omp_priv = …' nor a "
                    "function call");
    return read_argument(fe, p, d->init_is_call ? k : k + 2, &d->init);
}

void fe_read_udr(struct fe *fe, struct fe_pragma *p)
{
    unsigned k = p->clauses_at, end;
    struct omp_udr d = { .place = p->c->place,
                         .scope = { p->extent.begin, fe_block_end(fe->u, p->extent.end) } };
    if (!is(fe, p, k, "("))
        return;
    end = find(fe, p, ++k, ":");
    d.name = fe_text(fe, extent(p, k, end));
    k = end + 1;
    end = find(fe, p, k, ":");
    d.types = extent(p, k, end);
    k = end + 1; /* OpenMP 6.0 has the combiner in a clause */
    if (is(fe, p, end, ":"))
        k = read_argument(fe, p, k, &d.combiner);
    while (k + 1 < p->ntokens) {
        if (is(fe, p, k, "combiner"))
            k = read_argument(fe, p, k + 2, &d.combiner);
        else if (is(fe, p, k, "initializer"))
            k = read_initialiser(fe, p, k + 2, &d);
        else
            k++;
    }
    if (d.combiner.end)
        *VEC_PUSH(fe->a, &fe->udrs) = d;
}

/* ------------------------------------------------------------------ types as text */
struct typedef_search {
    const char *name;
    unsigned before;
    CXType type;
    bool found;
};

static enum CXChildVisitResult find_typedef(CXCursor c, CXCursor parent, CXClientData data)
{
    struct typedef_search *s = data;
    (void)parent;
    if (clang_getCursorKind(c) != CXCursor_TypedefDecl)
        return CXChildVisit_Recurse;
    CXString name = clang_getCursorSpelling(c);
    if (!strcmp(clang_getCString(name), s->name) && fe_begin(c) < s->before) {
        s->type = clang_getTypedefDeclUnderlyingType(c);
        s->found = true;
    }
    clang_disposeString(name);
    return CXChildVisit_Continue;
}

static const char *canonical(struct fe *fe, CXType t)
{
    CXString s = clang_getTypeSpelling(clang_getUnqualifiedType(clang_getCanonicalType(t)));
    const char *text = arena_printf(fe->a, "%s", clang_getCString(s));
    clang_disposeString(s);
    return text;
}

/* Words of a builtin type in any order -> clang's spelling. */
static const char *builtin(struct fe *fe, const char *text)
{
    static const char *const words[] = { "unsigned", "signed",   "short",  "long",    "int",
                                         "char",     "float",    "double", "_Bool",   "_Complex",
                                         "_Float16", "__int128", "const",  "volatile" };
    enum { U, S, SHORT, LONG, INT, CHAR, FLOAT, DOUBLE, BOOL, COMPLEX, HALF, INT128, WORDS = 14 };
    unsigned n[WORDS] = { 0 };
    for (const char *p = text; *p;) {
        size_t length = strcspn(p, " \t\n"), w = 0;
        while (length && w < WORDS && (strlen(words[w]) != length || strncmp(words[w], p, length)))
            w++;
        if (w == WORDS)
            return NULL;
        if (length)
            n[w]++;
        p += length + strspn(p + length, " \t\n");
    }
    const char *sign = n[U] ? "unsigned " : "", *complex = n[COMPLEX] ? "_Complex " : "";
    if (n[FLOAT])
        return arena_printf(fe->a, "%sfloat", complex);
    if (n[DOUBLE])
        return arena_printf(fe->a, "%s%sdouble", complex, n[LONG] ? "long " : "");
    if (n[BOOL])
        return "_Bool";
    if (n[HALF])
        return "_Float16";
    if (n[INT128])
        return arena_printf(fe->a, "%s__int128", sign);
    if (n[CHAR])
        return arena_printf(fe->a, "%schar", n[S] ? "signed " : sign);
    return arena_printf(fe->a, "%s%s", sign,
                        n[SHORT]      ? "short"
                        : n[LONG] > 1 ? "long long"
                        : n[LONG]     ? "long"
                                      : "int");
}

static bool same_words(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " \t\n"), b += strspn(b, " \t\n");
        if (*a != *b)
            return false;
        if (!*a)
            return true;
    }
}

static bool names_type(struct fe *fe, const char *text, unsigned offset, const char *wanted)
{
    const char *b = builtin(fe, text);
    if (b)
        return !strcmp(b, wanted);
    if (same_words(text, wanted))
        return true;
    struct typedef_search s = { .name = text, .before = offset };
    clang_visitChildren(clang_getTranslationUnitCursor(fe->tu), find_typedef, &s);
    return s.found && !strcmp(canonical(fe, s.type), wanted);
}

static bool has_type(struct fe *fe, const struct omp_udr *d, const char *wanted)
{
    const char *list = fe_text(fe, d->types);
    while (*list) {
        size_t n = strcspn(list, ","), begin = strspn(list, " \t\n"), end = n;
        while (end > begin && isspace((unsigned char)list[end - 1]))
            end--;
        if (names_type(fe, arena_strndup(fe->a, list + begin, end - begin), d->scope.begin, wanted))
            return true;
        list += n + (list[n] == ',');
    }
    return false;
}

/* ------------------------------------------------------------------ looking up */
static bool is_arithmetic(CXType t)
{
    enum CXTypeKind k = clang_getCanonicalType(t).kind;
    return (k >= CXType_FirstBuiltin && k <= CXType_LastBuiltin) || k == CXType_Complex ||
           k == CXType_Enum;
}

static bool is_identifier(const char *s) { return isalpha((unsigned char)*s) || *s == '_'; }

const struct omp_udr *fe_find_udr(struct fe *fe, const char *name, CXType t, unsigned offset)
{
    const struct omp_udr *found = NULL;
    unsigned candidates = 0;
    for (CXType e;
         (e = clang_getArrayElementType(clang_getCanonicalType(t))).kind != CXType_Invalid;)
        t = e;
    bool predefined = !is_identifier(name) || !strcmp(name, "min") || !strcmp(name, "max");
    if (predefined && is_arithmetic(t))
        return NULL;
    for (unsigned i = 0; i < fe->udrs.n; i++)
        candidates += fe_inside(offset, fe->udrs.at[i].scope) && !strcmp(fe->udrs.at[i].name, name);
    for (unsigned i = 0; i < fe->udrs.n; i++) {
        const struct omp_udr *d = &fe->udrs.at[i];
        if (!fe_inside(offset, d->scope) || strcmp(d->name, name))
            continue;
        if (candidates == 1 || has_type(fe, d, canonical(fe, t)))
            found = d;
    }
    return found;
}
