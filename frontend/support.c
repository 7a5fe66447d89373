/* support.c - what the device part cannot do (yet) is an error that names the construct or clause
 * and its place.
 *
 * All of it is in tables: roles in omp.def, rows in support.def.  What needs a look at types or
 * surroundings has a function here; a few rows are found where another pass reads the text.  Host
 * code is not looked at: clang compiles it as it always does. */
#include "driver/base/text.h"
#include "frontend/fe.h"
#include <string.h>

static const char *const messages[] = {
#define UNSUPPORTED(id, message) [UNSUPPORTED_##id] = message,
#include "frontend/support.def"
};

void fe_unsupported(struct fe *fe, struct omp_place place, enum fe_unsupported what, const char *a,
                    const char *b)
{
    fe_error_at(fe, place, messages[what], a, b);
}

/* Target constructs are host code themselves, but their clauses and leaves are ours. */
static bool is_ours(const struct omp_construct *c)
{
    return c->on_device || (c->leaves & OMPL_TARGET);
}

/* ------------------------------------------------------------------ clauses by table */
static const struct clause_rule {
    enum omp_clause_kind kind;
    enum omp_keyword keyword;
    unsigned leaves;
    enum { IN_FILE, IN_TARGETS, IN_DEVICE } where;
    const char *message;
} clause_rules[] = {
#define UNSUPPORTED_CLAUSE(clause, keyword, leaves, where, message)                                \
    { OMPC_##clause, OMPK_##keyword, leaves, IN_##where, message },
#include "frontend/support.def"
};

static bool breaks_rule(const struct clause_rule *r, const struct omp_construct *c,
                        const struct omp_clause *k)
{
    if (k->kind != r->kind || (r->keyword && k->keyword != r->keyword) || !(c->leaves & r->leaves))
        return false;
    return r->where == IN_FILE || (r->where == IN_TARGETS ? is_ours(c) : c->on_device);
}

/* Copies of arrays lie in memory of the launch or the team. */
static bool is_reduced_array(const struct omp_construct *c, const struct omp_var *v)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        for (unsigned i = 0; k->kind == OMPC_REDUCTION && i < k->nitems; i++)
            if (v && k->items[i].var == v)
                return v->type->kind == OMPT_ARRAY || v->type->kind == OMPT_POINTER;
    return false;
}

static void check_allocators(struct fe *fe, const struct omp_construct *c,
                             const struct omp_clause *k)
{
    const char *name = fe_clause_rows[k->kind].spelling;
    if (k->kind == OMPC_USES_ALLOCATORS && k->value && k->nitems != 1)
        fe_unsupported(fe, k->place, UNSUPPORTED_SEVERAL_TRAITS, name, NULL);
    for (unsigned i = 0; k->kind == OMPC_ALLOCATE && is_ours(c) && k->expr.value && i < k->nitems;
         i++)
        if (is_reduced_array(c, k->items[i].var))
            fe_unsupported(fe, k->items[i].place, UNSUPPORTED_ALIGNED_REDUCTION, name,
                           k->items[i].var->name);
}

static void check_clause(struct fe *fe, const struct omp_construct *c, const struct omp_clause *k)
{
    for (unsigned i = 0; i < sizeof clause_rules / sizeof *clause_rules; i++)
        if (breaks_rule(&clause_rules[i], c, k))
            fe_error_at(fe, k->place, "%s", clause_rules[i].message);
    check_allocators(fe, c, k);
}

enum { ANY_TYPE, INTEGER, SCALAR };
static const unsigned char argument_types[OMPC_COUNT] = {
    [OMPC_PRIORITY] = INTEGER,  [OMPC_GRAPH_ID] = INTEGER, [OMPC_TRANSPARENT] = INTEGER,
    [OMPC_NUM_TEAMS] = INTEGER, [OMPC_NOWAIT] = SCALAR,    [OMPC_GRAPH_RESET] = SCALAR,
    [OMPC_REPLAYABLE] = SCALAR, [OMPC_INDIRECT] = SCALAR,  [OMPC_IF] = SCALAR,
};

