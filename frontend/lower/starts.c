/* starts.c - functions of declare target with the attribute constructor or destructor.
 *
 * The host calls them as it does without declare target.  For the devices each becomes a function
 * of the host with a region that calls it, of which the library knows (hostrt/core/starts.c):
 *
 *     static void start(int device)
 *     {
 *     #pragma omp target device(device) thread_limit(1)
 *         { if (!omp_is_initial_device()) f(); }
 *     }
 *
 * All this stands at the end of the text, when nothing else in it is to be lowered. */
#include "frontend/lower/lower.h"

static bool is_on_device(const struct fe *fe, const struct fe_function *f)
{
    struct lower_argument a;
    for (unsigned i = 0; i < fe->pragmas.n && !f->system; i++) {
        const struct fe_pragma *p = &fe->pragmas.at[i];
        bool host = lower_find(fe, p, OMPC_DEVICE_TYPE, p->clauses_at, &a) &&
                    lower_keyword(fe, p, a.begin) == OMPK_HOST;
        if ((p->c->leaves & OMPL_DECLARE_TARGET) && !host && lower_declares(fe, p, f))
            return true;
    }
    return false;
}

static bool has_parameters(const struct fe_function *f)
{
    return clang_Cursor_getNumArguments(f->cursor) > 0;
}

static const char *declaration_of_query(struct fe *fe)
{
    static const char name[] = "omp_is_initial_device";
    return fe_function_named(fe, name, sizeof name - 1) ? ""
                                                        : "extern int omp_is_initial_device(void);";
}

/* The function of the host; its place is that of the one that it is for. */
static const char *define_start(struct lowering *l, const struct fe_function *f, const char *name)
{
    struct fe *fe = l->fe;
    const char *device = lower_name(l, "device");
    const char *marker = fe_marker(fe, f->f->place, false);
    return arena_printf(fe->a,
                        "%sstatic void %s(int %s) { %s\n#pragma omp target device(%s) "
                        "thread_limit(1)%s{ if (!omp_is_initial_device()) %s(); } }\n",
                        marker, name, device, declaration_of_query(fe), device, marker, f->f->name);
}

struct texts {
    const char *functions, *coming, *going;
};

static void add_start(struct lowering *l, const struct fe_function *f, unsigned kind,
                      struct texts *t)
{
    struct fe *fe = l->fe;
    const char *name = lower_name(l, f->f->name), *prefix = fe->u->prefix;
    if (has_parameters(f)) {
        fe_unsupported(fe, f->f->place, UNSUPPORTED_START, f->f->name, NULL);
        return;
    }
    t->functions = arena_printf(fe->a, "%s%s", t->functions, define_start(l, f, name));
    t->coming = arena_printf(fe->a, "%s %sadd_start(%s, %s, %u);", t->coming, prefix, name,
                             f->starts[kind], kind);
    t->going = arena_printf(fe->a, "%s %sdrop_start(%s);", t->going, prefix, name);
}

/* A constructor of the host, before those of the program; its destructor after most of them. */
static const char *register_starts(struct fe *fe, const struct texts *t)
{
    const char *p = fe->u->prefix;
    return arena_printf(
        fe->a,
        "%s\nstatic __attribute__((constructor(100))) void %sstarts_come(void) { extern void "
        "%sadd_start(void (*)(int), int, int) __asm__(\"__ompgpu_add_start\");%s }\n"
        "static __attribute__((destructor(101))) void %sstarts_go(void) { extern void "
        "%sdrop_start(void (*)(int)) __asm__(\"__ompgpu_drop_start\");%s }\n",
        t->functions, p, p, t->coming, p, p, t->going);
}

/* Before anything is known of the functions: may there be some? */
bool lower_may_start(const struct fe *fe)
{
    static const char *const words[] = { "constructor", "__constructor__", "destructor",
                                         "__destructor__" };
    bool declares = false, may = false;
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        declares |= (fe->pragmas.at[i].c->leaves & OMPL_DECLARE_TARGET) != 0;
    for (unsigned i = 0; declares && i < sizeof words / sizeof *words; i++)
        may |= fe_has_word(fe->u, words[i]);
    return may;
}

void lower_starts(struct lowering *l)
{
    struct fe *fe = l->fe;
    struct texts t = { "", "", "" };
    for (unsigned i = 0; i < fe->functions.n; i++)
        for (unsigned kind = 0; kind < FE_STARTS; kind++)
            if (fe->functions.at[i]->starts[kind] && is_on_device(fe, fe->functions.at[i]))
                add_start(l, fe->functions.at[i], kind, &t);
    if (*t.functions)
        fe_add_edit(fe, &l->edits, (unsigned)fe->u->length, 0, register_starts(fe, &t));
}
