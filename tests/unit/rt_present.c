/* rt_present.c - the present table against a naive model: one slot per byte of a small address range. */
#include "tests/unit/rt_fake.h"
const struct fake_kernel fake_kernels[] = { { 0 } };
const struct fake_variable fake_variables[] = { { 0 } };

enum { SPACE = 600 };
static struct ompgpu_entry *model[SPACE];
static uint64_t seed = 1;

static unsigned roll(unsigned below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(seed >> 33) % below;
}

static struct ompgpu_entry *model_find(unsigned begin, unsigned size)
{
    for (unsigned i = begin; i < SPACE && i < begin + (size ? size : 1); i++)
        if (model[i])
            return model[i];
    return NULL;
}

static void model_set(unsigned begin, unsigned end, struct ompgpu_entry *e)
{
    for (unsigned i = begin; i < end; i++)
        model[i] = e;
}

static bool ordered(const struct ompgpu_range *e, uintptr_t low, uintptr_t high, size_t *count)
{
    if (!e)
        return true;
    ++*count;
    return e->begin >= low && e->end <= high && (!e->left || e->left->priority <= e->priority)
           && (!e->right || e->right->priority <= e->priority) && ordered(e->left, low, e->begin, count) && ordered(e->right, e->end, high, count);
}

static bool random_operations(unsigned n, uintptr_t base)
{
    struct ompgpu_ranges table = { 0 };
    bool good = true;
    for (unsigned i = 0; i < n && good; i++) {
        unsigned begin = roll(SPACE), size = roll(20);
        struct ompgpu_entry *e = (struct ompgpu_entry *)ompgpu_ranges_find(&table, base + begin, size);
        good = e == model_find(begin, size);
        if (!e && size && begin + size <= SPACE) {
            e = ompgpu_xalloc(sizeof *e);
            e->begin = base + begin, e->end = e->begin + size;
            ompgpu_ranges_insert(&table, &e->range);
            model_set(begin, begin + size, e);
        } else if (e && roll(2)) {
            model_set((unsigned)(e->begin - base), (unsigned)(e->end - base), NULL);
            ompgpu_ranges_remove(&table, &e->range);
            ompgpu_xfree(e);
        }
        size_t count = 0;
        good = good && ordered(table.root, base, base + SPACE, &count) && count == table.count;
    }
    for (struct ompgpu_entry *e; (e = (struct ompgpu_entry *)table.root); ) {
        ompgpu_ranges_remove(&table, &e->range);
        ompgpu_xfree(e);
    }
    memset(model, 0, sizeof model);
    return good && table.count == 0;
}

/* Extended ranges, which overlap, against a look at each of them. */
static bool random_bases(unsigned n)
{
    enum { COUNT = 60 };
    struct ompgpu_range all[COUNT] = { 0 };
    struct ompgpu_ranges set = { 0 };
    bool good = true;
    for (unsigned i = 0; i < n && good; i++) {
        unsigned k = roll(COUNT), at = roll(SPACE);
        if (all[k].begin) {
            ompgpu_ranges_remove(&set, &all[k]);
            all[k].begin = 0;
        } else {
            all[k] = (struct ompgpu_range){ .begin = 1000 + 10 * k, .end = 1000 + 10 * k + 1 + roll(10), .base = roll(2) ? 1000 + roll(SPACE) : 0 };
            ompgpu_ranges_insert(&set, &all[k]);
        }
        const struct ompgpu_range *expected = NULL;
        for (k = COUNT; k-- > 0;)
            if (all[k].begin && ((1000 + at >= all[k].begin && 1000 + at < all[k].end)
                                 || (all[k].base && 1000 + at < all[k].begin && 1000 + at >= all[k].base) || (1000 + at >= all[k].end && 1000 + at <= all[k].base)))
                expected = &all[k];
        good = ompgpu_ranges_reach(&set, 1000 + at) == expected;
    }
    return good;
}

static void many_entries(void)
{
    enum { N = 50000 };
    struct ompgpu_ranges table = { 0 };
    struct ompgpu_entry *all = calloc(N, sizeof *all);
    bool good = true;
    for (unsigned i = 0; i < N; i++) {
        all[i].begin = 64 * (1 + i * 7919ul % N), all[i].end = all[i].begin + 64;
        ompgpu_ranges_insert(&table, &all[i].range);
    }
    for (unsigned i = 0; i < N; i++)
        good &= ompgpu_ranges_find(&table, all[i].begin + 63, 1) == &all[i].range;
    for (unsigned i = 0; i < N; i += 2)
        ompgpu_ranges_remove(&table, &all[i].range);
    for (unsigned i = 0; i < N; i++)
        good &= ompgpu_ranges_find(&table, all[i].begin, 64) == (i % 2 ? &all[i].range : NULL);
    OK(good && table.count == N / 2, "%d adjacent ranges, every second one removed", N);
    free(all);
}

int main(void)
{
    OK(random_operations(200000, 0x1000), "random operations agree with the model");
    OK(random_operations(20000, UINTPTR_MAX - SPACE - 20), "… at the end of the address space");
    OK(random_operations(20000, 0x7fff00000000), "… at stack addresses");
    OK(random_bases(200000), "extended ranges agree with the model");
    many_entries();
    return tap_end();
}
