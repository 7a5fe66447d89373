#pragma omp begin declare target
extern double shown_again;
double half(void) { return shown_again; }
#pragma omp end declare target
