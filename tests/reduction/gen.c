/* gen.c - writes random programs that reduce: gen SEED KERNELS > prop.c; prop SEED CASES runs them.
 *
 * A program holds KERNELS kernels, each of a random form (directives) with 1 to 8 random list items: type × operator × shape (scalar,
 * array, matrix, variable length array, section of constant or run-time length, section of what a pointer points to).  Each case runs one kernel with a random
 * number of teams, of threads, and of iterations.  What is combined is exact in any order (small integers, powers of two, units), so that
 * the result is compared with a serial loop's exactly; the serial loop is plain C, without OpenMP.  Two inexact sums per kernel are
 * compared with what they are in double precision, and printed, for the test to see that they are the same from run to run.          */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long state;
static unsigned pick(unsigned n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % n;
}

/* ------------------------------------------------------------------ types and operators */
enum class { INTEGER, BOOLEAN, REAL, COMPLEX, STRUCT };
static const struct { const char *name; enum class class; const char *udr, *update; } types[] = {
    { "char", INTEGER, 0, 0 }, { "signed char", INTEGER, 0, 0 }, { "unsigned char", INTEGER, 0, 0 }, { "short", INTEGER, 0, 0 },
    { "unsigned short", INTEGER, 0, 0 }, { "int", INTEGER, 0, 0 }, { "unsigned", INTEGER, 0, 0 }, { "long", INTEGER, 0, 0 },
    { "unsigned long", INTEGER, 0, 0 }, { "long long", INTEGER, 0, 0 }, { "unsigned long long", INTEGER, 0, 0 },
    { "__int128", INTEGER, 0, 0 }, { "unsigned __int128", INTEGER, 0, 0 }, { "_Bool", BOOLEAN, 0, 0 }, { "_Float16", REAL, 0, 0 },
    { "float", REAL, 0, 0 }, { "double", REAL, 0, 0 }, { "double", REAL, 0, 0 }, { "float _Complex", COMPLEX, 0, 0 },
    { "double _Complex", COMPLEX, 0, 0 },
    { "enum color", INTEGER, 0, 0 }, { "int _Complex", COMPLEX, 0, 0 },
    { "struct best", STRUCT, "merge", "better(&V, &(struct best){ x % 1000, i })" },
    { "struct wide", STRUCT, "merge", "V.n += x; V.part[x % 20] += i" },
    { "struct tiny", STRUCT, "merge", "V.c[x % 3] ^= (char)(x >> 8)" },
    { "struct peak", STRUCT, "merge", "V = peak(V, (struct peak){ (short)(x % 30000) })" },
};
enum { NTYPES = sizeof types / sizeof *types };

/* how[class]: what iteration i does to V; x is a pseudo-random unsigned.  NULL: not for this class */
static const struct { const char *op; const char *how[4]; int start; } ops[] = {
    { "+", { "V += (int)(x % 7) - 3", "V += x % 97 == 0", "V += (int)(x % 3) - 1", "V += (int)(x % 3) - 1 + __extension__ 1i * (int)(x % 2)" }, 2 },
    { "-", { "V -= (int)(x % 7)", NULL, "V -= (int)(x % 3) - 1", "V -= (int)(x % 3) - 1" }, 1 },
    { "*", { "V *= x % 16 ? 1 : 3", "V *= x % 97 != 0", "V *= x % 1024 == 1 ? 2 : x % 1024 == 2 ? 0.5 : x % 32 ? 1 : -1", "V *= x % 5 ? 1 : __extension__ 1i" }, 1 },
    { "&", { "V &= ~((__typeof__(V))1 << x % (8 * sizeof V))", "V &= x % 97 != 0", NULL, NULL }, -1 },
    { "|", { "V |= (__typeof__(V))1 << x % (8 * sizeof V)", "V |= x % 97 == 0", NULL, NULL }, 0 },
    { "^", { "V ^= (__typeof__(V))(x * 2654435761u)", "V ^= x % 3 == 0", NULL, NULL }, 5 },
    { "&&", { "V = V && x % 97", "V = V && x % 97", "V = V && x % 97", NULL }, 1 },
    { "||", { "V = V || x % 97 == 0", "V = V || x % 97 == 0", "V = V || x % 97 == 0", NULL }, 0 },
    { "max", { "V = (__typeof__(V))(x % 120) > V ? (__typeof__(V))(x % 120) : V", "V = (x % 97 == 0) > V ? x % 97 == 0 : V",
               "V = (int)(x % 1000) - 500 > V ? (int)(x % 1000) - 500 : V", NULL }, 0 },
    { "min", { "V = (__typeof__(V))(x % 120) < V ? (__typeof__(V))(x % 120) : V", "V = (x % 97 != 0) < V ? x % 97 != 0 : V",
               "V = (int)(x % 1000) - 500 < V ? (int)(x % 1000) - 500 : V", NULL }, 120 },
};
enum { NOPS = sizeof ops / sizeof *ops };

