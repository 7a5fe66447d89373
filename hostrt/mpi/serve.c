/* serve.c - a worker: what a lane's thread does with a message.  A failure is kept until something
 * of the lane is answered, and what comes before that is not done. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/mpi/mpi.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct mpi_message *images, *pieces;
static struct module {
    void *handle;
    struct mpi_message *tables; /* its container, without images */
} *modules;
static struct kernel **functions;
static uint64_t nmodules, nfunctions;
static struct event {
    uint64_t reached; /* how often */
    bool failed;      /* what is before the last one */
} *events;
static uint64_t nevents;
static struct notice { /* of an event that another worker waits for */
    struct notice *next;
    struct mpi_header wanted;
} *notices;
static bool *gone;                        /* by rank: it reaches no event any more */
static const double quick_seconds = 5e-5; /* of what no thread is woken for */
struct kernel {                           /* a function, and what its pointers point to */
    struct ompgpu_function f;
    struct mpi_function described;
    bool quick; /* its last launch was */
};

/* ------------------------------------------------------------------ tables */
/* Lock held: room for an item more. */
static bool grow(void *items, uint64_t n, size_t size)
{
    void **list = items, *more = realloc(*list, (n + 1) * size);
    if (more)
        *list = more;
    else
        mpi_error("out of memory");
    return more;
}

static struct module *module_of(uint64_t id)
{
    pthread_mutex_lock(&lock);
    struct module *m = id < nmodules && modules[id].tables ? &modules[id] : NULL;
    pthread_mutex_unlock(&lock);
    if (!m)
        mpi_error("there is no image %llu", (unsigned long long)id);
    return m;
}

static struct kernel *kernel_of(uint64_t id)
{
    pthread_mutex_lock(&lock);
    struct kernel *k = id < nfunctions ? functions[id] : NULL;
    pthread_mutex_unlock(&lock);
    if (!k)
        mpi_error("there is no kernel %llu", (unsigned long long)id);
    return k;
}

void mpi_image_keep(struct mpi_message *m)
{
    pthread_mutex_lock(&lock);
    m->next = images, images = m;
    pthread_mutex_unlock(&lock);
}

static const struct mpi_message *image_of(uint64_t sum)
{
    pthread_mutex_lock(&lock);
    const struct mpi_message *m = images;
    while (m && m->header.a != sum)
        m = m->next;
    pthread_mutex_unlock(&lock);
    if (!m || ompgpu_image_sum(m->bytes, m->header.size) != sum) {
        mpi_error("an image has not arrived as it was sent");
        return NULL;
    }
    return m;
}

/* ------------------------------------------------------------------ answers */
static int answer(struct mpi_served *l, const struct mpi_message *m, struct mpi_header h,
                  const void *bytes)
{
    h.kind = h.kind ? h.kind : MPI_REPLY;
    h.lane = m->header.lane, h.serial = m->header.serial;
    if (l->failed) {
        h.kind = MPI_REPLY, h.status = 1;
        h.d = l->has_fault ? l->fault + 1 : 0;
        bytes = l->message, h.size = (uint32_t)strlen(l->message) + 1;
        l->failed = l->queue;
    }
    return mpi_send(0, h, bytes);
}

static void fail(struct mpi_served *l)
{
    l->failed = true;
    snprintf(l->message, sizeof l->message, "%s", mpi_services->message());
    l->has_fault = l->plugin->fault && l->plugin->fault(&l->fault);
}

static int wait_for_device(struct mpi_served *l)
{
    int bad = l->plugin->sync(l->ordinal);
    l->pending = false;
    if (l->launched)
        __atomic_store_n(&l->launched->quick, mpi_clock() - l->launched_at < quick_seconds,
                         __ATOMIC_RELAXED);
    l->launched = NULL;
    for (struct mpi_message *m; (m = l->held);) {
        l->held = m->next;
        free(m);
    }
    l->held_bytes = 0;
    return bad;
}

