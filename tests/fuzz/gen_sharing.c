/* gen_sharing.c - writes a random program of sequential and parallel code in target regions that checks itself:
 * gen_sharing SEED KERNELS >prog.c
 *
 * Where gen_loops.c is about iterations, this is about who owns which variable: a region's team has variables of every origin, and
 * runs random statements on them, among them parallel regions.  A parallel region is a list of phases with a barrier after each;
 * in a phase a shared variable is either read, or added to under atomic or critical.  The reference runs each phase for one thread
 * after the other; private variables are arrays there, with an element for each thread. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long state;
static unsigned rnd(void)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33);
}
static int pick(int n) { return (int)(rnd() % (unsigned)n); }
static bool chance(int percent) { return pick(100) < percent; }

struct text { char s[1 << 17]; size_t n; };
static struct text dev_text, ref_text;
static void add(struct text *t, const char *format, va_list ap)
{
    t->n += (size_t)vsnprintf(t->s + t->n, sizeof t->s - t->n, format, ap);
    if (t->n >= sizeof t->s) abort();
}
#define WRITER(name, ...)                                                                              \
    __attribute__((format(printf, 1, 2))) static void name(const char *format, ...)                    \
    {                                                                                                  \
        struct text *const to[] = { __VA_ARGS__ };                                                     \
        for (unsigned i = 0; i < sizeof to / sizeof *to; i++) {                                        \
            va_list ap;                                                                                \
            va_start(ap, format);                                                                      \
            add(to[i], format, ap);                                                                    \
            va_end(ap);                                                                                \
        }                                                                                              \
    }
WRITER(dev, &dev_text)
WRITER(ref, &ref_text)
WRITER(both, &dev_text, &ref_text)

/* ------------------------------------------------------------------ variables */
enum { NVARS = 7 };                  /* v0 … v4, and the elements w[1], w[2] of an array */
static char spelled[NVARS][32];      /* in the device text */
static char ref_spelled[NVARS][32];
static bool private_now[NVARS], parallel_now;
static int serial;                   /* for names */

static void term(char *d, char *r, size_t size, int v)
{
    snprintf(d, size, "%s", v < 0 ? "7u" : spelled[v]);
    snprintf(r, size, "%s", v < 0 ? "7u" : ref_spelled[v]);
}

/* The set of variables that an expression may use, as bits. */
static void assign(int to, unsigned readable, const char *op, bool thread)
{
    char d[2][64], r[2][64];
    int from[2];
    for (int i = 0; i < 2; i++) {
        from[i] = pick(NVARS);
        if (!(readable >> from[i] & 1)) from[i] = -1;
        term(d[i], r[i], sizeof d[i], from[i]);
    }
    unsigned k = rnd() % 9 + 1;
    const char *me = thread && chance(60) ? " + (unsigned)omp_get_thread_num()" : "", *me_ref = *me ? " + (unsigned)t_" : "";
    dev("%s %s %s * %uu + %s%s;\n", spelled[to], op, d[0], k, d[1], me);
    ref("%s %s %s * %uu + %s%s;\n", ref_spelled[to], op, r[0], k, r[1], me_ref);
}

/* ------------------------------------------------------------------ parallel regions */
static unsigned shared_set(void)
{
    unsigned set = 0;
    for (int i = 0; i < NVARS; i++) set |= (unsigned)!private_now[i] << i;
    return set;
}
static int pick_from(unsigned set)
{
    if (!set) return -1;
    int v;
    do v = pick(NVARS); while (!(set >> v & 1));
    return v;
}

static void threads_phase(int threads)
{
    unsigned all = (1u << NVARS) - 1, written = 0;
    int sum = pick_from(shared_set());
    if (sum >= 0) written |= 1u << sum;
    ref("for (int t_ = 0; t_ < %d; t_++) {\n", threads);
    for (int n = 1 + pick(3); n--;) {
        int own = pick_from(all & ~shared_set());
        if (own >= 0) assign(own, all & ~written, chance(50) ? "=" : "+=", true);
    }
    int how = pick(4);
    if (sum >= 0) {
        static const char *const names[] = { "atomic", "critical", "critical(name)", "atomic update" };
        dev("#pragma omp %s\n", names[how]);
        assign(sum, all & ~written, "+=", true);
    }
    bool atomic = how % 3 == 0; /* critical excludes no atomic */
    if (chance(25) && atomic && sum >= 0 && spelled[sum][0] == 'v') {
        dev("add_to(&%s, 3);\n", spelled[sum]);
        ref("%s += 3;\n", ref_spelled[sum]);
    }
    int own = pick_from(all & ~shared_set() & 31);
    if (own >= 0 && chance(25)) {
        dev("#pragma omp parallel for reduction(+: %s) num_threads(3)\nfor (int i = 0; i < 5; i++) %s += (unsigned)i;\n", spelled[own], spelled[own]);
        ref("%s += 10;\n", ref_spelled[own]);
    }
    ref("}\n");
    static const char *const barriers[] = { "#pragma omp barrier\n", "wait_all();\n" };
    dev("%s", barriers[pick(2)]);
}

