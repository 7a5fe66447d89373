/* gen_loops.c - writes a random program of loop nests in target regions that checks itself: gen_loops SEED KERNELS >prog.c
 *
 * Each kernel is one text written twice: K_dev() with its pragmas and K_ref() without them.  Both fill a struct out, and main()
 * compares the two byte by byte.  A form is a list of levels, outermost first, separated by '|': '@' means that loops belong to the
 * directive, '=' is plain loops without one.  Values are chosen so that every order of iterations gives the same result; every
 * element of the array is visited once, by A = 3 A + x, so that an iteration too many or too few shows. */
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

/* The kernel's text: lines that begin with '\1' are left out of the reference. */
static char text[1 << 16];
static size_t text_n;
__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    text_n += (size_t)vsnprintf(text + text_n, sizeof text - text_n, format, ap);
    va_end(ap);
    if (text_n >= sizeof text) abort();
}

/* ------------------------------------------------------------------ loops */
static const struct { const char *name; long low, high; } types[] = {
    { "int", -2000000000, 2000000000 }, { "unsigned", 0, 4000000000 }, { "long", -(1L << 60), 1L << 60 }, { "short", -32000, 32000 },
    { "unsigned char", 0, 255 }, { "size_t", 0, 1L << 61 }, { "signed char", -128, 127 }, { "long long", -(1L << 50), 1L << 50 },
    { "unsigned short", 0, 65535 }, { "int", -60, 900 }, { "int", -60, 900 },
};
struct loop { int type, rel; long lb, ub, step, trips; bool down, declared, mirrored; };
static struct loop loops[4];
static int nloops;

static long between(long low, long high) { return low + (long)(((unsigned long)rnd() << 31 | rnd()) % (unsigned long)(high - low + 1)); }

static void choose_loop(struct loop *l, int most)
{
    l->type = pick((int)(sizeof types / sizeof *types));
    l->trips = chance(5) ? 0 : chance(8) ? 1 : 1 + pick(most);
    l->rel = pick(5);
    l->step = l->rel == 4 || chance(40) ? 1 : 1 + pick(7);
    long low = types[l->type].low, high = types[l->type].high, room = l->step * (l->trips + 1) + 8;
    if (room * 2 > high - low) {
        l->step = 1;
        if (l->trips > 100) l->trips = 100;
        room = l->trips + 9;
    }
    l->down = chance(40);
    l->declared = chance(75);
    l->mirrored = chance(20);
    bool small = chance(60);
    if (small && low < -500) low = -500;
    if (small && high > 5000) high = 5000;
    l->lb = l->down ? between(low + room, high - 6) : between(low + 6, high - room);
    long last = l->trips - 1, slack = pick((int)l->step);
    if (l->rel == 4) l->ub = l->trips;
    else if (l->rel < 2) l->ub = l->trips ? last * l->step + 1 + slack : -pick(5);
    else l->ub = l->trips ? last * l->step + slack : -1 - pick(5);
    l->ub = l->down ? l->lb - l->ub : l->lb + l->ub;
    l->rel = l->rel == 4 ? 4 : l->rel < 2 ? 0 : 1;
}

/* A constant, or an expression with variables that has its value. */
static const char *value(char *to, size_t size, const char *var, long v)
{
    switch (pick(7)) {
    case 0: case 1: snprintf(to, size, "%s", var); break;
    case 2: snprintf(to, size, "%s + zero", var); break;
    case 3: snprintf(to, size, "same(%s)", var); break;
    case 4: snprintf(to, size, "(zero ? 0 : %s)", var); break;
    default: snprintf(to, size, v < 0 ? "(%ld)" : "%ld", v);
    }
    return to;
}

static void put_head(int j)
{
    static const char *const up[] = { "<", "<=", "!=" }, *const down[] = { ">", ">=", "!=" };
    const struct loop *l = &loops[j];
    char lb[64], ub[64], var[32];
    int rel = l->rel == 4 ? 2 : l->rel;
    snprintf(var, sizeof var, "lb%d", j);
    value(lb, sizeof lb, var, l->lb);
    snprintf(var, sizeof var, "ub%d", j);
    value(ub, sizeof ub, var, l->ub);
    put("for (%s%si%d = %s; ", l->declared ? types[l->type].name : "", l->declared ? " " : "", j, lb);
    if (l->mirrored) put("%s %s i%d; ", ub, (l->down ? up : down)[rel], j);
    else put("i%d %s %s; ", j, (l->down ? down : up)[rel], ub);
    char sign = l->down ? '-' : '+';
    if (l->step == 1 && chance(70)) put(chance(50) ? "i%d%c%c" : "%2$c%2$ci%1$d", j, sign, sign);
    else if (rel == 2) put("i%d %c= 1", j, sign);
    else if (!l->down && chance(20)) put("i%d = %ld + i%d", j, l->step, j);
    else if (chance(30)) put("i%d = i%d %c %ld", j, j, sign, l->step);
    else if (chance(30)) put("i%d %c= st%d", j, sign, j);
    else put("i%d %c= %ld", j, sign, l->step);
    put(")\n");
}

