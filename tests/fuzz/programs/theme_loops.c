/* theme_loops.c - loop nests: every integer type up to its limits, pointers, each way to write the bounds, the test and the step, nests that are
 * no rectangle; the variable declared in the loop or outside, and its value afterwards. */
#include "gen.h"
#include <limits.h>
#include <string.h>

/* The limits within which values of the type are chosen; a suffix makes constants of it. */
static const struct kind { const char *type; long long low, high; const char *suffix; } kinds[] = {
    { "int", INT_MIN, INT_MAX, "" }, { "unsigned", 0, UINT_MAX, "u" }, { "short", SHRT_MIN, SHRT_MAX, "" }, { "unsigned short", 0, USHRT_MAX, "" },
    { "signed char", SCHAR_MIN, SCHAR_MAX, "" }, { "unsigned char", 0, UCHAR_MAX, "" }, { "long", LONG_MIN, LONG_MAX, "L" }, { "size_t", 0, LLONG_MAX, "uL" },
    { "long long", LLONG_MIN, LLONG_MAX, "LL" }, { "int64_t", -9000000000, 9000000000, "L" }, { "uint8_t", 0, 255, "" }, { "char", 0, 127, "" }, { "int", -40, 200, "" },
};
static const char *const forms[] = {
    "target teams distribute parallel for", "target parallel for", "target teams distribute", "target teams loop", "target parallel for simd", "target simd",
    "target teams distribute parallel for simd", "target teams distribute simd", "target parallel loop", "target|parallel for", "target parallel|for",
    "target|teams distribute parallel for", "target|parallel for simd", "target teams|distribute parallel for", "target|taskloop", "target|simd",
};

struct loop {
    const struct kind *kind;          /* NULL: a pointer */
    int id, trips;
    long long start, step, end;       /* step: how far; end: after the last iteration */
    bool down, outside;
    char *before;                     /* the variable's declaration, when outside */
};

/* v, as a constant of the type that can be written: the least value has no constant. */
static char *constant(const struct kind *k, long long v)
{
    if (v == INT_MIN && !*k->suffix) return text("%s", "INT_MIN");
    if (v == LLONG_MIN) return text("%s", "LLONG_MIN");
    return text(v < 0 ? "(%lld%s)" : "%lld%s", v, k->suffix);
}
static char *bound(const struct kind *k, long long v)
{
    char *c = constant(k, v);
    int id = fresh();
    switch (below(6)) {
    case 0:
        line("%s b%d = %s;", k->type, id, c);
        return text("b%d", id);
    case 1:
        line("struct { int a; %s lim; } b%d = { 1, %s };", k->type, id, c);
        return text("b%d.lim", id);
    case 2: return text("(%s)%s", k->type, c);
    case 3: return text("(one ? %s : 0)", c);
    default: return c;
    }
}

static void choose(struct loop *l, int most)
{
    const struct kind *k = l->kind = PICK(kinds);
    static const long long steps[] = { 1, 1, 1, 2, 3, 7, 100, 1000000, 1LL << 40 };
    long long room = k->high / 2 - k->low / 2;
    l->id = fresh(), l->trips = chance(8) ? 0 : 1 + (int)below((unsigned)most), l->down = chance(40), l->outside = chance(30);
    do l->step = *PICK(steps);
    while (l->step > room / (l->trips + 2));
    long long reach = l->step * l->trips, slack = room - reach;
    long long away = chance(50) ? 0 : chance(50) ? (long long)below(5) : slack / (1 + (long long)below(9));     /* from the limit where it ends or begins */
    bool at_end = chance(60);
    if (away > slack) away = slack;
    if (l->down) l->start = at_end ? k->low + away + reach : k->high - away;
    else l->start = at_end ? k->high - away - reach : k->low + away;
    l->end = l->down ? l->start - reach : l->start + reach;
}

