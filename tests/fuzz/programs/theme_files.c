/* theme_files.c - the other file: functions and variables of the device that both use, static ones of the same name in each, regions in each. */
#include "gen.h"

static const char begin[] = "#pragma omp begin declare target\n", end[] = "#pragma omp end declare target\n";

/* A function of the other file, called in regions; some have a parallel loop of their own. */
static char *device_function(void)
{
    char *name = text("f%d_%lu", fresh(), seed);
    static const char *const bodies[] = {
        "    unsigned s = v;\n    for (int i = 0; i < n; i++) s = s * 3u + p[i]++;\n    return s;\n",
        "    unsigned s = v;\n#pragma omp parallel for reduction(+: s)\n    for (int i = 0; i < n; i++) s += p[i];\n    return s;\n",
        "#pragma omp parallel for\n    for (int i = 0; i < n; i++) p[i] += v * (unsigned)i;\n    return p[0];\n",
        "    unsigned own[4] = { v, 2 };\n#pragma omp parallel for num_threads(3)\n    for (int i = 0; i < 4; i++) own[i] += p[i % n];\n    return own[1] + own[3];\n",
        "    return n > 1 ? p[0] + SELF(p + 1, n - 1, v + 1) : v;\n",
        "    static const unsigned table[3] = { 5, 7, 11 };\n    return table[v % 3u] * p[n - 1];\n",
    };
    unsigned k = below(COUNT(bodies));
    put(BOTH, "%sunsigned %s(unsigned *p, int n, unsigned v);\n%s", begin, name, end);
    if (k == 4) put(OTHER, "#undef SELF\n#define SELF %s\n", name);
    put(OTHER, "%sunsigned %s(unsigned *p, int n, unsigned v)\n{\n%s}\n%s", begin, name, bodies[k], end);
    return name;
}

/* Static variables and functions of one name: each file has its own. */
static void statics(void)
{
    for (int other = 0; other < 2; other++) {
        enum place p = other ? OTHER : HEAD;
        put(p, "%sstatic unsigned both_%lu[3] = { %u, 2, %d };\n", begin, seed, below(90), other);
        put(p, "static unsigned same_%1$lu(unsigned v) { return v * %2$uu + both_%1$lu[v %% 3u]; }\n%3$s", seed, 3 + below(9), end);
        put(p, "static inline unsigned twice_%lu(unsigned v) { return v * 2u + %du; }\n", seed, other);
    }
}

/* A function of the other file with a region. */
static char *host_function(void)
{
    char *name = text("region%d_%lu", fresh(), seed);
    static const char *const directives[] = {
        "target teams distribute parallel for map(tofrom: p[0:n])", "target parallel for map(tofrom: p[0:n])", "target teams distribute map(tofrom: p[0:n]) num_teams(2)",
        "target simd map(tofrom: p[0:n])",
    };
    put(BOTH, "unsigned %s(unsigned *p, int n);\n", name);
    put(OTHER, "unsigned %1$s(unsigned *p, int n)\n{\n#pragma omp %2$s\n    for (int i = 0; i < n; i++) p[i] += same_%3$lu((unsigned)i) + twice_%3$lu(p[i]);\n    return p[n - 1];\n}\n",
        name, *PICK(directives), seed);
    return name;
}

static void use_function(const char *f)
{
    switch (below(3)) {
    case 0:
        line("#pragma omp target map(tofrom: a)");
        line("a[%u] ^= %s(a, %u, one);", below(8), f, 1 + below(8));
        break;
    case 1:
        line("#pragma omp target teams distribute map(tofrom: a) num_teams(2)");
        line("for (int t = 0; t < 2; t++)");
        open_block();
        line("unsigned own[4] = { (unsigned)t, 1, same_%lu((unsigned)t) };", seed);
        line("a[t] += %s(own, 4, a[t + 4]) + own[2];", f);
        close_block();
        break;
    default:
        line("#pragma omp target teams distribute parallel for map(tofrom: a)");
        line("for (int i = 0; i < 8; i++)");
        open_block();
        line("unsigned own[4] = { (unsigned)i, 1 };");
        line("a[i] += %s(own, 3, %uu) + own[1];", f, below(9));
        close_block();
    }
}

static void use_variable(const struct object *o)
{
    line("#pragma omp target update to(%s)", o->name);
    line("#pragma omp target map(tofrom: a)");
    open_block();
    struct scope s = begin_scope();
    see_object(o, true);
    see_term("a[3]");
    line("unsigned h = 3;");
    region_statements(1, 2);
    line("a[%u] = h + %s;", below(8), expression());
    close_block();
    line("#pragma omp target update from(%s)", o->name);
    end_scope(s);
    mix_object(o);
}

/* A variable that has memory on the device only while it is mapped. */
static void use_link(void)
{
    struct type *t = random_type(0);
    char *name = text("link%d_%lu", fresh(), seed);
    put(BOTH, "extern %s %s;\n#pragma omp declare target link(%s)\n", t->name, name, name);
    put(OTHER, "%s %s;\n", t->name, name);
    struct object o = { .name = name, .type = t, .storage = EXTERN };
    fill_object(&o);
    line("#pragma omp target map(tofrom: a) map(tofrom: %s)", name);
    open_block();
    struct scope s = begin_scope();
    see_object(&o, true);
    set_something();
    line("a[%u] += %s;", below(8), expression());
    close_block();
    end_scope(s);
    mix_object(&o);
}

void theme_files(void)
{
    statics();
    line("unsigned a[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };");
    struct object shared = new_object(chance(70) ? TARGET_EXTERN : TARGET_GLOBAL, random_type(0));
    fill_object(&shared);
    for (int n = 1 + (int)below(3); n--;) PART use_function(device_function());
    if (chance(60)) PART use_variable(&shared);
    if (chance(40)) PART use_link();
    for (int n = (int)below(3); n--;) PART line("h = h * 3u + %s(a, %u);", host_function(), 1 + below(8));
    line("#pragma omp target map(tofrom: a)");
    line("a[2] += same_%1$lu(a[1]) + twice_%1$lu(a[0]);", seed);
    line("for (int i = 0; i < 8; i++) h = h * 5u + a[i];");
}
