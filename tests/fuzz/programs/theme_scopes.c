/* theme_scopes.c - statements of every form, names that hide others, types of blocks: in regions, and around them on the host. */
#include "gen.h"
#include <string.h>

enum { DEEP = 3, CONSTRUCTS = 2 };    /* from CONSTRUCTS on, no parallel loop: the statements may be in one */

static void inside(int depth)
{
    struct scope s = begin_scope();
    open_block();
    region_statements(depth + 1, 1 + (int)below(2));
    close_block();
    end_scope(s);
}

/* A new local: the name of something outside, one that generated code might have, or one of its own. */
static char *choose_name(void)
{
    if (chance(15)) return text("%s", WORD("__omp_env", "__omp_it_j", "__omp_n_j", "__omp_ub_j", "__k", "__s", "__o_h", "main_6", "tid", "restrict_", "asm_", "omp"));
    struct view *v = chance(60) ? some_view(false) : NULL;
    size_t n = v ? strcspn(v->root, ".[(-") : 0;
    return n && strncmp(v->root, "h", n) ? text("%.*s", (int)n, v->root) : text("n%d", fresh());
}
static void local(int depth)
{
    struct type *t = chance(50) ? scalar_type() : random_type(1);
    char *name = choose_name(), *value = small();
    struct scope s = begin_scope();
    open_block();
    line("const unsigned c%d = %s;", depth, value);
    see_term(text("c%d", depth));
    hide(name);
    bool nameless = t->spelling && chance(40);
    line("%s %s;", nameless ? t->spelling : t->name, name);
    struct view v = { name, t, true, nameless, 0 };
    fill(v, expression());
    see(name, t, true, nameless);
    region_statements(depth + 1, 1 + (int)below(2));
    close_block();
    end_scope(s);
}

