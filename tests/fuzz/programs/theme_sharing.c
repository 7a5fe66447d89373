/* theme_sharing.c - private, firstprivate, lastprivate, reduction, linear and shared objects of random types on loops, sections, single,
 * tasks and scopes.  An iteration writes its private objects before it reads them. */
#include "gen.h"
#include <string.h>

enum { P = 1, F = 2, L = 4, R = 8, LIN = 16, SCHEDULE = 32, THREADS = 64, TASK = 128 };       /* TASK: no VLA, says clang */
static const struct form { const char *directive; unsigned clauses; } forms[] = {
    { "target teams distribute parallel for", P | F | L | R | SCHEDULE | THREADS },
    { "target parallel for", P | F | L | R | LIN | SCHEDULE | THREADS },
    { "target teams distribute", P | F | L | R },
    { "target simd", P | F | L | R | LIN },
    { "target teams distribute simd", P | F | L | R },
    { "target parallel for simd", P | F | L | R | LIN | SCHEDULE | THREADS },
    { "target teams distribute parallel for simd", P | F | L | R | SCHEDULE | THREADS },
    { "target teams loop", P | F | R },
    { "target parallel loop", P | F | R | THREADS },
    /* '|': the second is in the region of the first */
    { "target|parallel for", P | F | L | R | LIN | SCHEDULE | THREADS },
    { "target|teams distribute parallel for", P | F | L | R | SCHEDULE | THREADS },
    { "target teams|distribute parallel for", P | F | L | SCHEDULE | THREADS },
    { "target parallel|for", P | F | L | R | LIN | SCHEDULE },
    { "target|simd", P | L | R | LIN },
    { "target|parallel for simd", P | F | L | R | LIN | SCHEDULE | THREADS },
    { "target|taskloop", TASK | P | F | L | R },
    { "target|parallel masked taskloop", TASK | P | F | L | R | THREADS },
    { "target|parallel loop", P | F | R | THREADS },
};
static const struct { const char *op, *init, *step; bool any; } operators[] = {
    { "+", "5", "%1$s += (%2$s) & 15", true }, { "max", "9", "{ __typeof__(%1$s) e = (__typeof__(%1$s))((%2$s) %% 100u); if (e > %1$s) %1$s = e; }", true },
    { "min", "70", "{ __typeof__(%1$s) e = (__typeof__(%1$s))((%2$s) %% 100u); if (e < %1$s) %1$s = e; }", true },
    { "^", "3", "%1$s ^= %2$s", false }, { "|", "3", "%1$s |= %2$s", false }, { "&", "127", "%1$s &= %2$s | 65u", false }, { "*", "1", "%1$s *= (%2$s) | 1u", false },
    { "&&", "1", "%1$s = %1$s && (%2$s) != 7u", false }, { "||", "0", "%1$s = %1$s || (%2$s) == 7u", false },
};
static const char *const whole[] = { "unsigned", "unsigned char", "unsigned short", "unsigned long", "size_t" }, *const others[] = { "int", "double", "float", "long long" };

/* A variable of the loop, with its clause. */
enum kind { PRIVATE, FIRST, LAST, REDUCTION, ARRAY_REDUCTION, JOINED, LINEAR, SHARED };
struct variable { enum kind kind; struct object o; char *clause; int op, saved; };
static struct variable vars[8];
static int nvars;

static struct object plain_object(struct type *t)
{
    return new_object((enum storage[]){ LOCAL, LOCAL, GLOBAL, EXTERN, PARAMETER, STATIC }[below(6)], t);
}

static struct variable choose_variable(unsigned allowed)
{
    struct variable v = { .kind = (enum kind)below(8) };
    static const unsigned needs[] = { P, F, L, R, R, R, LIN, 0 };
    if (needs[v.kind] & ~allowed) v.kind = SHARED;
    switch (v.kind) {
    case PRIVATE: case FIRST: case LAST:
        v.o = chance(30) ? new_object(chance(50) && !(allowed & TASK) ? VLA : NAMELESS, random_type(1)) : plain_object(random_type(0));
        v.clause = text(v.kind == PRIVATE ? "private(%s)" : v.kind == FIRST ? "firstprivate(%s)" : "lastprivate(%s)", v.o.name);
        break;
    case REDUCTION: case ARRAY_REDUCTION: {
        v.op = (int)below(COUNT(operators));
        struct type *t = named_scalar(operators[v.op].any && chance(50) ? *PICK(others) : *PICK(whole));
        v.o = v.kind == REDUCTION ? plain_object(t) : new_object(chance(60) ? LOCAL : HEAP, array_of(t, 1 + (int)below(5)));
        v.clause = text("reduction(%s: %s)", operators[v.op].op, v.o.count ? text("%s[0:%d]", v.o.name, v.o.count) : v.o.name);
        if (v.kind == ARRAY_REDUCTION && v.o.count) {   /* of a pointer: its elements are scalars */
            v.o = new_object(HEAP, t);
            v.clause = text("reduction(%s: %s[0:%d])", operators[v.op].op, v.o.name, v.o.count);
        }
        break;
    }
    case JOINED: {
        struct type *t = random_struct(1);
        v.o = plain_object(t);
        put(HEAD, "#pragma omp declare reduction(join_%1$s : %1$s : add_%1$s(&omp_out, &omp_in)) initializer(omp_priv = { 0 })\n", t->name);
        v.clause = text("reduction(join_%s: %s)", t->name, v.o.name);
        break;
    }
    case LINEAR:
        v.o = plain_object(named_scalar(WORD("int", "unsigned", "long", "unsigned short")));
        v.clause = text("linear(%s: 3)", v.o.name);
        break;
    case SHARED: v.o = new_object(chance(50) ? HEAP : LOCAL, random_type(0)); break;
    }
    return v;
}

