/* spread.c - `target parallel for` on the whole device.
 *
 * The construct, in one or as `parallel for` that is all of a target region, has one team, so one
 * multiprocessor of a hundred.  Where nothing in the loop can tell one team from several, it
 * becomes `target teams distribute parallel for`: OpenMP leaves it to us which thread runs which
 * iteration (section 11.5.3 of OpenMP 5.2), scans among them (devicertl/scan.c), and a thread that
 * neither asks for its number, nor waits for others, nor synchronises with them otherwise than by
 * an atomic update cannot know how many teams there are.
 *
 * In: constructs with their loops and atomics, and the functions that are reached (reach.c).
 * Out: the leaves `teams` and `distribute`, and `spread`, of the construct.  The host version is
 * what the user wrote. */
#include "frontend/fe.h"

static bool off, remarks;

void fe_set_spread(bool on, bool with_remarks)
{
    off = !on;
    remarks = with_remarks;
}

/* ------------------------------------------------------------------ what shows the team */
struct finding { /* what, and where; NULL: nothing */
    const char *what, *name;
    bool asks; /* the program is about the team */
    struct omp_place place;
};

/* Threads may wait for each other with reads and flushes, and critical regions exclude the threads
 * of one team. */
static bool is_harmless(const struct omp_construct *c)
{
    if (c->leaves & OMPL_ATOMIC)
        return c->atomic && c->atomic->form != OMPA_READ;
    return !(c->leaves & ~(unsigned)(OMPL_SIMD | OMPL_SCAN));
}

static bool find_construct(const struct omp_construct *first, struct finding *f)
{
    for (const struct omp_construct *c = first; c; c = c->next) {
        if (is_harmless(c) && !find_construct(c->child, f))
            continue;
        if (!f->what)
            *f = (struct finding){ "it contains", c->spelling, false, c->place };
        return true;
    }
    return false;
}

static bool find_call(const struct fe *fe, struct omp_extent e, struct finding *f)
{
    FE_EACH(r, fe->frefs, e)
        if (r->function->shows_team) {
            *f = (struct finding){ "it uses", r->function->f->name, r->function->known,
                                   fe_place(fe->u, r->offset) };
            return true;
        }
    FE_EACH(r, fe->refs, e)
        if (r->var->declare_target == OMPV_DT_GROUP) {
            *f = (struct finding){ "it uses", r->var->name, true, fe_place(fe->u, r->offset) };
            return true;
        }
    for (unsigned i = 0; i < fe->indirect.n; i++)
        if (fe_inside(fe->indirect.at[i], e)) {
            *f = (struct finding){ "it calls a function through", "a pointer", false,
                                   fe_place(fe->u, fe->indirect.at[i]) };
            return true;
        }
    return false;
}

static void find_functions(const struct fe *fe)
{
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0; i < fe->functions.n; i++) {
            struct fe_function *f = fe->functions.at[i];
            struct finding found = { 0 };
            if (f->shows_team || !f->f->device || !f->f->defined ||
                (!find_construct(f->f->constructs, &found) && !find_call(fe, f->f->body, &found)))
                continue;
            f->shows_team = again = true;
        }
    }
}

/* ------------------------------------------------------------------ the construct */
/* Clauses that set the size of the team, or have no meaning for several. */
static const enum omp_clause_kind fixing[] = {
    OMPC_NUM_THREADS, OMPC_THREAD_LIMIT, OMPC_ORDERED, OMPC_LINEAR, OMPC_COPYIN, OMPC_IN_REDUCTION,
};

/* Bytes of a scan's list items, each in words; SIZE_MAX: they are not known, or there are others.
 */
static uint64_t scanned_bytes(const struct omp_clause *k)
{
    enum { WORD = 8 };
    uint64_t bytes = 0;
    for (unsigned i = 0; i < k->nitems; i++) {
        const struct omp_type *t = k->items[i].var ? k->items[i].var->type : NULL;
        if (!t || k->keyword != OMPK_INSCAN || k->items[i].nsections || t->kind == OMPT_ARRAY ||
            !t->size || t->alignment > WORD)
            return SIZE_MAX;
        bytes += (t->size + WORD - 1) / WORD * WORD;
    }
    return bytes;
}

