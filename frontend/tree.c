/* tree.c - constructs: their statements, their nesting, `loop` as what it stands for, canonical
 * loops and atomics. */
#include "frontend/fe.h"
#include <string.h>

struct omp_extent fe_whole(const struct omp_construct *c)
{
    return (struct omp_extent){ c->pragma.begin,
                                c->body.end > c->pragma.end ? c->body.end : c->pragma.end };
}

struct omp_construct *fe_target_of(const struct omp_construct *c)
{
    while (c && !(c->leaves & OMPL_TARGET) && !c->host_region)
        c = c->parent;
    return (struct omp_construct *)c;
}

bool fe_needs_host(const struct omp_construct *c)
{
    return (c->leaves & (OMPL_TARGET | OMPL_DATA)) || c->host_region;
}

bool fe_is_left_to_host(const struct omp_construct *c, unsigned offset)
{
    for (; c; c = c->next)
        if (fe_inside(offset, fe_whole(c)))
            return fe_needs_host(c) || fe_is_left_to_host(c->child, offset);
    return false;
}

/* ------------------------------------------------------------------ bodies */
/* Pragmas of inner constructs before the statement are part of the body. */
static void attach_body(struct fe *fe, unsigned i)
{
    struct fe_pragma *p = &fe->pragmas.at[i];
    if (p->assoc != ASSOC_STMT && p->assoc != ASSOC_LOOP)
        return;
    if (!p->found) {
        if (!(p->c->leaves & OMPL_OTHER))
            fe_error_at(fe, p->c->place,
                        "cannot find the statement that '#pragma omp %s' applies to",
                        p->c->spelling);
        return;
    }
    unsigned begin = p->wanted;
    if (i + 1 < fe->pragmas.n && fe->pragmas.at[i + 1].extent.begin < begin)
        begin = fe->pragmas.at[i + 1].extent.begin;
    p->c->body = (struct omp_extent){ begin, fe_stmt_end(fe, p->stmt) };
}

static struct omp_function *function_at(const struct fe *fe, unsigned offset)
{
    for (unsigned i = 0; i < fe->functions.n; i++)
        if (fe->functions.at[i]->f->defined && fe_inside(offset, fe->functions.at[i]->f->extent))
            return fe->functions.at[i]->f;
    return NULL;
}

static void append(struct omp_construct **list, struct omp_construct *c)
{
    while (*list)
        list = &(*list)->next;
    *list = c;
}

static void nest(struct fe *fe)
{
    struct omp_construct *top = NULL;
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        struct omp_construct *c = fe->pragmas.at[i].c;
        while (top && c->pragma.begin >= fe_whole(top).end)
            top = top->parent;
        c->parent = top;
        c->function = top ? top->function : function_at(fe, c->pragma.begin);
        if (top)
            append(&top->child, c);
        else if (c->function)
            append(&c->function->constructs, c);
        if (c->body.end)
            top = c;
    }
}

/* The only thing in the body of c, braces aside, or NULL. */
struct omp_construct *fe_sole_child(const struct fe *fe, const struct omp_construct *c)
{
    struct omp_construct *k = c->child;
    struct omp_extent b = c->body;
    if (!k || k->next)
        return NULL;
    const char *t = fe->u->text;
    for (;;) {
        b.begin = fe_skip_space(fe->u, b.begin);
        while (b.begin < k->pragma.begin && t[b.begin] == '#') { /* a line marker */
            while (b.begin < b.end && t[b.begin] != '\n')
                b.begin++;
            b.begin = fe_skip_space(fe->u, b.begin);
        }
        if (b.begin >= k->pragma.begin || t[b.begin] != '{')
            break;
        b.begin++;
        while (b.end > b.begin && t[b.end - 1] != '}')
            b.end--;
        b.end--;
    }
    if (b.begin != k->pragma.begin)
        return NULL;
    unsigned rest = fe_skip_blank(fe->u, fe_whole(k).end);
    return rest >= b.end ? k : NULL;
}

/* ------------------------------------------------------------------ loop */
static enum omp_keyword binding(const struct omp_construct *c)
{
    struct omp_clause *b = fe_clause(c, OMPC_BIND);
    return b ? b->keyword : OMPK_NONE;
}

static bool has_inner_parallel(const struct omp_construct *c)
{
    for (const struct omp_construct *k = c->child; k; k = k->next)
        if ((k->leaves & OMPL_PARALLEL) ||
            ((k->leaves & OMPL_LOOP) && binding(k) == OMPK_PARALLEL) || has_inner_parallel(k))
            return true;
    return false;
}

/* Nearest enclosing construct that has one of the leaves. */
static struct omp_construct *enclosing(const struct omp_construct *c, unsigned leaves)
{
    for (c = c->parent; c; c = c->parent)
        if (c->leaves & leaves)
            return (struct omp_construct *)c;
    return NULL;
}

