/* stale.c - data that gets lost between host and device (tests/mistakes/stale.t): one mistake a
 * function, found at the line with its name as a comment; mended it is silent. */
#include <omp.h>
#include <ompgpu/ompgpu.h>
#include <stdlib.h>
#include <string.h>
enum { N = 100 };
static int mended, a[N], b[N];
#pragma omp begin declare target
static int shared = 1;
static int limit = 3;
#pragma omp end declare target
struct row {
    int n, *cells;
};
void *llvm_omp_target_alloc_shared(size_t, int);
__attribute__((noinline)) static int use(int value)
{
    static volatile int sum;
    return sum += value;
}

static void host_change(void)
{
#pragma omp target data map(tofrom: a) /* host_change */
    {
#pragma omp target
        for (int i = 0; i < N / 2; i++)
            a[i] += 1;
        a[N - 1] = 7;
        if (mended) {
#pragma omp target update to(a[N - 1])
        }
    }
}
static void host_change_unstructured(void)
{
#pragma omp target enter data map(to: a[0:N])
    a[5]++;
    if (mended) {
#pragma omp target update to(a[0:10])
    }
#pragma omp target map(tofrom: b)
    b[0] = a[6];
#pragma omp target exit data map(from: a[0:N]) /* host_change_unstructured */
}
static void deleted_inside(void)
{
#pragma omp target data map(tofrom: a) /* deleted_inside */
    {
#pragma omp target
        a[0]++;
        if (mended) {
#pragma omp target update from(a)
        } else {
#pragma omp target exit data map(delete: a)
        }
    }
}
static void device_reads_old(void)
{
#pragma omp target data map(to: a) map(tofrom: b)
    {
        a[3] = 4;
        if (mended) {
#pragma omp target update to(a[2:2])
        }
#pragma omp target
        for (int i = 0; i < 5; i++)
            b[i] += a[i]; /* device_reads_old */
    }
}
static void device_copies_old(void)
{
    struct two {
        long x, y, z, w;
    } from = { 1, 2, 3, 4 }, to = { 0 };
#pragma omp target data map(to: from) map(tofrom: to)
    {
        from.z = 5;
        if (mended) {
#pragma omp target update to(from)
        }
#pragma omp target
        to = from; /* device_copies_old */
    }
    use((int)to.x);
}
static void host_reads_old(void)
{
#pragma omp target data map(tofrom: a)
    {
#pragma omp target
        a[7]++;
        use(a[6]);
        if (mended) {
#pragma omp target update from(a[7:1])
        }
        use(a[7]); /* host_reads_old */
    }
}
static void host_reads_before_from(void)
{
#pragma omp target data map(from: b)
    {
#pragma omp target
        for (int i = 0; i < N; i++)
            b[i] = i + 1;
        if (mended) {
#pragma omp target update from(b)
        }
        use(b[N - 1]); /* host_reads_before_from */
    }
}
static void host_reads_variable(void)
{
#pragma omp target
    shared++;
    if (mended) {
#pragma omp target update from(shared)
    }
    use(shared); /* host_reads_variable */
}
static void mapped_still(void)
{
#pragma omp target enter data map(to: a) /* mapped_still */
#pragma omp target
    a[1] = 2;
    if (mended) {
#pragma omp target exit data map(from: a)
    }
}
static void copied_too_far(void)
{
    int device = omp_get_default_device(), host = omp_get_initial_device();
    int *p = omp_target_alloc(sizeof a, device);
    omp_target_memcpy(p, a, sizeof a, mended ? 0 : sizeof *p, 0, device, host);
    omp_target_free(p, device);
}
static void copied_backwards(void)
{
    int device = omp_get_default_device(), host = omp_get_initial_device();
    int *p = omp_target_alloc(sizeof a, device);
    omp_target_memcpy(p, a, sizeof a, 0, 0, mended ? device : host, mended ? host : device);
    omp_target_free(p, device);
}
static void entered_twice(void)
{
#pragma omp target enter data map(to: a) /* entered_twice */
    if (!mended) {
#pragma omp target enter data map(to: a)
    }
#pragma omp target
    a[1] = 2;
#pragma omp target exit data map(from: a)
}
static void explicit_map(void)
{
#pragma omp target data map(to: a) map(tofrom: b)
    {
        a[3] = 4;
        if (mended) {
#pragma omp target update to(a)
        }
#pragma omp target map(to: a) map(tofrom: b)
        for (int i = 0; i < 5; i++)
            b[i] += a[i]; /* explicit_map */
    }
}
static void not_back(void)
{
    if (mended) {
#pragma omp target map(tofrom: b)
        b[3] = 4;
    } else {
#pragma omp target map(to: b) /* not_back */
        b[3] = 4;
    }
}
static void not_back_at_exit(void)
{
#pragma omp target enter data map(to: a[0:N])
#pragma omp target
    a[4] = 5;
    if (mended) {
#pragma omp target update from(a[0:N])
    }
#pragma omp target exit data map(delete: a[0:N]) /* not_back_at_exit */
}
static void result_not_back(void)
{
    int sum = 0;
    if (mended) {
#pragma omp target teams distribute parallel for reduction(+: sum)
        for (int i = 0; i < N; i++)
            sum += i;
    } else {
#pragma omp target teams distribute parallel for reduction(+: sum) map(to: sum) /* result_not_back */
        for (int i = 0; i < N; i++)
            sum += i;
    }
    use(sum);
}
static void update_of_nothing(void)
{
    if (mended) {
#pragma omp target enter data map(to: b)
    }
#pragma omp target update from(b) /* update_of_nothing */
    if (mended) {
#pragma omp target exit data map(delete: b)
    }
}
static void never_sent(void)
{
    limit = 7;
    if (mended) {
#pragma omp target update to(limit)
    }
#pragma omp target map(tofrom: a) /* never_sent */
    for (int i = 0; i < limit; i++)
        a[i] = i;
}
static void host_reads_device(void)
{
    int *p = omp_target_alloc(sizeof a, 0);
#pragma omp target is_device_ptr(p)
    p[3] = 1;
    if (mended)
        omp_target_memcpy(a, p, sizeof a, 0, 0, omp_get_initial_device(), 0);
    else
        use(p[3]); /* host_reads_device */
    omp_target_free(p, 0);
}
static void host_is_early(void)
{
#pragma omp target teams distribute parallel for map(tofrom: a) nowait
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 1000; k++)
            a[i] += k;
    use(b[2]);
    if (mended) {
#pragma omp taskwait
    }
    use(a[2]); /* host_is_early */
