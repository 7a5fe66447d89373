/* gen_scan.c - writes random programs that scan: gen_scan SEED KERNELS > scan.c; scan SEED CASES [host] runs them.
 *
 * A program holds KERNELS loops of random forms, inclusive or exclusive, each with 1 to 5 random list items (type × operator, scalars, arrays,
 * user-defined reductions).  Each case runs every kernel with a random number of threads and iterations.  What is combined is exact in
 * any association, but not always commutative, so every value that an iteration sees is compared with the serial loop's exactly.  An
 * inexact sum is printed, for the test to see that it is the same from run to run.                                             */
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

/* ------------------------------------------------------------------ list items */
enum class { INTEGER, BOOLEAN, REAL, COMPLEX, OWN };
static const struct { const char *name; enum class class; } types[] = {
    { "signed char", INTEGER }, { "short", INTEGER }, { "int", INTEGER }, { "long", INTEGER }, { "unsigned char", INTEGER },
    { "unsigned", INTEGER }, { "unsigned long long", INTEGER }, { "__int128", INTEGER }, { "_Bool", BOOLEAN }, { "float", REAL },
    { "double", REAL }, { "_Float16", REAL }, { "float _Complex", COMPLEX }, { "double _Complex", COMPLEX },
    { "struct map", OWN }, { "struct word", OWN }, { "struct wide", OWN },
};
enum { NTYPES = sizeof types / sizeof *types };
/* What iteration x does to the variable V; NULL: not for this class. */
static const struct { const char *op; const char *how[4]; int start; } ops[] = {
    { "+", { "V += (int)(x % 7) - 3", NULL, "V += (int)(x % 3) - 1", "V += (int)(x % 3) - 1 + __extension__ 1i * (int)(x % 2)" }, 2 },
    { "*", { "V *= x % 16 ? 1 : -1", NULL, "V *= x % 16 ? 1 : -1", "V *= x % 5 ? 1 : __extension__ 1i" }, 1 },
    { "&", { "V &= ~((__typeof__(V))1 << x % (8 * sizeof V))", "V &= x % 97 != 0", NULL, NULL }, -1 },
    { "|", { "V |= (__typeof__(V))1 << x % (8 * sizeof V)", "V |= x % 97 == 0", NULL, NULL }, 0 },
    { "^", { "V ^= (__typeof__(V))(x * 2654435761u)", "V ^= x % 3 == 0", NULL, NULL }, 5 },
    { "&&", { "V = V && x % 97", "V = V && x % 97", "V = V && x % 97", NULL }, 1 },
    { "||", { "V = V || x % 97 == 0", "V = V || x % 97 == 0", "V = V || x % 97 == 0", NULL }, 0 },
    { "max", { "V = (__typeof__(V))(x % 120) > V ? (__typeof__(V))(x % 120) : V", NULL, "V = (int)(x % 1000) - 500 > V ? (int)(x % 1000) - 500 : V", NULL }, 0 },
    { "min", { "V = (__typeof__(V))(x % 120) < V ? (__typeof__(V))(x % 120) : V", NULL, "V = (int)(x % 1000) - 500 < V ? (int)(x % 1000) - 500 : V", NULL }, 120 },
};
enum { NOPS = sizeof ops / sizeof *ops };
/* struct map: x -> a x + b, composed; word: the first and last letters of a text and a hash of it; wide: 33 sums. */
static const char prelude[] =
    "#include <omp.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "struct map { unsigned a, b; };\nstruct word { unsigned length, hash, power; unsigned char first, last; };\nstruct wide { long n, part[32]; };\n"
    "static void compose(struct map *f, const struct map *g) { *f = (struct map){ f->a * g->a, f->b * g->a + g->b }; }\n"
    "static struct word join(struct word u, struct word v)\n{\n"
    "    if (!v.length) return u;\n    if (!u.length) return v;\n"
    "    u.hash = u.hash * v.power + v.hash; u.power *= v.power; u.length += v.length; u.last = v.last; return u;\n}\n"
    "static void add(struct wide *a, const struct wide *b) { a->n += b->n; for (int i = 0; i < 32; i++) a->part[i] += b->part[i]; }\n"
    "#pragma omp declare reduction(own : struct map : compose(&omp_out, &omp_in)) initializer(omp_priv = { 1, 0 })\n"
    "#pragma omp declare reduction(own : struct word : omp_out = join(omp_out, omp_in)) initializer(omp_priv = { 0 })\n"
    "#pragma omp declare reduction(own : struct wide : add(&omp_out, &omp_in))\n"
    "static unsigned mix(unsigned s, unsigned i) { s ^= i * 2654435761u; s ^= s >> 15; s *= 2246822519u; s ^= s >> 13; return s; }\n"
    "enum { MAX = 2600 };\nstatic int bad, anywhere;\nstatic double seen[MAX];\n";

