/* types.c - random types: scalars, arrays, structs, unions, bit-fields, inside each other.
 *
 * Each but a scalar has a typedef NAME and three functions, in both files: fill_NAME(p, v) writes all of it, hash_NAME(p) reads all of it,
 * add_NAME(p, q) adds q's values to p's, in any order with the same result. */
#include "gen.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct scalar scalars[] = {
    { "int", "(unsigned)%s", "(int)((%s) & 0xffffff)", true },
    { "unsigned", "%s", "%s", true },
    { "char", "(unsigned)%s", "(char)((%s) & 63)", false },
    { "signed char", "(unsigned)%s", "(signed char)((%s) & 63)", false },
    { "unsigned char", "(unsigned)%s", "(unsigned char)(%s)", true },
    { "short", "(unsigned)%s", "(short)((%s) & 1023)", false },
    { "unsigned short", "(unsigned)%s", "(unsigned short)(%s)", true },
    { "long", "big((unsigned long long)%s)", "(long)(%s) * 0x10001", true },
    { "unsigned long", "big(%s)", "(%s) * 0x100000001ul", true },
    { "long long", "big((unsigned long long)%s)", "-(long long)(%s)", true },
    { "_Bool", "(unsigned)%s", "(_Bool)((%s) & 1)", false },
    { "float", "(unsigned)%s", "(float)((%s) & 1023)", true },
    { "double", "(unsigned)%s", "(double)((%s) & 0xfffff)", true },
    { "enum colour", "(unsigned)%s", "(enum colour)((%s) %% 3u)", false },
    { "size_t", "big(%s)", "(size_t)(%s) << 3", true },
    { "float _Complex", "rf(%s)", "cf(%s)", true },
    { "double _Complex", "rd(%s)", "cd(%s)", true },
    { "unsigned __int128", "huge(%s)", "(unsigned __int128)(%s) << 40", true },
    { "four", "lanes(%s)", "spread(%s)", false },
    { "int64_t", "big((unsigned long long)%s)", "(int64_t)(%s) << 8", true },
};
/* Those of bit-fields: the mask is the width's. */
static const struct scalar fields[] = {
    { "unsigned", "(unsigned)%s", "%s", true },
    { "int", "((unsigned)%s & 1u)", "(int)((%s) & 1u)", false },
    { "_Bool", "(unsigned)%s", "(_Bool)((%s) & 1)", false },
    { "unsigned long long", "big(%s)", "%s", true },
    { "unsigned char", "(unsigned)%s", "(unsigned char)(%s)", true },
};

static struct type *new_type(void)
{
    struct type *t = calloc(1, sizeof *t);
    if (!t) abort();
    return t;
}
static struct type *scalar_of(const struct scalar *s)
{
    struct type *t = new_type();
    snprintf(t->name, sizeof t->name, "%s", s->name);
    t->scalar = s;
    t->leaves[t->nleaves++] = (struct leaf){ text("%s", ""), s };
    return t;
}
struct type *scalar_type(void) { return scalar_of(PICK(scalars)); }
struct type *named_scalar(const char *name)
{
    for (size_t i = 0; i < COUNT(scalars); i++)
        if (!strcmp(scalars[i].name, name)) return scalar_of(&scalars[i]);
    abort();
}

static void add_leaves(struct type *to, const char *before, const struct type *from)
{
    for (int i = 0; i < from->nleaves && to->nleaves < (int)COUNT(to->leaves); i++)
        to->leaves[to->nleaves++] = (struct leaf){ text("%s%s", before, from->leaves[i].path), from->leaves[i].scalar };
}

