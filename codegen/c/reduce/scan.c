/* scan.c - loops with an inscan reduction, section 5.6 of OpenMP 5.2.
 *
 * The threads take one iteration each a round, in thread order, so that accesses coalesce as in a
 * cyclic schedule:
 *
 *   struct __red_f_12_scan __rec, __tmp, __aux, __carry; __carry.x = *__o_x;
 *   for (each round) {                           __m threads have an iteration
 *     x = identity;
 *     if (__t < __m) { … input phase … }
 *     __rec.x = x;
 *     __ompgpu_scan(&__rec, &__tmp, &__aux, &__carry, sizeof __rec, __combine_f_12_scan, __m,
 * exclusive); x = __rec.x; if (__t < __m) { … scan phase … }
 *   }
 *   if (__t == 0) *__o_x = __carry.x;
 *
 * Where the phases are simple, each thread has several iterations a round, base + t, base + T + t,
 * …: the loads of all are in flight at once. All list items travel in one record.  Where one thread
 * runs all iterations (simd, and loops on the host: clang 22 leaves out the original value there,
 * and crashes on arrays), there is none:
 *
 *   __typeof__(x) __c_x = *__o_x;
 *   for (each iteration) { x = identity; … input phase …  __c_x = __c_x + x; x = __c_x; … scan
 * phase … }                        */
#include <stdlib.h>
#include <string.h>
#include "codegen/c/write.h"

bool cg_is_scan(const struct omp_sharing *s)
{
    return s->share == OMPSH_REDUCTION && s->clause && s->clause->keyword == OMPK_INSCAN;
}

/* ------------------------------------------------------------------ phases */
static void phase(struct cg *cg, const struct omp_scan *s, const struct cg_rounds *r, bool behind)
{
    bool loop = behind && s->continues;
    cg_line(cg, "%s{ %s",
            r->alone      ? ""
            : r->rows > 1 ? "if (__has) "
                          : "if (__t < __m) ",
            r->locals);
    if (loop) /* a continue leaves the phase */
        cg_puts(cg, " do {");
    for (unsigned i = 0; behind && i < s->nagain; i++)
        cg_put(cg, " %s %s;", cg_type(cg, s->again[i]->type, s->again[i]->name, CG_UNQUALIFIED),
               s->again[i]->name);
    cg_copy_body(cg, behind ? s->behind : s->before);
    cg_line(cg, loop ? "} while (0); }" : "}");
}

/* ------------------------------------------------------------------ the record */
/* to, from: with the variable's name; NULL: its private copy. */
static void each_item(struct cg *cg, const struct cg_privates *p, const char *to, const char *from)
{
    for (unsigned i = 0; i < p->n; i++)
        if (cg_is_scan(p->list[i].sharing)) {
            const char *v = p->list[i].var->name, *copy = cg_copy_name(cg, &p->list[i]);
            const char *a = to ? cg_strf(cg, to, v) : copy, *b = from ? cg_strf(cg, from, v) : copy;
            cg_put(cg, " %s",
                   p->list[i].section
                       ? cg_strf(cg, "__builtin_memcpy(%s, %s, sizeof(%s));", a, b, a)
                       : cg_assign(cg, p->list[i].var->type, a, b));
        }
}

static void initialise(struct cg *cg, const struct cg_privates *p)
{
    cg_line(cg, "%s", "");
    for (unsigned i = 0; i < p->n; i++)
        if (cg_is_scan(p->list[i].sharing))
            cg_initialise(cg, &p->list[i]);
}

/* ------------------------------------------------------------------ the threads of a team */
/* For -Rompgpu. */
static void describe(struct cg *cg, const struct omp_construct *c, const struct cg_privates *p,
                     unsigned rows, const char *name, const char *record)
{
    const char *names = "";
    unsigned n = 0;
    for (unsigned i = 0; i < p->n; i++)
        if (cg_is_scan(p->list[i].sharing))
            names = cg_strf(cg, "%s%s'%s'", names, n++ ? ", " : "", p->list[i].var->name);
    cg_put(cg, "__OMPGPU_REDUCTION(%s, %s, %s, %u, %u, %u, %u, sizeof(%s), __OMPGPU_RED_SCAN%s)\n",
           name, cg_quoted(cg, c->place.file), cg_quoted(cg, names), c->place.line, c->place.col, n,
           rows, record, c->scan->exclusive ? " | __OMPGPU_RED_EXCLUSIVE" : "");
}

