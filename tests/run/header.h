/* for header.c: regions in a header, in a static inline function */
#ifndef RUN_HEADER_H
#define RUN_HEADER_H
static inline int header_sum(const int *v, int n)
{
    int s = 0;
#pragma omp target teams distribute parallel for map(to: v[0:n]) reduction(+: s)
    for (int i = 0; i < n; i++)
        s += v[i];
    return s;
}
static inline void header_scale(int *v, int n, int f)
{
#pragma omp target teams distribute parallel for map(tofrom: v[0:n])
    for (int i = 0; i < n; i++)
        v[i] *= f;
}
static inline int header_never_called(int *v)
{
#pragma omp target map(tofrom: v[0:1])
    v[0]++;
    return v[0];
}
#endif