/* ------------------------------------------------------------------ levels */
static const char *const forms[] = {
    "@target teams distribute parallel for", "@target parallel for", "@target teams distribute", "target|@teams distribute parallel for",
    "target teams|@distribute parallel for", "target|teams|@distribute|@parallel for", "@target teams distribute|@parallel for",
    "target|@parallel for", "target parallel|@for", "target|parallel|@for", "@target teams distribute parallel for|@simd",
    "@target simd", "@target teams distribute parallel for simd", "@target parallel for simd", "@target teams loop",
    "@target parallel for|=", "target|=|@parallel for", "target parallel|=|@for", "@target teams distribute|parallel|@for",
    "target teams|@distribute|@parallel for", "@target teams distribute|=|@parallel for", "target teams|@distribute parallel for|=",
    "@target teams distribute parallel for|=", "target|teams|@distribute", "@target teams distribute simd", "@target teams distribute|@parallel for|@simd",
    "target|=|@teams distribute parallel for",
};
static char levels[8][64];
static int nlevels, loops_of[8];

static bool has(int level, const char *word)
{
    const char *s = strstr(levels[level], word);
    return s && (s == levels[level] || s[-1] == ' ' || s[-1] == '@') && (s[strlen(word)] == ' ' || !s[strlen(word)]);
}
static bool any(const char *word)
{
    for (int i = 0; i < nlevels; i++)
        if (has(i, word)) return true;
    return false;
}
static bool takes_loops(int i) { return levels[i][0] == '@' || levels[i][0] == '='; }

static void choose_form(void)
{
    char form[256];
    snprintf(form, sizeof form, "%s", forms[pick((int)(sizeof forms / sizeof *forms))]);
    if (strstr(form, "target|=|@teams")) snprintf(form, sizeof form, "%s", forms[0]);     /* teams must be all of target */
    nlevels = 0;
    int with = 0;
    for (char *s = strtok(form, "|"); s; s = strtok(NULL, "|")) {
        snprintf(levels[nlevels], sizeof levels[0], "%s", s);
        loops_of[nlevels] = takes_loops(nlevels);
        with += loops_of[nlevels++];
    }
    nloops = with < 3 ? with + pick(4 - with) : with;
    for (int more = nloops - with; more > 0;) {
        int i = pick(nlevels);
        if (loops_of[i]) loops_of[i]++, more--;
    }
    static const int most[] = { 0, 300, 20, 9 };
    for (int i = 0, j = 0; i < nlevels; i++)
        for (int k = 0; k < loops_of[i]; k++, j++) {
            choose_loop(&loops[j], most[nloops]);
            loops[j].declared |= levels[i][0] == '=';     /* else the threads would share it */
        }
}

/* ------------------------------------------------------------------ what a kernel uses */
static const struct { const char *op, *type, *init, *step; } reductions[] = {
    { "+", "long", "5", "r = r + x" }, { "+", "int", "-7", "r += x" }, { "+", "double", "0.5", "r += x" }, { "-", "long", "3", "r -= x" },
    { "max", "int", "-100000", "r = r > x ? r : x" }, { "min", "long", "1000000", "if (x < r) r = x" }, { "^", "unsigned", "9", "r ^= (unsigned)x" },
    { "|", "unsigned char", "0", "r |= (unsigned char)x" }, { "&", "int", "-1", "r &= x | 3" }, { "&&", "int", "1", "r = r && x != 77" },
    { "||", "int", "0", "r = r || x == 78" }, { "*", "unsigned", "1", "r *= (unsigned)x | 1u" }, { "max", "double", "-1e9", "r = (double)x > r ? (double)x : r" },
    { "+", "float", "0", "r += (float)(x & 15)" }, { "+", "short", "1", "r = (short)(r + (x & 3))" },
};
static struct { bool priv, first, red, last, lin, hist, cnt, crit; int red_kind, array, elem; } use;
enum { POINTER, LOCAL, MEMBER, GLOBAL, MATRIX, OUTER_DATA, VLA };
static const char *const elems[] = { "int", "long", "double", "short", "unsigned", "float" };