static void assignment(int depth)
{
    (void)depth;
    set_something();
}
static void filling(int depth)
{
    (void)depth;
    char *e = expression();
    struct view *v = some_view(true);
    if (v) fill(*v, text("(%s)", e));
}
static void condition(int depth)
{
    line("if (%s & %uu)", expression(), 1u << below(3));
    inside(depth);
    if (chance(50)) {
        line("%s", WORD("else", "else if (!one) { h++; } else"));
        inside(depth);
    }
}
static void counted(int depth)
{
    const char *head[] = { "for (%1$s k%2$d = 0; k%2$d < %3$u; k%2$d++)", "for (%1$s k%2$d = %3$u; k%2$d-- > 0;)", "for (%1$s k%2$d = 1, m%2$d = 0; m%2$d < %3$u; k%2$d += 2, m%2$d++)" };
    int k = fresh();
    line(*PICK(head), WORD("int", "unsigned", "unsigned char", "long"), k, 1 + below(3));
    struct scope s = begin_scope();
    open_block();
    see_term(text("(unsigned)k%d", k));
    if (chance(30)) line("if (%s %% 5u == 3u) %s;", small(), WORD("break", "continue"));
    region_statements(depth + 1, 1 + (int)below(2));
    close_block();
    end_scope(s);
}
static void repeated(int depth)
{
    int k = fresh();
    bool first = chance(50);
    line("int k%d = %u;", k, 1 + below(3));
    line(first ? "while (k%d-- > 0)" : "do", k);
    inside(depth);
    if (!first) line("while (--k%d > 0);", k);
}
static void choice(int depth)
{
    line("switch (%s %% 4u)", expression());
    open_block();
    for (int i = 0; i < 3; i++) {
        line(i == 1 && chance(30) ? "case %d ... 2:" : i == 2 ? "default:" : "case %d:", i);
        inside(depth);
        if (chance(60)) line("break;");
    }
    close_block();
}
static void jump(int depth)
{
    int k = fresh();
    if (chance(50)) {
        line("if (%s & 1u) goto after%d;", expression(), k);
        inside(depth);
        line("after%d:;", k);
        return;
    }
    line("{ int n%1$d = 0; again%1$d:", k);
    inside(depth);
    line("if (++n%1$d < 3 && (%2$s & 1u)) goto again%1$d; }", k, small());
}
static void pointer(int depth)
{
    struct view *v = some_view(true);
    if (!v || v->nameless) return;
    int k = fresh();
    struct scope s = begin_scope();
    open_block();
    line("%s *p%d = &%s;", v->type->name, k, v->root);
    bool arrow = v->type->nmembers && chance(50);
    struct member *m = arrow ? &v->type->members[0] : NULL;
    if (m && !m->bits) see(text("p%d->%s", k, m->name), m->type, true, false);
    else see(text("(*p%d)", k), v->type, true, false);
    region_statements(depth + 1, 1 + (int)below(2));
    close_block();
    end_scope(s);
}
/* Of the struct's value: by assignment, through a function, as a compound literal. */
static void value_of_struct(int depth)
{
    struct view *v = some_view(true);
    (void)depth;
    if (!v || v->nameless || v->type->of || v->type->scalar) return;
    int k = fresh();
    switch (below(3)) {
    case 0: line("{ %1$s other%2$d = %3$s; %4$s fill_%1$s(&other%2$d, %5$s); %3$s = other%2$d; }", v->type->name, k, v->root, "", small()); break;
    case 1:
        put(HEAD, "static %1$s make%2$d_%3$lu(unsigned v)\n{\n    %1$s x;\n    fill_%1$s(&x, v);\n    return x;\n}\n", v->type->name, k, seed);
        line("%s = make%d_%lu(%s);", v->root, k, seed, expression());
        break;
    default: line("%s = (%s){ 0 };", v->root, v->type->name);
    }
}
static void block_types(int depth)
{
    int k = fresh();
    struct scope s = begin_scope();
    open_block();
    switch (below(5)) {
    case 0:
        line("struct inner { unsigned char a; unsigned b : 5, : 0, x : 9; } in%d = { .b = %s, .a = 3 };", k, small());
        see_term(text("in%d.b", k)), see_term(text("(unsigned)in%d.x", k));
        break;
    case 1:
        line("enum { ONE%1$d = %2$u, TWO%1$d }; typedef %3$s number; number in%1$d = (number)(TWO%1$d + ONE%1$d);", k, below(50), WORD("int", "unsigned short", "long"));
        see_term(text("(unsigned)in%d", k)), see_term(text("(unsigned)ONE%d", k));
        break;
    case 2:
        line("static const unsigned table%1$d[] = { 5, [3] = %2$u, 8 };", k, below(90));
        see_term(text("table%d[%s %% 5u]", k, small())), see_term(text("(unsigned)sizeof table%d", k));
        break;
    case 3:
        line("unsigned n%1$d = 1 + (%2$s) %% 5u, w%1$d[n%1$d]; for (unsigned k = 0; k < n%1$d; k++) w%1$d[k] = k * k;", k, small());
        see_term(text("w%d[n%d - 1]", k, k)), see_term(text("(unsigned)sizeof w%d", k));
        break;
    default:
        line("unsigned in%1$d = ({ unsigned t = %2$s; t ^ (t >> 3); }), (*f%1$d)(unsigned long long) = big;", k, expression());
        see_term(text("in%d", k)), see_term(text("f%d(in%d)", k, k));
    }
    region_statements(depth + 1, 1 + (int)below(2));
    close_block();
    end_scope(s);
}
/* What cannot be written, or must be each time it is said. */
static void qualified(int depth)
{
    struct type *t = scalar_type();
    char *name = choose_name(), *value = expression();
    const char *words = WORD("const", "volatile", "const volatile", "register", "_Alignas(32)", "const register", "__attribute__((aligned(64)))");
    bool kept = !strncmp(words, "const", 5);
    struct scope s = begin_scope();
    open_block();
    line("const unsigned c%d = %s;", depth, value);
    see_term(text("c%d", depth));
    hide(name);
    line("%s %s %s = %s;", words, t->name, name, text(t->scalar->make, text("c%d", depth)));
    see(name, t, !kept && strcmp(words, "register") && strcmp(words, "volatile"), true);
    region_statements(depth + 1, 1 + (int)below(2));
    close_block();
    end_scope(s);
}
/* Of the file: what a region reads without being told. */
static void table_of_file(int depth)
{
    int k = fresh();
    (void)depth;
    put(HEAD, "static %s table%d_%lu[%u] = { 3, [2] = %uu, 5 };\n", WORD("const unsigned", "const unsigned char", "unsigned", "const long"), k, seed, 4 + below(9), below(200));
    line("h += (unsigned)table%1$d_%2$lu[%3$s %% 4u];", k, seed, small());
}
static void comma(int depth)
{
    (void)depth;
    line("h = (%s, h * 3u) + %s;", WORD("(void)one", "(void)0", "h++"), expression());
}
static void generic(int depth)
{
    static const char *const values[] = {
        "_Generic(one, unsigned: %s, default: 7u)", "((unsigned[]){ 4, %s, 6 })[1]", "(unsigned)\"some text\"[%s %% 9u]", "(__typeof__(one))(%s)", "((struct { unsigned a, b[2]; }){ .b[1] = %s }).b[1]",
        "({ __label__ out; unsigned v = %s; if (v & 1) goto out; v++; out: v; })", "(unsigned)__builtin_popcount(%s)",
    };
    (void)depth;
    line("h += %s;", text(*PICK(values), small()));
}

