/* check.h - for the programs of tests/run: each compares what a region did with ordinary C and proves that it ran on the
 * device.  -DHOST_ONLY builds a program for the host alone (to try the test itself). */
#ifndef CHECK_H
#define CHECK_H
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HOST_ONLY
#define ON_DEVICE 1
#define PRESENT(p) ((p) != NULL)
#else
#define PRESENT(p) (omp_target_is_present((p), omp_get_default_device()) != 0)
#define ON_DEVICE (!omp_is_initial_device())
#endif

static int check_failures;
#define CHECK(cond) do { if (!(cond)) { check_failures++; printf("%s:%d: %s\n", __FILE__, __LINE__, #cond); } } while (0)
#define CHECK_EQ(a, b)                                                                            \
    do {                                                                                          \
        double check_a = (double)(a), check_b = (double)(b);                                      \
        if (check_a != check_b && check_failures++ < 20)                                          \
            printf("%s:%d: %s is %.17g, not %.17g\n", __FILE__, __LINE__, #a, check_a, check_b);  \
    } while (0)
#define CHECK_NEAR(a, b, eps)                                                                     \
    do {                                                                                          \
        double check_a = (double)(a), check_b = (double)(b), check_d = check_a - check_b;         \
        double check_m = check_b < 0 ? -check_b : check_b;                                        \
        if (!((check_d < 0 ? -check_d : check_d) <= (eps) * (check_m + 1)) && check_failures++ < 20)           \
            printf("%s:%d: %s is %.17g, not %.17g\n", __FILE__, __LINE__, #a, check_a, check_b);  \
    } while (0)
#define RESULT (check_failures != 0)
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))
#endif