static void choose_use(void)
{
    bool simd = any("simd") || any("loop"), loop = any("loop");
    int last = nlevels - 1;
    while (levels[last][0] == '=') last--;
    memset(&use, 0, sizeof use);
    use.priv = chance(60);
    use.first = chance(60);
    use.red = chance(60);
    use.red_kind = pick((int)(sizeof reductions / sizeof *reductions));
    use.last = !loop && chance(50);
    use.lin = nlevels == last + 1 && !any("distribute") && !loop && loops_of[last] == 1 && !strstr(levels[0], "=") && chance(30);
    for (int i = 0; i < nlevels; i++) use.lin &= levels[i][0] != '=' && (i == last || !takes_loops(i));
    use.hist = !simd && chance(30);
    use.crit = !simd && !any("teams") && chance(25);
    use.array = pick(7);
    use.elem = pick((int)(sizeof elems / sizeof *elems));
}

static const char *const access[] = { "a[%s]", "a[%s]", "s.v[%s]", "garr[%s]", "a[(%s) / 8][(%1$s) %% 8]", "a[%s]", "a[(%s) / 8][(%1$s) %% 8]" };

/* ------------------------------------------------------------------ clauses */
static void put_schedule(int i)
{
    static const char *const kinds[] = { "static", "static, 3", "dynamic", "dynamic, 4", "guided", "guided, 2", "auto", "runtime", "static, zero + 5",
                                         "dynamic, same(2)", "monotonic: dynamic, 2", "static, 1" };
    if ((has(i, "for")) && chance(60)) put(" schedule(%s)", kinds[pick((int)(sizeof kinds / sizeof *kinds))]);
    if (has(i, "distribute") && chance(30)) put(chance(50) ? " dist_schedule(static)" : " dist_schedule(static, %d)", 1 + pick(9));
    if (has(i, "teams") && chance(50)) put(" num_teams(%d)", 1 + pick(7));
    if (has(i, "teams") && chance(40)) put(" thread_limit(%d)", 1 + pick(100));
    if (has(i, "parallel") && chance(40)) put(" num_threads(%d)", 1 + pick(70));
    if (has(i, "target") && !use.cnt && !(use.last && any("distribute")) && use.array != OUTER_DATA && chance(5)) put(" if(target: zero)");
    if (has(i, "parallel") && chance(5)) put(" if(parallel: zero)");
}

static void put_maps(bool reduced, bool lasted)
{
    char all[64] = "";
    static const char *const sections[] = { "a[0:n]", "a", "s", NULL, "a", NULL, "a" };
    if (use.array == POINTER || (sections[use.array] && chance(40))) put(" map(tofrom: %s)", sections[use.array]);
    if (use.red && !reduced) strcat(all, "r, ");
    if (use.last && !lasted) strcat(all, "l, ");
    if (use.crit) strcat(all, "c1, c2, ");
    if (use.lin && !takes_loops(0)) strcat(all, "lin, ");
    if (*all) put(" map(tofrom: %.*s)", (int)strlen(all) - 2, all);
}

static void put_pragma(int i, int *done_red)
{
    const char *name = levels[i] + takes_loops(i);
    int last = nlevels - 1;
    while (levels[last][0] == '=') last--;
    bool splits = has(i, "parallel") && !has(i, "for") && i + 1 < nlevels && has(i + 1, "for"), reduces = false, lasts = false;
    put("\1#pragma omp %s", name);
    if (loops_of[i] > 1) put(" collapse(%d)", loops_of[i]);
    if (use.red && (has(i, "teams") || has(i, "parallel") || has(i, "simd") || has(i, "loop") || (has(i, "for") && !*done_red))) {
        reduces = !splits || chance(50) || (i + 1 < nlevels && levels[i + 1][0] == '=' && i + 2 >= nlevels);
        if (reduces) put(" reduction(%s: r)", reductions[use.red_kind].op);
        if (has(i, "parallel") || has(i, "for")) *done_red = reduces;
    }
    lasts = use.last && (has(i, "distribute") || has(i, "for") || has(i, "simd"));
    if (lasts) put(" lastprivate(l)");
    if (use.lin && i == last) put(" linear(lin: 3)");
    if (i == last && use.priv) put(" private(t)");
    if (i == last && use.first && strcmp(name, "simd")) put(" firstprivate(f)");
    if (use.cnt && !strncmp(name, "parallel", 8)) put(" reduction(+: cnt)");
    if (use.cnt && !strcmp(name, "simd")) put(" reduction(+: cnt)");
    if (has(i, "target")) put_maps(reduces, lasts);
    if (use.hist && has(i, "target")) put(" map(tofrom: h)");
    put_schedule(i);
    put("\n");
}

