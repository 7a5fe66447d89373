/* Memory of the device that the host follows an address to, and the same done rightly: closed WHAT (closed.t). */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
void *llvm_omp_target_alloc_shared(size_t, int), llvm_omp_target_free_shared(void *, int);
enum { N = 100, MANY = 100000 };
static int x[N], big[MANY];
static volatile int result;

static int *device_ints(int n)
{
    int *p = omp_target_alloc((size_t)n * sizeof *p, omp_get_default_device());
#pragma omp target is_device_ptr(p)
    for (int i = 0; i < n; i++) p[i] = i;
    return p;
}
static int reads(void)
{
    int *p = device_ints(N);
    return p[3]; /* reads */
}
static int writes(void)
{
    int *p = device_ints(MANY);
    p[99] = 5; /* writes */
    return p[99];
}
static int copies(void)
{
    int to[N], *p = device_ints(N);
    memcpy(to, p, sizeof to); /* copies */
    return to[3];
}
static int prints(void)
{
    char *p = omp_target_alloc(8, omp_get_default_device());
#pragma omp target is_device_ptr(p)
    p[0] = 'x', p[1] = 0;
    return printf("%s\n", p); /* prints */
}
static int made(void)
{
    int *p = NULL, ok = 0;
#pragma omp target map(tofrom: p)
    p = malloc(N * sizeof *p), p[3] = 7;
#pragma omp target firstprivate(p) map(from: ok)
    ok = p[3] == 7;
    return ok + p[3]; /* made */
}
static int uses(void)
{
    int s;
#pragma omp target data map(tofrom: x) use_device_addr(x)
    s = x[3]; /* uses */
    return s;
}
static int pointer(void)
{
    int s, *q = big;
#pragma omp target data map(tofrom: big) use_device_ptr(q)
    s = q[3]; /* pointer */
    return s;
}
static int threads(void)
{
    int s = 0, *p = device_ints(MANY);
#pragma omp parallel num_threads(4) reduction(+: s)
    s += p[omp_get_thread_num()]; /* threads */
    return s;
}

/* ------------------------------------------------------------------ right */
static void *many_copies(void *p)
{
    int to[N];
    for (int i = 0; i < 200; i++) {
        omp_target_memcpy(to, p, sizeof to, 0, 0, omp_get_initial_device(), omp_get_default_device());
        if (to[7] != 7) return NULL;
    }
    return p;
}
static int right(void)
{
    int d = omp_get_default_device(), h = omp_get_initial_device(), to[N], s = 0, ok = 1;
    int *p = device_ints(N), *q = device_ints(MANY), *r = omp_target_alloc(64, d);
    omp_target_memcpy(to, p, sizeof to, 0, 0, h, d);
    ok &= to[99] == 99;
    omp_target_memset(r, 0, 64, d);
    omp_target_free(r, d);
    r = device_ints(16);
    for (int i = 0; i < 50; i++) {
#pragma omp target is_device_ptr(q) map(tofrom: s) nowait depend(inout: s)
        s += q[i];
#pragma omp target update to(x) nowait
    }
#pragma omp taskwait
    ok &= s == 49 * 50 / 2;
#pragma omp target data map(tofrom: x)
    {
#pragma omp target data use_device_addr(x)
        omp_target_memcpy(x, p, sizeof x, 0, 0, d, d);
    }
    ok &= x[42] == 42;
    pthread_t t[3];
    void *result;
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, many_copies, p);
    for (int i = 0; i < 100; i++) {
        int *more = device_ints(8);
        omp_target_free(more, d);
    }
    for (int i = 0; i < 3; i++) pthread_join(t[i], &result), ok &= result == p;
    int *shared = llvm_omp_target_alloc_shared(sizeof *shared, d);
    *shared = 3;
#pragma omp target is_device_ptr(shared)
    ++*shared;
    ok &= *shared == 4;
    llvm_omp_target_free_shared(shared, d);
    fflush(stdout);
    if (fork() == 0) {
        omp_target_memcpy(to, r, 64, 0, 0, h, d);
        _exit(to[3] == 3 ? 0 : 1);
    }
    int status;
    wait(&status);
    ok &= status == 0;
    omp_target_free(p, d);
    omp_target_free(q, d);
    omp_target_free(r, d);
    return !ok;
}

int main(int argc, char **argv)
{
    static const struct { const char *name; int (*f)(void); } all[] = {
        { "reads", reads }, { "writes", writes }, { "copies", copies }, { "prints", prints },
        { "made", made }, { "uses", uses }, { "pointer", pointer }, { "threads", threads } };
    if (argc < 2 || strcmp(argv[1], "right") == 0) return right();
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(argv[1], all[i].name) == 0) result = all[i].f();
    return result == 12345;
}
