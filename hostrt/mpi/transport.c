/* transport.c - messages over MPI, which no other file calls.
 *
 * One lock is around each call of MPI, so that MPI_THREAD_SERIALIZED will do, and no call waits: a
 * message is sent with MPI_Isend, which is then asked whether it has gone, and received after it
 * has been found with MPI_Improbe.
 *
 * The processes meet so: all of the job call MPI_Comm_split, which a program that uses MPI itself
 * does for its own communicator; the first worker tells rank 0 of the job which the workers are;
 * they and rank 0 make a communicator. */
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "hostrt/mpi/mpi.h"

enum { TAG = 0x4F4D, GROUP_TAG = 0x4F4E };
const struct ompgpu_nodes_services *mpi_services;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards MPI and the counts */
static MPI_Comm comm = MPI_COMM_NULL; /* also after the end, which other threads may meet */
static int rank, nranks;
static bool own;   /* we have initialised MPI */
static bool *gone; /* by rank: nothing is sent there any more */
static struct mpi_counts sent, received;

int mpi_rank(void) { return rank; }
int mpi_nranks(void) { return nranks; }
struct mpi_counts mpi_sent(void) { return sent; }
struct mpi_counts mpi_received(void) { return received; }

double mpi_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void mpi_sleep(long microseconds)
{
    struct timespec t = { .tv_nsec = 1000 * microseconds };
    nanosleep(&t, NULL);
}

/* The first polls find what comes at once; after them others may have the processor. */
void mpi_rest(struct mpi_rest *r)
{
    enum { AT_ONCE = 100 };
    const double lively = 0.1; /* seconds in which something may still come soon */
    if (++r->polls <= AT_ONCE) {
        __builtin_ia32_pause();
        return;
    }
    double now = mpi_clock(), spin = mpi_services->spin();
    if (r->polls == AT_ONCE + 1)
        r->since = now;
    if (now - r->since < spin)
        sched_yield();
    else
        mpi_sleep(now - r->since < spin + lively ? 50 : 500);
}

/* ------------------------------------------------------------------ start and end */
static int start_mpi(bool mpi_program)
{
    int given, done;
    MPI_Initialized(&done);
    if (!done && mpi_program) {
        mpi_error("OMPGPU_NODES=mpi: the program has not called MPI_Init_thread yet");
        return 1;
    }
    if (!done) {
        own = true;
        MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given);
    }
    MPI_Query_thread(&given);
    if (given >= (mpi_program ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED))
        return 0;
    mpi_error("OMPGPU_NODES=mpi needs an MPI with %s",
              mpi_program ? "MPI_THREAD_MULTIPLE, which the program has to ask for"
                          : "MPI_THREAD_SERIALIZED");
    return 1;
}

/* Ranks in the job of the workers, from ranks[1] on; ranks[0] is who uses them.  NULL: no memory.
 */
static int *list_workers(MPI_Comm workers, int *n)
{
    MPI_Group all, those;
    MPI_Comm_size(workers, n);
    int *here = malloc(((size_t)*n + 1) * sizeof *here),
        *ranks = calloc((size_t)*n + 1, sizeof *ranks);
    for (int i = 0; here && i < *n; i++)
        here[i] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(workers, &those);
    if (here && ranks)
        MPI_Group_translate_ranks(those, *n, here, all, ranks + 1);
    MPI_Group_free(&all);
    MPI_Group_free(&those);
    free(here);
    return ranks;
}

/* Rank 0: ranks[0] and those of the workers.  0: there are none. */
static int hear_of_workers(int *ranks, int most)
{
    double end = mpi_clock() + (double)mpi_services->timeout;
    int found = 0, n = 0;
    MPI_Status status;
    while (!found && mpi_clock() < end) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &found, &status);
        sched_yield();
    }
    if (!found)
        return 0;
    MPI_Get_count(&status, MPI_INT, &n);
    if (n >= most)
        return 0;
    MPI_Recv(ranks + 1, n, MPI_INT, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, &status);
    ranks[0] = 0;
    return n + 1;
}

static void make_communicator(const int *ranks, int n)
{
    MPI_Group all, these;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, n, ranks, &these);
    MPI_Comm_create_group(MPI_COMM_WORLD, these, GROUP_TAG, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Group_free(&all);
    MPI_Group_free(&these);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &nranks);
    gone = calloc((size_t)nranks, sizeof *gone);
}

static int meet_as_worker(int me)
{
    MPI_Comm workers;
    int n, first;
    MPI_Comm_split(MPI_COMM_WORLD, 1, me, &workers);
    MPI_Comm_rank(workers, &first);
    int *ranks = list_workers(workers, &n);
    if (!ranks)
        return 1;
    if (!first)
        MPI_Send(ranks + 1, n, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    make_communicator(ranks, n + 1);
    MPI_Comm_free(&workers);
    free(ranks);
    return 0;
}

static int meet_as_user(int me, bool mpi_program)
{
    int size, n;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!mpi_program) {
        MPI_Comm others;
        MPI_Comm_split(MPI_COMM_WORLD, 0, me, &others);
        MPI_Comm_size(others, &n);
        MPI_Comm_free(&others);
        if (n == size)
            size = 1;
    }
    int *ranks = malloc(((size_t)size + 1) * sizeof *ranks);
    n = size > 1 && ranks ? hear_of_workers(ranks, size + 1) : 0;
    if (n)
        make_communicator(ranks, n);
    else
        mpi_error("OMPGPU_NODES=mpi: the MPI job has no worker");
    free(ranks);
    return !n;
}

