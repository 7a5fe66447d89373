/* print.c - the unit as text (--emit=omp-tree) and its consistency check.
 *
 * One construct per block, indented by nesting, fields in a fixed order and empty ones left out, so
 * that golden files stay readable in review:
 *
 *     target teams distribute parallel for  app.c:14:9  region main_14  spmd
 *       clause reduction(+:s)
 *       loop i: lb `0` < `n` step `1`
 *       capture s byref map 0
 *       map tofrom s implicit
 *       share s reduction +
 */
#include "frontend/unit.h"
#include <string.h>

static const char *const share_names[] = { [OMPSH_SHARED] = "shared",
                                           [OMPSH_PRIVATE] = "private",
                                           [OMPSH_FIRSTPRIVATE] = "firstprivate",
                                           [OMPSH_REDUCTION] = "reduction",
                                           [OMPSH_LINEAR] = "linear",
                                           [OMPSH_LOOP_IV] = "loop-iv" };
static const char *const capture_names[] = {
    [OMPCAP_BYREF] = "byref",     [OMPCAP_BYVAL] = "byval",
    [OMPCAP_POINTER] = "pointer", [OMPCAP_DEVICE_PTR] = "device-ptr",
    [OMPCAP_PRIVATE] = "private", [OMPCAP_DEVICE_ADDR] = "device-addr"
};
static const char *const rel_names[] = {
    [OMPREL_LT] = "<", [OMPREL_LE] = "<=", [OMPREL_GT] = ">", [OMPREL_GE] = ">=", [OMPREL_NE] = "!="
};
static const char *const atomic_names[] = { [OMPA_READ] = "read",
                                            [OMPA_WRITE] = "write",
                                            [OMPA_UPDATE] = "update",
                                            [OMPA_CAPTURE] = "capture",
                                            [OMPA_COMPARE] = "compare" };
static const struct {
    unsigned bit;
    const char *name;
} map_modifiers[] = {
    { OMPM_ALWAYS, "always " },   { OMPM_PRESENT, "present " },       { OMPM_CLOSE, "close " },
    { OMPM_POINTER, "pointer " }, { OMPM_UNATTACHED, "unattached " }, { OMPM_DELETE, "delete " },
    { OMPM_RELEASE, "release " },
};

/* The extent's text on one line: runs of white space and line markers become one space. */
static void print_text(FILE *out, const struct omp_unit *u, struct omp_extent e)
{
    bool space = false, bol = false;
    for (unsigned i = e.begin; i < e.end; i++) {
        char c = u->text[i];
        if (bol && c == '#')
            while (i < e.end && u->text[i] != '\n')
                i++;
        if (i >= e.end)
            break;
        c = u->text[i];
        bol = c == '\n';
        if (strchr(" \t\n\r\\", c) && c) {
            space = true;
            continue;
        }
        if (space && i > e.begin)
            fputc(' ', out);
        space = false;
        fputc(c, out);
    }
}

static void print_map_type(FILE *out, unsigned type)
{
    static const char *const base[] = { "alloc", "to", "from", "tofrom" };
    for (unsigned i = 0; i < sizeof map_modifiers / sizeof *map_modifiers; i++)
        if (type & map_modifiers[i].bit)
            fputs(map_modifiers[i].name, out);
    if (!(type & (OMPM_DELETE | OMPM_RELEASE)))
        fputs(base[type & 3], out);
}

static void print_loop(FILE *out, const struct omp_unit *u, const struct omp_loop *l, int indent)
{
    fprintf(out, "%*sloop %s%s: from `", indent, "", l->iv ? l->iv->name : "?",
            l->iv_declared ? " (declared)" : "");
    print_text(out, u, l->lb.extent);
    fprintf(out, "` while %s `", rel_names[l->rel]);
    print_text(out, u, l->ub.extent);
    fprintf(out, "` step %s`", l->step_negative ? "-" : "");
    if (l->step.extent.begin == l->step.extent.end)
        fputc('1', out);
    else
        print_text(out, u, l->step.extent);
    fputs("`\n", out);
}

