/* lane.c - rank 0: lanes, what is awaited from workers, and workers that are lost.
 *
 * A thread that waits for an answer receives messages itself until it has it, so that no other
 * thread has to wake it.  What queues ask for, calls and copies to the host, is received by a
 * thread of ours, the receiver, if nobody waits for it.  Only the receiver makes the calls, which
 * may use the OpenMP library.
 *
 * Whoever waits for an answer finds what is before it done on the host, too: answers of a lane are
 * handled in order and after the calls before them, and those that come after an event of another
 * lane after that lane's (orders).  Until then they are parked.
 *
 * What a host thread sends last before it waits is also the question whether it has ended: launches
 * and copies are kept until the thread's next operation, which is to wait for them, as a rule.
 *
 * A worker that has been asked for something and has said nothing for a second is asked whether it
 * lives; after OMPGPU_NODES_TIMEOUT seconds it is lost.  All that is asked of it fails from then
 * on. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "hostrt/mpi/mpi.h"
#include "hostrt/queue.h"

struct mpi_device mpi_devices[MPI_MOST_DEVICES];
int mpi_ndevices;
uint32_t mpi_image_kinds;

struct mpi_awaited {
    struct mpi_awaited *next;
    uint64_t serial;
    struct mpi_answer *answer; /* NULL: … */
    void (*function)(void *);  /* … this is called; NULL: nothing */
    void *argument, *data;     /* data: where the bytes of MPI_DATA go */
    size_t size;
    unsigned lane; /* its id, for a call */
};
struct mpi_order { /* of answers from the serial `from` on: after that of another lane */
    struct mpi_order *next;
    uint64_t from, serial;
    uint32_t lane;
};
static struct mpi_worker *workers; /* by rank - 1 */
static int nworkers;
static struct mpi_lane **lanes; /* by id */
static unsigned nlanes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;      /* guards all above, and lanes */
static pthread_mutex_t receiving = PTHREAD_MUTEX_INITIALIZER; /* comes before it: one at a time */
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER;       /* the receiver has something to do */
static struct mpi_awaited *calls, **last_call = &calls;
static unsigned unattended; /* answers, of all workers */
static unsigned nparked;
static bool stopping, forked;
static pthread_t receiver;
enum { LOOK_AFTER = 250000000 /* nanoseconds: so often the receiver looks for lost workers */ };
static pthread_key_t thread_ended;

static _Thread_local struct mpi_lane *thread_lanes[MPI_MOST_DEVICES];
static _Thread_local bool has_fault;
static _Thread_local uintptr_t fault_address;

bool mpi_last_fault(uintptr_t *address)
{
    *address = fault_address;
    return has_fault;
}
void mpi_set_fault(bool known, uintptr_t address) { has_fault = known, fault_address = address; }

/* ------------------------------------------------------------------ workers that are lost */
void mpi_say_lost(const struct mpi_device *d)
{
    if (forked)
        mpi_error("devices of other nodes cannot be used after a fork, in the child");
    else
        mpi_error("rank %d on node %s is lost: %s", d->worker->rank, d->worker->node,
                  d->worker->reason);
}

static bool is_worker_lost(const struct mpi_worker *w)
{
    return __atomic_load_n(&w->lost, __ATOMIC_ACQUIRE);
}

static bool is_lost(const struct mpi_device *d) { return is_worker_lost(d->worker) || forked; }

static void handle_parked(void);

/* Lock held. */
static void lose(struct mpi_worker *w, const char *reason)
{
    if (w->lost)
        return;
    snprintf(w->reason, sizeof w->reason, "%s", reason);
    mpi_give_up(w->rank);
    unattended -= w->unattended;
    w->awaited = w->unattended = 0;
    __atomic_store_n(&w->lost, true, __ATOMIC_RELEASE);
    handle_parked();
}

/* Others may wait for it. */
static void tell_others(struct mpi_worker *w)
{
    if (!is_worker_lost(w) || w->told)
        return;
    w->told = true;
    for (int i = 0; i < nworkers; i++)
        if (!is_worker_lost(&workers[i]))
            mpi_send(workers[i].rank,
                     (struct mpi_header){ .kind = MPI_GONE, .a = (unsigned)w->rank }, NULL);
}