void fe_check_argument(struct fe *fe, enum omp_clause_kind kind, struct omp_place place,
                       const struct omp_type *t)
{
    const char *name = fe_clause_rows[kind].spelling;
    bool number =
        t->kind == OMPT_INT || t->kind == OMPT_BOOL || t->kind == OMPT_OTHER; /* _BitInt */
    if (argument_types[kind] == INTEGER && !number)
        fe_error_at(fe, place, "argument of clause '%s' must be an integer", name);
    else if (argument_types[kind] == SCALAR && t->kind == OMPT_RECORD)
        fe_error_at(fe, place, "argument of clause '%s' must be a scalar", name);
}

/* Those that clang does not know there: it checks a text without them (rejected.c), or as one of
 * OpenMP 5.1, in which nowait has no argument. */
static void check_hidden(struct fe *fe, const struct omp_construct *c, const struct omp_clause *k)
{
    bool target = c->host_region || (c->leaves & OMPL_TARGET),
         value = (k->kind == OMPC_PRIORITY || k->kind == OMPC_NOWAIT) &&
                 (target || (c->leaves & OMPL_DATA)),
         device_type = k->kind == OMPC_DEVICE_TYPE && target;
    if (!value && !device_type)
        return;
    for (const struct omp_clause *other = c->clauses; other != k; other = other->next)
        if (other->kind == k->kind) {
            fe_error_at(fe, k->place,
                        "directive '#pragma omp %s' cannot contain more than one '%s' clause",
                        c->spelling, fe_clause_rows[k->kind].spelling);
            return;
        }
    const struct omp_type *t = k->expr.type;
    const char *name = fe_clause_rows[k->kind].spelling;
    bool lone = k->kind == OMPC_NOWAIT && k->extent.end - k->extent.begin == strlen(name);
    if (value && !lone && !t)
        fe_error_at(fe, k->place, "argument of clause '%s' is no expression", name);
    else if (value && !lone)
        fe_check_argument(fe, k->kind, k->place, t);
    if (device_type && k->keyword == OMPK_NONE)
        fe_error_at(fe, k->place, "'device_type' needs 'host', 'nohost' or 'any'");
}

/* ------------------------------------------------------------------ list items */
static void check_linear(struct fe *fe, const struct omp_construct *c, const struct omp_clause *k)
{
    for (unsigned i = 0; is_ours(c) && i < k->nitems; i++) {
        const struct omp_var *v = k->items[i].var;
        if (v && v->type->kind != OMPT_INT && v->type->kind != OMPT_BOOL &&
            v->type->kind != OMPT_POINTER)
            fe_error_at(fe, k->items[i].place,
                        "'linear' variable '%s' is neither an integer nor a pointer", v->name);
    }
}

/* An item that could not be read would be left out silently. */
static void check_items(struct fe *fe, const struct omp_construct *c, const struct omp_clause *k)
{
    bool translated = k->kind == OMPC_USE_DEVICE_PTR || k->kind == OMPC_USE_DEVICE_ADDR ||
                      k->kind == OMPC_HAS_DEVICE_ADDR || k->kind == OMPC_IS_DEVICE_PTR;
    for (unsigned i = 0;
         (is_ours(c) || (c->leaves & OMPL_DATA) || c->directive == OMPDIR_DECLARE_MAPPER) &&
         i < k->nitems;
         i++) {
        const struct omp_item *it = &k->items[i];
        if (!it->var || !it->base_type)
            fe_unsupported(fe, it->place, UNSUPPORTED_LIST_ITEM, fe_text(fe, it->text),
                           fe_clause_rows[k->kind].spelling);
        else if (translated && !it->base_is_var)
            fe_unsupported(fe, it->place, UNSUPPORTED_USE_DEVICE_ITEM, fe_text(fe, it->text),
                           fe_clause_rows[k->kind].spelling);
        else if (fe_clause_rows[k->kind].arg != ARG_REDUCE && fe_bad_section(it))
            fe_error_at(fe, it->place, "'%s' in '%s': %s", fe_text(fe, it->text),
                        fe_clause_rows[k->kind].spelling, fe_bad_section(it));
    }
}

/* ------------------------------------------------------------------ directives */
static void check_variant(struct fe *fe, const struct fe_pragma *p)
{
    const char *word =
        fe->u->ntargets && !fe_is_system(fe, p->extent.begin) ? fe_variant_unknown(fe, p) : NULL;
    if (word)
        fe_unsupported(fe, p->c->place, UNSUPPORTED_RUN_TIME_VARIANT, p->c->spelling, word);
}

/* Where automatic variables lie is decided by what reaches them; an allocator changes nothing that
 * the program could see.  But a static variable would become one for each team or thread. */
