/* depend.c - dependences of constructs with `nowait` (section 15.9.5 of OpenMP 5.2).
 *
 * Generated code makes a host task with the construct's dependences, and the OpenMP library knows
 * them all: so each construct could wait for its host task to begin.  But then the host would have
 * to wake up between two constructs of a device.  So the call that makes tasks with dependences
 * passes through here: where all that a construct may depend on are constructs like it, it goes
 * into a queue at once, and waits there for the others' events.
 *
 * For that a table says who wrote and read each address last.  It knows no parent tasks, so it has
 * too many dependences, never too few; since each is on a construct that is in a queue already,
 * that does no harm, or is about to be: then its thread, which only waits for earlier ones, is
 * waited for before anything is held.  So threads with different devices do not wait for each
 * other, but for what they depend on.  Addresses that other tasks have used are marked, for good:
 * what depends on those waits for its host task, and marks its own. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

/* Weak: a program that is linked with the library's archive keeps the library's own, and each
 * construct waits for its host task. */
#pragma GCC visibility push(default)
struct kmp_depend_info { /* of LLVM's OpenMP library */
    uintptr_t address;
    size_t size;
    uint8_t kind;
};
int __kmpc_omp_task_with_deps(void *place, int thread, void *task, int n, struct kmp_depend_info *,
                              int nmore, struct kmp_depend_info *more);
void *__kmpc_omp_task_alloc(void *place, int thread, int flags, size_t size, size_t shared,
                            int (*entry)(int, void *));
__attribute__((weak)) void __kmpc_omp_taskwait_deps_51(void *place, int thread, int n,
                                                       struct kmp_depend_info *, int nmore,
                                                       struct kmp_depend_info *more, int nowait);
#pragma GCC visibility pop
enum { READS = 1, ALL_MEMORY = 0x80 }; /* kinds */
enum { DETACHABLE = 0x40 };            /* a task's flags; without that of tied tasks */
struct kmp_task { /* of LLVM's OpenMP library, which reserves this for the compiler */
    struct shared {
        struct ompgpu_task *task;
        uintptr_t event;
    } *shared;
    void *routine;
    int part;
    void *data[2];
};

_Thread_local struct ompgpu_task *ompgpu_creating;

/* ------------------------------------------------------------------ the OpenMP library */
static struct ompgpu_libomp libomp;

static void find_function(void *pointer, void *from, const char *name)
{
    void *f = dlsym(from, name);
    memcpy(pointer, &f, sizeof f);
}

static void find_libomp(void)
{
    find_function(&libomp.fulfill, RTLD_DEFAULT, "omp_fulfill_event");
    find_function(&libomp.thread, RTLD_DEFAULT, "__kmpc_global_thread_num");
    find_function(&libomp.wait, RTLD_DEFAULT, "__kmpc_omp_taskwait");
    find_function(&libomp.alloc, RTLD_NEXT, "__kmpc_omp_task_alloc");
    find_function(&libomp.team_size, RTLD_DEFAULT, "omp_get_num_threads");
    find_function(&libomp.level, RTLD_DEFAULT, "omp_get_level");
    find_function(&libomp.in_final, RTLD_DEFAULT, "omp_in_final");
    find_function(&libomp.allow, RTLD_DEFAULT, "__kmpc_task_allow_completion_event");
    find_function(&libomp.run, RTLD_DEFAULT, "__kmpc_omp_task");
    find_function(&libomp.task, RTLD_NEXT, "__kmpc_omp_task_with_deps");
    find_function(&libomp.taskwait, RTLD_NEXT, "__kmpc_omp_taskwait_deps_51");
}

const struct ompgpu_libomp *ompgpu_libomp(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_libomp);
    return &libomp;
}

/* ------------------------------------------------------------------ addresses of other tasks */
enum { MARKS = 1 << 15 };
static unsigned char marks[MARKS / 8]; /* atomic; by a hash of the address */
static bool all_marked;                /* atomic */

static size_t hash_of(uintptr_t address) { return address * 0x9e3779b97f4a7c15ull >> 49; }
_Static_assert(MARKS == 1 << (64 - 49), "the hash has as many values");

static void mark(const struct kmp_depend_info *d, int n)
{
    for (int i = 0; i < n; i++) {
        size_t at = hash_of(d[i].address);
        if (d[i].kind & ALL_MEMORY)
            __atomic_store_n(&all_marked, true, __ATOMIC_RELAXED);
        __atomic_fetch_or(&marks[at / 8], 1 << at % 8, __ATOMIC_RELAXED);
    }
}