/* Of all workers that owe an answer; now and then, last `since` seconds ago.  Where that is long,
 * this process was stopped, and has not read what they sent meanwhile. */
static void look_after_workers(double since)
{
    double now = mpi_clock();
    for (int i = 0; i < nworkers; i++) {
        struct mpi_worker *w = &workers[i];
        pthread_mutex_lock(&lock);
        w->heard += since > 1 ? since : 0;
        bool silent = w->awaited && !w->lost && now - w->heard > 1;
        bool ask = silent && now - w->asked > 1;
        if (silent && now - w->heard > (double)mpi_services->timeout) {
            char reason[64];
            snprintf(reason, sizeof reason, "no answer for %ld seconds", mpi_services->timeout);
            lose(w, reason);
        }
        if (ask)
            w->asked = now;
        pthread_mutex_unlock(&lock);
        if (ask && mpi_send(w->rank, (struct mpi_header){ .kind = MPI_PING }, NULL)) {
            pthread_mutex_lock(&lock);
            lose(w, mpi_services->message());
            pthread_mutex_unlock(&lock);
        }
        tell_others(w);
    }
}

/* ------------------------------------------------------------------ answers */
/* Lock held: one more, or one less. */
static void count_awaited(const struct mpi_lane *l, int n)
{
    struct mpi_worker *w = l->device->worker;
    w->awaited += (unsigned)n;
    if (!(l->id & MPI_QUEUE_LANE))
        return;
    w->unattended += (unsigned)n, unattended += (unsigned)n;
    if (n > 0 && unattended == 1)
        pthread_cond_signal(&asked);
}

/* Lock held.  What has no answer by now is not going to have one: it failed. */
static struct mpi_awaited *take_awaited(struct mpi_lane *l, uint64_t serial)
{
    for (struct mpi_awaited *a; (a = l->first) && a->serial <= serial;) {
        if (!(l->first = a->next))
            l->last = &l->first;
        count_awaited(l, -1);
        if (a->serial == serial)
            return a;
        free(a);
    }
    return NULL;
}

static void note_failure(struct mpi_lane *l, const struct mpi_message *m)
{
    if (l->failed)
        return;
    l->failed = true;
    l->has_fault = m->header.d, l->fault = m->header.d - 1;
    snprintf(l->message, sizeof l->message, "%s", m->bytes);
}

static void fill_answer(struct mpi_answer *a, const struct mpi_message *m)
{
    size_t n = m->header.size < a->size ? m->header.size : a->size;
    a->status = m->header.status;
    a->a = m->header.a, a->b = m->header.b;
    if (n && !a->status)
        memcpy(a->bytes, m->bytes, n);
}

static void set_answered(struct mpi_lane *l, uint64_t serial)
{
    if (l->answered < serial)
        __atomic_store_n(&l->answered, serial, __ATOMIC_RELEASE);
}

/* Lock held. */
static void handle_answer(struct mpi_lane *l, const struct mpi_message *m)
{
    struct mpi_awaited *a = take_awaited(l, m->header.serial);
    if (m->header.status)
        note_failure(l, m);
    if (a && a->answer)
        fill_answer(a->answer, m);
    if (a && a->data && m->header.kind == MPI_DATA && m->header.size == a->size)
        memcpy(a->data, m->bytes, a->size);
    if (a && a->function && !m->header.status) {
        a->next = NULL, a->lane = l->id;
        *last_call = a, last_call = &a->next;
        l->ncalls++;
        pthread_cond_signal(&asked);
        return;
    }
    set_answered(l, m->header.serial);
    free(a);
}

static struct mpi_lane *lane_of(uint32_t id)
{
    id &= ~MPI_QUEUE_LANE;
    return id < nlanes ? lanes[id] : NULL;
}

static bool is_met(const struct mpi_order *o)
{
    const struct mpi_lane *l = lane_of(o->lane);
    return !l || l->device->worker->lost || l->answered >= o->serial;
}

