/* pieces.c - reductions of arrays and array sections.
 *
 * The private copy of such an item v is an array of elements, whatever the item's shape; v is bound
 * so that the user's text finds its elements there:
 *
 *   E *__o_v = (E *)&v[l];  const unsigned long __e_v = bytes / sizeof(E);          the original's part that is reduced
 *   const unsigned long __w_v = bytes from v to __o_v;                              v as it is spelled outside, which may be *__r_v, too
 *   char *__copy = …;                                                               memory for those copies that do not fit on the stack
 *   E __b_v[…];  E *__p_v = fits ? __b_v : (E *)(__copy + at);                      the copy
 *   T *__r_v = __p_v moved back by l;                                               v is spelled (*__r_v); a pointer v hides the outer one
 *
 * The memory is global: in SPMD kernels a part of the launch's scratchpad, whose size the host
 * works out; elsewhere (generic kernels, functions, constructs inside of parallel regions) of the
 * team's storage (devicertl/storage.c), as large as the constant sizes and those that the host can
 * foresee ask for (codegen/ir/passes/copies.c, cg_inner_bytes below), and for others as the user
 * says or we think.
 *
 * At the end, pieces of a few elements go through the same algorithms as records do, one after the
 * other.  This is for small arrays of constant size, which may be in registers, and where one
 * thread reduces.  The others are in that memory, or go there now, and are combined where they lie:
 * each thread takes columns, through the rows of all threads ("columns" below).
 *
 * Over the league every team first stores all its pieces (and its record) in its slot, then arrives
 * once; the last team combines them:
 *
 *   slot of a team:   record | pieces of v | pieces of w | …           each rounded up to 16 bytes                              */
#include <ctype.h>
#include <string.h>
#include "codegen/c/write.h"

enum {
    PIECE_BYTES = 64,
    PIECE_ELEMENTS = 8,
    SMALL_COPY = 256,
    LARGE_COPY = 2048 /* bytes of a copy on the thread's stack */
};

static unsigned piece(const struct omp_type *e)
{
    uint64_t k = e->size ? PIECE_BYTES / e->size : 1;
    return k < 1 ? 1 : k > PIECE_ELEMENTS ? PIECE_ELEMENTS : (unsigned)k;
}
static unsigned long long rounded(unsigned long long bytes) { return (bytes + 15) & ~15ull; }
static const char *element(struct cg *cg, const struct cg_private *p)
{
    return cg_type(cg, p->elem, "", CG_UNQUALIFIED);
}

