/* rt_parts.c - the parts of the present table: several host threads map small things that lie in granules of their own and of others, things
 * that lie in two granules, things whose base is far away, pointers and what they point to.  For TSan. */
#define _GNU_SOURCE 1
#include <sys/mman.h>
#include "tests/unit/rt_fake.h"
const struct fake_variable fake_variables[] = { { 0 } };

enum { THREADS = 6, ROUNDS = 4000, N = 16, GRANULE = 1 << OMPGPU_GRANULE_BITS, GRANULES = 2 * THREADS + 2, STEP = 1024 };
static char *space; /* GRANULES of them */

static void kernel_add(void **p) /* base, offset, what is added */
{
    int *x = (int *)(*(char **)p[1] + *(long *)p[2]);
    const int *y = *(int **)p[3];
    for (int i = 0; i < N; i++)
        x[i] += y[i];
}
static void kernel_follow(void **p)
{
    int **x = *(int ***)p[1];
    x[0][0]++;
}
const struct fake_kernel fake_kernels[] = { { "add", kernel_add, 1, 0, 0 }, { "follow", kernel_follow, 1, 0, 0 }, { 0 } };
static struct ompgpu_region add = FAKE_REGION("add", 10), follow = FAKE_REGION("follow", 11);
static const struct ompgpu_launch launch = { .device = OMPGPU_DEVICE_DEFAULT };

struct own { /* one thread's */
    int number;
    uint64_t seed;
    bool good;
    int expected[3]; /* additions to: each of the cells, the one in two granules, the one that a pointer leads to */
    int in_granule[GRANULES];
};

static unsigned roll(struct own *o, unsigned below)
{
    o->seed = o->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(o->seed >> 33) % below;
}

/* Each thread has a cell in each granule, and one across the end of one. */
static int *cell(const struct own *o, unsigned granule) { return (int *)(space + (size_t)granule * GRANULE + STEP * (o->number + 1)); }
static int *across(int number) { return (int *)(space + (size_t)(number + 1) * GRANULE - N / 2 * sizeof(int)); }
static int *shared(void) { return (int *)(space + (size_t)(GRANULES - 1) * GRANULE); }
static int *shared_across(void) { return across(THREADS); }

#define ITEM(base, begin, size, flags) { base, begin, size, NULL, flags, 0, #begin }
static void add_to(void *base, int *x, const int *y)
{
    const struct ompgpu_map maps[] = { ITEM(base, x, N * sizeof *x, OMPGPU_MAP_TOFROM), ITEM(y, y, N * sizeof *y, OMPGPU_MAP_TO) };
    long offset = (char *)x - (char *)base;
    const struct ompgpu_param params[] = { { NULL, 8, 0 }, { &offset, 8, OMPGPU_PARAM_LITERAL }, { NULL, 8, 1 } };
    __ompgpu_target(&add, maps, 2, params, 3, &launch);
}

/* A pointer in one granule leads to another one; a second pointer is looked up. */
static void follow_pointer(struct own *o, unsigned from, unsigned to)
{
    int **pointer = (int **)(cell(o, from) + N), *target = cell(o, to) + 2 * N;
    *pointer = target;
    const struct ompgpu_map maps[] = { ITEM(pointer, pointer, sizeof *pointer, OMPGPU_MAP_TOFROM),
                                       { target, target, sizeof *target, pointer, OMPGPU_MAP_TOFROM | OMPGPU_MAP_ATTACH, 0, "target" },
                                       ITEM(target, target, 0, OMPGPU_MAP_LOOKUP) };
    const struct ompgpu_param params[] = { { NULL, 8, 0 } };
    int before = *target;
    __ompgpu_target(&follow, maps, 3, params, 1, &launch);
    o->good &= *pointer == target && *target == before + 1;
}

static void keep_and_add(struct own *o, unsigned granule, void *base)
{
    int *x = cell(o, granule);
    const struct ompgpu_map kept[] = { ITEM(base, x, N * sizeof *x, OMPGPU_MAP_TOFROM) }, wanted[] = { ITEM(base, x, N * sizeof *x, OMPGPU_MAP_FROM) };
    BEGIN(kept);
    add_to(base, x, shared());
    o->good &= is_present(x) && is_present((char *)x + N * sizeof *x - 1);
    UPDATE(wanted);
    END(kept);
}

static void one_round(struct own *o)
{
    unsigned granule = roll(o, GRANULES), kind = roll(o, 8);
    int *mine = cell(o, granule);
    switch (kind) {
    case 0: add_to(across(o->number), across(o->number), shared_across()), o->expected[1]++; break;
    case 1: follow_pointer(o, granule, roll(o, GRANULES)); break;
    case 2: keep_and_add(o, granule, mine), o->in_granule[granule]++; break;
    case 3: keep_and_add(o, granule, space), o->in_granule[granule]++; break;
    case 4: add_to(space, mine, shared()), o->in_granule[granule]++; break;
    case 5: add_to(mine, mine, shared_across()), o->in_granule[granule]++; break;
    default: add_to(mine, mine, shared()), o->in_granule[granule]++; break;
    }
}

static bool has(const int *x, int times)
{
    bool good = true;
    for (int i = 0; i < N; i++)
        good &= x[i] == times * i;
    return good;
}

static pthread_barrier_t start;
static void *work(void *argument)
{
    struct own *o = argument;
    unsigned first = (unsigned)o->number; /* the granule is this thread's from now on */
    o->good = true;
    keep_and_add(o, first, cell(o, first)), o->in_granule[first]++;
    pthread_barrier_wait(&start);
    for (int i = 0; i < ROUNDS; i++)
        one_round(o);
    for (unsigned g = 0; g < GRANULES; g++)
        o->good &= has(cell(o, g), o->in_granule[g]);
    o->good &= has(across(o->number), o->expected[1]);
    return NULL;
}

int main(void)
{
    static struct own own[THREADS];
    pthread_t threads[THREADS];
    bool good = true;
    char *memory = mmap(NULL, (size_t)(GRANULES + 1) * GRANULE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    space = (char *)(((uintptr_t)memory + GRANULE - 1) & ~(uintptr_t)(GRANULE - 1));
    for (int i = 0; i < N; i++)
        shared()[i] = shared_across()[i] = i;
    fake_register();
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        own[i].number = i, own[i].seed = (unsigned)i + 1;
        pthread_create(&threads[i], NULL, work, &own[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        good &= own[i].good;
    }
    OK(good, "each thread's data is as if it were alone");
    OK(ompgpu_present_count(&ompgpu_devices[0]) == 0, "nothing stays mapped");
    OK(ompgpu_parts_in_use(&ompgpu_devices[0]) == THREADS, "the table is in %u parts", ompgpu_parts_in_use(&ompgpu_devices[0]));
    __ompgpu_unregister(&fake_unit);
    ompgpu_threads_close();
    OK(fake_live == 0, "nothing is left on the device");
    return tap_end();
}