/* ------------------------------------------------------------------ the kernel */
static void put_index(int from, int to)
{
    put("0");
    for (int j = from; j < to; j++) {
        put(" + ((long)i%d - (%ldL)) / %ldL", j, loops[j].lb, loops[j].down ? -loops[j].step : loops[j].step);
        for (int k = j + 1; k < to; k++) put(" * %ld", loops[k].trips);
    }
}

static void put_body(void)
{
    put("{ const long k = ");
    put_index(0, nloops);
    put("; int x = (int)(k %% 91)");
    for (int j = 0; j < nloops; j++) put(" + (int)(i%d & 63) * %d", j, j + 1);
    put(" + imp;\n");
    if (use.cnt) put("x += row + loc[k %% 3]; cnt += x & 7;\n");
    if (use.priv) put("t = x * 2; x += t & 31;\n");
    if (use.first) {
        bool simd_only = !strcmp(levels[nlevels - 1], "@simd");
        put(simd_only ? "x += f;\n" : "f += x; x = helper(x) + f; f = f - x + helper(x - f) ;\n");
        if (!simd_only) put("f = 17; ");
    }
    if (use.lin) put("x += lin & 15;\n");
    if (chance(40)) put("{ int imp = x, zero = 3; for (int k = 0; k < zero; k++) imp += k; x = imp; }\n");
    char a[128];
    snprintf(a, sizeof a, access[use.array], "k");
    put("%s = (%s)(%s * 3 + x %% 1000);\n", a, elems[use.elem], a);
    if (use.red) put("%s;\n", reductions[use.red_kind].step);
    if (use.last) put("l = x + 5;\n");
    if (use.hist) put("\1#pragma omp atomic\nh[x & 7] += k + 1;\n");
    if (use.crit) put("\1#pragma omp critical(%s)\n{ c1 += x; c2 ^= c1 - c1 + x; }\n", chance(50) ? "one" : "two");
    if (use.lin) put("lin += 3;\n");
    put("}\n");
}

static void put_kernel(void)
{
    long total = 1;
    int j = 0, braces = 0, done_red = 1, inner_from = 0;
    choose_form();
    choose_use();
    for (int k = 0; k < nloops; k++) total *= loops[k].trips;
    bool outer_data = use.array == OUTER_DATA;
    /* a local of the outer level, counted by an inner parallel loop */
    use.cnt = nlevels > 1 && levels[nlevels - 1][0] == '@' && !strncmp(levels[nlevels - 1], "@parallel for", 13) && takes_loops(nlevels - 2);
    text_n = 0;
    put("long n = %ld; (void)n; int zero = 0, imp = %d; static const int pad = 1; (void)pad;\n", total + 8, pick(50));
    put("int t = 0, f = 17, l = 0, lin = 4; long h[8] = { 0 }, c1 = 1, c2 = 0; %s r = %s; (void)t; (void)f;\n", reductions[use.red_kind].type,
        reductions[use.red_kind].init);
    for (int k = 0; k < nloops; k++) {
        const char *type = loops[k].type == 5 ? "size_t" : loops[k].type == 1 ? "unsigned" : "long";
        put("%s lb%d = %ld, ub%d = %ld; int st%d = %ld; (void)lb%d; (void)ub%d; (void)st%d;", type, k, loops[k].lb, k, loops[k].ub, k, loops[k].step, k,
            k, k);
        if (!loops[k].declared) put(" %s i%d;", types[loops[k].type].name, k);
        put("\n");
    }
    const char *e = elems[use.elem];
    if (use.array == POINTER || outer_data) put("%s *a = (%s *)o->a;\n", e, e);
    else if (use.array == LOCAL) put("%s a[%ld]; memcpy(a, o->a, sizeof a);\n", e, total + 8);
    else if (use.array == MEMBER) put("struct { char c; %s v[%ld]; } s; memcpy(s.v, o->a, sizeof s.v);\n", e, total + 8);
    else if (use.array == GLOBAL) put("static %s garr[%ld]; memcpy(garr, o->a, sizeof garr);\n", e, total + 8);
    else if (use.array == MATRIX) put("%s a[%ld][8]; memcpy(a, o->a, sizeof a);\n", e, total / 8 + 1);
    else put("%s a[(n + %ld) / 8][8]; memcpy(a, o->a, sizeof a);\n", e, 7 - (total + 7) % 8);
    put("int *cnts = o->cnts; (void)cnts;\n");
    if (outer_data) put("\1#pragma omp target data map(tofrom: a[0:n])\n");
    put("\1#pragma omp target data map(tofrom: cnts[0:1000])\n{\n");
    for (int i = 0; i < nlevels; i++) {
        if (levels[i][0] != '=') put_pragma(i, &done_red);
        for (int k = 0; k < loops_of[i]; k++) put_head(j++);
        bool pre = use.cnt && i == nlevels - 2;
        if (pre) {
            put("{ int row = (int)(i%d & 31) + 1, cnt = 0, loc[3]; for (int q = 0; q < 3; q++) loc[q] = row * q;\n", j - 1);
            inner_from = j;
        } else if (i + 1 < nlevels && (levels[i][0] != '=' && levels[i + 1][0] != '@' ? true : !takes_loops(i) && chance(50) && !has(i + 1, "teams"))) {
            put("{\n");
        } else {
            continue;
        }
        braces++;
    }
    put_body();
    if (use.cnt) {
        put("row += loc[2]; cnts[(");
        put_index(0, inner_from);
        put(") %% 1000] = cnt * 2 + row; }\n");
        braces--;
    }
    while (braces-- > 0) put("}\n");
    put("}\n");
    static const char *const back[] = { "(void)a", "memcpy(o->a, a, sizeof a)", "memcpy(o->a, s.v, sizeof s.v)", "memcpy(o->a, garr, sizeof garr)",
                                        "memcpy(o->a, a, sizeof a)", "(void)a", "memcpy(o->a, a, sizeof a)" };
    put("%s; o->r = (double)r; o->l = %s; o->lin = lin; o->f = f; memcpy(o->h, h, sizeof h); o->c1 = c1; o->c2 = c2;\n", back[use.array],
        total ? "l" : "0");
    if (!use.lin || !total) put("o->lin = 0;\n");
    put("o->f = 0;\n");
}

