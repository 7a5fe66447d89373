/* ompgpu.h - what programs can ask of libompgpu beside OpenMP's routines (libompgpu(7)).  C and
 * C++.
 *
 * A program that uses it is linked with libompgpu, as ompgpu-cc does. */
#ifndef OMPGPU_OMPGPU_H
#define OMPGPU_OMPGPU_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* What is done about a construct that has failed on its device. */
enum ompgpu_action {
    OMPGPU_STOP, /* the program ends with the error */
    OMPGPU_HOST, /* the host runs the region, with its data as it was before */
    OMPGPU_RETRY /* the device tries again */
};

/* Of one failure; all of it is the library's and valid during the call. */
struct ompgpu_failure {
    size_t size;           /* of this struct: later versions add members at its end */
    int device;            /* its number */
    const char *file;      /* where the construct stands; NULL: not known */
    unsigned line;         /* … 0: not known */
    const char *directive; /* the construct as it is written */
    const char *region;    /* the kernel's name; NULL: no region, but a construct that moves data */
    const char *reason;    /* the device's message */
    unsigned attempt;      /* 1: it has failed for the first time */
    unsigned possible;     /* bit 1 << action for each action that is possible */
    enum ompgpu_action action; /* what OMPGPU_ON_FAILURE has for it */
};
typedef enum ompgpu_action ompgpu_failure_handler(const struct ompgpu_failure *, void *argument);

/* From now on the handler decides, in place of OMPGPU_ON_FAILURE; NULL: that decides again.  It is
 * called by the host thread that encountered the construct, maybe by several at once, and must
 * return.  An action that is not possible counts as OMPGPU_STOP. */
void ompgpu_on_failure(ompgpu_failure_handler *handler, void *argument);

/* The device runs a function of the host's, on a thread of its own, after what is in the queue of
 * an interop object (init(targetsync: …)) and before what is put there later.  On a GPU the
 * function must not call CUDA.  Nonzero: the object has no queue, or the device failed. */
int ompgpu_interop_call(void *interop, void (*function)(void *), void *argument);

#ifdef __cplusplus
}
#endif
#endif
