/* stale.c - data that gets lost between host and device (tests/mistakes/stale.t): one mistake a
 * function, found at the line with its name as a comment; mended it is silent. */
#include <omp.h>
#include <string.h>
enum { N = 100 };
static int mended, a[N], b[N];

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
    b[0] = a[5];
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
            b[i] = copy[i] = a[i] + i;
    }
#pragma omp target enter data map(to: b)
    b[3]++;
#pragma omp target update from(b) /* the device's copy was kept to be restored */
#pragma omp target exit data map(release: b)
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
                { "deleted_unchanged", deleted_unchanged },
                { "both_sides", both_sides } };
    mended = n > 2;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (n > 1 && strcmp(args[1], all[i].name) == 0)
            all[i].run();
    return 0;
}
