/* attached pointers whose pointee has left the device: they are storage as any other, but never give the host a device address */
#include "check.h"

struct list {
    struct list *next;
    int v;
};
struct vector {
    int n, *p, *q;
};
#pragma omp begin declare target
static int *global;
#pragma omp end declare target

static int sum_of(struct list *first)
{
    struct list a = { first, 0 };
    int sum = 0;
#pragma omp target map(tofrom: sum) firstprivate(a)
    for (struct list *x = a.next; x; x = x->next) sum += x->v;
    return sum;
}

static void shorter_list(void)
{
    struct list c = { NULL, 3 }, b = { &c, 2 }, a = { &b, 1 };
#pragma omp target enter data map(to: a)
#pragma omp target enter data map(to: a.next[0:1])
#pragma omp target enter data map(to: a.next->next[0:1])
    struct list *first = omp_get_mapped_ptr(&a, omp_get_default_device());
    CHECK_EQ(sum_of(first), 6);
#pragma omp target exit data map(delete: c)
    b.next = NULL;
#pragma omp target update to(b)
    CHECK_EQ(sum_of(first), 3);
#pragma omp target exit data map(delete: a, b)
}

static void updates(void)
{
    int a[4] = { 1, 2, 3, 4 }, r = -1;
    struct vector s = { 4, a, NULL };
#pragma omp target enter data map(to: s)
#pragma omp target map(tofrom: s.p[0:4])
    s.p[0]++;
    s.p = NULL;
#pragma omp target update to(s)
#pragma omp target map(from: r)
    r = s.p == NULL;
    CHECK_EQ(r, 1);
    s.p = a;
#pragma omp target enter data map(to: s.p[0:4])
#pragma omp target map(from: r)
    r = s.p[0];
    CHECK_EQ(r, 2);
#pragma omp target exit data map(release: s.p[0:4])
#pragma omp target
    s.p = NULL;
#pragma omp target enter data map(to: s.p[0:4]) /* is attached again */
#pragma omp target map(from: r)
    r = s.p ? s.p[2] : -1;
    CHECK_EQ(r, 3);
#pragma omp target exit data map(release: s.p[0:4])
#pragma omp target
    s.p = NULL;
#pragma omp target update from(s)
    CHECK(!s.p);
#pragma omp target exit data map(delete: s)
}

/* What the runtime has written stays on the device. */
static void no_device_addresses(void)
{
    int a[4] = { 1, 2, 3, 4 }, b[4] = { 5, 6, 7, 8 };
    struct vector s = { 4, a, b };
    for (int later = 0; later < 2; later++) {
        s.n = 4;
#pragma omp target enter data map(to: s)
#pragma omp target enter data map(to: s.p[0:4])
#pragma omp target map(tofrom: s.q[0:4])
        s.q[1] += s.p[1], s.n = 9;
#pragma omp target exit data map(delete: a)
#pragma omp target update from(s)
        CHECK(s.p == a && s.q == b && s.n == 9);
        if (later) {
#pragma omp target exit data map(from: s) nowait
#pragma omp taskwait
        } else {
#pragma omp target exit data map(from: s)
        }
        CHECK(s.p == a && s.q == b && s.n == 9);
    }
    CHECK_EQ(b[1], 10);
}

/* A kernel that changes attached pointers is wrong, but the host keeps its own. */
static void swapped(void)
{
    int a[4] = { 1, 2, 3, 4 }, b[4] = { 5, 6, 7, 8 };
    struct vector s = { 4, a, b };
#pragma omp target data map(tofrom: s)
    {
#pragma omp target map(tofrom: s.p[0:4], s.q[0:4])
        {
            int *t = s.p;
            s.p = s.q + 1;
            s.q = t;
            s.q[0]++;
        }
    }
    CHECK(s.p == a && s.q == b && a[0] == 2);
}

static void declare_target(void)
{
    int a[4] = { 1, 2, 3, 4 }, b[4] = { 5, 6, 7, 8 }, r = -1, device = omp_get_default_device();
    global = a;
#pragma omp target enter data map(to: global[0:4])
#pragma omp target map(from: r)
    r = global[2];
    CHECK_EQ(r, 3);
#pragma omp target exit data map(delete: global[0:4])
    int *d = omp_target_alloc(sizeof b, device);
    omp_target_memcpy(d, b, sizeof b, 0, 0, device, omp_get_initial_device());
    global = d;
#pragma omp target update to(global)
#pragma omp target map(from: r)
    r = global[2];
    CHECK_EQ(r, 7);
    global = NULL;
#pragma omp target update to(global)
#pragma omp target map(from: r)
    r = global == NULL;
    CHECK_EQ(r, 1);
    omp_target_free(d, device);
}

/* Pointers in blocks of their own threads lead to one pointee, which another thread removes. */
static void threads(void)
{
    enum { THREADS = 8, ROUNDS = 50 };
    for (int round = 0; round < ROUNDS; round++) {
        int shared[64] = { 0 }, wrong = 0;
        struct vector *of[THREADS];
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
        {
            int me = omp_get_thread_num();
            struct vector *s = of[me] = malloc(1 << 18); /* far from the others */
            *s = (struct vector){ me, shared, NULL };
#pragma omp target enter data map(to: s[0:1])
#pragma omp critical
            {
#pragma omp target enter data map(to: s->p[0:64])
            }
#pragma omp barrier
#pragma omp single
            {
#pragma omp target exit data map(delete: shared)
            }
            s->p = NULL;
            int is_null = 0;
#pragma omp target update to(s[0:1])
#pragma omp target map(from: is_null)
            is_null = s->p == NULL;
            wrong += !is_null;
            s->p = shared;
#pragma omp target exit data map(from: s[0:1])
            wrong += s->p != NULL;
            free(s);
        }
        CHECK_EQ(wrong, 0);
    }
}

int main(void)
{
    shorter_list();
    updates();
    no_device_addresses();
    swapped();
    declare_target();
    threads();
    return RESULT;
}
