/* reduction.c - the way of a reduction from its clause to the original.
 *
 *   collect   list items become copies of one of three kinds         here, reduce/private.c
 *               in the record      scalars and small arrays          reduce/record.c
 *               arrays             all others                        reduce/array.c
 *               inscan             combined in each iteration        reduce/scan.c
 *   write     the record and the functions that combine, at file scope
 *   declare   the private copies with their initial values           each kind's; reduce/memory.c
 *   body
 *   finish    within the team, across the league, into the originals: cg_finish_reduction
 *
 * Who takes part (enum cg_finish) is a matter of the construct: one thread, the threads of a
 * region, all threads of a league, or the main threads of generic teams.  With nothing but a
 * record, one call does it:
 *
 *   if (__ompgpu_reduce_league(@env, &@rec, &@tmp, sizeof @rec, @combine_main_14, 0))
 *       *@o_sum = *@o_sum + @rec.sum;
 *
 * With arrays over the league, every team first stores its results in its slot of the scratchpad;
 * the last team to arrive combines the slots.  Constructs that the teams share inside of a teams
 * region are finished by each team, and where their originals are the league's, at the end of the
 * region: reduce/deferred.c.  With -fompgpu-atomic-reduction each team updates the originals by
 * itself, where there is an atomic operation for all of them, and needs no scratchpad. */
#include "codegen/c/reduce/reduce.h"
#include "hostrt/image.h"

/* ------------------------------------------------------------------ collect */
enum { MAX_RECORD_ARRAY = 64 }; /* bytes of an array that still travels in the record */

const struct omp_type *cg_reduced(const struct omp_sharing *s)
{
    const struct omp_type *t = s->item && s->item->base_type ? s->item->base_type : s->var->type;
    for (unsigned i = 0; s->item && i < s->item->nsections && t && t->elem; i++)
        t = t->elem;
    while (t && t->kind == OMPT_ARRAY)
        t = t->elem;
    return t;
}

const struct cg_copy_kind *cg_reduction_kind(const struct omp_sharing *s)
{
    const struct omp_type *t = s->var->type;
    bool section = s->item && s->item->nsections,
         large = t->kind == OMPT_ARRAY && (t->variably_modified || t->size > MAX_RECORD_ARRAY);
    if (cg_is_scan(s))
        return section ? &cg_scan_section_copy : &cg_scan_copy;
    return section || large ? &cg_array_copy : &cg_record_copy;
}

bool cg_is_reduction(const struct cg_private *k)
{
    return k->kind == &cg_record_copy || k->kind == &cg_array_copy;
}

/* An original that is a variable of one thread, perhaps on its stack, where the GPU has no atomics.
 */
static bool is_own(const struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    if (p->of_teams)
        return k->owner == CG_OF_TEAM;
    return !cg->env[k->var->id] && (k->var->storage == OMPS_LOCAL || k->var->storage == OMPS_PARAM);
}

static bool is_of_several_teams(const struct cg_privates *p)
{
    bool several = p->finish == CG_LEAGUE || p->finish == CG_TEAMS || p->deferred || p->lock;
    for (unsigned i = 0; p->of_teams && i < p->n; i++)
        several = several || (cg_is_reduction(&p->list[i]) && p->list[i].owner != CG_OF_TEAM);
    return several;
}

/* May every team update the originals by itself?  If not, and it was asked for, says why. */
static bool finishes_atomically(struct cg *cg, const struct cg_privates *p)
{
    if (!cg->unit->atomic_reduction || !is_of_several_teams(p))
        return false;
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        const char *why = cg_is_reduction(k) ? cg_not_atomic(k, is_own(cg, p, k)) : NULL;
        if (why && cg->unit->remarks)
            fe_report(cg->unit, k->place, DIAG_REMARK,
                      "the reduction ends %s in spite of -fompgpu-atomic-reduction: '%s' %s "
                      "[-Rompgpu=all]",
                      p->lock ? "under a lock" : "with the last team", k->var->name, why);
        if (why)
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ write */
struct counts {
    unsigned variables, arrays, rows, shuffled;
    const char *names;
    struct omp_place place;
};

static struct counts count_items(struct cg *cg, const struct cg_privates *p)
{
    struct counts n = { .names = "", .place = cg->place };
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (!cg_is_reduction(k))
            continue;
        (k->kind == &cg_array_copy ? n.arrays++ : n.variables++);
        n.rows += cg_in_rows(p, k);
        n.shuffled += cg_is_shuffled(p, k);
        n.names = cg_strf(cg, "%s%s'%s'", n.names, *n.names ? ", " : "", k->var->name);
        n.place = k->place;
    }
    return n;
}

unsigned cg_kernel_counts(unsigned variables, unsigned arrays)
{
    return (variables < 255 ? variables : 255) << OMPGPU_KERNEL_VARIABLES |
           (arrays < OMPGPU_KERNEL_MOST_ARRAYS ? arrays : OMPGPU_KERNEL_MOST_ARRAYS)
               << (OMPGPU_KERNEL_VARIABLES + 8);
}

