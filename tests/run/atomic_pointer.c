/* atomic on pointers: to complete and incomplete types, to functions, to pointers; each form; members and elements */ /* also: -O0 -g */
#include "check.h"

typedef struct node { struct node *next; int n; } node;
struct open;
typedef int function(int);
#pragma omp begin declare target
static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
#pragma omp end declare target

enum { N = 1000 };
static node nodes[N];
static long cells[N];

/* A list that all threads push to: the same one by one. */
static void list(void)
{
    int count = 0, sum = 0, on = 0;
#pragma omp target map(tofrom: nodes, count, sum, on)
    {
        node *head = 0;
#pragma omp parallel for num_threads(64)
        for (int i = 0; i < N; i++) {
            nodes[i].n = i;
#pragma omp atomic capture
            { nodes[i].next = head; head = &nodes[i]; }
        }
        for (node *p = head; p; p = p->next)
            count++, sum += p->n;
        on = ON_DEVICE;
    }
    CHECK(on);
    CHECK_EQ(count, N);
    CHECK_EQ(sum, N * (N - 1) / 2);
}

/* Each thread takes the next cell. */
static void arithmetic(void)
{
    struct { long *p; const int *q[2]; } s = { 0, { 0 } };
    long moved = 0, back = 0, taken = 0;
#pragma omp target map(tofrom: cells, s, moved, back, taken)
    {
        long *next = cells, **at = &next;
#pragma omp parallel for num_threads(64)
        for (int i = 0; i < N; i++) {
            long *mine;
#pragma omp atomic capture
            mine = (*at)++;
            *mine = 1;
#pragma omp atomic
            s.p += 2;
#pragma omp atomic update seq_cst
            s.q[1] = s.q[1] + 3;
        }
        for (int i = 0; i < N; i++)
            taken += cells[i];
#pragma omp atomic
        next -= 10;
#pragma omp atomic
        --next;
        moved = next - cells;
        back = (s.q[1] - (const int *)0) - (s.p - (long *)0);
    }
    CHECK_EQ(taken, N);
    CHECK_EQ(moved, N - 11);
    CHECK_EQ(back, 3 * N - 2 * N);
    CHECK(s.p == (long *)(sizeof(long) * 2 * N));
}

static void others(void)
{
    int called = 0, swapped = 0, same = 0, nothing = 1;
#pragma omp target map(tofrom: called, swapped, same, nothing)
    {
        int (*f)(int) = twice, (*g)(int), x = 7;
        function *h = 0;
        void *v = 0, *w = &x, *old;
        struct open *o = 0, *seen;
#pragma omp atomic read
        g = f;
        called = g(10);
#pragma omp atomic write
        f = thrice;
#pragma omp atomic capture
        { g = f; f = 0; }
        called += g(100);
#pragma omp atomic write
        h = twice;
        called += h(1000);
#pragma omp atomic capture
        { old = v; v = w; }
        swapped = !old && v == w;
#pragma omp atomic compare capture
        { old = v; if (v == w) { v = 0; } }
        same = old == w && !v;
#pragma omp atomic write
        o = (struct open *)w;
#pragma omp atomic capture
        { seen = o; o = 0; }
        same += (void *)seen == w;
#pragma omp atomic read
        seen = o;
        nothing = seen != 0;
    }
    CHECK_EQ(called, 20 + 300 + 2000);
    CHECK(swapped && same == 2 && !nothing);
}

int main(void)
{
    list();
    arithmetic();
    others();
    return RESULT;
}