struct item { unsigned type, op, length; };      /* length 0: no array */
/* Bodies without calls, whose iterations the compiler takes several at a time; the values come from arrays s0 … */
static bool simple;
static const char *const simple_how[] = { ['+'] = "V += S[i]", ['^'] = "V ^= S[i]", ['|'] = "V |= S[i]", ['m'] = "V = S[i] > V ? S[i] : V" };

static struct item random_item(void)
{
    struct item it = { .type = pick(NTYPES) };
    enum class c = types[it.type].class;
    do
        it.op = pick(NOPS);
    while (c != OWN && !ops[it.op].how[c]);
    while (simple && (c != INTEGER || !strchr("+^|m", *ops[it.op].op) || !strcmp(ops[it.op].op, "min") || ops[it.op].op[1] == '|')) {
        it.type = pick(NTYPES), it.op = pick(NOPS);
        c = types[it.type].class;
    }
    it.length = simple ? 0 : pick(4) || c == BOOLEAN ? 0 : 1 + pick(pick(2) ? 4 : 25);
    if (!strcmp(types[it.type].name, "struct wide")) it.length = 0;
    return it;
}

static void update(const struct item *it, const char *v)
{
    const char *name = types[it->type].name;
    if (!strcmp(name, "struct map")) { printf("compose(&%s, &(struct map){ x | 1, x >> 9 });", v); return; }
    if (!strcmp(name, "struct word")) { printf("%1$s = join(%1$s, (struct word){ 1, x %% 26, 31, x %% 26, x %% 26 });", v); return; }
    if (!strcmp(name, "struct wide")) { printf("%1$s.n += x; %1$s.part[x %% 32] += i;", v); return; }
    for (const char *p = ops[it->op].how[types[it->type].class]; *p; p++)
        if (*p == 'V') fputs(v, stdout);
        else putchar(*p);
    putchar(';');
}

/* ------------------------------------------------------------------ kernels */
static void input_phase(const struct item *items, unsigned n, const char *prefix)
{
    for (unsigned k = 0; simple && k < n; k++) {
        for (const char *p = simple_how[(unsigned char)*ops[items[k].op].op]; *p; p++)
            if (*p == 'V') printf("%s%u", prefix, k);
            else if (*p == 'S') printf("s%u", k);
            else putchar(*p);
        printf(";\n");
    }
    if (simple) return;
    printf("            unsigned x = mix(seed, (unsigned)i);\n");
    for (unsigned k = 0; k < n; k++) {
        char v[80];
        if (items[k].length) snprintf(v, sizeof v, "%s%u[x %% %u]", prefix, k, items[k].length);
        else snprintf(v, sizeof v, "%s%u", prefix, k);
        printf("            x = x * 747796405u + 2891336453u; x ^= x >> 16; ");
        update(&items[k], v);
        printf("\n");
    }
}

static void scan_phase(unsigned n, const char *prefix, const char *to)
{
    for (unsigned k = 0; k < n; k++)
        if (simple) printf("            %s%u[i] = %s%u;\n", to, k, prefix, k);
        else printf("            memcpy(&%s%u[i], &%s%u, sizeof %s%u);\n", to, k, prefix, k, prefix, k);
}