/* ------------------------------------------------------------------ the copy */
static bool at_zero(struct cg *cg, const struct omp_item *item)
{
    for (unsigned i = 0; item && i < item->nsections; i++) {
        const char *lower = cg_empty(item->sections[i].lower.extent)
                                ? "0"
                                : cg_expr(cg, item->sections[i].lower.extent);
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
    struct cg_span s =
        item ? cg_span_of(cg, item)
             : (struct cg_span){ cg_address(cg, p->var), cg_strf(cg, "sizeof(%s)", outside) };
    cg_line(cg, "%s *const __o_%s = (%s *)%s; const unsigned long __e_%s = (%s) / sizeof(%s);", e,
            v, e, s.begin, v, s.size, e);
    if (!at_zero(cg, item))
        cg_put(cg, " const unsigned long __w_%s = (unsigned long)__o_%s - (unsigned long)%s;", v, v,
               p->var->type->kind == OMPT_POINTER ? cg_strf(cg, "(%s)", outside)
                                                  : cg_address(cg, p->var));
}

static bool is_small(const struct omp_type *t)
{
    return t->kind == OMPT_ARRAY && !t->variably_modified && t->size && t->size <= LARGE_COPY;
}

/* Is the storage the team's? */
static bool in_arena(const struct cg_privates *p) { return p->pieces && !p->slices; }
bool cg_in_columns(const struct cg_privates *p, const struct cg_private *k)
{
    return k->pieces && !is_small(k->var->type) &&
           (p->slices || (p->finish == CG_PARALLEL && !p->lock));
}
static bool is_constant(const struct cg_private *k)
{
    return k->var->type->kind == OMPT_ARRAY && !k->var->type->variably_modified && !section(k);
}

/* Elements for which the thread's stack is good. */
static unsigned long long fits(const struct omp_type *t, const struct omp_type *elem)
{
    unsigned long long n = (is_small(t) ? t->size : SMALL_COPY) / (elem->size ? elem->size : 1);
    return n ? n : 1;
}

/* Bytes of a copy in the memory that the host provides. */
static const char *copy_bytes(struct cg *cg, const struct omp_type *t, const struct omp_type *elem,
                              const char *count)
{
    return is_small(t)
               ? "0"
               : cg_strf(cg, "((%s * %llu + 15) & ~15ul)", count, (unsigned long long)elem->size);
}

/* `elsewhere` is NULL where the stack is always good. */
static const char *storage_of(struct cg *cg, const struct cg_private *p, const char *elsewhere)
{
    const char *v = p->var->name, *e = element(cg, p);
    unsigned long long n = fits(p->var->type, p->elem);
    if (elsewhere && is_constant(p))
        return cg_strf(cg, "(%s *)(%s)", e, elsewhere);
    cg_line(cg, "%s __b_%s[%llu];", e, v, n);
    return elsewhere ? cg_strf(cg, "__e_%s <= %llu ? __b_%s : (%s *)(%s)", v, n, v, e, elsewhere)
                     : cg_strf(cg, "__b_%s", v);
}

static void declare_copy(struct cg *cg, const struct cg_private *p, const char *elsewhere)
{
    const struct omp_item *item = section(p);
    const struct omp_type *t = p->var->type;
    const char *v = p->var->name;
    bool zero = at_zero(cg, item);
    const char *storage = storage_of(cg, p, elsewhere);
    cg_line(cg, "%s *const __p_%s = %s;", element(cg, p), v,
            zero ? storage : cg_strf(cg, "__ompgpu_hidden((unsigned long)(%s))", storage));
    const char *moved = zero ? cg_strf(cg, "__p_%s", v)
                             : cg_strf(cg, "__ompgpu_hidden((unsigned long)__p_%s - __w_%s)", v, v);
    if (t->kind == OMPT_POINTER)
        cg_line(cg, "void *const __r_%s = (void *)%s;", v, moved);
    else
        cg_line(cg, "%s *const __r_%s = (void *)%s;", cg_var_type(cg, p->var, CG_UNQUALIFIED), v,
                moved);
}

static const char *bytes_of(struct cg *cg, const struct omp_type *e, const char *count);
static const char *bytes_of_section(struct cg *cg, const struct omp_sharing *s, bool *host);

/* Of the team's storage: what is not combined in columns needs none while it fits on the stack. */
static const char *bytes_taken(struct cg *cg, const struct cg_privates *p,
                               const struct cg_private *k)
{
    const char *bytes = copy_bytes(cg, k->var->type, k->elem, cg_strf(cg, "__e_%s", k->var->name));
    if (!in_arena(p) || cg_in_columns(p, k) || is_small(k->var->type) || is_constant(k))
        return bytes;
    return cg_strf(cg, "(__e_%s <= %llu ? 0 : %s)", k->var->name, fits(k->var->type, k->elem),
                   bytes);
}
/* Bytes of a team's slot, and of a thread's copies, as the host computes them (cg_reduce_bytes,
 * cg_copy_bytes). */
static void declare_sizes(struct cg *cg, const struct cg_privates *p)
{
    const char *stride = p->record && !p->atomic
                             ? cg_strf(cg, "((sizeof(%s) + 15) & ~15ul)", p->record)
                             : "0",
               *copies = "0";
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (!k->pieces)
            continue;
        const char *count = cg_strf(cg, "__e_%s", k->var->name);
        stride = cg_strf(cg, "%s + %s", stride, bytes_of(cg, k->elem, count));
        copies = cg_strf(cg, "%s + %s", copies, bytes_taken(cg, p, k));
    }
    if (p->entries)
        cg_declare_entries(cg, stride);
    else
        cg_line(cg, "const unsigned long __stride = %s;", p->finish == CG_PARALLEL ? "0" : stride);
    cg_line(cg, "const unsigned long __copies = %s;", copies);
}

/* ------------------------------------------------------------------ the memory of the copies */
static bool any_large(const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].pieces && !is_small(p->list[i].var->type))
            return true;
    return false;
}

