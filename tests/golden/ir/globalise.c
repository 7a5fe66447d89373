struct ctx { float *x; int n; };
static void body(void *p) { struct ctx *c = p; for (int i = __ompgpu_thread_id(); i < c->n; i += __ompgpu_num_threads()) c->x[i] += i; }
__attribute__((noinline)) static float stays(int n) { float a[8]; for (int i = 0; i < 8; i++) a[i] = i; return a[n & 7]; }
__attribute__((noinline)) static float moves(int n)
{
    float a[8] = { n }; struct ctx c = { a, 8 };
    __ompgpu_parallel(body, &c, 0, 1);
    return a[n & 7];
}
__attribute__((noinline)) static float runtime_size(int n)
{
    float *a = __builtin_alloca(n * sizeof *a); struct ctx c = { a, n };
    __ompgpu_parallel(body, &c, 0, 1);
    return a[0];
}
REGION(generic)
{
    float large[1000]; struct ctx c = { large, 1000 };
    __ompgpu_parallel(body, &c, 0, 1);
    y[0] = large[n] + stays(n) + moves(n) + runtime_size(n);
}
GENERIC(generic, 1, "target")
REGION(spmd) { struct ctx c = { x, n }; float own = 0; struct ctx d = { &own, 1 }; __ompgpu_parallel(body, &d, 0, 1); y[n] = own; }
SPMD(spmd, 0, "target parallel")