static void single_phase(void)
{
    int v = pick_from(shared_set());
    if (v < 0) return;
    bool masked = chance(40);
    dev("#pragma omp %s\n{\n", masked ? chance(50) ? "masked" : "master" : "single");
    for (int n = 1 + pick(2); n--; v = pick_from(shared_set())) assign(v, shared_set(), chance(50) ? "=" : "+=", false);
    dev("}\n%s", masked ? "wait_all();\n" : "");
}

static void loop_phase(void)
{
    static const char *const schedules[] = { "", " schedule(dynamic)", " schedule(static, 2)", " schedule(guided)", " schedule(dynamic, 3)" };
    int v = pick_from(shared_set() & 31), n = pick(40);
    if (v < 0) return;
    int x = pick_from(shared_set() & ~(1u << v));
    char d[64], r[64];
    term(d, r, sizeof d, x);
    if (chance(20)) {
        dev("orphan(&%s, %d, %s);\n", spelled[v], n, d);
        ref("for (int i = 0; i < %d; i++) %s += (unsigned)i * %s;\n", n, ref_spelled[v], r);
        return;
    }
    bool last = chance(30) && n;
    dev("#pragma omp for %s(%s%s)%s\n", last ? "lastprivate" : "reduction", last ? "" : "+: ", spelled[v], schedules[pick(5)]);
    dev("for (int i = 0; i < %d; i++) %s %s (unsigned)i * %s;\n", n, spelled[v], last ? "=" : "+=", d);
    ref("for (int i = 0; i < %d; i++) %s %s (unsigned)i * %s;\n", n, ref_spelled[v], last ? "=" : "+=", r);
}

static void put_parallel(void)
{
    int threads = 1 + pick(12), id = ++serial, kind[NVARS] = { 0 };
    char outer_spelled[NVARS][32];
    memcpy(outer_spelled, ref_spelled, sizeof outer_spelled);
    both("{\n");
    dev("#pragma omp parallel num_threads(%d)", threads);
    for (int i = 0; i < 5; i++) {
        static const char *const clauses[] = { "", " private(%s)", " firstprivate(%s)", " reduction(+: %s)", " shared(%s)" };
        kind[i] = chance(50) ? 0 : pick(5);
        if (kind[i]) (dev)(clauses[kind[i]], spelled[i]);
        if (kind[i] < 1 || kind[i] > 3) continue;
        private_now[i] = true;
        ref("unsigned p%d_%d[%d]; for (int t_ = 0; t_ < %d; t_++) p%d_%d[t_] = %s;\n", id, i, threads, threads, id, i,
            kind[i] == 2 ? outer_spelled[i] : kind[i] == 3 ? "0" : "1");
        snprintf(ref_spelled[i], sizeof ref_spelled[i], "p%d_%d[t_]", id, i);
    }
    dev("\n{\n");
    for (int i = 0; i < 5; i++)
        if (kind[i] == 1) dev("%s = 1;\n", spelled[i]);
    parallel_now = true;
    for (int n = 1 + pick(4); n--;) {
        switch (pick(4)) {
        case 0: single_phase(); break;
        case 1: loop_phase(); break;
        default: threads_phase(threads);
        }
    }
    parallel_now = false;
    dev("}\n");
    for (int i = 0; i < 5; i++) {
        if (kind[i] == 3) ref("for (int t_ = 0; t_ < %d; t_++) %s += %s;\n", threads, outer_spelled[i], ref_spelled[i]);
        private_now[i] = false;
    }
    memcpy(ref_spelled, outer_spelled, sizeof outer_spelled);
    both("}\n");
}

