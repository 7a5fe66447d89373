/* spread.h - a spread construct at work (spread.c), and what exchange.c needs of it. */
#ifndef OMPGPU_SPREAD_H
#define OMPGPU_SPREAD_H
#include "hostrt/core/core.h"

struct came_back {
    struct ompgpu_range range;
    struct came_back *next;
    const char *name; /* the list item */
    struct ompgpu_chunk chunk;
};
struct ompgpu_spread {
    struct ompgpu_where where;
    int *devices;
    unsigned ndevices;
    unsigned references; /* atomic: of chunks, and of the construct itself */
    struct ompgpu_chunk *outer;
    unsigned long number; /* of the next chunk */
    long start, step;
    unsigned long trip, chunk;
    bool weighted;
    unsigned long *ends; /* weighted: where the part of each device ends */
    struct weighing {
        unsigned device, pass; /* which of `devices` */
        long n;                /* iterations */
        double start, best;    /* ms */
        float *memory;
    } weighing;
    pthread_mutex_t lock;        /* guards what follows */
    struct ompgpu_ranges ranges; /* of came_back */
    struct came_back *first;
    struct exchanged *exchange; /* by `next`, the last one first: see exchange.c */
    bool exchanges;
};

/* exchange.c.  Ends the program where it is not possible. */
void ompgpu_exchange_run(struct ompgpu_spread *);
void ompgpu_exchange_free(struct ompgpu_spread *);
#endif