#pragma omp taskwait
#pragma omp target teams distribute parallel for map(tofrom: a) map(to: b) nowait depend(out: a)
    for (int i = 0; i < N; i++)
        a[i] += b[i];
    use(b[1]);
#pragma omp taskwait depend(in: a)
    use(a[2]);
    b[1] = 3;
#pragma omp taskwait
}
static void changed_early(void)
{
    b[3]++;
#pragma omp target teams distribute parallel for map(tofrom: a) map(to: b) nowait /* changed_early */
    for (int i = 0; i < N; i++)
        a[i] += b[i];
    if (mended) {
#pragma omp taskwait
    }
    b[N - 1]++;
#pragma omp taskwait
}
static void set_one(void *memory) { *(int *)memory = 1; }
static void in_reach(void)
{
    omp_interop_t queue = omp_interop_none;
    int *p = omp_target_alloc(sizeof a, 0), *both = llvm_omp_target_alloc_shared(sizeof a, 0);
#pragma omp interop init(targetsync: queue)
    ompgpu_interop_call(queue, set_one, p);
#pragma omp interop destroy(queue)
    both[1] = 2;
    use(both[1]);
    omp_target_free(p, 0);
    omp_target_free(both, 0);
}
static void freed_twice(void)
{
    int *p = omp_target_alloc(sizeof a, 0);
    omp_target_free(p, 0);
    if (!mended)
        omp_target_free(p, 0);
}
static void deleted_unchanged(void) /* and mapped again: nothing is lost */
{
#pragma omp target data map(tofrom: a)
    {
#pragma omp target
        b[0] = a[0];
#pragma omp target exit data map(delete: a)
        a[0] = 3;
#pragma omp target map(to: a)
        b[1] = a[0];
    }
}
/* Both sides use their copies as they like: nothing is lost. */
static void both_sides(void)
{
    int copy[N];
#pragma omp target data map(to: a) map(from: b) map(tofrom: copy)
    {
        memset(a, 1, sizeof a);
        memset(b, 1, sizeof b);
        memset(copy, 1, sizeof copy);
#pragma omp target
        for (int i = 0; i < N; i++)
            b[i] = copy[i] = i;
    }
#pragma omp target enter data map(to: b)
    b[3]++;
#pragma omp target update from(b) /* the device's copy was kept to be restored */
#pragma omp target exit data map(release: b)
}
/* The value is the same, it is the host's own, or on its way; pointers differ on both sides. */
static void both_know(void)
{
    struct row r = { 4, a };
    int i = 0;
    struct list {
        struct list *next;
        int value;
    } second = { NULL, 1 }, first = { &second, 2 };
#pragma omp target data map(tofrom: i)
    {
#pragma omp target map(alloc: i)
        i = 7;
        for (i = 0; i < 3; i++)
            use(i);
    }
#pragma omp target enter data map(to: first, second)
#pragma omp target map(alloc: first, second)
    first.next = &second, second.value = 3;
    use(first.next->next == NULL);
#pragma omp target exit data map(from: first, second)
#pragma omp target data map(tofrom: a) map(from: b)
    {
        a[3] = a[3] + 0;
        a[4] = 9;
#pragma omp target
        for (int i = 0; i < N; i++)
            b[i] = i == 4 ? (a[4] = 3) : a[i], a[i] = a[i];
        use(a[3] + a[4]);
        a[5] = 1, a[5] = 0;
#pragma omp target
        b[5] = a[5];
        memset(b, 1, sizeof b);
        use(b[6]);
    }
#pragma omp target data map(tofrom: r, r.cells[0:4])
    {
#pragma omp target
        r.n += r.cells[0];
#pragma omp target update from(r)
        use(r.n + (r.cells != NULL) + r.cells[1]);
#pragma omp target update to(r)
#pragma omp target
        r.n = r.cells[1];
    }
}
/* Items of one construct that overlap. */
static void twice(void)
{
    int *p = a;
#pragma omp target map(tofrom: a) map(tofrom: p[3:5])
    a[4] = 5, p[3] = 6;
    use(a[4]);
}
/* 2 of its bytes lie in the last 16, and an update of the first does not change what is known of the other. */
static void all_but_one(void)
{
    static char text[N - 2] __attribute__((aligned(16)));
    int sum = 0, last = N - 3;
#pragma omp target data map(to: text)
    {
        memset(text, 1, sizeof text);
#pragma omp target update to(text[0:mended ? N - 2 : N - 3])
#pragma omp target map(tofrom: sum)
        sum += text[last]; /* all_but_one */
    }
    use(sum);
}
/* The allocator gives the address again. */
static void allocated_again(void)
{
    int *old = malloc(N * sizeof *old);
#pragma omp target enter data map(alloc: old[0:N])
    if (mended) {
#pragma omp target exit data map(delete: old[0:N])
    }
    free(old);
    int *new = malloc(N * sizeof *new);
    new[0] = 1;
#pragma omp target map(tofrom: new[0:N]) /* allocated_again */
    new[1] = 2;
#pragma omp target exit data map(delete: new[0:N])
    free(new);
}
static void moved_away(void)
{
    int *old = malloc(N * sizeof *old), *behind = malloc(N * sizeof *behind);
#pragma omp target enter data map(alloc: old[0:N])
    if (mended) {
#pragma omp target exit data map(delete: old[0:N])
    }
    int *moved = realloc(old, 1000 * N * sizeof *moved), *new = malloc(N * sizeof *new);
    new[0] = behind[0] = moved[N] = 1;
    use(behind[use(moved[N]) != 1]);
#pragma omp target update to(new[0:N]) /* moved_away */
#pragma omp target exit data map(delete: new[0:N])
    free(new), free(moved), free(behind);
}
/* Late, but nothing uses the old copy; the device has it although the host has not. */
static void freed_first(void)
{
    int *old = malloc(N * sizeof *old), sum = 0;
#pragma omp target enter data map(to: old[0:N])
    unsigned long address = (unsigned long)old;
    free(old);
    old = (int *)address;
#pragma omp target map(tofrom: sum)
    sum += old != NULL;
    int *new = malloc(N * sizeof *new);
#pragma omp target exit data map(delete: new[0:N])
#pragma omp target map(alloc: new[0:N]) map(tofrom: sum)
    new[0] = 1, sum += new[0];
    free(new);
}
int main(int n, char **args)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = { { "host_change", host_change },
                { "host_change_unstructured", host_change_unstructured },
                { "deleted_inside", deleted_inside },
                { "freed_twice", freed_twice },
                { "device_reads_old", device_reads_old },
                { "device_copies_old", device_copies_old },
                { "host_reads_old", host_reads_old },
                { "host_reads_before_from", host_reads_before_from },
                { "host_reads_variable", host_reads_variable },
                { "explicit_map", explicit_map },
                { "not_back", not_back },
                { "not_back_at_exit", not_back_at_exit },
                { "result_not_back", result_not_back },
                { "update_of_nothing", update_of_nothing },
                { "never_sent", never_sent },
                { "all_but_one", all_but_one },
                { "host_is_early", host_is_early },
                { "changed_early", changed_early },
                { "host_reads_device", host_reads_device },
                { "in_reach", in_reach },
                { "mapped_still", mapped_still },
                { "entered_twice", entered_twice },
                { "copied_too_far", copied_too_far },
                { "copied_backwards", copied_backwards },
                { "allocated_again", allocated_again },
                { "moved_away", moved_away },
                { "freed_first", freed_first },
                { "both_know", both_know },
                { "twice", twice },
                { "deleted_unchanged", deleted_unchanged },
                { "both_sides", both_sides } };
    mended = n > 2;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (n > 1 && strcmp(args[1], all[i].name) == 0)
            all[i].run();
    const char *fails = getenv("FAILS");
    if (fails && strcmp(fails, "abort") == 0)
        abort();
    return fails ? atoi(fails) : 0;
}
