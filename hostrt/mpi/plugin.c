/* plugin.c - the plugin for devices of other nodes: each operation is a message to the worker that
 * has the device (messages.h), in the lane of the host thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/mpi/mpi.h"
#include "hostrt/queue.h"

static int count_devices(void) { return mpi_ndevices; }

static int identify(int ordinal, struct ompgpu_identity *d)
{
    *d = mpi_devices[ordinal].identity;
    return 0;
}

/* Sends it in the calling thread's lane, with no answer. */
static int tell(int ordinal, struct mpi_header h, const void *bytes)
{
    struct mpi_lane *l = mpi_lane_of_thread(ordinal);
    return !l || mpi_lane_send(l, h, bytes);
}

/* … and waits for the answer. */
static int request(int ordinal, struct mpi_header h, const void *bytes, struct mpi_answer *answer)
{
    struct mpi_lane *l = mpi_lane_of_thread(ordinal);
    return !l || mpi_lane_request(l, h, bytes, answer);
}

static int open_device(int ordinal, struct ompgpu_device_info *info)
{
    const struct mpi_worker *w = mpi_devices[ordinal].worker;
    struct mpi_answer a = { .bytes = info, .size = sizeof *info };
    char name[sizeof info->name];
    if (request(ordinal,
                (struct mpi_header){ .kind = MPI_OPEN, .a = (uint64_t)mpi_services->checks() },
                NULL, &a))
        return 1;
    info->unified = false;
    snprintf(name, sizeof name, "%.30s, rank %d on %.16s", info->name, w->rank, w->node);
    memcpy(info->name, name, sizeof name);
    return 0;
}

/* ------------------------------------------------------------------ images */
/* A container with its tables and no images.  NULL: out of memory. */
static struct ompgpu_image_header *tables_of(const struct ompgpu_image_header *h, uint32_t *size)
{
    const size_t images = h->nimages * sizeof(struct ompgpu_image_entry),
                 kernels = h->nkernels * sizeof(struct ompgpu_kernel_entry);
    struct ompgpu_image_header *t = mpi_alloc(sizeof *t + images + kernels);
    if (!t)
        return NULL;
    *t = *h;
    t->images = sizeof *t, t->kernels = sizeof *t + images;
    t->total_size = sizeof *t + images + kernels;
    memcpy((char *)t + t->images, (const char *)h + h->images, images);
    memcpy((char *)t + t->kernels, (const char *)h + h->kernels, kernels);
    *size = (uint32_t)t->total_size;
    return t;
}

static int ask_with_tables(int ordinal, struct mpi_header m, const struct ompgpu_image_header *h,
                           struct mpi_answer *a)
{
    struct ompgpu_image_header *t = tables_of(h, &m.size);
    int bad = !t || request(ordinal, m, t, a);
    free(t);
    return bad;
}

static int pick(int ordinal, const struct ompgpu_image_header *h)
{
    struct mpi_answer a = { 0 };
    return ask_with_tables(ordinal, (struct mpi_header){ .kind = MPI_PICK }, h, &a) ? -1 : (int)a.a;
}

static bool has_image(const struct mpi_worker *w, uint64_t sum)
{
    for (unsigned i = 0; i < w->nimages; i++)
        if (w->images[i] == sum)
            return true;
    return false;
}

/* Called under the core's start-up lock. */
static int send_image(struct mpi_worker *w, uint64_t sum, const void *data, size_t size)
{
    if (has_image(w, sum))
        return 0;
    uint64_t *more = realloc(w->images, (w->nimages + 1) * sizeof *more);
    if (!more || size > MPI_MOST) {
        mpi_error("an image of %zu bytes cannot be sent to another node", size);
        return 1;
    }
    w->images = more;
    w->images[w->nimages++] = sum;
    return mpi_send(
        w->rank, (struct mpi_header){ .kind = MPI_IMAGE, .a = sum, .size = (uint32_t)size }, data);
}

static int load(int ordinal, const struct ompgpu_image_header *h, int image, const void *data,
                size_t size, void **module)
{
    uint64_t sum = ompgpu_image_sum(data, size);
    struct mpi_answer a = { 0 };
    if (send_image(mpi_devices[ordinal].worker, sum, data, size) ||
        ask_with_tables(ordinal,
                        (struct mpi_header){ .kind = MPI_LOAD, .a = sum, .b = (unsigned)image }, h,
                        &a))
        return 1;
    *module = (void *)(uintptr_t)(a.a + 1);
    return 0;
}

static void unload(int ordinal, void *module)
{
    tell(ordinal, (struct mpi_header){ .kind = MPI_UNLOAD, .a = (uintptr_t)module - 1 }, NULL);
}