/* For codegen/ir/passes/copies.c.  Whether the N of `a[0:N]` is a constant only clang can tell. */
static void state_needs(struct cg *cg, struct cg_privates *p)
{
    const char *bytes = "0", *rest = "0", *n;
    bool host;
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (!k->pieces || is_small(k->var->type))
            continue;
        if (is_constant(k)) {
            bytes = cg_strf(cg, "%s + %llu", bytes, rounded(k->var->type->size));
        } else if ((n = bytes_of_section(cg, k->sharing, &host))) {
            bytes = cg_strf(
                cg, "%s + __builtin_choose_expr(__builtin_constant_p(%s), (%s + 15) & ~15ul, 0)",
                bytes, n, n);
            rest = cg_strf(
                cg, "%s | __builtin_choose_expr(__builtin_constant_p(%s), 0, __OMPGPU_COPY_%s)",
                rest, n, host ? "FORESEEN" : "UNKNOWN");
        } else {
            rest = "__OMPGPU_COPY_UNKNOWN";
        }
    }
    if (p->finish == CG_TEAMS) {
        cg_line(cg, "__ompgpu_copy_needs(0, 0, __OMPGPU_COPY_OF_TEAM);");
        return;
    }
    cg_line(cg, "__ompgpu_copy_needs(%s, %s, %s);", bytes, p->below ? p->below : "0", rest);
    cg->copies_below = p->below ? cg_strf(cg, "%s + %s", p->below, bytes) : bytes;
}

static void take(struct cg *cg, struct cg_privates *p)
{
    const char *names = "";
    for (unsigned i = 0; i < p->n; i++)
        if (p->list[i].pieces && !is_small(p->list[i].var->type))
            names = cg_strf(cg, "%s%s'%s'", names, *names ? ", " : "", p->list[i].var->name);
    p->below = cg->copies_below;
    state_needs(cg, p);
    cg_line(cg,
            "const _Bool __sequential = %s; char *const __copy = __copies ? "
            "__ompgpu_copy_alloc(__sequential, __copies / __OMPGPU_COPY_UNIT, "
            "\"no room for private copies of the reduced %s %s: set OMPGPU_TEAM_HEAP to more bytes "
            "a team\", %u) : 0;",
            p->finish == CG_TEAMS ? "1" : "__ompgpu_level() == 0",
            strchr(names, ',') ? "arrays" : "array", names, cg->place.line);
}

void cg_declare_copies(struct cg *cg, struct cg_privates *p)
{
    const char *at = "0";
    if (p->pieces || p->entries)
        declare_sizes(cg, p);
    if (!p->pieces)
        return;
    if (in_arena(p) && any_large(p))
        take(cg, p);
    else if (any_large(p))
        cg_line(cg, "char *const __copy = __ompgpu_copy_slice(__env, __stride, __copies);");
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (!k->pieces)
            continue;
        declare_copy(cg, k, is_small(k->var->type) ? NULL : cg_strf(cg, "__copy + %s", at));
        at = cg_strf(cg, "%s + %s", at, bytes_taken(cg, p, k));
    }
}

/* v is spelled (*__r_v), or is a pointer of its own. */
static const char *bind_copy(struct cg *cg, const struct cg_private *p)
{
    const char *v = p->var->name;
    bool pointer = p->var->type->kind == OMPT_POINTER;
    if (pointer)
        cg_put(cg, " %s %s = __r_%s;", cg_var_type(cg, p->var, CG_UNQUALIFIED), v, v);
    return pointer ? NULL : cg_strf(cg, "(*__r_%s)", v);
}

const char *cg_bind_pieces(struct cg *cg, const struct cg_private *p)
{
    const char *v = p->var->name;
    cg_line(cg, "for (unsigned long __i = 0; __i < __e_%s; __i++) {", v);
    cg_initial(cg, p, cg_strf(cg, "__p_%s[__i]", v), cg_strf(cg, "__o_%s[__i]", v));
    cg_puts(cg, " }");
    return bind_copy(cg, p);
}

/* ------------------------------------------------------------ sections of constant length in scans
 * They travel in the record:  E (*__o_v)[n] the original's part, E (*__p_v)[n] the copy, __r_v as
 * above. */
unsigned cg_section(const struct omp_sharing *s)
{
    const struct omp_type *t = s->item ? s->item->base_type : NULL, *elem = cg_reduced(s);
    uint64_t n = 1;
    if (!cg_is_scan(s) || !s->item || !s->item->nsections)
        return 0;
    for (unsigned i = 0; t && i < s->item->nsections; i++, t = t->elem)
        n *= s->item->sections[i].count;
    return t && elem && elem->size ? (unsigned)(n * t->size / elem->size) : 0;
}

/* A pointer of which the optimiser does not know where it came from: it may lead to in front of its
 * object. */
static const char *hidden(struct cg *cg, const char *address)
{
    return cg_strf(
        cg,
        cg->before
            ? "__ompgpu_hidden(%s)"
            : "({ unsigned long __h = %s; __asm__ volatile(\"\" : \"+r\"(__h)); (void *)__h; })",
        address);
}

