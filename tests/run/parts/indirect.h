typedef int step(int);
step *next_step(step *);
#pragma omp declare target to(next_step)
#pragma omp begin declare target indirect
int halved(int);
int tripled(int);
#pragma omp end declare target