/* ------------------------------------------------------------------ sequential code */
static void put_statements(int depth)
{
    for (int n = 1 + pick(4); n--;) {
        int v = pick(NVARS), id = ++serial;
        switch (depth > 2 ? pick(2) : pick(8)) {
        case 0: assign(v, 127, "=", false); break;
        case 1: assign(v, 127, "+=", false); break;
        case 2:
            both("for (int q%d = 0; q%d < 2; q%d++) {\n", id, id, id);
            put_statements(depth + 1);
            both("}\n");
            break;
        case 3:
            dev("if (%s & 1) {\n", spelled[v]);
            ref("if (%s & 1) {\n", ref_spelled[v]);
            put_statements(depth + 1);
            both("} else {\n");
            put_statements(depth + 1);
            both("}\n");
            break;
        case 4:                       /* hides v in a block */
            v %= 5;
            both("{ const unsigned old%d = v%d; { unsigned v%d = old%d + 5;\n", id, v, v, id);
            put_statements(depth + 1);
            both("v%d++; w[3] += v%d; } }\n", v, v);
            break;
        default: put_parallel();
        }
    }
}

static void put_kernel(int number)
{
    dev_text.n = ref_text.n = 0;
    int teams = chance(50) ? 0 : 1 + pick(4), inside = pick(6);
    for (int i = 0; i < NVARS; i++) {
        snprintf(spelled[i], sizeof spelled[i], i < 5 ? "v%d" : "w[%d]", i < 5 ? i : i - 4);
        memcpy(ref_spelled[i], spelled[i], sizeof spelled[i]);
    }
    dev("static void K%d_dev(unsigned *o)\n{\n", number);
    ref("static void K%d_ref(unsigned *o)\n{\n", number);
    for (int i = inside; i < 5; i++) both("unsigned v%d = %d; ", i, i * 3 + 1);
    both("\n");
    dev(teams ? "#pragma omp target teams num_teams(%d) thread_limit(64) map(tofrom: o[0:64])" : "#pragma omp target map(tofrom: o[0:64])", teams);
    for (int i = inside; i < 5; i++)
        if (teams || chance(30)) dev(" firstprivate(v%d)", i);
        else if (chance(40)) dev(" map(tofrom: v%d)", i);
    dev("\n");
    if (teams) ref("for (int team = 0; team < %d; team++) {\n", teams);
    ref("unsigned outer[5]; (void)outer;\n");
    for (int i = inside; i < 5; i++) ref("outer[%d] = v%d;\n", i, i);
    both("{ unsigned w[4] = { 1, 2, 3, 4 }; ");
    dev("const int team = omp_get_team_num();\n");
    if (!teams) ref("const int team = 0;\n");
    for (int i = 0; i < inside && i < 5; i++) both("unsigned v%d = %d; ", i, i * 3 + 1);
    both("\nv%d += (unsigned)team;\n", pick(5));
    put_statements(0);
    for (int i = 0; i < NVARS; i++) both("o[team * 8 + %d] = %s;\n", i, spelled[i]);
    both("o[team * 8 + 7] = w[3]; }\n");
    for (int i = inside; i < 5; i++) ref("v%d = outer[%d];\n", i, i);
    if (teams) ref("}\n");
    both("}\n");
    printf("%s%s", dev_text.s, ref_text.s);
}

int main(int argc, char **argv)
{
    if (argc != 3) return fprintf(stderr, "usage: gen_sharing SEED KERNELS\n"), 2;
    int kernels = atoi(argv[2]);
    state = strtoull(argv[1], NULL, 10) * 2654435761u + 777;
    for (int i = 0; i < 8; i++) rnd();
    puts("#include <omp.h>\n#include <stdio.h>\n#include <string.h>\n"
         "static void wait_all(void)\n{\n    #pragma omp barrier\n}\n"
         "static void add_to(unsigned *p, unsigned v)\n{\n    #pragma omp atomic\n    *p += v;\n}\n"
         "static void orphan(unsigned *p, int n, unsigned c)\n{\n    #pragma omp for schedule(dynamic, 2)\n    for (int i = 0; i < n; i++) {\n"
         "        #pragma omp atomic\n        *p += (unsigned)i * c;\n    }\n}\n");
    for (int i = 0; i < kernels; i++) put_kernel(i);
    puts("static int failed;\nstatic void check(int k, void (*d)(unsigned *), void (*r)(unsigned *))\n{\n    unsigned a[64] = { 0 }, b[64] = { 0 };\n"
         "    d(a); r(b);\n    for (int i = 0; i < 64; i++)\n        if (a[i] != b[i]) failed = 1, printf(\"kernel %d: team %d value %d: %u, not %u\\n\", k,"
         " i / 8, i % 8, a[i], b[i]);\n}\nint main(void)\n{\n    (void)wait_all; (void)add_to; (void)orphan;");
    for (int i = 0; i < kernels; i++) printf("    check(%d, K%d_dev, K%d_ref);\n", i, i, i);
    puts("    return failed;\n}");
    return 0;
}