static void print_atomic(FILE *out, const struct omp_unit *u, const struct omp_atomic *a,
                         int indent)
{
    const struct {
        const char *name;
        struct omp_extent e;
    } parts[] = { { "x", a->x }, { "expr", a->expr }, { "v", a->v }, { "desired", a->desired } };
    fprintf(out, "%*satomic %s%s%s%s%s", indent, "", atomic_names[a->form], a->op ? " op " : "",
            omp_atomic_op_names[a->op], a->x_is_right ? " x-right" : "",
            a->capture_new ? " capture-new" : "");
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].e.begin == parts[i].e.end)
            continue;
        fprintf(out, " %s `", parts[i].name);
        print_text(out, u, parts[i].e);
        fputc('`', out);
    }
    fputc('\n', out);
}

static void print_data(FILE *out, const struct omp_unit *u, const struct omp_construct *c,
                       int indent)
{
    for (unsigned i = 0; i < c->ncaptures; i++) {
        const struct omp_capture *k = &c->captures[i];
        fprintf(out, "%*scapture %s %s", indent, "", k->var->name, capture_names[k->kind]);
        if (k->map >= 0)
            fprintf(out, " map %d", k->map);
        fprintf(out, "%s\n", k->one_copy ? " one-copy" : "");
    }
    for (unsigned i = 0; i < c->nmaps; i++) {
        const struct omp_map *m = &c->maps[i];
        fprintf(out, "%*smap ", indent, "");
        print_map_type(out, m->type);
        fputc(' ', out);
        if (m->item)
            print_text(out, u, m->item->text);
        else
            fputs(m->var->name, out);
        fprintf(out, "%s%s%s%s", m->implicit ? " implicit" : "", m->pointee ? " pointee" : "",
                m->attach ? " attach" : "", m->in_block ? " block" : "");
        fprintf(out, "%s%s%s\n", m->over ? " iterated" : "", m->mapper ? " mapper " : "",
                m->mapper ? m->mapper->name : "");
    }
    for (unsigned i = 0; i < c->nsharings; i++) {
        const struct omp_sharing *s = &c->sharings[i];
        fprintf(out, "%*sshare %s %s", indent, "", s->var->name, share_names[s->share]);
        if (s->share == OMPSH_REDUCTION && s->clause)
            fprintf(out, " %s",
                    s->clause->op < OMPR_USER ? omp_reduction_ops[s->clause->op].spelling : "user");
        fprintf(out, "%s%s%s\n", s->lastprivate ? " lastprivate" : "",
                s->by_value ? " by-value" : "", s->clause ? "" : " implicit");
    }
}

static void print_construct(FILE *out, const struct omp_unit *u, const struct omp_construct *c,
                            int indent)
{
    fprintf(out, "%*s%s  %s:%u:%u", indent, "", c->spelling, c->place.file, c->place.line,
            c->place.col);
    if (c->name)
        fprintf(out, "  (%s)", c->name);
    if (c->region)
        fprintf(out, "  region %s  %s%s", c->region, c->spmd_inner ? "spmd" : "generic",
                c->needs_parallel ? " workers" : "");
    else if (c->on_device)
        fputs("  on device", out);
    fputc('\n', out);
    indent += 2;
    for (const struct omp_clause *k = c->clauses; k; k = k->next) {
        fprintf(out, "%*sclause ", indent, "");
        print_text(out, u, k->extent);
        fputc('\n', out);
    }
    for (unsigned i = 0; i < c->nloops; i++)
        print_loop(out, u, &c->loops[i], indent);
    if (c->scan) {
        fprintf(out, "%*sscan %s", indent, "", c->scan->exclusive ? "exclusive" : "inclusive");
        for (unsigned i = 0; i < c->scan->nagain; i++)
            fprintf(out, "%s %s", i ? "," : " declares again", c->scan->again[i]->name);
        fputc('\n', out);
    }
    if (c->atomic)
        print_atomic(out, u, c->atomic, indent);
    print_data(out, u, c, indent);
    for (const struct omp_construct *k = c->child; k; k = k->next)
        print_construct(out, u, k, indent);
}

/* An OMPL_OTHER on the host is clang's business and not shown. */
static bool shown(const struct omp_construct *c)
{
    return c->on_device || !(c->leaves & OMPL_OTHER);
}

