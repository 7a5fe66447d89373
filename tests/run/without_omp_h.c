/* what becomes calls of omp_* routines in programs without <omp.h>, more than once, and before such a routine is declared */
enum { N = 16 };
static void fill_device(int *a, const int *b)
{
#pragma omp target is_device_ptr(a, b)
    for (int i = 0; i < N; i++)
        a[i] = b[i] + 1;
}
#pragma omp declare variant(fill_device) match(construct={dispatch}) adjust_args(need_device_ptr: a, b)
static void fill(int *a, const int *b)
{
    for (int i = 0; i < N; i++)
        a[i] = b[i];
}

static int dispatched(int device)
{
    int a[N], b[N], wrong = 0;
    for (int i = 0; i < N; i++)
        b[i] = 3 * i;
#pragma omp target data map(from: a) map(to: b)
    {
#pragma omp dispatch
        fill(a, b);
#pragma omp dispatch device(device)
        fill(a, b);
    }
    for (int i = 0; i < N; i++)
        wrong += a[i] != 3 * i + 1;
    return wrong;
}

static int chosen(int device)
{
    int a[N] = { 0 }, wrong = 0;
#pragma omp metadirective when(target_device={device_num(device), kind(nohost)}: target parallel for map(tofrom: a)) \
    otherwise(parallel for)
    for (int i = 0; i < N; i++)
        a[i] += i;
#pragma omp metadirective when(target_device={device_num(device), kind(host)}: parallel for) otherwise(target parallel for map(tofrom: a))
    for (int i = 0; i < N; i++)
        a[i] += i;
    for (int i = 0; i < N; i++)
        wrong += a[i] != 2 * i;
    return wrong;
}

int omp_get_num_devices(void);
int main(void) { return dispatched(0) + chosen(0) + chosen(omp_get_num_devices()) + chosen(-1); }
