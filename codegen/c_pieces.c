/* c_pieces.c - reductions of arrays and array sections.
 *
 * The private copy of such an item v is an array of elements, whatever the item's shape; v is bound so that the user's text finds
 * its elements there:
 *
 *   E *__o_v = (E *)&v[l];  const unsigned long __e_v = bytes / sizeof(E);          the original's part that is reduced
 *   const unsigned long __w_v = bytes from v to __o_v;                              v as it is spelled outside, which may be *__r_v, too
 *   E __b_v[…];  E *__p_v = fits ? __b_v : __ompgpu_reduce_alloc(bytes);            the copy
 *   T *__r_v = __p_v moved back by l;                                               v is spelled (*__r_v); a pointer v hides the outer one
 *
 * At the end, pieces of a few elements go through the same algorithms as records do, one after the other.  In SPMD kernels this is for
 * small arrays of constant size, which may be in registers.  The others are in memory that the host provides, or go there now, and are
 * combined where they lie: each thread takes columns, through the rows of all threads ("columns" below).
 *
 * Over the league every team first stores all its pieces (and its record) in its slot, then arrives once; the last team combines them:
 *
 *   slot of a team:   record | pieces of v | pieces of w | …           each rounded up to 16 bytes                              */
#include <string.h>
#include "codegen/c_write.h"

enum { PIECE_BYTES = 64, PIECE_ELEMENTS = 8, SMALL_COPY = 256, LARGE_COPY = 2048 /* bytes of a copy on the thread's stack */ };

static unsigned piece(const struct omp_type *e)
{
    uint64_t k = e->size ? PIECE_BYTES / e->size : 1;
    return k < 1 ? 1 : k > PIECE_ELEMENTS ? PIECE_ELEMENTS : (unsigned)k;
}
static unsigned long long rounded(unsigned long long bytes) { return (bytes + 15) & ~15ull; }
static const char *element(struct cg *cg, const struct cg_private *p) { return cg_type(cg, p->elem, "", CG_UNQUALIFIED); }

/* ------------------------------------------------------------------ the copy */
static bool at_zero(struct cg *cg, const struct omp_item *item)
{
    for (unsigned i = 0; item && i < item->nsections; i++) {
        const char *lower = cg_empty(item->sections[i].lower) ? "0" : cg_expr(cg, item->sections[i].lower);
        if (strcmp(lower, "0"))
            return false;
    }
    return true;
}

static const struct omp_item *section(const struct cg_private *p)
{
    const struct omp_item *item = p->sharing->item;
    return item && item->nsections ? item : NULL;
}

void cg_declare_pieces(struct cg *cg, const struct cg_private *p, const char *outside)
{
    const struct omp_item *item = section(p);
    const char *v = p->var->name, *e = element(cg, p);
    struct cg_span s = item ? cg_span_of(cg, item) : (struct cg_span){ cg_address(cg, p->var), cg_strf(cg, "sizeof(%s)", outside) };
    cg_line(cg, "%s *const __o_%s = (%s *)%s; const unsigned long __e_%s = (%s) / sizeof(%s);", e, v, e, s.begin, v, s.size, e);
    if (!at_zero(cg, item))
        cg_put(cg, " const unsigned long __w_%s = (unsigned long)__o_%s - (unsigned long)%s;", v, v,
               p->var->type->kind == OMPT_POINTER ? cg_strf(cg, "(%s)", outside) : cg_address(cg, p->var));
}

static bool is_small(const struct omp_type *t) { return t->kind == OMPT_ARRAY && !t->variably_modified && t->size && t->size <= LARGE_COPY; }
static bool in_columns(const struct cg_privates *p, const struct cg_private *k) { return k->pieces && p->slices && !is_small(k->var->type); }

/* Elements for which the thread's stack is good. */
static unsigned long long fits(const struct omp_type *t, const struct omp_type *elem)
{
    unsigned long long n = (is_small(t) ? t->size : SMALL_COPY) / (elem->size ? elem->size : 1);
    return n ? n : 1;
}