/* Where no clause says it. */
static enum omp_keyword default_binding(const struct omp_construct *c, unsigned around)
{
    if (c->leaves & OMPL_PARALLEL)
        return OMPK_PARALLEL;
    if (c->leaves & OMPL_TEAMS)
        return OMPK_TEAMS;
    if (around & (OMPL_FOR | OMPL_SIMD | OMPL_DISTRIBUTE))
        return OMPK_THREAD;
    if (around & OMPL_PARALLEL)
        return OMPK_PARALLEL;
    return around & OMPL_TEAMS ? OMPK_TEAMS : OMPK_THREAD;
}

/* Section 11.7 of OpenMP 5.2.  Bound to teams the iterations may use all threads, unless an inner
 * loop wants those of the team. */
static void normalise_loop(struct omp_construct *c)
{
    enum omp_keyword bind = binding(c);
    struct omp_construct *outer = enclosing(c, OMPL_TEAMS | OMPL_PARALLEL | OMPL_LOOP |
                                                   OMPL_DISTRIBUTE | OMPL_FOR | OMPL_SIMD);
    unsigned around = outer ? outer->leaves : 0, all = OMPL_DISTRIBUTE | OMPL_PARALLEL | OMPL_FOR;
    if (!bind)
        bind = default_binding(c, around);
    /* as clang: what else could share the iterations of `teams loop`? */
    if (c->leaves & OMPL_TEAMS)
        bind = OMPK_TEAMS;
    c->leaves &= ~(unsigned)OMPL_LOOP;
    if (bind == OMPK_TEAMS)
        c->leaves |= has_inner_parallel(c) ? OMPL_DISTRIBUTE : all;
    else if (bind == OMPK_THREAD)
        c->leaves |= OMPL_SIMD;
    else if ((c->leaves & OMPL_PARALLEL) || enclosing(c, OMPL_PARALLEL) ||
             !enclosing(c, OMPL_DISTRIBUTE))
        c->leaves |= OMPL_FOR;
    else
        c->leaves |= OMPL_PARALLEL | OMPL_FOR;
}

/* ------------------------------------------------------------------ */
static bool on_device(const struct omp_construct *c)
{
    for (const struct omp_construct *p = c->parent; p; p = p->parent)
        if (p->leaves & OMPL_TARGET)
            return true;
    return false;
}

static void publish(struct fe *fe)
{
    struct omp_unit *u = fe->u;
    u->constructs = arena_alloc(fe->a, (fe->pragmas.n + 1) * sizeof *u->constructs);
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        u->constructs[u->nconstructs++] = fe->pragmas.at[i].c;
    for (unsigned i = 0; i < u->nconstructs; i++)
        u->ntargets += (u->constructs[i]->leaves & OMPL_TARGET) != 0;
}

/* Another region's name, or one of the user's at file scope. */
static bool is_name_taken(const struct fe *fe, unsigned before, const char *name)
{
    for (unsigned i = 0; i < before; i++)
        if (fe->u->constructs[i]->region && !strcmp(fe->u->constructs[i]->region, name))
            return true;
    return fe_has_word(fe->u, name);
}

/* Kernels have names for GPUs, too, which are of ASCII: each other byte is two digits. */
static const char *in_ascii(struct fe *fe, const char *name)
{
    const char *text = "";
    for (; *name; name++)
        text = (unsigned char)*name < 0x80
                   ? arena_printf(fe->a, "%s%c", text, *name)
                   : arena_printf(fe->a, "%s%02x", text, (unsigned)(unsigned char)*name);
    return text;
}

static void name_regions(struct fe *fe)
{
    struct omp_unit *u = fe->u;
    for (unsigned i = 0; i < u->nconstructs; i++) {
        struct omp_construct *c = u->constructs[i];
        if (!(c->leaves & OMPL_TARGET))
            continue;
        const char *function = c->function ? in_ascii(fe, c->function->name) : "file",
                   *base = arena_printf(fe->a, "%s_%u", function, c->place.line), *name = base;
        for (unsigned n = 2; is_name_taken(fe, i, name); n++)
            name = arena_printf(fe->a, "%s_%u", base, n);
        c->region = name;
    }
}

void fe_build_tree(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        attach_body(fe, i);
    nest(fe);
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        if (fe->pragmas.at[i].c->leaves & OMPL_LOOP)
            normalise_loop(fe->pragmas.at[i].c);
    publish(fe);
    name_regions(fe);
    for (unsigned i = 0; i < fe->pragmas.n; i++)
        fe->pragmas.at[i].c->on_device = on_device(fe->pragmas.at[i].c);
}
