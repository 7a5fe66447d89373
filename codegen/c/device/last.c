/* last.c - values that the last iteration of a nest leaves behind.
 *
 * In a nest that is not rectangular the last iteration need not be one of the last iteration of its
 * outer loops.  Where last values are asked for, the last one of those that has inner iterations is
 * searched before the loop, from the end; the loops' own variables have the values that they have
 * after the whole nest. */
#include "codegen/c/device/nest.h"

/* Is its last loop taken for a box?  Other nests that are not rectangular run inner loops whole. */
static bool is_box(const struct nest *n) { return n->c->loops[n->n - 1].outer; }

static bool is_variable(const struct omp_loop *l, unsigned n, const struct omp_var *v)
{
    for (unsigned i = 0; i < n; i++)
        if (l[i].iv == v)
            return true;
    return false;
}

/* Its value is that of the last iteration's end, not that after the loops. */
static bool is_of_iteration(const struct nest *n, const struct cg_private *k)
{
    return k->kind->store_last && !is_variable(n->c->loops, n->n, k->var) &&
           !is_variable(n->c->inner, n->c->ninner, k->var);
}

/* `@some`: do the loops that run whole have any iteration? */
static void look_inside(struct cg *cg, const struct nest *n)
{
    static const char *const relations[] = { [OMPREL_LT] = "<",
                                             [OMPREL_LE] = "<=",
                                             [OMPREL_GT] = ">",
                                             [OMPREL_GE] = ">=",
                                             [OMPREL_NE] = "!=" };
    cg_line(cg, "_Bool @some = 0;");
    for (unsigned i = 0; i < n->c->ninner; i++) {
        const struct omp_loop *l = &n->c->inner[i];
        const char *v = l->iv->name;
        cg_line(cg, "for (%s %s = %s; !@some && %s %s (%s); %s %c= %s)",
                cg_type(cg, l->iv->type, "", CG_UNQUALIFIED), v, cg_expr(cg, l->lb.extent), v,
                relations[l->rel], cg_expr(cg, l->ub.extent), v, l->step_negative ? '-' : '+',
                cg_step_of(cg, l));
    }
    cg_line(cg, "@some = 1;");
    cg_open(cg, "if (@some)");
    cg_line(cg, "break;");
    cg_close(cg);
}

static void bind_variables(struct cg *cg, const struct omp_loop *l, unsigned n, const char **saved,
                           bool restore)
{
    for (unsigned i = n; i--;)
        saved[i] = cg_bind(cg, l[i].iv, restore ? saved[i] : NULL);
}

/* From the last iteration of the outer loops, or of the one that the box's last loop depends on. */
void cg_search_end(struct cg *cg, struct nest *n)
{
    const struct omp_loop *box = is_box(n) ? &n->c->loops[n->n - 1] : NULL;
    unsigned o = box ? (unsigned)(box->outer - n->c->loops) : 0, count = box ? o + 1 : n->n;
    const char *saved[OMP_MAX_LOOPS], *inside[OMP_MAX_LOOPS], *at = cg_strf(cg, "(@end - 1)");
    n->end = cg_strf(cg, "@end");
    cg_line(cg, "%s @end = %s;", box ? n->l[o].u : n->k, box ? n->l[o].trip : n->total);
    cg_open(cg, "for (; @end; @end--)");
    bind_variables(cg, n->c->loops, n->n, saved, false);
    bind_variables(cg, n->c->inner, n->c->ninner, inside, false);
    for (unsigned j = o; j < count; j++)
        cg_line(cg, "%s %s = %s;", n->l[j].type, n->c->loops[j].iv->name,
                cg_iv_value(cg, n, j, count == 1 || box ? at : cg_digit_of(cg, n, j, at)));
    if (box)
        cg_line(cg, "if (%s) break;", cg_trip_where(cg, box, NULL));
    else
        look_inside(cg, n);
    bind_variables(cg, n->c->inner, n->c->ninner, inside, true);
    bind_variables(cg, n->c->loops, n->n, saved, true);
    cg_close(cg);
}

bool cg_needs_end(const struct nest *n, const struct cg_privates *p)
{
    bool wanted = false;
    for (unsigned i = 0; i < p->n; i++)
        wanted |= is_of_iteration(n, &p->list[i]);
    return wanted && (is_box(n) || n->c->ninner);
}

/* Is this the last iteration?  Of a box, where it has been found that there is one. */
void cg_note_end(struct cg *cg, const struct nest *n, const char *k)
{
    if (!n->end)
        return;
    if (!is_box(n)) {
        cg_line(cg, "@ends |= %s + 1 == @end;", k ? k : cg_number_in_nest(cg, n, false));
        return;
    }
    const struct omp_loop *box = &n->c->loops[n->n - 1];
    const char *s = cg_strf(cg, "%s.at + 1 == %s", n->l[n->n - 1].at, cg_trip_where(cg, box, NULL));
    for (unsigned j = 0; j + 1 < n->n; j++)
        s = cg_strf(cg, "%s && %s.at + 1 == %s", s, n->l[j].at,
                    &n->c->loops[j] == box->outer ? n->end : n->l[j].trip);
    cg_line(cg, "@ends = %s;", s);
}

/* The variable of loop j after the nest; of a box, after the outer loop's last iteration. */
static void store_variable(struct cg *cg, const struct nest *n, unsigned j)
{
    const struct omp_loop *l = &n->c->loops[j];
    const char *trip = n->l[j].trip, *name = l->iv->name;
    if (!l->outer) {
        cg_line(cg, "*@o_%s = %s;", name, cg_iv_value(cg, n, j, trip));
        return;
    }
    unsigned o = (unsigned)(l->outer - n->c->loops);
    cg_open_scope(cg);
    cg_line(cg, "const %s %s = %s;", n->l[o].type, l->outer->iv->name,
            cg_iv_value(cg, n, o, cg_strf(cg, "(%s - 1)", n->l[o].trip)));
    const char *saved = cg_bind(cg, l->outer->iv, NULL);
    if (!cg_is_digits(&l->lb))
        cg_line(cg, "const %s %s = %s;", n->l[j].type, n->l[j].lb, cg_expr(cg, l->lb.extent));
    trip = cg_strf(cg, "(%s)", cg_trip_where(cg, l, NULL));
    cg_line(cg, "*@o_%s = %s;", name, cg_iv_value(cg, n, j, trip));
    cg_bind(cg, l->outer->iv, saved);
    cg_close(cg);
}

/* The threads that ran the last iteration, of the nest or of its outer loops, store to the
 * originals. */
void cg_store_last_values(struct cg *cg, const struct nest *n, const struct cg_privates *p)
{
    if (!p->last)
        return;
    cg_open(cg, "if (@last)");
    for (unsigned i = 0; i < p->n; i++) {
        if (!n->end || !is_of_iteration(n, &p->list[i]))
            cg_store_last(cg, &p->list[i]);
        for (unsigned j = 0; j < n->n; j++)
            if (n->c->loops[j].iv == p->list[i].var)
                store_variable(cg, n, j);
    }
    cg_close(cg);
    if (n->end)
        cg_open(cg, "if (@ends)");
    for (unsigned i = 0; n->end && i < p->n; i++)
        if (is_of_iteration(n, &p->list[i]))
            cg_store_last(cg, &p->list[i]);
    if (n->end)
        cg_close(cg);
}