/* Several rows of iterations in one round. */
static void several_rows(struct cg *cg, const struct omp_construct *c, const struct cg_privates *p,
                         const struct cg_rounds *r, const char *name, const char *record)
{
    const struct omp_scan *s = c->scan;
    const char *row = cg_strf(cg,
                              "_Pragma(\"clang loop unroll(full)\") for (unsigned __u = 0; __u < "
                              "%u; __u++) { const unsigned __j = __u * __s + __t; "
                              "const _Bool __has = __j < __left; const %s __k = __base + __j;",
                              r->rows, r->k);
    cg_line(cg, "%s __rec[%u], __tmp, __aux[2], __carry;", record, r->rows);
    each_item(cg, p, "__carry.%s", "*__o_%s");
    cg_line(cg, "const unsigned __t = %s, __s = %s; %s __base = 0, __left = %s;", r->id, r->count,
            r->k, r->total);
    cg_line(cg,
            "for (_Bool __go = __left != 0; __go; __go = __left > %u * __s, __base += %u * __s, "
            "__left -= %u * __s) {",
            r->rows, r->rows, r->rows);
    cg_line(cg, "%s", row);
    initialise(cg, p);
    phase(cg, s, r, s->exclusive);
    each_item(cg, p, "__rec[__u].%s", NULL);
    cg_line(cg,
            "} __ompgpu_scan_rows(__rec, &__tmp, __aux, &__carry, sizeof __tmp, __combine_%s, %u, "
            "__left, %d);",
            name, r->rows, s->exclusive);
    cg_line(cg, "%s", row);
    each_item(cg, p, NULL, "__rec[__u].%s");
    phase(cg, s, r, !s->exclusive);
    cg_line(cg, "} }");
    cg_line(cg, "if (__t == 0 && %s != 0) {", r->total);
    each_item(cg, p, "*__o_%s", "__carry.%s");
    cg_puts(cg, " }");
}

static void rounds(struct cg *cg, const struct omp_construct *c, struct cg_privates *p,
                   const struct cg_rounds *r)
{
    const struct omp_scan *s = c->scan;
    const char *name = cg_name(cg, cg_strf(cg, "%s_scan", p->base), "");
    struct cg_text *out = cg->out;
    unsigned padding;
    cg->out = cg->before;
    const char *record = cg_record(cg, p, name, true, &padding),
               *size = padding ? cg_strf(cg, "sizeof __rec - %u", padding) : "sizeof __rec";
    describe(cg, c, p, r->rows, name, record);
    cg->out = out;
    if (r->rows > 1) {
        several_rows(cg, c, p, r, name, record);
        return;
    }
    cg_line(cg, "%s __rec, __tmp, __aux, __carry;", record);
    each_item(cg, p, "__carry.%s", "*__o_%s");
    cg_line(cg, "const unsigned __t = %s, __s = %s; %s __base = 0;", r->id, r->count, r->k);
    cg_line(cg, "for (_Bool __go = %s != 0; __go; __go = %s - __base > __s, __base += __s%s) {",
            r->total, r->total, r->advance);
    cg_line(cg,
            "const unsigned __m = %s - __base < __s ? (unsigned)(%s - __base) : __s; const %s __k "
            "= __base + __t;",
            r->total, r->total, r->k);
    initialise(cg, p);
    phase(cg, s, r, s->exclusive);
    cg_line(cg, "%s", "");
    each_item(cg, p, "__rec.%s", NULL);
    cg_line(cg, "__ompgpu_scan(&__rec, &__tmp, &__aux, &__carry, %s, __combine_%s, __m, %d);", size,
            name, s->exclusive);
    each_item(cg, p, NULL, "__rec.%s");
    phase(cg, s, r, !s->exclusive);
    cg_line(cg, "}");
    cg_line(cg, "if (__t == 0 && %s != 0) {", r->total);
    each_item(cg, p, "*__o_%s", "__carry.%s");
    cg_puts(cg, " }");
}

/* ------------------------------------------------------------------ one thread */
static void one_after_the_other(struct cg *cg, const struct omp_construct *c, struct cg_privates *p,
                                const struct cg_rounds *r)
{
    const struct omp_scan *s = c->scan;
    cg_line(cg, "%s", "");
    for (unsigned i = 0; i < p->n; i++)
        if (cg_is_scan(p->list[i].sharing))
            cg_put(cg, " __typeof__(%1$s) __c_%2$s, __e_%2$s;", cg_copy_name(cg, &p->list[i]),
                   p->list[i].var->name);
    each_item(cg, p, "__c_%s", "*__o_%s");
    cg_line(cg, "for (%s __k = 0; __k < %s; __k++%s) {", r->k, r->total, r->advance);
    initialise(cg, p);
    phase(cg, s, r, s->exclusive);
    cg_line(cg, "%s", "");
    if (s->exclusive)
        each_item(cg, p, "__e_%s", "__c_%s");
    for (unsigned i = 0; i < p->n; i++)
        if (cg_is_scan(p->list[i].sharing))
            cg_put(cg, " %s",
                   cg_combine_item(cg, &p->list[i], cg_strf(cg, "__c_%s", p->list[i].var->name),
                                   cg_copy_name(cg, &p->list[i])));
    each_item(cg, p, NULL, s->exclusive ? "__e_%s" : "__c_%s");
    phase(cg, s, r, !s->exclusive);
    cg_line(cg, "}");
    each_item(cg, p, "*__o_%s", "__c_%s");
}

void cg_scan_rounds(struct cg *cg, const struct omp_construct *c, struct cg_privates *p,
                    const struct cg_rounds *r)
{
    (r->alone ? one_after_the_other : rounds)(cg, c, p, r);
}
