/* omp.h - the compiler's own header, with what OpenMP 5.2 has and clang 22's lacks. */
#include_next <omp.h>
#ifndef OMPGPU_OMP_H
#define OMPGPU_OMP_H
#ifndef omp_initial_device
#define omp_initial_device (-1)
#endif
#ifndef omp_invalid_device
#define omp_invalid_device (-2)
#endif
#endif
