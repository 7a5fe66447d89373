/* tasks right in a target region have copies of its variables, on the host, too, whatever team is around the region */
#include "check.h"
enum { N = 6 };
struct pair {
    int a, b;
};
static int global = 3;
#pragma omp declare target(global)

static int plain(int on, int *told)
{
    int mapped = 1, copied = 20, a[N] = { 300 }, sum = 0, shared_one = 0;
    struct pair p = { 4000, 5 };
#pragma omp target map(tofrom: mapped, a, sum, p, shared_one) map(from: told[0:1]) if(on)
    {
        int local = 7, n[2] = { 1, 2 };
#pragma omp task shared(shared_one)
        {
            mapped += 1, copied++, a[0]++, p.b++, local++, n[0]++;
            shared_one += mapped + copied + a[0] + p.a + p.b + local + n[0];
#pragma omp task shared(shared_one)
            mapped += 10, copied++, shared_one += mapped + copied;
#pragma omp taskwait
            shared_one += mapped + copied;
        }
#pragma omp taskwait
        sum = mapped + copied + a[0] + p.a + p.b + local + n[0];
        told[0] = ON_DEVICE;
    }
    return sum + 10000 * shared_one + mapped + a[0] + p.b;
}

static int loops(int on)
{
    int mapped = 1, copied = 2, kept = 0, last = 0;
#pragma omp target map(tofrom: mapped, kept, last) if(on)
    {
#pragma omp taskloop shared(kept) lastprivate(last) num_tasks(1)
        for (int i = 0; i < N; i++) {
            mapped += i, copied += i, last = i;
            kept = mapped + copied;
        }
        kept = 1000 * kept + 100 * mapped + 10 * copied + last;
    }
    return kept;
}

/* those of a parallel construct in the region share its variables; a default clause says what is copied */
static int in_parallel(int on)
{
    int mapped = 1, copied = 2, r = 0;
#pragma omp target map(tofrom: mapped, r) if(on)
    {
#pragma omp parallel num_threads(2)
#pragma omp single
        {
#pragma omp task
            mapped += 5;
#pragma omp task
            copied += 7;
        }
#pragma omp task default(shared)
        r++;
#pragma omp task default(none) firstprivate(mapped) shared(r)
        r += ++mapped;
#pragma omp taskwait
        r = 100 * r + 10 * mapped + copied;
    }
    return r;
}

static int events(int on)
{
    int mapped = 1, r = 0;
#pragma omp target map(tofrom: mapped, r) if(on)
    {
        omp_event_handle_t event;
#pragma omp task detach(event) shared(r)
        {
            mapped++, r = 10 * mapped + global;
            omp_fulfill_event(event);
        }
#pragma omp taskwait
        r = 100 * r + mapped;
    }
    return r;
}

int main(void)
{
    int told = 0;
    for (int on = 0; on < 2; on++) {
        CHECK_EQ(plain(on, &told), 1 + 20 + 300 + 4005 + 7 + 1 + 10000 * (2 + 21 + 301 + 4000 + 6 + 8 + 2 + 12 + 22 + 2 + 21) + 1 + 300 + 5);
        CHECK_EQ(told, on);
        CHECK_EQ(loops(on), 1000 * (16 + 17) + 100 + 20 + 5);
        CHECK_EQ(in_parallel(on), 100 * 8 + 60 + 9);
        CHECK_EQ(events(on), 100 * 23 + 1);
    }
#pragma omp parallel num_threads(2)
#pragma omp critical
    {
        CHECK_EQ(loops(0), 1000 * (16 + 17) + 100 + 20 + 5);
        CHECK_EQ(in_parallel(0), 100 * 8 + 60 + 9);
    }
    return RESULT;
}
