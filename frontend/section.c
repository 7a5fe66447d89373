/* section.c - what can be seen of the array sections of a list item without running the program. */
#include "frontend/fe.h"

/* The constant, `empty` where nothing is written, or -1. */
static int64_t known(const struct omp_expr *x, int64_t empty)
{
    return !x->extent.end ? empty : x->is_constant && x->value >= 0 ? x->value : -1;
}

static int64_t first_of(const struct omp_section *s) { return known(&s->lower, 0); }

int64_t fe_section_count(const struct omp_section *s)
{
    int64_t step = known(&s->stride, 1), room = (int64_t)s->dim - first_of(s);
    bool rest = s->dim && first_of(s) >= 0 && room >= 0 && step > 0;
    return s->is_section ? known(&s->length, rest ? (room + step - 1) / step : -1) : 1;
}

static bool is_beyond(const struct omp_section *s)
{
    int64_t first = first_of(s), n = fe_section_count(s), step = known(&s->stride, 1);
    if (!s->dim || first < 0)
        return false;
    if ((uint64_t)first > s->dim)
        return true;
    uint64_t room = s->dim - (uint64_t)first;
    return n > 0 && (!room || (step > 0 && (uint64_t)(n - 1) > (room - 1) / (uint64_t)step));
}

const char *fe_bad_section(const struct omp_item *it)
{
    for (unsigned i = 0; i < it->nsections; i++) {
        const struct omp_section *s = &it->sections[i];
        if (s->is_section && s->is_unbounded && !s->length.extent.end && !s->is_assumed)
            return "an array section without a length of what has no known size";
        if (is_beyond(s) && !(i == 0 && it->may_be_longer))
            return "past the end of the array";
    }
    return NULL;
}
