/* scan.c - loops with an inscan reduction, section 5.6 of OpenMP 5.2.
 *
 * In each step every thread takes one iteration, in thread order, so that accesses coalesce as in a
 * cyclic schedule:
 *
 *   struct @red_f_12_scan @rec, @tmp, @aux, @carry;
 *   @carry.x = *@o_x;
 *   for (each step) {                            @m threads have an iteration
 *       x = identity;
 *       if (@t < @m) { … input phase … }
 *       @rec.x = x;
 *       __ompgpu_scan(&@rec, &@tmp, &@aux, &@carry, sizeof @rec, @combine_f_12_scan, @m,
 * exclusive); x = @rec.x; if (@t < @m) { … scan phase … }
 *   }
 *   if (@t == 0)
 *       *@o_x = @carry.x;
 *
 * Where the phases are simple, each thread has several iterations in a step, base + t, base + T +
 * t, …: the loads of all are in flight at once.  All list items travel in one record.  Where one
 * thread runs all iterations (simd, and loops on the host: clang 22 leaves out the original value
 * there, and crashes on arrays), there is none:
 *
 *   __typeof__(x) @c_x = *@o_x;
 *   for (each iteration) {
 *       x = identity;
 *       … input phase …
 *       @c_x = @c_x + x;
 *       x = @c_x;
 *       … scan phase …
 *   } */
#include <stdlib.h>
#include <string.h>
#include "codegen/c/reduce/reduce.h"

/* ------------------------------------------------------------------ the copies */
static void declare_item(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    (void)p;
    cg_line(cg, "%s %s%s;", cg_var_type(cg, k->var, CG_UNQUALIFIED), k->var->name,
            cg_aligned(cg, k));
}

/* Each iteration begins with the initial value. */
const struct cg_copy_kind cg_scan_copy = { .find = cg_find_original, .declare = declare_item };

unsigned cg_section_elements(const struct omp_sharing *s)
{
    const struct omp_type *t = s->item ? s->item->base_type : NULL, *elem = cg_reduced(s);
    uint64_t n = 1;
    if (!cg_is_scan(s) || !s->item || !s->item->nsections)
        return 0;
    for (unsigned i = 0; t && i < s->item->nsections; i++, t = t->elem)
        n *= s->item->sections[i].count;
    return t && elem && elem->size ? (unsigned)(n * t->size / elem->size) : 0;
}

const char *cg_copy_name(struct cg *cg, const struct cg_private *k)
{
    return k->section ? cg_strf(cg, "(*@p_%s)", k->var->name) : k->var->name;
}

/* ------------------------------------------------------------------ phases */
/* A `continue` leaves the phase. */
static void write_phase(struct cg *cg, const struct omp_scan *s, const struct cg_scan_steps *r,
                        bool after)
{
    bool loop = after && s->continues;
    if (r->by_one_thread)
        cg_open_scope(cg);
    else
        cg_open(cg, r->rows > 1 || r->by_league ? "if (@has)" : "if (@t < @m)");
    if (*r->locals)
        cg_line(cg, "%s", r->locals);
    if (loop)
        cg_open(cg, "do");
    for (unsigned i = 0; after && i < s->nagain; i++)
        cg_line(cg, "%s %s;", cg_type(cg, s->again[i]->type, s->again[i]->name, CG_UNQUALIFIED),
                s->again[i]->name);
    cg_copy_body(cg, after ? s->after : s->before);
    if (loop)
        cg_close_with(cg, " while (0);");
    cg_close(cg);
}

/* ------------------------------------------------------------------ list items */
/* to, from: with the variable's name; NULL: its private copy. */
static void assign_items(struct cg *cg, const struct cg_privates *p, const char *to,
                         const char *from)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (!cg_is_scan(k->sharing))
            continue;
        const char *v = k->var->name, *copy = cg_copy_name(cg, k);
        const char *a = to ? cg_strf(cg, to, v) : copy, *b = from ? cg_strf(cg, from, v) : copy;
        cg_line(cg, "%s",
                k->section ? cg_strf(cg, "__builtin_memcpy(%s, %s, sizeof(%s));", a, b, a)
                           : cg_assign(cg, k->var->type, a, b));
    }
}

static void initialise_items(struct cg *cg, const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++)
        if (cg_is_scan(p->list[i].sharing))
            cg_line(cg, "%s", cg_initial_item(cg, &p->list[i]));
}