enum shape { SCALAR, ARRAY, SECTION, POINTER, MATRIX, VLA };
static bool vlas;                     /* in some programs: their device code takes another way through the compiler */
struct item {
    unsigned type, op, length;        /* length 0: scalar */
    unsigned lower;                   /* of a section */
    enum shape shape;
};

static bool is_struct(const struct item *it) { return types[it->type].class == STRUCT; }

static struct item random_item(void)
{
    struct item it = { .type = pick(NTYPES) };
    do
        it.op = pick(NOPS);
    while (!is_struct(&it) && !ops[it.op].how[types[it.type].class]);
    it.shape = pick(3) ? SCALAR : (enum shape)(1 + pick(vlas ? 5 : 4));
    it.length = it.shape == SCALAR ? 0 : 1 + pick(it.shape == ARRAY && pick(2) ? 8 : it.shape == MATRIX ? 5 : 45);
    it.lower = it.shape == SCALAR || it.shape == ARRAY || it.shape == VLA ? 0 : pick(4);
    return it;
}

/* ------------------------------------------------------------------ text */
static const char prelude[] =
    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "struct best { double value; long at; };\nstruct wide { long n, part[20]; };\nstruct tiny { char c[3]; };\nstruct peak { short v; };\nenum color { RED, GREEN = 1 << 30 };\n"
    "static void better(struct best *a, const struct best *b)\n"
    "{ if (b->value > a->value || (b->value == a->value && b->at < a->at)) *a = *b; }\n"
    "static struct wide sum(struct wide a, const struct wide *b)\n"
    "{ a.n += b->n; for (int i = 0; i < 20; i++) a.part[i] += b->part[i]; return a; }\n"
    "static void exor(struct tiny *a, struct tiny b) { for (int i = 0; i < 3; i++) a->c[i] ^= b.c[i]; }\n"
    "static struct peak peak(struct peak a, struct peak b) { return a.v > b.v ? a : b; }\n"
    "#pragma omp declare reduction(merge : struct best : better(&omp_out, &omp_in)) initializer(omp_priv = { -1, 1 << 30 })\n"
    "#pragma omp declare reduction(merge : struct wide : omp_out = sum(omp_out, &omp_in))\n"
    "#pragma omp declare reduction(merge : struct tiny : exor(&omp_out, omp_in))\n"
    "#pragma omp declare reduction(merge : struct peak : omp_out = peak(omp_out, omp_in)) initializer(omp_priv = omp_orig)\n"
    "static unsigned mix(unsigned s, int i) { s ^= (unsigned)i * 2654435761u; s ^= s >> 15; s *= 2246822519u; s ^= s >> 13; return s; }\n"
    "static int bad;\n"
    "static int near(double a, double b, double terms, double eps)\n"
    "{ double d = a - b; return (d < 0 ? -d : d) <= (terms + 8) * eps * b; }\n";

static void update(const struct item *it, const char *v)
{
    const char *how = is_struct(it) ? types[it->type].update : ops[it->op].how[types[it->type].class];
    for (const char *p = how; *p; p++)
        if (*p == 'V') fputs(v, stdout);
        else putchar(*p);
    putchar(';');
}