static bool is_out(const struct variable *v) { return v->kind >= LAST && v->kind != SHARED; }

/* What the iteration does with a variable before its statements, and after them. */
static void begin_variable(struct variable *v)
{
    if (v->kind == PRIVATE || v->kind == LAST) {
        struct scope s = begin_scope();
        see_object(&v->o, true);
        for (int k = s.views; k < nviews; k++) fill(views[k], text("(unsigned)i * %uu", 1 + below(9)));
        return;
    }
    if (v->kind == FIRST || v->kind == SHARED) {
        int from = nviews;
        see_object(&v->o, false);
        (void)from;
    }
    if (v->kind == LINEAR) see_term(text("(unsigned)%s", v->o.name));
}
static void end_variable(struct variable *v)
{
    const char *name = v->o.name;
    switch (v->kind) {
    case REDUCTION: line("%s;", text(operators[v->op].step, name, expression())); break;
    case ARRAY_REDUCTION: {
        int n = v->o.count ? v->o.count : v->o.type->n;
        char *at = text("%s[(i * 7 + 1) %% %d]", name, n);
        line("%s;", text(operators[v->op].step, at, expression()));
        break;
    }
    case JOINED: line("{ %1$s one_more; fill_%1$s(&one_more, %2$s); add_%1$s(&%3$s, &one_more); }", v->o.type->name, expression(), name); break;
    case LINEAR: line("%s += 3;", name); break;
    default: break;
    }
}
static void start_value(struct variable *v)
{
    if (v->kind == REDUCTION) line("%s = %s;", v->o.name, operators[v->op].init);
    else if (v->kind == ARRAY_REDUCTION)
        line("for (int k = 0; k < %d; k++) %s[k] = %s;", v->o.count ? v->o.count : v->o.type->n, v->o.name, operators[v->op].init);
    else fill_object(&v->o);
}

static void put_clauses(const struct form *f, bool split)
{
    static const char *const schedules[] = { "static", "static, 1", "static, 3", "dynamic", "dynamic, 2", "guided", "runtime", "auto" };
    for (int i = 0; i < nvars; i++)
        if (vars[i].clause) PART put(BODY, " %s", vars[i].clause);
    if (f->clauses & TASK) put(BODY, " shared(out)");     /* in a target region alone it would be firstprivate */
    if (!split) {
        PART put(BODY, " map(tofrom: out)");
        for (int i = 0; i < nvars; i++)
            if (vars[i].kind == SHARED || (vars[i].kind == ARRAY_REDUCTION && vars[i].o.count)) put(BODY, " map(tofrom: %s)", mapped(&vars[i].o));
    }
    if (f->clauses & SCHEDULE && chance(40)) PART put(BODY, " schedule(%s)", *PICK(schedules));
    if (f->clauses & THREADS && chance(40)) PART put(BODY, " num_threads(%u)", 1 + below(40));
    if (strstr(f->directive, "distribute") && !strchr(f->directive, '|') && chance(40)) PART put(BODY, " num_teams(%u)", 1 + below(5));
}

static void put_loop(int n)
{
    line("for (int i = 0; i < %d; i++)", n);
    open_block();
    struct scope s = begin_scope();
    see_term("(unsigned)i");
    for (int i = 0; i < nvars; i++) begin_variable(&vars[i]);
    line("unsigned h = %u;", below(9));
    for (int k = (int)below(4); k--;) PART set_something();
    if (chance(30)) PART region_statements(2, 1);
    line("out[i] += h + %s;", expression());
    for (int i = 0; i < nvars; i++) PART end_variable(&vars[i]);
    end_scope(s);
    close_block();
}

static void put_construct(const struct form *f, int n)
{
    const char *bar = strchr(f->directive, '|'), *last = bar ? bar + 1 : f->directive;
    if (bar) {
        put(BODY, "#pragma omp %.*s map(tofrom: out)", (int)(bar - f->directive), f->directive);
        if (strstr(f->directive, "teams|")) put(BODY, " num_teams(%u)", 1 + below(4));
        if (strstr(f->directive, "parallel|")) PART put(BODY, " num_threads(%u)", 1 + below(40));
        for (int i = 0; i < nvars; i++)
            if (is_out(&vars[i]) || vars[i].kind == SHARED) put(BODY, " map(tofrom: %s)", mapped(&vars[i].o));
        put(BODY, "\n");
        open_block();
    }
    put(BODY, "#pragma omp %s", last);
    put_clauses(f, bar);
    put(BODY, "\n");
    put_loop(n);
    if (bar) close_block();
}

