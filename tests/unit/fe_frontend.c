/* fe_frontend.c - the frontend: its tables, and trees of small programs. */
#include "frontend/fe.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int tests, failures;
static void ok(bool good, const char *name)
{
    printf("%sok %d - %s\n", good ? "" : "not ", ++tests, name);
    failures += !good;
}

/* ------------------------------------------------------------------ tables */
static const struct row {
    const char *spelling;
    int since;
} directives[] = {
#define OMP_LEAF(id, spelling, leaf, assoc, since, clauses) { spelling, since },
#define OMP_DIRECTIVE(id, spelling, leaf, assoc, role, since, clauses) { spelling, since },
#define OMP_ALIAS(id, spelling, since) { spelling, since },
#include "frontend/omp.def"
};

static void tables(void)
{
    bool once = true, since = true;
    const struct row *end = directives + sizeof directives / sizeof *directives;
    for (const struct row *r = directives; r < end; r++) {
        for (const struct row *s = r + 1; s < end; s++) once &= strcmp(r->spelling, s->spelling) != 0;
        since &= r->since >= 10 && r->since <= 60;
    }
    ok(once, "no directive is there twice");
    ok(since, "every directive has its version");
    once = true;
    for (int i = 0; i < OMPC_COUNT; i++)
        for (int k = i + 1; k < OMPC_COUNT; k++) once &= strcmp(fe_clause_rows[i].spelling, fe_clause_rows[k].spelling) != 0;
    ok(once, "no clause is there twice");
}

/* ------------------------------------------------------------------ trees */
static struct omp_unit *parse(const char *source)
{
    struct omp_unit *u = fe_parse("t.c", (char *)source, strlen(source), 0, NULL, NULL);
    if (!u || !u->errors)
        return u;
    omp_unit_free(u);
    return NULL;
}

static void tree(const char *name, const char *source, const char *const *expected)
{
    struct omp_unit *u = parse(source);
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (u) fe_print(f, u);
    fclose(f);
    bool good = u && !fe_check(u);
    for (; *expected; expected++) {
        bool wanted = **expected != '!';
        if (!text || (strstr(text, *expected + !wanted) != NULL) == wanted) continue;
        printf("# %s: %s '%s' in\n%s", name, wanted ? "no" : "unexpected", *expected + !wanted, text);
        good = false;
    }
    ok(good, name);
    free(text);
    omp_unit_free(u);
}
#define TREE(name, source, ...) tree(name, source, (const char *const[]){ __VA_ARGS__, NULL })

/* The error goes to stderr: its text is looked at in tests/errors; here it is enough that there is one. */
static void rejected(const char *name, const char *source)
{
    int saved = dup(2);
    if (!freopen("/dev/null", "w", stderr)) return;
    struct omp_unit *u = parse(source);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    ok(!u, name);
    omp_unit_free(u);
}