/* For -Rompgpu, and for OMPGPU_INFO in the kernel's flags. */
static void describe_reduction(struct cg *cg, struct cg_privates *p)
{
    static const char *const how[] = { [CG_PARALLEL] = "TEAM",
                                       [CG_LEAGUE] = "LEAGUE",
                                       [CG_TEAMS] = "TEAMS",
                                       [CG_ONE_THREAD] = "TEAMS" };
    const struct counts n = count_items(cg, p);
    const struct {
        bool set;
        const char *flag;
    } flags[] = {
        { p->atomic, "ATOMIC" },
        { !p->atomic && p->deferred, "DEFERRED" },
        { !p->atomic && p->lock, "LOCKED" },
        { p->redux, "REDUX" },
        { p->whole_warps, "WHOLE_WARPS" },
        { n.rows, "ROWS" },
        { n.shuffled, "SHUFFLED" },
    };
    const char *words = cg_strf(cg, "__OMPGPU_RED_%s", how[p->finish]);
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].set)
            words = cg_strf(cg, "%s | __OMPGPU_RED_%s", words, flags[i].flag);
    p->flags = cg_kernel_counts(n.variables, n.arrays) | (p->atomic ? OMPGPU_KERNEL_ATOMIC : 0) |
               (p->redux ? OMPGPU_KERNEL_REDUX : 0);
    if (cg->lanes) /* the usual form has said it */
        return;
    cg_line(cg, "__OMPGPU_REDUCTION(%s, %s, %s, %u, %u, %u, %u, %s, %s)", p->base,
            cg_quoted(cg, n.place.file), cg_quoted(cg, n.names), n.place.line, n.place.col,
            n.variables, n.arrays, p->record ? cg_strf(cg, "sizeof(%s)", p->record) : "0", words);
    cg_end_line(cg);
}

static bool is_of_one_thread(const struct cg_privates *p)
{
    return p->finish == CG_SERIAL || (p->finish == CG_ONE_THREAD && !p->deferred && !p->lock);
}

void cg_reduction_functions(struct cg *cg, struct cg_privates *p)
{
    struct cg_text *out = cg->out;
    if (!cg->before)
        return;
    cg->out = cg->before;
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].sharing->share == OMPSH_REDUCTION)
            cg_user_functions(cg, &p->list[i], p->base ? p->base : "reduction");
    p->atomic = p->reduction && finishes_atomically(cg, p);
    if (p->reduction && !is_of_one_thread(p)) {
        p->base = cg_name(cg, p->base, "");
        cg_write_record(cg, p);
        cg_array_functions(cg, p);
        cg_deferred_record(cg, p);
        if (p->finish != CG_ROW)
            describe_reduction(cg, p);
    }
    cg->out = out;
}

/* ------------------------------------------------------------------ finish: the record */
/* One thread of a team has its result, in `from` and, where there is an entry, in @rec. */
static void update_originals(struct cg *cg, const struct cg_privates *p, const char *from)
{
    cg_update_items(cg, p, from, CG_OF_TEAM);
    if (cg_has_items_of(p, CG_OF_LEAGUE)) {
        cg_open(cg, "if (@deferred)");
        cg_deferred_add_record(cg, p);
        if (!cg_has(p, &cg_array_copy))
            cg_line(cg, "__ompgpu_deferred_end(@deferred);");
        cg_else(cg);
        cg_update_items(cg, p, from, CG_OF_LEAGUE);
        cg_close(cg);
    }
    if (cg_has_items_of(p, CG_OF_UNKNOWN)) {
        cg_line(cg, "__ompgpu_lock(&%s);", p->lock);
        cg_update_items(cg, p, from, CG_OF_UNKNOWN);
        cg_line(cg, "__ompgpu_unlock(&%s);", p->lock);
    }
}

static const char *redux_argument(struct cg *cg, const struct cg_privates *p)
{
    if (p->finish == CG_TEAMS)
        return "";
    return p->redux ? cg_strf(cg, ", @redux_%s", p->base) : ", 0";
}

/* With nothing but a record: all the way to the originals. */
static void finish_record(struct cg *cg, const struct cg_privates *p)
{
    static const char *const calls[] = {
        [CG_PARALLEL] = "__ompgpu_reduce_parallel(",
        [CG_LEAGUE] = "__ompgpu_reduce_league(",
        [CG_TEAMS] = "__ompgpu_reduce_teams(",
    };
    cg_load_record(cg, p);
    cg_open(cg, "if (%s%s&@rec, &@tmp, %s, @combine_%s%s))", calls[p->finish],
            p->finish == CG_PARALLEL ? "" : cg_strf(cg, "@env, "), cg_record_size(cg, p), p->base,
            redux_argument(cg, p));
    update_originals(cg, p, cg_strf(cg, "@rec."));
    cg_close(cg);
}

static void finish_one_thread(struct cg *cg, const struct cg_privates *p)
{
    if (p->deferred && p->record)
        cg_load_record(cg, p);
    update_originals(cg, p, "");
}