static bool has_marks(const struct kmp_depend_info *d, int n)
{
    bool any = __atomic_load_n(&all_marked, __ATOMIC_RELAXED);
    for (int i = 0; i < n && !any; i++) {
        size_t at = hash_of(d[i].address);
        any = (d[i].kind & ALL_MEMORY) ||
              (__atomic_load_n(&marks[at / 8], __ATOMIC_RELAXED) >> at % 8 & 1);
    }
    return any;
}

/* ------------------------------------------------------------------ the table */
enum { ROWS = 1 << 10, MOST_CELLS = 1 << 16 };
struct cell { /* of one address */
    struct cell *next;
    uintptr_t address;
    struct ompgpu_ticket writer, *readers; /* those since */
    unsigned nreaders, room;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* comes before the devices' locks */
static struct cell *rows[ROWS];
static size_t ncells;
static unsigned nplacing; /* atomic: constructs that are in the table and not in a queue yet */

static bool is_in_use(const struct cell *c)
{
    bool used = ompgpu_under_way(c->writer);
    for (unsigned i = 0; i < c->nreaders && !used; i++)
        used = ompgpu_under_way(c->readers[i]);
    return used;
}

static void free_unused_cells(void)
{
    for (size_t i = 0; i < ROWS; i++)
        for (struct cell **p = &rows[i]; *p;) {
            struct cell *c = *p;
            if (is_in_use(c)) {
                p = &c->next;
                continue;
            }
            *p = c->next;
            ompgpu_xfree(c->readers);
            ompgpu_xfree(c);
            ncells--;
        }
}

static struct cell *cell_of(uintptr_t address)
{
    struct cell **row = &rows[hash_of(address) % ROWS], *c = *row;
    while (c && c->address != address)
        c = c->next;
    if (c || !(c = ompgpu_xalloc(sizeof *c)))
        return c;
    c->address = address;
    c->next = *row;
    ncells++;
    return *row = c;
}

static int add_reader(struct cell *c, struct ompgpu_task *t)
{
    unsigned left = 0;
    for (unsigned i = 0; i < c->nreaders; i++)
        if (ompgpu_under_way(c->readers[i]))
            c->readers[left++] = c->readers[i];
    c->nreaders = left;
    if (left == c->room) {
        unsigned room = 2 * c->room + 2;
        struct ompgpu_ticket *more = realloc(c->readers, room * sizeof *more);
        if (!more)
            return -1;
        c->readers = more, c->room = room;
    }
    c->readers[c->nreaders++] = ompgpu_ticket_of(t);
    return 0;
}

/* mutexinoutset and inoutset are taken for inout. */
static int add_dependence(struct ompgpu_task *t, const struct kmp_depend_info *d)
{
    struct cell *c = cell_of(d->address);
    if (!c || ompgpu_task_wait_for(t, c->writer))
        return -1;
    if (d->kind == READS)
        return add_reader(c, t);
    for (unsigned i = 0; i < c->nreaders; i++)
        if (ompgpu_task_wait_for(t, c->readers[i]))
            return -1;
    c->nreaders = 0;
    c->writer = ompgpu_ticket_of(t);
    return 0;
}

static bool is_of_other_kind(const struct ompgpu_task *t, struct ompgpu_ticket other)
{
    return ompgpu_under_way(other) && other.task->dev->plugin != t->dev->plugin;
}

/* A queue can wait for those of devices of its kind only. */
static bool waits_for_other_kind(const struct ompgpu_task *t, const struct kmp_depend_info *d,
                                 int n)
{
    bool any = false;
    for (int i = 0; i < n && !any; i++) {
        const struct cell *c = cell_of(d[i].address);
        any = c && is_of_other_kind(t, c->writer);
        for (unsigned k = 0; c && k < c->nreaders; k++)
            any = any || is_of_other_kind(t, c->readers[k]);
    }
    return any;
}

/* false: the host has to wait. */
static bool enqueue_with(struct ompgpu_task *t, const struct kmp_depend_info *d, int n,
                         const struct kmp_depend_info *more, int nmore)
{
    struct ompgpu_where where = t->where;
    int bad = 0;
    pthread_mutex_lock(&lock);
    if (ncells >= MOST_CELLS)
        free_unused_cells();
    if (waits_for_other_kind(t, d, n) || waits_for_other_kind(t, more, nmore)) {
        pthread_mutex_unlock(&lock);
        return false;
    }
    for (int i = 0; i < n && !bad; i++)
        bad = add_dependence(t, &d[i]);
    for (int i = 0; i < nmore && !bad; i++)
        bad = add_dependence(t, &more[i]);
    __atomic_add_fetch(&nplacing, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    ompgpu_task_await_placed(t);
    if (bad)
        ompgpu_enqueue_failed(&where);
    ompgpu_task_enqueue(t);
    __atomic_sub_fetch(&nplacing, 1, __ATOMIC_RELEASE);
    return true;
}

/* A child has no thread that would put such a construct into its queue. */
void ompgpu_depend_fork(enum ompgpu_fork when)
{
    if (when != OMPGPU_FORK_BEFORE) {
        pthread_mutex_unlock(&lock);
        return;
    }
    pthread_mutex_lock(&lock);
    while (__atomic_load_n(&nplacing, __ATOMIC_ACQUIRE)) {
        pthread_mutex_unlock(&lock);
        sched_yield();
        pthread_mutex_lock(&lock);
    }
}

/* ------------------------------------------------------------------ calls of generated code */
int __kmpc_omp_task_with_deps(void *place, int thread, void *task, int n, struct kmp_depend_info *d,
                              int nmore, struct kmp_depend_info *more)
{
    struct ompgpu_task *t = ompgpu_creating;
    ompgpu_creating = NULL;
    if (!t || has_marks(d, n) || has_marks(more, nmore) || !enqueue_with(t, d, n, more, nmore)) {
        mark(d, n);
        mark(more, nmore);
    }
    return ompgpu_libomp()->task(place, thread, task, n, d, nmore, more);
}

static int do_nothing(int thread, void *task) { return (void)thread, (void)task, 0; }

/* Outside of parallel regions libomp (19 to 22) counts a task among its parent's children only
 * where the parent has another one that has not ended: taskwait does not wait for one that it did
 * not count, and counts too many ends where others have come meanwhile.  Detached tasks are always
 * counted; so there is one while the task is made. */
void *__kmpc_omp_task_alloc(void *place, int thread, int flags, size_t size, size_t shared,
                            int (*entry)(int, void *))
{
    const struct ompgpu_libomp *l = ompgpu_libomp();
    void *child = NULL;
    if (ompgpu_any_deferred() && l->team_size && l->team_size() == 1)
        child = l->alloc(place, thread, DETACHABLE, sizeof(struct kmp_task), 0, do_nothing);
    void *task = l->alloc(place, thread, flags, size, shared, entry);
    if (child)
        l->run(place, thread, child);
    return task;
}

/* With `nowait` it is like a task that does nothing. */
void __kmpc_omp_taskwait_deps_51(void *place, int thread, int n, struct kmp_depend_info *d,
                                 int nmore, struct kmp_depend_info *more, int nowait)
{
    if (nowait) {
        mark(d, n);
        mark(more, nmore);
    }
    ompgpu_libomp()->taskwait(place, thread, n, d, nmore, more, nowait);
}

/* ------------------------------------------------------------------ tasks of routines */
static int run_task(int thread, void *task)
{
    const struct shared *s = ((struct kmp_task *)task)->shared;
    (void)thread;
    __ompgpu_deferred(s->task, s->event);
    return 0;
}

/* A dependence object is an array; before it stands its length. */
static struct kmp_depend_info *list_of(int n, void **objects, int *length)
{
    struct kmp_depend_info *list;
    size_t total = 0;
    for (int i = 0; i < n; i++)
        total += ((const struct kmp_depend_info *)objects[i])[-1].address;
    if (!(list = ompgpu_xalloc(total * sizeof *list)))
        return NULL;
    *length = 0;
    for (int i = 0; i < n; i++) {
        const struct kmp_depend_info *d = objects[i];
        memcpy(list + *length, d, d[-1].address * sizeof *d);
        *length += (int)d[-1].address;
    }
    return list;
}

/* Untied, as those of generated code (codegen/c/host/host.c). */
bool ompgpu_host_task(struct ompgpu_task *t, int ndepend, void **depend)
{
    const struct ompgpu_libomp *l = ompgpu_libomp();
    int thread = l->thread(NULL), n = 0;
    struct kmp_depend_info *list = list_of(ndepend, depend, &n);
    struct kmp_task *task =
        list ? l->alloc(NULL, thread, DETACHABLE, sizeof *task, sizeof *task->shared, run_task)
             : NULL;
    if (task) {
        *task->shared = (struct shared){ t, l->allow(NULL, thread, task) };
        if (n)
            __kmpc_omp_task_with_deps(NULL, thread, task, n, list, 0, NULL);
        else
            l->run(NULL, thread, task);
    }
    ompgpu_xfree(list);
    return task;
}
