/* rt_threads.c - several host threads at once: own data, shared data, data that comes and goes while others look it up.  For TSan. */
#define _GNU_SOURCE 1
#include <time.h>
#include <unistd.h>
#include "tests/unit/rt_fake.h"
static int global_on_device[4];
const struct fake_variable fake_variables[] = { { "global", global_on_device, sizeof global_on_device }, { 0 } };
static int global[4];
static const struct ompgpu_var vars[] = { { "global", global, sizeof global, 0 } };

enum { THREADS = 4, ROUNDS = 2000, N = 64 };
static void kernel_add(void **p)
{
    int *x = *(int **)p[1];
    const int *shared = *(int **)p[2];
    for (int i = 0; i < N; i++)
        x[i] += shared[i];
}
static void kernel_touch(void **p)                  /* the scratchpad belongs to one launch at a time, its header stays zero */
{
    long *scratch = ((struct ompgpu_env *)p[0])->scratch;
    for (int i = 0; i < 16; i++)
        if (scratch[i])
            abort();
    scratch[0] = 1, scratch[20]++, scratch[0] = 0;
}
static void kernel_second(void **);
static void kernel_replace(void **);
const struct fake_kernel fake_kernels[] = { { "add", kernel_add, 1, 0, 0 }, { "touch", kernel_touch, 1, 0, 64 }, { "second", kernel_second, 1, 0, 0 },
                                            { "replace", kernel_replace, 1, 0, 0 }, { 0 } };
static struct ompgpu_region add = FAKE_REGION("add", 10), touch = FAKE_REGION("touch", 11), second = FAKE_REGION("second", 12),
                            replace = FAKE_REGION("replace", 13);
static int shared[N], kept[N];

/* While the only thread's region runs on data that it did not wait for, a second thread appears and asks for the same data. */
static pthread_t newcomer;
static int newcomer_has_it;                         /* atomic */
static void *newcomer_asks(void *arg)
{
    const struct ompgpu_map maps[] = { MAP(kept, OMPGPU_MAP_TO) };
    (void)arg;
    BEGIN(maps);
    __atomic_store_n(&newcomer_has_it, 1, __ATOMIC_RELEASE);
    END(maps);
    return NULL;
}
static bool newcomer_waited;
static void kernel_second(void **p)
{
    (void)p;
    pthread_create(&newcomer, NULL, newcomer_asks, NULL);
    usleep(100000);
    newcomer_waited = !__atomic_load_n(&newcomer_has_it, __ATOMIC_ACQUIRE);
}
static void first_and_second_thread(void)
{
    static const struct ompgpu_launch l = { .device = OMPGPU_DEVICE_DEFAULT };
    const struct ompgpu_map maps[] = { MAP(kept, OMPGPU_MAP_TO) };
    long syncs = fake_calls[FAKE_SYNC];
    __ompgpu_target(&second, maps, 1, NULL, 0, &l);
    pthread_join(newcomer, NULL);
    OK(newcomer_waited && newcomer_has_it, "a second thread gets data under way only when it is there");
    OK(fake_calls[FAKE_SYNC] == syncs + 2, "… the first waits once, after its launch, the second for its own copies");
}