/* Lock held.  Drops the orders that are met. */
static bool may_handle(struct mpi_lane *l, uint64_t serial)
{
    bool may = !l->ncalls;
    for (struct mpi_order **p = &l->orders, *o; (o = *p);) {
        if (is_met(o)) {
            *p = o->next;
            free(o);
            continue;
        }
        may = may && o->from > serial;
        p = &o->next;
    }
    return may;
}

/* Lock held.  Whoever waited for a lost worker waits no more, and has no room for an answer. */
static bool handle_first_parked(struct mpi_lane *l)
{
    struct mpi_message *m = l->parked;
    const bool lost = m && l->device->worker->lost;
    if (!m || !(lost || may_handle(l, m->header.serial)))
        return false;
    if (!(l->parked = m->next))
        l->last_parked = &l->parked;
    nparked--;
    if (!lost)
        handle_answer(l, m);
    free(m);
    return true;
}

static void handle_parked(void)
{
    for (bool any = true; any && nparked;) {
        any = false;
        for (unsigned i = 0; i < nlanes; i++)
            while (lanes[i] && handle_first_parked(lanes[i]))
                any = true;
    }
}

/* Lock held.  Takes the message. */
static void handle_of(struct mpi_worker *w, struct mpi_message *m)
{
    const struct mpi_header *h = &m->header;
    struct mpi_lane *l = lane_of(h->lane);
    if (!w->lost)
        w->heard = mpi_clock();
    if (!w->lost && (h->kind == MPI_REPLY || h->kind == MPI_DATA) && l && l->device->worker == w) {
        m->next = NULL;
        *l->last_parked = m, l->last_parked = &m->next;
        nparked++;
        while (handle_first_parked(l))
            ;
        handle_parked();
        return;
    }
    if (!h->kind || h->kind == MPI_BYE)
        lose(w, m->bytes);
    free(m);
}

static void handle(struct mpi_message *m)
{
    pthread_mutex_lock(&lock);
    if (m->rank >= 1 && m->rank <= nworkers)
        handle_of(&workers[m->rank - 1], m);
    else
        free(m);
    pthread_mutex_unlock(&lock);
}

/* Did anything come? */
static bool receive_one(void)
{
    if (pthread_mutex_trylock(&receiving))
        return false;
    struct mpi_message *m = mpi_receive();
    if (m)
        handle(m);
    pthread_mutex_unlock(&receiving);
    return m;
}

/* ------------------------------------------------------------------ the receiver */
/* Lock held, but while it is done. */
static void make_calls(void)
{
    for (struct mpi_awaited *a; (a = calls);) {
        if (!(calls = a->next))
            last_call = &calls;
        pthread_mutex_unlock(&lock);
        a->function(a->argument);
        pthread_mutex_lock(&lock);
        struct mpi_lane *l = lane_of(a->lane);
        if (l)
            l->ncalls--, set_answered(l, a->serial);
        free(a);
        handle_parked();
    }
}

/* Lock held.  Also when there is nothing to do: a worker that somebody waits for may be lost. */
static void wait_for_work(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += LOOK_AFTER;
    end.tv_sec += end.tv_nsec / 1000000000, end.tv_nsec %= 1000000000;
    while (!unattended && !calls && !stopping)
        if (pthread_cond_timedwait(&asked, &lock, &end))
            return;
}

static void *receive_always(void *unused)
{
    double looked = mpi_clock();
    for (unsigned quiet = 0;;) {
        pthread_mutex_lock(&lock);
        if (!unattended)
            wait_for_work(), quiet = 0;
        bool end = stopping && !calls;
        make_calls();
        pthread_mutex_unlock(&lock);
        if (end)
            return unused;
        quiet = receive_one() ? 0 : quiet + 1;
        if (quiet > 20)
            mpi_sleep(quiet > 200 ? 500 : 50);
        double since = mpi_clock() - looked;
        if (since > 1e-9 * LOOK_AFTER) {
            look_after_workers(since);
            looked = mpi_clock();
        }
    }
}