static int function(int ordinal, void *module, const char *name, struct ompgpu_function *out)
{
    const struct ompgpu_kernel_where *w = &out->where;
    size_t length = strlen(name) + 1;
    struct mpi_function *f = mpi_alloc(sizeof *f + length);
    if (!f)
        return 1;
    struct mpi_answer a = { .bytes = f, .size = sizeof *f };
    if ((f->has_entry = out->entry != NULL))
        f->entry = *out->entry;
    f->line = w->line;
    snprintf(f->kernel, sizeof f->kernel, "%s", w->kernel ? w->kernel : name);
    snprintf(f->file, sizeof f->file, "%s", w->file ? w->file : "");
    snprintf(f->function, sizeof f->function, "%s", w->function ? w->function : "");
    snprintf(f->directive, sizeof f->directive, "%s", w->directive ? w->directive : "");
    memcpy(f + 1, name, length);
    int bad = request(ordinal,
                      (struct mpi_header){ .kind = MPI_FUNCTION,
                                           .a = (uintptr_t)module - 1,
                                           .size = (uint32_t)(sizeof *f + length) },
                      f, &a);
    if (!bad) {
        out->handle = (void *)(uintptr_t)(f->id + 1);
        out->registers = f->registers, out->max_threads = f->max_threads;
        out->static_shared = f->static_shared, out->stack_bytes = f->stack_bytes;
    }
    free(f);
    return bad;
}

static int variable(int ordinal, void *module, const char *name, void **address, size_t *size)
{
    struct mpi_answer a = { 0 };
    if (request(ordinal,
                (struct mpi_header){ .kind = MPI_VARIABLE,
                                     .a = (uintptr_t)module - 1,
                                     .size = (uint32_t)strlen(name) + 1 },
                name, &a))
        return 1;
    *address = (void *)(uintptr_t)a.a, *size = a.b;
    return 0;
}

/* ------------------------------------------------------------------ memory */
static int allocate(int ordinal, size_t size, void **address)
{
    struct mpi_answer a = { 0 };
    if (request(ordinal, (struct mpi_header){ .kind = MPI_ALLOC, .a = size }, NULL, &a))
        return 1;
    *address = (void *)(uintptr_t)a.a;
    return 0;
}

static int release(int ordinal, void *address)
{
    return tell(ordinal, (struct mpi_header){ .kind = MPI_FREE, .a = (uintptr_t)address }, NULL);
}

static int to_device(int ordinal, void *dst, const void *src, size_t size)
{
    struct mpi_lane *l = mpi_lane_of_thread(ordinal);
    return !l || mpi_lane_put(l, dst, src, size);
}

static int from_device(int ordinal, void *dst, const void *src, size_t size)
{
    struct mpi_lane *l = mpi_lane_of_thread(ordinal);
    return !l || mpi_lane_get(l, dst, src, size);
}

static int device_copy(int ordinal, void *dst, const void *src, size_t size)
{
    struct mpi_lane *l = mpi_lane_of_thread(ordinal);
    struct mpi_header h = { .kind = MPI_COPY, .a = (uintptr_t)dst, .b = (uintptr_t)src, .c = size };
    return !l || mpi_lane_keep(l, h, NULL);
}

/* Rank to rank.  Where the giver is lost, we say so in its place: the taker waits. */
static int peer_copy(int ordinal, void *dst, int from, const void *src, size_t size)
{
    static unsigned long tokens;
    struct mpi_lane *to_lane = mpi_lane_of_thread(ordinal), *from_lane = mpi_lane_of_thread(from);
    struct mpi_answer a = { 0 };
    uint64_t token = __atomic_add_fetch(&tokens, 1, __ATOMIC_RELAXED);
    int to_rank = mpi_devices[ordinal].worker->rank;
    struct mpi_header take = { .kind = MPI_TAKE, .a = (uintptr_t)dst, .b = size, .c = token },
                      give = { .kind = MPI_GIVE,
                               .a = (uintptr_t)src,
                               .b = size,
                               .c = token,
                               .d = (unsigned)to_rank };
    if (!to_lane || !from_lane || mpi_lane_send(from_lane, give, NULL) ||
        mpi_lane_ask(to_lane, take, NULL, &a))
        return 1;
    uint64_t taken = to_lane->sent;
    int bad = mpi_lane_wait(from_lane);
    if (bad)
        mpi_send(to_rank, (struct mpi_header){ .kind = MPI_PIECES, .c = token, .status = 1 }, NULL);
    return mpi_lane_wait_for(to_lane, taken) || bad;
}

static void trust(int ordinal, void *address, size_t size)
{
    tell(ordinal, (struct mpi_header){ .kind = MPI_TRUST, .a = (uintptr_t)address, .b = size },
         NULL);
}

/* ------------------------------------------------------------------ launch */
static unsigned occupancy(int ordinal, struct ompgpu_function *f, unsigned threads)
{
    struct mpi_answer a = { 0 };
    struct mpi_header h = { .kind = MPI_OCCUPANCY, .a = (uintptr_t)f->handle - 1, .b = threads };
    return request(ordinal, h, NULL, &a) ? 0 : (unsigned)a.a;
}