void cg_declare_section(struct cg *cg, const struct cg_private *p, const char *outside)
{
    const char *v = p->var->name, *e = element(cg, p);
    bool pointer = p->var->type->kind == OMPT_POINTER, zero = at_zero(cg, p->sharing->item);
    const char *base = pointer ? cg_strf(cg, "(%s)", outside) : cg_address(cg, p->var);
    cg_line(cg, "%s (*const __o_%s)[%u] = (void *)%s; %s __b_%s[%u];", e, v, p->section,
            cg_span_of(cg, p->sharing->item).begin, e, v, p->section);
    cg_line(cg, "%s (*const __p_%s)[%u] = (void *)%s;", e, v, p->section,
            zero ? cg_strf(cg, "__b_%s", v) : hidden(cg, cg_strf(cg, "(unsigned long)__b_%s", v)));
    cg_line(
        cg, "%s *const __r_%s = (void *)%s;",
        pointer ? "void" : cg_var_type(cg, p->var, CG_UNQUALIFIED), v,
        zero ? cg_strf(cg, "__p_%s", v)
             : hidden(cg,
                      cg_strf(cg,
                              "(unsigned long)__p_%s - ((unsigned long)__o_%s - (unsigned long)%s)",
                              v, v, base)));
}

const char *cg_copy_name(struct cg *cg, const struct cg_private *p)
{
    return p->section ? cg_strf(cg, "(*__p_%s)", p->var->name) : p->var->name;
}
const char *cg_bind_section(struct cg *cg, const struct cg_private *p) { return bind_copy(cg, p); }

void cg_pieces_free(struct cg *cg, const struct cg_privates *p)
{
    if (!in_arena(p) || !any_large(p))
        return;
    cg_line(
        cg,
        "if (__copies) __ompgpu_copy_free(__sequential, __copy, __copies / __OMPGPU_COPY_UNIT);");
    cg->copies_below = p->below;
}

/* ------------------------------------------------------------------ pieces */
void cg_pieces_functions(struct cg *cg, const struct cg_privates *p, const struct cg_private *k)
{
    const char *e = element(cg, k), *name = cg_strf(cg, "%s__%s", p->base, k->var->name);
    unsigned n = piece(k->elem);
    if (cg_in_columns(p, k)) {
        cg_put(cg,
               "__OMPGPU_INLINE void __combine_%s(void *__p, const void *__q) { %s *__a = __p; "
               "const %s *__b = __q; %s }\n",
               name, e, e, cg_combine(cg, k, "(*__a)", "(*__b)"));
        return;
    }
    cg_put(cg,
           "struct __red_%s { %s v[%u]; };\n__OMPGPU_INLINE void __combine_%s(void *__p, const "
           "void *__q)\n",
           name, e, n, name);
    cg_put(cg,
           "{ struct __red_%s *__a = __p; const struct __red_%s *__b = __q; for (unsigned __k = 0; "
           "__k < %u; __k++) %s }\n",
           name, name, n, cg_combine(cg, k, "__a->v[__k]", "__b->v[__k]"));
}

/* Opens a brace: for each piece. */
static void open_loop(struct cg *cg, const struct cg_privates *p, const struct cg_private *k,
                      bool load)
{
    const char *v = k->var->name;
    cg_line(
        cg,
        "for (unsigned long __i = 0; __i < __e_%s; __i += %u) { struct __red_%s__%s __rec, __tmp;",
        v, piece(k->elem), p->base, v);
    if (load) /* past the end: the last element again, so that combiners only see values that exist
               */
        cg_line(cg,
                "for (unsigned __k = 0; __k < %u; __k++) __rec.v[__k] = __p_%s[__i + __k < __e_%s "
                "? __i + __k : __e_%s - 1];",
                piece(k->elem), v, v, v);
}

static void update(struct cg *cg, const struct cg_private *k)
{
    const char *v = k->var->name;
    cg_line(cg, "for (unsigned __k = 0; __k < %u && __i + __k < __e_%s; __k++) %s", piece(k->elem),
            v, cg_combine(cg, k, cg_strf(cg, "__o_%s[__i + __k]", v), "__rec.v[__k]"));
}

static void update_all(struct cg *cg, const struct cg_private *k)
{
    const char *v = k->var->name;
    cg_line(cg, "for (unsigned long __i = 0; __i < __e_%s; __i++) %s", v,
            cg_combine(cg, k, cg_strf(cg, "__o_%s[__i]", v), cg_strf(cg, "__p_%s[__i]", v)));
}