/* ---- what is no loop */
static void sections(void)
{
    struct object x = plain_object(random_type(0)), l = plain_object(random_type(0));
    struct scope s = begin_scope();
    fill_object(&x), fill_object(&l);
    line("#pragma omp target map(to: %s) map(tofrom: %s, out)", x.name, l.name);
    line("#pragma omp parallel sections firstprivate(%s) lastprivate(%s)%s", x.name, l.name, WORD("", " num_threads(3)"));
    open_block();
    see_object(&x, false);
    for (int i = 0, n = 1 + (int)below(4); i < n; i++) {
        line("#pragma omp section");
        open_block();
        fill_object(&l);
        line("out[%d] += %s;", i, expression());
        close_block();
    }
    close_block();
    end_scope(s);
    mix_object(&x), mix_object(&l);
}
static void single(void)
{
    struct object x = plain_object(random_type(0));
    struct scope s = begin_scope();
    fill_object(&x);
    int saved;
    save(address_of(&x), size_of(&x), &saved);
    line("#pragma omp target parallel private(%s) map(tofrom: out)%s", x.name, WORD("", " num_threads(5)", " num_threads(33)"));
    open_block();
    line("#pragma omp single copyprivate(%s)", x.name);
    open_block();
    fill_object(&x);
    close_block();
    see_object(&x, false);
    see_term("(unsigned)i");
    line("#pragma omp for%s", WORD("", " schedule(dynamic)", " nowait"));
    line("for (int i = 0; i < %u; i++) out[i] += %s;", 1 + below(40), expression());
    close_block();
    restore(address_of(&x), size_of(&x), saved);
    end_scope(s);
    mix_object(&x);
}
static void tasks(void)
{
    struct object x = plain_object(random_type(0));
    struct scope s = begin_scope();
    fill_object(&x);
    line("#pragma omp target map(to: %s) map(tofrom: out)", x.name);
    line("#pragma omp parallel num_threads(%u)", 1 + below(9));
    line("#pragma omp %s", WORD("single", "masked"));
    line("for (int i = 0; i < %u; i++)", 1 + below(9));
    open_block();
    see_term("(unsigned)i");
    line("%s own = (unsigned char)(i * %u);", WORD("int", "unsigned", "short", "long long"), 1 + below(9));
    see_term("(unsigned)own");
    see_object(&x, false);
    line("#pragma omp task %s%s", WORD("firstprivate(i)", "firstprivate(i, own)", "default(shared) firstprivate(own)"), WORD("", " if(i & 1)", " untied"));
    line("out[i] += %s;", expression());
    close_block();
    end_scope(s);
}
static void scope_construct(void)
{
    struct object r = plain_object(named_scalar("unsigned")), x = plain_object(random_type(0));
    struct scope s = begin_scope();
    fill_object(&x);
    int saved;
    line("%s = 0;", r.name);
    save(address_of(&x), size_of(&x), &saved);
    line("#pragma omp target parallel map(tofrom: %s, out) num_threads(1)", r.name);
    line("#pragma omp scope reduction(+: %s) private(%s)", r.name, x.name);
    open_block();
    fill_object(&x);
    see_object(&x, true);
    PART set_something();
    line("%s += %s;", r.name, expression());
    close_block();
    restore(address_of(&x), size_of(&x), saved);
    end_scope(s);
    mix_object(&r), mix_object(&x);
}

static void loop(void)
{
    const struct form *f = PICK(forms);
    int n = 1 + (int)below(40);
    nvars = 1 + (int)below(5);
    for (int i = 0; i < nvars; i++) vars[i] = choose_variable(f->clauses);
    for (int i = 0; i < nvars; i++) start_value(&vars[i]);
    for (int i = 0; i < nvars; i++)
        if (vars[i].kind == PRIVATE || vars[i].kind == FIRST) save(address_of(&vars[i].o), size_of(&vars[i].o), &vars[i].saved);
    put_construct(f, n);
    for (int i = 0; i < nvars; i++) {
        if (vars[i].kind == PRIVATE || vars[i].kind == FIRST) restore(address_of(&vars[i].o), size_of(&vars[i].o), vars[i].saved);
        PART mix_object(&vars[i].o);
    }
}

void theme_sharing(void)
{
    static void (*const kinds[])(void) = { loop, loop, loop, loop, sections, single, tasks, scope_construct };
    line("unsigned out[40] = { 1, 2, 3 };");
    for (int n = 1 + (int)below(2); n--;) PART (*PICK(kinds))();
    line("for (int i = 0; i < 40; i++) h = h * 5 + out[i];");
}
