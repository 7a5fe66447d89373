/* nested data environments: copies happen when the count goes from 0 to 1 and back, no earlier */
#include "check.h"

static int peek(int *p)              /* the device's value of p[0], which is present */
{
    int v = -1;
#pragma omp target map(tofrom: v)
    v = p[0];
    return v;
}

#ifndef HOST_ONLY
/* the storage of s.p lasts as long as what made it: the mapping of s, or those of what it points to */
static void pointers_that_lead_to_items(void)
{
    struct {
        int n, *p;
    } s = { 1, (int[4]){ 1, 2, 3, 4 } };
#pragma omp target enter data map(to: s, s.p[0:4])
#pragma omp target exit data map(delete: s.p[0:4])
    CHECK(PRESENT(&s) && !PRESENT(s.p));
#pragma omp target enter data map(to: s.p[0:4])
#pragma omp target map(present, alloc: s)
    s.n = s.p[3];
#pragma omp target exit data map(from: s.p[0:4])
#pragma omp target exit data map(from: s)
    CHECK_EQ(s.n, 4);
    CHECK(!PRESENT(&s));
#pragma omp target enter data map(to: s.p[0:4])
#pragma omp target enter data map(to: s.p[0:4])
#pragma omp target exit data map(release: s.p[0:4])
    CHECK(PRESENT(&s.p));
#pragma omp target exit data map(delete: s.p[0:4])
    CHECK(!PRESENT(&s.p) && !PRESENT(s.p));
}
static void attach_modes(void)
{
    int a[4] = { 1, 2, 3, 4 }, b[4] = { 5, 6, 7, 8 }, r = 0;
    struct {
        int n, *p;
    } s = { 4, a }, t = { 4, b };
#pragma omp target enter data map(to: s, a)
    s.p = b;
#pragma omp target enter data map(attach(never), to: s.p[0:4], t.p[1:2])
#pragma omp target map(from: r)
    r = s.n;
    CHECK(PRESENT(b) && !PRESENT(&t.p) && r == 4);
#pragma omp target enter data map(to, attach(always): s.p[0:4])
#pragma omp target map(from: r) map(present, attach(auto): s.p[0:1])
    r = s.p[1];
    CHECK_EQ(r, 6);
#pragma omp target exit data map(attach(never): s.p[0:4])
#pragma omp target exit data map(attach(never), delete: s.p[0:4])
    CHECK(!PRESENT(b) && PRESENT(&s));
#pragma omp target exit data map(delete: s, a)
}
#endif

int main(void)
{
    int a[4] = { 1, 2, 3, 4 }, *p = a, on = 0;

#pragma omp target map(tofrom: on)
    on = ON_DEVICE;
    CHECK(on);
#ifndef HOST_ONLY
#pragma omp target data map(tofrom: a)
    {
        a[0] = 10;
        CHECK_EQ(peek(p), 1);
#pragma omp target data map(tofrom: a)
        {
            a[0] = 20;
            CHECK_EQ(peek(p), 1);
#pragma omp target map(tofrom: a)
            a[0] += 5;
            CHECK_EQ(a[0], 20);
#pragma omp target map(from: a[0:2])
            a[0] += 5;
            CHECK_EQ(a[0], 20);
        }
        CHECK_EQ(a[0], 20);
        CHECK_EQ(peek(p), 11);
#pragma omp target enter data map(to: a)
#pragma omp target exit data map(from: a)
        CHECK_EQ(a[0], 20);
#pragma omp target exit data map(always, from: a)        /* count 1 -> 0, and copied */
        CHECK_EQ(a[0], 11);
        CHECK(!PRESENT(a));
#pragma omp target enter data map(to: a)
    }
    CHECK(!PRESENT(a));
    /* target data with a map that is false to the if clause */
#pragma omp target data map(tofrom: a) if(on == 77)
    CHECK(!PRESENT(a));
#pragma omp target data map(tofrom: a) if(on)
    CHECK(PRESENT(a) && PRESENT(&a[3]) && !PRESENT(&a[4]));
#pragma omp target enter data map(alloc: a[1:2]) if(!on)
    CHECK(!PRESENT(a + 1));
#pragma omp target enter data map(alloc: a[1:2])
    CHECK(PRESENT(a + 1) && PRESENT(a + 2) && !PRESENT(a) && !PRESENT(a + 3));
#pragma omp target exit data map(delete: a[1:2])
#pragma omp target exit data map(from: a)                /* not present: nothing happens */
#pragma omp target exit data map(delete: p[0:4])
    CHECK_EQ(a[0], 11);
    /* a section of length zero counts what is mapped at its address, and maps nothing */
    int none = 0;
#pragma omp target enter data map(alloc: p[0:none])
    CHECK(!PRESENT(p));
#pragma omp target enter data map(to: a) map(alloc: p[1:none])
#pragma omp target enter data map(present, alloc: p[1:none])
#pragma omp target exit data map(from: a)
#pragma omp target map(present, alloc: p[3:none]) map(from: on)
    on = p[3];
    CHECK(PRESENT(a) && on == 4);
#pragma omp target exit data map(from: p[1:0])
    CHECK(!PRESENT(a));
    pointers_that_lead_to_items();
    attach_modes();
#else
    CHECK_EQ(peek(p), 1);
#endif
    return RESULT;
}
