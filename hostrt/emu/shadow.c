/* shadow.c - what is known of each byte of device memory, where OMPGPU_CHECK looks for mistakes.
 *
 * A byte of shadow for each of memory, at a constant distance, so that checked code finds it with
 * one addition (codegen/ir/passes/checks.c).  The whole of it is mapped at once and costs memory
 * only where something was noted.  0 says that a byte may be used: what nobody has allocated is not
 * noted, since an access to it faults.  Team-shared variables and stacks have a shadow, too: where
 * guards are (guard.c). */
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "hostrt/emu/emu.h"

#define ALL ((size_t)OMPGPU_EMU_WINDOW_BYTES)
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool started;
static atomic_uint changes;

#ifdef EMU_TSAN /* there is no window */
static void map_shadow(void) {}
#else
static void *const shadow_at = (void *)(OMPGPU_EMU_WINDOW + OMPGPU_EMU_SHADOW);

/* It keeps records of its own of all that is mapped, which such a range would fill. */
static bool is_in_valgrind;

/* Early: later it could wait for the dynamic linker. */
__attribute__((constructor)) static void look_for_valgrind(void)
{
    is_in_valgrind = dlsym(RTLD_DEFAULT, "_vgnU_freeres") != NULL;
}

static bool map_all(void)
{
    if (is_in_valgrind)
        return false;
    void *p = mmap(shadow_at, ALL, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (p != shadow_at && p != MAP_FAILED)
        munmap(p, ALL);
    return p == shadow_at;
}

static void map_shadow(void)
{
    if (!map_all()) {
        ompgpu_say(NULL, "warning",
                   "what regions access is not checked: it takes %zu bytes of address space, which "
                   "ulimit or valgrind do not allow",
                   ALL);
        return;
    }
    madvise(shadow_at, ALL, MADV_DONTDUMP);
    madvise(shadow_at, ALL, MADV_HUGEPAGE);
    atomic_store(&started, true);
}
#endif

bool ompgpu_emu_shadow_start(void)
{
    pthread_once(&once, map_shadow);
    return ompgpu_emu_shadowed();
}

bool ompgpu_emu_shadowed(void) { return atomic_load_explicit(&started, memory_order_relaxed); }

static unsigned char *writable_shadow(void *p) { return (unsigned char *)ompgpu_emu_shadow_of(p); }

/* With unified shared memory the host may write to it, too. */
static bool is_looked_for(enum emu_shadow state)
{
    return state == EMU_UNDEFINED ? ompgpu_checks(OMPGPU_CHECK_UNINIT) &&
                                        !(ompgpu_unit_flags & OMPGPU_UNIFIED_SHARED_MEMORY)
                                  : ompgpu_checks(OMPGPU_CHECK_ADDRESS);
}

void ompgpu_emu_shadow_set(void *p, size_t size, enum emu_shadow state)
{
    if (ompgpu_emu_shadowed() && ompgpu_emu_keeps_shadow(p))
        memset(writable_shadow(p), is_looked_for(state) ? state : EMU_DEFINED, size);
}

static void define_bytes(unsigned char *s, size_t size)
{
    for (size_t i = 0; i < size; i++)
        s[i] = s[i] <= EMU_UNDEFINED ? EMU_DEFINED : s[i];
}

static bool has_guard(const unsigned char *s, size_t size)
{
    unsigned char any = 0;
    for (size_t i = 0; i < size; i++)
        any |= s[i] & (EMU_GUARD | EMU_FREED);
    return any != 0;
}

/* Many pages, if nothing else is noted in them, cost no memory from then on. */
void ompgpu_emu_shadow_define(void *p, size_t size)
{
    enum { MANY = 1 << 16 };
    if (!ompgpu_emu_shadowed() || !ompgpu_emu_keeps_values(p))
        return;
    unsigned char *s = writable_shadow(p);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    size_t before = -(uintptr_t)s & (page - 1), after = ((uintptr_t)s + size) & (page - 1);
    size_t whole = size > MANY ? size - before - after : 0;
    if (whole && !has_guard(s + before, whole) && madvise(s + before, whole, MADV_DONTNEED) == 0) {
        define_bytes(s, before);
        define_bytes(s + size - after, after);
    } else
        define_bytes(s, size);
}

void ompgpu_emu_shadow_outdate(void *p, size_t size, bool is)
{
    if (!ompgpu_emu_shadowed() || !ompgpu_emu_keeps_values(p))
        return;
    unsigned char *s = writable_shadow(p), from = is ? EMU_DEFINED : EMU_OUTDATED;
    for (size_t i = 0; i < size; i++)
        s[i] = s[i] == from ? EMU_OUTDATED - from : s[i];
    atomic_fetch_add(&changes, 1);
}

void ompgpu_emu_shadow_copy(void *to, const void *from, size_t size)
{
    if (!ompgpu_emu_shadowed() || !ompgpu_emu_keeps_values(to))
        return;
    if (!ompgpu_emu_keeps_values(from)) {
        ompgpu_emu_shadow_define(to, size);
        return;
    }
    memmove(writable_shadow(to), ompgpu_emu_shadow_of(from), size);
    ompgpu_emu_shadow_outdate(to, size, false);
    if (ompgpu_emu_shadow_defined(to, size) < size)
        atomic_fetch_add(&changes, 1);
}

size_t ompgpu_emu_shadow_defined(const void *p, size_t size)
{
    enum { AT_ONCE = 256 };
    const unsigned char *s = ompgpu_emu_shadow_of(p);
    size_t at = 0;
    for (; at + AT_ONCE <= size; at += AT_ONCE) {
        unsigned char any = EMU_DEFINED;
        for (size_t i = 0; i < AT_ONCE; i++)
            any |= s[at + i];
        if (any)
            break;
    }
    while (at < size && s[at] == EMU_DEFINED)
        at++;
    return at;
}

unsigned ompgpu_emu_shadow_time(void) { return atomic_load(&changes); }

void ompgpu_emu_shadow_drop(void *p, size_t size)
{
    if (ompgpu_emu_shadowed() && ompgpu_emu_keeps_shadow(p))
        madvise(writable_shadow(p), size, MADV_DONTNEED);
}