static void check_allocate(struct fe *fe, const struct fe_pragma *p)
{
    if (p->c->directive != OMPDIR_ALLOCATE || !p->c->on_device)
        return;
    for (unsigned k = p->clauses_at; k < p->ntokens && fe->u->text[p->tokens[k].begin] != ')';
         k++) {
        const struct fe_token *t = &p->tokens[k];
        const struct omp_ref *n = fe_ref_at(fe, t->begin);
        if (n && (n->var->storage == OMPS_GLOBAL || n->var->storage == OMPS_STATIC_LOCAL))
            fe_unsupported(fe, fe_place(fe->u, t->begin), UNSUPPORTED_STATIC_ALLOCATE, n->var->name,
                           NULL);
    }
}

/* The name of a directive that the word is nearly, with 0 as `first` or of a clause; NULL: none. */
static const char *word_meant(const char *word, unsigned first)
{
    enum { FAR = 3 };
    size_t n = strlen(word);
    unsigned nearest = n / 2 < FAR ? (unsigned)n / 2 : FAR;
    const char *best = NULL, *s;
    for (unsigned i = first; i < OMPC_COUNT + OMPDIR_COUNT; i++) {
        s = i < OMPC_COUNT ? fe_clause_rows[i].spelling
                           : fe_directive_rows[i - OMPC_COUNT].spelling;
        unsigned d = s ? text_distance(word, n, s, strlen(s), nearest) : nearest;
        if (d && d < nearest) {
            best = s;
            nearest = d;
        }
    }
    return best;
}

/* Clang says that the directive is unknown; not which one was meant. */
void fe_check_name(struct fe *fe, const struct fe_pragma *p)
{
    const struct fe_token *t = p->tokens;
    if (!p->ntokens || t->kind != TOK_IDENT)
        return;
    const char *word = fe_text(fe, (struct omp_extent){ t->begin, t->end }),
               *meant = word_meant(word, OMPC_COUNT);
    if (meant)
        fe_error(fe, t->begin, "unknown OpenMP directive '%s'; did you mean '%s'?", word, meant);
}

static bool extra_tokens;
bool fe_found_extra_tokens(void) { return extra_tokens; }

/* ours: else clang has the say, but for words that it ignores and that are nearly right. */
void fe_say_unexpected(struct fe *fe, const struct fe_pragma *p, bool ours)
{
    const struct fe_token *t = p->tokens;
    while (t->begin < p->unexpected)
        t++;
    const char *word = fe_text(fe, (struct omp_extent){ t->begin, t->end });
    unsigned value;
    bool is_name = t->kind == TOK_IDENT,
         known = fe_clause_named(fe, t) != OMPC_COUNT ||
                 fe_word(WORDS_CLANG_CLAUSE, word, strlen(word), &value);
    const char *meant = is_name && !known ? word_meant(word, 0) : NULL;
    if (meant || ours)
        fe_error(fe, p->unexpected, "unexpected %s'%s' in directive '#pragma %s%s'%s",
                 is_name ? "OpenMP clause " : "", word, fe_is_spread(p) ? "" : "omp ",
                 p->c->spelling, meant ? arena_printf(fe->a, "; did you mean '%s'?", meant) : "");
}

/* ------------------------------------------------------------------ variables */
static bool points_to_function(const struct fe *fe, const struct omp_var *v)
{
    CXType t = clang_getCanonicalType(fe->var_types.at[v->id]);
    if (t.kind == CXType_ConstantArray)
        t = clang_getCanonicalType(clang_getArrayElementType(t));
    if (t.kind != CXType_Pointer)
        return false;
    enum CXTypeKind k = clang_getCanonicalType(clang_getPointeeType(t)).kind;
    return k == CXType_FunctionProto || k == CXType_FunctionNoProto;
}

static bool indirect;
void fe_set_indirect(void) { indirect = true; }

/* A host function's address means nothing on the device. */
static void check_function_pointers(struct fe *fe, const struct omp_construct *c)
{
    if (indirect)
        return;
    FE_EACH(r, fe->refs, c->body) {
        const struct omp_var *v = r->var;
        if (fe_inside(v->decl, c->body) || v->declare_target != OMPV_NOT_DECLARED ||
            !points_to_function(fe, v))
            continue;
        fe_unsupported(fe, fe_place(fe->u, r->offset), UNSUPPORTED_FUNCTION_POINTER, v->name, NULL);
        return;
    }
}

