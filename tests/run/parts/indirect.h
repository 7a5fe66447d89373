#pragma omp begin declare target indirect
int halved(int);
int tripled(int);
#pragma omp end declare target
typedef int step(int);
