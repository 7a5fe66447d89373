/* omp_libmextras.h - AMD's header of math functions that GPUs have and older C libraries lack: the
 * sine and cosine of x times pi, as in C23 (F.10.1.12, F.10.1.14), on the host and on devices. */
#ifndef OMP_LIBMEXTRAS_H
#define OMP_LIBMEXTRAS_H
#include <math.h>

/* x, less what is a multiple of 2, is exact, and so is all that follows of an x below 2^52: whole
 * and half ones have exact results. */
#define OMPGPU_OF_PI(T, f)                                                                         \
    static __inline T ompgpu_sinpi##f(T x)                                                         \
    {                                                                                              \
        T r = x - 2 * rint##f(x / 2), below = copysign##f(1, r) - r;                               \
        return sin##f((T)3.14159265358979323846 * (fabs##f(r) > (T)0.5 ? below : r));              \
    }                                                                                              \
    static __inline T ompgpu_cospi##f(T x)                                                         \
    {                                                                                              \
        return sin##f((T)3.14159265358979323846 * ((T)0.5 - fabs##f(x - 2 * rint##f(x / 2))));     \
    }
OMPGPU_OF_PI(double, )
OMPGPU_OF_PI(float, f)
#undef OMPGPU_OF_PI
#define sinpi ompgpu_sinpi
#define sinpif ompgpu_sinpif
#define cospi ompgpu_cospi
#define cospif ompgpu_cospif
#endif