/* ------------------------------------------------------------------ images */
static const struct ompgpu_image_header *tables_in(const struct mpi_message *m)
{
    const struct ompgpu_image_header *h = (const void *)m->bytes;
    const size_t entry = sizeof(struct ompgpu_image_entry),
                 kernel = sizeof(struct ompgpu_kernel_entry);
    if (m->header.size >= sizeof *h && h->images == sizeof *h &&
        h->kernels == sizeof *h + h->nimages * entry &&
        m->header.size == sizeof *h + h->nimages * entry + h->nkernels * kernel)
        return h;
    mpi_error("the tables of an image have not arrived as they were sent");
    return NULL;
}

static int do_open(struct mpi_served *l, struct mpi_message *m)
{
    static bool is_open[MPI_MOST_DEVICES];
    static struct ompgpu_device_info info[MPI_MOST_DEVICES];
    pthread_mutex_lock(&lock);
    mpi_services->check((long)m->header.a);
    int bad =
        !is_open[l->device] && l->plugin->open && l->plugin->open(l->ordinal, &info[l->device]);
    is_open[l->device] = !bad;
    pthread_mutex_unlock(&lock);
    if (bad)
        fail(l);
    return answer(l, m, (struct mpi_header){ .size = sizeof *info }, &info[l->device]);
}

static int do_pick(struct mpi_served *l, struct mpi_message *m)
{
    const struct ompgpu_image_header *h = tables_in(m);
    int image = h ? l->plugin->pick(l->ordinal, h) : -1;
    return answer(l, m, (struct mpi_header){ .a = (uint64_t)(int64_t)image }, NULL);
}

/* Takes the message for good. */
static int do_load(struct mpi_served *l, struct mpi_message *m)
{
    const struct mpi_message *image = image_of(m->header.a);
    const struct ompgpu_image_header *h = tables_in(m);
    void *handle = NULL;
    uint64_t id = 0;
    if (!image || !h || m->header.b >= h->nimages ||
        l->plugin->load(l->ordinal, h, (int)m->header.b, image->bytes, image->header.size,
                        &handle)) {
        fail(l);
    } else {
        pthread_mutex_lock(&lock);
        if (grow(&modules, nmodules, sizeof *modules))
            modules[id = nmodules++] = (struct module){ handle, m };
        else
            fail(l);
        pthread_mutex_unlock(&lock);
    }
    return answer(l, m, (struct mpi_header){ .a = id }, NULL);
}

static int do_unload(struct mpi_served *l, struct mpi_message *m)
{
    struct module *module = module_of(m->header.a);
    if (!module)
        return 1;
    l->plugin->unload(l->ordinal, module->handle);
    free(module->tables);
    module->tables = NULL;
    return 0;
}

static int add_function(struct mpi_served *l, struct mpi_message *m, uint64_t *id)
{
    struct module *module = module_of(m->header.a);
    struct kernel *k = calloc(1, sizeof *k);
    if (!module || !k || m->header.size <= sizeof k->described) {
        free(k);
        return 1;
    }
    struct mpi_function *d = &k->described;
    memcpy(d, m->bytes, sizeof *d);
    d->kernel[sizeof d->kernel - 1] = d->file[sizeof d->file - 1] = '\0';
    d->function[sizeof d->function - 1] = d->directive[sizeof d->directive - 1] = '\0';
    k->f.entry = d->has_entry ? &d->entry : NULL;
    k->f.where =
        (struct ompgpu_kernel_where){ d->kernel, d->file, d->function, d->directive, d->line };
    if (l->plugin->function(l->ordinal, module->handle, m->bytes + sizeof *d, &k->f)) {
        free(k);
        return 1;
    }
    k->f.entry = d->has_entry ? &d->entry : NULL;
    pthread_mutex_lock(&lock);
    bool room = grow(&functions, nfunctions, sizeof *functions);
    if (room)
        functions[ *id = nfunctions++] = k;
    pthread_mutex_unlock(&lock);
    return !room;
}

static int do_function(struct mpi_served *l, struct mpi_message *m)
{
    struct mpi_function reply = { 0 };
    if (add_function(l, m, &reply.id)) {
        fail(l);
    } else {
        const struct ompgpu_function *f = &kernel_of(reply.id)->f;
        reply.registers = f->registers, reply.max_threads = f->max_threads;
        reply.static_shared = f->static_shared, reply.stack_bytes = f->stack_bytes;
    }
    return answer(l, m, (struct mpi_header){ .size = sizeof reply }, &reply);
}

