/* of alias.c */
#pragma omp begin declare target
static int add(int *x)
{
    int n = 0;
#pragma omp parallel num_threads(4) reduction(+: n)
    n++;
    return *x += n;
}
int alias_shared(int *) __attribute__((alias("add")));
int alias_weak(int *) __attribute__((weak, alias("alias_shared")));
#pragma omp end declare target
