#!/bin/sh
# What ends while regions run: the thread that asked for one, a library, a child of fork, the process; and signals that come meanwhile.
. tests/lib.sh
cat >life.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
enum { N = 1000, THREADS = 3 };
static volatile sig_atomic_t ticks;
static void tick(int s) { ticks += s == SIGALRM; }

static void *ends_early(void *p)
{
    int *x = p;
#pragma omp target nowait map(tofrom: x[0:N])
    for (int k = 0; k < 50; k++)
        for (int i = 0; i < N; i++)
            x[i]++;
    return NULL;
}
static int threads_end(void)
{
    int bad = 0;
    for (int round = 0; round < 10; round++) {
        pthread_t t[THREADS];
        int *x[THREADS];
        for (int i = 0; i < THREADS; i++)
            pthread_create(&t[i], NULL, ends_early, x[i] = calloc(N, sizeof(int)));
        for (int i = 0; i < THREADS; i++) {
            pthread_join(t[i], NULL);
            bad += x[i][N - 1] != 50;
            free(x[i]);
        }
    }
    return bad;
}

static void *works(void *bad)
{
    int x[N] = { 0 };
    for (int k = 0; k < 20; k++) {
#pragma omp target nowait map(tofrom: x) depend(inout: x)
        for (int i = 0; i < N; i++)
            x[i]++;
#pragma omp taskwait
    }
    *(int *)bad += x[N - 1] != 20;
    return NULL;
}
static pthread_t workers[THREADS];
static int results[THREADS];
static void start_workers(void)
{
    for (int i = 0; i < THREADS; i++)
        pthread_create(&workers[i], NULL, works, &results[i]);
}
static int join_workers(void)
{
    int bad = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i], NULL), bad += results[i];
    return bad;
}

static int signals(void)
{
    struct sigaction a = { .sa_handler = tick };
    struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };
    sigaction(SIGALRM, &a, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    int bad = 0;
    while (ticks < 10)
        works(&bad);
    setitimer(ITIMER_REAL, &never, NULL);
    return bad;
}

static int children(void)
{
    int bad = 0;
    start_workers();
    for (int i = 0; i < 4; i++) {
        pid_t child = fork();
        if (!child) {
            int y = 1;
#pragma omp target map(tofrom: y)
            y += 41;
            _exit(y != 42);
        }
        int status = -1;
        waitpid(child, &status, 0);
        bad += status != 0;
    }
    return join_workers() + bad;
}

static int library(void)
{
    int bad = 0;
    for (int round = 0; round < 5; round++) {
        int *x = calloc(N, sizeof *x), y = 0;
        void *l = dlopen("./lib.so", RTLD_NOW);
        void (*start)(int *, int);
        *(void **)&start = dlsym(l, "start");
        start(x, N);
        dlclose(l);
#pragma omp taskwait
#pragma omp target map(from: y)
        y = 7;
        bad += x[N - 1] != 100 || y != 7;
        free(x);
    }
    return bad;
}

int main(int argc, char **argv)
{
    if (!strcmp(argv[1], "threads"))
        return threads_end();
    if (!strcmp(argv[1], "signals"))
        return signals();
    if (!strcmp(argv[1], "children"))
        return children();
    if (!strcmp(argv[1], "library"))
        return library();
    start_workers();
    ends_early(calloc(N, sizeof(int)));
    usleep(1000);
    exit(argc + 3);
}
C
cat >lib.c <<'C'
void start(int *x, int n)
{
#pragma omp target nowait map(tofrom: x[0:n])
    for (int k = 0; k < 100; k++)
        for (int i = 0; i < n; i++)
            x[i]++;
}
C
# shellcheck disable=SC2086
check "compiles" "$CC" $ARCH -O2 life.c -o life -lpthread -ldl
# shellcheck disable=SC2086
check "a library" "$CC" $ARCH -O2 -shared -fPIC lib.c -o lib.so
repeat() { n=$1; shift; while [ "$n" -gt 0 ]; do on_device in_time "$@" || return 1; n=$((n - 1)); done; }
n=${OMPGPU_LONG:+50}
check "threads end before their regions" repeat "${n:-3}" ./life threads
check "signals" repeat "${n:-1}" ./life signals
check "a library is closed while its region runs" repeat "${n:-2}" ./life library
case $ARCH in *emu*) check "fork while other threads are in regions" repeat "${n:-2}" ./life children ;; esac
ends() { i=$1; while [ "$i" -gt 0 ]; do test_must_fail 5 in_time ./life exit || return 1; i=$((i - 1)); done; }
check "exit while regions run" ends "${n:-3}"

