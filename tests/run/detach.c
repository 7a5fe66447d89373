/* detached tasks in device code: taskwait, taskgroup, dependences and the region's end wait for the event, whoever fulfills it */
/* also: -O0 -g */
#include "check.h"

#define N 64
#pragma omp begin declare target
static int later(omp_event_handle_t e, int *x)
{
    *x += 5;
    omp_fulfill_event(e);
    return 1;
}
static omp_event_handle_t spawn(int *y)
{
    omp_event_handle_t e;
#pragma omp task detach(e)
    *y = 1;
    return e;
}
#pragma omp end declare target

int main(void)
{
    int on = 0, a = 0, b = 0, c = 0, d = 0, e = 0;
#pragma omp target map(tofrom : on, a, b, c, d, e)
    {
        omp_event_handle_t event, inner, third;
        on = ON_DEVICE;
#pragma omp task detach(event) shared(a)
        a = 1;
#pragma omp task shared(a)
        later(event, &a);
#pragma omp taskwait
        a *= 2; /* 12 */
#pragma omp task detach(event) shared(b) if (a < 0)
        later(event, &b);
        /* taskwait does not wait for a grandchild, taskgroup does */
#pragma omp task shared(inner, c)
        {
#pragma omp task detach(inner) shared(c)
            c = 1;
        }
#pragma omp taskwait
#pragma omp taskgroup
        {
#pragma omp task detach(third) depend(out : d) shared(d)
            d = 3;
            omp_fulfill_event(third);
#pragma omp task depend(in : d) depend(out : e) shared(d, e)
            e = d + 1;
#pragma omp taskwait depend(in : e)
        }
        omp_fulfill_event(inner);
    }
    CHECK(on);
    CHECK_EQ(a, 12);
    CHECK_EQ(b, 5);
    CHECK_EQ(c, 1);
    CHECK_EQ(e, 4);

    /* threads wait for events that others fulfill */
    int got[N] = { 0 }, data[N] = { 0 };
    omp_event_handle_t events[N];
#pragma omp target parallel num_threads(N) map(tofrom : got, data) map(alloc : events)
    {
#pragma omp for ordered schedule(static, 1) nowait
        for (int i = 0; i < N; i++) {
            omp_event_handle_t own;
#pragma omp task detach(own)
            got[i] = 1;
#pragma omp ordered
            {
                data[i] = 100 + i;
                events[i] = own;
                if (i)
                    omp_fulfill_event(events[i - 1]);
                if (i == N - 1)
                    omp_fulfill_event(own);
            }
        }
#pragma omp taskwait
        for (int i = omp_get_thread_num(); i < N; i += omp_get_num_threads())
            got[i] += data[i] + data[i + (i < N - 1)];
    }
    for (int i = 0; i < N; i++)
        CHECK_EQ(got[i], 1 + 100 + i + 100 + i + (i < N - 1));

    /* in a called function; the region's end waits */
    int x = 0, y = 0;
#pragma omp target map(tofrom : x, y)
#pragma omp parallel num_threads(2)
#pragma omp single
    later(spawn(&y), &x);
    CHECK_EQ(x + y, 6);
    return RESULT;
}
