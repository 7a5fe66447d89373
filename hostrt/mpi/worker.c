/* worker.c - a worker: receives what rank 0 and other workers send, and gives it to lanes, each of
 * which is a thread.  So it always answers the question whether it lives. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include "hostrt/mpi/mpi.h"

struct lane {
    struct lane *next;
    struct mpi_served served;
    pthread_mutex_t lock; /* guards the list */
    pthread_cond_t filled;
    struct mpi_message *first, **last;
};
static struct lane *lanes;

/* ------------------------------------------------------------------ lanes */
static struct mpi_message *next_of(struct lane *l)
{
    pthread_mutex_lock(&l->lock);
    while (!l->first)
        pthread_cond_wait(&l->filled, &l->lock);
    struct mpi_message *m = l->first;
    if (!(l->first = m->next))
        l->last = &l->first;
    pthread_mutex_unlock(&l->lock);
    return m;
}

static void *run_lane(void *argument)
{
    struct lane *l = argument;
    struct mpi_message *m;
    while ((m = next_of(l))->header.kind != MPI_END_LANE)
        mpi_serve(&l->served, m);
    free(m);
    free(l); /* nobody else knows it any more */
    return NULL;
}

static void add(struct lane *l, struct mpi_message *m)
{
    pthread_mutex_lock(&l->lock);
    m->next = NULL;
    *l->last = m, l->last = &m->next;
    pthread_cond_signal(&l->filled);
    pthread_mutex_unlock(&l->lock);
}

static struct lane *new_lane(const struct mpi_header *h)
{
    struct lane *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->last = &l->first;
    l->served.id = h->lane;
    l->served.queue = h->lane & MPI_QUEUE_LANE;
    l->served.device = (int)h->device;
    l->served.plugin = mpi_services->device((int)h->device, &l->served.ordinal);
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->filled, NULL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_lane, l)) {
        free(l);
        return NULL;
    }
    pthread_detach(thread);
    l->next = lanes, lanes = l;
    return l;
}

static struct lane *lane_of(const struct mpi_header *h)
{
    struct lane *l = lanes;
    while (l && l->served.id != h->lane)
        l = l->next;
    return l ? l : new_lane(h);
}

static void end_lane(struct mpi_message *m)
{
    for (struct lane **p = &lanes, *l; (l = *p); p = &l->next) {
        if (l->served.id != m->header.lane)
            continue;
        *p = l->next;
        add(l, m);
        return;
    }
    free(m);
}

/* ------------------------------------------------------------------ receiving */
static __attribute__((noreturn)) void leave(void)
{
    bool found = mpi_services->end_checks();
    fflush(NULL);
    mpi_transport_end();
    _exit(found);
}

/* Rank 0 and the user learn it. */
static __attribute__((noreturn)) void leave_because(const char *why)
{
    fprintf(stderr, "ompgpu-worker: error: rank %d ends: %s\n", mpi_rank(), why);
    mpi_send(0, (struct mpi_header){ .kind = MPI_BYE, .size = (uint32_t)strlen(why) + 1 }, why);
    leave();
}

static void take_order(struct mpi_message *m)
{
    const struct mpi_header *h = &m->header;
    if (!mpi_is_sound(h) || h->device >= (unsigned)mpi_services->count())
        leave_because("a message with impossible numbers");
    if (h->kind == MPI_END_LANE) {
        end_lane(m);
        return;
    }
    struct lane *l = lane_of(h);
    if (!l)
        leave_because("no thread can be started for a lane");
    add(l, m);
}

static void take(struct mpi_message *m)
{
    switch (m->header.kind) {
    case 0: leave_because(m->bytes);
    case MPI_PIECES: mpi_piece_arrived(m); return;
    case MPI_PING:
        mpi_send(0, (struct mpi_header){ .kind = MPI_PONG }, NULL);
        free(m);
        return;
    case MPI_IMAGE: mpi_image_keep(m); return;
    case MPI_END:
        if (m->header.a)
            _exit(mpi_services->end_checks());
        leave();
    default:
        if (m->rank)
            leave_because("an order from another worker");
        take_order(m);
    }
}

static int say_hello(void)
{
    struct mpi_hello h = { .pid = getpid(),
                           .protocol = MPI_PROTOCOL,
                           .header_size = sizeof(struct mpi_header),
                           .info_size = sizeof(struct ompgpu_device_info),
                           .env_size = sizeof(struct ompgpu_env) };
    int n = mpi_services->count(), ordinal;
    h.ndevices = (unsigned)(n < MPI_MOST_DEVICES ? n : MPI_MOST_DEVICES);
    snprintf(h.version, sizeof h.version, "%s", mpi_services->version);
    gethostname(h.node, sizeof h.node - 1);
    for (unsigned i = 0; i < h.ndevices; i++) {
        const struct ompgpu_plugin *p = mpi_services->device((int)i, &ordinal);
        h.image_kinds |= p->image_kinds;
        if (p->identify)
            p->identify(ordinal, &h.identities[i]);
    }
    return mpi_send(0, (struct mpi_header){ .kind = MPI_HELLO, .size = sizeof h }, &h);
}

/* Quick while there is work, and without load when there is none. */
static void rest(unsigned quiet)
{
    struct timespec t = { .tv_nsec = quiet < 2000 ? 50 * 1000 : 500 * 1000 };
    if (quiet < 200)
        sched_yield();
    else
        nanosleep(&t, NULL);
}

/* It ends with the launcher that has started it. */
void mpi_work(void)
{
    unsigned quiet = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (say_hello())
        leave();
    for (;;) {
        struct mpi_message *m = mpi_receive();
        quiet = m ? 0 : quiet + 1;
        if (m)
            take(m);
        else
            rest(quiet);
    }
}