/* The test: true for `trips` iterations; a bound that is not met exactly where the type has room for it. */
static char *test(const struct loop *l, const char *var)
{
    long long last = l->down ? l->end + l->step : l->end - l->step, limit = l->end;
    const char *op = l->down ? ">" : "<";
    if (l->step == 1 && chance(30)) op = "!=";
    else if (l->trips && chance(40)) op = l->down ? ">=" : "<=", limit = last;
    if (strcmp(op, "!=") && l->step > 1 && l->trips && chance(50))
        limit += (l->down ? (op[1] ? -1 : 1) : op[1] ? 1 : -1) * (long long)below((unsigned)(l->step > 1000 ? 1000 : l->step));
    char *b = bound(l->kind, limit);
    if (chance(80)) return text("%s %s %s", var, op, b);
    return text("%s %s %s", b, !strcmp(op, "!=") ? op : !strcmp(op, "<") ? ">" : !strcmp(op, ">") ? "<" : !strcmp(op, "<=") ? ">=" : "<=", var);
}
static char *increment(const struct loop *l, const char *var)
{
    char sign = l->down ? '-' : '+';
    if (l->step == 1 && chance(60)) return chance(50) ? text("%s%c%c", var, sign, sign) : text("%2$c%2$c%1$s", var, sign);
    char *step = text("%lld", l->step);
    if (chance(30)) {
        int id = fresh();
        line("%s st%d = %lld;", l->step > 100 ? "long" : WORD("int", "short", "unsigned char", "long"), id, l->step);
        step = text("st%d", id);
    }
    switch (below(l->down ? 2 : 3)) {
    case 0: return text("%s %c= %s", var, sign, step);
    case 1: return text("%1$s = %1$s %2$c %3$s", var, sign, step);
    default: return text("%1$s = %2$s + %1$s", var, step);
    }
}
/* Its number, from the variable's value. */
static char *index_of(const struct loop *l)
{
    const char *form = l->down ? "(unsigned)(((unsigned long long)%2$s - (unsigned long long)i%1$d) / %3$lldull)"
                               : "(unsigned)(((unsigned long long)i%1$d - (unsigned long long)%2$s) / %3$lldull)";
    return text(form, l->id, constant(l->kind, l->start), l->step);
}
static char *head(const struct loop *l)
{
    char *var = text("i%d", l->id), *start = bound(l->kind, l->start), *cond = test(l, var);
    return text("for (%s%s = %s; %s; %s)", l->outside ? "" : text("%s ", l->kind->type), var, start, cond, increment(l, var));
}

/* ---- directives */
/* A nest that is no rectangle takes no schedule. */
static void put_directive(const char *form, const char *maps, const char *clauses, bool chunks)
{
    const char *bar = strchr(form, '|');
    static const char *const schedules[] = { "", "", " schedule(static, 1)", " schedule(static, 3)", " schedule(dynamic)", " schedule(guided, 2)", " schedule(runtime)" };
    if (bar) line("#pragma omp %.*s%s", (int)(bar - form), form, maps);
    put(BODY, "#pragma omp %s", bar ? bar + 1 : form);
    if (!bar) put(BODY, "%s", maps);
    put(BODY, "%s", clauses);
    if (chunks && strstr(form, "for")) PART put(BODY, "%s", *PICK(schedules));
    if (strstr(form, "parallel") && !strstr(form, "parallel|") && chance(30)) PART put(BODY, " num_threads(%u)", 1 + below(40));
    if (chunks && strstr(form, "distribute") && !strstr(form, "teams|") && chance(30)) PART put(BODY, " num_teams(%u)%s", 1 + below(5), WORD("", " dist_schedule(static, 2)"));
    put(BODY, "\n");
}

static void rectangle(void)
{
    const char *form = *PICK(forms);
    struct loop loops[3];
    int n = 1 + (int)below(3), id = fresh(), saved[3];
    bool looped = strstr(form, "loop") && !strstr(form, "task");
    char *heads[3], *clauses = n > 1 ? text(" collapse(%d)", n) : text("%s", ""), *at = text("%s", "0u"), *lasts = clauses;
    static const int most[] = { 60, 9, 4 };
    for (int i = 0; i < n; i++) {
        choose(&loops[i], most[n - 1]);
        if (loops[i].outside) line("%s i%d = 3;", loops[i].kind->type, loops[i].id);
        heads[i] = head(&loops[i]);
        at = text("(%s) * %du + %s", at, most[n - 1] + 1, index_of(&loops[i]));
        /* Is the variable's value used afterwards?  It has one where the loop has iterations. */
        bool last = loops[i].outside && n == 1 && loops[i].trips && !looped && chance(50);
        saved[i] = loops[i].outside && !last;
        if (last) lasts = text(" lastprivate(i%d)", loops[i].id);
        if (saved[i]) save(text("&i%d", loops[i].id), text("sizeof i%d", loops[i].id), &saved[i]);
    }
    bool simd = strstr(form, "simd");
    line("unsigned hit%1$d[1000] = { 0 }, sum%1$d = 0;", id);
    char *maps = text(" map(tofrom: hit%1$d, sum%1$d%2$s%3$s)", id, *lasts && n == 1 ? ", " : "", *lasts && n == 1 ? text("i%d", loops[0].id) : "");
    if (strstr(form, "task")) lasts = text("%s shared(hit%d)", lasts, id), clauses = text("%s shared(hit%d)", clauses, id);
    put_directive(form, maps, text("%s%s%s", n > 1 ? clauses : lasts, strstr(form, "teams|") ? "" : text(" reduction(+: sum%d)", id),
                                   simd && chance(30) ? " simdlen(4)" : ""), true);
    for (int i = 0; i < n; i++) line("%s", heads[i]);
    open_block();
    struct scope s = begin_scope();
    for (int i = 0; i < n; i++) see_term(text("(unsigned)i%d", loops[i].id));
    line("hit%d[%s] += %s;", id, at, expression());
    if (!strstr(form, "teams|")) line("sum%d += %s;", id, expression());
    close_block();
    end_scope(s);
    for (int i = 0; i < n; i++) {
        if (saved[i]) restore(text("&i%d", loops[i].id), text("sizeof i%d", loops[i].id), saved[i]);
        if (loops[i].outside) line("h = h * 7u + (unsigned)i%d;", loops[i].id);
    }
    line("for (int k = 0; k < 1000; k++) h = h * 3u + hit%d[k];", id);
    line("h += sum%d;", id);
}

