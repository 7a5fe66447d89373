/* gen.c - writes random programs that reduce: gen SEED KERNELS > prop.c; prop SEED CASES runs them.
 *
 * A program holds KERNELS kernels, each of a random form with 1 to 8 random list items (type × operator × scalar, array, section).  Each
 * case runs every kernel with random num_teams, thread_limit and trip count.  What is combined is exact in any order (small integers,
 * powers of two, units), so the result is compared with the serial loop's exactly.  Two inexact sums per kernel are printed, for
 * the test to see that they are the same from run to run.                                                             */
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
static const struct { const char *name; enum class class; } types[] = {
    { "signed char", INTEGER }, { "short", INTEGER }, { "int", INTEGER }, { "long", INTEGER }, { "unsigned char", INTEGER },
    { "unsigned short", INTEGER }, { "unsigned", INTEGER }, { "unsigned long long", INTEGER }, { "__int128", INTEGER },
    { "unsigned __int128", INTEGER }, { "_Bool", BOOLEAN }, { "float", REAL }, { "double", REAL }, { "_Float16", REAL },
    { "double", REAL }, { "int", INTEGER }, { "float _Complex", COMPLEX }, { "double _Complex", COMPLEX }, { "struct best", STRUCT },
    { "struct wide", STRUCT },
};
enum { NTYPES = sizeof types / sizeof *types };

/* how[class]: what iteration x (a pseudo-random unsigned) does to the variable; %s three times at most.  NULL: not for this class */
static const struct { const char *op; const char *how[4]; int start; } ops[] = {
    { "+", { "V += (int)(x % 7) - 3", NULL, "V += (int)(x % 3) - 1", "V += (int)(x % 3) - 1 + __extension__ 1i * (int)(x % 2)" }, 2 },
    { "-", { "V -= (int)(x % 7)", NULL, "V -= (int)(x % 3) - 1", "V -= (int)(x % 3) - 1" }, 1 },
    { "*", { "V *= x % 16 ? 1 : 3", NULL, "V *= x % 32 == 0 ? 2 : x % 32 == 1 ? -0.5 : 1", "V *= x % 5 ? 1 : __extension__ 1i" }, 1 },
    { "&", { "V &= ~((__typeof__(V))1 << x % (8 * sizeof V))", "V &= x % 97 != 0", NULL, NULL }, -1 },
    { "|", { "V |= (__typeof__(V))1 << x % (8 * sizeof V)", "V |= x % 97 == 0", NULL, NULL }, 0 },
    { "^", { "V ^= (__typeof__(V))(x * 2654435761u)", "V ^= x % 3 == 0", NULL, NULL }, 5 },
    { "&&", { "V = V && x % 97", "V = V && x % 97", "V = V && x % 97", NULL }, 1 },
    { "||", { "V = V || x % 97 == 0", "V = V || x % 97 == 0", "V = V || x % 97 == 0", NULL }, 0 },
    { "max", { "V = (__typeof__(V))(x % 120) > V ? (__typeof__(V))(x % 120) : V", NULL, "V = (int)(x % 1000) - 500 > V ? (int)(x % 1000) - 500 : V", NULL }, 0 },
    { "min", { "V = (__typeof__(V))(x % 120) < V ? (__typeof__(V))(x % 120) : V", NULL, "V = (int)(x % 1000) - 500 < V ? (int)(x % 1000) - 500 : V", NULL }, 120 },
};
enum { NOPS = sizeof ops / sizeof *ops };

struct item {
    unsigned type, op, length;        /* length 0: scalar */
    unsigned lower;                   /* of a section */
    enum { SCALAR, ARRAY, SECTION, POINTER } shape;
};

static struct item random_item(void)
{
    struct item it = { .type = pick(NTYPES) };
    do
        it.op = pick(NOPS);
    while (types[it.type].class != STRUCT && !ops[it.op].how[types[it.type].class]);
    bool boolean = types[it.type].class == BOOLEAN;       /* clang 22 crashes on the host version of a _Bool array */
    it.shape = pick(3) || boolean ? SCALAR : 1 + pick(3);
    it.length = it.shape == SCALAR ? 0 : 1 + pick(it.shape == ARRAY && pick(2) ? 8 : 45);
    it.lower = it.shape == SCALAR || it.shape == ARRAY ? 0 : pick(4);
    return it;
}