/* Bytes of a copy in the memory that the host provides. */
static const char *copy_bytes(struct cg *cg, const struct omp_type *t, const struct omp_type *elem, const char *count)
{
    return is_small(t) ? "0" : cg_strf(cg, "((%s * %llu + 15) & ~15ul)", count, (unsigned long long)elem->size);
}

static void declare_copy(struct cg *cg, const struct cg_private *p, const char *elsewhere)
{
    const struct omp_item *item = section(p);
    const struct omp_type *t = p->var->type;
    const char *v = p->var->name, *e = element(cg, p);
    unsigned long long n = fits(t, p->elem);
    bool zero = at_zero(cg, item);
    const char *storage = cg_strf(cg, "__e_%s <= %llu ? __b_%s : (%s *)%s", v, n, v, e, elsewhere);
    cg_line(cg, "%s __b_%s[%llu], *const __p_%s = %s;", e, v, n, v,
            zero ? storage : cg_strf(cg, "__ompgpu_hidden((unsigned long)(%s))", storage));
    const char *moved = zero ? cg_strf(cg, "__p_%s", v)
                             : cg_strf(cg, "__ompgpu_hidden((unsigned long)__p_%s - __w_%s)", v, v);
    if (t->kind == OMPT_POINTER)
        cg_line(cg, "void *const __r_%s = (void *)%s;", v, moved);
    else
        cg_line(cg, "%s *const __r_%s = (void *)%s;", cg_var_type(cg, p->var, CG_UNQUALIFIED), v, moved);
}

static const char *bytes_of(struct cg *cg, const struct omp_type *e, const char *count);

/* Bytes of a team's slot, and of a thread's copies, as the host computes them (cg_reduce_bytes, cg_copy_bytes). */
static void declare_sizes(struct cg *cg, const struct cg_privates *p)
{
    const char *stride = p->record ? cg_strf(cg, "((sizeof(%s) + 15) & ~15ul)", p->record) : "0", *copies = "0";
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (!k->pieces)
            continue;
        const char *count = cg_strf(cg, "__e_%s", k->var->name);
        stride = cg_strf(cg, "%s + %s", stride, bytes_of(cg, k->elem, count));
        copies = cg_strf(cg, "%s + %s", copies, copy_bytes(cg, k->var->type, k->elem, count));
    }
    cg_line(cg, "const unsigned long __stride = %s;", p->finish == CG_PARALLEL ? "0" : stride);
    if (p->slices)
        cg_line(cg, "const unsigned long __copies = %s;", copies);
}

void cg_declare_copies(struct cg *cg, const struct cg_privates *p)
{
    const char *at = "0";
    if (p->pieces)
        declare_sizes(cg, p);
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (!k->pieces)
            continue;
        const char *v = k->var->name;
        declare_copy(cg, k, p->slices ? cg_strf(cg, "__ompgpu_copy_slice(__env, __stride, __copies, %s)", at)
                                      : cg_strf(cg, "__ompgpu_reduce_alloc(__e_%s * %llu)", v, (unsigned long long)k->elem->size));
        at = cg_strf(cg, "%s + %s", at, copy_bytes(cg, k->var->type, k->elem, cg_strf(cg, "__e_%s", v)));
    }
}

const char *cg_bind_pieces(struct cg *cg, const struct cg_private *p)
{
    const char *v = p->var->name;
    bool pointer = p->var->type->kind == OMPT_POINTER;
    cg_line(cg, "for (unsigned long __i = 0; __i < __e_%s; __i++) {", v);
    cg_initial(cg, p, cg_strf(cg, "__p_%s[__i]", v), cg_strf(cg, "__o_%s[__i]", v));
    cg_puts(cg, " }");
    if (pointer)
        cg_put(cg, " %s %s = __r_%s;", cg_var_type(cg, p->var, CG_UNQUALIFIED), v, v);
    return pointer ? NULL : cg_strf(cg, "(*__r_%s)", v);
}

void cg_pieces_free(struct cg *cg, const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        const char *v = p->list[i].var->name;
        if (p->list[i].pieces && !p->slices)
            cg_line(cg, "if (__e_%s > sizeof __b_%s / sizeof *__b_%s) __ompgpu_reduce_free(__p_%s);", v, v, v, v);
    }
}

