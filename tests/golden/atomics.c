/* atomics and the other synchronisation in a region */
int atomics(int n, int *x, double *d)
{
    int old = 0, v = 0;
#pragma omp target parallel map(tofrom: x[0:n], d[0:1]) map(from: old)
    {
#pragma omp atomic
        x[0] += n;
#pragma omp atomic capture
        v = x[1]++;
#pragma omp atomic capture
        { v = x[2]; x[2] = 4; }
#pragma omp atomic read
        v = x[0];
#pragma omp atomic write seq_cst
        d[0] = 2.5 * v;
#pragma omp atomic compare
        if (x[3] < n) { x[3] = n; }
#pragma omp single
        old = v;
#pragma omp flush
#pragma omp masked filter(1)
        x[1] = 0;
    }
    return old;
}