/* ------------------------------------------------------------------ text */
static const char prelude[] =
    "#include <omp.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "struct best { double value; long at; };\nstruct wide { long n, part[20]; };\n"
    "static void better(struct best *a, const struct best *b)\n"
    "{ if (b->value > a->value || (b->value == a->value && b->at < a->at)) *a = *b; }\n"
    "static struct wide sum(struct wide a, const struct wide *b)\n"
    "{ a.n += b->n; for (int i = 0; i < 20; i++) a.part[i] += b->part[i]; return a; }\n"
    "#pragma omp declare reduction(merge : struct best : better(&omp_out, &omp_in)) initializer(omp_priv = { -1, 1 << 30 })\n"
    "#pragma omp declare reduction(merge : struct wide : omp_out = sum(omp_out, &omp_in))\n"
    "static unsigned mix(unsigned s, int i) { s ^= (unsigned)i * 2654435761u; s ^= s >> 15; s *= 2246822519u; s ^= s >> 13; return s; }\n"
    "static int bad;\n";

static void update(const struct item *it, const char *v)
{
    if (types[it->type].class == STRUCT) {
        printf(!strcmp(types[it->type].name, "struct best") ? "better(&%1$s, &(struct best){ x %% 1000, i });"
                                                            : "%1$s.n += x; %1$s.part[x %% 20] += i;", v);
        return;
    }
    for (const char *p = ops[it->op].how[types[it->type].class]; *p; p++)
        if (*p == 'V') fputs(v, stdout);
        else putchar(*p);
    putchar(';');
}

static void body(const struct item *items, unsigned n, const char *prefix)
{
    printf("        unsigned x = mix(seed, i);\n");
    for (unsigned k = 0; k < n; k++) {
        char v[80];
        if (items[k].shape == SCALAR) snprintf(v, sizeof v, "%s%u", prefix, k);
        else snprintf(v, sizeof v, "%s%u[%u + i %% %u]", prefix, k, items[k].lower, items[k].length);
        printf("        x = x * 747796405u + 2891336453u; x ^= x >> 16; ");
        update(&items[k], v);
        printf("\n");
    }
}

static void declare(const struct item *it, unsigned k)
{
    const char *t = types[it->type].name;
    int start = ops[it->op].start;
    unsigned total = it->lower + it->length + 2;
    if (it->shape == SCALAR) {
        printf("    %s v%u, h%u; memset(&v%u, 0, sizeof v%u);", t, k, k, k, k);
        if (types[it->type].class != STRUCT) printf(" v%u = (%s)%d;", k, t, start);
        printf(" memcpy(&h%u, &v%u, sizeof v%u);\n", k, k, k);
        return;
    }
    if (it->shape == ARRAY) total = it->length;
    printf("    %s a%u[%u], g%u[%u]; memset(a%u, 0, sizeof a%u);", t, k, total, k, total, k, k);
    if (types[it->type].class != STRUCT) printf(" for (int i = 0; i < %u; i++) a%u[i] = (%s)%d;", total, k, t, start);
    printf(" memcpy(g%u, a%u, sizeof a%u);", k, k, k);
    if (it->shape == POINTER) printf(" %s *v%u = a%u, *h%u = g%u;\n", t, k, k, k, k);
    else printf(" %s (*q%u)[%u] = &g%u;\n", t, k, total, k);
}

static void clause(const struct item *it, unsigned k)
{
    const char *op = types[it->type].class == STRUCT ? "merge" : ops[it->op].op;
    printf(" reduction(%s: ", op);
    if (it->shape == SCALAR) printf("v%u)", k);
    else if (it->shape == ARRAY) printf("a%u)", k);
    else if (it->shape == SECTION && k % 2) printf("a%u[%u:%u])", k, it->lower, it->length);
    else printf("%s%u[low + %u:len + %u])", it->shape == SECTION ? "a" : "v", k, it->lower, it->length);
}

/* Not the bits: the sign of a zero of a complex product depends on the order. */
static void compare(const struct item *it, unsigned k)
{
    if (types[it->type].class == STRUCT && it->shape == SCALAR)
        printf("    if (!wrong && memcmp(&v%1$u, &h%1$u, sizeof v%1$u)) wrong = %2$u;\n", k, k + 1);
    else if (types[it->type].class == STRUCT)
        printf("    if (!wrong && memcmp(a%1$u, g%1$u, sizeof a%1$u)) wrong = %2$u;\n", k, k + 1);
    else if (it->shape == SCALAR)
        printf("    if (!wrong && v%1$u != h%1$u) wrong = %2$u;\n", k, k + 1);
    else
        printf("    for (unsigned i = 0; !wrong && i < sizeof a%1$u / sizeof *a%1$u; i++) if (a%1$u[i] != g%1$u[i]) wrong = %2$u;\n", k, k + 1);
}