/* The inner bounds depend on the outer variable. */
static void triangle(void)
{
    static const char *const inner[] = {
        "for (int j = i; j < %u; j++)", "for (int j = 0; j <= i; j++)", "for (int j = 2 * i; j < 3 * %u; j += 2)", "for (int j = %u; j > i; j--)",
        "for (int j = i + 1; j != i + 5; j++)", "for (int j = %u - i; j >= 0; j -= 3)", "for (int j = -i; j < %u; ++j)", "for (int j = i; j < i + %u; j++)",
    };
    const char *form = forms[(const int[]){ 0, 1, 2, 9, 10, 11, 13 }[below(7)]];
    int id = fresh(), n = 2 + (int)below(12);
    bool collapsed = chance(70);
    line("unsigned hit%1$d[1000] = { 0 }, sum%1$d = 0;", id);
    put_directive(form, text(" map(tofrom: hit%1$d, sum%1$d)", id), collapsed ? " collapse(2)" : "", !collapsed);
    line("for (int i = %s; i < %d; i++)", WORD("0", "1", "one - 1"), n);
    line(*PICK(inner), 1 + below(12));
    open_block();
    line("#pragma omp atomic");
    line("hit%d[((unsigned)i * 40u + (unsigned)(j + 15)) %% 1000u] += (unsigned)(i * 3 + j) + 1u;", id);
    line("#pragma omp atomic");
    line("sum%d += (unsigned)(i ^ j);", id);
    close_block();
    line("for (int k = 0; k < 1000; k++) h = h * 3u + hit%d[k];", id);
    line("h += sum%d;", id);
}

static void pointers(void)
{
    const char *form = forms[(const int[]){ 0, 1, 2, 4, 5, 6, 7, 9, 10, 11, 12, 14 }[below(12)]];
    struct type *t = random_type(1);
    struct object a = new_object(HEAP, t);
    a.count = 1 + (int)below(12);
    int id = fresh(), step = 1 + (int)below(3), n = a.count, saved;
    a.name = text("%s", a.name);
    line("%1$s = realloc(%1$s, %2$d * sizeof *%1$s);", a.name, n);
    fill_object(&a);
    line("unsigned sum%d = 0;", id);
    bool down = chance(40), outside = chance(30);
    if (outside) line("%s *p%d = %s;", t->name, id, a.name), save(text("&p%d", id), text("sizeof p%d", id), &saved);
    put_directive(form, text(" map(tofrom: %s[0:%d], sum%d)", a.name, n, id), strstr(form, "teams|") ? "" : text(" reduction(+: sum%d)", id), true);
    const char *type = outside ? "" : text("%s *", t->name);
    if (down) line("for (%sp%d = %s + %d; p%d > %s; p%d%s)", type, id, a.name, n - 1, id, a.name, id, step == 1 ? "--" : text(" -= %d", 1));
    else if (step == 1) line("for (%1$sp%2$d = %3$s; p%2$d %5$s %3$s + %4$d; %6$s)", type, id, a.name, n, WORD("<", "!="), text(WORD("p%d++", "++p%d", "p%d += 1"), id));
    else line("for (%sp%d = &%s[0]; p%d < %s + %d; p%d += %d)", type, id, a.name, id, a.name, n / step * step, id, step);
    open_block();
    struct scope s = begin_scope();
    see(text("(*p%d)", id), t, true, false);
    see_term(text("(unsigned)(p%d - %s)", id, a.name));
    if (!strstr(form, "teams|")) line("sum%d += %s;", id, expression());
    for (int k = 1 + (int)below(3); k--;) set_something();
    close_block();
    end_scope(s);
    if (outside) restore(text("&p%d", id), text("sizeof p%d", id), saved);
    mix_object(&a);
    line("h += sum%d;", id);
}

void theme_loops(void)
{
    static void (*const nests[])(void) = { rectangle, rectangle, rectangle, triangle, pointers };
    for (int n = 1 + (int)below(3); n--;) PART {
        open_block();
        (*PICK(nests))();
        close_block();
    }
}