static int launch(int ordinal, struct ompgpu_function *f, unsigned teams, unsigned threads,
                  void **params)
{
    struct mpi_lane *l = mpi_lane_of_thread(ordinal);
    return !l || mpi_lane_launch(l, f, teams, threads, params);
}

static int sync_thread(int ordinal)
{
    struct mpi_lane *l = mpi_lane_of_thread(ordinal);
    return !l || mpi_lane_wait(l);
}

/* For what the program puts into the queue with ompgpu_interop_call(). */
static int describe(int ordinal, void *queue, struct ompgpu_foreign *f)
{
    *f = (struct ompgpu_foreign){ .id = -1,
                                  .vendor = -1,
                                  .name = "ompgpu-mpi",
                                  .vendor_name = "ompgpu",
                                  .device = ordinal,
                                  .stream = queue };
    return 0;
}

/* ------------------------------------------------------------------ reverse offload */
static int open_mailbox(int ordinal, const struct ompgpu_mailbox *m, void **address)
{
    struct mpi_answer a = { 0 };
    int bad = request(ordinal, (struct mpi_header){ .kind = MPI_MAILBOX, .a = (uintptr_t)m->lock },
                      NULL, &a);
    *address = (void *)(uintptr_t)a.a;
    return bad;
}

static int next_in_mailbox(int ordinal, struct ompgpu_mailbox *m)
{
    struct mpi_answer a = { .bytes = m, .size = sizeof *m };
    uint32_t size = m->request ? (uint32_t)mpi_mailbox_size(m) : 0;
    m->request = 0; /* unless another one comes */
    return request(ordinal, (struct mpi_header){ .kind = MPI_NEXT, .size = size }, m, &a);
}

const struct ompgpu_plugin ompgpu_mpi_plugin = {
    .name = "mpi",
    .wants_sizes = true,
    .num_devices = count_devices,
    .identify = identify,
    .open = open_device,
    .pick = pick,
    .load = load,
    .unload = unload,
    .function = function,
    .variable = variable,
    .alloc = allocate,
    .free = release,
    .mailbox_open = open_mailbox,
    .mailbox_next = next_in_mailbox,
    .to_device = to_device,
    .from_device = from_device,
    .device_copy = device_copy,
    .peer_copy = peer_copy,
    .occupancy = occupancy,
    .launch = launch,
    .sync = sync_thread,
    .queue_create = mpi_queue_create,
    .queue_destroy = mpi_queue_destroy,
    .queue_to_device = ompgpu_work_to_device,
    .queue_from_device = ompgpu_work_from_device,
    .queue_copy = ompgpu_work_copy,
    .queue_launch = ompgpu_work_launch,
    .queue_call = ompgpu_work_call,
    .queue_notify = ompgpu_work_notify,
    .queue_wait = ompgpu_work_wait,
    .event_create = mpi_event_create,
    .event_destroy = mpi_event_destroy,
    .event_record = ompgpu_work_record,
    .event_wait = mpi_event_wait,
    .foreign = describe,
    .fork = mpi_lanes_fork,
    .trust = trust,
    .fault = mpi_last_fault,
};

/* ------------------------------------------------------------------ to join, and to leave */
static struct ompgpu_plugin plugin; /* with the kinds of images that the workers take */
static bool joined;

static void report(void)
{
    struct mpi_counts s = mpi_sent(), r = mpi_received();
    fprintf(stderr,
            "ompgpu: info: other nodes: %lu messages with %lu bytes sent, %lu with %lu received\n",
            s.messages, s.bytes, r.messages, r.bytes);
}

static void leave(int status)
{
    if (!joined)
        return;
    joined = false;
    if (mpi_services->report)
        report();
    mpi_lanes_end(status);
}

/* The program ends its MPI: the workers, too, are to come to MPI_Finalize. */
static void leave_early(void) { leave(0); }

static const struct ompgpu_plugin *join(const struct ompgpu_nodes_services *services, bool worker,
                                        bool mpi_program)
{
    mpi_services = services;
    if (mpi_transport_start(worker, mpi_program))
        return NULL;
    if (mpi_rank())
        mpi_work();
    if (mpi_lanes_start())
        return NULL;
    joined = true;
    if (mpi_program)
        mpi_call_before_finalize(leave_early);
    plugin = ompgpu_mpi_plugin;
    plugin.image_kinds = mpi_image_kinds;
    return &plugin;
}

extern const struct ompgpu_nodes ompgpu_nodes_of_mpi;
__attribute__((visibility("default")))
const struct ompgpu_nodes ompgpu_nodes_of_mpi = { .join = join, .leave = leave };
