/* Explicit tasks in device code: run at once, each with the data environment that the specification gives it */ /* also: -O0 -g */
#include "check.h"

static int fib(int n)
{
    int a = 0, b = 0;
    if (n < 2) return n;
#pragma omp task shared(a) if(n > 5)
    a = fib(n - 1);
#pragma omp task shared(b) final(n < 4) untied mergeable
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static int global;
struct pair { int a, b; };

static int in_task(void) { return omp_in_explicit_task() + 10 * omp_in_final(); }
static void routines(void)
{
    int r[9] = { 0 }, n = 1, all = 0;
#pragma omp target map(tofrom: r, all)
    {
        r[0] = in_task();
#pragma omp task shared(r)
        {
            r[1] = in_task();
#pragma omp task final(n > 0) shared(r)
            {
                r[2] = in_task();
#pragma omp task shared(r)
                r[3] = in_task();
            }
#pragma omp taskwait
            r[4] = in_task();
        }
#pragma omp taskwait
        r[5] = in_task();
#pragma omp parallel num_threads(33) reduction(+: all)
        {
            all += in_task();
#pragma omp single
            {
#pragma omp taskloop shared(r)
                for (int i = 6; i < 9; i++) r[i] = in_task();
            }
            all += in_task();
        }
    }
    CHECK(r[0] == 0 && r[1] == 1 && r[2] == 11 && r[3] == 11 && r[4] == 1 && r[5] == 0);
    CHECK(r[6] == 1 && r[7] == 1 && r[8] == 1 && all == 0);
    /* an implicit task is not explicit, nor final */
    int inside = 0, nested = 0, after = 0;
#pragma omp target map(tofrom: inside, nested, after)
    {
#pragma omp task final(n > 0) shared(inside, after)
        {
#pragma omp parallel num_threads(4) reduction(+: inside)
            inside += in_task();
            after = in_task();
        }
#pragma omp parallel num_threads(2) reduction(+: nested)
        {
#pragma omp task shared(nested)
            {
#pragma omp parallel num_threads(2) reduction(+: nested)
                nested += in_task();
                nested += 100 * in_task();
            }
        }
    }
    CHECK(inside == 0 && after == 11 && nested == 200);
}

int main(void)
{
    int x = 1, y = 2, z[4] = { 1, 2, 3, 4 }, order[8] = { 0 }, sum = 0, n = 37, kept[6] = { 0 };
    struct pair p = { 5, 6 };

    /* shared in the parallel region: shared in the task; its locals and what is private there: the values */
#pragma omp target parallel num_threads(33) map(tofrom: x, y, z, kept) firstprivate(p)
    {
        int mine = 3;
#pragma omp single
        {
            int local = 10, row[3] = { 1, 2, 3 };
#pragma omp task
            {
                x = 100;
                z[1] = 200;
                mine = 4;
                local += mine;
                row[1] = 50;
                p.a = 77;
                kept[0] = local + row[1] + p.a;
            }
#pragma omp task private(y) shared(local) depend(out: local)
            {
                y = 9;
                local = 11 + y - 9;
            }
#pragma omp task depend(in: local) shared(local) priority(3)
            kept[1] = local;
#pragma omp taskyield
#pragma omp taskwait
            kept[2] = mine * 1000 + local + row[1] + p.a;
        }
    }
    CHECK(x == 100 && y == 2 && z[1] == 200 && p.a == 5);
    CHECK_EQ(kept[0], 14 + 50 + 77);
    CHECK_EQ(kept[1], 11);
    CHECK_EQ(kept[2], 3000 + 11 + 2 + 5);

    /* in the region itself nothing is shared by a team; a global is, and what a clause says */
    global = 0;
#pragma omp target map(tofrom: x, z, order) map(tofrom: global)
    {
        int k = 0;
#pragma omp task
        { x = 5; z[0] = 9; global++; }
#pragma omp task default(shared)
        { k++; z[2] = 8; order[0] = z[0]; }
        order[1] = k;
#pragma omp taskgroup
        {
#pragma omp task shared(k)
            k += 10;
        }
        order[2] = k;
    }
    CHECK(x == 100 && z[0] == 1 && z[2] == 8 && global == 1);
    CHECK(order[0] == 1 && order[1] == 1 && order[2] == 11);

    int f = 0;
#pragma omp target map(from: f)
    f = fib(12);
    CHECK_EQ(f, 144);
#pragma omp target parallel num_threads(5) map(tofrom: f)
#pragma omp master
    f += fib(10);
    CHECK_EQ(f, 144 + 55);

    /* taskloop */
    int a[40] = { 0 }, last = 0, i = -1, first = 3;
#pragma omp target map(tofrom: a, last) map(to: n)
    {
#pragma omp taskloop shared(a) lastprivate(last) firstprivate(first) num_tasks(4)
        for (i = 0; i < n; i++) {
            a[i] += i + first;
            last = i;
        }
    }
    for (int k = 0; k < 40; k++) CHECK_EQ(a[k], k < n ? k + 3 : 0);
    CHECK_EQ(last, 36);
#pragma omp target parallel map(tofrom: a, sum) num_threads(10)
    {
#pragma omp masked taskloop simd collapse(2) grainsize(3)
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 8; k++) a[8 * j + k] = 8 * j + k;
#pragma omp barrier
#pragma omp single
#pragma omp taskloop nogroup
        for (int k = 39; k >= 0; k--)
#pragma omp atomic
            sum += a[k];
    }
    CHECK_EQ(sum, 780);
#pragma omp target map(tofrom: sum)
#pragma omp parallel master taskloop num_threads(7) shared(sum)
    for (int k = 0; k < n; k++)
#pragma omp atomic
        sum += k;
    CHECK_EQ(sum, 780 + 666);
    sum = 0;
#pragma omp target teams num_teams(3) map(tofrom: sum)
#pragma omp parallel masked taskloop simd num_threads(7)
    for (int k = 0; k < 10; k++)
#pragma omp atomic
        sum += k;
    CHECK(sum > 0 && sum % 45 == 0);

    /* a task per iteration of grainsize(1): each has its own copy of what is firstprivate */
    int counts[12] = { 0 }, c = 0;
#pragma omp target map(tofrom: counts)
#pragma omp taskloop grainsize(strict: 3) firstprivate(c) shared(counts)
    for (int k = 0; k < 12; k++) counts[k] = c++;
    for (int k = 0; k < 12; k++) CHECK_EQ(counts[k], k % 3);
    routines();
    return RESULT;
}
