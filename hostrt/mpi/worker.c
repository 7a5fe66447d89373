/* worker.c - a worker: receives what rank 0 and other workers send.
 *
 * What is expected to be quick the receiving thread does itself, so that no thread has to wake up;
 * the rest it gives to the lane's own thread.  Where it does not come to an end, another thread,
 * the stand-in, receives from then on: it always answers the question whether it lives. */
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
    struct mpi_served served; /* by one thread at a time */
    pthread_mutex_t lock;     /* guards all below */
    pthread_cond_t ready;     /* for its thread */
    bool busy;                /* a thread serves it */
    struct mpi_message *first, **last;
};
static struct lane *lanes; /* of the receiver */
/* What the receiver has begun and ended to do itself: odd while it is at something.  The stand-in
 * makes it even. */
static unsigned long turns;
static bool stands_by; /* there is a stand-in */

/* ------------------------------------------------------------------ lanes */
static struct mpi_message *next_of(struct lane *l)
{
    pthread_mutex_lock(&l->lock);
    while (l->busy || !l->first)
        pthread_cond_wait(&l->ready, &l->lock);
    struct mpi_message *m = l->first;
    if (!(l->first = m->next))
        l->last = &l->first;
    l->busy = true;
    pthread_mutex_unlock(&l->lock);
    return m;
}

static void set_free(struct lane *l)
{
    pthread_mutex_lock(&l->lock);
    l->busy = false;
    if (l->first)
        pthread_cond_signal(&l->ready);
    pthread_mutex_unlock(&l->lock);
}

static void *run_lane(void *argument)
{
    struct lane *l = argument;
    struct mpi_message *m;
    while ((m = next_of(l))->header.kind != MPI_END_LANE) {
        mpi_serve(&l->served, m);
        set_free(l);
    }
    free(m);
    free(l); /* nobody else knows it any more */
    return NULL;
}

static void add(struct lane *l, struct mpi_message *m)
{
    pthread_mutex_lock(&l->lock);
    m->next = NULL;
    *l->last = m, l->last = &m->next;
    pthread_cond_signal(&l->ready);
    pthread_mutex_unlock(&l->lock);
}

/* For the receiver, which is going to do m itself. */
static bool set_busy(struct lane *l, const struct mpi_message *m)
{
    if (!__atomic_load_n(&stands_by, __ATOMIC_ACQUIRE))
        return false;
    pthread_mutex_lock(&l->lock);
    bool mine = !l->busy && !l->first && mpi_is_quick(&l->served, m);
    l->busy |= mine;
    pthread_mutex_unlock(&l->lock);
    return mine;
}

/* false: the stand-in has become the receiver. */
static bool serve_at_once(struct lane *l, struct mpi_message *m)
{
    unsigned long turn = __atomic_add_fetch(&turns, 1, __ATOMIC_RELEASE);
    mpi_serve(&l->served, m);
    mpi_settle(&l->served);
    set_free(l);
    return __atomic_compare_exchange_n(&turns, &turn, turn + 1, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
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
    pthread_cond_init(&l->ready, NULL);
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

/* false: this thread receives no more. */
static bool take_order(struct mpi_message *m)
{
    const struct mpi_header *h = &m->header;
    if (!mpi_is_sound(h) || h->device >= (unsigned)mpi_services->count())
        leave_because("a message with impossible numbers");
    if (h->kind == MPI_END_LANE) {
        end_lane(m);
        return true;
    }
    struct lane *l = lane_of(h);
    if (!l)
        leave_because("no thread can be started for a lane");
    if (set_busy(l, m))
        return serve_at_once(l, m);
    add(l, m);
    return true;
}

static bool is_for_workers(uint32_t kind) { return kind == MPI_PIECES || kind == MPI_REACHED; }

static bool take(struct mpi_message *m)
{
    if (m->rank && m->header.kind && !is_for_workers(m->header.kind))
        leave_because("an order from another worker");
    switch (m->header.kind) {
    case 0: leave_because(m->bytes);
    case MPI_PIECES: mpi_piece_arrived(m); return true;
    case MPI_PING: mpi_send(0, (struct mpi_header){ .kind = MPI_PONG }, NULL); break;
    case MPI_NOTIFY: mpi_event_notify(&m->header); break;
    case MPI_REACHED: mpi_event_reached(&m->header); break;
    case MPI_GONE: mpi_event_gone(m->header.a); break;
    case MPI_IMAGE: mpi_image_keep(m); return true;
    case MPI_END:
        if (m->header.a)
            _exit(mpi_services->end_checks());
        leave();
    default: return take_order(m);
    }
    free(m);
    return true;
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

static void receive(void)
{
    struct mpi_rest rest = { 0 };
    for (bool receives = true; receives;) {
        struct mpi_message *m = mpi_receive();
        if (m)
            receives = take(m), rest = (struct mpi_rest){ 0 };
        else
            mpi_rest(&rest);
    }
}

/* Before it receives there is no stand-in; afterwards there may be another one. */
static bool relieve(unsigned long turn)
{
    __atomic_store_n(&stands_by, false, __ATOMIC_RELEASE);
    bool mine = __atomic_compare_exchange_n(&turns, &turn, turn + 1, false, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE);
    if (!mine)
        __atomic_store_n(&stands_by, true, __ATOMIC_RELEASE);
    return mine;
}

/* Until the receiver has been at one thing for too long. */
static void stand_by(void)
{
    enum { LOOK = 2000 /* microseconds */ };
    unsigned long seen = 0, now;
    __atomic_store_n(&stands_by, true, __ATOMIC_RELEASE);
    for (bool again = false;; again = now % 2) {
        mpi_sleep(LOOK);
        now = __atomic_load_n(&turns, __ATOMIC_ACQUIRE);
        if (again && now == seen && relieve(now))
            return;
        seen = now;
    }
}

static __attribute__((noreturn)) void *take_turns(void *unused)
{
    (void)unused;
    for (;;) {
        stand_by();
        receive();
    }
}

/* It ends with the launcher that has started it. */
void mpi_work(void)
{
    pthread_t thread;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (say_hello())
        leave();
    if (pthread_create(&thread, NULL, take_turns, NULL))
        leave_because("no thread can be started");
    receive();
    take_turns(NULL);
}
