/* gen_regions SEED… - writes a C program with one random target region for each seed to standard output.
 *
 * A region has sequential code with loads, stores, conditions, loops, calls, atomics, escaping and run-time sized locals around
 * parallel regions.  It has no data race and its result does not depend on the number of threads: the program prints a line "SEED
 * CHECKSUM" for each region, the same without OpenMP, in generic and in SPMD mode.  A region depends on its seed alone, so that one
 * that fails in a crowd can be looked at alone.
 *
 * What may be read and written at the same time is kept by sets of objects: a parallel construct chooses what it writes, and its
 * bodies read nothing of that but the element that their iteration owns. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Objects.  X0 … X3 scalars, X1 also as *q and X2 as *s.p; rows A[t] and B[t] (50), L (8), V (8, run-time size), G[t] (8, declare target). */
enum object { X0, X1, X2, X3, ROW_A, ROW_B, ARRAY_L, ARRAY_V, GLOBAL_G, C_T, S_A, D, OBJECTS, SCALARS = 4 };
enum { DEPTH = 3, LOCALS = 6, FEW = 8, MANY = 50 };
typedef unsigned set;
#define BIT(o) (1u << (o))
#define ALL (BIT(OBJECTS) - 1)

static unsigned long long state;
static unsigned long seed;
static int indent, names, locals[LOCALS], nlocals, has_v, clauses, opaque, inner, in_loop, nested;

static unsigned below(unsigned n)     /* 0 … n-1 */
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % n;
}

__attribute__((format(printf, 1, 2))) static void begin(const char *format, ...)
{
    va_list args;
    printf("%*s", 4 * indent, "");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
}