/* The device runtime has tiles for small records (__OMPGPU_SCAN_TILE). */
static bool has_tiles(const struct omp_construct *c)
{
    enum { LARGEST = 24 };
    uint64_t bytes = 0;
    for (const struct omp_clause *k = c->clauses; k; k = k->next) {
        uint64_t more = k->kind == OMPC_REDUCTION     ? scanned_bytes(k)
                        : k->kind == OMPC_LASTPRIVATE ? SIZE_MAX
                                                      : 0;
        if (more > LARGEST)
            return false;
        bytes += more;
    }
    return c->nloops == 1 && bytes <= LARGEST;
}

static bool find_clause(const struct omp_construct *c, struct finding *f)
{
    for (const struct omp_clause *k = c->clauses; k && !f->what; k = k->next) {
        bool fixes = (k->kind == OMPC_IF && k->if_leaf == OMPL_PARALLEL) ||
                     (k->kind == OMPC_REDUCTION && k->keyword != OMPK_NONE &&
                      (k->keyword != OMPK_INSCAN || !has_tiles(c)));
        for (unsigned i = 0; i < sizeof fixing / sizeof *fixing; i++)
            fixes |= k->kind == fixing[i];
        if (fixes)
            *f = (struct finding){ "of its clause", fe_clause_rows[k->kind].spelling, false,
                                   k->place };
    }
    return f->what != NULL;
}

bool fe_may_spread(void) { return !off; }

bool fe_shows_team(const struct fe *fe, const struct omp_construct *first, struct omp_extent e)
{
    struct finding found = { 0 };
    return find_construct(first, &found) || find_call(fe, e, &found);
}

bool fe_fixes_team(const struct omp_construct *c)
{
    struct finding found = { 0 };
    return find_clause(c, &found);
}

/* The parallel loop that is all of a target region, maybe the same construct. */
static struct omp_construct *find_loop(const struct fe *fe, struct omp_construct *target)
{
    const unsigned loop = OMPL_PARALLEL | OMPL_FOR;
    struct omp_construct *c = target->leaves == OMPL_TARGET ? fe_sole_child(fe, target) : target;
    if (!c || !(target->leaves & OMPL_TARGET) || target->on_device ||
        (c != target && fe_clause(target, OMPC_PRIVATE)))
        return NULL;
    bool only = !(c->leaves & ~(unsigned)(loop | OMPL_TARGET | OMPL_SIMD));
    return only && (c->leaves & loop) == loop ? c : NULL;
}

static void say(const struct fe *fe, struct omp_construct *c, const struct finding *f)
{
    c->one_team = f->what && !f->asks ? arena_printf(fe->a, "%s '%s'", f->what, f->name) : NULL;
    if (!remarks)
        return;
    if (f->what)
        fe_report(fe->u, f->place, DIAG_REMARK,
                  "the loop of '%s' at line %u runs on one team: %s '%s' [-Rompgpu=all]",
                  c->spelling, c->place.line, f->what, f->name);
    else
        fe_report(
            fe->u, c->place, DIAG_REMARK,
            "the loop is spread over several teams: nothing in it shows its team [-Rompgpu=all]");
}

void fe_spread_loops(struct fe *fe)
{
    if (off)
        return;
    find_functions(fe);
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        struct omp_construct *target = fe->u->constructs[i], *c = find_loop(fe, target);
        struct finding found = { 0 };
        if (!c)
            continue;
        if (!find_clause(target, &found) && !find_clause(c, &found) &&
            !find_construct(c->child, &found) && !find_call(fe, c->body, &found)) {
            c->leaves |= OMPL_TEAMS | OMPL_DISTRIBUTE;
            c->spread = true;
        }
        say(fe, c, &found);
    }
}