/* Do a OP b and b OP a have the same bits? */
static bool commutes(const struct cg_private *k)
{
    enum omp_type_kind t = k->elem->kind;
    bool number = t == OMPT_INT || t == OMPT_BOOL || t == OMPT_FLOAT;
    return number && !k->udr &&
           (t != OMPT_FLOAT || omp_reduction_ops[k->sharing->clause->op].class == OMPR_ARITHMETIC);
}

/* Each lane has the result, to go on with; what the league's loop reduces, one of them adds to. */
static void finish_row(struct cg *cg, const struct cg_privates *p)
{
    const char *from = cg_strf(cg, "@rec.");
    bool commute = true;
    for (unsigned i = 0; i < p->n; i++)
        commute = commute && (!cg_is_reduction(&p->list[i]) || commutes(&p->list[i]));
    cg_load_record(cg, p);
    cg_line(cg, "__ompgpu_reduce_row(@lanes, &@rec, &@tmp, %s, @combine_%s%s, %d);",
            cg_record_size(cg, p), p->base, redux_argument(cg, p), commute);
    cg_update_items(cg, p, from, CG_OF_TEAM);
    if (!cg_has_items_of(p, CG_OF_LEAGUE))
        return;
    cg_open(cg, "if (__OMPGPU_ROW_LANE(@lanes) == 0)");
    cg_update_items(cg, p, from, CG_OF_LEAGUE);
    cg_close(cg);
}

/* The threads of a team as a team; a generic kernel's main thread by itself. */
static void finish_atomically(struct cg *cg, const struct cg_privates *p)
{
    if (p->finish == CG_TEAMS || p->finish == CG_ONE_THREAD) {
        cg_update_atomically(cg, p, "");
        return;
    }
    cg_load_record(cg, p);
    cg_open(cg, "if (__ompgpu_reduce_parallel(&@rec, &@tmp, %s, @combine_%s%s))",
            cg_record_size(cg, p), p->base, redux_argument(cg, p));
    cg_update_atomically(cg, p, cg_strf(cg, "@rec."));
    cg_close(cg);
}

/* ------------------------------------------------------------------ finish: league, in steps */
static const char *step_function(struct cg *cg, const struct cg_privates *p, const char *step)
{
    return cg_strf(cg, "__ompgpu_%s_%s", p->finish == CG_LEAGUE ? "league" : "teams", step);
}

static void put_record(struct cg *cg, const struct cg_privates *p)
{
    cg_open_scope(cg);
    cg_load_record(cg, p);
    cg_line(cg, "%s(@env, &@rec, &@tmp, sizeof @rec, @combine_%s, @stride);",
            step_function(cg, p, "put"), p->base);
    cg_close(cg);
}

static void get_record(struct cg *cg, const struct cg_privates *p)
{
    cg_open_scope(cg);
    cg_line(cg, "%s @rec, @tmp;", p->record);
    cg_open(cg, "if (%s(@env, &@rec, &@tmp, sizeof @rec, @combine_%s, @stride))",
            step_function(cg, p, "get"), p->base);
    cg_update_items(cg, p, cg_strf(cg, "@rec."), CG_OF_TEAM);
    cg_close(cg);
    cg_close(cg);
}

/* Every team's results to its slot; the last team combines the slots, and the entries of constructs
 * inside. */
static void finish_in_steps(struct cg *cg, const struct cg_privates *p)
{
    bool record = p->record && !p->atomic, arrays = cg_has(p, &cg_array_copy);
    if (record)
        put_record(cg, p);
    cg_combine_arrays(cg, p, true);
    if (cg_any_in_rows(p)) /* a team arrives when all of its threads have stored */
        cg_line(cg, "__ompgpu_barrier(%u);", cg->place.line);
    cg_open(cg, "if (%s(@env))",
            record || arrays ? step_function(cg, p, "last") : "__ompgpu_deferred_last");
    if (record)
        get_record(cg, p);
    cg_get_arrays(cg, p);
    if (cg_has_entries(cg, p))
        cg_get_entries(cg);
    cg_close(cg);
}

/* ------------------------------------------------------------------ finish */
void cg_finish_reduction(struct cg *cg, const struct cg_privates *p)
{
    bool arrays = cg_has(p, &cg_array_copy), entries = cg_has_entries(cg, p),
         league = p->finish == CG_LEAGUE || p->finish == CG_TEAMS;
    if (!p->reduction && !entries)
        return;
    cg_open_scope(cg);
    if (p->whole_warps)
        cg_line(cg, "__ompgpu_whole_warps();");
    if (p->atomic)
        finish_atomically(cg, p);
    if (p->finish == CG_ROW) {
        finish_row(cg, p);
    } else if (entries || (arrays && league)) {
        finish_in_steps(cg, p);
    } else if (!p->atomic) {
        if (p->finish == CG_SERIAL || p->finish == CG_ONE_THREAD)
            finish_one_thread(cg, p);
        else if (p->record)
            finish_record(cg, p);
        cg_combine_arrays(cg, p, false);
    }
    cg_deferred_end(cg, p);
    cg_free_copies(cg, p);
    cg_close(cg);
}