__attribute__((format(printf, 1, 2))) static void line(const char *format, ...)
{
    va_list args;
    printf("%*s", 4 * indent, "");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

/* ------------------------------------------------------------------ expressions */
static int small(enum object o) { return o == ARRAY_L || o == ARRAY_V || o == GLOBAL_G; }
static const char *array_name(enum object o)
{
    static const char *const name[] = { [ROW_A] = "A[t]", [ROW_B] = "B[t]", [ARRAY_L] = "L", [ARRAY_V] = "V", [GLOBAL_G] = "G[t]" };
    return name[o];
}

/* An object that may be read; `own` says whether element j of written arrays may be read, too, and how long those are. */
static void operand(set readable, set written, const char *own, unsigned length)
{
    for (int tries = 0; tries < 8; tries++) {
        enum object o = below(OBJECTS);
        if (o == ARRAY_V && !has_v)
            continue;
        if (own && (written & BIT(o)) && o >= ROW_A && o <= GLOBAL_G) {
            if (!small(o) || length <= FEW) { printf("%s[%s]", array_name(o), own); return; }
            continue;
        }
        if (!(readable & BIT(o)))
            continue;
        switch (o) {
        case X1: printf(below(2) ? "x1" : "*q"); return;
        case X2: printf(below(2) ? "x2" : "*s.p"); return;
        case X0: case X3: printf("x%d", o); return;
        case C_T: printf("C[t]"); return;
        case S_A: printf(below(3) ? "s.a" : "s.b"); return;
        case D: printf("(unsigned)(long long)d"); return;
        default:
            if (own && below(2) && (!small(o) || length <= FEW)) printf("%s[%s]", array_name(o), own);
            else if (own && below(2) && small(o)) printf("%s[%s %% 8]", array_name(o), own);
            else printf("%s[%u]", array_name(o), below(small(o) ? FEW : MANY));
            return;
        }
    }
    printf("%u", below(100));
}

static void expression(set readable, set written, const char *own, unsigned length)
{
    static const char *const operators[] = { "+", "-", "^", "*", "&", "|" };
    unsigned n = 1 + below(3);
    for (unsigned i = 0; i < n; i++) {
        if (i) printf(" %s ", operators[below(6)]);
        switch (below(12)) {
        case 0: printf("(unsigned)%s", own ? own : "t"); break;
        case 1: if (nlocals) { printf("(unsigned)y%d", locals[below((unsigned)nlocals)]); break; }  /* fall through */
        case 2: printf("(unsigned)LEVEL(%d)", inner); break;
        case 3: printf("f[%u]", below(4)); break;
        default:
            putchar('(');
            operand(readable, written, own, length);
            putchar(')');
        }
    }
}

static void assign(set readable, const char *to)
{
    begin("%s %s ", to, below(2) ? "=" : below(2) ? "+=" : "^=");
    expression(readable, 0, NULL, 0);
    puts(";");
}

/* ------------------------------------------------------------------ parallel regions */
static void schedule(void)
{
    static const char *const schedules[] = { "", "", "", " schedule(static, 3)", " schedule(static)", " schedule(dynamic, 2)", " schedule(guided)" };
    printf("%s", schedules[below(7)]);
}

/* Clauses of `parallel`: none for most regions, so that they can be SPMD. */
static void team(void)
{
    if (!clauses || below(3))
        return;
    switch (below(4)) {
    case 0: printf(" num_threads(%u)", 1 + below(40)); break;
    case 1: printf(" num_threads((int)(x3 %% 7) + 1)"); break;
    case 2: printf(" if(%u)", below(2)); break;
    default: printf(" if(x%u & 1)", below(SCALARS));
    }
}

static enum object any_array(void)
{
    enum object o = ROW_A + below(5);
    return o == ARRAY_V && !has_v ? ROW_B : o;
}

static const char *const ops[] = { "+", "^", "|", "max" };

/* to = to op expression */
static void combine(const char *op, const char *to, set readable, set written, unsigned length)
{
    if (*op == 'm') {
        begin("{ unsigned m = ");
        expression(readable, written, "j", length);
        printf("; if (m > %s) %s = m; }\n", to, to);
        return;
    }
    begin("%s %s= ", to, op);
    expression(readable, written, "j", length);
    puts(";");
}

static void store_own(enum object a, set readable, set written, unsigned length)
{
    begin("%s[j] %s ", array_name(a), below(2) ? "=" : "+=");
    expression(readable, written, "j", length);
    puts(";");
}

/* The inside of a loop over j: stores to the own element of `a`, sometimes conditional, in a loop, through a call. */
static void loop_body(enum object a, set readable, set written, unsigned length)
{
    switch (below(8)) {
    case 0:
        begin("if ((");
        expression(readable, written, "j", length);
        printf(") & 1) continue;\n");
        store_own(a, readable, written, length);
        break;
    case 1:
        line("for (int k = 0; k < 3; k++)");
        indent++, store_own(a, readable, written, length), indent--;
        break;
    case 2: line("%s[j] ^= pure(%s[j] + (unsigned)j);", array_name(a), array_name(a)); break;
    case 3: line("fill(&%s[j], 1, (unsigned)j);", array_name(a)); break;      /* nested: serialised */
    case 4:
        line("unsigned own[3] = { (unsigned)j, %s[j] };", array_name(a));
        line("%s[j] += total(own, 3);", array_name(a));
        break;
    default: store_own(a, readable, written, length);
    }
}

static void parallel_reduction(void)
{
    enum object x = below(SCALARS);
    const char *op = ops[below(4)];
    set written = BIT(x);
    if (below(4) == 0) {
        begin("#pragma omp parallel for reduction(+: d)");
        team(), schedule();
        puts("");
        line("for (int j = 0; j < 50; j++) d += (double)(j + (int)(B[t][j] & 7));");
        return;
    }
    if (below(4) == 0) {
        begin("#pragma omp parallel for reduction(+: L[0:8])");
        team(), schedule();
        puts("");
        line("for (int j = 0; j < 50; j++) {");
        indent++;
        inner++;
        begin("L[j %% 8] += ");
        expression(ALL & ~BIT(ARRAY_L), 0, "j", MANY);
        puts(";");
        inner--;
        indent--;
        line("}");
        return;
    }
    begin("#pragma omp parallel for reduction(%s: x%d)", op, x);
    if (below(3) == 0) { printf(" reduction(+: d)"); written |= BIT(D); }
    team(), schedule();
    puts("");
    line("for (int j = 0; j < 50; j++) {");
    indent++;
    char name[4] = { 'x', (char)('0' + (int)x), 0 };
    inner++;
    combine(op, name, ALL & ~written, 0, MANY);
    inner--;
    if (written & BIT(D)) line("d += 1;");
    indent--;
    line("}");
}

/* A local that mostly only thread 0 touches: set, reduced, counted by it in a region, read for a store. */
static void own_local(void)
{
    const char *op = ops[below(4)];
    line("{");
    indent++;
    begin("unsigned o = ");
    expression(ALL, 0, NULL, 0);
    puts(";");
    begin("#pragma omp parallel for reduction(%s: o)", op);
    team(), schedule();
    puts("");
    line("for (int j = 0; j < 50; j++) {");
    indent++, inner++;
    combine(op, "o", ALL, 0, MANY);
    indent--, inner--;
    line("}");
    if (below(3) == 0) {
        line("#pragma omp parallel");
        line("{");
        line("#pragma omp masked");
        line("o += %u;", below(9));
        if (below(3) == 0) {
            line("#pragma omp barrier");
            line("#pragma omp for");
            line("for (int j = 0; j < 50; j++) B[t][j] += o;");
        }
        line("}");
    }
    if (below(4) == 0) line("if (o & 1) x%u++;", below(SCALARS));
    line(below(2) ? "C[t] ^= o;" : "A[t][%u] += o;", below(50));
    indent--;
    line("}");
}

static void parallel_loop(void)
{
    enum object a = any_array(), x = below(SCALARS);
    unsigned length = small(a) ? FEW : MANY, kind = below(8), at = below(length);
    set written = BIT(a) | BIT(x), readable = ALL & ~written;
    int simd = kind != 2 && kind != 3 && below(6) == 0;     /* no constructs inside */
    if (kind == 7) {
        parallel_reduction();
        return;
    }
    begin("#pragma omp parallel for%s", simd ? " simd" : "");
    team();
    if (kind == 5) printf(" lastprivate(x%d)", x);
    if (kind == 6) printf(" firstprivate(x%d)", x);
    schedule();
    puts("");
    line("for (int j = 0; j < %u; j++) {", length);
    indent++;
    inner++;
    if (kind == 5) { begin("x%d = ", x); expression(readable, written, "j", length); puts(";"); }
    if (kind == 6) line("%s[j] += x%d++;", array_name(a), x), line("x%d--;", x);
    if (kind == 1) line("if (j == %u) x%d = %s[j];", at, x, array_name(a));
    if (kind == 2) line("#pragma omp atomic"), line("x%d += (unsigned)j * 3 + 1;", x);
    if (kind == 3) line("#pragma omp critical"), line("x%d ^= (unsigned)j * 5;", x);
    (simd ? store_own : loop_body)(a, readable, written, length);
    inner--;
    indent--;
    line("}");
}

static void parallel_collapse(void)
{
    begin("#pragma omp parallel for collapse(2)");
    team(), schedule();
    puts("");
    line("for (int i = 0; i < 5; i++)");
    line("    for (int k = 0; k < 10; k++) A[t][i * 10 + k] += B[t][k * 5 + i] + x%u;", below(SCALARS));
}

static void parallel_block(void)
{
    unsigned x = below(SCALARS);
    begin("#pragma omp parallel");
    team();
    puts("");
    line("{");
    indent++;
    inner++;
    if (below(3) == 0) line("unsigned mine = x%u, *at = &mine;", (x + 1) % SCALARS), line("*at += (unsigned)LEVEL(1);");
    line("#pragma omp single");
    line("x%u += %u;", x, below(9));
    begin("#pragma omp for");
    schedule();
    puts("");
    line("for (int j = 0; j < 50; j++) B[t][j] += x%u + L[j %% 8];", x);
    if (below(2)) {
        line(below(2) ? "#pragma omp master" : "#pragma omp masked");
        line("L[%u] ^= B[t][%u];", below(8), below(50));
    }
    if (below(2)) {
        line("#pragma omp barrier");
        line("#pragma omp for nowait");
        line("for (int j = 0; j < 8; j++) L[j] += (unsigned)j;");
    }
    if (below(3) == 0) {
        line("#pragma omp sections");
        line("{");
        line("#pragma omp section");
        line("s.a += %u;", below(9));
        line("#pragma omp section");
        line("C[t] ^= %u;", below(99));
        line("}");
    }
    inner--;
    indent--;
    line("}");
}

/* ------------------------------------------------------------------ sequential code */
static void block(int depth);

static void body(int depth)
{
    int outer = nlocals;
    indent++;
    block(depth + 1);
    indent--;
    nlocals = outer;
}

static void test(const char *before, const char *after)
{
    begin("%s(", before);
    expression(ALL, 0, NULL, 0);
    printf(") & %u%s\n", 1u << below(3), after);
}

static void condition(int depth)
{
    test("if (", ") {");
    body(depth);
    if (below(2)) {
        line("} else {");
        body(depth);
    }
    line("}");
}

static void leave_loop(void)
{
    switch (below(6)) {
    case 0: line("if (x%u %% 7 == 3) break;", below(SCALARS)); break;
    case 1: line("if (L[%u] %% 5 == 2) continue;", below(FEW)); break;
    }
}

static void loop(int depth)
{
    int k = names++, kind = (int)below(3), outer = nlocals;
    unsigned n = 1 + below(4);
    if (kind == 0) line("for (unsigned y%d = 0; y%d < %u; y%d++) {", k, k, n, k);
    else line("unsigned y%d = 0;", k), line(kind == 1 ? "while (y%d++ < %u) {" : "do {", k, n);
    if (nlocals < LOCALS) locals[nlocals++] = k;      /* inside it is read as the other locals are */
    in_loop++;
    indent++, leave_loop(), indent--;
    body(depth);
    indent++, leave_loop(), line("x%u += y%d;", below(SCALARS), k), indent--;
    in_loop--;
    nlocals = outer;
    if (kind == 2) line("} while (++y%d < %u);", k, n);
    else line("}");
}

static void choice(int depth)
{
    unsigned n = 2 + below(2);
    line("switch (x%u %% %u) {", below(SCALARS), n + 1);
    for (unsigned i = 0; i < n; i++) {
        line("case %u: {", i);
        body(depth);
        line(below(3) ? "    break; }" : "} /* fall through */");
    }
    line("default: x%u++;", below(SCALARS));
    line("}");
}

static void call(void)
{
    static const char *const rows[] = { "A[t]", "B[t]" };
    const char *row = rows[below(2)];
    unsigned x = below(SCALARS), y = below(SCALARS);
    switch (below(opaque ? 13 : 10)) {
    case 0: line("fill(%s, 50, x%u);", row, x); break;
    case 1: line("x%u = total(%s, 50);", x, row); break;
    case 2: line("x%u += mix(L, %u);", x, 1 + below(8)); break;
    case 3: line("fill(L, 8, C[t]);"); break;
    case 4: line("poke(&x%u, %u);", x, below(9)); break;
    case 5: line("x%u ^= chain(%s, 50, x%u);", x, row, y); break;
    case 6: line("bump(&s, x%u);", x); break;
    case 7: line("x%u += inside(%s, x%u);", x, row, y); break;
    case 8: line("q = (x%u & 1) ? &x1 : q;", x); break;
    case 9: line("x%u += pure(x%u);", x, y); break;
    case 10: line("far(%s, 50, x%u);", row, x); break;
    case 11: line("half(%s, 50);", row); break;
    default: line("(x%u & 1 ? fill : far)(%s, 40, %u);", x, row, below(9));
    }
}

static void declaration(void)
{
    static const char *const types[] = { "unsigned", "unsigned char", "unsigned short", "unsigned long long" };
    if (nlocals == LOCALS)
        return;
    int y = names++;
    unsigned o = below(3);
    begin("%s y%d = (", types[below(4)], y);
    expression(ALL, 0, NULL, 0);
    puts(");");
    if (o == 0) {                     /* it escapes */
        begin("#pragma omp parallel for");
        team();
        puts("");
        line("for (int j = 0; j < 50; j++) if (j == %u) y%d += 3; else A[t][j]++;", below(50), y);
    } else if (o == 1) {
        line("#pragma omp parallel for");
        line("for (int j = 0; j < 50; j++) B[t][j] += (unsigned)y%d;", y);
    }
    locals[nlocals++] = y;
}

static void store(void)
{
    static const char *const to[] = { "x0", "x1", "x2", "x3", "s.a", "s.b", "C[t]", "*q", "*s.p" };
    char text[40];
    switch (below(6)) {
    case 0: snprintf(text, sizeof text, "A[t][%u]", below(50)); break;
    case 1: snprintf(text, sizeof text, "L[%u]", below(8)); break;
    case 2: snprintf(text, sizeof text, "G[t][%u]", below(8)); break;
    case 3: snprintf(text, sizeof text, has_v ? "V[%u]" : "B[t][%u]", below(8)); break;
    default: snprintf(text, sizeof text, "%s", to[below(9)]);
    }
    assign(ALL, text);
}

/* ------------------------------------------------------------------ pieces: blocks with locals of their own */
static void open_block(void)
{
    line("{");
    indent++;
}

static void close_block(void)
{
    indent--;
    line("}");
}

static void declare(const char *before, const char *after)
{
    begin("%s", before);
    expression(ALL, 0, NULL, 0);
    puts(after);
}

static void parallel(const char *construct, const char *more)
{
    begin("#pragma omp %s%s", construct, more);
    team();
    puts("");
}

static void parallel_for(const char *more)
{
    begin("#pragma omp parallel for%s", more);
    team(), schedule();
    puts("");
}

/* A parallel region in another one's iterations: serialised. */
static void piece_nested(unsigned x)
{
    static const char *const more[] = { "", " num_threads(2)", " reduction(+: m)", " reduction(+: part)" };
    unsigned kind = below(4);
    if (below(2)) line("#pragma omp parallel for num_threads(5)");
    else parallel_for("");
    line("for (int j = 0; j < 8; j++) {");
    indent++;
    line("unsigned part[4] = { (unsigned)j, L[j] }, m = 1;");
    line("#pragma omp parallel for%s", more[kind]);
    line("for (int k = 0; k < 4; k++) part[k] += A[t][j + k] * x%u%s;", x, kind == 2 ? ", m += part[k]" : "");
    line("L[j] += part[j %% 4] + part[1] + m;");
    close_block();
}

static void piece_tasks(unsigned x)
{
    static const char *const by[] = { "single", "single nowait", "masked", "master" };
    open_block();
    declare("unsigned w[4] = { ", ", 2 }, m = 3;");
    if (below(2)) {
        parallel("parallel", "");
        line("{");
        line("#pragma omp %s", by[below(4)]);
        open_block();
        line("for (unsigned k = 0; k < 4; k++)");
        line("#pragma omp task shared(w)%s", below(2) ? "" : " if(k & 1)");
        line("    w[k] += k * 3 + x%u;", x);
        line("#pragma omp taskwait");
        line("w[0] += w[3];");
        close_block();
        line("}");
    } else {
        line(below(2) ? "#pragma omp taskgroup" : "");
        line("#pragma omp task shared(w, m)%s", below(2) ? "" : " if(0)");
        line("{ m += w[1]; fill(w, 4, m); }");
        line("#pragma omp taskwait");
    }
    if (below(2)) {
        line("#pragma omp taskloop reduction(+: m) shared(w)%s", below(2) ? "" : " num_tasks(2)");
        line("for (unsigned j = 0; j < 4; j++) w[j] += j, m += w[j];");
    }
    line("x%u ^= w[2] + m + w[0];", x);
    close_block();
}

static void piece_copies(unsigned x)
{
    open_block();
    declare("struct box b = { { ", ", 2, 3 } }, c;");
    parallel_for("");
    line("for (int j = 0; j < 6; j++) b.v[j] += A[t][j] * x%u;", x);
    line("c = %s;", below(2) ? "b" : "twist(b, x1)");
    if (below(2)) line("b = twist(c, %u);", below(9));
    parallel_for(below(2) ? "" : " firstprivate(c)");
    line("for (int j = 0; j < 6; j++) B[t][j] ^= c.v[j];");
    if (below(2)) line("struct pair r = s;"), line("bump(&r, x%u);", x), line("s = r;");
    line("x%u = c.v[%u] + b.v[%u];", x, below(6), below(6));
    close_block();
}

static void piece_pointers(unsigned x)
{
    open_block();
    line("unsigned own = %u, *list[3] = { &x%u, L, &own }, **r = &list[x%u %% 3];", below(9), x, (x + 1) % SCALARS);
    line("**r += 3;");
    if (below(2)) line("list[2] = &s.a;");
    parallel_for("");
    line("for (int j = 0; j < 3; j++) *list[j] += (unsigned)j + A[t][j];");
    if (below(2)) {
        parallel_for("");
        line("for (int j = 0; j < 50; j++) if (j == %u) **r ^= B[t][j]; else A[t][j]++;", below(50));
    }
    line("x%u += **r + own;", x);
    close_block();
}

static void piece_sized(unsigned x)
{
    unsigned kind = below(3);
    open_block();
    line("unsigned n = 2 + x%u %% 5, w[n]%s;", x, kind == 2 ? "[2]" : "");
    line("for (unsigned k = 0; k < n; k++) w[k]%s = k%s;", kind == 2 ? "[0] = w[k][1]" : "", below(2) ? " * x0" : "");
    parallel_for(kind == 1 ? " reduction(+: w)" : "");
    if (kind == 1) line("for (unsigned j = 0; j < 20; j++) w[j %% n] += A[t][j];");
    else line("for (unsigned j = 0; j < n; j++) w[j]%s += A[t][j];", kind == 2 ? "[1]" : "");
    if (in_loop && below(2)) line("if (w[0]%s %% 5 < 2) %s;", kind == 2 ? "[0]" : "", below(2) ? "break" : "continue");
    line("x%u ^= w[n - 1]%s;", x, kind == 2 ? "[1]" : "");
    close_block();
}

static void piece_jumps(unsigned x)
{
    int n = names++;
    open_block();
    line("unsigned m = 0;");
    if (below(2)) {
        line("again%d:", n);
        line("m++;");
        parallel_loop();
        line("if (m < 3 && x%u & 3) goto again%d;", x, n);
    } else {
        line("for (; m < 4; m++) {");
        indent++;
        parallel_loop();
        line("if ((L[3] + m) %% 3 == %u) goto out%d;", below(3), n);
        store();
        close_block();
        line("x%u += 100;", x);
        line("out%d:", n);
    }
    line("x%u += m;", x);
    close_block();
}

/* A loop that goes on for as long as a reduction says. */
static void piece_converge(unsigned x)
{
    open_block();
    line("unsigned m = 0, most;");
    line("do {");
    indent++;
    line("most = 0;");
    parallel_for(" reduction(max: most)");
    line("for (int j = 0; j < 50; j++) most = B[t][j] > most ? B[t][j] : most;");
    if (below(2)) line("if (most %% 4 == 3) %s;", below(2) ? "break" : "continue");
    parallel_for("");
    line("for (int j = 0; j < 50; j++) B[t][j] -= B[t][j] / 3;");
    indent--;
    line("} while (++m < 4 && most > %u);", 1u << below(9));
    line("x%u += m + most;", x);
    close_block();
}

static void piece_conditions(unsigned x)
{
    unsigned y = below(SCALARS);
    switch (below(4)) {
    case 0: line("if ((x%u & 1) && total(A[t], 50) %% 3 != 1) x%u += total(L, 8);", x, y); break;
    case 1: line("for (unsigned k = total(L, 8) %% 3; k < 3; k++) fill(%s, 8, k);", below(2) ? "L" : "B[t]"); break;
    case 2: line("x%u = x%u & 1 ? inside(A[t], x%u) : total(B[t], 9) || chain(B[t], 9, x%u);", x, y, x, y); break;
    default: line("x%u += first(%s, 8, x%u %% 9);", x, below(2) ? "L" : "B[t]", y);
    }
}

static void piece_scan(unsigned x)
{
    open_block();
    line("unsigned m = x%u;", x);
    line("#pragma omp parallel for reduction(inscan, +: m)");
    line("for (int j = 0; j < 50; j++) {");
    line(below(2) ? "    m += A[t][j];" : "    m += (unsigned)j * x3;");
    line("#pragma omp scan inclusive(m)");
    line("    B[t][j] ^= m;");
    line("}");
    line("x%u += m;", x);
    close_block();
}

static void piece_worksharing(unsigned x)
{
    open_block();
    line("unsigned m = 0, w[8] = { x%u };", x);
    parallel("parallel", "");
    open_block();
    line("unsigned mine = x%u;", (x + 1) % SCALARS);
    line("#pragma omp single");
    line("s.b += mine;");
    begin("#pragma omp for reduction(+: m)");
    schedule();
    puts("");
    line("for (int j = 0; j < 50; j++) m += mine + A[t][j];");
    begin("#pragma omp for%s", below(2) ? " nowait" : "");
    schedule();
    puts("");
    line("for (int j = 0; j < 8; j++) w[j] += m + (unsigned)j;");
    if (below(2)) line("#pragma omp critical(name)"), line("s.a |= %u;", below(9));
    if (below(2)) line("#pragma omp atomic"), line("C[t] |= %u;", below(9));
    if (below(2)) line("#pragma omp barrier"), line("if (omp_get_thread_num() == 0) x%u += w[%u];", x, below(8));
    close_block();
    line("x%u ^= w[%u] + m;", x, below(8));
    close_block();
}

static void piece_sections(unsigned x)
{
    parallel("parallel sections", "");
    open_block();
    line("#pragma omp section");
    line("fill(L, 8, C[t]);");
    line("#pragma omp section");
    line("{ x%u += total(A[t], 50); bump(&s, 3); }", x == 2 ? 0 : x);       /* s.p is x2 */
    if (below(2)) line("#pragma omp section"), line("fill(B[t], 50, f[1]);");
    close_block();
}

static void piece_lists(unsigned x)
{
    open_block();
    declare("unsigned char c = (unsigned char)(", ");");
    line("short least = 99; long long product = 1; _Bool every = 1; double e = 0.5; struct box b = { { 1, 2 } };");
    parallel_for(" reduction(^: c) reduction(min: least) reduction(*: product) reduction(&&: every) reduction(+: e) reduction(join: b)");
    line("for (int j = 0; j < 50; j++) {");
    indent++;
    line("c ^= (unsigned char)B[t][j]; if ((short)(A[t][j] & 255) < least) least = (short)(A[t][j] & 255);");
    line("product *= 1 + (j %% 5 == 1), every = every && A[t][j] != %u, e += j & 3, b.v[j %% 6] += A[t][j] * x%u;", below(40), x);
    close_block();
    line("x%u += c + (unsigned)least + (unsigned)product + every + (unsigned)(e * 2) + b.v[%u];", x, below(6));
    close_block();
}

static void piece_loops(unsigned x)
{
    switch (below(3)) {
    case 0:
        line("#pragma omp simd reduction(+: x%u)", x);
        line("for (int j = 0; j < 50; j++) x%u += A[t][j];", x);
        break;
    case 1:
        parallel("parallel loop", "");
        line("for (int j = 0; j < 50; j++) A[t][j] += B[t][j] * x%u;", x);
        break;
    default:
        open_block();
        line("unsigned own;");
        parallel_for(" private(own)");
        line("for (int j = 49; j >= 0; j -= 3) { own = (unsigned)j * 3; A[t][j] += own + x%u; }", x);
        close_block();
    }
}

/* What keeps a region generic: recursion and pointers to functions. */
static void piece_opaque(unsigned x)
{
    switch (below(3)) {
    case 0: line("x%u += walk(A[t], %u);", x, below(4)); break;
    case 1:
        line("{ void (*call)(unsigned *, int, unsigned) = x%u & 1 ? fill : far; call(A[t], 50, %u); call = fill; if (L[2] & 1) call = far; call(L, 8, x%u); }",
             x, below(9), (x + 1) % SCALARS);
        break;
    default: line("{ void (*const list[2])(unsigned *, int, unsigned) = { far, fill }; for (unsigned k = 0; k < 3; k++) list[(x%u + k) %% 2](B[t], 50, k); }", x);
    }
}

static void piece(void)
{
    static void (*const pieces[])(unsigned) = {
        piece_nested, piece_tasks, piece_copies, piece_pointers, piece_sized, piece_jumps, piece_converge, piece_conditions, piece_scan, piece_worksharing,
        piece_sections, piece_lists, piece_loops, piece_opaque,
    };
    enum { PIECES = sizeof pieces / sizeof *pieces };
    unsigned x = below(SCALARS);
    pieces[below(opaque ? PIECES : PIECES - 1)](x);
}

static void statement(int depth)
{
    switch (below(depth < DEPTH ? 23 : 18) + (below(5) == 0 ? 100 : 0)) {
    case 0: case 1: case 2: case 3: case 4: store(); break;
    case 5: if (nested) store(); else line("x%u += (unsigned)(omp_get_thread_num() * 3 + omp_get_num_threads());", below(SCALARS)); break;
    case 6: case 7: case 8: parallel_loop(); break;
    case 9: parallel_block(); break;
    case 10: parallel_reduction(); break;
    case 11: case 12: call(); break;
    case 13:
        line(below(2) ? "#pragma omp atomic" : "#pragma omp critical");
        line("C[t] += x%u;", below(SCALARS));
        break;
    case 14: if (depth < DEPTH) declaration(); else store(); break;
    case 15: parallel_collapse(); break;
    case 16: line("d += %u;", below(9)); break;
    case 17: own_local(); break;
    case 18: case 19: condition(depth); break;
    case 20: choice(depth); break;
    case 21: case 22: loop(depth); break;
    default: piece();
    }
}

static void block(int depth)
{
    unsigned n = depth ? 1 + below(2) : 2 + below(3);
    while (n--) statement(depth);
}

/* ------------------------------------------------------------------ a region, the program */
static void region_open(unsigned form)
{
    static const char *const pragmas[] = {
        "#pragma omp target map(tofrom: A, B, C, sum) firstprivate(f)",
        "#pragma omp target teams distribute map(tofrom: A, B, C, sum) firstprivate(f) num_teams(3)",
        "#pragma omp target teams distribute map(tofrom: A, B, C, sum) firstprivate(f) reduction(+: sum) thread_limit(40)",
        "#pragma omp target teams distribute map(tofrom: A, B, C, sum) firstprivate(f) dist_schedule(static, 1) num_teams(4)",
        "#pragma omp target teams map(tofrom: A, B, C, sum) firstprivate(f) num_teams(2) reduction(^: sum)",
        "#pragma omp target parallel for map(tofrom: A, B, C, sum) firstprivate(f) num_threads(5) reduction(+: sum)",
    };
    line("%s", pragmas[form]);
    if (form == 4) {                  /* every team: its own locals */
        line("{");
        line("unsigned w[8] = { %u };", below(99));
        line("#pragma omp parallel for");
        line("for (int j = 0; j < 8; j++) w[j] = (unsigned)j * %u + f[j %% 4];", below(9));
        line("f[2] += w[5];");
        if (below(2)) {
            line("#pragma omp distribute");
            line("for (int t = 0; t < 6; t++) C[t] += w[t] * 3;");
        }
        line("#pragma omp distribute");
    }
    line("for (int t = 0; t < 6; t++) {");
    indent++;
    line("unsigned x0 = 1, x1 = (unsigned)t, x2 = %u, x3 = C[t], L[8] = { 1, 2, 3 }, *q = &x1;", below(99));
    line("struct pair s = { %u, 4, &x2 };", below(9));
    line("double d = %u;", below(50));
    if (form == 4) line("x3 += w[%u] + w[%u];", below(8), below(8));
    if (has_v) line("unsigned V[f[3] + (unsigned)t];"), line("for (int j = 0; j < 8; j++) V[j] = x3 + (unsigned)j;");
    line("for (int j = 0; j < 8; j++) G[t][j] = (unsigned)(j * t);");
}

static void region(void)
{
    static const unsigned forms[] = { 0, 1, 1, 2, 2, 3, 4, 4, 1, 2, 4, 5 };
    unsigned form = forms[below(12)];
    nested = form == 5;
    has_v = below(6) == 0, clauses = below(5) == 0, opaque = below(12) == 0;
    nlocals = names = inner = 0;
    printf("static unsigned region_%lu(void)\n{\n", seed);
    indent = 1;
    line("unsigned sum = 0, f[4] = { 3, %u, 9, 8 };", below(99));
    line("enum { nested = %d };", nested);
    line("start();");
    region_open(form);
    block(0);
    if (below(4) == 0) line("if (x0 %% 3 == 1) continue;"), block(1);
    line("unsigned h = x0 + 3 * x1 + 5 * x2 + 7 * x3 + *q + s.a + s.b + (unsigned)(long long)d;");
    line("for (int j = 0; j < 8; j++) h = h * 5 + L[j] + G[t][j]%s;", has_v ? " * V[j]" : "");
    line("C[t] += h;");
    if (form == 2 || form == 5) line("sum += x0 ^ C[t];");
    if (form == 4) line("sum ^= x0 + C[t];");
    indent--;
    line("}");
    if (form == 4) line("}");
    puts("    return checksum(sum);\n}\n");
}

static const char prelude[] =
    "#include <stdio.h>\n#ifdef _OPENMP\n#include <omp.h>\n#define LEVEL(n) (omp_get_level() - nested)\n#else\n#define LEVEL(n) (n)\n"
    "static int omp_get_thread_num(void) { return 0; }\nstatic int omp_get_num_threads(void) { return 1; }\n#endif\n"
    "static unsigned A[6][50], B[6][50], C[6];\n"
    "#pragma omp declare target\nstatic unsigned G[6][8];\n#pragma omp end declare target\n"
    "struct pair { unsigned a, b, *p; };\n"
    "static void fill(unsigned *p, int n, unsigned v)\n{\n#pragma omp parallel for\n    for (int i = 0; i < n; i++) p[i] ^= v + (unsigned)i;\n}\n"
    "static unsigned total(const unsigned *p, int n)\n{\n    unsigned s = 1;\n#pragma omp parallel for reduction(+: s)\n"
    "    for (int i = 0; i < n; i++) s += p[i];\n    return s;\n}\n"
    "static __attribute__((noinline)) unsigned mix(unsigned *p, unsigned n)\n{\n    unsigned h = 7;\n"
    "    for (unsigned i = 0; i < n; i++) h = h * 31 + p[i], p[i] += i;\n    return h;\n}\n"
    "static void poke(unsigned *p, unsigned v) { *p = *p * 3 + v; }\n"
    "static unsigned pure(unsigned v) { unsigned h = 5; for (int i = 0; i < 4; i++) h = h * 31 + (v >> i); return h; }\n"
    "static void bump(struct pair *s, unsigned v) { s->a += v; *s->p ^= v; if (s->a & 1) poke(&s->b, v); }\n"
    "static unsigned chain(unsigned *p, int n, unsigned v)\n{\n    if (v & 1) return total(p, n);\n"
    "    for (unsigned k = 0; k < 2; k++) {\n        fill(p, n, v + k);\n        if (p[3] & 4) return v + k;\n    }\n    return p[0];\n}\n"
    "static unsigned inside(unsigned *p, unsigned v)\n{\n    unsigned loc[10] = { v }, n = 0;\n"
    "#pragma omp parallel for\n    for (int i = 1; i < 10; i++) loc[i] = p[i] + loc[0];\n"
    "#pragma omp parallel for reduction(^: n)\n    for (int i = 0; i < 10; i++) p[i + 10] += loc[i], n ^= loc[i];\n    return n + loc[3];\n}\n"
    "static __attribute__((noinline)) void far(unsigned *p, int n, unsigned v)\n{\n#pragma omp parallel for schedule(static, 2)\n"
    "    for (int i = 0; i < n; i++) p[i] += v * (unsigned)i;\n}\n"
    "static void half(unsigned *p, int n)\n{\n    if (n > 10) {\n        half(p, n / 2);\n        half(p + n / 2, n - n / 2);\n        return;\n    }\n"
    "    unsigned most = 0;\n#pragma omp parallel for reduction(max: most)\n    for (int i = 0; i < n; i++) most = p[i] > most ? p[i] : most;\n"
    "    p[0] = most;\n}\n"
    "struct box { unsigned v[6]; };\n"
    "static void join(struct box *a, const struct box *b) { for (int i = 0; i < 6; i++) a->v[i] += b->v[i]; }\n"
    "#pragma omp declare reduction(join : struct box : join(&omp_out, &omp_in)) initializer(omp_priv = { { 0 } })\n"
    "static struct box twist(struct box b, unsigned x)\n{\n#pragma omp parallel for\n    for (int i = 0; i < 6; i++) b.v[i] ^= x + (unsigned)i;\n    return b;\n}\n"
    "static unsigned first(unsigned *p, int n, unsigned v)\n{\n    for (unsigned k = 0; k < 3; k++) {\n        unsigned same = 0;\n"
    "#pragma omp parallel for reduction(+: same)\n        for (int i = 0; i < n; i++) same += p[i] % 9 == v + k;\n"
    "        if (same) return k;\n        if (p[k] & 1) goto out;\n        fill(p, n, k);\n    }\n    v = 9;\nout:\n    return v;\n}\n"
    "static unsigned walk(unsigned *p, unsigned n)\n{\n    unsigned loc[5] = { n, p[n] };\n#pragma omp parallel for\n"
    "    for (int i = 2; i < 5; i++) loc[i] = p[i] + loc[0] + loc[1];\n    if (n) loc[2] += walk(p + 1, n - 1) + loc[3];\n"
    "#pragma omp parallel for\n    for (int i = 0; i < 5; i++) p[i] += loc[i];\n    return loc[2] + loc[4];\n}\n"
    "static void start(void)\n{\n    for (unsigned t = 0; t < 6; t++)\n"
    "        for (unsigned i = 0; i < 50; i++) A[t][i] = t + i, B[t][i] = t * i, C[t] = t;\n}\n"
    "static unsigned checksum(unsigned h)\n{\n    for (unsigned t = 0; t < 6; t++) {\n        h = h * 33 + C[t];\n"
    "        for (unsigned i = 0; i < 50; i++) h = h * 33 + A[t][i], h = h * 33 + B[t][i];\n    }\n    return h;\n}\n\n";

int main(int argc, char **argv)
{
    fputs(prelude, stdout);
    for (int i = 1; i < argc; i++) {
        seed = strtoul(argv[i], NULL, 10);
        state = seed * 0x9e3779b97f4a7c15ull + 1;
        below(2);
        region();
    }
    puts("int main(void)\n{\n    setvbuf(stdout, NULL, _IOLBF, 0);");
    for (int i = 1; i < argc; i++)
        printf("    printf(\"%s %%08x\\n\", region_%lu());\n", argv[i], strtoul(argv[i], NULL, 10));
    puts("    return 0;\n}");
    return 0;
}
