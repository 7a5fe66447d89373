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

/* ------------------------------------------------------------------ first bytes */
enum { PLACES = 20000, STRIDE = 48 };
static uintptr_t place_of(unsigned k) { return 0x10000 + (uintptr_t)k * STRIDE; }

/* Nothing else is said of a place than what is there, and only of those that were noted, of which
 * nearly all are *found. */
static bool agree(struct ompgpu_device *dev, struct ompgpu_entry *const *all, unsigned *noted, unsigned *found)
{
    bool good = true;
    *found = *noted = 0;
    for (unsigned k = 0; k < PLACES; k++) {
        uintptr_t first = ompgpu_first_find(dev, place_of(k));
        bool may_be = all[k] && all[k]->asked;
        good &= !first || (may_be && first == all[k]->device);
        good &= !ompgpu_first_find(dev, place_of(k) + 1);
        *found += first != 0;
        *noted += may_be;
    }
    return good;
}

static void first_bytes(void)
{
    static struct ompgpu_entry *all[PLACES];
    static struct ompgpu_device dev;
    unsigned n = 0, noted, found;
    bool good = true;
    for (unsigned i = 0; i < 10 * PLACES; i++) {
        unsigned k = roll(PLACES);
        if (all[k] && roll(4) == 0) {
            ompgpu_present_remove(&dev, all[k]), ompgpu_entry_free(&dev, all[k]);
            all[k] = NULL, n--;
        } else if (!all[k]) {
            all[k] = ompgpu_entry_new(&dev, place_of(k), 1 + roll(STRIDE), 1 + i, 1);
            ompgpu_present_insert(&dev, all[k]), n++;
        } else if (roll(4) == 0) {
            all[k]->device = 1 + i, ompgpu_first_note(&dev, all[k]);
        }
        if (i % PLACES == 0)
            good = good && agree(&dev, all, &noted, &found);
    }
    OK(good && agree(&dev, all, &noted, &found), "where a mapping begins, without the lock");
    OK(noted > n / 4 && noted < n && found > noted - noted / 20, "of %u, %u have been asked for, and %u are found so", n, noted, found);
    for (unsigned k = 0; k < PLACES; k++)
        if (all[k])
            ompgpu_present_remove(&dev, all[k]), ompgpu_entry_free(&dev, all[k]), all[k] = NULL;
    OK(agree(&dev, all, &noted, &found) && !found, "... and none of those that have gone");
    ompgpu_entries_close(&dev);
}

/* While mappings come and go, each answer is an address of the mapping that was asked for. */
enum { FEW_PLACES = 300 };
static struct ompgpu_device changing;
static int stop; /* atomic */
struct answers {
    unsigned wrong, right;
};
static void *asks(void *arg)
{
    struct answers *a = arg;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
        for (unsigned k = 0; k < FEW_PLACES; k++) {
            uintptr_t first = ompgpu_first_find(&changing, place_of(k));
            a->wrong += first && first >> 32 != k + 1;
            a->right += first >> 32 == k + 1;
        }
    return NULL;
}

static void first_bytes_of_threads(void)
{
    static struct ompgpu_entry *all[FEW_PLACES];
    struct answers got[2] = { 0 };
    pthread_t threads[2];
    for (int t = 0; t < 2; t++)
        pthread_create(&threads[t], NULL, asks, &got[t]);
    for (unsigned i = 0; i < 300000; i++) {
        unsigned k = roll(i < 1000 ? 20 : FEW_PLACES);
        pthread_mutex_lock(&changing.lock);
        if (all[k]) {
            ompgpu_present_remove(&changing, all[k]), ompgpu_entry_free(&changing, all[k]);
            all[k] = NULL;
        } else {
            all[k] = ompgpu_entry_new(&changing, place_of(k), STRIDE, ((uintptr_t)k + 1) << 32 | i, 1);
            ompgpu_present_insert(&changing, all[k]);
            ompgpu_first_note(&changing, all[k]);
        }
        pthread_mutex_unlock(&changing.lock);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], NULL);
    OK(!got[0].wrong && !got[1].wrong && got[0].right && got[1].right, "... and while other threads change the table");
    ompgpu_entries_close(&changing);
}

int main(void)
{
    OK(random_operations(200000, 0x1000), "random operations agree with the model");
    OK(random_operations(20000, UINTPTR_MAX - SPACE - 20), "… at the end of the address space");
    OK(random_operations(20000, 0x7fff00000000), "… at stack addresses");
    OK(random_bases(200000), "extended ranges agree with the model");
    many_entries();
    first_bytes();
    first_bytes_of_threads();
    return tap_end();
}