static void declare(const struct item *it, unsigned k)
{
    const char *t = types[it->type].name;
    char bound[20] = "";
    if (it->length) snprintf(bound, sizeof bound, "[%u]", it->length);
    printf("    %1$s v%2$u%3$s, h%2$u%3$s; static __typeof__(v%2$u) o%2$u[MAX], q%2$u[MAX]; memset(o%2$u, 0, sizeof o%2$u); memset(q%2$u, 0, sizeof q%2$u);\n", t, k, bound);
    printf("    memset(&v%1$u, 0, sizeof v%1$u);", k);
    if (types[it->type].class != OWN && it->length) printf(" for (int i = 0; i < %u; i++) v%u[i] = (%s)%d;", it->length, k, t, ops[it->op].start);
    else if (types[it->type].class != OWN) printf(" v%u = (%s)%d;", k, t, ops[it->op].start);
    else if (!it->length && !strcmp(t, "struct map")) printf(" v%u = (struct map){ 3, 7 };", k);
    printf(" memcpy(&h%1$u, &v%1$u, sizeof v%1$u);\n", k);
}

static void clause(const struct item *it, unsigned k)
{
    printf(" reduction(inscan, %s: v%u)", types[it->type].class == OWN ? "own" : ops[it->op].op, k);
}

static void maps(unsigned n)
{
    printf(" map(tofrom: host) map(from: seen)");
    for (unsigned k = 0; k < n; k++) printf(simple ? " map(from: o%u) map(to: s%u)" : " map(from: o%u)", k, k);
}

static void compare(const struct item *it, unsigned k)
{
    bool bits = types[it->type].class == OWN;
    const char *unequal = bits ? "memcmp(&o%1$u[i], &q%1$u[i], sizeof *o%1$u)" : it->length ? "differ" : "o%1$u[i] != q%1$u[i]";
    printf("    for (int i = 0; i < trip && !wrong; i++) {");
    if (!bits && it->length) printf(" int differ = 0; for (int j = 0; j < %2$u; j++) differ |= o%1$u[i][j] != q%1$u[i][j];", k, it->length);
    printf(" if (");
    printf(unequal, k);
    printf(") wrong = %u, at = i; }\n", k + 1);
    if (bits) printf("    if (!wrong && memcmp(&v%1$u, &h%1$u, sizeof v%1$u)) wrong = %2$u;\n", k, k + 1);
    else if (it->length) printf("    for (int j = 0; j < %2$u && !wrong; j++) if (v%1$u[j] != h%1$u[j]) wrong = %3$u;\n", k, it->length, k + 1);
    else printf("    if (!wrong && v%1$u != h%1$u) wrong = %2$u;\n", k, k + 1);
}

static const char *asks(void) { return simple ? "" : " if (i == 0) host = omp_is_initial_device();"; }

enum { HEADERS = 7 };
static const char *const collapses[HEADERS] = { "", "", "", "", "", " collapse(2)", " collapse(3)" };

static void loop(const struct item *items, unsigned n, bool exclusive, const char *prefix, bool device, unsigned header)
{
    static const char *const headers[HEADERS] = {
        "for (int i = 0; i < trip; i++)", "for (int j = trip - 1, i; j >= 0; j--)", "for (unsigned i = 0; i < (unsigned)trip; ++i)",
        "for (long j = 5; j != 5 + trip; j += 1)", "for (int j = 3; j <= 3 * trip; j += 3)",
        "for (int r = 0; r < trip / width; r++) for (unsigned c = 0; c < (unsigned)width; c++)",
        "for (short r = 0; r < trip / width; r++) for (long c = width; c > 0; --c) for (int z = 7; z <= 7; z += 2)",
    };
    static const char *const starts[HEADERS] = { "", "int i = trip - 1 - j; ", "", "int i = (int)(j - 5); ", "int i = j / 3 - 1; ",
                                                 "int i = r * width + (int)c; ", "int i = r * width + width - (int)c + z - 7; " };
    /* the serial loop counts the same iterations in the same order */
    printf("    %s {\n", !device ? "for (int i = 0; i < trip; i++)" : header == 1 ? "for (int j = trip - 1; j >= 0; j--)" : headers[header]);
    if (exclusive) {
        printf("            %s\n", device ? starts[header] : "");
        scan_phase(n, prefix, device ? "o" : "q");
        if (device) printf("            seen[i] = inexact;\n#pragma omp scan exclusive(inexact");
    } else {
        printf("            %s\n", device ? starts[header] : "");
        input_phase(items, n, prefix);
        if (device) printf("            inexact += 0.1 * (double)i;%s\n#pragma omp scan inclusive(inexact", asks());
    }
    for (unsigned k = 0; device && k < n; k++) printf(", v%u", k);
    if (device) printf(")\n            { %s\n", starts[header]);
    if (exclusive) {
        input_phase(items, n, prefix);
        if (device) printf("            inexact += 0.1 * (double)i;%s\n", asks());
    } else {
        scan_phase(n, prefix, device ? "o" : "q");
        if (device) printf("            seen[i] = inexact;\n");
    }
    printf("%s    }\n", device ? "            }\n" : "");
}

