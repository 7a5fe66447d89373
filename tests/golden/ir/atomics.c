static __OMPGPU_SHARED unsigned shared __OMPGPU_SHARED_INIT;
REGION(atomics)
{
    unsigned *p = (unsigned *)x;
    __atomic_fetch_add(p, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(p + 1, n, __ATOMIC_SEQ_CST);
    __atomic_fetch_or(&shared, 1, __ATOMIC_RELEASE);
    y[0] = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
}
SPMD(atomics, 0, "target")
