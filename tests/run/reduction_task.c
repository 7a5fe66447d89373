/* Tasks that take part in reductions: task_reduction and in_reduction, taskloop reduction, the modifiers, target in_reduction on the host */
#include "check.h"

struct most { int value, at; };
#pragma omp declare reduction(most : struct most : omp_out = omp_in.value > omp_out.value ? omp_in : omp_out) initializer(omp_priv = { -100, -1 })
#pragma omp declare reduction(copies : int : omp_out += omp_in + 1) initializer(omp_priv = 1000)

static void taskgroups(void)
{
    int x = 5, a[6] = { 1, 2, 3, 4, 5, 6 }, *p = a, lo = 1, seen = 0, odd = 2, k = 0;
    double d = 1;
    struct most m = { 0, -7 };
#pragma omp target map(tofrom: x, d, a, m, seen)
    {
        /* outside of the tasks x is the original, the copy begins with the identity */
#pragma omp taskgroup task_reduction(+: x, a[lo:3]) task_reduction(*: d) task_reduction(most: m)
        {
            x += 100;
            seen = x;
            for (int i = 0; i < 10; i++) {
#pragma omp task in_reduction(+: x)
                {
                    if (i == 0) seen += 10000 * x;
                    x += i;
                }
#pragma omp task in_reduction(+: a[lo:3]) in_reduction(*: d) in_reduction(most: m)
                {
                    a[lo + i % 3] += i;
                    d *= 2;
                    if (i * 7 % 10 > m.value) m = (struct most){ i * 7 % 10, i };
                    /* a task in a task, another group in it */
#pragma omp task in_reduction(*: d)
                    {
                        d *= 0.5;
#pragma omp taskgroup task_reduction(*: d)
                        {
#pragma omp task in_reduction(*: d)
                            d *= 4;
                            d *= 1.0;
                        }
                        d *= 0.25;
                    }
                }
            }
            a[0] += 50;
        }
    }
    CHECK_EQ(x, 5 + 100 + 45);
    CHECK_EQ(seen, 105);
    CHECK(a[0] == 51 && a[1] == 2 + 18 && a[2] == 3 + 12 && a[3] == 4 + 15 && a[4] == 5);
    CHECK_EQ(d, 1);
    CHECK(m.value == 9 && m.at == 7);

    /* a parallel region inside of a task reduces into the group's copy; one beside it has to do with the original */
    int y = 3, outer = 0;
#pragma omp target map(tofrom: y, outer)
    {
#pragma omp taskgroup task_reduction(+: y)
        {
#pragma omp task in_reduction(+: y) shared(outer)
            {
#pragma omp parallel for reduction(+: y) num_threads(50)
                for (int i = 0; i < 200; i++) y += i;
#pragma omp parallel num_threads(20)
#pragma omp for schedule(dynamic, 3) reduction(+: y)
                for (int i = 0; i < 200; i++) y++;
                outer = y;
            }
#pragma omp parallel for reduction(+: y) num_threads(9)
            for (int i = 0; i < 10; i++) y += 1000000;
#pragma omp taskloop in_reduction(+: y)
            for (int i = 0; i < 3; i++) y++;
        }
    }
    CHECK_EQ(outer, 19900 + 200);
    CHECK_EQ(y, 3 + 19900 + 200 + 10000000 + 3);

    /* a pointer, in a parallel region, several groups at once; the initialiser counts once a group */
    int got = 0;
#pragma omp target parallel num_threads(7) map(tofrom: p[0:6], odd, k) map(from: got)
    {
#pragma omp single
        got = omp_get_num_threads();
#pragma omp critical
        {
#pragma omp taskgroup task_reduction(+: p[lo + 1:2]) task_reduction(copies: odd)
            {
#pragma omp task in_reduction(+: p[lo + 1:2])
                p[lo + 1] += 10, p[lo + 2] -= 10;
#pragma omp taskloop in_reduction(+: p[lo + 1:2]) in_reduction(copies: odd)
                for (int i = 0; i < 4; i++) p[lo + 1 + i % 2]++, odd++;
            }
            k++;
        }
    }
    CHECK_EQ(k, got);
    CHECK(a[2] == 15 + 12 * got && a[3] == 19 - 8 * got);
    CHECK_EQ(odd, 2 + got * (1000 + 4 + 1));
}

