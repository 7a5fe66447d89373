#!/bin/sh
# The end of the process, and fork, while constructs are under way or fail: no hang, no crash, and what has failed is said.
. tests/lib.sh
case $ARCH in *emu*) ;; *) skip_all "the emulated device's memory and number" ;; esac
cat >ends.c <<'C'
#pragma omp requires reverse_offload
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
enum { MANY = 200, N = 1000, LARGE = 64 << 20 };
static int x[MANY][N], done[MANY];
#pragma omp begin declare target
static int ask(int q)
{
    int a = 0;
#pragma omp target device(ancestor: 1) map(from: a) map(to: q)
    a = q + 1;
    return a;
}
#pragma omp end declare target

/* Threads of the OpenMP library begin the host tasks that one waits for. */
static void tasks(int microseconds)
{
#pragma omp parallel num_threads(4)
#pragma omp single
    {
        for (int i = 0; i < MANY; i++) {
#pragma omp task depend(out: done[i]) shared(done)
            done[i] = 1;
#pragma omp target nowait map(tofrom: x[i]) depend(inout: done[i])
            for (int k = 0; k < N; k++)
                x[i][k]++;
        }
#pragma omp task
        {
            usleep((unsigned)microseconds);
            exit(0);
        }
    }
}
/* What exit() waits for fails in another thread. */
static void fails(void)
{
    char *large = malloc(LARGE);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(out: done[0]) shared(done)
        usleep(300000);
#pragma omp target nowait map(tofrom: large[0:LARGE]) depend(inout: done[0])
        large[0] = 1;
        usleep(100000);
        exit(0);
    }
}
static void cancelled(void)
{
    int n = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp target nowait map(tofrom: n)
        n = 1;
#pragma omp task
        {
#pragma omp cancel taskgroup
        }
    }
}
static int reverse(void)
{
    int n = 0;
#pragma omp target map(tofrom: n)
    n = ask(4);
    return n != 5;
}
static int in_child(int (*does)(void))
{
    int status = 1;
    fflush(NULL);
    pid_t child = fork();
    if (!child) {
        alarm(60);
        exit(does ? does() : 0);
    }
    waitpid(child, &status, 0);
    return status;
}
static omp_interop_t object;
static int destroy(void)
{
#pragma omp interop destroy(object)
    return 0;
}
static int given_up(void)
{
    char *large = malloc(LARGE);
    for (int i = 0; i < 3; i++) {
#pragma omp target map(tofrom: large[0:LARGE])
        large[0] = 1;
    }
    return 0;
}
int main(int argc, char **argv)
{
    int bad = 0;
    const char *what = argv[1];
    if (argc > 2)
        tasks(atoi(argv[2]));
    if (!strcmp(what, "fails"))
        fails();
    if (!strcmp(what, "cancelled"))
        cancelled();
    if (!strcmp(what, "reverse"))
        bad = reverse() || in_child(reverse) || reverse();
    if (!strcmp(what, "interop")) {
#pragma omp interop init(targetsync: object)
        usleep(50000);
        bad = in_child(NULL) || in_child(destroy) || destroy();
    }
    if (!strcmp(what, "rescued"))
        bad = given_up() || in_child(NULL);
    return bad;
}
C
# shellcheck disable=SC2086
check "compiles" "$CC" $ARCH -O2 -w ends.c -o ends
soon() { timeout 100 "$@"; }
while_tasks_begin() { for n in 0 300 600 900 1200 1500; do soon ./ends tasks $n || return 1; done; }
check "exit while threads of the OpenMP library begin host tasks" while_tasks_begin
check "a failure of what exit waits for" test_must_fail 1 sh -c 'OMPGPU_EMU_MEMORY=32M timeout 100 ./ends fails 2>err'
check "... is said" has err 'out of device memory'
OMP_CANCELLATION=true check "a cancelled construct with nowait" soon ./ends cancelled
if [ "${OMPGPU_SANITIZE:-}" = thread ]; then skip "fork: a child's regions ask its own host" "TSan does not know the emulated device's threads in a child"
else check "fork: a child's regions ask its own host" soon ./ends reverse
fi
check "fork: interop objects of the parent" soon ./ends interop
check "fork: two devices, one of them given up" soon env OMPGPU_EMU_DEVICES=2 OMPGPU_EMU_MEMORY=32M OMPGPU_ON_FAILURE=host ./ends rescued
if [ -n "$GPUS" ]; then
    # The destructor of a key of the program's comes after the runtime's, and makes constructs.
    cat >key.c <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_key_t key;
static int dying, bad;                /* atomic */
static void work(int rounds)
{
    int y[16];
#pragma omp target enter data map(alloc: y)
    for (int k = 1; k <= rounds; k++) {
        for (int i = 0; i < 16; i++)
            y[i] = k;
#pragma omp target update to(y)
        for (int i = 0; i < 16; i++)
            y[i] = -1;
#pragma omp target update from(y)
        if (y[0] != k || y[15] != k)
            __atomic_add_fetch(&bad, 1, __ATOMIC_RELAXED);
    }
#pragma omp target exit data map(delete: y)
}
static void dies(void *unused)
{
    __atomic_store_n(&dying, 1, __ATOMIC_RELEASE);
    usleep(2000);
    work(100000);
}
static void *first(void *value)
{
    work(1);
    pthread_key_create(&key, dies);
    pthread_setspecific(key, value);
    return NULL;
}
static void *second(void *value)
{
    while (!__atomic_load_n(&dying, __ATOMIC_ACQUIRE))
        usleep(100);
    work(100000);
    return value;
}
int main(void)
{
    pthread_t a, b;
    work(1);
    pthread_create(&b, NULL, second, &b);
    pthread_create(&a, NULL, first, &a);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return bad != 0;
}
C
    check "key: compiles" "$CC" --gpu-arch=sm_75 -O2 key.c -o key -lpthread
    check "a thread that makes constructs while it ends shares nothing with a new one" \
        soon env OMPGPU_DEVICE=cuda OMPGPU_CUDA_DRIVER="$OBJ/nullcuda/libcuda.so.1" ./key
fi
finish
