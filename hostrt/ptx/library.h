/* library.h - what the functions that the driver adds to device code have in common: library.c and
 * print.c. */
#ifndef OMPGPU_PTX_LIBRARY_H
#define OMPGPU_PTX_LIBRARY_H
#include "hostrt/ptx/isa.h"

/* The n-th argument of a call, which is in the caller's frame; its result. */
uint64_t ptx_argument(const struct group *, const struct instruction *, unsigned n, unsigned lane);
void ptx_set_result(struct group *, const struct instruction *, unsigned lane, uint64_t v,
                    unsigned size);
/* A copy, to be freed, of a string of device memory, as far as it may be read; NULL: no memory. */
char *ptx_device_string(struct group *, const struct instruction *, unsigned lane, uint64_t at);
handler ptx_device_vprintf;
#endif