/* Copies to the device and back, of two threads at once: each waits for the other in the midst of its own. */
enum { OWN = 12345, PATIENCE = 5000 };
static int copying, met;                            /* atomic */
static void meet_in_copy(size_t size)
{
    if (size != OWN)
        return;
    int mine = __atomic_add_fetch(&copying, 1, __ATOMIC_ACQ_REL), wanted = (mine + 1) / 2 * 2, left = PATIENCE;
    while (__atomic_load_n(&copying, __ATOMIC_ACQUIRE) < wanted && left--)
        usleep(1000);
    if (left > 0)
        __atomic_add_fetch(&met, 1, __ATOMIC_RELAXED);
}
static void *copies_own(void *own)
{
    const struct ompgpu_map maps[] = { { own, own, OWN, NULL, OMPGPU_MAP_TOFROM, 0, "own" } };
    BEGIN(maps);
    UPDATE(maps);
    END(maps);
    return NULL;
}
static void copies_at_once(void)
{
    static char own[2][OWN];
    pthread_t threads[2];
    fake_at_copy = meet_in_copy;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, copies_own, own[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    fake_at_copy = NULL;
    OK(copying == 8 && met == 8, "copies of two threads are under way at once: %d of %d", met, copying);
}

/* While one construct copies back what it alone has mapped, another one maps what both have, and copies that back when the first is about to end. */
enum { ALONE = 11111, BOTH = 22222 };
static char alone[ALONE], both[BOTH];
static int first_copies, second_copies;             /* atomic */
static long live_meanwhile;
static void *maps_both(void *unused)
{
    const struct ompgpu_map maps[] = { MAP(both, OMPGPU_MAP_TOFROM) };
    (void)unused;
    BEGIN(maps);
    END(maps);
    return NULL;
}
static void end_at_once(size_t size)
{
    static pthread_t second;
    if (size == ALONE) {
        pthread_create(&second, NULL, maps_both, NULL);
        pthread_detach(second);
        for (int left = PATIENCE; left-- && !__atomic_load_n(&first_copies, __ATOMIC_ACQUIRE);)
            usleep(1000);
    }
    if (size == BOTH) {
        __atomic_store_n(&first_copies, 1, __ATOMIC_RELEASE);
        usleep(200000);
        live_meanwhile = __atomic_load_n(&fake_live, __ATOMIC_ACQUIRE);
        __atomic_store_n(&second_copies, 1, __ATOMIC_RELEASE);
    }
}
static void copies_that_end_at_once(void)
{
    const struct ompgpu_map maps[] = { MAP(both, OMPGPU_MAP_TO), MAP(alone, OMPGPU_MAP_FROM) };
    BEGIN(maps);
    long live = fake_live;
    fake_at_copy = end_at_once;
    END(maps);
    for (int left = PATIENCE; left-- && !__atomic_load_n(&second_copies, __ATOMIC_ACQUIRE);)
        usleep(1000);
    usleep(50000);
    fake_at_copy = NULL;
    OK(first_copies && live_meanwhile == live - 1, "what another construct is copying back stays on the device");
    OK(fake_live == live - 2 && !is_present(both), "… until that is done");
}
static pthread_barrier_t start;

static void one_round(int *x)
{
    static const struct ompgpu_launch l = { .device = OMPGPU_DEVICE_DEFAULT };
    const struct ompgpu_map maps[] = { { x, x, N * sizeof *x, NULL, OMPGPU_MAP_TOFROM, 0, "x" }, MAP(shared, OMPGPU_MAP_TO) };
    const struct ompgpu_map nested[] = { MAP(kept, OMPGPU_MAP_TO) };
    const struct ompgpu_param params[] = { { NULL, 8, 0 }, { NULL, 8, 1 } };
    BEGIN(nested);
    __ompgpu_target(&add, maps, 2, params, 2, &l);
    __ompgpu_target(&touch, NULL, 0, NULL, 0, &l);
    END(nested);
}

static void *worker(void *arg)
{
    int x[N] = { 0 };
    bool good = true;
    pthread_barrier_wait(&start);
    for (int i = 0; i < ROUNDS; i++)
        one_round(x);
    for (int i = 0; i < N; i++)
        good &= x[i] == ROUNDS * i;
    *(bool *)arg = good && is_present(global);
    return NULL;
}

static void all_threads(const char *what, void *(*work)(void *))
{
    pthread_t threads[THREADS];
    bool good[THREADS], all = true;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &good[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all &= good[i];
    }
    OK(all, "%s", what);
    OK(ompgpu_present_count(&ompgpu_devices[0]) == 1 && ompgpu_devices[0].unsynced == NULL, "… only the declare target variable stays mapped");
}

/* ------------------------------------------------------------------ regions that find all of it mapped */
static void add_twice(int *x, const int *y)
{
    static const struct ompgpu_launch l = { .device = OMPGPU_DEVICE_DEFAULT };
    const struct ompgpu_map maps[] = { { x, x, N * sizeof *x, NULL, OMPGPU_MAP_TOFROM, 0, "x" }, { y, y, N * sizeof *y, NULL, OMPGPU_MAP_TO, 0, "y" },
                                       { x, x + 1, 4, NULL, OMPGPU_MAP_TO, 0, "x[1]" }, { y, y, 0, NULL, OMPGPU_MAP_LOOKUP, 0, "y" },
                                       { global, global, sizeof global, NULL, OMPGPU_MAP_TOFROM, 0, "global" } };
    const struct ompgpu_param params[] = { { NULL, 8, 0 }, { NULL, 8, 3 } };
    for (int i = 0; i < 2; i++)
        __ompgpu_target(&add, maps, 5, params, 2, &l);
}

static int held[N];
static void *adds_held(void *x)
{
    add_twice(x, held);
    return NULL;
}
static void without_lock(void)
{
    static int x[N];
    const struct ompgpu_map maps[] = { MAP(x, OMPGPU_MAP_TOFROM), MAP(held, OMPGPU_MAP_TO) };
    pthread_t other;
    BEGIN(maps);
    add_twice(x, held);
    pthread_mutex_lock(&ompgpu_devices[0].lock);
    pthread_create(&other, NULL, adds_held, x);
    struct timespec limit = { time(NULL) + 20, 0 };
    bool ended = !pthread_timedjoin_np(other, NULL, &limit);
    pthread_mutex_unlock(&ompgpu_devices[0].lock);
    if (!ended)
        pthread_join(other, NULL);
    END(maps);
    OK(ended && x[0] == 4, "a region on mapped data needs no lock");
}

/* The mapping ends while the region runs, and its struct serves the next one, which is none of the region's. */
static void kernel_replace(void **p)
{
    const struct ompgpu_map gone[] = { MAP(held, OMPGPU_MAP_DELETE) }, new[] = { MAP(held, OMPGPU_MAP_TO) };
    static const struct ompgpu_place place = { "app.c", 7, "target exit data", OMPGPU_EXIT_DATA };
    (void)p;
    __ompgpu_data_end(&place, OMPGPU_DEVICE_DEFAULT, gone, 1);
    BEGIN(new);
}
static void ends_meanwhile(void)
{
    static const struct ompgpu_launch l = { .device = OMPGPU_DEVICE_DEFAULT };
    static int x[N];
    const struct ompgpu_map maps[] = { MAP(held, OMPGPU_MAP_TO) };
    BEGIN(maps);
    add_twice(x, held);
    __ompgpu_target(&replace, maps, 1, NULL, 0, &l);
    OK(is_present(held), "a region does not end the mapping that took the place of its own");
    END(maps);
    OK(!is_present(held), "… which ends in its turn");
}

/* The last reference of what all use goes from one to the other. */
static int common[N];
static void *guest(void *arg)
{
    const struct ompgpu_map all[] = { MAP(common, OMPGPU_MAP_TO) };
    int x[N] = { 0 };
    const struct ompgpu_map own[] = { MAP(x, OMPGPU_MAP_TOFROM) };
    bool good = true;
    pthread_barrier_wait(&start);
    BEGIN(own);
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 3)
            BEGIN(all);
        add_twice(x, common);
        if (i % 3)
            END(all);
    }
    END(own);
    for (int i = 0; i < N; i++)
        good &= x[i] == 2 * ROUNDS * common[i];
    *(bool *)arg = good;
    return NULL;
}

