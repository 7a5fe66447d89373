/* nullcuda.h - what tests can ask of nullcuda beside the driver's own functions (found with dlsym in the loaded library).
 *
 * Environment, read at the first call:
 *   NULLCUDA_ARCH=90           compute capability of the devices
 *   NULLCUDA_REGISTERS=32      registers of a thread of each kernel
 *   NULLCUDA_DEVICES=1         how many
 *   NULLCUDA_MEMORY=1073741824 bytes of each
 *   NULLCUDA_FAIL=CALL:N[:CODE][,…]   the N-th call of CALL fails with CODE (cuMemAlloc_v2: 2, others 999)
 *   NULLCUDA_FAIL_AT_SYNC=N[:CODE]    the N-th kernel faults: the next cuStreamSynchronize and everything after it fail with CODE (719)
 *   NULLCUDA_KERNEL_US=N       work takes time: a kernel N microseconds (timed.c)
 *   NULLCUDA_KERNELS=16        … so many kernels run at a time
 *   NULLCUDA_BYTES_PER_US=20000       … of a copy, one in each direction at a time
 *   NULLCUDA_COUNTS=FILE       at exit: a line `CALL COUNT` for every call made
 *   NULLCUDA_LOG=FILE          a line `launch KERNEL grid N block N params N stream P first P` for every launch (first: the first
 *                              8 bytes of the first parameter), `limit stack N` or `limit heap N` for every cuCtxSetLimit,
 *                              `wait spin` or `wait block` for cuDevicePrimaryCtxSetFlags */
#ifndef NULLCUDA_H
#define NULLCUDA_H
#include <stdbool.h>
unsigned long nullcuda_count(const char *call);     /* calls so far; of all functions for NULL */
void nullcuda_reset(void);                          /* counts to 0, no failures to come, no fault */
void nullcuda_fail(const char *spec);               /* as NULLCUDA_FAIL; counts start at the next call */
void nullcuda_fail_at_sync(const char *spec);
double nullcuda_span(bool start);                   /* microseconds from the last start to the end of the last work; true: a new start */
unsigned long nullcuda_waits(void);                 /* copies to host memory that is not pinned, for which a driver waits, since the reset */
unsigned long nullcuda_bytes(void);                 /* device memory in use, all devices */
#endif
