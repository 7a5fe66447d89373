/* data constructs and what a region captures */
struct vec { int n; double *data; };
#pragma omp begin declare target
int counter = 3;
#pragma omp end declare target

void work(int n, double *x, struct vec *v, double m[n][4])
{
    int a[10] = { 0 }, i = 0;
#pragma omp target data map(to: x[0:n]) map(alloc: a)
    {
#pragma omp target enter data map(to: v[0:1]) map(to: v->data[0:v->n])
#pragma omp target map(tofrom: m[1:2]) firstprivate(i) if(n > 3)
        a[i] = (int)(x[0] + v->data[1] + m[1][2]) + counter;
#pragma omp target update from(a[2:3]) to(counter)
#pragma omp target exit data map(delete: v[0:1])
    }
}