/* ------------------------------------------------------------------ to send */
/* The message, and what of it is awaited: in one order for all, as the lane has. */
static int send_awaiting(struct mpi_lane *l, struct mpi_header h, const void *bytes,
                         struct mpi_awaited *a)
{
    struct mpi_worker *w = l->device->worker;
    if (is_lost(l->device)) {
        mpi_say_lost(l->device);
        free(a);
        return 1;
    }
    h.device = l->device->index, h.lane = l->id;
    pthread_mutex_lock(&lock);
    h.serial = ++l->sent;
    if (a) {
        a->serial = l->asked = h.serial;
        *l->last = a, l->last = &a->next;
        if (!w->awaited)
            w->heard = mpi_clock();
        count_awaited(l, 1);
    }
    pthread_mutex_unlock(&lock);
    if (!mpi_send(w->rank, h, bytes))
        return 0;
    if (is_lost(l->device))
        mpi_say_lost(l->device);
    return 1;
}

static int send_kept(struct mpi_lane *l)
{
    bool keeps = l->keeps;
    l->keeps = false;
    return keeps && send_awaiting(l, l->kept, l->kept_bytes, NULL);
}

int mpi_lane_send(struct mpi_lane *l, struct mpi_header h, const void *bytes)
{
    return send_kept(l) || send_awaiting(l, h, bytes, NULL);
}

int mpi_lane_keep(struct mpi_lane *l, struct mpi_header h, const void *bytes)
{
    if (l->id & MPI_QUEUE_LANE)
        return mpi_lane_send(l, h, bytes);
    if (send_kept(l))
        return 1;
    l->keeps = true, l->kept = h, l->kept_bytes = bytes;
    return 0;
}

static int ask(struct mpi_lane *l, struct mpi_header h, const void *bytes, struct mpi_awaited a)
{
    struct mpi_awaited *copy = mpi_alloc(sizeof *copy);
    if (!copy || send_kept(l)) {
        free(copy);
        return 1;
    }
    *copy = a;
    return send_awaiting(l, h, bytes, copy);
}

/* Whether all has ended. */
static int ask_for_end(struct mpi_lane *l)
{
    struct mpi_header h = { .kind = MPI_SYNC };
    if (l->keeps)
        h = l->kept, h.d = 1;
    const void *bytes = l->keeps ? l->kept_bytes : NULL;
    l->keeps = false;
    return ask(l, h, bytes, (struct mpi_awaited){ 0 });
}

int mpi_lane_ask(struct mpi_lane *l, struct mpi_header h, const void *bytes,
                 struct mpi_answer *answer)
{
    return ask(l, h, bytes, (struct mpi_awaited){ .answer = answer });
}

int mpi_lane_call(struct mpi_lane *l, void (*function)(void *), void *argument)
{
    return ask(l, (struct mpi_header){ .kind = MPI_SYNC }, NULL,
               (struct mpi_awaited){ .function = function, .argument = argument });
}

/* ------------------------------------------------------------------ to wait */
static bool is_answered(const struct mpi_lane *l, uint64_t serial)
{
    return __atomic_load_n(&l->answered, __ATOMIC_ACQUIRE) >= serial;
}

/* Lock held: what failed since.  A queue stays failed. */
static int take_failure(struct mpi_lane *l)
{
    bool failed = l->failed;
    mpi_set_fault(failed && l->has_fault, l->fault);
    if (failed)
        mpi_error("%s", l->message);
    if (!(l->id & MPI_QUEUE_LANE))
        l->failed = l->has_fault = false;
    return failed;
}

int mpi_lane_wait_for(struct mpi_lane *l, uint64_t serial)
{
    struct mpi_rest rest = { 0 };
    while (!is_answered(l, serial) && !is_lost(l->device)) {
        if (receive_one())
            rest = (struct mpi_rest){ 0 };
        else
            mpi_rest(&rest);
    }
    if (!is_answered(l, serial)) {
        mpi_set_fault(false, 0);
        mpi_say_lost(l->device);
        return 1;
    }
    pthread_mutex_lock(&lock);
    int bad = take_failure(l);
    pthread_mutex_unlock(&lock);
    return bad;
}

int mpi_lane_wait(struct mpi_lane *l)
{
    pthread_mutex_lock(&lock);
    bool owed = l->keeps || (l->sent > l->answered && l->sent > l->asked);
    pthread_mutex_unlock(&lock);
    if (owed && ask_for_end(l))
        return 1;
    return mpi_lane_wait_for(l, l->sent);
}