static void modifiers(void)
{
    int s = 3, t = 0, got = 0, f = 0;
#pragma omp target parallel reduction(task, +: s) num_threads(20) map(from: got)
    {
        s++;
#pragma omp task in_reduction(+: s)
        s += 100;
        if (omp_get_thread_num() == 0) got = omp_get_num_threads();
    }
    CHECK_EQ(s, 3 + 101 * got);
#pragma omp target parallel for reduction(task, +: t) num_threads(20)
    for (int i = 0; i < 100; i++) {
#pragma omp task in_reduction(+: t)
        t += i;
#pragma omp taskgroup
#pragma omp task in_reduction(+: t)
        {
#pragma omp task in_reduction(+: t)
            t++;
        }
    }
    CHECK_EQ(t, 4950 + 100);
    s = 0;
#pragma omp target map(tofrom: s, t)
#pragma omp parallel num_threads(9)
    {
#pragma omp for reduction(task, +: s) reduction(default, max: t)
        for (int i = 0; i < 33; i++) {
#pragma omp taskloop in_reduction(+: s)
            for (int j = 0; j < 3; j++) s += j;
            t = i * 1000 > t ? i * 1000 : t;
        }
#pragma omp sections reduction(task, +: s)
        {
#pragma omp task in_reduction(+: s)
            s -= 50;
#pragma omp section
            s -= 1;
        }
#pragma omp scope reduction(+: t)
        if (omp_get_thread_num() == 0) t += 7;
    }
    CHECK_EQ(s, 99 - 51);
    CHECK_EQ(t, 32007);
#pragma omp target teams distribute parallel for reduction(default, +: f) num_teams(5)
    for (int i = 0; i < 1000; i++) f += i;
    CHECK_EQ(f, 499500);
}

static void taskloops(void)
{
    int s = 1, r[3] = { 0 }, c = 5;
    struct most m = { -1, 0 };
#pragma omp target map(tofrom: s, r, m, c)
    {
#pragma omp taskloop reduction(+: s, r) reduction(most: m) num_tasks(5)
        for (int i = 0; i < 50; i++) {
            s += i, r[i % 3]++;
            if (i % 17 > m.value) m = (struct most){ i % 17, i };
#pragma omp task in_reduction(+: s)
            s += 1000;
        }
#pragma omp taskloop simd reduction(copies: c)
        for (int i = 0; i < 4; i++) c++;
    }
    CHECK_EQ(s, 1 + 1225 + 50000);
    CHECK(r[0] == 17 && r[1] == 17 && r[2] == 16 && m.value == 16 && m.at == 16);
    CHECK_EQ(c, 5 + 1004 + 1);
    s = 0;
#pragma omp target parallel num_threads(40) map(tofrom: s)
    {
#pragma omp masked taskloop reduction(+: s)
        for (int i = 0; i < 10; i++) s += i;
    }
#pragma omp target map(tofrom: s)
#pragma omp parallel masked taskloop simd reduction(+: s) num_threads(40)
    for (int i = 0; i < 10; i++) s += 100 * i;
    CHECK_EQ(s, 45 + 4500);
}

/* The host's tasks and target tasks take part in one reduction. */
static void host_group(void)
{
    int x = 7, b[4] = { 0 }, dev = 0;
    double d = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp taskgroup task_reduction(+: x, b[0:4], d)
    for (int i = 0; i < 8; i++) {
#pragma omp task in_reduction(+: x)
        x += 100;
#pragma omp target in_reduction(+: x, b[0:4]) map(from: dev)
        {
            x += i;
            b[i % 4]++;
            dev = ON_DEVICE;
        }
#pragma omp target in_reduction(+: d)
#pragma omp parallel for reduction(+: d) num_threads(4)
        for (int j = 0; j < 4; j++) d += j;
#pragma omp target if(i % 2) in_reduction(+: x)
        x += 10000;
    }
    CHECK_EQ(x, 7 + 800 + 28 + 80000);
    CHECK(b[0] == 2 && b[1] == 2 && b[2] == 2 && b[3] == 2 && dev);
    CHECK_EQ(d, 48);
    x = 0;
#pragma omp parallel num_threads(2) reduction(task, +: x)
#pragma omp target in_reduction(+: x)
    {
#pragma omp task in_reduction(+: x)
        x += 21;
    }
    CHECK(x == 21 || x == 42);
}

/* Sections whose bounds the tasks do not use otherwise. */
static void sections(int x, int *y, int n, int v)
{
    int z[3] = { 45, 46, 47 }, u[n], w[n];
    for (int i = 0; i < n; i++) w[i] = u[i] = n + i;
#pragma omp taskgroup task_reduction(+: x, y[:2], z[1:2], u, w[1:v])
    {
#pragma omp task in_reduction(+: x, y[:2], z[1:2], u, w[1:v])
        x++, y[0] += 2, z[1] += 4, u[0] += 5, w[1] += 6;
#pragma omp target in_reduction(+: x, y[:v], z[1:v], u, w[1:v])
        {
            x += 4, y[1] += 6, z[2] += 7, u[1] += 8, w[2] += 7;
        }
    }
    CHECK(x == 47 && y[0] == 45 && y[1] == 50 && z[0] == 45 && z[1] == 50 && z[2] == 54);
    CHECK(u[0] == 8 && u[1] == 12 && u[2] == 5 && w[0] == 3 && w[1] == 10 && w[2] == 12);
}

int main(void)
{
    int pair[] = { 43, 44 };
#pragma omp parallel num_threads(3)
#pragma omp single
    sections(42, pair, 3, 2);
    taskgroups();
    modifiers();
    taskloops();
    host_group();
    return RESULT;
}
