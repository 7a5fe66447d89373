/* interop.c - `interop init(prefer_type(…), targetsync: o)`, and prefer_type in append_args.
 *
 * clang's code for the directive does not say what is preferred.  So the library is told before it:
 * a list for each `init`, as numbers and names, in their order.
 *
 * init(target: a, b), use(a, b) and destroy(a, b) are a clause for each object, as GCC has it.
 *
 * device(omp_initial_device), which is -1: clang takes no negative constant, and -1 is for the
 * library that there is no clause. */
#include "frontend/lower/lower.h"
#include <string.h>

/* ------------------------------------------------------------------ lists of objects */
/* The next clause from token k on whose argument has several; *objects: where they begin. */
static bool find_list(const struct fe *fe, const struct fe_pragma *p, unsigned k,
                      struct lower_argument *a, unsigned *objects)
{
    for (; k < p->ntokens; k = lower_end(p, a)) {
        enum omp_clause_kind kind = fe_clause_named(fe, &p->tokens[k]);
        *a = (struct lower_argument){ k, k + 1, k + 1 };
        if (!fe_word_at(fe, p, k + 1, "("))
            continue;
        *a = (struct lower_argument){ k, k + 2, fe_closing(fe, p, k + 1) };
        unsigned colon = fe_find_top(fe, p, a->begin, a->end, ":");
        *objects = kind == OMPC_INIT && colon < a->end ? colon + 1 : a->begin;
        if ((kind == OMPC_INIT || kind == OMPC_USE || kind == OMPC_DESTROY) &&
            fe_find_top(fe, p, *objects, a->end, ",") < a->end)
            return true;
    }
    return false;
}

bool lower_lists_objects(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    unsigned objects;
    return find_list(fe, p, p->clauses_at, &a, &objects);
}

void lower_objects(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct lower_argument a;
    const char *text = "omp";
    unsigned k = 0, objects;
    for (; find_list(fe, p, k ? k : p->clauses_at, &a, &objects); k = lower_end(p, &a)) {
        text = arena_printf(fe->a, "%s %s", text, lower_tokens(fe, p, k, a.at));
        for (unsigned x = objects, end; x < a.end; x = end + 1) {
            end = fe_find_top(fe, p, x, a.end, ",");
            text = arena_printf(fe->a, "%s %s %s)", text, lower_tokens(fe, p, a.at, objects),
                                lower_tokens(fe, p, x, end));
        }
    }
    text = arena_printf(fe->a, "%s %s", text, lower_tokens(fe, p, k, p->ntokens));
    fe_add_edit(fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                lower_line(fe, text, p->extent.end));
}

/* ------------------------------------------------------------------ the initial device */
bool lower_is_initial_device(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    if (!lower_find(fe, p, OMPC_DEVICE, p->clauses_at, &a))
        return false;
    const char *written = lower_tokens(fe, p, a.begin, a.end);
    return !strcmp(written, "-1") || !strcmp(written, "(-1)");
}

void lower_initial_device(struct lowering *l, struct fe_pragma *p)
{
    struct lower_argument a;
    lower_find(l->fe, p, OMPC_DEVICE, p->clauses_at, &a);
    unsigned begin = p->tokens[a.begin].begin;
    fe_add_edit(l->fe, &l->edits, begin, p->tokens[a.end - 1].end - begin,
                "({ extern int omp_get_initial_device(void); omp_get_initial_device(); })");
}

/* ------------------------------------------------------------------ preferences */
/* The token of that word and an opening parenthesis, outside of brackets, or `end`. */
static unsigned find_call(struct fe *fe, const struct fe_pragma *p, const char *word, unsigned k,
                          unsigned end)
{
    while (k < end && !(fe_word_at(fe, p, k, word) && fe_word_at(fe, p, k + 1, "("))) {
        unsigned next = fe_find_top(fe, p, k, end, ",");
        k = next < end ? next + 1 : end;
    }
    return k;
}

/* clang takes what is a `target` for that and for nothing else. */
static bool is_both(struct fe *fe, const struct fe_pragma *p, const struct lower_argument *a)
{
    unsigned colon = fe_find_top(fe, p, a->begin, a->end, ":"), types = 0;
    for (unsigned k = a->begin, next; k < colon; k = next + 1) {
        next = fe_find_top(fe, p, k, colon, ",");
        types |= fe_word_at(fe, p, k, "target") | fe_word_at(fe, p, k, "targetsync") << 1;
    }
    return types == 3;
}

static bool prefers(struct fe *fe, const struct fe_pragma *p, const struct lower_argument *a)
{
    return find_call(fe, p, "prefer_type", a->begin, a->end) < a->end;
}

bool lower_prefers(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    for (unsigned k = p->clauses_at; lower_find(fe, p, OMPC_INIT, k, &a);
         k = lower_after(fe, p, &a))
        if (prefers(fe, p, &a) || is_both(fe, p, &a))
            return true;
    return false;
}

/* A preference: an identifier, a string, or { fr(identifier or string), attr(...) }, whose
 * attributes are those of other implementations.  NULL: it names none. */
