/* tasks: run where they stand; the copy of a task reduction belongs to the taskgroup */
void tasks(int n, int *a);
void tasks(int n, int *a)
{
    int x = 0;
#pragma omp target map(tofrom: x, a[0:n])
#pragma omp taskgroup task_reduction(+: x)
    {
#pragma omp task in_reduction(+: x) depend(out: a[0])
        x += a[0];
        x *= 2;
#pragma omp taskloop in_reduction(+: x) grainsize(4)
        for (int i = 0; i < n; i++) x += a[i];
    }
}
