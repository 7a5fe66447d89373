/* Clauses that clang does not see, between commas: it ignores what follows two commas in a row. */
/* also: -O0 */
#include "check.h"
static int twice(int x) { return 2 * x; }
#pragma omp declare target enter(twice), indirect, device_type(any)

static int tasks(void)
{
    int seen = 0;
#pragma omp parallel num_threads(1)
    {
        int w = 0;
#pragma omp task untied, replayable, shared(w)
        w++;
#pragma omp taskwait
#pragma omp task untied, transparent(omp_not_impex), shared(w)
        w++;
#pragma omp taskwait
        seen = w;
    }
    return seen;
}

static int weak(void)
{
    int x = 1, v = 0;
#pragma omp atomic seq_cst, compare, weak, capture
    {
        v = x;
        if (x == 1) {
            x = 2;
        }
    }
    return 10 * v + x;
}

static int induction(void)
{
    int last = 0, k = 3;
#pragma omp parallel for num_threads(2), induction(step(2), +: k), lastprivate(last)
    for (int i = 0; i < 10; i++)
        last = k;
    return 100 * last + k;
}

/* Teams of 64 at most, one of them; the value of the clause that follows counts. */
static int attribute(void)
{
    int threads = 0;
#pragma omp target map(tofrom: threads), ompx_attribute(__attribute__((launch_bounds(64)))), thread_limit(32)
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    return threads;
}

static int original(void)
{
    int at[64] = { 0 }, wrong = 0;
#pragma omp parallel num_threads(4)
    {
        int sum = 0;
#pragma omp for nowait, reduction(original(private), +: sum), schedule(static, 1)
        for (int i = 0; i < 64; i++) {
            at[i] = omp_get_thread_num();
            sum += i;
        }
#pragma omp atomic
        wrong += sum != 2016;
    }
    for (int i = 0; i < 64; i++)
        wrong += at[i] != i % 4;
    return wrong;
}

/* The clause that is chosen at run time is one of three. */
static int chosen(int big)
{
    int threads = 0;
#pragma omp metadirective when(user={condition(big > 2)}: parallel num_threads(3)), when(user={condition(big > 1)}: parallel num_threads(2)), default(parallel num_threads(1))
#pragma omp atomic
    threads++;
    return threads;
}

int main(void)
{
    int on = 0, result = 0, k = 3, last = 0;
    int (*function)(int) = twice;
    CHECK_EQ(tasks(), 2);
    CHECK_EQ(weak(), 12);
    CHECK_EQ(induction(), 2123);
    CHECK_EQ(attribute(), 32);
    CHECK_EQ(original(), 0);
    for (int n = 1; n < 4; n++)
        CHECK_EQ(chosen(n), n);
#pragma omp target teams distribute parallel for num_threads(32), induction(step(2), +: k), map(tofrom: on, result, last)
    for (int i = 0; i < 10; i++)
        if (i == 5) {
            on = ON_DEVICE;
            last = k;
            result = function(21);
        }
    CHECK_EQ(on, 1);
    CHECK_EQ(result, 42);
    CHECK_EQ(last, 13);
    CHECK_EQ(k, 23);
    return RESULT;
}
