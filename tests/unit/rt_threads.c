/* rt_threads.c - several host threads at once: own data, shared data, data that comes and goes while others look it up.  For TSan. */
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
const struct fake_kernel fake_kernels[] = { { "add", kernel_add, 1, 0, 0 }, { "touch", kernel_touch, 1, 0, 64 }, { "second", kernel_second, 1, 0, 0 }, { 0 } };
static struct ompgpu_region add = FAKE_REGION("add", 10), touch = FAKE_REGION("touch", 11), second = FAKE_REGION("second", 12);
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

static void all_threads(const char *what)
{
    pthread_t threads[THREADS];
    bool good[THREADS], all = true;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, &good[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all &= good[i];
    }
    OK(all, "%s", what);
    OK(ompgpu_devices[0].present.count == 1 && ompgpu_devices[0].unsynced == NULL, "… only the declare target variable stays mapped");
}

int main(void)
{
    fake_unit.vars = vars, fake_unit.nvars = 1;
    fake_register();
    for (int i = 0; i < N; i++)
        shared[i] = i;
    first_and_second_thread();
    pthread_barrier_init(&start, NULL, THREADS);
    all_threads("four threads from the first use on");
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
    all_threads("four new threads");
    copies_at_once();
    __ompgpu_unregister(&fake_unit);
    pthread_barrier_destroy(&start);
    ompgpu_threads_close();
    OK(fake_live == 0, "nothing is left on the device");
    return tap_end();
}