/* ------------------------------------------------------------------ pieces */
void cg_pieces_functions(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    const char *e = element(cg, k), *name = cg_strf(cg, "%s__%s", p->base, k->var->name);
    unsigned n = piece(k->elem);
    if (in_columns(p, k)) {
        cg_put(cg, "__OMPGPU_INLINE void __combine_%s(void *__p, const void *__q) { %s *__a = __p; const %s *__b = __q; %s }\n", name, e, e,
               cg_combine(cg, k, "(*__a)", "(*__b)"));
        return;
    }
    cg_put(cg, "struct __red_%s { %s v[%u]; };\n__OMPGPU_INLINE void __combine_%s(void *__p, const void *__q)\n", name, e, n, name);
    cg_put(cg, "{ struct __red_%s *__a = __p; const struct __red_%s *__b = __q; for (unsigned __k = 0; __k < %u; __k++) %s }\n", name, name, n,
           cg_combine(cg, k, "__a->v[__k]", "__b->v[__k]"));
}

/* Opens a brace: for each piece. */
static void open_loop(struct cg *cg, const struct cg_privates *p, const struct cg_private *k, bool load)
{
    const char *v = k->var->name;
    cg_line(cg, "for (unsigned long __i = 0; __i < __e_%s; __i += %u) { struct __red_%s__%s __rec, __tmp;", v, piece(k->elem), p->base, v);
    if (load)                         /* past the end: the last element again, so that combiners only see values that exist */
        cg_line(cg, "for (unsigned __k = 0; __k < %u; __k++) __rec.v[__k] = __p_%s[__i + __k < __e_%s ? __i + __k : __e_%s - 1];",
                piece(k->elem), v, v, v);
}

static void update(struct cg *cg, const struct cg_private *k)
{
    const char *v = k->var->name;
    cg_line(cg, "for (unsigned __k = 0; __k < %u && __i + __k < __e_%s; __k++) %s", piece(k->elem), v,
            cg_combine(cg, k, cg_strf(cg, "__o_%s[__i + __k]", v), "__rec.v[__k]"));
}

/* ------------------------------------------------------------------ finishing */
void cg_pieces_update_all(struct cg *cg, const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        const char *v = p->list[i].var->name;
        if (p->list[i].pieces)
            cg_line(cg, "for (unsigned long __i = 0; __i < __e_%s; __i++) %s", v,
                    cg_combine(cg, &p->list[i], cg_strf(cg, "__o_%s[__i]", v), cg_strf(cg, "__p_%s[__i]", v)));
    }
}

/* The record, if there is one, had the first rounds. */
static void declare_turn(struct cg *cg, const struct cg_privates *p)
{
    cg_line(cg, p->record ? "unsigned __turn = __OMPGPU_ROUNDS(sizeof(%s) - %u);" : "unsigned __turn = 0;", p->record, p->padding);
}
static const char *rounds = "__OMPGPU_ROUNDS(sizeof __rec)";

/* ------------------------------------------------------------------ columns */
static bool any_columns(const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++)
        if (in_columns(p, &p->list[i]))
            return true;
    return false;
}

/* All copies in the memory of the team, which then may read them. */
static void gather_copies(struct cg *cg, const struct cg_privates *p)
{
    const char *at = "0";
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        const char *v = k->var->name;
        if (!in_columns(p, k))
            continue;
        cg_line(cg, "const unsigned long __c_%s = %s; if (__e_%s <= %llu) { %s *__to = (%s *)__ompgpu_copy_slice(__env, __stride, __copies, __c_%s);", v,
                at, v, fits(k->var->type, k->elem), element(cg, k), element(cg, k), v);
        cg_put(cg, " for (unsigned long __i = 0; __i < __e_%s; __i++) __to[__i] = __p_%s[__i]; }", v, v);
        at = cg_strf(cg, "%s + %s", at, copy_bytes(cg, k->var->type, k->elem, cg_strf(cg, "__e_%s", v)));
    }
    cg_line(cg, "__ompgpu_barrier(%u);", cg->place.line);
}

