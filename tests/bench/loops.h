/* loops.h - what gpu_loops.c and cuda/loops.cu know of each other: the arrays of the loops, and who runs one. */
#ifndef LOOPS_H
#define LOOPS_H

/* Host addresses for OpenMP's loops, the device's for CUDA's.  All have room for the number of elements that the largest loop has. */
struct loop_data {
    float *x, *y, *z;
    double *p, *q;
    int *at, *start;
};

#ifdef __cplusplus
extern "C" {
#endif
/* cuda/loops.cu, where it is linked in: puts one launch of the loop `name` of n elements into CUDA's default stream, or, with no name, waits for
 * it.  Nonzero: there is none, or it failed. */
int cuda_loop(const char *name, const struct loop_data *device, int n) __attribute__((weak));
#ifdef __cplusplus
}
#endif
#endif