/* ------------------------------------------------------------------ finishing */
/* One thread of a team has the result of `count` elements from `first` on in `values`; `direct`
 * combines them into the original. */
static void update_original(struct cg *cg, const struct cg_privates *p, const struct cg_private *k,
                            void (*direct)(struct cg *, const struct cg_private *),
                            const char *first, const char *values, const char *count)
{
    if (k->owner == CG_OF_LEAGUE) {
        cg_line(cg, "if (__deferred)");
        cg_deferred_add_array(cg, p, k, first, values, count);
        cg_put(cg, " else {");
    } else if (k->owner == CG_OF_UNKNOWN) {
        cg_line(cg, "{ __ompgpu_critical_begin(&%s);", p->lock);
    }
    direct(cg, k);
    if (k->owner == CG_OF_UNKNOWN)
        cg_put(cg, " __ompgpu_critical_end(&%s);", p->lock);
    cg_puts(cg, k->owner == CG_OF_TEAM ? "" : " }");
}

/* Behind the last array. */
static void end_deferred(struct cg *cg, const struct cg_privates *p)
{
    if (p->deferred && p->pieces)
        cg_line(cg,
                "if (__deferred && __ompgpu_thread_id() == 0) __ompgpu_deferred_end(__deferred);");
}

void cg_pieces_update_all(struct cg *cg, const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        const char *v = p->list[i].var->name;
        if (p->list[i].pieces)
            update_original(cg, p, &p->list[i], update_all, "0", cg_strf(cg, "__p_%s", v),
                            cg_strf(cg, "__e_%s", v));
    }
    end_deferred(cg, p);
}

/* The record, if there is one, had the first rounds. */
static void declare_turn(struct cg *cg, const struct cg_privates *p)
{
    cg_line(cg,
            p->record ? "unsigned __turn = __OMPGPU_ROUNDS(sizeof(%s) - %u);"
                      : "unsigned __turn = 0;",
            p->record, p->padding);
}
static const char *rounds = "__OMPGPU_ROUNDS(sizeof __rec)";

/* ------------------------------------------------------------------ columns */
static bool any_columns(const struct cg_privates *p)
{
    for (unsigned i = 0; i < p->n; i++)
        if (cg_in_columns(p, &p->list[i]))
            return true;
    return false;
}

/* All copies in the memory of the team, which then may read them.  In the team's storage the
 * threads' are `distance` bytes apart. */
static void gather_copies(struct cg *cg, const struct cg_privates *p)
{
    const char *at = "0";
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        const char *v = k->var->name;
        if (!cg_in_columns(p, k))
            continue;
        cg_line(cg, "const unsigned long __c_%s = %s;", v, at);
        if (!is_constant(k))
            cg_put(cg,
                   " if (__e_%s <= %llu) { %s *__to = (%s *)(__copy + __c_%s); for (unsigned long "
                   "__i = 0; __i < __e_%s; __i++) "
                   "__to[__i] = __p_%s[__i]; }",
                   v, fits(k->var->type, k->elem), element(cg, k), element(cg, k), v, v, v);
        at = cg_strf(cg, "%s + %s", at,
                     copy_bytes(cg, k->var->type, k->elem, cg_strf(cg, "__e_%s", v)));
    }
    if (p->slices)
        cg_line(cg, "char *const __rows = __ompgpu_team_copies(__env, __stride, __copies); const "
                    "unsigned long __distance = __copies;");
    else
        cg_line(cg, "const unsigned long __distance = __ompgpu_copy_distance(); "
                    "char *const __rows = __copy - (unsigned)__ompgpu_thread_id() * __distance;");
    cg_line(cg, "__ompgpu_barrier(%u);", cg->place.line);
}

/* Combines the rows from `first` on; `use` is what a thread does with the result __rec for element
 * __i. */
static void columns(struct cg *cg, const struct cg_privates *p, const struct cg_private *k,
                    const char *first, const char *distance, const char *rows, const char *use)
{
    const char *e = element(cg, k), *v = k->var->name,
               *combine = cg_strf(cg, "sizeof __rec, __combine_%s__%s", p->base, v);
    cg_line(cg, "{ char *const __first = (char *)%s; %s __rec, __tmp;", first, e);
    cg_line(cg,
            "const unsigned __rows = __ompgpu_fold_rows(__first, %s, (unsigned)%s, __e_%s, &__rec, "
            "&__tmp, %s);",
            distance, rows, v, combine);
    cg_line(cg,
            "for (unsigned long __i = (unsigned)__ompgpu_thread_id(); __i < __e_%s; __i += "
            "(unsigned)__ompgpu_num_threads()) {",
            v);
    cg_line(cg, "__ompgpu_column(&__rec, &__tmp, __first + __i * sizeof __rec, %s, __rows, %s);",
            distance, combine);
    cg_line(cg, "%s } }", use);
}