static void kernel(unsigned number)
{
    struct item items[5];
    simple = number % 3 == 2;
    unsigned n = simple ? 1 + pick(2) : 1 + pick(5), form = simple ? pick(5) : pick(6);
    bool exclusive = pick(2);
    unsigned header = pick(HEADERS);
    printf("\nstatic void kernel_%u(unsigned seed, int threads, int trip)\n{\n    double inexact = 0.3; int host = 0, at = -1; (void)threads;\n"
           "    const int width = trip %% 7 ? trip %% 5 ? trip %% 2 ? 1 : 2 : 5 : 7; (void)width;\n", number);
    for (unsigned k = 0; k < n; k++) {
        items[k] = random_item();
        declare(&items[k], k);
        if (simple) printf("    static %s s%u[MAX]; for (int i = 0; i < MAX; i++) s%u[i] = (%s)(mix(seed + %u, (unsigned)i) %% 16);\n", types[items[k].type].name, k, k,
                           types[items[k].type].name, k);
    }
    static const char *const directives[] = { "target parallel for num_threads(threads)", "target parallel for simd num_threads(threads)", "parallel for num_threads(threads)",
                                              "parallel for num_threads(threads)", "for", "target simd" };
    if (form == 2 || form == 3 || form == 4) {
        printf("#pragma omp target map(tofrom: inexact)");
        for (unsigned k = 0; k < n; k++) printf(" map(tofrom: v%u)", k);
        maps(n);
        printf(form == 3 ? "\n    { inexact += 1;\n" : form == 4 ? "\n#pragma omp parallel num_threads(threads)\n    {\n" : "\n");
    }
    printf("#pragma omp %s%s reduction(inscan, +: inexact)", directives[form], collapses[header]);
    for (unsigned k = 0; k < n; k++) clause(&items[k], k);
    if (form < 2 || form == 5) maps(n);
    printf("\n");
    loop(items, n, exclusive, "v", true, header);
    if (form == 3 || form == 4) printf("    }\n");
    loop(items, n, exclusive, "h", false, header);
    printf("    int wrong = host && !anywhere ? 100 : 0;\n");
    for (unsigned k = 0; k < n; k++) compare(&items[k], k);
    printf("    if (wrong && bad++ < 20) printf(\"kernel %u: item %%d is wrong at %%d: seed %%u threads %%d trip %%d\\n\", wrong - 1, at, seed, threads, trip);\n", number);
    printf("    unsigned long long bits, all = 0; for (int i = 0; i < trip; i++) { memcpy(&bits, &seen[i], 8); all = all * 31 + bits; }\n"
           "    memcpy(&bits, &inexact, 8); printf(\"%%llx %%llx\\n\", bits, all);\n}\n");
}

int main(int argc, char **argv)
{
    unsigned kernels = argc > 2 ? (unsigned)atoi(argv[2]) : 10;
    state = argc > 1 ? strtoull(argv[1], NULL, 10) * 7919 + 1 : 1;
    fputs(prelude, stdout);
    for (unsigned i = 0; i < kernels; i++) kernel(i);
    printf("\nint main(int argc, char **argv)\n{\n    static const int sizes[] = { 1, 2, 5, 31, 32, 33, 64, 100, 257, 1024 };\n"
           "    unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1; int cases = argc > 2 ? atoi(argv[2]) : 5; anywhere = argc > 3;\n"
           "    for (int k = 0; k < cases; k++) {\n");
    for (unsigned i = 0; i < kernels; i++)
        printf("        { unsigned x = mix(seed * 31u + %u, (unsigned)k + 1000); int n = sizes[x %% 10];\n"
               "          int trips[] = { 0, 1, 5, n - 1, n, n + 1, 2 * n, 700, 2500 }; kernel_%u(x, n, trips[x / 64 %% 9]); }\n", i, i);
    printf("    }\n    printf(\"%%d wrong\\n\", bad);\n    return bad != 0;\n}\n");
    return 0;
}