#define LOOP "for (int i = 0; i < n; i++) "
static void trees(void)
{
    TREE("SPMD loop with reduction",
         "void f(int n, float *x) { float s = 0;\n#pragma omp target teams distribute parallel for reduction(+:s) map(to: x[0:n])\n" LOOP "s += x[i]; }\n",
         "region f_2  spmd", "loop i (declared): from `0` while < `n` step `1`", "capture s byref", "capture n byval", "capture x pointer map",
         "map to x[0:n] pointee", "map tofrom s implicit", "share s reduction +", "share n shared by-value");
    TREE("generic distribute with an inner parallel",
         "void f(int n, int *a) {\n#pragma omp target teams distribute\n" LOOP "{ int k = a[i];\n#pragma omp parallel for\nfor (int j = n; j >= 3; j -= 2) a[j] = k;\n } }\n",
         "generic workers", "while >= `3` step -`2`", "share k shared by-value", "capture a pointer\n");
    TREE("a parameter written as an array is a pointer, which an element's store does not change",
         "void f(int t[3][4], int n) {\n#pragma omp target\n{ int a[3][4]; t = a;\n#pragma omp parallel for\n" LOOP "t[i][0] = n; } }\n"
         "void g(int u[3][4]) {\n#pragma omp parallel\nu[0][1] = 2; }\nvoid h(void) {\n#pragma omp target\n{ int b[3][4]; g(b); } }\n",
         "share u shared by-value");
    TREE("tightly nested constructs", "void f(void) {\n#pragma omp target\n{\n#pragma omp teams\n{\n#pragma omp parallel\n{ }\n}\n}\n}\n", "  spmd");
    TREE("what a team owns and its threads change is not SPMD",
         "void f(void) { int t;\n#pragma omp target teams private(t)\n#pragma omp parallel\n{ t = 1; }\n}\n", "  generic workers");
    TREE("members of an object are a block, with the pointers among them",
         "struct S { float *p; int n; };\nvoid f(struct S *s, int n) {\n#pragma omp target data map(to: s->p[0:n], s->n)\n{ }\n}\n",
         "map to s->n pointee block\n  map pointer alloc s->p implicit pointee block\n  map to s->p[0:n] pointee attach\n");
    TREE("a region that uses more of an object has all of it",
         "struct S { float *p; int n; };\nvoid f(struct S *s, int n) {\n#pragma omp target map(s->p[0:n])\ns->p[0] = s->n;\n}\n",
         "map to s implicit pointee block\n  map alloc s->p implicit pointee block\n  map tofrom s->p[0:n] pointee attach\n");
    TREE("objects come before their members", "struct S { float *p; } ;\nvoid f(struct S s, int n) {\n#pragma omp target data map(s.p[0:n]) map(s)\n{ }\n}\n",
         "map tofrom s\n  map tofrom s.p[0:n] pointee attach");
    TREE("what inner constructs make private is not captured",
         "void f(int n) { int big[99];\n#pragma omp target\n{\n#pragma omp parallel for private(big)\n" LOOP "big[0] = i;\n}\n}\n", "!capture big", "share big private");
    TREE("declare target, functions that are reached and what they use",
         "int used; static int table[2];\n#pragma omp declare target\nint g;\n#pragma omp end declare target\nstatic int h(void) { return used; }\nstatic int k(void) { return h() + table[1]; }\n"
         "static int not_reached(void) { return 1; }\nvoid f(void) {\n#pragma omp target\ng = k();\n(void)not_reached(); }\n",
         "device variable used", "device variable table", "device variable g", "device function h", "device function k", "!not_reached", "!capture g");
    TREE("atomics are taken apart", "void f(int *a) { int v;\n#pragma omp target\n{\n#pragma omp atomic capture\n{ v = *a; *a = 3 - *a; }\n#pragma omp atomic compare\nif (*a < v) { *a = v; }\n} }\n",
         "atomic capture op - x-right x `*a` expr `3` v `v`", "atomic compare op max x `*a` expr `v`");
    TREE("directives over several lines and in macros' text", "# 7 \"m.c\"\nvoid f(int n, int *a) {\n#pragma omp target teams \\\n  distribute parallel for \\\n  collapse(1 + 1)\n"
         LOOP "for (int j = 0; 9 > j; j++) a[i] = j; }\n", "m.c:8:13  region f_8  spmd", "loop j (declared): from `0` while < `9`");
    TREE("defaultmap", "void f(void) { int x = 0;\n#pragma omp target defaultmap(tofrom: scalar)\nx = 1; }\n", "capture x byref map 0", "map tofrom x implicit");
    rejected("a routine that the device lacks", "void omp_display_env(int);\nvoid f(void) {\n#pragma omp target\nomp_display_env(0); }\n");
    rejected("a user-defined reduction", "void f(int n) { int s = 0;\n#pragma omp target parallel for reduction(mine: s)\n" LOOP "s += i; }\n");
    rejected("interop on the device", "typedef void *omp_interop_t; omp_interop_t o; void f(void) {\n#pragma omp target parallel\n{\n#pragma omp interop init(target: o)\n}\n}\n");
    rejected("a non-rectangular nest in chunks", "void f(int n) {\n#pragma omp target parallel for collapse(2) schedule(static, 2)\n" LOOP
             "for (int j = i; j < n; j++) ;\n}\n");
    rejected("lastprivate of a nest with a bound that is set in it", "void f(int n, int x) {\n#pragma omp target parallel for collapse(2) lastprivate(x)\n" LOOP
             "{ int m = i + n; for (int j = 0; j < m; j++) x = j; }\n}\n");
    rejected("long double", "void f(long double x) {\n#pragma omp target map(x)\nx += 1; }\n");
    rejected("a syntax error", "void f(void) {\n#pragma omp target\n{ int = ; }\n}\n");
}

/* ------------------------------------------------------------------ local types */
static void local_types(void)
{
    struct omp_unit *u = parse("void f(void) { enum { N = 4 }; struct S { int a[N]; struct S *next; } s;\n#pragma omp target\n{ struct S t; t = s; (void)t; } }\n");
    bool types = u && u->nlocal_types == 2 && !strcmp(u->local_types[1].text, "struct __omp_S_f { int a[__omp_N_f]; struct __omp_S_f *next; };");
    ok(types, "local types get a text for file scope");
    bool renamed = false;
    for (unsigned i = 0; u && i < u->nrenames; i++) renamed |= !strcmp(u->renames[i].text, "__omp_S_f");
    ok(renamed, "references to local types are renamed");
    omp_unit_free(u);
}

int main(void)
{
    tables();
    trees();
    local_types();
    printf("1..%d\n", tests);
    return failures != 0;
}