void fe_check_directives(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        struct fe_pragma *p = &fe->pragmas.at[i];
        for (const struct omp_clause *k = p->c->clauses; k; k = k->next) {
            check_clause(fe, p->c, k);
            check_hidden(fe, p->c, k);
            check_items(fe, p->c, k);
            if (k->kind == OMPC_LINEAR)
                check_linear(fe, p->c, k);
        }
        check_variant(fe, p);
        extra_tokens |= p->unexpected != 0;
        if (p->unexpected)
            fe_say_unexpected(fe, p,
                              is_ours(p->c) || p->c->host_region ||
                                  (p->c->leaves & (OMPL_TARGET | OMPL_DATA | OMPL_DECLARE_TARGET)));
        check_allocate(fe, p);
        if (p->c->leaves & OMPL_TARGET)
            check_function_pointers(fe, p->c);
    }
}

/* ------------------------------------------------------------------ by role */
static const char *unsupported_name(const struct fe_pragma *p)
{
    for (unsigned i = 0; i < p->nnames; i++)
        if (fe_directive_rows[p->names[i]].role == OMPROLE_UNSUPPORTED)
            return p->c->spelling;
    return NULL;
}

/* The device's version of the function ends the program there (codegen/c/device/construct.c). */
static void warn_of_host_construct(struct fe *fe, const struct omp_construct *c)
{
    const struct omp_construct *around = c->parent;
    while (around && !fe_needs_host(around))
        around = around->parent;
    if (c->function && c->function->device && fe_needs_host(c) && !around)
        fe_report(fe->u, c->place, DIAG_WARNING,
                  "'%s' is in '%s', which regions on the device call, too: one that reaches the "
                  "construct ends the program",
                  c->spelling, c->function->name);
}

static void check_directive(struct fe *fe, const struct fe_pragma *p)
{
    const struct omp_construct *c = p->c;
    warn_of_host_construct(fe, c);
    if (!c->on_device || (c->leaves & OMPL_DECLARE_TARGET)) /* that declares, and does nothing */
        return;
    if ((c->leaves & OMPL_TARGET) || c->host_region)
        fe_unsupported(fe, c->place, UNSUPPORTED_NESTED_TARGET, c->spelling, NULL);
    else if (unsupported_name(p))
        fe_unsupported(fe, c->place, UNSUPPORTED_DIRECTIVE, c->spelling, NULL);
    else if (!p->nnames)
        fe_unsupported(fe, c->place, UNSUPPORTED_UNKNOWN_DIRECTIVE, c->spelling, NULL);
}

static void check_clauses(struct fe *fe, const struct omp_construct *c)
{
    for (const struct omp_clause *k = c->clauses; k && is_ours(c); k = k->next) {
        if (fe_clause_rows[k->kind].role == OMPROLE_UNSUPPORTED)
            fe_unsupported(fe, k->place, UNSUPPORTED_CLAUSE, fe_clause_rows[k->kind].spelling,
                           c->spelling);
        if (fe_clause_rows[k->kind].arg == ARG_REDUCE)
            fe_check_reduction(fe, c, k);
    }
}

/* ------------------------------------------------------------------ program text */
static bool on_device(const struct fe *fe, unsigned offset)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++) {
        const struct omp_construct *c = fe->u->constructs[i];
        if ((c->leaves & OMPL_TARGET) && fe_inside(offset, c->body))
            return true;
    }
    for (unsigned i = 0; i < fe->functions.n; i++) {
        const struct omp_function *f = fe->functions.at[i]->f;
        if (f->device && f->defined && fe_inside(offset, f->extent))
            return !fe_is_left_to_host(f->constructs, offset);
    }
    return false;
}

static void check_marks(struct fe *fe)
{
    unsigned last = 0; /* one for each line is enough */
    for (unsigned i = 0; i < fe->marks.n; i++) {
        const struct fe_mark *m = &fe->marks.at[i];
        unsigned line = fe_place(fe->u, m->offset).line;
        if (line == last || (m->kind == MARK_LONG_DOUBLE && fe_has_long_double()) ||
            !on_device(fe, m->offset))
            continue;
        fe_unsupported(fe, fe_place(fe->u, m->offset),
                       m->kind == MARK_VARIABLE_ARGUMENT ? UNSUPPORTED_LONG_DOUBLE_ARGUMENT
                                                         : UNSUPPORTED_LANGUAGE,
                       m->what, NULL);
        last = line;
    }
}