static void put_text(int number, bool reference)
{
    printf("static void K%d_%s(struct out *o)\n{\n", number, reference ? "ref" : "dev");
    bool skip = false;
    for (const char *s = text; *s; s++) {
        if (*s == '\1') skip = reference;
        else if (!skip) putchar(*s);
        if (*s == '\n') skip = false;
    }
    printf("}\n");
}

int main(int argc, char **argv)
{
    if (argc != 3) return fprintf(stderr, "usage: gen_loops SEED KERNELS\n"), 2;
    int kernels = atoi(argv[2]);
    state = strtoull(argv[1], NULL, 10) * 2654435761u + 12345;
    for (int i = 0; i < 8; i++) rnd();
    puts("#include <stdio.h>\n#include <string.h>\nstruct out { double a[4096]; int cnts[1000]; double r; long l, lin, f, h[8], c1, c2; };\n"
         "static struct out dev, ref;\nstatic long same(long v) { return v; }\nstatic int helper(int v) { return v & 63; }\n");
    for (int i = 0; i < kernels; i++) {
        put_kernel();
        put_text(i, true);
        put_text(i, false);
    }
    puts("static int failed;\nstatic void fill(struct out *o, int elem, unsigned seed)\n{\n    memset(o, 0, sizeof *o);\n"
         "    for (int i = 0; i < 1000; i++) o->cnts[i] = -1;\n    (void)elem; memset(o->a, (int)(seed & 7), sizeof o->a / 2);\n}\n"
         "static void check(int k, void (*d)(struct out *), void (*r)(struct out *))\n{\n    fill(&dev, 0, 1); fill(&ref, 0, 1);\n    d(&dev); r(&ref);\n"
         "    if (!memcmp(&dev, &ref, sizeof dev)) return;\n    failed = 1;\n"
         "    printf(\"kernel %d:%s%s r %g %g l %ld %ld lin %ld %ld c1 %ld %ld c2 %ld %ld h %d\\n\", k, memcmp(dev.a, ref.a, sizeof dev.a) ? \" array\" : \"\",\n"
         "           memcmp(dev.cnts, ref.cnts, sizeof dev.cnts) ? \" counts\" : \"\", dev.r, ref.r, dev.l, ref.l, dev.lin, ref.lin, dev.c1, ref.c1, dev.c2,\n"
         "           ref.c2, memcmp(dev.h, ref.h, sizeof dev.h));\n}\nint main(void)\n{");
    for (int i = 0; i < kernels; i++) printf("    check(%d, K%d_dev, K%d_ref);\n", i, i, i);
    puts("    return failed;\n}");
    return 0;
}
