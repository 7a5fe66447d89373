#pragma omp begin declare target
void far_fill(int *a, int n, int v);
int far_call(int (*f)(int *, int), int *a, int n);
int far_target(int *a, int n);
int (*far_pointer(void))(int *, int);
void far_schedule(int chunk);
#pragma omp end declare target
int far_regions(void);
