/* profile.h - what the counters add up to.  count.c counts by instruction; kernels.c adds up by
 * launch, kernel and source line; ptxas.c finds registers; table.c and json.c report at the end. */
#ifndef OMPGPU_PTX_PROFILE_H
#define OMPGPU_PTX_PROFILE_H
#include "hostrt/ptx/machine.h"

struct totals {
    struct counter all, by_class[NCLASSES];
    uint64_t barriers; /* executed by warps */
};
struct line {
    char *file;
    unsigned number;
    struct totals sum;
};
struct launch_totals {
    uint64_t number; /* in the order of the program */
    unsigned grid[3], block[3], dynamic_shared;
    struct totals sum;
};
struct kernel {
    struct kernel *next; /* the one that ran first comes first */
    char *name;
    const struct function *entry; /* NULL: its module is gone */
    unsigned shared;              /* bytes a team */
    unsigned registers;           /* 0: not known */
    uint64_t count, teams, threads;
    struct totals sum;
    struct launch_totals *launches; /* the first MOST_LAUNCHES */
    unsigned nlaunches;
    struct counter *by_instruction; /* of the module, while there is one … */
    struct line *lines;             /* … then by line, sorted */
    unsigned nlines;
};
enum { MOST_LAUNCHES = 10000 };

void ptx_print_profile(FILE *, const struct kernel *);
void ptx_write_profile(FILE *, const struct kernel *);
/* Asks ptxas, where there is one, for the registers of the kernels of a module. */
void ptx_find_registers(const struct module *, struct kernel *);
/* Warps that a multiprocessor holds at a time, of those that it could; 0 without registers. */
double ptx_occupancy(const struct kernel *, const struct launch_totals *);
static inline double ratio(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 0; }
#endif