/* One iteration, on the variables whose names begin with v or h. */
static void body(const struct item *items, unsigned n, char prefix)
{
    printf("        unsigned x = mix(seed, i);\n");
    for (unsigned k = 0; k < n; k++) {
        char v[80];
        if (items[k].shape == SCALAR) snprintf(v, sizeof v, "%c%u", prefix, k);
        else if (items[k].shape == MATRIX) snprintf(v, sizeof v, "%c%u[%u + i %% %u][i / 3 %% 4]", prefix, k, items[k].lower, items[k].length);
        else snprintf(v, sizeof v, "%c%u[%u + i %% %u]", prefix, k, items[k].lower, items[k].length);
        printf("        x = x * 747796405u + 2891336453u; x ^= x >> 16; ");
        update(&items[k], v);
        printf("\n");
    }
}

static unsigned elements(const struct item *it) { return it->shape == ARRAY || it->shape == VLA ? it->length : it->lower + it->length + 2; }
static const char *row(const struct item *it) { return it->shape == MATRIX ? "[4]" : ""; }

/* a: storage for the device, g: the same for the reference. */
static void declare(const struct item *it, unsigned k)
{
    const char *t = types[it->type].name;
    int start = types[it->type].class == BOOLEAN ? (int)pick(2) : ops[it->op].start;
    if (it->shape == SCALAR) {
        printf("    %s v%u, h%u; memset(&v%u, 0, sizeof v%u);", t, k, k, k, k);
        if (!is_struct(it)) printf(" v%u = (%s)%d;", k, t, start);
        printf(" memcpy(&h%u, &v%u, sizeof v%u);\n", k, k, k);
        return;
    }
    const char *more = it->shape == VLA ? "len + " : "";
    printf("    %s a%u[%s%u]%s, g%u[%s%u]%s; memset(a%u, 0, sizeof a%u);", t, k, more, elements(it), row(it), k, more, elements(it), row(it), k, k);
    if (!is_struct(it)) printf(" for (unsigned i = 0; i < sizeof a%u / sizeof(%s); i++) ((%s *)a%u)[i] = (%s)%d;", k, t, t, k, t, start);
    printf(" memcpy(g%u, a%u, sizeof a%u);", k, k, k);
    if (it->shape == POINTER) printf(" %s *v%u = a%u, *h%u = g%u;\n", t, k, k, k, k);
    else printf("\n");
}

static bool tasks;                    /* clang 22 crashes on run-time lengths, and on arrays without an initializer, in the host version of taskloops */
static void clause(const struct item *it, unsigned k)
{
    printf(" reduction(%s%s: ", pick(8) ? "" : "default, ", is_struct(it) ? types[it->type].udr : ops[it->op].op);
    if (it->shape == SCALAR || it->shape == ARRAY || it->shape == VLA) printf("v%u)", k);
    else if (tasks || (it->shape != POINTER && k % 2)) printf("v%u[%u:%u]%s)", k, it->lower, it->length, it->shape == MATRIX ? "[:]" : "");
    else printf("v%u[low + %u:len + %u]%s)", k, it->lower, it->length, it->shape == MATRIX ? "[0:4]" : "");
}

/* Not the bits: the sign of a zero of a complex product depends on the order. */
static void compare(const struct item *it, unsigned k)
{
    const char *t = types[it->type].name;
    char a = it->shape == SCALAR ? 'v' : 'a', g = it->shape == SCALAR ? 'h' : 'g';
    if (is_struct(it))
        printf("    if (!wrong && memcmp(&%c%u, &%c%u, sizeof %c%u)) wrong = %u;\n", a, k, g, k, a, k, k + 1);
    else
        printf("    for (unsigned i = 0; !wrong && i < sizeof %c%u / sizeof(%s); i++) if (((%s *)&%c%u)[i] != ((%s *)&%c%u)[i]) wrong = %u;\n",
               a, k, t, t, a, k, t, g, k, k + 1);
}

