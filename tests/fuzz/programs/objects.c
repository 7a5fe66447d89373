/* objects.c - variables of every storage, views of what may be touched, expressions and statements on them. */
#include "gen.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct view views[256];
int nviews;
static struct term { char *value; int hidden; } terms[64];
static int nterms, depth;

/* ---- views */
struct scope begin_scope(void) { return (struct scope){ nviews, nterms, ++depth }; }
void end_scope(struct scope s)
{
    nviews = s.views, nterms = s.terms;
    for (int i = 0; i < nviews; i++) views[i].hidden *= views[i].hidden < s.depth;
    for (int i = 0; i < nterms; i++) terms[i].hidden *= terms[i].hidden < s.depth;
    depth = s.depth - 1;
}
void see_nothing(void) { nviews = nterms = depth = 0; }
void see(char *root, struct type *t, bool writable, bool nameless)
{
    if (nviews < (int)COUNT(views)) views[nviews++] = (struct view){ root, t, writable, nameless, 0 };
}
void see_term(char *unsigned_value)
{
    if (nterms < (int)COUNT(terms)) terms[nterms++] = (struct term){ unsigned_value, 0 };
}
static bool has_name(const char *s, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = s; (at = strstr(at, name)); at += n)
        if (!isalnum((unsigned char)at[n]) && at[n] != '_' && (at == s || (!isalnum((unsigned char)at[-1]) && at[-1] != '_' && at[-1] != '.'))) return true;
    return false;
}
void hide(const char *name)
{
    for (int i = 0; i < nviews; i++)
        if (!views[i].hidden && has_name(views[i].root, name)) views[i].hidden = depth;
    for (int i = 0; i < nterms; i++)
        if (!terms[i].hidden && has_name(terms[i].value, name)) terms[i].hidden = depth;
}
void hide_pointers(void)
{
    for (int i = 0; i < nviews; i++)
        if (!views[i].hidden && (*views[i].root == '(' || strstr(views[i].root, "->"))) views[i].hidden = depth;
}
struct view *some_view(bool writable)
{
    struct view *found[COUNT(views)];
    unsigned n = 0;
    for (int i = 0; i < nviews; i++)
        if (!views[i].hidden && (views[i].writable || !writable)) found[n++] = &views[i];
    return n ? found[below(n)] : NULL;
}
void freeze(void)
{
    for (int i = 0; i < nviews; i++) views[i].writable = false;
}

/* ---- expressions: unsigned, without side effects */
static char *read_leaf(const struct view *v)
{
    const struct leaf *l = &v->type->leaves[below((unsigned)v->type->nleaves)];
    return text("(%s)", text(l->scalar->read, text("%s%s", v->root, l->path)));
}
static char *some_term(void)
{
    struct term *t = nterms ? &terms[below((unsigned)nterms)] : NULL;
    return t && !t->hidden ? t->value : NULL;
}
char *small(void)
{
    char *t = chance(40) ? some_term() : NULL;
    struct view *v = chance(80) ? some_view(false) : NULL;
    return t ? t : v ? read_leaf(v) : text("%uu", below(100));
}
char *expression(void)
{
    static const char *const forms[] = {
        "%s + %s", "%s - %s", "(%s ^ %s)", "%s * %s", "(%s & %s)", "(%s | %s)", "(%1$s & 1u ? %2$s : %1$s + 1u)", "(%s << 2) + %s", "(%s >> 3) - %s", "%s %% 7u + %s",
        "(%s < %s)", "(%s && %s)",
    };
    char *e = small();
    for (unsigned n = below(3); n--;) e = text("(%s)", text(*PICK(forms), e, small()));
    return e;
}
void set_something(void)
{
    char *e = expression();
    struct view *v = some_view(true);
    if (!v) return;
    const struct leaf *l = &v->type->leaves[below((unsigned)v->type->nleaves)];
    line("%s%s = %s;", v->root, l->path, text(l->scalar->make, text("(%s)", e)));
}

void fill(struct view v, const char *value)
{
    if (v.type->scalar || v.nameless) {
        for (int i = 0; i < v.type->nleaves; i++)
            line("%s%s = %s;", v.root, v.type->leaves[i].path, text(v.type->leaves[i].scalar->make, text("(%s + %du)", value, i)));
        return;
    }
    line("fill_%s(&%s, %s);", v.type->name, v.root, value);
}
void mix(struct view v)
{
    if (v.type->scalar || v.nameless) {
        for (int i = 0; i < v.type->nleaves; i++)
            line("h = h * 37u + %s;", text(v.type->leaves[i].scalar->read, text("(%s%s)", v.root, v.type->leaves[i].path)));
        return;
    }
    line("h = h * 37u + hash_%s(&%s);", v.type->name, v.root);
}

/* ---- objects */
static char *file_name(const char *kind) { return text("%s%d_%lu", kind, fresh(), seed); }
bool is_target(const struct object *o) { return o->storage == TARGET_GLOBAL || o->storage == TARGET_EXTERN; }