int mpi_lane_request(struct mpi_lane *l, struct mpi_header h, const void *bytes,
                     struct mpi_answer *answer)
{
    if (mpi_lane_ask(l, h, bytes, answer))
        return 1;
    return mpi_lane_wait_for(l, l->sent);
}

/* ------------------------------------------------------------------ lane after lane */
/* Lock held. */
static int add_order(struct mpi_lane *l, uint32_t lane, uint64_t serial)
{
    struct mpi_order *o = mpi_alloc(sizeof *o);
    if (!o)
        return 1;
    *o = (struct mpi_order){ l->orders, l->sent + 1, serial, lane };
    l->orders = o;
    return 0;
}

/* Also after what the other lane itself comes after. */
int mpi_lane_order(struct mpi_lane *l, const struct mpi_lane *other, uint64_t recorded,
                   uint64_t asked_there)
{
    pthread_mutex_lock(&lock);
    int bad = other->answered < asked_there && add_order(l, other->id, asked_there);
    for (const struct mpi_order *o = other->orders; o && !bad; o = o->next)
        bad = o->from <= recorded && !is_met(o) && add_order(l, o->lane, o->serial);
    pthread_mutex_unlock(&lock);
    return bad;
}

int mpi_lane_notify(struct mpi_lane *l, uint64_t event, uint64_t number, int rank)
{
    if (is_lost(l->device)) {
        mpi_say_lost(l->device);
        return 1;
    }
    return mpi_send(
        l->device->worker->rank,
        (struct mpi_header){ .kind = MPI_NOTIFY, .a = event, .b = number, .c = (unsigned)rank },
        NULL);
}

/* ------------------------------------------------------------------ copies and launches */
static size_t piece_at(size_t at, size_t size)
{
    return size - at < MPI_PIECE ? size - at : MPI_PIECE;
}

/* A pointer, which the caller may have on its stack and waits for nowhere, is not kept. */
int mpi_lane_put(struct mpi_lane *l, void *dst, const void *src, size_t size)
{
    struct mpi_header h = { .kind = MPI_PUT };
    int bad = 0;
    for (size_t at = 0; at < size && !bad; at += h.size) {
        h.a = (uintptr_t)dst + at, h.size = (uint32_t)piece_at(at, size);
        const char *bytes = (const char *)src + at;
        bad = size > sizeof(void *) ? mpi_lane_keep(l, h, bytes) : mpi_lane_send(l, h, bytes);
    }
    return bad;
}

int mpi_lane_get(struct mpi_lane *l, void *dst, const void *src, size_t size)
{
    int bad = 0;
    for (size_t at = 0, n; at < size && !bad; at += n) {
        n = piece_at(at, size);
        bad = ask(l, (struct mpi_header){ .kind = MPI_GET, .a = (uintptr_t)src + at, .b = n }, NULL,
                  (struct mpi_awaited){ .data = (char *)dst + at, .size = n });
    }
    return bad;
}

/* What is kept may be in it. */
static int get_text(struct mpi_lane *l, size_t size)
{
    if (send_kept(l))
        return 1;
    if (size <= l->text_room)
        return 0;
    free(l->text);
    l->text = mpi_alloc(2 * size);
    l->text_room = l->text ? 2 * size : 0;
    return !l->text;
}

static size_t size_of_parameters(const uint32_t *sizes, uint32_t *n)
{
    size_t bytes = mpi_round(sizeof(struct ompgpu_env));
    for (*n = 0; sizes[*n]; ++*n)
        bytes += mpi_round(sizes[*n]);
    ++*n;
    return bytes;
}