static int do_variable(struct mpi_served *l, struct mpi_message *m)
{
    struct module *module = module_of(m->header.a);
    void *address = NULL;
    size_t size = 0;
    if (!module || l->plugin->variable(l->ordinal, module->handle, m->bytes, &address, &size))
        fail(l);
    return answer(l, m, (struct mpi_header){ .a = (uintptr_t)address, .b = size }, NULL);
}

/* ------------------------------------------------------------------ memory */
static int do_alloc(struct mpi_served *l, struct mpi_message *m)
{
    void *address = NULL;
    if (l->plugin->alloc(l->ordinal, m->header.a, &address))
        fail(l);
    return answer(l, m, (struct mpi_header){ .a = (uintptr_t)address }, NULL);
}

static int do_free(struct mpi_served *l, struct mpi_message *m)
{
    return l->plugin->free(l->ordinal, (void *)(uintptr_t)m->header.a);
}

static int do_put(struct mpi_served *l, struct mpi_message *m)
{
    return l->plugin->to_device(l->ordinal, (void *)(uintptr_t)m->header.a, m->bytes,
                                m->header.size);
}

static int do_get(struct mpi_served *l, struct mpi_message *m)
{
    char *room = malloc(m->header.b ? m->header.b : 1);
    if (!room ||
        l->plugin->from_device(l->ordinal, room, (void *)(uintptr_t)m->header.a, m->header.b) ||
        wait_for_device(l))
        fail(l);
    int bad =
        answer(l, m, (struct mpi_header){ .kind = MPI_DATA, .size = (uint32_t)m->header.b }, room);
    free(room);
    return bad;
}

static int do_copy(struct mpi_served *l, struct mpi_message *m)
{
    return l->plugin->device_copy(l->ordinal, (void *)(uintptr_t)m->header.a,
                                  (void *)(uintptr_t)m->header.b, m->header.c);
}

static int do_trust(struct mpi_served *l, struct mpi_message *m)
{
    if (l->plugin->trust)
        l->plugin->trust(l->ordinal, (void *)(uintptr_t)m->header.a, m->header.b);
    return 0;
}

/* ------------------------------------------------------------------ from worker to worker */
static int do_give(struct mpi_served *l, struct mpi_message *m)
{
    const struct mpi_header *h = &m->header;
    char *room = malloc(MPI_PIECE);
    int bad = !room || h->d >= (unsigned)mpi_nranks();
    for (uint64_t at = 0, n; at < h->b && !bad; at += n) {
        n = h->b - at < MPI_PIECE ? h->b - at : MPI_PIECE;
        bad = l->plugin->from_device(l->ordinal, room, (void *)(uintptr_t)(h->a + at), n) ||
              wait_for_device(l) ||
              mpi_send((int)h->d,
                       (struct mpi_header){
                           .kind = MPI_PIECES, .a = at, .c = h->c, .size = (uint32_t)n },
                       room);
    }
    free(room);
    return bad;
}

