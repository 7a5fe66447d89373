/* threads.c - num_threads with a list: how many threads each level of nested regions has.
 *
 *     parallel num_threads(4, 2)      { int threads[] = { 4, 2 };
 *                                       __kmpc_push_num_threads_list(0, …, 2, threads);
 *                                       parallel num_threads(threads[0]) … }
 *
 * The OpenMP library knows what to do with the list, clang 22 cannot say it.  On the device, where
 * inner regions have one thread, its function of that name does nothing; and of constructs that
 * begin before parallel does, whose list could reach another region, the first number counts. */
#include "frontend/lower/lower.h"

/* The numbers: tokens [*k, end) of the clause's argument. */
static bool find_list(struct fe *fe, const struct fe_pragma *p, struct lower_argument *a,
                      unsigned *k)
{
    if (!lower_find(fe, p, OMPC_NUM_THREADS, p->clauses_at, a))
        return false;
    bool modified = fe_word_at(fe, p, a->begin + 1, ":");
    *k = modified ? a->begin + 2 : a->begin;
    return fe_find_top(fe, p, *k, a->end, ",") < a->end;
}

bool lower_has_levels(struct fe *fe, const struct fe_pragma *p)
{
    struct lower_argument a;
    unsigned k;
    return find_list(fe, p, &a, &k);
}

static unsigned count_items(struct fe *fe, const struct fe_pragma *p, unsigned k, unsigned end)
{
    unsigned n = 0;
    for (; k < end; n++)
        k = fe_find_top(fe, p, k, end, ",") + 1;
    return n;
}

static void keep_first(struct lowering *l, const struct fe_pragma *p, unsigned k, unsigned end)
{
    unsigned comma = fe_find_top(l->fe, p, k, end, ","), begin = p->tokens[comma].begin;
    fe_add_edit(l->fe, &l->edits, begin, p->tokens[end - 1].end - begin, "");
}

static const char *push(struct fe *fe, const char *threads, const char *list, unsigned n)
{
    return arena_printf(fe->a,
                        "{ int %s[] = { %s }; extern int __kmpc_global_thread_num(void *); extern "
                        "void __kmpc_push_num_threads_list(void *, int, unsigned, int *); "
                        "__kmpc_push_num_threads_list(0, __kmpc_global_thread_num(0), %u, %s);",
                        threads, list, n, threads);
}

void lower_levels(struct lowering *l, struct fe_pragma *p)
{
    struct fe *fe = l->fe;
    struct lower_argument a;
    unsigned k;
    find_list(fe, p, &a, &k);
    if (p->names[0] != OMPDIR_PARALLEL) {
        keep_first(l, p, k, a.end);
        return;
    }
    if (!p->found)
        return;
    const char *threads = lower_name(l, "threads");
    struct omp_extent e = lower_statement(fe, p);
    const char *line = arena_printf(fe->a, "omp %s %s[0] %s", lower_tokens(fe, p, 0, k), threads,
                                    lower_tokens(fe, p, a.end, p->ntokens)),
               *list = lower_tokens(fe, p, k, a.end);
    lower_replace(l, e,
                  arena_printf(fe->a, "%s%s%s}",
                               push(fe, threads, list, count_items(fe, p, k, a.end)),
                               lower_line(fe, line, p->extent.begin),
                               lower_text(fe, (struct omp_extent){ p->extent.end, e.end })));
}