/* A parallel loop over a local array; something outside may be private in it. */
static void parallel_loop(int depth)
{
    int k = fresh(), n = 1 + (int)below(12), saved = 0;
    struct view *own = some_view(true);
    if (own && (own->nameless || strcspn(own->root, ".[(-") != strlen(own->root) || !chance(50))) own = NULL;
    struct view mine = own ? *own : (struct view){ 0 };
    struct scope s = begin_scope();
    open_block();
    line("unsigned w%d[%d] = { %s };", k, n, small());
    bool first = chance(50), reduced = chance(40);
    if (reduced) line("unsigned r%d = %s;", k, small());
    if (own) save(text("&%s", mine.root), text("sizeof %s", mine.root), &saved);
    put(BODY, "#pragma omp parallel for%s", WORD("", "", " num_threads(5)", " schedule(dynamic)", " schedule(static, 2)"));
    if (own) put(BODY, first ? " firstprivate(%s)" : " private(%s)", mine.root);
    if (reduced) put(BODY, " reduction(+: r%d)", k);
    put(BODY, "\n");
    line("for (int j = 0; j < %d; j++)", n);
    /* It is not read but in the loop. */
    struct scope t = begin_scope();
    int before = nviews;
    bool kept[256];
    for (int i = 0; i < before; i++) kept[i] = views[i].writable;
    freeze();
    if (own) hide(mine.root), hide_pointers();
    open_block();
    see_term("(unsigned)j");
    if (own) {
        if (!first || chance(50)) {
            fill(mine, "(unsigned)j * 3u");
            see(mine.root, mine.type, true, false);
        } else {
            see(mine.root, mine.type, false, false);
        }
    }
    line("unsigned h = 1;");
    if (chance(40)) PART region_statements(depth > CONSTRUCTS ? depth : CONSTRUCTS, 1);
    line("w%d[j] += h + %s;", k, expression());
    if (reduced) line("r%d += %s;", k, expression());
    close_block();
    end_scope(t);
    for (int i = 0; i < before; i++) views[i].writable = kept[i];
    if (own) restore(text("&%s", mine.root), text("sizeof %s", mine.root), saved);
    see_term(text("w%d[%d]", k, (int)below((unsigned)n)));
    if (reduced) see_term(text("r%d", k));
    set_something();
    set_something();
    close_block();
    end_scope(s);
}

void region_statements(int depth, int n)
{
    static void (*const kinds[])(int) = {
        assignment, filling, value_of_struct, comma, generic, table_of_file, parallel_loop, parallel_loop, condition, counted, choice, jump, pointer, local, local, block_types, qualified, repeated,
    };
    enum { FLAT = 6, CONSTRUCT = 8 };
    if (!depth) put(BODY, "%s", "");
    while (n--) {
        unsigned k = below(depth >= DEEP ? FLAT : COUNT(kinds));
        if (k >= FLAT && k < CONSTRUCT && depth >= CONSTRUCTS) k = 0;
        PART {
            if (kinds[k] == repeated) open_block();
            kinds[k](depth);
            if (kinds[k] == repeated) close_block();
        }
    }
}

/* ---- on the host: regions at any depth, with what can be seen there */
static struct object seen[16];
static int nseen;

static void host_region(void)
{
    struct scope s = begin_scope();
    see_nothing();
    char *maps = text("%s", "map(tofrom: out)");
    int from = nseen > 5 ? nseen - 5 : 0;
    for (int i = from; i < nseen; i++) {
        bool last = true;
        for (int k = i + 1; k < nseen; k++) last &= strcmp(seen[i].name, seen[k].name) != 0;
        if (!last || chance(20)) continue;
        maps = text("%s map(tofrom: %s)", maps, mapped(&seen[i]));
        see_object(&seen[i], true);
    }
    line("#pragma omp target%s %s", WORD("", " teams num_teams(1)", " parallel num_threads(1)"), maps);
    open_block();
    line("unsigned h = 1;");
    region_statements(0, 1 + (int)below(3));
    line("out[%u] += h;", below(4));
    close_block();
    end_scope(s);
}
static void host_local(void)
{
    struct object o = { .type = random_type(1), .storage = LOCAL };
    o.name = nseen && chance(50) ? seen[below((unsigned)nseen)].name : text("x%d", fresh());
    line("%s %s;", o.type->name, o.name);
    fill_object(&o);
    if (nseen < (int)COUNT(seen)) seen[nseen++] = o;
}
static void host_block(int depth)
{
    int outer = nseen;
    static const char *const heads[] = {
        "#pragma omp parallel num_threads(1)", "#pragma omp taskgroup",
        "#pragma omp parallel for num_threads(2) schedule(static)\nfor (int z = 0; z < 1; z++)", "#pragma omp task if(0) default(shared)",
        "", "if (one)", "for (int k = 0; k < 2; k++)", "switch (one) case 1:", "do", "if (!one) h++; else", "for (unsigned one = 3; one < 5; one++)", "for (unsigned k = h & 1u; k < 3; k += 2)",
    };
    const char *head = *PICK(heads);
    line("%s", head);
    open_block();
    host_local();
    for (int n = 1 + (int)below(2); n--;) {
        if (depth < 1 && chance(30)) PART host_block(depth + 1);
        else PART host_region();
    }
    mix_object(&seen[nseen - 1]);
    close_block();
    if (!strcmp(head, "do")) line("while (!one);");
    nseen = outer;
}

void theme_scopes(void)
{
    nseen = 0;
    line("unsigned out[4] = { 1, 2, 3, 4 };");
    for (int n = 1 + (int)below(2); n--;) {
        struct object o = random_object();
        fill_object(&o);
        if (!is_target(&o)) seen[nseen++] = o;
    }
    int n = nseen;
    PART host_block(0);
    for (int i = 0; i < n; i++) PART mix_object(&seen[i]);
    line("for (int i = 0; i < 4; i++) h = h * 5 + out[i];");
}