void mpi_piece_arrived(struct mpi_message *m)
{
    struct mpi_message **end = &pieces;
    pthread_mutex_lock(&lock);
    while (*end)
        end = &(*end)->next;
    m->next = NULL;
    *end = m;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static struct mpi_message *take_piece(uint64_t token)
{
    struct mpi_message *found = NULL;
    pthread_mutex_lock(&lock);
    while (!found) {
        struct mpi_message **p = &pieces;
        while (*p && (*p)->header.c != token)
            p = &(*p)->next;
        if ((found = *p))
            *p = found->next;
        else
            pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static int take_pieces(struct mpi_served *l, const struct mpi_header *h)
{
    int bad = 0;
    for (uint64_t left = h->b; left && !bad;) {
        struct mpi_message *p = take_piece(h->c);
        uint64_t at = p->header.a, n = p->header.size;
        bad = p->header.status || n > left || at > h->b - n;
        if (bad)
            mpi_error("a copy from another device has failed there");
        bad = bad ||
              l->plugin->to_device(l->ordinal, (void *)(uintptr_t)(h->a + at), p->bytes, n) ||
              wait_for_device(l);
        left -= n;
        free(p);
    }
    return bad;
}

static int do_take(struct mpi_served *l, struct mpi_message *m)
{
    if (take_pieces(l, &m->header))
        fail(l);
    return answer(l, m, (struct mpi_header){ 0 }, NULL);
}

/* ------------------------------------------------------------------ launches, events */
static int do_occupancy(struct mpi_served *l, struct mpi_message *m)
{
    struct kernel *k = kernel_of(m->header.a);
    uint64_t n = k ? l->plugin->occupancy(l->ordinal, &k->f, (unsigned)m->header.b) : 0;
    return answer(l, m, (struct mpi_header){ .a = n }, NULL);
}

/* Where the parameters are in the message. */
static int find_parameters(struct mpi_message *m, const struct mpi_launch *h, void **params)
{
    const uint32_t *sizes = (const uint32_t *)(m->bytes + mpi_round(sizeof *h));
    size_t at = mpi_round(sizeof *h) + mpi_round(h->nparams * sizeof *sizes);
    for (unsigned i = 0; i < h->nparams; i++) {
        if (at > m->header.size || sizes[i] > m->header.size - at)
            return 1;
        params[i] = m->bytes + at;
        at += mpi_round(sizes[i]);
    }
    params[h->nparams] = NULL;
    return 0;
}

static int do_launch(struct mpi_served *l, struct mpi_message *m)
{
    const struct mpi_launch *h = (const void *)m->bytes;
    struct kernel *k = m->header.size >= sizeof *h ? kernel_of(h->function) : NULL;
    if (!k || h->nparams > m->header.size / 4 ||
        mpi_round(sizeof *h) + mpi_round(h->nparams * sizeof(uint32_t)) > m->header.size)
        return 1;
    void *few[64], **params = h->nparams < 64 ? few : malloc((h->nparams + 1) * sizeof *params);
    struct ompgpu_function own = k->f;
    l->launched = k, l->launched_at = mpi_clock();
    own.stack_bytes = h->stack_bytes;
    int bad = !params || find_parameters(m, h, params) ||
              l->plugin->launch(l->ordinal, &own, h->teams, h->threads, params);
    if (params != few)
        free(params);
    return bad;
}

/* ------------------------------------------------------------------ reverse offload */
static struct ompgpu_mailbox *mailboxes[MPI_MOST_DEVICES]; /* each used by one lane */

static int do_mailbox(struct mpi_served *l, struct mpi_message *m)
{
    void *box = NULL;
    if (!l->plugin->alloc_shared)
        mpi_error("device(ancestor: 1): the device has no memory that its worker reaches");
    if (!l->plugin->alloc_shared || l->plugin->alloc_shared(l->ordinal, sizeof **mailboxes, &box)) {
        fail(l);
    } else {
        mailboxes[l->device] = memset(box, 0, sizeof **mailboxes);
        mailboxes[l->device]->lock = (unsigned *)(uintptr_t)m->header.a;
    }
    return answer(l, m, (struct mpi_header){ .a = (uintptr_t)box }, NULL);
}

/* The device waits for it. */
static int take_reply(struct ompgpu_mailbox *box, const struct mpi_message *m)
{
    const struct ompgpu_mailbox *from = (const void *)m->bytes;
    const size_t head = offsetof(struct ompgpu_mailbox, data);
    if (!m->header.size)
        return 0;
    if (m->header.size < head || from->bytes > sizeof box->data ||
        m->header.size != mpi_mailbox_size(from)) {
        mpi_error("the answer to a region on the host has not arrived as it was sent");
        return 1;
    }
    memcpy(box->wants, from->wants, sizeof box->wants);
    memcpy(box->data, from->data, from->bytes);
    __atomic_store_n(&box->request, 0, __ATOMIC_RELEASE);
    return 0;
}

static int do_next(struct mpi_served *l, struct mpi_message *m)
{
    static const double patience = 0.1; /* seconds: the host may want to end */
    struct ompgpu_mailbox *box = mailboxes[l->device];
    struct mpi_rest rest = { 0 };
    const double begun = mpi_clock();
    struct mpi_header h = { 0 };
    if (!box)
        mpi_error("the device has no mailbox");
    if (!box || take_reply(box, m))
        fail(l);
    while (!l->failed && !h.size && mpi_clock() - begun < patience) {
        if (__atomic_load_n(&box->request, __ATOMIC_ACQUIRE))
            h.size = (uint32_t)mpi_mailbox_size(box);
        else
            mpi_rest(&rest);
    }
    return answer(l, m, h, box);
}

/* ------------------------------------------------------------------ events */
/* Lock held. */
static bool has_event(uint64_t id)
{
    enum { MOST = 1 << 24 };
    while (nevents <= id && id < MOST && grow(&events, nevents, sizeof *events))
        events[nevents++] = (struct event){ 0 };
    return id < nevents;
}

static void reach(const struct mpi_header *h, bool failed)
{
    pthread_mutex_lock(&lock);
    if (has_event(h->a) && events[h->a].reached < h->b)
        events[h->a] = (struct event){ h->b, failed };
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* One that is due; NULL: there is none. */
static struct notice *take_notice(bool *failed)
{
    pthread_mutex_lock(&lock);
    struct notice **p = &notices, *n;
    while ((n = *p) && events[n->wanted.a].reached < n->wanted.b)
        p = &n->next;
    if (n)
        *p = n->next, *failed = events[n->wanted.a].failed;
    pthread_mutex_unlock(&lock);
    return n;
}

static void send_notices(void)
{
    bool failed = false;
    for (struct notice *n; (n = take_notice(&failed));) {
        struct mpi_header h = {
            .kind = MPI_REACHED, .a = n->wanted.a, .b = n->wanted.b, .status = failed
        };
        mpi_send((int)n->wanted.c, h, NULL);
        free(n);
    }
}

void mpi_event_notify(const struct mpi_header *h)
{
    struct notice *n = calloc(1, sizeof *n);
    pthread_mutex_lock(&lock);
    bool room = n && has_event(h->a) && h->c < (unsigned)mpi_nranks();
    if (room)
        *n = (struct notice){ notices, *h }, notices = n;
    pthread_mutex_unlock(&lock);
    if (!room)
        free(n);
    send_notices();
}

void mpi_event_reached(const struct mpi_header *h) { reach(h, h->status); }

void mpi_event_gone(uint64_t rank)
{
    pthread_mutex_lock(&lock);
    if (!gone)
        gone = calloc((size_t)mpi_nranks(), sizeof *gone);
    if (gone && rank < (unsigned)mpi_nranks())
        gone[rank] = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Also after a failure: others may wait. */
static int do_record(struct mpi_served *l, struct mpi_message *m)
{
    int bad = wait_for_device(l);
    reach(&m->header, bad || l->failed);
    send_notices();
    return bad;
}

static int do_wait(struct mpi_served *l, struct mpi_message *m)
{
    const struct mpi_header *h = &m->header;
    (void)l;
    pthread_mutex_lock(&lock);
    bool known = has_event(h->a) && h->c < (unsigned)mpi_nranks();
    while (known && events[h->a].reached < h->b && !(gone && gone[h->c]))
        pthread_cond_wait(&changed, &lock);
    bool reached = known && events[h->a].reached >= h->b, bad = !reached || events[h->a].failed;
    pthread_mutex_unlock(&lock);
    if (bad)
        mpi_error("an earlier construct with nowait has failed%s",
                  reached ? "" : ": its rank is lost");
    return bad;
}

static int do_sync(struct mpi_served *l, struct mpi_message *m)
{
    if (wait_for_device(l) && !l->failed)
        fail(l);
    return answer(l, m, (struct mpi_header){ 0 }, NULL);
}

/* ------------------------------------------------------------------ a message */
enum {
    ANSWERS = 1, /* also after a failure, which it says */
    KEEPS = 2,   /* the message goes with what it made */
    READS = 4,   /* the device may read its bytes until it is waited for */
    ALWAYS = 8,  /* also after a failure */
    PENDS = 16,  /* the device may be at it still when it has been served; with d, it is waited for
                    and answered */
    QUICK = 32,  /* unless something before it is pending */
};
static const struct {
    int (*serve)(struct mpi_served *, struct mpi_message *);
    unsigned flags;
} kinds[MPI_KINDS] = {
    [MPI_OPEN] = { do_open, ANSWERS },
    [MPI_PICK] = { do_pick, ANSWERS },
    [MPI_LOAD] = { do_load, ANSWERS | KEEPS },
    [MPI_UNLOAD] = { do_unload, 0 },
    [MPI_FUNCTION] = { do_function, ANSWERS },
    [MPI_VARIABLE] = { do_variable, ANSWERS },
    [MPI_ALLOC] = { do_alloc, ANSWERS },
    [MPI_FREE] = { do_free, PENDS | QUICK },
    [MPI_PUT] = { do_put, PENDS | READS | QUICK },
    [MPI_GET] = { do_get, ANSWERS | QUICK },
    [MPI_COPY] = { do_copy, PENDS },
    [MPI_GIVE] = { do_give, 0 },
    [MPI_TAKE] = { do_take, ANSWERS },
    [MPI_OCCUPANCY] = { do_occupancy, ANSWERS | QUICK },
    [MPI_LAUNCH] = { do_launch, PENDS | READS | QUICK },
    [MPI_RECORD] = { do_record, ALWAYS | QUICK },
    [MPI_WAIT] = { do_wait, 0 },
    [MPI_SYNC] = { do_sync, ANSWERS | QUICK },
    [MPI_TRUST] = { do_trust, QUICK },
    [MPI_MAILBOX] = { do_mailbox, ANSWERS },
    [MPI_NEXT] = { do_next, ANSWERS },
};

bool mpi_is_sound(const struct mpi_header *h)
{
    const uint64_t most = (uint64_t)1 << 48;
    return h->kind < MPI_KINDS && (kinds[h->kind].serve || h->kind == MPI_END_LANE) &&
           h->size <= MPI_MOST && h->status == 0 && (h->kind != MPI_PUT || h->size <= MPI_PIECE) &&
           (h->kind != MPI_GET || h->b <= MPI_PIECE) && (h->kind != MPI_COPY || h->c <= most) &&
           ((h->kind != MPI_GIVE && h->kind != MPI_TAKE) || h->b <= most);
}

bool mpi_is_quick(const struct mpi_served *l, const struct mpi_message *m)
{
    enum { SMALL = 4096 }; /* is sent without that the other side has to come to it */
    const struct mpi_header *h = &m->header;
    const struct mpi_launch *launch = (const void *)m->bytes;
    if (l->pending || !(kinds[h->kind].flags & QUICK) || (h->kind == MPI_GET && h->b > SMALL))
        return false;
    if (h->kind != MPI_LAUNCH || h->size < sizeof *launch)
        return true;
    const struct kernel *k = kernel_of(launch->function);
    return k && __atomic_load_n(&k->quick, __ATOMIC_RELAXED);
}

void mpi_settle(struct mpi_served *l)
{
    if (l->pending && wait_for_device(l) && !l->failed)
        fail(l);
}

/* It has been done, if it could be.  Is the message kept? */
static bool keep(struct mpi_served *l, struct mpi_message *m, unsigned flags)
{
    if (!(flags & READS) || !l->pending)
        return flags & KEEPS;
    m->next = l->held, l->held = m;
    l->held_bytes += m->header.size;
    if (l->held_bytes > (64u << 20))
        mpi_settle(l);
    return true;
}

void mpi_serve(struct mpi_served *l, struct mpi_message *m)
{
    const unsigned flags = kinds[m->header.kind].flags;
    const bool answers = (flags & PENDS) && m->header.d, failed = l->failed;
    if (!failed || (flags & ALWAYS)) {
        l->pending |= flags & PENDS;
        if (kinds[m->header.kind].serve(l, m) && !l->failed)
            fail(l);
    }
    if (answers)
        mpi_settle(l);
    if (answers || (failed && (flags & ANSWERS)))
        answer(l, m, (struct mpi_header){ 0 }, NULL);
    if (failed || !keep(l, m, flags))
        free(m);
}