int mpi_lane_launch(struct mpi_lane *l, const struct ompgpu_function *f, unsigned teams,
                    unsigned threads, void **params)
{
    struct mpi_launch head = { .function = (uintptr_t)f->handle - 1,
                               .stack_bytes = f->stack_bytes,
                               .teams = teams,
                               .threads = threads };
    size_t bytes = size_of_parameters(f->sizes, &head.nparams),
           at = mpi_round(sizeof head) + mpi_round(head.nparams * sizeof(uint32_t)),
           size = at + bytes;
    if (get_text(l, size))
        return 1;
    char *text = l->text;
    memset(text, 0, at);
    memcpy(text, &head, sizeof head);
    uint32_t *sizes = (uint32_t *)(text + mpi_round(sizeof head));
    for (unsigned i = 0; i < head.nparams; i++) {
        sizes[i] = i ? f->sizes[i - 1] : (uint32_t)sizeof(struct ompgpu_env);
        memcpy(text + at, params[i], sizes[i]);
        at += mpi_round(sizes[i]);
    }
    return mpi_lane_keep(l, (struct mpi_header){ .kind = MPI_LAUNCH, .size = (uint32_t)size },
                         text);
}

/* ------------------------------------------------------------------ lanes */
/* Lock held: room for one more. */
static bool grow(void)
{
    struct mpi_lane **more = realloc(lanes, (nlanes + 1) * sizeof *lanes);
    if (more)
        lanes = more;
    else
        mpi_error("out of memory");
    return more;
}

struct mpi_lane *mpi_lane_new(struct mpi_device *d, uint32_t bits)
{
    struct mpi_lane *l = mpi_alloc(sizeof *l);
    pthread_mutex_lock(&lock);
    if (l && grow()) {
        l->device = d;
        l->last = &l->first, l->last_parked = &l->parked;
        l->id = nlanes | bits;
        lanes[nlanes++] = l;
    } else {
        free(l);
        l = NULL;
    }
    pthread_mutex_unlock(&lock);
    return l;
}

/* Lock held. */
static void drop_answers(struct mpi_lane *l)
{
    for (struct mpi_message *m; (m = l->parked); nparked--) {
        l->parked = m->next;
        free(m);
    }
    for (struct mpi_order *o; (o = l->orders);) {
        l->orders = o->next;
        free(o);
    }
}

void mpi_lane_end(struct mpi_lane *l)
{
    if (!is_lost(l->device))
        mpi_lane_send(l, (struct mpi_header){ .kind = MPI_END_LANE }, NULL);
    pthread_mutex_lock(&lock);
    lanes[l->id & ~MPI_QUEUE_LANE] = NULL;
    for (struct mpi_awaited *a; (a = l->first);) {
        l->first = a->next;
        if (!l->device->worker->lost)
            count_awaited(l, -1);
        free(a);
    }
    drop_answers(l);
    handle_parked(); /* of those that come after it */
    pthread_mutex_unlock(&lock);
    free(l->text);
    free(l);
}

/* Its host thread has ended: another one may have it. */
static void give_lanes_back(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MPI_MOST_DEVICES; i++) {
        struct mpi_lane *l = thread_lanes[i];
        if (l)
            l->next = mpi_devices[i].unused, mpi_devices[i].unused = l;
        thread_lanes[i] = NULL;
    }
    pthread_mutex_unlock(&lock);
}

static struct mpi_lane *take_unused(struct mpi_device *d)
{
    pthread_mutex_lock(&lock);
    struct mpi_lane *l = d->unused;
    if (l)
        d->unused = l->next;
    pthread_mutex_unlock(&lock);
    return l;
}

struct mpi_lane *mpi_lane_of_thread(int device)
{
    struct mpi_device *d = &mpi_devices[device];
    struct mpi_lane **l = &thread_lanes[device];
    if (is_lost(d)) {
        mpi_say_lost(d);
        return NULL;
    }
    if (!*l) {
        pthread_setspecific(thread_ended, thread_lanes);
        *l = take_unused(d);
    }
    if (!*l)
        *l = mpi_lane_new(d, 0);
    return *l;
}

/* ------------------------------------------------------------------ start and end */
static bool is_like_us(const struct mpi_hello *h)
{
    return h->protocol == MPI_PROTOCOL && h->header_size == sizeof(struct mpi_header) &&
           h->info_size == sizeof(struct ompgpu_device_info) &&
           h->env_size == sizeof(struct ompgpu_env) && h->ndevices <= MPI_MOST_DEVICES &&
           !strcmp(h->version, mpi_services->version);
}