/* ------------------------------------------------------------------ kernels */
/* first, second: R stands for the reduction clauses, M for map clauses of all items.  The loops are i < trip, or blocks of 50 and those of a
 * block; between stands between the loops. */
static const struct form { const char *first, *second; bool blocks; } forms[] = {
    { "target teams distribute parallel for num_teams(teams) thread_limit(threads) R", NULL, false },
    { "target parallel for num_threads(threads) R", NULL, false },
    { "target teams distribute num_teams(teams) R", NULL, false },
    { "target teams loop num_teams(teams) thread_limit(threads) R", NULL, false },
    { "target parallel loop num_threads(threads) R", NULL, false },
    { "target simd R", NULL, false },
    { "target parallel for simd num_threads(threads) schedule(static, 2) R", NULL, false },
    { "target teams distribute simd num_teams(teams) R", NULL, false },
    { "target teams distribute parallel for num_teams(teams) thread_limit(threads) schedule(static, 3) R", NULL, false },
    { "target teams distribute parallel for num_teams(teams) thread_limit(threads) schedule(dynamic, 5) R", NULL, false },
    { "target teams distribute parallel for simd num_teams(teams) thread_limit(threads) dist_schedule(static, 7) R", NULL, false },
    { "target M", "parallel for num_threads(threads) R", false },
    { "target thread_limit(threads) M", "parallel for schedule(guided) R", false },
    { "target teams num_teams(teams) thread_limit(threads) R", "distribute parallel for R", false },
    { "target teams num_teams(teams) thread_limit(threads) R", "distribute simd R", false },
    { "target teams distribute num_teams(teams) thread_limit(threads) R", "parallel for R", true },
    { "target teams distribute num_teams(teams) R", "simd R", true },
    { "target teams distribute parallel for num_teams(teams) thread_limit(threads) R", "simd R", true },
    { "target parallel num_threads(threads) M", "for R", false },
    { "target parallel for num_threads(threads) R", "loop bind(thread) R", true },
    { "target M", "taskloop R", false },
    { "target M", "parallel masked taskloop simd num_threads(threads) R", false },
    { "target teams distribute num_teams(teams) R", "taskloop num_tasks(7) R", true },
};
enum { NFORMS = sizeof forms / sizeof *forms };

static void directive(const char *text, const struct item *items, unsigned n)
{
    printf("#pragma omp ");
    for (const char *p = text; *p; p++) {
        bool word = (*p == 'R' || *p == 'M') && !p[1];
        if (!word) putchar(*p);
        for (unsigned k = 0; word && k < n; k++) {
            if (*p == 'R') clause(&items[k], k);
            if (items[k].shape == POINTER && strstr(text, "target")) printf(" map(tofrom: v%u[0:%u])", k, elements(&items[k]));
            else if (*p == 'M') printf(" map(tofrom: v%u)", k);
        }
        if (word) printf(*p == 'R' ? " reduction(+: inexact, rough)" : " map(tofrom: inexact, rough)");
    }
    printf("\n");
}

static void loops(const struct form *f, const struct item *items, unsigned n)
{
    directive(f->first, items, n);
    if (f->blocks) printf("    for (int b = 0; b < (trip + 49) / 50; b++) {\n");
    if (f->second) directive(f->second, items, n);
    if (f->blocks) printf("    for (int i = b * 50; i < (trip < b * 50 + 50 ? trip : b * 50 + 50); i++) {\n");
    else printf("    for (int i = 0; i < trip; i++) {\n");
    printf("        inexact += 0.1 * i; rough += 0.1f * (float)(i %% 77);\n");
    body(items, n, 'v');
    printf("    }\n%s", f->blocks ? "    }\n" : "");
}

