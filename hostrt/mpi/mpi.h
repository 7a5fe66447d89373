/* mpi.h - libompgpu-mpi: devices of other ranks of an MPI job.
 *
 *   transport.c   messages: MPI, which no other file calls
 *   lane.c        rank 0: lanes, what they wait for, workers that are lost
 *   plugin.c      rank 0: the plugin
 *   queue.c       rank 0: its queues and events
 *   worker.c      a worker: receives, and does it or gives it to lanes
 *   serve.c       a worker: what a lane does with a message
 */
#ifndef OMPGPU_MPI_MPI_H
#define OMPGPU_MPI_MPI_H
#include <pthread.h>
#include <stddef.h>
#include "hostrt/mpi/messages.h"
#include "hostrt/nodes.h"

extern const struct ompgpu_nodes_services *mpi_services;
#define mpi_error(...) mpi_services->error(__VA_ARGS__)
#define mpi_alloc(size) mpi_services->alloc(size)

/* ------------------------------------------------------------------ transport.c */
/* A received message; free() it. */
struct mpi_message {
    struct mpi_message *next;
    int rank;
    struct mpi_header header;
    char bytes[] __attribute__((aligned(16))); /* right after the header, as they are sent */
};
_Static_assert(offsetof(struct mpi_message, bytes) ==
                   offsetof(struct mpi_message, header) + sizeof(struct mpi_header),
               "received in one piece");
/* Collective: the communicator of all workers and the rank that uses them, which is 0.  Nonzero:
 * there is a message. */
int mpi_transport_start(bool worker, bool mpi_program);
int mpi_rank(void), mpi_nranks(void);
/* From any thread; h->size bytes; the caller may use them again afterwards. */
int mpi_send(int rank, struct mpi_header h, const void *bytes);
void mpi_give_up(int rank); /* from now on sending fails, also what is being sent */
/* NULL: there is none now, or no memory.  One that no process of ours sends, or for which there is
 * no memory, has the kind 0 and its text in `bytes`.  From one thread at a time. */
struct mpi_message *mpi_receive(void);
void mpi_call_before_finalize(void (*)(void)); /* of the program's */
void mpi_transport_end(void);
/* Ends all processes of the job. */
__attribute__((noreturn)) void mpi_abort(int status);
struct mpi_counts {
    unsigned long messages, bytes;
};
struct mpi_counts mpi_sent(void), mpi_received(void);
double mpi_clock(void); /* seconds */
void mpi_sleep(long microseconds);
/* Between two polls for something: without a pause for as long as OMPGPU_WAIT says, then asleep.
 * All zeros where something has come. */
struct mpi_rest {
    unsigned polls;
    double since;
};
void mpi_rest(struct mpi_rest *);

/* ------------------------------------------------------------------ lane.c: rank 0 */
struct mpi_worker {
    int rank;
    char node[64];
    int pid;
    bool lost, told; /* told: the other workers know */
    char reason[256];
    double heard, asked; /* when: the last message from it; the last question whether it lives */
    unsigned awaited;    /* answers … */
    unsigned unattended; /* … for which no thread waits */
    uint64_t *images;    /* sums of those that it has */
    unsigned nimages;
};
struct mpi_device {
    struct mpi_worker *worker;
    unsigned index; /* of the worker's */
    struct ompgpu_identity identity;
    struct mpi_lane *unused; /* lanes of threads that have ended */
    unsigned nlanes;
};
extern struct mpi_device mpi_devices[MPI_MOST_DEVICES];
extern int mpi_ndevices;
extern uint32_t mpi_image_kinds;

struct mpi_answer {
    int status;
    uint64_t a, b;
    void *bytes; /* room for `size` bytes of the answer, at most */
    size_t size;
};
struct mpi_lane {
    struct mpi_device *device;
    struct mpi_lane *next;
    uint32_t id;
    uint64_t sent, asked, answered; /* serials; asked: of the last that is to be answered */
    struct mpi_awaited *first, **last;
    unsigned ncalls;          /* to be made */
    struct mpi_order *orders; /* what answers are handled after */
    struct mpi_message *parked, **last_parked;
    /* A host thread's last operation, which is sent with the next one, as the waiting for it. */
    bool keeps;
    struct mpi_header kept;
    const void *kept_bytes;
    char *text; /* a launch's bytes */
    size_t text_room;
    bool failed;
    bool has_fault;
    uintptr_t fault;
    char message[1024];
};
int mpi_lanes_start(void);
void mpi_lanes_end(int status);
void mpi_say_lost(const struct mpi_device *); /* the error for it */
/* Of the calling host thread.  NULL: there is a message. */
struct mpi_lane *mpi_lane_of_thread(int device);
struct mpi_lane *mpi_lane_new(struct mpi_device *, uint32_t bits);
void mpi_lane_end(struct mpi_lane *);
/* Without an answer. */
int mpi_lane_send(struct mpi_lane *, struct mpi_header, const void *bytes);
/* With one, which somebody waits for with mpi_lane_wait: `answer` stays until then.  For MPI_GET:
 * answer->bytes is where the bytes go. */