/* One line of each of the three functions, for a value at `at` of both. */
static char *fill_line(const struct type *t, const char *p, int k)
{
    char *v = text("v * %du + %du", 2 * k + 1, k);
    return t->scalar ? text("%s = %s;", p, text(t->scalar->make, v)) : text("fill_%s(&%s, %s);", t->name, p, v);
}
static char *hash_line(const struct type *t, const char *p)
{
    return t->scalar ? text("h = h * 31u + %s;", text(t->scalar->read, text("(%s)", p))) : text("h = h * 33u + hash_%s(&%s);", t->name, p);
}
static char *add_line(const struct type *t, const char *p, const char *q)
{
    if (!t->scalar) return text("add_%s(&%s, &%s);", t->name, p, q);
    if (t->scalar->sums) return text("%s += %s;", p, q);
    return text(!strncmp(t->scalar->name, "enum", 4) ? "%1$s = %1$s > %2$s ? %1$s : %2$s;" : "%1$s |= %2$s;", p, q);
}
static void put_functions(const struct type *t, const char *fill, const char *hash, const char *add)
{
    put(BOTH, "static inline void fill_%1$s(%1$s *p, unsigned v)\n{\n%2$s}\n", t->name, fill);
    put(BOTH, "static inline unsigned hash_%1$s(%1$s *p)\n{\n    unsigned h = 7;\n%2$s    return h;\n}\n", t->name, hash);
    put(BOTH, "static inline void add_%1$s(%1$s *p, %1$s *q)\n{\n%2$s}\n", t->name, add);
}

struct type *array_of(struct type *of, int n)
{
    struct type *t = new_type();
    snprintf(t->name, sizeof t->name, "t%d_%lu", fresh(), seed);
    t->of = of, t->n = n;
    for (int i = 0; i < n; i++) add_leaves(t, text("[%d]", i), of);
    put(BOTH, "typedef %s %s[%d];\n", of->name, t->name, n);
    const char *loop = "    for (int i = 0; i < %d; i++) {\n        %s\n    }\n";
    char *fill = text("    for (int i = 0; i < %d; i++, v++) {\n        %s\n    }\n", n, fill_line(of, "(*p)[i]", 1));
    put_functions(t, fill, text(loop, n, hash_line(of, "(*p)[i]")), text(loop, n, add_line(of, "(*p)[i]", "(*q)[i]")));
    return t;
}

static char *spell_member(const struct member *m)
{
    const char *aligned = !m->bits && chance(8) ? m->type->scalar ? WORD("_Alignas(16) ", "_Alignas(32) ") : "_Alignas(8) _Alignas(64) " : "";
    if (*aligned) return text("%s%s %s;", aligned, m->type->name, m->name);
    return m->bits ? text("%s %s : %d;", m->type->name, m->name, m->bits) : text("%s %s;", m->type->name, m->name);
}
/* A struct or a union; for a union the first member is the one that is used. */
struct type *random_struct(int depth)
{
    struct type *t = new_type();
    static const char *const names[] = { "a", "b", "x", "y", "h" };       /* variables have these names, too */
    t->is_union = chance(15);
    int n = 1 + (int)below(4), from = (int)below(5);
    char *members = text("%s", " "), *fill = text("%s", ""), *hash = fill, *add = fill;
    for (int i = 0; i < n; i++) {
        struct member *m = &t->members[t->nmembers++];
        snprintf(m->name, sizeof m->name, "%s", names[(from + i) % 5]);
        if (!t->is_union && chance(25)) m->type = scalar_of(PICK(fields)), m->bits = 1 + (int)below(7) * !!strcmp(m->type->name, "_Bool");
        else m->type = random_type(depth + 1);
        members = text("%s%s ", members, spell_member(m));
        if (m->bits && chance(20)) members = text("%sunsigned : 0; ", members);
        if (i && t->is_union) continue;
        char *p = text("p->%s", m->name);
        add_leaves(t, text(".%s", m->name), m->type);
        fill = text("%s    %s\n", fill, fill_line(m->type, p, i + 1));
        hash = text("%s    %s\n", hash, hash_line(m->type, p));
        add = text("%s    %s\n", add, add_line(m->type, p, text("q->%s", m->name)));
    }
    int id = fresh();
    snprintf(t->name, sizeof t->name, "t%d_%lu", id, seed);
    t->spelling = text("%s {%s}", t->is_union ? "union" : "struct", members);
    put(BOTH, "typedef %s s%d_%lu {%s} %s;\n", t->is_union ? "union" : "struct", id, seed, members, t->name);
    put_functions(t, fill, hash, add);
    return t;
}

struct type *random_type(int depth)
{
    switch (depth > 2 ? 0 : below(5)) {
    case 0: case 1: return scalar_type();
    case 2: return array_of(random_type(depth + 1), 1 + (int)below(4));
    default: return random_struct(depth);
    }
}