static const char *team_copies(struct cg *cg, const struct cg_private *k)
{
    return cg_strf(cg, "__rows + __c_%s", k->var->name);
}

static const char *update_element(struct cg *cg, const struct cg_private *k)
{
    return cg_combine(cg, k, cg_strf(cg, "__o_%s[__i]", k->var->name), "__rec");
}

static const char *update_by_team(struct cg *cg, const struct cg_privates *p,
                                  const struct cg_private *k)
{
    const char *direct = update_element(cg, k);
    return k->owner == CG_OF_LEAGUE ? cg_strf(cg, "if (__deferred) %s else { %s }",
                                              cg_deferred_put_element(cg, p, k), direct)
                                    : direct;
}

static void columns_parallel(struct cg *cg, const struct cg_privates *p)
{
    if (!any_columns(p))
        return;
    if (p->deferred) /* asked by all threads, before the barrier in front of their updates, behind
                        which thread 0 may set it */
        cg_line(cg, "const _Bool __used = __deferred && __ompgpu_deferred_used(__deferred);");
    gather_copies(cg, p);
    for (unsigned i = 0; i < p->n; i++)
        if (cg_in_columns(p, &p->list[i]))
            columns(cg, p, &p->list[i], team_copies(cg, &p->list[i]), "__distance",
                    "__ompgpu_num_threads()", update_by_team(cg, p, &p->list[i]));
}

void cg_pieces_parallel(struct cg *cg, const struct cg_privates *p)
{
    if (p->pieces)
        declare_turn(cg, p);
    columns_parallel(cg, p);
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (!k->pieces || cg_in_columns(p, k))
            continue;
        const char *left = cg_strf(cg, "__e_%s - __i", k->var->name),
                   *n = cg_strf(cg, "(%s < %u ? %s : %u)", left, piece(k->elem), left,
                                piece(k->elem));
        open_loop(cg, p, k, true);
        cg_line(
            cg,
            "if (__ompgpu_reduce_piece(&__rec, &__tmp, sizeof __rec, __combine_%s__%s, __turn)) {",
            p->base, k->var->name);
        update_original(cg, p, k, update, "__i", "__rec.v", n);
        cg_put(cg, " } __turn += %s; }", rounds);
    }
    end_deferred(cg, p);
}

/* One round over the record and all pieces. */
static void round(struct cg *cg, const struct cg_privates *p, const char *who, bool put)
{
    cg_line(cg, "__at = 0, __turn = 0;");
    if (p->record && !p->atomic) {
        cg_line(cg, "{");
        if (put)
            cg_load_record(cg, p);
        else
            cg_put(cg, " %s __rec, __tmp;", p->record);
        cg_line(cg,
                put ? "__ompgpu_%s_put(__env, &__rec, &__tmp, sizeof __rec, __combine_%s, __at, "
                      "__stride, __turn);"
                    : "if (__ompgpu_%s_get(__env, &__rec, &__tmp, sizeof __rec, __combine_%s, "
                      "__at, __stride, __turn)) {",
                who, p->base);
        if (!put) {
            cg_update_record_items(cg, p, "__rec.", CG_OF_TEAM);
            cg_puts(cg, " }");
        }
        cg_put(cg, " __at = (sizeof __rec + 15) & ~15ul, __turn = %s; }", rounds);
    }
    for (unsigned i = 0; i < p->n; i++) {
        const struct cg_private *k = &p->list[i];
        if (!k->pieces)
            continue;
        if (cg_in_columns(p, k)) {
            const char *e = element(cg, k);
            if (put)
                columns(cg, p, k, team_copies(cg, k), "__distance", "__ompgpu_num_threads()",
                        cg_strf(cg,
                                "((%s *)((char *)__ompgpu_slot(__env, __stride, "
                                "(unsigned)__ompgpu_team_id()) + __at))[__i] = __rec;",
                                e));
            else
                columns(cg, p, k, "__ompgpu_slot(__env, __stride, 0) + __at", "__stride",
                        "__ompgpu_num_teams()", update_element(cg, k));
            cg_put(cg, " __at += %s;", bytes_of(cg, k->elem, cg_strf(cg, "__e_%s", k->var->name)));
            continue;
        }
        open_loop(cg, p, k, put);
        cg_line(cg,
                put ? "__ompgpu_%s_put(__env, &__rec, &__tmp, sizeof __rec, __combine_%s__%s, "
                      "__at, __stride, __turn);"
                    : "if (__ompgpu_%s_get(__env, &__rec, &__tmp, sizeof __rec, __combine_%s__%s, "
                      "__at, __stride, __turn)) {",
                who, p->base, k->var->name);
        if (!put) {
            update(cg, k);
            cg_puts(cg, " }");
        }
        cg_put(cg, " __at += %llu, __turn += %s; }", rounded(piece(k->elem) * k->elem->size),
               rounds);
    }
}