/* Combines the rows from `first` on; `use` is what a thread does with the result __rec for element __i. */
static void columns(struct cg *cg, const struct cg_privates *p, const struct cg_private *k, const char *first, const char *distance,
                    const char *rows, const char *use)
{
    const char *e = element(cg, k), *v = k->var->name, *combine = cg_strf(cg, "sizeof __rec, __combine_%s__%s", p->base, v);
    cg_line(cg, "{ char *const __first = (char *)%s; %s __rec, __tmp;", first, e);
    cg_line(cg, "const unsigned __rows = __ompgpu_fold_rows(__first, %s, (unsigned)%s, __e_%s, &__rec, &__tmp, %s);", distance, rows, v, combine);
    cg_line(cg, "for (unsigned long __i = (unsigned)__ompgpu_thread_id(); __i < __e_%s; __i += (unsigned)__ompgpu_num_threads()) {", v);
    cg_line(cg, "__ompgpu_column(&__rec, &__tmp, __first + __i * sizeof __rec, %s, __rows, %s);", distance, combine);
    cg_line(cg, "%s } }", use);
}

static const char *team_copies(struct cg *cg, const struct cg_private *k)
{
    return cg_strf(cg, "__ompgpu_team_copies(__env, __stride, __copies) + __c_%s", k->var->name);
}

static const char *update_element(struct cg *cg, const struct cg_private *k)
{
    return cg_combine(cg, k, cg_strf(cg, "__o_%s[__i]", k->var->name), "__rec");
}

static void columns_parallel(struct cg *cg, const struct cg_privates *p)
{
    if (!any_columns(p))
        return;
    gather_copies(cg, p);
    for (unsigned i = 0; i < p->n; i++)
        if (in_columns(p, &p->list[i]))
            columns(cg, p, &p->list[i], team_copies(cg, &p->list[i]), "__copies", "__ompgpu_num_threads()", update_element(cg, &p->list[i]));
}

void cg_pieces_parallel(struct cg *cg, const struct cg_privates *p)
{
    if (p->pieces)
        declare_turn(cg, p);
    columns_parallel(cg, p);
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (!k->pieces || in_columns(p, k))
            continue;
        open_loop(cg, p, k, true);
        cg_line(cg, "if (__ompgpu_reduce_piece(&__rec, &__tmp, sizeof __rec, __combine_%s__%s, __turn)) {", p->base, k->var->name);
        if (p->lock)
            cg_put(cg, " __ompgpu_critical_begin(&%s);", p->lock);
        update(cg, k);
        if (p->lock)
            cg_put(cg, " __ompgpu_critical_end(&%s);", p->lock);
        cg_put(cg, " } __turn += %s; }", rounds);
    }
}

/* One round over the record and all pieces. */
static void round(struct cg *cg, const struct cg_privates *p, const char *who, bool put)
{
    cg_line(cg, "__at = 0, __turn = 0;");
    if (p->record) {
        cg_line(cg, "{");
        if (put)
            cg_load_record(cg, p);
        else
            cg_put(cg, " %s __rec, __tmp;", p->record);
        cg_line(cg, put ? "__ompgpu_%s_put(__env, &__rec, &__tmp, sizeof __rec, __combine_%s, __at, __stride, __turn);"
                        : "if (__ompgpu_%s_get(__env, &__rec, &__tmp, sizeof __rec, __combine_%s, __at, __stride, __turn)) {", who, p->base);
        if (!put) {
            cg_update_record_items(cg, p, "__rec.");
            cg_puts(cg, " }");
        }
        cg_put(cg, " __at = (sizeof __rec + 15) & ~15ul, __turn = %s; }", rounds);
    }
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (!k->pieces)
            continue;
        if (in_columns(p, k)) {
            const char *e = element(cg, k);
            if (put)
                columns(cg, p, k, team_copies(cg, k), "__copies", "__ompgpu_num_threads()",
                        cg_strf(cg, "((%s *)((char *)__ompgpu_slot(__env, __stride, (unsigned)__ompgpu_team_id()) + __at))[__i] = __rec;", e));
            else
                columns(cg, p, k, "__ompgpu_slot(__env, __stride, 0) + __at", "__stride", "__ompgpu_num_teams()", update_element(cg, k));
            cg_put(cg, " __at += %s;", bytes_of(cg, k->elem, cg_strf(cg, "__e_%s", k->var->name)));
            continue;
        }
        open_loop(cg, p, k, put);
        cg_line(cg, put ? "__ompgpu_%s_put(__env, &__rec, &__tmp, sizeof __rec, __combine_%s__%s, __at, __stride, __turn);"
                        : "if (__ompgpu_%s_get(__env, &__rec, &__tmp, sizeof __rec, __combine_%s__%s, __at, __stride, __turn)) {", who, p->base, k->var->name);
        if (!put) {
            update(cg, k);
            cg_puts(cg, " }");
        }
        cg_put(cg, " __at += %llu, __turn += %s; }", rounded(piece(k->elem) * k->elem->size), rounds);
    }
}