# The process ends while another thread calls routines, which all that it does with the runtime; the runtime's destructor comes first.
cat >routines.c <<'C'
#include <omp.h>
#include <pthread.h>
#include <unistd.h>
static int x[1000], called;
static void *calls(void *unused)
{
    for (;; __atomic_store_n(&called, 1, __ATOMIC_RELEASE))
        omp_target_free(omp_target_alloc(omp_target_is_present(x, 0) + 99, 0), 0);
    return unused;
}
__attribute__((destructor(90))) static void later(void) { usleep(200000); }
int main(void)
{
    pthread_t t;
#pragma omp target enter data map(to: x)
    pthread_create(&t, NULL, calls, NULL);
    while (!__atomic_load_n(&called, __ATOMIC_ACQUIRE))
        usleep(1000);
    return 0;
}
C
# shellcheck disable=SC2086
check "routines: compiles" "$CC" $ARCH -O2 -w -static-ompgpu routines.c -o routines -lpthread
check "exit while routines are called" repeat 2 ./routines

# One thread ends the process, another one forks, and the child has an error: the exit is the parent's.  And an error at the same time as exit().
cat >both.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int missing[10], ending, ended;
static pthread_barrier_t go;
static void wait_for(int *flag) { while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) usleep(1000); }
static void set(int *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }
static void at_exit(void) { set(&ending), wait_for(&ended); }
static void *forks(void *unused)
{
    int status;
    wait_for(&ending);
    pid_t child = fork();
    if (!child) {
        alarm(60);
#pragma omp target enter data map(present, to: missing)
        _exit(9);
    }
    waitpid(child, &status, 0);
    printf("the child's status: %x\n", status);
    set(&ended);
    return unused;
}
static void *errs(void *unused)
{
    pthread_barrier_wait(&go);
#pragma omp target enter data map(present, to: missing)
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t t;
    int x = 0;
    if (strcmp(argv[1], "fork") == 0)
        atexit(at_exit);              /* called after what the runtime has registered */
#pragma omp target map(tofrom: x) nowait
    x = 1;
#pragma omp taskwait
    pthread_barrier_init(&go, NULL, 2);
    printf("something\n");
    pthread_create(&t, NULL, argv[1][0] == 'f' ? forks : errs, NULL);
    if (argc > 2)
        pthread_barrier_wait(&go);
    for (volatile int i = argc > 2 ? atoi(argv[2]) : 0; i > 0; i--)
        ;
    exit(3);
}
C
# shellcheck disable=SC2086
check "errors: compiles" "$CC" $ARCH -O2 -w both.c -o both -lpthread
check "a child that another thread's exit() has not to do with" sh -c 'timeout 100 ./both fork >out 2>err; [ $? = 3 ]'
check "... has its error" has out 'the child.s status: 100'
check "... which is said" has err 'missing'
at_once() {                           # 40 times, a little later each
    i=0
    while [ $i -lt 40 ]; do
        i=$((i + 1)) rc=$( (timeout 100 ./both errs $((i * 500)) 2>err; echo $? >rc) | cat >out; cat rc)
        case $rc in
        1) [ -s err ] || { echo "$i: status 1, nothing is said"; return 1; } ;;
        3) ;;
        *) echo "$i: status $rc"; return 1 ;;
        esac
    done
}
check "an error at the same time as exit() is said" at_once
finish