/* ------------------------------------------------------------------ the threads of a team */
/* For -Rompgpu. */
static void describe_scan(struct cg *cg, const struct omp_construct *c, const struct cg_privates *p,
                          const struct cg_scan_steps *r, const char *name, const char *record)
{
    const char *names = "";
    unsigned n = 0;
    for (unsigned i = 0; i < p->n; i++)
        if (cg_is_scan(p->list[i].sharing))
            names = cg_strf(cg, "%s%s'%s'", names, n++ ? ", " : "", p->list[i].var->name);
    cg_line(cg, "__OMPGPU_REDUCTION(%s, %s, %s, %u, %u, %u, %u, sizeof(%s), __OMPGPU_RED_SCAN%s%s)",
            name, cg_quoted(cg, c->place.file), cg_quoted(cg, names), c->place.line, c->place.col,
            n, r->rows, record, c->scan->exclusive ? " | __OMPGPU_RED_EXCLUSIVE" : "",
            r->by_league ? " | __OMPGPU_RED_TILES" : "");
    cg_end_line(cg);
}

struct scanned {
    const struct cg_privates *copies;
    const struct omp_scan *scan;
    const struct cg_scan_steps *steps;
    const char *name, *record;
    unsigned padding;
};

static void store_carry(struct cg *cg, const struct scanned *s)
{
    cg_open(cg, "if (@t == 0 && %s != 0)", s->steps->total);
    assign_items(cg, s->copies, "*@o_%s", "@carry.%s");
    cg_close(cg);
}

static void open_row(struct cg *cg, const struct cg_scan_steps *r)
{
    cg_line(cg, "_Pragma(\"clang loop unroll(full)\")");
    cg_open(cg, "for (unsigned @u = 0; @u < %u; @u++)", r->rows);
    cg_line(cg, "const unsigned @j = @u * @s + @t;");
    cg_line(cg, "const _Bool @has = @j < @left;");
    cg_line(cg, "const %s @k = @base + @j;", r->k);
}

/* The phases of all rows of a step; step: in between, from `left` on. */
static void write_step(struct cg *cg, const struct scanned *s, const char *step)
{
    const struct cg_scan_steps *r = s->steps;
    bool exclusive = s->scan->exclusive;
    open_row(cg, r);
    initialise_items(cg, s->copies);
    write_phase(cg, s->scan, r, exclusive);
    assign_items(cg, s->copies, "@rec[@u].%s", NULL);
    cg_close(cg);
    cg_line(cg, step, s->name, r->rows, exclusive);
    open_row(cg, r);
    assign_items(cg, s->copies, NULL, "@rec[@u].%s");
    write_phase(cg, s->scan, r, !exclusive);
    cg_close(cg);
}

/* By all teams, in tiles. */
static void write_tiles(struct cg *cg, const struct scanned *s)
{
    const struct cg_scan_steps *r = s->steps;
    cg_line(cg, "%s @rec[%u], @tmp, @aux[3], @carry;", s->record, r->rows);
    cg_line(cg, "_Static_assert(sizeof @tmp <= __OMPGPU_SCAN_TILE, \"\");");
    cg_line(cg, "const unsigned @t = %s, @s = %s;", r->id, r->count);
    cg_line(cg, "unsigned long long @tile = -1ull, @first, @size = %uull * @s;", r->rows);
    cg_open(cg,
            "while (@tile = __ompgpu_scan_next(@env, @tile), @first = @tile * @size, @first < %s)",
            r->total);
    cg_line(cg, "const %s @base = (%s)@first, @left = %s - @base;", r->k, r->k, r->total);
    cg_open(cg, "if (@tile == 0)");
    assign_items(cg, s->copies, "@carry.%s", "*@o_%s");
    cg_close(cg);
    write_step(cg, s,
               "__ompgpu_scan_tile(@env, @rec, &@tmp, @aux, &@carry, sizeof @tmp, @combine_%s, %u, "
               "@left, %d, @tile);");
    cg_open(cg, "if (@t == 0 && @left <= @size)");
    assign_items(cg, s->copies, "*@o_%s", "@carry.%s");
    cg_close(cg);
    cg_close(cg);
    cg_line(cg, "__ompgpu_scan_end(@env);");
}

