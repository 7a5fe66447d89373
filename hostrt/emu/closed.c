/* closed.c - device memory that the host program has an address of is closed to it.
 *
 * On a GPU the host faults where it follows a device pointer.  The emulated device's memory lies in
 * the host's process; so, with checks, blocks whose addresses the program has been given
 * (omp_target_alloc, use_device_ptr) have no access rights but while a kernel runs or the runtime
 * copies.  What is closed are whole mappings of memory.c, which hold other blocks, too; nothing but
 * kernels and the functions of the plugin uses those.
 *
 * The first access that fails is reported, with its line; then the mapping stays open, so that the
 * program goes on.  To change access rights takes time for each page: after some seconds of that,
 * in all, everything stays open. */
#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>
#include "hostrt/emu/emu.h"

enum { MOST = 64, MOST_PAGES = 1 << 26 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static struct mapping {
    char *base;
    size_t size;
    bool open; /* for good: an access has been reported, and other threads may be at the same */
} closed[MOST];
static unsigned n, users; /* users: operations of the device that are going on */
static size_t pages;      /* whose rights have been changed so far */

static void protect(const struct mapping *m, int rights)
{
    mprotect(m->base, m->size, rights);
    pages += m->size / (size_t)sysconf(_SC_PAGESIZE);
}

static void protect_all(int rights)
{
    for (unsigned i = 0; i < n; i++)
        if (!closed[i].open)
            protect(&closed[i], rights);
}

static void forget(unsigned i)
{
    protect(&closed[i], PROT_READ | PROT_WRITE);
    closed[i] = closed[--n];
}

void ompgpu_emu_close(void *base, size_t size)
{
    unsigned i = 0;
    pthread_mutex_lock(&lock);
    while (i < n && closed[i].base != (char *)base)
        i++;
    if ((i < n ? closed[i].open : n < MOST) && pages < MOST_PAGES) {
        if (!n)
            ompgpu_emu_fault_enter();
        n += i == n;
        closed[i] = (struct mapping){ base, size, false };
        if (!users)
            protect(&closed[i], PROT_NONE);
    }
    pthread_mutex_unlock(&lock);
}

void ompgpu_emu_unmapped(const void *base)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n; i++)
        if (closed[i].base == (const char *)base) {
            forget(i);
            break;
        }
    pthread_mutex_unlock(&lock);
}

void ompgpu_emu_use_begin(void)
{
    if (!ompgpu_emu_shadowed())
        return;
    pthread_mutex_lock(&lock);
    if (users++ == 0)
        protect_all(PROT_READ | PROT_WRITE);
    pthread_mutex_unlock(&lock);
}

void ompgpu_emu_use_end(void)
{
    if (!ompgpu_emu_shadowed())
        return;
    pthread_mutex_lock(&lock);
    if (--users == 0 && pages >= MOST_PAGES)
        n = 0;
    if (!users)
        protect_all(PROT_NONE);
    pthread_mutex_unlock(&lock);
}

/* Where the library or program lies that has this code. */
static const void *object_of(const void *pc)
{
    Dl_info info;
    return dladdr(pc, &info) ? info.dli_fbase : NULL;
}

/* The function that made the access, or that called the one of the C library which did. */
static const void *find_user(const void *pc, void *const *frames, unsigned count)
{
    const void *libc = object_of((void *)memcpy);
    unsigned i = 0;
    if (object_of(pc) != libc)
        return pc;
    while (i < count && frames[i] != pc)
        i++;
    while (i < count && object_of((const char *)frames[i] - 1) == libc)
        i++;
    return i < count ? (const char *)frames[i] - 1 : pc;
}

/* The runtime reads what it compares (core/stale.c); and libraries that use_device_ptr hands an
 * address to may know what it is. */
static bool is_program(const void *user)
{
    const void *object = object_of(user);
    struct ompgpu_line line;
    return object != object_of((void *)ompgpu_emu_close) &&
           (object == object_of((void *)getauxval(AT_ENTRY)) || ompgpu_host_line(user, &line));
}

/* What others use is open until the next operation ends.  *first: nobody has opened it for good. */
static bool open_again(const void *address, bool for_good, bool *first)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n && !found; i++)
        if ((size_t)((const char *)address - closed[i].base) < closed[i].size) {
            found = true;
            *first = !closed[i].open;
            protect(&closed[i], PROT_READ | PROT_WRITE);
            closed[i].open |= for_good;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

/* By the host, outside of device code. */
bool ompgpu_emu_was_closed(const void *address, const void *pc, bool store)
{
    enum { FRAMES = 32 };
    void *frames[FRAMES];
    const void *user = find_user(pc, frames, (unsigned)backtrace(frames, FRAMES));
    bool is = is_program(user), first = false, found = open_again(address, is, &first);
    if (first && is)
        ompgpu_reads_faulted(ompgpu_emu_owner(address), (uintptr_t)address, store, user);
    return found;
}

/* The operations of other threads do not go on in a child. */
void ompgpu_emu_closed_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE) {
        pthread_mutex_lock(&lock);
        return;
    }
    if (when == OMPGPU_FORK_CHILD) {
        users = 0;
        protect_all(PROT_NONE);
    }
    pthread_mutex_unlock(&lock);
}