static const char *preferred(struct fe *fe, const struct fe_pragma *p, unsigned k, unsigned end,
                             bool *is_name)
{
    if (fe_word_at(fe, p, k, "{")) {
        k = find_call(fe, p, "fr", k + 1, end - 1);
        if (k == end - 1)
            return NULL;
        end = fe_closing(fe, p, k + 1);
        k += 2;
    }
    *is_name = p->tokens[k].kind == TOK_STRING;
    return lower_tokens(fe, p, k, end);
}

/* The call for what tokens [k, end) list. */
static const char *prefer(struct fe *fe, const struct fe_pragma *p, unsigned k, unsigned end)
{
    const char *numbers = "", *names = "";
    unsigned n = 0;
    for (unsigned next; k < end; k = next + 1) {
        bool name = false;
        next = fe_find_top(fe, p, k, end, ",");
        const char *text = preferred(fe, p, k, next, &name);
        if (!text)
            continue;
        n++;
        numbers = arena_printf(fe->a, "%s%s, ", numbers, name ? "0" : text);
        names = arena_printf(fe->a, "%s%s, ", names, name ? text : "0");
    }
    return arena_printf(
        fe->a, " %sinterop_prefer((const int[]){ %s0 }, (const char *const[]){ %s0 }, %u);",
        fe->u->prefix, numbers, names, n);
}

/* The modifiers as clang knows them, and the object. */
static const char *plain_init(struct fe *fe, const struct fe_pragma *p,
                              const struct lower_argument *a)
{
    unsigned colon = fe_find_top(fe, p, a->begin, a->end, ":");
    const char *text = "", *comma = "";
    for (unsigned k = a->begin, next; k < colon; k = next + 1) {
        next = fe_find_top(fe, p, k, colon, ",");
        if (fe_word_at(fe, p, k, "prefer_type") ||
            (fe_word_at(fe, p, k, "target") && is_both(fe, p, a)))
            continue;
        text = arena_printf(fe->a, "%s%s%s", text, comma, lower_tokens(fe, p, k, next));
        comma = ", ";
    }
    return arena_printf(fe->a, "init(%s %s)", text, lower_tokens(fe, p, colon, a->end));
}

void lower_interop(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct lower_argument a;
    const char *calls = "", *text = "omp";
    unsigned k = 0;
    while (lower_find(fe, p, OMPC_INIT, k, &a)) {
        unsigned at = find_call(fe, p, "prefer_type", a.begin, a.end);
        unsigned first = at < a.end ? at + 2 : 0, last = first ? fe_closing(fe, p, at + 1) : 0;
        calls = arena_printf(fe->a, "%s%s", calls, prefer(fe, p, first, last));
        text = arena_printf(fe->a, "%s %s %s", text, lower_tokens(fe, p, k, a.at),
                            plain_init(fe, p, &a));
        k = lower_after(fe, p, &a);
    }
    unsigned line = p->c->place.line;
    fe_add_edit(
        fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
        arena_printf(fe->a,
                     "\n# %u\n{ extern void %sinterop_prefer(const int *, const char *const "
                     "*, unsigned) __asm__(\"__ompgpu_interop_prefer\");%s\n# %u\n#pragma "
                     "%s %s\n}\n# %u\n",
                     line, fe->u->prefix, calls, line, text, lower_tokens(fe, p, k, p->ntokens),
                     fe_place(fe->u, p->extent.end).line));
}

/* ------------------------------------------------------------------ append_args */
/* The objects of append_args(interop(…), …) are made where the variant is called (dispatch.c);
 * clang, which has no prefer_type there, is told their types. */
bool lower_appends_preferred(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    if (p->c->directive != OMPDIR_DECLARE_VARIANT ||
        !lower_find(fe, p, OMPC_APPEND_ARGS, p->clauses_at, &a))
        return false;
    for (unsigned k = a.begin; k < a.end; k++)
        if (fe_word_at(fe, p, k, "prefer_type"))
            return true;
    return false;
}

/* interop(…) without it */
static const char *plain_types(struct fe *fe, const struct fe_pragma *p, unsigned k, unsigned end)
{
    const char *text = "", *comma = "";
    for (unsigned next; k < end; k = next + 1) {
        next = fe_find_top(fe, p, k, end, ",");
        if (fe_word_at(fe, p, k, "prefer_type"))
            continue;
        text = arena_printf(fe->a, "%s%s%s", text, comma, lower_tokens(fe, p, k, next));
        comma = ", ";
    }
    return arena_printf(fe->a, "interop(%s)", text);
}

void lower_append_args(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct lower_argument a;
    const char *text = "", *comma = "";
    lower_find(fe, p, OMPC_APPEND_ARGS, p->clauses_at, &a);
    for (unsigned k = a.begin, next; k < a.end; k = next + 1) {
        next = fe_find_top(fe, p, k, a.end, ",");
        text = arena_printf(fe->a, "%s%s%s", text, comma, plain_types(fe, p, k + 2, next - 1));
        comma = ", ";
    }
    const char *line = arena_printf(fe->a, "omp %s %s %s", lower_tokens(fe, p, 0, a.begin), text,
                                    lower_tokens(fe, p, a.end, p->ntokens));
    fe_add_edit(fe, &l->edits, p->extent.begin, p->extent.end - p->extent.begin,
                lower_line(fe, line, p->extent.end));
}