static const char *bytes_of(struct cg *cg, const struct omp_type *e, const char *count)
{
    return cg_strf(cg, "(%s + %u) / %u * %llu", count, piece(e) - 1, piece(e), rounded(piece(e) * e->size));
}

void cg_pieces_league(struct cg *cg, const struct cg_privates *p)
{
    const char *who = p->finish == CG_LEAGUE ? "league" : "teams";
    cg_line(cg, "unsigned long __at; unsigned __turn;");
    if (any_columns(p))
        gather_copies(cg, p);
    round(cg, p, who, true);
    if (any_columns(p))               /* a team arrives when all of its threads have stored */
        cg_line(cg, "__ompgpu_barrier(%u);", cg->place.line);
    cg_line(cg, "if (__ompgpu_%s_last(__env)) {", who);
    round(cg, p, who, false);
    cg_puts(cg, " }");
}

/* ------------------------------------------------------------------ host */
static const struct omp_sharing *inner_sharing(const struct cg_plan *p, unsigned i, unsigned j)
{
    const struct omp_sharing *s = &p->chain[i]->sharings[j];
    for (unsigned k = i + 1; k < p->nchain; k++) {
        const struct omp_sharing *in = cg_sharing(p->chain[k], s->var);
        if (in && in->share != OMPSH_SHARED)
            return NULL;              /* counted there */
    }
    return s;
}

static const char *add(struct cg *cg, const char *sum, const char *bytes) { return sum ? cg_strf(cg, "%s + %s", sum, bytes) : bytes; }

/* Elements of an item that is reduced in pieces, NULL for others. */
static const char *count_of(struct cg *cg, const struct omp_sharing *s)
{
    if (!s || s->share != OMPSH_REDUCTION || !cg_in_pieces(s))
        return NULL;
    const char *size = s->item && s->item->nsections ? cg_span_of(cg, s->item).size : cg_strf(cg, "sizeof(%s)", cg_spell(cg, s->var));
    return cg_strf(cg, "((%s) / %llu)", size, (unsigned long long)cg_reduced(s)->size);
}

const char *cg_reduce_bytes(struct cg *cg, const struct cg_plan *p)
{
    const char *sum = NULL, *n;
    if (!p->reduction)
        return NULL;
    if (!p->spmd)
        for (unsigned i = 0; i < p->teams->nsharings; i++)
            if ((n = count_of(cg, &p->teams->sharings[i])))
                sum = add(cg, sum, bytes_of(cg, cg_reduced(&p->teams->sharings[i]), n));
    for (unsigned i = 0; p->spmd && i < p->nchain; i++)
        for (unsigned j = 0; j < p->chain[i]->nsharings; j++)
            if ((n = count_of(cg, inner_sharing(p, i, j))))
                sum = add(cg, sum, bytes_of(cg, cg_reduced(&p->chain[i]->sharings[j]), n));
    return sum;
}

const char *cg_copy_bytes(struct cg *cg, const struct cg_plan *p)
{
    const char *sum = NULL, *n;
    for (unsigned i = 0; p->spmd && i < p->nchain; i++)
        for (unsigned j = 0; j < p->chain[i]->nsharings; j++) {
            const struct omp_sharing *s = &p->chain[i]->sharings[j];
            if ((n = count_of(cg, inner_sharing(p, i, j))))
                sum = add(cg, sum, copy_bytes(cg, s->var->type, cg_reduced(s), n));
        }
    return sum;
}
