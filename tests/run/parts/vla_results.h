struct pair { int a, b; double c; };
#pragma omp begin declare target
struct pair theirs(int n), mine(int n), add(struct pair, struct pair), (*choose(int k))(int);
int apply(struct pair (*f)(int), int n);
#pragma omp end declare target