int main(void)
{
    fake_unit.vars = vars, fake_unit.nvars = 1;
    fake_register();
    for (int i = 0; i < N; i++)
        shared[i] = i, held[i] = 1, common[i] = 3 * i;
    first_and_second_thread();
    pthread_barrier_init(&start, NULL, THREADS);
    all_threads("four threads from the first use on", worker);
    const struct ompgpu_map outer[] = { MAP(shared, OMPGPU_MAP_TO) };
    long to = fake_calls[FAKE_TO];
    BEGIN(outer);
    pthread_t one;
    bool good;
    pthread_barrier_destroy(&start), pthread_barrier_init(&start, NULL, 1);
    pthread_create(&one, NULL, worker, &good), pthread_join(one, NULL);
    OK(good && fake_calls[FAKE_TO] == to + 1 + 2 * ROUNDS, "a new thread takes over the state of one that has ended");
    END(outer);
    pthread_barrier_destroy(&start), pthread_barrier_init(&start, NULL, THREADS);
    all_threads("four new threads", worker);
    without_lock();
    ends_meanwhile();
    all_threads("four threads whose mapping is the last one's to end", guest);
    copies_at_once();
    copies_that_end_at_once();
    __ompgpu_unregister(&fake_unit);
    pthread_barrier_destroy(&start);
    ompgpu_threads_close();
    OK(fake_live == 0, "nothing is left on the device");
    return tap_end();
}