int mpi_transport_start(bool worker, bool mpi_program)
{
    int me;
    if (start_mpi(mpi_program))
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0 && worker) {
        mpi_error("rank 0 of the MPI job is a worker: it has to be the program");
        return 1;
    }
    if (worker || (me && !mpi_program))
        return meet_as_worker(me);
    return me || meet_as_user(me, mpi_program);
}

static int before_finalize(MPI_Comm self, int key, void *value, void *function)
{
    (void)self, (void)key, (void)value;
    ((void (*)(void))function)();
    return MPI_SUCCESS;
}

/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first of all. */
void mpi_call_before_finalize(void (*function)(void))
{
    int key;
    pthread_mutex_lock(&lock);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, before_finalize, &key, (void *)function);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    pthread_mutex_unlock(&lock);
}

void mpi_transport_end(void)
{
    int done;
    pthread_mutex_lock(&lock);
    MPI_Finalized(&done);
    if (!done && comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    if (!done && own)
        MPI_Finalize();
    pthread_mutex_unlock(&lock);
}

void mpi_abort(int status)
{
    MPI_Abort(MPI_COMM_WORLD, status);
    _Exit(status);
}

/* ------------------------------------------------------------------ to send */
/* One message of two pieces of memory. */
static int type_of_both(const struct mpi_header *h, const void *bytes, MPI_Datatype *type)
{
    int lengths[2] = { (int)sizeof *h, (int)h->size };
    MPI_Aint at[2];
    MPI_Get_address(h, &at[0]);
    MPI_Get_address(bytes, &at[1]);
    return MPI_Type_create_hindexed(2, lengths, at, MPI_BYTE, type) || MPI_Type_commit(type);
}

void mpi_give_up(int to) { __atomic_store_n(&gone[to], true, __ATOMIC_RELEASE); }

/* Lock held, but while others have a turn. */
static int wait_for(MPI_Request *request, int to)
{
    struct mpi_rest rest = { 0 };
    for (int done = 0;;) {
        if (comm == MPI_COMM_NULL || MPI_Test(request, &done, MPI_STATUS_IGNORE))
            return 1;
        if (!done && gone && __atomic_load_n(&gone[to], __ATOMIC_ACQUIRE)) {
            MPI_Cancel(request);
            MPI_Request_free(request);
            return 1;
        }
        if (done)
            return 0;
        pthread_mutex_unlock(&lock);
        mpi_rest(&rest);
        pthread_mutex_lock(&lock);
    }
}

int mpi_send(int to, struct mpi_header h, const void *bytes)
{
    enum { SMALL = 4096 };
    char both[sizeof h + SMALL];
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Request request;
    int bad;
    h.magic = MPI_MAGIC;
    pthread_mutex_lock(&lock);
    if (comm == MPI_COMM_NULL) {
        bad = 1;
    } else if (h.size <= SMALL) {
        memcpy(both, &h, sizeof h);
        if (h.size)
            memcpy(both + sizeof h, bytes, h.size);
        bad = MPI_Isend(both, (int)(sizeof h + h.size), MPI_BYTE, to, TAG, comm, &request);
    } else {
        bad = type_of_both(&h, bytes, &type) ||
              MPI_Isend(MPI_BOTTOM, 1, type, to, TAG, comm, &request);
    }
    bad = bad || wait_for(&request, to);
    if (type != MPI_DATATYPE_NULL && comm != MPI_COMM_NULL)
        MPI_Type_free(&type);
    sent.messages++, sent.bytes += sizeof h + h.size;
    pthread_mutex_unlock(&lock);
    if (bad)
        mpi_error("MPI cannot send a message of kind %u and %u bytes to rank %d", h.kind, h.size,
                  to);
    return bad;
}

/* ------------------------------------------------------------------ to receive */
static struct mpi_message *not_ours(int from, const char *why)
{
    size_t size = strlen(why) + 1;
    struct mpi_message *m = calloc(1, sizeof *m + size);
    if (m) {
        m->rank = from;
        m->header.size = (uint32_t)size;
        memcpy(m->bytes, why, size);
    }
    return m;
}

/* Lock held. */
static struct mpi_message *take(MPI_Message *found, int from, int size)
{
    const size_t least = sizeof(struct mpi_header);
    struct mpi_message *m =
        size >= (int)least ? malloc(sizeof *m + (size_t)size - least + 1) : NULL;
    char *all = m ? NULL : malloc((size_t)size + 1);
    if (!m) {
        MPI_Mrecv(all, all ? size : 0, MPI_BYTE, found, MPI_STATUS_IGNORE);
        free(all);
        return not_ours(from, "a message of an impossible size");
    }
    MPI_Mrecv(&m->header, size, MPI_BYTE, found, MPI_STATUS_IGNORE);
    m->rank = from, m->next = NULL;
    m->bytes[size - (int)least] = '\0';
    received.messages++, received.bytes += (unsigned long)size;
    if (m->header.magic == MPI_MAGIC && m->header.size == (unsigned)size - least &&
        m->header.kind && m->header.kind < MPI_KINDS)
        return m;
    free(m);
    return not_ours(from, "a message that is not one of ours");
}

struct mpi_message *mpi_receive(void)
{
    struct mpi_message *m = NULL;
    MPI_Message found;
    MPI_Status status;
    int any = 0, size = 0;
    pthread_mutex_lock(&lock);
    if (comm != MPI_COMM_NULL && !MPI_Improbe(MPI_ANY_SOURCE, TAG, comm, &any, &found, &status) &&
        any) {
        MPI_Get_count(&status, MPI_BYTE, &size);
        m = take(&found, status.MPI_SOURCE, size);
    }
    pthread_mutex_unlock(&lock);
    return m;
}