int mpi_lane_ask(struct mpi_lane *, struct mpi_header, const void *bytes,
                 struct mpi_answer *answer);
/* With an answer that is a call: not after a failure. */
int mpi_lane_call(struct mpi_lane *, void (*function)(void *), void *argument);
/* What comes next waits for an event that another lane has recorded with this serial: answers are
 * handled after those of that lane until then, the last of which has the serial `asked`. */
int mpi_lane_order(struct mpi_lane *, const struct mpi_lane *other, uint64_t recorded,
                   uint64_t asked);
/* The lane's worker tells another one when the event is reached. */
int mpi_lane_notify(struct mpi_lane *, uint64_t event, uint64_t number, int rank);
/* For all that was sent until now, or that serial; nonzero: it failed since, or the lane had failed
 * before (where it is a queue). */
int mpi_lane_wait(struct mpi_lane *);
int mpi_lane_wait_for(struct mpi_lane *, uint64_t serial);
/* ask and wait */
int mpi_lane_request(struct mpi_lane *, struct mpi_header, const void *bytes, struct mpi_answer *);
/* The same for what is marked with + in messages.h: in a host thread's lane it is sent with the
 * next operation, until which its bytes stay. */
int mpi_lane_keep(struct mpi_lane *, struct mpi_header, const void *bytes);
/* PUT, GET in pieces; dst of GET is written until the next wait. */
int mpi_lane_put(struct mpi_lane *, void *dst, const void *src, size_t size);
int mpi_lane_get(struct mpi_lane *, void *dst, const void *src, size_t size);
int mpi_lane_launch(struct mpi_lane *, const struct ompgpu_function *, unsigned teams,
                    unsigned threads, void **params);
void mpi_lanes_fork(enum ompgpu_fork);
bool mpi_last_fault(uintptr_t *address); /* of what this host thread waited for last */
void mpi_set_fault(bool known, uintptr_t address);

/* ------------------------------------------------------------------ queue.c */
extern const struct ompgpu_plugin ompgpu_mpi_plugin;
__typeof__(*ompgpu_mpi_plugin.queue_create) mpi_queue_create;
__typeof__(*ompgpu_mpi_plugin.queue_destroy) mpi_queue_destroy;
__typeof__(*ompgpu_mpi_plugin.event_create) mpi_event_create;
__typeof__(*ompgpu_mpi_plugin.event_destroy) mpi_event_destroy;
__typeof__(*ompgpu_mpi_plugin.event_wait) mpi_event_wait;

/* ------------------------------------------------------------------ worker.c, serve.c */
__attribute__((noreturn)) void mpi_work(void);
struct mpi_served { /* a lane at the worker */
    int device, ordinal;
    const struct ompgpu_plugin *plugin;
    uint32_t id;
    bool queue;
    struct mpi_message *held; /* messages whose bytes the device may still read */
    size_t held_bytes;
    bool pending;            /* the device may be at something of it that nobody has waited for */
    struct kernel *launched; /* of that, the last one … */
    double launched_at;      /* … and when */
    bool failed;
    bool has_fault;
    uintptr_t fault;
    char message[1024];
};
void mpi_serve(struct mpi_served *, struct mpi_message *); /* takes the message */
/* Serving it is expected to take less than a thread takes to wake up. */
bool mpi_is_quick(const struct mpi_served *, const struct mpi_message *);
/* Waits for what is pending: then another thread may serve the lane. */
void mpi_settle(struct mpi_served *);
bool mpi_is_sound(const struct mpi_header *); /* its numbers are possible */
void mpi_image_keep(struct mpi_message *);    /* takes it */
/* What another worker gives. */
void mpi_piece_arrived(struct mpi_message *); /* takes it */
/* Events, for workers that wait for each other. */
void mpi_event_notify(const struct mpi_header *), mpi_event_reached(const struct mpi_header *);
void mpi_event_gone(uint64_t rank); /* reaches none any more */
#endif
