struct ctx { float *x; int n; };
static void body(void *p) { struct ctx *c = p; for (int i = __ompgpu_thread_id(); i < c->n; i += __ompgpu_num_threads()) c->x[i] += i; }
__attribute__((noinline)) static float own(int n)
{
    float *a = __builtin_alloca(n * sizeof *a);
    for (int i = 0; i < n; i++) a[i] = n - i;
    for (int i = 1; i < n; i++) a[i] += a[i - 1] * a[n - i];
    return a[n / 2];
}
REGION(arrays) { y[n] = own(n); }
SPMD(arrays, 0, "target parallel")
REGION(forks) { struct ctx c = { x, n }; y[n] = own(n); __ompgpu_parallel(body, &c, 0, 1); }
GENERIC(forks, 1, "target")
REGION(meets) { x[__ompgpu_thread_id()] = n; __ompgpu_barrier(0); y[n] = x[n]; }
SPMD(meets, 0, "target parallel")