static bool in_device_prototype(const struct fe *fe, unsigned offset)
{
    for (unsigned i = 0; i < fe->decls.n; i++)
        if (fe->decls.at[i].kind == OMPD_PROTOTYPE && fe->decls.at[i].device &&
            fe_inside(offset, fe->decls.at[i].extent))
            return true;
    return false;
}

static void find_not_for_nvptx(struct fe *fe)
{
    for (unsigned i = 0; i < fe->not_for_nvptx.n && !fe->u->not_for_nvptx; i++)
        fe->u->not_for_nvptx = on_device(fe, fe->not_for_nvptx.at[i]) ||
                               in_device_prototype(fe, fe->not_for_nvptx.at[i]);
}

static const struct omp_ref *find_use_on_device(const struct fe *fe, const struct omp_var *v)
{
    for (unsigned i = 0; i < fe->refs.n; i++)
        if (fe->refs.at[i].var == v && on_device(fe, fe->refs.at[i].offset))
            return &fe->refs.at[i];
    return NULL;
}

static void check_long_double(struct fe *fe)
{
    for (unsigned i = 0; i < fe->u->nconstructs; i++)
        if (fe->u->constructs[i]->leaves & OMPL_TARGET)
            fe_check_long_double(fe, fe->u->constructs[i]);
    for (unsigned i = 0; i < fe->vars.n; i++) {
        struct omp_var *v = fe->vars.at[i];
        const struct omp_ref *use = fe_shares_long_double(fe, v) ? find_use_on_device(fe, v) : NULL;
        if (use)
            fe_unsupported(fe, fe_place(fe->u, use->offset), UNSUPPORTED_SHARED_LONG_DOUBLE,
                           v->name, NULL);
    }
}

static void check_variables(struct fe *fe)
{
    for (unsigned i = 0; i < fe->vars.n; i++) {
        struct omp_var *v = fe->vars.at[i];
        bool thread = fe->var_flags.at[i] & (FE_VAR_THREADPRIVATE | FE_VAR_THREAD_LOCAL),
             moves = v->storage == OMPS_STATIC_LOCAL && fe_can_move(fe, v),
             group = v->declare_target == OMPV_DT_GROUP && !moves &&
                     (v->is_extern || v->storage != OMPS_GLOBAL);
        const struct omp_ref *use = thread || group ? find_use_on_device(fe, v) : NULL;
        if (use)
            fe_unsupported(fe, fe_place(fe->u, use->offset),
                           thread ? UNSUPPORTED_THREAD_LOCAL : UNSUPPORTED_GROUP_PRIVATE, v->name,
                           NULL);
    }
}

/* Names of generated code that the prefix does not keep apart: the interfaces of the runtimes. */
static void check_name(struct fe *fe, unsigned offset, const char *name)
{
    bool ours = !strncmp(name, "__ompgpu_", 9) || !strncmp(name, "__OMPGPU_", 9);
    ours &= !fe_is_device_function(name); /* frontend/lower has declared it */
    if (ours && !fe_is_system(fe, offset))
        fe_unsupported(fe, fe_place(fe->u, offset), UNSUPPORTED_NAME, name, NULL);
}

static void check_names(struct fe *fe)
{
    for (unsigned i = 0; i < fe->vars.n; i++)
        check_name(fe, fe->vars.at[i]->decl, fe->vars.at[i]->name);
    for (unsigned i = 0; i < fe->functions.n; i++)
        check_name(fe, fe->functions.at[i]->decl, fe->functions.at[i]->f->name);
    for (unsigned i = 0; i < fe->type_names.n; i++)
        check_name(fe, fe->type_names.at[i].offset, fe->type_names.at[i].name);
    for (unsigned i = 0; i < fe->localtypes.n; i++)
        check_name(fe, fe->localtypes.at[i].decl, fe->localtypes.at[i].old_name);
}

void fe_check_support(struct fe *fe)
{
    for (unsigned i = 0; i < fe->pragmas.n; i++) {
        check_directive(fe, &fe->pragmas.at[i]);
        check_clauses(fe, fe->pragmas.at[i].c);
    }
    check_names(fe);
    check_marks(fe);
    find_not_for_nvptx(fe);
    check_variables(fe);
    check_long_double(fe);
}