static void declare_local(struct object *o)
{
    const char *t = o->type->name;
    o->name = text("%s%d", WORD("x", "y", "a", "v"), fresh());
    switch (o->storage) {
    case NAMELESS: line("%s %s;", o->type->spelling, o->name); break;
    case STATIC: line("static %s %s;", t, o->name); break;
    case HEAP: line("%s *%s = malloc(%d * sizeof *%s);", t, o->name, o->count, o->name); break;
    case VLA: line("%s %s[%d * one];", t, o->name, o->count); break;
    case VLA_2: line("%s %s[%d * one][%d * one];", t, o->name, o->rows, o->count); break;
    default: line("%s %s;", t, o->name);
    }
}
static void declare_parameter(struct object *o)
{
    const char *t = o->type->name;
    o->name = text("q%d", fresh());
    if (o->storage == POINTER) {
        put(PARAMETERS, WORD(", %s *%s", ", %s %s[]", ", %s %s[static 1]"), t, o->name);
        put(HEAD, "static %s store_%s_%lu[%d];\n", t, o->name, seed, o->count);
        put(ARGUMENTS, ", store_%s_%lu", o->name, seed);
        return;
    }
    put(PARAMETERS, ", %s %s", t, o->name);
    put(HEAD, "static %s value_%s_%lu;\n", t, o->name, seed);
    put(ARGUMENTS, ", value_%s_%lu", o->name, seed);
}
static void declare_global(struct object *o)
{
    static const char begin[] = "#pragma omp begin declare target\n", end[] = "#pragma omp end declare target\n";
    const char *t = o->type->name;
    o->name = file_name("g");
    bool target = is_target(o);
    if (o->storage == GLOBAL || o->storage == TARGET_GLOBAL) {
        put(HEAD, "%s%s%s %s;\n%s", target ? begin : "", WORD("static ", ""), t, o->name, target ? end : "");
        return;
    }
    put(BOTH, "%sextern %s %s;\n%s", target ? begin : "", t, o->name, target ? end : "");
    put(OTHER, "%s %s;\n", t, o->name);
}

struct object new_object(enum storage s, struct type *t)
{
    if (s == NAMELESS && !t->spelling) s = LOCAL;
    if (s == PARAMETER && t->of) s = LOCAL;
    struct object o = { .type = t, .storage = s };
    if (s == HEAP || s == VLA || s == POINTER || s == VLA_2) o.count = 1 + (int)below(4);
    if (s == VLA_2) o.rows = 1 + (int)below(3);
    if (s == PARAMETER || s == POINTER) declare_parameter(&o);
    else if (s >= GLOBAL && s <= TARGET_EXTERN) declare_global(&o);
    else declare_local(&o);
    return o;
}
struct object random_object(void) { return new_object((enum storage)below(STORAGES), random_type(0)); }

/* What of it is an lvalue of its type; k counts. */
static char *element(const struct object *o, int k)
{
    if (o->rows) return text("%s[%d][%d]", o->name, k / o->count, k % o->count);
    return o->count ? text("%s[%d]", o->name, k) : o->name;
}
static int elements(const struct object *o) { return o->rows ? o->rows * o->count : o->count ? o->count : 1; }
void see_object(const struct object *o, bool writable)
{
    for (int k = 0; k < elements(o); k++) see(element(o, k), o->type, writable, o->storage == NAMELESS);
}
/* In a loop where there are several. */
static char *open_elements(const struct object *o)
{
    if (!o->count) return o->name;
    int k = fresh();
    if (o->rows) line("for (int k%1$d = 0; k%1$d < %2$d; k%1$d++)\nfor (int m%1$d = 0; m%1$d < %3$d; m%1$d++)", k, o->rows, o->count);
    else line("for (int k%1$d = 0; k%1$d < %2$d; k%1$d++)", k, o->count);
    open_block();
    return text(o->rows ? "%1$s[k%2$d][m%2$d]" : "%1$s[k%2$d]", o->name, k);
}
void fill_object(const struct object *o)
{
    unsigned v = below(1000);
    char *at = open_elements(o);
    fill((struct view){ at, o->type, true, o->storage == NAMELESS, 0 }, o->count ? text("%uu + (unsigned)k%d", v, atoi(strrchr(at, '[') + 2)) : text("%uu", v));
    if (o->count) close_block();
}
void mix_object(const struct object *o)
{
    char *at = open_elements(o);
    mix((struct view){ at, o->type, true, o->storage == NAMELESS, 0 });
    if (o->count) close_block();
}

char *address_of(const struct object *o) { return o->count ? o->name : text("&%s", o->name); }
char *size_of(const struct object *o)
{
    bool pointer = o->storage == HEAP || o->storage == POINTER;
    return pointer ? text("%d * sizeof *%s", o->count, o->name) : text("sizeof %s", o->name);
}
char *mapped(const struct object *o)
{
    bool pointer = o->storage == HEAP || o->storage == POINTER;
    if (pointer) return text(chance(70) ? "%s[0:%d]" : "%s[:%d]", o->name, o->count);
    if (o->storage == VLA && chance(30)) return text("%s[0:%d]", o->name, o->count);
    return o->name;
}
void save(const char *address, const char *size, int *id)
{
    *id = fresh();
    line("SAVE(%d, %s, %s);", *id, address, size);
}
void restore(const char *address, const char *size, int id) { line("RESTORE(%d, %s, %s);", id, address, size); }
