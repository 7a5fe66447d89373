/* stress_library.c - what stress.c loads and closes while its region runs. */
#pragma omp begin declare target
static int base = 40;
#pragma omp end declare target
void start(int *a, int n, int device)
{
#pragma omp target map(tofrom: a[0:n]) device(device) nowait depend(inout: a[0])
    for (int i = 0; i < n; i++)
        a[i] = 3 * a[i] + 7;
}

int ask(int device)
{
    int x = 0;
#pragma omp target map(tofrom: x) device(device)
    x = base + 2;
    return x;
}
