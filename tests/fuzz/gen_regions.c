/* gen_regions SEED - writes a C program with one random generic region to standard output.
 *
 * The region has sequential code with loads, stores, conditions, loops, calls, atomics and escaping locals around parallel
 * regions.  It has no data race and its result does not depend on the number of threads, so that without OpenMP, in generic and
 * in SPMD mode it must print the same checksum. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCALARS = 4, DEPTH = 3 };
static unsigned long long state;
static int indent = 2, loops, teams;

static unsigned below(unsigned n)     /* 0 … n-1 */
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % n;
}

static void line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void line(const char *format, ...)
{
    va_list args;
    printf("%*s", 4 * indent, "");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

/* A value that sequential code and parallel bodies may read; `skip` is a scalar that somebody writes at the same time.
 * In a parallel body (`j` is its loop variable) only row elements j are free of races. */
static void operand(int parallel, int skip)
{
    int x = (int)below(SCALARS);
    switch (below(parallel ? 5 : 8)) {
    case 0: printf("%u", below(100)); break;
    case 1: printf("L[%u]", below(8)); break;
    case 2: printf("s.a"); break;
    case 3: parallel ? printf("A[t][j]") : printf("A[t][%u]", below(50)); break;
    default:
        if (x == skip) x = (x + 1) % SCALARS;
        if (skip < 0 || !parallel || x != 1) printf("x%d", x);
        else printf("7");
        break;
    case 5: printf("B[t][%u]", below(50)); break;
    case 6: printf("*q"); break;
    case 7: printf("C[t]"); break;
    }
}

static void expression(int parallel, int skip)
{
    static const char *const operators[] = { "+", "-", "^", "*", "&", "|" };
    unsigned n = 1 + below(3);
    for (unsigned i = 0; i < n; i++) {
        if (i) printf(" %s ", operators[below(6)]);
        putchar('(');
        operand(parallel, skip);
        putchar(')');
    }
}

static void assign(const char *format, unsigned index, int parallel, int skip)
{
    printf("%*s", 4 * indent, "");
    printf(format, index);
    printf(below(2) ? " = " : " += ");
    expression(parallel, skip);
    puts(";");
}

static void block(int depth);

static void body(int depth)
{
    indent++;
    block(depth + 1);
    indent--;
}

static void condition(int depth)
{
    printf("%*sif ((", 4 * indent, "");
    expression(0, -1);
    printf(") & %u) {\n", 1u << below(3));
    body(depth);
    if (below(2)) {
        line("} else {");
        body(depth);
    }
    line("}");
}

static void loop(int depth)
{
    int k = loops++;
    line("for (unsigned k%d = 0; k%d < %u; k%d++) {", k, k, 1 + below(4), k);
    body(depth);
    indent++;
    if (below(4) == 0) line("if (x%u %% 7 == k%d) break;", below(SCALARS), k);
    line("x%u += k%d;", below(SCALARS), k);
    indent--;
    line("}");
}

static const char *schedule(void)
{
    static const char *const schedules[] = { "", "", "", " schedule(static, 3)", " schedule(dynamic, 2)", " schedule(guided)" };
    return schedules[below(6)];
}

static void parallel_loop(void)
{
    unsigned kind = below(5), x = below(SCALARS);
    if (x == 1) x = 2;                /* *q is x1 */
    if (kind == 0) {
        line("#pragma omp parallel for reduction(+: x%u)%s", x, schedule());
        line("for (int j = 0; j < 50; j++)");
        indent++;
        printf("%*sx%u += ", 4 * indent, "", x);
        expression(1, (int)x);
        puts(" + j;");
        indent--;
        return;
    }
    line("#pragma omp parallel for%s", schedule());
    line("for (int j = 0; j < 50; j++) {");
    indent++;
    assign(kind == 1 ? "A[t][j]" : "B[t][j]", 0, 1, (int)x);
    if (kind == 2) line("if (j == %u) x%u = B[t][j];", below(50), x);
    if (kind == 3) line("#pragma omp atomic"), line("x%u += (unsigned)j;", x);
    if (kind == 4 && below(2)) line("#pragma omp critical"), line("x%u ^= (unsigned)j * 5;", x);
    indent--;
    line("}");
}

static void parallel_block(void)
{
    line("#pragma omp parallel");
    line("{");
    indent++;
    line("#pragma omp single");
    line("x%u += %u;", below(SCALARS), below(9));
    line("#pragma omp for%s", schedule());
    line("for (int j = 0; j < 50; j++) B[t][j] += x%u + L[j %% 8];", below(SCALARS));
    if (below(2)) {
        line("#pragma omp master");
        line("L[%u] ^= B[t][%u];", below(8), below(50));
    }
    if (below(2)) {
        line("#pragma omp barrier");
        line("#pragma omp for nowait");
        line("for (int j = 0; j < 8; j++) L[j] += (unsigned)j;");
    }
    indent--;
    line("}");
}

static void call(void)
{
    switch (below(5)) {
    case 0: line("fill(A[t], 50, x%u);", below(SCALARS)); break;
    case 1: line("x%u = total(B[t], 50);", below(SCALARS)); break;
    case 2: line("x%u += mix(L, %u);", below(SCALARS), 1 + below(8)); break;
    case 3: line("fill(L, 8, C[t]);"); break;
    default: line("poke(&x%u, %u);", below(SCALARS), below(9)); break;
    }
}

static void asks(void)
{
    line("x%u += (unsigned)(omp_get_thread_num() * 3 + omp_get_num_threads());", below(SCALARS));
}

static void statement(int depth)
{
    switch (below(depth < DEPTH ? 16 : 13)) {
    case 0: case 1: assign("x%u", below(SCALARS), 0, -1); break;
    case 2: assign("A[t][%u]", below(50), 0, -1); break;
    case 3: assign("L[%u]", below(8), 0, -1); break;
    case 4: assign(below(2) ? "s.a" : "C[t]", 0, 0, -1); break;
    case 5: below(2) ? assign("*q", 0, 0, -1) : asks(); break;
    case 6: case 7: case 8: parallel_loop(); break;
    case 9: parallel_block(); break;
    case 10: case 11: call(); break;
    case 12:
        line(below(2) ? "#pragma omp atomic" : "#pragma omp critical");
        line("C[t] += x%u;", below(SCALARS));
        break;
    case 13: condition(depth); break;
    default: loop(depth);
    }
}

static void block(int depth)
{
    unsigned n = depth ? 1 + below(3) : 4 + below(6);
    while (n--) statement(depth);
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) * 0x9e3779b97f4a7c15ull + 1 : 1;
    below(2);
    teams = (int)below(3);
    puts("#include <stdio.h>\n#ifdef _OPENMP\n#include <omp.h>\n#else\n"
         "static int omp_get_thread_num(void) { return 0; }\nstatic int omp_get_num_threads(void) { return 1; }\n#endif\n"
         "static unsigned A[6][50], B[6][50], C[6];\n"
         "struct pair { unsigned a, b; };\n"
         "static void fill(unsigned *p, int n, unsigned v)\n{\n#pragma omp parallel for\n    for (int i = 0; i < n; i++) p[i] ^= v + (unsigned)i;\n}\n"
         "static unsigned total(const unsigned *p, int n)\n{\n    unsigned s = 1;\n#pragma omp parallel for reduction(+: s)\n"
         "    for (int i = 0; i < n; i++) s += p[i];\n    return s;\n}\n"
         "static __attribute__((noinline)) unsigned mix(unsigned *p, unsigned n)\n{\n    unsigned h = 7;\n"
         "    for (unsigned i = 0; i < n; i++) h = h * 31 + p[i], p[i] += i;\n    return h;\n}\n"
         "static void poke(unsigned *p, unsigned v) { *p = *p * 3 + v; }\n"
         "int main(void)\n{\n    unsigned sum = 0;\n"
         "    for (unsigned t = 0; t < 6; t++)\n        for (unsigned i = 0; i < 50; i++) A[t][i] = t + i, B[t][i] = t * i, C[t] = t;");
    puts(teams == 0 ? "#pragma omp target map(tofrom: A, B, C)\n    for (int t = 0; t < 6; t++) {"
         : teams == 1 ? "#pragma omp target teams distribute map(tofrom: A, B, C) num_teams(3)\n    for (int t = 0; t < 6; t++) {"
                      : "#pragma omp target teams distribute map(tofrom: A, B, C, sum) reduction(+: sum) thread_limit(40)\n    for (int t = 0; t < 6; t++) {");
    line("unsigned x0 = 1, x1 = (unsigned)t, x2 = %u, x3 = C[t], L[8] = { 1, 2, 3 }, *q = &x1;", below(99));
    line("struct pair s = { %u, 4 };", below(9));
    block(0);
    line("C[t] += x0 + 3 * x1 + 5 * x2 + 7 * x3 + *q + s.a + s.b;");
    line("for (int j = 0; j < 8; j++) C[t] = C[t] * 5 + L[j];");
    if (teams == 2) line("sum += x0 ^ C[t];");
    puts("    }\n    unsigned h = sum;\n    for (unsigned t = 0; t < 6; t++) {\n        h = h * 33 + C[t];\n"
         "        for (unsigned i = 0; i < 50; i++) h = h * 33 + A[t][i], h = h * 33 + B[t][i];\n    }\n"
         "    printf(\"%08x\\n\", h);\n    return 0;\n}");
    return 0;
}
