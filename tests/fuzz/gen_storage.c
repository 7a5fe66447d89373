/* gen_storage SEED - writes a C program with random functions whose locals parallel regions share: of all sizes, of run-time size, in loops and
 * branches, with early returns, recursive, called from sequential code and from inside of regions.  The program compares what they return on the
 * device and on the host, and exits with 1 where that differs.  It is compiled with -Itests/run. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, DEPTH = 3 };
struct array { char name[16], size[16]; };
static struct array arrays[MOST];     /* in scope */
static unsigned long long state;
static int narrays, functions, number;

static int below(int n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (unsigned)n);
}
static int one_of(int n, const int *from) { return from[below(n)]; }
#define ONE_OF(...) one_of(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), (int[]){ __VA_ARGS__ })

__attribute__((format(printf, 2, 3))) static void put(int depth, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("%*s", 4 * depth + 4, "");
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
}

static void declare(const char *kind, int id, const char *size)
{
    struct array *a = &arrays[narrays];
    snprintf(a->name, sizeof a->name, "%s%d", kind, id);
    snprintf(a->size, sizeof a->size, "%s", size);
    narrays += narrays < MOST - 1;
}

/* An array in scope; the parameter q, of 4, where there is none. */
static struct array some(void)
{
    static const struct array q = { "q", "4" };
    return narrays ? arrays[below(narrays)] : q;
}

static void statement(int depth);
static void block(int depth)
{
    int scope = narrays;
    for (int n = 1 + below(3); n; n--)
        statement(depth + 1);
    narrays = scope;
}

static void constant_size(int d, int id)
{
    char size[16];
    snprintf(size, sizeof size, "%d", ONE_OF(1, 2, 7, 30, 400, 900));
    put(d, "int l%d[%s]; for (int i = 0; i < %s; i++) l%d[i] = v + i;", id, size, size, id);
    declare("l", id, size);
}
static void run_time_size(int d, int id)
{
    char size[16];
    snprintf(size, sizeof size, "w%d", id);
    put(d, "int w%d = (n + 64) %% %d + 1; int d%d[w%d]; for (int i = 0; i < w%d; i++) d%d[i] = i - v;", id, ONE_OF(3, 17, 60), id, id, id, id);
    declare("d", id, size);
}
static void region(int d, int id)
{
    struct array a = some();
    (void)id;
    put(d, "par(%s, %s, r);", a.name, a.size);
}
static void reduction(int d, int id)
{
    struct array a = some();
    (void)id;
    printf("#pragma omp parallel for reduction(+: r)\n");
    put(d, "for (int i = 0; i < %s; i++) r += %s[i] & 15;", a.size, a.name);
}
static void look(int d, int id)
{
    struct array a = some();
    (void)id;
    put(d, "r += %s[%s - 1] + %s[0];", a.name, a.size, a.name);
}
static void loop(int d, int id)
{
    put(d, "for (int k%d = 0; k%d < %d; k%d++) {", id, id, 1 + below(4), id);
    put(d + 1, "n += 1;");
    block(d);
    put(d, "}");
}
static void branch(int d, int id)
{
    (void)id;
    put(d, "if ((r ^ v) & %d) {", 1 + below(3));
    block(d);
    if (below(3) == 0)
        put(d + 1, "return r;");
    put(d, "}");
}
static void call(int d, int id)
{
    struct array a = some();
    (void)id;
    put(d, "if (v > 0) r += f%d(n, v - 1 - (v & %d), %s);", below(functions), below(2), atoi(a.size) >= 4 ? a.name : "q");
}
static void structure(int d, int id)
{
    struct array a = some();
    put(d, "{ struct s t%d = { { r }, %s }; t%d.a[1] = v;", id, a.name, id);
    printf("#pragma omp parallel num_threads(3)\n");
    put(d, "{ if (omp_get_thread_num() == 0) t%d.a[2] = t%d.a[1] + t%d.p[0]; }", id, id, id);
    put(d, "r += t%d.a[2]; }", id);
}

static void statement(int depth)
{
    static void (*const kinds[])(int, int) = { constant_size, run_time_size, region, region, reduction, look, loop, branch, call, structure };
    int kind = below(sizeof kinds / sizeof *kinds);
    if (depth >= DEPTH && (kinds[kind] == loop || kinds[kind] == branch))
        kind = 2;
    kinds[kind](depth, ++number);
}

static void function(int f)
{
    narrays = 0;
    printf("NO static int f%d(int n, int v, int *q)\n{\n    int r = v;\n", f);
    if (below(2)) {
        put(0, "int first%d[4] = { n, v, 1, 2 };", f);
        declare("first", f, "4");
    }
    for (int n = 3 + below(5); n; n--)
        statement(0);
    printf("    return r + q[0];\n}\n");
}

int main(int argc, char **argv)
{
    static const char *const clauses[] = { "", " num_threads(5)", " schedule(dynamic)" };
    state = argc > 1 ? strtoull(argv[1], NULL, 0) * 2654435761u + 1 : 1;
    functions = 3 + below(4);
    printf("#include \"check.h\"\n#define NO __attribute__((noinline))\nstruct s { int a[%d]; int *p; };\n", ONE_OF(3, 40, 300));
    printf("NO static void par(int *p, int n, int v)\n{\n#pragma omp parallel for%s\n    for (int i = 0; i < n; i++) p[i] = p[i] * 3 + v + i;\n}\n",
           clauses[below(3)]);
    for (int f = 0; f < functions; f++)
        printf("NO static int f%d(int n, int v, int *q);\n", f);
    for (int f = 0; f < functions; f++)
        function(f);
    printf("static int all(int k)\n{\n    int q[4] = { k, 1, 2, 3 }, r = 0;\n    for (int i = 0; i < 2; i++)\n"
           "        r = r * 3 + f%d(k + 3, 3, q) + f%d(k, 2, q);\n    return r + q[3];\n}\n", below(functions), below(functions));
    printf("int main(void)\n{\n    int got[4], inside[7];\n"
           "#pragma omp target teams distribute num_teams(2) thread_limit(%d) map(from: got)\n    for (int k = 0; k < 4; k++) got[k] = all(k);\n"
           "    for (int k = 0; k < 4; k++) CHECK_EQ(got[k], all(k));\n", ONE_OF(33, 64, 100));
    printf("#pragma omp target thread_limit(40) map(from: got, inside)\n    {\n        int l[%d];\n        l[0] = 2; par(l, 1, 0); got[0] = all(1) + l[0];\n"
           "#pragma omp parallel num_threads(7)\n        inside[omp_get_thread_num()] = all(omp_get_thread_num());\n        got[1] = all(2);\n    }\n"
           "    CHECK_EQ(got[0], all(1) + 6);\n    CHECK_EQ(got[1], all(2));\n    for (int k = 0; k < 7; k++) CHECK_EQ(inside[k], all(k));\n"
           "    return RESULT;\n}\n", ONE_OF(2, 3000));
    return 0;
}