static const char *bytes_of(struct cg *cg, const struct omp_type *e, const char *count)
{
    return cg_strf(cg, "(%s + %u) / %u * %llu", count, piece(e) - 1, piece(e),
                   rounded(piece(e) * e->size));
}

void cg_pieces_league(struct cg *cg, const struct cg_privates *p)
{
    const char *who = p->finish == CG_LEAGUE ? "league" : "teams";
    cg_line(cg, "unsigned long __at; unsigned __turn;");
    if (any_columns(p))
        gather_copies(cg, p);
    round(cg, p, who, true);
    if (any_columns(p)) /* a team arrives when all of its threads have stored */
        cg_line(cg, "__ompgpu_barrier(%u);", cg->place.line);
    cg_line(cg, "if (__ompgpu_%s_last(__env)) {",
            p->entries && (!p->reduction || p->atomic) ? "deferred" : who);
    round(cg, p, who, false);
    if (p->entries)
        cg_get_entries(cg);
    cg_puts(cg, " }");
}

/* ------------------------------------------------------------------ host */
static const struct omp_sharing *inner_sharing(const struct cg_plan *p, unsigned i, unsigned j)
{
    const struct omp_sharing *s = &p->chain[i]->sharings[j];
    for (unsigned k = i + 1; k < p->nchain; k++) {
        const struct omp_sharing *in = cg_sharing(p->chain[k], s->var);
        if (in && in->share != OMPSH_SHARED)
            return NULL; /* counted there */
    }
    return s;
}

static const char *add(struct cg *cg, const char *sum, const char *bytes)
{
    return sum ? cg_strf(cg, "%s + %s", sum, bytes) : bytes;
}

const char *cg_count(struct cg *cg, const struct omp_sharing *s)
{
    if (!s || s->share != OMPSH_REDUCTION || !cg_in_pieces(s))
        return NULL;
    const char *size = s->item && s->item->nsections
                           ? cg_span_of(cg, s->item).size
                           : cg_strf(cg, "sizeof(%s)", cg_spell(cg, s->var));
    return cg_strf(cg, "((%s) / %llu)", size, (unsigned long long)cg_reduced(s)->size);
}

const char *cg_reduce_bytes(struct cg *cg, const struct cg_plan *p)
{
    const char *sum = NULL, *n;
    if (!p->reduction)
        return NULL;
    if (!p->spmd)
        for (unsigned i = 0; i < p->teams->nsharings; i++)
            if ((n = cg_count(cg, &p->teams->sharings[i])))
                sum = add(cg, sum, bytes_of(cg, cg_reduced(&p->teams->sharings[i]), n));
    for (unsigned i = 0; p->spmd && i < p->nchain; i++)
        for (unsigned j = 0; j < p->chain[i]->nsharings; j++)
            if ((n = cg_count(cg, inner_sharing(p, i, j))))
                sum = add(cg, sum, bytes_of(cg, cg_reduced(&p->chain[i]->sharings[j]), n));
    const char *entries = cg_entries_arrays(cg, p);
    return entries ? add(cg, sum, entries) : sum;
}

const char *cg_copy_bytes(struct cg *cg, const struct cg_plan *p)
{
    const char *sum = NULL, *n;
    for (unsigned i = 0; p->spmd && i < p->nchain; i++)
        for (unsigned j = 0; j < p->chain[i]->nsharings; j++) {
            const struct omp_sharing *s = &p->chain[i]->sharings[j];
            if ((n = cg_count(cg, inner_sharing(p, i, j))))
                sum = add(cg, sum, copy_bytes(cg, s->var->type, cg_reduced(s), n));
        }
    return sum;
}