void fe_print(FILE *out, const struct omp_unit *u)
{
    for (unsigned i = 0; i < u->ndecls; i++) {
        const struct omp_decl *d = &u->decls[i];
        if (!d->device)
            continue;
        if (d->kind == OMPD_VARIABLE)
            fprintf(out, "device variable %s\n", d->var->name);
        if (d->kind == OMPD_FUNCTION)
            fprintf(out, "device function %s%s\n", d->function->name,
                    d->function->has_parallel ? " parallel" : "");
    }
    for (unsigned i = 0; i < u->nconstructs; i++)
        if (!u->constructs[i]->parent && shown(u->constructs[i]))
            print_construct(out, u, u->constructs[i], 0);
}

/* ------------------------------------------------------------------ check */
struct check {
    const struct omp_unit *u;
    int faults;
};

static void fault(struct check *k, struct omp_place p, const char *what)
{
    k->faults++;
    fprintf(stderr, "ompgpu-cc: internal error: %s:%u:%u: %s\n", p.file ? p.file : "", p.line,
            p.col, what);
}

static bool within(const struct omp_unit *u, struct omp_extent e)
{
    return e.begin <= e.end && e.end <= u->length;
}
static bool inside(struct omp_extent a, struct omp_extent b)
{
    return a.begin >= b.begin && a.end <= b.end;
}

static void check_construct(struct check *k, const struct omp_construct *c)
{
    struct omp_extent all = { c->pragma.begin,
                              c->body.end > c->pragma.end ? c->body.end : c->pragma.end };
    if (!within(k->u, c->pragma) || !within(k->u, c->body))
        fault(k, c->place, "extent outside of the text");
    if (c->body.begin != c->body.end && c->body.begin < c->pragma.end)
        fault(k, c->place, "body before its directive");
    for (unsigned i = 0; i < c->nloops; i++) {
        const struct omp_loop *l = &c->loops[i];
        if (!l->iv)
            fault(k, l->place, "loop without iteration variable");
        if (!inside(l->extent, all) || !inside(l->body, l->extent) ||
            !inside(l->lb.extent, l->extent) || !inside(l->ub.extent, l->extent))
            fault(k, l->place, "loop parts outside of the loop");
    }
    for (unsigned i = 0; i < c->ncaptures; i++)
        if (!c->captures[i].var || c->captures[i].map >= (int)c->nmaps)
            fault(k, c->place, "capture without variable or map");
    for (unsigned i = 0; i < c->nsharings; i++)
        if (!c->sharings[i].var)
            fault(k, c->place, "sharing without variable");
    for (const struct omp_construct *n = c->child; n; n = n->next) {
        if (n->parent != c)
            fault(k, n->place, "parent link broken");
        if (!inside(n->pragma, all) || (n->body.begin != n->body.end && !inside(n->body, all)))
            fault(k, n->place, "construct sticks out of its parent");
    }
    if ((c->leaves & OMPL_TARGET) && !c->region && c->place.line)
        fault(k, c->place, "target region without a name");
}

int fe_check(const struct omp_unit *u)
{
    struct check k = { u, 0 };
    for (unsigned i = 0; i < u->nconstructs; i++)
        check_construct(&k, u->constructs[i]);
    for (unsigned i = 1; i < u->nrefs; i++)
        if (u->refs[i - 1].offset + u->refs[i - 1].length > u->refs[i].offset)
            fault(&k, fe_place(u, u->refs[i].offset), "uses overlap or are not sorted");
    for (unsigned i = 0; i < u->nrefs; i++) {
        const struct omp_ref *r = &u->refs[i];
        bool named = r->var && strlen(r->var->name) == r->length &&
                     !memcmp(u->text + r->offset, r->var->name, r->length);
        if (!named && !(r->var && r->var->carries))
            fault(&k, fe_place(u, r->offset), "a use does not stand where its name is");
    }
    for (unsigned i = 1; i < u->nrenames; i++)
        if (u->renames[i - 1].offset + u->renames[i - 1].length > u->renames[i].offset)
            fault(&k, fe_place(u, u->renames[i].offset), "renames overlap or are not sorted");
    return k.faults;
}
