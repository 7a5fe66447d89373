struct red { float s; double m; };
__OMPGPU_INLINE void combine(void *into, const void *from)
{
    struct red *a = into; const struct red *b = from;
    a->s += b->s; a->m = a->m > b->m ? a->m : b->m;
}
REGION(sum)
{
    struct red rec = { 0, -1e300 }, tmp;
    EACH(i, n) { rec.s += x[i]; if (x[i] > rec.m) rec.m = x[i]; }
    if (__ompgpu_reduce_league(env, &rec, &tmp, sizeof rec, combine, 0)) { y[0] += rec.s; y[1] = rec.m; }
}
SPMD(sum, 16, "target teams distribute parallel for reduction(+:s) reduction(max:m)")
