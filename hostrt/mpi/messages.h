/* messages.h - the messages between rank 0 and the workers.
 *
 * Each is one MPI message of bytes: a header, then `size` bytes.  All processes of a job have the
 * same runtime on machines of one kind, which HELLO shows, so structs are sent as they are.
 *
 * What is asked of a device belongs to a lane: the operations of a host thread, or of a queue.
 * A lane's are done in order, by a thread of its own at the worker; lanes are independent but for
 * events, of which a worker tells another one.  Those marked with * are answered with REPLY, or
 * DATA, which has the same lane and serial; the others report a failure with the next answer of the
 * lane.  Those marked with + are answered where d is not 0, when they and all before them have
 * ended. */
#ifndef OMPGPU_MPI_MESSAGES_H
#define OMPGPU_MPI_MESSAGES_H
#include "hostrt/plugin.h"

enum {
    MPI_MAGIC = 0x314D504F,
    MPI_PROTOCOL = 3,
    MPI_PIECE = 1 << 20,   /* bytes of a copy in one message */
    MPI_MOST = 1 << 30,    /* of anything */
    MPI_MOST_DEVICES = 64, /* of all workers */
};
#define MPI_QUEUE_LANE                                                                             \
    (1u << 31) /* a bit of the lane: after a failure nothing more is done there */
enum mpi_kind {
    /* from rank 0; a, b, c: of the header */
    MPI_OPEN = 1,  /* * a: what OMPGPU_CHECK looks for.  struct ompgpu_device_info */
    MPI_PICK,      /* * bytes: a container without images; a: the image, or -1 */
    MPI_IMAGE,     /* a: its sum; bytes: the image; to the worker, in no lane */
    MPI_LOAD,      /* * a: sum, b: image's number; bytes: as PICK.  a: the module */
    MPI_UNLOAD,    /* a: module */
    MPI_FUNCTION,  /* * a: module; bytes: struct mpi_function, name.  struct mpi_function */
    MPI_VARIABLE,  /* * a: module; bytes: name.  a: address, b: size */
    MPI_ALLOC,     /* * a: size.  a: address */
    MPI_FREE,      /* a: address */
    MPI_PUT,       /* + a: address; bytes: of at most a piece */
    MPI_GET,       /* * a: address, b: size, at most a piece; DATA: the bytes */
    MPI_COPY,      /* + a: to, b: from, c: size */
    MPI_GIVE,      /* a: address, b: size, c: token, d: rank: PIECEs to that worker */
    MPI_TAKE,      /* * a: address, b: size, c: token: of such PIECEs */
    MPI_OCCUPANCY, /* * a: function, b: threads.  a: teams */
    MPI_LAUNCH,    /* + struct mpi_launch in bytes */
    MPI_RECORD,    /* a: event, b: number */
    MPI_WAIT,      /* a: event, b: number, c: rank that records it, or 0: this one */
    MPI_SYNC,      /* * all before it has ended */
    MPI_TRUST,     /* a: address, b: size */
    MPI_MAILBOX,   /* * a: its lock's address.  a: the mailbox's, for reverse offload */
    MPI_NEXT,      /* * struct ompgpu_mailbox as far as mpi_mailbox_size says, with the answer to
                      its request, or nothing.  The same: the next one; nothing: none has come */
    MPI_END_LANE,  /* its host thread, or queue, has ended */
    MPI_PING,      /* in no lane, as the rest */
    MPI_NOTIFY,    /* a: event, b: number; c: rank that waits for it: REACHED to that worker */
    MPI_GONE,      /* a: rank that is lost */
    MPI_END,       /* a: without MPI_Finalize, since some process will not come to it */
    /* from a worker to rank 0 */
    MPI_HELLO, /* struct mpi_hello */
    MPI_REPLY, /* status 0: bytes as above; else the error's text; d: 1 + address of a fault */
    MPI_DATA,
    MPI_PONG,
    MPI_BYE, /* bytes: why the worker has ended */
    /* from a worker to another, or from rank 0 in place of one that is lost */
    MPI_PIECES, /* a: offset, c: token; bytes; status: there will be none */
    /* from a worker to another */
    MPI_REACHED, /* a: event, b: number; status: what is before it has failed */
    MPI_KINDS
};
struct mpi_header {
    uint32_t magic, kind;
    uint32_t device; /* of the worker's */
    uint32_t lane;
    uint64_t serial; /* of rank 0's, ascending in a lane */
    uint64_t a, b, c, d;
    uint32_t size; /* of what follows */
    int32_t status;
};
struct mpi_hello {
    uint32_t protocol, header_size, info_size, env_size, ndevices;
    uint32_t image_kinds; /* of all its devices */
    int32_t pid;
    char version[16], node[64];
    struct ompgpu_identity identities[MPI_MOST_DEVICES];
};
struct mpi_function { /* the strings are texts for messages */
    uint64_t id;
    struct ompgpu_kernel_entry entry;
    uint32_t line, has_entry;
    char kernel[256], file[256], function[256], directive[128];
    uint32_t registers, max_threads, static_shared;
    uint64_t stack_bytes;
};
/* Then, each from a multiple of 16 bytes on: sizes of the parameters as uint32_t; the parameters,
 * of which the first one is struct ompgpu_env. */
struct mpi_launch {
    uint64_t function, stack_bytes;
    uint32_t teams, threads, nparams, unused;
};
/* What of it is in use. */
static inline size_t mpi_mailbox_size(const struct ompgpu_mailbox *m)
{
    return offsetof(struct ompgpu_mailbox, data) + m->bytes;
}
static inline size_t mpi_round(size_t n) { return (n + 15) & ~(size_t)15; }
#endif
