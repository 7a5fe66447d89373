/* nowait with depend where the host does it: a task of its own, for which the encountering one does not wait */
/* also: -O0 -g */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static int global = 3, no;
#pragma omp declare target
static int twice(int x) { return 2 * x; }
#pragma omp end declare target

/* All of it depends on a task that this one ends after it has made the others. */
static void depend_on_what_goes_on(int *order, int n)
{
    omp_event_handle_t event;
    double *p = malloc((size_t)n * sizeof *p), *const q = p;
    struct s {
        int a[4];
        double d;
    } s = { { 1, 2, 3, 4 }, 5 };
    int arr[3] = { 7, 8, 9 }, teams = 2, chunk = 3, sum = 0;
    short w[n];
    const int c = 11;
    memset(w, 0, sizeof w);
    for (int i = 0; i < n; i++)
        p[i] = 0;
    order[0] = 0;
#pragma omp task depend(out: order[0]) detach(event) shared(order)
#pragma omp atomic write
    order[0] = 1;
#pragma omp target nowait depend(inout: order[0]) map(tofrom: order[0:1], p[0:n], w) firstprivate(arr, s) map(from: sum)
    {
        sum = 0;
        for (int i = 0; i < n; i++) {
            p[i] = i + global + c;
            w[i] = (short)(i + arr[1] + s.a[2]);
            sum += i;
        }
        order[0] = order[0] * 10 + 2;
        arr[1] = s.a[2] = 0;
    }
#pragma omp target teams distribute parallel for nowait depend(inout: order[0]) num_teams(teams) map(tofrom: q[0:n]) dist_schedule(static, chunk)
    for (int i = 0; i < n; i++)
        q[i] = twice((int)q[i]);
#pragma omp target enter data map(to: q[0:n]) nowait depend(inout: order[0])
#pragma omp target update from(q[0:n]) nowait depend(inout: order[0])
#pragma omp target exit data map(from: q[0:n]) nowait depend(inout: order[0])
#pragma omp target nowait depend(inout: order[0]) if(no) map(tofrom: order[0:1])
    order[0] = order[0] * 10 + 3;
#pragma omp target nowait depend(inout: order[0]) device(omp_get_initial_device()) map(tofrom: order[0:1])
    order[0] = order[0] * 10 + (omp_is_initial_device() ? 4 : 9);
#pragma omp target nowait depend(inout: order[0]) device_type(host) map(tofrom: order[0:1])
    order[0] = order[0] * 10 + 5;
#pragma omp target parallel for reduction(+: sum) nowait depend(inout: order[0])
    for (int i = 0; i < n; i++)
        sum += 1;
    int so_far;
#pragma omp atomic read
    so_far = order[0];
    CHECK(so_far <= 1);
    global = 1000, n = 0, teams = 0, chunk = 0, p = NULL, arr[1] = s.a[2] = 100;
    omp_fulfill_event(event);
#pragma omp taskwait
    CHECK(order[0] == 12345);
    for (int i = 0; i < 10; i++)
        CHECK(q[i] == 2 * (i + 3 + c) && w[i] == i + 8 + 3);
    CHECK(sum == 45 + 10);
    CHECK(arr[1] == 100 && s.a[2] == 100);
    global = 3;
    free(q);
}

/* With an argument that says no, all has ended. */
static void not_later(void)
{
    int x = 0;
#pragma omp task depend(out: x) shared(x)
    x = 1;
#pragma omp target nowait(no) depend(inout: x) if(no) map(tofrom: x)
    x = x * 10 + 2;
    CHECK(x == 12);
}

static void all(void)
{
    int order[1];
    depend_on_what_goes_on(order, 10);
#pragma omp parallel
#pragma omp single
    depend_on_what_goes_on(order, 10);
    not_later();
}

/* Values that a task cannot have copies of. */
static _Thread_local int device;
static void without_copies(int n)
{
    int x = 0, v[n];
    v[n - 1] = 10;
#pragma omp target nowait depend(inout: x) map(tofrom: x) firstprivate(v) device(device)
    x += v[n - 1];
#pragma omp target update to(x) nowait depend(inout: x) device(device)
#pragma omp taskwait
    CHECK_EQ(x, 10);
}

int main(int argc, char **argv)
{
    int status = -1;
    all();
    without_copies(3);
    pid_t child = argc == 1 ? fork() : 1;
    if (!child) {
        setenv("OMP_TARGET_OFFLOAD", "DISABLED", 1);
        setenv("OMPGPU_NODES", "self", 1); /* it is no process of an MPI job */
        execl(argv[0], argv[0], "disabled", (char *)NULL);
        _exit(3);
    }
    if (argc == 1)
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    return RESULT;
}
