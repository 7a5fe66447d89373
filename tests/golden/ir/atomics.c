static __OMPGPU_SHARED unsigned shared __OMPGPU_SHARED_INIT;
REGION(atomics)
{
    unsigned *p = (unsigned *)x;
    __atomic_fetch_add(p, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(p + 1, n, __ATOMIC_SEQ_CST);
    __atomic_fetch_or(&shared, 1, __ATOMIC_RELEASE);
    y[0] = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
    unsigned own[4] = { 1, 2, 3, 4 }, old = 1;     /* only this thread's: PTX has no atomic for it */
    __atomic_compare_exchange_n(own + (n & 3), &old, 7, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    y[1] = __atomic_load_n(own + (n & 1), __ATOMIC_RELAXED);
}
SPMD(atomics, 0, "target")