static int meet(struct mpi_worker *w, const struct mpi_hello *h)
{
    snprintf(w->node, sizeof w->node, "%.63s", h->node);
    w->pid = h->pid;
    if (!is_like_us(h)) {
        mpi_error("rank %d on node %s has another version of the runtime: %.15s, not %s", w->rank,
                  w->node, h->version, mpi_services->version);
        return 1;
    }
    mpi_image_kinds |= h->image_kinds;
    for (unsigned i = 0; i < h->ndevices && mpi_ndevices < (int)MPI_MOST_DEVICES; i++) {
        struct mpi_device *d = &mpi_devices[mpi_ndevices++];
        *d = (struct mpi_device){ .worker = w, .index = i, .identity = h->identities[i] };
        snprintf(d->identity.uid, sizeof d->identity.uid, "%.40s@%d", h->identities[i].uid,
                 w->rank);
    }
    return 0;
}

/* Each worker's HELLO, in the order of ranks. */
static int meet_all(void)
{
    struct mpi_message **hellos = calloc((size_t)nworkers, sizeof *hellos);
    double end = mpi_clock() + (double)mpi_services->timeout;
    int bad = 0;
    for (int n = 0; hellos && n < nworkers && mpi_clock() < end;) {
        struct mpi_message *m = mpi_receive();
        bool good = m && m->header.kind == MPI_HELLO && !hellos[m->rank - 1] &&
                    m->header.size >= sizeof(struct mpi_hello);
        if (good)
            hellos[m->rank - 1] = m, n++;
        else if (m)
            free(m);
        else
            sched_yield();
    }
    for (int i = 0; hellos && i < nworkers && !bad; i++) {
        if (!hellos[i])
            mpi_error("rank %d of the MPI job does not answer", i + 1);
        bad = !hellos[i] || meet(&workers[i], (struct mpi_hello *)hellos[i]->bytes);
    }
    for (int i = 0; hellos && i < nworkers; i++)
        free(hellos[i]);
    free(hellos);
    return bad;
}

static int start_receiver(void)
{
    int bad = pthread_key_create(&thread_ended, give_lanes_back) ||
              ompgpu_quiet_thread(&receiver, receive_always, NULL);
    if (bad)
        mpi_error("no thread can be started for the answers of other nodes");
    return bad;
}

int mpi_lanes_start(void)
{
    nworkers = mpi_nranks() - 1;
    workers = mpi_alloc((size_t)nworkers * sizeof *workers);
    if (!workers)
        return 1;
    for (int i = 0; i < nworkers; i++)
        workers[i].rank = i + 1;
    return meet_all() || start_receiver();
}

static bool any_is_lost(void)
{
    bool any = false;
    for (int i = 0; i < nworkers; i++)
        any |= workers[i].lost;
    return any;
}

static void end_workers(bool at_once)
{
    for (int i = 0; i < nworkers; i++)
        if (!workers[i].lost)
            mpi_send(workers[i].rank, (struct mpi_header){ .kind = MPI_END, .a = at_once }, NULL);
}

/* A process that is stopped does not notice that the job ends.  Were all of them here? */
static bool kill_lost(void)
{
    char node[64] = "";
    bool all = true;
    gethostname(node, sizeof node - 1);
    for (int i = 0; i < nworkers; i++) {
        bool here = !strcmp(workers[i].node, node);
        if (workers[i].lost && here)
            kill(workers[i].pid, SIGKILL);
        all = all && (here || !workers[i].lost);
    }
    return all;
}

/* MPI_Finalize waits for all processes: where one does not come, nobody calls it. */
void mpi_lanes_end(int status)
{
    if (forked)
        return;
    pthread_mutex_lock(&lock);
    stopping = true;
    pthread_cond_signal(&asked);
    pthread_mutex_unlock(&lock);
    pthread_join(receiver, NULL);
    bool broken = any_is_lost();
    end_workers(broken);
    if (broken) {
        fflush(NULL);
        if (!kill_lost())
            mpi_abort(status);
        _exit(status);
    }
    mpi_transport_end();
}

void mpi_lanes_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE)
        pthread_mutex_lock(&lock);
    else
        pthread_mutex_unlock(&lock);
    if (when == OMPGPU_FORK_CHILD)
        forked = true;
}