static void kernel(unsigned number)
{
    struct item items[8];
    unsigned n = 1 + pick(8);
    const struct form *form = &forms[pick(4) ? pick(NFORMS) : 0];
    tasks = form->second && strstr(form->second, "taskloop");
    printf("\nstatic void kernel_%u(unsigned seed, int teams, int threads, int trip, int low, int len)\n{\n", number);
    printf("    double inexact = 0; float rough = 0;\n    (void)low, (void)len, (void)teams, (void)threads;\n");
    for (unsigned k = 0; k < n; k++) {
        do
            items[k] = random_item();
        while (tasks && (items[k].shape == VLA || (items[k].shape != SCALAR && is_struct(&items[k]))));
        declare(&items[k], k);
    }
    for (unsigned k = 0; k < n; k++)  /* one spelling for arrays and pointers */
        if (items[k].shape != SCALAR && items[k].shape != POINTER) printf("#define v%u a%u\n#define h%u g%u\n", k, k, k, k);
    loops(form, items, n);
    printf("    double exact = 0, exactly = 0;\n    for (int i = 0; i < trip; i++) {\n        exact += 0.1 * i; exactly += 0.1f * (float)(i %% 77);\n");
    body(items, n, 'h');
    printf("    }\n    int wrong = 0;\n");
    for (unsigned k = 0; k < n; k++) compare(&items[k], k);
    printf("    if (!near(inexact, exact, trip, 3e-16) || !near(rough, exactly, trip, 1.2e-7)) wrong = 100;\n");
    printf("    if (wrong && bad++ < 20) printf(\"kernel %u: item %%d is wrong: seed %%u teams %%d threads %%d trip %%d\\n\", wrong - 1, seed, teams, threads, trip);\n",
           number);
    printf("    unsigned long long bits; unsigned few; memcpy(&bits, &inexact, 8); memcpy(&few, &rough, 4); printf(\"%%llx %%x\\n\", bits, few);\n}\n");
    for (unsigned k = 0; k < n; k++)
        if (items[k].shape != SCALAR && items[k].shape != POINTER) printf("#undef v%u\n#undef h%u\n", k, k);
}

/* teams × threads stays small but for one case in 48, so that many cases are fast. */
static const char program[] =
    "static void run(void (*kernel)(unsigned, int, int, int, int, int), unsigned x, int rare)\n{\n"
    "    static const int few[] = { 1, 1, 2, 3, 7, 16, 40, 300, 1000, 5000 }, sizes[] = { 1, 2, 31, 32, 33, 64, 100, 257, 1000, 1024 };\n"
    "    int t = x & 1 ? few[x / 2 % 10] : 1 + (int)(x / 2 % 64), n = x & 1024 ? sizes[x / 2048 % 10] : 1 + (int)(x / 2048 % 1024), most = rare ? 20000 : 1500;\n"
    "    if (t * n > most && x & 1u << 22) t = most / n ? most / n : 1;\n"
    "    if (t * n > most) n = most / t ? most / t : 1;\n"
    "    int trips[] = { 0, 1, 2, n - 1, t - 1, t * n - 1, t * n, t * n + 1, 70, 700, 3000, (int)(x % 2000) };\n"
    "    kernel(x, t, n, trips[(x >> 23) % 12] % 8000, 0, 0);\n}\n"
    "int main(int argc, char **argv)\n{\n"
    "    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1; int cases = argc > 2 ? atoi(argv[2]) : 5;\n"
    "    for (int k = 0; k < cases; k++) {\n";

int main(int argc, char **argv)
{
    unsigned kernels = argc > 2 ? (unsigned)atoi(argv[2]) : 10;
    state = argc > 1 ? strtoull(argv[1], NULL, 10) * 7919 + 1 : 1;
    vlas = state / 7919 % 3 == 0;
    fputs(prelude, stdout);
    for (unsigned i = 0; i < kernels; i++) kernel(i);
    printf("\n%s", program);
    for (unsigned i = 0; i < kernels; i++) printf("        run(kernel_%u, mix(seed * 31u + %u, k + 1000), (k + %u) %% 48 == 15);\n", i, i, i);
    printf("    }\n    printf(\"%%d wrong\\n\", bad);\n    return bad != 0;\n}\n");
    return 0;
}