/* ---------------------------------------------------- what the host can foresee of other copies */
/* Text of variables, numbers and + - * alone.  *host: variables whose value at the launch is that
 * in the region. */
static bool is_simple(const struct cg *cg, struct omp_extent e, bool *host)
{
    const struct omp_unit *u = cg->unit;
    unsigned names = 0, refs = 0;
    for (unsigned i = e.begin; i < e.end; i++) {
        char c = u->text[i], before = i > e.begin ? u->text[i - 1] : ' ';
        bool word = c == '_' || isalnum((unsigned char)c),
             inside = before == '_' || isalnum((unsigned char)before);
        if (!word && !strchr(" \t\n()+-*", c))
            return false;
        names += word && !inside && !isdigit((unsigned char)c);
    }
    for (unsigned i = cg_first_ref(u, e.begin); i < u->nrefs && u->refs[i].offset < e.end;
         i++, refs++) {
        const struct omp_var *v = u->refs[i].var;
        *host = *host && v->type->kind == OMPT_INT && cg->target &&
                v->decl < cg->target->pragma.begin && !cg_is_written(u, cg_whole(cg->target), v);
    }
    *host = *host && names == refs;
    return true;
}

/* Bytes of the copy of a section; NULL: the expression is not one to write twice.  *host: it means
 * the same at the launch. */
static const char *bytes_of_section(struct cg *cg, const struct omp_sharing *s, bool *host)
{
    const struct omp_type *t = s->item && s->item->base_type ? s->item->base_type : s->var->type;
    const char *bytes = "";
    *host = true;
    if (!s->item || !s->item->nsections)
        return NULL;
    for (unsigned i = 0; i < s->item->nsections && t; i++, t = t->elem) {
        const struct omp_section *k = &s->item->sections[i];
        if (!k->is_section)
            continue;
        if (cg_empty(k->length.extent) ? !k->dim : !is_simple(cg, k->length.extent, host))
            return NULL;
        bytes = cg_empty(k->length.extent)
                    ? cg_strf(cg, "%s%lluul * ", bytes, (unsigned long long)k->dim)
                    : cg_strf(cg, "%s(unsigned long)(%s) * ", bytes, cg_expr(cg, k->length.extent));
    }
    return t && t->size && !t->variably_modified
               ? cg_strf(cg, "%s%lluul", bytes, (unsigned long long)t->size)
               : NULL;
}

static const char *own_bytes(struct cg *cg, const struct omp_construct *c)
{
    const char *sum = NULL, *n;
    bool host;
    for (unsigned i = 0; i < c->nsharings; i++)
        if (c->sharings[i].share == OMPSH_REDUCTION && cg_in_pieces(&c->sharings[i]) &&
            (n = bytes_of_section(cg, &c->sharings[i], &host)) && host)
            sum = add(cg, sum, cg_strf(cg, "((%s + 15) & ~15ul)", n));
    return sum;
}

static bool inner_bytes(struct cg *cg, const struct cg_plan *p, const struct omp_construct *first,
                        const char *outer, bool any)
{
    for (const struct omp_construct *c = first; c; c = c->next) {
        /* by cg_reduce_bytes */
        bool counted = c == p->teams && !(c->leaves & OMPL_PARALLEL);
        for (unsigned i = 0; p->spmd && i < p->nchain; i++)
            counted = counted || c == p->chain[i];
        const char *own = counted ? NULL : own_bytes(cg, c),
                   *sum = own ? add(cg, outer, own) : outer;
        if (own)
            cg_line(cg, "%s{ const unsigned long __n = %s; if (__n > __omp_k) __omp_k = __n; }",
                    any ? "" : "unsigned long __omp_k = 0; ", sum);
        any = inner_bytes(cg, p, c->child, sum, any || own);
    }
    return any;
}

/* Writes statements; the name of a variable. */
const char *cg_inner_bytes(struct cg *cg, const struct omp_construct *target,
                           const struct cg_plan *p)
{
    const struct omp_construct *outer = cg->target;
    cg->target = target;
    bool itself = !p->spmd && (target != p->teams || (p->leaves & OMPL_PARALLEL));
    const char *own = itself ? own_bytes(cg, target) : NULL;
    if (own)
        cg_line(cg, "unsigned long __omp_k = %s;", own);
    bool any = inner_bytes(cg, p, target->child, own, own != NULL);
    cg->target = outer;
    return any ? "__omp_k" : NULL;
}
