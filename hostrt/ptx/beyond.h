/* beyond.h - calls of the CUDA driver that the PTX machine offers and libompgpu does not make: the
 * small CUDA runtime of tests/ptx makes them.  Numbers are those of the driver's binary interface.
 */
#ifndef OMPGPU_PTX_BEYOND_H
#define OMPGPU_PTX_BEYOND_H
#include "hostrt/cuda/driver.h"

#define CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE ((CUresult)720)

CUresult cuEventQuery(CUevent);
CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent from, CUevent to);
CUresult cuLaunchCooperativeKernel(CUfunction, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned dynamic_shared, CUstream,
                                   void **params);
#endif
