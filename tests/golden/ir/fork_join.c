struct ctx { float *x, *s; int n; };
__OMPGPU_PARALLEL void add__parallel(void *p)
{
    struct ctx *c = p;
    for (int i = __ompgpu_thread_id(); i < c->n; i += __ompgpu_num_threads()) __atomic_fetch_add(c->s, c->x[i], __ATOMIC_RELAXED);
}
__OMPGPU_PARALLEL void mul__parallel(void *p)
{
    struct ctx *c = p;
    for (int i = __ompgpu_thread_id(); i < c->n; i += __ompgpu_num_threads()) c->x[i] *= *c->s;
}
REGION(fork_join)
{
    float s = 0, kept[4];
    for (int i = 0; i < 4; i++) kept[i] = y[i];
    struct ctx c = { x, &s, n };
    __ompgpu_parallel(add__parallel, &c, 0, 1);
    s += kept[n & 3];
    __ompgpu_parallel(mul__parallel, &c, 0, 1);
}
GENERIC(fork_join, 1, "target")
