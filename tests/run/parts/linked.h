struct pair { int a; double b; };
typedef int (*operation)(int, int);
#pragma omp begin declare target
extern const int primes[8];
extern operation operations[];
extern int big[100], calls;
int collatz(int);
int apply(int (*)(int), int);
struct pair add(struct pair, struct pair);
void rows(int n, int k, double m[n][k], double *r);
void histogram(int *hist, int n);
void pairs(struct pair *, int n, int seed);
void sum_pairs(const struct pair *, int n, struct pair *out);
void exchange(int *shared, int n, int *bad);
void count_call(int i);
int sum_row(void);
void share_out(int *who, int n);
#pragma omp end declare target
extern int row[4], tally;
#pragma omp declare target link(row, tally)
int count_up(void);
int calls_in_region(void);
