/* tightly nested and not: modes, sharing, loops, a function with a region of its own */
static int sum(const int *v, int n)
{
    int s = 0;
#pragma omp parallel for reduction(+: s) schedule(static, 4)
    for (int i = 0; i < n; i++)
        s += v[i];
    return s;
}
long nest(int n, int *v)
{
    long total = 0, max = 0;
    int last = 0;
#pragma omp target teams distribute parallel for collapse(2) reduction(+: total) reduction(max: max) map(to: v[0:n]) num_teams(n / 2)
    for (int i = 0; i < n; i += 2)
        for (long j = n; j > 3; --j) {
            total += v[i];
            max = max > j ? max : j;
        }
#pragma omp target teams distribute map(tofrom: last)
    for (int k = 0; k < n; k++) {
        int mine = sum(v, k);
#pragma omp parallel num_threads(8) firstprivate(mine)
        {
#pragma omp critical (adding)
            last += mine;
#pragma omp barrier
#pragma omp for lastprivate(last) nowait
            for (int i = 0; i < 5; i++)
                last = i;
        }
    }
    return total + max + last;
}