/* Several iterations of each thread in a step. */
static void write_rows(struct cg *cg, const struct scanned *s)
{
    const struct cg_scan_steps *r = s->steps;
    cg_line(cg, "%s @rec[%u], @tmp, @aux[2], @carry;", s->record, r->rows);
    assign_items(cg, s->copies, "@carry.%s", "*@o_%s");
    cg_line(cg, "const unsigned @t = %s, @s = %s;", r->id, r->count);
    cg_line(cg, "%s @base = 0, @left = %s;", r->k, r->total);
    cg_open(cg,
            "for (_Bool @go = @left != 0; @go; @go = @left > %u * @s, @base += %u * @s, "
            "@left -= %u * @s)",
            r->rows, r->rows, r->rows);
    write_step(cg, s,
               "__ompgpu_scan_rows(@rec, &@tmp, @aux, &@carry, sizeof @tmp, @combine_%s, %u, "
               "@left, %d);");
    cg_close(cg);
    store_carry(cg, s);
}

static void write_steps(struct cg *cg, const struct scanned *s)
{
    const struct cg_scan_steps *r = s->steps;
    bool exclusive = s->scan->exclusive;
    cg_line(cg, "%s @rec, @tmp, @aux, @carry;", s->record);
    assign_items(cg, s->copies, "@carry.%s", "*@o_%s");
    cg_line(cg, "const unsigned @t = %s, @s = %s;", r->id, r->count);
    cg_line(cg, "%s @base = 0;", r->k);
    cg_open(cg, "for (_Bool @go = %s != 0; @go; @go = %s - @base > @s, @base += @s%s)", r->total,
            r->total, r->advance);
    cg_line(cg, "const unsigned @m = %s - @base < @s ? (unsigned)(%s - @base) : @s;", r->total,
            r->total);
    cg_line(cg, "const %s @k = @base + @t;", r->k);
    initialise_items(cg, s->copies);
    write_phase(cg, s->scan, r, exclusive);
    assign_items(cg, s->copies, "@rec.%s", NULL);
    cg_line(cg,
            "__ompgpu_scan(&@rec, &@tmp, &@aux, &@carry, sizeof @rec - %u, @combine_%s, @m, "
            "%d);",
            s->padding, s->name, exclusive);
    assign_items(cg, s->copies, NULL, "@rec.%s");
    write_phase(cg, s->scan, r, !exclusive);
    cg_close(cg);
    store_carry(cg, s);
}

static void scan_by_team(struct cg *cg, const struct omp_construct *c, const struct cg_privates *p,
                         const struct cg_scan_steps *r)
{
    struct scanned s = { .copies = p, .scan = c->scan, .steps = r };
    struct cg_text *out = cg->out;
    s.name = cg_name(cg, cg_strf(cg, "%s_scan", p->base), "");
    cg->out = cg->before;
    s.record = cg_scan_record(cg, p, s.name, &s.padding);
    describe_scan(cg, c, p, r, s.name, s.record);
    cg->out = out;
    (r->by_league ? write_tiles : r->rows > 1 ? write_rows : write_steps)(cg, &s);
}

/* ------------------------------------------------------------------ one thread */
static void combine_items(struct cg *cg, const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (cg_is_scan(k->sharing))
            cg_line(
                cg, "%s",
                cg_combine_item(cg, k, cg_strf(cg, "@c_%s", k->var->name), cg_copy_name(cg, k)));
    }
}

static void scan_by_one_thread(struct cg *cg, const struct omp_construct *c,
                               const struct cg_privates *p, const struct cg_scan_steps *r)
{
    const struct omp_scan *s = c->scan;
    for (unsigned i = 0; i < p->n; i++)
        if (cg_is_scan(p->list[i].sharing))
            cg_line(cg, "__typeof__(%1$s) @c_%2$s, @x_%2$s;", cg_copy_name(cg, &p->list[i]),
                    p->list[i].var->name);
    assign_items(cg, p, "@c_%s", "*@o_%s");
    cg_open(cg, "for (%s @k = 0; @k < %s; @k++%s)", r->k, r->total, r->advance);
    initialise_items(cg, p);
    write_phase(cg, s, r, s->exclusive);
    if (s->exclusive)
        assign_items(cg, p, "@x_%s", "@c_%s");
    combine_items(cg, p);
    assign_items(cg, p, NULL, s->exclusive ? "@x_%s" : "@c_%s");
    write_phase(cg, s, r, !s->exclusive);
    cg_close(cg);
    assign_items(cg, p, "*@o_%s", "@c_%s");
}

void cg_scan_loop(struct cg *cg, const struct omp_construct *c, const struct cg_privates *p,
                  const struct cg_scan_steps *r)
{
    (r->by_one_thread ? scan_by_one_thread : scan_by_team)(cg, c, p, r);
}
