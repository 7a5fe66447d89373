/* Several host threads make chains of constructs with nowait at the same time, on two devices where there are two, with dependences on the same
 * storage within a thread, and on what a construct of another device writes; and a child of fork, after them. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 60, N = 200 };

static int chain(int thread, int device)
{
    int *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), bad = 0;
    for (int i = 0; i < N; i++)
        a[i] = i, b[i] = thread;
#pragma omp target enter data map(to: a[0:N], b[0:N]) device(device) nowait depend(out: a[0], b[0])
    for (int r = 0; r < 4; r++) {
#pragma omp target device(device) nowait depend(inout: a[0]) map(to: a[0:N])
        for (int i = 0; i < N; i++)
            a[i] = 2 * a[i] + 1;
#pragma omp target device(device) nowait depend(in: a[0]) depend(inout: b[0]) map(to: a[0:N], b[0:N])
        for (int i = 0; i < N; i++)
            b[i] += a[i];
    }
#pragma omp target exit data map(from: a[0:N], b[0:N]) device(device) nowait depend(inout: a[0], b[0])
#pragma omp taskwait
    for (int i = 0; i < N; i++) {
        int x = i, y = thread;
        for (int r = 0; r < 4; r++)
            x = 2 * x + 1, y += x;
        bad += a[i] != x || b[i] != y;
    }
    free(a);
    free(b);
    return bad;
}

/* What one thread's construct writes, another device's reads: by way of the host. */
static int across(int first, int second)
{
    int x = 1, y = 0;
#pragma omp target device(first) map(tofrom: x) nowait depend(out: x)
    x += 4;
#pragma omp target device(second) map(to: x) map(from: y) nowait depend(in: x) depend(out: y)
    y = 2 * x;
#pragma omp target device(first) map(tofrom: y) nowait depend(inout: y)
    y++;
#pragma omp taskwait
    return x != 5 || y != 11;
}

int main(void)
{
    setenv("OMPGPU_EMU_DEVICES", "2", 0);
    int devices = omp_get_num_devices(), bad = 0;
    if (devices == 0)
        devices = 1; /* the host, as device 0 */
#pragma omp parallel num_threads(THREADS) reduction(+: bad)
    {
        int t = omp_get_thread_num();
        for (int r = 0; r < ROUNDS; r++) {
            bad += chain(t, (t + r) % devices);
            bad += across(t % devices, (t + 1) % devices);
        }
    }
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    int status = 1;
    waitpid(child, &status, 0);
    bad += status != 0;
    printf("%s\n", bad ? "wrong" : "right");
    return bad != 0;
}
