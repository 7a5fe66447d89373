/* nodes.h - what libompgpu and libompgpu-mpi, which brings the devices of other nodes, give each
 * other.  Neither is linked with the other: the runtime loads the library when OMPGPU_NODES=mpi
 * asks for it (core/nodes.c), and hands it a struct of services. */
#ifndef OMPGPU_NODES_H
#define OMPGPU_NODES_H
#include "hostrt/plugin.h"

struct ompgpu_nodes_services {
    void (*error)(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
    const char *(*message)(void);
    void *(*alloc)(size_t); /* zeros, for free(); NULL: there is a message */
    const char *version;    /* of the runtime: client and workers have the same one */
    long timeout;           /* OMPGPU_NODES_TIMEOUT: seconds */
    double (*spin)(void);   /* OMPGPU_WAIT: seconds to poll before a thread that waits sleeps */
    bool report;            /* OMPGPU_INFO: say at the end how many messages there were */
    /* What OMPGPU_CHECK looks for; a worker looks for what rank 0 does, if it is not told itself.
     */
    long (*checks)(void);
    void (*check)(long);
    bool (*end_checks)(void); /* was anything found in this process? */
    /* The devices of this process: their number, and the plugin and ordinal of each. */
    int (*count)(void);
    const struct ompgpu_plugin *(*device)(int number, int *ordinal);
};
/* join: become part of the job, by whoever is first to.  The process is a worker where `worker`
 * says so or, for a program that does not use MPI itself (`!mpi_program`), if its rank is not 0:
 * then it serves until rank 0 ends, and does not return.  Otherwise the devices of all workers, or
 * NULL: then there is a message. */
struct ompgpu_nodes {
    const struct ompgpu_plugin *(*join)(const struct ompgpu_nodes_services *, bool worker,
                                        bool mpi_program);
    void (*leave)(int status); /* rank 0 ends: so do the workers */
};
#define OMPGPU_NODES_SYMBOL "ompgpu_nodes_of_mpi"
#endif