static void kernel(unsigned number)
{
    static const char *const forms[] = {
        "target teams distribute parallel for num_teams(teams) thread_limit(threads)", "target parallel for num_threads(threads)",
        "target teams distribute num_teams(teams)",
        "target teams loop num_teams(teams) thread_limit(threads)",
        "target teams distribute parallel for num_teams(teams) thread_limit(threads) schedule(static, 3)",
        "target teams distribute parallel for simd num_teams(teams) thread_limit(threads) dist_schedule(static, 7)",
    };
    struct item items[8];
    unsigned n = 1 + pick(8), form = pick(2) ? 0 : pick(sizeof forms / sizeof *forms);
    printf("\nstatic void kernel_%u(unsigned seed, int teams, int threads, int trip, int low, int len)\n{\n", number);
    printf("    double inexact = 0; float rough = 0; int host = 0;\n    (void)low, (void)len, (void)teams, (void)threads;\n");
    for (unsigned k = 0; k < n; k++) {
        items[k] = random_item();
        declare(&items[k], k);
    }
    for (unsigned k = 0; k < n; k++)  /* one spelling for arrays and pointers */
        if (items[k].shape == ARRAY || items[k].shape == SECTION) printf("#define v%u a%u\n#define h%u (*q%u)\n", k, k, k, k);
    printf("#pragma omp %s reduction(+: inexact, rough) reduction(||: host)", forms[form]);
    for (unsigned k = 0; k < n; k++) {
        clause(&items[k], k);
        if (items[k].shape == POINTER) printf(" map(tofrom: v%u[0:%u])", k, items[k].lower + items[k].length + 2);
    }
    printf("\n    for (int i = 0; i < trip; i++) {\n        host = omp_is_initial_device(); inexact += 0.1 * i; rough += 0.1f * (float)(i %% 77);\n");
    body(items, n, "v");
    printf("    }\n    for (int i = 0; i < trip; i++) {\n");
    body(items, n, "h");
    printf("    }\n    int wrong = host ? 100 : 0;\n");
    for (unsigned k = 0; k < n; k++) compare(&items[k], k);
    printf("    if (wrong && bad++ < 20) printf(\"kernel %u: item %%d is wrong: seed %%u teams %%d threads %%d trip %%d\\n\", wrong - 1, seed, teams, threads, trip);\n",
           number);
    printf("    unsigned long long bits; unsigned few; memcpy(&bits, &inexact, 8); memcpy(&few, &rough, 4); printf(\"%%llx %%x\\n\", bits, few);\n}\n");
    for (unsigned k = 0; k < n; k++)
        if (items[k].shape == ARRAY || items[k].shape == SECTION) printf("#undef v%u\n#undef h%u\n", k, k);
}

int main(int argc, char **argv)
{
    unsigned kernels = argc > 2 ? (unsigned)atoi(argv[2]) : 10;
    state = argc > 1 ? strtoull(argv[1], NULL, 10) * 7919 + 1 : 1;
    fputs(prelude, stdout);
    for (unsigned i = 0; i < kernels; i++) kernel(i);
    printf("\nint main(int argc, char **argv)\n{\n    static const int few[] = { 1, 2, 3, 7, 40, 300 }, sizes[] = { 1, 2, 31, 32, 33, 64, 100, 257, 1024 };\n"
           "    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1; int cases = argc > 2 ? atoi(argv[2]) : 5;\n"
           "    for (int k = 0; k < cases; k++) {\n");
    for (unsigned i = 0; i < kernels; i++)
        printf("        { unsigned x = mix(seed * 31u + %u, k + 1000); int t = few[x %% 6], n = sizes[x / 6 %% 9]; if (t * n > 3000 && k %% 16 != 15) n = 8;\n"
               "          int trips[] = { 0, 1, 5, t * n - 1, t * n + 1, 700, 3000 }; kernel_%u(x, t, n, trips[x / 64 %% 7], 0, 0); }\n", i, i);
    printf("    }\n    printf(\"%%d wrong\\n\", bad);\n    return bad != 0;\n}\n");
    return 0;
}
