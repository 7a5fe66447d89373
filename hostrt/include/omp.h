/* omp.h - the compiler's own header, with what OpenMP 5.2 has and clang 22's lacks. */
#include_next <omp.h>
#ifndef OMPGPU_OMP_H
#define OMPGPU_OMP_H
/* -1, but no integer constant expression: clang 22 refuses a negative one as argument of `device`.
 */
#ifndef omp_initial_device
#define omp_initial_device ((int)-1.0)
#endif
#ifndef omp_invalid_device
#define omp_invalid_device (-2)
#endif
#endif
