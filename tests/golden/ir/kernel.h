/* kernel.h - kernels for the tests of omp-device, in the shape that codegen writes (codegen/c/codegen.h).
 * Every region function is  NAME__region(struct __ompgpu_env *env, int n, float *x, float *y). */
#define REGION(name) __OMPGPU_REGION void name##__region(struct __ompgpu_env *env, int n, float *x, float *y)
#ifdef __NVPTX__
#define ENTRY(name, mode)                                                                                           \
    __attribute__((nvptx_kernel)) void name(struct __ompgpu_env env, int n, float *x, float *y)                    \
    {                                                                                                               \
        if (__ompgpu_kernel_begin(&env, mode)) {                                                                    \
            name##__region(&env, n, x, y);                                                                          \
            __ompgpu_kernel_end(&env, mode);                                                                        \
        }                                                                                                           \
    }
#else
#define ENTRY(name, mode)                                                                                           \
    void name(void **p)                                                                                             \
    {                                                                                                               \
        if (__ompgpu_kernel_begin(p[0], mode)) {                                                                    \
            name##__region(p[0], *(int *)p[1], *(float **)p[2], *(float **)p[3]);                                   \
            __ompgpu_kernel_end(p[0], mode);                                                                        \
        }                                                                                                           \
    }
#endif
#define SPMD(name, reduce_bytes, directive) \
    __OMPGPU_INFO(name, SPMD, 14, 9, 0, reduce_bytes, 0, "main", "app.c", directive) ENTRY(name, __OMPGPU_SPMD)
#define GENERIC(name, flags, directive) \
    __OMPGPU_INFO(name, GENERIC, 20, 9, 0, 0, flags, "main", "app.c", directive) ENTRY(name, __OMPGPU_GENERIC)
#define EACH(i, n)                                                                                                  \
    for (unsigned i = __ompgpu_team_id() * __ompgpu_num_threads() + __ompgpu_thread_id(); i < (unsigned)(n);       \
         i += __ompgpu_num_teams() * __ompgpu_num_threads())
